/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_faults.c: a process that goes on after its GPU has failed: which kernels are named, what later calls say, and
 * that nothing is freed twice or waited for without end; and which launches are clusters. The driver is the one that fails as it is told
 * (tests/gpu/fake_cuda.c); the program builds it and starts itself again with it, once a story, because the loader reads
 * LD_LIBRARY_PATH at the start only. */
#include "check.h"
#include "tilewright.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char text[] = "import triton\nimport triton.language as tl\n\n"
                           "@triton.jit\ndef twice(x, n, B: tl.constexpr):\n"
                           "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                           "    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)\n\n"
                           "@triton.jit\ndef zero(x, n, B: tl.constexpr):\n"
                           "    i = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(x + i, 0.0, mask=i < n)\n\n"
                           "@triton.jit\ndef product(a, b, c, M, N, K):\n"
                           "    m = tl.program_id(0) * 128 + tl.arange(0, 128)\n    n = tl.program_id(1) * 64 + tl.arange(0, 64)\n"
                           "    sum = tl.zeros((128, 64), tl.float32)\n"
                           "    for i in range(0, K, 64):\n"
                           "        k = i + tl.arange(0, 64)\n"
                           "        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)\n"
                           "        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)\n"
                           "        sum = tl.dot(x, y, sum)\n"
                           "    tl.store(c + m[:, None] * N + n[None, :], sum.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))\n";

typedef struct Bench {
    tw_context *cx;
    tw_module *module;
    tw_buffer *buffer;
    tw_kernel *twice, *zero;
    tw_arg args[3];
} Bench;

static bool said(const Bench *b, const char *words) {
    bool found = strstr(tw_context_message(b->cx), words) != NULL;
    if (!found) fprintf(stderr, "`%s` is not in: %s\n", words, tw_context_message(b->cx));
    return found;
}

static void open_bench(Bench *b) {
    int64_t n = 64;
    tw_buffer_options where;
    tw_compile_options options;
    memset(b, 0, sizeof *b);
    CHECK(tw_context_create(NULL, &b->cx) == TW_OK);
    tw_buffer_options_init(&where);
    where.target = "cuda";
    CHECK(tw_buffer_create(b->cx, TW_F32, 1, &n, &where, &b->buffer) == TW_OK);
    CHECK(tw_module_load_text(b->cx, "k.py", text, strlen(text), NULL, &b->module) == TW_OK);
    b->args[0] = (tw_arg){TW_ARG_BUFFER, 0, {.buffer = b->buffer}};
    b->args[1] = b->args[2] = (tw_arg){TW_ARG_INT, 0, {.i = 64}};
    tw_compile_options_init(&options);
    options.target = "cuda", options.args = b->args, options.arg_count = 3;
    CHECK(tw_kernel_compile(b->module, "twice", &options, &b->twice) == TW_OK);
    CHECK(tw_kernel_compile(b->module, "zero", &options, &b->zero) == TW_OK);
}

static void close_bench(Bench *b) {
    tw_kernel_destroy(b->twice);
    tw_kernel_destroy(b->zero);
    tw_buffer_destroy(b->buffer);
    tw_module_destroy(b->module);
    tw_context_destroy(b->cx);
}

static tw_status launch(Bench *b, tw_kernel *k, tw_stream *stream, int64_t programs) {
    int64_t grid[3] = {programs, 1, 1};
    return tw_kernel_launch(k, stream, grid, b->args, 3);
}

/* The second wait finds that a kernel trapped: what was launched after the first wait is suspect. */
static void trap(void) {
    Bench b;
    float back[64];
    tw_stream *stream = NULL;
    open_bench(&b);
    CHECK(tw_stream_create(b.cx, "cuda", &stream) == TW_OK);
    CHECK(launch(&b, b.twice, stream, 1) == TW_OK && tw_stream_synchronize(stream) == TW_OK);
    CHECK(launch(&b, b.zero, stream, 7) == TW_OK && launch(&b, b.twice, stream, 3) == TW_OK);
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_LAUNCH && said(&b, "`zero` (launch 2, 7 x 1 x 1 blocks), `twice` (launch 3, 3 x 1 x 1 blocks)") &&
          said(&b, "CUDA_LAUNCH_BLOCKING=1") && said(&b, "CUDA_ERROR_LAUNCH_FAILED"));
    /* whatever comes next says so, and is not blamed itself */
    CHECK(launch(&b, b.zero, stream, 1) == TW_ERROR_LAUNCH && said(&b, "launch of kernel `zero`: the context of the GPU was lost") &&
          said(&b, "`twice` (launch 3"));
    CHECK(tw_buffer_read(b.buffer, back, sizeof back) == TW_ERROR_LAUNCH && said(&b, "GPU was lost"));
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_LAUNCH && said(&b, "GPU was lost"));
    tw_stream_destroy(stream);
    close_bench(&b);
}

