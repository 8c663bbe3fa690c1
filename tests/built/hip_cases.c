/* SPDX-License-Identifier: Apache-2.0 */
/* hip_cases.c: kernels that were built for AMD's GPUs, in a plain C program. The driver stands in for AMD's and runs what it
 * is given on the emulator (tests/gpu/fake_hip.c): numbers, arguments, grids and memory are those of a launch.
 *
 *   hip_cases none       where there is no driver
 *   hip_cases            on the architecture that FAKE_ARCH says */
#define _GNU_SOURCE
#include "hip_all.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, checks;
#define CHECK(condition)                                                     \
    do {                                                                     \
        checks++;                                                            \
        if (!(condition)) {                                                  \
            failures++;                                                      \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
        }                                                                    \
    } while (0)

static int (*take)(void **address, size_t bytes), (*await)(void), (*use)(int device), (*calls)(const char *name);
static void (*forget)(void);

static void find(void *library, const char *name, void *to) {
    void *at = dlsym(library, name);
    if (!at) printf("%s is not there\n", name), exit(1);
    memcpy(to, &at, sizeof at);
}

static void *memory(size_t bytes) {
    void *at = NULL;
    if (take(&at, bytes)) exit(3);
    return memset(at, 0, bytes);
}

enum { N = 600, ROOM = 4096 };

/* From `skew` elements on: where it is 1 nothing is aligned, which another code computes. */
static void test_add(int skew, void *stream) {
    float *x = (float *)memory(ROOM) + skew, *y = (float *)memory(ROOM) + skew, *z = (float *)memory(ROOM) + skew;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 2.0f;
    CHECK(hip_add(x, N, y, N, z, N, N, 10, 1, 1, stream) == TW_BUILT_OK && await() == 0);
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += z[i] != (float)(i + 2);
    CHECK(!wrong && z[N] == 0);
    CHECK(hip_add(x, N, y, N, x, N, N, 10, 1, 1, stream) == TW_BUILT_OK && await() == 0 && x[N - 1] == N + 1); /* in place */
}

static void test_matmul(void) {
    enum { M = 96, COLUMNS = 64, K = 128 };
    uint16_t *a = memory(2 * M * K), *b = memory(2 * COLUMNS * K);
    float *c = memory(4 * M * COLUMNS);
    for (int i = 0; i < M * K; i++) a[i] = (uint16_t)(0x3f80 + (i % 3 << 6)); /* 1, 1.5, 2 */
    for (int i = 0; i < COLUMNS * K; i++) b[i] = (uint16_t)(0x3f80 | (i % 5 < 2) << 15);
    CHECK(hip_matmul(a, M * K, b, COLUMNS * K, c, M * COLUMNS, M, COLUMNS, K, K, K, COLUMNS, 3, 2, 1, NULL) == TW_BUILT_OK);
    CHECK(await() == 0);
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0; /* of halves: exact */
            for (int k = 0; k < K; k++) sum += (1.0f + 0.5f * (float)((i * K + k) % 3)) * ((j * K + k) % 5 < 2 ? -1.0f : 1.0f);
            wrong += sum != c[i * COLUMNS + j];
        }
    CHECK(!wrong);
}

static void test_splitk(void) {
    uint16_t *a = memory(2 * 64 * 96), *b = memory(2 * 96 * 64);
    float *c = memory(4 * 64 * 64);
    for (int i = 0; i < 64 * 96; i++) a[i] = 0x3c00, b[i] = 0x4000;
    forget();
    CHECK(hip_splitk(a, 64 * 96, b, 96 * 64, c, 64 * 64, NULL) == TW_BUILT_OK && await() == 0);
    CHECK(calls("hipMallocAsync") == 1 && calls("hipFreeAsync") == 1 && calls("hipModuleLaunchKernel") == 2);
    int wrong = 0;
    for (int i = 0; i < 64 * 64; i++) wrong += c[i] != 192.0f;
    CHECK(!wrong);
}

static void test_refused(void) {
    float *x = memory(ROOM);
    forget();
    CHECK(hip_add(NULL, 8, x, 8, x, 8, 8, 1, 1, 1, NULL) == TW_BUILT_NULL);
    CHECK(hip_add(x, 8, x, 8, x, 8, 8, 1, 65536, 1, NULL) == TW_BUILT_GRID);
    CHECK(hip_add(x, 8, x, 8, x, 8, 8, (int64_t)1 << 30, 1, 1, NULL) == TW_BUILT_GRID); /* 2^32 threads and more */
    CHECK(hip_add(x, 8, x, 8, x, 8, 8, 0, 1, 1, NULL) == TW_BUILT_OK && calls("hipModuleLaunchKernel") == 0);
    setenv("FAKE_HIP", "hipModuleLaunchKernel=719", 1);
    CHECK(hip_add(x, 8, x, 8, x, 8, 8, 1, 1, 1, NULL) == TW_BUILT_CUDA + 719);
    CHECK(strcmp(hip_add_error(TW_BUILT_CUDA + 719), "hipErrorLaunchFailure") == 0);
    unsetenv("FAKE_HIP");
    CHECK(use(1) == 0); /* another device loads its own */
    forget();
    test_add(0, NULL);
    CHECK(calls("hipModuleLoadData") >= 1);
    setenv("FAKE_ARCH", "gfx1030", 1);
    CHECK(use(2) == 0 && hip_add(x, 8, x, 8, x, 8, 8, 1, 1, 1, NULL) == TW_BUILT_MACHINE);
}

int main(int argc, char **argv) {
    static float x[8];
    (void)argv;
    if (argc > 1) return hip_add(x, 8, x, 8, x, 8, 8, 1, 1, 1, NULL) == TW_BUILT_DRIVER ? 0 : 1;
    setenv("FAKE_COUNT", "3", 1);
    void *library = dlopen("libamdhip64.so", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    find(library, "hipMalloc", &take), find(library, "hipDeviceSynchronize", &await), find(library, "hipSetDevice", &use);
    find(library, "fake_calls", &calls), find(library, "fake_forget", &forget);
    test_add(0, NULL);
    test_add(1, (void *)7);
    test_matmul();
    test_splitk();
    test_refused();
    printf("hip: %d checks, %d failures\n", checks, failures);
    return failures != 0;
}
