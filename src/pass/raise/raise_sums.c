/* SPDX-License-Identifier: Apache-2.0 */
/* raise_sums.c: a running sum over one dimension of a tensor becomes blocks of `reduce`.
 *
 *     %s = for %j = 0, %N, 1 (%a = %z) {                   %s = for %j = 0, %nb, 1 (%a = %z) {
 *       %x = tload<dims=[0]> %A, [%m, %j] : f16[32]          %jj = mul %j, 128
 *       %f = cast %x : f32[32]                       ->      %x = tload %A, [%m, %jj] : f16[32,128]
 *       %b = add %a, %f                                      %f = cast %x : f32[32,128]
 *       yield %b }                                           %p = reduce<add, axis=1> %f ; %b = add %a, %p
 *                                                            yield %b }
 *
 * Taken are loops with one carried tile, `yield op(carried, e)` for add, min or max, where e is elementwise over loads
 * that move on by one along their last dimension, and along no other. What a block reads beyond the loop's end is
 * replaced by the neutral value. The sum's order changes; it is
 * still one f32 sum, and the order is stamped like that of every reduce. */
#include "analysis/affine.h"
#include "ir/threads.h"
#include "pass/raise/raise.h"

#include <math.h>

enum { BLOCK = 128 };

typedef struct Sum {
    PassContext *cx;
    Kernel *k;
    Op *loop;
    Region *body;
    Op *update; /* op(carried, e) */
    Ref e;
    int rank; /* of the carried tile */
    Analysis analysis;
} Sum;

static Word combine_of(Opcode code) {
    return code == OP_ADD ? COMBINE_ADD : code == OP_MIN ? COMBINE_MIN : code == OP_MAX ? COMBINE_MAX : WORD_NONE;
}

/* Does it grow by so much from trip to trip? */
static bool grows_by(Sum *s, Ref number, int64_t wanted) {
    int64_t growth;
    return affine_growth(&s->analysis, s->loop, number, &growth) && growth == wanted;
}

/* A number of the trip that only says where loads lie. */
static bool is_place(Sum *s, const Op *op) {
    int64_t growth;
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->parent != s->body) return false;
    const Type *type = ir_type(s->k, op->results[0]);
    return !type->rank && !type->pointer && elem_is_int(type->elem) &&
           affine_growth(&s->analysis, s->loop, op->results[0], &growth);
}

static bool takes_place(Sum *s, const Op *op) {
    for (int i = 0; i < op->operand_count; i++) {
        const Op *from = ref_is_value(op->operands[i]) ? ir_value(s->k, op->operands[i])->op : NULL;
        if (op->operands[i] == s->body->args[0] || (from && is_place(s, from))) return true;
    }
    return false;
}

/* A load that moves on by one along its last dimension, alone, and whose tile covers the other dimensions before it. */
static bool is_column_load(Sum *s, const Op *op) {
    if (op->code != OP_TLOAD) return false;
    RefList at = op_list(op, 0);
    const Type *type = ir_type(s->k, op->results[0]);
    if (at.count != s->rank + 1 || type->rank != s->rank || op_operand(op, 1) || box_is_indexed(s->k, op)) return false;
    if (!grows_by(s, at.at[s->rank], 1) || op_attr(op, AT_WRAP)) return false;
    for (int d = 0; d < s->rank; d++)
        if (!grows_by(s, at.at[d], 0)) return false;
    const Attr *dims = op_attr(op, AT_DIMS);
    if (!dims) return s->rank == 0;
    for (int d = 0; d < dims->list.count; d++)
        if (dims->list.at[d] != d) return false;
    return true;
}

static bool uses(const Op *op, Ref ref) {
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == ref) return true;
    return false;
}

