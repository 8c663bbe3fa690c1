/* SPDX-License-Identifier: Apache-2.0 */
/* options.c: the compile options (`--set NAME=VALUE`), from one list (options.def). */
#include "runtime/api/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct OptionRow {
    const char *name, *values, *about;
    long long least, most;
    void (*set)(tw_kernel *k, long long value);
    void (*set_text)(tw_kernel *k, const char *text); /* NULL: a number, or a word that stands for one */
} OptionRow;

#define OPTION(name, values, least, most, statement, about) \
    static void set_##name(tw_kernel *k, long long value) { statement; }
#define TEXT_OPTION(name, values, field, about) \
    static void set_##name(tw_kernel *k, const char *text) { \
        k->field = arena_string(&k->arena, text, strlen(text)); \
    }
#include "runtime/api/options.def"
#undef OPTION
#undef TEXT_OPTION

static const OptionRow rows[] = {
#define OPTION(name, values, least, most, statement, about) {#name, values, about, least, most, set_##name, NULL},
#define TEXT_OPTION(name, values, field, about) {#name, values, about, 0, 0, NULL, set_##name},
#include "runtime/api/options.def"
#undef OPTION
#undef TEXT_OPTION
};
enum { ROWS = sizeof rows / sizeof *rows };

bool option_info(size_t index, tw_option_info *info) {
    if (index >= ROWS) return false;
    info->name = rows[index].name;
    info->values = rows[index].values;
    info->about = rows[index].about;
    return true;
}

/* Is the number one of those that the row lists ("0, 128, 256 or 512")? Rows in words list none. */
static bool is_listed(const OptionRow *row, long long value) {
    if (row->values[0] < '0' || row->values[0] > '9') return true;
    for (const char *s = row->values; *s; s++) {
        char *end;
        if (*s < '0' || *s > '9') continue;
        if (strtoll(s, &end, 10) == value) return true;
        s = end - 1;
    }
    return false;
}

/* A word of "auto, contiguous, strided, rect or block_linear": its place; -1: none. */
static long long place_among(const char *values, const char *text) {
    size_t length = strlen(text);
    long long place = 0;
    for (const char *at = values; *at; place++) {
        size_t n = strcspn(at, ", ");
        if (n == length && strncmp(at, text, n) == 0) return place;
        at += n;
        at += strspn(at, ", ");
        if (strncmp(at, "or ", 3) == 0) at += 3;
    }
    return -1;
}

/* "8x4" is 8 * 65536 + 4; most: of both, 0: what fits. */
static bool parse_pair(const char *text, long long most, long long *value) {
    char *end = NULL;
    long long x = strtoll(text, &end, 10), y = *end == 'x' ? strtoll(end + 1, &end, 10) : 0;
    if (*end != 0 || x < 1 || x >= 32768 || y < 1 || y >= 65536 || (most && (x > most || y > most))) return false;
    *value = x * 65536 + y;
    return true;
}

/* "auto" is -1, on and off are 1 and 0; words are their places in the list; else an integer. */
static bool parse(const OptionRow *row, const char *text, long long *value) {
    bool is_pair = strncmp(row->values, "columns x rows", 14) == 0 || strncmp(row->values, "rows x columns", 14) == 0;
    if (is_pair) return parse_pair(text, row->most, value);
    bool switchable = strncmp(row->values, "auto, on", 8) == 0;
    if (strncmp(row->values, "auto", 4) == 0 && !switchable) {
        *value = place_among(row->values, text);
        return *value >= 0;
    }
    if (switchable && strcmp(text, "auto") == 0)
        *value = -1;
    else if (strcmp(text, "on") == 0 || strcmp(text, "true") == 0)
        *value = 1;
    else if (strcmp(text, "off") == 0 || strcmp(text, "false") == 0)
        *value = 0;
    else {
        char *end = NULL;
        errno = 0;
        *value = strtoll(text, &end, 10);
        if (errno || end == text || *end) return false;
    }
    return *value >= row->least && *value <= row->most && is_listed(row, *value);
}

tw_status options_apply(tw_kernel *k, const tw_pair *options, size_t count) {
    tw_context *cx = k->context;
    for (size_t i = 0; i < count; i++) {
        const OptionRow *row = NULL;
        for (int r = 0; r < ROWS && !row; r++)
            if (strcmp(rows[r].name, options[i].name) == 0) row = &rows[r];
        if (!row) {
            const char *names[ROWS];
            for (int r = 0; r < ROWS; r++) names[r] = rows[r].name;
            const char *near = text_nearest(options[i].name, names, ROWS);
            return near ? context_fail(cx, TW_ERROR_NOT_FOUND, "there is no option `%s`" FIX "did you mean `%s`?",
                                       options[i].name, near)
                        : context_fail(cx, TW_ERROR_NOT_FOUND, "there is no option `%s`; the page `options` lists them",
                                       options[i].name);
        }
        long long value = 0;
        if (row->set_text) {
            row->set_text(k, options[i].value);
            continue;
        }
        if (!parse(row, options[i].value, &value))
            return context_fail(cx, TW_ERROR_ARGUMENT, "option %s takes %s, not `%s`", row->name, row->values,
                                options[i].value);
        row->set(k, value);
    }
    return TW_OK;
}
