/* emu_report.c: what the user reads when a launch ends badly.
 *
 *     race: kernel reduce, block (0, 0, 0), thread 3 reads shared bytes 0-3 at reduce.cu:14, but
 * the write by thread 0 at reduce.cu:12 is not ordered before it; put a barrier, or the wait that
 * belongs to it, between them
 *
 * A deadlock lists every group of threads that waits for the same thing, and the state of each
 * mbarrier among them. */
#include "target/cuda/emu/emu_core.h"

#include <stdarg.h>

static const char *const fault_names[] = {
#define EMU_FAULT(id, name, meaning) name,
#include "target/cuda/emu/emu_fault.def"
#undef EMU_FAULT
};

const char *emu_fault_name(EmuFault fault) { return fault_names[fault]; }

static void begin(Emu *emu, EmuFault fault) {
    const int *b = emu->bind.now.block;
    emu->report.fault = fault;
    text_add(&emu->text, "%s: kernel %s, ", fault_names[fault], emu->launch->kernel ? emu->launch->kernel : "?");
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
static const char *of_block(Emu *emu, int block) {
    return emu->cluster > 1 ? arena_printf(&emu->arena, " of block %d", block) : "";
}

const char *emu_bytes(Emu *emu, uint32_t s, uint32_t bytes) {
    const char *whose = of_block(emu, (int)(s / emu->shared_stride));
    s %= emu->shared_stride;
    const EmuRegion *region = NULL;
    for (size_t i = 0; i < emu->launch->region_count && !region; i++)
        if (s - emu->launch->regions[i].begin < emu->launch->regions[i].bytes) region = &emu->launch->regions[i];
    const char *place = region ? arena_printf(&emu->arena, " (%s + %u)", region->name, s - region->begin) : "";
    return arena_printf(&emu->arena, "shared bytes %u-%u%s%s", s, s + bytes - 1, place, whose);
}

const char *emu_agent(Emu *emu, int agent) {
    static const char *const kinds[] = {"", "cp.async of ", "TMA store of "};
    int t = emu->threads, own = emu->block_threads;
    if (agent < 3 * t)
        return arena_printf(&emu->arena, "%sthread %d%s", kinds[agent / t], agent % t % own,
                            of_block(emu, agent % t / own));
    if (agent < 3 * t + emu->groups) {
        int first = (agent - 3 * t) * EMU_GROUP;
        return arena_printf(&emu->arena, "wgmma of warpgroup %d%s", first % own / EMU_GROUP,
                            of_block(emu, first / own));
    }
    const Mbar *mbar = &emu->mbar[agent - 3 * t - emu->groups];
    return arena_printf(&emu->arena, "TMA load on the mbarrier at %s", emu_bytes(emu, mbar->s, 8));
}

static void add_wait(Emu *emu, const Thread *t) {
    switch (t->wait) {
    case WAIT_BARRIER: {
        const NamedBarrier *b = &emu->barrier[block_of(emu, t->id)][t->wait_what];
        text_add(&emu->text, "barrier %u at %s: %d of %d threads are there", t->wait_what, emu_at(emu, t->wait_line),
                 b->arrived, b->expected);
        break;
    }
    case WAIT_MBAR: {
        const Mbar *m = &emu->mbar[emu->mbar_at[t->wait_what / 8] - 1];
        text_add(&emu->text, "mbarrier at %s, parity %u, at %s: it is in phase %u", emu_bytes(emu, m->s, 8),
                 t->wait_parity, emu_at(emu, t->wait_line), m->phase);
        text_add(&emu->text, ", %lld of %u arrivals and %lld bytes are missing, %d copies are in flight",
                 (long long)m->pending, m->count, (long long)m->bytes, m->in_flight);
        break;
    }
    case WAIT_WARP: {
        const Warp *w = &emu->warp[t->wait_what];
        text_add(&emu->text, "the other lanes in %s at %s (lanes %#x are there)", w->what, emu_at(emu, t->wait_line),
                 w->arrived);
        break;
    }
    case WAIT_WGMMA:
        text_add(&emu->text, "the other warps of the warpgroup in tw_wgmma_wait at %s", emu_at(emu, t->wait_line));
        break;
    case WAIT_REGISTERS:
        text_add(&emu->text, "registers: setmaxnreg.inc %u at %s, %d are free", t->wait_what, emu_at(emu, t->wait_line),
                 emu->free_registers[block_of(emu, t->id)]);
        break;
    case WAIT_CLUSTER:
        text_add(&emu->text, "the cluster's barrier at %s: %d of %d threads are there", emu_at(emu, t->wait_line),
                 emu->cluster_arrived, emu->threads - emu->exited);
        break;
    case WAIT_NOTHING:
        if (t->last_line)
            text_add(&emu->text, "their turn; they were last seen at %s", emu_at(emu, t->last_line));
        else
            text_add(&emu->text, "their turn");
        break;
    case WAIT_EXITED: break;
    }
}

static bool same_wait(const Thread *a, const Thread *b) {
    const Emu *emu = a->emu;
    return block_of(emu, a->id) == block_of(emu, b->id) && a->wait == b->wait && a->wait_line == b->wait_line &&
           a->wait_what == b->wait_what && a->wait_parity == b->wait_parity &&
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

/* A wait for bytes alone, with nothing under way that could bring them: the count was wrong. */
static bool waits_for_bytes(const Emu *emu, const Thread *t) {
    if (t->wait != WAIT_MBAR) return false;
    const Mbar *m = &emu->mbar[emu->mbar_at[t->wait_what / 8] - 1];
    return m->pending == 0 && m->bytes > 0 && m->in_flight == 0;
}

/* Where every thread stands, in groups. */
static void add_places(Emu *emu) {
    for (int i = 0; i < emu->threads; i++) {
        bool known = emu->thread[i].wait == WAIT_EXITED;
        for (int j = 0; j < i && !known; j++) known = same_wait(&emu->thread[i], &emu->thread[j]);
        if (known) continue;
        text_add(&emu->text, "\n  threads ");
        add_threads(emu, i);
        text_add(&emu->text, "%s wait for ", of_block(emu, block_of(emu, i)));
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
    EmuFault fault = EMU_FAULT_DEADLOCK;
    for (int i = 0; i < emu->threads; i++)
        if (waits_for_bytes(emu, &emu->thread[i])) fault = EMU_FAULT_BYTES;
    begin(emu, fault);
    text_add(&emu->text, fault == EMU_FAULT_BYTES
                             ? ": an mbarrier expects more bytes than are copied; every thread waits:"
                             : ": every thread waits:");
    add_places(emu);
}
