/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse_atom.c: the innermost Python expressions: names, literals, brackets, comprehensions,
 * calls, subscripts, attributes; and the parameters of functions.
 *
 *     tl.load(p + i, mask=m)[:, None]     primary: atom `tl`, attribute, call, subscript */
#include "syntax/py_parse.h"

#include <stdlib.h>
#include <string.h>

/* NUMBER: the value, or for an integer above 64 bits its spelling alone. */
static PyNode *parse_number(PyParser *p) {
    PyNode *node = py_new(p, PY_Constant, py_begin(p));
    Range range = py_take(p).range;
    const char *from = py_token_text(p, range);
    size_t length = range.end - range.begin;
    PyText *text = arena_alloc(p->arena, sizeof *text + length + 1);
    for (size_t i = 0; i < length; i++)
        if (from[i] != '_') text->at[text->length++] = from[i];
    node->Constant.text = text;
    char second = text->length > 1 ? (char)(text->at[1] | 32) : '\0', last = text->at[text->length - 1];
    int base = text->at[0] != '0' ? 10 : second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
    if (base == 10 && (strpbrk(text->at, ".eEjJ") != NULL)) {
        node->Constant.what = (last | 32) == 'j' ? PY_IMAGINARY : PY_FLOAT;
        node->Constant.real = strtod(text->at, NULL);
        return py_done(p, node);
    }
    node->Constant.what = PY_INT;
    uint64_t value = 0;
    for (size_t i = base == 10 ? 0 : 2; i < text->length; i++) {
        char c = text->at[i];
        uint64_t digit = (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
        if (value > (UINT64_MAX - digit) / (uint64_t)base) {
            node->Constant.what = PY_BIGINT;
            value = 0;
            break;
        }
        value = value * (uint64_t)base + digit;
    }
    node->Constant.integer = value;
    return py_done(p, node);
}

static PyNode *parse_word_constant(PyParser *p, PyConst what) {
    PyNode *node = py_new(p, PY_Constant, py_begin(p));
    py_take(p);
    node->Constant.what = what;
    return py_done(p, node);
}

/* for_if_clauses: ('async'? 'for' star_targets 'in' disjunction ('if' disjunction)*)+ */
const PyList *py_parse_generators(PyParser *p) {
    size_t mark = py_list_begin(p);
    while (py_peek(p) == PY_T_FOR || (py_peek(p) == PY_T_ASYNC && py_peek_at(p, 1) == PY_T_FOR)) {
        PyNode *node = py_new(p, PY_comprehension, py_begin(p));
        node->comprehension.is_async = py_accept(p, PY_T_ASYNC);
        py_take(p);
        node->comprehension.target = py_parse_targets(p);
        py_expect(p, PY_T_IN);
        node->comprehension.iter = py_parse_disjunction(p);
        size_t ifs = py_list_begin(p);
        while (py_accept(p, PY_T_IF)) py_list_add(p, py_parse_disjunction(p));
        node->comprehension.ifs = py_list_end(p, ifs);
        py_list_add(p, py_done(p, node));
    }
    return py_list_end(p, mark);
}

static bool at_comprehension(const PyParser *p) {
    return py_peek(p) == PY_T_FOR || (py_peek(p) == PY_T_ASYNC && py_peek_at(p, 1) == PY_T_FOR);
}

/* A comprehension of one element: list, set or generator, which share their fields. */
static PyNode *parse_comprehension(PyParser *p, PyKind kind, uint32_t begin, PyNode *elt, PyTokenKind close) {
    PyNode *node = py_new(p, kind, begin);
    node->ListComp.elt = elt;
    node->ListComp.generators = py_parse_generators(p);
    py_expect_close(p, close, begin);
    return py_done(p, node);
}

/* (star_named_expression ',')* ...  up to the closing bracket; the first is given */
static const PyList *parse_elements(PyParser *p, PyNode *first, PyTokenKind close, uint32_t begin) {
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_COMMA) && py_peek(p) != close) py_list_add(p, py_parse_star_named(p));
    py_expect_close(p, close, begin);
    return py_list_end(p, mark);
}

