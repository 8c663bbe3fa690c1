/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c: what a target of this machine can do at most, as two kernels measure it: bytes a second of a copy (read and
 * written) of arrays larger than most caches, operations a second of a product. Targets that model a machine have
 * none. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const char copy_text[] =
    "import triton\nimport triton.language as tl\n\n@triton.jit\n"
    "def copy(x, y, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)\n";

static const char product_text[] =
    "import triton\nimport triton.language as tl\n\n@triton.jit\n"
    "def product(x, y, z, N, M: tl.constexpr, K: tl.constexpr):\n"
    "    i = tl.program_id(0) * M + tl.arange(0, M)\n"
    "    j = tl.program_id(1) * M + tl.arange(0, M)\n"
    "    k = tl.arange(0, K)\n"
    "    a = x + i[:, None] * N + k[None, :]\n"
    "    b = y + k[:, None] * N + j[None, :]\n"
    "    sum = tl.zeros((M, M), tl.float32)\n"
    "    for _ in range(0, N, K):\n"
    "        sum = tl.dot(tl.load(a), tl.load(b), sum)\n"
    "        a += K\n"
    "        b += K * N\n"
    "    tl.store(z + i[:, None] * N + j[None, :], sum)\n";

enum { TILE = 128, BLOCK = 8192, MOST_ARGS = 6 };

typedef struct Probe {
    tw_context *context;
    tw_module *module;
    tw_kernel *kernel;
    tw_stream *stream;
    tw_arg args[MOST_ARGS];
    size_t count;
    int64_t grid[3];
} Probe;

static tw_status add_array(Probe *p, const char *target, int32_t dtype, int64_t elements) {
    tw_buffer_options options;
    tw_buffer *buffer = NULL;
    tw_buffer_options_init(&options);
    options.target = target;
    tw_status status = tw_buffer_create(p->context, dtype, 1, &elements, &options, &buffer);
    p->args[p->count] = (tw_arg){.kind = TW_ARG_BUFFER};
    p->args[p->count++].value.buffer = buffer;
    return status;
}

static void add_integer(Probe *p, int64_t value) {
    p->args[p->count] = (tw_arg){.kind = TW_ARG_INT};
    p->args[p->count++].value.i = value;
}

static tw_status prepare(Probe *p, const char *target, const char *text) {
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = p->args;
    options.arg_count = p->count;
    tw_status status = tw_module_load_text(p->context, "probe.py", text, strlen(text), NULL, &p->module);
    if (status == TW_OK) status = tw_kernel_compile(p->module, NULL, &options, &p->kernel);
    return status == TW_OK ? tw_stream_create(p->context, target, &p->stream) : status;
}

/* The least time of a few launches, the first of which warms up. */
static tw_status take_time(Probe *p, double *least) {
    enum { LAUNCHES = 8 };
    tw_status status = TW_OK;
    *least = 1e30;
    for (int i = 0; i < LAUNCHES && status == TW_OK; i++) {
        double start = seconds_now();
        status = tw_kernel_launch(p->kernel, p->stream, p->grid, p->args, p->count);
        if (status == TW_OK) status = tw_stream_synchronize(p->stream);
        double spent = seconds_now() - start;
        if (i && spent < *least) *least = spent;
    }
    return status;
}

static void release(Probe *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->args[i].kind == TW_ARG_BUFFER) tw_buffer_destroy(p->args[i].value.buffer);
    tw_stream_destroy(p->stream);
    tw_kernel_destroy(p->kernel);
    tw_module_destroy(p->module);
    *p = (Probe){.context = p->context};
}

static tw_status measure_copy(Probe *p, const char *target, int64_t bytes, double *rate) {
    int64_t elements = bytes / 4;
    double least = 0;
    tw_status status = add_array(p, target, TW_F32, elements);
    if (status == TW_OK) status = add_array(p, target, TW_F32, elements);
    add_integer(p, elements);
    add_integer(p, BLOCK);
    p->grid[0] = elements / BLOCK, p->grid[1] = p->grid[2] = 1;
    if (status == TW_OK) status = prepare(p, target, copy_text);
    if (status == TW_OK) status = take_time(p, &least);
    *rate = 2.0 * (double)bytes / least;
    release(p);
    return status;
}

static tw_status measure_product(Probe *p, const char *target, int64_t n, int32_t dtype, double *rate) {
    double least = 0;
    tw_status status = add_array(p, target, dtype, n * n);
    if (status == TW_OK) status = add_array(p, target, dtype, n * n);
    if (status == TW_OK) status = add_array(p, target, TW_F32, n * n);
    add_integer(p, n);
    add_integer(p, TILE);
    add_integer(p, 64);
    p->grid[0] = p->grid[1] = n / TILE, p->grid[2] = 1;
    if (status == TW_OK) status = prepare(p, target, product_text);
    if (status == TW_OK) status = take_time(p, &least);
    *rate = 2.0 * (double)n * (double)n * (double)n / least;
    release(p);
    return status;
}

int measure_peaks(const Options *o, int32_t dtype, Peaks *peaks) {
    Probe p = {0};
    bool host = strcmp(o->target, "cpu") == 0;
    *peaks = (Peaks){.known = true, .dtype = dtype};
    if (o->emulate || (!host && !has_memory(o->target))) return 0;
    tw_status status = tw_context_create(NULL, &p.context);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    status = measure_copy(&p, o->target, (int64_t)(host ? 1 : 4) << 26, &peaks->copy);
    if (status == TW_OK) status = measure_product(&p, o->target, host ? 1024 : 8192, dtype, &peaks->flops);
    int code = status == TW_OK ? 0 : fail_status(p.context, status);
    release(&p);
    tw_context_destroy(p.context);
    return code;
}
