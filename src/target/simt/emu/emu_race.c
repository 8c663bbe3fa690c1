/* SPDX-License-Identifier: Apache-2.0 */
/* emu_race.c: the shadow of shared memory, and of what a kernel writes in global memory.
 *
 * Each byte's Cell holds the stamp of its last write and the reads since. An access is right when
 * the last write (and, for a write, every read since) is ordered before it; an asynchronous one
 * also needs earlier generic stores to be fenced. What the schedule did does not matter, so one run
 * finds every race of the paths it takes.
 *
 * Sets of reads are shared lists: a set is a node (a read, and the set it was added to).
 * Neighbouring bytes are read by the same threads in the same order and so have the same set;
 * adding a read to a set is looked up in a table before it is worked out. Reads that are ordered
 * before the new one are dropped: whoever is ordered after the new one is ordered after them.
 *
 * In global memory the accesses of a block are followed, of allocations that the launch writes: what its threads read
 * and write at the same place must be ordered, for they are one program (or a row of them), whose accesses keep their
 * order. Two writes of one line are not: threads may hold the same element. What blocks do to each other is the
 * source's affair. */
#include "target/simt/emu/emu_core.h"

#include <string.h>

enum {
    NODE_TAG = 0x10000, /* in the agent of a key: (rest, read) -> node, not (set, read) -> set with
                           it added */
    MAX_KEYS = 1 << 20,
    MAX_FOLLOWED = 1 << 20, /* bytes of an allocation; larger ones are not */
};

static bool seen(const Emu *emu, const EmuAccess *access, int agent, uint32_t clock) {
    if (access->thread) return emu_seen(emu, access->thread, agent, clock);
    return clock <= access->view->seen[agent];
}

static bool fenced(const Emu *emu, const EmuAccess *access, int agent, uint32_t clock) {
    if (access->thread) return emu_seen_fenced(emu, access->thread, agent, clock);
    return clock <= access->view->fenced[agent];
}

static ReadKey *find_key(const Emu *emu, uint32_t set, uint32_t agent, uint32_t clock) {
    uint64_t h = ((uint64_t)set << 32 | agent) * 0x9E3779B97F4A7C15u + clock * 0xD1B54A32D192ED03u;
    size_t mask = emu->key_capacity - 1;
    for (size_t i = (size_t)(h >> 20) & mask;; i = (i + 1) & mask) {
        ReadKey *key = &emu->keys[i];
        if (!key->result || (key->set == set && key->agent == agent && key->clock == clock)) return key;
    }
}

static void put_key(Emu *emu, uint32_t set, uint32_t agent, uint32_t clock, uint32_t result) {
    if (2 * (emu->key_count + 1) > emu->key_capacity) {
        ReadKey *old = emu->keys;
        size_t count = emu->key_capacity;
        emu->key_capacity = count ? 2 * count : 1024;
        emu->keys = ARENA_ARRAY(&emu->arena, ReadKey, emu->key_capacity);
        for (size_t i = 0; i < count; i++)
            if (old[i].result) *find_key(emu, old[i].set, old[i].agent, old[i].clock) = old[i];
    }
    *find_key(emu, set, agent, clock) = (ReadKey){set, agent, clock, result};
    emu->key_count++;
}

static uint32_t node_of(Emu *emu, uint32_t rest, uint32_t agent, uint32_t clock, uint32_t line) {
    if (emu->key_capacity) {
        uint32_t known = find_key(emu, rest, agent | NODE_TAG, clock)->result;
        if (known) return known;
    }
    if (!emu->nodes.count) VEC_PUSH(&emu->nodes, &emu->arena); /* node 0 is the empty set */
    *VEC_PUSH(&emu->nodes, &emu->arena) = (ReadNode){rest, agent, clock, line};
    uint32_t node = (uint32_t)emu->nodes.count - 1;
    put_key(emu, rest, agent | NODE_TAG, clock, node);
    return node;
}

