/* schedule_natural.c: divisions of numbers that are not below 0.
 *
 *     %batch = div<natural> %pid, %chunks        const i32 batch = (i32)tw_div((u32)pid, (u32)chunks);
 *
 * Without a sign a division is half as long, and the remainder of the same numbers costs no other one. Only in blocks
 * that run one task, which begin with them: a persistent block takes its places while its copies are under way. */
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

static void look_at_op(Op *op, void *user) {
    const Schedule *s = user;
    int64_t number;
    if (can_be_natural(s, op) && !ir_const_int(s->k, op->operands[1], &number))
        op_set(s->k, op, (Attr){.id = AT_NATURAL, .number = 1});
}

void schedule_natural(Schedule *s) {
    if (s->tasks && !op_flag(s->tasks, AT_PERSIST)) ir_walk(s->k->body, look_at_op, s);
}

bool schedule_natural_holds(Schedule *s, const Op *op) {
    return !op_flag(op, AT_NATURAL) || can_be_natural(s, op) ||
           schedule_fail(s, op, "`natural` stands on divisions of integers that are known not to be below 0");
}
