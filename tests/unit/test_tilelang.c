/* SPDX-License-Identifier: Apache-2.0 */
/* test_tilelang.c: the TileLang door, from source text to IR (after fold and raise), and its
 * diagnostics. */
#include "check.h"
#include "front/front.h"
#include "pass/pass.h"

#include <stdlib.h>

typedef struct Job {
    Trap trap;
    Arena arena, scratch;
    SourceMap sources;
    Diag diag;
} Job;

static char *slurp(Arena *arena, const char *path) {
    FILE *in = fopen(path, "rb");
    if (!in) return arena_printf(arena, "cannot open %s", path);
    char *text = arena_alloc(arena, 1 << 16);
    text[fread(text, 1, (1 << 16) - 1, in)] = 0;
    fclose(in);
    return text;
}

/* The IR after fold and raise, or the diagnostics. `defines` is "M=64 dtype=float16". */
static void lowered(const char *path_or_text, const char *defines, const char *want) {
    Job *j = calloc(1, sizeof *j);
    arena_init(&j->arena, allocator_malloc, &j->trap);
    arena_init(&j->scratch, allocator_malloc, &j->trap);
    if (TRAP_ARM(&j->trap)) {
        Arena *arena = &j->arena;
        source_init(&j->sources, arena);
        diag_init(&j->diag, arena, &j->sources);
        bool file = strchr(path_or_text, '\n') == NULL;
        const char *text = file ? slurp(arena, path_or_text) : path_or_text;
        FrontDefine list[8];
        int count = 0;
        char *copy = arena_string(arena, defines, strlen(defines));
        for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
            char *value = strchr(word, '=');
            *value++ = 0;
            bool number = value[0] >= '0' && value[0] <= '9';
            FrontValue v = {
                .kind = number ? FRONT_INT : FRONT_TEXT, .i = atoi(value), .text = value};
            list[count++] = (FrontDefine){.name = word, .value = v};
        }
        FrontUnit unit = {.door = front_choose("k.py", text),
                          .arena = arena,
                          .diag = &j->diag,
                          .sources = &j->sources,
                          .defines = list,
                          .define_count = count};
        unit.file = source_add(&j->sources, "k.py", text, strlen(text));
        char *got = NULL;
        CHECK(unit.door && strcmp(unit.door->name, "tilelang") == 0);
        if (unit.door->open(&unit)) {
            Module *m = ir_module_new(arena, &j->diag, &j->sources);
            FrontValue *args = ARENA_ARRAY(arena, FrontValue, unit.kernels.at[0].param_count);
            FrontRequest request = {.kernel = &unit.kernels.at[0], .args = args, .module = m};
            Kernel *k = unit.door->lower(&unit, &request);
            PassContext cx = {.module = m, .machine = machine_find("interp"), .options = pass_options_default, .scratch = &j->scratch};
            PipelineRequest run = {.only = "fold,raise", .verify_each = true};
            if (k && pipeline_run(&cx, k, &run)) {
                pass_fold(&cx, k);
                got = ir_print(k, arena);
            }
        }
        if (!got) got = diag_render(&j->diag, arena);
        if (*want == '~')
            CHECK(strstr(got, want + 1) || (fprintf(stderr, "%s\n", got), 0));
        else
            CHECK_TEXT(got, want);
    } else {
        CHECK_TEXT(j->trap.message, "no trap");
    }
    arena_free(&j->arena);
    arena_free(&j->scratch);
    free(j);
}

