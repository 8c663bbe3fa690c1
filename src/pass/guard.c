/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c: a mask that rarely masks is asked for once a tile, not once an element.
 *
 * Contract: access form in and out, stamps kept; no bit of the result changes. Inside a loop, on
 * machines with threads, a `select` of a large tile by comparisons of places (affine, int32) moves
 * behind a scalar test: does every element pass? Then the tile goes through as it is. What only the
 * mask needed moves along, so that full blocks compute no mask at all:
 *
 *     %c = cmp<le> %cols, %rows ; %s = select %c, %x, -inf
 *  -> %all = cmp<le> largest of %cols, least of %rows
 *     %s = if %all { yield %x } else { %c = cmp<le> .. ; %t = select %c, %x, -inf ; yield %t }
 *
 * So does a sum with one of two numbers, of which a full block has but the first:
 *
 *     %b = select %c, 0.0, -inf ; %s = add %x, %b
 *  -> %s = if %all { %t = add %x, 0.0 ; yield %t } else { %b = select %c, 0.0, -inf ; %t = add %x, %b ; yield %t }
 *
 * And the number that a product begins with, 0 in full blocks:
 *
 *     %b = select %c, 0.0, -inf ; %s = dot %q, %k, %b
 *
 * A mask may also say what is left out: `select %d, n, %x` of a %d that is false in full blocks.
 * Masks behind each other that fill in the same number are one first, so that there is one test.
 *
 * The test is made in 64 bits and says no where a place would leave int32, so it is exact: in the
 * ring of integers modulo 2^32 sums and products are those of the exact numbers. */
#include "analysis/affine.h"
#include "pass/fold/fold.h"
#include "pass/pass.h"

/* A smaller tile is no work for a block of any machine; a loop of more tests is none for a scalar. */
enum { GUARD_ELEMENTS = 1024, MAX_TESTS = 8 };

typedef struct Test {
    Poly least; /* has to be >= 0 */
} Test;

typedef struct Guard {
    PassContext *cx;
    Kernel *k;
    Analysis a;
    Test tests[MAX_TESTS];
    int count;
    const int *uses; /* by Ref, before the pass */
    bool changed;
} Guard;

static bool add_test(Guard *g, Poly least) {
    int64_t number;
    if (!poly_fits_i64(&g->a, least)) return false;
    if (poly_const(least, &number)) return number >= 0;
    for (int i = 0; i < g->count; i++)
        if (poly_equal(g->tests[i].least, least)) return true;
    if (g->count == MAX_TESTS) return false;
    g->tests[g->count++].least = least;
    return true;
}

/* The least or largest element of an operand: its start and what the axes add to it. */
static bool extreme(Guard *g, const Affine *f, const Type *type, bool most, Poly *out) {
    int64_t by = 0, step;
    for (int d = 0; d < f->rank; d++) {
        if (f->axis[d].turn || !poly_const(f->axis[d].step, &step)) return false;
        if ((step > 0) == most) by += step * (type->extent[d] - 1);
    }
    *out = poly_add(g->a.arena, f->start, poly_int(g->a.arena, by));
    return !out->bad;
}

static bool is_plain(const Type *type) { return !type->pointer && type->elem == EL_I32; }

/* A number, or a scalar as it is: the condition's operands are int32, and so are their parts. */
static bool is_one_number(Poly p) {
    int64_t number;
    return poly_const(p, &number) || (p.count == 1 && p.at[0].count == 1 && p.at[0].scale == 1);
}

/* Is it a scalar of the source, less something? Then it is no more than int32 has. */
static bool is_surely_small(Guard *g, Poly p) {
    for (int i = 0; i < p.count; i++) {
        if (p.at[i].count != 1 || p.at[i].scale != 1 || !is_plain(ir_type(g->k, p.at[i].factor[0]))) continue;
        Poly scalar = {.at = &p.at[i], .count = 1};
        if (poly_is_surely_natural(&g->a, poly_sub(g->a.arena, scalar, p))) return true;
    }
    return false;
}

/* Both ends within int32, where the numbers that they are made of do not say so already, nor that it is above a number
 * of int32. */
static bool add_range(Guard *g, const Affine *f, const Type *type, bool above) {
    Poly least, most;
    if (is_one_number(f->start) && affine_is_uniform(f)) return true;
    if (!extreme(g, f, type, false, &least) || !extreme(g, f, type, true, &most)) return false;
    Poly top = poly_int(g->a.arena, INT32_MAX), bottom = poly_int(g->a.arena, INT32_MIN);
    return (is_surely_small(g, most) || add_test(g, poly_sub(g->a.arena, top, most))) &&
           (above || poly_is_surely_natural(&g->a, least) || add_test(g, poly_sub(g->a.arena, least, bottom)));
}

