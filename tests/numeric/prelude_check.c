/* SPDX-License-Identifier: Apache-2.0 */
/* prelude_check.c: the dots, products, transposes and functions of the CPU prelude by themselves, without the library: so they can be
 * compiled for machines that are not here (tests/all.sh, group machines). A dot must be a chain of
 * fused multiply-adds in the order of k, in every bit, and one of pairs of bf16 (AVX-512 BF16, AMX; with -DTW_PAIRS or
 * -DTW_PAIRS -DTW_AMX_TWIN all but the instructions themselves) near it; functions keep the errors that vmath.h states. On a
 * machine with AVX-512 BF16, and on one with AMX once more with -U__AMX_BF16__:
 *     gcc -std=gnu11 -O2 -march=native -ffp-contract=off -fno-math-errno \
 *         -Isrc/target/cpu/prelude tests/numeric/prelude_check.c -lm && ./a.out
 * The twin of AMX and AMX itself print the same bits of products. */
#ifdef TW_AMX_TWIN
#include "amx_twin.h"
#endif
#include "vmath.h"
#include "gemm.h"

enum { TURN = 70 };
#define CHECK_TURN(B, T)                                                                           \
    static int check_turn_##B(void) {                                                              \
        static T x[TURN * TURN], y[TURN * TURN];                                                   \
        int wrong = 0;                                                                             \
        for (int i = 0; i < TURN * TURN; i++) x[i] = (T)(i * 2654435761u >> 3);                    \
        for (int m = 0; m <= TURN; m += m < 20 ? 1 : 7)                                            \
            for (int n = 0; n <= TURN; n += n < 20 ? 1 : 9) {                                      \
                for (int i = 0; i < TURN * TURN; i++) y[i] = 3;                                    \
                tw_turn_##B(y, TURN, x, TURN, m, n);                                               \
                for (int i = 0; i < TURN; i++)                                                     \
                    for (int j = 0; j < TURN; j++)                                                 \
                        wrong += y[j * TURN + i] != (i < m && j < n ? x[i * TURN + j] : 3);        \
            }                                                                                      \
        return wrong;                                                                              \
    }
CHECK_TURN(1, u8)
CHECK_TURN(2, u16)
CHECK_TURN(4, u32)
CHECK_TURN(8, u64)

int printf(const char *format, ...);
f64 fabs(f64), ldexp(f64, int), exp(f64), log(f64), tanh(f64), erf(f64);
int ilogb(f64);
f32 fmaf(f32, f32, f32);

static u32 state = 1;
static f32 number(void) {
    state = state * 1664525u + 1013904223u;
    return (f32)(i32)state * 0x1p-30f;
}

enum { M = 101, N = 75, K = 301, ROOM_K = 1024 };
static f32 a[M * K], b[K * N], bt[K * N], c[M * N], want[M * N], panel[256 * 64], rows[56 << 10], room[ROOM_K * 128];
static f64 da[M * K], db[K * N], dc[M * N], dwant[M * N], dpanel[256 * 32];
static u64 slot[8];

static int differ(const f32 *x) {
    int wrong = 0;
    for (int i = 0; i < M * N; i++) wrong += x[i] != want[i];
    return wrong;
}

static int check_dots(void) {
    int wrong = 0;
    for (int i = 0; i < M * K; i++) a[i] = number(), da[i] = a[i];
    for (int i = 0; i < K * N; i++) b[i] = number(), db[i] = b[i], bt[i % N * K + i / N] = b[i];
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            f32 s = 0;
            f64 d = 0;
            for (int k = 0; k < K; k++) s = fmaf(a[i * K + k], b[k * N + j], s), d = tw_fma_f64(da[i * K + k], db[k * N + j], d);
            want[i * N + j] = s, dwant[i * N + j] = d;
        }
    tw_dot_f32(M, N, K, a, K, b, N, c, N, 0, panel);
    wrong += differ(c);
    tw_dot_f64(M, N, K, da, K, db, N, dc, N, 0, dpanel);
    for (int i = 0; i < M * N; i++) wrong += dc[i] != dwant[i];
    const TwSide left = {a, K, 1, 0, M, 0, K}, plain = {b, 1, N, 0, N, 0, K}, turned = {bt, K, 1, 0, N, 0, K};
    for (int twice = 0; twice < 2; twice++) {
        for (int i = 0; i < M * N; i++) c[i] = 0.5f;
        tw_gemm(tw_gather_f32, tw_pack_f32, &left, &plain, M, N, K, c, 0, 1, rows, room, ROOM_K, slot, 0, 0);
        wrong += differ(c);
    }
    tw_gemm(tw_gather_f32, tw_pack_f32, &left, &turned, M, N, K, rows + 40000, 0, 1, rows, room, ROOM_K, 0, c, N);
    return wrong + differ(c);
}

