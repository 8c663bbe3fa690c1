/* SPDX-License-Identifier: Apache-2.0 */
/* c_parse.c: the parser's entry, its tokens, nodes and names; the grammar is in c_parse_expr.c,
 * c_parse_decl.c and c_parse_stmt.c. See c_parse.h for the contract and c_parser.h for what the
 * four share. */
#include "syntax/c_parser.h"

#include <string.h>

/* ---- tokens ---- */

void parser_advance(Parser *ps) {
    ps->last = ps->at;
    if (ps->at->kind != CT_END) ps->at++;
}

bool parser_take(Parser *ps, CTok kind) {
    if (ps->at->kind != kind) return false;
    parser_advance(ps);
    return true;
}

static void note_macro(Parser *ps, const CToken *token) {
    if (token->macro.begin) diag_emit(ps->diag, DIAG_NOTE_HERE, token->macro, "it comes from the macro defined here");
}

CNode *parser_fail(Parser *ps, const char *expected, const char *where) {
    const CToken *token = ps->at;
    if (!ps->panic) {
        bool end = token->kind == CT_END;
        const char *found = end ? (ps->in_line ? "the end of the line" : "the end of the file")
                                : arena_printf(ps->arena, "`%.*s`", (int)token->length, token->text);
        /* What is missing at the end of a line belongs behind the token before it. */
        bool behind = !end && token->line_start && ps->last && !token->macro.begin;
        Range range = behind ? (Range){ps->last->range.end, ps->last->range.end} : token->range;
        diag_emit(ps->diag, DIAG_C_EXPECTED, range, expected, where, found);
        note_macro(ps, token);
    }
    ps->panic = true;
    return node_new(ps, C_ERROR, token);
}

CNode *parser_refuse(Parser *ps, Range range, const char *what, const char *fix) {
    if (!ps->panic) diag_emit(ps->diag, DIAG_C_UNSUPPORTED, range, what, fix);
    ps->panic = true;
    return node_new(ps, C_ERROR, ps->at);
}

bool parser_expect(Parser *ps, CTok kind, const char *where) {
    if (parser_take(ps, kind)) return true;
    bool open = kind <= CT_CHAR;
    parser_fail(ps, open ? c_token_text(kind) : arena_printf(ps->arena, "`%s`", c_token_text(kind)), where);
    return false;
}

void parser_recover(Parser *ps) {
    int depth = 0, parentheses = 0; /* braces inside of those end nothing */
    ps->panic = false;
    for (; ps->at->kind != CT_END; parser_advance(ps)) {
        switch (ps->at->kind) {
        case CT_LPAREN: parentheses += depth == 0; break;
        case CT_RPAREN: parentheses -= depth == 0 && parentheses; break;
        case CT_LBRACE: depth++; break;
        case CT_RBRACE:
            if (depth == 0) return;
            if (--depth == 0 && !parentheses) {
                parser_advance(ps);
                parser_take(ps, CT_SEMI);
                return;
            }
            break;
        case CT_SEMI:
            if (depth == 0) {
                parser_advance(ps);
                return;
            }
            break;
        default: break;
        }
    }
}

bool parser_enter(Parser *ps) {
    if (ps->depth++ < C_NESTING_LIMIT) return true;
    if (!ps->panic) diag_emit(ps->diag, DIAG_C_TOO_DEEP, ps->at->range, C_NESTING_LIMIT);
    ps->panic = true;
    return false;
}

void parser_leave(Parser *ps) { ps->depth--; }

const char *parser_name(Parser *ps, const CToken *token) {
    MapEntry *entry = map_find(&ps->interned, token->text, token->length);
    if (entry) return entry->value;
    char *name = arena_string(ps->arena, token->text, token->length);
    map_set(&ps->interned, ps->arena, name, name);
    return name;
}

/* ---- nodes ---- */

CNode *node_new(Parser *ps, CKind kind, const CToken *first) {
    CNode *node = ARENA_NEW(ps->arena, CNode);
    node->kind = kind;
    node->range = first->range;
    node->macro = first->macro;
    return node;
}

void node_add(Parser *ps, CNode *node, CNode *kid) {
    CNode **kids = ARENA_ARRAY(ps->arena, CNode *, node->count + 1);
    if (node->count) memcpy(kids, node->kids, node->count * sizeof *kids);
    kids[node->count++] = kid;
    node->kids = kids;
}

void node_set(Parser *ps, CNode *node, const CNodes *kids) {
    node->kids = arena_copy(ps->arena, kids->at, kids->count * sizeof *kids->at);
    node->count = (uint32_t)kids->count;
}

void node_open(Parser *ps, CNode *kid) { *VEC_PUSH(&ps->open, ps->arena) = kid; }

void node_take(Parser *ps, CNode *node, size_t from) {
    node->count = (uint32_t)(ps->open.count - from);
    if (node->count) node->kids = arena_copy(ps->arena, ps->open.at + from, node->count * sizeof *node->kids);
    ps->open.count = from;
}

