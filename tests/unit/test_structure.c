/* SPDX-License-Identifier: Apache-2.0 */
/* test_structure.c: arguments of a Triton kernel that are made of others: which parameters a module
 * has then, what the kernel sees, and structures that are none. f-strings and their formats on the
 * way. */
#include "check.h"

#include "tilewright.h"

static const char text[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def k(out, t, d, N: tl.constexpr):\n"
    "    tl.static_assert(len(t.b) == 2 and d.block_shape[1] == 4)\n"
    "    tl.static_assert(f'{N:03d}|{N=}|{N:+.1f}|{N!s:>3}' == '004|N=4|+4.0|  4')\n"
    "    tl.store(out + tl.arange(0, 4), tl.sum(d.load([0, 2]), 0) + t.a + t.b[0] * t.b[1])\n";

static tw_status load(tw_context *cx, const char *t, const char *d, tw_module **module) {
    const tw_pair pairs[] = {{"t", t}, {"d", d}};
    tw_module_options options;
    tw_module_options_init(&options);
    options.structures = pairs;
    options.structure_count = 2;
    return tw_module_load_text(cx, "k.py", text, strlen(text), &options, module);
}

static tw_arg whole(int64_t i) {
    return (tw_arg){.kind = TW_ARG_INT, .value.i = i};
}

static void run(tw_context *cx, tw_module *module) {
    static const char *const names[] = {"out",         "t.a",       "t.b.0",     "t.b.1",
                                        "d.base",      "d.shape.0", "d.shape.1", "d.strides.0",
                                        "d.strides.1", "d.block.0", "d.block.1", "N"};
    enum { COUNT = sizeof names / sizeof *names };
    CHECK(tw_module_param_count(module, 0) == COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        CHECK(tw_module_param_at(module, 0, i, &info) == TW_OK);
        CHECK_TEXT(info.name, names[i]);
        CHECK((info.kind == TW_PARAM_CONSTANT) == (i >= 9));
    }
    float out[4] = {0}, data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    tw_buffer_options memory;
    tw_buffer *buffers[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        int64_t extent = i ? 12 : 4;
        tw_buffer_options_init(&memory);
        memory.data = i ? data : out;
        memory.size = (size_t)extent * sizeof *out;
        CHECK(tw_buffer_create(cx, TW_F32, 1, &extent, &memory, &buffers[i]) == TW_OK);
    }
    tw_arg args[COUNT] = {{.kind = TW_ARG_BUFFER, .value.buffer = buffers[0]},
                          whole(100),
                          whole(20),
                          whole(3),
                          {.kind = TW_ARG_BUFFER, .value.buffer = buffers[1]},
                          whole(2),
                          whole(6),
                          whole(6),
                          whole(1),
                          whole(2),
                          whole(4),
                          whole(4)};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = "interp";
    options.args = args;
    options.arg_count = COUNT;
    options.specialize_ones = 1;
    tw_kernel *kernel = NULL;
    int64_t grid[3] = {1, 1, 1};
    CHECK(tw_kernel_compile(module, NULL, &options, &kernel) == TW_OK);
    if (kernel) CHECK(tw_kernel_launch(kernel, NULL, grid, args, COUNT) == TW_OK);
    for (int i = 0; i < 4; i++) CHECK(out[i] == data[i + 2] + data[i + 8] + 160);
    tw_kernel_destroy(kernel);
    for (int i = 0; i < 2; i++) tw_buffer_destroy(buffers[i]);
}

int main(void) {
    tw_context *cx = NULL;
    tw_module *module = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    CHECK(load(cx, "(a:.,b:(.,.))", "<2 nan>", &module) == TW_OK);
    if (module) run(cx, module);
    tw_module_destroy(module);
    static const char *const wrong[] = {"",    "(",     "(.",   "(.,)", ".)", "<>",
                                        "<13>", "<2 na", "(..)", "(a:)", "x",  "<0>"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        module = NULL;
        CHECK(load(cx, wrong[i], ".", &module) == TW_ERROR_SOURCE && !module);
        CHECK(strstr(tw_context_message(cx), "cannot be made of") != NULL);
    }
    tw_context_destroy(cx);
    return check_done();
}
