/* SPDX-License-Identifier: Apache-2.0 */
/* selftest.h: does the C compiler know what kernels are written in? Compiled and run once for each compiler, before the
 * first kernel: vector types of GNU C, their comparisons and shuffles, unaligned access through them, atomics.
 * tw_self_test gives 0, or the number of the first check that failed. */
#include "cpu.h"

typedef i32 V __attribute__((vector_size(32)));
typedef i32 At __attribute__((vector_size(32), aligned(4), may_alias));
typedef f32 F __attribute__((vector_size(32)));

_Static_assert(sizeof(V) == 32, "vector types of GNU C are needed: set CC to gcc or clang");
_Static_assert(sizeof(i64) == 8 && sizeof(void *) == 8, "a machine of 64 bits is needed");

int tw_self_test(i32 *room) {
    for (i32 i = 0; i < 16; i++) room[i] = 3 * i - 20;
    V a = *(At *)(room + 1), b = *(At *)(room + 7);
    V m = a < b, least = (a & m) | (b & ~m), turned = __builtin_shufflevector(a, b, 7, 6, 5, 4, 8, 9, 10, 11);
    for (i32 i = 0; i < 8; i++) {
        if (m[i] != -1 || least[i] != room[1 + i]) return 1;
        if (turned[i] != (i < 4 ? room[8 - i] : room[3 + i])) return 2;
    }
    F x = __builtin_convertvector(a, F), y = x * 0.5f - (F){0};
    *(At *)(room + 3) = (V)y;
    for (i32 i = 0; i < 8; i++)
        if (tw_as_f32((u32)room[3 + i]) != (f32)(3 * (i + 1) - 20) * 0.5f) return 3;
    room[0] = 5;
    i32 five = 5;
    if (!__atomic_compare_exchange_n(&room[0], &five, 6, 0, 5, 5) || room[0] != 6) return 4;
    if (tw_f16_f32(tw_f32_f16(0x3555)) != 0x3555) return 5;
    return 0;
}
