/* SPDX-License-Identifier: Apache-2.0 */
/* expr.c: making and printing expressions; see expr.h. Templates are read in expr_read.c. */
#include "target/cstyle/expr.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const ExprOperatorInfo expr_operators[EXPR_OPERATOR_COUNT] = {
#define OPERATOR(name, text, precedence) {text, precedence},
    EXPR_OPERATORS(OPERATOR)
#undef OPERATOR
};

/* --- making --- */

const Expr expr_zero = {.kind = EX_INT}, expr_true = {.kind = EX_NAME, .text = "true"};

static Expr *new_expr(Arena *arena, ExprKind kind, const char *text, int count) {
    Expr *x = ARENA_NEW(arena, Expr);
    x->kind = kind;
    x->text = text;
    x->count = count;
    return x;
}

static Expr *copy_of(Arena *arena, const Expr *x) { return arena_copy(arena, x, sizeof *x); }

const Expr *ex_name(Arena *arena, const char *name) { return new_expr(arena, EX_NAME, name, 0); }
const Expr *ex_atom(Arena *arena, const char *text) { return new_expr(arena, EX_ATOM, text, 0); }

const Expr *ex_group(Arena *arena, const Expr *x) {
    Expr *grouped = copy_of(arena, x);
    grouped->groups++;
    return grouped;
}

static const Expr *with_args(Arena *arena, Expr *x, const Expr *const *args) {
    x->args = arena_copy(arena, args, (size_t)x->count * sizeof *args);
    return x;
}

const Expr *ex_list(Arena *arena, const Expr *const *args, int count) {
    return with_args(arena, new_expr(arena, EX_LIST, NULL, count), args);
}

const Expr *ex_int(Arena *arena, int64_t value) {
    Expr *x = new_expr(arena, EX_INT, NULL, 0);
    x->value = value < 0 ? -value : value;
    const Expr *positive = x;
    return value < 0 ? ex_group(arena, with_args(arena, new_expr(arena, EX_UNARY, "-", 1), &positive)) : x;
}

const Expr *ex_call(Arena *arena, const char *function, const Expr *const *args, int count) {
    const Expr **all = ARENA_ARRAY(arena, const Expr *, count + 1);
    all[0] = ex_name(arena, function);
    for (int i = 0; i < count; i++) all[i + 1] = args[i];
    Expr *x = new_expr(arena, EX_CALL, NULL, count + 1);
    x->args = all;
    return x;
}

const Expr *ex_binary(Arena *arena, ExprOperator op, const Expr *x, const Expr *y) {
    Expr *both = new_expr(arena, EX_BINARY, NULL, 2);
    both->op = op;
    return with_args(arena, both, (const Expr *const[]){x, y});
}

const Expr *ex_with_bits(Arena *arena, const Expr *x, const Expr *bits) {
    Expr *known = copy_of(arena, x);
    known->bits = bits;
    return known;
}

const Expr *ex_with_rounded(Arena *arena, const Expr *bits, const Expr *x) {
    Expr *known = copy_of(arena, bits);
    known->rounded = x;
    return known;
}

const Expr *ex_in_part(Arena *arena, int part, const Expr *call) {
    Expr *placed = copy_of(arena, call);
    placed->part = part;
    return placed;
}

/* x op y, taken together from the left whatever y is made of: for operators that do not mind. */
static const Expr *chain(Arena *arena, ExprOperator op, const Expr *x, const Expr *y) {
    if (!x || !y) return x ? x : y;
    bool goes_on = y->kind == EX_BINARY && y->op == op && !y->groups;
    return goes_on ? ex_binary(arena, op, chain(arena, op, x, y->args[0]), y->args[1]) : ex_binary(arena, op, x, y);
}

const Expr *ex_and(Arena *arena, const Expr *x, const Expr *y) { return chain(arena, EXPR_AND_ALSO, x, y); }
const Expr *ex_sum(Arena *arena, const Expr *x, const Expr *y) { return chain(arena, EXPR_ADD, x, y); }

/* --- asking --- */

