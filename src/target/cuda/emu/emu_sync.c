/* emu_sync.c: where threads wait for each other: collectives of a warp, named barriers, mbarriers,
 * registers.
 *
 * A collective instruction gathers the 32 lanes of a warp: each leaves its operands in the Warp and
 * waits; the last one does the work for all and wakes the others. Lanes that come from different
 * places in the code are a fault, since on the device the result would be undefined. */
#include "target/cuda/emu/emu_core.h"

#include <string.h>

/* ---- collectives ---- */
static int lane_of(const Emu *emu) { return emu->running->id % EMU_WARP; }

static Warp *warp_of(Emu *emu) { return &emu->warp[emu->running->id / EMU_WARP]; }

bool emu_collective(Emu *emu, int line, const char *what, int kind, int count) {
    Warp *warp = warp_of(emu);
    if (!warp->arrived) {
        warp->what = what;
        warp->line = line;
        warp->kind = kind;
        warp->count = count;
    } else if (warp->line != line || strcmp(warp->what, what) != 0 || warp->kind != kind || warp->count != count) {
        emu_fail(emu, EMU_FAULT_DIVERGENT,
                 "executes %s at %s while other lanes of its warp wait in %s at %s; all 32 lanes "
                 "must take part, "
                 "from one place",
                 what, emu_at(emu, line), warp->what, emu_at(emu, warp->line));
    }
    warp->arrived |= 1u << lane_of(emu);
    if (warp->arrived == 0xFFFFFFFFu) return true;
    emu->running->wait_what = (uint32_t)(emu->running->id / EMU_WARP);
    emu_block(emu, WAIT_WARP, line);
    return false;
}

void emu_collective_done(Emu *emu) {
    Warp *warp = warp_of(emu);
    Thread *first = &emu->thread[emu->running->id & ~(EMU_WARP - 1)];
    warp->arrived = 0;
    for (int i = 0; i < EMU_WARP; i++)
        if (&first[i] != emu->running) emu_wake(emu, &first[i]);
}

unsigned long long emu_shuffle(Emu *emu, int line, int kind, unsigned long long value, int n) {
    Warp *warp = warp_of(emu);
    int lane = lane_of(emu);
    warp->value[lane] = value;
    warp->address[lane] = (uint32_t)n;
    if (emu_collective(emu, line, "a shuffle", kind, 0)) {
        for (int i = 0; i < EMU_WARP; i++) {
            int by = (int)warp->address[i], from = i;
            switch (kind) {
            case EMU_SHFL_IDX: from = by & 31; break;
            case EMU_SHFL_XOR: from = i ^ (by & 31); break;
            case EMU_SHFL_UP: from = i - by; break;
            case EMU_SHFL_DOWN: from = i + by; break;
            }
            warp->result[i] = warp->value[from < 0 || from > 31 ? i : from];
        }
        emu_collective_done(emu);
    }
    return warp->result[lane];
}

unsigned emu_ballot(Emu *emu, int line, int vote) {
    Warp *warp = warp_of(emu);
    int lane = lane_of(emu);
    warp->value[lane] = vote != 0;
    if (emu_collective(emu, line, "a vote", 0, 0)) {
        uint32_t votes = 0;
        for (int i = 0; i < EMU_WARP; i++) votes |= (uint32_t)warp->value[i] << i;
        for (int i = 0; i < EMU_WARP; i++) warp->result[i] = votes;
        emu_collective_done(emu);
    }
    return (unsigned)warp->result[lane];
}

int emu_elect(Emu *emu, int line) {
    if (emu_collective(emu, line, "tw_elect", 0, 0)) emu_collective_done(emu);
    return lane_of(emu) == 0;
}

void emu_sync_warp(Emu *emu, int line) {
    Warp *warp = warp_of(emu);
    emu_publish(emu, &warp->gather, emu->running);
    if (!emu_collective(emu, line, "tw_sync_warp", 0, 0)) return;
    int first = emu->running->id & ~(EMU_WARP - 1);
    for (int i = 0; i < EMU_WARP; i++) emu_adopt(emu, &emu->thread[first + i], warp->gather.view);
    emu_gather_reset(emu, &warp->gather);
    emu_collective_done(emu);
}

