/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_sched.c: setting a machine up, running its kernels in turn, and telling what went wrong.
 *
 * Every kernel of every core is a fiber. The scheduler goes round in a fixed order and resumes each
 * one whose wait is over; when a whole round resumes nobody, a NoC write under way lands (with a seed,
 * some also earlier, in any order); when there is none, the run is over: finished, or stuck, and then
 * each waiter is named. A kernel that makes a mistake is reported and not resumed; the others go on as
 * far as they can, but what then waits for it is not reported again. */
#include "target/tenstorrent/model/tensix_time.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BYTES = 256 * 1024, CB_ALIGNMENT = 64, MAX_FAULTS = 8, TURNS_BETWEEN_LOOKS = 1 << 20 };

static void report_add(Machine *machine, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void report_vadd(Machine *machine, const char *format, va_list args) {
    size_t room = sizeof machine->report->text - machine->report_length;
    int length = vsnprintf(machine->report->text + machine->report_length, room, format, args);
    if (length > 0) machine->report_length += (size_t)length < room ? (size_t)length : room - 1;
}
static void report_add(Machine *machine, const char *format, ...) {
    va_list args;
    va_start(args, format);
    report_vadd(machine, format, args);
    va_end(args);
}

static void report_kernel(const TtKernel *self) {
    static const char *const names[] = {"reader", "writer", "compute"};
    report_add(self->machine, "core (%u,%u) %s kernel %s", self->core->logical.x, self->core->logical.y,
               names[self->desc->processor], self->desc->name);
    if (self->call_line) report_add(self->machine, ":%u", self->call_line);
    report_add(self->machine, ": ");
}

static void note_list(TtKernel *self, const char *format, va_list args) {
    self->stopped = true;
    if (self->machine->faults++ >= MAX_FAULTS) return;
    report_kernel(self);
    report_vadd(self->machine, format, args);
    report_add(self->machine, "\n");
}

void machine_note(TtKernel *self, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_list(self, format, args);
    va_end(args);
}

_Noreturn void machine_park(TtKernel *self) {
    for (;;) fiber_yield(self->fiber);
}

_Noreturn void machine_fault(TtKernel *self, const char *format, ...) {
    va_list args;
    va_start(args, format);
    note_list(self, format, args);
    va_end(args);
    machine_park(self);
}

static bool wait_is_over(const TtKernel *self) {
    const Wait *wait = &self->wait;
    switch (wait->kind) {
    case WAIT_NOTHING: return true;
    case WAIT_SPACE: return cb_is_free(&self->core->cbs[wait->id], wait->count);
    case WAIT_PAGES: return cb_is_filled(&self->core->cbs[wait->id], wait->count);
    case WAIT_SEMAPHORE: return noc_is_set(self, wait);
    }
    return true;
}

void machine_wait(TtKernel *self, Wait wait) {
    self->wait = wait;
    if (!wait_is_over(self)) fiber_yield(self->fiber);
    self->wait.kind = WAIT_NOTHING;
}

void machine_spend(TtKernel *self, uint64_t steps) {
    Machine *machine = self->machine;
    uint64_t most = machine->program->steps ? machine->program->steps : TENSIX_STEPS;
    machine->steps += steps;
    if (machine->steps <= most) return;
    machine->is_over = true;
    fiber_yield(self->fiber); /* never resumed */
}

void machine_renew(Machine *machine) {
    uint64_t pages = 0; /* a loop that writes the same pages again and again gets on as often only */
    for (uint32_t i = 0; i < machine->program->buffer_count; i++) pages += machine->program->buffers[i].pages;
    if (machine->renewals++ < 4 * pages) machine->steps = 0;
}

uint64_t machine_random(Machine *machine, uint64_t below) {
    machine->random ^= machine->random << 13;
    machine->random ^= machine->random >> 7;
    machine->random ^= machine->random << 17;
    return machine->random % below;
}

static void turn(TtKernel *self) {
    Machine *machine = self->machine;
    machine->turns = TURNS_BETWEEN_LOOKS;
    machine->looks = true; /* on the stack of the call, not on a fiber's */
    fiber_yield(self->fiber);
    machine_spend(self, (uint64_t)TURNS_BETWEEN_LOOKS * STEPS_OF_TURN);
}

Core *machine_core_at(Machine *machine, uint32_t noc_x, uint32_t noc_y) {
    for (uint32_t i = 0; i < machine->program->core_count; i++) {
        Core *core = &machine->cores[i];
        if (core->noc.x == noc_x && core->noc.y == noc_y) return core;
    }
    return NULL;
}

static uint32_t get_arg(TtKernel *self, uint32_t index, uint32_t common) {
    uint32_t count = common ? self->desc->common_arg_count : self->placement->arg_count;
    if (index >= count)
        machine_fault(self, "get_%sarg_val(%u): the kernel was given %u arguments", common ? "common_" : "", index,
                      count);
    return common ? self->desc->common_args[index] : self->placement->args[index];
}

static uint32_t get_logical(TtKernel *self, uint32_t axis) {
    return axis ? self->core->logical.y : self->core->logical.x;
}

static void kernel_body(void *arg) {
    TtKernel *self = arg;
    self->desc->entry(&self->machine->api);
    noc_check_end(self);
    if (self->compute && (self->compute->acquired || self->compute->waited || self->compute->committed))
        machine_fault(self, "ends without releasing DST (tile_regs_release)");
}

/* ---- set-up ---- */

static bool check_program(Machine *machine) {
    const TensixProgram *p = machine->program;
    const TensixLimits *limits = machine->limits;
    uint64_t l1 = limits->l1_reserved;
    for (uint32_t i = 0; i < p->cb_count; i++) {
        const TensixCb *cb = &p->cbs[i];
        bool twice = false;
        for (uint32_t j = 0; j < i; j++) twice |= p->cbs[j].id == cb->id;
        if (cb->id >= limits->cbs || twice)
            report_add(machine, "CB %u: %s (a %s core has %u)\n", cb->id, twice ? "described twice" : "no such id",
                       limits->name, limits->cbs);
        else if (!cb->pages || !cb->page_bytes || cb->page_bytes % TENSIX_L1_ALIGNMENT)
            report_add(machine, "CB %u: %u pages of %u bytes; page sizes are multiples of %d\n", cb->id, cb->pages,
                       cb->page_bytes, TENSIX_L1_ALIGNMENT);
        else if (!tensix_tile_bytes(cb->format))
            report_add(machine, "CB %u: unknown data format %d\n", cb->id, (int)cb->format);
        else if (cb->unpack_to_dest && tensix_tile_bytes(cb->format) != 4096)
            report_add(machine, "CB %u: unpack_to_dest is for 32-bit formats\n", cb->id);
        l1 += ((uint64_t)cb->pages * cb->page_bytes + CB_ALIGNMENT - 1) / CB_ALIGNMENT * CB_ALIGNMENT;
    }
    if (l1 > limits->l1_bytes) {
        report_add(machine, "the circular buffers need %llu bytes of L1, %u are free on a %s core:\n",
                   (unsigned long long)l1 - limits->l1_reserved, limits->l1_bytes - limits->l1_reserved, limits->name);
        for (uint32_t i = 0; i < p->cb_count; i++)
            report_add(machine, "    CB %2u: %u pages of %u bytes = %llu\n", p->cbs[i].id, p->cbs[i].pages,
                       p->cbs[i].page_bytes, (unsigned long long)p->cbs[i].pages * p->cbs[i].page_bytes);
    }
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const TensixBuffer *b = &p->buffers[i];
        if (!b->page_bytes || b->page_bytes % limits->dram_alignment || b->address % limits->dram_alignment)
            report_add(machine, "buffer %s: address and page size must be multiples of %u\n", b->name,
                       limits->dram_alignment);
        for (uint32_t page = 0; b->places && page < b->pages; page++) {
            const TensixPlace *at = &b->places[page];
            if (at->core < p->core_count && at->offset >= b->address && at->offset % TENSIX_L1_ALIGNMENT == 0 &&
                b->address >= l1 && (uint64_t)at->offset + b->page_bytes <= limits->l1_bytes)
                continue;
            report_add(machine, "buffer %s: page %u lies on core %u of %u from byte 0x%x of L1 on\n", b->name, page,
                       at->core, p->core_count, at->offset);
            break;
        }
        uint64_t end = b->address + (uint64_t)tensix_l1_share(p->arch, b->pages, b->page_bytes);
        if (b->in_l1 && !b->places && (b->address < l1 || end > limits->l1_bytes))
            report_add(machine, "buffer %s takes bytes 0x%x to 0x%llx of L1, circular buffers end at 0x%llx\n", b->name,
                       b->address, (unsigned long long)end, (unsigned long long)l1);
    }
    for (uint32_t i = 0; i < p->core_count; i++)
        if (p->cores[i].x >= limits->grid_x || p->cores[i].y >= limits->grid_y)
            report_add(machine, "core (%u,%u) is outside the %ux%u grid of a %s\n", p->cores[i].x, p->cores[i].y,
                       limits->grid_x, limits->grid_y, limits->name);
    if (p->semaphore_count > TENSIX_SEMAPHORES)
        report_add(machine, "%u semaphores; a core has %d\n", p->semaphore_count, TENSIX_SEMAPHORES);
    if (p->fidelity < 1 || p->fidelity > 4)
        report_add(machine, "fidelity %u is none of 1 (LoFi) to 4 (HiFi4)\n", p->fidelity);
    for (uint32_t i = 0; i < p->kernel_count; i++)
        for (uint32_t j = 0; j < p->kernels[i].placement_count; j++) {
            const TensixPlacement *at = &p->kernels[i].placements[j];
            if (at->core >= p->core_count || at->arg_count > TENSIX_MAX_ARGS)
                report_add(machine, "kernel %s: core %u of %u, %u arguments (at most %d)\n", p->kernels[i].name,
                           at->core, p->core_count, at->arg_count, TENSIX_MAX_ARGS);
        }
    return machine->report_length == 0;
}

