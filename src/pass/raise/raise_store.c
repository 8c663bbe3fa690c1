/* SPDX-License-Identifier: Apache-2.0 */
/* raise_store.c: writes and atomics of an element loop.
 *
 *     if (c[i, j]) T[i, j] = e        a box, of which the rest keeps what it was: bload, select, bstore
 *     T[place[i]] = e                 scatter: of iterations that meet in a cell the last one writes, as in the loop
 *     A[i, row[j]] = e                tstore with an index vector, and a mask; by pointers where indices are no vectors
 *
 * A write that several iterations share because some variable reaches neither place nor value happens once. Iterations
 * that meet in a tensor for sure do not come here (raise_order.c). */
#include "ir/threads.h"
#include "pass/raise/raise_loop.h"

/* What the store writes, and on which axes: of its place, of the value, of the mask. */
typedef struct Write {
    Reach place;
    Raised value, mask;
    bool masked;
    unsigned own, all; /* of the place; of all three */
} Write;

static Ref stored_value(const Op *op) {
    return op->code == OP_BSTORE ? op->operands[op->operand_count - 1] : op_operand(op, 1);
}

static bool find_write(Loop *loop, const Op *op, unsigned own, Ref given, Write *w) {
    w->own = own;
    w->masked = loop->masked || given;
    w->mask = loop->mask;
    if (given) {
        if (!raise_value(loop, given, &w->mask)) return false;
        loop->b.range = op->range;
        if (loop->masked) w->mask = raise_both(loop, w->mask, loop->mask);
    }
    if (!raise_value(loop, stored_value(op), &w->value)) return false;
    loop->b.range = op->range;
    unsigned valued = raise_set_of(&w->value);
    /* If just the mask knows more axes than the place, some iteration writes or none does. */
    if (w->masked && !(valued & ~own)) w->mask = raise_any(loop, w->mask, own);
    w->all = own | valued | (w->masked ? raise_set_of(&w->mask) : 0);
    int axes[MAX_RANK];
    return raise_fits(loop, op, axes, raise_sorted(w->all, axes));
}

/* --- buffers --- */

Ref raise_rest(Loop *loop, Ref buffer, const Ref *offsets, const Type *type) {
    Ref rest = ir_bload(&loop->b, buffer, offsets, type);
    map_put_number(loop->patches, loop->cx->scratch, rest, loop);
    return rest;
}

static bool store_buffer_box(Loop *loop, const Op *op, Write *w, const Type *boxed) {
    int axes[MAX_RANK], count = raise_place_axes(&w->place, axes);
    Ref tile = raise_spread(loop, &w->value, axes, count);
    if (w->masked) {
        Ref rest = raise_rest(loop, op->operands[0], w->place.offset, boxed);
        rest = ir_reshape(&loop->b, rest, raise_tile(loop, boxed->elem, axes, count));
        tile = ir_ternary(&loop->b, OP_SELECT, raise_align(loop, &w->mask, axes, count), tile, rest);
    }
    tile = count ? tile : ir_splat(&loop->b, tile, boxed);
    ir_bstore(&loop->b, op->operands[0], w->place.offset, ir_reshape(&loop->b, tile, boxed));
    return true;
}

/* What is written with its surroundings would overwrite what they write. */
static const char others_write[] = "other workers may write the tile beside it";

static bool store_scattered(Loop *loop, const Op *op, Write *w) {
    Ref buffer = op->operands[0], zero[MAX_RANK];
    const Type *type = ir_type(loop->k, buffer);
    Raised at;
    int axes[MAX_RANK], count = raise_sorted(w->all, axes);
    if (!raise_flat(loop, op, true, &at)) return false;
    loop->b.range = op->range;
    if (w->masked) at = raise_select(loop, w->mask, at, raise_number(loop, EL_I32, -1));
    bool unique = map_find_number(&loop->unique, (uint64_t)(uintptr_t)op) != NULL;
    for (int d = 0; d < type->rank; d++) zero[d] = ir_int(&loop->b, EL_I32, 0);
    const Type *whole = ty_tile(loop->k->module, type->elem, type->rank, type->extent);
    Ref places = raise_spread(loop, &at, axes, count), parts = raise_spread(loop, &w->value, axes, count);
    if (!count) {
        const int64_t one = 1;
        places = ir_splat(&loop->b, places, ty_tile(loop->k->module, EL_I32, 1, &one));
        parts = ir_splat(&loop->b, parts, ty_tile(loop->k->module, type->elem, 1, &one));
    }
    Op *scatter = ir_begin(&loop->b, OP_SCATTER);
    ir_operand(&loop->b, scatter, raise_rest(loop, buffer, zero, whole));
    ir_operand(&loop->b, scatter, places);
    ir_operand(&loop->b, scatter, parts);
    if (unique) op_set(loop->k, scatter, (Attr){.id = AT_UNIQUE, .number = 1});
    ir_bstore(&loop->b, buffer, zero, ir_end(&loop->b, scatter, NULL));
    return true;
}

