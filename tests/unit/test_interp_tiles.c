/* SPDX-License-Identifier: Apache-2.0 */
/* test_interp_tiles.c: ops on whole tiles, memory and control, on ranks 1 to 4, extents 1 and odd.
 */
#include "interp_bench.h"
#include "ir/element.h"

/* One program that turns a tensor x of floats into a tensor z; extents of both follow the text. */
static void run_tile(const char *text, float *x, int xn, float *z, int zn, bool sanitize) {
    Bench b;
    bench_open(&b, text, NULL);
    bench_tensor(&b, "x", x, true, 4, 1, xn);
    bench_tensor(&b, "z", z, false, 4, 1, zn);
    b.launch.sanitize = sanitize;
    BENCH_RUN(&b, 1, 1, 1);
    bench_close(&b);
}

/* The body of such a kernel: %x is the input, %r the result, both of rank 1. */
#define TILE_KERNEL(xn, body)                                                            \
    "kernel @k(%X: tensor<f32,1>, %Z: tensor<f32,1>) {\n  %x = tload %X, [0] : f32[" #xn \
    "]\n" body "\n  tstore %Z, [0], %r\n  return }\n"

static void shapes(void) {
    float x[120], z[240];
    for (int i = 0; i < 120; i++) x[i] = (float)i;
    for (int sanitize = 0; sanitize < 2; sanitize++) {
        bool s = sanitize;
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[2,3,4,5] ; %b = permute<dims=[2,0,3,1]> "
                                  "%a ; %r = reshape %b : f32[120]"),
                 x, 120, z, 120, s);
        for (int i = 0; i < 120; i++) { /* z[c][a][d][b] = x[a][b][c][d] */
            int c = i / 30, a = i / 15 % 2, d = i / 3 % 5, b = i % 3;
            CHECK(z[i] == x[((a * 3 + b) * 4 + c) * 5 + d]);
        }
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[4,1,30] ; %b = broadcast %a : f32[4,2,30] "
                                  "; %r = reshape %b : f32[240]"),
                 x, 120, z, 240, s);
        for (int i = 0; i < 240; i++) CHECK(z[i] == x[i / 60 * 30 + i % 30]);
        run_tile(TILE_KERNEL(60, "%a = reshape %x : f32[4,3,5] ; %b = repeat<1> %a : f32[4,6,5] ; %c = "
                                 "reshape %b : f32[120] ; %r = repeat<0> %c : f32[240]"),
                 x, 60, z, 240, s);
        for (int i = 0; i < 240; i++) CHECK(z[i] == x[i / 60 * 15 + i / 20 % 3 * 5 + i / 2 % 5]);
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[5,24] ; %b = flip<axis=0> %a ; %c = "
                                  "flip<axis=1> %b ; %r = reshape %c : f32[120]"),
                 x, 120, z, 120, s);
        for (int i = 0; i < 120; i++) CHECK(z[i] == x[119 - i]);
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[60,2] ; %p, %q = split %a ; %j = join %q, "
                                  "%p ; %r = reshape %j : f32[120]"),
                 x, 120, z, 120, s);
        for (int i = 0; i < 120; i++) CHECK(z[i] == x[i ^ 1]);
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[6,20] ; %p = slice %a, [1, 3] : f32[4,7] "
                                  "; %q = slice %a, [2, 0] : f32[4,1]\n"
                                  "  %c = cat<axis=1> %q, %p, %q ; %i = insert %a, [0, 11], %c ; "
                                  "%r = reshape %i : f32[120]"),
                 x, 120, z, 120, s);
        for (int i = 0; i < 120; i++) {
            int row = i / 20, column = i % 20 - 11;
            float want = x[i];
            if (row < 4 && column >= 0 && column < 9)
                want =
                    column == 0 || column == 8 ? x[(row + 2) * 20] : x[(row + 1) * 20 + column + 2];
            CHECK(z[i] == want);
        }
        run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[10,12] ; %i = iota<0, 12> ; %i0 = "
                                  "expand<0> %i ; %k = mul %i0, 7 ; %m = rem %k, 10\n"
                                  "  %w = broadcast %m : i32[1,12] ; %g = gather<axis=0> %a, %w ; "
                                  "%r = reshape %g : f32[12]"),
                 x, 120, z, 12, s);
        for (int i = 0; i < 12; i++) CHECK(z[i] == x[i * 7 % 10 * 12 + i]);
        /* places -3 .. 36, each three times: the last one stays, and nothing is written outside */
        run_tile(TILE_KERNEL(120, "%a = slice %x, [0] : f32[30] ; %b = reshape %a : f32[5,6] ; %i = iota<0, 120> ; %j = "
                                  "rem %i, 40 ; %k = sub %j, 3\n"
                                  "  %k2 = reshape %k : i32[2,60] ; %v = reshape %x : f32[2,60] ; %s = scatter %b, %k2, %v ; "
                                  "%r = reshape %s : f32[30]"),
                 x, 120, z, 30, s);
        for (int i = 0; i < 30; i++) CHECK(z[i] == x[80 + i + 3]);
        /* the same, combined: three of each, and of the numbers the largest */
        run_tile(TILE_KERNEL(120, "%i = iota<0, 120> ; %j = rem %i, 40 ; %k = sub %j, 3 ; %n = splat 1 : i32[120] ; %b = "
                                  "splat 7 : i32[30] ; %c = scatter<kind=add> %b, %k, %n\n"
                                  "  %m = scatter<kind=max> %b, %k, %i ; %h = mul %c, 1000 ; %t = add %h, %m ; %r = cast "
                                  "%t : f32[30]"),
                 x, 120, z, 30, s);
        for (int i = 0; i < 30; i++) CHECK(z[i] == (float)(10 * 1000 + 80 + i + 3));
    }
    run_tile(TILE_KERNEL(1, "%r = splat 3.5 : f32[7]"), x, 1, z, 7, true);
    for (int i = 0; i < 7; i++) CHECK(z[i] == 3.5f);
}

