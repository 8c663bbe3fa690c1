/* SPDX-License-Identifier: Apache-2.0 */
/* cases.c: kernels that were built ahead of time, linked into a plain C program: what they compute, what they refuse, with
 * threads of their own, of the caller and none; eight callers at once; how long a launch takes.
 *
 *   cases          prints a line for each case: its name and a digest of its memory
 *   with -DWITH_LIBRARY: each case is also run by the library, and every byte compared. */
#define _GNU_SOURCE
#include "cases.h"

#include "add.h"
#include "guarded.h"
#include "hand.h"
#include "matmul.h"
#include "says.h"
#include "softmax.h"
#include "splitk.h"
#include "tc_matmul.h"
#include "tl_add.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int failures, checks;
#define CHECK(condition)                                                     \
    do {                                                                     \
        checks++;                                                            \
        if (!(condition)) {                                                  \
            failures++;                                                      \
            printf("%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
        }                                                                    \
    } while (0)

/* --- what is called --- */

enum { AT_X = 4096, AT_Y = 200000, AT_Z = 600000 };
#define F(at) ((float *)(void *)(world + (at)))
#define H(at) ((uint16_t *)(void *)(world + (at)))

#define ADD(x, y, z, n, programs) \
    return add(F(x), n, F(y), n, F(z), n, n, programs, 1, 1, o)
static int32_t run_add(char *world, const void *o) { ADD(AT_X, AT_Y, AT_Z, 10000, 10); }
static int32_t run_add_in_place(char *world, const void *o) { ADD(AT_X, AT_Y, AT_X, 10000, 10); }
static int32_t run_add_shifted(char *world, const void *o) { ADD(AT_X, AT_Y, AT_X + 12, 1000, 1); }
static int32_t run_add_odd(char *world, const void *o) { ADD(AT_X + 4, AT_Y + 8, AT_Z + 12, 9999, 10); }
static int32_t run_add_none(char *world, const void *o) { ADD(AT_X, AT_Y, AT_Z, 0, 0); }
static int32_t run_softmax(char *world, const void *o) {
    return softmax(F(AT_Z), 37 * 128, F(AT_X), 37 * 128, 128, 128, 128, 37, 1, 1, o);
}
static int32_t run_softmax_odd(char *world, const void *o) {
    return softmax(F(AT_Z + 4), 37 * 103, F(AT_X + 4), 37 * 101, 101, 103, 100, 37, 1, 1, o);
}
#define MATMUL(a, b, c, m, n, k, bk, bn, programs) \
    return matmul(F(a), (m) * (k), F(b), (k) * (n), F(c), (m) * (n), m, n, k, k, 1, bk, bn, n, 1, programs, 1, 1, o)
static int32_t run_matmul(char *world, const void *o) { MATMUL(AT_X, AT_Y, AT_Z, 64, 96, 64, 96, 1, 6); }
static int32_t run_matmul_odd(char *world, const void *o) { MATMUL(AT_X + 4, AT_Y, AT_Z + 4, 70, 65, 33, 65, 1, 9); }
static int32_t run_matmul_turned(char *world, const void *o) { MATMUL(AT_X, AT_Y, AT_Z, 64, 64, 64, 1, 64, 4); }
static int32_t run_matmul_over(char *world, const void *o) { MATMUL(AT_X, AT_Y, AT_X, 32, 32, 32, 32, 1, 1); }
static int32_t run_tl_add(char *world, const void *o) { return tl_add(F(AT_X), 4096, F(AT_Y), 4096, F(AT_Z), 4096, o); }
static int32_t run_splitk(char *world, const void *o) {
    return splitk(H(AT_X), 64 * 96, H(AT_Y), 96 * 64, F(AT_Z), 64 * 64, o);
}
static int32_t run_tc_matmul(char *world, const void *o) {
    return tc_matmul(H(AT_X), 256 * 64, 256, 64, NULL, H(AT_Y), 64 * 256, 64, 256, NULL, H(AT_Z), 256 * 256, 256, 256, NULL, o);
}
static int32_t run_tc_matmul_gaps(char *world, const void *o) {
    const int64_t a[] = {80, 1}, c[] = {264, 1};
    return tc_matmul(H(AT_X), 256 * 80, 256, 64, a, H(AT_Y), 64 * 256, 64, 256, NULL, H(AT_Z), 256 * 264, 256, 256, c, o);
}

#define V1(kind, at, n) {kind, 0, at, 1, {n, 0}, {0, 0}}
#define V2(kind, at, n, m) {kind, 0, at, 2, {n, m}, {0, 0}}
#define I(n) {'i', n, 0, 0, {0, 0}, {0, 0}}
#define ADD_CASE(name, x, y, z, n, programs, function)                                                            \
    {name, "triton/add.py", "add_kernel", "BLOCK_SIZE=1024", {programs, 1, 1},                                     \
     {V1('f', x, n), V1('f', y, n), V1('f', z, n), I(n)}, function}
#define MATMUL_CASE(name, a, b, c, m, n, k, bk, bn, programs, function)                                           \
    {name, "triton/matmul.py", "matmul_kernel", "BM=32 BN=32 BK=32", {programs, 1, 1},                             \
     {V1('f', a, (m) * (k)), V1('f', b, (k) * (n)), V1('f', c, (m) * (n)), I(m), I(n), I(k), I(k), I(1), I(bk), I(bn), I(n), I(1)}, function}
#define SOFTMAX(name, out, in, in_count, out_count, in_stride, out_stride, columns, function)                     \
    {name, "triton/softmax.py", "softmax_kernel", "BLOCK=128", {37, 1, 1},                                         \
     {V1('f', out, out_count), V1('f', in, in_count), I(in_stride), I(out_stride), I(columns)}, function}
static const Case cases[] = {
    ADD_CASE("add", AT_X, AT_Y, AT_Z, 10000, 10, run_add),
    ADD_CASE("add in place", AT_X, AT_Y, AT_X, 10000, 10, run_add_in_place),
    ADD_CASE("add onto its own neighbours", AT_X, AT_Y, AT_X + 12, 1000, 1, run_add_shifted),
    ADD_CASE("add, misaligned", AT_X + 4, AT_Y + 8, AT_Z + 12, 9999, 10, run_add_odd),
    ADD_CASE("add nothing", AT_X, AT_Y, AT_Z, 0, 0, run_add_none),
    SOFTMAX("softmax", AT_Z, AT_X, 37 * 128, 37 * 128, 128, 128, 128, run_softmax),
    SOFTMAX("softmax, odd", AT_Z + 4, AT_X + 4, 37 * 101, 37 * 103, 101, 103, 100, run_softmax_odd),
    MATMUL_CASE("matmul", AT_X, AT_Y, AT_Z, 64, 96, 64, 96, 1, 6, run_matmul),
    MATMUL_CASE("matmul, odd", AT_X + 4, AT_Y, AT_Z + 4, 70, 65, 33, 65, 1, 9, run_matmul_odd),
    MATMUL_CASE("matmul, turned", AT_X, AT_Y, AT_Z, 64, 64, 64, 1, 64, 4, run_matmul_turned),
    MATMUL_CASE("matmul over its operand", AT_X, AT_Y, AT_X, 32, 32, 32, 32, 1, 1, run_matmul_over),
    {"TileLang add", "tilelang/add.py", "elementwise_add", "M=64 N=64 dtype=float32", {0, 0, 0},
     {V2('f', AT_X, 64, 64), V2('f', AT_Y, 64, 64), V2('f', AT_Z, 64, 64)}, run_tl_add},
    {"TileLang, two launches", "tilelang/gemm_splitk.py", "gemm_splitk", "M=64 N=64 K=96", {0, 0, 0},
     {V2('h', AT_X, 64, 96), V2('h', AT_Y, 96, 64), V2('f', AT_Z, 64, 64)}, run_splitk},
    {"Tile C matmul", "tilec/matmul.tile.c", "matmul", "", {0, 0, 0},
     {V2('b', AT_X, 256, 64), V2('b', AT_Y, 64, 256), V2('b', AT_Z, 256, 256)}, run_tc_matmul},
    {"Tile C matmul, gaps", "tilec/matmul.tile.c", "matmul", "", {0, 0, 0},
     {{'b', 0, AT_X, 2, {256, 64}, {80, 1}}, V2('b', AT_Y, 64, 256), {'b', 0, AT_Z, 2, {256, 256}, {264, 1}}}, run_tc_matmul_gaps},
};
enum { CASES = sizeof cases / sizeof *cases };

/* --- memory --- */

static char *new_world(const Case *c) {
    char *world = aligned_alloc(4096, WORLD);
    uint64_t state = 1;
    if (!world) exit(3);
    memset(world, 0x5a, WORLD);
    for (size_t v = 0; v < 16; v++) {
        const Value *value = &c->values[v];
        size_t bytes = value->kind == 'f' ? 4 : 2;
        int64_t count = value->rank == 2 && value->strides[0] ? value->shape[0] * value->strides[0] : value->shape[0] * (value->rank == 2 ? value->shape[1] : 1);
        if (!value->kind || value->kind == 'i') continue;
        for (int64_t i = 0; i < count; i++) {
            float number = (float)((int64_t)(state >> 40) - (1 << 23)) / (1 << 22);
            uint32_t bits;
            state = state * 6364136223846793005u + 1442695040888963407u;
            memcpy(&bits, &number, sizeof bits);
            uint16_t top = value->kind == 'h' ? (uint16_t)((bits >> 16 & 0x8000) | (0x3000 + (bits & 0xfff))) : (uint16_t)(bits >> 16);
            memcpy(world + value->at + (size_t)i * bytes, bytes == 4 ? (void *)&bits : (void *)&top, bytes);
        }
    }
    return world;
}

static uint64_t digest(const char *world) {
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < WORLD; i++) hash = (hash ^ (unsigned char)world[i]) * 1099511628211u;
    return hash;
}

