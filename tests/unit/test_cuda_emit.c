/* test_cuda_emit.c: emitted CUDA kernels on the emulator, against the interpreter, and through nvcc
 * where it is found. */
#include "cuda_bench.h"

static const char add_text[] =
    "kernel @add(%x, %y, %z: *f32, %n: i32) {\n"
    "  %pid = program_id<0> ; %o = mul %pid, 1024\n"
    "  %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %Z = tensor %z, [%n], [1]\n"
    "  %a = tload %X, [%o] : f32[1024] ; %b = tload %Y, [%o] : f32[1024] ; %c = add %a, %b\n"
    "  tstore %Z, [%o], %c\n"
    "  return }\n";

static PassOptions warps(int n) {
    PassOptions options = pass_options_default;
    options.num_warps = n;
    options.num_stages = 1; /* flat, where the text has no roles */
    return options;
}

/* A kernel on the emulator; `text` shown on SHOW=name. */
static bool open_bench(CudaBench *b, const char *text, const char *machine, PassOptions options) {
    bool good = cuda_bench_open(b, text, machine, options);
    CHECK(good);
    if (good && getenv("SHOW") && strcmp(getenv("SHOW"), b->plan->name) == 0)
        fputs(b->plan->text, stderr);
    return good;
}

static void test_add(void) {
    static const int sizes[] = {4096, 1000, 1, 0};
    for (int i = 0; i < 4; i++) {
        int n = sizes[i];
        CudaBench b;
        if (!open_bench(&b, add_text, "cuda:sm_90a", warps(4))) return;
        for (int j = 0; j < 3; j++)
            cuda_bench_array(&b, j == 0 ? "x" : j == 1 ? "y" : "z", EL_F32, n, j < 2);
        cuda_bench_int(&b, n);
        CHECK(strstr(b.plan->text, "tw_load_row<4>") != NULL);
        CHECK(cuda_bench_run(&b, (n + 1023) / 1024, 1, 1));
        CHECK(cuda_bench_error(&b, 2, 1e-12) <= 1);
        cuda_bench_close(&b);
    }
}

static const char softmax_text[] =
    "kernel @softmax(%X, %Y: *f32, %R, %C, %sx, %sy: i32) {\n"
    "  %row = program_id<0>\n"
    "  %TX = tensor %X, [%R, %C], [%sx, 1] ; %TY = tensor %Y, [%R, %C], [%sy, 1]\n"
    "  %x = tload<fill=-inf> %TX, [%row, 0] : f32[1024]\n"
    "  %mx = reduce<max, axis=0> %x ; %d = sub %x, %mx ; %e = exp %d\n"
    "  %sm = reduce<add, axis=0, order=[0,1,9,8,7,2,3,4,5,6]> %e ; %y = div %e, %sm\n"
    "  tstore %TY, [%row, 0], %y\n"
    "  return }\n";

static void test_softmax(void) {
    static const int widths[] = {1024, 1000, 5}, counts[] = {1, 4, 8};
    unsigned char first[4 * 3 * 1024];
    for (int w = 0; w < 3; w++)
        for (int i = 0; i < 3; i++) {
            int n = widths[w], stride = (n + 3) / 4 * 4;
            CudaBench b;
            if (!open_bench(&b, softmax_text, "cuda:sm_90a", warps(counts[i]))) return;
            cuda_bench_array(&b, "X", EL_F32, 3 * stride, true);
            cuda_bench_array(&b, "Y", EL_F32, 3 * stride, false);
            cuda_bench_int(&b, 3);
            cuda_bench_int(&b, n);
            cuda_bench_int(&b, stride);
            cuda_bench_int(&b, stride);
            CHECK(cuda_bench_run(&b, 3, 1, 1));
            CHECK(cuda_bench_error(&b, 1, 1e-6) <= 1);
            /* the order is stamped: the same bits with any number of warps */
            if (i == 0)
                memcpy(first, b.arrays[1].memory[1], (size_t)(12 * stride));
            else
                CHECK(memcmp(first, b.arrays[1].memory[1], (size_t)(12 * stride)) == 0);
            cuda_bench_close(&b);
        }
}

/* C = A B, tiles $M x $N x $K, elements $T, output $O. */
static const char matmul_text[] =
    "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %pm = program_id<0> ; %pn = program_id<1> ; %m = mul %pm, $M ; %n = mul %pn, $N\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor "
    "%C, [%M, %N], [%sc, 1]\n"
    "  %z = splat 0.0 : f32[$M,$N] ; %nk = cdiv %K, $K\n"
    "  %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "    %kk = mul %k, $K ; %a = tload %TA, [%m, %kk] : $T[$M,$K] ; %b = tload %TB, [%kk, %n] : "
    "$T[$K,$N]\n"
    "    %c1 = dot %a, %b, %c ; yield %c1 }\n"
    "  %h = cast %acc : $T[$M,$N] ; tstore %TC, [%m, %n], %h\n"
    "  return }\n";