static void reductions(void) {
    float x[120], z[120];
    uint64_t state = 11;
    for (int i = 0; i < 120; i++) x[i] = bench_normal(&state);
    run_tile(TILE_KERNEL(120, "%a = reshape %x : f32[4,5,6] ; %s = reduce<add, axis=1> %a ; %r = "
                              "reshape %s : f32[24]"),
             x, 120, z, 24, false);
    for (int i = 0; i < 24; i++) { /* without a stamp: halves first */
        const float *y = &x[i / 6 * 30 + i % 6];
        CHECK(z[i] == ((y[0] + y[24]) + y[12]) + (y[6] + y[18]));
    }
    /* stamped: of 13 elements, bits 1, 3, 0, 2 in turn; partners from 13 on are left out */
    run_tile(
        TILE_KERNEL(13, "%s = reduce<add, axis=0, order=[1, 3, 0, 2]> %x ; %r = splat %s : f32[1]"),
        x, 13, z, 1, false);
    float v[16];
    bool there[16];
    for (int i = 0; i < 16; i++) v[i] = i < 13 ? x[i] : 0, there[i] = i < 13;
    static const int bits[] = {1, 3, 0, 2};
    for (int b = 0; b < 4; b++)
        for (int i = 0; i < 16; i++) {
            int j = i | 1 << bits[b];
            if (j == i || !there[j]) continue;
            if (!there[i]) abort(); /* the lower one exists whenever the higher does */
            v[i] += v[j];
            there[j] = false;
        }
    CHECK(z[0] == v[0]);
    run_tile(TILE_KERNEL(1, "%s = reduce<add, axis=0, order=[]> %x ; %r = splat %s : f32[1]"), x, 1,
             z, 1, false);
    CHECK(z[0] == x[0]);

    float odd[] = {3, NAN, 7, -2, 7, NAN, -2};
    static const struct {
        const char *text;
        float want;
    } kinds[] = {
        {TILE_KERNEL(7, "%s = reduce<max, axis=0> %x ; %r = splat %s : f32[1]"), 7},
        {TILE_KERNEL(7, "%s = reduce<min, axis=0> %x ; %r = splat %s : f32[1]"), -2},
        {TILE_KERNEL(7, "%s = reduce<max, axis=0, nan=keep> %x ; %r = splat %s : f32[1]"), NAN},
        {TILE_KERNEL(
             7, "%s = reduce<argmax, axis=0> %x ; %f = cast %s : f32 ; %r = splat %f : f32[1]"),
         2},
        {TILE_KERNEL(7, "%s = reduce<argmin, axis=0, order=[2, 0, 1]> %x ; %f = cast %s : f32 ; %r "
                        "= splat %f : f32[1]"),
         3},
        {TILE_KERNEL(7, "%s = reduce<argmax, axis=0, nan=keep> %x ; %f = cast %s : f32 ; %r = "
                        "splat %f : f32[1]"),
         1},
        {TILE_KERNEL(
             7, "%y = select true, %x, %x ; %s = reduce<mul, axis=0> %y ; %r = splat %s : f32[1]"),
         NAN},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        run_tile(kinds[k].text, odd, 7, z, 1, false);
        CHECK(isnan(kinds[k].want) ? isnan(z[0]) : z[0] == kinds[k].want);
    }
    float nans[] = {NAN, NAN};
    run_tile(TILE_KERNEL(2, "%s = reduce<max, axis=0> %x ; %r = splat %s : f32[1]"), nans, 2, z, 1,
             false);
    CHECK(isnan(z[0]));
    /* 16-bit sums round at every step */
    run_tile(TILE_KERNEL(5, "%h = cast %x : f16[5] ; %s = reduce<add, axis=0> %h ; %f = cast %s : "
                            "f32 ; %r = splat %f : f32[1]"),
             (float[]){2048, 1, 1, 1, 1}, 5, z, 1, false);
    CHECK(z[0] == 2050); /* (2048 + 1 + 1) + (1 + 1), the first two rounded away */
    /* a tuple under a region: the value and the place of the last largest */
    run_tile(
        TILE_KERNEL(
            6, "%i = iota<0, 6> ; %f = cast %i : f32[6]\n"
               "  %v, %at = reduce<region, axis=0> %x, %f (%a: f32, %b: f32, %c: f32, %d: f32) {\n"
               "    %take = cmp<ge> %c, %a ; %v1 = select %take, %c, %a ; %k1 = select %take, %d, "
               "%b ; yield %v1, %k1 }\n"
               "  %p = splat %v : f32[1] ; %q = splat %at : f32[1] ; %r = cat<axis=0> %p, %q"),
        (float[]){1, 9, 4, 9, 9, 2}, 6, z, 2, false);
    CHECK(z[0] == 9 && z[1] == 4);
}

