/* py_ast.c: the field tables of the Python tree (from py_ast.def), and what walks a tree by them.
 *
 * Whatever treats all kinds alike (dump, walk, height) goes through py_kinds: the type of field i
 * says how to read cell i of the node. */
#include "syntax/py_ast.h"

#include <string.h>

#define NODE(f)  {PY_FIELD_NODE, #f},
#define MAYBE(f) {PY_FIELD_MAYBE, #f},
#define LIST(f)  {PY_FIELD_LIST, #f},
#define NAME(f)  {PY_FIELD_NAME, #f},
#define NAMES(f) {PY_FIELD_NAMES, #f},
#define TEXT(f)  {PY_FIELD_TEXT, #f},
#define OP(f)    {PY_FIELD_OP, #f},
#define OPS(f)   {PY_FIELD_OPS, #f},
#define CTX(f)   {PY_FIELD_CTX, #f},
#define CONST(f) {PY_FIELD_CONST, #f},
#define FLAG(f)  {PY_FIELD_FLAG, #f},
#define INT(f)   {PY_FIELD_INT, #f},
#define REAL(f)  {PY_FIELD_REAL, #f},

#define PY_LEAF(kind, cls)
#define PY_NODE(kind, cls, fields)                                                            \
    static const PyField fields_##kind[] = {fields};                                          \
    _Static_assert(sizeof(((PyNode *)0)->kind) == 8 * sizeof fields_##kind / sizeof(PyField), \
                   "a field is one cell");
#include "syntax/py_ast.def"
#undef PY_NODE
#undef PY_LEAF

const PyKindInfo py_kinds[PY_KIND_COUNT] = {
#define PY_LEAF(kind, cls) {#kind, PY_##cls, NULL, 0},
#define PY_NODE(kind, cls, fields) \
    {#kind, PY_##cls, fields_##kind, sizeof fields_##kind / sizeof(PyField)},
#include "syntax/py_ast.def"
#undef PY_NODE
#undef PY_LEAF
};

const char *const py_op_names[PY_OP_COUNT] = {
#define PY_OP(id, name, spelling) name,
    PY_OPS(PY_OP)
#undef PY_OP
};
const char *const py_op_spellings[PY_OP_COUNT] = {
#define PY_OP(id, name, spelling) spelling,
    PY_OPS(PY_OP)
#undef PY_OP
};

void py_each_child(const PyNode *node, void (*visit)(void *user, PyNode *child), void *user) {
    const PyKindInfo *info = &py_kinds[node->kind];
    for (size_t i = 0; i < info->field_count; i++) {
        const void *cell = py_cell(node, i);
        if (info->fields[i].type == PY_FIELD_NODE || info->fields[i].type == PY_FIELD_MAYBE) {
            PyNode *child = *(PyNode *const *)cell;
            if (child) visit(user, child);
        } else if (info->fields[i].type == PY_FIELD_LIST) {
            const PyList *list = *(const PyList *const *)cell;
            for (uint32_t k = 0; k < list->count; k++)
                if (list->at[k]) visit(user, list->at[k]);
        }
    }
}

bool py_is_name(const PyNode *node, const char *id) {
    return node && node->kind == PY_Name && strcmp(node->Name.id, id) == 0;
}

const char *py_dotted(const PyNode *node, Arena *arena) {
    if (node->kind == PY_Name) return node->Name.id;
    if (node->kind != PY_Attribute) return NULL;
    const char *left = py_dotted(node->Attribute.value, arena);
    return left ? arena_printf(arena, "%s.%s", left, node->Attribute.attr) : NULL;
}