bool ex_is_int(const Expr *x, int64_t value) { return x->kind == EX_INT && x->value == value; }
bool ex_same(const Expr *x, const Expr *y) {
    bool same = x->kind == y->kind && x->op == y->op && x->groups == y->groups && x->count == y->count &&
                x->value == y->value && !x->text == !y->text && (!x->text || strcmp(x->text, y->text) == 0);
    for (int i = 0; same && i < x->count; i++) same = ex_same(x->args[i], y->args[i]);
    return same;
}

bool ex_is_name(const Expr *x, const char *name) { return x->kind == EX_NAME && strcmp(x->text, name) == 0; }

/* --- folding --- */

/* What int arithmetic makes of two numbers that are not negative, where the result is none either. */
static bool evaluate(ExprOperator op, int64_t a, int64_t b, int64_t *value) {
    switch (op) {
    case EXPR_ADD: *value = a + b; break;
    case EXPR_MUL: *value = a * b; break;
    case EXPR_DIV: *value = b ? a / b : -1; break;
    case EXPR_REM: *value = b ? a % b : -1; break;
    case EXPR_SHR: *value = b < 31 ? a >> b : -1; break;
    case EXPR_AND: *value = a & b; break;
    case EXPR_XOR: *value = a ^ b; break;
    case EXPR_OR: *value = a | b; break;
    default: return false;
    }
    return *value >= 0 && *value <= INT32_MAX;
}

/* Is `x op value` x? */
static bool does_nothing(ExprOperator op, int64_t value) {
    switch (op) {
    case EXPR_ADD:
    case EXPR_SUB:
    case EXPR_XOR:
    case EXPR_OR: return value == 0;
    case EXPR_MUL: return value == 1;
    default: return false;
    }
}

static const Expr *in_groups_of(Arena *arena, const Expr *x, const Expr *of) {
    if (!of->groups) return x;
    Expr *grouped = copy_of(arena, x);
    grouped->groups += of->groups;
    return grouped;
}

static bool is_number(const Expr *x) { return x->kind == EX_INT && x->value <= INT32_MAX; }

static const Expr *fold(Arena *arena, const Expr *x) {
    const Expr *left = x->args[0], *right = x->args[1];
    int64_t value;
    if (is_number(left) && is_number(right) && evaluate(x->op, left->value, right->value, &value))
        return in_groups_of(arena, ex_int(arena, value), x);
    if (x->op == EXPR_ADD && ex_is_int(left, 0)) return in_groups_of(arena, right, x);
    if (is_number(right) && does_nothing(x->op, right->value)) return in_groups_of(arena, left, x);
    return x;
}

static const Expr *simplified(ExprPrinter *p, const Expr *x) {
    if (x->kind == EX_NAME) {
        const Expr *value = map_get(&p->bound, x->text);
        return value ? in_groups_of(p->arena, value, x) : x;
    }
    const Expr **args = NULL;
    for (int i = 0; i < x->count; i++) {
        const Expr *arg = simplified(p, x->args[i]);
        if (arg == x->args[i]) continue;
        if (!args) {
            Expr *changed = copy_of(p->arena, x);
            args = arena_copy(p->arena, x->args, (size_t)x->count * sizeof *args);
            changed->args = args;
            x = changed;
        }
        args[i] = arg;
    }
    return x->kind == EX_BINARY && !p->plain ? fold(p->arena, x) : x;
}

/* --- printing --- */

enum { AFTER_UNARY = -1, AFTER_CAST = -2, BEFORE_POSTFIX = -1 };

/* What stands beside an operand: the precedence of the operator to its left and to its right, or one of the
 * above; does the operand on the other side of the right one begin with a parenthesis? */
typedef struct Around {
    int left, right;
    bool opens;
} Around;
static const Around alone = {PREC_NONE, PREC_NONE, false};

static int precedence_of(const Expr *x) {
    return x->kind == EX_BINARY ? expr_operators[x->op].precedence : x->kind == EX_CHOICE ? PREC_CHOICE : PREC_ATOM;
}

