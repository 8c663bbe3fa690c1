/* SPDX-License-Identifier: Apache-2.0 */
/* test_tt_emit.c: the Tenstorrent target from ring form to numbers.
 *
 * Kernels are IR text in ring form. Every case is emitted, its three files are compiled against the
 * API-model headers (all cases at once, equal texts once) and run on the model: for several shapes,
 * on one core and on many, with one to four slots a ring. Results are compared with a float64
 * reference, and all variants of a shape bit by bit. */
#include "check.h"
#include "tt_harness.h"

/* ------------------------------------------------------------------------------------------------------
 * kernels */

/* $T is the element type, $S the number of slots. */
#define STORE(ring, field, tensor, offset)                                                     \
    "    role store { %s = wait " ring " ; %v = get %s." field " ; tstore " tensor ", " offset \
    ", %v ; release " ring ", %s } } }\n"

static const char add_text[] =
    "kernel @add(%x, %y, %o: *$T, %n: i32) {\n"
    "  %np = num_programs<0> ; %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %O = tensor "
    "%o, [%n], [1]\n"
    "  %in = ring<from=load, to=compute, slots=$S> : {x: $T[1024], y: $T[1024]}\n"
    "  %out = ring<from=compute, to=store, slots=$S> : {o: $T[1024]}\n"
    "  tasks %pid in %np <persist> {\n"
    "    %b = mul %pid, 1024\n"
    "    role load {\n"
    "      %s = acquire %in ; %u = tload %X, [%b] : $T[1024] ; put %s.x, %u\n"
    "      %v = tload %Y, [%b] : $T[1024] ; put %s.y, %v ; commit %in, %s }\n"
    "    role compute {\n"
    "      %s = wait %in ; %u = get %s.x ; %v = get %s.y ; %w = add %u, %v ; release %in, %s\n"
    "      %q = acquire %out ; put %q.o, %w ; commit %out, %q }\n" STORE("%out", "o", "%O", "[%b]");

static const char fma_text[] =
    "kernel @fma(%x, %y, %z, %o: *$T, %n: i32) {\n"
    "  %np = num_programs<0> ; %X = tensor %x, [%n], [1] ; %Y = tensor %y, [%n], [1] ; %Z = tensor "
    "%z, [%n], [1]\n"
    "  %O = tensor %o, [%n], [1]\n"
    "  %in = ring<from=load, to=compute, slots=$S> : {x: $T[600], y: $T[600], z: $T[600]}\n"
    "  %out = ring<from=compute, to=store, slots=$S> : {o: $T[600]}\n"
    "  tasks %pid in %np <persist> {\n"
    "    %b = mul %pid, 600\n"
    "    role load {\n"
    "      %s = acquire %in ; %u = tload %X, [%b] : $T[600] ; put %s.x, %u ; %v = tload %Y, [%b] : "
    "$T[600] ; put %s.y, %v\n"
    "      %w = tload %Z, [%b] : $T[600] ; put %s.z, %w ; commit %in, %s }\n"
    "    role compute {\n"
    "      %s = wait %in ; %u = get %s.x ; %v = get %s.y ; %w = get %s.z ; %f = fma %u, %v, %w ; "
    "release %in, %s\n"
    "      %q = acquire %out ; put %q.o, %f ; commit %out, %q }\n" STORE("%out", "o", "%O", "[%b]");

