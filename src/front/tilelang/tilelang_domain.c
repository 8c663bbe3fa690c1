/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_domain.c: the TileLang door as a domain of the Python evaluator: attributes, subscripts and calls of its own
 * things, and the door's words in messages. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

const Own lang_storage_own = {.whole = true}, lang_box_own = {.whole = true}, lang_symbol_own = {.whole = true},
          lang_loop_own = {.whole = true}, lang_note_own = {.whole = true}, lang_layout_own = {.whole = true},
          lang_persistent_own = {.whole = true}, lang_fresh_own = {.whole = true},
          lang_scheduler_own = {.whole = true}, lang_reducer_own = {.whole = true},
          lang_emitter_own = {.whole = true};

static const Builtin builtins[] = {
#define BUILTIN(name, kinds, signature, function, code, doc) {#name, kinds, signature, function, code, doc},
#include "front/tilelang/tilelang.def"
#undef BUILTIN
};

Val lang_own(Lower *l, const Own *own, const void *thing, size_t size) {
    return (Val){.kind = VAL_OWN, .own = own, .thing = arena_copy(l->arena, thing, size)};
}

Val lang_plain(Val v) {
    const Symbol *symbol = lang_thing(v, &lang_symbol_own);
    return symbol && symbol->known ? val_int(symbol->value) : v;
}

bool lang_missing(Lower *l, Val v, Range range) {
    Symbol *symbol = (Symbol *)lang_thing(v, &lang_symbol_own);
    if (!symbol || symbol->known) return false;
    if (!symbol->missed) py_error(l, DIAG_TL_MISSING_CONSTANT, range, symbol->name, symbol->name);
    symbol->missed = true;
    return true;
}

static const char *describe(Lower *l, Val v) {
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    const Symbol *symbol = lang_thing(v, &lang_symbol_own);
    if (storage && storage->kind == STORE_VARIABLE) return "a variable";
    if (storage) return lang_shape_text(l, storage, storage->shape);
    if (box) return lang_shape_text(l, box->of, box->shape);
    if (symbol) return arena_printf(l->arena, "the size `%s`, which no argument gives", symbol->name);
    if (v.own == &lang_emitter_own) return "an emitter of instructions";
    return v.own == &lang_loop_own ? "T.Parallel" : v.own == &lang_note_own ? "a tensor's type" : "a layout";
}

/* --- attributes, subscripts, calls --- */

static Val attribute(Lower *l, Val v, const char *attr, Range range) {
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    Elem elem;
    if (val_is_own(v, &lang_scheduler_own)) return lang_scheduler_attribute(l, v.thing, attr, range);
    if (val_is_own(v, &lang_emitter_own)) return lang_emitter_attribute(l, v.thing, attr, range);
    if (lang_packed(v) && strcmp(attr, "bits") == 0) return val_int(4);
    if (v.kind == VAL_DTYPE || (v.kind == VAL_STR && lang_elem(v.text, &elem)))
        return lang_dtype_attribute(l, v.kind == VAL_DTYPE ? v.dtype : ty_scalar(l->module, elem), attr);
    if (storage && strcmp(attr, "shape") == 0) {
        Val items[MAX_RANK];
        for (int d = 0; d < storage->rank; d++) items[d] = val_int(storage->shape[d]);
        return val_tuple(l, items, storage->rank);
    }
    if (strcmp(attr, "dtype") == 0) {
        if (storage || box) return lang_dtype_of(l, storage ? storage : box->of);
        if (v.kind == VAL_TENSOR) return val_dtype(ty_scalar(l->module, val_type(l, v)->elem));
    }
    if (storage && storage->kind != STORE_VARIABLE && strcmp(attr, "data") == 0) return v; /* for T.Tensor */
    return py_error(l, DIAG_TL_UNSUPPORTED, range,
                    arena_printf(l->arena, "the attribute `%s` of %s", attr, val_describe(l, v)),
                    strcmp(attr, "to") == 0 ? "T.cast(x, \"float32\") converts a number, T.copy a tile"
                                            : "tensors and tiles have `shape` and `dtype`, numbers `dtype` and "
                                              "`astype`");
}