static bool matches(Sum *s) {
    Op *loop = s->loop;
    int64_t lo, step;
    if (loop->operand_count != 4 || !ir_const_int(s->k, loop->operands[0], &lo) || lo != 0 ||
        !ir_const_int(s->k, loop->operands[2], &step) || step != 1)
        return false;
    s->body = loop->regions[0];
    const Type *carried = ir_type(s->k, s->body->args[1]);
    s->rank = carried->rank;
    Ref yielded = s->body->last->operands[0];
    s->update = ref_is_value(yielded) ? ir_value(s->k, yielded)->op : NULL;
    if (!s->update || s->update->parent != s->body || !combine_of(s->update->code) || carried->pointer ||
        s->rank + 1 > MAX_RANK || ty_elements(carried) * BLOCK > MAX_TILE_ELEMENTS)
        return false;
    int side = s->update->operands[0] == s->body->args[1] ? 0 : 1;
    s->e = s->update->operands[1 - side];
    if (s->update->operands[side] != s->body->args[1] || s->e == s->body->args[1]) return false;
    affine_init(&s->analysis, s->k, s->cx->scratch, true);
    int loads = 0;
    for (const Op *op = s->body->first; op != s->body->last; op = op->next) {
        if (op == s->update) continue;
        if (uses(op, s->body->args[1])) return false;
        if (is_column_load(s, op))
            loads++;
        else if (!is_place(s, op) && (!op_has(op->code, TRAIT_ELEMENTWISE) || takes_place(s, op) ||
                                      ir_type(s->k, op->results[0])->rank != s->rank))
            return false;
    }
    return loads > 0;
}

/* A value of the body with the block as a new last dimension; values from outside get an extent of 1 there. */
static Ref widened(Sum *s, Builder *b, RefMap *map, Ref ref) {
    Ref to = refmap_get(map, ref);
    if (!ref_is_value(ref) || to != ref || ir_type(s->k, ref)->rank == 0) return to;
    return ir_expand(b, ref, s->rank);
}

static const Type *block_type(Sum *s, const Type *type) {
    int64_t extent[MAX_RANK];
    for (int d = 0; d < s->rank; d++) extent[d] = type->extent[d];
    extent[s->rank] = BLOCK;
    return ty_tile(s->k->module, type->elem, s->rank + 1, extent);
}

/* Beyond the loop's end a block reads the tensor's fill. That is the sum's neutral 0 already when the loop ends at the
 * tensor's own extent, the fill is 0, and e keeps 0. */
static bool reads_zero_beyond(Sum *s) {
    if (s->update->code != OP_ADD) return false;
    for (const Op *op = s->body->first; op != s->body->last; op = op->next) {
        if (op == s->update || op->code == OP_CAST || op->code == OP_NEG || op->code == OP_ABS) continue;
        if (is_place(s, op)) continue;
        if (op->code != OP_TLOAD || op_attr(op, AT_FILL) || op_list(op, 0).at[s->rank] != s->body->args[0])
            return false;
        const Op *tensor = ir_value(s->k, op->operands[0])->op;
        if (!tensor || tensor->code != OP_TENSOR) return false;
        int64_t extent, end;
        Ref bound = op_list(tensor, 0).at[s->rank], hi = s->loop->operands[1];
        bool same =
            bound == hi || (ir_const_int(s->k, bound, &extent) && ir_const_int(s->k, hi, &end) && extent == end);
        if (!same) return false;
    }
    return true;
}

static double neutral(Word combine) {
    return combine == COMBINE_MIN ? (double)INFINITY : combine == COMBINE_MAX ? -(double)INFINITY : 0;
}

/* e where start + index is below the loop's end, else the neutral value */
static Ref mask_beyond(Sum *s, Builder *in, Ref e, Ref start, Word combine) {
    Ref hi = s->loop->operands[1];
    Ref at = ir_cast(in, ir_iota(in, 0, BLOCK), ir_type(s->k, hi)->elem);
    Ref inside = ir_compare(in, CMP_LT, ir_binary(in, OP_ADD, at, start), hi);
    int64_t extent[MAX_RANK];
    for (int d = 0; d < s->rank; d++) extent[d] = 1;
    extent[s->rank] = BLOCK;
    inside = ir_reshape(in, inside, ty_tile(s->k->module, EL_I1, s->rank + 1, extent));
    Ref other = ir_float(in, ir_type(s->k, e)->elem, neutral(combine));
    return ir_ternary(in, OP_SELECT, inside, e, other);
}

