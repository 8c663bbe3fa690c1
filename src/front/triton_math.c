/* triton_math.c: builtins that work element by element, Python's own builtins, and those that speak
 * at compile time. */
#include "front/triton.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Val lower_unsupported(Lower *l, const Call *c) {
    return tl_error(l, DIAG_TL_UNSUPPORTED, c->range,
                    arena_printf(l->arena, "`%s`", c->builtin->name));
}

/* --- float functions --- */

/* Triton's rule: float32 and float64 only, so that nobody computes exp in float16 unknowingly. */
static bool want_wide_float(Lower *l, const Call *c, int arg, Val *v) {
    if (!want_tensor(l, c, arg, v)) return false;
    const Type *type = val_type(l, *v);
    if (!type->pointer && (type->elem == EL_F32 || type->elem == EL_F64)) return true;
    tl_error(l, DIAG_TL_WIDE_FLOAT, c->ranges[arg], c->builtin->name, type_text(l, type));
    return false;
}

static Val apply_math(Lower *l, const Call *c, bool approx) {
    Val x;
    if (!want_wide_float(l, c, 0, &x)) return val_error;
    Op *op = ir_begin(&l->b, (Opcode)c->builtin->code);
    ir_operand(&l->b, op, x.ref);
    if (approx && val_type(l, x)->elem == EL_F32)
        op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val lower_math(Lower *l, const Call *c) {
    return apply_math(l, c, true);
}
Val lower_math_exact(Lower *l, const Call *c) {
    return apply_math(l, c, false);
}

Val lower_math_word(Lower *l, const Call *c) {
    Val x[2] = {val_none, val_none};
    bool two = strchr(c->builtin->signature, 'y') != NULL;
    for (int i = 0; i < 1 + two; i++)
        if (!want_wide_float(l, c, i, &x[i])) return val_error;
    if (two && !tl_promote(l, &x[0], &x[1], 0, c->range)) return val_error;
    Op *op = ir_begin(&l->b, OP_MATH);
    ir_operand(&l->b, op, x[0].ref);
    if (two) ir_operand(&l->b, op, x[1].ref);
    op_set(l->kernel, op, (Attr){.id = AT_FN, .word = (Word)c->builtin->code});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val lower_sigmoid(Lower *l, const Call *c) {
    Val x;
    if (!want_wide_float(l, c, 0, &x)) return val_error;
    Elem elem = val_type(l, x)->elem;
    Ref one = ir_float(&l->b, elem, 1);
    Op *op = ir_begin(&l->b, OP_EXP);
    ir_operand(&l->b, op, ir_unary(&l->b, OP_NEG, x.ref));
    if (elem == EL_F32) op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    Ref e = ir_end(&l->b, op, NULL);
    return tl_binary(l, PY_OP_DIV, val_tensor(one), val_tensor(ir_binary(&l->b, OP_ADD, one, e)),
                     c->range);
}

Val lower_abs(Lower *l, const Call *c) {
    if (val_is_number(c->args[0])) {
        Val v = c->args[0];
        return v.kind == VAL_FLOAT ? val_float(fabs(v.f))
               : v.i < 0           ? const_unary(l, PY_OP_USUB, v, c->range)
                                   : val_int(v.i);
    }
    Val x;
    if (!want_tensor(l, c, 0, &x)) return val_error;
    const Type *type = val_type(l, x);
    if (type->pointer) return tl_error(l, DIAG_TL_OPERAND, c->range, "abs", val_describe(l, x));
    bool same = type->elem == EL_I1 || elem_info[type->elem].cls == CLASS_UINT;
    return same ? x : val_tensor(ir_unary(&l->b, OP_ABS, x.ref));
}

/* --- two and three operands --- */

static Val widen_bf16(Lower *l, Val v, Range range) {
    const Type *type = val_type(l, v);
    return !type->pointer && type->elem == EL_BF16
               ? tl_cast(l, v, ty_scalar(l->module, EL_F32), range)
               : v;
}

static Val minmax(Lower *l, Opcode code, Val x, Val y, Val nan, const Call *c) {
    if (nan.kind != VAL_NONE) return tl_error(l, DIAG_TL_UNSUPPORTED, c->range, "`propagate_nan`");
    x = widen_bf16(l, x, c->range);
    y = widen_bf16(l, y, c->range);
    if (!tl_promote(l, &x, &y, 0, c->range)) return val_error;
    if (val_type(l, x)->elem == EL_I1) code = code == OP_MAX ? OP_OR : OP_AND;
    return val_tensor(ir_binary(&l->b, code, x.ref, y.ref));
}

Val lower_minmax(Lower *l, const Call *c) {
    Val x, y;
    if (!want_tensor(l, c, 0, &x) || !want_tensor(l, c, 1, &y)) return val_error;
    return minmax(l, (Opcode)c->builtin->code, x, y, c->args[2], c);
}

Val lower_clamp(Lower *l, const Call *c) {
    Val x, low, high;
    if (!want_tensor(l, c, 0, &x) || !want_tensor(l, c, 1, &low) || !want_tensor(l, c, 2, &high))
        return val_error;
    if (!elem_is_float(val_type(l, x)->elem))
        return tl_error(l, DIAG_TL_OPERAND, c->range, "clamp", val_describe(l, x));
    x = minmax(l, OP_MAX, x, low, c->args[3], c);
    return val_failed(x) ? x : minmax(l, OP_MIN, x, high, c->args[3], c);
}

Val lower_where(Lower *l, const Call *c) {
    Val condition, x = c->args[1], y = c->args[2];
    if (!want_tensor(l, c, 0, &condition)) return val_error;
    condition = tl_cast(l, condition, ty_scalar(l->module, EL_I1), c->ranges[0]);
    if (val_failed(condition)) return condition;
    if (!need_ir(l, c->range) || !tl_promote(l, &x, &y, PROMOTE_WEAK, c->range)) return val_error;
    if (!tl_align(l, &condition, &x, c->range) || !tl_align(l, &condition, &y, c->range) ||
        !tl_align(l, &x, &y, c->range))
        return val_error;
    return val_tensor(ir_ternary(&l->b, OP_SELECT, condition.ref, x.ref, y.ref));
}

Val lower_fma(Lower *l, const Call *c) {
    Val v[3];
    for (int i = 0; i < 3; i++)
        if (!want_tensor(l, c, i, &v[i])) return val_error;
    if (!tl_promote(l, &v[0], &v[1], 0, c->range) || !tl_promote(l, &v[2], &v[0], 0, c->range) ||
        !tl_promote(l, &v[2], &v[1], 0, c->range))
        return val_error;
    if (!elem_is_float(val_type(l, v[0])->elem))
        return tl_error(l, DIAG_TL_OPERAND, c->range, "fma", val_describe(l, v[0]));
    return val_tensor(ir_ternary(&l->b, OP_FMA, v[0].ref, v[1].ref, v[2].ref));
}

Val lower_fdiv(Lower *l, const Call *c) {
    bool exact = c->builtin->code == 1;
    Val x = c->args[0], y = c->args[1];
    if (!exact && !want_bool(l, c, 2, &exact)) return val_error;
    if (!tl_promote(l, &x, &y, PROMOTE_WEAK | PROMOTE_DIVIDE, c->range)) return val_error;
    if (!elem_is_float(val_type(l, x)->elem))
        return tl_error(l, DIAG_TL_OPERANDS, c->range, c->builtin->name, val_describe(l, x),
                        val_describe(l, y));
    Op *op = ir_begin(&l->b, OP_DIV);
    ir_operand(&l->b, op, x.ref);
    ir_operand(&l->b, op, y.ref);
    if (!exact && val_type(l, x)->elem == EL_F32)
        op_set(l->kernel, op, (Attr){.id = AT_APPROX, .number = 1});
    return val_tensor(ir_end(&l->b, op, NULL));
}

Val lower_umulhi(Lower *l, const Call *c) {
    Val x, y;
    if (!want_tensor(l, c, 0, &x) || !want_tensor(l, c, 1, &y) ||
        !tl_promote(l, &x, &y, 0, c->range))
        return val_error;
    Elem elem = val_type(l, x)->elem;
    bool is_signed = elem == EL_I32 || elem == EL_I64;
    if (!is_signed && elem != EL_U32 && elem != EL_U64)
        return tl_error(l, DIAG_TL_OPERAND, c->range, "umulhi", val_describe(l, x));
    const Type *as = ty_scalar(l->module, elem_info[elem].bits == 32 ? EL_U32 : EL_U64),
               *back = ty_scalar(l->module, elem);
    x = tl_cast(l, x, as, c->range);
    y = tl_cast(l, y, as, c->range);
    return tl_cast(l, val_tensor(ir_binary(&l->b, OP_MULHI, x.ref, y.ref)), back, c->range);
}

Val lower_cdiv(Lower *l, const Call *c) {
    Val x = c->args[0], y = c->args[1];
    if (val_is_const(x) && val_is_const(y)) {
        Val up = const_binary(l, PY_OP_SUB, const_binary(l, PY_OP_ADD, x, y, c->range), val_int(1),
                              c->range);
        return val_failed(up) ? up : const_binary(l, PY_OP_FLOORDIV, up, y, c->range);
    }
    if (!tl_promote(l, &x, &y, PROMOTE_WEAK | PROMOTE_DIVIDE, c->range)) return val_error;
    if (!elem_is_int(val_type(l, x)->elem))
        return tl_error(l, DIAG_TL_OPERANDS, c->range, "cdiv", val_describe(l, x),
                        val_describe(l, y));
    return val_tensor(ir_binary(&l->b, OP_CDIV, x.ref, y.ref));
}

Val lower_operator(Lower *l, const Call *c) {
    return tl_binary(l, (PyOp)c->builtin->code, c->args[0], c->args[1], c->range);
}

/* --- constants and Python's builtins --- */

Val lower_next_power(Lower *l, const Call *c) {
    int64_t n, power = 1;
    if (!want_int(l, c, 0, &n)) return val_error;
    while (power < n && power < INT64_MAX / 2) power *= 2;
    return val_int(power);
}

Val lower_constexpr(Lower *l, const Call *c) {
    int64_t number;
    Val v = c->args[0];
    if (val_is_const(v)) return v;
    return want_int(l, c, 0, &number) ? val_int(number) : val_error;
}

Val lower_to_tensor(Lower *l, const Call *c) {
    return to_tensor(l, c->args[0], c->ranges[0]);
}

Val lower_python_minmax(Lower *l, const Call *c) {
    Val args = c->args[0];
    if (args.count == 1 && args.items[0].kind == VAL_TUPLE) args = args.items[0];
    if (args.count == 0)
        return tl_error(l, DIAG_TL_MISSING, c->range, c->builtin->name, "an argument");
    Val best = args.items[0];
    for (int i = 1; i < args.count; i++) {
        Val next = args.items[i];
        if (val_is_const(best) && val_is_const(next)) {
            Val better = const_compare(l, (PyOp)c->builtin->code, next, best, c->range);
            if (val_failed(better)) return better;
            if (better.i) best = next;
            continue;
        }
        best = to_tensor(l, best, c->range);
        next = to_tensor(l, next, c->range);
        if (val_failed(best) || val_failed(next)) return val_error;
        best = minmax(l, c->builtin->code == PY_OP_GT ? OP_MAX : OP_MIN, best, next, val_none, c);
        if (val_failed(best)) return best;
    }
    return best;
}

Val lower_len(Lower *l, const Call *c) {
    Val v = c->args[0];
    if (v.kind == VAL_TUPLE) return val_int(v.count);
    if (v.kind == VAL_STR) return val_int((PyInt)strlen(v.text));
    if (v.kind == VAL_TENSOR && val_type(l, v)->rank) return val_int(val_type(l, v)->extent[0]);
    return tl_error(l, DIAG_TL_ARGUMENT, c->ranges[0], "len", "a tuple", val_describe(l, v));
}

static bool parse_float(const char *text, double *value) {
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    while (*end == ' ') end++;
    return end != text && *end == '\0' && !strpbrk(text, "xX(");
}

Val lower_number(Lower *l, const Call *c) {
    Val v = c->args[0];
    char to = (char)c->builtin->code;
    if (to == 'b' && val_is_const(v)) return val_bool(val_truth(v));
    double parsed;
    if (v.kind == VAL_STR && to == 'f' && parse_float(v.text, &parsed)) return val_float(parsed);
    if (val_is_number(v)) {
        if (to == 'f') return val_float(val_as_double(v));
        if (v.kind != VAL_FLOAT) return val_int(v.i);
        if (fabs(v.f) < 0x1p126) return val_int((PyInt)v.f);
    }
    const char *want = to == 'f' ? "a number or a string such as 'inf', known at compile time (use "
                                   ".to(tl.float32) on tensors)"
                                 : "a number known at compile time (use .to(...) on tensors)";
    return tl_error(l, DIAG_TL_ARGUMENT, c->ranges[0], c->builtin->name, want, val_describe(l, v));
}

Val lower_isinstance(Lower *l, const Call *c) {
    Val v = c->args[0], cls = c->args[1];
    if (cls.kind == VAL_BUILTIN && cls.builtin->lower == lower_number) {
        char to = (char)cls.builtin->code;
        return val_bool(to == 'f'   ? v.kind == VAL_FLOAT
                        : to == 'b' ? v.kind == VAL_BOOL
                                    : v.kind == VAL_INT || v.kind == VAL_BOOL);
    }
    if (cls.kind == VAL_BUILTIN && cls.builtin->lower == lower_constexpr)
        return val_bool(val_is_const(v));
    return tl_error(l, DIAG_TL_UNSUPPORTED, c->range, "`isinstance` with this class");
}

/* --- loops and checks --- */

Val lower_range(Lower *l, const Call *c) {
    Range3 *range = ARENA_NEW(l->arena, Range3);
    bool one = c->args[1].kind == VAL_NONE;
    range->is_static = c->builtin->code == 1;
    range->start = one ? val_int(0) : c->args[0];
    range->stop = one ? c->args[0] : c->args[1];
    range->step = c->args[2].kind == VAL_NONE ? val_int(1) : c->args[2];
    if (range->step.kind == VAL_INT && range->step.i == 0)
        return tl_error(l, DIAG_TL_STEP_ZERO, c->range);
    if (range->is_static) {
        Val *parts[] = {&range->start, &range->stop, &range->step};
        for (int i = 0; i < 3; i++) {
            int64_t number;
            if (parts[i]->kind == VAL_TENSOR && ir_const_int(l->kernel, parts[i]->ref, &number))
                *parts[i] = val_int(number);
            if (parts[i]->kind != VAL_INT)
                return tl_error(l, DIAG_TL_NEED_CONSTANT, c->range, "a bound of tl.static_range",
                                val_describe(l, *parts[i]));
        }
    } else {
        int64_t stages = 0, unroll = 0;
        if (c->args[3].kind != VAL_NONE && !want_int(l, c, 3, &stages)) return val_error;
        if (c->args[4].kind != VAL_NONE && !want_int(l, c, 4, &unroll)) return val_error;
        range->stages = (int)stages;
        range->unroll = (int)unroll;
    }
    return (Val){.kind = VAL_RANGE, .range = range};
}

Val lower_static_assert(Lower *l, const Call *c) {
    Val condition = c->args[0];
    if (!val_is_const(condition))
        return tl_error(l, DIAG_TL_NEED_CONSTANT, c->ranges[0], "the condition of tl.static_assert",
                        val_describe(l, condition));
    const char *text = val_text(l, c->args[1]);
    if (!val_truth(condition))
        return tl_error(l, DIAG_TL_STATIC_ASSERT, c->range, text[0] ? ": " : "", text);
    return val_none;
}

Val lower_static_print(Lower *l, const Call *c) {
    Text out = text_new(l->arena);
    for (int i = 0; i < c->args[0].count; i++)
        text_add(&out, "%s%s", i ? " " : "", val_text(l, c->args[0].items[i]));
    diag_emit(l->diag, DIAG_TL_STATIC_PRINT, c->range, out.at);
    return val_none;
}
