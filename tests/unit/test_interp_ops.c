/* SPDX-License-Identifier: Apache-2.0 */
/* test_interp_ops.c: elementwise ops on every element type, at the edges of each: against results
 * computed here in another way (128-bit integers, the host's own float arithmetic). */
#include "interp_bench.h"
#include "ir/element.h"

/* Runs `%r = <op>` on up to three arrays of n elements; the op's text uses %a, %b, %c. */
static bool run_op(const char *op, int n, const char *type, const void *x, const void *y,
                   const char *result, void *out) {
    static const char text[] = "kernel @k(%x, %y: tensor<T,1>, %z: tensor<R,1>) {\n"
                               "  %a = tload %x, [0] : T[$N] ; %b = tload %y, [0] : T[$N]\n"
                               "  %r = @\n"
                               "  tstore %z, [0], %r\n"
                               "  return }\n";
    char filled[2000], *to = filled;
    for (const char *s = text; *s; s++) {
        const char *put = *s == '@' && s[1] == '\n'                   ? op
                          : *s == 'T' && (s[1] == ',' || s[1] == '[') ? type
                          : *s == 'R' && (s[1] == ',')                ? result
                                                                      : NULL;
        if (put)
            to = stpcpy(to, put);
        else
            *to++ = *s;
    }
    *to = 0;
    Bench b;
    bench_open(&b, filled, "N", n, NULL);
    bench_tensor(&b, "x", (void *)x, true, 8, 1, n);
    bench_tensor(&b, "y", (void *)y, true, 8, 1, n);
    bench_tensor(&b, "z", out, false, 8, 1, n);
    bool good = bench_run(&b, 1, 1, 1);
    if (!good) fprintf(stderr, "%s on %s:\n%s", op, type, bench_errors(&b));
    bench_close(&b);
    CHECK(good);
    return good;
}

static const char *elem_name(int e) {
    return elem_info[e].text;
}

/* --- integers --- */

typedef __int128 Wide;
static Wide wrap_to(int e, Wide x) {
    int bits = elem_info[e].bits;
    Wide m = (Wide)1 << bits, r = ((x % m) + m) % m;
    return elem_is_signed((Elem)e) && r >= m / 2 ? r - m : r;
}
static Wide get_wide(int e, const char *data, int i) {
    int64_t x = elem_get_i64((Elem)e, data + i * elem_info[e].bytes);
    return e == EL_U64 ? (Wide)(uint64_t)x : (Wide)x;
}
static Wide floor_div(Wide x, Wide y) {
    Wide q = x / y;
    return x % y && (x < 0) != (y < 0) ? q - 1 : q;
}

static Wide int_reference(const char *op, int e, Wide x, Wide y) {
    int bits = elem_info[e].bits;
    if (!strcmp(op, "add")) return x + y;
    if (!strcmp(op, "sub")) return x - y;
    if (!strcmp(op, "mul")) return (Wide)((unsigned __int128)x * (unsigned __int128)y);
    if (!strcmp(op, "div")) return y ? x / y : 0;
    if (!strcmp(op, "rem")) return y ? x % y : x;
    if (!strcmp(op, "floordiv")) return y ? floor_div(x, y) : 0;
    if (!strcmp(op, "mod")) return y ? x - floor_div(x, y) * y : x;
    if (!strcmp(op, "cdiv")) return y ? (x + y - 1) / y : 0;
    if (!strcmp(op, "min")) return x < y ? x : y;
    if (!strcmp(op, "max")) return x > y ? x : y;
    if (!strcmp(op, "and")) return x & y;
    if (!strcmp(op, "or")) return x | y;
    if (!strcmp(op, "xor")) return x ^ y;
    if (!strcmp(op, "shl")) return y < 0 || y >= bits ? 0 : x * ((Wide)1 << y);
    if (!strcmp(op, "shr"))
        return y < 0 || y >= bits ? (x < 0 ? -1 : 0) : floor_div(x, (Wide)1 << y);
    if (!strcmp(op, "mulhi")) return floor_div(x * y, (Wide)1 << bits);
    abort();
}

