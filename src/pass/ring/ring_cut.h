/* SPDX-License-Identifier: Apache-2.0 */
/* ring_cut.h: between the parts of `ring`: what goes where (ring_class.c) and what must stay in order
 * (ring_order.c), the cut itself (ring_cut.c), the plan (ring_plan.c). */
#ifndef PASS_RING_RING_CUT_H
#define PASS_RING_RING_CUT_H
#include "analysis/grid_order.h"
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
    bool in_trips; /* a loop behind the load reads it in its trips */
    bool chases;   /* its place is read from memory in the loop: two ways to memory, one behind the other, every trip */
    bool alone;    /* output: of a value that the store role makes itself; nothing is handed over */
    bool asked;    /* the source wants the loads of this very loop, or all, to run ahead */
    int64_t bytes; /* of a slot */
    const Op *loop;         /* the innermost loop around, or NULL */
    int slots;              /* chosen with the execution */
    int parts;              /* an output that leaves in so many parts, two at a time; 0: whole */
    struct CutRing *shares; /* the group of a sibling loop whose ring it uses, or NULL */
    Ref ring;               /* made by the cut */
} CutRing;

typedef struct CutAccess { /* of memory, or an op that orders those */
    const Op *op;
    int order;       /* its place in a walk */
    int first, last; /* of the outermost loop around it; else its own */
    int place;       /* into places; -1: it has none */
} CutAccess;

typedef struct CutSpan { /* the access that begins first or ends last, and where */
    const Op *op;        /* NULL: none */
    int order;
} CutSpan;

typedef struct CutPlace { /* accesses that start from the same parameters */
    const bool *roots;    /* by parameter; NULL: from anything */
    CutSpan first_write, last_read;
    CutSpan last_stay; /* of the writes that stay in compute */
    bool written;
} CutPlace;

typedef struct Pair { /* bases that must not overlap for the cut to be right */
    Ref a, b;
} Pair;

typedef struct Stay {
    const Op *op;
    const char *why;
} Stay;

typedef struct Cut {
    UserIndex users; /* of the flat kernel, while it is classified */
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    bool all;         /* every access through a ring */
    bool *replicable; /* by Ref: each role computes its own */
    bool *index;      /* by Ref: an index vector, or a tile that one is made of */
    bool *shared;     /* by Ref: computed once, before the roles */
    size_t value_count;
    VEC(Ref) values;       /* all that are defined in the kernel */
    VEC(CutAccess) memory; /* in their order */
    VEC(CutPlace) places;
    Map access_of, place_of, asked_apart; /* op -> its access; pointer -> its place; pairs of parameters */
    CutSpan first_order, last_order;      /* of the ops that nothing moves across */
    Map order;                            /* op -> place in a walk, from 1 */
    Map ring_of;                          /* op -> index into rings, plus 1 */
    Map on_task;                          /* value -> 1: a program id reaches it, or 0 */
    VEC(CutRing *) rings;                 /* inputs by first load, then outputs */
    bool meets;                           /* writes that may concern what load reads are waited for (ring_meet.c) .. */
    VEC(const Op *) met;                  /* .. these */
    Ref meeting;                          /* made by the cut: the ring by which that is said */
    VEC(Pair) apart;
    GridOrder grid;
    int blocks;                /* that should share a multiprocessor (ring_crowd.c); 0: whatever has room */
    bool searches;             /* .. since their threads find rows anew in each trip */
    bool counts_programs;      /* each program of the grid acts on its own: atomics, prints */
    bool waits_for_programs;   /* programs may wait for each other: neither persistence nor hoisting */
    const char *explicit_mode; /* the first op that keeps the kernel from being cut at all, or NULL */
    const char *flat;          /* why it must not be cut, or NULL */
    VEC(Stay) refusals;        /* loads that stay where they are, and why */
} Cut;

/* Memory (ring_order.c). */
bool cut_is_read(const Op *op);
bool cut_is_combine(const Op *op); /* into memory, unordered and without the old value: a write that stays in compute */
bool cut_is_write(const Op *op);
bool cut_is_order(const Op *op); /* nothing moves across it */
void cut_note_access(Cut *c, const Op *op);
/* What keeps accesses where they are, or NULL: a write (or an op that orders) that may run before the
 * load; one between it and a later op; an access that may run after the store and is not a store that
 * leaves compute as well. They wish for arrays that are apart where that decides. */
const Op *cut_write_before(Cut *c, const Op *load);
const Op *cut_write_between(Cut *c, const Op *load, const Op *use);
const Op *cut_access_after(Cut *c, const Op *store);
void cut_note_stay(Cut *c, const Op *store); /* it is one of compute's */
bool cut_is_stable(Cut *c, const Op *load);  /* no op of the kernel writes there (but where load waits for it) */
bool cut_concerns_reads(Cut *c, const Op *write);
/* Wishes for all that threads may put in another order because the parameters differ: what is written, and whatever
 * else is accessed, before it or behind it. */
