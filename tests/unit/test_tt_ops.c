/* SPDX-License-Identifier: Apache-2.0 */
/* test_tt_ops.c: ops and shapes of compute kernels on Tenstorrent, against the interpreter on the same ring form.
 *
 * Each kernel reads tensors of rank 2 (or what its row says), computes something, and writes. Inputs are normal numbers;
 * the bound is relative to the largest result: fp32 for the SFPU; 2^-12 of the largest product a
 * step for the FPU, which aligns products of a step before it adds them. What the target must refuse stands at the end, with the words it uses. */
#include "check.h"
#include "tt_harness.h"
#include "ir/interp/interp.h"

/* One task: loads, a compute body, stores. */
#define KERNEL(params, rings, load, compute, store)                                                            \
    "kernel @t(" params ") {\n  %np = num_programs<0>\n" rings "  tasks %t in %np {\n    role load {\n" load "    }\n" \
    "    role compute {\n" compute "    }\n    role store {\n" store "    }\n  }\n}\n"
#define IN(fields)         "  %in = ring<from=load, to=compute, slots=2> : {" fields "}\n"
#define OUT(fields)        "  %out = ring<from=compute, to=store, slots=2> : {" fields "}\n"
#define PUT_IN(f, t, at, type) " %v" f " = tload " t ", " at " : " type " ; put %s." f ", %v" f "\n"
#define PUT_OUT(f, v)      " put %q." f ", " v "\n"
#define STORE_OUT(f, t, at) " %w" f " = get %q." f " ; tstore " t ", " at ", %w" f "\n"
#define LOADS(body)        " %s = acquire %in\n" body " commit %in, %s\n"
#define STORES(body)       " %q = wait %out\n" body " release %out, %q\n"
#define FINISH(body)       " %q = acquire %out\n" body " commit %out, %q\n"

/* The maximum of rows so far, and a sum that is rescaled with it. */
static const char carried_text[] = KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,64]") OUT("a: f32[32,64]"),
        " %N = extent<1> %X ; %nk = cdiv %N, 64\n for %k = 0, %nk, 1 {\n %kk = mul %k, 64\n" LOADS(PUT_IN("x", "%X", "[0, %kk]", "f32[32,64]")) " }\n",
        " %N = extent<1> %X ; %nk = cdiv %N, 64 ; %m0 = splat -4.0 : f32[32] ; %l0 = splat 0.5 : f32[32,64]\n"
        " %m, %l = for %k = 0, %nk, 1 (%mc = %m0, %lc = %l0) {\n"
        "  %s = wait %in ; %x = get %s.x ; %r = reduce<max, axis=1> %x ; %mn = max %mc, %r\n"
        "  %t1 = sub %mc, %mn ; %al = exp %t1 ; %me = expand<1> %mn ; %t2 = sub %x, %me ; %p = exp %t2 ; %ae = expand<1> %al ; %t3 = mul %lc, %ae ; %ln = add %t3, %p\n"
        "  release %in, %s ; yield %mn, %ln }\n"
        " %mx = expand<1> %m ; %a = add %l, %mx\n" FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0, 0]")));

static const char two_sums_text[] = KERNEL("%X, %A, %B: tensor<f32,2>, %al: f32", IN("x: f32[32,64]") OUT("a: f32[32,64], b: f32[32,64]"),
        " %N = extent<1> %X ; %nk = cdiv %N, 64\n for %k = 0, %nk, 1 {\n %kk = mul %k, 64\n" LOADS(PUT_IN("x", "%X", "[0, %kk]", "f32[32,64]")) " }\n",
        " %N = extent<1> %X ; %nk = cdiv %N, 64 ; %z = splat 1.0 : f32[32,64] ; %o = splat 0.0 : f32[32,64]\n"
        " %u, %v = for %k = 0, %nk, 1 (%p = %z, %r = %o) { %s = wait %in ; %x = get %s.x ; %p1 = add %p, %x ; %e = exp %x ; %r1 = fma %e, %x, %r ; release %in, %s ; yield %p1, %r1 }\n"
        " %c = cmp<gt> %nk, 1 ; if %c {\n" FINISH(PUT_OUT("a", "%u") PUT_OUT("b", "%v")) " yield } { \n" FINISH(PUT_OUT("a", "%v") PUT_OUT("b", "%u")) " yield }\n",
        STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]")));

