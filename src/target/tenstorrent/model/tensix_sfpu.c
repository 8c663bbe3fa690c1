/* SPDX-License-Identifier: Apache-2.0 */
/* tensix_sfpu.c: the vector unit: functions of whole DST slots, element by element.
 *
 * Lanes are fp32 with subnormals flushed. A result goes back to a 16-bit DST in the way the
 * operation does it on hardware: cut (plain arithmetic), or rounded to nearest even. Functions are
 * computed in double precision and rounded once to DST's format; the hardware's polynomials are
 * within an ulp or two of that, except where the API offers fast versions (exp_tile<true>,
 * recip_tile, gelu_tile), which are modelled by the accurate function. */
#include "base/numeric.h"
#include "target/tenstorrent/model/tensix_time.h"

#include <math.h>

typedef enum Store {
    STORE_BITS, /* exact: moves, selections */
    STORE_CUT,  /* fp32, then cut to bf16 */
    STORE_EVEN, /* fp32, then nearest even */
    STORE_ONCE  /* from double, nearest even */
} Store;

static Store store_of(TtSfpu op) {
    switch (op) {
    case TT_SFPU_add_unary:
    case TT_SFPU_sub_unary:
    case TT_SFPU_mul_unary:
    case TT_SFPU_div_unary:
    case TT_SFPU_square:
    case TT_SFPU_add_binary:
    case TT_SFPU_sub_binary:
    case TT_SFPU_rsub_binary:
    case TT_SFPU_fill:
    case TT_SFPU_leaky_relu: return STORE_CUT;
    case TT_SFPU_rsub_unary:
    case TT_SFPU_mul_binary:
    case TT_SFPU_div_binary: return STORE_EVEN;
    case TT_SFPU_exp:
    case TT_SFPU_exp_approx:
    case TT_SFPU_exp2:
    case TT_SFPU_log:
    case TT_SFPU_sqrt:
    case TT_SFPU_rsqrt:
    case TT_SFPU_recip:
    case TT_SFPU_recip_legacy:
    case TT_SFPU_sigmoid:
    case TT_SFPU_silu:
    case TT_SFPU_tanh:
    case TT_SFPU_gelu:
    case TT_SFPU_gelu_fast:
    case TT_SFPU_erf:
    case TT_SFPU_sin:
    case TT_SFPU_cos:
    case TT_SFPU_power:
    case TT_SFPU_power_binary: return STORE_ONCE;
    default: return STORE_BITS;
    }
}

static float flush(float x) {
    if (isnan(x)) return NAN; /* without a sign */
    return fabsf(x) < 0x1p-126f ? 0.0f : x;
}

/* A double to the nearest bf16, ties to even, without a stop at fp32. */
static uint32_t bf16_once(double x) {
    float f = (float)x;
    uint32_t bits = f32_bits(f), low = bits & 0xffff;
    if (isfinite(f) && low == 0x8000 && (double)f != x) {
        /* The way through fp32 made a tie of what was none. */
        bool larger = fabs(x) > fabs((double)f);
        return larger ? (bits & 0xffff0000u) + 0x10000u : bits & 0xffff0000u;
    }
    return format_bf16_even(bits);
}

static double function(TtSfpu op, double x, double y) {
    switch (op) {
    case TT_SFPU_exp:
    case TT_SFPU_exp_approx: return exp(x);
    case TT_SFPU_exp2: return exp2(x);
    case TT_SFPU_log: return log(x);
    case TT_SFPU_sqrt: return sqrt(x);
    case TT_SFPU_rsqrt: return 1 / sqrt(x);
    case TT_SFPU_recip: return 1 / x;
    case TT_SFPU_recip_legacy: return x == 0 ? copysign(0x1p127, x) : 1 / x;
    case TT_SFPU_sigmoid: return 1 / (1 + exp(-x));
    case TT_SFPU_silu: return x / (1 + exp(-x));
    case TT_SFPU_tanh: return tanh(x);
    case TT_SFPU_gelu:
    case TT_SFPU_gelu_fast: return x < -40 ? 0 : 0.5 * x * erfc(-x * M_SQRT1_2);
    case TT_SFPU_erf: return erf(x);
    case TT_SFPU_sin: return sin(x);
    case TT_SFPU_cos: return cos(x);
    case TT_SFPU_power:
    case TT_SFPU_power_binary: return pow(x, y);
    default: return 0;
    }
}

