/* SPDX-License-Identifier: Apache-2.0 */
/* join_axes.c: along which index tasks can become one, and which axes of which tiles get longer then (join.c). */
#include "analysis/affine.h"
#include "pass/join_state.h"

/* --- scalars --- */

static bool makes_scalar(const Join *x, const Op *op) {
    return op_has(op->code, TRAIT_PURE) && op->result_count == 1 && !op->region_count &&
           !join_is_tile(x, op->results[0]);
}

static void follow_region(Join *x, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count && makes_scalar(x, op); i++)
            if (join_follows(x, op->operands[i])) x->at->follows[op->results[0]] = true;
        for (int i = 0; i < op->region_count; i++) follow_region(x, op->regions[i]);
    }
}

/* By how much it grows from one task to the next; false: nobody knows. */
static bool step_of(const Join *x, Ref ref, int64_t *step) {
    int64_t a, b, number;
    *step = 0;
    if (!join_follows(x, ref)) return true;
    if (ref == x->at->index || ref == x->at->other) return *step = x->at->step, true;
    const Op *op = ir_value(x->k, ref)->op;
    if (!op) return false;
    switch (op->code) {
    case OP_CAST: return elem_is_int(join_type(x, op->operands[0])->elem) && step_of(x, op->operands[0], step);
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

/* Does it never fall from one task to the next? */
static bool never_falls(const Join *x, Ref ref) {
    int64_t number;
    if (!join_follows(x, ref) || ref == x->at->index) return true;
    const Op *op = ir_value(x->k, ref)->op;
    if (!op || !elem_is_int(join_type(x, ref)->elem)) return false;
    bool by_number = op->operand_count == 2 && ir_const_int(x->k, op->operands[1], &number);
    switch (op->code) {
    case OP_CAST: return elem_is_int(join_type(x, op->operands[0])->elem) && never_falls(x, op->operands[0]);
    case OP_SUB: return !join_follows(x, op->operands[1]) && never_falls(x, op->operands[0]);
    case OP_MUL: return by_number && number >= 0 && never_falls(x, op->operands[0]);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_CDIV: return by_number && number > 0 && never_falls(x, op->operands[0]);
    case OP_ADD:
    case OP_MIN:
    case OP_MAX: return never_falls(x, op->operands[0]) && never_falls(x, op->operands[1]);
    default: return false;
    }
}

static bool has_op(const Region *region, Opcode code) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == code) return true;
        for (int i = 0; i < op->region_count; i++)
            if (has_op(op->regions[i], code)) return true;
    }
    return false;
}

/* A loop whose end alone follows the index: what it carries can be kept by rows, and it hands nothing on. */
bool join_is_uneven(const Join *x, const Op *op) {
    return op->code == OP_FOR && join_follows(x, op->operands[1]) && !join_follows(x, op->operands[0]) &&
           !join_follows(x, op->operands[2]) && role_around(op);
}

static bool uneven_is_possible(Join *x, const Op *loop) {
    bool computes = role_name(role_around(loop)) == ROLE_COMPUTE;
    if (!never_falls(x, loop->operands[1]) || has_op(loop->regions[0], OP_TSTORE)) return false;
    if (computes && has_op(loop->regions[0], OP_PUT)) return false;
    for (int i = 0; i < loop->result_count; i++)
        if (!computes || !join_axis(x, loop->results[i]) || join_type(x, loop->results[i])->rank > 2) return false;
    return x->at->uneven = true;
}

/* --- which axes get longer --- */

/* Numbers along an axis: what moves with the index by as much as there are of them, and 0, 1, 2 ..; the operand that
 * is the latter. */
int join_counted(const Join *x, const Op *op) {
    int64_t step;
    for (int i = 0; op->code == OP_ADD && i < 2; i++) {
        Ref start = op->operands[1 - i], tile = op->operands[i];
        const Op *iota = join_is_tile(x, tile) && ref_is_value(tile) ? ir_value(x->k, tile)->op : NULL;
        bool is_start = !join_is_tile(x, start) && join_follows(x, start) && step_of(x, start, &step);
        if (iota && iota->code == OP_IOTA && is_start && step == join_type(x, tile)->extent[0]) return i;
    }
    return -1;
}

