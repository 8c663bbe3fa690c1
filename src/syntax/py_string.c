/* SPDX-License-Identifier: Apache-2.0 */
/* py_string.c: string literals: prefixes, escapes, joining of neighbours, and f-strings with their
 * fields.
 *
 *     "a" 'b\n'            Constant "ab\n"
 *     f"{x!r:>{w}} end"    JoinedStr [FormattedValue x 'r' (JoinedStr ["> ", FormattedValue w]),
 * Constant " end"]
 *
 * A field's text is cut out by the rules of CPython 3.11 (no backslash, no comment, no quote of the
 * string itself), lexed where it stands, so that its nodes have true ranges, and parsed as if it
 * were in parentheses. */
#include "syntax/py_parse.h"

#include <string.h>

typedef struct Literal {
    uint32_t begin, end; /* of what is between the quotes */
    bool raw, bytes, format, unicode;
    uint32_t token_begin;
} Literal;

/* The parts of an f-string under construction: text that waits to become a Constant, and finished values. */
typedef struct Parts {
    Text text;
    Range range; /* of the whole literal */
    bool unicode;
    size_t mark; /* of the values, on the parser's list */
} Parts;

static char at(const PyParser *p, uint32_t offset) { return p->file->text[offset - p->file->base]; }

static Literal open_literal(const PyParser *p, Range token) {
    Literal lit = {.token_begin = token.begin};
    uint32_t i = token.begin;
    for (; at(p, i) != '"' && at(p, i) != '\''; i++) {
        char c = (char)(at(p, i) | 32);
        if (c == 'r') lit.raw = true;
        if (c == 'b') lit.bytes = true;
        if (c == 'f') lit.format = true;
        if (c == 'u') lit.unicode = at(p, i) == 'u';
    }
    uint32_t quotes = token.end - i >= 6 && at(p, i + 1) == at(p, i) && at(p, i + 2) == at(p, i) ? 3 : 1;
    lit.begin = i + quotes;
    lit.end = token.end - quotes;
    return lit;
}

static void add_code_point(Text *text, uint32_t c) {
    if (c < 0x80) {
        text_add_char(text, (char)c);
    } else if (c < 0x800) {
        text_add_char(text, (char)(0xc0 | c >> 6));
        text_add_char(text, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        text_add_char(text, (char)(0xe0 | c >> 12));
        text_add_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (c & 0x3f)));
    } else {
        text_add_char(text, (char)(0xf0 | c >> 18));
        text_add_char(text, (char)(0x80 | (c >> 12 & 0x3f)));
        text_add_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
        text_add_char(text, (char)(0x80 | (c & 0x3f)));
    }
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Exactly `count` hexadecimal digits at i; fails with what the escape needs. */
static uint32_t take_hex(PyParser *p, uint32_t escape, uint32_t i, uint32_t end, uint32_t count) {
    static const char *const needs[] = {[2] = "two hexadecimal digits",
                                        [4] = "four hexadecimal digits",
                                        [8] = "eight hexadecimal digits, at most 0010ffff"};
    uint32_t value = 0;
    bool good = end - i >= count;
    for (uint32_t k = 0; good && k < count; k++) {
        int digit = hex_value(at(p, i + k));
        good = digit >= 0;
        value = value << 4 | (uint32_t)digit;
    }
    if (good && value <= 0x10ffff) return value;
    py_fail(p, DIAG_PY_ESCAPE, (Range){escape, i}, at(p, escape + 1), needs[count]);
    return 0;
}

/* One escape at i (a backslash) into text; returns where reading goes on. */
static uint32_t add_escape(PyParser *p, Text *text, const Literal *lit, uint32_t i, uint32_t end) {
    static const char plain[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    uint32_t escape = i++;
    char c = at(p, i++);
    for (const char *s = plain; *s; s += 2)
        if (*s == c) {
            text_add_char(text, s[1]);
            return i;
        }
    if (c == '\n') return i;
    if (c == '\r') return i < end && at(p, i) == '\n' ? i + 1 : i;
    if (c >= '0' && c <= '7') {
        uint32_t value = (uint32_t)(c - '0');
        for (int k = 0; k < 2 && i < end && at(p, i) >= '0' && at(p, i) <= '7'; k++)
            value = value * 8 + (uint32_t)(at(p, i++) - '0');
        if (lit->bytes)
            text_add_char(text, (char)value);
        else
            add_code_point(text, value);
        return i;
    }
    uint32_t digits = c == 'x' ? 2 : lit->bytes ? 0 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits) {
        uint32_t value = take_hex(p, escape, i, end, digits);
        if (p->failed) return end;
        if (lit->bytes)
            text_add_char(text, (char)value);
        else
            add_code_point(text, value);
        return i + digits;
    }
    text_add_char(text, '\\'); /* no escape: Python keeps both characters; `\N{name}` stays unresolved */
    return i - 1;
}

