/* SPDX-License-Identifier: Apache-2.0 */
/* contract.c: where a multiplication and an addition round once.
 *
 * Contract: with options.fuse, a `mul` of f32 or f64 that only feeds one `add` or `sub` becomes an
 * `fma` with it, and a `dot` onto zero that only feeds one `add` of f32 or i32 takes the other operand as
 * its accumulator (of 8-bit floats by `promote`: it remains an addition in f32). Nothing later
 * fuses or splits, and emitters compile with contraction off, so that a cut into roles can never
 * change a bit. f16 and bf16 arithmetic is the f32 operation rounded to the type each time; it is
 * left alone. Runs after `raise`, which has to see sums of products as they were written. A sum of f32 or f64
 * products of which each factor lacks one axis is a `dot`, so that their products never stand in a tile.
 *
 *     %p = mul %a, %b ; %s = add %p, %c     ->     %s = fma %a, %b, %c
 *     %p = mul %a, %b ; %s = sub %p, %c     ->     %n = neg %c ; %s = fma %a, %b, %n
 *     %p = mul %a, %b ; %s = sub %c, %p     ->     %n = neg %a ; %s = fma %n, %b, %c
 *     %p = mul %a, %b : f32[M,K,N] ; %s = reduce<add, axis=1> %p   ->   %s = dot %a, %b, 0, of a[M,K,1], b[1,K,N] */
#include "pass/fold/fold.h"
#include "pass/pass.h"

typedef struct Contract {
    Kernel *k;
    const int *uses;
    size_t known; /* values that uses covers */
    RefMap made;  /* sums that became something else; their users learn it in the end */
    bool widened; /* a dot is no longer rounded to 16 bits before it is added */
} Contract;

static const Op *single_use(const Contract *c, Ref r, Opcode code, const Op *user) {
    if (!ref_is_value(r) || r >= c->known || c->uses[r] != 1) return NULL;
    const Op *op = ir_value(c->k, refmap_get(&c->made, r))->op;
    return op && op->code == code && op->parent == user->parent ? op : NULL;
}

static bool is_zero(const Contract *c, Ref r) {
    const Op *splat = ref_is_value(r) ? ir_value(c->k, r)->op : NULL;
    if (!splat || splat->code != OP_SPLAT || !ref_is_literal(splat->operands[0])) return false;
    const Literal *literal = ir_literal(c->k, splat->operands[0]);
    return elem_is_float(literal->type->elem) ? literal->f == 0 : literal->i == 0;
}

static void finish(Contract *c, Op *op, Ref made) {
    ir_name(c->k, made, ir_value(c->k, op->results[0])->name);
    refmap_set(&c->made, op->results[0], made);
    ir_remove(op);
}

/* The dot that an operand of a sum is: as it stands, or asked for in 16 bits and widened for the sum. */
static const Op *single_dot(const Contract *c, Ref r, const Op *user) {
    const Op *widened = single_use(c, r, OP_CAST, user);
    if (!widened || ir_type(c->k, r)->elem != EL_F32) return single_use(c, r, OP_DOT, user);
    Elem from = ir_type(c->k, widened->operands[0])->elem;
    return from == EL_F16 || from == EL_BF16 ? single_use(c, widened->operands[0], OP_DOT, user) : NULL;
}

static bool fuse_dot(Contract *c, Op *op) {
    if (op->code != OP_ADD) return false;
    for (int i = 0; i < 2; i++) {
        const Op *dot = single_dot(c, op->operands[i], op);
        Ref other = op->operands[1 - i];
        if (!dot || !is_zero(c, dot->operands[2])) continue;
        if (ir_type(c->k, other) != ir_type(c->k, op->operands[i])) continue;
        Builder b = ir_builder_before(c->k, op);
        Op *sum = ir_begin(&b, OP_DOT);
        for (int n = 0; n < 2; n++) ir_operand(&b, sum, dot->operands[n]);
        ir_operand(&b, sum, other);
        for (int n = 0; n < dot->attr_count; n++) op_set(c->k, sum, dot->attrs[n]);
        const Type *x = ir_type(c->k, dot->operands[0]);
        int64_t k = x->extent[x->rank - 1];
        if (elem_is_float(x->elem) && elem_info[x->elem].bits == 8 && op_int(dot, AT_PROMOTE, k + 1) > k)
            op_set(c->k, sum, (Attr){.id = AT_PROMOTE, .number = k});
        c->widened |= ir_type(c->k, dot->results[0]) != ir_type(c->k, other);
        finish(c, op, ir_end(&b, sum, NULL));
        return true;
    }
    return false;
}

