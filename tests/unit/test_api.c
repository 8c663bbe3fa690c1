/* SPDX-License-Identifier: Apache-2.0 */
/* test_api.c: the public API from load to launch, on every host target, with IR text. */
#include "check.h"
#include "tilewright.h"

#include <math.h>
#include <stdlib.h>

static const char add_text[] =
    "kernel @add(%x, %y, %z: *f32, %n: i32) {\n"
    "  %p = program_id<0> ; %o = mul %p, 256 ; %i = iota<0, 256> ; %j = add %o, %i\n"
    "  %m = cmp<lt> %j, %n ; %px = ptr_add %x, %j ; %py = ptr_add %y, %j\n"
    "  %a = load %px, %m ; %b = load %py, %m ; %c = add %a, %b\n"
    "  %pz = ptr_add %z, %j ; store %pz, %c, %m\n"
    "  return\n"
    "}\n";

static tw_arg buffer_arg(tw_buffer *b) {
    tw_arg arg = {TW_ARG_BUFFER, 0, {.buffer = b}};
    return arg;
}
static tw_arg int_arg(int64_t i) {
    tw_arg arg = {TW_ARG_INT, 0, {.i = i}};
    return arg;
}

static void run_add(tw_context *cx, tw_module *m, const char *target, int64_t n) {
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    tw_kernel *kernel = NULL;
    CHECK(tw_kernel_compile(m, "add", &options, &kernel) == TW_OK);
    CHECK_TEXT(tw_context_message(cx), "");
    if (!kernel) return;
    tw_buffer *b[3] = {0};
    for (int i = 0; i < 3; i++) {
        CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b[i]) == TW_OK);
        CHECK(tw_buffer_fill(b[i], "randn", 0, (uint64_t)i + 1) == TW_OK);
    }
    tw_arg args[] = {buffer_arg(b[0]), buffer_arg(b[1]), buffer_arg(b[2]), int_arg(n)};
    int64_t grid[3] = {(n + 255) / 256, 1, 1};
    CHECK(tw_kernel_launch(kernel, NULL, grid, args, 4) == TW_OK);
    const float *x = tw_buffer_data(b[0]), *y = tw_buffer_data(b[1]), *z = tw_buffer_data(b[2]);
    int wrong = 0;
    for (int64_t i = 0; i < n; i++) wrong += z[i] != x[i] + y[i];
    CHECK(wrong == 0);
    for (size_t i = 0; i < 6; i++) CHECK(tw_kernel_writes(kernel, i) == (i == 2));
    for (int i = 0; i < 3; i++) tw_buffer_destroy(b[i]);
    tw_kernel_destroy(kernel);
}

/* Products of float32 that may run in tf32 do on matrix units; tf32x3 is made of such products and
 * keeps all bits. Sums of 8-bit floats are a tensor core's own, where it has such products. */
static void test_product_bits(void) {
    static const struct {
        const char *type, *precision, *target;
        int bits;
    } cases[] = {{"f32", "tf32", "cuda:sm_90a", 11},   {"f32", "tf32x3", "cuda:sm_90a", 24}, {"f32", "ieee", "cuda:sm_90a", 24},
                 {"f32", "tf32", "cpu", 24},           {"f8e4m3", "tf32", "cuda:sm_90a", 14}, {"f8e4m3", "tf32", "cuda:sm_80", 24},
                 {"f8e4m3", "tf32", "cpu", 24},        {"f16", "tf32", "cuda:sm_90a", 24}};
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[800];
        tw_module *m = NULL;
        tw_kernel *kernel = NULL;
        snprintf(text, sizeof text,
                 "kernel @k(%%x: *%s, %%y: *f32) {\n  %%i = iota<0, 1024> ; %%j = reshape %%i : i32[32,32]\n"
                 "  %%p = ptr_add %%x, %%j ; %%a = load %%p ; %%z = splat 0.0 : f32[32,32]\n"
                 "  %%c = dot<prec=%s> %%a, %%a, %%z ; %%q = ptr_add %%y, %%j ; store %%q, %%c\n  return }\n",
                 cases[i].type, cases[i].precision);
        CHECK(tw_module_load_text(cx, "k.ir", text, strlen(text), NULL, &m) == TW_OK);
        tw_compile_options options = {.struct_size = sizeof options, .target = cases[i].target, .stage = TW_STAGE_EMIT};
        CHECK(tw_kernel_compile(m, "k", &options, &kernel) == TW_OK);
        CHECK(tw_kernel_product_bits(kernel) == cases[i].bits);
        tw_kernel_destroy(kernel);
        tw_module_destroy(m);
    }
    tw_context_destroy(cx);
}

