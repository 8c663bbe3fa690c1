/* SPDX-License-Identifier: Apache-2.0 */
/* triton_region.c: builtins that run a jit function of the user on single elements: reduce,
 * associative_scan and map_elementwise.
 *
 * The function is run once, on scalars, inside the region of the op:
 *
 *     tl.reduce(x, 0, add)   reduce<region, axis=0> %x (%a: f32, %b: f32) { %s = add %a, %b ; yield %s }
 *
 * A region that is one named combination (a + b, max, ..) becomes that name, so that targets see
 * it. A mapped function without control flow is run on whole tiles instead: then it is nothing
 * special.
 *
 * Assertions inside such a function are left out: it may run on any grouping of the elements. */
#include "front/triton/triton.h"

#include <string.h>

static bool collect_tiles(Lower *l, const Call *c, Val input, TriTiles *tiles) {
    *tiles = (TriTiles){.single = input.kind != VAL_TUPLE};
    if (tiles->single) input = (Val){.kind = VAL_TUPLE, .items = &c->args[0], .count = 1};
    tiles->count = input.count;
    bool good = input.count >= 1 && input.count <= 16;
    for (int i = 0; i < input.count && good; i++) {
        Val v = input.items[i];
        good = v.kind == VAL_TENSOR && !val_type(l, v)->pointer;
        tiles->v[i] = v;
    }
    if (!good) {
        py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[0], py_title(l, c->builtin),
                 "a tensor of numbers, or a tuple of at most 16", val_describe(l, c->args[0]));
        return false;
    }
    const Type *first = val_type(l, tiles->v[0]);
    for (int i = 1; i < tiles->count; i++) {
        const Type *type = val_type(l, tiles->v[i]);
        if (ty_with_elem(l->module, type, first->elem) != first) {
            py_error(l, DIAG_TRI_SHAPES, c->ranges[0], val_type_text(l, first), val_type_text(l, type));
            return false;
        }
    }
    return true;
}

static Val give_tiles(Lower *l, const TriTiles *tiles) {
    return tiles->single ? tiles->v[0] : val_tuple(l, tiles->v, tiles->count);
}

static bool used_after(const Op *op) {
    for (const Op *after = op->next; after; after = after->next)
        for (int i = 0; i < op->result_count; i++)
            if (ir_op_uses(after, op->results[i])) return true;
    return false;
}

/* Tiles that nothing comes of: `(x + tl.zeros((1,), tl.int1)).dtype` asks for the type of a number that way. */
static void drop_unused_tiles(Lower *l, Region *region) {
    for (Op *op = region->last, *before; op; op = before) {
        before = op->previous;
        for (int i = 0; i < op->region_count; i++) drop_unused_tiles(l, op->regions[i]);
        bool tile = false;
        for (int i = 0; i < op->result_count; i++) tile |= !ty_is_scalar(val_ref_type(l, op->results[i]));
        if (tile && op_has(op->code, TRAIT_PURE) && !used_after(op)) ir_remove(op);
    }
}

/* Scalars in, scalars out, nothing else. */
static bool only_computes(Lower *l, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->result_count; i++)
            if (!ty_is_scalar(val_ref_type(l, op->results[i]))) return false;
        if (op_has(op->code, TRAIT_READS) || op_has(op->code, TRAIT_WRITES) || op_has(op->code, TRAIT_SYNC))
            return false;
        for (int i = 0; i < op->region_count; i++)
            if (!only_computes(l, op->regions[i])) return false;
    }
    return true;
}

/* Runs the function inside a new region of the op, on one argument an element of types; what it
 * returns is yielded and counted. -1 after a mistake. */
