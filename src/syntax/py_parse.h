/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse.h: what the files of the Python parser share.
 *
 * Recursive descent over the token array, one function a rule of CPython 3.11's grammar; each
 * function carries its rule as a comment. The way of errors: py_fail reports once, remembers the
 * place and moves the parser onto the STOP token, which matches nothing, so that every loop and
 * rule runs out at once without further checks. The statement loop then goes back to that place,
 * skips to the end of the line, and reads on. Functions never return NULL: after a failure their
 * result is a node that nobody looks at.
 *
 *     PyNode *node = py_new(p, PY_Await, begin);      begin: where its first token begins
 *     node->Await.value = py_parse_primary(p);
 *     return py_done(p, node);                        ends behind the last token taken; measures its height */
#ifndef SYNTAX_PY_PARSE_H
#define SYNTAX_PY_PARSE_H
#include "base/map.h"
#include "base/vec.h"
#include "syntax/py_ast.h"
#include "syntax/py_lex.h"

typedef struct PyParser {
    const SourceFile *file;
    Arena *arena;
    Diag *diag;
    PyTokens tokens;
    size_t pos;
    size_t error;        /* where it failed; meaningful while failed */
    bool failed;         /* pos is on STOP until recovery */
    int trial;           /* >0: an attempt that may be taken back; says nothing */
    int depth;           /* of recursion */
    uint32_t last_end;   /* end of the last token taken */
    VEC(PyNode *) stack; /* lists under construction */
    Map names;           /* interned identifiers */
} PyParser;

typedef struct PyState {
    size_t pos, stack, last_end;
    int depth;
} PyState;

/* tokens */
static inline PyTokenKind py_peek(const PyParser *p) { return p->tokens.at[p->pos].kind; }
static inline PyTokenKind py_peek_at(const PyParser *p, size_t ahead) {
    size_t at = p->pos + ahead;
    return at < p->tokens.count ? p->tokens.at[at].kind : PY_T_STOP;
}
static inline Range py_here(const PyParser *p) { return p->tokens.at[p->pos].range; }
static inline uint32_t py_begin(const PyParser *p) { return p->tokens.at[p->pos].range.begin; }
PyToken py_take(PyParser *p);
bool py_accept(PyParser *p, PyTokenKind kind);
bool py_is_soft(const PyParser *p, size_t ahead, const char *word); /* a NAME spelled so */
/* Takes the token or fails with PY_EXPECTED. */
void py_expect(PyParser *p, PyTokenKind kind);
/* Takes the closing bracket of a list, or says that a comma is missing before what stands there. */
void py_expect_close(PyParser *p, PyTokenKind close, uint32_t opened);
const char *py_expect_name(PyParser *p);
const char *py_intern(PyParser *p, Range range);
const char *py_token_text(const PyParser *p, Range range);

/* failure */
void py_fail(PyParser *p, DiagId id, Range range, ...);
void py_fail_expected(PyParser *p, const char *what);
void py_recover(PyParser *p); /* after a failure: on to the next line at this level */
bool py_enter(PyParser *p);   /* one level deeper; false (and failed) beyond PY_MAX_DEPTH */
void py_leave(PyParser *p);
PyState py_try(PyParser *p);               /* begin an attempt */
bool py_tried(PyParser *p, PyState state); /* end it: true if it held, else everything is as before */

/* nodes */
PyNode *py_new(PyParser *p, PyKind kind, uint32_t begin);
PyNode *py_done(PyParser *p, PyNode *node);
PyNode *py_dummy(PyParser *p);
size_t py_list_begin(PyParser *p);
void py_list_add(PyParser *p, PyNode *node);
const PyList *py_list_end(PyParser *p, size_t mark);
const PyList *py_list_one(PyParser *p, PyNode *node);

/* rules: expressions (py_parse_expr.c, py_parse_atom.c) */
PyNode *py_parse_expression(PyParser *p);
PyNode *py_parse_named(PyParser *p);
PyNode *py_parse_disjunction(PyParser *p);
PyNode *py_parse_bitor(PyParser *p);
PyNode *py_parse_star_expressions(PyParser *p); /* may be an unparenthesised tuple */
PyNode *py_parse_star_named(PyParser *p);
PyNode *py_parse_yield(PyParser *p);
PyNode *py_parse_rhs(PyParser *p); /* yield_expr | star_expressions */
PyNode *py_parse_factor(PyParser *p);
PyNode *py_parse_primary(PyParser *p);
PyNode *py_parse_atom(PyParser *p);
PyNode *py_parse_group_inside(PyParser *p); /* what may stand in parentheses, for f-string fields */
PyNode *py_parse_targets(PyParser *p);      /* star_targets, as of `for` */
void py_parse_arguments(PyParser *p, const PyList **args, const PyList **keywords, uint32_t opened);
PyNode *py_parse_parameters(PyParser *p, PyTokenKind close);
const PyList *py_parse_generators(PyParser *p);
/* Turns an expression into a target; reports with the verb ("assign to", "delete") where it cannot be one. */
void py_set_ctx(PyParser *p, PyNode *node, PyCtx ctx, const char *verb);

/* statements (py_parse.c, py_parse_stmt.c, py_parse_compound.c, py_parse_match.c) */
/* The block behind a header is not indented: says so at this line, and keeps it as a statement. */
void py_fail_indent(PyParser *p, const char *owner, uint32_t owner_begin);
const PyList *py_parse_block(PyParser *p, const char *owner, uint32_t owner_begin);
void py_parse_simple_line(PyParser *p); /* pushes its statements onto the list under construction */
PyNode *py_parse_compound(PyParser *p); /* NULL: the line begins no compound statement */
PyNode *py_parse_match(PyParser *p);

/* literals (py_string.c, py_number in py_parse_atom.c) */
PyNode *py_parse_strings(PyParser *p);
#endif
