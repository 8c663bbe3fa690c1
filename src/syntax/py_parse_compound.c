/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse_compound.c: Python's statements with blocks: def, class, if, loops, with, try, and their
 * decorators.
 *
 *     @triton.jit                    FunctionDef, decorator_list [triton.jit]
 *     def f(x, N: tl.constexpr):
 *         ...
 *
 * As in CPython, `elif` is an If alone in the orelse of the one before. */
#include "syntax/py_parse.h"

/* decorators: ('@' named_expression NEWLINE)+ */
static const PyList *parse_decorators(PyParser *p) {
    size_t mark = py_list_begin(p);
    while (py_accept(p, PY_T_P_AT)) {
        py_list_add(p, py_parse_named(p));
        py_expect(p, PY_T_NEWLINE);
    }
    return py_list_end(p, mark);
}

/* function_def: 'def' NAME '(' [params] ')' ['->' expression] ':' block */
static PyNode *parse_def(PyParser *p, const PyList *decorators, uint32_t begin, bool async) {
    PyNode *node = py_new(p, async ? PY_AsyncFunctionDef : PY_FunctionDef, begin);
    py_take(p);
    node->FunctionDef.decorator_list = decorators;
    node->FunctionDef.name = py_expect_name(p);
    uint32_t opened = py_begin(p);
    py_expect(p, PY_T_P_LPAREN);
    node->FunctionDef.args = py_parse_parameters(p, PY_T_P_RPAREN);
    py_expect_close(p, PY_T_P_RPAREN, opened);
    if (py_accept(p, PY_T_P_ARROW)) node->FunctionDef.returns = py_parse_expression(p);
    node->FunctionDef.body = py_parse_block(p, "def", begin);
    return py_done(p, node);
}

/* class_def: 'class' NAME ['(' [arguments] ')'] ':' block */
static PyNode *parse_class(PyParser *p, const PyList *decorators) {
    uint32_t begin = py_begin(p);
    PyNode *node = py_new(p, PY_ClassDef, begin);
    py_take(p);
    node->ClassDef.decorator_list = decorators;
    node->ClassDef.name = py_expect_name(p);
    uint32_t opened = py_begin(p);
    if (py_accept(p, PY_T_P_LPAREN)) py_parse_arguments(p, &node->ClassDef.bases, &node->ClassDef.keywords, opened);
    node->ClassDef.body = py_parse_block(p, "class", begin);
    return py_done(p, node);
}

/* else_block: 'else' ':' block */
static const PyList *parse_else(PyParser *p) {
    size_t mark = py_list_begin(p);
    uint32_t begin = py_begin(p);
    if (!py_accept(p, PY_T_ELSE)) return py_list_end(p, mark);
    return py_parse_block(p, "else", begin);
}

/* if_stmt: 'if' named_expression ':' block ('elif' named_expression ':' block)* [else_block]
 * The chain is built from its end, so that its length costs no recursion. */
static PyNode *parse_if(PyParser *p) {
    VEC(PyNode *) chain = {0};
    do {
        uint32_t begin = py_begin(p);
        const char *word = py_take(p).kind == PY_T_IF ? "if" : "elif";
        PyNode *node = py_new(p, PY_If, begin);
        node->If.test = py_parse_named(p);
        node->If.body = py_parse_block(p, word, begin);
        *VEC_PUSH(&chain, p->arena) = node;
    } while (py_peek(p) == PY_T_ELIF);
    VEC_LAST(&chain)->If.orelse = parse_else(p);
    PyNode *result = NULL;
    for (size_t i = chain.count; i-- > 0;) {
        if (result) chain.at[i]->If.orelse = py_list_one(p, result);
        result = py_done(p, chain.at[i]);
    }
    return result;
}

/* while_stmt: 'while' named_expression ':' block [else_block] */
static PyNode *parse_while(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *node = py_new(p, PY_While, begin);
    py_take(p);
    node->While.test = py_parse_named(p);
    node->While.body = py_parse_block(p, "while", begin);
    node->While.orelse = parse_else(p);
    return py_done(p, node);
}

/* for_stmt: ['async'] 'for' star_targets 'in' star_expressions ':' block [else_block] */
static PyNode *parse_for(PyParser *p, uint32_t begin, bool async) {
    PyNode *node = py_new(p, async ? PY_AsyncFor : PY_For, begin);
    py_take(p);
    node->For.target = py_parse_targets(p);
    py_expect(p, PY_T_IN);
    node->For.iter = py_parse_star_expressions(p);
    node->For.body = py_parse_block(p, "for", begin);
    node->For.orelse = parse_else(p);
    return py_done(p, node);
}

/* with_item: expression ['as' star_target] */
static PyNode *parse_with_item(PyParser *p) {
    PyNode *node = py_new(p, PY_withitem, py_begin(p));
    node->withitem.context_expr = py_parse_expression(p);
    if (py_accept(p, PY_T_AS)) {
        bool star = py_peek(p) == PY_T_P_STAR;
        PyNode *target = star ? py_parse_star_named(p) : py_parse_bitor(p);
        if (!p->failed) py_set_ctx(p, target, PY_STORE, "assign to");
        node->withitem.optional_vars = target;
    }
    return py_done(p, node);
}

