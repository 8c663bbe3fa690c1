/* SPDX-License-Identifier: Apache-2.0 */
/* python_names.c: what names mean to a kernel: the file's imports, constants and functions, the definitions of the
 * user, and the modules of the domain under whatever name the file gives them.
 *
 * Names are looked up only where code is live; a constant of the module is computed when a kernel first asks for it,
 * from what the module had defined until then. A definition of the user wins over the file's own value. */
#include "front/python/python.h"

#include <string.h>

typedef enum NameKind {
    NAME_VALUE,
    NAME_FUNCTION,
    NAME_MODULE,
    NAME_OPAQUE,
    NAME_LOOP /* what a loop of the module leaves, or a statement changes, which is not run */
} NameKind;

/* The `if` of the module that a statement stands under. */
typedef struct Condition {
    const PyNode *test;
    bool branch; /* what the test must be */
    const struct Condition *around;
} Condition;

typedef struct Name {
    NameKind kind;
    const PyNode *node; /* VALUE: the expression; FUNCTION: the def */
    Function function;  /* FUNCTION */
    const char *path;   /* MODULE */
    bool busy, ready;   /* VALUE: being computed; computed. MODULE: being looked for */
    Val value;
    const Diag *failed;  /* VALUE: where it was last said that this one cannot be computed; NULL: nowhere */
    int order;           /* of the statement that defines it, from 1 */
    struct Name *before; /* what the name meant until then; NULL: nothing */
    const Condition *condition;
} Name;

struct Names {
    FrontUnit *unit;
    const Domain *domain;
    Arena *arena;
    Map map;
    const SourceFile *file;     /* NULL for live names */
    int statements;             /* seen so far */
    const Condition *condition; /* of the one that is being looked at */
    int until;                  /* while a constant is computed: the statement that defines it, and only those before
                  it count; 0: all do */
    VEC(const char *) stars;    /* modules whose names are all taken: from x import * */
    const char *starred;        /* the name that is looked for in these; NULL: none */
    bool live;                  /* what the map does not have is asked of the host */
    void *scope;                /* by that handle */
};

static Name *define(Names *names, const char *id, NameKind kind) {
    Name *name = ARENA_NEW(names->arena, Name);
    name->kind = kind;
    name->order = names->statements;
    name->before = map_get(&names->map, id);
    name->condition = names->condition;
    map_set(&names->map, names->arena, id, name);
    return name;
}

static void define_module(Names *names, const char *id, const char *path) {
    define(names, id, NAME_MODULE)->path = names->domain->module_path(path);
}

static void collect_import(Names *names, const PyNode *node) {
    for (uint32_t i = 0; i < node->Import.names->count; i++) {
        const PyNode *alias = node->Import.names->at[i];
        const char *path = alias->alias.name;
        if (alias->alias.asname) {
            define_module(names, alias->alias.asname, path);
        } else { /* `import a.b` binds a */
            const char *first = arena_string(names->arena, path, strcspn(path, "."));
            define_module(names, first, first);
        }
    }
}

static void collect_from(Names *names, const PyNode *node) {
    const char *module = node->ImportFrom.module ? node->ImportFrom.module : "";
    Text dots = text_new(names->arena);
    for (int i = 0; i < (int)node->ImportFrom.level; i++) text_add_char(&dots, '.');
    for (uint32_t i = 0; i < node->ImportFrom.names->count; i++) {
        const PyNode *alias = node->ImportFrom.names->at[i];
        const char *name = alias->alias.name, *as = alias->alias.asname ? alias->alias.asname : name;
        const char *from = arena_printf(names->arena, "%s%s", dots.at, module);
        const char *between = *module ? "." : "";
        if (strcmp(name, "*") == 0)
            *VEC_PUSH(&names->stars, names->arena) = from;
        else
            define_module(names, as, arena_printf(names->arena, "%s%s%s", from, between, name));
    }
}

static void collect(Names *names, const PyList *body);

