/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c: what --arg says, as numbers and arrays; the life of a run's objects.
 *
 * SPEC is a number, true, false, none, any other word (a string; one that begins with a bracket is Python, for kernels
 * that are), or an array:
 *
 *     KIND:DTYPE[EXTENTS]      KIND: randn, rand, randint(N), zeros, ones, empty, arange or full(V); extents are
 *                              expressions over other arguments
 *     file:X.npy[:DTYPE]
 *
 * or, for commands that run nothing, a type: *DTYPE for an array, DTYPE for a number.
 *
 * Random arrays take the seed N + i, where N is --seed and i the parameter's place, so each has
 * its own numbers and keeps them when others change. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_kind(const char *spec, size_t length) {
    static const char *const kinds[] = {"randn", "rand", "zeros", "ones", "arange", "full", "randint", "empty"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i]) == length && strncmp(spec, kinds[i], length) == 0) return true;
    return false;
}

/* Also what is meant as an array and written wrong: a known kind or a known dtype behind the colon. */
static bool is_array(const char *spec) {
    size_t length = strcspn(spec, ":(");
    const char *colon = strchr(spec, ':');
    if (!spec[length]) return false;
    if (is_kind(spec, length) || strncmp(spec, "file:", 5) == 0) return true;
    char *dtype = colon ? copy_bytes(colon + 1, strcspn(colon + 1, "[")) : NULL;
    bool known = dtype && tw_dtype_find(dtype) != TW_DTYPE_ANY;
    free(dtype);
    return known;
}

/* "*f32", and, where the kernel takes no constant, "i32"; false: it is no type. */
static bool parse_type(const Argument *a, tw_arg *arg) {
    bool array = *a->spec == '*';
    int32_t dtype = tw_dtype_find(a->spec + array);
    if (!dtype || (!array && a->info.kind == TW_PARAM_CONSTANT)) return false;
    *arg = (tw_arg){.kind = array ? TW_ARG_ARRAY_TYPE : TW_ARG_NUMBER_TYPE};
    arg->value.i = dtype;
    return true;
}

static tw_arg parse_number(const char *spec) {
    tw_arg arg = {.kind = TW_ARG_TEXT};
    char *end = NULL;
    arg.value.text = spec;
    if (strcmp(spec, "none") == 0 || strcmp(spec, "None") == 0) arg.kind = TW_ARG_NONE;
    bool yes = strcmp(spec, "true") == 0 || strcmp(spec, "True") == 0;
    if (yes || strcmp(spec, "false") == 0 || strcmp(spec, "False") == 0) {
        arg.kind = TW_ARG_BOOL;
        arg.value.i = yes;
        return arg;
    }
    errno = 0;
    long long i = strtoll(spec, &end, 0);
    if (end != spec && !*end) { /* one that does not fit is no number at all, least of all a rounded one */
        arg.kind = errno ? TW_ARG_ABSENT : TW_ARG_INT;
        arg.value.i = i;
        return arg;
    }
    double f = strtod(spec, &end);
    if (end != spec && !*end) {
        arg.kind = TW_ARG_FLOAT;
        arg.value.f = f;
    }
    return arg;
}

static int bad_spec(const Argument *a, const char *why) { return fail("--arg %s=%s: %s", a->info.name, a->spec, why); }

static int bad_buffer(const Session *s, const Argument *a, tw_status status) {
    const char *why = tw_context_message(s->context);
    return status == TW_ERROR_INTERNAL ? fail_status(s->context, status)
                                       : bad_spec(a, *why ? why : tw_status_text(status));
}

static const char known_dtypes[] = "the dtype is not known; there are i1, i8..i64, u8..u64, f16, bf16, "
                                   "f32, f64, f8e4m3, f8e5m2, f8e4b8, f8e5b16, f8e4b15";

static char *describe_spec(const Argument *a) {
    size_t size = strlen(a->info.name) + strlen(a->spec) + sizeof "--arg =";
    char *text = get_memory(size);
    snprintf(text, size, "--arg %s=%s", a->info.name, a->spec);
    return text;
}

/* A machine that has given out more than it has ends processes, which say nothing then. An array is kept as it is
 * given, as it was before the launch, and as the kernel sees it. */
