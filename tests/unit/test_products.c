/* SPDX-License-Identifier: Apache-2.0 */
/* test_products.c: loops of products of odd shapes, transposed either way, on every machine of the emulator, against the
 * interpreter. The shapes leave warps without a part of the sum, parts that begin outside of the tile, one step along K
 * a trip, and sums that have no room in shared memory on their way to the product. */
#include "cuda_bench.h"

typedef struct ProductCase {
    const char *machine, *type, *sum, *attr;
    int warps, m, n, k, trips; /* k: of a trip */
    bool turned_a, turned_b;
    const char *must; /* in the text */
    double bound;
} ProductCase;

static Elem elem_of(const char *text) {
    for (int e = 0; e < EL_COUNT; e++)
        if (strcmp(elem_info[e].text, text) == 0) return (Elem)e;
    exit(1);
}

static void write_kernel(const ProductCase *c, char *text, size_t size) {
    const char *t = c->type, *ka = c->turned_a ? "%kk, 0" : "0, %kk", *kb = c->turned_b ? "0, %kk" : "%kk, 0";
    int depth = c->k * c->trips, a[2] = {c->turned_a ? c->k : c->m, c->turned_a ? c->m : c->k},
        b[2] = {c->turned_b ? c->n : c->k, c->turned_b ? c->k : c->n};
    snprintf(text, size,
             "kernel @k(%%A, %%B: *%s, %%C: *%s) {\n"
             "  %%TA = tensor %%A, [%d, %d], [%d, 1] ; %%TB = tensor %%B, [%d, %d], [%d, 1] ; %%TC = tensor %%C, [%d, %d], [%d, 1]\n"
             "  %%z = tload %%TC, [0, 0] : %s[%d,%d]\n"
             "  %%s = for %%i = 0, %d, 1 (%%acc = %%z) { %%kk = mul %%i, %d\n"
             "    %%a = tload %%TA, [%s] : %s[%d,%d] ; %%b = tload %%TB, [%s] : %s[%d,%d] %s %s\n"
             "    %%d = dot%s %s, %s, %%acc ; yield %%d }\n"
             "  tstore %%TC, [0, 0], %%s ; return }\n",
             t, c->sum, c->turned_a ? depth : c->m, c->turned_a ? c->m : depth, c->turned_a ? c->m : depth, c->turned_b ? c->n : depth,
             c->turned_b ? depth : c->n, c->turned_b ? depth : c->n, c->m, c->n, c->n, c->sum, c->m, c->n, c->trips, c->k, ka, t, a[0],
             a[1], kb, t, b[0], b[1], c->turned_a ? "; %at = permute<dims=[1,0]> %a" : "", c->turned_b ? "; %bt = permute<dims=[1,0]> %b" : "",
             c->attr, c->turned_a ? "%at" : "%a", c->turned_b ? "%bt" : "%b");
}

int main(void) {
    static const ProductCase cases[] = {
        {"cuda:sm_80", "i8", "i32", "", 1, 33, 9, 32, 4, false, true, "tw_mma_s8", 1e-9},
        {"cuda:sm_80", "f16", "f32", "", 8, 65, 9, 16, 3, false, false, "tw_mma_f16", 1e-5},
        {"cuda:sm_80", "f32", "f32", "<prec=tf32x3>", 4, 17, 24, 20, 2, true, false, "tw_mma_tf32", 1e-5},
        {"cuda:sm_89", "i8", "i32", "", 4, 200, 136, 33, 1, true, true, "tw_mma_s8", 1e-9},
        {"cuda:sm_90a", "f16", "f32", "", 2, 33, 9, 16, 4, false, true, "tw_mma_f16", 1e-5},
        {"cuda:sm_90a", "bf16", "f32", "", 4, 130, 72, 24, 3, true, true, "tw_wgmma_ss_72_bf16_10", 1e-5},
        {"cuda:sm_90a", "i8", "i32", "", 8, 96, 40, 48, 2, false, true, "tw_mma_s8", 1e-9},
        {"cuda:sm_100", "bf16", "f32", "", 4, 48, 40, 40, 3, true, false, "tw_mma_bf16", 1e-5},
    };
    cuda_bench_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ProductCase *c = &cases[i];
        if (!check_chosen()) continue;
        CudaBench b;
        char text[4096];
        PassOptions options = pass_options_default;
        options.num_warps = c->warps;
        write_kernel(c, text, sizeof text);
        bool good = cuda_bench_open(&b, text, c->machine, options);
        bool uses = good && strstr(b.plan->text, c->must);
        if (good) {
            cuda_bench_array(&b, "A", elem_of(c->type), (int64_t)c->m * c->k * c->trips, true);
            cuda_bench_array(&b, "B", elem_of(c->type), (int64_t)c->n * c->k * c->trips, true);
            cuda_bench_array(&b, "C", elem_of(c->sum), (int64_t)c->m * c->n, true);
            good = cuda_bench_run(&b, 1, 1, 1) && cuda_bench_error(&b, 2, c->bound) <= 1;
        }
        CHECK(good && uses);
        if (!good || !uses) fprintf(stderr, "  product %d, %s on %s%s\n", (int)i + 1, c->type, c->machine, uses ? "" : ", by another instruction");
        cuda_bench_close(&b);
    }
    cuda_bench_end();
    return check_done();
}
