/* SPDX-License-Identifier: Apache-2.0 */
/* py_dump.c: the Python tree as text, for goldens and for comparison with CPython's own tree.
 *
 *     if x: y = 1          If (Name x Load)
 *                              body:
 *                                  Assign [(Name y Store)] (Constant 1)
 *
 * A statement is a line: its kind, then its fields in table order. Lists of statements follow,
 * indented under their field's name, empty ones left out; what is absent shows as `-`. Strings are
 * bytes with escapes, floats have 17 digits, an integer above 64 bits is `big:` and its spelling. */
#include "syntax/py_ast.h"

#include <inttypes.h>
#include <string.h>

typedef struct Dumper {
    const SourceFile *file;
    PyDumpMode mode;
    Text out;
} Dumper;

static const char *const ctx_names[] = {"Load", "Store", "Del"};

static bool is_block(const PyField *field) {
    static const char *const names[] = {"body", "handlers", "orelse", "finalbody", "cases"};
    if (field->type != PY_FIELD_LIST) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(field->name, names[i]) == 0) return true;
    return false;
}

static void dump_text(Dumper *d, const PyText *text) {
    text_add_char(&d->out, '"');
    for (size_t i = 0; i < text->length; i++) {
        unsigned char c = (unsigned char)text->at[i];
        if (c == '"' || c == '\\')
            text_add(&d->out, "\\%c", c);
        else if (c >= 0x20 && c < 0x7f)
            text_add_char(&d->out, (char)c);
        else
            text_add(&d->out, "\\x%02x", c);
    }
    text_add_char(&d->out, '"');
}

static void dump_constant(Dumper *d, const PyNode *node) {
    switch (node->Constant.what) {
    case PY_NONE: text_add(&d->out, " None"); break;
    case PY_TRUE: text_add(&d->out, " True"); break;
    case PY_FALSE: text_add(&d->out, " False"); break;
    case PY_ELLIPSIS: text_add(&d->out, " ..."); break;
    case PY_INT: text_add(&d->out, " %" PRIu64, node->Constant.integer); break;
    case PY_BIGINT: text_add(&d->out, " big:%s", node->Constant.text->at); break;
    case PY_FLOAT: text_add(&d->out, " float:%.17g", node->Constant.real); break;
    case PY_IMAGINARY: text_add(&d->out, " imaginary:%.17g", node->Constant.real); break;
    case PY_STR:
    case PY_BYTES:
        text_add(&d->out, " %s", node->Constant.what == PY_BYTES ? "b" : node->Constant.prefix_u ? "u" : "");
        dump_text(d, node->Constant.text);
        break;
    }
}

static void dump_inline(Dumper *d, const PyNode *node);

static void dump_field(Dumper *d, const PyField *field, const void *cell) {
    switch (field->type) {
    case PY_FIELD_NODE:
    case PY_FIELD_MAYBE: {
        const PyNode *child = *(PyNode *const *)cell;
        text_add_char(&d->out, ' ');
        dump_inline(d, child);
        break;
    }
    case PY_FIELD_LIST: {
        const PyList *list = *(const PyList *const *)cell;
        text_add(&d->out, " [");
        for (uint32_t i = 0; i < list->count; i++) {
            if (i) text_add_char(&d->out, ' ');
            dump_inline(d, list->at[i]);
        }
        text_add_char(&d->out, ']');
        break;
    }
    case PY_FIELD_NAME: {
        const char *name = *(const char *const *)cell;
        text_add(&d->out, " %s", name ? name : "-");
        break;
    }
    case PY_FIELD_NAMES: {
        const PyNames *names = *(const PyNames *const *)cell;
        text_add(&d->out, " [");
        for (uint32_t i = 0; i < names->count; i++) text_add(&d->out, "%s%s", i ? " " : "", names->at[i]);
        text_add_char(&d->out, ']');
        break;
    }
    case PY_FIELD_OP: text_add(&d->out, " %s", py_op_names[*(const PyOp *)cell]); break;
    case PY_FIELD_OPS: {
        const PyOpList *ops = *(const PyOpList *const *)cell;
        text_add(&d->out, " [");
        for (uint32_t i = 0; i < ops->count; i++) text_add(&d->out, "%s%s", i ? " " : "", py_op_names[ops->at[i]]);
        text_add_char(&d->out, ']');
        break;
    }
    case PY_FIELD_CTX: text_add(&d->out, " %s", ctx_names[*(const PyCtx *)cell]); break;
    case PY_FIELD_FLAG: text_add(&d->out, " %d", *(const int *)cell); break;
    case PY_FIELD_CONST:
    case PY_FIELD_TEXT:
    case PY_FIELD_INT:
    case PY_FIELD_REAL: break; /* only a Constant has these, and it prints itself */
    }
}

/* The kind and all fields that are no blocks. */
static void dump_head(Dumper *d, const PyNode *node) {
    const PyKindInfo *info = &py_kinds[node->kind];
    text_add(&d->out, "%s", info->name);
    if (d->mode == PY_DUMP_RANGES)
        text_add(&d->out, "@%u-%u", node->range.begin - d->file->base, node->range.end - d->file->base);
    if (node->kind == PY_Constant) {
        dump_constant(d, node);
        return;
    }
    for (size_t i = 0; i < info->field_count; i++)
        if (!is_block(&info->fields[i])) dump_field(d, &info->fields[i], py_cell(node, i));
}

static void dump_inline(Dumper *d, const PyNode *node) {
    if (!node) {
        text_add_char(&d->out, '-');
        return;
    }
    text_add_char(&d->out, '(');
    dump_head(d, node);
    text_add_char(&d->out, ')');
}

static void dump_lines(Dumper *d, const PyNode *node, int indent) {
    const PyKindInfo *info = &py_kinds[node->kind];
    text_indent(&d->out, indent);
    dump_head(d, node);
    text_add_char(&d->out, '\n');
    for (size_t i = 0; i < info->field_count; i++) {
        if (!is_block(&info->fields[i])) continue;
        const PyList *list = *(const PyList *const *)py_cell(node, i);
        if (list->count == 0) continue;
        text_indent(&d->out, indent + 1);
        text_add(&d->out, "%s:\n", info->fields[i].name);
        for (uint32_t k = 0; k < list->count; k++) dump_lines(d, list->at[k], indent + 2);
    }
}

char *py_dump(const PyNode *node, const SourceFile *file, PyDumpMode mode, Arena *arena) {
    Dumper d = {file, mode, text_new(arena)};
    PyClass cls = py_kinds[node->kind].cls;
    if (node->kind == PY_Module)
        for (uint32_t i = 0; i < node->Module.body->count; i++) dump_lines(&d, node->Module.body->at[i], 0);
    else if (cls == PY_STMT)
        dump_lines(&d, node, 0);
    else
        dump_inline(&d, node);
    return d.out.at;
}