/* Messages as their parts, for hosts that format them. */
static void test_diagnostics(void) {
    static const char text[] = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef helper(x):\n    return tl.lod(x)\n\n"
                               "@triton.jit\ndef k(x):\n    tl.store(x, helper(x))\n";
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    int64_t extent = 4;
    tw_buffer *x = NULL;
    tw_diagnostic d = {.struct_size = sizeof d};
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_context_diagnostic_at(NULL, 0, &d) == TW_ERROR_ARGUMENT);
    CHECK(tw_context_diagnostic_at(cx, 0, &d) == TW_ERROR_NOT_FOUND);
    CHECK(tw_module_load_text(cx, "k.py", text, sizeof text - 1, NULL, &m) == TW_OK);
    CHECK(tw_buffer_create(cx, TW_F32, 1, &extent, NULL, &x) == TW_OK);
    tw_arg args[] = {buffer_arg(x)};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.args = args;
    options.arg_count = 1;
    CHECK(tw_kernel_compile(m, "k", &options, &k) == TW_ERROR_SOURCE);
    CHECK(tw_context_diagnostic_at(cx, 0, &d) == TW_OK);
    CHECK_TEXT(d.severity, "error");
    CHECK_TEXT(d.code, "unknown-name");
    CHECK_TEXT(d.file, "k.py");
    CHECK(d.line == 6 && d.column == 12 && d.length == 6 && strstr(d.text, "tl.load") && !strstr(d.text, "k.py"));
    CHECK(tw_context_diagnostic_at(cx, 1, &d) == TW_OK);
    CHECK_TEXT(d.severity, "note");
    CHECK(d.line == 10 && strstr(d.text, "in the call of `helper`"));
    CHECK(tw_context_diagnostic_at(cx, 2, &d) == TW_ERROR_NOT_FOUND);
    CHECK(strstr(tw_context_message(cx), "k.py:6:12: error") != NULL); /* still there */
    CHECK(tw_kernel_compile(m, "none", &options, &k) == TW_ERROR_NOT_FOUND);
    CHECK(tw_context_diagnostic_at(cx, 0, &d) == TW_OK && !d.file && !*d.code && !*d.fix);
    CHECK_TEXT(d.text, tw_context_message(cx));
    tw_buffer_destroy(x);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

