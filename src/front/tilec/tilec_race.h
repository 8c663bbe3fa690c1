/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_race.h: between the walk over a kernel's events (tilec_race.c) and what it keeps of them (tilec_meet.c). */
#ifndef FRONT_TILEC_TILEC_RACE_H
#define FRONT_TILEC_TILEC_RACE_H
#include "front/tilec/tilec_trace.h"

typedef struct Seen { /* an access that later ones may have to wait for */
    const TcEvent *event;
    int64_t at[MAX_RANK];
    int instance; /* of the operation */
    bool exact;   /* where it is does not depend on the run */
    bool met, met_all, whole; /* threads met behind it: those of the unit, all; a product has ended that read it */
    bool by_rows;             /* .. and each warp read its own rows */
} Seen;

typedef struct Flight { /* under way */
    EventKind kind;
    int64_t stamp, which; /* of semaphores of the kernel's own: which one it arrives at */
    const Object *semaphore;
    const TcEvent *event;
    bool by_rows; /* a product of which each warp reads its rows of a */
    Seen part[3]; /* a, b, d; no event: none */
} Flight;

typedef struct State {
    VEC(Seen) seen;
    VEC(Flight) flights;
    bool covered[32]; /* warps of the unit that said that they are done with the block they hold */
    const TcEvent *at[16]; /* where the unit met at these barriers, since all workers did at any */
} State;

typedef enum Fault {
    FAULT_SYNC,                            /* touched while other warps may still touch it, */
    FAULT_OTHERS,                          /* .. or other warpgroups */
    FAULT_PRODUCT, FAULT_LOAD, FAULT_STORE, FAULT_OWN_LOAD, /* touched while these are under way */
    FAULT_GIVEN_PRODUCT, FAULT_GIVEN_STORE, FAULT_GIVEN, /* a block is handed on while products, stores, warps use it */
    FAULT_ARRIVE_PRODUCT, FAULT_ARRIVE,                  /* the same of what a semaphore of the kernel's own guards */
    FAULT_BARRIER                                        /* some meet here while others meet there */
} Fault;
typedef struct Found {
    Fault fault;
    const TcEvent *event, *other;
    unsigned seeds;
} Found;

/* A tile that is loaded behind a wait for a semaphore: who arrives there says that it is free. */
typedef struct Guard {
    const Object *tile, *semaphore; /* NULL: one of several */
} Guard;

typedef struct Race {
    Tc *tc;
    Map known; /* Ref -> int64_t */
    int worker, seed, instance, last_call;
    int64_t stamp, steps;
    bool exact;
    State now;
    VEC(Found) found;
    VEC(Guard) guards;
    VEC(const Object *) waited; /* semaphores, since another tile was loaded */
    bool loaded;
    VEC(Seen) written;           /* of blocks, by all workers */
    VEC(const Object *) unknown; /* fields of which it is not known what is written */
    bool all_trips;              /* every trip of the loops around is gone through, but for the items' */
    bool met_in_finish;
} Race;

int64_t race_number(Race *r, Ref ref, bool *exact); /* exact: it does not depend on what only the run knows */

/* tilec_meet.c */
void race_event(Race *r, const TcEvent *event);
void race_join(Race *r, const State *other); /* behind two ways: whatever was left open on one of them is open */
State race_copy(Race *r, const State *from);
void race_check_blocks(Race *r); /* behind the walks of all workers: is every field of a block written? */
#endif
