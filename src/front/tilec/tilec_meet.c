/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_meet.c: what the walk of tilec_race.c knows at a place of the kernel: who touched what since its threads met
 * last, what is under way, who is done with a block. */
#include "front/tilec/tilec_race.h"

#include <string.h>

/* ---- faults ---- */

static void fault(Race *r, Fault kind, const TcEvent *event, const TcEvent *other) {
    for (size_t i = 0; i < r->found.count; i++) {
        Found *found = &r->found.at[i];
        if (found->fault == kind && found->event == event && found->other == other) {
            found->seeds |= 1u << r->seed;
            return;
        }
    }
    *VEC_PUSH(&r->found, r->tc->arena) = (Found){kind, event, other, 1u << r->seed};
}

static Seen seen_of(Race *r, const TcEvent *event) {
    Seen seen = {.event = event, .instance = r->instance, .exact = true};
    for (int d = 0; event && d < event->rank; d++) {
        bool exact;
        seen.at[d] = race_number(r, event->at[d], &exact);
        seen.exact &= exact;
    }
    return seen;
}

static bool overlap(const Seen *a, const Seen *b) {
    if (!a->event || a->event->place != b->event->place || a->event->rank != b->event->rank) return false;
    for (int d = 0; d < a->event->rank; d++)
        if (a->at[d] + a->event->extent[d] <= b->at[d] || b->at[d] + b->event->extent[d] <= a->at[d]) return false;
    return true;
}

static bool same_box(const Seen *a, const Seen *b) {
    for (int d = 0; d < a->event->rank; d++)
        if (a->at[d] != b->at[d] || a->event->extent[d] != b->event->extent[d]) return false;
    return a->event->rows == b->event->rows;
}

/* Each thread (or warp) meets only what it touched itself. */
static bool own(const Seen *a, const Seen *b) {
    const TcEvent *x = a->event, *y = b->event;
    if (x->touch != y->touch || x->by_all != y->by_all) return false;
    switch (x->touch) {
    case TOUCH_ROWS: return x->row_dim == y->row_dim && x->rows == y->rows && a->at[x->row_dim] == b->at[y->row_dim];
    case TOUCH_PIECES:
    case TOUCH_ELEMENTS: return same_box(a, b);
    case TOUCH_SAME: return x->writes || (x->rows == 1 && y->rows == 1); /* numbers that all compute */
    case TOUCH_ONE: return true;
    default: return false;
    }
}

/* ---- semaphores of the kernel's own ---- */

/* A thread of the only warpgroup loads: what it has begun is there when the semaphore says so. */
static void load_own(Race *r, const TcEvent *event) {
    if (r->tc->threads > 128) return; /* roles: ir/roles_check.c */
    Flight f = {.kind = EVENT_OWN_LOAD, .stamp = ++r->stamp, .event = event, .semaphore = event->place};
    f.which = event->rank ? race_number(r, event->at[0], NULL) : 0;
    f.part[2] = seen_of(r, event->d);
    *VEC_PUSH(&r->now.flights, r->tc->arena) = f;
}

static void land_own(Race *r, const TcEvent *event) {
    int64_t which = event->rank ? race_number(r, event->at[0], NULL) : 0;
    size_t kept = 0;
    bool all = true; /* threads wait: each of them sees what has come */
    for (int t = 0; t < r->tc->threads; t++) all &= event->active[t];
    for (size_t i = 0; i < r->now.flights.count; i++) {
        const Flight f = r->now.flights.at[i];
        if (f.kind != EVENT_OWN_LOAD || f.semaphore != event->place || f.which != which) {
            r->now.flights.at[kept++] = f;
            continue;
        }
        for (size_t s = 0; s < r->now.seen.count && all; s++) {
            Seen *seen = &r->now.seen.at[s];
            if (seen->event == f.part[2].event && same_box(seen, &f.part[2])) seen->met = seen->met_all = true;
        }
    }
    r->now.flights.count = kept;
}

static void wait_own(Race *r, const TcEvent *event) {
    land_own(r, event);
    if (r->loaded) r->waited.count = 0;
    r->loaded = false;
    *VEC_PUSH(&r->waited, r->tc->arena) = event->place;
}

static void guard(Race *r, const TcEvent *event) {
    r->loaded = true;
    const Object *semaphore = r->waited.count == 1 ? r->waited.at[0] : NULL;
    for (size_t i = 0; i < r->guards.count; i++)
        if (r->guards.at[i].tile == event->place) {
            if (r->guards.at[i].semaphore != semaphore) r->guards.at[i].semaphore = NULL;
            return;
        }
    *VEC_PUSH(&r->guards, r->tc->arena) = (Guard){event->place, semaphore};
}

/* ---- accesses ---- */

