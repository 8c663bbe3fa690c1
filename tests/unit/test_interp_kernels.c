/* SPDX-License-Identifier: Apache-2.0 */
/* test_interp_kernels.c: whole kernels, each in several forms: equal bits in all forms, under all
 * orders of roles, numbers of slots and workers, and near a float64 reference. */
#include "interp_bench.h"
#include "ir/element.h"

static const char mm_source[] =
    "kernel @mm(%A, %B, %C: *f16, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pid = program_id<0> ; %nm = cdiv %M, $BM ; %nn = cdiv %N, $BN ; %pg = mul %nn, 8 ; %g = "
    "div %pid, %pg\n"
    "  %fm = mul %g, 8 ; %gl = sub %nm, %fm ; %gs = min %gl, 8 ; %r = rem %pid, %pg ; %ri = rem "
    "%r, %gs\n"
    "  %pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, $BM ; %n = mul %pn, $BN\n"
    "  %im = iota<0, $BM> ; %in = iota<0, $BN> ; %ik = iota<0, $BK> ; %rm = add %m, %im ; %rn = "
    "add %n, %in\n"
    "  %wm = rem %rm, %M ; %w0 = expand<1> %wm ; %w1 = mul %w0, %sa ; %k0 = expand<0> %ik ; %oa = "
    "add %w1, %k0\n"
    "  %wn = rem %rn, %N ; %w2 = expand<0> %wn ; %k1 = expand<1> %ik ; %k2 = mul %k1, %sb ; %ob = "
    "add %k2, %w2\n"
    "  %pa0 = ptr_add %A, %oa ; %pb0 = ptr_add %B, %ob ; %z = splat 0.0 : f32[$BM,$BN]\n"
    "  %nk = cdiv %K, $BK ; %db = mul %sb, $BK\n"
    "  %acc, %pa9, %pb9 = for %k = 0, %nk, 1 (%c = %z, %pa = %pa0, %pb = %pb0) {\n"
    "    %kk = mul %k, $BK ; %left = sub %K, %kk ; %ma = cmp<lt> %k0, %left ; %mb = cmp<lt> %k1, "
    "%left\n"
    "    %a = load %pa, %ma, 0.0 ; %b = load %pb, %mb, 0.0 ; %c1 = dot %a, %b, %c\n"
    "    %pa1 = ptr_add %pa, $BK ; %pb1 = ptr_add %pb, %db ; yield %c1, %pa1, %pb1 }\n"
    "  %h = cast %acc : f16[$BM,$BN] ; %r0 = expand<1> %rm ; %r1 = mul %r0, %sc ; %r2 = expand<0> "
    "%rn\n"
    "  %oc = add %r1, %r2 ; %pc = ptr_add %C, %oc ; %m0 = cmp<lt> %r0, %M ; %m1 = cmp<lt> %r2, %N\n"
    "  %mc = and %m0, %m1 ; store %pc, %h, %mc\n"
    "  return }\n";

static const char mm_access[] =
    "kernel @mm(%A, %B, %C: *f16, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pid = program_id<0> ; %nm = cdiv %M, $BM ; %nn = cdiv %N, $BN ; %pg = mul %nn, 8 ; %g = "
    "div %pid, %pg\n"
    "  %fm = mul %g, 8 ; %gl = sub %nm, %fm ; %gs = min %gl, 8 ; %r = rem %pid, %pg ; %ri = rem "
    "%r, %gs\n"
    "  %pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, $BM ; %n = mul %pn, $BN\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1]\n"
    "  %TC = tensor %C, [%M, %N], [%sc, 1] ; %z = splat 0.0 : f32[$BM,$BN] ; %nk = cdiv %K, $BK\n"
    "  %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "    %kk = mul %k, $BK ; %a = tload %TA, [%m, %kk] : f16[$BM,$BK] ; %b = tload %TB, [%kk, %n] "
    ": f16[$BK,$BN]\n"
    "    %c1 = dot %a, %b, %c ; yield %c1 }\n"
    "  %h = cast %acc : f16[$BM,$BN] ; tstore %TC, [%m, %n], %h\n"
    "  return }\n";

