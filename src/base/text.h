/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: building text in an arena, and small string questions.
 *
 *     Text t = text_new(arena);
 *     text_add(&t, "%d rows", n);       t.at is always NUL-terminated */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include "base/arena.h"

#include <stdbool.h>

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

/* The name among count candidates nearest to the wrong one, or NULL when none is near enough to suggest. */
const char *text_nearest(const char *wrong, const char *const *names, size_t count);
#endif