/* Without parentheses of its own, would it be taken apart? */
static bool needs_parentheses(const Expr *x, Around a) {
    int inner = precedence_of(x);
    if (inner == PREC_ATOM) return a.right == BEFORE_POSTFIX && (x->kind == EX_UNARY || x->kind == EX_CAST);
    return a.left < 0 || a.right < 0 || (a.left && inner <= a.left) || inner < a.right;
}

static bool begins_with_sign(const Expr *x) {
    for (;;) {
        if (x->kind == EX_UNARY) return strchr("-&*", x->text[0]);
        bool descends = x->kind == EX_BINARY || x->kind == EX_CHOICE || x->kind == EX_INDEX || x->kind == EX_MEMBER;
        if (!descends || x->args[0]->groups) return false;
        x = x->args[0];
    }
}

static bool is_word(const Expr *x) {
    return x->kind == EX_NAME || x->kind == EX_INT || (x->kind == EX_ATOM && !strchr(x->text, '.'));
}

static bool is_arithmetic(int precedence) {
    return precedence <= PREC_AND_ALSO || precedence == PREC_EQUAL || precedence == PREC_LESS || precedence == PREC_SUM;
}

/* Parentheses of the template that bind nothing: does a reader want them? */
static bool helps(const Expr *x, Around a) {
    int inner = precedence_of(x);
    if (a.left == AFTER_CAST) return a.right < 0 || !(is_word(x) || x->kind == EX_CAST);
    if (a.left < 0 || a.right < 0) return true;
    if (a.left == PREC_NONE && a.right == PREC_NONE) return false;
    if (begins_with_sign(x)) return true; /* x - (-1) */
    if (inner == PREC_ATOM) return false;
    if (inner == a.right && a.opens) return true; /* (a + b) + (c + d) */
    if (inner == PREC_PRODUCT && a.left == PREC_NONE && a.right == PREC_PRODUCT) return false;
    return !is_arithmetic(a.left) || !is_arithmetic(a.right) || inner < PREC_SUM || inner <= a.left || inner < a.right;
}

static bool print(ExprPrinter *p, Text *out, const Expr *x, Around a);

static void add_break(ExprPrinter *p, const Text *out, bool comma, bool outermost) {
    *VEC_PUSH(&p->breaks, p->arena) =
        (ExprBreak){.at = out->length, .open = p->open, .comma = comma, .outermost = outermost};
}

void ex_put_comma(ExprPrinter *p, Text *out) {
    add_break(p, out, true, false);
    text_add(out, ", ");
}

static void print_args(ExprPrinter *p, Text *out, const Expr *x, int first) {
    for (int i = first; i < x->count; i++) {
        if (i > first) ex_put_comma(p, out);
        print(p, out, x->args[i], alone);
    }
}

static void print_between(ExprPrinter *p, Text *out, const char *brackets, const Expr *x, int first) {
    text_add_char(out, brackets[0]);
    p->open++;
    print_args(p, out, x, first);
    p->open--;
    text_add_char(out, brackets[1]);
}

static bool is_idle_cast(const ExprPrinter *p, const Expr *x) {
    return !p->plain && strcmp(x->text, "i32") == 0 && x->args[0]->kind == EX_NAME &&
           map_get(&p->is_i32, x->args[0]->text) == (void *)1;
}

static bool print_binary(ExprPrinter *p, Text *out, const Expr *x, Around a) {
    const ExprOperatorInfo *op = &expr_operators[x->op];
    Text right = text_new(p->arena); /* first: what the left one looks like depends on it */
    ExprBreaks before = p->breaks;
    p->breaks = (ExprBreaks){0};
    bool right_opens = print(p, &right, x->args[1], (Around){op->precedence, a.right, a.opens});
    ExprBreaks inside = p->breaks;
    p->breaks = before;
    bool opens = print(p, out, x->args[0], (Around){a.left, op->precedence, right_opens});
    if (x->op == EXPR_AND_ALSO || x->op == EXPR_OR_ELSE || x->op == EXPR_AND)
        add_break(p, out, false, x->op == EXPR_AND);
    text_add(out, " %s ", op->text);
    for (size_t i = 0; i < inside.count; i++) {
        inside.at[i].at += out->length;
        *VEC_PUSH(&p->breaks, p->arena) = inside.at[i];
    }
    text_add(out, "%s", right.at);
    return opens;
}

