/* SPDX-License-Identifier: Apache-2.0 */
/* layout_own.c: boxes that a kernel loads, changes and stores again.
 *
 *     state = tl.load(ptrs)      each thread has some of its elements
 *     tl.store(ptrs, state * 2)  the same, in the same layout: it stores where it alone has loaded
 *
 * No thread has to wait for the loads of others there (pass/schedule/pending.c), if no two elements of the box are one
 * number in memory: rows do not overlap, no stride is 0. Where strides are arguments, that is a wish of the layout,
 * which the launch tests. */
#include "pass/layout/layout.h"

bool layout_same_box(const Kernel *k, const Op *load, const Op *store) {
    if (load->code != OP_TLOAD || store->code != OP_TSTORE || load->parent != store->parent ||
        load->operands[0] != store->operands[0])
        return false;
    RefList from = op_list(load, 0), to = op_list(store, 0);
    const Type *box = ir_type(k, load->results[0]), *other = ir_type(k, op_operand(store, 1));
    bool same = from.count == to.count && box->rank == other->rank;
    for (int i = 0; same && i < box->rank; i++)
        same = box->extent[i] == other->extent[i] &&
               box_dim(load, from.count, box->rank, i) == box_dim(store, to.count, box->rank, i);
    for (int d = 0; same && d < from.count; d++)
        same = from.at[d] == to.at[d] && ty_is_scalar(ir_type(k, from.at[d])) && !box_wraps(load, d) &&
               !box_wraps(store, d);
    return same;
}

bool layout_lies_once(Facts *f, const Op *access, const Type *box) {
    TensorParts parts = fact_tensor(f, access->operands[0]);
    Facts known = *f; /* without wishes */
    known.may_wish = false;
    int along = -1, down = -1; /* the dimension with the stride 1, and another one */
    for (int d = 0; d < parts.rank; d++) {
        int axis = box_axis(access, parts.rank, box->rank, d);
        if (axis < 0 || box->extent[axis] == 1) continue;
        if (along < 0 && fact_wish_equal(&known, parts.stride[d], 1))
            along = d;
        else if (down < 0)
            down = d;
        else
            return false;
    }
    if (down < 0) return along >= 0;
    if (along < 0) return fact_wish_least(f, parts.stride[down], 1);
    if (parts.extent[along] == REF_NONE)
        return fact_wish_least(f, parts.stride[down], box->extent[box_axis(access, parts.rank, box->rank, along)]);
    return fact_wish_lines_apart(f, &parts, down, along);
}

enum { NEAR_OPS = 256 }; /* a kernel of many stores is not read anew for each: a load farther off is not looked for */

void layout_wish_own(Facts *f, const Op *store) {
    const Op *load = store->code == OP_TSTORE ? store->previous : NULL;
    for (int i = 0; load && !layout_same_box(f->k, load, store); i++) load = i < NEAR_OPS ? load->previous : NULL;
    if (load) layout_lies_once(f, store, ir_type(f->k, load->results[0]));
}