static int fill_region(Lower *l, const Call *c, Op *op, Val function, Range where, const Type *const *types, int count,
                       bool *single) {
    Region *region = ir_region(&l->b, op);
    Val *args = ARENA_ARRAY(l->arena, Val, count);
    for (int i = 0; i < count; i++) args[i] = val_tensor(ir_argument(l->kernel, region, types[i], NULL));
    Builder outer = l->b;
    l->b = ir_builder_inside(&outer, region);
    tri_state(l)->regions++;
    Val result = py_apply(l, function, args, count, where);
    tri_state(l)->regions--;
    Refs refs = {0};
    bool good = !val_failed(result);
    Val one = result;
    *single = result.kind != VAL_TUPLE;
    if (*single) result = (Val){.kind = VAL_TUPLE, .items = &one, .count = 1};
    for (int i = 0; i < result.count && good; i++) {
        Val v = result.items[i];
        good = v.kind == VAL_TENSOR || val_is_number(v);
        v = good ? tri_to_tensor(l, v, where) : v;
        good = good && !val_failed(v) && val_type(l, v)->rank == 0 && !val_type(l, v)->pointer;
        if (good)
            *VEC_PUSH(&refs, l->arena) = v.ref;
        else
            py_error(l, DIAG_TRI_REGION_RESULT, where, c->builtin->name, val_describe(l, v));
    }
    if (good) ir_yield(&l->b, refs.at, (int)refs.count);
    l->b = outer;
    drop_unused_tiles(l, region);
    if (good && !only_computes(l, region)) {
        py_error(l, DIAG_TRI_REGION_PURE, where, c->builtin->name);
        good = false;
    }
    return good ? (int)refs.count : -1;
}

/* Is the region one combination that has a name? */
static Word named_combination(const Op *op) {
    static const struct {
        Opcode code;
        Word word;
    } names[] = {{OP_ADD, COMBINE_ADD}, {OP_MUL, COMBINE_MUL}, {OP_MIN, COMBINE_MIN}, {OP_MAX, COMBINE_MAX},
                 {OP_AND, COMBINE_AND}, {OP_OR, COMBINE_OR},   {OP_XOR, COMBINE_XOR}};
    const Region *region = op->regions[0];
    const Op *only = region->first, *end = region->last;
    if (op->operand_count != 1 || !only || only->next != end || only->operand_count != 2 ||
        end->operands[0] != only->results[0] || only->attr_count)
        return COMBINE_REGION;
    bool both = (only->operands[0] == region->args[0] && only->operands[1] == region->args[1]) ||
                (only->operands[0] == region->args[1] && only->operands[1] == region->args[0]);
    for (size_t i = 0; both && i < sizeof names / sizeof *names; i++)
        if (names[i].code == only->code) return names[i].word;
    return COMBINE_REGION;
}

/* The op with the function's region; its results replace the tiles. */
static bool combine_tiles(Lower *l, const Call *c, Opcode code, TriTiles *tiles, int axis, Val function, Range where,
                          bool reverse) {
    const Type *types[32];
    Op *op = ir_begin(&l->b, code);
    for (int i = 0; i < tiles->count; i++) {
        types[i] = types[tiles->count + i] = ty_scalar(l->module, val_type(l, tiles->v[i])->elem);
        ir_operand(&l->b, op, tiles->v[i].ref);
    }
    bool single;
    int count = fill_region(l, c, op, function, where, types, 2 * tiles->count, &single);
    if (count < 0) return false;
    const Op *end = op->regions[0]->last;
    for (int i = 0; i < tiles->count && count == tiles->count; i++)
        if (val_ref_type(l, end->operands[i]) != types[i]) {
            py_error(l, DIAG_TRI_COMBINE_TYPE, where, c->builtin->name, val_type_text(l, types[i]),
                     val_type_text(l, val_ref_type(l, end->operands[i])));
            return false;
        }
    if (count != tiles->count) {
        py_error(l, DIAG_TRI_COMBINE_COUNT, where, c->builtin->name, tiles->count, count);
        return false;
    }
    Word word = named_combination(op);
    if (word != COMBINE_REGION) op->region_count = 0;
    op_set(l->kernel, op, (Attr){.id = AT_COMBINE, .word = word});
    op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = axis});
    if (reverse) op_set(l->kernel, op, (Attr){.id = AT_REVERSE, .number = 1});
    ir_end(&l->b, op, NULL);
    for (int i = 0; i < tiles->count; i++) tiles->v[i] = val_tensor(op->results[i]);
    return true;
}

