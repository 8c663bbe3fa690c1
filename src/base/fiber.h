/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.h: asymmetric coroutines, for simulators that run thousands of small threads of control in
 * a fixed order.
 *
 * A fiber has its own stack (with a guard page below it, so an overflow is a fault and not a
 * corruption) and runs only inside fiber_resume, on the thread that called it. There is no
 * scheduler and no hidden state: who resumes whom is the caller's business, and a fiber may itself
 * create and resume others.
 *
 *     static void body(void *arg) { Task *t = arg; work(); fiber_yield(t->fiber); more(); }
 *     t.fiber = fiber_create(64 * 1024, body, &t);      NULL when memory is short
 *     while (!fiber_done(t.fiber)) fiber_resume(t.fiber);
 *     fiber_destroy(t.fiber);
 *
 * A trap (trap.h) may be thrown inside a fiber only to a frame armed on that fiber's own stack. */
#ifndef BASE_FIBER_H
#define BASE_FIBER_H
#include <stdbool.h>
#include <stddef.h>

#ifndef FIBER_API
#define FIBER_API /* `static` where the text is included as a whole: kernels that are built ahead of time */
#endif
typedef struct Fiber Fiber;

FIBER_API Fiber *fiber_create(size_t stack_bytes, void (*body)(void *arg), void *arg);
/* Runs the fiber until it yields or its body returns. Not allowed on a fiber that is done or running. */
FIBER_API void fiber_resume(Fiber *fiber);
/* Called on the fiber itself: back to the fiber_resume that runs it. */
FIBER_API void fiber_yield(Fiber *self);
FIBER_API bool fiber_done(const Fiber *fiber);
/* Gives a fiber that is done a new body, keeping its stack: much cheaper than destroy and create. */
FIBER_API void fiber_restart(Fiber *fiber, void (*body)(void *arg), void *arg);
/* Also for one that never finished: its frames are dropped, nothing on them is run. NULL is allowed. */
FIBER_API void fiber_destroy(Fiber *fiber);
#endif