static void scans_and_sorts(void) {
    float x[30], z[30];
    for (int i = 0; i < 30; i++) x[i] = (float)((i * 7) % 11) - 3;
    run_tile(
        TILE_KERNEL(
            30,
            "%a = reshape %x : f32[5,6] ; %s = scan<add, axis=0> %a ; %r = reshape %s : f32[30]"),
        x, 30, z, 30, false);
    for (int i = 0; i < 30; i++) {
        float sum = 0;
        for (int j = i % 6; j <= i; j += 6) sum += x[j];
        CHECK(z[i] == sum);
    }
    run_tile(TILE_KERNEL(30, "%a = reshape %x : f32[5,6] ; %s = scan<max, axis=1, reverse> %a ; %r "
                             "= reshape %s : f32[30]"),
             x, 30, z, 30, false);
    for (int i = 0; i < 30; i++) {
        float most = x[i];
        for (int j = i; j < (i / 6 + 1) * 6; j++) most = fmaxf(most, x[j]);
        CHECK(z[i] == most);
    }
    /* x(i) = a x(i-1) + b as a scan of pairs: not commutative, so the order shows */
    run_tile(TILE_KERNEL(
                 6,
                 "%two = splat 2.0 : f32[6]\n"
                 "  %p, %q = scan<region, axis=0> %two, %x (%a: f32, %b: f32, %c: f32, %d: f32) {\n"
                 "    %ac = mul %a, %c ; %bc = mul %b, %c ; %e = add %bc, %d ; yield %ac, %e }\n"
                 "  %r = reshape %q : f32[6]"),
             (float[]){1, 2, 3, 4, 5, 6}, 6, z, 6, false);
    float state = 0;
    for (int i = 0; i < 6; i++) CHECK(z[i] == (state = 2 * state + (float)(i + 1)));

    float odd[] = {3, NAN, -0.0f, INFINITY, -INFINITY, 0, 1e-40f, NAN, -7, 3, 2};
    run_tile(TILE_KERNEL(11, "%r = sort<axis=0> %x"), odd, 11, z, 11, false);
    for (int i = 1; i < 9; i++) CHECK(z[i - 1] <= z[i]);
    CHECK(z[0] == -INFINITY && z[8] == INFINITY && isnan(z[9]) && isnan(z[10]));
    run_tile(TILE_KERNEL(11, "%r = sort<axis=0, desc> %x"), odd, 11, z, 11, false);
    CHECK(z[0] == INFINITY && z[8] == -INFINITY && isnan(z[9]) && isnan(z[10]));
    /* f8e5m2 has infinities; only a conversion to it makes them the largest number. */
    run_tile(TILE_KERNEL(4, "%i = cast %x : u8[4] ; %f = bitcast %i : f8e5m2[4] ; %s = sort<axis=0> %f ; "
                            "%b = bitcast %s : u8[4] ; %r = cast %b : f32[4]"),
             (float[]){0x7C, 0x3C, 0xFC, 0}, 4, z, 4, false);
    CHECK(z[0] == 0xFC && z[1] == 0 && z[2] == 0x3C && z[3] == 0x7C);
    run_tile(TILE_KERNEL(30,
                         "%a = reshape %x : f32[5,6] ; %i = cast %a : i8[5,6] ; %s = sort<axis=0> "
                         "%i ; %f = cast %s : f32[5,6] ; %r = reshape %f : f32[30]"),
             x, 30, z, 30, false);
    for (int i = 6; i < 30; i++) CHECK(z[i - 6] <= z[i]);
    run_tile(
        TILE_KERNEL(30, "%i = cast %x : i32[30] ; %h = histogram<5> %i ; %r = cast %h : f32[5]"), x,
        30, z, 5, false);
    for (int k = 0; k < 5; k++) {
        int count = 0;
        for (int i = 0; i < 30; i++) count += x[i] == (float)k;
        CHECK(z[k] == (float)count);
    }
}

