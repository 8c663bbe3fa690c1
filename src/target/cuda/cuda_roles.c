/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_roles.c: tasks and roles: every role is a branch of the block, compute on the first warps,
 * each of the others on a warpgroup of its own, unless the plan runs it `on` another role.
 *
 *     const u32 in_a = 0, in_b = 16384, ..             where the rings lie
 *     if (tw_thread() == 0) { .. tw_mbar_init .. }  tw_sync();
 *     if (tw_warp() < 8) {                              role compute
 *         for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x()) { .. }
 *     } else if (tw_warp() < 12) {                      role load: one thread, if it only issues
 * TMA
 *
 * Each role computes the task's header for itself. A role that runs on another one is part of it
 * by then (pass/schedule/schedule_follow.c), or feeds it and runs ahead in its loops (cuda_skew.c). */
#include "target/cuda/cuda_emit.h"

/* --- dots in flight --- */
void roles_give_back_late(Emit *e, const Op *release) {
    RingPlan *r = ring_find(e, release->operands[0]);
    ring_show_read(e, r, release);
    cluster_arrive(e, r, ex(e->arena, "%s >= 0", cuda_of(e)->late), ex_name(e->arena, cuda_of(e)->late));
}

void roles_end_late(Emit *e, const Op *release, const char *accumulator) {
    cs_line(&e->p, "tw_wgmma_wait(0);");
    cs_line(&e->p, "tw_wgmma_settle(%s);", accumulator);
    const CudaEmit *cuda = cuda_of(e);
    if (cuda->left) cs_line(&e->p, "%s |= (i32)tw_wgmma_rest(%s, %s);", cuda->late, cuda->left, cuda->zero);
    roles_give_back_late(e, release);
}

void roles_settle_late(Emit *e) {
    CudaEmit *cuda = cuda_of(e);
    if (!cuda->crossing) return;
    cs_line(&e->p, "tw_wgmma_settle(%s);", emit_hold(e, late_dot(cuda->crossing)->operands[2])->by->text);
    roles_give_back_late(e, late_release(cuda->crossing->regions[0]));
    cuda->crossing = NULL;
}

/* --- tasks and roles --- */
static void write_barriers(Emit *e) {
    bool any = false;
    for (size_t i = 0; i < e->rings.count; i++) any |= !e->rings.at[i].fused;
    if (!any) return;
    cs_line(&e->p, "// how many arrivals complete each barrier");
    cs_open(&e->p, "if (tw_thread() == 0)");
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        if (r->fused) continue;
        cs_loop(&e->p, NULL, "i", 0, r->slots, 1);
        cs_line(&e->p, "tw_mbar_init(%s + i * 8, %d);", r->full_name, r->full_count);
        cs_line(&e->p, r->shared ? "tw_mbar_init(%s + i * 8, %d * blocks);" : "tw_mbar_init(%s + i * 8, %d);",
                r->empty_name, r->empty_count);
        cs_close(&e->p);
    }
    cs_line(&e->p, "tw_fence_mbar_init();");
    cs_close(&e->p);
    if (cuda_of(e)->cluster) cs_line(&e->p, "if (blocks > 1) tw_cluster_sync();");
    cs_line(&e->p, cuda_of(e)->cluster ? "else tw_sync();" : "tw_sync();");
}

static void write_counters(Emit *e, const Op *role) {
    ring_slots_begin(e, role);
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        bool serves =
            ring_producer(ring_op_of(e, r)) == role_name(role) || ring_consumer(ring_op_of(e, r)) == role_name(role);
        if (r->fused || !serves) continue;
        cs_note(&e->p, "of each ring: the slot that comes next, and the phase of its barriers, which turns where slots "
                       "begin anew");
        if (!ring_counts(e, r))
            cs_line(&e->p, "u32 %s = 0;", ring_counter(e, r, "phase"));
        else
            cs_line(&e->p, "u32 %s = %p, %s = 0;", ring_counter(e, r, "next"), ring_first_slot(e, r),
                    ring_counter(e, r, "phase"));
    }
}

void roles_same_counters(Emit *e, const Op *role) {
    for (size_t i = 0; i < e->rings.count; i++) {
        const RingPlan *r = &e->rings.at[i];
        if (r->fused || r->skewed || !ring_counts(e, r) || ring_consumer(ring_op_of(e, r)) != role_name(role)) continue;
        const char *next = ring_counter(e, r, "next"), *phase = ring_counter(e, r, "phase");
        cs_line(&e->p, "%s = tw_uniform((i32)%s), %s = tw_uniform((i32)%s);", next, next, phase, phase);
    }
}

