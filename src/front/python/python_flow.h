/* SPDX-License-Identifier: Apache-2.0 */
/* python_flow.h: between the files that run statements (python_stmt.c), loops (python_loop.c) and branches
 * (python_branch.c).
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
#ifndef FRONT_PYTHON_PYTHON_FLOW_H
#define FRONT_PYTHON_PYTHON_FLOW_H
#include "front/python/python.h"

/* Where the flow of control is behind a statement or block. */
typedef enum End { END_GOES_ON, END_MAY_STOP, END_STOPS } End;

/* --- python_branch.c: locals, and run-time branches --- */
Local *py_local(Frame *frame, const char *name); /* NULL if there is none */
void py_set_local(Lower *l, const char *name, Val value);
/* The leaves of a value that live at run time, and the same value with others, taken in order. */
void py_leaves(Lower *l, Val v, Refs *refs);
Val py_with_leaves(Lower *l, Val v, const Ref **next);
/* Same structure, same constants, and leaves of the same types? */
bool py_same_form(Lower *l, Val a, Val b);
/* Numbers as run-time values, also in a tuple. */
Val py_runtime(Lower *l, Val v, Range range);
/* What a plain assignment and a return make of a value of a kernel. */
Val py_decay(Lower *l, Val v, Range range);
/* Some value of the same form; nothing looks at it. */
Val py_stand_in(Lower *l, Val like);

typedef enum Flag { FLAG_SKIP, FLAG_STOP, FLAG_RESULT } Flag;
const char *py_flag_name(Lower *l, Flag flag, int depth);
Val py_flag(Lower *l, Flag flag, int depth); /* False when it was never set */
void py_set_flag(Lower *l, Flag flag, int depth, Val value);
End py_end(Lower *l); /* what `skip` of the innermost loop says */

/* A run-time choice: begin, then for both sides enter .. leave (resume goes back into one), then merge. */
typedef struct Branches {
    Op *op;
    Builder outer, inside[2];
    Locals before, after[2];
    bool stops[2];      /* the flow does not come to the end of that side */
    VEC(Val) merged[2]; /* pairs of values to be handed on */
} Branches;
void py_branch_begin(Lower *l, Branches *br, Ref condition);
void py_branch_enter(Lower *l, Branches *br, int side);
void py_branch_resume(Lower *l, Branches *br, int side);
void py_branch_leave(Lower *l, Branches *br, int side);
/* Variables that differ become results of the op. tail: nothing reads them any more but what the function returns. */
void py_branch_merge(Lower *l, Branches *br, bool tail, Range range);

/* --- python_loop.c --- */
void py_run_for(Lower *l, const PyNode *node);
void py_run_while(Lower *l, const PyNode *node);
/* After a mistake in a header: what its blocks would have assigned is unknown, and no second mistake. */
void py_poison_stored(Lower *l, const PyNode *node);

/* --- python_stmt.c --- */
void py_leave_function(Lower *l); /* nothing of the function is run any more */
/* tail: nothing is run behind the block in this function. */
End py_run_block(Lower *l, const PyList *list, uint32_t at, bool tail);
#endif
