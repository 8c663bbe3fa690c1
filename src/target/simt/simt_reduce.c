/* SPDX-License-Identifier: Apache-2.0 */
/* simt_reduce.c: reductions in the order of their stamp.
 *
 * The stamp lists the bits of the axis index in the order in which they are combined; where a bit
 * lives in the layout says how: registers by an unrolled tree, lanes by a butterfly of shuffles,
 * warps through shared memory, one value a lane, or one a warp if its lanes are combined. So the
 * result does not depend on how many warps there are, and every thread that holds a place of the
 * result ends up with the same bits.
 *
 *     f32[1024], order [0,1,9,8,7,2,3,4,5,6], 4 warps: registers 1, 2, 512; warps 256, 128; lanes 4, 8, 16, 32, 64 */
#include "target/simt/simt.h"

#include <string.h>

typedef struct Reduce {
    Emit *e;
    const Op *op;
    int axis;
    const Type *type;     /* of the operand */
    const Layout *layout; /* of the operand */
    Word kind;
    bool index; /* argmin, argmax: a second array of indices */
    bool keyed; /* their values are keys by now (tw_rank), the largest is the best */
    const char *values, *indices;
    bool scalar;          /* values is one variable, no array */
    uint32_t done, lanes; /* bits of registers and lanes combined so far */
    int order[LL_MAX_BITS], count;
    bool begun; /* its scratch is in use */
} Reduce;

static bool find_bit(const Reduce *r, int bit, LayoutInput *input, int *at) {
    return axis_find_bit(&r->layout->map, r->axis, bit, input, at);
}

static Reduce reduce_of(Emit *e, const Op *op) {
    Reduce r = {.e = e, .op = op, .axis = (int)op_int(op, AT_AXIS, 0)};
    r.type = ir_type(e->k, op->operands[0]);
    r.layout = emit_layout(e, op->operands[0]);
    r.kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    r.index = reduce_is_index(op);
    r.count = axis_order(op, &r.layout->map, r.axis, r.order);
    return r;
}

static const char *element_type(const Reduce *r) {
    if (r->keyed) return elem_info[r->type->elem].bytes == 8 ? "u64" : "u32";
    return cs_value_type(&r->e->p, r->type);
}

static bool keeps_nan(const Reduce *r) { return op_word(r->op, AT_NAN, NAN_DROP) == NAN_KEEP; }

/* Is y better than x, which has the lower index? A NaN never is (kept: always). */
static const Expr *is_better(const Reduce *r, const Expr *x, const Expr *y) {
    Arena *arena = r->e->arena;
    bool most = r->kind == COMBINE_ARGMAX;
    if (!elem_is_float(r->type->elem)) return ex(arena, "%p %s %p", y, most ? ">" : "<", x);
    if (keeps_nan(r)) return ex(arena, "%p == %p && !(%p %s %p)", x, x, y, most ? "<=" : ">=", x);
    return ex(arena, "%p == %p && !(%p %s %p)", y, y, x, most ? ">=" : "<=", y);
}

/* Sums of bf16 have a function of the prelude: some machines add halves without taking them to f32 and back. */
static const Expr *combined(Reduce *r, const Expr *x, const Expr *y) {
    if (r->kind == COMBINE_ADD && r->type->elem == EL_BF16) return ex(r->e->arena, "tw_sum_bf16(%p, %p)", x, y);
    return cs_combine(&r->e->p, r->kind, r->type->elem, keeps_nan(r), x, y);
}

/* x = combine(x, y), the lower index on the left. */
static void combine(Reduce *r, const Expr *x, const Expr *y, const Expr *ix, const Expr *iy) {
    Emit *e = r->e;
    if (!r->index) {
        cs_line(&e->p, "%p = %p;", x, combined(r, x, y));
    } else if (r->keyed) {
        cs_line(&e->p, "tw_take(%p, %p, %p, %p);", x, ix, y, iy);
    } else {
        cs_line(&e->p, "const bool better = %p;", is_better(r, x, y));
        cs_line(&e->p, "%p = better ? %p : %p;", x, y, x);
        cs_line(&e->p, "%p = better ? %p : %p;", ix, iy, ix);
    }
}

static const Expr *at(Reduce *r, const char *array, const Expr *index) {
    return r->scalar ? ex_name(r->e->arena, array) : ex(r->e->arena, "%s[%p]", array, index);
}

