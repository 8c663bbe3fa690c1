/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_noc.c: the network on chip: reads, writes, multicast, semaphores.
 *
 * Transactions land as late as the rules allow, to show kernels that do not wait for them. A read's
 * destination carries the unwritten mark until noc_async_read_barrier; a write takes its data and
 * lands at noc_async_writes_flushed or noc_async_write_barrier. When no kernel can go on, the
 * oldest write under way lands, as it would in the end on hardware. Semaphore increments land at
 * once. At most PENDING transactions of a kernel are under way; one more lets the oldest land.
 *
 * With a seed, writes that nothing keeps in order land in any: at a barrier one by one, other kernels
 * running in between, and now and then before it. So a flag that is sent without a flush behind its
 * data may come first.
 *
 * NoC addresses: bits 0-35 address, 36-41 x, 42-47 y; multicast (bit 62) has the far corner there
 * and the near one in 48-53 and 54-59; DRAM (bit 63) has the bank in 36-47. */
#include "target/tenstorrent/model/tensix_time.h"

#include <string.h>

#define NOC_DRAM (1ull << 63)
#define NOC_RECT (1ull << 62)

static uint32_t field(uint64_t address, int shift) { return (uint32_t)(address >> shift) & 63; }
static uint32_t local_part(uint64_t address) { return (uint32_t)(address & 0xfffffffffull); }

/* L1 addresses as kernels have them into offsets. Small ones are offsets already: they came with the arguments. */
static uint32_t l1_offset(TtKernel *self, const char *call, uint32_t address, uint32_t bytes) {
    uint32_t size = self->machine->limits->l1_bytes, offset = address - self->core->origin;
    if (offset >= size) offset = address;
    if (offset >= size || bytes > size - offset)
        machine_fault(self, "%s: %u bytes at 0x%x are outside L1", call, bytes, address);
    return offset;
}

/* A page behind the last one of a buffer may be one of the next: that is told here, where its buffer is known. */
static void check_page(TtKernel *self, uint32_t base, uint32_t page, bool in_l1) {
    const TensixProgram *program = self->machine->program;
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        const TensixBuffer *b = &program->buffers[i];
        if (b->places || b->address != base || b->in_l1 != in_l1 || page < b->pages) continue;
        self->machine->report->strayed = i + 1;
        machine_fault(self, "an address of page %u of buffer %s, which has %u pages", page, b->name, b->pages);
    }
}

/* Banks of DRAM count from 0, cores that hold pages of a tensor from L1_BANK on. */
enum { L1_BANK = 1024 };
static bool is_l1_bank(uint64_t address) { return (address >> 36 & 4095) >= L1_BANK; }
static uint32_t bank_count(const TensixLimits *limits, bool in_l1) {
    return in_l1 ? limits->grid_x * limits->grid_y : limits->dram_banks;
}

static uint64_t page_address(TtKernel *self, uint32_t base, uint32_t page_bytes, uint32_t page, uint32_t offset,
                             uint32_t in_l1) {
    const TensixLimits *limits = self->machine->limits;
    uint32_t banks = bank_count(limits, in_l1);
    check_page(self, base, page, in_l1);
    uint32_t step = (page_bytes + limits->dram_alignment - 1) / limits->dram_alignment * limits->dram_alignment;
    return NOC_DRAM | (uint64_t)(page % banks + (in_l1 ? L1_BANK : 0)) << 36 | (base + page / banks * step + offset);
}

static uint64_t core_address(TtKernel *self, uint32_t x, uint32_t y, uint32_t l1) {
    return (uint64_t)(y & 63) << 42 | (uint64_t)(x & 63) << 36 | l1_offset(self, "get_noc_addr", l1, 0);
}

static uint64_t own_address(TtKernel *self, uint32_t l1) {
    TensixPoint at = tensix_noc_point(self->machine->program->arch, self->core->logical);
    return core_address(self, at.x, at.y, l1);
}

static uint64_t rect_address(TtKernel *self, uint32_t xs, uint32_t ys, uint32_t xe, uint32_t ye, uint32_t l1) {
    return NOC_RECT | (uint64_t)(ys & 63) << 54 | (uint64_t)(xs & 63) << 48 | (uint64_t)(ye & 63) << 42 |
           (uint64_t)(xe & 63) << 36 | l1_offset(self, "get_noc_multicast_addr", l1, 0);
}

