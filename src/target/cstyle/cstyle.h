/* SPDX-License-Identifier: Apache-2.0 */
/* cstyle.h: the C-family printer that all emitters share.
 *
 * It owns what every C-like text has in common: lines and indentation, names that are unique and
 * close to the source's, literals that read back to the same bits, comments with the source's
 * lines, and the C expression of each elementwise op. What differs between C, CUDA and others is
 * a CDialect.
 *
 *     CPrinter p;
 *     cs_init(&p, arena, kernel, &dialect_c);
 *     cs_open(&p, "for (i64 i = 0; i < %d; i++)", n);       for (...) {
 *     cs_line(&p, "y[i] = %p;", cs_elementwise(&p, op, operands));
 *     cs_close(&p);                                         }
 *
 * Numbers in registers: integers as themselves, i1 as 0 or 1, f32 and f64 as themselves, every
 * smaller float as the f32 of the same value. So arithmetic on f16 is the f32 operation followed
 * by cs_round, and memory holds packed bits (cs_unpack, cs_pack). Types are called i8 .. u64,
 * f16, bf16, f32, f64, e4m3, e5m2 in every dialect; the functions (tw_div, tw_exp ..) stand in
 * its prelude, overloaded where the dialect has overloading, else with the operand type as
 * suffix. */
#ifndef TARGET_CSTYLE_CSTYLE_H
#define TARGET_CSTYLE_CSTYLE_H
#include "ir/ir.h"
#include "target/cstyle/expr.h"

typedef struct CDialect {
    const char *name;
    bool overloads;      /* tw_div(x, y); else tw_div_i32(x, y) */
    bool fast_forms;     /* tw_exp_fast(x) and such, for f32 ops marked approx */
    bool signed_wraps;   /* signed overflow wraps (-fwrapv): plain + - * do */
    const char *bits_of; /* from a packed float to its bits: "" or ".bits" */
    const char *boolean; /* register type of i1 */
    bool speaks;         /* values without a name are called after the line they come from (row_sum), and
                    lines of the source that left nothing behind get no comment */
    bool tidies;         /* lines are read, for cs_layout; else they stand as they are, for cs_text */
} CDialect;
extern const CDialect dialect_c, dialect_cuda;

/* In which part of C's prelude a function is. A target has further ones of its own, from PART_OF_TARGET on; the printer
 * notes whose functions were called (ExprPrinter.parts). */
typedef enum CPart {
    PART_CORE,
    PART_FMA, /* in the core, and maybe a call of libm */
    PART_CONVERT,
    PART_INTEGER,
    PART_VMATH,
    PART_FUNCTIONS,
    PART_NONE, /* there is no such function in C */
    PART_OF_TARGET
} CPart;

/* Functions that are called by the type of their operands. */
typedef enum CFunction {
    FN_NONE,
#define FUNCTION(id, text, integer, f32, f64, idle) FN_##id,
#include "target/cstyle/functions.def"
#undef FUNCTION
} CFunction;

/* A line that waits for its layout. */
typedef enum CLineKind {
    LINE_PLAIN,
    LINE_OPEN, /* ends with { */
    LINE_CLOSE,
    LINE_PLACE, /* a comment with a line of the source */
    LINE_NOTE,  /* one that says what the lines that follow are for */
    LINE_LINE,  /* #line */
    LINE_RAW    /* another directive; stands at the left edge */
} CLineKind;
typedef struct CLine {
    CLineKind kind;
    int depth;
    ExprLine c;
    const char *head, *tail;  /* around that: "} ", " {" */
    const char *const *names; /* that it mentions */
    size_t name_count;
} CLine;
typedef VEC(CLine) CLines;

typedef struct CBlock {
    size_t head; /* its first line */
    bool soft;   /* goes, if nothing is declared in it */
    bool loops;  /* a loop: jumps go to it */
    const char *variable;
    const Expr *before; /* what the variable of a loop with one trip was bound to outside of it */
} CBlock;

typedef struct CPrinter {
    Arena *arena;
    const Kernel *kernel;
    const CDialect *dialect;
    CLines lines;
    ExprPrinter expr; /* of those lines */
    VEC(CBlock) blocks;
    int depth;
    Map taken;           /* identifiers in use -> the next number to try behind them */
    const Expr **values; /* by Ref: what stands for it; NULL: nothing yet */
    size_t value_count;
    int last_line;    /* of the last cs_place */
    struct {
        Range range;
        const char *note; /* NULL: the source's line */
    } waiting[8];         /* comments that stand before the next line, if their block has one */
    int waiting_count;
    const char *noted; /* the last cs_note, and how deep it stands */
    int noted_depth;
    bool directives; /* #line with every place, for profilers; see cs_layout */
} CPrinter;

void cs_init(CPrinter *p, Arena *arena, const Kernel *k, const CDialect *dialect);
void cs_reserve(CPrinter *p, const char *const *words); /* identifiers that values must not take; NULL at the end */

/* The lines as text (cstyle_layout.c): constants that nobody reads are left out, a loop of one statement stands on
 * one line, lines longer than width go on below. With `directives` each line has the #line that it came from
 * before it, and no width: the compiler counts on from a #line, but all that follows came from the one line. */
