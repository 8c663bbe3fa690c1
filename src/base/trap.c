/* SPDX-License-Identifier: Apache-2.0 */
/* trap.c: see trap.h. */
#include "base/trap.h"

#include <stdarg.h>
#include <stdio.h>

_Noreturn void trap_throw(Trap *trap, TrapCode code) {
    trap->code = code;
    longjmp(trap->frame, 1);
}

_Noreturn void ice(Trap *trap, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(trap->message, sizeof trap->message, format, args);
    va_end(args);
    trap_throw(trap, TRAP_INTERNAL);
}
