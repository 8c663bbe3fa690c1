/* SPDX-License-Identifier: Apache-2.0 */
/* tilelang_math.c: operators and functions on numbers of a TileLang kernel.
 *
 * Host values follow Python. Run-time numbers meet as in TVM: in the wider type, float over integer, f32 over f16,
 * signed over unsigned of one width. A host integer is an int32 (int64 if it must be), so two int8 multiply in int8 and
 * an int8 times 3 in int32; a run-time float meets a host number in its own type. */
#include "front/tilelang/tilelang.h"

#include <math.h>
#include <string.h>

Val lang_types(Lower *l, Range range, const char *text) { return py_error(l, DIAG_TL_TYPES, range, text); }

/* --- numbers --- */

static bool fits_i32(PyInt i) { return i >= INT32_MIN && i <= INT32_MAX; }

static bool fits_i64(Lower *l, Val v, Range range) {
    if (v.i >= INT64_MIN && v.i <= INT64_MAX) return true;
    lang_types(l, range, "the result does not fit 64 bits");
    return false;
}

Val lang_scalar(Lower *l, Val v, Range range) {
    v = lang_plain(v);
    l->b.range = range;
    const Storage *storage = lang_storage(v);
    const Box *box = lang_box(v);
    switch (v.kind) {
    case VAL_ERROR:
    case VAL_TENSOR: return v;
    case VAL_BOOL: return val_tensor(ir_int(&l->b, EL_I1, v.i != 0));
    case VAL_INT: {
        if (!fits_i64(l, v, range)) return val_error;
        Val out = val_tensor(ir_int(&l->b, fits_i32(v.i) ? EL_I32 : EL_I64, (int64_t)v.i));
        lang_linear_join(l, PY_OP_ADD, v, val_int(0), out);
        return out;
    }
    case VAL_FLOAT: return val_tensor(ir_float(&l->b, EL_F32, v.f));
    default: break;
    }
    if (lang_missing(l, v, range)) return val_error;
    if (storage && storage->kind == STORE_VARIABLE) return lang_variable_load(l, storage, range);
    if (box && lang_is_element(box)) return lang_load(l, box, range);
    bool holds = storage || box;
    return lang_types(l, range,
                      arena_printf(l->arena, "%s is no number%s", val_describe(l, v),
                                   holds ? FIX "index one element of it, or use a tile operation" : ""));
}

/* Conversions to 8 bits end at the largest number; the infinity that a text names is one. */
static Ref infinity_of_e5m2(Lower *l, bool negative) {
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, ir_int(&l->b, EL_U8, negative ? 0xfc : 0x7c));
    return ir_end(&l->b, op, ty_scalar(l->module, EL_F8E5M2));
}

bool lang_convert(Lower *l, Val v, Elem elem, Range range, Ref *out) {
    v = lang_plain(v);
    l->b.range = range;
    if (v.kind == VAL_FLOAT && isinf(v.f) && elem == EL_F8E5M2) {
        *out = infinity_of_e5m2(l, v.f < 0);
    } else if (val_is_number(v) && elem_is_float(elem)) {
        *out = ir_float(&l->b, elem, val_as_double(v));
    } else if ((v.kind == VAL_INT || v.kind == VAL_BOOL) && !elem_is_float(elem)) {
        if (!fits_i64(l, v, range)) return false;
        *out = ir_int(&l->b, elem, (int64_t)v.i);
    } else {
        Val scalar = lang_scalar(l, v, range);
        if (val_failed(scalar)) return false;
        *out = ir_cast(&l->b, scalar.ref, elem);
    }
    return true;
}

/* The type in which a run-time integer meets a host number: the latter is an int32, or int64 if it must be. */
static Elem meet_host(Val x, Elem elem) {
    if (x.kind == VAL_FLOAT) return EL_F32;
    if (x.kind == VAL_BOOL) return elem;
    if (elem_info[elem].bits < 32) elem = EL_I32;
    bool fits = elem == EL_U32 ? x.i >= 0 && x.i <= UINT32_MAX : elem_info[elem].bits == 64 || fits_i32(x.i);
    return fits ? elem : EL_I64;
}

