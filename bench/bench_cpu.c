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
#include "tilewright.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ARGS = 24, MAX_ROUNDS = 101, MAX_THREADS = 2 };

typedef struct Options {
    const char *only;
    bool quick, loaded;
} Options;
static Options options;
static tw_context *context;
static const char *no_openblas, *no_onednn, *no_torch;
static int missed; /* rows below their bar */

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool bench_own_time(int threads) {
    return options.loaded && threads == 1;
}

static double clock_of(int threads) {
    struct timespec t;
    if (!bench_own_time(threads)) return bench_now();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "bench: %s\n", context ? tw_context_message(context) : tw_status_text(status));
    exit(1);
}

/* --- our side --- */

typedef struct Ours {
    tw_module *module;
    tw_kernel *kernel[MAX_THREADS]; /* for 1, 2 threads */
    size_t index;
    tw_arg args[MAX_ARGS];
    size_t count;
    int64_t grid[3];
} Ours;

static void load(Ours *x, const char *path, const char *kernel) {
    *x = (Ours){.grid = {1, 1, 1}};
    must(tw_module_load_file(context, path, NULL, &x->module));
    x->index = tw_module_kernel_find(x->module, kernel);
    x->count = tw_module_param_count(x->module, x->index);
}

static tw_arg *argument(Ours *x, const char *name) {
    for (size_t i = 0; i < x->count; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        must(tw_module_param_at(x->module, x->index, i, &info));
        if (strcmp(info.name, name) == 0) return &x->args[i];
    }
    fprintf(stderr, "bench: no parameter %s\n", name);
    exit(1);
}

static void set_int(Ours *x, const char *name, int64_t value) {
    *argument(x, name) = (tw_arg){.kind = TW_ARG_INT, .value.i = value};
}
static void set_float(Ours *x, const char *name, double value) {
    *argument(x, name) = (tw_arg){.kind = TW_ARG_FLOAT, .value.f = value};
}
static void set_array(Ours *x, const char *name, tw_buffer *buffer) {
    *argument(x, name) = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffer};
}

static void compile(Ours *x) {
    for (int t = 0; t < MAX_THREADS; t++) {
        tw_pair how_to[] = {{"threads", t ? "2" : "1"}};
        tw_compile_options how;
        tw_compile_options_init(&how);
        how.args = x->args, how.arg_count = x->count;
        how.options = how_to, how.option_count = 1;
        must(tw_kernel_compile(x->module, tw_module_kernel_name(x->module, x->index), &how,
                               &x->kernel[t]));
    }
}

static void launch(Ours *x, int threads) {
    must(tw_kernel_launch(x->kernel[threads - 1], NULL, x->grid, x->args, x->count));
}

static void unload(Ours *x) {
    for (int t = 0; t < MAX_THREADS; t++) tw_kernel_destroy(x->kernel[t]);
    tw_module_destroy(x->module);
}

static uint64_t seed = 1;
static tw_buffer *array(int32_t dtype, int rank, int64_t a, int64_t b, int64_t c, bool random) {
    tw_buffer *buffer;
    int64_t shape[3] = {a, b, c};
    must(tw_buffer_create(context, dtype, rank, shape, NULL, &buffer));
    if (random) must(tw_buffer_fill(buffer, "randn", 0, seed++));
    return buffer;
}

/* --- a row --- */

typedef struct Row Row;
typedef struct Rival {
    const char *name;
    const char *absent; /* why it cannot run; NULL: it can */
    double bar;
    double (*run)(Row *row, int threads); /* seconds of its own, or 0: the clock around it counts */
} Rival;

