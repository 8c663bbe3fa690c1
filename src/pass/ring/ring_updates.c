/* SPDX-License-Identifier: Apache-2.0 */
/* ring_updates.c: atomic updates, for machines whose kernels never read what they write (Tensix).
 *
 * There nobody sees in which order memory was written, so an atomic whose old value is not asked for orders nothing. It is an
 * update of a box: of one element, or of those that a vector names, and goes to the role that stores:
 *
 *     %old = atomic<add> %p, %x          %p = ptr_add %out, %index         ->      tatomic<add, sem=relaxed> %T, [%index], %x */
#include "ir/build.h"
#include "pass/ring/ring_cut.h"

/* The scalar pointer that an address counts from, and how many elements on it is (an i64 or a tile of such); false: not known. */
static bool split_address(Builder *b, Ref address, Ref *base, Ref *index) {
    const Kernel *k = b->kernel;
    const Op *op = ir_value(k, address)->op;
    const Type *type = ir_type(k, address);
    if (!type->rank) {
        *base = address, *index = ir_int(b, EL_I64, 0);
        return true;
    }
    if (op && (op->code == OP_SPLAT || op->code == OP_BROADCAST) && !ir_type(k, op->operands[0])->rank) {
        *base = op->operands[0], *index = REF_NONE;
        return true;
    }
    if (!op || op->code != OP_PTR_ADD || !split_address(b, op->operands[0], base, index)) return false;
    const Type *own = ir_type(k, op->operands[0]);
    if (!own->rank) *base = op->operands[0], *index = REF_NONE;
    Ref more = ir_cast(b, op->operands[1], EL_I64);
    if (ir_type(k, more)->rank < type->rank) more = ir_splat(b, more, ty_with_elem(k->module, type, EL_I64));
    *index = *index ? ir_binary(b, OP_ADD, *index, more) : more;
    return true;
}

typedef struct Atomics {
    Kernel *k;
    const int *uses;
} Atomics;

static void drop_order(Op *op, void *user) {
    const Atomics *a = user;
    Kernel *k = a->k;
    if (op->code == OP_TATOMIC) op_set(k, op, (Attr){.id = AT_SEM, .word = SEM_RELAXED});
    if (op->code != OP_ATOMIC || a->uses[op->results[0]] || ir_type(k, op->operands[0])->rank > 1) return;
    Builder b = ir_builder_before(k, op);
    Ref base, index, none = REF_NONE, one = ir_int(&b, EL_I64, 1), value = op_operand(op, 1), mask = op_operand(op, 2);
    if (!split_address(&b, op->operands[0], &base, &index) || !index) return;
    const Type *type = ty_with_elem(k->module, ir_type(k, op->operands[0]), ir_type(k, value)->elem);
    if (ir_type(k, value)->rank < type->rank) value = ir_splat(&b, value, type);
    Op *made = ir_begin(&b, OP_TATOMIC);
    ir_operand(&b, made, ir_tensor(&b, base, &none, &one, 1));
    ir_operand_list(&b, made, 0, &index, 1);
    ir_operand(&b, made, value);
    ir_operand(&b, made, mask);
    op_set(k, made, (Attr){.id = AT_COMBINE, .word = op_word(op, AT_COMBINE, COMBINE_ADD)});
    op_set(k, made, (Attr){.id = AT_SEM, .word = SEM_RELAXED});
    ir_end(&b, made, NULL);
    ir_remove(op);
}

void ring_free_updates(PassContext *cx, Kernel *k) {
    ir_walk(k->body, drop_order, &(Atomics){k, ir_count_uses(k, cx->scratch)});
}
