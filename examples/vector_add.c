/* SPDX-License-Identifier: Apache-2.0 */
/* vector_add.c: compiles a Triton kernel and runs it on the CPU.   cc vector_add.c $(pkg-config --cflags --libs tilewright) */
#include <stdio.h>
#include <tilewright.h>

static const char source[] = "import triton\nimport triton.language as tl\n"
                             "@triton.jit\n"
                             "def add(x, y, z, n, BLOCK: tl.constexpr):\n"
                             "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)\n";

int main(void) {
    tw_context *context;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_buffer *b[3] = {NULL, NULL, NULL};
    int64_t n = 1000, grid[3] = {4, 1, 1};
    if (tw_context_create(NULL, &context) != TW_OK) return 1;
    tw_status status = tw_module_load_text(context, "add.py", source, sizeof source - 1, NULL, &module);
    for (int i = 0; i < 3 && status == TW_OK; i++) status = tw_buffer_create(context, TW_F32, 1, &n, NULL, &b[i]);
    for (int i = 0; i < 2 && status == TW_OK; i++) status = tw_buffer_fill(b[i], "arange", i, 0);
    tw_arg args[] = {{TW_ARG_BUFFER, 0, {.buffer = b[0]}}, {TW_ARG_BUFFER, 0, {.buffer = b[1]}},
                     {TW_ARG_BUFFER, 0, {.buffer = b[2]}}, {TW_ARG_INT, 0, {.i = n}}, {TW_ARG_INT, 0, {.i = 256}}};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.args = args;
    options.arg_count = 5;
    if (status == TW_OK) status = tw_kernel_compile(module, "add", &options, &kernel);
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, grid, args, 5);
    if (status == TW_OK) printf("999 + 1000 = %g\n", ((float *)tw_buffer_data(b[2]))[999]);
    else fprintf(stderr, "%s\n", tw_context_message(context));
    for (int i = 0; i < 3; i++) tw_buffer_destroy(b[i]);
    tw_kernel_destroy(kernel), tw_module_destroy(module), tw_context_destroy(context);
    return status != TW_OK;
}
