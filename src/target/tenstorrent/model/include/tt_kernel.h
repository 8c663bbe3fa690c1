/* SPDX-License-Identifier: Apache-2.0 */
/* tt_kernel.h: what every API-model header rests on, and the entry point of a kernel.
 *
 * A kernel file is compiled unchanged through a wrapper of four lines:
 *
 *     #define KERNEL_COMPILE_TIME_ARGS 2, 2048       may be empty or absent
 *     #include "tt_kernel.h"
 *     #include "reader.cpp"
 *     TT_KERNEL_ENTRY(tw_reader)                     extern "C" void tw_reader(const TtModelApi *)
 *
 * kernel_main gets internal linkage, so several kernels may be linked into one shared object. */
#pragma once
#include "tt_model_api.h"

#include <string.h>

static thread_local const TtModelApi *tt_api;

static void kernel_main();

#define TT_KERNEL_ENTRY(name)                                                            \
    extern "C" __attribute__((visibility("default"))) void name(const TtModelApi *api) { \
        tt_api = api;                                                                    \
        kernel_main();                                                                   \
    }
/* tt_call(cb_wait_front, 0, 1) */
#define tt_call(function, ...) (tt_api->function(tt_api->self, ##__VA_ARGS__))

#define tt_l1_ptr
#define FORCE_INLINE inline __attribute__((always_inline))
#define ALWI         inline __attribute__((always_inline))

#ifndef KERNEL_COMPILE_TIME_ARGS
#define KERNEL_COMPILE_TIME_ARGS
#endif
template <uint32_t... Values> struct TtCompileTimeArgs {
    static constexpr uint32_t count = sizeof...(Values);
    static constexpr uint32_t values[sizeof...(Values) + 1] = {Values..., 0};
};
/* Internal linkage: each kernel of a shared object has arguments of its own. */
template <uint32_t Index> static constexpr uint32_t get_ct_arg() {
    typedef TtCompileTimeArgs<KERNEL_COMPILE_TIME_ARGS> Args;
    static_assert(Index < Args::count, "compile-time argument index out of range");
    return Args::values[Index];
}
#define get_compile_time_arg_val(index) get_ct_arg<index>()

template <typename T> static inline T get_arg_val(uint32_t index) {
    static_assert(sizeof(T) == 4, "arguments are 32-bit words");
    return static_cast<T>(tt_call(arg, index, 0));
}
template <typename T> static inline T get_common_arg_val(uint32_t index) {
    static_assert(sizeof(T) == 4, "arguments are 32-bit words");
    return static_cast<T>(tt_call(arg, index, 1));
}
static inline uint32_t get_absolute_logical_x() {
    return tt_call(logical, 0);
}
static inline uint32_t get_absolute_logical_y() {
    return tt_call(logical, 1);
}

static inline void cb_reserve_back(uint32_t cb, uint32_t pages) {
    tt_call(cb_reserve_back, cb, pages);
}
static inline void cb_push_back(uint32_t cb, uint32_t pages) {
    tt_call(cb_push_back, cb, pages);
}
static inline void cb_wait_front(uint32_t cb, uint32_t pages) {
    tt_call(cb_wait_front, cb, pages);
}
static inline void cb_pop_front(uint32_t cb, uint32_t pages) {
    tt_call(cb_pop_front, cb, pages);
}
static inline uint32_t get_tile_size(uint32_t cb) {
    return tt_call(cb_tile_size, cb);
}

enum class DataFormat : uint8_t {
#define X(name, number, bytes) name = number,
    TT_FORMATS(X)
#undef X
};
static inline DataFormat get_dataformat(uint32_t cb) {
    return (DataFormat)tt_call(cb_format, cb);
}

namespace tt {
using ::DataFormat;
/* clang-format off */
enum CBIndex : uint8_t {
    c_0, c_1, c_2, c_3, c_4, c_5, c_6, c_7, c_8, c_9, c_10, c_11, c_12, c_13, c_14, c_15,
    c_16, c_17, c_18, c_19, c_20, c_21, c_22, c_23, c_24, c_25, c_26, c_27, c_28, c_29, c_30, c_31
};
/* clang-format on */
} // namespace tt

/* From here on, in the kernel's own text, every turn of a loop is counted, so that the model can end
 * one that does not end by itself and say where it stands. */
static inline void tt_turn(uint32_t line) {
    *tt_api->line = line;
    if (__builtin_expect(--*tt_api->turns == 0, 0)) tt_call(turn);
}
#define for(...) for (__VA_ARGS__) if (tt_turn(__LINE__), 0) {} else
#define while(...) while (tt_turn(__LINE__), (__VA_ARGS__))