#ifdef TW_PAIRS
enum { OUTSIDE = 12345 };
static u32 bits;
enum { LINE = 320 }; /* of rows that lie as tiles like them */
static bf16 pa[M * K], pat[M * K], pb[K * N], pbt[K * N], pal[M * LINE] __attribute__((aligned(64)));

/* Elements of a product of bf16 over the first `length` steps that are further from the exact one than 2 roundings a step, and
 * those outside of it that are not as they were. The product starts from c if asked. */
static int check_pairs(int length, const TwSide *left, const TwSide *right, int room_k, int start) {
    int wrong = 0;
    for (int i = 0; i < M * N; i++) c[i] = i / N < left->hi && i % N < right->hi ? 0.5f : OUTSIDE;
    tw_gemm(tw_gather_pairs, tw_pack_pairs, left, right, M, N, length, c, start, 1, rows, room, room_k, 0, 0, 0);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            f64 exact = start ? 0.5 : 0, size = exact;
            bits = (bits ^ tw_as_u32(c[i * N + j])) * 16777619u;
            if (i >= left->hi || j >= right->hi) {
                wrong += c[i * N + j] != OUTSIDE;
                continue;
            }
            for (int k = 0; k < length; k++) {
                const f64 x = (f64)tw_f32_bf16(pa[i * K + k]) * tw_f32_bf16(pb[k * N + j]);
                exact += x, size += fabs(x);
            }
            wrong += !(fabs(c[i * N + j] - exact) <= size * 0x1p-23);
        }
    return wrong;
}

/* Odd lengths and such that are no whole tile; a and b as they lie and turned; one block along k and many. */
static int check_all_pairs(void) {
    static const int sizes[][2] = {{M, N}, {30, 60}, {16, 16}, {17, 1}, {1, 33}};
    for (int i = 0; i < M * K; i++) pa[i] = tw_bf16_f32(number()), pat[i % K * M + i / K] = pal[i / K * LINE + i % K] = pa[i];
    for (int i = 0; i < K * N; i++) pb[i] = tw_bf16_f32(number()), pbt[i % N * K + i / N] = pb[i];
    int wrong = 0;
    for (int n = 0; n < 20; n++) {
        const int m = sizes[n % 5][0], w = sizes[n % 5][1], length = n < 5 ? K : n < 10 ? K - 1 : n < 15 ? 288 : 1;
        const TwSide left = {pa, K, 1, 0, m, 0, length}, turned_left = {pat, 1, M, 0, m, 0, length};
        const TwSide aligned = {pal, LINE, 1, 0, m, 0, length};
        const TwSide right = {pb, 1, N, 0, w, 0, length}, turned_right = {pbt, K, 1, 0, w, 0, length};
        wrong += check_pairs(length, &left, &right, ROOM_K, 0) + check_pairs(length, &left, &turned_right, 70, 1) +
                 check_pairs(length, &turned_left, &right, 70, 0) + check_pairs(length, &turned_left, &turned_right, ROOM_K, 1) +
                 check_pairs(length, &aligned, &right, 70, 1);
    }
#ifdef TW_AMX_TWIN
    wrong += twin_faults + !twin_dots;
#endif
    printf("products of pairs have bits %08x\n", bits);
    return wrong;
}
#else
static int check_all_pairs(void) { return 0; }
#endif

static f64 error_of(f32 got, f64 exact) {
    int e = exact == 0 ? -126 : ilogb(exact);
    return fabs(got - exact) / ldexp(1, (e < -126 ? -126 : e) - 23);
}

int main(void) {
    int wrong = check_dots() + check_all_pairs() + check_turn_1() + check_turn_2() + check_turn_4() + check_turn_8();
    f64 worst = 0;
    for (int i = 0; i < 200000; i++) {
        const f32 x = number() * 20, y = __builtin_fabsf(x) + 1e-6f;
        const f64 errors[4] = {error_of(tw_exp_f32(x), exp(x)), error_of(tw_log_f32(y), log(y)),
                               error_of(tw_tanh_f32(x), tanh(x)), error_of(tw_erf_f32(x), erf(x))};
        for (int f = 0; f < 4; f++) worst = errors[f] > worst ? errors[f] : worst;
    }
    printf("%d elements of products and transposes differ, functions within %.2f ulp\n", wrong, worst);
    return wrong || worst > 2.5;
}
