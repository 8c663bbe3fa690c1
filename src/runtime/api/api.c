/* api.c: the public entries (tilewright.h): checks of what the caller passes, the one setjmp
 * frame, getters.
 *
 * Every entry that can fail runs its body through `guarded`. Out of memory and internal faults
 * come back there; the body's half-made object, which it stores where the entry can see it, is
 * then destroyed. */
#include "runtime/runtime.h"

#include "runtime/compile/cache.h"
#include "runtime/api/options.h"
#include "runtime/target/target.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRINGIFY(x)          #x
#define VERSION_TEXT(a, b, c) STRINGIFY(a) "." STRINGIFY(b) "." STRINGIFY(c)

const char *tw_version(void) { return VERSION_TEXT(TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH); }

const char *tw_status_name(tw_status status) {
    switch (status) {
#define X(name, number, text) \
    case name: return #name;
        TW_STATUS_LIST(X)
#undef X
    default: return "unknown";
    }
}

const char *tw_status_text(tw_status status) {
    switch (status) {
#define X(name, number, text) \
    case name: return text;
        TW_STATUS_LIST(X)
#undef X
    default: return "unknown";
    }
}

const char *tw_dtype_name(int32_t dtype) {
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name: return text;
        TW_DTYPE_LIST(X)
#undef X
    default: return "any";
    }
}

size_t tw_dtype_size(int32_t dtype) {
    switch (dtype) {
#define X(name, number, text, bytes) \
    case name: return bytes;
        TW_DTYPE_LIST(X)
#undef X
    default: return 0;
    }
}

int32_t tw_dtype_find(const char *name) {
    static const struct {
        const char *name;
        int32_t dtype;
    } rows[] = {
#define X(id, number, text, bytes) {text, id},
        TW_DTYPE_LIST(X)
#undef X
            {"bool", TW_I1},
        {"int8", TW_I8},
        {"int16", TW_I16},
        {"int32", TW_I32},
        {"int64", TW_I64},
        {"uint8", TW_U8},
        {"uint16", TW_U16},
        {"uint32", TW_U32},
        {"uint64", TW_U64},
        {"float16", TW_F16},
        {"fp16", TW_F16},
        {"half", TW_F16},
        {"bfloat16", TW_BF16},
        {"float32", TW_F32},
        {"fp32", TW_F32},
        {"float", TW_F32},
        {"float64", TW_F64},
        {"fp64", TW_F64},
        {"double", TW_F64},
        {"float8_e4m3fn", TW_F8E4M3},
        {"fp8e4nv", TW_F8E4M3},
        {"float8_e5m2", TW_F8E5M2},
        {"fp8e5", TW_F8E5M2},
        {"float8_e4m3fnuz", TW_F8E4B8},
        {"fp8e4b8", TW_F8E4B8},
        {"float8_e5m2fnuz", TW_F8E5B16},
        {"fp8e5b16", TW_F8E5B16},
        {"fp8e4b15", TW_F8E4B15},
    };
    for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].dtype;
    return TW_DTYPE_ANY;
}

/* --- frame --- */

typedef tw_status Body(tw_context *cx, void *call);

static tw_status cancelled(tw_context *cx) {
    cx->message = "it was cancelled";
    return TW_ERROR_CANCELLED;
}

static tw_status guarded(tw_context *cx, Body *body, void *call) {
    cx->message = cx->warnings = cx->findings = "";
    cx->diagnostics = NULL;
    cx->diagnostic_count = 0;
    cx->findings_json = "[]\n";
    arena_reset(&cx->texts, (ArenaMark){NULL, 0});
    cancel_begin(&cx->cancel);
    if (TRAP_ARM(&cx->trap)) {
        tw_status status = body(cx, call);
        /* Whoever asked for the end must learn of it, even where the work was done just before. */
        return cancel_is_asked(&cx->cancel) ? cancelled(cx) : status;
    }
    if (cx->launch_scratch) arena_free(cx->launch_scratch);
    cx->launch_scratch = NULL;
    if (cx->trap.code == TRAP_STOPPED) return cancelled(cx);
    if (cx->trap.code == TRAP_OUT_OF_MEMORY) {
        cx->message = "out of memory";
        return TW_ERROR_MEMORY;
    }
    cx->message = cx->trap.message;
    return TW_ERROR_INTERNAL;
}

