/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_emit.c: emitted CUDA kernels on the emulator, against the interpreter, and through nvcc
 * where it is found. */
#include "cuda_bench.h"
#include "runtime/device/cuda_code.h"

static const char add_text[] =
    "kernel @add(%x, %y, %z: *f32, %n: i32) {\n"
    "  %pid = program_id<0> ; %o = mul %pid, 1024\n"
    "  %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %Z = tensor %z, [%n], [1]\n"
    "  %a = tload %X, [%o] : f32[1024] ; %b = tload %Y, [%o] : f32[1024] ; %c = add %a, %b\n"
    "  tstore %Z, [%o], %c\n"
    "  return }\n";

static PassOptions warps(int n) {
    PassOptions options = pass_options_default;
    options.num_warps = n;
    options.num_stages = 1; /* flat, where the text has no roles */
    options.generic = REQUIRE_ALIGNED; /* any extent: the launcher is not here to choose */
    return options;
}

/* A kernel on the emulator; `text` shown on SHOW=name. */
static bool open_bench(CudaBench *b, const char *text, const char *machine, PassOptions options) {
    bool good = cuda_bench_open(b, text, machine, options);
    CHECK(good);
    if (good && getenv("SHOW") && strcmp(getenv("SHOW"), b->plan->name) == 0)
        fputs(b->plan->text, stderr);
    return good;
}

/* Vectors across the end of the rows, and rows of whole vectors. */
static void test_add(void) {
    static const int sizes[] = {4096, 1000, 1, 0};
    for (int i = 0; i < 8; i++) {
        int n = sizes[i % 4];
        bool whole = i >= 4;
        if (whole && n % 4) continue;
        PassOptions options = warps(4);
        if (whole) options.generic = REQUIRE_ALL;
        CudaBench b;
        if (!open_bench(&b, add_text, "cuda:sm_90a", options)) return;
        for (int j = 0; j < 3; j++)
            cuda_bench_array(&b, j == 0 ? "x" : j == 1 ? "y" : "z", EL_F32, n, j < 2);
        cuda_bench_int(&b, n);
        CHECK(strstr(b.plan->text, whole ? "tw_ldg_or(4, " : "tw_load_row(4, ") != NULL);
        CHECK(cuda_bench_run(&b, (n + 1023) / 1024, 1, 1));
        CHECK(cuda_bench_error(&b, 2, 1e-12) <= 1);
        cuda_bench_close(&b);
    }
}

static const char softmax_text[] =
    "kernel @softmax(%X, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
    "  %row = program_id<0>\n"
    "  %TX = tensor %X, [%R, %C], [%sx, 1] ; %TY = tensor %Y, [%R, %C], [%sy, 1]\n"
    "  %x = tload<fill=-inf> %TX, [%row, 0] : f32[1024]\n"
    "  %mx = reduce<max, axis=0> %x ; %d = sub %x, %mx ; %e = exp %d\n"
    "  %sm = reduce<add, axis=0, order=[0,1,9,8,7,2,3,4,5,6]> %e ; %y = div %e, %sm\n"
    "  tstore %TY, [%row, 0], %y\n"
    "  return }\n";

static void test_softmax(void) {
    static const int widths[] = {1024, 1000, 5}, counts[] = {1, 4, 8};
    unsigned char first[4 * 3 * 1024];
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < 3; i++) {
            int n = widths[w], stride = (n + 3) / 4 * 4;
            CudaBench b;
            if (!open_bench(&b, softmax_text, "cuda:sm_90a", warps(counts[i]))) return;
            cuda_bench_array(&b, "X", EL_F32, 3 * stride, true);
            cuda_bench_array(&b, "Y", EL_F32, 3 * stride, false);
            cuda_bench_int(&b, 3);
            cuda_bench_int(&b, n);
            cuda_bench_int(&b, stride);
            cuda_bench_int(&b, stride);
            CHECK(cuda_bench_run(&b, 3, 1, 1));
            CHECK(cuda_bench_error(&b, 1, 1e-6) <= 1);
            /* the order is stamped: the same bits with any number of warps */
            if (i == 0)
                memcpy(first, b.arrays[1].memory[1], (size_t)(12 * stride));
            else
                CHECK(memcmp(first, b.arrays[1].memory[1], (size_t)(12 * stride)) == 0);
            cuda_bench_close(&b);
        }
}

static const char *expand(Arena *arena, const char *text, const char *type, int m, int n, int k) {
    Text t = text_new(arena);
    for (; *text; text++) {
        if (*text != '$') {
            text_add_char(&t, *text);
            continue;
        }
        text++;
        if (*text == 'T')
            text_add(&t, "%s", type);
        else
            text_add(&t, "%d", *text == 'M' ? m : *text == 'N' ? n : k);
    }
    return t.at;
}

/* A row that one warp cannot hold as f32 is kept as it was loaded, and gives the same bits. */
static void test_lean(void) {
    static const char text[] =
        "kernel @wide(%X, %Y: *bf16, %C: i32) {\n"
        "  %row = program_id<0>\n"
        "  %TX = tensor %X, [none, %C], [8192, 1] ; %TY = tensor %Y, [none, %C], [8192, 1]\n"
        "  %i = iota<0, 8192> ; %in = cmp<lt> %i, %C\n"
        "  %h = tload<fill=-inf> %TX, [%row, 0] : bf16[8192] ; %x = cast %h : f32[8192]\n"
        "  %mx = reduce<max, axis=0> %x ; %d = sub %x, %mx ; %e = exp %d\n"
        "  %sm = reduce<add, axis=0> %e ; %y = div %e, %sm\n"
        "  %k = select %in, %y, 0.5 ; %yh = cast %k : bf16[8192] ; tstore %TY, [%row, 0], %yh\n"
        "  return }\n";
    static unsigned char first[2 * 2 * 8192];
    for (int i = 0; i < 4; i++) {
        CudaBench b;
        PassOptions options = warps(i % 2 ? 8 : 1);
        if (i >= 2) options.generic = REQUIRE_ALL;
        if (!open_bench(&b, text, "cuda:sm_90a", options)) return;
        cuda_bench_array(&b, "X", EL_BF16, 2 * 8192, true);
        cuda_bench_array(&b, "Y", EL_BF16, 2 * 8192, false);
        cuda_bench_int(&b, i < 2 ? 8001 : 8000);
        /* whole vectors are kept two a word */
        const char *fresh = i >= 2 ? "tw_fresh(128, h)" : "tw_fresh(256, h)";
        CHECK((strstr(b.plan->text, fresh) != NULL) == (i % 2 == 0));
        /* whole vectors: the mask is tested once for each */
        CHECK((strstr(b.plan->text, "i_1 < C") == NULL) == (i >= 2));
        CHECK(cuda_bench_run(&b, 2, 1, 1));
        CHECK(cuda_bench_error(&b, 1, 1e-2) <= 1);
        if (i % 2 == 0)
            memcpy(first, b.arrays[1].memory[1], sizeof first);
        else
            CHECK(memcmp(first, b.arrays[1].memory[1], sizeof first) == 0);
        cuda_bench_close(&b);
    }
}

