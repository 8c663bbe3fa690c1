/* SPDX-License-Identifier: Apache-2.0 */
/* c_parse_stmt.c: statements of Tile C. Each block recovers by itself, so that one broken statement
 * costs one message and the rest of the function is still read. */
#include "syntax/c_parser.h"

/* block = "{" {declaration | statement} "}" */
CNode *parse_block(Parser *ps) {
    CNode *node = node_new(ps, C_BLOCK, ps->at);
    const CToken *open = ps->at;
    size_t kids = ps->open.count;
    parser_advance(ps);
    parser_open_scope(ps);
    while (!at_token(ps, CT_RBRACE) && !at_token(ps, CT_END)) {
        const CToken *before = ps->at;
        node_open(ps, parse_statement(ps));
        if (!ps->panic) continue;
        parser_recover(ps);
        if (ps->at == before) parser_advance(ps);
        parser_take(ps, CK_ELSE); /* of the statement that was broken */
        while (at_token(ps, CT_IDENT) && text_equal(ps->at->text, ps->at->length, "catch")) parser_recover(ps);
    }
    parser_close_scope(ps);
    if (!parser_expect(ps, CT_RBRACE, "at the end of the block"))
        diag_emit(ps->diag, DIAG_NOTE_HERE, open->range, "the block begins here");
    node_take(ps, node, kids);
    return node_end(ps, node);
}

/* `if (int i = f(); i > 2)`: all of it goes. */
static void refuse_declaration(Parser *ps) {
    int depth = 1;
    parser_refuse(ps, ps->at->range, "declarations in a condition", "declare it before the statement");
    for (; depth && !at_token(ps, CT_END); parser_advance(ps))
        depth += at_token(ps, CT_LPAREN) - at_token(ps, CT_RPAREN);
}

static CNode *parse_condition(Parser *ps, const char *where) {
    if (at_token(ps, CT_IDENT) && text_equal(ps->at->text, ps->at->length, "constexpr"))
        return parser_refuse(ps, ps->at->range, "`if constexpr`",
                             "write `if`: one whose condition is a constant takes that side alone");
    parser_expect(ps, CT_LPAREN, where);
    if (!ps->panic && starts_type(ps) && ps->at[1].kind != CT_COLON) refuse_declaration(ps);
    CNode *condition = ps->panic ? node_new(ps, C_ERROR, ps->at) : parse_expression(ps);
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the condition");
    return condition;
}

static CNode *body_of(Parser *ps) { return ps->panic ? node_new(ps, C_ERROR, ps->at) : parse_statement(ps); }

static CNode *parse_if(Parser *ps) {
    CNode *node = node_new(ps, C_IF, ps->at);
    parser_advance(ps);
    node_add(ps, node, parse_condition(ps, "behind `if`"));
    node_add(ps, node, body_of(ps));
    bool other = !ps->panic && parser_take(ps, CK_ELSE);
    node_add(ps, node, other ? body_of(ps) : NULL);
    return node_end(ps, node);
}

/* for = "for" "(" (declaration | [expression] ";") [expression] ";" [expression] ")" statement */
static CNode *parse_for(Parser *ps) {
    CNode *node = node_new(ps, C_FOR, ps->at), *parts[3] = {0};
    parser_advance(ps);
    parser_open_scope(ps);
    parser_expect(ps, CT_LPAREN, "behind `for`");
    parser_cxx_range_for(ps);
    for (int i = 0; i < 3 && !ps->panic; i++) {
        CTok end = i == 2 ? CT_RPAREN : CT_SEMI;
        if (i == 0 && starts_declaration(ps)) {
            parts[0] = parse_declaration(ps);
            continue;
        }
        if (!at_token(ps, end)) parts[i] = parse_expression(ps);
        if (!ps->panic) parser_expect(ps, end, i == 2 ? "behind the step" : "inside `for (..)`");
    }
    for (int i = 0; i < 3; i++) node_add(ps, node, parts[i]);
    node_add(ps, node, body_of(ps));
    parser_close_scope(ps);
    return node_end(ps, node);
}

