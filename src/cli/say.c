/* SPDX-License-Identifier: Apache-2.0 */
/* say.c: messages, memory and files of the command line. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool speaks_json; /* who reads the messages is a program */

void say_json(bool yes) { speaks_json = yes; }
bool says_json(void) { return speaks_json; }

/* The mark becomes "; "; the result is what stands behind it, "" where neither the format nor an argument has one. */
static const char *open_fix(const char *format, char **text) {
    const char *own = strchr(format, *FIX), *behind = own ? own + 1 : "", *mark = NULL;
    for (const char *at = strchr(*text, *FIX); at; at = strchr(at + 1, *FIX))
        if (strncmp(at + 1, behind, strcspn(behind, "%")) == 0) mark = at; /* what is quoted may hold one too */
    if (!mark) return "";
    size_t head = (size_t)(mark - *text), size = strlen(*text) + 2;
    char *whole = get_memory(size);
    snprintf(whole, size, "%.*s; %s", (int)head, *text, mark + 1);
    free(*text);
    *text = whole;
    return whole + head + 2;
}

static void say(const char *severity, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = get_memory((size_t)(length < 0 ? 0 : length) + 1);
    if (length >= 0) vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    const char *fix = open_fix(format, &text);
    fflush(stdout);
    if (speaks_json)
        json_remark(stderr, severity, text, fix);
    else {
        print_message(severity);
        fprintf(stderr, ": %s\n", text);
    }
    free(text);
}

void fail_in(FILE *out, const char *text) {
    if (speaks_json)
        json_remark(out, "error", text, "");
    else
        fprintf(out, "error: %s\n", text);
}

void remark(const char *severity, const char *format, ...) {
    va_list args;
    va_start(args, format);
    say(severity, format, args);
    va_end(args);
}

int fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    say("error", format, args);
    va_end(args);
    return 1;
}

/* The bytes of the character of UTF-8 that text begins with; 0: there is none. */
static size_t character(const unsigned char *s) {
    size_t n = *s < 0x80 ? 1 : *s < 0xC2 ? 0 : *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : *s < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool longer = (*s == 0xE0 && s[1] < 0xA0) || (*s == 0xF0 && s[1] < 0x90); /* than what it says needs */
    bool no_code = (*s == 0xED && s[1] > 0x9F) || (*s == 0xF4 && s[1] > 0x8F);
    return longer || no_code ? 0 : n;
}

void fprint_json_text(FILE *out, const char *text) {
    if (!text) {
        fputs("null", out);
        return;
    }
    fputc('"', out);
    while (*text) {
        size_t n = character((const unsigned char *)text);
        if (*text == '"' || *text == '\\' || (unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else if (n)
            fwrite(text, 1, n, out);
        else
            fputs("\\ufffd", out); /* names of files may be any bytes */
        text += n ? n : 1;
    }
    fputc('"', out);
}

void print_json_text(const char *text) { fprint_json_text(stdout, text); }

void say_speech(FILE *out, const char *text, size_t length) {
    if (!speaks_json) fwrite(text, 1, length, out);
    for (const char *end = text + length, *line = text, *next; speaks_json && line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next) next = end;
        char *copy = copy_bytes(line, (size_t)(next - line));
        json_remark(stderr, "print", copy, "");
        free(copy);
    }
}

void print_warnings(const tw_context *cx) {
    const char *warnings = tw_context_warnings(cx);
    if (!speaks_json)
        print_message(warnings);
    else if (*warnings)
        json_diagnostics(cx);
}

int fail_status(const tw_context *cx, tw_status status) {
    const char *message = tw_context_message(cx);
    if (status == TW_ERROR_CANCELLED) die_if_asked(); /* without a word: who asked knows */
    fflush(stdout);
    if (speaks_json) {
        if (!json_diagnostics(cx)) json_remark(stderr, "error", tw_status_text(status), "");
    } else if (status == TW_ERROR_INTERNAL)
        fprintf(stderr,
                "internal error: %s\nThis is a fault of Tilewright; please report it with the "
                "source.\n",
                message);
    else if (status != TW_ERROR_TOOL && (strstr(message, ": error: ") || strncmp(message, "error: ", 7) == 0))
        print_message(message); /* diagnostics, complete with their places */
    else
        fail("%s", *message ? message : tw_status_text(status));
    print_hints(message);
    return status == TW_ERROR_INTERNAL ? 2 : 1;
}

void *get_memory(size_t size) {
    void *block = calloc(1, size ? size : 1);
    if (block) return block;
    fail("out of memory");
    exit(1);
}

char *copy_bytes(const char *text, size_t length) {
    char *copy = get_memory(length + 1);
    memcpy(copy, text, length);
    return copy;
}

/* Edit distance, in which two letters that changed places count once; names are short. */
static size_t distance(const char *a, const char *b) {
    enum { MOST = 64 };
    size_t rows[3][MOST], n = strlen(b);
    if (n >= MOST) return MOST;
    for (size_t j = 0; j <= n; j++) rows[0][j] = j;
    size_t i = 0;
    for (; a[i]; i++) {
        size_t *row = rows[(i + 1) % 3], *above = rows[i % 3], *twice = rows[(i + 2) % 3];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t best = above[j] + (a[i] != b[j]);
            if (above[j + 1] + 1 < best) best = above[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            bool swapped = i && j && a[i] == b[j - 1] && a[i - 1] == b[j];
            if (swapped && twice[j - 1] + 1 < best) best = twice[j - 1] + 1;
            row[j + 1] = best;
        }
    }
    return rows[i % 3][n];
}

const char *nearest(const char *wrong, const char *const *names, size_t count) {
    const char *found = NULL;
    size_t length = strlen(wrong), best = (length + 1) / 3 + 1;
    if (best > length) best = length; /* nothing is replaced whole */
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(wrong, names[i]);
        if (d < best) best = d, found = names[i];
    }
    return found;
}

bool write_whole(const char *path, const void *data, size_t size) {
    size_t length = strlen(path);
    char *beside = get_memory(length + 32);
    snprintf(beside, length + 32, "%s.%ld.tmp", path, (long)getpid());
    signals_hold(true);
    FILE *file = fopen(beside, "wbx");
    bool ok = file != NULL;
    if (ok) {
        ok = fwrite(data, 1, size, file) == size;
        ok = fclose(file) == 0 && ok;
        ok = ok && rename(beside, path) == 0;
        int why = errno;
        if (!ok) unlink(beside);
        errno = why;
    }
    if (!ok) fail("%s cannot be written: %s", path, strerror(errno));
    signals_hold(false);
    free(beside);
    return ok;
}
