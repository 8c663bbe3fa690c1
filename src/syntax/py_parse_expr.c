/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse_expr.c: Python expressions from `lambda` down to the arithmetic operators, and
 * assignment targets.
 *
 * Above each function stands its rule of CPython 3.11's grammar. The levels from `|` to `@` are one
 * loop over a table of precedences (parse_binary). Targets are read as expressions and then turned
 * (py_set_ctx), which gives the message its words: "cannot assign to a call". */
#include "syntax/py_parse.h"

typedef struct BinaryOp {
    PyTokenKind token;
    int level;
    PyOp op;
} BinaryOp;

static const BinaryOp binary_ops[] = {
    {PY_T_P_BAR, 1, PY_OP_BITOR},         {PY_T_P_CARET, 2, PY_OP_BITXOR}, {PY_T_P_AMPERSAND, 3, PY_OP_BITAND},
    {PY_T_P_SHL, 4, PY_OP_SHL},           {PY_T_P_SHR, 4, PY_OP_SHR},      {PY_T_P_PLUS, 5, PY_OP_ADD},
    {PY_T_P_MINUS, 5, PY_OP_SUB},         {PY_T_P_STAR, 6, PY_OP_MUL},     {PY_T_P_SLASH, 6, PY_OP_DIV},
    {PY_T_P_FLOORDIV, 6, PY_OP_FLOORDIV}, {PY_T_P_PERCENT, 6, PY_OP_MOD},  {PY_T_P_AT, 6, PY_OP_MATMUL},
};

/* bitwise_or: bitwise_or '|' bitwise_xor | ...        bitwise_xor: ... '^' bitwise_and
 * bitwise_and: ... '&' shift_expr                     shift_expr: ... ('<<' | '>>') sum
 * sum: ... ('+' | '-') term                           term: ... ('*' | '/' | '//' | '%' | '@')
 * factor */
static PyNode *parse_binary(PyParser *p, int lowest) {
    uint32_t begin = py_begin(p);
    PyNode *left = py_parse_factor(p);
    for (;;) {
        const BinaryOp *found = NULL;
        PyTokenKind kind = py_peek(p);
        for (size_t i = 0; i < sizeof binary_ops / sizeof *binary_ops; i++)
            if (binary_ops[i].token == kind && binary_ops[i].level >= lowest) found = &binary_ops[i];
        if (!found) return left;
        py_take(p);
        PyNode *node = py_new(p, PY_BinOp, begin);
        node->BinOp.left = left;
        node->BinOp.op = found->op;
        node->BinOp.right = parse_binary(p, found->level + 1);
        left = py_done(p, node);
    }
}

PyNode *py_parse_bitor(PyParser *p) { return parse_binary(p, 1); }

/* factor: ('+' | '-' | '~') factor | power
 * power:  await_primary '**' factor | await_primary
 * await_primary: 'await' primary | primary */
PyNode *py_parse_factor(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyTokenKind kind = py_peek(p);
    if (kind == PY_T_P_PLUS || kind == PY_T_P_MINUS || kind == PY_T_P_TILDE) {
        py_take(p);
        PyNode *node = py_new(p, PY_UnaryOp, begin);
        node->UnaryOp.op = kind == PY_T_P_PLUS ? PY_OP_UADD : kind == PY_T_P_MINUS ? PY_OP_USUB : PY_OP_INVERT;
        node->UnaryOp.operand = py_enter(p) ? py_parse_factor(p) : py_dummy(p);
        py_leave(p);
        return py_done(p, node);
    }
    PyNode *base;
    if (py_accept(p, PY_T_AWAIT)) {
        base = py_new(p, PY_Await, begin);
        base->Await.value = py_parse_primary(p);
        base = py_done(p, base);
    } else {
        base = py_parse_primary(p);
    }
    if (!py_accept(p, PY_T_P_POW)) return base;
    PyNode *node = py_new(p, PY_BinOp, begin);
    node->BinOp.left = base;
    node->BinOp.op = PY_OP_POW;
    node->BinOp.right = py_enter(p) ? py_parse_factor(p) : py_dummy(p);
    py_leave(p);
    return py_done(p, node);
}