struct Row {
    const char *name;
    Ours ours;
    double work; /* bytes or flops of one run */
    const char *unit;
    Rival rivals[4];
    int rival_count;
    double (*error)(Row *row); /* of our result against the first rival's; NULL: not compared */
    double tolerance;
    tw_buffer *arrays[8];
    int array_count;
    void *spare[2]; /* the rivals' outputs */
    Matrices matrices;
    char request[64]; /* to torch */
    int inner;        /* runs a timing, for short work */
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; on a loaded machine the least, which the others disturbed least. */
static double median(double *at, int count) {
    qsort(at, (size_t)count, sizeof *at, by_value);
    if (options.loaded) return at[0];
    return count % 2 ? at[count / 2] : (at[count / 2 - 1] + at[count / 2]) / 2;
}

/* One run of a rival, or (NULL) of ours. */
static double run_once(Row *row, const Rival *rival, int threads) {
    if (rival) return rival->run(row, threads);
    launch(&row->ours, threads);
    return 0;
}

/* Lets everybody's threads fall asleep (OpenBLAS's spin for 20 ms after their work, on a core that
 * the next one needs); then runs that are not counted wake those whose turn it is, until the system
 * has spread them over the cores. */
static double time_turn(Row *row, const Rival *rival, int threads) {
    const struct timespec moment = {.tv_nsec = 30000000};
    if (threads > 1) {
        nanosleep(&moment, NULL);
        for (double begin = bench_now(); bench_now() - begin < 0.02;) run_once(row, rival, threads);
    }
    double start = clock_of(threads), own = 0;
    for (int i = 0; i < row->inner; i++) own += run_once(row, rival, threads);
    return (own > 0 ? own : clock_of(threads) - start) / row->inner;
}

static void heading(void) {
    printf("%-26s %7s %10s %14s  %-22s %10s %7s %6s\n", "row", "threads", "ours", "rate", "rival",
           "rival", "ratio", "bar");
}

static void print_time(double s) {
    if (s < 1e-3)
        printf("%8.1fus", s * 1e6);
    else
        printf("%8.2fms", s * 1e3);
}

static void run_row(Row *row) {
    double ours[MAX_ROUNDS], theirs[4][MAX_ROUNDS];
    int rounds = options.quick ? 5 : 21;
    if (!row->inner) row->inner = 1;
    compile(&row->ours);
    for (int threads = 1; threads <= MAX_THREADS; threads++) {
        hand_threads(threads);
        for (int warm = 0; warm < 2; warm++) {
            launch(&row->ours, threads);
            for (int r = 0; r < row->rival_count; r++)
                if (!row->rivals[r].absent) row->rivals[r].run(row, threads);
        }
        if (row->error && !row->rivals[0].absent) {
            double error = row->error(row);
            if (!(error <= row->tolerance))
                printf("%-26s WRONG: differs from %s by %g\n", row->name, row->rivals[0].name,
                       error);
        }
        for (int n = 0; n < rounds; n++) {
            ours[n] = time_turn(row, NULL, threads);
            for (int r = 0; r < row->rival_count; r++)
                if (!row->rivals[r].absent) theirs[r][n] = time_turn(row, &row->rivals[r], threads);
        }
        double mine = median(ours, rounds);
        for (int r = 0; r < row->rival_count; r++) {
            const Rival *rival = &row->rivals[r];
            printf("%-26s %7d ", r ? "" : row->name, threads);
            print_time(mine);
            printf(" %8.1f %s  %-22s ", row->work / mine * 1e-9, row->unit, rival->name);
            if (rival->absent) {
                printf("absent: %s\n", rival->absent);
                continue;
            }
            double its = median(theirs[r], rounds), ratio = its / mine;
            print_time(its);
            printf(" %6.2fx", ratio);
            if (rival->bar > 0) printf(" %6.2f%s", rival->bar, ratio < rival->bar ? "  below" : "");
            printf("\n");
            if (rival->bar > 0 && ratio < rival->bar) missed++;
        }
        fflush(stdout);
    }
    unload(&row->ours);
    for (int i = 0; i < row->array_count; i++) tw_buffer_destroy(row->arrays[i]);
    for (int i = 0; i < 2; i++) free(row->spare[i]);
}

static bool wanted(const char *name) {
    return !options.only || strstr(name, options.only);
}

static tw_buffer *give(Row *row, const char *name, tw_buffer *buffer) {
    row->arrays[row->array_count++] = buffer;
    set_array(&row->ours, name, buffer);
    return buffer;
}

static float *floats(tw_buffer *buffer) {
    return tw_buffer_data(buffer);
}

static double float_error(const float *got, const float *want, int64_t n) {
    double most = 0, size = 1e-30;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        if (!(d <= most)) most = d;
        if (fabs(want[i]) > size) size = fabs(want[i]);
    }
    return most / size;
}

