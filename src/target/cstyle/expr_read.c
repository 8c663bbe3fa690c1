/* SPDX-License-Identifier: Apache-2.0 */
/* expr_read.c: templates of expressions and lines; see expr.h.
 *
 * A template is the C text that an emitter's source has between quotes. It is read once, when it is used: its
 * pieces and numbers are filled in, each %p becomes the byte HOLE, and what results is read by the grammar of C's
 * expressions, as far as emitters write them. */
#include "target/cstyle/expr.h"

#include <string.h>

enum { HOLE = 1, MOST_DIGITS = 9 };

typedef struct Filled {
    char *text;
    ExprList holes;
} Filled;

typedef struct Reader {
    Arena *arena;
    const char *all, *s; /* the whole template, and where it is read */
    const Expr *const *holes;
} Reader;

/* --- filling in --- */

static void add_number(Text *t, const char *spec, const char *modifier, va_list *args) {
    char conversion = spec[strlen(spec) - 1];
    if (strchr("eEfFgG", conversion))
        text_add(t, spec, va_arg(*args, double));
    else if (strcmp(modifier, "ll") == 0)
        text_add(t, spec, va_arg(*args, long long));
    else if (strcmp(modifier, "l") == 0)
        text_add(t, spec, va_arg(*args, long));
    else if (strcmp(modifier, "z") == 0)
        text_add(t, spec, va_arg(*args, size_t));
    else
        text_add(t, spec, va_arg(*args, int));
}

/* What is an expression comes as a tree. A comment may say anything. */
static void check_piece(const Text *t, const char *format, const char *piece) {
    bool whole = strpbrk(piece, "()[]?,;\"") || (strchr(piece, ' ') && strpbrk(piece, "+-/%&|^<>=!~"));
    if (whole && !(t->at && strstr(t->at, "//")))
        ice(t->arena->trap, "cstyle: \"%s\" is no piece of a name, in \"%s\"", piece, format);
}

static void add_piece(Text *t, const char *spec, va_list *args, const char *read) {
    if (!strchr(spec, '*')) {
        const char *piece = va_arg(*args, const char *);
        if (read) check_piece(t, read, piece);
        text_add(t, spec, piece);
        return;
    }
    int width = va_arg(*args, int);
    text_add(t, spec, width, va_arg(*args, const char *));
}

/* printf, but that %p leaves a HOLE and goes to `holes`; is the text read afterwards? */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static Filled fill(Arena *arena, const char *format, va_list *args, bool read) {
    Filled f = {0};
    Text t = text_new(arena);
    for (const char *s = format; *s;) {
        if (*s != '%') {
            text_add_char(&t, *s++);
            continue;
        }
        const char *modifier = s + 1 + strspn(s + 1, "-+ #0123456789.*"), *end = modifier + strspn(modifier, "lz");
        char *spec = arena_string(arena, s, (size_t)(end + 1 - s));
        if (*end == '%')
            text_add_char(&t, '%');
        else if (*end == 'p') {
            *VEC_PUSH(&f.holes, arena) = va_arg(*args, const Expr *);
            text_add_char(&t, HOLE);
        } else if (*end == 's')
            add_piece(&t, spec, args, read ? format : NULL);
        else
            add_number(&t, spec, arena_string(arena, modifier, (size_t)(end - modifier)), args);
        s = end + 1;
    }
    f.text = t.at;
    return f;
}
#pragma GCC diagnostic pop

/* --- reading --- */

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t word_length(const char *s) {
    size_t n = 0;
    while (is_word_char(s[n])) n++;
    return n;
}

static _Noreturn void wrong(const Reader *r) {
    ice(r->arena->trap, "cstyle: the template \"%s\" cannot be read at \"%s\"", r->all, r->s);
}

static void expect(Reader *r, const char *text) {
    size_t length = strlen(text);
    if (strncmp(r->s, text, length) != 0) wrong(r);
    r->s += length;
}

static const Expr *make(Reader *r, Expr x, const Expr *const *args) {
    if (x.count) x.args = arena_copy(r->arena, args, (size_t)x.count * sizeof *args);
    return arena_copy(r->arena, &x, sizeof x);
}

static const Expr *read_operand(Reader *r, int least);

/* An operator with blanks around it; EXPR_OPERATOR_COUNT: there is none. */
static ExprOperator find_operator(const char *s, size_t *length) {
    if (*s != ' ') return EXPR_OPERATOR_COUNT;
    *length = strcspn(s + 1, " ");
    for (ExprOperator op = 0; s[*length + 1] == ' ' && op < EXPR_OPERATOR_COUNT; op++)
        if (text_equal(s + 1, *length, expr_operators[op].text)) return op;
    return EXPR_OPERATOR_COUNT;
}