/* The type in which two numbers meet, one of them at run time. */
static Elem meet(Lower *l, Val x, Val y) {
    if (x.kind != VAL_TENSOR) {
        Elem elem = val_type(l, y)->elem;
        return elem_is_float(elem) ? elem : meet_host(x, elem);
    }
    if (y.kind != VAL_TENSOR) return meet(l, y, x);
    Elem ex = val_type(l, x)->elem, ey = val_type(l, y)->elem;
    bool fx = elem_is_float(ex), fy = elem_is_float(ey);
    if (fx != fy) return fx ? ex : ey;
    if (elem_info[ex].bits == elem_info[ey].bits && ex != ey) return fx ? EL_F32 : elem_is_signed(ex) ? ex : ey;
    return elem_info[ex].bits >= elem_info[ey].bits ? ex : ey;
}

bool lang_meet(Lower *l, Val x, Val y, Range range, Ref *left, Ref *right) {
    x = lang_plain(x);
    y = lang_plain(y);
    if (!val_is_number(x)) x = lang_scalar(l, x, range);
    if (!val_is_number(y)) y = lang_scalar(l, y, range);
    if (val_failed(x) || val_failed(y)) return false;
    bool both_host = val_is_number(x) && val_is_number(y);
    Elem elem = !both_host ? meet(l, x, y) : x.kind == VAL_FLOAT || y.kind == VAL_FLOAT ? EL_F32 : EL_I32;
    return lang_convert(l, x, elem, range, left) && lang_convert(l, y, elem, range, right);
}

/* --- operators --- */

Val lang_binary(Lower *l, PyOp op, Val x, Val y, Range range) {
    static const Opcode codes[PY_OP_COUNT] = {
        [PY_OP_ADD] = OP_ADD,    [PY_OP_SUB] = OP_SUB,           [PY_OP_MUL] = OP_MUL,
        [PY_OP_DIV] = OP_DIV,    [PY_OP_FLOORDIV] = OP_FLOORDIV, [PY_OP_MOD] = OP_MOD,
        [PY_OP_BITAND] = OP_AND, [PY_OP_BITOR] = OP_OR,          [PY_OP_BITXOR] = OP_XOR,
        [PY_OP_SHL] = OP_SHL,    [PY_OP_SHR] = OP_SHR};
    x = lang_plain(x);
    y = lang_plain(y);
    if (val_failed(x) || val_failed(y)) return val_error;
    bool sequence = x.kind == VAL_TUPLE || x.kind == VAL_LIST || y.kind == VAL_TUPLE || y.kind == VAL_LIST;
    if (sequence || (val_is_const(x) && val_is_const(y))) return val_binary(l, op, x, y, range);
    if (op == PY_OP_POW) {
        Call call = {.builtin = py_builtin(l, "pow", 'T'), .range = range, .args = (Val[]){x, y},
                     .ranges = (Range[]){range, range}};
        return lang_lower_pow(l, &call);
    }
    if (!codes[op])
        return py_error(l, DIAG_TL_UNSUPPORTED, range,
                        arena_printf(l->arena, "`%s` on run-time numbers", py_op_spellings[op]),
                        "use + - * / // % & | ^ << >>");
    Ref left, right;
    if (lang_missing(l, x, range) || lang_missing(l, y, range) || !py_need_ir(l, range)) return val_error;
    if (!val_is_number(x)) x = lang_scalar(l, x, range); /* a variable or element as it is now */
    if (!val_is_number(y)) y = lang_scalar(l, y, range);
    if (!lang_meet(l, x, y, range, &left, &right)) return val_error;
    bool is_float = elem_is_float(val_ref_type(l, left)->elem);
    int64_t by;
    if ((op == PY_OP_FLOORDIV || op == PY_OP_MOD) && !is_float && ir_const_int(l->kernel, right, &by) && !by)
        return py_error(l, DIAG_TL_DIVIDE_BY_ZERO, range);
    if (op == PY_OP_DIV && !is_float)
        return lang_types(l, range, "`/` on integers" FIX "write `//` for an integer, or T.cast one side to a float");
    bool bits = op == PY_OP_BITAND || op == PY_OP_BITOR || op == PY_OP_BITXOR || op == PY_OP_SHL || op == PY_OP_SHR;
    if (bits && is_float) return lang_types(l, range, "bit operations need integers" FIX "cast or reinterpret first");
    Val out = val_tensor(ir_binary(&l->b, codes[op], left, right));
    lang_linear_join(l, op, x, y, out);
    return out;
}

