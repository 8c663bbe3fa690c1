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
static const Expr *constant(Emit *e, const char *name, int64_t value) {
    return ex_atom(e->arena, arena_printf(e->arena, "%s = %lld", name, (long long)value));
}

/* Where everything lies in shared memory, as constants. */
static void write_constants(Emit *e) {
    if (cuda_of(e)->rings.count)
        cs_line(&e->p, "// where tiles and barriers (a slot is full, is empty) of the rings lie in shared memory; "
                       "bytes of a slot");
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) {
        const RingPlan *r = &cuda_of(e)->rings.at[i];
        const Type *type = ir_type(e->k, r->ring);
        const Expr *all[MAX_RING_FIELDS + 3];
        int count = 0;
        for (int f = 0; f < type->field_count; f++)
            all[count++] = constant(e, r->field_name[f], r->offset + r->field_offset[f]);
        if (r->slots > 1 || r->each) all[count++] = constant(e, r->bytes_name, r->slot_bytes);
        if (!r->fused)
            all[count++] = constant(e, r->full_name, r->full), all[count++] = constant(e, r->empty_name, r->empty);
        if (count)
            cs_line(&e->p, "const u32 %p; // %s%s, %d slot%s", ex_list(e->arena, all, count), r->of_tile ? "" : "ring ",
                    r->name, r->slots, r->slots == 1 ? "" : "s");
    }
}

