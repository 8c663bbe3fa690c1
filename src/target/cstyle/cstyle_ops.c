/* SPDX-License-Identifier: Apache-2.0 */
/* cstyle_ops.c: the C expression of every elementwise op, conversion and combination; see
 * cstyle.h.
 *
 * A row of the table has one shape a class of numbers. Floats smaller than f32 are
 * computed as f32 and rounded; integers smaller than 32 bits are computed as 32-bit ones and cut.
 * Where that would be wrong (bits counted, upper halves) the op has its own lines. */
#include "ir/externs.h"
#include "target/cstyle/cstyle.h"

#include <string.h>

typedef enum ShapeKind {
    SHAPE_NO,       /* no such op */
    SHAPE_SAME,     /* the operand itself */
    SHAPE_SIGN,     /* before the only operand: `which` is the character */
    SHAPE_OPERATOR, /* between two: an ExprOperator */
    SHAPE_CALL      /* a CFunction */
} ShapeKind;
typedef struct Shape {
    ShapeKind kind;
    int which;
} Shape;
// clang-format off
#define NO          {SHAPE_NO, 0}
#define SAME        {SHAPE_SAME, 0}
#define SIGN(c)     {SHAPE_SIGN, c}
#define BETWEEN(op) {SHAPE_OPERATOR, EXPR_##op}
#define CALL(fn)    {SHAPE_CALL, FN_##fn}
// clang-format on

typedef struct OpRow {
    Opcode code;
    Shape real, integer, logic;
    CFunction wraps; /* of integers, where the dialect's operator does not; FN_NONE: nothing to wrap */
    CFunction fast;  /* good for 2 or 3 units in the last place over the whole range; FN_NONE: no such form */
    CFunction keeps; /* of floats: keeps NaN */
} OpRow;

// clang-format off
static const OpRow rows[] = {
    {OP_NEG, SIGN('-'), SIGN('-'), SAME, 0, 0, 0},
    {OP_ABS, CALL(ABS), CALL(ABS), SAME, 0, 0, 0},
    {OP_NOT, NO, SIGN('~'), SIGN('!'), 0, 0, 0},
    {OP_EXP, CALL(EXP), NO, NO, 0, FN_EXP_FAST, 0},
    {OP_EXP2, CALL(EXP2), NO, NO, 0, FN_EXP2_FAST, 0},
    {OP_LOG, CALL(LOG), NO, NO, 0, 0, 0},
    {OP_LOG2, CALL(LOG2), NO, NO, 0, 0, 0},
    {OP_SQRT, CALL(SQRT), NO, NO, 0, FN_SQRT_FAST, 0},
    {OP_RSQRT, CALL(RSQRT), NO, NO, 0, FN_RSQRT_FAST, 0},
    {OP_SIN, CALL(SIN), NO, NO, 0, 0, 0},
    {OP_COS, CALL(COS), NO, NO, 0, 0, 0},
    {OP_TANH, CALL(TANH), NO, NO, 0, 0, 0},
    {OP_ERF, CALL(ERF), NO, NO, 0, 0, 0},
    {OP_FLOOR, CALL(FLOOR), NO, NO, 0, 0, 0},
    {OP_CEIL, CALL(CEIL), NO, NO, 0, 0, 0},
    {OP_TRUNC, CALL(TRUNC), NO, NO, 0, 0, 0},
    {OP_ROUND, CALL(ROUND), NO, NO, 0, 0, 0},
    {OP_RINT, CALL(RINT), NO, NO, 0, 0, 0},
    {OP_ADD, BETWEEN(ADD), BETWEEN(ADD), BETWEEN(XOR), FN_ADD, 0, 0},
    {OP_SUB, BETWEEN(SUB), BETWEEN(SUB), BETWEEN(XOR), FN_SUB, 0, 0},
    {OP_MUL, BETWEEN(MUL), BETWEEN(MUL), BETWEEN(AND), FN_MUL, 0, 0},
    {OP_DIV, BETWEEN(DIV), CALL(DIV), BETWEEN(AND), 0, FN_DIV_FAST, 0},
    {OP_REM, CALL(FMOD), CALL(REM), BETWEEN(GT), 0, 0, 0},
    {OP_FLOORDIV, CALL(FLOORDIV), CALL(FLOORDIV), BETWEEN(AND), 0, 0, 0},
    {OP_MOD, CALL(MOD), CALL(MOD), BETWEEN(GT), 0, 0, 0},
    {OP_CDIV, NO, CALL(CDIV), NO, 0, 0, 0},
    {OP_MIN, CALL(MIN), CALL(MIN), BETWEEN(AND), 0, 0, FN_MIN_NAN},
    {OP_MAX, CALL(MAX), CALL(MAX), BETWEEN(OR), 0, 0, FN_MAX_NAN},
    {OP_AND, NO, BETWEEN(AND), BETWEEN(AND), 0, 0, 0},
    {OP_OR, NO, BETWEEN(OR), BETWEEN(OR), 0, 0, 0},
    {OP_XOR, NO, BETWEEN(XOR), BETWEEN(XOR), 0, 0, 0},
    {OP_SHL, NO, CALL(SHL), NO, 0, 0, 0},
    {OP_SHR, NO, CALL(SHR), NO, 0, 0, 0},
    {OP_FMA, CALL(FMA), NO, NO, 0, 0, 0},
};
// clang-format on

