/* SPDX-License-Identifier: Apache-2.0 */
/* triton_answers.h: small Triton kernels with their answers, run on the interpreter and the CPU
 * target.
 *
 *     {ROW("running sum", "x f32 1 2 3; z f32 = 1 3 6",
 *          "k = tl.arange(0, 3)\ntl.store(z + k, tl.cumsum(tl.load(x + k)))")}
 *
 * The second text lists the parameters: name, dtype and numbers of an array; behind `=` stands what
 * the array must hold after the run (it starts as zeroes, or as the numbers before the `=`). A
 * parameter without a dtype is a number. The body is the kernel `k`, run once. Helpers are jit
 * functions that stand in front of it. Under `within` the answers may differ a little. */
#ifndef TESTS_TRITON_ANSWERS_H
#define TESTS_TRITON_ANSWERS_H
#include "check.h"
#include "ir/element.h"
#include "tilewright.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct TritonCase {
    const char *name, *params, *body, *helpers;
    double within;       /* absolute and relative */
    const char *refused; /* a part of the message instead of an answer */
    int grid;            /* 0: 1 */
    int in_order;        /* a sum whose order shows: not on GPUs */
} TritonCase;

/* The first fields of a row; `.helpers = ..` and the like may follow. */
#define ROW(name_, params_, body_) .name = name_, .params = params_, .body = body_

enum { CASE_PARAMS = 12, CASE_NUMBERS = 520 };

typedef struct CaseParam {
    char name[24];
    int32_t dtype; /* TW_DTYPE_ANY: a number */
    int count, wanted;
    double start[CASE_NUMBERS], want[CASE_NUMBERS];
    int is_float;
} CaseParam;

static char case_source[1 << 16];

static int case_word(const char **at, char *word, size_t size) {
    while (**at == ' ') (*at)++;
    size_t n = strcspn(*at, " ;");
    if (n == 0 || n >= size) return 0;
    memcpy(word, *at, n);
    word[n] = '\0';
    *at += n;
    return 1;
}

/* "3*1.5" is 1.5 three times. */
static int case_number(const char *word, double *to, int *count) {
    char *end;
    int times = 1;
    const char *star = strchr(word, '*');
    if (star) {
        times = atoi(word);
        word = star + 1;
    }
    int hex = strncmp(word, "0x", 2) == 0;
    double value = hex ? (double)strtoull(word, &end, 16) : strtod(word, &end);
    if (*end || *count + times > CASE_NUMBERS) return 0;
    while (times--) to[(*count)++] = value;
    return 1;
}

static int case_params(const char *text, CaseParam *params) {
    int n = 0;
    for (const char *at = text; *at && n < CASE_PARAMS; n++) {
        CaseParam *p = &params[n];
        char word[64];
        memset(p, 0, sizeof *p);
        if (!case_word(&at, p->name, sizeof p->name)) return -1;
        int wants = 0;
        for (int first = 1; case_word(&at, word, sizeof word); first = 0) {
            int32_t dtype = first ? tw_dtype_find(word) : TW_DTYPE_ANY;
            if (dtype != TW_DTYPE_ANY)
                p->dtype = dtype;
            else if (strcmp(word, "=") == 0)
                wants = 1;
            else if (!case_number(word, wants ? p->want : p->start, wants ? &p->wanted : &p->count))
                return -1;
            else if (strpbrk(word, ".enN"))
                p->is_float = 1;
        }
        if (p->count < p->wanted) p->count = p->wanted;
        while (*at == ';' || *at == ' ') at++;
    }
    return n;
}

