/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse_match.c: the match statement and its patterns.
 *
 *     match command:                     `match` and `case` are names elsewhere, so the header is tried first
 *         case [x, *rest] if x: ...      and taken back when no `case` block follows
 *         case Point(x=0) | None: ...
 *         case _: ... */
#include "syntax/py_parse.h"

static PyNode *parse_pattern(PyParser *p);

static PyNode *pattern_fails(PyParser *p, const char *rule) {
    py_fail(p, DIAG_PY_PATTERN, py_here(p), rule);
    return py_dummy(p);
}

/* The name that a capture binds; NULL for the wildcard `_`. */
static const char *take_capture(PyParser *p) {
    bool wildcard = py_is_soft(p, 0, "_");
    const char *name = py_expect_name(p);
    return wildcard ? NULL : name;
}

/* star_pattern: '*' (NAME | '_') */
static PyNode *parse_star_pattern(PyParser *p) {
    PyNode *node = py_new(p, PY_MatchStar, py_begin(p));
    py_take(p);
    node->MatchStar.name = take_capture(p);
    return py_done(p, node);
}

/* name_or_attr: NAME ('.' NAME)* */
static PyNode *parse_dotted_value(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *left = py_new(p, PY_Name, begin);
    left->Name.id = py_expect_name(p);
    left = py_done(p, left);
    while (py_accept(p, PY_T_P_DOT)) {
        PyNode *node = py_new(p, PY_Attribute, begin);
        node->Attribute.value = left;
        node->Attribute.attr = py_expect_name(p);
        left = py_done(p, node);
    }
    return left;
}

/* signed_number: ['-'] NUMBER           complex_number: signed_number ('+' | '-') NUMBER */
static PyNode *parse_literal_expr(PyParser *p) {
    if (py_peek(p) == PY_T_STRING) {
        PyNode *node = py_parse_strings(p);
        if (node->kind == PY_JoinedStr) return pattern_fails(p, "a pattern cannot be an f-string" FIX "use a guard");
        return node;
    }
    uint32_t begin = py_begin(p);
    PyNode *left;
    if (py_accept(p, PY_T_P_MINUS)) {
        left = py_new(p, PY_UnaryOp, begin);
        left->UnaryOp.op = PY_OP_USUB;
        if (py_peek(p) != PY_T_NUMBER) return pattern_fails(p, "only a number may follow `-` in a pattern");
        left->UnaryOp.operand = py_parse_atom(p);
        left = py_done(p, left);
    } else {
        left = py_parse_atom(p);
    }
    PyTokenKind kind = py_peek(p);
    if (kind != PY_T_P_PLUS && kind != PY_T_P_MINUS) return left;
    py_take(p);
    PyNode *node = py_new(p, PY_BinOp, begin);
    node->BinOp.left = left;
    node->BinOp.op = kind == PY_T_P_PLUS ? PY_OP_ADD : PY_OP_SUB;
    node->BinOp.right = py_parse_atom(p);
    if (!p->failed && (node->BinOp.right->kind != PY_Constant || node->BinOp.right->Constant.what != PY_IMAGINARY))
        return pattern_fails(p, "only an imaginary number may be added in a pattern" FIX "use a guard to compare");
    return py_done(p, node);
}

static bool at_literal(const PyParser *p) {
    PyTokenKind kind = py_peek(p);
    return kind == PY_T_NUMBER || kind == PY_T_STRING || kind == PY_T_P_MINUS;
}

static bool at_singleton(const PyParser *p) {
    PyTokenKind kind = py_peek(p);
    return kind == PY_T_NONE || kind == PY_T_TRUE || kind == PY_T_FALSE;
}

/* class_pattern: name_or_attr '(' [positional ','] [NAME '=' pattern ','] ')' */
static PyNode *parse_class_pattern(PyParser *p, PyNode *cls, uint32_t begin) {
    PyNode *node = py_new(p, PY_MatchClass, begin);
    uint32_t opened = py_begin(p);
    py_take(p);
    node->MatchClass.cls = cls;
    VEC(const char *) names = {0};
    VEC(PyNode *) values = {0};
    size_t mark = py_list_begin(p);
    while (py_peek(p) != PY_T_P_RPAREN && py_peek(p) != PY_T_STOP) {
        if (py_peek(p) == PY_T_NAME && py_peek_at(p, 1) == PY_T_P_ASSIGN) {
            *VEC_PUSH(&names, p->arena) = py_expect_name(p);
            py_take(p);
            *VEC_PUSH(&values, p->arena) = parse_pattern(p);
        } else {
            if (names.count) pattern_fails(p, "a positional pattern cannot follow a named one" FIX "put it before");
            py_list_add(p, parse_pattern(p));
        }
        if (!py_accept(p, PY_T_P_COMMA)) break;
    }
    node->MatchClass.patterns = py_list_end(p, mark);
    for (size_t i = 0; i < values.count; i++) py_list_add(p, values.at[i]);
    node->MatchClass.kwd_patterns = py_list_end(p, mark);
    PyNames *list = arena_alloc(p->arena, sizeof *list + names.count * sizeof(char *));
    list->count = (uint32_t)names.count;
    for (size_t i = 0; i < names.count; i++) list->at[i] = names.at[i];
    node->MatchClass.kwd_attrs = list;
    py_expect_close(p, PY_T_P_RPAREN, opened);
    return py_done(p, node);
}