static void dots(void) {
    enum { M = 3, K = 130, N = 67 };
    static float x[M * K + K * N + M * N], z[M * N], y[M * N];
    uint64_t state = 8;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = bench_normal(&state);
    const float *a = x, *b = x + M * K, *c = b + K * N;
    run_tile(
        "kernel @k(%X: tensor<f32,1>, %Z: tensor<f32,1>) {\n"
        "  %x = tload %X, [0] : f32[9301] ; %a0 = slice %x, [0] : f32[390] ; %b0 = slice %x, [390] "
        ": f32[8710] ; %c0 = slice %x, [9100] : f32[201]\n"
        "  %a = reshape %a0 : f32[3,130] ; %b = reshape %b0 : f32[130,67] ; %c = reshape %c0 : "
        "f32[3,67]\n"
        "  %d = dot %a, %b, %c ; %r = reshape %d : f32[201] ; tstore %Z, [0], %r\n  return }\n",
        x, M * K + K * N + M * N, z, M * N, false);
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            float sum = c[m * N + n];
            for (int k = 0; k < K; k++) sum = fmaf(a[m * K + k], b[k * N + n], sum);
            CHECK(z[m * N + n] == sum);
        }
    /* the chain rule: K in two parts, the second starting from the first's result */
    run_tile("kernel @k(%X: tensor<f32,1>, %Z: tensor<f32,1>) {\n"
             "  %x = tload %X, [0] : f32[9301] ; %a0 = slice %x, [0] : f32[390] ; %b0 = slice %x, "
             "[390] : f32[8710] ; %c0 = slice %x, [9100] : f32[201]\n"
             "  %a = reshape %a0 : f32[3,130] ; %b = reshape %b0 : f32[130,67] ; %c = reshape %c0 "
             ": f32[3,67]\n"
             "  %a1 = slice %a, [0, 0] : f32[3,47] ; %a2 = slice %a, [0, 47] : f32[3,83] ; %b1 = "
             "slice %b, [0, 0] : f32[47,67] ; %b2 = slice %b, [47, 0] : f32[83,67]\n"
             "  %d1 = dot %a1, %b1, %c ; %d = dot %a2, %b2, %d1 ; %r = reshape %d : f32[201] ; "
             "tstore %Z, [0], %r\n  return }\n",
             x, M * K + K * N + M * N, y, M * N, false);
    CHECK(memcmp(y, z, sizeof y) == 0);
    /* batches, f16 into f16 (one rounding at the end), integers into i32, f64 */
    Bench t;
    uint16_t h[2 * 5] = {0}, out[2] = {0};
    int32_t i32[1];
    double f64[1];
    int8_t i8[] = {-128, 127, 3};
    for (int i = 0; i < 10; i++) h[i] = f16_from_f32(i < 5 ? (i ? 1 : 2048) : 0.25f);
    bench_open(&t,
               "kernel @k(%h: tensor<f16,3>, %o: tensor<f16,3>, %b: tensor<i8,2>, %i: "
               "tensor<i32,2>, %f: tensor<f64,2>) {\n"
               "  %x = tload %h, [0,0,0] : f16[2,1,5] ; %one = splat 1.0 : f16[2,5,1] ; %z = splat "
               "0.0 : f16[2,1,1]\n"
               "  %d = dot %x, %one, %z ; tstore %o, [0,0,0], %d\n"
               "  %p = tload %b, [0,0] : i8[1,3] ; %q = permute<dims=[1,0]> %p ; %c = splat 7 : "
               "i32[1,1] ; %e = dot %p, %q, %c ; tstore %i, [0,0], %e\n"
               "  %u = splat 3.0 : f64[1,2] ; %v = splat 0.1 : f64[2,1] ; %w = splat 1.0 : "
               "f64[1,1] ; %g = dot %u, %v, %w ; tstore %f, [0,0], %g\n"
               "  return }\n",
               NULL);
    bench_tensor(&t, "h", h, true, 2, 3, 2, 1, 5);
    bench_tensor(&t, "o", out, false, 2, 3, 2, 1, 1);
    bench_tensor(&t, "b", i8, true, 1, 2, 1, 3);
    bench_tensor(&t, "i", i32, false, 4, 2, 1, 1);
    bench_tensor(&t, "f", f64, false, 8, 2, 1, 1);
    BENCH_RUN(&t, 1, 1, 1);
    CHECK(f16_to_f32(out[0]) == 2052 && f16_to_f32(out[1]) == 1.25f);
    CHECK(i32[0] == 16384 + 16129 + 9 + 7);
    CHECK(f64[0] == fma(3, 0.1, fma(3, 0.1, 1)));
    bench_close(&t);
}

/* --- memory --- */

