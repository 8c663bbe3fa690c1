/* SPDX-License-Identifier: Apache-2.0 */
/* test_interp_faults.c: what the interpreter says to wrong kernels: broken rings by name, deadlocks
 * with every waiter, the reports of `sanitize`, budgets; and that right ones are left in peace. */
#include "interp_bench.h"
#include "ir/element.h"

/* A ring kernel of two roles over four tasks; the texts are the bodies of the roles. */
static void ring_case(const char *load, const char *compute, const char *more_rings, int slots,
                      const char *words) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        Bench b;
        char text[4000];
        snprintf(text, sizeof text,
                 "kernel @k(%%X, %%Z: tensor<f32,1>) {\n"
                 "  %%in = ring<from=load, to=compute, slots=%d> : {a: f32[4], n: i32}\n  %s\n"
                 "  tasks %%t in 4 {\n    %%o = mul %%t, 4\n"
                 "    role load {\n%s\n}\n    role compute {\n%s\n} }\n  return }\n",
                 slots, more_rings, load, compute);
        float x[16], z[16];
        for (int i = 0; i < 16; i++) x[i] = (float)i;
        bench_open(&b, text, NULL);
        bench_tensor(&b, "X", x, true, 4, 1, 16);
        bench_tensor(&b, "Z", z, false, 4, 1, 16);
        b.launch.seed = seed;
        b.launch.workers = 1;
        if (words) {
            BENCH_FAILS(&b, 1, 1, 1, words);
        } else {
            BENCH_RUN(&b, 1, 1, 1);
            for (int i = 0; i < 16; i++) CHECK(z[i] == x[i]);
        }
        bench_close(&b);
    }
}

#define PRODUCE                                                                                    \
    "%s = acquire %in ; %x = tload %X, [%o] : f32[4] ; put %s.a, %x ; put %s.n, %t ; commit %in, " \
    "%s\n"
#define CONSUME "%s = wait %in ; %x = get %s.a ; tstore %Z, [%o], %x ; release %in, %s\n"

