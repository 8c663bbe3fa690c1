/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_ring.c: rings in shared memory: how many slots fit, where they lie, who waits for whom at which barrier.
 *
 *     ring<from=load, to=compute, slots=4, hold=2, by=tma, at=0, bytes=32768, fields=[0,16384],
 *          barriers=[131072,131104], arrivals=[1,8]>
 *
 * A ring is N slots and two barriers a slot, full and empty. By what means it is filled follows from its puts and from
 * who runs the roles at its ends:
 *
 *     tma     one thread announces the bytes and issues the copies
 *     stores  the producer's threads store, all of them arrive
 *     copies  they copy (cp.async) and go on: each arrives when its copies have landed (`commit<arrive=copies>`), and
 *             who reads by wgmma fences behind the wait (`wait<fence>`): nobody could between landing and arrival
 *     mixed   several of them
 *     async   the same threads at both ends, the loads (cp.async) run ahead in the consumer's loops: no barriers
 *     buffer  the same threads, one item: a buffer between two barriers of the group
 *
 * What threads read one lane of each warp gives back; all of them (`lanes`) where threads read what threads stored.
 * Slots are taken away from the largest ring until all fits; the plan changes no bit of the result. */
#include "pass/schedule/schedule.h"

RingSchedule *schedule_ring(Schedule *s, Ref ring) {
    for (size_t i = 0; i < s->rings.count; i++)
        if (s->rings.at[i].op->results[0] == ring) return &s->rings.at[i];
    ice(s->k->module->trap, "schedule: a ring without a plan");
}

bool schedule_is_single(const Schedule *s, const Op *role) {
    bool single = false;
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *r = &s->rings.at[i];
        if (r->to == role || (r->from == role && (r->store_puts || r->copy_puts))) return false;
        single |= r->from == role;
    }
    return single;
}

/* --- what the roles do with a ring --- */
static void count_puts(const Kernel *k, const Region *region, RingSchedule *r) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && hand_ring(k, op) == r->op->results[0]) {
            Word mover = layout_put_mover(k, op);
            (*(mover == MOVER_TMA ? &r->tma_puts : mover == MOVER_ASYNC ? &r->copy_puts : &r->store_puts))++;
        }
        for (int i = 0; i < op->region_count; i++) count_puts(k, op->regions[i], r);
    }
}

/* Is a field of the ring stored by TMA? */
static bool stores_by_tma(const Kernel *k, const Region *region, Ref ring) {
    for (const Op *op = region->first; op; op = op->next) {
        bool by_tma = op->code == OP_TSTORE && op_word(op, AT_MOVER, MOVER_LANES) == MOVER_TMA;
        if (by_tma && hand_ring(k, ir_value(k, op_operand(op, 1))->op) == ring) return true;
        for (int i = 0; i < op->region_count; i++)
            if (stores_by_tma(k, op->regions[i], ring)) return true;
    }
    return false;
}

/* Does a loop of the role acquire the ring's slots? */
static bool fills_in_loop(const Region *region, Ref ring, bool inside) {
    for (const Op *op = region->first; op; op = op->next) {
        if (inside && op->code == OP_ACQUIRE && op->operands[0] == ring) return true;
        for (int i = 0; i < op->region_count; i++)
            if (fills_in_loop(op->regions[i], ring, true)) return true;
    }
    return false;
}

/* Is a part of the slot read where it lies, beside the threads? */
static bool views_slot(const Schedule *s, const Region *region, Ref slot) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_GET && op->operands[0] == slot && schedule_read_beside(s, op->results[0])) return true;
        for (int i = 0; i < op->region_count; i++)
            if (views_slot(s, op->regions[i], slot)) return true;
    }
    return false;
}

/* Are all reads of the slot done by wgmma (or TMA), so that no lane has to wait for another? */
static bool reads_by_async(const Schedule *s, const Region *region, Ref slot) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_GET && op->operands[0] == slot && !schedule_in_shared(s->k, op->results[0])) return false;
        if (op->code == OP_DOT && !matrix_of(s->k, op)->is_async) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!reads_by_async(s, op->regions[i], slot)) return false;
    }
    return true;
}

