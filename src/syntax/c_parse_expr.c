/* SPDX-License-Identifier: Apache-2.0 */
/* c_parse_expr.c: expressions and initializers of Tile C, by precedence climbing.
 *
 * Where C has only expressions, two places also take a type: arguments of a call
 * (`shared_alloc(tile)`, `tile_view(st_bf(64, 256), b)`) and values of a template's descriptor
 * (`.globals = struct globals`). */
#include "syntax/c_parser.h"

/* initializer = "{" [element {"," element} [","]] "}" | assignment */
CNode *parse_initializer(Parser *ps) {
    if (!at_token(ps, CT_LBRACE)) return parse_assignment(ps);
    CNode *node = node_new(ps, C_INITIALIZER, ps->at);
    size_t kids = ps->open.count;
    if (!parser_enter(ps)) {
        parser_leave(ps);
        return node;
    }
    parser_advance(ps);
    while (!ps->panic && !at_token(ps, CT_RBRACE)) {
        bool designated = at_token(ps, CT_DOT) || at_token(ps, CT_LBRACKET);
        node_open(ps, designated ? parse_designated(ps, parse_initializer) : parse_initializer(ps));
        if (!parser_take(ps, CT_COMMA)) break;
    }
    if (!ps->panic) parser_expect(ps, CT_RBRACE, "at the end of the initializer");
    parser_leave(ps);
    node_take(ps, node, kids);
    return node_end(ps, node);
}

/* designated = ("." name | "[" constant "]") (designated | "=" value) */
CNode *parse_designated(Parser *ps, CNode *(*value)(Parser *ps)) {
    const CToken *first = ps->at;
    CNode *index = NULL, *inner = NULL;
    const char *name = NULL;
    if (parser_take(ps, CT_DOT)) {
        name = parser_name(ps, ps->at);
        parser_expect(ps, CT_IDENT, "behind `.`");
    } else {
        parser_advance(ps);
        index = parse_conditional(ps);
        parser_expect(ps, CT_RBRACKET, "behind the index");
    }
    if (!ps->panic && (at_token(ps, CT_DOT) || at_token(ps, CT_LBRACKET))) {
        inner = parser_enter(ps) ? parse_designated(ps, value) : node_new(ps, C_ERROR, ps->at);
        parser_leave(ps);
    } else if (!ps->panic && parser_expect(ps, CT_ASSIGN, "behind the designator")) {
        inner = value(ps);
    }
    CNode *node = node_two(ps, C_DESIGNATED, first, index, inner);
    if (node->kind == C_DESIGNATED) node->name = name;
    return node;
}

CNode *parse_argument(Parser *ps) {
    if (parser_cxx_braces(ps)) return node_new(ps, C_ERROR, ps->at);
    return starts_type(ps) ? parse_type_name(ps) : parse_assignment(ps);
}

/* arguments = "(" [argument {"," argument}] ")" */
void parse_arguments(Parser *ps, CNode *call) {
    size_t kids = ps->open.count;
    for (uint32_t i = 0; i < call->count; i++) node_open(ps, call->kids[i]);
    parser_advance(ps);
    while (!ps->panic && !at_token(ps, CT_RPAREN)) {
        node_open(ps, parse_argument(ps));
        if (!parser_take(ps, CT_COMMA)) break;
        if (at_token(ps, CT_RPAREN)) parser_fail(ps, "an argument", "behind `,`");
    }
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the arguments");
    node_take(ps, call, kids);
}

static CNode *parse_number(Parser *ps) {
    const CToken *token = ps->at;
    CNumber number;
    parser_advance(ps);
    if (!c_number(ps->arena, ps->diag, token, &number)) return node_new(ps, C_ERROR, token);
    CNode *node = node_new(ps, number.is_float ? C_FLOAT : C_INT, token);
    if (number.is_float)
        node->real = number.real;
    else
        node->number = number.integer;
    node->flags = (uint16_t)((number.is_unsigned ? C_FLAG_UNSIGNED : 0) | (number.is_long ? C_FLAG_LONG : 0) |
                             (number.is_single ? C_FLAG_SINGLE : 0) | (number.not_decimal ? C_FLAG_NOT_DECIMAL : 0));
    return node_end(ps, node);
}

