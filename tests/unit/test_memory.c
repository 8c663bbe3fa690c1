/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c: memory that runs out at every point of load, compile and launch: each time a
 * status, no crash, nothing lost, and the same objects work once there is memory again; and a warm launch that allocates
 * nothing. Kernels in several launches, asynchronous streams, pages and objects that are built are among them. */
#include "check.h"
#include "tilewright.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Meter {
    long calls, fail_at; /* the call with this number fails; -1: none */
    int for_good;        /* all after it fail too */
    long live;           /* blocks */
} Meter;

static void *meter_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Meter *m = user;
    (void)old_size;
    if (!new_size) {
        if (block) m->live--;
        free(block);
        return NULL;
    }
    long call = m->calls++;
    if (m->fail_at >= 0 && (call == m->fail_at || (m->for_good && call > m->fail_at))) return NULL;
    if (!block) m->live++;
    return realloc(block, new_size);
}

static const char text[] =
    "kernel @k(%x: *f32, %n: i32, %s: i32) {\n"
    "  %p = program_id<0> ; %o = mul %p, 64 ; %i = iota<0, 64> ; %j = add %o, %i ; %m = cmp<lt> "
    "%j, %n\n"
    "  %js = mul %j, %s ; %q = ptr_add %x, %js ; %a = load %q, %m ; %r = reshape %a : f32[8,8]\n"
    "  %d = dot %r, %r, %r ; %t = reduce<max, axis=1> %d ; %e = expand<1> %t ; %f = sub %d, %e\n"
    "  %g = exp %f ; %h = reshape %g : f32[64] ; store %q, %h, %m ; return }\n";

/* For tenstorrent, which moves tiles as they are. */
static const char plain_text[] = "kernel @k(%x: *f32, %n: i32, %s: i32) {\n"
                                 "  %p = program_id<0> ; %o = mul %p, 64 ; %i = iota<0, 64> ; %j = add %o, %i ; %m = cmp<lt> %j, %n\n"
                                 "  %js = mul %j, %s ; %q = ptr_add %x, %js ; %a = load %q, %m ; %g = exp %a\n"
                                 "  store %q, %g, %m ; return }\n";

/* Everything once; the last status. */
static tw_status go(Meter *meter, const char *target, int64_t stride) {
    tw_allocator allocator = {meter_resize, meter};
    tw_context_options options;
    tw_context_options_init(&options);
    options.allocator = &allocator;
    options.threads = 1;
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *b = NULL;
    tw_stream *stream = NULL;
    tw_compile_options compile;
    tw_compile_options_init(&compile);
    compile.target = target;
    compile.keep_ir = 1;
    int64_t n = 200, grid[3] = {2, 1, 1};
    tw_status status = tw_context_create(&options, &cx);
    const char *source = strcmp(target, "tenstorrent") == 0 ? plain_text : text;
    if (status == TW_OK) status = tw_module_load_text(cx, "k.ir", source, strlen(source), NULL, &m);
    if (status == TW_OK) status = tw_kernel_compile(m, "k", &compile, &k);
    if (status == TW_OK) status = tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b);
    if (status == TW_OK) status = tw_buffer_fill(b, "randn", 0, 1);
    if (status == TW_OK) status = tw_stream_create(cx, target, &stream);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = b}},
                     {TW_ARG_INT, 0, {.i = 100}},
                     {TW_ARG_INT, 0, {.i = stride}}};
    if (status == TW_OK) status = tw_kernel_launch(k, stream, grid, args, 3);
    if (status == TW_OK && strcmp(target, "cpu") == 0) { /* warm: no allocation */
        long before = meter->calls;
        CHECK(tw_kernel_launch(k, stream, grid, args, 3) == TW_OK);
        CHECK(meter->calls == before);
    }
    if (status == TW_ERROR_MEMORY && cx) CHECK_TEXT(tw_context_message(cx), "out of memory");
    if (cx && status == TW_ERROR_MEMORY && k && b && stream) {
        /* Once there is memory again, the same objects work. */
        meter->fail_at = -1;
        CHECK(tw_kernel_launch(k, stream, grid, args, 3) == TW_OK);
    }
    tw_stream_destroy(stream);
    tw_buffer_destroy(b);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return status;
}

/* Fails the n-th allocation, for n = 0, 1, .. until none is left to fail. stride 2 needs the
 * variant that requires nothing. */
