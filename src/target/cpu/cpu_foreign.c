/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_foreign.c: assembly of NVIDIA's in a text in CUDA, as C++; see cpu_foreign.h.
 *
 *     asm volatile("{.reg .b32 t; shl.b32 t, %1, 3;\n"        do { u32 tw_p0; u32 tw_p1 = (u32)(x);
 *                  "and.b32 %0, t, 0x0f0f0f0f;}"         ->    { u32 tw_r_t; tw_r_t = tw_ptx_shl_b32(tw_p1, 3);
 *                  : "=r"(y) : "r"(x))                          tw_p0 = tw_ptx_and_b32(tw_r_t, 0x0f0f0f0f); }
 *                                                               y = tw_p0; } while (0)
 *
 * All else of the text stays as it is: the words of CUDA are prelude/foreign.h. An instruction is known if that header
 * has a function of its name. */
#include "target/cpu/cpu_foreign.h"

#include "base/embedded.h"

#include <stdlib.h>
#include <string.h>

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

typedef struct Operand {
    const char *name; /* [name], or NULL */
    char kind;        /* r, h, l, f, d; n: a number */
    bool out, in;
    const char *text; /* the expression */
} Operand;

enum { MOST_OPERANDS = 30, MOST_PARTS = 8 };

typedef struct Assembly {
    Arena *arena;
    Text code; /* of all its strings */
    Operand operand[MOST_OPERANDS];
    int count;
    Text out;
    const char *unknown;
} Assembly;

static bool is_letter(char c) { return c && strchr(letters, c); }

/* Behind blanks and comments. */
static const char *skip(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n\\");
        if (at[0] == '/' && at[1] == '/')
            at += strcspn(at, "\n");
        else if (at[0] == '/' && at[1] == '*' && strstr(at + 2, "*/"))
            at = strstr(at + 2, "*/") + 2;
        else
            return at;
    }
}