static void write_barriers(Emit *e) {
    bool any = false;
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) any |= !cuda_of(e)->rings.at[i].fused;
    if (!any) return;
    cs_line(&e->p, "// how many arrivals complete each barrier");
    cs_open(&e->p, "if (tw_thread() == 0)");
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) {
        const RingPlan *r = &cuda_of(e)->rings.at[i];
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

/* Tasks that grow (or shrink) along one index (`varies`), dealt out in pairs of a long and a short one, so that
 * every block gets the same work: block b has pairs b, b + blocks, .. where there are enough. */
static const Expr *paired_extent(Emit *e, const Op *tasks) {
    return op_attr(tasks, AT_VARIES) ? gang_extent(e, tasks, (int)op_int(tasks, AT_VARIES, 0)) : NULL;
}

static void write_pairs(Emit *e, const Expr *extent) {
    cs_line(&e->p, "// programs differ in length: with enough of them a block takes a long one and a short one in "
                   "turn");
    cs_line(&e->p, "const i32 half = ((i32)%p + 1) / 2;", extent);
    cs_line(&e->p, "const bool paired = tasks >= 2 * tw_blocks_x();");
    cs_line(&e->p, "const i32 turns = paired ? tasks / (i32)%p * half * 2 : tasks;", extent);
    cs_line(&e->p, "const i32 beyond = paired ? 2 * tw_blocks_x() - 1 : tw_blocks_x();");
}

static void open_pairs(Emit *e) {
    cs_open(&e->p, "for (i32 turn = paired ? 2 * tw_block_x() : tw_block_x(); turn < turns; "
                   "turn += paired && !(turn & 1) ? 1 : beyond)");
}

static void decode_pairs(Emit *e, const Op *tasks, const Expr *extent) {
    Region *body = tasks_body(tasks);
    int varies = (int)op_int(tasks, AT_VARIES, 0);
    const char *own = gang_index(e, tasks, varies);
    cs_line(&e->p, "// which program of the grid this turn is");
    cs_line(&e->p, "const i32 width = paired ? half : (i32)%p, number = paired ? turn >> 1 : turn;", extent);
    cs_line(&e->p, "const i32 at = number %% width, mirror = (i32)%p - 1 - at;", extent);
    cs_line(&e->p, "if (paired && (turn & 1) && at == mirror) continue; // the middle one is alone");
    cs_line(&e->p, "const i32 %s = paired && (turn & 1) ? at : mirror;", own);
    emit_set_name(e, body->args[varies], HOLD_SCALAR, own);
    const Expr *rest = ex(e->arena, "(number / width)");
    for (int d = body->arg_count - 1; d >= 0; d--) {
        if (d == varies) continue;
        const char *name = gang_index(e, tasks, d);
        const Expr *size = gang_extent(e, tasks, d);
        cs_line(&e->p, "const i32 %s = %p %% (i32)%p;", name, rest, size);
        rest = ex(e->arena, "(%p / (i32)%p)", rest, size);
        emit_set_name(e, body->args[d], HOLD_SCALAR, name);
    }
}

static const Expr *block_along(Emit *e, int64_t dim) { return ex(e->arena, "tw_block_%c()", "xyz"[dim]); }

/* The task of a block that runs one; blocks along an axis that no task is told apart by would do the same again. */
static void open_task(Emit *e, const Op *tasks) {
    const Expr *first = NULL;
    const Attr *grid = op_attr(tasks, AT_GRID);
    unsigned axes = 0;
    for (int i = 0; grid && i < grid->list.count; i++) axes |= 1u << grid->list.at[i];
    for (int dim = 0; grid && dim < 3; dim++)
        if (!(axes >> dim & 1)) first = ex_and(e->arena, first, ex(e->arena, "%p == 0", block_along(e, dim)));
    if (first)
        cs_open(&e->p, "if (%p)", first);
    else if (grid)
        emit_block(e);
    else {
        cs_line(&e->p, "const i32 task = tw_block_x() + tw_blocks_x() * (tw_block_y() + "
                       "tw_blocks_y() * tw_block_z());");
        cs_open(&e->p, "if (task < tasks)");
    }
}

/* The indices of a task from its number, or from its block. */
static void write_decode(Emit *e, const Op *tasks) {
    Region *body = tasks_body(tasks);
    int count = body->arg_count;
    const Attr *grid = op_attr(tasks, AT_GRID);
    for (int i = 0; grid && i < count; i++) {
        const char *name = cs_name(&e->p, body->args[i]);
        cs_line(&e->p, "const i32 %s = %p;", name, block_along(e, grid->list.at[i]));
        emit_set_name(e, body->args[i], HOLD_SCALAR, name);
    }
    if (grid) return;
    Word order = op_word(tasks, AT_ORDER, ORDER_CODE);
    const char *number = cuda_of(e)->cluster ? "pair" : "task";
    const Expr *varying = paired_extent(e, tasks);
    if (varying) {
        decode_pairs(e, tasks, varying);
        return;
    }
    if (order == ORDER_LONGEST) {
        number = cs_fresh(&e->p, "last_first");
        cs_line(&e->p, "const i32 %s = tasks - 1 - task;", number);
    }
    if (order == ORDER_GROUPED) {
        const Expr *rows = ex_int(e->arena, op_int(tasks, AT_GROUP, 1));
        const char *m = cs_name(&e->p, body->args[0]), *n = cs_name(&e->p, body->args[1]);
        const Expr *height = cluster_extent(e, tasks, 0), *width = cluster_extent(e, tasks, 1);
        if (cuda_of(e)->cluster && cuda_of(e)->share == 0) rows = ex_name(e->arena, "strip"); /* pairs of rows */
        cs_line(&e->p, "// which tile: groups of rows of tiles, each down its columns, so that the L2 holds what they "
                       "share");
        cs_line(&e->p, "const i32 group = %s / (%p * %p);", number, rows, width);
        cs_line(&e->p, "const i32 in_group = %s %% (%p * %p);", number, rows, width);
        cs_line(&e->p, "const i32 group_rows = tw_min((i32)%p - group * %p, %p);", height, rows, rows);
        const Expr *row = ex(e->arena, "group * %p + in_group %% group_rows", rows);
        cs_line(&e->p, "const i32 %s = %p;", m, cluster_place(e, tasks, 0, row));
        cs_line(&e->p, "const i32 %s = %p;", n, cluster_place(e, tasks, 1, ex(e->arena, "in_group / group_rows")));
        emit_set_name(e, body->args[0], HOLD_SCALAR, m);
        emit_set_name(e, body->args[1], HOLD_SCALAR, n);
        return;
    }
    const Expr *rest = ex_name(e->arena, number);
    for (int i = 0; i < count; i++) {
        int d = order == ORDER_COLUMN ? i : count - 1 - i;
        const char *name = gang_index(e, tasks, d);
        const Expr *extent = gang_extent(e, tasks, d), *index = rest;
        if (i < count - 1) index = ex(e->arena, "%p %% (i32)%p", rest, extent);
        cs_line(&e->p, "const i32 %s = %p;", name, cluster_place(e, tasks, d, index));
        rest = ex(e->arena, "(%p / (i32)%p)", rest, extent);
        emit_set_name(e, body->args[d], HOLD_SCALAR, name);
    }
}

static const Op *ring_op_of(Emit *e, const RingPlan *r) { return ir_value(e->k, r->ring)->op; }

static void write_counters(Emit *e, const Op *role) {
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) {
        const RingPlan *r = &cuda_of(e)->rings.at[i];
        if (r->skewed && r->slots > 1 && ring_consumer(ring_op_of(e, r)) == role_name(role))
            cs_line(&e->p, "u32 %s = 0, %s = 0;", ring_counter(e, r, "put"), ring_counter(e, r, "get"));
        bool serves =
            ring_producer(ring_op_of(e, r)) == role_name(role) || ring_consumer(ring_op_of(e, r)) == role_name(role);
        if (r->fused || !serves) continue;
        if (!ring_counts(e, r))
            cs_line(&e->p, "u32 %s = 0;", ring_counter(e, r, "phase"));
        else
            cs_line(&e->p, "u32 %s = %p, %s = 0;", ring_counter(e, r, "next"), ring_first_slot(e, r),
                    ring_counter(e, r, "phase"));
    }
}

