/* tilelang_expr.c: expressions of a TileLang kernel.
 *
 * Host values follow Python: integers, `//` and `%` floor, `/` gives a float. Traced scalars meet as in TVM: in the
 * wider type, float over integer, f32 over f16, signed over unsigned of one width. A host integer is an int32 (int64 if
 * it must be), so two int8 multiply in int8 and an int8 times 3 in int32; a traced float meets a host number in its own
 * type. */
#include "front/tilelang/tilelang.h"

#include <math.h>
#include <string.h>

Val lang_int(int64_t i) { return (Val){.kind = VAL_INT, .i = i}; }
Val val_scalar(Lang *l, Ref ref) {
    return (Val){.kind = VAL_SCALAR, .ref = ref, .elem = ir_type(l->kernel, ref)->elem};
}

char *lang_text(Lang *l, const Val *val) {
    switch (val->kind) {
    case VAL_WRONG:
    case VAL_NONE: return arena_printf(l->arena, "None");
    case VAL_BOOL: return arena_printf(l->arena, "%s", val->i ? "True" : "False");
    case VAL_INT: return arena_printf(l->arena, "%lld", (long long)val->i);
    case VAL_FLOAT: return arena_printf(l->arena, "%g", val->f);
    case VAL_TEXT: return arena_printf(l->arena, "\"%s\"", val->text);
    case VAL_TUPLE: return arena_printf(l->arena, "a tuple of %d", val->count);
    case VAL_DTYPE: return arena_printf(l->arena, "the type %s", elem_info[val->elem].text);
    case VAL_MODULE: return arena_printf(l->arena, "`%s`", val->text);
    case VAL_DEF: return arena_printf(l->arena, "the function `%s`", val->node->FunctionDef.name);
    case VAL_SCALAR: return arena_printf(l->arena, "a run-time %s", elem_info[val->elem].text);
    case VAL_TENSOR:
    case VAL_BUFFER:
    case VAL_REGION: {
        Text text = text_new(l->arena);
        text_add(&text, "%s %s[", val->kind == VAL_TENSOR || val->is_tensor ? "tensor" : "tile",
                 elem_info[val->elem].text);
        for (int d = 0; d < val->count; d++) text_add(&text, "%s%lld", d ? "," : "", (long long)val->shape[d]);
        text_add(&text, "]");
        return text.at;
    }
    }
    return arena_printf(l->arena, "a value");
}

static bool is_host_number(const Val *v) { return v->kind == VAL_BOOL || v->kind == VAL_INT || v->kind == VAL_FLOAT; }
static double host_float(const Val *v) { return v->kind == VAL_FLOAT ? v->f : (double)v->i; }

/* --- host arithmetic --- */

static HostNumber host_of(const Val *v) {
    if (v->kind == VAL_FLOAT) return (HostNumber){.kind = HOST_FLOAT, .f = v->f};
    return (HostNumber){.kind = v->kind == VAL_BOOL ? HOST_BOOL : HOST_INT, .i = v->i};
}

static bool host_arithmetic(Lang *l, PyOp op, const Val *x, const Val *y, Range range, Val *out) {
    HostNumber r;
    HostResult result = host_binary(op, host_of(x), host_of(y), &r);
    bool fits = result != HOST_OK || r.kind == HOST_FLOAT || (r.i >= INT64_MIN && r.i <= INT64_MAX);
    if (result == HOST_DIVIDE_BY_ZERO)
        return lang_error(l, DIAG_TL_TYPES, range, "division by zero; check the sizes of the kernel");
    if (result == HOST_TOO_LARGE || !fits)
        return lang_error(l, DIAG_TL_TYPES, range, "the result does not fit 64 bits");
    if (result == HOST_NO_OPERATOR)
        return lang_error(
            l, DIAG_TL_UNSUPPORTED, range,
            arena_printf(l->arena, "`%s` on %s and %s", py_op_spellings[op], lang_text(l, x), lang_text(l, y)),
            "use another operator");
    *out = r.kind == HOST_FLOAT ? (Val){.kind = VAL_FLOAT, .f = r.f} : lang_int((int64_t)r.i);
    if (r.kind == HOST_BOOL) out->kind = VAL_BOOL;
    return true;
}

