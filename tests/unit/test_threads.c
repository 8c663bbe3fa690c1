/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c: one context, kernel and cache on many threads at once; launches on the caller's threads, in ranges, in
 * streams that go on by themselves, with a limit of time. Runs under ThreadSanitizer too (group tsan). */
#include "check.h"
#include "tilewright.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 8, SIZE = 4096, BLOCK = 64, TIMES = 40 };

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\n"
static const char add_text[] =
    HEAD "def add(x, y, n, BLOCK: tl.constexpr):\n"
         "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
         "    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\n";
static const char count_text[] = HEAD "def count(x, y, n, BLOCK: tl.constexpr):\n"
                                      "    tl.device_assert(n != 13, \"unlucky\")\n"
                                      "    tl.atomic_add(x + tl.arange(0, BLOCK), 1.0)\n";
static const char endless_text[] = HEAD "def endless(x, y, n, BLOCK: tl.constexpr):\n"
                                        "    i = 0\n    while i < n:\n        i += tl.load(y).to(tl.int32)\n"
                                        "    tl.store(x, i)\n";
static const char wrong_text[] = HEAD "def wrong(x, y, n, BLOCK: tl.constexpr):\n    tl.store(x, nothing)\n";

typedef struct Kernel {
    tw_module *module;
    tw_kernel *kernel;
} Kernel;

static tw_buffer *new_buffer(tw_context *cx, const char *kind) {
    tw_buffer *b = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, (int64_t[]){SIZE}, NULL, &b) == TW_OK);
    CHECK(tw_buffer_fill(b, kind, 0, 1) == TW_OK);
    return b;
}

static tw_arg array(tw_buffer *b) { return (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = b}; }
static tw_arg number(int64_t i) { return (tw_arg){.kind = TW_ARG_INT, .value.i = i}; }