static int check_room(Session *s, const Argument *a, int32_t dtype, int rank, const int64_t *shape) {
    enum { COPIES = 3 };
    double bytes = (double)tw_dtype_size(dtype), have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (int d = 0; d < rank; d++) bytes *= shape[d] > 0 ? (double)shape[d] : 0;
    s->bytes += bytes;
    if (COPIES * s->bytes <= have) return 0;
    char why[160];
    snprintf(why, sizeof why, "it takes %.3g GB, with the copies that are kept %.3g GB; this machine has %.3g GB",
             bytes / 1e9, COPIES * bytes / 1e9, have / 1e9);
    return bad_spec(a, why);
}

/* "KIND[(V)]:DTYPE[EXTENTS]" */
static int make_array(Session *s, Argument *a, uint64_t seed, bool data) {
    size_t length = strcspn(a->spec, ":(");
    char *kind = copy_bytes(a->spec, length);
    const char *at = a->spec + length;
    double value = 0;
    int status = 0;
    if (!is_kind(kind, length))
        status = bad_spec(a, "arrays are randn, rand, randint(N), zeros, ones, empty, arange, full(V) "
                             "and file:X.npy");
    else if (strcmp(kind, "full") == 0 && *at != '(')
        status = bad_spec(a, "a value is expected, as in full(1.5):f32[1024]");
    else if (strcmp(kind, "randint") == 0 && *at != '(')
        status = bad_spec(a, "a bound is expected: randint(10):i32[1024] has the numbers 0 to 9");
    if (!status && *at == '(') {
        char *end = NULL;
        value = strtod(at + 1, &end);
        if (end == at + 1 || *end != ')')
            status = bad_spec(a, "a number in parentheses is expected, as in full(1.5)");
        else
            at = end + 1;
    }
    if (!status && *at != ':') status = bad_spec(a, "a dtype is expected, as in randn:f32[1024]");
    size_t name_length = status ? 0 : strcspn(at + 1, "[");
    char *name = copy_bytes(status ? "" : at + 1, name_length);
    int32_t dtype = tw_dtype_find(name);
    if (!status && dtype == TW_DTYPE_ANY)
        status = bad_spec(a, known_dtypes);
    int64_t shape[TW_MAX_RANK];
    int rank = 0;
    char *where = describe_spec(a);
    for (at += 1 + name_length; !status && (*at == '[' || *at == ',');) {
        if (at[1] == ']' && rank == 0) {
            at++;
            break;
        }
        if (rank == TW_MAX_RANK)
            status = bad_spec(a, "an array has at most 8 extents");
        else if (!evaluate(where, at + 1, &s->names, &shape[rank++], &at))
            status = 1;
    }
    if (!status && strcmp(at, "]") != 0) status = bad_spec(a, "extents in brackets are expected, as in f32[128, 64]");
    if (!status && data) status = check_room(s, a, dtype, rank, shape);
    if (!status) {
        tw_status made = tw_buffer_create(s->context, dtype, rank, shape, NULL, &a->host);
        if (made == TW_OK && data) made = tw_buffer_fill(a->host, kind, value, seed);
        if (made != TW_OK) status = bad_buffer(s, a, made);
    }
    free(where);
    free(name);
    free(kind);
    return status;
}

/* "file:X.npy[:DTYPE]" */
static int load_array(Session *s, Argument *a) {
    const char *path = a->spec + 5, *colon = strrchr(path, ':');
    if (!*path) return bad_spec(a, "the name of a file is expected, as in file:x.npy");
    int32_t dtype = colon ? tw_dtype_find(colon + 1) : TW_DTYPE_ANY;
    char *file = copy_bytes(path, dtype ? (size_t)(colon - path) : strlen(path));
    if (!dtype && a->info.dtype) dtype = a->info.dtype; /* raw items take the parameter's type */
    tw_status status = tw_buffer_load_npy(s->context, file, dtype, &a->host);
    free(file);
    return status == TW_OK ? 0 : bad_buffer(s, a, status);
}

static char *join_names(const char *const *names, size_t count) {
    size_t length = 1;
    for (size_t i = 0; i < count; i++) length += strlen(names[i]) + 2;
    char *text = get_memory(length), *at = text;
    for (size_t i = 0; i < count; i++) at += sprintf(at, "%s%s", i ? ", " : "", names[i]);
    return text;
}