static void define_value(void *user, const char *id, const PyNode *value) {
    define(user, id, NAME_VALUE)->node = value;
}

static void collect_branch(Names *names, const PyNode *test, bool branch, const PyList *body) {
    const Condition *around = names->condition;
    Condition condition = {test, branch, around};
    names->condition = arena_copy(names->arena, &condition, sizeof condition);
    collect(names, body);
    names->condition = around;
}

static void define_loop(void *user, const char *id, const PyNode *value) {
    (void)value;
    define(user, id, NAME_LOOP);
}

static void change(Names *names, const PyNode *of);
static void collect_change(Names *names, const PyNode *node);

static void collect_loop(void *user, PyNode *node) {
    Names *names = user;
    if (node->kind == PY_Expr) collect_change(names, node->Expr.value);
    py_each_binding(node, names->arena, define_loop, names);
    if (py_kinds[node->kind].cls == PY_STMT && node->kind != PY_FunctionDef && node->kind != PY_ClassDef)
        py_each_child(node, collect_loop, names);
}

/* A list or dict that a statement of the module changes: statements are not run. */
static void change(Names *names, const PyNode *of) {
    const Name *name = of->kind == PY_Name ? map_get(&names->map, of->Name.id) : NULL;
    if (name && name->kind == NAME_VALUE) define(names, of->Name.id, NAME_LOOP);
}

static void collect_change(Names *names, const PyNode *node) {
    static const char *const methods[] = {"append", "extend", "insert", "update", "pop", "setdefault",
                                          "remove", "sort",   "reverse", "clear"};
    if (node->kind != PY_Call || node->Call.func->kind != PY_Attribute) return;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(node->Call.func->Attribute.attr, methods[i]) == 0)
            change(names, node->Call.func->Attribute.value);
}

static void collect_statement(Names *names, const PyNode *node) {
    names->statements++;
    switch ((PyKind)node->kind) {
    case PY_Import: collect_import(names, node); break;
    case PY_ImportFrom: collect_from(names, node); break;
    case PY_FunctionDef: define(names, node->FunctionDef.name, NAME_FUNCTION)->node = node; break;
    case PY_ClassDef: define(names, node->ClassDef.name, NAME_OPAQUE); break;
    case PY_Assign:
    case PY_AnnAssign:
    case PY_AugAssign:
        py_each_binding(node, names->arena, define_value, names);
        for (uint32_t i = 0; node->kind == PY_Assign && i < node->Assign.targets->count; i++)
            if (node->Assign.targets->at[i]->kind == PY_Subscript)
                change(names, node->Assign.targets->at[i]->Subscript.value);
        break;
    case PY_If:
        collect_branch(names, node->If.test, false, node->If.orelse);
        collect_branch(names, node->If.test, true, node->If.body);
        break;
    case PY_Try:
        for (uint32_t i = 0; i < node->Try.handlers->count; i++)
            collect(names, node->Try.handlers->at[i]->ExceptHandler.body);
        collect(names, node->Try.body);
        break;
    case PY_With: collect(names, node->With.body); break;
    case PY_Expr: collect_change(names, node->Expr.value); break;
    case PY_For:
    case PY_While: py_each_child(node, collect_loop, names); break;
    default: break;
    }
}

static void collect(Names *names, const PyList *body) {
    for (uint32_t i = 0; i < body->count; i++) collect_statement(names, body->at[i]);
}

Names *names_live(FrontUnit *unit, const Domain *domain, void *scope, Arena *arena) {
    Names *names = ARENA_NEW(arena, Names);
    *names = (Names){.unit = unit, .domain = domain, .arena = arena, .live = true, .scope = scope};
    return names;
}

Names *names_collect(FrontUnit *unit, const Domain *domain, const SourceFile *file, const PyNode *module,
                     Arena *arena) {
    Names *names = ARENA_NEW(arena, Names);
    *names = (Names){.unit = unit,
                     .domain = domain,
                     .arena = arena,
                     .file = file,
                     .live = unit->resolver,
                     .scope = unit->scope};
    collect(names, module->Module.body);
    return names;
}

