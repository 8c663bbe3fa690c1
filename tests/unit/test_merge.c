/* SPDX-License-Identifier: Apache-2.0 */
/* test_merge.c: the merge pass on the templates of Tile C.
 *
 * The template as the door writes it (roles, rings, a worker a warpgroup) and the flat program that
 * merge makes of it are run by the interpreter on the same inputs, under several orders of roles
 * and workers: the bits must be equal, and near a float64 product. Then what cannot be merged, each
 * with its message. */
#include "check.h"
#include "base/numeric.h"
#include "front/front.h"
#include "ir/interp/interp.h"
#include "pass/pass.h"

#include <math.h>
#include <stdlib.h>

typedef struct Fixture {
    Arena arena, scratch;
    Trap trap;
    SourceMap sources;
    Diag diag;
} Fixture;

static const char *read_matmul(Fixture *fx) {
    FILE *file = fopen("kernels/tilec/matmul.tile.c", "r");
    char *text = arena_alloc(&fx->arena, 1 << 16);
    if (!file) return text;
    text[fread(text, 1, (1 << 16) - 1, file)] = 0;
    fclose(file);
    return text;
}

/* The matmul with one piece of its text replaced, lowered; NULL after errors. */
static Kernel *lower(Fixture *fx, int mb, int nb, int stages, const char *from, const char *to) {
    source_init(&fx->sources, &fx->arena);
    diag_init(&fx->diag, &fx->arena, &fx->sources);
    const char *text = read_matmul(fx), *at = strstr(text, from);
    CHECK(at != NULL);
    if (!at) return NULL;
    text = arena_printf(&fx->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    FrontDefine defines[] = {{"MB", {.kind = FRONT_INT, .i = mb}},
                             {"NB", {.kind = FRONT_INT, .i = nb}},
                             {"STAGES", {.kind = FRONT_INT, .i = stages}},
                             {"GROUP", {.kind = FRONT_INT, .i = 2}}};
    FrontUnit unit = {.arena = &fx->arena, .diag = &fx->diag, .sources = &fx->sources};
    unit.defines = defines;
    unit.define_count = 4;
    unit.file = source_add(&fx->sources, "matmul.tile.c", text, strlen(text));
    unit.door = front_find("tilec");
    if (!unit.door->open(&unit)) return NULL;
    FrontRequest request = {.kernel = &unit.kernels.at[0]};
    request.module = ir_module_new(&fx->arena, &fx->diag, &fx->sources);
    return unit.door->lower(&unit, &request);
}

static bool run_passes(Fixture *fx, Kernel *k, const char *only) {
    PassContext cx = {.module = k->module,
                      .machine = machine_find("interp"),
                      .options = pass_options_default,
                      .scratch = &fx->scratch};
    PipelineRequest request = {.only = only, .verify_each = true};
    return pipeline_run(&cx, k, &request);
}

enum { LARGEST = 400 };
typedef struct Product {
    int m, n, k;
    uint16_t *a, *b, *c;
} Product;

static void fill(uint16_t *out, int count, unsigned *state) {
    for (int i = 0; i < count; i++) {
        *state = *state * 1664525u + 1013904223u;
        double value = ((double)(*state >> 8) / (1 << 24) - 0.5) * 2;
        float rounded = (float)elem_round(EL_BF16, value);
        uint32_t bits;
        memcpy(&bits, &rounded, 4);
        out[i] = (uint16_t)(bits >> 16);
    }
}

static double number(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, 4);
    return value;
}

/* Runs the kernel over its own grid (or `programs` of them) into p->c, which is poisoned first. */
static bool run(Fixture *fx, const Kernel *k, Product *p, uint64_t seed, int64_t programs) {
    size_t sizes[] = {(size_t)(p->m * p->k) * 2, (size_t)(p->k * p->n) * 2,
                      (size_t)(p->m * p->n) * 2};
    int64_t shape[3][2] = {{p->m, p->k}, {p->k, p->n}, {p->m, p->n}};
    uint16_t *data[] = {p->a, p->b, p->c};
    static const char *const names[] = {"g.A", "g.B", "g.C"};
    InterpArg args[3] = {{0}};
    InterpRegion regions[3];
    memset(p->c, 0xAB, sizes[2]);
    for (int i = 0; i < 3; i++) {
        args[i].pointer = data[i];
        args[i].extent[0] = shape[i][0];
        args[i].extent[1] = shape[i][1];
        args[i].stride[0] = shape[i][1];
        args[i].stride[1] = 1;
        regions[i] = (InterpRegion){names[i], data[i], sizes[i], i < 2};
    }
    InterpLaunch launch = {.kernel = k, .grid = {programs, 1, 1}, .args = args, .arg_count = 3};
    launch.regions = regions;
    launch.region_count = 3;
    launch.seed = seed;
    launch.sanitize = true;
    launch.arena = &fx->scratch;
    launch.diag = &fx->diag;
    if (!programs && !interp_grid(&launch, launch.grid)) return false;
    bool ok = interp_run(&launch);
    if (!ok || fx->diag.messages.count) fprintf(stderr, "%s", diag_render(&fx->diag, &fx->arena));
    return ok;
}

