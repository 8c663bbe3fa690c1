/* SPDX-License-Identifier: Apache-2.0 */
/* test_expr.c: expressions as trees: what is printed reads back as the same tree, what is folded has the same value,
 * and which parentheses, terms, loops and constants a reader is spared. */
#include "check.h"
#include "target/cstyle/cstyle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static Arena arena;

/* --- an evaluator of its own for C's expressions: no code of the compiler's reader --- */

enum { NAMES = 4 };
static const char *const names[NAMES] = {"a", "b", "c", "n"}; /* n is an i32 */
static const int64_t values[NAMES] = {7, -3, 1000003, 41};

static int64_t apply(const char *op, int64_t x, int64_t y) {
    uint64_t u = (uint64_t)x, v = (uint64_t)y;
    if (!strcmp(op, "+")) return (int64_t)(u + v);
    if (!strcmp(op, "-")) return (int64_t)(u - v);
    if (!strcmp(op, "*")) return (int64_t)(u * v);
    if (!strcmp(op, "/")) return y ? (y == -1 ? (int64_t)-u : x / y) : 0;
    if (!strcmp(op, "%")) return y ? (y == -1 ? 0 : x % y) : 0;
    if (!strcmp(op, "<<")) return (int64_t)(u << (v & 63));
    if (!strcmp(op, ">>")) return x >> (v & 63);
    if (!strcmp(op, "&")) return x & y;
    if (!strcmp(op, "|")) return x | y;
    if (!strcmp(op, "^")) return x ^ y;
    if (!strcmp(op, "<")) return x < y;
    if (!strcmp(op, "<=")) return x <= y;
    if (!strcmp(op, ">")) return x > y;
    if (!strcmp(op, ">=")) return x >= y;
    if (!strcmp(op, "==")) return x == y;
    if (!strcmp(op, "!=")) return x != y;
    if (!strcmp(op, "&&")) return x && y;
    return x || y;
}

static int64_t apply_cast(const char *type, size_t length, int64_t x) {
    if (length == 3 && !strncmp(type, "i32", 3)) return (int32_t)x;
    if (length == 3 && !strncmp(type, "u32", 3)) return (uint32_t)x;
    if (length == 2 && !strncmp(type, "u8", 2)) return (uint8_t)x;
    return x;
}

