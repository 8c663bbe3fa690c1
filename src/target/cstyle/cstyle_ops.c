/* cstyle_ops.c: the C expression of every elementwise op, conversion and combination; see
 * cstyle.h.
 *
 * A row of the table has one form a class of numbers: "+" is an operator between two operands, "-x" one before the
 * only one, a bare name is a call of the prelude's function, "=" the operand itself. Floats smaller than f32 are
 * computed as f32 and rounded; integers smaller than 32 bits are computed as 32-bit ones and cut.
 * Where that would be wrong (bits counted, upper halves) the op has its own lines. */
#include "target/cstyle/cstyle.h"

#include <string.h>

typedef struct OpRow {
    Opcode code;
    const char *real, *integer, *logic; /* NULL: no such op */
} OpRow;

static const OpRow rows[] = {
    {OP_NEG, "-x", "-x", "="},       {OP_ABS, "abs", "abs", "="},     {OP_NOT, NULL, "~x", "!x"},
    {OP_EXP, "exp", NULL, NULL},     {OP_EXP2, "exp2", NULL, NULL},   {OP_LOG, "log", NULL, NULL},
    {OP_LOG2, "log2", NULL, NULL},   {OP_SQRT, "sqrt", NULL, NULL},   {OP_RSQRT, "rsqrt", NULL, NULL},
    {OP_SIN, "sin", NULL, NULL},     {OP_COS, "cos", NULL, NULL},     {OP_TANH, "tanh", NULL, NULL},
    {OP_ERF, "erf", NULL, NULL},     {OP_FLOOR, "floor", NULL, NULL}, {OP_CEIL, "ceil", NULL, NULL},
    {OP_TRUNC, "trunc", NULL, NULL}, {OP_ROUND, "round", NULL, NULL}, {OP_RINT, "rint", NULL, NULL},
    {OP_ADD, "+", "+", "^"},         {OP_SUB, "-", "-", "^"},         {OP_MUL, "*", "*", "&"},
    {OP_DIV, "/", "div", NULL},      {OP_REM, "fmod", "rem", NULL},   {OP_FLOORDIV, "floordiv", "floordiv", NULL},
    {OP_MOD, "mod", "mod", NULL},    {OP_CDIV, NULL, "cdiv", NULL},   {OP_MIN, "min", "min", "&"},
    {OP_MAX, "max", "max", "|"},     {OP_AND, NULL, "&", "&"},        {OP_OR, NULL, "|", "|"},
    {OP_XOR, NULL, "^", "^"},        {OP_SHL, NULL, "shl", NULL},     {OP_SHR, NULL, "shr", NULL},
    {OP_FMA, "fma", NULL, NULL},
};

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

const Expr *cs_call(CPrinter *p, const char *function, Elem suffix, const Expr *const *args, int count) {
    const char *name = p->dialect->overloads ? arena_printf(p->arena, "tw_%s", function)
                                             : arena_printf(p->arena, "tw_%s_%s", function, suffix_of(suffix));
    return ex_call(p->arena, name, args, count);
}

static const Expr *call_1(CPrinter *p, const char *function, Elem suffix, const Expr *x) {
    return cs_call(p, function, suffix, &x, 1);
}
static const Expr *call_2(CPrinter *p, const char *function, Elem suffix, const Expr *x, const Expr *y) {
    const Expr *args[] = {x, y};
    return cs_call(p, function, suffix, args, 2);
}

static bool is_call(const char *form) { return form[0] >= 'a' && form[0] <= 'z'; }

/* The form of a row that is no call, in parentheses. */
static const Expr *apply_operator(CPrinter *p, const char *form, const Expr *const *args) {
    if (form[0] == '=') return ex(p->arena, "(%p)", args[0]);
    if (form[1] == 'x') return ex(p->arena, "(%c%p)", form[0], args[0]);
    return ex(p->arena, "(%p %s %p)", args[0], form, args[1]);
}

const Expr *cs_unpack(CPrinter *p, Elem elem, const Expr *x) {
    if (elem == EL_I1) return ex(p->arena, "(%p != 0)", x);
    return is_small_float(elem) ? ex_with_bits(p->arena, call_1(p, "f32", elem, x), x) : x;
}

/* The bits of the nearest number of the type. */
static const Expr *nearest_bits(CPrinter *p, Elem elem, const Expr *x) {
    return ex_with_rounded(p->arena, call_1(p, cs_memory_type(elem), EL_F32, x), x);
}

