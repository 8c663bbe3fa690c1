/* SPDX-License-Identifier: Apache-2.0 */
/* emu_cases.h: the kernels of this folder, run on shapes that matter and compared with float64
 * references; and their mutants, each with the fault it deserves.
 *
 * Included by a program that defines a backend: tests/unit/test_emu.c runs them on the emulator,
 * mutants included; tests/gpu/check_prelude.c on a GPU, the right ones only (DEVICE). So the
 * emulator's idea of every instruction, register by register, is also the chip's. */
#ifndef TESTS_EMU_CASES_H
#define TESTS_EMU_CASES_H
#include "base/numeric.h"
#include "target/cuda/emu/cuda_emu.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Memory that host and kernel see at one address; its first byte 256-aligned. */
static void *backend_allocate(size_t bytes);
static void backend_free(void *p);
static const char *backend_encode(void *map, const EmuTensor *tensor);
static bool backend_launch(const char *kernel, EmuLaunch launch, void **params);
static EmuReport last; /* of the last launch */

#ifdef DEVICE
#define LAST_MUTANT(n) 0
#else
#define LAST_MUTANT(n) (n)
#endif

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- data ---- */
static uint64_t state = 1;
static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 11) / 4503599627370496.0 - 1.0;
}

/* A host buffer that is an allocation of the launch. */
typedef struct Buffer {
    EmuAllocation allocation;
    EmuType type;
    size_t count;
} Buffer;

static size_t type_size(EmuType type) {
    return type == EMU_F32 || type == EMU_I32 || type == EMU_TF32 || type == EMU_U32  ? 4
           : type == EMU_E4M3 || type == EMU_E5M2 || type == EMU_I8 || type == EMU_U8 ? 1
                                                                                      : 2;
}

static double get(const Buffer *b, size_t i) {
    const char *p = (const char *)b->allocation.base + i * type_size(b->type);
    uint16_t h;
    float f;
    memcpy(&h, p, sizeof h);
    if (b->type == EMU_F16) return f16_to_f32(h);
    if (b->type == EMU_BF16) return bf16_to_f32(h);
    memcpy(&f, p, sizeof f);
    return f;
}

static void put(Buffer *b, size_t i, double x) {
    char *p = (char *)b->allocation.base + i * type_size(b->type);
    uint16_t h = b->type == EMU_F16 ? f16_from_f64(x) : bf16_from_f64(x);
    float f = (float)x;
    if (b->type == EMU_F32)
        memcpy(p, &f, sizeof f);
    else
        memcpy(p, &h, sizeof h);
}

static Buffer buffer(const char *name, EmuType type, size_t count, bool random) {
    size_t bytes = count * type_size(type);
    Buffer b = {.type = type, .count = count};
    b.allocation = (EmuAllocation){name, backend_allocate(bytes), bytes};
    memset(b.allocation.base, 0, bytes);
    if (random)
        for (size_t i = 0; i < count; i++) put(&b, i, uniform());
    return b;
}

/* The launch must end with this fault, and say these words. */
static void expect(const char *what, int mutant, EmuFault fault, const char *words) {
    bool right = last.fault == fault && strstr(last.text, words);
    CHECK(right);
    if (!right)
        fprintf(stderr, "  %s, mutant %d: wanted fault %d with \"%s\", got %s\n", what, mutant, fault, words,
                last.text[0] ? last.text : "nothing");
}

static void clean(const char *what) {
    CHECK(last.fault == EMU_FAULT_NONE);
    if (last.fault != EMU_FAULT_NONE) fprintf(stderr, "  %s: %s\n", what, last.text);
}

/* Largest |got - want| over the bound of its place. */
static double error;
static void compare(double got, double want, double allowed) {
    double e = fabs(got - want) / allowed;
    if (!(e <= error)) error = e; /* NaN too */
}
static void compared(const char *what) {
    CHECK(error <= 1);
    if (!(error <= 1)) fprintf(stderr, "  %s: error is %g times the bound\n", what, error);
    error = 0;
}

/* ---- kernels ---- */
static void test_vector_add(void) {
    for (int mutant = 0; mutant <= LAST_MUTANT(4); mutant++) {
        int n = 1027;
        Buffer x = buffer("x", EMU_F32, 1027, true), y = buffer("y", EMU_F32, 1027, true),
               z = buffer("z", EMU_F32, 1027, false);
        EmuAllocation a[] = {z.allocation, x.allocation, y.allocation};
        void *params[] = {&x.allocation.base, &y.allocation.base, &z.allocation.base, &n, &mutant};
        backend_launch("vector_add",
                       (EmuLaunch){.grid = {3, 1, 1}, .threads = 128, .allocations = a, .allocation_count = 3}, params);
        if (mutant == 1) expect("vector_add", mutant, EMU_FAULT_GLOBAL, "byte 4096 of `x`, which has 4108 bytes");
        if (mutant == 2) expect("vector_add", mutant, EMU_FAULT_ALIGN, "vector_add.cu:7");
        if (mutant == 3) expect("vector_add", mutant, EMU_FAULT_TRAP, "i is too large");
        if (mutant == 0 || mutant == 4) {
            clean("vector_add");
            for (size_t i = 0; i < 1027; i++) compare(get(&z, i), (float)(get(&x, i) + get(&y, i)), 1e-30);
            compared("vector_add");
            CHECK_TEXT(last.output, mutant ? "n = 1027\n" : "");
        }
        backend_free(x.allocation.base), backend_free(y.allocation.base), backend_free(z.allocation.base);
    }
}

