/* cuda_cluster.c: pairs of blocks that load for each other (plan: pass/ring_group.c).
 *
 *     const i32 rank = tw_cluster_rank();
 *     for (i32 pair = tw_block_x() / 2; pair < pairs; pair += tw_blocks_x() / 2) {
 *         const i32 m = tw_min(2 * (..pair..) + rank, (i32)nm - 1);
 *
 * Each block issues its half of a shared field's box, by panels or by rows, to the same place in
 * both; its full barrier expects the whole item, its empty barrier the arrivals of both blocks'
 * consumers (lane 0 of a warp arrives in block 0, lane 1 in block 1). Barriers are made before the
 * cluster's first barrier, and its last one keeps a block alive until the other has made its last
 * arrival. An odd last task is done by both blocks, which store the same bytes. */
#include "target/cuda/cuda_emit.h"

/* Can both blocks load half of it? By whole panels, or rows of whole swizzle patterns. */
static ClusterHalf half_of(Emit *e, const Op *put, const SharedTile *tile) {
    const Layout *layout = emit_layout(e, op_operand(put, 1));
    if (!layout || layout->home != HOME_SHARED) return HALF_NONE;
    const Type *box = ir_type(e->k, op_operand(put, 1));
    int64_t per = tile->width / tile->elem_bytes, panels = (tile->columns + per - 1) / per;
    if (panels % 2 == 0) return HALF_PANELS;
    return box->extent[0] == tile->rows && box->extent[0] % 16 == 0 ? HALF_ROWS : HALF_NONE;
}

ClusterHalf cluster_half(Emit *e, const Op *put, const SharedTile *tile) {
    return e->cluster && op_attr(put, AT_SHARE) ? half_of(e, put, tile) : HALF_NONE;
}

/* Marks the rings with shared fields; false: one of these cannot be loaded in halves. */
static bool mark_rings(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && op_attr(op, AT_SHARE)) {
            RingPlan *r = ring_find(e, ir_value(e->k, op->operands[0])->op->operands[0]);
            r->shared = true;
            if (r->fused || r->full_count != 1 ||
                half_of(e, op, &r->field[ring_field(e, r, op_text(op, AT_FIELD))]) == HALF_NONE)
                return false;
        }
        for (int i = 0; i < op->region_count; i++)
            if (!mark_rings(e, op->regions[i])) return false;
    }
    return true;
}

void cluster_plan(Emit *e, const Op *tasks) {
    int blocks = (int)op_int(tasks, AT_CLUSTER, 0);
    if (!blocks) return;
    if (!e->persist || gang_is(e) || !mark_rings(e, roles_body(tasks))) {
        for (size_t i = 0; i < e->rings.count; i++) e->rings.at[i].shared = false;
        pass_find(e->cx, e->k->range, "cluster",
                  "none: what blocks could share is not loaded by TMA, or not in two halves, or "
                  "programs run side by side");
        return;
    }
    e->cluster = e->plan->cluster = blocks;
    e->share = (int)op_int(tasks, AT_SHARE, 0);
    for (size_t i = 0; i < e->rings.count; i++)
        if (e->rings.at[i].shared) e->rings.at[i].empty_count *= blocks;
}

const char *cluster_extent(Emit *e, const Op *tasks, int d) {
    const char *extent = emit_scalar(e, tasks->operands[d]);
    if (!e->cluster || d != e->share) return extent;
    return arena_printf(e->arena, "((%s + %d) / %d)", extent, e->cluster - 1, e->cluster);
}

const char *cluster_place(Emit *e, const Op *tasks, int d, const char *index) {
    if (!e->cluster || d != e->share) return index;
    return arena_printf(e->arena, "tw_min(%d * (%s) + rank, (i32)%s - 1)", e->cluster, index,
                        emit_scalar(e, tasks->operands[d]));
}

void cluster_arrive(Emit *e, const RingPlan *r, const char *condition, const char *slot) {
    const char *empty = ring_barrier(e, r->empty_name, slot);
    const char *first = condition ? arena_printf(e->arena, "%s && ", condition) : "";
    if (r->shared)
        cs_line(&e->p, "if (%slane < %d) tw_mbar_arrive_at(%s, lane);", first, e->cluster, empty);
    else if (!r->by_lane)
        cs_line(&e->p, "if (%slane == 0) tw_mbar_arrive(%s);", first, empty);
    else if (condition)
        cs_line(&e->p, "if (%s) tw_mbar_arrive(%s);", condition, empty);
    else
        cs_line(&e->p, "tw_mbar_arrive(%s);", empty);
}
