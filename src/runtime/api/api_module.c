/* SPDX-License-Identifier: Apache-2.0 */
/* api_module.c: texts that were loaded, their kernels, parameters and configurations. */
#include "runtime/api/api.h"

#include "runtime/compile/cache.h"

#include <errno.h>
#include <string.h>

typedef struct LoadCall {
    const char *name, *text; /* text NULL: read the file */
    size_t size;
    const tw_module_options *options;
    tw_module *module;
} LoadCall;

static tw_status load_module(tw_context *cx, void *user) {
    LoadCall *call = user;
    if (!call->text) {
        int64_t size = file_size(call->name);
        if (size < 0) return context_fail(cx, TW_ERROR_IO, "%s cannot be read: %s", call->name, strerror(errno));
        if (size > MOST_SOURCE_BYTES)
            return context_fail(cx, TW_ERROR_SOURCE, "%s is larger than 64 MiB" FIX "split it", call->name);
        char *text = arena_alloc(context_texts(cx), (size_t)size + 1);
        size = file_read(call->name, text, (size_t)size);
        if (size < 0) return context_fail(cx, TW_ERROR_IO, "%s cannot be read: %s", call->name, strerror(errno));
        call->text = text;
        call->size = (size_t)size;
    }
    tw_module *m = context_alloc(cx, sizeof *m);
    m->context = cx;
    m->references = 1;
    context_hold(cx);
    arena_init(&m->arena, cx->allocator, &cx->trap);
    call->module = m;
    return module_open(m, call->name, call->text, call->size, call->options);
}

static tw_status load_checked(tw_context *cx, LoadCall *call, const tw_module_options *user_options, tw_module **out) {
    tw_module_options options;
    if (!api_take_options(&options, sizeof options, user_options)) return api_misuse(cx, api_bad_struct);
    if (!api_pairs_ok(options.defines, options.define_count) ||
        !api_pairs_ok(options.structures, options.structure_count))
        return api_misuse(cx, api_bad_pairs);
    const tw_resolver *host = options.resolver;
    if (host && !(host->lookup && host->attribute && host->item && host->call))
        return api_misuse(cx, "a resolver has all four functions");
    call->options = &options;
    tw_status status = api_guarded(cx, load_module, call);
    if (status == TW_OK)
        *out = call->module;
    else
        tw_module_destroy(call->module);
    return status;
}

tw_status tw_module_load_file(tw_context *cx, const char *path, const tw_module_options *options, tw_module **out) {
    if (out) *out = NULL;
    if (!cx || !path || !out) return api_absent(cx);
    return load_checked(cx, &(LoadCall){.name = path}, options, out);
}

tw_status tw_module_load_text(tw_context *cx, const char *name, const char *text, size_t size,
                              const tw_module_options *options, tw_module **out) {
    if (out) *out = NULL;
    if (!cx || !name || !text || !out) return api_absent(cx);
    return load_checked(cx, &(LoadCall){.name = name, .text = text, .size = size}, options, out);
}

void tw_module_destroy(tw_module *m) {
    if (!m) return;
    tw_context *cx = m->context;
    context_lock(cx);
    module_drop(m);
    context_unlock(cx);
}

static const FrontKernel *front_kernel(const tw_module *m, size_t kernel) {
    return m && kernel < m->unit.kernels.count ? &m->unit.kernels.at[kernel] : NULL;
}

size_t tw_module_kernel_count(const tw_module *m) { return m ? m->unit.kernels.count : 0; }

const char *tw_module_kernel_name(const tw_module *m, size_t kernel) {
    const FrontKernel *k = front_kernel(m, kernel);
    return k ? k->name : NULL;
}

size_t tw_module_kernel_find(const tw_module *m, const char *name) {
    size_t i = 0;
    while (name && front_kernel(m, i) && strcmp(front_kernel(m, i)->name, name) != 0) i++;
    return i;
}

int32_t tw_module_kernel_has_grid(const tw_module *m, size_t kernel) {
    const FrontKernel *k = front_kernel(m, kernel);
    return k && k->has_grid;
}

size_t tw_module_param_count(const tw_module *m, size_t kernel) {
    const FrontKernel *k = front_kernel(m, kernel);
    return k ? (size_t)k->param_count : 0;
}