static Kernel compile(tw_context *cx, const char *text, int64_t block) {
    Kernel k = {0};
    tw_arg args[4] = {{.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                      {.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                      {.kind = TW_ARG_NUMBER_TYPE, .value.i = TW_I32},
                      number(block)};
    tw_compile_options options = {.struct_size = sizeof options, .args = args, .arg_count = 4};
    CHECK(tw_module_load_text(cx, "threads.py", text, strlen(text), NULL, &k.module) == TW_OK);
    tw_status status = tw_kernel_compile(k.module, NULL, &options, &k.kernel);
    if (status != TW_OK) fprintf(stderr, "%s\n", tw_context_message(cx));
    CHECK(status == TW_OK);
    return k;
}

static void drop(Kernel k) {
    tw_kernel_destroy(k.kernel);
    tw_module_destroy(k.module);
}

/* --- many threads --- */

typedef struct Shared {
    tw_context *cx;
    tw_kernel *add, *count;
    tw_buffer *counts;
    int number;
    pthread_t thread;
} Shared;

static void *use(void *user) {
    Shared *s = user;
    tw_buffer *x = new_buffer(s->cx, "arange"), *y = new_buffer(s->cx, "zeros");
    const float *in = tw_buffer_data(x), *out = tw_buffer_data(y);
    int64_t grid[3] = {SIZE / BLOCK, 1, 1};
    int bad = 0;
    for (int t = 0; t < TIMES; t++) {
        tw_arg args[4] = {array(x), array(y), number(SIZE)};
        CHECK(tw_kernel_launch(s->add, NULL, grid, args, 4) == TW_OK);
        for (int i = 0; i < SIZE; i++) bad += out[i] != in[i] + 1;
        args[0] = array(s->counts);
        CHECK(tw_kernel_launch(s->count, NULL, grid, args, 4) == TW_OK);
        if (t % 8 == 0) { /* in one array: the variant for arrays that overlap, which some thread compiles */
            args[0] = args[1] = array(x);
            float before = in[7];
            CHECK(tw_kernel_launch(s->add, NULL, grid, args, 4) == TW_OK);
            bad += in[7] != before + 1;
        }
        if (t % 8 == 1) { /* what one thread is told no other reads */
            tw_module *m = NULL;
            args[s->number % 2] = number(1);
            CHECK(tw_kernel_launch(s->add, NULL, grid, args, 4) == TW_ERROR_ARGUMENT);
            CHECK(strstr(tw_context_message(s->cx), s->number % 2 ? "argument `y`" : "argument `x`"));
            CHECK(tw_module_load_text(s->cx, "broken.py", "def", 3, NULL, &m) == TW_ERROR_SOURCE);
            CHECK(strstr(tw_context_message(s->cx), "broken.py"));
        }
        if (t % 20 == 10) drop(compile(s->cx, add_text, BLOCK << (s->number % 3))); /* the cache */
    }
    CHECK(bad == 0);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
    return NULL;
}

static void test_shared(tw_context *cx) {
    Shared threads[THREADS];
    Kernel add = compile(cx, add_text, BLOCK), count = compile(cx, count_text, BLOCK);
    tw_buffer *counts = new_buffer(cx, "zeros");
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (Shared){.cx = cx, .add = add.kernel, .count = count.kernel, .counts = counts, .number = i};
        pthread_create(&threads[i].thread, NULL, use, &threads[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i].thread, NULL);
    const float *sums = tw_buffer_data(counts);
    for (int i = 0; i < BLOCK; i++) CHECK(sums[i] == THREADS * TIMES * (SIZE / BLOCK));
    tw_buffer_destroy(counts);
    drop(add);
    drop(count);
}

/* --- the caller's threads, and ranges --- */

typedef struct Part {
    void (*part)(void *work, int32_t i);
    void *work;
    int32_t i;
} Part;

static void *run_one(void *user) {
    Part *p = user;
    p->part(p->work, p->i);
    return NULL;
}

static atomic_int parts_run;

static void run_parts(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    pthread_t threads[64];
    Part parts[64];
    CHECK(user == &parts_run && count <= 64);
    for (int32_t i = 0; i < count; i++) {
        parts[i] = (Part){part, work, i};
        pthread_create(&threads[i], NULL, run_one, &parts[i]);
    }
    for (int32_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
    atomic_fetch_add(&parts_run, count);
}

/* One that does not keep its word. */
static void run_first(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    (void)user, (void)count;
    part(work, 0);
}
static void run_too_many(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    (void)user;
    for (int32_t i = -1; i <= count; i++) part(work, i);
}

static void test_options(tw_context *cx) {
    Kernel add = compile(cx, add_text, BLOCK), count = compile(cx, count_text, BLOCK);
    tw_buffer *x = new_buffer(cx, "arange"), *y = new_buffer(cx, "zeros");
    const float *out = tw_buffer_data(y);
    int64_t grid[3] = {SIZE / BLOCK, 1, 1};
    tw_arg args[4] = {array(x), array(y), number(SIZE)};
    tw_launch_options how;
    tw_launch_options_init(&how);
    how.grid = grid;
    how.parallel = run_parts;
    how.parallel_user = &parts_run;
    how.threads = 5;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_OK);
    CHECK(atomic_load(&parts_run) == 5);
    int bad = 0;
    for (int i = 0; i < SIZE; i++) bad += out[i] != (float)i + 1;
    CHECK(bad == 0);
    how.parallel = run_first;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_ERROR_ARGUMENT);
    CHECK(strstr(tw_context_message(cx), "5 parts of kernel `add`, each once, and has come back after 1"));
    how.parallel = run_too_many;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_ERROR_ARGUMENT);
    how.parallel = run_parts;
    args[0] = array(y);
    args[2] = number(13); /* an assertion that fails on the caller's threads */
    CHECK(tw_kernel_launch_with(count.kernel, &how, args, 4) == TW_ERROR_LAUNCH);
    CHECK(strstr(tw_context_message(cx), "unlucky"));
    args[0] = array(x);
    args[2] = number(SIZE);
    /* two ranges, and nothing else */
    CHECK(tw_buffer_fill(y, "zeros", 0, 1) == TW_OK);
    how = (tw_launch_options){.struct_size = sizeof how, .grid = grid, .threads = 1, .first = 2, .programs = 3};
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_OK);
    how.first = SIZE / BLOCK - 1, how.programs = 1;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_OK);
    for (int i = 0; i < SIZE; i++) {
        int p = i / BLOCK;
        bad += out[i] != ((p >= 2 && p < 5) || p == SIZE / BLOCK - 1 ? (float)i + 1 : 0);
    }
    CHECK(bad == 0);
    how.programs = 2;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_ERROR_ARGUMENT);
    how.first = -1;
    CHECK(tw_kernel_launch_with(add.kernel, &how, args, 4) == TW_ERROR_ARGUMENT);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
    drop(add);
    drop(count);
}