static const OpRow *find_row(Opcode code) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}

bool cs_is_elementwise(Opcode code) {
    switch (code) {
    case OP_POPC:
    case OP_CLZ:
    case OP_MULHI:
    case OP_ISNAN:
    case OP_MATH:
    case OP_EXTERN:
    case OP_CMP:
    case OP_SELECT:
    case OP_CAST:
    case OP_BITCAST:
    case OP_PTR_ADD: return true;
    default: return find_row(code) != NULL;
    }
}

static bool is_small_float(Elem e) { return elem_is_float(e) && elem_info[e].bits < 32; }
static bool is_small_int(Elem e) { return elem_is_int(e) && elem_info[e].bits < 32; }
/* The type in which the functions of the prelude compute e. */
static Elem compute_elem(Elem e) {
    if (is_small_float(e)) return EL_F32;
    if (is_small_int(e)) return elem_is_signed(e) ? EL_I32 : EL_U32;
    return e == EL_I1 ? EL_I32 : e;
}

static const char *suffix_of(Elem e) { return cs_memory_type(e == EL_I1 ? EL_I32 : e); }

/* A call of tw_text, which is in that part of the C prelude. */
static const Expr *call_text(CPrinter *p, CPart part, const char *text, Elem suffix, const Expr *const *args,
                             int count) {
    const char *name = p->dialect->overloads ? arena_printf(p->arena, "tw_%s", text)
                                             : arena_printf(p->arena, "tw_%s_%s", text, suffix_of(suffix));
    return ex_in_part(p->arena, part, ex_call(p->arena, name, args, count));
}

static const struct {
    const char *text;
    CPart integer, f32, f64;
} functions[] = {
#define FUNCTION(id, text, integer, f32, f64, idle) {text, PART_##integer, PART_##f32, PART_##f64},
    {NULL, PART_NONE, PART_NONE, PART_NONE},
#include "target/cstyle/functions.def"
#undef FUNCTION
};

const Expr *cs_call(CPrinter *p, CFunction function, Elem suffix, const Expr *const *args, int count) {
    CPart part = !elem_is_float(suffix) ? functions[function].integer
                 : suffix == EL_F64     ? functions[function].f64
                                        : functions[function].f32;
    if (part == PART_NONE && !p->dialect->overloads)
        ice(p->kernel->module->trap, "cstyle: C's prelude has no %s of %s", functions[function].text,
            suffix_of(suffix));
    return call_text(p, part, functions[function].text, suffix, args, count);
}

static const Expr *call_1(CPrinter *p, CFunction function, Elem suffix, const Expr *x) {
    return cs_call(p, function, suffix, &x, 1);
}
static const Expr *call_2(CPrinter *p, CFunction function, Elem suffix, const Expr *x, const Expr *y) {
    const Expr *args[] = {x, y};
    return cs_call(p, function, suffix, args, 2);
}

/* The shape of a row that is no call, in parentheses. */
static const Expr *apply_shape(CPrinter *p, Shape shape, const Expr *const *args) {
    if (shape.kind == SHAPE_SAME) return ex_group(p->arena, args[0]);
    if (shape.kind == SHAPE_SIGN) return ex(p->arena, "(%c%p)", shape.which, args[0]);
    return ex_group(p->arena, ex_binary(p->arena, (ExprOperator)shape.which, args[0], args[1]));
}

/* --- how numbers lie in memory --- */

/* tw_text of a number, which converts it; the prelude's core has f16 and bf16 from and to f32. */
static const Expr *convert(CPrinter *p, const char *text, Elem from, const Expr *x) {
    return call_text(p, PART_CONVERT, text, from, &x, 1);
}