char *cs_layout(Arena *arena, const CLines *lines, int width, bool directives);
char *cs_text(Arena *arena, const CLines *lines); /* of a dialect that does not tidy */
void cs_append(CPrinter *p, const CLines *lines);
void cs_insert(CPrinter *p, const CLines *lines); /* where the text is now: as deep as that, and their own depth */
/* A line of another place that is still being written. */
void cs_line_of(CPrinter *p, CLines *lines, int depth, const char *format, ...) __attribute__((format(printf, 4, 5)));
void cs_vline_of(CPrinter *p, CLines *lines, int depth, const char *format, va_list args);
bool cs_mentions(const CLines *lines, const char *name);

/* --- lines: formats as of printf, %p is an expression --- */
void cs_line(CPrinter *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cs_open(CPrinter *p, const char *format, ...) __attribute__((format(printf, 2, 3)));   /* ".. {" */
void cs_reopen(CPrinter *p, const char *format, ...) __attribute__((format(printf, 2, 3))); /* "} .. {" */
void cs_block(CPrinter *p); /* "{", dissolved if nothing is declared in it */
/* for (int variable = from; variable < to; variable += step). With one trip it is a block, its variable a number: no
 * `continue` or `break` may stand in it. The other is a loop in any case. */
void cs_loop(CPrinter *p, const char *pragma, const char *variable, long from, long to, long step);
void cs_real_loop(CPrinter *p, const char *pragma, const char *variable, long from, long to, long step);
void cs_close(CPrinter *p);
void cs_close_with(CPrinter *p, const char *tail); /* "};" and the like */
void cs_blank(CPrinter *p);
void cs_raw(CPrinter *p, const char *text); /* a directive, at the left edge */
/* A comment with the source's line, when it is another line than the last time. */
void cs_place(CPrinter *p, Range range);
/* A comment that says what the lines that follow are for, if it is not what the last one of the block says. */
void cs_note(CPrinter *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The name that the source's line assigns to, as in "x = ..", "x: int = ..", "int x = .."; NULL: it does not. */
const char *cs_assigned_name(CPrinter *p, Range range);
/* Text of the user in a comment of one line: a line end, or a backslash at the end, would make code of what follows. */
void cs_add_quoted(Text *comment, const char *text, size_t length);
/* Uses that leave something in the text, by Ref: what only the launcher computes, for its tests
 * before a launch, is not counted. */
int *cs_count_uses(const Kernel *k, Arena *arena);

/* --- names and literals --- */
const char *cs_name(CPrinter *p, Ref value);                 /* of a value that has one, or nothing yet */
void cs_bind(CPrinter *p, Ref value, const Expr *x);         /* that is what it is called from now on */
const char *cs_fresh(CPrinter *p, const char *hint);         /* an identifier nobody has */
const Expr *cs_literal(CPrinter *p, const Literal *literal); /* in register form */
const Expr *cs_ref(CPrinter *p, Ref ref);                    /* what stands for it, or literal; NULL for none */
const Expr *cs_number(Arena *arena, Elem elem, int64_t value);
/* A quoted C string. */
char *cs_string(Arena *arena, const char *text);

/* --- types --- */
const char *cs_memory_type(Elem elem);                          /* "f16" */
const char *cs_register_type(const CPrinter *p, Elem elem);     /* "f32" for f16 */
const char *cs_value_type(const CPrinter *p, const Type *type); /* of one element in a register: "f32", "f16 *" */
const Expr *cs_zero(Arena *arena, const Type *type);            /* such an element: "0.0f" */

/* "f32 x" or, for a pointer, "f32 *x". */
const char *cs_variable(CPrinter *p, const char *type, const char *name);
/* "const f32 x" or, for a pointer, "f32 *const x". */
const char *cs_constant(CPrinter *p, const char *type, const char *name);

/* --- expressions --- */
const Expr *cs_call(CPrinter *p, CFunction function, Elem suffix, const Expr *const *args, int count);
const Expr *cs_round(CPrinter *p, Elem elem, const Expr *x);  /* an f32 rounded to a small float, as f32 */
const Expr *cs_unpack(CPrinter *p, Elem elem, const Expr *x); /* memory -> register */
const Expr *cs_pack(CPrinter *p, Elem elem, const Expr *x);   /* register -> memory */
const Expr *cs_cast(CPrinter *p, Elem from, Elem to, bool toward_zero, const Expr *x);
/* The combination of two register values of a reduce, scan or atomic (add .. xor). */
const Expr *cs_combine(CPrinter *p, Word combine, Elem elem, bool keep_nan, const Expr *x, const Expr *y);
/* The value of an elementwise op of its operands (absent ones NULL). */
const Expr *cs_elementwise(CPrinter *p, const Op *op, const Expr *const *operands);
/* Functions of the source (cstyle_extern.c): what stands in front of a kernel that calls some, NULL for others; and
 * what the text calls for such an op. */
const char *cs_externs(Arena *arena, const Kernel *k);
const char *cs_extern_name(Arena *arena, const Kernel *k, const Op *op);
/* True for every op that cs_elementwise knows. */
bool cs_is_elementwise(Opcode code);
#endif
