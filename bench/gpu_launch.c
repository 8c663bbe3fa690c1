/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_launch.c: what a warm launch of a kernel with four arguments costs the host: through
 * tw_kernel_launch, and the same cubin through cuLaunchKernel alone.
 *
 *     build/bench_gpu_launch kernels/triton/add.py [--quick]
 *
 * Both take turns; a turn is some launches of one block in a row, then a synchronisation that is not
 * timed. Prints JSON: the medians in us, and driver's / ours of each turn. */
#include "tilewright.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 1024, LAUNCHES = 400, TURNS = 31 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count) {
    double sorted[TURNS];
    memcpy(sorted, values, sizeof *values * (size_t)count);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    return sorted[count / 2];
}

static tw_context *context;
static void need(int ok, const char *what) {
    if (ok) return;
    fprintf(stderr, "%s: %s\n", what, context ? tw_context_message(context) : "");
    exit(1);
}

static const char *find_cubin(const tw_kernel *kernel) {
    for (size_t i = 0; i < tw_kernel_artifact_count(kernel); i++)
        if (strstr(tw_kernel_artifact_name(kernel, i), ".cubin"))
            return tw_kernel_artifact_text(kernel, i, NULL);
    return NULL;
}

/* The driver's own functions, by hand. */
static int (*cu_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        void *, void **, void **);
static int (*cu_synchronize)(void);

static void *load_function(const char *cubin, const char *name) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *own = NULL, *module = NULL, *function = NULL;
    need(driver != NULL, "libcuda.so.1");
    int (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *),
        (*get)(void **, void *, const char *);
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&load = dlsym(driver, "cuModuleLoadData");
    *(void **)&get = dlsym(driver, "cuModuleGetFunction");
    *(void **)&cu_launch = dlsym(driver, "cuLaunchKernel");
    *(void **)&cu_synchronize = dlsym(driver, "cuCtxSynchronize");
    need(retain(&own, 0) == 0 && set(own) == 0, "the primary context");
    need(load(&module, cubin) == 0 && get(&function, module, name) == 0, "loading the cubin");
    return function;
}

int main(int argc, char **argv) {
    int turns = argc > 2 ? 9 : TURNS;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    need(argc > 1, "usage: bench_gpu_launch add.py [--quick]");
    need(tw_context_create(NULL, &context) == TW_OK, "the context");
    need(tw_module_load_file(context, argv[1], NULL, &module) == TW_OK, "the kernel's file");
    int64_t shape = N, grid[3] = {1, 1, 1};
    tw_buffer_options where;
    tw_buffer_options_init(&where);
    where.target = "cuda";
    tw_arg args[5] = {[3] = {.kind = TW_ARG_INT, .value.i = N}, [4] = {.kind = TW_ARG_INT, .value.i = N}};
    void *address[3];
    for (int i = 0; i < 3; i++) {
        tw_buffer *buffer = NULL;
        need(tw_buffer_create(context, TW_F32, 1, &shape, &where, &buffer) == TW_OK, "an array");
        args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffer};
        address[i] = tw_buffer_data(buffer);
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "cuda";
    options.args = args;
    options.arg_count = 5;
    need(tw_kernel_compile(module, "add_kernel", &options, &kernel) == TW_OK, "compiling");
    tw_resource_info resources = {.struct_size = sizeof resources};
    tw_kernel_resources(kernel, &resources);
    void *function = load_function(find_cubin(kernel), "add_kernel");
    int32_t n = N;
    void *params[4] = {&address[0], &address[1], &address[2], &n};
    double ours[TURNS], driver[TURNS];
    for (int turn = -2; turn < turns; turn++) {
        double start = now();
        for (int i = 0; i < LAUNCHES; i++)
            need(tw_kernel_launch(kernel, NULL, grid, args, 5) == TW_OK, "launching");
        double middle = now();
        cu_synchronize();
        double again = now();
        for (int i = 0; i < LAUNCHES; i++)
            need(cu_launch(function, 1, 1, 1, (unsigned)resources.threads, 1, 1,
                           (unsigned)resources.shared_bytes, NULL, params, NULL) == 0,
                 "cuLaunchKernel");
        double end = now();
        cu_synchronize();
        if (turn < 0) continue;
        ours[turn] = (middle - start) / LAUNCHES;
        driver[turn] = (end - again) / LAUNCHES;
    }
    printf("{\"ours_us\": %.4f, \"driver_us\": %.4f, \"turns\": [", median(ours, turns),
           median(driver, turns));
    for (int i = 0; i < turns; i++) printf("%s%.4f", i ? ", " : "", driver[i] / ours[i]);
    printf("]}\n");
    return 0;
}