/* 16-bit floats two a word: sums of them as words, what is stored rounded two at a time, what is used
 * otherwise element by element; all as the interpreter has it, bit by bit. */
static void test_pairs(void) {
    static const char text[] =
        "kernel @pairs(%x, %y, %z, %w, %v: *$T, %n: i32) {\n"
        "  %p = program_id<0> ; %o = mul %p, 512\n"
        "  %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %Z = tensor %z, [%n], [1]\n"
        "  %W = tensor %w, [%n], [1] ; %V = tensor %v, [%n], [1]\n"
        "  %a = tload<fill=1.5> %X, [%o] : $T[512] ; %b = tload %Y, [%o] : $T[512]\n"
        "  %s = add %a, %b ; %d = sub %s, %b ; %m = mul %s, %d ; tstore %Z, [%o], %m\n"
        "  %c = cast %s : f32[512] ; %q = sqrt %c ; %h = cast %q : $T[512] ; tstore %W, [%o], %h\n"
        "  %l = flip<axis=0> %b ; %u = add %a, %l ; tstore %V, [%o], %u\n"
        "  return }\n";
    for (int i = 0; i < 4; i++) {
        Trap trap;
        Arena arena;
        arena_init(&arena, allocator_malloc, &trap);
        bool half = i % 2, whole = i < 2;
        PassOptions options = warps(2);
        if (whole) options.generic = REQUIRE_ALL;
        CudaBench b;
        Elem elem = half ? EL_F16 : EL_BF16;
        if (open_bench(&b, expand(&arena, text, half ? "f16" : "bf16", 0, 0, 0), "cuda:sm_90a",
                       options)) {
            int n = whole ? 1000 : 999;
            static const char *const names[] = {"x", "y", "z", "w", "v"};
            for (int j = 0; j < 5; j++) cuda_bench_array(&b, names[j], elem, n, j < 2);
            cuda_bench_int(&b, n);
            const char *code = b.plan->text;
            /* %b is flipped too, so only its elements are at hand */
            CHECK((strstr(code, "tw_ldg_pairs(4, ") != NULL) == whole);
            CHECK((strstr(code, "tw_pack_") != NULL) == whole);
            CHECK(cuda_bench_run(&b, 2, 1, 1));
            for (int j = 2; j < 5; j++)
                CHECK(memcmp(b.arrays[j].memory[0], b.arrays[j].memory[1], (size_t)(2 * n)) == 0);
            cuda_bench_close(&b);
        }
        arena_free(&arena);
    }
    static const char sum[] =
        "kernel @sum(%x, %y, %z: *$T, %n: i32) {\n"
        "  %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %Z = tensor %z, [%n], [1]\n"
        "  %a = tload %X, [0] : $T[1024] ; %b = tload %Y, [0] : $T[1024]\n"
        "  %s = add %a, %b ; %d = sub %s, %b ; %m = mul %s, %d ; tstore %Z, [0], %m\n"
        "  return }\n";
    for (int i = 0; i < 2; i++) {
        Trap trap;
        Arena arena;
        arena_init(&arena, allocator_malloc, &trap);
        PassOptions options = warps(4);
        options.generic = REQUIRE_ALL;
        CudaBench b;
        if (open_bench(&b, expand(&arena, sum, i ? "f16" : "bf16", 0, 0, 0), "cuda:sm_90a",
                       options)) {
            for (int j = 0; j < 3; j++)
                cuda_bench_array(&b, j == 0 ? "x" : j == 1 ? "y" : "z", i ? EL_F16 : EL_BF16, 1000,
                                 j < 2);
            cuda_bench_int(&b, 1000);
            const char *code = b.plan->text;
            CHECK(strstr(code, i ? "tw_add_f16x2(" : "tw_add_bf16x2(") != NULL);
            CHECK(strstr(code, i ? "tw_sub_f16x2(" : "tw_sub_bf16x2(") != NULL);
            CHECK(strstr(code, i ? "tw_mul_f16x2(" : "tw_mul_bf16x2(") != NULL);
            CHECK(cuda_bench_run(&b, 1, 1, 1));
            CHECK(memcmp(b.arrays[2].memory[0], b.arrays[2].memory[1], 2000) == 0);
            cuda_bench_close(&b);
        }
        arena_free(&arena);
    }
}

/* Rows of an odd length, one behind the other: aligned words, shifted together, and the fill beyond
 * the tensor, of which no byte outside is read. */
static void test_unaligned_rows(void) {
    static const char text[] =
        "kernel @odd(%X, %Y: *$T, %M, %N: i32) {\n"
        "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, 16 ; %n = mul %pn, 64\n"
        "  %TX = tensor %X, [%M, %N], [%N, 1] ; %TY = tensor %Y, [48, 192], [192, 1]\n"
        "  %a = tload<fill=2.0> %TX, [%m, %n] : $T[16,64]\n"
        "  tstore %TY, [%m, %n], %a\n"
        "  return }\n";
    static const int shapes[][2] = {{35, 131}, {33, 129}, {1, 3}, {5, 16}, {48, 192}, {20, 7}};
    for (int i = 0; i < 12; i++) {
        const int *shape = shapes[i % 6];
        bool bytes = i >= 6;
        Trap trap;
        Arena arena;
        arena_init(&arena, allocator_malloc, &trap);
        PassOptions options = warps(1);
        options.generic = REQUIRE_UNIT;
        CudaBench b;
        if (open_bench(&b, expand(&arena, text, bytes ? "f8e4m3" : "bf16", 0, 0, 0), "cuda:sm_90a",
                       options)) {
            Elem elem = bytes ? EL_F8E4M3 : EL_BF16;
            cuda_bench_array(&b, "X", elem, (int64_t)shape[0] * shape[1], true);
            cuda_bench_array(&b, "Y", elem, 48 * 192, false);
            cuda_bench_int(&b, shape[0]);
            cuda_bench_int(&b, shape[1]);
            CHECK(strstr(b.plan->text, bytes ? "tw_load_any(16" : "tw_load_any(8") != NULL);
            CHECK(cuda_bench_run(&b, 3, 3, 1));
            CHECK(cuda_bench_error(&b, 1, 1e-12) <= 1);
            cuda_bench_close(&b);
        }
        arena_free(&arena);
    }
}

/* Floats of 8 bits are widened and rounded two an instruction where the machine has that, whatever they are; rows that
 * a thread steps to by a stride are one product of 64 bits: upward and downward (row i of Y is row M - 1 - i), with tails
 * and extents of 0 and 1. */
