/* SPDX-License-Identifier: Apache-2.0 */
/* access_demand.c: who sees the rows behind the edge?
 *
 * A matmul reads row (m + i) rem M of A, so that rows behind the edge read something instead of
 * falling off. When every use of those rows ends in a store that drops them (its mask holds m + i <
 * M), the wrap-around may give way to a plain clipped read. The walk follows a value forward along
 * one axis: elementwise ops, shapes, dot operands along M or N, loops whose trips
 * have the same m and M, and ifs keep rows apart; a reduction along the axis, an atomic, anything
 * unknown mixes or shows them. */
#include "pass/access/access_plan.h"

typedef struct Demand {
    Analysis *a;
    Poly first, modulus;
    VEC(uint64_t) seen; /* value and axis */
    bool unseen;
} Demand;

typedef struct Use {
    Demand *d;
    Ref value;
    int axis;
} Use;

static void follow(Demand *d, Ref value, int axis);

/* Axis of a dot's result that the axis of operand i becomes; -1: contracted. */
static int dot_axis(const Type *type, int operand, int axis) {
    int contracted = operand == 0 ? type->rank - 1 : operand == 1 ? type->rank - 2 : -1;
    return axis == contracted ? -1 : axis;
}

static int shape_axis(const Op *op, int axis) {
    if (op->code == OP_EXPAND) return axis < op_int(op, AT_AXIS, 0) ? axis : axis + 1;
    if (op->code == OP_BROADCAST) return axis;
    if (op->code == OP_REDUCE) {
        int64_t gone = op_int(op, AT_AXIS, 0);
        return axis == gone ? -1 : axis < gone ? axis : axis - 1;
    }
    IntList dims = op_attr(op, AT_DIMS)->list;
    for (int d = 0; d < dims.count; d++)
        if (dims.at[d] == axis) return d;
    return -1;
}

static bool store_drops(Demand *d, const Op *store, int axis) {
    Ref mask = store->operand_count > 2 ? store->operands[2] : REF_NONE;
    Conditions conditions;
    access_conditions(d->a, mask, ir_type(d->a->k, store->operands[0])->rank, &conditions);
    Poly limit = poly_sub(d->a->arena, d->modulus, d->first);
    for (int i = 0; i < conditions.count; i++) {
        const Condition *c = &conditions.at[i];
        if (c->axis == axis && c->upper && !c->other && poly_equal(c->limit, limit)) return true;
    }
    return false;
}

static bool tstore_drops(Demand *d, const Op *store, int axis) {
    Ref tensor = store->operands[0];
    const Op *made = ir_value(d->a->k, tensor)->op;
    int rank = ir_type(d->a->k, tensor)->rank, box = ir_type(d->a->k, op_operand(store, 1))->rank;
    if (!made || made->code != OP_TENSOR || op_attr(store, AT_DIMS)) return false;
    int dim = rank - box + axis;
    Ref extent = op_list(made, 0).at[dim], offset = op_list(store, 0).at[dim];
    return extent && !ir_type(d->a->k, offset)->rank && poly_equal(affine_of(d->a, extent)->start, d->modulus) &&
           poly_equal(affine_of(d->a, offset)->start, d->first);
}

static void follow_carried(Demand *d, const Op *loop, int index, int axis) {
    follow(d, loop->regions[0]->args[1 + index], axis);
    follow(d, loop->results[index], axis);
}

/* What a trip yields is seen by the next one and behind the loop, where a first row or a modulus
 * that the loop makes is another one. */
static bool is_same_in_trips(const Demand *d, const Op *loop) {
    return poly_is_invariant(d->a, d->first, loop->regions[0]) && poly_is_invariant(d->a, d->modulus, loop->regions[0]);
}

static void follow_use(Demand *d, const Op *op, int operand, int axis) {
    Kernel *k = d->a->k;
    int next = -1;
    switch (op->code) {
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE: next = shape_axis(op, axis); break;
    case OP_REDUCE: next = op->operand_count == 1 ? shape_axis(op, axis) : -1; break;
    case OP_DOT: next = dot_axis(ir_type(k, op->operands[operand]), operand, axis); break;
    case OP_STORE: d->unseen = d->unseen && operand == 1 && store_drops(d, op, axis); return;
    case OP_TSTORE:
        d->unseen = d->unseen && op->operands[operand] == op_operand(op, 1) && tstore_drops(d, op, axis);
        return;
    case OP_FOR:
        if (operand < 3)
            d->unseen = false;
        else
            follow_carried(d, op, operand - 3, axis);
        return;
    case OP_YIELD: {
        const Op *owner = op->parent->owner;
        if (owner && owner->code == OP_FOR && is_same_in_trips(d, owner))
            follow_carried(d, owner, operand, axis);
        else if (owner && owner->code == OP_IF)
            follow(d, owner->results[operand], axis);
        else
            d->unseen = false;
        return;
    }
    default:
        if (op_has(op->code, TRAIT_ELEMENTWISE) && op->code != OP_PTR_ADD) next = axis;
        break;
    }
    if (next < 0)
        d->unseen = false;
    else
        follow(d, op->results[0], next);
}

static void visit(Op *op, void *user) {
    const Use *use = user;
    if (!use->d->unseen) return;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == use->value) follow_use(use->d, op, i, use->axis);
}

static void follow(Demand *d, Ref value, int axis) {
    uint64_t key = (uint64_t)value << 8 | (uint64_t)axis;
    for (size_t i = 0; i < d->seen.count; i++)
        if (d->seen.at[i] == key) return;
    *VEC_PUSH(&d->seen, d->a->arena) = key;
    Use use = {d, value, axis};
    ir_walk(d->a->k->body, visit, &use);
}

bool access_is_unseen(Analysis *a, Ref value, int axis, Poly first, Poly modulus) {
    Demand d = {.a = a, .first = first, .modulus = modulus, .unseen = true};
    follow(&d, value, axis);
    return d.unseen;
}