Argument *session_argument(Session *s, const char *name) {
    const char **names = get_memory(s->count * sizeof *names);
    Argument *found = NULL;
    for (size_t i = 0; i < s->count; i++) {
        names[i] = s->arguments[i].info.name;
        if (strcmp(names[i], name) == 0) found = &s->arguments[i];
    }
    if (!found) {
        const char *near = nearest(name, names, s->count), *kernel = tw_module_kernel_name(s->module, s->index);
        char *all = join_names(names, s->count);
        if (near)
            fail("kernel `%s` has no argument `%s`" FIX "did you mean `%s`?", kernel, name, near);
        else
            fail("kernel `%s` has no argument `%s`; it has %s", kernel, name, *all ? all : "none");
        free(all);
    }
    free(names);
    return found;
}

static void add_name(Session *s, const char *name, int64_t value) {
    Name *more = get_memory((s->names.count + 1) * sizeof *more);
    if (s->names.count) memcpy(more, s->names.at, s->names.count * sizeof *more);
    free(s->names.at);
    s->names.at = more;
    more[s->names.count++] = (Name){name, value};
}

static const char *tuned_path(const Options *o) { return o->tuned ? o->tuned : getenv("TILEWRIGHT_TUNED"); }

/* A name that a message is about may stand in no word of the command, but in a file. */
static void say_tuned(const Session *s, const Options *o, const char *name) {
    remark("hint", "`%s` is of the choice for kernel `%s` in %s", name,
           tw_module_kernel_name(s->module, s->index), tuned_path(o));
}

/* --tuned: a choice that was made before, beneath what the command says itself. */
static int apply_tuned(Session *s, const Options *o) {
    const char *path = tuned_path(o);
    if (!path || !*path || o->config) return 0;
    int status = 0;
    char *name = tuned_name(o->file, tw_module_kernel_name(s->module, s->index));
    bool found = tuned_find(path, name, o->target, &s->tuned, &status);
    if (!found && !status && o->tuned)
        status = fail("%s has no choice for kernel `%s` on target %s" FIX "make one with `tilewright tune`", path, name,
                      o->target);
    free(name);
    for (size_t i = 0; i < s->tuned.values.count && !status; i++) {
        Argument *a = session_argument(s, s->tuned.values.at[i].name);
        if (!a) {
            say_tuned(s, o, s->tuned.values.at[i].name);
            return 1;
        }
        if (!a->spec) a->spec = s->tuned.values.at[i].value;
    }
    return status;
}

/* --config N: as if its constants had been given with --arg and its options with --set. */
static int apply_config(Session *s, const Options *o) {
    tw_config_info config = {.struct_size = sizeof config};
    if (o->config) {
        tw_status status = tw_module_config_at(s->module, s->index, (size_t)o->config - 1, &config);
        if (status != TW_OK) return fail_status(s->context, status);
    }
    size_t tuned = s->tuned.options.count;
    s->sets.at = get_memory((tuned + config.option_count + o->sets.count + 2) * sizeof *s->sets.at);
    for (size_t i = 0; i < tuned; i++) s->sets.at[s->sets.count++] = s->tuned.options.at[i];
    for (size_t i = 0; i < config.option_count; i++) s->sets.at[s->sets.count++] = config.options[i];
    for (size_t i = 0; i < o->sets.count; i++) s->sets.at[s->sets.count++] = o->sets.at[i];
    for (size_t i = 0; i < config.value_count; i++) {
        Argument *a = session_argument(s, config.values[i].name);
        if (!a) return 1;
        if (a->spec)
            return fail("--arg %s is given, and configuration %ld sets it" FIX "leave one out", a->info.name,
                        o->config);
        a->spec = config.values[i].value;
    }
    return 0;
}

/* Constants that the source computes from the others. */
static int complete_arguments(Session *s) {
    for (size_t i = 0; i < s->count; i++) s->values[i] = s->arguments[i].value;
    tw_status status = tw_module_complete_args(s->module, s->index, s->values, s->count);
    if (status != TW_OK) return fail_status(s->context, status);
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (a->value.kind != TW_ARG_ABSENT || s->values[i].kind == TW_ARG_ABSENT) continue;
        a->value = s->values[i];
        if (a->value.kind == TW_ARG_INT || a->value.kind == TW_ARG_BOOL) add_name(s, a->info.name, a->value.value.i);
    }
    return 0;
}

