/* SPDX-License-Identifier: Apache-2.0 */
/* raise_value.c: scalars of an element loop as tiles.
 *
 *     %r = add %m, %i ; %f = cast %r : f32    ->    %0 = iota<0, 32> ; %r = add %0, %m ; %f = cast %r : f32[32]
 *
 * Every value becomes a tile over just the loop variables that it depends on (its axes); one that depends on none stays
 * a scalar. Which those are is found out first, for the whole body (raise_find_axes): what a loop hands on from trip to
 * trip depends on all that it ever was. Tiles are made when they are first asked for. */
#include "pass/raise/raise_loop.h"

#include <string.h>

/* --- axes --- */

int raise_variable(const Loop *loop, Ref ref) {
    for (int d = 0; d < loop->rank; d++)
        if (loop->variable[d] == ref) return d;
    return -1;
}

unsigned raise_axes(const Loop *loop, Ref ref) {
    int variable = raise_variable(loop, ref);
    if (variable >= 0) return 1u << variable;
    MapEntry *known = ref_is_value(ref) ? map_find_number(&loop->axes, ref) : NULL;
    return known ? (unsigned)((uintptr_t)known->value - 1) : 0;
}

static bool add_axes(Loop *loop, Ref ref, unsigned set) {
    unsigned before = raise_axes(loop, ref);
    if ((before | set) == before) return false;
    map_put_number(&loop->axes, loop->cx->scratch, ref, (void *)((uintptr_t)(before | set) + 1));
    return true;
}

static bool visit_region(Loop *loop, const Region *region);

static bool visit_for(Loop *loop, const Op *op) {
    const Region *body = op->regions[0];
    unsigned bounds = 0;
    for (int i = 0; i < 3; i++) bounds |= raise_axes(loop, op->operands[i]);
    bool changed = add_axes(loop, body->args[0], bounds);
    changed |= visit_region(loop, body);
    for (int i = 0; i < op->result_count; i++) {
        unsigned set = bounds | raise_axes(loop, op->operands[3 + i]) | raise_axes(loop, body->last->operands[i]);
        changed |= add_axes(loop, body->args[1 + i], set);
        changed |= add_axes(loop, op->results[i], set);
    }
    return changed;
}

static bool visit_if(Loop *loop, const Op *op) {
    bool changed = visit_region(loop, op->regions[0]);
    changed |= visit_region(loop, op->regions[1]);
    for (int i = 0; i < op->result_count; i++) {
        unsigned set = raise_axes(loop, op->operands[0]);
        for (int side = 0; side < 2; side++) set |= raise_axes(loop, op->regions[side]->last->operands[i]);
        changed |= add_axes(loop, op->results[i], set);
    }
    return changed;
}

static bool visit_region(Loop *loop, const Region *region) {
    bool changed = false;
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_FOR) {
            changed |= visit_for(loop, op);
        } else if (op->code == OP_IF) {
            changed |= visit_if(loop, op);
        } else {
            unsigned set = 0;
            for (int i = 0; i < op->operand_count; i++) set |= raise_axes(loop, op->operands[i]);
            for (int i = 0; i < op->result_count; i++) changed |= add_axes(loop, op->results[i], set);
            for (int i = 0; i < op->region_count; i++) changed |= visit_region(loop, op->regions[i]);
        }
    }
    return changed;
}

void raise_find_axes(Loop *loop) {
    while (visit_region(loop, loop->op->regions[0])) continue;
}

/* --- shapes --- */

const Type *raise_tile(Loop *loop, Elem elem, const int *axes, int count) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < count; d++) extent[d] = loop->extent[axes[d]];
    return ty_tile(loop->k->module, elem, count, extent);
}

bool raise_fits(Loop *loop, const Op *op, const int *axes, int count) {
    int64_t elements = 1;
    for (int d = 0; d < count; d++) {
        elements *= loop->extent[axes[d]];
        if (elements > MAX_TILE_ELEMENTS)
            return raise_fail(loop, op, "a tile over the loop has more than 2^20 elements");
    }
    return true;
}

int raise_find_axis(const Raised *value, int axis) {
    for (int d = 0; d < value->count; d++)
        if (value->axes[d] == axis) return d;
    return -1;
}

unsigned raise_set_of(const Raised *value) {
    unsigned set = 0;
    for (int d = 0; d < value->count; d++) set |= 1u << value->axes[d];
    return set;
}

int raise_sorted(unsigned set, int *axes) {
    int count = 0;
    for (int axis = 0; axis < MAX_RANK; axis++)
        if (set >> axis & 1) axes[count++] = axis;
    return count;
}

Ref raise_align(Loop *loop, const Raised *value, const int *axes, int count) {
    if (value->count == 0) return value->ref;
    bool same = value->count == count;
    for (int d = 0; same && d < count; d++) same = value->axes[d] == axes[d];
    if (same) return value->ref;
    int64_t order[MAX_RANK], extent[MAX_RANK];
    int found = 0;
    bool in_order = true;
    for (int d = 0; d < count; d++) {
        int at = raise_find_axis(value, axes[d]);
        extent[d] = at < 0 ? 1 : loop->extent[axes[d]];
        if (at < 0) continue;
        in_order = in_order && at == found;
        order[found++] = at;
    }
    Ref ref = in_order ? value->ref : ir_permute(&loop->b, value->ref, order, found);
    return ir_reshape(&loop->b, ref, ty_with_shape(loop->k->module, ir_type(loop->k, ref), count, extent));
}

static const Type *tile_like(Loop *loop, const Type *element, const int *axes, int count) {
    const Type *type = raise_tile(loop, element->elem, axes, count);
    return element->pointer ? ty_pointer_tile(loop->k->module, type->elem, count, type->extent) : type;
}