/* The comparison operator at hand, or PY_OP_COUNT; takes it. */
static PyOp take_comparison(PyParser *p) {
    PyOp op;
    switch (py_peek(p)) {
    case PY_T_P_EQ: op = PY_OP_EQ; break;
    case PY_T_P_NE: op = PY_OP_NE; break;
    case PY_T_P_LESS: op = PY_OP_LT; break;
    case PY_T_P_LE: op = PY_OP_LE; break;
    case PY_T_P_GREATER: op = PY_OP_GT; break;
    case PY_T_P_GE: op = PY_OP_GE; break;
    case PY_T_IN: op = PY_OP_IN; break;
    case PY_T_IS: op = PY_OP_IS; break;
    case PY_T_NOT:
        if (py_peek_at(p, 1) != PY_T_IN) return PY_OP_COUNT;
        py_take(p);
        op = PY_OP_NOT_IN;
        break;
    default: return PY_OP_COUNT;
    }
    py_take(p);
    if (op == PY_OP_IS && py_accept(p, PY_T_NOT)) op = PY_OP_IS_NOT;
    return op;
}

/* comparison: bitwise_or (compare_op bitwise_or)*
 * compare_op: '==' | '!=' | '<=' | '<' | '>=' | '>' | 'not' 'in' | 'in' | 'is' 'not' | 'is' */
static PyNode *parse_comparison(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *left = py_parse_bitor(p);
    PyOp op = take_comparison(p);
    if (op == PY_OP_COUNT) return left;
    PyNode *node = py_new(p, PY_Compare, begin);
    node->Compare.left = left;
    VEC(PyOp) ops = {0};
    size_t mark = py_list_begin(p);
    for (; op != PY_OP_COUNT; op = take_comparison(p)) {
        *VEC_PUSH(&ops, p->arena) = op;
        py_list_add(p, py_parse_bitor(p));
    }
    node->Compare.comparators = py_list_end(p, mark);
    PyOpList *list = arena_alloc(p->arena, sizeof *list + ops.count * sizeof(PyOp));
    list->count = (uint32_t)ops.count;
    for (size_t i = 0; i < ops.count; i++) list->at[i] = ops.at[i];
    node->Compare.ops = list;
    return py_done(p, node);
}

/* inversion: 'not' inversion | comparison */
static PyNode *parse_inversion(PyParser *p) {
    if (py_peek(p) != PY_T_NOT) return parse_comparison(p);
    PyNode *node = py_new(p, PY_UnaryOp, py_begin(p));
    py_take(p);
    node->UnaryOp.op = PY_OP_NOT;
    node->UnaryOp.operand = py_enter(p) ? parse_inversion(p) : py_dummy(p);
    py_leave(p);
    return py_done(p, node);
}

static PyNode *parse_bool(PyParser *p, PyTokenKind word, PyOp op, PyNode *(*operand)(PyParser *)) {
    uint32_t begin = py_begin(p);
    PyNode *first = operand(p);
    if (py_peek(p) != word) return first;
    PyNode *node = py_new(p, PY_BoolOp, begin);
    node->BoolOp.op = op;
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, word)) py_list_add(p, operand(p));
    node->BoolOp.values = py_list_end(p, mark);
    return py_done(p, node);
}

/* conjunction: inversion ('and' inversion)* */
static PyNode *parse_conjunction(PyParser *p) { return parse_bool(p, PY_T_AND, PY_OP_AND, parse_inversion); }

/* disjunction: conjunction ('or' conjunction)* */
PyNode *py_parse_disjunction(PyParser *p) { return parse_bool(p, PY_T_OR, PY_OP_OR, parse_conjunction); }

