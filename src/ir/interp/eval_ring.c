/* SPDX-License-Identifier: Apache-2.0 */
/* eval_ring.c: rings as counters and records.
 *
 * Item i lives in slot i mod N. A party is one process that works on the ring: producers count what
 * they acquired and committed, consumers what they waited for and released. An item is full when
 * all producers have committed it, its slot empty again when all consumers have released it; then
 * its fields are poisoned, and a view of them that is still used is reported. A record's fields are
 * fresh cells for each item, so a late reader never sees the next one.
 *
 * life=kernel: only the first item exists; later acquires, puts, commits and releases do nothing. */
#include "ir/interp/interp_core.h"
#include "ir/ringform.h"

static int64_t least(const Party *parties, int count, bool given) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < count; i++) {
        int64_t n = given ? parties[i].given : parties[i].taken;
        if (n < least) least = n;
    }
    return least;
}
static int64_t committed(const RingState *r) {
    return r->use->producers ? least(r->producers, r->use->producers, true) : 0;
}
static int64_t released(const RingState *r) { return least(r->consumers, r->use->consumers, true); }

bool ring_ready(const Wait *wait) {
    const RingState *r = wait->ring;
    if (wait->kind == WAIT_FULL) return r->consumers[wait->party].taken < committed(r);
    int64_t freed = released(r);
    return freed == INT64_MAX || r->producers[wait->party].taken - freed < r->slots;
}

int64_t ring_item(const Wait *wait) {
    const RingState *r = wait->ring;
    return (wait->kind == WAIT_FULL ? r->consumers : r->producers)[wait->party].taken;
}

static void add_counts(Text *out, const Party *parties, int count, const char *taken, const char *given) {
    for (int i = 0; i < count; i++)
        text_add(out, "%s%s %lld, %s %lld", out->length ? ", " : "", taken, (long long)parties[i].taken, given,
                 (long long)parties[i].given);
}

const char *ring_counters(Interp *in, const RingState *r) {
    Text out = text_new(&in->arena);
    add_counts(&out, r->producers, r->use->producers, "acquired", "committed");
    add_counts(&out, r->consumers, r->use->consumers, "waited for", "released");
    text_add(&out, ", slots %lld", (long long)r->slots);
    return out.at;
}

void eval_ring(Process *p, Step *s) {
    Interp *in = p->in;
    RingState *r = p->instance->rings[s->index];
    if (!r) {
        Ref ref = s->op->results[0];
        const Value *value = ir_value(in->kernel, ref);
        r = p->instance->rings[s->index] = ARENA_NEW(&in->arena, RingState);
        r->use = &in->uses[s->index];
        r->step = s;
        r->type = value->type;
        r->name = value->name ? value->name : arena_printf(&in->arena, "%u", ref);
        r->slots = op_int(s->op, AT_SLOTS, 1);
        if (r->slots < 1 || r->slots > 1024) ev_refuse(p, s, "a ring of fewer than 1 or more than 1024 slots");
        r->once = op_word(s->op, AT_LIFE, LIFE_TASK) == LIFE_KERNEL;
        r->producers = ARENA_ARRAY(&in->arena, Party, r->use->producers);
        r->consumers = ARENA_ARRAY(&in->arena, Party, r->use->consumers);
        r->items = ARENA_ARRAY(&in->arena, RingItem, r->slots);
        for (int64_t i = 0; i < r->slots; i++) {
            r->items[i].item = -1;
            r->items[i].fields = ARENA_ARRAY(&in->arena, Cell *, r->type->field_count);
        }
    }
    *(RingState **)ev_define(p, s, 0)->data = r;
}

static RingState *ring_of(Process *p, Step *s) { return *(RingState **)ev_operand(p, s, 0).data; }

/* The number of this process among the ring's producers or consumers. */
static int party_of(Process *p, const RingState *r, bool producer) {
    const int *counts = producer ? r->use->produce : r->use->consume;
    int role = p->role ? p->role->index : 0, at = 0;
    for (int i = 0; i < role; i++) at += counts[i];
    return at + (counts[role] > 1 ? (int)p->party : 0);
}

static Party *parties(Process *p, RingState *r, bool producer) {
    return &(producer ? r->producers : r->consumers)[party_of(p, r, producer)];
}

