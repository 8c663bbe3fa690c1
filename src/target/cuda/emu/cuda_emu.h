/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_emu.h: emitted CUDA kernels on the emulator (simt/emu/emu.h).
 *
 * The .cu is compiled by a C++17 compiler with EMU_CXXFLAGS and the embedded folders `prelude` and `include` of cuda
 * and simt on the include path.
 *
 *     EmuLaunch launch = {.kernel = "add", .file = "add.cu", .entry = (EmuEntry)dlsym(so, "tw_emu_add"),
 *                         .grid = {8, 1, 1}, .threads = 256, .params = params,
 *                         .allocations = allocations, .allocation_count = 3};
 *     EmuReport report;
 *     if (!emu_launch(&launch, arena, &report)) say(report.text); */
#ifndef TARGET_CUDA_EMU_CUDA_EMU_H
#define TARGET_CUDA_EMU_CUDA_EMU_H
#include "target/simt/emu/emu.h"

enum { /* faults beside those of emu_fault.def */
       CUDA_FAULT_BEFORE_FIRST = EMU_FAULT_OF_TARGET - 1,
#define CUDA_FAULT(id, name, meaning) CUDA_FAULT_##id,
#include "target/cuda/emu/cuda_fault.def"
#undef CUDA_FAULT
};

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