static Val subscript(Lower *l, Val v, const PyNode *node) {
    const Storage *storage = lang_storage(v);
    if (storage && storage->kind != STORE_VARIABLE) return lang_index(l, storage, node);
    if (lang_thing(v, &lang_barrier_own)) return lang_barrier_at(l, v, node);
    if (v.kind == VAL_BUILTIN && v.builtin->lower == lang_lower_tensor) { /* T.Tensor[shape, dtype] */
        Val parts = py_eval(l, node->Subscript.slice);
        if (val_failed(parts)) return parts;
        bool tuple = parts.kind == VAL_TUPLE && parts.count, sizes = true;
        for (int i = 0; tuple && i < parts.count; i++) /* T.Tensor[16, 8]: a shape alone */
            sizes = sizes && (parts.items[i].kind == VAL_INT || val_is_own(parts.items[i], &lang_symbol_own));
        if (tuple && !sizes && parts.count <= 3) return py_apply(l, v, parts.items, parts.count, node->range);
        return py_apply(l, v, &parts, 1, node->range);
    }
    const char *declare = v.kind == VAL_TENSOR ? "; a tensor is declared as such: `A: T.Tensor(shape, dtype)`" : "";
    return py_error(l, DIAG_TL_INDEX, node->range,
                    arena_printf(l->arena, "%s cannot be indexed%s", val_describe(l, v), declare));
}

static Val cast(Lower *l, Val v, Elem elem, Range range) {
    Ref ref;
    if (val_failed(v) || !py_need_ir(l, range)) return val_error;
    return lang_convert(l, v, elem, range, &ref) ? val_tensor(ref) : val_error;
}

/* x.astype(dtype) */
static bool method(Lower *l, Val v, const PyNode *node, Val *out) {
    const PyList *args = node->Call.args;
    if (val_is_own(v, &lang_scheduler_own)) {
        *out = lang_scheduler_method(l, v.thing, node->Call.func->Attribute.attr, node);
        return true;
    }
    if (val_is_own(v, &lang_emitter_own)) {
        *out = lang_emitter_method(l, v.thing, node->Call.func->Attribute.attr, node);
        return true;
    }
    bool number = v.kind == VAL_TENSOR || v.kind == VAL_OWN || val_is_number(v);
    if (!number || strcmp(node->Call.func->Attribute.attr, "astype") != 0 || args->count != 1) return false;
    Val dtype = py_eval(l, args->at[0]);
    Elem elem;
    bool good = !val_failed(dtype) && lang_elem_of(dtype, &elem);
    if (!good && !val_failed(dtype)) py_error(l, DIAG_TL_DTYPE, node->range, val_text(l, dtype));
    Packed packed = good ? lang_packed(dtype) : PACKED_NOT;
    Val wide = packed ? lang_scalar(l, v, node->range) : val_none;
    if (wide.kind == VAL_TENSOR)
        *out = val_tensor(lang_narrow(l, packed, wide.ref));
    else
        *out = good && !val_failed(wide) ? cast(l, v, elem, node->range) : val_error;
    return true;
}

