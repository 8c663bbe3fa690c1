/* hip_emu.c: see hip_emu.h. */
#include "target/hip/emu/hip_emu_core.h"

#include <string.h>

static const HipTable table = {.simt = {EMU_SIMT_CALLS}, .matrix = hip_emu_matrix};

static void start(Emu *emu) { hip_emu(emu)->wave = ARENA_ARRAY(&emu->arena, HipWave, emu->warps); }

static const char *const fault_names[] = {"matrix"};
static const EmuTarget target = {.table = &table.simt, .fault_names = fault_names, .start = start};

bool hip_emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    HipEmu hip;
    memset(&hip, 0, sizeof hip);
    return emu_run(&hip.emu, &target, launch, arena, report);
}
