/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_cases.c: kernels that were built for GPUs, in a plain C program with a driver that stands in for NVIDIA's
 * (tests/gpu/fake_cuda.c): what it is asked to load and to launch, with what; what is refused. The vector add is really
 * computed, out of the parameters that the driver is given.
 *
 *   cuda_cases none      where there is no driver
 *   cuda_cases           four devices: sm_90, sm_86, sm_75, sm_90; the second with little shared memory */
#define _GNU_SOURCE
#include "cuda_add.h"
#include "cuda_matmul.h"
#include "cuda_splitk.h"

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

static int (*retain)(void **context, int device), (*push)(void *context), (*calls)(const char *name), (*last_device)(void);
static _Bool (*last_ptx)(void);
static void *(*last_stream)(void);
static unsigned (*last_grid)(int d);
static void (*on_launch)(void (*call)(void **params)), (*forget)(void);

static void find(void *library, const char *name, void *to) {
    void *at = dlsym(library, name);
    if (!at) printf("%s is not there\n", name), exit(1);
    memcpy(to, &at, sizeof at);
}

static void use_device(int device) {
    void *context;
    CHECK(!retain(&context, device) && !push(context));
}

enum { N = 3000 };
static _Alignas(64) float memory[4 * N];

static void compute_add(void **params) {
    const float *x = *(float **)params[0], *y = *(float **)params[1];
    float *z = *(float **)params[2];
    for (int i = 0; i < *(int *)params[3]; i++) z[i] = x[i] + y[i];
}

static int32_t add(float *x, float *y, float *z, void *stream) {
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 2.0f;
    memset(z, 0, sizeof(float) * N);
    int32_t status = cuda_add(x, N, y, N, z, N, N, 3, 1, 1, stream);
    for (int i = 0; !status && i < N; i++) CHECK(z[i] == (float)(i + 2));
    return status;
}

