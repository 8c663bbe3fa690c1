/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_time.c: how long a run would take: estimates in cycles of the chip's clock; see tensix_time.h.
 *
 * Known (the fact sheet's section 5): a product of two tiles takes 16 cycles a pass, elementwise FPU work 128 lanes a
 * cycle, a reduction a face a cycle; DRAM bandwidth; 32 bytes a cycle through a NoC port. Estimated by us: the rest of
 * the table below. No card was measured, so absolute figures are rough; what they compare well is plans of one kernel.
 *
 * Every kernel of a core has a clock; compute has three, for its unpacker, its math and its packer. A hand-over carries
 * the time at which it was made: pages of a CB, sections of DST, semaphores. Kernels do not run in the order of their
 * clocks, so a bank of DRAM keeps how many bytes it gives in each window of time, and a request takes what is left in
 * the windows from its own time on. */
#include "target/tenstorrent/model/tensix_time.h"

#include <string.h>

enum {
    ISSUE = 30,         /* a NoC command of a small processor */
    DRAM_LATENCY = 350, /* a read's way to a bank and back */
    NOC_LATENCY = 80,   /* a write's way to another core */
    PORT_BYTES = 32,    /* a cycle, of a core's NoC port */
    UNPACK_BYTES = 64,  /* a cycle, of an unpacker */
    PACK_BYTES = 64,    /* a cycle, of the packers together */
    PASS_CYCLES = 16,   /* of a product of tiles */
    FPU_LANES = 128,
    SFPU_LANES = 32,
    SETUP = 24, /* an init, or a change of formats */
    WINDOW = 256
};

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t *clock_of(TtKernel *self, int part) { return &self->clock[self->compute ? part : 0]; }

uint64_t time_end(const TtKernel *k) { return later(k->clock[0], later(k->clock[1], k->clock[2])); }

/* --------------------------------------------------------------------------------------------------------- DRAM */

/* Makes room for a window of time. Called on the stack of a kernel, which a trap does not leave. */
static bool reach_window(Machine *machine, Bank *bank, size_t w) {
    Trap own, *outer = machine->arena->trap;
    machine->arena->trap = &own;
    if (TRAP_ARM(&own))
        while (bank->used.count <= w) *VEC_PUSH(&bank->used, machine->arena) = 0;
    else
        machine->no_memory = machine->is_over = true;
    machine->arena->trap = outer;
    return bank->used.count > w;
}

/* The cycle at which a bank has given so many bytes to a request of this time. */
static uint64_t take_from_bank(Machine *machine, uint32_t number, uint64_t at, uint32_t bytes) {
    Bank *bank = &machine->banks[number];
    uint32_t most = machine->limits->bank_bytes * WINDOW;
    size_t w = (size_t)(at / WINDOW);
    for (uint32_t left = bytes; left; w++) {
        if (bank->used.count <= w && !reach_window(machine, bank, w)) return at;
        uint32_t free = most - bank->used.at[w], taken = left < free ? left : free;
        bank->used.at[w] += taken;
        left -= taken;
        if (!left) break;
    }
    uint64_t end = (uint64_t)w * WINDOW + bank->used.at[w] / machine->limits->bank_bytes;
    return later(end, at + bytes / machine->limits->bank_bytes);
}

uint64_t time_transfer(TtKernel *self, bool write, int bank, uint32_t bytes) {
    uint64_t *now = clock_of(self, TIME_UNPACK), from;
    *now += ISSUE;
    from = later(*now, self->port);
    self->port = from + (bytes + PORT_BYTES - 1) / PORT_BYTES;
    if (bank < 0) return self->port + NOC_LATENCY;
    uint64_t given = take_from_bank(self->machine, (uint32_t)bank, write ? self->port : from, bytes);
    return later(given, self->port) + (write ? NOC_LATENCY : DRAM_LATENCY);
}

void time_until(TtKernel *self, uint64_t done) {
    uint64_t *now = clock_of(self, TIME_UNPACK);
    *now = later(*now, done);
}

/* --------------------------------------------------------------------------------------------------- hand-overs */

/* Waits for `count` pages from `page` on; the cycles that it takes. */
static uint64_t wait_pages(uint64_t *now, const Cb *cb, const uint64_t *times, uint32_t page, uint32_t count) {
    uint64_t before = *now;
    for (uint32_t i = 0; i < count; i++) *now = later(*now, times[(page + i) % cb->desc->pages]);
    return *now - before;
}

void time_reserve(TtKernel *self, Cb *cb, uint32_t pages) {
    cb->space_stall += wait_pages(clock_of(self, TIME_PACK), cb, cb->popped_at, cb->write_page, pages);
}
void time_push(TtKernel *self, Cb *cb, uint32_t pages) {
    for (uint32_t i = 0; i < pages; i++) cb->pushed_at[(cb->write_page + i) % cb->desc->pages] = *clock_of(self,
                                                                                                           TIME_PACK);
}
void time_wait(TtKernel *self, Cb *cb, uint32_t pages) {
    cb->page_stall += wait_pages(clock_of(self, TIME_UNPACK), cb, cb->pushed_at, cb->read_page, pages);
}
void time_pop(TtKernel *self, Cb *cb, uint32_t pages) { /* math has taken what it needs of them */
    uint64_t done = self->compute ? later(self->clock[TIME_UNPACK], self->clock[TIME_MATH]) : self->clock[0];
    for (uint32_t i = 0; i < pages; i++) cb->popped_at[(cb->read_page + i) % cb->desc->pages] = done;
}

static uint64_t *semaphore_time(Core *core, uint32_t offset) {
    uint32_t id = (offset - SEMAPHORE_BASE) / SEMAPHORE_STEP;
    return offset >= SEMAPHORE_BASE && id < TENSIX_SEMAPHORES ? &core->semaphore_at[id] : NULL;
}

void time_signal(Core *core, uint32_t offset, uint64_t at) {
    uint64_t *time = semaphore_time(core, offset);
    if (time) *time = later(*time, at);
}
void time_signal_now(TtKernel *self, Core *core, uint32_t offset) {
    time_signal(core, offset, self->clock[0] + (core == self->core ? 0 : NOC_LATENCY));
}
void time_await(TtKernel *self, uint32_t offset) {
    const uint64_t *time = semaphore_time(self->core, offset);
    if (time) time_until(self, *time);
}

/* ------------------------------------------------------------------------------------------------------ compute */

void time_setup(TtKernel *self) {
    self->clock[TIME_UNPACK] += SETUP;
    self->clock[TIME_MATH] += SETUP;
}

/* The unpacker fills one pair of source registers while math works on the other. */
static void run_math(TtKernel *self, uint32_t bytes, uint64_t cycles) {
    uint64_t *unpack = &self->clock[TIME_UNPACK], *math = &self->clock[TIME_MATH];
    *unpack = later(*unpack, self->math_end[0]) + (bytes + UNPACK_BYTES - 1) / UNPACK_BYTES;
    *math = later(*math, *unpack) + cycles;
    self->math_end[0] = self->math_end[1];
    self->math_end[1] = *math;
    self->compute->busy += cycles;
}

void time_matmul(TtKernel *self, uint32_t bytes, uint32_t products) {
    run_math(self, bytes, (uint64_t)products * PASS_CYCLES * self->machine->program->fidelity);
}
void time_move(TtKernel *self, uint32_t bytes) { run_math(self, bytes, TILE / FPU_LANES); }
void time_binary(TtKernel *self, uint32_t bytes, bool multiplies) {
    run_math(self, bytes, TILE / FPU_LANES * (multiplies ? self->machine->program->fidelity : 1));
}
void time_reduce(TtKernel *self, uint32_t bytes) { run_math(self, bytes, 4 * self->machine->program->fidelity); }

/* Instructions for 32 lanes, loads and stores of DST among them. */
static uint32_t sfpu_steps(TtSfpu op) {
    switch (op) {
    case TT_SFPU_exp:
    case TT_SFPU_exp2:
    case TT_SFPU_log:
    case TT_SFPU_sin:
    case TT_SFPU_cos: return 24;
    case TT_SFPU_sqrt:
    case TT_SFPU_rsqrt:
    case TT_SFPU_recip:
    case TT_SFPU_recip_legacy: return 18;
    case TT_SFPU_tanh:
    case TT_SFPU_gelu:
    case TT_SFPU_sigmoid:
    case TT_SFPU_silu:
    case TT_SFPU_erf: return 32;
    default: return 5;
    }
}
void time_sfpu(TtKernel *self, uint32_t op) {
    uint64_t cycles = (uint64_t)TILE / SFPU_LANES * sfpu_steps((TtSfpu)op);
    self->clock[TIME_MATH] += cycles;
    self->compute->busy += cycles;
}

void time_dst(TtKernel *self, uint32_t step, uint32_t section) {
    Compute *c = self->compute;
    uint64_t *math = &self->clock[TIME_MATH], *pack = &self->clock[TIME_PACK];
    switch (step) {
    case TT_ACQUIRE: *math = later(*math, c->free_at[section]); break;
    case TT_COMMIT: c->committed_at[section] = *math; break;
    case TT_WAIT: *pack = later(*pack, c->committed_at[section]); break;
    case TT_RELEASE: c->free_at[section] = *pack; break;
    }
}
void time_pack(TtKernel *self, uint32_t bytes) { self->clock[TIME_PACK] += (bytes + PACK_BYTES - 1) / PACK_BYTES; }

/* ------------------------------------------------------------------------------------------------------- bounds */

void time_report(Machine *machine) {
    TensixReport *r = machine->report;
    const TensixProgram *p = machine->program;
    uint64_t banks = (uint64_t)machine->limits->dram_banks * machine->limits->bank_bytes;
    r->dram_bound = (r->dram_read_bytes + r->dram_written_bytes) / banks;
    for (uint32_t i = 0; i < machine->kernel_count; i++) {
        const TtKernel *k = &machine->kernels[i];
        uint32_t core = (uint32_t)(k->core - machine->cores);
        r->cycles = later(r->cycles, time_end(k));
        if (k->compute) r->compute_bound = later(r->compute_bound, k->compute->busy);
        if (k->compute && k->compute->most_slots > r->dst_slots) r->dst_slots = k->compute->most_slots;
        if (p->core_reports && core < p->core_count) {
            TensixCoreReport *to = &p->core_reports[core];
            to->cycles = later(to->cycles, time_end(k));
            if (k->compute) to->busy = k->compute->busy, to->tiles = k->compute->tiles;
            to->read_bytes += k->read_bytes;
            to->sent_bytes += k->sent_bytes;
        }
    }
    for (uint32_t c = 0; p->cb_reports && c < p->core_count; c++)
        for (uint32_t i = 0; i < p->cb_count; i++) {
            const Cb *cb = &machine->cores[c].cbs[p->cbs[i].id];
            TensixCbReport *to = &p->cb_reports[i];
            to->most_pages = cb->most_pages > to->most_pages ? cb->most_pages : to->most_pages;
            to->page_stall = later(to->page_stall, cb->page_stall);
            to->space_stall = later(to->space_stall, cb->space_stall);
        }
}