static int register_count(const Reduce *r) { return 1 << r->layout->map.count[LL_REGISTER]; }

/* A loop over the registers that are alive (and have a 0 in `also`); how one of them is called in it. */
static const Expr *open_live(Reduce *r, uint32_t also) {
    uint32_t dead = r->done | also, all = (uint32_t)register_count(r) - 1;
    if (dead == all) {
        emit_block(r->e);
        return &expr_zero;
    }
    bool low = (dead & (dead + 1)) == 0;
    emit_unroll(r->e, "r", register_count(r), low ? (int)dead + 1 : 1);
    r->e->vector_bits = 0;
    if (!low) cs_line(&r->e->p, "if (r & %u) continue;", dead);
    return &place_r;
}

/* From here on the order in which indices come does not matter, and lanes can compare. */
static void to_keys(Reduce *r) {
    Emit *e = r->e;
    if (!r->index || r->keyed) return;
    const char *values = r->values, *keys = cs_fresh(&e->p, "rank");
    Elem elem = r->type->elem;
    bool small = !elem_is_float(elem) && elem_info[elem].bits < 32;
    r->keyed = true;
    cs_line(&e->p, "%s %s[%d];", element_type(r), keys, register_count(r));
    const Expr *it = open_live(r, 0), *x = at(r, values, it);
    if (small) x = ex(e->arena, "(i32)%p", x);
    cs_line(&e->p, "%p = tw_rank(%p, %s, %s);", at(r, keys, it), x, r->kind == COMBINE_ARGMIN ? "true" : "false",
            keeps_nan(r) ? "true" : "false");
    cs_close(&e->p);
    r->values = keys;
}

static void step_register(Reduce *r, int bit) {
    Emit *e = r->e;
    uint32_t mask = 1u << bit;
    if (!r->done)
        cs_line(&e->p, "// this thread's values, two by two; those that are combined already are passed over");
    const Expr *it = open_live(r, mask),
               *other = ex_is_int(it, 0) ? ex_int(e->arena, mask) : ex(e->arena, "r + %u", mask);
    combine(r, at(r, r->values, it), at(r, r->values, other), r->index ? at(r, r->indices, it) : NULL,
            r->index ? at(r, r->indices, other) : NULL);
    cs_close(&e->p);
    r->done |= mask;
}

/* The largest or least of whole numbers is the same in any order, and machines have an instruction for three. */
static bool is_in_threes(const Reduce *r) {
    bool whole = !elem_is_float(r->type->elem) && elem_info[r->type->elem].bits == 32;
    return whole && !r->index && (r->kind == COMBINE_MAX || r->kind == COMBINE_MIN);
}

/* All registers that differ in these bits, two more in each line. */
static void step_threes(Reduce *r, uint32_t mask) {
    Emit *e = r->e;
    const Expr *it = open_live(r, mask), *x = at(r, r->values, it), *best = x;
    int waiting = 0;
    for (uint32_t part = (0 - mask) & mask; part; part = (part - mask) & mask) {
        const Expr *place = ex_is_int(it, 0) ? ex_int(e->arena, part) : ex(e->arena, "r + %u", part);
        best = cs_combine(&e->p, r->kind, r->type->elem, false, best, at(r, r->values, place));
        if (++waiting < 2 && part != mask) continue;
        cs_line(&e->p, "%p = %p;", x, best);
        best = x;
        waiting = 0;
    }
    cs_close(&e->p);
    r->done |= mask;
}

static const Expr *shuffle(Reduce *r, const Expr *x, Elem elem, int mask) {
    /* Registers hold small floats as f32 and small integers as themselves. */
    bool small = !r->keyed && !elem_is_float(elem) && elem_info[elem].bits < 32;
    return small ? ex(r->e->arena, "(%s)tw_shfl_xor((i32)%p, %d)", cs_register_type(&r->e->p, elem), x, mask)
                 : ex(r->e->arena, "tw_shfl_xor(%p, %d)", x, mask);
}

