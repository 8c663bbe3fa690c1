/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h: code of single threads (`spmd` regions whose workers are threads) beside what a block does as a whole.
 *
 * Inside of such a region a value either is the same in all threads (uniform) or may differ. Operations on whole
 * tiles are collective: the block does them once, so they stand between regions, not inside. `threads_cut` makes that
 * so:
 *
 *     spmd %t in 128 {                          spmd %t in 128 { s[t] = .. }
 *       s[t] = .. ; %a = bload s, [0] : f32[128] ..      ->      %a = bload s, [0] : f32[128] ..
 *       o[t] = .. }                             spmd %t in 128 { o[t] = .. }
 *
 * Uniform scalars are computed once, outside; what a later region needs of an earlier one it computes again, or finds
 * in a buffer with an element for each thread. A loop or `if` around a collective operation goes outside as well, and
 * must be uniform. */
#ifndef IR_THREADS_H
#define IR_THREADS_H
#include "ir/build.h"

typedef struct Threads { /* what is known of a region */
    Kernel *k;
    Arena *arena;
    Op *spmd;
    bool at_syncs; /* barriers and shuffles are places to cut, too */
    bool *differs; /* by Ref */
    bool *uneven;  /* buffers of which each thread has a part, by Ref: the parts are not alike */
    size_t known;  /* how many of them; later values are those of threads */
    const char *why; /* it cannot be cut */
    Range where;
} Threads;

Threads threads_look(Kernel *k, Op *spmd, bool at_syncs, Arena *arena);
bool threads_differ(const Threads *t, Ref ref);
/* Does it read an element of the thread's own part of a buffer, and all threads read the same number? */
bool threads_is_even(const Threads *t, const Op *op);
/* Of a condition: does it choose whole warps, whatever the numbers of the kernel are? Then what it guards is a role:
 * its threads do tile operations as a block does. some[0], some[1]: are there threads for which it holds, others? */
bool threads_is_role(const Threads *t, Ref condition, bool some[2]);
bool threads_is_tile_op(const Kernel *k, const Op *op); /* a collective operation, or one that has such inside */
bool threads_has_cut(const Threads *t, const Op *op);   /* is it a place to cut, or has one inside? */
bool threads_fail(Threads *t, const Op *op, const char *why);

/* Is it inside of code of single threads? Its scalars are each thread's own. */
bool threads_are_around(const Op *op);

/* The region of the worker that it belongs to, if each has its own (`spmd` with several regions); else NULL. */
const Region *threads_worker(const Op *op);
/* Do other workers perhaps write the buffer, too, while the op runs? Then it writes its own elements and no others. */
bool threads_share(const Kernel *k, const Op *op, Ref buffer);

/* Is it the same number, computed twice? */
bool threads_same_number(const Kernel *k, Ref a, Ref b);
int64_t threads_count(const Threads *t, Ref condition); /* for how many threads it holds; 0: not known */

/* Roles beside each other whose barriers hand things over (threads_roles.c): in an order in which they may run. The
 * region is then looked at anew. */
void threads_order_roles(Threads *t);

/* Roles of warpgroups, each as it is written, side by side (threads_split.c); false: why not is in t, and the region is
 * half done. */
bool threads_split_roles(Threads *t);

/* Barriers where threads read or write shared memory that others have written or read since the last one: the source
 * relies on them without writing them down. None go under a condition that differs. */
void threads_add_syncs(Threads *t);

/* The region in pieces, as said above; false: it is as it was, with the reason in t. With at_syncs no barrier and no
 * shuffle is left in the pieces, and conditions that differ go with each piece that they guard. */
bool threads_cut(Threads *t);
#endif
