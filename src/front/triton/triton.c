/* SPDX-License-Identifier: Apache-2.0 */
/* triton.c: the Triton door: lists the kernels of a Python file (triton_open) and turns one into IR
 * (triton_lower).
 *
 * Every function decorated with triton.jit is a kernel, but for those that another jit function
 * calls. A parameter annotated tl.constexpr is a constant; one annotated with a dtype has that
 * type; a bare one takes its kind from the argument: an array is a pointer to its elements, an int
 * is int32 (int64 or uint64 if it needs more), a float is float32, a bool is int1, None and strings
 * are constants. Unlike in Triton an argument of 1 stays a run-time value: facts about arguments
 * are tested at launch. */
#include "front/triton/triton.h"

#include <string.h>

/* --- open --- */

typedef struct Uses {
    Map names; /* every name that is loaded */
    Arena *arena;
    const char *self;
} Uses;

static void find_uses(void *user, PyNode *node) {
    Uses *uses = user;
    if (node->kind == PY_Name && node->Name.ctx == PY_LOAD && strcmp(node->Name.id, uses->self) != 0)
        map_set(&uses->names, uses->arena, node->Name.id, node);
    py_each_child(node, find_uses, user);
}

/* Every jit function, also below `if` and `try` of the module. */
typedef struct Finder {
    const Tree *tree;
    Arena *arena;
    bool live; /* the text is one function, which the host knows to be one */
    VEC(PyNode *) found;
} Finder;

static void find_jit(void *user, PyNode *node) {
    Finder *finder = user;
    if (node->kind == PY_FunctionDef) {
        if (finder->live || tri_is_jit(finder->tree->names, node, finder->arena))
            *VEC_PUSH(&finder->found, finder->arena) = node;
        return;
    }
    if (py_kinds[node->kind].cls == PY_STMT || node->kind == PY_ExceptHandler || node->kind == PY_Module)
        if (node->kind != PY_ClassDef) py_each_child(node, find_jit, user);
}

/* The dtype that an annotation spells, as Triton reads it: "tl.int64", "*fp32", "const *i8",
 * "fp16*"; NULL if it is none. */
static const Type *annotated_type(Module *m, const char *text, Arena *arena) {
    bool pointer = false;
    while (*text == ' ') text++;
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ') length--;
    if (strncmp(text, "const ", 6) == 0) {
        text += 6;
        length -= 6;
    }
    if (length && text[length - 1] == '*') {
        pointer = true;
        length--;
    } else if (*text == '*') {
        pointer = true;
        text += text[1] == 'k' ? 2 : 1;
        length = strlen(text);
    }
    if (strncmp(text, "tl.", 3) == 0) {
        text += 3;
        length -= 3;
    }
    const Type *type = tri_dtype_named(m, arena_string(arena, text, length));
    return type && pointer ? ty_pointer(m, type->elem) : type;
}

static FrontParam describe_param(FrontUnit *unit, const Tree *tree, const PyNode *arg, bool optional) {
    FrontParam param = {
        .name = arg->arg.arg, .kind = FRONT_OPEN, .elem = -1, .rank = -1, .optional = optional, .range = arg->range};
    const PyNode *annotation = arg->arg.annotation;
    if (!annotation) return param;
    const char *path = names_path(tree->names, annotation, unit->arena);
    const char *text =
        annotation->kind == PY_Constant && annotation->Constant.what == PY_STR ? annotation->Constant.text->at : NULL;
    if (path && strncmp(path, "triton.language.", 16) == 0) text = strrchr(path, '.') + 1;
    if (path && strcmp(path, "builtins.bool") == 0) text = "int1";
    if (text && strstr(text, "constexpr")) {
        param.kind = FRONT_CONSTANT;
        return param;
    }
    if (!text) return param;
    param.read_only = strcmp(text, "const") == 0 || strncmp(text, "const ", 6) == 0 || strncmp(text, "*k", 2) == 0;
    Module *scratch = ir_module_new(unit->arena, unit->diag, unit->sources);
    const Type *type = annotated_type(scratch, text, unit->arena);
    if (!type) return param;
    param.kind = type->pointer ? FRONT_POINTER : FRONT_SCALAR;
    param.elem = (int)type->elem;
    return param;
}