static void set_up_core(Machine *machine, Arena *arena, Core *core, TensixPoint logical, uint8_t *l1, bool low) {
    const TensixProgram *p = machine->program;
    core->logical = logical;
    core->noc = tensix_noc_point(p->arch, logical);
    core->l1 = l1;
    core->origin = low ? (uint32_t)(uintptr_t)l1 : 0;
    uint32_t base = machine->limits->l1_reserved;
    for (uint32_t i = 0; i < p->cb_count; i++) {
        Cb *cb = &core->cbs[p->cbs[i].id];
        uint32_t bytes = p->cbs[i].pages * p->cbs[i].page_bytes;
        cb->desc = &p->cbs[i];
        cb->base = base;
        cb->pushed_at = ARENA_ARRAY(arena, uint64_t, p->cbs[i].pages);
        cb->popped_at = ARENA_ARRAY(arena, uint64_t, p->cbs[i].pages);
        cb_mark_unwritten(l1 + base, bytes);
        base += (bytes + CB_ALIGNMENT - 1) / CB_ALIGNMENT * CB_ALIGNMENT;
    }
    for (uint32_t i = 0; i < p->semaphore_count; i++)
        memcpy(l1 + SEMAPHORE_BASE + i * SEMAPHORE_STEP, &p->semaphores[i], 4);
}