static void check_product(const Product *p) {
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = 0, scale = 0;
            for (int k = 0; k < p->k; k++) {
                double term = number(p->a[i * p->k + k]) * number(p->b[k * p->n + j]);
                sum += term;
                scale += fabs(term);
            }
            /* bf16's half unit in the last place, and an f32 rounding a term */
            double bound = fabs(sum) / 256 + scale * (p->k + 1) / (1 << 23) + 1e-30;
            if (fabs(number(p->c[i * p->n + j]) - sum) > bound) {
                fprintf(stderr, "%dx%dx%d at %d,%d: %g, not %g\n", p->m, p->n, p->k, i, j,
                        number(p->c[i * p->n + j]), sum);
                CHECK(!"the product is wrong");
                return;
            }
        }
    CHECK(true);
}

static void test_bits(Fixture *fx) {
    static const struct {
        int mb, nb, stages, m, n, k;
    } cases[] = {
        {2, 1, 4, 128, 64, 64}, {2, 1, 1, 100, 70, 130}, {2, 2, 3, 300, 260, 97},
        {1, 1, 2, 70, 33, 64},  {3, 1, 2, 200, 65, 65},  {2, 1, 4, 1, 1, 1},
        {2, 1, 2, 5, 0, 7},     {2, 1, 2, 0, 5, 7},      {2, 1, 3, 17, 19, 0},
    };
    unsigned state = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Product p = {cases[i].m, cases[i].n, cases[i].k, 0, 0, 0};
        p.a = calloc((size_t)(p.m * p.k) + 1, 2);
        p.b = calloc((size_t)(p.k * p.n) + 1, 2);
        p.c = calloc((size_t)(p.m * p.n) + 1, 2);
        uint16_t *source = calloc((size_t)(p.m * p.n) + 1, 2);
        fill(p.a, p.m * p.k, &state);
        fill(p.b, p.k * p.n, &state);
        Kernel *flat = lower(fx, cases[i].mb, cases[i].nb, cases[i].stages, "#include", "#include");
        CHECK(flat && run_passes(fx, flat, "fold,merge,raise"));
        if (!flat || fx->diag.errors) fprintf(stderr, "%s", diag_render(&fx->diag, &fx->arena));
        CHECK(run(fx, flat, &p, 0, 0));
        CHECK(fx->diag.messages.count == 0);
        check_product(&p);
        memcpy(source, p.c, (size_t)(p.m * p.n) * 2);
        Kernel *rings =
            lower(fx, cases[i].mb, cases[i].nb, cases[i].stages, "#include", "#include");
        for (uint64_t seed = 0; rings && seed < 3; seed++) {
            CHECK(run(fx, rings, &p, seed * 77, 1 + (int64_t)seed));
            CHECK(memcmp(source, p.c, (size_t)(p.m * p.n) * 2) == 0);
        }
        free(p.a), free(p.b), free(p.c), free(source);
    }
}