typedef struct Leaves {
    VEC(FrontParam) all;
    FrontParam whole; /* the parameter that they are part of */
    Arena *arena;
} Leaves;

static Val add_leaf(void *user, const char *path, bool constant) {
    Leaves *leaves = user;
    FrontParam leaf = leaves->whole;
    leaf.name = path;
    if (constant) leaf.kind = FRONT_CONSTANT;
    *VEC_PUSH(&leaves->all, leaves->arena) = leaf;
    return val_none;
}

/* The parameter, or those that it is made of. */
static void add_param(FrontUnit *unit, Leaves *leaves, FrontParam param) {
    const char *structure = structure_of(unit, param.name);
    leaves->whole = param;
    if (!structure)
        *VEC_PUSH(&leaves->all, unit->arena) = param;
    else if (!structure_leaves(structure, param.name, unit->arena, add_leaf, leaves))
        diag_emit(unit->diag, DIAG_EVAL_STRUCTURE, param.range, param.name, structure);
}

static void add_kernel(FrontUnit *unit, const Tree *tree, PyNode *function) {
    const PyNode *a = function->FunctionDef.args;
    const PyList *lists[] = {a->arguments.posonlyargs, a->arguments.args, a->arguments.kwonlyargs};
    size_t positional = lists[0]->count + lists[1]->count, n = 0;
    Leaves leaves = {.arena = unit->arena};
    for (size_t k = 0; k < 3; k++) {
        if (k == 2 && a->arguments.vararg)
            add_param(unit, &leaves, describe_param(unit, tree, a->arguments.vararg, true));
        for (uint32_t i = 0; i < lists[k]->count; i++, n++) {
            bool optional =
                k == 2 ? a->arguments.kw_defaults->at[i] != NULL : n + a->arguments.defaults->count >= positional;
            add_param(unit, &leaves, describe_param(unit, tree, lists[k]->at[i], optional));
        }
    }
    FrontParam *params = leaves.all.at;
    size_t count = leaves.all.count;
    if (!unit->resolver) tri_find_arrays(function, params, count, unit->arena);
    Entry *entry = ARENA_NEW(unit->arena, Entry);
    entry->function = function;
    FrontKernel kernel = {.name = function->FunctionDef.name,
                          .range = function->range,
                          .param_count = (int)count,
                          .params = params,
                          .node = entry};
    if (!unit->resolver) tri_read_decorators(unit, entry, &kernel);
    for (size_t h = 0; h < entry->heuristics.count; h++)
        for (n = 0; n < count; n++)
            if (strcmp(params[n].name, entry->heuristics.at[h].name) == 0) params[n].optional = true;
    *VEC_PUSH(&unit->kernels, unit->arena) = kernel;
}

bool triton_open(FrontUnit *unit) {
    int errors = unit->diag->errors;
    Tree *tree = ARENA_NEW(unit->arena, Tree);
    tree->module = py_parse(unit->file, unit->arena, unit->diag);
    if (unit->diag->errors > errors) return false;
    tree->names = names_collect(unit, &tri_domain, unit->file, tree->module, unit->arena);
    unit->tree = tree;
    Finder finder = {.tree = tree, .arena = unit->arena, .live = unit->resolver != NULL};
    find_jit(&finder, tree->module);
    Uses uses = {.arena = unit->arena};
    for (size_t i = 0; i < finder.found.count; i++) {
        uses.self = finder.found.at[i]->FunctionDef.name;
        py_each_child(finder.found.at[i], find_uses, &uses);
    }
    for (int pass = 0; pass < 2 && unit->kernels.count == 0; pass++) /* if all call each other, all are listed */
        for (size_t i = 0; i < finder.found.count; i++) {
            PyNode *function = finder.found.at[i];
            const char *name = function->FunctionDef.name;
            if (pass || !map_find(&uses.names, name, strlen(name))) add_kernel(unit, tree, function);
        }
    if (unit->diag->errors > errors) return false;
    if (unit->kernels.count) return true;
    diag_emit(unit->diag, DIAG_TRI_NO_KERNEL, (Range){unit->file->base, unit->file->base + 1}, unit->file->name);
    return false;
}