static void rings(void) {
    ring_case(PRODUCE, CONSUME, "", 1, NULL);
    ring_case(PRODUCE, CONSUME, "", 3, NULL);
    ring_case(PRODUCE,
              "%s = wait %in ; %x = get<copy> %s.a ; release %in, %s ; tstore %Z, [%o], %x", "", 2,
              NULL);
    /* missing release: the second task's acquire waits for ever */
    ring_case(PRODUCE, "%s = wait %in ; %x = get %s.a ; tstore %Z, [%o], %x", "", 1,
              "role `load`, task (1) waits here for item 1 of %in to be empty: acquired 1, "
              "committed 1, waited for 1, "
              "released 0, slots 1");
    /* another trip count */
    ring_case(PRODUCE, "for %i = 0, 2, 1 { " CONSUME " }", "", 2, "role `compute`, task (");
    ring_case("for %i = 0, 2, 1 { " PRODUCE " }", CONSUME, "", 2, "deadlock");
    ring_case(
        "for %i = 0, 2, 1 { " PRODUCE " }", CONSUME, "", 8,
        "items of %in are left over at the end: acquired 8, committed 8, waited for 4, released 4");
    ring_case(PRODUCE " commit %in, %s", CONSUME, "", 2,
              "commits item 0 of %in, a second time (role `load`, task (0))");
    ring_case("%s = acquire %in ; %x = tload %X, [%o] : f32[4] ; put %s.a, %x ; commit %in, %s",
              CONSUME, "", 2,
              "item 0 of %in is committed, but its field `n` was not written whole");
    ring_case("%s = acquire %in ; %x = tload %X, [%o] : f32[2] ; put %s.a, [1], %x ; put %s.n, %t "
              "; commit %in, %s",
              CONSUME, "", 2, "field `a` was not written whole");
    ring_case("%s = acquire %in ; %x = tload %X, [%o] : f32[4] ; %l = slice %x, [0] : f32[3] ; %h "
              "= slice %x, [3] : f32[1]\n"
              "put %s.a, [3], %h ; put %s.a, [0], %l ; put %s.n, %t ; commit %in, %s",
              CONSUME, "", 2, NULL);
    ring_case(PRODUCE " put %s.a, %x", CONSUME, "", 2,
              "this put writes item 0 of %in, which the role does not hold");
    ring_case(PRODUCE, CONSUME " %y = get %s.a ; tstore %Z, [%o], %y", "", 2,
              "this get reads item 0 of %in, which the role does not hold");
    ring_case(PRODUCE, "%s = wait %in ; %x = get %s.a ; release %in, %s ; tstore %Z, [%o], %x", "",
              2, "a value of item 0 of %in is used after its release");
    ring_case(PRODUCE, CONSUME " release %in, %s", "", 2,
              "this releases item 0 of %in, a second time");
    ring_case(PRODUCE PRODUCE,
              "%s = wait %in ; %q = wait %in ; %x = get %q.a ; tstore %Z, [%o], %x ; release %in, "
              "%q ; release %in, %s",
              "", 4, "this releases item 1 of %in, before one that comes first");
    ring_case(PRODUCE, "%s = wait %in ; put %s.n, 3 ; %x = get %s.a ; release %in, %s", "", 2,
              "this put writes item 0 of %in");
    /* order of two rings: K K V V against K V K V with one slot */
    ring_case("for %i = 0, 3, 1 { " PRODUCE
              " }\n for %i = 0, 3, 1 { %u = acquire %v ; put %u.k, %i ; commit %v, %u }",
              "for %i = 0, 3, 1 { " CONSUME " %q = wait %v ; %k = get %q.k ; release %v, %q }",
              "%v = ring<from=load, to=compute, slots=1> : {k: i32}", 1, "deadlock");
    /* each role waits for the other first */
    ring_case("%q = wait %v ; release %v, %q\n" PRODUCE, CONSUME " %u = acquire %v ; commit %v, %u",
              "%v = ring<from=compute, to=load, slots=1> : {}", 1,
              "role `load`, task (0) waits here for item 0 of %v to be full");
    /* a token ring in the right order */
    ring_case("%q = wait %v ; release %v, %q\n" PRODUCE,
              "%u = acquire %v ; commit %v, %u\n" CONSUME,
              "%v = ring<from=compute, to=load, slots=1> : {}", 1, NULL);
    /* a self-ring with one slot that acquires before it releases */
    ring_case(PRODUCE,
              "%u = acquire %v ; put %u.k, 1 ; commit %v, %u ; %q = wait %v ; %u2 = acquire %v ; "
              "put %u2.k, 2\n"
              "commit %v, %u2 ; release %v, %q ; %q2 = wait %v ; release %v, %q2\n" CONSUME,
              "%v = ring<from=compute, to=compute, slots=1> : {k: i32}", 1,
              "waits here for item 1 of %v to be empty");
    ring_case(PRODUCE,
              "%u = acquire %v ; put %u.k, 1 ; commit %v, %u ; %q = wait %v ; %u2 = acquire %v ; "
              "put %u2.k, 2\n"
              "commit %v, %u2 ; release %v, %q ; %q2 = wait %v ; release %v, %q2\n" CONSUME,
              "%v = ring<from=compute, to=compute, slots=2> : {k: i32}", 1, NULL);
    /* one item in all, held for ever */
    ring_case("%u = acquire %v ; put %u.k, 7 ; commit %v, %u\n" PRODUCE,
              "%q = wait %v ; %k = get %q.k ; %ok = cmp<eq> %k, 7 ; assert %ok ; release %v, "
              "%q\n" CONSUME,
              "%v = ring<from=load, to=compute, slots=1, life=kernel> : {k: i32}", 2, NULL);
    /* items passed over */
    ring_case(PRODUCE PRODUCE, "skip %in, 1\n" CONSUME, "", 2, NULL);
}

/* --- spmd --- */

static void run_spmd(const char *text, uint64_t seed, int32_t *z, int n, const char *words) {
    Bench b;
    bench_open(&b, text, NULL);
    memset(z, 0, (size_t)n * 4);
    bench_tensor(&b, "Z", z, false, 4, 1, n);
    b.launch.seed = seed;
    b.launch.sanitize = seed == 1;
    if (words) {
        BENCH_FAILS(&b, 2, 1, 1, words);
    } else {
        BENCH_RUN(&b, 2, 1, 1);
    }
    bench_close(&b);
}

