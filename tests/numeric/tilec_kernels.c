/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_kernels.c: the kernels of kernels/tilec that are more than a product, on every target, against float64.
 *
 *     tilec_kernels [--targets interp,cpu,emulated,tenstorrent] [--only SUBSTRING] [--shard I/N]
 *
 * A row says the file, its constants, its arrays (dimensions as letters of the shape; x is 1, the others products: rank_of) and its reference, which gives each
 * element of the outputs with the sum of the magnitudes that went into it. The bound is in * magnitude + out * |value|:
 * `out` is half a unit of the output's type, `in` that of bf16, to which weights and states are rounded on the way.
 * Shapes: full tiles, ragged ones, one, none. Tenstorrent may refuse, with a message. */
#include "base/numeric.h"
#include "shard.h"
#include "target_list.h"
#include "tilewright.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 10, LETTERS = 6 };
typedef struct Shape { /* of letters b h k n m d: batch, heads, kv heads, rows, keys, width */
    int64_t of[LETTERS];
} Shape;
static const char letters[] = "bhknmd";
#define S(x, letter) ((x)->shape.of[(size_t)(strchr(letters, letter) - letters)])

typedef struct Row Row;
typedef struct Run {
    const Row *row;
    Shape shape;
    double *data[MOST_ARRAYS], *magnitude[MOST_ARRAYS];
    int64_t count[MOST_ARRAYS];
} Run;
struct Row {
    const char *title, *file, *defines; /* "D=64 CAUSAL=1"; of a file with several kernels "file:kernel" */
    struct {
        const char *name, *dims;
        int dtype;
        char fill; /* n normal, p between 0 and 1, m between -1 and 0, o output, 0 output that is 0 before; of a transform's matrix, a letter of `factor` */
    } arrays[MOST_ARRAYS];
    double number; /* the last argument, unless it is 0 */
    void (*reference)(Run *run, bool causal);
    Shape shapes[5];
};

/* --- references --- */

static void put(Run *x, int array, int64_t at, double value, double magnitude) {
    x->data[array][at] = value;
    x->magnitude[array][at] = magnitude;
}

static void reference_layernorm(Run *x, bool causal) {
    (void)causal;
    int64_t rows = S(x, 'n'), cols = S(x, 'd');
    for (int64_t i = 0; i < rows; i++) {
        double mean = 0, variance = 0;
        for (int64_t j = 0; j < cols; j++) mean += (x->data[0][i * cols + j] + x->data[1][i * cols + j]) / (double)cols;
        for (int64_t j = 0; j < cols; j++) variance += pow(x->data[0][i * cols + j] + x->data[1][i * cols + j] - mean, 2) / (double)cols;
        for (int64_t j = 0; j < cols; j++) {
            double s = x->data[0][i * cols + j] + x->data[1][i * cols + j];
            double o = (s - mean) / sqrt(variance + x->row->number) * x->data[2][j];
            put(x, 4, i * cols + j, s, 0);
            put(x, 5, i * cols + j, o + x->data[3][j], 1e-3 * (fabs(o) + fabs(x->data[3][j])));
        }
    }
}

static void reference_rotary(Run *x, bool causal) {
    (void)causal;
    int64_t n = S(x, 'n'), half = S(x, 'd') / 2;
    for (int64_t head = 0; head < S(x, 'b') * S(x, 'h'); head++)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < half; j++) {
                int64_t at = (head * n + i) * 2 * half + j;
                double a = x->data[0][at], b = x->data[0][at + half], c = x->data[1][i * half + j], s = x->data[2][i * half + j];
                put(x, 3, at, a * c - b * s, 1e-3 * (fabs(a * c) + fabs(b * s)));
                put(x, 3, at + half, b * c + a * s, 1e-3 * (fabs(b * c) + fabs(a * s)));
            }
}

