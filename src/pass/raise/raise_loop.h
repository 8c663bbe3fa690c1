/* SPDX-License-Identifier: Apache-2.0 */
/* raise_loop.h: what the files share that turn one element loop into tile ops:
 *
 *   raise_parallel.c    the pass: which loops, regions of a body, what is left over
 *   raise_value.c       scalars of the body as tiles over the loop variables that they depend on
 *   raise_index.c       where an access lies: a box, index vectors, or places that are computed
 *   raise_load.c        reads
 *   raise_store.c       writes and atomics
 *   raise_accumulate.c  a cell that several iterations update
 *   raise_scan.c        running sums
 *   raise_control.c     `if` and loops inside of the body
 *   raise_order.c       do iterations meet in memory?
 *   raise_private.c     cells that each iteration uses as variables of its own
 *   raise_split.c       loops in blocks */
#ifndef PASS_RAISE_RAISE_LOOP_H
#define PASS_RAISE_RAISE_LOOP_H
#include "analysis/affine.h"
#include "pass/raise/raise.h"

typedef struct Raised { /* a value of the body as a tile */
    Ref ref;
    int count;          /* of axes; 0: uniform, a scalar */
    int axes[MAX_RANK]; /* axes[d]: the loop variable that dimension d of the tile runs over */
} Raised;

typedef struct Loop {
    PassContext *cx;
    Kernel *k;
    Op *op;
    Builder b; /* where tile ops go: before the loop, or in a region that was made there */
    int rank;  /* variables; those of inner loops that became axes are the last */
    Ref variable[MAX_RANK];
    int64_t extent[MAX_RANK];
    int64_t low[MAX_RANK]; /* the first value of each: 0, but for those of plain loops */
    Analysis *affine;
    Map axes;          /* Ref -> set of variables that a value of the body depends on, + 1 */
    FoundOps accesses; /* all ops of the body that touch memory, in order */
    Map done;          /* Ref -> Raised, both for values already made */
    Map first;         /* Ref -> Ref, what it is in the first iteration */
    Map uses;          /* Ref -> by how many operands of the body; empty: to be counted */
    const Op *scope;   /* raise_order.c looks at the accesses inside of it: the loop, or one in its body .. */
    bool in_order;     /* .. whose trips have an order, so that no two may meet even if nobody can tell */
    Map scans;         /* stores of running sums -> what raise_scan.c knows of them .. */
    Map scanned;       /* .. and their buffers */
    Map counted;       /* stores that update cells at places that may be equal */
    Map unique;        /* stores of which no two iterations write one place, for sure */
    Map *widened;      /* buffers of 16-bit sums that are carried in f32 by now */
    Map *patches;      /* results of reads that are there for what a write leaves as it is */
    bool masked;       /* the ops at hand run only where .. */
    Raised mask;
    Map masks; /* region of the body -> that mask, of those that have one of their own */
    bool split;      /* it fits no tile, but its blocks may */
    Op *before;      /* the last op before those that are made for it */
    Ref blamed;      /* the memory in which iterations meet */
    const char *why; /* set on failure */
    Range where;
} Loop;

/* How an index moves with the loop variables. */
typedef enum Move {
    MOVE_NOT,   /* uniform */
    MOVE_STEP,  /* uniform + variable */
    MOVE_ALONE, /* a function of one variable */
    MOVE_ANY
} Move;

typedef enum PlaceKind {
    PLACE_BOX,     /* each index is uniform, or moves by a variable of its own step by step */
    PLACE_VECTORS, /* each index is uniform, or a function of a variable of its own */
    PLACE_ANY
} PlaceKind;

typedef struct Reach { /* where an access lies */
    PlaceKind kind;
    int rank;             /* of the tensor or buffer */
    unsigned moves;       /* the variables that it depends on */
    Poly start[MAX_RANK]; /* each index as a sum */
    Move move[MAX_RANK];
    int axis[MAX_RANK];   /* the variable of each dimension, or -1; not of PLACE_ANY */
    Ref offset[MAX_RANK]; /* raise_offsets: in the first iteration, or the index vector */
} Reach;