bool lang_equal(Val a, Val b) {
    Elem x, y;
    bool dtypes = (a.kind == VAL_DTYPE || b.kind == VAL_DTYPE) && lang_is_tf32(a) == lang_is_tf32(b) &&
                  lang_packed(a) == lang_packed(b);
    return dtypes ? lang_elem_of(a, &x) && lang_elem_of(b, &y) && x == y : val_equal(a, b);
}

static bool contains(Val items, Val item) {
    for (int i = 0; i < val_count(items); i += items.kind == VAL_DICT ? 2 : 1)
        if (lang_equal(item, val_items(items)[i])) return true;
    return false;
}

Val lang_compare(Lower *l, PyOp op, Val x, Val y, Range range) {
    static const Word predicates[PY_OP_COUNT] = {[PY_OP_EQ] = CMP_EQ, [PY_OP_NE] = CMP_NE, [PY_OP_LT] = CMP_LT,
                                                 [PY_OP_LE] = CMP_LE, [PY_OP_GT] = CMP_GT, [PY_OP_GE] = CMP_GE};
    x = lang_plain(x);
    y = lang_plain(y);
    if (val_failed(x) || val_failed(y)) return val_error;
    bool identity = op == PY_OP_IS || op == PY_OP_IS_NOT;
    if (op == PY_OP_EQ || op == PY_OP_NE)
        if (x.kind == VAL_DTYPE || y.kind == VAL_DTYPE || x.kind == VAL_NONE || y.kind == VAL_NONE)
            return val_bool(lang_equal(x, y) == (op == PY_OP_EQ));
    bool among = y.kind == VAL_TUPLE || y.kind == VAL_LIST || y.kind == VAL_DICT;
    if ((op == PY_OP_IN || op == PY_OP_NOT_IN) && among && val_is_const(x))
        return val_bool(contains(y, x) == (op == PY_OP_IN));
    if (identity || (val_is_const(x) && val_is_const(y))) return val_compare(l, op, x, y, range);
    if (!predicates[op])
        return py_error(l, DIAG_TL_UNSUPPORTED, range,
                        arena_printf(l->arena, "`%s` on run-time numbers", py_op_spellings[op]), "use < <= > >= == !=");
    Ref left, right;
    if (!py_need_ir(l, range) || !lang_meet(l, x, y, range, &left, &right)) return val_error;
    return val_tensor(ir_compare(&l->b, predicates[op], left, right));
}

Val lang_unary(Lower *l, PyOp op, Val x, Range range) {
    x = lang_plain(x);
    if (val_is_const(x)) return val_unary(l, op, x, range);
    Val v = lang_scalar(l, x, range);
    if (val_failed(v) || op == PY_OP_UADD) return v;
    Elem elem = val_type(l, v)->elem;
    if (op == PY_OP_NOT) return val_tensor(ir_unary(&l->b, OP_NOT, ir_cast(&l->b, v.ref, EL_I1)));
    if (op == PY_OP_INVERT && elem_is_float(elem)) return lang_types(l, range, "`~` needs an integer");
    Val out = val_tensor(ir_unary(&l->b, op == PY_OP_USUB ? OP_NEG : OP_NOT, v.ref));
    if (op == PY_OP_USUB) lang_linear_join(l, PY_OP_SUB, val_int(0), v, out);
    return out;
}

/* --- truth and choice --- */

