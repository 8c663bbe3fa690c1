/* SPDX-License-Identifier: Apache-2.0 */
/* layout_want.c: a value in the layout that someone wants it in: as it is, computed again there if it floats (or is
 * read again for less than it costs to move), else by a `convert`. Each is made once a layout. */
#include "pass/layout/layout_state.h"

#include <string.h>

static void inverse_dims(const Op *permute, int64_t *dims) {
    IntList list = op_attr(permute, AT_DIMS)->list;
    for (int d = 0; d < list.count; d++) dims[list.at[d]] = d;
}

static char *want_key(LayoutState *st, Ref ref, const Layout *layout) {
    Arena *a = st->cx->scratch;
    if (layout->home == HOME_SHARED)
        return arena_printf(a, "%u s %d %lld %lld %lld %lld %d", ref, layout->tile.width,
                            (long long)layout->tile.rows_held, (long long)layout->tile.columns_held,
                            (long long)layout->tile.zero_rows, (long long)layout->tile.zero_columns,
                            layout->tile.turned);
    return arena_printf(a, "%u %s", ref, ll_text(&layout->map, a));
}

bool lay_inside_role(const LayoutState *st, const Region *region) {
    if (!st->role) return true;
    for (; region; region = region->owner ? region->owner->parent : NULL)
        if (region->owner == st->role) return true;
    return false;
}

/* Right behind the definition; what was defined outside the role goes to the role's start. */
static Builder behind(LayoutState *st, Ref ref, Range range) {
    const Value *v = ir_value(st->k, ref);
    Region *region = v->op ? v->op->parent : v->region;
    Builder b = ir_builder(st->k, region);
    b.before = v->op ? v->op->next : region->first;
    if (!lay_inside_role(st, region)) {
        b.region = st->role->regions[0];
        b.before = b.region->first;
    }
    b.range = range;
    return b;
}

/* The floating value computed in the layout. */
static Ref float_to(LayoutState *st, Ref ref, const Layout *layout, const Op *user) {
    Kernel *k = st->k;
    Op *op = ir_value(k, ref)->op;
    RefMap map = {.arena = st->cx->scratch};
    for (int i = 0; i < op->operand_count; i++) {
        Ref x = op->operands[i];
        if (!lay_is_tile(k, x)) continue;
        const Type *t = ir_type(k, x);
        LinearLayout wanted;
        int64_t dims[MAX_RANK];
        switch (op->code) {
        case OP_EXPAND: wanted = ll_slice(&layout->map, (int)op_int(op, AT_AXIS, 0)); break;
        case OP_PERMUTE:
            inverse_dims(op, dims);
            wanted = ll_permute(&layout->map, dims);
            break;
        case OP_RESHAPE: wanted = ll_reshape(&layout->map, t->rank, t->extent); break;
        default: wanted = lay_operand(k, op, i, &layout->map);
        }
        refmap_set(&map, x, lay_want(st, x, lay_in_registers(st, wanted, t), user));
    }
    Builder b = behind(st, ref, op->range);
    Op *copy = ir_clone(&b, op, &map);
    ir_value(k, copy->results[0])->layout = layout;
    if (copy->code == OP_TLOAD)
        layout_vector(st->cx->machine, &st->facts, copy, ir_type(k, ref), &layout->map); /* wishes */
    return copy->results[0];
}

Ref lay_want(LayoutState *st, Ref ref, const Layout *layout, const Op *user) {
    if (!lay_is_tile(st->k, ref)) return ref;
    Value v = *ir_value(st->k, ref);
    if (v.layout && v.layout->home == layout->home &&
        (layout->home == HOME_SHARED || ll_equal(&v.layout->map, &layout->map)))
        return ref;
    char *key = want_key(st, ref, layout);
    MapEntry *made = map_find(&st->made, key, strlen(key));
    if (made) return (Ref)(uintptr_t)made->value;
    Ref result;
    bool floats = !v.layout && v.op && !lay_natural(st, ref);
    if (floats && layout->home == HOME_SHARED) { /* computed in registers first */
        ref = lay_want(st, ref, lay_default(st, v.type), user);
        v = *ir_value(st->k, ref);
        floats = false;
    }
    bool again =
        layout->home == HOME_REGISTERS &&
        (index_is_read_again(st, ref, layout) || index_is_too_large(st, ref, layout) || index_is_got(st, ref, layout));
    if (floats || again) {
        result = float_to(st, ref, layout, user);
    } else {
        Builder b = behind(st, ref, user->range);
        if (layout->home == HOME_SHARED && v.op && v.op->parent == user->parent)
            b = ir_builder_before(st->k, (Op *)user); /* all loads first, then their way through shared memory */
        if (layout->home == HOME_REGISTERS) index_note_move(st, ref, user);
        Op *op = ir_begin(&b, OP_CONVERT);
        ir_operand(&b, op, ref);
        result = ir_end(&b, op, NULL);
        ir_value(st->k, result)->layout = layout;
        ir_value(st->k, result)->name = ir_value(st->k, ref)->name;
    }
    map_put(&st->made, st->cx->scratch, key, strlen(key), (void *)(uintptr_t)result);
    return result;
}

static void want_operand(LayoutState *st, Op *op, int i, const Layout *layout) {
    Ref x = op->operands[i];
    if (!lay_is_tile(st->k, x)) return;
    LinearLayout wanted = lay_operand(st->k, op, i, &layout->map);
    op->operands[i] = lay_want(st, x, lay_in_registers(st, wanted, ir_type(st->k, x)), op);
}

void lay_want_operands(LayoutState *st, Op *op, const Layout *layout) {
    for (int i = 0; i < op->operand_count; i++) want_operand(st, op, i, layout);
}
