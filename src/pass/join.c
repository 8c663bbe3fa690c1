/* SPDX-License-Identifier: Apache-2.0 */
/* join.c: neighbouring tasks of a core become one, for machines whose cores share what they load.
 *
 * Contract: ring form in and out, each element is computed from the same elements as before. In a product in blocks of
 * 64, tasks (m, n), a core that does 4 x 4 tasks one after the other loads every block of A and of B four times; as one
 * task with tiles of 256 it loads them once, and computes 16 products of each pair that it has:
 *
 *     tasks %m, %n in %tm, %tn { %r = mul %m, 64 .. %a = tload %A, [%r, %k] : bf16[64,64] .. dot %a, %b, %acc ..
 *  -> %tm4 = cdiv %tm, 4 .. tasks %m, %n in %tm4, %tn4 { %m4 = mul %m, 4 ; %r = mul %m4, 64 .. : bf16[256,64] ..
 *
 * That works along an index which does nothing but choose boxes that lie side by side, one axis of each tile made of
 * them: element by element, products along other axes, rows and columns that are spread, and sums across, and numbers
 * of the axis itself, as masks are made of. It pays where something is loaded that does not depend on the index.
 *
 * A loop may have more trips for later tasks, as in causal attention; then all make those of the last one, and rows
 * whose own task has no more trips keep what they carry:
 *
 *     for %k = 0, %end .. { .. yield %next }
 *  -> for %k = 0, %end_of_last .. { .. %on = cmp<lt> %k, %end_of_row ..
 *          %kept = select %on, %next, %old ; yield %kept }
 *
 * What is stored ends behind the last task's block, so a last group that is not full stores no more than was asked for.
 *
 * How many: option join, or as many as a core would do in a launch of as many tasks as are known here (join_choose).
 * Else the launch, which knows, takes a variant of the kernel (runtime/launch). */
#include "pass/join_state.h"

int64_t join_own_count(const Join *x, Ref count) {
    const Op *op = ref_is_value(count) ? ir_value(x->k, count)->op : NULL;
    int64_t number;
    if (!op || op->code != OP_NUM_PROGRAMS || !x->k->grid) return 0;
    const Op *counts = x->k->grid->last;
    int dim = (int)op_int(op, AT_DIM, 0);
    if (dim >= counts->operand_count) return 1; /* what a grid does not say */
    return ir_const_int(x->k, counts->operands[dim], &number) ? number : 0;
}

/* --- the change --- */

static const Type *longer(const Join *x, const Type *type, int axis) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < type->rank; d++) extent[d] = type->extent[d] * (d == axis - 1 ? x->at->factor : 1);
    return ty_with_shape(x->k->module, type, type->rank, extent);
}

static void bound_store(Join *x, Op *store, int64_t extent) {
    Ref tensor = store->operands[0];
    int dim = join_moved_dim(x, store);
    const Op *made = ir_value(x->k, tensor)->op;
    if (x->at->full && x->at->full % x->at->factor == 0) return; /* no group is short */
    uint64_t key = (uint64_t)tensor * MAX_RANK + (unsigned)dim;
    const MapEntry *known = map_find_number(&x->at->bounded, key);
    if (!known) {
        Builder b = ir_builder_before(x->k, x->tasks);
        RefList extents = op_list(made, 0), strides = op_list(made, 1);
        Ref bounded[MAX_RANK], end;
        for (int d = 0; d < extents.count; d++) bounded[d] = extents.at[d];
        end = ir_binary(&b, OP_MUL, ir_cast(&b, x->at->count, EL_I64), ir_int(&b, EL_I64, extent));
        if (bounded[dim] != REF_NONE) end = ir_binary(&b, OP_MIN, ir_cast(&b, bounded[dim], EL_I64), end);
        bounded[dim] = end;
        tensor = ir_tensor(&b, op_operand(made, 0), bounded, strides.at, extents.count);
        map_put_number(&x->at->bounded, x->cx->scratch, key, (void *)(uintptr_t)tensor);
    }
    store->operands[0] = known ? (Ref)(uintptr_t)known->value : tensor;
}

static void bound_stores(Join *x, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        Ref tile = op->code == OP_TSTORE ? op_operand(op, 1) : REF_NONE;
        if (tile) bound_store(x, op, join_type(x, tile)->extent[join_axis(x, tile) - 1]);
        for (int i = 0; i < op->region_count; i++) bound_stores(x, op->regions[i]);
    }
}

static void change_rings(Join *x) {
    for (size_t i = 0; i < x->rings.count; i++) {
        const Type *type = join_type(x, x->rings.at[i]);
        Field *fields = ARENA_ARRAY(x->k->module->arena, Field, type->field_count);
        for (int f = 0; f < type->field_count; f++) {
            fields[f] = type->fields[f];
            if (x->at->fields[i][f]) fields[f].type = longer(x, fields[f].type, x->at->fields[i][f]);
        }
        ring_set_type(x->k, x->rings.at[i], ty_ring(x->k->module, type->field_count, fields));
    }
}