static void test_add(void) {
    float *x = memory, *y = memory + N, *z = memory + 2 * N;
    CHECK(add(x, y, z, NULL) == TW_BUILT_CUDA + 201); /* no context is current */
    CHECK(strcmp(cuda_add_error(TW_BUILT_CUDA + 700), "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    use_device(0);
    CHECK(add(x, y, z, NULL) == TW_BUILT_OK);
    CHECK(add(x, y, z, (void *)7) == TW_BUILT_OK && last_stream() == (void *)7);
    CHECK(last_grid(0) == 3 && last_grid(1) == 1 && last_grid(2) == 1);
    CHECK(calls("cuModuleLoadData") == 1);                                    /* what is loaded stays */
    CHECK(add(x + 1, y + 1, z + 1, NULL) == TW_BUILT_OK && calls("cuModuleLoadData") == 2); /* not aligned: another code */
    forget();
    CHECK(cuda_add(NULL, 8, y, 8, z, 8, 8, 1, 1, 1, NULL) == TW_BUILT_NULL);
    CHECK(cuda_add(x, 8, y, 8, z, 8, 8, 1, 65536, 1, NULL) == TW_BUILT_GRID);
    CHECK(cuda_add(x, 8, y, 8, z, 8, 8, -1, 1, 1, NULL) == TW_BUILT_GRID);
    CHECK(cuda_add(x, 8, y, 8, z, 8, 8, 0, 1, 1, NULL) == TW_BUILT_OK && calls("cuLaunchKernel") == 0);
    setenv("FAKE_CUDA", "cuLaunchKernel=701", 1);
    CHECK(cuda_add(x, 8, y, 8, z, 8, 8, 1, 1, 1, NULL) == TW_BUILT_CUDA + 701);
    unsetenv("FAKE_CUDA");
}

static void test_devices(void) {
    float *x = memory, *y = memory + N, *z = memory + 2 * N;
    use_device(1); /* sm_86: the code for sm_80 */
    forget();
    CHECK(add(x, y, z, NULL) == TW_BUILT_OK && last_device() == 1 && calls("cuModuleLoadData") == 1 && !last_ptx());
    use_device(2);
    CHECK(add(x, y, z, NULL) == TW_BUILT_MACHINE);
    CHECK(strstr(cuda_add_error(TW_BUILT_MACHINE), "GPU"));
    setenv("FAKE_NO_CUBIN", "1", 1); /* sm_86, which takes the PTX alone */
    use_device(1);
    CHECK(add(x, y, z + 1, NULL) == TW_BUILT_OK && last_ptx());
    use_device(3); /* sm_90 has no PTX here */
    CHECK(add(x, y, z, NULL) == TW_BUILT_CUDA + 209);
    unsetenv("FAKE_NO_CUBIN");
    CHECK(add(x, y, z, NULL) == TW_BUILT_OK && last_device() == 3); /* once it can be loaded, it is */
}

/* --- tensor maps --- */

enum { M = 256, COLUMNS = 384, K = 512 };
static _Alignas(64) uint16_t a[M * K], b[K * COLUMNS], c[M * COLUMNS];
static int maps_right, rows_of_a = M;

static int is_map(const uint64_t *map, const void *base, uint64_t columns, uint64_t rows, uint64_t box) {
    return map[0] == (uintptr_t)base && map[1] == 9 /* bf16 */ && map[2] == 2 && map[3] == 3 /* 128 bytes */ &&
           map[4] == columns && map[5] == rows && map[9] == 2 * columns && map[13] == box;
}

/* Behind the kernel's own twelve arguments: maps of c, a and b, then the grid. */
static void see_matmul(void **params) {
    maps_right = *(uint16_t **)params[0] == a && *(int *)params[5] == K &&
                 is_map(params[12], c, COLUMNS, (uint64_t)rows_of_a, 64 | (uint64_t)128 << 32) &&
                 is_map(params[13], a, K, (uint64_t)rows_of_a, 64 | (uint64_t)128 << 32) &&
                 is_map(params[14], b, COLUMNS, K, 64 | (uint64_t)64 << 32) && *(int *)params[15] == 6;
}

#define MATMUL(stride)                                                                                              \
    cuda_matmul(a, M * K, b, K * COLUMNS, c, M * COLUMNS, rows_of_a, COLUMNS, K, stride, 1, COLUMNS, 1, COLUMNS, 1, 6, 1, 1, NULL)

static void test_matmul(void) {
    use_device(0);
    on_launch(see_matmul);
    forget();
    CHECK(MATMUL(K) == TW_BUILT_OK && maps_right && last_grid(0) == 6);
    CHECK(calls("cuTensorMapEncodeTiled") == 3 && calls("cuFuncSetAttribute") == 1);
    maps_right = 0;
    CHECK(MATMUL(K) == TW_BUILT_OK && maps_right && calls("cuTensorMapEncodeTiled") == 3); /* the maps of the launch before */
    rows_of_a = M - 1;
    CHECK(MATMUL(K) == TW_BUILT_OK && maps_right && calls("cuTensorMapEncodeTiled") == 5); /* of a and c */
    rows_of_a = M;
    setenv("FAKE_CUDA", "cuTensorMapEncodeTiled=1", 1);
    CHECK(MATMUL(K) == TW_BUILT_CUDA + 1);
    unsetenv("FAKE_CUDA");
    maps_right = 0;
    CHECK(MATMUL(K) == TW_BUILT_OK && maps_right); /* what could not be made is made now */
    on_launch(NULL);
    forget();
    CHECK(MATMUL(K - 1) == TW_BUILT_OK && calls("cuModuleLoadData") == 1); /* rows that TMA cannot take: another code */
    use_device(1);
    CHECK(MATMUL(K) == TW_BUILT_MACHINE); /* its blocks have less shared memory than the code wants */
}

/* --- memory between two launches --- */

static void test_space(void) {
    use_device(0);
    forget();
#define SPLITK cuda_splitk(a, 64 * 96, b, 96 * 64, (float *)(void *)memory, 64 * 64, (void *)5)
    CHECK(SPLITK == TW_BUILT_OK && last_stream() == (void *)5);
    CHECK(calls("cuMemAllocAsync") == 1 && calls("cuMemFreeAsync") == 1);
    CHECK(calls("cuLaunchKernel") + calls("cuLaunchKernelEx") == 2);
    forget();
    setenv("FAKE_CUDA", "cuMemAllocAsync=2", 1);
    CHECK(SPLITK == TW_BUILT_CUDA + 2 && calls("cuLaunchKernel") + calls("cuLaunchKernelEx") == 0);
    setenv("FAKE_CUDA", "cuLaunchKernel=701 cuLaunchKernelEx=701", 1);
    forget();
    CHECK(SPLITK == TW_BUILT_CUDA + 701 && calls("cuMemFreeAsync") == 1); /* it is given back all the same */
    unsetenv("FAKE_CUDA");
}

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) return cuda_add(memory, 8, memory, 8, memory, 8, 8, 1, 1, 1, NULL) == TW_BUILT_DRIVER ? 0 : 1;
    setenv("FAKE_COUNT", "4", 1), setenv("FAKE_ARCH", "90,86,75,90", 1), setenv("FAKE_SHARED_1", "101376", 1);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return printf("%s\n", dlerror()), 1;
    find(library, "cuDevicePrimaryCtxRetain", &retain), find(library, "cuCtxPushCurrent_v2", &push);
    find(library, "fake_calls", &calls), find(library, "fake_last_device", &last_device);
    find(library, "fake_last_ptx", &last_ptx), find(library, "fake_last_stream", &last_stream);
    find(library, "fake_last_grid", &last_grid), find(library, "fake_on_launch", &on_launch);
    find(library, "fake_forget", &forget);
    on_launch(compute_add);
    test_add();
    test_devices();
    test_matmul();
    test_space();
    printf("cuda: %d checks, %d failures\n", checks, failures);
    return failures != 0;
}