/* A factor before it was repeated along the axes that it lacks. */
static Ref unrepeated(const Contract *c, Ref factor) {
    const Op *op = ref_is_value(factor) ? ir_value(c->k, factor)->op : NULL;
    return op && op->code == OP_BROADCAST ? op->operands[0] : factor;
}

/* The factor as a matrix: without the axis that it lacks, its axis `first` before the other one. */
static Ref matrix_of(Builder *b, const Kernel *k, Ref factor, int lacks, int first) {
    const Op *op = ir_value(k, factor)->op;
    const Type *type = ir_type(k, factor);
    int64_t extent[2], turn[] = {1, 0};
    for (int d = 0, n = 0; d < 3; d++)
        if (d != lacks) extent[n++] = type->extent[d];
    bool expands = op && op->code == OP_EXPAND && op_int(op, AT_AXIS, 0) == lacks;
    Ref matrix = expands ? op->operands[0] : ir_reshape(b, factor, ty_tile(k->module, type->elem, 2, extent));
    return first > 3 - lacks - first ? ir_permute(b, matrix, turn, 2) : matrix;
}

static void fuse_sum(Contract *c, Op *op) {
    const Kernel *k = c->k;
    const Type *type = ir_type(k, op->results[0]);
    if (op_word(op, AT_COMBINE, WORD_NONE) != COMBINE_ADD || op->operand_count != 1 || type->rank != 2) return;
    if (type->elem != EL_F32 && type->elem != EL_F64) return;
    const Op *mul = single_use(c, op->operands[0], OP_MUL, op);
    if (!mul || !ref_is_value(mul->operands[0]) || !ref_is_value(mul->operands[1])) return;
    int along = (int)op_int(op, AT_AXIS, 0), m = along == 0, n = along == 2 ? 1 : 2;
    Ref x = unrepeated(c, mul->operands[0]), y = unrepeated(c, mul->operands[1]);
    const Type *product = ir_type(k, op->operands[0]);
    if (ir_type(k, x)->rank != 3 || ir_type(k, y)->rank != 3) return;
    if (ir_type(k, x)->extent[m] == 1) {
        Ref other = x;
        x = y, y = other;
    }
    const Type *left = ir_type(k, x), *right = ir_type(k, y);
    for (int d = 0; d < 3; d++) {
        if (product->extent[d] < 2 || left->extent[d] != (d == n ? 1 : product->extent[d])) return;
        if (right->extent[d] != (d == m ? 1 : product->extent[d])) return;
    }
    Builder b = ir_builder_before(c->k, op);
    Ref zero = ir_splat(&b, ir_float(&b, type->elem, 0), type);
    Ref across = matrix_of(&b, k, y, m, along);
    Ref sum = ir_dot(&b, matrix_of(&b, k, x, n, m), across, zero);
    finish(c, op, sum);
}

static void fuse_op(Op *op, void *user) {
    Contract *c = user;
    if (op->code == OP_REDUCE) fuse_sum(c, op);
    if (op->code != OP_ADD && op->code != OP_SUB) return;
    const Type *type = ir_type(c->k, op->results[0]);
    if (type->pointer || (type->elem != EL_F32 && type->elem != EL_F64 && type->elem != EL_I32)) return;
    if (fuse_dot(c, op) || type->elem == EL_I32) return;
    for (int i = 0; i < 2; i++) {
        const Op *mul = single_use(c, op->operands[i], OP_MUL, op);
        if (!mul) continue;
        Ref x = mul->operands[0], y = mul->operands[1], z = op->operands[1 - i];
        Builder b = ir_builder_before(c->k, op);
        if (op->code == OP_SUB && i == 0) z = ir_unary(&b, OP_NEG, z);
        if (op->code == OP_SUB && i == 1) x = ir_unary(&b, OP_NEG, x);
        finish(c, op, ir_ternary(&b, OP_FMA, x, y, z));
        return;
    }
}

bool pass_contract(PassContext *cx, Kernel *k) {
    if (!cx->options.fuse) return false;
    Contract c = {
        .k = k, .uses = ir_count_uses(k, cx->scratch), .known = k->values.count, .made = {.arena = cx->scratch}};
    ir_walk(k->body, fuse_op, &c);
    ir_replace_map(k, &c.made);
    cx->widened |= c.widened;
    if (c.made.map.count) fold_tidy(k, cx->scratch);
    return c.made.map.count > 0;
}