/* '(' with_item (',' with_item)* [','] ')' &':'; NULL if the parentheses belong to an expression */
static const PyList *parse_with_group(PyParser *p) {
    if (py_peek(p) != PY_T_P_LPAREN) return NULL;
    PyState state = py_try(p);
    size_t mark = py_list_begin(p);
    py_take(p);
    do {
        if (py_peek(p) == PY_T_P_RPAREN && p->stack.count > mark) break;
        py_list_add(p, parse_with_item(p));
    } while (py_accept(p, PY_T_P_COMMA));
    py_expect(p, PY_T_P_RPAREN);
    if (py_peek(p) != PY_T_P_COLON) py_fail_expected(p, "`:`");
    const PyList *items = py_list_end(p, mark);
    return py_tried(p, state) ? items : NULL;
}

/* with_stmt: ['async'] 'with' ('(' with_item (',' with_item)* [','] ')' | with_item (',' with_item)*) ':' block */
static PyNode *parse_with(PyParser *p, uint32_t begin, bool async) {
    PyNode *node = py_new(p, async ? PY_AsyncWith : PY_With, begin);
    py_take(p);
    const PyList *items = parse_with_group(p);
    if (!items) {
        size_t mark = py_list_begin(p);
        do py_list_add(p, parse_with_item(p));
        while (py_accept(p, PY_T_P_COMMA));
        items = py_list_end(p, mark);
    }
    node->With.items = items;
    node->With.body = py_parse_block(p, "with", begin);
    return py_done(p, node);
}

/* except_block: 'except' ['*'] [expression ['as' NAME]] ':' block */
static PyNode *parse_except(PyParser *p, bool star) {
    uint32_t begin = py_begin(p);
    PyNode *node = py_new(p, PY_ExceptHandler, begin);
    py_take(p);
    if (star) py_take(p);
    if (star || py_peek(p) != PY_T_P_COLON) {
        node->ExceptHandler.type = py_parse_expression(p);
        if (py_peek(p) == PY_T_P_COMMA) py_fail_expected(p, "`(` around several exceptions, or `:`, or `as`");
        if (py_accept(p, PY_T_AS)) node->ExceptHandler.name = py_expect_name(p);
    }
    node->ExceptHandler.body = py_parse_block(p, "except", begin);
    return py_done(p, node);
}

/* try_stmt: 'try' ':' block (finally_block | except_block+ [else_block] [finally_block]) */
static PyNode *parse_try(PyParser *p) {
    uint32_t begin = py_begin(p);
    Range word = py_here(p);
    py_take(p);
    const PyList *body = py_parse_block(p, "try", begin);
    bool star = false;
    size_t mark = py_list_begin(p);
    const PyNode *bare = NULL;
    while (py_peek(p) == PY_T_EXCEPT) {
        bool this_star = py_peek_at(p, 1) == PY_T_P_STAR;
        if (p->stack.count > mark && this_star != star) py_fail(p, DIAG_PY_EXCEPT_MIX, py_here(p));
        if (bare) py_fail(p, DIAG_PY_EXCEPT_LAST, (Range){bare->range.begin, bare->range.begin + 6});
        star = this_star;
        PyNode *handler = parse_except(p, star);
        if (!p->failed && !handler->ExceptHandler.type) bare = handler;
        py_list_add(p, handler);
    }
    PyNode *node = py_new(p, star ? PY_TryStar : PY_Try, begin);
    node->Try.body = body;
    node->Try.handlers = py_list_end(p, mark);
    if (node->Try.handlers->count) node->Try.orelse = parse_else(p);
    uint32_t last = py_begin(p);
    if (py_accept(p, PY_T_FINALLY))
        node->Try.finalbody = py_parse_block(p, "finally", last);
    else if (!node->Try.handlers->count)
        py_fail(p, DIAG_PY_TRY_ALONE, word);
    return py_done(p, node);
}

/* compound_stmt: [decorators] (function_def | class_def) | if_stmt | with_stmt | for_stmt |
 * try_stmt | while_stmt | match_stmt */
PyNode *py_parse_compound(PyParser *p) {
    const PyList *decorators = parse_decorators(p);
    uint32_t begin = py_begin(p);
    bool async = py_peek(p) == PY_T_ASYNC;
    PyTokenKind kind = py_peek_at(p, async ? 1 : 0);
    if (async && (kind == PY_T_DEF || kind == PY_T_FOR || kind == PY_T_WITH)) py_take(p);
    if (kind == PY_T_DEF) return parse_def(p, decorators, begin, async);
    if (kind == PY_T_FOR && !decorators->count) return parse_for(p, begin, async);
    if (kind == PY_T_WITH && !decorators->count) return parse_with(p, begin, async);
    if (async) {
        py_fail_expected(p, "`def`, `for` or `with` behind `async`");
        return py_dummy(p);
    }
    if (kind == PY_T_CLASS) return parse_class(p, decorators);
    if (decorators->count && !p->failed) {
        py_fail_expected(p, "the `def` or `class` that is decorated");
        return py_dummy(p);
    }
    switch (kind) {
    case PY_T_IF: return parse_if(p);
    case PY_T_WHILE: return parse_while(p);
    case PY_T_TRY: return parse_try(p);
    case PY_T_NAME: return py_is_soft(p, 0, "match") ? py_parse_match(p) : NULL;
    default: return NULL;
    }
}
