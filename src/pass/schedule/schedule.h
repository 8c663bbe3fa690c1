/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h: what the files of the pass `schedule` share.
 *
 *   schedule.c          the pass: what is decided, in which order, and what happens when it does not fit
 *   schedule_follow.c   a role that empties rings on the threads that fill them becomes part of the role there
 *   schedule_dot.c      how wide the instructions of a product are, how its operands come; casts that it does itself
 *   schedule_turn.c     loops turned so that a product runs under the next trip's arithmetic
 *   schedule_early.c    turned loops whose first product is issued a trip early
 *   schedule_trail.c    loops whose last products run under the next trip's arithmetic
 *   schedule_lead.c     loops whose first products are issued a trip early
 *   schedule_flight.c   products in flight while the next item is waited for
 *   schedule_join.c     products that are waited for when the next one has been issued
 *   schedule_span.c     stores that leave under a product
 *   schedule_skew.c     loads that run ahead on the threads of compute: which loops are one
 *   schedule_cover.c    copies that are issued under a product
 *   schedule_loose.c    loads of unaligned rows: which are issued together, which are copied ahead of their trip
 *   schedule_rows.c     rows that threads copy: where they begin is found before the loop
 *   schedule_natural.c  divisions of numbers that are not below 0, and of whole tiles by one number
 *   schedule_map.c      maps for TMA that the kernel makes
 *   schedule_atomic.c   by which instructions elements are combined into global memory
 *   schedule_hint.c     what accesses tell the caches
 *   schedule_anew.c     behind which loops places of elements are found anew
 *   schedule_sweep.c    along which axis of the grid blocks follow each other
 *   schedule_gang.c     programs side by side in a block
 *   schedule_ring.c     rings: slots, places, barriers, by what means they are filled
 *   schedule_parts.c    output tiles that leave panel by panel, warpgroup by warpgroup
 *   schedule_cluster.c  pairs of blocks that load for each other
 *   schedule_pieces.c   conversions through shared memory, piece by piece
 *   schedule_place.c    who lies where in shared memory beside the rings
 *   schedule_roles.c    warps, registers and barriers of each role
 *   schedule_share.c    how many blocks of a crowd registers hold
 *   schedule_move.c     how tiles lie in the scratch through which they go
 *   schedule_axis.c     how warps take each other's values in a reduction
 *   schedule_sync.c     where threads wait for each other, and for what runs beside them
 *   pending.c           what is to be waited for, at one place
 *   text_order.c        in which order the text runs through the ops
 *   schedule_check.c    does a schedule that came as text hold?
 *   scratch.c           how much an op needs while it runs
 *
 * A decision is written to the op that it is about, as an attribute (attrs.def); the emitter reads those and decides
 * nothing. */
#ifndef PASS_SCHEDULE_SCHEDULE_H
#define PASS_SCHEDULE_SCHEDULE_H
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/ring/ring.h"
#include "pass/ring/ring_gang.h"

/* A ring while it is planned; schedule_ring.c says what becomes of it in the attributes. */
typedef struct RingSchedule {
    Op *op;
    const Op *from, *to; /* roles */
    int slots, hold;
    int wanted;        /* slots, if all fit .. */
    int of;            /* .. and if what comes through registers needed more than two; 0: it does not matter */
    int64_t at, bytes; /* of a slot */
    int64_t field_at[MAX_RING_FIELDS];
    SharedTile field[MAX_RING_FIELDS];
    int64_t full, empty; /* where the barriers lie; full[i] = full + 8 i */
    int full_count, empty_count;
    int tma_puts, store_puts, copy_puts; /* that TMA moves, that the producer's threads store, or copy (cp.async) */
    bool leaves;                         /* a field goes out by TMA */
    int parts;                           /* panels that go out one by one, two have room; 0: the whole tile */
    int solo;    /* each warpgroup stores its own rows: the first of their named barriers; 0: all of them together */
    bool fused;  /* producer and consumer are the same threads: no barriers */
    bool ahead;  /* and the producer runs ahead: cp.async; else the ring is a buffer of one item */
    bool paired; /* blocks of a cluster fill it for each other */
    bool each;   /* every program of a gang has slots of its own */
    bool lanes;  /* each thread gives a slot back, not one for its warp */
} RingSchedule;

