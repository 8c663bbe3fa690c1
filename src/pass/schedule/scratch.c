/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.c: see scratch.h. */
#include "pass/schedule/scratch.h"

static bool is_tile(const Kernel *k, Ref ref) {
    return ref_is_value(ref) && ir_type(k, ref)->kind == TY_TILE && ir_type(k, ref)->rank > 0;
}

static const LinearLayout *map_of(const Kernel *k, Ref tile) { return &ir_value(k, tile)->layout->map; }

static bool is_power(int64_t n) { return !(n & (n - 1)); }

static bool all_powers(const Type *type) {
    for (int d = 0; d < type->rank; d++)
        if (!is_power(type->extent[d])) return false;
    return true;
}

/* --- whole tiles --- */
static int64_t round_up(int64_t bytes, int64_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

int64_t stage_bytes(const Type *type) { return round_up(ty_elements(type) * ty_elem_bytes(type), WIDEST_PANEL); }

int64_t scatter_tile(const Kernel *k, const Op *op) {
    return op_attr(op, AT_COMBINE) ? 0 : stage_bytes(ir_type(k, op->operands[0]));
}

int64_t scatter_owners(const Kernel *k, const Op *op) {
    return op_flag(op, AT_UNIQUE) && !op_attr(op, AT_COMBINE) ? 0 : 4 * ty_elements(ir_type(k, op->operands[0]));
}

/* The operands are registers of the result's threads, one after the other. */
bool cat_stays(const Kernel *k, const Op *cat) {
    int axis = (int)op_int(cat, AT_AXIS, 0), count = cat->operand_count;
    const Type *first = ir_type(k, cat->operands[0]);
    if (!is_power(count) || !all_powers(first)) return false;
    for (int i = 1; i < count; i++)
        if (ir_type(k, cat->operands[i])->extent[axis] != first->extent[axis]) return false;
    LinearLayout wide = ll_widen(map_of(k, cat->operands[0]), axis, ll_log2(count));
    return ll_equal(&wide, map_of(k, cat->results[0]));
}

bool slice_stays(const Kernel *k, const Op *slice, uint32_t *first) {
    const LinearLayout *whole = map_of(k, slice->operands[0]);
    const Type *from = ir_type(k, slice->operands[0]), *part = ir_type(k, slice->results[0]);
    LinearLayout cut;
    *first = 0;
    for (int d = 0; d < part->rank; d++) {
        int64_t at, n = part->extent[d];
        bool odd = !is_power(n) || !is_power(from->extent[d]);
        if (odd || !ir_const_int(k, op_list(slice, 0).at[d], &at) || at % n || at < 0 || at > from->extent[d] - n)
            return false;
        *first |= (uint32_t)at << ll_shift(whole, d);
    }
    return ll_cut(whole, part->extent, &cut) && ll_equal(&cut, map_of(k, slice->results[0]));
}

bool flip_stays(const Kernel *k, const Op *flip, LayoutPlace *place) {
    const Layout *layout = ir_value(k, flip->operands[0])->layout;
    int axis = (int)op_int(flip, AT_AXIS, 0);
    int64_t n = ir_type(k, flip->operands[0])->extent[axis];
    return is_power(n) && ll_find(&layout->map, (uint32_t)(n - 1) << ll_shift(&layout->map, axis), place) &&
           !place->at[LL_WARP] && layout->registers == 1 << layout->map.count[LL_REGISTER];
}

bool reshape_stays(const Kernel *k, const Op *reshape) {
    Ref from = reshape->operands[0], to = reshape->results[0];
    return !is_tile(k, from) || !is_tile(k, to) || (all_powers(ir_type(k, from)) && all_powers(ir_type(k, to)));
}

/* --- tiles that are numbers --- */
static bool is_number(const Kernel *k, Ref ref, int *left) {
    if (!ref_is_value(ref) || !ir_type(k, ref)->rank) return true;
    const Op *op = ir_value(k, ref)->op;
    if (!op || op->code == OP_IOTA || --*left < 0) return false;
    switch (op->code) {
    case OP_SPLAT:
    case OP_UNDEF: return true;
    case OP_EXPAND:
    case OP_PERMUTE:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_CONVERT: return is_number(k, op->operands[0], left);
    case OP_RESHAPE: return reshape_stays(k, op) && is_number(k, op->operands[0], left);
    default: break;
    }
    for (int i = 0; i < op->operand_count; i++)
        if (!is_number(k, op->operands[i], left)) return false;
    return op_has(op->code, TRAIT_ELEMENTWISE);
}

/* What a number is made of is found to be numbers too: there are fewer ops to look at. */
bool tile_is_number(const Kernel *k, Ref ref) {
    enum { MOST_STEPS = 256 };
    return is_number(k, ref, &(int){MOST_STEPS});
}

/* --- conversions --- */
static int64_t whole_convert(const Kernel *k, const Op *op) {
    const Layout *to = ir_value(k, op->results[0])->layout;
    if (to->home == HOME_SHARED || op_word(op, AT_VIA, WORD_NONE) != VIA_SHARED) return 0;
    return (int64_t)convert_bytes(ir_type(k, op->results[0])) << ll_index_bits(&to->map);
}

int64_t convert_most_pieces(const Kernel *k, const Op *convert) {
    int64_t pieces = whole_convert(k, convert) / LEAST_PIECE;
    return pieces > 1 ? pieces : 1;
}

LinearLayout convert_through(const Kernel *k, const Op *convert) {
    const LinearLayout *from = map_of(k, convert->operands[0]);
    const Attr *swizzle = op_attr(convert, AT_SWIZZLE);
    LinearLayout via = {.rank = from->rank};
    for (int d = 0; d < from->rank; d++) via.log2[d] = from->log2[d];
    for (int i = 0; i < swizzle->list.count; i++) ll_push(&via, LL_OFFSET, (uint32_t)swizzle->list.at[i]);
    return via;
}

static int64_t convert_scratch(const Kernel *k, const Op *op) {
    return whole_convert(k, op) / op_int(op, AT_PIECES, 1);
}

/* --- along an axis --- */
bool axis_find_bit(const LinearLayout *map, int axis, int bit, LayoutInput *input, int *at) {
    uint32_t wanted = (uint32_t)1 << (ll_shift(map, axis) + bit);
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < map->count[in]; i++)
            if (map->basis[in][i] == wanted) {
                *input = (LayoutInput)in;
                *at = i;
                return true;
            }
    return false;
}

