/* hip_emu.c: see hip_emu.h. */
#include "target/hip/emu/hip_emu.h"
#include "target/hip/emu/include/hip_table.h"
#include "target/simt/emu/emu_core.h"

#include <string.h>

static const HipTable table = {.simt = {EMU_SIMT_CALLS}};
static const EmuTarget target = {.table = &table.simt};

bool hip_emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    Emu emu;
    memset(&emu, 0, sizeof emu);
    return emu_run(&emu, &target, launch, arena, report);
}