/* Streams of the caller, and what a kernel says of itself; none of it needs a device. */
static void test_streams(void) {
    tw_context *cx = NULL, *other = NULL;
    tw_module *m = NULL;
    tw_kernel *kernel = NULL;
    tw_stream *stream = NULL, *own = NULL, *foreign = NULL;
    int64_t grid[3] = {1, 1, 1};
    CHECK(tw_context_create(NULL, &cx) == TW_OK && tw_context_create(NULL, &other) == TW_OK);
    CHECK(tw_stream_wrap(cx, "cpu", NULL, &stream) == TW_ERROR_UNSUPPORTED && !stream);
    CHECK(strstr(tw_context_message(cx), "has no queues") != NULL);
    CHECK(tw_stream_wrap(cx, "nothing", NULL, &stream) == TW_ERROR_NOT_FOUND);
    CHECK(tw_stream_wrap(cx, "cuda", &grid, &stream) == TW_OK);
    CHECK(tw_stream_rebind(stream, NULL) == TW_OK);
    CHECK(tw_stream_create(cx, "cpu", &own) == TW_OK);
    CHECK(tw_stream_rebind(own, NULL) == TW_ERROR_ARGUMENT);
    CHECK(tw_stream_rebind(NULL, NULL) == TW_ERROR_ARGUMENT);
    CHECK(tw_stream_create(other, "cpu", &foreign) == TW_OK);
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, "add", &(tw_compile_options){.struct_size = sizeof(tw_compile_options), .target = "interp"}, &kernel) == TW_OK);
    tw_resource_info taken = {.struct_size = sizeof taken, .registers = 7};
    CHECK(tw_kernel_resources(kernel, &taken) == TW_OK && taken.registers == 0);
    CHECK(tw_kernel_resources(kernel, NULL) == TW_ERROR_ARGUMENT);
    const char *assembly = "";
    CHECK(tw_kernel_assembly(kernel, NULL) == TW_ERROR_ARGUMENT && tw_kernel_assembly(NULL, &assembly) == TW_ERROR_ARGUMENT);
    CHECK(tw_kernel_assembly(kernel, &assembly) == TW_ERROR_UNSUPPORTED && !assembly);
    CHECK(strstr(tw_context_message(cx), "target cuda alone") != NULL);
    const char *page = NULL, *again = NULL;
    CHECK(tw_kernel_explain_html(NULL, &page) == TW_ERROR_ARGUMENT && tw_kernel_explain_html(kernel, NULL) == TW_ERROR_ARGUMENT);
    CHECK(tw_kernel_explain_html(kernel, &page) == TW_OK && strstr(page, "</html>"));
    CHECK(tw_kernel_explain_html(kernel, &again) == TW_OK && again == page);
    CHECK_TEXT(tw_kernel_target(kernel), "interp");
    CHECK(tw_kernel_target(NULL) == NULL);
    CHECK(tw_kernel_launch(kernel, stream, grid, NULL, 0) == TW_ERROR_ARGUMENT);
    CHECK(strstr(tw_context_message(cx), "is one of target cuda") != NULL);
    CHECK(tw_kernel_launch(kernel, foreign, grid, NULL, 0) == TW_ERROR_ARGUMENT);
    CHECK(strstr(tw_context_message(cx), "another context") != NULL);
    tw_kernel_destroy(kernel);
    tw_module_destroy(m);
    tw_stream_destroy(stream);
    tw_stream_destroy(own);
    tw_stream_destroy(foreign);
    tw_context_destroy(cx);
    tw_context_destroy(other);
}

static void test_launch(void) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    CHECK(tw_module_kernel_count(m) == 1);
    CHECK_TEXT(tw_module_kernel_name(m, 0), "add");
    CHECK(tw_module_param_count(m, 0) == 4);
    tw_param_info info = {.struct_size = sizeof info};
    CHECK(tw_module_param_at(m, 0, 3, &info) == TW_OK);
    CHECK_TEXT(info.name, "n");
    CHECK(info.kind == TW_PARAM_SCALAR && info.dtype == TW_I32);
    static const int64_t sizes[] = {0, 1, 255, 256, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_add(cx, m, "cpu", sizes[i]);
        run_add(cx, m, "interp", sizes[i]);
    }
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

/* What a kernel prints arrives while its context is at work: calls into it are refused then, and the launch goes on. */
typedef struct Caller {
    tw_context *cx;
    tw_kernel *kernel;
    int calls, refused;
} Caller;

static void call_again(void *user, const char *text, size_t length) {
    Caller *caller = user;
    (void)text, (void)length;
    caller->calls++;
    int64_t grid[3] = {1, 1, 1};
    tw_stream *stream = NULL;
    caller->refused += tw_kernel_launch(caller->kernel, NULL, grid, NULL, 0) == TW_ERROR_ARGUMENT;
    caller->refused += tw_stream_create(caller->cx, "cpu", &stream) == TW_ERROR_ARGUMENT;
    CHECK(strstr(tw_context_message(caller->cx), "its own `print`") != NULL);
}

