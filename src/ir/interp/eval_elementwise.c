/* SPDX-License-Identifier: Apache-2.0 */
/* eval_elementwise.c: ops that act element by element.
 *
 * Operands are brought into one of three wide types a chunk at a time (int64_t; float for f32 and
 * all below it; double), the op is one tight loop over the chunk, and the result is wrapped or
 * rounded back into its own type. So f16 arithmetic is the f32 operation rounded, as defined, and
 * each op is written three times at most. Transcendental functions of floats are computed in double
 * and rounded: nearly always the correctly rounded value, and the same on every host.
 *
 * A Walk, made once a step, says how operands of smaller shape repeat under the result's. */
#include "ir/interp/interp_core.h"

#include <math.h>
#include "base/special.h"

enum { CHUNK = 256 };

/* --- walking shapes --- */

Walk walk_new(Interp *in, const Type *shape, int count, const Type *const *types) {
    Walk w = {.count = count, .rows = 1};
    int64_t full[4][MAX_RANK];
    for (int k = 0; k < count; k++) {
        const Type *t = types[k];
        if (t->rank && t->rank != shape->rank) ice(in->arena.trap, "interpreter: shapes do not broadcast");
        int64_t stride = 1;
        for (int d = shape->rank - 1; d >= 0; d--) {
            int64_t extent = t->rank ? t->extent[d] : 1;
            if (extent != 1 && extent != shape->extent[d]) ice(in->arena.trap, "interpreter: shapes do not broadcast");
            full[k][d] = extent == 1 ? 0 : stride;
            stride *= extent;
        }
    }
    for (int d = 0; d < shape->rank; d++) {
        if (shape->extent[d] == 1) continue;
        /* The axis joins the one before it when every operand walks through both in one stride. */
        bool joins = w.rank > 0;
        for (int k = 0; k < count && joins; k++) joins = w.stride[k][w.rank - 1] == full[k][d] * shape->extent[d];
        int at = joins ? w.rank - 1 : w.rank++;
        w.extent[at] = (joins ? w.extent[at] : 1) * shape->extent[d];
        for (int k = 0; k < count; k++) w.stride[k][at] = full[k][d];
    }
    if (!w.rank) w.extent[w.rank++] = 1;
    for (int d = 0; d < w.rank - 1; d++) w.rows *= w.extent[d];
    return w;
}

void walk_row(const Walk *w, int64_t row, int64_t *offsets) {
    for (int k = 0; k < w->count; k++) offsets[k] = 0;
    for (int d = w->rank - 2; d >= 0; d--) {
        int64_t at = row % w->extent[d];
        row /= w->extent[d];
        for (int k = 0; k < w->count; k++) offsets[k] += at * w->stride[k][d];
    }
}

int64_t walk_offset(const Walk *w, int operand, int64_t index) {
    int64_t offset = 0;
    for (int d = w->rank - 1; d >= 0; d--) {
        offset += index % w->extent[d] * w->stride[operand][d];
        index /= w->extent[d];
    }
    return offset;
}

/* --- wide chunks --- */

typedef enum Wide { WIDE_INT, WIDE_F32, WIDE_F64 } Wide;
typedef union Chunk {
    int64_t i[CHUNK];
    float f[CHUNK];
    double d[CHUNK];
} Chunk;

static Wide wide_of(Elem elem) { return !elem_is_float(elem) ? WIDE_INT : elem == EL_F64 ? WIDE_F64 : WIDE_F32; }

/* n elements, or one repeated, as wide numbers: in place where they are so already. */
static const void *widen(Elem elem, const void *data, int64_t offset, int64_t stride, int n, Chunk *room) {
    const char *from = (const char *)data + offset * elem_info[elem].bytes;
    int read = stride ? n : 1;
    if (read == n && (elem == EL_F32 || elem == EL_F64 || elem == EL_I64 || elem == EL_U64)) return from;
    switch (wide_of(elem)) {
    case WIDE_INT:
        elem_read_i64(elem, from, read, room->i);
        if (!stride)
            for (int i = 1; i < n; i++) room->i[i] = room->i[0];
        break;
    case WIDE_F32:
        elem_read_f32(elem, from, read, room->f);
        if (!stride)
            for (int i = 1; i < n; i++) room->f[i] = room->f[0];
        break;
    case WIDE_F64:
        elem_read_f64(elem, from, read, room->d);
        if (!stride)
            for (int i = 1; i < n; i++) room->d[i] = room->d[0];
        break;
    }
    return room;
}

