/* SPDX-License-Identifier: Apache-2.0 */
/* test_cancel.c: calls that take long end soon when they are asked to, and the context is good afterwards.
 *
 * Asked by another thread (tw_context_cancel) and by the host's own poll; while a kernel loops without end in native
 * code, while a grid is too large, and while a compiler hangs. Nothing of the compiler stays. */
#include "check.h"
#include "tilewright.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* What a user waits for is less than a second; a machine that does other things is given more. */
enum { SECONDS = 3 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(double seconds) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

#define HEAD "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x, n):\n"
static const struct {
    const char *name, *text;
    int64_t grid[3];
} endless[] = {
    {"while on memory", HEAD "    i = 0\n    while i < n:\n        i += tl.load(x)\n    tl.store(x + 1, i)\n", {3, 1, 1}},
    {"while on a tile",
     HEAD "    a = tl.zeros((64,), tl.int32)\n    while tl.sum(a) < n:\n        a += tl.load(x + tl.arange(0, 64))\n"
          "    tl.store(x + tl.arange(0, 64), a)\n",
     {2, 1, 1}},
    {"for on numbers",
     HEAD "    s = tl.program_id(0)\n    for i in range(0, n.to(tl.int64) * 1000000000):\n        s = s * 3 + 1\n"
          "    tl.store(x + 1, s)\n",
     {1, 1, 1}},
    {"for backwards",
     HEAD "    s = tl.program_id(0)\n    for i in range(n.to(tl.int64) * 1000000000, 0, -3):\n        s = s * 3 + 1\n"
          "    tl.store(x + 1, s)\n",
     {1, 1, 1}},
    {"for on tiles",
     HEAD "    s = tl.zeros((1024,), tl.int32)\n    for i in range(0, n.to(tl.int64) * 1000000):\n"
          "        s = s * 3 + tl.load(x + tl.arange(0, 1024))\n    tl.store(x + tl.arange(0, 1024), s)\n",
     {3, 1, 1}},
    {"for in for",
     HEAD "    s = tl.program_id(0)\n    for i in range(n):\n        for j in range(n):\n            for l in range(n):\n"
          "                s = s * 3 + l\n    tl.store(x + 1, s)\n",
     {2, 1, 1}},
    {"a lock that nobody opens",
     HEAD "    while tl.atomic_cas(x, 1, 2) != 1:\n        pass\n    tl.store(x + 1, 1)\n", {2, 1, 1}},
    {"a huge grid", HEAD "    tl.atomic_add(x + 1 + tl.program_id(0) % 512, 1)\n", {2000000000, 2000000000, 1}},
};

static void *cancel_soon(void *cx) {
    nap(0.15);
    tw_context_cancel(cx);
    return NULL;
}

/* The second question of a launch ends it; during compiles it is not counted. */
static int questions = -1;

static int32_t cancel_by_poll(void *user) {
    (void)user;
    return questions >= 0 && ++questions >= 2;
}

typedef struct Way {
    const char *target;
    int32_t emulate, sanitize;
} Way;

static void launch(tw_context *cx, const Way *way, size_t which, int64_t n, bool by_thread, tw_status want) {
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *x = NULL;
    int64_t extent = 1024, grid[3];
    for (int d = 0; d < 3; d++) grid[d] = n > 1 ? endless[which].grid[d] : 1;
    if (way->sanitize || strcmp(way->target, "cpu") != 0) grid[1] = 1; /* the others count programs in 32 bits */
    CHECK(tw_buffer_create(cx, TW_I32, 1, &extent, NULL, &x) == TW_OK);
    if (n <= 1) CHECK(tw_buffer_fill(x, "ones", 0, 0) == TW_OK);
    CHECK(tw_module_load_text(cx, "k.py", endless[which].text, strlen(endless[which].text), NULL, &m) == TW_OK);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = x}}, {TW_ARG_INT, TW_ARG_RUNTIME, {.i = n}}};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.args = args, options.arg_count = 2;
    options.target = way->target, options.emulate = way->emulate, options.sanitize = way->sanitize;
    tw_status compiled = tw_kernel_compile(m, NULL, &options, &k);
    CHECK(compiled == TW_OK);
    if (compiled != TW_OK) fprintf(stderr, "%s on %s: %s\n", endless[which].name, way->target, tw_context_message(cx));
    pthread_t thread;
    if (by_thread) CHECK(pthread_create(&thread, NULL, cancel_soon, cx) == 0);
    double start = now();
    questions = want == TW_OK ? -1 : 0;
    tw_status status = tw_kernel_launch(k, NULL, grid, args, 2);
    double spent = now() - start;
    CHECK(questions == (want == TW_OK ? -1 : by_thread ? 0 : 2));
    questions = -1;
    CHECK(status == want);
    CHECK_TEXT(tw_context_message(cx), want == TW_OK ? "" : "it was cancelled");
    CHECK(want == TW_OK || (spent > 0.05 && spent < SECONDS));
    if (status != want || spent >= SECONDS) fprintf(stderr, "%s: status %d after %g s\n", endless[which].name, status, spent);
    if (by_thread) pthread_join(thread, NULL);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_buffer_destroy(x);
}