/* mapping_pattern: '{' ((literal_expr | attr) ':' pattern ',')* ['**' NAME] '}' */
static PyNode *parse_mapping_pattern(PyParser *p) {
    PyNode *node = py_new(p, PY_MatchMapping, py_begin(p));
    uint32_t opened = py_begin(p);
    py_take(p);
    VEC(PyNode *) keys = {0};
    size_t mark = py_list_begin(p);
    while (py_peek(p) != PY_T_P_RBRACE && py_peek(p) != PY_T_STOP) {
        if (py_accept(p, PY_T_P_POW)) {
            node->MatchMapping.rest = py_expect_name(p);
        } else {
            PyNode *key = at_literal(p)     ? parse_literal_expr(p)
                          : at_singleton(p) ? py_parse_atom(p)
                                            : parse_dotted_value(p);
            if (!p->failed && key->kind == PY_Name)
                pattern_fails(p, "a key of a mapping pattern must be a literal or a dotted name");
            *VEC_PUSH(&keys, p->arena) = key;
            py_expect(p, PY_T_P_COLON);
            py_list_add(p, parse_pattern(p));
        }
        if (!py_accept(p, PY_T_P_COMMA)) break;
    }
    node->MatchMapping.patterns = py_list_end(p, mark);
    for (size_t i = 0; i < keys.count; i++) py_list_add(p, keys.at[i]);
    node->MatchMapping.keys = py_list_end(p, mark);
    py_expect_close(p, PY_T_P_RBRACE, opened);
    return py_done(p, node);
}

static PyNode *parse_maybe_star(PyParser *p) {
    return py_peek(p) == PY_T_P_STAR ? parse_star_pattern(p) : parse_pattern(p);
}

/* sequence_pattern: '[' [maybe_star_pattern ',' ...] ']' | '(' [maybe_star_pattern ',' ...] ')'
 * group_pattern: '(' pattern ')' */
static PyNode *parse_sequence_pattern(PyParser *p) {
    uint32_t opened = py_begin(p);
    bool paren = py_take(p).kind == PY_T_P_LPAREN, comma = false;
    PyTokenKind close = paren ? PY_T_P_RPAREN : PY_T_P_RBRACKET;
    PyNode *node = py_new(p, PY_MatchSequence, opened);
    size_t mark = py_list_begin(p);
    while (py_peek(p) != close && py_peek(p) != PY_T_STOP) {
        py_list_add(p, parse_maybe_star(p));
        comma = py_accept(p, PY_T_P_COMMA);
        if (!comma) break;
    }
    py_expect_close(p, close, opened);
    node->MatchSequence.patterns = py_list_end(p, mark);
    if (p->failed) return py_dummy(p);
    const PyList *list = node->MatchSequence.patterns;
    if (paren && list->count == 1 && !comma && list->at[0]->kind != PY_MatchStar) return list->at[0];
    return py_done(p, node);
}

/* closed_pattern: literal_pattern | capture_pattern | wildcard_pattern | value_pattern |
 * group_pattern | sequence_pattern | mapping_pattern | class_pattern */
