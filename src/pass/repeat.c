/* SPDX-License-Identifier: Apache-2.0 */
/* repeat.c: rows that an index vector names several times in a row are loaded once, and repeated.
 *
 * Contract: access form in and out, no bit of the result changes. Weights of 4 bits lie eight a word along K, and
 * kernels load each word once for every element that they take out of it:
 *
 *     %r = div iota<0, 128>, 8
 *     %p = tload %T, [%r, %n] : i32[128,64] ; %q = shr %p, %shift
 *  -> %w = tload %T, [0, %n] : i32[16,64] ; %p = repeat<0> %w : i32[128,64] ; %q = shr %p, %shift
 *
 * An eighth is brought to shared memory, as the box that it is, and a thread that unpacks a word reads it there. The
 * numbers of the vector are level in runs of 2, 4, 8 .. (runs.h); the first of each run are made from the vector's own
 * arithmetic, on every so manieth of its indices. Where these follow each other, the dimension is a box again.
 *
 * Only of tiles that arithmetic reads: a matrix unit that reads what was loaded where it lies wants all of its rows. */
#include "analysis/runs.h"
#include "pass/fold/fold.h"
#include "pass/pass.h"

typedef struct Repeat {
    PassContext *cx;
    Kernel *k;
    Analysis a;
    bool changed;
} Repeat;

/* --- what is repeated --- */

typedef struct Reads {
    Ref value;
    bool good;
} Reads;

static void look_at_read(Op *op, void *user) {
    Reads *r = user;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == r->value) r->good &= op_has(op->code, TRAIT_ELEMENTWISE);
}

/* Is the tile read by arithmetic alone? */
static bool is_arithmetic(const Repeat *s, Ref value) {
    Reads r = {value, true};
    ir_walk(s->k->body, look_at_read, &r);
    return r.good;
}

/* Is the vector made of its index and of numbers, element by element? Then every so manieth of it can be. */
static bool is_closed(const Repeat *s, Ref ref, int depth) {
    enum { DEEPEST = 32 };
    const Type *type = ir_type(s->k, ref);
    if (ref_is_literal(ref) || type->rank == 0) return true;
    const Op *op = ir_value(s->k, ref)->op;
    if (!op || type->rank != 1 || depth == DEEPEST) return false;
    if (op->code == OP_IOTA || op->code == OP_SPLAT) return true;
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->operand_count > 3) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_closed(s, op->operands[i], depth + 1)) return false;
    return true;
}

/* The longest runs of equal numbers. */
static int64_t level_runs(Repeat *s, Ref vector) {
    int64_t times = 1, extent = ir_type(s->k, vector)->extent[0];
    Runs runs = runs_new(&s->a, false, false);
    while (extent % (2 * times) == 0 && runs_level(&runs, vector, 2 * times)) times *= 2;
    return times;
}

/* --- how --- */

/* The vector at its indices 0, times, 2 * times ..; of count 0: its first number. */
static Ref thin(const Repeat *s, Builder *b, Ref ref, int64_t times, int64_t count) {
    const Type *type = ir_type(s->k, ref);
    if (ref_is_literal(ref) || type->rank == 0) return ref;
    const Op *op = ir_value(s->k, ref)->op;
    int64_t begin = op_int(op, AT_BEGIN, 0);
    if (op->code == OP_IOTA && !count) return ir_int(b, EL_I32, begin);
    if (op->code == OP_IOTA) {
        Ref index = ir_binary(b, OP_MUL, ir_iota(b, 0, count), ir_int(b, EL_I32, times));
        return begin ? ir_binary(b, OP_ADD, index, ir_int(b, EL_I32, begin)) : index;
    }
    const Type *thinner = ty_with_shape(s->k->module, type, count != 0, &count);
    if (op->code == OP_SPLAT) return count ? ir_splat(b, op->operands[0], thinner) : op->operands[0];
    Ref operands[3];
    for (int i = 0; i < op->operand_count; i++) operands[i] = thin(s, b, op->operands[i], times, count);
    return ir_like(b, op, operands, thinner);
}

/* The offset of the dimension for the first of each run: a number where they follow each other. */
static Ref thin_offset(Repeat *s, Ref vector, int64_t times) {
    int64_t count = ir_type(s->k, vector)->extent[0] / times, step = 0;
    Builder b = ir_builder_behind(s->k, ir_value(s->k, vector)->op);
    Ref thinner = thin(s, &b, vector, times, count);
    Runs runs = runs_new(&s->a, false, false);
    bool box = runs_of(&runs, thinner, count, 1, &step) && step == 1;
    return box ? thin(s, &b, vector, times, 0) : thinner;
}

static void repeat(Repeat *s, Op *load, int dim, int axis, int64_t times) {
    const Type *type = ir_type(s->k, load->results[0]);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < type->rank; d++) extent[d] = type->extent[d] / (d == axis ? times : 1);
    load->operands[1 + dim] = thin_offset(s, load->operands[1 + dim], times); /* behind the tensor */
    Ref old = load->results[0];
    ir_value(s->k, old)->type = ty_with_shape(s->k->module, type, type->rank, extent);
    Builder b = ir_builder_behind(s->k, load);
    Ref made = extent[axis] == 1 ? ir_broadcast(&b, old, type) : ir_repeat(&b, old, axis, times);
    ir_name(s->k, made, ir_value(s->k, old)->name);
    ir_replace_all(s->k, old, made);
    ir_value(s->k, made)->op->operands[0] = old;
    pass_find(s->cx, load->range, FIND_LOAD_REPEATED, (int)times);
    s->changed = true;
}

static void visit(Op *load, void *user) {
    Repeat *s = user;
    if (load->code != OP_TLOAD || op_operand(load, 1) || op_attr(load, AT_RUN) || op_flag(load, AT_NEAR) ||
        op_attr(load, AT_WRAP))
        return;
    const Type *type = ir_type(s->k, load->results[0]);
    RefList offsets = op_list(load, 0);
    for (int d = 0; d < offsets.count && type->rank > 1; d++) {
        Ref vector = offsets.at[d];
        int axis = box_axis(load, offsets.count, type->rank, d);
        if (axis < 0 || !ref_is_value(vector) || !ir_type(s->k, vector)->rank) continue;
        int64_t times = is_closed(s, vector, 0) && is_arithmetic(s, load->results[0]) ? level_runs(s, vector) : 1;
        if (times == 1) continue;
        repeat(s, load, d, axis, times);
        return;
    }
}

bool pass_repeat(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads) return false;
    Repeat s = {.cx = cx, .k = k};
    affine_init(&s.a, k, cx->scratch, true);
    ir_walk(k->body, visit, &s);
    if (s.changed) pass_fold(cx, k);
    return s.changed;
}