static void integers(void) {
    static const char *const ops[] = {"add", "sub",  "mul", "div",  "rem", "floordiv",
                                      "mod", "cdiv", "min", "max",  "and", "or",
                                      "xor", "shl",  "shr", "mulhi"};
    static const char *const compares[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    for (int e = EL_I8; e <= EL_U64; e++) {
        int bits = elem_info[e].bits, bytes = elem_info[e].bytes, count = 0;
        Wide low = elem_is_signed((Elem)e) ? -((Wide)1 << (bits - 1)) : 0;
        Wide high = elem_is_signed((Elem)e) ? ((Wide)1 << (bits - 1)) - 1 : ((Wide)1 << bits) - 1;
        Wide edges[] = {0,        1,   2,    3,        7,        bits - 1, bits,
                        bits + 1, 100, high, high - 1, high / 2, low,      low + 1,
                        -1,       -2,  -3,   -7,       low / 2};
        static char x[19 * 19 * 8], y[19 * 19 * 8], out[19 * 19 * 8];
        for (int i = 0; i < 19; i++)
            for (int j = 0; j < 19; j++, count++) {
                elem_put_i64((Elem)e, x + count * bytes, (int64_t)edges[i]);
                elem_put_i64((Elem)e, y + count * bytes, (int64_t)edges[j]);
            }
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            char text[64];
            snprintf(text, sizeof text, "%s %%a, %%b", ops[o]);
            if (!run_op(text, count, elem_name(e), x, y, elem_name(e), out)) continue;
            int wrong = 0;
            for (int i = 0; i < count; i++) {
                Wide a = get_wide(e, x, i), b = get_wide(e, y, i);
                if (e == EL_U64 && !strcmp(ops[o], "mulhi")) {
                    wrong += get_wide(e, out, i) !=
                             (Wide)(uint64_t)((unsigned __int128)a * (unsigned __int128)b >> 64);
                    continue;
                }
                wrong += get_wide(e, out, i) != wrap_to(e, int_reference(ops[o], e, a, b));
            }
            if (wrong) fprintf(stderr, "%s %s: %d wrong\n", ops[o], elem_name(e), wrong);
            CHECK(wrong == 0);
        }
        for (int c = 0; c < 6; c++) {
            char text[64];
            snprintf(text, sizeof text, "cmp<%s> %%a, %%b", compares[c]);
            if (!run_op(text, count, elem_name(e), x, y, "i1", out)) continue;
            for (int i = 0; i < count; i++) {
                Wide a = get_wide(e, x, i), b = get_wide(e, y, i);
                bool want[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
                CHECK(out[i] == want[c]);
            }
        }
        static const char *const unary[] = {"neg", "abs", "not", "popc", "clz"};
        for (size_t u = 0; u < sizeof unary / sizeof *unary; u++) {
            char text[64];
            snprintf(text, sizeof text, "%s %%a", unary[u]);
            if (!run_op(text, count, elem_name(e), x, y, elem_name(e), out)) continue;
            for (int i = 0; i < count; i++) {
                Wide a = get_wide(e, x, i), ones = 0, zeros = 0;
                for (int k = 0; k < bits; k++) ones += (a >> k) & 1;
                while (zeros < bits && !((a >> (bits - 1 - zeros)) & 1)) zeros++;
                Wide want[sizeof unary / sizeof *unary] = {-a, a < 0 ? -a : a, ~a, ones, zeros};
                CHECK(get_wide(e, out, i) == wrap_to(e, want[u]));
            }
        }
    }
    unsigned char p[] = {0, 0, 1, 1}, q[] = {0, 1, 0, 1}, r[32];
    run_op("and %a, %b", 4, "i1", p, q, "i1", r);
    CHECK(!r[0] && !r[1] && !r[2] && r[3] == 1);
    run_op("xor %a, %b", 4, "i1", p, q, "i1", r);
    CHECK(!r[0] && r[1] == 1 && r[2] == 1 && !r[3]);
    run_op("not %a", 4, "i1", p, q, "i1", r);
    CHECK(r[0] == 1 && r[1] == 1 && !r[2] && !r[3]);
}

/* --- floats --- */

static const double float_edges[] = {
    0.0, -0.0, 1,     -1,   0.5,  2.5,      -2.5,      3,   -3.5,         1e-3,  65504,
    7e4, 3e38, 1e-40, 1e-7, 5e-8, INFINITY, -INFINITY, NAN, 1.0009765625, -17.3, 255.5};
enum { FLOAT_EDGES = sizeof float_edges / sizeof *float_edges };

static bool same_float(double got, double want) {
    return isnan(want) ? isnan(got) : got == want;
}

/* The value that the type holds after an f32 (f64) operation gave x. */
static double rounded(int e, double x) {
    const FloatFormat *f = elem_format((Elem)e);
    return f ? float_widen(f, float_narrow(f, x, false)) : x;
}

static double pick(bool larger, bool keep, double x, double y) {
    if (isnan(x) || isnan(y)) return keep ? NAN : isnan(x) ? y : x;
    return larger ? fmax(x, y) : fmin(x, y);
}

static void floats(void) {
    static const int types[] = {EL_F16,    EL_BF16,   EL_F32,     EL_F64,    EL_F8E4M3,
                                EL_F8E5M2, EL_F8E4B8, EL_F8E5B16, EL_F8E4B15};
    static const char *const ops[] = {"add", "sub", "mul", "div",           "rem",
                                      "mod", "min", "max", "min<nan=keep>", "max<nan=keep>"};
    static char x[FLOAT_EDGES * FLOAT_EDGES * 8], y[sizeof x], out[sizeof x];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int e = types[t], bytes = elem_info[e].bytes, count = 0;
        for (int i = 0; i < FLOAT_EDGES; i++)
            for (int j = 0; j < FLOAT_EDGES; j++, count++) {
                elem_put_f64((Elem)e, x + count * bytes, float_edges[i]);
                elem_put_f64((Elem)e, y + count * bytes, float_edges[j]);
            }
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
            char text[64];
            snprintf(text, sizeof text, "%s %%a, %%b", ops[o]);
            if (!run_op(text, count, elem_name(e), x, y, elem_name(e), out)) continue;
            int wrong = 0;
            for (int i = 0; i < count; i++) {
                double a = elem_get_f64((Elem)e, x + i * bytes),
                       b = elem_get_f64((Elem)e, y + i * bytes);
                double got = elem_get_f64((Elem)e, out + i * bytes), want;
                float fa = (float)a, fb = (float)b;
                bool wide = e == EL_F64;
                double m = fmod(a, b);
                if (m != 0 && (m < 0) != (b < 0)) m = wide ? m + b : (double)(float)(m + b);
                switch (o) {
                case 0: want = wide ? a + b : (double)(fa + fb); break;
                case 1: want = wide ? a - b : (double)(fa - fb); break;
                case 2: want = wide ? a * b : (double)(fa * fb); break;
                case 3: want = wide ? a / b : (double)(fa / fb); break;
                case 4: want = fmod(a, b); break;
                case 5: want = m; break;
                default: want = pick(o % 2, o >= 8, a, b);
                }
                wrong += !same_float(got, rounded(e, want));
            }
            if (wrong) fprintf(stderr, "%s %s: %d wrong\n", ops[o], elem_name(e), wrong);
            CHECK(wrong == 0);
        }
        static const char *const preds[] = {"lt", "le", "gt", "ge", "eq", "ne"};
        for (int c = 0; c < 6; c++) {
            char text[64];
            snprintf(text, sizeof text, "cmp<%s> %%a, %%b", preds[c]);
            if (!run_op(text, count, elem_name(e), x, y, "i1", out)) continue;
            for (int i = 0; i < count; i++) {
                double a = elem_get_f64((Elem)e, x + i * bytes),
                       b = elem_get_f64((Elem)e, y + i * bytes);
                bool want[] = {a<b, a <= b, a> b, a >= b, a == b, a != b};
                CHECK(out[i] == want[c]);
            }
        }
        static const struct {
            const char *op;
            double (*fn)(double);
        } unary[] = {{"exp", exp},          {"exp2", exp2},   {"log", log},   {"log2", log2},
                     {"sqrt", sqrt},        {"sin", sin},     {"cos", cos},   {"tanh", tanh},
                     {"erf", erf},          {"floor", floor}, {"ceil", ceil}, {"trunc", trunc},
                     {"round", round},      {"rint", rint},   {"abs", fabs},  {"math<tan>", tan},
                     {"math<log1p>", log1p}};
        for (size_t u = 0; u < sizeof unary / sizeof *unary; u++) {
            char text[64];
            snprintf(text, sizeof text, "%s %%b", unary[u].op);
            if (!run_op(text, FLOAT_EDGES, elem_name(e), x, y, elem_name(e), out)) continue;
            for (int i = 0; i < FLOAT_EDGES; i++) {
                double a = elem_get_f64((Elem)e, y + i * bytes),
                       got = elem_get_f64((Elem)e, out + i * bytes);
                double want = unary[u].fn(a);
                if (e != EL_F64) want = (float)want;
                CHECK(same_float(got, rounded(e, want)));
            }
        }
        run_op("isnan %b", FLOAT_EDGES, elem_name(e), x, y, "i1", out);
        for (int i = 0; i < FLOAT_EDGES; i++)
            CHECK(out[i] == (isnan(elem_get_f64((Elem)e, y + i * bytes)) != 0));
        run_op("fma %a, %b, %b", count, elem_name(e), x, y, elem_name(e), out);
        for (int i = 0; i < count; i++) {
            double a = elem_get_f64((Elem)e, x + i * bytes),
                   b = elem_get_f64((Elem)e, y + i * bytes);
            double want = e == EL_F64 ? fma(a, b, b) : (double)fmaf((float)a, (float)b, (float)b);
            CHECK(same_float(elem_get_f64((Elem)e, out + i * bytes), rounded(e, want)));
        }
    }
    float s[] = {-0.0f, -0.0f}, z[2];
    run_op("neg %a", 1, "f32", s, s, "f32", z);
    CHECK(!signbit(z[0]));
    float base[] = {2, -1}, power[] = {10, 0.5f}, pq[2];
    run_op("math<pow> %a, %b", 2, "f32", base, power, "f32", pq);
    CHECK(pq[0] == 1024 && isnan(pq[1]));
    run_op("math<copysign> %a, %b", 2, "f32", base, s, "f32", pq);
    CHECK(pq[0] == -2);
}

