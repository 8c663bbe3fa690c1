/* SPDX-License-Identifier: Apache-2.0 */
/* simt_place.c: layouts as C expressions.
 *
 * A coordinate has a part that lanes and warps decide, computed once into a variable, and a part
 * that the register decides, a constant after unrolling:
 *
 *     const i32 at0 = tw_thread() * 4;                 f32[1024], 4 warps
 *     .. at0 + (r & 3) + (r >> 2) * 512 ..             element of register r */
#include "target/simt/simt.h"

const Expr place_r = {.kind = EX_NAME, .text = "r"};
const Expr place_lane = {.kind = EX_NAME, .text = "lane"}, place_warp = {.kind = EX_NAME, .text = "warp"};

/* One run of consecutive bits that goes to consecutive bits. */
static const Expr *run_of(Arena *arena, const Expr *variable, int count, int from, int length, int to) {
    bool all = from + length == count; /* no bit above: no mask */
    const Expr *part = from ? ex(arena, "(%p >> %d)", variable, from) : variable;
    if (!all) part = ex(arena, "(%p & %d)", part, (1 << length) - 1);
    return to ? ex(arena, "%p * %d", part, 1 << to) : part;
}

const Expr *place_bits(Arena *arena, const Expr *variable, int count, const uint32_t *masks) {
    const Expr *all = NULL;
    uint32_t used = 0;
    bool disjoint = true;
    for (int i = 0; i < count; i++) {
        disjoint &= !(used & masks[i]) && !(masks[i] & (masks[i] - 1));
        used |= masks[i];
    }
    for (int i = 0; i < count && disjoint;) {
        int n = 1;
        if (masks[i]) {
            while (i + n < count && masks[i + n] == masks[i] << n) n++;
            all = ex_sum(arena, all, run_of(arena, variable, count, i, n, __builtin_ctz(masks[i])));
        }
        i += n;
    }
    for (int i = 0; i < count && !disjoint; i++) {
        if (!masks[i]) continue;
        const Expr *bit = ex(arena, "(%p >> %d & 1) * %u", variable, i, masks[i]);
        all = all ? ex(arena, "%p ^ %p", all, bit) : bit;
    }
    if (!all) return ex_int(arena, 0);
    return all->kind == EX_BINARY && !all->groups ? ex_group(arena, all) : all;
}

static void dim_masks(const LinearLayout *map, int dim, LayoutInput input, uint32_t *masks) {
    for (int i = 0; i < map->count[input]; i++) masks[i] = ll_coord(map, map->basis[input][i], dim);
}

/* The warps of a flat kernel go on where lanes end: a multiple of the thread's number. */
static const Expr *whole_thread(Emit *e, const LinearLayout *map, const uint32_t *lanes, const uint32_t *warps) {
    int bits = map->count[LL_LANE];
    if (e->role || e->group.first_warp || 1 << bits != e->lanes || !map->count[LL_WARP] || !lanes[0]) return NULL;
    for (int i = 0; i < bits + map->count[LL_WARP]; i++)
        if ((i < bits ? lanes[i] : warps[i - bits]) != lanes[0] << i) return NULL;
    return ex(e->arena, lanes[0] == 1 ? "tw_thread()" : "tw_thread() * %u", lanes[0]);
}

const Expr *place_thread(Emit *e, const LinearLayout *map, int dim) {
    uint32_t lanes[LL_MAX_BITS], warps[LL_MAX_BITS];
    dim_masks(map, dim, LL_LANE, lanes);
    dim_masks(map, dim, LL_WARP, warps);
    const Expr *whole = whole_thread(e, map, lanes, warps);
    const Expr *lane = place_bits(e->arena, &place_lane, map->count[LL_LANE], lanes);
    const Expr *warp = place_bits(e->arena, &place_warp, map->count[LL_WARP], warps);
    bool no_lane = ex_is_int(lane, 0), no_warp = ex_is_int(warp, 0);
    if (no_lane && no_warp) return lane;
    const Expr *place = whole ? whole : no_warp ? lane : no_lane ? warp : ex(e->arena, "%p + %p", lane, warp);
    for (size_t i = 0; i < e->places.count; i++)
        if (ex_same(e->places.at[i].place, place)) return ex_name(e->arena, e->places.at[i].name);
    const char *name = cs_fresh(&e->p, arena_printf(e->arena, "at%d", dim));
    if (!e->places.count)
        cs_line_of(&e->p, e->top, e->top_depth, "// along each axis of a tile: the first place that this thread holds");
    *VEC_PUSH(&e->places, e->arena) = (ThreadPlace){place, name};
    cs_line_of(&e->p, e->top, e->top_depth, e->anew ? "i32 %s = %p;" : "const i32 %s = %p;", name, place);
    return ex_name(e->arena, name);
}

void place_anew(Emit *e) {
    cs_line(&e->p, "tw_anew(lane);");
    for (size_t i = 0; i < e->places.count; i++)
        cs_line(&e->p, "%s = %p;", e->places.at[i].name, e->places.at[i].place);
}

