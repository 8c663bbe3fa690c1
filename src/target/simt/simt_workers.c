/* simt_workers.c: workers that run side by side, each as it is written (`spmd` with a region for each warp or
 * warpgroup): a branch of the block for each of them.
 *
 *     tw_sync();
 *     if (tw_warp() < 4) {
 *         const i32 lane = tw_lane(), warp = tw_warp();
 *         ..                                             its threads meet at a barrier of their own
 *     } else {
 *         const i32 lane = tw_lane(), warp = tw_warp() - 4;
 *         ..
 *     }
 *     tw_sync(); */
#include "target/simt/simt.h"

/* A number that no barrier of the source has; counted from the last one down. */
int workers_barrier(Emit *e, int which) {
    FoundOps syncs = ir_list(e->k->body, OP_SYNC, e->arena);
    int number = e->cx->machine->named_barriers;
    while (--number > 0) {
        bool taken = false;
        for (size_t i = 0; i < syncs.count; i++) taken |= op_int(syncs.at[i], AT_ID, -1) == number;
        if (!taken && which-- == 0) break;
    }
    return number;
}

static void write_worker(Emit *e, const Op *spmd, int number) {
    const Emit outer = *e;
    CLines top = {0};
    e->group = layout_group_of_worker(e->cx, spmd, number);
    e->barrier = ex_int(e->arena, workers_barrier(e, number));
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