static int parse_arguments(Session *s, const Options *o, bool data) {
    for (size_t i = 0; i < o->args.count; i++) {
        Argument *a = session_argument(s, o->args.at[i].name);
        if (!a) return 1;
        if (a->spec) return fail("--arg %s is given twice", o->args.at[i].name);
        a->spec = o->args.at[i].value;
    }
    if (apply_tuned(s, o) || apply_config(s, o)) return 1;
    for (size_t i = 0; i < o->defines.count; i++) {
        tw_arg value = parse_number(o->defines.at[i].value);
        if (value.kind == TW_ARG_ABSENT)
            return fail("-D %s=%s: the number does not fit 64 bits", o->defines.at[i].name, o->defines.at[i].value);
        if (value.kind == TW_ARG_INT) add_name(s, o->defines.at[i].name, value.value.i);
    }
    /* Numbers first: extents may name them. */
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (!a->spec || is_array(a->spec)) continue;
        if (parse_type(a, &a->value)) {
            if (data)
                return bad_spec(a, "a type is enough to compile, and a launch needs the number or the array itself" FIX
                                   "give a number, or an array such as rand:f32[1024]");
            continue;
        }
        if (*a->spec == '*') return bad_spec(a, known_dtypes);
        a->value = parse_number(a->spec);
        if (a->value.kind == TW_ARG_ABSENT) return bad_spec(a, "the number does not fit 64 bits");
        bool wants_array = a->info.kind == TW_PARAM_POINTER || a->info.kind == TW_PARAM_TENSOR;
        if (a->value.kind == TW_ARG_TEXT && wants_array)
            return bad_spec(a, "the kernel takes an array there, with its dtype and extents, as in randn:f32[1024]");
        if (a->value.kind == TW_ARG_TEXT && a->info.likely_array)
            return bad_spec(a, "the kernel loads or stores through it: an array is expected, as in randn:f32[1024]");
        if (a->value.kind == TW_ARG_INT || a->value.kind == TW_ARG_BOOL) add_name(s, a->info.name, a->value.value.i);
    }
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (!a->spec || !is_array(a->spec)) continue;
        bool file = strncmp(a->spec, "file:", 5) == 0;
        int status = file ? load_array(s, a) : make_array(s, a, o->seed + i, data);
        if (status) return status;
        a->value.kind = TW_ARG_BUFFER;
        a->value.value.buffer = a->host;
    }
    return complete_arguments(s);
}

/* --- session --- */

static void print_text(void *user, const char *text, size_t length) {
    const Session *s = user;
    if (s->speech) say_speech(s->speech, text, length);
}

tw_status load_source(tw_context *cx, const Options *o, tw_module **module) {
    tw_module_options options;
    tw_module_options_init(&options);
    const char **folders = get_memory((o->includes.count + 1) * sizeof *folders);
    for (size_t i = 0; i < o->includes.count; i++) folders[i] = o->includes.at[i].name;
    options.defines = o->defines.at;
    options.define_count = o->defines.count;
    options.include_folders = folders;
    options.include_count = o->includes.count;
    options.include_anywhere = o->include_anywhere;
    tw_status status = tw_module_load_file(cx, o->file, &options, module);
    free(folders);
    return status;
}

int session_choose(Session *s, const Options *o) {
    size_t kernels = tw_module_kernel_count(s->module);
    s->index = o->kernel ? tw_module_kernel_find(s->module, o->kernel) : 0;
    if (s->index < kernels && (o->kernel || kernels <= 1)) return 0;
    /* The library knows how to say which kernels there are. */
    tw_status status = tw_kernel_compile(s->module, o->kernel, NULL, &s->kernel);
    return fail_status(s->context, status == TW_OK ? TW_ERROR_INTERNAL : status);
}

int session_open(Session *s, const Options *o, bool data) { return session_open_in(s, o, data, NULL); }

static tw_status open_context(Session *s) {
    tw_context_options own;
    tw_context_options_init(&own);
    own.print = print_text;
    own.print_user = s;
    tw_status status = tw_context_create(&own, &s->context);
    if (status == TW_OK) signals_watch(s->context);
    return status;
}

