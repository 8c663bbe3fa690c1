/* SPDX-License-Identifier: Apache-2.0 */
/* emu_proxy.c: orderings that only CUDA has: mbarriers, the fence for the asynchronous side, wgmmas.
 *
 * Threads with equal views that see the same mbarrier phase get one new view (it is remembered per mbarrier). */
#include "target/cuda/emu/cuda_emu_core.h"

#include <string.h>

void emu_adopt_mbar(Emu *emu, Thread *thread, Mbar *mbar, int parity) {
    if (!mbar->done[parity]) return; /* a fresh barrier: nothing happened before */
    if (mbar->adopt_from[parity] != thread->view) {
        View *joined = emu_view_new(emu, thread->view);
        emu_view_merge(emu, joined, mbar->done[parity]);
        emu_view_replace(emu, &mbar->adopt_from[parity], emu_view_keep(thread->view));
        emu_view_replace(emu, &mbar->adopt_to[parity], joined);
    }
    emu_adopt(emu, thread, mbar->adopt_to[parity]);
}

void emu_mbar_publish_phase(Emu *emu, Mbar *mbar, int agent) {
    int parity = (int)(mbar->phase & 1);
    if (!mbar->gather.view) mbar->gather.view = emu_view_new(emu, NULL);
    mbar->gather.view->seen[agent] = mbar->phase + 1;
    emu_view_replace(emu, &mbar->done[parity], emu_view_keep(mbar->gather.view));
    emu_view_replace(emu, &mbar->adopt_from[parity], NULL);
    emu_view_replace(emu, &mbar->adopt_to[parity], NULL);
    emu_gather_reset(emu, &mbar->gather);
}

/* The thread's own stores are fenced, and every cp.async that it knows to be complete: those have no thread that could
 * fence between landing and arrival. */
void emu_fence_async(Emu *emu, int line) {
    (void)line;
    CudaEmu *cuda = cuda_emu(emu);
    Thread *thread = emu->running;
    thread->fenced = thread->clock++;
    thread->side[SIDE_COPIES].fenced = thread->side[SIDE_COPIES].done;
    if (!cuda->uses_copies) return;
    if (cuda->fence_from != thread->view) {
        View *view = emu_view_new(emu, thread->view);
        size_t first = (size_t)agent_copies(emu, 0);
        memcpy(view->fenced + first, view->seen + first, (size_t)emu->threads * sizeof(uint32_t));
        emu_view_replace(emu, &cuda->fence_from, emu_view_keep(thread->view));
        emu_view_replace(emu, &cuda->fence_to, view);
    }
    emu_adopt(emu, thread, cuda->fence_to);
}

/* Records that a warpgroup's wgmmas up to `clock` are complete, in all its threads. */
void emu_adopt_wgmma(Emu *emu, int group, uint32_t clock) {
    View *from = NULL, *to = NULL;
    int agent = agent_group(emu, group);
    for (int i = 0; i < EMU_GROUP; i++) {
        Thread *thread = &emu->thread[group * EMU_GROUP + i];
        if (thread->view != from) {
            emu_view_replace(emu, &from, emu_view_keep(thread->view));
            emu_view_replace(emu, &to, emu_view_new(emu, thread->view));
            to->seen[agent] = clock;
        }
        emu_adopt(emu, thread, to);
    }
    emu_view_drop(emu, from);
    emu_view_drop(emu, to);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* What every thread that issued the instruction has seen. The first one's own entries come down to
 * what the others know; the same holds for the rest, whose entries were never raised. */
void emu_meet(Emu *emu, GroupOp *op, const Thread *thread) {
    if (!op->meet) {
        op->meet = emu_view_new(emu, thread->view);
        emu_view_add_own(emu, op->meet, thread);
        op->meet_last = emu_view_keep(thread->view);
        op->meet_first = thread->id;
        return;
    }
    View *meet = op->meet;
    if (op->meet_last == thread->view) {
        int first = op->meet_first, own[] = {first, agent_copies(emu, first), agent_bulk(emu, first)};
        for (int i = 0; i < 3; i++) {
            meet->seen[own[i]] = least(meet->seen[own[i]], thread->view->seen[own[i]]);
            meet->fenced[own[i]] = least(meet->fenced[own[i]], thread->view->fenced[own[i]]);
        }
        return;
    }
    View *mine = emu_view_new(emu, thread->view);
    emu_view_add_own(emu, mine, thread);
    for (int i = 0; i < emu->agent_count; i++) {
        meet->seen[i] = least(meet->seen[i], mine->seen[i]);
        meet->fenced[i] = least(meet->fenced[i], mine->fenced[i]);
    }
    emu_view_drop(emu, mine);
}
