/* SPDX-License-Identifier: Apache-2.0 */
/* py_lex.c: cuts Python text into tokens; the contract is in py_lex.h.
 *
 *     if x:  # why         IF NAME P_COLON NEWLINE
 *         y = (1 +         INDENT NAME P_ASSIGN P_LPAREN NUMBER P_PLUS
 *              2)          NUMBER P_RPAREN NEWLINE DEDENT END STOP
 *
 * A tab moves to the next multiple of eight columns. Where eight and one would order two lines
 * differently, the indentation is ambiguous and refused, as in CPython. A bracket that is never
 * closed would swallow the rest of the file: a line that begins with a word which no expression can
 * hold ends it. */
#include "syntax/py_lex.h"

#include "base/vec.h"
#include "syntax/py_ast.h"

#include <string.h>

typedef struct Bracket {
    char open;
    uint32_t at;
    size_t token;
} Bracket;

typedef struct Lexer {
    const SourceFile *file;
    Arena *arena;
    Diag *diag;
    const char *text; /* of the file: text[i] is at offset base + i */
    uint32_t pos, end;
    VEC(PyToken) tokens;
    Bracket brackets[PY_MAX_DEPTH];
    int depth;
    bool too_many; /* tokens: said once */
    int indent[PY_MAX_INDENT], alt_indent[PY_MAX_INDENT];
    int levels;
    bool embedded;
} Lexer;

typedef struct Spelling {
    const char *text;
    uint8_t length, kind;
} Spelling;

static const Spelling keywords[] = {
#define K(id, spelling) {spelling, sizeof spelling - 1, PY_T_##id},
    PY_KEYWORDS(K)
#undef K
};
static const Spelling punctuation[] = {
#define P(id, spelling) {spelling, sizeof spelling - 1, PY_T_P_##id},
    PY_PUNCTUATION(P)
#undef P
};

const char *py_token_name(PyTokenKind kind) {
    static const char *const names[PY_T_COUNT] = {[PY_T_END] = "the end of the file",
                                                  [PY_T_STOP] = "the end of the file",
                                                  [PY_T_ERROR] = "a mistake",
                                                  [PY_T_NEWLINE] = "the end of the line",
                                                  [PY_T_INDENT] = "more indentation",
                                                  [PY_T_DEDENT] = "the end of the block",
                                                  [PY_T_NAME] = "a name",
                                                  [PY_T_NUMBER] = "a number",
                                                  [PY_T_STRING] = "a string",
#define K(id, spelling) [PY_T_##id] = "`" spelling "`",
                                                  PY_KEYWORDS(K)
#undef K
#define P(id, spelling) [PY_T_P_##id] = "`" spelling "`",
                                                      PY_PUNCTUATION(P)
#undef P
    };
    return names[kind];
}

static Range make_range(const Lexer *lx, uint32_t begin, uint32_t end) {
    return (Range){lx->file->base + begin, lx->file->base + end};
}

static void push(Lexer *lx, PyTokenKind kind, uint32_t begin, uint32_t end) {
    enum { MOST_TOKENS = 1 << 20 };
    if (lx->tokens.count >= MOST_TOKENS && kind != PY_T_END && kind != PY_T_STOP) {
        if (!lx->too_many) diag_emit(lx->diag, DIAG_PY_TOO_MANY_TOKENS, make_range(lx, begin, end), MOST_TOKENS);
        lx->too_many = true;
        return;
    }
    *VEC_PUSH(&lx->tokens, lx->arena) = (PyToken){make_range(lx, begin, end), kind};
}

static char peek(const Lexer *lx, uint32_t ahead) {
    uint32_t at = lx->pos + ahead;
    return at < lx->end ? lx->text[at] : '\0';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c & 0x80;
}

static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

/* Steps over one line end: \n, \r or \r\n. */
static void skip_line_end(Lexer *lx) {
    if (peek(lx, 0) == '\r' && peek(lx, 1) == '\n') lx->pos++;
    lx->pos++;
}

/* The code point at a place of text known to be UTF-8. */
static uint32_t decode(const char *at, int *length) {
    uint32_t code;
    *length = (int)text_utf8(at, 4, &code);
    return code;
}

