/* SPDX-License-Identifier: Apache-2.0 */
/* expr.h: C expressions as trees, until they are printed.
 *
 * An emitter never looks into a text again. It makes trees, mostly from templates that look like what
 * they print, with %p for the trees they are made of; the template is read when the tree is made:
 *
 *     const Expr *at = ex(arena, "(%p + (%p >> 3) * %d)", thread, r, 2048);
 *     const Expr *cell = ex(arena, "%s[%p]", array, at);
 *
 * %s is a piece of a name or of a type, or an operator ("tw_%s(%p)", "(%s)%p"), never an expression; %d and its kin are
 * numbers. Operators have blanks around them, calls have none before the parenthesis.
 *
 * The printer puts parentheses where precedence needs them: what is printed reads back as the same tree.
 * Parentheses that a template writes without need are kept only where they help a reader: around shifts,
 * masks and comparisons among other operators, and in (a + b) + (c + d). It folds what is made of plain
 * numbers (2 * 8, x + 0, x * 1) where int arithmetic can hold it; a loop variable that has one value is that
 * number; a cast to i32 of a name that is one goes. 0 * x stays: x may be what makes a sum 64 bits wide.
 *
 * What is printed is noted: `names` has every name, so that a declaration knows whether it is read. */
#ifndef TARGET_CSTYLE_EXPR_H
#define TARGET_CSTYLE_EXPR_H
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

/* How tightly an operator binds, loosest first. */
typedef enum ExprPrecedence {
    PREC_NONE,
    PREC_CHOICE = 2,
    PREC_OR_ELSE,
    PREC_AND_ALSO,
    PREC_OR,
    PREC_XOR,
    PREC_AND,
    PREC_EQUAL,
    PREC_LESS,
    PREC_SHIFT,
    PREC_SUM,
    PREC_PRODUCT,
    PREC_ATOM /* unary operators and casts, calls, names: no binary operator outside of parentheses */
} ExprPrecedence;

/* OPERATOR(name, text, precedence) */
#define EXPR_OPERATORS(OPERATOR)            \
    OPERATOR(OR_ELSE, "||", PREC_OR_ELSE)   \
    OPERATOR(AND_ALSO, "&&", PREC_AND_ALSO) \
    OPERATOR(OR, "|", PREC_OR)              \
    OPERATOR(XOR, "^", PREC_XOR)            \
    OPERATOR(AND, "&", PREC_AND)            \
    OPERATOR(EQ, "==", PREC_EQUAL)          \
    OPERATOR(NE, "!=", PREC_EQUAL)          \
    OPERATOR(LT, "<", PREC_LESS)            \
    OPERATOR(LE, "<=", PREC_LESS)           \
    OPERATOR(GT, ">", PREC_LESS)            \
    OPERATOR(GE, ">=", PREC_LESS)           \
    OPERATOR(SHL, "<<", PREC_SHIFT)         \
    OPERATOR(SHR, ">>", PREC_SHIFT)         \
    OPERATOR(ADD, "+", PREC_SUM)            \
    OPERATOR(SUB, "-", PREC_SUM)            \
    OPERATOR(MUL, "*", PREC_PRODUCT)        \
    OPERATOR(DIV, "/", PREC_PRODUCT)        \
    OPERATOR(REM, "%", PREC_PRODUCT)

typedef enum ExprOperator {
#define OPERATOR(name, text, precedence) EXPR_##name,
    EXPR_OPERATORS(OPERATOR)
#undef OPERATOR
        EXPR_OPERATOR_COUNT
} ExprOperator;

typedef struct ExprOperatorInfo {
    const char *text;
    int precedence;
} ExprOperatorInfo;
extern const ExprOperatorInfo expr_operators[EXPR_OPERATOR_COUNT];

typedef enum ExprKind {
    EX_NAME,   /* text */
    EX_INT,    /* value, not negative: a plain number of C, an int */
    EX_ATOM,   /* text: a number with a suffix, a string */
    EX_UNARY,  /* text: the operator; args[0] */
    EX_BINARY, /* op; args[0], args[1] */
    EX_CHOICE, /* args[0] ? args[1] : args[2] */
    EX_CAST,   /* text: the type; args[0] */
    EX_CALL,   /* args[0](args[1], ..) */
    EX_INDEX,  /* args[0][args[1]] */
    EX_MEMBER, /* args[0], text: ".bits", "->x", "++" */
    EX_LIST,   /* several arguments of a call, side by side */
    EX_KINDS
} ExprKind;