void roles_same_counters(Emit *e, const Op *role) {
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++) {
        const RingPlan *r = &cuda_of(e)->rings.at[i];
        if (r->fused || r->skewed || !ring_counts(e, r) || ring_consumer(ring_op_of(e, r)) != role_name(role)) continue;
        const char *next = ring_counter(e, r, "next"), *phase = ring_counter(e, r, "phase");
        cs_line(&e->p, "%s = tw_uniform((i32)%s), %s = tw_uniform((i32)%s);", next, next, phase, phase);
    }
}

void roles_header(Emit *e, const Op *tasks, const Op *role, Ref value) {
    const bool *uses = header_uses(e->k, e->arena, tasks, role, value);
    for (const Op *op = tasks_body(tasks)->first; op; op = op->next) {
        if (!header_has(uses, op)) continue;
        if (elementwise_is(op))
            op = elementwise_run(e, op);
        else
            emit_op(e, op);
    }
}

static void write_task(Emit *e, const Op *tasks, const Op *role) {
    roles_header(e, tasks, role, REF_NONE);
    const Op *feeder = role_feeder(e->k, tasks, role);
    cuda_of(e)->ahead = feeder ? feeder->regions[0]->first : NULL;
    emit_region(e, role->regions[0]);
}

static ThreadGroup group_of(const Op *role) {
    return (ThreadGroup){(int)op_int(role, AT_FIRST, 0), (int)op_int(role, AT_ROLE_WARPS, 1)};
}

static void write_role(Emit *e, const Op *tasks, const Op *role) {
    int number = (int)op_int(role, AT_ID, 0);
    CLines top = {0};
    e->role = role;
    e->group = group_of(role);
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
    if (paired_extent(e, tasks))
        open_pairs(e);
    else if (cuda_of(e)->cluster)
        cs_open(&e->p, "for (i32 pair = tw_block_x() / blocks; pair < pairs; "
                       "pair += tw_blocks_x() / blocks)");
    else if (e->persist)
        cs_open(&e->p, "for (i32 task = tw_block_x(); task < tasks; task += tw_blocks_x())");
    else
        open_task(e, tasks);
    write_decode(e, tasks);
    if (gang_is(e))
        gang_task(e, tasks, role);
    else
        write_task(e, tasks, role);
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
    write_constants(e);
    cluster_begin(e, tasks);
    write_barriers(e);
    for (size_t i = 0; i < cuda_of(e)->rings.count; i++)
        if (cuda_of(e)->rings.at[i].skewed)
            cuda_of(e)->plan->execution = arena_printf(e->k->module->arena, "skew %d",
                                                       cuda_of(e)->rings.at[i].slots - cuda_of(e)->rings.at[i].hold);
    if (gang_is(e)) gang_begin(e, tasks);
    const Expr *count = NULL;
    for (int i = 0; i < tasks->operand_count; i++) {
        const Expr *extent = ex(e->arena, "(i32)%p", gang_extent(e, tasks, i));
        count = count ? ex(e->arena, "%p * %p", count, extent) : extent;
    }
    if (!op_attr(tasks, AT_GRID)) cs_line(&e->p, "const i32 %s = %p;", cuda_of(e)->cluster ? "pairs" : "tasks", count);
    if (paired_extent(e, tasks)) write_pairs(e, paired_extent(e, tasks));
    bool branches = false;
    for (int turn = 0; turn < 2; turn++)
        for (const Op *role = role_first(tasks); role; role = role_next(role)) {
            if (role_is_guest(role) || (role_name(role) == ROLE_COMPUTE) != (turn == 0)) continue;
            if (!op_int(role, AT_ID, 0)) { /* alone */
                write_role(e, tasks, role);
                continue;
            }
            ThreadGroup g = group_of(role);
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
