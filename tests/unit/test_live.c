/* SPDX-License-Identifier: Apache-2.0 */
/* test_live.c: a kernel inside a running program, whose names a resolver knows: modules under other
 * names, constants, functions with scopes of their own, host objects and calls, constant arguments
 * that are objects, and the specialisation of arguments of 1. */
#include "check.h"

#include "tilewright.h"

#include <stdbool.h>

/* The program: three scopes (handles 1..3), one host object (handle 10), one host function (11),
 * one tuple (12), counted questions. */
typedef struct Program {
    int lookups;
    char last[64];
} Program;

static void *handle(intptr_t n) {
    return (void *)n;
}

static tw_object named(const char *text) {
    return (tw_object){.kind = TW_OBJECT_NAMED, .text = text};
}
static tw_object number(int64_t i) {
    return (tw_object){.kind = TW_OBJECT_VALUE, .value = {.kind = TW_ARG_INT, .value.i = i}};
}

static const char helper_source[] = "@jit\n"
                                    "def helper(x, N: lang.constexpr):\n"
                                    "    return x * FACTOR + N + second(x)\n";
static const char second_source[] = "def second(x):\n"
                                    "    return x * FACTOR\n";
static const char wrong_source[] = "def wrong(x):\n"
                                   "    return nowhere(x)\n";

static tw_status lookup(void *user, void *scope, const char *name, tw_object *out) {
    Program *program = user;
    program->lookups++;
    snprintf(program->last, sizeof program->last, "%s", name);
    intptr_t where = (intptr_t)scope;
    if (strcmp(name, "lang") == 0 || strcmp(name, "tl") == 0) *out = named("triton.language");
    if (strcmp(name, "FACTOR") == 0) *out = number(where == 2 ? 10 : where == 3 ? 100 : 1);
    if (strcmp(name, "helper") == 0)
        *out = (tw_object){.kind = TW_OBJECT_FUNCTION,
                           .text = "helper",
                           .file = "lib/helper.py",
                           .line = 40,
                           .source = helper_source,
                           .handle = handle(2)};
    if (strcmp(name, "second") == 0 && where == 2)
        *out = (tw_object){.kind = TW_OBJECT_FUNCTION,
                           .text = "second",
                           .file = "lib/second.py",
                           .line = 7,
                           .source = second_source,
                           .handle = handle(3)};
    if (strcmp(name, "wrong") == 0)
        *out = (tw_object){.kind = TW_OBJECT_FUNCTION,
                           .text = "wrong",
                           .file = "lib/wrong.py",
                           .line = 90,
                           .source = wrong_source,
                           .handle = handle(4)};
    if (strcmp(name, "config") == 0)
        *out = (tw_object){.kind = TW_OBJECT_HOST, .text = "config", .handle = handle(10)};
    if (strcmp(name, "double") == 0)
        *out = (tw_object){.kind = TW_OBJECT_HOST, .text = "double", .handle = handle(11)};
    if (strcmp(name, "shape") == 0)
        *out = (tw_object){.kind = TW_OBJECT_TUPLE, .count = 2, .handle = handle(12)};
    if (strcmp(name, "pair") == 0)
        *out = (tw_object){.kind = TW_OBJECT_TUPLE, .count = 2, .handle = handle(13)};
    if (strcmp(name, "Pair") == 0)
        *out = (tw_object){.kind = TW_OBJECT_HOST, .text = "Pair", .handle = handle(14)};
    if (strcmp(name, "plain") == 0)
        *out = (tw_object){.kind = TW_OBJECT_REFUSED,
                           .text = "it is a global that is no tl.constexpr"};
    if (strcmp(name, "broken") == 0) {
        out->text = "the lookup raised";
        return TW_ERROR_INTERNAL;
    }
    if (strcmp(name, "loop") == 0) *out = named("builtins.range");
    return TW_OK;
}

static tw_status attribute(void *user, void *object, const char *name, tw_object *out) {
    (void)user;
    if (object == handle(10) && strcmp(name, "BLOCK") == 0) *out = number(4);
    if ((object == handle(13) || object == handle(14)) && strcmp(name, "_fields") == 0)
        *out = (tw_object){.kind = TW_OBJECT_TUPLE, .count = 2, .handle = handle(15)};
    if (object == handle(10) && strcmp(name, "dtype") == 0) *out = named("triton.language.float32");
    return TW_OK;
}

