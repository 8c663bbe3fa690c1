/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang.c: the TileLang door: which kernels a file has, and one kernel as IR.
 *
 * A kernel is a `@T.prim_func`, at the top of the file or inside functions that return it (`@tilelang.jit def matmul(M,
 * N, K): ... return main`), or a `@tilelang.jit` function that launches by itself (the eager style). The parameters of
 * the functions around it are constants of the kernel, and the outermost one's name is the kernel's. These functions
 * are plain Python and are run up to the kernel; a value of theirs that cannot be computed is a mistake only where it
 * is used. Names that the file leaves open (`M`, `N`) come from -D.
 *
 * Element accesses go through the declared extents: outside reads 0 and writes are dropped. A grid whose extents are
 * swapped is diagnosed. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

/* --- kernels of the file --- */

static const char *decorator_name(const PyNode *decorator, Arena *arena, const char **path) {
    if (decorator->kind == PY_Call) decorator = decorator->Call.func;
    *path = py_dotted(decorator, arena);
    const char *dot = *path ? strrchr(*path, '.') : NULL;
    return dot ? dot + 1 : *path;
}

static bool is_decorated(const PyNode *def, const char *wanted, Arena *arena) {
    for (uint32_t i = 0; i < def->FunctionDef.decorator_list->count; i++) {
        const char *path, *name = decorator_name(def->FunctionDef.decorator_list->at[i], arena, &path);
        if (name && strcmp(name, wanted) == 0) return true;
    }
    return false;
}

/* A decorator that we do not know may change what the kernel means. */
static void check_decorators(Lower *l, const PyNode *def) {
    static const char *const known[] = {"prim_func", "jit",       "autotune", "lru_cache",
                                        "cache",     "lazy_jit", "simplify_prim_func"};
    for (uint32_t i = 0; i < def->FunctionDef.decorator_list->count; i++) {
        const PyNode *decorator = def->FunctionDef.decorator_list->at[i];
        const char *path, *name = decorator_name(decorator, l->arena, &path);
        size_t at = 0, count = sizeof known / sizeof *known;
        while (name && at < count && strcmp(name, known[at]) != 0) at++;
        /* Tests: who runs the function, and where. */
        bool test = path && (strncmp(path, "pytest.", 7) == 0 || strstr(path, ".testing."));
        if ((name && at < count) || test || lang_is_annotation(l, decorator)) continue;
        const char *near = name ? text_nearest(name, known, 3) : NULL;
        diag_emit(l->diag, DIAG_TL_DECORATOR, decorator->range, path ? path : "...",
                  text_suggest(l->arena, "", near));
    }
}

typedef struct Finder {
    FrontUnit *unit;
    const Names *names;
    const PyNode *module;
    VEC(const PyNode *) path; /* functions around the node being looked at */
} Finder;

typedef VEC(FrontParam) Params;

static bool has_param(const Params *params, const char *name) {
    for (size_t i = 0; i < params->count; i++)
        if (strcmp(params->at[i].name, name) == 0) return true;
    return false;
}

static void add_constant(const Finder *f, Params *params, const PyNode *arg, const PyNode *otherwise) {
    const char *name = arg->arg.arg;
    bool defined = names_certain(f->names, name);
    for (int i = 0; i < f->unit->define_count; i++) defined |= strcmp(f->unit->defines[i].name, name) == 0;
    if (has_param(params, name)) return;
    *VEC_PUSH(params, f->unit->arena) = (FrontParam){
        .name = name, .kind = FRONT_CONSTANT, .elem = -1, .range = arg->range, .optional = defined || otherwise};
}

static void add_tensor(const Finder *f, Params *params, const char *name, const PyNode *note, Range range) {
    *VEC_PUSH(params, f->unit->arena) = (FrontParam){
        .name = name, .kind = FRONT_POINTER, .elem = lang_peek_elem(note), .rank = -1, .range = range};
}

/* What the body of a kernel in the eager style says of a name: `A: T.Tensor(..)`; NULL: nothing. */
static const PyNode *body_note(const PyNode *def, const char *name) {
    const PyList *body = def->FunctionDef.body;
    for (uint32_t i = 0; i < body->count; i++)
        if (body->at[i]->kind == PY_AnnAssign && py_is_name(body->at[i]->AnnAssign.target, name) &&
            lang_is_tensor_note(body->at[i]->AnnAssign.annotation))
            return body->at[i]->AnnAssign.annotation;
    return NULL;
}

static bool is_call_of(const PyNode *node, const char *name) {
    return node->kind == PY_Call && node->Call.func->kind == PY_Attribute &&
           strcmp(node->Call.func->Attribute.attr, name) == 0;
}

