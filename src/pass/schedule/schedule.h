/* schedule.h: what the files of the pass `schedule` share.
 *
 *   schedule.c          the pass: what is decided, in which order, and what happens when it does not fit
 *   schedule_follow.c   a role that empties rings on the threads that fill them becomes part of the role there
 *   schedule_turn.c     loops turned so that a product runs under the next trip's arithmetic
 *   schedule_flight.c   products in flight while the next item is waited for
 *   schedule_loose.c    loads of rows that are not aligned: together, and ahead
 *   schedule_gang.c     programs side by side in a block
 *   schedule_ring.c     rings: slots, places, barriers, by what means they are filled
 *   schedule_parts.c    output tiles that leave panel by panel
 *   schedule_cluster.c  pairs of blocks that load for each other
 *   schedule_place.c    who lies where in shared memory beside the rings
 *   schedule_roles.c    warps, registers and barriers of each role
 *   scratch.c           how much an op needs while it runs
 *
 * A decision is written to the op that it is about, as an attribute (attrs.def); the emitter reads those and decides
 * nothing. */
#ifndef PASS_SCHEDULE_SCHEDULE_H
#define PASS_SCHEDULE_SCHEDULE_H
#include "pass/layout/layout.h"
#include "pass/ring/ring.h"
#include "pass/ring/ring_gang.h"

/* A ring while it is planned; schedule_ring.c says what becomes of it in the attributes. */
typedef struct RingSchedule {
    Op *op;
    const Op *from, *to; /* roles */
    int slots, hold;
    int wanted;        /* slots, if all fit */
    int64_t at, bytes; /* of a slot */
    int64_t field_at[MAX_RING_FIELDS];
    SharedTile field[MAX_RING_FIELDS];
    int64_t full, empty; /* where the barriers lie; full[i] = full + 8 i */
    int full_count, empty_count;
    int tma_puts, thread_puts; /* puts that TMA moves, that the producer's threads store */
    bool leaves;               /* a field goes out by TMA */
    int parts;                 /* panels that go out one by one, two have room; 0: the whole tile */
    bool fused;                /* producer and consumer are the same threads: no barriers */
    bool ahead;                /* and the producer runs ahead: cp.async; else the ring is a buffer of one item */
    bool paired;               /* blocks of a cluster fill it for each other */
    bool each;                 /* every program of a gang has slots of its own */
    bool lanes;                /* each thread gives a slot back, not one for its warp */
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
    int64_t bytes;    /* of shared memory, so far */
    int batches;      /* of loads that have been numbered */
    const Op *failed; /* why the kernel cannot run with its rings, and where that is seen; NULL: it can */
    const char *why;
    bool takes_turns; /* `explain` has been told that workers take turns */
} Schedule;

const Layout *schedule_layout(const Kernel *k, Ref ref); /* NULL for scalars */
bool schedule_in_shared(const Kernel *k, Ref ref);       /* does the value live in shared memory? */
const Op *schedule_role(const Op *op);                   /* in which it stands; NULL: none */
Ref schedule_ring_of(const Kernel *k, const Op *op);     /* of a put or get */
int schedule_field(const Kernel *k, const Op *op);       /* of a put or get: the number of its field */
/* Notes why the kernel cannot run with its rings; false. */
bool schedule_fail(Schedule *s, const Op *op, const char *why);

/* --- schedule_follow.c --- */
/* False: a hand-over stands where the other role has none. */
bool schedule_follow(Kernel *k, Op *tasks);

/* --- schedule_turn.c --- */
void schedule_turn(Schedule *s, Op *loop);

/* --- schedule_loose.c --- */
enum { LOOSE_AT_ONCE = 64 }; /* elements that a thread waits for at once: the registers they take */
void schedule_loose(Schedule *s, Op *op);
/* Can the value be computed for another trip of the loop, from its variable and from outside? */
bool schedule_is_of_any_trip(const Kernel *k, Ref r, const Region *body);
/* Of a load that is copied ahead: a line, and all of them. */
int64_t schedule_line_bytes(Facts *f, const Op *load);
int64_t schedule_word_bytes(Facts *f, const Op *load);

/* --- schedule_flight.c --- */
/* Can the product be issued and waited for later? */
bool schedule_is_async(const Schedule *s, const Op *dot);
/* Needs the items that consumers may hold, so it comes when the rings have their slots. */
void schedule_flight(PassContext *cx, Kernel *k);

/* --- schedule_gang.c --- */
void schedule_gang(Schedule *s);
void schedule_part_gang(Schedule *s, const char *why); /* its programs run one by one after all */

/* --- schedule_ring.c --- */
/* Plans the rings; `other` bytes are needed beside them. False: they cannot be. */
bool schedule_rings(Schedule *s, int64_t other);
/* The plan as attributes. */
void schedule_write_rings(Schedule *s);
RingSchedule *schedule_ring(Schedule *s, Ref ring);
/* Does one thread run the whole role? It does if it only issues TMA. */
bool schedule_is_single(const Schedule *s, const Op *role);

/* --- schedule_parts.c --- */
void schedule_parts(Schedule *s, RingSchedule *r);

/* --- schedule_cluster.c --- */
void schedule_cluster(Schedule *s);

/* --- schedule_place.c --- */
/* Gives every buffer and all scratch its place behind what is there already. */
void schedule_place(Schedule *s);
void schedule_refuse_size(Schedule *s); /* it does not fit: who needs most of it, and what can be done */

/* --- schedule_roles.c --- */
void schedule_roles(Schedule *s);
#endif
