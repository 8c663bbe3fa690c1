/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_cases.h: runs a kernel of IR text on a target (the CPU, if none is named) and on the
 * interpreter, with the same made-up arguments, and compares all memory. Pointers get 4096 elements, tensors the given
 * extents, integers the given number. Floats are a mix of ordinary numbers and special ones
 * (zeroes of both signs, infinities, NaN, subnormals, limits). */
#ifndef TESTS_CPU_CASES_H
#define TESTS_CPU_CASES_H
#include "check.h"
#include "guarded.h"
#include "tilewright.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { CASE_ELEMENTS = 4096 };

typedef struct Case {
    const char *name, *text;
    int64_t extents[TW_MAX_RANK]; /* of tensors, right-aligned; 0 in front: pointers only */
    int64_t number;               /* of integer scalars */
    int64_t grid[3];              /* 0: 1 */
    double tolerance;             /* 0: every bit (but NaN is NaN and -0 is 0) */
    int plain;                    /* 1: ordinary numbers only */
    int threads;                  /* 0: all */
    int64_t elements;             /* behind a pointer; 0: CASE_ELEMENTS */
    const char *target;           /* to compare with interp; NULL: cpu; cuda-emulated: CUDA's text on the host */
} Case;

static uint64_t case_state = 1;
static uint64_t case_random(void) {
    case_state = case_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return case_state >> 11 ^ case_state << 31;
}

static double case_float(int plain) {
    static const double special[] = {0.0,   -0.0, 1.0,   -1.0,  0.5,   1e30, -1e30,
                                     1e-40, 448,  65504, 65520, 57344, 3e38, 0.1};
    double normal = ((double)(case_random() % 20001) - 10000) / 1500.0;
    if (plain || case_random() % 4) return normal;
    uint64_t pick = case_random() % 20;
    if (pick == 0) return NAN;
    if (pick == 1) return INFINITY;
    if (pick == 2) return -INFINITY;
    if (pick < 6) return normal * 1e-5;
    return special[pick - 6];
}

static void case_fill(tw_buffer *b, int plain) {
    int32_t dtype = tw_buffer_dtype(b);
    int64_t n = tw_buffer_elements(b);
    char *data = tw_buffer_data(b);
    size_t size = tw_dtype_size(dtype);
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = case_random();
        if (case_random() % 3 == 0) bits %= 7;
        if (case_random() % 11 == 0) bits = ~UINT64_C(0);
        if (case_random() % 29 == 0) bits = UINT64_C(0x8080808080808080);
        if (plain && dtype <= TW_U64) bits %= 100;
        if (dtype == TW_I1) bits &= 1;
        float f = (float)case_float(plain);
        double d = case_float(plain);
        if (dtype == TW_F32)
            memcpy(&bits, &f, 4);
        else if (dtype == TW_F64)
            memcpy(&bits, &d, 8);
        else if (dtype == TW_F16 && plain)
            bits = (bits & 0x8fff) % 0x4800 | (bits & 0x8000);
        else if (dtype >= TW_F16 && size == 1 && plain) /* neither NaN nor infinity in any of them */
            bits = (bits & 0x3f) ? bits & 0xbf : 0;
        else if (dtype == TW_BF16) {
            memcpy(&bits, &f, 4);
            bits = (bits >> 16) & 0xffff;
        }
        memcpy(data + (size_t)i * size, &bits, size);
    }
}

typedef struct CaseRun {
    tw_buffer *buffers[64]; /* the host's: what goes in, then what came out */
    tw_buffer *there[64];   /* the target's own */
    size_t count;
} CaseRun;

/* A filled host buffer and its copy in the target's memory. */
static int case_buffer(tw_context *cx, const char *target, int32_t dtype, int rank,
                       const int64_t *shape, const Case *c, CaseRun *run, size_t i) {
    if (tw_buffer_create(cx, dtype, rank, shape, NULL, &run->buffers[i]) != TW_OK ||
        guarded_create(cx, dtype, rank, shape, target, &run->there[i]) != TW_OK)
        return 0;
    case_fill(run->buffers[i], c->plain);
    size_t size = (size_t)tw_buffer_elements(run->buffers[i]) * tw_dtype_size(dtype);
    return tw_buffer_write(run->there[i], tw_buffer_data(run->buffers[i]), size) == TW_OK;
}

