/* SPDX-License-Identifier: Apache-2.0 */
/* pending.h: what the threads of a group have to wait for, at one place of the text (pending.c).
 *
 * Since the last barrier of the group threads may have read and written memory. Before they touch the same memory
 * again they meet; what they wrote to shared memory is shown to units that read it by themselves (matrix units,
 * TMA); stores and products that run beside the threads are waited for. Each of the functions below is one place
 * where an op touches memory: it asks what has to stand there, and writes that to the op (`sync`, `proxy`,
 * `settles`, `lands`, `drains`), or proves that what is written there is enough. Who calls them in the order of
 * the text is schedule_sync.c. */
#ifndef PASS_SCHEDULE_PENDING_H
#define PASS_SCHEDULE_PENDING_H
#include "pass/schedule/schedule.h"

enum { PENDING_OWN = 8, PENDING_BOXES = 16 };

/* Where two ways meet, it is all that either left. Arrays (parameters that reach global memory) are bits. */
typedef struct Pending {
    bool reads, writes;                /* of shared memory */
    const Op *boxes[PENDING_BOXES];    /* of buffers: if `writes`, all that was written; */
    int box_count;                     /* 0: other memory was, too, or nobody knows what */
    bool kept;                         /* a buffer was written, whose memory may be another's next, read or not */
    bool hidden;                       /* threads wrote to shared memory what other units were not shown yet */
    bool stores;                       /* of global memory, by threads */
    bool unread;                       /* a store beside the threads may still read shared memory */
    const Op *scratch;                 /* whose scratch alone was read; NULL: anything may have been */
    uint64_t loaded, stored, combined; /* by loads, stores of tiles, atomics */
    uint64_t numbers;                  /* by stores of numbers, which one and the same thread does */
    const Op *own[PENDING_OWN];        /* loads, each thread's of elements that no other takes: not in `loaded` */
    int own_count;
    uint64_t in_flight;                /* by stores beside the threads that may not have landed, barrier or not */
    uint64_t untold;                   /* by those that have landed, which only the thread knows that issued them */
    bool of_one, of_groups;            /* of both kinds: there are some that one thread issued, or each warpgroup */
    const Op *flying;                  /* the only one of those stores; NULL: there are several, or none is known */
    uint64_t by_threads;               /* written by threads: such stores have to be told */
} Pending;

typedef struct Arrays {
    int *bit;        /* by parameter; those that are none have one that says nothing */
    uint64_t *apart; /* by bit: those that are other memory, by promise or by a test of the launch */
} Arrays;

typedef struct Order {
    Schedule *s;
    bool proves;      /* what is written, instead of writing it */
    bool alone;       /* one thread runs the text */
    bool new_barrier; /* one was written, or a wait that brings one */
    Pending now;
    bool dot_flies; /* a product runs on into the next trip: who writes shared memory waits for it */
    bool dot_reads; /* and reads shared memory, which no barrier ends */
    Map roots;      /* pointer -> its arrays, as bits */
    Map asked;      /* op -> what was asked of it, as bits */
    const Arrays *arrays; /* NULL: not asked for yet */
} Order;

void pending_join(Order *o, Pending other);
/* All that a trip of the loop before this one may have left. */
void pending_enter_loop(Order *o, const Op *loop);

/* --- shared memory; `where` is SYNC_BEFORE or SYNC_WITHIN --- */
void pending_write(Order *o, Op *op, Word where);
void pending_read(Order *o, Op *op, Word where);
void pending_keep(Order *o, Op *op);                /* a buffer, which may have been written: the later one stays */
void pending_copy(Order *o, Op *op);                /* by copies that are waited for by themselves */
void pending_scratch(Order *o, Op *op, Word where); /* written, then read, perhaps more than once */
void pending_reduce(Order *o, Op *op);              /* the same, where scratch that lies apart may wait */
void pending_meet(Order *o, Op *op);                /* a barrier that the op always has */
void pending_tell(Order *o, Op *op);                /* each thread shows what it wrote itself, and goes on */
void pending_meet_shown(Order *o, Op *op);          /* one that shows what was written by itself */
void pending_refill(Order *o, Op *op);              /* registers that a product in flight may read */
void pending_show(Order *o);                        /* what was written now is read by other units */

/* --- global memory --- */
void pending_load(Order *o, Op *op);
void pending_store(Order *o, Op *op);
void pending_store_beside(Order *o, Op *op);
void pending_combine(Order *o, Op *op); /* before an atomic; pending_mark comes behind it */
void pending_mark(Order *o, const Op *op);

/* --- stores beside the threads --- */
void pending_drain(Order *o, Op *op, bool meet); /* they have read their shared memory; all threads know it */

/* Proves, behind the last op: nothing is written to ops that was never asked for. */
bool pending_done(Order *o);
#endif
