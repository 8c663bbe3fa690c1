/* SPDX-License-Identifier: Apache-2.0 */
/* api_kernel.c: kernels: compiling, launching, and what is known of one. */
#include "runtime/api/api.h"

#include "runtime/built/built_kernel.h"
#include "runtime/target/target.h"

#include <string.h>

typedef struct KernelCall {
    tw_module *module;
    const char *name;
    const tw_compile_options *options;
    tw_kernel *kernel;
    LaunchRequest *launch;
    int64_t *own_grid;
    const tw_arg *args;
    size_t count;
    const char *text;
    tw_work_info *work;
} KernelCall;

static tw_status compile_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    c->kernel = kernel_new(c->module);
    return kernel_compile(c->kernel, c->name, c->options);
}
static tw_status launch_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    return sequence_launch(c->kernel, c->launch);
}
static tw_status variant_body(tw_context *cx, void *user) {
    (void)cx;
    return kernel_add_variant(((KernelCall *)user)->launch);
}
static tw_status assembly_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    return kernel_assembly(c->kernel, &c->text);
}
static tw_status grid_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    return kernel_own_grid(c->kernel, c->args, c->count, c->own_grid);
}

static tw_status work_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    return kernel_work(c->kernel, c->own_grid, c->args, c->count, c->work);
}

static const char bad_stage[] = "stage is one of TW_STAGE_RUN, TW_STAGE_EMIT, TW_STAGE_IR, TW_STAGE_BUILD";

const char *api_take_compile_options(tw_compile_options *ours, const tw_compile_options *theirs) {
    if (!api_take_options(ours, sizeof *ours, theirs)) return api_bad_struct;
    if (!api_args_ok(ours->args, ours->arg_count)) return api_bad_args;
    if (!api_pairs_ok(ours->options, ours->option_count)) return api_bad_pairs;
    return ours->stage < TW_STAGE_RUN || ours->stage > TW_STAGE_BUILD ? bad_stage : NULL;
}

tw_status tw_kernel_compile(tw_module *m, const char *name, const tw_compile_options *user_options, tw_kernel **out) {
    tw_compile_options options;
    if (out) *out = NULL;
    if (!m || !out) return api_absent(API_CONTEXT_OF(m));
    tw_context *cx = m->context;
    const char *wrong = api_take_compile_options(&options, user_options);
    if (wrong) return api_misuse(cx, wrong);
    KernelCall call = {.module = m, .name = name, .options = &options};
    tw_status status = api_guarded(cx, compile_body, &call);
    if (status == TW_OK)
        *out = call.kernel;
    else
        tw_kernel_destroy(call.kernel);
    return status;
}

void tw_kernel_destroy(tw_kernel *k) {
    if (!k) return;
    tw_context *cx = k->context;
    context_lock(cx);
    tw_module *origin = k->origin;
    tw_kernel_destroy(k->generic.kernel);
    tw_kernel_destroy(k->overlapping.kernel);
    tw_kernel_destroy(k->odd.kernel);
    for (int i = 0; i < MOST_JOINED; i++)
        for (int j = 0; j < MOST_JOINED; j++) tw_kernel_destroy(k->joined[i][j].kernel);
    tw_kernel_destroy(k->next);
    sequence_destroy(k);
    if (k->target && k->target->destroy) k->target->destroy(k);
    if (k->pass.scratch) arena_free(k->pass.scratch);
    arena_free(&k->arena);
    context_free(cx, k, sizeof *k);
    module_drop(origin);
    context_drop(cx);
    context_unlock(cx);
}

tw_status tw_kernel_launch_with(tw_kernel *k, const tw_launch_options *user_options, const tw_arg *args, size_t count) {
    if (!k) return TW_ERROR_ARGUMENT;
    tw_context *cx = k->context;
    LaunchRequest launch = {.args = args, .count = count};
    if (!api_take_options(&launch.how, sizeof launch.how, user_options)) return api_misuse(cx, api_bad_struct);
    if (launch.how.timeout_ms < 0) return api_misuse(cx, "timeout_ms is negative");
    if (!api_args_ok(args, count)) return api_misuse(cx, api_bad_args);
    KernelCall call = {.kernel = k, .launch = &launch};
    launch.beside = kernel_runs_beside(k);
    if (!launch.beside) return api_guarded(cx, launch_body, &call);
    tw_status status = api_beside(cx, launch_body, &call);
    while (status == TW_OK && launch.lacking) {
        status = api_guarded(cx, variant_body, &call);
        if (status == TW_OK) status = api_beside(cx, launch_body, &call);
    }
    return status;
}

tw_status tw_kernel_launch(tw_kernel *k, tw_stream *stream, const int64_t *grid, const tw_arg *args, size_t count) {
    return tw_kernel_launch_with(
        k, &(tw_launch_options){.struct_size = sizeof(tw_launch_options), .stream = stream, .grid = grid}, args, count);
}

tw_status tw_kernel_grid(tw_kernel *k, const tw_arg *args, size_t count, int64_t grid[3]) {
    if (!k || !grid) return api_absent(API_CONTEXT_OF(k));
    if (!api_args_ok(args, count)) return api_misuse(k->context, api_bad_args);
    return api_guarded(k->context, grid_body,
                       &(KernelCall){.kernel = k, .args = args, .count = count, .own_grid = grid});
}

