/* SPDX-License-Identifier: Apache-2.0 */
/* test_hip.c: emitted kernels for AMD's GPUs on the emulator: every matrix instruction on tiles of whole and of odd extents,
 * operands that lie along K and across it, waves of 64 and of 32; and mutants of the text, each of which the emulator or the
 * numbers must catch. */
#include "cuda_bench.h"
#include "target/hip/emu/hip_emu_core.h"
#include "target/hip/hip.h"

/* CudaPlan: what the bench runs. */
static CudaPlan *emit(PassContext *cx, Kernel *k) {
    SimtPlan *simt = hip_emit(cx, k);
    CudaPlan *plan = ARENA_NEW(k->module->arena, CudaPlan);
    if (simt) plan->simt = *simt;
    return simt ? plan : NULL;
}

static bool open_hip(CudaBench *b, const char *text, const char *machine, int warps, int slots) {
    PassOptions options = pass_options_default;
    options.num_warps = warps;
    options.slots = slots;
    options.generic = REQUIRE_ALIGNED;
    bool good = cuda_bench_open_on(b, text, machine_find(machine), options, emit);
    if (good && getenv("SHOW")) fputs(b->plan->text, stderr);
    b->launch = hip_emu_launch;
    return good;
}

/* --- dots --- */
typedef struct Product {
    const char *machine, *must;
    Elem factor, sum;
    int m, n, k, warps;
    bool turned; /* b lies along K */
} Product;
static const Product products[] = {
    {"hip:gfx942", "tw_mfma_32x32_bf16", EL_BF16, EL_F32, 64, 64, 64, 4, false},
    {"hip:gfx942", "tw_mfma_32x32_f16", EL_F16, EL_F32, 64, 128, 48, 2, true},
    {"hip:gfx942", "tw_mfma_32x32_f16", EL_F16, EL_F32, 72, 40, 20, 4, true},
    {"hip:gfx942", "f32 whole[16]", EL_F16, EL_F32, 64, 17, 16, 4, true}, /* the thread holds 12 of a tile's 16 numbers */
    {"hip:gfx90a", "f32 whole[32]", EL_BF16, EL_F32, 32, 40, 32, 1, false},
    {"hip:gfx1100", "f32 whole[16]", EL_F16, EL_F32, 16, 17, 16, 1, true},
    {"hip:gfx942", "tw_trade(4, fb[kk", EL_F16, EL_F32, 40, 72, 20, 4, false}, /* the halves of pairs across K, odd extents */
    {"hip:gfx942", "tw_trade(4, fb[kk", EL_BF16, EL_F32, 96, 64, 64, 2, false}, /* .. read a step early */
    {"hip:gfx942", "tw_mfma_16x16_bf16", EL_BF16, EL_F32, 16, 64, 64, 1, true},
    {"hip:gfx942", "tw_mfma_16x16_f16", EL_F16, EL_F32, 48, 16, 16, 4, false},
    {"hip:gfx942", "tw_mfma_32x32_f32", EL_F32, EL_F32, 64, 32, 20, 2, false},
    {"hip:gfx942", "tw_mfma_16x16_f32", EL_F32, EL_F32, 16, 16, 32, 1, true},
    {"hip:gfx942", "tw_mfma_16x16_f64", EL_F64, EL_F64, 32, 32, 16, 4, false},
    {"hip:gfx942", "tw_mfma_16x16_f64", EL_F64, EL_F64, 16, 48, 12, 2, true},
    {"hip:gfx942", "tw_mfma_32x32_i8", EL_I8, EL_I32, 32, 64, 64, 2, true},
    {"hip:gfx942", "tw_mfma_16x16_i8", EL_I8, EL_I32, 16, 32, 40, 1, false},
    {"hip:gfx942", "tw_mfma_32x32_e4b8", EL_F8E4B8, EL_F32, 32, 32, 64, 1, true},
    {"hip:gfx942", "tw_mfma_16x16_e5b16", EL_F8E5B16, EL_F32, 16, 32, 32, 2, false},
    {"hip:gfx90a", "tw_mfma_32x32_bf16", EL_BF16, EL_F32, 128, 64, 32, 4, false},
    {"hip:gfx90a", "tw_mul(", EL_U8, EL_I32, 32, 32, 16, 1, true}, /* the chip multiplies none of these */
    {"hip:gfx1100", "tw_wmma_16x16_bf16", EL_BF16, EL_F32, 64, 64, 64, 4, false},
    {"hip:gfx1100", "tw_wmma_16x16_f16", EL_F16, EL_F32, 40, 72, 20, 4, true},
    {"hip:gfx1100", "tw_wmma_16x16_i8", EL_I8, EL_I32, 32, 32, 64, 2, true},
    {"hip:gfx1100", "tw_wmma_16x16_u8", EL_U8, EL_I32, 16, 16, 16, 1, false},
    {"hip:gfx1100", "tw_fma", EL_F32, EL_F32, 32, 32, 16, 2, false},
};

