/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright_dataflow.h: what emitted readers and writers rest on, beside the dataflow API (level v0.77). */
#pragma once
#include "api/dataflow/dataflow_api.h"
#include "tilewright_scalar.h"

/* The number of the page at the given place of a grid of pages, row-major; the pairs are place and extent. */
static constexpr u32 TW_OUTSIDE = 0xffffffffu;
static inline u32 tw_page(u32 page) { return page; }
template <typename... Rest> static inline u32 tw_page(u32 page, u32 at, u32 extent, Rest... rest) {
    return at < extent ? tw_page(page * extent + at, rest...) : TW_OUTSIDE;
}

/* Writes one page element by element; Word: u16 for Float16_b, u32 for Float32. */
template <typename Word, typename Element> static inline void tw_make_page(u32 l1, Element element) {
    volatile tt_l1_ptr Word *to = reinterpret_cast<volatile tt_l1_ptr Word *>((uintptr_t)l1);
    for (i32 face = 0; face < 4; ++face)
        for (i32 r = 0; r < 16; ++r)
            for (i32 c = 0; c < 16; ++c)
                *to++ = (Word)(tw_as_u32(element(face / 2 * 16 + r, face % 2 * 16 + c)) >> (32 - 8 * sizeof(Word)));
}

/* A page of one number in L1, which stays there: for all that lies outside of tensors. */
template <typename Word> static inline u32 tw_fill_page(u32 cb, u32 bits) {
    const u32 l1 = get_write_ptr(cb);
    volatile tt_l1_ptr Word *to = reinterpret_cast<volatile tt_l1_ptr Word *>((uintptr_t)l1);
    for (i32 i = 0; i < 1024; ++i) to[i] = (Word)bits;
    return l1;
}
/* Begins to read a page; outside the tensor it is the one of fill. */
template <typename Pages> static inline void tw_read_page(u32 page, const Pages &pages, u32 fill, u32 to, u32 bytes) {
    if (page != TW_OUTSIDE)
        noc_async_read_page(page, pages, to);
    else
        noc_async_read(get_noc_addr(fill), to, bytes);
}

/* Where an element lies in a page: faces of 16 x 16, one after the other. */
static inline u32 tw_place(u32 r, u32 c) { return (r / 16 * 2 + c / 16) * 256 + r % 16 * 16 + c % 16; }

/* Element i of an index vector whose pages lie in L1, 1024 a page. */
static inline i32 tw_index(u32 l1, i32 i) {
    const volatile tt_l1_ptr i32 *from = reinterpret_cast<const volatile tt_l1_ptr i32 *>((uintptr_t)l1);
    return from[i / 1024 * 1024 + tw_place(i % 1024 / 32, i % 32)];
}

/* Begins to read one page row by row: row r is row index(r) of the tensor, which lies in page page_of(index / 32); outside the
 * tensor it is one of fill. Word: u16 for Float16_b, u32 for Float32. */
template <typename Word, typename Pages, typename Index, typename PageOf>
static inline void tw_read_rows(u32 to, const Pages &pages, u32 fill, Index index, PageOf page_of) {
    for (i32 r = 0; r < 32; ++r) {
        const i64 at = index(r);
        const bool inside = at >= 0 && at < 1ll << 36;
        const u32 page = page_of(inside ? (u32)(at / 32) : TW_OUTSIDE), row = inside ? (u32)(at % 32) : 0;
        for (u32 c = 0; c < 32; c += 16) {
            const u32 place = tw_place(row, c) * sizeof(Word);
            noc_async_read(page == TW_OUTSIDE ? get_noc_addr(fill + place) : get_noc_addr(page, pages, place),
                           to + tw_place(r, c) * sizeof(Word), 16 * sizeof(Word));
        }
    }
}

/* Single elements of a tensor that lies as the caller has it, page after page; the page that was read last, or is being written,
 * is kept in L1. */