/* --- raise_parallel.c --- */
bool raise_fail(Loop *loop, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
Op *raise_body_op(const Loop *loop, Ref ref); /* what made the value, if the body did */
bool raise_is_inside(const Op *op, const Op *outer);
bool raise_is_load(const Op *op);
bool raise_is_store(const Op *op);
bool raise_region(Loop *loop, Region *region); /* all of its ops but the terminator */

/* --- raise_value.c --- */
void raise_find_axes(Loop *loop);
unsigned raise_axes(const Loop *loop, Ref ref);
int raise_variable(const Loop *loop, Ref ref); /* which loop variable it is, or -1 */
bool raise_value(Loop *loop, Ref ref, Raised *out);
void raise_set(Loop *loop, Ref ref, Raised value); /* what the value of the body became */
int raise_find_axis(const Raised *value, int axis);
unsigned raise_set_of(const Raised *value); /* its axes as a set */
int raise_sorted(unsigned set, int *axes);
/* The value with one dimension for each of the axes, extent 1 where it does not depend on that one. */
Ref raise_align(Loop *loop, const Raised *value, const int *axes, int count);
/* The same with every extent whole; a scalar where there is no axis. */
Ref raise_spread(Loop *loop, const Raised *value, const int *axes, int count);
const Type *raise_tile(Loop *loop, Elem elem, const int *axes, int count);
bool raise_fits(Loop *loop, const Op *op, const int *axes, int count); /* a tile over the axes is not too large */
Raised raise_scalar(Ref ref);
Raised raise_number(Loop *loop, Elem elem, int64_t number);
Raised raise_cast(Loop *loop, Raised x, Elem elem);
/* The elementwise op (of cmp: the predicate) on tiles of any axes. */
Raised raise_apply(Loop *loop, Opcode code, const Raised *x, int count, Word predicate);
Raised raise_both(Loop *loop, Raised x, Raised y); /* x and y */
Raised raise_select(Loop *loop, Raised condition, Raised x, Raised y);
Raised raise_not(Loop *loop, Raised x);
/* Conditions: over the axes of `kept` alone, true where it is for some of the others. */
Raised raise_any(Loop *loop, Raised condition, unsigned kept);

/* --- raise_index.c --- */
void raise_place(Loop *loop, const Op *op, Reach *place);
bool raise_offsets(Loop *loop, const Op *op, Reach *place); /* of boxes and vectors */
bool raise_same_place(const Reach *a, const Reach *b);
int raise_place_axes(const Reach *place, int *axes);
/* The smallest and the largest number that the value may be. */
bool raise_range(const Loop *loop, Ref ref, int64_t *least, int64_t *most);
/* A buffer's box keeps the rank: extent 1 where no variable runs. False when it may lie outside. */
bool raise_buffer_box(Loop *loop, const Op *op, const Reach *place, const Type **type);
/* Places in a buffer, counted row by row. Outside of it: `outside`, or (below 0) something inside. */
bool raise_flat(Loop *loop, const Op *op, bool drop, Raised *out);
/* Addresses in a tensor, and where they lie inside; *tested: do some perhaps not? */
bool raise_pointers(Loop *loop, const Op *op, Raised *pointers, Raised *inside, bool *tested);
void raise_set_dims(Loop *loop, Op *op, const Reach *place, int count);

/* --- raise_load.c --- */
bool raise_load(Loop *loop, const Op *op, Raised *out);

/* --- raise_store.c --- */
bool raise_store(Loop *loop, Op *op);
bool raise_atomic(Loop *loop, Op *op);
/* All of a buffer, to be written again but for what changes. */
Ref raise_rest(Loop *loop, Ref buffer, const Ref *offsets, const Type *type);

/* --- raise_accumulate.c --- */
/* Is it `cell = cell op e`, on a cell that a box names? */
bool raise_is_update(Loop *loop, const Op *store);
/* Do all ops of loop->scope that touch its buffer update it in the same way? */
bool raise_check_updates(Loop *loop, const Op *store);
/* Such updates of whole numbers, at places that no box names: any order gives the same. */
bool raise_are_counts(Loop *loop, const Op *store);
bool raise_is_count(Loop *loop, const Op *store);
bool raise_count(Loop *loop, Op *store);
bool raise_is_product(Loop *loop, const Op *store); /* does it add products that make a `dot`? */
/* Such a store to a cell that some loop variable does not reach. */
bool raise_accumulation(Loop *loop, Op *store);

/* `cell = op(read, e)`, by a read of the store's buffer at whatever place, made in the same trip. */
bool raise_find_step(Loop *loop, const Op *store, const Op **update, const Op **read, Word *combine, Ref *e);

/* --- raise_scan.c --- */
void raise_find_scans(Loop *loop, const Op *op, int along); /* in the `for` whose variable that is */
bool raise_is_scanned(const Loop *loop, const Op *store, const Op *read); /* by the running sum that it writes? */
bool raise_scan(Loop *loop, Op *store, const void *found);

/* --- raise_control.c --- */
bool raise_masked_region(Loop *loop, Region *region, Raised condition); /* raise_region, where that holds */
bool raise_if(Loop *loop, Op *op);
bool raise_for(Loop *loop, Op *op);
/* Has the `for` known ends, steps of 1, and nothing that it hands on? */
bool raise_counts(const Kernel *k, const Op *op, int64_t *low, int64_t *trips);
bool raise_inner(Loop *loop, Op *op); /* an element loop in the body of another */

/* --- raise_private.c --- */
/* Cells that each iteration writes first become its own; false: it does not. */
bool raise_privatise(Loop *loop, Ref buffer);

/* --- raise_split.c --- */
Op *raise_split(Loop *loop); /* the same loop in blocks: the element loop of a block */

/* --- raise_order.c --- */
/* May iterations run side by side, as far as the accesses inside of loop->scope say? */
bool raise_check_order(Loop *loop);
#endif
