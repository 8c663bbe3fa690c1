/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu.c: ops of the IR on the CPU target against the interpreter, every bit. Shapes, memory,
 * loops; elementwise ops are in test_cpu_elements.c. */
#include "cpu_cases.h"

#define EXTENTS(...) .extents = {__VA_ARGS__}

static const Case cases[] = {
    {"shapes",
     "kernel @k(%x: *f32, %y: *i32) {\n"
     "  %i = iota<0, 60> ; %p = ptr_add %x, %i ; %a = load %p ; %t = reshape %a : f32[3,4,5]\n"
     "  %e = permute<dims=[2,0,1]> %t ; %f = flip<axis=1> %e ; %g = reshape %f : f32[60]\n"
     "  %o1 = add %i, 100 ; %q1 = ptr_add %x, %o1 ; store %q1, %g\n"
     "  %j = join %a, %g ; %u, %v = split %j ; %o2 = add %i, 200 ; %q2 = ptr_add %x, %o2 ; %w = "
     "sub %v, %u ; store %q2, %w\n"
     "  %c = cat<axis=0> %a, %g ; %i2 = iota<0, 120> ; %o3 = add %i2, 300 ; %q3 = ptr_add %x, %o3 "
     "; store %q3, %c\n"
     "  %s = slice %t, [1, 0, 2] : f32[2,4,3] ; %s1 = reshape %s : f32[24] ; %i3 = iota<0, 24> ; "
     "%o4 = add %i3, 500\n"
     "  %q4 = ptr_add %x, %o4 ; store %q4, %s1\n"
     "  %n = insert %t, [0, 0, 1], %s ; %n1 = reshape %n : f32[60] ; %o5 = add %i, 600 ; %q5 = "
     "ptr_add %x, %o5 ; store %q5, %n1\n"
     "  %r = rem %i, 5 ; %h = gather<axis=0> %a, %r ; %o6 = add %i, 700 ; %q6 = ptr_add %x, %o6 ; "
     "store %q6, %h\n"
     "  %x1 = expand<1> %i ; %b1 = broadcast %x1 : i32[60,7] ; %b2 = reshape %b1 : i32[420] ; %i4 "
     "= iota<0, 420>\n"
     "  %q7 = ptr_add %y, %i4 ; store %q7, %b2\n"
     "  return }\n",
     .plain = 1},
    {"reduce kinds, odd extents, every axis",
     "kernel @k(%x: *f32, %y: *i32, %z: *u8) {\n"
     "  %i = iota<0, 210> ; %p = ptr_add %x, %i ; %a = load %p ; %t = reshape %a : f32[5,6,7]\n"
     "  %r0 = reduce<add, axis=0> %t ; %r1 = reduce<add, axis=1> %t ; %r2 = reduce<add, axis=2> "
     "%t\n"
     "  %s0 = reduce<add, axis=0, order=[2,1,0]> %t ; %s1 = reduce<add, axis=1, order=[0,2,1]> %t\n"
     "  %s2 = reduce<mul, axis=2, order=[1,0,2]> %t ; %m0 = reduce<max, axis=0> %t ; %m1 = "
     "reduce<min, axis=1> %t\n"
     "  %l = reduce<add, axis=0, order=[7,6,5,4,0,1,2,3]> %a ; %f = reduce<add, axis=0> %a\n"
     "  %d0 = reshape %r0 : f32[42] ; %d1 = reshape %r1 : f32[35] ; %d2 = reshape %r2 : f32[30] ; "
     "%d3 = reshape %s0 : f32[42]\n"
     "  %d4 = reshape %s1 : f32[35] ; %d5 = reshape %s2 : f32[30] ; %d6 = reshape %m0 : f32[42] ; "
     "%d7 = reshape %m1 : f32[35]\n"
     "  %all = cat<axis=0> %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7 ; %j = iota<0, 291> ; %o = add "
     "%j, 1000\n"
     "  %q = ptr_add %x, %o ; store %q, %all ; %ql = ptr_add %x, 2000 ; store %ql, %l ; %qf = "
     "ptr_add %x, 2001 ; store %qf, %f\n"
     "  %g0 = reduce<argmax, axis=2> %t ; %g1 = reduce<argmin, axis=0> %t ; %e0 = reshape %g0 : "
     "i32[30] ; %e1 = reshape %g1 : i32[42]\n"
     "  %g = cat<axis=0> %e0, %e1 ; %ii = iota<0, 72> ; %qi = ptr_add %y, %ii ; store %qi, %g\n"
     "  %iz = iota<0, 100> ; %pz = ptr_add %z, %iz ; %u = load %pz ; %ua = reduce<add, axis=0> %u "
     "; %ub = reduce<xor, axis=0> %u\n"
     "  %uc = reduce<max, axis=0> %u ; %z0 = ptr_add %z, 200 ; store %z0, %ua ; %z1 = ptr_add %z, "
     "201 ; store %z1, %ub\n"
     "  %z2 = ptr_add %z, 202 ; store %z2, %uc ; %gm = reduce<argmax, axis=0, nan=keep> %a ; %qg = "
     "ptr_add %y, 100 ; store %qg, %gm\n"
     "  return }\n",
     .plain = 0},
    {"scan, sort, histogram, combination by region",
     "kernel @k(%x: *f32, %y: *i32) {\n"
     "  %i = iota<0, 105> ; %p = ptr_add %x, %i ; %a = load %p ; %t = reshape %a : f32[15,7]\n"
     "  %c0 = scan<add, axis=0> %t ; %c1 = scan<max, axis=1, reverse> %t ; %s0 = sort<axis=1> %t ; "
     "%s1 = sort<axis=0, desc> %t\n"
     "  %d0 = reshape %c0 : f32[105] ; %d1 = reshape %c1 : f32[105] ; %d2 = reshape %s0 : f32[105] "
     "; %d3 = reshape %s1 : f32[105]\n"
     "  %ss = sort<axis=0> %a ; %all = cat<axis=0> %d0, %d1, %d2, %d3, %ss ; %j = iota<0, 525> ; "
     "%o = add %j, 1000\n"
     "  %q = ptr_add %x, %o ; store %q, %all\n"
     "  %py = ptr_add %y, %i ; %b = load %py ; %b7 = rem %b, 9 ; %h = histogram<8> %b7 ; %i8 = "
     "iota<0, 8> ; %oh = add %i8, 200\n"
     "  %qh = ptr_add %y, %oh ; store %qh, %h\n"
     "  %best, %where = reduce<region, axis=0> %b7, %i (%v: i32, %j0: i32, %w: i32, %j1: i32) {\n"
     "    %first = cmp<ge> %v, %w ; %r = select %first, %v, %w ; %k = select %first, %j0, %j1 ; "
     "yield %r, %k }\n"
     "  %qb = ptr_add %y, 300 ; store %qb, %best ; %qw = ptr_add %y, 301 ; store %qw, %where\n"
     "  %run, %pos = scan<region, axis=0, reverse> %b7, %i (%v: i32, %j0: i32, %w: i32, %j1: i32) "
     "{\n"
     "    %r = add %v, %w ; %k = max %j0, %j1 ; yield %r, %k }\n"
     "  %o7 = add %i, 400 ; %q7 = ptr_add %y, %o7 ; store %q7, %run ; %o8 = add %i, 600 ; %q8 = "
     "ptr_add %y, %o8 ; store %q8, %pos\n"
     "  return }\n",
     .plain = 0},
    {"dot: odd extents, types, batches",
     "kernel @k(%x: *f32, %h: *f16, %b: *bf16, %d: *f64, %n: *i8, %s: *i32) {\n"
     "  %ia = iota<0, 91> ; %ib = iota<0, 247> ; %ic = iota<0, 133>\n"
     "  %pa = ptr_add %x, %ia ; %a0 = load %pa ; %a = reshape %a0 : f32[7,13] ; %pb = ptr_add %x, "
     "%ib ; %b0 = load %pb\n"
     "  %b1 = reshape %b0 : f32[13,19] ; %pc = ptr_add %x, %ic ; %c0 = load %pc ; %c = reshape %c0 "
     ": f32[7,19]\n"
     "  %r = dot %a, %b1, %c ; %r1 = reshape %r : f32[133] ; %o1 = add %ic, 1000 ; %q1 = ptr_add "
     "%x, %o1 ; store %q1, %r1\n"
     "  %bt = permute<dims=[1,0]> %b1 ; %at = permute<dims=[1,0]> %a ; %ct = permute<dims=[1,0]> "
     "%c ; %rt = dot %bt, %at, %ct\n"
     "  %r2 = reshape %rt : f32[133] ; %o2 = add %ic, 1200 ; %q2 = ptr_add %x, %o2 ; store %q2, "
     "%r2\n"
     "  %ph = ptr_add %h, %ia ; %h0 = load %ph ; %ha = reshape %h0 : f16[7,13] ; %ph1 = ptr_add "
     "%h, %ib ; %h1 = load %ph1\n"
     "  %hb = reshape %h1 : f16[13,19] ; %rh = dot %ha, %hb, %c ; %r3 = reshape %rh : f32[133] ; "
     "%o3 = add %ic, 1400\n"
     "  %q3 = ptr_add %x, %o3 ; store %q3, %r3 ; %hz = splat 0.5 : f16[7,19] ; %rz = dot %ha, %hb, "
     "%hz ; %r4 = reshape %rz : f16[133]\n"
     "  %o4 = add %ic, 1000 ; %q4 = ptr_add %h, %o4 ; store %q4, %r4\n"
     "  %pbf = ptr_add %b, %ia ; %bf0 = load %pbf ; %ba = reshape %bf0 : bf16[7,13] ; %pbf1 = "
     "ptr_add %b, %ib ; %bf1 = load %pbf1\n"
     "  %bb = reshape %bf1 : bf16[13,19] ; %rb = dot %ba, %bb, %c ; %r5 = reshape %rb : f32[133] ; "
     "%o5 = add %ic, 1600\n"
     "  %q5 = ptr_add %x, %o5 ; store %q5, %r5\n"
     "  %pd = ptr_add %d, %ia ; %d0 = load %pd ; %da = reshape %d0 : f64[7,13] ; %pd1 = ptr_add "
     "%d, %ib ; %d1 = load %pd1\n"
     "  %db = reshape %d1 : f64[13,19] ; %dz = splat 0.25 : f64[7,19] ; %rd = dot %da, %db, %dz ; "
     "%r6 = reshape %rd : f64[133]\n"
     "  %q6 = ptr_add %d, %o1 ; store %q6, %r6\n"
     "  %pn = ptr_add %n, %ia ; %n0 = load %pn ; %na = reshape %n0 : i8[7,13] ; %pn1 = ptr_add %n, "
     "%ib ; %n1 = load %pn1\n"
     "  %nb = reshape %n1 : i8[13,19] ; %nz = splat 3 : i32[7,19] ; %rn = dot %na, %nb, %nz ; %r7 "
     "= reshape %rn : i32[133]\n"
     "  %q7 = ptr_add %s, %ic ; store %q7, %r7\n"
     "  %ie = iota<0, 240> ; %pe = ptr_add %x, %ie ; %e0 = load %pe ; %e = reshape %e0 : "
     "f32[4,3,20] ; %g = reshape %e0 : f32[4,20,3]\n"
     "  %ez = splat 0.0 : f32[4,3,3] ; %re = dot %e, %g, %ez ; %r8 = reshape %re : f32[36] ; %i36 "
     "= iota<0, 36> ; %o8 = add %i36, 1800\n"
     "  %q8 = ptr_add %x, %o8 ; store %q8, %r8\n"
     "  return }\n",
     .plain = 1},
    {"boxes: bounds on all sides, fill, dims, strides",
     "kernel @k(%X: tensor<f32,2>, %Y: tensor<f32,2>, %Z: tensor<f32,3>) {\n"
     "  %p = program_id<0> ; %q = program_id<1> ; %m0 = mul %p, 8 ; %m = sub %m0, 3 ; %n0 = mul "
     "%q, 16 ; %n = sub %n0, 5\n"
     "  %a = tload<fill=2.5> %X, [%m, %n] : f32[8,16] ; %b = tload %X, [%n, %m] : f32[8,16] ; %c = "
     "add %a, %b\n"
     "  tstore %Y, [%m, %n], %c\n"
     "  %r = tload<dims=[0,2]> %Z, [%m, %p, %n] : f32[8,16] ; %r1 = mul %r, 2.0 ; "
     "tstore<dims=[0,2]> %Z, [%m, %q, %n], %r1\n"
     "  %s = tload %X, [%p, %q] : f32 ; %t = add %s, 1.0 ; tstore %Y, [%q, %p], %t\n"
     "  return }\n",
     EXTENTS(0, 0, 0, 0, 0, 3, 21, 37), .grid = {4, 3, 1}, .plain = 1, .threads = 1},
    {"boxes: wrap-around and masks",
     "kernel @k(%X: tensor<f32,2>, %Y: tensor<f32,2>) {\n"
     "  %p = program_id<0> ; %m = mul %p, 6 ; %i = iota<0, 10> ; %k0 = cmp<ne> %i, 4 ; %k1 = "
     "expand<0> %k0 ; %k = broadcast %k1 : i1[6,10]\n"
     "  %a = tload<wrap=[0,1]> %X, [%m, -3] : f32[6,10] ; %b = tload<fill=9.0> %X, [%m, 1], %k : "
     "f32[6,10]\n"
     "  %c = sub %a, %b ; tstore %Y, [%m, 0], %c, %k\n"
     "  return }\n",
     EXTENTS(0, 0, 0, 0, 0, 0, 7, 9), .grid = {3, 1, 1}, .plain = 1},
    {"a store that overlaps what is read",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %X = tensor %x, [%n], [1] ; %a = tload %X, [0] : f32[64] ; %b = mul %a, 0.5 ; tstore %X, "
     "[1], %b\n"
     "  %c = tload %X, [200] : f32[64] ; %d = add %c, 1.0 ; tstore %X, [200], %d\n"
     "  %e = tload %X, [300] : f32[64] ; %f = flip<axis=0> %e ; tstore %X, [300], %f\n"
     "  %V = tensor %x, [%n], [-1] ; %g = tload %X, [400] : f32[32] ; tstore %X, [399], %g\n"
     "  return }\n",
     .number = 4096, .plain = 1},
    {"boxes and tiles that are turned",
     "kernel @k(%x: *f32, %y: *f32, %b: *bf16, %c: *bf16, %d: *i8, %e: *i64, %n: i32) {\n"
     "  %p = program_id<0> ; %q = program_id<1> ; %m0 = mul %p, 16 ; %m = sub %m0, 3 ; %k = mul %q, 24\n"
     "  %X = tensor %x, [%n, %n], [50, 1] ; %Y = tensor %y, [%n, %n], [50, 1]\n"
     "  %a = tload<fill=2.5> %X, [%m, %k] : f32[16,24] ; %at = permute<dims=[1,0]> %a ; tstore %Y, [%k, %m], %at\n"
     "  %B = tensor %b, [%n, %n], [50, 1] ; %C = tensor %c, [%n, %n], [1, 50]\n"
     "  %u = tload %B, [%m, %k] : bf16[16,24] ; tstore %C, [%m, %k], %u\n"
     "  %D1 = tensor %b, [%n, %n], [1, 50] ; %v = tload %C, [%m, %k] : bf16[16,24] ; %w = add %v, %u ; tstore %D1, [%m, %k], %w\n"
     "  %XT = tensor %x, [%n, %n], [1, 50] ; %l = tload<fill=0.5> %XT, [%m, %k] : f32[16,24] ; %r = reduce<add, axis=1> %l ; %r1 = expand<1> %r\n"
     "  %s = sub %l, %r1 ; %st = permute<dims=[1,0]> %s ; %s2 = mul %st, 0.5 ; %z = reduce<max, axis=1> %s2\n"
     "  %Z = tensor %y, [4096], [1] ; %z0 = add %k, 3000 ; tstore %Z, [%z0], %z ; tstore %XT, [%k, %m], %s2 ; %i = tload %XT, [20, 9] : f32[16,24] ; tstore %XT, [9, 1], %i\n"
     "  %D = tensor %d, [%n, %n], [50, 1] ; %f = tload %D, [%m, %k] : i8[16,24] ; %g = permute<dims=[1,0]> %f ; tstore %D, [%k, %m], %g\n"
     "  %E = tensor %e, [3, 20, %n], [1000, 50, 1] ; %h = tload %E, [0, %p, %k] : i64[3,16,24]\n"
     "  %h1 = permute<dims=[2,0,1]> %h ; %h2 = add %h1, 1 ; %h3 = permute<dims=[1,2,0]> %h2 ; tstore %E, [0, %p, %k], %h3\n"
     "  return }\n",
     .number = 37, .grid = {3, 2, 1}, .plain = 1, .threads = 1},
    {"carried tiles that trade places",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %i = iota<0, 50> ; %p = ptr_add %x, %i ; %a0 = load %p ; %b0 = mul %a0, 3.0\n"
     "  %a, %b, %s = for %k = 0, %n, 1 (%u = %a0, %v = %b0, %w = %b0) {\n"
     "    %t = add %u, %v ; %r = reduce<max, axis=0> %t ; %w1 = add %w, %r ; yield %v, %u, %w1 }\n"
     "  %o1 = add %i, 100 ; %q1 = ptr_add %x, %o1 ; store %q1, %a ; %o2 = add %i, 200 ; %q2 = "
     "ptr_add %x, %o2 ; store %q2, %b\n"
     "  %o3 = add %i, 300 ; %q3 = ptr_add %x, %o3 ; store %q3, %s ; %o4 = add %i, 400 ; %q4 = "
     "ptr_add %x, %o4 ; store %q4, %b0\n"
     "  return }\n",
     .number = 5, .plain = 1},
    {"a carried tile that is turned over",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %i = iota<0, 49> ; %p = ptr_add %x, %i ; %a = load %p ; %b = reshape %a : f32[7,7]\n"
     "  %r, %s = for %k = 0, %n, 1 (%c = %b, %d = %b) {\n"
     "    %f = flip<axis=0> %c ; %g = permute<dims=[1,0]> %d ; yield %f, %g }\n"
     "  %r1 = reshape %r : f32[49] ; %s1 = reshape %s : f32[49] ; %o = add %i, 100 ; %q = ptr_add %x, %o\n"
     "  store %q, %r1 ; %o1 = add %i, 200 ; %q1 = ptr_add %x, %o1 ; store %q1, %s1\n"
     "  return }\n",
     .number = 3, .plain = 1},
    {"attention, ragged, causal",
     "kernel @k(%Q, %K, %V, %O: tensor<f32,2>, %n: i32) {\n"
     "  %pm = program_id<0> ; %m = mul %pm, 16 ; %im = iota<0, 16> ; %rm = add %im, %m ; %rows = expand<1> %rm\n"
     "  %in = iota<0, 8> ; %a0 = splat 0.0 : f32[16,13] ; %l0 = splat 0.0 : f32[16] ; %x0 = splat -inf : f32[16]\n"
     "  %q = tload %Q, [%m, 0] : f32[16,13] ; %nb = cdiv %n, 8\n"
     "  %acc, %l, %mx = for %j = 0, %nb, 1 (%a = %a0, %li = %l0, %mi = %x0) {\n"
     "    %n0 = mul %j, 8 ; %z = splat 0.0 : f32[16,8] ; %k = tload %K, [%n0, 0] : f32[8,13]\n"
     "    %kt = permute<dims=[1,0]> %k ; %qk = dot %q, %kt, %z ; %s0 = mul %qk, 0.25 ; %cn = add %in, %n0\n"
     "    %cols = expand<0> %cn ; %cz = cmp<ge> %rows, %cols ; %inn = cmp<lt> %cols, %n ; %ok = and %cz, %inn\n"
     "    %s = select %ok, %s0, -inf ; %bm = reduce<max, axis=1> %s ; %mj = max %mi, %bm ; %mc = expand<1> %mj\n"
     "    %d = sub %s, %mc ; %p = exp2 %d ; %da = sub %mi, %mj ; %al = exp2 %da ; %ps = reduce<add, axis=1> %p\n"
     "    %la = mul %li, %al ; %lj = add %la, %ps ; %ac = expand<1> %al ; %as = mul %a, %ac\n"
     "    %v = tload %V, [%n0, 0] : f32[8,13] ; %aj = dot %p, %v, %as ; yield %aj, %lj, %mj }\n"
     "  %lc = expand<1> %l ; %on = div %acc, %lc ; tstore %O, [%m, 0], %on\n"
     "  return }\n",
     EXTENTS(0, 0, 0, 0, 0, 0, 37, 13), .number = 37, .grid = {3, 1, 1}, .tolerance = 1e-5, .plain = 1},
    {"a tile of 2^20 elements",
     "kernel @k(%X, %Y: tensor<f32,2>) {\n"
     "  %a = tload %X, [0, 0] : f32[1024,1024] ; %r = reduce<max, axis=0> %a ; %e = expand<0> %r ; %b = sub %a, %e\n"
     "  %p = permute<dims=[1,0]> %b ; tstore %Y, [0, 0], %p\n"
     "  return }\n",
     EXTENTS(0, 0, 0, 0, 0, 0, 1000, 1001), .plain = 1},
    {"several tiles of 2^20 elements, alive at once",
     "kernel @k(%x, %y: *i32) {\n"
     "  %i = iota<0, 1048576> ; %p = ptr_add %x, %i ; %a = load %p ; %s = sort<axis=0> %a ; %c = scan<add, axis=0> %a\n"
     "  %h = histogram<1000> %a ; %m = reduce<argmax, axis=0> %a ; %f = flip<axis=0> %c ; %g = add %f, %s ; %n = add %g, %m\n"
     "  %j = iota<0, 1000> ; %q = ptr_add %y, %i ; store %q, %n ; %r = ptr_add %x, %j ; store %r, %h\n"
     "  return }\n",
     .grid = {1, 1, 1}, .plain = 1, .elements = 1048576},
    {"a region an element: map, with control flow",
     "kernel @k(%x: *f32, %y: *i32) {\n"
     "  %i = iota<0, 77> ; %p = ptr_add %x, %i ; %a = load %p ; %q = ptr_add %y, %i ; %b = load %q\n"
     "  %m, %w = map %a, %b (%u: f32, %k: i32) {\n"
     "    %c = cmp<gt> %k, 50 ; %r = if %c { %s = add %u, 1.0 ; yield %s } { yield %u }\n"
     "    %z = for %j = 0, 3, 1 (%t = %k) { %t1 = add %t, %j ; yield %t1 } ; yield %r, %z }\n"
     "  %o = add %i, 100 ; %p1 = ptr_add %x, %o ; store %p1, %m ; %q1 = ptr_add %y, %o ; store %q1, %w\n"
     "  return }\n",
     .plain = 1},
    {"small floats that are only moved keep their bits",
     "kernel @k(%x, %z: *f16, %e, %g: *f8e5m2, %b: *bf16, %u: *u16) {\n"
     "  %i = iota<0, 500> ; %px = ptr_add %x, %i ; %a = load %px ; %c = cmp<lt> %a, 1.0 ; %pe = ptr_add %e, %i ; %d = load %pe\n"
     "  %f = flip<axis=0> %d ; %s = select %c, %d, %f ; %pg = ptr_add %g, %i ; store %pg, %s ; %pz = ptr_add %z, %i ; store %pz, %a\n"
     "  %pb = ptr_add %b, %i ; %v = load %pb ; %w = bitcast %v : u16[500] ; %pu = ptr_add %u, %i ; store %pu, %w\n"
     "  return }\n", .plain = 0},
    {"nested loops over one accumulator, scaled each time",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %i = iota<0, 48> ; %p = ptr_add %x, %i ; %a = load %p ; %a2 = reshape %a : f32[6,8] ; %b2 "
     "= reshape %a : f32[8,6]\n"
     "  %z = splat 0.0 : f32[6,6]\n"
     "  %acc = for %k = 0, %n, 1 (%c = %z) {\n"
     "    %in = for %l = 1, %k, 2 (%c1 = %c) { %d = dot %a2, %b2, %c1 ; %h = mul %d, 0.125 ; yield "
     "%h }\n"
     "    %sc = mul %in, 0.5 ; %e = dot %a2, %b2, %sc ; yield %e }\n"
     "  %r = reshape %acc : f32[36] ; %j = iota<0, 36> ; %o = add %j, 100 ; %q = ptr_add %x, %o ; "
     "store %q, %r\n"
     "  return }\n",
     .number = 7, .plain = 1},
    {"while, if with tiles, loops that do not run",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %i = iota<0, 33> ; %p = ptr_add %x, %i ; %a = load %p\n"
     "  %v, %c = while (%t = %a, %k = %n) {\n"
     "    %go = cmp<gt> %k, 0 ; test %go, %t, %k } do (%t2, %k2) {\n"
     "    %odd = rem %k2, 2 ; %is = cmp<eq> %odd, 1\n"
     "    %u = if %is { %u1 = add %t2, 1.5 ; yield %u1 } { yield %t2 }\n"
     "    %k1 = sub %k2, 1 ; yield %u, %k1 }\n"
     "  %o1 = add %i, 100 ; %q1 = ptr_add %x, %o1 ; store %q1, %v\n"
     "  %f = for %j = 5, 5, 1 (%y = %a) { %y1 = add %y, 1.0 ; yield %y1 } ; %o2 = add %i, 200 ; "
     "%q2 = ptr_add %x, %o2 ; store %q2, %f\n"
     "  %g = for %j = 2147483600, 2147483647, 20 (%y = %a) { %y1 = add %y, 1.0 ; yield %y1 } ; %o3 "
     "= add %i, 300\n"
     "  %q3 = ptr_add %x, %o3 ; store %q3, %g\n"
     "  return }\n",
     .number = 6, .plain = 1},
    {"buffers and parallel loops",
     "kernel @k(%x: *f32) {\n"
     "  %b = buf : buf<f32[6,9], shared> ; %i = iota<0, 54> ; %p = ptr_add %x, %i ; %a = load %p ; "
     "%t = reshape %a : f32[6,9]\n"
     "  bstore %b, [0, 0], %t\n"
     "  parallel %r, %c in 6, 9 { %e = bload %b, [%r, %c] : f32 ; %f = mul %e, 2.0 ; bstore %b, "
     "[%r, %c], %f }\n"
     "  %s = bload %b, [1, 2] : f32[4,5] ; %s1 = reshape %s : f32[20] ; %j = iota<0, 20> ; %o = "
     "add %j, 100 ; %q = ptr_add %x, %o\n"
     "  store %q, %s1\n"
     "  return }\n",
     .plain = 1},
    {"atomics of integers from many programs",
     "kernel @k(%y: *i32, %u: *u64, %h: *i16) {\n"
     "  %p = program_id<0> ; %i = iota<0, 32> ; %r = rem %i, 7 ; %q = ptr_add %y, %r ; %v = add "
     "%i, %p ; %m = cmp<ne> %i, 3\n"
     "  %o = atomic<add> %q, %v, %m ; %u0 = cast %v : u64[32] ; %ru = add %r, 10 ; %qu = ptr_add "
     "%u, %ru ; %o1 = atomic<max> %qu, %u0\n"
     "  %h0 = cast %v : i16[32] ; %qh = ptr_add %h, %r ; %o2 = atomic<xor> %qh, %h0\n"
     "  return }\n",
     .grid = {50, 1, 1}, .plain = 1},
    {"rows that are longer than the tensor's",
     "kernel @k(%x: *f32, %y: *f32, %b: *bf16, %c: *bf16, %v: *i32, %n: i32) {\n"
     "  %p = program_id<0> ; %X = tensor %x, [4, %n], [1000, 1] ; %Y = tensor %y, [9, %n], [400, 1] ; %m = sub %p, 1\n"
     "  %a = tload<fill=2.0> %X, [%p, 3] : f32[2,300] ; %e = tload %X, [%p, 0] : f32[2,300] ; %s = add %a, %e ; tstore %Y, [%m, 3], %s\n"
     "  %B = tensor %b, [4, 257], [1000, 1] ; %C = tensor %c, [9, %n], [400, 1] ; %i = iota<0, 2> ; %j = add %i, %p ; %V = ptr_add %v, %j\n"
     "  %k = load %V ; %l = mod %k, 5 ; %g = tload<fill=7.0> %B, [%l, 0] : bf16[2,300] ; tstore %C, [%p, 0], %g\n"
     "  %h = tload %B, [0, 1] : bf16[2,256] ; tstore %B, [1, 2], %h ; %o = mul %p, 2 ; %u = tload %B, [%l, 5] : bf16[2,256] ; tstore %C, [%o, -9], %u\n"
     "  return }\n",
     .number = 290, .grid = {3, 1, 1}, .plain = 1, .threads = 1},
    {"lines of atomics: under locks",
     "kernel @k(%x: *i32, %y: *i32, %w: *i32, %n: i32) {\n"
     "  %p = program_id<0> ; %X = tensor %x, [5, %n], [700, 1] ; %Y = tensor %y, [5, %n], [700, 1] ; %i = iota<0, 5>\n"
     "  %j = add %i, %p ; %r0 = mul %j, 3 ; %r = mod %r0, 5 ; %a = tload<fill=4> %X, [0, 3] : i32[5,300]\n"
     "  tatomic<add> %Y, [%r, 0], %a ; %W = tensor %w, [9, 400], [300, 1]\n"
     "  %c = mul %a, 2 ; tatomic<max> %W, [%p, 1], %c\n"
     "  return }\n",
     .number = 290, .grid = {9, 1, 1}, .plain = 1},
    {"lines of atomics on one thread",
     "kernel @k(%x: *i32, %y: *i32, %w: *i32, %n: i32) {\n"
     "  %p = program_id<0> ; %X = tensor %x, [5, %n], [700, 1] ; %Y = tensor %y, [5, %n], [700, 1] ; %i = iota<0, 5>\n"
     "  %j = add %i, %p ; %r0 = mul %j, 3 ; %r = mod %r0, 5 ; %a = tload<fill=4> %X, [0, 3] : i32[5,300]\n"
     "  tatomic<add> %Y, [%r, 0], %a ; %W = tensor %w, [9, 400], [300, 1]\n"
     "  %c = mul %a, 2 ; tatomic<max> %W, [%p, 1], %c ; %d = tload %X, [1, 250] : i32[2,64] ; tatomic<xor> %X, [2, 280], %d\n"
     "  return }\n",
     .number = 290, .grid = {9, 1, 1}, .plain = 1, .threads = 1},
    {"lines of atomics beside elements",
     "kernel @k(%x: *i32, %y: *i32, %w: *i32, %n: i32) {\n"
     "  %p = program_id<0> ; %X = tensor %x, [5, %n], [700, 1] ; %Y = tensor %y, [5, %n], [700, 1] ; %i = iota<0, 5>\n"
     "  %j = add %i, %p ; %r0 = mul %j, 3 ; %r = mod %r0, 5 ; %a = tload<fill=4> %X, [0, 3] : i32[5,300]\n"
     "  tatomic<add, scope=gpu> %Y, [%r, 0], %a ; %W = tensor %w, [9, 400], [300, 1]\n"
     "  %c = mul %a, 2 ; tatomic<max, scope=gpu> %W, [%p, 1], %c\n"
     "  %q = add %i, %p ; %z = ptr_add %y, %q ; %o = atomic<add> %z, 1\n"
     "  return }\n",
     .number = 290, .grid = {9, 1, 1}, .plain = 1},
    {"lines of atomics that all see",
     "kernel @k(%x: *i32, %y: *i32, %w: *i32, %n: i32) {\n"
     "  %p = program_id<0> ; %X = tensor %x, [5, %n], [700, 1] ; %Y = tensor %y, [5, %n], [700, 1] ; %i = iota<0, 5>\n"
     "  %j = add %i, %p ; %r0 = mul %j, 3 ; %r = mod %r0, 5 ; %a = tload<fill=4> %X, [0, 3] : i32[5,300]\n"
     "  tatomic<add, scope=sys> %Y, [%r, 0], %a ; %W = tensor %w, [9, 400], [300, 1]\n"
     "  %c = mul %a, 2 ; tatomic<max, scope=sys> %W, [%p, 1], %c\n"
     "  return }\n",
     .number = 290, .grid = {9, 1, 1}, .plain = 1},
    {"programs over three dimensions",
     "kernel @k(%y: *i32) {\n"
     "  %a = program_id<0> ; %b = program_id<1> ; %c = program_id<2> ; %na = num_programs<0> ; %nb "
     "= num_programs<1>\n"
     "  %t = mul %c, %nb ; %u = add %t, %b ; %v = mul %u, %na ; %w = add %v, %a ; %q = ptr_add %y, "
     "%w ; %x = mul %a, 100\n"
     "  %z = mul %b, 10 ; %s = add %x, %z ; %r = add %s, %c ; store %q, %r\n"
     "  return }\n",
     .grid = {5, 7, 3}},
    {"pointers as values: selected, carried, compared",
     "kernel @k(%x, %y: *f32, %n: i32) {\n"
     "  %i = iota<0, 40> ; %p = ptr_add %x, %i ; %q = ptr_add %y, %i ; %m = cmp<lt> %i, %n ; %s = "
     "select %m, %p, %q\n"
     "  %r = for %k = 0, 3, 1 (%t = %s) { %v = load %t ; %w = add %v, 1.0 ; store %t, %w ; %t1 = "
     "ptr_add %t, 64 ; yield %t1 }\n"
     "  %v1 = load %r ; %o = ptr_add %y, 1000 ; %oo = ptr_add %o, %i ; store %oo, %v1\n"
     "  return }\n",
     .number = 17, .plain = 1},
    {"functions within their bounds",
     "kernel @k(%x: *f32, %d: *f64) {\n"
     "  %i = iota<0, 500> ; %p = ptr_add %x, %i ; %a = load %p ; %b = abs %a ; %z = splat 0.0 : "
     "f32[500]\n"
     "  %e = exp %a ; %e2 = exp2 %a ; %l = log %b ; %l2 = log2 %b ; %q = rsqrt %b ; %s = sin %a ; "
     "%c = cos %a ; %t = tanh %a ; %f = erf %a\n"
     "  %g = math<tan> %a ; %h = math<pow> %b, %a ; %m = math<atan2> %a, %b\n"
     "  %all = cat<axis=0> %e, %e2, %l, %l2, %q, %s ; %j = iota<0, 3000> ; %o = add %j, 1000 ; %w "
     "= ptr_add %x, %o ; store %w, %all\n"
     "  %c64 = cast %c : f64[500] ; %t64 = cast %t : f64[500] ; %f64 = cast %f : f64[500] ; %g64 = "
     "cast %g : f64[500]\n"
     "  %h64 = cast %h : f64[500] ; %m64 = cast %m : f64[500]\n"
     "  %more = cat<axis=0> %c64, %t64, %f64, %g64, %h64, %m64 ; %w1 = ptr_add %d, %j ; store %w1, "
     "%more\n"
     "  return }\n",
     .tolerance = 1e-6, .plain = 1},
};

