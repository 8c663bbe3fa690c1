/* SPDX-License-Identifier: Apache-2.0 */
/* hip_emit.c: a kernel's plan and its .hip: what the schedule says, the statements (simt_emit.c), the file around them
 * (simt_entry.c); what AMD's GPUs, or this target as yet, do not have is refused by name before anything is written. */
#include "pass/schedule/schedule.h"
#include "target/hip/hip.h"
#include "target/hip/hip_dot.h"
#include "target/simt/simt_box.h"
#include "target/simt/simt_ring.h"

/* --- what there is no text for --- */
static void refuse_missing(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PRINT)
            emit_refuse(e, op, "target hip does not print yet: that takes the vendor's device library");
        if (op->code == OP_ASM || op->code == OP_ASM_ACT)
            emit_refuse(e, op, "target hip does not take inline assembly: what is written here is NVIDIA's");
        for (int i = 0; i < op->region_count; i++) refuse_missing(e, op->regions[i]);
    }
}

/* --- loads of rows that are not aligned --- */
static bool load(Emit *e, const Op *op) {
    if (op_word(op, AT_MOVER, MOVER_LANES) != MOVER_LANES) return true; /* its put moves it */
    if (!op_attr(op, AT_BATCH)) return false;
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    const Layout *layout = emit_layout(e, result);
    sync_before(e, op);
    Box b = box_of(e, op, type, layout);
    const Expr *fill = box_fill(e, op, type->elem);
    const char *array = emit_declare(e, result);
    emit_unroll(e, "r", layout->registers, b.vector);
    box_indices(e, &b, op_operand(op, 1));
    cs_line(&e->p, "tw_load_row_anywhere(%d, %s + r, %p, %p, %p, %p, %p);", b.vector, array, b.row,
            b.index[b.inner_dim], b.tensor.extent[b.inner_dim], b.condition ? b.condition : &expr_true, fill);
    cs_close(&e->p);
    return true;
}

/* --- rings whose loads run ahead --- */
static void write_tasks(Emit *e, const Op *tasks) {
    const Op *role = NULL;
    for (const Op *op = role_first(tasks); op; op = role_next(op))
        if (!role_is_guest(op)) {
            if (role) ice(e->k->module->trap, "hip: roles side by side");
            role = op;
        }
    ring_constants(e);
    cs_line(&e->p, e->anew ? "i32 lane = tw_lane();" : "const i32 lane = tw_lane();");
    cs_line(&e->p, "const i32 warp = tw_warp();");
    tasks_count(e, tasks, &tasks_plain, "tasks");
    CLines before = e->p.lines, top = {0}, *outer = e->top;
    int depth = e->top_depth;
    e->p.lines = (CLines){0};
    e->role = role;
    e->group = tasks_group(role);
    e->top = &top;
    e->top_depth = e->p.depth;
    ring_slots_begin(e, role);
    tasks_open(e, tasks);
    tasks_decode(e, tasks, &tasks_plain);
    tasks_role(e, tasks, role);
    cs_close(&e->p);
    CLines body = e->p.lines;
    e->p.lines = before;
    cs_append(&e->p, &top);
    cs_append(&e->p, &body);
    e->role = NULL;
    e->top = outer;
    e->top_depth = depth;
}

static bool write_op(Emit *e, const Op *op) {
    if (op->code == OP_TASKS) {
        write_tasks(e, op);
        return true;
    }
    return ring_is(op) && ring_by_threads(e, op);
}

static void *loop_begin(Emit *e, const Op *loop) {
    const Op *ahead = skew_twin(e, loop);
    if (ahead) skew_begin(e, loop, ahead);
    return (void *)ahead;
}

static void trip_begin(Emit *e, const Op *loop, void *ahead, const char *at) {
    if (ahead) skew_step(e, loop, ahead, at);
}

static void trip_end(Emit *e, const Op *loop, void *ahead) {
    if (ahead) skew_turn_end(e, loop, ahead);
}

static void loop_end(Emit *e, const Op *loop, void *ahead) {
    if (ahead) skew_end(e, ahead);
    if (op_flag(loop, AT_ANEW)) place_anew(e);
}

static void find_anew(Op *op, void *user) {
    ((Emit *)user)->anew |= op_flag(op, AT_ANEW) || op_flag(op, AT_TRIPS_ANEW);
}

static const void *branch_begin(Emit *e, const Op *branch) { return skew_branch(e, branch); }
static void side_begin(Emit *e, const void *state, int side) { skew_side_begin(e, state, side); }
static void side_end(Emit *e, const void *state, int side) { skew_side_end(e, state, side); }

/* Loads are counted one by one, and where the last turn is not there its loads are not. */
static void copies_issued(Emit *e) { (void)e; }
static void copies_land(Emit *e, const Op *loop, int turns, const Expr *last_is_there) {
    if (!e->cx->machine->wave_copy_bytes) return; /* what came through registers is stored */
    long long flying = turns ? (long long)op_int(loop, AT_FLYING, 0) : 0;
    if (flying) {
        cs_line(&e->p, "if (%p) tw_copies_wait(%lld);", last_is_there, flying);
        cs_line(&e->p, "else tw_copies_wait(0);");
    } else {
        cs_line(&e->p, "tw_copies_wait(0);");
    }
}

/* What its own text calls its variables, beside those of entry_words. */
static const char *const own_words[] = {"fa",    "fb",    "wm",     "wn",       "task",   "tasks", "turn",  "turns",
                                        "half",  "paired", "beyond", "group",    "in_group",
                                        "group_rows", "number", "mirror",
                                        "width", "at",    "first",  NULL};

static const SimtTarget hip_target = {.name = "hip",
                                      .prelude = "tilewright_hip.h",
                                      .at_edge = "tw_at_edge",
                                      .dialect = &dialect_cuda,
                                      .words = own_words,
                                      .op = write_op,
                                      .multiply = hip_multiply,
                                      .load = load,
                                      .loop_begin = loop_begin,
                                      .trip_begin = trip_begin,
                                      .trip_end = trip_end,
                                      .loop_end = loop_end,
                                      .branch_begin = branch_begin,
                                      .side_begin = side_begin,
                                      .side_end = side_end,
                                      .copies_issued = copies_issued,
                                      .copies_land = copies_land};

SimtPlan *hip_emit(PassContext *cx, Kernel *k) {
    if (!pass_takes_form(k, FORM_SCHEDULE, "target hip") || !schedule_check(cx, k)) return NULL;
    SimtPlan *plan = ARENA_NEW(k->module->arena, SimtPlan);
    ExprList params = {0};
    CLines top = {0};
    Emit e;
    emit_begin(&e, &hip_target, cx, k);
    refuse_missing(&e, k->body);
    ir_walk(k->body, find_anew, &e);
    if (k->module->diag->errors) return NULL;
    const Op *tasks = tasks_of(k);
    e.persist = tasks && op_flag(tasks, AT_PERSIST);
    if (tasks) ring_read(&e);
    entry_plan(&e, plan, tasks && ring_execution(&e) ? ring_execution(&e) : "flat");
    if (!emit_kernel(&e, &top)) return NULL;
    entry_params(&e, &plan->params, &params);
    entry_grid(&e, &plan->params, &params);
    plan->text = entry_file(&e, &(EntryFile){.plan = plan, .params = &params, .top = &top, .names_thread = !tasks});
    entry_requirements(&e);
    pass_find(cx, k->range, FIND_BLOCK, plan->execution, plan->threads, (long long)plan->shared_bytes);
    return plan;
}
