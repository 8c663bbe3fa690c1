/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h: what the files that read the text form share (docs/ir.md has the grammar).
 *
 *   parse_token.c   tokens, numbers, strings, types
 *   parse_name.c    names of values, where they are visible, and the layouts that they are defined with
 *   parse.c         operands, attributes, ops, regions, kernels
 *
 * One pass, one token of look-ahead, no backtracking. After an error nothing more is said of the kernel. */
#ifndef IR_READER_H
#define IR_READER_H
#include "ir/tile_layout.h"

enum { MAX_NESTING = 64, MAX_OPERANDS = 256, MOST_OPS = 1 << 18 };

typedef enum TokenKind { T_END, T_NEWLINE, T_NAME, T_VALUE, T_SYMBOL, T_NUMBER, T_STRING, T_PUNCT } TokenKind;
typedef struct Token {
    TokenKind kind;
    const char *at;
    size_t length;
    Range range;
    bool newline_before;
} Token;

typedef struct Hidden {
    size_t entry; /* in names */
    void *value;  /* before; NULL: not visible */
} Hidden;

typedef struct Parser {
    Module *m;
    Kernel *k;
    const SourceFile *file;
    const char *at;
    Token token;
    bool failed;
    int depth, ops;
    Map names;                             /* visible values by name */
    Map taken;                             /* names that the printer would not give again here (see hint_of) */
    VEC(const char *) takings;             /* the names of `taken`, last one last */
    Map layouts;                           /* by name, without # */
    VEC(const Layout *) fields;            /* of the ring type read last */
    VEC(Hidden) undo;                      /* what definitions since the start have hidden, for the ends of regions */
    struct OpText *texts[MAX_NESTING + 1]; /* by depth: of the op being read, used again for the next */
} Parser;

typedef struct Definition { /* VALUE ["#" NAME] */
    Token name;
    const char *hint;
    const Layout *layout;
} Definition;

/* --- parse_token.c --- */
void reader_advance(Parser *p);     /* to the next token */
void reader_split_field(Parser *p); /* the next token, `%slot.field`, becomes `%slot` */
bool reader_error(Parser *p, Range range, const char *format, ...) __attribute__((format(printf, 3, 4))); /* false */
char *reader_token(Parser *p);                                                                            /* its text */
/* Is it the next token? Then accept goes behind it; expect says what is missing. */
bool reader_sees(Parser *p, char c);
bool reader_sees_name(Parser *p, const char *name);
bool reader_accept(Parser *p, char c);
bool reader_accept_name(Parser *p, const char *name);
bool reader_expect(Parser *p, char c);
bool reader_int(Parser *p, int64_t *value);
const char *reader_text(Parser *p); /* a name or a string */
const Type *reader_type(Parser *p);

/* --- parse_name.c --- */
/* ["#" NAME]: the layout of that name; NULL: none is written, or there is no such one, which is said. */
const Layout *reader_layout_use(Parser *p);
bool reader_layout(Parser *p); /* behind `layout`: "#" NAME "=" layout */
/* VALUE ["#" NAME], `expected` in the message; then the value gets its name, its hint and where it lives. */
bool reader_definition(Parser *p, Definition *d, const char *expected);
bool reader_set_definition(Parser *p, const Definition *d, Ref ref);
/* The fields of a ring that were written with layouts: all of them, or none. */
bool reader_set_fields(Parser *p, const Op *op);
/* A name is visible from here on, to the next reader_forget of this mark (undo.count); taken likewise
 * (takings.count). */
void reader_define(Parser *p, const char *name, size_t length, Ref ref);
void reader_forget(Parser *p, size_t mark);
void reader_take_name(Parser *p, const char *name);
void reader_give_back(Parser *p, size_t mark);
#endif
