/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_products.c: matrix products of Tile C: every transposition, square and not, from every place that an operand can
 * come from, in templates and in flat kernels, against a product in integers.
 *
 *     tilec_products [--targets interp,cpu,emulated,tenstorrent] [--every N] [--only SUBSTRING] [--shard I/N]
 *
 * The numbers are -1, 0 and 1 and sums stay below 256, so bf16 holds each result exactly and any difference is a mistake.
 * Tenstorrent may refuse a kernel, with a message; no other target may. */
#include "base/numeric.h"
#include "shard.h"
#include "target_list.h"
#include "tilewright.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where A and B come from. */
typedef enum Source {
    FIELD,    /* template: a tile of the input block, one for each warpgroup (A), one for all (B) */
    WIDE,     /* B: two tiles of the input block side by side, by tile_view */
    PICKED,   /* B: two tiles of the input block one by one, into two accumulators */
    REGISTER, /* A: copied to registers first */
    SHARED    /* flat: a shared tile */
} Source;
static const char *const source_names[] = {"field", "wide", "picked", "register", "shared"};

typedef struct Case {
    bool flat, ta, tb, ragged, overwrite;
    Source a, b;
    int workers;
    int bm, bn, bk; /* of one worker's product */
} Case;

static char text[20000];
static size_t length;
static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...) {
    va_list args;
    va_start(args, format);
    length += (size_t)vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
}

static const char *product_name(const Case *c) {
    static char name[40];
    snprintf(name, sizeof name, "%s_A%sB%s", c->overwrite ? "mm" : "mma", c->ta ? "t" : "", c->tb ? "t" : "");
    return name;
}

static int tiles_of(const Case *c) { return c->b == WIDE || c->b == PICKED ? 2 : 1; }

/* Tile types: a and b as they lie in memory, c one tile of the result. */
static void write_types(const Case *c) {
    length = 0;
    add("#include \"tile.h\"\n");
    add("typedef st_bf(%d, %d) a_t; typedef st_bf(%d, %d) b_t; typedef st_bf(%d, %d) c_t;\n", c->ta ? c->bk : c->bm,
        c->ta ? c->bm : c->bk, c->tb ? c->bn : c->bk, c->tb ? c->bk : c->bn, c->bm, c->bn);
    add("struct globals { gl(bf16, 1, 1, -1, -1, a_t) A; gl(bf16, 1, 1, -1, -1, b_t) B; gl(bf16, 1, 1, -1, -1, c_t) C; };\n");
}

/* The place of a tile of an operand: (i, k) of its product, as it lies. */
static const char *place(bool turned, const char *i, const char *k) {
    static char at[2][100];
    static int next;
    next ^= 1;
    snprintf(at[next], sizeof at[next], turned ? "at(%2$s, %1$s)" : "at(%1$s, %2$s)", i, k);
    return at[next];
}