static void test_print_that_calls(void) {
    static const char said[] = "kernel @say() { %p = program_id<0> ; print<message=\"p\"> %p ; return }\n";
    static const char *const targets[] = {"cpu", "interp"};
    Caller caller = {0};
    tw_context_options options;
    tw_context_options_init(&options);
    options.print = call_again;
    options.print_user = &caller;
    tw_module *m = NULL;
    CHECK(tw_context_create(&options, &caller.cx) == TW_OK);
    CHECK(tw_module_load_text(caller.cx, "say.ir", said, strlen(said), NULL, &m) == TW_OK);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        tw_compile_options compile;
        tw_compile_options_init(&compile);
        compile.target = targets[i];
        CHECK(tw_kernel_compile(m, "say", &compile, &caller.kernel) == TW_OK);
        CHECK(tw_kernel_launch(caller.kernel, NULL, (int64_t[3]){2, 1, 1}, NULL, 0) == TW_OK);
        CHECK(caller.calls > 0 && caller.refused == 2 * caller.calls);
        tw_kernel_destroy(caller.kernel);
    }
    tw_module_destroy(m);
    tw_context_destroy(caller.cx);
}

/* A sanitized launch takes the place of the cpu target, says what is wrong, and where. */
static void test_sanitize(void) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.sanitize = 1;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    int64_t n = 100;
    tw_buffer *b[3] = {0};
    for (int i = 0; i < 3; i++) {
        CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b[i]) == TW_OK);
        CHECK(tw_buffer_fill(b[i], i < 2 ? "randn" : "empty", 0, 1) == TW_OK);
    }
    tw_arg args[] = {buffer_arg(b[0]), buffer_arg(b[1]), buffer_arg(b[2]), int_arg(n)};
    int64_t grid[3] = {1, 1, 1};
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_OK);
    args[3] = int_arg(n + 5);
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_ERROR_LAUNCH);
    CHECK(strstr(tw_context_message(cx), "add.ir:4:") != NULL);
    CHECK(strstr(tw_context_message(cx), "index 100 of `x`, which has 100 elements") != NULL);
    CHECK(strstr(tw_context_message(cx), "(and 4 more here) [out-of-bounds]") != NULL);
    for (int i = 0; i < 3; i++) tw_buffer_destroy(b[i]);
    tw_kernel_destroy(k);
    options.target = "cuda";
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_ARGUMENT);
    CHECK(strstr(tw_context_message(cx), "the sanitizer runs on the interpreter") != NULL);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

/* Objects may go in any order. */
static void test_order(void) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *b = NULL;
    int64_t n = 4;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, NULL, &k) == TW_OK);
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &b) == TW_OK);
    tw_context_destroy(cx);
    tw_module_destroy(m);
    tw_arg args[] = {buffer_arg(b), buffer_arg(b), buffer_arg(b), int_arg(n)};
    int64_t grid[3] = {1, 1, 1};
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_OK);
    tw_kernel_destroy(k);
    tw_buffer_destroy(b);
}