static bool host_compare(PyOp op, const Val *x, const Val *y, bool *out) {
    if (x->kind == VAL_TEXT && y->kind == VAL_TEXT && (op == PY_OP_EQ || op == PY_OP_NE)) {
        *out = (strcmp(x->text, y->text) == 0) == (op == PY_OP_EQ);
        return true;
    }
    bool none = x->kind == VAL_NONE || y->kind == VAL_NONE;
    if (none && (op == PY_OP_IS || op == PY_OP_EQ || op == PY_OP_IS_NOT || op == PY_OP_NE)) {
        *out = (x->kind == y->kind) == (op == PY_OP_IS || op == PY_OP_EQ);
        return true;
    }
    if (!is_host_number(x) || !is_host_number(y)) return false;
    int order = host_order(host_of(x), host_of(y)); /* 2: a NaN, which only != is true of */
    switch (op) {
    case PY_OP_EQ:
    case PY_OP_IS: *out = order == 0; return true;
    case PY_OP_NE:
    case PY_OP_IS_NOT: *out = order != 0; return true;
    case PY_OP_LT: *out = order == -1; return true;
    case PY_OP_LE: *out = order == -1 || order == 0; return true;
    case PY_OP_GT: *out = order == 1; return true;
    case PY_OP_GE: *out = order == 1 || order == 0; return true;
    default: return false;
    }
}

/* --- traced scalars --- */

static bool fits_i32(int64_t i) { return i >= INT32_MIN && i <= INT32_MAX; }

bool to_scalar(Lang *l, const Val *val, Range range, Val *out) {
    l->b.range = range;
    switch (val->kind) {
    case VAL_SCALAR: *out = *val; return true;
    case VAL_BOOL: *out = val_scalar(l, ir_int(&l->b, EL_I1, val->i)); return true;
    case VAL_INT:
        *out = val_scalar(l, ir_int(&l->b, fits_i32(val->i) ? EL_I32 : EL_I64, val->i));
        linear_join(l, PY_OP_ADD, val, &(Val){.kind = VAL_INT}, out);
        return true;
    case VAL_FLOAT: *out = val_scalar(l, ir_float(&l->b, EL_F32, val->f)); return true;
    case VAL_REGION:
        if (is_element(val)) return load_element(l, val, range, out);
        break;
    default: break;
    }
    return lang_error(
        l, DIAG_TL_TYPES, range,
        arena_printf(l->arena, "%s is no number; index one element of it, or use a tile operation", lang_text(l, val)));
}

bool convert(Lang *l, const Val *val, Elem elem, Range range, Ref *out) {
    Val scalar;
    l->b.range = range;
    if (is_host_number(val) && elem_is_float(elem))
        *out = ir_float(&l->b, elem, host_float(val));
    else if ((val->kind == VAL_INT || val->kind == VAL_BOOL) && !elem_is_float(elem))
        *out = ir_int(&l->b, elem, val->i);
    else if (!to_scalar(l, val, range, &scalar))
        return false;
    else
        *out = ir_cast(&l->b, scalar.ref, elem);
    return true;
}

/* The type in which a traced integer meets a host number: the latter is an int32, or int64 if it must be. */
static Elem meet_host(const Val *x, Elem elem) {
    if (x->kind == VAL_FLOAT) return EL_F32;
    if (x->kind == VAL_BOOL) return elem;
    if (elem_info[elem].bits < 32) elem = EL_I32;
    bool fits = elem == EL_U32 ? x->i >= 0 && x->i <= UINT32_MAX : elem_info[elem].bits == 64 || fits_i32(x->i);
    return fits ? elem : EL_I64;
}

/* The type in which two numbers meet. */
static Elem meet(const Val *x, const Val *y) {
    if (x->kind != VAL_SCALAR) return elem_is_float(y->elem) ? y->elem : meet_host(x, y->elem);
    if (y->kind != VAL_SCALAR) return meet(y, x);
    bool fx = elem_is_float(x->elem), fy = elem_is_float(y->elem);
    if (fx != fy) return fx ? x->elem : y->elem;
    if (elem_info[x->elem].bits == elem_info[y->elem].bits && x->elem != y->elem)
        return fx ? EL_F32 : elem_is_signed(x->elem) ? x->elem : y->elem;
    return elem_info[x->elem].bits >= elem_info[y->elem].bits ? x->elem : y->elem;
}

