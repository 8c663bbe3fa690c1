/* SPDX-License-Identifier: Apache-2.0 */
/* test_tt_share.c: loads that cores share: what is read, that bits stay, that orders of landing do not matter, and that
 * readers which break the protocol are found. */
#include "check.h"
#include <math.h>
#include "tt_harness.h"

/* tt_matmul: tasks (m, n) of a block of 32 x 32. */
/* As above, but rows further down take more of K: cores of a column do not go through the same items. */
static const char triangle[] =
    "kernel @t(%A, %B, %C: tensor<bf16,2>) {\n"
    " %M = extent<0> %A ; %N = extent<1> %B ; %nm = cdiv %M, 32 ; %nn = cdiv %N, 32\n"
    " %in = ring<from=load, to=compute, slots=2> : {a: bf16[32,32], b: bf16[32,32]}\n"
    " %out = ring<from=compute, to=store, slots=2> : {c: bf16[32,32]}\n"
    " tasks %m, %n in %nm, %nn {\n %m0 = mul %m, 32 ; %n0 = mul %n, 32\n"
    "  role load { for %k = 0, %m, 1 { %k0 = mul %k, 32 ; %s = acquire %in\n"
    "    %a = tload %A, [%m0, %k0] : bf16[32,32] ; put %s.a, %a ; %b = tload %B, [%k0, %n0] : bf16[32,32] ; put %s.b, %b\n"
    "    commit %in, %s } }\n"
    "  role compute { %z = splat 0.0 : f32[32,32]\n %c = for %k = 0, %m, 1 (%p = %z) {\n"
    "    %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %d = dot<instr=tensix> %a, %b, %p ; release %in, %s ; yield %d }\n"
    "    %h = cast %c : bf16[32,32] ; %q = acquire %out ; put %q.c, %h ; commit %out, %q }\n"
    "  role store { %q = wait %out ; %h = get %q.c ; tstore %C, [%m0, %n0], %h ; release %out, %q }\n }\n}\n";

/* A block of A by the blocks of B above it: cores of a column need different numbers of the same items. */
static const char fan[] =
    "kernel @t(%A, %B, %C: tensor<bf16,2>) {\n"
    " %M = extent<0> %A ; %N = extent<1> %B ; %nm = cdiv %M, 32 ; %nn = cdiv %N, 32\n"
    " %once = ring<from=load, to=compute, slots=2> : {a: bf16[32,32]}\n"
    " %in = ring<from=load, to=compute, slots=2> : {b: bf16[32,32]}\n"
    " %out = ring<from=compute, to=store, slots=2> : {c: bf16[32,32]}\n"
    " tasks %m, %n in %nm, %nn {\n %m0 = mul %m, 32 ; %n0 = mul %n, 32 ; %end = mul %m, 1\n"
    "  role load { %o = acquire %once ; %a = tload %A, [%m0, 0] : bf16[32,32] ; put %o.a, %a ; commit %once, %o\n"
    "   for %k = 0, %end, 1 { %k0 = mul %k, 32 ; %s = acquire %in\n"
    "    %b = tload %B, [%k0, %n0] : bf16[32,32] ; put %s.b, %b ; commit %in, %s } }\n"
    "  role compute { %o = wait %once ; %a = get %o.a ; %z = splat 0.0 : f32[32,32]\n %c = for %k = 0, %end, 1 (%p = %z) {\n"
    "    %s = wait %in ; %b = get %s.b ; %d = dot<instr=tensix> %a, %b, %p ; release %in, %s ; yield %d }\n"
    "    %h = cast %c : bf16[32,32] ; %q = acquire %out ; put %q.c, %h ; commit %out, %q ; release %once, %o }\n"
    "  role store { %q = wait %out ; %h = get %q.c ; tstore %C, [%m0, %n0], %h ; release %out, %q }\n }\n}\n";

/* Readers that break the protocol: what stands between the API and the reader's text. */
static const char *const mutants[] = {
    "#define noc_async_writes_flushed()\n",
    "#define noc_async_write_barrier()\n",
    "#define noc_async_atomic_barrier()\n",
    "#define noc_semaphore_wait(word, value)\n",
    "#define noc_semaphore_inc(at, by)\n",
    "#define noc_async_write_multicast(from, to, bytes, receivers)\n",
    "#define noc_async_write_multicast(from, to, bytes, receivers) noc_async_write_multicast(from, to, bytes, (receivers) + 1)\n",
    "#define noc_async_write_multicast(from, to, bytes, receivers) noc_async_write_multicast(from, to, (bytes) / 2, receivers)\n",
    "#define noc_semaphore_set_multicast(from, to, receivers)\n",
    "#define noc_async_read_barrier()\n",
    "#define cb_reserve_back(cb, pages)\n",
    "#define cb_push_back(cb, pages)\n",
};
enum { MUTANTS = sizeof mutants / sizeof *mutants, JOBS = 9, TRIANGLE = 4, FAN = 5, MOST = 512 * 512 };

