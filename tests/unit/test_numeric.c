/* SPDX-License-Identifier: Apache-2.0 */
/* test_numeric.c: every pattern of the small formats goes up and down; the fast paths agree with
 * the general routine and with a search for the nearest number; a double is rounded once. */
#include "base/numeric.h"
#include "check.h"

#include <math.h>

static uint64_t random_state = 88172645463325252u;
static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void round_trip(const FloatFormat *f, uint32_t count) {
    for (uint32_t bits = 0; bits < count; bits++) {
        double x = float_widen(f, bits);
        uint32_t back = float_narrow(f, x, false), cut = float_narrow(f, x, true);
        if (isnan(x))
            CHECK(isnan(float_widen(f, back)) && isnan(float_widen(f, cut)));
        else if (isinf(x) && f->saturates)
            CHECK(fabs(float_widen(f, back)) < INFINITY);
        else
            CHECK(back == bits && cut == bits);
    }
}

/* Between each two neighbours: the middle goes to the even one, anything off it to the nearer. */
static void midpoints(const FloatFormat *f) {
    for (uint32_t bits = 0; bits < f->largest; bits++) {
        double low = float_widen(f, bits), high = float_widen(f, bits + 1);
        double middle = low + (high - low) / 2; /* exact: one more bit */
        CHECK(float_narrow(f, middle, false) == bits + (bits & 1));
        CHECK(float_narrow(f, nextafter(middle, 0), false) == bits);
        CHECK(float_narrow(f, nextafter(middle, INFINITY), false) == bits + 1);
        CHECK(float_narrow(f, nextafter(high, 0), true) == bits);
        CHECK(float_widen(f, float_narrow(f, -middle, true)) == -low);
        CHECK(!f->one_zero || float_narrow(f, -low, false) != f->nan);
    }
}

static void fast_paths(void) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        double h = float_widen(&format_f16, bits), b = float_widen(&format_bf16, bits);
        float fh = f16_to_f32((uint16_t)bits), fb = bf16_to_f32((uint16_t)bits);
        CHECK(isnan(h) ? isnan(fh) : fh == h && !signbit(fh) == !signbit(h));
        CHECK(isnan(b) ? isnan(fb) : fb == b && !signbit(fb) == !signbit(b));
        CHECK(isnan(h) ? isnan(f16_to_f32(f16_from_f32(fh))) : f16_from_f32(fh) == bits);
        CHECK(isnan(b) ? isnan(bf16_to_f32(bf16_from_f32(fb))) : bf16_from_f32(fb) == bits);
        /* all floats around the pattern's middle, and random ones */
        for (int d = -2; d <= 2; d++) {
            float x = f32_from_bits(((bits << 16 | 0x8000u) + (uint32_t)d));
            if (!isnan(x)) CHECK(bf16_from_f32(x) == float_narrow(&format_bf16, x, false));
            float y = f32_from_bits(f32_bits(fh) + 0x1000u + (uint32_t)d);
            if (!isnan(y)) CHECK(f16_from_f32(y) == float_narrow(&format_f16, y, false));
        }
        float r = f32_from_bits((uint32_t)next_random());
        if (isnan(r)) continue;
        CHECK(f16_from_f32(r) == float_narrow(&format_f16, r, false));
        CHECK(bf16_from_f32(r) == float_narrow(&format_bf16, r, false));
        double s = ldexp(r, -(int)(next_random() % 60)); /* f32 against the host's own cast */
        CHECK(f32_bits((float)s) == float_narrow(&format_f32, s, false));
    }
}

