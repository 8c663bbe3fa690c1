/* tilelang.c: the TileLang door: which kernels a file has, and one kernel as IR.
 *
 * A kernel is a `@T.prim_func`, at the top of the file or inside a function that returns it (`@tilelang.jit def
 * matmul(M, N, K): ... return main`). In the second writing the outer function's parameters are constants of the kernel
 * and its name is the kernel's. Names that the file leaves open (`M`, `N`) come from -D.
 *
 * Tensor parameters are passed as addresses; their declared shape and dtype are part of the kernel, and an array of
 * another shape or type is refused here. Element accesses go through the declared extents: outside reads 0 and writes
 * are dropped. A grid whose extents are swapped is diagnosed. */
#include "front/tilelang/tilelang.h"

#include <string.h>

/* --- names --- */

bool lang_error(Lang *l, DiagId id, Range range, ...) {
    va_list args;
    va_start(args, range);
    if (!l->failed) diag_vemit(l->diag, id, range, args);
    va_end(args);
    l->failed = true;
    return false;
}

Val *scope_find(Lang *l, const char *name) {
    for (Scope *scope = l->scope; scope; scope = scope->outer) {
        MapEntry *entry = map_find(&scope->names, name, strlen(name));
        if (entry && !scope->outer) front_define(l->unit, name);
        if (entry) return entry->value;
    }
    return NULL;
}

void scope_set(Lang *l, const char *name, Val val) {
    map_set(&l->scope->names, l->arena, name, arena_copy(l->arena, &val, sizeof val));
}

bool elem_from_text(const char *text, Elem *elem) {
    static const struct {
        const char *text;
        Elem elem;
    } names[] = {{"bool", EL_I1},
                 {"int8", EL_I8},
                 {"int16", EL_I16},
                 {"int32", EL_I32},
                 {"int64", EL_I64},
                 {"uint8", EL_U8},
                 {"uint16", EL_U16},
                 {"uint32", EL_U32},
                 {"uint64", EL_U64},
                 {"float16", EL_F16},
                 {"half", EL_F16},
                 {"bfloat16", EL_BF16},
                 {"float32", EL_F32},
                 {"float", EL_F32},
                 {"int", EL_I32},
                 {"float64", EL_F64},
                 {"float8_e4m3", EL_F8E4M3},
                 {"float8_e4m3fn", EL_F8E4M3},
                 {"float8_e5m2", EL_F8E5M2}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].text, text) == 0) {
            *elem = names[i].elem;
            return true;
        }
    return false;
}

static Val from_front(const FrontValue *value) {
    switch (value->kind) {
    case FRONT_BOOL: return (Val){.kind = VAL_BOOL, .i = value->i};
    case FRONT_INT: return (Val){.kind = VAL_INT, .i = value->i};
    case FRONT_FLOAT: return (Val){.kind = VAL_FLOAT, .f = value->f};
    case FRONT_TEXT: return (Val){.kind = VAL_TEXT, .text = value->text};
    default: return (Val){.kind = VAL_NONE};
    }
}

/* The file's own names: imports, functions; then the user's definitions, which win over constants of the file.
 * Constants of the file are evaluated in order; one that cannot be (host code that we do not run) simply stays
 * unknown. */
static void import_names(Lang *l, const PyNode *node) {
    bool from = node->kind == PY_ImportFrom;
    const PyList *names = from ? node->ImportFrom.names : node->Import.names;
    const char *module = from ? node->ImportFrom.module : NULL;
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->at[i]->alias.name, *as = names->at[i]->alias.asname;
        char *path =
            module ? arena_printf(l->arena, "%s.%s", module, name) : arena_string(l->arena, name, strlen(name));
        if (strncmp(path, "tilelang", 8) != 0 && strncmp(path, "tvm", 3) != 0) continue;
        /* `import tilelang.language as T` and `from tilelang import language as T` both make T the language. */
        if (strncmp(path, "tilelang.language", 17) == 0) path = arena_printf(l->arena, "T%s", path + 17);
        bool whole = !as && !from && strchr(name, '.');
        const char *bound = as ? as : whole ? arena_string(l->arena, name, strcspn(name, ".")) : name;
        scope_set(l, bound, (Val){.kind = VAL_MODULE, .text = whole ? bound : path});
    }
}

/* One assignment of the file: all values are read before a name is bound. */
typedef struct Assignment {
    Lang *l;
    Scope *made;
} Assignment;