/* For a rival's output, which lies as ours do. */
static void *room(size_t bytes) {
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

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
    if (tw_buffer_dtype(out) == TW_F32) return float_error(floats(out), row->spare[0], n);
    const uint16_t *got = tw_buffer_data(out), *want = row->spare[0];
    for (int64_t i = 0; i < n; i++) wrong += abs(got[i] - want[i]) > 1;
    return (double)wrong;
}

static void elementwise(const char *name, bool three, int32_t dtype) {
    if (!wanted(name)) return;
    int64_t n = INT64_C(1) << 24, bytes = (int64_t)tw_dtype_size(dtype);
    Row row = {.name = name, .unit = "GB/s", .error = elementwise_error, .tolerance = 1e-6};
    load(&row.ours, three ? "kernels/triton/fma.py" : "kernels/triton/add.py",
         three ? "fma_kernel" : "add_kernel");
    give(&row, "x_ptr", array(dtype, 1, n, 0, 0, true));
    give(&row, "y_ptr", array(dtype, 1, n, 0, 0, true));
    if (three) give(&row, "z_ptr", array(dtype, 1, n, 0, 0, true));
    give(&row, three ? "out_ptr" : "output_ptr", array(dtype, 1, n, 0, 0, false));
    set_int(&row.ours, three ? "n" : "n_elements", n);
    set_int(&row.ours, three ? "BLOCK" : "BLOCK_SIZE", 1024);
    row.ours.grid[0] = n / 1024;
    row.work = (double)(n * bytes * (three ? 4 : 3));
    row.spare[0] = room((size_t)(n * bytes));
    row.rivals[row.rival_count++] = (Rival){"C loop", NULL, 0.9, hand_elementwise};
    run_row(&row);
}

/* --- rows of a matrix --- */

static double torch_request(Row *row, int threads) {
    double seconds = torch_run(row->request, threads);
    if (seconds >= 0) return seconds;
    fprintf(stderr, "bench: torch is gone\n");
    exit(1);
}

static double hand_rows(Row *row, int threads) {
    (void)threads;
    tw_buffer *x = row->arrays[0];
    int64_t rows = tw_buffer_shape(x)[0], cols = tw_buffer_shape(x)[1];
    if (row->array_count == 2)
        hand_softmax(floats(x), row->spare[0], rows, cols);
    else
        hand_layernorm(floats(x), floats(row->arrays[2]), floats(row->arrays[3]), row->spare[0],
                       rows, cols, 1e-5f);
    return 0;
}

static double rows_error(Row *row) {
    return float_error(floats(row->arrays[1]), row->spare[0], tw_buffer_elements(row->arrays[1]));
}