tw_status tw_module_param_at(const tw_module *m, size_t kernel, size_t i, tw_param_info *info) {
    static const int32_t kinds[] = {[FRONT_CONSTANT] = TW_PARAM_CONSTANT,
                                    [FRONT_SCALAR] = TW_PARAM_SCALAR,
                                    [FRONT_POINTER] = TW_PARAM_POINTER,
                                    [FRONT_TENSOR] = TW_PARAM_TENSOR,
                                    [FRONT_OPEN] = TW_PARAM_OPEN};
    const FrontKernel *k = front_kernel(m, kernel);
    if (!m || !info) return api_absent(API_CONTEXT_OF(m));
    context_say(m->context, "");
    if (!k || i >= (size_t)k->param_count) return api_past_last(m->context);
    const FrontParam *param = &k->params[i];
    tw_param_info ours = {.name = param->name,
                          .kind = kinds[param->kind],
                          .dtype = param->elem < 0 ? TW_DTYPE_ANY : dtype_of_elem((Elem)param->elem),
                          .rank = param->rank,
                          .optional = param->optional,
                          .likely_array = param->likely_array};
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(m->context, api_bad_struct);
}

typedef struct ModuleCall {
    tw_module *module;
    const FrontKernel *kernel;
    size_t index;
    tw_config_info *info;
    tw_arg *args;
} ModuleCall;

static tw_pair *copy_pairs(Arena *arena, const FrontPair *from, size_t count) {
    tw_pair *to = ARENA_ARRAY(arena, tw_pair, count);
    for (size_t i = 0; i < count; i++) to[i] = (tw_pair){from[i].name, from[i].value};
    return to;
}

static tw_status config_body(tw_context *cx, void *user) {
    ModuleCall *c = user;
    const FrontKernel *k = c->kernel;
    Arena *arena = &c->module->arena;
    if (k->config_range.begin && !k->configs) {
        Place place;
        source_find(&c->module->sources, k->config_range.begin, &place);
        return context_fail(cx, TW_ERROR_UNSUPPORTED,
                            "%s:%d:%d: the configurations of `%s` are computed in a way that "
                            "cannot be followed here%s%s" FIX "give the constants yourself, or "
                            "write them as a list of triton.Config",
                            place.file->name, place.line, place.column, k->name, k->config_why ? ": " : "",
                            k->config_why ? k->config_why : "");
    }
    if (c->index >= k->config_count)
        return k->config_count ? context_fail(cx, TW_ERROR_NOT_FOUND, "kernel `%s` has %zu configurations", k->name,
                                              k->config_count)
                               : context_fail(cx, TW_ERROR_NOT_FOUND, "kernel `%s` has no configurations", k->name);
    const FrontConfig *config = &k->configs[c->index];
    tw_config_info info = {.text = config->text,
                           .values = copy_pairs(arena, config->values, config->value_count),
                           .value_count = config->value_count,
                           .options = copy_pairs(arena, config->options, config->option_count),
                           .option_count = config->option_count};
    return api_give_info(c->info, &info, sizeof info) ? TW_OK : api_misuse(cx, api_bad_struct);
}

tw_status tw_module_config_at(tw_module *m, size_t kernel, size_t i, tw_config_info *info) {
    const FrontKernel *k = front_kernel(m, kernel);
    if (!m || !info) return api_absent(API_CONTEXT_OF(m));
    if (!k) return api_past_last(m->context);
    return api_guarded(m->context, config_body, &(ModuleCall){.module = m, .kernel = k, .index = i, .info = info});
}

static tw_status complete_body(tw_context *cx, void *user) {
    ModuleCall *c = user;
    (void)cx;
    return module_complete(c->module, c->kernel, c->args);
}

tw_status tw_module_complete_args(tw_module *m, size_t kernel, tw_arg *args, size_t count) {
    const FrontKernel *k = front_kernel(m, kernel);
    if (!m || !args) return api_absent(API_CONTEXT_OF(m));
    if (!k) return api_past_last(m->context);
    if (count != (size_t)k->param_count)
        return api_misuse(m->context, "there must be as many arguments as the kernel has parameters");
    if (!api_args_ok(args, count)) return api_misuse(m->context, api_bad_args);
    return api_guarded(m->context, complete_body, &(ModuleCall){.module = m, .kernel = k, .args = args});
}
