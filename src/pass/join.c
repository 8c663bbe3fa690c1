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
 * them: element by element, products along other axes, rows and columns that are spread, and sums across. It pays where
 * something is loaded that does not depend on the index. What is stored ends behind the last task's block, so a last
 * group that is not full stores no more than was asked for.
 *
 * How many: option join, or as many as a core would do in a launch of as many tasks as are known here (join_choose).
 * Else the launch, which knows, takes a variant of the kernel (runtime/launch). */
#include "pass/join.h"

#include "analysis/affine.h"
#include "ir/ringform.h"
#include "pass/pass.h"

typedef struct Along { /* one of the two indices */
    Ref index, count;  /* of tasks */
    int factor;
    bool *follows; /* by Ref: scalars that are made of the index */
    signed char *axis, fields[MAX_RINGS][MAX_RING_FIELDS]; /* that gets longer, from 1 on; 0: none. By Ref; by ring */
    bool possible, reuses; /* something is loaded that is the same for its tasks */
    int64_t full;          /* the count, where it is known */
    Map bounded; /* tensor and dimension -> the tensor that ends behind the last task */
} Along;

typedef struct Join {
    PassContext *cx;
    Kernel *k;
    Op *tasks;
    size_t count; /* of values */
    VEC(Ref) rings;
    Along along[2];
    Along *at; /* at hand */
    bool changed;
} Join;

static const Type *type_of(const Join *x, Ref ref) { return ir_type(x->k, ref); }
static bool follows(const Join *x, Ref ref) { return ref_is_value(ref) && ref < x->count && x->at->follows[ref]; }
static int axis_of(const Join *x, Ref ref) { return ref_is_value(ref) && ref < x->count ? x->at->axis[ref] : 0; }
static bool is_tile(const Join *x, Ref ref) {
    return ref != REF_NONE && type_of(x, ref)->kind == TY_TILE && type_of(x, ref)->rank > 0;
}

/* --- scalars --- */

static bool makes_scalar(const Join *x, const Op *op) {
    return op_has(op->code, TRAIT_PURE) && op->result_count == 1 && !op->region_count && !is_tile(x, op->results[0]);
}

static void follow_region(Join *x, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count && makes_scalar(x, op); i++)
            if (follows(x, op->operands[i])) x->at->follows[op->results[0]] = true;
        for (int i = 0; i < op->region_count; i++) follow_region(x, op->regions[i]);
    }
}

/* By how much it grows from one task to the next; false: nobody knows. */
static bool step_of(const Join *x, Ref ref, int64_t *step) {
    int64_t a, b, number;
    *step = 0;
    if (!follows(x, ref)) return true;
    if (ref == x->at->index) return *step = 1, true;
    const Op *op = ir_value(x->k, ref)->op;
    if (!op) return false;
    switch (op->code) {
    case OP_CAST: return elem_is_int(type_of(x, op->operands[0])->elem) && step_of(x, op->operands[0], step);
    case OP_ADD:
        if (!step_of(x, op->operands[0], &a) || !step_of(x, op->operands[1], &b)) return false;
        return *step = a + b, true;
    case OP_MUL:
        for (int i = 0; i < 2; i++)
            if (ir_const_int(x->k, op->operands[i], &number) && number >= 0 && number <= MAX_TILE_ELEMENTS)
                return step_of(x, op->operands[1 - i], &a) && a <= MAX_TILE_ELEMENTS && (*step = a * number, true);
        return false;
    default: return false;
    }
}

/* --- which axes get longer --- */

static void mark(Join *x, Ref ref, int axis) {
    if (axis_of(x, ref) == axis + 1) return;
    bool is_long = is_tile(x, ref) && type_of(x, ref)->extent[axis] > 1; /* one that is not may be spread */
    if (!is_long || !ref_is_value(ref) || x->at->axis[ref]) {
        x->at->possible = false;
        return;
    }
    x->at->axis[ref] = (signed char)(axis + 1);
    x->changed = true;
}