static const char mm_ring[] =
    "kernel @mm(%A, %B, %C: *f16, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %nm = cdiv %M, $BM ; %nn = cdiv %N, $BN ; %nk = cdiv %K, $BK ; %pg = mul %nn, 8 ; %np = "
    "num_programs<0>\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1]\n"
    "  %TC = tensor %C, [%M, %N], [%sc, 1]\n"
    "  %in  = ring<from=load, to=compute, slots=$SLOTS, hold=2> : {a: f16[$BM,$BK], b: "
    "f16[$BK,$BN]}\n"
    "  %out = ring<from=compute, to=store, slots=1> : {c: f16[$BM,$BN]}\n"
    "  tasks %pid in %np <order=code, persist> {\n"
    "    %g = div %pid, %pg ; %fm = mul %g, 8 ; %gl = sub %nm, %fm ; %gs = min %gl, 8 ; %r = rem "
    "%pid, %pg\n"
    "    %ri = rem %r, %gs ; %pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, $BM ; %n = mul "
    "%pn, $BN\n"
    "    role load {\n"
    "      for %k = 0, %nk, 1 {\n"
    "        %kk = mul %k, $BK ; %s = acquire %in\n"
    "        %a = tload %TA, [%m, %kk] : f16[$BM,$BK] ; put %s.a, %a\n"
    "        %b = tload %TB, [%kk, %n] : f16[$BK,$BN] ; put %s.b, %b ; commit %in, %s } }\n"
    "    role compute<workers=2, by=m> {\n"
    "      %z = splat 0.0 : f32[$BM,$BN]\n"
    "      %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "        %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %c1 = dot %a, %b, %c ; release %in, "
    "%s ; yield %c1 }\n"
    "      %h = cast %acc : f16[$BM,$BN] ; %o = acquire %out ; put %o.c, %h ; commit %out, %o }\n"
    "    role store<on=compute> {\n"
    "      %o = wait %out ; %h = get %o.c ; tstore %TC, [%m, %n], %h ; release %out, %o } }\n"
    "  return }\n";

enum { MOST = 96 * 96 };
static uint16_t A[MOST], B[MOST], C[MOST], first[MOST];

static void run_mm(const char *text, int slots, uint64_t seed, int workers, bool sanitize, int m,
                   int n, int k) {
    enum { BM = 16, BN = 32, BK = 8 };
    Bench b;
    bench_open(&b, text, "BM", BM, "BN", BN, "BK", BK, "SLOTS", slots, NULL);
    memset(C, 0xAB, sizeof C);
    bench_buffer(&b, "A", A, (size_t)(2 * m * k), true);
    bench_buffer(&b, "B", B, (size_t)(2 * k * n), true);
    bench_buffer(&b, "C", C, (size_t)(2 * m * n), false);
    int sizes[] = {m, n, k, k, n, n};
    for (int i = 0; i < 6; i++) bench_int(&b, sizes[i]);
    b.launch.seed = seed;
    b.launch.workers = workers;
    b.launch.sanitize = sanitize;
    BENCH_RUN(&b, (int64_t)((m + BM - 1) / BM) * ((n + BN - 1) / BN), 1, 1);
    for (int i = m * n; i < MOST; i++) CHECK(C[i] == 0xABAB);
    bench_close(&b);
}

static void matmul(void) {
    static const int shapes[][3] = {{64, 64, 64}, {37, 45, 19}, {1, 1, 1},
                                    {5, 70, 1},   {33, 1, 50},  {17, 33, 0}};
    uint64_t state = 42;
    for (size_t t = 0; t < sizeof shapes / sizeof *shapes; t++) {
        int m = shapes[t][0], n = shapes[t][1], k = shapes[t][2];
        for (int i = 0; i < m * k; i++) A[i] = f16_from_f32(bench_normal(&state));
        for (int i = 0; i < k * n; i++) B[i] = f16_from_f32(bench_normal(&state));
        run_mm(mm_source, 1, 0, 0, false, m, n, k);
        memcpy(first, C, sizeof C);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0, size = 0;
                for (int q = 0; q < k; q++) {
                    double product = (double)f16_to_f32(A[i * k + q]) * f16_to_f32(B[q * n + j]);
                    sum += product;
                    size += fabs(product);
                }
                CHECK(fabs(f16_to_f32(C[i * n + j]) - sum) <=
                      0x1p-11 * fabs(sum) + 0x1p-20 * size + 0x1p-24);
            }
        run_mm(mm_source, 1, 7, 0, true, m, n, k);
        CHECK(memcmp(first, C, sizeof C) == 0);
        run_mm(mm_access, 1, 3, 0, true, m, n, k);
        CHECK(memcmp(first, C, sizeof C) == 0);
        for (int slots = 1; slots <= 4; slots++)
            for (uint64_t seed = 0; seed < 4; seed++) {
                run_mm(mm_ring, slots, seed, (int)seed, seed == 2, m, n, k);
                CHECK(memcmp(first, C, sizeof C) == 0);
            }
    }
    run_mm(mm_source, 1, 0, 0, false, 0, 5, 5); /* no programs */
}

