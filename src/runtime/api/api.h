/* SPDX-License-Identifier: Apache-2.0 */
/* api.h: what the files of the public entries (tilewright.h) share: checks of what the caller passes, and the one
 * setjmp frame.
 *
 * Every entry that can fail runs its body through api_guarded. Out of memory and internal faults come back there; the
 * body's half-made object, which it stores where the entry can see it, is then destroyed. */
#ifndef RUNTIME_API_API_H
#define RUNTIME_API_API_H
#include "runtime/runtime.h"

typedef tw_status ApiBody(tw_context *cx, void *call);
tw_status api_guarded(tw_context *cx, ApiBody *body, void *call);
/* The same without the lock, for bodies that change nothing but their thread's seat, to whose trap they throw. */
tw_status api_beside(tw_context *cx, ApiBody *body, void *call);
/* What a call that was asked to end returns. */
tw_status api_cancelled(tw_context *cx, Seat *seat);

tw_status api_misuse(tw_context *cx, const char *message);
/* For calls that found a NULL, or an index past the last, before they began; without an object
 * there is nothing to hold the message. */
tw_status api_absent(tw_context *cx);
tw_status api_past_last(tw_context *cx);
#define API_CONTEXT_OF(object) ((object) ? (object)->context : NULL)

/* A caller's struct in our version of it: what it does not know is zero; what we do not know must be. */
bool api_take_options(void *ours, size_t size, const void *theirs);
/* The other way round, for info structs. */
bool api_give_info(void *theirs, const void *ours, size_t size);
/* What the caller says of a compile, in our version of the struct; what is wrong with it, or NULL. */
const char *api_take_compile_options(tw_compile_options *ours, const tw_compile_options *theirs);
bool api_args_ok(const tw_arg *args, size_t count);
bool api_pairs_ok(const tw_pair *pairs, size_t count);
/* What is said where these are false. */
extern const char api_bad_struct[], api_bad_args[], api_bad_pairs[];
#endif
