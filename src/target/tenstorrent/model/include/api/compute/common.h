/* SPDX-License-Identifier: Apache-2.0 */
/* common.h: arguments, circular buffers and the hand-over of DST, for compute kernels. */
#pragma once
#include "tt_kernel.h"

/* The three threads of a compute kernel run as one, in program order. */
#define UNPACK(...) __VA_ARGS__
#define MATH(...)   __VA_ARGS__
#define PACK(...)   __VA_ARGS__

static inline void tile_regs_acquire() {
    tt_call(tile_regs, TT_ACQUIRE);
}
static inline void tile_regs_commit() {
    tt_call(tile_regs, TT_COMMIT);
}
static inline void tile_regs_wait() {
    tt_call(tile_regs, TT_WAIT);
}
static inline void tile_regs_release() {
    tt_call(tile_regs, TT_RELEASE);
}

enum class BroadcastType {
    NONE = TT_BCAST_NONE,
    COL = TT_BCAST_COL,
    ROW = TT_BCAST_ROW,
    SCALAR = TT_BCAST_SCALAR
};

/* An SFPU operation and its init. */
#define TT_SFPU_CALL(name, init, op, out, p0, p1, ...)                                             \
    do {                                                                                           \
        const uint32_t tt_slots[] = {__VA_ARGS__};                                                 \
        tt_call(sfpu, name, TT_INIT(TT_FAMILY_SFPU, 0, 0, TT_SFPU_##init), TT_SFPU_##op, tt_slots, \
                out, p0, p1);                                                                      \
    } while (0)
#define TT_SFPU_INIT(name, op) tt_call(init, name, TT_INIT(TT_FAMILY_SFPU, 0, 0, TT_SFPU_##op), 0)
#define TT_SFPU_UNARY(op)                                  \
    static inline void op##_tile_init() {                  \
        TT_SFPU_INIT(#op "_tile_init", op);                \
    }                                                      \
    static inline void op##_tile(uint32_t dst) {           \
        TT_SFPU_CALL(#op "_tile", op, op, dst, 0, 0, dst); \
    }
#define TT_SFPU_UNARY_PARAM(op)                                  \
    static inline void op##_tile_init() {                        \
        TT_SFPU_INIT(#op "_tile_init", op);                      \
    }                                                            \
    static inline void op##_tile(uint32_t dst, uint32_t param) { \
        TT_SFPU_CALL(#op "_tile", op, op, dst, param, 0, dst);   \
    }
#define TT_SFPU_BINARY(op)                                               \
    static inline void op##_tile_init() {                                \
        TT_SFPU_INIT(#op "_tile_init", op);                              \
    }                                                                    \
    static inline void op##_tile(uint32_t a, uint32_t b, uint32_t out) { \
        TT_SFPU_CALL(#op "_tile", op, op, out, 0, 0, a, b);              \
    }

#include "pack.h"