/* What has to hold for every element of the condition to be true (to be false, without `holds`). */
static bool collect(Guard *g, Ref condition, bool holds) {
    const Op *op = ref_is_value(condition) ? ir_value(g->k, condition)->op : NULL;
    if (!op) return false;
    switch (op->code) {
    case OP_AND:
    case OP_OR:
        if ((op->code == OP_AND) != holds) return false;
        return collect(g, op->operands[0], holds) && collect(g, op->operands[1], holds);
    case OP_NOT: return collect(g, op->operands[0], !holds);
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_EXPAND:
    case OP_RESHAPE: return collect(g, op->operands[0], holds);
    case OP_CMP: break;
    default: return false;
    }
    Word predicate = op_word(op, AT_PRED, CMP_EQ);
    bool less = predicate == CMP_LT || predicate == CMP_LE;
    if (!less && predicate != CMP_GT && predicate != CMP_GE) return false;
    bool equal = (predicate == CMP_LE || predicate == CMP_GE) == holds; /* what is not above is below, or equal */
    less = less == holds;
    Ref small = op->operands[!less], large = op->operands[less];
    const Type *small_type = ir_type(g->k, small), *large_type = ir_type(g->k, large);
    if (!is_plain(small_type) || !is_plain(large_type)) return false;
    const Affine *x = affine_of(&g->a, small), *y = affine_of(&g->a, large);
    Poly most, least;
    if (!x->known || !y->known || x->base || y->base || !extreme(g, x, small_type, true, &most) ||
        !extreme(g, y, large_type, false, &least))
        return false;
    Poly room = poly_sub(g->a.arena, least, most);
    if (!equal) room = poly_sub(g->a.arena, room, poly_int(g->a.arena, 1));
    int64_t number;
    bool above = poly_const(most, &number) && number >= INT32_MIN;
    return add_test(g, room) && add_range(g, x, small_type, false) && add_range(g, y, large_type, above);
}

/* --- building --- */
static Ref build_poly(Builder *b, Poly p) {
    Ref sum = ir_int(b, EL_I64, 0);
    for (int i = 0; i < p.count; i++) {
        Ref term = ir_int(b, EL_I64, p.at[i].scale);
        for (int j = 0; j < p.at[i].count; j++)
            term = ir_binary(b, OP_MUL, ir_cast(b, p.at[i].factor[j], EL_I64), term);
        sum = ir_binary(b, OP_ADD, term, sum);
    }
    return sum;
}

static Ref build_tests(Guard *g, Builder *b) {
    Ref all = REF_NONE;
    for (int i = 0; i < g->count; i++) {
        Ref holds = ir_compare(b, CMP_GE, build_poly(b, g->tests[i].least), ir_int(b, EL_I64, 0));
        all = all ? ir_binary(b, OP_AND, all, holds) : holds;
    }
    return all;
}

typedef struct Inside {
    const Region *region;
    Ref value;
    bool outside; /* a use that is not inside the region */
} Inside;

static void look_for_use(Op *op, void *user) {
    Inside *s = user;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == s->value) {
            const Region *r = op->parent;
            while (r && r != s->region) r = r->owner ? r->owner->parent : NULL;
            s->outside |= !r;
        }
}

/* Ops in front of the `if` that only its second region needs move into it. */
static void sink(Guard *g, Op *guarded, Region *into) {
    for (Op *op = guarded->previous, *next; op; op = next) {
        next = op->previous;
        if (!op_has(op->code, TRAIT_PURE) || op->region_count || op->result_count != 1) continue;
        const Type *type = ir_type(g->k, op->results[0]);
        if (type->kind != TY_TILE || type->rank == 0) continue;
        Inside s = {into, op->results[0], false};
        ir_walk(guarded->parent, look_for_use, &s);
        if (!s.outside) ir_move(op, into, into->first);
    }
}

static bool is_in_loop(const Op *op) {
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_FOR) return true;
    return false;
}

/* The operand that is one of two numbers, as the mask says, for this op alone; NULL: none is. */
static const Op *chosen_number(const Guard *g, const Op *op) {
    if (op->code != OP_ADD && op->code != OP_FMA) return NULL;
    const Op *select = ref_is_value(op->operands[op->operand_count - 1])
                           ? ir_value(g->k, op->operands[op->operand_count - 1])->op
                           : NULL;
    if (!select || select->code != OP_SELECT || select->parent != op->parent) return NULL;
    int uses = 0;
    for (const Op *at = select->next; at; at = at->next) uses += ir_op_uses(at, select->results[0]);
    bool numbers = ref_is_literal(select->operands[1]) && ref_is_literal(select->operands[2]);
    bool shaped = ir_type(g->k, op->operands[0]) == ir_type(g->k, op->results[0]);
    return uses == 1 && numbers && shaped ? select : NULL;
}

/* Is it a select whose tile at that operand is made in this region? */
static bool is_masked(const Guard *g, const Op *op, int at) {
    if (op->code != OP_SELECT || !ref_is_value(op->operands[at]) ||
        ir_type(g->k, op->operands[at]) != ir_type(g->k, op->results[0]))
        return false;
    const Op *from = ir_value(g->k, op->operands[at])->op;
    return from && from->parent == op->parent && from->code != OP_SPLAT;
}

