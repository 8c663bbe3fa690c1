/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_ops.c: ops that move elements, combine along an axis, sort, count, talk and exchange atomically: the CUDA
 * text on the emulator beside the interpreter, on one and on several warps, power-of-two and odd extents. */
#include "cuda_ops_cases.h"

static bool runs(const OpsCase *c, int warps) {
    char text[8192];
    snprintf(text, sizeof text, "kernel @k(%%x, %%z: *f32, %%n: i32) {\n%s  return }\n", c->body);
    CudaBench b;
    PassOptions options = {.num_warps = warps};
    bool good = cuda_bench_open(&b, text, "cuda:sm_90a", options);
    if (good && getenv("SHOW") && strcmp(getenv("SHOW"), c->name) == 0) fputs(b.plan->text, stderr);
    if (good) {
        cuda_bench_array(&b, "x", EL_F32, 4096, true);
        cuda_bench_array(&b, "z", EL_F32, 8192, false);
        cuda_bench_int(&b, 37);
        good = cuda_bench_run(&b, 1, 1, 1) && cuda_bench_error(&b, 1, c->bound) <= 1;
        if (c->must && !strstr(b.plan->text, c->must)) good = false;
    }
    cuda_bench_close(&b);
    return good;
}

static void test_cases(void) {
    for (size_t i = 0; i < sizeof ops_cases / sizeof *ops_cases; i++)
        for (int w = 0; w < 3 && ops_cases[i].warps[w]; w++) {
            if (!check_chosen()) continue;
            bool good = runs(&ops_cases[i], ops_cases[i].warps[w]);
            CHECK(good);
            if (!good) fprintf(stderr, "  %s on %d warps\n", ops_cases[i].name, ops_cases[i].warps[w]);
        }
}

/* Products of every kind that a matrix instruction multiplies: type, precision, B as it lies or transposed. */
typedef struct DotCase {
    const char *machine, *type, *sum, *attr;
    int warps, m, n, k;
    bool turned_a, turned_b;
    double bound;
    const char *must;
} DotCase;

