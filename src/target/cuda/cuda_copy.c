/* cuda_copy.c: boxes that cp.async copies straight into a slot of a ring (`by=async`), past the registers: the load
 * writes nothing, its put writes
 *
 *     for (int r = 0; r < 32; r += 8) {
 *         ..
 *         const bool on = (u64)i0 < (u64)M && (u64)i1 < (u64)K;
 *         tw_cp_async(16, tw_tile_at(a_at, ..), A + i0 * sa + (on ? i1 : 0), on);
 *     } */
#include "target/cuda/cuda_emit.h"
#include "target/simt/simt_box.h"

void copy_emit(Emit *e, const Op *load, const SharedTile *tile, const Expr *offset) {
    const Type *type = ir_type(e->k, load->results[0]);
    const Layout *layout = emit_layout(e, load->results[0]);
    sync_before(e, load);
    Box b = box_of(e, load, type, layout);
    const Expr *inside = place_owner(e, &layout->map), *row = &expr_zero;
    e->vector_bits = ll_log2(b.vector);
    for (int d = 0; d < type->rank; d++) {
        box_also(e, &inside, place_inside(e, layout, type, d, &place_r));
        const Expr *coord = place_coord(e, layout, d, &place_r);
        if (d < type->rank - 1)
            row = d ? ex(e->arena, "(%p * %lld + %p)", row, (long long)type->extent[d], coord) : coord;
    }
    (inside ? emit_unroll_real : emit_unroll)(e, "r", layout->registers, b.vector);
    if (inside) cs_line(&e->p, "if (!(%p)) continue;", inside);
    box_indices(e, &b, REF_NONE);
    const Expr *at = shared_at(e, tile, offset, row, place_coord(e, layout, type->rank - 1, &place_r));
    const Expr *condition = b.condition ? b.condition : &expr_true, *i = b.index[b.inner_dim];
    if (b.whole) {
        cs_line(&e->p, "const bool on = %p;", condition);
        cs_line(&e->p, "tw_cp_async(%d, %p, %p + (on ? %p : 0), on);", b.vector * elem_info[type->elem].bytes, at,
                b.row, i);
    } else {
        cs_line(&e->p, "tw_copy_row(%d, %p, %p, %p, %p, %p);", b.vector, at, b.row, i, b.tensor.extent[b.inner_dim],
                condition);
    }
    cs_close(&e->p);
    shared_zero_tail(e, tile, offset);
    emit_find(e, load, FIND_LOAD_ASYNC, b.vector * elem_info[type->elem].bytes);
}
