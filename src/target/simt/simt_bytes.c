/* SPDX-License-Identifier: Apache-2.0 */
/* simt_bytes.c: casts from and to floats of 8 bits, two numbers an instruction.
 *
 * Machines with `f8_pairs` round two numbers into two bytes by one instruction, and widen two by one; one alone takes
 * as long, and bytes that are taken apart and put together besides. So such a cast is no part of the loop over the
 * registers around it:
 *
 *     e4m3 c[128];
 *     for (int r = 0; r < 128; r += 2) tw_two_e4m3(c + r, acc[r], acc[r + 1]);
 *     f32 x[128];
 *     for (int r = 0; r < 128; r += 2) tw_two_f32(x + r, x_load + r); */
#include "target/simt/simt.h"

static bool is_byte(Elem elem) { return elem == EL_F8E4M3 || elem == EL_F8E5M2; }

bool bytes_are(Emit *e, const Op *op) {
    if (op->code != OP_CAST || !e->cx->machine->f8_pairs || e->lean || op_flag(op, AT_PACKED) ||
        op_word(op, AT_ROUND, ROUND_RN) != ROUND_RN || !emit_is_tile(e, op->results[0]) ||
        !emit_is_tile(e, op->operands[0]))
        return false;
    const Layout *to = emit_layout(e, op->results[0]), *from = emit_layout(e, op->operands[0]);
    if (!to || !from || to->home != HOME_REGISTERS || from->home != HOME_REGISTERS || to->registers % 2 ||
        to->registers != from->registers || !ll_equal(&to->map, &from->map))
        return false;
    Elem wide = ir_type(e->k, op->operands[0])->elem, narrow = ir_type(e->k, op->results[0])->elem;
    if (is_byte(wide)) return narrow == EL_F32;
    return is_byte(narrow) && (wide == EL_F32 || wide == EL_F16 || wide == EL_BF16);
}

void bytes_emit(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    const Layout *layout = emit_layout(e, result);
    const Type *type = ir_type(e->k, result);
    const char *array = emit_declare(e, result);
    const Expr *second = ex(e->arena, "(r + 1)");
    emit_unroll(e, "r", layout->registers, 2);
    if (is_byte(type->elem))
        cs_line(&e->p, "tw_two_%s(%s + r, %p, %p);", cs_memory_type(type->elem), array,
                elementwise_operand(e, x, layout, &place_r), elementwise_operand(e, x, layout, second));
    else if (emit_hold(e, x)->kind == HOLD_ARRAY)
        cs_line(&e->p, "tw_two_f32(%s + r, %p + r);", array, emit_hold(e, x)->by);
    else
        for (int i = 0; i < 2; i++)
            cs_line(&e->p, i ? "%s[r + 1] = %p;" : "%s[r] = %p;", array,
                    elementwise_operand(e, x, layout, i ? second : &place_r));
    cs_close(&e->p);
}
