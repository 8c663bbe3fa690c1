/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c: sums that a loop carries stay a lane's own, and are added up behind it.
 *
 * Contract: access form in and out, stamps kept; runs where options.fuse allows sums in another order. On machines with
 * threads: a value that a loop carries only to add to it, in each trip, the sums along the last axis of what comes out
 * of a matrix instruction's fragment, is carried as one sum for each of the lanes that share a row: what a trip adds is
 * then summed in a thread's own registers, and the lanes' sums meet behind the loop, once. What the carried value is
 * multiplied with is the same in all of these lanes. The sum that comes in is cut into equal parts, by a power of two.
 *
 *     %l = for .. (%li = %l0) { .. ; %s = reduce<add, axis=1> %p ; %lj = fma %li, %a, %s ; yield %lj }       p[M,64]
 *  -> %i = mul %l0, 0.25 -> [M,4]
 *     %t = for .. (%ti = %i) { .. ; %q = reshape %p : [M,8,4,2] ; %r = reduce<add, axis=3> %q
 *          %s = reduce<add, axis=1> %r ; %tj = fma %ti, (expand %a), %s ; yield %tj }
 *     %l = reduce<add, axis=1> %t
 *
 * Otherwise each trip of an attention ends with two exchanges between lanes for each of its rows, one behind the other,
 * before the next product may begin. */
#include "pass/fold/fold.h"
#include "pass/matrix.h"
#include "pass/pass.h"

typedef struct Tally {
    Kernel *k;
    Arena *scratch;
    UserIndex users;
    Op *loop;
    int index;        /* of the carried value */
    Op *add, *reduce; /* what is carried on, and what it adds */
    Ref by;           /* what the carried value is multiplied with; REF_NONE: nothing */
    int vector, lanes; /* bits of the column: of a thread's neighbours, of the lanes that share a row */
} Tally;

static Ref carried(const Tally *t) { return t->loop->regions[0]->args[1 + t->index]; }

static Op *only_user(const Tally *t, Ref r) {
    return t->users.start[r + 1] - t->users.start[r] == 1 ? t->users.list[t->users.start[r]] : NULL;
}

/* x + s, or fma(x, by, s), with the carried x and a sum s. */
static bool take_add(Tally *t) {
    Ref x = carried(t), sum = REF_NONE;
    Op *add = only_user(t, x);
    if (!add || add->parent != t->loop->regions[0]) return false;
    t->by = REF_NONE;
    if (add->code == OP_ADD) {
        sum = add->operands[add->operands[0] == x];
    } else if (add->code == OP_FMA && add->operands[2] != x) {
        t->by = add->operands[add->operands[0] == x];
        sum = add->operands[2];
    }
    if (!ref_is_value(sum) || sum == x || t->by == x) return false;
    if (t->by && (!ref_is_value(t->by) || ir_type(t->k, t->by) != ir_type(t->k, x))) return false;
    t->add = add;
    t->reduce = ir_value(t->k, sum)->op;
    const Op *yield = t->loop->regions[0]->last;
    return only_user(t, add->results[0]) == yield && yield->operands[t->index] == add->results[0] &&
           only_user(t, sum) == add;
}

/* Are the sums of rows that lanes share? */
static bool take_sum(Tally *t) {
    Op *op = t->reduce;
    if (!op || op->code != OP_REDUCE || op->parent != t->loop->regions[0] || op->operand_count != 1 ||
        op_word(op, AT_COMBINE, COMBINE_ADD) != COMBINE_ADD)
        return false;
    const Type *type = ir_type(t->k, op->operands[0]);
    int last = type->rank - 1;
    if (type->elem != EL_F32 || last < 1 || last + 3 > MAX_RANK || op_int(op, AT_AXIS, 0) != last) return false;
    FragmentName fragment = matrix_before(t->k, op->operands[0]);
    if (fragment == FRAGMENT_NONE) return false;
    matrix_columns(fragment, &t->vector, &t->lanes);
    int64_t columns = type->extent[last], held = (int64_t)1 << (t->vector + t->lanes);
    return t->lanes && columns > held && !(columns & (columns - 1));
}

