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
            list[count++] = (FrontDefine){word, v};
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
            "the extents of T.Kernel, or the names behind `as`, look swapped [block-outside]");
    lowered("kernels/tilelang/seed_gemm.py", "M=64 N=64",
            "~`K` is not defined; a size or option of the kernel is given with -D K=VALUE");
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
    lowered(BODY "        S[40, 0] = 1.0\n", "", "~index 40 lies outside of tile f16[32,16]");
    lowered(BODY "        x = A[bx]\n", "",
            "~tensor f16[64,64] has 2 dimensions, 1 indices are given");
    lowered(BODY "        T.alloc_shared((4, bx), \"float16\")\n", "",
            "~an extent must be known here");
    lowered(BODY "        T.alloc_shared((4,), \"float17\")\n", "", "~`\"float17\"` is no dtype");
    lowered(BODY "        T.copy(A[0, 0], S, blah=1)\n", "", "~does not take `blah` here");
    lowered(BODY "        T.copy(A[0, 0])\n", "", "~argument 2 is missing");
    lowered(BODY "        for i in [1, 2]:\n            pass\n", "",
            "~loop over T.Parallel, T.Pipelined, T.serial or range");
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
    lowered(CONSTANTS("M = 1\nM = host()\n", "M"), "", "~`M` is not defined");
    lowered(CONSTANTS("M = 1\nif host():\n    M = 2\n", "M"), "", "~`M` is not defined");
    lowered(CONSTANTS("M = 1\nfor i in range(3):\n    M += 2\n", "M"), "", "~`M` is not defined");
    lowered(CONSTANTS("M = 1\nif __name__ == \"__main__\":\n    M = 2\n", "M + 41"), "", "~42");
}

int main(void) {
    test_kernels();
    test_constants();
    test_diagnostics();
    return check_done();
}