static CNode *parse_do(Parser *ps) {
    CNode *node = node_new(ps, C_DO, ps->at);
    parser_advance(ps);
    node_add(ps, node, body_of(ps));
    if (!ps->panic) parser_expect(ps, CK_WHILE, "behind the body of `do`");
    node_add(ps, node, ps->panic ? NULL : parse_condition(ps, "behind `while`"));
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind `do .. while (..)`");
    return node_end(ps, node);
}

static CNode *parse_case(Parser *ps) {
    bool is_default = at_token(ps, CK_DEFAULT);
    CNode *node = node_new(ps, is_default ? C_DEFAULT : C_CASE, ps->at);
    parser_advance(ps);
    if (!is_default) node_add(ps, node, parse_conditional(ps));
    if (!ps->panic) parser_expect(ps, CT_COLON, is_default ? "behind `default`" : "behind the case");
    node_add(ps, node, body_of(ps));
    return node_end(ps, node);
}

static CNode *parse_simple(Parser *ps, CKind kind, const char *where) {
    CNode *node = node_new(ps, kind, ps->at);
    parser_advance(ps);
    if (kind == C_RETURN) node_add(ps, node, at_token(ps, CT_SEMI) ? NULL : parse_expression(ps));
    if (!ps->panic) parser_expect(ps, CT_SEMI, where);
    return node_end(ps, node);
}

static CNode *parse_statement_inner(Parser *ps) {
    const CToken *first = ps->at;
    switch (first->kind) {
    case CT_LBRACE: return parse_block(ps);
    case CT_SEMI: parser_advance(ps); return node_end(ps, node_new(ps, C_EMPTY, first));
    case CK_IF: return parse_if(ps);
    case CK_FOR: return parse_for(ps);
    case CK_DO: return parse_do(ps);
    case CK_CASE:
    case CK_DEFAULT: return parse_case(ps);
    case CK_BREAK: return parse_simple(ps, C_BREAK, "behind `break`");
    case CK_CONTINUE: return parse_simple(ps, C_CONTINUE, "behind `continue`");
    case CK_RETURN: return parse_simple(ps, C_RETURN, "behind `return`");
    case CK_WHILE:
    case CK_SWITCH: {
        bool loop = first->kind == CK_WHILE;
        CNode *node = node_new(ps, loop ? C_WHILE : C_SWITCH, first);
        parser_advance(ps);
        node_add(ps, node, parse_condition(ps, loop ? "behind `while`" : "behind `switch`"));
        node_add(ps, node, body_of(ps));
        return node_end(ps, node);
    }
    case CK_ELSE: return parser_fail(ps, "an `if`", "before `else`");
    default: break;
    }
    /* `name name` can only be a declaration whose type is unknown: parse_declaration says so. */
    bool two_names = first->kind == CT_IDENT && first[1].kind == CT_IDENT;
    if (starts_declaration(ps) || (two_names && !parser_refused_word(ps, true) && !ps->panic))
        return parse_declaration(ps);
    if (ps->panic || parser_refused_word(ps, true)) return node_new(ps, C_ERROR, first);
    if (first->kind == CT_IDENT && first[1].kind == CT_COLON)
        return parser_refuse(ps, first->range, "labels", "use loops and `if`");
    CNode *expression = parse_expression(ps);
    /* `name(..) name` is one whose type takes arguments. */
    bool same_line = at_token(ps, CT_IDENT) && !ps->at->line_start; /* else a `;` is missing */
    if (!ps->panic && expression->kind == C_CALL && first->kind == CT_IDENT && same_line)
        parser_unknown_type(ps, first);
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind the expression");
    return node_one(ps, C_EXPRESSION, first, expression);
}

CNode *parse_statement(Parser *ps) {
    CNode *node = parser_enter(ps) ? parse_statement_inner(ps) : node_new(ps, C_ERROR, ps->at);
    parser_leave(ps);
    return node;
}