#define MATMUL(BM, BN, BK, EPILOGUE)                                                               \
    "kernel @mm(%A, %B, %C: *$T, %M, %N, %K, %sa, %sb, %sc: i32) {\n"                              \
    "  %nm = cdiv %M, " BM " ; %nn = cdiv %N, " BN " ; %nk = cdiv %K, " BK                         \
    " ; %pg = mul %nn, 8 ; %np = num_programs<0>\n"                                                \
    "  %TA = tensor %A, [%M, %K], [%sa, 1] ; %TB = tensor %B, [%K, %N], [%sb, 1] ; %TC = tensor "  \
    "%C, [%M, %N], [%sc, 1]\n"                                                                     \
    "  %in = ring<from=load, to=compute, slots=$S> : {a: $T[" BM "," BK "], b: $T[" BK "," BN      \
    "]}\n"                                                                                         \
    "  %out = ring<from=compute, to=store, slots=1> : {c: $T[" BM "," BN "]}\n"                    \
    "  tasks %pid in %np <order=code, persist> {\n"                                                \
    "    %g = div %pid, %pg ; %fm = mul %g, 8 ; %gl = sub %nm, %fm ; %gs = min %gl, 8 ; %r = rem " \
    "%pid, %pg ; %ri = rem %r, %gs\n"                                                              \
    "    %pm = add %fm, %ri ; %pn = div %r, %gs ; %m = mul %pm, " BM " ; %n = mul %pn, " BN "\n"   \
    "    role load {\n"                                                                            \
    "      for %k = 0, %nk, 1 {\n"                                                                 \
    "        %kk = mul %k, " BK " ; %s = acquire %in\n"                                            \
    "        %a = tload %TA, [%m, %kk] : $T[" BM "," BK "] ; put %s.a, %a\n"                       \
    "        %b = tload %TB, [%kk, %n] : $T[" BK "," BN "] ; put %s.b, %b ; commit %in, %s } }\n"  \
    "    role compute {\n"                                                                         \
    "      %z = splat 0.0 : f32[" BM "," BN "]\n"                                                  \
    "      %acc = for %k = 0, %nk, 1 (%c = %z) {\n"                                                \
    "        %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %c1 = dot %a, %b, %c ; release %in, " \
    "%s ; yield %c1 }\n" EPILOGUE "      %h = cast %e : $T[" BM "," BN                             \
    "] ; %o = acquire %out ; put %o.c, %h ; commit %out, %o }\n" STORE("%out", "c", "%TC",         \
                                                                       "[%m, %n]")

static const char matmul_text[] = MATMUL("64", "64", "64", "      %e = max %acc, -1000.0\n");
static const char matmul_wide_text[] = MATMUL("96", "64", "32", "      %e = max %acc, 0.0\n");
static const char matmul_odd_text[] = MATMUL("48", "40", "24", "      %e = max %acc, 0.0\n");

/* A tensor of rank 4, one tile of 16 x 32 a place. */
static const char double_text[] =
    "kernel @micro(%x, %o: tensor<$T,4>) {\n"
    "  %nb = num_programs<0> ; %nd = num_programs<1>\n"
    "  %in = ring<from=load, to=compute, slots=$S> : {x: $T[16,32]} ; %out = ring<from=compute, "
    "to=store, slots=$S> : {o: $T[16,32]}\n"
    "  tasks %b, %d in %nb, %nd {\n"
    "    role load { %s = acquire %in ; %u = tload %x, [%b, %d, 0, 0] : $T[16,32] ; put %s.x, %u ; "
    "commit %in, %s }\n"
    "    role compute {\n"
    "      %s = wait %in ; %u = get %s.x ; %w = add %u, %u ; release %in, %s\n"
    "      %q = acquire %out ; put %q.o, %w ; commit %out, %q }\n" STORE("%out", "o", "%o",
                                                                         "[%b, %d, 0, 0]");

/* As raise leaves it: a mask over the columns, a sum carried round the loop. */
#define ROW_SUM(MASKED)                                                                            \
    "kernel @rows(%A: tensor<$T,2>, %B: tensor<$T,1>, %N: i32) {\n"                                \
    "  %np = num_programs<0> ; %nk = cdiv %N, 128\n"                                               \
    "  %in = ring<from=load, to=compute, slots=$S> : {a: $T[32,128]} ; %out = ring<from=compute, " \
    "to=store, slots=1> : {b: $T[32]}\n"                                                           \
    "  tasks %bx in %np {\n"                                                                       \
    "    %m = mul %bx, 32\n"                                                                       \
    "    role load { for %j = 0, %nk, 1 {\n"                                                       \
    "        %jj = mul %j, 128 ; %s = acquire %in ; %u = tload %A, [%m, %jj] : $T[32,128] ; put "  \
    "%s.a, %u ; commit %in, %s } }\n"                                                              \
    "    role compute {\n"                                                                         \
    "      %z = splat 0.0 : f32[32]\n"                                                             \
    "      %ps = for %j = 0, %nk, 1 (%c = %z) {\n"                                                 \
    "        %s = wait %in ; %u = get %s.a ; %f = cast %u : f32[32,128]\n" MASKED                  \
    "        %w = reduce<add, axis=1> %y ; %c1 = add %c, %w ; release %in, %s ; yield %c1 }\n"     \
    "      %h = cast %ps : $T[32] ; %o = acquire %out ; put %o.b, %h ; commit %out, %o }\n" STORE( \
        "%out", "b", "%B", "[%m]")
