/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan_forms.c: which form single ops take: boxes that are turned on their way, reductions and scans, atomics by
 * lines, operands of dots, lines that an index vector names, how often a loop looks up. */
#include "analysis/facts.h"
#include "ir/build.h"
#include "target/cpu/cpu_plan.h"

#include <string.h>

const int cpu_same_axes[MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

/* --- boxes and permutes that are turned --- */

enum { LEAST = 4 }; /* elements of either axis that are worth it */

static const Type *tile_of(const Kernel *k, const Op *op) {
    return ir_type(k, op->result_count ? op->results[0] : op_operand(op, 1));
}

bool cpu_is_plain_box(const Kernel *k, const Op *op) {
    return !op_operand(op, op->result_count ? 1 : 2) && !op_attr(op, AT_WRAP) && !box_is_indexed(k, op) &&
           tile_of(k, op)->elem != EL_I1;
}

int cpu_unit_axis(const Kernel *k, const Op *op) {
    const Op *tensor = ir_value(k, op->operands[0])->op;
    const Type *tile = tile_of(k, op), *whole = ir_type(k, op->operands[0]);
    if (!tensor || tensor->code != OP_TENSOR) return -1;
    for (int axis = tile->rank; axis-- > 0;) {
        int dim = box_dim(op, whole->rank, tile->rank, axis);
        int64_t stride = 0;
        if (ir_const_int(k, op_list(tensor, 1).at[dim], &stride) && stride == 1 && tile->extent[axis] > 1 &&
            !ir_type(k, op_list(op, 0).at[dim])->rank)
            return axis;
    }
    return -1;
}

static bool is_worth_it(const Type *tile, int a, int b) {
    return a >= 0 && b >= 0 && a != b && tile->extent[a] >= LEAST && tile->extent[b] >= LEAST;
}

bool cpu_box_is_turned(const Kernel *k, const Op *op) {
    const Type *tile = tile_of(k, op);
    return cpu_is_plain_box(k, op) && is_worth_it(tile, cpu_unit_axis(k, op), tile->rank - 1);
}

/* The axis of the result that the last one of the operand becomes. */
static int place_of_last(const Op *permute, int rank) {
    for (int d = 0; d < rank; d++)
        if (op_attr(permute, AT_DIMS)->list.at[d] == rank - 1) return d;
    return -1;
}

bool cpu_is_turn(const Kernel *k, const Op *op) {
    const Type *tile = ir_type(k, op->results[0]);
    return op->code == OP_PERMUTE && !tile->pointer && tile->elem != EL_I1 &&
           is_worth_it(tile, place_of_last(op, tile->rank), tile->rank - 1);
}

Op *cpu_moved_box(const CpuPlan *plan, Ref v, int *axes) {
    int rank = ir_type(plan->k, v)->rank;
    for (int d = 0; d < rank; d++) axes[d] = d;
    for (;;) {
        Op *op = ref_is_value(v) ? ir_value(plan->k, v)->op : NULL;
        if (!op) return NULL;
        if (op->code == OP_TLOAD) return cpu_is_plain_box(plan->k, op) ? op : NULL;
        if (op->code != OP_PERMUTE) return NULL;
        for (int d = 0; d < rank; d++) axes[d] = (int)op_attr(op, AT_DIMS)->list.at[axes[d]];
        v = op->operands[0];
    }
}

int cpu_moved_unit(const Kernel *k, const Op *box, const int *axes) {
    int unit = cpu_unit_axis(k, box);
    for (int d = 0; unit >= 0 && d < tile_of(k, box)->rank; d++)
        if (axes[d] == unit) return d;
    return -1;
}

bool cpu_moves_worth_it(const Kernel *k, const Op *load, const int *axes, int unit) {
    const Type *tile = tile_of(k, load);
    int from = cpu_moved_unit(k, load, axes);
    return from >= 0 && unit >= 0 && from != unit && tile->extent[axes[from]] >= LEAST &&
           tile->extent[axes[unit]] >= LEAST;
}

/* --- boxes with index vectors --- */

bool cpu_box_vector(const Kernel *k, const Op *op, int *axis) {
    RefList offsets = op_list(op, 0);
    *axis = -1;
    for (int d = 0; d < offsets.count; d++) {
        if (!ir_type(k, offsets.at[d])->rank) continue;
        if (*axis >= 0) return false;
        *axis = box_axis(op, offsets.count, 2, d);
    }
    return true;
}

int64_t cpu_lines_offset(const Type *type) { return ty_elements(type) * 8; }

int64_t cpu_lines_bytes(const Type *type) {
    return 8 * (type->extent[0] > type->extent[1] ? type->extent[0] : type->extent[1]);
}

/* --- reductions and scans --- */

enum { LEAST_ROW = 2 * MOST_AT_ONCE };

AxisShape cpu_axis_shape(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    AxisShape shape = {.outer = 1, .n = type->extent[axis], .inner = 1};
    for (int d = 0; d < axis; d++) shape.outer *= type->extent[d];
    for (int d = axis + 1; d < type->rank; d++) shape.inner *= type->extent[d];
    return shape;
}

static int bits_of(int64_t n) {
    int bits = 0;
    while ((INT64_C(1) << bits) < n) bits++;
    return bits;
}

/* Are all bits of an index below n taken from the lowest on, or from the highest? */
static bool order_goes(const IntList *order, int64_t n, bool up) {
    int bits = bits_of(n);
    if (order->count != bits) return false;
    for (int i = 0; i < bits; i++)
        if (order->at[i] != (up ? i : bits - 1 - i)) return false;
    return true;
}

/* With an order that is stamped (NULL: any gives the same). */
static ReduceForm form_by_bits(const Kernel *k, const Op *op, const IntList *order) {
    AxisShape shape = cpu_axis_shape(k, op);
    bool down = !order || order_goes(order, shape.n, false), power = (shape.n & (shape.n - 1)) == 0;
    bool last = op_int(op, AT_AXIS, 0) == ir_type(k, op->operands[0])->rank - 1;
    bool one = op->operand_count == 1 && op_word(op, AT_COMBINE, COMBINE_ADD) != COMBINE_REGION;
    if (one && last && down && power && shape.n >= LEAST_ROW) return REDUCE_ROWS;
    return down ? REDUCE_HALVES : order_goes(order, shape.n, true) ? REDUCE_NEIGHBOURS : REDUCE_STEPS;
}

static ReducePlan plan_reduce(const Kernel *k, const Op *op) {
    ReducePlan plan = {.at_once = MOST_AT_ONCE};
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX) {
        plan.form = cpu_axis_shape(k, op).inner == 1 ? REDUCE_CHAINS : REDUCE_COLUMNS;
        return plan;
    }
    const Attr *order = op_attr(op, AT_BITS);
    bool sum = kind == COMBINE_ADD || kind == COMBINE_MUL;
    bool ordered = kind == COMBINE_REGION || (sum && elem_is_float(ir_type(k, op->operands[0])->elem));
    plan.form = order || !ordered ? form_by_bits(k, op, order ? &order->list : NULL) : REDUCE_IN_TURN;
    return plan;
}