static void rewrite(Sum *s) {
    Kernel *k = s->k;
    Builder b = ir_builder_before(k, s->loop);
    Elem counter = ir_type(k, s->loop->operands[1])->elem;
    Ref hi = s->loop->operands[1];
    Ref blocks = ir_binary(&b, OP_CDIV, hi, ir_int(&b, counter, BLOCK));
    Op *loop = ir_for(&b, s->loop->operands[0], blocks, s->loop->operands[2], &s->loop->operands[3], 1,
                      ir_value(k, s->body->args[0])->name);
    Builder in = ir_builder_inside(&b, loop->regions[0]);
    Ref start = ir_binary(&in, OP_MUL, loop->regions[0]->args[0], ir_int(&in, counter, BLOCK));
    RefMap map = {.arena = s->cx->scratch};
    refmap_set(&map, s->body->args[0], start);
    for (const Op *op = s->body->first; op != s->body->last; op = op->next) {
        if (op == s->update) continue;
        in.range = op->range;
        if (is_place(s, op)) {
            refmap_set(&map, op->results[0], ir_clone(&in, op, &map)->results[0]);
            continue;
        }
        Op *made = ir_begin(&in, op->code);
        const Type *type = block_type(s, ir_type(k, op->results[0]));
        if (op->code == OP_TLOAD) {
            RefList at = op_list(op, 0);
            Ref offsets[MAX_RANK];
            for (int d = 0; d < at.count; d++) offsets[d] = refmap_get(&map, at.at[d]);
            ir_operand(&in, made, op->operands[0]);
            ir_operand_list(&in, made, 0, offsets, at.count);
            ir_operand(&in, made, REF_NONE);
        } else {
            for (int i = 0; i < op->operand_count; i++)
                ir_operand(&in, made, op->operands[i] ? widened(s, &in, &map, op->operands[i]) : REF_NONE);
        }
        for (int i = 0; i < op->attr_count; i++)
            if (op->attrs[i].id != AT_DIMS && op->attrs[i].id != AT_NOCHECK) op_set(k, made, op->attrs[i]);
        bool given = op_info[op->code].result == RES_GIVEN;
        Ref result = ir_end(&in, made, given ? type : NULL);
        ir_name(k, result, ir_value(k, op->results[0])->name);
        refmap_set(&map, op->results[0], result);
    }
    in.range = s->update->range;
    Ref e = refmap_get(&map, s->e);
    Word combine = combine_of(s->update->code);
    if (!reads_zero_beyond(s)) e = mask_beyond(s, &in, e, start, combine);
    Ref part = ir_reduce(&in, combine, e, s->rank);
    Ref next = ir_binary(&in, s->update->code, loop->regions[0]->args[1], part);
    for (int i = 0; i < s->update->attr_count; i++) op_set(k, ir_value(k, next)->op, s->update->attrs[i]);
    ir_yield(&in, &next, 1);
    ir_name(k, loop->results[0], ir_value(k, s->loop->results[0])->name);
    ir_replace_all(k, s->loop->results[0], loop->results[0]);
    ir_remove(s->loop);
    pass_find(s->cx, s->update->range, FIND_RUNNING_BLOCKS, word_info[combine].text, BLOCK);
}

typedef struct Found {
    PassContext *cx;
    Kernel *k;
    bool changed;
} Found;

static void visit(Op *op, void *user) {
    Found *found = user;
    if (op->code != OP_FOR || threads_are_around(op)) return;
    Sum sum = {.cx = found->cx, .k = found->k, .loop = op};
    if (!matches(&sum) || !elem_is_float(ir_type(found->k, sum.e)->elem)) return;
    rewrite(&sum);
    found->changed = true;
}

bool raise_sums(PassContext *cx, Kernel *k) {
    Found found = {cx, k, false};
    ir_walk(k->body, visit, &found);
    return found.changed;
}