static const char *expand(Arena *arena, const char *text, const char *type, int m, int n, int k) {
    Text t = text_new(arena);
    for (; *text; text++) {
        if (*text != '$') {
            text_add_char(&t, *text);
            continue;
        }
        text++;
        if (*text == 'T')
            text_add(&t, "%s", type);
        else
            text_add(&t, "%d", *text == 'M' ? m : *text == 'N' ? n : k);
    }
    return t.at;
}

typedef struct MatmulCase {
    const char *type, *machine;
    int warps, bm, bn, bk; /* the tile */
    int m, n, k;           /* the problem */
    const char *has;       /* what the text must say */
} MatmulCase;

static const char *wanted_execution; /* NULL: any */

static void run_matmul(const MatmulCase *c, const char *source, PassOptions options, void *bits) {
    Trap trap;
    Arena arena;
    arena_init(&arena, allocator_malloc, &trap);
    const char *text = expand(&arena, source, c->type, c->bm, c->bn, c->bk);
    Elem elem = strcmp(c->type, "f32") == 0   ? EL_F32
                : strcmp(c->type, "f16") == 0 ? EL_F16
                                              : EL_BF16;
    CudaBench b;
    if (open_bench(&b, text, c->machine, options)) {
        int sa = (c->k + 7) / 8 * 8, sb = (c->n + 7) / 8 * 8;
        cuda_bench_array(&b, "A", elem, (int64_t)c->m * sa, true);
        cuda_bench_array(&b, "B", elem, (int64_t)c->k * sb, true);
        cuda_bench_array(&b, "C", elem, (int64_t)c->m * sb, false);
        int numbers[6] = {c->m, c->n, c->k, sa, sb, sb};
        for (int i = 0; i < 6; i++) cuda_bench_int(&b, numbers[i]);
        CHECK(!wanted_execution || strcmp(b.plan->execution, wanted_execution) == 0);
        if (!strstr(b.plan->text, c->has)) fprintf(stderr, "%s\n", b.plan->text);
        CHECK(strstr(b.plan->text, c->has) != NULL);
        bool good = cuda_bench_run(&b, (c->m + c->bm - 1) / c->bm, (c->n + c->bn - 1) / c->bn, 1);
        CHECK(good);
        double error = cuda_bench_error(&b, 2,
                                        elem == EL_F32   ? 1e-5
                                        : elem == EL_F16 ? 2e-3
                                                         : 1.6e-2);
        CHECK(error <= 1);
        if (!good || !(error <= 1))
            fprintf(stderr, "  matmul %s %dx%dx%d, tile %dx%dx%d, %d warps\n", c->type, c->m, c->n,
                    c->k, c->bm, c->bn, c->bk, c->warps);
        if (bits) memcpy(bits, b.arrays[2].memory[1], (size_t)(c->m * sb * elem_info[elem].bytes));
        cuda_bench_close(&b);
    }
    arena_free(&arena);
}