Val lang_truth(Lower *l, Val v, Range range) {
    Ref ref;
    v = lang_plain(v);
    if (val_failed(v)) return v;
    if (val_is_const(v)) return val_bool(val_truth(v));
    return lang_convert(l, v, EL_I1, range, &ref) ? val_tensor(ref) : val_error;
}

Val lang_both(Lower *l, Val a, Val b, Range range) {
    Ref x, y;
    if (!lang_convert(l, a, EL_I1, range, &x) || !lang_convert(l, b, EL_I1, range, &y)) return val_error;
    return val_tensor(ir_binary(&l->b, OP_AND, x, y));
}

/* The value where the condition holds (or does not): elements of tiles outside of it are not read. */
static Val eval_under(Lower *l, const PyNode *node, Ref condition, bool holds) {
    LangState *s = lang_state(l);
    Ref before = s->guard;
    l->b.range = node->range;
    if (!holds) condition = ir_unary(&l->b, OP_NOT, condition);
    s->guard = before ? ir_binary(&l->b, OP_AND, before, condition) : condition;
    Val v = py_eval(l, node);
    const Box *box = lang_box(v);
    if (box && lang_is_element(box)) v = lang_load(l, box, node->range); /* here, not where it is used */
    s->guard = before;
    return v;
}

Val lang_logic(Lower *l, const PyNode *node, uint32_t from, Val first) {
    bool is_and = node->BoolOp.op == PY_OP_AND;
    Ref all, next;
    if (!lang_convert(l, first, EL_I1, node->BoolOp.values->at[from]->range, &all)) return val_error;
    for (uint32_t i = from + 1; i < node->BoolOp.values->count; i++) {
        const PyNode *part = node->BoolOp.values->at[i];
        Val v = eval_under(l, part, all, is_and);
        if (val_failed(v) || !lang_convert(l, v, EL_I1, part->range, &next)) return val_error;
        all = ir_binary(&l->b, is_and ? OP_AND : OP_OR, all, next);
    }
    return val_tensor(all);
}

Val lang_select(Lower *l, Ref condition, Val x, Val y, Range range) {
    Ref a, b;
    int64_t known;
    if (val_is_number(x) && val_is_number(y) && ir_const_int(l->kernel, condition, &known)) return known ? x : y;
    if (!lang_meet(l, x, y, range, &a, &b)) return val_error;
    return val_tensor(ir_ternary(&l->b, OP_SELECT, condition, a, b));
}

Val lang_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range) {
    Val x = eval_under(l, yes, condition, true), y = eval_under(l, no, condition, false);
    return val_failed(x) || val_failed(y) ? val_error : lang_select(l, condition, x, y, range);
}

Val lang_if_then_else(Lower *l, const PyNode *call) {
    const PyNode *const *args = (const PyNode *const *)call->Call.args->at;
    Val test = lang_plain(py_eval(l, args[0]));
    Ref condition;
    if (val_failed(test) || !lang_convert(l, test, EL_I1, args[0]->range, &condition)) return val_error;
    return lang_choose(l, condition, args[1], args[2], call->range); /* it has the type of both sides together */
}

Val lang_lower_if_then_else(Lower *l, const Call *c) {
    Ref condition;
    if (!lang_convert(l, c->args[0], EL_I1, c->range, &condition)) return val_error;
    return lang_select(l, condition, c->args[1], c->args[2], c->range);
}

/* --- rows of the table --- */

Val lang_lower_operator(Lower *l, const Call *c) {
    return lang_binary(l, (PyOp)c->builtin->code, c->args[0], c->args[1], c->range);
}

/* T.truncdiv, T.truncmod: C's / and % */
Val lang_lower_truncated(Lower *l, const Call *c) {
    Ref a, b;
    if (!py_need_ir(l, c->range) || !lang_meet(l, c->args[0], c->args[1], c->range, &a, &b)) return val_error;
    if (elem_is_float(val_ref_type(l, a)->elem))
        return lang_types(l, c->range, arena_printf(l->arena, "T.%s is for integers", c->builtin->name));
    return val_tensor(ir_binary(&l->b, (Opcode)c->builtin->code, a, b));
}

