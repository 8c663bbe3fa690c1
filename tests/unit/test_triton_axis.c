/* SPDX-License-Identifier: Apache-2.0 */
/* test_triton_axis.c: Triton's reductions, scans, sorts and their kin against answers worked out by
 * hand, on the interpreter, the CPU target and emulated CUDA; any extent, any axis. */
#include "triton_answers.h"

#define K(n)    "k = tl.arange(0, " #n ")\n"
#define LOAD(n) K(n) "v = tl.load(x + k)\n"
#define GRID(m, n)                                                                                \
    "r = tl.arange(0, " #m ")\nc = tl.arange(0, " #n ")\nat = r[:, None] * " #n " + c[None, :]\n" \
    "v = tl.load(x + at)\n"

static const char combines[] =
    "@triton.jit\ndef add(a, b):\n    return a + b\n"
    "@triton.jit\ndef first(a, b):\n    return a\n"
    "@triton.jit\ndef last(a, b):\n    return b\n"
    "@triton.jit\ndef larger(av, ai, bv, bi):\n    take = av > bv\n"
    "    return tl.where(take, av, bv), tl.where(take, ai, bi)\n"
    "@triton.jit\ndef recur(a1, b1, a2, b2):\n    return a1 * a2, b1 * a2 + b2\n"
    "@triton.jit\ndef welford(m1, s1, w1, m2, s2, w2):\n    d = m2 - m1\n    w = w1 + w2\n"
    "    f = tl.where(w == 0.0, 0.0, w2 / w)\n"
    "    return m1 + d * f, s1 + s2 + d * d * w1 * f, w\n"
    "@triton.jit\ndef checked(a, b):\n    tl.device_assert(a < 0)\n    assert b < 0, 'no'\n    "
    "return a + b\n"
    "@triton.jit\ndef loud(a, b):\n    tl.device_print('a', a)\n    return a + b\n"
    "@triton.jit\ndef tiled(a, b):\n    return a + tl.sum(tl.arange(0, 2) * b)\n"
    "@triton.jit\ndef worse(a, b):\n    return (a + b).to(tl.float32)\n"
    "@triton.jit\ndef sign(a, b):\n    if a < b:\n        return -1\n    elif a == b:\n"
    "        return 0\n    else:\n        return 1\n"
    "@triton.jit\ndef divide(a, b):\n    return a // b, a % b\n"
    "@triton.jit\ndef divide2(a0, a1, b0, b1):\n"
    "    return a0 // b0, a1 // b1, a0 % b0, a1 % b1\n";

