/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_trace.c: notes what the threads of a kernel do at tiles, in order, for tilec_race.c.
 *
 * How the warps of a group share an operation on a shared tile decides who has to wait for whom:
 *
 *     warpgroup_load(&r, &s)        each warp its rows
 *     warpgroup_load(&s, g.x, ..)   all of them, a piece each
 *     warpgroup_add(&s, &s, &t)     an element each
 *     warp_load(&v, &bias)          each warp all of it
 *     tma_store_async(g.o, &s, ..)  one thread all of it */
#include "front/tilec/tilec_trace.h"

static TcEvent *note(Tc *tc, EventKind kind, Range range) {
    const Region *region = tc->b.region;
    const void *place = region->last ? (const void *)region->last : region;
    TcEvent *event = ARENA_NEW(tc->arena, TcEvent);
    *event = (TcEvent){.kind = kind, .range = range, .call = tc->call_count};
    MapEntry *entry = map_find_number(&tc->events, (uint64_t)(uintptr_t)place);
    if (!entry) {
        map_put_number(&tc->events, tc->arena, (uint64_t)(uintptr_t)place, event);
    } else {
        TcEvent *last = entry->value;
        while (last->next) last = last->next;
        last->next = event;
    }
    return event;
}

const TcEvent *tc_first_event(const Tc *tc, const void *place) {
    const MapEntry *entry = map_find_number(&tc->events, (uint64_t)(uintptr_t)place);
    return entry ? entry->value : NULL;
}

/* What a loop was thought to carry and does not has another name. */
void tc_rename_events(Tc *tc, const Ref *map) {
    for (size_t i = 0; i < tc->events.count; i++)
        for (TcEvent *event = tc->events.entries[i].value; event; event = event->next)
            for (int d = 0; d < event->rank; d++)
                if (ref_is_value(event->at[d]) && map[event->at[d]]) event->at[d] = map[event->at[d]];
}

static bool is_register(const Expr *e) {
    if (e->kind != X_PLACE && e->kind != X_POINTER) return false;
    const TcType *type = e->lvalue.type->is_complex ? e->lvalue.type->fields[0].type : e->lvalue.type;
    return type->kind == TC_TILE && type->level == TC_REGISTER;
}

TcTouch tc_touch_of(const Tc *tc, const Call *call) {
    bool moves = call->row->lower == bi_copy && call->count == 2;
    if (moves && is_register(&call->args[0]) != is_register(&call->args[1])) {
        const TcType *type = call->args[is_register(&call->args[0]) ? 0 : 1].lvalue.type;
        return type->repeated ? TOUCH_SAME : TOUCH_ROWS;
    }
    if (call->row->lower == bi_load_global || call->row->lower == bi_store_global) return TOUCH_PIECES;
    if (call->row->lower == bi_tma_store || call->row->lower == bi_tma_load) return TOUCH_ONE;
    static Expr (*const maps[])(Tc *, const Call *) = {bi_binary,  bi_unary,       bi_fill,        bi_fma,
                                                       bi_compare, bi_select,      bi_relu,        bi_complex_mul,
                                                       bi_complex_div, bi_complex_exp, bi_complex_conj};
    bool map = moves;
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) map |= call->row->lower == maps[i];
    for (int i = 0; map && i < call->count; i++) map = !is_register(&call->args[i]);
    return map ? TOUCH_ELEMENTS : tc->touch;
}