static void test_bytes(void) {
    static const char text[] =
        "kernel @bytes(%X, %Y: *$T, %M, %N, %back: i32) {\n"
        "  %pm = program_id<0> ; %m = mul %pm, 32 ; %last = sub %M, 1 ; %from = mul %last, 64\n"
        "  %end = ptr_add %Y, %from ; %TX = tensor %X, [%M, %N], [64, 1] ; %TY = tensor %end, [%M, %N], [%back, 1]\n"
        "  %a = tload<fill=2.0> %TX, [%m, 0] : $T[32,64] ; %x = cast %a : f32[32,64] ; %y = mul %x, 17.0\n"
        "  %z = cast %y : $T[32,64] ; tstore %TY, [%m, 0], %z\n"
        "  return }\n";
    static const int shapes[][2] = {{75, 64}, {33, 61}, {1, 1}, {0, 64}, {32, 0}};
    static const char *const types[] = {"f8e4m3", "f8e5m2"}, *const machines[] = {"cuda:sm_90a", "cuda:sm_80"};
    for (int i = 0; i < 20; i++) {
        const int *shape = shapes[i % 5];
        Elem elem = i / 5 % 2 ? EL_F8E5M2 : EL_F8E4M3;
        bool pairs = i < 10;
        Trap trap;
        Arena arena;
        arena_init(&arena, allocator_malloc, &trap);
        CudaBench b;
        if (open_bench(&b, expand(&arena, text, types[i / 5 % 2], 0, 0, 0), machines[!pairs], warps(2))) {
            cuda_bench_array(&b, "X", elem, 75 * 64, true);
            cuda_bench_array(&b, "Y", elem, 75 * 64, false);
            for (int e = 0; e < 256; e++) ((uint8_t *)b.arrays[0].memory[0])[e] = (uint8_t)e;
            memcpy(b.arrays[0].memory[1], b.arrays[0].memory[0], 75 * 64);
            cuda_bench_int(&b, shape[0]);
            cuda_bench_int(&b, shape[1]);
            cuda_bench_int(&b, -64);
            CHECK((strstr(b.plan->text, "tw_two_f32(") != NULL) == pairs);
            CHECK((strstr(b.plan->text, elem == EL_F8E4M3 ? "tw_two_e4m3(" : "tw_two_e5m2(") != NULL) == pairs);
            CHECK(strstr(b.plan->text, ") * back") != NULL);
            CHECK(cuda_bench_run(&b, 3, 1, 1));
            CHECK(memcmp(b.arrays[1].memory[0], b.arrays[1].memory[1], 75 * 64) == 0);
            cuda_bench_close(&b);
        }
        arena_free(&arena);
    }
}

/* C = A B, tiles $M x $N x $K, elements $T, output $O. */
static const char matmul_text[] =
    "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, $M ; %n = mul %pn, $N\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor "
    "%C, [%M, %N], [%sc, 1]\n"
    "  %z = splat 0.0 : f32[$M,$N] ; %nk = cdiv %K, $K\n"
    "  %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "    %kk = mul %k, $K ; %a = tload %TA, [%m, %kk] : $T[$M,$K] ; %b = tload %TB, [%kk, %n] : "
    "$T[$K,$N]\n"
    "    %c1 = dot %a, %b, %c ; yield %c1 }\n"
    "  %h = cast %acc : $T[$M,$N] ; tstore %TC, [%m, %n], %h\n"
    "  return }\n";

typedef struct MatmulCase {
    const char *type, *machine;
    int warps, bm, bn, bk; /* the tile */
    int m, n, k;           /* the problem */
    const char *has;       /* what the text must say */
} MatmulCase;

static const char *wanted_execution; /* NULL: any */
static bool tight_rows;              /* rows are as long as the problem says, aligned or not */

static bool without_clusters; /* in launches of kernels that know them */

static void run_matmul(const MatmulCase *c, const char *source, PassOptions options, void *bits) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    const char *text = expand(&arena, source, c->type, c->bm, c->bn, c->bk);
    Elem elem = strcmp(c->type, "f32") == 0   ? EL_F32
                : strcmp(c->type, "f16") == 0 ? EL_F16
                                              : EL_BF16;
    CudaBench b;
    if (open_bench(&b, text, c->machine, options)) {
        int sa = tight_rows ? c->k : (c->k + 7) / 8 * 8, sb = tight_rows ? c->n : (c->n + 7) / 8 * 8;
        cuda_bench_array(&b, "A", elem, (int64_t)c->m * sa, true);
        cuda_bench_array(&b, "B", elem, (int64_t)c->k * sb, true);
        cuda_bench_array(&b, "C", elem, (int64_t)c->m * sb, false);
        int numbers[6] = {c->m, c->n, c->k, sa, sb, sb};
        for (int i = 0; i < 6; i++) cuda_bench_int(&b, numbers[i]);
        CHECK(!wanted_execution || strcmp(b.plan->execution, wanted_execution) == 0);
        b.alone = without_clusters;
        if (!strstr(b.plan->text, c->has)) fprintf(stderr, "%s\n", b.plan->text);
        CHECK(strstr(b.plan->text, c->has) != NULL);
        bool good = cuda_bench_run(&b, (c->m + c->bm - 1) / c->bm, (c->n + c->bn - 1) / c->bn, 1);
        CHECK(good);
        double error = cuda_bench_error(&b, 2,
                                        elem == EL_F32   ? 1e-5
                                        : elem == EL_F16 ? 2e-3
                                                         : 1.6e-2);
        CHECK(error <= 1);
        if (!good || !(error <= 1))
            fprintf(stderr, "  matmul %s %dx%dx%d, tile %dx%dx%d, %d warps\n", c->type, c->m, c->n,
                    c->k, c->bm, c->bn, c->bk, c->warps);
        if (bits) memcpy(bits, b.arrays[2].memory[1], (size_t)(c->m * sb * elem_info[elem].bytes));
        cuda_bench_close(&b);
    }
    arena_free(&arena);
}

static void test_matmul_flat(void) {
    static const MatmulCase cases[] = {
        {"f32", "cuda:sm_90a", 4, 32, 32, 16, 64, 64, 40, "tw_fma"},
        {"f32", "cuda:sm_80", 4, 64, 64, 32, 70, 50, 33, "tw_fma"},
        {"f16", "cuda:sm_80", 4, 32, 32, 32, 64, 64, 64, "tw_mma_f16"},
        {"bf16", "cuda:sm_80", 8, 64, 32, 16, 70, 50, 40, "tw_mma_bf16"},
        {"f16", "cuda:sm_90a", 2, 32, 64, 32, 40, 72, 24, "tw_mma_f16"},
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 128, "tw_wgmma_ss_64_f16_01"},
        {"bf16", "cuda:sm_90a", 8, 128, 128, 64, 130, 120, 72, "tw_wgmma_ss_128_bf16_01"},
        {"bf16", "cuda:sm_90a", 4, 128, 32, 32, 100, 33, 40, "tw_wgmma_ss_32_bf16_01"},
        {"bf16", "cuda:sm_90a", 4, 64, 96, 48, 64, 96, 96, "tw_wgmma_ss_96_bf16_01"},
        {"f16", "cuda:sm_90a", 4, 48, 40, 40, 50, 60, 70, "tw_wgmma_ss_40_f16_01"},
        {"f16", "cuda:sm_90a", 4, 16, 16, 16, 16, 16, 16, "tw_mma_f16"},
        {"f16", "cuda:sm_90a", 4, 8, 16, 16, 9, 17, 18, "tw_fma"},
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 0, "tw_wgmma"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_matmul(&cases[i], matmul_text, warps(cases[i].warps), NULL);
}

