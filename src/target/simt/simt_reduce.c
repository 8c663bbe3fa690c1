/* simt_reduce.c: reductions in the order of their stamp.
 *
 * The stamp lists the bits of the axis index in the order in which they are combined; where a bit
 * lives in the layout says how: registers by an unrolled tree, lanes by a butterfly of shuffles,
 * warps through shared memory, one value a lane, or one a warp if its lanes are combined. So the
 * result does not depend on how many warps there are, and every thread that holds a place of the
 * result ends up with the same bits.
 *
 *     f32[1024], order [0,1,9,8,7,2,3,4,5,6], 4 warps: registers 1, 2, 512; warps 256, 128; lanes
 * 4, 8, 16, 32, 64 */
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
    const char *values, *indices;
    bool scalar;          /* values is one variable, no array */
    uint32_t done, lanes; /* bits of registers and lanes combined so far */
    int order[LL_MAX_BITS], count;
} Reduce;

static bool find_bit(const Reduce *r, int bit, LayoutInput *input, int *at) {
    return axis_find_bit(&r->layout->map, r->axis, bit, input, at);
}

static Reduce reduce_of(Emit *e, const Op *op) {
    Reduce r = {.e = e, .op = op, .axis = (int)op_int(op, AT_AXIS, 0)};
    r.type = ir_type(e->k, op->operands[0]);
    r.layout = emit_layout(e, op->operands[0]);
    r.kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    r.index = r.kind == COMBINE_ARGMIN || r.kind == COMBINE_ARGMAX;
    r.count = axis_order(op, &r.layout->map, r.axis, r.order);
    return r;
}

static const char *element_type(const Reduce *r) { return cs_value_type(&r->e->p, r->type); }