static void test_block_sum(void) {
    for (int mutant = 0; mutant <= LAST_MUTANT(6); mutant++) {
        int n = 1000;
        Buffer x = buffer("x", EMU_F32, 3000, true), s = buffer("sums", EMU_F32, 3, false);
        EmuAllocation a[] = {x.allocation, s.allocation};
        void *params[] = {&x.allocation.base, &s.allocation.base, &n, &mutant};
        EmuRegion partial = {"partial sums", 0, 16};
        backend_launch("block_sum",
                       (EmuLaunch){.grid = {3, 1, 1},
                                   .threads = 128,
                                   .shared_bytes = 16,
                                   .allocations = a,
                                   .allocation_count = 2,
                                   .regions = &partial,
                                   .region_count = 1,
                                   .seed = (uint64_t)mutant},
                       params);
        switch (mutant) {
        case 0:
            clean("block_sum");
            for (size_t r = 0; r < 3; r++) {
                double want = 0, size = 0;
                for (size_t i = 0; i < 1000; i++) want += get(&x, 1000 * r + i), size += fabs(get(&x, 1000 * r + i));
                compare(get(&s, r), want, size * 15 * 0x1p-24); /* 8 + 5 + 2 additions on a path */
            }
            compared("block_sum");
            break;
        case 1: expect("block_sum", mutant, EMU_FAULT_RACE, "(partial sums + "); break;
        case 2: expect("block_sum", mutant, EMU_FAULT_DIVERGENT, "a shuffle at block_sum.cu:10"); break;
        case 3:
            expect("block_sum", mutant, EMU_FAULT_DEADLOCK, "barrier 0 at block_sum.cu:15: 64 of 128 threads");
            break;
        case 4: expect("block_sum", mutant, EMU_FAULT_SHARED, "the block has 16 bytes"); break;
        case 5: expect("block_sum", mutant, EMU_FAULT_ALIGN, "block_sum.cu:13"); break;
        case 6: expect("block_sum", mutant, EMU_FAULT_BARRIER, "barrier 1 of"); break;
        }
        backend_free(x.allocation.base), backend_free(s.allocation.base);
    }
}

static void encode(void *map, const Buffer *b, uint64_t columns, uint64_t rows, uint32_t box0, uint32_t box1,
                   int swizzle) {
    EmuTensor t = {.type = b->type,
                   .rank = 2,
                   .base = b->allocation.base,
                   .dims = {columns, rows},
                   .strides = {columns * type_size(b->type)},
                   .box = {box0, box1},
                   .swizzle = swizzle};
    const char *why = backend_encode(map, &t);
    CHECK(!why);
    if (why) fprintf(stderr, "  %s\n", why);
}

/* c = a b: a(i, k) and b(k, j) by strides; the bound counts roundings of f32 sums and of the
 * result. */
static void check_matmul(const char *what, const Buffer *a, size_t ai, size_t ak, const Buffer *b, size_t bk, size_t bj,
                         const Buffer *c, size_t m, size_t n, size_t k, double result_ulp) {
    clean(what);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double want = 0, size = 0;
            for (size_t q = 0; q < k; q++) {
                double p = get(a, i * ai + q * ak) * get(b, q * bk + j * bj);
                want += p, size += fabs(p);
            }
            compare(get(c, i * n + j), want, size * ((double)k / 8 + 2) * 0x1p-24 + fabs(want) * result_ulp + 1e-30);
        }
    compared(what);
}

static _Alignas(64) unsigned char map_a[128], map_b[128], map_c[128];

static void run_ring(int m, int n, int k, int mutant, uint64_t seed, Buffer *out) {
    Buffer a = buffer("a", EMU_BF16, (size_t)m * (size_t)k, true),
           b = buffer("b", EMU_BF16, (size_t)n * (size_t)k, true);
    Buffer c = buffer("c", EMU_BF16, (size_t)m * (size_t)n, false);
    encode(map_a, &a, (uint64_t)k, (uint64_t)m, 64, 64, 128);
    encode(map_b, &b, (uint64_t)k, (uint64_t)n, 64, 64, 128);
    encode(map_c, &c, (uint64_t)n, (uint64_t)m, 64, 64, 128);
    int nk = (k + 63) / 64;
    void *params[] = {map_a, map_b, map_c, &nk, &mutant};
    EmuAllocation al[] = {a.allocation, b.allocation, c.allocation};
    backend_launch("ring_matmul",
                   (EmuLaunch){.grid = {(uint32_t)(n + 63) / 64, (uint32_t)(m + 63) / 64, 1},
                               .threads = 256,
                               .shared_bytes = 57392,
                               .allocations = al,
                               .allocation_count = 3,
                               .seed = seed},
                   params);
    if (!mutant)
        check_matmul("ring_matmul", &a, (size_t)k, 1, &b, 1, (size_t)k, &c, (size_t)m, (size_t)n, (size_t)k, 0x1p-8);
    backend_free(a.allocation.base), backend_free(b.allocation.base);
    if (out)
        *out = c;
    else
        backend_free(c.allocation.base);
}

static void test_ring_matmul(void) {
    run_ring(64, 64, 64, 0, 0, NULL);
    run_ring(100, 72, 328, 0, 0, NULL); /* ragged in every dimension */
    /* The schedule and the landing times do not change a bit. */
    Buffer c[2];
    for (int i = 0; i < 2; i++) {
        state = 7;
        run_ring(128, 64, 512, 0, (uint64_t)(1 + i), &c[i]);
    }
    CHECK(!memcmp(c[0].allocation.base, c[1].allocation.base, c[0].allocation.bytes));
    backend_free(c[0].allocation.base), backend_free(c[1].allocation.base);

    /* What is seen first may depend on the schedule: then a second fault is as right. */
    static const struct {
        int mutant, k;
        EmuFault fault, other;
        const char *words;
    } mutants[] = {
        {1, 640, EMU_FAULT_BARRIER, 0, "without tw_fence_mbar_init()"},
        {2, 640, EMU_FAULT_RACE, EMU_FAULT_BARRIER, "tw_mbar_init by thread 0"},
        {3, 640, CUDA_FAULT_BYTES, 0, "16 bytes are missing, 0 copies are in flight"},
        {4, 640, CUDA_FAULT_BYTES, 0, "expected"},
        {5, 640, EMU_FAULT_DEADLOCK, 0, "1 of 1 arrivals"},
        {6, 640, EMU_FAULT_RACE, EMU_FAULT_DEADLOCK, "TMA load"},
        {7, 640, EMU_FAULT_RACE, 0, "wgmma of warpgroup 0"},
        {8, 640, EMU_FAULT_PROXY, 0, "without tw_fence_async()"},
        {9, 640, EMU_FAULT_RACE, 0, "starts a TMA store from"},
        {10, 640, CUDA_FAULT_UNWAITED, 0, "may still read shared memory"},
        {11, 640, EMU_FAULT_RACE, 0, "by wgmma of warpgroup 0"},
        {11, 64, CUDA_FAULT_UNWAITED, 0, "was not waited for"},
        {12, 640, CUDA_FAULT_MATRIX, 0, "without tw_wgmma_fence()"},
        {13, 640, CUDA_FAULT_MATRIX, 0, "accumulator 3 was written"},
        {14, 640, CUDA_FAULT_ARRIVALS, EMU_FAULT_RACE, "already has its 1 arrivals"},
        {15, 640, CUDA_FAULT_MATRIX, 0, "descriptor a starts at"},
        {16, 64, CUDA_FAULT_MATRIX, 0, "reads accumulators at"},
        {17, 640, CUDA_FAULT_MATRIX, 0, "were never settled"},
    };
    for (int i = 0; i < LAST_MUTANT((int)(sizeof mutants / sizeof *mutants)); i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            run_ring(64, 64, mutants[i].k, mutants[i].mutant, seed, NULL);
            if (mutants[i].other && last.fault == mutants[i].other) continue;
            expect("ring_matmul", mutants[i].mutant, mutants[i].fault, mutants[i].words);
        }
}

