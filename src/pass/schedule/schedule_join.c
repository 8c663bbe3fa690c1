/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_join.c: products that are waited for when the next one has been issued.
 *
 * A product runs beside the threads that issue it. Who waits for each at once leaves the matrix units idle between two
 * products, and does nothing while they run:
 *
 *     s = dot k, q ; p = exp s ; wait do ; dv = dot p, do, dv0 ; dp = dot v, do ; release do ; ds = p * dp ;
 *     dk = dot ds, q, dk0 ; release q
 *  -> s = dot<joins> k, q ; wait do ; dp = dot<joins> v, do    s is waited for; dp runs under the exponentials
 *     p = exp s ; dv = dot<joins> p, do, dv0                   dp is waited for; dv runs under the arithmetic
 *     ds = p * dp ; dk = dot ds, q, dk0 ; release do ; release q
 *
 * A product that needs nothing of an earlier one comes directly behind that (`hoist`), with what it waits for: all
 * that it passes is arithmetic, loads and other products, so hand-overs keep their order. Then a product joins the next
 * one of its region if nobody reads its sum up to there, and the slots that it reads are still held: their releases
 * move behind the next product, if only arithmetic lies between. Operands lie in registers or in slots that another
 * role fills, of rings with some to spare: other shared memory is used again in between.
 *
 * The next one may add to its sum, in place: products end in their order, so it is issued without a wait, and both are
 * waited for together (a complex product, or one along parts of K). Where that one runs on in turn, the first is not
 * done behind it, so that its slots have to be held to the end of the region.
 *
 * Turned loops, and products in flight over the end of a trip, have an order of their own (schedule_turn.c,
 * schedule_flight.c). */
#include "analysis/sums.h"
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"
#include "pass/schedule/text_order.h"

bool schedule_is_plain(const Op *op) {
    bool reads = op->code == OP_TLOAD || op->code == OP_LOAD;
    if (op->code == OP_DOT || op_flag(op, AT_VOLATILE) || op_attr(op, AT_AT)) return false;
    if (!reads && !op->region_count && !op_has(op->code, TRAIT_PURE)) return false;
    if (op->region_count && op->code != OP_IF) return false;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (inner->code != OP_YIELD && !schedule_is_plain(inner)) return false;
    return true;
}

static bool runs_beside(const Schedule *s, const Op *op) {
    return op->code == OP_DOT && schedule_is_async(s, op) && !op_flag(op, AT_FLIGHT);
}

/* May another product join it? One that stays in flight waits for that, not for itself. */
static bool is_joined(const Schedule *s, const Op *op) {
    return runs_beside(s, op) || (schedule_is_async(s, op) && op_flag(op, AT_FLIGHT));
}

static Op *next_dot(const Op *op) {
    Op *next = op->next;
    while (next && next->code != OP_DOT) next = next->next;
    return next;
}

/* --- where operands lie --- */
/* The slot that the operand lies in; NULL: it lies elsewhere. */
static const Op *get_of(const Kernel *k, Ref operand) {
    const Op *from = ir_value(k, operand)->op;
    while (from && from->code == OP_PERMUTE) from = ir_value(k, from->operands[0])->op;
    return from && from->code == OP_GET ? from : NULL;
}

static bool gives_back(const Kernel *k, const Op *op, const Op *dot) {
    for (int i = 0; op->code == OP_RELEASE && i < 2; i++) {
        const Op *get = get_of(k, dot->operands[i]);
        if (get && hand_ring(k, get) == hand_ring(k, op)) return true;
    }
    return false;
}

/* Does the operand lie in registers, or in a slot that another role fills? One that is waited for earlier and given
 * back later is held for most of a trip: with two slots nothing would be loaded meanwhile (attention's gradients of 128
 * columns took 3 % longer). What was there before the loop is loaded no more. */
static bool lies_apart(const Schedule *s, const Op *dot) {
    for (int i = 0; i < 2; i++) {
        const Op *get = get_of(s->k, dot->operands[i]), *ring = get ? hand_ring_op(s->k, get) : NULL;
        if (!schedule_in_shared(s->k, dot->operands[i])) continue;
        if (!ring || ring_is_fused(ring)) return false;
        if (get->parent == dot->parent && op_int(ring, AT_SLOTS, 1) < s->cx->machine->cost.enough_slots) return false;
    }
    return true;
}

/* --- products that come earlier --- */
/* Marks what stands between the two products and the second needs; false: it needs the first, or arithmetic. */
static bool gather(const Schedule *s, const Op *first, const Op *second, Ref ref, uint8_t *moves) {
    const Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    const Op *at = first;
    if (op == first) return false;
    while (at != second && at != op) at = at->next;
    if (at != op || op == NULL || at == second || moves[ref]) return true; /* it stands before */
    bool hands = op->code == OP_GET || op->code == OP_WAIT;
    if ((!hands && !op_has(op->code, TRAIT_PURE)) || op->region_count || op->result_count != 1) return false;
    if (!hands && !schedule_in_shared(s->k, ref) && !tile_is_number(s->k, ref)) return false; /* arithmetic */
    moves[ref] = 1;
    for (int i = 0; i < op->operand_count; i++)
        if (!gather(s, first, second, op->operands[i], moves)) return false;
    return true;
}