/* The same with roles. $S slots, $H hold, $P persist, $W workers. */
static const char roles_text[] =
    "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %nm = cdiv %M, $M ; %nn = cdiv %N, $N ; %nk = cdiv %K, $K ; %np = num_programs<0> ; %nq = "
    "num_programs<1>\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor "
    "%C, [%M, %N], [%sc, 1]\n"
    "  %in  = ring<from=load, to=compute, slots=$S, hold=$H> : {a: $T[$M,$K], b: $T[$K,$N]}\n"
    "  %out = ring<from=compute, to=store, slots=1> : {c: $T[$M,$N]}\n"
    "  tasks %pm, %pn in %np, %nq <order=row$P> {\n"
    "    %m = mul %pm, $M ; %n = mul %pn, $N\n"
    "    role load$L {\n"
    "      for %k = 0, %nk, 1 {\n"
    "        %kk = mul %k, $K ; %s = acquire %in\n"
    "        %a = tload %TA, [%m, %kk] : $T[$M,$K] ; put %s.a, %a\n"
    "        %b = tload %TB, [%kk, %n] : $T[$K,$N] ; put %s.b, %b ; commit %in, %s } }\n"
    "    role compute<workers=$W, by=m> {\n"
    "      %z = splat 0.0 : f32[$M,$N]\n"
    "      %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "        %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %c1 = dot %a, %b, %c ; release %in, "
    "%s ; yield %c1 }\n"
    "      %h = cast %acc : $T[$M,$N] ; %o = acquire %out ; put %o.c, %h ; commit %out, %o }\n"
    "    role store$O { %o = wait %out ; %h = get %o.c ; tstore %TC, [%m, %n], %h ; release %out, "
    "%o } } }\n";

typedef struct RolesCase {
    int slots, hold, workers;
    bool persist, own_store, generic, skew;
} RolesCase;

/* Fills in the plan's attributes; the rest is run_matmul's. */
static const char *plan_text(Arena *arena, const RolesCase *r) {
    Text t = text_new(arena);
    for (const char *s = roles_text; *s; s++) {
        if (*s == '$' && s[1] == 'S')
            text_add(&t, "%d", r->slots);
        else if (*s == '$' && s[1] == 'H')
            text_add(&t, "%d", r->hold);
        else if (*s == '$' && s[1] == 'W')
            text_add(&t, "%d", r->workers);
        else if (*s == '$' && s[1] == 'P')
            text_add(&t, "%s", r->persist ? ", persist" : "");
        else if (*s == '$' && s[1] == 'L')
            text_add(&t, "%s", r->skew ? "<on=compute>" : "");
        else if (*s == '$' && s[1] == 'O')
            text_add(&t, "%s", r->own_store ? "" : "<on=compute>");
        else {
            text_add_char(&t, *s);
            continue;
        }
        s++;
    }
    return t.at;
}

