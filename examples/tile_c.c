/* SPDX-License-Identifier: Apache-2.0 */
/* tile_c.c: a C program that compiles two kernels of Tile C, a product and an attention on the load-compute-finish template,
 * and launches them on its own memory.
 *
 *     cc tile_c.c -lm $(pkg-config --cflags --libs tilewright) && ./a.out kernels/tilec [cpu|interp|cuda-emulated]
 *
 * For CUDA, memory is that of the device: pass addresses of it as `data` with target "cuda", or let tw_buffer_create make it. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilewright.h>

static float from_bf16(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t to_bf16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t *numbers(int64_t count, unsigned seed) {
    uint16_t *x = malloc((size_t)count * sizeof *x);
    for (int64_t i = 0; x && i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = to_bf16((float)(seed >> 16) / 32768 - 1);
    }
    return x;
}

typedef struct Array {
    int rank;
    int64_t shape[4];
    uint16_t *data; /* the program's own */
} Array;

/* Compiles the only kernel of the file for these arrays and runs it. */
static int run(tw_context *context, const char *target, const char *path, const tw_pair *defines, size_t define_count,
               const Array *arrays, size_t count) {
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_buffer *buffers[4] = {NULL};
    tw_arg args[4];
    tw_status status = TW_OK;
    for (size_t i = 0; i < count && status == TW_OK; i++) {
        tw_buffer_options own;
        tw_buffer_options_init(&own);
        own.data = arrays[i].data;
        own.size = sizeof *arrays[i].data;
        for (int d = 0; d < arrays[i].rank; d++) own.size *= (size_t)arrays[i].shape[d];
        status = tw_buffer_create(context, TW_BF16, arrays[i].rank, arrays[i].shape, &own, &buffers[i]);
        args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[i]};
    }
    tw_module_options source;
    tw_module_options_init(&source);
    source.defines = defines;
    source.define_count = define_count;
    if (status == TW_OK) status = tw_module_load_file(context, path, &source, &module);
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = count;
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &options, &kernel);
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, NULL, args, count); /* its tasks say how many programs */
    if (status != TW_OK) fprintf(stderr, "%s\n", tw_context_message(context));
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    for (size_t i = 0; i < count; i++) tw_buffer_destroy(buffers[i]);
    return status == TW_OK;
}

static double product_error(const uint16_t *a, const uint16_t *b, const uint16_t *c, int64_t m, int64_t n, int64_t k) {
    double worst = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++) sum += from_bf16(a[i * k + p]) * from_bf16(b[p * n + j]);
            worst = fmax(worst, fabs(from_bf16(c[i * n + j]) - sum));
        }
    return worst;
}

static double attention_error(const uint16_t *q, const uint16_t *k, const uint16_t *v, const uint16_t *o, int64_t n, int64_t d) {
    double worst = 0, *weights = malloc((size_t)n * sizeof *weights);
    for (int64_t i = 0; weights && i < n; i++) {
        double total = 0;
        for (int64_t j = 0; j < n; j++) {
            double dot = 0;
            for (int64_t c = 0; c < d; c++) dot += from_bf16(q[i * d + c]) * from_bf16(k[j * d + c]);
            total += weights[j] = exp(dot / sqrt((double)d));
        }
        for (int64_t c = 0; c < d; c++) {
            double sum = 0;
            for (int64_t j = 0; j < n; j++) sum += weights[j] / total * from_bf16(v[j * d + c]);
            worst = fmax(worst, fabs(from_bf16(o[i * d + c]) - sum));
        }
    }
    free(weights);
    return worst;
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "kernels/tilec", *target = argc > 2 ? argv[2] : "cpu";
    enum { M = 200, N = 130, K = 100, LENGTH = 150, D = 64 };
    char path[500];
    tw_context *context;
    if (tw_context_create(NULL, &context) != TW_OK) return 1;

    Array product[] = {{2, {M, K}, numbers(M * K, 1)}, {2, {K, N}, numbers(K * N, 2)}, {2, {M, N}, numbers(M * N, 3)}};
    const tw_pair tiles[] = {{"MB", "2"}, {"NB", "2"}}; /* tiles of C of 128 x 128 */
    snprintf(path, sizeof path, "%s/matmul.tile.c", folder);
    int good = run(context, target, path, tiles, 2, product, 3);
    double error = good ? product_error(product[0].data, product[1].data, product[2].data, M, N, K) : 1;
    if (good) printf("matmul %dx%dx%d: %s\n", M, N, K, error < 0.06 ? "right" : "WRONG");
    good = good && error < 0.06;

    Array attention[4];
    for (unsigned i = 0; i < 4; i++) attention[i] = (Array){4, {1, 1, LENGTH, D}, numbers(LENGTH * D, 4 + i)};
    const tw_pair head[] = {{"D", "64"}, {"WORKERS", "2"}};
    snprintf(path, sizeof path, "%s/attention_lcf.tile.c", folder);
    int ran = run(context, target, path, head, 2, attention, 4);
    if (ran) {
        error = attention_error(attention[0].data, attention[1].data, attention[2].data, attention[3].data, LENGTH, D);
        printf("attention of %d queries: %s\n", LENGTH, error < 0.02 ? "right" : "WRONG");
    }
    for (int i = 0; i < 3; i++) free(product[i].data);
    for (int i = 0; i < 4; i++) free(attention[i].data);
    tw_context_destroy(context);
    return !(good && ran && error < 0.02);
}