static tw_status item(void *user, void *object, size_t index, tw_object *out) {
    (void)user;
    static const char *const fields[] = {"left", "right"};
    if (object == handle(13)) *out = number(index ? 20 : 10);
    if (object == handle(15))
        *out = (tw_object){.kind = TW_OBJECT_VALUE,
                           .value = {.kind = TW_ARG_TEXT, .value.text = fields[index]}};
    if (object == handle(13) || object == handle(15)) return TW_OK;
    CHECK(object == handle(12));
    *out = index ? named("triton.language.float32") : number(4);
    return TW_OK;
}

static tw_status call(void *user, void *object, const tw_object *args, size_t count,
                      tw_object *out) {
    (void)user;
    CHECK(object == handle(11));
    if (count == 1 && args[0].kind == TW_OBJECT_VALUE && args[0].value.kind == TW_ARG_INT)
        *out = number(2 * args[0].value.value.i);
    if (count == 1 && args[0].kind == TW_OBJECT_TUPLE) { /* the sum of its items */
        const tw_object *items = args[0].handle;
        int64_t sum = 0;
        for (size_t i = 0; i < args[0].count; i++) sum += items[i].value.value.i;
        *out = number(sum);
    }
    return TW_OK;
}

static Program program;

static tw_module *load(tw_context *cx, const char *text, tw_status *status) {
    tw_resolver resolver = {lookup, attribute, item, call, &program};
    tw_module_options options;
    tw_module *module = NULL;
    tw_module_options_init(&options);
    options.resolver = &resolver;
    options.scope = handle(1);
    options.first_line = 100;
    *status = tw_module_load_text(cx, "app.py", text, strlen(text), &options, &module);
    return module;
}

/* Runs `def k(out, ...)` and compares the four floats that it stores. */
static void expect(const char *text, const tw_arg *extra, size_t extra_count, int ones,
                   const float want[4]) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    tw_status status;
    tw_module *module = load(cx, text, &status);
    CHECK(status == TW_OK);
    tw_buffer *out = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, (int64_t[]){4}, NULL, &out) == TW_OK);
    tw_arg args[8] = {{.kind = TW_ARG_BUFFER, .value.buffer = out}};
    for (size_t i = 0; i < extra_count; i++) args[1 + i] = extra[i];
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "interp";
    options.args = args;
    options.arg_count = 1 + extra_count;
    options.specialize_ones = ones;
    tw_kernel *kernel = NULL;
    status = module ? tw_kernel_compile(module, NULL, &options, &kernel) : TW_ERROR_SOURCE;
    CHECK(status == TW_OK);
    if (status != TW_OK) {
        printf("%s\n", tw_context_message(cx));
    } else {
        CHECK(tw_kernel_launch(kernel, NULL, (int64_t[]){1, 1, 1}, args, 1 + extra_count) == TW_OK);
        const float *got = tw_buffer_data(out);
        for (int i = 0; i < 4; i++) CHECK(got[i] == want[i]);
    }
    tw_kernel_destroy(kernel);
    tw_buffer_destroy(out);
    tw_module_destroy(module);
    tw_context_destroy(cx);
}

static void refuse(const char *text, const char *message) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    tw_status status;
    tw_module *module = load(cx, text, &status);
    tw_kernel *kernel = NULL;
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "interp";
    tw_arg args[1] = {{.kind = TW_ARG_INT, .value.i = 5}};
    options.args = args;
    options.arg_count = 1;
    if (module) status = tw_kernel_compile(module, NULL, &options, &kernel);
    CHECK(status == TW_ERROR_SOURCE);
    bool said = strstr(tw_context_message(cx), message) != NULL;
    CHECK(said);
    if (!said) printf("%s\n", tw_context_message(cx));
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    tw_context_destroy(cx);
}

#define STORE "    lang.store(out + lang.arange(0, 4), "

