/* cuda_cluster.c: pairs of blocks that load for each other (plan: pass/ring/ring_group.c).
 *
 *     const i32 blocks = tw_cluster_blocks(), rank = tw_cluster_rank();
 *     const i32 across = tw_cdiv((i32)nm, blocks), pairs = across * nn;
 *     for (i32 pair = tw_block_x() / blocks; pair < pairs; pair += tw_blocks_x() / blocks) {
 *         const i32 m = tw_min(blocks * (..pair..) + rank, (i32)nm - 1);
 *
 * The launch says whether blocks are 2 or 1 (plan->waves), so one text serves large launches, where
 * pairs pay, and small ones. Each block of a pair issues its half of a shared field's box, by
 * panels or by rows, to the same place in both; its full barrier expects the whole item, its empty
 * barrier the arrivals of both blocks' consumers (lane 0 of a warp arrives in block 0, lane 1 in
 * block 1). Barriers are made before the cluster's first barrier, and its last one keeps a block
 * alive until the other has made its last arrival. An odd last task is done by both blocks, which
 * store the same bytes. */
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
    return cuda_of(e)->cluster && op_attr(put, AT_SHARE) ? half_of(e, put, tile) : HALF_NONE;
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

static bool is_grid(const Kernel *k, Ref x) {
    const Op *op = ref_is_value(x) ? ir_value(k, x)->op : NULL;
    return op && op->code == OP_NUM_PROGRAMS;
}

/* The numbers of tasks, which a launch decides by. */
static bool count_tasks(Emit *e, const Op *tasks) {
    CudaPlan *plan = cuda_of(e)->plan;
    if (tasks->operand_count > CUDA_MAX_RANK) return false;
    for (int i = 0; i < tasks->operand_count; i++) {
        Ref count = tasks->operands[i];
        if (!fact_at_launch(e->k, count) && !is_grid(e->k, count)) return false;
        plan->extent[i] = ring_wanted(e, count);
    }
    plan->extents = tasks->operand_count;
    plan->share = cuda_of(e)->share;
    plan->waves = (int)op_int(tasks, AT_LEAST, 0);
    return true;
}

void cluster_plan(Emit *e, const Op *tasks) {
    int blocks = (int)op_int(tasks, AT_CLUSTER, 0);
    if (!blocks) return;
    cuda_of(e)->share = (int)op_int(tasks, AT_SHARE, 0);
    const char *why =
        !e->persist || gang_is(e)           ? "programs run side by side, or one a block"
        : !mark_rings(e, roles_body(tasks)) ? "what blocks could share is not loaded by TMA, or not in two halves"
        : op_attr(tasks, AT_LEAST) && !count_tasks(e, tasks) ? "a launch does not know its number of tasks"
                                                             : NULL;
    if (!why) {
        cuda_of(e)->cluster = cuda_of(e)->plan->cluster = blocks;
        return;
    }
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) cuda_of(e)->rings.at[i].shared = false;
    pass_find(e->cx, e->k->range, "cluster", "none after all: %s", why);
}

void cluster_begin(Emit *e, const Op *tasks) {
    if (!cuda_of(e)->cluster) return;
    cs_line(&e->p, "const i32 blocks = tw_cluster_blocks(), rank = tw_cluster_rank();");
    cs_line(&e->p, "const i32 across = tw_cdiv((i32)%p, blocks);", emit_scalar(e, tasks->operands[cuda_of(e)->share]));
    if (cuda_of(e)->share == 0 && op_attr(tasks, AT_GROUP))
        cs_line(&e->p, "const i32 strip = tw_cdiv(%lld, blocks);", (long long)op_int(tasks, AT_GROUP, 8));
}

const Expr *cluster_extent(Emit *e, const Op *tasks, int d) {
    bool shared = cuda_of(e)->cluster && d == cuda_of(e)->share;
    return shared ? ex_name(e->arena, "across") : emit_scalar(e, tasks->operands[d]);
}

const Expr *cluster_place(Emit *e, const Op *tasks, int d, const Expr *index) {
    if (!cuda_of(e)->cluster || d != cuda_of(e)->share) return index;
    return ex(e->arena, "tw_min(blocks * (%p) + rank, (i32)%p - 1)", index, emit_scalar(e, tasks->operands[d]));
}

void cluster_arrive(Emit *e, const RingPlan *r, const Expr *condition, const Expr *slot) {
    const Expr *empty = ring_barrier(e, r->empty_name, slot);
    const Expr *one = ex_and(e->arena, condition, ex(e->arena, r->shared ? "lane < blocks" : "lane == 0"));
    if (r->shared)
        cs_line(&e->p, "if (%p) tw_mbar_arrive_at(%p, lane);", one, empty);
    else if (!r->by_lane)
        cs_line(&e->p, "if (%p) tw_mbar_arrive(%p);", one, empty);
    else if (condition)
        cs_line(&e->p, "if (%p) tw_mbar_arrive(%p);", condition, empty);
    else
        cs_line(&e->p, "tw_mbar_arrive(%p);", empty);
}
