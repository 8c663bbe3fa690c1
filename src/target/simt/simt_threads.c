/* SPDX-License-Identifier: Apache-2.0 */
/* simt_threads.c: code of single threads, as it is written (`spmd` regions of unit `thread` that `merge` left).
 *
 *     tw_sync();
 *     if (tw_thread() < 96) {                    only where the block has more threads than the region
 *         const i32 tx = warp * 32 + lane;
 *         i32 own[4];                            a buffer of the thread's own
 *         ..  tw_bar_sync(15, 96);  ..           its barriers are those of its threads
 *     }
 *     tw_sync();
 *
 * Scalars are each thread's own here, and every thread does its loads, stores and atomics itself. What stands around
 * the region meets it at two barriers; inside, those that are written are all there are. */
#include "ir/threads.h"
#include "target/simt/simt.h"

static int64_t count_threads(Emit *e, const Op *spmd) {
    int64_t threads = 1, extent;
    for (int d = 0; d < spmd->operand_count; d++)
        threads *= ir_const_int(e->k, spmd->operands[d], &extent) ? extent : 1;
    return threads;
}

static int64_t group_threads(const Emit *e) { return (int64_t)e->lanes * e->group.warps; }

/* --- barriers --- */

static void emit_sync(Emit *e, const Op *op) {
    Word unit = op_word(op, AT_UNIT, UNIT_BLOCK);
    int64_t threads = count_threads(e, e->threads), group = e->cx->machine->group_warps * e->lanes;
    int id = (int)op_int(op, AT_ID, -1), own = (int)op_int(e->threads, AT_ID, 0);
    if (unit == UNIT_WARP) {
        cs_line(&e->p, "tw_sync_warp();");
    } else if (id >= 0) {
        cs_line(&e->p, "tw_bar_sync(%d, %lld);", id, (long long)op_int(op, AT_ARRIVALS, threads));
    } else if (unit == UNIT_WARPGROUP && threads > group) {
        cs_line(&e->p, "tw_bar_sync(%d + (%p) / %lld, %lld);", own + 1, e->thread, (long long)group, (long long)group);
    } else if (threads != group_threads(e)) {
        cs_line(&e->p, "tw_bar_sync(%d, %lld);", own, (long long)threads);
    } else {
        sync_step(e);
    }
}

/* What a thread of the same warp has; of another one, its own. */
static void emit_shuffle(Emit *e, const Op *op) {
    Ref result = op->results[0];
    const char *name = cs_name(&e->p, result), *from = cs_fresh(&e->p, "source");
    const Type *type = ir_type(e->k, result);
    const char *value = cs_value_type(&e->p, type);
    const Expr *x = emit_scalar(e, op->operands[0]);
    cs_line(&e->p, "const i32 %s = (i32)%p;", from, emit_scalar(e, op->operands[1]));
    bool small = elem_is_int(type->elem) && elem_info[type->elem].bits < 32;
    const char *how = small ? "(%s)tw_shfl_idx((i32)%p, %s & %d)" : "%s(tw_shfl_idx(%p, %s & %d))";
    const Expr *taken = ex(e->arena, how, value, x, from, e->lanes - 1);
    const char *shown = cs_fresh(&e->p, "shown");
    cs_line(&e->p, "const %s %s = %p;", value, shown, taken);
    cs_line(&e->p, "const %s %s = %s / %d == (%p) / %d ? %s : %p;", value, name, from, e->lanes, e->thread, e->lanes,
            shown, x);
    emit_set_name(e, result, HOLD_SCALAR, name);
}

/* --- memory --- */

/* Is it an array of the thread, not a place in shared memory? */
static bool is_own(Emit *e, Ref buffer) { return threads_are_around(ir_value(e->k, buffer)->op); }

static const Expr *flat_place(Emit *e, const Op *op, const Type *element) {
    const Type *whole = ir_type(e->k, op->operands[0]);
    const Expr *at[MAX_RANK];
    moves_offsets(e, op_list(op, 0), whole, element, at);
    return stage_flat(e, whole, at);
}

static const Expr *shared_place(Emit *e, const Op *op, const Type *element) {
    Stage stage = stage_of_buffer(e, op->operands[0]);
    const Expr *at[MAX_RANK];
    moves_offsets(e, op_list(op, 0), stage.type, element, at);
    return stage_place(e, &stage, at);
}

static void emit_own(Emit *e, const Op *op) {
    const char *name = cs_name(&e->p, op->results[0]);
    const Type *type = ir_type(e->k, op->results[0]);
    cs_line(&e->p, "%s %s[%lld];", cs_memory_type(type->elem), name, (long long)ty_elements(type));
    emit_set_name(e, op->results[0], HOLD_ARRAY, name);
}

