/* simt_stage.c: tiles laid out in shared memory so that any thread can read any element.
 *
 * A staged tile is dense and row-major, its 16-byte chunks swizzled over 128 bytes so that columns
 * do not all meet in one bank. One op stages, waits, reads; the memory is its scratch:
 *
 *     for (int r = 0; r < 8; r += 4) tw_sts(4, tw_swizzle(0 + at0 * 4, 128), x + r);
 *     tw_sync();
 *     for (int r = 0; r < 8; r++) tw_lds(1, y + r, tw_swizzle(0 + (255 - at0) * 4, 128)); */
#include "target/simt/simt.h"

#include <string.h>

/* Σ at[d] * stride of d, terms that are 0 left out. */
const char *stage_flat(Emit *e, const Type *type, const char *const *at) {
    Text t = text_new(e->arena);
    int64_t stride = ty_elements(type);
    for (int d = 0; d < type->rank; d++) {
        stride /= type->extent[d];
        if (strcmp(at[d], "0") == 0) continue;
        if (t.length) text_add(&t, " + ");
        if (stride == 1)
            text_add(&t, "%s", at[d]);
        else
            text_add(&t, "%s * %lld", at[d], (long long)stride);
    }
    return t.length ? t.at : "0";
}

const char *stage_at(Emit *e, const Type *type, int64_t offset, const char *flat) {
    return arena_printf(e->arena, "tw_swizzle(%lld + (%s) * %d, 128)", (long long)offset, flat, ty_elem_bytes(type));
}

void stage_coords(Emit *e, const Layout *layout, int rank, const char **at) {
    for (int d = 0; d < rank; d++) at[d] = place_coord(e, layout, d, "r");
}

/* Every coordinate of register r inside the tile, `also` too; NULL: always. */
char *stage_inside(Emit *e, const Layout *layout, const Type *type, char *also) {
    for (int d = 0; d < type->rank; d++) {
        char *inside = place_inside(e, layout, type, d, "r");
        if (inside) also = also ? arena_printf(e->arena, "%s && %s", also, inside) : inside;
    }
    return also;
}

const char *stage_element(Emit *e, Ref value, const Layout *layout, const char *r) {
    const Type *type = ir_type(e->k, value);
    if (emit_is_tile(e, value) && emit_hold(e, value)->kind == HOLD_ARRAY)
        return arena_printf(e->arena, "%s[%s]", emit_hold(e, value)->text, r);
    const char *text = elementwise_operand(e, value, layout, r);
    return type->pointer ? text : elementwise_packed(e, type->elem, text);
}

void stage_store(Emit *e, Ref value, const Type *whole, int64_t offset, const char *const *shift) {
    const Type *type = ir_type(e->k, value);
    const Layout *layout = emit_layout(e, value);
    const char *at[MAX_RANK];
    if (!layout) { /* one element, written by one thread */
        for (int d = 0; d < whole->rank; d++) at[d] = shift ? shift[d] : "0";
        cs_open(&e->p, "if (lane == 0 && warp == 0)");
        cs_line(&e->p, "const %s word = %s;", emit_array_type(e, type), stage_element(e, value, NULL, "0"));
        cs_line(&e->p, "tw_sts(1, %s, &word);", stage_at(e, whole, offset, stage_flat(e, whole, at)));
        cs_close(&e->p);
        return;
    }
    int lead = whole->rank - type->rank, last = type->rank - 1;
    int vector = shift ? 1 : ll_run(&layout->map, last, ty_elem_bytes(type));
    while (vector > 1 && (type->extent[last] % vector || layout->registers % vector)) vector /= 2;
    emit_unroll(e, "r", layout->registers, vector);
    for (int d = 0; d < whole->rank; d++) {
        const char *own = d < lead ? "0" : place_coord(e, layout, d - lead, "r");
        at[d] = shift ? arena_printf(e->arena, "(%s + %s)", shift[d], own) : own;
    }
    char *condition = stage_inside(e, layout, type, place_owner(e, &layout->map));
    bool straight = emit_hold(e, value)->kind == HOLD_ARRAY;
    const char *from = straight ? arena_printf(e->arena, "%s + r", emit_hold(e, value)->text) : "word";
    if (!straight) {
        cs_line(&e->p, "%s word[%d];", emit_array_type(e, type), vector);
        for (int j = 0; j < vector; j++) cs_line(&e->p, "word[%d] = %s;", j, stage_element(e, value, layout, "r"));
    }
    const char *where = stage_at(e, whole, offset, stage_flat(e, whole, at));
    if (condition)
        cs_line(&e->p, "tw_sts_if(%d, %s, %s, %s);", vector, condition, where, from);
    else
        cs_line(&e->p, "tw_sts(%d, %s, %s);", vector, where, from);
    cs_close(&e->p);
}

void stage_load(Emit *e, Ref result, const Type *whole, int64_t offset, const char *const *at) {
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    char *condition = stage_inside(e, layout, type, NULL);
    const char *where = stage_at(e, whole, offset, stage_flat(e, whole, at));
    const char *to = arena_printf(e->arena, "%s + r", emit_hold(e, result)->text);
    if (condition)
        cs_line(&e->p, "tw_lds_if(1, %s, %s, %s);", condition, to, where);
    else
        cs_line(&e->p, "tw_lds(1, %s, %s);", to, where);
}