static void matrix_rows(const char *name, bool norm, int64_t rows, int64_t cols) {
    if (!wanted(name)) return;
    Row row = {.name = name, .unit = "GB/s", .error = rows_error, .tolerance = 1e-5};
    load(&row.ours, norm ? "kernels/triton/layernorm.py" : "kernels/triton/softmax.py",
         norm ? "layernorm_kernel" : "softmax_kernel");
    give(&row, norm ? "x_ptr" : "in_ptr", array(TW_F32, 2, rows, cols, 0, true));
    give(&row, norm ? "y_ptr" : "out_ptr", array(TW_F32, 2, rows, cols, 0, false));
    if (norm) {
        give(&row, "w_ptr", array(TW_F32, 1, cols, 0, 0, true));
        give(&row, "b_ptr", array(TW_F32, 1, cols, 0, 0, true));
        set_int(&row.ours, "stride", cols);
        set_float(&row.ours, "eps", 1e-5);
    } else {
        set_int(&row.ours, "in_stride", cols);
        set_int(&row.ours, "out_stride", cols);
    }
    set_int(&row.ours, "n_cols", cols);
    set_int(&row.ours, "BLOCK", cols);
    row.ours.grid[0] = rows;
    row.work = (double)(rows * cols * 8);
    row.spare[0] = room((size_t)(rows * cols) * 4);
    snprintf(row.request, sizeof row.request, "%s %lld %lld", norm ? "layernorm" : "softmax",
             (long long)rows, (long long)cols);
    row.rivals[row.rival_count++] = (Rival){"three passes in C", NULL, 0.9, hand_rows};
    row.rivals[row.rival_count++] = (Rival){"torch", no_torch, 1.0, torch_request};
    run_row(&row);
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
    return no_openblas && no_onednn ? 0
                                    : float_error(floats(row->arrays[2]), row->matrices.c,
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
    if (!wanted(s->name)) return;
    Row row = {.name = s->name, .unit = "GF/s", .error = gemm_error, .tolerance = 1e-4};
    Ours *x = &row.ours;
    load(x, "kernels/triton/matmul.py", "matmul_kernel");
    int32_t dtype = s->small ? TW_BF16 : TW_F32;
    tw_buffer *a = give(&row, "a_ptr", array(dtype, 2, s->m, s->k, 0, true));
    tw_buffer *b = give(&row, "b_ptr", array(dtype, 2, s->k, s->n, 0, true));
    give(&row, "c_ptr", array(TW_F32, 2, s->m, s->n, 0, false));
    set_int(x, "M", s->m), set_int(x, "N", s->n), set_int(x, "K", s->k);
    set_int(x, "stride_am", s->k), set_int(x, "stride_ak", 1);
    set_int(x, "stride_bk", s->n), set_int(x, "stride_bn", 1);
    set_int(x, "stride_cm", s->n), set_int(x, "stride_cn", 1);
    set_int(x, "BM", s->bm), set_int(x, "BN", s->bn), set_int(x, "BK", s->bk);
    set_int(x, "GROUP", 8);
    x->grid[0] = (s->m + s->bm - 1) / s->bm * ((s->n + s->bn - 1) / s->bn);
    row.work = 2.0 * (double)s->m * (double)s->n * (double)s->k;
    row.inner = row.work < 1e6 ? 200 : row.work < 1e7 ? 40 : row.work < 1e8 ? 10 : 1;
    row.spare[0] = room((size_t)(s->m * s->n) * 4);
    row.matrices = (Matrices){s->m, s->n, s->k, tw_buffer_data(a), tw_buffer_data(b), row.spare[0]};
    snprintf(row.request, sizeof row.request, "gemm %lld %lld %lld", (long long)s->m,
             (long long)s->n, (long long)s->k);
    if (s->small) {
        const char *absent = no_onednn ? no_onednn : onednn_no_bf16();
        row.rivals[row.rival_count++] = (Rival){"oneDNN", absent, s->bar, run_onednn_bf16};
    } else {
        row.rivals[row.rival_count++] = (Rival){"OpenBLAS", no_openblas, s->bar, run_openblas};
        row.rivals[row.rival_count++] = (Rival){"oneDNN", no_onednn, 0, run_onednn};
    }
    if (row.inner == 1 && !s->small)
        row.rivals[row.rival_count++] = (Rival){"torch", no_torch, 0, torch_request};
    run_row(&row);
}

/* --- attention --- */

static void attention(const char *name, int64_t heads, int64_t n, int64_t d, bool causal) {
    const int64_t bm = causal ? 64 : 128; /* large blocks would look at more of what is not seen */
    if (!wanted(name)) return;
    Row row = {.name = name, .unit = "GF/s"};
    Ours *x = &row.ours;
    load(x, "kernels/triton/attention.py", "attention_kernel");
    static const char *const arrays[] = {"q_ptr", "k_ptr", "v_ptr", "o_ptr"};
    for (int i = 0; i < 4; i++) give(&row, arrays[i], array(TW_F32, 3, heads, n, d, i < 3));
    set_float(x, "scale", 1 / sqrt((double)d));
    set_int(x, "N", n), set_int(x, "stride_h", n * d), set_int(x, "stride_n", d);
    set_int(x, "BM", bm), set_int(x, "BN", 64), set_int(x, "D", d);
    *argument(x, "CAUSAL") = (tw_arg){.kind = TW_ARG_BOOL, .value.i = causal};
    x->grid[0] = (n + bm - 1) / bm, x->grid[1] = heads;
    row.work = 4.0 * (double)heads * (double)n * (double)n * (double)d / (causal ? 2 : 1);
    snprintf(row.request, sizeof row.request, "attention %lld %lld %lld %d", (long long)heads,
             (long long)n, (long long)d, causal);
    row.rivals[row.rival_count++] = (Rival){"torch", no_torch, 1.0, torch_request};
    run_row(&row);
}

/* --- times that are no ratios --- */

static void measure(const char *name, double value, const char *unit, double limit) {
    printf("%-26s %10.2f %-4s (limit %g%s)\n", name, value, unit, limit,
           value > limit ? ", ABOVE" : "");
    missed += value > limit;
}

/* The time of a launch beyond its work: add over `programs` tiles of 1024, less the same in C. */
static void launch_row(const char *name, int64_t programs) {
    if (!wanted(name)) return;
    enum { COUNT = 10000 };
    static double ours[COUNT], theirs[COUNT];
    Row row = {.name = name};
    int64_t n = programs * 1024;
    load(&row.ours, "kernels/triton/add.py", "add_kernel");
    give(&row, "x_ptr", array(TW_F32, 1, n, 0, 0, true));
    give(&row, "y_ptr", array(TW_F32, 1, n, 0, 0, true));
    give(&row, "output_ptr", array(TW_F32, 1, n, 0, 0, false));
    set_int(&row.ours, "n_elements", n), set_int(&row.ours, "BLOCK_SIZE", 1024);
    row.ours.grid[0] = programs;
    compile(&row.ours);
    hand_threads(1);
    for (int i = 0; i < COUNT; i++) {
        double start = bench_now();
        launch(&row.ours, 2);
        ours[i] = bench_now() - start;
    }
    for (int i = 0; i < COUNT; i++) {
        double start = bench_now();
        hand_add_f32(floats(row.arrays[0]), floats(row.arrays[1]), floats(row.arrays[2]), n);
        theirs[i] = bench_now() - start;
    }
    measure(name, (median(ours, COUNT) - median(theirs, COUNT)) * 1e6, "us", 2);
    unload(&row.ours);
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
    must(tw_context_create(&how, &context));
    Ours x;
    load(&x, "kernels/triton/add.py", "add_kernel");
    static const char *const names[] = {"x_ptr", "y_ptr", "output_ptr"};
    for (int i = 0; i < 3; i++) set_array(&x, names[i], array(TW_F32, 1, 4096, 0, 0, false));
    set_int(&x, "n_elements", 4096), set_int(&x, "BLOCK_SIZE", 1024);
    x.grid[0] = 4;
    tw_compile_options compile_how;
    tw_compile_options_init(&compile_how);
    compile_how.args = x.args, compile_how.arg_count = x.count;
    must(tw_kernel_compile(x.module, "add_kernel", &compile_how, &x.kernel[0]));
    launch(&x, 1);
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
    if (!wanted("cold")) return;
    double sample[3], at[3][MAX_ROUNDS];
    int rounds = options.quick ? 3 : 9;
    for (int i = 0; i < rounds; i++) {
        in_child(cold_add, sample, 3);
        for (int v = 0; v < 3; v++) at[v][i] = sample[v];
    }
    measure("cold add to a result", median(at[0], rounds), "ms", 150);
    measure("cold front end + passes", median(at[1], rounds), "ms", 5);
    measure("cold memory of the process", median(at[2], rounds), "MB", 50);
}

/* --- main --- */

static bool parse(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            options.quick = true;
        else if (strcmp(argv[i], "--loaded") == 0)
            options.loaded = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            options.only = argv[++i];
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
    no_torch = torch_open(), no_openblas = openblas_open(), no_onednn = onednn_open();
    must(tw_context_create(NULL, &context));
    launch_row("launch of 2 programs", 2);
    launch_row("launch of 64 programs", 64);
    heading();
    elementwise("add f32 2^24", false, TW_F32);
    elementwise("add bf16 2^24", false, TW_BF16);
    elementwise("x*y+z f32 2^24", true, TW_F32);
    elementwise("x*y+z bf16 2^24", true, TW_BF16);
    matrix_rows("softmax 4096x1024 f32", false, 4096, 1024);
    matrix_rows("layernorm 4096x1024 f32", true, 4096, 1024);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) gemm(&sizes[i]);
    attention("attention 8x2048x64 f32", 8, 2048, 64, false);
    attention("attention causal f32", 8, 2048, 64, true);
    if (missed) printf("%d below their bar\n", missed);
    tw_context_destroy(context);
    rivals_close();
    return 0;
}