static void test_launches(const Way *way, int threads) {
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        tw_context *cx = NULL;
        tw_context_options options;
        tw_context_options_init(&options);
        options.threads = threads;
        options.poll = i % 2 ? cancel_by_poll : NULL;
        CHECK(tw_context_create(&options, &cx) == TW_OK);
        launch(cx, way, i, 1000000000, !options.poll, TW_ERROR_CANCELLED);
        CHECK(tw_context_cancel(cx) == 0); /* concerns no later call */
        if (strstr(endless[i].name, "while on")) launch(cx, way, i, 1, false, TW_OK);
        if (strstr(endless[i].name, "grid")) launch(cx, way, i, 1, false, TW_OK);
        tw_context_destroy(cx);
    }
    CHECK(tw_context_cancel(NULL) == 0);
}

/* What lies in a folder; entries of the cache itself do not count. */
static int rooms_in(const char *folder) {
    int count = 0;
    DIR *list = opendir(folder);
    for (struct dirent *e; list && (e = readdir(list));) count += strncmp(e->d_name, "room-", 5) == 0;
    if (list) closedir(list);
    return count;
}

/* A compiler that starts another program and hangs. */
static void test_compile(const char *target, int32_t emulate) {
    char folder[] = "/tmp/tw-cancel-XXXXXX", script[64], cache[64], mark[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(script, sizeof script, "%s/cc", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(mark, sizeof mark, "%s/alive", folder);
    FILE *file = fopen(script, "w");
    fprintf(file, "#!/bin/sh\n(while :; do echo >%s; sleep 0.02; done) &\nsleep 100\n", mark);
    fclose(file);
    chmod(script, 0700);
    setenv("CC", script, 1);
    setenv("CXX", script, 1);
    tw_context *cx = NULL;
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = cache;
    CHECK(tw_context_create(&options, &cx) == TW_OK);
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    const char *text = HEAD "    o = tl.arange(0, 64)\n    tl.store(x + o, tl.load(x + o) + 1)\n";
    int64_t extent = 64;
    tw_buffer *x = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, &extent, NULL, &x) == TW_OK);
    CHECK(tw_module_load_text(cx, "k.py", text, strlen(text), NULL, &m) == TW_OK);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = x}}, {TW_ARG_INT, TW_ARG_RUNTIME, {.i = 5}}};
    tw_compile_options how;
    tw_compile_options_init(&how);
    how.target = target, how.emulate = emulate, how.args = args, how.arg_count = 2;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, cancel_soon, cx) == 0);
    double start = now();
    CHECK(tw_kernel_compile(m, NULL, &how, &k) == TW_ERROR_CANCELLED && !k);
    CHECK(now() - start < SECONDS);
    CHECK_TEXT(tw_context_message(cx), "it was cancelled");
    pthread_join(thread, NULL);
    CHECK(rooms_in(cache) == 0);
    unlink(mark);
    nap(0.1);
    CHECK(access(mark, F_OK) != 0); /* what the compiler started is gone too */
    unsetenv("CC");
    unsetenv("CXX");
    CHECK(tw_kernel_compile(m, NULL, &how, &k) == TW_OK);
    CHECK_TEXT(tw_context_message(cx), "");
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_buffer_destroy(x);
    tw_context_destroy(cx);
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK(system(command) == 0);
}

int main(void) {
    static const Way ways[] = {{"cpu", 0, 0}, {"cpu", 0, 1}, {"interp", 0, 0}, {"cuda", 1, 0}};
    test_launches(&ways[0], 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) test_launches(&ways[i], 2);
    test_compile("cpu", 0);
    test_compile("cuda", 1);
    test_compile("tenstorrent", 0);
    return check_done();
}
