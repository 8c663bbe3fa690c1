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
/* Outside the tensor lies the page of fill. */
static inline u32 tw_inside(u32 page, u32 fill) { return page == TW_OUTSIDE ? fill : page; }

/* Writes one page element by element; Word: u16 for Float16_b, u32 for Float32. */
template <typename Word, typename Element> static inline void tw_make_page(u32 l1, Element element) {
    volatile tt_l1_ptr Word *to = reinterpret_cast<volatile tt_l1_ptr Word *>((uintptr_t)l1);
    for (i32 face = 0; face < 4; ++face)
        for (i32 r = 0; r < 16; ++r)
            for (i32 c = 0; c < 16; ++c)
                *to++ = (Word)(tw_as_u32(element(face / 2 * 16 + r, face % 2 * 16 + c)) >> (32 - 8 * sizeof(Word)));
}

/* The scaler of a sum or maximum: 1.0 in the first row of each face. */
static inline void tw_write_scaler(u32 cb) {
    cb_reserve_back(cb, 1);
    tw_make_page<u16>(get_write_ptr(cb), [](i32 r, i32) -> f32 { return r % 16 == 0 ? 1.0f : 0.0f; });
    cb_push_back(cb, 1);
}