static void write_template(const Case *c) {
    int n = tiles_of(c), w = c->workers;
    write_types(c);
    add("struct input_block { a_t a[%d]; b_t b[%d]; };\nstruct finish_block { c_t c[%d][%d]; };\n", w, n, w, n);
    /* Every role has a copy of common_state of its own: each spoils what the other one reads. */
    add("struct common_state { int row, col; };\nstruct producer_state { int row; };\n");
    if (c->b == WIDE) add("struct consumer_state { int col; rt_fl(%d, %d) acc; };\n", c->bm / 4, c->bn * n);
    else add("struct consumer_state { int col; rt_fl(%d, %d) acc[%d]; };\n", c->bm / 4, c->bn, n);
    add("static void common_setup(lcf_setup_args *a) {\n"
        "    int task = a->task_iter * gridDim.x + blockIdx.x;\n"
        "    int rows = cdiv(a->globals->C.rows, %d), cols = cdiv(a->globals->C.cols, %d);\n"
        "    if (task >= rows * cols) { a->num_iters = -1; return; }\n"
        "    a->common->row = task / cols * %d;\n"
        "    a->common->col = task %% cols * %d;\n"
        "    a->num_iters = cdiv(a->globals->A.%s, %d);\n}\n",
        c->bm * w, c->bn * n, w, n, c->ta ? "rows" : "cols", c->bk);
    add("static void begin(lcf_producer_setup_args *a) { a->state->row = a->common->row; a->common->row = 77; }\n");
    add("static void load(lcf_load_args *a) {\n    if (warpgroup_laneid() == 0) {\n"
        "        tma_expect(a->inputs_arrived, a->input);\n"
        "        for (int i = 0; i < %d; i++)\n"
        "            tma_load_async(&a->input->a[i], a->globals->A, %s, a->inputs_arrived);\n"
        "        for (int i = 0; i < %d; i++)\n"
        "            tma_load_async(&a->input->b[i], a->globals->B, %s, a->inputs_arrived);\n    }\n}\n",
        w, place(c->ta, "a->state->row + i", "a->iter"), n, place(!c->tb, "a->common->col + i", "a->iter"));
    add("static void setup(lcf_consumer_setup_args *a) {\n    a->state->col = a->common->col;\n    a->common->col = 55;\n");
    if (c->b == WIDE) add("    warpgroup_zero(&a->state->acc);\n}\n");
    else add("    for (int i = 0; i < %d; i++) warpgroup_zero(&a->state->acc[i]);\n}\n", n);
    add("static void compute(lcf_compute_args *a) {\n    int id = warpgroup_groupid();\n");
    const char *left = "&a->input->a[id]";
    if (c->a == REGISTER) {
        add("    rt_bf(%d, %d) ra;\n    warpgroup_load(&ra, &a->input->a[id]);\n", (c->ta ? c->bk : c->bm) / 4,
            c->ta ? c->bm : c->bk);
        left = "&ra";
    }
    if (c->b == WIDE) {
        int rows = c->tb ? c->bn * n : c->bk, cols = c->tb ? c->bk : c->bn * n;
        add("    warpgroup_%s(&a->state->acc, %s, tile_view(st_bf(%d, %d), a->input->b));\n", product_name(c), left, rows, cols);
    } else
        add("    for (int i = 0; i < %d; i++) warpgroup_%s(&a->state->acc[i], %s, &a->input->b[i]);\n", n, product_name(c), left);
    add("    warpgroup_mma_wait(0);\n    if (laneid() == 0) arrive(a->inputs_finished);\n}\n");
    add("static void finish(lcf_finish_args *a) {\n    int id = warpgroup_groupid();\n");
    if (c->b == PICKED) { /* each accumulator goes out on its own */
        add("    for (int i = 0; i < %d; i++)\n"
            "        warpgroup_store(a->globals->C, &a->state->acc[i], at(a->common->row + id, a->state->col + i));\n",
            n);
    } else {
        if (c->b == WIDE) add("    warpgroup_store(tile_view(st_bf(%d, %d), a->finish->c[id]), &a->state->acc);\n", c->bm, c->bn * n);
        else add("    warpgroup_store(&a->finish->c[id][0], &a->state->acc[0]);\n");
        add("    warpgroup_sync(id + 4);\n    if (warpgroup_laneid() == 0)\n        for (int i = 0; i < %d; i++)\n"
            "            tma_store_async(a->globals->C, &a->finish->c[id][i], at(a->common->row + id, a->state->col + i));\n"
            "    tma_store_async_read_wait();\n",
            n);
    }
    add("    if (laneid() == 0) arrive(a->finish_finished);\n}\n");
    add("lcf_kernel(product, .globals = struct globals, .input = struct input_block, .finish = struct finish_block,\n"
        "    .common = struct common_state, .producer_state = struct producer_state,\n    .consumer_state = struct consumer_state, .consumer_warps = %d,\n"
        "    .input_stages = 2, .producer_arrivals = 1, .common_setup = common_setup, .producer = {begin, load},\n"
        "    .consumer = {setup, compute, finish});\n",
        w * 4);
}

static void write_flat(const Case *c) {
    bool group = c->workers == 4; /* four warps, or one */
    const char *prefix = group ? "warpgroup_" : "";
    int rows = group ? 4 : 1;
    write_types(c);
    add("tile_kernel(%d, 1) tile_grid(cdiv(g.C.cols, %d), cdiv(g.C.rows, %d))\nvoid product(struct globals g) {\n", rows * 32, c->bn,
        c->bm);
    add("    rt_fl(%d, %d) acc;\n    a_t *a = shared_alloc(a_t);\n    b_t *b = shared_alloc(b_t);\n", c->bm / rows, c->bn);
    add("    rt_bf(%d, %d) ra;\n    rt_bf(%d, %d) rb;\n", (c->ta ? c->bk : c->bm) / (c->a == REGISTER ? rows : 1), c->ta ? c->bm : c->bk,
        c->tb ? c->bn : c->bk, c->tb ? c->bk : c->bn);
    add("    %szero(&acc);\n    for (int k = 0; k < cdiv(g.A.%s, %d); k++) {\n", prefix, c->ta ? "rows" : "cols", c->bk);
    add("        %sload(a, g.A, %s);\n", prefix, place(c->ta, "blockIdx.y", "k"));
    add("        %sload(b, g.B, %s);\n        block_sync();\n", prefix, place(!c->tb, "blockIdx.x", "k"));
    if (c->a == REGISTER) add("        %sload(&ra, a);\n", prefix);
    if (c->b == REGISTER) add("        %sload(&rb, b);\n", prefix);
    add("        %s%s(&acc, %s, %s);\n", prefix, product_name(c), c->a == REGISTER ? "&ra" : "a", c->b == REGISTER ? "&rb" : "b");
    if (group) add("        warpgroup_mma_wait(0);\n");
    add("        block_sync();\n    }\n    %sstore(g.C, &acc, at(blockIdx.y, blockIdx.x));\n}\n", prefix);
}