CLines place_trip_begin(Emit *e, const Op *loop) {
    CLines before = e->p.lines;
    if (op_flag(loop, AT_TRIPS_ANEW)) e->p.lines = (CLines){0};
    return before;
}

void place_trip_end(Emit *e, const Op *loop, CLines before) {
    if (!op_flag(loop, AT_TRIPS_ANEW)) return;
    CLines trip = e->p.lines;
    e->p.lines = before;
    place_anew(e);
    cs_append(&e->p, &trip);
}

const Expr *place_register(Emit *e, const LinearLayout *map, int dim, const Expr *r) {
    uint32_t masks[LL_MAX_BITS];
    dim_masks(map, dim, LL_REGISTER, masks);
    int skip = ex_is_name(r, "r") && e->vector_bits > e->coarse_bits ? e->vector_bits : e->coarse_bits;
    for (int i = 0; i < skip; i++) masks[i] = 0;
    return place_bits(e->arena, r, map->count[LL_REGISTER], masks);
}

const Expr *place_coord(Emit *e, const Layout *layout, int dim, const Expr *r) {
    const Expr *thread = place_thread(e, &layout->map, dim), *reg = place_register(e, &layout->map, dim, r);
    if (ex_is_int(reg, 0)) return thread;
    return ex_is_int(thread, 0) ? reg : ex(e->arena, "(%p + %p)", thread, reg);
}

/* The register that holds element `index` in the thread that register 0 is looked for in. */
static uint32_t register_of(Emit *e, const LinearLayout *map, uint32_t index) {
    LayoutPlace place;
    if (!ll_find(map, index, &place) || place.at[LL_LANE] || place.at[LL_WARP])
        ice(e->k->module->trap, "simt: an operand is not where its user looks for it");
    return place.at[LL_REGISTER];
}

const Expr *place_operand(Emit *e, Ref operand, const Layout *result, const Expr *r) {
    const LinearLayout *from = &result->map, *to = &emit_layout(e, operand)->map;
    uint32_t masks[LL_MAX_BITS];
    for (int i = 0; i < from->count[LL_REGISTER]; i++) {
        uint32_t index = 0;
        for (int d = 0; d < to->rank; d++) /* what is shorter there is spread here: neighbours are one element */
            index |= ll_coord(from, from->basis[LL_REGISTER][i], d) >> (from->log2[d] - to->log2[d]) << ll_shift(to, d);
        masks[i] = register_of(e, to, index);
    }
    return place_bits(e->arena, r, from->count[LL_REGISTER], masks);
}

const Expr *place_along(Emit *e, Ref vector, const Layout *tile, int axis, const Expr *r) {
    const LinearLayout *from = &tile->map, *to = &emit_layout(e, vector)->map;
    uint32_t masks[LL_MAX_BITS];
    for (int i = 0; i < from->count[LL_REGISTER]; i++)
        masks[i] = register_of(e, to, ll_coord(from, from->basis[LL_REGISTER][i], axis));
    return place_bits(e->arena, r, from->count[LL_REGISTER], masks);
}

const Expr *place_owner(Emit *e, const LinearLayout *map) {
    LayoutPlace free = ll_free(map);
    unsigned lane = free.at[LL_LANE], warp = free.at[LL_WARP];
    if (lane && warp) return ex(e->arena, "(lane & %u) == 0 && (warp & %u) == 0", lane, warp);
    return lane ? ex(e->arena, "(lane & %u) == 0", lane) : warp ? ex(e->arena, "(warp & %u) == 0", warp) : NULL;
}

const Expr *place_inside(Emit *e, const Layout *layout, const Type *type, int dim, const Expr *r) {
    if (type->extent[dim] == (int64_t)1 << layout->map.log2[dim]) return NULL;
    return ex(e->arena, "%p < %lld", place_coord(e, layout, dim, r), (long long)type->extent[dim]);
}

void place_axis_bit(Emit *e, const Layout *layout, int axis, int bit, LayoutInput *input, int *at) {
    if (!ll_find_bit(&layout->map, axis, bit, input, at)) ice(e->k->module->trap, "simt: a bit of the axis is nowhere");
}

const char *place_between(LayoutInput input) {
    return input == LL_REGISTER ? "both of this thread"
           : input == LL_LANE   ? "of two lanes"
                                : "of two warps, through shared memory";
}

void place_say_axis(Emit *e, const Op *op, const Layout *layout, int axis) {
    int where[LL_INPUTS] = {0}, at;
    LayoutInput input;
    for (int bit = 0; bit < layout->map.log2[axis]; bit++)
        if (ll_find_bit(&layout->map, axis, bit, &input, &at)) where[input]++;
    Text t = text_new(e->arena);
    text_add(&t, "%d in a thread", 1 << where[LL_REGISTER]);
    if (where[LL_LANE]) text_add(&t, ", %d lanes by shuffles", 1 << where[LL_LANE]);
    if (where[LL_WARP]) text_add(&t, ", %d warps through shared memory", 1 << where[LL_WARP]);
    emit_find(e, op, FIND_ALONG_AXIS, op_info[op->code].mnemonic, t.at);
}
