/* SPDX-License-Identifier: Apache-2.0 */
/* py_ast.h: the tree of a Python file, and the parser's entry.
 *
 * A node is a head (kind, range, height) and the fields of its kind, as py_ast.def lists them:
 *
 *     if (node->kind == PY_BinOp && node->BinOp.op == PY_OP_ADD) visit(node->BinOp.left);
 *     for (uint32_t i = 0; i < node->Call.args->count; i++) visit(node->Call.args->at[i]);
 *
 * Field types: NODE never NULL; MAYBE a node or NULL; LIST a list, never NULL itself; NAME an identifier, NULL where
 * Python has none; NAMES several; TEXT bytes; OP, OPS, CTX, CONST enums; FLAG int; INT uint64_t; REAL double. A node is
 * allocated with the size of its own kind, so it must not be copied as a struct.
 * Identifiers are interned per parse and NUL-terminated. Nodes are read-only after the parse; they live in its arena.
 * The height of a tree is bounded (PY_MAX_HEIGHT), so recursion over it is safe. */
#ifndef SYNTAX_PY_AST_H
#define SYNTAX_PY_AST_H
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"

enum { PY_MAX_HEIGHT = 1000, PY_MAX_DEPTH = 200, PY_MAX_INDENT = 100 };

typedef enum PyKind {
#define PY_NODE(kind, cls, fields) PY_##kind,
#define PY_LEAF(kind, cls)         PY_##kind,
#include "syntax/py_ast.def"
#undef PY_NODE
#undef PY_LEAF
    PY_KIND_COUNT
} PyKind;

typedef enum PyClass { PY_MOD, PY_STMT, PY_EXPR, PY_PART, PY_PATTERN } PyClass;

/* PY_OP(id, name in CPython's ast, spelling) */
#define PY_OPS(PY_OP)                 \
    PY_OP(ADD, "Add", "+")            \
    PY_OP(SUB, "Sub", "-")            \
    PY_OP(MUL, "Mult", "*")           \
    PY_OP(MATMUL, "MatMult", "@")     \
    PY_OP(DIV, "Div", "/")            \
    PY_OP(MOD, "Mod", "%")            \
    PY_OP(POW, "Pow", "**")           \
    PY_OP(SHL, "LShift", "<<")        \
    PY_OP(SHR, "RShift", ">>")        \
    PY_OP(BITOR, "BitOr", "|")        \
    PY_OP(BITXOR, "BitXor", "^")      \
    PY_OP(BITAND, "BitAnd", "&")      \
    PY_OP(FLOORDIV, "FloorDiv", "//") \
    PY_OP(INVERT, "Invert", "~")      \
    PY_OP(NOT, "Not", "not")          \
    PY_OP(UADD, "UAdd", "+")          \
    PY_OP(USUB, "USub", "-")          \
    PY_OP(AND, "And", "and")          \
    PY_OP(OR, "Or", "or")             \
    PY_OP(EQ, "Eq", "==")             \
    PY_OP(NE, "NotEq", "!=")          \
    PY_OP(LT, "Lt", "<")              \
    PY_OP(LE, "LtE", "<=")            \
    PY_OP(GT, "Gt", ">")              \
    PY_OP(GE, "GtE", ">=")            \
    PY_OP(IS, "Is", "is")             \
    PY_OP(IS_NOT, "IsNot", "is not")  \
    PY_OP(IN, "In", "in")             \
    PY_OP(NOT_IN, "NotIn", "not in")

typedef enum PyOp {
#define PY_OP(id, name, spelling) PY_OP_##id,
    PY_OPS(PY_OP)
#undef PY_OP
        PY_OP_COUNT
} PyOp;

typedef enum PyCtx { PY_LOAD, PY_STORE, PY_DEL } PyCtx;

/* What a Constant is. text: the value of STR (UTF-8; a lone surrogate as its three bytes) and BYTES, else the number's
 * spelling without `_`; integer: the value of INT; real: of FLOAT and IMAGINARY. An integer above 64 bits is BIGINT and
 * has only its spelling. `\N{name}` in a string stays as it is written. */
typedef enum PyConst {
    PY_NONE,
    PY_TRUE,
    PY_FALSE,
    PY_ELLIPSIS,
    PY_INT,
    PY_BIGINT,
    PY_FLOAT,
    PY_IMAGINARY,
    PY_STR,
    PY_BYTES
} PyConst;