static void workers(void) {
    int32_t z[64];
    for (uint64_t seed = 0; seed < 6; seed++) {
        run_spmd("kernel @k(%Z: tensor<i32,1>) {\n"
                 "  %p = program_id<0> ; %base = mul %p, 32 ; %b = buf : buf<i32[32], shared>\n"
                 "  spmd %w in 32 <unit=thread> {\n"
                 "    %sq = mul %w, %w ; bstore %b, [%w], %sq ; sync<unit=block>\n"
                 "    %n = add %w, 1 ; %o = rem %n, 32 ; %v = bload %b, [%o] : i32 ; "
                 "sync<unit=block> ; bstore %b, [%w], %v ; sync<unit=warp>\n"
                 "    %u = bload %b, [%o] : i32 ; %at = add %base, %w ; tstore %Z, [%at], %u }\n"
                 "  return }\n",
                 seed, z, 64, NULL);
        for (int i = 0; i < 64; i++) CHECK(z[i] == (i % 32 + 2) % 32 * ((i % 32 + 2) % 32));
        /* a producer thread, copies that land late, phases that go round; a buffer of two slots */
        run_spmd(
            "kernel @k(%Z: tensor<i32,1>) {\n"
            "  %p = program_id<0> ; %b = buf : buf<i32[2,4], shared> ; %s0 = buf : buf<i32[4], "
            "shared> ; %s1 = buf : buf<i32[4], shared>\n"
            "  %f0 = bar<count=1> ; %f1 = bar<count=1> ; %e0 = bar<count=1> ; %e1 = bar<count=1>\n"
            "  %i = iota<0, 32> ; %base = mul %p, 32 ; tstore %Z, [%base], %i\n"
            "  spmd %w in 2 <unit=warp> {\n"
            "    %load = cmp<eq> %w, 0\n"
            "    if %load {\n"
            "      for %k = 0, 4, 1 {\n"
            "        %ph = rem %k, 2 ; %pw = xor %ph, 1 ; %k8 = mul %k, 8 ; %o0 = add %base, %k8 ; "
            "%o1 = add %o0, 4\n"
            "        bar_wait %e0, %pw ; bar_expect %f0, 16 ; async_copy %Z, [%o0], %s0, %f0\n"
            "        bar_wait %e1, %pw ; bar_expect %f1, 16 ; async_copy %Z, [%o1], %s1, %f1 }\n"
            "    } {\n"
            "      for %k = 0, 4, 1 {\n"
            "        %ph = rem %k, 2 ; %k8 = mul %k, 8 ; %o0 = add %base, %k8 ; %o1 = add %o0, 4\n"
            "        bar_wait %f0, %ph ; %x = bload %s0, [0] : i32[4] ; bar_arrive %e0 ; %y = mul "
            "%x, 10 ; tstore %Z, [%o0], %y\n"
            "        bar_wait %f1, %ph ; %u = bload %s1, [0] : i32[4] ; bar_arrive %e1 ; %v = mul "
            "%u, 10 ; tstore %Z, [%o1], %v }\n"
            "    } }\n"
            "  return }\n",
            seed, z, 64, NULL);
        for (int i = 0; i < 64; i++) CHECK(z[i] == i % 32 * 10);
        run_spmd("kernel @k(%Z: tensor<i32,1>) {\n"
                 "  spmd %w in 4 <unit=warp> { %c = cmp<lt> %w, 3 ; if %c { sync<unit=block> } }\n "
                 " return }\n",
                 seed, z, 1, "worker 2 waits here: 96 of 128 have arrived");
        run_spmd("kernel @k(%Z: tensor<i32,1>) {\n"
                 "  %b = bar<count=2> ; spmd %w in 2 <unit=warp> { %c = cmp<eq> %w, 0 ; if %c { "
                 "bar_arrive %b } ; bar_wait %b, 0 }\n  return }\n",
                 seed, z, 1, "waits here for phase 0 to end: 1 arrivals and 0 bytes are missing");
    }
    /* two workers of a role: each waits and releases; both put their part */
    for (uint64_t seed = 0; seed < 8; seed++)
        run_spmd("kernel @k(%Z: tensor<i32,1>) {\n"
                 "  %in = ring<from=load, to=compute, slots=2> : {a: i32[2,3]} ; %fin = "
                 "ring<from=compute, to=store, slots=1> : {c: i32[2,3]}\n"
                 "  tasks %it while { %go = cmp<lt> %it, 3 ; test %go, %it } do (%t) {\n"
                 "    role load { for %k = 0, 5, 1 { %s = acquire %in ; %x = splat %k : i32[2,3] ; "
                 "put %s.a, %x ; commit %in, %s } }\n"
                 "    role compute { spmd %w in 2 <unit=warpgroup> {\n"
                 "      %z = splat 0 : i32[1,3]\n"
                 "      %acc = for %k = 0, 5, 1 (%c = %z) { %s = wait %in ; %af = get %s.a ; %a = "
                 "slice %af, [%w, 0] : i32[1,3]\n"
                 "        %c1 = add %c, %a ; release %in, %s ; yield %c1 }\n"
                 "      %mine = add %acc, %w ; %f = acquire %fin ; put %f.c, [%w, 0], %mine ; "
                 "commit %fin, %f } }\n"
                 "    role store { %p = program_id<0> ; %q = mul %p, 18 ; %t6 = mul %t, 6 ; %o = "
                 "add %q, %t6\n"
                 "      %f = wait %fin ; %c = get %f.c ; %r = reshape %c : i32[6] ; tstore %Z, "
                 "[%o], %r ; release %fin, %f } }\n"
                 "  return }\n",
                 seed, z, 36, NULL);
    for (int i = 0; i < 36; i++) CHECK(z[i] == 10 + i / 3 % 2);
}

