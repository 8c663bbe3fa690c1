/* SPDX-License-Identifier: Apache-2.0 */
/* interp_bench.h: runs IR text in the interpreter, for the tests of the interpreter.
 *
 *     Bench b;
 *     bench_open(&b, "kernel @k(%x: *f32) { .. }", "M", 16, NULL);       $M in the text becomes 16
 *     bench_buffer(&b, "x", x, sizeof x, true);                          arguments in order
 *     CHECK(bench_run(&b, 4, 1, 1));                                     a grid of 4 programs
 *     bench_close(&b); */
#ifndef TESTS_INTERP_BENCH_H
#define TESTS_INTERP_BENCH_H
#include "check.h"
#include "ir/interp/interp.h"

#include <math.h>
#include <stdlib.h>

typedef struct Bench {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    Module *module;
    Kernel *kernel;
    InterpArg args[16];
    InterpRegion regions[16];
    InterpLaunch launch;
    Text printed;
} Bench;

static inline void bench_print(void *user, const char *text, size_t length) {
    text_add_bytes(user, text, length);
}

/* The text with every $NAME replaced; names and numbers follow in pairs, then NULL. */
static inline const char *bench_expand(Arena *arena, const char *text, va_list args) {
    struct {
        const char *name;
        int value;
    } names[16];
    int count = 0;
    for (const char *name; (name = va_arg(args, const char *));) {
        names[count].name = name;
        names[count++].value = va_arg(args, int);
    }
    Text out = text_new(arena);
    for (; *text; text++) {
        int found = -1;
        for (int i = 0; *text == '$' && i < count; i++)
            if (strncmp(text + 1, names[i].name, strlen(names[i].name)) == 0) found = i;
        if (found < 0) {
            text_add_char(&out, *text);
            continue;
        }
        text_add(&out, "%d", names[found].value);
        text += strlen(names[found].name);
    }
    return out.at;
}

static inline void bench_open(Bench *b, const char *text, ...) {
    memset(b, 0, sizeof *b);
    if (!TRAP_ARM(&b->trap)) {
        fprintf(stderr, "trap: %s\n", b->trap.message);
        abort();
    }
    arena_init(&b->arena, allocator_malloc, &b->trap);
    source_init(&b->sources, &b->arena);
    diag_init(&b->diag, &b->arena, &b->sources);
    b->module = ir_module_new(&b->arena, &b->diag, &b->sources);
    va_list args;
    va_start(args, text);
    text = bench_expand(&b->arena, text, args);
    va_end(args);
    bool good = ir_parse(b->module, source_add(&b->sources, "test.tir", text, strlen(text)));
    b->kernel = good ? b->module->kernels.at[0] : NULL;
    good = good && ir_verify(b->kernel, b->kernel->form, &b->diag);
    CHECK(good);
    if (!good) {
        fprintf(stderr, "%s\n", diag_render(&b->diag, &b->arena));
        exit(1);
    }
    b->printed = text_new(&b->arena);
    b->launch = (InterpLaunch){.kernel = b->kernel,
                               .args = b->args,
                               .regions = b->regions,
                               .arena = &b->arena,
                               .diag = &b->diag,
                               .print = bench_print,
                               .print_user = &b->printed};
}

static inline void bench_close(Bench *b) {
    arena_free(&b->arena);
}

static inline InterpArg *bench_arg(Bench *b) {
    InterpArg *arg = &b->args[b->launch.arg_count++];
    memset(arg, 0, sizeof *arg);
    return arg;
}
static inline InterpArg *bench_buffer(Bench *b, const char *name, void *data, size_t size,
                                      bool written) {
    InterpArg *arg = bench_arg(b);
    arg->pointer = data;
    b->regions[b->launch.region_count++] = (InterpRegion){name, data, size, written};
    return arg;
}
/* A dense tensor; extents follow. */
static inline void bench_tensor(Bench *b, const char *name, void *data, bool written, int bytes,
                                int rank, ...) {
    int64_t extent[MAX_RANK], total = 1;
    va_list args;
    va_start(args, rank);
    for (int d = 0; d < rank; d++) extent[d] = va_arg(args, int);
    va_end(args);
    int64_t stride[MAX_RANK];
    for (int d = rank - 1; d >= 0; d--) {
        stride[d] = total;
        total *= extent[d];
    }
    InterpArg *arg = bench_buffer(b, name, data, (size_t)(total * bytes), written);
    memcpy(arg->extent, extent, sizeof arg->extent);
    memcpy(arg->stride, stride, sizeof arg->stride);
}
static inline void bench_int(Bench *b, int64_t x) {
    bench_arg(b)->bits = (uint64_t)x;
}
static inline void bench_float(Bench *b, float x) {
    memcpy(&bench_arg(b)->bits, &x, sizeof x);
}

static inline bool bench_run(Bench *b, int64_t x, int64_t y, int64_t z) {
    b->launch.grid[0] = x;
    b->launch.grid[1] = y;
    b->launch.grid[2] = z;
    return interp_run(&b->launch);
}
static inline const char *bench_errors(Bench *b) {
    return diag_render(&b->diag, &b->arena);
}
/* The run must succeed; if not, say why. */
#define BENCH_RUN(b, x, y, z)                                \
    do {                                                     \
        bool ran_ = bench_run((b), (x), (y), (z));           \
        CHECK(ran_);                                         \
        if (!ran_) fprintf(stderr, "%s\n", bench_errors(b)); \
    } while (0)
/* The run must fail with a message that holds the words. */
#define BENCH_FAILS(b, x, y, z, words)                                          \
    do {                                                                        \
        bool ran_ = bench_run((b), (x), (y), (z));                              \
        CHECK(!ran_);                                                           \
        CHECK(strstr(bench_errors(b), (words)) != NULL);                        \
        if (ran_ || !strstr(bench_errors(b), (words)))                          \
            fprintf(stderr, "wanted: %s\ngot: %s\n", (words), bench_errors(b)); \
    } while (0)

static inline uint64_t bench_next(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}
/* About normal, with a standard deviation of 1. */
static inline float bench_normal(uint64_t *state) {
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (double)(bench_next(state) >> 11) * 0x1p-53;
    return (float)(sum - 6);
}
#endif