/* Have threads of the consumer done something themselves by the release: read the slot, or, where items are empty,
 * written what the producer waits for (ring_meet.c)? */
static bool acts_before(const Schedule *s, const RingSchedule *r, const Op *release) {
    return ir_type(s->k, r->op->results[0])->field_count == 0 ||
           !reads_by_async(s, r->to->regions[0], release->operands[1]);
}

/* Marks the releases behind which threads have read the slot themselves; were there any of this ring? Where threads
 * stored it too, each gives the slot back for itself: such a ring is slow anyway, and compute-sanitizer's racecheck
 * follows a barrier from the threads that arrive at it, not from those that they met before (tw_sync_warp). */
static bool mark_releases(const Schedule *s, const RingSchedule *r, const Region *region) {
    bool any = false;
    for (Op *op = region->first; op; op = op->next) {
        if (op->code == OP_RELEASE && op->operands[0] == r->op->results[0] && acts_before(s, r, op)) {
            op_set(s->k, op, (Attr){.id = AT_FENCE, .number = 1});
            any = true;
        }
        for (int i = 0; i < op->region_count; i++) any |= mark_releases(s, r, op->regions[i]);
    }
    return any;
}

/* --- one ring --- */
static bool plan_ring(Schedule *s, Op *op) {
    RingSchedule r = {.op = op, .slots = (int)op_int(op, AT_SLOTS, 1), .hold = (int)op_int(op, AT_HOLD, 1)};
    Ref ring = op->results[0];
    const Type *type = ir_type(s->k, ring);
    for (int i = 0; i < type->field_count; i++) {
        r.field[i] = *layout_field(s->k, ring, i);
        r.field_at[i] = r.bytes;
        r.bytes += r.field[i].bytes;
    }
    r.from = role_find(s->tasks, ring_producer(op));
    r.to = role_find(s->tasks, ring_consumer(op));
    if (!r.from || !r.to) return schedule_fail(s, op, "a ring whose roles are not named");
    ThreadGroup producer = layout_group(s->cx, s->k, r.from), consumer = layout_group(s->cx, s->k, r.to);
    int programs = s->gang.programs;
    r.fused = producer.first_warp == consumer.first_warp;
    r.ahead = r.fused && role_is_guest(r.from);
    if (r.fused && !r.ahead) r.slots = 1;
    count_puts(s->k, r.from->regions[0], &r);
    int asked = (int)op_int(op, AT_ASKED, r.slots);
    if (r.store_puts && asked < r.slots) { /* what threads load is not that far away */
        r.slots = asked;
        r.hold = r.slots < 3 ? 1 : r.hold;
    }
    r.wanted = asked > r.slots ? asked : r.slots;
    r.full_count = s->cx->machine->lanes * producer.warps * (r.copy_puts && r.store_puts ? 2 : 1);
    r.each = programs > 1 && !fills_in_loop(r.from->regions[0], ring, false);
    if (r.each && !r.fused) r.slots *= programs;
    r.empty_count = consumer.warps * (r.each ? 1 : programs);
    r.leaves = stores_by_tma(s->k, tasks_body(s->tasks), ring);
    schedule_parts(s, &r);
    *VEC_PUSH(&s->rings, s->arena) = r;
    return true;
}

/* What TMA brings with a put: whole boxes, also where they reach beyond the tensor. */
static int64_t bytes_by_tma(const Kernel *k, const RingSchedule *r, const Op *put) {
    if (layout_put_mover(k, put) != MOVER_TMA) return 0;
    const SharedTile *tile = &r->field[hand_field(put)];
    return tile->rows * tile->width * ((tile->columns * tile->elem_bytes + tile->width - 1) / tile->width);
}

/* That is said of each put, and of the acquire of its slot, not of others of the ring, which loops in a row fill in
 * turn. */
static void announce(const Schedule *s, const RingSchedule *r, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        if (op->code == OP_ACQUIRE && op->operands[0] == r->op->results[0]) op_drop(op, AT_COPIED);
        bool put = op->code == OP_PUT && hand_ring(s->k, op) == r->op->results[0];
        int64_t bytes = put ? bytes_by_tma(s->k, r, op) : 0;
        if (bytes) {
            Op *acquire = ir_value(s->k, op->operands[0])->op;
            op_set(s->k, op, (Attr){.id = AT_COPIED, .number = bytes});
            op_set(s->k, acquire, (Attr){.id = AT_COPIED, .number = op_int(acquire, AT_COPIED, 0) + bytes});
        }
        for (int i = 0; i < op->region_count; i++) announce(s, r, op->regions[i]);
    }
}