/* lambdef: 'lambda' [lambda_params] ':' expression */
static PyNode *parse_lambda(PyParser *p) {
    PyNode *node = py_new(p, PY_Lambda, py_begin(p));
    py_take(p);
    node->Lambda.args = py_parse_parameters(p, PY_T_P_COLON);
    if (!py_accept(p, PY_T_P_COLON))
        py_fail(p, DIAG_PY_EXPECTED_COLON, py_here(p), "lambda", py_token_name(py_peek(p)));
    node->Lambda.body = py_parse_expression(p);
    return py_done(p, node);
}

/* expression: disjunction 'if' disjunction 'else' expression | disjunction | lambdef */
PyNode *py_parse_expression(PyParser *p) {
    PyNode *result;
    uint32_t begin = py_begin(p);
    if (!py_enter(p)) {
        result = py_dummy(p);
    } else if (py_peek(p) == PY_T_LAMBDA) {
        result = parse_lambda(p);
    } else {
        result = py_parse_disjunction(p);
        if (py_peek(p) == PY_T_IF) {
            py_take(p);
            PyNode *node = py_new(p, PY_IfExp, begin);
            node->IfExp.body = result;
            node->IfExp.test = py_parse_disjunction(p);
            if (!py_accept(p, PY_T_ELSE)) py_fail_expected(p, "the `else` of a conditional expression");
            node->IfExp.orelse = py_parse_expression(p);
            result = py_done(p, node);
        }
    }
    py_leave(p);
    return result;
}

/* named_expression: NAME ':=' expression | expression */
PyNode *py_parse_named(PyParser *p) {
    if (py_peek(p) != PY_T_NAME || py_peek_at(p, 1) != PY_T_P_WALRUS) return py_parse_expression(p);
    PyNode *node = py_new(p, PY_NamedExpr, py_begin(p));
    PyNode *name = py_new(p, PY_Name, py_begin(p));
    name->Name.id = py_intern(p, py_take(p).range);
    name->Name.ctx = PY_STORE;
    node->NamedExpr.target = py_done(p, name);
    py_take(p);
    node->NamedExpr.value = py_parse_expression(p);
    return py_done(p, node);
}

static PyNode *parse_starred(PyParser *p, PyNode *(*plain)(PyParser *)) {
    if (py_peek(p) != PY_T_P_STAR) return plain(p);
    PyNode *node = py_new(p, PY_Starred, py_begin(p));
    py_take(p);
    node->Starred.value = py_parse_bitor(p);
    return py_done(p, node);
}

/* star_named_expression: '*' bitwise_or | named_expression */
PyNode *py_parse_star_named(PyParser *p) { return parse_starred(p, py_parse_named); }

/* Can the token begin an expression? Decides whether a comma is the last one. */
static bool expression_begins(PyTokenKind kind) {
    switch (kind) {
    case PY_T_NAME:
    case PY_T_NUMBER:
    case PY_T_STRING:
    case PY_T_FALSE:
    case PY_T_NONE:
    case PY_T_TRUE:
    case PY_T_AWAIT:
    case PY_T_LAMBDA:
    case PY_T_NOT:
    case PY_T_P_ELLIPSIS:
    case PY_T_P_LPAREN:
    case PY_T_P_LBRACKET:
    case PY_T_P_LBRACE:
    case PY_T_P_PLUS:
    case PY_T_P_MINUS:
    case PY_T_P_TILDE:
    case PY_T_P_STAR: return true;
    default: return false;
    }
}

static PyNode *parse_star_expression(PyParser *p) { return parse_starred(p, py_parse_expression); }

