/* SPDX-License-Identifier: Apache-2.0 */
/* text.c: see text.h. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

Text text_new(Arena *arena) {
    Text text = {.arena = arena, .capacity = 64};
    text.at = arena_alloc(arena, text.capacity);
    return text;
}

static void reserve(Text *text, size_t more) {
    size_t need = text->length + more + 1;
    if (need <= text->capacity) return;
    size_t larger = text->capacity * 2 > need ? text->capacity * 2 : need;
    text->at = arena_grow(text->arena, text->at, text->capacity, larger);
    text->capacity = larger;
}

void text_add_bytes(Text *text, const char *bytes, size_t length) {
    reserve(text, length);
    if (length) memcpy(text->at + text->length, bytes, length);
    text->length += length;
    text->at[text->length] = 0;
}

void text_add_char(Text *text, char c) { text_add_bytes(text, &c, 1); }

void text_vadd(Text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(text->at + text->length, room, format, args);
    if ((size_t)length >= room) {
        text->at[text->length] = 0;
        reserve(text, (size_t)length);
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
    }
    text->length += (size_t)length;
    va_end(again);
}

void text_add(Text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_vadd(text, format, args);
    va_end(args);
}

size_t text_utf8(const char *s, size_t left, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* what fewer bytes can say is said by fewer */
    unsigned char c = (unsigned char)s[0];
    size_t n = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    *code = n < 2 ? c : c & (0x7Fu >> n);
    if (!n || n > left) return 0;
    for (size_t i = 1; i < n; i++) {
        if (((unsigned char)s[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | ((unsigned char)s[i] & 0x3F);
    }
    bool surrogate = *code >= 0xD800 && *code < 0xE000;
    return *code < least[n] || *code > 0x10FFFF || surrogate ? 0 : n;
}

void text_add_json(Text *text, const char *string) {
    text_add_char(text, '"');
    for (size_t left = strlen(string), used; left; string += used, left -= used) {
        uint32_t code = 0;
        used = text_utf8(string, left, &code);
        if (code == '"' || code == '\\')
            text_add(text, "\\%c", *string);
        else if (!used || code < ' ')
            text_add(text, "\\u%04x", used ? code : 0xFFFDu);
        else
            text_add_bytes(text, string, used);
        if (!used) used = 1;
    }
    text_add_char(text, '"');
}

void text_add_cell(Text *text, const char *string) {
    for (; *string; string++) {
        if (*string == '|') text_add_char(text, '\\');
        text_add_char(text, *string);
    }
}

void text_indent(Text *text, int levels) {
    while (levels-- > 0) text_add_bytes(text, "    ", 4);
}

bool text_equal(const char *bytes, size_t length, const char *literal) {
    return strncmp(bytes, literal, length) == 0 && !literal[length]; /* most differ in the first byte */
}

enum { LONGEST_NAME = 63 };

/* Edit distance with adjacent swaps; names longer than LONGEST_NAME are never near. */
static int edit_distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST_NAME || m > LONGEST_NAME) return LONGEST_NAME;
    int row[3][LONGEST_NAME + 1];
    for (size_t j = 0; j <= m; j++) row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3], *before = row[(i + 2) % 3], *two_before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = before[j - 1] + (a[i - 1] != b[j - 1]);
            if (before[j] + 1 < best) best = before[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && two_before[j - 2] + 1 < best) best = two_before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *text_nearest(const char *wrong, const char *const *names, size_t count) {
    const char *nearest = NULL;
    int length = (int)strlen(wrong), best = (length + 1) / 3 + 1;
    if (best > length) best = length; /* nothing may be replaced whole */
    for (size_t i = 0; i < count; i++) {
        int distance = edit_distance(wrong, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

const char *text_suggest(Arena *arena, const char *before, const char *near) {
    return near ? arena_printf(arena, FIX "did you mean `%s%s`?", before, near) : "";
}

/* The last mark that stands before what the format has behind its own: quoted text may hold such a byte too. Where the
 * format has none, the last of all: an argument brought it. */
static char *find_mark(char *text, const char *format) {
    const char *own = strchr(format, *FIX), *behind = own ? own + 1 : "";
    char *found = NULL;
    for (char *at = strchr(text, *FIX); at; at = strchr(at + 1, *FIX))
        if (strncmp(at + 1, behind, strcspn(behind, "%")) == 0) found = at;
    return found;
}

/* Marks beside the message's own fix, which arguments brought: each stands before a letter, in which it differs from
 * such a byte in quoted text. */
static const char *plain_marks(Arena *arena, char *message) {
    const char *plain = message;
    for (char *at = strchr(message, *FIX); at; at = strchr(at + 1, *FIX)) {
        if (at[1] < 'a' || at[1] > 'z') continue;
        size_t before = (size_t)(at - message);
        message = arena_printf(arena, "%.*s; %s", (int)before, message, at + 1);
        plain = message, at = message + before + 1;
    }
    return plain;
}

char *text_open_fix(Arena *arena, const char *format, char *message, const char **fix) {
    char *mark = find_mark(message, format);
    *fix = "";
    if (!mark) return message;
    *mark = 0;
    const char *head = plain_marks(arena, message);
    char *whole = arena_printf(arena, "%s; %s", head, plain_marks(arena, mark + 1));
    *fix = whole + strlen(head) + 2;
    return whole;
}