/* --- sanitize --- */

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)); text++) count++;
    return count;
}

/* Runs on x[16] (written) and z[16] (not); the report must hold the words, once. */
static void sanitize_case(const char *body, int programs, const char *words) {
    char text[3000];
    snprintf(text, sizeof text, "kernel @k(%%x, %%z: *i32, %%n: i32) {\n%s\n  return }\n", body);
    int32_t memory[80], *x = memory + 16, *z = memory + 48; /* nothing beside them */
    for (int i = 0; i < 16; i++) x[i] = i;
    Bench b;
    bench_open(&b, text, NULL);
    bench_buffer(&b, "x", x, 64, true);
    bench_buffer(&b, "z", z, 64, false);
    bench_int(&b, 16);
    b.launch.sanitize = true;
    if (words) {
        BENCH_FAILS(&b, programs, 1, 1, words);
        CHECK(count_of(bench_errors(&b), "error:") == 1);
    } else {
        BENCH_RUN(&b, programs, 1, 1);
    }
    bench_close(&b);
}

static void sanitizer(void) {
    /* places: the op's own line, program and element */
    sanitize_case("%i = iota<0, 10> ; %p = program_id<0> ; %o = mul %p, 10 ; %a = add %o, %i ; %q "
                  "= ptr_add %x, %a\n%v = load %q",
                  2,
                  ": error: this access is out of bounds: index 16 of `x`, which has 16 elements "
                  "(program (1, 0, 0), element [6])");
    sanitize_case("%i = iota<0, 10> ; %p = program_id<0> ; %o = mul %p, 10 ; %a = add %o, %i ; %q "
                  "= ptr_add %x, %a ; %m = cmp<lt> %a, %n\n%v = load %q, %m",
                  2, NULL);
    sanitize_case("%q = ptr_add %z, -1 ; store %q, 5", 1, "index -1 of `z`, which has 16 elements");
    sanitize_case("%t = tensor %x, [20], [1] ; %v = tload %t, [10] : i32[10]", 1,
                  "(program (0, 0, 0), element [6])");
    sanitize_case("%t = tensor %x, [16], [1] ; %v = tload<nocheck> %t, [10] : i32[10]", 1,
                  "element [6]");
    sanitize_case("%v = load %z", 1,
                  "this reads index 0 of `z`, which nothing wrote (program (0, 0, 0), element [])");
    sanitize_case("store %z, 1 ; %v = load %z ; %w = add %v, 1 ; store %z, %w", 1, NULL);
    sanitize_case("%i = iota<0, 4> ; %q = ptr_add %z, %i ; %m = cmp<lt> %i, 3 ; store %q, %i, "
                  "%m\n%v = load %q",
                  1, "element [3]");
    sanitize_case("%b = buf : buf<i32[4], shared> ; %i = iota<0, 3> ; bstore %b, [0], %i ; %v = "
                  "bload %b, [0] : i32[4]\n%s = reduce<add, axis=0> %v",
                  1, "this uses a value that nothing wrote (program (0, 0, 0), element [3])");
    sanitize_case("%b = buf : buf<i32[4], shared> ; %i = iota<0, 4> ; bstore %b, [0], %i ; %v = "
                  "bload %b, [0] : i32[4] ; %s = reduce<add, axis=0> %v",
                  1, NULL);
    sanitize_case("%u = undef : i32[4] ; %i = iota<0, 4> ; %m = cmp<lt> %i, 2 ; %v = select %m, "
                  "%i, %u ; %w = add %v, 1 ; %e = permute<dims=[0]> %w\n"
                  "%q = ptr_add %z, %i ; store %q, %e, %m",
                  1, NULL);
    sanitize_case("%u = undef : i32[4] ; %i = iota<0, 4> ; %m = cmp<lt> %i, 2 ; %v = select %m, "
                  "%i, %u ; %w = add %v, 1 ; %e = flip<axis=0> %w\n"
                  "%q = ptr_add %z, %i ; store %q, %e, %m",
                  1, "this uses a value that nothing wrote (program (0, 0, 0), element [0])");
    sanitize_case("%p = program_id<0> ; %o = div %p, 2 ; %q = ptr_add %z, %o ; store %q, %p", 3,
                  "program (1, 0, 0) writes what program (0, 0, 0) wrote (index 0 of `z`, element [])");
    sanitize_case("%p = program_id<0> ; %q = ptr_add %z, %p ; store %q, %p ; store %q, 1", 3, NULL);
    sanitize_case("%v = atomic<xchg> %z, 1", 3, NULL);
    sanitize_case("%i = iota<0, 3> ; %m = mul %i, 1073741824 ; %e = sub %m, %m ; %q = ptr_add %x, "
                  "%e ; %v = load %q",
                  1,
                  "the offset of this access comes from arithmetic that overflowed (program (0, 0, 0), "
                  "element [2])");
    sanitize_case("%i = iota<0, 3> ; %m = mul %i, 1073741824 ; %e = sub %m, %m ; %q = ptr_add %x, "
                  "%e ; %k = cmp<lt> %i, 2 ; %v = load %q, %k",
                  1, NULL);
    sanitize_case("%i = iota<0, 3> ; %m = mul %i, 1103515245 ; %h = and %m, 15 ; %q = ptr_add %x, "
                  "%h ; %v = load %q",
                  1, NULL);
    sanitize_case("%i = iota<0, 3> ; %w = cast %i : i64[3] ; %m = mul %w, 1073741824 ; %e = sub "
                  "%m, %m ; %q = ptr_add %x, %e ; %v = load %q",
                  1, NULL);
    sanitize_case("%i = iota<-1, 2> ; %v = div 5, %i", 1, NULL); /* nobody relies on it */
    sanitize_case("%i = iota<-1, 2> ; %v = div 5, %i ; %q = ptr_add %z, %i ; %m = cmp<gt> %i, 0 ; "
                  "store %q, %v, %m",
                  1, NULL);
    sanitize_case("%i = iota<0, 3> ; %v = rem 5, %n ; %n0 = sub %n, 16 ; %w = mod 5, %n0", 1,
                  "integer division by zero (program (0, 0, 0), element [])");
    sanitize_case("%i = iota<-1, 2> ; %v = div 5, %i ; %w = add %v, 3 ; %j = add %i, 1 ; %q = "
                  "ptr_add %z, %j ; store %q, %w",
                  1,
                  "integer division by zero (program (0, 0, 0), element [1])");
    sanitize_case("%f = splat 0.0 : f32[2] ; %v = div 1.0, %f", 1, NULL);
    sanitize_case("%i = iota<30, 34> ; %v = shl 1, %i", 1,
                  "shift by 32, which is not in 0 .. 31 (program (0, 0, 0), element [2])");
    sanitize_case("%c = undef : i1 ; if %c { } { }", 1, "this uses a value that nothing wrote");
    sanitize_case("%i = iota<0, 3> ; %ok = cmp<ne> %i, 1 ; assert<message=\"odd\"> %ok", 1,
                  "assertion failed (program (0, 0, 0), element [1]): odd");
    sanitize_case("%i = iota<0, 3> ; %o = load %x ; %s = slice %i, [%o] : i32[2] ; %o2 = add %o, 2 "
                  "; %t = slice %i, [%o2] : i32[2]",
                  1, "offset 2 of axis 0 puts extent 2 outside 0 .. 3");
    /* several mistakes in one run, one report a place */
    Bench b;
    int32_t x[4] = {0};
    bench_open(&b,
               "kernel @k(%x: *i32) {\n%i = iota<2, 6> ; %q = ptr_add %x, %i\n%v = load %q\nstore "
               "%q, %v\n%w = div %v, 0 ; %wm = reduce<max, axis=0> %w\nreturn }",
               NULL);
    bench_buffer(&b, "x", x, sizeof x, true);
    b.launch.sanitize = true;
    BENCH_FAILS(&b, 5, 1, 1, "test.tir:4:");
    CHECK(count_of(bench_errors(&b), "out-of-bounds") == 2 &&
          count_of(bench_errors(&b), "division-by-zero") == 1);
    CHECK(count_of(bench_errors(&b), "[write-race]") == 1 &&
          count_of(bench_errors(&b), "[read-write-race]") == 1);
    CHECK(count_of(bench_errors(&b), "(and ") == 5);
    bench_close(&b);
}

