/* SPDX-License-Identifier: Apache-2.0 */
/* test_simt_lanes.c: src/target/simt stands by itself, and the number of lanes is data: kernels for a machine whose warps
 * have 64 lanes give the bits of the interpreter behind the passes. The machine is a test's, a row of its own without matrix
 * instructions, and so is the target: it fills in no hook, its prelude is what any machine with lanes has, the emulator's
 * neutral half runs it. What is here is what a new target with lanes has to write at least. */
#include "cuda_ops_cases.h"
#include "target/simt/emu/emu_core.h"
#include "target/simt/simt.h"

static Machine wide; /* 64 lanes */

static const char prelude[] = "#define TW_FN static inline\n"
                              "#include <math.h>\n"
                              "#include <string.h>\n"
                              "#include \"numbers.cuh\"\n"
                              "#include \"floats.cuh\"\n"
                              "#include \"emulated_simt.cuh\"\n"
                              "#include \"emulated_numbers.cuh\"\n"
                              "#include \"convert.cuh\"\n"
                              "#include \"bits.cuh\"\n"
                              "#include \"tile.cuh\"\n"
                              "#include \"sort.cuh\"\n"
                              "#include \"turns.cuh\"\n";

/* CudaPlan: what the bench runs. */
static CudaPlan *plain_emit(PassContext *cx, Kernel *k) {
    static const SimtTarget target = {.name = "plain", .prelude = "own.cuh", .dialect = &dialect_cuda};
    CudaPlan *plan = ARENA_NEW(k->module->arena, CudaPlan);
    ExprList params = {0};
    CLines top = {0};
    Emit e;
    emit_begin(&e, &target, cx, k);
    entry_plan(&e, &plan->simt, "flat");
    if (!emit_kernel(&e, &top)) return NULL;
    entry_params(&e, &plan->params, &params);
    plan->text = entry_file(
        &e, &(EntryFile){.plan = &plan->simt, .params = &params, .top = &top, .names_thread = true});
    return plan;
}

static bool launch(const EmuLaunch *launch, Arena *arena, EmuReport *report) {
    static const EmuTable table = {EMU_SIMT_CALLS};
    static const EmuTarget target = {.table = &table};
    Emu *emu = calloc(1, sizeof *emu);
    bool good = emu && emu_run(emu, &target, launch, arena, report);
    free(emu);
    return good;
}

static bool open_wide(CudaBench *b, const char *text, int warps) {
    PassOptions options = pass_options_default;
    options.num_warps = warps;
    options.num_stages = 1;
    options.generic = REQUIRE_ALIGNED;
    bool good = cuda_bench_open_on(b, text, &wide, options, plain_emit);
    if (good && getenv("SHOW") && strstr(text, getenv("SHOW"))) fputs(b->plan->text, stderr);
    b->launch = launch;
    b->passed = true;
    return good && b->plan->threads == 64 * warps;
}

static bool same_bits(const CudaBench *b, int arg) {
    const CudaBenchArray *a = &b->arrays[arg];
    size_t bytes = (size_t)elem_info[a->elem].bytes;
    for (int64_t i = 0; i < a->count; i++)
        if (memcmp((char *)a->memory[0] + (size_t)i * bytes, (char *)a->memory[1] + (size_t)i * bytes, bytes) != 0) {
            fprintf(stderr, "  %s[%lld]: got %g, want %g\n", a->name, (long long)i, cuda_bench_get(a->memory[1], a->elem, i),
                    cuda_bench_get(a->memory[0], a->elem, i));
            return false;
        }
    return true;
}

/* bound 0: equal bits. */
static bool runs(const char *name, const char *body, int warps, double bound) {
    char text[8192];
    snprintf(text, sizeof text, "kernel @k(%%x, %%z: *f32, %%n: i32) { // %s\n%s  return }\n", name, body);
    CudaBench b;
    bool good = open_wide(&b, text, warps);
    if (good) {
        cuda_bench_array(&b, "x", EL_F32, 4096, true);
        cuda_bench_array(&b, "z", EL_F32, 8192, false);
        cuda_bench_int(&b, 37);
        good = cuda_bench_run(&b, 2, 1, 1) && (bound ? cuda_bench_error(&b, 1, bound) <= 1 : same_bits(&b, 1));
    }
    cuda_bench_close(&b);
    if (!good) fprintf(stderr, "  %s on %d warps of 64 lanes\n", name, warps);
    return good;
}