static PyNode *parse_closed_pattern(PyParser *p) {
    uint32_t begin = py_begin(p);
    if (at_literal(p)) {
        PyNode *node = py_new(p, PY_MatchValue, begin);
        node->MatchValue.value = parse_literal_expr(p);
        return py_done(p, node);
    }
    if (at_singleton(p)) {
        PyNode *node = py_new(p, PY_MatchSingleton, begin);
        node->MatchSingleton.value = py_parse_atom(p);
        return py_done(p, node);
    }
    switch (py_peek(p)) {
    case PY_T_P_LPAREN:
    case PY_T_P_LBRACKET: return parse_sequence_pattern(p);
    case PY_T_P_LBRACE: return parse_mapping_pattern(p);
    case PY_T_NAME: break;
    default: return pattern_fails(p, "a pattern is expected here: a literal, a name, or brackets around patterns");
    }
    PyTokenKind next = py_peek_at(p, 1);
    if (next != PY_T_P_DOT && next != PY_T_P_LPAREN) {
        PyNode *node = py_new(p, PY_MatchAs, begin);
        node->MatchAs.name = take_capture(p);
        return py_done(p, node);
    }
    PyNode *value = parse_dotted_value(p);
    if (py_peek(p) == PY_T_P_LPAREN) return parse_class_pattern(p, value, begin);
    PyNode *node = py_new(p, PY_MatchValue, begin);
    node->MatchValue.value = value;
    return py_done(p, node);
}

/* or_pattern: closed_pattern ('|' closed_pattern)* */
static PyNode *parse_or_pattern(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *first = parse_closed_pattern(p);
    if (py_peek(p) != PY_T_P_BAR) return first;
    PyNode *node = py_new(p, PY_MatchOr, begin);
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_BAR)) py_list_add(p, parse_closed_pattern(p));
    node->MatchOr.patterns = py_list_end(p, mark);
    return py_done(p, node);
}

/* pattern: or_pattern 'as' NAME | or_pattern */
static PyNode *parse_pattern(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *inner = py_enter(p) ? parse_or_pattern(p) : py_dummy(p);
    py_leave(p);
    if (!py_accept(p, PY_T_AS)) return inner;
    PyNode *node = py_new(p, PY_MatchAs, begin);
    node->MatchAs.pattern = inner;
    if (py_is_soft(p, 0, "_")) pattern_fails(p, "`_` binds nothing, so it cannot stand behind `as`"
                                                FIX "choose a name");
    node->MatchAs.name = py_expect_name(p);
    return py_done(p, node);
}

/* patterns: maybe_star_pattern ',' [maybe_star_pattern ',' ...] | pattern */
static PyNode *parse_patterns(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *first = parse_maybe_star(p);
    if (py_peek(p) != PY_T_P_COMMA && (p->failed || first->kind != PY_MatchStar)) return first;
    PyNode *node = py_new(p, PY_MatchSequence, begin);
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_COMMA) && py_peek(p) != PY_T_P_COLON && py_peek(p) != PY_T_IF)
        py_list_add(p, parse_maybe_star(p));
    node->MatchSequence.patterns = py_list_end(p, mark);
    return py_done(p, node);
}

/* case_block: "case" patterns ['if' named_expression] ':' block */
static PyNode *parse_case(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *node = py_new(p, PY_match_case, begin);
    py_take(p);
    node->match_case.pattern = parse_patterns(p);
    if (py_accept(p, PY_T_IF)) node->match_case.guard = py_parse_named(p);
    node->match_case.body = py_parse_block(p, "case", begin);
    return py_done(p, node);
}

/* subject_expr: star_named_expression ',' [star_named_expressions] | named_expression */
static PyNode *parse_subject(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *first = py_parse_star_named(p);
    if (py_peek(p) != PY_T_P_COMMA) return first;
    PyNode *node = py_new(p, PY_Tuple, begin);
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_COMMA) && py_peek(p) != PY_T_P_COLON) py_list_add(p, py_parse_star_named(p));
    node->Tuple.elts = py_list_end(p, mark);
    return py_done(p, node);
}

/* match_stmt: "match" subject_expr ':' NEWLINE INDENT case_block+ DEDENT; NULL if `match` is only a name here */
PyNode *py_parse_match(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyState state = py_try(p);
    py_take(p);
    PyNode *subject = parse_subject(p);
    py_expect(p, PY_T_P_COLON);
    py_expect(p, PY_T_NEWLINE);
    if (!py_tried(p, state)) return NULL;
    PyNode *node = py_new(p, PY_Match, begin);
    node->Match.subject = subject;
    size_t mark = py_list_begin(p);
    if (!py_accept(p, PY_T_INDENT)) {
        py_fail_indent(p, "match", begin);
        node->Match.cases = py_list_end(p, mark);
        return py_done(p, node);
    }
    if (!py_is_soft(p, 0, "case")) py_fail_expected(p, "`case`");
    while (py_is_soft(p, 0, "case")) {
        py_list_add(p, parse_case(p));
        if (p->failed) py_recover(p);
    }
    node->Match.cases = py_list_end(p, mark);
    if (!py_accept(p, PY_T_DEDENT)) py_fail_expected(p, "`case`");
    return py_done(p, node);
}