/* Characters that look like Python but are not: typographic quotes and dashes, spaces, arrows,
 * mathematical signs, full-width punctuation, pictures. Any other character outside ASCII may stand
 * in a name. */
static bool never_in_name(uint32_t c) {
    static const uint32_t spans[][2] = {{0x80, 0xa9},     {0xab, 0xb4},     {0xb6, 0xb6},      {0xb8, 0xb9},
                                        {0xbb, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},      {0x2000, 0x203e},
                                        {0x2041, 0x2053}, {0x2055, 0x2070}, {0x20a0, 0x20cf},  {0x2190, 0x2bff},
                                        {0x3000, 0x3004}, {0x3008, 0x3020}, {0xff01, 0xff0f},  {0xff1a, 0xff20},
                                        {0xfeff, 0xfeff}, {0xfffd, 0xfffd}, {0x1f000, 0x1faff}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (c >= spans[i][0] && c <= spans[i][1]) return true;
    return false;
}

/* Reports the first byte that is no UTF-8 and every NUL's first; false if there is one. */
static bool check_text(Lexer *lx) {
    const unsigned char *s = (const unsigned char *)lx->text;
    bool marked = lx->end >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff));
    bool wide = lx->end >= 4 && (s[0] == 0) != (s[1] == 0) && (s[0] == 0) == (s[2] == 0) && (s[1] == 0) == (s[3] == 0);
    if (marked || wide) {
        diag_emit(lx->diag, DIAG_PY_UTF16, make_range(lx, 0, 1));
        return false;
    }
    for (uint32_t i = 0; i < lx->end;) {
        uint32_t code;
        size_t n = text_utf8(lx->text + i, lx->end - i, &code);
        if (!n) {
            diag_emit(lx->diag, DIAG_PY_NOT_UTF8, make_range(lx, i, i + 1), s[i]);
            return false;
        }
        if (s[i] == 0) {
            diag_emit(lx->diag, DIAG_PY_NUL, make_range(lx, i, i + 1));
            return false;
        }
        i += (uint32_t)n;
    }
    return true;
}

/* Is this the name of an encoding whose text, if it is ASCII, reads the same in UTF-8? */
static bool encoding_is_harmless(const char *name, size_t length, bool ascii) {
    static const char *const any[] = {"utf-8", "utf_8", "utf8", "u8"};
    static const char *const subset[] = {"ascii", "us-ascii", "latin", "iso-8859", "iso8859", "cp125"};
    char low[24];
    if (length >= sizeof low) return false;
    for (size_t i = 0; i < length; i++) low[i] = (char)(name[i] | (name[i] >= 'A' && name[i] <= 'Z' ? 32 : 0));
    low[length] = '\0';
    for (size_t i = 0; i < sizeof any / sizeof *any; i++)
        if (strncmp(low, any[i], strlen(any[i])) == 0) return true;
    for (size_t i = 0; ascii && i < sizeof subset / sizeof *subset; i++)
        if (strncmp(low, subset[i], strlen(subset[i])) == 0) return true;
    return false;
}

/* A comment `coding: NAME` or `coding=NAME` in the first two lines declares the encoding. */
static bool check_encoding(Lexer *lx) {
    bool ascii = true;
    for (uint32_t i = 0; i < lx->end && ascii; i++) ascii = !(lx->text[i] & 0x80);
    uint32_t pos = 0;
    for (int line = 0; line < 2 && pos < lx->end; line++) {
        uint32_t stop = pos;
        while (stop < lx->end && !is_line_end(lx->text[stop])) stop++;
        uint32_t i = pos;
        while (i < stop && strchr(" \t\f", lx->text[i])) i++;
        if (i < stop && lx->text[i] != '#') return true;
        for (; i + 7 < stop; i++) {
            if (memcmp(lx->text + i, "coding", 6) != 0) continue;
            uint32_t from = i + 6;
            if (lx->text[from] != ':' && lx->text[from] != '=') continue;
            from++;
            while (from < stop && strchr(" \t", lx->text[from])) from++;
            uint32_t to = from;
            while (to < stop && (is_word(lx->text[to]) || strchr("-.", lx->text[to]))) to++;
            if (to == from) continue;
            if (encoding_is_harmless(lx->text + from, to - from, ascii)) return true;
            diag_emit(lx->diag, DIAG_PY_ENCODING, make_range(lx, from, to), (int)(to - from), lx->text + from);
            return false;
        }
        pos = stop;
        if (pos < lx->end) pos += lx->text[pos] == '\r' && lx->text[pos + 1] == '\n' ? 2 : 1;
    }
    return true;
}

