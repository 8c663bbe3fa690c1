/* SPDX-License-Identifier: Apache-2.0 */
/* c_lex.c: see c_lex.h. Comments and spliced lines vanish here; numbers are read later, by
 * c_number, because a skipped #if branch may hold anything. */
#include "syntax/c_lex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    int precedence;
} words[CT_COUNT] = {[CT_END] = {"the end of the file", 0},
                     [CT_IDENT] = {"a name", 0},
                     [CT_NUMBER] = {"a number", 0},
                     [CT_STRING] = {"a string", 0},
                     [CT_CHAR] = {"a character", 0},
                     [CT_OTHER] = {"a stray character", 0},
#define C_PUNCT(id, text, precedence) [CT_##id] = {text, precedence},
                     C_PUNCTUATORS(C_PUNCT)
#undef C_PUNCT
#define C_KEYWORD(id, text) [CK_##id] = {text, 0},
                         C_KEYWORDS(C_KEYWORD)
#undef C_KEYWORD
};

const char *c_token_text(CTok kind) { return words[kind].text; }
int c_token_precedence(CTok kind) { return words[kind].precedence; }

CTok c_keyword(const char *text, size_t length) {
    if (text_equal(text, length, "static_assert")) return CK_STATIC_ASSERT; /* as C23 has it */
    for (int kind = CT_HASH + 1; kind < CT_COUNT; kind++)
        if (*words[kind].text == *text && text_equal(text, length, words[kind].text)) return (CTok)kind;
    return CT_IDENT;
}

typedef struct Lexer {
    Arena *arena;
    Diag *diag;
    const SourceFile *file;
    const char *at, *end;
    CTokens *out;
} Lexer;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c); }

static char peek(const Lexer *lx, size_t ahead) { return (size_t)(lx->end - lx->at) > ahead ? lx->at[ahead] : 0; }

static Range range_of(const Lexer *lx, const char *begin, const char *end) {
    return (Range){lx->file->base + (uint32_t)(begin - lx->file->text),
                   lx->file->base + (uint32_t)(end - lx->file->text)};
}

