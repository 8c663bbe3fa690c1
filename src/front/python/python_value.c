/* SPDX-License-Identifier: Apache-2.0 */
/* python_value.c: abstract values, and Python's arithmetic on those known at compile time.
 *
 * Integers are Python's as long as they fit 128 bits; division and remainder floor, as in Python. */
#include "front/python/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Val val_bool(bool value) { return (Val){.kind = VAL_BOOL, .i = value}; }
Val val_int(PyInt value) { return (Val){.kind = VAL_INT, .i = value}; }
Val val_float(double value) { return (Val){.kind = VAL_FLOAT, .f = value}; }
Val val_str(const char *text) { return (Val){.kind = VAL_STR, .text = text}; }
Val val_tensor(Ref ref) { return (Val){.kind = VAL_TENSOR, .ref = ref}; }
Val val_dtype(const Type *type) { return (Val){.kind = VAL_DTYPE, .dtype = type}; }
Val val_tuple(Lower *l, const Val *items, int count) {
    return (Val){
        .kind = VAL_TUPLE, .items = arena_copy(l->arena, items, (size_t)count * sizeof *items), .count = count};
}

/* A list, tuple, dict, or anything in parentheses, as Python writes it: `(1, 2)`, `(tl.float16)`, `(relu)`. */
static Val given_items(Lower *l, const char *text) {
    const SourceFile *file = source_add(l->unit->sources, "an argument", text, strlen(text));
    int errors = l->diag->errors;
    PyNode *module = file ? py_parse(file, l->arena, l->diag) : NULL;
    if (l->diag->errors > errors) return val_error;
    const PyList *body = module ? module->Module.body : NULL;
    bool one = body && body->count == 1 && body->at[0]->kind == PY_Expr;
    if (!one) return val_str(text);
    const PyNode *value = body->at[0]->Expr.value;
    return l->domain->host_in_kernels ? py_eval(l, value) : py_eval_outside(l, l->names, value);
}

Val val_given(Lower *l, const FrontValue *value) {
    switch (value->kind) {
    case FRONT_BOOL: return val_bool(value->i != 0);
    case FRONT_INT: return val_int(value->is_unsigned ? (PyInt)(uint64_t)value->i : value->i);
    case FRONT_FLOAT: return val_float(value->f);
    case FRONT_TEXT: {
        bool items = value->text[0] && strchr("[({", value->text[0]);
        if (items && (l->domain->host_in_kernels || !l->unit->resolver)) return given_items(l, value->text);
        if (l->unit->resolver || l->domain->host_in_kernels) return val_str(value->text); /* dtypes are objects there */
        const Type *dtype = l->module ? l->domain->dtype_named(l->module, value->text) : NULL;
        return dtype ? val_dtype(dtype) : val_str(value->text);
    }
    default: return val_none;
    }
}

int val_count(Val v) { return v.kind == VAL_LIST || v.kind == VAL_DICT ? (int)v.list->vals.count : v.count; }
const Val *val_items(Val v) { return v.kind == VAL_LIST || v.kind == VAL_DICT ? v.list->vals.at : v.items; }

Val val_list(Lower *l, const Val *items, int count) {
    if (!py_on_host(l)) return val_tuple(l, items, count);
    List *list = ARENA_NEW(l->arena, List);
    list->nest = l->nest;
    for (int i = 0; i < count; i++) *VEC_PUSH(&list->vals, l->arena) = items[i];
    return (Val){.kind = VAL_LIST, .list = list};
}

Val val_frozen(Lower *l, Val v) {
    if (v.kind != VAL_LIST && v.kind != VAL_TUPLE) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, val_count(v)), out = v;
    for (int i = 0; i < val_count(v); i++) items[i] = val_frozen(l, val_items(v)[i]);
    if (v.kind == VAL_LIST) out = (Val){.kind = VAL_TUPLE, .count = val_count(v)};
    out.items = items;
    return out;
}

bool val_is_number(Val v) { return v.kind == VAL_BOOL || v.kind == VAL_INT || v.kind == VAL_FLOAT; }

bool val_is_const(Val v) {
    if (val_has_items(v) || v.kind == VAL_LIST) {
        for (int i = 0; i < val_count(v); i++)
            if (!val_is_const(val_items(v)[i])) return false;
        return true;
    }
    return v.kind != VAL_TENSOR && v.kind != VAL_OWN && v.kind != VAL_ERROR && v.kind != VAL_UNBOUND;
}