/* Each level of C's grammar, loosest first. */
static const char *const levels[][5] = {{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
enum { LEVELS = sizeof levels / sizeof *levels };

static const char *at; /* the text being evaluated */

static void skip(void) {
    while (*at == ' ') at++;
}

static int64_t level(int i);

static int64_t choice(void) {
    int64_t x = level(0);
    skip();
    if (*at != '?') return x;
    at++;
    int64_t then = choice();
    skip();
    CHECK(*at == ':');
    at++;
    int64_t other = choice();
    return x ? then : other;
}

static int64_t unary(void) {
    skip();
    if (*at == '-') return at++, (int64_t)-(uint64_t)unary();
    if (*at == '~') return at++, ~unary();
    if (*at == '!') return at++, !unary();
    if (*at == '(' && isalpha((unsigned char)at[1]) && (at[2] == '8' || isdigit((unsigned char)at[2]))) { /* a type */
        const char *type = at + 1;
        size_t length = strcspn(type, ")");
        at = type + length + 1;
        return apply_cast(type, length, unary());
    }
    if (*at == '(') {
        at++;
        int64_t x = choice();
        skip();
        CHECK(*at == ')');
        at++;
        return x;
    }
    if (isdigit((unsigned char)*at)) return strtoll(at, (char **)&at, 10);
    for (int i = 0; i < NAMES; i++)
        if (*at == names[i][0]) return at++, values[i];
    CHECK(!"an operand");
    return 0;
}

/* The operator at s, the longest of any level; NULL: none. */
static const char *operator_at(const char *s) {
    const char *found = NULL;
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < 5 && levels[i][j]; j++)
            if (!strncmp(s, levels[i][j], strlen(levels[i][j])) && (!found || strlen(levels[i][j]) > strlen(found))) found = levels[i][j];
    return found;
}

static int64_t level(int i) {
    if (i == LEVELS) return unary();
    int64_t x = level(i + 1);
    for (;;) {
        skip();
        const char *op = operator_at(at);
        bool here = false;
        for (int j = 0; op && j < 5 && levels[i][j]; j++) here |= op == levels[i][j];
        if (!here) return x;
        at += strlen(op);
        x = apply(op, x, level(i + 1));
    }
}

static int64_t value_of_text(const char *text) {
    at = text;
    int64_t x = choice();
    CHECK(!*at);
    return x;
}

static int64_t value_of_tree(const Expr *x) {
    switch (x->kind) {
    case EX_INT: return x->value;
    case EX_ATOM: return strtoll(x->text, NULL, 10);
    case EX_NAME:
        for (int i = 0; i < NAMES; i++)
            if (!strcmp(x->text, names[i])) return values[i];
        return 0;
    case EX_UNARY: {
        int64_t v = value_of_tree(x->args[0]);
        return x->text[0] == '-' ? (int64_t)-(uint64_t)v : x->text[0] == '~' ? ~v : !v;
    }
    case EX_CAST: return apply_cast(x->text, strlen(x->text), value_of_tree(x->args[0]));
    case EX_CHOICE: return value_of_tree(x->args[0]) ? value_of_tree(x->args[1]) : value_of_tree(x->args[2]);
    default: return apply(expr_operators[x->op].text, value_of_tree(x->args[0]), value_of_tree(x->args[1]));
    }
}

/* --- what is printed has the value of the tree --- */

/* The text as a template: % is written twice there. */
static const char *as_template(const char *text) {
    Text t = text_new(&arena);
    for (; *text; text++) text_add(&t, *text == '%' ? "%%%%" : "%c", *text);
    return t.at;
}

#pragma GCC diagnostic ignored "-Wformat-security"

static char *tidy(const Expr *x) {
    ExprPrinter p = {.arena = &arena};
    ex_note_type(&p, "n", "i32");
    Text out = text_new(&arena);
    ex_print(&p, &out, x);
    return out.at;
}

static void check_value(const Expr *x) {
    int64_t value = value_of_tree(x);
    char *plain = ex_plain(&arena, x), *short_form = tidy(x);
    CHECK(value_of_text(plain) == value);
    CHECK(value_of_text(short_form) == value);
    if (value_of_text(short_form) != value) fprintf(stderr, "    %s\n    %s\n", plain, short_form);
    /* A template that is what was printed makes the same tree. */
    CHECK_TEXT(ex_plain(&arena, ex(&arena, as_template(plain))), plain);
    CHECK(value_of_tree(ex(&arena, as_template(short_form))) == value);
}

static const Expr *leaf(int i) { return ex_name(&arena, names[i]); }

static void check_pairs(void) {
    for (ExprOperator f = 0; f < EXPR_OPERATOR_COUNT; f++)
        for (ExprOperator g = 0; g < EXPR_OPERATOR_COUNT; g++)
            for (int grouped = 0; grouped < 2; grouped++) {
                const Expr *left = ex_binary(&arena, g, leaf(0), leaf(1)), *right = ex_binary(&arena, g, leaf(1), leaf(2));
                if (grouped) left = ex_group(&arena, left), right = ex_group(&arena, right);
                check_value(ex_binary(&arena, f, left, leaf(2)));
                check_value(ex_binary(&arena, f, leaf(0), right));
                check_value(ex_binary(&arena, f, left, right));
                check_value(ex(&arena, "-%p + ~%p * (i32)%p", left, right, ex_binary(&arena, f, leaf(0), left)));
                check_value(ex(&arena, "%p ? %p : %p", left, right, left));
                check_value(ex_binary(&arena, f, ex(&arena, "%p ? %p : %p", left, leaf(0), right), left));
            }
}

static uint32_t state = 1;
static int random_below(int n) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (uint32_t)n);
}

static const Expr *random_tree(int depth) {
    static const int64_t numbers[] = {0, 1, 2, 3, 8, 31, 32, 46341, 65536, 2147483647, 99999999};
    int kind = depth ? random_below(12) : random_below(2);
    const Expr *x;
    if (kind == 0)
        x = leaf(random_below(NAMES));
    else if (kind == 1)
        x = ex_int(&arena, numbers[random_below(sizeof numbers / sizeof *numbers)]);
    else if (kind == 2)
        x = ex(&arena, random_below(2) ? "-%p" : "~%p", random_tree(depth - 1));
    else if (kind == 3)
        x = ex(&arena, "(%s)%p", random_below(2) ? "i32" : "u8", random_tree(depth - 1));
    else if (kind == 4)
        x = ex(&arena, "%p ? %p : %p", random_tree(depth - 1), random_tree(depth - 1), random_tree(depth - 1));
    else
        x = ex_binary(&arena, (ExprOperator)random_below(EXPR_OPERATOR_COUNT), random_tree(depth - 1), random_tree(depth - 1));
    return random_below(3) ? x : ex_group(&arena, x);
}