static void write_product(char *text, size_t size, const Product *p) {
    const char *a = elem_info[p->factor].text, *c = elem_info[p->sum].text;
    char right[400];
    if (p->turned)
        snprintf(right, sizeof right, "%%bt = tload %%B, [0, 0] : %s[%d,%d] ; %%b = permute<dims=[1,0]> %%bt", a, p->n, p->k);
    else
        snprintf(right, sizeof right, "%%b = tload %%B, [0, 0] : %s[%d,%d]", a, p->k, p->n);
    snprintf(text, size,
             "kernel @k(%%x, %%y: *%s, %%z: *%s) {\n"
             "  %%A = tensor %%x, [%d, %d], [%d, 1] ; %%B = tensor %%y, [%d, %d], [%d, 1] ; %%C = tensor %%z, [%d, %d], [%d, 1]\n"
             "  %%a = tload %%A, [0, 0] : %s[%d,%d] ; %s\n"
             "  %%c = tload %%C, [0, 0] : %s[%d,%d] ; %%d = dot %%a, %%b, %%c ; tstore %%C, [0, 0], %%d ; return }\n",
             a, c, p->m, p->k, p->k, p->turned ? p->n : p->k, p->turned ? p->k : p->n, p->turned ? p->k : p->n, p->m, p->n,
             p->n, a, p->m, p->k, right, c, p->m, p->n);
}

static void test_product(const Product *p) {
    char text[2000];
    CudaBench b;
    write_product(text, sizeof text, p);
    bool good = open_hip(&b, text, p->machine, p->warps, 0) && strstr(b.plan->text, p->must);
    if (good) {
        cuda_bench_array(&b, "x", p->factor, (int64_t)p->m * p->k, true);
        cuda_bench_array(&b, "y", p->factor, (int64_t)p->k * p->n, true);
        cuda_bench_array(&b, "z", p->sum, (int64_t)p->m * p->n, true);
        good = cuda_bench_run(&b, 1, 1, 1) && cuda_bench_error(&b, 2, p->sum == EL_F64 ? 1e-13 : elem_info[p->factor].bits == 8 ? 1e-4 : 1e-5) <= 1;
    }
    if (!good) fprintf(stderr, "%s by %s: %d x %d x %d on %d waves\n", p->machine, p->must, p->m, p->n, p->k, p->warps);
    CHECK(good);
    cuda_bench_close(&b);
}

/* --- mutants --- */
typedef struct Mutant {
    const char *title, *machine, *from, *to;
    EmuFault want; /* EMU_FAULT_NONE: it runs, and gives other numbers */
    int slots;     /* whose loads run ahead; 0: flat */
} Mutant;
static const char matmul[] =
    "kernel @k(%x, %y, %z: *f16, %K: i32) {\n"
    "  %X = tensor %x, [64, %K], [128, 1] ; %Y = tensor %y, [64, %K], [128, 1] ; %Z = tensor %z, [64, 64], [64, 1] ; %c = splat 0.0 : f32[64,64]\n"
    "  %d = for %k = 0, %K, 64 (%acc = %c) { %a = tload %X, [0, %k] : f16[64,64] ; %bt = tload %Y, [0, %k] : f16[64,64]\n"
    "    %b = permute<dims=[1,0]> %bt ; %e = dot %a, %b, %acc ; yield %e }\n"
    "  %h = cast %d : f16[64,64] ; tstore %Z, [0, 0], %h ; return }\n";

static const char matmul_ahead[] =
    "kernel @k(%x, %y, %z: *f16, %K: i32) {\n"
    "  %X = tensor %x, [64, 128], [128, 1] ; %Y = tensor %y, [64, 128], [128, 1] ; %Z = tensor %z, [64, 64], [64, 1] ; %c = splat 0.0 : f32[64,64]\n"
    "  %d = for %k = 0, %K, 32 (%acc = %c) { %a = tload %X, [0, %k] : f16[64,32] ; %bt = tload %Y, [0, %k] : f16[64,32]\n"
    "    %b = permute<dims=[1,0]> %bt ; %e = dot %a, %b, %acc ; yield %e }\n"
    "  %h = cast %d : f16[64,64] ; tstore %Z, [0, 0], %h ; return }\n";