static void open_bracket(Lexer *lx, char open) {
    if (lx->depth == PY_MAX_DEPTH) {
        diag_emit(lx->diag, DIAG_PY_TOO_DEEP, make_range(lx, lx->pos, lx->pos + 1), PY_MAX_DEPTH);
        push(lx, PY_T_ERROR, lx->pos, lx->pos + 1);
        lx->depth = 0;
        lx->pos = lx->end; /* what follows would only repeat the mistake */
        return;
    }
    lx->brackets[lx->depth++] = (Bracket){open, lx->pos, lx->tokens.count};
}

/* False when the closing bracket was wrong and has been reported. */
static bool close_bracket(Lexer *lx, char close) {
    Range here = make_range(lx, lx->pos, lx->pos + 1);
    char open = close == ')' ? '(' : close == ']' ? '[' : '{';
    if (lx->depth == 0) {
        diag_emit(lx->diag, DIAG_PY_UNMATCHED, here, close, open);
        return false;
    }
    Bracket top = lx->brackets[--lx->depth];
    if (top.open == open) return true;
    char wanted = top.open == '(' ? ')' : top.open == '[' ? ']' : '}';
    diag_emit(lx->diag, DIAG_PY_WRONG_CLOSE, here, close, top.open, wanted);
    diag_emit(lx->diag, DIAG_PY_OPENED_HERE, make_range(lx, top.at, top.at + 1), top.open);
    return false;
}

static void report_unclosed(Lexer *lx) {
    Bracket top = lx->brackets[lx->depth - 1];
    char close = top.open == '(' ? ')' : top.open == '[' ? ']' : '}';
    diag_emit(lx->diag, DIAG_PY_UNCLOSED, make_range(lx, top.at, top.at + 1), top.open, close);
    lx->tokens.at[top.token].kind = PY_T_ERROR; /* so the parser adds nothing about what it swallowed */
    lx->depth = 0;
}

/* Does the line at pos begin with a keyword that no expression can contain? */
static bool statement_begins(const Lexer *lx, uint32_t pos) {
    static const char *const words[] = {"def", "class",  "return", "import",  "while",   "with",
                                        "try", "raise",  "pass",   "break",   "global",  "continue",
                                        "del", "assert", "except", "finally", "nonlocal"};
    uint32_t stop = pos;
    while (stop < lx->end && is_word(lx->text[stop])) stop++;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text_equal(lx->text + pos, stop - pos, words[i])) return true;
    return false;
}

/* At the start of a logical line that is not blank: compares its columns with the open blocks. */
static void indent_line(Lexer *lx, int column, int alt) {
    Range here = make_range(lx, lx->pos, lx->pos + 1);
    int top = lx->levels - 1;
    if (column == lx->indent[top]) {
        if (alt != lx->alt_indent[top]) diag_emit(lx->diag, DIAG_PY_TABS, here);
        return;
    }
    if (column > lx->indent[top]) {
        if (alt <= lx->alt_indent[top]) diag_emit(lx->diag, DIAG_PY_TABS, here);
        if (lx->levels == PY_MAX_INDENT) {
            diag_emit(lx->diag, DIAG_PY_INDENT_DEEP, here, PY_MAX_INDENT);
            lx->pos = lx->end;
            return;
        }
        lx->indent[lx->levels] = column;
        lx->alt_indent[lx->levels++] = alt;
        push(lx, PY_T_INDENT, lx->pos, lx->pos + 1);
        return;
    }
    while (lx->levels > 1 && column < lx->indent[lx->levels - 1]) {
        lx->levels--;
        push(lx, PY_T_DEDENT, lx->pos, lx->pos);
    }
    if (column != lx->indent[lx->levels - 1]) {
        diag_emit(lx->diag, DIAG_PY_BAD_DEDENT, here);
        lx->indent[lx->levels - 1] = column; /* read on as if the outer block were written so */
        lx->alt_indent[lx->levels - 1] = alt;
    } else if (alt != lx->alt_indent[lx->levels - 1]) {
        diag_emit(lx->diag, DIAG_PY_TABS, here);
    }
}

