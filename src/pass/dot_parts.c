/* SPDX-License-Identifier: Apache-2.0 */
/* dot_parts.c: dots that the matrix units of a SIMT machine do in parts, taken apart before their instruction is
 * stamped.
 *
 *   [B, M, K] x [B, K, N]   a product of matrices for each b; few of them side by side, many in a loop
 *   tf32x3                  x = hi + lo, both tf32:      lo hi' + hi lo' + hi hi'
 *   bf16x3, bf16x6          x = b0 + b1 + b2:            b1 b0' + b0 b1' + b0 b0', and the next three
 *   f8 kinds that no instruction multiplies              as f16, which is exact
 *
 * Small terms are added first. A part that is infinite or NaN stands in the first term alone, as the whole would. */
#include "pass/pass.h"

#include "ir/build.h"
#include "pass/matrix.h"

enum { UNROLLED_BATCH = 16 }; /* more would only make the text long */

typedef struct Parts {
    PassContext *cx;
    Kernel *k;
    bool changed;
} Parts;

static const Type *type_of(const Parts *p, Ref ref) { return ir_type(p->k, ref); }

static Ref make_dot(Builder *b, const Op *like, Ref x, Ref y, Ref z, Word precision) {
    Op *op = ir_begin(b, OP_DOT);
    ir_operand(b, op, x);
    ir_operand(b, op, y);
    ir_operand(b, op, z);
    for (int i = 0; i < like->attr_count; i++)
        if (like->attrs[i].id != AT_PREC) op_set(b->kernel, op, like->attrs[i]);
    if (precision != WORD_NONE) op_set(b->kernel, op, (Attr){.id = AT_PREC, .word = precision});
    return ir_end(b, op, NULL);
}

static void replace(Parts *p, Op *op, Ref made) {
    ir_name(p->k, made, ir_value(p->k, op->results[0])->name);
    ir_replace_all(p->k, op->results[0], made);
    ir_remove(op);
    p->changed = true;
}

/* --- batches --- */
/* Matrix number `at` of a stack of matrices. */
static Ref take_matrix(Parts *p, Builder *b, Ref stack, Ref at) {
    const Type *t = type_of(p, stack);
    int64_t thin[3] = {1, t->extent[1], t->extent[2]};
    Ref zero = ir_int(b, EL_I32, 0), offsets[3] = {at, zero, zero};
    Ref slice = ir_slice(b, stack, offsets, ty_with_shape(p->k->module, t, 3, thin));
    return ir_reshape(b, slice, ty_with_shape(p->k->module, t, 2, thin + 1));
}

/* The load of a whole stack that only the dot takes: its matrices can be loaded one by one, and lie where a product
 * wants them. */
static Op *load_of_stack(const Parts *p, const Op *dot, Ref stack) {
    Op *load = ref_is_value(stack) ? ir_value(p->k, stack)->op : NULL;
    if (!load || load->code != OP_TLOAD || op_attr(load, AT_DIMS) || op_operand(load, 1)) return NULL;
    bool whole = ir_type(p->k, load->operands[0])->rank == 3 && type_of(p, stack)->rank == 3;
    if (!whole || type_of(p, op_list(load, 0).at[0])->rank || load->parent != dot->parent) return NULL;
    return ir_count_uses(p->k, p->cx->scratch)[stack] == 1 ? load : NULL;
}

static Ref load_matrix(Parts *p, Op *load, int64_t at) {
    Builder b = ir_builder_before(p->k, load);
    const Type *t = type_of(p, load->results[0]);
    RefList from = op_list(load, 0);
    Ref offsets[3] = {from.at[0], from.at[1], from.at[2]};
    if (at) offsets[0] = ir_binary(&b, OP_ADD, ir_cast(&b, from.at[0], EL_I64), ir_int(&b, EL_I64, at));
    Ref made = ir_tload(&b, load->operands[0], offsets, REF_NONE, ty_with_shape(p->k->module, t, 2, t->extent + 1));
    Op *op = ir_value(p->k, made)->op;
    for (int i = 0; i < load->attr_count; i++) op_set(p->k, op, load->attrs[i]);
    ir_name(p->k, made, ir_value(p->k, load->results[0])->name);
    return made;
}