Val lang_lower_ceildiv(Lower *l, const Call *c) {
    Val sum = lang_binary(l, PY_OP_ADD, c->args[0], c->args[1], c->range);
    sum = lang_binary(l, PY_OP_SUB, sum, val_int(1), c->range);
    Val quotient = lang_binary(l, PY_OP_FLOORDIV, sum, c->args[1], c->range);
    return c->builtin->code ? lang_binary(l, PY_OP_MUL, quotient, c->args[1], c->range) : quotient; /* align_up */
}

/* T.max and T.min of two; Python's own of more. */
Val lang_lower_extreme(Lower *l, const Call *c) {
    Val args = c->args[0], best;
    bool larger = c->builtin->code == OP_MAX;
    if (args.count == 1) args = py_iterable(l, args.items[0], c->range);
    if (val_failed(args)) return args;
    if (!args.count) return py_error(l, DIAG_EVAL_MISSING, c->range, c->builtin->name, "an argument");
    best = lang_plain(args.items[0]);
    for (int i = 1; i < args.count; i++) {
        Val next = lang_plain(args.items[i]);
        Ref a, b;
        if (val_is_number(best) && val_is_number(next)) {
            Val better = val_compare(l, larger ? PY_OP_GT : PY_OP_LT, next, best, c->range);
            if (val_failed(better)) return better;
            if (better.i) best = next;
        } else if (!py_need_ir(l, c->range) || !lang_meet(l, best, next, c->range, &a, &b)) {
            return val_error;
        } else {
            best = val_tensor(ir_binary(&l->b, (Opcode)c->builtin->code, a, b));
        }
    }
    return best;
}

static Val cast(Lower *l, const Call *c, int value, int dtype) {
    Elem elem;
    Ref ref;
    if (!lang_want_elem(l, c, dtype, &elem) || !py_need_ir(l, c->range)) return val_error;
    Packed packed = lang_packed(c->args[dtype]);
    if (!packed) return lang_convert(l, c->args[value], elem, c->range, &ref) ? val_tensor(ref) : val_error;
    Val x = lang_scalar(l, c->args[value], c->range);
    return val_failed(x) ? x : val_tensor(lang_narrow(l, packed, x.ref));
}
/* code: 0 (value, dtype), 1 (dtype, value), 2 (value, dtype, round, sat, rbits) */
Val lang_lower_cast(Lower *l, const Call *c) {
    if (c->builtin->code == 2) {
        static const char *const others[] = {"rz", "rm", "rp", "rna", "rs", NULL};
        bool planned = false;
        for (int i = 0; c->args[2].kind == VAL_STR && others[i]; i++)
            planned |= !strcmp(c->args[2].text, others[i]);
        for (int i = 2; i < 5; i++)
            if (i > 2 ? c->args[i].kind != VAL_NONE : planned)
                return py_error(l, DIAG_TL_PLANNED, c->ranges[i],
                                "T.cast with `sat`, `rbits` or another `round` than \"rn\"",
                                "leave it out: T.cast rounds to nearest; T.clamp before it keeps a number in a range");
        if (!lang_word(l, c, 2, "way to round", "rn")) return val_error;
    }
    return cast(l, c, c->builtin->code == 1, c->builtin->code != 1);
}

Val lang_lower_dtype(Lower *l, const Call *c) {
    Elem elem;
    if (lang_packed(c->args[0]) || lang_is_tf32(c->args[0])) return c->args[0];
    return lang_want_elem(l, c, 0, &elem) ? val_dtype(ty_scalar(l->module, elem)) : val_error;
}