/* --- threads of the caller --- */

typedef struct Team {
    void (*part)(void *work, int32_t i);
    void *work;
    int32_t count, next;
} Team;

static void *take_parts(void *user) {
    Team *team = user;
    for (int32_t i; (i = __atomic_fetch_add(&team->next, 1, __ATOMIC_RELAXED)) < team->count;) team->part(team->work, i);
    return NULL;
}

static int parallel_calls;
static void parallel(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    Team team = {part, work, count, 0};
    pthread_t threads[3];
    __atomic_fetch_add((int *)user, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, take_parts, &team)) exit(3);
    take_parts(&team);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

static void run_all(void) {
    tw_built_options alone = {sizeof alone, 1, NULL, NULL, NULL, NULL}, own = {sizeof own, 0, parallel, &parallel_calls, NULL, NULL};
    const tw_built_options *ways[] = {NULL, &alone, &own};
    for (int i = 0; i < CASES; i++) {
        const Case *c = &cases[i];
        char *first = NULL;
        for (int way = 0; way < 3; way++) {
            char *world = new_world(c);
            int32_t status = c->built(world, ways[way]);
            CHECK(status == TW_BUILT_OK);
            CHECK(!first || memcmp(world, first, WORLD) == 0);
            if (first)
                free(world);
            else
                first = world;
        }
        printf("%-28s %016llx\n", c->name, (unsigned long long)digest(first));
#ifdef WITH_LIBRARY
        char *world = new_world(c);
        CHECK(reference_run(c, world) == 0);
        for (size_t at = 0; at < WORLD; at++)
            if (world[at] != first[at]) {
                printf("%s: byte %zu differs from what the library computes\n", c->name, at);
                failures++;
                break;
            }
        free(world);
#endif
        free(first);
    }
    CHECK(parallel_calls > 8);
}

