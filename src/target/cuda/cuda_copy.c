/* cuda_copy.c: boxes that cp.async copies straight into a slot of a ring, past the registers: the load writes
 * nothing, its put writes
 *
 *     for (int r = 0; r < 32; r += 8) {
 *         ..
 *         const bool on = (u64)i0 < (u64)M && (u64)i1 < (u64)K;
 *         tw_cp_async(16, tw_tile_at(a_at, ..), A + i0 * sa + (on ? i1 : 0), on);
 *     } */
#include "target/cuda/cuda_emit.h"
#include "target/simt/simt_box.h"

bool copy_defers(Emit *e, Ref value) {
    const Op *load = ref_is_value(value) ? ir_value(e->k, value)->op : NULL;
    if (!load || load->code != OP_TLOAD || e->uses[value] != 1 || op_operand(load, 1)) return false;
    const Layout *layout = emit_layout(e, value);
    const Type *type = ir_type(e->k, value);
    if (!layout || layout->home != HOME_REGISTERS || type->elem == EL_I1) return false;
    const Op *put = load->next;
    while (put && !(put->code == OP_PUT && op_operand(put, 1) == value)) put = put->next;
    if (!put || !ring_find(e, ir_value(e->k, put->operands[0])->op->operands[0])->skewed) return false;
    const Attr *fill = op_attr(load, AT_FILL);
    if (fill && (!ref_is_literal(fill->ref) || ir_literal(e->k, fill->ref)->i != 0)) return false;
    TensorParts parts = fact_tensor(&e->facts, load->operands[0]);
    int bytes = layout_vector(&e->facts, load, type, &layout->map) * elem_info[type->elem].bytes;
    int dim = type->rank ? fact_tensor_dim(load, parts.rank, type->rank, type->rank - 1) : -1;
    if (box_wraps(load, dim)) return false; /* a row goes on at its start */
    return bytes >= 4 && layout_vector_dim(&e->facts, load, &parts, type) == type->rank - 1;
}

void copy_emit(Emit *e, const Op *load, const SharedTile *tile, const char *offset) {
    const Type *type = ir_type(e->k, load->results[0]);
    const Layout *layout = emit_layout(e, load->results[0]);
    memory_before_load(e, load);
    Box b = box_of(e, load, type, layout, REF_NONE);
    emit_unroll(e, "r", layout->registers, b.vector);
    char *inside = place_owner(e, &layout->map);
    const char *row = "0";
    for (int d = 0; d < type->rank; d++) {
        box_also(e, &inside, place_inside(e, layout, type, d, "r"));
        const char *coord = place_coord(e, layout, d, "r");
        if (d < type->rank - 1)
            row = d ? arena_printf(e->arena, "(%s * %lld + %s)", row, (long long)type->extent[d], coord) : coord;
    }
    bool branch = inside && !cs_loops(&e->p, "r");
    if (branch) cs_open(&e->p, "if (%s)", inside);
    if (inside && !branch) cs_line(&e->p, "if (!(%s)) continue;", inside);
    box_indices(e, &b, REF_NONE);
    const char *at = shared_at(e, tile, offset, row, place_coord(e, layout, type->rank - 1, "r"));
    const char *condition = b.condition ? b.condition : "true", *i = b.index[b.inner_dim];
    if (b.whole) {
        cs_line(&e->p, "const bool on = %s;", condition);
        cs_line(&e->p, "tw_cp_async(%d, %s, %s + (on ? %s : 0), on);", b.vector * elem_info[type->elem].bytes, at,
                b.row, i);
    } else {
        cs_line(&e->p, "tw_copy_row(%d, %s, %s, %s, %s, %s);", b.vector, at, b.row, i, b.tensor.extent[b.inner_dim],
                condition);
    }
    if (branch) cs_close(&e->p);
    cs_close(&e->p);
    shared_zero_tail(e, tile, offset);
    emit_find(e, load, FIND_LOAD_ASYNC, b.vector * elem_info[type->elem].bytes);
}