/* What stands between parentheses, behind '(' or in a field of an f-string. */
static PyNode *parse_inside(PyParser *p, PyTokenKind close, uint32_t begin) {
    if (py_peek(p) == PY_T_YIELD) {
        PyNode *node = py_parse_yield(p);
        py_expect_close(p, close, begin);
        return node;
    }
    PyNode *first = py_parse_star_named(p);
    if (at_comprehension(p)) return parse_comprehension(p, PY_GeneratorExp, begin, first, close);
    if (py_peek(p) != PY_T_P_COMMA) {
        if (first->kind == PY_Starred && !p->failed) py_fail_expected(p, "`,`");
        if (py_peek(p) == PY_T_P_ASSIGN) py_fail(p, DIAG_PY_ASSIGN_IN_CONDITION, py_here(p));
        py_expect_close(p, close, begin);
        return first;
    }
    PyNode *node = py_new(p, PY_Tuple, begin);
    node->Tuple.elts = parse_elements(p, first, close, begin);
    return py_done(p, node);
}

PyNode *py_parse_group_inside(PyParser *p) { return parse_inside(p, PY_T_END, 0); }

/* tuple: '(' [star_named_expression ',' [star_named_expressions]] ')'
 * group: '(' (yield_expr | named_expression) ')'
 * genexp: '(' named_expression for_if_clauses ')' */
static PyNode *parse_parentheses(PyParser *p) {
    uint32_t begin = py_begin(p);
    py_take(p);
    if (py_peek(p) != PY_T_P_RPAREN) return parse_inside(p, PY_T_P_RPAREN, begin);
    PyNode *node = py_new(p, PY_Tuple, begin);
    py_take(p);
    return py_done(p, node);
}

/* list: '[' [star_named_expressions] ']'        listcomp: '[' named_expression for_if_clauses ']' */
static PyNode *parse_list(PyParser *p) {
    uint32_t begin = py_begin(p);
    py_take(p);
    PyNode *node = py_new(p, PY_List, begin);
    if (!py_accept(p, PY_T_P_RBRACKET)) {
        PyNode *first = py_parse_star_named(p);
        if (at_comprehension(p)) return parse_comprehension(p, PY_ListComp, begin, first, PY_T_P_RBRACKET);
        node->List.elts = parse_elements(p, first, PY_T_P_RBRACKET, begin);
    }
    return py_done(p, node);
}

/* dict: '{' [double_starred_kvpair (',' double_starred_kvpair)* [',']] '}'
 * double_starred_kvpair: '**' bitwise_or | expression ':' expression
 * dictcomp: '{' expression ':' expression for_if_clauses '}' */
static PyNode *parse_dict(PyParser *p, PyNode *key, uint32_t begin) {
    VEC(PyNode *) keys = {0};
    size_t mark = py_list_begin(p);
    for (bool first = true;; first = false) {
        PyNode *value;
        if (!first) {
            if (!py_accept(p, PY_T_P_COMMA) || py_peek(p) == PY_T_P_RBRACE) break;
            key = py_peek(p) == PY_T_P_POW ? NULL : py_parse_expression(p);
        }
        if (key) {
            py_expect(p, PY_T_P_COLON);
            value = py_parse_expression(p);
            if (first && at_comprehension(p)) {
                PyNode *node = py_new(p, PY_DictComp, begin);
                node->DictComp.key = key;
                node->DictComp.value = value;
                node->DictComp.generators = py_parse_generators(p);
                py_expect_close(p, PY_T_P_RBRACE, begin);
                return py_done(p, node);
            }
        } else {
            py_take(p);
            value = py_parse_bitor(p);
        }
        *VEC_PUSH(&keys, p->arena) = key;
        py_list_add(p, value);
    }
    PyNode *node = py_new(p, PY_Dict, begin);
    node->Dict.values = py_list_end(p, mark);
    for (size_t i = 0; i < keys.count; i++) py_list_add(p, keys.at[i]);
    node->Dict.keys = py_list_end(p, mark);
    py_expect_close(p, PY_T_P_RBRACE, begin);
    return py_done(p, node);
}

/* set: '{' star_named_expressions '}'        setcomp: '{' named_expression for_if_clauses '}' */
static PyNode *parse_braces(PyParser *p) {
    uint32_t begin = py_begin(p);
    py_take(p);
    if (py_accept(p, PY_T_P_RBRACE)) return py_done(p, py_new(p, PY_Dict, begin));
    if (py_peek(p) == PY_T_P_POW) return parse_dict(p, NULL, begin);
    PyNode *first = py_parse_star_named(p);
    if (py_peek(p) == PY_T_P_COLON) {
        if (first->kind == PY_Starred) py_fail_expected(p, "`,` or `}`"); /* {*a: 1} */
        return parse_dict(p, first, begin);
    }
    if (at_comprehension(p)) return parse_comprehension(p, PY_SetComp, begin, first, PY_T_P_RBRACE);
    PyNode *node = py_new(p, PY_Set, begin);
    node->Set.elts = parse_elements(p, first, PY_T_P_RBRACE, begin);
    return py_done(p, node);
}