typedef struct PyNode PyNode;
typedef struct PyList {
    uint32_t count;
    PyNode *at[];
} PyList;
typedef struct PyNames {
    uint32_t count;
    const char *at[];
} PyNames;
typedef struct PyOpList {
    uint32_t count;
    PyOp at[];
} PyOpList;
typedef struct PyText {
    size_t length;
    char at[]; /* NUL-terminated; may hold NULs */
} PyText;

/* Every field is one cell of eight bytes, so field i of any kind lies in cell i (py_cell). */
struct PyNode {
    Range range;
    uint16_t kind, height;
    union {
        _Alignas(8) char cells[1];
#define NODE(f)  _Alignas(8) PyNode *f;
#define MAYBE(f) _Alignas(8) PyNode *f;
#define LIST(f)  _Alignas(8) const PyList *f;
#define NAME(f)  _Alignas(8) const char *f;
#define NAMES(f) _Alignas(8) const PyNames *f;
#define TEXT(f)  _Alignas(8) const PyText *f;
#define OP(f)    _Alignas(8) PyOp f;
#define OPS(f)   _Alignas(8) const PyOpList *f;
#define CTX(f)   _Alignas(8) PyCtx f;
#define CONST(f) _Alignas(8) PyConst f;
#define FLAG(f)  _Alignas(8) int f;
#define INT(f)   _Alignas(8) uint64_t f;
#define REAL(f)  _Alignas(8) double f;
#define PY_NODE(kind, cls, fields) \
    struct {                       \
        fields                     \
    } kind;
#define PY_LEAF(kind, cls)
#include "syntax/py_ast.def"
#undef PY_NODE
#undef PY_LEAF
#undef NODE
#undef MAYBE
#undef LIST
#undef NAME
#undef NAMES
#undef TEXT
#undef OP
#undef OPS
#undef CTX
#undef CONST
#undef FLAG
#undef INT
#undef REAL
    };
};

typedef enum PyFieldType {
    PY_FIELD_NODE,
    PY_FIELD_MAYBE,
    PY_FIELD_LIST,
    PY_FIELD_NAME,
    PY_FIELD_NAMES,
    PY_FIELD_TEXT,
    PY_FIELD_OP,
    PY_FIELD_OPS,
    PY_FIELD_CTX,
    PY_FIELD_CONST,
    PY_FIELD_FLAG,
    PY_FIELD_INT,
    PY_FIELD_REAL
} PyFieldType;

typedef struct PyField {
    PyFieldType type;
    const char *name;
} PyField;

typedef struct PyKindInfo {
    const char *name;
    PyClass cls;
    const PyField *fields;
    size_t field_count;
} PyKindInfo;

extern const PyKindInfo py_kinds[PY_KIND_COUNT];
extern const char *const py_op_names[PY_OP_COUNT];     /* CPython's: "Add" */
extern const char *const py_op_spellings[PY_OP_COUNT]; /* "+" */

/* Parses a whole file. The Module always comes back, with the statements that could be read; mistakes are in diag. */
PyNode *py_parse(const SourceFile *file, Arena *arena, Diag *diag);

/* The tree as text, one statement a line; with ranges, each node says @begin-end in bytes from the file's start. */
typedef enum PyDumpMode { PY_DUMP_PLAIN, PY_DUMP_RANGES } PyDumpMode;
char *py_dump(const PyNode *node, const SourceFile *file, PyDumpMode mode, Arena *arena);

/* Where field i of a node lies; py_kinds[node->kind].fields[i].type says what is there. */
static inline const void *py_cell(const PyNode *node, size_t i) {
    return (const char *)node + offsetof(PyNode, cells) + 8 * i;
}
/* Calls visit for each child node in field order (not for NULL ones). */
void py_each_child(const PyNode *node, void (*visit)(void *user, PyNode *child), void *user);
bool py_is_name(const PyNode *node, const char *id); /* is it Name(id)? NULL is not */
/* "tl.math.exp" for Name and Attribute chains, NULL for anything else. */
const char *py_dotted(const PyNode *node, Arena *arena);
/* Calls visit for each plain name that an assignment (Assign, AnnAssign, AugAssign) binds, with an expression for what
 * it gets: of `a, (b, c) = 1, pair` these are 1, pair[0] and pair[1], of `a += 1` it is a + 1. Expressions are read
 * before any of the names is bound. A tuple of another length, and one with a `*`, binds nothing. */
void py_each_binding(const PyNode *statement, Arena *arena,
                     void (*visit)(void *user, const char *name, const PyNode *value), void *user);
#endif
