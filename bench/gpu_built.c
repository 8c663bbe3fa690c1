/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_built.c: what a launch of a kernel built ahead of time costs the host: through its function, and the same launch
 * (function, grid and parameters that it handed to the driver last) by the driver alone.
 *
 *     build/bench_gpu_built [--quick]
 *
 * Two kernels of `tilewright build`: an add of four arguments, and a product whose arrays are tensor maps. Both ways take
 * turns; a turn is some launches in a row, then a synchronisation that is not timed. Prints JSON: for each kernel the
 * medians in us, and driver's / ours of each turn; and what the driver takes to encode one tensor map.
 *
 * It is linked with --wrap=dlsym: so it stands between the objects and the driver, and can keep what they launch. */
#include "built_add.h"
#include "built_matmul.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAUNCHES = 400, TURNS = 31, PARAMS = 32, PARAM_BYTES = 128, MAP_CALLS = 20000 };

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

static void need(int result, const char *what) {
    if (!result) return;
    fprintf(stderr, "%s: the driver's error %d\n", what, result);
    exit(1);
}

/* --- between the objects and the driver --- */

typedef int Launch(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
typedef int LaunchBy(const void *, void *, void **, void **);

enum { CONFIG_BYTES = 56, CONFIG_ATTRIBUTES = 40, CONFIG_COUNT = 48, ATTRIBUTE_BYTES = 72, ATTRIBUTES = 4 }; /* of CUlaunchConfig */
static Launch *driver_launch;
static LaunchBy *driver_launch_by;
static int (*param_info)(void *, size_t, size_t *, size_t *);
static int keep; /* the next launch */

static struct Kept {
    int by_config;
    void *function, *stream, *params[PARAMS + 1];
    unsigned numbers[7]; /* grid, block, shared memory */
    char config[CONFIG_BYTES], attributes[ATTRIBUTES * ATTRIBUTE_BYTES];
    _Alignas(64) char bytes[PARAMS][PARAM_BYTES];
} kept;

static void keep_params(void *function, void **params) {
    size_t offset, size;
    kept.function = function;
    for (size_t i = 0; param_info(function, i, &offset, &size) == 0; i++) {
        need(i >= PARAMS || size > PARAM_BYTES, "a kernel of too many parameters");
        memcpy(kept.bytes[i], params[i], size);
        kept.params[i] = kept.bytes[i];
        kept.params[i + 1] = NULL;
    }
    keep = 0;
}

static int launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                  unsigned shared, void *stream, void **params, void **extra) {
    if (keep) {
        const unsigned numbers[] = {gx, gy, gz, bx, by, bz, shared};
        kept.by_config = 0;
        kept.stream = stream;
        memcpy(kept.numbers, numbers, sizeof numbers);
        keep_params(function, params);
    }
    return driver_launch(function, gx, gy, gz, bx, by, bz, shared, stream, params, extra);
}

static int launch_by(const void *config, void *function, void **params, void **extra) {
    if (keep) {
        const void *attributes;
        unsigned count;
        memcpy(kept.config, config, CONFIG_BYTES);
        memcpy(&attributes, kept.config + CONFIG_ATTRIBUTES, sizeof attributes);
        memcpy(&count, kept.config + CONFIG_COUNT, sizeof count);
        need(count > ATTRIBUTES, "a launch of too many attributes");
        memcpy(kept.attributes, attributes, count * ATTRIBUTE_BYTES);
        attributes = kept.attributes;
        memcpy(kept.config + CONFIG_ATTRIBUTES, &attributes, sizeof attributes);
        kept.by_config = 1;
        keep_params(function, params);
    }
    return driver_launch_by(config, function, params, extra);
}

void *__real_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name);
void *__wrap_dlsym(void *library, const char *name) {
    void *at = __real_dlsym(library, name), *ours = at;
    Launch *const plain = launch;
    LaunchBy *const by = launch_by;
    if (strcmp(name, "cuLaunchKernel") == 0) memcpy(&driver_launch, &at, sizeof at), memcpy(&ours, &plain, sizeof at);
    if (strcmp(name, "cuLaunchKernelEx") == 0) memcpy(&driver_launch_by, &at, sizeof at), memcpy(&ours, &by, sizeof at);
    return ours;
}

