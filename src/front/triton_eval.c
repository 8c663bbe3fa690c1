/* triton_eval.c: runs a Python expression of a Triton kernel; gives a Val.
 *
 *     x[:, None] + tl.arange(0, N)      subscript: expand; call: iota; `+`: promotion, then `add`
 *
 * What Triton's language does not have (lambda, comprehension, dict, ...) is refused by name. */
#include "front/triton.h"

#include <string.h>

static Val eval_constant(Lower *l, const PyNode *node) {
    switch (node->Constant.what) {
    case PY_NONE: return val_none;
    case PY_TRUE: return tri_val_bool(true);
    case PY_FALSE: return tri_val_bool(false);
    case PY_INT: return tri_val_int((PyInt)node->Constant.integer);
    case PY_FLOAT: return tri_val_float(node->Constant.real);
    case PY_STR: return tri_val_str(node->Constant.text->at);
    case PY_BIGINT:
        return tri_error(l, DIAG_TRI_NUMBER_RANGE, node->range, node->Constant.text->at,
                         "any integer type");
    case PY_ELLIPSIS:
    case PY_IMAGINARY:
    case PY_BYTES: break;
    }
    return tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "this kind of constant");
}

static Val eval_name(Lower *l, const PyNode *node) {
    const char *id = node->Name.id;
    if (l->frame)
        for (size_t i = 0; i < l->frame->locals.count; i++)
            if (strcmp(l->frame->locals.at[i].name, id) == 0) {
                Val v = l->frame->locals.at[i].val;
                if (v.kind != VAL_UNBOUND) return v;
                return tri_error(l, DIAG_TRI_UNBOUND, node->range, id, v.text);
            }
    Val v = tri_names_lookup(l, id, node->range);
    if (v.kind != VAL_UNBOUND) return v;
    VEC(const char *) known = {0};
    for (size_t i = 0; l->frame && i < l->frame->locals.count; i++)
        *VEC_PUSH(&known, l->arena) = l->frame->locals.at[i].name;
    const char *near = text_nearest(id, known.at, known.count);
    return tri_error(l, DIAG_TRI_UNKNOWN, node->range, id,
                     near ? arena_printf(l->arena, "; did you mean `%s`?", near)
                          : "; assign it, define it in this file, or pass it with -D");
}

/* --- attributes --- */

static Val scalar_of(Lower *l, const Type *type) {
    return tri_val_dtype(type->pointer ? ty_pointer(l->module, type->elem)
                                       : ty_scalar(l->module, type->elem));
}
static Val shape_of(Lower *l, const Type *type) {
    Val items[MAX_RANK];
    for (int d = 0; d < type->rank; d++) items[d] = tri_val_int(type->extent[d]);
    return tri_val_tuple(l, items, type->rank);
}

static Val dtype_attribute(Lower *l, const Type *type, const PyNode *node) {
    const char *attr = node->Attribute.attr;
    if (strcmp(attr, "element_ty") == 0) {
        if (type->rank == 0)
            return tri_val_dtype(
                ty_scalar(l->module, type->elem)); /* of a pointer: what it points to */
        return scalar_of(l, type);
    }
    if (strcmp(attr, "scalar") == 0) return scalar_of(l, type);
    if (strcmp(attr, "primitive_bitwidth") == 0 || strcmp(attr, "int_bitwidth") == 0)
        return tri_val_int(type->pointer ? 64 : elem_info[type->elem].bits);
    if (strcmp(attr, "itemsize") == 0) return tri_val_int(ty_elem_bytes(type));
    if (strcmp(attr, "name") == 0) return tri_val_str(tri_type_text(l, type));
    if (strcmp(attr, "shape") == 0) return shape_of(l, type);
    return tri_error(l, DIAG_TRI_ATTRIBUTE, node->range, "a dtype", attr);
}