const TcEvent *tc_note_touch(Tc *tc, const Lvalue *tile, bool writes, const TcBox *box, Range range) {
    bool element = tile->type->kind != TC_TILE;
    if (element) tc->call_count++;
    TcEvent *event = note(tc, EVENT_TOUCH, range);
    event->place = tile->place;
    event->touch = tc->touch;
    event->by_all = tc->by_all;
    event->follows = tc->follows;
    event->writes = writes;
    event->rank = box->whole->rank;
    event->fixed = box->fixed;
    event->row_dim = event->rank - (element ? 1 : tile->type->rank);
    event->rows = element ? 1 : tc_value_type(tc, tile->type)->extent[0];
    if (tile->run) event->row_dim = box->fixed, event->rows = tile->run; /* each warp a tile of its own */
    for (int d = 0; d < event->rank; d++) event->at[d] = box->at[d], event->extent[d] = box->extent[d];
    if (element) event->touch = TOUCH_SAME;
    for (int t = 0; element && t < tc->threads; t++)
        if (tc->active[t] != tc->role[t]) event->touch = TOUCH_ONE;
    tc->touched = event;
    return event;
}

void tc_note_product(Tc *tc, const TcEvent *a, const TcEvent *b, const TcEvent *d, bool by_rows, Range range) {
    TcEvent *event = note(tc, EVENT_PRODUCT, range);
    event->a = a;
    event->b = b;
    event->d = d;
    event->by_rows = by_rows;
}

void tc_note_load(Tc *tc, Range range) { note(tc, EVENT_LOAD, range)->d = tc->touched; }

void tc_note_store(Tc *tc, Range range) { note(tc, EVENT_STORE, range)->a = tc->touched; }

static Expr note_wait(Tc *tc, const Call *call, EventKind kind, const char *what) {
    int64_t left = 0;
    if (call->count && (!tc_is_constant(tc, call->args[0].scalar, &left) || left < 0))
        return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, what);
    note(tc, kind, call->range)->number = left;
    return tc_nothing(call);
}

Expr bi_mma_wait(Tc *tc, const Call *call) {
    return note_wait(tc, call, EVENT_PRODUCTS_WAIT, "the number of products left in flight");
}

Expr bi_load_wait(Tc *tc, const Call *call) {
    return note_wait(tc, call, EVENT_LOADS_WAIT, "the number of loads left in flight");
}

Expr bi_tma_store_wait(Tc *tc, const Call *call) {
    return note_wait(tc, call, EVENT_STORES_WAIT, "the number of stores left in flight");
}

static TcEvent *note_threads(Tc *tc, EventKind kind, Range range) {
    TcEvent *event = note(tc, kind, range);
    event->active = tc->active;
    while (event->first + 1 < tc->threads && !tc->role[event->first]) event->first++;
    return event;
}

void tc_note_sync(Tc *tc, bool by_all, const Scalar *number, Range range) {
    TcEvent *event = note_threads(tc, EVENT_SYNC, range);
    int64_t base = -1;
    event->by_all = by_all || tc->worker_count == 1;
    event->number = number && ir_const_int(tc->kernel, number->ref, &base) ? base : -1;
    event->lanes = number ? number->lanes : NULL;
}

void tc_note_taken(Tc *tc, const Block *block) { note(tc, EVENT_TAKEN, tc->b.range)->block = block; }

void tc_note_given(Tc *tc, const Block *block, const char *semaphore, Range range) {
    TcEvent *event = note(tc, EVENT_GIVEN, range);
    event->block = block;
    event->semaphore = semaphore;
}

void tc_note_own_load(Tc *tc, const Object *semaphore, Ref which, Range range) {
    TcEvent *event = note(tc, EVENT_OWN_LOAD, range);
    event->d = tc->touched;
    event->place = semaphore;
    event->rank = which ? 1 : 0;
    event->at[0] = which;
}

void tc_note_own(Tc *tc, bool arrives, const Object *semaphore, Ref which, Range range) {
    TcEvent *event = note_threads(tc, arrives ? EVENT_OWN_ARRIVE : EVENT_OWN_WAIT, range);
    if (tc->by_workers) event->first = 0;
    event->place = semaphore;
    event->rank = which ? 1 : 0;
    event->at[0] = which;
}

void tc_note_arrivals(Tc *tc, const Block *block, Range range) {
    note_threads(tc, EVENT_ARRIVE, range)->block = block;
}