/* --- running --- */

static uint64_t state = 1;
static int draw(void) { /* -1, 0 or 1 */
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (int)((state * 2685821657736338717u >> 33) % 3) - 1;
}

typedef struct Matrices {
    int64_t m, n, k;
    int *a, *b, *c; /* [m, k], [k, n], [m, n] */
} Matrices;

static Matrices make_matrices(const Case *c) {
    Matrices x = {.m = (c->flat ? 1 : c->workers) * c->bm * 2, .n = tiles_of(c) * c->bn * 2, .k = c->overwrite ? c->bk : c->bk * 3};
    if (c->ragged) x.m -= 5, x.n -= 9, x.k -= 3;
    x.a = malloc((size_t)(x.m * x.k) * sizeof *x.a);
    x.b = malloc((size_t)(x.k * x.n) * sizeof *x.b);
    x.c = calloc((size_t)(x.m * x.n), sizeof *x.c);
    for (int64_t i = 0; i < x.m * x.k; i++) x.a[i] = draw();
    for (int64_t i = 0; i < x.k * x.n; i++) x.b[i] = draw();
    for (int64_t i = 0; i < x.m; i++)
        for (int64_t k = 0; k < x.k; k++)
            for (int64_t j = 0; j < x.n; j++) x.c[i * x.n + j] += x.a[i * x.k + k] * x.b[k * x.n + j];
    return x;
}

static tw_buffer *make_buffer(tw_context *cx, const int *from, int64_t rows, int64_t cols, bool turned) {
    tw_buffer *buffer = NULL;
    int64_t extent[2] = {turned ? cols : rows, turned ? rows : cols};
    if (tw_buffer_create(cx, TW_BF16, 2, extent, NULL, &buffer) != TW_OK) abort();
    uint16_t *to = tw_buffer_data(buffer);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            to[turned ? j * rows + i : i * cols + j] = bf16_from_f64(from ? from[i * cols + j] : 99);
    return buffer;
}

static void describe(const Case *c, const char *target) {
    printf("%s %s, A %s, B %s, %dx%dx%d, %d workers%s on %s", c->flat ? "flat" : "template", product_name(c), source_names[c->a],
           source_names[c->b], c->bm, c->bn, c->bk, c->workers, c->ragged ? ", ragged" : "", target);
}

/* A part of the message with which a target may refuse the kernel; NULL: it may not. */
static const char *refusal(const Case *c, const char *target) {
    (void)c;
    return strcmp(target, "tenstorrent") == 0 ? "not possible on Tenstorrent: " : NULL;
}

static int runs, failures, refused;