/* NULL where something is required: a status, and a message of that call, not of one before. */
static void test_nothing_given(void) {
    static const char null[] = "an argument that is required is NULL";
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *b = NULL;
    tw_module_options load;
    tw_compile_options options;
    const char *text = NULL;
    tw_context_options_init(NULL);
    tw_module_options_init(NULL);
    tw_compile_options_init(NULL);
    tw_buffer_options_init(NULL);
    CHECK(tw_buffer_elements(NULL) == 0);
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_document(cx, "nothing", &text) == TW_ERROR_NOT_FOUND);
    CHECK(tw_module_load_file(cx, NULL, NULL, &m) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), null);
    CHECK(tw_buffer_create(cx, TW_F32, 1, NULL, NULL, &b) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), null);
    tw_option_info option = {.struct_size = sizeof option};
    CHECK(tw_option_info_at(cx, SIZE_MAX, &option) == TW_ERROR_NOT_FOUND);
    CHECK_TEXT(tw_context_message(cx), "the index is past the last");
    CHECK(tw_option_info_at(cx, 0, &option) == TW_OK);
    CHECK_TEXT(tw_context_message(cx), "");

    static const char bad_pairs[] = "a list of names and values is NULL, or has a NULL inside";
    tw_pair pair = {"N", NULL};
    tw_module_options_init(&load);
    load.door = "cuda";
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), &load, &m) == TW_ERROR_NOT_FOUND);
    CHECK_TEXT(tw_context_message(cx), "there is no language `cuda`; those there are: irtext tilelang tilec triton");
    load.door = NULL;
    load.define_count = 1;
    for (int i = 0; i < 2; i++) {
        CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), &load, &m) ==
              TW_ERROR_ARGUMENT);
        CHECK_TEXT(tw_context_message(cx), bad_pairs);
        load.defines = &pair;
    }
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    tw_compile_options_init(&options);
    options.arg_count = 2;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_ARGUMENT);
    options.arg_count = 0;
    options.option_count = 1;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), bad_pairs);
    options.option_count = 0;
    options.stage = TW_STAGE_BUILD + 1;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_ARGUMENT);
    tw_arg strange[4] = {{.kind = TW_ARG_BUFFER}};
    CHECK(tw_module_complete_args(m, 0, strange, 4) == TW_ERROR_ARGUMENT);
    CHECK(tw_module_complete_args(m, 0, strange, 3) == TW_ERROR_ARGUMENT);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

static void test_mistakes(void) {
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_compile_options options;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_file(cx, "/no/such.ir", NULL, &m) == TW_ERROR_IO);
    CHECK(strstr(tw_context_message(cx), "/no/such.ir") != NULL);
    CHECK(m == NULL);
    CHECK(tw_module_load_text(cx, "bad.ir", "kernel @k() { %x = bdd 1, 2 }", 29, NULL, &m) ==
          TW_ERROR_SOURCE);
    CHECK(strstr(tw_context_message(cx), "bad.ir:1:") != NULL);
    CHECK(tw_module_load_text(cx, "what", "hello", 5, NULL, &m) == TW_ERROR_NOT_FOUND);
    CHECK(tw_module_load_text(cx, "add.ir", add_text, strlen(add_text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, "ad", NULL, &k) == TW_ERROR_NOT_FOUND);
    CHECK(strstr(tw_context_message(cx), "did you mean `add`?") != NULL);
    tw_compile_options_init(&options);
    options.target = "gpu";
    CHECK(tw_kernel_compile(m, "add", &options, &k) == TW_ERROR_NOT_FOUND);
    CHECK(strstr(tw_context_message(cx), "cpu") != NULL);
    tw_compile_options_init(&options);
    tw_pair pair = {"num_warp", "4"};
    options.options = &pair;
    options.option_count = 1;
    CHECK(tw_kernel_compile(m, "add", &options, &k) == TW_ERROR_NOT_FOUND);
    CHECK(strstr(tw_context_message(cx), "`num_warps`") != NULL);
    pair = (tw_pair){"num_warps", "many"};
    CHECK(tw_kernel_compile(m, "add", &options, &k) == TW_ERROR_ARGUMENT);
    options.struct_size = 3;
    CHECK(tw_kernel_compile(m, "add", &options, &k) == TW_ERROR_ARGUMENT);
    CHECK(tw_kernel_compile(m, "add", NULL, &k) == TW_OK);

    int64_t n = 4, grid[3] = {1, 1, 1};
    tw_buffer *f = NULL, *h = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &f) == TW_OK);
    CHECK(tw_buffer_create(cx, TW_F16, 1, &n, NULL, &h) == TW_OK);
    tw_arg args[] = {buffer_arg(f), buffer_arg(f), buffer_arg(h), int_arg(n), int_arg(0)};
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx),
               "argument `z`: kernel `add` is compiled for an array of f32, the array given is of f16");
    args[2] = buffer_arg(f);
    CHECK(tw_kernel_launch(k, NULL, grid, args, 3) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx), "argument `n` of kernel `add` is missing");
    CHECK(tw_kernel_launch(k, NULL, grid, args, 5) == TW_ERROR_ARGUMENT);
    args[3] = int_arg(INT64_C(1) << 40);
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_ERROR_ARGUMENT);
    args[3] = int_arg(n);
    grid[0] = INT64_C(1) << 31;
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_ERROR_ARGUMENT);
    grid[0] = 0;
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_OK);
    CHECK(tw_kernel_launch(k, NULL, NULL, args, 4) == TW_ERROR_ARGUMENT);
    tw_buffer_destroy(f);
    tw_buffer_destroy(h);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