Lower py_lower_begin(const Domain *domain, void *own, FrontUnit *unit, const FrontRequest *request) {
    Module *m = request->module;
    const Tree *tree = unit->tree;
    return (Lower){.domain = domain,
                   .own = own,
                   .unit = unit,
                   .arena = m->arena,
                   .diag = m->diag,
                   .module = m,
                   .request = request,
                   .names = names_collect(unit, domain, unit->file, tree->module, m->arena)};
}

const PyNode *names_node(const Names *names, const char *id) {
    const Name *name = map_get(&names->map, id);
    return name && name->kind == NAME_VALUE ? name->node : NULL;
}

bool names_certain(const Names *names, const char *id) {
    const Name *name = map_get(&names->map, id);
    return name && name->kind == NAME_VALUE && !name->condition;
}

const char *names_path(const Names *names, const PyNode *node, Arena *arena) {
    if (node->kind == PY_Name) {
        const Name *name = map_get(&names->map, node->Name.id);
        if (!name && names->live) return py_live_path(names->unit, names->scope, node, arena);
        bool known = name && name->kind == NAME_VALUE && name->ready; /* asked of the host before */
        if (known && names->live && name->value.kind == VAL_MODULE) return name->value.text;
        return name && name->kind == NAME_MODULE ? name->path : node->Name.id;
    }
    if (names->live) return py_live_path(names->unit, names->scope, node, arena);
    if (node->kind != PY_Attribute) return NULL;
    const char *left = names_path(names, node->Attribute.value, arena);
    return left ? arena_printf(arena, "%s.%s", left, node->Attribute.attr) : NULL;
}

bool names_decorated(const Names *names, const PyNode *def, const char *wanted, Arena *arena) {
    for (uint32_t i = 0; i < def->FunctionDef.decorator_list->count; i++) {
        const PyNode *decorator = def->FunctionDef.decorator_list->at[i];
        if (decorator->kind == PY_Call) decorator = decorator->Call.func;
        const char *path = names_path(names, decorator, arena);
        if (path && strcmp(path, wanted) == 0) return true;
    }
    return false;
}

bool names_are_live(const Names *names) { return names->live; }

/* --- values --- */

const char *const *names_all(Lower *l, size_t *count) {
    VEC(const char *) all = {0};
    for (size_t i = 0; i < l->names->map.count; i++) *VEC_PUSH(&all, l->arena) = l->names->map.entries[i].key;
    const Builtin *builtin;
    for (size_t i = 0; (builtin = py_builtin_at(l, i)); i++)
        if (strchr(builtin->kinds, 'P')) *VEC_PUSH(&all, l->arena) = builtin->name;
    *count = all.count;
    return all.at;
}

/* Computes a module constant once. Each asker hears of a mistake, and none of them twice: constants that double one
 * that is wrong would compute it 2^n times. */
static Val compute(Lower *l, Names *names, Name *name, const char *id, Range range) {
    if (name->ready) return py_on_host(l) ? name->value : val_frozen(l, name->value);
    if (name->failed == l->diag && l->diag->errors) return val_error;
    if (name->busy) return py_error(l, DIAG_EVAL_CYCLE, range, id);
    int until = names->until;
    name->busy = true;
    names->until = name->order;
    name->value = py_eval_outside(l, names, name->node);
    names->until = until;
    name->busy = false;
    name->ready = name->value.kind != VAL_ERROR;
    name->failed = name->ready ? NULL : l->diag;
    return py_on_host(l) ? name->value : val_frozen(l, name->value);
}

typedef enum Holds { NEVER, ALWAYS, UNSURE } Holds;

