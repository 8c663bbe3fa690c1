/* simt_place.c: layouts as C expressions.
 *
 * A coordinate has a part that lanes and warps decide, computed once into a variable, and a part
 * that the register decides, a constant after unrolling:
 *
 *     const i32 at0 = tw_thread() * 4;                 f32[1024], 4 warps
 *     .. at0 + (r & 3) + (r >> 2) * 512 ..             element of register r */
#include "target/simt/simt.h"

#include <string.h>

/* One run of consecutive bits that goes to consecutive bits. */
static void add_run(Text *t, const char *variable, int count, int from, int length, int to) {
    if (t->length) text_add(t, " + ");
    bool all = from + length == count; /* no bit above: no mask */
    Text part = text_new(t->arena);
    if (from)
        text_add(&part, "(%s >> %d)", variable, from);
    else
        text_add(&part, "%s", variable);
    if (!all) {
        Text masked = text_new(t->arena);
        text_add(&masked, "(%s & %d)", part.at, (1 << length) - 1);
        part = masked;
    }
    if (to)
        text_add(t, "%s * %d", part.at, 1 << to);
    else
        text_add(t, "%s", part.at);
}

char *place_bits(Arena *arena, const char *variable, int count, const uint32_t *masks) {
    Text t = text_new(arena);
    uint32_t used = 0;
    bool disjoint = true;
    for (int i = 0; i < count; i++) {
        disjoint &= !(used & masks[i]) && !(masks[i] & (masks[i] - 1));
        used |= masks[i];
    }
    if (!used) return arena_printf(arena, "0");
    for (int i = 0; i < count && disjoint;) {
        int n = 1;
        if (masks[i]) {
            while (i + n < count && masks[i + n] == masks[i] << n) n++;
            add_run(&t, variable, count, i, n, __builtin_ctz(masks[i]));
        }
        i += n;
    }
    for (int i = 0; i < count && !disjoint; i++)
        if (masks[i]) text_add(&t, "%s(%s >> %d & 1) * %u", t.length ? " ^ " : "", variable, i, masks[i]);
    return strchr(t.at, ' ') && !(t.at[0] == '(' && !strchr(strchr(t.at, ')'), ' ')) ? arena_printf(arena, "(%s)", t.at)
                                                                                     : t.at;
}

static void dim_masks(const LinearLayout *map, int dim, LayoutInput input, uint32_t *masks) {
    for (int i = 0; i < map->count[input]; i++) masks[i] = ll_coord(map, map->basis[input][i], dim);
}

/* The warps of a flat kernel go on where lanes end: a multiple of the thread's number. */
static const char *whole_thread(Emit *e, const LinearLayout *map, const uint32_t *lanes, const uint32_t *warps) {
    int bits = map->count[LL_LANE];
    if (e->role || 1 << bits != e->lanes || !map->count[LL_WARP] || !lanes[0]) return NULL;
    for (int i = 0; i < bits + map->count[LL_WARP]; i++)
        if ((i < bits ? lanes[i] : warps[i - bits]) != lanes[0] << i) return NULL;
    return lanes[0] == 1 ? "tw_thread()" : arena_printf(e->arena, "tw_thread() * %u", lanes[0]);
}

const char *place_thread(Emit *e, const LinearLayout *map, int dim) {
    uint32_t lanes[LL_MAX_BITS], warps[LL_MAX_BITS];
    dim_masks(map, dim, LL_LANE, lanes);
    dim_masks(map, dim, LL_WARP, warps);
    const char *whole = whole_thread(e, map, lanes, warps);
    const char *lane = place_bits(e->arena, "lane", map->count[LL_LANE], lanes);
    const char *warp = place_bits(e->arena, "warp", map->count[LL_WARP], warps);
    bool no_lane = strcmp(lane, "0") == 0, no_warp = strcmp(warp, "0") == 0;
    if (no_lane && no_warp) return "0";
    const char *text = whole ? whole : no_warp ? lane : no_lane ? warp : arena_printf(e->arena, "%s + %s", lane, warp);
    const char *name = map_get(&e->places, text);
    if (!name) {
        name = cs_fresh(&e->p, arena_printf(e->arena, "at%d", dim));
        map_set(&e->places, e->arena, text, (void *)(uintptr_t)name);
        cs_line_of(&e->p, e->top, e->top_depth, "const i32 %s = %s;", name, text);
    }
    return name;
}

char *place_register(Emit *e, const LinearLayout *map, int dim, const char *r) {
    uint32_t masks[LL_MAX_BITS];
    dim_masks(map, dim, LL_REGISTER, masks);
    int skip = strcmp(r, "r") == 0 && e->vector_bits > e->coarse_bits ? e->vector_bits : e->coarse_bits;
    for (int i = 0; i < skip; i++) masks[i] = 0;
    return place_bits(e->arena, r, map->count[LL_REGISTER], masks);
}

char *place_coord(Emit *e, const Layout *layout, int dim, const char *r) {
    const char *thread = place_thread(e, &layout->map, dim);
    char *reg = place_register(e, &layout->map, dim, r);
    if (strcmp(reg, "0") == 0) return arena_printf(e->arena, "%s", thread);
    if (strcmp(thread, "0") == 0) return reg;
    return arena_printf(e->arena, "(%s + %s)", thread, reg);
}

char *place_operand(Emit *e, Ref operand, const Layout *result, const char *r) {
    const LinearLayout *from = &result->map, *to = &emit_layout(e, operand)->map;
    const Type *type = ir_type(e->k, operand);
    uint32_t masks[LL_MAX_BITS];
    for (int i = 0; i < from->count[LL_REGISTER]; i++) {
        uint32_t index = 0;
        for (int d = 0; d < to->rank; d++)
            if (type->extent[d] > 1) index |= ll_coord(from, from->basis[LL_REGISTER][i], d) << ll_shift(to, d);
        LayoutPlace place;
        if (!ll_find(to, index, &place) || place.at[LL_LANE] || place.at[LL_WARP])
            ice(e->k->module->trap, "simt: an operand is not where its user looks for it");
        masks[i] = place.at[LL_REGISTER];
    }
    return place_bits(e->arena, r, from->count[LL_REGISTER], masks);
}

char *place_owner(Emit *e, const LinearLayout *map) {
    LayoutPlace free = ll_free(map);
    Text t = text_new(e->arena);
    if (free.at[LL_LANE]) text_add(&t, "(lane & %u) == 0", free.at[LL_LANE]);
    if (free.at[LL_WARP]) text_add(&t, "%s(warp & %u) == 0", t.length ? " && " : "", free.at[LL_WARP]);
    return t.length ? t.at : NULL;
}

char *place_inside(Emit *e, const Layout *layout, const Type *type, int dim, const char *r) {
    if (type->extent[dim] == (int64_t)1 << layout->map.log2[dim]) return NULL;
    return arena_printf(e->arena, "%s < %lld", place_coord(e, layout, dim, r), (long long)type->extent[dim]);
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