static double dot(const double *a, const double *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static void reference_attention(Run *x, bool causal) {
    int64_t heads = S(x, 'h'), kv_heads = S(x, 'k'), n = S(x, 'n'), m = S(x, 'm'), d = S(x, 'd');
    double *weights = malloc((size_t)(m + 1) * sizeof *weights);
    for (int64_t head = 0; head < S(x, 'b') * heads; head++)
        for (int64_t i = 0; i < n; i++) {
            int64_t kv = head / heads * kv_heads + head % heads / (heads / kv_heads), end = causal && i + 1 < m ? i + 1 : m;
            const double *q = x->data[0] + (head * n + i) * d, *k = x->data[1] + kv * m * d, *v = x->data[2] + kv * m * d;
            double most = -INFINITY, total = 0;
            for (int64_t j = 0; j < end; j++) weights[j] = dot(q, k + j * d, d) / sqrt((double)d), most = fmax(most, weights[j]);
            for (int64_t j = 0; j < end; j++) total += weights[j] = exp(weights[j] - most);
            for (int64_t c = 0; c < d; c++) {
                double sum = 0, magnitude = 0;
                for (int64_t j = 0; j < end; j++) sum += weights[j] * v[j * d + c], magnitude += fabs(weights[j] * v[j * d + c]);
                put(x, 3, (head * n + i) * d + c, sum / total, magnitude / total);
            }
            if (x->row->arrays[4].name) put(x, 4, head * n + i, log2(total) + most / log(2), 0.05);
        }
    free(weights);
}

static void reference_linear(Run *x, bool causal) {
    (void)causal;
    int64_t heads = S(x, 'h'), n = S(x, 'n'), d = S(x, 'd');
    for (int64_t head = 0; head < S(x, 'b') * heads; head++)
        for (int64_t i = 0; i < n; i++) {
            double *sum = calloc((size_t)d * 2, sizeof *sum), *magnitude = sum + d;
            for (int64_t j = 0; j <= i; j++) {
                double score = dot(x->data[0] + (head * n + i) * d, x->data[1] + (head * n + j) * d, d);
                double size = 0, fade = exp(-x->data[3][head % heads] * (double)(i - j));
                for (int64_t c = 0; c < d; c++) size += fabs(x->data[0][(head * n + i) * d + c] * x->data[1][(head * n + j) * d + c]);
                for (int64_t c = 0; c < d; c++) {
                    double v = x->data[2][(head * n + j) * d + c];
                    sum[c] += fade * score * v, magnitude[c] += fade * size * fabs(v);
                }
            }
            for (int64_t c = 0; c < d; c++) put(x, 4, (head * n + i) * d + c, sum[c], 2 * magnitude[c]);
            free(sum);
        }
}

/* --- Mamba-2: c is the running sums of a in chunks, times log2 e --- */

static void make_sums(double *c, int64_t lines, int64_t n) {
    for (int64_t line = 0; line < lines; line++)
        for (int64_t i = 0; i < n; i++) {
            double before = i % 64 ? c[line * n + i - 1] : 0;
            c[line * n + i] = (float)(before + c[line * n + i] / M_LN2);
        }
}

static void reference_sums(Run *x, bool causal) {
    (void)causal;
    for (int64_t i = 0; i < x->count[0]; i++) put(x, 1, i, x->data[0][i], 1e-3);
    make_sums(x->data[1], S(x, 'b') * S(x, 'h'), S(x, 'n'));
}

static double decay(const double *c, int64_t i) { return (c[i] - (i % 64 ? c[i - 1] : 0)) * M_LN2; }

/* Index of the array of that name, behind "g.". */
static int named(const Run *x, const char *name) {
    int a = 0;
    while (strcmp(x->row->arrays[a].name + 2, name) != 0) a++;
    return a;
}

/* o[i] = sum over j <= i of exp(a[j + 1] + .. + a[i]) (q[i] . k[j]) v[j] */
static void reference_mamba(Run *x, bool causal) {
    (void)causal;
    int64_t heads = S(x, 'h'), n = S(x, 'n'), d = S(x, 'd'), p = S(x, 'm');
    for (int64_t head = 0; head < S(x, 'b') * heads; head++)
        for (int64_t i = 0; i < n; i++) {
            double *sum = calloc((size_t)p * 2, sizeof *sum), *magnitude = sum + p, fade = 0;
            const double *q = x->data[0] + (head / heads * n + i) * d;
            for (int64_t j = i; j >= 0; fade += decay(x->data[3] + head * n, j), j--) {
                const double *k = x->data[1] + (head / heads * n + j) * d, *v = x->data[2] + (head * n + j) * p;
                double score = exp(fade) * dot(q, k, d), size = 0;
                for (int64_t c = 0; c < d; c++) size += fabs(q[c] * k[c]);
                for (int64_t c = 0; c < p; c++) sum[c] += score * v[c], magnitude[c] += exp(fade) * size * fabs(v[c]);
            }
            for (int64_t c = 0; c < p; c++) put(x, named(x, "o"), (head * n + i) * p + c, sum[c], 2 * magnitude[c]);
            free(sum);
        }
}

/* states[p, d] = sum over the j of a segment of exp(a[j + 1] + ..) v[j, p] k[j, d], fades = exp(a[first] + ..), but of the last. */
static void reference_states(Run *x, bool causal) {
    (void)causal;
    int64_t heads = S(x, 'h'), n = S(x, 'n'), d = S(x, 'd'), p = S(x, 'm'), count = S(x, 'k');
    int64_t each = ((n + 63) / 64 + count - 1) / count * 64;
    int k = named(x, "k"), v = named(x, "v"), c = named(x, "c"), states = named(x, "states"), fades = named(x, "fades");
    for (int64_t part = 0; part < S(x, 'b') * heads * (count - 1); part++) {
        int64_t head = part / (count - 1), s = part % (count - 1), first = s * each, end = first + each < n ? first + each : n;
        double fade = 0, *state = x->data[states] + (head * count + s) * p * d;
        memset(state, 0, (size_t)(p * d) * sizeof *state);
        for (int64_t j = end - 1; j >= first; fade += decay(x->data[c] + head * n, j), j--)
            for (int64_t at = 0; at < p * d; at++) {
                double value = exp(fade) * x->data[v][(head * n + j) * p + at / d] * x->data[k][(head / heads * n + j) * d + at % d];
                state[at] += value, x->magnitude[states][(head * count + s) * p * d + at] += fabs(value);
            }
        put(x, fades, head * count + s, exp(fade), 1e-3 * exp(fade));
    }
}

/* The inputs that other kernels made. */
static void make_mamba(Run *x) {
    make_sums(x->data[named(x, "c")], S(x, 'b') * S(x, 'h'), S(x, 'n'));
    if (x->row->reference == reference_mamba && S(x, 'k')) reference_states(x, false);
}

/* Arrays of the backward pass, in the order of its parameters. */
enum { BQ, BK, BV, BDO, BL, BDELTA, BDQ, BDK = BDQ, BDV };

/* Weights of query i of a head, and what the softmax gives; l and delta are inputs that fit q, k, v and some o. */
static void make_rows(Run *x, bool causal, int64_t head, int64_t i, double *weights) {
    int64_t heads = S(x, 'h'), kv_heads = S(x, 'k'), n = S(x, 'n'), m = S(x, 'm'), d = S(x, 'd');
    int64_t kv = head / heads * kv_heads + head % heads / (heads / kv_heads), end = causal && i + 1 < m ? i + 1 : m;
    const double *q = x->data[BQ] + (head * n + i) * d, *k = x->data[BK] + kv * m * d, *v = x->data[BV] + kv * m * d;
    const double *grad = x->data[BDO] + (head * n + i) * d;
    double most = -INFINITY, total = 0, delta = 0;
    for (int64_t j = 0; j < m; j++) weights[j] = j < end ? dot(q, k + j * d, d) / sqrt((double)d) : -INFINITY, most = fmax(most, weights[j]);
    for (int64_t j = 0; j < m; j++) total += weights[j] = exp(weights[j] - most);
    for (int64_t j = 0; j < m; j++) weights[j] /= total, delta += weights[j] * dot(grad, v + j * d, d);
    x->data[BL][head * n + i] = (float)(log2(total) + most / log(2));
    x->data[BDELTA][head * n + i] = (float)delta;
}

static void each_row(Run *x, bool causal, void (*visit)(Run *x, int64_t head, int64_t kv, int64_t i, const double *weights)) {
    int64_t heads = S(x, 'h'), kv_heads = S(x, 'k'), m = S(x, 'm');
    double *weights = malloc((size_t)(m + 1) * sizeof *weights);
    for (int64_t head = 0; head < S(x, 'b') * heads; head++)
        for (int64_t i = 0; i < S(x, 'n'); i++) {
            make_rows(x, causal, head, i, weights);
            if (visit) visit(x, head, head / heads * kv_heads + head % heads / (heads / kv_heads), i, weights);
        }
    free(weights);
}

static void add_to(Run *x, int array, int64_t at, double value, double size) {
    x->data[array][at] += value;
    x->magnitude[array][at] += size;
}

static void backward_row(Run *x, int64_t head, int64_t kv, int64_t i, const double *weights) {
    bool keys = x->row->arrays[BDV].name != NULL;
    int64_t n = S(x, 'n'), m = S(x, 'm'), d = S(x, 'd');
    const double *q = x->data[BQ] + (head * n + i) * d, *grad = x->data[BDO] + (head * n + i) * d;
    double delta = x->data[BDELTA][head * n + i];
    for (int64_t j = 0; j < m; j++) {
        const double *k = x->data[BK] + (kv * m + j) * d, *v = x->data[BV] + (kv * m + j) * d;
        double size = 0, step = weights[j] * (dot(grad, v, d) - delta) / sqrt((double)d);
        for (int64_t c = 0; c < d; c++) size += fabs(grad[c] * v[c]) * weights[j] / sqrt((double)d);
        size = fmax(fabs(step), 0.25 * size);
        for (int64_t c = 0; c < d; c++) {
            if (!keys) add_to(x, BDQ, (head * n + i) * d + c, step * k[c], size * fabs(k[c]));
            if (!keys) continue;
            add_to(x, BDK, (kv * m + j) * d + c, step * q[c], size * fabs(q[c]));
            add_to(x, BDV, (kv * m + j) * d + c, weights[j] * grad[c], weights[j] * fabs(grad[c]));
        }
    }
}

static void reference_backward(Run *x, bool causal) { each_row(x, causal, backward_row); }

static void reference_delta(Run *x, bool causal) {
    (void)causal;
    int64_t d = S(x, 'd');
    for (int64_t i = 0; i < S(x, 'b') * S(x, 'h') * S(x, 'n'); i++) {
        double size = 0;
        for (int64_t c = 0; c < d; c++) size += fabs(x->data[0][i * d + c] * x->data[1][i * d + c]);
        put(x, 2, i, dot(x->data[0] + i * d, x->data[1] + i * d, d), 0.1 * size);
    }
}

/* Circular convolution of sequences of d d numbers; the spectrum of the filter is there transposed. */
static void reference_fft(Run *x, bool causal) {
    (void)causal;
    int64_t channels = S(x, 'h'), r = S(x, 'd'), n = r * r;
    double *turn = malloc((size_t)n * 6 * sizeof *turn), *wave = turn + n, *re = wave + n, *im = re + n, *spare = im + n;
    for (int64_t i = 0; i < n; i++) turn[i] = cos(2 * M_PI * (double)i / (double)n), wave[i] = sin(2 * M_PI * (double)i / (double)n);
    for (int64_t s = 0; s < S(x, 'b') * channels; s++) {
        const double *in = x->data[0] + s * n, *kr = x->data[1] + s % channels * n, *ki = x->data[2] + s % channels * n;
        double size = 0;
        for (int64_t k = 0; k < n; k++) {
            double a = 0, b = 0;
            for (int64_t i = 0; i < n; i++) a += in[i] * turn[i * k % n], b -= in[i] * wave[i * k % n];
            double fr = kr[k % r * r + k / r], fi = ki[k % r * r + k / r];
            re[k] = a * fr - b * fi, im[k] = a * fi + b * fr;
        }
        for (int64_t i = 0; i < n; i++) {
            spare[i] = 0;
            for (int64_t k = 0; k < n; k++) spare[i] += (re[k] * turn[i * k % n] - im[k] * wave[i * k % n]) / (double)n;
            size += spare[i] * spare[i];
        }
        for (int64_t i = 0; i < n; i++) put(x, 7, s * n + i, spare[i], 8 * sqrt(size / (double)n)); /* sums of n roundings */
    }
    free(turn);
}

/* --- the rows --- */

#define QKV {"g.q", "bhnd", TW_BF16, 'n'}, {"g.k", "bkmd", TW_BF16, 'n'}, {"g.v", "bkmd", TW_BF16, 'n'}, {"g.o", "bhnd", TW_BF16, 'o'}
#define FFT /* d: 64 or 32; m: 64, of a tile */                                                                                            \
    {"g.x", "bxcd", TW_BF16, 'n'}, {"g.kf.real", "cd", TW_BF16, 'n'}, {"g.kf.imag", "cd", TW_BF16, 'n'}, {"g.f.real", "mm", TW_BF16, 'a'}, \
        {"g.f.imag", "mm", TW_BF16, 'b'}, {"g.tw.real", "md", TW_BF16, 'c'}, {"g.tw.imag", "md", TW_BF16, 'd'}, {"g.o", "bxcd", TW_BF16, 'o'}
#define MAMBA_IN {"g.k", "bxnd", TW_BF16, 'n'}, {"g.v", "bhnm", TW_BF16, 'n'}, {"g.c", "bhxn", TW_F32, 'm'}
#define MAMBA_Q  {"g.q", "bxnd", TW_BF16, 'n'}
#define MAMBA_O  {"g.o", "bhnm", TW_BF16, 'o'}
#define SEGMENTS(fill) {"g.states", "bhsd", TW_F32, fill}, {"g.fades", "bhxk", TW_F32, fill}
#define BACKWARD                                                                                                                  \
    {"g.q", "bhnd", TW_BF16, 'n'}, {"g.k", "bkmd", TW_BF16, 'n'}, {"g.v", "bkmd", TW_BF16, 'n'}, {"g.do_", "bhnd", TW_BF16, 'n'}, \
        {"g.l", "bhxn", TW_F32, 'n'}, {"g.delta", "bhxn", TW_F32, 'n'}
#define KEY_GRADIENTS {"g.dk", "bkmd", TW_BF16, '0'}, {"g.dv", "bkmd", TW_BF16, '0'}
static const Row rows[] = {
    {"layernorm", "layernorm", "WIDTH=256",
     {{"g.x", "nd", TW_BF16, 'n'}, {"g.residual", "nd", TW_BF16, 'n'}, {"g.weight", "d", TW_F32, 'n'}, {"g.bias", "d", TW_F32, 'n'},
      {"g.sum", "nd", TW_BF16, 'o'}, {"g.o", "nd", TW_BF16, 'o'}},
     1e-5, reference_layernorm,
     {{{0, 0, 0, 20, 0, 256}}, {{0, 0, 0, 7, 0, 201}}, {{0, 0, 0, 3, 0, 1}}, {{0, 0, 0, 0, 0, 16}}}},
    {"rotary", "rotary", "HALF=32",
     {{"g.x", "bhnd", TW_BF16, 'n'}, {"g.cos", "n/", TW_F32, 'n'}, {"g.sin", "n/", TW_F32, 'n'}, {"g.o", "bhnd", TW_BF16, 'o'}},
     0, reference_rotary,
     {{{2, 2, 0, 32, 0, 64}}, {{1, 3, 0, 21, 0, 64}}, {{1, 1, 0, 1, 0, 64}}, {{1, 2, 0, 0, 0, 64}}}},
    {"rotary on the template", "rotary_lcsf", "HALF=32",
     {{"g.x", "bhnd", TW_BF16, 'n'}, {"g.cos", "n/", TW_F32, 'n'}, {"g.sin", "n/", TW_F32, 'n'}, {"g.o", "bhnd", TW_BF16, 'o'}},
     0, reference_rotary,
     {{{2, 2, 0, 128, 0, 64}}, {{1, 3, 0, 141, 0, 64}}, {{1, 1, 0, 1, 0, 64}}, {{1, 2, 0, 0, 0, 64}}}},
    {"attention of a warp", "attention_warp", "D=64", {QKV}, 0, reference_attention,
     {{{1, 2, 1, 32, 64, 64}}, {{2, 4, 2, 37, 50, 64}}, {{1, 1, 1, 1, 1, 64}}, {{1, 3, 1, 40, 33, 64}}}},
    {"attention of a warp, causal", "attention_warp", "D=128 CAUSAL=1", {QKV}, 0, reference_attention,
     {{{1, 2, 1, 48, 48, 128}}, {{1, 3, 1, 45, 45, 128}}, {{1, 1, 1, 1, 1, 128}}, {{1, 2, 1, 20, 60, 128}}}},
    {"attention of a warpgroup", "attention", "D=64", {QKV, {"g.l", "bhxn", TW_F32, 'o'}}, 0, reference_attention,
     {{{1, 2, 1, 128, 128, 64}}, {{1, 4, 2, 77, 130, 64}}, {{1, 1, 1, 1, 1, 64}}, {{1, 2, 2, 70, 3, 64}}}},
    {"attention of a warpgroup, causal", "attention", "D=128 CAUSAL=1", {QKV, {"g.l", "bhxn", TW_F32, 'o'}}, 0, reference_attention,
     {{{1, 2, 1, 128, 128, 128}}, {{1, 2, 1, 101, 101, 128}}, {{1, 1, 1, 1, 1, 128}}, {{1, 2, 1, 65, 190, 128}}}},
    {"attention on the template", "attention_lcf", "D=64", {QKV}, 0, reference_attention,
     {{{1, 2, 1, 256, 128, 64}}, {{1, 4, 2, 177, 130, 64}}, {{1, 1, 1, 1, 1, 64}}, {{2, 1, 1, 70, 3, 64}}}},
    {"attention on the template, causal", "attention_lcf", "D=128 CAUSAL=1 WORKERS=3", {QKV}, 0, reference_attention,
     {{{1, 1, 1, 192, 192, 128}}, {{1, 2, 1, 201, 201, 128}}, {{1, 1, 1, 1, 1, 128}}}},
    {"attention of roles", "attention_roles", "D=64", {QKV}, 0, reference_attention,
     {{{1, 2, 1, 256, 128, 64}}, {{1, 4, 2, 177, 130, 64}}, {{1, 1, 1, 1, 1, 64}}}},
    {"attention of roles, causal", "attention_roles", "D=128 CAUSAL=1 WORKERS=3 STAGES=3", {QKV}, 0, reference_attention,
     {{{1, 2, 1, 201, 201, 128}}}},
    {"linear attention", "linear_attention", "D=64",
     {{"g.q", "bhnd", TW_BF16, 'n'}, {"g.k", "bhnd", TW_BF16, 'n'}, {"g.v", "bhnd", TW_BF16, 'n'}, {"g.slope", "h", TW_F32, 'p'},
      {"g.o", "bhnd", TW_BF16, 'o'}},
     0, reference_linear,
     {{{1, 2, 0, 48, 0, 64}}, {{2, 3, 0, 37, 0, 64}}, {{1, 1, 0, 1, 0, 64}}, {{1, 1, 0, 0, 0, 64}}}},
    {"Mamba-2, sums", "mamba2:sums", "STATE=64", {{"g.a", "bhxn", TW_F32, 'm'}, {"g.c", "bhxn", TW_F32, 'o'}}, 0, reference_sums,
     {{{1, 2, 0, 640, 0, 0}}, {{2, 3, 0, 150, 0, 0}}, {{1, 1, 0, 1, 0, 0}}, {{1, 2, 0, 0, 0, 0}}}},
    {"Mamba-2", "mamba2:mamba2", "WORKERS=2", {MAMBA_Q, MAMBA_IN, MAMBA_O}, 0, reference_mamba,
     {{{1, 2, 0, 128, 64, 64}}, {{2, 3, 0, 150, 64, 64}}, {{1, 1, 0, 1, 64, 64}}, {{1, 2, 0, 0, 64, 64}}}},
    {"Mamba-2, state of 128", "mamba2:mamba2", "STATE=128", {MAMBA_Q, MAMBA_IN, MAMBA_O}, 0, reference_mamba, {{{1, 2, 0, 100, 64, 128}}}},
    {"Mamba-2, states of segments", "mamba2:states", "STATE=64 SEGMENTS=3", {MAMBA_IN, SEGMENTS('o')}, 0, reference_states,
     {{{1, 2, 3, 192, 64, 64}}, {{2, 1, 3, 330, 64, 64}}, {{1, 1, 3, 70, 64, 64}}}},
    {"Mamba-2 of segments", "mamba2:mamba2", "STATE=128 SEGMENTS=3", {MAMBA_Q, MAMBA_IN, SEGMENTS('p'), MAMBA_O}, 0, reference_mamba,
     {{{1, 2, 3, 192, 64, 128}}, {{1, 3, 3, 330, 64, 128}}, {{1, 1, 3, 70, 64, 128}}, {{1, 1, 3, 1, 64, 128}}}},
    {"attention backward, delta", "attention_backward:prepare", "D=64",
     {{"g.o", "bhnd", TW_BF16, 'n'}, {"g.do_", "bhnd", TW_BF16, 'n'}, {"g.delta", "bhxn", TW_F32, 'o'}}, 0, reference_delta,
     {{{1, 2, 0, 37, 0, 64}}, {{1, 1, 0, 1, 0, 64}}}},
    {"attention backward, keys", "attention_backward:keys", "D=64", {BACKWARD, KEY_GRADIENTS}, 0, reference_backward,
     {{{1, 2, 1, 128, 128, 64}}, {{1, 4, 2, 77, 130, 64}}, {{1, 1, 1, 1, 1, 64}}}},
    {"attention backward, causal, keys", "attention_backward:keys", "D=128 CAUSAL=1", {BACKWARD, KEY_GRADIENTS}, 0, reference_backward,
     {{{1, 2, 1, 128, 128, 128}}, {{1, 3, 1, 101, 101, 128}}, {{1, 1, 1, 65, 190, 128}}}},
    {"attention backward, queries", "attention_backward:queries", "D=64", {BACKWARD, {"g.dq", "bhnd", TW_BF16, '0'}}, 0, reference_backward,
     {{{1, 2, 1, 128, 128, 64}}, {{1, 4, 2, 77, 130, 64}}, {{1, 1, 1, 1, 1, 64}}}},
    {"attention backward, causal, queries", "attention_backward:queries", "D=128 CAUSAL=1", {BACKWARD, {"g.dq", "bhnd", TW_BF16, '0'}}, 0, reference_backward,
     {{{1, 2, 1, 128, 128, 128}}, {{1, 3, 1, 101, 101, 128}}, {{1, 1, 1, 65, 190, 128}}}},
    {"FFT convolution", "fftconv", "N=4096 TILES=2", {FFT}, 0, reference_fft, {{{3, 1, 0, 0, 64, 64}}, {{1, 2, 0, 0, 64, 64}}, {{0, 2, 0, 0, 64, 64}}}},
    {"FFT convolution of 1024", "fftconv", "N=1024 TILES=2", {FFT}, 0, reference_fft,
     {{{8, 2, 0, 0, 64, 32}}, {{11, 1, 0, 0, 64, 32}}, {{1, 3, 0, 0, 64, 32}}}},
    {"FFT convolution on the template", "fftconv_lcsf", "N=4096", {FFT}, 0, reference_fft, {{{2, 2, 0, 0, 64, 64}}, {{3, 1, 0, 0, 64, 64}}, {{0, 2, 0, 0, 64, 64}}}},
    {"FFT convolution on the template, one consumer", "fftconv_lcsf", "N=4096 WORKERS=1", {FFT}, 0, reference_fft, {{{1, 3, 0, 0, 64, 64}}}},
    {"FFT convolution of 1024 on the template", "fftconv_lcsf", "N=1024", {FFT}, 0, reference_fft,
     {{{8, 2, 0, 0, 64, 32}}, {{11, 1, 0, 0, 64, 32}}, {{1, 140, 0, 0, 64, 32}}}},
    {"FFT convolution of 1024 on the template, one consumer", "fftconv_lcsf", "N=1024 WORKERS=1", {FFT}, 0, reference_fft, {{{5, 2, 0, 0, 64, 32}}}},
};

/* --- runs --- */

static uint64_t state;
static double uniform(void) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (double)(state * 2685821657736338717u >> 11) * 0x1p-53;
}