/* --- copies of threads --- */
static Word arrive_of(const RingSchedule *r) {
    return r->fused || !r->copy_puts ? WORD_NONE : r->store_puts ? ARRIVE_BOTH : ARRIVE_COPIES;
}

/* Do its threads arrive behind their stores, which are shown before that? */
static bool arrives_by_stores(const RingSchedule *r) {
    return !r->fused && r->full_count > 1 && arrive_of(r) != ARRIVE_COPIES;
}

/* Are items of the slot, which threads have copied, read by what runs beside the threads? */
static bool needs_fence(const Schedule *s, const RingSchedule *r, const Op *wait) {
    return r->copy_puts && views_slot(s, r->to->regions[0], wait->results[0]);
}

/* Written (or, if it proves, compared): how commits of the ring arrive, which of them come behind a fence and which
 * waits are followed by one. */
static bool settle_copies(Schedule *s, const RingSchedule *r, const Region *region, bool proves) {
    for (Op *op = region->first; op; op = op->next) {
        bool own = (op->code == OP_COMMIT || op->code == OP_WAIT) && op->operands[0] == r->op->results[0];
        Word arrive = own && op->code == OP_COMMIT ? arrive_of(r) : WORD_NONE;
        bool fence = own && (op->code == OP_WAIT ? needs_fence(s, r, op) : arrives_by_stores(r));
        if (own && proves && op_word(op, AT_ARRIVE, WORD_NONE) != arrive)
            return schedule_fail(s, op, "`arrive` is not how the threads of the role fill the slot");
        if (own && proves && fence && !op_flag(op, AT_FENCE))
            return schedule_fail(s, op,
                                 op->code == OP_WAIT
                                     ? "threads have copied into the slot, and products read it: it needs `fence`"
                                     : "threads have stored into the slot: it needs `fence`");
        if (arrive && !proves) op_set(s->k, op, (Attr){.id = AT_ARRIVE, .word = arrive});
        if (fence && !proves) op_set(s->k, op, (Attr){.id = AT_FENCE, .number = 1});
        for (int i = 0; i < op->region_count; i++)
            if (!settle_copies(s, r, op->regions[i], proves)) return false;
    }
    return true;
}

/* --- what fits --- */
static int64_t bytes_of(const Schedule *s, const RingSchedule *r) {
    return r->bytes * (r->fused && r->each ? s->gang.programs : r->slots);
}

static int64_t total_bytes(const Schedule *s, int64_t other) {
    int64_t bytes = other;
    for (size_t i = 0; i < s->rings.count; i++) {
        const RingSchedule *r = &s->rings.at[i];
        bytes += bytes_of(s, r) + (r->fused ? 0 : 2 * s->cx->machine->barrier_bytes * r->slots);
    }
    return bytes + s->cx->machine->tile_align; /* what lies behind the barriers starts at a multiple of that */
}

/* Fewer slots for the largest ring that keeps so many; false: there is none. */
static bool shrink_to(Schedule *s, int least) {
    RingSchedule *largest = NULL;
    for (size_t i = 0; i < s->rings.count; i++) {
        RingSchedule *r = &s->rings.at[i];
        if (r->slots > least && !r->each && (!largest || r->bytes * r->slots > largest->bytes * largest->slots))
            largest = r;
    }
    if (!largest) return false;
    if (--largest->slots < largest->hold) largest->hold = largest->slots;
    return true;
}

/* The second slot is what lets loads run ahead: it goes last. */
static bool shrink(Schedule *s) { return shrink_to(s, 2) || shrink_to(s, 1); }

/* What comes once a task (queries) comes under the task before where it has a second slot, and what the loops of its
 * task load can follow: for each such ring that memory holds without putting out a second block. */