typedef struct Row {
    const char *name, *text;
    int64_t shapes[6][3]; /* of the tensors, in the order of the parameters; 0 closes a shape */
    double scalars[3];    /* f32 parameters behind them */
    int scalar_count;
    int64_t grid;
    double bound;
} Row;

static const Row rows[] = {
    {"elements at any place", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"),
        LOADS(" %o = mul %t, 5\n" PUT_IN("x", "%X", "[%o, 3]", "f32[32,32]")), " %s = wait %in ; %x = get %s.x ; %a = add %x, 1.0 ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        STORES(" %o = mul %t, 37\n" STORE_OUT("a", "%A", "[%o, 1]"))),
     {{41, 30}, {111, 40}}, {0}, 0, 3, 1e-7},
    {"rows stored by an index vector", KERNEL("%X, %A: tensor<bf16,2>", IN("x: bf16[32,40]") OUT("a: bf16[32,40]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "bf16[32,40]")),
        " %s = wait %in ; %x = get %s.x ; %a = neg %x ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        STORES(" %i = iota<0, 32> ; %i5 = mul %i, 5 ; %v = rem %i5, 32\n" STORE_OUT("a", "%A", "[%v, 0]"))),
     {{32, 37}, {30, 37}}, {0}, 0, 1, 0},
    {"numbers of memory", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"), LOADS(" %o = mul %t, 32\n" PUT_IN("x", "%X", "[%o, 0]", "f32[32,32]")),
        " %n = tload %X, [%t, 7] : f32 ; %e = exp %n ; %s = wait %in ; %x = get %s.x ; %a0 = mul %x, %n ; %a1 = add %a0, %e ; %big = cmp<gt> %n, 0.1 ; %a = select %big, %a1, %x ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a")), STORES(" %o = mul %t, 32\n" STORE_OUT("a", "%A", "[%o, 0]"))),
     {{96, 32}, {96, 32}}, {0}, 0, 3, 1e-6},
    {"bytes", KERNEL("%X: tensor<i8,2>, %Y: tensor<f8e4m3,2>, %A: tensor<f32,2>, %B: tensor<i8,2>", IN("x: i8[32,64], y: f8e4m3[32,64]") OUT("a: f32[32,64], b: i8[32,64]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "i8[32,64]") PUT_IN("y", "%Y", "[0, 0]", "f8e4m3[32,64]")),
        " %s = wait %in ; %x = get %s.x ; %y = get %s.y ; %xf = cast %x : f32[32,64] ; %yf = cast %y : f32[32,64] ; %a = fma %xf, %yf, %xf\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%x")) " release %in, %s\n", STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]"))),
     {{30, 50}, {32, 64}, {32, 64}, {30, 60}}, {0}, 0, 1, 1e-6},
    {"sums of padded extents", KERNEL("%X: tensor<f32,2>, %A, %B, %C: tensor<f32,1>", IN("x: f32[20,40]") OUT("a: f32[20], b: f32[20], c: f32[40]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[20,40]")),
        " %s = wait %in ; %x = get %s.x ; %e = exp %x ; %a = reduce<add, axis=1> %e ; %n = sub %x, 9.0 ; %b = reduce<max, axis=1> %n ; %c = reduce<add, axis=0> %e ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b") PUT_OUT("c", "%c")), STORES(STORE_OUT("a", "%A", "[0]") STORE_OUT("b", "%B", "[0]") STORE_OUT("c", "%C", "[0]"))),
     {{20, 40}, {20}, {20}, {40}}, {0}, 0, 1, 1e-3},
    {"a vector's one sum", KERNEL("%X, %A: tensor<f32,1>", IN("x: f32[1024]") OUT("a: f32[1024]"), LOADS(PUT_IN("x", "%X", "[0]", "f32[1024]")),
        " %s = wait %in ; %x = get %s.x ; %m = reduce<max, axis=0> %x ; %d = sub %x, %m ; %e = exp %d ; %r = reduce<add, axis=0> %e ; %q = sqrt %r ; %a = div %e, %q ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        STORES(STORE_OUT("a", "%A", "[0]"))),
     {{1024}, {1024}}, {0}, 0, 1, 2e-3},
    {"a number carried round a loop", KERNEL("%X: tensor<f32,2>, %A: tensor<f32,1>", IN("x: f32[64]") OUT("a: f32[64]"),
        " for %k = 0, 5, 1 {\n" LOADS(PUT_IN("x", "%X", "[%k, 0]", "f32[64]")) " }\n",
        " %z = splat 0.0 : f32[64]\n %l, %v = for %k = 0, 5, 1 (%c = 0.5, %y = %z) { %s = wait %in ; %x = get %s.x ; %e = exp %x ; %r = reduce<add, axis=0> %e ; release %in, %s ; %h = mul %c, 0.25 ; %n = add %h, %r ; %w = add %y, %e ; yield %n, %w }\n"
        " %a = div %v, %l\n" FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0]"))),
     {{5, 64}, {64}}, {0}, 0, 1, 2e-3},
    {"running sums, products and extremes", KERNEL("%X, %A, %B, %C, %D: tensor<f32,2>", IN("x: f32[32,40]") OUT("a: f32[32,40], b: f32[32,40], c: f32[32,40], d: f32[32,40]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,40]")),
        " %s = wait %in ; %x = get %s.x ; %a = scan<add, axis=1> %x ; %b = scan<add, axis=0, reverse> %x ; %c = scan<max, axis=1> %x ; %h = mul %x, 0.5 ; %o = add %h, 1.0 ; %d = scan<min, axis=0> %o ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b") PUT_OUT("c", "%c") PUT_OUT("d", "%d")),
        STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]") STORE_OUT("c", "%C", "[0, 0]") STORE_OUT("d", "%D", "[0, 0]"))),
     {{32, 40}, {32, 40}, {32, 40}, {32, 40}, {32, 40}}, {0}, 0, 1, 2e-6},
    {"parts of tiles", KERNEL("%X, %A: tensor<f32,2>, %B, %Y: tensor<bf16,2>", IN("x: f32[32,64], y: bf16[32,32]") OUT("a: f32[32,64], b: bf16[32,64]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,64]") PUT_IN("y", "%Y", "[0, 0]", "bf16[32,32]")),
        " %s = wait %in ; %x = get %s.x ; %y = get %s.y ; %p = slice %x, [16, 5] : f32[16,32] ; %n = neg %p ; %a = insert %x, [3, 30], %n ; %b = repeat<1> %y : bf16[32,64] ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b")), STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]"))),
     {{32, 64}, {32, 64}, {32, 64}, {32, 32}}, {0}, 0, 1, 0},
    {"unary", KERNEL("%X, %A, %B, %C, %D, %E: tensor<f32,2>", IN("x: f32[32,64]") OUT("a: f32[32,64], b: f32[32,64], c: f32[32,64], d: f32[32,64], e: f32[32,64]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,64]")),
        " %s = wait %in ; %x = get %s.x ; %n = neg %x ; %ab = abs %x ; %e1 = exp %x ; %e2 = exp2 %n ; %sq = sqrt %ab ; %one = add %ab, 1.0\n"
        " %rs = rsqrt %one ; %lg = log %one ; %l2 = log2 %one ; %si = sin %x ; %co = cos %x ; %th = tanh %x ; %er = erf %x\n"
        " %a = add %e1, %e2 ; %b0 = mul %sq, %rs ; %b = sub %b0, %lg ; %c0 = add %l2, %si ; %c = mul %c0, %co ; %d = div %th, %one\n"
        " %f = floor %x ; %ce = ceil %x ; %tr = trunc %x ; %e3 = fma %f, %ce, %tr ; %e = add %e3, %er ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b") PUT_OUT("c", "%c") PUT_OUT("d", "%d") PUT_OUT("e", "%e")),
        STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]") STORE_OUT("c", "%C", "[0, 0]") STORE_OUT("d", "%D", "[0, 0]") STORE_OUT("e", "%E", "[0, 0]"))),
     {{32, 64}, {32, 64}, {20, 50}, {32, 64}, {32, 64}, {32, 64}}, {0}, 0, 1, 4e-6},
    {"numbers", KERNEL("%X, %A, %B, %C: tensor<f32,2>, %al, %be: f32", IN("x: f32[32,32]") OUT("a: f32[32,32], b: f32[32,32], c: f32[32,32]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")),
        " %s = wait %in ; %x = get<copy> %s.x ; release %in, %s\n"
        " %ax = mul %x, %al ; %a = add %be, %ax ; %b0 = sub 1.0, %x ; %b1 = sub %b0, 0.25 ; %b = div %b1, 4.0 ; %r = abs %x ; %r1 = add %r, 0.5\n"
        " %c0 = div 1.0, %r1 ; %c1 = div %c0, 3.0 ; %c2 = max %c1, 0.1 ; %c3 = min %c2, 0.5 ; %c4 = max %x, 0.0 ; %c = add %c3, %c4\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b") PUT_OUT("c", "%c")),
        STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]") STORE_OUT("c", "%C", "[0, 0]"))),
     {{32, 32}, {32, 32}, {32, 32}, {7, 9}}, {1.7, -0.3}, 2, 1, 1e-6},
    {"choices", KERNEL("%X, %Y, %A, %B: tensor<f32,2>", IN("x: f32[32,96], y: f32[32,96]") OUT("a: f32[32,96], b: f32[32,96]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,96]") PUT_IN("y", "%Y", "[0, 0]", "f32[32,96]")),
        " %s = wait %in ; %x = get %s.x ; %y = get %s.y ; %lt = cmp<lt> %x, %y ; %ge = cmp<ge> %x, 0.0 ; %an = and %lt, %ge ; %no = not %an ; %xo = xor %no, %lt\n"
        " %o = or %xo, %an ; %a = select %an, %x, %y ; %b0 = select %o, %a, -2.0 ; %one = cast %no : f32[32,96] ; %b = add %b0, %one ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b")), STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]"))),
     {{30, 90}, {30, 90}, {30, 90}, {30, 90}}, {0}, 0, 1, 1e-7},
    {"shared parts", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,64]") OUT("a: f32[32,64]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,64]")),
        " %s = wait %in ; %x = get %s.x ; %y = mul %x, %x ; %n = neg %y ; %e = exp %n ; %z = mul %y, %e ; %w = add %z, %y ; %v = mul %w, %e ; %u = sub %v, %z\n"
        " %a = mul %u, %w ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     {{32, 64}, {32, 64}}, {0}, 0, 1, 2e-6},
    {"rows and columns", KERNEL("%X: tensor<bf16,2>, %U, %V: tensor<bf16,1>, %A: tensor<bf16,2>", IN("x: bf16[64,96], u: bf16[96], v: bf16[64]") OUT("a: bf16[64,96]"),
        " %m = mul %t, 64\n" LOADS(PUT_IN("x", "%X", "[%m, 0]", "bf16[64,96]") PUT_IN("u", "%U", "[0]", "bf16[96]") PUT_IN("v", "%V", "[%m]", "bf16[64]")),
        " %s = wait %in ; %x = get %s.x ; %u = get %s.u ; %v = get %s.v ; %xf = cast %x : f32[64,96] ; %uf = cast %u : f32[96] ; %vf = cast %v : f32[64]\n"
        " %ur = expand<0> %uf ; %vc = expand<1> %vf ; %y = add %xf, %ur ; %z = mul %y, %vc ; %a = cast %z : bf16[64,96] ; release %in, %s\n"
        FINISH(PUT_OUT("a", "%a")), " %m = mul %t, 64\n" STORES(STORE_OUT("a", "%A", "[%m, 0]"))),
     {{100, 90}, {90}, {100}, {100, 90}}, {0}, 0, 2, 8e-3},
    {"softmax of rows", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[64,96]") OUT("a: f32[64,96]"),
        " %m = mul %t, 64\n" LOADS(" %vx = tload<fill=-inf> %X, [%m, 0] : f32[64,96] ; put %s.x, %vx\n"),
        " %s = wait %in ; %x = get %s.x ; %mx = reduce<max, axis=1> %x ; %mc = expand<1> %mx ; %d = sub %x, %mc ; %e = exp %d ; release %in, %s\n"
        " %sm = reduce<add, axis=1> %e ; %sc = expand<1> %sm ; %a = div %e, %sc\n" FINISH(PUT_OUT("a", "%a")),
        " %m = mul %t, 64\n" STORES(STORE_OUT("a", "%A", "[%m, 0]"))),
     {{70, 77}, {70, 77}}, {0}, 0, 2, 4e-3},
    {"sum of columns", KERNEL("%X: tensor<bf16,2>, %A: tensor<f32,1>", IN("x: bf16[64,64]") OUT("a: f32[64]"),
        " %n = mul %t, 64\n" LOADS(PUT_IN("x", "%X", "[0, %n]", "bf16[64,64]")),
        " %s = wait %in ; %x = get %s.x ; %f = cast %x : f32[64,64] ; %a = reduce<add, axis=0> %f ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        " %n = mul %t, 64\n" STORES(STORE_OUT("a", "%A", "[%n]"))),
     {{50, 100}, {100}}, {0}, 0, 2, 2e-4},
    {"dot, transposed, with bias", KERNEL("%A, %B: tensor<bf16,2>, %U: tensor<f32,1>, %C: tensor<f32,2>", IN("a: bf16[64,32], b: bf16[96,32], u: f32[96]") OUT("c: f32[64,96]"),
        LOADS(PUT_IN("a", "%A", "[0, 0]", "bf16[64,32]") PUT_IN("b", "%B", "[0, 0]", "bf16[96,32]") PUT_IN("u", "%U", "[0]", "f32[96]")),
        " %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %u = get %s.u ; %bt = permute<dims=[1,0]> %b ; %z = splat 0.5 : f32[64,96] ; %d = dot %a, %bt, %z\n"
        " %ur = expand<0> %u ; %e = add %d, %ur ; %c = max %e, 0.0 ; release %in, %s\n" FINISH(PUT_OUT("c", "%c")), STORES(STORE_OUT("c", "%C", "[0, 0]"))),
     {{64, 32}, {90, 30}, {90}, {64, 90}}, {0}, 0, 1, 1e-3},
    {"dot of computed tiles", KERNEL("%A, %B: tensor<f32,2>, %C: tensor<f32,2>", IN("a: f32[32,64], b: f32[64,32]") OUT("c: f32[32,32]"),
        LOADS(PUT_IN("a", "%A", "[0, 0]", "f32[32,64]") PUT_IN("b", "%B", "[0, 0]", "f32[64,32]")),
        " %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %r = max %a, 0.0 ; %rh = cast %r : bf16[32,64] ; %bh = cast %b : bf16[64,32] ; %z = splat 0.0 : f32[32,32]\n"
        " %d = dot %rh, %bh, %z ; %c = add %d, 1.0 ; release %in, %s\n" FINISH(PUT_OUT("c", "%c")), STORES(STORE_OUT("c", "%C", "[0, 0]"))),
     {{32, 64}, {64, 32}, {32, 32}}, {0}, 0, 1, 2e-3},
    {"f32 for both units", KERNEL("%A, %B, %C: tensor<f32,2>", IN("a: f32[32,32], b: f32[32,32]") OUT("c: f32[32,32]"),
        LOADS(PUT_IN("a", "%A", "[0, 0]", "f32[32,32]") PUT_IN("b", "%B", "[0, 0]", "f32[32,32]")),
        " %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %k = mul %a, 4096.0 ; %d = dot %a, %b, %k ; release %in, %s\n" FINISH(PUT_OUT("c", "%d")),
        STORES(STORE_OUT("c", "%C", "[0, 0]"))),
     {{32, 32}, {32, 32}, {32, 32}}, {0}, 0, 1, 1e-5},
    {"rank 3", KERNEL("%X, %A: tensor<f32,3>", IN("x: f32[2,32,32]") OUT("a: f32[2,32,32]"),
        " %m = mul %t, 2\n" LOADS(PUT_IN("x", "%X", "[%m, 0, 32]", "f32[2,32,32]")), " %s = wait %in ; %x = get %s.x ; %a = mul %x, 3.0 ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        " %m = mul %t, 2\n" STORES(STORE_OUT("a", "%A", "[%m, 0, 0]"))),
     {{3, 20, 60}, {3, 20, 28}}, {0}, 0, 2, 1e-7},
    {"in place", KERNEL("%X, %Y: tensor<bf16,2>", IN("x: bf16[32,32], y: bf16[32,32]") OUT("a: bf16[32,32]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "bf16[32,32]") PUT_IN("y", "%Y", "[0, 0]", "bf16[32,32]")),
        " %s = wait %in ; %x = get %s.x ; %y = get %s.y ; %a = mul %x, %y ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%Y", "[0, 0]"))),
     {{32, 32}, {40, 40}}, {0}, 0, 1, 4e-3},
    {"kept over a wait", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")) " %s2 = acquire %in ; %y = tload %X, [32, 0] : f32[32,32] ; put %s2.x, %y ; commit %in, %s2\n",
        " %s = wait %in ; %x = get %s.x ; %k = exp %x ; release %in, %s ; %s2 = wait %in ; %y = get %s2.x ; %a = add %k, %y ; release %in, %s2\n"
        FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     {{64, 32}, {32, 32}}, {0}, 0, 1, 1e-6},
    {"two sums and a branch", two_sums_text,
     {{32, 200}, {32, 64}, {32, 64}}, {1}, 1, 1, 2e-6},
    {"its other arm", two_sums_text, {{32, 60}, {32, 64}, {32, 64}}, {1}, 1, 1, 2e-6},
    {"carried: a product, and two that change places", KERNEL("%X, %A, %B: tensor<f32,2>", IN("x: f32[32,64]") OUT("a: f32[32,64], b: f32[32,64]"),
        LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,64]")),
        " %s = wait %in ; %x = get %s.x ; %one = splat 1.0 : f32[32,64]\n"
        " %p, %u, %v = for %k = 0, 3, 1 (%c = %x, %y = %x, %z = %one) { %h = mul %c, 0.5 ; %d = mul %h, %x ; %e = add %z, %c ; yield %d, %e, %y }\n"
        " %a = add %p, %u ; %b = sub %v, %p ; release %in, %s\n" FINISH(PUT_OUT("a", "%a") PUT_OUT("b", "%b")), STORES(STORE_OUT("a", "%A", "[0, 0]") STORE_OUT("b", "%B", "[0, 0]"))),
     {{32, 64}, {32, 64}, {32, 64}}, {0}, 0, 1, 2e-6},
    {"carried: no trips", carried_text, {{32, 0}, {32, 64}}, {0}, 0, 1, 2e-6},
    {"carried: a maximum of rows that rescales a sum", carried_text, {{32, 192}, {32, 64}}, {0}, 0, 1, 2e-3},
    {"carried: a sum in front of a wait", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"),
        " for %k = 0, 3, 1 {\n" LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")) " %s2 = acquire %in ; %y = tload %X, [32, 0] : f32[32,32] ; put %s2.x, %y ; commit %in, %s2\n }\n",
        " %z = splat 0.0 : f32[32,32]\n %p, %q = for %k = 0, 3, 1 (%c = %z, %d = %z) {\n"
        " %s = wait %in ; %x = get %s.x ; %e = add %c, %x ; %h = mul %x, 1.5 ; release %in, %s ; %s2 = wait %in ; %y = get %s2.x ; %w = mul %h, %y ; %f = add %d, %w ; release %in, %s2 ; yield %e, %f }\n"
        " %a = add %p, %q\n" FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     {{64, 32}, {32, 32}}, {0}, 0, 1, 2e-6},
    {"ramps", KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[40,64]") OUT("a: f32[40,64]"),
        " %m = mul %t, 40\n" LOADS(PUT_IN("x", "%X", "[%m, 0]", "f32[40,64]")),
        " %m = mul %t, 40 ; %i = iota<0, 40> ; %r = add %i, %m ; %rows = expand<1> %r ; %j = iota<0, 64> ; %cols = expand<0> %j ; %ok = cmp<ge> %rows, %cols\n"
        " %rf = cast %rows : f32[40,1] ; %s = wait %in ; %x = get %s.x ; %y = select %ok, %x, -1.0 ; %a = add %y, %rf ; release %in, %s\n" FINISH(PUT_OUT("a", "%a")),
        " %m = mul %t, 40\n" STORES(STORE_OUT("a", "%A", "[%m, 0]"))),
     {{70, 60}, {70, 60}}, {0}, 0, 2, 1e-6},
};
enum { ROWS = sizeof rows / sizeof *rows, MOST = 8 };