static bool print_choice(ExprPrinter *p, Text *out, const Expr *x, Around a) {
    bool opens = print(p, out, x->args[0], (Around){a.left, PREC_OR_ELSE, false});
    text_add(out, " ? ");
    print(p, out, x->args[1], (Around){PREC_CHOICE, PREC_CHOICE, false});
    text_add(out, " : ");
    print(p, out, x->args[2], (Around){PREC_CHOICE, a.right, a.opens});
    return opens;
}

static void print_unary(ExprPrinter *p, Text *out, const Expr *x, Around a) {
    const Expr *of = x->args[0];
    text_add(out, "%s", x->text);
    bool runs_in = of->kind == EX_UNARY && !of->groups && of->text[0] == x->text[strlen(x->text) - 1]; /* -(-x) */
    print(p, out, runs_in ? ex_group(p->arena, of) : of, (Around){AFTER_UNARY, a.right, false});
}

/* Does its text begin with a parenthesis? */
static bool print_bare(ExprPrinter *p, Text *out, const Expr *x, Around a) {
    bool opens = false;
    switch (x->kind) {
    case EX_NAME: *VEC_PUSH(&p->names, p->arena) = x->text; /* fall through */
    case EX_ATOM:
        text_add(out, "%s", x->text);
        p->quotes |= x->text[0] == '"';
        break;
    case EX_INT: text_add(out, "%" PRId64, x->value); break;
    case EX_UNARY: print_unary(p, out, x, a); break;
    case EX_BINARY: return print_binary(p, out, x, a);
    case EX_CHOICE: return print_choice(p, out, x, a);
    case EX_CAST:
        opens = true;
        if (!is_idle_cast(p, x)) text_add(out, "(%s)", x->text);
        print(p, out, x->args[0], (Around){AFTER_CAST, a.right, false});
        break;
    case EX_CALL:
        p->parts |= 1u << x->part;
        opens = print(p, out, x->args[0], (Around){a.left, BEFORE_POSTFIX, false});
        print_between(p, out, "()", x, 1);
        break;
    case EX_INDEX:
        opens = print(p, out, x->args[0], (Around){a.left, BEFORE_POSTFIX, false});
        print_between(p, out, "[]", x, 1);
        break;
    case EX_MEMBER:
        opens = print(p, out, x->args[0], (Around){a.left, BEFORE_POSTFIX, false});
        text_add(out, "%s", x->text);
        break;
    case EX_LIST: print_args(p, out, x, 0); break;
    case EX_KINDS: break;
    }
    return opens;
}

static bool print(ExprPrinter *p, Text *out, const Expr *x, Around a) {
    assert(x->kind < EX_KINDS);
    int groups = x->groups && (p->plain || helps(x, a)) ? (p->plain ? x->groups : 1) : 0;
    if (!groups && (!x->groups || p->plain)) groups = needs_parentheses(x, a);
    if (!groups) return print_bare(p, out, x, a);
    for (int i = 0; i < groups; i++) text_add_char(out, '(');
    p->open += groups;
    print_bare(p, out, x, alone);
    p->open -= groups;
    for (int i = 0; i < groups; i++) text_add_char(out, ')');
    return true;
}

void ex_print(ExprPrinter *p, Text *out, const Expr *x) { print(p, out, simplified(p, x), alone); }

char *ex_plain(Arena *arena, const Expr *x) {
    ExprPrinter p = {.arena = arena, .plain = true};
    Text out = text_new(arena);
    ex_print(&p, &out, x);
    return out.at;
}

int ex_width(Arena *arena, const Expr *x) { return (int)strlen(ex_plain(arena, x)); }

bool ex_calls(const Expr *x) {
    bool calls = x->kind == EX_CALL;
    for (int i = 0; i < x->count && !calls; i++) calls = ex_calls(x->args[i]);
    return calls;
}