static const char row_sum_text[] = ROW_SUM("        %y = cast %f : f32[32,128]\n");
static const char row_sum_masked_text[] = ROW_SUM(
    "        %jj = mul %j, 128 ; %i = iota<0, 128> ; %ij = add %i, %jj ; %ok = cmp<lt> %ij, %N\n"
    "        %mask = reshape %ok : i1[1,128] ; %y = select %mask, %f, 0.0\n");

/* -----------------------------------------------------------------------------------------------------
 * references */

typedef enum Reference { ADD, FMA, MATMUL_, MATMUL_RELU, DOUBLE, ROW_SUM_ } Reference;

typedef struct Spec {
    const char *name, *text;
    Reference reference;
    const char *tensors[4]; /* dimensions as digits into the shape; the last is the output */
    const char *scalars;    /* digits into the shape */
    int grid[2]; /* extents of a block along dimensions 0 and 1; 0: none, -1: the grid is the shape
                  */
    const char *types;    /* "f32 bf16 f16" */
    int64_t shapes[6][4]; /* closed by -1 */
} Spec;

#define END \
    { -1 }
static const Spec specs[] = {
    {"add",
     add_text,
     ADD,
     {"0", "0", "0"},
     "0",
     {1024},
     "f32 bf16 f16",
     {{5000}, {1024}, {1}, {0}, END}},
    {"fma", fma_text, FMA, {"0", "0", "0", "0"}, "0", {600}, "f32 bf16", {{3001}, {600}, {1}, END}},
    {"matmul",
     matmul_text,
     MATMUL_,
     {"02", "21", "01"},
     "012211",
     {64, 64},
     "f32 bf16 f16",
     {{128, 192, 128}, {77, 50, 93}, {1, 1, 1}, {40, 33, 0}, END}},
    {"matmul, partial sums",
     matmul_wide_text,
     MATMUL_RELU,
     {"02", "21", "01"},
     "012211",
     {96, 64},
     "f32 bf16",
     {{192, 128, 96}, {100, 65, 70}, {3, 2, 1}, {40, 33, 0}, END}},
    {"matmul, odd blocks",
     matmul_odd_text,
     MATMUL_RELU,
     {"02", "21", "01"},
     "012211",
     {48, 40},
     "bf16",
     {{96, 80, 48}, {50, 41, 25}, {7, 5, 3}, END}},
    {"double",
     double_text,
     DOUBLE,
     {"0123", "0123"},
     "",
     {-1},
     "f32",
     {{3, 2, 16, 32}, {2, 3, 7, 13}, {1, 1, 1, 1}, END}},
    {"row sum",
     row_sum_text,
     ROW_SUM_,
     {"01", "0"},
     "1",
     {32},
     "f32 bf16 f16",
     {{64, 256}, {50, 37}, {1, 1}, {4, 0}, END}},
    {"row sum, masked",
     row_sum_masked_text,
     ROW_SUM_,
     {"01", "0"},
     "1",
     {32},
     "bf16 f32",
     {{64, 256}, {50, 37}, {4, 0}, END}},
};

static uint64_t state = 88172645463325252u;
static double uniform(void) {
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return ((double)((state * 2685821657736338717u) >> 11) + 0.5) * 0x1p-53;
}
static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