static float arithmetic(TtSfpu op, float x, float y) {
    switch (op) {
    case TT_SFPU_add_unary:
    case TT_SFPU_add_binary: return x + y;
    case TT_SFPU_sub_unary:
    case TT_SFPU_sub_binary: return x - y;
    case TT_SFPU_rsub_unary:
    case TT_SFPU_rsub_binary: return y - x;
    case TT_SFPU_mul_unary:
    case TT_SFPU_mul_binary:
    case TT_SFPU_div_unary: return x * y; /* the caller of div_unary passes the reciprocal */
    case TT_SFPU_div_binary: return x / y;
    case TT_SFPU_square: return x * x;
    case TT_SFPU_fill: return y;
    case TT_SFPU_leaky_relu: return x < 0 ? x * y : x;
    default: return 0;
    }
}

/* The lanes compare as sign and magnitude: a NaN is beyond infinity, the two zeros are equal. */
static int32_t order(uint32_t bits) {
    int32_t magnitude = (int32_t)(bits & 0x7fffffff);
    return bits >> 31 ? -magnitude : magnitude;
}

static uint32_t truth(bool yes) { return yes ? 0x3f800000u : 0; }

/* Operations that select or change bits and never round. */
static uint32_t exact(TtSfpu op, const uint32_t in[3], uint32_t p0, uint32_t p1) {
    uint32_t a = in[0], b = in[1];
    float x = flush(f32_from_bits(a)), y = flush(f32_from_bits(b)), p = f32_from_bits(p0);
    switch (op) {
    case TT_SFPU_abs: return a & 0x7fffffff;
    case TT_SFPU_negative: return a ^ 0x80000000u;
    case TT_SFPU_relu: return a >> 31 ? 0 : a;
    case TT_SFPU_relu_max: return x > p ? p0 : a >> 31 ? 0 : a;
    case TT_SFPU_relu_min: return x < p ? p0 : a >> 31 ? 0 : a;
    case TT_SFPU_clamp: return x < p ? p0 : x <= f32_from_bits(p1) ? a : p1; /* a NaN to the upper bound */
    case TT_SFPU_floor: return f32_bits(floorf(x));
    case TT_SFPU_ceil: return f32_bits(ceilf(x));
    case TT_SFPU_trunc: return f32_bits(truncf(x));
    case TT_SFPU_sign: return x == 0 ? 0 : (a & 0x80000000u) | 0x3f800000u;
    case TT_SFPU_unary_max: return order(a) > order(p0) ? a : p0;
    case TT_SFPU_unary_min: return order(a) < order(p0) ? a : p0;
    case TT_SFPU_gtz: return truth(x > 0);
    case TT_SFPU_ltz: return truth(x < 0);
    case TT_SFPU_gez: return truth(x >= 0);
    case TT_SFPU_lez: return truth(x <= 0);
    case TT_SFPU_eqz: return truth(x == 0);
    case TT_SFPU_nez: return truth(x != 0);
    case TT_SFPU_binary_max: return order(a) > order(b) ? a : b;
    case TT_SFPU_binary_min: return order(a) < order(b) ? a : b;
    case TT_SFPU_lt_binary: return truth(x < y);
    case TT_SFPU_gt_binary: return truth(x > y);
    case TT_SFPU_le_binary: return truth(x <= y);
    case TT_SFPU_ge_binary: return truth(x >= y);
    case TT_SFPU_eq_binary: return truth(x == y);
    case TT_SFPU_ne_binary: return truth(x != y);
    case TT_SFPU_where: return x != 0 ? b : in[2];
    default: return a;
    }
}