/* dtype.is_fp16() and its kin: the answer to a call of such a method. */
static bool dtype_question(const Type *type, const char *name, bool *answer) {
    Elem e = type->elem;
    bool number = !type->pointer;
    const struct {
        const char *name;
        bool answer;
    } table[] = {
        {"is_fp8", number && elem_is_float(e) && elem_info[e].bits == 8},
        {"is_fp16", number && e == EL_F16},
        {"is_bf16", number && e == EL_BF16},
        {"is_fp32", number && e == EL_F32},
        {"is_fp64", number && e == EL_F64},
        {"is_int1", number && e == EL_I1},
        {"is_bool", number && e == EL_I1},
        {"is_int8", number && e == EL_I8},
        {"is_int16", number && e == EL_I16},
        {"is_int32", number && e == EL_I32},
        {"is_int64", number && e == EL_I64},
        {"is_uint8", number && e == EL_U8},
        {"is_uint16", number && e == EL_U16},
        {"is_uint32", number && e == EL_U32},
        {"is_uint64", number && e == EL_U64},
        {"is_floating", number && elem_is_float(e)},
        {"is_standard_floating", number && elem_is_float(e) && elem_info[e].bits > 8},
        {"is_int", number && !elem_is_float(e)},
        {"is_int_signed", number && elem_is_signed(e)},
        {"is_int_unsigned", number && (e == EL_I1 || elem_info[e].cls == CLASS_UINT)},
        {"is_ptr", type->pointer},
        {"is_block", type->rank > 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) {
            *answer = table[i].answer;
            return true;
        }
    return false;
}

static Val tensor_attribute(Lower *l, Val v, const PyNode *node) {
    const char *attr = node->Attribute.attr;
    const Type *type = tri_val_type(l, v);
    if (strcmp(attr, "dtype") == 0) return scalar_of(l, type);
    if (strcmp(attr, "type") == 0) return tri_val_dtype(type);
    if (strcmp(attr, "shape") == 0) return shape_of(l, type);
    if (strcmp(attr, "numel") == 0) return tri_val_int(ty_elements(type));
    if (strcmp(attr, "T") == 0) {
        if (type->rank != 2)
            return tri_error(l, DIAG_TRI_TRANSPOSE, node->range, tri_type_text(l, type));
        return tri_val_tensor(ir_permute(&l->b, v.ref, (int64_t[]){1, 0}, 2));
    }
    const Builtin *builtin = tri_builtin_find(attr, 'm');
    if (!builtin) {
        VEC(const char *) all = {0};
        for (size_t i = 0; i < tri_builtin_count; i++)
            if (strchr(tri_builtins[i].kinds, 'm'))
                *VEC_PUSH(&all, l->arena) = tri_builtins[i].name;
        const char *near = text_nearest(attr, all.at, all.count);
        return tri_error(l, DIAG_TRI_UNKNOWN, node->range, arena_printf(l->arena, ".%s", attr),
                         near ? arena_printf(l->arena, "; did you mean `.%s`?", near) : "");
    }
    return (Val){
        .kind = VAL_BUILTIN, .builtin = builtin, .self = arena_copy(l->arena, &v, sizeof v)};
}

static Val eval_attribute(Lower *l, const PyNode *node) {
    Val v = tri_eval(l, node->Attribute.value);
    const char *attr = node->Attribute.attr;
    switch (v.kind) {
    case VAL_ERROR: return v;
    case VAL_MODULE: return tri_names_attribute(l, v.text, attr, node->range);
    case VAL_HOST: return tri_live_attribute(l, v.host, attr, node->range);
    case VAL_DTYPE: return dtype_attribute(l, v.dtype, node);
    case VAL_TENSOR: return tensor_attribute(l, v, node);
    case VAL_BOOL:
    case VAL_INT:
    case VAL_FLOAT: {
        if (strcmp(attr, "value") == 0) return v; /* tl.constexpr's own */
        /* Triton makes a number argument of 1 a constant, on which `.to` fails; here it works. */
        Val tensor = tri_to_tensor(l, v, node->range);
        return tri_val_failed(tensor) ? tensor : tensor_attribute(l, tensor, node);
    }
    case VAL_STR:
    case VAL_NONE:
        if (strcmp(attr, "value") == 0) return v;
        break;
    default: break;
    }
    return tri_error(l, DIAG_TRI_ATTRIBUTE, node->range, tri_val_describe(l, v), attr);
}

/* --- subscripts --- */

static bool is_none(const PyNode *node) {
    return node->kind == PY_Constant && node->Constant.what == PY_NONE;
}
static bool is_full_slice(const PyNode *node) {
    return node->kind == PY_Slice && !node->Slice.lower && !node->Slice.upper && !node->Slice.step;
}

static Val tensor_subscript(Lower *l, Val v, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    const PyNode *const *parts =
        slice->kind == PY_Tuple ? (const PyNode *const *)slice->Tuple.elts->at : &slice;
    int count = slice->kind == PY_Tuple ? (int)slice->Tuple.elts->count : 1, named = 0, axis = 0;
    const Type *type = tri_val_type(l, v);
    for (int i = 0; i < count; i++) {
        if (!is_full_slice(parts[i]) && !is_none(parts[i]))
            return tri_error(l, DIAG_TRI_INDEX, parts[i]->range);
        named += is_full_slice(parts[i]);
    }
    if (named > type->rank)
        return tri_error(l, DIAG_TRI_INDEX_COUNT, node->range, named, tri_type_text(l, type));
    if (type->rank + count - named > MAX_RANK)
        return tri_error(l, DIAG_TRI_RANK, node->range, MAX_RANK);
    for (int i = 0; i < count; i++, axis++)
        if (is_none(parts[i])) v = tri_val_tensor(ir_expand(&l->b, v.ref, axis));
    return v;
}

static Val eval_slice_bound(Lower *l, const PyNode *node, PyInt otherwise) {
    Val v = node ? tri_eval(l, node) : tri_val_int(otherwise);
    if (tri_val_failed(v) || v.kind == VAL_INT) return v;
    return tri_error(l, DIAG_TRI_NEED_CONSTANT, node->range, "the index of a tuple",
                     tri_val_describe(l, v));
}

static Val tuple_subscript(Lower *l, Val v, const PyNode *node) {
    const PyNode *slice = node->Subscript.slice;
    if (slice->kind == PY_Slice) {
        Val low = eval_slice_bound(l, slice->Slice.lower, 0),
            high = eval_slice_bound(l, slice->Slice.upper, v.count);
        if (tri_val_failed(low) || tri_val_failed(high)) return val_error;
        PyInt a = low.i < 0 ? low.i + v.count : low.i, b = high.i < 0 ? high.i + v.count : high.i;
        a = a < 0 ? 0 : a > v.count ? v.count : a;
        b = b < a ? a : b > v.count ? v.count : b;
        return tri_val_tuple(l, v.items + a, (int)(b - a));
    }
    Val index = eval_slice_bound(l, slice, 0);
    if (tri_val_failed(index)) return index;
    PyInt i = index.i < 0 ? index.i + v.count : index.i;
    if (i < 0 || i >= v.count)
        return tri_error(l, DIAG_TRI_TUPLE_INDEX, node->range, (int)index.i, v.count);
    return v.items[i];
}

static Val eval_subscript(Lower *l, const PyNode *node) {
    Val v = tri_eval(l, node->Subscript.value);
    if (tri_val_failed(v)) return v;
    if (v.kind == VAL_TENSOR) return tensor_subscript(l, v, node);
    if (v.kind == VAL_TUPLE) return tuple_subscript(l, v, node);
    return tri_error(l, DIAG_TRI_SUBSCRIPT, node->range, tri_val_describe(l, v));
}

/* --- operators --- */

static Val eval_compare(Lower *l, const PyNode *node) {
    Val left = tri_eval(l, node->Compare.left), all = val_none;
    for (uint32_t i = 0; i < node->Compare.ops->count; i++) {
        Val right = tri_eval(l, node->Compare.comparators->at[i]);
        Val one = tri_compare(l, node->Compare.ops->at[i], left, right, node->range);
        if (tri_val_failed(one)) return one;
        if (one.kind == VAL_BOOL && !one.i) return one;
        bool both = all.kind == VAL_TENSOR && one.kind == VAL_TENSOR;
        all = both                     ? tri_binary(l, PY_OP_BITAND, all, one, node->range)
              : all.kind == VAL_TENSOR ? all
                                       : one;
        left = right;
    }
    return all;
}

/* `and`, `or`: constants decide at once; run-time values must be boolean and are all computed. */
static Val eval_bool(Lower *l, const PyNode *node) {
    bool is_or = node->BoolOp.op == PY_OP_OR;
    Val result = val_none, last = val_none;
    for (uint32_t i = 0; i < node->BoolOp.values->count; i++) {
        const PyNode *part = node->BoolOp.values->at[i];
        last = tri_eval(l, part);
        if (tri_val_failed(last)) return last;
        if (last.kind != VAL_TENSOR) {
            if (tri_val_truth(last) == is_or) return last;
            continue;
        }
        if (tri_val_type(l, last)->elem != EL_I1 || tri_val_type(l, last)->pointer)
            return tri_error(l, DIAG_TRI_BOOLEAN, part->range, is_or ? "or" : "and",
                             tri_val_describe(l, last));
        result = result.kind == VAL_TENSOR
                     ? tri_binary(l, is_or ? PY_OP_BITOR : PY_OP_BITAND, result, last, node->range)
                     : last;
        if (tri_val_failed(result)) return result;
    }
    return result.kind == VAL_TENSOR ? result : last;
}

static Val eval_conditional(Lower *l, const PyNode *node) {
    const PyNode *test = node->IfExp.test;
    Val condition = tri_truth(l, tri_eval(l, test), test->range);
    if (tri_val_failed(condition)) return condition;
    if (condition.kind == VAL_BOOL)
        return tri_eval(l, condition.i ? node->IfExp.body : node->IfExp.orelse);
    return tri_choose(l, condition.ref, node->IfExp.body, node->IfExp.orelse, node->range);
}

static Val eval_list(Lower *l, const PyList *list) {
    Val *items = ARENA_ARRAY(l->arena, Val, list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->at[i]->kind == PY_Starred)
            return tri_error(l, DIAG_TRI_UNSUPPORTED, list->at[i]->range, "`*` in a tuple");
        items[i] = tri_eval(l, list->at[i]);
        if (tri_val_failed(items[i])) return val_error;
    }
    return (Val){.kind = VAL_TUPLE, .items = items, .count = (int)list->count};
}