/* One buffer over memory of the caller, pointed at other memory; what a host launches often with. */
static void test_rebind(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    float one[4] = {1, 2, 3, 4}, two[8] = {5, 6, 7, 8, 9, 10, 11, 12}, got[7];
    int64_t n = 4;
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    options.data = one;
    options.size = sizeof one;
    tw_buffer *b = NULL, *owner = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, &options, &b) == TW_OK);
    CHECK(tw_buffer_rebind(b, two, sizeof two - 2) == TW_OK); /* the last element is not whole */
    CHECK(tw_buffer_elements(b) == 7 && tw_buffer_data(b) == two);
    CHECK(tw_buffer_read(b, got, sizeof got) == TW_OK && got[6] == 11);
    CHECK(tw_buffer_create(cx, TW_F32, 1, &n, NULL, &owner) == TW_OK);
    CHECK(tw_buffer_rebind(owner, two, sizeof two) == TW_ERROR_ARGUMENT);
    CHECK(tw_buffer_data(owner) != two);
    CHECK((uintptr_t)tw_buffer_data(owner) % 64 == 0); /* a line of the cache */
    tw_buffer_destroy(b);
    int64_t shape[2] = {2, 2};
    options.size = sizeof one;
    CHECK(tw_buffer_create(cx, TW_F32, 2, shape, &options, &b) == TW_OK);
    CHECK(tw_buffer_point(b, two) == TW_OK && tw_buffer_data(b) == two && tw_buffer_elements(b) == 4);
    CHECK(tw_buffer_point(b, NULL) == TW_ERROR_ARGUMENT && tw_buffer_data(b) == two);
    CHECK(tw_buffer_point(owner, two) == TW_ERROR_ARGUMENT && tw_buffer_point(NULL, two) == TW_ERROR_ARGUMENT);
    tw_buffer_destroy(b);
    tw_buffer_destroy(owner);
    tw_context_destroy(cx);
}

/* What a source states of its arrays. */
static void test_stated_shapes(void) {
    static const char text[] = "import tilelang.language as T\n"
                               "@T.prim_func\n"
                               "def main(A: T.Tensor((3, 5), \"float16\"), n: T.int32):\n"
                               "    with T.Kernel(1) as bx:\n"
                               "        A[0, 0] = n\n";
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_shape_info info = {.struct_size = sizeof info};
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "one.py", text, strlen(text), NULL, &m) == TW_OK);
    CHECK(tw_kernel_compile(m, NULL, &(tw_compile_options){.struct_size = sizeof(tw_compile_options), .target = "interp"}, &k) == TW_OK);
    CHECK(tw_kernel_shape_at(k, 0, &info) == TW_OK && info.dtype == TW_F16 && info.rank == 2 && info.dense);
    CHECK(info.extents[0] == 3 && info.extents[1] == 5);
    CHECK(tw_kernel_shape_at(k, 1, &info) == TW_ERROR_NOT_FOUND && tw_kernel_shape_at(k, 7, &info) == TW_ERROR_NOT_FOUND);
    CHECK(tw_kernel_shape_at(NULL, 0, &info) == TW_ERROR_ARGUMENT && tw_kernel_shape_at(k, 0, NULL) == TW_ERROR_ARGUMENT);
    tw_kernel_destroy(k);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