bool val_same(Val a, Val b) {
    if (!val_like(a, b)) return false;
    switch (a.kind) {
    case VAL_ERROR:
    case VAL_UNBOUND:
    case VAL_NONE: return true;
    case VAL_BOOL:
    case VAL_INT: return a.i == b.i;
    case VAL_FLOAT: return memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case VAL_STR:
    case VAL_MODULE: return strcmp(a.text, b.text) == 0;
    case VAL_OWN:
        if (a.own->whole) return a.thing == b.thing;
        /* fall through */
    case VAL_TUPLE:
        if (a.count != b.count) return false;
        for (int i = 0; i < a.count; i++)
            if (!val_same(a.items[i], b.items[i])) return false;
        return true;
    case VAL_LIST:
    case VAL_DICT: return a.list == b.list;
    case VAL_DTYPE: return a.dtype == b.dtype;
    case VAL_BUILTIN: return a.builtin == b.builtin && a.self == b.self;
    case VAL_FUNCTION: return a.function->node == b.function->node;
    case VAL_HOST: return a.host->handle == b.host->handle;
    case VAL_RANGE: return a.range == b.range;
    case VAL_TENSOR: return a.ref == b.ref;
    }
    return false;
}

bool val_truth(Val v) {
    switch (v.kind) {
    case VAL_BOOL:
    case VAL_INT: return v.i != 0;
    case VAL_FLOAT: return v.f != 0;
    case VAL_STR: return v.text[0] != '\0';
    case VAL_DICT:
    case VAL_LIST:
    case VAL_TUPLE: return val_count(v) > 0;
    case VAL_NONE: return false;
    default: return true;
    }
}

double val_as_double(Val v) { return v.kind == VAL_FLOAT ? v.f : (double)v.i; }

const char *val_type_text(Lower *l, const Type *type) {
    Text out = text_new(l->arena);
    text_add(&out, "%s%s", type->pointer ? "*" : "", l->domain->elem_name(type->elem));
    for (int d = 0; d < type->rank; d++) text_add(&out, "%s%lld", d ? ", " : "[", (long long)type->extent[d]);
    if (type->rank) text_add_char(&out, ']');
    return out.at;
}

const Type *val_type(const Lower *l, Val v) { return v.kind == VAL_TENSOR ? val_ref_type(l, v.ref) : NULL; }

static void add_int(Text *out, PyInt value) {
    char digits[48];
    int n = 0;
    bool negative = value < 0;
    do {
        int digit = (int)(value % 10);
        digits[n++] = (char)('0' + (digit < 0 ? -digit : digit));
        value /= 10;
    } while (value);
    if (negative) digits[n++] = '-';
    while (n) text_add_char(out, digits[--n]);
}