/* --- lower --- */

static Val runtime_parameter(Lower *l, const FrontParam *param, const Type *type) {
    return val_tensor(ir_argument(l->kernel, l->kernel->body, type, param->name));
}

static Val bind_scalar(Lower *l, const FrontParam *param, const FrontValue *value) {
    Elem elem = EL_F32;
    if (param->elem >= 0)
        elem = (Elem)param->elem;
    else if (value->kind == FRONT_NUMBER)
        elem = value->elem;
    else if (value->kind == FRONT_BOOL)
        elem = EL_I1;
    else if (value->kind == FRONT_INT)
        elem = value->is_unsigned ? EL_U64 : value->i >= INT32_MIN && value->i <= INT32_MAX ? EL_I32 : EL_I64;
    return runtime_parameter(l, param, ty_scalar(l->module, elem));
}

static Val constant_argument(Lower *l, const FrontParam *param, const FrontValue *value) {
    if (value->kind != FRONT_OBJECT) return val_given(l, value);
    Val v = py_live_value(l, value->object, param->name, param->range);
    if (v.kind == VAL_HOST) {
        Host *wrapped = arena_copy(l->arena, v.host, sizeof *v.host);
        wrapped->wrapped = true;
        v.host = wrapped;
    }
    return v.kind == VAL_UNBOUND ? py_error(l, DIAG_EVAL_MISSING, param->range, l->kernel->name, param->name) : v;
}

static Val bind_parameter(Lower *l, const FrontParam *param, const FrontValue *value, const PyNode *otherwise) {
    bool number = value->kind == FRONT_BOOL || value->kind == FRONT_INT || value->kind == FRONT_FLOAT ||
                  value->kind == FRONT_NUMBER;
    if (value->kind == FRONT_ABSENT) {
        if (otherwise) {
            Val v = py_eval_outside(l, l->names, otherwise);
            return param->kind == FRONT_CONSTANT || !val_is_number(v) ? v : tri_to_tensor(l, v, otherwise->range);
        }
        if (param->kind == FRONT_POINTER) return runtime_parameter(l, param, ty_pointer(l->module, (Elem)param->elem));
        if (param->kind == FRONT_SCALAR) return bind_scalar(l, param, value);
        return py_error(l, DIAG_EVAL_MISSING, param->range, l->kernel->name, param->name);
    }
    if (param->kind == FRONT_CONSTANT) {
        if (value->kind == FRONT_ARRAY)
            return py_error(l, DIAG_TRI_PARAMETER, param->range, param->name, "a constant", "an array");
        return constant_argument(l, param, value);
    }
    if (value->kind == FRONT_ARRAY) {
        if (param->kind == FRONT_SCALAR)
            return py_error(l, DIAG_TRI_PARAMETER, param->range, param->name, "a number", "an array");
        if (param->elem >= 0 && param->elem != (int)value->elem)
            return py_error(l, DIAG_TRI_PARAMETER, param->range, param->name, tri_dtype_name((Elem)param->elem),
                            tri_dtype_name(value->elem));
        return runtime_parameter(l, param, ty_pointer(l->module, value->elem));
    }
    if (number && param->kind == FRONT_POINTER)
        return py_error(l, DIAG_TRI_PARAMETER, param->range, param->name, "an array", "a number");
    bool one = value->kind == FRONT_INT && value->i == 1 && !value->runtime;
    if (l->request->specialize_ones && param->kind == FRONT_OPEN && one)
        return val_int(1);
    return number ? bind_scalar(l, param, value) : constant_argument(l, param, value);
}

