/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan_store.c: which form stores of boxes and fills of memory take, which boxes their loops read, and which of
 * those are asked for ahead. How the forms are written stands in cpu_store.c and cpu_turn.c. */
#include "target/cpu/cpu_plan.h"

#include <string.h>

/* --- what a loop reads --- */

static void add_loads(const CpuPlan *plan, Ref tile, bool top, OpList *loads) {
    if (!ref_is_value(tile)) return;
    const Value *value = ir_value(plan->k, tile);
    if (value->type->kind != TY_TILE || value->type->rank == 0 || !value->op) return;
    Storage storage = cpu_placed(plan, tile)->storage;
    if (storage != STORAGE_INLINE && !(top && cpu_is_inlinable(plan->k, value->op))) return;
    if (!cpu_search_meets(plan, tile)) return;
    if (value->op->code == OP_TLOAD) *VEC_PUSH(loads, plan->arena) = value->op;
    for (int i = 0; i < value->op->operand_count; i++) add_loads(plan, value->op->operands[i], false, loads);
}

OpList cpu_loads_of(const CpuPlan *plan, const Ref *tiles, int count, bool top) {
    OpList loads = {0};
    cpu_search_begin(plan);
    for (int i = 0; i < count; i++) add_loads(plan, tiles[i], top, &loads);
    return loads;
}

bool cpu_may_move(const CpuPlan *plan, const Op *op) {
    if (op->code != OP_TLOAD || op_attr(op, AT_WRAP) || box_is_indexed(plan->k, op)) return false;
    const Placed *placed = cpu_placed(plan, op->results[0]);
    return placed->storage == STORAGE_INLINE && placed->block >= 0;
}

/* --- stores --- */

/* The load that a store takes as it is, but turned; NULL: there is none. */
static const Op *turned_load(const CpuPlan *plan, const Op *store, int *axes) {
    Ref value = op_operand(store, 1);
    if (!cpu_is_plain_box(plan->k, store) || !ref_is_value(value)) return NULL;
    const Op *load = cpu_moved_box(plan, value, axes);
    for (Ref v = value; load; v = cpu_def_of(plan, v)->operands[0]) { /* all the way is inline */
        if (cpu_placed(plan, v)->storage != STORAGE_INLINE) return NULL;
        if (cpu_def_of(plan, v) == load) break;
    }
    return load && cpu_moves_worth_it(plan->k, load, axes, cpu_unit_axis(plan->k, store)) ? load : NULL;
}

/* Does memory hold the value as a box does? */
static bool is_in_rows(const CpuPlan *plan, Ref value) {
    if (!ref_is_value(value)) return false;
    const Placed *placed = cpu_placed(plan, value);
    return placed->storage == STORAGE_MEMORY && !(placed->wide && cpu_is_wide_elem(ir_type(plan->k, value)));
}

/* Rows that are longer than the tensor's are no rarity: is a loop worth it that goes as far as the box does? All loads
 * must be read at the places that are written. */
static bool is_cut(const CpuPlan *plan, const Op *op, const StorePlan *store) {
    enum { LONG_ROW = 256 };
    const Type *tile = ir_type(plan->k, op_operand(op, 1));
    if (!tile->rank || tile->extent[tile->rank - 1] < LONG_ROW || op_attr(op, AT_WRAP)) return false;
    for (size_t i = 0; i < store->loads.count; i++) {
        const Type *from = ir_type(plan->k, store->loads.at[i]->results[0]);
        if (!store->same_place[i] || from->rank != tile->rank) return false;
        if (memcmp(from->extent, tile->extent, sizeof *tile->extent * (size_t)tile->rank) != 0) return false;
    }
    return true;
}

StorePlan cpu_store_plan(const CpuPlan *plan, const Op *op) {
    Ref tiles[2] = {op_operand(op, 1), op_operand(op, 2)};
    int count = tiles[1] ? 2 : 1;
    bool turned = cpu_box_is_turned(plan->k, op);
    StorePlan store = {.loads = cpu_loads_of(plan, tiles, count, false)};
    store.inner = turned ? cpu_unit_axis(plan->k, op) : ir_type(plan->k, tiles[0])->rank - 1;
    store.same_place = ARENA_ARRAY(plan->arena, bool, store.loads.count);
    for (size_t i = 0; i < store.loads.count; i++) {
        store.same_place[i] = true;
        for (int j = 0; j < count; j++)
            store.same_place[i] = store.same_place[i] && cpu_same_place(plan, tiles[j], store.loads.at[i]->results[0]);
    }
    store.turned = turned_load(plan, op, store.axes);
    store.form = turned && is_in_rows(plan, tiles[0]) ? STORE_FROM_ROWS
                 : store.turned                       ? STORE_TURNED
                 : is_cut(plan, op, &store)           ? STORE_CUT
                                                      : STORE_WHOLE;
    return store;
}

/* --- into memory --- */

FillPlan cpu_fill_plan(const CpuPlan *plan, Ref tile, bool own, bool wide) {
    FillPlan fill = {.form = FILL_LOOP};
    const Op *op = ref_is_value(tile) ? cpu_def_of(plan, tile) : NULL;
    if (!op || (wide && cpu_is_wide_elem(ir_type(plan->k, tile)))) return fill;
    if (cpu_placed(plan, tile)->storage == STORAGE_MEMORY && !own) return fill; /* it is there already */
    if (op->code == OP_TLOAD && cpu_box_is_turned(plan->k, op)) {
        fill.form = FILL_TURNED_BOX;
        fill.load = op;
        memcpy(fill.axes, cpu_same_axes, sizeof fill.axes);
        return fill;
    }
    if (!cpu_is_turn(plan->k, op)) return fill;
    int rank = ir_type(plan->k, tile)->rank;
    if (is_in_rows(plan, op->operands[0])) {
        fill.form = FILL_TURNED_ROWS;
        fill.rows = op->operands[0];
        for (int d = 0; d < rank; d++) fill.axes[d] = (int)op_attr(op, AT_DIMS)->list.at[d];
        return fill;
    }
    fill.load = cpu_moved_box(plan, tile, fill.axes);
    bool moves = fill.load && cpu_placed(plan, fill.load->results[0])->storage == STORAGE_INLINE &&
                 cpu_moves_worth_it(plan->k, fill.load, fill.axes, rank - 1);
    if (moves) fill.form = FILL_TURNED_BOX;
    return fill;
}

/* --- boxes of the next program --- */

void cpu_look_ahead(CpuPlan *plan) {
    enum { MOST_BYTES = 16384 };
    for (size_t n = 0; n < plan->order.count; n++) {
        const Op *op = plan->order.at[n];
        if (op->code != OP_REDUCE || op->parent != plan->k->body || cpu_is_inlinable(plan->k, op)) continue;
        OpPlace *place = cpu_place(plan, op);
        if (place->reduce.form != REDUCE_ROWS) continue;
        plan->rows = true;
        place->first_ahead = plan->aheads;
        OpList loads = cpu_loads_of(plan, op->operands, 1, true);
        for (size_t i = 0; i < loads.count && plan->aheads < MOST_AHEAD; i++) {
            Op *load = loads.at[i];
            const Type *tile = ir_type(plan->k, load->results[0]);
            if (load->parent != plan->k->body || tile->rank != 1 || box_is_indexed(plan->k, load) ||
                cpu_tile_bytes(tile, false) > MOST_BYTES)
                continue;
            *VEC_PUSH(&place->ahead, plan->arena) = load;
            plan->aheads++;
        }
    }
}