static bool is_trips(const Join *x) { return x->at->body[0] != NULL; }
static bool adds_up(const Join *x, const Op *op) {
    for (size_t i = 0; i < x->at->sums.count; i++)
        if (x->at->sums.at[i] == op) return true;
    return false;
}

static void mark(Join *x, Ref ref, int axis) {
    if (join_axis(x, ref) == axis + 1) return;
    bool is_long = join_is_tile(x, ref) && join_type(x, ref)->extent[axis] > 1; /* one that is not may be spread */
    if (!is_long || !ref_is_value(ref) || x->at->axis[ref]) {
        x->at->possible = false;
        return;
    }
    x->at->axis[ref] = (signed char)(axis + 1);
    x->changed = true;
}

/* An axis of one value is that of another. */
static void unify(Join *x, Ref a, int axis_a, Ref b, int axis_b) {
    if (join_axis(x, a) == axis_a + 1) mark(x, b, axis_b);
    if (join_axis(x, b) == axis_b + 1) mark(x, a, axis_a);
}

/* All axes; one of a single element is spread over the other's. */
static void unify_all(Join *x, Ref a, Ref b) {
    if (!join_is_tile(x, a) || !join_is_tile(x, b)) return;
    const Type *type_a = join_type(x, a), *type_b = join_type(x, b);
    if (type_a->rank != type_b->rank) return;
    for (int axis = 0; axis < type_a->rank; axis++)
        if (type_a->extent[axis] == type_b->extent[axis]) unify(x, a, axis, b, axis);
}

/* Is the operand the longer one of an elementwise op, where its result is, or spread over it? */
static bool agrees(const Join *x, Ref operand, Ref result) {
    if (!join_is_tile(x, operand)) return true;
    const Type *type = join_type(x, operand);
    int axis = join_axis(x, result) - 1;
    if (type->rank != join_type(x, result)->rank) return false;
    return join_axis(x, operand) == axis + 1 || (!join_axis(x, operand) && axis >= 0 && type->extent[axis] == 1);
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
    if (join_axis(x, value) && !*field) *field = (signed char)join_axis(x, value), x->changed = true;
}

/* The dimension of the box along which the index moves it; -1: none, -2: several. */
int join_moved_dim(const Join *x, const Op *access) {
    RefList offsets = op_list(access, 0);
    int found = -1;
    for (int d = 0; d < offsets.count; d++)
        if (join_follows(x, offsets.at[d])) found = found == -1 ? d : -2;
    return found;
}

static void settle_access(Join *x, const Op *op) {
    bool is_load = op->code == OP_TLOAD;
    Ref tile = is_load ? op->results[0] : op_operand(op, 1);
    int dim = join_moved_dim(x, op), rank = join_type(x, op->operands[0])->rank;
    int axis = dim >= 0 && join_is_tile(x, tile) ? box_axis(op, rank, join_type(x, tile)->rank, dim) : -1;
    if (axis >= 0) mark(x, tile, axis);
}

