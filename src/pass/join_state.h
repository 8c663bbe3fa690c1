/* SPDX-License-Identifier: Apache-2.0 */
/* join_state.h: what the files of pass `join` share.
 *
 *   join.c         the pass: which tasks become one, and the change
 *   join_axes.c    along which indices that can be, and which axes of which tiles get longer
 *   join_rows.c    loops that have more trips for later tasks
 *   join_choose.c  how many
 *
 * Pass `nest` asks the same of the trips of a loop: which axes get longer where several become one. */
#ifndef PASS_JOIN_STATE_H
#define PASS_JOIN_STATE_H
#include "pass/join.h"

#include "ir/ringform.h"
#include "pass/pass.h"

typedef struct Along { /* one of the two indices; or that of a loop */
    Ref index, count;  /* of tasks */
    const Region *body[2]; /* of a loop, of the roles that compute and load; NULL: tasks */
    Ref other;             /* .. its index in the other role */
    int64_t step;          /* from one to the next */
    VEC(const Op *) sums;  /* .. products and reductions that its trips add up */
    int factor;
    bool *follows; /* by Ref: scalars that are made of the index */
    signed char *axis, fields[MAX_RINGS][MAX_RING_FIELDS]; /* that gets longer, from 1 on; 0: none. By Ref; by ring */
    bool possible, reuses; /* something is loaded that is the same for its tasks */
    bool uneven;           /* some loop's end is not */
    int64_t full;          /* the count, where it is known */
    Map bounded; /* tensor and dimension -> the tensor that ends behind the last task */
} Along;

typedef struct Join {
    PassContext *cx;
    Kernel *k;
    Op *tasks;
    size_t count; /* of values */
    VEC(Ref) rings;
    Along along[2];
    Along *at; /* at hand */
    bool changed;
} Join;

static inline const Type *join_type(const Join *x, Ref ref) { return ir_type(x->k, ref); }
static inline bool join_follows(const Join *x, Ref ref) {
    return ref_is_value(ref) && ref < x->count && x->at->follows[ref];
}
static inline int join_axis(const Join *x, Ref ref) {
    return ref_is_value(ref) && ref < x->count ? x->at->axis[ref] : 0;
}
static inline bool join_is_tile(const Join *x, Ref ref) {
    return ref != REF_NONE && join_type(x, ref)->kind == TY_TILE && join_type(x, ref)->rank > 0;
}

/* --- join_axes.c --- */
void join_find_along(Join *x, Along *at); /* of at->index: is it possible, and with which axes */
/* The dimension of the box along which the index moves it; -1: none, -2: several. */
int join_moved_dim(const Join *x, const Op *access);
/* Numbers along an axis: what moves with the index by as much as there are of them, and 0, 1, 2 ..; the operand that
 * is the latter; -1: it is none. */
int join_counted(const Join *x, const Op *op);
bool join_is_uneven(const Join *x, const Op *op); /* a loop whose end alone follows the index */
/* Can what is stored be given another end? A parameter that is a tensor has its own. */
bool join_stores_can_end(const Join *x, const Region *region);

/* The same of the trips of a loop: body, index, other, step and sums are known. */
void join_find_trips(Join *x, Along *at);

/* --- join.c --- */
/* As many as the kernel's own grid has; a launch may have another. 0: nobody knows. */
int64_t join_own_count(const Join *x, Ref count);
/* Makes the axes longer of values and rings. */
void join_lengthen(Join *x);

/* --- join_rows.c --- */
void join_even_loops(Join *x, Ref first, const Region *region); /* first: the index of a group's first task */
void join_count_further(Join *x, const Region *region);         /* what is counted along an axis */

/* --- join_choose.c --- */
JoinLimits join_limits(Join *x);
int64_t join_held(const JoinLimits *limits, JoinSize size); /* bytes of on-chip memory */
#endif