static void test_refusals(Fixture *fx) {
    static const struct {
        const char *from, *to, *want;
    } cases[] = {
        {"tma_expect(a->inputs_arrived, a->input);\n        for (int i = 0; i < MB; i++)",
         "tma_expect(a->inputs_arrived, a->input->a[0], a->input->b);\n        for (int i = 0; i < "
         "1; i++)",
         "a part of `a` of the input block is never written"},
        {"a->num_iters = -1;", "a->num_iters = 0;", "num_iters never becomes negative"},
        {"at(a->common->row + id, a->common->col + i)", "at(a->common->row, a->common->col + i)",
         "every worker stores the same box"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Kernel *k = lower(fx, 2, 4, 4, cases[i].from, cases[i].to);
        bool ok = k && run_passes(fx, k, "fold,merge");
        const char *got = diag_render(&fx->diag, &fx->arena);
        if (ok || !strstr(got, cases[i].want)) fprintf(stderr, "case: %s\n%s", cases[i].to, got);
        CHECK(!ok && strstr(got, cases[i].want) != NULL);
    }
    /* Stores in another order, or with a gap, are made one by one, and are right. */
    Kernel *k = lower(fx, 2, 4, 4, "for (int i = 0; i < NB; i++)\n            tma_store",
                      "for (int i = 1; i < NB; i++)\n            tma_store");
    CHECK(k && run_passes(fx, k, "fold,merge,raise"));
    CHECK(k && strstr(ir_print(k, &fx->arena), "slice"));
    /* One tile four times is as many elements as four tiles, but does not cover them. */
    k = lower(fx, 2, 4, 4, "&a->finish->c[id][i], at(a->common->row + id, a->common->col + i)",
              "&a->finish->c[id][0], at(a->common->row + id, a->common->col)");
    CHECK(k && run_passes(fx, k, "fold,merge,raise"));
    CHECK(k && strstr(ir_print(k, &fx->arena), "slice"));
}

/* What does not become one program on whole tiles runs worker by worker, what does runs row by row on those of all: bit
 * for bit as the rings that were written. */
#define WAIT "    warpgroup_mma_wait(0);\n"
static void test_apart(Fixture *fx) {
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"at(a->common->row + i, a->iter)", "at(a->common->row + 1 - i, a->iter)"},
        {"a->task_iter * gridDim.x + blockIdx.x", "a->task_iter + blockIdx.x"},
        {"cdiv(a->globals->A.cols, K_BLOCK)", "cdiv(a->globals->A.cols, K_BLOCK) - 1"},
        {"a->input->a[warpgroup_groupid()]", "a->input->a[1 - warpgroup_groupid()]"},
        {"    warpgroup_mma_wait(0);", "    warpgroup_mma_wait(0);\n    if (a->iter == 1) warpgroup_mul(&a->state->acc, &a->state->acc, 2);"},
        {"int task = a->task_iter * gridDim.x + blockIdx.x;",
         "int task = blockIdx.x + a->task_iter * gridDim.x; if (a->globals->A.rows > 4000) { a->num_iters = -1; return; }"},
        {WAIT, WAIT "warpgroup_fill(&a->state->acc, warpgroup_groupid() * 3 + a->iter);"},
        {WAIT, WAIT "warpgroup_tril(&a->state->acc, &a->state->acc, (a->common->row + warpgroup_groupid() - a->common->col) * 64, 3);"},
        {WAIT, WAIT "warp_right_fill(&a->state->acc, &a->state->acc, 100 - a->iter * 10, 2);"},
        {WAIT, WAIT "warpgroup_make_causal(&a->state->acc, &a->state->acc, -1);"},
        {WAIT, WAIT "warpgroup_triu(&a->state->acc, &a->state->acc, warpgroup_groupid() * 5 - a->iter, 4);"},
        {WAIT, WAIT "col_vec(rt_fl(16, 64 * NB)) v; warp_row_max(&v, &a->state->acc); warp_mul(&v, &v, 0.5f);"
               "warp_sub_row(&a->state->acc, &a->state->acc, &v);"},
    };
    uint32_t state = 5;
    enum { APART = 7 }; /* those before it stay apart, the others merge */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Product p = {150, 300, 130, 0, 0, 0};
        p.a = calloc((size_t)(p.m * p.k), 2);
        p.b = calloc((size_t)(p.k * p.n), 2);
        p.c = calloc((size_t)(p.m * p.n), 2);
        uint16_t *source = calloc((size_t)(p.m * p.n), 2);
        fill(p.a, p.m * p.k, &state);
        fill(p.b, p.k * p.n, &state);
        Kernel *apart = lower(fx, 2, 4, 4, cases[i].from, cases[i].to);
        CHECK(apart && run_passes(fx, apart, "fold,merge,raise"));
        CHECK(apart && (strstr(ir_print(apart, &fx->arena), "f32[128,256]") != NULL) == (i >= APART));
        if (!apart || fx->diag.errors) fprintf(stderr, "%s\n%s", cases[i].to, diag_render(&fx->diag, &fx->arena));
        if (!apart || fx->diag.errors) continue;
        CHECK(run(fx, apart, &p, 0, 0));
        memcpy(source, p.c, (size_t)(p.m * p.n) * 2);
        Kernel *rings = lower(fx, 2, 4, 4, cases[i].from, cases[i].to);
        memset(p.c, 0, (size_t)(p.m * p.n) * 2);
        CHECK(rings && run(fx, rings, &p, 77, 1));
        CHECK(memcmp(source, p.c, (size_t)(p.m * p.n) * 2) == 0);
        free(p.a), free(p.b), free(p.c), free(source);
    }
}

static void test_form(Fixture *fx) {
    Kernel *k = lower(fx, 2, 4, 4, "#include", "#include");
    CHECK(k && run_passes(fx, k, "fold,merge,raise"));
    if (!k) return;
    const char *text = ir_print(k, &fx->arena), *loop = strstr(text, "  %acc = splat");
    CHECK_TEXT(loop ? loop : text,
               "  %acc = splat 0.0 : f32[128,256]\n"
               "  %acc_1 = for<stages=4> %iter = 0, %num_iters, 1 (%acc_2 = %acc) {\n"
               "    %18 = mul %iter, 64\n"
               "    %a = tload %g.A, [%16, %18] : bf16[128,64]\n"
               "    %b = tload %g.B, [%18, %17] : bf16[64,256]\n"
               "    %acc_3 = dot %a, %b, %acc_2\n"
               "    yield %acc_3\n"
               "  }\n"
               "  %19 = cast %acc_1 : bf16[128,256]\n"
               "  tstore %g.C, [%16, %17], %19\n"
               "}\n");
}

int main(void) {
    static Fixture fx;
    arena_init(&fx.arena, allocator_malloc, &fx.trap);
    arena_init(&fx.scratch, allocator_malloc, &fx.trap);
    if (!TRAP_ARM(&fx.trap)) {
        fprintf(stderr, "%s\n", fx.trap.message);
        return 2;
    }
    test_form(&fx);
    test_bits(&fx);
    test_refusals(&fx);
    test_apart(&fx);
    arena_free(&fx.arena);
    arena_free(&fx.scratch);
    return check_done();
}
