/* SPDX-License-Identifier: Apache-2.0 */
/* ring_rotate.c: a loop of products in a row, turned so that the last runs under the arithmetic of
 * the next trip.
 *
 * In attention a trip multiplies Q by K(j), turns the scores into weights and multiplies those by
 * V(j): each step waits for the one before. Matrix units work on their own, so the loop is turned:
 *
 *     for j { S = Q K(j) ; P = f(S) ; acc = acc * a + P V(j) }
 *  -> S = Q K(0) ; P = f(S) ; acc = acc * a
 *     for j from 1 { S = Q K(j)  and  acc += P V(j-1)  in flight ; P = f(S) ; acc done ; acc *= a }
 *     acc += P V(n-1)
 *
 * Every ring is still read in its own order and nothing is computed twice or in another order of
 * sums, so this is a plan (`rotate` on the loop) and changes no bit. What has to hold is read off
 * the ops, not their names: the last two products of the body run by themselves, the second's left operand made
 * from the first's result, its accumulator carried and touched by nothing else but elementwise ops on the
 * way in, its right operand from a ring of its own. Products before these two (scores of several parts) are made
 * before them, in their own way. The checker proves the turned order, the emitter writes it. */
#include "ir/ringform.h"
#include "pass/ring/ring_rotate.h"

#include "pass/matrix.h"

static bool holds_product(const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_DOT) return true;
        for (int i = 0; i < op->region_count; i++)
            if (holds_product(op->regions[i])) return true;
    }
    return false;
}

typedef struct Find {
    Kernel *k;
    Arena *arena;
    const Region *body;
    Rotation *r;
} Find;

static bool is_among(const Op *const *at, size_t count, const Op *op) {
    for (size_t i = 0; i < count; i++)
        if (at[i] == op) return true;
    return false;
}

RotatePart rotation_part(const Rotation *r, const Op *op) {
    if (is_among(r->tail.at, r->tail.count, op)) return ROTATE_TAIL;
    return is_among(r->scale.at, r->scale.count, op) ? ROTATE_SCALE : ROTATE_HEAD;
}

/* The op of the body in which the value is made; NULL: outside. */
static const Op *maker(const Find *f, Ref value) {
    const Op *op = ref_is_value(value) ? ir_value(f->k, value)->op : NULL;
    return op && op->parent == f->body ? op : NULL;
}

static bool uses_any(const Op *op, const bool *values) {
    for (int i = 0; i < op->operand_count; i++)
        if (ref_is_value(op->operands[i]) && values[op->operands[i]]) return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (uses_any(inner, values)) return true;
    return false;
}

/* By Ref: the value, and what the body makes from it. */
static bool *made_from(const Find *f, Ref value) {
    bool *values = ARENA_ARRAY(f->arena, bool, f->k->values.count);
    values[value] = true;
    for (const Op *op = f->body->first; op; op = op->next)
        if (uses_any(op, values))
            for (int i = 0; i < op->result_count; i++) values[op->results[i]] = true;
    return values;
}

/* wait, get and views of the right operand, and the release of its slot. */
static bool find_tail(Find *f) {
    const Op *at = maker(f, f->r->second->operands[1]);
    *VEC_PUSH(&f->r->tail, f->arena) = f->r->second;
    while (at && at->code == OP_PERMUTE) {
        *VEC_PUSH(&f->r->tail, f->arena) = at;
        at = maker(f, at->operands[0]);
    }
    if (!at || at->code != OP_GET) return false;
    *VEC_PUSH(&f->r->tail, f->arena) = at;
    const Op *wait = maker(f, at->operands[0]);
    if (!wait || wait->code != OP_WAIT) return false;
    *VEC_PUSH(&f->r->tail, f->arena) = wait;
    for (const Op *op = f->body->first; op; op = op->next)
        if (op->code == OP_RELEASE && op->operands[1] == wait->results[0]) *VEC_PUSH(&f->r->tail, f->arena) = op;
    return true;
}

/* What touches the carried accumulator on its way into the second product. */
static bool find_scale(Find *f) {
    Ref carried = f->body->args[1 + f->r->carried];
    for (const Op *op = f->body->first; op; op = op->next) {
        if (op == f->r->second || op == f->body->last) continue;
        bool touches = ir_op_uses(op, carried);
        for (size_t i = 0; i < f->r->scale.count && !touches; i++)
            touches = ir_op_uses(op, f->r->scale.at[i]->results[0]);
        if (!touches) continue;
        if (op->region_count || !op_has(op->code, TRAIT_ELEMENTWISE)) return false;
        *VEC_PUSH(&f->r->scale, f->arena) = op;
    }
    return true;
}