/* --- templates and their short forms --- */

static const struct {
    const char *from, *to;
} cases[] = {
    /* parentheses that bind nothing */
    {"y = ((a + b));", "y = a + b;"},
    {"f((a + b), (c ? d : e));", "f(a + b, c ? d : e);"},
    {"x[(r + 1)] = (i64)(at0);", "x[r + 1] = (i64)at0;"},
    {"y = f((i32)((i64)n), 1);", "y = f((i32)(i64)n, 1);"},
    {"y = (a * b) + (c * d);", "y = a * b + c * d;"},
    {"y = (a + b) + c;", "y = a + b + c;"},
    {"if ((lane & 1)) {", "if (lane & 1) {"},
    {"on = (a + b) < (c) && (d) != e;", "on = a + b < c && d != e;"},
    /* and those that do, or that a reader needs */
    {"y = a + (b + c);", "y = a + (b + c);"},
    {"y = a - (b - c);", "y = a - (b - c);"},
    {"y = (a + b) * c;", "y = (a + b) * c;"},
    {"y = a * (b / c);", "y = a * (b / c);"},
    {"y = (r >> 2) + (r & 3) * 8;", "y = (r >> 2) + (r & 3) * 8;"},
    {"y = (i32)(a + b);", "y = (i32)(a + b);"},
    {"y = (u64)i < (u64)n;", "y = (u64)i < (u64)n;"},
    {"y = -(a + b);", "y = -(a + b);"},
    {"y = a - (-1);", "y = a - (-1);"},
    {"return (a + b) / c;", "return (a + b) / c;"},
    {"for (; q < 3 && (i >> q & 1); q++) {", "for (; q < 3 && (i >> q & 1); q++) {"},
    {"f(\"((a + 0))\", (a));", "f(\"((a + 0))\", (a));"},
    {"// ((a + 0))", "// ((a + 0))"},
    /* numbers */
    {"f(0 + 0 * 512 + (warp * 32 + lane) * 4);", "f((warp * 32 + lane) * 4);"},
    {"y = a + 0 + b * 1;", "y = a + b;"},
    {"y = a * 0 + b;", "y = a * 0 + b;"},
    {"y = 0 * k + b;", "y = 0 * k + b;"},
    {"y = (0 >> 3) * 8 + (2 & 3);", "y = 2;"},
    {"y = (warp & ~3 | 0);", "y = warp & ~3;"},
    {"y = a - 0.5f + 0x10;", "y = a - 0.5f + 0x10;"},
    {"y = (i64)0 + k;", "y = (i64)0 + k;"},
    {"y = 10 + a * 10;", "y = 10 + a * 10;"},
    /* what an int cannot hold stays as it is: C's own rules decide */
    {"y = 65536 * 65536;", "y = 65536 * 65536;"},
    {"y = 65535 * 32768;", "y = 2147450880;"},
    {"y = 2000000000 + 2000000000;", "y = 2000000000 + 2000000000;"},
    {"y = 3 - 5 + (1 << 31);", "y = 3 - 5 + (1 << 31);"},
    {"y = 7 / 0 + 7 % 0;", "y = 7 / 0 + 7 % 0;"},
    {"y = 8u * 8u + 8LL * 2LL;", "y = 8u * 8u + 8LL * 2LL;"},
    {"y = (u32)2 * 3 + (i64)(2 * 3);", "y = (u32)2 * 3 + (i64)6;"},
    /* declarations, pointers, arrays, macros with types */
    {"const f16 *p = (const f16 *)(base + (n * 4));", "const f16 *p = (const f16 *)(base + n * 4);"},
    {"u32 words[8] = {0}, *q = &words[(1 + 2)];", "u32 words[8] = {0}, *q = &words[3];"},
    {"*(u32 *)&x[0].bits += (y);", "*(u32 *)&x[0].bits += y;"},
    {"TW_FORM(const u32 *, (a), i++);", "TW_FORM(const u32 *, a, i++);"},
    {"x->y[i]--;", "x->y[i]--;"},
};

static CPrinter new_printer(void) {
    static const Kernel none;
    CPrinter p;
    cs_init(&p, &arena, NULL, &dialect_cuda);
    p.kernel = &none;
    return p;
}

static char *laid_out(const CPrinter *p) { return cs_layout(&arena, &p->lines, 100, false); }

static void check_lines(void) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CPrinter p = new_printer();
        cs_line(&p, as_template(cases[i].from));
        CHECK_TEXT(laid_out(&p), arena_printf(&arena, "%s\n", cases[i].to));
    }
}

