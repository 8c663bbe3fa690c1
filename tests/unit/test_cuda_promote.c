/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_promote.c: sums of f8 products that are added in f32 part by part, in every execution.
 *
 * Every k-step of a wgmma sums 32 products of 1/32 onto an accumulator of 2^24, the neighbours of
 * which lie 2 apart: one chain stays at 2^24 (1 is half of that, and ties go to even), a sum of its
 * own over two steps or more does not get lost. So the numbers tell how the sum was made. */
#include "cuda_bench.h"

enum { EXTENT = 128, DEPTH = 256 };

static const char text_form[] =
    "kernel @mm(%%A, %%B: *f8e4m3, %%C: *f32, %%K: i32) {\n"
    "  %%pm = program_id<0> ; %%pn = program_id<1> ; %%m = mul %%pm, %d ; %%n = mul %%pn, %d\n"
    "  %%TA = tensor %%A, [128, %%K], [256, 1] ; %%TB = tensor %%B, [128, %%K], [256, 1]\n"
    "  %%TC = tensor %%C, [128, 128], [128, 1] ; %%z = splat 16777216.0 : f32[%d,%d]\n"
    "  %%nk = cdiv %%K, 128 ; %%o = splat 0.0 : f32[%d,%d]\n"
    "  %%acc = for %%k = 0, %%nk, 1 (%%c = %%z) {\n"
    "    %%kk = mul %%k, 128 ; %%a = tload %%TA, [%%m, %%kk] : f8e4m3[%d,128]\n"
    "    %%b0 = tload %%TB, [%%n, %%kk] : f8e4m3[%d,128] ; %%b = permute<dims=[1,0]> %%b0\n"
    "    %s ; yield %%c1 }\n"
    "  tstore %%TC, [%%m, %%n], %%acc\n"
    "  return }\n";

typedef struct PromoteCase {
    const char *dot;
    int m, n, warps, stages, roles, persist;
    const char *execution; /* begins so */
    const char *has, *has_not;
    int k, more; /* the result is 2^24 + more */
} PromoteCase;

#define DOT(attr) "%c1 = dot" attr " %a, %b, %c"
static const PromoteCase cases[] = {
    {DOT(""), 64, 64, 4, 3, 1, 0, "roles", "tw_wgmma_wait(1)", "some[", 256, 0},
    {DOT("<promote=32>"), 64, 64, 4, 3, 1, 0, "roles", "from++)", "tw_wgmma_wait(1)", 256, 0},
    {DOT("<promote=64>"), 64, 64, 4, 3, 1, 0, "roles", "from += 2)", "tw_wgmma_wait(1)", 256, 8},
    {DOT("<promote=33>"), 128, 64, 8, 3, 1, 1, "roles", "from += 2)", "tw_wgmma_wait(1)", 256, 8},
    {DOT("<promote=128>"), 128, 128, 8, 3, 1, 1, "roles", "some[64]", "tw_wgmma_wait(1)", 256, 8},
    {DOT("<promote=129>"), 64, 64, 4, 3, 1, 0, "roles", "tw_wgmma_wait(1)", "some[", 256, 0},
    {DOT("<promote=64>"), 64, 128, 4, 3, 0, 0, "skew", "from += 2)", "tw_wgmma_wait(1)", 256, 8},
    {DOT("<promote=96>"), 64, 64, 4, 1, 0, 0, "flat", "from += 3)", "tw_wgmma_wait(1)", 256, 8},
    {DOT("<promote=64>"), 64, 128, 4, 3, 1, 0, "roles", "from += 2)", "tw_wgmma_wait(1)", 192, 6}, /* half a tile */
    {DOT("<promote=16>"), 64, 64, 4, 3, -1, 0, "", "tw_mma_e4m3", "tw_wgmma", 256, 0},
    {"%d = dot %a, %b, %o ; %c1 = add %d, %c", 64, 64, 4, 3, 1, 0, "roles", "some[32]", "tw_wgmma_wait(1)", 256, 8},
};

static bool run_case(const PromoteCase *c) {
    char text[2048];
    snprintf(text, sizeof text, text_form, c->m, c->n, c->m, c->n, c->m, c->n, c->m, c->n, c->dot);
    PassOptions options = pass_options_default;
    options.num_warps = c->warps;
    options.num_stages = c->stages;
    options.roles = c->roles;
    options.persist = c->persist;
    CudaBench b;
    if (!cuda_bench_open(&b, text, "cuda:sm_90a", options)) return false;
    bool good = strncmp(b.plan->execution, c->execution, strlen(c->execution)) == 0 &&
                b.plan->persist == (c->persist == 1);
    if (!good) fprintf(stderr, "  execution %s\n", b.plan->execution);
    if (!strstr(b.plan->text, c->has) || strstr(b.plan->text, c->has_not)) {
        fprintf(stderr, "%s\n", b.plan->text);
        good = false;
    }
    cuda_bench_array(&b, "A", EL_F8E4M3, EXTENT * DEPTH, false);
    cuda_bench_array(&b, "B", EL_F8E4M3, EXTENT * DEPTH, false);
    cuda_bench_array(&b, "C", EL_F32, EXTENT * EXTENT, false);
    cuda_bench_int(&b, c->k);
    for (int j = 0; j < 2; j++) {
        memset(b.arrays[0].memory[j], 0x28, EXTENT * DEPTH); /* 1/4 */
        memset(b.arrays[1].memory[j], 0x20, EXTENT * DEPTH); /* 1/8 */
    }
    good = cuda_bench_run(&b, EXTENT / c->m, EXTENT / c->n, 1) && good;
    const float *result = b.arrays[2].memory[1];
    for (int i = 0; good && i < EXTENT * EXTENT; i++) {
        good = (double)result[i] == 16777216.0 + c->more;
        if (!good) fprintf(stderr, "  [%d]: 2^24 + %g\n", i, (double)result[i] - 16777216.0);
    }
    cuda_bench_close(&b);
    return good;
}

int main(void) {
    bool compiler = cuda_bench_have("c++");
    if (!compiler) printf("skipped: no C++ compiler\n");
    cuda_bench_begin();
    for (size_t i = 0; compiler && i < sizeof cases / sizeof *cases; i++) {
        bool good = run_case(&cases[i]);
        CHECK(good);
        if (!good) fprintf(stderr, "  case %d: %s\n", (int)i + 1, cases[i].dot);
    }
    cuda_bench_end();
    return check_done();
}