/* Between number formats; DST holds integers as they are. */
static uint32_t typecast(TtKernel *self, uint32_t bits, uint32_t from, uint32_t to) {
    bool from_float = from == TT_Float32 || from == TT_Float16_b || from == TT_Bfp8_b;
    bool wide = self->machine->program->dst_fp32;
    if (!wide && (from == TT_Int32 || from == TT_UInt32 || to == TT_Int32 || to == TT_UInt32))
        machine_fault(self, "typecast_tile: integers of 32 bits need a 32-bit DST");
    if (!wide && from == TT_UInt16) bits >>= 16; /* a 16-bit DST has them in its 16 bits */
    float x = from_float ? flush(f32_from_bits(bits)) : from == TT_Int32 ? (float)(int32_t)bits : (float)bits;
    switch (to) {
    case TT_Float32: return f32_bits(x);
    case TT_Float16_b:
    case TT_Bfp8_b: return format_bf16_even(f32_bits(x));
    case TT_Int32:
        if (!from_float) return bits;
        return x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? (uint32_t)INT32_MIN : (uint32_t)(int32_t)x;
    case TT_UInt32:
        if (!from_float) return bits;
        return x >= 0x1p32f ? UINT32_MAX : x <= 0 ? 0 : (uint32_t)x;
    case TT_UInt16:
        bits = !from_float ? bits & 0xffff : x >= 65535 ? 65535 : x <= 0 ? 0 : (uint32_t)floorf(x + 0.5f);
        return wide ? bits : bits << 16;
    default: machine_fault(self, "typecast_tile: unknown data format %u", to);
    }
}

static uint32_t element(TtKernel *self, TtSfpu op, const uint32_t in[3], uint32_t p0, uint32_t p1) {
    static const uint8_t inputs[] = {
#define X(name, slots, parameters) slots,
        TT_SFPU_OPS(X)
#undef X
    };
    bool fp32 = self->machine->program->dst_fp32;
    float x = flush(f32_from_bits(in[0])), y = flush(f32_from_bits(inputs[op] == 2 ? in[1] : p0));
    float result;
    switch (op == TT_SFPU_typecast ? STORE_BITS : store_of(op)) {
    case STORE_CUT:
        result = flush(arithmetic(op, x, y));
        return fp32 ? f32_bits(result) : f32_bits(result) & 0xffff0000u;
    case STORE_EVEN:
        result = flush(arithmetic(op, x, y));
        return fp32 || isnan(result) ? f32_bits(result) : format_bf16_even(f32_bits(result));
    case STORE_ONCE: {
        double exactly = function(op, x, y);
        if (isnan(exactly)) return 0x7fc00000u;
        if (fabs(exactly) < 0x1p-126) return 0;
        return fp32 ? f32_bits((float)exactly) : bf16_once(exactly);
    }
    case STORE_BITS: break;
    }
    uint32_t bits = op == TT_SFPU_typecast ? typecast(self, in[0], p0, p1) : exact(op, in, p0, p1);
    return fp32 ? bits : bits & 0xffff0000u;
}

static void sfpu(TtKernel *self, const char *name, uint32_t code, uint32_t op, const uint32_t *slots, uint32_t out,
                 uint32_t p0, uint32_t p1) {
    static const uint8_t counts[] = {
#define X(op_name, inputs, parameters) inputs,
        TT_SFPU_OPS(X)
#undef X
    };
    const uint32_t *in[3] = {0};
    bool fresh, reduced = false;
    compute_check_init(self, name, code);
    if (op >= TT_SFPU_COUNT) machine_fault(self, "%s: unknown SFPU operation", name);
    for (uint32_t i = 0; i < counts[op]; i++) {
        bool was_reduced = self->compute->acquired && *compute_reduced(self, name, slots[i]);
        in[i] = compute_slot(self, name, slots[i], &fresh);
        *compute_reduced(self, name, slots[i]) = was_reduced;
        reduced |= was_reduced;
        if (fresh)
            machine_fault(self,
                          "%s: nobody wrote DST slot %u since tile_regs_acquire; the SFPU would "
                          "read an undefined value",
                          name, slots[i]);
    }
    uint32_t *to = compute_slot(self, name, out, &fresh);
    *compute_reduced(self, name, out) = reduced || counts[op] == 0; /* one number everywhere is one in a column, too */
    time_sfpu(self, op);
    for (int i = 0; i < TILE && !self->machine->program->counts; i++) {
        uint32_t lanes[3] = {in[0] ? in[0][i] : 0, in[1] ? in[1][i] : 0, in[2] ? in[2][i] : 0};
        to[i] = element(self, (TtSfpu)op, lanes, p0, p1);
    }
}

void sfpu_bind(TtModelApi *api) { api->sfpu = sfpu; }