static void test_dots(void) {
    static const DotCase dots[] = {
        {"cuda:sm_90a", "f32", "f32", "<prec=tf32>", 4, 64, 64, 32, false, true, 1e-5, "tw_wgmma_ss_64_tf32_00"},
        {"cuda:sm_90a", "f32", "f32", "<prec=tf32>", 8, 128, 40, 20, false, true, 1e-5, "tw_wgmma_ss_40_tf32_00"},
        {"cuda:sm_90a", "f32", "f32", "<prec=tf32>", 4, 64, 64, 32, false, false, 1e-5, "tw_mma_tf32"},
        {"cuda:sm_80", "f32", "f32", "<prec=tf32>", 2, 20, 33, 12, true, false, 1e-5, "tw_mma_tf32"},
        {"cuda:sm_90a", "f32", "f32", "<prec=ieee>", 4, 64, 64, 16, false, true, 1e-5, "tw_fma"},
        {"cuda:sm_90a", "f32", "f32", "<prec=tf32x3>", 4, 32, 32, 32, false, false, 1e-5, "tw_mma_tf32"},
        {"cuda:sm_90a", "f32", "f32", "<prec=bf16x3>", 4, 64, 32, 32, false, false, 1e-4, "tw_wgmma_ss_32_bf16"},
        {"cuda:sm_80", "f32", "f32", "<prec=bf16x6>", 4, 32, 32, 32, false, false, 1e-5, "tw_mma_bf16"},
        {"cuda:sm_90a", "f8e4m3", "f32", "", 4, 64, 64, 64, false, true, 1e-5, "tw_wgmma_ss_64_e4m3_00"},
        {"cuda:sm_90a", "f8e5m2", "f32", "", 4, 128, 32, 40, false, true, 1e-5, "tw_wgmma_ss_32_e5m2_00"},
        {"cuda:sm_90a", "f8e5m2", "f32", "<promote=32>", 8, 128, 40, 72, false, true, 1e-5, "from++)"},
        {"cuda:sm_90a", "f8e4m3", "f32", "<promote=48>", 4, 64, 200, 96, false, true, 1e-5, "from += 2)"},
        {"cuda:sm_90a", "f8e4m3", "f32", "<promote=0>", 4, 64, 64, 64, false, true, 1e-5, "tw_mma_e4m3"},
        {"cuda:sm_90a", "f8e4m3", "f16", "<promote=32>", 4, 64, 64, 72, false, true, 2e-3, "kk < 3;"},
        {"cuda:sm_89", "f8e4m3", "f32", "<promote=32>", 4, 32, 32, 48, false, false, 1e-5, "tw_mma_e4m3"},
        {"cuda:sm_89", "f8e4m3", "f32", "", 4, 32, 32, 48, false, false, 1e-5, "tw_mma_e4m3"},
        {"cuda:sm_89", "f8e5m2", "f32", "", 4, 32, 24, 64, true, true, 1e-5, "tw_mma_e5m2"},
        {"cuda:sm_80", "f8e4m3", "f32", "", 4, 32, 32, 32, false, false, 1e-5, "tw_mma_f16"},
        {"cuda:sm_90a", "f8e4b15", "f32", "", 4, 64, 32, 32, false, false, 1e-5, "tw_wgmma_ss_32_f16"},
        {"cuda:sm_90a", "i8", "i32", "", 4, 64, 48, 64, false, true, 1e-9, "tw_wgmma_ss_48_s8_00"},
        {"cuda:sm_80", "u8", "i32", "", 4, 32, 40, 33, false, false, 1e-9, "tw_mma_u8"},
        {"cuda:sm_80", "i8", "i32", "", 1, 16, 8, 32, true, true, 1e-9, "tw_mma_s8"},
        {"cuda:sm_90a", "u16", "u32", "", 4, 16, 16, 16, false, false, 1e-9, "tw_mul"},
        {"cuda:sm_90a", "i16", "i32", "", 4, 16, 16, 16, false, false, 1e-9, "tw_mul"},
        {"cuda:sm_90a", "f16", "f16", "", 16, 64, 64, 32, false, false, 2e-3, "tw_wgmma"},
        {"cuda:sm_90a", "f64", "f64", "", 4, 16, 16, 16, false, false, 1e-5, "tw_fma"},
    };
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
        const DotCase *c = &dots[i];
        bool exact = strcmp(c->attr, "<prec=tf32>") == 0; /* rounded before: what tf32 keeps is all there is */
        char text[4096];
        snprintf(text, sizeof text,
                 "kernel @k(%%x, %%z: *f32, %%n: i32) {\n"
                 "  %%A = tensor %%x, [none, none], [%d, 1] ; %%y = ptr_add %%x, 8192 ; %%B = tensor %%y, [none, none], [%d, 1]\n"
                 "  %%Z = tensor %%z, [none, none], [%d, 1] ; %%a0 = tload<nocheck> %%A, [0, 0] : f32[%d,%d] ; %%b0 = tload<nocheck> %%B, [0, 0] : f32[%d,%d]\n"
                 "  %%as = mul %%a0, %s ; %%bs = mul %%b0, %s ; %%a1 = cast %%as : %s[%d,%d] ; %%b1 = cast %%bs : %s[%d,%d]\n"
                 "  %%a2 = cast %%a1 : %s[%d,%d] ; %%b2 = cast %%b1 : %s[%d,%d] %s %s\n"
                 "  %%c0 = iota<0, %d> ; %%c1 = cast %%c0 : %s[%d] ; %%c2 = expand<0> %%c1 ; %%c = broadcast %%c2 : %s[%d,%d]\n"
                 "  %%d = dot%s %s, %s, %%c ; %%f = cast %%d : f32[%d,%d] ; tstore<nocheck> %%Z, [0, 0], %%f ; return }\n",
                 c->turned_a ? c->m : c->k, c->turned_b ? c->k : c->n, c->n, c->turned_a ? c->k : c->m, c->turned_a ? c->m : c->k,
                 c->turned_b ? c->n : c->k, c->turned_b ? c->k : c->n, c->sum[0] != 'f' ? "10.0" : "1.0", c->sum[0] != 'f' ? "10.0" : "0.5",
                 exact ? "bf16" : c->type, c->turned_a ? c->k : c->m, c->turned_a ? c->m : c->k, exact ? "bf16" : c->type,
                 c->turned_b ? c->n : c->k, c->turned_b ? c->k : c->n, c->type, c->turned_a ? c->k : c->m, c->turned_a ? c->m : c->k, c->type,
                 c->turned_b ? c->n : c->k, c->turned_b ? c->k : c->n, c->turned_a ? "; %a = permute<dims=[1,0]> %a2" : "",
                 c->turned_b ? "; %b = permute<dims=[1,0]> %b2" : "", c->n, c->sum, c->n, c->sum, c->m, c->n, c->attr,
                 c->turned_a ? "%a" : "%a2", c->turned_b ? "%b" : "%b2", c->m, c->n);
        CudaBench b;
        PassOptions options = pass_options_default;
        options.num_warps = c->warps;
        bool good = cuda_bench_open(&b, text, c->machine, options);
        if (good && getenv("SHOW") && atoi(getenv("SHOW")) == (int)i + 1) fputs(b.plan->text, stderr);
        bool uses = good && strstr(b.plan->text, c->must);
        if (good) {
            cuda_bench_array(&b, "x", EL_F32, 32768, true);
            cuda_bench_array(&b, "z", EL_F32, 16384, false);
            cuda_bench_int(&b, 37);
            good = cuda_bench_run(&b, 1, 1, 1) && cuda_bench_error(&b, 1, c->bound) <= 1;
        }
        cuda_bench_close(&b);
        CHECK(good && uses);
        if (!good || !uses) fprintf(stderr, "  dot %d, %s%s on %s%s\n", (int)i + 1, c->type, c->attr, c->machine, uses ? "" : ", by another instruction");
    }
}