/* An axis of one value is that of another. */
static void unify(Join *x, Ref a, int axis_a, Ref b, int axis_b) {
    if (axis_of(x, a) == axis_a + 1) mark(x, b, axis_b);
    if (axis_of(x, b) == axis_b + 1) mark(x, a, axis_a);
}

/* All axes; one of a single element is spread over the other's. */
static void unify_all(Join *x, Ref a, Ref b) {
    if (!is_tile(x, a) || !is_tile(x, b)) return;
    const Type *type_a = type_of(x, a), *type_b = type_of(x, b);
    if (type_a->rank != type_b->rank) return;
    for (int axis = 0; axis < type_a->rank; axis++)
        if (type_a->extent[axis] == type_b->extent[axis]) unify(x, a, axis, b, axis);
}

/* Is the operand the longer one of an elementwise op, where its result is, or spread over it? */
static bool agrees(const Join *x, Ref operand, Ref result) {
    if (!is_tile(x, operand)) return true;
    const Type *type = type_of(x, operand);
    int axis = axis_of(x, result) - 1;
    if (type->rank != type_of(x, result)->rank) return false;
    return axis_of(x, operand) == axis + 1 || (!axis_of(x, operand) && axis >= 0 && type->extent[axis] == 1);
}

static signed char *field_of(Join *x, const Op *op) {
    Ref ring = hand_ring(x->k, op);
    size_t i = 0;
    while (x->rings.at[i] != ring) i++;
    return &x->at->fields[i][hand_field(op)];
}

static void unify_field(Join *x, const Op *op, Ref value) {
    signed char *field = field_of(x, op);
    if (*field) mark(x, value, *field - 1);
    if (axis_of(x, value) && !*field) *field = (signed char)axis_of(x, value), x->changed = true;
}

/* The dimension of the box along which the index moves it; -1: none, -2: several. */
static int moved_dim(const Join *x, const Op *access) {
    RefList offsets = op_list(access, 0);
    int found = -1;
    for (int d = 0; d < offsets.count; d++)
        if (follows(x, offsets.at[d])) found = found == -1 ? d : -2;
    return found;
}

static void settle_access(Join *x, const Op *op) {
    bool is_load = op->code == OP_TLOAD;
    Ref tile = is_load ? op->results[0] : op_operand(op, 1);
    int dim = moved_dim(x, op), rank = type_of(x, op->operands[0])->rank;
    int axis = dim >= 0 && is_tile(x, tile) ? box_axis(op, rank, type_of(x, tile)->rank, dim) : -1;
    if (axis >= 0) mark(x, tile, axis);
}

static void settle_op(Join *x, const Op *op) {
    const Op *yield = op->region_count ? op->regions[0]->last : NULL;
    switch (op->code) {
    case OP_TLOAD:
    case OP_TSTORE: settle_access(x, op); return;
    case OP_PUT: unify_field(x, op, put_value(op)); return;
    case OP_GET: unify_field(x, op, op->results[0]); return;
    case OP_FOR:
        for (int i = 0; i < op->result_count; i++) {
            Ref carried = op->regions[0]->args[i + 1];
            unify_all(x, carried, op->results[i]);
            unify_all(x, carried, op->operands[3 + i]);
            unify_all(x, carried, yield->operands[i]);
        }
        return;
    case OP_DOT:
        if (type_of(x, op->results[0])->rank != 2) return;
        unify(x, op->operands[0], 0, op->results[0], 0);
        unify(x, op->operands[1], 1, op->results[0], 1);
        unify_all(x, op->operands[2], op->results[0]);
        return;
    case OP_REDUCE: {
        int along = (int)op_int(op, AT_AXIS, 0);
        for (int axis = 0; op->result_count == 1 && is_tile(x, op->results[0]) &&
                           axis < type_of(x, op->results[0])->rank; axis++)
            unify(x, op->operands[0], axis + (axis >= along), op->results[0], axis);
        return;
    }
    case OP_EXPAND:
    case OP_PERMUTE:
    case OP_BROADCAST:
        for (int axis = 0; axis < type_of(x, op->results[0])->rank; axis++) {
            int from = is_tile(x, op->operands[0]) ? affine_axis_from(x->k, op, axis) : -1;
            if (from >= 0) unify(x, op->operands[0], from, op->results[0], axis);
        }
        return;
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->result_count != 1) return;
        for (int i = 0; i < op->operand_count; i++) unify_all(x, op->operands[i], op->results[0]);
    }
}