static uint64_t state = 88172645463325252u;
static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
        sum += (double)((state * 2685821657736338717u) >> 11) * 0x1p-53;
    }
    return sum;
}

typedef struct Memory {
    Elem elem;
    int64_t count, extent[3], stride[3];
    uint8_t *at, *expected;
} Memory;

static void fill(Memory *m, const int64_t *shape, Elem elem) {
    int rank = 0;
    while (rank < 3 && shape[rank]) rank++;
    *m = (Memory){.elem = elem, .count = 1};
    for (int d = rank - 1; d >= 0; d--) {
        m->extent[d] = shape[d];
        m->stride[d] = m->count;
        m->count *= shape[d];
    }
    size_t bytes = (size_t)m->count * (size_t)elem_info[elem].bytes;
    m->at = calloc(bytes, 1);
    m->expected = calloc(bytes, 1);
    for (int64_t i = 0; i < m->count; i++) elem_put_f64(elem, m->at + i * elem_info[elem].bytes, normal());
    memcpy(m->expected, m->at, bytes);
}

static bool interpret(TtJob *job, const Kernel *k, Memory *memory, int tensors, const Row *row) {
    InterpArg args[MOST + 3];
    InterpRegion regions[MOST];
    memset(args, 0, sizeof args);
    for (int i = 0; i < tensors; i++) {
        args[i].pointer = memory[i].expected;
        memcpy(args[i].extent, memory[i].extent, sizeof memory[i].extent);
        memcpy(args[i].stride, memory[i].stride, sizeof memory[i].stride);
        regions[i] = (InterpRegion){"t", memory[i].expected, (size_t)(memory[i].count * elem_info[memory[i].elem].bytes), true};
    }
    for (int i = 0; i < row->scalar_count; i++) elem_put_f64(EL_F32, &args[tensors + i].bits, row->scalars[i]);
    InterpLaunch launch = {.kernel = k, .grid = {row->grid, 1, 1}, .args = args, .arg_count = tensors + row->scalar_count, .regions = regions,
                           .region_count = tensors, .arena = &job->arena, .diag = &job->diag};
    bool good = interp_run(&launch);
    if (!good) fprintf(stderr, "%s\n", diag_render(&job->diag, &job->arena));
    return good;
}

