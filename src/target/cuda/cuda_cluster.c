/* SPDX-License-Identifier: Apache-2.0 */
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

/* The numbers of tasks, which a launch decides by. */
static void count_tasks(Emit *e, const Op *tasks) {
    CudaPlan *plan = cuda_of(e)->plan;
    for (int i = 0; i < tasks->operand_count; i++) plan->extent[i] = ring_wanted(e, tasks->operands[i]);
    plan->extents = tasks->operand_count;
    plan->share = cuda_of(e)->share;
    plan->waves = (int)op_int(tasks, AT_WAVES, 0);
    plan->many = (int)op_int(tasks, AT_MANY, 0);
}

void cluster_read(Emit *e, const Op *tasks) {
    CudaEmit *cuda = cuda_of(e);
    cuda->cluster = cuda->plan->cluster = (int)op_int(tasks, AT_CLUSTER, 0);
    cuda->share = (int)op_int(tasks, AT_CLUSTER_INDEX, 0);
    if (cuda->cluster && op_attr(tasks, AT_WAVES)) count_tasks(e, tasks);
}

void cluster_begin(Emit *e, const Op *tasks) {
    if (!cuda_of(e)->cluster) return;
    cs_note(&e->p, "blocks that share tiles: how many, which of them this one is, how many such pairs the axis has");
    cs_line(&e->p, "const i32 blocks = tw_cluster_blocks(), rank = tw_cluster_rank();");
    cs_line(&e->p, "const i32 across = tw_cdiv((i32)%p, blocks);", emit_scalar(e, tasks->operands[cuda_of(e)->share]));
    if (cuda_of(e)->share == 0 && op_attr(tasks, AT_GROUP))
        cs_line(&e->p, "const i32 strip = tw_cdiv(%lld, blocks);", (long long)op_int(tasks, AT_GROUP, 1));
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
