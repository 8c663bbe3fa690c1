/* cuda_parts.c: an output tile that leaves panel by panel through a buffer of two panels.
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
 * its panel, which is the one to be written next; that also holds from tile to tile. */
#include "target/cuda/cuda_emit.h"

void parts_open(Emit *e, const RingPlan *r) {
    cs_loop(&e->p, "#pragma unroll", "part", 0, r->parts, 1);
    const SharedTile *tile = &r->field[0];
    /* Panel `part` of the tile is panel part % 2 of the buffer. */
    const Expr *at = ex(e->arena, "%s - part / 2 * %lld", r->field_name[0], (long long)(2 * tile->panel));
    shared_store_part(e, r->part, op_operand(r->part, 1), tile, at, r->parts);
    cs_line(&e->p, "if (warp == 0 && lane == 0) tw_bulk_wait_read(0); // of the part before");
    e->shows = true;
    sync_step(e);
}
