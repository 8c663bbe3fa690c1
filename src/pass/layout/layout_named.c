/* SPDX-License-Identifier: Apache-2.0 */
/* layout_named.c: loads of short rows that an index vector names.
 *
 * Such rows lie anywhere: where a thread holds whole ones, it does not matter to the memory which thread holds
 * which. So they lie where their indices do, which need not move then, nor what the rows meet that lies there, too.
 * The neighbours of a row's first dimension in memory would not be neighbours of lanes either way.
 *
 *     f16[128,8] at rows i[128], i u8[64,2] read 2 a thread: both rows of a pair in the thread that read the pair */
#include "pass/layout/layout_choose.h"
#include "pass/layout/layout_state.h"

/* The only axis that an index vector names; -1: none or several do. */
static int named_axis(LayoutState *st, const Op *load, const Type *type, Ref *index) {
    RefList offsets = op_list(load, 0);
    int found = -1, rank = ir_type(st->k, load->operands[0])->rank;
    for (int dim = 0; dim < rank; dim++) {
        if (!lay_is_tile(st->k, offsets.at[dim])) continue;
        if (found >= 0) return -1;
        found = box_axis(load, rank, type->rank, dim);
        *index = offsets.at[dim];
    }
    return found;
}

/* Do lanes and warps move along this axis alone? */
static bool threads_along(const LinearLayout *map, int axis) {
    LinearLayout others = ll_slice(map, axis);
    for (int input = LL_LANE; input < LL_INPUTS; input++)
        for (int i = 0; i < others.count[input]; i++)
            if (others.basis[input][i]) return false;
    return true;
}

const Layout *lay_named(LayoutState *st, const Op *load, const Layout *own) {
    const Type *type = ir_type(st->k, load->results[0]);
    Ref index;
    int axis = type->rank > 1 && !choose_by_element(load) ? named_axis(st, load, type, &index) : -1;
    int contiguous = axis < 0 ? -1 : choose_contiguous(&st->facts, load, type);
    if (axis < 0 || contiguous == axis || !lay_powers(type) || !threads_along(&own->map, axis)) return NULL;
    const Layout *from = lay_natural(st, index);
    if (!from || from->home != HOME_REGISTERS) return NULL;
    LinearLayout map = from->map;
    for (int d = 0; d < type->rank; d++)
        if (d != axis) map = ll_expand(&map, d);
    for (int d = 0; d < type->rank; d++)
        if (d != axis && d != contiguous) map = ll_lengthen(&map, d, ll_log2(type->extent[d]));
    map = ll_lengthen(&map, contiguous, ll_log2(type->extent[contiguous])); /* last: its bits are the first registers */
    const Layout *there = lay_in_registers(st, map, type);
    return there->registers == own->registers ? there : NULL;
}