static void test_matmul_roles(void) {
    static const RolesCase plans[] = {
        {3, 2, 1, true, false, false, false}, {2, 1, 1, false, false, false, false},
        {4, 2, 2, true, false, false, false}, {1, 1, 1, true, false, false, false},
        {3, 2, 1, true, true, false, false},  {3, 2, 1, true, false, true, false},
        {3, 1, 1, false, false, false, true}, {2, 1, 2, false, false, false, true},
        {1, 1, 1, true, false, false, true},  {4, 1, 1, true, false, true, true},
    };
    static const MatmulCase cases[] = {
        {"f16", "cuda:sm_90a", 4, 64, 64, 32, 130, 72, 104, "tw_wgmma_ss_64_f16_01"},
        {"bf16", "cuda:sm_90a", 4, 128, 64, 64, 256, 136, 200, "tw_wgmma_ss_64_bf16_01"},
        {"f16", "cuda:sm_90a", 4, 64, 128, 64, 64, 128, 0, "tw_wgmma_ss_128_f16_01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MatmulCase *c = &cases[i];
        size_t bytes = (size_t)c->m * (size_t)((c->n + 7) / 8 * 8) * 2;
        unsigned char *flat = malloc(bytes), *roles = malloc(bytes);
        run_matmul(c, matmul_text, warps(4), flat);
        for (size_t j = 0; j < sizeof plans / sizeof *plans; j++) {
            Trap trap;
            Arena arena;
            arena_init(&arena, allocator_malloc, &trap);
            PassOptions options = warps(4);
            options.generic = plans[j].generic ? REQUIRE_USUAL : REQUIRE_ALIGNED;
            memset(roles, 1, bytes);
            if (plans[j].workers == 2 && c->bm < 128) continue;
            if (i > 0 && plans[j].workers != 2 && j > 0 && j != 6)
                continue; /* one case with all plans is enough */
            if (c->k == 0)
                options.generic = REQUIRE_USUAL; /* TMA knows no extent of 0 */
            run_matmul(c, plan_text(&arena, &plans[j]), options, roles);
            bool equal = memcmp(flat, roles, bytes) == 0;
            CHECK(equal);
            if (!equal)
                fprintf(stderr, "  plan %d of case %d gives other bits than flat\n", (int)j,
                        (int)i);
            arena_free(&arena);
        }
        free(flat);
        free(roles);
    }
}

/* Rows that are not aligned, in a load role: their words are copied ahead and shifted, the first and
 * last ones of the tensor loaded element by element; no byte outside is read. */
/* A number that a trip loads for the next one is the thread's own, and a sum of 16 bits is rounded two at a time. */
static void test_next_number(void) {
    static const char text[] =
        "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
        "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, $M ; %n = mul %pn, $N\n"
        "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor %C, [%M, %N], [%sc, 1]\n"
        "  %z = splat 0.0 : f32[$M,$N] ; %zh = splat 0.0 : $T[$M,$N] ; %nk = cdiv %K, $K\n"
        "  %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
        "    %kk = mul %k, $K ; %a = tload %TA, [%m, %kk] : $T[$M,$K] ; %b = tload %TB, [%kk, %n] : $T[$K,$N]\n"
        "    %x = tload %TA, [0, %k] : $T ; %y = cast %x : f32\n"
        "    %d = dot %a, %b, %zh ; %e = cast %d : f32[$M,$N] ; %c1 = fma %e, %y, %c ; yield %c1 }\n"
        "  %h = cast %acc : $T[$M,$N] ; tstore %TC, [%m, %n], %h\n"
        "  return }\n";
    static const MatmulCase cases[] = {
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 128, 64, 128, "tw_own("},
        {"bf16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 64, "tw_own("},
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 192, "tw_round_two("},
        {"bf16", "cuda:sm_80", 4, 64, 64, 64, 64, 128, 128, "tw_round_two("},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_matmul(&cases[i], text, warps(cases[i].warps), NULL);
}

static void test_odd_rows(void) {
    static const RolesCase plans[] = {{3, 2, 1, true, false, true, false},
                                      {2, 1, 1, false, false, true, false}};
    static const MatmulCase cases[] = {
        {"bf16", "cuda:sm_90a", 4, 64, 64, 64, 130, 77, 263, "tw_stage_line"},
        {"bf16", "cuda:sm_90a", 4, 64, 32, 32, 65, 33, 98, "tw_stage_line"},
        {"f16", "cuda:sm_90a", 4, 64, 64, 32, 64, 67, 41, "tw_stage_line"},
        {"f16", "cuda:sm_90a", 4, 128, 64, 64, 3, 5, 7, "tw_stage_line"},
    };
    tight_rows = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t j = 0; j < (i ? 1 : sizeof plans / sizeof *plans); j++) {
            Trap trap;
            Arena arena;
            arena_init(&arena, allocator_malloc, &trap);
            PassOptions options = warps(4);
            options.generic = REQUIRE_USUAL;
            run_matmul(&cases[i], plan_text(&arena, &plans[j]), options, NULL);
            arena_free(&arena);
        }
    tight_rows = false;
}

/* One item of which B comes by TMA and A, whose rows are not aligned, by lanes: nobody may arrive
 * before its stores. */
static void test_mixed_item(void) {
    static const char text[] =
        "kernel @mm(%A, %B, %C: *f16) {\n"
        "  %pm = program_id<0> ; %m = mul %pm, 64 ; %TA = tensor %A, [109, 33], [33, 1]\n"
        "  %TB = tensor %B, [33, 48], [48, 1] ; %TC = tensor %C, [109, 48], [48, 1]\n"
        "  %z = splat 0.0 : f32[64,64]\n"
        "  %acc = for %k = 0, 1, 1 (%c = %z) {\n"
        "    %kk = mul %k, 64 ; %a = tload %TA, [%m, %kk] : f16[64,64] ; %b = tload %TB, [%kk, 0] "
        ": "
        "f16[64,64]\n"
        "    %c1 = dot %a, %b, %c ; yield %c1 }\n"
        "  %h = cast %acc : f16[64,64] ; tstore %TC, [%m, 0], %h\n"
        "  return }\n";
    PassOptions options = warps(4);
    options.num_stages = 3;
    CudaBench b;
    if (!open_bench(&b, text, "cuda:sm_90a", options)) return;
    cuda_bench_array(&b, "A", EL_F16, 109 * 33, true);
    cuda_bench_array(&b, "B", EL_F16, 33 * 48, true);
    cuda_bench_array(&b, "C", EL_F16, 109 * 48, false);
    CHECK(strstr(b.plan->text, "tw_mbar_expect") != NULL);
    CHECK(cuda_bench_run(&b, 2, 1, 1));
    CHECK(cuda_bench_error(&b, 2, 2e-3) <= 1);
    cuda_bench_close(&b);
}

/* The passes make all executions from the flat text: stages, roles, persistence, workers change no
 * bit. */
static void test_executions(void) {
    static const MatmulCase cases[] = {
        {"bf16", "cuda:sm_90a", 4, 128, 64, 32, 200, 104, 104, "tw_wgmma_ss_64_bf16_01"},
        {"f16", "cuda:sm_80", 4, 32, 32, 32, 50, 40, 104, "tw_mma_f16"},
        {"f32", "cuda:sm_90a", 4, 32, 32, 16, 40, 36, 40, "tw_fma"},
    };
    static const struct {
        int stages, roles, persist, workers, slots;
        const char *execution;
    } plans[] = {{1, -1, -1, 0, 0, "flat"},  {0, -1, -1, 0, 0, "flat"}, {2, 0, -1, 0, 0, "skew 1"},
                 {4, 0, -1, 0, 0, "skew 3"}, {2, -1, -1, 0, 0, NULL},   {3, -1, 0, 1, 3, NULL},
                 {4, -1, 1, 2, 2, NULL},     {3, 1, -1, 0, 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MatmulCase *c = &cases[i];
        size_t bytes =
            (size_t)c->m * (size_t)((c->n + 7) / 8 * 8) * (strcmp(c->type, "f32") == 0 ? 4 : 2);
        unsigned char *first = malloc(bytes), *bits = malloc(bytes);
        for (size_t j = 0; j < sizeof plans / sizeof *plans; j++) {
            PassOptions options = warps(c->warps);
            options.num_stages = plans[j].stages;
            options.roles = plans[j].roles;
            options.persist = plans[j].persist;
            options.workers = plans[j].workers;
            options.slots = plans[j].slots;
            wanted_execution = plans[j].execution;
            run_matmul(c, matmul_text, options, j ? bits : first);
            wanted_execution = NULL;
            CHECK(j == 0 || memcmp(first, bits, bytes) == 0);
        }
        free(first);
        free(bits);
    }
    /* beside 16 warps those that load by themselves have no registers to give */
    PassOptions many = warps(16);
    many.num_stages = 2;
    many.roles = 1;
    many.generic = REQUIRE_USUAL;
    run_matmul(&cases[2], matmul_text, many, NULL);
}

/* Pairs of blocks that load for each other change no bit: halves by panels and by rows, odd numbers of
 * tasks along either index, more pairs than clusters. */
static void test_clusters(void) {
    static const MatmulCase cases[] = {
        {"bf16", "cuda:sm_90a", 4, 64, 128, 64, 320, 200, 200, "tw_tma_multicast_2d"}, /* B by panels */
        {"f16", "cuda:sm_90a", 8, 128, 64, 64, 200, 296, 136, "tw_tma_multicast_2d"},  /* A by rows */
        {"bf16", "cuda:sm_90a", 4, 64, 64, 32, 60, 56, 32, "tw_tma_multicast_2d"},     /* one task */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MatmulCase c = cases[i];
        size_t bytes = (size_t)c.m * (size_t)((c.n + 7) / 8 * 8) * 2;
        unsigned char *alone = malloc(bytes), *paired = malloc(bytes);
        PassOptions options = warps(c.warps);
        options.slots = 3;
        options.roles = 1;
        options.cluster = 2;
        run_matmul(&c, matmul_text, options, paired);
        without_clusters = true; /* the same text */
        run_matmul(&c, matmul_text, options, alone);
        without_clusters = false;
        CHECK(memcmp(alone, paired, bytes) == 0);
        options.cluster = 1;
        c.has = "tw_tma_load_2d";
        run_matmul(&c, matmul_text, options, alone);
        CHECK(memcmp(alone, paired, bytes) == 0);
        free(alone);
        free(paired);
    }
}

/* Chosen by the compiler for narrow products and deep rings, by the launch where it is large: 12 tasks a
 * multiprocessor, an even number along the pairs' index or a large one. */
static void test_clusters_chosen(void) {
    static const MatmulCase narrow = {"bf16", "cuda:sm_90a", 8, 128, 64, 64, 200, 200, 600, "if (blocks == 2)"},
                            wide = {"bf16", "cuda:sm_90a", 8, 128, 128, 64, 200, 200, 100, "tw_tma_load_2d"};
    PassOptions options = warps(8);
    options.num_stages = 3;
    size_t bytes = 200 * 200 * 2;
    unsigned char *alone = malloc(bytes), *paired = malloc(bytes);
    run_matmul(&narrow, matmul_text, options, paired);
    without_clusters = true;
    run_matmul(&narrow, matmul_text, options, alone);
    without_clusters = false;
    CHECK(memcmp(alone, paired, bytes) == 0);
    free(alone);
    free(paired);
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    CudaBench b;
    if (open_bench(&b, expand(&arena, matmul_text, "bf16", 128, 128, 64), wide.machine, options)) {
        CHECK(b.plan->cluster == 0);
        cuda_bench_close(&b);
    }
    if (open_bench(&b, expand(&arena, matmul_text, "bf16", 128, 64, 64), narrow.machine, options)) {
        static const struct {
            int64_t rows, columns;
            int blocks;
        } launches[] = {{64, 128, 2}, {16, 99, 2}, {100, 16, 2}, {16, 98, 1}, {1000, 31, 1}, {1000, 33, 2}, {0, 0, 1}};
        CHECK(b.plan->cluster == 2 && b.plan->waves == 12 && b.plan->extents == 2);
        int64_t *numbers = ARENA_ARRAY(&arena, int64_t, b.plan->wanted.count);
        CudaCode code = {.plan = b.plan, .numbers = numbers};
        for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
            numbers[b.plan->extent[!b.plan->share]] = launches[i].rows;
            numbers[b.plan->extent[b.plan->share]] = launches[i].columns;
            CHECK(cuda_code_cluster(&code, 132) == launches[i].blocks);
        }
        b.plan->waves = 0; /* asked for */
        CHECK(cuda_code_cluster(&code, 132) == 2);
        cuda_bench_close(&b);
    }
    arena_free(&arena);
}

/* Outputs that leave panel by panel, for one slot more: the same bits. */
static void test_parts(void) {
    static const MatmulCase cases[] = {
        {"bf16", "cuda:sm_90a", 8, 128, 256, 64, 200, 296, 200, "part < 4"},
        {"f32", "cuda:sm_90a", 4, 64, 128, 32, 100, 300, 68, "tw_tma_store_2d"}, /* not for fma: whole */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MatmulCase c = cases[i];
        size_t bytes = (size_t)c.m * (size_t)((c.n + 7) / 8 * 8) * (i ? 4 : 2);
        unsigned char *whole = malloc(bytes), *parts = malloc(bytes);
        PassOptions options = warps(c.warps);
        options.roles = 1;
        options.slots = i ? 9 : 4;
        run_matmul(&c, matmul_text, options, parts);
        options.slots = 2;
        c.has = "tw_tma_store_2d";
        run_matmul(&c, matmul_text, options, whole);
        CHECK(memcmp(whole, parts, bytes) == 0);
        free(whole);
        free(parts);
    }
}

/* Every elementwise op on one type: each op's result is a row of Z. */
static void run_elementwise(const char *type, Elem elem, const char *const *ops, int count,
                            double bound) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    Text t = text_new(&arena);
    text_add(&t,
             "kernel @ew(%%x, %%y: *%s, %%z: *%s) {\n  %%X = tensor %%x, [64], [1] ; %%Y = tensor "
             "%%y, [64], [1]\n",
             type, type);
    text_add(&t,
             "  %%Z = tensor %%z, [%d, 64], [64, 1] ; %%a = tload %%X, [0] : %s[64] ; %%b = tload "
             "%%Y, [0] : %s[64]\n",
             count, type, type);
    for (int i = 0; i < count; i++) {
        /* "op": %r = op %a, %b ; "op1": one operand; "=..": the text as it is, ending in %r */
        size_t length = strlen(ops[i]);
        if (ops[i][0] == '=') {
            Text line = text_new(&arena);
            for (const char *at = ops[i] + 1; *at; at++) {
                if (*at == '$')
                    text_add(&line, "%s", type);
                else if (*at == '#')
                    text_add(&line, "%d", i);
                else
                    text_add_char(&line, *at);
            }
            text_add(&t, "  %s\n", line.at);
        } else if (ops[i][length - 1] == '1') {
            text_add(&t, "  %%r%d = %.*s %%a\n", i, (int)length - 1, ops[i]);
        } else {
            text_add(&t, "  %%r%d = %s %%a, %%b\n", i, ops[i]);
        }
        text_add(&t, "  tstore %%Z, [%d, 0], %%r%d\n", i, i);
    }
    text_add(&t, "  return }\n");
    PassOptions options = warps(1);
    CudaBench b;
    if (open_bench(&b, t.at, "cuda:sm_90a", options)) {
        cuda_bench_array(&b, "x", elem, 64, true);
        cuda_bench_array(&b, "y", elem, 64, true);
        cuda_bench_array(&b, "z", elem, (int64_t)64 * count, false);
        CHECK(cuda_bench_run(&b, 1, 1, 1));
        double error = cuda_bench_error(&b, 2, bound);
        CHECK(error <= 1);
        if (!(error <= 1)) fprintf(stderr, "  elementwise on %s: see the row of z / 64\n", type);
        cuda_bench_close(&b);
    }
    arena_free(&arena);
}