typedef struct Schedule {
    PassContext *cx;
    Kernel *k;
    Arena *arena; /* scratch: the pass's own */
    Facts facts;
    Op *tasks; /* NULL: the kernel is flat */
    int *uses; /* by Ref */
    Gang gang;
    VEC(RingSchedule) rings;
    bool panels;      /* output tiles leave in panels wherever they can: the whole tiles do not fit */
    int blocks;       /* that should share a multiprocessor; 0: its rings do not say */
    int64_t bytes;    /* of shared memory, so far .. */
    int64_t room;     /* .. and at most */
    const Op *failed; /* why the kernel cannot run with its rings, and where that is seen; NULL: it can */
    bool failed_alone; /* .. a put: its field may leave the ring without the others */
    const char *why;
} Schedule;

const Layout *schedule_layout(const Kernel *k, Ref ref); /* NULL for scalars */
bool schedule_in_shared(const Kernel *k, Ref ref);       /* does the value live in shared memory? */
/* Is the tile, which lies there, read by what runs beside the threads: an instruction that takes whole tiles, TMA? */
bool schedule_read_beside(const Schedule *s, Ref tile);
/* Notes why the kernel cannot run with its rings; false. */
bool schedule_fail(Schedule *s, const Op *op, const char *why);

/* --- schedule_follow.c --- */
/* False: a hand-over stands where the other role has none. */
bool schedule_follow(Kernel *k, Op *tasks);

/* --- schedule_turn.c --- */
void schedule_turn(Schedule *s);
bool schedule_turn_holds(Schedule *s, const Op *loop); /* is what is written right? Else false (schedule_fail) */

/* --- schedule_names.c --- */
void schedule_names(Schedule *s); /* fails where the machine has too few */
bool schedule_names_hold(Schedule *s);

/* --- schedule_dot.c --- */
void schedule_dot(Schedule *s);
bool schedule_dot_holds(Schedule *s, const Op *cast);
bool schedule_width_holds(Schedule *s, const Op *dot);
bool schedule_fetch_holds(Schedule *s, const Op *dot); /* and `fresh` */
/* Can the product be issued and waited for later? */
bool schedule_is_async(const Schedule *s, const Op *dot);

/* --- schedule_early.c --- */
void schedule_early(Schedule *s); /* when the rings have their slots */
bool schedule_early_holds(Schedule *s, const Op *loop);

/* --- schedule_trail.c --- */
void schedule_trail(Schedule *s); /* when the rings have their slots */
bool schedule_trail_holds(Schedule *s, const Op *loop);
bool schedule_lead_holds(Schedule *s, const Op *loop); /* schedule_lead.c */

/* --- schedule_flight.c --- */
/* Does the sum go from trip to trip, and nowhere else? Is the value made of a product of the body? */
bool schedule_is_carried(const Schedule *s, const Op *loop, const Op *dot);
bool schedule_comes_of_product(const Schedule *s, const Region *body, Ref ref);
/* May the item that the loop gets be held for a trip more? It is the only one of its ring that the role then holds. */
bool schedule_may_hold_twice(const Schedule *s, const Op *loop, const Op *get);
void schedule_flight(Schedule *s); /* when the rings have their slots */
bool schedule_flight_holds(Schedule *s, const Op *loop);

/* --- schedule_join.c --- */
/* Arithmetic and loads, in all of its regions: nothing that another thread, or what runs beside them, could notice. */
bool schedule_is_plain(const Op *op);
void schedule_join(Schedule *s); /* the same */
bool schedule_join_holds(Schedule *s, const Op *dot);

/* --- schedule_span.c --- */
void schedule_span(Schedule *s); /* when products join */
bool schedule_span_holds(Schedule *s, const Op *dot);

/* --- schedule_skew.c --- */
bool schedule_skew(Schedule *s); /* the same; false: a role cannot run ahead in the other's loops */
bool schedule_skew_holds(Schedule *s);

/* --- schedule_cover.c --- */
void schedule_cover(Schedule *s); /* when loops are one */
bool schedule_cover_holds(Schedule *s, const Op *dot);

/* --- schedule_late.c --- */
void schedule_late(Schedule *s); /* the same */
const Op *schedule_late_host(const Schedule *s, const Op *put); /* the loop that its load runs ahead in, or NULL */
bool schedule_late_holds(Schedule *s, const Op *put);

/* --- schedule_loose.c --- */
void schedule_loose(Schedule *s);
bool schedule_loose_holds(Schedule *s, const Op *op);

/* --- schedule_rows.c --- */
void schedule_rows(Schedule *s);
bool schedule_rows_hold(Schedule *s, const Op *load);
int schedule_rows_kept(const Schedule *s); /* the most addresses that a thread holds through a loop */

/* --- schedule_natural.c --- */
void schedule_natural(Schedule *s);
bool schedule_natural_holds(Schedule *s, const Op *op);

