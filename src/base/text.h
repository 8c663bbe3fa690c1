/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: building text in an arena, and small string questions.
 *
 *     Text t = text_new(arena);
 *     text_add(&t, "%d rows", n);       t.at is always NUL-terminated */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include "base/arena.h"

#include <stdbool.h>
#include <string.h>

typedef struct Text {
    Arena *arena;
    char *at;
    size_t length, capacity;
} Text;

Text text_new(Arena *arena);
void text_add(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vadd(Text *text, const char *format, va_list args);
void text_add_bytes(Text *text, const char *bytes, size_t length);
void text_add_char(Text *text, char c);
/* The bytes of the character of UTF-8 at s, of which left bytes may be read, and its code point; 0: there is none. */
size_t text_utf8(const char *s, size_t left, uint32_t *code);
/* In quotes, as JSON writes it: UTF-8, whatever the string holds; U+FFFD stands for a byte that is none. */
void text_add_json(Text *text, const char *string);
/* As it stands in a cell of a table of Markdown, where a bare `|` would end the cell. */
void text_add_cell(Text *text, const char *string);
void text_indent(Text *text, int levels); /* four spaces a level */

bool text_equal(const char *bytes, size_t length, const char *literal);
/* Of two NUL-terminated names: for searches through tables, where most differ in the first byte. */
static inline bool text_same(const char *a, const char *b) { return *a == *b && strcmp(a, b) == 0; }

/* The name among count candidates nearest to the wrong one, or NULL when none is near enough to suggest. */
const char *text_nearest(const char *wrong, const char *const *names, size_t count);

/* In a message, in front of the part that says what to write instead. Nobody sees it: it reads as `; `. It stands in
 * the message's format, or in one of its arguments. */
#define FIX "\001"
/* The end of a message that suggests another name, "did you mean `BEFORE NEAR`?", with its mark; "" where near is
 * NULL. */
const char *text_suggest(Arena *arena, const char *before, const char *near);
/* The message in which the mark has become "; ", and where its fix begins; "" where it has none. */
char *text_open_fix(Arena *arena, const char *format, char *message, const char **fix);
#endif
