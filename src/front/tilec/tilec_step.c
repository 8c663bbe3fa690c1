/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_step.c: moves of one warp each, where several share a register tile: the places that they name lie one behind
 * the other, and are one place of all of them.
 *
 *     warp_load(&x, &input[warpid()]);                     of four warps: input[4 i] .. input[4 i + 3], 16 rows each
 *     warp_store(g.o, &x, at(blockIdx.x * 8 + warpid(), 0))   64 rows of g.o */
#include "front/tilec/tilec.h"

/* Is the number `step` more for each warp of those that share a tile? *first: as the first of them has it. */
static bool steps(Tc *tc, Scalar s, int64_t step, Scalar *first) {
    int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
    int shared = 32 * tc->unit;
    for (int t = 0; t < tc->threads; t++) {
        int begin = t - t % shared;
        lanes[t] = s.lanes ? s.lanes[begin] : 0;
        int64_t here = s.lanes ? s.lanes[t] : 0;
        if (tc->active[t] && here != lanes[t] + step * ((t - begin) / 32)) return false;
    }
    *first = s;
    if (s.lanes) first->lanes = lanes;
    return true;
}

/* at(.., r, c): rows (of a vector, elements) go on from warp to warp, all else is the same. */
static bool coordinates_step(Tc *tc, Expr *at, int rank) {
    Scalar first[4];
    int moving = at->coord_count - rank;
    if (moving < 0) return false;
    for (int i = 0; i < at->coord_count; i++)
        if (!steps(tc, at->coords[i], i == moving, &first[i])) return false;
    for (int i = 0; i < at->coord_count; i++) at->coords[i] = first[i];
    return true;
}

/* tiles[warpid()]: the last index goes on from warp to warp. */
static bool index_steps(Tc *tc, Lvalue *tiles) {
    Scalar first[MAX_INDICES];
    int count = tiles->index_count;
    if (!count || tiles->part_count || tiles->is_view) return false;
    for (int i = 0; i < count; i++)
        if (!steps(tc, tiles->index[i], i == count - 1, &first[i])) return false;
    for (int i = 0; i < count; i++) tiles->index[i] = first[i];
    TcType *all = ARENA_NEW(tc->arena, TcType);
    *all = *tiles->type;
    if (all->rank == 2) all->rows *= tc->unit;
    else all->cols *= tc->unit;
    tiles->type = all;
    tiles->run = tc->unit;
    return true;
}

bool tc_steps_by_warp(Tc *tc, Call *call) {
    Expr (*move)(Tc *, const Call *) = call->row->lower;
    bool load = move == bi_load_global, store = move == bi_store_global;
    if (call->scope != SCOPE_WARP || tc->unit == 1 || call->row->parameter) return false;
    if (!load && !store && (move != bi_copy || call->count != 2)) return false;
    const TcType *types[2] = {call->args[0].lvalue.type, call->args[1].lvalue.type};
    int mine = types[0]->kind == TC_TILE && types[0]->level == TC_REGISTER ? 0 : 1;
    const TcType *tile = types[mine], *other = types[1 - mine];
    if (tile->kind != TC_TILE || tile->level != TC_REGISTER || tile->repeated) return false;
    if (load || store) call->by_warp = coordinates_step(tc, &call->args[2], tile->rank);
    else call->by_warp = other->level == TC_SHARED && index_steps(tc, &call->args[1 - mine].lvalue);
    return call->by_warp;
}