/* What test_cuda_ops.c does not have: sums in the order of their stamp, along rows and columns, of one value a lane and of
 * several; tiles in layouts that are shuffled and moved through shared memory; masks and tails; halves of words. */
static const struct {
    const char *name, *body;
    int warps[2];
} more[] = {
    {"elementwise",
     "  %pid = program_id<0> ; %o = mul %pid, 1000 ; %X = tensor %x, [%n], [1] ; %Z = tensor %z, [2000], [1]\n"
     "  %a = tload<fill=2.0> %X, [%o] : f32[1000] ; %i = iota<0, 1000> ; %f = cast %i : f32[1000] ; %c = cmp<gt> %a, 0.0\n"
     "  %e = fma %a, %f, %a ; %m = min %e, 70.0 ; %s = select %c, %m, %f ; tstore %Z, [%o], %s\n",
     {1, 4}},
    {"sums",
     HEAD LOAD1("a", "0", "4096") "  %s = reduce<add, axis=0> %a ; %t = reshape %a : f32[16,256] ; %u = reduce<add, axis=1> %t ; %v = reduce<add, axis=0> %t\n"
     "  %m = reduce<max, axis=1> %t ; %k = reduce<argmin, axis=1> %t ; %kf = cast %k : f32[16] ; %q = slice %t, [0, 0] : f32[16,64] ; %w = reduce<add, axis=1> %q\n"
     OUT("%s", "0") OUT("%u", "1") OUT("%v", "100") OUT("%m", "400") OUT("%kf", "500") OUT("%w", "600"),
     {1, 4}},
    {"sums of integers",
     HEAD LOAD1("a", "0", "1024") "  %b = mul %a, 100.0 ; %i = cast %b : i64[1024] ; %s = reduce<add, axis=0> %i ; %h = cast %b : i16[1024] ; %x1 = reduce<xor, axis=0> %h\n"
     "  %sf = cast %s : f32 ; %xf = cast %x1 : f32\n" OUT("%sf", "0") OUT("%xf", "1"),
     {2, 8}},
    {"running sums",
     HEAD LOAD1("a", "0", "1024") "  %b = mul %a, 100.0 ; %i = cast %b : i32[1024] ; %s = scan<add, axis=0> %i ; %r = scan<max, axis=0, reverse> %i ; %t = reshape %i : i32[8,128]\n"
     "  %u = scan<add, axis=1> %t ; %v = scan<add, axis=0> %t ; %sf = cast %s : f32[1024] ; %rf = cast %r : f32[1024] ; %uf = cast %u : f32[8,128] ; %vf = cast %v : f32[8,128]\n"
     OUT("%sf", "0") OUT("%rf", "1024") FLAT("%uf", "", "2048", "1024") FLAT("%vf", "", "3072", "1024"),
     {1, 8}},
    {"converts",
     "  %X = tensor %x, [none, none], [64, 1] ; %Z = tensor %z, [none, none], [1, 64] ; %Y = tensor %z, [none, none], [64, 1]\n"
     "  %a = tload<nocheck> %X, [0, 0] : f32[64,64] ; tstore<nocheck> %Z, [0, 0], %a ; %t = permute<dims=[1,0]> %a ; %u = add %t, %a\n"
     "  %h = cast %u : f16[64,64] ; %g = permute<dims=[1,0]> %h ; %k = cast %g : f32[64,64] ; tstore<nocheck> %Y, [64, 0], %k\n",
     {1, 4}},
    {"gathers and scatters",
     "  %i = iota<0, 256> ; %j = mul %i, 7 ; %k = rem %j, 256 ; %c = cmp<lt> %i, %n ; %p = ptr_add %x, %k ; %v = load %p, %c ; %m = cmp<ne> %k, 3\n"
     "  %q = ptr_add %z, %k ; store %q, %v, %m ; %o = splat 1.0 : f32[256] ; %r = rem %i, 16 ; %s = ptr_add %z, %r ; %s2 = ptr_add %s, 1000\n"
     "  %old = atomic<add> %s2, %o, %m\n",
     {1, 4}},
    {"old values",
     "  %i = iota<0, 128> ; %p = ptr_add %z, %i ; %f = cast %i : f32[128] ; %o = atomic<add> %p, %f ; %o2 = atomic<max> %p, %o ; %q = ptr_add %p, 1000 ; %s = add %o2, %f\n"
     "  store %q, %s ; %r = reduce<add, axis=0> %o2 ; %u = splat %r : f32[128] ; %v = ptr_add %p, 2000 ; store %v, %u\n",
     {4, 8}},
    {"fma dots",
     "  %X = tensor %x, [none, none], [32, 1] ; %Z = tensor %z, [none, none], [64, 1] ; %a = tload<nocheck> %X, [0, 0] : f32[64,32]\n"
     "  %b = permute<dims=[1,0]> %a ; %c = splat 0.5 : f32[64,64] ; %d = dot %a, %b, %c ; tstore<nocheck> %Z, [0, 0], %d\n",
     {1, 4}},
    {"loops",
     HEAD LOAD1("a", "0", "512")
     "  %w = for %i = 0, %n, 5 (%acc = %a) { %b = tload<nocheck> %X, [%i] : f32[512] ; %m = max %acc, %b ; %r = reduce<max, axis=0> %m\n"
     "    %s = sub %m, %r ; yield %s }\n" OUT("%w", "0"),
     {1, 4}},
};

