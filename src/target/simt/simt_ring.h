/* SPDX-License-Identifier: Apache-2.0 */
/* simt_ring.h: rings and tasks as text, for SIMT emitters whose machines have them: the part that no unit beside the
 * threads has a hand in. A target adds what its machine has of its own (mbarriers, TMA, clusters, gangs:
 * target/cuda).
 *
 *   simt_ring.c    rings whose ends are the same threads: slots in shared memory
 *   simt_skew.c    loads that run ahead in the loops of compute
 *   simt_copy.c    loads that are copies, straight into a slot
 *   simt_tasks.c   which task a block runs, headers of roles, the text around them */
#ifndef TARGET_SIMT_SIMT_RING_H
#define TARGET_SIMT_SIMT_RING_H
#include "ir/ringform.h"
#include "pass/ring/ring.h"
#include "pass/schedule/text_order.h"
#include "target/simt/simt.h"

/* A ring as shared memory. */
struct RingPlan {
    Ref ring;
    bool of_tile; /* called after the one tile that it carries */
    const char *name;
    /* constants of the text: offsets of the fields and of the barriers, bytes of a slot */
    const char *field_name[MAX_RING_FIELDS], *bytes_name, *full_name, *empty_name;
    int64_t offset, slot_bytes;
    int slots, hold;
    int64_t field_offset[MAX_RING_FIELDS];
    SharedTile field[MAX_RING_FIELDS];
    int64_t full, empty; /* byte offsets of the barriers; full[i] = full + 8 i */
    int full_count, empty_count;
    int ahead;      /* skew: items filled outside of a loop before they are waited for, where the text stands */
    int parts;      /* panels that go out one by one, two have room (cuda_parts.c); 0: the whole tile */
    int solo;       /* each warpgroup stores its own rows: the first of their named barriers; 0: all together */
    const Op *part; /* the put of either */
    bool fused;     /* producer and consumer are the same threads: a buffer, no barriers */
    bool shared;    /* blocks of a cluster load parts of it for each other (cuda_cluster.c) */
    bool skewed;    /* and the producer runs ahead (simt_skew.c) */
    bool shows;     /* skewed: what was copied is shown to other units before it is read */
    bool each;      /* every program of a gang has a slot of its own (cuda_gang.c) */
    bool by_lane;   /* each thread gives a slot back, not one for its warp */
};

/* --- simt_ring.c --- */
void ring_read(Emit *e); /* the schedule of every ring */
void ring_constants(Emit *e); /* where all of them lie in shared memory */
void ring_slots_begin(Emit *e, const Op *role); /* of those that run ahead: the next slots */
bool ring_is(const Op *op);
/* A hand-over of a ring whose ends are the same threads; false: it is of another one, or what threads do not do. */
bool ring_by_threads(Emit *e, const Op *op);
/* Into a field by stores and copies of the threads. */
void ring_put(Emit *e, const Op *put);
void ring_get(Emit *e, const Op *get); /* of any ring */
RingPlan *ring_find(Emit *e, Ref ring);
RingPlan *ring_of_slot(Emit *e, Ref slot);
const Expr *ring_field_at(Emit *e, const RingPlan *ring, int field, const Expr *slot);
const Op *ring_op_of(Emit *e, const RingPlan *r);
const char *ring_counter(Emit *e, const RingPlan *r, const char *what);
const char *ring_execution(Emit *e); /* how far loads run ahead, for the plan; NULL: none does */

/* --- simt_copy.c --- */
void copy_begin(Emit *e, const Op *loop); /* before a loop: where the rows begin that are copied in it */
/* The load `by=async` of a put, where the put stands. */
void copy_emit(Emit *e, const Op *put, const SharedTile *tile, const Expr *offset);

/* --- simt_skew.c --- */
/* The loop of the load role that belongs to a loop of the role being written, or NULL; around and in that loop: */
const Op *skew_twin(Emit *e, const Op *op);
const Op *skew_branch(Emit *e, const Op *branch); /* NULL: an ordinary one */
void skew_side_begin(Emit *e, const Op *other, int side);
void skew_side_end(Emit *e, const Op *other, int side);
void skew_begin(Emit *e, const Op *loop, const Op *other);
void skew_step(Emit *e, const Op *loop, const Op *other, const char *at);
void skew_cover(Emit *e); /* the product is issued: the loads that it covers */
bool skew_keep(Emit *e, const Op *put, const Expr *at); /* a put whose tile waits for the end of the trip; false: now */
void skew_turn_end(Emit *e, const Op *loop, const Op *other);
void skew_end(Emit *e, const Op *other);
void skew_catch_up(Emit *e, const Op *wait); /* outside such a loop: the item is loaded now */

/* --- simt_tasks.c --- */
/* How a target numbers tasks in its own way (clusters, gangs). */
typedef struct TaskText {
    const Expr *(*extent)(Emit *e, const Op *tasks, int d);                    /* of index d */
    const Expr *(*place)(Emit *e, const Op *tasks, int d, const Expr *index);  /* from its place in that numbering */
    const char *(*name)(Emit *e, const Op *tasks, int d);                      /* what the text calls it */
    const char *number; /* the variable that says which task */
    const Expr *rows;   /* that are walked together (`order=grouped`); NULL: as the schedule says */
} TaskText;
extern const TaskText tasks_plain;
void tasks_count(Emit *e, const Op *tasks, const TaskText *text, const char *name); /* as a constant; none of a grid */
/* The block's task, or the loop over those of a persistent one: up to its close. */
void tasks_open(Emit *e, const Op *tasks);
void tasks_decode(Emit *e, const Op *tasks, const TaskText *text); /* the indices of the task */
/* What the role needs of the task's header, or only what `value` is made of. */
void tasks_header(Emit *e, const Op *tasks, const Op *role, Ref value);
void tasks_role(Emit *e, const Op *tasks, const Op *role); /* header and body of one that is alone with its loads */
ThreadGroup tasks_group(const Op *role);
#endif
