/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_ops_cases.h: kernels of ops that move elements, combine along an axis, sort, count and exchange atomically, for
 * tests that run them on warps of 32 (test_cuda_ops.c) and of 64 lanes (test_simt_lanes.c). */
#ifndef TESTS_CUDA_OPS_CASES_H
#define TESTS_CUDA_OPS_CASES_H
#include "cuda_bench.h"

typedef struct OpsCase {
    const char *name, *body; /* of a kernel with %x, %z: *f32, %n: i32 = 37; x holds 4096 numbers, z is the result */
    int warps[3];
    double bound;
    const char *must; /* somewhere in the text; NULL: anything */
} OpsCase;

#define LOAD1(name, at, n) "  %" name " = tload<nocheck> %X, [" at "] : f32[" n "]\n"
#define HEAD "  %X = tensor %x, [none], [1] ; %Z = tensor %z, [none], [1]\n"
#define OUT(value, at) "  tstore<nocheck> %Z, [" at "], " value "\n"
#define FLAT(value, from, at, n) "  %f" at " = reshape " value " : f32[" n "]\n" OUT("%f" at, at)

static const OpsCase ops_cases[] = {
    {"registers",
     HEAD LOAD1("a", "0", "256") LOAD1("b", "256", "256")
     "  %j = join %a, %b ; %i = reshape %j : f32[512] ; %p, %q = split %j ; %d = sub %q, %p\n"
     "  %k = join %d, %p ; %c = cat<axis=0> %p, %d ; %h = slice %c, [256] : f32[256] ; %m = mul %h, 2.0\n"
     OUT("%i", "0") OUT("%m", "600") OUT("%c", "1000") FLAT("%k", "", "2000", "512"),
     {1, 4, 16}, 1e-6, "r >> 1"},
    {"two elements",
     HEAD LOAD1("a", "5", "2") "  %p, %q = split %a ; %c = add %p, %q ; %j = join %c, %p ; %w = mul %j, %q\n" OUT("%c", "0") OUT("%w", "1"),
     {1, 4, 0}, 1e-6, NULL},
    {"staged",
     HEAD LOAD1("a", "0", "240") "  %t = reshape %a : f32[10,24] ; %s = slice %t, [2, 5] : f32[7,11] ; %fl = flip<axis=1> %t\n"
     "  %e = cat<axis=0> %s, %s, %s ; %o = slice %t, [3, 0] : f32[7,24] ; %w = cat<axis=1> %s, %o\n"
     "  %in = insert %t, [1, 4], %s ; %v = rem %n, 5 ; %rs = slice %t, [%v, 3] : f32[4,20]\n"
     FLAT("%s", "", "0", "77") FLAT("%fl", "", "100", "240") FLAT("%e", "", "400", "231") FLAT("%w", "", "700", "245")
     FLAT("%in", "", "1000", "240") FLAT("%rs", "", "1300", "80"),
     {1, 4, 8}, 1e-6, "tw_swizzle"},
    {"flips",
     HEAD LOAD1("a", "0", "512") "  %t = reshape %a : f32[16,32] ; %u = flip<axis=0> %t ; %v = flip<axis=1> %u ; %w = flip<axis=0> %a\n"
     "  %g = cmp<gt> %a, 0.5 ; %h = flip<axis=0> %g ; %k = cast %h : f32[512]\n"
     FLAT("%v", "", "0", "512") OUT("%w", "600") OUT("%k", "1200"),
     {1, 4, 2}, 1e-6, NULL},
    {"gathers",
     HEAD LOAD1("a", "0", "256") "  %i = iota<0, 128> ; %j = mul %i, 5 ; %k = rem %j, 256 ; %g = gather<axis=0> %a, %k\n"
     "  %t = reshape %a : f32[16,16] ; %r = iota<0, 48> ; %m = mul %r, 7 ; %q = rem %m, 16 ; %ix = reshape %q : i32[3,16]\n"
     "  %h = gather<axis=0> %t, %ix ; %w = cast %ix : i64[3,16]\n"
     OUT("%g", "0") FLAT("%h", "", "200", "48"),
     {1, 4, 0}, 1e-6, NULL},
    {"scans",
     HEAD LOAD1("a", "0", "1024") "  %s = scan<add, axis=0> %a ; %r = scan<add, axis=0, reverse> %a ; %m = scan<max, axis=0> %a\n"
     "  %t = reshape %a : f32[8,128] ; %u = scan<add, axis=0> %t ; %v = scan<mul, axis=1, reverse> %t\n"
     OUT("%s", "0") OUT("%r", "1024") OUT("%m", "2048") FLAT("%u", "", "3072", "1024"),
     {1, 4, 8}, 1e-4, NULL},
    {"odd scans",
     HEAD LOAD1("a", "0", "300") "  %s = scan<add, axis=0> %a ; %r = scan<add, axis=0, reverse> %a\n"
     "  %t = reshape %a : f32[20,15] ; %u = scan<min, axis=0, reverse> %t ; %v = scan<add, axis=1> %t\n"
     "  %h = cast %a : f16[300] ; %hs = scan<max, axis=0> %h ; %hf = cast %hs : f32[300]\n"
     OUT("%s", "0") OUT("%r", "400") FLAT("%u", "", "800", "300") FLAT("%v", "", "1200", "300") OUT("%hf", "1600"),
     {1, 4, 0}, 1e-4, NULL},
    {"tuples",
     HEAD LOAD1("a", "0", "256") "  %i = iota<0, 256> ; %t = reshape %a : f32[8,32] ; %ti = reshape %i : i32[8,32]\n"
     "  %v, %w = reduce<region, axis=1> %t, %ti (%p: f32, %pi: i32, %q: f32, %qi: i32) {\n"
     "    %c = cmp<gt> %p, %q ; %e = select %c, %p, %q ; %d = select %c, %pi, %qi ; yield %e, %d }\n"
     "  %m, %k = reduce<region, axis=0> %a, %i (%p: f32, %pi: i32, %q: f32, %qi: i32) {\n"
     "    %c = cmp<lt> %p, %q ; %e = select %c, %p, %q ; %d = select %c, %pi, %qi ; yield %e, %d }\n"
     "  %b1, %b2 = scan<region, axis=0> %a, %a (%p: f32, %ps: f32, %q: f32, %qs: f32) {\n"
     "    %c = add %p, %q ; %d = max %ps, %qs ; yield %c, %d }\n"
     "  %x2 = reduce<region, axis=0> %t (%p: f32, %q: f32) { %y = mul %p, 0.5 ; %yy = add %y, %q ; yield %yy }\n"
     "  %wf = cast %w : f32[8] ; %kf = cast %k : f32\n"
     OUT("%v", "0") OUT("%wf", "10") OUT("%m", "20") OUT("%kf", "21") OUT("%b1", "100") OUT("%b2", "400"),
     {1, 4, 8}, 1e-4, NULL},
    {"odd tuples",
     HEAD LOAD1("a", "0", "210") "  %i = iota<0, 210> ; %t = reshape %a : f32[7,30] ; %ti = reshape %i : i32[7,30]\n"
     "  %v, %w = reduce<region, axis=1> %t, %ti (%p: f32, %pi: i32, %q: f32, %qi: i32) {\n"
     "    %c = cmp<gt> %p, %q ; %e = select %c, %p, %q ; %d = select %c, %pi, %qi ; yield %e, %d }\n"
     "  %f = reduce<region, axis=0> %i (%p: i32, %q: i32) { yield %p }\n"
     "  %l = reduce<region, axis=0> %i (%p: i32, %q: i32) { yield %q }\n"
     "  %wf = cast %w : f32[7] ; %ff = cast %f : f32 ; %lf = cast %l : f32\n"
     OUT("%v", "0") OUT("%wf", "10") OUT("%ff", "20") OUT("%lf", "21"),
     {1, 4, 0}, 1e-4, NULL},
    {"sorts",
     HEAD LOAD1("a", "0", "512") LOAD1("o", "512", "100") "  %s = sort<axis=0> %a ; %d = sort<axis=0, desc> %o\n"
     "  %t = reshape %a : f32[16,32] ; %u = sort<axis=0, desc> %t ; %k = mul %a, 100.0 ; %i = cast %k : i16[512] ; %j = sort<axis=0, desc> %i\n"
     "  %l = cast %j : f32[512] ; %top = slice %s, [0] : f32[16] ; %h = cast %o : bf16[100] ; %hs = sort<axis=0> %h ; %hf = cast %hs : f32[100]\n"
     OUT("%s", "0") OUT("%d", "600") FLAT("%u", "", "800", "512") OUT("%l", "1400") OUT("%top", "2000") OUT("%hf", "2100"),
     {1, 4, 8}, 1e-6, NULL},
    {"histograms",
     HEAD LOAD1("a", "0", "300") "  %m = mul %a, 3.0 ; %i = cast %m : i32[300] ; %h = histogram<10> %i ; %f = cast %h : f32[10]\n" OUT("%f", "0"),
     {1, 4, 0}, 1e-6, NULL},
    {"map",
     HEAD LOAD1("a", "0", "100") "  %p, %q = map %a, %a (%u: f32, %v: f32) { %c = cmp<gt> %u, 0.0 ; %w = if %c { %y = mul %u, 2.0 ; yield %y } { yield %v }\n"
     "    %i = cast %w : i32 ; yield %w, %i }\n  %f = cast %q : f32[100]\n" OUT("%p", "0") OUT("%f", "100"),
     {1, 4, 0}, 1e-6, NULL},
    {"atomics",
     "  %i = iota<0, 64> ; %j = rem %i, 8 ; %p = ptr_add %z, %i ; %two = splat 2.0 : f32[64] ; %m = cmp<ne> %j, 3\n"
     "  %old = atomic<add> %p, %two, %m ; %o2 = atomic<xchg, sem=relaxed> %p, %two, %m ; %q = ptr_add %z, 100 ; %qi = ptr_add %q, %i\n"
     "  %sum = add %old, %o2 ; store %qi, %sum ; %s = ptr_add %z, 300 ; %n1 = atomic<add> %s, 5.0 ; %n2 = atomic<max, scope=sys> %s, 7.0\n"
     "  %t = splat %n2 : f32[64] ; %u = add %t, %n1 ; %q3 = ptr_add %z, 400 ; %q3i = ptr_add %q3, %i ; store %q3i, %u\n"
     "  %c1 = atomic_cas %s, 7.0, 9.0 ; %c2 = atomic_cas %s, 7.0, 11.0 ; %c = add %c1, %c2 ; %s2 = ptr_add %z, 301 ; store %s2, %c\n"
     "  %g = iota<0, 8> ; %gp = ptr_add %z, %g ; %gx = splat 1.0 : f32[8] ; %g1 = atomic<min> %gp, %gx ; %gq = ptr_add %gp, 500 ; store %gq, %g1\n",
     {1, 4, 0}, 1e-6, "TW_ATOM_CAS"},
    {"batched dots",
     "  %X = tensor %x, [none, none, none], [512, 16, 1] ; %Z = tensor %z, [none, none, none], [1024, 32, 1] ; %c = splat 1.0 : f32[4,32,32]\n"
     "  %a = tload<nocheck> %X, [0, 0, 0] : f32[4,32,16] ; %b0 = tload<nocheck> %X, [4, 0, 0] : f32[4,32,16] ; %b = permute<dims=[0,2,1]> %b0\n"
     "  %d = dot %a, %b, %c ; tstore<nocheck> %Z, [0, 0, 0], %d ; %h = cast %a : f16[4,32,16] ; %g = cast %b : f16[4,16,32] ; %e = dot %h, %g, %d\n"
     "  tstore<nocheck> %Z, [4, 0, 0], %e\n",
     {1, 4, 8}, 1e-4, "tw_mma_f16"},
    {"many batched dots",
     "  %X = tensor %x, [none, none, none], [64, 8, 1] ; %Z = tensor %z, [none, none, none], [64, 8, 1] ; %c = splat 1.0 : f32[20,8,8]\n"
     "  %a = tload<nocheck> %X, [0, 0, 0] : f32[20,8,8] ; %b = tload<nocheck> %X, [20, 0, 0] : f32[20,8,8]\n"
     "  %d = dot %a, %b, %c ; tstore<nocheck> %Z, [0, 0, 0], %d\n",
     {4, 0, 0}, 1e-4, NULL},
    {"buffers",
     HEAD LOAD1("a", "0", "128") "  %b = buf : buf<f32[2,128], shared> ; bstore %b, [0, 0], %a ; %d = add %a, 1.0 ; bstore %b, [1, 0], %d\n"
     "  %e = bload %b, [1, 3] : f32[64] ; %w = bload %b, [0, %n] : f32 ; bstore %b, [0, 5], %w ; %l = bload %b, [0, 0] : f32[2,128]\n"
     "  %g = add %e, %w\n" OUT("%g", "0") FLAT("%l", "", "100", "256"),
     {1, 4, 0}, 1e-6, NULL},
};
#endif