/* Length of a backslash-newline at p, or 0. */
static size_t splice_length(const Lexer *lx, const char *p) {
    if (p >= lx->end || *p != '\\') return 0;
    if (p + 1 < lx->end && p[1] == '\n') return 2;
    return p + 2 < lx->end && p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

static void skip_block_comment(Lexer *lx) {
    const char *begin = lx->at;
    for (lx->at += 2; lx->at < lx->end; lx->at++)
        if (lx->at[0] == '*' && peek(lx, 1) == '/') {
            lx->at += 2;
            return;
        }
    diag_emit(lx->diag, DIAG_C_UNTERMINATED_COMMENT, range_of(lx, begin, begin + 2));
}

/* Skips white space and comments; says whether there was any and whether a line began. */
static void skip_space(Lexer *lx, bool *spaced, bool *line_start) {
    while (lx->at < lx->end) {
        char c = *lx->at;
        size_t splice = splice_length(lx, lx->at);
        if (c == '\n') {
            *line_start = *spaced = true;
            lx->at++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            *spaced = true;
            lx->at++;
        } else if (c == '/' && peek(lx, 1) == '*') {
            *spaced = true;
            skip_block_comment(lx);
        } else if (c == '/' && peek(lx, 1) == '/') {
            *spaced = true;
            while (lx->at < lx->end && *lx->at != '\n')
                lx->at += splice_length(lx, lx->at) ? splice_length(lx, lx->at) : 1;
        } else if (splice) {
            const char *begin = lx->at;
            lx->at += splice;
            if (begin > lx->file->text && is_name(begin[-1]) && is_name(peek(lx, 0)))
                diag_emit(lx->diag, DIAG_C_SPLIT_TOKEN, range_of(lx, begin, begin + 1));
        } else {
            return;
        }
    }
}

/* An unterminated one is CT_OTHER: skipped text may well say "don't". */
static CTok lex_quoted(Lexer *lx, char quote) {
    lx->at++;
    while (lx->at < lx->end && *lx->at != quote && *lx->at != '\n') {
        size_t splice = splice_length(lx, lx->at);
        lx->at += splice ? splice : *lx->at == '\\' && lx->at + 1 < lx->end ? 2 : 1;
    }
    if (lx->at >= lx->end || *lx->at != quote) return CT_OTHER;
    lx->at++;
    return quote == '"' ? CT_STRING : CT_CHAR;
}

/* pp-number: digits, letters and dots, and a sign after an exponent letter. */
static void lex_number(Lexer *lx) {
    while (lx->at < lx->end && (is_name(*lx->at) || *lx->at == '.')) {
        char c = *lx->at++, next = peek(lx, 0);
        bool exponent = c == 'e' || c == 'E' || c == 'p' || c == 'P';
        if (exponent && (next == '+' || next == '-')) lx->at++;
    }
}

static CTok lex_token(Lexer *lx) {
    char c = *lx->at;
    if (is_name_start(c)) {
        while (lx->at < lx->end && is_name(*lx->at)) lx->at++;
        return CT_IDENT;
    }
    if (is_digit(c) || (c == '.' && is_digit(peek(lx, 1)))) {
        lex_number(lx);
        return CT_NUMBER;
    }
    if (c == '"' || c == '\'') return lex_quoted(lx, c);
    for (int kind = CT_OTHER + 1; kind <= CT_HASH; kind++) {
        if (*words[kind].text != c) continue;
        size_t length = strlen(words[kind].text);
        if ((size_t)(lx->end - lx->at) >= length && !memcmp(lx->at, words[kind].text, length)) {
            lx->at += length;
            return (CTok)kind;
        }
    }
    lx->at++;
    while (lx->at < lx->end && ((unsigned char)*lx->at & 0xC0) == 0x80) lx->at++;
    return CT_OTHER;
}

/* With the end; tokens are most of what a text takes, so they get the room that they need and no more. */
static size_t count_tokens(Arena *arena, const SourceFile *file) {
    Diag silent;
    diag_init(&silent, arena, NULL);
    Lexer lx = {arena, &silent, file, file->text, file->text + file->size, NULL};
    bool spaced = false, line_start = false;
    size_t count = 1;
    for (skip_space(&lx, &spaced, &line_start); lx.at < lx.end && count <= C_TOKEN_LIMIT + 1;
         skip_space(&lx, &spaced, &line_start)) {
        lex_token(&lx);
        count++;
    }
    return count;
}

void c_lex(Arena *arena, Diag *diag, const SourceFile *file, CTokens *out) {
    Lexer lx = {arena, diag, file, file->text, file->text + file->size, out};
    bool line_start = true;
    if (!out->at) VEC_RESERVE(out, arena, count_tokens(arena, file));
    for (;;) {
        bool spaced = false;
        skip_space(&lx, &spaced, &line_start);
        const char *begin = lx.at;
        CTok kind = lx.at < lx.end ? lex_token(&lx) : CT_END;
        *VEC_PUSH(out, arena) = (CToken){.kind = kind,
                                         .line_start = line_start,
                                         .spaced = spaced,
                                         .length = (uint32_t)(lx.at - begin),
                                         .text = begin,
                                         .range = range_of(&lx, begin, lx.at)};
        if (kind == CT_END) return;
        if (out->count > C_TOKEN_LIMIT) { /* too many anyway: whoever asked for them says so */
            *VEC_PUSH(out, arena) = (CToken){.kind = CT_END, .text = lx.at, .range = range_of(&lx, lx.at, lx.at)};
            return;
        }
        line_start = false;
    }
}

static bool bad_number(Diag *diag, const CToken *token, const char *why) {
    diag_emit(diag, DIAG_C_BAD_NUMBER, token->range, (int)token->length, token->text, why);
    return false;
}

/* Suffixes after the digits: u, l, ll of integers; f, l of floats; any case. */
static bool read_suffix(const char *s, CNumber *out) {
    for (; *s; s++) {
        bool twice = (*s == 'l' || *s == 'L') && s[1] == *s;
        if ((*s == 'u' || *s == 'U') && !out->is_float && !out->is_unsigned) {
            out->is_unsigned = true;
        } else if ((*s == 'l' || *s == 'L') && !out->is_long && !(twice && out->is_float)) {
            out->is_long = true;
            s += twice;
        } else if ((*s == 'f' || *s == 'F') && out->is_float && !out->is_single && !s[1]) {
            out->is_single = true;
        } else {
            return false;
        }
    }
    return true;
}

bool c_number(Arena *arena, Diag *diag, const CToken *token, CNumber *out) {
    *out = (CNumber){0};
    char small[32], *text = small; /* room for nearly every number */
    if (token->length < sizeof small)
        *(char *)mempcpy(small, token->text, token->length) = 0;
    else
        text = arena_string(arena, token->text, token->length);
    char *rest = text;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool binary = text[0] == '0' && (text[1] == 'b' || text[1] == 'B');
    out->is_float = strpbrk(text, hex ? ".pP" : ".eE") != NULL;
    if (out->is_float) {
        out->real = strtod(text, &rest);
        if (rest == text) return bad_number(diag, token, "no digits");
    } else {
        errno = 0;
        bool octal = text[0] == '0' && !hex && !binary;
        out->not_decimal = text[0] == '0';
        out->integer = strtoull(text + (binary ? 2 : 0), &rest, hex ? 16 : binary ? 2 : octal ? 8 : 10);
        if (errno == ERANGE) return bad_number(diag, token, "it does not fit 64 bits");
        if (octal && is_digit(*rest)) return bad_number(diag, token, "octal digits are 0 to 7");
        if (hex && rest <= text + 2) return bad_number(diag, token, "no digits");
        if (binary && rest <= text + 2) return bad_number(diag, token, "no digits");
    }
    if (!read_suffix(rest, out)) return bad_number(diag, token, "suffixes are u, l, ll for integers and f for floats");
    return true;
}

static const char *const simple_escapes = "n\nt\tr\ra\ab\bf\fv\v\\\\\"\"''??";

char *c_string(Arena *arena, Diag *diag, const CToken *token, size_t *length) {
    Text out = text_new(arena);
    const char *p = token->text + 1, *end = token->text + token->length;
    if (end > p && end[-1] == token->text[0]) end--;
    while (p < end) {
        if (*p != '\\') {
            text_add_char(&out, *p++);
            continue;
        }
        p++;
        if (p >= end) break;
        if (*p == '\r' || *p == '\n') { /* a spliced line inside the string */
            p += *p == '\r' && p + 1 < end ? 2 : 1;
            continue;
        }
        const char *simple = simple_escapes;
        while (*simple && *simple != *p) simple += 2;
        if (*simple) {
            text_add_char(&out, simple[1]);
            p++;
            continue;
        }
        unsigned value = 0;
        const char *digits = *p == 'x' ? ++p : p;
        bool hex = digits > token->text && digits[-1] == 'x';
        while (p < end && p - digits < (hex ? 2 : 3)) {
            int digit = is_digit(*p) ? *p - '0' : (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10 : 16;
            if (digit >= (hex ? 16 : 8)) break;
            value = value * (hex ? 16 : 8) + (unsigned)digit;
            p++;
        }
        if (p == digits || value > 255) {
            diag_emit(diag, DIAG_C_BAD_ESCAPE, token->range);
            p = p == digits && p < end ? p + 1 : p;
        }
        text_add_char(&out, (char)value);
    }
    *length = out.length;
    return out.at;
}