bool meet_scalars(Lang *l, const Val *x, const Val *y, Range range, Ref *left, Ref *right) {
    Val a = *x, b = *y;
    if (!is_host_number(x) && !to_scalar(l, x, range, &a)) return false;
    if (!is_host_number(y) && !to_scalar(l, y, range, &b)) return false;
    bool both_host = is_host_number(&a) && is_host_number(&b);
    Elem elem = !both_host ? meet(&a, &b) : a.kind == VAL_FLOAT || b.kind == VAL_FLOAT ? EL_F32 : EL_I32;
    return convert(l, &a, elem, range, left) && convert(l, &b, elem, range, right);
}

bool binary(Lang *l, PyOp op, const Val *x, const Val *y, Range range, Val *out) {
    static const Opcode codes[PY_OP_COUNT] = {
        [PY_OP_ADD] = OP_ADD,    [PY_OP_SUB] = OP_SUB,           [PY_OP_MUL] = OP_MUL,
        [PY_OP_DIV] = OP_DIV,    [PY_OP_FLOORDIV] = OP_FLOORDIV, [PY_OP_MOD] = OP_MOD,
        [PY_OP_BITAND] = OP_AND, [PY_OP_BITOR] = OP_OR,          [PY_OP_BITXOR] = OP_XOR,
        [PY_OP_SHL] = OP_SHL,    [PY_OP_SHR] = OP_SHR,           [PY_OP_AND] = OP_AND,
        [PY_OP_OR] = OP_OR};
    if (is_host_number(x) && is_host_number(y)) return host_arithmetic(l, op, x, y, range, out);
    if (!codes[op])
        return lang_error(l, DIAG_TL_UNSUPPORTED, range,
                          arena_printf(l->arena, "`%s` on run-time numbers", py_op_spellings[op]),
                          "use + - * / // % & | ^ << >>");
    Ref left, right;
    if (!meet_scalars(l, x, y, range, &left, &right)) return false;
    bool is_float = elem_is_float(ir_type(l->kernel, left)->elem);
    if (op == PY_OP_DIV && !is_float)
        return lang_error(l, DIAG_TL_TYPES, range,
                          "`/` on integers; write `//` for an integer, or T.cast one side to a float");
    bool bits = op == PY_OP_BITAND || op == PY_OP_BITOR || op == PY_OP_BITXOR || op == PY_OP_SHL || op == PY_OP_SHR;
    if (bits && is_float)
        return lang_error(l, DIAG_TL_TYPES, range, "bit operations need integers; cast or reinterpret first");
    *out = val_scalar(l, ir_binary(&l->b, codes[op], left, right));
    linear_join(l, op, x, y, out);
    return true;
}

static bool compare(Lang *l, PyOp op, const Val *x, const Val *y, Range range, Val *out) {
    bool result;
    if (host_compare(op, x, y, &result)) {
        *out = (Val){.kind = VAL_BOOL, .i = result};
        return true;
    }
    static const Word predicates[PY_OP_COUNT] = {[PY_OP_EQ] = CMP_EQ, [PY_OP_NE] = CMP_NE, [PY_OP_LT] = CMP_LT,
                                                 [PY_OP_LE] = CMP_LE, [PY_OP_GT] = CMP_GT, [PY_OP_GE] = CMP_GE};
    if (!predicates[op])
        return lang_error(l, DIAG_TL_UNSUPPORTED, range,
                          arena_printf(l->arena, "`%s` on run-time numbers", py_op_spellings[op]),
                          "use < <= > >= == !=");
    Ref left, right;
    if (!meet_scalars(l, x, y, range, &left, &right)) return false;
    *out = val_scalar(l, ir_compare(&l->b, predicates[op], left, right));
    return true;
}

/* x where the condition holds, else y */
bool choose(Lang *l, Ref condition, const Val *x, const Val *y, Range range, Val *out) {
    Ref a, b;
    int64_t known;
    if (is_host_number(x) && is_host_number(y) && ir_const_int(l->kernel, condition, &known)) {
        *out = known ? *x : *y;
        return true;
    }
    if (!meet_scalars(l, x, y, range, &a, &b)) return false;
    *out = val_scalar(l, ir_ternary(&l->b, OP_SELECT, condition, a, b));
    return true;
}