static void settle_region(Join *x, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        settle_op(x, op);
        for (int i = 0; i < op->region_count; i++) settle_region(x, op->regions[i]);
    }
}

/* --- is it possible --- */

static bool access_is_possible(Join *x, const Op *op) {
    bool is_load = op->code == OP_TLOAD;
    Ref tensor = op->operands[0], tile = is_load ? op->results[0] : op_operand(op, 1);
    int dim = moved_dim(x, op), rank = type_of(x, tensor)->rank, axis = axis_of(x, tile) - 1;
    if (follows(x, tensor) || op_operand(op, is_load ? 1 : 2)) return false;
    if (dim == -1 && is_load && axis < 0) return x->at->reuses = true;
    int64_t step;
    return dim >= 0 && axis >= 0 && box_axis(op, rank, type_of(x, tile)->rank, dim) == axis && !box_wraps(op, dim) &&
           !box_is_indexed(x->k, op) && step_of(x, op_list(op, 0).at[dim], &step) &&
           step == type_of(x, tile)->extent[axis];
}

static bool tile_is_possible(const Join *x, Ref ref) {
    const Type *type = type_of(x, ref);
    return !type->pointer && (elem_is_float(type->elem) || type->elem == EL_I1);
}

static bool op_is_possible(Join *x, const Op *op) {
    bool any = false, is_access = op->code == OP_TLOAD || op->code == OP_TSTORE;
    if (is_access) return access_is_possible(x, op);
    if (op->code == OP_TATOMIC || op->code == OP_ATOMIC) return false; /* each task does it */
    for (int i = 0; i < op->operand_count; i++) {
        Ref ref = op->operands[i];
        if (follows(x, ref) && !makes_scalar(x, op)) return false;
        any |= axis_of(x, ref) > 0;
    }
    for (int i = 0; i < op->result_count; i++) {
        any |= axis_of(x, op->results[i]) > 0;
        if (axis_of(x, op->results[i]) && !tile_is_possible(x, op->results[i])) return false;
    }
    if (!any) return true;
    switch (op->code) {
    case OP_PUT: return op_list(op, 0).count == 0;
    case OP_GET: return op_list(op, 0).count == 0;
    case OP_YIELD: return op->parent->owner->code == OP_FOR;
    case OP_FOR:
    case OP_PERMUTE: return true;
    case OP_EXPAND: return axis_of(x, op->results[0]) != op_int(op, AT_AXIS, 0) + 1;
    case OP_SPLAT: return type_of(x, op->operands[0])->rank == 0;
    case OP_BROADCAST: return type_of(x, op->operands[0])->rank == type_of(x, op->results[0])->rank;
    case OP_DOT: return axis_of(x, op->operands[0]) != 2 && axis_of(x, op->operands[1]) != 1 &&
                        type_of(x, op->results[0])->rank == 2;
    case OP_REDUCE:
        return op->operand_count == 1 && op->result_count == 1 &&
               axis_of(x, op->operands[0]) != op_int(op, AT_AXIS, 0) + 1;
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->result_count != 1 || op->region_count) return false;
        for (int i = 0; i < op->operand_count; i++)
            if (!agrees(x, op->operands[i], op->results[0])) return false;
        return true;
    }
}

static void test_region(Join *x, const Region *region) {
    for (const Op *op = region->first; op && x->at->possible; op = op->next) {
        x->at->possible = op_is_possible(x, op);
        for (int i = 0; i < op->region_count; i++) test_region(x, op->regions[i]);
    }
}

