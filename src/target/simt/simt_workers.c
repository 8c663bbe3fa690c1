/* SPDX-License-Identifier: Apache-2.0 */
/* simt_workers.c: workers that run side by side, each as it is written (`spmd` with a region for each warp or
 * warpgroup): a branch of the block for each of them.
 *
 *     tw_sync();
 *     if (tw_warp() < 4) {
 *         const i32 lane = tw_lane(), warp = tw_warp();
 *         ..  tw_bar_sync(13, 128);  ..                  its threads meet at a barrier of their own,
 *     } else {
 *         const i32 lane = tw_lane(), warp = tw_warp() - 4;
 *         ..  tw_bar_sync(12, 256);  ..                  or at one of all workers
 *     }
 *     tw_sync();
 *
 * Which barriers those are, is the schedule's affair (schedule_names.c). */
#include "ir/threads.h"
#include "target/simt/simt.h"

static void write_worker(Emit *e, const Op *spmd, int number) {
    const Emit outer = *e;
    CLines top = {0};
    e->group = layout_group_of_worker(e->cx, spmd, number);
    e->barrier = ex_int(e->arena, (int)op_int(spmd, AT_ID, 0) + 1 + number);
    e->places.count = 0, e->places.capacity = 0, e->places.at = NULL;
    cs_line(&e->p, "const i32 lane = tw_lane(), warp = tw_warp() - %d;", e->group.first_warp);
    CLines before = e->p.lines;
    e->p.lines = (CLines){0};
    e->top = &top;
    e->top_depth = e->p.depth;
    emit_region(e, spmd->regions[number]);
    CLines body = e->p.lines;
    e->p.lines = before;
    cs_append(&e->p, &top);
    cs_append(&e->p, &body);
    e->group = outer.group, e->barrier = outer.barrier, e->places = outer.places;
    e->top = outer.top, e->top_depth = outer.top_depth;
}

void workers_emit(Emit *e, const Op *spmd) {
    sync_before(e, spmd);
    sync_step(e);
    for (int r = 0; r < spmd->region_count; r++) {
        ThreadGroup group = layout_group_of_worker(e->cx, spmd, r);
        int end = group.first_warp + group.warps;
        if (r)
            cs_reopen(&e->p, "else if (tw_warp() < %d)", end);
        else
            cs_open(&e->p, "if (tw_warp() < %d)", end);
        write_worker(e, spmd, r);
    }
    cs_close(&e->p);
    sync_step(e);
}

/* Some of the block's workers meet, or all of a region; false: those of one worker do, or the block. */
bool workers_meet(Emit *e, const Op *sync) {
    const Region *worker = threads_worker(sync);
    int id = (int)op_int(sync, AT_ID, -1);
    if (!worker || (id < 0 && op_word(sync, AT_UNIT, UNIT_BLOCK) != UNIT_BLOCK)) return false;
    int all = e->lanes * e->group.warps * worker->owner->region_count;
    if (e->shows) e->target->fence(e, false);
    e->shows = false;
    cs_line(&e->p, "tw_bar_sync(%d, %lld);", id < 0 ? (int)op_int(worker->owner, AT_ID, 0) : id,
            (long long)op_int(sync, AT_ARRIVALS, all));
    return true;
}
