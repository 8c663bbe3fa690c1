/* SPDX-License-Identifier: Apache-2.0 */
/* affine_loop.c: closed forms of what a `for` carries, and where values are visible.
 *
 *     for %k = 0, %n, 1 (%p = %p0) { .. yield ptr_add(%p, 64) }        %p = %p0 + 64 * %k
 *     %m = for %k = 0, 4, 1 (%d = 0) { .. yield %d + 64 }              %m = 256
 *
 * The step must be the same in every trip. A loop that changes its pointers otherwise is met by
 * access_carry, which takes the number apart from the tile. */
#include "analysis/affine.h"

enum { LONGEST_CHAIN = 64 };

bool affine_in_region(const Region *region, const Region *outer) {
    for (; region; region = region->owner ? region->owner->parent : NULL)
        if (region == outer) return true;
    return false;
}

static bool is_made_inside(const Analysis *a, Ref r, const Region *body) {
    if (!ref_is_value(r)) return false;
    const Value *value = ir_value(a->k, r);
    return affine_in_region(value->region ? value->region : value->op->parent, body);
}

bool poly_is_invariant(const Analysis *a, Poly p, const Region *body) {
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++)
            if (is_made_inside(a, p.at[i].factor[j], body)) return false;
    return !p.bad;
}

bool affine_growth(Analysis *a, const Op *loop, Ref value, int64_t *growth) {
    const Affine *f = affine_of(a, value);
    Ref variable = loop->regions[0]->args[0];
    int64_t step, per = 0;
    if (!f->known || f->base || f->start.bad || !ir_const_int(a->k, loop->operands[2], &step)) return false;
    for (int i = 0; i < f->start.count; i++) {
        const Term *t = &f->start.at[i];
        if (t->count == 1 && t->factor[0] == variable)
            per = t->scale;
        else if (!poly_is_invariant(a, poly_term(a->arena, *t), loop->regions[0]))
            return false;
    }
    return !__builtin_mul_overflow(per, step, growth);
}

/* What is added to `arg` on the way to `value`; false when that is not how value is made. */
static bool find_advance(Analysis *a, Ref value, Ref arg, const Affine **sum, int *left) {
    if (value == arg) return true;
    const Op *op = ref_is_value(value) ? ir_value(a->k, value)->op : NULL;
    if (--*left < 0 || !op) return false;
    if (op->code != OP_ADD && op->code != OP_SUB && op->code != OP_PTR_ADD) return false;
    int along = find_advance(a, op->operands[0], arg, sum, left) ? 0 : -1;
    if (along < 0 && op->code == OP_ADD && find_advance(a, op->operands[1], arg, sum, left)) along = 1;
    if (along < 0) return false;
    const Affine *by = affine_of(a, op->operands[1 - along]);
    if (op->code == OP_SUB && elem_info[ir_type(a->k, value)->elem].cls == CLASS_UINT) return false;
    if (!by->known) return false;
    *sum = *sum                 ? affine_add(a, op, *sum, by, op->code == OP_SUB ? -1 : 1)
           : op->code == OP_SUB ? affine_scale(a, op, by, poly_int(a->arena, -1))
                                : by;
    return (*sum)->known;
}

const Affine *affine_carried(Analysis *a, Ref arg, const Op *loop, int index) {
    const Affine *self = affine_atom(a, arg, loop, WHY_LOOP);
    a->memo.at[arg] = self; /* while its own step is looked at */
    const Region *body = loop->regions[0];
    const Affine *first = affine_of(a, loop->operands[3 + index]), *by = NULL;
    int left = LONGEST_CHAIN;
    if (!first->known || !find_advance(a, body->last->operands[index], arg, &by, &left) || !by) return self;
    bool invariant = poly_is_invariant(a, by->start, body);
    for (int d = 0; d < by->rank; d++)
        invariant =
            invariant && !by->axis[d].turn && !by->axis[d].part_count && poly_is_invariant(a, by->axis[d].step, body);
    int64_t step;
    if (!invariant || by->base || !ir_const_int(a->k, loop->operands[2], &step)) return self;
    const Affine *lo = affine_of(a, loop->operands[0]);
    if (!lo->known) return self;
    Poly trip = poly_sub(a->arena, poly_ref(a->arena, body->args[0]), lo->start);
    Affine *per = affine_new(a, by->rank); /* what a unit of the loop variable adds */
    if (!poly_over(a->arena, by->start, step, &per->start)) return self;
    for (int d = 0; d < by->rank; d++)
        if (!poly_over(a->arena, by->axis[d].step, step, &per->axis[d].step)) return self;
    const Affine *gone = affine_scale(a, loop, per, trip);
    const Affine *closed = gone->known ? affine_add(a, loop, first, gone, 1) : gone;
    if (!closed->known) return self;
    Affine *f = affine_new(a, closed->rank);
    *f = *closed;
    f->wide |= ir_type(a->k, arg)->pointer; /* the source adds up in 64 bits */
    return f;
}

