/* SPDX-License-Identifier: Apache-2.0 */
/* strip.c: trips of loops whose tiles are more than a thread can hold, in strips.
 *
 * Contract: ring form in and out, flat kernels of machines with threads; no bit of the result changes. A row of 65536
 * numbers by 128 threads: each holds 512 of a tile, of every tile of the trip, and of 255 registers most lies in
 * memory. What a trip loads, computes element by element and stores needs no more than some of each at a time:
 *
 *     for %i = .. { %x = tload %X, [%at] : f32[65536] ; %y = mul %x, %s ; tstore %Y, [%at], %y }
 *  -> for %i = .. { for %j = 0, 16, 1 { %f = mul %j, 4096 ; .. tload %X, [%at + %f] : f32[4096] .. tstore %Y, .. } }
 *
 * Its scalars stay before the strips. Tiles of rank 1 and one extent, nothing carried from trip to trip, nothing along
 * the axis (a sum has its order). A strip stores before the next one loads: what is stored to is apart from all else
 * that the trip reaches, by what the launch has tested. */
#include "ir/build.h"
#include "ir/ringform.h"
#include "ir/roots.h"
#include "pass/layout/layout.h"
#include "pass/pass.h"

enum { MOST_CLONED = 64, MOST_OPERANDS = 3 }; /* ops from before the loop; of an elementwise op */

typedef struct Strip {
    PassContext *cx;
    Kernel *k;
    const Op *loop;
    int64_t extent; /* of its tiles; 0: none yet */
    int cloned;     /* ops outside of the loop that strips need */
    /* the loop of the strips */
    RefMap map;
    Builder b;
    int64_t piece;
    Ref first; /* index of the strip's first element */
} Strip;

static bool is_tile(const Strip *s, Ref ref) {
    const Type *type = ref ? ir_type(s->k, ref) : NULL;
    return type && type->kind == TY_TILE && type->rank > 0;
}

/* --- which loops --- */
static bool is_made_inside(const Strip *s, Ref ref) { return ir_value(s->k, ref)->op->parent == s->loop->regions[0]; }

/* Is an element of its result made of those of its operands, at the same index? */
static bool is_elementwise(const Op *op) {
    return (op->code == OP_SPLAT || op_has(op->code, TRAIT_ELEMENTWISE)) && op->result_count == 1 &&
           op->operand_count <= MOST_OPERANDS;
}

