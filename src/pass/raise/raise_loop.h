/* raise_loop.h: what the two files share that turn one element loop into tile ops: raise_parallel.c (values, boxes,
 * stores, the pass) and raise_accumulate.c (a cell that several iterations update). */
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
    Builder b; /* just before the loop */
    int rank;
    int64_t extent[MAX_RANK];
    Analysis *affine;
    Map done;        /* Ref -> Raised, both for values already made */
    Map first;       /* Ref -> Ref, what it is in the first iteration */
    Map uses;        /* Ref -> by how many operands of the body; empty: to be counted */
    Map updated;     /* buffers whose updates were found to be of one kind */
    Map *widened;    /* buffers of 16-bit sums that are carried in f32 by now */
    const char *why; /* set on failure */
    Range where;
} Loop;

typedef struct Box {
    int rank;             /* of the tensor or buffer */
    Poly start[MAX_RANK]; /* each index as a sum */
    Ref offset[MAX_RANK]; /* in the first iteration */
    int axis[MAX_RANK];   /* the variable of each dimension, or -1 */
} Box;

/* --- raise_parallel.c --- */
bool raise_fail(Loop *loop, const Op *op, const char *format, ...) __attribute__((format(printf, 3, 4)));
Op *raise_body_op(const Loop *loop, Ref ref); /* what made the value, if the body did */
bool raise_value(Loop *loop, Ref ref, Raised *out);
int raise_find_axis(const Raised *value, int axis);
/* The value with one dimension for each of the axes, extent 1 where it does not depend on that one. */
Ref raise_align(Loop *loop, const Raised *value, const int *axes, int count);
const Type *raise_tile(Loop *loop, Elem elem, const int *axes, int count);
bool raise_fits(Loop *loop, const Op *op, const int *axes, int count); /* a tile over the axes is not too large */
bool raise_box(Loop *loop, const Op *op, Box *box);
bool raise_same_box(const Box *a, const Box *b);
int raise_box_axes(const Box *box, int *axes);
/* A buffer's box keeps the rank: extent 1 where no variable runs. False when it does not lie in the buffer. */
bool raise_buffer_type(Loop *loop, const Op *op, const Box *box, const Type **type);

/* --- raise_accumulate.c --- */
/* A store to a cell that some loop variable does not reach. */
bool raise_accumulation(Loop *loop, Op *store, const Box *cell);
#endif