/* Can what is stored be given another end? A parameter that is a tensor has its own. */
static bool stores_can_end(const Join *x, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        const Op *made = op->code == OP_TSTORE ? ir_value(x->k, op->operands[0])->op : NULL;
        if (op->code == OP_TSTORE && (!made || made->code != OP_TENSOR || made->parent != x->k->body)) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!stores_can_end(x, op->regions[i])) return false;
    }
    return true;
}

/* As many as the kernel's own grid has; a launch may have another. 0: nobody knows. */
static int64_t own_count(const Join *x, Ref count) {
    const Op *op = ref_is_value(count) ? ir_value(x->k, count)->op : NULL;
    int64_t number;
    if (!op || op->code != OP_NUM_PROGRAMS || !x->k->grid) return 0;
    const Op *counts = x->k->grid->last;
    int dim = (int)op_int(op, AT_DIM, 0);
    if (dim >= counts->operand_count) return 1; /* what a grid does not say */
    return ir_const_int(x->k, counts->operands[dim], &number) ? number : 0;
}

static void find_along(Join *x, Along *at) {
    const Region *body = tasks_body(x->tasks);
    x->at = at;
    at->follows = ARENA_ARRAY(x->cx->scratch, bool, x->count);
    at->axis = ARENA_ARRAY(x->cx->scratch, signed char, x->count);
    at->possible = ref_is_value(at->count) || ref_is_literal(at->count);
    at->follows[at->index] = true;
    follow_region(x, body);
    x->changed = true;
    while (x->changed && at->possible) {
        x->changed = false;
        settle_region(x, body);
    }
    if (at->possible) test_region(x, body);
    at->possible &= at->reuses;
    int64_t number;
    at->full = ir_const_int(x->k, at->count, &number) ? number : 0;
    if (!at->full) at->possible &= stores_can_end(x, body); /* nobody knows whether the last group is full */
}

/* --- what tasks hold and do --- */

enum { LOOP_TRIPS = 32, PAGE = 32, PAGE_CYCLES = 64 /* of a product of two pages */ };

static void count_held(JoinLimits *limits, const Type *type, int64_t times, int row, int column) {
    limits->held[(row > 0) + 2 * (column > 0)] += ty_elements(type) * times;
}

static int64_t pages_along(const Type *type, int axis) { return (type->extent[axis] + PAGE - 1) / PAGE; }

static bool place_follows(Join *x, const Op *load, Along *at) {
    x->at = at;
    return moved_dim(x, load) != -1;
}

/* Loads, arithmetic, and what compute keeps: products, and what loops carry. */
static void count_region(Join *x, JoinLimits *limits, const Region *region, double trips) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_TLOAD && is_tile(x, op->results[0])) {
            const Type *type = type_of(x, op->results[0]);
            int by = place_follows(x, op, &x->along[0]) + 2 * place_follows(x, op, &x->along[1]);
            limits->loaded[by] += trips * (double)(ty_elements(type) * ty_elem_bytes(type));
        }
        if (op->code == OP_DOT && type_of(x, op->results[0])->rank == 2) {
            const Type *left = type_of(x, op->operands[0]), *type = type_of(x, op->results[0]);
            int64_t pages = pages_along(left, 1) * pages_along(type, 0) * pages_along(type, 1);
            limits->cycles += trips * (double)(pages * PAGE_CYCLES);
        }
        bool is_step = op->result_count == 1 && is_tile(x, op->results[0]) &&
                       (op_has(op->code, TRAIT_ELEMENTWISE) || op->code == OP_REDUCE);
        if (is_step) { /* as long as a product of the same pages: a guess in the middle */
            const Type *type = type_of(x, op->code == OP_REDUCE ? op->operands[0] : op->results[0]);
            limits->cycles += trips * (double)((ty_elements(type) + PAGE * PAGE - 1) / (PAGE * PAGE) * PAGE_CYCLES);
        }
        for (int i = 0; (op->code == OP_DOT || op->code == OP_FOR) && i < op->result_count; i++) {
            Ref ref = op->results[i];
            if (is_tile(x, ref)) count_held(limits, type_of(x, ref), 4, x->along[0].axis[ref], x->along[1].axis[ref]);
        }
        for (int i = 0; i < op->region_count; i++)
            count_region(x, limits, op->regions[i], op->code == OP_FOR ? trips * LOOP_TRIPS : trips);
    }
}