static tw_status misuse(tw_context *cx, const char *message) {
    cx->message = message;
    return TW_ERROR_ARGUMENT;
}

/* For calls that found a NULL, or an index past the last, before they began; without an object
 * there is nothing to hold the message. */
static tw_status absent(tw_context *cx) {
    return cx ? misuse(cx, "an argument that is required is NULL") : TW_ERROR_ARGUMENT;
}
static tw_status past_last(tw_context *cx) {
    cx->message = "the index is past the last";
    return TW_ERROR_NOT_FOUND;
}
#define CONTEXT_OF(object) ((object) ? (object)->context : NULL)

/* A caller's struct in our version of it: what it does not know is zero; what we do not know must be. */
static bool take_options(void *ours, size_t size, const void *theirs) {
    size_t given = 0;
    memset(ours, 0, size);
    if (!theirs) return true;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given) return false;
    memcpy(ours, theirs, given < size ? given : size);
    for (size_t i = size; i < given; i++)
        if (((const char *)theirs)[i]) return false;
    return true;
}
/* The other way round, for info structs. */
static bool give_info(void *theirs, const void *ours, size_t size) {
    size_t given = 0;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given) return false;
    size_t n = given < size ? given : size;
    memcpy((char *)theirs + sizeof given, (const char *)ours + sizeof given, n - sizeof given);
    return true;
}

static const char bad_struct[] =
    "an options struct must start with its size, and be zero beyond what this version knows";

static bool args_ok(const tw_arg *args, size_t count) {
    if (!args) return count == 0;
    for (size_t i = 0; i < count; i++) {
        if (args[i].kind < TW_ARG_ABSENT || args[i].kind > TW_ARG_OBJECT) return false;
        if (args[i].kind == TW_ARG_TEXT && !args[i].value.text) return false;
        if (args[i].kind == TW_ARG_BUFFER && !args[i].value.buffer) return false;
        if (args[i].kind == TW_ARG_OBJECT && !args[i].value.object) return false;
    }
    return true;
}

static const char bad_args[] = "an argument has no known kind, or a NULL inside";

static bool pairs_ok(const tw_pair *pairs, size_t count) {
    if (!pairs) return count == 0;
    for (size_t i = 0; i < count; i++)
        if (!pairs[i].name || !pairs[i].value) return false;
    return count <= INT32_MAX;
}

static const char bad_pairs[] = "a list of names and values is NULL, or has a NULL inside";

#define DEFINE_INIT(name)                       \
    void name##_init(name *options) {           \
        if (!options) return;                   \
        memset(options, 0, sizeof *options);    \
        options->struct_size = sizeof *options; \
    }
DEFINE_INIT(tw_context_options)
DEFINE_INIT(tw_module_options)
DEFINE_INIT(tw_buffer_options)
DEFINE_INIT(tw_compile_options)

/* --- context --- */

static tw_status choose_cache(tw_context *cx, void *call) {
    const char *wish = call;
    char dir[CACHE_PATH], absolute[CACHE_PATH];
    if (!wish && cache_default_dir(dir, sizeof dir)) wish = dir;
    cx->cache_dir = NULL;
    if (wish && *wish && path_absolute(wish, absolute))
        cx->cache_dir = arena_string(&cx->arena, absolute, strlen(absolute));
    cx->no_cache = !cx->cache_dir && !(wish && !*wish);
    return TW_OK;
}

tw_status tw_context_set_cache_dir(tw_context *cx, const char *dir) {
    if (!cx) return TW_ERROR_ARGUMENT;
    return guarded(cx, choose_cache, (void *)(uintptr_t)dir);
}