static TaskText numbering(Emit *e) {
    const CudaEmit *cuda = cuda_of(e);
    bool strips = cuda->cluster && cuda->share == 0; /* pairs of rows */
    return (TaskText){gang_extent, cluster_place, gang_index, cuda->cluster ? "pair" : "task",
                      strips ? ex_name(e->arena, "strip") : NULL};
}

static void write_role(Emit *e, const Op *tasks, const Op *role) {
    int number = (int)op_int(role, AT_ID, 0);
    CLines top = {0};
    e->role = role;
    e->group = tasks_group(role);
    cuda_of(e)->in_gang = gang_is(e) && !e->group.first_warp;
    e->barrier = number ? ex(e->arena, cuda_of(e)->in_gang ? "%d + gang" : "%d", number) : NULL;
    e->places.count = 0;
    bool single = op_flag(role, AT_ELECT), compute = role_name(role) == ROLE_COMPUTE;
    int registers = (int)op_int(role, AT_REGS, 0);
    if (registers) cs_line(&e->p, compute ? "tw_setmaxnreg_inc(%d);" : "tw_setmaxnreg_dec(%d);", registers);
    if (cuda_of(e)->in_gang)
        cs_line(&e->p, "const i32 lane = tw_lane(), gang = tw_warp() >> %d, warp = tw_warp() & %d;",
                ll_log2(e->group.warps), e->group.warps - 1);
    else if (e->group.first_warp)
        cs_line(&e->p, "const i32 lane = tw_lane(), warp = tw_warp() - %d;", e->group.first_warp);
    else
        cs_line(&e->p, "const i32 lane = tw_lane(), warp = tw_warp();");
    if (single) cs_open(&e->p, "if (warp == 0 && tw_elect())");
    CLines before = e->p.lines;
    e->p.lines = (CLines){0};
    e->top = &top;
    e->top_depth = e->p.depth;
    write_counters(e, role);
    made_begin(e, role);
    rotate_begin(e, role);
    TaskText text = numbering(e);
    if (cuda_of(e)->cluster && !op_attr(tasks, AT_VARIES))
        cs_open(&e->p, "for (i32 pair = tw_block_x() / blocks; pair < pairs; "
                       "pair += tw_blocks_x() / blocks)");
    else
        tasks_open(e, tasks);
    tasks_decode(e, tasks, &text);
    if (gang_is(e))
        gang_task(e, tasks, role);
    else
        tasks_role(e, tasks, role);
    cs_close(&e->p);
    rotate_end(e, role);
    made_end(e, role);
    if (op_flag(role, AT_LANDS)) cs_line(&e->p, "if (%p) tw_bulk_wait(0);", parts_issuers(e));
    if (single) cs_close(&e->p);
    CLines body = e->p.lines;
    e->p.lines = before;
    cs_append(&e->p, &top);
    cs_append(&e->p, &body);
    e->role = NULL;
    cuda_of(e)->in_gang = false;
}

void roles_tasks(Emit *e, const Op *tasks) {
    if (tasks->region_count > 1) {
        emit_refuse(e, tasks, "a template's own task loop");
        return;
    }
    ring_constants(e);
    cluster_begin(e, tasks);
    write_barriers(e);
    if (ring_execution(e)) cuda_of(e)->plan->execution = ring_execution(e);
    if (gang_is(e)) gang_begin(e, tasks);
    TaskText text = numbering(e);
    tasks_count(e, tasks, &text, cuda_of(e)->cluster ? "pairs" : "tasks");
    bool branches = false;
    for (int turn = 0; turn < 2; turn++)
        for (const Op *role = role_first(tasks); role; role = role_next(role)) {
            if (role_is_guest(role) || (role_name(role) == ROLE_COMPUTE) != (turn == 0)) continue;
            if (!op_int(role, AT_ID, 0)) { /* alone */
                write_role(e, tasks, role);
                continue;
            }
            ThreadGroup g = tasks_group(role);
            int end = g.first_warp + g.warps * (g.first_warp ? 1 : cuda_of(e)->gang.programs);
            if (branches)
                cs_reopen(&e->p, "else if (tw_warp() < %d)", end);
            else
                cs_open(&e->p, "if (tw_warp() < %d)", end);
            branches = true;
            cs_line(&e->p, "// role %s", role_text(role));
            write_role(e, tasks, role);
        }
    if (branches) cs_close(&e->p);
    if (cuda_of(e)->cluster)
        cs_line(&e->p, "if (blocks > 1) tw_cluster_sync(); // the other block may still arrive here");
}
