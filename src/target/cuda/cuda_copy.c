/* cuda_copy.c: boxes that cp.async copies straight into a slot of a ring (`by=async`), past the registers: the load
 * writes nothing, its put writes
 *
 *     for (int r = 0; r < 32; r += 8) {
 *         ..
 *         const bool on = (u64)i0 < (u64)M && (u64)i1 < (u64)K;
 *         tw_cp_async(16, tw_tile_at(a_at, ..), A + i0 * sa + (on ? i1 : 0), on);
 *     }
 *
 * Rows that begin at places which the loop does not change are found before it (`rows`):
 *
 *     for (..) { a_row_on |= (u32)((u64)i0 < (u64)M) << (r / 8); a_row[r / 8] = A + i0 * sa; }
 *     .. tw_cp_async(16, .., a_row[r / 8] + i1, (u64)i1 < (u64)K && (a_row_on >> (r / 8) & 1) != 0); */
#include "target/cuda/cuda_emit.h"
#include "target/simt/simt_box.h"

/* The loop over the copies of a thread; row: of the tile that register r lies in. */
static void open_copies(Emit *e, const Type *type, const Layout *layout, int vector, const Expr **row) {
    const Expr *inside = place_owner(e, &layout->map);
    *row = &expr_zero;
    e->vector_bits = ll_log2(vector);
    for (int d = 0; d < type->rank; d++) {
        box_also(e, &inside, place_inside(e, layout, type, d, &place_r));
        const Expr *coord = place_coord(e, layout, d, &place_r);
        if (d < type->rank - 1)
            *row = d ? ex(e->arena, "(%p * %lld + %p)", *row, (long long)type->extent[d], coord) : coord;
    }
    (inside ? emit_unroll_real : emit_unroll)(e, "r", layout->registers, vector);
    if (inside) cs_line(&e->p, "if (!(%p)) continue;", inside);
}

/* --- rows that are found before the loop --- */
typedef struct Rows {
    const char *name; /* of the array of addresses; with _on: of the bits; with _to: where the first copy goes */
    bool some;        /* a row may be missing */
    bool repeats;     /* from copy to copy the swizzle is the same */
} Rows;

/* Do the registers of a thread lie whole patterns of the swizzle apart? */
static bool repeats(const Layout *layout, const SharedTile *tile, int vector) {
    enum { PATTERN_ROWS = 8 };
    const LinearLayout *map = &layout->map;
    bool whole = map->rank == 2;
    for (int i = ll_log2(vector); whole && i < map->count[LL_REGISTER]; i++) {
        uint32_t basis = map->basis[LL_REGISTER][i];
        whole = ll_coord(map, basis, 0) % PATTERN_ROWS == 0 &&
                ll_coord(map, basis, 1) % (uint32_t)(tile->width / tile->elem_bytes) == 0;
    }
    return whole;
}

/* How the field is stored that the load is put into. */
static const SharedTile *field_of(Emit *e, const Op *load) {
    const Op *put = load->next;
    while (!(put->code == OP_PUT && op_operand(put, 1) == load->results[0])) put = put->next;
    return layout_field(e->k, hand_ring(e->k, put), hand_field(put));
}

