/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h: what the files of the CPU bench share.
 *
 *     bench_cpu.c   the table: arithmetic, rows of matrices, products, attention; what a launch costs
 *     bench_moves.c its rows that move data: rows by numbers, transposes, convolutions
 *     bench_row.c   one row: ours and the rivals', compared, run in turns, printed as ratios
 *     hand.c, hand_moves.c  loops a careful C programmer would write, compiled -O3 -march=native
 *     rivals.c      OpenBLAS and oneDNN by dlopen, torch in a process of its own
 *
 * A rival is a function that does the work once; where it returns a time (torch, measured inside
 * its own process), that time counts, else the clock around the call. */
#ifndef BENCH_H
#define BENCH_H
#include "tilewright.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- hand.c --- */
typedef struct HandJob {
    const void *x, *y, *z;
    void *out;
    int64_t n, cols; /* parts of n are rows if there are columns, else multiples of 64 */
    float eps;
    const void *more;
    void (*part)(const struct HandJob *job, int64_t begin, int64_t end);
} HandJob;
void hand_run(HandJob job);     /* its parts, on the threads */
void hand_threads(int threads); /* of all loops below */
void hand_add_f32(const float *x, const float *y, float *out, int64_t n);
void hand_fma_f32(const float *x, const float *y, const float *z, float *out, int64_t n);
void hand_add_bf16(const uint16_t *x, const uint16_t *y, uint16_t *out, int64_t n);
void hand_fma_bf16(const uint16_t *x, const uint16_t *y, const uint16_t *z, uint16_t *out,
                   int64_t n);
void hand_softmax(const float *x, float *y, int64_t rows, int64_t cols);
void hand_layernorm(const float *x, const float *w, const float *b, float *y, int64_t rows,
                    int64_t cols, float eps);

/* --- hand_moves.c --- */
/* Rows of `width` bytes, f32 for sums: out[i] = table[index[i]]; out[index[i]] += x[i], by atomic additions or plain ones. */
void hand_copy_rows(const void *table, const int32_t *index, void *out, int64_t n, int64_t width);
void hand_add_rows(const float *x, const int32_t *index, float *out, int64_t n, int64_t width, bool atomic);
void hand_transpose(const void *x, void *y, int64_t rows, int64_t cols, int size);
typedef struct Conv {
    int64_t n, c, h, w, k, p, q, r, s, step, pad;
    bool last; /* channels come last */
} Conv;
void hand_conv(const Conv *conv, const float *x, const float *w, float *y);

/* --- rivals.c --- */
typedef struct Matrices { /* C (m, n) = A (m, k) B (k, n), dense and row-major */
    int64_t m, n, k;
    const void *a, *b; /* f32, or both bf16 */
    float *c;
} Matrices;

/* NULL: ready; else why not. */
const char *openblas_open(void);
const char *onednn_open(void);
const char *torch_open(void);
void openblas_gemm(const Matrices *x, int threads);
void onednn_gemm(const Matrices *x, int threads);
const char *onednn_no_bf16(void); /* why it has no product of bf16 here; NULL: it has */
void onednn_gemm_bf16(const Matrices *x, int threads);
/* "softmax 4096 1024": does it once, gives the seconds; < 0 if the other process is gone. */
double torch_run(const char *request, int threads);
void rivals_close(void);

/* --- bench_row.c --- */
enum { BENCH_ARGS = 32, BENCH_ROUNDS = 101, BENCH_THREADS = 2 };
typedef struct Bench {
    const char *only;
    bool quick, loaded;
    tw_context *context;
    const char *no_openblas, *no_onednn, *no_torch; /* why they are not there */
    int missed;                                     /* rows below their bar */
} Bench;
extern Bench bench;

typedef struct Ours {
    tw_module *module;
    tw_kernel *kernel[BENCH_THREADS]; /* for 1, 2 threads */
    size_t index;
    tw_arg args[BENCH_ARGS];
    size_t count;
    int64_t grid[3];
} Ours;

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
    Conv conv;
    char request[96]; /* to torch */
    int inner;        /* runs a timing, for short work */
};

double bench_now(void); /* seconds */
/* On a machine that does other things (--loaded): a single thread counts its own time, not the
 * clock's. */
bool bench_own_time(int threads);
void bench_must(tw_status status);
bool bench_wants(const char *name);
void bench_heading(void);
double bench_median(double *at, int count);
tw_buffer *bench_array(int32_t dtype, int rank, int64_t a, int64_t b, int64_t c, bool random);
float *bench_floats(tw_buffer *buffer);
void *bench_room(size_t bytes); /* for a rival's output, which lies as ours do */
double bench_error(const float *got, const float *want, int64_t n);

void ours_load(Ours *x, const char *path, const char *kernel);
tw_arg *ours_argument(Ours *x, const char *name);
void ours_int(Ours *x, const char *name, int64_t value);
void ours_float(Ours *x, const char *name, double value);
void ours_array(Ours *x, const char *name, tw_buffer *buffer);
void ours_compile(Ours *x);
void ours_launch(Ours *x, int threads);
void ours_unload(Ours *x);

tw_buffer *row_give(Row *row, const char *name, tw_buffer *buffer);
double row_torch(Row *row, int threads); /* a rival: row->request */
void row_run(Row *row);                  /* and all that it holds is given back */

/* --- bench_moves.c --- */
void bench_moves(void);
#endif
