/* SPDX-License-Identifier: Apache-2.0 */
/* hand.c: the loops that ours are measured against: what a careful C programmer writes for this
 * machine, with vectors through the compiler's extensions, and threads that split the rows.
 *
 * softmax reads a row three times (maximum; exponentials and their sum; scaling), layernorm too.
 * The exponential is a polynomial of degree 6 after taking out powers of two, about 1 ulp. */
#include "bench.h"

#include <pthread.h>
#include <string.h>

enum { MAX_THREADS = 64, LANES = 8 };
typedef float Vec __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t Ints __attribute__((vector_size(4 * LANES), aligned(4)));

/* --- threads --- */

static struct {
    pthread_t thread[MAX_THREADS];
    int started, threads;
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    int generation, left;
    const HandJob *job;
} crew = {.threads = 1,
          .mutex = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER};

static void do_part(const HandJob *job, int number, int threads) {
    int64_t grain = job->cols ? 1 : 64, parts = (job->n + grain - 1) / grain;
    int64_t begin = parts * number / threads * grain, end = parts * (number + 1) / threads * grain;
    job->part(job, begin, end < job->n ? end : job->n);
}

static void *member(void *user) {
    int number = (int)(intptr_t)user, seen = 0;
    pthread_mutex_lock(&crew.mutex);
    for (;;) {
        while (crew.generation == seen) pthread_cond_wait(&crew.wake, &crew.mutex);
        seen = crew.generation;
        if (number >= crew.threads) continue;
        const HandJob *job = crew.job;
        int threads = crew.threads;
        pthread_mutex_unlock(&crew.mutex);
        do_part(job, number, threads);
        pthread_mutex_lock(&crew.mutex);
        if (--crew.left == 0) pthread_cond_signal(&crew.done);
    }
    return NULL;
}

void hand_threads(int threads) {
    crew.threads = threads < MAX_THREADS ? threads : MAX_THREADS;
    for (; crew.started < crew.threads; crew.started++)
        if (crew.started)
            pthread_create(&crew.thread[crew.started], NULL, member,
                           (void *)(intptr_t)crew.started);
}

void hand_run(HandJob job) {
    if (crew.threads > 1) {
        pthread_mutex_lock(&crew.mutex);
        crew.job = &job;
        crew.left = crew.threads - 1;
        crew.generation++;
        pthread_cond_broadcast(&crew.wake);
        pthread_mutex_unlock(&crew.mutex);
    }
    do_part(&job, 0, crew.threads);
    if (crew.threads > 1) {
        pthread_mutex_lock(&crew.mutex);
        while (crew.left) pthread_cond_wait(&crew.done, &crew.mutex);
        pthread_mutex_unlock(&crew.mutex);
    }
}

/* --- elementwise --- */

static void add_f32(const HandJob *job, int64_t begin, int64_t end) {
    const float *restrict x = job->x, *restrict y = job->y;
    float *restrict out = job->out;
    for (int64_t i = begin; i < end; i++) out[i] = x[i] + y[i];
}

static void fma_f32(const HandJob *job, int64_t begin, int64_t end) {
    const float *restrict x = job->x, *restrict y = job->y, *restrict z = job->z;
    float *restrict out = job->out;
    for (int64_t i = begin; i < end; i++) out[i] = x[i] * y[i] + z[i];
}

static inline float widen(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static inline uint16_t narrow(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? u >> 16 | 0x40 : rounded);
}

static void add_bf16(const HandJob *job, int64_t begin, int64_t end) {
    const uint16_t *restrict x = job->x, *restrict y = job->y;
    uint16_t *restrict out = job->out;
    for (int64_t i = begin; i < end; i++) out[i] = narrow(widen(x[i]) + widen(y[i]));
}

static void fma_bf16(const HandJob *job, int64_t begin, int64_t end) {
    const uint16_t *restrict x = job->x, *restrict y = job->y, *restrict z = job->z;
    uint16_t *restrict out = job->out;
    for (int64_t i = begin; i < end; i++)
        out[i] = narrow(widen(narrow(widen(x[i]) * widen(y[i]))) + widen(z[i]));
}

void hand_add_f32(const float *x, const float *y, float *out, int64_t n) {
    hand_run((HandJob){.x = x, .y = y, .out = out, .n = n, .part = add_f32});
}
void hand_fma_f32(const float *x, const float *y, const float *z, float *out, int64_t n) {
    hand_run((HandJob){.x = x, .y = y, .z = z, .out = out, .n = n, .part = fma_f32});
}
void hand_add_bf16(const uint16_t *x, const uint16_t *y, uint16_t *out, int64_t n) {
    hand_run((HandJob){.x = x, .y = y, .out = out, .n = n, .part = add_bf16});
}
void hand_fma_bf16(const uint16_t *x, const uint16_t *y, const uint16_t *z, uint16_t *out,
                   int64_t n) {
    hand_run((HandJob){.x = x, .y = y, .z = z, .out = out, .n = n, .part = fma_bf16});
}