static int case_read_back(CaseRun *run) {
    int good = 1;
    for (size_t i = 0; i < run->count && i < 64; i++) {
        tw_buffer *b = run->buffers[i];
        size_t size =
            b ? (size_t)tw_buffer_elements(b) * tw_dtype_size(tw_buffer_dtype(b)) : 0;
        if (b) good = tw_buffer_read(run->there[i], tw_buffer_data(b), size) == TW_OK && good;
        guarded_destroy(run->there[i]);
    }
    return good;
}

static int case_run(tw_context *cx, tw_module *m, const Case *c, const char *target, CaseRun *run) {
    tw_arg args[64] = {{0}};
    run->count = tw_module_param_count(m, 0);
    case_state = 12345;
    for (size_t i = 0; i < run->count && i < 64; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        tw_module_param_at(m, 0, i, &info);
        run->buffers[i] = run->there[i] = NULL;
        if (info.kind == TW_PARAM_SCALAR) {
            int is_float = info.dtype >= TW_F16;
            args[i].kind = is_float ? TW_ARG_FLOAT : TW_ARG_INT;
            if (is_float)
                args[i].value.f = 1.625;
            else
                args[i].value.i = c->number;
            continue;
        }
        int64_t shape[TW_MAX_RANK] = {c->elements ? c->elements : CASE_ELEMENTS};
        int rank = info.kind == TW_PARAM_TENSOR ? info.rank : 1;
        for (int d = 0; d < rank && info.kind == TW_PARAM_TENSOR; d++)
            shape[d] = c->extents[TW_MAX_RANK - rank + d];
        if (!case_buffer(cx, target, info.dtype, rank, shape, c, run, i)) {
            fprintf(stderr, "%s on %s: %s\n", c->name, target, tw_context_message(cx));
            return 0;
        }
        args[i].kind = TW_ARG_BUFFER;
        args[i].value.buffer = run->there[i];
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    char threads[16];
    snprintf(threads, sizeof threads, "%d", c->threads);
    tw_pair pairs[] = {{"threads", threads}, {"fuse", "off"}, {"bf16_pairs", "off"}};
    options.emulate = strcmp(target, "cuda-emulated") == 0;
    options.target = options.emulate ? "cuda" : target;
    options.options = pairs;
    options.option_count = c->tolerance > 0 ? 2 : 3;
    options.verify_each = 1;
    options.args = args;
    options.arg_count = run->count;
    tw_kernel *k = NULL;
    int64_t grid[3];
    for (int d = 0; d < 3; d++) grid[d] = c->grid[d] ? c->grid[d] : 1;
    tw_status status = tw_kernel_compile(m, NULL, &options, &k);
    if (status == TW_OK) status = tw_kernel_launch(k, NULL, grid, args, run->count);
    if (status != TW_OK)
        fprintf(stderr, "%s on %s: %s: %s\n", c->name, target, tw_status_name(status),
                tw_context_message(cx));
    tw_kernel_destroy(k);
    return case_read_back(run) && status == TW_OK;
}

static void case_check(tw_context *cx, const Case *c) {
    tw_module *m = NULL;
    CaseRun got = {.count = 0}, want = {.count = 0};
    tw_status status = tw_module_load_text(cx, "case.ir", c->text, strlen(c->text), NULL, &m);
    if (status != TW_OK) fprintf(stderr, "%s: %s\n", c->name, tw_context_message(cx));
    CHECK(status == TW_OK);
    if (status != TW_OK) return;
    const char *target = c->target ? c->target : "cpu";
    int ok = case_run(cx, m, c, "interp", &want) && case_run(cx, m, c, target, &got);
    CHECK(ok);
    for (size_t i = 0; i < want.count && i < 64; i++) {
        tw_difference d = {.struct_size = sizeof d};
        if (ok && want.buffers[i]) {
            tw_param_info info = {.struct_size = sizeof info};
            tw_module_param_at(m, 0, i, &info);
            CHECK(tw_buffer_compare(got.buffers[i], want.buffers[i], c->tolerance, c->tolerance,
                                    &d) == TW_OK);
            if (d.different)
                fprintf(stderr,
                        "%s, argument %s: %lld of %lld differ, largest at %lld: %s %.17g, interp "
                        "%.17g\n",
                        c->name, info.name, (long long)d.different, (long long)d.elements,
                        (long long)d.at, target, d.got, d.want);
            CHECK(d.different == 0);
        }
        tw_buffer_destroy(got.buffers[i]);
        tw_buffer_destroy(want.buffers[i]);
    }
    tw_module_destroy(m);
}
#endif