/* ---- registers ---- */
void emu_setmaxnreg(Emu *emu, int line, int registers, int increase) {
    Warp *warp = warp_of(emu);
    if (registers % 8 || registers < 24 || registers > 256)
        emu_fail(emu, EMU_FAULT_REGISTERS, "setmaxnreg %d at %s: the count must be a multiple of 8 in 24..256",
                 registers, emu_at(emu, line));
    if (increase ? registers < warp->registers : registers > warp->registers)
        emu_fail(emu, EMU_FAULT_REGISTERS, "setmaxnreg.%s %d at %s: the warp has %d registers a thread",
                 increase ? "inc" : "dec", registers, emu_at(emu, line), warp->registers);
    if (!emu_collective(emu, line, "setmaxnreg", registers, increase)) return;
    int more = (registers - warp->registers) * EMU_WARP;
    int *free = &emu->free_registers[block_of(emu, emu->running->id)];
    while (more > *free) {
        emu->running->wait_what = (uint32_t)registers;
        emu_block(emu, WAIT_REGISTERS, line);
    }
    *free -= more;
    warp->registers = registers;
    if (more < 0)
        for (int i = 0; i < emu->threads; i++)
            if (emu->thread[i].wait == WAIT_REGISTERS) emu_wake(emu, &emu->thread[i]);
    emu_collective_done(emu);
}

/* ---- named barriers ---- */
static void complete_barrier(Emu *emu, NamedBarrier *b, int block, int id) {
    for (int w = 0; w < emu->block_threads / EMU_WARP; w++)
        if (b->member[w] && b->member[w] != 0xFFFFFFFFu)
            emu_fail(emu, EMU_FAULT_DIVERGENT,
                     "barrier %d of %d threads at %s is complete with only part of warp %d (lanes "
                     "%#x); whole warps must "
                     "take part",
                     id, b->expected, emu_at(emu, b->line), w, b->member[w]);
    for (int i = 0; i < emu->block_threads; i++) {
        Thread *thread = &emu->thread[block * emu->block_threads + i];
        if (thread->wait != WAIT_BARRIER || thread->wait_what != (uint32_t)id) continue;
        emu_adopt(emu, thread, b->gather.view);
        emu_wake(emu, thread);
    }
    memset(b->member, 0, sizeof b->member);
    b->expected = b->arrived = 0;
}

void emu_barrier(Emu *emu, int line, int id, int threads, int wait) {
    Thread *thread = emu->running;
    if (!threads) threads = emu->block_threads;
    if (id < 0 || id >= EMU_NAMED_BARRIERS || threads < EMU_WARP || threads % EMU_WARP || threads > emu->block_threads)
        emu_fail(emu, EMU_FAULT_BARRIER,
                 "barrier %d of %d threads at %s: ids are 0..15, and the count whole warps of the block", id, threads,
                 emu_at(emu, line));
    int block = block_of(emu, thread->id);
    NamedBarrier *b = &emu->barrier[block][id];
    int warp = thread->id % emu->block_threads / EMU_WARP;
    uint32_t bit = 1u << thread->id % EMU_WARP;
    if (!b->expected) {
        b->expected = threads;
        b->line = line;
    }
    if (b->expected != threads)
        emu_fail(emu, EMU_FAULT_BARRIER, "barrier %d of %d threads at %s, but others wait at it with %d threads (%s)",
                 id, threads, emu_at(emu, line), b->expected, emu_at(emu, b->line));
    if (b->member[warp] & bit)
        emu_fail(emu, EMU_FAULT_BARRIER, "arrives twice at barrier %d before it is complete (%s)", id,
                 emu_at(emu, line));
    b->member[warp] |= bit;
    b->arrived++;
    emu_publish(emu, &b->gather, thread);
    if (b->arrived == b->expected) {
        if (wait) emu_adopt(emu, thread, b->gather.view);
        complete_barrier(emu, b, block, id);
        emu_gather_reset(emu, &b->gather);
    } else if (wait) {
        thread->wait_what = (uint32_t)id;
        emu_block(emu, WAIT_BARRIER, line);
    }
}