/* --- schedule_map.c --- */
void schedule_maps(Schedule *s);
bool schedule_map_holds(Schedule *s, const Op *tensor);
int schedule_maps_made(const Kernel *k); /* how many */
/* The load in the region that takes its boxes by the map that is made of the tensor; NULL: none does. */
const Op *schedule_map_load(const Kernel *k, const Region *region, const Op *tensor);

/* --- schedule_atomic.c --- */
void schedule_atomic(Schedule *s);
bool schedule_atomic_holds(Schedule *s, const Op *op);

/* --- schedule_sweep.c --- */
void schedule_sweep(Schedule *s);
bool schedule_sweep_holds(Schedule *s);

/* --- schedule_hint.c --- */
void schedule_hint(Schedule *s); /* when loads of unaligned rows are known */
bool schedule_hint_holds(Schedule *s, const Op *op);

/* --- schedule_anew.c --- */
void schedule_anew(Schedule *s);
bool schedule_anew_holds(Schedule *s, const Op *op);

/* --- schedule_check.c --- */
/* Of a kernel in scheduled form: false with a message. */
bool schedule_check(PassContext *cx, Kernel *k);
/* The same, of what the pass itself has written; false: `failed` and `why` of the schedule say what is wrong. */
bool schedule_is_proved(Schedule *s);

/* --- schedule_gang.c --- */
void schedule_gang(Schedule *s);
bool schedule_gang_holds(Schedule *s);                 /* finds it again */
void schedule_part_gang(Schedule *s, const char *why); /* its programs run one by one after all */

/* --- schedule_ring.c --- */
/* Plans the rings among scratch and buffers, where all are temporary; false: not all of them are. */
bool schedule_rings_among(Schedule *s);
/* Plans the rings; `other` bytes are needed beside them. False: they cannot be. */
bool schedule_rings(Schedule *s, int64_t other);
/* The plan as attributes. */
void schedule_write_rings(Schedule *s);
bool schedule_rings_hold(Schedule *s); /* plans them again, and compares */
RingSchedule *schedule_ring(Schedule *s, Ref ring);
/* Does one thread run the whole role? It does if it only issues TMA. */
bool schedule_is_single(const Schedule *s, const Op *role);

/* --- schedule_parts.c --- */
void schedule_parts(Schedule *s, RingSchedule *r);

/* --- schedule_cluster.c --- */
void schedule_cluster(Schedule *s);
bool schedule_cluster_holds(Schedule *s);

/* --- schedule_pieces.c --- */
/* Conversions take at most so many bytes of shared memory, as far as pieces can be that small. The bytes of the largest
 * one that can be cut further; 0: none can. */
int64_t schedule_pieces(Schedule *s, int64_t at_once);
bool schedule_pieces_hold(Schedule *s, const Op *convert);

/* --- schedule_place.c --- */
/* Gives every buffer and all scratch its place behind what is there already. */
void schedule_place(Schedule *s);
/* The same with the rings, as they are planned, among them; false: a ring is in use all the time. */
bool schedule_place_among(Schedule *s);
bool schedule_place_holds(Schedule *s); /* with the rings as they are planned */
void schedule_refuse_size(Schedule *s); /* it does not fit: who needs most of it, and what can be done */

/* --- schedule_move.c --- */
void schedule_move(Schedule *s); /* when scratch has its place */
bool schedule_move_holds(Schedule *s, const Op *op);

/* --- schedule_axis.c --- */
void schedule_axis(Schedule *s); /* the same */
bool schedule_axis_holds(Schedule *s, const Op *op);

/* --- schedule_sync.c --- */
void schedule_sync(Schedule *s); /* the last: when all else is decided */
bool schedule_sync_holds(Schedule *s);

/* --- schedule_roles.c --- */
void schedule_roles(Schedule *s); /* and which tasks are the blocks of the launch */
int64_t schedule_thread_registers(const Schedule *s, const Op *role); /* that it will have, at most */
bool schedule_roles_hold(Schedule *s);

/* --- schedule_share.c --- */
/* Do the registers of a multiprocessor hold a trip of each loop for so many blocks? */
bool schedule_share_holds(const Schedule *s, int blocks);
/* Does a tile take more than all registers of a thread? Left to itself the assembler may give it very few. */
bool schedule_fills_registers(const Schedule *s);
bool schedule_has_movers(const Schedule *s); /* does a role of its own load? */
/* Of a thread: tiles that it holds while its program reduces a row in a loop. 0: there is none, or products. */
int schedule_row_registers(const Schedule *s);
#endif