int session_open_in(Session *s, const Options *o, bool data, tw_context *shared) {
    *s = (Session){.context = shared, .borrows = shared != NULL};
    s->speech = data && !o->json ? stdout : stderr; /* what is shown is not mixed with what the source says */
    tw_status status = shared ? TW_OK : open_context(s);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    status = load_source(s->context, o, &s->module);
    if (status != TW_OK) return fail_status(s->context, status);
    print_warnings(s->context);
    if (session_choose(s, o)) return 1;
    s->count = tw_module_param_count(s->module, s->index);
    s->arguments = get_memory(s->count * sizeof *s->arguments);
    s->values = get_memory(s->count * sizeof *s->values);
    for (size_t i = 0; i < s->count; i++) {
        s->arguments[i].info.struct_size = sizeof s->arguments[i].info;
        tw_module_param_at(s->module, s->index, i, &s->arguments[i].info);
    }
    return parse_arguments(s, o, data);
}

void session_compile_options(Session *s, const Options *o, const char *target, int stage, tw_compile_options *options) {
    tw_compile_options_init(options);
    for (size_t i = 0; i < s->count; i++) s->values[i] = s->arguments[i].value;
    options->target = target;
    options->args = s->values;
    options->arg_count = s->count;
    options->options = s->sets.at;
    options->option_count = s->sets.count;
    bool reference = target != o->target; /* runs as written, whatever was asked for the other */
    if (reference) s->sets.at[options->option_count++] = (tw_pair){"passes", "off"};
    options->passes = o->passes;
    options->stop_after = o->stop_after;
    options->stage = stage;
    options->emulate = o->emulate && !reference;
    options->sanitize = o->sanitize && !reference;
    options->verify_each = o->verify_each;
    options->keep_ir = stage == TW_STAGE_IR;
}

int session_fail(Session *s, const Options *o, tw_status status) {
    if (status == TW_ERROR_ARGUMENT && lacks_arguments(s)) return fail_missing(s, o);
    int code = fail_status(s->context, status);
    for (size_t i = 0; i < s->tuned.options.count; i++) {
        const char *name = s->tuned.options.at[i].name, *said = tw_context_message(s->context);
        const char *at = strstr(said, name);
        if (at && at > said && at[-1] == '`' && at[strlen(name)] == '`') say_tuned(s, o, name);
    }
    if (status == TW_ERROR_SOURCE) print_array_hints(s);
    return code;
}

int session_compile(Session *s, const Options *o, const char *target, int stage) {
    tw_compile_options options;
    session_compile_options(s, o, target, stage, &options);
    tw_kernel_destroy(s->kernel);
    s->kernel = NULL;
    tw_status status = tw_kernel_compile(s->module, tw_module_kernel_name(s->module, s->index), &options, &s->kernel);
    if (status != TW_OK && s->explains)
        fputs(o->json ? tw_context_findings_json(s->context) : tw_context_findings(s->context), stdout);
    if (status != TW_OK) return session_fail(s, o, status);
    print_warnings(s->context);
    if (o->time_passes) print_pass_times(s);
    return 0;
}

/* Gives up the buffer of the last run. */
static void release_fresh(Argument *a) {
    if (a->value.kind != TW_ARG_BUFFER || a->value.value.buffer == a->host) return;
    tw_buffer_destroy(a->value.value.buffer);
    guarded_free(a->memory);
    a->memory = NULL;
    a->value.value.buffer = a->host;
}

void session_close(Session *s) {
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        release_fresh(a);
        tw_buffer_destroy(a->host);
        tw_buffer_destroy(a->before);
    }
    free(s->arguments);
    free(s->values);
    free(s->names.at);
    free(s->sets.at);
    choice_free(&s->tuned);
    tw_kernel_destroy(s->kernel);
    tw_module_destroy(s->module);
    if (s->borrows) return;
    signals_watch(NULL);
    tw_context_destroy(s->context);
}

/* Copies all elements from one buffer to another of the same shape. */
static tw_status copy_buffer(tw_buffer *to, tw_buffer *from) {
    size_t size = (size_t)tw_buffer_elements(from) * tw_dtype_size(tw_buffer_dtype(from));
    void *bytes = get_memory(size);
    tw_status status = tw_buffer_read(from, bytes, size);
    if (status == TW_OK) status = tw_buffer_write(to, bytes, size);
    free(bytes);
    return status;
}

