/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_bits.c: the passes change no bit.
 *
 * Each kernel runs in the interpreter as it was written (with its sums stamped and its
 * multiply-adds fused, which is decided once), after `access`, as roles over rings with one to four
 * slots, persistent or not, under random orders of roles and programs, and flattened again. All
 * results must be equal, on full, ragged, tiny and empty shapes. */
#include "check.h"
#include "ir/interp/interp.h"
#include "pass/pass.h"
#include "pass/ring/ring.h"

#include <stdlib.h>

enum { ROOM = 48 * 48 }; /* elements of every array */

typedef struct Program {
    const char *name, *text;
    int arrays;  /* the first arguments, f32, the last one written */
    int numbers; /* then i32 numbers */
    int64_t (*grid)(const int *numbers);
} Program;

static int64_t cdiv(int64_t a, int64_t b) {
    return (a + b - 1) / b;
}

/* --- kernels --- */

static const char matmul[] =
    "kernel @mm(%A, %B, %C: *f32, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pid = program_id<0> ; %nm = cdiv %M, 16 ; %nn = cdiv %N, 8 ; %pg = mul %nn, 2 ; %g = div "
    "%pid, %pg\n"
    "  %fm = mul %g, 2 ; %gl = sub %nm, %fm ; %gs = min %gl, 2 ; %r = rem %pid, %pg ; %ri = rem "
    "%r, %gs\n"
    "  %pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, 16 ; %n = mul %pn, 8\n"
    "  %im = iota<0, 16> ; %in = iota<0, 8> ; %ik = iota<0, 4> ; %rm = add %m, %im ; %rn = add %n, "
    "%in\n"
    "  %wm = rem %rm, %M ; %w0 = expand<1> %wm ; %w1 = mul %w0, %sa ; %k0 = expand<0> %ik ; %oa = "
    "add %w1, %k0\n"
    "  %wn = rem %rn, %N ; %w2 = expand<0> %wn ; %k1 = expand<1> %ik ; %k2 = mul %k1, %sb ; %ob = "
    "add %k2, %w2\n"
    "  %pa0 = ptr_add %A, %oa ; %pb0 = ptr_add %B, %ob ; %z = splat 0.0 : f32[16,8] ; %nk = cdiv "
    "%K, 4 ; %db = mul %sb, 4\n"
    "  %acc, %pa9, %pb9 = for %k = 0, %nk, 1 (%c = %z, %pa = %pa0, %pb = %pb0) {\n"
    "    %kk = mul %k, 4 ; %left = sub %K, %kk ; %ma = cmp<lt> %k0, %left ; %mb = cmp<lt> %k1, "
    "%left\n"
    "    %a = load %pa, %ma, 0.0 ; %b = load %pb, %mb, 0.0 ; %c1 = dot %a, %b, %c\n"
    "    %pa1 = ptr_add %pa, 4 ; %pb1 = ptr_add %pb, %db ; yield %c1, %pa1, %pb1 }\n"
    "  %h = mul %acc, 0.5 ; %r0 = expand<1> %rm ; %r1 = mul %r0, %sc ; %r2 = expand<0> %rn ; %oc = "
    "add %r1, %r2\n"
    "  %pc = ptr_add %C, %oc ; %m0 = cmp<lt> %r0, %M ; %m1 = cmp<lt> %r2, %N ; %mc = and %m0, %m1 "
    "; store %pc, %h, %mc\n"
    "  return }\n";
static int64_t matmul_grid(const int *n) {
    return cdiv(n[0], 16) * cdiv(n[1], 8);
}

/* B is read transposed, in steps of the loop's own variable, without wrap-around; a bias along N.
 */
