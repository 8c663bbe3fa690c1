/* SPDX-License-Identifier: Apache-2.0 */
/* ring_late.c: sums that are rounded before they are added up, carried to the next trip.
 *
 * `acc = acc * a + dot(p, v, out_dtype=float16)` adds a product to the accumulator by itself, rounded. Nothing then
 * runs under the product. So its sum goes on to the next trip, with the factor that belongs to it, and is added there:
 *
 *     for (acc) { .. ; t = dot p, v, 0 : f16 ; acc = fma acc, a, cast t }
 *  -> for (acc, s = -0.0, b = 1.0) { acc = fma acc, b, cast (cast s : f16) ; .. ; s = dot p, v, 0 : f32 ; b = a }
 *     acc = fma acc, b, cast (cast s : f16)
 *
 * which is a loop that can be turned (ring_rotate.c). x * 1 + -0.0 is x: what the first trip adds changes no bit, and a
 * loop without trips leaves acc as it was. A sum of f16 is one of f32, rounded once. */
#include "pass/matrix.h"
#include "pass/ring/ring_rotate.h"

typedef struct Late {
    Kernel *k;
    Arena *arena;
    Op *loop, *dot, *cast, *add; /* add: fma acc, factor, cast; or add acc, cast */
    Op *before;                  /* the product before this one */
    int carried;                 /* acc among the carried values */
    Ref factor;                  /* REF_NONE: none */
} Late;

/* The only user of the value, in the body itself; NULL: there are more, or it stands elsewhere. */
static Op *only_user(const Late *l, const int *uses, Ref value) {
    if (uses[value] != 1) return NULL;
    for (Op *op = l->loop->regions[0]->first; op; op = op->next)
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == value) return op;
    return NULL;
}

static bool find(Late *l) {
    Kernel *k = l->k;
    const Region *body = l->loop->regions[0];
    for (Op *op = body->first; op; op = op->next)
        if (op->code == OP_DOT) l->before = l->dot, l->dot = op;
    if (!l->before || !matrix_overlaps(k, l->dot) || !ir_is_zero(k, l->dot->operands[2])) return false;
    const Type *type = ir_type(k, l->dot->results[0]);
    if (type->elem != EL_F16 && type->elem != EL_BF16) return false;
    const int *uses = ir_count_uses(k, l->arena);
    l->cast = only_user(l, uses, l->dot->results[0]);
    if (!l->cast || l->cast->code != OP_CAST || ir_type(k, l->cast->results[0])->elem != EL_F32) return false;
    Ref rounded = l->cast->results[0];
    l->add = only_user(l, uses, rounded);
    if (!l->add || (l->add->code != OP_FMA && l->add->code != OP_ADD)) return false;
    bool fma = l->add->code == OP_FMA;
    Ref acc = l->add->operands[!fma && l->add->operands[0] == rounded];
    if (l->add->operands[fma ? 2 : acc == l->add->operands[0]] != rounded) return false;
    l->factor = fma ? l->add->operands[1] : REF_NONE;
    const Value *from = ref_is_value(acc) ? ir_value(k, acc) : NULL;
    if (!from || from->op || from->region != body || from->index == 0 || uses[acc] != 1) return false;
    l->carried = from->index - 1;
    return uses[l->add->results[0]] == 1 && body->last->operands[l->carried] == l->add->results[0];
}

/* acc with the sum of the trip before. */
static Ref add_up(const Late *l, Builder *b, Ref acc, Ref sum, Ref factor) {
    Ref rounded = ir_cast(b, ir_cast(b, sum, ir_type(l->k, l->dot->results[0])->elem), EL_F32);
    return factor == REF_NONE ? ir_binary(b, OP_ADD, acc, rounded) : ir_ternary(b, OP_FMA, acc, factor, rounded);
}

static Ref number(Builder *b, const Type *type, double value) {
    Ref literal = ir_literal_float(b->kernel, ty_scalar(b->module, EL_F32), value);
    return type->rank ? ir_splat(b, literal, type) : literal;
}

const Op *ring_late_sum(Kernel *k, const Op *loop, Arena *arena, const Op **before) {
    Late l = {.k = k, .arena = arena, .loop = (Op *)loop};
    if (loop->code != OP_FOR || !find(&l)) return NULL;
    *before = l.before;
    return l.dot;
}

Op *ring_carry_sum(PassContext *cx, Kernel *k, Op *loop) {
    Late l = {.k = k, .arena = cx->scratch, .loop = loop};
    if (loop->code != OP_FOR || !find(&l)) return NULL;
    bool scaled = l.factor != REF_NONE;
    if (scaled && ir_type(k, l.factor)->elem != EL_F32) return NULL;
    Builder b = ir_builder_before(k, loop);
    const Type *sum = ty_with_elem(b.module, ir_type(k, l.dot->results[0]), EL_F32);
    int carried = loop->operand_count - 3, all = carried + 1 + scaled;
    Ref *values = ARENA_ARRAY(cx->scratch, Ref, all);
    for (int i = 0; i < carried; i++) values[i] = loop->operands[3 + i];
    values[carried] = number(&b, sum, -0.0);
    if (scaled) values[carried + 1] = number(&b, ir_type(k, l.factor), 1.0);
    Op *late = ir_for(&b, loop->operands[0], loop->operands[1], loop->operands[2], values, all, NULL);
    for (int i = 0; i < loop->attr_count; i++) op_set(k, late, loop->attrs[i]);
    Region *body = late->regions[0], *old = loop->regions[0];
    for (Op *op = old->first, *next; op; op = next) {
        next = op->next;
        ir_move(op, body, NULL);
    }
    for (int i = 0; i <= carried; i++) {
        ir_name(k, body->args[i], ir_value(k, old->args[i])->name);
        ir_replace_all(k, old->args[i], body->args[i]);
    }
    Builder in = ir_builder_before(k, l.add);
    Ref acc = add_up(&l, &in, body->args[1 + l.carried], body->args[1 + carried],
                     scaled ? body->args[2 + carried] : REF_NONE);
    in = ir_builder_before(k, l.dot);
    Op *dot = ir_begin(&in, OP_DOT);
    for (int i = 0; i < l.dot->attr_count; i++) op_set(k, dot, l.dot->attrs[i]);
    ir_operand(&in, dot, l.dot->operands[0]);
    ir_operand(&in, dot, l.dot->operands[1]);
    ir_operand(&in, dot, number(&in, sum, 0.0));
    Op *yield = body->last;
    for (int i = 0; i < carried; i++) values[i] = i == l.carried ? acc : yield->operands[i];
    values[carried] = ir_end(&in, dot, NULL);
    if (scaled) values[carried + 1] = l.factor;
    in = ir_builder_before(k, yield);
    ir_remove(yield);
    in.before = NULL;
    ir_yield(&in, values, all);
    ir_remove(l.add);
    ir_remove(l.cast);
    ir_remove(l.dot);
    Builder behind = ir_builder_behind(k, late);
    for (int i = 0; i < carried; i++) {
        Ref result = i == l.carried ? add_up(&l, &behind, late->results[i], late->results[carried],
                                             scaled ? late->results[carried + 1] : REF_NONE)
                                    : late->results[i];
        ir_name(k, result, ir_value(k, loop->results[i])->name);
        ir_replace_all(k, loop->results[i], result);
    }
    ir_remove(loop);
    return late;
}