/* x = combine(x, y), the lower index on the left. */
static void combine(Reduce *r, const char *x, const char *y, const char *ix, const char *iy) {
    Emit *e = r->e;
    bool keep = op_word(r->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    if (!r->index) {
        cs_line(&e->p, "%s = %s;", x, cs_combine(&e->p, r->kind, r->type->elem, keep, x, y));
        return;
    }
    /* The other one wins if it is better, or as good with a lower index; NaN never does (keep: always). */
    const char *sign = r->kind == COMBINE_ARGMAX ? ">" : "<";
    bool real = elem_is_float(r->type->elem);
    const char *nan = !real  ? "false"
                      : keep ? arena_printf(e->arena, "(%s == %s && %s != %s)", x, x, y, y)
                             : arena_printf(e->arena, "(%s != %s && %s == %s)", x, x, y, y);
    const char *tie = real ? arena_printf(e->arena, "(%s == %s || (%s != %s && %s != %s))", y, x, x, x, y, y)
                           : arena_printf(e->arena, "%s == %s", y, x);
    const char *block = keep && real ? arena_printf(e->arena, " && %s == %s", x, x) : "";
    cs_open(&e->p, "if (%s || (%s %s %s%s) || (%s && %s < %s))", nan, y, sign, x, block, tie, iy, ix);
    cs_line(&e->p, "%s = %s;", x, y);
    cs_line(&e->p, "%s = %s;", ix, iy);
    cs_close(&e->p);
}

static const char *at(Reduce *r, const char *array, const char *index) {
    if (r->scalar) return array;
    return arena_printf(r->e->arena, "%s[%s]", array, index);
}

static int register_count(const Reduce *r) { return 1 << r->layout->map.count[LL_REGISTER]; }

/* A loop over the registers that are alive (and have a 0 in `also`); how one of them is called in it. */
static const char *open_live(Reduce *r, uint32_t also) {
    uint32_t dead = r->done | also, all = (uint32_t)register_count(r) - 1;
    if (dead == all) {
        emit_block(r->e);
        return "0";
    }
    bool low = (dead & (dead + 1)) == 0;
    emit_unroll(r->e, "r", register_count(r), low ? (int)dead + 1 : 1);
    r->e->vector_bits = 0;
    if (!low) cs_line(&r->e->p, "if (r & %u) continue;", dead);
    return "r";
}

static void step_register(Reduce *r, int bit) {
    Emit *e = r->e;
    uint32_t mask = 1u << bit;
    const char *it = open_live(r, mask);
    const char *other = *it == '0' ? arena_printf(e->arena, "%u", mask) : arena_printf(e->arena, "r + %u", mask);
    combine(r, at(r, r->values, it), at(r, r->values, other), r->index ? at(r, r->indices, it) : NULL,
            r->index ? at(r, r->indices, other) : NULL);
    cs_close(&e->p);
    r->done |= mask;
}

static const char *shuffle(Reduce *r, const char *x, Elem elem, int mask) {
    /* Registers hold small floats as f32 and small integers as themselves. */
    bool small = !elem_is_float(elem) && elem_info[elem].bits < 32;
    return small ? arena_printf(r->e->arena, "(%s)tw_shfl_xor((i32)%s, %d)", cs_register_type(&r->e->p, elem), x, mask)
                 : arena_printf(r->e->arena, "tw_shfl_xor(%s, %d)", x, mask);
}

static void step_lane(Reduce *r, int bit) {
    Emit *e = r->e;
    const char *it = open_live(r, 0), *mine = at(r, r->values, it), *other = shuffle(r, mine, r->type->elem, 1 << bit);
    if (r->index) {
        cs_line(&e->p, "const %s other = %s;", element_type(r), other);
        cs_line(&e->p, "const i32 other_at = %s;", shuffle(r, at(r, r->indices, it), EL_I32, 1 << bit));
        combine(r, mine, "other", at(r, r->indices, it), "other_at");
    } else {
        combine(r, mine, other, NULL, NULL);
    }
    cs_close(&e->p);
    r->lanes |= 1u << bit;
}

/* add, min or max of f32 where one value a thread is left: what the prelude has a function for; else NULL. */
static const char *plain_name(const Reduce *r) {
    if (r->index || r->done != (uint32_t)register_count(r) - 1 || strcmp(element_type(r), "f32") != 0) return NULL;
    if (r->kind == COMBINE_ADD) return "add";
    if (op_word(r->op, AT_NAN, NAN_DROP) == NAN_KEEP) return NULL;
    return r->kind == COMBINE_MAX ? "max" : r->kind == COMBINE_MIN ? "min" : NULL;
}

/* All lanes, from the lowest bit of the lane up or from the highest down, by one function; false: it is not so. */
static bool step_all_lanes(Reduce *r, int from) {
    const char *name = plain_name(r);
    int all = ll_log2(r->e->lanes), bits[LL_MAX_BITS];
    if (!name || from + all > r->count) return false;
    for (int i = 0; i < all; i++) {
        LayoutInput input;
        if (!find_bit(r, r->order[from + i], &input, &bits[i]) || input != LL_LANE) return false;
    }
    bool up = true, down = true;
    for (int i = 0; i < all; i++) up &= bits[i] == i, down &= bits[i] == all - 1 - i;
    if (!up && !down) return false;
    const char *x = at(r, r->values, "0");
    cs_line(&r->e->p, "%s = tw_lanes_%s_%s(%s);", x, name, up ? "up" : "down", x);
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
static const char *own_place(const Reduce *r, int bytes) {
    Arena *arena = r->e->arena;
    if (lanes_agree(r)) return arena_printf(arena, "warp * %d", bytes);
    return r->e->role ? arena_printf(arena, "warp * %d + lane * %d", r->e->lanes * bytes, bytes)
                      : arena_printf(arena, "tw_thread() * %d", bytes);
}

/* `values` to the scratch at `base`, a plane for each register that is alive. */
static void put_values(Reduce *r, const char *memory, const char *values, const char *it, long long base,
                       const char *row, int bytes) {
    Emit *e = r->e;
    int stride = warp_bytes(r, bytes);
    bool one = stride == bytes;
    const char *plane = *it == '0' ? "" : arena_printf(e->arena, "%s * %d + ", row, stride * e->group.warps);
    const char *x = at(r, values, it);
    if (strcmp(memory, "u8") == 0) { /* of a bool */
        cs_line(&e->p, "const u8 mine = %s;", x);
        x = "mine";
    }
    cs_line(&e->p, "%s%s%lld + %s, &%s);", one ? "tw_sts_if(1, lane == 0, " : "tw_sts(1, ", plane, base,
            own_place(r, bytes), x);
}

/* Those of the warps that differ in the bits `mine`, to an array in the order of the warps'
 * numbers, the first to be combined first: they need not all be in registers at once. */
static void get_values(Reduce *r, const char *array, const char *it, long long base, const char *row, int bytes,
                       uint32_t mine, const int *places, int count) {
    Emit *e = r->e;
    int stride = warp_bytes(r, bytes), vector = 1;
    while (stride == bytes && 2 * vector * bytes <= 16 && 2 * vector <= count && (mine & (uint32_t)vector)) vector *= 2;
    const char *plane = *it == '0' ? "" : arena_printf(e->arena, "%s * %d + ", row, stride * e->group.warps);
    const char *others =
        mine == (uint32_t)e->group.warps - 1 ? "" : arena_printf(e->arena, " + (warp & ~%u) * %d", mine, stride);
    const char *lane = stride == bytes ? "" : arena_printf(e->arena, " + lane * %d", bytes);
    for (int i = 0; i < count; i++) {
        int place = places[i], warp = 0;
        if (place % vector) continue; /* comes with an earlier one */
        for (int bit = 0, left = place; left; bit++)
            if (mine >> bit & 1) warp |= (left & 1) << bit, left >>= 1;
        cs_line(&e->p, "tw_lds(%d, %s + %d, %s%lld%s%s);", vector, array, place, plane, base + (long long)warp * stride,
                others, lane);
    }
}

/* The same where there are many, one a lane: 16 more registers would cost a block its place. */
static bool spread_values(Reduce *r, const char *it, long long base, const char *row, const char *memory, uint32_t mine,
                          const int *places, int bits) {
    enum { MANY = 16 };
    Emit *e = r->e;
    int count = 1 << bits, bytes = axis_slot_bytes(r->type);
    if (r->index || count < MANY || !lanes_agree(r) || mine != (uint32_t)count - 1) return false;
    const char *plane = *it == '0' ? "" : arena_printf(e->arena, "%s * %d + ", row, bytes * e->group.warps);
    cs_line(&e->p, "%s all[1];", memory);
    cs_line(&e->p, "tw_lds(1, all, %s%lld + (warp & ~%u) * %d + (lane & %u) * %d);", plane, base, mine, bytes, mine,
            bytes);
    for (int i = 0; i < bits; i++)
        combine(r, "all[0]", shuffle(r, "all[0]", r->type->elem, places[1 << i]), NULL, NULL);
    return true;
}

/* One value a thread, few warps: by one function. */
static void plain_warps(Reduce *r, const char *name, long long base, uint32_t mine, const int *warp_bit, int bits) {
    Emit *e = r->e;
    int stride = warp_bytes(r, 4);
    const char *x = at(r, r->values, "0"), *lane = stride == 4 ? "" : " + lane * 4";
    put_values(r, "f32", r->values, "0", base, "0", 4);
    shared_after_scratch(e, r->op);
    Text t = text_new(e->arena);
    text_add(&t, "tw_lds_tree_%d(%s, %s, %lld%s", 1 << bits, name, x, base, lane);
    if (1 << bits != e->group.warps) text_add(&t, " + (warp & ~%u) * %d", mine, stride);
    for (int j = 0; j < 1 << bits; j++) {
        int warp = 0;
        for (int i = 0; i < bits; i++) warp |= (j >> i & 1) << warp_bit[i];
        text_add(&t, ", %d", warp * stride);
    }
    cs_line(&e->p, "%s);", t.at);
}

/* The warp bits `order[from .. to)`: every warp writes its values, reads those of the others, combines. */
static void step_warps(Reduce *r, int from, int to) {
    Emit *e = r->e;
    enum { WARPS = 32 };
    uint32_t masks[LL_MAX_BITS], mine = 0;
    int bits = to - from, count = 1 << bits, warp_bit[LL_MAX_BITS], bytes = axis_slot_bytes(r->type);
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
    const char *memory = r->type->elem == EL_I1 ? "u8" : cs_value_type(&e->p, r->type);
    const char *plain = plain_name(r);
    shared_before_scratch(e, r->op);
    if (plain && bits <= 3) {
        plain_warps(r, plain, base, mine, warp_bit, bits);
        return;
    }
    const char *it = open_live(r, 0);
    const char *row = *it == '0' ? "0" : place_bits(e->arena, "r", r->layout->map.count[LL_REGISTER], masks);
    put_values(r, memory, r->values, it, base, row, bytes);
    if (r->index) put_values(r, "i32", r->indices, it, base_at, row, 4);
    cs_close(&e->p);
    shared_after_scratch(e, r->op);
    open_live(r, 0);
    bool spread = spread_values(r, it, base, row, memory, mine, places, bits);
    if (!spread) {
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
            combine(r, arena_printf(e->arena, "all[%d]", x), arena_printf(e->arena, "all[%d]", y),
                    arena_printf(e->arena, "all_at[%d]", x), arena_printf(e->arena, "all_at[%d]", y));
        }
    cs_line(&e->p, "%s = all[0];", at(r, r->values, it));
    if (r->index) cs_line(&e->p, "%s = all_at[0];", at(r, r->indices, it));
    cs_close(&e->p);
}

static bool in_warps(const Reduce *r, int i) {
    LayoutInput input;
    int bit;
    return i < r->count && find_bit(r, r->order[i], &input, &bit) && input == LL_WARP;
}

static const char *neutral(Reduce *r) {
    Emit *e = r->e;
    Elem elem = r->type->elem;
    const Type *scalar = ty_scalar(e->k->module, elem);
    bool largest = r->kind == COMBINE_MIN || r->kind == COMBINE_ARGMIN, real = elem_is_float(elem);
    if (r->kind == COMBINE_ADD || r->kind == COMBINE_OR || r->kind == COMBINE_XOR)
        return real ? "-0.0f" : "0"; /* 0.0 would make 0.0 of a -0.0 */
    if (r->kind == COMBINE_MUL) return real ? "1.0f" : "1";
    if (r->kind == COMBINE_AND) return elem == EL_I1 ? "true" : "-1";
    if (real) { /* where a NaN loses it changes nothing, and of NaNs alone the result is one */
        bool keep = op_word(r->op, AT_NAN, NAN_DROP) == NAN_KEEP;
        double infinity = largest ? __builtin_inf() : -__builtin_inf();
        Ref fill = ir_literal_float(e->k, scalar, keep ? infinity : __builtin_nan(""));
        return cs_literal(&e->p, ir_literal(e->k, fill));
    }
    int bits = elem_info[elem].bits;
    bool sign = elem_is_signed(elem);
    if (elem == EL_I1) return largest ? "true" : "false";
    int64_t top = sign         ? (int64_t)(((uint64_t)1 << (bits - 1)) - 1)
                  : bits == 64 ? -1
                               : (int64_t)(((uint64_t)1 << bits) - 1);
    return cs_integer(e->arena, elem, largest ? top : sign ? -top - 1 : 0);
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
    const char *text = elementwise_operand(e, r->op->operands[0], r->layout, "r");
    char *inside = place_inside(e, r->layout, r->type, r->axis, "r");
    if (inside && r->layout->registers < register_count(r))
        inside = arena_printf(e->arena, "r < %d && %s", r->layout->registers, inside);
    else if (r->layout->registers < register_count(r))
        inside = arena_printf(e->arena, "r < %d", r->layout->registers);
    if (inside) text = arena_printf(e->arena, "%s ? %s : %s", inside, text, neutral(r));
    cs_line(&e->p, "%s[r] = %s;", r->values, text);
    if (r->index) {
        const char *coord = place_coord(e, r->layout, r->axis, "r");
        if (inside) coord = arena_printf(e->arena, "%s ? %s : 0x7fffffff", inside, coord);
        cs_line(&e->p, "%s[r] = %s;", r->indices, coord);
    }
    cs_close(&e->p);
}

/* The same where few registers are all combined first: written out, two levels a line. */
static bool tree_in(Reduce *r) {
    enum { MOST = 32 };
    Emit *e = r->e;
    const char *text[MOST];
    int bits = r->layout->map.count[LL_REGISTER], count = register_count(r);
    if (r->index || count > MOST || r->layout->registers != count || r->count < bits ||
        place_inside(e, r->layout, r->type, r->axis, "r"))
        return false;
    int bit[LL_MAX_BITS];
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        if (!find_bit(r, r->order[i], &input, &bit[i]) || input != LL_REGISTER) return false;
    }
    for (int i = 0; i < count; i++)
        text[i] = elementwise_operand(e, r->op->operands[0], r->layout, arena_printf(e->arena, "%d", i));
    bool keep = op_word(r->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    for (int level = 0; level < bits; level++) {
        int mask = 1 << bit[level];
        for (int i = 0; i < count; i++) {
            if ((uint32_t)i & (r->done | (uint32_t)mask)) continue;
            text[i] = cs_combine(&e->p, r->kind, r->type->elem, keep, text[i], text[i + mask]);
            if (level % 2 == 0 || level == bits - 1) continue;
            const char *name = cs_fresh(&e->p, "part");
            cs_line(&e->p, "const %s %s = %s;", element_type(r), name, text[i]);
            text[i] = name;
        }
        r->done |= (uint32_t)mask;
    }
    r->scalar = true;
    r->values = cs_fresh(&e->p, "part");
    cs_line(&e->p, "%s %s = %s;", element_type(r), r->values, text[0]);
    return true;
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
    cs_line(&e->p, "const int r = %s;", place_bits(e->arena, "i", bits, masks));
    const char *text = lean_element(e, r->op->operands[0], "r");
    char *inside = place_inside(e, r->layout, r->type, r->axis, "r");
    if (inside) text = arena_printf(e->arena, "%s ? %s : %s", inside, text, neutral(r));
    cs_line(&e->p, "%s other = %s;", element_type(r), text);
    cs_line(&e->p, "int q = 0;");
    cs_raw(&e->p, "#pragma unroll");
    cs_open(&e->p, "for (; q < %d && (i >> q & 1); q++)", bits);
    combine(r, at(r, r->values, "q"), "other", NULL, NULL);
    cs_line(&e->p, "other = %s;", at(r, r->values, "q"));
    cs_close(&e->p);
    cs_line(&e->p, "%s = other;", at(r, r->values, "q"));
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
        emit_set(e, result, HOLD_SCALAR, scalar);
    }
    emit_block(e);
    bool tree = !e->lean && tree_in(&r);
    if (e->lean)
        fold_in(&r);
    else if (!tree)
        copy_in(&r);
    for (int i = e->lean || tree ? r.layout->map.count[LL_REGISTER] : 0; i < r.count;) {
        LayoutInput input;
        int bit;
        if (!find_bit(&r, r.order[i], &input, &bit)) ice(e->k->module->trap, "simt: a bit of the axis is nowhere");
        if (input == LL_WARP) {
            int to = i + 1;
            while (in_warps(&r, to)) to++;
            step_warps(&r, i, to);
            i = to;
            continue;
        }
        if (input == LL_LANE && step_all_lanes(&r, i)) {
            i += ll_log2(e->lanes);
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
        cs_line(&e->p, "%s = %s;", scalar, at(&r, done, "0"));
    } else {
        /* Register q of the result is the register of the operand that has its coordinates, and 0 along the axis. */
        uint32_t masks[LL_MAX_BITS];
        int out = 0;
        for (int i = 0; i < r.layout->map.count[LL_REGISTER]; i++)
            if (!(r.done >> i & 1)) masks[out++] = 1u << i;
        emit_unroll(e, "r", layout->registers, 1);
        const char *text = at(&r, done, place_bits(e->arena, "r", out, masks));
        cs_line(&e->p, "%s[r] = %s;", emit_hold(e, result)->text, elementwise_packed(e, type->elem, text));
        cs_close(&e->p);
    }
    cs_close(&e->p);
    lean_after_reduce(e, op);
}