/* All L1s in one mapping, below 4 GiB where the system grants it, so that 32-bit addresses are pointers. */
static uint8_t *map_l1(size_t bytes, bool *low) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *hint = (void *)(uintptr_t)0x20000000;
#ifdef MAP_32BIT
    flags |= MAP_32BIT;
#endif
    void *at = mmap(hint, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
#ifdef MAP_32BIT
    if (at == MAP_FAILED) at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags & ~MAP_32BIT, -1, 0);
#endif
    if (at == MAP_FAILED) return NULL;
    *low = (uint64_t)(uintptr_t)at + bytes <= 1ull << 32;
    return at;
}

static void set_up(Machine *machine, Arena *arena, uint8_t *l1, bool low) {
    const TensixProgram *p = machine->program;
    machine->arena = arena;
    machine->cores = ARENA_ARRAY(arena, Core, p->core_count);
    for (uint32_t i = 0; i < p->core_count; i++)
        set_up_core(machine, arena, &machine->cores[i], p->cores[i], l1 + (size_t)i * machine->limits->l1_bytes, low);
    uint32_t total = 0;
    for (uint32_t i = 0; i < p->kernel_count; i++) total += p->kernels[i].placement_count;
    machine->kernels = ARENA_ARRAY(arena, TtKernel, total);
    for (uint32_t i = 0; i < p->kernel_count; i++)
        for (uint32_t j = 0; j < p->kernels[i].placement_count; j++) {
            TtKernel *k = &machine->kernels[machine->kernel_count];
            k->machine = machine;
            k->desc = &p->kernels[i];
            k->placement = &k->desc->placements[j];
            k->core = &machine->cores[k->placement->core];
            if (k->desc->processor == TENSIX_COMPUTE)
                k->compute = ARENA_NEW(arena, Compute);
            else
                k->pending = ARENA_ARRAY(arena, Pending, PENDING);
            k->fiber = fiber_create(STACK_BYTES, kernel_body, k);
            if (!k->fiber) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
            machine->kernel_count++;
        }
    machine->turns = TURNS_BETWEEN_LOOKS;
    machine->api.turns = &machine->turns;
    machine->api.turn = turn;
    machine->api.arg = get_arg;
    machine->api.logical = get_logical;
    cb_bind(&machine->api);
    noc_bind(&machine->api);
    compute_bind(&machine->api);
    sfpu_bind(&machine->api);
    pack_bind(&machine->api);
    tilize_bind(&machine->api);
}