/* --- casts: every pair of types --- */

static void put_edge(int e, char *at, double x) {
    if (elem_is_float((Elem)e))
        elem_put_f64((Elem)e, at, x);
    else if (isnan(x))
        elem_put_i64((Elem)e, at, 5);
    else
        elem_put_i64((Elem)e, at, fabs(x) > 9e18 ? (x < 0 ? INT64_MIN : INT64_MAX) : (int64_t)x);
}

/* An integer that the type holds nearest to x: toward zero, saturating, NaN 0. */
static Wide saturated(int e, double x) {
    if (e == EL_I1) return x != 0;
    if (isnan(x)) return 0;
    int bits = elem_info[e].bits;
    Wide low = elem_is_signed((Elem)e) ? -((Wide)1 << (bits - 1)) : 0;
    Wide high = ((Wide)1 << (bits - elem_is_signed((Elem)e))) - 1;
    if (x > 1e25) return high;
    if (x < -1e25) return low;
    Wide whole = (Wide)x;
    return whole < low ? low : whole > high ? high : whole;
}

static void casts(void) {
    static const double edges[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   -0.5,
                                   1.5,
                                   2.5,
                                   -2.5,
                                   127,
                                   128,
                                   -128,
                                   -129,
                                   255,
                                   256,
                                   300.7,
                                   32767,
                                   65504,
                                   65520,
                                   65536,
                                   2147483647,
                                   2147483648.0,
                                   -2147483648.0,
                                   4294967295.0,
                                   4294967296.0,
                                   9.2e18,
                                   1e19,
                                   1.8446744073709552e19,
                                   3e38,
                                   -3e38,
                                   INFINITY,
                                   -INFINITY,
                                   NAN,
                                   448,
                                   464,
                                   465,
                                   57344,
                                   61440,
                                   61441,
                                   1e-10,
                                   16777217,
                                   9007199254740993.0};
    enum { N = sizeof edges / sizeof *edges };
    static char x[N * 8], out[N * 8];
    for (int from = 0; from < EL_COUNT; from++)
        for (int to = 0; to < EL_COUNT; to++)
            for (int zero = 0; zero < 2; zero++) {
                int fb = elem_info[from].bytes, tb = elem_info[to].bytes;
                for (int i = 0; i < N; i++) put_edge(from, x + i * fb, edges[i]);
                char text[64];
                snprintf(text, sizeof text, "cast%s %%a : %s[%d]", zero ? "<round=rz>" : "",
                         elem_name(to), N);
                if (!run_op(text, N, elem_name(from), x, x, elem_name(to), out)) continue;
                int wrong = 0;
                for (int i = 0; i < N; i++) {
                    const char *a = x + i * fb, *r = out + i * tb;
                    bool ff = elem_is_float((Elem)from), tf = elem_is_float((Elem)to);
                    const FloatFormat *format = elem_format((Elem)to);
                    if (!ff && !tf) {
                        Wide v = get_wide(from, a, 0);
                        wrong += get_wide(to, r, 0) != (to == EL_I1 ? v != 0 : wrap_to(to, v));
                    } else if (ff && !tf) {
                        wrong += get_wide(to, r, 0) != saturated(to, elem_get_f64((Elem)from, a));
                    } else if (ff) {
                        double v = elem_get_f64((Elem)from, a);
                        double want =
                            format ? float_widen(format, float_narrow(format, v, zero)) : v;
                        wrong += !same_float(elem_get_f64((Elem)to, r), want);
                    } else {
                        long double v =
                            (long double)get_wide(from, a, 0); /* exact: 64 bits of mantissa */
                        double got = elem_get_f64((Elem)to, r);
                        if (!zero && to == EL_F32)
                            wrong += got != (double)(float)v;
                        else if (!zero && to == EL_F64)
                            wrong += got != (double)v;
                        else if (zero && to == EL_F64)
                            wrong += fabsl((long double)got) > fabsl(v) ||
                                     (fabsl(v) < 0x1p53 && got != v);
                        else {
                            double want =
                                float_widen(format, float_narrow(format, (double)v, zero));
                            if (fabsl(v) < 0x1p53) wrong += got != want;
                        }
                    }
                }
                if (wrong)
                    fprintf(stderr, "cast %s to %s, rz %d: %d wrong\n", elem_name(from),
                            elem_name(to), zero, wrong);
                CHECK(wrong == 0);
            }
    uint32_t bits[] = {0x3F800000, 0xFFC00000, 0};
    run_op("bitcast %a : i32[3]", 3, "f32", bits, bits, "i32", out);
    CHECK(memcmp(out, bits, sizeof bits) == 0);
}

