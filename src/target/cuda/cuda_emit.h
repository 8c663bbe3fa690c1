/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_emit.h: what the files of the CUDA emitter share, beside what all SIMT emitters do (target/simt/simt.h).
 *
 *   cuda_emit.c         the file, the entry, its parameters
 *   cuda_hooks.c        where the neutral text leaves room for CUDA's own: its SimtTarget
 *   cuda_loose.c        loads of rows that are not aligned
 *   cuda_dot.c          fma, mma.sync, wgmma
 *   cuda_ring.c         rings: mbarriers and TMA
 *   cuda_made.c         tensor maps that the kernel makes itself
 *   cuda_roles.c        tasks and roles
 *   cuda_parts.c        output tiles that leave panel by panel
 *   cuda_cluster.c      pairs of blocks that load for each other
 *   cuda_gang.c         programs side by side in a block
 *   cuda_trips.c        the frame of loops that are turned
 *   cuda_rotate.c       loops turned so that a product runs under the next trip's arithmetic
 *   cuda_early.c        the same, whose first product is issued a trip early
 *   cuda_trail.c        loops whose last products do
 *   cuda_lead.c         loops whose first products are issued under the arithmetic of the trip before */
#ifndef TARGET_CUDA_CUDA_EMIT_H
#define TARGET_CUDA_CUDA_EMIT_H
#include "pass/ring/ring_gang.h"
#include "target/cuda/cuda.h"
#include "target/simt/simt_ring.h"

/* An Emit and what only CUDA's files keep in it. */
typedef struct CudaEmit {
    Emit emit; /* first */
    CudaPlan *plan;
    Gang gang;
    bool in_gang; /* the role being written runs once a program of the gang, `gang` is its number */
    Map forms;    /* wgmma forms defined */
    CLines forms_lines;
    int cluster; /* blocks of one, if a launch has them; 0: none */
    int share;   /* the task index along which it runs */
    /* rings */
    Map map_of;             /* access -> its tensor map */
    const Op *staged;       /* the loop being written, whose words are copied ahead (cuda_loose.c) */
    const char *staged_at;  /* variable: where those of this trip lie */
    const char *joined;     /* array: the sum of a product that is waited for when the next one is issued, or NULL */
    const char *spanning;   /* array: the sum of a product that is waited for behind the stores of its span, or NULL */
    const Op *span_end;     /* the last op of that span */
    const char *left;       /* array: the left operand in registers of a product in flight, or NULL */
    const char *zero;       /* variable: 0, which the compiler does not know; beside `left` */
    const char *late;       /* variable: the slot that is still held, or -1 */
    bool trails;            /* slots of the items being waited for go on to the next trip (cuda_trail.c) */
    const Op *crossing;     /* the loop whose last product, of the trip before, ends with the next wait, or NULL */
} CudaEmit;

static inline CudaEmit *cuda_of(const Emit *e) { return (CudaEmit *)e; }

/* --- cuda_hooks.c --- */
extern const SimtTarget cuda_target;

/* --- cuda_loose.c --- */
/* A loop of a load role whose rows are not aligned copies their words into shared memory some trips
 * ahead: before the loop (false: it does not); at the begin of the trip of value
 * `at`; at its end. */
bool loose_begin(Emit *e, const Op *loop);
void loose_step(Emit *e, const Op *loop, const char *at);
void loose_next(Emit *e);
void loose_load(Emit *e, const Op *load);

/* --- cuda_dot.c --- */
/* wgmma in pieces: issued into an accumulator of its own (its name); onto an array that holds the
 * sum, the left operand packed before (NULL: it lies in shared memory). */
const char *dot_issue(Emit *e, const Op *op);
void dot_issue_at(Emit *e, const Op *op, const char *accumulator); /* into an array that is there already */
void dot_issue_onto(Emit *e, const Op *op, const char *accumulator, const char *left);
const char *dot_declare_left(Emit *e, const Op *op);
void dot_pack_left(Emit *e, const Op *op, const char *words);

/* --- cuda_ring.c --- */
void ring_op(Emit *e, const Op *op);
void ring_wait_again(Emit *e, const Op *wait);                      /* for the item that was waited for last */
void ring_show_read(Emit *e, const RingPlan *r, const Op *release); /* threads have read the slot that goes back */
int ring_wanted(Emit *e, Ref value); /* the place of a number among those that the launcher computes */
const Expr *ring_barrier(Emit *e, const char *base, const Expr *slot);
bool ring_counts(const Emit *e, const RingPlan *r); /* does the role count slots, not only phases? */
const Expr *ring_first_slot(const Emit *e, const RingPlan *r);

const CudaMap *ring_made_map(Emit *e, const Op *load); /* what the launch gives of a map that the kernel makes */

