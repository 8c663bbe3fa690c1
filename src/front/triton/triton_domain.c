/* SPDX-License-Identifier: Apache-2.0 */
/* triton_domain.c: the Triton door as a domain of the Python evaluator: what operators, subscripts, calls, assignments
 * and loops do to tensors, and the door's words in messages. */
#include "front/triton/triton.h"
#include "front/python/python_flow.h"

#include <string.h>

const Own tri_block = {0}, tri_descriptor = {0};

/* --- values --- */

static bool is_none(const PyNode *node) { return node->kind == PY_Constant && node->Constant.what == PY_NONE; }
static bool is_open(const PyNode *bound) { return !bound || is_none(bound); }
static bool is_full_slice(const PyNode *node) {
    return node->kind == PY_Slice && is_open(node->Slice.lower) && is_open(node->Slice.upper) &&
           is_open(node->Slice.step);
}

static Val subscript(Lower *l, Val v, const PyNode *node) {
    if (v.kind != VAL_TENSOR) return py_error(l, DIAG_EVAL_SUBSCRIPT, node->range, val_describe(l, v));
    const PyNode *slice = node->Subscript.slice;
    const PyNode *const *parts = slice->kind == PY_Tuple ? (const PyNode *const *)slice->Tuple.elts->at : &slice;
    int count = slice->kind == PY_Tuple ? (int)slice->Tuple.elts->count : 1, named = 0, axis = 0;
    const Type *type = val_type(l, v);
    for (int i = 0; i < count; i++) {
        if (!is_full_slice(parts[i]) && !is_none(parts[i])) return py_error(l, DIAG_TRI_INDEX, parts[i]->range);
        named += is_full_slice(parts[i]);
    }
    if (type->rank == 0) named = 0; /* as in Triton, `:` of a scalar is nothing */
    if (named > type->rank) return py_error(l, DIAG_TRI_INDEX_COUNT, node->range, named, val_type_text(l, type));
    if (type->rank + count - named > MAX_RANK) return py_error(l, DIAG_TRI_RANK, node->range, MAX_RANK);
    for (int i = 0; i < count; i++) {
        if (is_none(parts[i])) v = tri_expand(l, v, axis);
        axis += is_none(parts[i]) || type->rank;
    }
    return v;
}

/* `and`, `or` from a run-time value on: such ones must be boolean and are all computed, constants decide at once. */
static Val logic(Lower *l, const PyNode *node, uint32_t from, Val first) {
    bool is_or = node->BoolOp.op == PY_OP_OR;
    Val result = val_none, last = first;
    for (uint32_t i = from; i < node->BoolOp.values->count; i++) {
        const PyNode *part = node->BoolOp.values->at[i];
        if (i > from) last = py_eval(l, part);
        if (val_failed(last)) return last;
        if (last.kind != VAL_TENSOR) {
            if (val_truth(last) == is_or) return last;
            continue;
        }
        if (val_type(l, last)->elem != EL_I1 || val_type(l, last)->pointer)
            return py_error(l, DIAG_TRI_BOOLEAN, part->range, is_or ? "or" : "and", val_describe(l, last));
        result = result.kind == VAL_TENSOR
                     ? tri_binary(l, is_or ? PY_OP_BITOR : PY_OP_BITAND, result, last, node->range)
                     : last;
        if (val_failed(result)) return result;
    }
    return result.kind == VAL_TENSOR ? result : last;
}

static Val both(Lower *l, Val a, Val b, Range range) { return tri_binary(l, PY_OP_BITAND, a, b, range); }

static const char *describe(Lower *l, Val v) {
    if (v.own == &tri_block) return "a block pointer";
    return v.own == &tri_descriptor ? "a tensor descriptor" : tri_aggregate_text(l, v);
}

/* 1 or 0; -1 for a class that is not known here. */
static int is_instance(Val v, Val cls) {
    bool language = cls.kind == VAL_MODULE && strncmp(cls.text, "triton.language", 15) == 0;
    if (py_is_class(cls, "constexpr")) return v.kind != VAL_TUPLE && val_is_const(v);
    if (py_is_class(cls, "constexpr_type"))
        return v.kind == VAL_MODULE && strcmp(v.text, "triton.language.constexpr_type") == 0;
    if (py_is_class(cls, "pointer_type")) return v.kind == VAL_DTYPE && v.dtype->pointer;
    if (py_is_class(cls, "block_type")) return v.kind == VAL_DTYPE && v.dtype->rank > 0;
    if (py_is_class(cls, "tensor_descriptor") || py_is_class(cls, "tensor_descriptor_base"))
        return val_is_own(v, &tri_descriptor);
    if (language && py_is_class(cls, "tensor")) return v.kind == VAL_TENSOR;
    if (language && py_is_class(cls, "dtype")) return v.kind == VAL_DTYPE;
    return -1;
}

/* --- names and calls --- */

