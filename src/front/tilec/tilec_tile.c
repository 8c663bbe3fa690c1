/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_tile.c: tiles and vectors of Tile C as values: what is read and written of them.
 *
 *     acc                     bload %acc, [0, 0]                 the whole buffer
 *     k[i], subtile(.., j)    bload %k, [i, 0, 16 j]             a box of the buffer that the array is
 *     k[warpid()]             bload %k, [4 w, 0, 0]; reshape     .. of several tiles (tilec_step.c)
 *     a->input->b             get %slot, b; slice; reshape       of a ring's record
 *
 * A tile is its buffer; a register tile of several warps is one tile with the rows of all of them. An
 * array of tiles is one buffer as soon as a run-time index or a view asks for it (tilec_place.c). */
#include "front/tilec/tilec.h"

#include <string.h>

const Type *tc_value_type(Tc *tc, const TcType *type) {
    int64_t warps = type->level == TC_REGISTER && !type->repeated ? tc->unit : 1;
    int64_t tile[2] = {type->rows * warps, type->cols}, vector[1] = {type->cols * warps};
    return ty_tile(tc->module, type->elem, type->rank, type->rank == 1 ? vector : tile);
}

bool tc_is_element(const Lvalue *lvalue) {
    const TcType *of = lvalue->place->type;
    while (of->kind == TC_ARRAY) of = of->of;
    return lvalue->type->kind == TC_SCALAR && of->kind == TC_TILE;
}

/* ---- boxes ---- */

static bool find_box(Tc *tc, const Lvalue *tile, Range range, TcBox *box) {
    Block *block = tile->place->block;
    box->whole = block ? ir_type(tc->kernel, block->ring)->fields[tile->place->field].type
                       : ir_type(tc->kernel, tile->place->buffer);
    box->fixed = tile->index_count - (tile->run ? 1 : 0);
    box->is_whole = !tile->index_count && !tile->part_count;
    const Type *value = tile->type->kind == TC_TILE ? tc_value_type(tc, tile->type) : NULL;
    int rank = box->whole->rank;
    for (int d = 0; d < rank; d++) {
        int inner = d - (rank - tile->part_count), own = value ? d - (rank - value->rank) : -1;
        bool index = d < tile->index_count, part = tile->part_count && inner >= 0;
        box->extent[d] = index ? 1 : !part ? box->whole->extent[d] : own >= 0 ? value->extent[own] : 1;
        if (tile->run && d == box->fixed) box->extent[d] = tile->run;
        if (index || part)
            box->at[d] = tc_uniform(tc, index ? tile->index[d] : tile->part[inner], range);
        else
            box->at[d] = ir_int(&tc->b, EL_I32, 0);
        if (!box->at[d]) return false;
    }
    return true;
}

/* A view of n tiles side by side ([n, r, c] as [r, n c]) needs the tile number behind the row. */
static bool is_side_by_side(const Lvalue *tile, const Type *whole) {
    return tile->is_view && whole->extent[whole->rank - 2] == tile->type->rows;
}

static const Type *box_type(Tc *tc, const TcBox *box, int first) {
    return ty_tile(tc->module, box->whole->elem, box->whole->rank - first, box->extent + first);
}

static Ref reshaped(Tc *tc, Ref value, const Type *type) {
    return ir_type(tc->kernel, value) == type ? value : ir_reshape(&tc->b, value, type);
}

static Ref get_box(Tc *tc, const Lvalue *tile, const TcBox *box) {
    const Block *block = tile->place->block;
    if (!block) return ir_bload(&tc->b, tile->place->buffer, box->at, box_type(tc, box, 0));
    Op *get = ir_begin(&tc->b, OP_GET);
    ir_operand(&tc->b, get, block->slot);
    op_set(tc->kernel, get, (Attr){.id = AT_FIELD_NUMBER, .number = tile->place->field});
    Ref value = ir_end(&tc->b, get, NULL);
    return box->is_whole ? value : ir_slice(&tc->b, value, box->at, box_type(tc, box, 0));
}

static void put_box(Tc *tc, const Lvalue *tile, const TcBox *box, Ref value) {
    const Block *block = tile->place->block;
    if (!block) {
        ir_bstore(&tc->b, tile->place->buffer, box->at, reshaped(tc, value, box_type(tc, box, 0)));
        return;
    }
    Op *put = ir_begin(&tc->b, OP_PUT);
    ir_operand(&tc->b, put, block->slot);
    ir_operand_list(&tc->b, put, 0, box->at, box->is_whole ? 0 : box->whole->rank);
    ir_operand(&tc->b, put, reshaped(tc, value, box_type(tc, box, box->fixed)));
    op_set(tc->kernel, put, (Attr){.id = AT_FIELD_NUMBER, .number = tile->place->field});
    ir_end(&tc->b, put, NULL);
}

static bool is_written(Tc *tc, const Lvalue *tile, Range range) {
    if (tile->place->block || tile->place->written) return true;
    if (tc->by_workers && tile->type->level == TC_SHARED) { /* perhaps by a role that stands below */
        *VEC_PUSH(&tc->early, tc->arena) = (TcEarly){tile->place, range};
        return true;
    }
    TC_ERROR(tc, TC_UNWRITTEN, range, tile->place->name);
    return false;
}