static const PyNode *default_of(const PyNode *function, int index) {
    const PyNode *a = function->FunctionDef.args;
    int positional = (int)(a->arguments.posonlyargs->count + a->arguments.args->count),
        given = (int)a->arguments.defaults->count;
    if (index >= positional) return a->arguments.kw_defaults->at[index - positional];
    return index + given >= positional ? a->arguments.defaults->at[index + given - positional] : NULL;
}

/* Takes the arguments of a request in order. */
typedef struct Binder {
    Lower *l;
    const FrontRequest *request;
    const PyNode *otherwise; /* the default value of the parameter under way */
    int at;
} Binder;

static Val bind_next(void *user, const char *path, bool constant) {
    Binder *b = user;
    int i = b->at++;
    (void)path;
    (void)constant;
    return bind_parameter(b->l, &b->request->kernel->params[i], &b->request->args[i], b->otherwise);
}

/* What a parameter of the def is given. */
static Val bind_argument(Binder *b, const PyNode *arg, const PyNode *otherwise) {
    const char *structure = structure_of(b->l->unit, arg->arg.arg);
    b->otherwise = otherwise;
    return structure ? structure_value(b->l, structure, arg->arg.arg, arg->range, bind_next, tri_descriptor_given, b)
                     : bind_next(b, arg->arg.arg, false);
}

/* *xs: without a structure there are none. */
static Val bind_rest(Binder *b, const PyNode *arg) {
    if (structure_of(b->l->unit, arg->arg.arg)) return bind_argument(b, arg, NULL);
    const FrontValue *value = &b->request->args[b->at++];
    if (value->kind == FRONT_ABSENT && b->l->unit->resolver) return (Val){.kind = VAL_TUPLE};
    return py_unsupported(b->l, arg->range, "a `*` parameter of a kernel");
}

/* All arguments, in the order in which py_run_kernel takes them. */
static Val *bind_arguments(Lower *l, const FrontRequest *request, const PyNode *function) {
    const PyNode *a = function->FunctionDef.args;
    const PyList *lists[] = {a->arguments.posonlyargs, a->arguments.args, a->arguments.kwonlyargs};
    Val *args = ARENA_ARRAY(l->arena, Val, lists[0]->count + lists[1]->count + lists[2]->count + 1);
    Binder b = {.l = l, .request = request};
    int n = 0, rest = 0;
    for (int k = 0; k < 3; k++) {
        if (k == 2 && a->arguments.vararg) {
            args[n++] = bind_rest(&b, a->arguments.vararg);
            rest = 1;
        }
        for (uint32_t i = 0; i < lists[k]->count; i++, n++)
            args[n] = bind_argument(&b, lists[k]->at[i], default_of(function, n - rest));
    }
    return args;
}

Kernel *triton_lower(FrontUnit *unit, const FrontRequest *request) {
    const FrontKernel *wanted = request->kernel;
    PyNode *function = ((Entry *)wanted->node)->function;
    Module *m = request->module;
    int errors = m->diag->errors;
    TritonState state = {0};
    Lower lower = py_lower_begin(&tri_domain, &state, unit, request);
    Lower *l = &lower;
    l->kernel = ir_kernel_new(m, wanted->name, function->range);
    l->b = ir_builder(l->kernel, l->kernel->body);
    const PyNode *a = function->FunctionDef.args;
    if (a->arguments.kwarg) py_unsupported(l, a->range, "a `**` parameter of a kernel");
    const Val *args = bind_arguments(l, request, function);
    Function entry = {.node = function, .names = l->names, .handle = unit->scope};
    if (m->diag->errors == errors) py_run_kernel(l, &entry, args);
    if (m->diag->errors == errors) tri_check_const(l, wanted);
    if (m->diag->errors > errors) return NULL;
    l->kernel->form = FORM_SOURCE;
    return ir_verify(l->kernel, FORM_SOURCE, m->diag) ? l->kernel : NULL;
}
