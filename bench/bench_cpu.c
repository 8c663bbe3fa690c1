/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cpu.c: kernels of kernels/triton on the CPU target against what else this machine has.
 *
 *     make bench
 *     build/bench_cpu --only gemm --quick
 *
 * Ours and the rivals work in turns on random data, once each a round, and a row gives the medians
 * of all rounds: whatever else the machine does meets all alike. `ratio` is the rival's time by
 * ours, so above 1 we are faster; `bar` is what it should reach. Results are compared before
 * anything is timed. With --loaded (other work on the machine) a row gives the least of all rounds
 * instead of the median, and single threads count their own time instead of the clock's. Rows that
 * need a library which is not there say so. */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- elementwise --- */

static double hand_elementwise(Row *row, int threads) {
    (void)threads;
    void *x = tw_buffer_data(row->arrays[0]), *y = tw_buffer_data(row->arrays[1]);
    void *z = row->array_count > 3 ? tw_buffer_data(row->arrays[2]) : NULL;
    int64_t n = tw_buffer_elements(row->arrays[0]);
    bool small = tw_buffer_dtype(row->arrays[0]) == TW_BF16;
    if (small && z)
        hand_fma_bf16(x, y, z, row->spare[0], n);
    else if (small)
        hand_add_bf16(x, y, row->spare[0], n);
    else if (z)
        hand_fma_f32(x, y, z, row->spare[0], n);
    else
        hand_add_f32(x, y, row->spare[0], n);
    return 0;
}

static double elementwise_error(Row *row) {
    tw_buffer *out = row->arrays[row->array_count - 1];
    int64_t n = tw_buffer_elements(out), wrong = 0;
    if (tw_buffer_dtype(out) == TW_F32) return bench_error(bench_floats(out), row->spare[0], n);
    const uint16_t *got = tw_buffer_data(out), *want = row->spare[0];
    for (int64_t i = 0; i < n; i++) wrong += abs(got[i] - want[i]) > 1;
    return (double)wrong;
}

static void elementwise(const char *name, bool three, int32_t dtype) {
    if (!bench_wants(name)) return;
    int64_t n = INT64_C(1) << 24, bytes = (int64_t)tw_dtype_size(dtype);
    Row row = {.name = name, .unit = "GB/s", .error = elementwise_error, .tolerance = 1e-6};
    ours_load(&row.ours, three ? "kernels/triton/fma.py" : "kernels/triton/add.py",
         three ? "fma_kernel" : "add_kernel");
    row_give(&row, "x_ptr", bench_array(dtype, 1, n, 0, 0, true));
    row_give(&row, "y_ptr", bench_array(dtype, 1, n, 0, 0, true));
    if (three) row_give(&row, "z_ptr", bench_array(dtype, 1, n, 0, 0, true));
    row_give(&row, three ? "out_ptr" : "output_ptr", bench_array(dtype, 1, n, 0, 0, false));
    ours_int(&row.ours, three ? "n" : "n_elements", n);
    ours_int(&row.ours, three ? "BLOCK" : "BLOCK_SIZE", 1024);
    row.ours.grid[0] = n / 1024;
    row.work = (double)(n * bytes * (three ? 4 : 3));
    row.spare[0] = bench_room((size_t)(n * bytes));
    row.rivals[row.rival_count++] = (Rival){"C loop", NULL, 0.9, hand_elementwise};
    row_run(&row);
}

/* --- rows of a matrix --- */

static double hand_rows(Row *row, int threads) {
    (void)threads;
    tw_buffer *x = row->arrays[0];
    int64_t rows = tw_buffer_shape(x)[0], cols = tw_buffer_shape(x)[1];
    if (row->array_count == 2)
        hand_softmax(bench_floats(x), row->spare[0], rows, cols);
    else
        hand_layernorm(bench_floats(x), bench_floats(row->arrays[2]), bench_floats(row->arrays[3]), row->spare[0],
                       rows, cols, 1e-5f);
    return 0;
}

static double rows_error(Row *row) {
    return bench_error(bench_floats(row->arrays[1]), row->spare[0], tw_buffer_elements(row->arrays[1]));
}

