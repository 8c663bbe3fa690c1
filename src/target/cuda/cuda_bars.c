/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_bars.c: mbarriers that a kernel writes down: where they lie is the schedule's affair (`at`).
 *
 *     if (tw_thread() == 0) { for (..) tw_mbar_init(4096 + i * 8, 128); tw_fence_mbar_init(); }
 *     tw_sync();
 *     ..
 *     tw_mbar_wait(4096 + stage * 8, phase);     every thread waits for itself
 *     tw_mbar_arrive(4112 + stage * 8);          all threads, if all are counted; else some, behind a barrier */
#include "target/cuda/cuda_emit.h"

static const Expr *bar_at(Emit *e, const Op *op, Ref number) {
    const Op *bar = ir_value(e->k, op->operands[0])->op;
    long long at = shared_offset(e, bar);
    int64_t known = 0;
    if (!number) return ex_int(e->arena, at);
    if (ir_const_int(e->k, number, &known)) return ex_int(e->arena, at + known * 8);
    return ex(e->arena, "%lld + (u32)%p * 8", at, emit_scalar(e, number));
}

static void write_init(Emit *e, const Op *op) {
    long long at = shared_offset(e, op);
    if (e->threads) {
        emit_refuse(e, op, "a barrier that each thread makes for itself; make it in front of them");
        return;
    }
    sync_before(e, op);
    cs_open(&e->p, "if (%p == 0)", e->thread);
    cs_loop(&e->p, NULL, "i", 0, (int)op_int(op, AT_BARS, 1), 1);
    cs_line(&e->p, "tw_mbar_init(%lld + i * 8, %lld);", at, (long long)op_int(op, AT_ARRIVALS, 1));
    cs_close(&e->p);
    cs_line(&e->p, "tw_fence_mbar_init();");
    cs_close(&e->p);
    sync_step(e);
}

static void write_arrive(Emit *e, const Op *op) {
    const Expr *bar = bar_at(e, op, op_operand(op, 1));
    int64_t threads = e->lanes * e->group.warps, count = op_int(op, AT_ARRIVALS, 1);
    if (e->threads) threads = count; /* each for itself */
    sync_before(e, op);
    if (count < threads) {
        sync_step(e);
        cs_open(&e->p, "if (%p < %lld)", e->thread, (long long)count);
        count = 1;
    } else if (count % threads) {
        emit_refuse(e, op, "more arrivals than threads, and no multiple of them");
        return;
    } else {
        if (!e->threads) count /= threads;
        if (e->shows) e->target->fence(e, false); /* what the thread itself wrote */
        e->shows = false;
        emit_block(e);
    }
    if (count > 1) cs_loop(&e->p, NULL, "i", 0, (int)count, 1);
    cs_line(&e->p, "tw_mbar_arrive(%p);", bar);
    if (count > 1) cs_close(&e->p);
    cs_close(&e->p);
}

static void write_expect(Emit *e, const Op *op) {
    const Expr *bar = bar_at(e, op, op_operand(op, 2)), *bytes = emit_scalar(e, op->operands[1]);
    if (!e->threads) {
        sync_before(e, op);
        sync_step(e);
        cs_open(&e->p, "if (%p == 0)", e->thread);
    }
    cs_line(&e->p, "tw_mbar_arrive_expect(%p, (u32)%p);", bar, bytes);
    if (!e->threads) cs_close(&e->p);
}

bool bars_emit(Emit *e, const Op *op) {
    switch (op->code) {
    case OP_BAR: write_init(e, op); return true;
    case OP_BAR_ARRIVE: write_arrive(e, op); return true;
    case OP_BAR_EXPECT: write_expect(e, op); return true;
    case OP_BAR_WAIT:
        cs_line(&e->p, "tw_mbar_wait(%p, (u32)%p & 1);", bar_at(e, op, op_operand(op, 2)),
                emit_scalar(e, op->operands[1]));
        return true;
    default: return false;
    }
}
