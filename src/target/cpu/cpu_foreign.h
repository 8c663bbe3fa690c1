/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_foreign.h: functions in CUDA that a kernel brings, as C++ for this machine. */
#ifndef TARGET_CPU_CPU_FOREIGN_H
#define TARGET_CPU_CPU_FOREIGN_H
#include "base/text.h"

/* The text with its assembly as calls of prelude/foreign.h; NULL, and what of it is not known, if there is more. */
const char *foreign_text(Arena *arena, const char *text, const char **unknown);
#endif