const Expr *cs_pack(CPrinter *p, Elem elem, const Expr *x) {
    if (elem == EL_I1) return ex(p->arena, "(u8)%p", x);
    if (!is_small_float(elem)) return x;
    /* The number is one of the type already. Only an infinity that was read must not saturate on its way back. */
    return elem == EL_F8E5M2 ? call_1(p, "e5m2_exact", EL_F32, x) : nearest_bits(p, elem, x);
}

const Expr *cs_round(CPrinter *p, Elem elem, const Expr *x) {
    return is_small_float(elem) ? cs_unpack(p, elem, nearest_bits(p, elem, x)) : x;
}

/* --- conversions --- */

/* An integer as an f64 that rounds to any smaller float as the integer would. */
static const Expr *exact_double(CPrinter *p, Elem from, const Expr *x) {
    bool wide = elem_info[from].bits == 64;
    return wide ? call_1(p, "sticky", from, x) : ex(p->arena, "(f64)%p", x);
}

static const Expr *cast_to_float(CPrinter *p, Elem from, Elem to, bool toward_zero, const Expr *x) {
    bool from_float = elem_is_float(from);
    bool wide_int = !from_float && elem_info[from].bits == 64;
    if (to == EL_F64 && wide_int && toward_zero) return call_1(p, "f64_rz", from, x);
    if (to == EL_F64) return ex(p->arena, "(f64)%p", x);
    if (from_float && from != EL_F64 && to == EL_F32) return x;
    if (from == EL_I1) return ex(p->arena, "(f32)%p", x);
    if (toward_zero) {
        const Expr *wide = from == EL_F64 ? x : from_float ? ex(p->arena, "(f64)%p", x) : exact_double(p, from, x);
        const char *name = arena_printf(p->arena, "%s_rz", cs_memory_type(to));
        const Expr *bits = call_1(p, name, EL_F64, wide);
        return to == EL_F32 ? bits : cs_unpack(p, to, bits);
    }
    if (to == EL_F32) return ex(p->arena, "(f32)%p", x);
    if (from_float && from != EL_F64) return cs_round(p, to, x);
    /* f32 has all integers of 16 bits; what it has not of 32 is beyond all other small types. */
    if (!from_float && (elem_info[from].bits <= 16 || (elem_info[from].bits == 32 && to != EL_BF16)))
        return cs_round(p, to, ex(p->arena, "(f32)%p", x));
    const Expr *wide = from == EL_F64 ? x : exact_double(p, from, x);
    return cs_unpack(p, to, call_1(p, cs_memory_type(to), EL_F64, wide));
}

static const Expr *cast_to_int(CPrinter *p, Elem from, Elem to, const Expr *x) {
    if (!elem_is_float(from)) return ex(p->arena, "(%s)%p", elem_info[to].text, x);
    Elem source = from == EL_F64 ? EL_F64 : EL_F32;
    if (!is_small_int(to)) return call_1(p, elem_info[to].text, source, x);
    /* Small integers saturate too: through i32, with the limits of the type. */
    bool is_signed = elem_is_signed(to);
    int64_t top = (INT64_C(1) << (elem_info[to].bits - is_signed)) - 1, bottom = is_signed ? -top - 1 : 0;
    const Expr *wide = call_1(p, "i32", source, x);
    const Expr *low = call_2(p, "max", EL_I32, wide, cs_number(p->arena, EL_I32, bottom));
    const Expr *clipped = call_2(p, "min", EL_I32, low, cs_number(p->arena, EL_I32, top));
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
        const char *bits = elem_info[e].bits == 16 ? "u16" : "u8";
        return cs_unpack(p, e, ex(p->arena, "tw_as_%s((%s)%p)", cs_memory_type(e), bits, x));
    }
    return ex(p->arena, "((%s)%p)", elem_info[e].text, x);
}

/* --- the ops --- */

static const Expr *finish(CPrinter *p, Elem elem, const Expr *x) {
    if (is_small_float(elem)) return cs_round(p, elem, x);
    return is_small_int(elem) ? ex(p->arena, "(%s)%p", elem_info[elem].text, x) : x;
}

static const Expr *apply_row(CPrinter *p, const OpRow *row, Elem elem, const char *variant, const Expr *const *args,
                             int count) {
    const char *form = elem == EL_I1 ? row->logic : elem_is_float(elem) ? row->real : row->integer;
    if (!form) ice(p->kernel->module->trap, "cstyle: no expression for %s", op_info[row->code].mnemonic);
    if (is_call(form)) {
        const char *name = *variant ? arena_printf(p->arena, "%s%s", form, variant) : form;
        return finish(p, elem, cs_call(p, name, compute_elem(elem), args, count));
    }
    bool wraps = row->code == OP_ADD || row->code == OP_SUB || row->code == OP_MUL;
    if (wraps && !p->dialect->signed_wraps && elem_is_signed(elem) && !is_small_int(elem))
        return cs_call(p, op_info[row->code].mnemonic, elem, args, count);
    if (row->code == OP_NEG && !p->dialect->signed_wraps && elem_is_int(elem) && !is_small_int(elem))
        return finish(p, elem,
                      call_2(p, "sub", compute_elem(elem), cs_number(p->arena, compute_elem(elem), 0), args[0]));
    return finish(p, elem, apply_operator(p, form, args));
}