static void step_lane(Reduce *r, int bit) {
    Emit *e = r->e;
    if (!r->lanes) cs_line(&e->p, "// those of lanes, two by two");
    const Expr *it = open_live(r, 0), *mine = at(r, r->values, it), *other = shuffle(r, mine, r->type->elem, 1 << bit);
    if (r->index) {
        cs_line(&e->p, "const %s other = %p;", element_type(r), other);
        cs_line(&e->p, "const i32 other_at = %p;", shuffle(r, at(r, r->indices, it), EL_I32, 1 << bit));
        combine(r, mine, ex_name(e->arena, "other"), at(r, r->indices, it), ex_name(e->arena, "other_at"));
    } else {
        combine(r, mine, other, NULL, NULL);
    }
    cs_close(&e->p);
    r->lanes |= 1u << bit;
}

/* The combination in the names of the prelude's functions. */
static const char *kind_name(const Reduce *r) { return word_info[r->kind].text; }

/* All lanes of whole numbers and keys. */
static void step_whole_lanes(Reduce *r) {
    Emit *e = r->e;
    const Expr *it = open_live(r, 0), *x = at(r, r->values, it);
    if (r->index)
        cs_line(&e->p, "tw_lanes_take(%p, %p);", x, at(r, r->indices, it));
    else if (elem_info[r->type->elem].bits < 32)
        cs_line(&e->p, "%p = (%s)tw_lanes_%s((i32)%p);", x, cs_register_type(&e->p, r->type->elem), kind_name(r), x);
    else
        cs_line(&e->p, "%p = tw_lanes_%s(%p);", x, kind_name(r), x);
    cs_close(&e->p);
}

/* All lanes by one function, which begins with this bit of the lane (`among`); false: each for itself. */
static bool step_all_lanes(Reduce *r, int bit) {
    const Expr *x = at(r, r->values, &expr_zero);
    switch (op_word(r->op, AT_AMONG, AMONG_EACH)) {
    case AMONG_TREE: cs_line(&r->e->p, "%p = tw_lanes_%s_%s(%p);", x, kind_name(r), bit == 0 ? "up" : "down", x); break;
    case AMONG_WHOLE: step_whole_lanes(r); break;
    default: return false;
    }
    r->lanes = (uint32_t)r->e->lanes - 1;
    return true;
}

/* Registers that are alive, packed: their number is the row of the scratch. */
static int compact_masks(const Reduce *r, uint32_t *masks) {
    int out = 0;
    for (int i = 0; i < r->layout->map.count[LL_REGISTER]; i++) masks[i] = r->done >> i & 1 ? 0 : 1u << out++;
    return out;
}

/* Do all lanes of a warp hold the same? Those that were combined do, and those that repeat values. */
static bool lanes_agree(const Reduce *r) { return reduce_lanes_agree(&r->layout->map, r->lanes); }

/* How the values of a warp lie in the scratch: one if its lanes agree, else one a lane. */
static int warp_bytes(const Reduce *r, int bytes) { return lanes_agree(r) ? bytes : r->e->lanes * bytes; }

/* Where this thread's lie. */
static const Expr *own_place(const Reduce *r, int bytes) {
    Arena *arena = r->e->arena;
    if (lanes_agree(r)) return ex(arena, "warp * %d", bytes);
    return r->e->role || r->e->group.first_warp ? ex(arena, "warp * %d + lane * %d", r->e->lanes * bytes, bytes)
                      : ex(arena, "tw_thread() * %d", bytes);
}

/* Where the plane of a register that is alive begins. */
static const Expr *plane_of(Reduce *r, const Expr *it, long long base, const Expr *row, int stride) {
    Arena *arena = r->e->arena;
    if (ex_is_int(it, 0)) return ex_int(arena, base);
    return ex(arena, "%p * %d + %lld", row, stride * r->e->group.warps, base);
}

/* `values` (flags: truth values) to the scratch at `base`, a plane for each register that is alive. */
static void put_values(Reduce *r, const char *values, bool flags, const Expr *it, long long base, const Expr *row,
                       int bytes) {
    Emit *e = r->e;
    int stride = warp_bytes(r, bytes);
    bool one = stride == bytes;
    const Expr *place = ex_sum(e->arena, plane_of(r, it, base, row, stride), own_place(r, bytes)),
               *x = at(r, values, it);
    if (flags) { /* bytes in memory, bool in registers */
        cs_line(&e->p, "const u8 mine = %p;", x);
        x = ex_name(e->arena, "mine");
    }
    cs_line(&e->p, one ? "tw_sts_if(1, lane == 0, %p, &%p);" : "tw_sts(1, %p, &%p);", place, x);
}

