/* bench.h: what the files of the CPU bench share.
 *
 *     bench_cpu.c   the rows: ours and the rivals', run in turns, as a table of ratios
 *     hand.c        loops a careful C programmer would write, compiled -O3 -march=native
 *     rivals.c      OpenBLAS and oneDNN by dlopen, torch in a process of its own
 *
 * A rival is a function that does the work once; where it returns a time (torch, measured inside
 * its own process), that time counts, else the clock around the call. */
#ifndef BENCH_H
#define BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double bench_now(void); /* seconds */
/* On a machine that does other things (--loaded): a single thread counts its own time, not the
 * clock's. */
bool bench_own_time(int threads);

/* --- hand.c --- */
void hand_threads(int threads); /* of all loops below */
void hand_add_f32(const float *x, const float *y, float *out, int64_t n);
void hand_fma_f32(const float *x, const float *y, const float *z, float *out, int64_t n);
void hand_add_bf16(const uint16_t *x, const uint16_t *y, uint16_t *out, int64_t n);
void hand_fma_bf16(const uint16_t *x, const uint16_t *y, const uint16_t *z, uint16_t *out,
                   int64_t n);
void hand_softmax(const float *x, float *y, int64_t rows, int64_t cols);
void hand_layernorm(const float *x, const float *w, const float *b, float *y, int64_t rows,
                    int64_t cols, float eps);

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
#endif