/* --- row softmax --- */

static const char softmax_flat[] =
    "kernel @softmax(%X, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
    "  %row = program_id<0>\n"
    "  %TX = tensor %X, [%R, %C], [%sx, 1] ; %TY = tensor %Y, [%R, %C], [%sy, 1]\n"
    "  %x = tload<fill=-inf> %TX, [%row, 0] : f32[64]\n"
    "  %mx = reduce<max, axis=0> %x ; %d = sub %x, %mx ; %e = exp %d ; %sm = reduce<add, axis=0> "
    "%e\n"
    "  %y = div %e, %sm\n"
    "  tstore %TY, [%row, 0], %y\n"
    "  return }\n";

static const char softmax_ring[] =
    "kernel @softmax(%X, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
    "  %np = num_programs<0>\n"
    "  %TX = tensor %X, [%R, %C], [%sx, 1] ; %TY = tensor %Y, [%R, %C], [%sy, 1]\n"
    "  %in = ring<from=load, to=compute, slots=$SLOTS> : {x: f32[64]}\n"
    "  %out = ring<from=compute, to=store, slots=$SLOTS> : {y: f32[64]}\n"
    "  tasks %row in %np {\n"
    "    role load { %s = acquire %in ; %x = tload<fill=-inf> %TX, [%row, 0] : f32[64] ; put %s.x, "
    "%x ; commit %in, %s }\n"
    "    role compute {\n"
    "      %s = wait %in ; %x = get %s.x ; %mx = reduce<max, axis=0> %x ; %d = sub %x, %mx ; %e = "
    "exp %d\n"
    "      release %in, %s ; %sm = reduce<add, axis=0> %e ; %y = div %e, %sm\n"
    "      %o = acquire %out ; put %o.y, %y ; commit %out, %o }\n"
    "    role store { %o = wait %out ; %y = get %o.y ; tstore %TY, [%row, 0], %y ; release %out, "
    "%o } }\n"
    "  return }\n";

static void run_softmax(const char *text, int slots, uint64_t seed, float *x, float *y, int rows,
                        int columns) {
    Bench b;
    bench_open(&b, text, "SLOTS", slots, NULL);
    bench_buffer(&b, "X", x, (size_t)(4 * rows * columns), true);
    bench_buffer(&b, "Y", y, (size_t)(4 * rows * columns), false);
    bench_int(&b, rows);
    bench_int(&b, columns);
    bench_int(&b, columns);
    bench_int(&b, columns);
    b.launch.seed = seed;
    b.launch.workers = 1 + (int)seed;
    b.launch.sanitize = seed & 1;
    BENCH_RUN(&b, rows, 1, 1);
    bench_close(&b);
}

static void softmax(void) {
    static const int widths[] = {64, 63, 5, 1};
    static float x[7 * 64], y[7 * 64], again[7 * 64];
    uint64_t state = 5;
    for (int t = 0; t < 4; t++) {
        int n = widths[t];
        for (int i = 0; i < 7 * n; i++) x[i] = bench_normal(&state);
        run_softmax(softmax_flat, 1, 0, x, y, 7, n);
        for (int i = 0; i < 7; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) sum += exp(x[i * n + j]);
            for (int j = 0; j < n; j++) CHECK(fabs(y[i * n + j] - exp(x[i * n + j]) / sum) < 1e-6);
        }
        for (int slots = 1; slots <= 4; slots++)
            for (uint64_t seed = 0; seed < 3; seed++) {
                run_softmax(softmax_ring, slots, seed, x, again, 7, n);
                CHECK(memcmp(y, again, (size_t)(28 * n)) == 0);
            }
    }
}

/* --- flash attention forward, causal --- */