/* The same bits as another type. TileLang has both orders of its arguments. */
Val lang_lower_reinterpret(Lower *l, const Call *c) {
    Elem elem;
    bool first = lang_elem_of(c->args[0], &elem);
    if (!first && !lang_want_elem(l, c, 1, &elem)) return val_error;
    if (lang_packed(c->args[!first]))
        return lang_types(l, c->range, "T.reinterpret gives no 4-bit dtype" FIX "take the bits with & and >>");
    Val v = lang_scalar(l, c->args[first], c->range);
    if (val_failed(v)) return v;
    if (elem_info[elem].bits != elem_info[val_type(l, v)->elem].bits)
        return lang_types(l, c->range, "T.reinterpret keeps the bits: both types must have one width");
    Op *op = ir_begin(&l->b, OP_BITCAST);
    ir_operand(&l->b, op, v.ref);
    return val_tensor(ir_end(&l->b, op, ty_scalar(l->module, elem)));
}

/* infinity (0), max_value (1), min_value (-1) of a dtype */
Val lang_lower_limit(Lower *l, const Call *c) {
    Elem elem;
    if (!lang_want_elem(l, c, 0, &elem)) return val_error;
    int bits = elem_info[elem].bits;
    Packed packed = lang_packed(c->args[0]);
    if (packed == PACKED_F4 && c->builtin->code == 0) return lang_types(l, c->range, "float4_e2m1fn has no infinity");
    if (packed == PACKED_F4) return val_float(6 * c->builtin->code);
    if (packed) bits = 4;
    if (!elem_is_float(elem) && c->builtin->code == 0)
        return lang_types(l, c->range, "integers have no infinity" FIX "write the smallest or largest number");
    if (c->builtin->code == 0) return val_float(INFINITY);
    if (elem_is_float(elem)) {
        static const double largest[EL_COUNT] = {[EL_F16] = 65504,
                                                 [EL_BF16] = 0x1.fep127,
                                                 [EL_F32] = 0x1.fffffep127,
                                                 [EL_F64] = 0x1.fffffffffffffp1023,
                                                 [EL_F8E4M3] = 448,
                                                 [EL_F8E5M2] = 57344};
        return val_float(c->builtin->code * largest[elem]);
    }
    PyInt half = (PyInt)1 << (bits - 1);
    if (elem_is_signed(elem)) return val_int(c->builtin->code > 0 ? half - 1 : -half);
    return val_int(c->builtin->code > 0 ? 2 * half - 1 : 0);
}

static Val float_of(Lower *l, Val v, Range range);

/* isfinite (CMP_LT), isinf (CMP_EQ): how the magnitude stands to infinity */
Val lang_lower_infinite(Lower *l, const Call *c) {
    Val x = float_of(l, c->args[0], c->range);
    if (val_failed(x)) return x;
    Ref most = ir_float(&l->b, val_type(l, x)->elem, INFINITY);
    return val_tensor(ir_compare(&l->b, (Word)c->builtin->code, ir_unary(&l->b, OP_ABS, x.ref), most));
}

/* __ldg: an element, however it is read */
Val lang_lower_element(Lower *l, const Call *c) { return lang_scalar(l, c->args[0], c->range); }

/* A number as a run-time float. */
static Val float_of(Lower *l, Val v, Range range) {
    Val x = lang_scalar(l, v, range);
    if (val_failed(x) || elem_is_float(val_type(l, x)->elem)) return x;
    Ref f;
    return lang_convert(l, v, EL_F32, range, &f) ? val_tensor(f) : val_error;
}

/* T.round(x, "ties-away-from-zero"); TVM's other word gives what T.nearbyint does. */
Val lang_lower_round(Lower *l, const Call *c) {
    if (!lang_word(l, c, 1, "rounding mode", "ties-away-from-zero, ties-to-even")) return val_error;
    Val x = py_need_ir(l, c->range) ? float_of(l, lang_plain(c->args[0]), c->range) : val_error;
    if (val_failed(x)) return x;
    bool even = c->args[1].kind == VAL_STR && !strcmp(c->args[1].text, "ties-to-even");
    l->b.range = c->range;
    return val_tensor(ir_unary(&l->b, even ? OP_RINT : OP_ROUND, x.ref));
}

