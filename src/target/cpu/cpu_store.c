/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_store.c: stores to boxes of global tensors, and the two versions of a loop over boxes.
 *
 * The fast version runs if every box is full and every last stride is 1; else the slow one, which checks each load and
 * stores inside the bounds only. Where what is read may overlap what is written, it is copied before, and read from the
 * copy. The results are the same, bit for bit. */
#include "target/cpu/cpu_internal.h"

void cpu_ask_ahead(Emit *e, const Op *op) {
    const OpPlace *place = cpu_place(&e->plan, op);
    for (size_t i = 0; i < place->ahead.count; i++) {
        const Box *box = cpu_find_box(e, place->ahead.at[i]);
        cs_line(&e->p, "tw_ahead(&ahead[%d], %p, %lld);", place->first_ahead + (int)i, box->pointer,
                (long long)cpu_tile_bytes(box->tile, false));
    }
}

/* First and one past the last address of a full box, as two arguments. */
static const Expr *span_of(Emit *e, const Box *box) {
    Arena *a = e->arena;
    const Expr *start = box->pointer, *low = NULL, *high = NULL;
    for (int d = 0; d < box->tile->rank; d++) {
        const Expr *stride = box->stride[d];
        if (box->wrap_offset[d]) start = ex_sum(a, start, ex(a, "%p * %p", box->wrap_offset[d], stride));
        if (box->indices[d]) {
            const Expr *least = ex(a, "%p * %p", box->least[d], stride), *most = ex(a, "%p * %p", box->most[d], stride);
            low = ex_sum(a, low, ex(a, "tw_min_i64(%p, %p)", least, most));
            high = ex_sum(a, high, ex(a, "tw_max_i64(%p, %p)", least, most));
            continue;
        }
        if (box->tile->extent[d] == 1) continue;
        long long top = (long long)box->tile->extent[d] - 1;
        if (box->known[d].is && box->known[d].number >= 0 && box->known[d].number <= INT32_MAX) {
            high = ex_sum(a, high, ex(a, "%lld", top * (long long)box->known[d].number));
            continue;
        }
        low = ex_sum(a, low, ex(a, "tw_min_i64(0, %lld * %p)", top, stride));
        high = ex_sum(a, high, ex(a, "tw_max_i64(0, %lld * %p)", top, stride));
    }
    const Expr *ends[2] = {ex_sum(a, start, low), ex(a, "%p + 1", ex_sum(a, start, high))};
    return ex_list(a, ends, 2);
}

/* Do they have the same stride, whatever a launch says? */
static bool same_stride(const Box *a, const Box *b, int d) {
    return a->stride[d] == b->stride[d] || (b->known[d].is && known_is(a->known[d], b->known[d].number));
}

const Expr *cpu_apart(Emit *e, const Box *load, const Box *store, bool same_place) {
    Arena *a = e->arena;
    const Expr *apart = ex(a, "tw_apart(%p, %p)", span_of(e, load), span_of(e, store));
    bool alike = same_place && load->tile == store->tile;
    for (int d = 0; d < load->tile->rank && alike; d++)
        alike = !load->wrap_offset[d] && !load->indices[d] && !store->indices[d];
    if (!alike) return ex_group(a, apart);
    const Expr *same = ex(a, "%p == %p", load->pointer, store->pointer);
    for (int d = 0; d < load->tile->rank; d++)
        if (load->tile->extent[d] > 1 && !same_stride(load, store, d))
            same = ex_and(a, same, ex(a, "%p == %p", load->stride[d], store->stride[d]));
    return ex(a, "(%p || (%p))", apart, same);
}

/* What a loop asks for that steps along the last axis by 1, beside what lies inside. */
static const Expr *and_unit(Emit *e, const Expr *all, const Box *box) {
    return box->unit ? all : ex_and(e->arena, all, ex(e->arena, "%p == 1", box->stride[box->tile->rank - 1]));
}

static const Expr *and_full(Emit *e, const Expr *all, const Box *box) {
    return and_unit(e, ex_and(e->arena, all, box->full), box);
}

const Expr *cpu_fast_condition(Emit *e, const Ref *tiles, int count, const Op *store) {
    const Expr *all = NULL;
    OpList loads = cpu_loads_of(&e->plan, tiles, count, !store);
    for (size_t i = 0; i < loads.count; i++) all = and_full(e, all, cpu_find_box(e, loads.at[i]));
    return store ? and_full(e, all, cpu_find_box(e, store)) : all;
}