/* Does prelude/scan.h have the combination, because it gives the same in any order? */
static bool scans_by_vectors(Word kind, Elem elem) {
    bool sum = kind == COMBINE_ADD || kind == COMBINE_MUL;
    bool known = sum || kind == COMBINE_MIN || kind == COMBINE_MAX || kind == COMBINE_AND || kind == COMBINE_OR ||
                 kind == COMBINE_XOR;
    return known && elem_info[elem].bits >= 32 && !(sum && elem_is_float(elem));
}

static ScanPlan plan_scan(const Kernel *k, const Op *op) {
    enum { LEAST_LINE = 16, VECTOR_BITS = 256, SIDE_BY_SIDE = 8 };
    AxisShape shape = cpu_axis_shape(k, op);
    Elem elem = ir_type(k, op->operands[0])->elem;
    bool last = shape.inner == 1;
    bool vectors = last && shape.n >= LEAST_LINE && scans_by_vectors(op_word(op, AT_COMBINE, COMBINE_ADD), elem);
    return (ScanPlan){.form = shape.n == 1 ? SCAN_NOTHING
                              : vectors    ? SCAN_VECTORS
                                           : SCAN_IN_TURN,
                      .lanes = VECTOR_BITS / elem_info[elem].bits,
                      .side_by_side = SIDE_BY_SIDE,
                      .grouped = last ? shape.outer / SIDE_BY_SIDE * SIDE_BY_SIDE : 0};
}