/* The names that a host offers to kernels. */
static void test_builtins(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    tw_builtin_info info = {.struct_size = sizeof info};
    size_t count = 0;
    int found = 0;
    for (; tw_builtin_info_at(cx, count, &info) == TW_OK; count++)
        found += strcmp(info.name, "load") == 0 && strchr(info.places, 'T') && !info.refused;
    CHECK(count > 100 && found == 1);
    tw_context_destroy(cx);
}

static void hear(void *user, const char *text, size_t length) {
    strncat(user, text, length);
}

/* What a program is told that has only a text, or that a target refuses. */
static void test_first_compile(void) {
    static const char text[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                               "def k(x, stride, n, SCALE: tl.constexpr, N: tl.constexpr):\n"
                               "    tl.static_print('N', N)\n    i = tl.arange(0, N)\n    p = x + i * stride\n"
                               "    tl.atomic_add(p, tl.load(p, mask=i < n) * SCALE, mask=i < n)\n";
    char heard[64] = "";
    tw_context *cx = NULL;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_context_options own;
    tw_context_options_init(&own);
    own.print = hear;
    own.print_user = heard;
    CHECK(tw_context_create(&own, &cx) == TW_OK);
    tw_pair defines[] = {{"SCALE", "3"}, {"SCALES", "4"}};
    tw_module_options given;
    tw_module_options_init(&given);
    given.defines = defines;
    given.define_count = 2;
    CHECK(tw_module_load_text(cx, "k.py", text, sizeof text - 1, &given, &m) == TW_OK);
    static const int arrays[] = {1, 0, 0, 0, 0};
    for (size_t i = 0; i < 5; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        CHECK(tw_module_param_at(m, 0, i, &info) == TW_OK && info.likely_array == arrays[i]);
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.stage = TW_STAGE_EMIT;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_ARGUMENT);
    CHECK_TEXT(tw_context_message(cx),
               "kernel `k` lacks arguments: `x`, `stride`, `n` (an array or a number each, whose type the compiler must know), "
               "`N` (constants); a definition of `SCALES` is given; did you mean `SCALE`?");
    CHECK_TEXT(heard, "");
    int64_t extent = 64;
    tw_buffer *x = NULL;
    CHECK(tw_buffer_create(cx, TW_F32, 1, &extent, NULL, &x) == TW_OK);
    tw_arg args[] = {buffer_arg(x), int_arg(1), int_arg(64), {0}, int_arg(64)};
    options.args = args;
    options.arg_count = 5;
    options.target = "tenstorrent";
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_ERROR_UNSUPPORTED);
    CHECK(strstr(tw_context_message(cx), "not possible on Tenstorrent") != NULL);
    CHECK(strstr(tw_context_findings(cx), "k.py:8:22: load: box f32[64] of x") != NULL);
    CHECK_TEXT(heard, "N 64\n");
    options.target = "cpu";
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    CHECK_TEXT(tw_context_findings(cx), "");
    CHECK_TEXT(tw_context_warnings(cx), "warning: the definition of `SCALES` is not used by kernel `k`; did you mean `SCALE`? "
                                        "[unused-definition]\n");
    tw_kernel_destroy(k);
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    CHECK_TEXT(tw_context_warnings(cx), ""); /* said once */
    tw_kernel_destroy(k);
    tw_buffer_destroy(x);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

int main(void) {
    test_first_compile();
    test_rebind();
    test_stated_shapes();
    test_builtins();
    test_launch();
    test_print_that_calls();
    test_product_bits();
    test_diagnostics();
    test_streams();
    test_sanitize();
    test_order();
    test_nothing_given();
    test_mistakes();
    return check_done();
}