/* Where an axis goes, if all that comes or goes are extents of 1; -1: nowhere, or it is one of those. */
static int reshaped_axis(const Type *from, const Type *to, int axis) {
    int other = 0, found = -1;
    for (int d = 0; d < from->rank; d++) {
        if (from->extent[d] == 1) continue;
        while (other < to->rank && to->extent[other] == 1) other++;
        if (other == to->rank || to->extent[other] != from->extent[d]) return -1;
        if (d == axis) found = other;
        other++;
    }
    while (other < to->rank && to->extent[other] == 1) other++;
    return other == to->rank ? found : -1;
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
        if (join_type(x, op->results[0])->rank != 2) return;
        unify(x, op->operands[0], 0, op->results[0], 0);
        unify(x, op->operands[1], 1, op->results[0], 1);
        if (is_trips(x)) unify(x, op->operands[0], 1, op->operands[1], 0);
        unify_all(x, op->operands[2], op->results[0]);
        return;
    case OP_REDUCE: {
        int along = (int)op_int(op, AT_AXIS, 0);
        for (int axis = 0; op->result_count == 1 && join_is_tile(x, op->results[0]) &&
                           axis < join_type(x, op->results[0])->rank; axis++)
            unify(x, op->operands[0], axis + (axis >= along), op->results[0], axis);
        return;
    }
    case OP_RESHAPE:
        for (int axis = 0; join_is_tile(x, op->operands[0]) && axis < join_type(x, op->operands[0])->rank; axis++) {
            int to = reshaped_axis(join_type(x, op->operands[0]), join_type(x, op->results[0]), axis);
            if (to >= 0) unify(x, op->operands[0], axis, op->results[0], to);
        }
        return;
    case OP_EXPAND:
    case OP_PERMUTE:
    case OP_BROADCAST:
        for (int axis = 0; axis < join_type(x, op->results[0])->rank; axis++) {
            int from = join_is_tile(x, op->operands[0]) ? affine_axis_from(x->k, op, axis) : -1;
            if (from >= 0) unify(x, op->operands[0], from, op->results[0], axis);
        }
        return;
    default:
        if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->result_count != 1) return;
        if (join_counted(x, op) >= 0) {
            mark(x, op->results[0], 0);
            return;
        }
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
    int dim = join_moved_dim(x, op), rank = join_type(x, tensor)->rank, axis = join_axis(x, tile) - 1;
    if (join_follows(x, tensor) || op_operand(op, is_load ? 1 : 2)) return false;
    if (dim == -1 && is_load && axis < 0) return x->at->reuses = true;
    int64_t step;
    return dim >= 0 && axis >= 0 && box_axis(op, rank, join_type(x, tile)->rank, dim) == axis && !box_wraps(op, dim) &&
           !box_is_indexed(x->k, op) && step_of(x, op_list(op, 0).at[dim], &step) &&
           step == join_type(x, tile)->extent[axis];
}

/* Integers: of tasks, those that are counted alone. */
static bool tile_is_possible(const Join *x, const Op *op, Ref ref) {
    const Type *type = join_type(x, ref);
    bool is_counted = op_has(op->code, TRAIT_ELEMENTWISE) || op->code == OP_EXPAND || op->code == OP_BROADCAST ||
                      op->code == OP_RESHAPE;
    return !type->pointer && (is_trips(x) || elem_is_float(type->elem) || type->elem == EL_I1 || is_counted);
}

/* A sum over trips is one over longer trips. */
static bool sum_is_possible(const Join *x, const Op *op) {
    if (join_axis(x, op->results[0])) return false;
    if (op->code == OP_REDUCE) return join_axis(x, op->operands[0]) == op_int(op, AT_AXIS, 0) + 1;
    return join_axis(x, op->operands[0]) == 2 && join_axis(x, op->operands[1]) == 1;
}

/* Of trips: who lies in front of the loop stays as long as it is, but for numbers, of which there are any many. */
static bool operand_is_possible(const Join *x, Ref ref) {
    if (!join_axis(x, ref) || !is_trips(x)) return true;
    const Value *value = ir_value(x->k, ref);
    if (value->op && value->op->code == OP_SPLAT) return true;
    const Region *region = value->op ? value->op->parent : value->region;
    if (!value->op && (region == x->at->body[0] || region == x->at->body[1])) return false; /* carried */
    while (region && region != x->at->body[0] && region != x->at->body[1])
        region = region->owner ? region->owner->parent : NULL;
    return region != NULL;
}