static CNode *parse_character(Parser *ps) {
    const CToken *token = ps->at;
    size_t length;
    const char *bytes = c_string(ps->arena, ps->diag, token, &length);
    parser_advance(ps);
    if (length != 1)
        return parser_refuse(ps, token->range, "character constants of several bytes",
                             "write one byte between the quotes");
    if ((unsigned char)bytes[0] > 127)
        return parser_refuse(ps, token->range, "characters beyond ASCII", "write the number");
    CNode *node = node_new(ps, C_INT, token);
    node->number = (unsigned char)bytes[0];
    return node_end(ps, node);
}

/* Adjacent strings are one. */
static CNode *parse_string(Parser *ps) {
    CNode *node = node_new(ps, C_STRING, ps->at);
    Text text = text_new(ps->arena);
    while (at_token(ps, CT_STRING)) {
        size_t length;
        const char *bytes = c_string(ps->arena, ps->diag, ps->at, &length);
        text_add_bytes(&text, bytes, length);
        parser_advance(ps);
    }
    node->name = text.at;
    node->number = text.length;
    return node_end(ps, node);
}

/* "(" expression ")"; casts and compound literals are read by parse_unary_inner */
static CNode *parse_parenthesis(Parser *ps) {
    const CToken *first = ps->at;
    parser_advance(ps);
    if (at_token(ps, CT_LBRACE))
        return parser_refuse(ps, ps->at->range, "statement expressions `({ .. })`", "write a function");
    CNode *node = parse_expression(ps);
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the expression");
    node->range = range_join(first->range, ps->last->range);
    return node;
}

static CNode *parse_primary(Parser *ps) {
    switch (ps->at->kind) {
    case CT_NUMBER: return parse_number(ps);
    case CT_CHAR: return parse_character(ps);
    case CT_STRING: return parse_string(ps);
    case CT_LPAREN: return parse_parenthesis(ps);
    case CT_IDENT: {
        if (parser_refused_word(ps, false)) return node_new(ps, C_ERROR, ps->at);
        CNode *node = node_new(ps, C_IDENT, ps->at);
        node->name = parser_name(ps, ps->at);
        parser_advance(ps);
        return node_end(ps, node);
    }
    case CT_LBRACKET: return parser_cxx_lambda(ps);
    default: return parser_fail(ps, "an expression", ps->last && !ps->in_line ? "here" : "in the condition");
    }
}

/* postfix = primary { "[" expression "]" | "(" arguments ")" | "." name | "->" name | "++" | "--" } */
static CNode *parse_postfix(Parser *ps, const CToken *first, CNode *node) {
    while (!ps->panic) {
        CTok op = ps->at->kind;
        if (op == CT_LBRACKET) {
            parser_advance(ps);
            CNode *index = parse_expression(ps);
            if (!ps->panic) parser_expect(ps, CT_RBRACKET, "behind the index");
            node = node_two(ps, C_INDEX, first, node, index);
        } else if (op == CT_LPAREN) {
            CNode *call = node_new(ps, C_CALL, first);
            node_add(ps, call, node);
            parse_arguments(ps, call);
            node = node_end(ps, call);
        } else if (op == CT_DOT || op == CT_ARROW) {
            parser_advance(ps);
            const char *name = parser_name(ps, ps->at);
            parser_expect(ps, CT_IDENT, op == CT_DOT ? "behind `.`" : "behind `->`");
            node = node_one(ps, C_MEMBER, first, node);
            node->name = name;
            node->op = op;
            if (parser_cxx_member(ps, first, name)) return node;
        } else if (op == CT_INC || op == CT_DEC) {
            parser_advance(ps);
            node = node_one(ps, C_POSTFIX, first, node);
            node->op = op;
        } else if (op == CT_LT && first->kind == CT_IDENT && ps->at[1].kind == CT_IDENT &&
                   parser_lookup(ps, &ps->at[1]) != NAME_VALUE && node->kind == C_IDENT) {
            return parser_refuse(ps, ps->at->range, "C++ template arguments `<..>`",
                                 "write them in parentheses: st_bf(64, 64)");
        } else {
            break;
        }
    }
    return node;
}

static CNode *parse_unary(Parser *ps);

