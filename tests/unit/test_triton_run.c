/* SPDX-License-Identifier: Apache-2.0 */
/* test_triton_run.c: what Triton kernels compute: control flow, tuples, calls, constants, and the
 * typing rules that are easily got wrong. Every case runs on the interpreter and compares the
 * numbers that it stores; the last table are texts that are refused, with the words that say why.
 *
 * A body sees out (*f64, 16 zeros), n = 12, one = 1, x = 1.5, p (*i32, 0 .. 15), N = 8. */
#include "check.h"

#include "tilewright.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct Case {
    const char *helpers, *body; /* lines without their indentation */
    const char *want;           /* numbers in out, the first ones; or part of the message */
} Case;

#define HEAD "import math\nimport triton\nimport triton.language as tl\n"

static tw_context *cx;
static tw_buffer *out, *p;

static char *text_of(const Case *c) {
    static char text[8192];
    size_t at = (size_t)snprintf(
        text, sizeof text, HEAD "%s\n@triton.jit\ndef k(out, n, one, x, p, N: tl.constexpr):\n",
        c->helpers);
    for (const char *line = c->body; *line;) {
        size_t length = strcspn(line, "\n");
        at += (size_t)snprintf(text + at, sizeof text - at, "    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    return text;
}

static tw_status run(const Case *c, bool ones) {
    char *text = text_of(c);
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_arg args[] = {
        {.kind = TW_ARG_BUFFER, .value.buffer = out}, {.kind = TW_ARG_INT, .value.i = 12},
        {.kind = TW_ARG_INT, .value.i = 1},           {.kind = TW_ARG_FLOAT, .value.f = 1.5},
        {.kind = TW_ARG_BUFFER, .value.buffer = p},   {.kind = TW_ARG_INT, .value.i = 8}};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "interp";
    options.args = args;
    options.arg_count = 6;
    options.specialize_ones = ones;
    options.verify_each = 1;
    CHECK(tw_buffer_fill(out, "zeros", 0, 0) == TW_OK);
    CHECK(tw_buffer_fill(p, "arange", 0, 0) == TW_OK);
    tw_status status = tw_module_load_text(cx, "k.py", text, strlen(text), NULL, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, "k", &options, &kernel);
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, (int64_t[]){1, 1, 1}, args, 6);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    return status;
}

static void expect(const Case *c, bool ones) {
    tw_status status = run(c, ones);
    CHECK(status == TW_OK);
    if (status != TW_OK) {
        printf("%s\n%s\n", c->body, tw_context_message(cx));
        return;
    }
    const double *got = tw_buffer_data(out);
    int i = 0;
    for (const char *at = c->want; *at; i++) {
        char *end;
        double want = strtod(at, &end);
        bool same = memcmp(&want, &got[i], sizeof want) == 0 || (want != want && got[i] != got[i]);
        CHECK(same);
        if (!same) printf("%s\n out[%d]: %.17g, not %.17g\n", c->body, i, got[i], want);
        at = end + strspn(end, " ");
    }
}

static void refuse(const Case *c) {
    tw_status status = run(c, false);
    CHECK(status == TW_ERROR_SOURCE);
    bool said = strstr(tw_context_message(cx), c->want) != NULL;
    CHECK(said);
    if (!said) printf("%s\n%s\nnot: %s\n", c->body, tw_context_message(cx), c->want);
}

#include "triton_cases.h"

int main(void) {
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_buffer_create(cx, TW_F64, 1, (int64_t[]){16}, NULL, &out) == TW_OK);
    CHECK(tw_buffer_create(cx, TW_I32, 1, (int64_t[]){16}, NULL, &p) == TW_OK);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) expect(&runs[i], false);
    for (size_t i = 0; i < sizeof ones / sizeof *ones; i++) expect(&ones[i], true);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) refuse(&refused[i]);
    tw_buffer_destroy(out);
    tw_buffer_destroy(p);
    tw_context_destroy(cx);
    return check_done();
}