static void reference(Reference r, double *const *in, const int64_t *shape, int64_t count,
                      double *value, double *sum) {
    const double *x = in[0], *y = in[1], *z = in[2];
    for (int64_t i = 0; i < count; i++) {
        value[i] = sum[i] = 0;
        switch (r) {
        case ADD: value[i] = x[i] + y[i], sum[i] = fabs(x[i]) + fabs(y[i]); break;
        case DOUBLE: value[i] = 2 * x[i], sum[i] = fabs(value[i]); break;
        case FMA: value[i] = x[i] * y[i] + z[i], sum[i] = fabs(x[i] * y[i]) + fabs(z[i]); break;
        case ROW_SUM_:
            for (int64_t j = 0; j < shape[1]; j++)
                value[i] += x[i * shape[1] + j], sum[i] += fabs(x[i * shape[1] + j]);
            break;
        default:
            for (int64_t k = 0; k < shape[2]; k++) {
                double product = x[i / shape[1] * shape[2] + k] * y[k * shape[1] + i % shape[1]];
                value[i] += product, sum[i] += fabs(product);
            }
            if (r == MATMUL_RELU) value[i] = fmax(value[i], 0);
        }
    }
}

/* -------------------------------------------------------------------------------------------------------
 * arrays */

typedef struct Array {
    int64_t count, extent[4], stride[4];
    double *numbers; /* as rounded to the type */
    uint8_t *bytes;
} Array;

static int size_of(const char *type) {
    return strcmp(type, "f32") == 0 ? 4 : 2;
}

static void put_number(Array *a, const char *type, int64_t i, double x) {
    float f = (float)x;
    uint16_t h = strcmp(type, "f16") == 0 ? f16_from_f64(x) : bf16_from_f64(x);
    memcpy(a->bytes + i * size_of(type), size_of(type) == 4 ? (void *)&f : (void *)&h,
           (size_t)size_of(type));
}

static double get_number(const Array *a, const char *type, int64_t i) {
    float f;
    uint16_t h;
    if (size_of(type) == 4) return memcpy(&f, a->bytes + i * 4, 4), f;
    memcpy(&h, a->bytes + i * 2, 2);
    return strcmp(type, "f16") == 0 ? f16_to_f32(h) : bf16_to_f32(h);
}

static Array new_array(const char *dims, const int64_t *shape, const char *type) {
    Array a = {.count = 1};
    int rank = (int)strlen(dims);
    for (int d = rank - 1; d >= 0; d--) {
        a.extent[d] = shape[dims[d] - '0'];
        a.stride[d] = a.count;
        a.count *= a.extent[d];
    }
    a.numbers = calloc((size_t)a.count + 1, sizeof *a.numbers);
    a.bytes = calloc((size_t)a.count + 1, 4);
    for (int64_t i = 0; i < a.count; i++) {
        put_number(&a, type, i, normal());
        a.numbers[i] = get_number(&a, type, i);
    }
    return a;
}

/* ----------------------------------------------------------------------------------------------------------
 * runs */

enum { SLOT_VARIANTS = 3, MAX_TYPES = 3, SPEC_COUNT = sizeof specs / sizeof *specs };
static const int slot_variants[SLOT_VARIANTS] = {2, 1, 4};
static TtJob jobs[SPEC_COUNT][MAX_TYPES][SLOT_VARIANTS];

/* One float64 bound for all types: what the sources keep (11 bits of f32 in the FPU; f16 as bf16),
 * n roundings of a sum, and the last rounding. */
static double bound_of(const Spec *spec, const char *type, const int64_t *shape, double value,
                       double sum) {
    bool f32 = strcmp(type, "f32") == 0,
         fpu = spec->reference >= MATMUL_ && spec->reference != DOUBLE;
    double n = spec->reference == ROW_SUM_ ? (double)shape[1] : fpu ? (double)shape[2] : 2;
    double sources = f32 ? (fpu ? 2 * 0x1p-10 + 0x1p-11 : 0)
                         : (strcmp(type, "f16") == 0 ? 2 * 0x1p-9 : 0) + 0x1p-11;
    return ((n + 2) * 0x1p-24 + sources) * sum + (f32 ? 0x1p-24 : 0x1p-8) * fabs(value) + 1e-30;
}

