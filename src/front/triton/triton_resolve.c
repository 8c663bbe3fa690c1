/* SPDX-License-Identifier: Apache-2.0 */
/* triton_resolve.c: what a kernel's text says before it has arguments: names that mean nothing, and which parameters
 * are used as arrays.
 *
 * Lowering looks names up where code is live, and needs arguments to know where that is. A user who only wrote the
 * kernel shall hear of `tl.lod` before being asked for arrays. So this walk looks at every name that the function does
 * not bind itself, also in the functions that it calls; it leaves out what stands under an `if` on constants, which may
 * be dead. */
#include "front/triton/triton.h"

#include <string.h>

typedef VEC(const PyNode *) Seen; /* functions */

typedef struct Walk {
    Lower *l;
    Map bound;     /* names that the function binds, parameters among them */
    Map constants; /* its parameters that are tl.constexpr */
    Seen *seen;
} Walk;

static void find_bound(void *user, PyNode *node) {
    Walk *w = user;
    const char *name = node->kind == PY_Name && node->Name.ctx != PY_LOAD ? node->Name.id
                       : node->kind == PY_arg                             ? node->arg.arg
                                                                          : NULL;
    if (name) map_set(&w->bound, w->l->arena, name, node);
    if (node->kind == PY_arg && node->arg.annotation) {
        const char *path = names_path(w->l->names, node->arg.annotation, w->l->arena);
        if (path && strstr(path, "constexpr")) map_set(&w->constants, w->l->arena, name, node);
    }
    py_each_child(node, find_bound, user);
}

static bool is_bound(const Walk *w, const char *name) { return map_get(&w->bound, name) != NULL; }

/* Does the value of the expression depend on constants alone? */
typedef struct Leaves {
    const Walk *walk;
    bool varies;
} Leaves;

static void find_variable(void *user, PyNode *node) {
    Leaves *leaves = user;
    if (node->kind == PY_Name && is_bound(leaves->walk, node->Name.id) &&
        !map_get(&leaves->walk->constants, node->Name.id))
        leaves->varies = true;
    py_each_child(node, find_variable, user);
}

static bool is_constant(const Walk *w, PyNode *node) {
    Leaves leaves = {.walk = w};
    find_variable(&leaves, node);
    return !leaves.varies;
}

static void walk_function(Lower *l, const Function *function, Seen *seen);

/* The first name of `a.b.c`; NULL for anything else. */
static const char *root_of(const PyNode *node) {
    while (node->kind == PY_Attribute) node = node->Attribute.value;
    return node->kind == PY_Name ? node->Name.id : NULL;
}

static void walk(void *user, PyNode *node) {
    Walk *w = user;
    const char *root = root_of(node);
    if (root) {
        if (is_bound(w, root)) return;
        Val v = py_eval_outside(w->l, w->l->names, node);
        if (v.kind == VAL_FUNCTION && !v.function->host) walk_function(w->l, v.function, w->seen);
        return;
    }
    if (node->kind == PY_If && is_constant(w, node->If.test)) {
        walk(w, node->If.test);
        return;
    }
    if (node->kind == PY_IfExp && is_constant(w, node->IfExp.test)) return;
    if (node->kind == PY_AnnAssign) { /* an annotation is not evaluated */
        if (node->AnnAssign.value) walk(w, node->AnnAssign.value);
        return;
    }
    py_each_child(node, walk, w);
}

static void walk_function(Lower *l, const Function *function, Seen *seen) {
    for (size_t i = 0; i < seen->count; i++)
        if (seen->at[i] == function->node) return;
    *VEC_PUSH(seen, l->arena) = function->node;
    Names *around = l->names;
    l->names = function->names;
    Walk w = {.l = l, .seen = seen};
    py_each_child(function->node->FunctionDef.args, find_bound, &w);
    const PyList *body = function->node->FunctionDef.body;
    for (uint32_t i = 0; i < body->count; i++) find_bound(&w, body->at[i]);
    for (uint32_t i = 0; i < body->count; i++) walk(&w, body->at[i]);
    l->names = around;
}

bool triton_resolve(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag) {
    const Tree *tree = unit->tree;
    TritonState state = {0};
    Lower l = {.domain = &tri_domain, .own = &state, .unit = unit, .arena = arena, .diag = diag};
    int errors = diag->errors;
    l.module = ir_module_new(arena, diag, unit->sources);
    l.names = names_collect(unit, &tri_domain, unit->file, tree->module, arena);
    Function entry = {.node = ((Entry *)kernel->node)->function, .names = l.names, .handle = unit->scope};
    Seen seen = {0};
    walk_function(&l, &entry, &seen);
    return diag->errors == errors;
}

/* --- parameters used as arrays --- */

typedef struct Arrays {
    Arena *arena;
    Map names; /* what addresses begin with: `x` of tl.load(x + i * stride), and what `x` was made from */
    size_t before;
} Arrays;

static void add_first(Arrays *a, const PyNode *node) {
    for (;;) {
        if (node->kind == PY_BinOp)
            node = node->BinOp.left;
        else if (node->kind == PY_Call && node->Call.func->kind == PY_Attribute)
            node = node->Call.func->Attribute.value;
        else if (node->kind == PY_IfExp)
            node = node->IfExp.body;
        else
            break;
    }
    if (node->kind == PY_Name) map_set(&a->names, a->arena, node->Name.id, (void *)node);
}

static void find_addresses(void *user, PyNode *node) {
    static const char *const calls[] = {"load", "store", "make_block_ptr", "make_tensor_descriptor"};
    if (node->kind == PY_Call && node->Call.func->kind == PY_Attribute) {
        const char *name = node->Call.func->Attribute.attr;
        bool memory = strncmp(name, "atomic_", 7) == 0;
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) memory |= strcmp(name, calls[i]) == 0;
        if (memory && node->Call.args->count) add_first(user, node->Call.args->at[0]);
        for (uint32_t i = 0; memory && i < node->Call.keywords->count; i++) {
            const PyNode *keyword = node->Call.keywords->at[i];
            const char *word = keyword->keyword.arg;
            if (word && (strcmp(word, "pointer") == 0 || strcmp(word, "base") == 0))
                add_first(user, keyword->keyword.value);
        }
    }
    py_each_child(node, find_addresses, user);
}

static void follow_binding(void *user, const char *name, const PyNode *value) {
    Arrays *a = user;
    if (map_get(&a->names, name)) add_first(a, value);
}

static void follow_assignments(void *user, PyNode *node) {
    Arrays *a = user;
    py_each_binding(node, a->arena, follow_binding, a);
    py_each_child(node, follow_assignments, a);
}

void tri_find_arrays(PyNode *function, FrontParam *params, size_t count, Arena *arena) {
    Arrays a = {.arena = arena};
    find_addresses(&a, function);
    while (a.names.count > a.before) {
        a.before = a.names.count;
        follow_assignments(&a, function);
    }
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(params[i].name);
        params[i].likely_array =
            params[i].kind == FRONT_OPEN &&
            (map_get(&a.names, params[i].name) || (length >= 3 && strcmp(params[i].name + length - 3, "ptr") == 0));
    }
}
