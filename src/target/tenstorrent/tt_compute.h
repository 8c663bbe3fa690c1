/* SPDX-License-Identifier: Apache-2.0 */
/* tt_compute.h: between the two halves of what builds the compute kernel.
 *
 * Tile values are computed late: an op adds no step, the `put` that needs it (or the sum that it
 * is carried into) computes the whole expression, a few pages at a time, in one section of DST:
 * acquire, calls, commit, wait, pack, release. A value that must lie in a CB in between (an operand
 * of matmul, reduce or a broadcast) is packed into an inner CB first. */
#ifndef TARGET_TENSTORRENT_TT_COMPUTE_H
#define TARGET_TENSTORRENT_TT_COMPUTE_H
#include "target/tenstorrent/tt_emit.h"

typedef struct Pop {
    int cb;
    const Op *after; /* NULL: at the end of the region */
} Pop;

/* A value that got a home, and the homes that it had before: an inner region may have its own. */
typedef struct Homed {
    Ref value;
    int home, fpu_home;
} Homed;

/* What an inner CB is for: to be moved, for the FPU, partial sums, a carried tile. */
typedef enum InnerUse { INNER_MOVE, INNER_FPU, INNER_SUM, INNER_CARRIED, INNER_USES } InnerUse;

typedef struct Compute Compute;
struct Compute {
    Role role; /* first: a Role of the kernel */
    int *home, *fpu_home; /* the CB beside its ring that holds a value, by Ref; -1: none */
    VEC(Homed) homed;     /* in order */
    VEC(size_t) marks;    /* how many had one at the start of each open region */
    int *inner_cb[INNER_USES]; /* CBs once made for a value that is a sum or carried */
    VEC(int) pool;        /* CBs for values that are packed away: each is free again when it was popped */
    VEC(int) filling;     /* those being packed into */
    VEC(Pop) pops;        /* to be done at the end of the region, or after an op */
    VEC(Ref) held;        /* rings with an item waited for */
    Ref in_dst;           /* a value that lies in the open section of DST, or 0 */
    int spills;           /* built so far */
    bool reduces;         /* a reduction's packer mask is on */
};

/* --- tt_section.c, tt_graph.c --- */
typedef struct Root {
    Ref value;
    Ref without;         /* a carried sum that the value adds to: left out */
    int cb;              /* packed into it */
    const char *adds_if; /* NULL, or a sum in L1: each page to its own place, added where this
                            condition holds */
    const Op *op;        /* for messages */
    int64_t row, column, columns; /* of a part that is inserted: its first page in the whole, and that one's columns; 0:
                                     it is the whole */
    bool to_dst;         /* not packed: all pages at once into open DST, adding to what is there */
    bool streams;        /* pages are pushed as they are packed */
} Root;
void section_root(Compute *c, const Root *root);
/* Would the root need inner CBs, or more DST than `pages` tiles of it leave? */
bool section_fits_dst(Compute *c, const Root *root, Ref in_dst, int64_t pages);
/* Finds the CB from which the FPU can read the value as it is. */
bool section_fpu_view(Compute *c, Ref value, int *cb, bool *turned);

/* --- tt_uneven.c --- */
/* Behind a loop: the items that only other cores of its group needed. */
void compute_give_up_rest(Compute *c, const Op *loop);

/* --- tt_carried.c --- */
void carried_loop(Role *role, const Op *loop);

/* --- tt_emit_compute.c --- */
int compute_inner_cb(Compute *c, Ref value, InnerUse use, const Op *op);
/* The CB holds the value; and is popped at the end of the region; and was packed just now. */
void compute_set_home(Compute *c, Ref value, int cb, bool for_fpu);
void compute_keep_home(Compute *c, Ref value, int cb, bool for_fpu);
void compute_take(Compute *c, Ref value, int cb, bool for_fpu);
/* A region: begins; pops what is to be popped behind an op; ends. */
size_t compute_enter(Role *role);
void compute_pop_after(Compute *c, const Op *op);
void compute_leave(Role *role, size_t mark);
void compute_each_cb(Compute *c, Ref ring, TtHand hand); /* of the ring */
bool compute_has_wait(const Op *op); /* is it one, or has it one inside? */
void compute_forget(Compute *c, size_t count); /* homes beyond the first so many */
/* Packs the value into an inner CB, ready to be read, until the end of the root or region that asked. */
int compute_spill(Compute *c, Ref value, bool for_fpu, const Op *op);
#endif