static bool is_shared(const TcEvent *event) {
    const TcType *type = event->place->type;
    while (type->kind == TC_ARRAY) type = type->of;
    return type->kind == TC_TILE && type->level == TC_SHARED;
}

/* A part of a field that some worker writes in each item. */
static void wrote(Race *r, const Seen *now) {
    for (size_t i = 0; i < r->written.count; i++)
        if (r->written.at[i].event->place == now->event->place && same_box(&r->written.at[i], now)) return;
    *VEC_PUSH(&r->written, r->tc->arena) = *now;
}

/* The part of the finish block is the worker's own, or all of them have met behind those who wrote it. */
static void read_finish(Race *r, const Seen *now) {
    bool mine = r->met_in_finish || !now->exact;
    for (size_t i = 0; i < r->now.seen.count; i++)
        mine |= r->now.seen.at[i].event->writes && overlap(&r->now.seen.at[i], now);
    for (size_t i = 0; i < r->written.count && !mine; i++)
        if (overlap(&r->written.at[i], now)) fault(r, FAULT_OTHERS, now->event, r->written.at[i].event);
}

static void touch(Race *r, const TcEvent *event) {
    if (event->call != r->last_call) r->instance++, r->last_call = event->call;
    Seen now = seen_of(r, event);
    if (event->writes && event->place->block) {
        if (event->place->block == &r->tc->finish) r->met_in_finish = false;
        if (now.exact && r->all_trips) wrote(r, &now);
        else *VEC_PUSH(&r->unknown, r->tc->arena) = event->place;
    }
    for (size_t i = 0; i < r->now.flights.count; i++) {
        const Flight *f = &r->now.flights.at[i];
        bool product = f->kind == EVENT_PRODUCT, reads = false;
        for (int p = 0; p < 3 && !reads; p++) reads = (p == 2 || event->writes) && overlap(&f->part[p], &now);
        if (f->kind == EVENT_OWN_LOAD) {
            if (!event->writes && overlap(&f->part[2], &now)) fault(r, FAULT_OWN_LOAD, event, f->event);
            continue;
        }
        if (!reads || (product && event->follows && overlap(&f->part[2], &now))) continue;
        fault(r, product ? FAULT_PRODUCT : f->kind == EVENT_LOAD ? FAULT_LOAD : FAULT_STORE, event,
              f->part[f->kind == EVENT_STORE ? 0 : 2].event);
    }
    if (!is_shared(event) || r->tc->unit == 1) return;
    if (!event->writes && event->place->block == &r->tc->finish) read_finish(r, &now);
    if (event->touch == TOUCH_ONE && event->writes && !event->place->block) guard(r, event);
    size_t kept = 0;
    for (size_t i = 0; i < r->now.seen.count; i++) {
        Seen *before = &r->now.seen.at[i];
        bool writes = before->event->writes || event->writes;
        bool over = writes && before->instance != r->instance && overlap(before, &now);
        bool all = before->event->by_all || event->by_all;
        bool ended = before->by_rows && event->touch == TOUCH_ROWS && same_box(before, &now) && !all;
        if (over && !ended && !(all ? before->met_all : before->met) && !own(before, &now))
            fault(r, FAULT_SYNC, event, before->event);
        if (before->event == event && same_box(before, &now)) continue; /* this one takes its place */
        r->now.seen.at[kept++] = *before;
    }
    r->now.seen.count = kept;
    *VEC_PUSH(&r->now.seen, r->tc->arena) = now;
}

static void begin(Race *r, const TcEvent *event) {
    Flight f = {.kind = event->kind, .stamp = ++r->stamp, .by_rows = event->by_rows};
    const TcEvent *parts[3] = {event->a, event->b, event->d};
    for (int p = 0; p < 3; p++) f.part[p] = seen_of(r, parts[p]);
    *VEC_PUSH(&r->now.flights, r->tc->arena) = f;
}

/* What an operation did that was under way is done now, not when it was begun: who met before knows nothing of it. */
static void retire(Race *r, EventKind kind, int64_t left) {
    size_t kept = 0;
    int64_t count = 0;
    for (size_t i = 0; i < r->now.flights.count; i++) count += r->now.flights.at[i].kind == kind;
    for (size_t i = 0; i < r->now.flights.count; i++) {
        Flight f = r->now.flights.at[i];
        if (f.kind != kind || count-- <= left) {
            r->now.flights.at[kept++] = f;
            continue;
        }
        for (size_t s = 0; s < r->now.seen.count; s++)
            for (int p = 0; p < 3; p++) {
                Seen *seen = &r->now.seen.at[s];
                if (!f.part[p].event || seen->event != f.part[p].event || !same_box(seen, &f.part[p])) continue;
                seen->met = seen->met_all = false;
                seen->whole = kind == EVENT_PRODUCT;
                seen->by_rows = p == 0 && f.by_rows;
            }
    }
    r->now.flights.count = kept;
}

