/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_plan_merge.c: axes of a nest that nothing tells apart share a loop.
 *
 *     f32[2,2,2,2,2,2], each element from the same place of other tiles in memory     one loop of 64, not six of 2
 *     the same, where a flip or a reduce of two changes axis 3                        [0 1 2] [3] [4 5]
 *
 * Loops are what costs time: the kernel's, whose vectors are as long as the innermost one, and the C compiler's.
 * Hypercubes are how sorts are written in kernels. Two neighbours are told apart by whatever reads a tile in
 * memory in which they are no neighbours, or only one of them is there. */
#include "target/cpu/cpu_plan.h"

typedef struct Merge {
    const CpuPlan *plan;
    const Type *shape; /* of the nest */
    bool *apart;       /* axis d and the next one */
    Map seen;
} Merge;

enum { NOWHERE = -1 }; /* an axis of a tile that no axis of the nest is */

static void keep_alone(Merge *m, int axis) {
    if (axis < 0) return;
    if (axis) m->apart[axis - 1] = true;
    m->apart[axis] = true;
}

/* A tile that is read at the number of its place. */
static void read_linear(Merge *m, const Type *type, const int *axes) {
    for (int d = 0; d + 1 < m->shape->rank; d++) {
        int a = NOWHERE, b = NOWHERE, next;
        for (int i = 0; i < type->rank; i++) {
            if (axes[i] == d) a = i;
            if (axes[i] == d + 1) b = i;
        }
        if (a < 0 && b < 0) continue;
        for (next = a + 1; next < type->rank && type->extent[next] == 1;) next++;
        if (a < 0 || b < 0 || next != b || type->extent[b] != m->shape->extent[d + 1]) m->apart[d] = true;
    }
}

static void visit(Merge *m, Ref v, const int *axes, bool top);

static void visit_operand(Merge *m, Ref x, const int *axes) {
    if (!ref_is_value(x) || ir_type(m->plan->k, x)->kind != TY_TILE) return;
    const Type *type = ir_type(m->plan->k, x);
    int mine[MAX_RANK];
    for (int d = 0; d < type->rank; d++) mine[d] = type->extent[d] == 1 ? NOWHERE : axes[d];
    visit(m, x, mine, false);
}

bool cpu_reshape_axes(const Type *from, const Type *to, int *axis) {
    int d = 0, t = 0;
    for (int i = 0; i < from->rank; i++) axis[i] = -1;
    while (d < from->rank || t < to->rank) {
        if (d < from->rank && from->extent[d] == 1)
            d++;
        else if (t < to->rank && to->extent[t] == 1)
            t++;
        else if (d < from->rank && t < to->rank && from->extent[d] == to->extent[t])
            axis[d++] = t++;
        else
            return false;
    }
    return true;
}

static void visit_reshape(Merge *m, const Op *op, const int *axes) {
    const Type *to = ir_type(m->plan->k, op->results[0]), *from = ir_type(m->plan->k, op->operands[0]);
    int mine[MAX_RANK], axis[MAX_RANK];
    bool direct = cpu_reshape_axes(from, to, axis);
    if (!direct) read_linear(m, to, axes);
    for (int i = 0; i < from->rank; i++) mine[i] = direct && axis[i] >= 0 ? axes[axis[i]] : NOWHERE;
    visit(m, op->operands[0], mine, false);
}

static bool is_new(Merge *m, Ref v, const int *axes) {
    Text key = text_new(m->plan->arena);
    text_add(&key, "%u", v);
    for (int d = 0; d < ir_type(m->plan->k, v)->rank; d++) text_add(&key, ",%d", axes[d]);
    if (map_get(&m->seen, key.at)) return false;
    map_set(&m->seen, m->plan->arena, key.at, m);
    return true;
}

/* axes: the nest's axis of each of the tile's. */
static void visit(Merge *m, Ref v, const int *axes, bool top) {
    if (!ref_is_value(v)) return;
    const Value *value = ir_value(m->plan->k, v);
    const Op *op = value->op;
    int mine[MAX_RANK], axis, rank = value->type->rank;
    if (rank == 0 || !is_new(m, v, axes)) return;
    if (!op || !cpu_is_inlinable(m->plan->k, op) || (!top && cpu_placed(m->plan, v)->storage == STORAGE_MEMORY)) {
        read_linear(m, value->type, axes);
        return;
    }
    switch (op->code) {
    case OP_SPLAT:
    case OP_UNDEF:
    case OP_IOTA: return;
    case OP_EXPAND:
        axis = (int)op_int(op, AT_AXIS, 0);
        for (int d = 0, o = 0; d < rank; d++)
            if (d != axis) mine[o++] = axes[d];
        visit(m, op->operands[0], mine, false);
        return;
    case OP_REDUCE:
        axis = (int)op_int(op, AT_AXIS, 0);
        for (int d = 0, o = 0; d <= rank; d++) mine[d] = d == axis ? NOWHERE : axes[o++];
        visit(m, op->operands[0], mine, false);
        return;
    case OP_RESHAPE: visit_reshape(m, op, axes); return;
    case OP_PERMUTE:
        for (int d = 0; d < rank; d++) mine[op_attr(op, AT_DIMS)->list.at[d]] = axes[d];
        visit(m, op->operands[0], mine, false);
        return;
    case OP_REPEAT:
    case OP_FLIP:
        keep_alone(m, axes[op_int(op, AT_AXIS, 0)]);
        visit(m, op->operands[0], axes, false);
        return;
    case OP_JOIN:
    case OP_SPLIT:
    case OP_SLICE:
    case OP_GATHER:
    case OP_TLOAD:
    case OP_BLOAD:
        for (int d = 0; d < rank; d++) keep_alone(m, axes[d]);
        return;
    default:
        for (int i = 0; i < op->operand_count; i++) visit_operand(m, op->operands[i], axes);
    }
}

void cpu_axes_apart(const CpuPlan *plan, const Type *shape, const Ref *tiles, int count, bool *apart) {
    enum { LEAST_RANK = 3 }; /* fewer are left as they are */
    Merge m = {.plan = plan, .shape = shape, .apart = apart};
    for (int d = 0; d < shape->rank; d++) apart[d] = shape->rank < LEAST_RANK;
    if (shape->rank < LEAST_RANK) return;
    for (int i = 0; i < count; i++) visit(&m, tiles[i], cpu_same_axes, true);
    for (int d = 0; d < shape->rank; d++) /* extents of 1 have no loop, and may stand wherever they are */
        if (shape->extent[d] == 1) keep_alone(&m, d);
}