/* Those of the warps that differ in the bits `mine`, to an array in the order of the warps'
 * numbers, the first to be combined first: they need not all be in registers at once. */
static void get_values(Reduce *r, const char *array, const Expr *it, long long base, const Expr *row, int bytes,
                       uint32_t mine, const int *places, int count) {
    Emit *e = r->e;
    int stride = warp_bytes(r, bytes), vector = (int)op_int(r->op, AT_VECTOR, 1);
    bool all = mine == (uint32_t)e->group.warps - 1;
    const Expr *others = all ? NULL : ex(e->arena, "(warp & ~%u) * %d", mine, stride);
    const Expr *lane = stride == bytes ? NULL : ex(e->arena, "lane * %d", bytes);
    for (int i = 0; i < count; i++) {
        int place = places[i], warp = 0;
        if (place % vector) continue; /* comes with an earlier one */
        for (int bit = 0, left = place; left; bit++)
            if (mine >> bit & 1) warp |= (left & 1) << bit, left >>= 1;
        const Expr *from = plane_of(r, it, base + (long long)warp * stride, row, stride);
        from = ex_sum(e->arena, ex_sum(e->arena, from, others), lane);
        cs_line(&e->p, "tw_lds(%d, %s + %d, %p);", vector, array, place, from);
    }
}

/* The same one a lane. */
static void spread_values(Reduce *r, const Expr *it, long long base, const Expr *row, const char *memory, uint32_t mine,
                          const int *places, int bits) {
    Emit *e = r->e;
    int bytes = axis_slot_bytes(r->type);
    const Expr *plane = plane_of(r, it, base, row, bytes), *first = ex(e->arena, "all[0]");
    cs_line(&e->p, "%s all[1];", memory);
    cs_line(&e->p, "tw_lds(1, all, %p + (warp & ~%u) * %d + (lane & %u) * %d);", plane, mine, bytes, mine, bytes);
    for (int i = 0; i < bits; i++) combine(r, first, shuffle(r, first, r->type->elem, places[1 << i]), NULL, NULL);
}

/* One value a thread, as many warps as lanes: warp w combines what lane w of each has and leaves it for lane w of all.
 * What lane l of warp w wrote lies at (w, l ^ w), where neither writing nor reading meets a bank twice; the place of
 * the result is one that its writer alone has read. */
static void turn_values(Reduce *r, const char *memory, long long base, int bytes, const int *places, int bits) {
    Emit *e = r->e;
    const Expr *x = at(r, r->values, &expr_zero), *first = ex(e->arena, "all[0]");
    int row = e->lanes * bytes;
    cs_line(&e->p, "tw_sts(1, %lld + warp * %d + (lane ^ warp) * %d, &%p);", base, row, bytes, x);
    sync_step(e);
    emit_block(e);
    cs_line(&e->p, "%s all[1];", memory);
    cs_line(&e->p, "tw_lds(1, all, %lld + lane * %d + (lane ^ warp) * %d);", base, row, bytes);
    for (int i = 0; i < bits; i++) combine(r, first, shuffle(r, first, r->type->elem, places[1 << i]), NULL, NULL);
    cs_line(&e->p, "tw_sts_if(1, lane == 0, %lld + warp * %d, all);", base, bytes);
    sync_step(e);
    cs_line(&e->p, "tw_lds(1, all, %lld + lane * %d);", base, bytes);
    cs_line(&e->p, "%p = all[0];", x);
    cs_close(&e->p);
}

/* One value a thread, few warps: by one function. */
static void plain_warps(Reduce *r, const char *name, long long base, uint32_t mine, const int *warp_bit, int bits) {
    Emit *e = r->e;
    int stride = warp_bytes(r, 4);
    put_values(r, r->values, false, &expr_zero, base, &expr_zero, 4);
    sync_step(e);
    const Expr *from = ex_int(e->arena, base), *args[3 + 8];
    if (stride != 4) from = ex(e->arena, "%p + lane * 4", from);
    if (1 << bits != e->group.warps) from = ex(e->arena, "%p + (warp & ~%u) * %d", from, mine, stride);
    args[0] = ex_name(e->arena, name), args[1] = at(r, r->values, &expr_zero), args[2] = from;
    for (int j = 0; j < 1 << bits; j++) {
        int warp = 0;
        for (int i = 0; i < bits; i++) warp |= (j >> i & 1) << warp_bit[i];
        args[3 + j] = ex_int(e->arena, warp * stride);
    }
    const char *tree = arena_printf(e->arena, "tw_lds_tree_%d", 1 << bits);
    cs_line(&e->p, "%p;", ex_call(e->arena, tree, args, 3 + (1 << bits)));
}

