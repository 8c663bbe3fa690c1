/* SPDX-License-Identifier: Apache-2.0 */
/* simt_copy.c: boxes that cp.async copies straight into a slot of a ring (`by=async`), past the registers: the load
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
#include "target/simt/simt_ring.h"
#include "target/simt/simt_box.h"

/* The loop over the copies of a thread. */
static void open_copies(Emit *e, const Box *b) {
    const Expr *inside = place_owner(e, &b->layout->map);
    e->vector_bits = ll_log2(b->vector);
    for (int d = 0; d < b->tile->rank; d++) box_also(e, &inside, place_inside(e, b->layout, b->tile, d, &place_r));
    (inside ? emit_unroll_real : emit_unroll)(e, "r", b->layout->registers, b->vector);
    if (inside) cs_line(&e->p, "if (!(%p)) continue;", inside);
}

/* --- where copies go --- */
/* The place of register r in the tile at `offset`. */
static const Expr *place_in_tile(Emit *e, const Box *b, const SharedTile *tile, const Expr *offset) {
    const Expr *row = &expr_zero;
    int last = b->tile->rank - 1;
    for (int d = 0; d < last; d++) {
        const Expr *coord = place_coord(e, b->layout, d, &place_r);
        row = d ? ex(e->arena, "(%p * %lld + %p)", row, (long long)b->tile->extent[d], coord) : coord;
    }
    return shared_at(e, tile, offset, row, place_coord(e, b->layout, last, &place_r));
}

/* The same as a place that is known before the loop, and a constant, of a put that says so (`apart`). */
static const Expr *place_in_slot(Emit *e, const Op *put, const Box *b, const SharedTile *tile, const Expr *offset) {
    const LinearLayout *map = &b->layout->map;
    if (!op_flag(put, AT_APART)) return place_in_tile(e, b, tile, offset);
    const Expr *first = shared_at(e, tile, &expr_zero, place_thread(e, map, 0), place_thread(e, map, 1));
    const Expr *down = place_register(e, map, 0, &place_r), *right = place_register(e, map, 1, &place_r);
    const Expr *at = ex(e->arena, "%p + %p", offset, first);
    if (!ex_is_int(down, 0)) at = ex(e->arena, "%p + %p * %d", at, down, tile->width);
    if (!ex_is_int(right, 0))
        at = ex(e->arena, "%p + %p / %d * %lld", at, right, tile->width / tile->elem_bytes, (long long)tile->panel);
    return at;
}

/* --- rows that are found before the loop --- */
typedef struct Rows {
    const char *name; /* of the array of addresses; with _on: of the bits */
    bool some;        /* a row may be missing */
} Rows;

static void find_rows(Emit *e, const Op *load) {
    const Type *type = ir_type(e->k, load->results[0]);
    Box b = box_of(e, load, type, emit_layout(e, load->results[0]));
    Rows *rows = ARENA_NEW(e->arena, Rows);
    rows->name = cs_fresh(&e->p, arena_printf(e->arena, "%s_row", cs_name(&e->p, load->results[0])));
    const Expr *number = ex(e->arena, "r / %d", b.vector);
    cs_line(&e->p, "const %s *%s[%d];", cs_memory_type(type->elem), rows->name, b.layout->registers / b.vector);
    cs_line(&e->p, "u32 %s_on = 0;", rows->name);
    cs_note(&e->p, "addresses of the rows of %s in %s that this thread copies, which the loop does not change%s",
            purpose_tile(e, load->results[0]), purpose_array(e, load->operands[0]), "; _on: which of them are there");
    open_copies(e, &b);
    box_part(e, &b, BOX_ROW);
    rows->some = b.condition != NULL;
    if (rows->some) cs_line(&e->p, "%s_on |= (u32)(%p) << (%p);", rows->name, b.condition, number);
    cs_line(&e->p, "%s[%p] = %p;", rows->name, number, b.row);
    cs_close(&e->p);
    if (rows->some) cs_line(&e->p, "tw_fresh(1, &%s_on);", rows->name); /* bits, not again what they are made of */
    map_put_number(&e->rows_of, e->arena, (uintptr_t)load, rows);
}

void copy_begin(Emit *e, const Op *loop) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op_flag(op, AT_ROWS)) find_rows(e, op);
}