static void limits(void) {
    Bench b;
    bench_open(&b,
               "kernel @k(%n: i32) {\n%x = while (%i = 0) { %go = cmp<ge> %i, 0 ; test %go, %i } "
               "do (%i) { yield %i }\nreturn }",
               NULL);
    bench_int(&b, 1);
    b.launch.budget = 100000;
    BENCH_FAILS(&b, 1, 1, 1, "stopped after 100000 element operations (program (0, 0, 0))");
    b.launch.budget = 0;
    b.launch.program_steps = 50000;
    BENCH_FAILS(&b, 1, 1, 1, "stopped after 50000 steps of one program (program (0, 0, 0))");
    bench_close(&b);
    /* of one program: a thousand short ones may take more */
    bench_open(&b, "kernel @k(%n: i32) {\nfor %i = 0, %n, 1 { }\nreturn }", NULL);
    bench_int(&b, 100);
    b.launch.program_steps = 1000;
    BENCH_RUN(&b, 1000, 1, 1);
    bench_close(&b);
    bench_open(&b, "kernel @k(%n: i32) {\nfor %i = 0, 10, %n { }\nreturn }", NULL);
    bench_int(&b, 0);
    BENCH_FAILS(&b, 1, 1, 1, "the step of this loop is 0");
    bench_close(&b);
    bench_open(&b, "kernel @k(%n: i32) {\nparallel %i in 2000000000 { }\nreturn }", NULL);
    bench_int(&b, 0);
    b.launch.budget = 1000;
    BENCH_FAILS(&b, 1, 1, 1, "stopped after 1000 element operations");
    bench_close(&b);
    bench_open(&b, "kernel @k(%n: i32) {\n%x = add %n, 1\nreturn }", NULL);
    bench_int(&b, 0);
    BENCH_FAILS(&b, 1 << 16, 1 << 16, 1, "a grid of 2^31 programs or more");
    bench_close(&b);
    /* without sanitize the first fault ends the launch; memory is safe all the same */
    bench_open(&b,
               "kernel @k(%x: *i32) {\n%p = ptr_add %x, 1000000\n%v = load %p\n%q = ptr_add %x, "
               "-5\nstore %q, %v\nreturn }",
               NULL);
    int32_t x = 3;
    bench_buffer(&b, "x", &x, sizeof x, true);
    BENCH_FAILS(&b, 1, 1, 1, "index 1000000 of `x`, which has 1 elements");
    CHECK(b.diag.errors == 1);
    bench_close(&b);
}

