/* schedule_dot.c: what a product does beside multiplying: run under other work, and round its own left operand.
 *
 * A cast to the type of the left operand that only the product takes is done by it (`packed`): one instruction rounds
 * and packs two numbers as the matrix instruction wants them, and the rounded tile is never an array. */
#include "pass/schedule/schedule.h"

bool schedule_is_async(const Schedule *s, const Op *dot) {
    return matrix_overlaps(s->k, dot) && ty_elem_bytes(ir_type(s->k, dot->results[0])) >= 4;
}

/* Are all elements one number? Then the text has no array of it. */
static bool is_number(const Kernel *k, Ref ref) {
    if (!ref_is_value(ref) || !ir_type(k, ref)->rank) return true;
    const Op *op = ir_value(k, ref)->op;
    if (!op || op->code == OP_IOTA) return false;
    switch (op->code) {
    case OP_SPLAT:
    case OP_UNDEF: return true;
    case OP_EXPAND:
    case OP_PERMUTE:
    case OP_RESHAPE:
    case OP_BROADCAST:
    case OP_CONVERT: return is_number(k, op->operands[0]);
    default: break;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (!is_number(k, op->operands[i])) return false;
    return op_has(op->code, TRAIT_ELEMENTWISE);
}

static bool can_pack(const Schedule *s, const Op *cast) {
    if (cast->code != OP_CAST || op_attr(cast, AT_ROUND) || ir_type(s->k, cast->operands[0])->elem != EL_F32)
        return false;
    Ref result = cast->results[0];
    const Layout *layout = schedule_layout(s->k, result);
    const Op *dot = cast->next;
    while (dot && !(dot->code == OP_DOT && dot->operands[0] == result)) dot = dot->next;
    return dot && s->uses[result] == 1 && layout->home == HOME_REGISTERS && !is_number(s->k, cast->operands[0]);
}

static void plan_cast(Op *op, void *user) {
    Schedule *s = user;
    if (can_pack(s, op)) op_set(s->k, op, (Attr){.id = AT_PACKED, .number = 1});
}

void schedule_dot(Schedule *s) { ir_walk(s->k->body, plan_cast, s); }

bool schedule_dot_holds(Schedule *s, const Op *cast) {
    return can_pack(s, cast) || schedule_fail(s, cast, "no dot alone takes it from registers as its left operand");
}