/* --- time --- */

static void test_limit(tw_context *cx) {
    Kernel endless = compile(cx, endless_text, BLOCK);
    tw_buffer *x = new_buffer(cx, "zeros");
    tw_arg args[4] = {array(x), array(x), number(1)};
    int64_t grid[3] = {3, 1, 1};
    tw_launch_options how = {.struct_size = sizeof how, .grid = grid, .timeout_ms = 30};
    CHECK(tw_kernel_launch_with(endless.kernel, &how, args, 4) == TW_ERROR_TIMEOUT);
    CHECK(strstr(tw_context_message(cx), "limit"));
    how.parallel = run_parts;
    how.parallel_user = &parts_run;
    CHECK(tw_kernel_launch_with(endless.kernel, &how, args, 4) == TW_ERROR_TIMEOUT);
    args[2] = number(0);
    CHECK(tw_kernel_launch_with(endless.kernel, &how, args, 4) == TW_OK); /* the next one is not concerned */
    how.timeout_ms = -1;
    CHECK(tw_kernel_launch_with(endless.kernel, &how, args, 4) == TW_ERROR_ARGUMENT);
    tw_buffer_destroy(x);
    drop(endless);
    /* the interpreter looks at the clock too, and has no other choice */
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_arg types[4] = {{.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                       {.kind = TW_ARG_ARRAY_TYPE, .value.i = TW_F32},
                       {.kind = TW_ARG_NUMBER_TYPE, .value.i = TW_I32},
                       number(BLOCK)};
    tw_compile_options options = {.struct_size = sizeof options, .target = "interp", .args = types, .arg_count = 4};
    CHECK(tw_module_load_text(cx, "e.py", endless_text, strlen(endless_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    x = new_buffer(cx, "zeros");
    tw_arg again[4] = {array(x), array(x), number(1)};
    how = (tw_launch_options){.struct_size = sizeof how, .grid = grid, .timeout_ms = 30};
    CHECK(tw_kernel_launch_with(k, &how, again, 4) == TW_ERROR_TIMEOUT);
    how.programs = 1;
    CHECK(tw_kernel_launch_with(k, &how, again, 4) == TW_ERROR_UNSUPPORTED);
    tw_buffer_destroy(x);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
}

/* --- streams --- */

static void await_pending(tw_stream *stream, int64_t want) {
    int64_t pending = -1;
    for (int i = 0; pending != want && i < 10000; i++) {
        CHECK(tw_stream_query(stream, &pending) == TW_OK);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    CHECK(pending == want);
}

static void test_streams(tw_context *cx) {
    Kernel add = compile(cx, add_text, BLOCK), count = compile(cx, count_text, BLOCK);
    Kernel endless = compile(cx, endless_text, BLOCK);
    tw_buffer *x = new_buffer(cx, "zeros"), *y = new_buffer(cx, "zeros");
    int64_t grid[3] = {SIZE / BLOCK, 1, 1}, pending = -1;
    tw_stream_options options;
    tw_stream *stream = NULL, *other = NULL;
    tw_stream_options_init(&options);
    options.asynchronous = 1;
    CHECK(tw_stream_open(cx, "cpu", &options, &stream) == TW_OK && tw_stream_open(cx, "cpu", &options, &other) == TW_OK);
    /* in order: each reads what the one before wrote */
    for (int i = 0; i < TIMES; i++) {
        tw_arg args[4] = {array(i % 2 ? y : x), array(i % 2 ? x : y), number(SIZE)};
        CHECK(tw_kernel_launch(add.kernel, stream, grid, args, 4) == TW_OK);
    }
    float last[SIZE];
    CHECK(tw_buffer_read(x, last, sizeof last) == TW_OK); /* waits */
    for (int i = 0; i < SIZE; i++) CHECK(last[i] == TIMES);
    CHECK(tw_stream_synchronize(stream) == TW_OK);
    CHECK(tw_stream_query(stream, &pending) == TW_OK && pending == 0);
    /* arguments are tested at once; what fails later is told by the wait, once, and those behind it do not run */
    tw_arg args[4] = {array(x), array(y), number(13)};
    CHECK(tw_kernel_launch(count.kernel, stream, grid, args, 1) == TW_ERROR_ARGUMENT);
    CHECK(tw_kernel_launch(count.kernel, stream, grid, args, 4) == TW_OK);
    args[0] = array(y), args[1] = array(x), args[2] = number(SIZE);
    await_pending(stream, 0);
    CHECK(tw_kernel_launch(add.kernel, stream, grid, args, 4) == TW_OK);
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_LAUNCH && strstr(tw_context_message(cx), "unlucky"));
    tw_diagnostic told = {.struct_size = sizeof told};
    CHECK(tw_context_diagnostic_at(cx, 0, &told) == TW_OK && told.line == 5 && strcmp(told.file, "threads.py") == 0);
    CHECK(((float *)tw_buffer_data(x))[SIZE - 1] == TIMES);
    CHECK(tw_stream_synchronize(stream) == TW_OK);
    /* cancelled: the one that runs and those behind it */
    CHECK(tw_buffer_fill(y, "zeros", 0, 1) == TW_OK);
    tw_arg for_ever[4] = {array(x), array(y), number(1)};
    for (int i = 0; i < 3; i++) CHECK(tw_kernel_launch(endless.kernel, stream, (int64_t[]){2, 1, 1}, for_ever, 4) == TW_OK);
    CHECK(tw_stream_query(stream, &pending) == TW_OK && pending == 3);
    CHECK(tw_kernel_launch(add.kernel, other, grid, args, 4) == TW_OK); /* streams do not wait for each other */
    CHECK(tw_stream_synchronize(other) == TW_OK);
    CHECK(tw_stream_cancel(stream) == TW_OK);
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_CANCELLED);
    CHECK(tw_stream_cancel(stream) == TW_OK && tw_stream_synchronize(stream) == TW_OK);
    /* a limit */
    tw_launch_options how = {.struct_size = sizeof how, .stream = stream, .grid = grid, .timeout_ms = 20, .threads = 1};
    CHECK(tw_buffer_fill(y, "zeros", 0, 1) == TW_OK);
    CHECK(tw_kernel_launch_with(endless.kernel, &how, for_ever, 4) == TW_OK);
    CHECK(tw_stream_synchronize(stream) == TW_ERROR_TIMEOUT);
    /* objects go while launches with them wait */
    CHECK(tw_buffer_fill(x, "zeros", 0, 1) == TW_OK);
    args[0] = array(x), args[1] = array(x);
    for (int i = 0; i < TIMES; i++) CHECK(tw_kernel_launch(add.kernel, stream, grid, args, 4) == TW_OK);
    drop(add);
    CHECK(((float *)tw_buffer_data(x))[5] == TIMES);
    tw_stream_destroy(stream);
    tw_stream_destroy(other);
    tw_buffer_destroy(x);
    tw_buffer_destroy(y);
    drop(count);
    drop(endless);
}

/* --- the caller's allocator is called by one thread at a time --- */

static atomic_int inside;
static int64_t live; /* bytes */
static void *resize_watched(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    CHECK(atomic_fetch_add(&inside, 1) == 0);
    live += (int64_t)new_size - (int64_t)old_size;
    void *result = new_size ? realloc(block, new_size) : (free(block), NULL);
    atomic_fetch_sub(&inside, 1);
    return result;
}

/* A stream that is closed leaves its thread's seat to the next one. */
static void test_closed_streams(tw_context *cx) {
    tw_stream_options options;
    tw_stream_options_init(&options);
    options.asynchronous = 1;
    int64_t before = 0;
    for (int i = 0; i < 40; i++) {
        tw_stream *stream = NULL;
        CHECK(tw_stream_open(cx, "cpu", &options, &stream) == TW_OK && tw_stream_synchronize(stream) == TW_OK);
        tw_stream_destroy(stream);
        if (i == 20) before = live; /* ids have come again by now */
    }
    CHECK(live == before);
}

int main(void) {
    tw_allocator allocator = {resize_watched, NULL};
    tw_context_options options = {.struct_size = sizeof options, .allocator = &allocator};
    tw_context *cx = NULL;
    CHECK(tw_context_create(&options, &cx) == TW_OK);
    test_shared(cx);
    test_options(cx);
    test_limit(cx);
    test_streams(cx);
    test_closed_streams(cx);
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    CHECK(tw_module_load_text(cx, "wrong.py", wrong_text, strlen(wrong_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) != TW_OK && !k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
    return check_done();
}