typedef struct Arrays {
    uint16_t *a, *b, *c;
    int64_t m, n, k;
} Arrays;

static uint16_t small(int64_t i) { return bf16_from_f32((float)(i * 7 % 13 - 6) / 8); }

static Arrays make_arrays(int64_t m, int64_t n, int64_t k) {
    Arrays x = {calloc((size_t)(m * k + 1), 2), calloc((size_t)(k * n + 1), 2), calloc((size_t)(m * n + 1), 2), m, n, k};
    for (int64_t i = 0; i < m * k; i++) x.a[i] = small(i);
    for (int64_t i = 0; i < k * n; i++) x.b[i] = small(i * 5 + 3);
    return x;
}
static void drop_arrays(Arrays *x) { free(x->a), free(x->b), free(x->c); }

static bool run(TtJob *job, const KernelSet *set, Arrays *x, uint32_t cores, uint64_t seed, TtResult *result) {
    const int64_t extents[3][2] = {{x->m, x->k}, {x->k, x->n}, {x->m, x->n}}, strides[3][2] = {{x->k, 1}, {x->n, 1}, {x->n, 1}};
    uint16_t *const at[] = {x->a, x->b, x->c};
    TtValue args[3];
    for (int i = 0; i < 3; i++) args[i] = (TtValue){(uint64_t)(uintptr_t)at[i], extents[i][0] * extents[i][1] * 2, extents[i], strides[i]};
    memset(x->c, 0x77, (size_t)(x->m * x->n) * 2);
    return tt_job_run_seeded(job, set, args, (const int64_t[]){1, 1, 1}, cores, seed, result);
}

static uint64_t once(const Arrays *x) {
    int64_t m = (x->m + 31) / 32, n = (x->n + 31) / 32, k = (x->k + 31) / 32;
    return (uint64_t)((m + n) * k * 2048);
}

/* With and without multicast: the same bits, and how often A and B are read. */
static void compare(TtJob *shared, TtJob *alone, const KernelSet *set, int64_t m, int64_t n, int64_t k, uint32_t cores,
                    uint32_t used, double times) {
    Arrays x = make_arrays(m, n, k);
    uint16_t *bits = calloc((size_t)(m * n + 1), 2);
    static TtResult result;
    bool good = run(alone, set, &x, cores, 0, &result);
    CHECK(good);
    memcpy(bits, x.c, (size_t)(m * n) * 2);
    for (uint64_t seed = 0; seed < 4; seed++) {
        good = run(shared, set, &x, cores, seed, &result);
        if (!good) fprintf(stderr, "%lld x %lld x %lld: %s\n", (long long)m, (long long)n, (long long)k, result.problem);
        CHECK(good && memcmp(bits, x.c, (size_t)(m * n) * 2) == 0);
        bool expected = result.cores == used && fabs((double)result.report.dram_read_bytes - times * (double)once(&x)) < 1;
        if (!expected)
            fprintf(stderr, "%lld x %lld x %lld: %u cores, %llu bytes, once is %llu\n", (long long)m, (long long)n, (long long)k,
                    result.cores, (unsigned long long)result.report.dram_read_bytes, (unsigned long long)once(&x));
        CHECK(expected);
    }
    free(bits);
    drop_arrays(&x);
}

static int add_mutant(KernelSet *set, const TtJob *job, int number) {
    char path[200];
    Arena arena;
    Trap trap;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) abort();
    char *text = arena_printf(&arena, "#include \"api/dataflow/dataflow_api.h\"\n%s%s", mutants[number], job->plan->source[TENSIX_READER]);
    snprintf(path, sizeof path, "%s/mutant%d.cpp", set->folder, number);
    CHECK(write_text(path, text, strlen(text)));
    arena_free(&arena);
    return kernels_add(set, path, job->plan->compile_args[TENSIX_READER]);
}