static JoinLimits limits_of(Join *x) {
    JoinLimits limits = {0};
    for (int i = 0; i < 2; i++) {
        limits.along[i] = x->along[i].possible;
        limits.whole[i] = !stores_can_end(x, tasks_body(x->tasks));
    }
    for (size_t i = 0; i < x->rings.count; i++) {
        const Value *ring = ir_value(x->k, x->rings.at[i]);
        for (int f = 0; f < ring->type->field_count; f++) {
            const Type *type = ring->type->fields[f].type;
            count_held(&limits, type, ty_elem_bytes(type) * op_int(ring->op, AT_SLOTS, 1), x->along[0].fields[i][f],
                       x->along[1].fields[i][f]);
        }
    }
    count_region(x, &limits, tasks_body(x->tasks), 1);
    return limits;
}

/* --- how many --- */

static bool fits(const Machine *machine, const JoinLimits *l, JoinSize size) {
    int64_t rows = size.rows, columns = size.columns;
    return l->held[0] + l->held[1] * rows + l->held[2] * columns + l->held[3] * rows * columns <= machine->ring_bytes;
}

/* A core's turns on the rectangle of most cores whose blocks are equal, as those of cores that share are; the bytes
 * that all of them load. */
static double shared_turns(const Machine *machine, const JoinLimits *l, JoinSize size, const int64_t groups[2],
                           double *bytes) {
    double best = 0;
    for (int64_t y = 1; y <= machine->core_rows && y <= groups[0]; y++)
        for (int64_t x = 1; x <= machine->core_columns && x <= groups[1]; x++) {
            double turns = (double)(groups[0] / y) * (double)(groups[1] / x);
            double read = turns * (l->loaded[0] * (double)y + l->loaded[1] * size.rows * (double)y +
                                   l->loaded[2] * size.columns * (double)x +
                                   l->loaded[3] * size.rows * size.columns * (double)(x * y));
            bool is_worse = best > 0 && (turns > best || (turns == best && read >= *bytes));
            if (groups[0] % y || groups[1] % x || is_worse) continue;
            best = turns, *bytes = read;
        }
    int64_t all = (int64_t)machine->core_rows * machine->core_columns;
    double most = (double)groups[0] * (double)groups[1], cores = most / best;
    if (2 * cores >= (most < (double)all ? most : (double)all)) return best;
    *bytes = most * (l->loaded[0] + l->loaded[1] * size.rows + l->loaded[2] * size.columns +
                     l->loaded[3] * size.rows * size.columns); /* else most would idle: each loads for itself */
    int64_t turns = (groups[0] * groups[1] + all - 1) / all;
    return (double)turns;
}

/* Arithmetic and loads go on side by side, but never quite. */
static double cost_of(const Machine *machine, const JoinLimits *l, JoinSize size, const int64_t tasks[2]) {
    const int64_t groups[2] = {(tasks[0] + size.rows - 1) / size.rows, (tasks[1] + size.columns - 1) / size.columns};
    double bytes = 0, turns = shared_turns(machine, l, size, groups, &bytes);
    double math = turns * size.rows * size.columns * l->cycles, loads = bytes / machine->load_bytes;
    return math > loads ? math + loads / 4 : loads + math / 4;
}