static void test_wide_matmul(void) {
    for (int round = 0; round < 2 + LAST_MUTANT(2); round++) {
        int m = round == 1 ? 200 : 128, n = round == 1 ? 264 : 256, k = round == 1 ? 72 : 512;
        int nk = (k + 63) / 64, mutant = round > 1 ? round - 1 : 0;
        Buffer a = buffer("a", EMU_F16, (size_t)m * (size_t)k, true),
               b = buffer("b", EMU_F16, (size_t)k * (size_t)n, true);
        Buffer c = buffer("c", EMU_F32, (size_t)m * (size_t)n, false);
        encode(map_a, &a, (uint64_t)k, (uint64_t)m, 64, 128, 128);
        encode(map_b, &b, (uint64_t)n, (uint64_t)k, 64, 64, 128);
        void *params[] = {map_a, map_b, &c.allocation.base, &m, &n, &nk, &mutant};
        EmuAllocation al[] = {a.allocation, b.allocation, c.allocation};
        double start = seconds();
        backend_launch("wide_matmul",
                       (EmuLaunch){.grid = {(uint32_t)(n + 255) / 256, (uint32_t)(m + 127) / 128, 1},
                                   .threads = 384,
                                   .shared_bytes = 147504,
                                   .allocations = al,
                                   .allocation_count = 3,
                                   .seed = 3},
                       params);
        if (round == 0) printf("128x256 tile, K 512, 384 threads: %.3f s\n", seconds() - start);
        if (!mutant)
            check_matmul("wide_matmul", &a, (size_t)k, 1, &b, (size_t)n, 1, &c, (size_t)m, (size_t)n, (size_t)k, 0);
        if (mutant == 1) expect("wide_matmul", mutant, EMU_FAULT_DEADLOCK, "setmaxnreg.inc 232");
        if (mutant == 2) expect("wide_matmul", mutant, EMU_FAULT_RACE, "by wgmma of warpgroup");
        backend_free(a.allocation.base), backend_free(b.allocation.base), backend_free(c.allocation.base);
    }
}

static void test_pipelined_matmul(void) {
    for (int mutant = 0; mutant <= LAST_MUTANT(4); mutant++) {
        int m = 100, n = 72, k = 104;
        Buffer a = buffer("a", EMU_F16, (size_t)(m * k), true), b = buffer("b", EMU_F16, (size_t)(k * n), true);
        Buffer c = buffer("c", EMU_F32, (size_t)(m * n), false);
        void *params[] = {&a.allocation.base, &b.allocation.base, &c.allocation.base, &m, &n, &k, &mutant};
        EmuAllocation al[] = {a.allocation, b.allocation, c.allocation};
        backend_launch("pipelined_matmul",
                       (EmuLaunch){.grid = {2, 2, 1},
                                   .threads = 128,
                                   .shared_bytes = 16384,
                                   .allocations = al,
                                   .allocation_count = 3,
                                   .seed = 5},
                       params);
        if (!mutant)
            check_matmul("pipelined_matmul", &a, (size_t)k, 1, &b, (size_t)n, 1, &c, (size_t)m, (size_t)n, (size_t)k,
                         0);
        else if (mutant == 4)
            expect("pipelined_matmul", mutant, EMU_FAULT_RACE, "starts a cp.async into");
        else
            expect("pipelined_matmul", mutant, EMU_FAULT_RACE, "by cp.async of thread");
        backend_free(a.allocation.base), backend_free(b.allocation.base), backend_free(c.allocation.base);
    }
}

static void test_gather_matmul(void) {
    for (int mutant = 0; mutant <= LAST_MUTANT(2); mutant++) {
        int k = 320;
        Buffer a = buffer("a", EMU_F16, (size_t)(200 * k), true), b = buffer("b", EMU_F16, (size_t)(64 * k), true);
        Buffer c = buffer("c", EMU_F32, 64 * 64, false), index = buffer("index", EMU_I32, 64, false);
        Buffer rows = buffer("rows", EMU_F16, (size_t)(64 * k), false);
        for (int i = 0; i < 64; i++) {
            int from = (37 * i + 11) % 200;
            ((int *)index.allocation.base)[i] = from;
            memcpy((uint16_t *)rows.allocation.base + i * k, (uint16_t *)a.allocation.base + from * k, 2 * (size_t)k);
        }
        void *params[] = {
            &a.allocation.base, &index.allocation.base, &b.allocation.base, &c.allocation.base, &k, &mutant};
        EmuAllocation al[] = {a.allocation, b.allocation, c.allocation, index.allocation};
        backend_launch("gather_matmul",
                       (EmuLaunch){.grid = {1, 1, 1},
                                   .threads = 256,
                                   .shared_bytes = 32800,
                                   .allocations = al,
                                   .allocation_count = 4,
                                   .seed = 9},
                       params);
        if (!mutant) check_matmul("gather_matmul", &rows, (size_t)k, 1, &b, 1, (size_t)k, &c, 64, 64, (size_t)k, 0);
        if (mutant == 1) expect("gather_matmul", mutant, EMU_FAULT_PROXY, "cp.async of thread");
        if (mutant == 2) expect("gather_matmul", mutant, EMU_FAULT_RACE, "by cp.async of thread");
        backend_free(a.allocation.base), backend_free(b.allocation.base), backend_free(c.allocation.base),
            backend_free(index.allocation.base);
        backend_free(rows.allocation.base);
    }
}

/* Where element (line, byte) of an operand lies: lines of W bytes in atoms of 8, W-byte panels one
 * after another; without a swizzle, cores of 8 lines by 16 bytes, first along the line. Lines run
 * along m or n (K-major) or k (MN-major). */