/* --- select, broadcasting, constants --- */

static void broadcasting(void) {
    Bench b;
    float out[4 * 3 * 5];
    bench_open(
        &b,
        "kernel @k(%z: tensor<f32,3>) {\n"
        "  %i = iota<0, 4> ; %j = iota<10, 13> ; %k = iota<100, 105>\n"
        "  %a0 = expand<1> %i ; %a = expand<2> %a0 ; %b0 = expand<0> %j ; %b = expand<2> %b0\n"
        "  %c0 = expand<0> %k ; %c = expand<0> %c0\n"
        "  %ab = mul %a, %b ; %abc = add %ab, %c ; %abd = add 1000, %abc\n"
        "  %even = rem %abd, 2 ; %m = cmp<eq> %even, 0 ; %f = cast %abd : f32[4,3,5] ; %s = select "
        "%m, %f, nan\n"
        "  %one = reshape %s : f32[60] ; %two = reshape %one : f32[4,3,5]\n"
        "  tstore %z, [0,0,0], %two\n"
        "  return }\n",
        NULL);
    bench_tensor(&b, "z", out, false, 4, 3, 4, 3, 5);
    b.launch.sanitize = true;
    BENCH_RUN(&b, 1, 1, 1);
    for (int i = 0; i < 60; i++) {
        int want = 1000 + i / 15 * (10 + i / 5 % 3) + 100 + i % 5;
        CHECK(want % 2 ? isnan(out[i]) : out[i] == (float)want);
    }
    bench_close(&b);
}

int main(void) {
    integers();
    floats();
    casts();
    broadcasting();
    return check_done();
}