/* The bytes of a literal's piece, escapes resolved, line ends as \n. */
static void add_piece(PyParser *p, Text *text, const Literal *lit, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end;) {
        char c = at(p, i);
        if (c == '\\' && !lit->raw && i + 1 < end) {
            i = add_escape(p, text, lit, i, end);
            continue;
        }
        if (lit->bytes && (c & 0x80)) py_fail(p, DIAG_PY_BYTES_ASCII, (Range){i, i + 1});
        if (p->failed) return;
        i += c == '\r' && i + 1 < end && at(p, i + 1) == '\n' ? 2 : 1;
        text_add_char(text, c == '\r' ? '\n' : c);
    }
}

static PyNode *make_constant(PyParser *p, const Text *text, Range range, bool bytes, bool unicode) {
    PyNode *node = py_new(p, PY_Constant, range.begin);
    PyText *value = arena_alloc(p->arena, sizeof *value + text->length + 1);
    value->length = text->length;
    memcpy(value->at, text->at, text->length);
    node->Constant.what = bytes ? PY_BYTES : PY_STR;
    node->Constant.prefix_u = unicode;
    node->Constant.text = value;
    node = py_done(p, node);
    node->range = range;
    return node;
}

static void flush_text(PyParser *p, Parts *parts) {
    if (parts->text.length == 0) return;
    py_list_add(p, make_constant(p, &parts->text, parts->range, false, parts->unicode));
    parts->text = text_new(p->arena);
}

static uint32_t parse_format(PyParser *p, Parts *parts, const Literal *lit, uint32_t i, uint32_t end, int level);

static void bad_field(PyParser *p, uint32_t from, uint32_t to, const char *rule) {
    py_fail(p, DIAG_PY_FSTRING, (Range){from, to}, rule);
}

/* Where the expression of a field ends: at `!`, `:`, `=` or `}` outside brackets and strings. */
static uint32_t scan_field(PyParser *p, uint32_t begin, uint32_t end) {
    int depth = 0;
    for (uint32_t i = begin; i < end; i++) {
        char c = at(p, i), next = i + 1 < end ? at(p, i + 1) : '\0';
        if (c == '\\') {
            bad_field(p, i, i + 1, "a field cannot contain a backslash" FIX "give the value a name before");
            return end;
        }
        if (c == '#') {
            bad_field(p, i, i + 1, "a field cannot contain `#`" FIX "give the value a name before");
            return end;
        }
        if (c == '\'' || c == '"') {
            bool triple = next == c && i + 2 < end && at(p, i + 2) == c;
            uint32_t k = i + (triple ? 3 : 1);
            while (k < end && !(at(p, k) == c && (!triple || (k + 2 < end && at(p, k + 1) == c && at(p, k + 2) == c))))
                k++;
            i = k + (triple ? 2 : 0);
            if (i >= end) break;
        } else if (c == '(' || c == '[' || c == '{') {
            depth++;
        } else if ((c == ')' || c == ']' || c == '}') && depth > 0) {
            depth--;
        } else if (depth == 0) {
            if ((c == '!' || c == '=' || c == '<' || c == '>') && next == '=') {
                i++;
            } else if (c == '}' || c == '!' || c == ':' || c == '=') {
                return i;
            } else if (c == ')' || c == ']') {
                bad_field(p, i, i + 1, "a bracket is closed that was not opened in this field" FIX "delete it");
                return end;
            }
        }
    }
    bad_field(p, begin - 1, begin, "the `{` of a field is never closed" FIX "add `}`, or write `{{` for a brace");
    return end;
}

/* The expression in [begin, end), as if it stood in parentheses. */
static PyNode *parse_field_expression(PyParser *p, uint32_t begin, uint32_t end) {
    uint32_t i = begin;
    while (i < end && strchr(" \t\r\n\f", at(p, i))) i++;
    if (i == end) {
        bad_field(p, begin - 1, end + 1, "an empty field" FIX "write an expression into it, or `{{}}` for braces");
        return py_dummy(p);
    }
    PyTokens outer = p->tokens;
    size_t outer_pos = p->pos;
    uint32_t outer_end = p->last_end;
    p->tokens = py_lex(p->file, (Range){begin, end}, PY_LEX_FIELD, p->arena, p->diag);
    p->pos = 0;
    PyNode *node = py_enter(p) ? py_parse_group_inside(p) : py_dummy(p);
    py_leave(p);
    p->tokens = outer;
    p->pos = p->failed ? outer.count - 1 : outer_pos;
    if (p->failed) p->error = outer_pos;
    p->last_end = outer_end;
    return node;
}

