/* SPDX-License-Identifier: Apache-2.0 */
/* emulated.h: kernels for machines with lanes on the host: the very text that a device would be given, compiled by the
 * host's C++ compiler against the emulator's prelude, every thread a fiber (target/simt/emu). What a target has of its
 * own is an Emulated. */
#ifndef RUNTIME_DEVICE_EMULATED_H
#define RUNTIME_DEVICE_EMULATED_H
#include "runtime/device/simt_code.h"
#include "target/simt/emu/emu.h"

typedef struct Emulated {
    const char *name;   /* of the row: part of the cache's key */
    const char *ending; /* of the kernel's file */
    bool (*run)(const EmuLaunch *launch, Arena *arena, EmuReport *report);
    /* Before a launch: numbers of its own, blocks that run otherwise, memory beside the arguments' (allocations has
     * room for one more); NULL: none. */
    tw_status (*prepare)(tw_kernel *k, const LaunchCall *call, EmuLaunch *launch, EmuAllocation *allocations);
} Emulated;

/* k->code is a SimtCode, whose params are there. */
tw_status emulated_build(tw_kernel *k, const Emulated *by);
tw_status emulated_launch(tw_kernel *k, const Emulated *by, const LaunchCall *call);
void emulated_destroy(tw_kernel *k);
bool emulated_available(const Target *target, tw_context *cx, Arena *arena, const char **note);
#endif