/* Is the statement reached? Tests that a compiler cannot answer (is there a GPU?) are not. */
static Holds holds(Lower *l, Names *names, const Name *name) {
    Diag *diag = l->diag, quiet;
    int until = names->until;
    Holds answer = ALWAYS;
    diag_init(&quiet, l->arena, diag->sources);
    l->diag = &quiet;
    names->until = name->order;
    for (const Condition *c = name->condition; c && answer == ALWAYS; c = c->around) {
        Val test = py_eval_outside(l, names, c->test);
        bool known = test.kind == VAL_NONE || test.kind == VAL_BOOL || test.kind == VAL_INT || test.kind == VAL_FLOAT ||
                     test.kind == VAL_STR;
        answer = !known || quiet.errors ? UNSURE : val_truth(test) == c->branch ? ALWAYS : NEVER;
    }
    names->until = until;
    l->diag = diag;
    return answer;
}

/* if __name__ == "__main__": what only it defines is there when the file is the program. */
static bool is_main(const Condition *c) {
    for (; c; c = c->around)
        if (c->test->kind == PY_Compare && py_is_name(c->test->Compare.left, "__name__")) return true;
    return false;
}

/* The definition of a name that counts; NULL: none does. *unsure: another one may as well. */
static Name *definition(Lower *l, Names *names, const char *id, bool *unsure) {
    Name *name = map_get(&names->map, id);
    while (name && name->kind == NAME_VALUE && names->until && name->order >= names->until) name = name->before;
    while (name && name->kind == NAME_VALUE && name->condition) {
        Holds answer = holds(l, names, name);
        *unsure = answer == UNSURE && name->before;
        if (answer != NEVER || (!name->before && is_main(name->condition))) break;
        name = name->before;
    }
    return name;
}

static Val lookup_in(Lower *l, Names *names, const char *id, Range range);

/* A module that no file of the user's can be. */
static bool is_library(const Names *names, const char *path) {
    static const char *const roots[] = {"math", "builtins", "itertools", NULL};
    for (const char *const *root = roots; *root; root++) {
        size_t n = strlen(*root);
        if (strncmp(path, *root, n) == 0 && (!path[n] || path[n] == '.')) return true;
    }
    return names->domain->is_library(path);
}

/* A name of another file, or a module below it; UNBOUND when no file of the user's has it. */
static Val file_attribute(Lower *l, const SourceFile *from, const char *path, const char *attr, Range range) {
    Names *names = names_import(l, from, path);
    Val v = {.kind = VAL_UNBOUND};
    if (names) v = lookup_in(l, names, attr, range);
    size_t length = strlen(path);
    const char *below = arena_printf(l->arena, "%s%s%s", path, length && path[length - 1] != '.' ? "." : "", attr);
    if (v.kind == VAL_UNBOUND && names_import(l, from, below)) return (Val){.kind = VAL_MODULE, .text = below};
    return v;
}

/* What an import binds: `path` is a module, or a name of one. */
static Val imported(Lower *l, const Names *names, const char *path, Range range) {
    const char *dot = strrchr(path, '.');
    bool library = is_library(names, path);
    if (!dot) return (Val){.kind = VAL_MODULE, .text = path};
    bool relative = dot == path || dot[-1] == '.'; /* from . import x */
    const char *parent = arena_string(l->arena, path, (size_t)(dot - path) + relative);
    if (!library && !names->live) {
        Val v = file_attribute(l, names->file, parent, dot + 1, range);
        if (v.kind != VAL_UNBOUND) return v;
    }
    return library ? names_attribute(l, parent, dot + 1, range) : (Val){.kind = VAL_MODULE, .text = path};
}

/* A def of a file: a function of the language, or plain Python that runs on constants where that is allowed. */
static Val function_value(Lower *l, Names *names, Name *name, const char *id, Range range) {
    bool device = names->live || names->domain->is_device(names, name->node, l->arena);
    bool host = !device && (!l->kernel || names->domain->on_constants(names, name->node, l->arena));
    name->function = (Function){.node = name->node, .names = names, .host = host};
    if (!device && !host) return py_error(l, DIAG_EVAL_NOT_DEVICE, range, id, l->domain->words.device);
    return (Val){.kind = VAL_FUNCTION, .function = &name->function};
}

