/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_hooks.c: where the text of any SIMT machine leaves room for CUDA's own (SimtTarget): rings and dots, loads that
 * are copies, and what stands around a loop. */
#include "target/cuda/cuda_dot.h"

static bool write_op(Emit *e, const Op *op) {
    if (op->code == OP_TASKS)
        roles_tasks(e, op);
    else if (ring_is(op) || op->code == OP_TSTORE)
        ring_op(e, op);
    else if (op->code == OP_TENSOR)
        made_emit(e, op);
    else if (op->code == OP_ASM || op->code == OP_ASM_ACT)
        asm_emit(e, op);
    else
        return bars_emit(e, op);
    return true;
}

static bool load(Emit *e, const Op *op) {
    if (op_word(op, AT_MOVER, MOVER_LANES) != MOVER_LANES) return true; /* its put moves it */
    if (!op_attr(op, AT_BATCH)) return false;
    sync_before(e, op);
    loose_load(e, op);
    return true;
}

/* --- loops --- */
typedef struct LoopState {
    const Op *ahead; /* the loop of the load role that runs ahead in it, or NULL (cuda_skew.c) */
    bool staged;     /* words are copied ahead (cuda_loose.c) */
    const Op *late;  /* the release of a loop whose dot stays in flight, or NULL */
} LoopState;

static bool turned(Emit *e, const Op *loop) {
    if (!loop_is_turned(loop)) return false;
    if (op_flag(loop, AT_ROTATE) && op_attr(loop, AT_LEADS))
        early_emit(e, loop);
    else if (op_flag(loop, AT_ROTATE))
        rotate_emit(e, loop);
    else if (op_flag(loop, AT_TRAILS))
        trail_emit(e, loop);
    else
        lead_emit(e, loop);
    gang_end_loop(e, loop);
    return true;
}

static void *loop_begin(Emit *e, const Op *loop) {
    LoopState *state = ARENA_NEW(e->arena, LoopState);
    state->ahead = skew_twin(e, loop);
    if (state->ahead) skew_begin(e, loop, state->ahead);
    state->staged = loose_begin(e, loop);
    copy_begin(e, loop);
    state->late = late_release(loop->regions[0]);
    if (!state->late) return state;
    CudaEmit *cuda = cuda_of(e);
    cuda->late = cs_fresh(&e->p, "held");
    /* A loop without a trip would make the compiler wait for every wgmma by itself (C7514). */
    cs_open(&e->p, "if (%p)", emit_goes_on(e, loop, emit_scalar(e, loop->operands[0])));
    cs_line(&e->p, "i32 %s = -1;", cuda->late);
    cuda->crossing = late_crosses(loop) ? loop : NULL;
    cuda->left = cuda->crossing ? NULL : dot_declare_left(e, late_dot(loop));
    if (!cuda->left) return state;
    cuda->zero = cs_fresh(&e->p, "zero");
    cs_line(&e->p, "const u32 %s = tw_zero();", cuda->zero);
    return state;
}

static void trip_begin(Emit *e, const Op *loop, void *at_loop, const char *at) {
    const LoopState *state = at_loop;
    if (state->ahead) skew_step(e, loop, state->ahead, at);
    if (state->staged) loose_step(e, loop, at);
}

static void trip_end(Emit *e, const Op *loop, void *at_loop) {
    const LoopState *state = at_loop;
    if (state->staged) loose_next(e);
    if (state->ahead) skew_turn_end(e, loop, state->ahead);
}

static void loop_end(Emit *e, const Op *loop, void *at_loop) {
    const LoopState *state = at_loop;
    CudaEmit *cuda = cuda_of(e);
    if (state->ahead) skew_end(e, state->ahead);
    if (state->late) {
        roles_end_late(e, state->late, emit_hold(e, late_dot(loop)->operands[2])->by->text);
        cs_close(&e->p);
        cuda->late = cuda->left = NULL;
    }
    gang_end_loop(e, loop);
}

/* --- branches --- */
static const void *branch_begin(Emit *e, const Op *branch) { return skew_branch(e, branch); }
static void side_begin(Emit *e, const void *state, int side) { skew_side_begin(e, state, side); }
static void side_end(Emit *e, const void *state, int side) { skew_side_end(e, state, side); }

/* --- waits --- */
static void fence(Emit *e, bool global) { cs_line(&e->p, global ? "tw_fence_async_global();" : "tw_fence_async();"); }
static void wait_for_dot(Emit *e) { cs_line(&e->p, "tw_wgmma_wait(0);"); }
/* The thread that issued them waits. */
static void wait_for_stores(Emit *e) { cs_line(&e->p, "if (%p) tw_bulk_wait(0);", parts_issuers(e)); }

static void copies_issued(Emit *e) { cs_line(&e->p, "tw_cp_async_commit();"); }
/* Groups are counted, empty ones too. */
static void copies_land(Emit *e, const Op *loop, int turns, const Expr *last_is_there) {
    (void)loop, (void)last_is_there;
    cs_line(&e->p, "tw_cp_async_wait(%d);", turns);
}

/* What CUDA's own text calls its variables, beside those of entry_words. */
static const char *const own_words[] = {
    "task",      "turn",     "turns",     "pair",       "pairs", "part",       "rank",   "blocks",
    "across",    "strip",    "half",      "paired",     "width", "at",         "mirror", "beyond",
    "tasks",     "group",    "in_group",  "group_rows", "gang",  "neighbours", "side",   "sides",
    "first",     "each",     "longest",   "fa",         "fb",    "some",       "wm",     "wn",
    "TensorMap", "own_maps", "made_maps", "map_places", NULL};

const SimtTarget cuda_target = {
    .name = "cuda",
    .prelude = "tilewright.cuh",
    .dialect = &dialect_cuda,
    .words = own_words,
    .op = write_op,
    .multiply = dot_multiply,
    .load = load,
    .loop = turned,
    .loop_begin = loop_begin,
    .trip_begin = trip_begin,
    .trip_end = trip_end,
    .loop_end = loop_end,
    .branch_begin = branch_begin,
    .side_begin = side_begin,
    .side_end = side_end,
    .fence = fence,
    .stored = dot_end_span,
    .wait_for_dot = wait_for_dot,
    .wait_for_stores = wait_for_stores,
    .copies_issued = copies_issued,
    .copies_land = copies_land,
};