static void exhaust(const char *target, int for_good, int64_t stride) {
    for (long n = 0; n < 10000; n++) {
        Meter meter = {.fail_at = n, .for_good = for_good};
        tw_status status = go(&meter, target, stride);
        CHECK(meter.live == 0);
        CHECK(status == TW_OK || status == TW_ERROR_MEMORY);
        if (status == TW_OK && meter.calls <= n) return;
    }
    CHECK(!"it never succeeded");
}

/* --- the same through each door --- */

typedef struct Door {
    const char *file;
    tw_pair defines[6];
    size_t define_count;
    int32_t dtype;
    int64_t numbers[8]; /* of the parameters that are none, in their order */
    int own_grid;
} Door;

/* Two launches, and memory that they share. */
static const char two_launches[] = "import tilelang.language as T\n\n@T.prim_func\n"
                                   "def two(A: T.Tensor((8, 8), 'float32'), B: T.Tensor((8, 8), 'float32')):\n"
                                   "    first = T.alloc_global((8, 8), 'float32')\n"
                                   "    other = T.alloc_global((8,), 'float32')\n"
                                   "    with T.Kernel(1) as bx:\n        T.copy(A, first)\n        T.copy(A[0, 0:8], other)\n"
                                   "    with T.Kernel(1) as bx:\n"
                                   "        for i, j in T.Parallel(8, 8):\n            B[i, j] = first[i, j] + other[j]\n";

static const Door doors[] = {
    {.file = "kernels/triton/softmax.py", .dtype = TW_F16, .numbers = {8, 8, 8, 16}},
    {.file = "kernels/tilelang/gemm.py", .dtype = TW_F16, .own_grid = 1, .define_count = 6,
     .defines = {{"M", "8"}, {"N", "8"}, {"K", "8"}, {"block_M", "16"}, {"block_N", "16"}, {"block_K", "16"}}},
    {.file = "kernels/tilec/matmul.tile.c", .dtype = TW_BF16, .own_grid = 1, .define_count = 2,
     .defines = {{"MB", "1"}, {"NB", "1"}}},
    {.file = NULL, .dtype = TW_F32, .own_grid = 1},
};
enum { DOORS = sizeof doors / sizeof *doors };

enum { MOST_PARAMS = 16 };

/* How a door's kernel is launched. */
enum { PLAIN, BESIDE, WAYS };

static tw_status launch_some(tw_kernel *k, tw_stream *stream, const int64_t *grid, const tw_arg *args, size_t count) {
    tw_status status = TW_OK;
    for (int i = 0; i < 2 && status == TW_OK; i++) status = tw_kernel_launch(k, stream, grid, args, count);
    return stream && status == TW_OK ? tw_stream_synchronize(stream) : status;
}

static tw_status go_door(Meter *meter, const Door *door, const char *target, int way) {
    tw_allocator allocator = {meter_resize, meter};
    tw_context_options options;
    tw_module_options load;
    tw_compile_options compile;
    tw_context_options_init(&options);
    tw_module_options_init(&load);
    tw_compile_options_init(&compile);
    options.allocator = &allocator;
    options.threads = 1;
    load.defines = door->defines;
    load.define_count = door->define_count;
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_stream *stream = NULL;
    const char *page;
    tw_buffer *buffers[MOST_PARAMS] = {0};
    tw_arg args[MOST_PARAMS] = {{0}};
    int64_t shape[2] = {8, 8}, grid[3] = {8, 1, 1};
    tw_status status = tw_context_create(&options, &cx);
    if (status == TW_OK && door->file) status = tw_module_load_file(cx, door->file, &load, &m);
    if (status == TW_OK && !door->file)
        status = tw_module_load_text(cx, "two.py", two_launches, strlen(two_launches), &load, &m);
    size_t count = status == TW_OK ? tw_module_param_count(m, 0) : 0;
    for (size_t i = 0, number = 0; i < count && status == TW_OK; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        tw_module_param_at(m, 0, i, &info);
        bool array = info.kind == TW_PARAM_POINTER || info.kind == TW_PARAM_TENSOR || strstr(info.name, "_ptr");
        if (array) {
            status = tw_buffer_create(cx, door->dtype, 2, shape, NULL, &buffers[i]);
            if (status == TW_OK) status = tw_buffer_fill(buffers[i], "randn", 0, i);
            args[i] = (tw_arg){TW_ARG_BUFFER, 0, {.buffer = buffers[i]}};
        } else if (number < 8 && door->numbers[number])
            args[i] = (tw_arg){TW_ARG_INT, 0, {.i = door->numbers[number++]}};
    }
    compile.target = target;
    compile.args = args;
    compile.arg_count = count;
    if (status == TW_OK) status = tw_kernel_compile(m, NULL, &compile, &k);
    tw_stream_options beside;
    tw_stream_options_init(&beside);
    beside.asynchronous = 1;
    if (status == TW_OK && way == BESIDE) status = tw_stream_open(cx, target, &beside, &stream);
    bool made = status == TW_OK;
    const int64_t *where = door->own_grid ? NULL : grid;
    if (status == TW_OK) status = launch_some(k, stream, where, args, count);
    if (status == TW_OK && way == PLAIN) status = tw_kernel_explain_html(k, &page);
    if (status != TW_OK && status != TW_ERROR_MEMORY)
        fprintf(stderr, "%s: %s\n", door->file ? door->file : "two.py", tw_context_message(cx));
    if (made && status == TW_ERROR_MEMORY) {
        CHECK(strstr(tw_context_message(cx), "memory"));
        meter->fail_at = -1;
        CHECK(launch_some(k, stream, where, args, count) == TW_OK);
        if (way == PLAIN) CHECK(tw_kernel_explain_html(k, &page) == TW_OK && strstr(page, "</html>"));
    }
    tw_stream_destroy(stream);
    for (int i = 0; i < MOST_PARAMS; i++) tw_buffer_destroy(buffers[i]);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return status;
}