/* --- rows --- */

static inline Vec all(float x) {
    return x - (Vec){0};
}
static inline Vec pick(Ints mask, Vec a, Vec b) {
    return (Vec)(((Ints)a & mask) | ((Ints)b & ~mask));
}
static inline Vec larger(Vec a, Vec b) {
    return pick(a > b, a, b);
}

static inline Vec exp_of(Vec x) {
    x = larger(x, all(-87.0f)); /* arguments are <= 0 here */
    Vec n = (x * 1.44269504f + 12582912.0f) - 12582912.0f;
    Vec r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    Vec q = all(1.3888889e-3f);
    q = q * r + 8.3333333e-3f;
    q = q * r + 4.1666668e-2f;
    q = q * r + 1.6666667e-1f;
    q = q * r + 0.5f;
    Vec y = q * (r * r) + r + 1.0f;
    Ints scale = (__builtin_convertvector(n, Ints) + 127) << 23;
    return y * (Vec)scale;
}

static inline float sum_of(Vec x) {
    float s = 0;
    for (int i = 0; i < LANES; i++) s += x[i];
    return s;
}

static void softmax(const HandJob *job, int64_t begin, int64_t end) {
    int64_t cols = job->cols;
    for (int64_t r = begin; r < end; r++) {
        const float *x = (const float *)job->x + r * cols;
        float *y = (float *)job->out + r * cols;
        Vec m[4], s[4];
        for (int a = 0; a < 4; a++) m[a] = all(-__builtin_inff()), s[a] = all(0);
        for (int64_t i = 0; i < cols; i += 4 * LANES)
            for (int a = 0; a < 4; a++) m[a] = larger(m[a], *(const Vec *)(x + i + a * LANES));
        Vec top = larger(larger(m[0], m[1]), larger(m[2], m[3]));
        float most = top[0];
        for (int i = 1; i < LANES; i++) most = top[i] > most ? top[i] : most;
        for (int64_t i = 0; i < cols; i += 4 * LANES)
            for (int a = 0; a < 4; a++) {
                Vec e = exp_of(*(const Vec *)(x + i + a * LANES) - most);
                *(Vec *)(y + i + a * LANES) = e;
                s[a] += e;
            }
        float scale = 1.0f / sum_of((s[0] + s[1]) + (s[2] + s[3]));
        for (int64_t i = 0; i < cols; i += LANES) *(Vec *)(y + i) *= scale;
    }
}

static void layernorm(const HandJob *job, int64_t begin, int64_t end) {
    int64_t cols = job->cols;
    const float *w = job->y, *b = job->z;
    for (int64_t r = begin; r < end; r++) {
        const float *x = (const float *)job->x + r * cols;
        float *y = (float *)job->out + r * cols;
        Vec s[4], v[4];
        for (int a = 0; a < 4; a++) s[a] = v[a] = all(0);
        for (int64_t i = 0; i < cols; i += 4 * LANES)
            for (int a = 0; a < 4; a++) s[a] += *(const Vec *)(x + i + a * LANES);
        float mean = sum_of((s[0] + s[1]) + (s[2] + s[3])) / (float)cols;
        for (int64_t i = 0; i < cols; i += 4 * LANES)
            for (int a = 0; a < 4; a++) {
                Vec d = *(const Vec *)(x + i + a * LANES) - mean;
                v[a] += d * d;
            }
        float var = sum_of((v[0] + v[1]) + (v[2] + v[3])) / (float)cols;
        float rstd = 1.0f / __builtin_sqrtf(var + job->eps);
        for (int64_t i = 0; i < cols; i += LANES)
            *(Vec *)(y + i) = (*(const Vec *)(x + i) - mean) * rstd * *(const Vec *)(w + i) +
                              *(const Vec *)(b + i);
    }
}

/* cols must be a multiple of 32. */
void hand_softmax(const float *x, float *y, int64_t rows, int64_t cols) {
    hand_run((HandJob){.x = x, .out = y, .n = rows, .cols = cols, .part = softmax});
}
void hand_layernorm(const float *x, const float *w, const float *b, float *y, int64_t rows,
                    int64_t cols, float eps) {
    hand_run((HandJob){
        .x = x, .y = w, .z = b, .out = y, .n = rows, .cols = cols, .eps = eps, .part = layernorm});
}
