/* prelude_check.c: the dots, products and functions of the CPU prelude by themselves, without the library: so they can be
 * compiled for machines that are not here (tests/all.sh, group machines). A dot must be a chain of
 * fused multiply-adds in the order of k, in every bit; functions keep the errors that vmath.h states. */
#include "vmath.h"
#include "gemm.h"

int printf(const char *format, ...);
f64 fabs(f64), ldexp(f64, int), exp(f64), log(f64), tanh(f64), erf(f64);
int ilogb(f64);
f32 fmaf(f32, f32, f32);

static u32 state = 1;
static f32 number(void) {
    state = state * 1664525u + 1013904223u;
    return (f32)(i32)state * 0x1p-30f;
}

enum { M = 37, N = 75, K = 301, ROOM_K = 1024 };
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

static f64 error_of(f32 got, f64 exact) {
    int e = exact == 0 ? -126 : ilogb(exact);
    return fabs(got - exact) / ldexp(1, (e < -126 ? -126 : e) - 23);
}

int main(void) {
    int wrong = check_dots();
    f64 worst = 0;
    for (int i = 0; i < 200000; i++) {
        const f32 x = number() * 20, y = __builtin_fabsf(x) + 1e-6f;
        const f64 errors[4] = {error_of(tw_exp_f32(x), exp(x)), error_of(tw_log_f32(y), log(y)),
                               error_of(tw_tanh_f32(x), tanh(x)), error_of(tw_erf_f32(x), erf(x))};
        for (int f = 0; f < 4; f++) worst = errors[f] > worst ? errors[f] : worst;
    }
    printf("%d elements of products differ, functions within %.2f ulp\n", wrong, worst);
    return wrong || worst > 2.5;
}