static const TritonCase cases[] = {
    {ROW("sum of rows and columns", "x f32 1 2 3 4 5 6; z f32 = 6 15; w f32 = 5 7 9; a f32 = 21",
         GRID(2, 3) "tl.store(z + r, tl.sum(v, 1))\ntl.store(w + c, tl.sum(v, axis=0))\n"
                    "tl.store(a, tl.sum(v))")},
    {ROW("keep_dims", "x f32 1 2 3 4 5 6; z f32 = -5 -4 -3 -11 -10 -9; w f32 = 22 23 24 25 26 27",
         GRID(2, 3) "tl.store(z + at, v - tl.sum(v, 1, keep_dims=True))\n"
                    "tl.store(w + at, v + tl.sum(v, keep_dims=True))")},
    {ROW("small integers widen in sums",
         "x i8 100 100 100; u u8 200 200 200; b i1 1 1 1; z i32 = 300; y u32 = 600; c u32 = 3",
         LOAD(3) "tl.static_assert(tl.sum(v).dtype == tl.int32)\ntl.store(z, tl.sum(v))\n"
                 "s = tl.sum(tl.load(u + k))\ntl.static_assert(s.dtype == tl.uint32)\ntl.store(y, "
                 "s)\n"
                 "n = tl.sum(tl.load(b + k))\ntl.static_assert(n.dtype == tl.uint32)\ntl.store(c, "
                 "n)")},
    {ROW("a float16 sum rounds each time",
         "x f16 2048 1 1 1; z f16 = 2050; c f16 = 2048 2048 2048 2048; w f32 = 2051",
         LOAD(4) "s = tl.reduce(v, 0, add)\ntl.static_assert(tl.sum(v).dtype == tl.float16)\n"
                 "tl.store(z, s)\ntl.store(c + k, tl.cumsum(v))\n"
                 "tl.store(w, tl.sum(v, dtype=tl.float32))"),
     .helpers = combines, .in_order = 1},
    {ROW("max and min drop NaN, widen", "x f16 1 nan 3 -2; z f32 = 3 -2; n f32 = nan nan",
         LOAD(4) "m = tl.max(v)\ntl.static_assert(m.dtype == tl.float32)\ntl.store(z, m)\n"
                 "tl.store(z + 1, tl.min(v, 0))\n"
                 "tl.store(n, tl.max(v, propagate_nan=True))\ntl.store(n + 1, tl.min(v, "
                 "propagate_nan=True))")},
    {ROW("small integers in max become int32", "x u8 3 250 7; z i32 = 250; w i32 = 3",
         LOAD(3) "m = tl.max(v, 0)\ntl.static_assert(m.dtype == tl.int32)\ntl.store(z, m)\n"
                 "tl.store(w, tl.min(v, 0))")},
    {ROW("max with indices keeps float16", "x f16 1 5 2 5; z f16 = 5; i i32 = 1; j i32 = 0",
         LOAD(4) "m, at = tl.max(v, 0, return_indices=True)\ntl.static_assert(m.dtype == "
                 "tl.float16)\n"
                 "tl.store(z, m)\ntl.store(i, at)\ntl.store(j, tl.argmin(v, axis=0))")},
    {ROW("argmax along axes",
         "x i32 3 9 9 8 1 8; i i32 = 1 0; j i32 = 1 0 0; l i32 = 1; m i32 = 1 0",
         GRID(2, 3) "tl.store(i + r, tl.argmax(v, 1))\ntl.store(j + c, tl.argmax(v, 0))\n"
                    "tl.store(l, tl.argmax(tl.ravel(v), 0))\n"
                    "tl.store(m + r[:, None], tl.argmax(v, 1, keep_dims=True))")},
    {ROW("xor and or", "x i32 12 10 3; z i32 = 5 15",
         LOAD(3) "tl.store(z, tl.xor_sum(v, 0))\ntl.store(z + 1, tl.reduce_or(v, axis=0))")},
    {ROW("xor_sum refuses floats", "x f32 1 2; z f32 = 0", LOAD(2) "tl.store(z, tl.xor_sum(v, 0))"),
     .refused = "xor_sum"},
    {ROW(
        "running sums",
        "x i8 100 100 -3; z i32 = 100 200 197; w i32 = 197 97 -3; p i8 = 1 2 6; q i8 1 2 3",
        LOAD(
            3) "s = tl.cumsum(v, 0)\ntl.static_assert(s.dtype == tl.int32)\ntl.store(z + k, s)\n"
               "tl.store(w + k, tl.cumsum(v, 0, reverse=True))\n"
               "g = tl.cumprod(tl.load(q + k))\ntl.static_assert(g.dtype == tl.int8)\ntl.store(p + "
               "k, g)")},
    {ROW("running sums of bfloat16 are float32", "x bf16 256 1 1; z f32 = 256 257 258",
         LOAD(3) "s = tl.cumsum(v)\ntl.static_assert(s.dtype == tl.float32)\ntl.store(z + k, s)")},
    {ROW("running sum along columns",
         "x f32 1 2 3 4 5 6; z f32 = 1 2 3 5 7 9; w f32 = 6 5 3 15 11 6",
         GRID(2, 3) "tl.store(z + at, tl.cumsum(v, 0))\ntl.store(w + at, tl.cumsum(v, -1, "
                    "reverse=True))")},
    {ROW("reduce by a function",
         "x f32 1 5 2; z f32 = 8; w f32 = 5; i i32 = 1; a f32 = 1; b f32 = 2",
         LOAD(3) "tl.store(z, tl.reduce(v, 0, add))\nm, j = tl.reduce((v, k), 0, larger)\n"
                 "tl.store(w, m)\ntl.store(i, j)\ns, = tl.reduce((v,), 0, first)\ntl.store(a, s)\n"
                 "tl.store(b, tl.reduce(v, None, last))"),
     .helpers = combines},
    {ROW("combinations of the standard library",
         "x f32 2 5 1 5; z f32 = 13 50 5 1; i i32 = 1 5 2 1; n i32 = 4 3 1 0",
         "from_library = tl.standard\n" LOAD(4)
         "m, j = tl.reduce((v, k), 0, from_library._argmax_combine_tie_break_left)\n"
         "o, h = tl.reduce((v, k), 0, tl.standard._argmin_combine_tie_break_left)\n"
         "tl.store(z, tl.reduce(v, 0, tl.standard._sum_combine))\ntl.store(z + 1, tl.reduce(v, 0, tl.standard._prod_combine))\n"
         "tl.store(z + 2, tl.reduce(v, 0, tl.standard._elementwise_max))\ntl.store(z + 3, o)\n"
         "tl.store(i, j)\ntl.store(i + 1, m)\ntl.store(i + 2, h)\ntl.store(i + 3, tl.reduce(v, 0, tl.standard._elementwise_min))\n"
         "tl.store(n, tl.standard._log2(16))\ntl.store(n + 1, tl.standard._log2(15))\n"
         "tl.store(n + 2, tl.standard._is_power_of_two(8))\ntl.store(n + 3, tl.standard._is_power_of_two(0))")},
    {ROW("reduce tuples along an axis", "x f32 1 5 2 7 3 4; z f32 = 5 7; i i32 = 1 0",
         GRID(2, 3) "m, j = tl.reduce((v, r[:, None] * 0 + c[None, :]), 1, larger)\n"
                    "tl.store(z + r, m)\ntl.store(i + r, j)"),
     .helpers = combines},
    {ROW("welford", "x f32 1 2 3 4 5; z f32 = 3 10 5",
         LOAD(5) "m, s, w = tl.reduce((v, v * 0, v * 0 + 1), 0, welford)\n"
                 "tl.store(z, m)\ntl.store(z + 1, s)\ntl.store(z + 2, w)"),
     .helpers = combines, .within = 1e-6},
    {ROW("scan by a function",
         "x f32 1 2 3; z f32 = 1 1 1; w f32 = 3 3 3; a f32 = 1 4 11; b f32 = 17 8 3",
         LOAD(3) "tl.store(z + k, tl.associative_scan(v, 0, first))\n"
                 "tl.store(w + k, tl.associative_scan(v, 0, first, reverse=True))\n"
                 "p, q = tl.associative_scan((v * 0 + 2, v), 0, recur)\ntl.store(a + k, q)\n"
                 "p, q = tl.associative_scan((v * 0 + 2, v), 0, recur, reverse=True)\ntl.store(b + "
                 "k, "
                 "q)"),
     .helpers = combines},
    {ROW("scan by a function along an axis",
         "x i32 1 2 3 4 5 6; z i32 = 1 2 3 5 7 9; w i32 = 6 5 3 15 11 6",
         GRID(2, 3) "tl.store(z + at, tl.associative_scan(v, 0, add))\n"
                    "tl.store(w + at, tl.associative_scan(v, 1, add, reverse=True))"),
     .helpers = combines},
    {ROW("a combine of another type is refused", "x i32 1 2; z i32 = 0",
         LOAD(2) "tl.store(z, tl.reduce(v, 0, worse))"),
     .helpers = combines, .refused = "returns float32"},
    {ROW("asserts of a combine are left out", "x i32 1 2; z i32 = 3",
         LOAD(2) "tl.store(z, tl.reduce(v, 0, checked))"),
     .helpers = combines},
    {ROW("a combine only computes", "x i32 1 2; z i32 = 0",
         LOAD(2) "tl.store(z, tl.reduce(v, 0, loud))"),
     .helpers = combines, .refused = "only computes"},
    {ROW("a combine has no tiles", "x i32 1 2; z i32 = 0",
         LOAD(2) "tl.store(z, tl.reduce(v, 0, tiled))"),
     .helpers = combines, .refused = "on scalars"},
    {ROW("a builtin as a combine", "x i32 1 7 3; z i32 = 7",
         LOAD(3) "tl.store(z, tl.reduce(v, 0, tl.maximum))")},
    {ROW("sort", "x f32 3 -1 nan 2 7 0 5; z f32 = -1 0 2 3 5 7 nan; w f32 = 7 5 3 2 0 -1 nan",
         LOAD(7) "tl.store(z + k, tl.sort(v))\ntl.store(w + k, tl.sort(v, descending=True))")},
    {ROW("sort along an axis",
         "x i32 6 5 4 3 -2 1; z i32 = 3 -2 1 6 5 4; w i32 = 6 5 4 3 1 -2; y u8 = 250 7 1; q u8 7 "
         "250 1",
         GRID(2, 3) "tl.store(z + at, tl.sort(v, 0))\ntl.store(w + at, tl.sort(v, dim=1, "
                    "descending=1))\n"
                    "tl.store(y + c, tl.sort(tl.load(q + c), descending=True))")},
    {ROW("topk, any k", "x f16 3 -1 4 2 7 0; z f32 = 7 4 3 2; w f16 = 7 4 3 2 0 -1",
         LOAD(6) "t = tl.topk(v, 4)\ntl.static_assert(t.dtype == tl.float32)\ntl.store(z + "
                 "tl.arange(0, 4), t)\n"
                 "a = tl.topk(v, 6)\ntl.static_assert(a.dtype == tl.float16)\ntl.store(w + k, a)")},
    {ROW("topk of rows", "x i32 1 9 2 8 7 6; z i32 = 9 2 8 7",
         GRID(2, 3) "tl.store(z + r[:, None] * 2 + tl.arange(0, 2)[None, :], tl.topk(v, 2))")},
    {ROW("bitonic_merge", "x i32 1 3 5 4 2 0; z i32 = 0 1 2 3 4 5",
         LOAD(6) "tl.store(z + k, tl.bitonic_merge(v))")},
    {ROW(
        "histogram", "x i32 0 2 2 5 -1 1 2; z i32 = 1 1 3 0 0; w i32 = 1 0 1 0 0 1",
        LOAD(7) "tl.store(z + tl.arange(0, 5), tl.histogram(v, 5))\n"
                "tl.store(w + tl.arange(0, 6), tl.histogram(v, 6, mask=(k == 0) | (k == 1) | (k == "
                "3)))")},
    {ROW("histogram of floats is refused", "x f32 1 2; z i32 = 0",
         LOAD(2) "tl.store(z + k, tl.histogram(v, 2))"),
     .refused = "integers along one axis"},
    {ROW("gather",
         "x f32 10 20 30 40 50 60; z f32 = 30 10 40 50; w f32 = 40 20 60; i i32 2 0 0 1; j i32 1 0 "
         "1",
         GRID(2, 3) "ij = r[:, None] * 2 + tl.arange(0, 2)[None, :]\n"
                    "tl.store(z + ij, tl.gather(v, tl.load(i + ij), 1))\n"
                    "one = tl.load(j + c)[None, :]\n"
                    "tl.store(w + c[None, :], tl.gather(v, one, axis=0))")},
    {ROW("gather of other shapes is refused", "x f32 10 20 30 40 50 60; z f32 = 0",
         GRID(2, 3) "tl.store(z + r, tl.sum(tl.gather(v, c[:, None], 1), 1))"),
     .refused = "along axis 1 only"},
    {ROW("softmax",
         "x f32 0 1 2; z f32 = 0.09003057 0.24472848 0.66524094; q f32 = 0.26894143 0.26894143 "
         "0.73105860 0.73105860; y f32 0 0 1 1",
         LOAD(3) "tl.store(z + k, tl.softmax(v))\nd = tl.arange(0, 2)\n"
                 "m = d[:, None] * 2 + d[None, :]\ntl.store(q + m, tl.softmax(tl.load(y + m), "
                 "dim=0))"),
     .within = 1e-6},
    {ROW("map with control flow",
         "x i32 1 5 3; y i32 2 5 1; z i32 = -1 0 1; q i32 = 0 1 3; m i32 = 1 0 0",
         LOAD(3) "u = tl.load(y + k)\ntl.store(z + k, tl.map_elementwise(sign, v, u))\n"
                 "a, b = tl.map_elementwise(divide, v, u)\ntl.store(q + k, a)\ntl.store(m + k, b)"),
     .helpers = combines},
    {ROW("map in packs", "x i32 1 5 3 9; y i32 2 5 1 4; q i32 = 0 1 3 2; m i32 = 1 0 0 1",
         LOAD(4) "u = tl.load(y + k)\na, b = tl.map_elementwise(divide2, v, u, pack=2)\n"
                 "tl.store(q + k, a)\ntl.store(m + k, b)"),
     .helpers = combines},
};

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    bool emulates = system("command -v c++ >/dev/null 2>&1") == 0;
    if (!emulates) printf("skipped on emulated cuda: no C++ compiler\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        triton_case(cx, &cases[i], "interp");
        if (cases[i].refused) continue;
        triton_case(cx, &cases[i], "cpu");
        if (emulates && !cases[i].in_order && check_chosen()) triton_case(cx, &cases[i], "cuda");
    }
    tw_context_destroy(cx);
    return check_done();
}