static const char attention_ring[] =
    "kernel @attn(%Q, %K, %V, %O: tensor<bf16,3>, %sc: f32) {\n"
    "  %np = num_programs<0> ; %nh = num_programs<1> ; %N = extent<1> %K\n"
    "  %rq = ring<from=load,to=compute,slots=1> : {q: bf16[$B,$D]} ; %rk = "
    "ring<from=load,to=compute,slots=$SLOTS> : {k: bf16[$B,$D]}\n"
    "  %rv = ring<from=load,to=compute,slots=$SLOTS> : {v: bf16[$B,$D]} ; %ro = "
    "ring<from=compute,to=store,slots=1> : {o: bf16[$B,$D]}\n"
    "  %N32 = cast %N : i32\n"
    "  tasks %bh, %pm in %nh, %np <order=longest, persist> {\n"
    "    %m = mul %pm, $B ; %top = add %m, $B ; %hi = min %top, %N32 ; %nb = cdiv %hi, $B\n"
    "    role load {\n"
    "      %sq = acquire %rq ; %q = tload %Q, [%bh, %m, 0] : bf16[$B,$D] ; put %sq.q, %q ; commit "
    "%rq, %sq\n"
    "      for %j = 0, %nb, 1 {\n"
    "        %n = mul %j, $B\n"
    "        %sk = acquire %rk ; %k = tload %K, [%bh, %n, 0] : bf16[$B,$D] ; put %sk.k, %k ; "
    "commit %rk, %sk\n"
    "        %sv = acquire %rv ; %v = tload %V, [%bh, %n, 0] : bf16[$B,$D] ; put %sv.v, %v ; "
    "commit %rv, %sv } }\n"
    "    role compute<workers=2, by=m> {\n"
    "      %im = iota<0, $B> ; %rm = add %im, %m ; %rows = expand<1> %rm\n"
    "      %a0 = splat 0.0 : f32[$B,$D] ; %l0 = splat 0.0 : f32[$B] ; %x0 = splat -inf : f32[$B] ; "
    "%sq = wait %rq ; %q = get %sq.q\n"
    "      %acc, %l, %mx = for %j = 0, %nb, 1 (%a = %a0, %li = %l0, %mi = %x0) {\n"
    "        %n = mul %j, $B ; %z = splat 0.0 : f32[$B,$B]\n"
    "        %sk = wait %rk ; %k = get %sk.k ; %kt = permute<dims=[1,0]> %k ; %qk = dot %q, %kt, "
    "%z ; release %rk, %sk\n"
    "        %s0 = mul %qk, %sc ; %cn = add %im, %n ; %cols = expand<0> %cn\n"
    "        %cz = cmp<ge> %rows, %cols ; %in = cmp<lt> %cols, %N32 ; %ok = and %cz, %in ; %s = "
    "select %ok, %s0, -inf\n"
    "        %bm = reduce<max, axis=1> %s ; %mj = max %mi, %bm ; %mc = expand<1> %mj ; %d = sub "
    "%s, %mc ; %p = exp2 %d\n"
    "        %da = sub %mi, %mj ; %al = exp2 %da ; %ps = reduce<add, axis=1> %p ; %la = mul %li, "
    "%al ; %lj = add %la, %ps\n"
    "        %ac = expand<1> %al ; %as = mul %a, %ac ; %ph = cast %p : bf16[$B,$B]\n"
    "        %sv = wait %rv ; %v = get %sv.v ; %aj = dot %ph, %v, %as ; release %rv, %sv ; yield "
    "%aj, %lj, %mj }\n"
    "      release %rq, %sq ; %lc = expand<1> %l ; %on = div %acc, %lc ; %oh = cast %on : "
    "bf16[$B,$D]\n"
    "      %so = acquire %ro ; put %so.o, %oh ; commit %ro, %so }\n"
    "    role store<on=compute> { %so = wait %ro ; %o = get %so.o ; tstore %O, [%bh, %m, 0], %o ; "
    "release %ro, %so } }\n"
    "  return }\n";