/* ---- mbarriers ---- */
void emu_mbar_init(Emu *emu, int line, unsigned bar, unsigned count) {
    Thread *thread = emu->running;
    emu_check_shared(emu, line, bar, 8, 8, "tw_mbar_init");
    bar += emu_own(emu);
    if (count < 1 || count >= 1u << 20)
        emu_fail(emu, EMU_FAULT_BARRIER, "tw_mbar_init at %s: the count is %u, must be 1 to 2^20 - 1",
                 emu_at(emu, line), count);
    if (emu->mbar_at[bar / 8] || emu->mbar_count == emu->cluster * EMU_MAX_MBARS)
        emu_fail(emu, EMU_FAULT_BARRIER, "tw_mbar_init at %s: %s", emu_at(emu, line),
                 emu->mbar_at[bar / 8] ? "there is an mbarrier already" : "too many mbarriers");
    Access access = {.thread = thread,
                     .agent = thread->id,
                     .line = line,
                     .clock = thread->clock,
                     .kind = CELL_MBAR,
                     .what = "makes an mbarrier at"};
    emu_touch_write(emu, &access, bar, 8);
    emu->mbar[emu->mbar_count] =
        (Mbar){.s = bar, .count = count, .pending = count, .init_line = line, .init_thread = thread->id};
    emu->mbar_at[bar / 8] = (uint16_t)++emu->mbar_count;
}

void emu_fence_mbar_init(Emu *emu, int line) {
    (void)line;
    for (int i = 0; i < emu->mbar_count; i++)
        if (emu->mbar[i].init_thread == emu->running->id) emu->mbar[i].fenced = true;
}

int emu_mbar_use(Emu *emu, int line, int block, uint32_t bar, const char *what) {
    emu_check_shared(emu, line, bar, 8, 8, what);
    bar += (uint32_t)block * emu->shared_stride;
    int index = emu->mbar_at[bar / 8] - 1;
    if (index < 0)
        emu_fail(emu, EMU_FAULT_BARRIER, "%s at %s: no mbarrier was made at %s", what, emu_at(emu, line),
                 emu_bytes(emu, bar, 8));
    const Cell *cell = &emu->cell[bar];
    if (!emu_seen(emu, emu->running, cell->agent, cell->clock))
        emu_fail(emu, EMU_FAULT_RACE,
                 "%s at %s uses the mbarrier at %s, whose tw_mbar_init by %s at %s is not "
                 "ordered before it; put %s between them",
                 what, emu_at(emu, line), emu_bytes(emu, bar, 8), emu_agent(emu, cell->agent), emu_at(emu, cell->line),
                 emu->cluster > 1 ? "tw_cluster_sync()" : "tw_sync()");
    return index;
}

static void complete_phase(Emu *emu, int index) {
    Mbar *mbar = &emu->mbar[index];
    uint32_t parity = mbar->phase & 1;
    emu_mbar_publish_phase(emu, mbar, agent_mbar(emu, index));
    mbar->phase++;
    mbar->pending = mbar->count;
    for (int i = 0; i < emu->threads; i++) {
        Thread *thread = &emu->thread[i];
        if (thread->wait == WAIT_MBAR && thread->wait_what == mbar->s && thread->wait_parity == parity)
            emu_wake(emu, thread);
    }
}

/* After arrivals or bytes changed. */
static void settle(Emu *emu, int index, int line) {
    Mbar *mbar = &emu->mbar[index];
    if (mbar->pending > 0) return;
    if (mbar->bytes < 0)
        emu_fail(emu, EMU_FAULT_BYTES,
                 "%lld bytes more than expected are copied in phase %u of the mbarrier at %s (%s); "
                 "the bytes of "
                 "tw_mbar_arrive_expect must be those of all copies of the phase",
                 -(long long)mbar->bytes, mbar->phase, emu_bytes(emu, mbar->s, 8), emu_at(emu, line));
    else if (mbar->bytes == 0)
        complete_phase(emu, index);
}