static CNode *parse_sizeof(Parser *ps) {
    const CToken *first = ps->at;
    parser_advance(ps);
    if (!at_token(ps, CT_LPAREN)) return node_one(ps, C_SIZEOF, first, parse_unary(ps));
    parser_advance(ps);
    CNode *operand = starts_type(ps) ? parse_type_name(ps) : parse_expression(ps);
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the operand of sizeof");
    return node_one(ps, C_SIZEOF, first, operand);
}

/* "(" type ")" (unary | "{" .. "}") */
static CNode *parse_cast(Parser *ps) {
    const CToken *first = ps->at;
    parser_advance(ps);
    CNode *type = parse_type_name(ps);
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the type");
    if (ps->panic) return type;
    if (!at_token(ps, CT_LBRACE)) return node_two(ps, C_CAST, first, type, parse_unary(ps));
    CNode *values = parse_initializer(ps);
    return parse_postfix(ps, first, node_two(ps, C_COMPOUND, first, type, values));
}

/* The part of unary that nests: called with the depth already counted. */
static CNode *parse_unary_inner(Parser *ps) {
    const CToken *first = ps->at;
    switch (ps->at->kind) {
    case CT_PLUS:
    case CT_MINUS:
    case CT_TILDE:
    case CT_NOT:
    case CT_STAR:
    case CT_AMP:
    case CT_INC:
    case CT_DEC: {
        parser_advance(ps);
        CNode *node = node_one(ps, C_UNARY, first, parse_unary(ps));
        if (node->kind == C_UNARY) node->op = first->kind;
        return node;
    }
    case CK_SIZEOF: return parse_sizeof(ps);
    default: break;
    }
    if (at_token(ps, CT_LPAREN)) {
        ps->at++;
        bool type_follows = starts_type(ps);
        ps->at--;
        if (type_follows) return parse_cast(ps);
    }
    return parse_postfix(ps, first, parse_primary(ps));
}

static CNode *parse_unary(Parser *ps) {
    CNode *node = parser_enter(ps) ? parse_unary_inner(ps) : node_new(ps, C_ERROR, ps->at);
    parser_leave(ps);
    return node;
}

static CNode *parse_binary(Parser *ps, int least) {
    const CToken *first = ps->at;
    CNode *left = parse_unary(ps);
    for (;;) {
        CTok op = ps->at->kind;
        int precedence = c_token_precedence(op);
        if (ps->panic || !precedence || precedence < least) return left;
        parser_advance(ps);
        CNode *right = parse_binary(ps, precedence + 1);
        left = node_two(ps, C_BINARY, first, left, right);
        if (left->kind == C_BINARY) left->op = op;
    }
}

/* conditional = binary ["?" expression ":" conditional] */
CNode *parse_conditional(Parser *ps) {
    const CToken *first = ps->at;
    CNode *condition = parse_binary(ps, 1);
    if (ps->panic || !parser_take(ps, CT_QUESTION)) return condition;
    CNode *node = node_new(ps, C_CONDITIONAL, first);
    node_add(ps, node, condition);
    if (parser_enter(ps)) {
        node_add(ps, node, parse_expression(ps));
        if (!ps->panic) parser_expect(ps, CT_COLON, "between the two values of `?`");
        if (!ps->panic) node_add(ps, node, parse_conditional(ps));
    }
    parser_leave(ps);
    return node_end(ps, node);
}

static bool is_assignment(CTok op) {
    return op == CT_ASSIGN || op == CT_SHL_ASSIGN || op == CT_SHR_ASSIGN || (op >= CT_MUL_ASSIGN && op <= CT_OR_ASSIGN);
}

/* assignment = conditional [("=" | "+=" | ..) assignment] */
CNode *parse_assignment(Parser *ps) {
    const CToken *first = ps->at;
    CNode *target = parse_conditional(ps);
    CTok op = ps->at->kind;
    if (ps->panic || !is_assignment(op)) return target;
    parser_advance(ps);
    CNode *value = parser_enter(ps) ? parse_assignment(ps) : node_new(ps, C_ERROR, ps->at);
    parser_leave(ps);
    CNode *node = node_two(ps, C_ASSIGN, first, target, value);
    if (node->kind == C_ASSIGN) node->op = op;
    return node;
}

CNode *parse_expression(Parser *ps) {
    const CToken *first = ps->at;
    CNode *node = parse_assignment(ps);
    while (!ps->panic && parser_take(ps, CT_COMMA)) node = node_two(ps, C_COMMA, first, node, parse_assignment(ps));
    return node;
}
