/* cpu_store.c: stores to boxes of global tensors, and the two versions of a loop over boxes.
 *
 * The fast version runs if every box is full and every last stride is 1; else the slow one, which checks each load and
 * stores inside the bounds only. Where what is read may overlap what is written, it is copied before, and read from the
 * copy. The results are the same, bit for bit. */
#include "target/cpu/cpu_internal.h"

static void add_loads(Emit *e, Ref tile, bool top, OpList *loads) {
    if (!ref_is_value(tile)) return;
    const Value *value = ir_value(e->k, tile);
    if (value->type->kind != TY_TILE || value->type->rank == 0 || !value->op) return;
    Storage storage = cpu_placed(&e->plan, tile)->storage;
    if (storage != STORAGE_INLINE && !(top && cpu_is_inlinable(e->k, value->op))) return;
    if (!cpu_search_meets(&e->plan, tile)) return;
    if (value->op->code == OP_TLOAD) *VEC_PUSH(loads, e->arena) = value->op;
    for (int i = 0; i < value->op->operand_count; i++) add_loads(e, value->op->operands[i], false, loads);
}

/* The inline tloads that evaluating the tiles meets; `top`: of a tile in memory, too. */
static OpList collect_loads(Emit *e, const Ref *tiles, int count, bool top) {
    OpList loads = {0};
    cpu_search_begin(&e->plan);
    for (int i = 0; i < count; i++) add_loads(e, tiles[i], top, &loads);
    return loads;
}

void cpu_prefetch(Emit *e, Ref tile) {
    enum { MOST_BYTES = 16384 };
    OpList loads = collect_loads(e, &tile, 1, true);
    for (size_t i = 0; i < loads.count && e->ahead < MOST_AHEAD; i++) {
        const Box *box = cpu_find_box(e, loads.at[i]);
        long long bytes = (long long)cpu_tile_bytes(box->tile, false);
        if (loads.at[i]->parent != e->k->body || box->tile->rank != 1 || box->indices[0] || bytes > MOST_BYTES)
            continue;
        cs_line(&e->p, "tw_ahead(&ahead[%d], %p, %lld);", e->ahead++, box->pointer, bytes);
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
    OpList loads = collect_loads(e, tiles, count, !store);
    for (size_t i = 0; i < loads.count; i++) all = and_full(e, all, cpu_find_box(e, loads.at[i]));
    return store ? and_full(e, all, cpu_find_box(e, store)) : all;
}

/* The same for a loop that goes as far as the store's box does, where all loads are read at the places that are
 * written: rows that are longer than the tensor's are no rarity. NULL: there is none, or it is not worth it. */
static const Expr *cut_condition(Emit *e, const Ref *tiles, int count, const Op *store) {
    enum { LONG_ROW = 256 };
    const Box *to = cpu_find_box(e, store);
    OpList loads = collect_loads(e, tiles, count, false);
    int rank = to->tile->rank;
    if (!to->full || !rank || to->tile->extent[rank - 1] < LONG_ROW || op_attr(store, AT_WRAP)) return NULL;
    const Expr *all = and_unit(e, to->uncut, to);
    for (size_t i = 0; i < loads.count; i++) {
        const Box *from = cpu_find_box(e, loads.at[i]);
        Ref loaded = loads.at[i]->results[0];
        bool same = from->tile->rank == rank;
        for (int d = 0; d < rank && same; d++) same = from->tile->extent[d] == to->tile->extent[d];
        for (int j = 0; j < count && same; j++) same = cpu_same_place(&e->plan, tiles[j], loaded);
        if (!same) return NULL;
        all = and_unit(e, ex_and(e->arena, all, from->uncut), from);
        all = ex_and(e->arena, all, cpu_box_covers(e, from, cpu_same_axes, to));
    }
    return all ? all : ex_int(e->arena, 1);
}

static void store_loop(Emit *e, const Op *op, const Box *box, bool fast, bool cut) {
    Ref value = op_operand(op, 1), mask = op_operand(op, 2);
    Nest nest;
    nest_begin(e, &nest, box->tile);
    if (cpu_box_is_turned(e->k, op)) nest_inner(&nest, cpu_unit_axis(e->k, op));
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
    if (cpu_store_from_rows(e, op)) return;
    Ref tiles[2] = {op_operand(op, 1), op_operand(op, 2)};
    int count = tiles[1] ? 2 : 1;
    OpList loads = collect_loads(e, tiles, count, false);
    const Expr *apart = NULL;
    bool all_move = true;
    for (size_t i = 0; i < loads.count; i++) {
        Ref loaded = loads.at[i]->results[0];
        bool same = true;
        for (int j = 0; j < count; j++) same = same && cpu_same_place(&e->plan, tiles[j], loaded);
        const Box *from = cpu_find_box(e, loads.at[i]);
        all_move = all_move && from->movable;
        apart = ex_and(e->arena, apart, cpu_apart(e, from, box, same));
    }
    const Expr *turns = cpu_store_turns(e, op), *cut = turns ? NULL : cut_condition(e, tiles, count, op);
    const Expr *fast = turns ? turns : cut ? cut : cpu_fast_condition(e, tiles, count, op);
    if (!all_move && !fast) fast = ex_int(e->arena, 1);
    if (apart && all_move) {
        cs_open(&e->p, "if (TW_UNLIKELY(!(%p)))", apart);
        cpu_set_aside(e, &loads);
        cs_close(&e->p);
    } else
        fast = ex_and(e->arena, fast, apart);
    if (!fast) {
        store_loop(e, op, box, true, false);
        return;
    }
    cs_open(&e->p, "if (%p)", fast);
    if (turns)
        cpu_store_turned(e, op);
    else
        store_loop(e, op, box, true, cut != NULL);
    cs_reopen(&e->p, "else");
    if (!all_move) { /* read from the copies here */
        cpu_set_aside(e, &loads);
        e->aside = &loads;
    }
    if (box->ok) cs_open(&e->p, "if (%p)", box->ok);
    store_loop(e, op, box, false, false);
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