static void test_kernels(void) {
    for (size_t i = 0; i < sizeof ops_cases / sizeof *ops_cases; i++) {
        if (ops_cases[i].must && strstr(ops_cases[i].must, "tw_mma")) continue;
        int warps = ops_cases[i].warps[1] ? ops_cases[i].warps[1] : ops_cases[i].warps[0];
        /* Running sums of floats are taken in another order than the interpreter's, on any machine. */
        bool floats = strstr(ops_cases[i].body, "scan<add") || strstr(ops_cases[i].body, "scan<region");
        if (check_chosen()) CHECK(runs(ops_cases[i].name, ops_cases[i].body, warps, floats ? ops_cases[i].bound : 0));
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        for (int w = 0; w < 2; w++)
            if (check_chosen()) CHECK(runs(more[i].name, more[i].body, more[i].warps[w], 0));
}

/* What CUDA adds runs on such warps too: loads ahead of a loop around a product, by cp.async. */
static void test_ahead(void) {
    static const char text[] =
        "kernel @k(%x, %y, %z: *f32, %K: i32) {\n"
        "  %X = tensor %x, [64, %K], [256, 1] ; %Y = tensor %y, [%K, 64], [64, 1] ; %Z = tensor %z, [64, 64], [64, 1] ; %c = splat 0.0 : f32[64,64]\n"
        "  %d = for %k = 0, %K, 32 (%acc = %c) { %a = tload %X, [0, %k] : f32[64,32] ; %b = tload %Y, [%k, 0] : f32[32,64]\n"
        "    %e = dot %a, %b, %acc ; yield %e }\n"
        "  tstore %Z, [0, 0], %d ; return }\n";
    PassOptions options = pass_options_default;
    options.num_warps = 4;
    options.num_stages = 3;
    CudaBench b;
    bool good = cuda_bench_open_on(&b, text, &wide, options, cuda_emit);
    CHECK(good && strcmp(b.plan->execution, "skew 2") == 0);
    if (good) {
        cuda_bench_array(&b, "x", EL_F32, 64 * 256, true);
        cuda_bench_array(&b, "y", EL_F32, 256 * 64, true);
        cuda_bench_array(&b, "z", EL_F32, 64 * 64, false);
        cuda_bench_int(&b, 250);
        CHECK(cuda_bench_run(&b, 1, 1, 1) && cuda_bench_error(&b, 2, 1e-5) <= 1);
    }
    cuda_bench_close(&b);
}

int main(void) {
    wide = *machine_find("cuda:sm_80");
    wide.name = "test:64";
    wide.lanes = 64;
    wide.matrix = MATRIX_FMA;
    cuda_bench_header = prelude;
    cuda_bench_begin();
    if (cuda_bench_have("c++")) {
        test_kernels();
        test_ahead();
    } else {
        printf("skipped: no C++ compiler\n");
    }
    cuda_bench_end();
    return check_done();
}