/* Counts the white space at the start of a line, up to its first character. */
static void measure_indent(Lexer *lx, int *column, int *alt) {
    bool joined = false; /* a backslash went before: the columns are those of the first line */
    *column = *alt = 0;
    for (;; lx->pos++) {
        char c = peek(lx, 0);
        if (c == '\\' && is_line_end(peek(lx, 1))) {
            lx->pos++;
            skip_line_end(lx);
            lx->pos--;
            joined = joined || *column > 0;
        } else if (c != ' ' && c != '\t' && c != '\f') {
            return;
        } else if (!joined) {
            *column = c == ' ' ? *column + 1 : c == '\t' ? (*column / 8 + 1) * 8 : 0;
            *alt = c == '\f' ? 0 : *alt + 1;
        }
    }
}

/* At the start of a line: over blank lines and comments, up to the first token of a logical line. */
static void begin_line(Lexer *lx) {
    while (lx->pos < lx->end) {
        int column, alt;
        measure_indent(lx, &column, &alt);
        if (peek(lx, 0) == '#')
            while (lx->pos < lx->end && !is_line_end(peek(lx, 0))) lx->pos++;
        if (lx->pos >= lx->end) return;
        if (!is_line_end(peek(lx, 0))) {
            indent_line(lx, column, alt);
            return;
        }
        skip_line_end(lx);
    }
}

static int digit_value(char c) {
    if (is_digit(c)) return c - '0';
    return (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : 99;
}

/* Digits of a base with single underscores between them; false if none or an underscore is out of place. */
static bool digits(Lexer *lx, int base) {
    bool any = false;
    for (;;) {
        char c = peek(lx, 0);
        if (digit_value(c) < base) {
            any = true;
            lx->pos++;
        } else if (c == '_' && any) {
            lx->pos++;
            if (digit_value(peek(lx, 0)) >= base) return false;
        } else {
            return any;
        }
    }
}

/* A number may be followed at once by one of these words: `1if x else 2`. */
static bool keyword_may_follow(const Lexer *lx) {
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (lx->pos + n <= lx->end && memcmp(lx->text + lx->pos, words[i], n) == 0) return true;
    }
    return false;
}

static void lex_number(Lexer *lx) {
    uint32_t begin = lx->pos;
    char second = (char)(peek(lx, 1) | 32);
    bool good, zeros = false;
    if (peek(lx, 0) == '0' && (second == 'x' || second == 'o' || second == 'b')) {
        lx->pos += 2;
        if (peek(lx, 0) == '_') lx->pos++;
        good = digits(lx, second == 'x' ? 16 : second == 'o' ? 8 : 2);
    } else {
        good = peek(lx, 0) == '.' || digits(lx, 10);
        zeros = lx->text[begin] == '0';
        if (good && peek(lx, 0) == '.') {
            zeros = false;
            lx->pos++;
            if (is_digit(peek(lx, 0))) good = digits(lx, 10);
        }
        char sign = peek(lx, 1);
        if (good && (peek(lx, 0) | 32) == 'e' &&
            (is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(peek(lx, 2))))) {
            zeros = false;
            lx->pos += is_digit(sign) ? 1 : 2;
            good = digits(lx, 10);
        }
        if (good && (peek(lx, 0) | 32) == 'j') {
            zeros = false;
            lx->pos++;
        }
    }
    if (good && is_word(peek(lx, 0)) && !keyword_may_follow(lx)) good = false;
    if (!good) {
        while (is_word(peek(lx, 0))) lx->pos++;
        diag_emit(lx->diag, DIAG_PY_NUMBER, make_range(lx, begin, lx->pos), (int)(lx->pos - begin), lx->text + begin);
        push(lx, PY_T_ERROR, begin, lx->pos);
        return;
    }
    if (zeros) {
        for (uint32_t i = begin; i < lx->pos; i++)
            if (lx->text[i] != '0' && lx->text[i] != '_') {
                diag_emit(lx->diag, DIAG_PY_LEADING_ZERO, make_range(lx, begin, lx->pos));
                push(lx, PY_T_ERROR, begin, lx->pos);
                return;
            }
    }
    push(lx, PY_T_NUMBER, begin, lx->pos);
}