static void test_kernels(void) {
    lowered("kernels/tilelang/seed_gemm.py", "M=64 N=64 K=96",
            "kernel @matmul(%A, %B, %C: *f16) {\n"
            "  grid {\n"
            "    yield 2, 2\n"
            "  }\n"
            "  %0 = tensor %A, [64, 96], [96, 1]\n"
            "  %1 = tensor %B, [96, 64], [64, 1]\n"
            "  %2 = tensor %C, [64, 64], [64, 1]\n"
            "  %bx = program_id<0>\n"
            "  %by = program_id<1>\n"
            "  %C_tile = splat 0.0 : f32[32,32]\n"
            "  %3 = mul %by, 32\n"
            "  %4 = mul %bx, 32\n"
            "  %C_tile_1 = for<stages=0> %k = 0, 3, 1 (%C_tile_2 = %C_tile) {\n"
            "    %5 = mul %k, 32\n"
            "    %A_tile = tload %0, [%3, %5] : f16[32,32]\n"
            "    %B_tile = tload %1, [%5, %4] : f16[32,32]\n"
            "    %C_tile_3 = dot %A_tile, %B_tile, %C_tile_2\n"
            "    yield %C_tile_3\n"
            "  }\n"
            "  %6 = cast %C_tile_1 : f16[32,32]\n"
            "  tstore %2, [%3, %4], %6\n"
            "}\n");
    lowered("kernels/tilelang/gemm.py", "M=100 N=64 K=96 dtype=bfloat16",
            "kernel @matmul(%A, %B, %C: *bf16) <warps=4> {\n"
            "  grid {\n"
            "    yield 1, 2\n"
            "  }\n"
            "  %0 = tensor %A, [100, 96], [96, 1]\n"
            "  %1 = tensor %B, [96, 64], [64, 1]\n"
            "  %2 = tensor %C, [100, 64], [64, 1]\n"
            "  %bx = program_id<0>\n"
            "  %by = program_id<1>\n"
            "  %C_local = splat 0.0 : f32[64,64]\n"
            "  %3 = mul %by, 64\n"
            "  %4 = mul %bx, 64\n"
            "  %C_local_1 = for<stages=3> %k = 0, 2, 1 (%C_local_2 = %C_local) {\n"
            "    %5 = mul %k, 64\n"
            "    %A_shared = tload %0, [%3, %5] : bf16[64,64]\n"
            "    %B_shared = tload %1, [%5, %4] : bf16[64,64]\n"
            "    %C_local_3 = dot %A_shared, %B_shared, %C_local_2\n"
            "    yield %C_local_3\n"
            "  }\n"
            "  %C_local_2 = max %C_local_1, 0.0\n"
            "  %6 = cast %C_local_2 : bf16[64,64]\n"
            "  tstore %2, [%3, %4], %6\n"
            "}\n");
    lowered("kernels/tilelang/seed_row_sum.py", "M=50 N=300", "~= reduce<add, axis=1> ");
    lowered("kernels/tilelang/seed_add.py", "M=64 N=64", "~tstore %2, [%3, %4], ");
}

static void test_diagnostics(void) {
    lowered("kernels/tilelang/seed_gemm.py", "M=128 N=64 K=96",
            "~k.py:22:46: error: over the grid index 2 runs up to 96 here, and the tensor ends at "
            "64: whole blocks lie outside; "
            "exchange the extents of T.Kernel, or the names behind `as`, which look swapped [block-outside]");
    lowered("kernels/tilelang/seed_gemm.py", "M=64 N=64",
            "~`K` is not defined; a size or option of the kernel is given as a definition, K=VALUE");
#define HEAD \
    "import tilelang.language as T\n@T.prim_func\ndef f(A: T.Tensor((64, 64), \"float16\")):\n"
#define BODY                                                                           \
    HEAD "    with T.Kernel(2, 2) as (bx, by):\n        S = T.alloc_shared((32, 16), " \
         "\"float16\")\n"
    lowered(HEAD "    with T.Kernel(2, 2) as (bx, by):\n        T.cpoy(A, A)\n", "",
            "~`T.cpoy` is not known here; did you mean `T.copy`?");
    lowered(BODY "        T.copy(A[0:8, 0:8], S)\n", "",
            "~the shapes tensor f16[8,8] and tile f16[32,16] do not fit");
    lowered(BODY "        T.gemm(S, S, S)\n", "", "~[M, K] times [K, N] gives [M, N]");
    lowered(BODY "        S[40, 0] = 1.0\n", "", "~index 1 takes 40 .. 40 here, and of tile f16[32,16] it may be 0 .. 31");
    lowered(BODY "        x = A[bx]\n", "",
            "~tensor f16[64,64] has 2 dimensions, 1 indices are given");
    lowered(BODY "        T.alloc_shared((4, bx), \"float16\")\n", "",
            "~an extent must be known here");
    lowered(BODY "        T.alloc_shared((4,), \"float17\")\n", "", "~`\"float17\"` is no dtype");
    lowered(BODY "        T.copy(A[0, 0], S, blah=1)\n", "", "~has no parameter `blah`");
    lowered(BODY "        T.copy(A[0, 0])\n", "", "~argument 2 is missing");
    lowered(BODY "        for i in bx:\n            pass\n", "",
            "~loop over T.Parallel, T.Pipelined, T.serial, range or a list");
    lowered(BODY "        T.copy(S, A[0, 0])\n", "",
            "~this buffer is read before anything is written to it");
    lowered(HEAD "    pass\n", "", "~the kernel never launches");
    lowered("import tilelang\nx = 1\n", "", "~the file has no TileLang kernel");
}