static void find_rows(Emit *e, const Op *load) {
    const Type *type = ir_type(e->k, load->results[0]);
    const Layout *layout = emit_layout(e, load->results[0]);
    Box b = box_of(e, load, type, layout);
    Rows *rows = ARENA_NEW(e->arena, Rows);
    rows->name = cs_fresh(&e->p, arena_printf(e->arena, "%s_row", cs_name(&e->p, load->results[0])));
    const SharedTile *tile = field_of(e, load);
    const Expr *unused, *number = ex(e->arena, "r / %d", b.vector);
    cs_line(&e->p, "const %s *%s[%d];", cs_memory_type(type->elem), rows->name, layout->registers / b.vector);
    cs_line(&e->p, "u32 %s_on = 0;", rows->name);
    rows->repeats = repeats(layout, tile, b.vector);
    if (rows->repeats)
        cs_line(&e->p, "const u32 %s_to = %p;", rows->name,
                shared_at(e, tile, &expr_zero, place_thread(e, &layout->map, 0), place_thread(e, &layout->map, 1)));
    open_copies(e, type, layout, b.vector, &unused);
    box_part(e, &b, BOX_ROW);
    rows->some = b.condition != NULL;
    if (rows->some) cs_line(&e->p, "%s_on |= (u32)(%p) << (%p);", rows->name, b.condition, number);
    cs_line(&e->p, "%s[%p] = %p;", rows->name, number, b.row);
    cs_close(&e->p);
    if (rows->some) cs_line(&e->p, "tw_fresh(1, &%s_on);", rows->name);
    map_put_number(&cuda_of(e)->rows_of, e->arena, (uintptr_t)load, rows);
}

void copy_begin(Emit *e, const Op *loop) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op_flag(op, AT_ROWS)) find_rows(e, op);
}

/* at: where the copy of register r goes, offset: the tile. */
static void copy_rows(Emit *e, const Op *load, Box *b, const SharedTile *tile, const Expr *offset, const Expr *at) {
    const Rows *rows = map_find_number(&cuda_of(e)->rows_of, (uintptr_t)load)->value;
    const Expr *number = ex(e->arena, "r / %d", b->vector);
    if (rows->repeats) {
        const Expr *down = place_register(e, &b->layout->map, 0, &place_r);
        const Expr *right = place_register(e, &b->layout->map, 1, &place_r);
        at = ex(e->arena, "%p + %s_to", offset, rows->name);
        if (!ex_is_int(down, 0)) at = ex(e->arena, "%p + %p * %d", at, down, tile->width);
        if (!ex_is_int(right, 0))
            at = ex(e->arena, "%p + %p / %d * %lld", at, right, tile->width / tile->elem_bytes, (long long)tile->panel);
    }
    box_part(e, b, BOX_ALONG);
    if (rows->some) box_also(e, &b->condition, ex(e->arena, "(%s_on >> (%p) & 1) != 0", rows->name, number));
    cs_line(&e->p, "tw_cp_async(%d, %p, %s[%p] + %p, %p);", b->vector * elem_info[b->tile->elem].bytes, at, rows->name,
            number, b->index[b->inner_dim], b->condition ? b->condition : &expr_true);
}

void copy_emit(Emit *e, const Op *load, const SharedTile *tile, const Expr *offset) {
    const Type *type = ir_type(e->k, load->results[0]);
    const Layout *layout = emit_layout(e, load->results[0]);
    sync_before(e, load);
    Box b = box_of(e, load, type, layout);
    const Expr *row;
    open_copies(e, type, layout, b.vector, &row);
    const Expr *at = shared_at(e, tile, offset, row, place_coord(e, layout, type->rank - 1, &place_r));
    if (op_flag(load, AT_ROWS)) {
        copy_rows(e, load, &b, tile, offset, at);
    } else {
        box_indices(e, &b, REF_NONE);
        const Expr *condition = b.condition ? b.condition : &expr_true, *i = b.index[b.inner_dim];
        if (b.whole) {
            cs_line(&e->p, "const bool on = %p;", condition);
            cs_line(&e->p, "tw_cp_async(%d, %p, %p + (on ? %p : 0), on);", b.vector * elem_info[type->elem].bytes, at,
                    b.row, i);
        } else {
            cs_line(&e->p, "tw_copy_row(%d, %p, %p, %p, %p, %p);", b.vector, at, b.row, i, b.tensor.extent[b.inner_dim],
                    condition);
        }
    }
    cs_close(&e->p);
    shared_zero_tail(e, tile, offset);
    emit_find(e, load, FIND_LOAD_ASYNC, b.vector * elem_info[type->elem].bytes);
}