void tc_check_early(Tc *tc) {
    for (size_t i = 0; i < tc->early.count && !tc->failed; i++)
        if (!tc->early.at[i].place->written)
            TC_ERROR(tc, TC_UNWRITTEN, tc->early.at[i].range, tc->early.at[i].place->name);
}

Ref tc_read_tile(Tc *tc, const Lvalue *tile, Range range) {
    TcBox box;
    tc_check_read(tc, tile, range);
    if (tc->failed || !is_written(tc, tile, range) || !find_box(tc, tile, range, &box)) return REF_NONE;
    Ref value = get_box(tc, tile, &box);
    tc_note_touch(tc, tile, false, &box, range);
    if (box.fixed) value = reshaped(tc, value, box_type(tc, &box, box.fixed));
    if (is_side_by_side(tile, box.whole)) {
        const int64_t *one = box.extent + box.whole->rank - 2, split[3] = {tile->type->cols / one[1], one[0], one[1]};
        value = reshaped(tc, value, ty_tile(tc->module, tile->type->elem, 3, split));
        value = ir_permute(&tc->b, value, (int64_t[]){1, 0, 2}, 3);
    }
    return reshaped(tc, value, tc_value_type(tc, tile->type));
}

void tc_write_tile(Tc *tc, const Lvalue *tile, Ref value, Range range) {
    TcBox box;
    if (value == REF_NONE) return;
    tc_check_write(tc, tile, range);
    if (tc->failed || !find_box(tc, tile, range, &box)) return;
    value = ir_cast(&tc->b, value, tile->type->elem);
    if (is_side_by_side(tile, box.whole)) {
        int rank = box.whole->rank;
        int64_t split[3] = {box.extent[rank - 2], tile->type->cols / box.extent[rank - 1], box.extent[rank - 1]};
        value = ir_reshape(&tc->b, value, ty_tile(tc->module, tile->type->elem, 3, split));
        value = ir_permute(&tc->b, value, (int64_t[]){1, 0, 2}, 3);
    }
    put_box(tc, tile, &box, value);
    tc_note_touch(tc, tile, true, &box, range);
    tile->place->written = true;
}

/* ---- elements of shared tiles ---- */

Ref tc_read_element(Tc *tc, const Lvalue *element, Range range) {
    TcBox box;
    tc_check_read(tc, element, range);
    if (tc->failed || !is_written(tc, element, range) || !find_box(tc, element, range, &box)) return REF_NONE;
    Ref value = ir_bload(&tc->b, element->place->buffer, box.at, ty_scalar(tc->module, element->type->elem));
    tc_note_touch(tc, element, false, &box, range);
    return value;
}

void tc_write_element(Tc *tc, const Lvalue *element, Ref value, Range range) {
    TcBox box;
    tc_check_write(tc, element, range);
    if (tc->failed || !find_box(tc, element, range, &box)) return;
    ir_bstore(&tc->b, element->place->buffer, box.at, value);
    tc_note_touch(tc, element, true, &box, range);
    element->place->written = true;
}

/* ---- shapes and coordinates ---- */

static const char *shape_text(Tc *tc, const Type *type) {
    long long rows = type->extent[0], cols = type->rank == 1 ? 0 : type->extent[1];
    return type->rank == 1 ? arena_printf(tc->arena, "a vector of %lld", rows)
                           : arena_printf(tc->arena, "%lld x %lld", rows, cols);
}

bool tc_same_shape(Tc *tc, const char *name, const TcType *a, const TcType *b, Range range) {
    const Type *x = tc_value_type(tc, a), *y = tc_value_type(tc, b);
    if (ty_same_shape(x, y)) return true;
    TC_ERROR(tc, TC_SHAPES, range, name, shape_text(tc, x), shape_text(tc, y));
    return false;
}

/* Coordinates count tiles: rows and columns of a tile, elements of a vector; batch and depth count by one. */
bool tc_offsets(Tc *tc, const Object *global, const Expr *coords, const Type *tile, Ref *out) {
    static const char *const names[] = {"batch", "depth", "row", "column"};
    for (int d = 0; d < 4; d++) {
        int i = d - (4 - coords->coord_count), inner = d - (4 - tile->rank);
        int64_t unit = inner >= 0 ? tile->extent[inner] : 1, extent = global->type->dims[d], constant;
        Scalar at = i >= 0 ? coords->coords[i] : tc_int(tc, 0);
        bool known = tc_is_constant(tc, at, &constant);
        int64_t most = elem_info[at.type->elem].bits > 32 ? INT64_MAX : INT32_MAX; /* in elements */
        if (extent > 0) most = extent - 1;
        if (known && (constant < 0 || constant > most / unit)) {
            TC_ERROR(tc, TC_COORDINATE_RANGE, coords->range, names[d], (long long)constant, (long long)unit,
                     (long long)(extent > 0 ? extent : most));
            return false;
        }
        if (d < global->first_dim) {
            if (known) continue;
            TC_ERROR(tc, TC_COORDINATE_ONE, coords->range, names[d]);
            return false;
        }
        if (unit != 1) at = tc_binary(tc, CT_STAR, at, tc_int(tc, unit), coords->range);
        Ref offset = tc_uniform(tc, at, coords->range);
        if (!offset) return false;
        out[d - global->first_dim] = offset;
    }
    return true;
}