static void run_shape(const Spec *spec, const char *type, TtJob *variants, const KernelSet *set,
                      const int64_t *shape) {
    Array arrays[4] = {{0}};
    TtValue args[16];
    memset(args, 0, sizeof args);
    int tensors = 0, params;
    for (; tensors < 4 && spec->tensors[tensors]; tensors++) {
        Array *a = &arrays[tensors];
        *a = new_array(spec->tensors[tensors], shape, type);
        args[tensors] = (TtValue){(uint64_t)(uintptr_t)a->bytes, a->count * size_of(type),
                                  a->extent, a->stride};
    }
    params = tensors;
    for (const char *s = spec->scalars; *s; s++) args[params++].word = (uint64_t)shape[*s - '0'];
    Array *out = &arrays[tensors - 1];
    double *in[4] = {arrays[0].numbers, arrays[1].numbers, arrays[2].numbers, arrays[3].numbers};
    double *value = calloc((size_t)out->count + 1, sizeof *value),
           *sum = calloc((size_t)out->count + 1, sizeof *sum);
    uint8_t *first = calloc((size_t)out->count + 1, 4);
    reference(spec->reference, in, shape, out->count, value, sum);
    int64_t grid[3] = {1, 1, 1};
    if (spec->grid[0] < 0)
        grid[0] = shape[0], grid[1] = shape[1];
    else
        grid[0] = ((shape[0] + spec->grid[0] - 1) / spec->grid[0]);
    if (spec->grid[1]) grid[0] *= ((shape[1] + spec->grid[1] - 1) / spec->grid[1]);
    static const uint32_t cores[] = {0, 1, 3};
    for (int v = 0; v < SLOT_VARIANTS; v++)
        for (int n = 0; n < (v ? 1 : 3); n++) {
            TtResult result;
            for (int64_t i = 0; i < out->count; i++) put_number(out, type, i, 777);
            bool good = tt_job_run(&variants[v], set, args, grid, cores[n], &result);
            if (!good) fprintf(stderr, "%s %s: %s\n", spec->name, type, result.problem);
            CHECK(good);
            double worst = 0;
            for (int64_t i = 0; i < out->count && good; i++) {
                double error = fabs(get_number(out, type, i) - value[i]) /
                               bound_of(spec, type, shape, value[i], sum[i]);
                if (!(error <= worst)) worst = error;
            }
            if (!(worst <= 1))
                fprintf(stderr, "%s %s, shape %lld %lld %lld: error %g times its bound\n",
                        spec->name, type, (long long)shape[0], (long long)shape[1],
                        (long long)shape[2], worst);
            CHECK(worst <= 1);
            size_t bytes = (size_t)(out->count * size_of(type));
            if (v == 0 && n == 0) memcpy(first, out->bytes, bytes);
            CHECK(memcmp(first, out->bytes, bytes) == 0);
        }
    free(value), free(sum), free(first);
    for (int i = 0; i < tensors; i++) free(arrays[i].numbers), free(arrays[i].bytes);
}

/* The i-th word of the list, or NULL. */
static const char *type_at(const char *types, int i, char word[8]) {
    while (i-- && types) types = strchr(types, ' ') ? strchr(types, ' ') + 1 : NULL;
    if (!types) return NULL;
    snprintf(word, 8, "%.*s", (int)strcspn(types, " "), types);
    return word;
}