static uint32_t add_read(Emu *emu, uint32_t set, const EmuAccess *access) {
    uint32_t agent = (uint32_t)access->agent, line = (uint32_t)access->line;
    if (!set) return node_of(emu, 0, agent, access->clock, line);
    uint32_t known = find_key(emu, set, agent, access->clock)->result;
    if (known) return known;
    uint32_t result = 0;
    bool there = false, dropped = false;
    for (uint32_t n = set; n; n = emu->nodes.at[n].rest) {
        const ReadNode *node = &emu->nodes.at[n];
        if (node->agent == agent && node->clock == access->clock)
            there = true;
        else if (seen(emu, access, (int)node->agent, node->clock))
            dropped = true;
    }
    if (there) {
        result = set;
    } else if (!dropped) {
        result = node_of(emu, set, agent, access->clock, line);
    } else {
        uint32_t rest = 0;
        for (uint32_t n = set; n; n = emu->nodes.at[n].rest) {
            ReadNode node = emu->nodes.at[n];
            if (!seen(emu, access, (int)node.agent, node.clock))
                rest = node_of(emu, rest, node.agent, node.clock, node.line);
        }
        result = node_of(emu, rest, agent, access->clock, line);
    }
    put_key(emu, set, agent, access->clock, result);
    return result;
}

/* Long kernels would grow the table without end; forgetting all reads can only miss a race, never invent one. */
static void forget_reads(Emu *emu) {
    if (emu->key_count < MAX_KEYS) return;
    for (uint32_t i = 0; i < (uint32_t)emu->cluster * emu->shared_stride; i++) emu->cell[i].reads = 0;
    memset(emu->keys, 0, emu->key_capacity * sizeof *emu->keys);
    emu->key_count = 0;
    emu->nodes.count = 0;
    emu->epoch++; /* of global memory the writes too */
}

static const char *subject(Emu *emu, const EmuAccess *access) {
    const char *who = access->thread ? emu_agent(emu, access->thread->id) : emu_agent(emu, access->agent);
    return arena_printf(&emu->arena, "%s %s", who, access->what);
}

static void report_race(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes, int agent, int line,
                        const char *did) {
    emu_fail(emu, EMU_FAULT_RACE,
             "%s %s at %s, but %s by %s at %s is not ordered before it; put a barrier, or the wait "
             "that belongs to it, "
             "between them",
             subject(emu, access), emu_bytes(emu, s, bytes), emu_at(emu, access->line), did, emu_agent(emu, agent),
             emu_at(emu, line));
}

static void report_fence(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes, int agent, int line,
                         const char *did) {
    emu_fail(emu, EMU_FAULT_PROXY, "%s %s at %s, which %s %s at %s without %s", subject(emu, access),
             emu_bytes(emu, s, bytes), emu_at(emu, access->line), emu_agent(emu, agent), did, emu_at(emu, line),
             emu->target->fence);
}

/* The last write of a cell, as a read or a write must find it. */
static void check_write(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes, const Cell *cell) {
    if (cell->kind == CELL_UNTOUCHED) return;
    if (cell->kind == CELL_OBJECT)
        emu_fail(emu, EMU_FAULT_BARRIER, "%s %s at %s, where %s lives (made at %s)", subject(emu, access),
                 emu_bytes(emu, s, bytes), emu_at(emu, access->line), emu->target->object, emu_at(emu, cell->line));
    bool both_atomic = access->kind == CELL_ATOMIC && cell->kind == CELL_ATOMIC;
    if (!both_atomic && !seen(emu, access, cell->agent, cell->clock))
        report_race(emu, access, s, bytes, cell->agent, cell->line, "the write");
    bool generic = cell->kind == CELL_GENERIC || cell->kind == CELL_ATOMIC || cell->kind == CELL_COPY;
    if (access->kind == CELL_ASYNC && generic && !fenced(emu, access, cell->agent, cell->clock))
        report_fence(emu, access, s, bytes, cell->agent, cell->line, "wrote");
}

static bool same(const Cell *a, const Cell *b) {
    return a->clock == b->clock && a->agent == b->agent && a->reads == b->reads && a->kind == b->kind;
}

void emu_touch_read(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes) {
    forget_reads(emu);
    Cell before = {0};
    uint32_t reads = 0;
    for (uint32_t i = s; i < s + bytes; i++) {
        Cell *cell = &emu->cell[i];
        if (i == s || !same(cell, &before)) {
            check_write(emu, access, s, bytes, cell);
            before = *cell;
            reads = add_read(emu, cell->reads, access);
        }
        cell->reads = reads;
    }
}