static size_t place(int lines, int line, int byte, int width) {
    if (!width) return (size_t)(byte / 16 * lines * 16 + line * 16 + byte % 16);
    size_t s = (size_t)(byte / width * lines * width + line * width + byte % width);
    return s ^ ((s >> 3) & (size_t)(width - 16));
}

/* A random number of the type, and its bits. */
static double random_element(EmuType type, uint32_t *bits) {
    double x = uniform();
    switch (type) {
    case EMU_BF16: return *bits = bf16_from_f64(x), bf16_to_f32((uint16_t)*bits);
    case EMU_F16: return *bits = f16_from_f64(x), f16_to_f32((uint16_t)*bits);
    case EMU_E4M3: return *bits = f8e4m3_from_f64(x), f8e4m3_to_f32((uint8_t)*bits);
    case EMU_E5M2: return *bits = f8e5m2_from_f64(x), f8e5m2_to_f32((uint8_t)*bits);
    case EMU_I8: return *bits = (uint8_t)(int8_t)(x * 127), (int8_t)*bits;
    case EMU_U8: return *bits = (uint8_t)fabs(x * 255), *bits;
    default: return *bits = f32_bits((float)x) & ~0x1FFFu, f32_from_bits(*bits); /* tf32 */
    }
}

/* One instruction on numbers below 1 sums to f32; on fp8 the chip keeps fewer bits, at least 13. */
static double mma_bound(EmuType type, double want) {
    double unit = type == EMU_E4M3 || type == EMU_E5M2 ? 0x1p-12 : 0x1p-20;
    return unit * (2 + fabs(want));
}

static void test_wgmma_forms(void) {
    static const struct {
        EmuType type;
        bool mn_major, rs;
    } forms[] = {{EMU_BF16, false, false}, {EMU_F16, true, false},  {EMU_TF32, false, false}, {EMU_E4M3, false, false},
                 {EMU_E5M2, false, false}, {EMU_BF16, false, true}, {EMU_F16, true, true},    {EMU_E4M3, false, true},
                 {EMU_I8, false, false},   {EMU_U8, false, false}};
    static double value[2][128][32]; /* a(m, k), b(n, k) */
    Buffer image[] = {buffer("a", EMU_U32, 8192, false), buffer("b", EMU_U32, 8192, false)};
    Buffer ra = buffer("ra", EMU_U32, 512, false), result = buffer("out", EMU_F32, 8192, false);
    EmuAllocation al[] = {image[0].allocation, image[1].allocation, ra.allocation, result.allocation};
    uint32_t(*registers)[4] = ra.allocation.base;
    for (int form = 0; form < 10; form++)
        for (int width = 0; width <= 128; width = width ? 2 * width : 32) {
            EmuType type = forms[form].type;
            int size = (int)type_size(type), K = 32 / size, mutant = LAST_MUTANT(1) && form == 0 && width == 64;
            bool mn = forms[form].mn_major;
            for (int o = 0; o < 2; o++) memset(image[o].allocation.base, 0xFF, image[o].allocation.bytes);
            for (int o = 0; o < 2; o++)
                for (int i = 0; i < (o ? 128 : 64); i++)
                    for (int k = 0; k < K; k++) {
                        uint32_t bits;
                        double x = random_element(type, &bits);
                        value[o][i][k] = x;
                        int lines = mn ? K : o ? 128 : 64;
                        size_t at = place(lines, mn ? k : i, (mn ? i : k) * size, width);
                        memcpy((char *)image[o].allocation.base + at, &bits, (size_t)size);
                        /* registers of A: row g + 8 (r % 2), k = n t + e + 4 n (r / 2), 16 rows a
                         * warp */
                        int n = 4 / size, e = k % n, t = k / n % 4, r = i % 16 / 8 + 2 * (k / n / 4);
                        if (!o)
                            memcpy((char *)&registers[i / 16 * 32 + i % 8 * 4 + t][r] + e * size, &bits, (size_t)size);
                    }
            /* K-major: leading = next core along k (no swizzle), stride = next 8 lines. MN-major
             * with a swizzle: leading = next panel, stride = next 8 k; without: leading = next 8 k,
             * stride = next core. */
            uint32_t lead[2], stride[2];
            for (uint32_t o = 0; o < 2; o++) {
                uint32_t lines = mn ? (uint32_t)K : o ? 128 : 64, w = width ? (uint32_t)width : 16;
                uint32_t next_panel = lines * w, next_group = 8 * w;
                lead[o] = mn && !width ? next_group : next_panel;
                stride[o] = mn && !width ? next_panel : next_group;
            }
            uint32_t swizzle = (uint32_t)width;
            void *params[] = {&al[0].base, &al[1].base, &al[2].base, &al[3].base, &form,  &lead[0],
                              &stride[0],  &lead[1],    &stride[1],  &swizzle,    &mutant};
            backend_launch(
                "wgmma_forms",
                (EmuLaunch){
                    .grid = {1, 1, 1}, .threads = 128, .shared_bytes = 65536, .allocations = al, .allocation_count = 4},
                params);
            if (mutant) {
                expect("wgmma_forms", mutant, EMU_FAULT_PROXY, "wgmma of warpgroup 0 reads");
                continue;
            }
            clean("wgmma_forms");
            for (int t = 0; t < 128; t++)
                for (int i = 0; i < 64; i++) {
                    int row = t / 32 * 16 + t % 32 / 4 + 8 * (i / 2 % 2), column = 8 * (i / 4) + 2 * (t % 4) + i % 2;
                    double want = 1;
                    for (int k = 0; k < K; k++) want += value[0][row][k] * value[1][column][k];
                    compare(get(&result, (size_t)(64 * t + i)), want, mma_bound(type, want));
                }
            compared("wgmma_forms");
        }
    for (int i = 0; i < 4; i++) backend_free(al[i].base);
}

/* ---- numbers ---- */
static void numbers_differ(const char *what, double x, double got, double want) {
    CHECK(false);
    fprintf(stderr, "  %s of %.9g: got %.9g, want %.9g\n", what, x, got, want);
}

static void check_bits(const char *what, double x, uint32_t got, uint32_t want, bool nan) {
    check_count++;
    if (got != want && !nan) numbers_differ(what, x, got, want);
}