static void test_elementwise(void) {
    static const char *const reals[] = {
        "neg1",
        "abs1",
        "exp1",
        "exp2",
        "sin1",
        "cos1",
        "tanh1",
        "erf1",
        "floor1",
        "ceil1",
        "trunc1",
        "round1",
        "rint1",
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "floordiv",
        "mod",
        "min",
        "max",
        "min<nan=keep>",
        "max<nan=keep>",
        "=%r# = fma %a, %b, %a",
        "=%c# = cmp<lt> %a, %b ; %r# = select %c#, %a, %b",
        "=%t# = abs %a ; %r# = sqrt %t#",
        "=%t# = abs %a ; %u# = add %t#, 1.0 ; %r# = log %u#",
        "=%t# = abs %a ; %u# = add %t#, 1.0 ; %r# = rsqrt %u#",
        "=%t# = cast %a : i32[64] ; %r# = cast %t# : $[64]",
        "=%t# = cast %a : f32[64] ; %r# = cast<round=rz> %t# : $[64]",
        "=%c# = isnan %a ; %r# = cast %c# : $[64]",
        "=%t# = cast %a : i64[64] ; %r# = cast %t# : $[64]",
        "=%t# = cast %a : f64[64] ; %r# = cast %t# : $[64]",
        "=%t# = exp<approx> %a ; %r# = div<approx> %t#, %b",
        "math<atan1",
        "=%r# = math<atan2> %a, %b",
    };
    static const char *const integers[] = {
        "neg1",
        "abs1",
        "not1",
        "add",
        "sub",
        "mul",
        "div",
        "rem",
        "floordiv",
        "mod",
        "cdiv",
        "min",
        "max",
        "and",
        "or",
        "xor",
        "shl",
        "shr",
        "mulhi",
        "popc1",
        "clz1",
        "=%c# = cmp<ge> %a, %b ; %r# = select %c#, %a, %b",
        "=%t# = cast %a : f32[64] ; %r# = cast %t# : $[64]",
        "=%t# = cast %a : i8[64] ; %r# = cast %t# : $[64]",
        "=%c# = cast %a : i1[64] ; %r# = cast %c# : $[64]",
    };
    static const char *const real_list[] = {"f32", "f16", "bf16"};
    static const Elem real_elem[] = {EL_F32, EL_F16, EL_BF16};
    static const double real_bound[] = {4e-7, 1e-3, 8e-3};
    const char *fixed[64];
    int count = 0;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        if (strcmp(reals[i], "exp2") == 0)
            fixed[count++] = "=%r# = exp2 %a";
        else if (strcmp(reals[i], "math<atan1") == 0)
            fixed[count++] = "=%r# = math<atan> %a";
        else
            fixed[count++] = reals[i];
    }
    for (int i = 0; i < 3; i++)
        run_elementwise(real_list[i], real_elem[i], fixed, count, real_bound[i]);
    static const char *const integer_list[] = {"i32", "u32", "i64", "i8", "u8", "i16"};
    static const Elem integer_elem[] = {EL_I32, EL_U32, EL_I64, EL_I8, EL_U8, EL_I16};
    for (int i = 0; i < 6; i++)
        run_elementwise(integer_list[i], integer_elem[i], integers,
                        sizeof integers / sizeof *integers, 1e-12);
}