static void pointers(void) {
    int32_t data[10], out[10];
    for (int i = 0; i < 10; i++) data[i] = i * i, out[i] = -1;
    Bench b;
    bench_open(&b,
               "kernel @k(%x, %z: *i32, %n: i32) {\n"
               "  %i = iota<0, 5> ; %p = program_id<0> ; %o = mul %p, 5 ; %at = add %o, %i ; %m = "
               "cmp<lt> %at, %n ; %k = cmp<gt> %i, 1\n"
               "  %px = ptr_add %x, %at ; %pz = ptr_add %z, %at ; %v = load %px, %k, 77 ; %w = "
               "load %px, %k ; %s = add %v, %w\n"
               "  store %pz, %s, %m\n"
               "  %q = ptr_add %px, -2 ; %same = cmp<lt> %q, %px ; %all = cast %same : i32[5] ; "
               "%sum = reduce<add, axis=0> %all\n"
               "  %five = cmp<eq> %sum, 5 ; assert %five\n"
               "  %bits = bitcast %pz : i64[5] ; %back = bitcast %bits : *i32[5] ; %again = load "
               "%back, %m ; %plus = add %again, 1 ; store %back, %plus, %m\n"
               "  return }\n",
               NULL);
    bench_buffer(&b, "x", data, sizeof data, true);
    bench_buffer(&b, "z", out, sizeof out, false);
    bench_int(&b, 9);
    b.launch.sanitize = true;
    BENCH_RUN(&b, 2, 1, 1);
    for (int i = 0; i < 9; i++) CHECK(out[i] == (i % 5 > 1 ? 2 * data[i] : 77) + 1);
    CHECK(out[9] == -1);
    bench_close(&b);

    /* i1 in memory is a byte that counts as != 0; pointers compare; a select of pointers loads */
    uint8_t truth[] = {0, 1, 7, 255}, copied[4];
    bench_open(&b,
               "kernel @k(%x, %z: *i1) {\n"
               "  %i = iota<0, 4> ; %p = ptr_add %x, %i ; %v = load %p ; %q = ptr_add %z, %i ; "
               "store %q, %v\n  return }\n",
               NULL);
    bench_buffer(&b, "x", truth, 4, true);
    bench_buffer(&b, "z", copied, 4, false);
    BENCH_RUN(&b, 1, 1, 1);
    CHECK(copied[0] == 0 && copied[1] == 1 && copied[2] == 1 && copied[3] == 1);
    bench_close(&b);
}

static void boxes(void) {
    int32_t data[6 * 7], out[4 * 5];
    for (int i = 0; i < 42; i++) data[i] = i;
    /* begins before the tensor, and ends behind it */
    for (int r = -5; r <= 7; r++)
        for (int c = -6; c <= 8; c += 2) {
            Bench b;
            bench_open(&b,
                       "kernel @k(%x, %z: tensor<i32,2>, %r, %c: i32) {\n"
                       "  %v = tload<fill=-9> %x, [%r, %c] : i32[4,5] ; tstore %z, [0,0], %v\n"
                       "  %w = tload<wrap=[0,1]> %x, [%r, %c] : i32[4,5] ; %a = reduce<add, "
                       "axis=0> %w ; %s = reduce<add, axis=0> %a\n"
                       "  print<message=\"sum\"> %s\n"
                       "  return }\n",
                       NULL);
            bench_tensor(&b, "x", data, true, 4, 2, 6, 7);
            bench_tensor(&b, "z", out, false, 4, 2, 4, 5);
            bench_int(&b, r);
            bench_int(&b, c);
            b.launch.sanitize = r & 1;
            BENCH_RUN(&b, 1, 1, 1);
            int sum = 0;
            for (int i = 0; i < 20; i++) {
                int row = r + i / 5, column = c + i % 5;
                bool inside = row >= 0 && row < 6 && column >= 0 && column < 7;
                CHECK(out[i] == (inside ? row * 7 + column : -9));
                sum += (row + 12) % 6 * 7 + (column + 14) % 7;
            }
            char want[100];
            snprintf(want, sizeof want, "pid (0, 0, 0) idx () sum: %d\n", sum);
            CHECK_TEXT(b.printed.at, want);
            bench_close(&b);
        }
    /* a stored box is clipped; a mask drops more; dims names the tile's dimensions; strides may be
     * 0 or negative */
    Bench b;
    int32_t small[6], wide[6] = {0};
    bench_open(&b,
               "kernel @k(%x: tensor<i32,3>, %z: tensor<i32,2>, %w: *i32) {\n"
               "  %v = tload<dims=[0,2]> %x, [0, 1, 0] : i32[2,3] ; %i = iota<0, 3> ; %m = cmp<ne> "
               "%i, 1 ; %mm = expand<0> %m\n"
               "  tstore %z, [1, 0], %v, %mm\n"
               "  %last = ptr_add %w, 5 ; %back = tensor %last, [6], [-1] ; %n = iota<0, 6> ; "
               "tstore %back, [0], %n\n"
               "  %free = tensor %w, [none, 2], [0, 1] ; %f = tload %free, [1000, 0] : i32[2,2] ; "
               "%f0 = slice %f, [1, 0] : i32[1,2]\n"
               "  %g = reshape %f0 : i32[2] ; tstore %back, [4], %g\n"
               "  %one = tload %z, [1, 2] : i32 ; %two = add %one, 0 ; tstore %z, [0, 0], %two\n"
               "  %e = extent<1> %x ; %s = stride<0> %x ; %es = mul %e, %s ; %ok = cmp<eq> %es, 24 "
               "; assert %ok\n"
               "  %bp = base %x ; %b0 = load %bp ; %zero = cmp<eq> %b0, 0 ; assert %zero\n"
               "  return }\n",
               NULL);
    for (int i = 0; i < 6; i++) small[i] = -1;
    bench_tensor(&b, "x", data, true, 4, 3, 2, 2, 6);
    bench_tensor(&b, "z", small, true, 4, 2, 2, 3);
    bench_buffer(&b, "w", wide, sizeof wide, true);
    BENCH_RUN(&b, 1, 1, 1);
    CHECK(small[3] == 6 && small[4] == -1 && small[5] == 8 &&
          small[0] == 8); /* row 1 of z: rows 0 of v */
    CHECK(wide[5] == 0 && wide[4] == 1 && wide[3] == 2 && wide[2] == 3 && wide[1] == 5 &&
          wide[0] == 4);
    bench_close(&b);
}