/* The warp bits `order[from .. to)`: every warp writes its values, reads those of the others, combines. */
static void step_warps(Reduce *r, int from, int to) {
    Emit *e = r->e;
    enum { WARPS = 32 };
    uint32_t masks[LL_MAX_BITS], mine = 0;
    int bits = to - from, count = 1 << bits, warp_bit[LL_MAX_BITS], bytes = reduce_slot_bytes(r->e->k, r->op);
    int places[WARPS]; /* of the values in the order of the stamp */
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        find_bit(r, r->order[from + i], &input, &warp_bit[i]);
        mine |= 1u << warp_bit[i];
    }
    for (int i = 0; i < count; i++) {
        places[i] = 0;
        for (int b = 0; b < bits; b++)
            places[i] |= (i >> b & 1) << __builtin_popcount(mine & ((1u << warp_bit[b]) - 1));
    }
    int alive = compact_masks(r, masks);
    long long base = shared_offset(e, r->op),
              base_at = base + reduce_array_bytes(&r->layout->map, r->lanes, bytes, e->group.warps, alive);
    bool flags = r->type->elem == EL_I1 && !r->keyed;
    const char *memory = flags ? "u8" : element_type(r);
    Word across = op_word(r->op, AT_ACROSS, ACROSS_EACH);
    cs_note(&e->p, "those of warps, through shared memory: each leaves its own, and reads those that it combines");
    sync_round(e, r->op, &r->begun);
    if (across == ACROSS_TREE) {
        plain_warps(r, kind_name(r), base, mine, warp_bit, bits);
        return;
    }
    if (across == ACROSS_TURN) {
        turn_values(r, memory, base, bytes, places, bits);
        return;
    }
    const Expr *it = open_live(r, 0);
    const Expr *row =
        ex_is_int(it, 0) ? &expr_zero : place_bits(e->arena, &place_r, r->layout->map.count[LL_REGISTER], masks);
    put_values(r, r->values, flags, it, base, row, bytes);
    if (r->index) put_values(r, r->indices, false, it, base_at, row, 4);
    cs_close(&e->p);
    sync_step(e);
    open_live(r, 0);
    bool spread = across == ACROSS_LANES;
    if (spread) {
        spread_values(r, it, base, row, memory, mine, places, bits);
    } else {
        cs_line(&e->p, "%s all[%d];", memory, count);
        get_values(r, "all", it, base, row, bytes, mine, places, count);
    }
    if (r->index) {
        cs_line(&e->p, "i32 all_at[%d];", count);
        get_values(r, "all_at", it, base_at, row, 4, mine, places, count);
    }
    for (int i = 0; i < bits && !spread; i++)
        for (int j = 0; j < count; j += 2 << i) {
            int x = places[j], y = places[j + (1 << i)];
            combine(r, ex(e->arena, "all[%d]", x), ex(e->arena, "all[%d]", y), ex(e->arena, "all_at[%d]", x),
                    ex(e->arena, "all_at[%d]", y));
        }
    cs_line(&e->p, "%p = all[0];", at(r, r->values, it));
    if (r->index) cs_line(&e->p, "%p = all_at[0];", at(r, r->indices, it));
    cs_close(&e->p);
}

static bool in_warps(const Reduce *r, int i) {
    LayoutInput input;
    int bit;
    return i < r->count && find_bit(r, r->order[i], &input, &bit) && input == LL_WARP;
}