/* Constants of the file: by tuple, in order, and unknown where the file is not run. */
static void test_constants(void) {
#define CONSTANTS(text, use)                                                                      \
    "import tilelang.language as T\n" text                                                        \
    "@T.prim_func\ndef f(A: T.Tensor((64,), \"int32\")):\n    with T.Kernel(1) as bx:\n"           \
    "        A[0] = " use "\n"
    lowered(CONSTANTS("M, (N, K) = 100, (130, 75)\n", "M * 1000000 + N * 1000 + K"), "", "~100130075");
    lowered(CONSTANTS("P = (3, 4)\nM, N = P\nM, N = N, M\nM *= 10\nN: int = N + 2\n", "M + N"), "", "~45");
    lowered(CONSTANTS("M, N = host(), 7\n", "N"), "", "~7");
    lowered(CONSTANTS("M = 1\nM = host()\n", "M"), "", "~`host` is not defined");
    lowered(CONSTANTS("M = 1\nif host():\n    M = 2\n", "M"), "", "~the module sets `M` under a condition");
    lowered(CONSTANTS("M = 1\nfor i in range(3):\n    M += 2\n", "M"), "", "~the module sets `M` in a loop");
    lowered(CONSTANTS("M = 1\nif __name__ == \"__main__\":\n    M = 2\n", "M + 41"), "", "~42");
}