static void matrix_rows(const char *name, bool norm, int64_t rows, int64_t cols) {
    if (!bench_wants(name)) return;
    Row row = {.name = name, .unit = "GB/s", .error = rows_error, .tolerance = 1e-5};
    ours_load(&row.ours, norm ? "kernels/triton/layernorm.py" : "kernels/triton/softmax.py",
         norm ? "layernorm_kernel" : "softmax_kernel");
    row_give(&row, norm ? "x_ptr" : "in_ptr", bench_array(TW_F32, 2, rows, cols, 0, true));
    row_give(&row, norm ? "y_ptr" : "out_ptr", bench_array(TW_F32, 2, rows, cols, 0, false));
    if (norm) {
        row_give(&row, "w_ptr", bench_array(TW_F32, 1, cols, 0, 0, true));
        row_give(&row, "b_ptr", bench_array(TW_F32, 1, cols, 0, 0, true));
        ours_int(&row.ours, "stride", cols);
        ours_float(&row.ours, "eps", 1e-5);
    } else {
        ours_int(&row.ours, "in_stride", cols);
        ours_int(&row.ours, "out_stride", cols);
    }
    ours_int(&row.ours, "n_cols", cols);
    ours_int(&row.ours, "BLOCK", cols);
    row.ours.grid[0] = rows;
    row.work = (double)(rows * cols * 8);
    row.spare[0] = bench_room((size_t)(rows * cols) * 4);
    snprintf(row.request, sizeof row.request, "%s %lld %lld", norm ? "layernorm" : "softmax",
             (long long)rows, (long long)cols);
    row.rivals[row.rival_count++] = (Rival){"three passes in C", NULL, 0.9, hand_rows};
    row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 1.0, row_torch};
    row_run(&row);
}

/* --- gemm --- */

static double run_openblas(Row *row, int threads) {
    openblas_gemm(&row->matrices, threads);
    return 0;
}
static double run_onednn(Row *row, int threads) {
    onednn_gemm(&row->matrices, threads);
    return 0;
}
static double gemm_error(Row *row) {
    return bench.no_openblas && bench.no_onednn ? 0
                                    : bench_error(bench_floats(row->arrays[2]), row->matrices.c,
                                                  tw_buffer_elements(row->arrays[2]));
}

static double run_onednn_bf16(Row *row, int threads) {
    onednn_gemm_bf16(&row->matrices, threads);
    return 0;
}

typedef struct GemmSize {
    const char *name;
    int64_t m, n, k, bm, bn, bk;
    double bar;
    bool small; /* bf16, with a sum of f32 */
} GemmSize;

static void gemm(const GemmSize *s) {
    if (!bench_wants(s->name)) return;
    Row row = {.name = s->name, .unit = "GF/s", .error = gemm_error, .tolerance = 1e-4};
    Ours *x = &row.ours;
    ours_load(x, "kernels/triton/matmul.py", "matmul_kernel");
    int32_t dtype = s->small ? TW_BF16 : TW_F32;
    tw_buffer *a = row_give(&row, "a_ptr", bench_array(dtype, 2, s->m, s->k, 0, true));
    tw_buffer *b = row_give(&row, "b_ptr", bench_array(dtype, 2, s->k, s->n, 0, true));
    row_give(&row, "c_ptr", bench_array(TW_F32, 2, s->m, s->n, 0, false));
    ours_int(x, "M", s->m), ours_int(x, "N", s->n), ours_int(x, "K", s->k);
    ours_int(x, "stride_am", s->k), ours_int(x, "stride_ak", 1);
    ours_int(x, "stride_bk", s->n), ours_int(x, "stride_bn", 1);
    ours_int(x, "stride_cm", s->n), ours_int(x, "stride_cn", 1);
    ours_int(x, "BM", s->bm), ours_int(x, "BN", s->bn), ours_int(x, "BK", s->bk);
    ours_int(x, "GROUP", 8);
    x->grid[0] = (s->m + s->bm - 1) / s->bm * ((s->n + s->bn - 1) / s->bn);
    row.work = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    row.inner = row.work < 1e6 ? 200 : row.work < 1e7 ? 40 : row.work < 1e8 ? 10 : 1;
    row.spare[0] = bench_room((size_t)(s->m * s->n) * 4);
    row.matrices = (Matrices){s->m, s->n, s->k, tw_buffer_data(a), tw_buffer_data(b), row.spare[0]};
    snprintf(row.request, sizeof row.request, "gemm %lld %lld %lld", (long long)s->m,
             (long long)s->n, (long long)s->k);
    if (s->small) {
        const char *absent = bench.no_onednn ? bench.no_onednn : onednn_no_bf16();
        row.rivals[row.rival_count++] = (Rival){"oneDNN", absent, s->bar, run_onednn_bf16};
    } else {
        row.rivals[row.rival_count++] = (Rival){"OpenBLAS", bench.no_openblas, s->bar, run_openblas};
        row.rivals[row.rival_count++] = (Rival){"oneDNN", bench.no_onednn, 0, run_onednn};
    }
    if (row.inner == 1 && !s->small)
        row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 0, row_torch};
    row_run(&row);
}