bool eval_under(Lang *l, const PyNode *node, Ref condition, bool holds, Val *out) {
    Ref before = l->guard;
    l->b.range = node->range;
    if (!holds) condition = ir_unary(&l->b, OP_NOT, condition);
    l->guard = before ? ir_binary(&l->b, OP_AND, before, condition) : condition;
    bool good = eval(l, node, out);
    if (good && out->kind == VAL_REGION && is_element(out))
        good = load_element(l, out, node->range, out); /* here, not where it is used */
    l->guard = before;
    return good;
}

bool truth(const Val *v, bool *out) {
    if (v->kind == VAL_NONE)
        *out = false;
    else if (is_host_number(v))
        *out = host_float(v) != 0;
    else if (v->kind == VAL_TEXT)
        *out = *v->text != 0;
    else if (v->kind == VAL_TUPLE)
        *out = v->count != 0;
    else
        return false;
    return true;
}

/* --- the walk --- */

static bool eval_constant(Lang *l, const PyNode *node, Val *out) {
    switch (node->Constant.what) {
    case PY_NONE: *out = (Val){.kind = VAL_NONE}; return true;
    case PY_TRUE:
    case PY_FALSE: *out = (Val){.kind = VAL_BOOL, .i = node->Constant.what == PY_TRUE}; return true;
    case PY_INT:
        if (node->Constant.integer > INT64_MAX) break;
        *out = lang_int((int64_t)node->Constant.integer);
        return true;
    case PY_FLOAT: *out = (Val){.kind = VAL_FLOAT, .f = node->Constant.real}; return true;
    case PY_STR: *out = (Val){.kind = VAL_TEXT, .text = node->Constant.text->at}; return true;
    default: break;
    }
    return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "this literal", "write a number or a string");
}

static bool eval_name(Lang *l, const PyNode *node, Val *out) {
    Val *found = scope_find(l, node->Name.id);
    if (found && found->kind == VAL_WRONG) {
        l->failed = true;
        return false;
    }
    if (found) {
        *out = *found;
        return true;
    }
    VEC(const char *) names = {0};
    for (Scope *scope = l->scope; scope; scope = scope->outer)
        for (size_t i = 0; i < scope->names.count; i++) *VEC_PUSH(&names, l->arena) = scope->names.entries[i].key;
    const char *near = text_nearest(node->Name.id, names.at, names.count);
    return lang_error(l, DIAG_TL_UNKNOWN_NAME, node->range, node->Name.id,
                      near ? arena_printf(l->arena, " (did you mean `%s`?)", near) : "", node->Name.id);
}

static bool eval_attribute(Lang *l, const PyNode *node, Val *out) {
    Val base;
    const char *name = node->Attribute.attr;
    if (!eval(l, node->Attribute.value, &base)) return false;
    if (base.kind == VAL_MODULE) {
        Elem elem;
        *out = (Val){.kind = VAL_MODULE, .text = arena_printf(l->arena, "%s.%s", base.text, name)};
        if (strcmp(base.text, "tilelang") == 0 && strcmp(name, "language") == 0) out->text = "T";
        if (strcmp(base.text, "T") == 0 && elem_from_text(name, &elem)) *out = (Val){.kind = VAL_DTYPE, .elem = elem};
        return true;
    }
    if ((base.kind == VAL_TENSOR || base.kind == VAL_BUFFER) && strcmp(name, "shape") == 0) {
        Val *items = ARENA_ARRAY(l->arena, Val, base.count);
        for (int d = 0; d < base.count; d++) items[d] = lang_int(base.shape[d]);
        *out = (Val){.kind = VAL_TUPLE, .count = base.count, .items = items};
        return true;
    }
    if ((base.kind == VAL_TENSOR || base.kind == VAL_BUFFER) && strcmp(name, "dtype") == 0) {
        *out = (Val){.kind = VAL_DTYPE, .elem = base.elem};
        return true;
    }
    return lang_error(l, DIAG_TL_UNSUPPORTED, node->range,
                      arena_printf(l->arena, "the attribute `%s` of %s", name, lang_text(l, &base)),
                      "tensors and tiles have `shape` and `dtype`");
}

