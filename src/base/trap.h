/* SPDX-License-Identifier: Apache-2.0 */
/* trap.h: the one way out for what no caller can mend.
 *
 * Out of memory and internal faults leave by longjmp to the frame that armed the trap (the API entry, or the body of a
 * fiber). That is safe because everything made in between lives in arenas, and files, processes and devices are only
 * opened outside such a frame. Mistakes of the user never come this way: those are diagnostics (diag.h). */
#ifndef BASE_TRAP_H
#define BASE_TRAP_H
#include <setjmp.h>

/* STOPPED: a simulated program ends early, its reason is already in the diagnostics, caught by the simulator; or the
 * whole call does, because it was cancelled. */
typedef enum TrapCode { TRAP_NONE, TRAP_OUT_OF_MEMORY, TRAP_INTERNAL, TRAP_STOPPED } TrapCode;

typedef struct Trap {
    jmp_buf frame;
    TrapCode code;
    char message[400]; /* for TRAP_INTERNAL: what went wrong, where */
} Trap;

/* True the first time; false when trap_throw came back. Nothing declared before it and changed after it may be read
 * in the false branch unless volatile. */
#define TRAP_ARM(trap) ((trap)->code = TRAP_NONE, setjmp((trap)->frame) == 0)

_Noreturn void trap_throw(Trap *trap, TrapCode code);
/* An internal fault: a state that our own code should have made impossible. */
_Noreturn void ice(Trap *trap, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