Ref raise_spread(Loop *loop, const Raised *value, const int *axes, int count) {
    if (!count) return value->ref;
    const Type *type = tile_like(loop, ir_type(loop->k, value->ref), axes, count);
    return value->count ? ir_broadcast(&loop->b, raise_align(loop, value, axes, count), type)
                        : ir_splat(&loop->b, value->ref, type);
}

/* All axes of several values: the order of the one that has them all, else by loop variable. */
static int join_axes(const Raised *values, int value_count, int *axes) {
    unsigned set = 0;
    for (int i = 0; i < value_count; i++) set |= raise_set_of(&values[i]);
    int count = __builtin_popcount(set);
    for (int i = 0; i < value_count; i++)
        if (values[i].count == count) {
            memcpy(axes, values[i].axes, sizeof values[i].axes);
            return count;
        }
    return raise_sorted(set, axes);
}

/* --- tile arithmetic of our own: places, masks --- */

Raised raise_scalar(Ref ref) { return (Raised){.ref = ref}; }

Raised raise_number(Loop *loop, Elem elem, int64_t number) {
    return raise_scalar(ir_int(&loop->b, elem, number));
}

Raised raise_cast(Loop *loop, Raised x, Elem elem) {
    x.ref = ir_cast(&loop->b, x.ref, elem);
    return x;
}

Raised raise_apply(Loop *loop, Opcode code, const Raised *x, int count, Word predicate) {
    Raised out = {.count = join_axes(x, count, out.axes)};
    Op *made = ir_begin(&loop->b, code);
    Ref operands[4];
    for (int i = 0; i < count; i++) operands[i] = raise_align(loop, &x[i], out.axes, out.count);
    for (int i = 0; i < count; i++) ir_operand(&loop->b, made, operands[i]);
    if (predicate) op_set(loop->k, made, (Attr){.id = AT_PRED, .word = predicate});
    out.ref = ir_end(&loop->b, made, NULL);
    return out;
}

Raised raise_both(Loop *loop, Raised x, Raised y) { return raise_apply(loop, OP_AND, (Raised[]){x, y}, 2, WORD_NONE); }

Raised raise_select(Loop *loop, Raised condition, Raised x, Raised y) {
    return raise_apply(loop, OP_SELECT, (Raised[]){condition, x, y}, 3, WORD_NONE);
}

Raised raise_not(Loop *loop, Raised x) { return raise_apply(loop, OP_NOT, &x, 1, WORD_NONE); }

Raised raise_any(Loop *loop, Raised condition, unsigned kept) {
    for (int d = condition.count - 1; d >= 0; d--) {
        if (kept >> condition.axes[d] & 1) continue;
        condition.ref = ir_reduce(&loop->b, COMBINE_OR, condition.ref, d);
        memmove(&condition.axes[d], &condition.axes[d + 1], (size_t)(condition.count - d - 1) * sizeof(int));
        condition.count--;
    }
    return condition;
}

/* --- values of the body --- */

static bool raise_elementwise(Loop *loop, const Op *op, Raised *out) {
    Raised *parts = ARENA_ARRAY(loop->cx->scratch, Raised, op->operand_count);
    for (int i = 0; i < op->operand_count; i++) {
        if (!op->operands[i]) continue;
        if (ir_type(loop->k, op->operands[i])->rank)
            return raise_fail(loop, op, "this computes with whole tiles, once for each element");
        if (!raise_value(loop, op->operands[i], &parts[i])) return false;
    }
    out->count = join_axes(parts, op->operand_count, out->axes);
    if (!raise_fits(loop, op, out->axes, out->count)) return false;
    loop->b.range = op->range;
    Op *made = ir_begin(&loop->b, op->code);
    const Type *result = ir_type(loop->k, op->results[0]);
    for (int i = 0; i < op->operand_count; i++)
        ir_operand(&loop->b, made, op->operands[i] ? raise_align(loop, &parts[i], out->axes, out->count) : REF_NONE);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    out->ref = ir_end(&loop->b, made, given ? tile_like(loop, result, out->axes, out->count) : NULL);
    return true;
}

void raise_set(Loop *loop, Ref ref, Raised value) {
    ir_name(loop->k, value.ref, ir_value(loop->k, ref)->name);
    map_put_number(&loop->done, loop->cx->scratch, ref, arena_copy(loop->cx->scratch, &value, sizeof value));
}

bool raise_value(Loop *loop, Ref ref, Raised *out) {
    *out = raise_scalar(ref);
    if (!ref_is_value(ref)) return true;
    MapEntry *known = map_find_number(&loop->done, ref);
    if (known) {
        *out = *(Raised *)known->value;
        return true;
    }
    int variable = raise_variable(loop, ref);
    Op *op = raise_body_op(loop, ref);
    if (variable >= 0) {
        Elem elem = ir_type(loop->k, ref)->elem;
        Ref numbers = ir_iota(&loop->b, loop->low[variable], loop->low[variable] + loop->extent[variable]);
        *out = (Raised){ir_cast(&loop->b, numbers, elem), 1, {variable}};
        map_put_number(&loop->done, loop->cx->scratch, ref, arena_copy(loop->cx->scratch, out, sizeof *out));
        return true;
    }
    if (!op) return true;
    if (raise_is_load(op)) {
        if (!raise_load(loop, op, out)) return false;
    } else if (op_has(op->code, TRAIT_ELEMENTWISE)) {
        if (!raise_elementwise(loop, op, out)) return false;
    } else {
        return raise_fail(loop, op, "`%s` is no operation on single elements", op_info[op->code].mnemonic);
    }
    raise_set(loop, ref, *out);
    return true;
}