Val lang_lower_unary(Lower *l, const Call *c) {
    Opcode code = (Opcode)c->builtin->code;
    Val v = lang_plain(c->args[0]);
    if (code == OP_ABS && val_is_number(v)) return py_lower_abs(l, c);
    if (!py_need_ir(l, c->range)) return val_error;
    bool any = code == OP_ABS, bits = code == OP_POPC || code == OP_CLZ;
    Val x = any || bits ? lang_scalar(l, v, c->range) : float_of(l, v, c->range);
    if (val_failed(x)) return x;
    if (bits && elem_is_float(val_type(l, x)->elem))
        return lang_types(l, c->range, "it counts the bits of integers; reinterpret first");
    l->b.range = c->range;
    return val_tensor(ir_unary(&l->b, code, x.ref));
}

/* T.sigmoid; T.fast_rcp (code 1) */
Val lang_lower_sigmoid(Lower *l, const Call *c) {
    Val x = py_need_ir(l, c->range) ? float_of(l, c->args[0], c->range) : val_error;
    if (val_failed(x)) return x;
    Elem elem = val_type(l, x)->elem;
    l->b.range = c->range;
    Ref one = ir_float(&l->b, elem, 1);
    if (c->builtin->code) return val_tensor(ir_binary(&l->b, OP_DIV, one, x.ref));
    Ref e = ir_unary(&l->b, OP_EXP, ir_unary(&l->b, OP_NEG, x.ref));
    return val_tensor(ir_binary(&l->b, OP_DIV, one, ir_binary(&l->b, OP_ADD, one, e)));
}

/* Functions of the IR's long tail: code is its word. */
Val lang_lower_math(Lower *l, const Call *c) {
    Val x = py_need_ir(l, c->range) ? float_of(l, c->args[0], c->range) : val_error;
    if (val_failed(x)) return x;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x.ref);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = (Word)c->builtin->code});
    return val_tensor(ir_end(&l->b, op, NULL));
}

static Val math_of_two(Lower *l, Word function, Val x, Val y, Range range) {
    Ref a, b;
    x = float_of(l, x, range);
    if (val_failed(x) || !lang_meet(l, x, y, range, &a, &b)) return val_error;
    l->b.range = range;
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, a);
    ir_operand(&l->b, op, b);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = function});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val lang_lower_fmod(Lower *l, const Call *c) {
    if (!py_need_ir(l, c->range)) return val_error;
    return math_of_two(l, MATH_FMOD, lang_plain(c->args[0]), lang_plain(c->args[1]), c->range);
}

Val lang_lower_pow(Lower *l, const Call *c) {
    Val x = lang_plain(c->args[0]), y = lang_plain(c->args[1]);
    if (val_is_number(x) && val_is_number(y)) return val_binary(l, PY_OP_POW, x, y, c->range);
    if (y.kind == VAL_INT && y.i >= 2 && y.i <= 4) { /* x ** 2 is a product, also of integers */
        Val out = lang_scalar(l, x, c->range), base = out;
        for (PyInt i = 1; i < y.i; i++) out = lang_binary(l, PY_OP_MUL, out, base, c->range);
        return out;
    }
    return py_need_ir(l, c->range) ? math_of_two(l, MATH_POW, x, y, c->range) : val_error;
}

Val lang_lower_clamp(Lower *l, const Call *c) {
    Ref x, low, high;
    Val v = lang_scalar(l, c->args[0], c->range);
    if (val_failed(v)) return v;
    Elem elem = val_type(l, v)->elem;
    x = v.ref;
    if (!lang_convert(l, c->args[1], elem, c->range, &low) || !lang_convert(l, c->args[2], elem, c->range, &high))
        return val_error;
    return val_tensor(ir_binary(&l->b, OP_MIN, ir_binary(&l->b, OP_MAX, x, low), high));
}

Val lang_lower_next_power(Lower *l, const Call *c) {
    int64_t n, power = 1;
    if (!py_want_int(l, c, 0, &n)) return val_error;
    while (power < n && power < INT64_MAX / 2) power *= 2;
    return val_int(power);
}
