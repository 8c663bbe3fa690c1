/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_part.c: what names a place, or a part of one, in a form of its own:
 *
 *     at(b, d, r, c)   shared_alloc(type)   tile_view(type, tiles)   subtile(type, tile, i, j)   v[i], t[i][j] */
#include "front/tilec/tilec.h"

static Expr failure(Range range) { return (Expr){.kind = X_ERROR, .range = range}; }

Expr tc_at_expr(Tc *tc, const CNode *node) {
    Expr e = {.kind = X_COORD, .range = node->range, .coord_count = (int)node->count - 1};
    if (node->count < 2 || node->count > 5) return TC_FAIL(tc, TC_COORDINATES, node->range, (int)node->count - 1);
    for (uint32_t i = 1; i < node->count; i++) {
        if (!tc_number(tc, node->kids[i], &e.coords[i - 1])) return failure(node->range);
        if (elem_is_float(e.coords[i - 1].type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, node->kids[i]->range, "at");
        if (e.coords[i - 1].type->elem == EL_I1) /* a truth value is an int in C */
            e.coords[i - 1] = tc_convert(tc, e.coords[i - 1], tc_scalar_type(EL_I32), node->kids[i]->range);
    }
    return e;
}

Expr tc_as_coord(Tc *tc, Expr e) {
    if (e.kind != X_PLACE || !e.lvalue.type->is_coord) return e;
    Expr coords = {.kind = X_COORD, .range = e.range, .coord_count = 4};
    for (int i = 0; i < 4; i++) {
        Lvalue member = tc_member(&e.lvalue, i);
        coords.coords[i] = tc_read_number(tc, &member, e.range);
    }
    return tc->failed ? failure(e.range) : coords;
}

bool tc_set_coord(Tc *tc, const Object *place, const Expr *e) {
    if (e->kind != X_COORD || !place->type->is_coord) return false;
    int missing = 4 - e->coord_count; /* the last ones count */
    for (int i = 0; i < 4; i++) {
        Lvalue member = {.place = place->parts[i], .type = place->parts[i]->type};
        tc_assign(tc, &member, i < missing ? tc_int(tc, 0) : e->coords[i - missing], e->range);
    }
    return true;
}

static bool is_type(const CNode *node) { return node->kind >= C_TYPE_NAME && node->kind <= C_TYPE_ARRAY; }

/* Shared tiles and vectors, and arrays and structs of nothing else. */
static bool is_shared(const TcType *type) {
    while (type->kind == TC_ARRAY) type = type->of;
    if (type->kind == TC_TILE) return type->level == TC_SHARED;
    bool all = type->kind == TC_STRUCT && type->field_count;
    for (int i = 0; all && i < type->field_count; i++) all = is_shared(type->fields[i].type);
    return all;
}

Expr tc_shared_alloc_expr(Tc *tc, const CNode *node) {
    if (node->count != 2 || !is_type(node->kids[1]))
        return TC_FAIL(tc, TC_CALL_FORM, node->range, "shared_alloc", "shared_alloc(type)");
    const TcType *type = tc_type(tc, node->kids[1]);
    if (!type) return failure(node->range);
    if (!is_shared(type))
        return TC_FAIL(tc, TC_CALL_FORM, node->range, "shared_alloc",
                       "shared_alloc(st_fl(rows, cols)): a shared tile type");
    Object *place = tc_place(tc, type, NULL, node->range);
    return (Expr){.kind = X_POINTER, .range = node->range, .lvalue = {.place = place, .type = type}};
}

/* tile_view(st_bf(64, 256), tiles): four 64x64 tiles side by side, or one above the other, as one tile */
Expr tc_view_expr(Tc *tc, const CNode *node) {
    if (node->count != 3 || !is_type(node->kids[1]))
        return TC_FAIL(tc, TC_CALL_FORM, node->range, "tile_view", "tile_view(st_bf(64, 256), tiles)");
    const TcType *type = tc_type(tc, node->kids[1]);
    Expr e = tc_read(tc, tc_expr(tc, node->kids[2]));
    if (!type || e.kind == X_ERROR) return failure(node->range);
    if (e.kind != X_PLACE && e.kind != X_POINTER) return TC_FAIL(tc, TC_NOT_TILE, node->kids[2]->range, "tile_view");
    const TcType *from = e.lvalue.type;
    if (from->kind == TC_ARRAY && e.lvalue.place->parts && tc_join_array(tc, e.lvalue.place))
        return failure(node->range);
    int64_t count = 1;
    const TcType *one = from;
    for (; one->kind == TC_ARRAY; one = one->of) count *= one->count;
    bool fits = type->kind == TC_TILE && one->kind == TC_TILE && type->elem == one->elem && type->level == one->level &&
                type->rank == 2 && one->rank == 2 &&
                ((type->rows == one->rows && type->cols == count * one->cols) ||
                 (type->cols == one->cols && type->rows == count * one->rows));
    if (!fits) return TC_FAIL(tc, TC_VIEW, node->range, type->name, from->name);
    e.kind = X_POINTER;
    e.range = node->range;
    e.lvalue.type = type;
    e.lvalue.is_view = from->kind == TC_ARRAY;
    return e;
}

/* subtile(st_bf(16, 16), tile, i, j): the part at (i, j), counted in parts; subvec(sv_fl(16), vector, i) */
Expr tc_part_expr(Tc *tc, const CNode *node, const char *name) {
    if (node->count < 3 || !is_type(node->kids[1]))
        return TC_FAIL(tc, TC_CALL_FORM, node->range, name,
                       "subtile(st_bf(16, 16), tile, i, j), subvec(sv_fl(16), vector, i)");
    const TcType *type = tc_type(tc, node->kids[1]);
    Expr e = tc_read(tc, tc_expr(tc, node->kids[2]));
    if (!type || e.kind == X_ERROR) return failure(node->range);
    if (e.kind != X_PLACE && e.kind != X_POINTER) return TC_FAIL(tc, TC_NOT_TILE, node->kids[2]->range, name);
    Lvalue *lv = &e.lvalue;
    const TcType *from = lv->type, *whole = type;
    if (type->is_complex && from->is_complex) type = type->fields[0].type, from = from->fields[0].type;
    bool fits = type->kind == TC_TILE && from->kind == TC_TILE && type->elem == from->elem &&
                type->level == from->level && type->rank == from->rank && (int)node->count == 3 + type->rank;
    if (!fits)
        return TC_FAIL(tc, TC_PART, node->range, type->name, from->name,
                       "it has the same level, element type and number of dimensions, and a place in each");
    bool own_rows = tc->unit > 1 && type->level == TC_REGISTER && !type->repeated; /* rows of a warp each */
    int64_t part[2] = {type->rank == 1 ? type->cols : type->rows, type->cols};
    int64_t all[2] = {type->rank == 1 ? from->cols : from->rows, from->cols};
    for (int d = 0; d < type->rank; d++) {
        Scalar index;
        int64_t known;
        if (!tc_number(tc, node->kids[3 + d], &index)) return failure(node->range);
        if (elem_is_float(index.type->elem)) return TC_FAIL(tc, TC_INTEGERS_ONLY, node->kids[3 + d]->range, name);
        bool outside = !tc_inside(tc, index, all[d] / part[d] - 1, &known);
        if (all[d] % part[d] || outside || (d == 0 && own_rows && part[0] != all[0]) || lv->is_view)
            return TC_FAIL(tc, TC_PART, node->range, type->name, from->name,
                           lv->is_view       ? "take the part of the tile that is viewed"
                           : all[d] % part[d] ? "it must fit a whole number of times"
                           : outside          ? "its place lies outside"
                                              : "the rows of a register tile lie in several warps" FIX "take columns");
        index = tc_binary(tc, CT_STAR, index, tc_int(tc, part[d]), node->range);
        lv->part[d] = lv->part_count ? tc_binary(tc, CT_PLUS, lv->part[d], index, node->range) : index;
    }
    lv->part_count = type->rank;
    lv->type = whole;
    e.kind = X_POINTER;
    e.range = node->range;
    return e;
}

/* v[i], t[i] (a row of a shared tile, as a vector), t[i][j] */
Expr tc_element_expr(Tc *tc, Expr base, Scalar index, const CNode *node) {
    Lvalue *lv = &base.lvalue;
    const TcType *type = lv->type;
    if (type->level != TC_SHARED || lv->place->block || lv->is_view)
        return TC_FAIL(tc, TC_UNSUPPORTED, node->range,
                       type->level == TC_SHARED ? "elements of a template's blocks and of views"
                                                : "elements of registers, which are spread over threads",
                       "copy the tile to a shared one, and take the element there");
    if (!tc_in_range(tc, index, (type->rank == 1 ? type->cols : type->rows) - 1, node->kids[1]->range))
        return failure(node->range);
    if (type->rank == 2) {
        TcType *row = ARENA_NEW(tc->arena, TcType);
        *row = *type;
        row->rank = row->rows = 1;
        row->name = "row of a shared tile";
        lv->type = row;
    } else {
        lv->type = tc_scalar_type(type->elem);
    }
    int at = type->rank == 2 || !lv->part_count ? 0 : lv->part_count - 1;
    if (lv->part_count) index = tc_binary(tc, CT_PLUS, lv->part[at], index, node->range);
    if (!lv->part_count) lv->part[1] = tc_int(tc, 0);
    if (!lv->part_count) lv->part_count = type->rank;
    lv->part[at] = index;
    base.kind = X_PLACE;
    base.range = node->range;
    return base;
}