static void meet(Race *r, const TcEvent *event) {
    bool by_all = event->by_all;
    int64_t number = event->number;
    if (number >= 0 && event->lanes) number += event->lanes[event->first + r->worker * r->tc->unit * 32];
    if (number >= 0 && number < 16) {
        if (by_all && r->now.at[number]) fault(r, FAULT_BARRIER, event, r->now.at[number]);
        if (!by_all) r->now.at[number] = event;
    }
    if (by_all) memset(r->now.at, 0, sizeof r->now.at);
    for (size_t i = 0; i < r->now.seen.count; i++) {
        r->now.seen.at[i].met = true;
        r->now.seen.at[i].met_all |= by_all;
    }
    r->met_in_finish |= by_all;
}

/* ---- blocks ---- */

static void take(Race *r, const Block *block) {
    size_t kept = 0;
    for (size_t i = 0; i < r->now.seen.count; i++)
        if (r->now.seen.at[i].event->place->block != block) r->now.seen.at[kept++] = r->now.seen.at[i];
    r->now.seen.count = kept;
    for (int w = 0; w < 32; w++) r->now.covered[w] = false;
}

static void arrive(Race *r, const TcEvent *event) {
    bool unit = false, others = false, met = true, met_all = true;
    for (int t = 0; t < r->tc->threads; t++) {
        if (!event->active[t]) continue;
        int warp = (t - event->first) / 32;
        bool mine = warp / r->tc->unit == r->worker;
        if (mine) r->now.covered[warp % r->tc->unit] = true;
        unit |= mine;
        others |= !mine;
    }
    for (size_t i = 0; i < r->now.seen.count; i++) {
        const Seen *seen = &r->now.seen.at[i];
        if (seen->event->place->block != event->block) continue;
        met &= seen->met || seen->whole;
        met_all &= seen->met_all;
    }
    bool all = (unit && met) || (others && met_all);
    for (int w = 0; w < r->tc->unit; w++) r->now.covered[w] |= all;
}

static void give(Race *r, const TcEvent *event) {
    for (size_t i = 0; i < r->now.flights.count; i++) {
        const Flight *f = &r->now.flights.at[i];
        for (int p = 0; p < 3; p++)
            if (f->part[p].event && f->part[p].event->place->block == event->block) {
                fault(r, f->kind == EVENT_STORE ? FAULT_GIVEN_STORE : FAULT_GIVEN_PRODUCT, event, f->part[p].event);
                break;
            }
    }
    for (size_t i = 0; i < r->now.seen.count; i++) {
        const TcEvent *before = r->now.seen.at[i].event;
        if (before->place->block != event->block) continue;
        bool covered = true;
        for (int w = 0; w < r->tc->unit; w++) covered &= r->now.covered[w];
        if (!covered && before->touch != TOUCH_ONE) fault(r, FAULT_GIVEN, event, before);
    }
    take(r, event->block);
}

static bool guarded_by(const Race *r, const Seen *tile, const TcEvent *arrival, int64_t which) {
    for (size_t i = 0; tile->event && i < r->guards.count; i++)
        if (r->guards.at[i].tile == tile->event->place && r->guards.at[i].semaphore == arrival->place)
            return !arrival->rank || !tile->event->fixed || tile->at[0] == which;
    return false;
}

/* The tiles that the semaphore guards are free: no product reads them, and no other warp does. */
static void arrive_own(Race *r, const TcEvent *event) {
    int64_t which = event->rank ? race_number(r, event->at[0], NULL) : 0;
    bool warps[32] = {false}, all = true;
    for (int t = 0; t < 128; t++) warps[t / 32] |= event->active[r->worker * 128 + t];
    for (int w = 0; w < r->tc->unit; w++) all &= warps[w];
    for (size_t i = 0; i < r->now.flights.count; i++)
        for (int p = 0; p < 2; p++)
            if (r->now.flights.at[i].kind == EVENT_PRODUCT &&
                guarded_by(r, &r->now.flights.at[i].part[p], event, which))
                fault(r, FAULT_ARRIVE_PRODUCT, event, r->now.flights.at[i].part[p].event);
    for (size_t i = 0; i < r->now.seen.count && !all; i++) {
        const Seen *seen = &r->now.seen.at[i];
        if (!seen->met && !seen->whole && !seen->event->writes && guarded_by(r, seen, event, which))
            fault(r, FAULT_ARRIVE, event, seen->event);
    }
}

/* ---- two ways ---- */