/* The vector of a row, into its place; what is left of it where the row ends within. */
static void copy_one(Emit *e, const Box *b, const Expr *at, const Expr *row) {
    const Expr *condition = memory_with_hint(e, b->op, b->condition ? b->condition : &expr_true);
    const Expr *i = b->index[b->inner_dim];
    if (b->whole)
        cs_line(&e->p, "tw_cp_async%s(%d, %p, %p + %p, %p);", memory_hinted(b->op),
                b->vector * elem_info[b->tile->elem].bytes, at, row, i, condition);
    else
        cs_line(&e->p, "tw_copy_row%s(%d, %p, %p, %p, %p, %p);", memory_hinted(b->op), b->vector, at, row, i,
                b->tensor.extent[b->inner_dim], condition);
}

static void copy_rows(Emit *e, const Op *put, Box b, const SharedTile *tile, const Expr *offset) {
    const Rows *rows = map_find_number(&e->rows_of, (uintptr_t)b.op)->value;
    const Expr *number = ex(e->arena, "r / %d", b.vector);
    open_copies(e, &b);
    box_part(e, &b, BOX_ALONG);
    if (rows->some) box_also(e, &b.condition, ex(e->arena, "(%s_on >> (%p) & 1) != 0", rows->name, number));
    box_mask(e, &b, op_operand(b.op, 1));
    copy_one(e, &b, place_in_slot(e, put, &b, tile, offset), ex(e->arena, "%s[%p]", rows->name, number));
    cs_close(&e->p);
}

/* Rows may end within a vector, in one trip of the loop, which is asked for as a whole (`ends`). */
static void copy_cut_rows(Emit *e, const Op *put, const Box *b, const SharedTile *tile, const Expr *offset) {
    int axis = box_axis(b->op, b->tensor.rank, b->tile->rank, b->inner_dim);
    const Expr *from = emit_scalar(e, op_list(b->op, 0).at[b->inner_dim]);
    cs_open(&e->p, "if (%p >= 0 && (i64)%p + %lld <= (i64)%p)", from, from, (long long)b->tile->extent[axis],
            b->tensor.extent[b->inner_dim]);
    Box inside = *b;
    inside.tensor.extent[b->inner_dim] = NULL;
    inside.whole = true;
    copy_rows(e, put, inside, tile, offset);
    cs_reopen(&e->p, "else");
    copy_rows(e, put, *b, tile, offset);
    cs_close(&e->p);
}

/* Copies of a warp that go to a slot side by side: the warp says where its first lane's goes. Which element belongs
 * there each lane knows from the swizzle (layout_wave.c). */
static void copy_by_wave(Emit *e, Box *b, const SharedTile *tile, const Expr *offset) {
    int bytes = e->lanes * e->cx->machine->wave_copy_bytes, warps = 1 << b->layout->map.count[LL_WARP];
    open_copies(e, b);
    b->places = tile;
    box_indices(e, b, op_operand(b->op, 1));
    const Expr *at = warps > 1 ? ex(e->arena, "%p + warp * %d", offset, bytes) : offset;
    if (b->layout->registers > b->vector) at = ex(e->arena, "%p + r / %d * %d", at, b->vector, bytes * warps);
    const Expr *on = b->condition ? b->condition : &expr_true, *base, *behind;
    if (b->near) {
        box_near(e, b, &base, &behind);
        cs_line(&e->p, "tw_copy_wave_bounded(%p, %p, %p, %p);", at, on, base, behind);
    } else {
        cs_line(&e->p, "tw_copy_wave(%p, %p + %p, %p);", at, b->row, b->index[b->inner_dim], on);
    }
    cs_close(&e->p);
}

/* --- copies --- */
void copy_emit(Emit *e, const Op *put, const SharedTile *tile, const Expr *offset) {
    const Op *load = ir_value(e->k, op_operand(put, 1))->op;
    const Type *type = ir_type(e->k, load->results[0]);
    int bytes = elem_info[type->elem].bytes;
    sync_before(e, load);
    Box b = box_of(e, load, type, emit_layout(e, load->results[0]));
    if (e->cx->machine->wave_copy_bytes) {
        copy_by_wave(e, &b, tile, offset);
    } else if (op_flag(load, AT_ENDS)) {
        copy_cut_rows(e, put, &b, tile, offset);
    } else if (op_flag(load, AT_ROWS)) {
        copy_rows(e, put, b, tile, offset);
    } else {
        open_copies(e, &b);
        box_indices(e, &b, op_operand(load, 1));
        copy_one(e, &b, place_in_slot(e, put, &b, tile, offset), b.row);
        cs_close(&e->p);
    }
    shared_zero_tail(e, tile, offset);
    if (e->cx->machine->wave_copy_bytes)
        emit_find(e, load, FIND_LOAD_BY_WAVE, e->lanes * e->cx->machine->wave_copy_bytes);
    else
        emit_find(e, load, FIND_LOAD_ASYNC, b.vector * bytes);
}