static void add_float(Text *out, double f) {
    if (isnan(f) || isinf(f)) {
        text_add(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) { /* the shortest that reads back */
        snprintf(digits, sizeof digits, "%.*g", precision, f);
        if (strtod(digits, NULL) == f) break;
    }
    text_add(out, "%s%s", digits, strpbrk(digits, ".en") ? "" : ".0");
}

static void add_val(Lower *l, Text *out, Val v) {
    switch (v.kind) {
    case VAL_ERROR: text_add(out, "an error"); break;
    case VAL_UNBOUND: text_add(out, "nothing"); break;
    case VAL_NONE: text_add(out, "None"); break;
    case VAL_BOOL: text_add(out, v.i ? "True" : "False"); break;
    case VAL_INT: add_int(out, v.i); break;
    case VAL_FLOAT: add_float(out, v.f); break;
    case VAL_STR: text_add(out, "%s", v.text); break;
    case VAL_TUPLE:
        text_add_char(out, '(');
        for (int i = 0; i < v.count; i++) {
            if (i) text_add(out, ", ");
            add_val(l, out, v.items[i]);
        }
        text_add(out, v.count == 1 ? ",)" : ")");
        break;
    case VAL_OWN: text_add(out, "%s", l->domain->describe(l, v)); break;
    case VAL_LIST:
        text_add_char(out, '[');
        for (int i = 0; i < val_count(v); i++) {
            if (i) text_add(out, ", ");
            add_val(l, out, val_items(v)[i]);
        }
        text_add_char(out, ']');
        break;
    case VAL_DICT: text_add(out, "a dict"); break;
    case VAL_DTYPE: text_add(out, "%s", val_type_text(l, v.dtype)); break;
    case VAL_MODULE: text_add(out, "%s", v.text); break;
    case VAL_BUILTIN: text_add(out, "%s", v.builtin->name); break;
    case VAL_FUNCTION: text_add(out, "%s", py_function_name(v.function->node)); break;
    case VAL_RANGE: text_add(out, "a range"); break;
    case VAL_HOST: text_add(out, "%s", v.host->name); break;
    case VAL_TENSOR: text_add(out, "%s", val_type_text(l, val_type(l, v))); break;
    }
}

const char *val_text(Lower *l, Val v) {
    Text out = text_new(l->arena);
    add_val(l, &out, v);
    return out.at;
}

const char *val_describe(Lower *l, Val v) {
    switch (v.kind) {
    case VAL_TENSOR: {
        const char *text = val_text(l, v);
        return arena_printf(l->arena, "%s %s", *text == 'i' ? "an" : "a", text);
    }
    case VAL_STR: return arena_printf(l->arena, "the string '%s'", v.text);
    case VAL_DTYPE: return arena_printf(l->arena, "the dtype %s", val_text(l, v));
    case VAL_HOST: return arena_printf(l->arena, "the Python object `%s`", val_text(l, v));
    case VAL_MODULE: return arena_printf(l->arena, "`%s`", val_text(l, v));
    case VAL_BUILTIN:
    case VAL_FUNCTION: return arena_printf(l->arena, "the function `%s`", val_text(l, v));
    case VAL_OWN: return v.own->of ? arena_printf(l->arena, "%s %s", v.own->of, val_text(l, v)) : val_text(l, v);
    case VAL_TUPLE:
        return v.count > 8 ? arena_printf(l->arena, "a tuple of %d", v.count)
                           : arena_printf(l->arena, "the tuple %s", val_text(l, v));
    case VAL_LIST:
        return val_count(v) > 8 ? arena_printf(l->arena, "a list of %d", val_count(v))
                                : arena_printf(l->arena, "the list %s", val_text(l, v));
    default: return val_text(l, v);
    }
}

/* --- Python's arithmetic --- */

static Val bad_operands(Lower *l, PyOp op, Val a, Val b, Range range) {
    return py_error(l, DIAG_EVAL_OPERANDS, range, py_op_spellings[op], val_describe(l, a), val_describe(l, b),
                    val_is_number(a) && val_is_number(b)
                         ? "; bits and shifts are of integers"
                         : "; both must be numbers, or both strings or tuples");
}

static Val too_large(Lower *l, PyOp op, Range range) {
    return py_error(l, DIAG_EVAL_TOO_LARGE, range, py_op_spellings[op]);
}

static HostNumber host_of(Val v) {
    if (v.kind == VAL_FLOAT) return (HostNumber){.kind = HOST_FLOAT, .f = v.f};
    return (HostNumber){.kind = v.kind == VAL_BOOL ? HOST_BOOL : HOST_INT, .i = v.i};
}

static Val number_binary(Lower *l, PyOp op, Val a, Val b, Range range) {
    HostNumber r;
    switch (host_binary(op, host_of(a), host_of(b), &r)) {
    case HOST_OK: break;
    case HOST_TOO_LARGE: return too_large(l, op, range);
    case HOST_DIVIDE_BY_ZERO: return py_error(l, DIAG_EVAL_DIVIDE_BY_ZERO, range);
    case HOST_NO_OPERATOR: return bad_operands(l, op, a, b, range);
    }
    if (r.kind == HOST_FLOAT) return val_float(r.f);
    return r.kind == HOST_BOOL ? val_bool(r.i != 0) : val_int(r.i);
}

/* The items of one so many times, then those of another. */
static Val repeated(Lower *l, Val a, int times, Val b) {
    int first = val_count(a) * times, count = first + val_count(b);
    Val *items = ARENA_ARRAY(l->arena, Val, count);
    for (int i = 0; i < count; i++) items[i] = i < first ? val_items(a)[i % val_count(a)] : val_items(b)[i - first];
    return a.kind == VAL_LIST ? val_list(l, items, count) : (Val){.kind = VAL_TUPLE, .items = items, .count = count};
}

Val val_binary(Lower *l, PyOp op, Val a, Val b, Range range) {
    if (op == PY_OP_BITOR && a.kind == VAL_DICT && b.kind == VAL_DICT) { /* the last one counts */
        Val both = val_list(l, val_items(a), val_count(a));
        both.kind = VAL_DICT;
        for (int i = 0; i + 1 < val_count(b); i += 2)
            if (!py_set_item(l, both, val_items(b)[i], val_items(b)[i + 1], range)) return val_error;
        return both;
    }
    if (val_is_number(a) && val_is_number(b)) return number_binary(l, op, a, b, range);
    if (op == PY_OP_ADD && a.kind == VAL_STR && b.kind == VAL_STR)
        return val_str(arena_printf(l->arena, "%s%s", a.text, b.text));
    bool sequence = a.kind == VAL_TUPLE || a.kind == VAL_LIST;
    if (op == PY_OP_ADD && sequence && a.kind == b.kind) return repeated(l, a, 1, b);
    if (op == PY_OP_MUL && sequence && b.kind == VAL_INT) {
        if (b.i > 1000) return too_large(l, op, range);
        return repeated(l, a, b.i < 0 ? 0 : (int)b.i, (Val){.kind = VAL_TUPLE});
    }
    if (op == PY_OP_MUL && a.kind == VAL_INT && (b.kind == VAL_TUPLE || b.kind == VAL_LIST) && py_on_host(l))
        return val_binary(l, op, b, a, range);
    return bad_operands(l, op, a, b, range);
}

/* Values of different kinds are unequal, never an error. */
bool val_equal(Val a, Val b) {
    if (val_is_number(a) && val_is_number(b)) return host_order(host_of(a), host_of(b)) == 0;
    bool sequences = a.kind == b.kind && (a.kind == VAL_TUPLE || a.kind == VAL_LIST);
    if (!sequences) return val_same(a, b);
    if (val_count(a) != val_count(b)) return false;
    for (int i = 0; i < val_count(a); i++)
        if (!val_equal(val_items(a)[i], val_items(b)[i])) return false;
    return true;
}

Val val_compare(Lower *l, PyOp op, Val a, Val b, Range range) {
    switch (op) {
    case PY_OP_EQ: return val_bool(val_equal(a, b));
    case PY_OP_NE: return val_bool(!val_equal(a, b));
    case PY_OP_IS: return val_bool(val_same(a, b));
    case PY_OP_IS_NOT: return val_bool(!val_same(a, b));
    case PY_OP_IN:
    case PY_OP_NOT_IN: {
        bool found = false;
        if (b.kind == VAL_TUPLE || b.kind == VAL_LIST || b.kind == VAL_DICT)
            for (int i = 0; i < val_count(b); i += b.kind == VAL_DICT ? 2 : 1)
                found = found || val_equal(a, val_items(b)[i]);
        else if (a.kind == VAL_STR && b.kind == VAL_STR)
            found = strstr(b.text, a.text) != NULL;
        else
            return bad_operands(l, op, a, b, range);
        return val_bool(found == (op == PY_OP_IN));
    }
    default: break;
    }
    int order;
    if (val_is_number(a) && val_is_number(b))
        order = host_order(host_of(a), host_of(b));
    else if (a.kind == VAL_STR && b.kind == VAL_STR)
        order = strcmp(a.text, b.text) < 0 ? -1 : strcmp(a.text, b.text) > 0;
    else
        return bad_operands(l, op, a, b, range);
    if (order == 2) return val_bool(false); /* a NaN */
    switch (op) {
    case PY_OP_LT: return val_bool(order < 0);
    case PY_OP_LE: return val_bool(order <= 0);
    case PY_OP_GT: return val_bool(order > 0);
    default: return val_bool(order >= 0);
    }
}

Val val_unary(Lower *l, PyOp op, Val a, Range range) {
    if (op == PY_OP_NOT) return val_bool(!val_truth(a));
    if (a.kind == VAL_FLOAT && op != PY_OP_INVERT) return val_float(op == PY_OP_USUB ? -a.f : a.f);
    if (a.kind == VAL_INT || a.kind == VAL_BOOL) {
        if (op == PY_OP_UADD) return val_int(a.i);
        if (op == PY_OP_INVERT) return val_int(~a.i);
        return number_binary(l, PY_OP_SUB, val_int(0), a, range);
    }
    return py_error(l, DIAG_EVAL_OPERAND, range, py_op_spellings[op], val_describe(l, a),
                    op == PY_OP_INVERT ? "; it flips the bits of integers" : "; it takes numbers");
}
