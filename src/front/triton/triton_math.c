/* SPDX-License-Identifier: Apache-2.0 */
/* triton_math.c: builtins that work element by element, Python's own, and those
 * that speak at compile time. */
#include "front/triton/triton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Val tri_lower_unsupported(Lower *l, const Call *c) {
    return py_error(l, DIAG_EVAL_REFUSED, c->range, c->builtin->name, c->builtin->doc);
}

/* --- float functions --- */

/* Triton's rule: float32 and float64 only, so that nobody computes exp in float16 unknowingly. */
static bool want_wide_float(Lower *l, const Call *c, int arg, Val *v) {
    if (!tri_want_tensor(l, c, arg, v)) return false;
    const Type *type = val_type(l, *v);
    if (!type->pointer && (type->elem == EL_F32 || type->elem == EL_F64)) return true;
    py_error(l, DIAG_TRI_WIDE_FLOAT, c->ranges[arg], c->builtin->name, val_type_text(l, type));
    return false;
}

static Val apply_math(Lower *l, const Call *c, bool approx) {
    Val x;
    if (!want_wide_float(l, c, 0, &x)) return val_error;
    Op *op = ir_begin(&l->b, (Opcode)c->builtin->code);
    ir_operand(&l->b, op, x.ref);
    if (approx && val_type(l, x)->elem == EL_F32) op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_math(Lower *l, const Call *c) { return apply_math(l, c, true); }
Val tri_lower_math_exact(Lower *l, const Call *c) { return apply_math(l, c, false); }

/* Two operands of libdevice: brought to one type first, which has to be float32 or float64. */
bool tri_want_wide_pair(Lower *l, const Call *c, Val *x, Val *y) {
    Val given[2];
    if (!tri_want_tensor(l, c, 0, x) || !tri_want_tensor(l, c, 1, y)) return false;
    given[0] = *x, given[1] = *y;
    if (!tri_promote(l, x, y, 0, c->range)) return false;
    const Type *type = val_type(l, *x);
    if (!type->pointer && (type->elem == EL_F32 || type->elem == EL_F64)) return true;
    int bad = val_type(l, given[0])->elem == type->elem ? 0 : 1;
    py_error(l, DIAG_TRI_WIDE_FLOAT, c->ranges[bad], c->builtin->name, val_type_text(l, val_type(l, given[bad])));
    return false;
}

static Val math_word(Lower *l, const Call *c, Val x, const Val *y) {
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x.ref);
    if (y) ir_operand(&l->b, op, y->ref);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = (Word)c->builtin->code});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_math_word(Lower *l, const Call *c) {
    Val x, y;
    bool two = strchr(c->builtin->signature, 'y') != NULL;
    if (!two) return want_wide_float(l, c, 0, &x) ? math_word(l, c, x, NULL) : val_error;
    return tri_want_wide_pair(l, c, &x, &y) ? math_word(l, c, x, &y) : val_error;
}