static void case_text(const TritonCase *c, const CaseParam *params, int count) {
    size_t size = sizeof case_source;
    int n = snprintf(case_source, size,
                     "import triton\nimport triton.language as tl\n"
                     "from triton.language.extra import libdevice\n%s\n@triton.jit\ndef k(",
                     c->helpers ? c->helpers : "");
    for (int i = 0; i < count; i++)
        n += snprintf(case_source + n, size - (size_t)n, "%s%s%s", i ? ", " : "", params[i].name,
                      isupper((unsigned char)params[i].name[0]) ? ": tl.constexpr" : "");
    n += snprintf(case_source + n, size - (size_t)n, "):\n");
    for (const char *line = c->body; *line;) {
        size_t length = strcspn(line, "\n");
        n += snprintf(case_source + n, size - (size_t)n, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static Elem case_elem(int32_t dtype) {
    for (int e = 0; e < EL_COUNT; e++)
        if (strcmp(elem_info[e].text, tw_dtype_name(dtype)) == 0) return (Elem)e;
    return EL_COUNT;
}

/* Element i of an array as a number, and back. */
static double case_get(const tw_buffer *b, int64_t i) {
    Elem elem = case_elem(tw_buffer_dtype(b));
    return elem_get_f64(elem, (char *)tw_buffer_data(b) + i * elem_info[elem].bytes);
}
static void case_set(tw_buffer *b, int64_t i, double x) {
    Elem elem = case_elem(tw_buffer_dtype(b));
    char *at = (char *)tw_buffer_data(b) + i * elem_info[elem].bytes;
    if (elem_is_float(elem))
        elem_put_f64(elem, at, x);
    else
        elem_put_i64(elem, at, x < 0 ? (int64_t)x : (int64_t)(uint64_t)x);
}

static void case_compare(const TritonCase *c, const char *target, const CaseParam *p,
                         tw_buffer *b) {
    for (int i = 0; i < p->wanted; i++) {
        double got = case_get(b, i), want = p->want[i];
        int good = isnan(want) ? isnan(got)
                               : got == want || fabs(got - want) <= c->within * (1 + fabs(want));
        check_count++;
        if (good) continue;
        check_failures++;
        fprintf(stderr, "%s on %s: %s[%d] is %.9g, expected %.9g\n", c->name, target, p->name, i,
                got, want);
    }
}

static void triton_case(tw_context *cx, const TritonCase *c, const char *target) {
    static CaseParam params[CASE_PARAMS];
    int count = case_params(c->params, params);
    CHECK(count >= 0);
    if (count < 0) {
        fprintf(stderr, "%s: unreadable parameters\n", c->name);
        return;
    }
    case_text(c, params, count);
    tw_module *m = NULL;
    tw_kernel *kernel = NULL;
    tw_buffer *buffers[CASE_PARAMS] = {NULL};
    tw_arg args[CASE_PARAMS] = {{0}};
    for (int i = 0; i < count; i++) {
        const CaseParam *p = &params[i];
        if (p->dtype == TW_DTYPE_ANY) {
            args[i].kind = p->is_float ? TW_ARG_FLOAT : TW_ARG_INT;
            if (p->is_float)
                args[i].value.f = p->start[0];
            else
                args[i].value.i = (int64_t)p->start[0];
            continue;
        }
        int64_t n = p->count;
        CHECK(tw_buffer_create(cx, p->dtype, 1, &n, NULL, &buffers[i]) == TW_OK);
        for (int64_t k = 0; k < n; k++) case_set(buffers[i], k, p->start[k]);
        args[i].kind = TW_ARG_BUFFER;
        args[i].value.buffer = buffers[i];
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.emulate = strcmp(target, "cuda") == 0;
    options.args = args;
    options.arg_count = (size_t)count;
    options.verify_each = 1;
    int64_t grid[3] = {c->grid ? c->grid : 1, 1, 1};
    tw_status status =
        tw_module_load_text(cx, "case.py", case_source, strlen(case_source), NULL, &m);
    if (status == TW_OK) status = tw_kernel_compile(m, "k", &options, &kernel);
    if (status == TW_OK && !c->refused)
        status = tw_kernel_launch(kernel, NULL, grid, args, (size_t)count);
    const char *message = tw_context_message(cx);
    check_count++;
    if (c->refused ? status == TW_OK || !strstr(message, c->refused) : status != TW_OK) {
        check_failures++;
        fprintf(stderr, "%s on %s: %s\n%s\n", c->name, target, tw_status_name(status), message);
    }
    for (int i = 0; i < count; i++) {
        if (buffers[i] && status == TW_OK) case_compare(c, target, &params[i], buffers[i]);
        tw_buffer_destroy(buffers[i]);
    }
    tw_kernel_destroy(kernel);
    tw_module_destroy(m);
}
#endif
