/* SPDX-License-Identifier: Apache-2.0 */
/* tuned.c: choices that `tune` made, in files that Python's kernel.pin and TILEWRIGHT_TUNED read too:
 *
 *     {"kernels": {"add.add_kernel": [{"key": null, "target": "cpu", "values": {"BLOCK": 128},
 *                                      "options": {"num_warps": 4}, "us": 12.5}, ..]}}
 *
 * A kernel is called after its file and its name; a target has one row. Rows of others stay as they are, as text. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- JSON that is read: a value is a part of the text --- */

enum { MAX_DEPTH = 64 };

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\n"); }

static const char *skip_string(const char *at) { /* behind it; NULL: it does not end */
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : NULL;
}

static const char *skip_value(const char *at, int depth) {
    at = skip_blanks(at);
    if (*at == '"') return skip_string(at);
    if (*at != '{' && *at != '[') {
        size_t length = strcspn(at, ",]} \t\r\n");
        return length ? at + length : NULL;
    }
    char close = *at == '{' ? '}' : ']';
    if (depth == MAX_DEPTH) return NULL;
    for (at = skip_blanks(at + 1); *at != close;) {
        if (close == '}') {
            if (*at != '"' || !(at = skip_string(at)) || *(at = skip_blanks(at)) != ':') return NULL;
            at++;
        }
        if (!(at = skip_value(at, depth + 1))) return NULL;
        at = skip_blanks(at);
        if (*at == ',')
            at = skip_blanks(at + 1);
        else if (*at != close)
            return NULL;
    }
    return at + 1;
}

/* Goes over the members of an object or list that skip_value has seen to be whole; *key is NULL in a list. */
typedef struct Walk {
    const char *at;
    const char *key, *value, *end; /* of the member */
} Walk;

static Walk walk_begin(const char *value) {
    value = skip_blanks(value);
    return (Walk){.at = *value == '{' || *value == '[' ? value + 1 : ""};
}

static bool walk_next(Walk *w) {
    w->at = skip_blanks(w->at);
    if (*w->at == ',') w->at = skip_blanks(w->at + 1);
    if (!*w->at || *w->at == '}' || *w->at == ']') return false;
    const char *behind = *w->at == '"' ? skip_blanks(skip_string(w->at)) : "";
    w->key = *behind == ':' ? w->at : NULL;
    w->value = skip_blanks(w->key ? behind + 1 : w->at);
    w->end = w->at = skip_value(w->value, 0);
    return true;
}

/* Text of a string, or of a number or word as it stands. */
static char *take_text(const char *value) {
    if (*value != '"') return copy_bytes(value, strcspn(value, ",]} \t\r\n"));
    char *text = copy_bytes(value + 1, (size_t)(skip_string(value) - value) - 2), *to = text;
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1] == 'u' && strlen(at) >= 6) {
            char digits[5] = {at[2], at[3], at[4], at[5], 0};
            *to++ = (char)strtol(digits, NULL, 16);
            at += 5;
        } else if (*at == '\\' && at[1])
            *to++ = *++at;
        else
            *to++ = *at;
    }
    *to = 0;
    return text;
}

static bool is_text(const char *value, const char *wanted) {
    char *text = value ? take_text(value) : NULL;
    bool same = text && strcmp(text, wanted) == 0;
    free(text);
    return same;
}

static const char *find_member(const char *object, const char *key) {
    Walk w = walk_begin(object);
    while (*object == '{' && walk_next(&w))
        if (is_text(w.key, key)) return w.value;
    return NULL;
}

/* --- files --- */

/* Their text; NULL, with a message, or where there is none and `may_lack`. */
static char *read_file(const char *path, bool may_lack, int *status) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, room = 0;
    if (!file) {
        if (!may_lack || errno != ENOENT) *status = fail("%s cannot be read: %s", path, strerror(errno));
        return NULL;
    }
    do {
        char *more = get_memory(room + 65536);
        if (size) memcpy(more, text, size);
        free(text);
        text = more;
        room += 65536;
        size += fread(text + size, 1, room - size - 1, file);
    } while (size == room - 1);
    fclose(file);
    const char *end = skip_value(text, 0), *kernels = end ? find_member(skip_blanks(text), "kernels") : NULL;
    if (end && !*skip_blanks(end) && kernels && *kernels == '{') return text;
    *status = fail("%s is no file of choices: an object with \"kernels\" is expected, as `tilewright tune -o` "
                   "writes it",
                   path);
    free(text);
    return NULL;
}

