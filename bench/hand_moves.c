/* SPDX-License-Identifier: Apache-2.0 */
/* hand_moves.c: loops by hand that move data: rows that numbers choose, transposes, convolutions; threads as in hand.c.
 *
 * A transpose goes through registers in blocks of 16 bytes by 8 (or 4) rows, blocks in squares that the first-level cache
 * holds. A convolution keeps 8 pixels of 32 channels in registers and asks an array of pointers where each pixel of a step
 * lies (zeros where there is none), with filters padded to whole vectors. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* --- rows --- */

static void copy_rows(const HandJob *job, int64_t begin, int64_t end) {
    const int32_t *index = job->y;
    for (int64_t i = begin; i < end; i++)
        memcpy((char *)job->out + i * job->cols, (const char *)job->x + index[i] * job->cols, (size_t)job->cols);
}

void hand_copy_rows(const void *table, const int32_t *index, void *out, int64_t n, int64_t width) {
    hand_run((HandJob){.x = table, .y = index, .out = out, .n = n, .cols = width, .part = copy_rows});
}

static void add_rows_atomic(const HandJob *job, int64_t begin, int64_t end) {
    const int32_t *index = job->y;
    int64_t width = job->cols;
    for (int64_t i = begin; i < end; i++) {
        const float *x = (const float *)job->x + i * width;
        float *to = (float *)job->out + index[i] * width;
        for (int64_t j = 0; j < width; j++) {
            float before, after;
            __atomic_load(to + j, &before, __ATOMIC_RELAXED);
            do after = before + x[j];
            while (!__atomic_compare_exchange(to + j, &before, &after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        }
    }
}

/* Each thread has columns of its own, so nothing has to be atomic; n counts columns. */
static void add_rows(const HandJob *job, int64_t begin, int64_t end) {
    const int32_t *index = job->y;
    int64_t width = job->n, n = *(const int64_t *)job->more;
    for (int64_t i = 0; i < n; i++) {
        const float *restrict x = (const float *)job->x + i * width;
        float *restrict to = (float *)job->out + index[i] * width;
        for (int64_t j = begin; j < end; j++) to[j] += x[j];
    }
}

void hand_add_rows(const float *x, const int32_t *index, float *out, int64_t n, int64_t width, bool atomic) {
    HandJob job = {.x = x, .y = index, .out = out, .n = n, .cols = width, .part = add_rows_atomic};
    if (!atomic) job.n = width, job.cols = 0, job.more = &n, job.part = add_rows;
    hand_run(job);
}

/* --- transposes --- */

enum { SQUARE = 64 };
typedef float V4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef uint16_t V2 __attribute__((vector_size(16), aligned(2), may_alias));

static inline void turn4(const float *x, int64_t ldx, float *y, int64_t ldy) {
    V4 a = *(const V4 *)x, b = *(const V4 *)(x + ldx), c = *(const V4 *)(x + 2 * ldx), d = *(const V4 *)(x + 3 * ldx);
    V4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    V4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(V4 *)y = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    *(V4 *)(y + ldy) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    *(V4 *)(y + 2 * ldy) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
    *(V4 *)(y + 3 * ldy) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
}

static inline void turn8(const uint16_t *x, int64_t ldx, uint16_t *y, int64_t ldy) {
    V2 r[8], s[8];
    for (int i = 0; i < 8; i++) r[i] = *(const V2 *)(x + i * ldx);
    for (int step = 0; step < 3; step++) { /* three times: row i beside row i + 4, element by element */
        for (int i = 0; i < 4; i++) {
            s[2 * i] = __builtin_shufflevector(r[i], r[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
            s[2 * i + 1] = __builtin_shufflevector(r[i], r[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
        }
        for (int i = 0; i < 8; i++) r[i] = s[i];
    }
    for (int i = 0; i < 8; i++) *(V2 *)(y + i * ldy) = r[i];
}

#define TURN(T, BLOCK, turn)                                                                                  \
    static void transpose_##T(const HandJob *job, int64_t begin, int64_t end) {                               \
        const int64_t rows = *(const int64_t *)job->more, cols = job->n;                                      \
        const T *x = job->x;                                                                                  \
        T *y = job->out;                                                                                      \
        for (int64_t j0 = begin; j0 < end; j0 += SQUARE)                                                      \
            for (int64_t i0 = 0; i0 < rows; i0 += SQUARE) {                                                   \
                const int64_t i1 = i0 + SQUARE < rows ? i0 + SQUARE : rows,                                   \
                              j1 = j0 + SQUARE < end ? j0 + SQUARE : end;                                     \
                int64_t j = j0;                                                                               \
                for (; j + BLOCK <= j1; j += BLOCK) {                                                         \
                    int64_t i = i0;                                                                           \
                    for (; i + BLOCK <= i1; i += BLOCK) turn(x + i * cols + j, cols, y + j * rows + i, rows); \
                    for (; i < i1; i++)                                                                       \
                        for (int64_t e = 0; e < BLOCK; e++) y[(j + e) * rows + i] = x[i * cols + j + e];      \
                }                                                                                             \
                for (; j < j1; j++)                                                                           \
                    for (int64_t i = i0; i < i1; i++) y[j * rows + i] = x[i * cols + j];                      \
            }                                                                                                 \
    }
TURN(float, 4, turn4)
TURN(uint16_t, 8, turn8)

void hand_transpose(const void *x, void *y, int64_t rows, int64_t cols, int size) {
    hand_run((HandJob){
        .x = x, .out = y, .n = cols, .more = &rows, .part = size == 2 ? transpose_uint16_t : transpose_float});
}

/* --- convolutions --- */

enum { PIXELS = 8, WIDE = 16, CHANNELS = 2 * WIDE, MOST_CHANNELS = 1024 };
typedef float Wide __attribute__((vector_size(4 * WIDE), aligned(4), may_alias));

/* PIXELS places by CHANNELS filters, from place `at` on; w are the filters' own CHANNELS columns, side by side. */
static void conv_block(const Conv *v, const float *x, const float *w, float *y, int64_t at, int64_t k0,
                       const float *zeros) {
    const int64_t places = v->n * v->p * v->q, xc = v->last ? 1 : v->h * v->w, xw = v->last ? v->c : 1;
    Wide sum[PIXELS][2];
    memset(sum, 0, sizeof sum);
    for (int64_t r = 0; r < v->r; r++)
        for (int64_t s = 0; s < v->s; s++) {
            const float *from[PIXELS];
            for (int i = 0; i < PIXELS; i++) {
                const int64_t o = at + i < places ? at + i : places - 1, n = o / (v->p * v->q);
                const int64_t h = o / v->q % v->p * v->step - v->pad + r, c = o % v->q * v->step - v->pad + s;
                const bool inside = h >= 0 && h < v->h && c >= 0 && c < v->w;
                from[i] = inside ? x + n * v->c * v->h * v->w + (h * v->w + c) * xw : NULL;
            }
            const float *row = w + (r * v->s + s) * v->c * CHANNELS;
            for (int i = 0; i < PIXELS; i++)
                if (!from[i]) from[i] = zeros;
            for (int64_t c = 0; c < v->c; c++, row += CHANNELS) {
                const Wide a = *(const Wide *)row, b = *(const Wide *)(row + WIDE);
                for (int i = 0; i < PIXELS; i++) sum[i][0] += from[i][c * xc] * a, sum[i][1] += from[i][c * xc] * b;
            }
        }
    for (int64_t i = 0; i < PIXELS && at + i < places; i++) {
        const int64_t o = at + i, n = o / (v->p * v->q), pixel = o % (v->p * v->q);
        const int64_t yk = v->last ? 1 : v->p * v->q, first = n * v->k * v->p * v->q + pixel * (v->last ? v->k : 1);
        float out[CHANNELS];
        memcpy(out, sum[i], sizeof out);
        for (int64_t k = k0; k < v->k && k < k0 + CHANNELS; k++) y[first + k * yk] = out[k - k0];
    }
}

static void conv_part(const HandJob *job, int64_t begin, int64_t end) {
    const Conv *v = job->more;
    const int64_t steps = v->r * v->s * v->c;
    for (int64_t at = begin * PIXELS; at < end * PIXELS; at += PIXELS)
        for (int64_t k = 0; k < v->k; k += CHANNELS)
            conv_block(v, job->x, (const float *)job->y + k * steps, job->out, at, k, job->z);
}

void hand_conv(const Conv *v, const float *x, const float *w, float *y) {
    const int64_t steps = v->r * v->s * v->c, width = (v->k + CHANNELS - 1) / CHANNELS * CHANNELS;
    const size_t zeros = (size_t)(v->last ? v->c : v->c * v->h * v->w);
    float *packed = calloc((size_t)(steps * width) + zeros, sizeof *packed);
    for (int64_t k = 0; k < v->k; k++)
        for (int64_t i = 0; i < steps; i++)
            packed[k / CHANNELS * CHANNELS * steps + i * CHANNELS + k % CHANNELS] = w[i * v->k + k];
    hand_run((HandJob){.x = x,
                       .y = packed,
                       .z = packed + steps * width,
                       .out = y,
                       .cols = 1,
                       .more = v,
                       .part = conv_part,
                       .n = (v->n * v->p * v->q + PIXELS - 1) / PIXELS});
    free(packed);
}
