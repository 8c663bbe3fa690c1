/* SPDX-License-Identifier: Apache-2.0 */
/* parse_token.c: tokens of the text form, and types.
 *
 * Ops end at a newline or `;`, which are kept as a mark on the token behind them. Comments start with `//`. Names are
 * those of the doors: letters beyond ASCII are letters, and a part of an argument has a dotted name (`%args.0`). */
#include "ir/reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- tokens --- */

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

void reader_advance(Parser *p) {
    const char *s = p->at;
    bool newline = false;
    for (;; s++) {
        if (*s == '\n' || *s == ';')
            newline = true;
        else if (s[0] == '/' && s[1] == '/') {
            while (*s && *s != '\n') s++;
            s--;
        } else if (!isspace((unsigned char)*s) || !*s)
            break;
    }
    Token t = {.at = s, .newline_before = newline};
    if (!*s)
        t.kind = T_END; /* a NUL inside the text ends it too */
    else if (*s == '%' || *s == '@') {
        t.kind = *s == '%' ? T_VALUE : T_SYMBOL;
        t.at = ++s;
        while (is_letter(*s) || (*s == '.' && t.kind == T_VALUE && s > t.at && is_letter(s[1]))) s++;
    } else if (isdigit((unsigned char)*s) || (*s == '-' && isdigit((unsigned char)s[1]))) {
        t.kind = T_NUMBER;
        for (s++; isalnum((unsigned char)*s) || *s == '.' || ((*s == '-' || *s == '+') && (s[-1] == 'e'));) s++;
    } else if (isalpha((unsigned char)*s) || *s == '_' || (*s == '-' && strncmp(s, "-inf", 4) == 0)) {
        t.kind = T_NAME;
        for (s++; isalnum((unsigned char)*s) || *s == '_';) s++;
    } else if (*s == '"') {
        t.kind = T_STRING;
        for (s++; *s && *s != '"' && *s != '\n'; s++)
            if (*s == '\\' && s[1]) s++;
        if (*s == '"') s++;
    } else {
        t.kind = T_PUNCT;
        s++;
    }
    t.length = (size_t)(s - t.at);
    t.range.begin = p->file->base + (uint32_t)(t.at - p->file->text);
    t.range.end = t.range.begin + (uint32_t)t.length;
    p->token = t;
    p->at = s;
}

/* `%slot.field` is one token where a dotted name is one: of put and get its last part is the field. */
void reader_split_field(Parser *p) {
    size_t length = p->token.length;
    while (length && p->token.at[length - 1] != '.') length--;
    if (p->token.kind != T_VALUE || !length || *p->at == '.') return; /* no dot, or a field in quotes follows */
    p->token.length = length - 1;
    p->token.range.end = p->token.range.begin + (uint32_t)p->token.length;
    p->at = p->token.at + p->token.length;
}

bool reader_error(Parser *p, Range range, const char *format, ...) {
    if (!p->failed) {
        va_list args;
        va_start(args, format);
        diag_emit(p->m->diag, DIAG_IR_SYNTAX, range, arena_vprintf(p->m->arena, format, args));
        va_end(args);
    }
    p->failed = true;
    return false;
}

char *reader_token(Parser *p) { return arena_string(p->m->arena, p->token.at, p->token.length); }
bool reader_sees(Parser *p, char c) { return p->token.kind == T_PUNCT && *p->token.at == c; }
bool reader_sees_name(Parser *p, const char *name) {
    return p->token.kind == T_NAME && text_equal(p->token.at, p->token.length, name);
}
bool reader_accept(Parser *p, char c) {
    if (!reader_sees(p, c)) return false;
    reader_advance(p);
    return true;
}
bool reader_accept_name(Parser *p, const char *name) {
    if (!reader_sees_name(p, name)) return false;
    reader_advance(p);
    return true;
}
bool reader_expect(Parser *p, char c) {
    return reader_accept(p, c) || reader_error(p, p->token.range, "`%c` is expected here", c);
}

bool reader_int(Parser *p, int64_t *value) {
    errno = 0;
    char *end = NULL, *text = reader_token(p);
    *value = *text == '-' ? strtoll(text, &end, 10) : (int64_t)strtoull(text, &end, 10);
    if (p->token.kind != T_NUMBER || *end || errno)
        return reader_error(p, p->token.range, "an integer of at most 64 bits is expected here");
    reader_advance(p);
    return true;
}

const char *reader_text(Parser *p) {
    if (p->token.kind == T_NAME) {
        char *text = reader_token(p);
        reader_advance(p);
        return text;
    }
    if (p->token.kind != T_STRING || p->token.length < 2) {
        reader_error(p, p->token.range, "a name or a closed string is expected here");
        return "";
    }
    Text out = text_new(p->m->arena);
    for (const char *s = p->token.at + 1, *end = p->token.at + p->token.length - 1; s < end; s++) {
        if (*s == '\\' && s + 3 < end + 1 && s[1] == 'x') {
            text_add_char(&out, (char)strtol(arena_string(p->m->arena, s + 2, 2), NULL, 16));
            s += 3;
        } else if (*s == '\\' && s + 1 < end)
            text_add_char(&out, *++s);
        else
            text_add_char(&out, *s);
    }
    reader_advance(p);
    return out.at;
}

