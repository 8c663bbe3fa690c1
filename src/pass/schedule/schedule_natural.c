/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_natural.c: divisions of numbers that are not below 0, and of whole tiles by one number; extents of tensors
 * that are not below 0.
 *
 *     %batch = div<natural> %pid, %chunks        const i32 batch = (i32)tw_div((u32)pid, (u32)chunks);
 *
 * Without a sign a division is half as long, and the remainder of the same numbers costs no other one. Those of tiles
 * (rows of a convolution) always; of numbers only in blocks that run one task and begin with them (a persistent block
 * takes its places while its copies are under way), and in flat kernels.
 *
 *     %y = div<approx, over> %x, %sum            const TwOver over = tw_over(sum);  ..  y[r] = tw_div_over(x[r], over);
 *
 * What an approximate division has to do with its divisor alone is done once.
 *
 *     %T = tensor<natural=[0]> %x, [%n, %m], [..]        (u64)i0 < (u64)n && (u64)i1 < (u64)tw_max((i64)m, (i64)0) */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

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
    return (type->elem == EL_I32 || type->elem == EL_I64) &&
           fact_surely_natural(s->k, op->operands[0]) && fact_surely_natural(s->k, op->operands[1]);
}

/* A tile by one number, in the approximate form. */
static bool can_be_over(const Schedule *s, const Op *op) {
    if (op->code != OP_DIV || !op_flag(op, AT_APPROX) || ir_type(s->k, op->results[0])->elem != EL_F32) return false;
    Ref divisor = op->operands[1];
    const Layout *layout = schedule_layout(s->k, op->results[0]);
    return layout && layout->registers > 1 && !ref_is_literal(divisor) && tile_is_number(s->k, divisor) &&
           !tile_is_number(s->k, op->results[0]);
}

/* --- tensors --- */
/* Dimensions whose extents are arguments that a launch has tested not to be below 0; their number. Bounds are compared
 * unsigned; an extent that is computed (what a mask leaves of a row) may be below 0, and is then taken for 0. */
static int natural_extents(const Schedule *s, const Op *tensor, int64_t *dims) {
    RefList extents = op_list(tensor, 0);
    int count = 0;
    for (int d = 0; d < extents.count; d++)
        if (ref_is_value(extents.at[d]) && !ir_value(s->k, extents.at[d])->op &&
            fact_stated_least(s->k, extents.at[d]) >= 0)
            dims[count++] = d;
    return count;
}

static void plan_tensor(const Schedule *s, Op *tensor) {
    int64_t *dims = ARENA_ARRAY(s->k->module->arena, int64_t, MAX_RANK);
    int count = natural_extents(s, tensor, dims);
    if (count) op_set(s->k, tensor, (Attr){.id = AT_NATURALS, .list = {.at = dims, .count = count}});
}

static bool tensor_holds(Schedule *s, const Op *tensor) {
    const Attr *written = op_attr(tensor, AT_NATURALS);
    int64_t dims[MAX_RANK];
    int count = natural_extents(s, tensor, dims);
    for (int i = 0, at = 0; written && i < written->list.count; i++) {
        while (at < count && dims[at] < written->list.at[i]) at++;
        if (at == count || dims[at++] != written->list.at[i])
            return schedule_fail(s, tensor,
                                 "`natural` names dimensions, in their order, whose extents are arguments that a "
                                 "`require` says not to be below 0");
    }
    return true;
}

static void look_at_tile(Op *op, void *user) {
    const Schedule *s = user;
    if (op->code == OP_TENSOR) plan_tensor(s, op);
    if (can_be_over(s, op)) op_set(s->k, op, (Attr){.id = AT_OVER, .number = 1});
}

static void look_at_op(Op *op, void *user) {
    const Schedule *s = user;
    int64_t number;
    bool tile = op->result_count && ir_type(s->k, op->results[0])->rank;
    if (!tile && s->tasks && op_flag(s->tasks, AT_PERSIST)) return;
    if (can_be_natural(s, op) && !ir_const_int(s->k, op->operands[1], &number))
        op_set(s->k, op, (Attr){.id = AT_NATURAL, .number = 1});
}

void schedule_natural(Schedule *s) {
    ir_walk(s->k->body, look_at_tile, s);
    ir_walk(s->k->body, look_at_op, s);
}

bool schedule_natural_holds(Schedule *s, const Op *op) {
    if (op->code == OP_TENSOR) return tensor_holds(s, op);
    if (op_flag(op, AT_OVER) && !can_be_over(s, op))
        return schedule_fail(s, op, "`over` stands on approximate divisions of a tile of f32 by one number");
    return !op_flag(op, AT_NATURAL) || can_be_natural(s, op) ||
           schedule_fail(s, op, "`natural` stands on divisions of integers that are known not to be below 0");
}
