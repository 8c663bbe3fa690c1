/* SPDX-License-Identifier: Apache-2.0 */
/* emu.h: runs emitted SIMT kernels on the host, and finds what a GPU would only sometimes show.
 *
 * The kernel's text is compiled by a C++17 compiler against the target's prelude into a shared object;
 * `tw_emu_<kernel>` in it is the entry (made by TW_KERNEL). A target runs a launch with emu_run and what it adds of its
 * own (EmuTarget, emu_core.h); CUDA's is cuda/emu/cuda_emu.h.
 *
 * Every thread is a fiber; blocks run one after another, those that a target runs together side by side. Threads switch
 * only where they wait, in an order that the seed permutes; what is asynchronous on the device takes effect late.
 * Checked, and ended with a report (rows of emu_fault.def): see there. Ordering is tracked by vector clocks, so a
 * missing barrier is found whichever way the schedule went.
 *
 * Pure function of its arguments and the memory they name; no globals. Concurrent launches are independent. Memory
 * comes from the arena's allocator; when it runs out, the arena's trap is thrown after everything is cleaned up. */
#ifndef TARGET_SIMT_EMU_EMU_H
#define TARGET_SIMT_EMU_EMU_H
#include "base/arena.h"
#include "base/cancel.h"
#include "target/simt/emu/include/emu_table.h"

#include <stdbool.h>
#include <stdint.h>

/* How to compile a kernel's text for emulation (C++17; gcc and clang). */
#define EMU_CXXFLAGS \
    "-x c++ -std=c++17 -O1 -fPIC -shared -fno-exceptions -ffp-contract=off -fwrapv -w -Wno-psabi -nostdinc++"
/* Behind the text. Start files and the library of C++ are not needed, and take the linker three times as long. */
#define EMU_LIBRARIES "-nostdlib -lm -lgcc"

/* A row of emu_fault.def or, from EMU_FAULT_OF_TARGET on, of the target's own table. */
typedef int EmuFault;
enum {
#define EMU_FAULT(id, name, meaning) EMU_FAULT_##id,
#include "target/simt/emu/emu_fault.def"
#undef EMU_FAULT
    EMU_FAULT_OF_TARGET
};

/* Global memory the kernel may touch. Ranges must not overlap. */
typedef struct EmuAllocation {
    const char *name; /* for messages */
    void *base;
    uint64_t bytes;
} EmuAllocation;

/* A named part of shared memory, for messages only. */
typedef struct EmuRegion {
    const char *name;
    uint32_t begin, bytes;
} EmuRegion;

typedef struct EmuLaunch {
    const char *kernel, *file; /* for messages */
    EmuEntry entry;
    uint32_t grid[3];
    uint32_t cluster;      /* blocks that run side by side, along x; at most 8; 0 or 1: none */
    uint32_t threads;      /* of a block: whole warps, at most 1024 */
    uint32_t lanes;        /* of a warp: 32 or 64; 0: 32 */
    uint32_t shared_bytes; /* of a block .. */
    uint32_t shared_most;  /* .. which the machine that is emulated has */
    uint32_t registers;    /* per thread at entry, for setmaxnreg; 0: 65536 / threads */
    void **params;         /* as cuLaunchKernel takes them */
    const EmuAllocation *allocations;
    size_t allocation_count;
    const EmuRegion *regions;
    size_t region_count;
    uint64_t seed;
    uint64_t steps; /* budget of a block (emu_core.h, emu_spend); 0: EMU_STEPS */
    Cancel *cancel; /* who may end it early; NULL: nobody */
} EmuLaunch;

/* Steps of a block that writes nothing new meanwhile: some 3 to 60 seconds of the host. */
#define EMU_STEPS (1ull << 37)

typedef struct EmuReport {
    EmuFault fault;     /* EMU_FAULT_NONE: the launch ran to its end */
    const char *text;   /* one line or several: what, who, where, what to do; "" when none */
    const char *output; /* what the kernel printed */
} EmuReport;

#endif