enum { TW_PLAIN_BYTES = 1024 };
static constexpr i64 TW_NOWHERE = -0x7fffffffffffffffll - 1;
template <typename Pages> struct TwElements {
    const Pages &pages;
    u32 l1, page = TW_OUTSIDE, begin = 0, end = 0; /* the bytes of it that were written */
};
static inline i64 tw_wrap(i64 at, i64 extent) { return extent > 0 ? (at % extent + extent) % extent : 0; }
template <u32 Bytes> struct TwWord;
template <> struct TwWord<1> { typedef u8 type; };
template <> struct TwWord<2> { typedef u16 type; };
template <> struct TwWord<4> { typedef u32 type; };
template <> struct TwWord<8> { typedef u64 type; };
template <typename T, typename Pages> static inline T tw_element(TwElements<Pages> &e, i64 at) {
    typedef typename TwWord<sizeof(T)>::type Word;
    constexpr i64 count = TW_PLAIN_BYTES / sizeof(T);
    const u32 page = (u32)(at / count);
    if (page != e.page) {
        noc_async_read_page(page, e.pages, e.l1);
        noc_async_read_barrier();
        e.page = page;
    }
    const Word word = reinterpret_cast<const volatile tt_l1_ptr Word *>((uintptr_t)e.l1)[at % count];
    T x;
    memcpy(&x, &word, sizeof x);
    return x;
}
template <typename Pages> static inline void tw_flush(TwElements<Pages> &e) {
    if (e.begin == e.end) return;
    noc_async_write(e.l1 + e.begin, get_noc_addr(e.page, e.pages, e.begin), e.end - e.begin);
    noc_async_writes_flushed(); /* the page may be filled anew */
    e.begin = e.end = 0;
}
template <typename T, typename Pages> static inline void tw_put(TwElements<Pages> &e, i64 at, T x) {
    typedef typename TwWord<sizeof(T)>::type Word;
    constexpr i64 count = TW_PLAIN_BYTES / sizeof(T);
    const u32 page = (u32)(at / count), place = (u32)(at % count), byte = place * (u32)sizeof(T);
    if (page != e.page || byte != e.end) {
        tw_flush(e);
        e.page = page;
        e.begin = e.end = byte;
    }
    Word word;
    memcpy(&word, &x, sizeof x);
    reinterpret_cast<volatile tt_l1_ptr Word *>((uintptr_t)e.l1)[place] = word;
    e.end = byte + (u32)sizeof(T);
}
template <typename T> static inline T tw_as(f32 x) { return (T)x; }
template <> inline bf16 tw_as<bf16>(f32 x) { return tw_bf16(x); }
template <> inline f16 tw_as<f16>(f32 x) { return tw_f16(x); }
/* Of numbers that these formats hold. */
template <> inline e5m2 tw_as<e5m2>(f32 x) { return e5m2{(u8)(tw_f16(x).bits >> 8)}; }
template <> inline e4m3 tw_as<e4m3>(f32 x) {
    const u32 bits = tw_as_u32(x), size = bits & 0x7fffffffu;
    return e4m3{(u8)((bits >> 24 & 0x80u) | (size > 0x7f800000u ? 0x7fu : tw_as_u32(tw_as_f32(size) * 0x1p-120f) >> 20))};
}
/* Stores a page element by element: element (r, c) is number place(r, c), or none if that is negative. */
template <typename Word, typename T, typename Pages, typename Place>
static inline void tw_put_page(TwElements<Pages> &e, u32 l1, Place place) {
    const volatile tt_l1_ptr Word *from = reinterpret_cast<const volatile tt_l1_ptr Word *>((uintptr_t)l1);
    for (i32 r = 0; r < 32; ++r)
        for (i32 c = 0; c < 32; ++c) {
            const i64 at = place(r, c);
            if (at >= 0) tw_put<T>(e, at, tw_as<T>(tw_as_f32((u32)from[tw_place(r, c)] << (32 - 8 * sizeof(Word)))));
        }
    tw_flush(e);
    noc_async_write_barrier(); /* a later store may write the same elements */
}