/* Do the sums of all products of the region, and what is made of the first, leave registers for the rest? */
static bool has_room(const Schedule *s, const Op *first) {
    return layout_words(s->k, first->results[0]) + sum_words(s->k, first->parent, SUM_AS_IT_IS) <=
           s->cx->machine->cost.joined_registers;
}

/* The second product directly behind the first; false: it stays. */
static bool hoist(Schedule *s, Op *first, Op *second) {
    uint8_t *moves = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count);
    if (!lies_apart(s, first) || !lies_apart(s, second) || !has_room(s, first)) return false;
    for (int i = 0; i < second->operand_count; i++)
        if (!gather(s, first, second, second->operands[i], moves)) return false;
    for (const Op *op = first->next; op != second; op = op->next)
        if (!(op->result_count && moves[op->results[0]]) && !schedule_is_plain(op) && !runs_beside(s, op)) return false;
    Op *before = first->next;
    for (Op *op = first->next, *after; op != second; op = after) {
        after = op->next;
        if (!op->result_count || !moves[op->results[0]]) continue;
        if (op == before)
            before = op->next;
        else
            ir_move(op, first->parent, before);
    }
    if (second != before) ir_move(second, first->parent, before);
    return true;
}

/* --- products that run up to the next one --- */
/* Does the second product add to the sum of the first, by the same instruction? Nobody else reads that. */
static bool continues(const Schedule *s, const Op *dot, const Op *end) {
    Elem elem = ir_type(s->k, dot->operands[0])->elem;
    if (end->operands[2] != dot->results[0] || s->uses[dot->results[0]] != 1) return false;
    if (ir_type(s->k, end->operands[0])->elem != elem) return false;
    if (op_attr(dot, AT_PROMOTE) || op_attr(end, AT_PROMOTE)) return false;
    bool runs_on = op_flag(end, AT_JOINS) || op_flag(end, AT_FLIGHT);
    for (const Op *op = dot->next; runs_on && op; op = op->next)
        if (gives_back(s->k, op, dot)) return false;
    return true;
}

/* Can it run on up to that product? With `moves` releases of its slots may move behind it. */
static bool can_run_to(const Schedule *s, const Op *dot, const Op *end, bool moves) {
    bool waits = false;
    if (!lies_apart(s, dot)) return false;
    for (const Op *op = end;; op = op->previous) {
        if (op == dot) return true;
        if (ir_op_uses(op, dot->results[0]) && !(op == end && continues(s, dot, end))) return false;
        waits |= op->code == OP_WAIT || op->code == OP_ACQUIRE;
        if (gives_back(s->k, op, dot) && (!moves || waits)) return false;
        bool hands = op->code == OP_RELEASE || op->code == OP_WAIT || op->code == OP_GET;
        if (hands ? ring_is_fused(hand_ring_op(s->k, op)) : op->code != OP_DOT && !schedule_is_plain(op)) return false;
    }
}

static void join(Schedule *s, Op *dot, Op *end) {
    for (Op *op = dot->next, *after; op != end; op = after) {
        after = op->next;
        if (gives_back(s->k, op, dot)) ir_move(op, dot->parent, end->next);
    }
    op_set(s->k, dot, (Attr){.id = AT_JOINS, .number = 1});
}

static bool is_turned(const Region *region) {
    return region->owner && loop_is_turned(region->owner);
}

static void plan_region(Schedule *s, Region *region) {
    if (is_turned(region)) return;
    for (Op *op = region->first; op; op = op->next) {
        Op *next = runs_beside(s, op) ? next_dot(op) : NULL;
        while (next && runs_beside(s, next) && !hoist(s, op, next)) next = next_dot(next);
    }
    for (Op *op = region->last; op; op = op->previous) {
        Op *next = runs_beside(s, op) ? next_dot(op) : NULL;
        if (!next || !is_joined(s, next)) continue;
        if (can_run_to(s, op, next, true)) join(s, op, next);
    }
}

static void plan_op(Op *op, void *user) {
    for (int i = 0; i < op->region_count; i++) plan_region(user, op->regions[i]);
}

void schedule_join(Schedule *s) {
    plan_region(s, s->k->body);
    ir_walk(s->k->body, plan_op, s);
}

bool schedule_join_holds(Schedule *s, const Op *dot) {
    const Op *end = next_dot(dot);
    return (end && runs_beside(s, dot) && is_joined(s, end) && !is_turned(dot->parent) &&
            can_run_to(s, dot, end, false)) ||
           schedule_fail(s, dot,
                         "a product `joins` the next one of its region where both run beside the threads, nobody reads "
                         "its sum before (but that one may add to it, in place), and the slots that it reads, which "
                         "another role fills and has more of, are held up to there");
}