static void run_row(const Row *row, TtJob *job, const KernelSet *set) {
    Memory memory[MOST];
    TtValue args[MOST + 3];
    int tensors = 0;
    const Kernel *k = job->kernel;
    memset(args, 0, sizeof args);
    for (; tensors < job->plan->param_count - row->scalar_count; tensors++) {
        Memory *m = &memory[tensors];
        fill(m, row->shapes[tensors], ir_type(k, k->body->args[tensors])->elem);
        args[tensors] = (TtValue){(uint64_t)(uintptr_t)m->at, m->count * elem_info[m->elem].bytes, m->extent, m->stride};
    }
    for (int i = 0; i < row->scalar_count; i++) elem_put_f64(EL_F32, &args[tensors + i].word, row->scalars[i]);
    CHECK(interpret(job, k, memory, tensors, row));
    TtResult result;
    int64_t grid[3] = {row->grid, 1, 1};
    bool good = tt_job_run(job, set, args, grid, 0, &result);
    if (!good) fprintf(stderr, "%s: %s\n", row->name, result.problem);
    CHECK(good);
    for (int t = 0; t < tensors; t++) {
        const Memory *m = &memory[t];
        double largest = 1, worst = 0;
        for (int64_t i = 0; i < m->count; i++) {
            double got = elem_get_f64(m->elem, m->at + i * elem_info[m->elem].bytes), want = elem_get_f64(m->elem, m->expected + i * elem_info[m->elem].bytes);
            if (fabs(want) > largest) largest = fabs(want);
            if (!(fabs(got - want) <= worst)) worst = fabs(got - want);
        }
        if (!(worst <= row->bound * largest)) fprintf(stderr, "%s, tensor %d: error %g, allowed %g\n", row->name, t, worst, row->bound * largest);
        CHECK(worst <= row->bound * largest);
        free(m->at), free(m->expected);
    }
}

