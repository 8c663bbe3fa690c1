/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse_stmt.c: Python's simple statements, those that fit on a line: assignments, imports,
 * return and the like.
 *
 *     a, *b = c = f(x)        Assign targets [(a, *b), c] value f(x)
 *     x: int = 3; x += 1      AnnAssign, AugAssign */
#include "syntax/py_parse.h"

static bool at_end(const PyParser *p) {
    PyTokenKind kind = py_peek(p);
    return kind == PY_T_NEWLINE || kind == PY_T_P_SEMICOLON || kind == PY_T_END || kind == PY_T_STOP;
}

static PyOp augmented_op(PyTokenKind kind) {
    switch (kind) {
    case PY_T_P_ADD_EQ: return PY_OP_ADD;
    case PY_T_P_SUB_EQ: return PY_OP_SUB;
    case PY_T_P_MUL_EQ: return PY_OP_MUL;
    case PY_T_P_AT_EQ: return PY_OP_MATMUL;
    case PY_T_P_DIV_EQ: return PY_OP_DIV;
    case PY_T_P_MOD_EQ: return PY_OP_MOD;
    case PY_T_P_AND_EQ: return PY_OP_BITAND;
    case PY_T_P_OR_EQ: return PY_OP_BITOR;
    case PY_T_P_XOR_EQ: return PY_OP_BITXOR;
    case PY_T_P_SHL_EQ: return PY_OP_SHL;
    case PY_T_P_SHR_EQ: return PY_OP_SHR;
    case PY_T_P_POW_EQ: return PY_OP_POW;
    case PY_T_P_FLOORDIV_EQ: return PY_OP_FLOORDIV;
    default: return PY_OP_COUNT;
    }
}

static bool is_single_target(const PyNode *node) {
    return node->kind == PY_Name || node->kind == PY_Attribute || node->kind == PY_Subscript;
}

/* assignment: target ':' expression ['=' annotated_rhs] */
static PyNode *parse_annotated(PyParser *p, PyNode *target, uint32_t begin) {
    PyNode *node = py_new(p, PY_AnnAssign, begin);
    if (!is_single_target(target))
        py_fail(p, DIAG_PY_BAD_ANNOTATION, target->range);
    else
        py_set_ctx(p, target, PY_STORE, "assign to");
    py_take(p);
    node->AnnAssign.target = target;
    node->AnnAssign.simple = target->kind == PY_Name && target->range.begin == begin; /* not `(x)` */
    node->AnnAssign.annotation = py_parse_expression(p);
    if (py_accept(p, PY_T_P_ASSIGN)) node->AnnAssign.value = py_parse_rhs(p);
    return py_done(p, node);
}

/* assignment: (star_targets '=')+ (yield_expr | star_expressions) */
static PyNode *parse_assign(PyParser *p, PyNode *first, uint32_t begin) {
    PyNode *node = py_new(p, PY_Assign, begin), *value = first;
    size_t mark = py_list_begin(p);
    while (py_accept(p, PY_T_P_ASSIGN)) {
        py_set_ctx(p, value, PY_STORE, "assign to");
        py_list_add(p, value);
        value = py_parse_rhs(p);
    }
    node->Assign.targets = py_list_end(p, mark);
    node->Assign.value = value;
    return py_done(p, node);
}

/* assignment | star_expressions | single_target augassign (yield_expr | star_expressions) */
static PyNode *parse_expression_statement(PyParser *p) {
    uint32_t begin = py_begin(p);
    bool print = py_is_soft(p, 0, "print") || py_is_soft(p, 0, "exec");
    PyNode *first = py_parse_rhs(p);
    if (p->failed) return first;
    PyTokenKind kind = py_peek(p);
    if (kind == PY_T_P_ASSIGN) return parse_assign(p, first, begin);
    if (kind == PY_T_P_COLON && first->kind != PY_Yield && is_single_target(first))
        return parse_annotated(p, first, begin);
    if (kind == PY_T_P_COLON && (first->kind == PY_Tuple || first->kind == PY_List))
        return parse_annotated(p, first, begin);
    if (augmented_op(kind) != PY_OP_COUNT) {
        if (!is_single_target(first)) py_fail(p, DIAG_PY_BAD_AUGMENTED, first->range);
        PyNode *node = py_new(p, PY_AugAssign, begin);
        py_take(p);
        if (!p->failed) py_set_ctx(p, first, PY_STORE, "assign to");
        node->AugAssign.target = first;
        node->AugAssign.op = augmented_op(kind);
        node->AugAssign.value = py_parse_rhs(p);
        return py_done(p, node);
    }
    if (print && first->kind == PY_Name && !at_end(p)) py_fail(p, DIAG_PY_PRINT, first->range, first->Name.id);
    PyNode *node = py_new(p, PY_Expr, begin);
    node->Expr.value = first;
    return py_done(p, node);
}

