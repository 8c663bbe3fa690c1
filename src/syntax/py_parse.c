/* SPDX-License-Identifier: Apache-2.0 */
/* py_parse.c: the parser's machinery: tokens, failure and recovery, making nodes, blocks, the
 * entry.
 *
 * The rules themselves are in py_parse_stmt.c, py_parse_compound.c, py_parse_match.c,
 * py_parse_expr.c, py_parse_atom.c and py_string.c; py_parse.h says how they work together. */
#include "syntax/py_parse.h"

#include <string.h>

/* ---- tokens ---- */

PyToken py_take(PyParser *p) {
    PyToken token = p->tokens.at[p->pos];
    if (token.kind != PY_T_END && token.kind != PY_T_STOP) p->pos++;
    if (token.kind != PY_T_NEWLINE && token.kind != PY_T_INDENT && token.kind != PY_T_DEDENT)
        p->last_end = token.range.end;
    return token;
}

bool py_accept(PyParser *p, PyTokenKind kind) {
    if (py_peek(p) != kind) return false;
    py_take(p);
    return true;
}

const char *py_token_text(const PyParser *p, Range range) { return p->file->text + (range.begin - p->file->base); }

bool py_is_soft(const PyParser *p, size_t ahead, const char *word) {
    if (py_peek_at(p, ahead) != PY_T_NAME) return false;
    Range range = p->tokens.at[p->pos + ahead].range;
    return text_equal(py_token_text(p, range), range.end - range.begin, word);
}

void py_fail_expected(PyParser *p, const char *what) {
    py_fail(p, DIAG_PY_EXPECTED, py_here(p), what, py_token_name(py_peek(p)));
}

void py_expect(PyParser *p, PyTokenKind kind) {
    if (!py_accept(p, kind)) py_fail_expected(p, py_token_name(kind));
}

void py_expect_close(PyParser *p, PyTokenKind close, uint32_t opened) {
    if (py_accept(p, close) || p->failed) return;
    char c = py_token_name(close)[1];
    bool told = py_peek(p) == PY_T_ERROR;
    py_fail(p, DIAG_PY_MISSING_COMMA, py_here(p), c, py_token_name(py_peek(p)));
    if (!p->trial && opened && !told)
        diag_emit(p->diag, DIAG_PY_OPENED_HERE, (Range){opened, opened + 1},
                  *py_token_text(p, (Range){opened, opened + 1}));
}

const char *py_intern(PyParser *p, Range range) {
    const char *text = py_token_text(p, range);
    size_t length = range.end - range.begin;
    MapEntry *entry = map_find(&p->names, text, length);
    return (entry ? entry : map_put(&p->names, p->arena, text, length, NULL))->key;
}

const char *py_expect_name(PyParser *p) {
    if (py_peek(p) == PY_T_NAME) return py_intern(p, py_take(p).range);
    py_fail_expected(p, "a name");
    return "";
}

/* ---- failure ---- */

static void stop_at(PyParser *p) {
    p->failed = true;
    p->error = p->pos;
    p->pos = p->tokens.count - 1;
}

void py_fail(PyParser *p, DiagId id, Range range, ...) {
    if (p->failed) return;
    bool told = py_peek(p) == PY_T_ERROR; /* the lexer said what is wrong here */
    stop_at(p);
    if (told || p->trial) return;
    va_list args;
    va_start(args, range);
    diag_vemit(p->diag, id, range, args);
    va_end(args);
}

bool py_enter(PyParser *p) {
    int limit = 2 * PY_MAX_DEPTH; /* brackets, which the lexer bounds, and prefix operators */
    if (++p->depth <= limit) return true;
    py_fail(p, DIAG_PY_TOO_DEEP, py_here(p), limit);
    return false;
}

void py_leave(PyParser *p) { p->depth--; }

PyState py_try(PyParser *p) {
    p->trial++;
    return (PyState){p->pos, p->stack.count, p->last_end, p->depth};
}

bool py_tried(PyParser *p, PyState state) {
    p->trial--;
    if (!p->failed) return true;
    p->failed = false;
    p->pos = state.pos;
    p->stack.count = state.stack;
    p->last_end = (uint32_t)state.last_end;
    p->depth = state.depth;
    return false;
}

/* ---- nodes ---- */

static const PyList no_list;
static const PyNames no_names;
static const PyOpList no_ops;

PyNode *py_new(PyParser *p, PyKind kind, uint32_t begin) {
    const PyKindInfo *info = &py_kinds[kind];
    PyNode *node = arena_alloc(p->arena, offsetof(PyNode, cells) + 8 * info->field_count);
    node->kind = (uint16_t)kind;
    node->range = (Range){begin, begin};
    for (size_t i = 0; i < info->field_count; i++) {
        void *cell = (char *)node + offsetof(PyNode, cells) + 8 * i;
        switch (info->fields[i].type) {
        case PY_FIELD_LIST: *(const PyList **)cell = &no_list; break;
        case PY_FIELD_NAMES: *(const PyNames **)cell = &no_names; break;
        case PY_FIELD_OPS: *(const PyOpList **)cell = &no_ops; break;
        default: break;
        }
    }
    return node;
}

static void take_height(void *user, PyNode *child) {
    uint16_t *height = user;
    if (child->height > *height) *height = child->height;
}

PyNode *py_done(PyParser *p, PyNode *node) {
    if (p->failed) return py_dummy(p);
    node->range.end = p->last_end > node->range.begin ? p->last_end : node->range.begin;
    uint16_t height = 0;
    py_each_child(node, take_height, &height);
    node->height = (uint16_t)(height + 1);
    if (node->height > PY_MAX_HEIGHT) py_fail(p, DIAG_PY_TOO_HIGH, node->range, PY_MAX_HEIGHT);
    return node;
}

