/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_persistent.c: T.Persistent, the loop of a block over its share of the tiles.
 *
 *     for by, bx in T.Persistent([my, nx], wave, index, group):
 *
 *     for t = index, padded, wave              padded: the tiles, with whole groups along the last extent
 *         x = t % group ; by = t / group % my ; bx = t / group / my * group + x
 *         if bx < nx: ..                        where the last group is not whole
 *
 * The last extent runs fastest, inside of groups of it. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

typedef struct PersistentLoop {
    int count;
    int64_t extent[MAX_RANK], wave, group;
    Val index;
    Range range;
} PersistentLoop;

Val lang_lower_persistent(Lower *l, const Call *c) {
    PersistentLoop loop = {.index = lang_plain(c->args[2]), .range = c->range};
    Val domain = c->args[0], group = c->args[3].kind == VAL_NONE ? val_int(1) : lang_plain(c->args[3]);
    if (domain.kind != VAL_LIST && domain.kind != VAL_TUPLE) domain = val_tuple(l, &c->args[0], 1);
    loop.count = val_count(domain);
    if (loop.count < 1 || loop.count > MAX_RANK)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "T.Persistent takes a list of 1 to 8 extents");
    for (int i = 0; i < loop.count; i++)
        if (!lang_check_extent(l, val_items(domain)[i], c->ranges[0], &loop.extent[i])) return val_error;
    if (!lang_check_extent(l, c->args[1], c->ranges[1], &loop.wave) ||
        !lang_check_extent(l, group, c->ranges[3], &loop.group))
        return val_error;
    int64_t last = loop.extent[loop.count - 1];
    if (loop.wave < 1) return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[1], "a wave has at least one tile");
    if (loop.group > last) loop.group = last;
    if (loop.group < 1) loop.group = 1;
    return lang_own(l, &lang_persistent_own, &loop, sizeof loop);
}

static Ref number(Lower *l, int64_t n) { return ir_int(&l->b, EL_I32, n); }

/* Takes the part of an extent off a number. */
static Ref take(Lower *l, Ref *rest, int64_t extent) {
    Ref part = ir_binary(&l->b, OP_MOD, *rest, number(l, extent));
    *rest = ir_binary(&l->b, OP_FLOORDIV, *rest, number(l, extent));
    return part;
}

void lang_run_persistent(Lower *l, const PyNode *node, const void *thing) {
    const PersistentLoop *loop = thing;
    const char *names[MAX_RANK];
    int last = loop->count - 1;
    int64_t groups = (loop->extent[last] + loop->group - 1) / loop->group, padded = groups * loop->group;
    Ref index;
    if (!lang_loop_names(l, node->For.target, names, loop->count)) return;
    if (!lang_convert(l, loop->index, EL_I32, loop->range, &index)) return;
    for (int i = 0; i < last; i++)
        if (__builtin_mul_overflow(padded, loop->extent[i], &padded) || padded > INT32_MAX - loop->wave) {
            py_error(l, DIAG_TL_ARGUMENTS, loop->range, "so many tiles do not fit 32 bits" FIX "give larger blocks");
            return;
        }
    if (!padded) return;
    size_t before = l->frame->locals.count;
    bool whole = loop->extent[last] % loop->group == 0;
    l->b.range = loop->range;
    Op *op = ir_for(&l->b, index, number(l, padded), number(l, loop->wave), NULL, 0, "tile"), *guard = NULL;
    Builder outside = l->b, inside;
    l->b = ir_builder_inside(&outside, op->regions[0]);
    Ref rest = op->regions[0]->args[0], place[MAX_RANK], within = take(l, &rest, loop->group);
    for (int i = last - 1; i >= 0; i--) place[i] = take(l, &rest, loop->extent[i]);
    place[last] = ir_binary(&l->b, OP_ADD, ir_binary(&l->b, OP_MUL, rest, number(l, loop->group)), within);
    for (int i = 0; i < loop->count; i++) {
        lang_add_variable(l, place[i], -1, NULL, NULL);
        py_set_local(l, names[i], val_tensor(place[i]));
    }
    inside = l->b;
    l->nest++;
    if (!whole) {
        guard = ir_if(&l->b, ir_compare(&l->b, CMP_LT, place[last], number(l, loop->extent[last])), 0, NULL);
        inside = l->b;
        Builder none = ir_builder_inside(&inside, guard->regions[1]);
        ir_yield(&none, NULL, 0);
        l->b = ir_builder_inside(&inside, guard->regions[0]);
        l->branches++;
    }
    lang_run_closed(l, node);
    if (!whole) {
        l->branches--;
        l->b = inside;
        ir_yield(&l->b, NULL, 0);
    }
    l->nest--;
    l->b = outside;
    lang_forget_names(l, before, names, loop->count);
}
