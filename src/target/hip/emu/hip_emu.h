/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emu.h: emitted kernels for AMD's GPUs on the emulator (simt/emu/emu.h): waves of 64 or 32 lanes, LDS, matrix
 * instructions as AMD's manuals lay them out. The .hip is compiled with EMU_CXXFLAGS and the embedded folders `prelude`
 * and `include` of hip and simt on the include path. */
#ifndef TARGET_HIP_EMU_HIP_EMU_H
#define TARGET_HIP_EMU_HIP_EMU_H
#include "target/simt/emu/emu.h"

/* True when nothing was found. The texts lie in the arena. */
bool hip_emu_launch(const EmuLaunch *launch, Arena *arena, EmuReport *report);
#endif
