/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_cb.c: circular buffers: who may touch which pages, and when.
 *
 * A CB is a ring of pages in L1 with one producer and one consumer kernel. The producer owns the
 * `reserved` pages from its write pointer on, the consumer the `waited` pages from its read pointer
 * on. A pointer wraps only when it hits the end exactly, so windows never run over the end: pushes
 * (and pops) of a lap must add up to the page count.
 *
 * A CB of which no kernel is producer or consumer is plain memory (scratch); it must stay that.
 *
 * Pages that nobody wrote since they were popped carry a mark, 16 bytes repeated, which no sensible
 * data contains; finding it where data is read shows a read of unwritten memory, also when a kernel
 * stores through raw pointers. */
#include "target/tenstorrent/model/tensix_time.h"

#include <stdio.h>
#include <string.h>

enum { MARK_BYTES = 16 };
static const uint8_t mark[MARK_BYTES] = {0x5b, 0xd1, 0x7e, 0xa9, 0x36, 0xf4, 0x92, 0x4d,
                                         0xe3, 0x18, 0xc7, 0x6a, 0x85, 0x2f, 0xb0, 0xfc};

/* Marks lie at multiples of their size. */
static uint32_t first_mark(const uint8_t *at) { return (uint32_t)(-(uintptr_t)at % MARK_BYTES); }

void cb_mark_unwritten(uint8_t *at, uint32_t bytes) {
    for (uint32_t i = first_mark(at); i + MARK_BYTES <= bytes; i += MARK_BYTES) memcpy(at + i, mark, MARK_BYTES);
}

bool cb_has_unwritten(const uint8_t *at, uint32_t bytes) {
    uint64_t first;
    memcpy(&first, mark, 8);
    for (uint32_t i = first_mark(at); i + MARK_BYTES <= bytes; i += MARK_BYTES) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        if (word == first && memcmp(at + i, mark, MARK_BYTES) == 0) return true;
    }
    return false;
}

Cb *cb_find(TtKernel *self, const char *call, uint32_t id) {
    if (id >= MAX_CBS || !self->core->cbs[id].desc) machine_fault(self, "%s: the program has no CB %u", call, id);
    return &self->core->cbs[id];
}

static uint32_t filled(const Cb *cb) { return cb->pushed - cb->popped; }
bool cb_is_free(const Cb *cb, uint32_t pages) { return cb->desc->pages - filled(cb) >= pages; }
bool cb_is_filled(const Cb *cb, uint32_t pages) { return filled(cb) >= pages; }

static void take_role(TtKernel *self, const char *call, uint32_t id, TtKernel **role, const char *what) {
    const TtKernel *scratch = self->core->cbs[id].scratch;
    if (scratch)
        machine_fault(self, "%s: kernel %s has used pages of CB %u without cb_reserve_back or cb_wait_front", call,
                      scratch->desc->name, id);
    if (!*role) *role = self;
    if (*role != self)
        machine_fault(self, "%s: CB %u already has a %s, kernel %s; a CB has one", call, id, what, (*role)->desc->name);
}

static Cb *producer_cb(TtKernel *self, const char *call, uint32_t id, uint32_t pages) {
    Cb *cb = cb_find(self, call, id);
    machine_spend(self, STEPS_OF_CB);
    take_role(self, call, id, &cb->producer, "producer");
    if (pages > cb->desc->pages)
        machine_fault(self, "%s(%u, %u): overflow, the CB has %u pages in all", call, id, pages, cb->desc->pages);
    return cb;
}

static Cb *consumer_cb(TtKernel *self, const char *call, uint32_t id, uint32_t pages) {
    Cb *cb = cb_find(self, call, id);
    machine_spend(self, STEPS_OF_CB);
    take_role(self, call, id, &cb->consumer, "consumer");
    if (pages > cb->desc->pages)
        machine_fault(self, "%s(%u, %u): can never be met, the CB has %u pages in all", call, id, pages,
                      cb->desc->pages);
    return cb;
}

static void reserve_back(TtKernel *self, uint32_t id, uint32_t pages) {
    Cb *cb = producer_cb(self, "cb_reserve_back", id, pages);
    machine_wait(self, (Wait){WAIT_SPACE, id, pages, false});
    time_reserve(self, cb, pages);
    cb->reserved_line = self->call_line;
    if (pages > cb->reserved) cb->reserved = pages;
}