/* Elements with commas between them: one alone is itself, with a comma it is a tuple. */
static PyNode *parse_tuple(PyParser *p, PyNode *(*element)(PyParser *)) {
    uint32_t begin = py_begin(p);
    PyNode *first = element(p);
    if (py_peek(p) != PY_T_P_COMMA) return first;
    PyNode *node = py_new(p, PY_Tuple, begin);
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_COMMA) && expression_begins(py_peek(p))) py_list_add(p, element(p));
    node->Tuple.elts = py_list_end(p, mark);
    return py_done(p, node);
}

/* star_expressions: star_expression (',' star_expression)* [',']
 * star_expression: '*' bitwise_or | expression */
PyNode *py_parse_star_expressions(PyParser *p) { return parse_tuple(p, parse_star_expression); }

/* yield_expr: 'yield' 'from' expression | 'yield' [star_expressions] */
PyNode *py_parse_yield(PyParser *p) {
    uint32_t begin = py_begin(p);
    py_take(p);
    PyNode *node;
    if (py_accept(p, PY_T_FROM)) {
        node = py_new(p, PY_YieldFrom, begin);
        node->YieldFrom.value = py_parse_expression(p);
    } else {
        node = py_new(p, PY_Yield, begin);
        if (expression_begins(py_peek(p))) node->Yield.value = py_parse_star_expressions(p);
    }
    return py_done(p, node);
}

/* annotated_rhs: yield_expr | star_expressions */
PyNode *py_parse_rhs(PyParser *p) {
    return py_peek(p) == PY_T_YIELD ? py_parse_yield(p) : py_parse_star_expressions(p);
}

static PyNode *parse_star_target(PyParser *p) { return parse_starred(p, py_parse_bitor); }

/* star_targets: star_target (',' star_target)* [',']           star_target: '*' target | target */
PyNode *py_parse_targets(PyParser *p) {
    PyNode *node = parse_tuple(p, parse_star_target);
    if (!p->failed) py_set_ctx(p, node, PY_STORE, "assign to");
    return node;
}

static const char *describe(const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Call: return "a call";
    case PY_Compare: return "a comparison";
    case PY_Constant:
        return node->Constant.what == PY_NONE       ? "None"
               : node->Constant.what == PY_TRUE     ? "True"
               : node->Constant.what == PY_FALSE    ? "False"
               : node->Constant.what == PY_ELLIPSIS ? "..."
                                                    : "a literal";
    case PY_JoinedStr: return "an f-string";
    case PY_Dict: return "a dict";
    case PY_Set: return "a set";
    case PY_Lambda: return "a lambda";
    case PY_IfExp: return "a conditional expression";
    case PY_NamedExpr: return "an assignment expression";
    case PY_Await: return "an await";
    case PY_Yield:
    case PY_YieldFrom: return "a yield";
    case PY_GeneratorExp: return "a generator";
    case PY_ListComp:
    case PY_SetComp:
    case PY_DictComp: return "a comprehension";
    case PY_Starred: return "a starred expression";
    default: return "an expression";
    }
}

void py_set_ctx(PyParser *p, PyNode *node, PyCtx ctx, const char *verb) {
    const PyList *elts = NULL;
    switch ((PyKind)node->kind) {
    case PY_Name: node->Name.ctx = ctx; return;
    case PY_Attribute: node->Attribute.ctx = ctx; return;
    case PY_Subscript: node->Subscript.ctx = ctx; return;
    case PY_Starred:
        if (ctx == PY_DEL) break;
        node->Starred.ctx = ctx;
        py_set_ctx(p, node->Starred.value, ctx, verb);
        return;
    case PY_List:
        node->List.ctx = ctx;
        elts = node->List.elts;
        break;
    case PY_Tuple:
        node->Tuple.ctx = ctx;
        elts = node->Tuple.elts;
        break;
    default: break;
    }
    if (!elts) {
        py_fail(p, DIAG_PY_BAD_TARGET, node->range, verb, describe(node));
        return;
    }
    for (uint32_t i = 0; i < elts->count; i++) py_set_ctx(p, elts->at[i], ctx, verb);
}