/* The memory behind an address of a buffer, or a note of what is wrong and NULL. */
static uint8_t *dram_memory(TtKernel *self, const char *call, uint64_t address, uint32_t bytes) {
    const TensixProgram *program = self->machine->program;
    bool in_l1 = is_l1_bank(address);
    uint32_t banks = bank_count(self->machine->limits, in_l1);
    uint32_t at = local_part(address), bank = ((uint32_t)(address >> 36) & 4095) - (in_l1 ? L1_BANK : 0);
    for (uint32_t i = 0; i < program->buffer_count; i++) {
        const TensixBuffer *b = &program->buffers[i];
        uint32_t rows = (b->pages + banks - 1) / banks;
        if (b->places || b->in_l1 != in_l1 || at < b->address || at >= b->address + rows * b->page_bytes) continue;
        uint32_t page = (at - b->address) / b->page_bytes * banks + bank;
        uint32_t offset = (at - b->address) % b->page_bytes;
        if (page >= b->pages) {
            machine_note(self, "%s: page %u of buffer %s, which has %u pages", call, page, b->name, b->pages);
            return NULL;
        }
        if (bytes > b->page_bytes - offset) {
            machine_note(self,
                         "%s: %u bytes at byte %u of page %u of buffer %s run over the page's end "
                         "(%u bytes)",
                         call, bytes, offset, page, b->name, b->page_bytes);
            return NULL;
        }
        return b->data + (size_t)page * b->page_bytes + offset;
    }
    machine_note(self, "%s: no buffer at %s address 0x%x", call, in_l1 ? "L1" : "DRAM", at);
    return NULL;
}

static uint8_t *core_memory(TtKernel *self, const char *call, uint64_t address, uint32_t bytes, Core **owner) {
    uint32_t x = field(address, 36), y = field(address, 42), at = local_part(address);
    *owner = machine_core_at(self->machine, x, y);
    if (!*owner) {
        machine_note(self, "%s: no core of the program at NoC coordinate (%u,%u)", call, x, y);
        return NULL;
    }
    if (at >= self->machine->limits->l1_bytes || bytes > self->machine->limits->l1_bytes - at) {
        machine_note(self, "%s: %u bytes at 0x%x are outside L1", call, bytes, at);
        return NULL;
    }
    return (*owner)->l1 + at;
}

static void check_alignment(TtKernel *self, const char *call, uint32_t from, uint32_t to, uint32_t modulo) {
    if ((from ^ to) % modulo)
        machine_fault(self,
                      "%s: source 0x%x and destination 0x%x must agree modulo %u (alignment of this "
                      "transfer)",
                      call, from, to, modulo);
}

static void check_window(TtKernel *self, const char *call, uint32_t local, uint32_t bytes, bool write) {
    char what[160];
    if (!cb_range_open(self, local, bytes, write, what))
        machine_fault(self, "%s: %u bytes at L1 offset 0x%x: %s", call, bytes, local, what);
}

/* Remote pages that hold data for a consumer must not be overwritten; free ones may be, reserved or not. */
static bool overwrites_data(const Core *core, uint32_t offset, uint32_t bytes, uint32_t *id) {
    for (*id = 0; *id < MAX_CBS; (*id)++) {
        const Cb *cb = &core->cbs[*id];
        if (!cb->desc) continue;
        for (uint32_t i = 0; i < cb->pushed - cb->popped; i++) {
            uint32_t page = (cb->read_page + i) % cb->desc->pages;
            uint32_t start = cb->base + page * cb->desc->page_bytes;
            if (offset < start + cb->desc->page_bytes && offset + bytes > start) return true;
        }
    }
    return false;
}

static bool store_to_core(TtKernel *self, Core *core, uint32_t at, const uint8_t *from, const Pending *p) {
    uint32_t bytes = p->bytes;
    uint32_t id;
    if (overwrites_data(core, at, bytes, &id)) {
        machine_note(self,
                     "a NoC write of %u bytes lands in CB %u of core (%u,%u) on pages that are "
                     "pushed and not yet popped",
                     bytes, id, core->logical.x, core->logical.y);
        return false;
    }
    memmove(core->l1 + at, from, bytes);
    if (at >= self->machine->shards_from) machine_renew(self->machine);
    if (bytes == 4) time_signal(core, at, p->done);
    if (core == self->core) return true;
    self->machine->report->core_to_core_bytes += bytes;
    return true;
}