/* The sums of one of the axes into which the last was cut, in the order in which they were taken before. */
static Ref sum_along(Builder *b, Ref x, int axis, bool upward) {
    int64_t extent = ir_type(b->kernel, x)->extent[axis];
    int bits = 0;
    while ((int64_t)1 << bits < extent) bits++;
    int64_t *order = ARENA_ARRAY(b->module->arena, int64_t, bits);
    for (int i = 0; i < bits; i++) order[i] = upward ? i : bits - 1 - i;
    Op *op = ir_begin(b, OP_REDUCE);
    ir_operand(b, op, x);
    op_set(b->kernel, op, (Attr){.id = AT_COMBINE, .word = COMBINE_ADD});
    op_set(b->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    op_set(b->kernel, op, (Attr){.id = AT_BITS, .list = {bits, order}});
    return ir_end(b, op, NULL);
}

/* .. of a lane's own columns. */
static Ref own_sums(const Tally *t, Builder *b) {
    Ref x = t->reduce->operands[0];
    const Type *type = ir_type(t->k, x);
    int last = type->rank - 1, rank = last;
    int64_t extent[MAX_RANK];
    for (int d = 0; d < last; d++) extent[d] = type->extent[d];
    extent[rank++] = type->extent[last] >> (t->vector + t->lanes);
    extent[rank++] = (int64_t)1 << t->lanes;
    if (t->vector) extent[rank++] = (int64_t)1 << t->vector;
    Ref sums = ir_reshape(b, x, ty_with_shape(b->module, type, rank, extent));
    if (t->vector) sums = sum_along(b, sums, last + 2, true);
    return sum_along(b, sums, last, false);
}

/* What comes into the loop, a lane's part of it. */
static Ref parts(const Tally *t, Builder *b, Ref initial, const Type *type) {
    const Op *splat = ref_is_value(initial) ? ir_value(t->k, initial)->op : NULL;
    double part = 1.0 / (double)(1 << t->lanes);
    if (splat && splat->code == OP_SPLAT && ref_is_literal(splat->operands[0]))
        return ir_splat(b, ir_float(b, EL_F32, ir_literal(t->k, splat->operands[0])->f * part), type);
    Ref cut = ir_binary(b, OP_MUL, initial, ir_splat(b, ir_float(b, EL_F32, part), ir_type(t->k, initial)));
    return ir_broadcast(b, ir_expand(b, cut, type->rank - 1), type);
}

static void rewrite(const Tally *t) {
    Kernel *k = t->k;
    Op *loop = t->loop;
    Ref x = carried(t), result = loop->results[t->index];
    Builder in = ir_builder_before(k, t->reduce), here = ir_builder_before(k, t->add);
    Builder before = ir_builder_before(k, loop), behind = ir_builder_behind(k, loop);
    Ref own = own_sums(t, &in), sum;
    const Type *type = ir_type(k, own), *whole = ir_type(k, x);
    loop->operands[3 + t->index] = parts(t, &before, loop->operands[3 + t->index], type);
    ir_value(k, x)->type = ir_value(k, result)->type = type;
    if (t->by)
        sum = ir_ternary(&here, OP_FMA, x, ir_expand(&here, t->by, whole->rank), own);
    else
        sum = ir_binary(&here, OP_ADD, x, own);
    ir_name(k, sum, ir_value(k, t->add->results[0])->name);
    loop->regions[0]->last->operands[t->index] = sum;
    ir_remove(t->add);
    ir_remove(t->reduce);
    Ref all = sum_along(&behind, result, whole->rank, false);
    Op *made = ir_value(k, all)->op;
    ir_replace_all(k, result, all);
    made->operands[0] = result;
    ir_name(k, all, ir_value(k, result)->name);
}

static bool visit(Tally *t) {
    bool changed = false;
    for (t->index = 0; t->index < t->loop->result_count; t->index++) {
        const Type *type = ir_type(t->k, t->loop->results[t->index]);
        if (type->kind != TY_TILE || type->pointer || type->elem != EL_F32 || !type->rank) continue;
        t->users = ir_index_users(t->k, t->scratch);
        if (!take_add(t) || !take_sum(t)) continue;
        rewrite(t);
        changed = true;
    }
    return changed;
}

bool pass_tally(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || !cx->options.fuse) return false;
    bool changed = false;
    FoundOps loops = ir_list(k->body, OP_FOR, cx->scratch);
    for (size_t i = 0; i < loops.count; i++) {
        Tally t = {.k = k, .scratch = cx->scratch, .loop = loops.at[i]};
        if (!visit(&t)) continue;
        pass_find(cx, loops.at[i]->range, FIND_SUMS_OF_LANES);
        changed = true;
    }
    if (changed) fold_tidy(k, cx->scratch);
    return changed;
}
