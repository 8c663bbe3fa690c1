/* SPDX-License-Identifier: Apache-2.0 */
/* test_tilec.c: the Tile C door: IR of small kernels as text, and every message that names a rule
 * of the language. */
#include "check.h"
#include "front/front.h"

#include <stdlib.h>

typedef struct Fixture {
    Arena arena;
    Trap trap;
    SourceMap sources;
    Diag diag;
} Fixture;

/* The IR of the file's last kernel, or the messages. */
static const char *lower(Fixture *fx, const char *text) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    FrontUnit unit = {.arena = &fx->arena, .diag = &fx->diag, .sources = &fx->sources};
    unit.door = front_find("tilec");
    unit.file = source_add(&fx->sources, "k.tile.c", text, strlen(text));
    if (!unit.door->open(&unit)) return diag_render(&fx->diag, &fx->arena);
    FrontRequest request = {.kernel = &unit.kernels.at[unit.kernels.count - 1]};
    request.module = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
    Kernel *k = unit.door->lower(&unit, &request);
    return k ? ir_print(k, &fx->arena) : diag_render(&fx->diag, &fx->arena);
}

/* A kernel of one warp with a global x and a body. */
static const char *body(Fixture *fx, const char *text) {
    return lower(fx,
                 arena_printf(&fx->arena,
                              "typedef struct { gl(float, -1, -1, -1, -1) x; int n; float s; } G;\n"
                              "static int twice(int v) { if (v > 3) return 7; return v * 2; }\n"
                              "static void add_to(int *v, int by) { *v += by; }\n"
                              "tile_kernel(32, 1) void f(G g) {\n"
                              "st_fl(16, 32) s; rt_fl(16, 32) r, q; rt_bf(16, 16) h;\n%s\n}\n",
                              text));
}

static void test_micro(Fixture *fx) {
    CHECK_TEXT(lower(fx,
                     "#define R 16\n"
                     "typedef struct { gl(float, -1, -1, -1, -1, st_fl(R, 32)) x, o; } globals;\n"
                     "__global__ __launch_bounds__(WARP_THREADS, 1) void f(const __grid_constant__ "
                     "globals g) {\n"
                     "    __shared__ st_fl(R, 32) x_s;\n"
                     "    rt_fl(R, 32) x;\n"
                     "    load(x_s, g.x, at(blockIdx.y, 0, 1));\n"
                     "    __syncthreads();\n"
                     "    load(x, x_s);\n"
                     "    mul(&x, &x, 2);\n"
                     "    store(g.o, x, at(0));\n"
                     "}\n"),
               "kernel @f(%g.x, %g.o: tensor<f32,4>) <warps=1> {\n"
               "  %x_s = buf : buf<f32[16,32], shared>\n"
               "  %x = buf : buf<f32[16,32], fragment>\n"
               "  %0 = program_id<1>\n"
               "  %1 = tload %g.x, [0, %0, 0, 32] : f32[16,32]\n"
               "  bstore %x_s, [0, 0], %1\n"
               "  sync<unit=block>\n"
               "  %2 = bload %x_s, [0, 0] : f32[16,32]\n"
               "  bstore %x, [0, 0], %2\n"
               "  %3 = bload %x, [0, 0] : f32[16,32]\n"
               "  %4 = mul %3, 2.0\n"
               "  bstore %x, [0, 0], %4\n"
               "  %5 = bload %x, [0, 0] : f32[16,32]\n"
               "  tstore %g.o, [0, 0, 0, 0], %5\n"
               "}\n");
}