/* atom: NAME | 'True' | 'False' | 'None' | strings | NUMBER | tuple | group | genexp | list |
 * listcomp | dict | set | dictcomp | setcomp | '...' */
/* Two tokens side by side that are an operator in C: says what Python writes. */
static bool fail_foreign(PyParser *p) {
    static const struct {
        PyTokenKind first, second;
        const char *text, *instead;
    } rows[] = {
        {PY_T_P_AMPERSAND, PY_T_P_AMPERSAND, "&&", "`and`, or `&` for tiles"},
        {PY_T_P_BAR, PY_T_P_BAR, "||", "`or`, or `|` for tiles"},
        {PY_T_P_LESS, PY_T_P_GREATER, "<>", "`!=`"},
        {PY_T_P_PLUS, PY_T_NEWLINE, "++", "`+= 1`"},
        {PY_T_P_MINUS, PY_T_NEWLINE, "--", "`-= 1`"},
    };
    if (p->pos == 0 || p->pos >= p->tokens.count) return false;
    const PyToken *before = &p->tokens.at[p->pos - 1], *here = before + 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (before->kind != rows[i].first || here->kind != rows[i].second) continue;
        if (here->kind == PY_T_NEWLINE && (p->pos < 2 || before[-1].kind != before->kind)) continue;
        py_fail(p, DIAG_PY_FOREIGN, before->range, rows[i].text, rows[i].instead);
        return true;
    }
    return false;
}

PyNode *py_parse_atom(PyParser *p) {
    switch (py_peek(p)) {
    case PY_T_NAME: {
        PyNode *node = py_new(p, PY_Name, py_begin(p));
        node->Name.id = py_intern(p, py_take(p).range);
        return py_done(p, node);
    }
    case PY_T_NUMBER: return parse_number(p);
    case PY_T_STRING: return py_parse_strings(p);
    case PY_T_NONE: return parse_word_constant(p, PY_NONE);
    case PY_T_TRUE: return parse_word_constant(p, PY_TRUE);
    case PY_T_FALSE: return parse_word_constant(p, PY_FALSE);
    case PY_T_P_ELLIPSIS: return parse_word_constant(p, PY_ELLIPSIS);
    case PY_T_P_LPAREN: return parse_parentheses(p);
    case PY_T_P_LBRACKET: return parse_list(p);
    case PY_T_P_LBRACE: return parse_braces(p);
    default:
        if (!fail_foreign(p)) py_fail(p, DIAG_PY_EXPECTED_EXPRESSION, py_here(p), py_token_name(py_peek(p)));
        return py_dummy(p);
    }
}

/* slice: [expression] ':' [expression] [':' [expression]] | named_expression | '*' bitwise_or */
static PyNode *parse_slice(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *lower = NULL;
    if (py_peek(p) != PY_T_P_COLON) {
        lower = py_parse_star_named(p);
        if (py_peek(p) != PY_T_P_COLON) return lower;
    }
    PyNode *node = py_new(p, PY_Slice, begin);
    node->Slice.lower = lower;
    PyNode **parts[] = {&node->Slice.upper, &node->Slice.step};
    for (int i = 0; i < 2 && py_accept(p, PY_T_P_COLON); i++) {
        PyTokenKind kind = py_peek(p);
        if (kind != PY_T_P_COLON && kind != PY_T_P_COMMA && kind != PY_T_P_RBRACKET) *parts[i] = py_parse_expression(p);
    }
    return py_done(p, node);
}

/* slices: slice !',' | (slice | starred) (',' (slice | starred))* [',']           behind '[' */
static PyNode *parse_slices(PyParser *p, uint32_t opened) {
    uint32_t begin = py_begin(p);
    PyNode *first = parse_slice(p);
    if (py_peek(p) != PY_T_P_COMMA && first->kind != PY_Starred) {
        py_expect_close(p, PY_T_P_RBRACKET, opened);
        return first;
    }
    PyNode *node = py_new(p, PY_Tuple, begin);
    size_t mark = py_list_begin(p);
    py_list_add(p, first);
    while (py_accept(p, PY_T_P_COMMA) && py_peek(p) != PY_T_P_RBRACKET) py_list_add(p, parse_slice(p));
    node->Tuple.elts = py_list_end(p, mark);
    node = py_done(p, node);
    py_expect_close(p, PY_T_P_RBRACKET, opened);
    return node;
}