/* gcc may unroll a loop of so many turns wholly (TW_SHORT). */
bool cpu_loop_is_short(int64_t extent) {
    enum { MOST_UNROLLED = 16 };
    return extent <= MOST_UNROLLED;
}

/* --- atomics --- */

/* Not by the default scope: a context is used by
 * one thread at a time, as a device runs its blocks. */
bool cpu_is_for_all(const Op *op) { return op_word(op, AT_REACH, REACH_GPU) == REACH_SYS; }

bool cpu_atomic_lines(const Kernel *k, const Op *op) {
    enum { LEAST_LINE = 4 };
    const Op *tensor = ir_value(k, op->operands[0])->op;
    const Type *tile = ir_type(k, op_operand(op, 1)), *whole = ir_type(k, op->operands[0]);
    int dim = tile->rank ? box_dim(op, whole->rank, tile->rank, tile->rank - 1) : -1;
    int64_t stride;
    return dim >= 0 && tensor && tensor->code == OP_TENSOR && ir_const_int(k, op_list(tensor, 1).at[dim], &stride) &&
           stride == 1 && !ir_type(k, op_list(op, 0).at[dim])->rank && !op_operand(op, 2) && !cpu_is_for_all(op) &&
           tile->extent[tile->rank - 1] >= LEAST_LINE;
}

Op *cpu_line_box(const CpuPlan *plan, const Op *op) {
    int axes[MAX_RANK];
    Ref values = op->code == OP_TATOMIC ? op_operand(op, 1) : REF_NONE;
    Op *load = ref_is_value(values) && cpu_atomic_lines(plan->k, op) ? ir_value(plan->k, values)->op : NULL;
    if (!load || load->code != OP_TLOAD || !cpu_moved_box(plan, values, axes)) return NULL;
    return cpu_unit_axis(plan->k, load) == ir_type(plan->k, values)->rank - 1 ? load : NULL;
}

static AtomicPlan plan_atomic(const CpuPlan *plan, const Op *op) {
    AtomicPlan atomic = {.lines = cpu_atomic_lines(plan->k, op)};
    Ref values = op_operand(op, 1);
    const Type *tile = ir_type(plan->k, values);
    if (!atomic.lines) return atomic;
    if (ref_is_value(values) && cpu_placed(plan, values)->storage == STORAGE_INLINE)
        atomic.load = cpu_line_box(plan, op);
    if (tile->rank < 2 || plan->locks || tile->extent[tile->rank - 2] == 1) return atomic;
    int dim = box_dim(op, ir_type(plan->k, op->operands[0])->rank, tile->rank, tile->rank - 2);
    atomic.soon = dim >= 0 && ir_type(plan->k, op_list(op, 0).at[dim])->rank > 0;
    return atomic;
}

bool cpu_locks_lines(const CpuPlan *plan) {
    for (size_t i = 0; i < plan->order.count; i++) {
        const Op *op = plan->order.at[i];
        if (op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS) return false;
        if (op->code == OP_TATOMIC && !cpu_atomic_lines(plan->k, op)) return false;
    }
    return true;
}

/* --- sorts --- */

/* The tile of keys in which a line is padded to a power of two. */
const Type *cpu_sort_keys(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0);
    int64_t extent[MAX_RANK], inner = 1, n = 1;
    memcpy(extent, type->extent, sizeof extent);
    for (int d = axis + 1; d < type->rank; d++) inner *= extent[d];
    while (n < extent[axis] || (inner == 1 && n < 8)) n *= 2;
    extent[axis] = n;
    Elem key = elem_info[type->elem].bits == 64 ? EL_I64 : EL_I32;
    return ty_tile(k->module, key, type->rank, extent);
}

/* --- operands of dots --- */