State race_copy(Race *r, const State *from) {
    State to = *from;
    to.seen.at = NULL, to.seen.count = to.seen.capacity = 0;
    to.flights.at = NULL, to.flights.count = to.flights.capacity = 0;
    for (size_t i = 0; i < from->seen.count; i++) *VEC_PUSH(&to.seen, r->tc->arena) = from->seen.at[i];
    for (size_t i = 0; i < from->flights.count; i++) *VEC_PUSH(&to.flights, r->tc->arena) = from->flights.at[i];
    return to;
}

void race_join(Race *r, const State *other) {
    State *now = &r->now;
    for (size_t i = 0; i < other->seen.count; i++) {
        const Seen *theirs = &other->seen.at[i];
        Seen *mine = NULL;
        for (size_t j = 0; j < now->seen.count && !mine; j++)
            if (now->seen.at[j].event == theirs->event && same_box(&now->seen.at[j], theirs)) mine = &now->seen.at[j];
        if (!mine) {
            *VEC_PUSH(&now->seen, r->tc->arena) = *theirs;
            continue;
        }
        mine->met &= theirs->met;
        mine->met_all &= theirs->met_all;
        mine->whole &= theirs->whole;
        mine->by_rows &= theirs->by_rows;
    }
    for (size_t i = 0; i < other->flights.count; i++) {
        bool here = false;
        for (size_t j = 0; j < now->flights.count; j++) here |= now->flights.at[j].stamp == other->flights.at[i].stamp;
        if (!here) *VEC_PUSH(&now->flights, r->tc->arena) = other->flights.at[i];
    }
    for (int w = 0; w < 32; w++) now->covered[w] &= other->covered[w];
    for (int n = 0; n < 16; n++)
        if (other->at[n]) now->at[n] = other->at[n];
}

void race_event(Race *r, const TcEvent *e) {
    switch (e->kind) {
    case EVENT_TOUCH: touch(r, e); break;
    case EVENT_PRODUCT:
    case EVENT_LOAD:
    case EVENT_STORE: begin(r, e); break;
    case EVENT_PRODUCTS_WAIT: retire(r, EVENT_PRODUCT, e->number); break;
    case EVENT_LOADS_WAIT: retire(r, EVENT_LOAD, e->number); break;
    case EVENT_STORES_WAIT: retire(r, EVENT_STORE, e->number); break;
    case EVENT_SYNC: meet(r, e); break;
    case EVENT_TAKEN: take(r, e->block); break;
    case EVENT_ARRIVE: arrive(r, e); break;
    case EVENT_GIVEN: give(r, e); break;
    case EVENT_OWN_LOAD: load_own(r, e); break;
    case EVENT_OWN_WAIT: wait_own(r, e); break;
    case EVENT_OWN_ARRIVE: arrive_own(r, e); break;
    }
}

/* ---- fields of blocks ---- */

static int64_t elements(const int64_t *extent, int rank) {
    int64_t count = 1;
    for (int d = 0; d < rank; d++) count *= extent[d];
    return count;
}

/* Elements of the field that are written: parts are the same or do not overlap; else it is not known, and as many
 * as there are. */
static int64_t written_of(const Race *r, const Object *place, int64_t all) {
    int64_t count = 0;
    for (size_t i = 0; i < r->written.count; i++) {
        const Seen *one = &r->written.at[i];
        if (one->event->place != place) continue;
        for (size_t j = 0; j < i; j++)
            if (overlap(&r->written.at[j], one)) return all;
        count += elements(one->event->extent, one->event->rank);
    }
    return count;
}

static void check_field(Race *r, const Block *block, const Object *place) {
    Tc *tc = r->tc;
    const Type *type = ir_type(tc->kernel, block->ring)->fields[place->field].type;
    int64_t all = elements(type->extent, type->rank), count = written_of(r, place, all);
    for (size_t i = 0; i < r->unknown.count; i++)
        if (r->unknown.at[i] == place) return;
    if (count >= all) return;
    TC_ERROR(tc, TC_FIELD_UNWRITTEN, place->range, count ? "a part of " : "", place->name, block->what,
             count ? "write all of it" : "write it, or leave it out of the block");
}

static void check_fields(Race *r, const Block *block, const Object *place) {
    const TcType *leaf = place->type;
    while (leaf->kind == TC_ARRAY) leaf = leaf->of;
    if (leaf->kind != TC_STRUCT) {
        check_field(r, block, place);
        return;
    }
    for (int i = 0; i < leaf->field_count; i++) check_fields(r, block, place->parts[i]);
}

void race_check_blocks(Race *r) {
    const Block *blocks[] = {&r->tc->input, &r->tc->output, &r->tc->finish};
    for (int b = 0; b < 3; b++) {
        bool used = false;
        for (size_t i = 0; i < r->written.count; i++) used |= r->written.at[i].event->place->block == blocks[b];
        if (used) check_fields(r, blocks[b], blocks[b]->place);
    }
}