static bool store_buffer(Loop *loop, Op *op) {
    Write w = {0};
    const Type *boxed;
    bool shared = threads_share(loop->k, loop->op, op->operands[0]);
    raise_place(loop, op, &w.place);
    if (!find_write(loop, op, w.place.moves, REF_NONE, &w)) return false;
    if (shared && w.masked) return raise_fail(loop, op, others_write);
    if (w.place.kind == PLACE_BOX && w.all == w.own) {
        if (!raise_offsets(loop, op, &w.place)) return false;
        loop->b.range = op->range;
        if (raise_buffer_box(loop, op, &w.place, &boxed)) return store_buffer_box(loop, op, &w, boxed);
    }
    if (shared) return raise_fail(loop, op, others_write);
    return store_scattered(loop, op, &w);
}

/* --- tensors --- */

static bool store_pointers(Loop *loop, const Op *op, Write *w, Raised pointers, Raised inside, bool tested) {
    if (tested) w->mask = w->masked ? raise_both(loop, w->mask, inside) : inside;
    w->masked |= tested;
    int axes[MAX_RANK], count = raise_sorted(w->all, axes);
    Ref at = raise_spread(loop, &pointers, axes, count), value = raise_spread(loop, &w->value, axes, count);
    Ref mask = w->masked ? raise_align(loop, &w->mask, axes, count) : REF_NONE;
    Op *store = ir_begin(&loop->b, OP_STORE);
    ir_operand(&loop->b, store, at);
    ir_operand(&loop->b, store, value);
    ir_operand(&loop->b, store, mask);
    for (int i = 0; i < op->attr_count; i++)
        if (op_allows_attr(OP_STORE, op->attrs[i].id)) op_set(loop->k, store, op->attrs[i]);
    ir_end(&loop->b, store, NULL);
    return true;
}

static bool store_tensor(Loop *loop, Op *op) {
    Write w = {0};
    raise_place(loop, op, &w.place);
    if (!find_write(loop, op, w.place.moves, op_operand(op, 2), &w)) return false;
    bool one_by_one = w.place.kind == PLACE_VECTORS;
    for (int d = 0; d < w.place.rank; d++) one_by_one = one_by_one && w.place.move[d] != MOVE_STEP;
    if (w.place.kind == PLACE_ANY || one_by_one || w.all != w.own) {
        Raised pointers, inside = {0};
        bool tested;
        return raise_pointers(loop, op, &pointers, &inside, &tested) &&
               store_pointers(loop, op, &w, pointers, inside, tested);
    }
    if (!raise_offsets(loop, op, &w.place)) return false;
    int axes[MAX_RANK], count = raise_place_axes(&w.place, axes);
    loop->b.range = op->range;
    Ref tile = raise_spread(loop, &w.value, axes, count);
    Ref mask = w.masked ? raise_spread(loop, &w.mask, axes, count) : REF_NONE;
    raise_set_dims(loop, ir_tstore(&loop->b, op->operands[0], w.place.offset, tile, mask), &w.place, count);
    return true;
}