static void define_slot(Process *p, Step *s, RingState *r, int64_t item, bool producing) {
    *(SlotValue *)ev_define(p, s, 0)->data = (SlotValue){r, item, producing};
}

/* Drops what the slot holds; views of it that live on are dead. */
static void empty_slot(Interp *in, RingState *r, RingItem *slot) {
    for (int f = 0; f < r->type->field_count; f++) {
        Cell *cell = slot->fields[f];
        if (!cell) continue;
        value_poison(cell->data, r->type->fields[f].type);
        cell->released = true;
        cell_release(in, cell);
        slot->fields[f] = NULL;
    }
    slot->item = -1;
}

static RingItem *fill_slot(Interp *in, RingState *r, int64_t item) {
    RingItem *slot = &r->items[item % r->slots];
    if (slot->item == item) return slot;
    empty_slot(in, r, slot);
    slot->item = item;
    for (int f = 0; f < r->type->field_count; f++) {
        const Type *type = r->type->fields[f].type;
        Cell *cell = slot->fields[f] = cell_new(in, value_bytes(type));
        cell->pinned = true;
        cell->of = r;
        cell->item = item;
        int64_t n = ty_elements(type);
        memset(cell_shadow(in, cell, n), SHADOW_UNWRITTEN, (size_t)n);
    }
    return slot;
}

void eval_acquire(Process *p, Step *s) {
    RingState *r = ring_of(p, s);
    int number = party_of(p, r, true);
    Party *me = &r->producers[number];
    if (r->once && me->taken) {
        define_slot(p, s, r, 0, true);
        return;
    }
    process_wait(p, (Wait){.kind = WAIT_EMPTY, .step = s, .ring = r, .party = number});
    fill_slot(p->in, r, me->taken);
    define_slot(p, s, r, me->taken++, true);
}

static bool held(const Party *me, int64_t item) { return item >= me->given && item < me->taken; }

void eval_put(Process *p, Step *s) {
    SlotValue slot = *(SlotValue *)ev_operand(p, s, 0).data;
    RingState *r = slot.ring;
    Operand value = ev_operand_of(p, s, op_operand(s->op, 1));
    if (r->once && slot.producing && committed(r)) return;
    if (!slot.producing || !held(parties(p, r, true), slot.item)) {
        EV_REPORT(p, s, DIAG_RING_PUT, (long long)slot.item, r->name, report_process(p));
        return;
    }
    int f = hand_field(s->op);
    const Type *field = r->type->fields[f].type;
    Cell *cell = r->items[slot.item % r->slots].fields[f];
    int64_t offset = s->op->list_count[0] ? box_offset(p, s, op_list(s->op, 0), field, value.type) : 0;
    box_move(p->in, cell, field, offset, value.cell, value.type, true);
}

/* Every element of every field must have been put; the shadow knows which were not. */
static void check_fields(Process *p, Step *s, RingState *r, int64_t item) {
    RingItem *slot = &r->items[item % r->slots];
    for (int f = 0; f < r->type->field_count; f++) {
        Cell *cell = slot->fields[f];
        int64_t n = ty_elements(r->type->fields[f].type);
        bool sound = true;
        for (int64_t i = 0; i < n && sound; i++) sound = !(cell->shadow[i] & SHADOW_UNWRITTEN);
        if (!sound)
            EV_REPORT(p, s, DIAG_RING_FIELD, (long long)item, r->name, r->type->fields[f].name, report_process(p));
        bool other = false;
        for (int64_t i = 0; i < n && !other; i++) other = cell->shadow[i] != 0;
        if (!other) cell_drop_shadow(p->in, cell);
    }
}

static const char *why_not(const Party *me, int64_t item, const char *done, const char *begun) {
    return item < me->given ? done : item >= me->taken ? begun : "before one that comes first";
}

