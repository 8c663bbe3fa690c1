/* SPDX-License-Identifier: Apache-2.0 */
/* test_work.c: what a launch does, counted before anything is built (tw_kernel_work). */
#include "check.h"
#include "tilewright.h"

#include <string.h>

static const char triton[] =
    "import triton\nimport triton.language as tl\n"
    "@triton.jit\n"
    "def product(x, y, z, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, UPTO: tl.constexpr):\n"
    "    i = tl.program_id(0) * BM + tl.arange(0, BM)\n"
    "    j = tl.program_id(1) * BN + tl.arange(0, BN)\n"
    "    k = tl.arange(0, BK)\n"
    "    sum = tl.zeros((BM, BN), tl.float32)\n"
    "    last = N\n"
    "    if UPTO:\n"
    "        last = (tl.program_id(0) + 1) * BM\n" /* as causal attention does */
    "    for s in range(0, last, BK):\n"
    "        a = tl.load(x + i[:, None] * N + (s + k)[None, :])\n"
    "        b = tl.load(y + (s + k)[:, None] * N + j[None, :])\n"
    "        sum = tl.dot(a, b, sum)\n"
    "    tl.store(z + i[:, None] * N + j[None, :], sum)\n"
    "@triton.jit\n"
    "def pick(x, index, y, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + tl.load(index + i)) * 2.0)\n"
    "@triton.jit\n"
    "def copy(x, index, y, n, B: tl.constexpr):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y + i, tl.load(x + i) * 2.0 + tl.load(index + i))\n";

static const char tilelang[] =
    "import tilelang.language as T\n"
    "@T.prim_func\n"
    "def add(A: T.Tensor((N, 64), 'float32'), B: T.Tensor((N, 64), 'float32')):\n"
    "    with T.Kernel(T.ceildiv(N, 16), threads=128) as by:\n"
    "        for i, j in T.Parallel(16, 64):\n"
    "            B[by * 16 + i, j] = A[by * 16 + i, j] + 1.0\n";

static tw_context *cx;

static tw_kernel *compile(tw_module *module, const char *name, const char *target, const tw_arg *args, size_t count) {
    tw_compile_options options;
    tw_kernel *k = NULL;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = count;
    options.stage = TW_STAGE_IR;
    CHECK(tw_kernel_compile(module, name, &options, &k) == TW_OK);
    return k;
}

static tw_module *load(const char *text, const char *sizes) {
    tw_module *module = NULL;
    tw_module_options options;
    tw_module_options_init(&options);
    tw_pair size = {"N", sizes};
    options.defines = &size;
    options.define_count = sizes ? 1 : 0;
    CHECK(tw_module_load_text(cx, "k.py", text, strlen(text), &options, &module) == TW_OK);
    return module;
}

static tw_arg array(int32_t dtype) {
    tw_arg a = {.kind = TW_ARG_ARRAY_TYPE};
    a.value.i = dtype;
    return a;
}
static tw_arg number(int64_t n) {
    tw_arg a = {.kind = TW_ARG_INT};
    a.value.i = n;
    return a;
}

static tw_work_info work(tw_kernel *k, const int64_t *grid, const tw_arg *args, size_t count) {
    tw_work_info info = {.struct_size = sizeof info};
    CHECK(tw_kernel_work(k, grid, args, count, &info) == TW_OK);
    return info;
}

static tw_work_info product(tw_module *m, const char *target, int64_t tile, int64_t upto) {
    const int64_t n = 512;
    tw_arg args[] = {array(TW_F32), array(TW_F32), array(TW_F32), number(n), number(tile), number(tile), number(32),
                     number(upto)};
    tw_kernel *k = compile(m, "product", target, args, 8);
    int64_t grid[3] = {n / tile, n / tile, 1};
    tw_work_info w = work(k, grid, args, 8);
    tw_kernel_destroy(k);
    return w;
}

static void test_products(void) {
    static const char *const targets[] = {"cpu", "cuda", "cuda:sm_80", "hip", "interp"};
    tw_module *m = load(triton, NULL);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        tw_work_info large = product(m, targets[t], 64, 0), small = product(m, targets[t], 16, 0);
        CHECK(large.programs == 64 && small.programs == 1024);
        CHECK(large.products == 2.0 * 512 * 512 * 512 && small.products == large.products);
        double all = 64 * 4.0 * (512 * (64 + 64) + 64 * 64), item = 64 * 4.0 * 32 * (64 + 64);
        CHECK(large.bytes >= all && large.bytes <= all + item); /* one item more where loads run a trip ahead */
        CHECK(small.bytes > 3 * large.bytes);
        CHECK(small.seconds > large.seconds && large.seconds > 0);
        tw_work_info half = product(m, targets[t], 64, 1); /* up to the middle, and one tile of 64 more */
        CHECK(half.products == large.products * 5 / 8);
    }
    tw_module_destroy(m);
}

static void test_gathers(void) {
    tw_module *m = load(triton, NULL);
    tw_arg args[] = {array(TW_F32), array(TW_I32), array(TW_F32), number(4096), number(256)};
    int64_t grid[3] = {16, 1, 1};
    tw_kernel *pick = compile(m, "pick", "cpu", args, 5), *copy = compile(m, "copy", "cpu", args, 5);
    tw_work_info p = work(pick, grid, args, 5), c = work(copy, grid, args, 5);
    CHECK(p.bytes == 3 * 4 * 4096.0 && c.bytes == p.bytes && p.others == 4096 && p.products == 0);
    CHECK(p.seconds > c.seconds);
    tw_work_info info = {.struct_size = sizeof info};
    CHECK(tw_kernel_work(pick, NULL, args, 5, &info) == TW_ERROR_ARGUMENT); /* it states no grid */
    CHECK(tw_kernel_work(NULL, grid, args, 5, &info) == TW_ERROR_ARGUMENT);
    tw_kernel_destroy(pick);
    tw_kernel_destroy(copy);
    tw_module_destroy(m);
}

static void test_own_grid(void) {
    tw_module *m = load(tilelang, "1000");
    tw_arg args[] = {array(TW_F32), array(TW_F32)};
    tw_kernel *k = compile(m, NULL, "cpu", args, 2);
    tw_work_info w = work(k, NULL, args, 2);
    CHECK(w.programs == 63 && w.bytes == 63 * 2 * 16 * 64 * 4.0 && w.others == 63 * 16 * 64);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
}

int main(void) {
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    test_products();
    test_gathers();
    test_own_grid();
    tw_context_destroy(cx);
    return check_done();
}