/* A file may import a name from itself, or from one that imports it from there: a submodule, if anything. */
static Val imported_once(Lower *l, const Names *names, Name *name, Range range) {
    if (name->busy) return (Val){.kind = VAL_UNBOUND};
    name->busy = true;
    Val v = imported(l, names, name->path, range);
    name->busy = false;
    return v;
}

/* In the modules whose names are all taken; these may take each other's. */
static Val starred(Lower *l, Names *names, const char *id, Range range) {
    Val v = {.kind = VAL_UNBOUND};
    if (names->starred && strcmp(names->starred, id) == 0) return v;
    const char *before = names->starred;
    names->starred = id;
    for (size_t i = 0; i < names->stars.count && v.kind == VAL_UNBOUND; i++) {
        Names *other = names_import(l, names->file, names->stars.at[i]);
        if (other) v = lookup_in(l, other, id, range);
    }
    names->starred = before;
    return v;
}

/* UNBOUND when the module has no such name. */
static Val lookup_in(Lower *l, Names *names, const char *id, Range range) {
    const FrontValue *given = front_define(l->unit, id);
    if (given) return val_given(l, given);
    bool unsure = false;
    Name *name = definition(l, names, id, &unsure);
    if (unsure) return py_error(l, DIAG_EVAL_UNSURE, range, id, "under a condition");
    if (name) {
        switch (name->kind) {
        case NAME_VALUE: return compute(l, names, name, id, range);
        case NAME_MODULE: return imported_once(l, names, name, range);
        case NAME_FUNCTION: return function_value(l, names, name, id, range);
        case NAME_OPAQUE: return (Val){.kind = VAL_MODULE, .text = id};
        case NAME_LOOP: return py_error(l, DIAG_EVAL_UNSURE, range, id, "in a loop, or changes it by a call");
        }
    }
    if (names->domain->imported && strcmp(id, "__name__") == 0 && names->file) return val_str(names->file->name);
    Val v = starred(l, names, id, range);
    if (v.kind != VAL_UNBOUND || !names->live) return v;
    v = py_live_lookup(l, names->scope, id, range);
    if (v.kind == VAL_UNBOUND) return v;
    name = define(names, id, NAME_VALUE);
    name->ready = true;
    name->value = v;
    return v;
}

Val names_lookup(Lower *l, const char *id, Range range) {
    Val v = lookup_in(l, l->names, id, range);
    if (v.kind != VAL_UNBOUND) return v;
    const Builtin *builtin = py_builtin(l, id, 'P');
    if (builtin) return (Val){.kind = VAL_BUILTIN, .builtin = builtin};
    return v;
}

Val names_attribute(Lower *l, const char *path, const char *attr, Range range) {
    Val value = l->domain->module_attribute(l, path, attr, range);
    if (value.kind == VAL_UNBOUND) value = py_library_attribute(l, path, attr);
    if (value.kind != VAL_UNBOUND) return value;
    if (!is_library(l->names, path) && !l->names->live) {
        value = file_attribute(l, l->names->file, path, attr, range);
        if (value.kind != VAL_UNBOUND) return value;
        if (names_import(l, l->names->file, path)) {
            const char *wrong = arena_printf(l->arena, "%s.%s", path, attr);
            return py_error(l, DIAG_EVAL_UNKNOWN, range, wrong, "");
        }
    }
    return (Val){.kind = VAL_MODULE, .text = arena_printf(l->arena, "%s.%s", path, attr)};
}

const char *names_suggest_file(Lower *l, const char *path) {
    bool file = !is_library(l->names, path) && !l->names->live && strchr(path, '.');
    return file ? "no file beside this one or in its package has it; " : NULL;
}