static void test_matmul_flat(void) {
    static const MatmulCase cases[] = {
        {"f32", "cuda:sm_90a", 4, 32, 32, 16, 64, 64, 40, "tw_fma"},
        {"f32", "cuda:sm_80", 4, 64, 64, 32, 70, 50, 33, "tw_fma"},
        {"f16", "cuda:sm_80", 4, 32, 32, 32, 64, 64, 64, "tw_mma_f16"},
        {"bf16", "cuda:sm_80", 8, 64, 32, 16, 70, 50, 40, "tw_mma_bf16"},
        {"f16", "cuda:sm_90a", 2, 32, 64, 32, 40, 72, 24, "tw_mma_f16"},
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 128, "tw_wgmma_ss_64_f16_01"},
        {"bf16", "cuda:sm_90a", 8, 128, 128, 64, 130, 120, 72, "tw_wgmma_ss_128_bf16_01"},
        {"bf16", "cuda:sm_90a", 4, 128, 32, 32, 100, 33, 40, "tw_wgmma_ss_32_bf16_01"},
        {"bf16", "cuda:sm_90a", 4, 64, 96, 48, 64, 96, 96, "tw_wgmma_ss_96_bf16_01"},
        {"f16", "cuda:sm_90a", 4, 48, 40, 40, 50, 60, 70, "tw_wgmma_ss_40_f16_01"},
        {"f16", "cuda:sm_90a", 4, 16, 16, 16, 16, 16, 16, "tw_mma_f16"},
        {"f16", "cuda:sm_90a", 4, 8, 16, 16, 9, 17, 18, "tw_fma"},
        {"f16", "cuda:sm_90a", 4, 64, 64, 64, 64, 64, 0, "tw_wgmma"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_matmul(&cases[i], matmul_text, warps(cases[i].warps), NULL);
}

/* The same with roles. $S slots, $H hold, $P persist, $W workers. */
static const char roles_text[] =
    "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"
    "  %nm = cdiv %M, $M ; %nn = cdiv %N, $N ; %nk = cdiv %K, $K ; %np = num_programs<0> ; %nq = "
    "num_programs<1>\n"
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor "
    "%C, [%M, %N], [%sc, 1]\n"
    "  %in  = ring<from=load, to=compute, slots=$S, hold=$H> : {a: $T[$M,$K], b: $T[$K,$N]}\n"
    "  %out = ring<from=compute, to=store, slots=1> : {c: $T[$M,$N]}\n"
    "  tasks %pm, %pn in %np, %nq <order=row$P> {\n"
    "    %m = mul %pm, $M ; %n = mul %pn, $N\n"
    "    role load$L {\n"
    "      for %k = 0, %nk, 1 {\n"
    "        %kk = mul %k, $K ; %s = acquire %in\n"
    "        %a = tload %TA, [%m, %kk] : $T[$M,$K] ; put %s.a, %a\n"
    "        %b = tload %TB, [%kk, %n] : $T[$K,$N] ; put %s.b, %b ; commit %in, %s } }\n"
    "    role compute<workers=$W, by=m> {\n"
    "      %z = splat 0.0 : f32[$M,$N]\n"
    "      %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "        %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %c1 = dot %a, %b, %c ; release %in, "
    "%s ; yield %c1 }\n"
    "      %h = cast %acc : $T[$M,$N] ; %o = acquire %out ; put %o.c, %h ; commit %out, %o }\n"
    "    role store$O { %o = wait %out ; %h = get %o.c ; tstore %TC, [%m, %n], %h ; release %out, "
    "%o } } }\n";

typedef struct RolesCase {
    int slots, hold, workers;
    bool persist, own_store, generic, skew;
} RolesCase;

/* Fills in the plan's attributes; the rest is run_matmul's. */
static const char *plan_text(Arena *arena, const RolesCase *r) {
    Text t = text_new(arena);
    for (const char *s = roles_text; *s; s++) {
        if (*s == '$' && s[1] == 'S')
            text_add(&t, "%d", r->slots);
        else if (*s == '$' && s[1] == 'H')
            text_add(&t, "%d", r->hold);
        else if (*s == '$' && s[1] == 'W')
            text_add(&t, "%d", r->workers);
        else if (*s == '$' && s[1] == 'P')
            text_add(&t, "%s", r->persist ? ", persist" : "");
        else if (*s == '$' && s[1] == 'L')
            text_add(&t, "%s", r->skew ? "<on=compute>" : "");
        else if (*s == '$' && s[1] == 'O')
            text_add(&t, "%s", r->own_store ? "" : "<on=compute>");
        else {
            text_add_char(&t, *s);
            continue;
        }
        s++;
    }
    return t.at;
}

static void test_matmul_roles(void) {
    static const RolesCase plans[] = {
        {3, 2, 1, true, false, false, false}, {2, 1, 1, false, false, false, false},
        {4, 2, 2, true, false, false, false}, {1, 1, 1, true, false, false, false},
        {3, 2, 1, true, true, false, false},  {3, 2, 1, true, false, true, false},
        {3, 1, 1, false, false, false, true}, {2, 1, 2, false, false, false, true},
        {1, 1, 1, true, false, false, true},  {4, 1, 1, true, false, true, true},
    };
    static const MatmulCase cases[] = {
        {"f16", "cuda:sm_90a", 4, 64, 64, 32, 130, 72, 104, "tw_wgmma_ss_64_f16_01"},
        {"bf16", "cuda:sm_90a", 4, 128, 64, 64, 256, 130, 200, "tw_wgmma_ss_64_bf16_01"},
        {"f16", "cuda:sm_90a", 4, 64, 128, 64, 64, 128, 0, "tw_wgmma_ss_128_f16_01"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MatmulCase *c = &cases[i];
        size_t bytes = (size_t)c->m * (size_t)((c->n + 7) / 8 * 8) * 2;
        unsigned char *flat = malloc(bytes), *roles = malloc(bytes);
        run_matmul(c, matmul_text, warps(4), flat);
        for (size_t j = 0; j < sizeof plans / sizeof *plans; j++) {
            Trap trap;
            Arena arena;
            arena_init(&arena, allocator_malloc, &trap);
            PassOptions options = warps(4);
            options.generic = plans[j].generic;
            memset(roles, 1, bytes);
            if (plans[j].workers == 2 && c->bm < 128) continue;
            if (i > 0 && plans[j].workers != 2 && j > 0 && j != 6)
                continue; /* one case with all plans is enough */
            if (c->k == 0)
                options.generic =
                    true; /* TMA knows no extent of 0: the launcher takes this variant */
            run_matmul(c, plan_text(&arena, &plans[j]), options, roles);
            bool equal = memcmp(flat, roles, bytes) == 0;
            CHECK(equal);
            if (!equal)
                fprintf(stderr, "  plan %d of case %d gives other bits than flat\n", (int)j,
                        (int)i);
            arena_free(&arena);
        }
        free(flat);
        free(roles);
    }
}

/* One item of which B comes by TMA and A, whose rows are not aligned, by lanes: nobody may arrive before its stores. */
static void test_mixed_item(void) {
    static const char text[] =
        "kernel @mm(%A, %B, %C: *f16) {\n"
        "  %pm = program_id<0> ; %m = mul %pm, 64 ; %TA = tensor %A, [109, 33], [33, 1]\n"
        "  %TB = tensor %B, [33, 48], [48, 1] ; %TC = tensor %C, [109, 48], [48, 1]\n"
        "  %z = splat 0.0 : f32[64,64]\n"
        "  %acc = for %k = 0, 1, 1 (%c = %z) {\n"
        "    %kk = mul %k, 64 ; %a = tload %TA, [%m, %kk] : f16[64,64] ; %b = tload %TB, [%kk, 0] : "
        "f16[64,64]\n"
        "    %c1 = dot %a, %b, %c ; yield %c1 }\n"
        "  %h = cast %acc : f16[64,64] ; tstore %TC, [%m, 0], %h\n"
        "  return }\n";
    PassOptions options = warps(4);
    options.num_stages = 3;
    CudaBench b;
    if (!open_bench(&b, text, "cuda:sm_90a", options)) return;
    cuda_bench_array(&b, "A", EL_F16, 109 * 33, true);
    cuda_bench_array(&b, "B", EL_F16, 33 * 48, true);
    cuda_bench_array(&b, "C", EL_F16, 109 * 48, false);
    CHECK(strstr(b.plan->text, "tw_mbar_expect") != NULL);
    CHECK(cuda_bench_run(&b, 2, 1, 1));
    CHECK(cuda_bench_error(&b, 2, 2e-3) <= 1);
    cuda_bench_close(&b);
}

/* The passes make all executions from the flat text: stages, roles, persistence, workers change no
 * bit. */
static void test_executions(void) {
    static const MatmulCase cases[] = {
        {"bf16", "cuda:sm_90a", 4, 128, 64, 32, 200, 100, 104, "tw_wgmma_ss_64_bf16_01"},
        {"f16", "cuda:sm_80", 4, 32, 32, 32, 50, 40, 104, "tw_mma_f16"},
        {"f32", "cuda:sm_90a", 4, 32, 32, 16, 40, 36, 40, "tw_fma"},
    };
    static const struct {
        int stages, roles, persist, workers;
        const char *execution;
    } plans[] = {{1, -1, -1, 0, "flat"},  {0, -1, -1, 0, "flat"}, {2, 0, -1, 0, "skew 1"},
                 {4, 0, -1, 0, "skew 3"}, {2, -1, -1, 0, NULL},   {3, -1, 0, 1, NULL},
                 {4, -1, 1, 2, NULL},     {3, 1, -1, 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MatmulCase *c = &cases[i];
        size_t bytes =
            (size_t)c->m * (size_t)((c->n + 7) / 8 * 8) * (strcmp(c->type, "f32") == 0 ? 4 : 2);
        unsigned char *first = malloc(bytes), *bits = malloc(bytes);
        for (size_t j = 0; j < sizeof plans / sizeof *plans; j++) {
            PassOptions options = warps(c->warps);
            options.num_stages = plans[j].stages;
            options.roles = plans[j].roles;
            options.persist = plans[j].persist;
            options.workers = plans[j].workers;
            wanted_execution = plans[j].execution;
            run_matmul(c, matmul_text, options, j ? bits : first);
            wanted_execution = NULL;
            CHECK(j == 0 || memcmp(first, bits, bytes) == 0);
        }
        free(first);
        free(bits);
    }
}

int main(void) {
    cuda_bench_begin();
    if (cuda_bench_have("c++")) {
        test_add();
        test_softmax();
        test_matmul_flat();
        test_matmul_roles();
        test_mixed_item();
        test_executions();
    } else {
        printf("skipped: no C++ compiler\n");
    }
    cuda_bench_end();
    return check_done();
}
