/* cpu_plan_forms.c: which form single ops take, as far as the kernel alone tells: boxes that are turned on their way,
 * reductions by rows, atomics by lines, lines that an index vector names, how often a loop looks up. */
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

const Op *cpu_turned_load(const CpuPlan *plan, const Op *store, int *axes) {
    Ref value = op_operand(store, 1);
    if (!cpu_is_plain_box(plan->k, store) || !ref_is_value(value)) return NULL;
    const Op *load = cpu_moved_box(plan, value, axes);
    for (Ref v = value; load; v = ir_value(plan->k, v)->op->operands[0]) { /* all the way is inline */
        if (cpu_placed(plan, v)->storage != STORAGE_INLINE) return NULL;
        if (ir_value(plan->k, v)->op == load) break;
    }
    return load && cpu_moves_worth_it(plan->k, load, axes, cpu_unit_axis(plan->k, store)) ? load : NULL;
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

/* --- reductions --- */

enum { LEAST_ROW = 16 };

static bool goes_down(const Op *op, int64_t n) {
    const Attr *order = op_attr(op, AT_BITS);
    int bits = 0;
    while ((INT64_C(1) << bits) < n) bits++;
    for (int i = 0; order && i < order->list.count; i++)
        if (order->list.at[i] != bits - 1 - i) return false;
    return !order || order->list.count == bits;
}

bool cpu_reduces_rows(const Kernel *k, const Op *op) {
    if (op->code != OP_REDUCE || op->operand_count != 1) return false;
    const Type *type = ir_type(k, op->operands[0]);
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    int64_t n = type->extent[type->rank - 1];
    if (kind == COMBINE_REGION || kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX) return false;
    if (op_int(op, AT_AXIS, 0) != type->rank - 1 || n < LEAST_ROW || (n & (n - 1)) != 0) return false;
    bool ordered = (kind == COMBINE_ADD || kind == COMBINE_MUL) && elem_is_float(type->elem);
    return ordered && !op_attr(op, AT_BITS) ? false : goes_down(op, n);
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