/* A tile of the loop's extent that the loop makes, or that strips can make for themselves. */
static bool can_have(Strip *s, Ref ref) {
    const Type *type = ir_type(s->k, ref);
    const Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    if (!s->extent) s->extent = type->rank == 1 ? type->extent[0] : 0;
    if (!op || type->rank != 1 || type->extent[0] != s->extent) return false;
    if (is_made_inside(s, ref)) return true;
    if (++s->cloned > MOST_CLONED || op->region_count) return false;
    if (op->code == OP_IOTA) return true;
    if (!is_elementwise(op)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (is_tile(s, op->operands[i]) && !can_have(s, op->operands[i])) return false;
    return true;
}

static bool is_box(const Op *op) { return op->code == OP_TLOAD || op->code == OP_TSTORE; }

static bool can_be_cut(Strip *s, const Op *op) {
    bool tiles = false;
    if (op->region_count) return false;
    for (int i = 0; i < op->result_count + op->operand_count; i++) {
        Ref ref = i < op->result_count ? op->results[i] : op->operands[i - op->result_count];
        if (!is_tile(s, ref)) continue;
        if (!can_have(s, ref)) return false;
        tiles = true;
    }
    if (op->code == OP_LOAD && op_flag(op, AT_VOLATILE)) return false;
    if (!tiles) return op_has(op->code, TRAIT_PURE) || op->code == OP_LOAD || op->code == OP_TLOAD;
    if (is_box(op)) {
        RefList offsets = op_list(op, 0);
        for (int d = 0; d < offsets.count; d++)
            if (is_tile(s, offsets.at[d])) return false;
        return !op_attr(op, AT_RUN) && !op_attr(op, AT_NEAR) && !op_attr(op, AT_WRAP) && !op_attr(op, AT_ALIGN);
    }
    return op->code == OP_IOTA || op->code == OP_LOAD || is_elementwise(op);
}

static bool reaches_memory(const Op *op) { return op->code == OP_LOAD || is_box(op); }

/* Is what the loop stores to apart from all else that it reaches? */
static bool stores_apart(const Strip *s) {
    const Region *body = s->loop->regions[0];
    bool stores = false;
    for (const Op *op = body->first; op; op = op->next) {
        if (op->code != OP_TSTORE) continue;
        int to = roots_only(s->k, s->cx->scratch, op->operands[0]);
        if (to < 0) return false;
        stores = true;
        for (const Op *other = body->first; other; other = other->next) {
            if (other == op || !reaches_memory(other)) continue;
            int from = roots_only(s->k, s->cx->scratch, other->operands[0]);
            if (from < 0 || from == to || !roots_promised_apart(s->k, s->cx->scratch, from, to)) return false;
        }
    }
    return stores;
}

static bool can_be_stripped(Strip *s) {
    const Region *body = s->loop->regions[0];
    if (body->last->operand_count) return false;
    for (const Op *op = body->first; op != body->last; op = op->next)
        if (!can_be_cut(s, op)) return false;
    const Machine *machine = s->cx->machine;
    int64_t threads = (int64_t)layout_warps(s->cx, s->k) * machine->lanes;
    s->piece = threads * machine->cost.strip;
    return s->extent / threads >= machine->cost.strip_from && s->extent % s->piece == 0 && stores_apart(s);
}

/* --- the strips --- */
static Ref cut(Strip *s, Ref ref);

static const Type *shorter(const Strip *s, const Type *type) { return ty_with_shape(s->k->module, type, 1, &s->piece); }

/* Where the strip begins along the dimensions of a box that the tile has. */
static void cut_offsets(Strip *s, const Op *op, int rank, Ref *offsets) {
    RefList old = op_list(op, 0);
    for (int d = 0; d < old.count; d++) {
        offsets[d] = old.at[d];
        if (box_axis(op, old.count, rank, d) < 0) continue;
        offsets[d] = ir_binary_as(&s->b, OP_ADD, old.at[d], s->first, EL_I64);
    }
}

static Ref cut_op(Strip *s, const Op *op) {
    Builder *b = &s->b;
    Ref offsets[MAX_RANK];
    b->range = op->range;
    if (op->code == OP_IOTA) {
        int64_t begin = op_int(op, AT_BEGIN, 0);
        return ir_binary(b, OP_ADD, s->first, ir_iota(b, begin, begin + s->piece));
    }
    if (is_box(op)) cut_offsets(s, op, 1, offsets);
    if (op->code == OP_TSTORE) {
        Ref value = cut(s, op_operand(op, 1)), mask = cut(s, op_operand(op, 2));
        Op *store = ir_tstore(b, op->operands[0], offsets, value, mask);
        for (int i = 0; i < op->attr_count; i++) op_set(s->k, store, op->attrs[i]);
        return REF_NONE;
    }
    const Type *type = shorter(s, ir_type(s->k, op->results[0]));
    if (op->code == OP_TLOAD) {
        Ref made = ir_tload(b, op->operands[0], offsets, cut(s, op_operand(op, 1)), type);
        for (int i = 0; i < op->attr_count; i++) op_set(s->k, ir_value(s->k, made)->op, op->attrs[i]);
        return made;
    }
    Ref operands[MOST_OPERANDS];
    for (int i = 0; i < op->operand_count; i++) operands[i] = cut(s, op->operands[i]);
    b->range = op->range;
    Op *made = ir_begin(b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(b, made, operands[i]);
    for (int i = 0; i < op->attr_count; i++) op_set(s->k, made, op->attrs[i]);
    return ir_end(b, made, op_info[op->code].result == RES_GIVEN ? type : NULL);
}

/* The strip of a value, made where it is first asked for; scalars are their own. */
static Ref cut(Strip *s, Ref ref) {
    if (!is_tile(s, ref)) return ref;
    Ref made = refmap_get(&s->map, ref);
    if (made != ref) return made;
    made = cut_op(s, ir_value(s->k, ref)->op);
    ir_name(s->k, made, ir_value(s->k, ref)->name);
    refmap_set(&s->map, ref, made);
    return made;
}

static bool has_tiles(const Strip *s, const Op *op) {
    if (op->code == OP_TSTORE) return is_tile(s, op_operand(op, 1));
    return op->result_count == 1 && is_tile(s, op->results[0]);
}

static void strip(Strip *s) {
    Region *body = s->loop->regions[0];
    s->b = ir_builder_before(s->k, body->last);
    Ref count = ir_int(&s->b, EL_I32, s->extent / s->piece);
    Op *strips = ir_for(&s->b, ir_int(&s->b, EL_I32, 0), count, ir_int(&s->b, EL_I32, 1), NULL, 0, "strip");
    op_set(s->k, strips, (Attr){.id = AT_UNROLL, .number = 1});
    s->b = ir_builder_inside(&s->b, strips->regions[0]);
    s->first = ir_binary(&s->b, OP_MUL, strips->regions[0]->args[0], ir_int(&s->b, EL_I32, s->piece));
    for (Op *op = body->first; op != strips; op = op->next) {
        if (op->code == OP_TSTORE)
            cut_op(s, op);
        else if (has_tiles(s, op))
            cut(s, op->results[0]);
    }
    ir_yield(&s->b, NULL, 0);
    for (Op *op = strips->previous, *before; op; op = before) {
        before = op->previous;
        if (has_tiles(s, op)) ir_remove(op);
    }
    pass_find(s->cx, s->loop->range, FIND_LOOP_STRIPS, (long long)(s->extent / s->piece), (long long)s->piece);
}

bool pass_strip(PassContext *cx, Kernel *k) {
    bool changed = false;
    if (!cx->machine->cost.strip || tasks_of(k)) return false;
    FoundOps loops = ir_list(k->body, OP_FOR, cx->scratch);
    for (size_t i = 0; i < loops.count; i++) {
        Strip s = {.cx = cx, .k = k, .loop = loops.at[i], .map = {.arena = cx->scratch}};
        if (!can_be_stripped(&s)) continue;
        strip(&s);
        changed = true;
    }
    return changed;
}