JoinSize join_choose(const Machine *machine, const JoinLimits *limits, const int64_t tasks[2]) {
    JoinSize best = {1, 1};
    if (tasks[0] < 1 || tasks[1] < 1 || tasks[0] > UINT16_MAX || tasks[1] > UINT16_MAX) return best;
    double least = cost_of(machine, limits, best, tasks);
    for (int r = 1; r <= MOST_JOINED; r++)
        for (int c = 1; c <= MOST_JOINED; c++) {
            JoinSize size = {r, c};
            if ((r > 1 && !limits->along[0]) || (c > 1 && !limits->along[1]) || !fits(machine, limits, size)) continue;
            if ((limits->whole[0] && tasks[0] % r) || (limits->whole[1] && tasks[1] % c)) continue;
            double cost = cost_of(machine, limits, size, tasks);
            if (cost < least * 0.99) least = cost, best = size;
        }
    return best;
}

/* --- the change --- */

static const Type *longer(const Join *x, const Type *type, int axis) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < type->rank; d++) extent[d] = type->extent[d] * (d == axis - 1 ? x->at->factor : 1);
    return ty_with_shape(x->k->module, type, type->rank, extent);
}

static void bound_store(Join *x, Op *store, int64_t extent) {
    Ref tensor = store->operands[0];
    int dim = moved_dim(x, store);
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
        if (tile) bound_store(x, op, type_of(x, tile)->extent[axis_of(x, tile) - 1]);
        for (int i = 0; i < op->region_count; i++) bound_stores(x, op->regions[i]);
    }
}

static void change_rings(Join *x) {
    for (size_t i = 0; i < x->rings.count; i++) {
        const Type *type = type_of(x, x->rings.at[i]);
        Field *fields = ARENA_ARRAY(x->k->module->arena, Field, type->field_count);
        for (int f = 0; f < type->field_count; f++) {
            fields[f] = type->fields[f];
            if (x->at->fields[i][f]) fields[f].type = longer(x, fields[f].type, x->at->fields[i][f]);
        }
        ring_set_type(x->k, x->rings.at[i], ty_ring(x->k->module, type->field_count, fields));
    }
}

static void change(Join *x, int place) {
    Kernel *k = x->k;
    Region *body = tasks_body(x->tasks);
    bound_stores(x, body);
    for (size_t v = 1; v < x->count; v++)
        if (x->at->axis[v]) k->values.at[v].type = longer(x, k->values.at[v].type, x->at->axis[v]);
    change_rings(x);
    Elem elem = type_of(x, x->at->index)->elem;
    Builder b = ir_builder_before(k, x->tasks), start = ir_builder_before(k, body->first);
    Ref groups = ir_binary(&b, OP_CDIV, ir_cast(&b, x->at->count, elem), ir_int(&b, elem, x->at->factor));
    x->tasks->operands[place] = ir_cast(&b, groups, type_of(x, x->at->count)->elem);
    Ref first = ir_binary(&start, OP_MUL, x->at->index, ir_int(&start, elem, x->at->factor));
    ir_replace_all(k, x->at->index, first);
    ir_value(k, first)->op->operands[0] = x->at->index;
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
        find_along(&x, &x.along[i]);
    }
    for (size_t v = 1; v < x.count && possible; v++) /* an axis that both want to be longer goes to one */
        if (x.along[0].possible && x.along[0].axis[v] && x.along[0].axis[v] == x.along[1].axis[v])
            x.along[1].possible = false;
    if (possible) cx->join = limits_of(&x);
    int64_t tasks[2] = {0, 0};
    for (int i = 0; i < 2 && possible; i++)
        tasks[i] = x.along[i].full ? x.along[i].full : own_count(&x, x.along[i].count);
    JoinSize size = asked.rows ? asked : join_choose(cx->machine, &cx->join, tasks);
    for (int i = 0; i < 2; i++) {
        x.at = &x.along[i];
        x.at->factor = i ? size.columns : size.rows;
        if (x.at->factor == 1) continue;
        bool is_full = x.at->full && x.at->full % x.at->factor == 0;
        if (possible && x.at->possible && (is_full || stores_can_end(&x, tasks_body(x.tasks)))) continue;
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