Val tri_lower_reduce(Lower *l, const Call *c) {
    TriTiles tiles;
    bool keep, all = c->args[1].kind == VAL_NONE;
    int axis = 0;
    if (!collect_tiles(l, c, c->args[0], &tiles) || !py_want_bool(l, c, 3, &keep)) return val_error;
    const Type *type = val_type(l, tiles.v[0]);
    int rank = type->rank;
    if (rank == 0) return give_tiles(l, &tiles);
    if (!all && !tri_want_axis(l, c, 1, rank, &axis)) return val_error;
    int64_t elements = ty_elements(type);
    for (int i = 0; i < tiles.count && all && rank > 1; i++)
        tiles.v[i] = tri_reshape(l, tiles.v[i], 1, &elements, c->range);
    if (!combine_tiles(l, c, OP_REDUCE, &tiles, axis, c->args[2], c->ranges[2], false)) return val_error;
    for (int i = 0; i < tiles.count && keep; i++)
        for (int d = 0; d < (all ? rank : 1); d++)
            tiles.v[i] = val_tensor(ir_expand(&l->b, tiles.v[i].ref, all ? 0 : axis));
    return give_tiles(l, &tiles);
}

Val tri_lower_scan(Lower *l, const Call *c) {
    TriTiles tiles;
    bool reverse;
    int axis;
    if (!collect_tiles(l, c, c->args[0], &tiles) || !py_want_bool(l, c, 3, &reverse)) return val_error;
    if (!tri_want_axis(l, c, 1, val_type(l, tiles.v[0])->rank, &axis)) return val_error;
    if (!combine_tiles(l, c, OP_SCAN, &tiles, axis, c->args[2], c->ranges[2], reverse)) return val_error;
    return give_tiles(l, &tiles);
}

/* --- map_elementwise --- */

static bool is_elementwise(const Region *region) {
    for (const Op *op = region->first; op != region->last; op = op->next)
        if (!op_has(op->code, TRAIT_ELEMENTWISE) || op->region_count) return false;
    return true;
}

/* TriTiles of n elements become `pack` tiles each, of every pack-th element, and back. */
void tri_tiles_unpack(Lower *l, TriTiles *tiles, int pack, int64_t n, Range range) {
    TriTiles out = {.count = tiles->count * pack};
    for (int i = 0; i < tiles->count; i++) {
        Val whole = tri_reshape(l, tiles->v[i], 2, (int64_t[]){n / pack, pack}, range);
        for (int k = 0; k < pack; k++) {
            Val part = tri_slice(l, whole, 1, k, 1);
            out.v[i * pack + k] = tri_reshape(l, part, 1, (int64_t[]){n / pack}, range);
        }
    }
    *tiles = out;
}

void tri_tiles_pack(Lower *l, TriTiles *tiles, int pack, const Type *shape, Range range) {
    for (int i = 0; i < tiles->count / pack; i++) {
        Op *op = ir_begin(&l->b, OP_CAT);
        for (int k = 0; k < pack; k++) ir_operand(&l->b, op, ir_expand(&l->b, tiles->v[i * pack + k].ref, 1));
        op_set(l->kernel, op, (Attr){.id = AT_AXIS, .number = 1});
        tiles->v[i] = tri_reshape(l, val_tensor(ir_end(&l->b, op, NULL)), shape->rank, shape->extent, range);
    }
    tiles->count /= pack;
}