/* Within `ulps` of f32, plus `absolute`; a flushed subnormal is right when `flush`. */
static void check_near(const char *what, float x, uint32_t bits, double want, double ulps, double absolute,
                       bool flush) {
    float got = f32_from_bits(bits);
    check_count++;
    if (isnan(want) ? isnan(got) : isinf((float)want) && got == (float)want) return;
    if (flush && (fabs(want) < 0x1.02p-126 || fabsf(x) < 0x1p-126f) && (got == 0 || isinf(got) || isnan(got))) return;
    double unit = fabs(want) < 0x1p-126 ? 0x1p-149 : ldexp(1, ilogb(want) - 23);
    if (!(fabs(got - want) <= ulps * unit + absolute)) numbers_differ(what, x, got, want);
}

static void test_numbers(void) {
    enum { COUNT = 1 << 16 };
    Buffer x = buffer("x", EMU_F32, COUNT, false), out = buffer("out", EMU_U32, 24 * COUNT, false);
    float *in = x.allocation.base;
    for (uint32_t i = 0; i < COUNT; i++) { /* every exponent, and many around 1 */
        uint32_t any = i << 16 | (i * 2654435761u >> 16), ties = (i & 0xFFF0) << 16 | (i & 15) << 12;
        in[i] = i % 4 == 0   ? f32_from_bits(any)
                : i % 4 == 1 ? f32_from_bits(ties)
                             : (float)(uniform() * (i % 4 == 2 ? 4 : 90));
    }
    int n = COUNT, mutant = 0;
    void *params[] = {&x.allocation.base, &out.allocation.base, &n, &mutant};
    EmuAllocation al[] = {x.allocation, out.allocation};
    backend_launch("numbers",
                   (EmuLaunch){.grid = {COUNT / 128, 1, 1}, .threads = 128, .allocations = al, .allocation_count = 2},
                   params);
    clean("numbers");
    int failures = check_failures;
    for (uint32_t i = 0; i < COUNT && check_failures < failures + 20; i++) {
        const uint32_t *r = (const uint32_t *)out.allocation.base + 24 * (size_t)i;
        float v = in[i];
        double d = v;
        bool nan = isnan(v), large = isinf(v);
        uint32_t f16 = f16_from_f32(v), bf16 = bf16_from_f32(v);
        check_bits("f16", d, r[0], f16, nan);
        check_bits("bf16", d, r[1], bf16, nan);
        check_bits("e4m3", d, r[2], f8e4m3_from_f64(d), nan);
        check_bits("e5m2", d, r[3], f8e5m2_from_f64(d), nan);
        check_bits("tf32", d, r[4], (f32_bits(v) + 0x1000) & ~0x1FFFu, nan || large);
        double whole = trunc(d);
        check_bits("i32", d, r[5], (uint32_t)(int32_t)fmax(-2147483648.0, fmin(whole, 2147483647.0)), nan);
        check_bits("u32", d, r[6], (uint32_t)fmax(0, fmin(whole, 4294967295.0)), nan);
        if (nan) check_bits("i32 of NaN", d, r[5] | r[6] | r[11], 0, false);
        check_bits("pack f16", d, r[7], f16 | (f16 ^ 0x8000) << 16, nan);
        check_bits("pack bf16", d, r[8], bf16 | (bf16 ^ 0x8000) << 16, nan);
        check_bits("min nan", d, r[9], f32_bits(v < 1 ? v : 1), nan);
        if (nan) check_near("min nan", v, r[9], NAN, 0, 0, false);
        check_bits("max", d, r[10], f32_bits(v), nan);
        if (fabs(d) < 1e9) check_bits("i64", d, r[11], (uint32_t)(int64_t)whole, false);
        check_near("exp", v, r[12], exp(d), 2, 0, false);
        check_near("log", v, r[13], log(d), 2, 0, false);
        check_near("rsqrt", v, r[14], 1 / sqrt(d), 2, 0, false);
        check_near("tanh", v, r[15], tanh(d), 2, 0, false);
        check_near("exp2_fast", v, r[16], exp2(d), 3, 0, true);
        check_near("exp_fast", v, r[17], exp(d), 3 + fabs(1.18 * d), 0, true);
        check_near("rsqrt_fast", v, r[18], 1 / sqrt(d), 2, 0, true);
        if (fabs(d) < 0x1p126) check_near("div_fast", v, r[19], 1 / d, 2, 0, true);
        check_near("sqrt_fast", v, r[20], sqrt(d), 1, 0, true);
        check_near("tanh_fast", v, r[21], tanh(d), 0, fabs(tanh(d)) * 0x1p-10, true);
        check_near("f32 of f16", v, r[22], f16_to_f32((uint16_t)i), 0, 0, false);
        check_near("f32 of fp8", v, r[23], i & 256 ? f8e5m2_to_f32((uint8_t)i) : f8e4m3_to_f32((uint8_t)i), 0, 0,
                   false);
    }
    backend_free(x.allocation.base), backend_free(out.allocation.base);
}

/* ---- TMA of every rank ---- */
/* Warps of 32 lanes, and of 64 where there are such. */
static void test_lanes(void) {
    enum { THREADS = 128, EACH = 12 };
    for (int round = 0; round <= LAST_MUTANT(4); round++) {
        int lanes = round == 0 ? 32 : round == 4 ? 48 : 64, mutant = round == 2 ? 1 : round == 3 ? 2 : 0;
        Buffer out = buffer("out", EMU_U32, EACH * THREADS, false);
        void *params[] = {&out.allocation.base, &mutant};
        backend_launch("lanes",
                       (EmuLaunch){.grid = {1, 1, 1},
                                   .threads = THREADS,
                                   .lanes = (uint32_t)lanes,
                                   .allocations = &out.allocation,
                                   .allocation_count = 1},
                       params);
        if (round == 2) expect("lanes", round, EMU_FAULT_DEADLOCK, "lanes 0xfffff are there");
        if (round == 3) expect("lanes", round, CUDA_FAULT_MATRIX, "an instruction of warps of 32 lanes; these have 64");
        if (round == 4) expect("lanes", round, EMU_FAULT_LAUNCH, "warps of 48 lanes; they have 32 or 64");
        for (int t = 0; t < THREADS && round < 2; t++) {
            const uint32_t *r = (const uint32_t *)out.allocation.base + EACH * t;
            int lane = t % lanes, first = t - lane;
            uint64_t votes = 0;
            double sum = 0;
            for (int i = 0; i < lanes; i++) votes |= (uint64_t)(i % 3 == 0) << i, sum += first + i;
            CHECK(r[0] == (uint32_t)lane && r[1] == (uint32_t)(t / lanes) && r[2] == (uint32_t)(t ^ 16));
            CHECK(r[3] == (uint32_t)(first + (lane * 7 + 1) % lanes));
            CHECK(r[4] == (uint32_t)(lane < 3 ? t : t - 3) && r[5] == (uint32_t)(lane + 5 >= lanes ? t : t + 5));
            CHECK(r[6] == (uint32_t)votes && r[7] == (uint32_t)(votes >> 32) && r[8] == 10);
            CHECK(f32_from_bits(r[9]) == sum && f32_from_bits(r[10]) == first + lanes - 1 && r[11] == (uint32_t)first);
        }
        if (round < 2) clean("lanes");
        backend_free(out.allocation.base);
    }
}