/* dotted_name: NAME ('.' NAME)* */
static const char *parse_dotted(PyParser *p) {
    const char *name = py_expect_name(p);
    Text text = {0};
    while (py_peek(p) == PY_T_P_DOT) {
        if (!text.at) {
            text = text_new(p->arena);
            text_add(&text, "%s", name);
        }
        py_take(p);
        text_add(&text, ".%s", py_expect_name(p));
    }
    return text.at ? text.at : name;
}

/* import_name: 'import' dotted_name ['as' NAME] (',' ...)* */
static PyNode *parse_import(PyParser *p) {
    PyNode *node = py_new(p, PY_Import, py_begin(p));
    py_take(p);
    size_t mark = py_list_begin(p);
    do {
        PyNode *alias = py_new(p, PY_alias, py_begin(p));
        alias->alias.name = parse_dotted(p);
        if (py_accept(p, PY_T_AS)) alias->alias.asname = py_expect_name(p);
        py_list_add(p, py_done(p, alias));
    } while (py_accept(p, PY_T_P_COMMA));
    node->Import.names = py_list_end(p, mark);
    return py_done(p, node);
}

/* import_from: 'from' ('.' | '...')* [dotted_name] 'import' ('*' | names | '(' names [','] ')')
 * names: NAME ['as' NAME] (',' ...)* */
static PyNode *parse_from(PyParser *p) {
    PyNode *node = py_new(p, PY_ImportFrom, py_begin(p));
    py_take(p);
    int level = 0;
    for (;; py_take(p)) {
        if (py_peek(p) == PY_T_P_DOT)
            level++;
        else if (py_peek(p) == PY_T_P_ELLIPSIS)
            level += 3;
        else
            break;
    }
    if (level == 0 || py_peek(p) == PY_T_NAME) node->ImportFrom.module = parse_dotted(p);
    node->ImportFrom.level = level;
    py_expect(p, PY_T_IMPORT);
    size_t mark = py_list_begin(p);
    uint32_t opened = py_begin(p);
    if (py_peek(p) == PY_T_P_STAR) {
        PyNode *alias = py_new(p, PY_alias, py_begin(p));
        alias->alias.name = py_intern(p, py_take(p).range);
        py_list_add(p, py_done(p, alias));
    } else {
        bool group = py_accept(p, PY_T_P_LPAREN);
        do {
            if (group && py_peek(p) == PY_T_P_RPAREN && p->stack.count > mark) break;
            PyNode *alias = py_new(p, PY_alias, py_begin(p));
            alias->alias.name = py_expect_name(p);
            if (py_accept(p, PY_T_AS)) alias->alias.asname = py_expect_name(p);
            py_list_add(p, py_done(p, alias));
        } while (py_accept(p, PY_T_P_COMMA));
        if (group) py_expect_close(p, PY_T_P_RPAREN, opened);
    }
    node->ImportFrom.names = py_list_end(p, mark);
    return py_done(p, node);
}

/* global_stmt: 'global' NAME (',' NAME)*        nonlocal_stmt: 'nonlocal' NAME (',' NAME)* */
static PyNode *parse_scope(PyParser *p, PyKind kind) {
    PyNode *node = py_new(p, kind, py_begin(p));
    py_take(p);
    VEC(const char *) names = {0};
    do *VEC_PUSH(&names, p->arena) = py_expect_name(p);
    while (py_accept(p, PY_T_P_COMMA));
    PyNames *list = arena_alloc(p->arena, sizeof *list + names.count * sizeof(char *));
    list->count = (uint32_t)names.count;
    for (size_t i = 0; i < names.count; i++) list->at[i] = names.at[i];
    node->Global.names = list;
    return py_done(p, node);
}