static void deepen(Schedule *s, int64_t other) {
    int64_t two = machine_room(s->cx->machine, 2), room = total_bytes(s, other) <= two && two < s->room ? two : s->room;
    for (size_t i = 0; i < s->rings.count && op_flag(s->tasks, AT_PERSIST); i++) {
        RingSchedule *r = &s->rings.at[i];
        int own = r->each ? s->gang.programs : 1;
        if (r->fused || !r->tma_puts || r->copy_puts || r->store_puts || r->slots != own ||
            fills_in_loop(r->from->regions[0], r->op->results[0], false))
            continue;
        r->slots += own;
        if (total_bytes(s, other) > room) r->slots -= own;
    }
}

static Word means_of(const RingSchedule *r) {
    if (r->fused) return r->ahead ? MEANS_ASYNC : MEANS_BUFFER;
    if (!r->tma_puts && !r->copy_puts) return MEANS_STORES;
    if (!r->store_puts && !(r->tma_puts && r->copy_puts)) return r->tma_puts ? MEANS_TMA : MEANS_COPIES;
    return MEANS_MIXED;
}

/* --- findings --- */
static void say_slots(const Schedule *s, const RingSchedule *r) {
    const Machine *machine = s->cx->machine;
    int planned = (int)op_int(r->op, AT_SLOTS, 1), asked = (int)op_int(r->op, AT_ASKED, r->wanted);
    if (r->of) {
        pass_find(s->cx, r->op->range, FIND_RING_HALVES, r->wanted, r->of);
        asked = planned = r->wanted;
    }
    if (r->slots < asked)
        pass_find(s->cx, r->op->range, FIND_RING_FEWER_SLOTS, asked, r->slots, (long long)s->room);
    else if (r->slots > asked && op_attr(r->op, AT_ASKED))
        pass_find(s->cx, r->op->range, FIND_RING_DEEPER, r->slots, asked,
                  (long long)ring_trip_cost(s->k, ring_taking_loop(r->to->regions[0], r->op->results[0])).clocks,
                  machine->cost.copy_clocks);
    else if (r->store_puts && planned > asked)
        pass_find(s->cx, r->op->range, FIND_RING_BY_THREADS, r->slots);
}

static void say_place(const Schedule *s, const RingSchedule *r) {
    const Machine *machine = s->cx->machine;
    static const char *const mixed[] = {"by TMA and stores", "by stores and cp.async", "by TMA and cp.async",
                                        "by TMA, stores and cp.async"};
    static const char *const how[] = {[MEANS_COPIES - MEANS_TMA] = "by cp.async",
                                      [MEANS_ASYNC - MEANS_TMA] = "by cp.async, ahead",
                                      [MEANS_BUFFER - MEANS_TMA] = "a buffer of one role",
                                      [MEANS_STORES - MEANS_TMA] = "by stores",
                                      [MEANS_TMA - MEANS_TMA] = "by TMA"};
    Word means = means_of(r);
    int kinds = !r->copy_puts ? 0 : !r->tma_puts ? 1 : !r->store_puts ? 2 : 3;
    pass_find(s->cx, r->op->range, FIND_RING_PLACED, r->slots, r->slots == 1 ? "" : "s", (long long)r->bytes,
              (long long)r->at,
              means == MEANS_MIXED                                   ? mixed[kinds]
              : r->ahead && machine->cost.puts_late && !r->copy_puts
                  ? (r->slots > 1 ? "through registers, ahead" : "through registers")
              : means == MEANS_ASYNC && machine->wave_copy_bytes ? "by copies of whole warps, ahead"
                                                                 : how[means - MEANS_TMA]);
}

/* --- attributes --- */
static void set_number(const Schedule *s, Op *op, AttrId id, int64_t number, int64_t otherwise) {
    op_drop(op, id);
    if (number != otherwise) op_set(s->k, op, (Attr){.id = id, .number = number});
}

static void set_list(const Schedule *s, Op *op, AttrId id, const int64_t *numbers, int count) {
    int64_t *kept = ARENA_ARRAY(s->k->module->arena, int64_t, count);
    for (int i = 0; i < count; i++) kept[i] = numbers[i];
    op_set(s->k, op, (Attr){.id = id, .list = {count, kept}});
}