static void read_value(void *user, const char *name, const PyNode *node) {
    Assignment *a = user;
    Diag quiet;
    Val val;
    Lang attempt = *a->l;
    diag_init(&quiet, a->l->arena, a->l->unit->sources);
    attempt.diag = &quiet;
    bool known = eval(&attempt, node, &val);
    map_set(&a->made->names, a->l->arena, name, known ? arena_copy(a->l->arena, &val, sizeof val) : NULL);
}

static void define_constants(Lang *l, const PyNode *statement) {
    Assignment a = {l, ARENA_NEW(l->arena, Scope)};
    py_each_binding(statement, l->arena, read_value, &a);
    for (size_t i = 0; i < a.made->names.count; i++)
        map_set(&l->scope->names, l->arena, a.made->names.entries[i].key, a.made->names.entries[i].value);
}

/* What stands under an `if` or in a loop of the file is not run: its names are unknown from there on. */
static void forget_name(void *user, const char *name, const PyNode *value) {
    Lang *l = user;
    (void)value;
    map_set(&l->scope->names, l->arena, name, NULL);
}

static void forget_inner(void *user, PyNode *node) {
    Lang *l = user;
    bool main =
        node->kind == PY_If && node->If.test->kind == PY_Compare && py_is_name(node->If.test->Compare.left, "__name__");
    if (main || py_kinds[node->kind].cls != PY_STMT || node->kind == PY_FunctionDef || node->kind == PY_ClassDef)
        return;
    py_each_binding(node, l->arena, forget_name, l);
    py_each_child(node, forget_inner, l);
}

static void define_file(Lang *l, const PyNode *module) {
    l->scope = ARENA_NEW(l->arena, Scope);
    static const char *const builtin[] = {"range", "len", "min", "max", "int", "float", "bool", "abs"};
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        scope_set(l, builtin[i], (Val){.kind = VAL_MODULE, .text = arena_printf(l->arena, "py.%s", builtin[i])});
    for (uint32_t i = 0; i < module->Module.body->count; i++) {
        const PyNode *node = module->Module.body->at[i];
        if (node->kind == PY_Import || node->kind == PY_ImportFrom) import_names(l, node);
        if (node->kind == PY_FunctionDef) scope_set(l, node->FunctionDef.name, (Val){.kind = VAL_DEF, .node = node});
        if (node->kind == PY_Assign || node->kind == PY_AnnAssign || node->kind == PY_AugAssign)
            define_constants(l, node);
        else
            forget_inner(l, (PyNode *)node);
    }
    for (int i = 0; i < l->unit->define_count; i++)
        scope_set(l, l->unit->defines[i].name, from_front(&l->unit->defines[i].value));
}

/* --- kernels of the file --- */

typedef struct Found {   /* FrontKernel.node */
    const PyNode *outer; /* NULL: the prim_func stands at the top */
    const PyNode *inner;
    int constants; /* parameters of outer, first in the list of params */
} Found;

/* A decorator that we do not know may change what the kernel means. */
static void check_decorators(Lang *l, const PyNode *def) {
    static const char *const known[] = {"prim_func", "jit", "autotune", "lru_cache", "cache"};
    for (uint32_t i = 0; i < def->FunctionDef.decorator_list->count; i++) {
        const PyNode *decorator = def->FunctionDef.decorator_list->at[i];
        Range range = decorator->range;
        if (decorator->kind == PY_Call) decorator = decorator->Call.func;
        const char *path = py_dotted(decorator, l->arena), *dot = path ? strrchr(path, '.') : NULL,
                   *name = dot ? dot + 1 : path;
        size_t at = 0, count = sizeof known / sizeof *known;
        while (name && at < count && strcmp(name, known[at]) != 0) at++;
        if (name && at < count) continue;
        const char *near = name ? text_nearest(name, known, 3) : NULL;
        diag_emit(l->diag, DIAG_TL_DECORATOR, range, path ? path : "...",
                  near ? arena_printf(l->arena, " (did you mean `%s`?)", near) : "");
    }
}

static bool is_prim_func(Lang *l, const PyNode *node) {
    if (node->kind != PY_FunctionDef) return false;
    for (uint32_t i = 0; i < node->FunctionDef.decorator_list->count; i++) {
        const PyNode *decorator = node->FunctionDef.decorator_list->at[i];
        if (decorator->kind == PY_Call) decorator = decorator->Call.func;
        const char *name = py_dotted(decorator, l->arena);
        if (name && strcmp(name + (strlen(name) < 9 ? 0 : strlen(name) - 9), "prim_func") == 0) return true;
    }
    return false;
}

static const PyNode *default_of(const PyNode *arguments, uint32_t index) {
    const PyList *args = arguments->arguments.args, *defaults = arguments->arguments.defaults;
    uint32_t first = args->count - defaults->count;
    return index >= first ? defaults->at[index - first] : NULL;
}