static void hold_word(Emit *e, Ref result, const Expr *word) {
    const Type *type = ir_type(e->k, result);
    const char *name = cs_name(&e->p, result);
    cs_line(&e->p, "const %s %s = %p;", cs_value_type(&e->p, type), name, cs_unpack(&e->p, type->elem, word));
    emit_set_name(e, result, HOLD_SCALAR, name);
}

static void emit_read(Emit *e, const Op *op) {
    Ref result = op->results[0];
    const Type *type = ir_type(e->k, result);
    if (is_own(e, op->operands[0])) {
        const Expr *flat = flat_place(e, op, type);
        hold_word(e, result, ex(e->arena, "%p[%p]", emit_hold(e, op->operands[0])->by, flat));
        return;
    }
    const Expr *place = shared_place(e, op, type);
    const char *raw = cs_fresh(&e->p, "raw");
    cs_line(&e->p, "%s %s;", cs_memory_type(type->elem), raw);
    cs_line(&e->p, "tw_lds(1, &%s, %p);", raw, place);
    hold_word(e, result, ex_name(e->arena, raw));
}

static void emit_write(Emit *e, const Op *op) {
    Ref value = op_operand(op, 1);
    const Type *type = ir_type(e->k, value);
    const Expr *word = cs_pack(&e->p, type->elem, emit_scalar(e, value));
    if (is_own(e, op->operands[0])) {
        const Expr *flat = flat_place(e, op, type);
        cs_line(&e->p, "%p[%p] = %p;", emit_hold(e, op->operands[0])->by, flat, word);
        return;
    }
    const Expr *place = shared_place(e, op, type);
    const char *name = cs_fresh(&e->p, "stored");
    cs_line(&e->p, "const %s %s = %p;", cs_memory_type(type->elem), name, word);
    cs_line(&e->p, "tw_sts(1, %p, &%s);", place, name);
}

/* Into global memory, or into a buffer: by each thread for itself. */
static void emit_combine(Emit *e, const Op *op) {
    bool buffer = op->code == OP_BATOMIC;
    const Type *type = ir_type(e->k, op->results[0]);
    const char *memory = cs_memory_type(type->elem), *old = e->uses[op->results[0]] ? cs_fresh(&e->p, "old") : NULL;
    if (buffer && is_own(e, op->operands[0])) {
        const Expr *at = ex(e->arena, "%p[%p]", emit_hold(e, op->operands[0])->by, flat_place(e, op, type));
        const char *was = cs_fresh(&e->p, "was");
        cs_line(&e->p, "const %s %s = %p;", memory, was, at);
        const Expr *now = cs_combine(&e->p, op_word(op, AT_COMBINE, COMBINE_ADD), type->elem, false,
                                     cs_unpack(&e->p, type->elem, ex_name(e->arena, was)),
                                     emit_scalar(e, op_operand(op, 1)));
        cs_line(&e->p, "%p = %p;", at, cs_pack(&e->p, type->elem, now));
        if (old) hold_word(e, op->results[0], ex_name(e->arena, was));
        return;
    }
    const Expr *place = buffer ? ex(e->arena, "tw_shared_at(%s, %p)", memory, shared_place(e, op, type)) : NULL;
    if (old) cs_line(&e->p, "%s %s = %s();", memory, old, memory);
    atomic_by_thread(e, op, place, old);
    if (old) hold_word(e, op->results[0], ex_name(e->arena, old));
}

/* --- the region --- */

bool threads_emit(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_SYNC: emit_sync(e, op); return true;
    case OP_SHFL: emit_shuffle(e, op); return true;
    case OP_BUF: emit_own(e, op); return true;
    case OP_BLOAD: emit_read(e, op); return true;
    case OP_BSTORE: emit_write(e, op); return true;
    case OP_BATOMIC:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: emit_combine(e, op); return true;
    default: return false;
    }
}

void threads_region(Emit *e, const Op *spmd) {
    const Region *region = spmd->regions[0];
    int64_t threads = count_threads(e, spmd), extent;
    bool fewer = threads < group_threads(e);
    sync_before(e, spmd);
    sync_step(e);
    if (fewer)
        cs_open(&e->p, "if (%p < %lld)", e->thread, (long long)threads);
    else
        emit_block(e);
    const Expr *rest = e->thread;
    cs_note(&e->p, "which thread this is");
    for (int d = region->arg_count - 1; d >= 0; d--) {
        const char *name = cs_name(&e->p, region->args[d]);
        ir_const_int(e->k, spmd->operands[d], &extent);
        cs_line(&e->p, d ? "const i32 %s = (%p) %% %lld;" : "const i32 %s = %p;", name, rest, (long long)extent);
        if (d) rest = ex(e->arena, "(%p) / %lld", rest, (long long)extent);
        emit_set_name(e, region->args[d], HOLD_SCALAR, name);
    }
    e->threads = spmd;
    emit_region(e, region);
    e->threads = NULL;
    cs_close(&e->p);
    sync_step(e);
}