/* arguments: args [','] ')'                                                       behind '('
 * args: (starred | named_expression | kwargs) (',' ...)*    kwargs: NAME '=' expression | '**'
 * expression A generator may stand alone without parentheses of its own. */
void py_parse_arguments(PyParser *p, const PyList **args, const PyList **keywords, uint32_t opened) {
    VEC(PyNode *) named = {0};
    size_t mark = py_list_begin(p);
    const char *after = NULL; /* what has come that no positional argument may follow */
    while (py_peek(p) != PY_T_P_RPAREN && py_peek(p) != PY_T_STOP) {
        uint32_t begin = py_begin(p);
        bool unpack = py_peek(p) == PY_T_P_POW;
        if (unpack || (py_peek(p) == PY_T_NAME && py_peek_at(p, 1) == PY_T_P_ASSIGN)) {
            PyNode *keyword = py_new(p, PY_keyword, begin);
            if (!unpack) keyword->keyword.arg = py_intern(p, py_take(p).range);
            py_take(p);
            keyword->keyword.value = py_parse_expression(p);
            after = unpack ? "`**`" : after ? after : "a named one";
            *VEC_PUSH(&named, p->arena) = py_done(p, keyword);
        } else {
            bool starred = py_peek(p) == PY_T_P_STAR;
            PyNode *arg;
            if (starred) {
                arg = py_new(p, PY_Starred, begin);
                py_take(p);
                arg->Starred.value = py_parse_expression(p);
                arg = py_done(p, arg);
            } else {
                arg = py_parse_named(p);
            }
            if (at_comprehension(p)) {
                bool alone = p->stack.count == mark && named.count == 0;
                PyNode *node = py_new(p, PY_GeneratorExp, alone ? opened : begin);
                node->GeneratorExp.elt = arg;
                node->GeneratorExp.generators = py_parse_generators(p);
                if (!alone || (py_peek(p) == PY_T_P_COMMA && py_peek_at(p, 1) != PY_T_P_RPAREN))
                    py_fail(p, DIAG_PY_GENERATOR_ALONE, (Range){begin, p->last_end});
                if (py_peek(p) == PY_T_P_RPAREN) {
                    py_list_add(p, node);
                    py_take(p);
                    py_done(p, node); /* its range takes in the call's parentheses */
                    *args = py_list_end(p, mark);
                    *keywords = py_list_end(p, mark);
                    return;
                }
                arg = py_done(p, node);
            }
            if (py_peek(p) == PY_T_P_ASSIGN) py_fail(p, DIAG_PY_KEYWORD_NAME, arg->range);
            if (after && (!starred || strcmp(after, "`**`") == 0))
                py_fail(p, DIAG_PY_POSITIONAL_ORDER, arg->range, after);
            py_list_add(p, arg);
        }
        if (!py_accept(p, PY_T_P_COMMA)) break;
    }
    *args = py_list_end(p, mark);
    for (size_t i = 0; i < named.count; i++) py_list_add(p, named.at[i]);
    *keywords = py_list_end(p, mark);
    py_expect_close(p, PY_T_P_RPAREN, opened);
}

/* primary: primary '.' NAME | primary '(' [arguments] ')' | primary '[' slices ']' | atom */
PyNode *py_parse_primary(PyParser *p) {
    uint32_t begin = py_begin(p);
    PyNode *left = py_parse_atom(p);
    for (;;) {
        uint32_t opened = py_begin(p);
        PyNode *node;
        if (py_accept(p, PY_T_P_DOT)) {
            node = py_new(p, PY_Attribute, begin);
            node->Attribute.value = left;
            node->Attribute.attr = py_expect_name(p);
        } else if (py_accept(p, PY_T_P_LPAREN)) {
            node = py_new(p, PY_Call, begin);
            node->Call.func = left;
            py_parse_arguments(p, &node->Call.args, &node->Call.keywords, opened);
        } else if (py_accept(p, PY_T_P_LBRACKET)) {
            node = py_new(p, PY_Subscript, begin);
            node->Subscript.value = left;
            node->Subscript.slice = parse_slices(p, opened);
        } else {
            return left;
        }
        left = py_done(p, node);
    }
}