static Val eval_joined(Lower *l, const PyNode *node) {
    Text out = text_new(l->arena);
    for (uint32_t i = 0; i < node->JoinedStr.values->count; i++) {
        const PyNode *part = node->JoinedStr.values->at[i];
        bool field = part->kind == PY_FormattedValue;
        Val v = tri_eval(l, field ? part->FormattedValue.value : part);
        if (tri_val_failed(v)) return v;
        if (!tri_val_is_const(v))
            return tri_error(l, DIAG_TRI_NEED_CONSTANT, part->range, "a field of an f-string",
                             tri_val_describe(l, v));
        text_add(&out, "%s", tri_val_text(l, v));
    }
    return tri_val_str(out.at);
}

Val tri_call(Lower *l, Val f, const PyNode *node) {
    switch (f.kind) {
    case VAL_ERROR: return f;
    case VAL_BUILTIN: return tri_call_builtin(l, f.builtin, f.self, node);
    case VAL_FUNCTION: return tri_call_function(l, f.function, node);
    case VAL_HOST: return tri_live_call(l, f.host, node);
    case VAL_MODULE: return tri_error(l, DIAG_TRI_HOST, node->Call.func->range, f.text);
    default:
        return tri_error(l, DIAG_TRI_NOT_CALLABLE, node->Call.func->range, tri_val_describe(l, f));
    }
}