static void test_speech(void) {
    static const char text[] =
        "kernel @talk(%x: *f32, %n: i32) {\n"
        "  %i = iota<0, 12> ; %j = add %i, %n ; print<message=\"j\"> %j ; print<message=\"n: \"> %n, %n ; print<message=\"100%\"> ; print<message=n, hex> %n\n"
        "  %c = cmp<lt> %i, %n ; assert<message=\"small\"> %c ; return }\n";
    for (int n = 100; n >= 5; n -= 95) {
        CudaBench b;
        if (!cuda_bench_open(&b, text, "cuda:sm_90a", (PassOptions){.num_warps = 4})) {
            CHECK(false);
            return;
        }
        cuda_bench_array(&b, "x", EL_F32, 4, false);
        cuda_bench_int(&b, n);
        int64_t grid[3] = {1, 1, 1};
        bool good = cuda_bench_emulate(&b, cuda_bench_compile(&b), grid);
        CHECK(good == (n == 100));
        const char *said = b.report.output;
        if (n == 100) {
            CHECK(said && strstr(said, "pid (0, 0, 0) idx (11) j: 111\n") && strstr(said, "idx ( 2) j: 102\n"));
            CHECK(said && strstr(said, "idx () n: (operand 1) 100\n") && strstr(said, "pid (0, 0, 0) 100%\n") && strstr(said, "idx () n: 0x00000064\n"));
        } else
            CHECK(strstr(b.report.text, "test.tir:3: assertion failed: small"));
        cuda_bench_close(&b);
    }
}

int main(void) {
    cuda_bench_begin();
    if (cuda_bench_have("c++")) {
        test_cases();
        test_dots();
        test_speech();
    } else {
        printf("skipped: no C++ compiler\n");
    }
    cuda_bench_end();
    return check_done();
}
