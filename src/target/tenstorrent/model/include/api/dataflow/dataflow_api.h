/* SPDX-License-Identifier: Apache-2.0 */
/* dataflow_api.h: what reader and writer kernels call (arguments, accessors, NoC, semaphores). */
#pragma once
#include "tt_kernel.h"

static inline uint32_t get_write_ptr(uint32_t cb) {
    return tt_call(cb_write_ptr, cb);
}
static inline uint32_t get_read_ptr(uint32_t cb) {
    return tt_call(cb_read_ptr, cb);
}

/* An interleaved tensor takes two compile-time words: flags (2: in DRAM, 0: in L1) and its page size. They belong to
 * one kernel, so the types do too. */
namespace {
template <uint32_t Offset> struct TensorAccessorArgs {
    static constexpr uint32_t flags = get_ct_arg<Offset>();
    static constexpr uint32_t page_size = get_ct_arg<Offset + 1>();
    static_assert(flags == 2 || flags == 0, "the model knows interleaved tensors in DRAM (flags 2) and in L1 (0) only");
    static constexpr uint32_t next_compile_time_args_offset() { return Offset + 2; }
};
struct TensorAccessor {
    uint32_t base, page_size;
    bool in_l1;
    template <uint32_t Offset>
    TensorAccessor(const TensorAccessorArgs<Offset> &args, uint32_t address)
        : base(address), page_size(args.page_size), in_l1(!args.flags) {}
    template <uint32_t Offset>
    TensorAccessor(const TensorAccessorArgs<Offset> &args, uint32_t address, uint32_t page_bytes)
        : base(address), page_size(page_bytes), in_l1(!args.flags) {}
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0) const {
        return tt_call(page_address, base, page_size, page, offset, in_l1);
    }
};
} // namespace

static inline uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t l1) {
    return tt_call(core_address, x, y, l1);
}
static inline uint64_t get_noc_addr(uint32_t l1) { /* of this core */
    return tt_call(own_address, l1);
}
static inline uint64_t get_noc_addr(uint32_t page, const TensorAccessor &t, uint32_t offset = 0) {
    return t.get_noc_addr(page, offset);
}
static inline uint64_t get_noc_multicast_addr(uint32_t xs, uint32_t ys, uint32_t xe, uint32_t ye,
                                              uint32_t l1) {
    return tt_call(rect_address, xs, ys, xe, ye, l1);
}

static inline void noc_async_read(uint64_t from, uint32_t to, uint32_t bytes) {
    tt_call(noc_read, from, to, bytes);
}
static inline void noc_async_write(uint32_t from, uint64_t to, uint32_t bytes) {
    tt_call(noc_write, from, to, bytes);
}
static inline void noc_async_read_page(uint32_t page, const TensorAccessor &t, uint32_t to,
                                       uint32_t offset = 0) {
    tt_call(noc_read, t.get_noc_addr(page, offset), to, t.page_size - offset);
}
static inline void noc_async_write_page(uint32_t page, const TensorAccessor &t, uint32_t from,
                                        uint32_t bytes = 0, uint32_t offset = 0) {
    tt_call(noc_write, from, t.get_noc_addr(page, offset), bytes ? bytes : t.page_size - offset);
}
static inline void noc_async_write_multicast(uint32_t from, uint64_t to, uint32_t bytes,
                                             uint32_t receivers, bool = false) {
    tt_call(noc_write_multicast, from, to, bytes, receivers, 0);
}
static inline void noc_async_write_multicast_loopback_src(uint32_t from, uint64_t to,
                                                          uint32_t bytes, uint32_t receivers,
                                                          bool = false) {
    tt_call(noc_write_multicast, from, to, bytes, receivers, 1);
}
static inline void noc_async_read_barrier() {
    tt_call(noc_read_barrier);
}
static inline void noc_async_write_barrier() {
    tt_call(noc_write_barrier);
}
static inline void noc_async_writes_flushed() {
    tt_call(noc_writes_flushed);
}
static inline void noc_async_atomic_barrier() {
    tt_call(noc_atomic_barrier);
}

/* Semaphores are words of L1; the kernel makes a pointer of their address, and here it turns back.
 */
static inline uint32_t get_semaphore(uint32_t id) {
    return tt_call(semaphore, id);
}
static inline uint32_t tt_l1_address(volatile uint32_t *word) {
    return (uint32_t)(uintptr_t)word;
}
static inline void noc_semaphore_set(volatile uint32_t *word, uint32_t value) {
    tt_call(semaphore_set, tt_l1_address(word), value);
}
static inline void noc_semaphore_wait(volatile uint32_t *word, uint32_t value) {
    tt_call(semaphore_wait, tt_l1_address(word), value, 0);
}
static inline void noc_semaphore_wait_min(volatile uint32_t *word, uint32_t value) {
    tt_call(semaphore_wait, tt_l1_address(word), value, 1);
}
static inline void noc_semaphore_inc(uint64_t at, uint32_t by) {
    tt_call(semaphore_inc, at, by);
}
static inline void noc_semaphore_set_remote(uint32_t from, uint64_t to) {
    tt_call(noc_write, from, to, 4);
}
static inline void noc_semaphore_set_multicast(uint32_t from, uint64_t to, uint32_t receivers,
                                               bool = false) {
    tt_call(noc_write_multicast, from, to, 4, receivers, 0);
}
static inline void noc_semaphore_set_multicast_loopback_src(uint32_t from, uint64_t to,
                                                            uint32_t receivers, bool = false) {
    tt_call(noc_write_multicast, from, to, 4, receivers, 1);
}