static void check_loops(void) {
    CPrinter p = new_printer();
    cs_loop(&p, "#pragma unroll", "r", 0, 8, 8); /* one trip, and a declaration: a block */
    cs_line(&p, "const i64 i = at + (r >> 3) * 9;");
    cs_line(&p, "f(x + r, i);");
    cs_close(&p);
    CHECK_TEXT(laid_out(&p), "{\n    const i64 i = at;\n    f(x, i);\n}\n");
    p = new_printer();
    cs_loop(&p, "#pragma unroll", "r", 3, 4, 1); /* and none: nothing */
    cs_line(&p, "y[r] = x[r];");
    cs_loop(&p, NULL, "r", 0, 2, 1); /* hides the outer one */
    cs_line(&p, "y[r] = x[r];");
    cs_close(&p);
    cs_line(&p, "f(\"r \\\" r\", (r), \"r\", r); // r");
    cs_close(&p);
    cs_line(&p, "y[r] = x[r];");
    CHECK_TEXT(laid_out(&p), "y[3] = x[3];\nfor (int r = 0; r < 2; r++) y[r] = x[r];\n"
                             "f(\"r \\\" r\", (3), \"r\", 3); // r\ny[r] = x[r];\n");
    p = new_printer();
    cs_block(&p);
    cs_block(&p);
    cs_line(&p, "a = b;");
    cs_close(&p);
    cs_line(&p, "const int c = a;");
    cs_line(&p, "f(c);");
    cs_close(&p);
    CHECK_TEXT(laid_out(&p), "{\n    a = b;\n    const int c = a;\n    f(c);\n}\n");
}

static void check_unread(void) {
    CPrinter p = new_printer();
    cs_line(&p, "const i32 a = task / 2;");
    cs_line(&p, "const i32 b = tw_mul(a, 3);");
    cs_line(&p, "f(task);");
    CHECK_TEXT(laid_out(&p), "f(task);\n");
    p = new_printer();
    cs_line(&p, "const i32 a = f(task);"); /* may do something */
    cs_line(&p, "const i32 b = 2, c = 3;");
    cs_open(&p, "if (%p)", ex(&arena, "(x)"));
    cs_line(&p, "g(c, \"b\");");
    cs_line(&p, "const i64 d = x;");
    cs_close(&p);
    cs_line(&p, "g(d);"); /* another one */
    CHECK_TEXT(laid_out(&p), "const i32 a = f(task);\nconst i32 b = 2, c = 3;\nif (x) {\n    g(c, \"b\");\n}\ng(d);\n");
    CHECK(cs_mentions(&p.lines, "c") && !cs_mentions(&p.lines, "b\""));
    /* casts of what is an i32 already */
    p = new_printer();
    cs_line(&p, "i32 n = 2;");
    cs_line(&p, "i64 m = 3;");
    cs_line(&p, "f((i32)n + (i32)m + (i32)n[0] + %p);", ex(&arena, "(i64)((i32)n)"));
    CHECK_TEXT(laid_out(&p), "i32 n = 2;\ni64 m = 3;\nf(n + (i32)m + (i32)n[0] + (i64)n);\n");
}

/* Long lines go on below, at the outermost place. */
static void check_width(void) {
    CPrinter p = new_printer();
    p.depth = 1;
    cs_line(&p, "some_function(one_argument, other(second, third), fourth_argument);");
    CHECK_TEXT(cs_layout(&arena, &p.lines, 54, false),
               "    some_function(one_argument, other(second, third),\n            fourth_argument);\n");
    /* Conditions go on before the operator; & only where nothing is open, and never inside of what is quoted. */
    p = new_printer();
    cs_open(&p, "if (%p && %p)", ex(&arena, "first_of(many, words)"), ex(&arena, "(second_one & mask) != 0 || third_one"));
    cs_line(&p, "%p = left_hand_side[index] & %p;", ex(&arena, "result_of_it"), ex(&arena, "right_hand_side[(a & b)]"));
    cs_reopen(&p, "else if (%p)", ex(&arena, "first_condition && second_condition"));
    cs_close(&p);
    cs_open(&p, "extern \"C, and others\" void entry(%p)", ex(&arena, "f(first_parameter, second)"));
    cs_close(&p);
    CHECK_TEXT(cs_layout(&arena, &p.lines, 36, false),
               "if (first_of(many, words)\n        && ((second_one & mask) != 0\n            || third_one)) {\n"
               "    result_of_it = left_hand_side[index]\n        & right_hand_side[a & b];\n"
               "} else if (first_condition\n        && second_condition) {\n}\n"
               "extern \"C, and others\" void entry(f(first_parameter,\n            second)) {\n}\n");
}