static const char transposed[] =
    "kernel @mt(%A, %B, %D, %C: *f32, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pid = program_id<0> ; %nn = cdiv %N, 8 ; %pm = div %pid, %nn ; %pn = rem %pid, %nn\n"
    "  %m = mul %pm, 8 ; %n = mul %pn, 8 ; %im = iota<0, 8> ; %rm = add %m, %im ; %rn = add %n, "
    "%im ; %ik = iota<0, 6>\n"
    "  %r0 = expand<1> %rm ; %c0 = expand<0> %rn ; %z = splat 0.0 : f32[8,8] ; %m0 = cmp<lt> %r0, "
    "%M ; %n0 = cmp<lt> %c0, %N\n"
    "  %acc = for %k = 0, %K, 6 (%c = %z) {\n"
    "    %rk = add %ik, %k ; %ka = expand<0> %rk ; %kb = expand<1> %rk\n"
    "    %x0 = mul %r0, %sa ; %x1 = add %x0, %ka ; %pa = ptr_add %A, %x1 ; %ma = cmp<lt> %ka, %K ; "
    "%mm = and %ma, %m0\n"
    "    %y0 = mul %c0, %sb ; %y1 = add %y0, %kb ; %pb = ptr_add %B, %y1 ; %mb = cmp<lt> %kb, %K ; "
    "%mn = and %mb, %n0\n"
    "    %a = load %pa, %mm ; %b = load %pb, %mn ; %c1 = dot %a, %b, %c ; yield %c1 }\n"
    "  %pd = ptr_add %D, %rn ; %md = cmp<lt> %rn, %N ; %d = load %pd, %md ; %d0 = expand<0> %d ; "
    "%e = add %acc, %d0\n"
    "  %o0 = mul %r0, %sc ; %o1 = add %o0, %c0 ; %pc = ptr_add %C, %o1 ; %mc = and %m0, %n0 ; "
    "store %pc, %e, %mc\n"
    "  return }\n";
static int64_t transposed_grid(const int *n) {
    return cdiv(n[0], 8) * cdiv(n[1], 8);
}

/* Rows: two passes over the columns, a running sum carried between, then each row scaled. */
static const char rows[] =
    "kernel @rows(%X, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
    "  %row = program_id<0> ; %i = iota<0, 16> ; %x0 = mul %row, %sx ; %px = ptr_add %X, %x0 ; %y0 "
    "= mul %row, %sy ; %py = ptr_add %Y, %y0\n"
    "  %z = splat 0.0 : f32[16] ; %ok = cmp<lt> %row, %R ; %oks = splat %ok : i1[16]\n"
    "  %s, %p9 = for %c = 0, %C, 16 (%a = %z, %p = %px) {\n"
    "    %o = add %i, %c ; %in = cmp<lt> %o, %C ; %m = and %in, %oks ; %q = ptr_add %p, %i ; %v = "
    "load %q, %m, 0.0\n"
    "    %vv = mul %v, %v ; %b = add %a, %vv ; %p1 = ptr_add %p, 16 ; yield %b, %p1 }\n"
    "  %t = reduce<add, axis=0> %s ; %n = add %t, 1.0\n"
    "  for %c = 0, %C, 16 {\n"
    "    %o = add %i, %c ; %in = cmp<lt> %o, %C ; %m = and %in, %oks ; %q = ptr_add %px, %o ; %v = "
    "load %q, %m, 0.0\n"
    "    %w = div %v, %n ; %u = ptr_add %py, %o ; store %u, %w, %m }\n"
    "  return }\n";
static int64_t rows_grid(const int *n) {
    return n[0] + 1;
} /* one program too many, masked off */

/* A softmax over one tile a row, and a scalar read for each row that decides whether it is done at
 * all. */
static const char softmax[] = "kernel @softmax(%X, %S, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
                              "  %row = program_id<0> ; %i = iota<0, 32> ; %x0 = mul %row, %sx ; "
                              "%px = ptr_add %X, %x0 ; %q = ptr_add %px, %i ; %m = cmp<lt> %i, %C\n"
                              "  %ps = ptr_add %S, %row ; %s = load %ps ; %go = cmp<gt> %s, 0.0\n"
                              "  if %go {\n"
                              "    %x = load %q, %m, -inf ; %mx = reduce<max, axis=0> %x ; %d = "
                              "sub %x, %mx ; %e = exp %d ; %t = reduce<add, axis=0> %e\n"
                              "    %y = div %e, %t ; %y0 = mul %row, %sy ; %py = ptr_add %Y, %y0 ; "
                              "%u = ptr_add %py, %i ; store %u, %y, %m\n"
                              "    yield } { yield }\n"
                              "  return }\n";
static int64_t softmax_grid(const int *n) {
    return n[0];
}

/* In place, with neighbours: the load of a trip must see what the trip before stored. */
static const char in_place[] = "kernel @chain(%X: *f32, %n: i32) {\n"
                               "  %i = iota<0, 8>\n"
                               "  for %k = 0, %n, 1 {\n"
                               "    %o = mul %k, 4 ; %j = add %i, %o ; %p = ptr_add %X, %j ; %x = "
                               "load %p ; %y = mul %x, 1.5 ; %z = add %y, 1.0 ; store %p, %z }\n"
                               "  return }\n";