static void test_tma_shapes(void) {
    enum { COUNT = 40 * 9 * 5 * 3 * 3 };
    static const struct {
        int rank, swizzle, add;
        EmuType type;
        uint32_t box[5];
        int at[5];
    } rows[] = {
        {0, 0, 0, EMU_F16, {40}, {0}},
        {1, 0, 0, EMU_F32, {32}, {12}},
        {1, 0, 0, EMU_F32, {32}, {-8}},
        {1, 0, 1, EMU_F32, {32}, {20}},
        {2, 128, 0, EMU_F16, {64, 7}, {8, 4}},
        {2, 128, 0, EMU_F16, {64, 7}, {-32, -3}},
        {2, 64, 0, EMU_F16, {32, 9}, {16, 2}},
        {2, 32, 1, EMU_F16, {16, 6}, {8, 1}},
        {3, 64, 0, EMU_BF16, {32, 4, 3}, {16, 7, 3}},
        {3, 64, 0, EMU_BF16, {32, 4, 3}, {16, -1, 3}},
        {4, 0, 1, EMU_F32, {12, 3, 2, 2}, {32, 7, 4, 2}},
        {5, 128, 0, EMU_F32, {32, 3, 2, 2, 2}, {4, 7, 4, 1, 2}},
        {5, 128, 0, EMU_F32, {32, 3, 2, 2, 2}, {4, 7, 4, 1, -1}},
    };
    static const uint64_t dims[5] = {40, 9, 5, 3, 3};
    for (size_t c = 0; c < sizeof rows / sizeof *rows; c++)
        for (int mutant = 0; mutant <= LAST_MUTANT(6); mutant++) {
            if (mutant && c != 4) continue;
            EmuType type = rows[c].type;
            int rank = rows[c].rank, add = rows[c].add, boxed = rank ? rank : 1;
            size_t size = type_size(type);
            Buffer from = buffer("from", type, COUNT, true), to = buffer("to", type, COUNT, true);
            Buffer before = buffer("before", type, COUNT, false), raw = buffer("raw", EMU_U32, 4096, false);
            memcpy(before.allocation.base, to.allocation.base, to.allocation.bytes);
            EmuTensor t = {.type = type, .rank = boxed, .swizzle = rows[c].swizzle};
            uint64_t pitch = size;
            uint32_t bytes = (uint32_t)size;
            for (int d = 0; d < boxed; d++) {
                t.dims[d] = dims[d];
                t.box[d] = rows[c].box[d];
                bytes *= t.box[d];
                pitch *= dims[d];
                if (d + 1 < boxed) t.strides[d] = pitch;
            }
            if (mutant == 6) t.dims[0] -= 3; /* rows that end within a chunk */
            t.base = from.allocation.base;
            const char *why = backend_encode(map_a, &t);
            t.base = to.allocation.base;
            CHECK(!why && !backend_encode(map_b, &t));
            int at[5];
            memcpy(at, rows[c].at, sizeof at);
            int no_store = 0; /* a store may not begin before the tensor */
            for (int d = 0; d < boxed; d++) no_store |= at[d] < 0;
            if (mutant == 4) at[0]++;
            if (mutant == 5) at[1] = -1;
            void *params[] = {map_a,
                              map_b,
                              &from.allocation.base,
                              &to.allocation.base,
                              &raw.allocation.base,
                              &rank,
                              &add,
                              &bytes,
                              &at[0],
                              &at[1],
                              &at[2],
                              &at[3],
                              &at[4],
                              &no_store,
                              &mutant};
            EmuAllocation al[] = {from.allocation, to.allocation, raw.allocation};
            backend_launch("tma_shapes",
                           (EmuLaunch){.grid = {1, 1, 1},
                                       .threads = 32,
                                       .shared_bytes = 16392,
                                       .allocations = al,
                                       .allocation_count = 3,
                                       .seed = c},
                           params);
            if (mutant == 1) expect("tma_shapes", mutant, EMU_FAULT_RACE, "TMA load");
            if (mutant == 2) expect("tma_shapes", mutant, CUDA_FAULT_UNWAITED, "the block ends while the TMA load");
            if (mutant == 3) expect("tma_shapes", mutant, EMU_FAULT_RACE, "by TMA store of thread 0");
            if (mutant == 4) expect("tma_shapes", mutant, CUDA_FAULT_TENSORMAP, "begin at a multiple of 16 bytes");
            if (mutant == 5) expect("tma_shapes", mutant, CUDA_FAULT_TENSORMAP, "only loads may begin before");
            if (mutant == 6) expect("tma_shapes", mutant, CUDA_FAULT_TENSORMAP, "whole chunks of 16 bytes");
            if (!mutant) {
                clean("tma_shapes");
                /* every element of the box: zero outside the tensor; and of the result */
                for (uint32_t i = 0; i < bytes / size; i++) {
                    uint32_t rest = i;
                    bool inside = true;
                    size_t element = 0, step = 1;
                    for (int d = 0; d < boxed; d++) {
                        int x = at[d] + (int)(rest % t.box[d]);
                        rest /= t.box[d];
                        inside = inside && x >= 0 && x < (int)t.dims[d];
                        element += (size_t)x * step, step *= t.dims[d];
                    }
                    size_t s = i * size, width = (size_t)t.swizzle;
                    if (width) s ^= (s >> 3) & (width - 16);
                    Buffer image = {.allocation = {.base = (char *)raw.allocation.base + s}, .type = type};
                    compare(get(&image, 0), inside ? get(&from, element) : 0, 1e-30);
                    if (!inside || no_store) continue;
                    double want = get(&from, element) + (add ? get(&before, element) : 0);
                    compare(get(&to, element), want,
                            add ? fabs(want) * (size == 4 ? 0x1p-24 : 0x1p-11) + 1e-30 : 1e-30);
                    put(&before, element, get(&to, element)); /* all else must be as it was */
                }
                compared("tma_shapes");
                CHECK(!memcmp(before.allocation.base, to.allocation.base, to.allocation.bytes));
            }
            backend_free(from.allocation.base), backend_free(to.allocation.base), backend_free(before.allocation.base);
            backend_free(raw.allocation.base);
        }
}

