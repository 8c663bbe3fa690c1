/* SPDX-License-Identifier: Apache-2.0 */
/* test_indexed.c: boxes whose rows and columns index vectors choose, on the CPU and on emulated CUDA against the interpreter.
 *
 * Numbers come from memory: some lie inside, some before or behind the tensor, some are as large as their type has them;
 * arrays end at pages that nobody may touch. Random programs of the same kind: tests/numeric/random_ir.c. */
#include "cpu_cases.h"

/* 24 row numbers %v and 20 column numbers %w of 64 bits, every third of them whatever was in memory. */
#define INDICES                                                                                                               \
    "  %I = tensor %i, [4096], [1] ; %L = tensor %l, [4096], [1] ; %v0 = tload %I, [7] : i32[24] ; %v1 = rem %v0, 55\n"       \
    "  %q = iota<0, 24> ; %q3 = rem %q, 3 ; %wild = cmp<eq> %q3, 2 ; %v = select %wild, %v0, %v1\n"                           \
    "  %w0 = tload %L, [100] : i64[20] ; %w1 = mod %w0, 66 ; %p = iota<0, 20> ; %p3 = rem %p, 3 ; %far = cmp<eq> %p3, 1\n"    \
    "  %w = select %far, %w0, %w1\n"

/* Vectors inside, across the edge, rows, columns and both by numbers, one place, a dimension without an end. */
#define LOADS(E, FILL)                                                                                                        \
    "kernel @k(%x, %z: *" E ", %i: *i32, %l: *i64) {\n" INDICES                                                               \
    "  %X = tensor %x, [50, 60], [64, 1] ; %Z = tensor %z, [4096], [1]\n"                                                     \
    "  %a = tload<fill=" FILL "> %X, [%v, 8] : " E "[24,32] ; %a1 = reshape %a : " E "[768] ; tstore %Z, [0], %a1\n"          \
    "  %b = tload %X, [%v, 45] : " E "[24,32] ; %b1 = reshape %b : " E "[768] ; tstore %Z, [768], %b1\n"                      \
    "  %c = tload<fill=" FILL "> %X, [47, %w] : " E "[7,20] ; %c1 = reshape %c : " E "[140] ; tstore %Z, [1536], %c1\n"       \
    "  %d = tload %X, [%v, %w] : " E "[24,20] ; %d1 = reshape %d : " E "[480] ; tstore %Z, [1676], %d1\n"                     \
    "  %U = tensor %x, [none, 3], [100, 1] ; %r = mod %v, 40 ; %e = tload %U, [%r, 1] : " E "[24,4]\n"                        \
    "  %e1 = reshape %e : " E "[96] ; tstore %Z, [2156], %e1\n"                                                               \
    "  %o = iota<49, 50> ; %f = tload<fill=" FILL "> %X, [%o, 30] : " E "[1,33] ; %f1 = reshape %f : " E "[33] ; tstore %Z, [2252], %f1\n" \
    "  %g = tload %X, [%o, %o] : " E "[1,1] ; %g1 = reshape %g : " E "[1] ; tstore %Z, [2285], %g1\n"                         \
    "  return }\n"

/* Lines of A, or of B (rows of what is transposed), are the same ones in every round; K is odd for pairs, lines are left out. */
#define ROUNDS(E, A, B)                                                                                                       \
    "kernel @k(%x, %y: *" E ", %z: *f32, %i: *i32, %n: i32) {\n"                                                              \
    "  %X = tensor %x, [60, 61], [64, 1] ; %Y = tensor %y, [61, 60], [64, 1] ; %W = tensor %y, [60, 61], [64, 1]\n"           \
    "  %Z = tensor %z, [40, 40], [40, 1] ; %I = tensor %i, [90], [1] ; %g = program_id<0> ; %m = mul %g, 20\n"                \
    "  %v = tload<fill=-1> %I, [%m] : i32[20] ; %u = iota<3, 40> ; %s0 = splat 0.0 : f32[20,37]\n"                            \
    "  %s = for %k = 0, %n, 1 (%c = %s0) { %kk = mul %k, 12 ; " A " ; " B "\n    %d = dot %a, %b, %c ; yield %d }\n"         \
    "  tstore %Z, [%m, 1], %s\n  return }\n"
