/* SPDX-License-Identifier: Apache-2.0 */
/* access_quotient.c: rows that a kernel counts by dividing (pixels of images, tokens of sequences).
 *
 * Whether a quotient is below a number is a question about what was divided, and as such the end of a range:
 *
 *     %image = div %rows, %d ; %inside = cmp<lt> %image, %images
 *  -> %n = %images * %d, both at least 1, the product in 32 bits (`require`s) ; %inside = cmp<lt> %rows, %n
 *
 * That is so for every %rows: one below 0 has a quotient of at most 0, which is below %images. A mask that was an index
 * vector for each row, with a division for each, is an extent then.
 *
 * A tile that is never below 0 is divided without its sign (`natural`, schedule_natural.c) where its divisor is not
 * below 0 either: a launch can tell, and is asked to. */
#include "analysis/facts.h"
#include "pass/access/access_plan.h"

static Op *op_of(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }

/* A number of 32 bits that a launch knows. */
static bool is_known(const Kernel *k, Ref r) {
    const Type *type = ir_type(k, r);
    return type->kind == TY_TILE && !type->rank && !type->pointer && type->elem == EL_I32 && fact_at_launch(k, r);
}

static bool is_tile(const Kernel *k, Ref r) {
    const Type *type = ir_type(k, r);
    return type->kind == TY_TILE && type->rank && !type->pointer && type->elem == EL_I32;
}

enum { MAX_WHOLES = 16 };

typedef struct Quotients {
    Facts facts;
    int count; /* of products that were made */
    struct {
        Ref number, divisor, whole;
    } at[MAX_WHOLES];
} Quotients;

/* --- comparisons --- */

/* The side of a comparison that a tile's quotient is on, of `quotient < number` or `quotient >= number`; else -1. */
static int quotient_side(const Kernel *k, const Op *cmp) {
    Word predicate = op_word(cmp, AT_PRED, CMP_NE);
    int side = predicate == CMP_LT || predicate == CMP_GE ? 0 : predicate == CMP_GT || predicate == CMP_LE ? 1 : -1;
    if (side < 0 || !is_tile(k, cmp->operands[side]) || !is_known(k, cmp->operands[1 - side])) return -1;
    const Op *div = op_of(k, cmp->operands[side]);
    bool divides = div && (div->code == OP_DIV || div->code == OP_FLOORDIV);
    return divides && is_tile(k, div->operands[0]) && is_known(k, div->operands[1]) ? side : -1;
}

/* Behind what defines both, at the top of the kernel. */
static Builder behind(Kernel *k, Ref x, Ref y) {
    Builder b = ir_builder(k, k->body);
    b.before = k->body->first;
    for (Op *op = k->body->first; op; op = op->next)
        if (op->result_count && (op->results[0] == x || op->results[0] == y)) b.before = op->next;
    return b;
}

/* number * divisor in 32 bits, where a launch keeps that it fits and both are at least 1; REF_NONE: none does. */
static Ref find_whole(Quotients *q, Ref number, Ref divisor) {
    Facts *f = &q->facts;
    Kernel *k = f->k;
    int64_t value;
    for (int i = 0; i < q->count; i++)
        if (q->at[i].number == number && q->at[i].divisor == divisor) return q->at[i].whole;
    if (q->count == MAX_WHOLES || (ir_const_int(k, divisor, &value) && value < 1) ||
        (ir_const_int(k, number, &value) && value < 1))
        return REF_NONE;
    Builder b = behind(k, divisor, number);
    Ref product = ir_binary_as(&b, OP_MUL, number, divisor, EL_I64);
    Ref whole = ir_cast(&b, product, EL_I32);
    if (!fact_wish_most(f, product, INT32_MAX) || !fact_wish_least(f, divisor, 1) || !fact_wish_least(f, number, 1))
        return REF_NONE;
    q->at[q->count].number = number;
    q->at[q->count].divisor = divisor;
    q->at[q->count++].whole = whole;
    return whole;
}

static void look_at_comparison(Op *cmp, void *user) {
    Quotients *q = user;
    int side = cmp->code == OP_CMP ? quotient_side(q->facts.k, cmp) : -1;
    if (side < 0) return;
    const Op *div = op_of(q->facts.k, cmp->operands[side]);
    Ref whole = find_whole(q, cmp->operands[1 - side], div->operands[1]);
    if (!whole) return;
    cmp->operands[side] = div->operands[0];
    cmp->operands[1 - side] = whole;
}

/* --- divisions --- */

static void look_at_division(Op *op, void *user) {
    Facts *f = &((Quotients *)user)->facts;
    bool divides = op->code == OP_DIV || op->code == OP_REM || op->code == OP_FLOORDIV || op->code == OP_MOD;
    int64_t value;
    if (!divides || !is_tile(f->k, op->operands[0]) || !is_known(f->k, op->operands[1]) ||
        ir_const_int(f->k, op->operands[1], &value) || !fact_surely_natural(f->k, op->operands[0]))
        return;
    fact_wish_least(f, op->operands[1], 0);
}

void access_quotients(PassContext *cx, Kernel *k) {
    Quotients q = {.facts = facts_new(k, cx->options.generic < REQUIRE_SIZES)};
    if (!q.facts.may_wish) return;
    ir_walk(k->body, look_at_comparison, &q);
    ir_walk(k->body, look_at_division, &q);
}