static void write_ring(const Schedule *s, const RingSchedule *r) {
    Op *op = r->op;
    set_number(s, op, AT_SLOTS, r->slots, 0);
    set_number(s, op, AT_HOLD, r->hold, 1);
    op_set(s->k, op, (Attr){.id = AT_MEANS, .word = means_of(r)});
    set_number(s, op, AT_AT, r->at, -1);
    set_number(s, op, AT_SLOT_BYTES, r->bytes, -1);
    set_list(s, op, AT_FIELDS, r->field_at, ir_type(s->k, op->results[0])->field_count);
    if (!r->fused) {
        set_list(s, op, AT_BARRIERS, (int64_t[]){r->full, r->empty}, 2);
        set_list(s, op, AT_COUNTS, (int64_t[]){r->full_count, r->empty_count}, 2);
    }
    set_number(s, op, AT_PARTS, r->parts, 0);
    set_number(s, op, AT_LEAVES, r->leaves, 0);
    set_number(s, op, AT_SOLO, r->solo, 0);
    set_number(s, op, AT_PAIRED, r->paired, 0);
    set_number(s, op, AT_EACH, r->each, 0);
    set_number(s, op, AT_LANES, r->lanes, 0);
}

static bool plan_each(Schedule *s) {
    for (Op *op = s->k->body->first; op; op = op->next)
        if (op->code == OP_RING && !plan_ring(s, op)) return false;
    for (size_t i = 0; i < s->rings.count; i++)
        if (schedule_is_single(s, s->rings.at[i].from)) s->rings.at[i].full_count = 1;
    return true;
}

/* What comes through registers is there when the trip ends that issues it (schedule_late.c): its ring has the slots of
 * that trip and of the next one. More would hold what has come too early. */
static void halve(Schedule *s) {
    for (size_t i = 0; i < s->rings.count; i++) {
        RingSchedule *r = &s->rings.at[i];
        if (!s->cx->machine->cost.puts_late || !r->ahead || r->copy_puts || !r->store_puts) continue;
        int both = 2 * ring_acquires(r->from->regions[0], r->op->results[0]);
        if (r->wanted <= both) continue;
        r->of = r->wanted;
        r->wanted = both;
        if (r->slots > both) r->slots = both;
    }
}

bool schedule_rings(Schedule *s, int64_t other) {
    s->rings.count = 0;
    if (!plan_each(s)) return false;
    halve(s);
    while (total_bytes(s, other) > s->room && shrink(s)) {}
    if (total_bytes(s, other) <= s->room) deepen(s, other);
    s->bytes = 0;
    for (size_t i = 0; i < s->rings.count; i++) {
        s->rings.at[i].at = s->bytes;
        s->bytes += bytes_of(s, &s->rings.at[i]);
    }
    for (size_t i = 0; i < s->rings.count; i++) {
        RingSchedule *r = &s->rings.at[i];
        if (r->fused) continue;
        r->full = s->bytes;
        r->empty = r->full + s->cx->machine->barrier_bytes * r->slots;
        s->bytes = r->empty + s->cx->machine->barrier_bytes * r->slots;
    }
    return true;
}

bool schedule_rings_among(Schedule *s) {
    s->rings.count = 0;
    if (!plan_each(s)) return false;
    halve(s);
    if (!schedule_place_among(s)) return false;
    while (s->bytes > s->room && shrink(s)) schedule_place_among(s);
    return true;
}

void schedule_write_rings(Schedule *s) {
    schedule_cluster(s);
    for (size_t i = 0; i < s->rings.count; i++) say_slots(s, &s->rings.at[i]);
    for (size_t i = 0; i < s->rings.count; i++) {
        RingSchedule *r = &s->rings.at[i];
        if (!r->fused) {
            bool read = mark_releases(s, r, r->to->regions[0]);
            r->lanes = read && r->full_count > 1;
            if (r->lanes) r->empty_count *= s->cx->machine->lanes;
            announce(s, r, r->from->regions[0]);
            settle_copies(s, r, r->from->regions[0], false);
            settle_copies(s, r, r->to->regions[0], false);
        }
        say_place(s, r);
        write_ring(s, r);
    }
}