/* Kernels over two f32 arrays x (in) and z (out) of 4096 elements and n = 37, each on 1, 4 and 8
 * warps. */
static const char *const kernels[] = {
    /* sums along either axis of an odd tile, and of the result */
    "  %X = tensor %x, [none, none], [40, 1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> "
    "%X, [0, 0] : f32[24,40]\n"
    "  %r = reduce<add, axis=1> %a ; %c = reduce<add, axis=0> %a ; %t = reduce<add, axis=0> %r ; "
    "%m = reduce<max, axis=0> %c\n"
    "  tstore<nocheck> %Z, [0], %r ; tstore<nocheck> %Z, [100], %c ; tstore<nocheck> %Z, [200], %t "
    "; tstore<nocheck> %Z, [201], %m\n",
    /* four ones in 32 lanes and more: copies are not summed; 1 .. 8 summed as they come */
    "  %Z = tensor %z, [none], [1] ; %one = splat 1.0 : f32[4] ; %s = reduce<add, axis=0> %one ; "
    "%t = splat %s : f32[1] ; tstore<nocheck> %Z, [0], %t\n"
    "  %i = iota<1, 9> ; %f = cast %i : f32[8] ; %c = scan<add, axis=0> %f ; tstore<nocheck> %Z, "
    "[8], %c\n",
    /* places of the extremes, ties and all */
    "  %X = tensor %x, [none, none], [64, 1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> "
    "%X, [0, 0] : f32[16,64]\n"
    "  %f = rint %a ; %i = reduce<argmax, axis=1> %f ; %j = reduce<argmin, axis=0> %f ; %u = cast "
    "%i : f32[16] ; %v = cast %j : f32[64]\n"
    "  tstore<nocheck> %Z, [0], %u ; tstore<nocheck> %Z, [100], %v\n"
    "  %y = tensor %x, [none], [1] ; %g = tload<nocheck> %y, [0] : f32[600] ; %b = cast %g : i8[600] ; %h = reduce<argmax, axis=0> %b\n"
    "  %o = cast %h : f32 ; %w = splat %o : f32[1] ; tstore<nocheck> %Z, [200], %w\n",
    /* NaN, both zeros, infinities and ties: where NaN loses, where it wins, rows of nothing else; in lanes, warps and registers */
    "  %X = tensor %x, [none, none], [64, 1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> %X, [0, 0] : f32[16,64]\n"
    "  %s = mul %a, 2.0 ; %f = rint %s ; %zero = sub %f, %f ; %nan = div %zero, %zero ; %inf = div 1.0, %zero ; %low = neg %inf ; %less = neg %zero\n"
    "  %r = iota<0, 16> ; %er = expand<1> %r ; %c = iota<0, 64> ; %ec = expand<0> %c ; %k = add %er, %ec ; %m = rem %k, 7\n"
    "  %m1 = cmp<eq> %m, 1 ; %v1 = select %m1, %nan, %f ; %m2 = cmp<eq> %m, 2 ; %v2 = select %m2, %less, %v1\n"
    "  %m3 = cmp<eq> %er, 3 ; %v3 = select %m3, %nan, %v2 ; %m4 = cmp<eq> %er, 4 ; %q = cmp<gt> %ec, 40 ; %lows = select %q, %low, %nan\n"
    "  %v4 = select %m4, %lows, %v3 ; %m5 = cmp<eq> %er, 5 ; %z5 = select %q, %zero, %less ; %v5 = select %m5, %z5, %v4\n"
    "  %i0 = reduce<argmax, axis=1> %v5 ; %i1 = reduce<argmin, axis=1> %v5 ; %i2 = reduce<argmax, axis=1, nan=keep> %v5 ; %i3 = reduce<argmin, axis=1, nan=keep> %v5\n"
    "  %j0 = reduce<argmax, axis=0> %v5 ; %j1 = reduce<argmin, axis=0> %v5 ; %j2 = reduce<argmax, axis=0, nan=keep> %v5 ; %j3 = reduce<argmin, axis=0, nan=keep> %v5\n"
    "  %u0 = cast %i0 : f32[16] ; %u1 = cast %i1 : f32[16] ; %u2 = cast %i2 : f32[16] ; %u3 = cast %i3 : f32[16]\n"
    "  %w0 = cast %j0 : f32[64] ; %w1 = cast %j1 : f32[64] ; %w2 = cast %j2 : f32[64] ; %w3 = cast %j3 : f32[64]\n"
    "  tstore<nocheck> %Z, [0], %u0 ; tstore<nocheck> %Z, [16], %u1 ; tstore<nocheck> %Z, [32], %u2 ; tstore<nocheck> %Z, [48], %u3\n"
    "  tstore<nocheck> %Z, [64], %w0 ; tstore<nocheck> %Z, [128], %w1 ; tstore<nocheck> %Z, [192], %w2 ; tstore<nocheck> %Z, [256], %w3\n"
    /* whole numbers of all lanes by one instruction, small ones and flags too */
    "  %h = tensor %x, [none], [1] ; %g = tload<nocheck> %h, [0] : f32[500] ; %l = mul %g, 100.0 ; %n5 = cast %l : i32[500] ; %n8 = cast %n5 : i8[500]\n"
    "  %o0 = reduce<add, axis=0> %n5 ; %o1 = reduce<min, axis=0> %n5 ; %o2 = reduce<xor, axis=0> %n5 ; %o3 = reduce<add, axis=0> %n8 ; %o4 = reduce<max, axis=0> %n8\n"
    "  %p5 = cmp<gt> %n5, 10000 ; %o5 = reduce<or, axis=0> %p5 ; %f0 = cast %o0 : f32 ; %f1 = cast %o1 : f32 ; %f2 = cast %o2 : f32 ; %f3 = cast %o3 : f32\n"
    "  %f4 = cast %o4 : f32 ; %f5 = cast %o5 : f32 ; %h0 = add %f0, %f3 ; %t0 = splat %h0 : f32[1] ; %t1 = splat %f1 : f32[1] ; %t2 = splat %f2 : f32[1]\n"
    "  %t4 = splat %f4 : f32[1] ; %t5 = splat %f5 : f32[1] ; tstore<nocheck> %Z, [320], %t0 ; tstore<nocheck> %Z, [321], %t1\n"
    "  tstore<nocheck> %Z, [322], %t2 ; tstore<nocheck> %Z, [323], %t4 ; tstore<nocheck> %Z, [324], %t5\n",
    /* transposed through shared memory; rows and columns broadcast */
    "  %X = tensor %x, [none, none], [32, 1] ; %Z = tensor %z, [none, none], [64, 1] ; %a = "
    "tload<nocheck> %X, [0, 0] : f32[64,32]\n"
    "  %p = permute<dims=[1,0]> %a ; %m = reduce<max, axis=1> %p ; %e = expand<1> %m ; %s = sub "
    "%p, %e ; %q = reduce<add, axis=0> %p\n"
    "  %w = expand<0> %q ; %y = mul %s, %w ; tstore<nocheck> %Z, [0, 0], %y\n",
    /* pointers, masks, a gather */
    "  %i = iota<0, 256> ; %j = mul %i, 7 ; %k = rem %j, 256 ; %p = ptr_add %x, %k ; %m = cmp<lt> "
    "%i, %n ; %a = load %p, %m, 2.5\n"
    "  %q = ptr_add %z, %i ; %o = cmp<ne> %i, 3 ; store %q, %a, %o ; %l = ptr_add %x, %n ; %v = "
    "load %l ; %g = ptr_add %z, 300 ; store %g, %v\n",
    /* control: carried tiles and scalars, a branch with results, a while */
    "  %X = tensor %x, [none], [1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> %X, [0] : "
    "f32[128] ; %zero = splat 0.0 : f32[128]\n"
    "  %s, %t, %u = for %k = 0, %n, 3 (%b = %zero, %c = %a, %d = 1) {\n"
    "    %e = add %b, %c ; %f = mul %c, 0.5 ; %h = mul %d, 2 ; %w = rem %k, 2 ; %odd = cmp<eq> %w, "
    "1\n"
    "    %g = if %odd { %g1 = add %f, 1.0 ; yield %g1 } { yield %f }\n"
    "    yield %e, %g, %h }\n"
    "  %x0, %y0 = while (%p = %s, %q = 0) { %go = cmp<lt> %q, 3 ; test %go, %p, %q } do (%p2, %q2) "
    "{ %p1 = mul %p2, 1.25 ; %q1 = add %q2, 1 ; yield %p1, %q1 }\n"
    "  %v = cast %u : f32 ; %r = add %x0, %v ; tstore<nocheck> %Z, [0], %r ; tstore<nocheck> %Z, "
    "[200], %t\n",
    /* swapped carried values; an inner loop over a value from outside */
    "  %X = tensor %x, [none], [1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> %X, [0] : "
    "f32[128] ; %b = tload<nocheck> %X, [128] : f32[128]\n"
    "  %s, %t = for %k = 0, %n, 1 (%c = %a, %d = %b) { yield %d, %c }\n"
    "  %w = for %k = 0, 3, 1 (%c = %s) { %e = add %c, %t ; yield %e }\n"
    "  tstore<nocheck> %Z, [0], %w ; tstore<nocheck> %Z, [128], %s ; tstore<nocheck> %Z, [256], "
    "%t\n",
    /* a load that sees the program's own store */
    "  %X = tensor %x, [none], [1] ; %Z = tensor %z, [none], [1] ; %a = tload<nocheck> %X, [0] : "
    "f32[512] ; tstore<nocheck> %Z, [0], %a\n"
    "  %b = tload<nocheck> %Z, [37] : f32[256] ; %c = add %b, 1.0 ; tstore<nocheck> %Z, [600], "
    "%c\n",
    /* atomics, one a thread and one in all */
    "  %i = iota<0, 64> ; %j = rem %i, 8 ; %p = ptr_add %z, %j ; %one = splat 1.0 : f32[64] ; %old "
    "= atomic<add> %p, %one\n"
    "  %q = ptr_add %z, 20 ; %new = atomic<add> %q, 5.0\n",
    /* three dimensions, a slab of a tensor, wrap-around rows, flags as bytes of results */
    "  %X = tensor %x, [4, 8, 32], [256, 32, 1] ; %Z = tensor %z, [none, none], [32, 1] ; %a = "
    "tload %X, [1, 2, 5] : f32[8,32]\n"
    "  %b = tload<dims=[0,2]> %X, [0, 3, 0] : f32[4,32] ; %c = reduce<min, axis=0> %b ; %d = "
    "expand<0> %c ; %e = add %a, %d\n"
    "  %f = tload<wrap=[1]> %X, [2, 6, 0] : f32[8,32] ; %g = cmp<gt> %e, %f ; %h = cast %g : "
    "f32[8,32] ; tstore<nocheck> %Z, [0, 0], %e\n"
    "  tstore<nocheck> %Z, [8, 0], %f ; tstore<nocheck> %Z, [16, 0], %h\n",
};