/* --- what is refused --- */

static void refuse_all(void) {
    char *world = new_world(&cases[0]);
    float *x = F(AT_X), *y = F(AT_Y), *z = F(AT_Z);
    uint16_t *h = H(AT_X);
    tw_built_options empty = {0, 0, NULL, NULL, NULL, NULL};
    CHECK(add(NULL, 8, y, 8, z, 8, 8, 1, 1, 1, NULL) == TW_BUILT_NULL);
    CHECK(add((float *)(void *)(world + 1), 8, y, 8, z, 8, 8, 1, 1, 1, NULL) == TW_BUILT_UNALIGNED);
    CHECK(add(x, SIZE_MAX, y, 8, z, 8, 8, 1, 1, 1, NULL) == TW_BUILT_EXTENT);
    CHECK(add(x, 8, y, 8, z, 8, 8, -1, 1, 1, NULL) == TW_BUILT_GRID);
    CHECK(add(x, 8, y, 8, z, 8, 8, (int64_t)1 << 31, 1, 1, NULL) == TW_BUILT_GRID);
    CHECK(add(x, 8, y, 8, z, 8, 8, INT32_MAX, INT32_MAX, INT32_MAX, NULL) == TW_BUILT_GRID);
    CHECK(add(x, 8, y, 8, z, 8, 8, 0, 1, 1, NULL) == TW_BUILT_OK);
    CHECK(add(x, 8, y, 8, z, 8, 8, 1, 1, 1, &empty) == TW_BUILT_OPTIONS);
    CHECK(tl_add(x, 4095, y, 4096, z, 4096, NULL) == TW_BUILT_SMALL);
    CHECK(tl_add(x, 4096, NULL, 4096, z, 4096, NULL) == TW_BUILT_NULL);
    CHECK(tc_matmul(h, 64 * 64, -64, 64, NULL, h, 64 * 64, 64, 64, NULL, h, 64 * 64, 64, 64, NULL, NULL) == TW_BUILT_EXTENT);
    CHECK(tc_matmul(h, 64 * 64, 64, 65, NULL, h, 64 * 64, 64, 64, NULL, h, 64 * 64, 64, 64, NULL, NULL) == TW_BUILT_SMALL);
    const int64_t back[] = {-64, 1}, far[] = {INT64_MAX / 2, 1};
    CHECK(tc_matmul(h, 64 * 64, 64, 64, back, h, 64 * 64, 64, 64, NULL, h, 64 * 64, 64, 64, NULL, NULL) == TW_BUILT_EXTENT);
    CHECK(tc_matmul(h, 64 * 64, 64, 64, far, h, 64 * 64, 64, 64, NULL, h, 64 * 64, 64, 64, NULL, NULL) == TW_BUILT_EXTENT);
    CHECK(tc_matmul(h, 64 * 64, INT64_MAX, INT64_MAX, NULL, h, 64 * 64, 64, 64, NULL, h, 64 * 64, 64, 64, NULL, NULL) == TW_BUILT_EXTENT);
    CHECK(guarded(x, 64, 60, 1, 1, 1, NULL) == TW_BUILT_OK);
    CHECK(guarded(x, 64, 70, 1, 1, 1, NULL) == TW_BUILT_ASSERT);
    CHECK(strcmp(guarded_error(TW_BUILT_ASSERT), "guarded.py:9: an assertion failed: n \"fits\"\\?") == 0);
    CHECK(strcmp(guarded_error(TW_BUILT_ASSERT + 1), "unknown") == 0 && strcmp(guarded_error(-1), "unknown") == 0);
    CHECK(strstr(add_error(TW_BUILT_SMALL), "fewer elements"));
    free(world);
}