static bool land_multicast(TtKernel *self, const Pending *p) {
    Machine *machine = self->machine;
    uint32_t xs = field(p->remote, 48), ys = field(p->remote, 54);
    uint32_t xe = field(p->remote, 36), ye = field(p->remote, 42), at = local_part(p->remote);
    bool swapped = self->desc->processor == TENSIX_WRITER; /* NoC 1 runs the other way */
    uint32_t x0 = swapped ? xe : xs, x1 = swapped ? xs : xe;
    uint32_t y0 = swapped ? ye : ys, y1 = swapped ? ys : ye;
    if (x0 > x1 || y0 > y1) {
        machine_note(self,
                     "multicast rectangle (%u,%u)-(%u,%u) has its corners the wrong way round for "
                     "NoC %d",
                     xs, ys, xe, ye, swapped);
        return false;
    }
    uint32_t receivers = 0;
    for (uint32_t y = y0; y <= y1; y++)
        for (uint32_t x = x0; x <= x1; x++) {
            Core *core = machine_core_at(machine, x, y);
            if (!core) {
                machine_note(self, "multicast reaches NoC coordinate (%u,%u), no core of the program", x, y);
                return false;
            }
            if (core == self->core && !p->with_self) continue;
            receivers++;
            if (!store_to_core(self, core, at, self->core->l1 + p->local, p)) return false;
        }
    if (receivers != p->receivers) {
        machine_note(self, "multicast says %u receivers; its rectangle has %u", p->receivers, receivers);
        return false;
    }
    return true;
}

static bool land(TtKernel *self, const Pending *p) {
    uint8_t *local = self->core->l1 + p->local;
    TensixReport *report = self->machine->report;
    if (p->write && cb_has_unwritten(local, p->bytes)) {
        char by[100] = "";
        for (uint32_t id = 0; id < MAX_CBS; id++) {
            const Cb *cb = &self->core->cbs[id];
            bool inside = cb->desc && p->local >= cb->base
                && p->local < cb->base + cb->desc->pages * cb->desc->page_bytes;
            if (inside) cb_pushed_by(cb, by);
        }
        machine_note(self, "a NoC write of %u bytes from L1 offset 0x%x sends memory that nobody wrote%s", p->bytes,
                     p->local, by);
        return false;
    }
    if (p->multicast) return land_multicast(self, p);
    Core *owner = NULL;
    const char *call = p->write ? "noc_async_write" : "noc_async_read";
    uint8_t *remote = p->remote & NOC_DRAM ? dram_memory(self, call, p->remote, p->bytes)
                                           : core_memory(self, call, p->remote, p->bytes, &owner);
    if (!remote) return false;
    if (!p->write) {
        memmove(local, remote, p->bytes);
        bool is_far = owner ? owner != self->core : is_l1_bank(p->remote);
        if (owner && local_part(p->remote) >= self->machine->shards_from)
            *(is_far ? &report->far_shard_bytes : &report->own_shard_bytes) += p->bytes;
        if (is_far)
            report->core_to_core_bytes += p->bytes;
        else if (!owner)
            report->dram_read_bytes += p->bytes, self->read_bytes += p->bytes;
        return true;
    }
    if (owner) return store_to_core(self, owner, local_part(p->remote), local, p);
    memcpy(remote, local, p->bytes);
    *(is_l1_bank(p->remote) ? &report->core_to_core_bytes : &report->dram_written_bytes) += p->bytes;
    machine_renew(self->machine);
    return true;
}

static bool land_index(TtKernel *self, uint32_t index) {
    Pending p = self->pending[index];
    if (self->settled_at < p.done) self->settled_at = p.done;
    memmove(&self->pending[index], &self->pending[index + 1], (--self->pending_count - index) * sizeof p);
    return land(self, &p);
}

bool noc_land_one(Machine *machine) {
    TtKernel *chosen = NULL;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < machine->kernel_count; i++) {
        TtKernel *k = &machine->kernels[i];
        if (!k->pending_count || k->stopped) continue;
        bool is_it = machine->random ? machine_random(machine, ++seen) == 0
                                     : !chosen || k->pending[0].order < chosen->pending[0].order;
        if (is_it) chosen = k;
    }
    if (chosen) land_index(chosen, machine->random ? (uint32_t)machine_random(machine, chosen->pending_count) : 0);
    return chosen != NULL;
}

