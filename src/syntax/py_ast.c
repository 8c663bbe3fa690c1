/* SPDX-License-Identifier: Apache-2.0 */
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
#define PY_NODE(kind, cls, fields)                   \
    static const PyField fields_##kind[] = {fields}; \
    _Static_assert(sizeof(((PyNode *)0)->kind) == 8 * sizeof fields_##kind / sizeof(PyField), "a field is one cell");
#include "syntax/py_ast.def"
#undef PY_NODE
#undef PY_LEAF

const PyKindInfo py_kinds[PY_KIND_COUNT] = {
#define PY_LEAF(kind, cls)         {#kind, PY_##cls, NULL, 0},
#define PY_NODE(kind, cls, fields) {#kind, PY_##cls, fields_##kind, sizeof fields_##kind / sizeof(PyField)},
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

/* --- assignments --- */

typedef struct Binding {
    Arena *arena;
    void (*visit)(void *user, const char *name, const PyNode *value);
    void *user;
} Binding;

/* An expression that the text does not spell, at the place of one that it does. */
static PyNode *made_node(Arena *arena, PyKind kind, Range range, uint16_t height) {
    PyNode *node = arena_alloc(arena, offsetof(PyNode, cells) + 8 * (py_kinds[kind].field_count + 1));
    node->kind = (uint16_t)kind;
    node->range = range;
    node->height = height;
    return node;
}

static const PyList *items_of(const PyNode *node) {
    return node->kind == PY_Tuple ? node->Tuple.elts : node->kind == PY_List ? node->List.elts : NULL;
}

static bool has_star(const PyList *items) {
    for (uint32_t i = 0; i < items->count; i++)
        if (items->at[i]->kind == PY_Starred) return true;
    return false;
}

static const PyNode *item_of(const Binding *b, const PyNode *value, uint32_t i) {
    PyNode *index = made_node(b->arena, PY_Constant, value->range, 1);
    index->Constant.what = PY_INT;
    index->Constant.integer = i;
    PyNode *item = made_node(b->arena, PY_Subscript, value->range, value->height + 1);
    item->Subscript.value = (PyNode *)value;
    item->Subscript.slice = index;
    return item;
}

static void bind(const Binding *b, const PyNode *target, const PyNode *value) {
    const PyList *targets = items_of(target), *values = items_of(value);
    if (target->kind == PY_Name) b->visit(b->user, target->Name.id, value);
    if (!targets || has_star(targets)) return;
    if (values && (values->count != targets->count || has_star(values))) return;
    for (uint32_t i = 0; i < targets->count; i++)
        bind(b, targets->at[i], values ? values->at[i] : item_of(b, value, i));
}

void py_each_binding(const PyNode *statement, Arena *arena,
                     void (*visit)(void *user, const char *name, const PyNode *value), void *user) {
    Binding b = {arena, visit, user};
    if (statement->kind == PY_Assign)
        for (uint32_t i = 0; i < statement->Assign.targets->count; i++)
            bind(&b, statement->Assign.targets->at[i], statement->Assign.value);
    if (statement->kind == PY_AnnAssign && statement->AnnAssign.value)
        bind(&b, statement->AnnAssign.target, statement->AnnAssign.value);
    if (statement->kind == PY_AugAssign && statement->AugAssign.target->kind == PY_Name) {
        PyNode *value = made_node(arena, PY_BinOp, statement->range, statement->height);
        value->BinOp.left = statement->AugAssign.target;
        value->BinOp.op = statement->AugAssign.op;
        value->BinOp.right = statement->AugAssign.value;
        bind(&b, statement->AugAssign.target, value);
    }
}
