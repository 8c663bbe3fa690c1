/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emu.c: see hip_emu.h. */
#include "target/hip/emu/hip_emu_core.h"

#include <string.h>

static const HipTable table = {.simt = {EMU_SIMT_CALLS}, .matrix = hip_emu_matrix,
                               .copy = hip_emu_copy,
                               .copies_wait = hip_emu_copies_wait};

static void start(Emu *emu) {
    hip_emu(emu)->wave = ARENA_ARRAY(&emu->arena, HipWave, emu->warps);
    hip_emu(emu)->thread = ARENA_ARRAY(&emu->arena, HipThread, emu->threads);
}

static const char *const fault_names[] = {"matrix"};
static const EmuTarget target = {.table = &table.simt,
                                 .side = {"copy of "},
                                 .fault_names = fault_names,
                                 .start = start,
                                 .happen = hip_emu_happen};

bool hip_emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    HipEmu hip;
    memset(&hip, 0, sizeof hip);
    return emu_run(&hip.emu, &target, launch, arena, report);
}