static void test_mutants(TtJob *job, const KernelSet *set, const int *numbers) {
    Arrays x = make_arrays(96, 96, 128);
    uint16_t *bits = calloc(96 * 96, 2);
    static TtResult result;
    CHECK(run(job, set, &x, 0, 0, &result));
    memcpy(bits, x.c, 96 * 96 * 2);
    for (int i = 0; i < MUTANTS; i++) {
        TtJob mutant = *job;
        bool found = false;
        mutant.number[TENSIX_READER] = numbers[i];
        for (uint64_t seed = 0; seed < 16 && !found; seed++)
            found = !run(&mutant, set, &x, 0, seed, &result) && strstr(result.problem, ".cpp");
        if (!found) fprintf(stderr, "not found: %s", mutants[i]);
        CHECK(found);
    }
    free(bits);
    drop_arrays(&x);
}

int main(void) {
    static TtJob jobs[JOBS];
    static KernelSet set;
    int numbers[MUTANTS];
    const char *compiler = cxx_compiler();
    const TtOptions options[JOBS] = {{.arch = TENSIX_WORMHOLE, .fidelity = 4}, {.arch = TENSIX_WORMHOLE, .fidelity = 4, .multicast = WISH_OFF}, {.arch = TENSIX_BLACKHOLE, .fidelity = 4},
                                     {.arch = TENSIX_BLACKHOLE, .fidelity = 4, .multicast = WISH_OFF}, {.arch = TENSIX_WORMHOLE, .fidelity = 4},
                                     {.arch = TENSIX_WORMHOLE, .fidelity = 4}, {.arch = TENSIX_WORMHOLE, .fidelity = 4, .multicast = WISH_OFF}, {.arch = TENSIX_BLACKHOLE, .fidelity = 4},
                                     {.arch = TENSIX_BLACKHOLE, .fidelity = 4, .multicast = WISH_OFF}};
    bool good = kernels_start(&set);
    for (int i = 0; i < JOBS; i++) {
        tt_job_start(&jobs[i], i == TRIANGLE ? triangle : i >= FAN ? fan : tt_matmul, "", 1, options[i]);
        if (!jobs[i].plan) fprintf(stderr, "%s\n", jobs[i].messages);
        CHECK(jobs[i].plan != NULL);
        good &= jobs[i].plan != NULL;
        if (jobs[i].plan) CHECK(jobs[i].plan->shares == (options[i].multicast != WISH_OFF && i != TRIANGLE));
        if (good) tt_job_add(&jobs[i], &set);
    }
    if (!compiler) return printf("skipped: no C++ compiler\n"), check_done();
    for (int i = 0; good && i < MUTANTS; i++) numbers[i] = add_mutant(&set, &jobs[0], i);
    good = good && kernels_build(&set, compiler);
    CHECK(good);
    if (good) {
        static const struct {
            int job;
            int64_t m, n, k;
            uint32_t cores, used;
            double times;
        } cases[] = {
            {0, 96, 64, 64, 4, 3, (3. * 2 + 2 * 1) / 5}, /* 3 x 1 cores of 4 */
            {0, 256, 256, 64, 0, 64, 1},                 /* a task a core: everything once */
            {0, 250, 230, 70, 0, 64, 1},
            {0, 512, 256, 32, 0, 64, (16. * 1 + 8 * 2) / 24}, /* two rows a core: B twice */
            {0, 32, 32, 32, 0, 1, 1},
            {0, 352, 416, 32, 0, 64, 2. * 11 * 13 / 24},   /* primes: everybody for himself */
            {2, 320, 416, 32, 0, 130, 1}, /* a gap between its columns: two multicasts of A, read once */
            {FAN, 256, 256, 256, 0, 64, (8. + 7 * 8) / (16 * 8)},             /* as many of B as the last block needs */
            {FAN, 512, 256, 512, 0, 64, (16. + (14 + 15) * 8) / (24 * 16)},   /* two rows a core: at each turn as many as the last */
            {FAN, 64, 32, 64, 1, 1, (2. + 1) / (3 * 2)},                      /* alone */
            {FAN + 2, 320, 416, 320, 0, 130, (10. + 9 * 13) / (23 * 10)},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (check_chosen())
                compare(&jobs[cases[i].job], &jobs[cases[i].job + 1], &set, cases[i].m, cases[i].n, cases[i].k, cases[i].cores,
                        cases[i].used, cases[i].times);
        test_mutants(&jobs[0], &set, numbers);
    }
    for (int i = 0; i < JOBS; i++) tt_job_end(&jobs[i]);
    kernels_end(&set);
    return check_done();
}