int axis_order(const Op *reduce, const LinearLayout *map, int axis, int *order) {
    const Attr *stamp = op_attr(reduce, AT_BITS);
    int bits = map->log2[axis], count = 0;
    uint32_t seen = 0;
    for (int i = 0; stamp && i < stamp->list.count; i++)
        if (stamp->list.at[i] >= 0 && stamp->list.at[i] < bits && !(seen >> stamp->list.at[i] & 1)) {
            order[count++] = (int)stamp->list.at[i];
            seen |= 1u << stamp->list.at[i];
        }
    for (int in = LL_REGISTER; in <= LL_WARP; in++)
        for (int bit = 0; bit < bits; bit++) {
            LayoutInput input;
            int at;
            if (!(seen >> bit & 1) && axis_find_bit(map, axis, bit, &input, &at) && (int)input == in)
                order[count++] = bit;
        }
    return count;
}

int axis_slot_bytes(const Type *type) {
    int bytes = ty_elem_bytes(type);
    return elem_is_float(type->elem) && bytes < 4 ? 4 : bytes;
}

bool reduce_is_index(const Op *reduce) {
    Word kind = op_word(reduce, AT_COMBINE, COMBINE_ADD);
    return kind == COMBINE_ARGMIN || kind == COMBINE_ARGMAX;
}

int reduce_slot_bytes(const Kernel *k, const Op *reduce) {
    int bytes = axis_slot_bytes(ir_type(k, reduce->operands[0]));
    return reduce_is_index(reduce) && bytes < 4 ? 4 : bytes;
}

bool reduce_lanes_agree(const LinearLayout *map, uint32_t lanes) {
    for (int i = 0; i < map->count[LL_LANE]; i++)
        if (map->basis[LL_LANE][i] && !(lanes >> i & 1)) return false;
    return true;
}

int64_t reduce_array_bytes(const LinearLayout *map, uint32_t lanes, int bytes, int warps, int alive) {
    int64_t warp = reduce_lanes_agree(map, lanes) ? bytes : bytes << map->count[LL_LANE];
    return round_up(warp * warps << alive, SCRATCH_ALIGN);
}

/* Registers, as 2 to the power, whose bits in `gone` are all alike. */
static int alive_bits(const LinearLayout *map, uint32_t gone) {
    return map->count[LL_REGISTER] - __builtin_popcount(gone);
}

static int64_t larger(int64_t x, int64_t y) { return x > y ? x : y; }