/* Stands where a rule failed. It is whole, so that the rules above can go on looking at it. */
PyNode *py_dummy(PyParser *p) {
    PyNode *node = py_new(p, PY_Constant, p->last_end);
    node->height = 1;
    return node;
}

size_t py_list_begin(PyParser *p) { return p->stack.count; }

void py_list_add(PyParser *p, PyNode *node) { *VEC_PUSH(&p->stack, p->arena) = node; }

const PyList *py_list_end(PyParser *p, size_t mark) {
    size_t count = p->stack.count > mark ? p->stack.count - mark : 0;
    p->stack.count = mark;
    if (count == 0) return &no_list;
    PyList *list = arena_alloc(p->arena, sizeof *list + count * sizeof(PyNode *));
    list->count = (uint32_t)count;
    memcpy(list->at, p->stack.at + mark, count * sizeof(PyNode *));
    return list;
}

const PyList *py_list_one(PyParser *p, PyNode *node) {
    size_t mark = py_list_begin(p);
    py_list_add(p, node);
    return py_list_end(p, mark);
}

/* ---- statements, blocks, recovery ---- */

static void parse_statements(PyParser *p);

/* After a failure: to the start of the next statement at this level. A block under a broken header
 * is still read, for the mistakes in it, and so are the branches that continue it. */
void py_recover(PyParser *p) {
    p->failed = false;
    p->pos = p->error;
    for (;;) {
        while (py_peek(p) != PY_T_NEWLINE && py_peek(p) != PY_T_END) {
            if (py_peek(p) == PY_T_DEDENT) return;
            py_take(p);
        }
        py_accept(p, PY_T_NEWLINE);
        if (py_accept(p, PY_T_INDENT)) {
            size_t mark = py_list_begin(p);
            parse_statements(p);
            py_list_end(p, mark);
            py_accept(p, PY_T_DEDENT);
        }
        PyTokenKind kind = py_peek(p);
        if (kind != PY_T_ELIF && kind != PY_T_ELSE && kind != PY_T_EXCEPT && kind != PY_T_FINALLY) return;
    }
}

/* statement: compound_stmt | simple_stmts; both leave their nodes on the list under construction */
static void parse_statement(PyParser *p) {
    size_t mark = py_list_begin(p);
    int depth = p->depth;
    if (py_peek(p) == PY_T_INDENT) {
        py_fail(p, DIAG_PY_UNEXPECTED_INDENT, py_here(p));
    } else {
        PyNode *node = py_parse_compound(p);
        if (node)
            py_list_add(p, node);
        else
            py_parse_simple_line(p);
    }
    if (!p->failed) return;
    p->stack.count = mark;
    p->depth = depth;
    if (p->tokens.at[p->error].kind == PY_T_INDENT && p->error > 0 && p->tokens.at[p->error - 1].kind == PY_T_NEWLINE)
        p->error--; /* the indented lines are read as a block of their own */
    py_recover(p);
}

static void parse_statements(PyParser *p) {
    while (py_peek(p) != PY_T_END && py_peek(p) != PY_T_DEDENT && p->diag->errors <= DIAG_LIMIT) parse_statement(p);
    while (p->diag->errors > DIAG_LIMIT && py_peek(p) != PY_T_END) py_take(p);
}

/* block: NEWLINE INDENT statements DEDENT | simple_stmts            (behind ':') */
void py_fail_indent(PyParser *p, const char *owner, uint32_t owner_begin) {
    Place place = {0};
    if (p->diag->sources) source_find(p->diag->sources, owner_begin, &place);
    py_fail(p, DIAG_PY_EXPECTED_INDENT, py_here(p), owner, place.line);
    if (p->failed && p->error > 0 && p->tokens.at[p->error - 1].kind == PY_T_NEWLINE)
        p->error--; /* the line at fault is itself a good statement: keep it */
}

const PyList *py_parse_block(PyParser *p, const char *owner, uint32_t owner_begin) {
    if (!py_accept(p, PY_T_P_COLON)) {
        if (py_peek(p) == PY_T_P_ASSIGN)
            py_fail(p, DIAG_PY_ASSIGN_IN_CONDITION, py_here(p));
        else if (py_peek(p) == PY_T_IF && strcmp(owner, "else") == 0)
            py_fail(p, DIAG_PY_FOREIGN, py_here(p), "else if", "`elif`");
        else
            py_fail(p, DIAG_PY_EXPECTED_COLON, py_here(p), owner, py_token_name(py_peek(p)));
    }
    size_t mark = py_list_begin(p);
    if (!py_accept(p, PY_T_NEWLINE)) {
        py_parse_simple_line(p);
        return py_list_end(p, mark);
    }
    if (!py_accept(p, PY_T_INDENT)) {
        py_fail_indent(p, owner, owner_begin);
        return py_list_end(p, mark);
    }
    parse_statements(p); /* the lexer bounds how deep blocks nest */
    py_accept(p, PY_T_DEDENT);
    return py_list_end(p, mark);
}

PyNode *py_parse(const SourceFile *file, Arena *arena, Diag *diag) {
    Range whole = {file->base, file->base + file->size};
    PyParser parser = {.file = file, .arena = arena, .diag = diag};
    PyParser *p = &parser;
    p->tokens = py_lex(file, whole, PY_LEX_FILE, arena, diag);
    p->last_end = whole.begin;
    PyNode *module = py_new(p, PY_Module, whole.begin);
    size_t mark = py_list_begin(p);
    while (py_peek(p) != PY_T_END) {
        parse_statements(p);
        py_accept(p, PY_T_DEDENT);
    }
    module->Module.body = py_list_end(p, mark);
    module->range.end = whole.end;
    module->height = 1;
    return module;
}