/* The tree's depth is bounded here, for all later walks: a sum of ten thousand terms is as deep as it is long. */
CNode *node_end(Parser *ps, CNode *node) {
    unsigned depth = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const CNode *kid = node->kids[i];
        if (!kid) continue;
        if (kid->depth > depth) depth = kid->depth;
        if (kid->range.begin < node->range.begin) node->range.begin = kid->range.begin;
    }
    if (ps->last) node->range = range_join(node->range, ps->last->range);
    node->depth = (uint16_t)(depth + 1);
    if (depth + 1 < C_DEPTH_LIMIT) return node;
    if (!ps->panic) diag_emit(ps->diag, DIAG_C_TOO_DEEP, ps->at->range, C_DEPTH_LIMIT);
    ps->panic = true;
    CNode *error = node_new(ps, C_ERROR, ps->at);
    error->depth = 1;
    return error;
}

CNode *node_one(Parser *ps, CKind kind, const CToken *first, CNode *kid) {
    CNode *node = node_new(ps, kind, first);
    node_add(ps, node, kid);
    return node_end(ps, node);
}

CNode *node_two(Parser *ps, CKind kind, const CToken *first, CNode *a, CNode *b) {
    CNode *node = node_new(ps, kind, first);
    node->kids = ARENA_ARRAY(ps->arena, CNode *, 2);
    node->kids[0] = a;
    node->kids[1] = b;
    node->count = 2;
    return node_end(ps, node);
}

/* ---- names ---- */

NameKind parser_lookup(const Parser *ps, const CToken *token) {
    MapEntry *entry = token->kind == CT_IDENT ? map_find(&ps->names, token->text, token->length) : NULL;
    const Binding *binding = entry ? entry->value : NULL;
    return binding ? binding->kind : NAME_VALUE;
}

void parser_bind(Parser *ps, const char *name, NameKind kind) {
    Binding *binding = ARENA_NEW(ps->arena, Binding);
    *binding = (Binding){kind, ps->scope, map_get(&ps->names, name), 0};
    MapEntry *entry = map_put(&ps->names, ps->arena, name, strlen(name), binding);
    binding->index = (size_t)(entry - ps->names.entries);
    *VEC_PUSH(&ps->bound, ps->arena) = binding;
}

void parser_open_scope(Parser *ps) { ps->scope++; }

void parser_close_scope(Parser *ps) {
    ps->scope--;
    while (ps->bound.count && VEC_LAST(&ps->bound)->scope > ps->scope) {
        Binding *binding = VEC_LAST(&ps->bound);
        ps->names.entries[binding->index].value = binding->hidden;
        ps->bound.count--;
    }
}

static const struct {
    const char *word, *what, *fix;
} refused_words[] = {
#define C_REFUSED(word, what, fix) {word, what, fix},
    C_REFUSED_WORDS(C_REFUSED)
#undef C_REFUSED
};

bool parser_refused_word(Parser *ps, bool also_cxx) {
    if (ps->at->kind != CT_IDENT) return false;
    if (parser_cxx(ps) || (also_cxx && parser_cxx_using(ps))) return true;
    bool cxx = false;
    for (size_t i = 0; i < sizeof refused_words / sizeof *refused_words; i++) {
        cxx = cxx || !strcmp(refused_words[i].word, "template");
        if (cxx && !also_cxx) return false;
        if (!text_equal(ps->at->text, ps->at->length, refused_words[i].word)) continue;
        if (map_find(&ps->names, ps->at->text, ps->at->length)) return false;
        parser_refuse(ps, ps->at->range, refused_words[i].what, refused_words[i].fix);
        return true;
    }
    return false;
}

static void bind_all(Parser *ps, const char *const *names, NameKind kind) {
    for (; names && *names; names++) parser_bind(ps, *names, kind);
}

/* ---- entries ---- */

static Parser parser_new(const CRequest *request, const CToken *tokens) {
    Parser ps = {.arena = request->arena, .diag = request->diag, .at = tokens};
    bind_all(&ps, request->vocabulary.types, NAME_TYPE);
    bind_all(&ps, request->vocabulary.tile_types, NAME_TILE_TYPE);
    bind_all(&ps, request->vocabulary.specifiers, NAME_SPECIFIER);
    bind_all(&ps, request->vocabulary.templates, NAME_TEMPLATE);
    return ps;
}

CNode *c_parse(const CRequest *request, const SourceFile *file) {
    CTokens tokens = {0};
    c_preprocess(request, file, &tokens);
    Parser ps = parser_new(request, tokens.at);
    CNode *unit = node_new(&ps, C_UNIT, ps.at);
    CNodes declarations = {0};
    while (!at_token(&ps, CT_END)) {
        if (parser_take(&ps, CT_SEMI)) continue;
        parse_external(&ps, &declarations);
        if (ps.panic) {
            parser_recover(&ps);
            parser_take(&ps, CT_RBRACE);
        }
    }
    node_set(&ps, unit, &declarations);
    return node_end(&ps, unit);
}

CNode *c_parse_line(const CRequest *request, const CToken *tokens, size_t count) {
    CToken *line = ARENA_ARRAY(request->arena, CToken, count + 1);
    if (count) memcpy(line, tokens, count * sizeof *line);
    Range end = count ? tokens[count - 1].range : (Range){0, 0};
    line[count] = (CToken){.kind = CT_END, .text = "", .range = end};
    Parser ps = {.arena = request->arena, .diag = request->diag, .at = line, .in_line = true};
    CNode *node = parse_expression(&ps);
    if (!at_token(&ps, CT_END)) parser_fail(&ps, "an operator", "or the end of the line");
    return ps.panic ? NULL : node;
}