/* The dtype of a tensor annotation, when it is a plain string or T.name; -1 otherwise. */
static int peek_elem(const PyNode *annotation) {
    const PyNode *dtype = NULL;
    Elem elem;
    if (annotation && annotation->kind == PY_Subscript && annotation->Subscript.slice->kind == PY_Tuple &&
        annotation->Subscript.slice->Tuple.elts->count == 2)
        dtype = annotation->Subscript.slice->Tuple.elts->at[1];
    if (annotation && annotation->kind == PY_Call && annotation->Call.args->count == 2)
        dtype = annotation->Call.args->at[1];
    if (dtype && dtype->kind == PY_Constant && dtype->Constant.what == PY_STR &&
        elem_from_text(dtype->Constant.text->at, &elem))
        return (int)elem;
    if (dtype && dtype->kind == PY_Attribute && elem_from_text(dtype->Attribute.attr, &elem)) return (int)elem;
    return -1;
}

static bool is_tensor_annotation(const PyNode *annotation) {
    return annotation && (annotation->kind == PY_Subscript || annotation->kind == PY_Call);
}

static void add_kernel(Lang *l, const PyNode *outer, const PyNode *inner) {
    FrontUnit *unit = l->unit;
    Found *found = ARENA_NEW(unit->arena, Found);
    if (outer) check_decorators(l, outer);
    check_decorators(l, inner);
    const PyNode *outer_args = outer ? outer->FunctionDef.args : NULL, *args = inner->FunctionDef.args;
    int constants = outer ? (int)outer_args->arguments.args->count : 0, tensors = (int)args->arguments.args->count;
    FrontParam *params = ARENA_ARRAY(unit->arena, FrontParam, constants + tensors);
    for (int i = 0; i < constants; i++) {
        const PyNode *arg = outer_args->arguments.args->at[i];
        bool defined = scope_find(l, arg->arg.arg) != NULL;
        params[i] = (FrontParam){.name = arg->arg.arg,
                                 .kind = FRONT_CONSTANT,
                                 .elem = -1,
                                 .range = arg->range,
                                 .optional = defined || default_of(outer_args, (uint32_t)i)};
    }
    for (int i = 0; i < tensors; i++) {
        const PyNode *arg = args->arguments.args->at[i];
        bool tensor = is_tensor_annotation(arg->arg.annotation);
        params[constants + i] = (FrontParam){.name = arg->arg.arg,
                                             .kind = tensor ? FRONT_POINTER : FRONT_SCALAR,
                                             .elem = tensor ? peek_elem(arg->arg.annotation) : -1,
                                             .rank = -1,
                                             .range = arg->range};
    }
    *found = (Found){outer, inner, constants};
    *VEC_PUSH(&unit->kernels, unit->arena) =
        (FrontKernel){.name = outer ? outer->FunctionDef.name : inner->FunctionDef.name,
                      .range = inner->range,
                      .param_count = constants + tensors,
                      .params = params,
                      .has_grid = true,
                      .node = found};
}

bool tilelang_open(FrontUnit *unit) {
    PyNode *module = py_parse(unit->file, unit->arena, unit->diag);
    if (unit->diag->errors) return false;
    unit->tree = module;
    Lang l = {.unit = unit, .arena = unit->arena, .diag = unit->diag};
    define_file(&l, module);
    for (uint32_t i = 0; i < module->Module.body->count; i++) {
        const PyNode *node = module->Module.body->at[i];
        if (is_prim_func(&l, node))
            add_kernel(&l, NULL, node);
        else if (node->kind == PY_FunctionDef)
            for (uint32_t n = 0; n < node->FunctionDef.body->count; n++)
                if (is_prim_func(&l, node->FunctionDef.body->at[n]))
                    add_kernel(&l, node, node->FunctionDef.body->at[n]);
    }
    if (!unit->kernels.count) diag_emit(unit->diag, DIAG_TL_NO_KERNEL, module->range);
    return unit->diag->errors == 0;
}

/* --- names, before there are arguments --- */

static void resolve_calls(void *user, PyNode *node) {
    Lang *l = user;
    l->failed = false; /* each is reported */
    if (node->kind == PY_Call) lang_knows_call(l, node);
    py_each_child(node, resolve_calls, l);
}