int main(void) {
    const float ones[4] = {1, 1, 1, 1};
    /* a name is asked for once a scope, and only where code is live */
    program = (Program){0};
    expect("@something.jit\ndef k(out):\n    if FACTOR == 2:\n        dead()\n" STORE
           "FACTOR + lang.zeros((4,), lang.float32))\n",
           NULL, 0, 0, ones);
    CHECK(program.lookups == 2);

    /* functions have scopes of their own: x*10 + 3 + x*100 */
    expect("def k(out, x):\n" STORE "helper(x, 3))\n",
           (tw_arg[]){{.kind = TW_ARG_INT, .value.i = 2}}, 1, 0, (float[]){223, 223, 223, 223});
    expect("def k(out):\n    acc = lang.zeros((config.BLOCK,), config.dtype)\n"
           "    for i in loop(3):\n        acc += double(5) + double((1, 2))\n" STORE "acc)\n",
           NULL, 0, 0, (float[]){39, 39, 39, 39});
    expect("def k(out):\n    n: lang.constexpr = shape[0]\n" STORE
           "lang.full((n,), 1, shape[1]))\n",
           NULL, 0, 0, ones);

    /* named tuples: the program's own, and made in the kernel of run-time values */
    expect("def k(out, x):\n    q = Pair(x, right=x + 1)\n    for i in loop(2):\n"
           "        q = Pair(q.right, q.left)\n" STORE
           "pair.left + pair[1] + q.left * 2 + q.right)\n",
           (tw_arg[]){{.kind = TW_ARG_INT, .value.i = 2}}, 1, 0, (float[]){37, 37, 37, 37});

    /* constants that are objects */
    tw_object dtype = named("triton.language.float32");
    tw_object tuple = {.kind = TW_OBJECT_TUPLE, .count = 2, .handle = handle(12)};
    tw_object function;
    memset(&function, 0, sizeof function);
    CHECK(lookup(&program, handle(1), "helper", &function) == TW_OK);
    expect("def k(out, T: lang.constexpr, S: lang.constexpr, f: lang.constexpr, none=None):\n" STORE
           "f(1, 2).to(T) + lang.zeros((S[0],), S[1]) + (1 if none is None else 2))\n",
           (tw_arg[]){{.kind = TW_ARG_OBJECT, .value.object = &dtype},
                      {.kind = TW_ARG_OBJECT, .value.object = &tuple},
                      {.kind = TW_ARG_OBJECT, .value.object = &function}},
           3, 0, (float[]){113, 113, 113, 113});

    /* an argument of 1 is a constant only when asked for, and not against its flag or type */
    tw_arg one = {.kind = TW_ARG_INT, .value.i = 1};
    expect("def k(out, n):\n" STORE "-7 // n + 0.0 + (-7 % (n + 1)))\n", &one, 1, 1,
           (float[]){-6, -6, -6, -6});
    expect("def k(out, n):\n" STORE "-7 // n + 0.0 + (-7 % (n + 1)))\n", &one, 1, 0,
           (float[]){-8, -8, -8, -8});
    one.flags = TW_ARG_RUNTIME;
    expect("def k(out, n):\n" STORE "-7 // n + 0.0 + (-7 % (n + 1)))\n", &one, 1, 1,
           (float[]){-8, -8, -8, -8});
    one.flags = 0;
    expect("def k(out, n: lang.int64):\n" STORE "-7 // n + 0.0 + (-7 % (n + 1)))\n", &one, 1, 1,
           (float[]){-8, -8, -8, -8});
    expect("def k(out, n):\n" STORE "n.to(lang.float32))\n", &one, 1, 1, ones);

    /* strings stay strings, also those that name a dtype */
    expect("def k(out, s: lang.constexpr):\n" STORE "1.0 if s == 'float32' else 2.0)\n",
           (tw_arg[]){{.kind = TW_ARG_TEXT, .value.text = "float32"}}, 1, 0, ones);
    /* annotations as text; numbers above int64 */
    expect("def k(out, n: 'tl.constexpr', m):\n" STORE
           "n if m // 9223372036854775808 == 1 and m.dtype == lang.uint64 else 0)\n",
           (tw_arg[]){{.kind = TW_ARG_INT, .value.i = 1},
                      {.kind = TW_ARG_INT, .flags = TW_ARG_UNSIGNED, .value.i = INT64_MIN + 5}},
           2, 0, ones);

    refuse("def k(n):\n    plain + 1\n", "app.py:101:5: error: `plain` cannot be used inside a "
                                         "kernel: it is a global that is no tl.constexpr");
    refuse("def k(n):\n    broken\n", "app.py:101:5: error: `broken` cannot be used inside a "
                                      "kernel: the lookup raised");
    refuse("def k(n):\n    wrong(n)\n", "lib/wrong.py:91:12: error: `nowhere` is not known");
    refuse("def k(n):\n    config.nothing\n", "`config` has no attribute `nothing`");
    refuse("def k(n):\n    double(n)\n", "an argument of the host function `double` must be known");
    return check_done();
}
