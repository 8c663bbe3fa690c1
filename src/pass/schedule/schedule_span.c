/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_span.c: stores that leave under a product.
 *
 * The stores of a role that runs on compute's threads stand at the end of compute's turn (schedule_follow.c), behind
 * all of its products: threads wait for a product, and then memory for the threads. Their tile was there earlier. So a
 * store goes behind the first product that comes when its tile is there, and that is waited for when it has left:
 *
 *     for { put o, h ; commit ; d = dot w, h ; x = f(d) ; .. ; wait o ; h' = get o ; tstore h' ; release o }
 *  -> for { put o, h ; commit ; d = dot<spans> w, h ; wait o ; h' = get o ; tstore h' ; release o ; x = f(d) ; .. }
 *
 * A store that takes its tile from where the product reads it (layout_take.c) stands there already.
 *
 * No order of memory changes by that which was not proved: the source has the store where the tile is put, the cut has
 * shown that it may come as late as the end of the turn (ring_class.c), and here it comes in between. Stores keep the
 * order that they have among each other, and nothing that writes is passed. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/text_order.h"

/* May its threads do something else until it is waited for? */
static bool can_span(const Schedule *s, const Op *dot) {
    const Op *around = dot->parent->owner;
    return dot->code == OP_DOT && schedule_is_async(s, dot) && !op_flag(dot, AT_FLIGHT) && !op_flag(dot, AT_JOINS) &&
           !(around && loop_is_turned(around));
}

/* The product behind the op under which the store could leave; NULL: there is none before it. */
static Op *next_product(const Schedule *s, const Op *op, const Op *store) {
    for (Op *next = op->next; next && next != store; next = next->next)
        if (can_span(s, next)) return next;
    return NULL;
}

/* What fills the slot that is waited for; NULL: something else than this region does. */
static Op *commit_of(const Op *wait) {
    Op *op = wait->previous;
    while (op && !(op->code == OP_COMMIT && op->operands[0] == wait->operands[0])) op = op->previous;
    return op;
}

/* Only reads, arithmetic and hand-overs of items: a store that passes it stays where the source may have it. */
static bool can_be_passed(const Schedule *s, const Op *op) {
    if (op_flag(op, AT_VOLATILE)) return false;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (!can_be_passed(s, inner)) return false;
    if (op->region_count) return op->code == OP_IF || op->code == OP_FOR || op->code == OP_REDUCE;
    if (hand_over(op) == HAND_NONE || hand_over(op) == HAND_SKIP)
        return op->code == OP_YIELD || op->code == OP_TLOAD || op->code == OP_LOAD || op_has(op->code, TRAIT_PURE);
    return ir_type(s->k, hand_ring(s->k, op))->field_count != 0; /* else two roles meet there */
}

/* --- where it stores to --- */
static bool stands_between(const Op *op, const Op *first, const Op *end) {
    for (const Op *at = first; at != end; at = at->next)
        if (at == op) return true;
    return false;
}

/* Are the numbers that the value is made of behind the product made of what is there before it? */
static bool is_found_before(const Schedule *s, const Op *dot, const Op *wait, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    if (!op || !stands_between(op, dot, wait)) return true;
    const Type *type = ir_type(s->k, ref);
    bool number = op_has(op->code, TRAIT_ELEMENTWISE) && type->kind == TY_TILE && !type->rank;
    if (!number && (op->code != OP_TENSOR || op_flag(op, AT_MADE))) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_found_before(s, dot, wait, op->operands[i])) return false;
    return true;
}

static void move_before(Schedule *s, Op *dot, const Op *wait, Ref ref) {
    Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    if (!op || !stands_between(op, dot, wait)) return;
    for (int i = 0; i < op->operand_count; i++) move_before(s, dot, wait, op->operands[i]);
    if (stands_between(op, dot, wait)) ir_move(op, dot->parent, dot);
}

/* --- stores, one after the other --- */
/* The last of the stores that leave under the product already; itself, if there is none. */
static const Op *span_of(const Schedule *s, const Op *dot) {
    return op_flag(dot, AT_SPANS) ? dot_span(s->k, dot) : dot;
}

static bool can_leave_under(const Schedule *s, const Op *dot, const Op *wait, const Op *release) {
    for (const Op *op = span_of(s, dot)->next; op != wait; op = op->next)
        if (!can_be_passed(s, op)) return false;
    for (const Op *op = wait; op != release->next; op = op->next)
        for (int i = 0; i < op->operand_count; i++) {
            const Op *from = ref_is_value(op->operands[i]) ? ir_value(s->k, op->operands[i])->op : NULL;
            bool own = from && stands_between(from, wait, release);
            if (!own && !is_found_before(s, dot, wait, op->operands[i])) return false;
        }
    return true;
}

static void leave_under(Schedule *s, Op *dot, Op *wait, const Op *release) {
    Op *end = release->next, *before = span_of(s, dot)->next;
    for (const Op *op = wait; op != end; op = op->next)
        for (int i = 0; i < op->operand_count; i++) {
            const Op *from = ref_is_value(op->operands[i]) ? ir_value(s->k, op->operands[i])->op : NULL;
            if (!from || !stands_between(from, wait, end)) move_before(s, dot, wait, op->operands[i]);
        }
    for (Op *op = wait, *next; op != end; op = next) {
        next = op->next;
        if (op != before)
            ir_move(op, dot->parent, before);
        else
            before = op->next;
    }
    op_set(s->k, dot, (Attr){.id = AT_SPANS, .number = 1});
}

static void plan_region(Schedule *s, Region *region) {
    for (Op *op = region->first; op; op = op->next)
        if (can_span(s, op) && dot_span(s->k, op)) op_set(s->k, op, (Attr){.id = AT_SPANS, .number = 1});
    for (Op *op = region->first, *next; op; op = next) {
        const Op *release = op->code == OP_WAIT ? span_store(s->k, op) : NULL, *commit = release ? commit_of(op) : NULL;
        Op *dot = commit ? next_product(s, commit, op) : NULL;
        next = op->next;
        if (!release) continue;
        next = release->next;
        if (dot && can_leave_under(s, dot, op, release)) leave_under(s, dot, op, release);
    }
}

static void plan_op(Op *op, void *user) {
    for (int i = 0; i < op->region_count; i++) plan_region(user, op->regions[i]);
}

void schedule_span(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

bool schedule_span_holds(Schedule *s, const Op *dot) {
    return (can_span(s, dot) && dot_span(s->k, dot)) ||
           schedule_fail(s, dot,
                         "a product `spans` the stores directly behind it, each of a tile in shared memory, where it "
                         "runs beside the threads and is waited for in its own trip and before the next product");
}