Val tri_lower_sigmoid(Lower *l, const Call *c) {
    Val x;
    if (!want_wide_float(l, c, 0, &x)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref one = ir_float(&l->b, elem, 1);
    Op *op = ir_begin(&l->b, OP_EXP);
    ir_operand(&l->b, op, ir_unary(&l->b, OP_NEG, x.ref));
    if (elem == EL_F32) op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    Ref e = ir_end(&l->b, op, NULL);
    return tri_binary(l, PY_OP_DIV, val_tensor(one), val_tensor(ir_binary(&l->b, OP_ADD, one, e)), c->range);
}

Val tri_lower_abs(Lower *l, const Call *c) {
    if (val_is_number(c->args[0])) {
        Val v = c->args[0];
        return v.kind == VAL_FLOAT ? val_float(fabs(v.f))
               : v.i < 0           ? val_unary(l, PY_OP_USUB, v, c->range)
                                   : val_int(v.i);
    }
    Val x;
    if (!tri_want_tensor(l, c, 0, &x)) return val_error;
    const Type *type = val_type(l, x);
    if (type->pointer) return py_error(l, DIAG_EVAL_OPERAND, c->range, "abs", val_describe(l, x), "");
    bool same = type->elem == EL_I1 || elem_info[type->elem].cls == CLASS_UINT;
    return same ? x : val_tensor(ir_unary(&l->b, OP_ABS, x.ref));
}

/* --- two and three operands --- */

static bool is_float(Lower *l, Val v) { /* and no pointer to one */
    const Type *type = val_type(l, v);
    return !type->pointer && elem_is_float(type->elem);
}

static Val widen_bf16(Lower *l, Val v, Range range) {
    const Type *type = val_type(l, v);
    return !type->pointer && type->elem == EL_BF16 ? tri_cast(l, v, ty_scalar(l->module, EL_F32), range) : v;
}

/* keep: a NaN of either side is the result; else the other side is. */
static Val minmax(Lower *l, Opcode code, Val x, Val y, bool keep, const Call *c) {
    x = widen_bf16(l, x, c->range);
    y = widen_bf16(l, y, c->range);
    if (!tri_promote(l, &x, &y, 0, c->range)) return val_error;
    const Type *type = val_type(l, x);
    if (type->pointer) return py_error(l, DIAG_EVAL_OPERAND, c->range, c->builtin->name, val_describe(l, x), "");
    if (type->elem == EL_I1) code = code == OP_MAX ? OP_OR : OP_AND;
    Op *op = ir_begin(&l->b, code);
    ir_operand(&l->b, op, x.ref);
    ir_operand(&l->b, op, y.ref);
    if (keep && elem_is_float(type->elem)) op_set(l->kernel, op, (Attr){.id = AT_NAN, .word = NAN_KEEP});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_minmax(Lower *l, const Call *c) {
    Val x, y;
    bool keep;
    if (!tri_want_tensor(l, c, 0, &x) || !tri_want_tensor(l, c, 1, &y) || !py_want_bool(l, c, 2, &keep))
        return val_error;
    return minmax(l, (Opcode)c->builtin->code, x, y, keep, c);
}

Val tri_lower_clamp(Lower *l, const Call *c) {
    Val v[3];
    bool keep;
    for (int i = 0; i < 3; i++) {
        if (!tri_want_tensor(l, c, i, &v[i])) return val_error;
        v[i] = widen_bf16(l, v[i], c->range);
    }
    if (!py_want_bool(l, c, 3, &keep) || !tri_promote(l, &v[1], &v[2], 0, c->range) ||
        !tri_promote(l, &v[0], &v[1], 0, c->range) || !tri_promote(l, &v[0], &v[2], 0, c->range))
        return val_error;
    if (!is_float(l, v[0])) return py_error(l, DIAG_EVAL_OPERAND, c->range, "clamp", val_describe(l, v[0]), "");
    Val above = minmax(l, OP_MAX, v[0], v[1], keep, c);
    return val_failed(above) ? above : minmax(l, OP_MIN, above, v[2], keep, c);
}

Val tri_lower_where(Lower *l, const Call *c) {
    Val condition, x = c->args[1], y = c->args[2];
    if (!tri_want_tensor(l, c, 0, &condition)) return val_error;
    condition = tri_cast(l, condition, ty_scalar(l->module, EL_I1), c->ranges[0]);
    if (val_failed(condition)) return condition;
    if (!py_need_ir(l, c->range) || !tri_promote(l, &x, &y, PROMOTE_WEAK, c->range)) return val_error;
    if (!tri_align(l, &condition, &x, c->range) || !tri_align(l, &condition, &y, c->range) ||
        !tri_align(l, &x, &y, c->range))
        return val_error;
    return val_tensor(ir_ternary(&l->b, OP_SELECT, condition.ref, x.ref, y.ref));
}

Val tri_lower_fma(Lower *l, const Call *c) {
    Val v[3];
    for (int i = 0; i < 3; i++)
        if (!tri_want_tensor(l, c, i, &v[i])) return val_error;
    if (!tri_promote(l, &v[0], &v[1], 0, c->range) || !tri_promote(l, &v[2], &v[0], 0, c->range) ||
        !tri_promote(l, &v[2], &v[1], 0, c->range))
        return val_error;
    if (!is_float(l, v[0])) return py_error(l, DIAG_EVAL_OPERAND, c->range, "fma", val_describe(l, v[0]), "");
    return val_tensor(ir_ternary(&l->b, OP_FMA, v[0].ref, v[1].ref, v[2].ref));
}

Val tri_lower_fdiv(Lower *l, const Call *c) {
    bool exact = c->builtin->code == 1; /* 0: as told; 2: fast */
    Val x = c->args[0], y = c->args[1];
    if (c->builtin->code == 0 && !py_want_bool(l, c, 2, &exact)) return val_error;
    if (!tri_promote(l, &x, &y, PROMOTE_WEAK | PROMOTE_DIVIDE, c->range)) return val_error;
    if (!is_float(l, x))
        return py_error(l, DIAG_EVAL_OPERANDS, c->range, c->builtin->name, val_describe(l, x),
                        val_describe(l, y), "");
    Op *op = ir_begin(&l->b, OP_DIV);
    ir_operand(&l->b, op, x.ref);
    ir_operand(&l->b, op, y.ref);
    if (!exact && val_type(l, x)->elem == EL_F32) op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val tri_lower_umulhi(Lower *l, const Call *c) {
    Val x, y;
    if (!tri_want_tensor(l, c, 0, &x) || !tri_want_tensor(l, c, 1, &y) || !tri_promote(l, &x, &y, 0, c->range))
        return val_error;
    Elem elem = val_type(l, x)->elem;
    bool is_signed = elem == EL_I32 || elem == EL_I64;
    if (val_type(l, x)->pointer || (!is_signed && elem != EL_U32 && elem != EL_U64))
        return py_error(l, DIAG_EVAL_OPERAND, c->range, "umulhi", val_describe(l, x), "");
    const Type *as = ty_scalar(l->module, elem_info[elem].bits == 32 ? EL_U32 : EL_U64),
               *back = ty_scalar(l->module, elem);
    x = tri_cast(l, x, as, c->range);
    y = tri_cast(l, y, as, c->range);
    return tri_cast(l, val_tensor(ir_binary(&l->b, OP_MULHI, x.ref, y.ref)), back, c->range);
}

Val tri_lower_cdiv(Lower *l, const Call *c) {
    Val x = c->args[0], y = c->args[1];
    if (val_is_const(x) && val_is_const(y)) {
        Val up =
            val_binary(l, PY_OP_SUB, val_binary(l, PY_OP_ADD, x, y, c->range), val_int(1), c->range);
        return val_failed(up) ? up : val_binary(l, PY_OP_FLOORDIV, up, y, c->range);
    }
    if (!tri_promote(l, &x, &y, PROMOTE_WEAK | PROMOTE_DIVIDE, c->range)) return val_error;
    if (val_type(l, x)->pointer || !elem_is_int(val_type(l, x)->elem))
        return py_error(l, DIAG_EVAL_OPERANDS, c->range, "cdiv", val_describe(l, x), val_describe(l, y),
                        "; it divides integers");
    return val_tensor(ir_binary(&l->b, OP_CDIV, x.ref, y.ref));
}

Val tri_lower_operator(Lower *l, const Call *c) {
    bool checked;
    if (!py_want_bool(l, c, 2, &checked)) return val_error;
    return (checked ? tri_binary_written : tri_binary)(l, (PyOp)c->builtin->code, c->args[0], c->args[1], c->range);
}

Val tri_lower_logical(Lower *l, const Call *c) {
    Val v[2];
    for (int i = 0; i < 2; i++) {
        if (!tri_want_tensor(l, c, i, &v[i])) return val_error;
        if (val_type(l, v[i])->elem != EL_I1 || val_type(l, v[i])->pointer)
            return py_error(l, DIAG_TRI_BOOLEAN, c->ranges[i], c->builtin->name, val_describe(l, v[i]));
    }
    return tri_binary(l, (PyOp)c->builtin->code, v[0], v[1], c->range);
}

/* --- constants and Python's own --- */

Val tri_lower_next_power(Lower *l, const Call *c) {
    int64_t n, power = 1;
    if (!py_want_int(l, c, 0, &n)) return val_error;
    while (power < n && power < INT64_MAX / 2) power *= 2;
    return val_int(power);
}

Val tri_lower_log2(Lower *l, const Call *c) {
    int64_t n;
    int bits = 0;
    if (!py_want_int(l, c, 0, &n)) return val_error;
    if (c->builtin->code) return val_bool(n > 0 && (n & (n - 1)) == 0);
    for (; n > 1; n >>= 1) bits++;
    return val_int(bits);
}

/* Of two values with their indices the better one. */
Val tri_lower_arg_pair(Lower *l, const Call *c) {
    const Val *a = &c->args[0], *b = &c->args[2];
    Val better = tri_compare(l, (PyOp)c->builtin->code, a[0], b[0], c->range);
    Val equal = tri_compare(l, PY_OP_EQ, a[0], b[0], c->range), first = tri_compare(l, PY_OP_LT, a[1], b[1], c->range);
    if (val_failed(better) || val_failed(equal) || val_failed(first)) return val_error;
    Val tie = tri_binary(l, PY_OP_BITAND, equal, first, c->range);
    Val take = val_failed(tie) ? tie : tri_binary(l, PY_OP_BITOR, better, tie, c->range), out[2];
    if (val_failed(take)) return take;
    for (int i = 0; i < 2; i++) {
        Call choice = {c->builtin, c->range, (Val[]){take, a[i], b[i]}, (Range[]){c->range, c->range, c->range}};
        out[i] = tri_lower_where(l, &choice);
        if (val_failed(out[i])) return val_error;
    }
    return val_tuple(l, out, 2);
}

Val tri_lower_constexpr(Lower *l, const Call *c) {
    int64_t number;
    Val v = c->args[0];
    if (val_is_const(v)) return v;
    return py_want_int(l, c, 0, &number) ? val_int(number) : val_error;
}

Val tri_lower_to_tensor(Lower *l, const Call *c) { return tri_to_tensor(l, c->args[0], c->ranges[0]); }

Val tri_lower_python_minmax(Lower *l, const Call *c) {
    Val args = c->args[0];
    if (val_is_const(args)) return py_lower_minmax(l, c);
    if (args.count == 1 && args.items[0].kind == VAL_TUPLE) args = args.items[0];
    Val best = args.items[0];
    for (int i = 1; i < args.count; i++) {
        Val next = args.items[i];
        if (val_is_const(best) && val_is_const(next)) {
            Val better = val_compare(l, (PyOp)c->builtin->code, next, best, c->range);
            if (val_failed(better)) return better;
            if (better.i) best = next;
            continue;
        }
        best = tri_to_tensor(l, best, c->range);
        next = tri_to_tensor(l, next, c->range);
        if (val_failed(best) || val_failed(next)) return val_error;
        best = minmax(l, c->builtin->code == PY_OP_GT ? OP_MAX : OP_MIN, best, next, false, c);
        if (val_failed(best)) return best;
    }
    return best;
}

Val tri_lower_len(Lower *l, const Call *c) {
    Val v = c->args[0];
    if (v.kind == VAL_TENSOR && val_type(l, v)->rank) return val_int(val_type(l, v)->extent[0]);
    return py_lower_len(l, c);
}

/* --- loops and checks --- */

Val tri_lower_range(Lower *l, const Call *c) {
    Range3 *range = ARENA_NEW(l->arena, Range3);
    bool one = c->args[1].kind == VAL_NONE;
    range->is_static = c->builtin->code == 1;
    range->start = one ? val_int(0) : c->args[0];
    range->stop = one ? c->args[0] : c->args[1];
    range->step = c->args[2].kind == VAL_NONE ? val_int(1) : c->args[2];
    if (range->step.kind == VAL_INT && range->step.i == 0) return py_error(l, DIAG_EVAL_STEP_ZERO, c->range);
    if (range->is_static) {
        Val *parts[] = {&range->start, &range->stop, &range->step};
        for (int i = 0; i < 3; i++) {
            int64_t number;
            if (parts[i]->kind == VAL_TENSOR && ir_const_int(l->kernel, parts[i]->ref, &number))
                *parts[i] = val_int(number);
            if (parts[i]->kind != VAL_INT)
                return py_need_constant(l, c->range, "a bound of tl.static_range",
                                 *parts[i]);
        }
    } else {
        int64_t stages = 0, unroll = 0;
        if (c->args[3].kind != VAL_NONE && !py_want_int(l, c, 3, &stages)) return val_error;
        if (c->args[4].kind != VAL_NONE && !py_want_int(l, c, 4, &unroll)) return val_error;
        bool good = stages >= 0 && stages <= MAX_SLOTS && unroll >= 0 && unroll <= INT32_MAX;
        if (!good)
            return py_error(l, DIAG_EVAL_ARGUMENT, c->range, "tl.range",
                            "num_stages in 0 .. 1024 and loop_unroll_factor >= 0",
                            arena_printf(l->module->arena, "%lld and %lld", (long long)stages, (long long)unroll));
        range->stages = (int)stages;
        range->unroll = (int)unroll;
    }
    return (Val){.kind = VAL_RANGE, .range = range};
}

Val tri_lower_static_assert(Lower *l, const Call *c) {
    Val condition = c->args[0];
    if (!val_is_const(condition))
        return py_need_constant(l, c->ranges[0], "the condition of tl.static_assert",
                         condition);
    const char *text = val_text(l, c->args[1]);
    if (!val_truth(condition)) return py_error(l, DIAG_EVAL_STATIC_ASSERT, c->range, text[0] ? ": " : "", text);
    return val_none;
}

Val tri_lower_static_print(Lower *l, const Call *c) {
    Text out = text_new(l->arena);
    const char *between, *end;
    if (!py_want_text(l, c, 1, &between) || !py_want_text(l, c, 2, &end)) return val_error;
    for (int i = 0; i < c->args[0].count; i++)
        text_add(&out, "%s%s", i && between ? between : "", val_text(l, c->args[0].items[i]));
    text_add(&out, "%s", end ? end : "");
    if (l->request && l->request->print) l->request->print(l->request->print_user, out.at, out.length);
    return val_none;
}