static const Expr *convert_small(CPrinter *p, Elem small, const char *text, Elem from, const Expr *x) {
    return call_text(p, elem_info[small].bits == 16 ? PART_CORE : PART_CONVERT, text, from, &x, 1);
}

const Expr *cs_unpack(CPrinter *p, Elem elem, const Expr *x) {
    if (elem == EL_I1) return ex(p->arena, "(%p != 0)", x);
    return is_small_float(elem) ? ex_with_bits(p->arena, convert_small(p, elem, "f32", elem, x), x) : x;
}

/* The bits of the nearest number of the type. */
static const Expr *nearest_bits(CPrinter *p, Elem elem, const Expr *x) {
    return ex_with_rounded(p->arena, convert_small(p, elem, cs_memory_type(elem), EL_F32, x), x);
}

const Expr *cs_pack(CPrinter *p, Elem elem, const Expr *x) {
    if (elem == EL_I1) return ex(p->arena, "(u8)%p", x);
    if (!is_small_float(elem)) return x;
    /* The number is one of the type already. Only an infinity that was read must not saturate on its way back. */
    return elem == EL_F8E5M2 ? convert(p, "e5m2_exact", EL_F32, x) : nearest_bits(p, elem, x);
}

const Expr *cs_round(CPrinter *p, Elem elem, const Expr *x) {
    return is_small_float(elem) ? cs_unpack(p, elem, nearest_bits(p, elem, x)) : x;
}

/* --- conversions --- */

/* An integer as an f64 that rounds to any smaller float as the integer would. */
static const Expr *exact_double(CPrinter *p, Elem from, const Expr *x) {
    bool wide = elem_info[from].bits == 64;
    return wide ? convert(p, "sticky", from, x) : ex(p->arena, "(f64)%p", x);
}

static const Expr *cast_to_float(CPrinter *p, Elem from, Elem to, bool toward_zero, const Expr *x) {
    bool from_float = elem_is_float(from);
    bool wide_int = !from_float && elem_info[from].bits == 64;
    if (to == EL_F64 && wide_int && toward_zero) return convert(p, "f64_rz", from, x);
    if (to == EL_F64) return ex(p->arena, "(f64)%p", x);
    if (from_float && from != EL_F64 && to == EL_F32) return x;
    if (from == EL_I1) return ex(p->arena, "(f32)%p", x);
    if (toward_zero) {
        const Expr *wide = from == EL_F64 ? x : from_float ? ex(p->arena, "(f64)%p", x) : exact_double(p, from, x);
        const char *name = arena_printf(p->arena, "%s_rz", cs_memory_type(to));
        const Expr *bits = convert(p, name, EL_F64, wide);
        return to == EL_F32 ? bits : cs_unpack(p, to, bits);
    }
    if (to == EL_F32) return ex(p->arena, "(f32)%p", x);
    if (from_float && from != EL_F64) return cs_round(p, to, x);
    /* f32 has all integers of 16 bits; what it has not of 32 is beyond all other small types. */
    if (!from_float && (elem_info[from].bits <= 16 || (elem_info[from].bits == 32 && to != EL_BF16)))
        return cs_round(p, to, ex(p->arena, "(f32)%p", x));
    const Expr *wide = from == EL_F64 ? x : exact_double(p, from, x);
    return cs_unpack(p, to, convert(p, cs_memory_type(to), EL_F64, wide));
}

