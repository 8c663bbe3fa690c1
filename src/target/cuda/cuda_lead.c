/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_lead.c: loops whose first products are issued a trip early, under the arithmetic of the trip before.
 *
 * The pass `schedule` says which loops (`leads`), which products and waits come a trip early (`ahead`), behind which
 * ops, and which releases a trip late (`behind`: pass/schedule/schedule_lead.c); this writes them:
 *
 *     if (lo < hi) {
 *         wait q, g ; issue s, t ; wait for both ; now = slots
 *         for (j = lo; j < hi - 1; j++) {
 *             x = s - l ; y = t - e
 *             wait q, g ; issue s, t ; next = slots              those of the next trip
 *             tw_wgmma_wait(2) ; release was                     the last trip's sums are done
 *             p = f(x) ; issue a += p g[now] ; d = p * y ; issue b += d q[now]
 *             tw_wgmma_wait(2) ; was = now ; now = next          s and t are done
 *         }
 *         { const j = hi - 1 ; the same without s, t of a next trip ; tw_wgmma_wait(0) ; release now }
 *     }
 *
 * What goes from trip to trip are the loop's carried values, the sums of the products that come early and the numbers
 * of the slots, which all threads of a warp have in common (cuda_trail.c). */
#include "target/cuda/cuda_emit.h"

typedef struct Slots {
    const Op *op;                 /* the wait */
    const char *next, *now, *was; /* by trip; no `was`: its release comes in its own trip */
} Slots;

typedef struct Leading {
    Emit *e;
    const Op *loop;
    const Region *body;
    LeadingLoop parts;
    VEC(Slots) slots;
    Map sums; /* head or tail -> its array, where that outlives a trip */
    int ahead, tails;
} Leading;

static const char *sum_of(const Leading *l, const Op *dot) {
    const MapEntry *entry = map_find_number(&l->sums, (uintptr_t)dot);
    return entry ? entry->value : NULL;
}

static bool is_ahead(const Op *op) { return op_attr(op, AT_AHEAD) != NULL; }
static bool is_tail(const Op *op) { return op->code == OP_DOT && op_flag(op, AT_FLIGHT); }

static void settle(const Leading *l, const char *sum) { cs_line(&l->e->p, "tw_wgmma_settle(%s);", sum); }

/* --- slots --- */
static void take_slots(Leading *l) {
    Emit *e = l->e;
    for (const Op *op = l->body->first; op != l->parts.first; op = op->next)
        if (op->code == OP_WAIT)
            *VEC_PUSH(&l->slots, e->arena) = (Slots){op, cs_fresh(&e->p, "next"), cs_fresh(&e->p, "now"), NULL};
    for (size_t i = 0; i < l->slots.count; i++) {
        Slots *slot = &l->slots.at[i];
        for (const Op *op = l->parts.releases; op != l->body->last; op = op->next)
            if (op->operands[1] == slot->op->results[0]) slot->was = cs_fresh(&e->p, "was");
        cs_line(&e->p, "u32 %s, %s;", slot->next, slot->now);
        if (slot->was) cs_line(&e->p, "i32 %s = -1;", slot->was);
    }
}

/* The slots that the tails of the trip before read, or (`last`) those of this trip. */
static void give_back(const Leading *l, bool last) {
    Emit *e = l->e;
    for (const Op *release = l->parts.releases; release != l->body->last; release = release->next)
        for (size_t i = 0; i < l->slots.count; i++) {
            const Slots *slot = &l->slots.at[i];
            if (release->operands[1] != slot->op->results[0]) continue;
            RingPlan *r = ring_find(e, release->operands[0]);
            ring_show_read(e, r, release);
            cluster_arrive(e, r, last ? NULL : ex(e->arena, "%s >= 0", slot->was),
                           ex_name(e->arena, last ? slot->now : slot->was));
        }
}

/* --- products --- */
/* Where the operand lies in the slots as they are called now. */
static void write_view(const Leading *l, Ref operand) {
    const Op *op = ref_is_value(operand) ? ir_value(l->e->k, operand)->op : NULL;
    if (!op || op->parent != l->body || emit_layout(l->e, operand)->home != HOME_SHARED) return;
    if (op->code == OP_PERMUTE) write_view(l, op->operands[0]);
    emit_ops(l->e, op, op->next);
}