void emu_touch_write(Emu *emu, const EmuAccess *access, uint32_t s, uint32_t bytes) {
    Cell before = {0};
    Cell now = {.clock = access->clock,
                .agent = (uint16_t)access->agent,
                .kind = access->kind,
                .line = (uint16_t)(access->line > 0xFFFF ? 0xFFFF : access->line)};
    for (uint32_t i = s; i < s + bytes; i++) {
        Cell *cell = &emu->cell[i];
        if (i == s || !same(cell, &before)) {
            check_write(emu, access, s, bytes, cell);
            for (uint32_t n = cell->reads; n; n = emu->nodes.at[n].rest) {
                const ReadNode *node = &emu->nodes.at[n];
                if (!seen(emu, access, (int)node->agent, node->clock))
                    report_race(emu, access, s, bytes, (int)node->agent, (int)node->line, "the read");
                bool generic = (int)node->agent < emu->threads;
                if (access->kind == CELL_ASYNC && generic && !fenced(emu, access, (int)node->agent, node->clock))
                    report_fence(emu, access, s, bytes, (int)node->agent, (int)node->line, "read");
            }
            before = *cell;
        }
        *cell = now;
    }
}

/* ---- global memory ---- */
/* The block gets on, and its budget is renewed: no more often than there is something to write, for what was
 * written is forgotten with the reads. */
static void note_result(Emu *emu) {
    if (emu->results++ < emu->allocations[emu->last_allocation].bytes) emu->steps = 0;
}

static GlobalCell *follow(Emu *emu, bool write) {
    size_t index = emu->last_allocation; /* emu_check_global has found it */
    uint64_t bytes = emu->allocations[index].bytes;
    if (!emu->global[index] && write && bytes <= MAX_FOLLOWED)
        emu->global[index] = ARENA_ARRAY(&emu->lasting, GlobalCell, bytes);
    if (!emu->global[index] && write) note_result(emu);
    return emu->global[index];
}

static void report_global(Emu *emu, const EmuAccess *access, uint64_t at, uint64_t bytes, int agent, int line,
                          const char *did) {
    const char *name = emu->allocations[emu->last_allocation].name;
    emu_fail(emu, EMU_FAULT_RACE,
             "%s bytes %llu-%llu of `%s` at %s, but %s by %s at %s is not ordered before it; a program's accesses keep "
             "their order: put a barrier between them",
             subject(emu, access), (unsigned long long)at, (unsigned long long)(at + bytes - 1), name ? name : "?",
             emu_at(emu, access->line), did, emu_agent(emu, agent), emu_at(emu, line));
}

static bool same_global(const GlobalCell *a, const GlobalCell *b) {
    return a->epoch == b->epoch && a->clock == b->clock && a->agent == b->agent && a->reads == b->reads &&
           a->atomic == b->atomic;
}

void emu_touch_global(Emu *emu, const EmuAccess *access, const void *p, uint64_t bytes, bool write) {
    GlobalCell *cells = follow(emu, write), before = {0}, now = {0};
    if (!cells) return;
    forget_reads(emu);
    uint64_t first = (uint64_t)((const char *)p - (const char *)emu->allocations[emu->last_allocation].base);
    bool atomic = access->kind == CELL_ATOMIC;
    for (uint64_t i = first; i < first + bytes; i++) {
        GlobalCell *cell = &cells[i];
        if (cell->epoch != emu->epoch) *cell = (GlobalCell){.epoch = emu->epoch};
        if (i > first && same_global(cell, &before)) {
            *cell = now;
            continue;
        }
        before = *cell;
        bool alike = write && ((atomic && cell->atomic) || cell->line == (uint32_t)access->line);
        if (cell->line && !alike && !seen(emu, access, cell->agent, cell->clock))
            report_global(emu, access, first, bytes, cell->agent, cell->line, "the write");
        if (!write) {
            cell->reads = add_read(emu, cell->reads, access);
        } else {
            if (!cell->line) note_result(emu);
            for (uint32_t n = cell->reads; n; n = emu->nodes.at[n].rest) {
                const ReadNode *node = &emu->nodes.at[n];
                if (!seen(emu, access, (int)node->agent, node->clock))
                    report_global(emu, access, first, bytes, (int)node->agent, (int)node->line, "the read");
            }
            *cell = (GlobalCell){.epoch = emu->epoch,
                                 .clock = access->clock,
                                 .agent = (uint16_t)access->agent,
                                 .line = (uint32_t)access->line,
                                 .atomic = atomic};
        }
        now = *cell;
    }
}