/* At a quote; begin is where the prefix starts. */
static void lex_string(Lexer *lx, uint32_t begin) {
    char quote = peek(lx, 0);
    bool triple = peek(lx, 1) == quote && peek(lx, 2) == quote;
    uint32_t quotes = triple ? 3 : 1, opened = lx->pos;
    lx->pos += quotes;
    for (;;) {
        char c = peek(lx, 0);
        if (lx->pos >= lx->end || (!triple && is_line_end(c))) {
            diag_emit(lx->diag, triple ? DIAG_PY_UNTERMINATED_LONG : DIAG_PY_UNTERMINATED,
                      make_range(lx, begin, opened + quotes), quote, quote, quote, quote);
            push(lx, PY_T_ERROR, begin, lx->pos);
            return;
        }
        if (c == '\\' && lx->pos + 1 < lx->end) {
            lx->pos++;
            if (is_line_end(peek(lx, 0)))
                skip_line_end(lx);
            else
                lx->pos++;
        } else if (c == quote && (!triple || (peek(lx, 1) == quote && peek(lx, 2) == quote))) {
            lx->pos += quotes;
            break;
        } else {
            lx->pos++;
        }
    }
    push(lx, PY_T_STRING, begin, lx->pos);
}

static bool is_string_prefix(const char *text, uint32_t length) {
    static const char *const prefixes[] = {"r", "u", "b", "f", "br", "rb", "fr", "rf"};
    char low[3] = {0};
    if (length > 2) return false;
    for (uint32_t i = 0; i < length; i++) low[i] = (char)(text[i] | 32);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strcmp(low, prefixes[i]) == 0) return true;
    return false;
}

static void lex_word(Lexer *lx) {
    uint32_t begin = lx->pos;
    while (lx->pos < lx->end && is_word(peek(lx, 0))) {
        int length = 1;
        if (peek(lx, 0) & 0x80) {
            uint32_t c = decode(lx->text + lx->pos, &length);
            if (never_in_name(c)) break;
        }
        lx->pos += (uint32_t)length;
    }
    if (lx->pos == begin) {
        int length;
        uint32_t c = decode(lx->text + begin, &length);
        lx->pos += (uint32_t)length;
        diag_emit(lx->diag, DIAG_PY_CHARACTER, make_range(lx, begin, lx->pos), length, lx->text + begin, c);
        push(lx, PY_T_ERROR, begin, lx->pos);
        return;
    }
    uint32_t length = lx->pos - begin;
    if ((peek(lx, 0) == '"' || peek(lx, 0) == '\'') && is_string_prefix(lx->text + begin, length)) {
        lex_string(lx, begin);
        return;
    }
    PyTokenKind kind = PY_T_NAME;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if (length == keywords[i].length && keywords[i].text[0] == lx->text[begin] &&
            memcmp(lx->text + begin, keywords[i].text, length) == 0)
            kind = (PyTokenKind)keywords[i].kind;
    push(lx, kind, begin, lx->pos);
}

