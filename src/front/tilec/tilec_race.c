/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_race.c: do the warps of a kernel wait for each other where they share tiles, and for what is under way?
 *
 *     warpgroup_load(&k, g.k, at(j, 0));      pieces of k by all threads ..
 *     warpgroup_mm_ABt(&s, &q, &k);           .. and all of it is read: no barrier between: error
 *
 * The events of tilec_trace.c are gone through in the order of the IR, by each worker (a warpgroup of several; else all
 * threads of the block), with the numbers of its loops: two accesses of which one writes, to parts that overlap, shared
 * among the threads in different ways, need a barrier of these threads between them. The walk sees as well what
 * products, load_async and tma_store_async still use, and a block that is given back by some for others.
 *
 * Bounds: a loop makes MOST_TRIPS trips, or as many as are known, one at least; under a condition that is not known
 * both ways are possible. What only the run knows (an extent, a block's number) is given numbers in SEEDS different
 * ways; an error is what is one in all of them. Warpgroups against each other: ir/roles_check.c. */
#include "front/tilec/tilec_race.h"
#include "ir/barriers.h"

enum { MOST_TRIPS = 3, SEEDS = 3, MOST_STEPS = 1 << 15, MOST_ERRORS = 4 };

/* ---- numbers ---- */

static bool leaf(const void *user, Ref ref, int64_t *out) {
    Race *r = (Race *)user;
    const MapEntry *known = map_find_number(&r->known, ref);
    if (known && known->value) {
        *out = *(const int64_t *)known->value;
        return true;
    }
    const Op *op = ir_value(r->tc->kernel, ref)->op;
    if (op && op_has(op->code, TRAIT_ELEMENTWISE)) return false;
    uint64_t key[2] = {ref, (uint64_t)r->seed};
    r->exact = false;
    *out = 1 + (int64_t)(hash_bytes(key, sizeof key, 1) % 1021);
    return true;
}

/* What is computed in another way is a number of its own. */
int64_t race_number(Race *r, Ref ref, bool *exact) {
    int64_t value;
    r->exact = true;
    bool made = ir_number(r->tc->kernel, ref, leaf, r, &value);
    if (exact) *exact = made && r->exact;
    uint64_t key[2] = {ref, (uint64_t)r->seed + SEEDS};
    return made ? value : 1 + (int64_t)(hash_bytes(key, sizeof key, 1) % 1021);
}

static void know(Race *r, Ref ref, bool exact, int64_t value) {
    int64_t *kept = exact ? ARENA_NEW(r->tc->arena, int64_t) : NULL;
    if (kept) *kept = value;
    map_put_number(&r->known, r->tc->arena, ref, kept);
}

static void know_all(Race *r, const Ref *to, const Ref *from, int count) {
    int64_t *values = ARENA_ARRAY(r->tc->arena, int64_t, count + 1);
    bool *exact = ARENA_ARRAY(r->tc->arena, bool, count + 1);
    for (int i = 0; i < count; i++) {
        bool whole = elem_is_int(ir_type(r->tc->kernel, from[i])->elem);
        values[i] = whole ? race_number(r, from[i], &exact[i]) : 0;
    }
    for (int i = 0; i < count; i++) know(r, to[i], exact[i], values[i]);
}

/* ---- control ---- */

static void run_events(Race *r, const void *place) {
    for (const TcEvent *e = tc_first_event(r->tc, place); e; e = e->next) {
        r->steps++;
        race_event(r, e);
    }
}

static void run_region(Race *r, const Region *region);

static bool is_item_loop(const Tc *tc, const Op *op) {
    for (int i = 0; i < tc->item_count; i++)
        if (tc->items[i] == op) return true;
    return false;
}

static void run_for(Race *r, const Op *op) {
    const Region *body = op->regions[0];
    bool lo_known, hi_known, step_known;
    int64_t lo = race_number(r, op->operands[0], &lo_known), hi = race_number(r, op->operands[1], &hi_known),
            step = race_number(r, op->operands[2], &step_known), trips = MOST_TRIPS;
    if (lo_known && hi_known && step_known && step > 0) {
        trips = hi > lo ? (hi - lo + step - 1) / step : 0;
        if (trips > MOST_TRIPS + 1) trips = MOST_TRIPS + 1;
    }
    int carried = op->result_count;
    bool all = r->all_trips;
    r->all_trips = all && (is_item_loop(r->tc, op) || (lo_known && hi_known && step_known && hi - lo <= trips * step));
    know_all(r, body->args + 1, op->operands + 3, carried);
    for (int64_t i = 0; i < trips && r->steps < MOST_STEPS; i++) {
        know(r, body->args[0], lo_known && step_known, lo + i * step);
        r->instance++;
        run_region(r, body);
        know_all(r, body->args + 1, body->last->operands, carried);
    }
    know_all(r, op->results, body->args + 1, carried);
    r->all_trips = all;
}

static void run_while(Race *r, const Op *op) {
    const Region *test = op->regions[0], *body = op->regions[1];
    const Ref *values = test->last->operands + 1;
    bool all = r->all_trips;
    r->all_trips = false;
    know_all(r, test->args, op->operands, test->arg_count);
    for (int i = 0; r->steps < MOST_STEPS; i++) {
        bool exact;
        run_region(r, test);
        int64_t holds = race_number(r, test->last->operands[0], &exact);
        if (exact ? !holds || i > MOST_TRIPS : i == MOST_TRIPS) break;
        know_all(r, body->args, values, body->arg_count);
        r->instance++;
        run_region(r, body);
        know_all(r, test->args, body->last->operands, test->arg_count);
    }
    know_all(r, op->results, values, op->result_count);
    r->all_trips = all;
}

static void run_if(Race *r, const Op *op) {
    bool exact;
    int64_t holds = race_number(r, op->operands[0], &exact);
    if (exact) {
        run_region(r, op->regions[holds ? 0 : 1]);
        know_all(r, op->results, op->regions[holds ? 0 : 1]->last->operands, op->result_count);
        return;
    }
    State before = race_copy(r, &r->now);
    run_region(r, op->regions[0]);
    State after = r->now;
    r->now = before;
    run_region(r, op->regions[1]);
    race_join(r, &after);
}

static bool has_workers(const Op *role) {
    const Op *op = role->regions[0]->first;
    while (op && op->code != OP_SPMD) op = op->next;
    return op != NULL;
}

static void run_op(Race *r, const Op *op) {
    switch (op->code) {
    case OP_FOR: run_for(r, op); return;
    case OP_WHILE: run_while(r, op); return;
    case OP_IF: run_if(r, op); return;
    case OP_ROLE: r->now = (State){0}; break; /* other threads */
    case OP_SPMD: /* of so many workers */
        know(r, op->regions[0]->args[0], true, r->worker);
        if (r->worker >= race_number(r, op->operands[0], NULL)) return;
        break;
    default: break;
    }
    bool alone = op->code == OP_ROLE && r->worker && !has_workers(op);
    for (int i = 0; i < op->region_count && !alone; i++) run_region(r, op->regions[i]);
}

static void run_region(Race *r, const Region *region) {
    run_events(r, region);
    for (const Op *op = region->first; op && r->steps < MOST_STEPS; op = op->next) {
        r->steps++;
        if (op->region_count) run_op(r, op);
        run_events(r, op);
    }
}

/* ---- messages ---- */

static const char *name_of(const TcEvent *event) { return event->place->name ? event->place->name : "the tile"; }

static const char *barrier_words(Race *r, bool by_all) {
    int warps = r->tc->unit * (by_all ? r->tc->worker_count : 1);
    return warps == 4 ? "warpgroup_sync(id)" : arena_printf(r->tc->module->arena, "group%d_sync(id)", warps);
}

static void report_sync(Race *r, const Found *f) {
    Tc *tc = r->tc;
    bool by_all = f->event->by_all || f->other->by_all || f->fault == FAULT_OTHERS;
    TC_ERROR(tc, TC_MISSING_SYNC, f->event->range, name_of(f->event), f->event->writes ? "written" : "read",
             f->other->writes ? "written" : "read", barrier_words(r, by_all));
    diag_emit(tc->diag, DIAG_NOTE_HERE, f->other->range,
              arena_printf(tc->module->arena, "a warp may still be here, and %s it, when another one is there",
                           f->other->writes ? "write" : "read"));
}

static void report_given(Race *r, const Found *f) {
    Tc *tc = r->tc;
    Arena *arena = tc->module->arena;
    const char *what = f->event->block->what, *why;
    if (f->fault == FAULT_GIVEN_PRODUCT)
        why = arena_printf(arena, "a product still reads the %s block" FIX "add warpgroup_mma_wait(0) before it", what);
    else if (f->fault == FAULT_GIVEN_STORE)
        why = arena_printf(arena, "a store still reads the %s block"
                                  FIX "add tma_store_async_read_wait() before it", what);
    else
        why = arena_printf(arena,
                           "other warps may still be at work on the %s block" FIX "arrive once a warp, or write %s "
                           "before it",
                           what, barrier_words(r, tc->worker_count > 1));
    TC_ERROR(tc, TC_RELEASE_EARLY, f->event->range, f->event->semaphore, why);
    if (f->fault == FAULT_GIVEN)
        diag_emit(tc->diag, DIAG_NOTE_HERE, f->other->range, "a warp that never arrives may still be here");
}

static void report(Race *r, const Found *f) {
    Tc *tc = r->tc;
    switch (f->fault) {
    case FAULT_OTHERS:
    case FAULT_SYNC: report_sync(r, f); return;
    case FAULT_PRODUCT: TC_ERROR(tc, TC_MMA_PENDING, f->event->range, name_of(f->event)); return;
    case FAULT_LOAD: TC_ERROR(tc, TC_LOAD_PENDING, f->event->range, name_of(f->event)); return;
    case FAULT_STORE: TC_ERROR(tc, TC_STORE_PENDING, f->event->range, name_of(f->event)); return;
    case FAULT_OWN_LOAD:
        TC_ERROR(tc, TC_TMA_PENDING, f->event->range, name_of(f->event), name_of(f->other));
        return;
    case FAULT_ARRIVE_PRODUCT:
        TC_ERROR(tc, TC_RELEASE_EARLY, f->event->range, name_of(f->event),
                 arena_printf(tc->module->arena, "a product still reads `%s`" FIX "add warpgroup_mma_wait(0) before it",
                              name_of(f->other)));
        return;
    case FAULT_ARRIVE:
        TC_ERROR(tc, TC_RELEASE_EARLY, f->event->range, name_of(f->event),
                 arena_printf(tc->module->arena,
                              "other warps may still read `%s`" FIX "arrive once a warp, or write %s before it",
                              name_of(f->other), barrier_words(r, false)));
        diag_emit(tc->diag, DIAG_NOTE_HERE, f->other->range, "a warp that does not arrive may still be here");
        return;
    case FAULT_BARRIER:
        TC_ERROR(tc, TC_BARRIER_MEETS, f->event->range, (int)f->event->number);
        diag_emit(tc->diag, DIAG_NOTE_HERE, f->other->range, "a warpgroup may still be here");
        return;
    default: report_given(r, f); return;
    }
}

/* One message a line: what comes of the same cause is not said again. */
static bool told(const Race *r, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (r->found.at[i].seeds == (1u << SEEDS) - 1 &&
            r->found.at[i].event->range.begin == r->found.at[at].event->range.begin)
            return true;
    return false;
}

static void run_all(Race *r, int workers, int seeds) {
    for (r->worker = 0; r->worker < workers; r->worker++)
        for (r->seed = 0; r->seed < seeds; r->seed++) {
            r->now = (State){0};
            r->known = (Map){0};
            r->steps = r->instance = r->last_call = 0;
            r->waited.count = 0;
            r->loaded = false;
            r->all_trips = true;
            run_region(r, r->tc->kernel->body);
        }
}

void tc_check_races(Tc *tc) {
    Race r = {.tc = tc};
    int workers = tc->threads / 32 / tc->unit;
    if (tc->by_workers) run_all(&r, workers, 1); /* which semaphore guards which tile */
    r.found.count = 0;
    run_all(&r, workers, SEEDS);
    race_check_blocks(&r);
    int said = 0;
    for (size_t i = 0; i < r.found.count && said < MOST_ERRORS; i++) {
        if (r.found.at[i].seeds != (1u << SEEDS) - 1 || told(&r, i)) continue;
        report(&r, &r.found.at[i]);
        said++;
    }
}