/* --- cuda_made.c --- */
void made_emit(Emit *e, const Op *tensor);
/* Around a role's tasks: the place of its maps is taken, and given back. */
void made_begin(Emit *e, const Op *role);
void made_end(Emit *e, const Op *role);

/* --- cuda_roles.c --- */
void roles_tasks(Emit *e, const Op *tasks);

/* --- cuda_bars.c --- */
bool bars_emit(Emit *e, const Op *op); /* mbarriers of the source; false: it is none */

/* --- cuda_asm.c --- */
void asm_emit(Emit *e, const Op *op);
/* --- cuda_parts.c --- */
void parts_open(Emit *e, const RingPlan *r); /* the loop over them, up to the store of one */
void solo_put(Emit *e, const RingPlan *r);   /* each warpgroup its rows, which have been read .. */
void solo_open(Emit *e, const RingPlan *r);  /* .. and are shown to the stores */
int solo_groups(const Emit *e, const RingPlan *r);
const Expr *solo_group(Emit *e);                      /* the number of the thread's own */
const Expr *parts_issuer(Emit *e, const RingPlan *r); /* is it the thread that issues the ring's stores? */
const Expr *parts_issuers(Emit *e);                   /* one of those that issue stores of the role? */
/* --- cuda_cluster.c --- */
void cluster_read(Emit *e, const Op *tasks);  /* the schedule, and what a launch has to know of it */
void cluster_begin(Emit *e, const Op *tasks); /* what the text calls its numbers */
/* Of index d: its extent in the numbering of tasks, and its place from that numbering. */
const Expr *cluster_extent(Emit *e, const Op *tasks, int d);
const Expr *cluster_place(Emit *e, const Op *tasks, int d, const Expr *index);
/* The warp gives a slot back; condition: NULL or what must hold. */
void cluster_arrive(Emit *e, const RingPlan *r, const Expr *condition, const Expr *slot);
/* Says that all lanes of a warp have the same counters of the rings that the role takes from (cuda_trail.c says why):
 * behind a condition of the warp a compiler has lost that. */
void roles_same_counters(Emit *e, const Op *role);

/* --- cuda_gang.c --- */
void gang_read(Emit *e, const Op *tasks); /* the schedule */
bool gang_is(const Emit *e);
const Expr *gang_extent(Emit *e, const Op *tasks, int dim); /* of the tasks along an index */
const char *gang_index(Emit *e, const Op *tasks, int dim);  /* and the name of a task's */
void gang_begin(Emit *e, const Op *tasks);                  /* before the roles */
void gang_task(Emit *e, const Op *tasks, const Op *role);   /* header and body of a role's task */
/* Where the loop ends: of programs side by side each at its own place, which all lanes of a warp are said to share. */
const Expr *gang_trips(Emit *e, const Op *loop);
void gang_end_loop(Emit *e, const Op *loop);                /* trips of longer programs of the gang pass by */

/* --- cuda_trips.c --- */
/* The frame of a loop that is turned, whose body is written more than once. */
typedef struct Trips {
    Emit *e;
    const Op *loop;
    const char *variable, *type;
    const Expr *lo, *hi;
} Trips;
Trips trips_open(Emit *e, const Op *loop);                            /* what it carries; if there is a trip, .. */
void trips_one(const Trips *t, const Expr *at);                       /* .. a trip of this number, .. */
void trips_each(const Trips *t, const Expr *from, const Expr *until); /* .. those from one up to another, .. */
void trips_end(const Trips *t);                                       /* .. each of them up to here; */
void trips_close(const Trips *t);                                     /* the carried values are the loop's results */
/* Carried values go on to the next trip, but sums of products that run on, which are added to where they are. */
void trips_carry(Emit *e, const Op *loop);

/* --- cuda_rotate.c --- */
void rotate_emit(Emit *e, const Op *loop); /* of a loop that is turned */
/* Around a role's tasks: whose turn it is first, where its workers take turns. */
void rotate_begin(Emit *e, const Op *role);
void rotate_end(Emit *e, const Op *role);

/* --- cuda_early.c --- */
void early_emit(Emit *e, const Op *loop); /* of a loop that is turned and `leads` */

/* --- cuda_trail.c --- */
void trail_emit(Emit *e, const Op *loop); /* of a loop that `trails` */

/* --- cuda_lead.c --- */
void lead_emit(Emit *e, const Op *loop); /* of a loop that `leads` */

/* What ends a loop whose dot stays in flight. */
void roles_give_back_late(Emit *e, const Op *release); /* the slot that is still held */
void roles_end_late(Emit *e, const Op *release, const char *accumulator);
void roles_settle_late(Emit *e); /* a product was waited for: if the late one of the trip before is done with it */
#endif