static void narrow(Elem elem, void *data, int64_t offset, int n, const Chunk *from) {
    char *to = (char *)data + offset * elem_info[elem].bytes;
    switch (wide_of(elem)) {
    case WIDE_INT: elem_write_i64(elem, to, n, from->i); break;
    case WIDE_F32: elem_write_f32(elem, to, n, from->f); break;
    case WIDE_F64: elem_write_f64(elem, to, n, from->d); break;
    }
}

/* --- the operations on chunks --- */

typedef struct Work {
    const Op *op;
    Elem in, out; /* of the last operand (x), and of the result */
    int n;
    const void *x, *y, *z;
    Chunk *to;
    uint64_t pointee; /* of a pointer: bytes of what it points to */
} Work;
typedef void WorkFn(const Work *w);

static uint64_t low_bits(Elem elem, int64_t x) {
    int bits = elem_info[elem].bits;
    return bits == 64 ? (uint64_t)x : (uint64_t)x & (((uint64_t)1 << bits) - 1);
}

static int64_t divide(bool is_signed, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (!is_signed) return (int64_t)((uint64_t)x / (uint64_t)y);
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static int64_t remainder_of(bool is_signed, int64_t x, int64_t y) {
    if (y == 0) return x;
    if (!is_signed) return (int64_t)((uint64_t)x % (uint64_t)y);
    return y == -1 ? 0 : x % y;
}
static int64_t divide_floor(bool is_signed, int64_t x, int64_t y) {
    int64_t q = divide(is_signed, x, y);
    return is_signed && y && remainder_of(true, x, y) && (x < 0) != (y < 0) ? q - 1 : q;
}
static int64_t modulo(bool is_signed, int64_t x, int64_t y) {
    int64_t r = remainder_of(is_signed, x, y);
    return is_signed && y && r && (r < 0) != (y < 0) ? r + y : r;
}
/* (x + y - 1) div y, toward zero, the sum taken without overflow. */
static int64_t divide_up(bool is_signed, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (!is_signed) return (int64_t)((uint64_t)x / (uint64_t)y + ((uint64_t)x % (uint64_t)y != 0));
    return (int64_t)(((__int128)x + y - 1) / y);
}
static int64_t shift_left(int bits, int64_t x, int64_t y) {
    return y < 0 || y >= bits ? 0 : (int64_t)((uint64_t)x << y);
}
static int64_t shift_right(bool is_signed, int bits, int64_t x, int64_t y) {
    bool outside = y < 0 || y >= bits;
    if (is_signed) return outside ? (x < 0 ? -1 : 0) : x >> y;
    return outside ? 0 : (int64_t)((uint64_t)x >> y);
}
static int64_t multiply_high(bool is_signed, int bits, int64_t x, int64_t y) {
    if (is_signed) return (int64_t)((__int128)x * y >> bits);
    return (int64_t)((unsigned __int128)(uint64_t)x * (uint64_t)y >> bits);
}
static bool less(bool is_signed, int64_t x, int64_t y) { return is_signed ? x < y : (uint64_t)x < (uint64_t)y; }

#define EACH(expression)                                 \
    for (int i = 0; i < w->n; i++) to[i] = (expression); \
    break

static void unary_int(const Work *w) {
    const int64_t *x = w->x;
    int64_t *to = w->to->i;
    int bits = elem_info[w->in].bits;
    bool is_signed = elem_is_signed(w->in);
    switch (w->op->code) {
    case OP_NEG: EACH((int64_t)(0 - (uint64_t)x[i]));
    case OP_ABS: EACH(is_signed && x[i] < 0 ? (int64_t)(0 - (uint64_t)x[i]) : x[i]);
    case OP_NOT: EACH(~x[i]);
    case OP_POPC: EACH(__builtin_popcountll(low_bits(w->in, x[i])));
    case OP_CLZ: EACH(low_bits(w->in, x[i]) ? __builtin_clzll(low_bits(w->in, x[i])) - (64 - bits) : bits);
    default: break;
    }
}

static void unary_f32(const Work *w) {
    const float *x = w->x;
    float *to = w->to->f;
    switch (w->op->code) {
    case OP_NEG: EACH(-x[i]);
    case OP_ABS: EACH(fabsf(x[i]));
    case OP_EXP: EACH((float)exp(x[i]));
    case OP_EXP2: EACH((float)exp2(x[i]));
    case OP_LOG: EACH((float)log(x[i]));
    case OP_LOG2: EACH((float)log2(x[i]));
    case OP_SQRT: EACH(sqrtf(x[i]));
    case OP_RSQRT: EACH((float)(1 / sqrt(x[i])));
    case OP_SIN: EACH((float)sin(x[i]));
    case OP_COS: EACH((float)cos(x[i]));
    case OP_TANH: EACH((float)tanh(x[i]));
    case OP_ERF: EACH((float)erf(x[i]));
    case OP_FLOOR: EACH(floorf(x[i]));
    case OP_CEIL: EACH(ceilf(x[i]));
    case OP_TRUNC: EACH(truncf(x[i]));
    case OP_ROUND: EACH(roundf(x[i]));
    case OP_RINT: EACH(rintf(x[i]));
    case OP_ISNAN:
        for (int i = 0; i < w->n; i++) w->to->i[i] = isnan(x[i]) != 0;
        break;
    default: break;
    }
}

static void unary_f64(const Work *w) {
    const double *x = w->x;
    double *to = w->to->d;
    switch (w->op->code) {
    case OP_NEG: EACH(-x[i]);
    case OP_ABS: EACH(fabs(x[i]));
    case OP_EXP: EACH(exp(x[i]));
    case OP_EXP2: EACH(exp2(x[i]));
    case OP_LOG: EACH(log(x[i]));
    case OP_LOG2: EACH(log2(x[i]));
    case OP_SQRT: EACH(sqrt(x[i]));
    case OP_RSQRT: EACH(1 / sqrt(x[i]));
    case OP_SIN: EACH(sin(x[i]));
    case OP_COS: EACH(cos(x[i]));
    case OP_TANH: EACH(tanh(x[i]));
    case OP_ERF: EACH(erf(x[i]));
    case OP_FLOOR: EACH(floor(x[i]));
    case OP_CEIL: EACH(ceil(x[i]));
    case OP_TRUNC: EACH(trunc(x[i]));
    case OP_ROUND: EACH(round(x[i]));
    case OP_RINT: EACH(rint(x[i]));
    case OP_ISNAN:
        for (int i = 0; i < w->n; i++) w->to->i[i] = isnan(x[i]) != 0;
        break;
    default: break;
    }
}

static void binary_int(const Work *w) {
    const int64_t *x = w->x, *y = w->y;
    int64_t *to = w->to->i;
    bool is_signed = elem_is_signed(w->in);
    int bits = elem_info[w->in].bits;
    switch (w->op->code) {
    case OP_ADD: EACH((int64_t)((uint64_t)x[i] + (uint64_t)y[i]));
    case OP_SUB: EACH((int64_t)((uint64_t)x[i] - (uint64_t)y[i]));
    case OP_MUL: EACH((int64_t)((uint64_t)x[i] * (uint64_t)y[i]));
    case OP_DIV: EACH(divide(is_signed, x[i], y[i]));
    case OP_REM: EACH(remainder_of(is_signed, x[i], y[i]));
    case OP_FLOORDIV: EACH(divide_floor(is_signed, x[i], y[i]));
    case OP_MOD: EACH(modulo(is_signed, x[i], y[i]));
    case OP_CDIV: EACH(divide_up(is_signed, x[i], y[i]));
    case OP_MIN: EACH(less(is_signed, x[i], y[i]) ? x[i] : y[i]);
    case OP_MAX: EACH(less(is_signed, x[i], y[i]) ? y[i] : x[i]);
    case OP_AND: EACH(x[i] & y[i]);
    case OP_OR: EACH(x[i] | y[i]);
    case OP_XOR: EACH(x[i] ^ y[i]);
    case OP_SHL: EACH(shift_left(bits, x[i], y[i]));
    case OP_SHR: EACH(shift_right(is_signed, bits, x[i], y[i]));
    case OP_MULHI: EACH(multiply_high(is_signed, bits, x[i], y[i]));
    default: break;
    }
}

static double modulo_f64(double x, double y) {
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static double smaller(bool keep_nan, double x, double y) {
    if (isnan(x)) return keep_nan ? x : y;
    if (isnan(y)) return keep_nan ? y : x;
    return x < y ? x : y;
}
static double larger(bool keep_nan, double x, double y) {
    if (isnan(x)) return keep_nan ? x : y;
    if (isnan(y)) return keep_nan ? y : x;
    return x > y ? x : y;
}

static void binary_f32(const Work *w) {
    const float *x = w->x, *y = w->y;
    float *to = w->to->f;
    bool keep = op_word(w->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    switch (w->op->code) {
    case OP_ADD: EACH(x[i] + y[i]);
    case OP_SUB: EACH(x[i] - y[i]);
    case OP_MUL: EACH(x[i] * y[i]);
    case OP_DIV: EACH(x[i] / y[i]);
    case OP_REM: EACH(fmodf(x[i], y[i]));
    case OP_FLOORDIV: EACH(floorf(x[i] / y[i]));
    case OP_MOD: EACH((float)modulo_f64(x[i], y[i]));
    case OP_MIN: EACH((float)smaller(keep, x[i], y[i]));
    case OP_MAX: EACH((float)larger(keep, x[i], y[i]));
    default: break;
    }
}

static void binary_f64(const Work *w) {
    const double *x = w->x, *y = w->y;
    double *to = w->to->d;
    bool keep = op_word(w->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    switch (w->op->code) {
    case OP_ADD: EACH(x[i] + y[i]);
    case OP_SUB: EACH(x[i] - y[i]);
    case OP_MUL: EACH(x[i] * y[i]);
    case OP_DIV: EACH(x[i] / y[i]);
    case OP_REM: EACH(fmod(x[i], y[i]));
    case OP_FLOORDIV: EACH(floor(x[i] / y[i]));
    case OP_MOD: EACH(modulo_f64(x[i], y[i]));
    case OP_MIN: EACH(smaller(keep, x[i], y[i]));
    case OP_MAX: EACH(larger(keep, x[i], y[i]));
    default: break;
    }
}

#define COMPARE(x, y)                          \
    switch (op_word(w->op, AT_PRED, CMP_EQ)) { \
    case CMP_LT: EACH((x)[i] < (y)[i]);        \
    case CMP_LE: EACH((x)[i] <= (y)[i]);       \
    case CMP_GT: EACH((x)[i] > (y)[i]);        \
    case CMP_GE: EACH((x)[i] >= (y)[i]);       \
    case CMP_EQ: EACH((x)[i] == (y)[i]);       \
    default: EACH((x)[i] != (y)[i]);           \
    }
static void compare_int(const Work *w) {
    int64_t *to = w->to->i;
    if (elem_is_signed(w->in)) {
        COMPARE((const int64_t *)w->x, (const int64_t *)w->y)
    } else {
        COMPARE((const uint64_t *)w->x, (const uint64_t *)w->y)
    }
}
static void compare_f32(const Work *w) {
    int64_t *to = w->to->i;
    COMPARE((const float *)w->x, (const float *)w->y)
}
static void compare_f64(const Work *w) {
    int64_t *to = w->to->i;
    COMPARE((const double *)w->x, (const double *)w->y)
}

static void fma_f32(const Work *w) {
    const float *x = w->x, *y = w->y, *z = w->z;
    for (int i = 0; i < w->n; i++) w->to->f[i] = fmaf(x[i], y[i], z[i]);
}
static void fma_f64(const Work *w) {
    const double *x = w->x, *y = w->y, *z = w->z;
    for (int i = 0; i < w->n; i++) w->to->d[i] = fma(x[i], y[i], z[i]);
}

static double lgamma_sign(double x) {
    int sign; /* lgamma itself would write a global */
    return lgamma_r(x, &sign);
}
static double scale(double x, double y) {
    return isnan(y) ? y : ldexp(x, y > 5000 ? 5000 : y < -5000 ? -5000 : (int)y);
}

static double math_function(Word fn, double x, double y) {
    switch (fn) {
    case MATH_TAN: return tan(x);
    case MATH_ASIN: return asin(x);
    case MATH_ACOS: return acos(x);
    case MATH_ATAN: return atan(x);
    case MATH_ATAN2: return atan2(x, y);
    case MATH_SINH: return sinh(x);
    case MATH_COSH: return cosh(x);
    case MATH_POW: return pow(x, y);
    case MATH_LOG1P: return log1p(x);
    case MATH_LOG10: return log10(x);
    case MATH_EXPM1: return expm1(x);
    case MATH_FMOD: return fmod(x, y);
    case MATH_CBRT: return cbrt(x);
    case MATH_HYPOT: return hypot(x, y);
    case MATH_COPYSIGN: return copysign(x, y);
    case MATH_ERFC: return erfc(x);
    case MATH_ASINH: return asinh(x);
    case MATH_ACOSH: return acosh(x);
    case MATH_ATANH: return atanh(x);
    case MATH_EXP10: return pow(10, x);
    case MATH_LGAMMA: return lgamma_sign(x);
    case MATH_TGAMMA: return tgamma(x);
    case MATH_FDIM: return fdim(x, y);
    case MATH_REMAINDER: return remainder(x, y);
    case MATH_NEXTAFTER: return nextafter(x, y);
    case MATH_LOGB: return logb(x);
    case MATH_LDEXP: return scale(x, y);
    case MATH_J0: return tw_special_j0(x);
    case MATH_J1: return tw_special_j1(x);
    case MATH_Y0: return tw_special_y0(x);
    case MATH_Y1: return tw_special_y1(x);
    case MATH_CYL_BESSEL_I0: return tw_special_cyl_bessel_i0(x);
    case MATH_CYL_BESSEL_I1: return tw_special_cyl_bessel_i1(x);
    case MATH_ERFINV: return tw_special_erfinv(x);
    case MATH_ERFCINV: return tw_special_erfcinv(x);
    case MATH_ERFCX: return tw_special_erfcx(x);
    case MATH_NORMCDF: return tw_special_normcdf(x);
    case MATH_NORMCDFINV: return tw_special_normcdfinv(x);
    case MATH_SINPI: return tw_special_sinpi(x);
    case MATH_COSPI: return tw_special_cospi(x);
    case MATH_RCBRT: return tw_special_rcbrt(x);
    case MATH_RHYPOT: return tw_special_rhypot(x, y);
    default: return NAN;
    }
}
static void math_f32(const Work *w) {
    const float *x = w->x, *y = w->y ? w->y : w->x;
    Word fn = op_word(w->op, AT_FN, WORD_NONE);
    for (int i = 0; i < w->n; i++)
        w->to->f[i] = fn == MATH_NEXTAFTER ? nextafterf(x[i], y[i])
                      : fn == MATH_FDIM    ? fdimf(x[i], y[i]) /* rounds once */
                                           : (float)math_function(fn, x[i], y[i]);
}
static void math_f64(const Work *w) {
    const double *x = w->x, *y = w->y ? w->y : w->x;
    Word fn = op_word(w->op, AT_FN, WORD_NONE);
    for (int i = 0; i < w->n; i++) w->to->d[i] = math_function(fn, x[i], y[i]);
}

/* select and ptr_add: the first operand is of another type than the others. */
static void select_bits(const Work *w) {
    const int64_t *c = w->x, *x = w->y, *y = w->z;
    for (int i = 0; i < w->n; i++) w->to->i[i] = c[i] ? x[i] : y[i];
}

static void add_offset(const Work *w) {
    const int64_t *address = w->x, *offset = w->y;
    for (int i = 0; i < w->n; i++) w->to->i[i] = (int64_t)((uint64_t)address[i] + (uint64_t)offset[i] * w->pointee);
}

/* --- casts --- */

/* Toward zero, saturating, NaN is 0. */
static int64_t to_integer(Elem elem, double x) {
    int bits = elem_info[elem].bits;
    if (elem == EL_I1) return x != 0;
    if (isnan(x)) return 0;
    if (elem_is_signed(elem)) {
        double limit = ldexp(1, bits - 1);
        if (x >= limit) return (int64_t)((((uint64_t)1 << (bits - 1)) - 1));
        if (x < -limit) return (int64_t)(0 - ((uint64_t)1 << (bits - 1)));
        return (int64_t)x;
    }
    if (x <= -1) return 0;
    if (x >= ldexp(1, bits)) return (int64_t)low_bits(elem, -1);
    return (int64_t)(uint64_t)x;
}

static double round_int_to_zero(bool is_unsigned, int64_t x) {
    bool negative = !is_unsigned && x < 0;
    uint64_t size = negative ? 0 - (uint64_t)x : (uint64_t)x;
    int cut = 0;
    while (size >> cut >> 53) cut++;
    double d = (double)(size >> cut << cut);
    return negative ? -d : d;
}

static void cast_from_int(const Work *w) {
    const int64_t *x = w->x;
    bool is_unsigned = !elem_is_signed(w->in);
    bool to_zero = op_word(w->op, AT_ROUND, ROUND_RN) == ROUND_RZ;
    if (!elem_is_float(w->out)) {
        bool truth = w->out == EL_I1;
        for (int i = 0; i < w->n; i++) w->to->i[i] = truth ? x[i] != 0 : x[i];
        return;
    }
    const FloatFormat *format = elem_format(w->out);
    for (int i = 0; i < w->n; i++) {
        double sticky = is_unsigned ? f64_sticky_u64((uint64_t)x[i]) : f64_sticky_i64(x[i]);
        if (format)
            w->to->f[i] = (float)float_widen(format, float_narrow(format, sticky, to_zero));
        else if (to_zero)
            w->to->d[i] = round_int_to_zero(is_unsigned, x[i]);
        else
            w->to->d[i] = is_unsigned ? (double)(uint64_t)x[i] : (double)x[i];
    }
}

static void cast_from_float(const Work *w, const double *x) {
    bool to_zero = op_word(w->op, AT_ROUND, ROUND_RN) == ROUND_RZ;
    const FloatFormat *format = elem_format(w->out);
    if (!elem_is_float(w->out))
        for (int i = 0; i < w->n; i++) w->to->i[i] = to_integer(w->out, x[i]);
    else if (!format)
        for (int i = 0; i < w->n; i++) w->to->d[i] = x[i];
    else
        for (int i = 0; i < w->n; i++) w->to->f[i] = (float)float_widen(format, float_narrow(format, x[i], to_zero));
}

static void cast_from_f32(const Work *w) {
    const float *x = w->x;
    if (elem_is_float(w->out) && w->out != EL_F64 && !op_attr(w->op, AT_ROUND)) { /* rounded on the way out */
        memcpy(w->to->f, x, (size_t)w->n * sizeof *x);
        return;
    }
    double wide[CHUNK];
    for (int i = 0; i < w->n; i++) wide[i] = x[i];
    cast_from_float(w, wide);
}
static void cast_from_f64(const Work *w) { cast_from_float(w, w->x); }

/* --- combining two elements, for reductions and atomics --- */

int64_t combine_i64(Elem elem, Word kind, int64_t x, int64_t y) {
    bool is_signed = elem_is_signed(elem);
    switch (kind) {
    case COMBINE_ADD: return elem_wrap(elem, (int64_t)((uint64_t)x + (uint64_t)y));
    case COMBINE_MUL: return elem_wrap(elem, (int64_t)((uint64_t)x * (uint64_t)y));
    case COMBINE_MIN: return less(is_signed, x, y) ? x : y;
    case COMBINE_MAX: return less(is_signed, x, y) ? y : x;
    case COMBINE_AND: return x & y;
    case COMBINE_OR: return x | y;
    case COMBINE_XOR: return x ^ y;
    default: return y; /* xchg */
    }
}

double combine_f64(Word kind, bool keep_nan, double x, double y) {
    switch (kind) {
    case COMBINE_ADD: return x + y;
    case COMBINE_MUL: return x * y;
    case COMBINE_MIN: return smaller(keep_nan, x, y);
    case COMBINE_MAX: return larger(keep_nan, x, y);
    default: return y;
    }
}

float combine_f32(Elem elem, Word kind, bool keep_nan, float x, float y) {
    switch (kind) {
    case COMBINE_ADD: return elem_round_f32(elem, x + y);
    case COMBINE_MUL: return elem_round_f32(elem, x * y);
    default: return (float)combine_f64(kind, keep_nan, x, y);
    }
}

/* --- the driver --- */

/* The function by the wide type of the last operand (of select: the values chosen). */
/* The unsigned integer of that width. */
static Elem bits_elem(Elem elem) {
    int bytes = elem_info[elem].bytes;
    return bytes == 1 ? EL_U8 : bytes == 2 ? EL_U16 : bytes == 4 ? EL_U32 : EL_U64;
}

static void run(Process *p, Step *s, WorkFn *on_int, WorkFn *on_f32, WorkFn *on_f64) {
    Interp *in = p->in;
    const Op *op = s->op;
    int count = op->operand_count < 3 ? op->operand_count : 3;
    while (count > 1 && op->operands[count - 1] == REF_NONE) count--;
    Operand x[3];
    const Type *types[3];
    for (int k = 0; k < count; k++) {
        x[k] = ev_operand(p, s, k);
        types[k] = x[k].type;
    }
    const Type *type = ir_value(in->kernel, op->results[0])->type;
    Elem out = elem_stored(type);
    if (op->code == OP_SELECT) /* moves bits: an infinity that the format has stays one */
        x[1].elem = x[2].elem = out = bits_elem(out);
    if (!s->plan) {
        Walk walk = walk_new(in, type, count, types);
        s->plan = arena_copy(&in->arena, &walk, sizeof walk);
    }
    const Walk *walk = s->plan;
    Cell *result = ev_define(p, s, 0);
    Work w = {.op = op, .in = x[count - 1].elem, .out = out};
    w.pointee = (uint64_t)elem_info[type->elem].bytes;
    Wide wide = wide_of(w.in);
    WorkFn *fn = wide == WIDE_INT ? on_int : wide == WIDE_F32 ? on_f32 : on_f64;
    if (!fn) ev_refuse(p, s, "this op on this element type");
    int64_t length = walk->extent[walk->rank - 1], at[4];
    const int last = walk->rank - 1;
    Chunk room[3], to;
    w.to = &to;
    for (int64_t row = 0; row < walk->rows; row++) {
        walk_row(walk, row, at);
        for (int64_t i = 0; i < length; i += CHUNK) {
            w.n = (int)(length - i < CHUNK ? length - i : CHUNK);
            const void *wides[3] = {NULL, NULL, NULL};
            for (int k = 0; k < count; k++) {
                int64_t stride = walk->stride[k][last];
                wides[k] = widen(x[k].elem, x[k].data, at[k] + i * stride, stride, w.n, &room[k]);
            }
            w.x = wides[0];
            w.y = wides[1];
            w.z = wides[2];
            fn(&w);
            narrow(out, result->data, row * length + i, w.n, &to);
        }
    }
    if (in->launch->sanitize) sanitize_elementwise(p, s, walk, x, result);
}

void eval_unary(Process *p, Step *s) { run(p, s, unary_int, unary_f32, unary_f64); }
void eval_binary(Process *p, Step *s) { run(p, s, binary_int, binary_f32, binary_f64); }
void eval_compare(Process *p, Step *s) { run(p, s, compare_int, compare_f32, compare_f64); }
void eval_fma(Process *p, Step *s) { run(p, s, NULL, fma_f32, fma_f64); }
void eval_math(Process *p, Step *s) { run(p, s, NULL, math_f32, math_f64); }
void eval_select(Process *p, Step *s) { run(p, s, select_bits, NULL, NULL); }
void eval_cast(Process *p, Step *s) { run(p, s, cast_from_int, cast_from_f32, cast_from_f64); }

void eval_ptr_add(Process *p, Step *s) { run(p, s, add_offset, NULL, NULL); }

/* The same bytes under another type. */
void eval_bitcast(Process *p, Step *s) { eval_reshape(p, s); }