static void split_batch(Parts *p, Op *op) {
    Builder b = ir_builder_before(p->k, op);
    const Type *whole = type_of(p, op->results[0]);
    int64_t count = 1;
    Ref x[3];
    for (int d = 0; d < whole->rank - 2; d++) count *= whole->extent[d];
    for (int i = 0; i < 3; i++) {
        const Type *t = type_of(p, op->operands[i]);
        int64_t flat[3] = {count, t->extent[t->rank - 2], t->extent[t->rank - 1]};
        const Type *stack = ty_with_shape(p->k->module, t, 3, flat);
        x[i] = t == stack ? op->operands[i] : ir_reshape(&b, op->operands[i], stack);
    }
    Ref made;
    Word precision = op_word(op, AT_PREC, WORD_NONE);
    if (count <= UNROLLED_BATCH) {
        Op *cat = ir_begin(&b, OP_CAT), *load[3];
        for (int j = 0; j < 3; j++) load[j] = j < 2 && count > 1 ? load_of_stack(p, op, x[j]) : NULL;
        for (int64_t i = 0; i < count; i++) {
            Ref at = ir_int(&b, EL_I32, i), part[3];
            for (int j = 0; j < 3; j++) part[j] = load[j] ? load_matrix(p, load[j], i) : take_matrix(p, &b, x[j], at);
            Ref dot = make_dot(&b, op, part[0], part[1], part[2], precision);
            ir_operand(&b, cat, ir_expand(&b, dot, 0));
        }
        op_set(p->k, cat, (Attr){.id = AT_AXIS, .number = 0});
        made = count == 1 ? cat->operands[0] : ir_end(&b, cat, NULL);
        for (int j = 0; j < 3; j++)
            if (load[j]) ir_remove(load[j]);
    } else {
        Ref zero = ir_int(&b, EL_I32, 0);
        Op *loop = ir_for(&b, zero, ir_int(&b, EL_I32, count), ir_int(&b, EL_I32, 1), &x[2], 1, "batch");
        Builder in = ir_builder_inside(&b, loop->regions[0]);
        Ref at = loop->regions[0]->args[0], sum = loop->regions[0]->args[1], part[3];
        for (int j = 0; j < 3; j++) part[j] = take_matrix(p, &in, j == 2 ? sum : x[j], at);
        Ref dot = make_dot(&in, op, part[0], part[1], part[2], precision);
        Ref offsets[3] = {at, zero, zero};
        Ref next = ir_insert(&in, sum, offsets, ir_expand(&in, dot, 0));
        ir_yield(&in, &next, 1);
        made = loop->results[0];
    }
    replace(p, op, type_of(p, made) == whole ? made : ir_reshape(&b, made, whole));
}

/* --- precisions --- */
/* x without the bits that tf32 has no room for. */
static Ref cut_tf32(Parts *p, Builder *b, Ref x) {
    const Type *t = type_of(p, x), *bits = ty_with_elem(p->k->module, t, EL_U32);
    Op *to = ir_begin(b, OP_BITCAST);
    ir_operand(b, to, x);
    Ref cut = ir_binary(b, OP_AND, ir_end(b, to, bits), ir_int(b, EL_U32, 0xffffe000));
    Op *back = ir_begin(b, OP_BITCAST);
    ir_operand(b, back, cut);
    return ir_end(b, back, t);
}

/* What is left of x when a part was taken; 0 where x is not finite. */
static Ref rest_of(Builder *b, Ref x, Ref part) {
    Ref rest = ir_binary(b, OP_SUB, x, part);
    Ref finite = ir_compare(b, CMP_EQ, rest, rest);
    return ir_ternary(b, OP_SELECT, finite, rest, ir_float(b, EL_F32, 0));
}

static void split_tf32(Parts *p, Op *op) {
    Builder b = ir_builder_before(p->k, op);
    Ref high[2], low[2], sum = op->operands[2];
    for (int i = 0; i < 2; i++) {
        high[i] = cut_tf32(p, &b, op->operands[i]);
        low[i] = rest_of(&b, op->operands[i], high[i]);
    }
    sum = make_dot(&b, op, low[0], high[1], sum, PREC_TF32);
    sum = make_dot(&b, op, high[0], low[1], sum, PREC_TF32);
    replace(p, op, make_dot(&b, op, high[0], high[1], sum, PREC_TF32));
}

static void split_bf16(Parts *p, Op *op, bool six) {
    static const struct { int x, y; } terms[] = {{1, 1}, {2, 0}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    Builder b = ir_builder_before(p->k, op);
    Ref part[2][3], sum = op->operands[2];
    for (int i = 0; i < 2; i++) {
        Ref left = op->operands[i];
        for (int j = 0; j < (six ? 3 : 2); j++) {
            part[i][j] = ir_cast(&b, left, EL_BF16);
            left = rest_of(&b, left, ir_cast(&b, part[i][j], EL_F32));
        }
    }
    for (int i = six ? 0 : 3; i < 6; i++)
        sum = make_dot(&b, op, part[0][terms[i].x], part[1][terms[i].y], sum, WORD_NONE);
    replace(p, op, sum);
}

/* --- f8 --- */
static bool is_f8(Elem elem) { return elem_is_float(elem) && elem_info[elem].bits == 8; }

static void widen_f8(Parts *p, Op *op) {
    Builder b = ir_builder_before(p->k, op);
    Ref x[2];
    for (int i = 0; i < 2; i++) x[i] = ir_cast(&b, op->operands[i], EL_F16);
    replace(p, op, make_dot(&b, op, x[0], x[1], op->operands[2], WORD_NONE));
}

static void take_apart(Op *op, void *user) {
    Parts *p = user;
    if (op->code != OP_DOT) return;
    const Type *a = type_of(p, op->operands[0]), *y = type_of(p, op->operands[1]);
    Word precision = op_word(op, AT_PREC, PREC_IEEE);
    const Machine *machine = p->cx->machine;
    if (a->rank > 2)
        split_batch(p, op);
    else if (!machine->matrix)
        return;
    else if (is_f8(a->elem) && !matrix_multiplies(machine, a->elem, y->elem, WORD_NONE))
        widen_f8(p, op);
    else if (a->elem == EL_F32 && y->elem == EL_F32 && precision == PREC_TF32X3)
        split_tf32(p, op);
    else if (a->elem == EL_F32 && y->elem == EL_F32 && (precision == PREC_BF16X3 || precision == PREC_BF16X6))
        split_bf16(p, op, precision == PREC_BF16X6);
}

void dots_take_apart(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads) return;
    Parts p = {cx, k, true};
    while (p.changed) { /* a matrix of a batch may want parts of its own */
        p.changed = false;
        ir_walk(k->body, take_apart, &p);
    }
}