/* A kernel does not end: the wait is given up, and so is everything that would wait. */
static void runaway(void) {
    Bench b;
    float back[64];
    open_bench(&b);
    CHECK(launch(&b, b.twice, NULL, 1) == TW_OK);
    CHECK(tw_buffer_read(b.buffer, back, sizeof back) == TW_ERROR_LAUNCH && said(&b, "kernel `twice` (launch 1, 1 x 1 x 1 blocks)") &&
          said(&b, "has not ended after 0.05 seconds"));
    CHECK(launch(&b, b.zero, NULL, 1) == TW_ERROR_LAUNCH && said(&b, "GPU was lost"));
    close_bench(&b);
}

/* Errors that end nothing: the next launch goes through. */
static void passing(void) {
    Bench b;
    int handle = 0;
    tw_stream *stream = NULL;
    open_bench(&b);
    CHECK(tw_stream_wrap(b.cx, "cuda", &handle, &stream) == TW_OK);
    CHECK(launch(&b, b.twice, stream, 1) == TW_ERROR_LAUNCH && said(&b, "launch of kernel `twice` on 1 x 1 x 1 blocks") &&
          said(&b, "the stream must be one of that device's primary context"));
    CHECK(launch(&b, b.twice, NULL, 1) == TW_ERROR_LAUNCH && launch(&b, b.zero, NULL, 0) == TW_OK);
    tw_stream_destroy(stream);
    close_bench(&b);
}

/* Two devices, of which the second loses its context: kernels and buffers belong to one. */
static void devices(void) {
    Bench b;
    tw_buffer *other = NULL;
    tw_kernel *k = NULL;
    tw_stream *stream = NULL;
    int32_t home = 9;
    int64_t n = 64;
    float back[64];
    tw_buffer_options where;
    tw_compile_options options;
    open_bench(&b);
    tw_buffer_options_init(&where);
    where.target = "cuda", where.device = 1;
    CHECK(tw_buffer_create(b.cx, TW_F32, 1, &n, &where, &other) == TW_OK);
    CHECK(tw_target_device_of(b.cx, "cuda", tw_buffer_data(other), &home) == TW_OK && home == 1);
    CHECK(tw_target_device_of(b.cx, "cuda", &b, &home) == TW_OK && home == -1);
    tw_arg mine = b.args[0], its = {TW_ARG_BUFFER, 0, {.buffer = other}};
    b.args[0] = its;
    CHECK(launch(&b, b.twice, NULL, 1) == TW_ERROR_ARGUMENT && said(&b, "argument `x` of kernel `twice` lies on device 1") &&
          said(&b, "compiled for device 0"));
    tw_compile_options_init(&options);
    options.target = "cuda", options.args = b.args, options.arg_count = 3, options.device = 1;
    CHECK(tw_kernel_compile(b.module, "twice", &options, &k) == TW_OK && strcmp(tw_kernel_target(k), "cuda:sm_80") == 0);
    CHECK(tw_stream_create(b.cx, "cuda", &stream) == TW_OK && launch(&b, k, stream, 1) == TW_OK);
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_LAUNCH && said(&b, "`twice` (launch 1, 1 x 1 x 1 blocks) failed on GPU 1"));
    CHECK(launch(&b, k, stream, 1) == TW_ERROR_LAUNCH && said(&b, "the context of GPU 1 was lost"));
    b.args[0] = mine; /* the first device is as it was */
    CHECK(launch(&b, b.twice, stream, 1) == TW_OK && tw_buffer_read(b.buffer, back, sizeof back) == TW_OK);
    tw_kernel *none = NULL;
    options.device = 2;
    CHECK(tw_kernel_compile(b.module, "twice", &options, &none) == TW_ERROR_UNAVAILABLE && said(&b, "no CUDA device 2: the driver finds 2"));
    options.target = "cpu", options.device = 1;
    CHECK(tw_kernel_compile(b.module, "twice", &options, &none) == TW_ERROR_ARGUMENT && said(&b, "target cpu has one device"));
    tw_buffer *nowhere = NULL;
    where.device = -1;
    CHECK(tw_buffer_create(b.cx, TW_F32, 1, &n, &where, &nowhere) == TW_ERROR_UNAVAILABLE && said(&b, "no CUDA device -1"));
    where.target = NULL, where.device = 1;
    CHECK(tw_buffer_create(b.cx, TW_F32, 1, &n, &where, &nowhere) == TW_ERROR_ARGUMENT && said(&b, "one memory, the host's"));
    tw_stream_destroy(stream);
    tw_kernel_destroy(k);
    tw_buffer_destroy(other);
    close_bench(&b);
}