/* --- a schedule that came as text --- */
static bool has_list(const Op *op, AttrId id, const int64_t *wanted, int count) {
    const Attr *list = op_attr(op, id);
    bool same = list && list->list.count == count;
    for (int i = 0; same && wanted && i < count; i++) same = list->list.at[i] == wanted[i];
    return same;
}

static bool traffic_holds(Schedule *s, const RingSchedule *r, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        bool put = op->code == OP_PUT && hand_ring(s->k, op) == r->op->results[0];
        if (put && op_int(op, AT_COPIED, 0) != bytes_by_tma(s->k, r, op))
            return schedule_fail(s, op, "`bytes` are not those that TMA brings");
        for (int i = 0; i < op->region_count; i++)
            if (!traffic_holds(s, r, op->regions[i])) return false;
    }
    return true;
}

static bool fences_hold(Schedule *s, const RingSchedule *r, const Region *region, bool *any) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_RELEASE && op->operands[0] == r->op->results[0] && acts_before(s, r, op)) {
            *any = true;
            if (!op_flag(op, AT_FENCE)) return schedule_fail(s, op, "threads have read the slot: it needs `fence`");
        }
        for (int i = 0; i < op->region_count; i++)
            if (!fences_hold(s, r, op->regions[i], any)) return false;
    }
    return true;
}

static bool ring_holds(Schedule *s, RingSchedule *r) {
    const Op *op = r->op;
    bool read = false;
    if (op_word(op, AT_MEANS, WORD_NONE) != means_of(r)) return schedule_fail(s, op, "`by` is not how it is filled");
    if (!op_attr(op, AT_AT) || op_int(op, AT_SLOT_BYTES, -1) != r->bytes ||
        op_int(op, AT_AT, 0) % s->cx->machine->tile_align ||
        !has_list(op, AT_FIELDS, r->field_at, ir_type(s->k, op->results[0])->field_count))
        return schedule_fail(s, op, "`at`, `bytes` and `fields` do not say where its slots and their fields lie");
    if (op_flag(op, AT_EACH) != r->each || op_flag(op, AT_LEAVES) != r->leaves || op_int(op, AT_PARTS, 0) != r->parts)
        return schedule_fail(s, op, "`each`, `leaves` or `parts` is not what its roles do with it");
    if (op_attr(op, AT_SOLO) && op_int(op, AT_SOLO, 0) != r->solo)
        return schedule_fail(s, op,
                             "`solo`: warpgroups store rows by themselves that are never another's, in a loop, and the "
                             "first of their barriers is one that nobody else has");
    if (r->fused) return op_int(op, AT_SLOTS, 1) == 1 || r->ahead || schedule_fail(s, op, "a buffer has one slot");
    if (!fences_hold(s, r, r->to->regions[0], &read) || !traffic_holds(s, r, r->from->regions[0])) return false;
    if (!settle_copies(s, r, r->from->regions[0], true) || !settle_copies(s, r, r->to->regions[0], true)) return false;
    if (!s->cx->machine->barrier_bytes)
        return schedule_fail(s, op, "its roles would wait at barriers, which this machine does not have");
    r->lanes = read && r->full_count > 1;
    if (r->lanes) r->empty_count *= s->cx->machine->lanes;
    if (op_flag(op, AT_LANES) != r->lanes || !has_list(op, AT_BARRIERS, NULL, 2) ||
        op_attr(op, AT_BARRIERS)->list.at[0] % s->cx->machine->barrier_bytes ||
        op_attr(op, AT_BARRIERS)->list.at[1] % s->cx->machine->barrier_bytes ||
        !has_list(op, AT_COUNTS, (int64_t[]){r->full_count, r->empty_count}, 2))
        return schedule_fail(s, op, "`barriers`, `arrivals` and `lanes` do not say who waits for whom");
    return true;
}

bool schedule_rings_hold(Schedule *s) {
    bool above = true;
    for (Op *op = s->k->body->first; op; op = op->next) {
        above &= op != s->tasks;
        if (op->code != OP_RING) continue;
        if (!above || !s->tasks) return schedule_fail(s, op, "rings stand before `tasks`");
    }
    if (!plan_each(s)) return false;
    for (size_t i = 0; i < s->rings.count; i++)
        if (!ring_holds(s, &s->rings.at[i])) return false;
    return true;
}