static void test_control(Fixture *fx) {
    CHECK_TEXT(body(fx, "int k = 0, u = g.n;\n"
                        "for (int i = 0; i < g.n; i++) { k += i; if (k > 5) u = 3; }\n"
                        "for (int i = 0; i < 2; i++) u += i;\n"
                        "add_to(&u, twice(2) + 1);\n"
                        "load(r, g.x, at(u, k > 1 && u < 2 ? 4 : k));"),
               "kernel @f(%g.x: tensor<f32,4>, %g.n: i32, %g.s: f32) <warps=1> {\n"
               "  %s = buf : buf<f32[16,32], shared>\n"
               "  %r = buf : buf<f32[16,32], fragment>\n"
               "  %q = buf : buf<f32[16,32], fragment>\n"
               "  %h = buf : buf<bf16[16,16], fragment>\n"
               "  %k, %u = for %i = 0, %g.n, 1 (%k_1 = 0, %u_1 = %g.n) {\n"
               "    %k_2 = add %k_1, %i\n"
               "    %0 = cmp<gt> %k_2, 5\n"
               "    %u_2 = if %0 {\n"
               "      yield 3\n"
               "    } {\n"
               "      yield %u_1\n"
               "    }\n"
               "    yield %k_2, %u_2\n"
               "  }\n"
               "  %u_1 = add %u, 1\n"
               "  %u_2 = add %u_1, 5\n"
               "  %1 = cmp<gt> %k, 1\n"
               "  %2 = cmp<lt> %u_2, 2\n"
               "  %3 = and %1, %2\n"
               "  %4 = select %3, 4, %k\n"
               "  %5 = mul %u_2, 16\n"
               "  %6 = mul %4, 32\n"
               "  %7 = tload %g.x, [0, 0, %5, %6] : f32[16,32]\n"
               "  bstore %r, [0, 0], %7\n"
               "}\n");
    /* a function that returns early under a run-time condition */
    CHECK(strstr(body(fx, "load(r, g.x, at(twice(g.n)));"),
                 "    yield 7\n  } {\n    %twice_1 = mul %g.n, 2\n") != NULL);
    /* thread numbers are constants: the lane that loads is chosen here, not in the IR */
    CHECK(strstr(body(fx, "int c = 0; if (laneid() == 0) c = 1; else c = 1; load(r, g.x, at(c));"),
                 "tload %g.x, [0, 0, 0, 32]") != NULL);
    CHECK(strstr(body(fx, "zero(r); copy(h, h);"), "`h` is read before") != NULL);
    CHECK(strstr(body(fx, "load(r, g.x, at(g.x.cols / 2u, sizeof(float)));"), "extent<3>") != NULL);
}