static double rounded(int dtype, double x) { return dtype == TW_BF16 ? bf16_to_f32(bf16_from_f64(x)) : (float)x; }

/* An element of F or the twiddles: a b real and imaginary, c d of the twiddles. */
static double factor(char fill, int64_t r, int64_t i) {
    int64_t width = fill < 'c' ? 64 : r, row = i / width, col = i % width; /* of a tile, which has one r x r or two */
    if (fill < 'c' && row / r != col / r) return 0;
    double angle = 2 * M_PI * (double)(row % r * (col % r)) / (double)(fill < 'c' ? r : r * r);
    return fill == 'a' || fill == 'c' ? cos(angle) : -sin(angle);
}

static int rank_of(const Run *x, int array, int64_t *extent) {
    const char *dims = x->row->arrays[array].dims;
    int rank = (int)strlen(dims);
    for (int d = 0; d < rank; d++)
        extent[d] = dims[d] == 'x'   ? 1
                    : dims[d] == '/' ? S(x, 'd') / 2
                    : dims[d] == 's' ? S(x, 'k') * S(x, 'm')
                    : dims[d] == 'c' ? S(x, 'h') * S(x, 'd')
                                     : S(x, dims[d]);
    return rank;
}

static void make_data(Run *x) {
    for (int a = 0; a < MOST_ARRAYS && x->row->arrays[a].name; a++) {
        int64_t extent[4];
        int rank = rank_of(x, a, extent);
        x->count[a] = 1;
        for (int d = 0; d < rank; d++) x->count[a] *= extent[d];
        x->data[a] = calloc((size_t)x->count[a] + 1, sizeof(double));
        x->magnitude[a] = calloc((size_t)x->count[a] + 1, sizeof(double));
        char fill = x->row->arrays[a].fill;
        for (int64_t i = 0; i < x->count[a]; i++) {
            double normal = sqrt(-2 * log(uniform() + 1e-12)) * cos(6.283185307179586 * uniform());
            double value = fill == 'p' ? uniform() : fill == 'm' ? -uniform() : fill == 'n' ? normal : factor(fill, S(x, 'd'), i);
            x->data[a][i] = fill == 'o' ? 77 : fill == '0' ? 0 : rounded(x->row->arrays[a].dtype, value);
        }
    }
}