static void lex_punctuation(Lexer *lx) {
    uint32_t begin = lx->pos;
    for (size_t i = 0; i < sizeof punctuation / sizeof *punctuation; i++) {
        const Spelling *s = &punctuation[i];
        if (s->text[0] != lx->text[begin] || s->length > lx->end - begin ||
            memcmp(lx->text + begin, s->text, s->length) != 0)
            continue;
        PyTokenKind kind = (PyTokenKind)s->kind;
        char c = s->text[0];
        if (c == '(' || c == '[' || c == '{') open_bracket(lx, c);
        if (lx->pos == lx->end) return; /* nested too deep */
        if ((c == ')' || c == ']' || c == '}') && !close_bracket(lx, c)) kind = PY_T_ERROR;
        lx->pos += s->length;
        push(lx, kind, begin, lx->pos);
        return;
    }
    lx->pos++;
    Range range = make_range(lx, begin, lx->pos);
    if (lx->text[begin] == '!')
        diag_emit(lx->diag, DIAG_PY_FOREIGN, range, "!", "`not`, or `~` for tiles");
    else if (lx->text[begin] == '?')
        diag_emit(lx->diag, DIAG_PY_FOREIGN, range, "?", "`a if c else b`, or tl.where for tiles");
    else
        diag_emit(lx->diag, DIAG_PY_CHARACTER, range, 1, lx->text + begin, (unsigned)(unsigned char)lx->text[begin]);
    push(lx, PY_T_ERROR, begin, lx->pos);
}

/* A line end inside brackets is white space, unless the next line shows that a bracket was forgotten. */
static void join_or_end_line(Lexer *lx) {
    uint32_t at = lx->pos;
    skip_line_end(lx);
    if (lx->depth > 0 && !lx->embedded) {
        uint32_t next = lx->pos;
        while (next < lx->end && (lx->text[next] == ' ' || lx->text[next] == '\t')) next++;
        if (!statement_begins(lx, next)) return;
        report_unclosed(lx);
    }
    if (lx->embedded) return;
    push(lx, PY_T_NEWLINE, at, at + 1);
    begin_line(lx);
}

static void lex_backslash(Lexer *lx) {
    uint32_t begin = lx->pos++;
    if (is_line_end(peek(lx, 0))) {
        skip_line_end(lx);
        if (lx->pos < lx->end) return;
    }
    diag_emit(lx->diag, DIAG_PY_BACKSLASH, make_range(lx, begin, begin + 1));
    push(lx, PY_T_ERROR, begin, begin + 1);
}

static void lex_all(Lexer *lx) {
    while (lx->pos < lx->end) {
        char c = peek(lx, 0);
        if (c == ' ' || c == '\t' || c == '\f') {
            lx->pos++;
        } else if (c == '#' && !lx->embedded) {
            while (lx->pos < lx->end && !is_line_end(peek(lx, 0))) lx->pos++;
        } else if (is_line_end(c)) {
            join_or_end_line(lx);
        } else if (c == '\\') {
            lex_backslash(lx);
        } else if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1)))) {
            lex_number(lx);
        } else if (is_word(c)) {
            lex_word(lx);
        } else if (c == '"' || c == '\'') {
            lex_string(lx, lx->pos);
        } else {
            lex_punctuation(lx);
        }
    }
}

PyTokens py_lex(const SourceFile *file, Range range, PyLexMode mode, Arena *arena, Diag *diag) {
    Lexer state = {.file = file,
                   .arena = arena,
                   .diag = diag,
                   .text = file->text,
                   .pos = range.begin - file->base,
                   .end = range.end - file->base,
                   .levels = 1,
                   .embedded = mode == PY_LEX_FIELD};
    Lexer *lx = &state;
    bool good = true;
    if (!lx->embedded) {
        good = check_text(lx) && check_encoding(lx);
        if (good && lx->end >= 3 && memcmp(lx->text, "\xef\xbb\xbf", 3) == 0) lx->pos = 3;
        if (good) begin_line(lx);
    }
    if (good) lex_all(lx);
    if (lx->depth > 0) report_unclosed(lx);
    if (!lx->embedded) {
        if (lx->tokens.count && VEC_LAST(&lx->tokens).kind != PY_T_NEWLINE) push(lx, PY_T_NEWLINE, lx->end, lx->end);
        for (; lx->levels > 1; lx->levels--) push(lx, PY_T_DEDENT, lx->end, lx->end);
    }
    if (lx->too_many) lx->tokens.count = 0; /* no parser looks for the end of what was cut off */
    push(lx, PY_T_END, lx->end, lx->end);
    push(lx, PY_T_STOP, lx->end, lx->end);
    return (PyTokens){lx->tokens.at, lx->tokens.count};
}