/* ---- tensor maps that a kernel makes ---- */
enum { MADE_WIDE = 64, MADE_TALL = 40, MADE_COLUMNS = 16, MADE_ROWS = 8, MADE_BOX = MADE_COLUMNS * MADE_ROWS };
/* place in `from`, columns, rows, stride in elements, where the box begins */
static const int64_t made_maps[][6] = {
    {0, 40, 30, MADE_WIDE, 8, 4},
    {3 * MADE_WIDE + 8, 13, 5, MADE_WIDE, 8, 2},      /* beyond both ends */
    {1, 0, 5, 3, 0, 0},                               /* no elements: nobody asks where it lies */
    {16, 30, 1, 5, 0, 0},                             /* one row: nobody asks for a stride */
    {MADE_WIDE, 20, 9, 2 * MADE_WIDE, -8, -3},        /* begins before it */
    {0, 40, -7, MADE_WIDE, 0, 0},                     /* the same as none */
    {8, 17, (int64_t)1 << 31, MADE_WIDE, 0, 3},       /* as many as coordinates reach */
    {16, 30, 6, 24, 16, 1},                           /* rows that overlap */
    {16, 30, 6, 0, 0, 1},                             /* one row, again and again */
};
enum { MADE_COUNT = sizeof made_maps / sizeof *made_maps };

/* `count` of them from `first` on, by two blocks after each other. */
static void run_made_maps(int first, int count, int mutant) {
    int64_t rows[MADE_COUNT][6];
    memcpy(rows, made_maps + first, (size_t)count * sizeof *rows);
    if (mutant == 6) rows[0][0] = 1;
    if (mutant == 7) rows[0][3] = MADE_WIDE + 4;
    if (mutant == 8) rows[0][3] = -MADE_WIDE;
    if (mutant == 9) rows[0][3] = (int64_t)1 << 39;
    if (mutant == 10) rows[0][2] = ((int64_t)1 << 31) + 1;
    Buffer from = buffer("from", EMU_F16, MADE_WIDE * MADE_TALL, true);
    Buffer table = buffer("table", EMU_U32, MADE_COUNT * 12, false), room = buffer("room", EMU_U32, 3 * 32, false);
    Buffer out = buffer("out", EMU_F16, MADE_COUNT * MADE_BOX, false);
    int64_t *numbers = table.allocation.base;
    for (int i = 0; i < count; i++) {
        memcpy(numbers + 6 * i, rows[i], sizeof rows[i]);
        numbers[6 * i] = (int64_t)(intptr_t)from.allocation.base + 2 * rows[i][0];
        numbers[6 * i + 3] *= 2;
    }
    EmuTensor like = {.type = EMU_F16, .rank = 2, .base = room.allocation.base};
    like.dims[0] = like.box[0] = MADE_COLUMNS, like.dims[1] = like.box[1] = MADE_ROWS, like.strides[0] = 32;
    CHECK(!backend_encode(map_a, &like));
    void *params[] = {map_a, &room.allocation.base, &table.allocation.base, &out.allocation.base, &count, &mutant};
    EmuAllocation al[] = {from.allocation, table.allocation, room.allocation, out.allocation};
    backend_launch("made_map",
                   (EmuLaunch){.grid = {2, 1, 1},
                               .threads = 32,
                               .shared_bytes = 1288,
                               .allocations = al,
                               .allocation_count = 4,
                               .seed = 5,
                               .steps = 1 << 22},
                   params);
    if (mutant == 1) expect("made_map", mutant, CUDA_FAULT_TENSORMAP, "tw_map_fence() behind the writes");
    if (mutant == 2) expect("made_map", mutant, EMU_FAULT_RACE, "of `room`");
    if (mutant == 3) expect("made_map", mutant, EMU_FAULT_RACE, "TMA load");
    if (mutant == 4) expect("made_map", mutant, EMU_FAULT_ENDLESS, "made_map.cu");
    if (mutant == 5) expect("made_map", mutant, CUDA_FAULT_TENSORMAP, "there is no tensor map");
    if (mutant > 5) expect("made_map", mutant, EMU_FAULT_TRAP, "multiples of 16 bytes");
    if (!mutant) {
        clean("made_map");
        for (int i = 0; i < count * MADE_BOX; i++) {
            const int64_t *t = rows[i / MADE_BOX];
            int64_t column = t[4] + i % MADE_COLUMNS, row = t[5] + i / MADE_COLUMNS % MADE_ROWS;
            bool inside = column >= 0 && column < t[1] && row >= 0 && row < t[2];
            compare(get(&out, (size_t)i), inside ? get(&from, (size_t)(t[0] + row * t[3] + column)) : 0, 1e-30);
        }
        compared("made_map");
        CHECK(*(uint32_t *)room.allocation.base == 0);
    }
    for (int i = 0; i < 4; i++) backend_free(al[i].base);
}

/* Each alone, so that one that fails hides no other; then all. */
static void test_made_map(void) {
    for (int i = 0; i < MADE_COUNT; i++) run_made_maps(i, 1, 0);
    for (int mutant = 0; mutant <= LAST_MUTANT(10); mutant++) run_made_maps(0, MADE_COUNT, mutant);
}