#define LEFT(E)  "%a = tload %X, [%v, %kk] : " E "[20,12]"
#define RIGHT(E) "%b = tload %Y, [%kk, %u] : " E "[12,37]"
#define ROWS(E)  "%t = tload %W, [%u, %kk] : " E "[37,12] ; %b = permute<dims=[1,0]> %t"
#define PLAIN(E) "%b = tload %Y, [%kk, 2] : " E "[12,37]"

static const Case cases[] = {
    {"loads of f32", LOADS("f32", "2.5"), .plain = 0},
    {"loads of bf16", LOADS("bf16", "-1.0"), .plain = 0},
    {"loads of i8", LOADS("i8", "7"), .plain = 0},
    {"loads of i64", LOADS("i64", "-9"), .plain = 0},
    {"loads of flags", LOADS("i1", "true"), .plain = 1},
    /* Each place once: which of two would stay is not defined. Rows of f16, columns, both; clipped, left out. */
    {"stores",
     "kernel @k(%x, %z: *f16, %y: *i32, %n: i32) {\n"
     "  %g = program_id<0> ; %q = iota<0, 32> ; %s = mul %q, 7 ; %m = rem %s, 32 ; %v = sub %m, 3 ; %u = cast %m : u8[32]\n"
     "  %X = tensor %x, [32, 100], [100, 1] ; %a = tload %X, [0, 0] : f16[32,32] ; %row = mul %g, 1024 ; %zp = ptr_add %z, %row\n"
     "  %Z = tensor %zp, [28, 30], [32, 1] ; %odd = rem %q, 5 ; %on = cmp<ne> %odd, 2 ; %k = select %on, %v, -1\n"
     "  tstore %Z, [%k, 4], %a\n"
     "  %yp = ptr_add %y, %row ; %Y = tensor %yp, [32, 30], [32, 1] ; %t = iota<0, 1024> ; %b = reshape %t : i32[32,32]\n"
     "  %c = mul %b, %n ; tstore %Y, [%u, %v], %c\n"
     "  %e = slice %c, [0, 0] : i32[32,1] ; tstore %Y, [%v, 31], %e\n"
     "  return }\n",
     .number = 3, .grid = {3, 1, 1}},
    {"atomics combine what goes to one place",
     "kernel @k(%y: *i32, %u: *u64, %f: *f32, %i: *i32) {\n"
     "  %g = program_id<0> ; %I = tensor %i, [4096], [1] ; %o = mul %g, 16 ; %v0 = tload %I, [%o] : i32[16] ; %v = rem %v0, 9\n"
     "  %Y = tensor %y, [8, 60], [64, 1] ; %t = iota<0, 512> ; %a = reshape %t : i32[16,32] ; tatomic<add> %Y, [%v, 30], %a\n"
     "  %U = tensor %u, [8, 8], [8, 1] ; %b = cast %a : u64[16,32] ; %w0 = iota<0, 32> ; %w = rem %w0, 9 ; tatomic<max> %U, [%v, %w], %b\n"
     "  %F = tensor %f, [3, 8, 16], [128, 16, 1] ; %c = splat 0.5 : f32[16,16] ; tatomic<add, dims=[1,2]> %F, [%g, %v, 0], %c\n"
     "  return }\n",
     .grid = {4, 1, 1}, .plain = 1, .tolerance = 1e-6},
    {"atomics of small numbers, of odd rows, under masks",
     "kernel @k(%h: *bf16, %s: *i16, %b: *u8, %d: *f64, %i: *i32) {\n"
     "  %g = program_id<0> ; %I = tensor %i, [4096], [1] ; %o = mul %g, 16 ; %v0 = tload %I, [%o] : i32[16] ; %v = rem %v0, 9\n"
     "  %S = tensor %s, [8, 30], [37, 1] ; %t = iota<0, 336> ; %a = reshape %t : i32[16,21] ; %c = cast %a : i16[16,21]\n"
     "  tatomic<xor> %S, [%v, 12], %c ; %B = tensor %b, [8, 21], [21, 1] ; %e = cast %a : u8[16,21]\n"
     "  tatomic<max> %B, [%v, -2], %e ; %H = tensor %h, [8, 40], [40, 1] ; %f = cast %a : bf16[16,21] ; tatomic<max> %H, [%v, 1], %f\n"
     "  %q = iota<0, 21> ; %odd = rem %q, 2 ; %k = cmp<eq> %odd, 1 ; %m = expand<0> %k ; %D = tensor %d, [8, 21], [21, 1]\n"
     "  %n = cast %a : f64[16,21] ; tatomic<min> %D, [%v, 0], %n, %m ; %l = splat 2.0 : f64[16,21] ; %far = ptr_add %d, 1000\n"
     "  %E = tensor %far, [8, 21], [21, 1] ; tatomic<add> %E, [%v, 0], %l\n"
     "  %r = slice %n, [0, 0] : f64[1,21] ; %r1 = reshape %r : f64[21] ; %row = tensor %d, [2000], [1] ; tatomic<max> %row, [1990], %r1\n"
     "  return }\n",
     .grid = {4, 1, 1}, .plain = 1, .threads = 2},
    {"a store that overlaps what is read, by numbers",
     "kernel @k(%x: *f32, %n: i32) {\n"
     "  %X = tensor %x, [60, 64], [64, 1] ; %q = iota<0, 16> ; %f = flip<axis=0> %q ; %k = mul %q, 3 ; %j = sub %k, %n\n"
     "  %a = tload %X, [%q, 0] : f32[16,48] ; %b = mul %a, 2.0 ; tstore %X, [%f, 0], %b\n"
     "  %c = tload %X, [%j, 8] : f32[16,24] ; %d = add %c, 1.0 ; tstore %X, [%k, 9], %d\n"
     "  %e = tload %X, [%k, 0] : f32[16,64] ; %g = mul %e, 0.5 ; tstore %X, [%k, 0], %g\n"
     "  %h = tload %X, [20, 3] : f32[16,32] ; %w = iota<1, 33> ; tstore %X, [%k, %w], %h\n"
     "  return }\n",
     .number = 4, .plain = 1},
    {"chosen dimensions, masks, sums of picked rows",
     "kernel @k(%x: *f32, %z: *f32, %i: *i32, %l: *i64) {\n" INDICES
     "  %X = tensor %x, [50, 3, 20], [60, 20, 1] ; %Z = tensor %z, [4096], [1] ; %g = program_id<0> ; %m0 = cmp<gt> %v, 20\n"
     "  %m = expand<1> %m0 ; %a = tload<dims=[0,2], fill=0.25> %X, [%v, %g, %w], %m : f32[24,20]\n"
     "  %b = reduce<add, axis=1> %a ; %o = mul %g, 24 ; tstore %Z, [%o], %b\n"
     "  %c = tload<dims=[0,1]> %X, [%v, 1, %g] : f32[24,2] ; %d = reduce<max, axis=0> %c ; %o2 = mul %g, 2 ; %o3 = add %o2, 1000\n"
     "  tstore %Z, [%o3], %d\n"
     "  return }\n",
     .grid = {4, 1, 1}, .plain = 1, .tolerance = 1e-5},
    {"pages that a table names, in a loop",
     "kernel @k(%x, %z: *f16, %i: *i32, %n: i32) {\n"
     "  %X = tensor %x, [128, 32], [32, 1] ; %I = tensor %i, [%n], [1] ; %Z = tensor %z, [16, 32], [32, 1] ; %q = iota<0, 16>\n"
     "  %s0 = splat 0.0 : f32[16,32] ; %s = for %k = 0, %n, 1 (%c = %s0) {\n"
     "    %page = tload %I, [%k] : i32 ; %p = rem %page, 10 ; %first = mul %p, 16 ; %v = add %q, %first\n"
     "    %a = tload %X, [%v, 0] : f16[16,32] ; %h = cast %a : f32[16,32] ; %e = mul %h, 0.125 ; %d = add %c, %e ; yield %d }\n"
     "  %o = cast %s : f16[16,32] ; tstore %Z, [0, 0], %o\n"
     "  return }\n",
     .number = 9, .plain = 1},
    {"a row that is too large for registers",
     "kernel @k(%x, %y: *f32, %n: i32) {\n"
     "  %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %i = iota<0, 32768> ; %j = add %i, 5 ; %v = mod %j, %n\n"
     "  %a = tload<fill=-inf> %X, [%v] : f32[32768] ; %m = reduce<max, axis=0> %a ; %d = sub %a, %m ; %s = reduce<min, axis=0> %d\n"
     "  %e = sub %d, %s ; tstore %Y, [%v], %e\n"
     "  return }\n",
     .number = 32768, .elements = 32768, .plain = 1},
    {"rounds of f32", ROUNDS("f32", LEFT("f32"), PLAIN("f32")), .number = 6, .grid = {2, 1, 1}, .plain = 1, .tolerance = 1e-3, .target = "cpu"},
    {"rounds of f32, both sides", ROUNDS("f32", LEFT("f32"), ROWS("f32")), .number = 6, .grid = {2, 1, 1}, .plain = 1, .tolerance = 1e-3},
    {"rounds of bf16", ROUNDS("bf16", LEFT("bf16"), PLAIN("bf16")), .number = 5, .grid = {2, 1, 1}, .plain = 1, .tolerance = 1e-3, .target = "cpu"},
    {"rounds of bf16, both sides", ROUNDS("bf16", LEFT("bf16"), ROWS("bf16")), .number = 6, .grid = {2, 1, 1}, .plain = 1, .tolerance = 1e-3},
    {"rounds of f16, columns of the right", ROUNDS("f16", LEFT("f16"), RIGHT("f16")), .number = 6, .grid = {2, 1, 1}, .plain = 1, .tolerance = 1e-3, .target = "cpu"},
    {"products of picked rows",
     "kernel @k(%x, %y: *f16, %z: *f32, %i: *i32, %n: i32) {\n"
     "  %X = tensor %x, [60, 64], [64, 1] ; %Y = tensor %y, [60, 64], [64, 1] ; %Z = tensor %z, [40, 32], [32, 1] ; %I = tensor %i, [64], [1]\n"
     "  %v = tload<fill=-1> %I, [40] : i32[32] ; %s0 = splat 0.0 : f32[32,32] ; %s = for %k = 0, %n, 1 (%c = %s0) {\n"
     "    %kk = mul %k, 16 ; %a = tload %X, [%v, %kk] : f16[32,16] ; %t0 = iota<0, 16> ; %t = add %t0, %kk ; %u = rem %t, 50\n"
     "    %b = tload %Y, [%u, 8] : f16[16,32] ; %d = dot %a, %b, %c ; yield %d }\n"
     "  %r0 = iota<0, 32> ; %r = flip<axis=0> %r0 ; tstore %Z, [%r, 0], %s\n"
     "  return }\n",
     .number = 4, .plain = 1, .tolerance = 1e-4},
};

int main(int argc, char **argv) {
    tw_context *cx = NULL;
    bool compiler = system("command -v c++ >/dev/null 2>&1") == 0;
    if (tw_context_create(NULL, &cx) != TW_OK) return 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc > 1 && !strstr(cases[i].name, argv[1])) continue;
        Case c = cases[i];
        case_check(cx, &c);
        if (c.target) continue; /* only that one has code of its own for it */
        c.target = "cuda-emulated";
        if (compiler) case_check(cx, &c);
    }
    tw_context_destroy(cx);
    return check_done();
}