static void test_messages(Fixture *fx) {
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"rt_fl(16, 20) z;", "columns of `rt_fl` are 20, which is no multiple of 16"},
        {"rt_fp8e4m3(16, 16) z;", "no multiple of 32"},
        {"rt_fl(16) z;", "takes rows and columns: 2 arguments, here are 1"},
        {"rt_fl(16, g.n) z;", "must be known at compile time"},
        {"rv_fl(20) z;", "the length of `rv_fl` is 20; vectors are made of 16 elements; write 32"},
        {"rv_fl(16, 16) z;", "takes a length: 1 arguments, here are 2"},
        {"col_vec(float) z;", "`col_vec` takes a tile type"},
        {"crt_bf(16, 20) z;", "columns of `crt_bf` are 20, which is no multiple of 16"},
        {"cgl(float) z;", "`cgl` takes the gl(..) type of its parts"},
        {"crt_fl(16, 32) z; zero(&z); exp2(&z, &z);", "no `exp2` takes these operands"},
        {"crt(int, 16, 32) z; zero(&z); mul(&z, &z, &z);", "has no meaning for elements of i32"},
        {"crt_fl(16, 32) z; zero(&z); z.im;", "has no member `im`"},
        {"tt(16, 16) z;", "tensor memory, which Hopper does not have"},
        {"rt(16, 16) z;", "takes an element type, rows and columns"},
        {"rv_fl(32) v; zero(&v); zero(r); add_row(&r, &r, &v);", "needs a vector of 16 values, one a row; here it has 32"},
        {"rv_fl(16) v; row_sum(&v, r);", "`r` is read before"},
        {"rv_fl(16) v; zero(r); add(&r, &r, &v);", "needs tiles of one shape, here 16 x 32 and a vector of 16"},
        {"zero(r); transpose_sep(&q, &r);", "turns 16 x 32, which does not give 16 x 32"},
        {"zero(r); tril(&r, &r, 0.5f);", "`tril` takes integers"},
        {"warpgroup_cdiv(4, 2);", "`warpgroup_cdiv` is no operation of Tile C and no function of this file; write `cdiv` alone"},
        {"coord c; zero(r); store(g.x, &r, c);", "`b` is read before"},
        {"zero(r); bit_and(&r, &r, 3);", "has no meaning for elements of f32; use a tile of int"},
        {"load_async(&s, g.x, at(0)); load(&r, &s);", "`s` is still being loaded; write load_async_wait(0)"},
        {"zero(r); zero(subtile(rt_fl(16, 16), &r, 0, 2));", "is no part of register tile of f32[16, 32]: its place lies outside"},
        {"zero(r); zero(subtile(rt_fl(16, 48), &r, 0, 0));", "it must fit a whole number of times"},
        {"zero(r); zero(subtile(rt_bf(16, 16), &r, 0, 0));", "it has the same level, element type"},
        {"zero(r); float c = r[0];", "elements of registers"},
        {"zero(&s); float c = s[16][0];", "index 16 is out of range 0..15"},
        {"zero(&s); for (int i = 0; i < 20; i++) s[i][0] = 1.f;", "index 19 is out of range 0..15"},
        {"zero(&s); for (int i = 0; i < 20; i++) if (i < 16) s[i][i ^ 16] = 1.f; else s[i - 16][i % 32] = 2.f;", "kernel @f"},
        {"zero(&s); for (int i = 3; i < 60; i += 3) s[0][i % 32] = s[i / 4 + 2][0];", "index 16 is out of range 0..15"},
        {"zero(&s); for (int i = 0; i < 20; i++) s[i - 4][0] = 1.f;", "index -4 is out of range 0..15"},
        {"st_fl(16, 16) m[3]; zero(&m[0]); for (int i = 0; i < 20; i++) zero(&m[i / 6]);", "index 3 is out of range 0..2"},
        {"zero(&s); for (int i = 0; i < 20; i++) zero(subtile(st_fl(16, 16), &s, 0, i / 8));", "its place lies outside"},
        {"float c = expf(laneid());", "`expf` takes no thread numbers"},
        {"lod(r, g.x, at(0));",
         "`lod` is no operation of Tile C and no function of this file; did you mean `load`?"},
        {"load(r, q, g.n);",
         "note: load(register tile, shared tile): register tile from shared tile, converting\n"},
        {"load(r, g.x, at());", "at(..) takes 1 to 4 coordinates (batch, depth, row, column; the "
                                "last ones count), here are 0"},
        {"load(r, g.x, at(0, 0, 0, 0, 0));", "here are 5"},
        {"load(r, g.x, at(-1));", "column coordinate -1 is out of range"},
        {"load(r, g.x, at(0.5));", "`at` takes integers"},
        {"add(&r, &r, &q);", "`r` is read before anything was written"},
        {"zero(r); zero(h); add(&r, &r, &h);",
         "needs tiles of one shape, here 16 x 32 and 16 x 16"},
        {"zero(h); mma_AB(&r, &h, &s);", "A and B must be register tiles"},
        {"zero(h); zero(q); mma_AB(&q, &h, &h);", "does not give 16 x 32"},
        {"zero(r); zero(h); mma_AB(&r, &h, &r);", "no product gives f32 from bf16 and f32"},
        {"warpgroup_zero(&r);", "works with 128 threads"},
        {"if (laneid() == 0) zero(r);", "must be reached by all threads"},
        {"x = 3;", "`x` is not known"},
        {"int number = 0; numbr = 1;", "`numbr` is not known; did you mean `number`?"},
        {"g.n = 3;", "`n` cannot be assigned: it is a parameter of the kernel"},
        {"const int c = 1; c = 2;", "it is const"},
        {"int c; load(r, g.x, at(c));", "`c` is read before"},
        {"int c; if (g.n > 1) c = 2; load(r, g.x, at(c));", "`c` is not written on every path"},
        {"int c; for (int i = 0; i < g.n; i++) c = i; load(r, g.x, at(c));",
         "`c` is not written on every path"},
        {"r = q;", "cannot be assigned; tiles are written by operations; write `copy(&r, ..)`"},
        {"int c = r;", "is not a number"},
        {"load(r, g.y, at(0));", "has no member `y`"},
        {"load(r, g->x, at(0));", "write `.` here"},
        {"load(r, g.x, at(laneid()));", "differs between threads"},
        {"load(r, g.x, at(g.n % (laneid() + 1)));", "only + and -, and * by a constant"},
        {"int a[2]; a[2] = 1;", "index 2 is out of range 0..1"},
        {"struct { int x; } a[2]; a[g.n].x = 1;", "the index of an array of structs or pointers must be known"},
        {"while (1) ;", "this `while` never ends"},
        {"int c; while (g.n) { if (g.s > 1) break; c = 1; } load(r, g.x, at(c));", "`c` is not written on every path"},
        {"switch (g.n) { case 1: case 1: ; }", "the same `case` twice"},
        {"switch (g.n) zero(r);", "a `switch` without a block"},
        {"static int c;", "static and extern variables"},
        {"semaphore m;", "cannot take variables of type semaphore"},
        {"tile_view(st_fl(16, 48), &s);", "is no view of"},
        {"float c = 1.5f % 2;", "takes integers"},
        {"twice(1, 2);", "takes 1 arguments, here are 2"},
        {"add_to(1, 2);", "does not fit parameter `v`"},
        {"return 3;", "this function gives nothing back"},
        {"block_sync(16);", "barriers have numbers 0..15"},
        {"tma_store_async(g.x, &s, at(0)); int c = ;", "expected an expression"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = body(fx, cases[i].text);
        if (!strstr(got, cases[i].want)) fprintf(stderr, "case: %s\n%s", cases[i].text, got);
        CHECK(strstr(got, cases[i].want) != NULL);
    }
    static const struct {
        const char *text, *want;
    } files[] = {
        {"int f(void) { return 1; }", "`k.tile.c` has no kernel"},
        {"tile_kernel(48) void f(int n) { }", "whole warps: 32, 64, .. 1024, not 48"},
        {"tile_kernel(64) void f(int n) { rt_fl(16, 16) r; zero(&r); }", "write group2_ before it: here 2 warps work together"},
        {"tile_kernel(64) void f(int n) { rt_fl(16, 16) r; group2_zero(&r); block_sync(); warp_add(&r, &r, &r); }", "f32[32,16]"},
        {"tile_kernel(32) tile_grid(g.n, 1, 1, 1) void f(int n) { }",
         "tile_grid takes 1 to 3 numbers"},
        {"tile_kernel(32) tile_grid(blockIdx.x) void f(int n) { }",
         "blockIdx and gridDim are not known there"},
        {"tile_kernel(32) tile_grid(cdiv(n, 16), 2) void f(int n) { }",
         "grid {\n    %0 = cdiv %n, 16\n    yield %0, 2\n  }"},
        {"tile_kernel(32) int f(int n) { return n; }", "kernel `f` must be void"},
        {"tile_kernel(32) void f(int *p) { }", "parameter `p` cannot be a"},
        {"tile_kernel(32) void f(gl(float, 0, 1, 1, 1) x) { }",
         "an extent of gl is positive, or -1"},
        {"tile_kernel(32) void f(gl(float, 1, 1, 32, 32) x) { rt_fl(16, 32) r; load(r, x, at(2, "
         "0)); }",
         "row coordinate 2 is out of range: coordinates count tiles, 16 elements each, and the "
         "extent is 32"},
        {"tile_kernel(32) void f(gl(float, 1, 1, -1, -1) x, int n) { rt_fl(16, 32) r; load(r, x, "
         "at(n, 0, 0)); }",
         "the depth extent is 1 by the type"},
        {"static void g(int n) { g(n); } tile_kernel(32) void f(int n) { g(n); }",
         "`g` calls itself"},
        {"int counter; tile_kernel(32) void f(int n) { }", "variables outside functions"},
        {"_Static_assert(2 > 3, \"no\"); tile_kernel(32) void f(int n) { }",
         "_Static_assert fails: no"},
        {"tile_kernel(32) void f(struct nope g) { }", "`struct nope` is not defined"},
        {"#define A B\n#define B A\ntile_kernel(32) void f(int n) { n + A; }",
         "macro `A` expands to itself"},
        {"lcsf_kernel(k, .globals = struct g);", "`struct g` is not defined"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *got = lower(fx, files[i].text);
        if (!strstr(got, files[i].want)) fprintf(stderr, "file: %s\n%s", files[i].text, got);
        CHECK(strstr(got, files[i].want) != NULL);
    }
}

