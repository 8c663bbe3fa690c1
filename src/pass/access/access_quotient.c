/* access_quotient.c: rows that a kernel counts by dividing (pixels of images, tokens of sequences).
 *
 * Whether a quotient is below a number is a question about what was divided, and as such the end of a range:
 *
 *     %image = div %rows, %d ; %inside = cmp<lt> %image, %images
 *  -> require<least=1> %d, %images ; %n = %images * %d, which fits into 32 bits (`require`) ; %inside = cmp<lt> %rows, %n
 *
 * That is so for every %rows: one below 0 has a quotient of at most 0, which is below %images. A mask that was an index
 * vector for each row, with a division for each, is an extent then.
 *
 * A tile that is never below 0 is divided without its sign (`natural`, schedule_natural.c) where its divisor is not below
 * 0 either: a launch can tell, and is asked to. */
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

/* --- comparisons --- */

/* The side of a comparison with a tile's quotient on it, of `quotient < number` or `quotient >= number`; -1: neither. */
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

static void compare_whole(Facts *f, Op *cmp) {
    Kernel *k = f->k;
    int side = quotient_side(k, cmp);
    if (side < 0) return;
    const Op *div = op_of(k, cmp->operands[side]);
    Ref divisor = div->operands[1], number = cmp->operands[1 - side];
    int64_t value;
    if ((ir_const_int(k, divisor, &value) && value < 1) || (ir_const_int(k, number, &value) && value < 1)) return;
    fact_wish_least(f, divisor, 1);
    fact_wish_least(f, number, 1);
    Builder b = behind(k, divisor, number);
    Ref product = ir_binary(&b, OP_MUL, ir_cast(&b, number, EL_I64), ir_cast(&b, divisor, EL_I64));
    Ref whole = ir_cast(&b, product, EL_I32);
    if (ir_const_int(k, product, &value) ? value > INT32_MAX : !fact_wish_most(f, product, INT32_MAX)) return;
    cmp->operands[side] = div->operands[0];
    cmp->operands[1 - side] = whole;
}

/* --- divisions --- */

static void divide_unsigned(Facts *f, const Op *op) {
    bool divides = op->code == OP_DIV || op->code == OP_REM || op->code == OP_FLOORDIV || op->code == OP_MOD;
    int64_t value;
    if (!divides || !is_tile(f->k, op->operands[0]) || !is_known(f->k, op->operands[1]) ||
        ir_const_int(f->k, op->operands[1], &value) || !fact_surely_natural(f->k, op->operands[0]))
        return;
    fact_wish_least(f, op->operands[1], 0);
}

static void look_at_comparison(Op *op, void *user) {
    if (op->code == OP_CMP) compare_whole(user, op);
}

static void look_at_division(Op *op, void *user) { divide_unsigned(user, op); }

void access_quotients(PassContext *cx, Kernel *k) {
    Facts f = facts_new(k, cx->options.generic < REQUIRE_SIZES);
    if (!f.may_wish) return;
    ir_walk(k->body, look_at_comparison, &f);
    ir_walk(k->body, look_at_division, &f);
}