static int runs, failures, refused;

static void say(const Run *x, const char *target, const char *what) {
    printf("FAILED %s on %s,", x->row->title, target);
    for (int i = 0; i < LETTERS; i++)
        if (x->shape.of[i]) printf(" %c=%lld", letters[i], (long long)x->shape.of[i]);
    printf(": %s\n", what);
    failures++;
}

static double element(const void *data, int dtype, int64_t i) {
    return dtype == TW_BF16 ? bf16_to_f32(((const uint16_t *)data)[i]) : ((const float *)data)[i];
}

static void compare(const Run *x, const char *target, tw_buffer **buffers) {
    for (int a = 0; a < MOST_ARRAYS && x->row->arrays[a].name; a++) {
        if (x->row->arrays[a].fill != 'o' && x->row->arrays[a].fill != '0') continue;
        int dtype = x->row->arrays[a].dtype;
        size_t size = (size_t)x->count[a] * tw_dtype_size(dtype);
        void *data = malloc(size + 1);
        bool failed = tw_buffer_read(buffers[a], data, size) != TW_OK;
        if (failed) say(x, target, "the result cannot be read");
        for (int64_t i = 0; i < x->count[a] && !failed; i++) {
            double want = x->data[a][i], got = element(data, dtype, i);
            double bound = 0x1p-8 * x->magnitude[a][i] + (dtype == TW_BF16 ? 0x1p-8 : 1e-5) * fabs(want) + 1e-6;
            if (fabs(got - want) <= bound) continue;
            char text[200];
            snprintf(text, sizeof text, "%s, element %lld: %g, not %g (bound %g)", x->row->arrays[a].name, (long long)i, got, want, bound);
            say(x, target, text);
            failed = true;
        }
        free(data);
        if (failed) return;
    }
}

