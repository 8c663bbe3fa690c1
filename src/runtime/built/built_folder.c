/* SPDX-License-Identifier: Apache-2.0 */
/* built_folder.c: a target whose kernels are built elsewhere, by its own tools: what is taken along is a folder with
 * all that they need (kernels, host program, CMakeLists.txt, plan). */
#include "runtime/built/built_kernel.h"

const BuildKind build_folder = {.target = &target_tenstorrent};