/* What an atomic update makes of an element and a number. */
template <typename T> static inline T tw_sum(T x, T y) { return (T)((u64)x + (u64)y); }
template <> inline f32 tw_sum(f32 x, f32 y) { return x + y; }
template <> inline f16 tw_sum(f16 x, f16 y) { return tw_f16(tw_f32(x) + tw_f32(y)); }
template <> inline bf16 tw_sum(bf16 x, bf16 y) { return tw_bf16(tw_f32(x) + tw_f32(y)); }
static inline bool tw_less(f16 x, f16 y) { return tw_f32(x) < tw_f32(y); }
static inline bool tw_less(bf16 x, bf16 y) { return tw_f32(x) < tw_f32(y); }
template <typename T> static inline bool tw_less(T x, T y) { return x < y; }
static inline bool tw_is_nan(f16 x) { return (x.bits & 0x7fffu) > 0x7c00u; }
static inline bool tw_is_nan(bf16 x) { return (x.bits & 0x7fffu) > 0x7f80u; }
template <typename T> static inline bool tw_is_nan(T x) { return x != x; }
struct TwAdd {
    template <typename T> static T of(T x, T y) { return tw_sum(x, y); }
};
struct TwMax {
    template <typename T> static T of(T x, T y) { return tw_is_nan(y) || tw_less(y, x) ? x : y; }
};
struct TwMin {
    template <typename T> static T of(T x, T y) { return tw_is_nan(y) || tw_less(x, y) ? x : y; }
};
struct TwAnd {
    template <typename T> static T of(T x, T y) { return (T)(x & y); }
};
struct TwOr {
    template <typename T> static T of(T x, T y) { return (T)(x | y); }
};
struct TwXor {
    template <typename T> static T of(T x, T y) { return (T)(x ^ y); }
};
struct TwSet {
    template <typename T> static T of(T, T y) { return y; }
};

/* Updates of memory that several cores update: a core at a time, which reads, computes and writes. Turn i of all cores comes in
 * their order, then turn i + 1: a core waits for the one before it, and tells the one behind it. */
struct TwTurn {
    u32 place, next_x, next_y, next_turns, first_x, first_y, first_turns, semaphore;
    u32 turn, kept; /* this core's next one; how many it got from itself, since it was the last of all */
    bool mine;
};
static inline TwTurn tw_turn_of(u32 arg, u32 semaphore) {
    return {get_arg_val<u32>(arg),     get_arg_val<u32>(arg + 1), get_arg_val<u32>(arg + 2), get_arg_val<u32>(arg + 3),
            get_arg_val<u32>(arg + 4), get_arg_val<u32>(arg + 5), get_arg_val<u32>(arg + 6), (u32)get_semaphore(semaphore),
            0, 0, false};
}
static inline void tw_wait_turn(TwTurn &t) {
    const u32 told = t.turn + (t.place != 0) - t.kept;
    if (!t.mine && told) noc_semaphore_wait_min(reinterpret_cast<volatile tt_l1_ptr u32 *>((uintptr_t)t.semaphore), told);
    t.mine = true;
}
template <typename Pages> static inline void tw_take_turn(TwTurn &t, TwElements<Pages> &e) {
    tw_wait_turn(t);
    e.page = TW_OUTSIDE; /* others may have written it */
}
/* At the end of a task, with or without updates. */
static inline void tw_pass_turn(TwTurn &t) {
    tw_wait_turn(t);
    if (t.turn < t.next_turns)
        noc_semaphore_inc(get_noc_addr(t.next_x, t.next_y, t.semaphore), 1);
    else if (t.place == 0)
        ++t.kept;
    else if (t.turn + 1 < t.first_turns)
        noc_semaphore_inc(get_noc_addr(t.first_x, t.first_y, t.semaphore), 1);
    noc_async_atomic_barrier();
    t.mine = false;
    ++t.turn;
}
/* An element that this core may update; it is written by tw_flush at the latest. */
template <typename T, typename Combine, typename Pages> static inline void tw_update(TwElements<Pages> &e, i64 at, T x) {
    typedef typename TwWord<sizeof(T)>::type Word;
    constexpr i64 count = TW_PLAIN_BYTES / sizeof(T);
    const u32 page = (u32)(at / count), place = (u32)(at % count), byte = place * (u32)sizeof(T);
    if (page != e.page) {
        tw_flush(e);
        noc_async_write_barrier(); /* it may be one that was written before */
        noc_async_read_page(page, e.pages, e.l1);
        noc_async_read_barrier();
        e.page = page;
    }
    const bool inside = byte >= e.begin && byte < e.end;
    if (!inside && byte != e.end) {
        tw_flush(e);
        e.begin = e.end = byte;
    }
    volatile tt_l1_ptr Word *to = reinterpret_cast<volatile tt_l1_ptr Word *>((uintptr_t)e.l1) + place;
    Word word = *to;
    T old;
    memcpy(&old, &word, sizeof old);
    old = Combine::of(old, x);
    memcpy(&word, &old, sizeof word);
    *to = word;
    if (!inside) e.end = byte + (u32)sizeof(T);
}
template <typename Word, typename T, typename Combine, typename Pages, typename Place>
static inline void tw_update_page(TwElements<Pages> &e, u32 l1, Place place) {
    const volatile tt_l1_ptr Word *from = reinterpret_cast<const volatile tt_l1_ptr Word *>((uintptr_t)l1);
    for (i32 r = 0; r < 32; ++r)
        for (i32 c = 0; c < 32; ++c) {
            const i64 at = place(r, c);
            if (at < 0) continue;
            tw_update<T, Combine>(e, at, tw_as<T>(tw_as_f32((u32)from[tw_place(r, c)] << (32 - 8 * sizeof(Word)))));
        }
    tw_flush(e);
    noc_async_write_barrier();
}

