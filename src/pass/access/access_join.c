/* SPDX-License-Identifier: Apache-2.0 */
/* access_join.c: axes that numbers from memory move along together become one.
 *
 *     load %X + codes[i, j] * 8 + k : f16[16,2,8]
 *  -> reshape (load %X + row[r] * 8 + k : f16[32,8]) : f16[16,2,8],   %row = reshape %codes : i32[32]
 *
 * An index vector is of one axis (access_vector.c); numbers of two of them, rows of several tables side by side,
 * would leave a gather of single elements, though each row lies in one piece. The address is made anew over the
 * joined axis: sums and products are taken apart down to what they are made of, which is reshaped. Done where
 * another axis is left, which may be contiguous; the axes lie side by side, but for such of one element. */
#include "pass/access/access_plan.h"

enum { DEEP = 32, MOST = 400 }; /* ops from one to the next, and of one address */

typedef struct Join {
    Kernel *k;
    Builder *b;
    int rank, lo, hi; /* axes lo .. hi become one */
    int64_t extent[MAX_RANK];
    unsigned joint; /* axes that one part moves along with others */
    bool good;      /* so far */
    int steps;
} Join;

static const Op *op_of(const Kernel *k, Ref value) { return ref_is_value(value) ? ir_value(k, value)->op : NULL; }

static bool is_sum(const Op *op) {
    return op && (op->code == OP_PTR_ADD || op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL ||
                  op->code == OP_CAST || op->code == OP_AND);
}

static bool is_wider(const Op *op) { return op && (op->code == OP_EXPAND || op->code == OP_BROADCAST); }

/* The axes of what is made wider, by those of what becomes of it. */
static void inner_axes(const Op *op, int rank, const int *axes, int *inner) {
    int64_t at = op->code == OP_EXPAND ? op_int(op, AT_AXIS, 0) : MAX_RANK;
    for (int d = 0; d < rank; d++) inner[d] = axes[d < at ? d : d + 1];
}

/* Is it made of what memory holds? */
static bool is_read(const Kernel *k, Ref value, int depth) {
    const Op *op = op_of(k, value);
    if (!op || depth == 8) return false;
    if (op->code == OP_LOAD || op->code == OP_TLOAD) return ir_type(k, value)->rank > 0;
    if (!affine_is_slicewise(op) && !affine_is_spread(k, op)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && is_read(k, op->operands[i], depth + 1)) return true;
    return false;
}

/* Finds the parts that move along several axes; `reads`: they have to be read from memory. */
static void look(Join *j, Ref value, const int *axes, bool reads, int depth) {
    const Type *type = ir_type(j->k, value);
    const Op *op = op_of(j->k, value);
    if (type->rank == 0 || (op && op->code == OP_SPLAT)) return;
    if (++j->steps > MOST) j->good = false;
    if (!j->good) return;
    if (depth < DEEP && is_wider(op)) {
        int inner[MAX_RANK + 1] = {0};
        inner_axes(op, ir_type(j->k, op->operands[0])->rank, axes, inner);
        look(j, op->operands[0], inner, reads, depth + 1);
        return;
    }
    if (depth < DEEP && is_sum(op)) {
        for (int i = 0; i < op->operand_count; i++) {
            const Type *part = ir_type(j->k, op->operands[i]);
            if (part->rank == type->rank) look(j, op->operands[i], axes, reads, depth + 1);
            else if (part->rank) j->good = false;
        }
        return;
    }
    unsigned moves = 0;
    for (int d = 0; d < type->rank; d++) moves |= (unsigned)(type->extent[d] > 1) << axes[d];
    if (!(moves & (moves - 1))) return;
    if (reads && !is_read(j->k, value, 0)) j->good = false;
    j->joint |= moves;
}

static const Type *joined(const Join *j, const Type *of, const int64_t *extent) {
    int64_t out[MAX_RANK];
    int rank = 0;
    for (int d = 0; d < j->rank; d++) {
        if (d > j->lo && d <= j->hi)
            out[rank - 1] *= extent[d];
        else
            out[rank++] = extent[d];
    }
    return ty_with_shape(j->k->module, of, rank, out);
}