static void start(TtKernel *self, Pending p) {
    if (!self->pending) machine_fault(self, "compute kernels have no access to the NoC");
    if (self->pending_count == PENDING && !land_index(self, 0)) machine_park(self);
    p.order = self->machine->order++;
    bool has_bank = p.remote & NOC_DRAM && !is_l1_bank(p.remote);
    p.done = time_transfer(self, p.write, has_bank ? (int)(p.remote >> 36 & 4095) : -1, p.bytes);
    if (p.multicast) self->machine->report->multicast_bytes += p.bytes;
    if (p.write && !(p.remote & NOC_DRAM)) self->sent_bytes += p.bytes;
    self->writes += p.write;
    self->pending[self->pending_count++] = p;
}

/* The next of these to land; pending_count: none is left. */
static uint32_t next_to_land(TtKernel *self, bool write) {
    uint32_t chosen = self->pending_count, seen = 0;
    for (uint32_t i = 0; i < self->pending_count; i++) {
        if (self->pending[i].write != write) continue;
        if (!self->machine->random) return i;
        if (machine_random(self->machine, ++seen) == 0) chosen = i;
    }
    return chosen;
}

static void land_all(TtKernel *self, bool write) {
    uint32_t next;
    while ((next = next_to_land(self, write)) < self->pending_count) {
        if (!land_index(self, next)) machine_park(self);
        if (write && self->machine->random) fiber_yield(self->fiber); /* others may see this one first */
    }
}

static void noc_read(TtKernel *self, uint64_t from, uint32_t to, uint32_t bytes) {
    const char *call = "noc_async_read";
    uint32_t local = l1_offset(self, call, to, bytes);
    Core *owner;
    uint8_t *remote =
        from & NOC_DRAM ? dram_memory(self, call, from, bytes) : core_memory(self, call, from, bytes, &owner);
    if (!remote) machine_park(self);
    check_alignment(self, call, local_part(from), local,
                    from & NOC_DRAM ? self->machine->limits->dram_alignment : TENSIX_L1_ALIGNMENT);
    check_window(self, call, local, bytes, true);
    cb_mark_unwritten(self->core->l1 + local, bytes);
    start(self, (Pending){.remote = from, .local = local, .bytes = bytes});
}

static void noc_write(TtKernel *self, uint32_t from, uint64_t to, uint32_t bytes) {
    const char *call = "noc_async_write";
    uint32_t local = l1_offset(self, call, from, bytes);
    Core *owner;
    uint8_t *remote = to & NOC_DRAM ? dram_memory(self, call, to, bytes) : core_memory(self, call, to, bytes, &owner);
    if (!remote) machine_park(self);
    check_alignment(self, call, local, local_part(to), TENSIX_L1_ALIGNMENT);
    check_window(self, call, local, bytes, false);
    start(self, (Pending){.write = true, .remote = to, .local = local, .bytes = bytes});
}

static void noc_write_multicast(TtKernel *self, uint32_t from, uint64_t to, uint32_t bytes, uint32_t receivers,
                                uint32_t with_self) {
    const char *call = "noc_async_write_multicast";
    uint32_t local = l1_offset(self, call, from, bytes);
    if (!(to & NOC_RECT)) machine_fault(self, "%s: the address is not a multicast address", call);
    check_alignment(self, call, local, local_part(to), TENSIX_L1_ALIGNMENT);
    check_window(self, call, local, bytes, false);
    start(self, (Pending){.write = true,
                          .multicast = true,
                          .with_self = with_self,
                          .remote = to,
                          .local = local,
                          .bytes = bytes,
                          .receivers = receivers});
}

/* Transactions that landed by themselves are waited for too. */
static void settle(TtKernel *self, bool write) {
    land_all(self, write);
    time_until(self, self->settled_at);
}
static void read_barrier(TtKernel *self) { settle(self, false); }
static void writes_flushed(TtKernel *self) { land_all(self, true); }
static void write_barrier(TtKernel *self) {
    settle(self, true);
    self->writes = 0;
}
static void atomic_barrier(TtKernel *self) { self->atomics = 0; }

