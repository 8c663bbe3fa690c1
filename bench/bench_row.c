/* SPDX-License-Identifier: Apache-2.0 */
/* bench_row.c: one row of the table: ours and its rivals compiled, compared, timed in turns, printed (bench_cpu.c). */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

Bench bench;

double bench_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool bench_own_time(int threads) {
    return bench.loaded && threads == 1;
}

static double clock_of(int threads) {
    struct timespec t;
    if (!bench_own_time(threads)) return bench_now();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_must(tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "bench: %s\n", bench.context ? tw_context_message(bench.context) : tw_status_text(status));
    exit(1);
}

/* --- our side --- */

void ours_load(Ours *x, const char *path, const char *kernel) {
    *x = (Ours){.grid = {1, 1, 1}};
    bench_must(tw_module_load_file(bench.context, path, NULL, &x->module));
    x->index = tw_module_kernel_find(x->module, kernel);
    x->count = tw_module_param_count(x->module, x->index);
}

tw_arg *ours_argument(Ours *x, const char *name) {
    for (size_t i = 0; i < x->count; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        bench_must(tw_module_param_at(x->module, x->index, i, &info));
        if (strcmp(info.name, name) == 0) return &x->args[i];
    }
    fprintf(stderr, "bench: no parameter %s\n", name);
    exit(1);
}

void ours_int(Ours *x, const char *name, int64_t value) {
    *ours_argument(x, name) = (tw_arg){.kind = TW_ARG_INT, .value.i = value};
}
void ours_float(Ours *x, const char *name, double value) {
    *ours_argument(x, name) = (tw_arg){.kind = TW_ARG_FLOAT, .value.f = value};
}
void ours_array(Ours *x, const char *name, tw_buffer *buffer) {
    *ours_argument(x, name) = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffer};
}

void ours_compile(Ours *x) {
    for (int t = 0; t < BENCH_THREADS; t++) {
        tw_pair how_to[] = {{"threads", t ? "2" : "1"}};
        tw_compile_options how;
        tw_compile_options_init(&how);
        how.args = x->args, how.arg_count = x->count;
        how.options = how_to, how.option_count = 1;
        bench_must(tw_kernel_compile(x->module, tw_module_kernel_name(x->module, x->index), &how,
                               &x->kernel[t]));
    }
}

void ours_launch(Ours *x, int threads) {
    bench_must(tw_kernel_launch(x->kernel[threads - 1], NULL, x->grid, x->args, x->count));
}

void ours_unload(Ours *x) {
    for (int t = 0; t < BENCH_THREADS; t++) tw_kernel_destroy(x->kernel[t]);
    tw_module_destroy(x->module);
}

static uint64_t seed = 1;
tw_buffer *bench_array(int32_t dtype, int rank, int64_t a, int64_t b, int64_t c, bool random) {
    tw_buffer *buffer;
    int64_t shape[3] = {a, b, c};
    bench_must(tw_buffer_create(bench.context, dtype, rank, shape, NULL, &buffer));
    if (random) bench_must(tw_buffer_fill(buffer, "randn", 0, seed++));
    return buffer;
}

/* --- a row --- */

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median; on a loaded machine the least, which the others disturbed least. */
double bench_median(double *at, int count) {
    qsort(at, (size_t)count, sizeof *at, by_value);
    if (bench.loaded) return at[0];
    return count % 2 ? at[count / 2] : (at[count / 2 - 1] + at[count / 2]) / 2;
}

/* One run of a rival, or (NULL) of ours. */
static double run_once(Row *row, const Rival *rival, int threads) {
    if (rival) return rival->run(row, threads);
    ours_launch(&row->ours, threads);
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

void bench_heading(void) {
    printf("%-26s %7s %10s %14s  %-22s %10s %7s %6s\n", "row", "threads", "ours", "rate", "rival",
           "rival", "ratio", "bar");
}

static void print_time(double s) {
    if (s < 1e-3)
        printf("%8.1fus", s * 1e6);
    else
        printf("%8.2fms", s * 1e3);
}

void row_run(Row *row) {
    double ours[BENCH_ROUNDS], theirs[4][BENCH_ROUNDS];
    int rounds = bench.quick ? 5 : 21;
    if (!row->inner) row->inner = 1;
    ours_compile(&row->ours);
    for (int threads = 1; threads <= BENCH_THREADS; threads++) {
        hand_threads(threads);
        for (int warm = 0; warm < 2; warm++) {
            ours_launch(&row->ours, threads);
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
        double mine = bench_median(ours, rounds);
        for (int r = 0; r < row->rival_count; r++) {
            const Rival *rival = &row->rivals[r];
            printf("%-26s %7d ", r ? "" : row->name, threads);
            print_time(mine);
            printf(" %8.1f %s  %-22s ", row->work / mine * 1e-9, row->unit, rival->name);
            if (rival->absent) {
                printf("absent: %s\n", rival->absent);
                continue;
            }
            double its = bench_median(theirs[r], rounds), ratio = its / mine;
            print_time(its);
            printf(" %6.2fx", ratio);
            if (rival->bar > 0) printf(" %6.2f%s", rival->bar, ratio < rival->bar ? "  below" : "");
            printf("\n");
            if (rival->bar > 0 && ratio < rival->bar) bench.missed++;
        }
        fflush(stdout);
    }
    ours_unload(&row->ours);
    for (int i = 0; i < row->array_count; i++) tw_buffer_destroy(row->arrays[i]);
    for (int i = 0; i < 2; i++) free(row->spare[i]);
}

bool bench_wants(const char *name) {
    return !bench.only || strstr(name, bench.only);
}

tw_buffer *row_give(Row *row, const char *name, tw_buffer *buffer) {
    row->arrays[row->array_count++] = buffer;
    ours_array(&row->ours, name, buffer);
    return buffer;
}

float *bench_floats(tw_buffer *buffer) {
    return tw_buffer_data(buffer);
}

double bench_error(const float *got, const float *want, int64_t n) {
    double most = 0, size = 1e-30;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs((double)got[i] - want[i]);
        if (!(d <= most)) most = d;
        if (fabs(want[i]) > size) size = fabs(want[i]);
    }
    return most / size;
}

void *bench_room(size_t bytes) {
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

double row_torch(Row *row, int threads) {
    double seconds = torch_run(row->request, threads);
    if (seconds >= 0) return seconds;
    fprintf(stderr, "bench: torch is gone\n");
    exit(1);
}