tw_status tw_context_create(const tw_context_options *user_options, tw_context **out) {
    tw_context_options options;
    if (!out) return TW_ERROR_ARGUMENT;
    *out = NULL;
    if (!take_options(&options, sizeof options, user_options)) return TW_ERROR_ARGUMENT;
    Allocator allocator = allocator_malloc;
    if (options.allocator) allocator = (Allocator){options.allocator->resize, options.allocator->user};
    tw_context *cx = allocator.resize(allocator.user, NULL, 0, sizeof *cx);
    if (!cx) return TW_ERROR_MEMORY;
    memset(cx, 0, sizeof *cx);
    cx->allocator = allocator;
    cx->references = 1;
    cx->threads = options.threads;
    cx->print = options.print;
    cx->print_user = options.print_user;
    cx->cancel.poll = options.poll;
    cx->cancel.user = options.poll_user;
    cx->tool_timeout = options.tool_timeout > 0 ? options.tool_timeout : 120;
    arena_init(&cx->texts, allocator, &cx->trap);
    arena_init(&cx->arena, allocator, &cx->trap);
    tw_status status = guarded(cx, choose_cache, (void *)(uintptr_t)options.cache_dir);
    if (status == TW_OK)
        *out = cx;
    else
        context_drop(cx);
    return status;
}

void tw_context_destroy(tw_context *cx) {
    if (cx) context_drop(cx);
}

int32_t tw_context_cancel(tw_context *cx) { return cx && cancel_ask(&cx->cancel); }

const char *tw_context_message(const tw_context *cx) { return cx ? cx->message : ""; }
const char *tw_context_findings(const tw_context *cx) { return cx ? cx->findings : ""; }

tw_status tw_context_diagnostic_at(const tw_context *cx, size_t index, tw_diagnostic *diagnostic) {
    if (!cx || !diagnostic) return TW_ERROR_ARGUMENT;
    /* An error that is about no source, such as a wrong argument: its message. */
    tw_diagnostic plain = {.severity = "error", .code = "", .text = cx->message};
    const tw_diagnostic *found = index < cx->diagnostic_count ? &cx->diagnostics[index] : NULL;
    if (!found && !cx->diagnostic_count && index == 0 && *cx->message) found = &plain;
    if (!found) return TW_ERROR_NOT_FOUND;
    return give_info(diagnostic, found, sizeof *found) ? TW_OK : TW_ERROR_ARGUMENT;
}

const char *tw_context_findings_json(const tw_context *cx) { return cx ? cx->findings_json : "[]\n"; }

const char *tw_context_warnings(const tw_context *cx) { return cx ? cx->warnings : ""; }

/* --- lists of targets --- */

typedef struct TargetCall {
    size_t index;
    tw_target_info *info;
} TargetCall;

static tw_status describe_target(tw_context *cx, void *user) {
    TargetCall *call = user;
    const Target *target = call->index < 1000 ? target_at((int)call->index) : NULL;
    if (!target) return past_last(cx);
    tw_target_info info = {.name = target->name, .about = target->about, .note = ""};
    info.available = target->available(cx, &cx->texts, &info.note);
    cx->message = "";
    return give_info(call->info, &info, sizeof info) ? TW_OK : misuse(cx, bad_struct);
}

tw_status tw_target_info_at(tw_context *cx, size_t index, tw_target_info *info) {
    if (!cx || !info) return absent(cx);
    return guarded(cx, describe_target, &(TargetCall){index, info});
}

tw_status tw_option_info_at(tw_context *cx, size_t index, tw_option_info *info) {
    tw_option_info ours = {0};
    if (!cx || !info) return absent(cx);
    cx->message = "";
    if (!option_info(index, &ours)) return past_last(cx);
    return give_info(info, &ours, sizeof ours) ? TW_OK : misuse(cx, bad_struct);
}