/* Rows and columns that vectors choose: in any order, twice, before the tensor and behind it. */
static void indexed(void) {
    enum { R = 6, C = 7, N = 8, M = 5 };
    int32_t data[R * C], loaded[N * M], stored[R * C], sums[R * C], tall[R * C];
    int32_t rows[N] = {2, 3, -1, 6, 0, 3, INT32_MIN, 1};
    int64_t columns[M] = {6, 0, (int64_t)1 << 40, 6, -7};
    for (int i = 0; i < R * C; i++) data[i] = i;
    for (int sanitize = 0; sanitize < 2; sanitize++) {
        Bench b;
        for (int i = 0; i < R * C; i++) stored[i] = -1, tall[i] = -i, sums[i] = 0;
        bench_open(&b,
                   "kernel @k(%x, %l, %s, %a: tensor<i32,2>, %r: tensor<i32,1>, %c: tensor<i64,1>, %t: tensor<i32,3>) {\n"
                   "  %v = tload %r, [0] : i32[8] ; %w = tload %c, [0] : i64[5]\n"
                   "  %both = tload<fill=-9> %x, [%v, %w] : i32[8,5] ; tstore %l, [0, 0], %both\n"
                   "  %one = tload<fill=-7> %x, [%v, 5] : i32[8,4] ; tstore %s, [%v, 5], %one\n"
                   "  %two = splat 2 : i32[8,5] ; tatomic<add> %a, [%v, %w], %two\n"
                   "  %u = cast %v : i8[8] ; %k = tload<dims=[0,2]> %t, [%u, 1, 1] : i32[8,2]\n"
                   "  %q = iota<0, 8> ; %odd = rem %q, 2 ; %even = cmp<eq> %odd, 0 ; %m = select %even, %v, -1\n"
                   "  tstore<dims=[0,2]> %t, [%m, 0, 0], %k\n"
                   "  return }\n",
                   NULL);
        bench_tensor(&b, "x", data, true, 4, 2, R, C);
        bench_tensor(&b, "l", loaded, false, 4, 2, N, M);
        bench_tensor(&b, "s", stored, true, 4, 2, R, C);
        bench_tensor(&b, "a", sums, true, 4, 2, R, C);
        bench_tensor(&b, "r", rows, true, 4, 1, N);
        bench_tensor(&b, "c", columns, true, 8, 1, M);
        bench_tensor(&b, "t", tall, true, 4, 3, 3, 2, 7);
        b.launch.sanitize = sanitize;
        BENCH_RUN(&b, 1, 1, 1);
        int32_t want_stored[R * C], want_sums[R * C] = {0};
        for (int i = 0; i < R * C; i++) want_stored[i] = -1;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) {
                bool row = rows[i] >= 0 && rows[i] < R, column = columns[j] >= 0 && columns[j] < C;
                CHECK(loaded[i * M + j] == (row && column ? rows[i] * C + (int)columns[j] : -9));
                if (row && column) want_sums[rows[i] * C + columns[j]] += 2;
                if (row && 5 + j < C && j < 4) want_stored[rows[i] * C + 5 + j] = rows[i] * C + 5 + j;
            }
        CHECK(memcmp(stored, want_stored, sizeof stored) == 0 && memcmp(sums, want_sums, sizeof sums) == 0);
        /* Rows of the middle plane, picked by bytes, go to the first: the even ones of those that are there. */
        int32_t want_tall[R * C], plane[N][2];
        for (int i = 0; i < R * C; i++) want_tall[i] = -i;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < 2; j++) {
                int at = (int8_t)rows[i];
                plane[i][j] = at >= 0 && at < 3 ? -(at * 14 + 7 + 1 + j) : 0;
            }
        for (int i = 0; i < N; i += 2)
            for (int j = 0; j < 2; j++)
                if (rows[i] >= 0 && rows[i] < 3) want_tall[rows[i] * 14 + j] = plane[i][j];
        CHECK(memcmp(tall, want_tall, sizeof tall) == 0);
        bench_close(&b);
    }
    /* An index times a stride has 64 bits; a dimension without an extent has no outside, one with the largest has. */
    for (int bounded = 0; bounded < 2; bounded++) {
        Bench b;
        int32_t near[3] = {10, 11, 12}, out[7] = {0};
        bench_open(&b,
                   bounded ? "kernel @k(%x, %z: *i32) {\n"
                             "  %T = tensor %x, [9223372036854775807:i64, 3], [4294967296:i64, 1] ; %v = splat -4 : i32[2]\n"
                             "  %a = tload<fill=5> %T, [%v, 0] : i32[2,3] ; %Z = tensor %z, [2, 3], [3, 1] ; tstore %Z, [0, 0], %a\n"
                             "  tstore %T, [%v, 0], %a\n"
                             "  return }\n"
                           : "kernel @k(%x, %z: *i32) {\n"
                             "  %p = ptr_add %x, 17179869184:i64 ; %T = tensor %p, [none, 3], [4294967296:i64, 1] ; %v = splat -4 : i32[2]\n"
                             "  %a = tload %T, [%v, 0] : i32[2,3] ; %Z = tensor %z, [2, 3], [3, 1] ; tstore %Z, [0, 0], %a\n"
                             "  return }\n",
                   NULL);
        bench_buffer(&b, "x", near, sizeof near, true);
        bench_buffer(&b, "z", out, sizeof out, true);
        BENCH_RUN(&b, 1, 1, 1);
        for (int i = 0; i < 6; i++) CHECK(out[i] == (bounded ? 5 : 10 + i % 3));
        CHECK(out[6] == 0);
        bench_close(&b);
    }
}

