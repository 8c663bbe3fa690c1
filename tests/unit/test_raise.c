/* SPDX-License-Identifier: Apache-2.0 */
/* test_raise.c: element loops, buffers and running sums, from IR text to IR text. */
#include "check.h"
#include "pass/pass.h"

/* Runs fold and raise over the text and compares with what is wanted (behind a ~: a part of it); or, when findings is given, with the findings. */
static void raised(const char *text, const char *want, const char *finding) {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
    arena_init(&arena, allocator_malloc, &trap);
    arena_init(&scratch, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        source_init(&sources, &arena);
        diag_init(&diag, &arena, &sources);
        Module *m = ir_module_new(&arena, &diag, &sources);
        CHECK(ir_parse(m, source_add(&sources, "t.ir", text, strlen(text))));
        PassContext cx = {
            .module = m, .machine = machine_find("interp"), .options = pass_options_default, .scratch = &scratch};
        PipelineRequest request = {.only = "fold,raise", .verify_each = true};
        bool good = m->kernels.count && pipeline_run(&cx, m->kernels.at[0], &request);
        pass_fold(&cx, m->kernels.at[0]);
        const char *got = good ? ir_print(m->kernels.at[0], &arena) : "";
        if (good && *want == '~')
            CHECK(strstr(got, want + 1) != NULL);
        else if (good)
            CHECK_TEXT(got, want);
        else
            CHECK_TEXT(diag_render(&diag, &arena), want);
        bool found = !finding;
        for (size_t i = 0; i < cx.findings.count; i++)
            found |= strstr(cx.findings.at[i].text, finding ? finding : "") != NULL;
        CHECK(found);
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
    arena_free(&scratch);
}

static void test_gemm(void) {
    raised("kernel @gemm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
           "  %bx = program_id<0> ; %by = program_id<1> ; %m = mul %by, 32 ; %n = mul %bx, 32\n"
           "  %As = buf : buf<f16[32,32], shared> ; %Bs = buf : buf<f16[32,32], shared>\n"
           "  %Ct = buf : buf<f16[32,32], local>\n"
           "  parallel %i, %j in 32, 32 { bstore %Ct, [%i, %j], 0.0 }\n"
           "  for %k = 0, %nk, 1 {\n"
           "    %kk = mul %k, 32\n"
           "    parallel %i, %j in 32, 32 {\n"
           "      %ai = add %m, %i ; %aj = add %kk, %j ; %x = tload %A, [%ai, %aj] : f16 ; bstore %As, [%i, %j], %x\n"
           "      %bi = add %kk, %i ; %bj = add %n, %j ; %y = tload %B, [%bi, %bj] : f16 ; bstore %Bs, [%i, %j], %y }\n"
           "    parallel %i, %j, %q in 32, 32, 32 {\n"
           "      %a = bload %As, [%i, %q] : f16 ; %b = bload %Bs, [%q, %j] : f16 ; %p = mul %a, %b\n"
           "      %c = bload %Ct, [%i, %j] : f16 ; %s = add %c, %p ; bstore %Ct, [%i, %j], %s } }\n"
           "  parallel %i, %j in 32, 32 {\n"
           "    %v = bload %Ct, [%i, %j] : f16 ; %ci = add %m, %i ; %cj = add %n, %j ; tstore %C, [%ci, %cj], %v }\n"
           "}\n",
           "kernel @gemm(%A, %B, %C: tensor<f16,2>, %nk: i32) {\n"
           "  %bx = program_id<0>\n"
           "  %by = program_id<1>\n"
           "  %m = mul %by, 32\n"
           "  %n = mul %bx, 32\n"
           "  %Ct = splat 0.0 : f32[32,32]\n"
           "  %Ct_1 = for %k = 0, %nk, 1 (%Ct_2 = %Ct) {\n"
           "    %kk = mul %k, 32\n"
           "    %x = tload %A, [%m, %kk] : f16[32,32]\n"
           "    %y = tload %B, [%kk, %n] : f16[32,32]\n"
           "    %Ct_3 = dot %x, %y, %Ct_2\n"
           "    yield %Ct_3\n"
           "  }\n"
           "  %0 = cast %Ct_1 : f16[32,32]\n"
           "  tstore %C, [%m, %n], %0\n"
           "}\n",
           "the f16 sum is carried in f32");
}

static void test_elementwise(void) {
    raised("kernel @add(%A, %B, %C: tensor<f32,2>, %m, %n: i32) {\n"
           "  parallel %i, %j in 8, 3 {\n"
           "    %r = add %m, %i ; %c = add %n, %j ; %x = tload %A, [%r, %c] : f32 ; %y = tload %B, [%c, %r] : f32\n"
           "    %s = add %x, %y ; %ii = cast %i : f32 ; %t = mul %s, %ii ; tstore %C, [%r, %c], %t }\n"
           "}\n",
           "kernel @add(%A, %B, %C: tensor<f32,2>, %m, %n: i32) {\n"
           "  %x = tload %A, [%m, %n] : f32[8,3]\n"
           "  %y = tload %B, [%n, %m] : f32[3,8]\n"
           "  %0 = permute<dims=[1,0]> %y\n"
           "  %s = add %x, %0\n"
           "  %1 = iota<0, 8>\n"
           "  %ii = cast %1 : f32[8]\n"
           "  %2 = reshape %ii : f32[8,1]\n"
           "  %t = mul %s, %2\n"
           "  tstore %C, [%m, %n], %t\n"
           "}\n",
           NULL);
}

static void test_row_sum(void) {
    raised("kernel @rows(%A: tensor<f16,2>, %B: tensor<f16,1>, %N: i32) {\n"
           "  %bx = program_id<0> ; %m = mul %bx, 32\n"
           "  %ps = buf : buf<f32[32], local>\n"
           "  parallel %i in 32 { bstore %ps, [%i], 0.0 }\n"
           "  for %j = 0, %N, 1 {\n"
           "    parallel %i in 32 {\n"
           "      %r = add %m, %i ; %x = tload %A, [%r, %j] : f16 ; %f = cast %x : f32\n"
           "      %c = bload %ps, [%i] : f32 ; %s = add %c, %f ; bstore %ps, [%i], %s } }\n"
           "  parallel %i in 32 { %c = bload %ps, [%i] : f32 ; %h = cast %c : f16 ; %r = add %m, %i ; tstore %B, [%r], "
           "%h }\n"
           "}\n",
           "kernel @rows(%A: tensor<f16,2>, %B: tensor<f16,1>, %N: i32) {\n"
           "  %bx = program_id<0>\n"
           "  %m = mul %bx, 32\n"
           "  %ps = splat 0.0 : f32[32]\n"
           "  %0 = cdiv %N, 128\n"
           "  %ps_1 = for %j = 0, %0, 1 (%1 = %ps) {\n"
           "    %2 = mul %j, 128\n"
           "    %x = tload %A, [%m, %2] : f16[32,128]\n"
           "    %f = cast %x : f32[32,128]\n"
           "    %3 = iota<0, 128>\n"
           "    %4 = add %3, %2\n"
           "    %5 = cmp<lt> %4, %N\n"
           "    %6 = reshape %5 : i1[1,128]\n"
           "    %7 = select %6, %f, 0.0\n"
           "    %8 = reduce<add, axis=1> %7\n"
           "    %9 = add %1, %8\n"
           "    yield %9\n"
           "  }\n"
           "  %h = cast %ps_1 : f16[32]\n"
           "  tstore %B, [%m], %h\n"
           "}\n",
           "blocks of 128");
}

/* A loop that ends at the tensor's own extent needs no mask: beyond it the tensor reads 0. */
static void test_whole_row_sum(void) {
    raised("kernel @w(%p: *f32, %B: *f32) {\n"
           "  %A = tensor %p, [7, 300], [300, 1] ; %z = splat 0.0 : f32[7]\n"
           "  %s = for %j = 0, 300, 1 (%a = %z) { %x = tload<dims=[0]> %A, [0, %j] : f32[7] ; %b = add %a, %x ; yield "
           "%b }\n"
           "  %o = tensor %B, [7], [1] ; tstore %o, [0], %s\n"
           "}\n",
           "kernel @w(%p, %B: *f32) {\n"
           "  %A = tensor %p, [7, 300], [300, 1]\n"
           "  %z = splat 0.0 : f32[7]\n"
           "  %s = for %j = 0, 3, 1 (%0 = %z) {\n"
           "    %1 = mul %j, 128\n"
           "    %x = tload %A, [0, %1] : f32[7,128]\n"
           "    %2 = reduce<add, axis=1> %x\n"
           "    %3 = add %0, %2\n"
           "    yield %3\n"
           "  }\n"
           "  %o = tensor %B, [7], [1]\n"
           "  tstore %o, [0], %s\n"
           "}\n",
           "the running add");
}

/* Places that move on with the trip, however they are written; what is read beyond the end is not looked at. */
static void test_shifted_sum(void) {
    raised("kernel @v(%A: tensor<f32,2>, %B: *f32, %m, %c: i32) {\n"
           "  %z = splat 0.0 : f32[4]\n"
           "  %s = for %j = 0, 300, 1 (%a = %z) { %q = add %j, %c ; %r = add %q, 1 ; %w = cast %r : i64\n"
           "    %x = tload<dims=[0], nocheck> %A, [%m, %w] : f32[4] ; %b = add %a, %x ; yield %b }\n"
           "  %o = tensor %B, [4], [1] ; tstore %o, [0], %s\n"
           "}\n",
           "kernel @v(%A: tensor<f32,2>, %B: *f32, %m, %c: i32) {\n"
           "  %z = splat 0.0 : f32[4]\n"
           "  %s = for %j = 0, 3, 1 (%0 = %z) {\n"
           "    %1 = mul %j, 128\n"
           "    %q = add %1, %c\n"
           "    %r = add %q, 1\n"
           "    %w = cast %r : i64\n"
           "    %x = tload %A, [%m, %w] : f32[4,128]\n"
           "    %2 = iota<0, 128>\n"
           "    %3 = add %2, %1\n"
           "    %4 = cmp<lt> %3, 300\n"
           "    %5 = reshape %4 : i1[1,128]\n"
           "    %6 = select %5, %x, 0.0\n"
           "    %7 = reduce<add, axis=1> %6\n"
           "    %8 = add %0, %7\n"
           "    yield %8\n"
           "  }\n"
           "  %o = tensor %B, [4], [1]\n"
           "  tstore %o, [0], %s\n"
           "}\n",
           "the running add");
#define MOVES(at)                                                                             \
    "kernel @m(%A: tensor<f32,2>, %B: *f32, %m: i32) {\n"                                     \
    "  %z = splat 0.0 : f32[4]\n"                                                             \
    "  %s = for %j = 0, 300, 1 (%a = %z) {\n    " at "    %b = add %a, %x\n    yield %b\n  }\n" \
    "  %o = tensor %B, [4], [1] ; tstore %o, [0], %s\n}\n"
    raised(MOVES("%q = mul %j, 2\n    %x = tload<dims=[0]> %A, [%m, %q] : f32[4]\n"), "~%j = 0, 300, 1", NULL);
    raised(MOVES("%q = add %j, %m\n    %x = tload<dims=[0]> %A, [%q, %j] : f32[4]\n"), "~%j = 0, 300, 1", NULL);
    raised(MOVES("%q = add %j, %m\n    %y = tload<dims=[0]> %A, [%m, %q] : f32[4]\n    %f = cast %q : f32\n"
                 "    %x = mul %y, %f\n"),
           "~%j = 0, 300, 1", NULL);
}

static void test_buffers(void) {
    raised("kernel @b(%p: *f32, %n: i32, %q: i1) {\n"
           "  %T = buf : buf<f32[4,4], shared> ; %z = splat 1.0 : f32[4,4] ; bstore %T, [0, 0], %z ; sync<unit=block>\n"
           "  if %q { %o = splat 2.0 : f32[4] ; bstore %T, [%n, 0], %o }\n"
           "  %e = bload %T, [%n, 1] : f32 ; store %p, %e\n"
           "}\n",
           "kernel @b(%p: *f32, %n: i32, %q: i1) {\n"
           "  %z = splat 1.0 : f32[4,4]\n"
           "  sync<unit=block>\n"
           "  %0 = if %q {\n"
           "    %1 = splat 2.0 : f32[1,4]\n"
           "    %T = insert %z, [%n, 0], %1\n"
           "    yield %T\n"
           "  } {\n"
           "    yield %z\n"
           "  }\n"
           "  %2 = slice %0, [%n, 1] : f32[1,1]\n"
           "  %3 = reshape %2 : f32\n"
           "  store %p, %3\n"
           "}\n",
           NULL);
    raised("kernel @u(%p: *f32) { %T = buf : buf<f32[4], shared> ; %e = bload %T, [0] : f32 ; store %p, %e }",
           "t.ir:1:57: error: this buffer is read before anything is written to it; fill or copy into it first "
           "[read-before-write]\n"
           "    1 | kernel @u(%p: *f32) { %T = buf : buf<f32[4], shared> ; %e = bload %T, [0] : f32 ; store %p, %e }\n"
           "      |                                                         ^~~~~~~~~\n",
           NULL);
}

static void test_in_order(void) {
#define SHIFT(loop) \
    "kernel @s(%A: tensor<f32,1>) {\n  " loop \
    "    %j = add %i, 1\n    %x = tload %A, [%j] : f32\n    tstore %A, [%i], %x\n  }\n}\n"
    raised(SHIFT("parallel %i in 8 {\n"), SHIFT("for %i = 0, 8, 1 {\n"), "its iterations have no order");
}

/* However the sum is written, and however often: it is the place that counts. */
static void test_sums_of_indices(void) {
    raised("kernel @i(%A: tensor<f32,1>, %m, %n: i32) {\n"
           "  parallel %i in 8 {\n"
           "    %g = neg %i ; %p = sub %m, %g ; %q = add %p, %n\n"
           "    %x = tload %A, [%q] : f32 ; %y = mul %x, 2.0\n"
           "    %r = add %n, %i ; %s = add %r, %m\n"
           "    tstore %A, [%s], %y }\n"
           "}\n",
           "kernel @i(%A: tensor<f32,1>, %m, %n: i32) {\n"
           "  %0 = add %m, %n\n"
           "  %x = tload %A, [%0] : f32[8]\n"
           "  %y = mul %x, 2.0\n"
           "  %1 = add %n, %m\n"
           "  tstore %A, [%1], %y\n"
           "}\n",
           NULL);
    raised("kernel @n(%A: tensor<f32,1>, %n: i32) {\n"
           "  parallel %i in 8 { %j = mul %i, %n ; tstore %A, [%j], 1.0 }\n"
           "}\n",
           "~store %", NULL);
}

/* A sum that something else of the body sees is no `reduce`; an integer product wraps in its own type. */
static void test_cells(void) {
#define CELLS(element, updates)                                   \
    "kernel @c(%A: tensor<" element ",2>, %C: tensor<i32,1>) {\n" \
    "  %T = buf : buf<i32[8], local> ; %z = splat 0 : i32[8]\n"   \
    "  bstore %T, [0], %z\n"                                      \
    "  parallel %i, %j in 8, 4 {\n"                               \
    "    %a = tload %A, [%i, %j] : " element "\n"                 \
    "    %t = bload %T, [%i] : i32\n" updates "  }\n"             \
    "  %r = bload %T, [0] : i32[8] ; tstore %C, [0], %r\n}\n"
    static const char *const kept[][2] = {
        {CELLS("i32", "    %m = mul %t, %a\n    %s = add %t, %m\n    bstore %T, [%i], %s\n"),
         "with an e that does not read it"},
        {CELLS("i32", "    %s = add %t, %t\n    bstore %T, [%i], %s\n"), "with an e that does not read it"},
        {CELLS("i32",
               "    %s = add %t, %a\n    bstore %T, [%i], %s\n    %u = bload %T, [%i] : i32\n    %v = mul %u, %a\n"
               "    bstore %T, [%i], %v\n"),
         "between two updates"},
        {CELLS("i32", "    %s = add %t, %a\n    bstore %T, [%i], %s\n    bstore %T, [%i], %a\n"),
         "updated in two ways"},
        {CELLS("f32", "    %f = cast %t : f32\n    %s = add %f, %a\n    %w = cast %s : i32\n    bstore %T, [%i], %w\n"),
         "must be `cell = cell op e`"},
        {CELLS("i8", "    %n = cast %t : i8\n    %s = add %n, %a\n    %w = cast %s : i32\n    bstore %T, [%i], %w\n"),
         "must be `cell = cell op e`"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) raised(kept[i][0], "~for %j", kept[i][1]);
    raised(CELLS("i32",
                 "    %s = add %t, %a\n    bstore %T, [%i], %s\n    %u = bload %T, [%i] : i32\n    %v = add %a, %u\n"
                 "    bstore %T, [%i], %v\n"),
           "~reduce<add", NULL);
#define PRODUCTS(products)                                                                             \
    "kernel @p(%A, %B: tensor<i8,2>, %C: tensor<i32,2>) {\n"                                           \
    "  %T = buf : buf<i32[8,8], local> ; %z = splat 0 : i32[8,8]\n"                                    \
    "  bstore %T, [0, 0], %z\n"                                                                        \
    "  parallel %i, %j, %k in 8, 8, 8 {\n"                                                             \
    "    %a = tload %A, [%i, %k] : i8 ; %b = tload %B, [%k, %j] : i8\n"                                \
    "    %t = bload %T, [%i, %j] : i32\n" products "    %s = add %t, %p ; bstore %T, [%i, %j], %s }\n" \
    "  %r = bload %T, [0, 0] : i32[8,8] ; tstore %C, [0, 0], %r\n}\n"
    raised(PRODUCTS("    %m = mul %a, %b ; %p = cast %m : i32\n"), "~reduce<add", NULL);
    raised(PRODUCTS("    %x = cast %a : i32 ; %y = cast %b : i32 ; %p = mul %x, %y\n"), "~dot %a, %b", NULL);
}

/* What runs in order, and why: one text for each reason that the goldens (tests/pass/raise_*.ir) do not have. */
static void test_reasons(void) {
#define BODY(body)                                                                                                     \
    "kernel @r(%A: tensor<f32,2>, %p: *f32, %T: tensor<f32,1>, %n: i32) {\n"                                           \
    "  %B = buf : buf<f32[8,8], shared> ; %z = splat 0.0 : f32[8,8] ; bstore %B, [0, 0], %z\n"                         \
    "  " body "\n  %r = bload %B, [0, 0] : f32[8,8] ; tstore %A, [0, 0], %r\n}\n"
    static const char *const kept[][3] = {
        {BODY("parallel %i, %j in 8, 8 { %x = tload %A, [0, 0] : f32[4] ; %s = reduce<add, axis=0> %x ; bstore %B, [%i, "
              "%j], %s }"),
         "~for %j", "`reduce` is no operation on single elements"},
        {BODY("parallel %i, %j in 8, 8 { %x = bload %B, [%i, 0] : f32[1,8] ; tstore %A, [%i, %j], %x }"), "~for %j",
         "this writes a whole tile for each element"},
        {BODY("parallel %i in 8 { %q = ptr_add %p, %i ; %x = load<volatile> %q ; tstore %T, [%i], %x }"), "~for %i",
         "a volatile load"},
        {BODY("parallel %i in 8 { %x = tload<wrap=[0]> %T, [%i] : f32 ; bstore %B, [%i, 0], %x }"), "~for %i",
         "wraps around"},
        {BODY("parallel %i in 8 { print %i }"), "~for %i", "`print` cannot stand inside of an element loop here"},
        {BODY("parallel %i in 8 { %x = while (%a = %i) { %c = cmp<lt> %a, 5 ; test %c, %a } do (%b) { %d = add %b, 2 ; "
              "yield %d }\n    %f = cast %x : f32 ; tstore %T, [%i], %f }"),
         "~for %i", "`while`"},
        {BODY("parallel %i in 8 { parallel %j in %n { bstore %B, [%i, %j], 1.0 } }"), "~for %i",
         "the extents of an inner element loop must be constants"},
        {BODY("parallel %i in %n { bstore %B, [%i, 0], 1.0 ; bstore %B, [%n, 0], 2.0 }"), "~for %i",
         "several iterations write one place"},
    };
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) raised(kept[i][0], kept[i][1], kept[i][2]);
    /* masks of the source's own are raised */
    raised(BODY("parallel %i in 8 { %c = cmp<lt> %i, %n ; %x = tload<fill=2.0> %T, [%i], %c : f32 ; bstore %B, [%i, 0], %x }"),
           "~load %", NULL);
    raised(BODY("parallel %i in 8 { %c = cmp<lt> %i, %n ; tstore %T, [%i], 1.0, %c }"), "~tstore %T, [0], %", NULL);
}

int main(void) {
    test_gemm();
    test_elementwise();
    test_row_sum();
    test_whole_row_sum();
    test_shifted_sum();
    test_buffers();
    test_in_order();
    test_sums_of_indices();
    test_cells();
    test_reasons();
    return check_done();
}