/* Bits do not depend on how many threads share the programs. */
static void test_threads(tw_context *cx) {
    static const char text[] =
        "kernel @k(%x, %y: *f32) {\n"
        "  %p = program_id<0> ; %o = mul %p, 64 ; %i = iota<0, 64> ; %j = add %o, %i ; %q = ptr_add %x, %j ; %a = load %q\n"
        "  %s = reduce<add, axis=0> %a ; %c = scan<add, axis=0> %a ; %e = exp %c ; %d = mul %e, %s\n"
        "  %t = reshape %d : f32[8,8] ; %z = splat 0.0 : f32[8,8] ; %m = dot %t, %t, %z ; %f = reshape %m : f32[64]\n"
        "  %r = ptr_add %y, %j ; store %r, %f ; return }\n";
    Case c = {.name = "threads", .text = text, .grid = {60, 1, 1}, .plain = 1, .threads = 1};
    tw_module *m = NULL;
    CaseRun one, many;
    CHECK(tw_module_load_text(cx, "case.ir", text, sizeof text - 1, NULL, &m) == TW_OK);
    CHECK(case_run(cx, m, &c, "cpu", &one));
    c.threads = 0;
    CHECK(case_run(cx, m, &c, "cpu", &many));
    CHECK(memcmp(tw_buffer_data(one.buffers[1]), tw_buffer_data(many.buffers[1]),
                 CASE_ELEMENTS * sizeof(float)) == 0);
    for (size_t i = 0; i < one.count; i++) {
        tw_buffer_destroy(one.buffers[i]);
        tw_buffer_destroy(many.buffers[i]);
    }
    tw_module_destroy(m);
}

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    test_threads(cx);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) case_check(cx, &cases[i]);
    tw_context_destroy(cx);
    return check_done();
}