/* --- attention --- */

static void attention(const char *name, int64_t heads, int64_t n, int64_t d, bool causal) {
    const int64_t bm = causal ? 64 : 128; /* large blocks would look at more of what is not seen */
    if (!bench_wants(name)) return;
    Row row = {.name = name, .unit = "GF/s"};
    Ours *x = &row.ours;
    ours_load(x, "kernels/triton/attention.py", "attention_kernel");
    static const char *const arrays[] = {"q_ptr", "k_ptr", "v_ptr", "o_ptr"};
    for (int i = 0; i < 4; i++) row_give(&row, arrays[i], bench_array(TW_F32, 3, heads, n, d, i < 3));
    ours_float(x, "scale", 1 / sqrt((double)d));
    ours_int(x, "N", n), ours_int(x, "stride_h", n * d), ours_int(x, "stride_n", d);
    ours_int(x, "BM", bm), ours_int(x, "BN", 64), ours_int(x, "D", d);
    *ours_argument(x, "CAUSAL") = (tw_arg){.kind = TW_ARG_BOOL, .value.i = causal};
    x->grid[0] = (n + bm - 1) / bm, x->grid[1] = heads;
    row.work = 4.0 * (double)heads * (double)n * (double)n * (double)d / (causal ? 2 : 1);
    snprintf(row.request, sizeof row.request, "attention %lld %lld %lld %d", (long long)heads,
             (long long)n, (long long)d, causal);
    row.rivals[row.rival_count++] = (Rival){"torch", bench.no_torch, 1.0, row_torch};
    row_run(&row);
}

/* --- times that are no ratios --- */

static void measure(const char *name, double value, const char *unit, double limit) {
    printf("%-26s %10.2f %-4s (limit %g%s)\n", name, value, unit, limit,
           value > limit ? ", ABOVE" : "");
    bench.missed += value > limit;
}

/* The time of a launch beyond its work: add over `programs` tiles of 1024, less the same in C. */
static void launch_row(const char *name, int64_t programs) {
    if (!bench_wants(name)) return;
    enum { COUNT = 10000 };
    static double ours[COUNT], theirs[COUNT];
    Row row = {.name = name};
    int64_t n = programs * 1024;
    ours_load(&row.ours, "kernels/triton/add.py", "add_kernel");
    row_give(&row, "x_ptr", bench_array(TW_F32, 1, n, 0, 0, true));
    row_give(&row, "y_ptr", bench_array(TW_F32, 1, n, 0, 0, true));
    row_give(&row, "output_ptr", bench_array(TW_F32, 1, n, 0, 0, false));
    ours_int(&row.ours, "n_elements", n), ours_int(&row.ours, "BLOCK_SIZE", 1024);
    row.ours.grid[0] = programs;
    ours_compile(&row.ours);
    hand_threads(1);
    for (int i = 0; i < COUNT; i++) {
        double start = bench_now();
        ours_launch(&row.ours, 2);
        ours[i] = bench_now() - start;
    }
    for (int i = 0; i < COUNT; i++) {
        double start = bench_now();
        hand_add_f32(bench_floats(row.arrays[0]), bench_floats(row.arrays[1]), bench_floats(row.arrays[2]), n);
        theirs[i] = bench_now() - start;
    }
    measure(name, (bench_median(ours, COUNT) - bench_median(theirs, COUNT)) * 1e6, "us", 2);
    ours_unload(&row.ours);
    for (int i = 0; i < row.array_count; i++) tw_buffer_destroy(row.arrays[i]);
}

/* From a text to a first result, without a cache: a process of its own, so that nothing is warm. */
static void in_child(void (*work)(double *result), double *result, int count) {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_t child = fork();
    if (child == 0) {
        work(result);
        bool ok = write(ends[1], result, sizeof *result * (size_t)count) > 0;
        _exit(!ok);
    }
    close(ends[1]);
    if (read(ends[0], result, sizeof *result * (size_t)count) < 0) result[0] = -1;
    close(ends[0]);
    waitpid(child, NULL, 0);
}