/* The text of the compute kernel of the plain 32x32 matmul, whole. */
static const char golden[] =
    "// compute.cpp: what role `compute` of kernel `mm` does, for one core's share of the tasks.\n"
    "// Made by Tilewright; plan.json has the arguments and circular buffers.\n"
    "#include \"tilewright_compute.h\"\n"
    "\n"
    "void kernel_main() {\n"
    "    const u32 first_task = get_arg_val<u32>(0), task_count = get_arg_val<u32>(1);\n"
    "    const i32 K = (i32)get_common_arg_val<i32>(2);\n"
    "    constexpr u32 cb_in_a = 0;\n"
    "    constexpr u32 cb_in_b = 1;\n"
    "    constexpr u32 cb_out = 16;\n"
    "    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_in_a, cb_in_b, cb_out);\n"
    "\n"
    "    const i32 nk = tw_cdiv(K, 32);\n"
    "    for (u32 task = first_task; task < first_task + task_count; ++task) {\n"
    "        // 16: %acc = for %k = 0, %nk, 1 (%c = %z) {\n"
    "        tile_regs_acquire();\n"
    "        if (0 >= nk) {\n"
    "            fill_tile_init();\n"
    "            fill_tile(0, 0.0f);\n"
    "        }\n"
    "        matmul_init(cb_in_a, cb_in_b);\n"
    "        for (i32 k = 0; k < nk; ++k) {\n"
    "            // 17: %s = wait %in ; %a = get %s.a ; %b = get %s.b ; %c1 = dot %a, %b, %c ; release %in, %s ; y ..\n"
    "            cb_wait_front(cb_in_a, 1);\n"
    "            cb_wait_front(cb_in_b, 1);\n"
    "            matmul_tiles(cb_in_a, cb_in_b, 0, 0, 0);\n"
    "            cb_pop_front(cb_in_a, 1);\n"
    "            cb_pop_front(cb_in_b, 1);\n"
    "        }\n"
    "        cb_reserve_back(cb_out, 1);\n"
    "        // 19: %h = cast %e : bf16[32,32] ; %o = acquire %out ; put %o.c, %h ; commit %out, %o }\n"
    "        relu_tile_init();\n"
    "        relu_tile(0);\n"
    "        tile_regs_commit();\n"
    "        tile_regs_wait();\n"
    "        pack_tile(0, cb_out);\n"
    "        tile_regs_release();\n"
    "        cb_push_back(cb_out, 1);\n"
    "    }\n"
    "}\n";

static void test_texts(void) {
    static const char small[] = MATMUL("32", "32", "32", "      %e = max %acc, 0.0\n");
    TtJob job;
    tt_job_start(&job, small, "bf16", 2, tt_options_default);
    CHECK(job.plan != NULL);
    if (job.plan) CHECK_TEXT(job.plan->source[TENSIX_COMPUTE], golden);
    tt_job_end(&job);
    /* The mask of a reduction is taken off with its task, so its init belongs to the task too. */
    tt_job_start(&job, row_sum_text, "bf16", 2, tt_options_default);
    const char *text = job.plan ? job.plan->source[TENSIX_COMPUTE] : "";
    const char *loop = strstr(text, "for (u32 task");
    CHECK(loop && strstr(loop, "reduce_init<") && strstr(loop, "reduce_uninit()"));
    tt_job_end(&job);
}

int main(int argc, char **argv) {
    KernelSet *set = malloc(sizeof *set);
    const char *compiler = cxx_compiler();
    char word[8];
    bool show = argc > 1;
    test_texts();
    if (!compiler) return printf("skipped: no C++ compiler\n"), 0;
    if (!kernels_start(set)) return 1;
    for (int s = 0; s < SPEC_COUNT; s++)
        for (int t = 0; type_at(specs[s].types, t, word); t++)
            for (int v = 0; v < SLOT_VARIANTS; v++) {
                TtJob *job = &jobs[s][t][v];
                tt_job_start(job, specs[s].text, word, slot_variants[v], tt_options_default);
                CHECK(job->plan != NULL);
                if (!job->plan) return fprintf(stderr, "%s\n", job->messages), 1;
                CHECK((strstr(job->messages, "f16-as-bf16") != NULL) == (strcmp(word, "f16") == 0));
                if (show && v == 0 && strcmp(argv[1], specs[s].name) == 0)
                    printf("%s\n%s\n%s\n%s\n%s\n", job->messages, job->plan->source[0],
                           job->plan->source[2], job->plan->source[1], job->plan->json);
                tt_job_add(job, set);
            }
    bool built = kernels_build(set, compiler);
    CHECK(built);
    for (int s = 0; s < SPEC_COUNT && built; s++)
        for (int t = 0; type_at(specs[s].types, t, word); t++)
            for (int i = 0; specs[s].shapes[i][0] >= 0; i++)
                if (check_chosen()) run_shape(&specs[s], word, jobs[s][t], set, specs[s].shapes[i]);
    for (int s = 0; s < SPEC_COUNT; s++)
        for (int t = 0; type_at(specs[s].types, t, word); t++)
            for (int v = 0; v < SLOT_VARIANTS; v++) tt_job_end(&jobs[s][t][v]);
    kernels_end(set);
    free(set);
    return check_done();
}