static int64_t in_place_grid(const int *n) {
    return n[0] >= 0;
}

/* Shifted, strided, thinned out, one by one; a row of its own stride; scalars under a mask. */
static const char kinds[] =
    "kernel @kinds(%X, %Y: *f32, %n, %b, %sb: i32) {\n"
    "  %pid = program_id<0> ; %i = iota<0, 16> ; %s = mul %pid, 16 ; %o = add %s, %i ; %m = "
    "cmp<lt> %o, %n\n"
    "  %p0 = ptr_add %X, %pid ; %x0 = load %p0 ; %in = cmp<lt> %pid, %b ; %x1 = load %p0, %in, "
    "1.0\n"
    "  %back = sub %o, 3 ; %pb = ptr_add %X, %back ; %lo = cmp<ge> %back, 0 ; %ml = and %lo, %m ; "
    "%h = load %pb, %ml, 7.0\n"
    "  %far = ptr_add %X, 40 ; %pf = ptr_add %far, %back ; %h2 = load %pf, %m, 2.0\n"
    "  %two = mul %o, 2 ; %pt = ptr_add %X, %two ; %t = load %pt, %m\n"
    "  %even = and %o, 1 ; %ev = cmp<eq> %even, 0 ; %me = and %m, %ev ; %pe = ptr_add %X, %o ; %e "
    "= load %pe, %me, -1.0\n"
    "  %bo = mul %b, %sb ; %bp = ptr_add %X, %bo ; %bq = ptr_add %bp, %o ; %f = load %bq, %m\n"
    "  %po = mul %pid, %sb ; %pp = ptr_add %X, %po ; %pq = ptr_add %pp, %i ; %r = load %pq\n"
    "  %a2 = add %h, %h2 ; %a3 = add %a2, %t ; %a4 = add %a3, %e ; %a5 = add %a4, %f ; %a6 = add "
    "%a5, %r ; %a7 = add %a6, %x0 ; %a8 = add %a7, %x1\n"
    "  %py = ptr_add %Y, %o ; store %py, %a8, %m\n"
    "  %one = iota<0, 1> ; %o1 = add %one, %pid ; %o2 = add %o1, 1000 ; %p1 = ptr_add %Y, %o2 ; "
    "%v1 = load %p1 ; %w1 = add %v1, 1.0 ; store %p1, %w1\n"
    "  return }\n";
static int64_t kinds_grid(const int *n) {
    return cdiv(n[0], 16);
}

/* --- running --- */

static uint64_t state = 1;
static uint32_t random_number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

typedef struct Way {
    const char *title, *only, *machine;
    int roles, stages, persist;
    uint64_t seed;
    bool flatten;
    int generic;
} Way;