static bool parses(const char *body) {
    Trap trap;
    Arena arena;
    SourceMap sources;
    Diag diag;
    if (!TRAP_ARM(&trap)) abort();
    arena_init(&arena, allocator_malloc, &trap);
    source_init(&sources, &arena);
    diag_init(&diag, &arena, &sources);
    Module *m = ir_module_new(&arena, &diag, &sources);
    const char *text = arena_printf(&arena, "kernel @k(%%x: *i32) {\n%s\nreturn }\n", body);
    bool good = ir_parse(m, source_add(&sources, "bad.tir", text, strlen(text)));
    arena_free(&arena);
    return good;
}

/* Text that would read past something must not get as far as running. */
static void refused_texts(void) {
    static const char *const texts[] = {
        "%v = load %x, true, 0.5",
        "%i = iota<0, 4> ; %p = ptr_add %x, %i ; %j = iota<0, 3> ; %m = cmp<lt> %j, 2 ; %v = load "
        "%p, %m",
        "%i = iota<0, 4> ; %p = ptr_add %x, %i ; %w = splat 1 : i32[5] ; %v = atomic<add> %p, %w",
        "%i = iota<0, 4> ; %f = flip<axis=1> %i",
        "%i = iota<0, 4> ; %f = sort<axis=7> %i",
        "%i = iota<0, 4> ; %s = scan<add, axis=2> %i",
        "%i = iota<0, 4> ; %j = iota<0, 5> ; %a, %b = reduce<region, axis=0> %i, %j (%p: i32, %q: "
        "i32, %r: i32, "
        "%s: i32) { yield %p, %q }",
        "%t = tensor %x, [4], [1] ; %e = extent<1> %t",
        "%t = tensor %x, [4], [none] ; %e = extent<0> %t",
        "%i = iota<0, 2048> ; %a = expand<0> %i ; %b = expand<1> %i ; %c = add %a, %b",
        "%t = tensor %x, [4], [1] ; %m = splat true : i1[3] ; %v = tload %t, [0], %m : i32[4]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CHECK(!parses(texts[i]));
}

/* Memory runs out at each allocation in turn: the trap comes to the caller, nothing leaks. */
typedef struct Failing {
    int left;
} Failing;
static void *failing_resize(void *user, void *block, size_t old_size, size_t new_size) {
    Failing *f = user;
    if (new_size && f->left-- <= 0) return NULL;
    return allocator_malloc.resize(NULL, block, old_size, new_size);
}

/* True when the n allocations were enough. */
static bool run_starved(const char *text, int n, bool good) {
    Bench b;
    bench_open(&b, text, NULL);
    float x[16] = {0}, z[16];
    bench_tensor(&b, "X", x, true, 4, 1, 16);
    bench_tensor(&b, "Z", z, false, 4, 1, 16);
    b.launch.seed = (uint64_t)(n % 3);
    Failing failing = {n};
    Trap trap;
    Arena arena;
    Diag diag;
    arena_init(&arena, (Allocator){failing_resize, &failing}, &trap);
    diag_init(&diag, &arena, &b.sources);
    b.launch.arena = &arena;
    b.launch.diag = &diag;
    volatile bool enough = false;
    if (TRAP_ARM(&trap)) {
        CHECK(bench_run(&b, 1, 1, 1) == good);
        enough = true;
    }
    CHECK(enough || trap.code == TRAP_OUT_OF_MEMORY);
    CHECK(diag.arena->trap == &trap);
    arena_free(&arena);
    bench_close(&b);
    return enough;
}

static void out_of_memory(void) {
    static const char text[] =
        "kernel @k(%X, %Z: tensor<f32,1>) {\n"
        "  %in = ring<from=load, to=compute, slots=2> : {a: f32[4], n: i32}\n"
        "  tasks %t in 4 { %o = mul %t, 4\n role load { " PRODUCE " }\n role compute { " CONSUME
        " } }\n"
        "  return }\n";
    static const char wrong[] = "kernel @k(%X, %Z: tensor<f32,1>) {\n"
                                "  %b = buf : buf<f32[4], shared>\n"
                                "  spmd %w in 3 { %v = tload<nocheck> %X, [%w] : f32[65536] ; %c = "
                                "cmp<eq> %w, 0 ; if %c { sync } }\n"
                                "  return }\n";
    for (int n = 0; !run_starved(text, n, true); n++) {}
    for (int n = 0; !run_starved(wrong, n, false); n++) {}
}

static void grids(void) {
    Bench b;
    int64_t grid[3] = {0};
    bench_open(&b,
               "kernel @k(%x: *f32, %n, %m: i32) {\n"
               "  grid { %a = cdiv %n, 32 ; %c = add %m, 1 ; yield %a, %c }\n"
               "  return }\n",
               NULL);
    float x = 0;
    bench_buffer(&b, "x", &x, sizeof x, true);
    bench_int(&b, 100);
    bench_int(&b, 6);
    CHECK(interp_grid(&b.launch, grid));
    CHECK(grid[0] == 4 && grid[1] == 7 && grid[2] == 1);
    bench_close(&b);
}

int main(void) {
    refused_texts();
    out_of_memory();
    grids();
    rings();
    workers();
    sanitizer();
    limits();
    return check_done();
}