static int launch_kept(void) {
    const unsigned *n = kept.numbers;
    if (kept.by_config) return driver_launch_by(kept.config, kept.function, kept.params, NULL);
    return driver_launch(kept.function, n[0], n[1], n[2], n[3], n[4], n[5], n[6], kept.stream, kept.params, NULL);
}

/* --- kernels --- */

enum { ADD = 1024, SIZE = 256 };
static int (*synchronize)(void);
static void *memory[3];

static int run_add(void) {
    return built_add(memory[0], ADD, memory[1], ADD, memory[2], ADD, ADD, 1, 1, 1, NULL);
}

static int run_matmul(void) {
    const size_t count = SIZE * SIZE;
    return built_matmul(memory[0], count, memory[1], count, memory[2], count, SIZE, SIZE, SIZE, SIZE, 1, SIZE, 1, SIZE, 1,
                        SIZE / 128 * (SIZE / 128), 1, 1, NULL);
}

static void time_kernel(const char *name, int (*run)(void), int turns) {
    double ours[TURNS], driver[TURNS];
    keep = 1;
    need(run(), name);
    need(keep, "a launch that was not seen");
    for (int turn = -2; turn < turns; turn++) {
        double spent[2];
        for (int half = 0; half < 2; half++) {
            const int by_driver = (half + turn) & 1; /* who begins changes */
            const double start = now();
            for (int i = 0; i < LAUNCHES; i++) need(by_driver ? launch_kept() : run(), name);
            spent[by_driver] = (now() - start) / LAUNCHES;
            need(synchronize(), "waiting");
        }
        if (turn >= 0) ours[turn] = spent[0], driver[turn] = spent[1];
    }
    printf("\"%s\": {\"ours_us\": %.4f, \"driver_us\": %.4f, \"turns\": [", name, median(ours, turns), median(driver, turns));
    for (int i = 0; i < turns; i++) printf("%s%.4f", i ? ", " : "", driver[i] / ours[i]);
    printf("]}, ");
}

/* --- the driver --- */

static void find(void *driver, const char *name, void *to) {
    void *at = __real_dlsym(driver, name);
    if (!at) fprintf(stderr, "libcuda.so.1 has no %s\n", name), exit(1);
    memcpy(to, &at, sizeof at);
}

static void time_map(void *driver) {
    int (*encode)(void *, int, unsigned, void *, const unsigned long long *, const unsigned long long *, const unsigned *,
                  const unsigned *, int, int, int, int);
    _Alignas(64) char map[128];
    const unsigned long long dims[] = {SIZE, SIZE}, strides[] = {2 * SIZE};
    const unsigned box[] = {64, 64}, steps[] = {1, 1};
    enum { BF16 = 9, SWIZZLE_128 = 3, PROMOTE_256 = 3 };
    find(driver, "cuTensorMapEncodeTiled", &encode);
    const double start = now();
    for (int i = 0; i < MAP_CALLS; i++)
        need(encode(map, BF16, 2, memory[0], dims, strides, box, steps, 0, SWIZZLE_128, PROMOTE_256, 0), "a tensor map");
    printf("\"encode_us\": %.4f", (now() - start) / MAP_CALLS);
}

int main(int argc, char **argv) {
    const int turns = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 9 : TURNS;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context = NULL;
    int (*init)(unsigned), (*retain)(void **, int), (*push)(void *), (*alloc)(void **, size_t), (*clear)(void *, unsigned char, size_t);
    if (!driver) return fputs("libcuda.so.1 is not here\n", stderr), 1;
    find(driver, "cuInit", &init);
    find(driver, "cuDevicePrimaryCtxRetain", &retain);
    find(driver, "cuCtxPushCurrent_v2", &push);
    find(driver, "cuCtxSynchronize", &synchronize);
    find(driver, "cuMemAlloc_v2", &alloc);
    find(driver, "cuMemsetD8_v2", &clear);
    find(driver, "cuFuncGetParamInfo", &param_info);
    need(init(0), "cuInit");
    need(retain(&context, 0), "the primary context");
    need(push(context), "the primary context");
    for (int i = 0; i < 3; i++) {
        need(alloc(&memory[i], SIZE * SIZE * 4), "memory");
        need(clear(memory[i], 0, SIZE * SIZE * 4), "memory");
    }
    printf("{");
    time_kernel("add", run_add, turns);
    time_kernel("matmul", run_matmul, turns);
    time_map(driver);
    printf("}\n");
    return 0;
}