/* p with a number in the place of a scalar. */
static Poly put(const Analysis *a, Poly p, Ref variable, Poly number) {
    Poly sum = poly_int(a->arena, 0);
    for (int i = 0; i < p.count; i++) {
        Term rest = {.scale = p.at[i].scale};
        int power = 0;
        for (int j = 0; j < p.at[i].count; j++)
            if (p.at[i].factor[j] == variable)
                power++;
            else
                rest.factor[rest.count++] = p.at[i].factor[j];
        Poly term = poly_term(a->arena, rest);
        while (power-- > 0) term = poly_mul(a->arena, term, number);
        sum = poly_add(a->arena, sum, term);
    }
    return sum;
}

const Affine *affine_result(Analysis *a, Ref value, const Op *loop) {
    const Affine *self = affine_atom(a, value, loop, WHY_LOOP);
    int index = 0;
    while (loop->results[index] != value) index++;
    const Region *body = loop->regions[0];
    const Affine *first = affine_of(a, loop->operands[3 + index]), *last = affine_of(a, body->last->operands[index]);
    const Affine *lo = affine_of(a, loop->operands[0]), *hi = affine_of(a, loop->operands[1]);
    int64_t step, begin, end;
    if (ir_type(a->k, value)->rank || !first->known || !last->known || first->base || last->base || last->start.bad ||
        !lo->known || !hi->known || !ir_const_int(a->k, loop->operands[2], &step) || step <= 0)
        return self;
    Ref variable = body->args[0];
    Poly trip;
    if (poly_const(lo->start, &begin) && poly_const(hi->start, &end)) {
        if (end <= begin) return first;
        trip = poly_int(a->arena, begin + (end - begin - 1) / step * step);
    } else {
        Poly before = poly_sub(a->arena, lo->start, poly_int(a->arena, 1)); /* of no trip at all */
        if (step != 1 || !poly_equal(put(a, last->start, variable, before), first->start) ||
            !poly_is_natural(a, poly_sub(a->arena, hi->start, lo->start)))
            return self;
        trip = poly_sub(a->arena, hi->start, poly_int(a->arena, 1));
    }
    Poly closed = put(a, last->start, variable, trip);
    if (!poly_is_invariant(a, closed, body)) return self;
    Affine *f = affine_new(a, 0);
    f->start = closed;
    f->wide = first->wide | last->wide;
    return f;
}

/* --- places --- */

static void number_region(Analysis *a, const Region *region, int *next) {
    for (int i = 0; i < region->arg_count; i++) a->order[region->args[i]] = *next;
    for (const Op *op = region->first; op; op = op->next) {
        ++*next;
        for (int i = 0; i < op->region_count; i++) number_region(a, op->regions[i], next);
        for (int i = 0; i < op->result_count; i++) a->order[op->results[i]] = *next;
    }
}

bool affine_dominates(const Analysis *a, Ref value, const Op *at, int at_order) {
    if (!ref_is_value(value)) return true;
    if (value >= a->order_count || a->order[value] >= at_order) return false;
    const Value *v = ir_value(a->k, value);
    return affine_in_region(at->parent, v->region ? v->region : v->op->parent);
}

void affine_init(Analysis *a, Kernel *k, Arena *arena, bool generic) {
    *a = (Analysis){.k = k, .arena = arena, .generic = generic, .grid = grid_order_find(k)};
    a->order_count = k->values.count;
    a->order = ARENA_ARRAY(arena, int, k->values.count);
    int next = 1;
    number_region(a, k->body, &next);
}

void affine_forget(Analysis *a) { a->memo.count = a->numbers.count = a->axes.count = 0; }
