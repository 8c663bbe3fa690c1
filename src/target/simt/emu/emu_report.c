/* SPDX-License-Identifier: Apache-2.0 */
/* emu_report.c: what the user reads when a launch ends badly.
 *
 *     race: kernel reduce, block (0, 0, 0), thread 3 reads shared bytes 0-3 at reduce.cu:14, but
 * the write by thread 0 at reduce.cu:12 is not ordered before it; put a barrier, or the wait that
 * belongs to it, between them
 *
 * A deadlock lists every group of threads that waits for the same thing. */
#include "target/simt/emu/emu_core.h"

#include <stdarg.h>

static const char *const fault_names[] = {
#define EMU_FAULT(id, name, meaning) name,
#include "target/simt/emu/emu_fault.def"
#undef EMU_FAULT
};

static const char *fault_name(const Emu *emu, EmuFault fault) {
    bool own = fault >= EMU_FAULT_OF_TARGET;
    return own ? emu->target->fault_names[fault - EMU_FAULT_OF_TARGET] : fault_names[fault];
}

static void begin(Emu *emu, EmuFault fault) {
    const int *b = emu->bind.now.block;
    emu->report.fault = fault;
    text_add(&emu->text, "%s: kernel %s, ", fault_name(emu, fault), emu->launch->kernel ? emu->launch->kernel : "?");
    text_add(&emu->text, "block (%d, %d, %d)", b[0], b[1], b[2]);
}

void emu_fail(Emu *emu, EmuFault fault, const char *format, ...) {
    if (emu->report.fault == EMU_FAULT_NONE) {
        /* Races and fences name their threads themselves: the culprit need not be the one that runs. */
        bool names = fault == EMU_FAULT_RACE || fault == EMU_FAULT_PROXY;
        begin(emu, fault);
        if (emu->running && !names) text_add(&emu->text, ", thread %d", emu->running->id % emu->block_threads);
        text_add(&emu->text, ": ");
        va_list args;
        va_start(args, format);
        text_vadd(&emu->text, format, args);
        va_end(args);
    }
    while (emu->running) fiber_yield(emu->running->fiber); /* never resumed */
}

const char *emu_at(Emu *emu, int line) {
    return arena_printf(&emu->arena, "%s:%d", emu->launch->file ? emu->launch->file : "line", line);
}

/* " of block 1": in a cluster it has to be said. */
const char *emu_of_block(Emu *emu, int block) {
    return emu->cluster > 1 ? arena_printf(&emu->arena, " of block %d", block) : "";
}

const char *emu_bytes(Emu *emu, uint32_t s, uint32_t bytes) {
    const char *whose = emu_of_block(emu, (int)(s / emu->shared_stride));
    s %= emu->shared_stride;
    const EmuRegion *region = NULL;
    for (size_t i = 0; i < emu->launch->region_count && !region; i++)
        if (s - emu->launch->regions[i].begin < emu->launch->regions[i].bytes) region = &emu->launch->regions[i];
    const char *place = region ? arena_printf(&emu->arena, " (%s + %u)", region->name, s - region->begin) : "";
    return arena_printf(&emu->arena, "shared bytes %u-%u%s%s", s, s + bytes - 1, place, whose);
}

const char *emu_agent(Emu *emu, int agent) {
    int t = emu->threads, own = emu->block_threads;
    if (agent >= emu_agents(emu)) return emu->target->agent(emu, agent);
    return arena_printf(&emu->arena, "%sthread %d%s", agent < t ? "" : emu->target->side[agent / t - 1],
                        agent % t % own, emu_of_block(emu, agent % t / own));
}

static void add_wait(Emu *emu, const Thread *t) {
    switch (t->wait) {
    case WAIT_BARRIER: {
        const NamedBarrier *b = &emu->barrier[block_of(emu, t->id) * EMU_NAMED_BARRIERS + (int)t->wait_what];
        text_add(&emu->text, "barrier %u at %s: %d of %d threads are there", t->wait_what, emu_at(emu, t->wait_line),
                 b->arrived, b->expected);
        break;
    }
    case WAIT_WARP: {
        const Warp *w = &emu->warp[t->wait_what];
        text_add(&emu->text, "the other lanes in %s at %s (lanes %#llx are there)", w->what, emu_at(emu, t->wait_line),
                 (unsigned long long)w->arrived);
        break;
    }
    case WAIT_NOTHING:
        if (t->last_line)
            text_add(&emu->text, "their turn; they were last seen at %s", emu_at(emu, t->last_line));
        else
            text_add(&emu->text, "their turn");
        break;
    case WAIT_EXITED: break;
    default: emu->target->say_wait(emu, t);
    }
}

static bool same_wait(const Thread *a, const Thread *b) {
    const Emu *emu = a->emu;
    return block_of(emu, a->id) == block_of(emu, b->id) && a->wait == b->wait && a->wait_line == b->wait_line &&
           a->wait_what == b->wait_what && a->wait_detail == b->wait_detail &&
           (a->wait != WAIT_NOTHING || a->last_line == b->last_line);
}

/* The threads from `first` on that wait as it does: "0-31, 64". */
static void add_threads(Emu *emu, int first) {
    const char *comma = "";
    for (int i = first; i < emu->threads; i++) {
        if (!same_wait(&emu->thread[i], &emu->thread[first])) continue;
        int last = i;
        while (last + 1 < emu->threads && same_wait(&emu->thread[last + 1], &emu->thread[first])) last++;
        int own = emu->block_threads;
        text_add(&emu->text, i == last ? "%s%d" : "%s%d-%d", comma, i % own, last % own);
        comma = ", ";
        i = last;
    }
}

/* Where every thread stands, in groups. */
static void add_places(Emu *emu) {
    for (int i = 0; i < emu->threads; i++) {
        bool known = emu->thread[i].wait == WAIT_EXITED;
        for (int j = 0; j < i && !known; j++) known = same_wait(&emu->thread[i], &emu->thread[j]);
        if (known) continue;
        text_add(&emu->text, "\n  threads ");
        add_threads(emu, i);
        text_add(&emu->text, "%s wait for ", emu_of_block(emu, block_of(emu, i)));
        add_wait(emu, &emu->thread[i]);
    }
    if (emu->exited) text_add(&emu->text, "\n  %d threads have ended", emu->exited);
}

void emu_report_endless(Emu *emu) {
    begin(emu, EMU_FAULT_ENDLESS);
    text_add(&emu->text,
             ": the block has used %llu million steps since it last wrote anything new: a loop that "
             "does not end, or more work than option max_steps allows; thread %d runs at %s",
             (unsigned long long)(emu->most_steps / 1000000), emu->running->id % emu->block_threads,
             emu_at(emu, emu->running->last_line));
    add_places(emu);
}

void emu_report_deadlock(Emu *emu) {
    const char *why = "";
    EmuFault fault = emu->target->deadlock ? emu->target->deadlock(emu, &why) : EMU_FAULT_DEADLOCK;
    begin(emu, fault);
    text_add(&emu->text, ":%s every thread waits:", why);
    add_places(emu);
}