/* replacement_field: '{' expression ['='] ['!' ('s' | 'r' | 'a')] [':' format] '}'; i is behind '{' */
static uint32_t parse_field(PyParser *p, Parts *parts, const Literal *lit, uint32_t i, uint32_t end, int level) {
    uint32_t open = i - 1, stop = scan_field(p, i, end);
    if (level >= 2) bad_field(p, open, i, "fields nest at most two deep" FIX "give the inner value a name before");
    if (p->failed) return end;
    PyNode *value = parse_field_expression(p, i, stop);
    bool debug = false;
    uint32_t k = stop;
    if (k < end && at(p, k) == '=') {
        debug = true;
        k++;
        while (k < end && strchr(" \t\r\n\f", at(p, k))) k++;
        Literal raw = {.raw = true};
        add_piece(p, &parts->text, &raw, i, k);
    }
    flush_text(p, parts);
    PyNode *node = py_new(p, PY_FormattedValue, open);
    node->FormattedValue.value = value;
    node->FormattedValue.conversion = -1;
    if (k < end && at(p, k) == '!') {
        char c = k + 1 < end ? at(p, k + 1) : '\0';
        if (c != 's' && c != 'r' && c != 'a') bad_field(p, k, k + 2, "the conversion of a field is `!s`, `!r` or `!a`");
        node->FormattedValue.conversion = c;
        k += 2;
    }
    if (k < end && at(p, k) == ':') {
        Parts inner = {text_new(p->arena), parts->range, parts->unicode, py_list_begin(p)};
        uint32_t from = ++k;
        k = parse_format(p, &inner, lit, k, end, level + 1);
        flush_text(p, &inner);
        PyNode *spec = py_new(p, PY_JoinedStr, from);
        spec->JoinedStr.values = py_list_end(p, inner.mark);
        spec = py_done(p, spec);
        spec->range = (Range){from, k};
        node->FormattedValue.format_spec = spec;
    }
    if (!p->failed && (k >= end || at(p, k) != '}'))
        bad_field(p, open, open + 1, "the `{` of a field is never closed" FIX "add `}`, or write `{{` for a brace");
    if (debug && node->FormattedValue.conversion == -1 && !node->FormattedValue.format_spec)
        node->FormattedValue.conversion = 'r';
    node = py_done(p, node);
    node->range = (Range){open, k + 1};
    py_list_add(p, node);
    return k + 1;
}

/* Literal text and fields up to the end, or inside a format (level > 0) up to its `}`. */
static uint32_t parse_format(PyParser *p, Parts *parts, const Literal *lit, uint32_t i, uint32_t end, int level) {
    while (i < end && !p->failed) {
        uint32_t piece = i;
        while (i < end && at(p, i) != '{' && at(p, i) != '}') {
            if (at(p, i) == '\\' && !lit->raw && i + 1 < end) {
                i++;
                if (at(p, i) == 'N' && i + 1 < end && at(p, i + 1) == '{')
                    while (i < end && at(p, i) != '}') i++;
                else if (at(p, i) == '{' || at(p, i) == '}')
                    break;
            }
            if (i < end) i++;
        }
        add_piece(p, &parts->text, lit, piece, i);
        if (i >= end || p->failed) return i;
        bool twice = level == 0 && i + 1 < end && at(p, i + 1) == at(p, i);
        if (twice) {
            text_add_char(&parts->text, at(p, i));
            i += 2;
        } else if (at(p, i) == '{') {
            i = parse_field(p, parts, lit, i + 1, end, level);
        } else if (level > 0) {
            return i;
        } else {
            bad_field(p, i, i + 1, "a single `}` closes no field" FIX "write `}}` for a brace");
        }
    }
    return i;
}

/* strings: STRING+ */
PyNode *py_parse_strings(PyParser *p) {
    Range range = py_here(p);
    size_t first = p->pos, count = 0;
    bool any_format = false, any_bytes = false, any_text = false;
    for (; py_peek(p) == PY_T_STRING; count++) {
        Range token = py_take(p).range;
        Literal lit = open_literal(p, token);
        range.end = token.end;
        any_format |= lit.format;
        any_bytes |= lit.bytes;
        any_text |= !lit.bytes;
    }
    if (any_bytes && any_text) {
        py_fail(p, DIAG_PY_STRING_MIX, range);
        return py_dummy(p);
    }
    const PyToken *tokens = p->tokens.at + first; /* parsing a field exchanges p->tokens and puts it back */
    Parts parts = {text_new(p->arena), range, open_literal(p, tokens[0].range).unicode, py_list_begin(p)};
    for (size_t k = 0; k < count && !p->failed; k++) {
        Literal lit = open_literal(p, tokens[k].range);
        if (lit.format)
            parse_format(p, &parts, &lit, lit.begin, lit.end, 0);
        else
            add_piece(p, &parts.text, &lit, lit.begin, lit.end);
    }
    if (!any_format) return make_constant(p, &parts.text, range, any_bytes, parts.unicode);
    flush_text(p, &parts);
    PyNode *node = py_new(p, PY_JoinedStr, range.begin);
    node->JoinedStr.values = py_list_end(p, parts.mark);
    return py_done(p, node);
}