static void edges(void) {
    CHECK(f16_from_f32(65519.996f) == 0x7BFF && f16_from_f32(65520.0f) == 0x7C00);
    CHECK(f16_from_f64(1e300) == 0x7C00 && f16_from_f64(-1e300) == 0xFC00);
    CHECK(float_narrow(&format_f16, 1e300, true) == 0x7BFF);
    CHECK(bf16_from_f32(3.4e38f) == 0x7F80);
    CHECK(f16_from_f64(0x1p-25) == 0 && f16_from_f64(nextafter(0x1p-25, 1)) == 1);
    CHECK(f16_from_f64(-5e-324) == 0x8000);
    CHECK(f8e4m3_from_f64(INFINITY) == 0x7E && f8e4m3_from_f64(-INFINITY) == 0xFE);
    CHECK(f8e4m3_from_f64(464) == 0x7E && f8e4m3_from_f64(1e9) == 0x7E);
    CHECK(f8e5m2_from_f64(INFINITY) == 0x7B && f8e5m2_from_f64(1e9) == 0x7B);
    CHECK(f8e4m3_from_f64(NAN) == 0x7F && isnan(f8e5m2_to_f32(f8e5m2_from_f64(NAN))));
    CHECK(f8e4b8_from_f64(1e9) == 0x7F && f8e4b8_to_f32(0x7F) == 240 && f8e4b8_from_f64(-0.0) == 0);
    CHECK(f8e4b8_from_f64(NAN) == 0x80 && isnan(f8e4b8_to_f32(0x80)) &&
          f8e4b8_to_f32(1) == 0x1p-10f);
    CHECK(f8e5b16_to_f32(0x7F) == 57344 && f8e5b16_from_f64(-1e-9) == 0 &&
          isnan(f8e5b16_to_f32(0x80)));
    CHECK(f8e4b15_to_f32(0x7F) == 1.875f && f8e4b15_from_f64(NAN) == 0x7F &&
          f8e4b15_from_f64(-NAN) == 0x7F &&
          f8e4b15_from_f64(-2) == 0xFF);
    CHECK(f8e4b15_from_f64(-0.0) == 0x80 && f8e4b15_to_f32(1) == 0x1p-17f);
    CHECK(isinf(f8e5m2_to_f32(0x7C)) && f8e4m3_to_f32(0x7E) == 448 && f8e5m2_to_f32(0x7B) == 57344);
    /* by way of a float this one would go up: the float lies on the middle, the double below it */
    double below = 1 + 0x1p-11 - 0x1p-40;
    CHECK(f16_from_f64(below) == 0x3C00 && f16_from_f64(1 + 0x1p-11 + 0x1p-40) == 0x3C01);
    CHECK(f16_from_f32((float)(1 + 0x1p-11 + 0x1p-40)) == 0x3C00);
    CHECK(f32_from_f64_rz(1 + 0x1.8p-23) == 1 + 0x1p-23f && f32_from_f64_rz(-1e300) < -3.4e38f);
    /* integers beyond 2^53 that lie just above a middle of bf16 */
    int64_t x = ((int64_t)1 << 62) + ((int64_t)1 << 54) + 1;
    CHECK(bf16_from_f64(f64_sticky_i64(x)) == 0x5E81 &&
          bf16_from_f64(f64_sticky_i64(x - 1)) == 0x5E80);
    CHECK(bf16_from_f64(f64_sticky_i64(-x)) == 0xDE81);
    CHECK((float)f64_sticky_u64(UINT64_MAX) == (float)UINT64_MAX);
    CHECK(f64_sticky_i64(INT64_MIN) == -0x1p63);
    for (int i = 0; i < 100000; i++) {
        uint64_t u = next_random() >> (next_random() & 63);
        CHECK((float)f64_sticky_u64(u) == (float)u &&
              (float)f64_sticky_i64((int64_t)u) == (float)(int64_t)u);
    }
}

int main(void) {
    round_trip(&format_f16, 65536);
    round_trip(&format_bf16, 65536);
    round_trip(&format_f8e4m3, 256);
    round_trip(&format_f8e5m2, 256);
    round_trip(&format_f8e4b8, 256);
    round_trip(&format_f8e5b16, 256);
    round_trip(&format_f8e4b15, 256);
    midpoints(&format_f16);
    midpoints(&format_bf16);
    midpoints(&format_f8e4m3);
    midpoints(&format_f8e5m2);
    midpoints(&format_f8e4b8);
    midpoints(&format_f8e5b16);
    midpoints(&format_f8e4b15);
    fast_paths();
    edges();
    return check_done();
}