static const Expr *count_bits(CPrinter *p, const Op *op, Elem elem, const Expr *x) {
    int bits = elem_info[elem].bits;
    const char *unsigned_name = bits == 8 ? "u8" : bits == 16 ? "u16" : bits == 32 ? "u32" : "u64";
    const Expr *wide = ex(p->arena, "(%s)%p", unsigned_name, x);
    bool zeros = op->code == OP_CLZ;
    const Expr *found = call_1(p, zeros ? "clz" : "popc", bits == 64 ? EL_U64 : EL_U32, wide);
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
    bool extreme = code == OP_MIN || code == OP_MAX;
    return apply_row(p, find_row(code), elem, extreme && keep_nan && elem_is_float(elem) ? "_nan" : "", args, 2);
}

/* The ops whose fast form is good for 2 or 3 units in the last place over the whole range. */
static const char *fast_form(Opcode code) {
    switch (code) {
    case OP_EXP: return "exp_fast";
    case OP_EXP2: return "exp2_fast";
    case OP_SQRT: return "sqrt_fast";
    case OP_RSQRT: return "rsqrt_fast";
    case OP_DIV: return "div_fast";
    default: return NULL;
    }
}

const Expr *cs_elementwise(CPrinter *p, const Op *op, const Expr *const *args) {
    const Type *result = ir_type(p->kernel, op->results[0]);
    const Type *first = ir_type(p->kernel, op->operands[0]);
    Elem elem = first->elem;
    switch (op->code) {
    case OP_POPC:
    case OP_CLZ: return count_bits(p, op, elem, args[0]);
    case OP_MULHI:
        if (!is_small_int(elem)) return cs_call(p, "mulhi", elem, args, 2);
        return ex(p->arena, "(%s)((%p * %p) >> %d)", elem_info[elem].text, args[0], args[1], elem_info[elem].bits);
    case OP_ISNAN: return ex(p->arena, "(%p != %p)", args[0], args[0]);
    case OP_MATH: {
        int count = 1;
        while (count < op->operand_count && args[count]) count++;
        const char *name = word_info[op_word(op, AT_FN, WORD_NONE)].text;
        return finish(p, elem, cs_call(p, name, compute_elem(elem), args, count));
    }
    case OP_CMP: return compare(p, op, args);
    case OP_SELECT: return ex(p->arena, "(%p ? %p : %p)", args[0], args[1], args[2]);
    case OP_CAST: return cs_cast(p, elem, result->elem, op_word(op, AT_ROUND, ROUND_RN) == ROUND_RZ, args[0]);
    case OP_BITCAST:
        if (first->pointer == result->pointer && elem == result->elem) return args[0];
        return from_bits(p, result, to_bits(p, first, args[0]));
    case OP_PTR_ADD: return ex(p->arena, "(%p + (i64)%p)", args[0], args[1]);
    default: break;
    }
    const char *fast = p->dialect->fast_forms && op_flag(op, AT_APPROX) && elem == EL_F32 ? fast_form(op->code) : NULL;
    if (fast) return cs_call(p, fast, EL_F32, args, op->operand_count);
    const OpRow *row = find_row(op->code);
    if (!row) ice(p->kernel->module->trap, "cstyle: %s is not elementwise", op_info[op->code].mnemonic);
    if (op_flag(op, AT_NATURAL)) {
        Elem natural = elem == EL_I64 ? EL_U64 : EL_U32;
        const char *type = elem_info[natural].text;
        const Expr *cast[] = {ex(p->arena, "(%s)%p", type, args[0]), ex(p->arena, "(%s)%p", type, args[1])};
        return ex(p->arena, "(%s)%p", elem_info[elem].text, cs_call(p, row->integer, natural, cast, 2));
    }
    bool extreme = (op->code == OP_MIN || op->code == OP_MAX) && elem_is_float(elem);
    const char *variant = extreme && op_word(op, AT_NAN, NAN_DROP) == NAN_KEEP ? "_nan" : "";
    return apply_row(p, row, elem, variant, args, op->operand_count);
}