static void exhaust_door(const Door *door, const char *target, int way) {
    for (long n = 0; n < 10000; n++) {
        Meter meter = {.fail_at = n};
        tw_status status = go_door(&meter, door, target, way);
        CHECK(meter.live == 0);
        if (status == TW_ERROR_UNAVAILABLE) return; /* no C++ compiler */
        CHECK(status == TW_OK || status == TW_ERROR_MEMORY);
        if (status == TW_OK && meter.calls <= n) return;
    }
    CHECK(!"it never succeeded");
}

/* An object for C programs: after an error neither of its files is there. */
static void exhaust_build(const char *target) {
    for (long at = 0; at < 10000; at++) {
        Meter meter = {.fail_at = at};
        tw_allocator allocator = {meter_resize, &meter};
        tw_context_options options;
        tw_compile_options compile;
        tw_build_options build;
        tw_context_options_init(&options);
        tw_compile_options_init(&compile);
        tw_build_options_init(&build);
        options.allocator = &allocator;
        compile.target = target;
        build.compile = &compile;
        build.path = "build/test_memory_built";
        build.isa = "baseline";
        tw_context *cx = NULL;
        tw_module *m = NULL;
        tw_status status = tw_context_create(&options, &cx);
        if (status == TW_OK) status = tw_module_load_text(cx, "k.ir", plain_text, strlen(plain_text), NULL, &m);
        if (status == TW_OK) status = tw_build(m, NULL, &build);
        if (status != TW_OK && status != TW_ERROR_MEMORY) fprintf(stderr, "build: %s\n", tw_context_message(cx));
        tw_module_destroy(m);
        tw_context_destroy(cx);
        CHECK(meter.live == 0);
        CHECK(status == TW_OK || status == TW_ERROR_MEMORY);
        bool object = access("build/test_memory_built.o", F_OK) == 0, header = access("build/test_memory_built.h", F_OK) == 0;
        CHECK(object == (status == TW_OK) && header == object);
        unlink("build/test_memory_built.o");
        unlink("build/test_memory_built.h");
        if (status == TW_OK && meter.calls <= at) return;
    }
    CHECK(!"it never succeeded");
}

int main(void) {
    exhaust_build("cpu");
    for (size_t i = 0; i < DOORS; i++)
        for (int way = 0; way < WAYS; way++) {
            exhaust_door(&doors[i], "cpu", way);
            exhaust_door(&doors[i], "interp", way);
        }
    exhaust_door(&doors[1], "tenstorrent", PLAIN);
    exhaust_door(&doors[1], "cuda-emulated", PLAIN);
    exhaust_door(&doors[3], "cuda-emulated", PLAIN);
    exhaust_door(&doors[3], "hip-emulated", PLAIN);
    for (int for_good = 0; for_good < 2; for_good++)
        for (int64_t stride = 1; stride <= 2; stride++) {
            exhaust("cpu", for_good, stride);
            exhaust("interp", for_good, stride);
            if (system("command -v g++ >/dev/null 2>&1") == 0) exhaust("tenstorrent", for_good, stride);
        }
    return check_done();
}