tw_status tw_builtin_info_at(tw_context *cx, size_t index, tw_builtin_info *info) {
    FrontBuiltin row;
    if (!cx || !info) return absent(cx);
    cx->message = "";
    if (!front_builtin(index, &row)) return past_last(cx);
    tw_builtin_info ours = {
        .name = row.name, .places = row.kinds, .signature = row.form, .about = row.doc, .refused = row.refused};
    return give_info(info, &ours, sizeof ours) ? TW_OK : misuse(cx, bad_struct);
}

typedef struct DocumentCall {
    const char *name, *text;
} DocumentCall;

static tw_status document_body(tw_context *cx, void *user) {
    DocumentCall *call = user;
    if (strcmp(call->name, "ops") == 0) {
        call->text = ir_manual(&cx->texts);
        return TW_OK;
    }
    if (strcmp(call->name, "options") == 0) {
        Text t = text_new(&cx->texts);
        tw_option_info info = {0};
        for (size_t i = 0; option_info(i, &info); i++)
            text_add(&t, "- `%s`: %s. Takes %s.\n", info.name, info.about, info.values);
        call->text = t.at;
        return TW_OK;
    }
    call->text = front_manual(call->name, &cx->texts);
    if (call->text) return TW_OK;
    return context_fail(cx, TW_ERROR_NOT_FOUND,
                        "there is no page `%s`; there are ops, options, triton, tilelang and tile-c", call->name);
}

tw_status tw_document(tw_context *cx, const char *name, const char **text) {
    if (text) *text = NULL;
    if (!cx || !name || !text) return absent(cx);
    DocumentCall call = {.name = name};
    tw_status status = guarded(cx, document_body, &call);
    *text = call.text;
    return status;
}

/* --- modules --- */

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
            return context_fail(cx, TW_ERROR_SOURCE, "%s is larger than 64 MiB; split it", call->name);
        char *text = arena_alloc(&cx->texts, (size_t)size + 1);
        size = file_read(call->name, text, (size_t)size);
        if (size < 0) return context_fail(cx, TW_ERROR_IO, "%s cannot be read: %s", call->name, strerror(errno));
        call->text = text;
        call->size = (size_t)size;
    }
    tw_module *m = context_alloc(cx, sizeof *m);
    m->context = cx;
    m->references = 1;
    cx->references++;
    arena_init(&m->arena, cx->allocator, &cx->trap);
    call->module = m;
    return module_open(m, call->name, call->text, call->size, call->options);
}

static tw_status load_checked(tw_context *cx, LoadCall *call, const tw_module_options *user_options, tw_module **out) {
    tw_module_options options;
    if (!take_options(&options, sizeof options, user_options)) return misuse(cx, bad_struct);
    if (!pairs_ok(options.defines, options.define_count) || !pairs_ok(options.structures, options.structure_count))
        return misuse(cx, bad_pairs);
    const tw_resolver *host = options.resolver;
    if (host && !(host->lookup && host->attribute && host->item && host->call))
        return misuse(cx, "a resolver has all four functions");
    call->options = &options;
    tw_status status = guarded(cx, load_module, call);
    if (status == TW_OK)
        *out = call->module;
    else
        tw_module_destroy(call->module);
    return status;
}

tw_status tw_module_load_file(tw_context *cx, const char *path, const tw_module_options *options, tw_module **out) {
    if (out) *out = NULL;
    if (!cx || !path || !out) return absent(cx);
    return load_checked(cx, &(LoadCall){.name = path}, options, out);
}

tw_status tw_module_load_text(tw_context *cx, const char *name, const char *text, size_t size,
                              const tw_module_options *options, tw_module **out) {
    if (out) *out = NULL;
    if (!cx || !name || !text || !out) return absent(cx);
    return load_checked(cx, &(LoadCall){.name = name, .text = text, .size = size}, options, out);
}

