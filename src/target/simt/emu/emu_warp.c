/* SPDX-License-Identifier: Apache-2.0 */
/* emu_warp.c: where threads wait for each other: collectives of a warp, named barriers.
 *
 * A collective instruction gathers the lanes of a warp: each leaves its operands in the Warp and
 * waits; the last one does the work for all and wakes the others. Lanes that come from different
 * places in the code are a fault, since on the device the result would be undefined. */
#include "target/simt/emu/emu_core.h"

#include <string.h>

/* ---- collectives ---- */
static uint64_t all_lanes(const Emu *emu) { return ~0ull >> (64 - emu->lanes); }

bool emu_collective(Emu *emu, int line, const char *what, int kind, int count) {
    Warp *warp = warp_of(emu);
    if (!warp->arrived) {
        warp->what = what;
        warp->line = line;
        warp->kind = kind;
        warp->count = count;
    } else if (warp->line != line || strcmp(warp->what, what) != 0 || warp->kind != kind || warp->count != count) {
        emu_fail(emu, EMU_FAULT_DIVERGENT,
                 "executes %s at %s while other lanes of its warp wait in %s at %s; all %d lanes "
                 "must take part, "
                 "from one place",
                 what, emu_at(emu, line), warp->what, emu_at(emu, warp->line), emu->lanes);
    }
    warp->arrived |= 1ull << lane_of(emu);
    if (warp->arrived == all_lanes(emu)) return true;
    emu->running->wait_what = (uint32_t)(emu->running->id / emu->lanes);
    emu_block(emu, WAIT_WARP, line);
    return false;
}

void emu_collective_done(Emu *emu) {
    Warp *warp = warp_of(emu);
    Thread *first = &emu->thread[first_of_warp(emu)];
    warp->arrived = 0;
    for (int i = 0; i < emu->lanes; i++)
        if (&first[i] != emu->running) emu_wake(emu, &first[i]);
}

unsigned long long emu_shuffle(Emu *emu, int line, int kind, unsigned long long value, int n) {
    Warp *warp = warp_of(emu);
    int lane = lane_of(emu), last = emu->lanes - 1;
    warp->value[lane] = value;
    warp->address[lane] = (uint32_t)n;
    if (emu_collective(emu, line, "a shuffle", kind, 0)) {
        for (int i = 0; i < emu->lanes; i++) {
            int by = (int)warp->address[i], from = i;
            switch (kind) {
            case EMU_SHFL_IDX: from = by & last; break;
            case EMU_SHFL_XOR: from = i ^ (by & last); break;
            case EMU_SHFL_UP: from = i - by; break;
            case EMU_SHFL_DOWN: from = i + by; break;
            }
            warp->result[i] = warp->value[from < 0 || from > last ? i : from];
        }
        emu_collective_done(emu);
    }
    return warp->result[lane];
}

unsigned long long emu_ballot(Emu *emu, int line, int vote) {
    Warp *warp = warp_of(emu);
    int lane = lane_of(emu);
    warp->value[lane] = vote != 0;
    if (emu_collective(emu, line, "a vote", 0, 0)) {
        uint64_t votes = 0;
        for (int i = 0; i < emu->lanes; i++) votes |= warp->value[i] << i;
        for (int i = 0; i < emu->lanes; i++) warp->result[i] = votes;
        emu_collective_done(emu);
    }
    return warp->result[lane];
}

int emu_elect(Emu *emu, int line) {
    if (emu_collective(emu, line, "tw_elect", 0, 0)) emu_collective_done(emu);
    return lane_of(emu) == 0;
}

void emu_sync_warp(Emu *emu, int line) {
    Warp *warp = warp_of(emu);
    emu_publish(emu, &warp->gather, emu->running);
    if (!emu_collective(emu, line, "tw_sync_warp", 0, 0)) return;
    int first = first_of_warp(emu);
    for (int i = 0; i < emu->lanes; i++) emu_adopt(emu, &emu->thread[first + i], warp->gather.view);
    emu_gather_reset(emu, &warp->gather);
    emu_collective_done(emu);
}

/* ---- named barriers ---- */
static void complete_barrier(Emu *emu, NamedBarrier *b, int block, int id) {
    for (int w = 0; w < emu->block_threads / emu->lanes; w++)
        if (b->member[w] && b->member[w] != all_lanes(emu))
            emu_fail(emu, EMU_FAULT_DIVERGENT,
                     "barrier %d of %d threads at %s is complete with only part of warp %d (lanes "
                     "%#llx); whole warps must "
                     "take part",
                     id, b->expected, emu_at(emu, b->line), w, (unsigned long long)b->member[w]);
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
    if (id < 0 || id >= EMU_NAMED_BARRIERS || threads < emu->lanes || threads % emu->lanes ||
        threads > emu->block_threads)
        emu_fail(emu, EMU_FAULT_BARRIER,
                 "barrier %d of %d threads at %s: ids are 0..15, and the count whole warps of the block", id, threads,
                 emu_at(emu, line));
    int block = block_of(emu, thread->id);
    NamedBarrier *b = &emu->barrier[block * EMU_NAMED_BARRIERS + id];
    int warp = thread->id % emu->block_threads / emu->lanes;
    uint64_t bit = 1ull << lane_of(emu);
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