static bool eval_subscript(Lang *l, const PyNode *node, Val *out) {
    Val base, index;
    if (!eval(l, node->Subscript.value, &base)) return false;
    if (base.kind == VAL_TENSOR || base.kind == VAL_BUFFER) return index_storage(l, &base, node, out);
    if (base.kind != VAL_TUPLE)
        return lang_error(l, DIAG_TL_INDEX, node->range,
                          arena_printf(l->arena, "%s cannot be indexed", lang_text(l, &base)));
    if (!eval(l, node->Subscript.slice, &index)) return false;
    if (index.kind == VAL_INT && index.i < 0) index.i += base.count;
    if (index.kind != VAL_INT || index.i < 0 || index.i >= base.count)
        return lang_error(l, DIAG_TL_INDEX, node->range,
                          arena_printf(l->arena, "the index must be a known integer below %d", base.count));
    *out = base.items[index.i];
    return true;
}

static bool eval_unary(Lang *l, const PyNode *node, Val *out) {
    Val x, zero = lang_int(0);
    bool host;
    if (!eval(l, node->UnaryOp.operand, &x)) return false;
    switch (node->UnaryOp.op) {
    case PY_OP_UADD: *out = x; return true;
    case PY_OP_USUB:
        if (x.kind == VAL_FLOAT) {
            *out = (Val){.kind = VAL_FLOAT, .f = -x.f};
            return true;
        }
        if (is_host_number(&x)) return binary(l, PY_OP_SUB, &zero, &x, node->range, out);
        if (!to_scalar(l, &x, node->range, &x)) return false;
        *out = val_scalar(l, ir_unary(&l->b, OP_NEG, x.ref));
        linear_join(l, PY_OP_SUB, &zero, &x, out);
        return true;
    case PY_OP_NOT:
        if (truth(&x, &host)) {
            *out = (Val){.kind = VAL_BOOL, .i = !host};
            return true;
        }
        if (!to_scalar(l, &x, node->range, &x)) return false;
        *out = val_scalar(l, ir_unary(&l->b, OP_NOT, ir_cast(&l->b, x.ref, EL_I1)));
        return true;
    default:
        if (!to_scalar(l, &x, node->range, &x)) return false;
        if (elem_is_float(x.elem)) return lang_error(l, DIAG_TL_TYPES, node->range, "`~` needs an integer");
        *out = val_scalar(l, ir_unary(&l->b, OP_NOT, x.ref));
        return true;
    }
}

static bool eval_bool(Lang *l, const PyNode *node, Val *out) {
    const PyList *values = node->BoolOp.values;
    bool is_and = node->BoolOp.op == PY_OP_AND, host;
    if (!eval(l, values->at[0], out)) return false;
    for (uint32_t i = 1; i < values->count; i++) {
        Val next;
        bool known = truth(out, &host);
        if (known && host != is_and) return true; /* Python stops here */
        Ref a, b;
        if (known ? !eval(l, values->at[i], &next)
                  : !convert(l, out, EL_I1, node->range, &a) || !eval_under(l, values->at[i], a, is_and, &next))
            return false;
        if (!known) {
            if (!convert(l, &next, EL_I1, node->range, &b)) return false;
            next = val_scalar(l, ir_binary(&l->b, is_and ? OP_AND : OP_OR, a, b));
        }
        *out = next;
    }
    return true;
}

/* Only the side that is taken reads its elements. Where the host knows which one that is, Python's own `a if c else b`
 * is that side; T.if_then_else still has the type of both together. */
static bool select_lazily(Lang *l, const PyNode *node, const PyNode *condition, const PyNode *body,
                          const PyNode *orelse, Val *out) {
    Val test, x, y;
    bool host;
    Ref c;
    if (!eval(l, condition, &test)) return false;
    if (node->kind == PY_IfExp && truth(&test, &host)) return eval(l, host ? body : orelse, out);
    return convert(l, &test, EL_I1, node->range, &c) && eval_under(l, body, c, true, &x) &&
           eval_under(l, orelse, c, false, &y) && choose(l, c, &x, &y, node->range, out);
}