/* A dtype called with a number converts it. Helpers that make layouts say where elements lie, which is chosen here. */
static bool call(Lower *l, Val f, const PyNode *node, Val *out) {
    if (f.kind == VAL_MODULE && strncmp(f.text, "tilelang.", 9) == 0 && strstr(strrchr(f.text, '.'), "layout")) {
        *out = lang_own(l, &lang_layout_own, "", 1);
        return true;
    }
    bool makes = f.kind == VAL_MODULE &&
                 (strcmp(f.text, "tvm.DataType") == 0 || strcmp(f.text, "tvm.DLDataType") == 0 ||
                  strcmp(f.text, "tilelang.DataType") == 0);
    if ((f.kind != VAL_DTYPE && !makes) || node->Call.args->count != 1) return false;
    if (makes) {
        *out = py_apply(l, (Val){.kind = VAL_BUILTIN, .builtin = py_builtin(l, "dtype", 'T')},
                        (Val[]){py_eval(l, node->Call.args->at[0])}, 1, node->range);
        return true;
    }
    Val v = lang_plain(py_eval(l, node->Call.args->at[0]));
    bool constant = !l->kernel && val_is_number(v);
    *out = constant ? v : cast(l, v, f.dtype->elem, node->range);
    return true;
}

static bool call_raw(Lower *l, const Builtin *builtin, const PyNode *node, Val *out) {
    bool refused = builtin->lower == lang_lower_planned || builtin->lower == lang_lower_other_chip;
    if (refused)
        *out = builtin->lower(l, &(Call){.builtin = builtin, .range = node->Call.func->range});
    else if (strcmp(builtin->name, "if_then_else") == 0 && node->Call.args->count == 3 && !node->Call.keywords->count)
        *out = py_need_ir(l, node->range) ? lang_if_then_else(l, node) : val_error;
    else
        return false;
    return true;
}

static bool call_class(Lower *l, const Host *cls, const PyNode *node, Val *out) {
    (void)l, (void)cls, (void)node, (void)out;
    return false;
}

static int is_instance(Val v, Val cls) {
    (void)v, (void)cls;
    return -1;
}

static const char *title(Lower *l, const Builtin *builtin) {
    return arena_printf(l->arena, "%s%s", strchr(builtin->kinds, 'T') ? "T." : "", builtin->name);
}

/* --- names --- */

static bool is_device(const Names *names, const PyNode *def, Arena *arena) {
    (void)names, (void)def, (void)arena;
    return true; /* every function is run where it is called */
}

static bool on_constants(const Names *names, const PyNode *def, Arena *arena) {
    (void)names, (void)def, (void)arena;
    return false;
}

static const char *suggest(Lower *l, const char *id) {
    return py_builtin(l, id, 'T') ? arena_printf(l->arena, "T.%s", id) : NULL;
}

static const char *suggest_host(Lower *l, const char *path) {
    const char *file = names_suggest_file(l, path), *dot = strrchr(path, '.');
    const char *own = dot ? suggest(l, dot + 1) : NULL;
    return own ? arena_printf(l->arena, "`%s` is there; ", own) : file ? file : "";
}

static Val unknown(Lower *l, const PyNode *node, const char *near) {
    return py_error(l, DIAG_TL_UNKNOWN_NAME, node->range, node->Name.id, node->Name.id,
                    text_suggest(l->arena, "", near));
}

static const Type *dtype_named(Module *m, const char *name) {
    Elem elem;
    return lang_elem(strncmp(name, "T.", 2) == 0 ? name + 2 : name, &elem) ? ty_scalar(m, elem) : NULL;
}

static const char *dtype_path(Lower *l, const Type *dtype) {
    return arena_printf(l->arena, "tilelang.language.%s", lang_elem_name(dtype->elem));
}

/* --- values and statements --- */

static Val number(Lower *l, const Call *c, char to) {
    return to == 'b' ? lang_truth(l, c->args[0], c->range) : cast(l, c->args[0], to == 'f' ? EL_F32 : EL_I32, c->range);
}

/* A name is bound to what an element or variable is now; T.alloc_var itself names the variable. */
static Val assigned(Lower *l, Val v, Range range) {
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    if (val_is_own(v, &lang_fresh_own)) {
        v.own = &lang_storage_own;
        return v;
    }
    if (storage && storage->kind == STORE_VARIABLE) return lang_variable_load(l, storage, range);
    if (box && lang_is_element(box)) return lang_load(l, box, range);
    if (v.kind != VAL_TUPLE) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, v.count), out = v;
    for (int i = 0; i < v.count; i++) items[i] = assigned(l, v.items[i], range);
    out.items = items;
    return out;
}