static const Expr *neutral(Reduce *r) {
    Emit *e = r->e;
    Elem elem = r->type->elem;
    const Type *scalar = ty_scalar(e->k->module, elem);
    bool largest = r->kind == COMBINE_MIN || r->kind == COMBINE_ARGMIN, real = elem_is_float(elem);
    if (r->kind == COMBINE_ADD || r->kind == COMBINE_OR || r->kind == COMBINE_XOR)
        return ex(e->arena, real ? "-0.0f" : "0"); /* 0.0 would make 0.0 of a -0.0 */
    if (r->kind == COMBINE_MUL) return ex(e->arena, real ? "1.0f" : "1");
    if (r->kind == COMBINE_AND) return ex(e->arena, elem == EL_I1 ? "true" : "-1");
    /* Where a NaN loses it changes nothing, and of NaNs alone the result is one; a type without NaN has its ends. */
    if (real) {
        bool keep = keeps_nan(r) || elem_round(elem, __builtin_nan("")) == elem_round(elem, __builtin_nan(""));
        double infinity = largest ? __builtin_inf() : -__builtin_inf();
        Ref fill = ir_literal_float(e->k, scalar, keep ? infinity : __builtin_nan(""));
        return cs_literal(&e->p, ir_literal(e->k, fill));
    }
    int bits = elem_info[elem].bits;
    bool sign = elem_is_signed(elem);
    if (elem == EL_I1) return ex_name(e->arena, largest ? "true" : "false");
    int64_t top = sign         ? (int64_t)(((uint64_t)1 << (bits - 1)) - 1)
                  : bits == 64 ? -1
                               : (int64_t)(((uint64_t)1 << bits) - 1);
    return cs_number(e->arena, elem, largest ? top : sign ? -top - 1 : 0);
}

/* A working copy in register form, the padding of the axis filled with what changes nothing. */
static void copy_in(Reduce *r) {
    Emit *e = r->e;
    r->values = cs_fresh(&e->p, "part");
    cs_line(&e->p, "%s %s[%d];", element_type(r), r->values, register_count(r));
    if (r->index) {
        r->indices = cs_fresh(&e->p, "part_at");
        cs_line(&e->p, "i32 %s[%d];", r->indices, register_count(r));
    }
    emit_unroll(e, "r", register_count(r), 1);
    const Expr *text = elementwise_operand(e, r->op->operands[0], r->layout, &place_r);
    const Expr *inside = place_inside(e, r->layout, r->type, r->axis, &place_r);
    if (inside && r->layout->registers < register_count(r))
        inside = ex(e->arena, "r < %d && %p", r->layout->registers, inside);
    else if (r->layout->registers < register_count(r))
        inside = ex(e->arena, "r < %d", r->layout->registers);
    if (inside) text = ex(e->arena, "%p ? %p : %p", inside, text, neutral(r));
    cs_line(&e->p, "%s[r] = %p;", r->values, text);
    if (r->index) {
        const Expr *coord = place_coord(e, r->layout, r->axis, &place_r);
        if (inside) coord = ex(e->arena, "%p ? %p : 0x7fffffff", inside, coord);
        cs_line(&e->p, "%s[r] = %p;", r->indices, coord);
    }
    cs_close(&e->p);
}

/* The same where the registers are all combined first (`own=tree`): written out, two levels a line. */
static void tree_in(Reduce *r) {
    Emit *e = r->e;
    int bits = r->layout->map.count[LL_REGISTER], count = register_count(r), bit[LL_MAX_BITS];
    const Expr **text = ARENA_ARRAY(e->arena, const Expr *, count);
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        find_bit(r, r->order[i], &input, &bit[i]);
    }
    for (int i = 0; i < count; i++)
        text[i] = elementwise_operand(e, r->op->operands[0], r->layout, ex_int(e->arena, i));
    for (int level = 0; level < bits; level++) {
        int mask = 1 << bit[level];
        for (int i = 0; i < count; i++) {
            if ((uint32_t)i & (r->done | (uint32_t)mask)) continue;
            text[i] = combined(r, text[i], text[i + mask]);
            if (level % 2 == 0 || level == bits - 1) continue;
            const char *name = cs_fresh(&e->p, "part");
            cs_line(&e->p, "const %s %s = %p;", element_type(r), name, text[i]);
            text[i] = ex_name(e->arena, name);
        }
        r->done |= (uint32_t)mask;
    }
    r->scalar = true;
    r->values = cs_fresh(&e->p, "part");
    cs_line(&e->p, "%s %s = %p;", element_type(r), r->values, text[0]);
}

/* The same in a lean kernel: an element at a time, in the order in which the tree takes them, so
 * that at each level one partial result waits for its partner. All registers are combined. */
