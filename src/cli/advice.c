/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c: what the command line adds to the library's messages: which option does what they speak of, and, when
 * arguments are missing, the whole command with examples of them, to copy. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void print_hints(const char *message) {
    static const struct {
        const char *words, *hint;
    } rows[] = {
        {"definition", "a definition is given with -D NAME=VALUE"},
        {"use the emulator", "the emulator is asked for with --emulate"},
        {"the sanitizer (", "the sanitizer is asked for with --sanitize"},
        {" yourself", "a constant is given with --arg NAME=VALUE"},
        {"its emitted source", "`tilewright emit --target T -o DIR` writes the emitted source"},
        {"the page `options`", "`tilewright docs options` prints that page"},
        {"it another name", "a built function is named by --name NAME"},
        {"kernel's another name", "a built function is named by --name NAME"},
        {"kernels another name", "a built function is named by --name NAME"},
        {"use target ", "a target is chosen with --target NAME"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(message, rows[i].words)) remark("hint", "%s", rows[i].hint);
}

void print_array_hints(const Session *s) {
    for (size_t i = 0; i < s->count; i++) {
        const Argument *a = &s->arguments[i];
        bool number = a->value.kind == TW_ARG_INT || a->value.kind == TW_ARG_BOOL || a->value.kind == TW_ARG_FLOAT ||
                      a->value.kind == TW_ARG_NUMBER_TYPE;
        if (number && a->info.likely_array)
            remark("hint",
                     "the kernel loads or stores through `%s`, and a number was given; an array is --arg "
                     "'%s=randn:f32[1024]'",
                     a->info.name, a->info.name);
    }
}

/* --- missing arguments --- */

static bool is_missing(const Argument *a) { return !a->info.optional && a->value.kind == TW_ARG_ABSENT; }

bool lacks_arguments(const Session *s) {
    for (size_t i = 0; i < s->count; i++)
        if (is_missing(&s->arguments[i])) return true;
    return false;
}

static bool takes_array(const tw_param_info *info) {
    return info->kind == TW_PARAM_POINTER || info->kind == TW_PARAM_TENSOR || info->likely_array;
}

/* The second of `stride_am, stride_ak`: they differ in their last letter. */
static bool is_inner_stride(const Session *s, size_t i) {
    const char *name = s->arguments[i].info.name, *before = i ? s->arguments[i - 1].info.name : "";
    size_t length = strlen(name);
    return strstr(name, "stride") && strlen(before) == length && strncmp(name, before, length - 1) == 0;
}

/* What names usually mean: a word anywhere in one, or, before a blank, at its beginning. */
typedef struct Usual {
    const char *word, *value;
} Usual;

static bool has_word(const char *name, const char *word) {
    size_t length = strcspn(word, " ");
    for (const char *at = name; *at; at++) {
        if (strncasecmp(at, word, length) == 0) return true;
        if (word[length]) return false;
    }
    return false;
}

static const char *usual_value(const char *name, const Usual *rows, size_t count, const char *otherwise) {
    for (size_t i = 0; i < count; i++)
        if (has_word(name, rows[i].word)) return rows[i].value;
    return otherwise;
}

/* The sizes fit each other: 128 rows of stride 128 lie inside of 65536 elements. */
static const char *example_number(const char *name) {
    static const Usual rows[] = {{"stages", "2"},  {"warps", "4"},    {"eps", "1e-5"},    {"dtype", "float32"},
                                 {"scale", "0.5"}, {"smooth", "0.5"}, {"dropout", "0.5"}, {"alpha ", "0.5"},
                                 {"beta ", "0.5"}, {"is_ ", "false"}, {"has_ ", "false"}, {"use_ ", "false"}};
    return usual_value(name, rows, sizeof rows / sizeof *rows, "128");
}

/* The kind of an array, and its element type where the kernel states none. */
static const char *example_array(const char *name, bool typed) {
    static const Usual rows[] = {{"label", "randint(128):i64"},  {"target", "randint(128):i64"},
                                 {"indic", "randint(128):i32"},  {"index", "randint(128):i32"},
                                 {"idx", "randint(128):i32"},    {"seqlen", "randint(128):i32"},
                                 {"offset", "randint(128):i32"}, {"mask", "ones:i1"}};
    return typed ? "randn:" : usual_value(name, rows, sizeof rows / sizeof *rows, "randn:f32");
}

/* A number's type, from what its name usually means. */
static const char *example_type(const char *name) {
    const char *number = example_number(name);
    return strpbrk(number, ".e") ? "f32" : strcmp(number, "false") == 0 ? "i1" : "i32";
}

static tw_arg example_value(const char *text) {
    char *end;
    double number = strtod(text, &end);
    bool words = *end || end == text, yes = strcmp(text, "true") == 0, no = strcmp(text, "false") == 0;
    tw_arg value = {.kind = strpbrk(text, ".e") ? TW_ARG_FLOAT : TW_ARG_INT};
    if (words) value.kind = yes || no ? TW_ARG_BOOL : TW_ARG_TEXT;
    if (value.kind == TW_ARG_TEXT)
        value.value.text = text;
    else if (value.kind == TW_ARG_FLOAT)
        value.value.f = number;
    else
        value.value.i = words ? yes : (int64_t)number;
    return value;
}

/* The kernel with example numbers for what is missing, of which the arrays that its source states are known; NULL
 * where that cannot be compiled. */
static tw_kernel *example_kernel(Session *s, const Options *o) {
    tw_compile_options options;
    tw_kernel *kernel = NULL;
    session_compile_options(s, o, o->target, TW_STAGE_IR, &options);
    for (size_t i = 0; i < s->count; i++)
        if (is_missing(&s->arguments[i]) && !takes_array(&s->arguments[i].info))
            s->values[i] = example_value(example_number(s->arguments[i].info.name));
    tw_kernel_compile(s->module, tw_module_kernel_name(s->module, s->index), &options, &kernel);
    return kernel;
}

static bool is_stated(const tw_kernel *kernel, size_t i, tw_shape_info *shape) {
    *shape = (tw_shape_info){.struct_size = sizeof *shape};
    return kernel && tw_kernel_shape_at(kernel, i, shape) == TW_OK;
}

static void print_stated(FILE *out, const char *name, const tw_shape_info *shape) {
    fprintf(out, " --arg '%s=randn:%s[", name, tw_dtype_name(shape->dtype));
    for (int d = 0; d < shape->rank; d++) {
        long long any = d < shape->rank - 2 ? 1 : 128;
        fprintf(out, "%s%lld", d ? "," : "", shape->extents[d] < 0 ? any : (long long)shape->extents[d]);
    }
    fprintf(out, "]'");
}

/* `launches`: values; else types will do where no constant is asked for. */
static void print_example(FILE *out, const Session *s, const tw_kernel *example, size_t i, bool launches) {
    const tw_param_info *info = &s->arguments[i].info;
    tw_shape_info shape;
    if (takes_array(info) && is_stated(example, i, &shape)) {
        if (launches) print_stated(out, info->name, &shape); /* else the source says enough */
        return;
    }
    bool array = takes_array(info), open = info->kind != TW_PARAM_TENSOR;
    if (!launches && info->kind != TW_PARAM_CONSTANT && open) {
        const char *kind = example_array(info->name, false), *colon = strchr(kind, ':');
        const char *type = info->dtype ? tw_dtype_name(info->dtype) : array ? colon + 1 : example_type(info->name);
        fprintf(out, array ? " --arg '%s=*%s'" : " --arg %s=%s", info->name, type);
        return;
    }
    if (!takes_array(info)) {
        fprintf(out, " --arg %s=%s", info->name, is_inner_stride(s, i) ? "1" : example_number(info->name));
        return;
    }
    int rank = info->kind == TW_PARAM_TENSOR && info->rank > 0 ? info->rank : 1;
    fprintf(out, " --arg '%s=%s%s[", info->name, example_array(info->name, info->dtype != TW_DTYPE_ANY),
            info->dtype ? tw_dtype_name(info->dtype) : "");
    for (int d = 0; d < rank; d++)
        fprintf(out, "%s%s", d ? "," : "", rank == 1 ? "65536" : d < rank - 2 ? "1" : "128");
    fprintf(out, "]'");
}

/* A word as a shell reads it back. */
static void print_word(FILE *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputc('\'', out);
}

static void print_words(FILE *out, const Options *o, int from, int to) {
    for (int i = from; i < to; i++) {
        fputc(' ', out);
        print_word(out, o->words[i]);
    }
}

static bool session_runs(const Options *o) {
    static const char *const names[] = {"run", "check", "bench", "tune"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(o->command, names[i]) == 0) return true;
    return false;
}

int fail_missing(Session *s, const Options *o) {
    const char *kernel = tw_module_kernel_name(s->module, s->index);
    const char *near =
        strstr(tw_context_message(s->context), "; a definition of "); /* misspelled, the library thinks */
    char *misspelled = near ? copy_bytes(near + 2, strlen(near + 2)) : NULL;
    bool launches = session_runs(o);
    bool grid = launches && !o->grid && !tw_module_kernel_has_grid(s->module, s->index);
    tw_config_info config = {.struct_size = sizeof config};
    tw_kernel *example = example_kernel(s, o);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return fail("out of memory");
    fprintf(out, "kernel `%s` lacks arguments:", kernel);
    const char *between = "";
    for (size_t i = 0; i < s->count; i++) {
        const Argument *a = &s->arguments[i];
        tw_shape_info shape;
        if (!is_missing(a) || (!launches && takes_array(&a->info) && is_stated(example, i, &shape))) continue;
        fprintf(out, "%s %s (%s)", between, a->info.name,
                takes_array(&a->info)               ? "an array"
                : a->info.kind == TW_PARAM_CONSTANT ? "a constant"
                                                    : "a number");
        between = ",";
    }
    fputs(FIX "for example:\n ", out);
    int options = 0; /* behind which new ones can stand */
    while (options < o->word_count && strcmp(o->words[options], "--") != 0) options++;
    print_words(out, o, 0, options);
    for (size_t i = 0; i < s->count; i++)
        if (is_missing(&s->arguments[i])) print_example(out, s, example, i, launches);
    if (grid) fputs(" --grid 1", out);
    print_words(out, o, options, o->word_count);
    fclose(out);
    tw_kernel_destroy(example);
    remark("error", "%s", text);
    free(text);
    if (misspelled) remark("hint", "%s", misspelled);
    free(misspelled);
    if (tw_module_config_at(s->module, s->index, 0, &config) == TW_OK && !o->config)
        remark("hint", "--config N takes constants from the kernel's configurations (`tilewright list` shows them)");
    return 1;
}
