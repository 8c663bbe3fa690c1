/* SPDX-License-Identifier: Apache-2.0 */
/* special.h: functions that C's math library does not have, and those of Bessel with the edges of CUDA's, in plain C of
 * doubles. One text for all: the interpreter includes it, the CPU's prelude and the emulator's carry it along;
 * a GPU calls its own. The functions of <math.h> that it uses are declared before. Results are within 1e-14 of the true
 * value, relative to it, but: j0, j1, y0, y1 are as exact as the system's, normcdf below -5 is within 3e-13. */
#ifndef BASE_SPECIAL_H
#define BASE_SPECIAL_H

#define TW_SPECIAL_PI 3.14159265358979323846

static inline double tw_special_nan(double x) { return (x - x) / (x - x); }
static inline double tw_special_j0(double x) { return j0(x); }
static inline double tw_special_j1(double x) { return j1(x); }
/* Not all systems agree on what lies left of 0. */
static inline double tw_special_y0(double x) { return x < 0 ? tw_special_nan(x) : x == 0 ? log(fabs(x)) : y0(x); }
static inline double tw_special_y1(double x) { return x < 0 ? tw_special_nan(x) : x == 0 ? log(fabs(x)) : y1(x); }

/* Below 20 the power series, whose terms are all positive; then the asymptotic one, whose least term is below e^-40. */
static inline double tw_special_bessel_i(int order, double x) {
    double a = fabs(x), sum = 1, term = 1;
    if (!(a < 20)) {
        if (a > 800 || a != a) return order && x < 0 ? -a * a : a * a; /* infinite, or not a number */
        for (int k = 1; k < 40; k++) {
            term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * a);
            sum += term;
        }
        double half = exp(a / 2); /* twice: e^a overflows before the function does */
        sum = half / sqrt(2 * TW_SPECIAL_PI * a) * sum * half;
    } else {
        for (int k = 1; k < 60 && term > sum * 1e-18; k++) {
            term *= a * a / 4 / (k * (k + order));
            sum += term;
        }
        if (order) sum *= a / 2;
    }
    return order && x < 0 ? -sum : sum;
}
static inline double tw_special_cyl_bessel_i0(double x) { return tw_special_bessel_i(0, x); }
static inline double tw_special_cyl_bessel_i1(double x) { return x == 0 ? x : tw_special_bessel_i(1, x); }

/* Halley's steps toward erf(x) = y for |y| <= 0.5, and toward erfc(x) = z for z <= 0.5: each trebles the digits. */
static inline double tw_special_erfinv_middle(double y) {
    double x = y * 0.886226925452758 * (1 + TW_SPECIAL_PI / 12 * y * y);
    for (int i = 0; i < 3; i++) {
        double e = (erf(x) - y) * 0.886226925452758014 * exp(x * x);
        x -= e / (1 + x * e);
    }
    return x;
}
static inline double tw_special_erfcinv_tail(double z) {
    if (!(z > 0)) return z == 0 ? 1 / z : tw_special_nan(z);
    double t = sqrt(-2 * (log(z) - 0.693147180559945309));
    double x = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
    x *= 0.707106781186547524;
    for (int i = 0; i < 3; i++) {
        double e = (z - erfc(x)) * 0.886226925452758014 / exp(-x * x);
        x -= e / (1 + x * e);
    }
    return x;
}
static inline double tw_special_erfinv(double y) {
    double a = fabs(y);
    if (a <= 0.5) return tw_special_erfinv_middle(y);
    return y < 0 ? -tw_special_erfcinv_tail(1 - a) : tw_special_erfcinv_tail(1 - a);
}
static inline double tw_special_erfcinv(double z) {
    if (z >= 0.5 && z <= 1.5) return tw_special_erfinv_middle(1 - z);
    return z > 1 ? -tw_special_erfcinv_tail(2 - z) : tw_special_erfcinv_tail(z == 0 ? 0 : z);
}
static inline double tw_special_erfcx(double x) {
    if (x >= 25) {
        double s = 1 / (x * x) / 2;
        return 0.564189583547756287 / x * (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s * (1 - 9 * s)))));
    }
    if (x < -27) return x * x * 1e308; /* infinite */
    double high = (float)x; /* x * x in two parts, the first one exact */
    return exp(high * high) * exp((x - high) * (x + high)) * erfc(x);
}
static inline double tw_special_normcdf(double x) { return erfc(-x * 0.707106781186547524) / 2; }
static inline double tw_special_normcdfinv(double p) { return -1.41421356237309505 * tw_special_erfcinv(2 * p); }

/* Reduced exactly: integers give 0 and 1. */
static inline double tw_special_sinpi(double x) {
    double r = remainder(x, 2);
    return sin(TW_SPECIAL_PI * (r > 0.5 ? 1 - r : r < -0.5 ? -1 - r : r));
}
static inline double tw_special_cospi(double x) {
    double r = fabs(remainder(x, 2));
    if (r > 0.25 && r < 0.75) return sin(TW_SPECIAL_PI * (0.5 - r));
    return r > 0.5 ? -cos(TW_SPECIAL_PI * (1 - r)) : cos(TW_SPECIAL_PI * r);
}
static inline double tw_special_rcbrt(double x) { return 1 / cbrt(x); }
static inline double tw_special_rhypot(double x, double y) { return 1 / hypot(x, y); }
#endif