/* --- what is printed --- */

static void gather(void *user, const char *text, size_t length) {
    char *all = user;
    size_t used = strlen(all);
    if (used + length < 4000) memcpy(all + used, text, length), all[used + length] = 0;
}

static void print_all(void) {
    static const char want[] = "pid (0, 0, 0) idx (0) x: (operand 0) 1.500000\n"
                               "pid (0, 0, 0) idx (1) x: (operand 0) -2.000000\n"
                               "pid (0, 0, 0) idx (0) x: (operand 1) 1.000000\n"
                               "pid (0, 0, 0) idx (1) x: (operand 1) -0.500000\n"
                               "pid (0, 0, 0) idx () n: 0xffffffffffffffff\n"
                               "pid (0, 0, 0) end: \n";
    const float x[] = {1.5f, -2.0f};
    const uint16_t h[] = {0x3c00, 0xb800};
    char text[4000] = "";
    tw_built_options options = {sizeof options, 0, parallel, &parallel_calls, gather, text};
    CHECK(says(x, 2, h, 2, -1, 1, 1, 1, &options) == TW_BUILT_OK);
    CHECK(strcmp(text, want) == 0);
    if (strcmp(text, want)) printf("%s", text);
    text[0] = 0;
    CHECK(says(x, 2, h, 2, -1, 1, 2, 3, &options) == TW_BUILT_OK);
    CHECK(strstr(text, "pid (0, 1, 0) idx (1) x: (operand 0) -2.000000\n") && strstr(text, "pid (0, 1, 2) end"));
    CHECK(says(x, 2, h, 2, -1, 1, 1, 1, NULL) == TW_BUILT_OK);
}

