/* SPDX-License-Identifier: Apache-2.0 */
/* access_wish.c: what `access` believes of a launch, as `require`s at the top of the kernel.
 *
 *     require<least=0> %n                       n bounds an index: bounds are compared unsigned
 *     require<eq=1> %stride                     the last stride
 *     require<eq=0> %programs - %rows * %columns
 *     require<eq=0> %exact - i64(i32(%exact))   64 * %stride, which the source makes in 32 bits
 *
 * A launch that fails one runs a variant that believes less. */
#include "pass/access/access_plan.h"

/* --- sums and products of arguments --- */

static void search_from(Access *x, Ref r) {
    if (!ref_is_value(r)) return;
    while (x->believed.count < x->k->values.count) *VEC_PUSH(&x->believed, x->a.arena) = 0;
    if (x->believed.at[r]) return;
    x->believed.at[r] = 1;
    *VEC_PUSH(&x->open, x->a.arena) = r;
}

/* c * x and a smaller multiple of x: 64 * %stride fits, and so does 63 * %stride. */
static bool is_multiple(const Exact *e, const Exact *smaller) {
    Poly p = e->sum, q = smaller->sum;
    Term quotient;
    if (p.count != 1 || q.count != 1 || smaller->least || smaller->most) return false;
    Term one = q.at[0];
    one.scale = p.at[0].scale;
    int64_t more = p.at[0].scale, less = q.at[0].scale;
    return e->least <= 0 && e->most >= 0 && poly_divides(p, &one, &quotient) && !quotient.count &&
           (more > 0 ? less > 0 && less <= more : less < 0 && less >= more);
}

/* Of sums that differ by a number the ends are asked for. */
static void add_exact(Access *x, Poly p) {
    if (poly_fits_i32(&x->a, p)) return;
    int64_t number = poly_constant(p);
    Exact e = {poly_sub(x->a.arena, p, poly_int(x->a.arena, number)), number, number};
    for (size_t i = 0; i < x->exact.count; i++) {
        Exact *known = &x->exact.at[i];
        bool equal = poly_equal(known->sum, e.sum);
        if (equal && number < known->least) known->least = number;
        if (equal && number > known->most) known->most = number;
        if (equal || is_multiple(known, &e)) return;
        if (!is_multiple(&e, known)) continue;
        *known = e;
        return;
    }
    *VEC_PUSH(&x->exact, x->a.arena) = e;
}

bool access_is_exact(const Access *x, Poly p) {
    int64_t number = poly_constant(p);
    Exact e = {poly_sub(x->a.arena, p, poly_int(x->a.arena, number)), number, number};
    for (size_t i = 0; i < x->exact.count; i++) {
        const Exact *known = &x->exact.at[i];
        if (poly_equal(known->sum, e.sum) ? known->least <= number && number <= known->most : is_multiple(known, &e))
            return true;
    }
    return false;
}

/* What its form says of it beyond its own 32 bits, of a value that is the same for the whole launch. */
static bool believe(Access *x, Ref r) {
    const Type *type = ir_type(x->k, r);
    if (type->kind != TY_TILE || type->pointer || type->elem != EL_I32) return false;
    const Affine *f = affine_of(&x->a, r);
    Poly corners[AFFINE_CORNERS];
    int count = f->known ? affine_corners(&x->a, f, type, corners) : 0;
    for (int i = 0; i < count; i++) add_exact(x, corners[i]);
    return count > 0;
}

/* A number that stands for itself, or for an equal one, is not looked into: it is what the source computes. So is
 * an index vector. */
static bool is_itself(Analysis *a, Ref r) {
    const Type *type = ir_type(a->k, r);
    if (type->kind != TY_TILE || type->pointer) return false;
    const Affine *f = affine_of(a, r);
    int64_t number;
    int vectors = 0;
    for (int d = 0; d < f->rank; d++) {
        const Axis *axis = &f->axis[d];
        if (axis->turn || !poly_is_zero(axis->step) || axis->part_count > 1) return false;
        if (axis->part_count && (!poly_const(axis->part[0].scale, &number) || number != 1)) return false;
        vectors += axis->part_count;
    }
    Poly p = f->start;
    return vectors ? vectors == 1 && poly_is_zero(p)
                   : !type->rank && p.count == 1 && p.at[0].count == 1 && p.at[0].scale == 1;
}