static void cold_add(double *result) {
    tw_context_options how;
    tw_context_options_init(&how);
    how.cache_dir = "";
    double start = bench_now();
    bench_must(tw_context_create(&how, &bench.context));
    Ours x;
    ours_load(&x, "kernels/triton/add.py", "add_kernel");
    static const char *const names[] = {"x_ptr", "y_ptr", "output_ptr"};
    for (int i = 0; i < 3; i++) ours_array(&x, names[i], bench_array(TW_F32, 1, 4096, 0, 0, false));
    ours_int(&x, "n_elements", 4096), ours_int(&x, "BLOCK_SIZE", 1024);
    x.grid[0] = 4;
    tw_compile_options compile_how;
    tw_compile_options_init(&compile_how);
    compile_how.args = x.args, compile_how.arg_count = x.count;
    bench_must(tw_kernel_compile(x.module, "add_kernel", &compile_how, &x.kernel[0]));
    ours_launch(&x, 1);
    result[0] = (bench_now() - start) * 1e3;
    result[1] = 0;
    tw_pass_info info = {.struct_size = sizeof info};
    for (size_t i = 0; tw_kernel_pass_at(x.kernel[0], i, &info) == TW_OK; i++)
        if (strcmp(info.name, "build") != 0) result[1] += info.seconds * 1e3;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result[2] = (double)usage.ru_maxrss / 1024;
}

static void cold_row(void) {
    if (!bench_wants("cold")) return;
    double sample[3], at[3][BENCH_ROUNDS];
    int rounds = bench.quick ? 3 : 9;
    for (int i = 0; i < rounds; i++) {
        in_child(cold_add, sample, 3);
        for (int v = 0; v < 3; v++) at[v][i] = sample[v];
    }
    measure("cold add to a result", bench_median(at[0], rounds), "ms", 150);
    measure("cold front end + passes", bench_median(at[1], rounds), "ms", 5);
    measure("cold memory of the process", bench_median(at[2], rounds), "MB", 50);
}

/* --- main --- */

static bool parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            bench.quick = true;
        else if (strcmp(argv[i], "--loaded") == 0)
            bench.loaded = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            bench.only = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    static const GemmSize sizes[] = {
        {"gemm 64", 64, 64, 64, 64, 64, 64, 0.75, false},
        {"gemm 128", 128, 128, 128, 64, 128, 64, 0.95, false},
        {"gemm 256", 256, 256, 256, 128, 128, 64, 0.95, false},
        {"gemm 512", 512, 512, 512, 128, 256, 64, 0.92, false},
        {"gemm 1024", 1024, 1024, 1024, 128, 256, 64, 0.92, false},
        {"gemm 2048", 2048, 2048, 2048, 128, 256, 64, 0.92, false},
        {"gemm 1000x777x1234", 1000, 777, 1234, 128, 256, 64, 0.92, false},
        {"gemm bf16 512", 512, 512, 512, 128, 256, 64, 0.95, true},
        {"gemm bf16 1024", 1024, 1024, 1024, 128, 256, 64, 0.95, true},
        {"gemm bf16 2048", 2048, 2048, 2048, 128, 256, 64, 0.95, true},
        {"gemm bf16 1000x777x1234", 1000, 777, 1234, 128, 256, 64, 0.95, true},
    };
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: bench_cpu [--only NAME] [--quick] [--loaded]\n");
        return 2;
    }
    cold_row();                              /* first: no thread and no library is there yet */
    setenv("OMP_WAIT_POLICY", "passive", 1); /* oneDNN's threads would spin in everybody's time */
    setenv("GOMP_SPINCOUNT", "0", 1);
    bench.no_torch = torch_open(), bench.no_openblas = openblas_open(), bench.no_onednn = onednn_open();
    bench_must(tw_context_create(NULL, &bench.context));
    launch_row("launch of 2 programs", 2);
    launch_row("launch of 64 programs", 64);
    bench_heading();
    elementwise("add f32 2^24", false, TW_F32);
    elementwise("add bf16 2^24", false, TW_BF16);
    elementwise("x*y+z f32 2^24", true, TW_F32);
    elementwise("x*y+z bf16 2^24", true, TW_BF16);
    matrix_rows("softmax 4096x1024 f32", false, 4096, 1024);
    matrix_rows("layernorm 4096x1024 f32", true, 4096, 1024);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) gemm(&sizes[i]);
    attention("attention 8x2048x64 f32", 8, 2048, 64, false);
    attention("attention causal f32", 8, 2048, 64, true);
    bench_moves();
    if (bench.missed) printf("%d below their bar\n", bench.missed);
    tw_context_destroy(bench.context);
    rivals_close();
    return 0;
}