/* How many slots are waited for when the operand is there: they come in their order. */
static size_t slots_of(const Leading *l, Ref operand) {
    const Op *op = ref_is_value(operand) ? ir_value(l->e->k, operand)->op : NULL;
    while (op && op->code == OP_PERMUTE) op = ir_value(l->e->k, op->operands[0])->op;
    for (size_t i = 0; op && op->code == OP_GET && i < l->slots.count; i++)
        if (l->slots.at[i].op->results[0] == op->operands[0]) return i + 1;
    return 0;
}

static void wait_for(const Leading *l, size_t from, size_t until) {
    Emit *e = l->e;
    cuda_of(e)->trails = true;
    for (size_t i = from; i < until; i++) {
        const Slots *slot = &l->slots.at[i];
        emit_ops(e, slot->op, slot->op->next);
        cs_line(&e->p, "%s = %p;", slot->next, emit_hold(e, slot->op->results[0])->by);
    }
    cuda_of(e)->trails = false;
}

/* Items of a trip are waited for, and the products that come early are issued. Slots and views are called as before
 * then. */
static void issue_heads(const Leading *l) {
    Emit *e = l->e;
    VEC(Hold) kept = {0};
    for (const Op *op = l->body->first; op != l->parts.first; op = op->next)
        for (int i = 0; i < op->result_count; i++) *VEC_PUSH(&kept, e->arena) = *emit_hold(e, op->results[i]);
    emit_block(e);
    size_t waited = 0;
    for (const Op *head = l->parts.first; head != l->parts.rest; head = head->next) {
        if (!is_ahead(head)) continue;
        for (int i = 0; i < 2; i++) {
            size_t needed = slots_of(l, head->operands[i]);
            if (needed > waited) wait_for(l, waited, needed), waited = needed;
        }
        write_view(l, head->operands[0]);
        write_view(l, head->operands[1]);
        sync_before(e, head);
        dot_issue_at(e, head, sum_of(l, head));
    }
    wait_for(l, waited, l->slots.count);
    cs_close(&e->p);
    size_t at = 0;
    for (const Op *op = l->body->first; op != l->parts.first; op = op->next)
        for (int i = 0; i < op->result_count; i++, at++)
            emit_set(e, op->results[i], kept.at[at].kind, kept.at[at].by);
}

/* Sums that are still read when the next ones are written. */
static void keep_sums(const Leading *l) {
    Emit *e = l->e;
    for (const Op *head = l->parts.first; head != l->parts.rest; head = head->next) {
        bool read = false;
        for (const Op *op = l->parts.issue; op && is_ahead(head); op = op->next)
            read |= ir_op_uses(op, head->results[0]);
        if (!read) continue;
        const char *kept = cs_fresh(&e->p, "kept");
        int registers = emit_layout(e, head->results[0])->registers;
        cs_line(&e->p, "%s %s[%d];", emit_array_type(e, ir_type(e->k, head->results[0])), kept, registers);
        emit_unroll(e, "r", registers, 1);
        cs_line(&e->p, "%s[r] = %s[r];", kept, sum_of(l, head));
        cs_close(&e->p);
        emit_set_name(e, head->results[0], HOLD_ARRAY, kept);
    }
}

/* --- a trip --- */
/* All ops of its own trip before the heads, and the heads that come with it. */
static void begin_trip(Leading *l) {
    Emit *e = l->e;
    const Op *from = l->body->first;
    for (size_t i = 0; i < l->slots.count; i++) {
        const Slots *slot = &l->slots.at[i];
        emit_set(e, slot->op->results[0], HOLD_SLOT, ex_name(e->arena, slot->now));
        emit_ops(e, from, slot->op);
        from = slot->op->next;
    }
    emit_ops(e, from, l->parts.first);
    for (const Op *head = l->parts.first; head != l->parts.rest; head = head->next) {
        if (is_ahead(head)) {
            emit_set_name(e, head->results[0], HOLD_ARRAY, sum_of(l, head));
            continue;
        }
        sync_before(e, head);
        dot_issue(e, head);
    }
}

static bool reads_head(const Leading *l, const Op *op) {
    bool reads = false;
    for (const Op *head = l->parts.first; head != l->parts.rest; head = head->next)
        reads |= ir_op_uses(op, head->results[0]);
    return reads;
}

/* What comes before the next heads are issued. What is made of a sum is settled before that is written over: left to
 * themselves compilers compute it where it is used, and copy the sum. */