static int64_t reduce_scratch(const Kernel *k, const Op *op, int warps) {
    const LinearLayout *map = map_of(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0), order[LL_MAX_BITS], count = axis_order(op, map, axis, order);
    uint32_t done = 0, lanes = 0;
    int64_t need = 0;
    for (int i = 0; i < count; i++) {
        LayoutInput input;
        int bit;
        if (!axis_find_bit(map, axis, order[i], &input, &bit)) continue;
        if (input == LL_REGISTER) done |= 1u << bit;
        if (input == LL_LANE) lanes |= 1u << bit;
        if (input != LL_WARP) continue;
        int alive = alive_bits(map, done);
        int64_t bytes = reduce_array_bytes(map, lanes, reduce_slot_bytes(k, op), warps, alive);
        need = larger(need, bytes + (reduce_is_index(op) ? reduce_array_bytes(map, lanes, 4, warps, alive) : 0));
    }
    return need;
}

/* Scans, and reductions by a region over a tuple: a plane a tuple element and register. */
static int64_t tuple_scratch(const Kernel *k, const Op *op, int warps) {
    const LinearLayout *map = map_of(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0), bits = map->log2[axis];
    const Attr *stamp = op->code == OP_REDUCE ? op_attr(op, AT_BITS) : NULL;
    bool stamped = stamp && stamp->list.count == bits, across = false;
    uint32_t done = 0;
    int64_t need = 0, planes = 0;
    for (int i = 0; i < op->operand_count; i++)
        planes += ((int64_t)warps << map->count[LL_LANE]) * axis_slot_bytes(ir_type(k, op->operands[i]));
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        int at;
        if (!ll_find_bit(map, axis, stamped ? (int)stamp->list.at[i] : i, &input, &at))
            ice(k->module->trap, "schedule: a bit of the axis is nowhere");
        /* A scan takes from the last element before, which may be another warp's from there on. */
        across = input == LL_WARP || (across && op->code == OP_SCAN);
        if (across) need = larger(need, planes << alive_bits(map, done));
        if (input == LL_REGISTER) done |= 1u << at;
    }
    return need;
}

static int64_t sort_scratch(const Kernel *k, const Op *op, int warps) {
    const LinearLayout *map = map_of(k, op->operands[0]);
    int axis = (int)op_int(op, AT_AXIS, 0), bytes = elem_info[ir_type(k, op->operands[0])->elem].bits == 64 ? 8 : 4;
    for (int bit = 0; bit < map->log2[axis]; bit++) {
        LayoutInput input;
        int at;
        if (ll_find_bit(map, axis, bit, &input, &at) && input == LL_WARP)
            return ((int64_t)warps * bytes) << (map->count[LL_LANE] + map->count[LL_REGISTER]);
    }
    return 0;
}

/* What one thread found in memory, for the threads that hold copies of its place. */
static int64_t atomic_scratch(const Kernel *k, const Op *op, int warps) {
    if (!is_tile(k, op->results[0])) return SCRATCH_ALIGN;
    const Layout *layout = ir_value(k, op->results[0])->layout;
    if (!ll_free(&layout->map).at[LL_WARP]) return 0;
    return ((int64_t)layout->registers * warps << layout->map.count[LL_LANE]) *
           ty_elem_bytes(ir_type(k, op->results[0]));
}

int64_t scratch_bytes(const Kernel *k, const Op *op, int warps, bool used) {
    LayoutPlace place;
    uint32_t first;
    switch (op->code) {
    case OP_REDUCE: return op->region_count ? tuple_scratch(k, op, warps) : reduce_scratch(k, op, warps);
    case OP_SCAN: return tuple_scratch(k, op, warps);
    case OP_SORT: return sort_scratch(k, op, warps);
    case OP_HISTOGRAM: return 4 * op_int(op, AT_BINS, 0);
    case OP_LOAD:
        if (!op_flag(op, AT_VOLATILE)) return 0;
        /* fall through */
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: return used ? atomic_scratch(k, op, warps) : 0;
    case OP_CONVERT: return convert_scratch(k, op);
    case OP_RESHAPE: return reshape_stays(k, op) ? 0 : stage_bytes(ir_type(k, op->operands[0]));
    case OP_CAT: return cat_stays(k, op) ? 0 : stage_bytes(ir_type(k, op->results[0]));
    case OP_SLICE: return slice_stays(k, op, &first) ? 0 : stage_bytes(ir_type(k, op->operands[0]));
    case OP_FLIP: return flip_stays(k, op, &place) ? 0 : stage_bytes(ir_type(k, op->operands[0]));
    case OP_GATHER: return stage_bytes(ir_type(k, op->operands[0]));
    case OP_SCATTER: return scatter_tile(k, op) + scatter_owners(k, op);
    case OP_TENSOR: return op_flag(op, AT_MADE) ? MADE_BYTES : 0;
    case OP_FOR: return op_int(op, AT_BYTES, 0);
    case OP_INSERT: return is_tile(k, op_operand(op, 1)) ? stage_bytes(ir_type(k, op_operand(op, 1))) : 0;
    default: return 0;
    }
}