/* Is it a select of two numbers, 0 as that operand, that a product of this region adds to? */
static bool begins_product(const Guard *g, const Op *op, int at) {
    if (op->code != OP_SELECT || !ref_is_literal(op->operands[3 - at]) || !ir_is_zero(g->k, op->operands[at]))
        return false;
    int uses = 0, sums = 0;
    for (const Op *to = op->next; to; to = to->next) {
        uses += ir_op_uses(to, op->results[0]);
        sums += to->code == OP_DOT && op_operand(to, 2) == op->results[0];
    }
    return uses == 1 && sums == 1;
}

/* Can a tile be full? On the diagonal none is. */
static bool may_hold(Guard *g) {
    for (int i = 0; i < g->count; i++) {
        Poly below = poly_sub(g->a.arena, poly_int(g->a.arena, -1), g->tests[i].least);
        if (poly_is_surely_natural(&g->a, below)) return false;
    }
    return true;
}

static bool is_large(const Guard *g, const Op *op) {
    const Type *type = op->result_count == 1 ? ir_type(g->k, op->results[0]) : NULL;
    return type && type->kind == TY_TILE && type->rank && ty_elements(type) >= GUARD_ELEMENTS && is_in_loop(op);
}

/* select c, (select d, x, n), n  ->  select (c and d), x, n */
static void join(Op *op, void *user) {
    Guard *g = user;
    Op *inner = op->code == OP_SELECT && ref_is_value(op->operands[1]) ? ir_value(g->k, op->operands[1])->op : NULL;
    if (!inner || inner->code != OP_SELECT || inner->parent != op->parent || !is_large(g, op)) return;
    bool same = ref_is_literal(op->operands[2]) && op->operands[2] == inner->operands[2] &&
                ir_type(g->k, inner->operands[1]) == ir_type(g->k, op->results[0]);
    if (!same || g->uses[op->operands[1]] != 1) return;
    Builder b = ir_builder_before(g->k, op);
    op->operands[0] = ir_binary(&b, OP_AND, op->operands[0], inner->operands[0]);
    op->operands[1] = inner->operands[1];
    ir_remove(inner);
    g->changed = true;
}

/* The operand of the select that every element of a full block is, whose tests are noted; 0: there is none. */
static int find_whole(Guard *g, const Op *op, const Op *select) {
    for (int at = 1; at <= 2; at++) {
        bool begins = begins_product(g, select, at);
        bool other = op != select && at == 2 && !ir_is_zero(g->k, select->operands[2]);
        if (other || (op == select && !begins && !is_masked(g, op, at))) continue;
        g->count = 0;
        if (!collect(g, select->operands[0], at == 1) || !g->count) continue;
        if ((op == select && !begins) || may_hold(g)) return at;
    }
    return 0;
}

static void visit(Op *op, void *user) {
    Guard *g = user;
    if (!is_large(g, op)) return;
    const Type *type = ir_type(g->k, op->results[0]);
    const Op *number = chosen_number(g, op), *select = number ? number : op;
    int at = number || op->code == OP_SELECT ? find_whole(g, op, select) : 0;
    if (!at) return;
    Builder b = ir_builder_before(g->k, op);
    Ref all = build_tests(g, &b);
    ir_name(g->k, all, "unmasked");
    Op *guarded = ir_if(&b, all, 1, &type);
    Builder full = ir_builder_inside(&b, guarded->regions[0]);
    Builder masked = ir_builder_inside(&b, guarded->regions[1]);
    RefMap none = {.arena = g->cx->scratch}, first = {.arena = g->cx->scratch};
    Ref whole = select->operands[at];
    if (number) {
        refmap_set(&first, select->results[0], whole);
        whole = ir_clone(&full, op, &first)->results[0];
    } else if (ir_type(g->k, whole) != type) {
        whole = ir_splat(&full, whole, type);
    }
    ir_yield(&full, &whole, 1);
    Ref chosen = ir_clone(&masked, op, &none)->results[0];
    ir_yield(&masked, &chosen, 1);
    ir_name(g->k, guarded->results[0], ir_value(g->k, op->results[0])->name);
    ir_replace_all(g->k, op->results[0], guarded->results[0]);
    ir_remove(op);
    sink(g, guarded, guarded->regions[1]);
    pass_find(g->cx, op->range, FIND_MASK_BY_TILE);
    g->changed = true;
}

bool pass_guard(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads) return false;
    Guard g = {.cx = cx, .k = k};
    affine_init(&g.a, k, cx->scratch, true);
    g.uses = ir_count_uses(k, cx->scratch);
    ir_walk(k->body, join, &g);
    ir_walk(k->body, visit, &g);
    if (g.changed) fold_tidy(k, cx->scratch);
    return g.changed;
}