static void push_back(TtKernel *self, uint32_t id, uint32_t pages) {
    Cb *cb = producer_cb(self, "cb_push_back", id, pages);
    if (pages > cb->reserved)
        machine_fault(self,
                      "cb_push_back(%u, %u): only %u reserved; the CB would overflow "
                      "(%u of %u pages filled)",
                      id, pages, cb->reserved, filled(cb), cb->desc->pages);
    if (cb->write_page + pages > cb->desc->pages)
        machine_fault(self,
                      "cb_push_back(%u, %u): from page %u this runs over the end of %u pages; "
                      "pushes of one lap must add up to the page count",
                      id, pages, cb->write_page, cb->desc->pages);
    noc_check_push(self, cb, pages);
    time_push(self, cb, pages);
    cb->pushed_line = self->call_line;
    cb->pushed += pages;
    if (filled(cb) > cb->most_pages) cb->most_pages = filled(cb);
    cb->reserved -= pages;
    cb->write_page = (cb->write_page + pages) % cb->desc->pages;
    cb->packed = 0;
}

static void wait_front(TtKernel *self, uint32_t id, uint32_t pages) {
    Cb *cb = consumer_cb(self, "cb_wait_front", id, pages);
    machine_wait(self, (Wait){WAIT_PAGES, id, pages, false});
    time_wait(self, cb, pages);
    cb->waited_line = self->call_line;
    if (pages > cb->waited) cb->waited = pages;
}

static void pop_front(TtKernel *self, uint32_t id, uint32_t pages) {
    Cb *cb = consumer_cb(self, "cb_pop_front", id, pages);
    if (pages > cb->waited)
        machine_fault(self, "cb_pop_front(%u, %u): only %u waited for (cb_wait_front)", id, pages, cb->waited);
    if (cb->read_page + pages > cb->desc->pages)
        machine_fault(self,
                      "cb_pop_front(%u, %u): from page %u this runs over the end of %u pages; "
                      "pops of one lap must add up to the page count",
                      id, pages, cb->read_page, cb->desc->pages);
    noc_check_pop(self, cb, pages);
    cb_mark_unwritten(self->core->l1 + cb->base + cb->read_page * cb->desc->page_bytes, pages * cb->desc->page_bytes);
    time_pop(self, cb, pages);
    cb->popped += pages;
    cb->waited -= pages;
    cb->read_page = (cb->read_page + pages) % cb->desc->pages;
}

/* A kernel that is neither producer nor consumer sees the base: each processor has pointers of its own. */
static uint32_t write_ptr(TtKernel *self, uint32_t id) {
    const Cb *cb = cb_find(self, "get_write_ptr", id);
    uint32_t page = cb->producer == self ? cb->write_page : 0;
    return self->core->origin + cb->base + page * cb->desc->page_bytes;
}
static uint32_t read_ptr(TtKernel *self, uint32_t id) {
    const Cb *cb = cb_find(self, "get_read_ptr", id);
    uint32_t page = cb->consumer == self ? cb->read_page : 0;
    return self->core->origin + cb->base + page * cb->desc->page_bytes;
}
static uint32_t tile_size(TtKernel *self, uint32_t id) {
    return tensix_tile_bytes(cb_find(self, "get_tile_size", id)->desc->format);
}
static uint32_t data_format(TtKernel *self, uint32_t id) { return cb_find(self, "get_dataformat", id)->desc->format; }

const char *cb_pushed_by(const Cb *cb, char text[100]) {
    if (cb->producer && cb->pushed_line)
        snprintf(text, 100, " (pushed in %s:%u)", cb->producer->desc->name, cb->pushed_line);
    return text;
}

/* The page must be there as far as it is read. */
static uint32_t page_word(TtKernel *self, uint32_t id, uint32_t index, uint32_t word) {
    const Cb *cb = cb_find(self, "read_tile_value", id);
    uint32_t bytes = cb->desc->page_bytes, value;
    if (cb->consumer != self || index >= cb->waited || word >= bytes / 4)
        machine_fault(self, "read_tile_value: word %u of tile %u of CB %u is outside the window (waited for: %u)",
                      word, index,
                      id, cb->consumer == self ? cb->waited : 0);
    const uint8_t *at = self->core->l1 + cb->base + (cb->read_page + index) % cb->desc->pages * bytes + 4 * word;
    if (cb_has_unwritten(at - 4 * word % MARK_BYTES, MARK_BYTES))
        machine_fault(self, "read_tile_value: word %u of tile %u of CB %u was pushed but not written%s", word, index,
                      id,
                      cb_pushed_by(cb, (char[100]){0}));
    memcpy(&value, at, 4);
    return value;
}