/* A narrow product: pairs of blocks where a launch is large, blocks alone where it is not; one kernel. */
static void pairs(void) {
    static const struct {
        int64_t m, n;
        unsigned cluster, blocks;
    } launches[] = {{64, 128, 2, 132}, {4, 64, 1, 132}, {2, 10, 1, 20}, {1000, 31, 1, 132}, {64, 128, 2, 132}};
    unsigned (*cluster)(void) = NULL, (*grid)(int) = NULL;
    int (*calls)(const char *) = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&cluster = dlsym(driver, "fake_last_cluster");
    *(void **)&grid = dlsym(driver, "fake_last_grid");
    *(void **)&calls = dlsym(driver, "fake_calls");
    tw_context *cx = NULL;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_buffer *buffers[3];
    tw_buffer_options where;
    tw_compile_options options;
    tw_arg args[6];
    int64_t n = 64;
    CHECK(cluster && grid && calls && tw_context_create(NULL, &cx) == TW_OK);
    tw_buffer_options_init(&where);
    where.target = "cuda";
    for (int i = 0; i < 3; i++) {
        CHECK(tw_buffer_create(cx, TW_F16, 1, &n, &where, &buffers[i]) == TW_OK);
        args[i] = (tw_arg){TW_ARG_BUFFER, 0, {.buffer = buffers[i]}};
        args[3 + i] = (tw_arg){TW_ARG_INT, 0, {.i = 4096}};
    }
    CHECK(tw_module_load_text(cx, "k.py", text, strlen(text), NULL, &module) == TW_OK);
    tw_compile_options_init(&options);
    options.target = "cuda", options.args = args, options.arg_count = 6;
    CHECK(tw_kernel_compile(module, "product", &options, &kernel) == TW_OK);
    for (size_t i = 0; i < sizeof launches / sizeof *launches; i++) {
        int64_t extents[3] = {launches[i].m, launches[i].n, 1};
        args[3].value.i = 128 * launches[i].m, args[4].value.i = 64 * launches[i].n;
        CHECK(tw_kernel_launch(kernel, NULL, extents, args, 6) == TW_OK);
        CHECK(cluster() == launches[i].cluster && grid(0) == launches[i].blocks && grid(1) == 1);
    }
    CHECK(calls("cuLaunchKernelEx") == 2 && calls("cuLaunchKernel") == 3 && calls("cuModuleLoadData") == 1);
    tw_kernel_destroy(kernel);
    for (int i = 0; i < 3; i++) tw_buffer_destroy(buffers[i]);
    tw_module_destroy(module);
    tw_context_destroy(cx);
    dlclose(driver);
}

static const struct {
    const char *name, *told, *timeout;
    void (*run)(void);
    const char *also; /* in the environment */
} stories[] = {
    {"trap", "cuCtxSynchronize=719@2", "", trap, ""},
    {"runaway", "cuStreamQuery=600", "0.05", runaway, ""},
    {"passing", "cuLaunchKernel=400", "", passing, ""},
    {"devices", "cuCtxSynchronize=719", "", devices, "FAKE_LOST=1 FAKE_COUNT=2 FAKE_ARCH=90,80"},
    {"pairs", "", "", pairs, ""},
};

int main(int count, char **words) {
    for (size_t i = 0; count > 1 && i < sizeof stories / sizeof *stories; i++)
        if (strcmp(words[1], stories[i].name) == 0) {
            stories[i].run();
            return check_done();
        }
    char folder[] = "/tmp/tw_test_faults_XXXXXX", command[700];
    if (system("command -v cc >/dev/null 2>&1") != 0) {
        printf("skipped: no C compiler\n");
        return 0;
    }
    CHECK(mkdtemp(folder) != NULL);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s/libcuda.so.1 tests/gpu/fake_cuda.c && cp %s/libcuda.so.1 %s/libnvrtc.so",
             folder, folder, folder);
    CHECK(system(command) == 0);
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        snprintf(command, sizeof command,
                 "LD_LIBRARY_PATH=%s TILEWRIGHT_NVRTC=%s/libnvrtc.so TILEWRIGHT_CACHE_DIR=%s/cache FAKE_CUDA='%s' %s TILEWRIGHT_GPU_TIMEOUT=%s "
                 "ASAN_OPTIONS=detect_leaks=0 timeout 60 %s %s", /* memory of a lost context is not given back */
                 folder, folder, folder, stories[i].told, stories[i].also, stories[i].timeout, words[0], stories[i].name);
        CHECK(system(command) == 0);
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
    return check_done();
}