/* ---- the run and what it leaves ---- */

static void run_kernels(Machine *machine) {
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < machine->kernel_count; i++) {
            TtKernel *k = &machine->kernels[i];
            if (k->stopped || fiber_done(k->fiber) || !wait_is_over(k)) continue;
            machine->api.self = k;
            machine->api.line = &k->last_line;
            machine->api.call = &k->call_line;
            do {
                machine->looks = false;
                if (cancel_look(machine->program->cancel)) machine->is_over = true;
                if (machine->is_over) return;
                fiber_resume(k->fiber);
            } while (machine->looks);
            if (machine->is_over) return;
            moved = true;
        }
        bool early = machine->random && machine_random(machine, 4) == 0;
        if ((!moved || early) && noc_land_one(machine)) moved = true;
    }
}

static void report_wait(const TtKernel *k) {
    const Wait *wait = &k->wait;
    report_add(k->machine, "    ");
    report_kernel(k);
    if (wait->kind == WAIT_SEMAPHORE) {
        uint32_t value;
        memcpy(&value, k->core->l1 + wait->id, 4);
        report_add(k->machine, "noc_semaphore_wait%s(semaphore %u, %u): its value is %u\n",
                   wait->at_least ? "_min" : "", (wait->id - SEMAPHORE_BASE) / SEMAPHORE_STEP, wait->count, value);
        return;
    }
    if (wait->kind == WAIT_NOTHING) {
        report_add(k->machine, k->last_line ? "runs; a loop of it was last seen in line %u\n" : "runs\n", k->last_line);
        return;
    }
    const Cb *cb = &k->core->cbs[wait->id];
    report_add(k->machine, "%s(%u, %u): CB %u holds %u of %u pages (pushed %u, popped %u)\n",
               wait->kind == WAIT_SPACE ? "cb_reserve_back" : "cb_wait_front", wait->id, wait->count, wait->id,
               cb->pushed - cb->popped, cb->desc->pages, cb->pushed, cb->popped);
}

/* Who used a CB last, and where. */
static void report_user(Machine *machine, const Core *core, const TtKernel *user, uint32_t line) {
    report_add(machine, "core (%u,%u)", core->logical.x, core->logical.y);
    if (user) report_add(machine, " kernel %s", user->desc->name);
    if (user && line) report_add(machine, ":%u", line);
    report_add(machine, ": ");
}