void emu_mbar_arrive(Emu *emu, int line, unsigned bar, unsigned bytes, int arrive) {
    int block = block_of(emu, emu->running->id);
    emu_mbar_count(emu, line, emu_mbar_use(emu, line, block, bar, "mbarrier arrive"), bytes, arrive != 0);
}

void emu_mbar_count(Emu *emu, int line, int index, unsigned bytes, bool arrive) {
    Mbar *mbar = &emu->mbar[index];
    if (bytes >= 1u << 20 || mbar->bytes + (int64_t)bytes >= 1 << 20)
        emu_fail(emu, EMU_FAULT_BYTES, "an mbarrier cannot expect %lld bytes (%s); the limit is 2^20 - 1",
                 (long long)mbar->bytes + bytes, emu_at(emu, line));
    mbar->bytes += bytes;
    if (!arrive) return;
    if (mbar->pending == 0)
        emu_fail(emu, EMU_FAULT_ARRIVALS,
                 "arrives at %s on the mbarrier at %s, whose phase %u already has its %u arrivals "
                 "(%lld bytes are still "
                 "missing)",
                 emu_at(emu, line), emu_bytes(emu, mbar->s, 8), mbar->phase, mbar->count, (long long)mbar->bytes);
    mbar->pending--;
    emu_publish(emu, &mbar->gather, emu->running);
    settle(emu, index, line);
}

void emu_mbar_wait(Emu *emu, int line, unsigned bar, unsigned parity) {
    Thread *thread = emu->running;
    if (parity > 1)
        emu_fail(emu, EMU_FAULT_BARRIER, "waits for parity %u at %s; a parity is 0 or 1", parity, emu_at(emu, line));
    int index = emu_mbar_use(emu, line, block_of(emu, thread->id), bar, "mbarrier wait");
    Mbar *mbar = &emu->mbar[index];
    if ((mbar->phase & 1) == parity) {
        thread->wait_what = mbar->s;
        thread->wait_parity = parity;
        emu_block(emu, WAIT_MBAR, line);
    }
    emu_adopt_mbar(emu, thread, mbar, (int)parity);
}

void emu_mbar_complete_bytes(Emu *emu, const Event *load) {
    Mbar *mbar = &emu->mbar[load->mbar];
    mbar->in_flight--;
    mbar->bytes -= load->bytes;
    if (mbar->phase != load->phase)
        emu_fail(emu, EMU_FAULT_BYTES,
                 "the %u bytes copied by %s land after phase %u of the mbarrier at %s was "
                 "complete: it expected fewer "
                 "bytes than were copied",
                 load->bytes, emu_at(emu, load->line), load->phase, emu_bytes(emu, mbar->s, 8));
    else
        settle(emu, (int)load->mbar, load->line);
}

void emu_mbar_complete_copies(Emu *emu, const Event *copies) {
    Mbar *mbar = &emu->mbar[copies->mbar];
    mbar->in_flight--;
    if (mbar->pending == 0) {
        emu_fail(emu, EMU_FAULT_ARRIVALS,
                 "tw_cp_async_arrive at %s is one arrival too many for phase %u of the mbarrier at %s",
                 emu_at(emu, copies->line), mbar->phase, emu_bytes(emu, mbar->s, 8));
        return;
    }
    if (!mbar->gather.view) mbar->gather.view = emu_view_new(emu, NULL);
    mbar->gather.view->seen[agent_copies(emu, copies->thread)] = copies->clock;
    mbar->pending--;
    settle(emu, (int)copies->mbar, copies->line);
}

void emu_fence_async(Emu *emu, int line) {
    (void)line;
    emu_fence_own(emu, emu->running);
}