bool raise_store(Loop *loop, Op *op) {
    if (ir_type(loop->k, stored_value(op))->rank)
        return raise_fail(loop, op, "this writes a whole tile for each element");
    const MapEntry *scan = map_find_number(&loop->scans, (uint64_t)(uintptr_t)op);
    if (scan) return raise_scan(loop, op, scan->value);
    bool shared = op->code == OP_BSTORE && threads_share(loop->k, loop->op, op->operands[0]);
    if (raise_is_count(loop, op)) return shared ? raise_fail(loop, op, others_write) : raise_count(loop, op);
    if (op->code == OP_BSTORE && raise_is_update(loop, op) && !shared) return raise_accumulation(loop, op);
    if (op->code == OP_BSTORE) return store_buffer(loop, op);
    if (op->code == OP_TSTORE) return store_tensor(loop, op);
    Raised pointers;
    Write w = {0};
    return raise_value(loop, op->operands[0], &pointers) &&
           find_write(loop, op, raise_set_of(&pointers), op_operand(op, 2), &w) &&
           store_pointers(loop, op, &w, pointers, (Raised){0}, false);
}

/* --- atomics --- */

/* Every iteration combines, so the tile has all axes. */
static bool find_every(Loop *loop, const Op *op, Ref given, Write *w) {
    unsigned all = (1u << loop->rank) - 1;
    int axes[MAX_RANK];
    if (!find_write(loop, op, all, given, w)) return false;
    w->all = all;
    return raise_fits(loop, op, axes, raise_sorted(all, axes));
}

static void combine_pointers(Loop *loop, const Op *op, Write *w, Raised pointers) {
    int axes[MAX_RANK], count = raise_sorted(w->all, axes);
    Ref at = raise_spread(loop, &pointers, axes, count), value = raise_spread(loop, &w->value, axes, count);
    Ref mask = w->masked ? raise_spread(loop, &w->mask, axes, count) : REF_NONE;
    Op *made = ir_begin(&loop->b, OP_ATOMIC);
    ir_operand(&loop->b, made, at);
    ir_operand(&loop->b, made, value);
    ir_operand(&loop->b, made, mask);
    for (int i = 0; i < op->attr_count; i++)
        if (op_allows_attr(OP_ATOMIC, op->attrs[i].id)) op_set(loop->k, made, op->attrs[i]);
    Raised old = {.ref = ir_end(&loop->b, made, NULL), .count = count};
    for (int d = 0; d < count; d++) old.axes[d] = axes[d];
    if (op->result_count) raise_set(loop, op->results[0], old);
}

static bool atomic_tensor(Loop *loop, Op *op) {
    Write w = {0};
    raise_place(loop, op, &w.place);
    if (!find_every(loop, op, op_operand(op, 2), &w)) return false;
    bool one_by_one = w.place.kind == PLACE_VECTORS;
    for (int d = 0; d < w.place.rank; d++) one_by_one = one_by_one && w.place.move[d] != MOVE_STEP;
    if (w.place.kind == PLACE_ANY || one_by_one || w.place.moves != w.all) {
        Raised pointers, inside = {0};
        bool tested;
        if (!raise_pointers(loop, op, &pointers, &inside, &tested)) return false;
        if (tested) w.mask = w.masked ? raise_both(loop, w.mask, inside) : inside;
        w.masked |= tested;
        combine_pointers(loop, op, &w, pointers);
        return true;
    }
    if (!raise_offsets(loop, op, &w.place)) return false;
    int axes[MAX_RANK], count = raise_place_axes(&w.place, axes);
    loop->b.range = op->range;
    Ref tile = raise_spread(loop, &w.value, axes, count);
    Ref mask = w.masked ? raise_spread(loop, &w.mask, axes, count) : REF_NONE;
    Op *made = ir_begin(&loop->b, OP_TATOMIC);
    ir_operand(&loop->b, made, op->operands[0]);
    ir_operand_list(&loop->b, made, 0, w.place.offset, w.place.rank);
    ir_operand(&loop->b, made, tile);
    ir_operand(&loop->b, made, mask);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    raise_set_dims(loop, made, &w.place, count);
    ir_end(&loop->b, made, NULL);
    return true;
}

bool raise_atomic(Loop *loop, Op *op) {
    if (op->code == OP_TATOMIC) return atomic_tensor(loop, op);
    Write w = {0};
    Raised pointers;
    if (!raise_value(loop, op->operands[0], &pointers) || !find_every(loop, op, op_operand(op, 2), &w)) return false;
    combine_pointers(loop, op, &w, pointers);
    return true;
}