/* --- types --- */

/* elem = "i32" | ... */
static bool parse_elem(Parser *p, Elem *elem) {
    for (int e = 0; e < EL_COUNT; e++)
        if (reader_accept_name(p, elem_info[e].text)) {
            *elem = (Elem)e;
            return true;
        }
    return reader_error(p, p->token.range, "an element type (i32, f16, bf16 ...) is expected here");
}

/* shape = ["[" INT {"," INT} "]"] */
static bool parse_shape(Parser *p, int *rank, int64_t *extent) {
    *rank = 0;
    if (!reader_accept(p, '[')) return true;
    int64_t elements = 1;
    do {
        Range range = p->token.range;
        if (*rank == MAX_RANK) return reader_error(p, range, "tiles have at most rank %d", MAX_RANK);
        if (!reader_int(p, &extent[*rank])) return false;
        if (extent[*rank] < 1 || extent[*rank] > MAX_TILE_ELEMENTS)
            return reader_error(p, range, "an extent must be in 1 .. 2^20");
        elements *= extent[(*rank)++];
        if (elements > MAX_TILE_ELEMENTS) return reader_error(p, range, "a tile has at most 2^20 elements");
    } while (reader_accept(p, ','));
    return reader_expect(p, ']');
}

/* type = ["*"] elem shape | "tensor<" elem "," INT ">" | "buf<" elem shape "," scope ">" | "{" field {"," field} "}" |
 * "bar" field = FIELD ":" type ["#" NAME] */
const Type *reader_type(Parser *p) {
    Elem elem = EL_I1;
    int rank = 0;
    int64_t extent[MAX_RANK] = {0};
    if (++p->depth > MAX_NESTING) return reader_error(p, p->token.range, "types are nested too deep"), NULL;
    const Type *type = NULL;
    if (reader_accept_name(p, "tensor")) {
        int64_t dims = 0;
        if (!reader_expect(p, '<') || !parse_elem(p, &elem) || !reader_expect(p, ',') || !reader_int(p, &dims) ||
            !reader_expect(p, '>'))
            return NULL;
        if (dims < 1 || dims > MAX_RANK)
            return reader_error(p, p->token.range, "tensors have rank 1 .. %d", MAX_RANK), NULL;
        type = ty_tensor(p->m, elem, (int)dims);
    } else if (reader_accept_name(p, "buf")) {
        if (!reader_expect(p, '<') || !parse_elem(p, &elem) || !parse_shape(p, &rank, extent) || !reader_expect(p, ','))
            return NULL;
        Word scope = WORD_NONE;
        for (int w = SCOPE_SHARED; w <= SCOPE_GLOBAL; w++)
            if (reader_sees_name(p, word_info[w].text)) scope = (Word)w;
        if (!scope) return reader_error(p, p->token.range, "shared, fragment, local or global is expected here"), NULL;
        reader_advance(p);
        if (!reader_expect(p, '>')) return NULL;
        type = ty_buffer(p->m, elem, rank, extent, scope);
    } else if (reader_accept_name(p, "bar")) {
        type = ty_bar(p->m);
    } else if (reader_accept(p, '{')) {
        VEC(Field) fields = {0};
        p->fields.count = 0;
        while (!p->failed && !reader_sees(p, '}')) {
            Range range = p->token.range;
            Field field = {reader_text(p), NULL};
            for (size_t i = 0; i < fields.count; i++)
                if (strcmp(fields.at[i].name, field.name) == 0)
                    return reader_error(p, range, "there is a field `%s` already", field.name), NULL;
            if (!reader_expect(p, ':') || !(field.type = reader_type(p))) return NULL;
            if (field.type->kind != TY_TILE)
                return reader_error(p, p->token.range, "the fields of a ring are tiles or scalars"), NULL;
            *VEC_PUSH(&fields, p->m->arena) = field;
            *VEC_PUSH(&p->fields, p->m->arena) = reader_layout_use(p);
            if (!reader_accept(p, ',')) break;
        }
        if (!reader_expect(p, '}')) return NULL;
        type = ty_ring(p->m, (int)fields.count, fields.at);
    } else {
        bool pointer = reader_accept(p, '*');
        if (!parse_elem(p, &elem) || !parse_shape(p, &rank, extent)) return NULL;
        type = pointer ? ty_pointer_tile(p->m, elem, rank, extent) : ty_tile(p->m, elem, rank, extent);
    }
    p->depth--;
    return p->failed ? NULL : type;
}