/* ---- mma.sync, ldmatrix, stmatrix ---- */
static void test_mma_forms(void) {
    static const EmuType types[] = {EMU_F16, EMU_BF16, EMU_TF32, EMU_E4M3, EMU_E5M2, EMU_I8, EMU_U8};
    Buffer fa = buffer("a", EMU_U32, 128, false), fb = buffer("b", EMU_U32, 64, false),
           d = buffer("d", EMU_F32, 128, false);
    Buffer rows = buffer("rows", EMU_U32, 128, false), moved = buffer("moved", EMU_U32, 128, false);
    Buffer back = buffer("back", EMU_U32, 128, false);
    EmuAllocation al[] = {fa.allocation,   fb.allocation,    d.allocation,
                          rows.allocation, moved.allocation, back.allocation};
    uint32_t(*a)[4] = fa.allocation.base, (*b)[2] = fb.allocation.base, (*m)[4] = moved.allocation.base;
    uint16_t(*in)[8] = rows.allocation.base, (*out)[8] = back.allocation.base;
    for (int i = 0; i < 256; i++) in[i / 8][i % 8] = (uint16_t)(1000 + i);
    for (int round = 0; round < 7 + LAST_MUTANT(1); round++) {
        int form = round % 7, count = 1 << round % 3, trans = round >= 3, mutant = round == 7;
        int size = (int)type_size(types[form]), n = 4 / size, K = 8 * n;
        double x[16][32], y[32][8];
        for (int o = 0; o < 2; o++)
            for (int i = 0; i < (o ? 8 : 16); i++)
                for (int k = 0; k < K; k++) {
                    uint32_t bits;
                    double v = random_element(types[form], &bits);
                    if (o)
                        y[k][i] = v;
                    else
                        x[i][k] = v;
                    int t = k / n % 4, lane = i % 8 * 4 + t;
                    uint32_t *reg = o ? &b[lane][k / n / 4] : &a[lane][i / 8 + 2 * (k / n / 4)];
                    memcpy((char *)reg + k % n * size, &bits, (size_t)size);
                }
        for (size_t i = 0; i < 128; i++) put(&d, i, 1);
        void *params[] = {&al[0].base, &al[1].base, &al[2].base, &al[3].base, &al[4].base,
                          &al[5].base, &form,       &count,      &trans,      &mutant};
        backend_launch(
            "mma_forms",
            (EmuLaunch){
                .grid = {1, 1, 1}, .threads = 32, .shared_bytes = 1024, .allocations = al, .allocation_count = 6},
            params);
        if (mutant) {
            expect("mma_forms", mutant, EMU_FAULT_RACE, "reads by ldmatrix");
            continue;
        }
        clean("mma_forms");
        for (int lane = 0; lane < 32; lane++) {
            for (int i = 0; i < 4; i++) {
                double want = 1;
                for (int k = 0; k < K; k++) want += x[lane / 4 + 8 * (i / 2)][k] * y[k][2 * (lane % 4) + i % 2];
                compare(get(&d, (size_t)(4 * lane + i)), want, mma_bound(types[form], want));
            }
            for (int i = 0; i < count; i++)
                for (int e = 0; e < 2; e++) {
                    int row = trans ? 2 * (lane % 4) + e : lane / 4, column = trans ? lane / 4 : 2 * (lane % 4) + e;
                    CHECK((m[lane][i] >> 16 * e & 0xFFFF) == in[8 * i + row][column]);
                }
            for (int column = 0; column < 8; column++)
                CHECK(out[lane][column] == (lane < 8 * count ? in[lane][column] : 0));
        }
        compared("mma_forms");
    }
    for (int i = 0; i < 6; i++) backend_free(al[i].base);
}

/* ---- named barriers, atomics, votes ---- */
static void test_handoff(void) {
    for (int mutant = 0; mutant <= LAST_MUTANT(4); mutant++) {
        Buffer out = buffer("out", EMU_I32, 128, false), floats = buffer("floats", EMU_F32, 4, false);
        Buffer longs = buffer("longs", EMU_F32, 8, false), halves = buffer("halves", EMU_F16, 8, false);
        Buffer brains = buffer("brains", EMU_BF16, 8, false), flag = buffer("flag", EMU_U32, 4, false);
        int32_t *o = out.allocation.base, rounds = 5;
        int64_t *l = longs.allocation.base;
        o[97] = -90, o[98] = -1, o[101] = -1;
        put(&floats, 1, -30.5), put(&floats, 2, -30.5);
        void *params[] = {&out.allocation.base,
                          &floats.allocation.base,
                          &longs.allocation.base,
                          &halves.allocation.base,
                          &brains.allocation.base,
                          &flag.allocation.base,
                          &rounds,
                          &mutant};
        EmuAllocation al[] = {out.allocation,    floats.allocation, longs.allocation,
                              halves.allocation, brains.allocation, flag.allocation};
        backend_launch("handoff",
                       (EmuLaunch){.grid = {1, 1, 1},
                                   .threads = 64,
                                   .shared_bytes = 128,
                                   .allocations = al,
                                   .allocation_count = 6,
                                   .seed = 11},
                       params);
        if (mutant == 1) expect("handoff", mutant, EMU_FAULT_BARRIER, "arrives twice at barrier 1");
        if (mutant == 2) expect("handoff", mutant, EMU_FAULT_BARRIER, "barrier 1 of");
        if (mutant == 3) expect("handoff", mutant, EMU_FAULT_DEADLOCK, "16 threads have ended");
        if (mutant == 4) expect("handoff", mutant, EMU_FAULT_STUCK, "handoff.cu:46");
        if (!mutant) {
            clean("handoff");
            uint32_t thirds = 0;
            for (int i = 0; i < 32; i += 3) thirds |= 1u << i;
            for (int i = 0; i < 32; i++) {
                CHECK(o[i] == i + rounds);
                CHECK(o[32 + i] == (i < 3 ? i : i - 3) + 100 * (i > 26 ? i : i + 5) + 10000 * (i / 2) + 7);
                CHECK((uint32_t)o[64 + i] == thirds + 1);
            }
            CHECK(o[96] == 2 * 496 && o[97] == -69 && o[98] == 0 && o[99] == -1 && o[100] == 0 && o[101] == 0 &&
                  o[102] > 0);
            CHECK(get(&floats, 0) == 32 && get(&floats, 1) == -9 && get(&floats, 2) == -40 && get(&floats, 3) == 0);
            CHECK(l[0] == (int64_t)64 << 33 && l[1] == -155);
            CHECK(get(&halves, 0) == 16 && get(&brains, 0) == 16);
        }
        for (int i = 0; i < 6; i++) backend_free(al[i].base);
    }
}

static void run_cases(void) {
    test_numbers();
    test_lanes();
    test_vector_add();
    test_block_sum();
    test_ring_matmul();
    test_wide_matmul();
    test_pipelined_matmul();
    test_gather_matmul();
    test_wgmma_forms();
    test_tma_shapes();
    test_made_map();
    test_mma_forms();
    test_handoff();
}
#endif