static void atomics(void) {
    int32_t cells[4] = {0, 100, 100, 5};
    float sum[2] = {0, 0};
    int32_t old[8];
    Bench b;
    bench_open(
        &b,
        "kernel @k(%c: *i32, %s: *f32, %o: *i32) {\n"
        "  %p = program_id<0> ; %i = iota<0, 2> ; %one = splat 1 : i32[2] ; %z = mul %i, 0 ; %pc = "
        "ptr_add %c, %z\n"
        "  %before = atomic<add> %pc, %one ; %c1 = ptr_add %c, 1 ; %lo = atomic<min> %c1, %p ; %c2 "
        "= ptr_add %c, 2\n"
        "  %hi = sub 0, %p ; %x = atomic<max> %c2, %hi ; %c3 = ptr_add %c, 3 ; %y = atomic_cas "
        "%c3, 5, %p\n"
        "  %s2 = ptr_add %s, %i ; %half = splat 0.5 : f32[2] ; %m = cmp<eq> %i, 1 ; %w = "
        "atomic<add> %s2, %half, %m\n"
        "  %po = mul %p, 2 ; %at = add %po, %i ; %oo = ptr_add %o, %at ; store %oo, %before\n"
        "  return }\n",
        NULL);
    bench_buffer(&b, "c", cells, sizeof cells, true);
    bench_buffer(&b, "s", sum, sizeof sum, true);
    bench_buffer(&b, "o", old, sizeof old, false);
    b.launch.sanitize = true;
    BENCH_RUN(&b, 4, 1, 1);
    CHECK(cells[0] == 8 && cells[1] == 0 && cells[2] == 100 && cells[3] == 0);
    CHECK(sum[0] == 0 && sum[1] == 2);
    for (int i = 0; i < 8; i++) CHECK(old[i] == i);
    bench_close(&b);
    float box[4] = {1, 2, 3, 4};
    bench_open(&b,
               "kernel @k(%x: tensor<f32,2>) {\n  %v = splat 2.0 : f32[2,2] ; tatomic<add> %x, [1, "
               "1], %v ; tatomic<max> %x, [-1, 0], %v\n"
               "  %i = iota<0, 2> ; %m = cmp<eq> %i, 1 ; %k = expand<1> %m ; tatomic<add> %x, [-1, 0], %v, %k ; %n = not %k ; tatomic<mul> "
               "%x, [0, 0], %v, false ; %h = splat -2.0 : f32[2,2] ; tatomic<add> %x, [-1, 0], %h, %k\n  return }\n",
               NULL);
    bench_tensor(&b, "x", box, true, 4, 2, 2, 2);
    BENCH_RUN(&b, 3, 1, 1);
    CHECK(box[0] == 2 && box[1] == 2 && box[2] == 3 && box[3] == 10);
    bench_close(&b);
}

/* --- control --- */

static int64_t run_scalar(const char *body, uint64_t seed) {
    char text[3000];
    snprintf(text, sizeof text, "kernel @k(%%z: *i64) {\n%s\n  store %%z, %%r\n  return }\n", body);
    Bench b;
    int64_t out = INT64_MIN;
    bench_open(&b, text, NULL);
    bench_buffer(&b, "z", &out, 8, false);
    b.launch.seed = seed;
    b.launch.sanitize = seed & 1;
    BENCH_RUN(&b, 1, 1, 1);
    bench_close(&b);
    return out;
}