/* Methods of dtypes are questions; everything else is looked up first and called then. */
static Val eval_call(Lower *l, const PyNode *node) {
    const PyNode *func = node->Call.func;
    if (func->kind == PY_Attribute && strncmp(func->Attribute.attr, "is_", 3) == 0) {
        Val v = tri_eval(l, func->Attribute.value);
        bool answer;
        if (tri_val_failed(v)) return v;
        if (v.kind == VAL_DTYPE && dtype_question(v.dtype, func->Attribute.attr, &answer))
            return tri_val_bool(answer);
    }
    return tri_call(l, tri_eval(l, func), node);
}

static const char *construct_name(const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Lambda: return "`lambda`";
    case PY_Dict: return "a dict";
    case PY_Set: return "a set";
    case PY_ListComp:
    case PY_SetComp:
    case PY_DictComp:
    case PY_GeneratorExp: return "a comprehension";
    case PY_Await: return "`await`";
    case PY_Yield:
    case PY_YieldFrom: return "`yield`";
    case PY_Starred: return "`*`";
    default: return "this expression";
    }
}

static Val eval_node(Lower *l, const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Constant: return eval_constant(l, node);
    case PY_Name: return eval_name(l, node);
    case PY_Attribute: return eval_attribute(l, node);
    case PY_Subscript: return eval_subscript(l, node);
    case PY_Call: return eval_call(l, node);
    case PY_BinOp: {
        Val left = tri_eval(l, node->BinOp.left), right = tri_eval(l, node->BinOp.right);
        return tri_binary(l, node->BinOp.op, left, right, node->range);
    }
    case PY_UnaryOp:
        return tri_unary(l, node->UnaryOp.op, tri_eval(l, node->UnaryOp.operand), node->range);
    case PY_Compare: return eval_compare(l, node);
    case PY_BoolOp: return eval_bool(l, node);
    case PY_IfExp: return eval_conditional(l, node);
    case PY_Tuple: return eval_list(l, node->Tuple.elts);
    case PY_List: return eval_list(l, node->List.elts);
    case PY_JoinedStr: return eval_joined(l, node);
    case PY_NamedExpr: {
        Val v = tri_eval(l, node->NamedExpr.value);
        tri_assign(l, node->NamedExpr.target, v);
        return v;
    }
    default: return tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, construct_name(node));
    }
}

bool tri_step(Lower *l, Range range) {
    if (++l->steps <= TRITON_MAX_STEPS) return true;
    if (!l->exhausted) tri_error(l, DIAG_TRI_STEPS, range, TRITON_MAX_STEPS);
    l->exhausted = true;
    return false;
}

Val tri_eval(Lower *l, const PyNode *node) {
    if (!tri_step(l, node->range)) return val_error;
    if (l->depth >= TRITON_MAX_DEPTH)
        return tri_error(l, DIAG_TRI_DEPTH, node->range, TRITON_MAX_DEPTH);
    Range outer = l->b.range;
    l->b.range = node->range;
    l->depth++;
    Val v = eval_node(l, node);
    l->depth--;
    l->b.range = outer;
    return v;
}