static Val unknown(Lower *l, const PyNode *node, const char *near) {
    return py_error(l, DIAG_EVAL_UNKNOWN, node->range, node->Name.id,
                    near                ? text_suggest(l->arena, "", near)
                    : l->unit->resolver ? FIX "assign it, or define it in this module"
                                        : FIX "assign it, define it in this file, or give it as a definition");
}

static const Type *dtype_given(Module *m, const char *name) {
    return tri_dtype_named(m, strncmp(name, "tl.", 3) == 0 ? name + 3 : name);
}

static const char *dtype_path(Lower *l, const Type *dtype) {
    return arena_printf(l->arena, "triton.language.%s", val_type_text(l, dtype));
}

static const char *suggest_host(Lower *l, const char *path) {
    const char *file = names_suggest_file(l, path);
    return file ? file : tri_suggest_host(l, path);
}

/* tl.dtype("uint16"): the class of dtypes, called with the name of one. */
static bool make_dtype(Lower *l, const char *path, const PyNode *call, Val *dtype) {
    bool is_class = strcmp(path, "triton.language.dtype") == 0 || strcmp(path, "triton.language.core.dtype") == 0;
    if (!is_class || call->Call.args->count != 1 || call->Call.keywords->count) return false;
    const PyNode *arg = call->Call.args->at[0];
    Val name = py_eval(l, arg);
    const Type *type = name.kind == VAL_STR ? tri_dtype_named(l->module, name.text) : NULL;
    if (type)
        *dtype = val_dtype(type);
    else
        *dtype = val_failed(name)
                     ? name
                     : py_error(l, DIAG_EVAL_ARGUMENT, arg->range, "tl.dtype",
                                "the name of a dtype, such as 'int32' or 'fp16'", val_describe(l, name));
    return true;
}

static bool call(Lower *l, Val f, const PyNode *node, Val *out) {
    if (f.kind == VAL_MODULE) {
        bool target = !l->kernel && strcmp(f.text, "triton.runtime.driver.active.get_current_target") == 0;
        if (target) *out = (Val){.kind = VAL_MODULE, .text = "triton.runtime.driver.active.target"};
        return target || (l->kernel && make_dtype(l, f.text, node, out));
    }
    if (f.kind != VAL_DTYPE) return false;
    *out = py_error(l, DIAG_EVAL_NOT_CALLABLE, node->Call.func->range, val_describe(l, f),
                    arena_printf(l->arena, "; to convert x write x.to(tl.%s), for a number tl.full([], x, tl.%s)",
                                 val_text(l, f), val_text(l, f)));
    return true;
}

/* Questions to a dtype: dtype.is_fp16(). */
static bool method(Lower *l, Val v, const PyNode *node, Val *out) {
    if (v.kind != VAL_DTYPE || node->Call.args->count + node->Call.keywords->count) return false;
    *out = tri_dtype_method(l, v.dtype, node->Call.func->Attribute.attr);
    return out->kind != VAL_UNBOUND;
}

static bool call_raw(Lower *l, const Builtin *builtin, const PyNode *node, Val *out) {
    if (builtin->lower == tri_lower_unsupported) /* by its name, whatever its arguments are */
        *out = builtin->lower(l, &(Call){.builtin = builtin, .range = node->Call.func->range});
    else if (builtin->lower == tri_lower_aggregate_replace)
        *out = tri_aggregate_replace(l, node);
    else
        return false;
    return true;
}

static bool call_class(Lower *l, const Host *cls, const PyNode *node, Val *out) {
    const Aggregate *aggregate = tri_aggregate_of(l, cls);
    if (aggregate) *out = tri_aggregate_make(l, aggregate, node);
    return aggregate != NULL;
}

/* --- statements --- */

static bool is_constexpr_annotation(Lower *l, const PyNode *annotation) {
    static const char start[] = "triton.language.";
    const char *path = names_path(l->names, annotation, l->arena), *last = path ? strrchr(path, '.') : NULL;
    return last && strncmp(path, start, sizeof start - 1) == 0 &&
           strcmp(last, ".constexpr") == 0; /* core.constexpr too */
}

static void annotated(Lower *l, const PyNode *node) {
    if (!node->AnnAssign.value) return;
    const PyNode *value = node->AnnAssign.value;
    Val v = py_eval(l, value);
    if (!is_constexpr_annotation(l, node->AnnAssign.annotation)) {
        v = py_decay(l, v, value->range);
    } else if (v.kind == VAL_TENSOR) {
        int64_t number; /* known at run time only, it stays what it is: a use that needs a constant says so */
        if (ir_const_int(l->kernel, v.ref, &number)) v = val_int(number);
    }
    py_assign(l, node->AnnAssign.target, v);
}

/* Is the name marked tl.constexpr, as a parameter or in an assignment of the function? */
typedef struct Declared {
    Lower *l;
    const char *name;
    bool found;
} Declared;

static void find_declared(void *user, PyNode *node) {
    Declared *d = user;
    const PyNode *annotation = NULL;
    if (node->kind == PY_arg && strcmp(node->arg.arg, d->name) == 0) annotation = node->arg.annotation;
    if (node->kind == PY_AnnAssign && py_is_name(node->AnnAssign.target, d->name))
        annotation = node->AnnAssign.annotation;
    if (annotation && is_constexpr_annotation(d->l, annotation)) d->found = true;
    if (!d->found) py_each_child(node, find_declared, user);
}