void tw_module_destroy(tw_module *m) {
    if (m) module_drop(m);
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
    if (!m || !info) return absent(CONTEXT_OF(m));
    m->context->message = "";
    if (!k || i >= (size_t)k->param_count) return past_last(m->context);
    const FrontParam *param = &k->params[i];
    tw_param_info ours = {.name = param->name,
                          .kind = kinds[param->kind],
                          .dtype = param->elem < 0 ? TW_DTYPE_ANY : dtype_of_elem((Elem)param->elem),
                          .rank = param->rank,
                          .optional = param->optional,
                          .likely_array = param->likely_array};
    return give_info(info, &ours, sizeof ours) ? TW_OK : misuse(m->context, bad_struct);
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
                            "cannot be followed here%s%s; give the constants yourself, or "
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
    return give_info(c->info, &info, sizeof info) ? TW_OK : misuse(cx, bad_struct);
}

tw_status tw_module_config_at(tw_module *m, size_t kernel, size_t i, tw_config_info *info) {
    const FrontKernel *k = front_kernel(m, kernel);
    if (!m || !info) return absent(CONTEXT_OF(m));
    if (!k) return past_last(m->context);
    return guarded(m->context, config_body, &(ModuleCall){.module = m, .kernel = k, .index = i, .info = info});
}

static tw_status complete_body(tw_context *cx, void *user) {
    ModuleCall *c = user;
    (void)cx;
    return module_complete(c->module, c->kernel, c->args);
}

tw_status tw_module_complete_args(tw_module *m, size_t kernel, tw_arg *args, size_t count) {
    const FrontKernel *k = front_kernel(m, kernel);
    if (!m || !args) return absent(CONTEXT_OF(m));
    if (!k) return past_last(m->context);
    if (count != (size_t)k->param_count)
        return misuse(m->context, "there must be as many arguments as the kernel has parameters");
    if (!args_ok(args, count)) return misuse(m->context, bad_args);
    return guarded(m->context, complete_body, &(ModuleCall){.module = m, .kernel = k, .args = args});
}

/* --- buffers --- */

typedef struct BufferCall {
    int32_t dtype, rank;
    const int64_t *shape;
    const tw_buffer_options *options;
    const char *text;
    void *host;
    size_t size;
    bool read;
    double value, relative;
    uint64_t seed;
    tw_buffer *buffer;
    const tw_buffer *other;
    tw_difference *difference;
} BufferCall;

static tw_status make_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    return buffer_make(cx, c->dtype, c->rank, c->shape, c->options, &c->buffer);
}
static tw_status load_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    return npy_load(cx, c->text, c->dtype, &c->buffer);
}
static tw_status copy_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    (void)cx;
    return buffer_copy(c->buffer, c->host, c->size, c->read);
}
static tw_status fill_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    (void)cx;
    return buffer_fill(c->buffer, c->text, c->value, c->seed);
}
static tw_status save_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    (void)cx;
    return npy_save(c->buffer, c->text);
}
static tw_status compare_body(tw_context *cx, void *user) {
    BufferCall *c = user;
    (void)cx;
    return buffer_compare(c->buffer, c->other, c->value, c->relative, c->difference);
}

/* For the two entries that make a buffer. */
static tw_status finish_making(tw_context *cx, Body *body, BufferCall *call, tw_buffer **out) {
    tw_status status = guarded(cx, body, call);
    if (status == TW_OK)
        *out = call->buffer;
    else
        tw_buffer_destroy(call->buffer);
    return status;
}

tw_status tw_buffer_create(tw_context *cx, int32_t dtype, int32_t rank, const int64_t *shape,
                           const tw_buffer_options *user_options, tw_buffer **out) {
    tw_buffer_options options;
    if (out) *out = NULL;
    if (!cx || !out) return absent(cx);
    if (!take_options(&options, sizeof options, user_options)) return misuse(cx, bad_struct);
    if (rank > 0 && !shape) return absent(cx);
    BufferCall call = {.dtype = dtype, .rank = rank, .shape = shape, .options = &options};
    return finish_making(cx, make_body, &call, out);
}