static bool eval_compare(Lang *l, const PyNode *node, Val *out) {
    Val left, right;
    if (!eval(l, node->Compare.left, &left)) return false;
    for (uint32_t i = 0; i < node->Compare.ops->count; i++) {
        Val one;
        if (!eval(l, node->Compare.comparators->at[i], &right) ||
            !compare(l, node->Compare.ops->at[i], &left, &right, node->range, &one))
            return false;
        if (i == 0)
            *out = one;
        else {
            Ref a, b;
            if (!convert(l, out, EL_I1, node->range, &a) || !convert(l, &one, EL_I1, node->range, &b)) return false;
            *out = val_scalar(l, ir_binary(&l->b, OP_AND, a, b));
        }
        left = right;
    }
    return true;
}

static bool eval_tuple(Lang *l, const PyList *elts, Val *out) {
    Val *items = ARENA_ARRAY(l->arena, Val, elts->count);
    for (uint32_t i = 0; i < elts->count; i++)
        if (!eval(l, elts->at[i], &items[i])) return false;
    *out = (Val){.kind = VAL_TUPLE, .count = (int)elts->count, .items = items};
    return true;
}

/* A call of `T.name`, a dtype as a cast, `.astype`, or one of Python's own few. */
static bool eval_call(Lang *l, const PyNode *node, Val *out) {
    Val func;
    const PyNode *target = node->Call.func;
    if (target->kind == PY_Attribute && strcmp(target->Attribute.attr, "astype") == 0 && node->Call.args->count == 1) {
        Val dtype;
        Elem elem;
        Ref ref;
        if (!eval(l, target->Attribute.value, &func) || !eval(l, node->Call.args->at[0], &dtype)) return false;
        bool good = dtype.kind == VAL_DTYPE || (dtype.kind == VAL_TEXT && elem_from_text(dtype.text, &elem));
        if (!good) return lang_error(l, DIAG_TL_DTYPE, node->range, lang_text(l, &dtype));
        if (dtype.kind == VAL_DTYPE) elem = dtype.elem;
        if (!convert(l, &func, elem, node->range, &ref)) return false;
        *out = val_scalar(l, ref);
        return true;
    }
    if (!eval(l, target, &func)) return false;
    if (func.kind == VAL_DTYPE && node->Call.args->count == 1) {
        Val x;
        Ref ref;
        if (!eval(l, node->Call.args->at[0], &x) || !convert(l, &x, func.elem, node->range, &ref)) return false;
        *out = val_scalar(l, ref);
        return true;
    }
    if (func.kind == VAL_MODULE && strcmp(func.text, "T.if_then_else") == 0 && node->Call.args->count == 3 &&
        !node->Call.keywords->count)
        return select_lazily(l, node, node->Call.args->at[0], node->Call.args->at[1], node->Call.args->at[2], out);
    if (func.kind == VAL_MODULE) return call_builtin(l, node, func.text, out);
    return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, arena_printf(l->arena, "a call of %s", lang_text(l, &func)),
                      "inside a kernel call `T.*`; helper functions of the file are not inlined");
}

bool eval(Lang *l, const PyNode *node, Val *out) {
    *out = (Val){.kind = VAL_NONE};
    switch (node->kind) {
    case PY_Constant: return eval_constant(l, node, out);
    case PY_Name: return eval_name(l, node, out);
    case PY_Attribute: return eval_attribute(l, node, out);
    case PY_Subscript: return eval_subscript(l, node, out);
    case PY_Tuple: return eval_tuple(l, node->Tuple.elts, out);
    case PY_List: return eval_tuple(l, node->List.elts, out);
    case PY_UnaryOp: return eval_unary(l, node, out);
    case PY_BoolOp: return eval_bool(l, node, out);
    case PY_IfExp: return select_lazily(l, node, node->IfExp.test, node->IfExp.body, node->IfExp.orelse, out);
    case PY_Compare: return eval_compare(l, node, out);
    case PY_Call: return eval_call(l, node, out);
    case PY_BinOp: {
        Val x, y;
        return eval(l, node->BinOp.left, &x) && eval(l, node->BinOp.right, &y) &&
               binary(l, node->BinOp.op, &x, &y, node->range, out);
    }
    default:
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range,
                          arena_printf(l->arena, "the expression `%s`", py_kinds[node->kind].name),
                          "compute it on the host and pass the result as a definition");
    }
}
