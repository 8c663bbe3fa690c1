/* SPDX-License-Identifier: Apache-2.0 */
/* emu_order.c: what is ordered before what (vector clocks; see emu_core.h).
 *
 * A view has one entry per agent, and a block may have thousands of agents, so views are shared
 * between threads and copied only when they come apart. The common cases cost a pointer: a barrier
 * gives all participants one view. */
#include "target/simt/emu/emu_core.h"

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

void emu_view_replace(Emu *emu, View **place, View *kept) {
    emu_view_drop(emu, *place);
    *place = kept;
}

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void merge(uint32_t *into, const uint32_t *from, int count) {
    for (int i = 0; i < count; i++) into[i] = most(into[i], from[i]);
}

void emu_view_merge(const Emu *emu, View *into, const View *from) {
    merge(into->seen, from->seen, emu->agent_count);
    merge(into->fenced, from->fenced, emu->agent_count);
}

/* Adds what only the thread itself knows. What it hears from others about its own sides may be
 * newer than its own waits: a barrier tells everyone. */
void emu_view_add_own(const Emu *emu, View *view, const Thread *thread) {
    view->seen[thread->id] = thread->clock;
    view->fenced[thread->id] = thread->fenced;
    for (int i = 0; i < EMU_SIDES; i++) {
        int agent = agent_side(emu, i, thread->id);
        view->seen[agent] = most(view->seen[agent], thread->side[i].done);
        view->fenced[agent] = most(view->fenced[agent], thread->side[i].fenced);
    }
}

void emu_publish(Emu *emu, Gather *gather, Thread *thread) {
    if (!gather->view)
        gather->view = emu_view_new(emu, thread->view);
    else if (gather->last != thread->view)
        emu_view_merge(emu, gather->view, thread->view);
    if (gather->last != thread->view) emu_view_replace(emu, &gather->last, emu_view_keep(thread->view));
    emu_view_add_own(emu, gather->view, thread);
    thread->clock++;
}

void emu_gather_reset(Emu *emu, Gather *gather) {
    emu_view_replace(emu, &gather->view, NULL);
    emu_view_replace(emu, &gather->last, NULL);
}

void emu_adopt(Emu *emu, Thread *thread, View *view) { emu_view_replace(emu, &thread->view, emu_view_keep(view)); }

/* The thread's own side that the agent is, or NULL. */
static const Side *own_side(const Emu *emu, const Thread *thread, int agent) {
    for (int i = 0; i < EMU_SIDES; i++)
        if (agent == agent_side(emu, i, thread->id)) return &thread->side[i];
    return NULL;
}

bool emu_seen(const Emu *emu, const Thread *thread, int agent, uint32_t clock) {
    if (agent == thread->id || clock <= thread->view->seen[agent]) return true;
    const Side *side = own_side(emu, thread, agent);
    return side && clock <= side->done;
}

bool emu_seen_fenced(const Emu *emu, const Thread *thread, int agent, uint32_t clock) {
    if (agent == thread->id) return clock <= thread->fenced;
    if (clock <= thread->view->fenced[agent]) return true;
    const Side *side = own_side(emu, thread, agent);
    return side && clock <= side->fenced;
}
