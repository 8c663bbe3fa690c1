/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_trace.h: what a kernel's threads do at tiles, in order, as the walk over the text notes it (tilec_trace.c) and
 * the checker reads it again (tilec_race.c). An event stands behind an op of the IR, or at the beginning of a
 * region. */
#ifndef FRONT_TILEC_TILEC_TRACE_H
#define FRONT_TILEC_TILEC_TRACE_H
#include "front/tilec/tilec.h"

typedef enum EventKind {
    EVENT_TOUCH,         /* a tile is read or written */
    EVENT_PRODUCT,       /* one is under way: operands a and b are read, d is written */
    EVENT_PRODUCTS_WAIT, /* .. until all but the last `number` are done */
    EVENT_LOAD,          /* load_async is under way into d */
    EVENT_LOADS_WAIT,
    EVENT_STORE, /* tma_store_async is under way from a */
    EVENT_STORES_WAIT,
    EVENT_SYNC,   /* threads meet: of the unit, or (by_all) of all workers */
    EVENT_TAKEN,  /* a block was handed to this role */
    EVENT_ARRIVE, /* threads `active` say that they are done with the block */
    EVENT_GIVEN,  /* .. and it is handed on */
    EVENT_OWN_LOAD,  /* tma_load_async is under way into d, */
    EVENT_OWN_WAIT,  /* at a semaphore of the kernel's own */
    EVENT_OWN_ARRIVE
} EventKind;

typedef struct TcEvent TcEvent;
struct TcEvent {
    EventKind kind;
    Range range;
    const Object *place;
    TcTouch touch;
    bool writes, by_all, follows; /* follows: a product onto what the product before makes */
    bool by_rows;                 /* .. of which each warp reads its rows of a */
    int rank, row_dim, fixed;
    int64_t rows; /* of the tile that is touched */
    Ref at[MAX_RANK];
    int64_t extent[MAX_RANK];
    int64_t number; /* of a wait: how many may be left; of a meeting: the barrier's, and what a thread adds to it */
    const int64_t *lanes;
    int call;       /* of the operation that does it */
    const TcEvent *a, *b, *d;
    const bool *active;
    int first; /* thread of the role */
    const Block *block;
    const char *semaphore; /* by which it is given */
    TcEvent *next; /* at the same place */
};

/* The first event behind an op (or at the beginning of a region), or NULL. */
const TcEvent *tc_first_event(const Tc *tc, const void *place);
#endif