static Val alike(Lower *l, Val v, Val like, bool narrow, Range range) {
    (void)l, (void)like, (void)narrow, (void)range;
    return v;
}

/* Sizes are known here, so an assert is decided here. */
static void assertion(Lower *l, const PyNode *node, Val test, const char *text) {
    if (val_is_const(test))
        py_error(l, DIAG_TL_ASSERT, node->range, text[0] ? ": " : "", text);
    else
        py_error(l, DIAG_TL_UNSUPPORTED, node->range, "an assert on run-time values",
                 "assert what is known when the kernel is compiled, or write T.device_assert");
}

static bool stays_constant(Lower *l, const char *name) {
    (void)l, (void)name;
    return true;
}

/* A kernel in the eager style returns its outputs, which are parameters here. */
static bool returned(Lower *l, Val v, const PyNode *node) {
    bool outputs = v.kind == VAL_NONE || lang_storage(v);
    for (int i = 0; v.kind == VAL_TUPLE && i < v.count; i++) outputs = lang_storage(v.items[i]) && (outputs || i == 0);
    if (!outputs)
        py_error(l, DIAG_TL_UNSUPPORTED, node->range, "a value that a kernel returns",
                 "write it to a tensor; `C = T.empty(shape, dtype)` makes one that may be returned");
    return outputs;
}

static const char *instead(PyKind kind) {
    (void)kind;
    return NULL;
}

const Domain lang_domain = {
    .words = {.kernels = "TileLang kernels",
              .language = "T.*",
              .device = "decorate it with @T.macro",
              .constant = ", or give it as a definition",
              .pass = "give it as a definition",
              .cast = "T.cast",
              .cast_f32 = "T.cast",
              .loops = "T.Parallel, T.Pipelined, T.serial, range or a list",
              .unroll = "use a run-time loop, such as T.serial",
              .change = "keep what changes in T.alloc_var",
              .element = "assign to an element of a tensor, tile or list",
              .attribute = "assign to a name or an element"},
    .builtins = builtins,
    .builtin_count = sizeof builtins / sizeof *builtins,
    .host_in_kernels = true,
    .imported = true,
    .forgives = true,
    .asserted = DIAG_TL_ASSERT,
    .instead = instead,
    .module_path = lang_module_path,
    .is_library = lang_is_library,
    .is_device = is_device,
    .on_constants = on_constants,
    .define = lang_define,
    .module_attribute = lang_module_attribute,
    .suggest = suggest,
    .suggest_host = suggest_host,
    .unknown = unknown,
    .dtype_named = dtype_named,
    .elem_name = lang_elem_name,
    .dtype_path = dtype_path,
    .binary = lang_binary,
    .compare = lang_compare,
    .unary = lang_unary,
    .both = lang_both,
    .logic = lang_logic,
    .choose = lang_choose,
    .truth = lang_truth,
    .number = number,
    .to_value = lang_scalar,
    .assigned = assigned,
    .alike = alike,
    .attribute = attribute,
    .subscript = subscript,
    .method = method,
    .call = call,
    .same = lang_equal,
    .is_instance = is_instance,
    .describe = describe,
    .title = title,
    .call_raw = call_raw,
    .call_class = call_class,
    .live = lang_live,
    .bind = lang_bind,
    .assign = lang_assign,
    .augmented = lang_augmented,
    .annotated = lang_annotated,
    .assertion = assertion,
    .stays_constant = stays_constant,
    .returned = returned,
    .with = lang_with,
    .loop = lang_for,
    .loop_begin = lang_loop_begin,
    .loop_end = lang_loop_end,
    .loop_bounds = lang_loop_bounds,
};