/* A part as it is, over the joined axis. */
static Ref join_part(Join *j, Ref value, const int *axes) {
    const Type *type = ir_type(j->k, value);
    int64_t extent[MAX_RANK];
    bool along = false;
    for (int d = 0; d < j->rank; d++) extent[d] = 1;
    for (int d = 0; d < type->rank; d++) {
        if (type->extent[d] > 1) extent[axes[d]] = type->extent[d];
        along |= type->extent[d] > 1 && axes[d] >= j->lo && axes[d] <= j->hi;
    }
    if (along) {
        value = ir_reshape(j->b, value, ty_with_shape(j->k->module, type, j->rank, extent));
        for (int d = j->lo; d <= j->hi; d++) extent[d] = j->extent[d];
        value = ir_broadcast(j->b, value, ty_with_shape(j->k->module, type, j->rank, extent));
    }
    return ir_reshape(j->b, value, joined(j, type, extent));
}

static Ref join(Join *j, Ref value, const int *axes, int depth) {
    const Type *type = ir_type(j->k, value);
    const Op *op = op_of(j->k, value);
    if (type->rank == 0) return value;
    if (op && op->code == OP_SPLAT) return op->operands[0];
    if (depth < DEEP && is_wider(op)) {
        int inner[MAX_RANK + 1] = {0};
        inner_axes(op, ir_type(j->k, op->operands[0])->rank, axes, inner);
        return join(j, op->operands[0], inner, depth + 1);
    }
    if (depth == DEEP || !is_sum(op)) return join_part(j, value, axes);
    Ref operands[2] = {REF_NONE};
    for (int i = 0; i < op->operand_count; i++) operands[i] = join(j, op->operands[i], axes, depth + 1);
    Op *made = ir_begin(j->b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(j->b, made, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(j->k, made, op->attrs[i]);
    const Type *of = ir_type(j->k, operands[0]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_end(j->b, made, given ? ty_with_shape(j->k->module, type, of->rank, of->extent) : NULL);
}

/* Do the axes lie side by side, and is one left beside them? */
static bool can_join(Join *j) {
    if (!j->good || !j->joint) return false;
    for (j->lo = 0; !(j->joint >> j->lo & 1);) j->lo++;
    for (j->hi = j->rank - 1; !(j->joint >> j->hi & 1);) j->hi--;
    bool left = false;
    for (int d = 0; d < j->rank; d++) {
        bool inside = d >= j->lo && d <= j->hi;
        if (inside && j->extent[d] > 1 && !(j->joint >> d & 1)) return false;
        left |= !inside && j->extent[d] > 1;
    }
    return left;
}

static void join_access(Op *op, void *user) {
    Kernel *k = user;
    bool load = op->code == OP_LOAD;
    if ((!load && op->code != OP_STORE) || op_flag(op, AT_VOLATILE)) return;
    const Type *type = ir_type(k, op->operands[0]);
    Join j = {.k = k, .rank = type->rank, .good = true};
    int axes[MAX_RANK + 1], mask = load ? 1 : 2;
    for (int d = 0; d < type->rank; d++) {
        axes[d] = d;
        j.extent[d] = type->extent[d];
    }
    look(&j, op->operands[0], axes, true, 0);
    unsigned joint = j.joint;
    Ref chosen = op->operand_count > mask ? op->operands[mask] : REF_NONE;
    if (joint && chosen && ir_type(k, chosen)->rank == j.rank) look(&j, chosen, axes, false, 0);
    else if (chosen && ir_type(k, chosen)->rank) return;
    if (j.joint != joint || !can_join(&j)) return;
    Builder b = ir_builder_before(k, op);
    j.b = &b;
    Ref pointer = join(&j, op->operands[0], axes, 0);
    pointer = ir_broadcast(&b, pointer, joined(&j, type, j.extent));
    Op *made = ir_begin(&b, op->code);
    Ref operands[4] = {pointer};
    for (int i = 1; i < op->operand_count; i++) {
        Ref value = op->operands[i];
        const Type *of = value ? ir_type(k, value) : NULL;
        if (!of || of->rank == 0)
            operands[i] = value;
        else if (i == mask)
            operands[i] = join(&j, value, axes, 0);
        else
            operands[i] = ir_reshape(&b, ir_broadcast(&b, value, ty_with_shape(k->module, of, j.rank, j.extent)),
                                     joined(&j, of, j.extent));
    }
    for (int i = 0; i < op->operand_count; i++) ir_operand(&b, made, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(k, made, op->attrs[i]);
    Ref value = ir_end(&b, made, NULL);
    if (load) {
        ir_name(k, value, ir_value(k, op->results[0])->name);
        ir_replace_all(k, op->results[0], ir_reshape(&b, value, ir_type(k, op->results[0])));
    }
    ir_remove(op);
}

void access_join(Kernel *k) { ir_walk(k->body, join_access, k); }