const uint8_t *cb_front_page(TtKernel *self, const char *call, uint32_t id, uint32_t index, uint32_t pages) {
    const Cb *cb = cb_find(self, call, id);
    if (cb->consumer != self || index + pages > cb->waited)
        machine_fault(self, "%s: tile %u of CB %u is outside the window (waited for: %u)", call, index + pages - 1, id,
                      cb->consumer == self ? cb->waited : 0);
    if (cb->read_page + index + pages > cb->desc->pages)
        machine_fault(self,
                      "%s: tile %u of CB %u lies beyond the end (read pointer on page %u of %u); "
                      "tile indices do not wrap",
                      call, index, id, cb->read_page, cb->desc->pages);
    uint32_t bytes = cb->desc->page_bytes;
    const uint8_t *at = self->core->l1 + cb->base + (cb->read_page + index) * bytes;
    if (cb_has_unwritten(at, pages * bytes))
        machine_fault(self, "%s: tile %u of CB %u was pushed but not (wholly) written%s", call, index, id,
                      cb_pushed_by(cb, (char[100]){0}));
    return at;
}

uint8_t *cb_back_page(TtKernel *self, const char *call, uint32_t id, uint32_t index, uint32_t pages) {
    const Cb *cb = cb_find(self, call, id);
    if (cb->producer != self || index + pages > cb->reserved)
        machine_fault(self, "%s: page %u of CB %u is outside the window (reserved: %u)", call, index + pages - 1, id,
                      cb->producer == self ? cb->reserved : 0);
    if (cb->write_page + index + pages > cb->desc->pages)
        machine_fault(self,
                      "%s: page %u of CB %u lies beyond the end (write pointer on page %u of %u); "
                      "windows do not wrap",
                      call, index, id, cb->write_page, cb->desc->pages);
    return self->core->l1 + cb->base + (cb->write_page + index) * cb->desc->page_bytes;
}

/* Whether pages first .. last lie within `count` pages from `from` on, without wrapping. */
static bool within(uint32_t first, uint32_t last, uint32_t from, uint32_t count) {
    return first >= from && last < from + count;
}

bool cb_range_open(TtKernel *self, uint32_t offset, uint32_t bytes, bool write, char what[160]) {
    for (uint32_t id = 0; id < MAX_CBS; id++) {
        Cb *cb = &self->core->cbs[id];
        if (!cb->desc || !bytes) continue;
        uint32_t end = cb->base + cb->desc->pages * cb->desc->page_bytes;
        if (offset >= end || offset + bytes <= cb->base) continue;
        if (offset < cb->base || offset + bytes > end) {
            snprintf(what, 160, "it crosses the border of CB %u", id);
            return false;
        }
        uint32_t first = (offset - cb->base) / cb->desc->page_bytes;
        uint32_t last = (offset + bytes - 1 - cb->base) / cb->desc->page_bytes;
        if (within(first, last, cb->write_page, cb->reserved)) return true;
        if (!write && within(first, last, cb->read_page, cb->waited)) return true;
        if (!cb->producer && !cb->consumer) { /* nobody's ring so far: take_role finds out if it becomes one */
            cb->scratch = self;
            return true;
        }
        snprintf(what, 160, "page %u of CB %u is not in a %s window (reserved %u from page %u%s)", first, id,
                 write ? "reserved" : "waited or reserved", cb->reserved, cb->write_page,
                 write ? "" : ", see cb_wait_front");
        return false;
    }
    return true;
}

void cb_bind(TtModelApi *api) {
    api->cb_reserve_back = reserve_back;
    api->cb_push_back = push_back;
    api->cb_wait_front = wait_front;
    api->cb_pop_front = pop_front;
    api->cb_write_ptr = write_ptr;
    api->cb_read_ptr = read_ptr;
    api->cb_tile_size = tile_size;
    api->cb_format = data_format;
    api->cb_word = page_word;
}
