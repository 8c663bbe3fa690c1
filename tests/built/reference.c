/* SPDX-License-Identifier: Apache-2.0 */
/* reference.c: a case by the library, with the arrays at the same places. */
#include "cases.h"
#include "tilewright.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t dtype_of(char kind) { return kind == 'f' ? TW_F32 : kind == 'b' ? TW_BF16 : TW_F16; }

static tw_status make_buffer(tw_context *cx, const Value *v, char *world, tw_buffer **out) {
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    options.data = world + v->at;
    options.size = WORLD - v->at;
    if (v->strides[0]) options.strides = v->strides;
    return tw_buffer_create(cx, dtype_of(v->kind), v->rank, v->shape, &options, out);
}

int reference_run(const Case *c, char *world) {
    tw_context *cx = NULL;
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_pair defines[8];
    tw_arg args[16] = {{0}};
    char text[100], path[1000], *rest = text;
    tw_module_options options;
    tw_compile_options compile;
    tw_module_options_init(&options);
    tw_compile_options_init(&compile);
    snprintf(text, sizeof text, "%s", c->constants);
    snprintf(path, sizeof path, "%s/kernels/%s", getenv("ROOT"), c->file);
    options.defines = defines;
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        char *equals = strchr(word, '=');
        *equals = 0;
        defines[options.define_count++] = (tw_pair){word, equals + 1};
    }
    tw_status status = tw_context_create(NULL, &cx);
    if (status == TW_OK) status = tw_module_load_file(cx, path, &options, &module);
    tw_param_info param = {.struct_size = sizeof param};
    const Value *v = c->values;
    for (size_t i = 0; i < 16 && status == TW_OK && tw_module_param_at(module, 0, i, &param) == TW_OK; i++) {
        if (!v->kind) break;
        if (param.kind == TW_PARAM_CONSTANT) continue;
        args[i].kind = v->kind == 'i' ? TW_ARG_INT : TW_ARG_BUFFER;
        if (v->kind == 'i')
            args[i].value.i = v->number;
        else
            status = make_buffer(cx, v, world, &args[i].value.buffer);
        compile.arg_count = i + 1;
        v++;
    }
    compile.args = args;
    compile.options = &(tw_pair){"bf16_pairs", "off"}; /* in the order of sums that every processor has */
    compile.option_count = 1;
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &compile, &kernel);
    int64_t empty = c->grid[0] == 0 && c->grid[1] == 0;
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, empty ? NULL : c->grid, args, compile.arg_count);
    if (status != TW_OK) printf("%s: %s\n", c->name, tw_context_message(cx));
    for (size_t i = 0; i < compile.arg_count; i++)
        if (args[i].kind == TW_ARG_BUFFER) tw_buffer_destroy(args[i].value.buffer);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
    tw_context_destroy(cx);
    return status != TW_OK;
}
