/* triton_flow.h: between the files that run statements of a Triton kernel (triton_stmt.c), its
 * loops (triton_loop.c) and its branches (triton_branch.c).
 *
 * Python's variables become SSA by running the text once with a table of locals. Jumps become data:
 * `return`, `break` and `continue` set flags, which are locals with hidden names and go through
 * branches and loops like any other variable.
 *
 *     skip d    the rest of the body of loop d is left out; at d = 0: the function has returned
 *     stop d    loop d runs no further iteration
 *     result    what the function has returned
 *
 * A flag that is a constant costs nothing; one that is a run-time boolean guards what follows. */
#ifndef FRONT_TRITON_TRITON_FLOW_H
#define FRONT_TRITON_TRITON_FLOW_H
#include "front/triton/triton.h"

/* Where the flow of control is behind a statement or block. */
typedef enum End { END_GOES_ON, END_MAY_STOP, END_STOPS } End;

/* --- triton_branch.c: locals, and run-time branches --- */
Local *tri_local(Frame *frame, const char *name); /* NULL if there is none */
void tri_set_local(Lower *l, const char *name, Val value);
/* The leaves of a value that live at run time, and the same value with others, taken in order. */
void tri_leaves(Lower *l, Val v, Refs *refs);
Val tri_with_leaves(Lower *l, Val v, const Ref **next);
/* Same structure, same constants, and leaves of the same types? */
bool tri_same_form(Lower *l, Val a, Val b);
/* A number that lives on as a run-time value: what a plain assignment and a return make of it. */
Val tri_decay(Lower *l, Val v, Range range);
/* Some value of the same form; nothing looks at it. */
Val tri_dummy(Lower *l, Val like);

typedef enum Flag { FLAG_SKIP, FLAG_STOP, FLAG_RESULT } Flag;
const char *tri_flag_name(Lower *l, Flag flag, int depth);
Val tri_flag(Lower *l, Flag flag, int depth); /* False when it was never set */
void tri_set_flag(Lower *l, Flag flag, int depth, Val value);
End tri_end(Lower *l); /* what `skip` of the innermost loop says */

/* A run-time choice: begin, then for both sides enter .. leave (resume goes back into one), then merge. */
typedef struct Branches {
    Op *op;
    Builder outer, inside[2];
    Locals before, after[2];
    bool stops[2];      /* the flow does not come to the end of that side */
    VEC(Val) merged[2]; /* pairs of values to be handed on */
} Branches;
void tri_branch_begin(Lower *l, Branches *br, Ref condition);
void tri_branch_enter(Lower *l, Branches *br, int side);
void tri_branch_resume(Lower *l, Branches *br, int side);
void tri_branch_leave(Lower *l, Branches *br, int side);
/* Variables that differ become results of the op. tail: nothing reads them any more but what the function returns. */
void tri_branch_merge(Lower *l, Branches *br, bool tail, Range range);

/* --- triton_loop.c --- */
void tri_run_for(Lower *l, const PyNode *node);
void tri_run_while(Lower *l, const PyNode *node);
/* After a mistake in a header: what its blocks would have assigned is unknown, and no second mistake. */
void tri_poison_stored(Lower *l, const PyNode *node);

/* --- triton_stmt.c --- */
/* tail: nothing is run behind the block in this function. */
End tri_run_block(Lower *l, const PyList *list, uint32_t at, bool tail);
#endif
