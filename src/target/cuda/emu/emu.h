/* emu.h: runs emitted CUDA kernels on the host, and finds what a GPU would only sometimes show.
 *
 * The .cu is compiled by a C++17 compiler with EMU_CXXFLAGS and the embedded folders cuda/prelude
 * and cuda/emu/include on the include path, into a shared object; `tw_emu_<kernel>` in it is the
 * entry (made by TW_KERNEL).
 *
 *     EmuLaunch launch = {.kernel = "add", .file = "add.cu", .entry = (EmuEntry)dlsym(so,
 * "tw_emu_add"), .grid = {8, 1, 1}, .threads = 256, .params = params, .allocations = allocations,
 * .allocation_count = 3}; EmuReport report; if (!emu_launch(&launch, arena, &report))
 * say(report.text);
 *
 * Every thread is a fiber; blocks run one after another, the blocks of a cluster side by side. Threads switch only where they wait, in an
 * order that the seed permutes; copies and matrix instructions that are asynchronous on the device
 * take effect late. Checked, and ended with a report (rows of emu_fault.def): see there. Ordering
 * is tracked by vector clocks, so a missing barrier is found whichever way the schedule went.
 *
 * Pure function of its arguments and the memory they name; no globals. Concurrent launches are
 * independent. Memory comes from the arena's allocator; when it runs out, the arena's trap is
 * thrown after everything is cleaned up. */
#ifndef TARGET_CUDA_EMU_EMU_H
#define TARGET_CUDA_EMU_EMU_H
#include "base/arena.h"
#include "base/cancel.h"
#include "target/cuda/emu/include/emu_table.h"

#include <stdbool.h>
#include <stdint.h>

/* How to compile a .cu for emulation (C++17; gcc and clang). */
#define EMU_CXXFLAGS \
    "-x c++ -std=c++17 -O1 -fPIC -shared -fno-exceptions -ffp-contract=off -fwrapv -w -Wno-psabi -nostdinc++"

typedef enum EmuFault {
#define EMU_FAULT(id, name, meaning) EMU_FAULT_##id,
#include "target/cuda/emu/emu_fault.def"
#undef EMU_FAULT
    EMU_FAULT_COUNT
} EmuFault;
const char *emu_fault_name(EmuFault fault);

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
    uint32_t cluster;      /* blocks of a cluster, along x; at most 8; 0 or 1: none */
    uint32_t threads;      /* of a block: whole warps, at most 1024 */
    uint32_t shared_bytes; /* at most 232448 */
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

/* True when nothing was found. The texts lie in the arena. */
bool emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report);

/* A global tensor as TMA sees it; what cuTensorMapEncodeTiled is given. */
typedef struct EmuTensor {
    EmuType type;
    int rank; /* 1..5 */
    void *base;
    uint64_t dims[5];    /* dimension 0 is contiguous */
    uint64_t strides[4]; /* bytes, of dimensions 1.. */
    uint32_t box[5];
    int swizzle; /* bytes: 0, 32, 64, 128 */
} EmuTensor;

/* Fills the 128 opaque bytes of a TensorMap. NULL, or the rule that was broken (those of the
 * driver, and one more: with a swizzle the box is exactly as wide as it, since the device's layout
 * of narrower boxes is of no use to wgmma). */
const char *emu_tensormap_encode(void *map, const EmuTensor *tensor);
#endif