/* What is an expression is no piece of a template: it would be read a second time. */
static void check_pieces(void) {
    static const char *const pieces[] = {"a + b", "(a)", "f(x)", "x[1]", "a, b", "a ? b", "-a - b", "\"a\""};
    static const char *const good[] = {"a", "i64", "f16 *", "const u32", "+", "&&", "f16 *const x"};
    for (volatile size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        Trap inner, *outer = arena.trap;
        arena.trap = &inner;
        volatile bool refused = true;
        if (TRAP_ARM(&inner)) {
            CPrinter p = new_printer();
            cs_line(&p, "y = %s;", pieces[i]);
            refused = false;
        }
        arena.trap = outer;
        CHECK(refused);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CPrinter p = new_printer();
        cs_line(&p, i == 2 ? "y = (%s)x;" : i == 4 || i == 5 ? "y = x %s x;" : i == 6 ? "%s = 1;" : "%s x = 1;", good[i]);
        CHECK(p.lines.count == 1);
    }
    CPrinter p = new_printer();
    cs_line(&p, "// %s", "f(x), [a + b]");
    cs_line(&p, "f(%p, (a));", ex_atom(&arena, "\"one, two\""));
    CHECK_TEXT(cs_layout(&arena, &p.lines, 12, false), "// f(x), [a + b]\nf(\"one, two\", a);\n");
}

/* A jump goes to the loop that is written, so one of a single trip stays a loop. */
static void check_jumps(void) {
    CPrinter p = new_printer();
    cs_real_loop(&p, NULL, "r", 0, 1, 1);
    cs_line(&p, "if (r & 1) continue;");
    cs_line(&p, "y[r] = x[r];");
    cs_close(&p);
    CHECK_TEXT(laid_out(&p), "for (int r = 0; r < 1; r++) {\n    if (r & 1) continue;\n    y[r] = x[r];\n}\n");
    Trap inner, *outer = arena.trap;
    arena.trap = &inner;
    volatile bool refused = true;
    if (TRAP_ARM(&inner)) {
        p = new_printer();
        cs_loop(&p, NULL, "r", 0, 1, 1);
        cs_open(&p, "if (x)");
        cs_line(&p, "continue;");
        refused = false;
    }
    arena.trap = outer;
    CHECK(refused);
}

/* A hole binds as its tree does, whatever stands beside it. */
static void check_holes(void) {
    const Expr *sum = ex(&arena, "a + %d", 2), *mask = ex(&arena, "a & %u", 3u);
    CHECK_TEXT(tidy(ex(&arena, "%p * %p", sum, mask)), "(a + 2) * (a & 3)");
    CHECK_TEXT(tidy(ex(&arena, "(i32)%p", sum)), "(i32)(a + 2)");
    CHECK_TEXT(tidy(ex(&arena, "%p[%p].bits", ex(&arena, "(f16 *)p"), sum)), "((f16 *)p)[a + 2].bits");
    CHECK_TEXT(tidy(ex(&arena, "-%p", ex(&arena, "-a"))), "-(-a)");
    CHECK_TEXT(tidy(ex(&arena, "tw_%s(%p, %p) == 0", "min", sum, mask)), "tw_min(a + 2, a & 3) == 0");
    CHECK_TEXT(ex_plain(&arena, ex(&arena, "(%p)", ex_group(&arena, sum))), "((a + 2))");
    const Expr *number = ex_with_bits(&arena, ex(&arena, "tw_f32(%p)", sum), sum);
    CHECK(ex_group(&arena, number)->bits == sum && !ex(&arena, "-%p", number)->bits);
    CPrinter p = new_printer();
    cs_line(&p, "%p = %p - %p;", ex(&arena, "%s[r]", "x"), mask, sum);
    CHECK_TEXT(laid_out(&p), "x[r] = (a & 3) - (a + 2);\n");
}

int main(void) {
    Trap trap;
    arena_init(&arena, allocator_malloc, &trap);
    if (!TRAP_ARM(&trap)) return 1;
    check_lines();
    check_loops();
    check_unread();
    check_width();
    check_holes();
    check_pieces();
    check_jumps();
    check_pairs();
    for (int i = 0; i < 20000; i++) {
        ArenaMark mark = arena_mark(&arena);
        check_value(random_tree(1 + i % 5));
        arena_reset(&arena, mark);
    }
    arena_free(&arena);
    return check_done();
}