static void control(void) {
    CHECK(run_scalar("%r = for %i = 0:i64, 10:i64, 3:i64 (%s = 0:i64) { %t = mul %s, 10 ; %u = add "
                     "%t, %i ; yield %u }",
                     0) == 369);
    CHECK(run_scalar("%r = for %i = 10:i64, 0:i64, -3:i64 (%s = 0:i64) { %t = mul %s, 100 ; %u = "
                     "add %t, %i ; yield %u }",
                     0) == 10070401);
    CHECK(run_scalar("%r = for %i = 5:i64, 5:i64, 1:i64 (%s = 42:i64) { yield %i }", 0) == 42);
    CHECK(run_scalar("%r = for %i = 9223372036854775800:i64, 9223372036854775807:i64, 4:i64 (%s = "
                     "0:i64) { %t = add %s, 1 ; yield %t }",
                     0) == 2);
    CHECK(run_scalar("%n = for %i = 4294967290:u32, 4294967295:u32, 3:u32 (%s = 0:i64) { %t = add "
                     "%s, 1 ; yield %t } ; %r = add %n, 0",
                     0) == 2);
    /* carried values change places */
    CHECK(run_scalar("%a, %b = for %i = 0, 3, 1 (%x = 1:i64, %y = 2:i64) { yield %y, %x } ; %t = "
                     "mul %a, 10 ; %r = add %t, %b",
                     0) == 21);
    CHECK(run_scalar("%r, %n = while (%x = 1:i64, %i = 0:i64) { %go = cmp<lt> %x, 1000 ; test %go, "
                     "%x, %i } do (%x, %i) {\n"
                     "  %y = mul %x, 3 ; %j = add %i, 1 ; yield %y, %j }",
                     0) == 2187);
    CHECK(run_scalar("%c = cmp<gt> 3:i64, 2:i64 ; %r = if %c { yield 5:i64 } { yield 6:i64 }", 0) ==
          5);
    CHECK(run_scalar("%d = cmp<gt> 2:i64, 3:i64 ; %r = if %d { yield 5:i64 } { yield 6:i64 }", 0) ==
          6);
    for (uint64_t seed = 0; seed < 5; seed++) /* every tuple once, whatever the order */
        CHECK(run_scalar("%b = buf : buf<i64[3,4,5], local> ; %n = buf : buf<i64[1], local> ; "
                         "bstore %n, [0], 0\n"
                         "parallel %i, %j, %k in 3, 4, 5 { %c = bload %n, [0] : i64 ; %d = add %c, "
                         "1 ; bstore %n, [0], %d ; bstore %b, [%i, %j, %k], 1 }\n"
                         "%v = bload %b, [0, 0, 0] : i64[3,4,5] ; %s0 = reduce<add, axis=0> %v ; "
                         "%s1 = reduce<add, axis=0> %s0 ; %s = reduce<add, axis=0> %s1\n"
                         "%t = mul %s, 1000 ; %c9 = bload %n, [0] : i64 ; %r = add %t, %c9",
                         seed) == 60060);
    CHECK(run_scalar("parallel %i in 0 { %x = div %i, 0 } ; %r = add 1:i64, 1:i64", 0) == 2);

    /* box of a buffer, lower rank, run-time place */
    CHECK(run_scalar("%b = buf : buf<i64[2,3], shared> ; %row = iota<1, 4> ; %w = cast %row : "
                     "i64[3] ; bstore %b, [1, 0], %w\n"
                     "%v = bload %b, [1, 1] : i64[2] ; %r = reduce<add, axis=0> %v",
                     1) == 5);

    /* the grid: programs and their number; nothing runs when an extent is 0 */
    int32_t seen[2 * 3 * 4] = {0};
    Bench b;
    bench_open(&b,
               "kernel @k(%z: *i32) {\n"
               "  %x = program_id<0> ; %y = program_id<1> ; %w = program_id<2> ; %nx = "
               "num_programs<0> ; %ny = num_programs<1>\n"
               "  %a = mul %w, %ny ; %c = add %a, %y ; %d = mul %c, %nx ; %e = add %d, %x ; %p = "
               "ptr_add %z, %e ; store %p, 1\n  return }\n",
               NULL);
    bench_buffer(&b, "z", seen, sizeof seen, false);
    BENCH_RUN(&b, 2, 0, 4);
    for (int i = 0; i < 24; i++) CHECK(seen[i] == 0);
    for (uint64_t seed = 0; seed < 3; seed++) {
        memset(seen, 0, sizeof seen);
        b.launch.seed = seed;
        b.launch.sanitize = true;
        BENCH_RUN(&b, 2, 3, 4);
        for (int i = 0; i < 24; i++) CHECK(seen[i] == 1);
    }
    bench_close(&b);
}

/* A region an element: branches and loops on scalars, several tiles in and out. */
static void maps(void) {
    float x[30], z[60];
    for (int i = 0; i < 30; i++) x[i] = (float)i - 9;
    for (int sanitize = 0; sanitize < 2; sanitize++) {
        run_tile(TILE_KERNEL(30,
                             "%a = reshape %x : f32[5,6] ; %y = add %a, 1.0\n"
                             "  %p, %q = map %a, %y (%u: f32, %v: f32) {\n"
                             "    %neg = cmp<lt> %u, 0.0\n"
                             "    %s = if %neg { %n = neg %v ; yield %n } { yield %v }\n"
                             "    %t = for %i = 0, 3, 1 (%w = %u) { %d = add %w, %u ; yield %d }\n"
                             "    yield %s, %t }\n"
                             "  %c = cat<axis=0> %p, %q ; %r = reshape %c : f32[60]"),
                 x, 30, z, 60, sanitize);
        for (int i = 0; i < 30; i++) {
            CHECK(z[i] == (x[i] < 0 ? -x[i] - 1 : x[i] + 1));
            CHECK(z[30 + i] == 4 * x[i]);
        }
    }
}

int main(void) {
    shapes();
    maps();
    reductions();
    scans_and_sorts();
    dots();
    pointers();
    boxes();
    indexed();
    atomics();
    control();
    return check_done();
}