static bool is_declared_constant(Lower *l, const char *name) {
    Declared declared = {l, name, false};
    py_each_child(l->frame->function->node, find_declared, &declared);
    return declared.found;
}

/* The bounds in their common integer type. */
static bool loop_bounds(Lower *l, const Range3 *range, Range where, Ref bounds[3]) {
    Val v[3] = {range->start, range->stop, range->step};
    for (int i = 0; i < 3; i++) {
        v[i] = tri_to_tensor(l, v[i], where);
        if (val_failed(v[i])) return false;
        const Type *type = val_type(l, v[i]);
        if (type->rank || type->pointer || elem_is_float(type->elem)) {
            py_error(l, DIAG_TRI_LOOP_BOUND, where, val_describe(l, v[i]));
            return false;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (i != k && !tri_promote(l, &v[i], &v[k], 0, where)) return false;
    for (int i = 0; i < 3; i++) bounds[i] = v[i].ref;
    return true;
}

static void assertion(Lower *l, const PyNode *node, Val test, const char *text) {
    if (test.kind != VAL_TENSOR) test = tri_to_tensor(l, val_bool(val_truth(test)), node->range);
    if (tri_state(l)->regions) return; /* see triton_region.c */
    test = tri_cast(l, test, ty_scalar(l->module, EL_I1), node->range);
    if (val_failed(test)) return;
    Op *op = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, op, test.ref);
    if (text[0]) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text});
    ir_end(&l->b, op, NULL);
}

static bool returned(Lower *l, Val v, const PyNode *node) {
    if (v.kind == VAL_NONE) return true;
    py_error(l, DIAG_EVAL_KERNEL_RETURN, node->range, l->frame->function->node->FunctionDef.name);
    return false;
}

static bool assign(Lower *l, const PyNode *target, Val value) {
    return target->kind == PY_Attribute && tri_aggregate_set(l, target, value);
}

static Val number(Lower *l, const Call *c, char to) {
    (void)l, (void)c, (void)to;
    return (Val){.kind = VAL_UNBOUND};
}

/* In plain Python around kernels. */
static bool define(Lower *l, const PyNode *def, Val *function) {
    (void)l, (void)def, (void)function;
    return true;
}

static const char *instead(PyKind kind) {
    switch (kind) {
    case PY_Lambda: return "define a function with @triton.jit at module level";
    case PY_Raise: return "use tl.static_assert or tl.device_assert";
    case PY_FunctionDef:
    case PY_AsyncFunctionDef: return "define it at module level with @triton.jit";
    case PY_ClassDef: return "define it at module level, with @triton.aggregate";
    case PY_Global:
    case PY_Nonlocal: return "a kernel reads tl.constexpr globals and changes none";
    default: return NULL;
    }
}

const Domain tri_domain = {
    .words = {.kernels = "Triton kernels",
              .language = "tl.*",
              .device = "decorate it with @triton.jit",
              .constant = ", or pass it as a tl.constexpr parameter",
              .pass = "pass it as a tl.constexpr parameter",
              .cast = ".to(...)",
              .cast_f32 = ".to(tl.float32)",
              .loops = "range, tl.range or tl.static_range",
              .unroll = "use range instead of tl.static_range",
              .change = "use tl.static_range, or a plain variable",
              .element = "use tl.store for memory, tl.where for tiles",
              .attribute = "assign to a name; fields of a triton.aggregate are set in its __init__ and changed by "
                           "triton.aggregate_replace"},
    .builtins = tri_builtins,
    .builtin_count = TRI_BUILTIN_COUNT,
    .carries = true,
    .asserted = DIAG_EVAL_STATIC_ASSERT,
    .instead = instead,
    .module_path = tri_module_path,
    .is_library = tri_is_library,
    .is_device = tri_is_jit,
    .on_constants = tri_on_constants,
    .define = define,
    .module_attribute = tri_module_attribute,
    .suggest = tri_suggest_name,
    .unknown = unknown,
    .suggest_host = suggest_host,
    .dtype_named = dtype_given,
    .elem_name = tri_dtype_name,
    .dtype_path = dtype_path,
    .binary = tri_binary_written,
    .compare = tri_compare,
    .unary = tri_unary,
    .both = both,
    .logic = logic,
    .choose = py_choose,
    .truth = tri_truth,
    .number = number,
    .to_value = tri_to_tensor,
    .assigned = py_runtime,
    .alike = tri_block_like,
    .attribute = tri_attribute,
    .subscript = subscript,
    .method = method,
    .call = call,
    .is_instance = is_instance,
    .describe = describe,
    .title = tri_title,
    .call_raw = call_raw,
    .call_class = call_class,
    .assign = assign,
    .annotated = annotated,
    .assertion = assertion,
    .stays_constant = is_declared_constant,
    .returned = returned,
    .loop_bounds = loop_bounds,
};