char *tuned_name(const char *file, const char *kernel) {
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), size = length + strlen(kernel) + 2;
    char *name = get_memory(size);
    snprintf(name, size, "%.*s.%s", (int)length, base, kernel);
    return name;
}

static void take_pairs(const char *object, Pairs *pairs) {
    Walk w = walk_begin(object ? object : "");
    while (object && walk_next(&w)) {
        if (!w.key) continue;
        tw_pair one = {take_text(w.key), take_text(w.value)};
        Pairs more = pairs_join(pairs, &(Pairs){&one, 1});
        free(pairs->at);
        *pairs = more;
    }
}

static bool is_for(const char *row, const char *target) { return is_text(find_member(row, "target"), target); }

bool tuned_find(const char *path, const char *kernel, const char *target, Choice *choice, int *status) {
    char *text = read_file(path, false, status);
    const char *rows = text ? find_member(find_member(skip_blanks(text), "kernels"), kernel) : NULL;
    bool found = false;
    *choice = (Choice){0};
    Walk w = walk_begin(rows ? rows : "");
    while (!found && rows && walk_next(&w)) {
        if (!is_for(w.value, target)) continue;
        take_pairs(find_member(w.value, "values"), &choice->values);
        take_pairs(find_member(w.value, "options"), &choice->options);
        found = true;
    }
    free(text);
    return found;
}

void choice_free(Choice *choice) {
    Pairs *both[] = {&choice->values, &choice->options};
    for (int b = 0; b < 2; b++) {
        for (size_t i = 0; i < both[b]->count; i++) {
            free((char *)(uintptr_t)both[b]->at[i].name);
            free((char *)(uintptr_t)both[b]->at[i].value);
        }
        free(both[b]->at);
    }
}

/* Numbers, true and false as JSON has them; else text. */
static void write_pairs(Json *j, const char *key, const Pairs *pairs) {
    json_key(j, key);
    json_open(j, '{');
    for (size_t i = 0; i < pairs->count; i++) {
        const char *value = pairs->at[i].value;
        char *end;
        long long number = strtoll(value, &end, 10);
        bool yes = strcmp(value, "true") == 0 || strcmp(value, "True") == 0;
        json_key(j, pairs->at[i].name);
        if (end != value && !*end)
            json_integer(j, number);
        else if (yes || strcmp(value, "false") == 0 || strcmp(value, "False") == 0)
            json_bool(j, yes);
        else
            json_text(j, value);
    }
    json_close(j, '}');
}

static void write_row(Json *j, const char *target, const Choice *choice) {
    json_open(j, '{');
    json_key(j, "key"), json_text(j, NULL);
    json_key(j, "target"), json_text(j, target);
    write_pairs(j, "values", &choice->values);
    write_pairs(j, "options", &choice->options);
    json_key(j, "us"), json_number(j, choice->us);
    json_close(j, '}');
}

int tuned_write(const char *path, const char *kernel, const char *target, const Choice *choice) {
    int status = 0;
    char *text = read_file(path, true, &status), *made = NULL;
    size_t size = 0;
    if (status) return status;
    FILE *out = open_memstream(&made, &size);
    if (!out) return fail("out of memory");
    const char *kernels = text ? find_member(skip_blanks(text), "kernels") : "{}";
    Json j;
    json_start(&j, out);
    json_open(&j, '{');
    json_key(&j, "kernels");
    json_open(&j, '{');
    for (Walk w = walk_begin(kernels); walk_next(&w);)
        if (!is_text(w.key, kernel)) json_raw(&j, w.key, w.end);
    json_key(&j, kernel);
    json_open(&j, '[');
    const char *rows = find_member(kernels, kernel);
    for (Walk w = walk_begin(rows ? rows : ""); rows && walk_next(&w);)
        if (!is_for(w.value, target)) json_raw(&j, w.value, w.end);
    write_row(&j, target, choice);
    fputs("]}}\n", out);
    fclose(out);
    if (!write_whole(path, made, size)) status = 1;
    free(made);
    free(text);
    return status;
}