/* What Tenstorrent has no room or no operation for, by name. */
static bool is_refusal(const char *message) {
    static const char *const marks[] = {"not possible on Tenstorrent: ", "[too-many-cbs]", "[ring-count]"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(message, marks[i])) return true;
    return false;
}

static void run_on(tw_context *cx, const Run *x, const double *const *inputs, const char *target) {
    tw_pair defines[4];
    char words[100], path[200];
    size_t define_count = 0, count = 0;
    snprintf(words, sizeof words, "%s", x->row->defines);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        defines[define_count++] = (tw_pair){word, value};
    }
    tw_buffer *buffers[MOST_ARRAYS] = {0};
    tw_arg args[MOST_ARRAYS + 1];
    for (; count < MOST_ARRAYS && x->row->arrays[count].name; count++) {
        int64_t extent[4];
        int dtype = x->row->arrays[count].dtype, rank = rank_of(x, (int)count, extent);
        tw_buffer_options where;
        tw_buffer_options_init(&where);
        if (!strcmp(target, "cuda")) where.target = target;
        if (tw_buffer_create(cx, dtype, rank, extent, &where, &buffers[count]) != TW_OK) abort();
        size_t size = (size_t)x->count[count] * tw_dtype_size(dtype);
        void *data = malloc(size + 1);
        for (int64_t i = 0; i < x->count[count]; i++) {
            if (dtype == TW_BF16) ((uint16_t *)data)[i] = bf16_from_f64(inputs[count][i]);
            else ((float *)data)[i] = (float)inputs[count][i];
        }
        if (tw_buffer_write(buffers[count], data, size) != TW_OK) abort();
        free(data);
        args[count] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[count]};
    }
    size_t arrays = count;
    if (x->row->number != 0) args[count++] = (tw_arg){.kind = TW_ARG_FLOAT, .value.f = x->row->number};
    tw_module_options module_options;
    tw_module_options_init(&module_options);
    module_options.defines = defines;
    module_options.define_count = define_count;
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = count;
    options.verify_each = 1;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    const char *name = strchr(x->row->file, ':');
    snprintf(path, sizeof path, "kernels/tilec/%.*s.tile.c", (int)strcspn(x->row->file, ":"), x->row->file);
    tw_status status = tw_module_load_file(cx, path, &module_options, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, name ? name + 1 : NULL, &options, &kernel);
    bool compiled = status == TW_OK;
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, NULL, args, count);
    runs++;
    bool may_refuse = !strcmp(target, "tenstorrent") && !compiled && is_refusal(tw_context_message(cx));
    if (status == TW_OK) compare(x, target, buffers);
    else if (may_refuse) refused++;
    else say(x, target, tw_context_message(cx));
    for (size_t i = 0; i < arrays; i++) tw_buffer_destroy(buffers[i]);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
}

