/* schedule_natural.c: divisions of numbers that are not below 0, and of whole tiles by one number.
 *
 *     %batch = div<natural> %pid, %chunks        const i32 batch = (i32)tw_div((u32)pid, (u32)chunks);
 *
 * Without a sign a division is half as long, and the remainder of the same numbers costs no other one. Only in blocks
 * that run one task, which begin with them: a persistent block takes its places while its copies are under way.
 *
 *     %y = div<approx, over> %x, %sum            const TwOver over = tw_over(sum);  ..  y[r] = tw_div_over(x[r], over);
 *
 * What an approximate division has to do with its divisor alone is done once. */
#include "pass/schedule/schedule.h"

static bool can_be_natural(const Schedule *s, const Op *op) {
    switch (op->code) {
    case OP_DIV:
    case OP_REM:
    case OP_FLOORDIV:
    case OP_MOD:
    case OP_CDIV: break;
    default: return false;
    }
    const Type *type = ir_type(s->k, op->results[0]);
    return !type->rank && (type->elem == EL_I32 || type->elem == EL_I64) &&
           fact_surely_natural(s->k, op->operands[0]) && fact_surely_natural(s->k, op->operands[1]);
}

/* A tile by one number, in the approximate form. */
static bool can_be_over(const Schedule *s, const Op *op) {
    if (op->code != OP_DIV || !op_flag(op, AT_APPROX) || ir_type(s->k, op->results[0])->elem != EL_F32) return false;
    Ref divisor = op->operands[1];
    const Layout *layout = schedule_layout(s->k, op->results[0]);
    return layout && layout->registers > 1 && !ref_is_literal(divisor) && schedule_is_number(s->k, divisor) &&
           !schedule_is_number(s->k, op->results[0]);
}

static void look_at_tile(Op *op, void *user) {
    const Schedule *s = user;
    if (can_be_over(s, op)) op_set(s->k, op, (Attr){.id = AT_OVER, .number = 1});
}

static void look_at_op(Op *op, void *user) {
    const Schedule *s = user;
    int64_t number;
    if (can_be_natural(s, op) && !ir_const_int(s->k, op->operands[1], &number))
        op_set(s->k, op, (Attr){.id = AT_NATURAL, .number = 1});
}

void schedule_natural(Schedule *s) {
    ir_walk(s->k->body, look_at_tile, s);
    if (s->tasks && !op_flag(s->tasks, AT_PERSIST)) ir_walk(s->k->body, look_at_op, s);
}

bool schedule_natural_holds(Schedule *s, const Op *op) {
    if (op_flag(op, AT_OVER) && !can_be_over(s, op))
        return schedule_fail(s, op, "`over` stands on approximate divisions of a tile of f32 by one number");
    return !op_flag(op, AT_NATURAL) || can_be_natural(s, op) ||
           schedule_fail(s, op, "`natural` stands on divisions of integers that are known not to be below 0");
}