static void test_kernels(void) {
    static const int counts[] = {1, 4, 8};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (int w = 0; w < 3; w++) {
            Trap trap;
            Arena arena;
            arena_init(&arena, allocator_malloc, &trap);
            const char *text =
                arena_printf(&arena, "kernel @k%d(%%x, %%z: *f32, %%n: i32) {\n%s  return }\n",
                             (int)i, kernels[i]);
            CudaBench b;
            if (open_bench(&b, text, "cuda:sm_90a", warps(counts[w]))) {
                cuda_bench_array(&b, "x", EL_F32, 4096, true);
                cuda_bench_array(&b, "z", EL_F32, 4096, false);
                cuda_bench_int(&b, 37);
                bool good = cuda_bench_run(&b, 1, 1, 1);
                double error = cuda_bench_error(&b, 1, 1e-5);
                CHECK(good && error <= 1);
                if (!good || !(error <= 1))
                    fprintf(stderr, "  kernel %d on %d warps\n", (int)i, counts[w]);
                cuda_bench_close(&b);
            }
            arena_free(&arena);
        }
}

int main(void) {
    static void (*const tests[])(void) = {
        test_matmul_roles, test_add,   test_elementwise,    test_kernels,
        test_softmax,      test_lean,  test_pairs, test_unaligned_rows, test_bytes,
        test_matmul_flat,
        test_next_number,  test_odd_rows,     test_parts, test_mixed_item,     test_executions,
        test_clusters, test_clusters_chosen};
    cuda_bench_begin();
    bool can = cuda_bench_have("c++");
    if (!can) printf("skipped: no C++ compiler\n");
    for (size_t i = 0; can && i < sizeof tests / sizeof *tests; i++)
        if (check_chosen()) tests[i]();
    cuda_bench_end();
    return check_done();
}