/* ---- parameters ---- */

/* param: NAME [':' expression] (of def; of `*args` also ':' star_expression), NAME (of lambda) */
static PyNode *parse_param(PyParser *p, bool annotated, bool star) {
    PyNode *node = py_new(p, PY_arg, py_begin(p));
    node->arg.arg = py_expect_name(p);
    if (annotated && py_accept(p, PY_T_P_COLON))
        node->arg.annotation = star ? py_parse_star_named(p) : py_parse_expression(p);
    return py_done(p, node);
}

static void check_duplicates(PyParser *p, Map *seen, const PyNode *param) {
    if (p->failed) return;
    if (map_find(seen, param->arg.arg, strlen(param->arg.arg)))
        py_fail(p, DIAG_PY_DUPLICATE_PARAMETER, param->range, param->arg.arg);
    map_set(seen, p->arena, param->arg.arg, NULL);
}

static const PyList *list_of(PyParser *p, PyNode **nodes, size_t count) {
    size_t mark = py_list_begin(p);
    for (size_t i = 0; i < count; i++) py_list_add(p, nodes[i]);
    return py_list_end(p, mark);
}

static void bad_parameters(PyParser *p, const char *rule) { py_fail(p, DIAG_PY_PARAMETER, py_here(p), rule); }

/* parameters: (param ['=' expression] ',')* ['/' ','] (param ['=' expression] ',')*
 *             ['*' [param] ',' (param ['=' expression] ',')*] ['**' param]
 * up to `close`: ')' of def, where parameters may be annotated, or ':' of lambda. */
PyNode *py_parse_parameters(PyParser *p, PyTokenKind close) {
    bool annotated = close == PY_T_P_RPAREN, star = false;
    VEC(PyNode *) positional = {0}, defaults = {0}, kwonly = {0}, kwdefaults = {0};
    size_t posonly = 0;
    Map seen = {0};
    PyNode *node = py_new(p, PY_arguments, py_begin(p));
    while (py_peek(p) != close && py_peek(p) != PY_T_STOP) {
        if (node->arguments.kwarg) {
            bad_parameters(p, "nothing may follow the `**` parameter" FIX "move it before");
        } else if (py_accept(p, PY_T_P_SLASH)) {
            if (posonly || star || !positional.count)
                bad_parameters(p, "`/` stands once, behind at least one parameter and before `*`");
            posonly = positional.count;
        } else if (py_accept(p, PY_T_P_POW)) {
            node->arguments.kwarg = parse_param(p, annotated, false);
            check_duplicates(p, &seen, node->arguments.kwarg);
        } else if (py_accept(p, PY_T_P_STAR)) {
            if (star) bad_parameters(p, "`*` stands once in a parameter list" FIX "delete one");
            star = true;
            if (py_peek(p) == PY_T_NAME) {
                node->arguments.vararg = parse_param(p, annotated, true);
                check_duplicates(p, &seen, node->arguments.vararg);
            } else if (py_peek(p) != PY_T_P_COMMA || py_peek_at(p, 1) != PY_T_NAME) {
                bad_parameters(p, "a bare `*` needs a named parameter behind it");
            }
        } else {
            PyNode *param = parse_param(p, annotated, false);
            check_duplicates(p, &seen, param);
            PyNode *value = py_accept(p, PY_T_P_ASSIGN) ? py_parse_expression(p) : NULL;
            if (star) {
                *VEC_PUSH(&kwonly, p->arena) = param;
                *VEC_PUSH(&kwdefaults, p->arena) = value;
            } else {
                *VEC_PUSH(&positional, p->arena) = param;
                if (value)
                    *VEC_PUSH(&defaults, p->arena) = value;
                else if (defaults.count && !p->failed)
                    py_fail(p, DIAG_PY_DEFAULT_ORDER, param->range, param->arg.arg);
            }
        }
        if (!py_accept(p, PY_T_P_COMMA)) break;
    }
    node->arguments.posonlyargs = list_of(p, positional.at, posonly);
    node->arguments.args = list_of(p, positional.count ? positional.at + posonly : NULL, positional.count - posonly);
    node->arguments.defaults = list_of(p, defaults.at, defaults.count);
    node->arguments.kwonlyargs = list_of(p, kwonly.at, kwonly.count);
    node->arguments.kw_defaults = list_of(p, kwdefaults.at, kwdefaults.count);
    return py_done(p, node);
}
