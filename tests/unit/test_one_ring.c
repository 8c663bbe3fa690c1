/* SPDX-License-Identifier: Apache-2.0 */
/* test_one_ring.c: a matmul has one ring form, whichever door it came through.
 *
 * Triton's pointers and masks, TileLang's copies and Tile C's load-compute-finish template, at
 * equal tile sizes, element type and stages, must give equal texts of ring_canonical on every
 * machine that runs roles; a change of any of them must not. */
#include "check.h"
#include "front/front.h"
#include "pass/pass.h"
#include "pass/ring/ring.h"

#include <stdlib.h>

static const char tilelang[] =
    "import tilelang\n"
    "import tilelang.language as T\n"
    "@tilelang.jit\n"
    "def matmul(M, N, K, block_M=128, block_N=128, block_K=64, num_stages=3, dtype='bfloat16'):\n"
    "    @T.prim_func\n"
    "    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), "
    "dtype)):\n"
    "        with T.Kernel(T.ceildiv(N, block_N), T.ceildiv(M, block_M), threads=256) as (bx, "
    "by):\n"
    "            A_shared = T.alloc_shared((block_M, block_K), dtype)\n"
    "            B_shared = T.alloc_shared((block_K, block_N), dtype)\n"
    "            C_local = T.alloc_fragment((block_M, block_N), 'float32')\n"
    "            T.clear(C_local)\n"
    "            for k in T.Pipelined(T.ceildiv(K, block_K), num_stages=num_stages):\n"
    "                T.copy(A[by * block_M, k * block_K], A_shared)\n"
    "                T.copy(B[k * block_K, bx * block_N], B_shared)\n"
    "                T.gemm(A_shared, B_shared, C_local)\n"
    "            T.copy(C_local, C[by * block_M, bx * block_N])\n"
    "    return main\n";

typedef struct Source {
    const char *name, *text; /* text NULL: the file of that name */
    FrontDefine defines[6];
    int define_count;
} Source;

#define INT(n) \
    { .kind = FRONT_INT, .i = n }

static char *read_file(const char *name, Arena *arena) {
    FILE *file = fopen(name, "rb");
    char *text = arena_alloc(arena, 1 << 16);
    if (!file) return NULL;
    size_t size = fread(text, 1, (1 << 16) - 1, file);
    text[size] = 0;
    fclose(file);
    return text;
}

/* Arrays are bf16 matrices of 512 x 512; what the kernel calls BM, BN, BK is given as a constant.
 */
static FrontValue argument(const FrontParam *param, int tile_n) {
    static const char *const constants[] = {"BM", "BN", "BK"};
    const int numbers[] = {128, tile_n, 64};
    for (int i = 0; i < 3; i++)
        if (strcmp(param->name, constants[i]) == 0) return (FrontValue)INT(numbers[i]);
    bool array =
        strstr(param->name, "_ptr") || param->kind == FRONT_TENSOR || param->kind == FRONT_POINTER;
    if (!array) return (FrontValue){.kind = param->optional ? FRONT_ABSENT : FRONT_INT, .i = 512};
    return (FrontValue){
        .kind = FRONT_ARRAY, .elem = EL_BF16, .rank = 2, .extent = {512, 512}, .stride = {512, 1}};
}

static char *canonical(const Source *s, const char *machine, int tile_n, Arena *arena,
                       Arena *scratch) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    const char *text = s->text ? s->text : read_file(s->name, arena);
    CHECK(text != NULL);
    if (!text) return "";
    FrontUnit unit = {.arena = arena,
                      .diag = &diag,
                      .sources = &sources,
                      .defines = s->defines,
                      .define_count = s->define_count};
    unit.file = source_add(&sources, s->name, text, strlen(text));
    unit.door = front_choose(s->name, text);
    char *out = "";
    if (unit.door && unit.door->open(&unit) && unit.kernels.count) {
        const FrontKernel *kernel =
            &unit.kernels.at[unit.kernels.count - 1]; /* helpers come first */
        FrontValue *args = ARENA_ARRAY(arena, FrontValue, kernel->param_count);
        for (int i = 0; i < kernel->param_count; i++)
            args[i] = argument(&kernel->params[i], tile_n);
        Module *m = ir_module_new(arena, &diag, &sources);
        Kernel *k =
            unit.door->lower(&unit, &(FrontRequest){.kernel = kernel, .args = args, .module = m});
        PassContext cx = {.module = m, .machine = machine_find(machine), .options = pass_options_default, .scratch = scratch};
        cx.options.num_stages = 3;
        if (k &&
            pipeline_run(&cx, k, &(PipelineRequest){.verify_each = true, .stop_after = "ring"}))
            out = ring_canonical(k, arena);
    }
    CHECK_TEXT(diag_render(&diag, arena), "");
    CHECK(*out != 0);
    return out;
}

static void compare_doors(const char *machine) {
    static const Source triton = {.name = "kernels/triton/matmul.py"};
    static const Source lang = {.name = "gemm.py",
                                .text = tilelang,
                                .defines = {{"M", INT(512)}, {"N", INT(512)}, {"K", INT(512)}},
                                .define_count = 3};
    static const Source tile = {
        .name = "kernels/tilec/matmul.tile.c", .defines = {{"NB", INT(2)}}, .define_count = 1};
    Trap trap;
    Arena arena, scratch;
    arena_init(&arena, allocator_malloc, &trap);
    arena_init(&scratch, allocator_malloc, &trap);
    if (TRAP_ARM(&trap)) {
        char *want = canonical(&triton, machine, 128, &arena, &scratch);
        CHECK_TEXT(canonical(&lang, machine, 128, &arena, &scratch), want);
        CHECK_TEXT(canonical(&tile, machine, 128, &arena, &scratch), want);
        CHECK(strcmp(canonical(&triton, machine, 256, &arena, &scratch), want) != 0);
    } else {
        CHECK_TEXT(trap.message, "no trap");
    }
    arena_free(&arena);
    arena_free(&scratch);
}

int main(void) {
    compare_doors("cuda:sm_90a");
    compare_doors("cuda:sm_80");
    compare_doors("tenstorrent");
    return check_done();
}