static bool begins_unary(const char *s) { return *s && strchr("-!~&*+", *s) && s[1] && !strchr("= ,)", s[1]); }

static bool begins_operand(const char *s) {
    return is_word_char(*s) || *s == HOLE || *s == '(' || *s == '"' || *s == '\'' || begins_unary(s);
}

/* The length of "(type)" before an operand; 0: no cast. */
static size_t cast_length(const char *s) {
    size_t n = 1;
    bool words = false, star = false;
    for (; is_word_char(s[n]) || s[n] == ' ' || s[n] == '*'; n++) {
        if (s[n] == '*') star = true;
        if (is_word_char(s[n]) && star && word_length(s + n) != 5) return 0; /* a product, unless it is "* const" */
        words |= is_word_char(s[n]);
    }
    return words && !is_digit(s[1]) && s[n] == ')' && begins_operand(s + n + 1) ? n + 1 : 0;
}

static const Expr *read_number(Reader *r) {
    const char *s = r->s, *end = s;
    bool hexadecimal = s[0] == '0' && s[1] == 'x';
    while (is_word_char(*end) || *end == '.' ||
           (!hexadecimal && (*end == '-' || *end == '+') && (end[-1] == 'e' || end[-1] == 'E')))
        end++;
    size_t length = (size_t)(end - s);
    r->s = end;
    int64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(s[i]) || length > MOST_DIGITS || (s[0] == '0' && length > 1))
            return ex_atom(r->arena, arena_string(r->arena, s, length));
        value = value * 10 + (s[i] - '0');
    }
    return ex_int(r->arena, value);
}

static const Expr *read_quoted(Reader *r) {
    const char *begin = r->s, quote = *r->s++;
    while (*r->s && *r->s != quote) r->s += *r->s == '\\' && r->s[1] ? 2 : 1;
    if (!*r->s) wrong(r);
    r->s++;
    return ex_atom(r->arena, arena_string(r->arena, begin, (size_t)(r->s - begin)));
}

static const Expr *read_primary(Reader *r) {
    if (*r->s == HOLE) {
        r->s++;
        if (is_word_char(*r->s)) wrong(r);
        return *r->holes++;
    }
    if (*r->s == '(') {
        r->s++;
        const Expr *inner = read_operand(r, PREC_CHOICE);
        expect(r, ")");
        return ex_group(r->arena, inner);
    }
    if (*r->s == '"' || *r->s == '\'') return read_quoted(r);
    if (is_digit(*r->s)) return read_number(r);
    size_t length = word_length(r->s);
    if (!length) wrong(r);
    r->s += length;
    if (*r->s == HOLE) wrong(r);
    return ex_name(r->arena, arena_string(r->arena, r->s - length, length));
}

/* What a macro takes beside expressions: a type of several words, a statement. */
static const Expr *read_argument(Reader *r) {
    Reader before = *r;
    if (begins_operand(r->s)) {
        const Expr *x = read_operand(r, PREC_CHOICE);
        if (*r->s == ',' || *r->s == ')') return x;
        *r = before;
    }
    size_t length = strcspn(r->s, ",)(\1");
    if (!length || (r->s[length] != ',' && r->s[length] != ')')) wrong(r);
    r->s += length;
    return ex_atom(r->arena, arena_string(r->arena, r->s - length, length));
}

static const Expr *read_call(Reader *r, const Expr *callee) {
    ExprList args = {0};
    *VEC_PUSH(&args, r->arena) = callee;
    expect(r, "(");
    while (*r->s != ')') {
        if (args.count > 1) expect(r, ", ");
        *VEC_PUSH(&args, r->arena) = read_argument(r);
    }
    r->s++;
    return make(r, (Expr){.kind = EX_CALL, .count = (int)args.count}, args.at);
}

static const Expr *read_postfix(Reader *r) {
    const Expr *x = read_primary(r);
    for (;;) {
        const char *s = r->s;
        bool twice = (s[0] == '+' && s[1] == '+') || (s[0] == '-' && s[1] == '-');
        if (*s == '(') {
            x = read_call(r, x);
        } else if (*s == '[') {
            r->s++;
            x = make(r, (Expr){.kind = EX_INDEX, .count = 2}, (const Expr *const[]){x, read_operand(r, PREC_CHOICE)});
            expect(r, "]");
        } else if (twice || *s == '.' || (s[0] == '-' && s[1] == '>')) {
            size_t length = twice ? 2 : *s == '.' ? 1 : 2;
            length += word_length(s + length);
            r->s += length;
            x = make(r, (Expr){.kind = EX_MEMBER, .text = arena_string(r->arena, s, length), .count = 1}, &x);
        } else {
            return x;
        }
    }
}