static void run_on(tw_context *cx, const Case *c, const Matrices *x, const char *target) {
    tw_module *module = NULL;
    tw_kernel *kernel = NULL;
    tw_buffer *buffers[3] = {make_buffer(cx, x->a, x->m, x->k, c->ta), make_buffer(cx, x->b, x->k, x->n, c->tb),
                             make_buffer(cx, NULL, x->m, x->n, false)};
    tw_arg args[3];
    for (int i = 0; i < 3; i++) args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[i]};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = 3;
    options.verify_each = 1;
    tw_status status = tw_module_load_text(cx, "product.tile.c", text, length, NULL, &module);
    if (status == TW_OK) status = tw_kernel_compile(module, NULL, &options, &kernel);
    bool compiled = status == TW_OK;
    if (status == TW_OK) status = tw_kernel_launch(kernel, NULL, NULL, args, 3);
    const char *allowed = refusal(c, target);
    runs++;
    if (status != TW_OK && !compiled && allowed && strstr(tw_context_message(cx), allowed)) {
        refused++;
    } else if (status != TW_OK) {
        failures++;
        printf("FAILED ");
        describe(c, target);
        printf(": %s\n%s\n%s\n", tw_status_name(status), tw_context_message(cx), text);
    } else {
        const uint16_t *got = tw_buffer_data(buffers[2]);
        int64_t wrong = 0, first = -1;
        for (int64_t i = 0; i < x->m * x->n; i++)
            if (bf16_to_f32(got[i]) != (float)x->c[i] && wrong++ == 0) first = i;
        if (wrong) {
            failures++;
            printf("WRONG ");
            describe(c, target);
            printf(": %lld of %lld, first [%lld, %lld] is %g, not %d\n%s\n", (long long)wrong, (long long)(x->m * x->n),
                   (long long)(first / x->n), (long long)(first % x->n), bf16_to_f32(got[first]), x->c[first], text);
        }
    }
    for (int i = 0; i < 3; i++) tw_buffer_destroy(buffers[i]);
    tw_kernel_destroy(kernel);
    tw_module_destroy(module);
}

typedef struct Wish {
    const char *targets, *only;
    int every;
    Shard shard;
    tw_context *cx;
} Wish;

static void run_case(Wish *w, const Case *c) {
    static const char *const names[][2] = {
        {"interp", "interp"}, {"cpu", "cpu"}, {"emulated", "cuda-emulated"}, {"cuda", "cuda"}, {"tenstorrent", "tenstorrent"}};
    if (!shard_takes(&w->shard)) return;
    state = shard_state(&w->shard, 1);
    if (w->every > 1 && (state >> 20) % (unsigned)w->every != 0) return;
    if (c->flat) write_flat(c);
    else write_template(c);
    if (*w->only && !strstr(text, w->only)) return;
    Matrices x = make_matrices(c);
    for (size_t t = 0; t < sizeof names / sizeof *names; t++)
        if (targets_have(w->targets, names[t][0])) run_on(w->cx, c, &x, names[t][1]);
    free(x.a), free(x.b), free(x.c);
    fflush(stdout);
}

static void run_all(Wish *w) {
    static const int shapes[][3] = {{64, 64, 64}, {64, 128, 32}, {64, 32, 64}, {128, 64, 16}};
    for (int bits = 0; bits < 16; bits++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            Case c = {.ta = bits & 1, .tb = bits & 2, .ragged = bits & 4, .overwrite = bits & 8,
                      .bm = shapes[s][0], .bn = shapes[s][1], .bk = shapes[s][2]};
            for (c.workers = 1; c.workers <= (s == 0 ? 3 : 2); c.workers++)
                for (c.a = FIELD; c.a <= REGISTER; c.a += REGISTER)
                    for (c.b = FIELD; c.b <= PICKED; c.b++) {
                        bool fits = c.a == FIELD || !c.ta || c.bk % 64 == 0; /* registers: 16 rows a warp */
                        if (fits) run_case(w, &c);
                    }
            c.flat = true;
            for (c.workers = 1; c.workers <= 4; c.workers += 3)
                for (c.a = REGISTER; c.a <= SHARED; c.a++)
                    for (c.b = REGISTER; c.b <= SHARED; c.b++) {
                        bool group = c.workers == 4;
                        if (group ? c.b != SHARED : c.a != REGISTER || c.b != REGISTER) continue;
                        if (group && c.a == REGISTER && c.ta && c.bk % 64) continue;
                        if (!c.overwrite || c.bk >= 16) run_case(w, &c);
                    }
        }
}

int main(int argc, char **argv) {
    Wish w = {.targets = "interp,cpu", .only = "", .every = 1, .shard = SHARD_ALL};
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--targets") == 0 && targets_known(value)) w.targets = value;
        else if (value && strcmp(argv[i], "--every") == 0 && atoi(value) > 0) w.every = atoi(value);
        else if (value && strcmp(argv[i], "--only") == 0) w.only = value;
        else if (value && strcmp(argv[i], "--shard") == 0 && shard_read(&w.shard, value)) {}
        else return fprintf(stderr, "tilec_products: %s is not understood\n", argv[i]), 2;
    }
    if (tw_context_create(NULL, &w.cx) != TW_OK) return 2;
    run_all(&w);
    tw_context_destroy(w.cx);
    printf("%d refused\n%d products, %d failed\n", refused, runs, failures);
    return failures != 0;
}