/* Indices of tiles: what constants decide is refused, what a condition guards or no trip reaches is not. */
static void test_indices(void) {
#define LOOP(extents, body) BODY "        T.clear(S)\n        for i, j in T.Parallel(" extents "):\n            " body "\n"
    static const char *const outside[][2] = {
        {LOOP("32, 16", "A[i, j] = S[i, j + 1]"), "~k.py:8:28: error: index 2 takes 1 .. 16 here, and of tile f16[32,16] it may be 0 .. 15"},
        {LOOP("32, 16", "A[i, j] = S[i - 1, j]"), "~index 1 takes -1 .. 30 here"},
        {LOOP("32, 16", "S[31 - i, 16 - j] = 1.0"), "~index 2 takes 1 .. 16 here"},
        {LOOP("32, 16", "S[i, 2 * j] = 1.0"), "~index 2 takes 0 .. 30 here"},
        {LOOP("32, 16", "S[i + j, 0] = 1.0"), "~index 1 takes 0 .. 46 here"},
        {LOOP("32, 16", "S[-33, j] = 1.0"), "~index -33 lies before the first element of tile f16[32,16]"},
        {LOOP("33, 16", "S[i, j] = 0.0"), "~index 1 takes 0 .. 32 here"},
        {LOOP("32, 16", "S[bx * 17 + i, j] = 1.0"), "~index 1 takes 0 .. 48 here"},
        {LOOP("32, 16", "A[i, j] = S[i, j ^ 16]"), "~index 2 takes 16 .. 31 here"},
        {LOOP("32, 16", "A[i, j] = S[i, (j * 2) % 17]"), "~index 2 takes 0 .. 16 here"},
        {LOOP("32, 16", "A[i, j] = S[(i * i) // 30, j]"), "~index 1 takes 0 .. 32 here"},
        {LOOP("32, 16", "A[i, j] = S[i, T.if_then_else(j > 3, j + 1, 0)]"), "~index 2 takes 0 .. 16 here"},
        {LOOP("32, 16", "S[i, T.max(j - 1, -1)] = 1.0"), "~index 2 takes -1 .. 14 here"},
        {BODY "        for k in T.serial(1, 32, 2):\n            S[(k ^ 1) * 2 // 2, 0] = 1.0\n            S[k % 2 * 32, 0] = 2.0\n", "~k.py:8:15: error: index 1 takes 32 .. 32 here"},
        {LOOP("32, 16", "A[i, j] = T.if_then_else(S[i, j] > 0, S[i, 16], 1.0)"), "~index 2 takes 16 .. 16 here"},
        {BODY "        T.copy(A[0:16, 0:16], S[24:40, 0:16])\n", "~index 1 takes 24 .. 39 here"},
        {BODY "        T.copy(A[0:32, 0:16], S[1, 0])\n", "~index 1 takes 1 .. 32 here"},
        {BODY "        for k in T.serial(4):\n            T.copy(A[0:8, 0:16], S[k * 8 + 1 : k * 8 + 9, 0:16])\n", "~index 1 takes 1 .. 32 here"},
        {BODY "        for k in T.serial(3, 40, 9):\n            S[k, 0] = 1.0\n", "~index 1 takes 3 .. 39 here"},
        {BODY "        T.copy(A[-65, 0], S)\n", "~index -65 lies before the first element of tensor"},
        {BODY "        T.copy(A[0:bx, 0:16], S)\n", "~write it as `start : start + 16`, with its extent as the constant"},
    };
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) lowered(outside[i][0], "", outside[i][1]);
    static const char *const inside[] = {
        LOOP("32, 16", "A[i, j] = T.if_then_else(j < 15, S[i, j + 1], 0.0)"),
        LOOP("32, 16", "A[i, j] = S[i, j - 1] if j > 0 else 0.0"),
        LOOP("32, 16", "A[i, j] = T.if_then_else(i > 0 and S[i - 1, j] > 0, 1.0, 0.0)"),
        LOOP("32, 16", "A[i, j] = S[i - i, -1]"),
        LOOP("31, 16", "A[i, j] = S[i + 1, j // 2] + S[31, (j + 5) % 16]"),
        LOOP("0, 16", "S[i + 99, j] = 1.0"),
        LOOP("32, 16", "A[i, j] = S[i ^ 31, (j * 2) % 16] + S[T.min(i + 1, 31), T.max(j - 1, 0)] + S[i * i // 31, 0]"),
        LOOP("64, 16", "A[i, j] = T.if_then_else(i < 32, S[i * i % 64, j], 0.0)"),
        BODY "        for k in T.serial(4):\n            S[(k ^ 1) * 8 + k // 3 + 7, 0] = 1.0\n        T.copy(S, A[0, 0])\n",
        BODY "        for k in T.serial(0, 32, 2):\n            S[k ^ 31, k % 2 * 16] = 1.0\n        T.copy(S, A[0, 0])\n",
        BODY "        T.clear(S)\n        for k in T.serial(2, 2):\n            S[k + 40, 0] = 1.0\n        T.copy(S, A[0, 0])\n",
        BODY "        T.copy(A[bx * 8 : (bx + 1) * 8, 0:16], S[by * 8 : by * 8 + 8, 0:16])\n        T.copy(S[0:8, :], A[0:8, -16:])\n",
    };
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) lowered(inside[i], "", "~kernel @f");
}

