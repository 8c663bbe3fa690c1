/* SPDX-License-Identifier: Apache-2.0 */
/* c_ast.h: the syntax tree of Tile C. One regular node; the table says what each kind keeps where.
 *
 *     x = a + 1;      expression
 *                       assign =            op CT_ASSIGN
 *                         ident x
 *                         binary +          op CT_PLUS
 *                           ident a
 *                           int 1
 *
 * Types are nodes too. A struct specifier is one node wherever it is used, so two uses of a type
 * can be compared by what they refer to. Names are NUL-terminated and live in the arena of the
 * parse. */
#ifndef SYNTAX_C_AST_H
#define SYNTAX_C_AST_H
#include "syntax/c_lex.h"

/* C_NODE(id, printed name, kids and other fields; "?" may be NULL, "..." any number) */
#define C_NODES(C_NODE)                                                                       \
    C_NODE(UNIT, "unit", "declaration...")                                                    \
    C_NODE(FUNCTION, "function", "name; result type, parameters, body?, specifier...")        \
    C_NODE(PARAMETERS, "parameters", "parameter...")                                          \
    C_NODE(PARAMETER, "parameter", "name or NULL; type")                                      \
    C_NODE(VARIABLE, "variable", "name; type, initializer?, specifier...")                    \
    C_NODE(TYPEDEF, "typedef", "name; type")                                                  \
    C_NODE(TYPE_ONLY, "type-only", "struct or enum type declared without a variable")         \
    C_NODE(FIELD, "field", "name; type")                                                      \
    C_NODE(ENUMERATOR, "enumerator", "name; value?")                                          \
    C_NODE(SPECIFIER, "specifier", "name (__shared__, tile_kernel..); argument...")           \
    C_NODE(TEMPLATE, "template", "name (lcf_kernel..); argument or designated...")            \
    C_NODE(STATIC_ASSERT, "static-assert", "text; condition")                                 \
    C_NODE(TYPE_NAME, "type", "name: int, unsigned long.., a typedef's or a built-in's name") \
    C_NODE(TYPE_STRUCT, "struct", "name (tag) or NULL; field... (none: a reference by tag)")  \
    C_NODE(TYPE_ENUM, "enum", "name (tag) or NULL; enumerator...")                            \
    C_NODE(TYPE_TILE, "tile", "name (st_bf..); argument (type or constant)...")               \
    C_NODE(TYPE_POINTER, "pointer", "type")                                                   \
    C_NODE(TYPE_ARRAY, "array", "element type, size?")                                        \
    C_NODE(BLOCK, "block", "statement...")                                                    \
    C_NODE(DECLARATION, "declaration", "variable, typedef or type-only...")                   \
    C_NODE(EXPRESSION, "expression", "expression")                                            \
    C_NODE(EMPTY, "empty", "")                                                                \
    C_NODE(IF, "if", "condition, then, else?")                                                \
    C_NODE(FOR, "for", "init?, condition?, step?, body")                                      \
    C_NODE(WHILE, "while", "condition, body")                                                 \
    C_NODE(DO, "do", "body, condition")                                                       \
    C_NODE(SWITCH, "switch", "value, body")                                                   \
    C_NODE(CASE, "case", "constant, statement")                                               \
    C_NODE(DEFAULT, "default", "statement")                                                   \
    C_NODE(BREAK, "break", "")                                                                \
    C_NODE(CONTINUE, "continue", "")                                                          \
    C_NODE(RETURN, "return", "value?")                                                        \
    C_NODE(IDENT, "ident", "name")                                                            \
    C_NODE(INT, "int", "number; flags unsigned, long")                                        \
    C_NODE(FLOAT, "float", "real; flag single")                                               \
    C_NODE(STRING, "string", "text and length (as number)")                                   \
    C_NODE(CALL, "call", "callee, argument (expression or type)...")                          \
    C_NODE(MEMBER, "member", "name, op DOT or ARROW; base")                                   \
    C_NODE(INDEX, "index", "base, index")                                                     \
    C_NODE(UNARY, "unary", "op; operand")                                                     \
    C_NODE(POSTFIX, "postfix", "op INC or DEC; operand")                                      \
    C_NODE(BINARY, "binary", "op; left, right")                                               \
    C_NODE(ASSIGN, "assign", "op; target, value")                                             \
    C_NODE(CONDITIONAL, "conditional", "condition, then, else")                               \
    C_NODE(COMMA, "comma", "first, second")                                                   \
    C_NODE(CAST, "cast", "type, operand")                                                     \
    C_NODE(SIZEOF, "sizeof", "type or expression")                                            \
    C_NODE(COMPOUND, "compound", "type, initializer")                                         \
    C_NODE(INITIALIZER, "initializer", "expression, initializer or designated...")            \
    C_NODE(DESIGNATED, "designated", "name (.name) or index kid; index?, value")              \
    C_NODE(ERROR, "error", "what could not be read; a message was given")

typedef enum CKind {
#define C_NODE(id, name, doc) C_##id,
    C_NODES(C_NODE)
#undef C_NODE
        C_KIND_COUNT
} CKind;

enum {
    C_FLAG_CONST = 1,
    C_FLAG_VOLATILE = 2,
    C_FLAG_RESTRICT = 4,
    C_FLAG_STATIC = 8,
    C_FLAG_EXTERN = 16,
    C_FLAG_INLINE = 32,
    C_FLAG_UNSIGNED = 64,
    C_FLAG_LONG = 128,
    C_FLAG_SINGLE = 256,
    C_FLAG_DEFINED = 512,     /* a struct or enum specifier with a body */
    C_FLAG_NOT_DECIMAL = 1024 /* an integer with 0x, 0b or a leading 0 */
};

typedef struct CNode CNode;
struct CNode { /* 48 bytes: texts may be large */
    CTok op : 8;
    unsigned flags : 12, depth : 11; /* depth: of the tree below, bounded by C_DEPTH_LIMIT */
    CKind kind : 6;
    unsigned count : 26; /* a text has fewer bytes */
    Range range, macro; /* macro: definition of the macro that made the node's first token */
    const char *name;
    union {
        uint64_t number;
        double real;
    };
    CNode **kids;
};
_Static_assert((int)C_KIND_COUNT <= 64 && (int)CT_COUNT <= 256, "fields of a node");

enum { C_DEPTH_LIMIT = 1000 };

const char *c_kind_name(CKind kind);

/* A stable text of the tree, one node a line, two spaces a level; with places (`@line:column`) if sources is given. */
char *c_dump(Arena *arena, const CNode *node, const SourceMap *sources);

/* Integer constant expressions, in C's #if arithmetic: 64 bits, signed unless an operand is
 * unsigned. `lookup` gives the value of a name and of sizeof; false means "not constant", and
 * *wrong is the node that is not. */
typedef struct CConst {
    int64_t value;
    bool is_unsigned;
} CConst;
typedef bool CLookup(void *user, const CNode *node, CConst *out);
/* a op b for binary operators; false for a division by zero, a shift out of 0..63 and other operators. */
bool c_fold(CTok op, CConst a, CConst b, CConst *out);
bool c_eval(const CNode *node, CLookup *lookup, void *user, CConst *out, const CNode **wrong);
#endif
