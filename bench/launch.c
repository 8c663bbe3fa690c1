/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c: what a warm launch on target cpu costs beyond its work: add over one block of 64 numbers, through
 * tw_kernel_launch, by one thread and then by several at once on the same kernel.
 *
 *     build/bench_launch [THREADS] */
#include "tilewright.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, TIMES = 200000 };

static const char text[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                           "def add(x, y, n, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n"
                           "    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n";

typedef struct Run {
    tw_context *context;
    tw_kernel *kernel;
    double ns;
} Run;

static void must(tw_context *context, tw_status status) {
    if (status == TW_OK) return;
    fprintf(stderr, "%s\n", tw_context_message(context));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *run(void *user) {
    Run *r = user;
    tw_buffer *x = NULL, *y = NULL;
    int64_t extent = 64, grid[3] = {1, 1, 1};
    must(r->context, tw_buffer_create(r->context, TW_F32, 1, &extent, NULL, &x));
    must(r->context, tw_buffer_create(r->context, TW_F32, 1, &extent, NULL, &y));
    tw_arg args[4] = {{.kind = TW_ARG_BUFFER, .value.buffer = x},
                      {.kind = TW_ARG_BUFFER, .value.buffer = y},
                      {.kind = TW_ARG_INT, .value.i = 64}};
    for (int i = 0; i < 1000; i++) must(r->context, tw_kernel_launch(r->kernel, NULL, grid, args, 4));
    r->ns = 1e30;
    for (int part = 0; part < 20; part++) { /* the quickest of 20: others use the machine too */
        double start = now();
        for (int i = 0; i < TIMES / 20; i++) must(r->context, tw_kernel_launch(r->kernel, NULL, grid, args, 4));
        double each = (now() - start) / (TIMES / 20);
        if (each < r->ns) r->ns = each;
    }
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
    return NULL;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 8;
    tw_context *context = NULL;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    if (count < 1 || count > MOST || tw_context_create(NULL, &context) != TW_OK) return 2;
    must(context, tw_module_load_text(context, "add.py", text, strlen(text), NULL, &module));
    tw_arg types[4] = {{.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                       {.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                       {.kind = TW_ARG_NUMBER_TYPE, .value.i = TW_I32},
                       {.kind = TW_ARG_INT, .value.i = 64}};
    tw_compile_options options = {.struct_size = sizeof options, .args = types, .arg_count = 4};
    must(context, tw_kernel_compile(module, NULL, &options, &kernel));
    Run alone = {context, kernel, 0}, runs[MOST];
    pthread_t threads[MOST];
    run(&alone);
    printf("one thread: %.0f ns a launch\n", alone.ns);
    for (int i = 0; i < count; i++) {
        runs[i] = alone;
        pthread_create(&threads[i], NULL, run, &runs[i]);
    }
    double worst = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (runs[i].ns > worst) worst = runs[i].ns;
    }
    printf("%d threads on one kernel: %.0f ns a launch, on the slowest of them\n", count, worst);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    tw_context_destroy(context);
    return 0;
}