static void report_leftovers(Machine *machine, const Core *core) {
    for (uint32_t id = 0; id < MAX_CBS; id++) {
        const Cb *cb = &core->cbs[id];
        if (!cb->desc) continue;
        if (cb->pushed != cb->popped) {
            const TtKernel *user = cb->consumer ? cb->consumer : cb->producer;
            report_user(machine, core, user, cb->consumer ? cb->waited_line : cb->pushed_line);
            report_add(machine, "CB %u ends with pages that nobody popped: %u\n", id, cb->pushed - cb->popped);
        }
        if (cb->reserved) {
            report_user(machine, core, cb->producer, cb->reserved_line);
            report_add(machine, "CB %u ends with pages reserved and not pushed: %u\n", id, cb->reserved);
        }
    }
}

/* Tensors in shards lie in the memory of cores while the kernels run. */
static void move_shards(Machine *machine, bool in) {
    const TensixProgram *p = machine->program;
    for (uint32_t i = 0; i < p->buffer_count; i++) {
        const TensixBuffer *b = &p->buffers[i];
        if (b->places && b->address < machine->shards_from) machine->shards_from = b->address;
        for (uint32_t page = 0; b->places && page < b->pages; page++) {
            uint8_t *there = machine->cores[b->places[page].core].l1 + b->places[page].offset;
            uint8_t *here = b->data + (size_t)page * b->page_bytes;
            memcpy(in ? there : here, in ? here : there, b->page_bytes);
        }
    }
}

static void report_end(Machine *machine) {
    if (machine->faults > MAX_FAULTS) report_add(machine, "... and %u more\n", machine->faults - MAX_FAULTS);
    if (machine->faults) return;
    bool stuck = false;
    machine->report->endless = machine->is_over;
    if (machine->is_over)
        report_add(machine,
                   "endless: the kernels have used %llu million steps since they last wrote to DRAM: a loop that does "
                   "not end, or more work than option max_steps allows\n",
                   (unsigned long long)(machine->steps / 1000000));
    for (uint32_t i = 0; i < machine->kernel_count; i++) {
        if (fiber_done(machine->kernels[i].fiber)) continue;
        if (!stuck && !machine->is_over) report_add(machine, "deadlock: no kernel can go on\n");
        stuck = true;
        report_wait(&machine->kernels[i]);
    }
    for (uint32_t i = 0; !stuck && i < machine->program->core_count; i++) report_leftovers(machine, &machine->cores[i]);
}

static bool run_guarded(Machine *machine, Arena *arena, uint8_t *l1, bool low) {
    if (!TRAP_ARM(arena->trap)) return false;
    set_up(machine, arena, l1, low);
    machine->shards_from = UINT32_MAX;
    move_shards(machine, true);
    run_kernels(machine);
    move_shards(machine, false);
    if (machine->no_memory) return false;
    report_end(machine);
    time_report(machine);
    return true;
}

bool tensix_run(const TensixProgram *program, Allocator allocator, TensixReport *report) {
    *report = (TensixReport){0};
    Machine machine = {.program = program, .limits = tensix_limits(program->arch), .report = report};
    if (program->seed) machine.random = program->seed * 0x9e3779b97f4a7c15ull | 1;
    if (!check_program(&machine)) return false;
    if (!program->core_count) return true;
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator, &trap);
    bool low = false;
    size_t l1_bytes = (size_t)program->core_count * machine.limits->l1_bytes;
    uint8_t *l1 = map_l1(l1_bytes, &low);
    if (!l1 || !run_guarded(&machine, &arena, l1, low)) {
        report->out_of_memory = true;
        report_add(&machine, "out of memory\n");
    }
    for (uint32_t i = 0; i < machine.kernel_count; i++) fiber_destroy(machine.kernels[i].fiber);
    if (l1) munmap(l1, l1_bytes);
    arena_free(&arena);
    return machine.report_length == 0;
}