/* Rows of 512 by lanes and by warps; what is outside of 496 counts as 1, and is not written. */
static const char rows[] =
    "kernel @k(%x, %y, %z: *f16, %K: i32) {\n"
    "  %X = tensor %x, [4, 496], [512, 1] ; %Z = tensor %z, [4, 496], [512, 1] ; %a = tload<fill=1.0> %X, [0, 0] : f16[4,512]\n"
    "  %f = cast %a : f32[4,512] ; %s = reduce<add, axis=1> %f ; %h = cast %s : f16[4] ; %i = reshape %h : f16[4,1]\n"
    "  %j = broadcast %i : f16[4,512] ; tstore %Z, [0, 0], %j ; return }\n";

static const Mutant mutants[] = {
    {"no barrier between the tile and its product", "hip:gfx942", "tw_sync();\n        {", "{", EMU_FAULT_RACE, 0},
    {"no barrier, waves of 32", "hip:gfx1100", "tw_sync();\n        {", "{", EMU_FAULT_RACE, 0},
    {"a product of some lanes", "hip:gfx942", "tw_mfma_32x32_f16(", "if (lane != 5) tw_mfma_32x32_f16(", EMU_FAULT_DEADLOCK, 0},
    {"halves of a wave that differ", "hip:gfx1100", "(lane & 15)", "lane", HIP_FAULT_MATRIX, 0},
    {"another column", "hip:gfx942", "lane & 31", "(lane + 1) & 31", EMU_FAULT_NONE, 0},
    {"operands of the next step", "hip:gfx942", "fa[kk / 16 & 1][0]", "fa[(kk / 16 + 1) & 1][0]", EMU_FAULT_NONE, 0},
    {"another part of K", "hip:gfx942", "(lane >> 5) * 8", "(1 - (lane >> 5)) * 8", EMU_FAULT_NONE, 0},
    {"a trip that begins before its copies have landed", "hip:gfx942", "tw_copies_wait(8)", "tw_copies_wait(16)", EMU_FAULT_RACE, 3},
    {"the same, of the last trips, behind whose copies are none", "hip:gfx90a", "else tw_copies_wait(0)", "else tw_copies_wait(8)", EMU_FAULT_RACE, 3},
    {"copies of other waves, not waited for", "hip:gfx942", "else tw_copies_wait(0);\n            tw_sync();", "else tw_copies_wait(0);", EMU_FAULT_RACE, 3},
    {"a slot that is still read", "hip:gfx942", "in_put == 2", "in_put == 1", EMU_FAULT_RACE, 3},
    {"copies of a wave that are not side by side", "hip:gfx942", "warp * 256", "warp * 512", EMU_FAULT_RACE, 3},
    {"copies that do not know the swizzle", "hip:gfx942", "(u32)tw_tile_column(at0 +", "(u32)tw_tile_column(0 * at0 +", EMU_FAULT_NONE, 3},
    {"zeros for what is there", "hip:gfx942", "(i64)128)", "(i64)16)", EMU_FAULT_NONE, 3},
    {"the same of loads with bounds, through registers", "hip:gfx1100", "(i64)128)", "(i64)16)", EMU_FAULT_NONE, 1},
    {"a slot shown without a barrier, of a ring through registers", "hip:gfx1100", "tw_sync();\n            const i64 next_wide", "const i64 next_wide", EMU_FAULT_RACE, 2},
    {"a tile stored into the slot that is read", "hip:gfx1100", "place = in_a + in_slot_1", "place = in_a + (1 - in_slot_1)", EMU_FAULT_RACE, 2},
    {"a tile of the trip before", "hip:gfx1100", "a_kept[r] = a[r]", "a_kept[r] = a[r & 7]", EMU_FAULT_NONE, 2},
    {"the item of another trip", "hip:gfx1100", "in_get == 1 ? 0", "in_get == 0 ? 0", EMU_FAULT_RACE, 2},
    {"elements that lie elsewhere", "hip:gfx90a", "(u32)at1) * 2", "(u32)at1) * 2 + 16", EMU_FAULT_NONE, 1},
};
static const Mutant row_mutants[] = {
    {"another number outside", "hip:gfx942", "0x3c003c00u", "0u", EMU_FAULT_NONE, 0},
    {"stores of lanes that are outside", "hip:gfx942", "tw_stg_bounded(4, ", "tw_stg_bounded(4, true || ", EMU_FAULT_NONE, 0},
    {"stores at another place", "hip:gfx1100", "* 2, word)", "* 2 + 16, word)", EMU_FAULT_NONE, 0},
    {"a permute that comes from another lane", "hip:gfx942", "tw_lanes_add_down(part_2)", "(part_2 + tw_shfl_idx(part_2, lane ^ 31))", EMU_FAULT_NONE, 0},
    {"a permute of some lanes", "hip:gfx942", "tw_lanes_add_down(part_2)", "lane == 5 ? part_2 : tw_lanes_add_down(part_2)", EMU_FAULT_DEADLOCK, 0},
    {"a DPP that only RDNA has", "hip:gfx942", "tw_lanes_add_down(part_2)", "tw_as_f32(tw_hw_dpp(tw_as_u32(part_2), TW_ROW_XOR(4)))", EMU_FAULT_TRAP, 0},
    {"a DPP of another place in its row", "hip:gfx1100", "tw_shfl_xor(part[r], 2)", "tw_as_f32(tw_hw_dpp(tw_as_u32(part[r]), TW_ROW_ROTATE(1)))", EMU_FAULT_NONE, 0},
    {"a swizzle of the wrong half", "hip:gfx1100", "tw_shfl_xor(part[r], 16)", "tw_as_f32(tw_hw_swizzle(tw_as_u32(part[r]), TW_SWIZZLE_XOR(8)))", EMU_FAULT_NONE, 0},
};
static void try_mutant(const Mutant *m, const char *text) {
    CudaBench b;
    bool good = open_hip(&b, text, m->machine, 4, m->slots);
    CHECK(good);
    const char *at = good && m->from ? strstr(b.plan->text, m->from) : NULL;
    CHECK(!good || !m->from || at || (fprintf(stderr, "%s: `%s` is not in\n%s", m->title, m->from, b.plan->text), 0));
    if (good && (at || !m->from)) {
        if (at)
            b.plan->text = arena_printf(&b.arena, "%.*s%s%s", (int)(at - b.plan->text), b.plan->text, m->to, at + strlen(m->from));
        cuda_bench_array(&b, "x", EL_F16, 64 * 128, true);
        cuda_bench_array(&b, "y", EL_F16, 64 * 128, true);
        cuda_bench_array(&b, "z", EL_F16, 64 * 64, false);
        cuda_bench_int(&b, 128);
        void *entry = cuda_bench_compile(&b);
        const int64_t grid[3] = {1, 1, 1};
        bool clean = entry && cuda_bench_emulate(&b, entry, grid);
        CHECK(b.report.fault == m->want || (fprintf(stderr, "%s: %s\n", m->title, b.report.text), 0));
        if (clean) {
            bool near = cuda_bench_interpret(&b, grid) && cuda_bench_error(&b, 2, 2e-3) <= 1;
            CHECK(near == !m->from || (fprintf(stderr, "%s: the numbers do not tell\n", m->title), 0));
        }
    }
    cuda_bench_close(&b);
}