static tw_status new_like(tw_context *cx, const tw_buffer *model, const char *target, tw_buffer **out) {
    tw_buffer_options options;
    tw_buffer_options_init(&options);
    options.target = target;
    return tw_buffer_create(cx, tw_buffer_dtype(model), tw_buffer_rank(model), tw_buffer_shape(model), &options, out);
}

/* The buffer of a run: on a device, or on the host between guards. */
static tw_status make_fresh(Session *s, Argument *a, const char *target, bool host) {
    tw_buffer *fresh = NULL;
    tw_status status = TW_OK;
    release_fresh(a);
    if (!host) {
        status = new_like(s->context, a->before, target, &fresh);
    } else {
        tw_buffer_options options;
        tw_buffer_options_init(&options);
        options.size = (size_t)tw_buffer_elements(a->before) * tw_dtype_size(tw_buffer_dtype(a->before));
        a->memory = guarded_new(options.size, a->info.name);
        if (!a->memory) return TW_ERROR_MEMORY;
        options.data = guarded_data(a->memory);
        status = tw_buffer_create(s->context, tw_buffer_dtype(a->before), tw_buffer_rank(a->before),
                                  tw_buffer_shape(a->before), &options, &fresh);
    }
    if (status == TW_OK) {
        a->value.value.buffer = fresh;
    } else {
        guarded_free(a->memory);
        a->memory = NULL;
    }
    return status;
}

bool has_memory(const char *target) {
    static const char *const names[] = {"cuda", "hip"};
    size_t length = strcspn(target, ":");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (length == strlen(names[i]) && strncmp(target, names[i], length) == 0) return true;
    return false;
}

int session_upload(Session *s, const char *target) {
    bool host = !has_memory(target);
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (a->value.kind != TW_ARG_BUFFER) continue;
        tw_status status = TW_OK;
        if (!a->before) {
            status = new_like(s->context, a->host, NULL, &a->before);
            if (status == TW_OK) status = copy_buffer(a->before, a->host);
        }
        if (status == TW_OK) status = make_fresh(s, a, target, host);
        if (status == TW_OK) {
            tw_buffer *fresh = a->value.value.buffer;
            bool empty = host && strncmp(a->spec, "empty:", 6) == 0;
            status = empty ? tw_buffer_fill(fresh, "empty", 0, 0) : copy_buffer(fresh, a->before);
        }
        if (status != TW_OK) return fail_status(s->context, status);
        s->values[i] = a->value;
    }
    return 0;
}

int session_download(Session *s) {
    for (size_t i = 0; i < s->count; i++) {
        Argument *a = &s->arguments[i];
        if (a->value.kind != TW_ARG_BUFFER) continue;
        tw_status status = copy_buffer(a->host, a->value.value.buffer);
        if (status != TW_OK) return fail_status(s->context, status);
    }
    return 0;
}

int session_grid(Session *s, const Options *o, int64_t grid[3], bool *own) {
    grid[0] = grid[1] = grid[2] = 1;
    *own = !o->grid;
    if (*own) {
        if (tw_kernel_has_grid(s->kernel)) {
            tw_status status = tw_kernel_grid(s->kernel, s->values, s->count, grid);
            return status == TW_OK ? 0 : fail_status(s->context, status);
        }
        return fail("kernel `%s` does not state its grid" FIX "say it with --grid, as in --grid "
                    "'cdiv(n, BLOCK)'",
                    tw_kernel_name(s->kernel));
    }
    const char *at = o->grid;
    char where[200];
    snprintf(where, sizeof where, "--grid %s", o->grid);
    for (int d = 0;; d++, at++) {
        if (d == 3) return fail("--grid %s: a grid has at most 3 extents", o->grid);
        if (!evaluate(where, at, &s->names, &grid[d], &at)) return 1;
        if (!*at) return 0;
        if (*at != ',') return fail("--grid %s: extents are separated by commas", o->grid);
    }
}

void print_pass_times(const Session *s) {
    tw_pass_info info = {.struct_size = sizeof info};
    double total = 0;
    for (size_t i = 0; tw_kernel_pass_at(s->kernel, i, &info) == TW_OK; i++) {
        printf("%-10s %9.3f ms\n", info.name, info.seconds * 1e3);
        if (strcmp(info.name, "emit") != 0 && strcmp(info.name, "build") != 0) total += info.seconds;
    }
    printf("%-10s %9.3f ms   (front end and passes)\n", "total", total * 1e3);
}