/* --- workers that hand tiles to each other --- */

static void hand_over(void) {
    static float x[256], y[256];
    tw_built_options own = {sizeof own, 0, parallel, &parallel_calls, NULL, NULL};
    const tw_built_options *ways[] = {NULL, &own};
    for (int i = 0; i < 256; i++) x[i] = (float)i;
    for (int way = 0; way < 2; way++) {
        int wrong = 0;
        memset(y, 0, sizeof y);
        CHECK(hand(x, 256, y, 256, ways[way]) == TW_BUILT_OK);
        for (int i = 0; i < 256; i++) wrong += y[i] != 4 * x[i / 64 * 64 + 63 - i % 64] + 6;
        CHECK(!wrong);
    }
}

/* --- a pool of the caller that does not keep its word --- */

static void run_one_part(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    (void)user, (void)count;
    part(work, 0);
}
static void run_others(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    (void)user;
    for (int32_t i = -1; i <= count + 1; i++) part(work, i);
}

static void catch_liars(void) {
    static float x[4096], y[4096], z[4096];
    void (*liars[])(void *, int32_t, void (*)(void *, int32_t), void *) = {run_one_part, run_others};
    for (int i = 0; i < 2; i++) {
        tw_built_options own = {sizeof own, 0, liars[i], NULL, NULL, NULL};
        CHECK(add(x, 4096, y, 4096, z, 4096, 4096, 4, 1, 1, &own) == TW_BUILT_PARALLEL);
    }
    CHECK(strstr(add_error(TW_BUILT_PARALLEL), "parallel"));
}

/* --- many callers --- */

static void *call_often(void *user) {
    const Case *c = user;
    char *want = new_world(c), *world = new_world(c);
    tw_built_options alone = {sizeof alone, 1, NULL, NULL, NULL, NULL};
    long wrong = c->built(want, &alone);
    for (int i = 0; i < 20; i++) wrong += c->built(world, NULL) != 0 || memcmp(world, want, WORLD) != 0;
    free(want);
    free(world);
    return (void *)wrong;
}

static void call_from_threads(void) {
    static const int chosen[] = {0, 5, 6, 7, 0, 5, 11, 13}; /* none that writes what it reads */
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        if (pthread_create(&threads[i], NULL, call_often, (void *)(uintptr_t)&cases[chosen[i]])) exit(3);
    for (int i = 0; i < 8; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        CHECK(!wrong);
    }
}

static double now(clockid_t clock) { /* us */
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

int main(void) {
    enum { LAUNCHES = 10000 };
    static float x[4096], y[4096], z[4096]; /* a block of 1024 never meets another array */
    tw_built_options alone = {sizeof alone, 1, NULL, NULL, NULL, NULL};
    double start = now(CLOCK_MONOTONIC);
    CHECK(add(x, 64, y, 64, z, 64, 64, 4, 1, 1, NULL) == TW_BUILT_OK);
    double first = now(CLOCK_MONOTONIC) - start;
    start = now(CLOCK_THREAD_CPUTIME_ID); /* others may use the machine */
    for (int i = 0; i < LAUNCHES; i++) CHECK(add(x, 64, y, 64, z, 64, 64, 1, 1, 1, &alone) == TW_BUILT_OK);
    double each = (now(CLOCK_THREAD_CPUTIME_ID) - start) / LAUNCHES;
    fprintf(stderr, "first launch, with its threads: %.0f us; a launch of 64 numbers: %.3f us\n", first, each);
    CHECK(first < 100000);
    run_all();
    refuse_all();
    print_all();
    hand_over();
    catch_liars();
    call_from_threads();
    fprintf(stderr, "%d checks, %d failed\n", checks, failures);
    return failures > 0;
}