/* --- refusals --- */
static void test_refusals(void) {
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"print<message=\"x\"> %a ; %r = add %a, 1.0", "target hip does not print yet"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        CudaBench b;
        snprintf(text, sizeof text,
                 "kernel @k(%%x: *f32) { %%X = tensor %%x, [64], [1] ; %%a = tload %%X, [0] : f32[64] ; %s ; tstore %%X, [0], %%r ; return }\n",
                 cases[i].body);
        bool good = open_hip(&b, text, "hip:gfx942", 1, 0);
        const char *said = diag_render(&b.diag, &b.arena);
        CHECK(!good && strstr(said, cases[i].says));
        if (good || !strstr(said, cases[i].says)) fprintf(stderr, "%s: %s\n", cases[i].body, said);
        cuda_bench_close(&b);
    }
}

int main(void) {
    if (!cuda_bench_have("c++")) {
        printf("skipped: no C++ compiler\n");
        return 0;
    }
    cuda_bench_begin();
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (check_chosen()) test_product(&products[i]);
    for (int i = 0; i < 4; i++)
        try_mutant(&(Mutant){.title = "as emitted", .machine = i % 2 ? "hip:gfx1100" : "hip:gfx942"}, i < 2 ? matmul : rows);
    for (int slots = 1; slots <= 4; slots++) {
        try_mutant(&(Mutant){.title = "as emitted, loads ahead", .machine = slots % 2 ? "hip:gfx90a" : "hip:gfx942", .slots = slots}, matmul_ahead);
        try_mutant(&(Mutant){.title = "as emitted, through registers", .machine = "hip:gfx1100", .slots = slots}, matmul_ahead);
    }
    for (size_t i = 0; i < sizeof mutants / sizeof *mutants; i++)
        if (check_chosen()) try_mutant(&mutants[i], mutants[i].slots ? matmul_ahead : matmul);
    for (size_t i = 0; i < sizeof row_mutants / sizeof *row_mutants; i++)
        if (check_chosen()) try_mutant(&row_mutants[i], rows);
    test_refusals();
    cuda_bench_end();
    return check_done();
}