static void write_front(const Leading *l, bool last) {
    const Op *from = l->parts.rest;
    for (const Op *op = from; op != l->parts.issue && !last; op = op->next) {
        if (!reads_head(l, op)) continue;
        emit_ops(l->e, from, op->next);
        settle(l, emit_hold(l->e, op->results[0])->by->text);
        from = op->next;
    }
    emit_ops(l->e, from, l->parts.issue);
}

/* The sums of the trip before are done, and the heads that came with this one. */
static void end_earlier(const Leading *l, int others) {
    Emit *e = l->e;
    cs_line(&e->p, "tw_wgmma_wait(%d);", others);
    for (const Op *op = l->parts.first; op != l->body->last; op = op->next) {
        if (is_tail(op)) settle(l, sum_of(l, op));
        if (op->code == OP_DOT && !is_tail(op) && !is_ahead(op)) settle(l, emit_hold(e, op->results[0])->by->text);
    }
}

static void write_rest(Leading *l) {
    Emit *e = l->e;
    const Op *from = l->parts.settle;
    for (const Op *op = from; op != l->parts.releases; op = op->next) {
        if (!is_tail(op)) continue;
        emit_ops(e, from, op);
        cs_place(&e->p, op->range);
        dot_issue_at(e, op, sum_of(l, op));
        emit_set_name(e, op->results[0], HOLD_ARRAY, sum_of(l, op));
        from = op->next;
    }
    emit_ops(e, from, l->parts.releases);
}

static void pass_slots(const Leading *l, bool first) {
    for (size_t i = 0; i < l->slots.count; i++) {
        const Slots *slot = &l->slots.at[i];
        if (slot->was && !first) cs_line(&l->e->p, "%s = (i32)%s;", slot->was, slot->now);
        cs_line(&l->e->p, "%s = %s;", slot->now, slot->next);
    }
}

static void write_trip(Leading *l, bool last) {
    Emit *e = l->e;
    begin_trip(l);
    write_front(l, last);
    if (!last) {
        keep_sums(l);
        issue_heads(l);
    }
    emit_ops(e, l->parts.issue, l->parts.settle);
    end_earlier(l, last ? 0 : l->ahead);
    give_back(l, false);
    write_rest(l);
    cs_line(&e->p, "tw_wgmma_wait(%d);", last ? 0 : l->tails);
    for (const Op *op = l->parts.first; op != l->body->last; op = op->next)
        if (op->code == OP_DOT && (last ? is_tail(op) : is_ahead(op))) settle(l, sum_of(l, op));
    if (last)
        give_back(l, true);
    else
        pass_slots(l, false);
    trips_carry(e, l->loop);
}

/* Sums that outlive a trip: those of the heads that come early get arrays of their own, the tails' are carried. */
static void name_sums(Leading *l) {
    Emit *e = l->e;
    for (const Op *op = l->parts.first; op != l->body->last; op = op->next) {
        const char *name = NULL;
        if (is_tail(op))
            name = emit_hold(e, op->operands[2])->by->text, l->tails++;
        else if (op->code == OP_DOT && is_ahead(op))
            name = emit_declare(e, op->results[0]), l->ahead++;
        if (name) map_put_number(&l->sums, e->arena, (uintptr_t)op, (void *)name);
    }
}

/* All of them before the loop, with nothing in flight: compilers would write a sum of zeros again where it is first
 * needed, under a product, and then wait for each product. */
static void settle_all(const Leading *l) {
    for (const Op *op = l->parts.first; op != l->body->last; op = op->next)
        if (op->code == OP_DOT && sum_of(l, op)) settle(l, sum_of(l, op));
}

void lead_emit(Emit *e, const Op *loop) {
    Leading l = {.e = e, .loop = loop, .body = loop->regions[0], .parts = leading_parts(loop)};
    Trips trips = trips_open(e, loop);
    const Expr *end = ex(e->arena, "%p - 1", trips.hi);
    name_sums(&l);
    take_slots(&l);
    issue_heads(&l);
    cs_line(&e->p, "tw_wgmma_wait(0);");
    settle_all(&l);
    pass_slots(&l, true);
    trips_each(&trips, trips.lo, end);
    write_trip(&l, false);
    trips_end(&trips);
    trips_one(&trips, end);
    write_trip(&l, true);
    trips_end(&trips);
    trips_close(&trips);
}