/* A call that names sizes, T.const("M, N") or T.dynamic("m"): each is a constant that may be given. */
static void add_sizes(const Finder *f, Params *params, const PyNode *call) {
    const PyNode *text = call->Call.args->count ? call->Call.args->at[0] : NULL;
    if (!text || text->kind != PY_Constant || text->Constant.what != PY_STR) return;
    for (const char *s = text->Constant.text->at; *s;) {
        size_t n = strcspn(s, ", ");
        const char *name = arena_string(f->unit->arena, s, n);
        if (n && !has_param(params, name))
            *VEC_PUSH(params, f->unit->arena) = (FrontParam){
                .name = name, .kind = FRONT_CONSTANT, .elem = -1, .range = text->range, .optional = true};
        s += n;
        s += strspn(s, ", ");
    }
}

/* Outputs and sizes that the body names. */
static void add_body(const Finder *f, Params *params, const PyNode *def) {
    const PyList *body = def->FunctionDef.body;
    for (uint32_t i = 0; i < body->count; i++) {
        const PyNode *node = body->at[i], *value = node->kind == PY_Assign ? node->Assign.value : NULL;
        const PyNode *target = value ? node->Assign.targets->at[0] : NULL;
        if (value && is_call_of(value, "empty") && target->kind == PY_Name)
            add_tensor(f, params, target->Name.id, value, target->range);
        if (value && is_call_of(value, "const")) add_sizes(f, params, value);
    }
}

typedef struct Sizes {
    const Finder *f;
    Params *params;
} Sizes;

/* The sizes that arrays give: T.dynamic of the functions around a kernel, its own, and those of the file itself. */
static void add_dynamic(void *user, PyNode *node) {
    Sizes *s = user;
    if (is_call_of(node, "dynamic") || is_call_of(node, "symbolic")) add_sizes(s->f, s->params, node);
    py_each_child(node, add_dynamic, s);
}

static void add_dynamic_sizes(const Finder *f, Params *params, const PyNode *outermost) {
    Sizes sizes = {f, params};
    const PyList *body = f->module->Module.body;
    add_dynamic(&sizes, (PyNode *)outermost);
    for (uint32_t i = 0; i < body->count; i++)
        if (body->at[i]->kind == PY_Assign) add_dynamic(&sizes, body->at[i]);
}

static void add_kernel(Finder *f, const PyNode *def, bool eager) {
    FrontUnit *unit = f->unit;
    Found *found = ARENA_NEW(unit->arena, Found);
    Params params = {0};
    const PyNode **path = ARENA_ARRAY(unit->arena, const PyNode *, f->path.count + 1);
    for (size_t i = 0; i < f->path.count; i++) {
        const PyNode *args = f->path.at[i]->FunctionDef.args;
        path[i] = f->path.at[i];
        for (uint32_t a = 0; a < args->arguments.args->count; a++)
            add_constant(f, &params, args->arguments.args->at[a], lang_default(args, a));
        for (uint32_t a = 0; a < args->arguments.kwonlyargs->count; a++)
            add_constant(f, &params, args->arguments.kwonlyargs->at[a], args->arguments.kw_defaults->at[a]);
    }
    path[f->path.count] = def;
    *found = (Found){path, (int)f->path.count + 1, (int)params.count, eager};
    const PyNode *args = def->FunctionDef.args;
    for (uint32_t a = 0; a < args->arguments.args->count; a++) {
        const PyNode *arg = args->arguments.args->at[a], *note = arg->arg.annotation;
        if (eager && !lang_is_tensor_note(note)) note = body_note(def, arg->arg.arg);
        if (!eager && unit->resolver ? lang_live_is_tensor(unit, arg->arg.arg, note) : lang_is_tensor_note(note))
            add_tensor(f, &params, arg->arg.arg, note, arg->range);
        else if (eager)
            add_constant(f, &params, arg, lang_default(args, a));
        else
            *VEC_PUSH(&params, unit->arena) =
                (FrontParam){.name = arg->arg.arg, .kind = FRONT_SCALAR, .elem = -1, .rank = -1, .range = arg->range};
    }
    for (uint32_t a = 0; eager && a < args->arguments.kwonlyargs->count; a++)
        add_constant(f, &params, args->arguments.kwonlyargs->at[a], args->arguments.kw_defaults->at[a]);
    if (eager) add_body(f, &params, def);
    if (!unit->resolver) add_dynamic_sizes(f, &params, path[0]);
    const char *name = path[0]->FunctionDef.name;
    for (size_t i = 0; i < unit->kernels.count; i++)
        if (strcmp(unit->kernels.at[i].name, name) == 0)
            name = arena_printf(unit->arena, "%s.%s", path[0]->FunctionDef.name, def->FunctionDef.name);
    *VEC_PUSH(&unit->kernels, unit->arena) = (FrontKernel){.name = name,
                                                           .range = def->range,
                                                           .param_count = (int)params.count,
                                                           .params = params.at,
                                                           .has_grid = true,
                                                           .node = found};
}