static bool op_is_possible(Join *x, const Op *op) {
    bool any = false, is_access = op->code == OP_TLOAD || op->code == OP_TSTORE;
    if (is_access) return access_is_possible(x, op);
    if (op->code == OP_TATOMIC || op->code == OP_ATOMIC) return false; /* each task does it */
    if (join_is_uneven(x, op)) return !is_trips(x) && uneven_is_possible(x, op);
    if (is_trips(x) && op->code == OP_TSTORE) return false;
    if (join_counted(x, op) >= 0) return true;
    for (int i = 0; i < op->operand_count; i++) {
        Ref ref = op->operands[i];
        if (join_follows(x, ref) && !makes_scalar(x, op)) return false;
        if (!operand_is_possible(x, ref)) return false;
        any |= join_axis(x, ref) > 0;
    }
    for (int i = 0; i < op->result_count; i++) {
        any |= join_axis(x, op->results[i]) > 0;
        if (join_axis(x, op->results[i]) && !tile_is_possible(x, op, op->results[i])) return false;
    }
    if (adds_up(x, op)) return sum_is_possible(x, op);
    if (!any) return true;
    switch (op->code) {
    case OP_PUT: return op_list(op, 0).count == 0;
    case OP_GET: return op_list(op, 0).count == 0;
    case OP_YIELD: return op->parent->owner->code == OP_FOR && !(is_trips(x) && op->parent == x->at->body[0]);
    case OP_FOR:
    case OP_PERMUTE: return true;
    case OP_RESHAPE: {
        int axis = join_axis(x, op->operands[0]) - 1;
        return axis >= 0 && reshaped_axis(join_type(x, op->operands[0]), join_type(x, op->results[0]), axis) ==
                                join_axis(x, op->results[0]) - 1;
    }
    case OP_EXPAND: return join_axis(x, op->results[0]) != op_int(op, AT_AXIS, 0) + 1;
    case OP_SPLAT: return join_type(x, op->operands[0])->rank == 0;
    case OP_BROADCAST: return join_type(x, op->operands[0])->rank == join_type(x, op->results[0])->rank;
    case OP_DOT: return join_axis(x, op->operands[0]) != 2 && join_axis(x, op->operands[1]) != 1 &&
                        join_type(x, op->results[0])->rank == 2;
    case OP_REDUCE:
        return op->operand_count == 1 && op->result_count == 1 &&
               join_axis(x, op->operands[0]) != op_int(op, AT_AXIS, 0) + 1;
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
bool join_stores_can_end(const Join *x, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        const Op *made = op->code == OP_TSTORE ? ir_value(x->k, op->operands[0])->op : NULL;
        if (op->code == OP_TSTORE && (!made || made->code != OP_TENSOR || made->parent != x->k->body)) return false;
        for (int i = 0; i < op->region_count; i++)
            if (!join_stores_can_end(x, op->regions[i])) return false;
    }
    return true;
}

void join_find_along(Join *x, Along *at) {
    const Region *body = tasks_body(x->tasks);
    x->at = at;
    at->follows = ARENA_ARRAY(x->cx->scratch, bool, x->count);
    at->axis = ARENA_ARRAY(x->cx->scratch, signed char, x->count);
    at->possible = ref_is_value(at->count) || ref_is_literal(at->count);
    at->follows[at->index] = true;
    at->step = 1;
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
    if (!at->full) at->possible &= join_stores_can_end(x, body); /* nobody knows whether the last group is full */
}

void join_find_trips(Join *x, Along *at) {
    x->at = at;
    at->follows = ARENA_ARRAY(x->cx->scratch, bool, x->count);
    at->axis = ARENA_ARRAY(x->cx->scratch, signed char, x->count);
    at->follows[at->index] = at->follows[at->other] = at->possible = x->changed = true;
    for (int i = 0; i < 2; i++) follow_region(x, at->body[i]);
    while (x->changed && at->possible) {
        x->changed = false;
        for (int i = 0; i < 2; i++) settle_region(x, at->body[i]);
    }
    for (int i = 0; i < 2 && at->possible; i++) test_region(x, at->body[i]);
}