tw_status tw_buffer_rebind(tw_buffer *b, void *data, size_t size) {
    if (!b) return TW_ERROR_ARGUMENT;
    if (b->owned || b->rank != 1)
        return misuse(b->context, "only a buffer of rank 1 over memory of the caller is rebound");
    if (!data && size) return absent(b->context);
    size_t bytes = tw_dtype_size(dtype_of_elem(b->elem));
    b->context->message = "";
    b->data = data;
    b->shape[0] = (int64_t)(size / bytes);
    b->strides[0] = 1;
    b->size = size / bytes * bytes;
    return TW_OK;
}

tw_status tw_buffer_load_npy(tw_context *cx, const char *path, int32_t dtype, tw_buffer **out) {
    if (out) *out = NULL;
    if (!cx || !path || !out) return absent(cx);
    return finish_making(cx, load_body, &(BufferCall){.text = path, .dtype = dtype}, out);
}

tw_status tw_buffer_read(tw_buffer *b, void *to, size_t size) {
    if (!b || (!to && size)) return absent(CONTEXT_OF(b));
    return guarded(b->context, copy_body, &(BufferCall){.buffer = b, .host = to, .size = size, .read = true});
}

tw_status tw_buffer_write(tw_buffer *b, const void *from, size_t size) {
    if (!b || (!from && size)) return absent(CONTEXT_OF(b));
    return guarded(b->context, copy_body, &(BufferCall){.buffer = b, .host = (void *)(uintptr_t)from, .size = size});
}

tw_status tw_buffer_fill(tw_buffer *b, const char *kind, double value, uint64_t seed) {
    if (!b || !kind) return absent(CONTEXT_OF(b));
    return guarded(b->context, fill_body, &(BufferCall){.buffer = b, .text = kind, .value = value, .seed = seed});
}

tw_status tw_buffer_save_npy(tw_buffer *b, const char *path) {
    if (!b || !path) return absent(CONTEXT_OF(b));
    return guarded(b->context, save_body, &(BufferCall){.buffer = b, .text = path});
}

tw_status tw_buffer_compare(const tw_buffer *got, const tw_buffer *want, double absolute, double relative,
                            tw_difference *difference) {
    tw_difference ours = {0};
    if (!got || !want || !difference) return absent(CONTEXT_OF(got));
    BufferCall call = {.buffer = (tw_buffer *)(uintptr_t)got, .other = want, .value = absolute, .difference = &ours};
    call.relative = relative;
    tw_status status = guarded(got->context, compare_body, &call);
    if (status != TW_OK) return status;
    return give_info(difference, &ours, sizeof ours) ? TW_OK : misuse(got->context, bad_struct);
}

void *tw_buffer_data(const tw_buffer *b) { return b ? b->data : NULL; }
int32_t tw_buffer_dtype(const tw_buffer *b) { return b ? dtype_of_elem(b->elem) : TW_DTYPE_ANY; }
int32_t tw_buffer_rank(const tw_buffer *b) { return b ? b->rank : 0; }
const int64_t *tw_buffer_shape(const tw_buffer *b) { return b ? b->shape : NULL; }
const int64_t *tw_buffer_strides(const tw_buffer *b) { return b ? b->strides : NULL; }

/* --- kernels --- */