/* What Python would mean otherwise is refused. */
static void test_meanings(void) {
    lowered(BODY "        n = 1\n        for t in T.serial(4):\n            n = 2\n", "", "~k.py:8:13: error: `n` has a value from outside of this loop");
    lowered(BODY "        n = 1\n        if A[0, 0] > 0:\n            n = 2\n", "", "~`n` has a value from outside of this loop or `if`");
    lowered(BODY "        n = 1\n        for i, n in T.Parallel(4, 4):\n            S[i, n] = 1.0\n        x = n + 1\n", "", "~k.py:9:13: error: `n` has no value here");
    lowered(BODY "        for t in T.serial(4):\n            t, u = 1, 2\n", "", "~kernel @f"); /* as in Python, of this trip */
    lowered(BODY "        n = 1\n        n = n + 1\n        if n == 2:\n            n = 3\n        T.fill(S, n)\n        T.copy(S, A[0, 0])\n", "", "~3.0");
    lowered(BODY "        for t in T.serial(4):\n            n = 2\n            n = n + 1\n            T.fill(S, n)\n        for t in T.serial(3):\n            n = 4\n"
                 "        T.copy(S, A[0, 0])\n", "", "~3.0");
    lowered(BODY "        assert bx > 0\n", "", "~an assert on run-time values is not supported");
    lowered(HEAD "    assert M % 32 == 0, \"M in whole blocks\"\n    with T.Kernel(1) as bx:\n        pass\n", "M=40",
            "~k.py:4:5: error: this assert does not hold for the sizes given: M in whole blocks; give others");
    lowered(HEAD "    assert M % 32 == 0\n    with T.Kernel(1) as bx:\n        pass\n", "M=64", "~kernel @f");
    lowered("import tilelang.language as T\n@annotate_tt_schedule(policy=\"nonsense\")\n@T.prim_func\ndef f(A: T.Tensor((4,), \"float16\")):\n    with T.Kernel(1) as bx:\n        pass\n", "",
            "~k.py:2:2: error: the decorator `annotate_tt_schedule` is not known");
    lowered("import tilelang.language as T\nimport tilelang.tt as tt\n@tt.annotate_tt_schedule(policy=\"nonsense\")\n@T.prim_func\ndef f(A: T.Tensor((4,), \"float16\")):\n    with T.Kernel(1) as bx:\n        pass\n", "",
            "~k.py:3:33: error: nonsense is no policy");
    lowered("import tilelang.language as T\nfrom tilelang.tt import annotate_tt_schedule, annotate_tt_sharding\n@annotate_tt_schedule(policy=\"contiguous\", order=\"z_order\", rect=(0, 1, 2, 3))\n@annotate_tt_sharding({\"A\": {\"layout\": \"height\", \"memory\": \"l1\"}})\n@T.prim_func\ndef f(A: T.Tensor((4,), \"float16\")):\n    with T.Kernel(1) as bx:\n        pass\n", "",
            "~<tt_policy=contiguous, tt_order=z_order, tt_rect=[0,1,2,3], tt_sharding=\"A layout=height memory=l1\"> {\n");
    lowered("import tilelang.language as T\n@T.prim_fun\n@T.prim_func\ndef f(A: T.Tensor((4,), \"float16\")):\n    pass\n", "", "~; did you mean `prim_func`?");
#define GEMM(policy) HEAD "    with T.Kernel(1) as bx:\n        S = T.alloc_shared((16, 16), \"float16\")\n        T.clear(S)\n        T.gemm(S, S, S, policy=" policy ")\n        T.copy(S, A[0, 0])\n"
    lowered(GEMM("T.GemmWarpPolicy.FullRow"), "", "~dot");
    lowered(GEMM("T.GemmWarpPolicy.FulRow"), "", "~`T.GemmWarpPolicy.FulRow` is no policy; write one of Square, FullRow, FullCol");
    lowered(GEMM("\"nonsense\""), "", "~\"nonsense\" is no policy");
    lowered(BODY "        T.copy(A[0, 0], S, eviction_policy=\"evict_fist\")\n", "", "~\"evict_fist\" is no eviction policy");
    lowered(BODY "        T.use_swizzle(4, order=\"rows\")\n", "", "~\"rows\" is no order; write one of row, column, mlx");
    lowered(BODY "        T.alloc_shared((4,), \"float16\", scope=\"shard\")\n", "", "~\"shard\" is no scope");
#define SIZES(line) "import tilelang.language as T\n" line "\n@T.prim_func\ndef f(A: T.Tensor((M, N), \"float16\")):\n    with T.Kernel(1) as bx:\n        A[M - 1, N - 1] = 1.0\n"
    lowered(SIZES("M, N = 100, 130"), "", "~[99, 129]");
    lowered(SIZES("(M, (N, K)) = 100, (130, 7)"), "", "~[99, 129]");
    lowered(SIZES("M = N = 64"), "", "~[63, 63]");
    lowered(SIZES("M, N = 100, 130"), "N=50", "~[99, 49]");
    lowered(SIZES("M, N = 1 << 40, 1 << 40"), "", "~does not fit the address space");
    lowered(BODY "        for k in T.serial(1 << 40):\n            S[0, 0] = 1.0\n", "", "~a loop counts in 32 bits, 1099511627776 does not fit");
    lowered(BODY "        T.fill(S, T.infinity(\"int32\"))\n", "", "~integers have no infinity");
}

int main(void) {
    test_kernels();
    test_constants();
    test_diagnostics();
    test_indices();
    test_meanings();
    return check_done();
}
