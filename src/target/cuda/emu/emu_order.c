/* emu_order.c: what is ordered before what (vector clocks; see emu_core.h).
 *
 * A view has one entry per agent, and a block may have thousands of agents, so views are shared
 * between threads and copied only when they come apart. The common cases cost a pointer: a barrier
 * gives all participants one view; threads with equal views that see the same mbarrier phase get
 * one new view (it is remembered per mbarrier). */
#include "target/cuda/emu/emu_core.h"

#include <string.h>

View *emu_view_new(Emu *emu, const View *copy_of) {
    View *view = emu->free_views;
    size_t bytes = (size_t)emu->agent_count * sizeof(uint32_t);
    if (view) {
        emu->free_views = view->next_free;
    } else {
        view = ARENA_NEW(&emu->arena, View);
        view->seen = arena_alloc(&emu->arena, bytes);
        view->fenced = arena_alloc(&emu->arena, bytes);
    }
    view->users = 1;
    if (copy_of) {
        memcpy(view->seen, copy_of->seen, bytes);
        memcpy(view->fenced, copy_of->fenced, bytes);
    } else {
        memset(view->seen, 0, bytes);
        memset(view->fenced, 0, bytes);
    }
    return view;
}

View *emu_view_keep(View *view) {
    if (view) view->users++;
    return view;
}

void emu_view_drop(Emu *emu, View *view) {
    if (!view || --view->users) return;
    view->next_free = emu->free_views;
    emu->free_views = view;
}

static void replace(Emu *emu, View **place, View *kept) {
    emu_view_drop(emu, *place);
    *place = kept;
}

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void merge(uint32_t *into, const uint32_t *from, int count) {
    for (int i = 0; i < count; i++) into[i] = most(into[i], from[i]);
}

static void merge_view(const Emu *emu, View *into, const View *from) {
    merge(into->seen, from->seen, emu->agent_count);
    merge(into->fenced, from->fenced, emu->agent_count);
}

/* Adds what only the thread itself knows. What it hears from others about its own copies may be
 * newer than its own waits: an mbarrier tells everyone. */
static void add_own(const Emu *emu, View *view, const Thread *thread) {
    int copies = agent_copies(emu, thread->id), bulk = agent_bulk(emu, thread->id);
    view->seen[thread->id] = thread->clock;
    view->seen[copies] = most(view->seen[copies], thread->copy_done);
    view->seen[bulk] = most(view->seen[bulk], thread->bulk_done);
    view->fenced[thread->id] = thread->fenced;
    view->fenced[copies] = most(view->fenced[copies], thread->copy_fenced);
}

void emu_publish(Emu *emu, Gather *gather, Thread *thread) {
    if (!gather->view)
        gather->view = emu_view_new(emu, thread->view);
    else if (gather->last != thread->view)
        merge_view(emu, gather->view, thread->view);
    if (gather->last != thread->view) replace(emu, &gather->last, emu_view_keep(thread->view));
    add_own(emu, gather->view, thread);
    thread->clock++;
}

void emu_gather_reset(Emu *emu, Gather *gather) {
    replace(emu, &gather->view, NULL);
    replace(emu, &gather->last, NULL);
}

void emu_adopt(Emu *emu, Thread *thread, View *view) { replace(emu, &thread->view, emu_view_keep(view)); }

void emu_adopt_mbar(Emu *emu, Thread *thread, Mbar *mbar, int parity) {
    if (!mbar->done[parity]) return; /* a fresh barrier: nothing happened before */
    if (mbar->adopt_from[parity] != thread->view) {
        View *joined = emu_view_new(emu, thread->view);
        merge_view(emu, joined, mbar->done[parity]);
        replace(emu, &mbar->adopt_from[parity], emu_view_keep(thread->view));
        replace(emu, &mbar->adopt_to[parity], joined);
    }
    emu_adopt(emu, thread, mbar->adopt_to[parity]);
}

void emu_mbar_publish_phase(Emu *emu, Mbar *mbar, int agent) {
    int parity = (int)(mbar->phase & 1);
    if (!mbar->gather.view) mbar->gather.view = emu_view_new(emu, NULL);
    mbar->gather.view->seen[agent] = mbar->phase + 1;
    replace(emu, &mbar->done[parity], emu_view_keep(mbar->gather.view));
    replace(emu, &mbar->adopt_from[parity], NULL);
    replace(emu, &mbar->adopt_to[parity], NULL);
    emu_gather_reset(emu, &mbar->gather);
}

/* tw_fence_async: the thread's own stores are fenced, and every cp.async that it knows to be
 * complete: those have no thread that could fence between landing and arrival. */
void emu_fence_own(Emu *emu, Thread *thread) {
    thread->fenced = thread->clock++;
    thread->copy_fenced = thread->copy_done;
    if (!emu->uses_copies) return;
    if (emu->fence_from != thread->view) {
        View *view = emu_view_new(emu, thread->view);
        size_t first = (size_t)agent_copies(emu, 0);
        memcpy(view->fenced + first, view->seen + first, (size_t)emu->threads * sizeof(uint32_t));
        replace(emu, &emu->fence_from, emu_view_keep(thread->view));
        replace(emu, &emu->fence_to, view);
    }
    emu_adopt(emu, thread, emu->fence_to);
}

/* Records that a warpgroup's wgmmas up to `clock` are complete, in all its threads. */
void emu_adopt_wgmma(Emu *emu, int group, uint32_t clock) {
    View *from = NULL, *to = NULL;
    int agent = agent_group(emu, group);
    for (int i = 0; i < EMU_GROUP; i++) {
        Thread *thread = &emu->thread[group * EMU_GROUP + i];
        if (thread->view != from) {
            replace(emu, &from, emu_view_keep(thread->view));
            replace(emu, &to, emu_view_new(emu, thread->view));
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
        add_own(emu, op->meet, thread);
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
    add_own(emu, mine, thread);
    for (int i = 0; i < emu->agent_count; i++) {
        meet->seen[i] = least(meet->seen[i], mine->seen[i]);
        meet->fenced[i] = least(meet->fenced[i], mine->fenced[i]);
    }
    emu_view_drop(emu, mine);
}

bool emu_seen(const Emu *emu, const Thread *thread, int agent, uint32_t clock) {
    if (agent == thread->id || clock <= thread->view->seen[agent]) return true;
    if (agent == agent_copies(emu, thread->id)) return clock <= thread->copy_done;
    return agent == agent_bulk(emu, thread->id) && clock <= thread->bulk_done;
}

bool emu_seen_fenced(const Emu *emu, const Thread *thread, int agent, uint32_t clock) {
    if (agent == thread->id) return clock <= thread->fenced;
    if (clock <= thread->view->fenced[agent]) return true;
    return agent == agent_copies(emu, thread->id) && clock <= thread->copy_fenced;
}