static const char attention_flat[] =
    "kernel @attn(%Q, %K, %V, %O: tensor<bf16,3>, %sc: f32) {\n"
    "  %pm = program_id<0> ; %bh = program_id<1> ; %N = extent<1> %K ; %N32 = cast %N : i32\n"
    "  %m = mul %pm, $B ; %top = add %m, $B ; %hi = min %top, %N32 ; %nb = cdiv %hi, $B\n"
    "  %im = iota<0, $B> ; %rm = add %im, %m ; %rows = expand<1> %rm\n"
    "  %a0 = splat 0.0 : f32[$B,$D] ; %l0 = splat 0.0 : f32[$B] ; %x0 = splat -inf : f32[$B]\n"
    "  %q = tload %Q, [%bh, %m, 0] : bf16[$B,$D]\n"
    "  %acc, %l, %mx = for %j = 0, %nb, 1 (%a = %a0, %li = %l0, %mi = %x0) {\n"
    "    %n = mul %j, $B ; %z = splat 0.0 : f32[$B,$B]\n"
    "    %k = tload %K, [%bh, %n, 0] : bf16[$B,$D] ; %kt = permute<dims=[1,0]> %k ; %qk = dot %q, "
    "%kt, %z\n"
    "    %s0 = mul %qk, %sc ; %cn = add %im, %n ; %cols = expand<0> %cn\n"
    "    %cz = cmp<ge> %rows, %cols ; %in = cmp<lt> %cols, %N32 ; %ok = and %cz, %in ; %s = select "
    "%ok, %s0, -inf\n"
    "    %bm = reduce<max, axis=1> %s ; %mj = max %mi, %bm ; %mc = expand<1> %mj ; %d = sub %s, "
    "%mc ; %p = exp2 %d\n"
    "    %da = sub %mi, %mj ; %al = exp2 %da ; %ps = reduce<add, axis=1> %p ; %la = mul %li, %al ; "
    "%lj = add %la, %ps\n"
    "    %ac = expand<1> %al ; %as = mul %a, %ac ; %ph = cast %p : bf16[$B,$B]\n"
    "    %v = tload %V, [%bh, %n, 0] : bf16[$B,$D] ; %aj = dot %ph, %v, %as ; yield %aj, %lj, %mj "
    "}\n"
    "  %lc = expand<1> %l ; %on = div %acc, %lc ; %oh = cast %on : bf16[$B,$D]\n"
    "  tstore %O, [%bh, %m, 0], %oh\n"
    "  return }\n";

enum { HEADS = 2, LENGTH = 40, DIM = 16, AB = 16 };
static uint16_t q[HEADS * LENGTH * DIM], kk[HEADS * LENGTH * DIM], v[HEADS * LENGTH * DIM],
    o[HEADS * LENGTH * DIM], o1[HEADS * LENGTH * DIM];

static void run_attention(const char *text, int slots, uint64_t seed, int length) {
    Bench b;
    bench_open(&b, text, "B", AB, "D", DIM, "SLOTS", slots, NULL);
    memset(o, 0, sizeof o);
    bench_tensor(&b, "Q", q, true, 2, 3, HEADS, length, DIM);
    bench_tensor(&b, "K", kk, true, 2, 3, HEADS, length, DIM);
    bench_tensor(&b, "V", v, true, 2, 3, HEADS, length, DIM);
    bench_tensor(&b, "O", o, false, 2, 3, HEADS, length, DIM);
    bench_float(&b, 0.36067376f); /* log2(e) / sqrt(16) */
    b.launch.seed = seed;
    b.launch.workers = (int)seed;
    b.launch.sanitize = seed == 1;
    BENCH_RUN(&b, (length + AB - 1) / AB, HEADS, 1);
    bench_close(&b);
}

static void attention(void) {
    static const int lengths[] = {40, 32, 7, 1};
    uint64_t state = 99;
    for (int t = 0; t < 4; t++) {
        int n = lengths[t];
        for (int i = 0; i < HEADS * n * DIM; i++) {
            q[i] = bf16_from_f32(bench_normal(&state));
            kk[i] = bf16_from_f32(bench_normal(&state));
            v[i] = bf16_from_f32(bench_normal(&state));
        }
        run_attention(attention_flat, 1, 0, n);
        memcpy(o1, o, sizeof o);
        for (int row = 0; row < HEADS * n; row++) {
            int head = row / n, i = row % n;
            double weight[LENGTH], total = 0, want[DIM] = {0};
            for (int j = 0; j <= i; j++) {
                double s = 0;
                for (int d = 0; d < DIM; d++)
                    s += (double)bf16_to_f32(q[row * DIM + d]) *
                         bf16_to_f32(kk[(head * n + j) * DIM + d]);
                total += weight[j] = exp(s / 4);
            }
            for (int j = 0; j <= i; j++)
                for (int d = 0; d < DIM; d++)
                    want[d] += weight[j] / total * bf16_to_f32(v[(head * n + j) * DIM + d]);
            for (int d = 0; d < DIM; d++)
                CHECK(fabs(bf16_to_f32(o[row * DIM + d]) - want[d]) < 0.03);
        }
        for (int slots = 1; slots <= 4; slots++)
            for (uint64_t seed = 0; seed < 4; seed++) {
                run_attention(attention_ring, slots, seed, n);
                CHECK(memcmp(o, o1, sizeof o) == 0);
            }
    }
}

/* --- rotary embedding: an output ring with many items a task --- */

