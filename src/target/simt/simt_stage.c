/* SPDX-License-Identifier: Apache-2.0 */
/* simt_stage.c: tiles laid out in shared memory so that any thread can read any element.
 *
 * A staged tile is dense and row-major, its 16-byte chunks swizzled over 128 bytes so that columns
 * do not all meet in one bank. One op stages, waits, reads; the memory is its scratch:
 *
 *     for (int r = 0; r < 8; r += 4) tw_sts(4, tw_swizzle(0 + at0 * 4, 128), x + r);
 *     tw_sync();
 *     for (int r = 0; r < 8; r++) tw_lds(1, y + r, tw_swizzle(0 + (255 - at0) * 4, 128)); */
#include "target/simt/simt.h"

/* Σ at[d] * stride of d, terms that are 0 left out, of the first `rank` dimensions. */
static const Expr *flat_of(Emit *e, const Type *type, const Expr *const *at, int rank) {
    const Expr *sum = NULL;
    int64_t stride = 1;
    for (int d = 0; d < rank; d++) stride *= type->extent[d];
    for (int d = 0; d < rank; d++) {
        stride /= type->extent[d];
        if (ex_is_int(at[d], 0)) continue;
        sum = ex_sum(e->arena, sum, stride == 1 ? at[d] : ex(e->arena, "%p * %lld", at[d], (long long)stride));
    }
    return sum ? sum : &expr_zero;
}

const Expr *stage_flat(Emit *e, const Type *type, const Expr *const *at) { return flat_of(e, type, at, type->rank); }

const Expr *stage_rows(Emit *e, const Type *type, const Expr *const *at) {
    return flat_of(e, type, at, type->rank - 1);
}

const Expr *stage_at(Emit *e, const Type *type, int64_t offset, const Expr *flat) {
    return ex(e->arena, "tw_swizzle(%lld + (%p) * %d, %d)", (long long)offset, flat, ty_elem_bytes(type), WIDEST_PANEL);
}

Stage stage_of_buffer(Emit *e, Ref buffer) {
    const Value *v = ir_value(e->k, buffer);
    return (Stage){v->type, shared_offset(e, v->op), v->layout ? &v->layout->tile : NULL};
}

const Expr *stage_place(Emit *e, const Stage *stage, const Expr *const *at) {
    const Type *type = stage->type;
    if (!stage->tile) return stage_at(e, type, stage->offset, stage_flat(e, type, at));
    int last = type->rank - 1;
    return shared_at(e, stage->tile, ex_int(e->arena, stage->offset), stage_rows(e, type, at), at[last]);
}

void stage_coords(Emit *e, const Layout *layout, int rank, const Expr **at) {
    for (int d = 0; d < rank; d++) at[d] = place_coord(e, layout, d, &place_r);
}

/* Every coordinate of register r inside the tile, `also` too; NULL: always. */
const Expr *stage_inside(Emit *e, const Layout *layout, const Type *type, const Expr *also) {
    for (int d = 0; d < type->rank; d++) also = ex_and(e->arena, also, place_inside(e, layout, type, d, &place_r));
    return also;
}

const Expr *stage_element(Emit *e, Ref value, const Layout *layout, const Expr *r) {
    const Type *type = ir_type(e->k, value);
    if (emit_is_tile(e, value) && emit_hold(e, value)->kind == HOLD_ARRAY)
        return ex(e->arena, "%p[%p]", emit_hold(e, value)->by, r);
    const Expr *text = elementwise_operand(e, value, layout, r);
    return type->pointer ? text : elementwise_packed(e, type->elem, text);
}

void stage_store(Emit *e, Ref value, const Stage *stage, const Expr *const *shift, int vector) {
    const Type *type = ir_type(e->k, value), *whole = stage->type;
    const Layout *layout = emit_layout(e, value);
    const Expr *at[MAX_RANK];
    cs_note(&e->p, "%s to shared memory, where any thread finds any element of it", purpose_tile(e, value));
    if (!layout) { /* one element, written by one thread */
        for (int d = 0; d < whole->rank; d++) at[d] = shift ? shift[d] : &expr_zero;
        cs_open(&e->p, "if (lane == 0 && warp == 0)");
        cs_line(&e->p, "const %s word = %p;", emit_array_type(e, type), stage_element(e, value, NULL, &expr_zero));
        cs_line(&e->p, "tw_sts(1, %p, &word);", stage_place(e, stage, at));
        cs_close(&e->p);
        return;
    }
    int lead = whole->rank - type->rank;
    emit_unroll(e, "r", layout->registers, vector);
    for (int d = 0; d < whole->rank; d++) {
        const Expr *own = d < lead ? &expr_zero : place_coord(e, layout, d - lead, &place_r);
        at[d] = shift ? ex(e->arena, "(%p + %p)", shift[d], own) : own;
    }
    const Expr *condition = stage_inside(e, layout, type, place_owner(e, &layout->map));
    bool straight = emit_hold(e, value)->kind == HOLD_ARRAY;
    const Expr *from = straight ? ex(e->arena, "%p + r", emit_hold(e, value)->by) : ex_name(e->arena, "word");
    if (!straight) {
        cs_line(&e->p, "%s word[%d];", emit_array_type(e, type), vector);
        for (int j = 0; j < vector; j++) {
            const Expr *r = j ? ex(e->arena, "(r + %d)", j) : &place_r;
            cs_line(&e->p, "word[%d] = %p;", j, stage_element(e, value, layout, r));
        }
    }
    const Expr *where = stage_place(e, stage, at);
    if (condition)
        cs_line(&e->p, "tw_sts_if(%d, %p, %p, %p);", vector, condition, where, from);
    else
        cs_line(&e->p, "tw_sts(%d, %p, %p);", vector, where, from);
    cs_close(&e->p);
}

void stage_load(Emit *e, Ref result, const Stage *stage, const Expr *const *at, int vector) {
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    const Expr *condition = stage_inside(e, layout, type, NULL);
    const Expr *where = stage_place(e, stage, at);
    const Expr *to = ex(e->arena, "%p + r", emit_hold(e, result)->by);
    if (condition)
        cs_line(&e->p, "tw_lds_if(%d, %p, %p, %p);", vector, condition, to, where);
    else
        cs_line(&e->p, "tw_lds(%d, %p, %p);", vector, to, where);
}