static void fold_in(Reduce *r) {
    Emit *e = r->e;
    uint32_t masks[LL_MAX_BITS];
    int bits = r->layout->map.count[LL_REGISTER];
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        int bit = 0;
        find_bit(r, r->order[i], &input, &bit);
        masks[i] = 1u << bit;
    }
    r->values = cs_fresh(&e->p, "part");
    cs_line(&e->p, "%s %s[%d];", element_type(r), r->values, bits + 1);
    emit_unroll(e, "i", register_count(r), 1);
    cs_line(&e->p, "const int r = %p;", place_bits(e->arena, ex_name(e->arena, "i"), bits, masks));
    const Expr *text = lean_element(e, r->op->operands[0], &place_r);
    const Expr *inside = place_inside(e, r->layout, r->type, r->axis, &place_r);
    if (inside) text = ex(e->arena, "%p ? %p : %p", inside, text, neutral(r));
    cs_line(&e->p, "%s other = %p;", element_type(r), text);
    cs_line(&e->p, "int q = 0;");
    cs_raw(&e->p, "#pragma unroll");
    cs_open(&e->p, "for (; q < %d && (i >> q & 1); q++)", bits);
    const Expr *waiting = ex(e->arena, "%s[q]", r->values);
    combine(r, waiting, ex_name(e->arena, "other"), NULL, NULL);
    cs_line(&e->p, "other = %p;", waiting);
    cs_close(&e->p);
    cs_line(&e->p, "%p = other;", waiting);
    cs_close(&e->p);
    lean_close(e);
    cs_line(&e->p, "%s[0] = %s[%d];", r->values, r->values, bits);
    r->done = (uint32_t)register_count(r) - 1;
}

void reduce_emit(Emit *e, const Op *op) {
    if (op->region_count) {
        fold_emit(e, op);
        return;
    }
    Reduce r = reduce_of(e, op);
    place_say_axis(e, op, r.layout, r.axis);
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    const char *scalar = NULL;
    if (layout) {
        emit_declare(e, result);
    } else {
        scalar = cs_name(&e->p, result);
        cs_line(&e->p, "%s;", cs_variable(&e->p, cs_value_type(&e->p, type), scalar));
        emit_set_name(e, result, HOLD_SCALAR, scalar);
    }
    emit_block(e);
    bool tree = op_word(op, AT_OWN, OWN_LOOP) == OWN_TREE;
    if (e->lean)
        fold_in(&r);
    else if (tree)
        tree_in(&r);
    else
        copy_in(&r);
    int highest = -1; /* bit that was combined: while they come in their order, so do the indices */
    for (int i = e->lean || tree ? r.layout->map.count[LL_REGISTER] : 0; i < r.count;) {
        LayoutInput input;
        int bit;
        if (!find_bit(&r, r.order[i], &input, &bit)) ice(e->k->module->trap, "simt: a bit of the axis is nowhere");
        if (input != LL_REGISTER || r.order[i] < highest) to_keys(&r);
        if (r.order[i] > highest) highest = r.order[i];
        if (input == LL_WARP) {
            int to = i + 1;
            while (in_warps(&r, to)) to++;
            step_warps(&r, i, to);
            i = to;
            continue;
        }
        if (input == LL_LANE && step_all_lanes(&r, bit)) {
            i += ll_log2(e->lanes);
            continue;
        }
        if (input == LL_REGISTER && is_in_threes(&r)) {
            uint32_t mask = 0;
            for (; i < r.count && find_bit(&r, r.order[i], &input, &bit) && input == LL_REGISTER; i++)
                mask |= 1u << bit;
            step_threes(&r, mask);
            continue;
        }
        if (input == LL_REGISTER)
            step_register(&r, bit);
        else
            step_lane(&r, bit);
        i++;
    }
    const char *done = r.index ? r.indices : r.values;
    if (!layout) {
        cs_line(&e->p, "%s = %p;", scalar, at(&r, done, &expr_zero));
    } else {
        /* Register q of the result is the register of the operand that has its coordinates, and 0 along the axis. */
        uint32_t masks[LL_MAX_BITS];
        int out = 0;
        for (int i = 0; i < r.layout->map.count[LL_REGISTER]; i++)
            if (!(r.done >> i & 1)) masks[out++] = 1u << i;
        emit_unroll(e, "r", layout->registers, 1);
        const Expr *text = at(&r, done, place_bits(e->arena, &place_r, out, masks));
        cs_line(&e->p, "%p[r] = %p;", emit_hold(e, result)->by, elementwise_packed(e, type->elem, text));
        cs_close(&e->p);
    }
    cs_close(&e->p);
    lean_after_reduce(e, op);
}