bool tilelang_resolve(FrontUnit *unit, const FrontKernel *kernel, Arena *arena, Diag *diag) {
    const Found *found = kernel->node;
    int errors = diag->errors;
    Lang l = {.unit = unit, .arena = arena, .diag = diag};
    define_file(&l, unit->tree);
    const PyList *body = found->inner->FunctionDef.body;
    for (uint32_t i = 0; i < body->count; i++) resolve_calls(&l, body->at[i]);
    return diag->errors == errors;
}

/* --- lowering one --- */

static const FrontValue *find_define(const Lang *l, const char *name) {
    const FrontValue *found = NULL;
    for (int i = 0; i < l->unit->define_count; i++)
        if (strcmp(l->unit->defines[i].name, name) == 0) found = &l->unit->defines[i].value;
    return found;
}

/* Parameters of a function become names: given values, then -D, then defaults; one that has none of these takes the
 * file's constant of its name, with which the file itself would call the function. */
bool lang_bind_params(Lang *l, const PyNode *def, const Val *given, int given_count) {
    const PyNode *args = def->FunctionDef.args;
    for (uint32_t i = 0; i < args->arguments.args->count; i++) {
        const PyNode *arg = args->arguments.args->at[i];
        const PyNode *otherwise = default_of(args, i);
        Val val = {.kind = VAL_NONE};
        const Val *constant = scope_find(l, arg->arg.arg);
        const FrontValue *define = find_define(l, arg->arg.arg);
        if ((int)i < given_count && given[i].kind != VAL_NONE)
            val = given[i];
        else if (define)
            val = from_front(define);
        else if (otherwise) {
            if (!eval(l, otherwise, &val)) return false;
        } else if (constant && constant->kind != VAL_MODULE)
            val = *constant;
        else
            return lang_error(l, DIAG_TL_MISSING_CONSTANT, arg->range, arg->arg.arg, arg->arg.arg);
        scope_set(l, arg->arg.arg, val);
    }
    return true;
}

/* T.Buffer[(M, K), "float16"], T.Tensor((M, K), dtype) */
static bool tensor_param(Lang *l, const PyNode *arg, const FrontValue *value, FrontShape *stated) {
    const PyNode *note = arg->arg.annotation, *shape_node, *dtype_node;
    const PyList *parts = note->kind == PY_Call                     ? note->Call.args
                          : note->Subscript.slice->kind == PY_Tuple ? note->Subscript.slice->Tuple.elts
                                                                    : NULL;
    if (!parts || parts->count != 2) return lang_error(l, DIAG_TL_ANNOTATION, note->range);
    shape_node = parts->at[0], dtype_node = parts->at[1];
    Val shape, dtype, one;
    if (!eval(l, shape_node, &shape) || !eval(l, dtype_node, &dtype)) return false;
    if (shape.kind != VAL_TUPLE) {
        one = shape;
        shape = (Val){.kind = VAL_TUPLE, .count = 1, .items = &one};
    }
    Val tensor = {.kind = VAL_TENSOR, .count = shape.count};
    if (dtype.kind == VAL_DTYPE)
        tensor.elem = dtype.elem;
    else if (dtype.kind != VAL_TEXT || !elem_from_text(dtype.text, &tensor.elem))
        return lang_error(l, DIAG_TL_DTYPE, dtype_node->range, lang_text(l, &dtype));
    if (shape.count < 1 || shape.count > MAX_RANK) return lang_error(l, DIAG_TL_ANNOTATION, note->range);
    for (int d = 0; d < shape.count; d++) {
        if (shape.items[d].kind != VAL_INT || shape.items[d].i < 0)
            return lang_error(l, DIAG_TL_EXTENT, shape_node->range, lang_text(l, &shape.items[d]));
        tensor.shape[d] = shape.items[d].i;
    }
    int64_t elements = 1, longest = 1; /* longest: as the strides need it, a dimension of 0 apart */
    for (int d = 0; d < tensor.count; d++) {
        elements *= tensor.shape[d] ? 1 : 0;
        if (__builtin_mul_overflow(longest, tensor.shape[d] ? tensor.shape[d] : 1, &longest) || longest > INT64_MAX / 8)
            return lang_error(l, DIAG_TL_TYPES, shape_node->range,
                              "a tensor of so many elements does not fit the address space; give smaller sizes");
    }
    if (value->kind == FRONT_ARRAY) {
        bool same = value->elem == tensor.elem && value->rank == tensor.count;
        int64_t stride = 1;
        for (int d = tensor.count - 1; same && d >= 0; stride *= tensor.shape[d], d--)
            same = value->extent[d] == tensor.shape[d] &&
                   (value->stride[d] == stride || tensor.shape[d] == 1 || !elements);
        if (!same) {
            Val got = {.kind = VAL_TENSOR, .elem = value->elem, .count = value->rank};
            memcpy(got.shape, value->extent, sizeof got.shape);
            return lang_error(l, DIAG_TL_ARRAY, arg->range, arg->arg.arg, lang_text(l, &tensor), lang_text(l, &got));
        }
    }
    if (stated) {
        *stated = (FrontShape){.stated = true, .dense = true, .rank = tensor.count};
        memcpy(stated->extent, tensor.shape, sizeof stated->extent);
    }
    Ref extents[MAX_RANK], strides[MAX_RANK];
    int64_t stride = 1;
    for (int d = tensor.count - 1; d >= 0; stride *= tensor.shape[d], d--) {
        extents[d] = ir_int(&l->b, tensor.shape[d] <= INT32_MAX ? EL_I32 : EL_I64, tensor.shape[d]);
        strides[d] = ir_int(&l->b, stride <= INT32_MAX ? EL_I32 : EL_I64, stride);
    }
    Ref pointer = ir_argument(l->kernel, l->kernel->body, ty_pointer(l->module, tensor.elem), arg->arg.arg);
    tensor.ref = ir_tensor(&l->b, pointer, extents, strides, tensor.count);
    scope_set(l, arg->arg.arg, tensor);
    return true;
}