/* The same for a loop that goes as far as the store's box does. NULL: that box is always full. */
static const Expr *cut_condition(Emit *e, const Op *store, const StorePlan *plan) {
    const Box *to = cpu_find_box(e, store);
    if (!to->full) return NULL;
    const Expr *all = and_unit(e, to->uncut, to);
    for (size_t i = 0; i < plan->loads.count; i++) {
        const Box *from = cpu_find_box(e, plan->loads.at[i]);
        all = and_unit(e, ex_and(e->arena, all, from->uncut), from);
        all = ex_and(e->arena, all, cpu_box_covers(e, from, cpu_same_axes, to));
    }
    return all ? all : ex_int(e->arena, 1);
}

static void store_loop(Emit *e, const Op *op, const Box *box, int inner, bool fast, bool cut) {
    Ref value = op_operand(op, 1), mask = op_operand(op, 2);
    Nest nest;
    nest_begin(e, &nest, box->tile);
    nest_inner(&nest, inner);
    nest.fast = fast;
    nest.cut = cut;
    cpu_box_bounds(e, &nest, box);
    Ix x = cpu_element(e, &nest, value, nest.index);
    int depth = 0;
    const Expr *slot = cpu_box_element(e, &nest, box, nest.index, &depth);
    const Expr *packed = cpu_pack(e, box->tile->elem, x.x);
    if (mask) {
        Ix m = cpu_operand(e, &nest, mask, nest.index);
        nest_add(e, &nest, nest.rank, "if (%p) %p = %p;", m.x, slot, packed);
    } else
        nest_add(e, &nest, nest.rank, "%p = %p;", slot, packed);
    nest_end(e, &nest, true);
}

void cpu_set_aside(Emit *e, const OpList *loads) {
    for (size_t i = 0; i < loads->count; i++) {
        Ref tile = loads->at[i]->results[0];
        Box *box = cpu_find_box(e, loads->at[i]);
        cpu_declare(e, tile);
        const Expr *name = cs_ref(&e->p, tile);
        cpu_fill_tested(e, name, tile, !box_is_indexed(e->k, loads->at[i])); /* rows that are left out are no rarity */
        if (!box->movable) continue;
        cs_line(&e->p, "%p = %p;", box->pointer, name);
        long long stride = 1;
        for (int d = box->tile->rank; d-- > 0; stride *= box->tile->extent[d])
            if (!known_is(box->known[d], 1)) cs_line(&e->p, "%p = %lld;", box->stride[d], stride);
    }
}

static void emit_store(Emit *e, Op *op, Box *box) {
    const StorePlan *plan = &cpu_place(&e->plan, op)->store;
    if (plan->form == STORE_FROM_ROWS) {
        cpu_store_from_rows(e, op);
        return;
    }
    const OpList *loads = &plan->loads;
    const Expr *apart = NULL;
    bool all_move = true;
    for (size_t i = 0; i < loads->count; i++) {
        const Box *from = cpu_find_box(e, loads->at[i]);
        all_move = all_move && from->movable;
        apart = ex_and(e->arena, apart, cpu_apart(e, from, box, plan->same_place[i]));
    }
    Ref tiles[2] = {op_operand(op, 1), op_operand(op, 2)};
    bool turned = plan->form == STORE_TURNED;
    const Expr *cut = plan->form == STORE_CUT ? cut_condition(e, op, plan) : NULL;
    const Expr *fast = turned ? cpu_store_turns(e, op, plan)
                       : cut  ? cut
                              : cpu_fast_condition(e, tiles, tiles[1] ? 2 : 1, op);
    if (!all_move && !fast) fast = ex_int(e->arena, 1);
    if (apart && all_move) {
        cs_open(&e->p, "if (TW_UNLIKELY(!(%p)))", apart);
        cpu_set_aside(e, loads);
        cs_close(&e->p);
    } else
        fast = ex_and(e->arena, fast, apart);
    if (!fast) {
        store_loop(e, op, box, plan->inner, true, false);
        return;
    }
    cs_open(&e->p, "if (%p)", fast);
    if (turned)
        cpu_store_turned(e, op, plan);
    else
        store_loop(e, op, box, plan->inner, true, cut != NULL);
    cs_reopen(&e->p, "else");
    if (!all_move) { /* read from the copies here */
        cpu_set_aside(e, loads);
        e->aside = loads;
    }
    if (box->ok) cs_open(&e->p, "if (%p)", box->ok);
    store_loop(e, op, box, plan->inner, false, false);
    if (box->ok) cs_close(&e->p);
    e->aside = NULL;
    cs_close(&e->p);
}

void cpu_emit_tstore(Emit *e, Op *op) {
    Box *box = cpu_box(e, op);
    MapEntry *stored = map_find_number(&e->stored, (uint64_t)(uintptr_t)op);
    if (stored) {
        cs_open(&e->p, "if (!%p)", (const Expr *)stored->value);
        emit_store(e, op, box);
        cs_close(&e->p);
    } else
        emit_store(e, op, box);
}