static const Expr *read_unary(Reader *r) {
    size_t cast = *r->s == '(' ? cast_length(r->s) : 0;
    size_t length = cast ? cast : !begins_unary(r->s) ? 0 : r->s[0] == r->s[1] && strchr("+-", *r->s) ? 2 : 1;
    if (!length) return read_postfix(r);
    const char *text = cast ? arena_string(r->arena, r->s + 1, cast - 2) : arena_string(r->arena, r->s, length);
    r->s += length;
    const Expr *of = read_unary(r);
    return make(r, (Expr){.kind = cast ? EX_CAST : EX_UNARY, .text = text, .count = 1}, &of);
}

/* Operators that bind at least so tightly. */
static const Expr *read_operand(Reader *r, int least) {
    const Expr *x = read_unary(r);
    size_t length;
    for (;;) {
        ExprOperator op = find_operator(r->s, &length);
        if (op < EXPR_OPERATOR_COUNT && expr_operators[op].precedence >= least) {
            r->s += length + 2;
            x = ex_binary(r->arena, op, x, read_operand(r, expr_operators[op].precedence + 1));
        } else if (least <= PREC_CHOICE && strncmp(r->s, " ? ", 3) == 0) {
            r->s += 3;
            const Expr *then = read_operand(r, PREC_CHOICE);
            expect(r, " : ");
            const Expr *otherwise = read_operand(r, PREC_CHOICE);
            x = make(r, (Expr){.kind = EX_CHOICE, .count = 3}, (const Expr *const[]){x, then, otherwise});
        } else {
            return x;
        }
    }
}

const Expr *ex(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Filled f = fill(arena, format, &args, true);
    va_end(args);
    Reader r = {arena, f.text, f.text, f.holes.at};
    const Expr *x = read_operand(&r, PREC_CHOICE);
    if (*r.s) wrong(&r);
    return x;
}

char *ex_vformat(ExprPrinter *p, const char *format, va_list args) {
    va_list own;
    va_copy(own, args);
    Filled f = fill(p->arena, format, &own, false);
    va_end(own);
    if (!f.holes.count) return f.text;
    Text out = text_new(p->arena);
    const Expr *const *hole = f.holes.at;
    bool plain = p->plain;
    p->plain = true;
    for (const char *s = f.text; *s; s++)
        if (*s == HOLE)
            ex_print(p, &out, *hole++);
        else
            text_add_char(&out, *s);
    p->plain = plain;
    p->names.count = 0;
    return out.at;
}

/* --- lines --- */

static bool is_listed(const char *const *words, const char *text, size_t length) {
    for (; *words; words++)
        if (text_equal(text, length, *words)) return true;
    return false;
}

/* Calls that may be left out when nobody reads what they compute. */
static bool is_idle_call(const Expr *call) {
    enum { BUSY, IDLE };
    static const struct {
        const char *name;
        bool idle;
    } functions[] = {
#define FUNCTION(id, text, integer, f32, f64, idle) {"tw_" text, idle},
#include "target/cstyle/functions.def"
#undef FUNCTION
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i].idle && ex_is_name(call->args[0], functions[i].name)) return true;
    return false;
}

static bool has_no_effect(const Expr *x) {
    if (x->kind == EX_CALL && !is_idle_call(x)) return false;
    for (int i = 0; i < x->count; i++)
        if (!has_no_effect(x->args[i])) return false;
    return true;
}

void ex_note_type(ExprPrinter *p, const char *name, const char *type) {
    bool other = strcmp(type, "i32") != 0 || map_get(&p->is_i32, name) == (void *)2;
    map_set(&p->is_i32, p->arena, name, (void *)(uintptr_t)(other ? 2 : 1));
}

static bool is_type(const Expr *x) {
    static const char *const types[] = {"i32", "i8",  "i16",  "i64", "u8",   "u16",  "u32",  "u64",   "f16",   "bf16",
                                        "f32", "f64", "bool", "int", "e4m3", "e5m2", "e4b8", "e5b16", "e4b15", NULL};
    return x->kind == EX_NAME && is_listed(types, x->text, strlen(x->text));
}