tw_status tw_kernel_work(tw_kernel *k, const int64_t *grid, const tw_arg *args, size_t count, tw_work_info *info) {
    if (!k || !info) return api_absent(API_CONTEXT_OF(k));
    if (!api_args_ok(args, count)) return api_misuse(k->context, api_bad_args);
    tw_work_info ours = {0};
    int64_t said[3];
    if (grid) memcpy(said, grid, sizeof said);
    KernelCall call = {.kernel = k, .args = args, .count = count, .own_grid = grid ? said : NULL, .work = &ours};
    tw_status status = api_guarded(k->context, work_body, &call);
    if (status != TW_OK) return status;
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(k->context, api_bad_struct);
}

static tw_status page_body(tw_context *cx, void *user) {
    KernelCall *c = user;
    (void)cx;
    c->text = kernel_page(c->kernel);
    return TW_OK;
}

tw_status tw_kernel_explain_html(tw_kernel *k, const char **text) {
    if (text) *text = NULL;
    if (!k || !text) return api_absent(API_CONTEXT_OF(k));
    KernelCall call = {.kernel = k};
    tw_status status = api_guarded(k->context, page_body, &call);
    *text = call.text;
    return status;
}

tw_status tw_kernel_assembly(tw_kernel *k, const char **text) {
    if (text) *text = NULL;
    if (!k || !text) return api_absent(API_CONTEXT_OF(k));
    KernelCall call = {.kernel = k};
    tw_status status = api_guarded(k->context, assembly_body, &call);
    *text = call.text;
    return status;
}

const char *tw_kernel_name(const tw_kernel *k) { return k ? k->name : NULL; }
const char *tw_kernel_target(const tw_kernel *k) {
    if (!k || !k->target) return NULL;
    return k->pass.machine ? k->pass.machine->name : k->target->name;
}
tw_status tw_kernel_resources(const tw_kernel *k, tw_resource_info *info) {
    if (!k || !info) return api_absent(API_CONTEXT_OF(k));
    context_say(k->context, "");
    return api_give_info(info, &k->resources, sizeof k->resources) ? TW_OK : api_misuse(k->context, api_bad_struct);
}
int32_t tw_kernel_widens(const tw_kernel *k) { return k && k->pass.widened; }

int32_t tw_kernel_product_bits(const tw_kernel *k) { return k ? k->product_bits : 24; }
int32_t tw_kernel_writes(const tw_kernel *k, size_t param) {
    for (; k; k = k->next)
        if (k->written && param < (size_t)k->request->kernel->param_count && k->written[param]) return true;
    return false;
}

tw_status tw_kernel_shape_at(const tw_kernel *k, size_t param, tw_shape_info *info) {
    if (!k || !info || info->struct_size < sizeof *info) return TW_ERROR_ARGUMENT;
    const FrontKernel *source = k->request->kernel;
    const FrontShape *shape = k->ir && param < (size_t)source->param_count ? &k->shapes[param] : NULL;
    if (!shape || !shape->stated || shape->rank > TW_MAX_RANK) return TW_ERROR_NOT_FOUND;
    *info = (tw_shape_info){.struct_size = info->struct_size, .rank = shape->rank, .dense = shape->dense};
    memcpy(info->extents, shape->extent, sizeof info->extents);
    for (int i = 0; i < k->ir->body->arg_count; i++) {
        const Value *value = ir_value(k->ir, k->ir->body->args[i]);
        if (value->name && strcmp(value->name, source->params[param].name) == 0)
            info->dtype = dtype_of_elem(value->type->elem);
    }
    return TW_OK;
}

int32_t tw_kernel_has_grid(const tw_kernel *k) { return k && k->ir && k->ir->grid != NULL; }
const char *tw_kernel_explain(const tw_kernel *k) { return k && k->explain ? k->explain : ""; }

const char *tw_kernel_explain_json(const tw_kernel *k) { return k && k->explain_json ? k->explain_json : "[]\n"; }
/* The list grows when an assembler text is asked for. */
static Artifact artifact_at(const tw_kernel *k, size_t i, size_t *count) {
    Artifact found = {0};
    *count = 0;
    if (!k) return found;
    pthread_mutex_lock(&k->context->lock);
    *count = k->artifacts.count;
    if (i < *count) found = k->artifacts.at[i];
    pthread_mutex_unlock(&k->context->lock);
    return found;
}

size_t tw_kernel_artifact_count(const tw_kernel *k) {
    size_t count;
    artifact_at(k, 0, &count);
    return count;
}

const char *tw_kernel_artifact_name(const tw_kernel *k, size_t i) {
    size_t count;
    return artifact_at(k, i, &count).name;
}

const char *tw_kernel_artifact_text(const tw_kernel *k, size_t i, size_t *size) {
    size_t count;
    Artifact found = artifact_at(k, i, &count);
    if (size) *size = found.size;
    return found.text;
}

tw_status tw_kernel_pass_at(const tw_kernel *k, size_t i, tw_pass_info *info) {
    if (!k || !info) return api_absent(API_CONTEXT_OF(k));
    context_say(k->context, "");
    if (i >= k->steps.count) return api_past_last(k->context);
    const StepRecord *step = &k->steps.at[i];
    tw_pass_info ours = {.name = step->name, .seconds = step->seconds, .changed = step->changed, .ir = step->ir};
    return api_give_info(info, &ours, sizeof ours) ? TW_OK : api_misuse(k->context, api_bad_struct);
}