/* ----------------------------------------------------------------------------------------------------- refusals */

#define SIMPLE(body) KERNEL("%X, %A: tensor<f32,2>, %o: i32", IN("x: f32[32,32]") OUT("a: f32[32,32]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")), \
    " %s = wait %in ; %x = get %s.x ; release %in, %s\n" body FINISH(PUT_OUT("a", "%a")), STORES(STORE_OUT("a", "%A", "[0, 0]")))
static const struct Refusal {
    const char *text, *message;
} refusals[] = {
    {SIMPLE(" %a = round %x\n"), "t.ir:13:3: error: not possible on Tenstorrent: `round` on f32[32,32] has no lowering yet"},
    {SIMPLE(" %a = sort<axis=0> %x\n"), "`sort` of a tile; the units of a core"},
    {SIMPLE(" %z = splat 0 : i32[32,32]\n %i = for %k = 0, 4, 1 (%c = %z) { %d = xor %c, 3 ; yield %d }\n %f = cast %i : f32[32,32]\n %a = add %x, %f\n"), "a tile of i32 carried round a loop"},
    {KERNEL("%X, %A: tensor<i32,2>", IN("x: i32[32,32]") OUT("a: i32[32,32]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "i32[32,32]")),
        " %s = wait %in ; %x = get %s.x ; release %in, %s\n" FINISH(PUT_OUT("a", "%x")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     "a load or store of i32[32,32]; tiles of f32, bf16, f16, i8 or u8 move between memory and cores"},
    {KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[1024,256]") OUT("a: f32[1024,256]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[1024,256]")),
        " %s = wait %in ; %x = get %s.x ; release %in, %s\n" FINISH(PUT_OUT("a", "%x")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     "the circular buffers need 3149824 bytes of L1, a wormhole core has 1392640 for them; use smaller tiles or fewer stages (num_stages):\n"
     "    CB  0 cb_in                  256 pages x 1 slots x 4096 bytes =   1048576  field x of ring in"},
    {SIMPLE(" %a0 = cast %x : f8e4b8[32,32] ; %a = cast %a0 : f32[32,32]\n"), "`cast` on f8e4b8[32,32] has no lowering yet"},
    {KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")),
        " for %i = 0, 4, 1 { %n = tload %X, [0, %i] : f32 ; %m = cast %n : i32 ; for %j = 0, %m, 1 {\n %s = wait %in ; %x = get %s.x ; release %in, %s\n" FINISH(PUT_OUT("a", "%x")) " } }\n",
        STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     "a number of memory on which a loop or branch inside of a loop depends"},
    {KERNEL("%X, %A: tensor<f32,2>", IN("x: f32[32,32]") OUT("a: f32[32,32]"), LOADS(PUT_IN("x", "%X", "[0, 0]", "f32[32,32]")),
        " %s = wait %in ; %x = get %s.x ; release %in, %s ; tatomic<add> %A, [0, 0], %x\n" FINISH(PUT_OUT("a", "%x")), STORES(STORE_OUT("a", "%A", "[0, 0]"))),
     "t.ir:12:52: error: not possible on Tenstorrent: loads, arithmetic and stores run on different processors"},
    {"kernel @flat(%X: tensor<f32,2>) { %x = tload %X, [0, 0] : f32[32,32] ; tstore %X, [0, 0], %x\n return }\n", "the kernel was not divided among them"},
};

int main(int argc, char **argv) {
    static TtJob jobs[ROWS];
    KernelSet *set = malloc(sizeof *set);
    const char *compiler = cxx_compiler();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        TtJob job;
        tt_job_start(&job, refusals[i].text, "", 1, tt_options_default);
        CHECK(job.plan == NULL);
        bool found = strstr(job.messages, refusals[i].message) != NULL;
        if (!found) fprintf(stderr, "wanted: %s\ngot: %s\n", refusals[i].message, job.messages);
        CHECK(found);
        tt_job_end(&job);
    }
    if (!compiler) return printf("skipped: no C++ compiler\n"), check_done();
    if (!kernels_start(set)) return 1;
    bool good = true;
    for (int i = 0; i < ROWS; i++) {
        tt_job_start(&jobs[i], rows[i].text, "", 1, (TtOptions){.arch = i % 2 ? TENSIX_BLACKHOLE : TENSIX_WORMHOLE, .fidelity = 4});
        CHECK(jobs[i].plan != NULL);
        if (!jobs[i].plan) fprintf(stderr, "%s: %s\n", rows[i].name, jobs[i].messages), good = false;
        else tt_job_add(&jobs[i], set);
        if (argc > 1 && jobs[i].plan && strcmp(argv[1], rows[i].name) == 0)
            printf("%s\n%s\n%s\n", jobs[i].plan->source[0], jobs[i].plan->source[2], jobs[i].plan->source[1]);
    }
    good = good && kernels_build(set, compiler);
    CHECK(good);
    for (int i = 0; i < ROWS && good; i++) run_row(&rows[i], &jobs[i], set);
    for (int i = 0; i < ROWS; i++) tt_job_end(&jobs[i]);
    kernels_end(set);
    free(set);
    return check_done();
}