/* The order of a sum along an axis that is longer now was that of the shorter one. */
static void forget_order(Op *op, void *user) {
    const Join *x = user;
    bool sums = op->code == OP_REDUCE && op->operands[0] < x->count;
    if (sums && x->at->axis[op->operands[0]] == op_int(op, AT_AXIS, 0) + 1) op_drop(op, AT_BITS);
}

void join_lengthen(Join *x) {
    for (size_t v = 1; v < x->count; v++)
        if (x->at->axis[v]) x->k->values.at[v].type = longer(x, x->k->values.at[v].type, x->at->axis[v]);
    change_rings(x);
    ir_walk(x->k->body, forget_order, x);
}

static void change(Join *x, int place) {
    Kernel *k = x->k;
    Region *body = tasks_body(x->tasks);
    bound_stores(x, body);
    join_count_further(x, body);
    join_lengthen(x);
    Elem elem = join_type(x, x->at->index)->elem;
    Builder b = ir_builder_before(k, x->tasks), start = ir_builder_before(k, body->first);
    Ref groups = ir_binary(&b, OP_CDIV, ir_cast(&b, x->at->count, elem), ir_int(&b, elem, x->at->factor));
    x->tasks->operands[place] = ir_cast(&b, groups, join_type(x, x->at->count)->elem);
    Ref first = ir_binary(&start, OP_MUL, x->at->index, ir_int(&start, elem, x->at->factor));
    ir_replace_all(k, x->at->index, first);
    ir_value(k, first)->op->operands[0] = x->at->index;
    if (x->at->uneven) join_even_loops(x, first, body);
}

bool pass_join(PassContext *cx, Kernel *k) {
    Join x = {.cx = cx, .k = k, .count = k->values.count};
    JoinSize asked = {cx->options.join >> 16, cx->options.join & 0xffff};
    if (!cx->machine->core_rows) return false;
    for (Op *op = k->body->first; op; op = op->next) {
        if (op->code == OP_TASKS && x.tasks) return false;
        if (op->code == OP_TASKS) x.tasks = op;
        if (op->code == OP_RING) *VEC_PUSH(&x.rings, cx->scratch) = op->results[0];
    }
    int rank = x.tasks ? x.tasks->operand_count : 0;
    bool possible = rank >= 2 && x.tasks->region_count == 1 && x.rings.count <= MAX_RINGS;
    for (int i = 0; i < 2 && possible; i++) {
        x.along[i].index = tasks_body(x.tasks)->args[rank - 2 + i];
        x.along[i].count = x.tasks->operands[rank - 2 + i];
        join_find_along(&x, &x.along[i]);
    }
    for (size_t v = 1; v < x.count && possible; v++) /* an axis that both want to be longer goes to one */
        if (x.along[0].possible && x.along[0].axis[v] && x.along[0].axis[v] == x.along[1].axis[v])
            x.along[1].possible = false;
    if (possible) cx->join = join_limits(&x);
    for (int i = 0; i < 2; i++) cx->join.apart |= x.along[i].possible && x.along[i].uneven; /* as rows are kept */
    int64_t tasks[2] = {0, 0};
    for (int i = 0; i < 2 && possible; i++)
        tasks[i] = x.along[i].full ? x.along[i].full : join_own_count(&x, x.along[i].count);
    JoinSize size = asked.rows ? asked : join_choose(cx->machine, &cx->join, tasks);
    for (int i = 0; i < 2; i++) {
        x.at = &x.along[i];
        x.at->factor = i ? size.columns : size.rows;
        if (x.at->factor == 1) continue;
        bool is_full = x.at->full && x.at->full % x.at->factor == 0;
        bool is_apart = !cx->join.apart || size.rows == 1 || size.columns == 1;
        bool can_end = is_full || join_stores_can_end(&x, tasks_body(x.tasks));
        if (possible && is_apart && x.at->possible && can_end) continue;
        diag_emit(cx->module->diag, DIAG_JOIN, k->range, size.rows, size.columns, i ? "last" : "last but one");
        return false;
    }
    for (int i = 0; i < 2; i++) {
        x.at = &x.along[i];
        if (x.at->factor > 1) change(&x, rank - 2 + i);
    }
    if (size.rows * size.columns > 1) cx->options.join = size.rows << 16 | size.columns; /* launches need not ask */
    if (size.rows * size.columns > 1) pass_find(cx, k->range, FIND_JOIN, size.rows, size.columns);
    return size.rows * size.columns > 1;
}
