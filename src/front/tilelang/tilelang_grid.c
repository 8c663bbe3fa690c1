/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_grid.c: T.sync_grid, a barrier of all blocks of a launch.
 *
 *     with T.Kernel(n) as b:
 *         part = T.alloc_fragment((64,), "float32")
 *         ..                                          the first launch
 *         T.sync_grid()
 *         ..                                          the second one, of as many blocks
 *
 * What stands behind it is a launch of its own, which begins when the one before has ended. So blocks need not be there
 * all at once, and what a tensor holds is there for all of them. Names that are bound before and used behind are bound
 * again; what tiles and variables hold does not pass, and a kernel that takes it along is refused. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

static bool is_barrier(const Lower *l, const PyNode *node) {
    const PyNode *call = node->kind == PY_Expr ? node->Expr.value : NULL;
    return call && call->kind == PY_Call && lang_is_language(l, call->Call.func, "sync_grid");
}

int lang_parts(const Lower *l, const PyList *body) {
    int parts = 1;
    for (uint32_t i = 0; i < body->count; i++) parts += is_barrier(l, body->at[i]);
    return parts;
}

/* Under a condition or in a loop. */
Val lang_lower_sync_grid(Lower *l, const Call *c) {
    return py_error(l, DIAG_TL_UNSUPPORTED, c->range, "T.sync_grid in a loop, under a condition or in a function",
                    "put it under `with T.Kernel(...)` itself, or write two kernels");
}

typedef struct Mentions {
    Lower *l;
    Map names;        /* that are read or bound there */
    const char *wanted;
    bool found;       /* `wanted` */
} Mentions;

static void mention(void *user, PyNode *node) {
    Mentions *m = user;
    if (node->kind == PY_Name) {
        map_set(&m->names, m->l->arena, node->Name.id, (void *)1);
        m->found |= m->wanted && strcmp(node->Name.id, m->wanted) == 0;
    }
    py_each_child(node, mention, m);
}

static bool mentions(Lower *l, const PyNode *node, const char *name) {
    Mentions m = {.l = l, .wanted = name};
    mention(&m, (PyNode *)node);
    return m.found;
}

static bool is_allocation(const PyNode *node) {
    const PyNode *value = node->kind == PY_Assign ? node->Assign.value : NULL;
    return value && value->kind == PY_Call && value->Call.func->kind == PY_Attribute &&
           strncmp(value->Call.func->Attribute.attr, "alloc_", 6) == 0;
}

static void bound_name(void *user, const char *name, const PyNode *value) {
    Mentions *m = user;
    (void)value;
    m->found |= map_get(&m->names, name) != NULL;
}

typedef VEC(PyNode *) Nodes;

/* Does a statement before the barrier bind a name that is used behind it? A definition of a function is kept, too. */
static bool binds(Lower *l, PyNode *node, Mentions *used) {
    used->found = false;
    if (node->kind == PY_FunctionDef) return map_get(&used->names, node->FunctionDef.name) != NULL;
    if (node->kind == PY_Assign) py_each_binding(node, l->arena, bound_name, used);
    return used->found;
}

static bool refuse(Lower *l, const PyNode *node, const char *name, const char *what) {
    py_error(l, DIAG_TL_UNSUPPORTED, node->range,
             arena_printf(l->arena, "`%s` on both sides of T.sync_grid, %s,", name, what),
             "what tiles and variables hold does not pass it"
             FIX "keep it in a tensor (T.alloc_global((..), dtype) before "
             "T.Kernel makes one), or take another name");
    return false;
}

static const char *name_of(const PyNode *node) {
    const PyNode *target = node->kind == PY_Assign ? node->Assign.targets->at[0] : NULL;
    return target && target->kind == PY_Name ? target->Name.id : "...";
}

/* Tiles that are bound again and were used before hold something else. */
static bool check_tiles(Lower *l, const PyList *body, uint32_t end, const Nodes *kept) {
    for (size_t k = 0; k < kept->count; k++) {
        const PyNode *node = kept->at[k];
        if (!is_allocation(node)) continue;
        for (uint32_t i = 0; i < end; i++)
            if (body->at[i] != node && mentions(l, body->at[i], name_of(node)))
                return refuse(l, body->at[i], name_of(node), "a tile or variable");
    }
    return true;
}

static void find_read(Op *op, void *user) {
    const Op **found = user;
    if (!*found && op_has(op->code, TRAIT_READS) && op->code != OP_BUF) *found = op;
}

static const PyList *list_of(Lower *l, PyNode *const *at, size_t count) {
    PyList *list = arena_alloc(l->arena, sizeof *list + count * sizeof *list->at);
    list->count = (uint32_t)count;
    memcpy(list->at, at, count * sizeof *list->at);
    return list;
}

bool lang_run_part(Lower *l, const PyList *body, int part) {
    uint32_t begin = 0, end;
    for (int seen = 0; seen < part; begin++) seen += is_barrier(l, body->at[begin]);
    for (end = begin; end < body->count && !is_barrier(l, body->at[end]); end++) continue;
    Mentions used = {.l = l};
    Nodes own = {0}, back = {0}, kept = {0};
    for (uint32_t i = begin; i < end; i++) {
        *VEC_PUSH(&own, l->arena) = body->at[i];
        mention(&used, body->at[i]);
    }
    for (uint32_t i = begin; i-- > 0;) {
        if (!binds(l, body->at[i], &used)) continue;
        *VEC_PUSH(&back, l->arena) = body->at[i];
        mention(&used, body->at[i]);
    }
    for (size_t i = back.count; i-- > 0;) *VEC_PUSH(&kept, l->arena) = back.at[i];
    if (!check_tiles(l, body, begin, &kept)) return false;
    for (size_t i = 0; i < kept.count; i++) {
        const Op *last = l->b.region->last, *read = NULL;
        py_run_block(l, list_of(l, &kept.at[i], 1), 0, false);
        for (Op *op = last ? last->next : l->b.region->first; op; op = op->next) find_read(op, &read);
        if (read && !is_allocation(kept.at[i]))
            return refuse(l, kept.at[i], name_of(kept.at[i]), "computed from what memory holds");
    }
    py_run_block(l, list_of(l, own.at, own.count), 0, false);
    return true;
}