static DotPlan plan_dot(const CpuPlan *plan, const Op *op) {
    DotPlan dot = {0};
    for (int i = 0; i < 3; i++) {
        const Type *type = ir_type(plan->k, op->operands[i]), *sum = ir_type(plan->k, op->results[0]);
        bool narrow = !elem_is_float(type->elem) && type->elem != sum->elem;
        bool direct = !cpu_is_wide_elem(type) || (i < 2 && cpu_placed(plan, op->operands[i])->wide);
        bool f64 = sum->elem == EL_F64 && type->elem != EL_F64;
        bool box = i < 2 && cpu_dot_box(plan, op, i, &dot.box[i]);
        bool is_there = !box && !narrow && !f64 && direct;
        bool inlined = box && cpu_placed(plan, dot.box[i].load->results[0])->storage == STORAGE_INLINE;
        bool as_read = inlined && ir_type(plan->k, dot.box[i].load->results[0])->elem == EL_F32 && dot.box[i].rows == 0;
        dot.form[i] = is_there                                   ? OPERAND_THERE
                      : !inlined                                 ? OPERAND_FILLED
                      : box_is_indexed(plan->k, dot.box[i].load) ? OPERAND_LINES
                      : as_read                                  ? OPERAND_STAYS
                                                                 : OPERAND_BOX;
    }
    return dot;
}

/* A 64-bit number that is no sum of smaller ones (those fit, access_plan.c) may be any. */
static bool may_be_any(const Kernel *k, Ref number) {
    if (!ref_is_value(number)) return false;
    const Value *v = ir_value(k, number);
    Opcode code = v->op ? v->op->code : OP_NONE;
    return elem_info[v->type->elem].bits == 64 && code != OP_EXTENT && code != OP_ADD && code != OP_SUB &&
           code != OP_MUL && !fact_is_32_bits(k, number);
}

static TensorPlan plan_tensor(const Kernel *k, const Op *op) {
    RefList extents = op_list(op, 0);
    TensorPlan plan = {0};
    for (int d = 0; d < extents.count; d++) plan.cut[d] = may_be_any(k, extents.at[d]);
    return plan;
}

void cpu_choose_forms(CpuPlan *plan) {
    for (size_t i = 0; i < plan->order.count; i++) {
        const Op *op = plan->order.at[i];
        OpPlace *place = cpu_place(plan, op);
        switch (op->code) {
        case OP_REDUCE: place->reduce = plan_reduce(plan->k, op); break;
        case OP_SCAN: place->scan = plan_scan(plan->k, op); break;
        case OP_TENSOR: place->tensor = plan_tensor(plan->k, op); break;
        case OP_TSTORE: place->store = cpu_store_plan(plan, op); break;
        case OP_TATOMIC: place->atomic = plan_atomic(plan, op); break;
        case OP_DOT:
            if (!cpu_gemm(plan, op)) place->dot = plan_dot(plan, op);
            break;
        default: break;
        }
    }
}

/* --- loops that may not end --- */

enum { FEW_TRIPS = 256, LOOK_ELEMENTS = 1 << 16, LEAST_BETWEEN_LOOKS = 4 };

typedef struct Largest {
    const Kernel *k;
    int64_t elements;
} Largest;

static void note_size(Op *op, void *user) {
    Largest *largest = user;
    for (int i = 0; i < op->result_count; i++) {
        const Type *type = ir_type(largest->k, op->results[i]);
        int64_t elements = type->kind == TY_TILE ? ty_elements(type) : 1;
        if (elements > largest->elements) largest->elements = elements;
    }
}

/* Trips between two looks at whether the launch is still wanted, a power of two: rare beside the work, and often for a
 * user who waits. */
int64_t cpu_trips_between_looks(const Kernel *k, Region *body) {
    Largest largest = {k, 1};
    ir_walk(body, note_size, &largest);
    int64_t trips = LOOK_ELEMENTS;
    while (trips > LEAST_BETWEEN_LOOKS && trips * largest.elements > LOOK_ELEMENTS) trips /= 2;
    return trips;
}

bool cpu_is_short(const Kernel *k, const Op *op) {
    int64_t lo, hi, step;
    return ir_const_int(k, op->operands[0], &lo) && ir_const_int(k, op->operands[1], &hi) &&
           ir_const_int(k, op->operands[2], &step) && step > 0 && lo > -FEW_TRIPS && hi < INT64_MAX / 2 &&
           hi - lo <= FEW_TRIPS * step;
}