/* In a running program the text is one function, and the host knows what it is. */
static void find_live(Finder *f, const PyNode *module) {
    for (uint32_t i = 0; i < module->Module.body->count; i++)
        if (module->Module.body->at[i]->kind == PY_FunctionDef) {
            add_kernel(f, module->Module.body->at[i], lang_live_eager(f->unit));
            return;
        }
}

static void find_launch(void *user, PyNode *node) {
    bool *found = user;
    for (uint32_t i = 0; node->kind == PY_With && i < node->With.items->count; i++)
        *found |= is_call_of(node->With.items->at[i]->withitem.context_expr, "Kernel");
    if (node->kind != PY_FunctionDef) py_each_child(node, find_launch, user);
}

static void find_kernels(void *user, PyNode *node) {
    Finder *f = user;
    if (node->kind != PY_FunctionDef) {
        if (py_kinds[node->kind].cls == PY_STMT || node->kind == PY_ExceptHandler || node->kind == PY_Module)
            py_each_child(node, find_kernels, f);
        return;
    }
    if (is_decorated(node, "prim_func", f->unit->arena)) {
        add_kernel(f, node, false);
        return;
    }
    bool launches = false;
    for (uint32_t i = 0; i < node->FunctionDef.body->count; i++) find_launch(&launches, node->FunctionDef.body->at[i]);
    if (launches && is_decorated(node, "jit", f->unit->arena)) {
        add_kernel(f, node, true);
        return;
    }
    *VEC_PUSH(&f->path, f->unit->arena) = node;
    for (uint32_t i = 0; i < node->FunctionDef.body->count; i++) find_kernels(f, node->FunctionDef.body->at[i]);
    f->path.count--;
}

bool tilelang_open(FrontUnit *unit) {
    Tree *tree = ARENA_NEW(unit->arena, Tree);
    tree->module = py_parse(unit->file, unit->arena, unit->diag);
    if (unit->diag->errors) return false;
    tree->names = names_collect(unit, &lang_domain, unit->file, tree->module, unit->arena);
    unit->tree = tree;
    Finder f = {.unit = unit, .names = tree->names, .module = tree->module};
    if (unit->resolver)
        find_live(&f, tree->module);
    else
        find_kernels(&f, tree->module);
    if (!unit->kernels.count) diag_emit(unit->diag, DIAG_TL_NO_KERNEL, tree->module->range);
    return unit->diag->errors == 0;
}

/* --- names, before there are arguments --- */

static void resolve_calls(void *user, PyNode *node) {
    Lower *l = user;
    Elem elem;
    const PyNode *func = node->kind == PY_Call ? node->Call.func : NULL;
    const char *name = func && func->kind == PY_Attribute ? func->Attribute.attr : NULL;
    if (name && lang_is_language(l, func, name) && !lang_elem(name, &elem) && !py_builtin(l, name, 'T'))
        lang_unknown_op(l, name, func->range);
    py_each_child(node, resolve_calls, l);
}

bool tilelang_resolve(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag) {
    const Found *found = kernel->node;
    const Tree *tree = unit->tree;
    int errors = diag->errors;
    LangState state = {0};
    Lower l = {.domain = &lang_domain, .own = &state, .unit = unit, .arena = arena, .diag = diag, .names = tree->names};
    const PyList *body = found->path[found->depth - 1]->FunctionDef.body;
    for (uint32_t i = 0; i < body->count; i++) resolve_calls(&l, body->at[i]);
    return diag->errors == errors;
}

/* --- lowering one --- */

static const FrontValue *given_value(const Lower *l, const char *name) {
    const FrontKernel *kernel = l->request->kernel;
    for (int p = 0; p < kernel->param_count; p++)
        if (strcmp(kernel->params[p].name, name) == 0 && l->request->args[p].kind != FRONT_ABSENT &&
            l->request->args[p].kind != FRONT_ARRAY)
            return &l->request->args[p];
    return front_define(l->unit, name);
}

/* A parameter becomes a name: what is given, then -D, then its default; one that has none of these takes the file's
 * constant of its name, with which the file itself would call the function. */