static bool scalar_param(Lang *l, const PyNode *arg, const FrontValue *value) {
    Val note = {.kind = VAL_NONE};
    if (arg->arg.annotation && !eval(l, arg->arg.annotation, &note)) return false;
    Elem elem = value->kind == FRONT_FLOAT ? EL_F32 : EL_I32;
    if (note.kind == VAL_DTYPE)
        elem = note.elem;
    else if (note.kind == VAL_TEXT && !elem_from_text(note.text, &elem))
        return lang_error(l, DIAG_TL_DTYPE, arg->range, note.text);
    Ref ref = ir_argument(l->kernel, l->kernel->body, ty_scalar(l->module, elem), arg->arg.arg);
    scope_set(l, arg->arg.arg, val_scalar(l, ref));
    return true;
}

Kernel *tilelang_lower(FrontUnit *unit, const FrontRequest *request) {
    const Found *found = request->kernel->node;
    const PyNode *inner = found->inner;
    Lang l = {.unit = unit,
              .request = request,
              .module = request->module,
              .arena = request->module->arena,
              .diag = request->module->diag};
    define_file(&l, unit->tree);
    Scope *scope = ARENA_NEW(l.arena, Scope);
    scope->outer = l.scope;
    l.scope = scope;
    if (found->outer) {
        Val *given = ARENA_ARRAY(l.arena, Val, found->constants);
        for (int i = 0; i < found->constants; i++) given[i] = from_front(&request->args[i]);
        if (!lang_bind_params(&l, found->outer, given, found->constants)) return NULL;
    }
    l.kernel = ir_kernel_new(l.module, request->kernel->name, inner->range);
    l.b = ir_builder(l.kernel, l.kernel->body);
    /* Host statements of the outer function before the kernel: local constants. */
    for (uint32_t i = 0; found->outer && i < found->outer->FunctionDef.body->count; i++) {
        const PyNode *node = found->outer->FunctionDef.body->at[i];
        if (node == inner) break;
        PyList *single = arena_alloc(l.arena, sizeof(PyList) + sizeof(PyNode *));
        single->count = 1;
        single->at[0] = (PyNode *)node;
        if (!lower_body(&l, single)) return NULL;
    }
    const PyList *args = inner->FunctionDef.args->arguments.args;
    for (uint32_t i = 0; i < args->count; i++) {
        int place = found->constants + (int)i;
        const FrontValue *value = &request->args[place];
        FrontShape *stated = request->shapes ? &request->shapes[place] : NULL;
        l.b.range = args->at[i]->range;
        bool good = is_tensor_annotation(args->at[i]->arg.annotation) ? tensor_param(&l, args->at[i], value, stated)
                                                                      : scalar_param(&l, args->at[i], value);
        if (!good) scope_set(&l, args->at[i]->arg.arg, (Val){.kind = VAL_WRONG});
        l.failed = false;
    }
    if (!lower_body(&l, inner->FunctionDef.body) || l.diag->errors || !check_grid(&l)) return NULL;
    if (!l.kernel->grid) {
        lang_error(&l, DIAG_TL_NO_LAUNCH, inner->range);
        return NULL;
    }
    l.b.range = inner->range;
    ir_return(&l.b);
    l.kernel->form = FORM_SOURCE;
    return ir_verify(l.kernel, FORM_SOURCE, l.diag) ? l.kernel : NULL;
}