static void run_row(tw_context *cx, const Row *row, const Shape *shape, const char *targets) {
    static const char *const names[][2] = {
        {"interp", "interp"}, {"cpu", "cpu"}, {"emulated", "cuda-emulated"}, {"cuda", "cuda"}, {"tenstorrent", "tenstorrent"}};
    Run x = {.row = row, .shape = *shape};
    const double *inputs[MOST_ARRAYS] = {0};
    bool causal = strstr(row->defines, "CAUSAL=1") != NULL;
    make_data(&x);
    if (row->reference == reference_backward) each_row(&x, causal, NULL); /* l and delta, which the forward pass gave */
    if (row->reference == reference_mamba || row->reference == reference_states) make_mamba(&x);
    for (int a = 0; a < MOST_ARRAYS && x.data[a]; a++) {
        double *copy = malloc(((size_t)x.count[a] + 1) * sizeof *copy);
        memcpy(copy, x.data[a], (size_t)x.count[a] * sizeof *copy);
        inputs[a] = copy;
    }
    row->reference(&x, causal);
    for (size_t t = 0; t < sizeof names / sizeof *names; t++)
        if (targets_have(targets, names[t][0])) run_on(cx, &x, inputs, names[t][1]);
    for (int a = 0; a < MOST_ARRAYS; a++) free((void *)inputs[a]), free(x.data[a]), free(x.magnitude[a]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    const char *targets = "interp,cpu", *only = "";
    Shard shard = SHARD_ALL;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--targets") == 0 && targets_known(value)) targets = value;
        else if (value && strcmp(argv[i], "--only") == 0) only = value;
        else if (value && strcmp(argv[i], "--shard") == 0 && shard_read(&shard, value)) {}
        else return fprintf(stderr, "tilec_kernels: %s is not understood\n", argv[i]), 2;
    }
    tw_context *cx;
    if (tw_context_create(NULL, &cx) != TW_OK) return 2;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t s = 0; s < sizeof rows[r].shapes / sizeof *rows[r].shapes && rows[r].shapes[s].of[5]; s++) {
            if (!shard_takes(&shard) || !strstr(rows[r].title, only)) continue;
            state = shard_state(&shard, 1);
            run_row(cx, &rows[r], &rows[r].shapes[s], targets);
        }
    tw_context_destroy(cx);
    printf("%d refused\n%d runs, %d failed\n", refused, runs, failures);
    return failures != 0;
}
