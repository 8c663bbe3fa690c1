/* SPDX-License-Identifier: Apache-2.0 */
/* random.c: random numbers for test data: a function of seed and index alone, equal in every bit
 * on every machine.
 *
 * Bits: SplitMix64, whose state at step i is seed + i * the golden constant, so any element can
 * be computed by itself. Normal numbers: Box and Muller, with a logarithm and a cosine made of +,
 * -, *, / alone, because those of libm differ between systems. Contraction is off for the same
 * reason. */
#include "runtime/runtime.h"

#include <math.h>
#include <string.h>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

static uint64_t mix(uint64_t seed, uint64_t index) {
    uint64_t z = seed * UINT64_C(0xD1342543DE82EF95) + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

double random_uniform(uint64_t seed, uint64_t index) { return (double)(mix(seed, index) >> 11) * 0x1p-53; }

/* Natural logarithm for 0 < x <= 1: x = m * 2^e with m in [0.70, 1.42), log m = 2 atanh((m - 1) / (m + 1)). */
static double plain_log(double x) {
    int e = 0;
    while (x < 0.70710678118654752) x += x, e--;
    double s = (x - 1) / (x + 1), square = s * s, sum = 0;
    for (int k = 27; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
    return 2 * s * sum + e * 0.69314718055994531;
}

/* cos(2 pi u) for u in [0, 1), by the quadrant and Taylor's series on [0, pi/4]. */
static double plain_cos_turn(double u) {
    double q = 4 * u;
    int quadrant = (int)(q + 0.5);
    double x = (q - quadrant) * 1.5707963267948966, square = x * x, c = 0, s = 0;
    for (int k = 18; k >= 2; k -= 2) c = (1 + c) * (-square / ((k - 1) * k));
    for (int k = 19; k >= 3; k -= 2) s = (1 + s) * (-square / ((k - 1) * k));
    double cosine = 1 + c, sine = x * (1 + s);
    switch (quadrant & 3) {
    case 0: return cosine;
    case 1: return -sine;
    case 2: return -cosine;
    default: return sine;
    }
}

double random_normal(uint64_t seed, uint64_t index) {
    double u = random_uniform(seed, 2 * index), v = random_uniform(seed, 2 * index + 1);
    /* sqrt is correctly rounded everywhere. 1 - u is in (0, 1]. */
    return sqrt(-2 * plain_log(1 - u)) * plain_cos_turn(v);
}