typedef struct Expr {
    ExprKind kind;
    ExprOperator op;
    int groups; /* parentheses that the template has around it */
    int count;
    const char *text;
    int64_t value;
    const struct Expr *const *args;
    const struct Expr *bits;    /* of a float: how memory holds it, where an expression has that already; else NULL */
    const struct Expr *rounded; /* of such bits: the f32 to which they are the nearest; else NULL */
    int part;                   /* of a call: the part of the prelude that the function is in */
} Expr;

typedef VEC(const Expr *) ExprList;

/* --- making --- */
extern const Expr expr_zero, expr_true;
const Expr *ex(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const Expr *ex_name(Arena *arena, const char *name);
const Expr *ex_atom(Arena *arena, const char *text);
const Expr *ex_int(Arena *arena, int64_t value); /* a negative one is -(value) in parentheses */
const Expr *ex_list(Arena *arena, const Expr *const *args, int count);
const Expr *ex_group(Arena *arena, const Expr *x);
const Expr *ex_call(Arena *arena, const char *function, const Expr *const *args, int count);
const Expr *ex_in_part(Arena *arena, int part, const Expr *call);
/* x && y; NULL: nothing is asked. What y asks stands beside what x asks. */
const Expr *ex_and(Arena *arena, const Expr *x, const Expr *y);
/* x + y of integers; NULL: no term. The terms of y stand beside those of x. */
const Expr *ex_sum(Arena *arena, const Expr *x, const Expr *y);
const Expr *ex_binary(Arena *arena, ExprOperator op, const Expr *x, const Expr *y);
/* x, of which it is known what it looks like in memory; those bits, of which it is known what was rounded. */
const Expr *ex_with_bits(Arena *arena, const Expr *x, const Expr *bits);
const Expr *ex_with_rounded(Arena *arena, const Expr *bits, const Expr *x);

/* --- asking --- */
bool ex_is_int(const Expr *x, int64_t value);
bool ex_is_name(const Expr *x, const char *name);
bool ex_same(const Expr *x, const Expr *y); /* the same tree */
/* As the templates have it, with all their parentheses and unfolded: for dialects that print so. */
char *ex_plain(Arena *arena, const Expr *x);
int ex_width(Arena *arena, const Expr *x); /* columns that this takes */
bool ex_calls(const Expr *x);               /* is a function called in it? */

/* --- printing --- */

/* A place where a text may go on in a line below: behind a comma, or before an operator that joins conditions. The
 * blank there goes. */
typedef struct ExprBreak {
    size_t at; /* of the comma, or of the blank before the operator */
    int open;  /* parentheses and brackets around it */
    bool comma;
    bool outermost; /* only where no more are open than at the beginning of its line */
} ExprBreak;
typedef VEC(ExprBreak) ExprBreaks;

typedef struct ExprPrinter {
    Arena *arena;
    bool plain;              /* as ex_plain */
    Map bound;               /* names that have one value here -> Expr, NULL: no longer */
    Map is_i32;              /* names that are declared as i32, and as nothing else -> 1 */
    VEC(const char *) names; /* those printed since the caller cleared it */
    bool quotes;             /* and whether a string was */
    ExprBreaks breaks;       /* of the text printed since then, in order */
    int open;                /* parentheses and brackets */
    unsigned parts;          /* of the prelude, whose functions were called: a bit each */
} ExprPrinter;
void ex_print(ExprPrinter *p, Text *out, const Expr *x);
void ex_put_comma(ExprPrinter *p, Text *out); /* ", " */

/* The name is declared with the type. */
void ex_note_type(ExprPrinter *p, const char *name, const char *type);
/* printf with %p for expressions, which are printed plain; the format is not read. */
char *ex_vformat(ExprPrinter *p, const char *format, va_list args);

/* A line of C: a statement, a declaration, the head of a block. */
typedef struct ExprLine {
    const char *text;
    bool is_code;  /* no string, no comment, no directive */
    bool declares; /* begins with a type */
    bool loops;    /* is the head of a loop */
    bool jumps;    /* continues or leaves one */
    const ExprBreak *breaks;
    size_t break_count;
    const char *constant; /* the name of `const T name = value;` whose value has no effect; NULL: another line */
} ExprLine;
/* Reads the template of a line and prints it. Lines that are no code are printed plain. */
ExprLine ex_line(ExprPrinter *p, const char *format, va_list args);
#endif
