/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_parts.c: an output tile that leaves panel by panel through a buffer of two panels, or warpgroup by warpgroup.
 *
 * The schedule gives such a ring `parts` (pass/schedule/schedule_parts.c). A part is a panel: 128 bytes
 * of every row.
 *
 *     for (int part = 0; part < 4; part++) {
 *         .. the part's registers to panel part % 2 ..
 *         if (warp == 0 && lane == 0) tw_bulk_wait_read(0);     the part before has been read
 *         tw_fence_async();  tw_bar_sync(..);
 *         if (warp == 0 && lane == 0) { tw_tma_store_2d(.., panel part % 2); tw_bulk_commit(); }
 *     }
 *
 * One barrier a part is enough: who has passed it knows that the store of the part before has read
 * its panel, which is the one to be written next; that also holds from tile to tile.
 *
 * A warpgroup that stores its own rows (`solo`) does the same with a barrier of its own, parts or not:
 *
 *     if ((warp & 3) == 0 && lane == 0) tw_bulk_wait_read(0);   its rows of the tile before have been read
 *     tw_bar_sync(10 + (warp >> 2), 128);
 *     .. its registers to its rows ..
 *     tw_fence_async();  tw_bar_sync(10 + (warp >> 2), 128);
 *     if ((warp & 3) == 0 && lane == 0) { tw_tma_store_2d(.., 64 rows); tw_bulk_commit(); } */
#include "target/cuda/cuda_emit.h"

int solo_groups(const Emit *e, const RingPlan *r) { return r->solo ? e->group.warps / e->cx->machine->group_warps : 1; }

const Expr *solo_group(Emit *e) { return ex(e->arena, "(warp >> %d)", ll_log2(e->cx->machine->group_warps)); }

const Expr *parts_issuer(Emit *e, const RingPlan *r) {
    return r->solo ? ex(e->arena, "(warp & %d) == 0 && lane == 0", e->cx->machine->group_warps - 1)
                   : ex(e->arena, "warp == 0 && lane == 0");
}

const Expr *parts_issuers(Emit *e) {
    const RingPlan *any = NULL;
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        bool own = e->role && ring_producer(ir_value(e->k, r->ring)->op) == role_name(e->role);
        if (!any || (own && r->solo)) any = r;
    }
    return any ? parts_issuer(e, any) : ex(e->arena, "warp == 0 && lane == 0");
}

/* Those who store together have met. */
static void meet(Emit *e, const RingPlan *r) {
    if (!r->solo) {
        sync_step(e);
        return;
    }
    if (e->shows) e->target->fence(e, false);
    e->shows = false;
    cs_line(&e->p, "tw_bar_sync(%d + %p, %d);", r->solo, solo_group(e), e->lanes * e->cx->machine->group_warps);
}

void solo_put(Emit *e, const RingPlan *r) {
    cs_line(&e->p, "if (%p) tw_bulk_wait_read(0);", parts_issuer(e, r));
    meet(e, r);
    shared_store_tile(e, r->part, op_operand(r->part, 1), &r->field[0], ex_name(e->arena, r->field_name[0]));
}

void solo_open(Emit *e, const RingPlan *r) {
    e->shows = true;
    meet(e, r);
}

void parts_open(Emit *e, const RingPlan *r) {
    cs_loop(&e->p, "#pragma unroll", "part", 0, r->parts, 1);
    const SharedTile *tile = &r->field[0];
    /* Panel `part` of the tile is panel part % 2 of the buffer. */
    const Expr *at = ex(e->arena, "%s - part / 2 * %lld", r->field_name[0], (long long)(2 * tile->panel));
    shared_store_part(e, r->part, op_operand(r->part, 1), tile, at, r->parts);
    cs_line(&e->p, "if (%p) tw_bulk_wait_read(0); // of the part before", parts_issuer(e, r));
    e->shows = true;
    meet(e, r);
}