/* The parts meet only where the turned loop carries a value: the second product's operands. */
static bool parts_are_apart(const Find *f) {
    const Rotation *r = f->r;
    for (const Op *op = f->body->first; op; op = op->next) {
        RotatePart part = rotation_part(r, op);
        for (size_t i = 0; i < r->tail.count; i++)
            for (int n = 0; n < r->tail.at[i]->result_count; n++)
                if (part != ROTATE_TAIL && op != f->body->last && ir_op_uses(op, r->tail.at[i]->results[n]))
                    return false;
        if (part != ROTATE_TAIL || op == r->second) continue;
        for (int i = 0; i < op->operand_count; i++) {
            const Op *from = maker(f, op->operands[i]);
            if ((from && rotation_part(r, from) != ROTATE_TAIL) ||
                (ref_is_value(op->operands[i]) && ir_value(f->k, op->operands[i])->region == f->body && !from))
                return false;
        }
    }
    return true;
}

bool rotation_find(Kernel *k, const Op *loop, Arena *arena, Rotation *out) {
    if (loop->code != OP_FOR) return false;
    Rotation r = {.loop = loop};
    Find f = {k, arena, loop->regions[0], &r};
    int64_t step;
    if (!ir_const_int(k, loop->operands[2], &step) || step != 1) return false;
    for (const Op *op = f.body->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++)
            if (holds_product(op->regions[i])) return false;
        if (op->code != OP_DOT) continue;
        r.first = r.second;
        r.second = op;
    }
    if (!r.first || !matrix_overlaps(k, r.first) || !matrix_overlaps(k, r.second)) return false;
    Ref sum = r.second->results[0];
    const Op *yield = f.body->last;
    int places = 0;
    for (int i = 0; i < yield->operand_count; i++)
        if (yield->operands[i] == sum) r.carried = i, places++;
    for (const Op *op = f.body->first; op; op = op->next)
        if (op != yield && ir_op_uses(op, sum)) return false;
    Elem scores_in = ir_type(k, r.first->results[0])->elem;
    if (places != 1 || ir_type(k, sum)->elem != EL_F32 || (scores_in != EL_F32 && scores_in != EL_I32)) return false;
    Ref left = r.second->operands[0], carried = f.body->args[1 + r.carried];
    const bool *scores = made_from(&f, r.first->results[0]);
    bool *weighted = made_from(&f, carried);
    if (!maker(&f, left) || !scores[left] || weighted[left]) return false;
    if (!find_tail(&f) || !find_scale(&f) || !parts_are_apart(&f)) return false;
    /* What else is made of the accumulator is made where it is scaled, once it is there. */
    weighted[sum] = false;
    for (int i = 0; i < yield->operand_count; i++) {
        const Op *made = maker(&f, yield->operands[i]);
        bool late = made && rotation_part(&r, made) == ROTATE_SCALE;
        if (ref_is_value(yield->operands[i]) && weighted[yield->operands[i]] && !late) return false;
    }
    /* It starts from the accumulator, perhaps scaled, or from nothing. */
    const Op *into = maker(&f, r.second->operands[2]);
    bool scaled = into && (rotation_part(&r, into) == ROTATE_SCALE || into->code == OP_SPLAT);
    if (!scaled && r.second->operands[2] != carried) return false;
    *out = r;
    return true;
}

/* The first acquire of the ring in the region, counted; -1: none. */
static int place_of_fill(const Region *region, Ref ring, int *count) {
    for (const Op *op = region->first; op; op = op->next) {
        ++*count;
        if (op->code == OP_ACQUIRE && op->operands[0] == ring) return *count;
        for (int i = 0; i < op->region_count; i++) {
            int place = place_of_fill(op->regions[i], ring, count);
            if (place >= 0) return place;
        }
    }
    return -1;
}

/* A turned loop keeps an item of the tail while it waits for the next items of the head. Is every
 * one of those filled first? Then one slot of the tail's ring is enough, however many there are. */
static bool is_filled_last(const Rotation *r, const Op *tasks) {
    const Region *roles = tasks_body(tasks), *body = r->loop->regions[0];
    int last = -1, count = 0;
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_WAIT && rotation_part(r, op) == ROTATE_TAIL)
            last = place_of_fill(roles, op->operands[0], &count);
    for (const Op *op = body->first; op; op = op->next) {
        count = 0;
        if (op->code == OP_WAIT && rotation_part(r, op) != ROTATE_TAIL &&
            place_of_fill(roles, op->operands[0], &count) > last)
            return false;
    }
    return true;
}

static bool turn_loop(PassContext *cx, Kernel *k, const Op *tasks, Op *op) {
    Rotation r;
    Op *late = ring_carry_sum(cx, k, op);
    if (late) op = late;
    if (!rotation_find(k, op, cx->scratch, &r) || !is_filled_last(&r, tasks)) return false;
    op_set(k, op, (Attr){.id = AT_ROTATE, .number = 1});
    pass_find(cx, r.second->range, FIND_DOT_IN_FLIGHT);
    return true;
}

bool ring_rotate(PassContext *cx, Kernel *k, Op *tasks) {
    FoundOps loops = ir_list(tasks_body(tasks), OP_FOR, cx->scratch);
    bool any = false;
    for (size_t i = 0; i < loops.count; i++) any |= turn_loop(cx, k, tasks, loops.at[i]);
    return any;
}