/* Behind a literal in quotes. */
static const char *skip_quoted(const char *at) {
    char quote = *at++;
    while (*at && *at != quote) at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Strings side by side, with their escapes; NULL: there is none. */
static const char *strings(const char *at, Text *out) {
    at = skip(at);
    if (*at != '"') return NULL;
    for (; *at == '"'; at = skip(at)) {
        const char *end = skip_quoted(at);
        for (at++; at < end - 1; at++) {
            if (*at != '\\') {
                text_add_char(out, *at);
                continue;
            }
            at++;
            text_add_char(out, *at == 'n' ? '\n' : *at == 't' ? ' ' : *at);
        }
        at = end;
    }
    return at;
}

/* (expression) */
static const char *in_brackets(Arena *arena, const char *at, const char **text) {
    at = skip(at);
    if (*at != '(') return NULL;
    const char *begin = at + 1;
    for (int depth = 0; *at;) {
        if (*at == '"' || *at == '\'') {
            at = skip_quoted(at);
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        at++;
        if (!depth) {
            *text = arena_string(arena, begin, (size_t)(at - 1 - begin));
            return at;
        }
    }
    return NULL;
}

/* Outputs and inputs; NULL: they are not understood. */
static const char *operands(Assembly *a, const char *at, bool out) {
    for (at = skip(at); *at != ':' && *at != ')'; at = skip(at)) {
        Operand *o = &a->operand[a->count];
        Text constraint = text_new(a->arena);
        if (a->count == MOST_OPERANDS) return NULL;
        *o = (Operand){.out = out, .in = !out};
        if (*at == '[') {
            size_t n = strcspn(at, "]");
            o->name = arena_string(a->arena, at + 1, n - 1);
            at += n + (at[n] == ']');
        }
        at = strings(at, &constraint);
        if (!at || !constraint.length) return NULL;
        const char *c = constraint.at;
        if (*c == '+') o->in = true;
        c += strspn(c, "=+&");
        o->kind = *c == 'i' ? 'n' : *c;
        if (!*c || c[1] || !strchr("rhlfdni", *c)) return NULL;
        at = in_brackets(a->arena, at, &o->text);
        if (!at) return NULL;
        a->count++;
        at = skip(at);
        if (*at == ',') at++;
    }
    return at;
}

static const char *type_of(char kind) {
    return kind == 'h' ? "u16" : kind == 'r' ? "u32" : kind == 'f' ? "f32" : kind == 'd' ? "f64" : "u64";
}

static const char *register_type(const char *word) {
    static const char *const rows[][2] = {{".b16", "u16"}, {".u16", "u16"}, {".f16", "u16"}, {".b32", "u32"},
                                          {".u32", "u32"}, {".s32", "u32"}, {".f16x2", "u32"}, {".b64", "u64"},
                                          {".u64", "u64"}, {".s64", "u64"}, {".f32", "f32"}, {".bf16x2", "u32"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(word, rows[i][0]) == 0) return rows[i][1];
    return NULL;
}

/* An operand of an instruction as C++; NULL: it is none that is known. */
static const char *value_of(Assembly *a, const char *text) {
    char *end;
    if (*text == '%') {
        const char *name = text + 1;
        if (*name == '[') {
            size_t n = strcspn(name, "]");
            for (int i = 0; i < a->count; i++)
                if (a->operand[i].name && strlen(a->operand[i].name) == n - 1 &&
                    strncmp(a->operand[i].name, name + 1, n - 1) == 0)
                    return arena_printf(a->arena, "tw_p%d", i);
            return NULL;
        }
        long n = strtol(name, &end, 10);
        return end == name || *end || n >= a->count ? NULL : arena_printf(a->arena, "tw_p%ld", n);
    }
    if (text[0] == '0' && (text[1] == 'f' || text[1] == 'F') && strlen(text) == 10)
        return arena_printf(a->arena, "tw_as_f32(0x%su)", text + 2);
    if ((*text >= '0' && *text <= '9') || *text == '-') return text;
    for (const char *c = text; *c; c++)
        if (!is_letter(*c)) return NULL;
    return *text ? arena_printf(a->arena, "tw_r_%s", text) : NULL;
}

/* Between commas that stand in no braces, without blanks. */
static int cut(Arena *arena, const char *at, const char *parts[MOST_PARTS]) {
    int count = 0, depth = 0;
    while (*at && count < MOST_PARTS) {
        Text part = text_new(arena);
        for (; *at && (*at != ',' || depth); at++) {
            depth += (*at == '{') - (*at == '}');
            if (!strchr(" \t\r\n", *at)) text_add_char(&part, *at);
        }
        parts[count++] = part.length ? part.at : "";
        if (*at) at++;
    }
    return count;
}

/* `{a, b}` or one operand: their values, separated by commas. */
static const char *values_of(Assembly *a, const char *text, int *count) {
    const char *parts[MOST_PARTS];
    Text out = text_new(a->arena);
    bool several = *text == '{';
    if (several) text = arena_string(a->arena, text + 1, strcspn(text + 1, "}"));
    *count = cut(a->arena, text, parts);
    for (int i = 0; i < *count; i++) {
        const char *value = value_of(a, parts[i]);
        if (!value) return NULL;
        text_add(&out, "%s%s", i ? ", " : "", value);
    }
    return *count ? out.at : NULL;
}

/* add.rn.f32 is add_f32 */
static const char *function_of(Assembly *a, const char *mnemonic) {
    const EmbeddedFile *file = embedded_files;
    Text name = text_new(a->arena);
    while (strcmp(file->path, "cpu/prelude/foreign.h") != 0) file++;
    for (const char *c = mnemonic; *c; c++) {
        if (strncmp(c, ".rn", 3) == 0 && (c[3] == '.' || !c[3])) {
            c += 2;
            continue;
        }
        text_add_char(&name, *c == '.' ? '_' : *c);
    }
    return strstr(file->text, arena_printf(a->arena, "(%s,", name.at)) ? name.at : NULL;
}

static bool declare(Assembly *a, const char *at) {
    size_t n = strcspn(at, " \t\n");
    const char *type = register_type(arena_string(a->arena, at, n)), *parts[MOST_PARTS];
    if (!type) return false;
    int count = cut(a->arena, at + n, parts);
    for (int i = 0; i < count; i++) {
        const char *more = strchr(parts[i], '<');
        int many = more ? atoi(more + 1) : 0;
        if (!more) text_add(&a->out, "%s tw_r_%s; ", type, parts[i]);
        for (int r = 0; r < many && r < 64; r++)
            text_add(&a->out, "%s tw_r_%.*s%d; ", type, (int)(more - parts[i]), parts[i], r);
    }
    return true;
}

static bool instruction(Assembly *a, const char *at) {
    const char *parts[MOST_PARTS], *from = "", *separator = "";
    size_t n = strcspn(at, " \t\n");
    const char *mnemonic = arena_string(a->arena, at, n);
    if (strcmp(mnemonic, ".reg") == 0) return declare(a, at + n + strspn(at + n, " \t\n"));
    const char *name = function_of(a, mnemonic);
    int count = cut(a->arena, at + n, parts), width, ignored;
    a->unknown = mnemonic;
    if (!name || count < 2) return false;
    const char *to = values_of(a, parts[0], &width);
    for (int i = 1; i < count; i++, separator = ", ") {
        const char *value = values_of(a, parts[i], &ignored);
        if (!value) return false;
        from = arena_printf(a->arena, "%s%s%s", from, separator, value);
    }
    if (!to || width > 2 || (width == 2 && strncmp(name, "mov_", 4) != 0)) return false;
    if (width == 2)
        text_add(&a->out, "tw_ptx_parts(%s, %s); ", to, from);
    else
        text_add(&a->out, "%s = tw_ptx_%s(%s); ", to, name, from);
    a->unknown = NULL;
    return true;
}

static bool body(Assembly *a) {
    for (const char *at = skip(a->code.length ? a->code.at : ""); *at; at = skip(at)) {
        if (*at == ';' || *at == '{' || *at == '}') {
            if (*at != ';') text_add(&a->out, "%c ", *at);
            at++;
            continue;
        }
        size_t n = strcspn(at, ";");
        /* the end of a block may stand behind an instruction that has no `;` of its own */
        if (!instruction(a, arena_string(a->arena, at, n))) return false;
        at += n;
    }
    return true;
}

/* What stands behind `asm`; NULL: it is not understood. */
static const char *assembly(Arena *arena, const char *at, Text *out, const char **unknown) {
    Assembly a = {.arena = arena, .code = text_new(arena), .out = text_new(arena)};
    at = skip(at);
    *unknown = "asm";
    while (is_letter(*at)) at = skip(at + strspn(at, letters)); /* volatile */
    if (*at != '(') return NULL;
    at = strings(at + 1, &a.code);
    for (int section = 0; at && *(at = skip(at)) == ':'; section++) {
        if (section < 2)
            at = operands(&a, at + 1, section == 0);
        else
            at += strcspn(at, ")"); /* what it changes besides */
    }
    if (!at || *at != ')') return NULL;
    text_add(&a.out, "do { ");
    for (int i = 0; i < a.count; i++) {
        const char *type = type_of(a.operand[i].kind);
        text_add(&a.out, "%s tw_p%d", type, i);
        if (a.operand[i].in) text_add(&a.out, " = (%s)(%s)", type, a.operand[i].text);
        text_add(&a.out, "; ");
    }
    if (!body(&a)) {
        if (a.unknown) *unknown = a.unknown;
        return NULL;
    }
    for (int i = 0; i < a.count; i++)
        if (a.operand[i].out) text_add(&a.out, "%s = tw_p%d; ", a.operand[i].text, i);
    text_add(&a.out, "} while (0)");
    text_add(out, "%s", a.out.at);
    return at + 1;
}

const char *foreign_text(Arena *arena, const char *text, const char **unknown) {
    Text out = text_new(arena);
    for (const char *at = text; *at;) {
        const char *begin = at;
        if (*at == '"' || *at == '\'')
            at = skip_quoted(at);
        else if (is_letter(*at))
            at += strspn(at, letters);
        else if (*at == '/' && (at[1] == '/' || at[1] == '*'))
            at = skip(at);
        else
            at++;
        size_t n = (size_t)(at - begin);
        if ((n == 3 && strncmp(begin, "asm", n) == 0) || (n == 7 && strncmp(begin, "__asm__", n) == 0)) {
            at = assembly(arena, at, &out, unknown);
            if (!at) return NULL;
            continue;
        }
        text_add(&out, "%.*s", (int)n, begin);
    }
    return out.length ? out.at : "";
}
