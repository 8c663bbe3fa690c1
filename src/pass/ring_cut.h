/* ring_cut.h: between the parts of `ring`: what goes where (ring_class.c), the cut itself
 * (ring_cut.c), the plan (ring_plan.c). */
#ifndef PASS_RING_CUT_H
#define PASS_RING_CUT_H
#include "pass/grid_order.h"
#include "pass/pass.h"

/* Loads that are handed over together, or one store. */
typedef struct CutRing {
    bool output;              /* compute -> store; else load -> compute */
    Region *region;           /* where the accesses stand */
    VEC(Op *) ops;            /* in source order */
    Op *first_use, *last_use; /* of a load's value, as ops of the region */
    bool copies;              /* a value outlives the region: get<copy> */
    bool in_loop;
    bool feeds_dot;
    int64_t bytes;          /* of a slot */
    const Op *loop;         /* the innermost loop around, or NULL */
    int slots;              /* chosen with the execution */
    int64_t clocks;         /* that an item's products take; 0: not asked */
    int parts;              /* an output that leaves in so many parts, two at a time; 0: whole */
    struct CutRing *shares; /* the group of a sibling loop whose ring it uses, or NULL */
    Ref ring;               /* made by the cut */
} CutRing;

typedef struct Pair { /* bases that must not overlap for the cut to be right */
    Ref a, b;
} Pair;

typedef struct Cut {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    bool all;         /* every access through a ring */
    bool *replicable; /* by Ref: each role computes its own */
    bool *shared;     /* by Ref: computed once, before the roles */
    size_t value_count;
    VEC(Ref) values;        /* all that are defined in the kernel */
    VEC(const Op *) memory; /* ops that read or write memory, or order those that do */
    Map order;              /* op -> place in a walk, from 1 */
    Map ring_of;            /* op -> index into rings, plus 1 */
    VEC(CutRing *) rings;   /* inputs by first load, then outputs */
    VEC(Pair) apart;
    GridOrder grid;
    bool counts_programs; /* each program of the grid acts on its own: atomics, prints */
    bool
        waits_for_programs; /* programs may wait for each other: neither persistence nor hoisting */
    const char
        *explicit_mode;    /* the first op that keeps the kernel from being cut at all, or NULL */
    VEC(Finding) refusals; /* loads that stay where they are, and why */
} Cut;

void cut_classify(Cut *c);
int cut_order(const Cut *c, const Op *op);
void cut_index(Cut *c);                           /* after a change of the rings */
CutRing *cut_ring_of(const Cut *c, const Op *op); /* NULL: the op stays in compute */

/* Rewrites the kernel into prologue, rings, tasks and roles. */
Op *cut_roles(Cut *c); /* the tasks op */

typedef enum Execution { RUN_FLAT, RUN_SKEW, RUN_ROLES } Execution;
Execution cut_choose(Cut *c);                    /* with a finding that says why */
void cut_plan(Cut *c, Op *tasks, Execution run); /* slots, workers, persistence, order */
/* Programs side by side (ring_gang.c), in a plan whose loops are turned. */
void cut_gang(Cut *c, Op *tasks);
#endif