static bool run(const Program *p, const Way *way, const int *numbers, float (*arrays)[ROOM]) {
    Trap trap;
    Arena arena, scratch;
    volatile bool good = false;
    arena_init(&arena, allocator_malloc, &trap);
    arena_init(&scratch, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        SourceMap sources;
        Diag diag;
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        PassContext cx = {.module = m,
                          .machine = machine_find(way->machine),
                          .options = pass_options_default,
                          .scratch = &scratch};
        cx.options.roles = way->roles;
        cx.options.num_stages = way->stages;
        cx.options.persist = way->persist;
        cx.options.generic = way->generic;
        if (ir_parse(m, source_add(&sources, p->name, p->text, strlen(p->text)))) {
            Kernel *k = m->kernels.at[0];
            pipeline_run(&cx, k, &(PipelineRequest){.verify_each = true, .only = way->only});
            const char *why = "flattened";
            if (way->flatten && !ring_flatten(k, &scratch, &why)) CHECK_TEXT(why, "");
            if (way->flatten)
                CHECK(ir_verify(k, FORM_RING, &diag) && !strstr(ir_print(k, &arena), "ring<"));
            InterpArg args[16] = {{0}};
            InterpRegion regions[8];
            for (int i = 0; i < p->arrays; i++) {
                args[i].pointer = arrays[i];
                regions[i] = (InterpRegion){"array", arrays[i], sizeof arrays[i], true};
            }
            for (int i = 0; i < p->numbers; i++) args[p->arrays + i].bits = (uint64_t)numbers[i];
            InterpLaunch launch = {.kernel = k,
                                   .grid = {p->grid(numbers), 1, 1},
                                   .args = args,
                                   .arg_count = p->arrays + p->numbers,
                                   .regions = regions,
                                   .region_count = p->arrays,
                                   .seed = way->seed,
                                   .workers = 1 + (int)(way->seed % 3),
                                   .arena = &arena,
                                   .diag = &diag};
            good = diag.errors == 0 && interp_run(&launch);
        }
        CHECK_TEXT(diag_render(&diag, &arena), "");
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
    arena_free(&scratch);
    return good;
}

static void compare(const Program *p, const int *numbers) {
    static float first[6][ROOM], want[6][ROOM], got[6][ROOM];
    static const Way ways[] = {
        {"source", "fold,contract,stamp", "interp", 0, 3, 0, 0, false,
         REQUIRE_ALL}, /* the meaning */
        {"access", "fold,access,contract,stamp", "interp", 0, 3, 0, 0, false, REQUIRE_ALL},
        {"access, another order", "fold,access,contract,stamp", "interp", 0, 3, 0, 7, false,
         REQUIRE_ALL},
        {"one slot", "fold,access,contract,stamp,ring", "interp", 1, 1, 0, 0, false, REQUIRE_ALL},
        {"two slots", "fold,access,contract,stamp,ring", "interp", 1, 2, 1, 3, false, REQUIRE_ALL},
        {"three slots", "fold,access,contract,stamp,ring", "interp", 1, 3, 0, 11, false,
         REQUIRE_ALL},
        {"four slots", "fold,access,contract,stamp,ring", "interp", 1, 4, 1, 29, false,
         REQUIRE_ALL},
        {"roles always", "fold,access,contract,stamp,ring", "tenstorrent", -1, -1, -1, 5, false,
         REQUIRE_ALL},
        {"flattened", "fold,access,contract,stamp,ring", "interp", 1, 3, 0, 0, true, REQUIRE_ALL},
        {"nothing required", "fold,access,contract,stamp", "interp", 0, 3, 0, 0, false,
         REQUIRE_NOTHING},
        {"little required", "fold,access,contract,stamp,ring", "interp", 1, 3, 0, 4, false,
         REQUIRE_USUAL},
        {"nothing required, roles", "fold,access,contract,stamp,ring", "interp", 1, 3, 0, 2, false,
         REQUIRE_NOTHING},
    };
    for (int i = 0; i < p->arrays; i++)
        for (int j = 0; j < ROOM; j++)
            first[i][j] = (float)((int)(random_number() % 2001) - 1000) / 128.0f;
    memcpy(want, first, sizeof want);
    CHECK(run(p, &ways[0], numbers, want));
    for (size_t w = 1; w < sizeof ways / sizeof *ways; w++) {
        memcpy(got, first, sizeof got);
        CHECK(run(p, &ways[w], numbers, got));
        bool equal = memcmp(got, want, sizeof got) == 0;
        CHECK(equal);
        if (equal) continue;
        fprintf(stderr, "  %s, %s:", p->name, ways[w].title);
        for (int i = 0; i < p->numbers; i++) fprintf(stderr, " %d", numbers[i]);
        fprintf(stderr, "\n");
    }
}

int main(void) {
    static const Program programs[] = {{"matmul", matmul, 3, 6, matmul_grid},
                                       {"transposed", transposed, 4, 6, transposed_grid},
                                       {"rows", rows, 2, 4, rows_grid},
                                       {"softmax", softmax, 3, 4, softmax_grid},
                                       {"in place", in_place, 1, 1, in_place_grid},
                                       {"kinds", kinds, 2, 3, kinds_grid}};
    static const int sizes[][3] = {{32, 16, 8}, {40, 20, 9}, {1, 1, 1},
                                   {17, 5, 0},  {0, 3, 4},   {3, 32, 13}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const int *n = sizes[s];
        int all[6] = {n[0], n[1], n[2], 44, 45, 46};
        int rows_of[4] = {n[0], n[1], 44, 45};
        int few[1] = {n[1]};
        compare(&programs[0], all);
        compare(&programs[1], all);
        compare(&programs[2], rows_of);
        compare(&programs[3], rows_of);
        compare(&programs[4], few);
        int three[3] = {4 * n[0], n[1], 20};
        compare(&programs[5], three);
    }
    return check_done();
}