static const Expr *cast_to_int(CPrinter *p, Elem from, Elem to, const Expr *x) {
    if (!elem_is_float(from)) return ex(p->arena, "(%s)%p", elem_info[to].text, x);
    Elem source = from == EL_F64 ? EL_F64 : EL_F32;
    if (!is_small_int(to)) return convert(p, elem_info[to].text, source, x);
    /* Small integers saturate too: through i32, with the limits of the type. */
    bool is_signed = elem_is_signed(to);
    int64_t top = (INT64_C(1) << (elem_info[to].bits - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0;
    const Expr *wide = convert(p, "i32", source, x);
    const Expr *low = call_2(p, FN_MAX, EL_I32, wide, cs_number(p->arena, EL_I32, bottom));
    const Expr *clipped = call_2(p, FN_MIN, EL_I32, low, cs_number(p->arena, EL_I32, top));
    return ex(p->arena, "(%s)%p", elem_info[to].text, clipped);
}

const Expr *cs_cast(CPrinter *p, Elem from, Elem to, bool toward_zero, const Expr *x) {
    if (from == to) return x;
    if (to == EL_I1) return ex(p->arena, "(%p != 0)", x);
    return ex_group(p->arena,
                    elem_is_float(to) ? cast_to_float(p, from, to, toward_zero, x) : cast_to_int(p, from, to, x));
}

/* Register value -> its bits as an unsigned integer of the same width. */
static const Expr *to_bits(CPrinter *p, const Type *type, const Expr *x) {
    Elem e = type->elem;
    if (type->pointer) return ex(p->arena, "(u64)%p", x);
    if (e == EL_F32) return ex(p->arena, "tw_as_u32(%p)", x);
    if (e == EL_F64) return ex(p->arena, "tw_as_u64(%p)", x);
    if (is_small_float(e)) return ex(p->arena, "%p%s", cs_pack(p, e, x), p->dialect->bits_of);
    return x;
}

static const Expr *from_bits(CPrinter *p, const Type *type, const Expr *x) {
    Elem e = type->elem;
    if (type->pointer) return ex(p->arena, "((%s)(u64)%p)", cs_value_type(p, type), x);
    if (e == EL_F32) return ex(p->arena, "tw_as_f32((u32)%p)", x);
    if (e == EL_F64) return ex(p->arena, "tw_as_f64((u64)%p)", x);
    if (e == EL_I1) return ex(p->arena, "(%p != 0)", x);
    if (is_small_float(e)) {
        bool half = elem_info[e].bits == 16;
        const Expr *as = ex(p->arena, "tw_as_%s((%s)%p)", cs_memory_type(e), half ? "u16" : "u8", x);
        return cs_unpack(p, e, ex_in_part(p->arena, half ? PART_CORE : PART_CONVERT, as));
    }
    return ex(p->arena, "((%s)%p)", elem_info[e].text, x);
}

/* --- the ops --- */

static const Expr *finish(CPrinter *p, Elem elem, const Expr *x) {
    if (is_small_float(elem)) return cs_round(p, elem, x);
    return is_small_int(elem) ? ex(p->arena, "(%s)%p", elem_info[elem].text, x) : x;
}

static Shape shape_of(const OpRow *row, Elem elem) {
    return elem == EL_I1 ? row->logic : elem_is_float(elem) ? row->real : row->integer;
}

/* `keep_nan`: where the op has two ways with NaN. */
static const Expr *apply_row(CPrinter *p, const OpRow *row, Elem elem, bool keep_nan, const Expr *const *args,
                             int count) {
    Shape shape = shape_of(row, elem);
    if (shape.kind == SHAPE_NO)
        ice(p->kernel->module->trap, "cstyle: no expression for %s", op_info[row->code].mnemonic);
    if (shape.kind == SHAPE_CALL) {
        bool keeps = keep_nan && row->keeps && elem_is_float(elem);
        return finish(p, elem,
                      cs_call(p, keeps ? row->keeps : (CFunction)shape.which, compute_elem(elem), args, count));
    }
    if (row->wraps && !p->dialect->signed_wraps && elem_is_signed(elem) && !is_small_int(elem))
        return cs_call(p, row->wraps, elem, args, count);
    if (row->code == OP_NEG && !p->dialect->signed_wraps && elem_is_int(elem) && !is_small_int(elem))
        return finish(p, elem,
                      call_2(p, FN_SUB, compute_elem(elem), cs_number(p->arena, compute_elem(elem), 0), args[0]));
    return finish(p, elem, apply_shape(p, shape, args));
}

static const Expr *count_bits(CPrinter *p, const Op *op, Elem elem, const Expr *x) {
    int bits = elem_info[elem].bits;
    const char *unsigned_name = bits == 8 ? "u8" : bits == 16 ? "u16" : bits == 32 ? "u32" : "u64";
    const Expr *wide = ex(p->arena, "(%s)%p", unsigned_name, x);
    bool zeros = op->code == OP_CLZ;
    const Expr *found = call_1(p, zeros ? FN_CLZ : FN_POPC, bits == 64 ? EL_U64 : EL_U32, wide);
    if (zeros && bits < 32) return ex(p->arena, "(%s)(%p - %d)", elem_info[elem].text, found, 32 - bits);
    return ex(p->arena, "((%s)%p)", elem_info[elem].text, found);
}

static const Expr *compare(CPrinter *p, const Op *op, const Expr *const *args) {
    const char *sign = "==";
    switch (op_word(op, AT_PRED, CMP_EQ)) {
    case CMP_LT: sign = "<"; break;
    case CMP_LE: sign = "<="; break;
    case CMP_GT: sign = ">"; break;
    case CMP_GE: sign = ">="; break;
    case CMP_NE: sign = "!="; break;
    default: break;
    }
    return ex(p->arena, "(%p %s %p)", args[0], sign, args[1]);
}

const Expr *cs_combine(CPrinter *p, Word combine, Elem elem, bool keep_nan, const Expr *x, const Expr *y) {
    Opcode code = OP_NONE;
    switch (combine) {
    case COMBINE_ADD: code = OP_ADD; break;
    case COMBINE_MUL: code = OP_MUL; break;
    case COMBINE_MIN: code = OP_MIN; break;
    case COMBINE_MAX: code = OP_MAX; break;
    case COMBINE_AND: code = OP_AND; break;
    case COMBINE_OR: code = OP_OR; break;
    case COMBINE_XOR: code = OP_XOR; break;
    case COMBINE_XCHG: return y;
    default: ice(p->kernel->module->trap, "cstyle: no expression for this combination");
    }
    const Expr *args[] = {x, y};
    /* The larger of two numbers is one of them: there is nothing to round. (Of 8 bits infinity becomes the largest.) */
    bool exact = (code == OP_MIN || code == OP_MAX) && elem_is_float(elem) && elem_info[elem].bits > 8;
    return apply_row(p, find_row(code), exact ? compute_elem(elem) : elem, keep_nan, args, 2);
}

const Expr *cs_elementwise(CPrinter *p, const Op *op, const Expr *const *args) {
    const Type *result = ir_type(p->kernel, op->results[0]);
    const Type *first = ir_type(p->kernel, op->operands[0]);
    Elem elem = first->elem;
    switch (op->code) {
    case OP_POPC:
    case OP_CLZ: return count_bits(p, op, elem, args[0]);
    case OP_MULHI:
        if (!is_small_int(elem)) return cs_call(p, FN_MULHI, elem, args, 2);
        return ex(p->arena, "(%s)((%p * %p) >> %d)", elem_info[elem].text, args[0], args[1], elem_info[elem].bits);
    case OP_ISNAN: return ex(p->arena, "(%p != %p)", args[0], args[0]);
    case OP_MATH: {
        int count = 1;
        while (count < op->operand_count && args[count]) count++;
        const char *name = word_info[op_word(op, AT_FN, WORD_NONE)].text;
        return finish(p, elem, call_text(p, PART_FUNCTIONS, name, compute_elem(elem), args, count));
    }
    case OP_EXTERN: return ex_call(p->arena, cs_extern_name(p->arena, p->kernel, op), args, ext_count(op));
    case OP_CMP: return compare(p, op, args);
    case OP_SELECT: return ex(p->arena, "(%p ? %p : %p)", args[0], args[1], args[2]);
    case OP_CAST: return cs_cast(p, elem, result->elem, op_word(op, AT_ROUND, ROUND_RN) == ROUND_RZ, args[0]);
    case OP_BITCAST:
        if (first->pointer == result->pointer && elem == result->elem) return args[0];
        return from_bits(p, result, to_bits(p, first, args[0]));
    case OP_PTR_ADD: return ex(p->arena, "(%p + (i64)%p)", args[0], args[1]);
    default: break;
    }
    const OpRow *row = find_row(op->code);
    if (!row) ice(p->kernel->module->trap, "cstyle: %s is not elementwise", op_info[op->code].mnemonic);
    if (row->fast && p->dialect->fast_forms && op_flag(op, AT_APPROX) && elem == EL_F32)
        return cs_call(p, row->fast, EL_F32, args, op->operand_count);
    /* What the fast form loses is below 2^-126: 0 as f16, either way. */
    if (op->code == OP_EXP2 && elem == EL_F16 && p->dialect->fast_forms)
        return finish(p, elem, cs_call(p, row->fast, EL_F32, args, op->operand_count));
    if (op_flag(op, AT_NATURAL)) {
        Elem natural = elem == EL_I64 ? EL_U64 : EL_U32;
        const char *type = elem_info[natural].text;
        const Expr *cast[] = {ex(p->arena, "(%s)%p", type, args[0]), ex(p->arena, "(%s)%p", type, args[1])};
        return ex(p->arena, "(%s)%p", elem_info[elem].text,
                  cs_call(p, (CFunction)row->integer.which, natural, cast, 2));
    }
    return apply_row(p, row, elem, op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP, args, op->operand_count);
}