/* A number for compute, as two words. */
template <typename T> static inline void tw_tell(u32 l1, T x) {
    u64 bits = 0;
    memcpy(&bits, &x, sizeof x);
    volatile tt_l1_ptr u32 *to = reinterpret_cast<volatile tt_l1_ptr u32 *>((uintptr_t)l1);
    to[0] = (u32)bits;
    to[1] = (u32)(bits >> 32);
}

/* A row or column of cores that all need the same pages, at the same place of their L1: the first one sends, the others receive. */
struct TwShare {
    u32 role, x0, y0, x1, y1, receivers, from_x, from_y; /* role: 0 alone, 1 sends, 2 receives; receivers' rectangle; sender */
    u32 ready, valid;                                    /* semaphores: how many may be sent to; what was sent has come */
};
static inline TwShare tw_share_of(u32 arg, u32 semaphore) {
    return {get_arg_val<u32>(arg),     get_arg_val<u32>(arg + 1), get_arg_val<u32>(arg + 2), get_arg_val<u32>(arg + 3),
            get_arg_val<u32>(arg + 4), get_arg_val<u32>(arg + 5), get_arg_val<u32>(arg + 6), get_arg_val<u32>(arg + 7),
            (u32)get_semaphore(semaphore), (u32)get_semaphore(semaphore + 1)};
}
static inline bool tw_reads(const TwShare &s) { return s.role != 2; }
/* Pages that are there at one core, and reserved at all, are there at all. */
static inline void tw_share(const TwShare &s, u32 l1, u32 bytes) {
    volatile tt_l1_ptr u32 *ready = reinterpret_cast<volatile tt_l1_ptr u32 *>((uintptr_t)s.ready);
    volatile tt_l1_ptr u32 *valid = reinterpret_cast<volatile tt_l1_ptr u32 *>((uintptr_t)s.valid);
    if (s.role == 1) {
        noc_semaphore_wait(ready, s.receivers);
        noc_semaphore_set(ready, 0);
        noc_async_write_multicast(l1, get_noc_multicast_addr(s.x0, s.y0, s.x1, s.y1, l1), bytes, s.receivers);
        noc_async_writes_flushed(); /* the flag must not overtake the pages */
        noc_semaphore_set(valid, 1);
        noc_semaphore_set_multicast(s.valid, get_noc_multicast_addr(s.x0, s.y0, s.x1, s.y1, s.valid), s.receivers);
        noc_async_write_barrier();
    } else if (s.role == 2) {
        noc_semaphore_set(valid, 0);
        noc_semaphore_inc(get_noc_addr(s.from_x, s.from_y, s.ready), 1);
        noc_semaphore_wait(valid, 1);
        noc_async_atomic_barrier();
    }
}

/* The scaler of a sum or maximum: 1.0 in the first row of each face. */
static inline void tw_write_scaler(u32 cb) {
    cb_reserve_back(cb, 1);
    tw_make_page<u16>(get_write_ptr(cb), [](i32 r, i32) -> f32 { return r % 16 == 0 ? 1.0f : 0.0f; });
    cb_push_back(cb, 1);
}
