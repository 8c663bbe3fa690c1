/* SPDX-License-Identifier: Apache-2.0 */
/* hip.h: from a kernel in layout form to one readable .hip and the plan of its launch, for AMD's GPUs.
 *
 *     SimtPlan *plan = hip_emit(&cx, kernel);      NULL after errors (in the module's diag)
 *
 * The text compiles by itself with clang (tilewright_hip.h says how), by hipRTC, and on the host against the emulator.
 * The plan lives in the module's arena. */
#ifndef TARGET_HIP_HIP_H
#define TARGET_HIP_HIP_H
#include "pass/pass.h"
#include "target/simt/simt_param.h"

SimtPlan *hip_emit(PassContext *cx, Kernel *k);
#endif