void eval_commit(Process *p, Step *s) {
    RingState *r = ring_of(p, s);
    SlotValue slot = *(SlotValue *)ev_operand(p, s, 1).data;
    Party *me = parties(p, r, true);
    if (r->once && me->given) return;
    if (!slot.producing || slot.ring != r || slot.item != me->given || !held(me, slot.item)) {
        const char *why = slot.ring != r    ? "of another ring"
                          : !slot.producing ? "which it holds as a consumer"
                                            : why_not(me, slot.item, "a second time", "not acquired");
        EV_REPORT(p, s, DIAG_RING_COMMIT, (long long)slot.item, r->name, why, report_process(p));
        return;
    }
    me->given++;
    if (committed(r) > slot.item) check_fields(p, s, r, slot.item);
    process_pause(p);
}

void eval_wait(Process *p, Step *s) {
    RingState *r = ring_of(p, s);
    int number = party_of(p, r, false);
    Party *me = &r->consumers[number];
    if (!r->once || !me->taken) {
        process_wait(p, (Wait){.kind = WAIT_FULL, .step = s, .ring = r, .party = number});
        me->taken++;
    }
    define_slot(p, s, r, me->taken - 1, false);
}

void eval_get(Process *p, Step *s) {
    SlotValue slot = *(SlotValue *)ev_operand(p, s, 0).data;
    RingState *r = slot.ring;
    int f = hand_field(s->op);
    if (slot.producing || !held(parties(p, r, false), slot.item)) {
        EV_REPORT(p, s, DIAG_RING_GET, (long long)slot.item, r->name, report_process(p));
        value_poison(ev_define(p, s, 0)->data, r->type->fields[f].type);
        return;
    }
    Cell *cell = r->items[slot.item % r->slots].fields[f];
    const Type *type = r->type->fields[f].type;
    if (op_flag(s->op, AT_COPY))
        box_move(p->in, cell, type, 0, ev_define(p, s, 0), type, false);
    else
        ev_assign(p, s->op->results[0], cell_retain(cell));
}

static void sweep(Interp *in, RingState *r) {
    int64_t freed = released(r);
    for (int64_t i = 0; i < r->slots; i++)
        if (r->items[i].item >= 0 && r->items[i].item < freed && r->items[i].item < committed(r))
            empty_slot(in, r, &r->items[i]);
}

void eval_release(Process *p, Step *s) {
    RingState *r = ring_of(p, s);
    SlotValue slot = *(SlotValue *)ev_operand(p, s, 1).data;
    Party *me = parties(p, r, false);
    if (r->once) return;
    if (slot.producing || slot.ring != r || slot.item != me->given || !held(me, slot.item)) {
        const char *why = slot.ring != r   ? "of another ring"
                          : slot.producing ? "which it holds as the producer"
                                           : why_not(me, slot.item, "a second time", "not waited for");
        EV_REPORT(p, s, DIAG_RING_RELEASE, (long long)slot.item, r->name, why, report_process(p));
        return;
    }
    me->given++;
    sweep(p->in, r);
    process_pause(p);
}

void eval_skip(Process *p, Step *s) {
    RingState *r = ring_of(p, s);
    int64_t n = ev_scalar(p, s, s->op->operands[1]);
    Party *me = parties(p, r, false);
    if (n < 0 || me->taken != me->given) ev_refuse(p, s, "a skip of fewer than 0 items, or beside a held one");
    me->taken += n;
    me->given += n;
    sweep(p->in, r);
    process_pause(p);
}

void ring_end(Interp *in, Instance *instance) {
    for (int i = 0; i < in->ring_count; i++) {
        RingState *r = instance->rings[i];
        if (!r) continue;
        int64_t made = committed(r);
        bool good = true;
        if (made == INT64_MAX) made = 0; /* nobody produces */
        for (int k = 0; k < r->use->producers; k++)
            good &= r->producers[k].taken == made && r->producers[k].given == made;
        for (int k = 0; k < r->use->consumers && !r->once; k++)
            good &= r->consumers[k].taken == made && r->consumers[k].given == made;
        good &= r->use->consumers > 0 || made == 0;
        if (!good) {
            diag_emit(in->diag, DIAG_RING_LEFT, r->step->op->range, r->name, ring_counters(in, r));
            in->failed = true;
        }
        for (int64_t k = 0; k < r->slots; k++) empty_slot(in, r, &r->items[k]);
        memset(r->producers, 0, (size_t)r->use->producers * sizeof(Party));
        memset(r->consumers, 0, (size_t)r->use->consumers * sizeof(Party));
    }
}