/* Of a window that is given away, no page may still be the end of a transaction. */
static void check_settled(TtKernel *self, uint32_t start_at, uint32_t bytes, bool write, const char *message) {
    for (uint32_t i = 0; i < self->pending_count; i++) {
        const Pending *p = &self->pending[i];
        if (p->write == write && p->local < start_at + bytes && p->local + p->bytes > start_at)
            machine_fault(self, "%s", message);
    }
}

void noc_check_push(TtKernel *self, const Cb *cb, uint32_t pages) {
    check_settled(self, cb->base + cb->write_page * cb->desc->page_bytes, pages * cb->desc->page_bytes, false,
                  "cb_push_back: a NoC read into these pages has not been waited for; call "
                  "noc_async_read_barrier before the push");
}

void noc_check_pop(TtKernel *self, const Cb *cb, uint32_t pages) {
    check_settled(self, cb->base + cb->read_page * cb->desc->page_bytes, pages * cb->desc->page_bytes, true,
                  "cb_pop_front: a NoC write from these pages may not have left; call "
                  "noc_async_writes_flushed or noc_async_write_barrier before the pop");
}

void noc_check_end(TtKernel *self) {
    bool reads = false;
    for (uint32_t i = 0; i < self->pending_count; i++) reads |= !self->pending[i].write;
    if (reads || self->writes)
        machine_fault(self, "ends with NoC %s under way (%u); end with a barrier", reads ? "reads" : "writes",
                      reads ? self->pending_count : self->writes);
    if (self->atomics)
        machine_fault(self, "ends with semaphore increments under way; end with "
                            "noc_async_atomic_barrier");
}

static uint32_t semaphore(TtKernel *self, uint32_t id) {
    if (id >= self->machine->program->semaphore_count)
        machine_fault(self, "get_semaphore(%u): the program has %u semaphores", id,
                      self->machine->program->semaphore_count);
    return self->core->origin + SEMAPHORE_BASE + id * SEMAPHORE_STEP;
}

static uint32_t word_offset(TtKernel *self, const char *call, uint32_t address) {
    uint32_t offset = l1_offset(self, call, address, 4);
    if (offset % 4) machine_fault(self, "%s: address 0x%x is not a word's", call, address);
    return offset;
}

static void semaphore_set(TtKernel *self, uint32_t l1, uint32_t value) {
    uint32_t offset = word_offset(self, "noc_semaphore_set", l1);
    memcpy(self->core->l1 + offset, &value, 4);
}

bool noc_is_set(const TtKernel *self, const Wait *wait) {
    uint32_t value;
    memcpy(&value, self->core->l1 + wait->id, 4);
    return wait->at_least ? value >= wait->count : value == wait->count;
}

static void semaphore_wait(TtKernel *self, uint32_t l1, uint32_t value, uint32_t at_least) {
    uint32_t offset = word_offset(self, "noc_semaphore_wait", l1);
    machine_wait(self, (Wait){WAIT_SEMAPHORE, offset, value, at_least});
    time_await(self, offset);
}

static void semaphore_inc(TtKernel *self, uint64_t at, uint32_t by) {
    Core *owner;
    if (at & (NOC_DRAM | NOC_RECT)) machine_fault(self, "noc_semaphore_inc: the address is not one of a core's L1");
    uint8_t *word = core_memory(self, "noc_semaphore_inc", at, 4, &owner);
    if (!word) machine_park(self);
    if (local_part(at) % 4) machine_fault(self, "noc_semaphore_inc: not the address of a word");
    uint32_t value;
    memcpy(&value, word, 4);
    value += by;
    memcpy(word, &value, 4);
    time_signal_now(self, owner, local_part(at));
    self->atomics++;
}

void noc_bind(TtModelApi *api) {
    api->page_address = page_address;
    api->core_address = core_address;
    api->own_address = own_address;
    api->rect_address = rect_address;
    api->noc_read = noc_read;
    api->noc_write = noc_write;
    api->noc_write_multicast = noc_write_multicast;
    api->noc_read_barrier = read_barrier;
    api->noc_write_barrier = write_barrier;
    api->noc_writes_flushed = writes_flushed;
    api->noc_atomic_barrier = atomic_barrier;
    api->semaphore = semaphore;
    api->semaphore_set = semaphore_set;
    api->semaphore_wait = semaphore_wait;
    api->semaphore_inc = semaphore_inc;
}
