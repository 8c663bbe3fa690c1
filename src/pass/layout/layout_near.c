/* SPDX-License-Identifier: Apache-2.0 */
/* layout_near.c: loads and stores of boxes whose elements lie near the box's first one.
 *
 * Some machines address memory by a base that all lanes share and a distance of 32 bits; lanes whose distance is too
 * far load 0 and store nothing. So one instruction does both: `bounded` says that all elements of the box lie within
 * NEAR_BYTES behind its first one; lanes outside of the tensor go too far, and nobody branches.
 *
 *     tload<along=1, vector=8, whole, bounded> %A, [%row, %k]     require<most=4194304> %stride
 *
 * How long strides may be is wished for; a launch that has longer ones runs a variant whose lanes branch. */
#include "pass/layout/layout_state.h"

static const int64_t NEAR_BYTES = (int64_t)1 << 31;

static const Type *box_type(const Kernel *k, const Op *op) {
    return ir_type(k, op->code == OP_TSTORE ? op_operand(op, 1) : op->results[0]);
}

static bool has_form(const Kernel *k, const Op *op) {
    if (op->code != OP_TLOAD && op->code != OP_TSTORE) return false;
    const Type *type = box_type(k, op);
    if (!type->rank || type->elem == EL_I1 || op_attr(op, AT_WRAP) || op_attr(op, AT_RUN) || op_flag(op, AT_VOLATILE))
        return false;
    RefList at = op_list(op, 0);
    for (int d = 0; d < at.count; d++)
        if (lay_is_tile(k, at.at[d])) return false;
    return true;
}

/* Steps of the box along the dimension, as its layout counts them: up to a power of two. */
static int64_t steps_of(const Type *box, int axis) {
    return axis < 0 ? 0 : ((int64_t)1 << ll_log2(box->extent[axis])) - 1;
}

bool near_holds(const Machine *machine, Facts *f, const Op *op) {
    if (!machine->bounded_access || !has_form(f->k, op)) return false;
    const Type *box = box_type(f->k, op);
    TensorParts parts = fact_tensor(f, op->operands[0]);
    int64_t left = NEAR_BYTES - machine->vector_bytes, bytes = elem_info[box->elem].bytes, stride;
    int unknown = 0, bounds = 0;
    for (int d = 0; d < parts.rank; d++) {
        int64_t steps = steps_of(box, box_axis(op, parts.rank, box->rank, d));
        bounds += parts.extent[d] != REF_NONE;
        if (!steps) continue;
        if (!ir_const_int(f->k, parts.stride[d], &stride))
            unknown++;
        else if (stride < 0 || stride > NEAR_BYTES)
            return false;
        else
            left -= steps * stride * bytes;
    }
    if (left < 0 || !bounds || op_flag(op, AT_NOCHECK)) return false;
    for (int d = 0; d < parts.rank; d++) {
        int64_t steps = steps_of(box, box_axis(op, parts.rank, box->rank, d));
        if (!steps || ir_const_int(f->k, parts.stride[d], &stride)) continue;
        if (!fact_wish_least(f, parts.stride[d], 0) ||
            !fact_wish_most(f, parts.stride[d], left / unknown / (steps * bytes)))
            return false;
    }
    return true;
}
