/* SPDX-License-Identifier: Apache-2.0 */
/* simt_pairs.c: tiles of 16-bit floats as words, two elements each, and such as stay f32 until they are stored; which
 * those are stands at their ops (`held`, decided in pass/layout/layout_hold.c).
 *
 *     u32 x[4];                                           f32 y[8];
 *     tw_ldg_pairs(4, on, x, p, 0xff80ff80u);             y[r] = tw_bf16_at(x, r) * scale;
 *                                                         word[0] = tw_pack_bf16(y[r], y[r + 1]);
 *
 * Sums and products of two tiles of pairs are taken two at a time, by tw_add_bf16x2, tw_mul_bf16x2. Half words cost
 * instructions, and NVRTC much time to see through: arrays of them took a third of the time that it needs for a
 * softmax. */
#include "target/simt/simt_box.h"

static Word held(const Emit *e, Ref value) {
    const Op *op = ref_is_value(value) ? ir_value(e->k, value)->op : NULL;
    return op ? op_word(op, AT_HELD, WORD_NONE) : WORD_NONE;
}

bool pairs_are(const Op *op) { return op_word(op, AT_HELD, WORD_NONE) == HELD_PAIRS; }

void pairs_emit(Emit *e, const Op *op) {
    const char *name = layout_pair_function(e->k, op), *type = cs_memory_type(ir_type(e->k, op->results[0])->elem);
    const Expr *x = emit_hold(e, op->operands[0])->by, *y = emit_hold(e, op->operands[1])->by;
    const char *array = pairs_declare(e, op->results[0]);
    emit_unroll(e, "r", emit_layout(e, op->results[0])->registers / 2, 1);
    cs_line(&e->p, "%s[r] = tw_%s_%sx2(%p[r], %p[r]);", array, name, type, x, y);
    cs_close(&e->p);
}

const char *pairs_declare(Emit *e, Ref value) {
    Word form = held(e, value);
    if (!form) return NULL;
    const char *name = cs_name(&e->p, value);
    int count = emit_layout(e, value)->registers;
    cs_line(&e->p, "%s %s[%d];", form == HELD_PAIRS ? "u32" : "f32", name, form == HELD_PAIRS ? count / 2 : count);
    emit_set_name(e, value, form == HELD_PAIRS ? HOLD_PAIRS : HOLD_WIDE, name);
    return name;
}

const Expr *pairs_element(Emit *e, Ref value, const Expr *at) {
    const char *type = cs_memory_type(ir_type(e->k, value)->elem);
    return ex(e->arena, "tw_%s_at(%p, %p)", type, emit_hold(e, value)->by, at);
}

const Expr *pairs_fill(Emit *e, const Op *load) {
    Elem elem = ir_type(e->k, load->results[0])->elem;
    int half = box_fill_bits(e, load, elem);
    if (half >= 0) return ex(e->arena, "0x%04x%04xu", half, half);
    const Expr *fill = box_fill(e, load, elem);
    return ex(e->arena, "tw_pack(%p, %p)", fill, fill);
}

const Expr *pairs_stored(Emit *e, Ref value, int vector) {
    const Hold *hold = emit_hold(e, value);
    if (hold->kind == HOLD_PAIRS) return ex(e->arena, "%p + r / 2", hold->by);
    const char *type = cs_memory_type(ir_type(e->k, value)->elem);
    const Expr *array = hold->by;
    cs_line(&e->p, "u32 word[%d];", vector / 2);
    for (int j = 0; j < vector / 2; j++)
        if (j)
            cs_line(&e->p, "word[%d] = tw_pack_%s(%p[r + %d], %p[r + %d]);", j, type, array, 2 * j, array, 2 * j + 1);
        else
            cs_line(&e->p, "word[0] = tw_pack_%s(%p[r], %p[r + 1]);", type, array, array);
    return ex_name(e->arena, "word");
}

/* Element 2 r (`odd`: the one behind it) of what a pair is made of, as it is held, or as a number. */
static const Expr *half_of(Emit *e, Ref x, const Layout *at, bool odd) {
    const Expr *r = odd ? ex(e->arena, "(2 * r + 1)") : ex(e->arena, "2 * r");
    const Type *type = ir_type(e->k, x);
    if (emit_is_tile(e, x) && emit_hold(e, x)->kind == HOLD_ARRAY)
        return ex(e->arena, type->elem == EL_I32 ? "(f32)%p[%p]" : "%p[%p]", emit_hold(e, x)->by,
                  place_operand(e, x, at, r));
    return elementwise_packed(e, type->elem, elementwise_operand(e, x, at, r));
}

const Expr *pairs_made(Emit *e, Ref x, const Layout *at) {
    const Op *op = emit_is_tile(e, x) ? ir_value(e->k, x)->op : NULL;
    bool packed = op && op_flag(op, AT_PACKED);
    const char *elem = cs_memory_type(ir_type(e->k, x)->elem);
    if (packed && op->code != OP_CAST)
        return ex(e->arena, "tw_%s_%sx2(%p, %p)", layout_pair_name(e->k, op), elem, pairs_made(e, op->operands[0], at),
                  pairs_made(e, op->operands[1], at));
    Ref from = packed ? op->operands[0] : x;
    return ex(e->arena, "tw_pack%s%s(%p, %p)", packed ? "_" : "", packed ? elem : "", half_of(e, from, at, false),
              half_of(e, from, at, true));
}

void pairs_make(Emit *e, Ref value) {
    const char *words = cs_fresh(&e->p, "words");
    int count = emit_layout(e, value)->registers / 2;
    cs_line(&e->p, "u32 %s[%d];", words, count);
    emit_unroll(e, "r", count, 1);
    cs_line(&e->p, "%s[r] = %p;", words, pairs_made(e, value, emit_layout(e, value)));
    cs_close(&e->p);
    emit_set_name(e, value, HOLD_WORDS, words);
}