/* "i32 x", "f32 x[8]": notes what x is. */
static void note_declared(ExprPrinter *p, const Reader *r, const Expr *type) {
    const char *s = r->s + 1;
    if (!is_type(type)) return;
    const Expr *hole = *s == HOLE ? *r->holes : NULL;
    size_t length = hole ? 1 : word_length(s);
    if (!length || (hole && hole->kind != EX_NAME)) return;
    ex_note_type(p, hole ? hole->text : arena_string(p->arena, s, length), s[length] == '[' ? "array" : type->text);
}

typedef struct LineState {
    ExprLine line;
    int islands;        /* expressions so far */
    bool constant;      /* it begins with const */
    const Expr *last;   /* the last expression */
    const Expr *target; /* what stood before "=" */
    bool listed;        /* a comma, a brace or a second "=" outside of expressions */
} LineState;

/* The next expression of the line; between them stand words, signs and braces. */
static void put_expression(ExprPrinter *p, Reader *r, LineState *l, Text *out) {
    const Expr *x = read_operand(r, PREC_CHOICE);
    bool word_follows = r->s[0] == ' ' && (is_word_char(r->s[1]) || r->s[1] == HOLE);
    bool is_name = x->kind == EX_NAME && !x->groups;
    if (!l->islands++) {
        l->constant = is_name && ex_is_name(x, "const");
        l->line.declares = is_name && (word_follows || (r->s[0] == ' ' && r->s[1] == '*'));
        l->line.declares |= x->kind == EX_BINARY && x->op == EXPR_MUL && is_type(x->args[0]); /* f16 * x[8]; */
    }
    if (word_follows) note_declared(p, r, x);
    ex_print(p, out, x);
    l->last = x;
}

static void put_sign(ExprPrinter *p, Reader *r, LineState *l, Text *out) {
    if (strncmp(r->s, "= ", 2) == 0 && r->s > r->all && r->s[-1] == ' ') {
        l->listed |= l->target != NULL;
        l->target = l->last;
    }
    l->listed |= *r->s == ',' || *r->s == '{';
    p->open += *r->s == '(' || *r->s == '[' ? 1 : *r->s == ')' || *r->s == ']' ? -1 : 0;
    if (strncmp(r->s, ", ", 2) == 0) {
        ex_put_comma(p, out);
        r->s += 2;
    } else
        text_add_char(out, *r->s++);
}

ExprLine ex_line(ExprPrinter *p, const char *format, va_list args) {
    static const char *const keywords[] = {"if",   "else",    "for",      "while", "do",   "return", "switch", "struct",
                                           "case", "default", "continue", "break", "goto", "asm",    NULL};
    va_list own;
    va_copy(own, args);
    Filled f = fill(p->arena, format, &own, true);
    va_end(own);
    LineState l = {0};
    Reader r = {p->arena, f.text, f.text, f.holes.at};
    Text out = text_new(p->arena);
    p->breaks = (ExprBreaks){0};
    p->open = 0;
    l.line.is_code = f.text[strspn(f.text, " ")] != '#' && !strchr(f.text, '"') && !strstr(f.text, "//");
    bool plain = p->plain;
    p->plain |= !l.line.is_code;
    while (*r.s) {
        size_t word = word_length(r.s);
        if (strncmp(r.s, "//", 2) == 0 || *r.s == '#') {
            text_add(&out, "%s", r.s);
            break;
        }
        if (word && is_listed(keywords, r.s, word)) {
            l.line.loops |= text_equal(r.s, word, "for") || text_equal(r.s, word, "while");
            l.line.jumps |= text_equal(r.s, word, "continue") || text_equal(r.s, word, "break");
            bool opens = strncmp(r.s + word, " (", 2) == 0;
            word += opens ? 2 : 0;
            p->open += opens;
            text_add_bytes(&out, r.s, word);
            r.s += word;
            l.islands++;
        } else if (begins_operand(r.s)) {
            put_expression(p, &r, &l, &out);
        } else {
            put_sign(p, &r, &l, &out);
        }
    }
    p->plain = plain;
    l.line.text = out.at;
    l.line.breaks = p->breaks.at;
    l.line.break_count = p->breaks.count;
    l.line.is_code &= !p->quotes;
    p->quotes = false;
    bool is_constant = l.line.is_code && l.constant && !l.listed && l.target && l.target->kind == EX_NAME;
    if (is_constant && has_no_effect(l.last)) l.line.constant = l.target->text;
    return l.line;
}