/* del_stmt: 'del' del_target (',' del_target)* [','] */
static PyNode *parse_del(PyParser *p) {
    PyNode *node = py_new(p, PY_Delete, py_begin(p));
    py_take(p);
    size_t mark = py_list_begin(p);
    do {
        if (at_end(p) && p->stack.count > mark) break;
        PyNode *target = py_parse_bitor(p);
        if (!p->failed) py_set_ctx(p, target, PY_DEL, "delete");
        py_list_add(p, target);
    } while (py_accept(p, PY_T_P_COMMA));
    node->Delete.targets = py_list_end(p, mark);
    return py_done(p, node);
}

/* return_stmt: 'return' [star_expressions] */
static PyNode *parse_return(PyParser *p) {
    PyNode *node = py_new(p, PY_Return, py_begin(p));
    py_take(p);
    if (!at_end(p)) node->Return.value = py_parse_star_expressions(p);
    return py_done(p, node);
}

/* raise_stmt: 'raise' [expression ['from' expression]] */
static PyNode *parse_raise(PyParser *p) {
    PyNode *node = py_new(p, PY_Raise, py_begin(p));
    py_take(p);
    if (!at_end(p)) {
        node->Raise.exc = py_parse_expression(p);
        if (py_accept(p, PY_T_FROM)) node->Raise.cause = py_parse_expression(p);
    }
    return py_done(p, node);
}

/* assert_stmt: 'assert' expression [',' expression] */
static PyNode *parse_assert(PyParser *p) {
    PyNode *node = py_new(p, PY_Assert, py_begin(p));
    py_take(p);
    node->Assert.test = py_parse_expression(p);
    if (py_accept(p, PY_T_P_COMMA)) node->Assert.msg = py_parse_expression(p);
    return py_done(p, node);
}

static PyNode *parse_word(PyParser *p, PyKind kind) {
    PyNode *node = py_new(p, kind, py_begin(p));
    py_take(p);
    return py_done(p, node);
}

/* simple_stmt: assignment | star_expressions | return_stmt | import_stmt | raise_stmt | 'pass' |
 * del_stmt | assert_stmt | 'break' | 'continue' | global_stmt | nonlocal_stmt */
static PyNode *parse_simple(PyParser *p) {
    switch (py_peek(p)) {
    case PY_T_RETURN: return parse_return(p);
    case PY_T_IMPORT: return parse_import(p);
    case PY_T_FROM: return parse_from(p);
    case PY_T_RAISE: return parse_raise(p);
    case PY_T_PASS: return parse_word(p, PY_Pass);
    case PY_T_BREAK: return parse_word(p, PY_Break);
    case PY_T_CONTINUE: return parse_word(p, PY_Continue);
    case PY_T_DEL: return parse_del(p);
    case PY_T_ASSERT: return parse_assert(p);
    case PY_T_GLOBAL: return parse_scope(p, PY_Global);
    case PY_T_NONLOCAL: return parse_scope(p, PY_Nonlocal);
    case PY_T_ELIF:
    case PY_T_ELSE:
        py_fail(p, DIAG_PY_ORPHAN, py_here(p), py_peek(p) == PY_T_ELIF ? "elif" : "else", "`if`, loop or `try`");
        return py_dummy(p);
    case PY_T_EXCEPT:
    case PY_T_FINALLY:
        py_fail(p, DIAG_PY_ORPHAN, py_here(p), py_peek(p) == PY_T_EXCEPT ? "except" : "finally", "`try`");
        return py_dummy(p);
    default: return parse_expression_statement(p);
    }
}

/* simple_stmts: simple_stmt (';' simple_stmt)* [';'] NEWLINE */
void py_parse_simple_line(PyParser *p) {
    do {
        py_list_add(p, parse_simple(p));
        if (!at_end(p)) py_fail(p, DIAG_PY_EXPECTED_END, py_here(p), py_token_name(py_peek(p)));
    } while (py_accept(p, PY_T_P_SEMICOLON) && py_peek(p) != PY_T_NEWLINE);
    if (py_peek(p) != PY_T_END) py_expect(p, PY_T_NEWLINE);
}