/* All arguments at their common shape. */
bool tri_tiles_broadcast(Lower *l, const Call *c, TriTiles *tiles) {
    for (int i = 0; i < tiles->count; i++)
        for (int k = 0; k < tiles->count; k++)
            if (i != k && !tri_align(l, &tiles->v[i], &tiles->v[k], c->range)) return false;
    const Type *shape = val_type(l, tiles->v[0]);
    for (int i = 1; i < tiles->count; i++) shape = ty_broadcast(l->module, shape, val_type(l, tiles->v[i]));
    for (int i = 0; i < tiles->count; i++)
        tiles->v[i] = tri_broadcast_to(l, tiles->v[i], shape->rank, shape->extent, c->range);
    return true;
}

/* What the function gives on the tiles themselves. */
static Val map_tiles(Lower *l, const Call *c, const TriTiles *tiles, const Type *shape) {
    Val result = py_apply(l, c->args[0], tiles->v, tiles->count, c->ranges[0]);
    if (val_failed(result)) return result;
    bool tuple = result.kind == VAL_TUPLE;
    Val *items = ARENA_ARRAY(l->arena, Val, tuple ? result.count : 1);
    for (int i = 0; i < (tuple ? result.count : 1); i++) {
        items[i] = tri_to_tensor(l, tuple ? result.items[i] : result, c->range);
        items[i] = tri_broadcast_to(l, items[i], shape->rank, shape->extent, c->range);
    }
    return tuple ? val_tuple(l, items, result.count) : items[0];
}

Val tri_lower_map(Lower *l, const Call *c) {
    Val args = c->args[1];
    int64_t pack;
    TriTiles tiles = {.count = args.count};
    if (!py_want_int(l, c, 2, &pack)) return val_error;
    if (args.count < 1 || pack < 1 || args.count * pack > MAX_MAP_OPERANDS)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->range, py_title(l, c->builtin), "1 to 64 tensors, packs counted",
                        val_describe(l, args));
    for (int i = 0; i < args.count; i++) {
        Call one = {c->builtin, c->range, &args.items[i], &c->ranges[1]};
        if (!tri_want_tensor(l, &one, 0, &tiles.v[i])) return val_error;
        if (val_type(l, tiles.v[i])->pointer)
            return py_error(l, DIAG_EVAL_OPERAND, c->ranges[1], c->builtin->name, val_describe(l, tiles.v[i]), "");
    }
    if (!tri_tiles_broadcast(l, c, &tiles)) return val_error;
    const Type *shape = val_type(l, tiles.v[0]), *types[MAX_MAP_OPERANDS];
    int64_t elements = ty_elements(shape);
    if (shape->rank == 0) return py_apply(l, c->args[0], tiles.v, tiles.count, c->ranges[0]);
    if (elements % pack)
        return py_error(l, DIAG_EVAL_ARGUMENT, c->ranges[2], py_title(l, c->builtin),
                        "a pack that divides the number of elements", val_describe(l, c->args[2]));
    if (pack > 1) tri_tiles_unpack(l, &tiles, (int)pack, elements, c->range);
    Op *op = ir_begin(&l->b, OP_MAP);
    for (int i = 0; i < tiles.count; i++) {
        types[i] = ty_scalar(l->module, val_type(l, tiles.v[i])->elem);
        ir_operand(&l->b, op, tiles.v[i].ref);
    }
    bool single;
    int count = fill_region(l, c, op, c->args[0], c->ranges[0], types, tiles.count, &single);
    if (count < 0) return val_error;
    if (count == 0 || count % pack || count > MAX_MAP_RESULTS)
        return py_error(l, DIAG_TRI_COMBINE_COUNT, c->ranges[0], c->builtin->name, (int)pack, count);
    if (pack == 1 && is_elementwise(op->regions[0])) return map_tiles(l, c, &tiles, shape);
    ir_end(&l->b, op, NULL);
    TriTiles out = {.count = count};
    for (int i = 0; i < count; i++) out.v[i] = val_tensor(op->results[i]);
    if (pack > 1) tri_tiles_pack(l, &out, (int)pack, shape, c->range);
    return single ? out.v[0] : val_tuple(l, out.v, out.count);
}