/* The matmul of kernels/tilec with one line replaced. */
static const char *matmul(Fixture *fx, const char *from, const char *to) {
    FILE *file = fopen("kernels/tilec/matmul.tile.c", "r");
    if (!file) return "kernels/tilec/matmul.tile.c is missing";
    char *text = arena_alloc(&fx->arena, 1 << 16);
    size_t size = fread(text, 1, (1 << 16) - 1, file);
    fclose(file);
    Text changed = text_new(&fx->arena);
    char *at = strstr(text, from);
    if (!at) return "the line to replace is not there";
    text_add_bytes(&changed, text, (size_t)(at - text));
    text_add(&changed, "%s", to);
    text_add_bytes(&changed, at + strlen(from), size - (size_t)(at - text) - strlen(from));
    return lower(fx, changed.at);
}

static void test_template(Fixture *fx) {
    const char *ir = matmul(fx, "#include", "#include");
    static const char *const parts[] = {
        "kernel @matmul(%g.A, %g.B, %g.C: tensor<bf16,2>) <stages=4, warps=8> {",
        "%input = ring<from=load, to=compute, slots=4> : {a: bf16[2,64,64], b: bf16[4,64,64]}",
        "%finish = ring<from=compute, to=compute, slots=1> : {c: bf16[2,4,64,64]}",
        "tasks %task_iter while {",
        "} do (%row, %col, %num_iters) {",
        "spmd %w in 2 <unit=warpgroup> {",
        "%acc = buf : buf<f32[64,256], fragment>",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(ir, parts[i])) fprintf(stderr, "missing: %s\n%s", parts[i], ir);
        CHECK(strstr(ir, parts[i]) != NULL);
    }
    static const struct {
        const char *from, *to, *want;
    } cases[] = {
        {"tma_expect(a->inputs_arrived, a->input);", "tma_expect(a->inputs_arrived, a->input->a);",
         "`inputs_arrived` expects 16384 bytes an iteration and gets 49152"},
        {"tma_expect(a->inputs_arrived, a->input);",
         "tma_expect_bytes(a->inputs_arrived, 49152); arrive(a->inputs_arrived);",
         "`inputs_arrived` gets 2 arrivals an iteration where 1 are declared"},
        {"tma_expect(a->inputs_arrived, a->input);", "", "`inputs_arrived` gets 0 arrivals"},
        {"if (warpgroup_laneid() == 0) {", "{", "`tma_expect` must be issued by one thread"},
        {"if (warpgroup_laneid() == 0) {", "if (laneid() == 0) {", "must be issued by one thread"},
        {"warpgroup_mma_wait(0);", "",
         "`inputs_finished` arrives too early: a product still reads"},
        {"warpgroup_mma_wait(0);", "warpgroup_mma_wait(1);", "`inputs_finished` arrives too early"},
        {"if (laneid() == 0) arrive(a->inputs_finished);", "",
         "`inputs_finished` gets 0 arrivals an iteration where 8"},
        {"if (laneid() == 0) arrive(a->inputs_finished);", "arrive(a->inputs_finished);",
         "gets 256 arrivals"},
        {"if (laneid() == 0) arrive(a->inputs_finished);",
         "if (laneid() == 0) arrive(a->inputs_finished); warpgroup_mma_AB(&a->state->acc, "
         "&a->input->a[0], tile_view(b_tiles, a->input->b));",
         "the input block cannot be read here"},
        {"warpgroup_sync(id + 4);", "", "`c` is read here, and may not be written by all warps yet; write warpgroup_sync(id)"},
        {"warpgroup_sync(id + 4);", "__syncthreads();",
         "a barrier of the whole block inside a role"},
        {"tma_store_async_read_wait();", "",
         "`finish_finished` arrives too early: a store still reads"},
        {"if (laneid() == 0) arrive(a->finish_finished);", "",
         "`finish_finished` gets 0 arrivals an iteration where 8"},
        {"warpgroup_zero(&a->state->acc);", "", "`acc` is read before anything was written"},
        {"a->num_iters = cdiv(a->globals->A.cols, K_BLOCK);", "",
         "common_setup must set num_iters"},
        {".input_stages = STAGES", ".input_stages = 17", "input_stages is 17; it must be in 1..16"},
        {".input_stages = STAGES", ".input_stage = STAGES",
         "`input_stage` is no part of the template's descriptor; did you mean `input_stages`?"},
        {".common_setup = common_setup,", "", "the template's descriptor has no common_setup"},
        {"{producer_setup, producer_load}", "{producer_load, producer_load}",
         "callback `producer_load` must take one parameter, a pointer to lcf_producer_setup_args"},
        {"int task = a->task", "a->num_iters = warpgroup_groupid(); return; int task = a->task",
         "common_setup must set num_iters"},
        {"rt_fl(16, 64 * NB) acc;", "rt_fl(16, 64) acc;", "does not give 64 x 64"},
        {"a->input->a[warpgroup_groupid()]", "a->input->a[2]", "index 2 is out of range 0..1"},
        {"struct consumer_state { rt_fl", "struct consumer_state { st_bf(16, 16) z; rt_fl",
         "kernel @matmul"},
        {"a->state->acc, &a->input", "a->stat->acc, &a->input",
         "has no member `stat`; did you mean `state`?"},
        {"struct input_block { a_tile a[MB]", "struct input_block { int z; a_tile a[MB]",
         "a template's block holds shared tiles"},
        {"at(a->common->row + i, a->iter)", "at(a->common->row + i, a->common->col, 0, 0, a->iter)",
         "at(..) takes 1 to 4 coordinates"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = matmul(fx, cases[i].from, cases[i].to);
        if (!strstr(got, cases[i].want))
            fprintf(stderr, "case: %s -> %s\n%s", cases[i].from, cases[i].to, got);
        CHECK(strstr(got, cases[i].want) != NULL);
    }
}

int main(void) {
    static Fixture fx;
    arena_init(&fx.arena, allocator_malloc, &fx.trap);
    if (!TRAP_ARM(&fx.trap)) {
        fprintf(stderr, "%s\n", fx.trap.message);
        return 2;
    }
    test_micro(&fx);
    test_control(&fx);
    test_messages(&fx);
    test_template(&fx);
    arena_free(&fx.arena);
    return check_done();
}