typedef struct KernelCall {
    tw_module *module;
    const char *name;
    const tw_compile_options *options;
    tw_kernel *kernel;
    tw_stream *stream;
    const int64_t *grid;
    int64_t *own_grid;
    const tw_arg *args;
    size_t count;
    const char *text;
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
    return kernel_launch(c->kernel, c->stream, c->grid, c->args, c->count);
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

tw_status tw_kernel_compile(tw_module *m, const char *name, const tw_compile_options *user_options, tw_kernel **out) {
    tw_compile_options options;
    if (out) *out = NULL;
    if (!m || !out) return absent(CONTEXT_OF(m));
    tw_context *cx = m->context;
    if (!take_options(&options, sizeof options, user_options)) return misuse(cx, bad_struct);
    if (!args_ok(options.args, options.arg_count)) return misuse(cx, bad_args);
    if (!pairs_ok(options.options, options.option_count)) return misuse(cx, bad_pairs);
    if (options.stage < TW_STAGE_RUN || options.stage > TW_STAGE_BUILD)
        return misuse(cx, "stage is one of TW_STAGE_RUN, TW_STAGE_EMIT, TW_STAGE_IR, TW_STAGE_BUILD");
    KernelCall call = {.module = m, .name = name, .options = &options};
    tw_status status = guarded(cx, compile_body, &call);
    if (status == TW_OK)
        *out = call.kernel;
    else
        tw_kernel_destroy(call.kernel);
    return status;
}

void tw_kernel_destroy(tw_kernel *k) {
    if (!k) return;
    tw_context *cx = k->context;
    tw_module *origin = k->origin;
    tw_kernel_destroy(k->generic.kernel);
    tw_kernel_destroy(k->overlapping.kernel);
    if (k->target && k->target->destroy) k->target->destroy(k);
    if (k->pass.scratch) arena_free(k->pass.scratch);
    arena_free(&k->arena);
    context_free(cx, k, sizeof *k);
    module_drop(origin);
    context_drop(cx);
}

tw_status tw_kernel_launch(tw_kernel *k, tw_stream *stream, const int64_t *grid, const tw_arg *args, size_t count) {
    if (!k) return TW_ERROR_ARGUMENT;
    if (!args_ok(args, count)) return misuse(k->context, bad_args);
    KernelCall call = {.kernel = k, .stream = stream, .grid = grid, .args = args, .count = count};
    return guarded(k->context, launch_body, &call);
}

tw_status tw_kernel_grid(tw_kernel *k, const tw_arg *args, size_t count, int64_t grid[3]) {
    if (!k || !grid) return absent(CONTEXT_OF(k));
    if (!args_ok(args, count)) return misuse(k->context, bad_args);
    return guarded(k->context, grid_body, &(KernelCall){.kernel = k, .args = args, .count = count, .own_grid = grid});
}

tw_status tw_kernel_assembly(tw_kernel *k, const char **text) {
    if (text) *text = NULL;
    if (!k || !text) return absent(CONTEXT_OF(k));
    KernelCall call = {.kernel = k};
    tw_status status = guarded(k->context, assembly_body, &call);
    *text = call.text;
    return status;
}

const char *tw_kernel_name(const tw_kernel *k) { return k ? k->name : NULL; }
const char *tw_kernel_target(const tw_kernel *k) {
    if (!k || !k->target) return NULL;
    return k->pass.machine ? k->pass.machine->name : k->target->name;
}
tw_status tw_kernel_resources(const tw_kernel *k, tw_resource_info *info) {
    if (!k || !info) return absent(CONTEXT_OF(k));
    k->context->message = "";
    return give_info(info, &k->resources, sizeof k->resources) ? TW_OK : misuse(k->context, bad_struct);
}
int32_t tw_kernel_widens(const tw_kernel *k) { return k && k->pass.widened; }

int32_t tw_kernel_product_bits(const tw_kernel *k) { return k ? k->product_bits : 24; }
int32_t tw_kernel_writes(const tw_kernel *k, size_t param) {
    return k && k->written && param < (size_t)k->request->kernel->param_count && k->written[param];
}
int32_t tw_kernel_has_grid(const tw_kernel *k) { return k && k->ir && k->ir->grid != NULL; }
const char *tw_kernel_explain(const tw_kernel *k) { return k && k->explain ? k->explain : ""; }

const char *tw_kernel_explain_json(const tw_kernel *k) { return k && k->explain_json ? k->explain_json : "[]\n"; }
size_t tw_kernel_artifact_count(const tw_kernel *k) { return k ? k->artifacts.count : 0; }

const char *tw_kernel_artifact_name(const tw_kernel *k, size_t i) {
    return i < tw_kernel_artifact_count(k) ? k->artifacts.at[i].name : NULL;
}

const char *tw_kernel_artifact_text(const tw_kernel *k, size_t i, size_t *size) {
    bool there = i < tw_kernel_artifact_count(k);
    if (size) *size = there ? k->artifacts.at[i].size : 0;
    return there ? k->artifacts.at[i].text : NULL;
}

tw_status tw_kernel_pass_at(const tw_kernel *k, size_t i, tw_pass_info *info) {
    if (!k || !info) return absent(CONTEXT_OF(k));
    k->context->message = "";
    if (i >= k->steps.count) return past_last(k->context);
    const StepRecord *step = &k->steps.at[i];
    tw_pass_info ours = {.name = step->name, .seconds = step->seconds, .changed = step->changed, .ir = step->ir};
    return give_info(info, &ours, sizeof ours) ? TW_OK : misuse(k->context, bad_struct);
}

/* --- streams --- */

typedef struct StreamCall {
    const char *name;
    bool wrapped;
    void *native;
    tw_stream *stream;
} StreamCall;

static tw_status stream_body(tw_context *cx, void *user) {
    StreamCall *c = user;
    const Target *target = target_find(c->name ? c->name : "cpu", NULL);
    if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", c->name);
    if (c->wrapped && !target->synchronize)
        return context_fail(cx, TW_ERROR_UNSUPPORTED, "target %s has no queues: its launches are done when they return",
                            target->name);
    c->stream = context_alloc(cx, sizeof *c->stream);
    *c->stream = (tw_stream){cx, target, c->native, c->wrapped};
    cx->references++;
    return TW_OK;
}

typedef struct HomeCall {
    const char *target;
    const void *address;
    int32_t *device;
} HomeCall;

static tw_status home_body(tw_context *cx, void *user) {
    const HomeCall *c = user;
    const Target *target = target_find(c->target ? c->target : "cpu", NULL);
    if (!target) return context_fail(cx, TW_ERROR_NOT_FOUND, "there is no target `%s`", c->target);
    return target->memory ? target->memory->home(cx, c->address, c->device) : TW_OK;
}

tw_status tw_target_device_of(tw_context *cx, const char *target, const void *address, int32_t *device) {
    if (device) *device = -1;
    if (!cx || !device) return absent(cx);
    return guarded(cx, home_body, &(HomeCall){target, address, device});
}

static tw_status synchronize_body(tw_context *cx, void *user) {
    const tw_stream *stream = user;
    return stream->target->synchronize ? stream->target->synchronize(cx, user) : TW_OK;
}

static tw_status make_stream(tw_context *cx, StreamCall *call, tw_stream **out) {
    if (out) *out = NULL;
    if (!cx || !out) return absent(cx);
    tw_status status = guarded(cx, stream_body, call);
    if (status == TW_OK) *out = call->stream;
    return status;
}

tw_status tw_stream_create(tw_context *cx, const char *target, tw_stream **out) {
    return make_stream(cx, &(StreamCall){.name = target}, out);
}

tw_status tw_stream_wrap(tw_context *cx, const char *target, void *native, tw_stream **out) {
    return make_stream(cx, &(StreamCall){.name = target, .wrapped = true, .native = native}, out);
}

tw_status tw_stream_rebind(tw_stream *stream, void *native) {
    if (!stream) return TW_ERROR_ARGUMENT;
    if (!stream->wrapped) return misuse(stream->context, "only a stream that stands for the caller's is rebound");
    stream->native = native;
    return TW_OK;
}

void tw_stream_destroy(tw_stream *stream) {
    if (!stream) return;
    tw_context *cx = stream->context;
    context_free(cx, stream, sizeof *stream);
    context_drop(cx);
}

tw_status tw_stream_synchronize(tw_stream *stream) {
    if (!stream) return TW_ERROR_ARGUMENT;
    return guarded(stream->context, synchronize_body, stream);
}