void access_believe(Access *x, const Plan *plan) {
    search_from(x, plan->pointer);
    search_from(x, plan->mask);
    while (x->open.count) {
        Ref r = x->open.at[--x->open.count];
        if (is_itself(&x->a, r) || believe(x, r)) continue;
        const Value *v = ir_value(x->k, r);
        const Op *op = v->op ? v->op : v->region->owner;
        for (int i = 0; op && i < op->operand_count; i++) search_from(x, op->operands[i]);
        for (int i = 0; op && i < op->region_count; i++) {
            const Op *last = op->regions[i]->last;
            for (int j = 0; last && j < last->operand_count; j++) search_from(x, last->operands[j]);
        }
    }
}

/* In front of what comes behind the last factor. */
static Builder behind_factors(Access *x, Poly p) {
    Op *last = NULL;
    int order = -1;
    for (int i = 0; i < p.count; i++)
        for (int j = 0; j < p.at[i].count; j++) {
            Ref factor = p.at[i].factor[j];
            Op *op = ir_value(x->k, factor)->op;
            if (!op || x->a.order[factor] <= order) continue;
            last = op;
            order = x->a.order[factor];
        }
    return ir_builder_before(x->k, last ? last->next : x->k->body->first);
}

static void ask_exact(Access *x, Builder *b, Ref sum, int64_t number) {
    if (number) sum = ir_binary(b, OP_ADD, sum, ir_int(b, EL_I64, number));
    Ref kept = ir_cast(b, ir_cast(b, sum, EL_I32), EL_I64);
    Op *op = ir_begin(b, OP_REQUIRE);
    ir_operand(b, op, ir_binary(b, OP_SUB, sum, kept));
    op_set(x->k, op, (Attr){.id = AT_EQ, .number = 0});
    ir_end(b, op, NULL);
}

static void build_exact(Access *x, const Exact *e) {
    Builder b = behind_factors(x, e->sum);
    Ref sum = REF_NONE;
    for (int i = 0; i < e->sum.count; i++) {
        Ref term = ir_int(&b, EL_I64, e->sum.at[i].scale);
        for (int j = 0; j < e->sum.at[i].count; j++)
            term = ir_binary(&b, OP_MUL, ir_cast(&b, e->sum.at[i].factor[j], EL_I64), term);
        sum = sum ? ir_binary(&b, OP_ADD, sum, term) : term;
    }
    if (!sum) sum = ir_int(&b, EL_I64, 0); /* numbers alone wrap around: no launch keeps it */
    ask_exact(x, &b, sum, e->least);
    if (e->most != e->least) ask_exact(x, &b, sum, e->most);
}

/* --- what the analysis wished for --- */

static void build_wishes(Access *x) {
    Builder b = ir_builder(x->k, x->k->body);
    b.before = x->k->body->first;
    for (size_t i = 0; i < x->a.wishes.count; i++) {
        const Wish w = x->a.wishes.at[i];
        bool done = false;
        for (size_t j = 0; j < i; j++) done |= x->a.wishes.at[j].kind == w.kind && x->a.wishes.at[j].number == w.number;
        if (done) continue;
        Op *op = ir_begin(&b, OP_REQUIRE);
        for (size_t j = i; j < x->a.wishes.count; j++)
            if (x->a.wishes.at[j].kind == w.kind && x->a.wishes.at[j].number == w.number)
                ir_operand(&b, op, x->a.wishes.at[j].value);
        op_set(x->k, op, (Attr){.id = w.kind, .number = w.number});
        ir_end(&b, op, NULL);
    }
    for (size_t i = 0; i < x->a.ones.count; i++)
        ir_replace_all(x->k, x->a.ones.at[i], ir_literal_int(x->k, ir_type(x->k, x->a.ones.at[i]), 1));
    /* ... but not in the wish itself. */
    for (Op *op = x->k->body->first; op && op->code == OP_REQUIRE; op = op->next)
        for (size_t i = 0, n = 0; op_int(op, AT_EQ, 0) == 1 && i < x->a.ones.count; i++)
            op->operands[n++] = x->a.ones.at[i];
}

/* The launch has as many programs as there are places. */
static void build_grid_wish(Access *x) {
    const GridOrder *g = &x->a.grid;
    Op *last = NULL;
    for (Op *op = x->k->body->first; op; op = op->next)
        for (int i = 0; i < op->result_count; i++)
            if (op->results[i] == g->rows || op->results[i] == g->columns) last = op;
    Builder b = ir_builder_before(x->k, last ? last->next : x->k->body->first);
    grid_order_require(&b, g);
}

void access_require(Access *x) {
    for (size_t i = 0; i < x->exact.count; i++) build_exact(x, &x->exact.at[i]);
    if (x->a.grid_wished) build_grid_wish(x);
    build_wishes(x);
}