void cut_wish_apart(Cut *c);
void cut_require_apart(Cut *c, Builder *b); /* the wishes, for the launch (ring_cut.c) */

void ring_free_updates(PassContext *cx, Kernel *k); /* atomics, before they are looked at (ring_updates.c) */
void cut_find_memory(Cut *c); /* numbers all ops and notes the accesses */
void cut_classify(Cut *c);    /* behind that */
/* Rows beside the tiles: those that operands of short trips are made with join them; those that products are weighed
 * with have rings of their own, where a role loads. */
void cut_take_rows(Cut *c, bool role);
void cut_settle_stores(Cut *c); /* takes rings from stores that must stay with later ones of compute */
int cut_order(const Cut *c, const Op *op);
void cut_index(Cut *c);                           /* after a change of the rings */
CutRing *cut_ring_of(const Cut *c, const Op *op); /* NULL: the op stays in compute */

/* ring_sink.c: tiles of slots that loops would hold in registers, converted in each trip instead. */
void cut_sink(Cut *c, Op *tasks);
/* Writes at which load and compute meet (ring_meet.c). */
bool cut_wants_meetings(const Cut *c); /* would a loop of products have rings if its loads waited for writes outside? */
bool cut_arrange_meetings(Cut *c);     /* behind the classification; false: they cannot, or gain nothing */
bool cut_is_met(const Cut *c, const Op *write);
bool cut_control_is_replicable(const Cut *c, const Op *op); /* can each role tell whether the op happens? */

/* Loops over rows (ring_ahead.c): should the loads of the loop run ahead although no product waits for them, and can
 * copies bring that one; before the cut, fills that are not 0 of loads that should (true: some are). */
bool cut_is_asked(const Cut *c, const Op *loop);
int cut_sum_slots(const Cut *c, const Op *loop); /* of a loop that only adds rows up; 0: it is none, or has no need */
bool cut_may_be_copied(const Cut *c, const Op *load);
bool cut_part_fills(PassContext *cx, Kernel *k);
int cut_row_blocks(const Cut *c); /* that should share a multiprocessor, as far as slots and registers let them */

/* Rewrites the kernel into prologue, rings, tasks and roles. */
Op *cut_roles(Cut *c); /* the tasks op */

/* Accesses that leave their ring, so that the others keep theirs (ring_leave.c): those that leave branches of loops; in
 * a kernel without dots all but loads that chase or are asked for; as many as are more than a kernel may have; the ring
 * that is worth least (false: its are the last loads); stores, whose tiles take the room of others. */
void cut_leave_branches(Cut *c);
void cut_leave_streams(Cut *c);
void cut_leave_read(Cut *c);
void cut_leave_crowd(Cut *c);
void cut_leave_outputs(Cut *c, const char *why);
bool cut_leave_least(Cut *c);
const char *cut_must_stay(const Cut *c, const Op *access); /* why its ring left in an earlier cut (ring_leave); NULL */
void cut_note_rings(const Cut *c);                         /* what could leave, for the schedule */

typedef enum Execution { RUN_FLAT, RUN_SKEW, RUN_ROLES } Execution;
Execution cut_choose(Cut *c);                    /* with a finding that says why */
void cut_plan(Cut *c, Op *tasks, Execution run); /* slots, workers, persistence, order */
/* Blocks that should share a multiprocessor, each loading for itself, instead of one with roles; or 0 (ring_crowd.c) */
int cut_crowd(const Cut *c, bool *searches);
/* Do threads find the rows of a load for the only product of a loop anew in each trip, by more than a comparison?
 * (ring_rows.c) */
bool cut_finds_rows(const Kernel *k, Region *body);
/* Slots that the source, or an option, asks for. */
int cut_stages(const Cut *c, const CutRing *ring);
/* Is the only product of the loop weighed with exponentials, one for each of its elements, before it is summed? */
bool cut_weighs(const Kernel *k, const Region *body);
/* Warps of a load role whose threads copy more than one group of them has time for; 0: as other load roles have
 * (ring_rows.c). */
int cut_load_warps(const Cut *c, const Op *tasks, int workers);
/* Programs side by side (ring_gang.c), in a plan whose loops are turned. */
void cut_gang(Cut *c, Op *tasks);
/* Or two blocks on a multiprocessor, and no loop turned (ring_gang.c)? */
bool cut_pair(Cut *c, Op *tasks);
#endif