static const char rotary_ring[] =
    "kernel @rotary(%X, %Y: tensor<bf16,4>, %SN, %CS: tensor<bf16,2>) {\n"
    "  %np = num_programs<0> ; %nb = num_programs<1> ; %H = extent<1> %X ; %zero = stride<3> %X ; "
    "%h0 = sub %zero, %zero\n"
    "  %in = ring<from=load,to=compute,slots=$SLOTS> : {x: bf16[8,16]} ; %out = "
    "ring<from=compute,to=store,slots=$SLOTS> : {y: bf16[8,16]}\n"
    "  tasks %b, %p in %nb, %np {\n"
    "    %r = mul %p, 8\n"
    "    role load { for %h = %h0, %H, 1 {\n"
    "        %s = acquire %in ; %x = tload %X, [%b, %h, %r, 0] : bf16[8,16] ; put %s.x, %x ; "
    "commit %in, %s } }\n"
    "    role compute<workers=8, by=m> {\n"
    "      %sh = tload %SN, [%r, 0] : bf16[8,8] ; %sn = cast %sh : f32[8,8]\n"
    "      %ch = tload %CS, [%r, 0] : bf16[8,8] ; %cs = cast %ch : f32[8,8]\n"
    "      for %h = %h0, %H, 1 {\n"
    "        %s = wait %in ; %xh = get %s.x ; %x = cast %xh : f32[8,16] ; release %in, %s\n"
    "        %x1 = slice %x, [0, 0] : f32[8,8] ; %x2 = slice %x, [0, 8] : f32[8,8]\n"
    "        %t1 = mul %x1, %cs ; %t2 = mul %x2, %sn ; %y1 = sub %t1, %t2 ; %t3 = mul %x2, %cs ; "
    "%t4 = mul %x1, %sn\n"
    "        %y2 = add %t3, %t4 ; %y = cat<axis=1> %y1, %y2 ; %yh = cast %y : bf16[8,16]\n"
    "        %o = acquire %out ; put %o.y, %yh ; commit %out, %o } }\n"
    "    role store { for %h = %h0, %H, 1 { %o = wait %out ; %y = get %o.y ; tstore %Y, [%b, %h, "
    "%r, 0], %y ; release %out, %o } } }\n"
    "  return }\n";

static void rotary(void) {
    enum { BATCH = 2, H = 3, ROWS = 13 };
    static uint16_t x[BATCH * H * ROWS * 16], y[BATCH * H * ROWS * 16], sn[ROWS * 8], cs[ROWS * 8];
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof x / 2; i++) x[i] = bf16_from_f32(bench_normal(&state));
    for (int i = 0; i < ROWS * 8; i++) {
        sn[i] = bf16_from_f32(sinf((float)i));
        cs[i] = bf16_from_f32(cosf((float)i));
    }
    for (int slots = 1; slots <= 3; slots++)
        for (uint64_t seed = 0; seed < 4; seed++) {
            Bench b;
            bench_open(&b, rotary_ring, "SLOTS", slots, NULL);
            memset(y, 0, sizeof y);
            bench_tensor(&b, "X", x, true, 2, 4, BATCH, H, ROWS, 16);
            bench_tensor(&b, "Y", y, false, 2, 4, BATCH, H, ROWS, 16);
            bench_tensor(&b, "SN", sn, true, 2, 2, ROWS, 8);
            bench_tensor(&b, "CS", cs, true, 2, 2, ROWS, 8);
            b.launch.seed = seed;
            b.launch.workers = 1 + (int)seed;
            b.launch.sanitize = seed == 3;
            BENCH_RUN(&b, 2, BATCH, 1);
            for (int i = 0; i < BATCH * H * ROWS; i++)
                for (int d = 0; d < 8; d++) {
                    int row = i % ROWS;
                    float s = bf16_to_f32(sn[row * 8 + d]), c = bf16_to_f32(cs[row * 8 + d]);
                    float a = bf16_to_f32(x[i * 16 + d]), e = bf16_to_f32(x[i * 16 + 8 + d]);
                    volatile float t1 = a * c, t2 = e * s, t3 = e * c, t4 = a * s;
                    CHECK(y[i * 16 + d] == bf16_from_f32(t1 - t2));
                    CHECK(y[i * 16 + 8 + d] == bf16_from_f32(t3 + t4));
                }
            bench_close(&b);
        }
}

int main(void) {
    matmul();
    softmax();
    attention();
    rotary();
    return check_done();
}