static void bind_constant(Lower *l, const PyNode *arg, const PyNode *otherwise) {
    const char *name = arg->arg.arg;
    const FrontValue *given = given_value(l, name);
    Val v;
    if (given)
        v = given->kind == FRONT_OBJECT ? py_live_value(l, given->object, name, arg->range) : val_given(l, given);
    else if (otherwise)
        v = py_eval(l, otherwise);
    else if (names_certain(l->names, name))
        v = names_lookup(l, name, arg->range);
    else
        v = py_error(l, DIAG_TL_MISSING_CONSTANT, arg->range, name, name);
    py_set_local(l, name, v);
}

static void bind_constants(Lower *l, const PyNode *def) {
    const PyNode *a = def->FunctionDef.args;
    for (uint32_t i = 0; i < a->arguments.args->count; i++)
        bind_constant(l, a->arguments.args->at[i], lang_default(a, i));
    for (uint32_t i = 0; i < a->arguments.kwonlyargs->count; i++)
        bind_constant(l, a->arguments.kwonlyargs->at[i], a->arguments.kw_defaults->at[i]);
}

static void lower_kernel(Lower *l, const PyNode *def) {
    const FrontKernel *kernel = l->request->kernel;
    const Found *found = lang_state(l)->found;
    int errors = l->diag->errors;
    const char *name = kernel->name;
    if (l->request->launch) name = arena_printf(l->arena, "%s_%d", name, l->request->launch + 1);
    l->kernel = ir_kernel_new(l->module, name, def->range);
    l->b = ir_builder(l->kernel, l->kernel->body);
    lang_annotate(l, def);
    const PyNode *a = def->FunctionDef.args;
    for (uint32_t i = 0; i < a->arguments.args->count; i++) {
        const PyNode *arg = a->arguments.args->at[i];
        bool live = l->unit->resolver && !found->eager;
        if (live ? lang_live_is_tensor(l->unit, arg->arg.arg, arg->arg.annotation)
                 : lang_is_tensor_note(arg->arg.annotation))
            lang_tensor_param(l, arg, arg->arg.arg, lang_param_note(l, arg), lang_place_of(l, arg->arg.arg));
        else if (!found->eager)
            lang_scalar_param(l, arg, lang_place_of(l, arg->arg.arg));
        else if (!body_note(def, arg->arg.arg))
            bind_constant(l, arg, lang_default(a, i));
    }
    for (uint32_t i = 0; found->eager && i < a->arguments.kwonlyargs->count; i++)
        bind_constant(l, a->arguments.kwonlyargs->at[i], a->arguments.kw_defaults->at[i]);
    py_run_block(l, def->FunctionDef.body, 0, true);
    if (l->diag->errors > errors || !lang_check_grid(l) || !lang_check_externs(l)) return;
    if (!l->kernel->grid) {
        py_error(l, DIAG_TL_NO_LAUNCH, def->range);
        return;
    }
    l->b.range = def->range;
    ir_return(&l->b);
    l->kernel->form = FORM_SOURCE;
}

/* Enters the next function on the way to the kernel, or the kernel. */
static void enter(Lower *l, const PyNode *def) {
    LangState *s = lang_state(l);
    Function *function = ARENA_NEW(l->arena, Function);
    Frame *frame = ARENA_NEW(l->arena, Frame), *around = l->frame;
    *function = (Function){.node = def, .names = l->names, .around = around};
    *frame = (Frame){.function = function, .call = def->range};
    l->frame = frame;
    s->level++;
    if (s->level == s->found->depth) {
        s->reached = true;
        lower_kernel(l, def);
    } else {
        bind_constants(l, def);
        py_run_block(l, def->FunctionDef.body, 0, true);
    }
    l->frame = around;
}

bool lang_define(Lower *l, const PyNode *def, Val *function) {
    LangState *s = lang_state(l);
    (void)function;
    if (l->kernel || !s->found || s->level >= s->found->depth || def != s->found->path[s->level]) return true;
    enter(l, def);
    py_leave_function(l);
    return false;
}

Kernel *tilelang_lower(FrontUnit *unit, const FrontRequest *request) {
    const Found *found = request->kernel->node;
    Module *m = request->module;
    int errors = m->diag->errors;
    LangState state = {.found = found};
    Lower lower = py_lower_begin(&lang_domain, &state, unit, request);
    Lower *l = &lower;
    for (int i = 0; i < found->depth && !unit->resolver; i++) check_decorators(l, found->path[i]);
    if (unit->resolver && !found->eager) lang_live_symbols(l, request->kernel, request->args);
    else lang_find_symbols(l, request->kernel, request->args, found->path[0]);
    enter(l, found->path[0]);
    if (m->diag->errors > errors) return NULL;
    if (!state.reached) {
        py_error(l, DIAG_TL_NOT_REACHED, found->path[found->depth - 1]->range);
        return NULL;
    }
    return ir_verify(l->kernel, FORM_SOURCE, m->diag) ? l->kernel : NULL;
}
