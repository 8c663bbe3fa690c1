/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_gemm.c: loops of dots that the CPU target runs as one product (cpu_gemm.c), and dots
 * that read boxes in place (cpu_dot.c), against the interpreter, bit for bit: transposed and small
 * operands, edges on all sides, sums that go on, stores into an operand, many programs on kept
 * panels, and panels that must not be kept from one launch to the next. Then: a warm launch
 * allocates nothing; the parts of products that all kernels share are compiled once, made again when they are broken, and
 * done without where there is no cache. */
#include "cpu_cases.h"
#include "runtime/compile/cache.h"

#include <unistd.h>

#define HEAD(types) "kernel @g(" types ", %n: i32) {\n"
#define PLACE                                                                           \
    "  %p = program_id<0> ; %q = program_id<1> ; %m0 = mul %p, 16 ; %n0 = mul %q, 24\n" \
    "  %z = splat 0.0 : f32[16,24]\n"
#define LOOP(load_a, load_b)                                              \
    "  %r = for %i = 0, %n, 1 (%c = %z) { %k = mul %i, 8\n" load_a load_b \
    "    %d = dot %a, %b, %c ; yield %d }\n"
#define INVERSE "  %o = splat 1.0 : f32[16,24] ; %r = div %o, %s\n"
#define STORE      "  tstore %C, [%m0, %n0], %r\n}\n"
#define F32        "%A: tensor<f32,2>, %B: tensor<f32,2>, %C: tensor<f32,2>"
#define A_         "    %a = tload %A, [%m0, %k] : f32[16,8]\n"
#define B_         "    %b = tload %B, [%k, %n0] : f32[8,24]\n"
#define AT         "    %at = tload %A, [%k, %m0] : f32[8,16] ; %a = permute<dims=[1,0]> %at\n"
#define BT         "    %bt = tload %B, [%n0, %k] : f32[24,8] ; %b = permute<dims=[1,0]> %bt\n"
#define EXTENTS(e) .extents = {0, 0, 0, 0, 0, 0, e, e}

static const Case cases[] = {
    {.name = "plain",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "one thread",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2},
     .threads = 1},
    {.name = "whole tiles",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(48),
     .number = 6,
     .grid = {3, 2}},
    {.name = "transposed",
     .text = HEAD(F32) PLACE LOOP(AT, BT) STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "rounds behind the end",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(20),
     .number = 9,
     .grid = {3, 2}},
    {.name = "no rounds",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(20),
     .number = 0,
     .grid = {2, 1}},
    /* -0.0 is no 0 to begin with: it is what a sum of no products is, and of products that are all -0.0. The
     * comparison takes one for the other, so the cases store 1 / sum. */
    {.name = "no rounds from -0.0",
     .text = HEAD(F32) PLACE "  %y = splat -0.0 : f32[16,24]\n"
                             "  %s = for %i = 0, %n, 1 (%c = %y) { %k = mul %i, 8\n" A_ B_
                             "    %d = dot %a, %b, %c ; yield %d }\n" INVERSE STORE,
     EXTENTS(20),
     .number = 0,
     .grid = {2, 1}},
    {.name = "a dot of -0.0 from -0.0",
     .text = HEAD(F32) PLACE "  %y = splat -0.0 : f32[16,24] ; %b = splat 1.0 : f32[8,24]\n"
                             "  %a = splat -0.0 : f32[16,8] ; %s = dot %a, %b, %y\n" INVERSE STORE,
     EXTENTS(20),
     .grid = {2, 1}},
    {.name = "what lies behind the edge is -0.0",
     .text = HEAD(F32) PLACE "  %y = splat -0.0 : f32[16,24] ; %k = mul %n, 8 ; %b = splat 1.0 : f32[8,24]\n"
                             "  %a = tload<fill=-0.0> %A, [%m0, %k] : f32[16,8] ; %s = dot %a, %b, %y\n" INVERSE STORE,
     EXTENTS(20),
     .number = 5,
     .grid = {2, 1}},
    {.name = "long k",
     .text = HEAD(F32) PLACE LOOP(A_, B_) STORE,
     EXTENTS(600),
     .number = 75,
     .grid = {3, 2},
     .plain = 1},
    {.name = "before the edges",
     .text = HEAD(F32) "  %m0 = add -5, 0 ; %n0 = add -7, 0 ; %z = splat 0.0 : f32[16,24]\n" LOOP(
         A_, B_) STORE,
     EXTENTS(20),
     .number = 3},
    {.name = "bf16",
     .text = HEAD("%A: tensor<bf16,2>, %B: tensor<bf16,2>, %C: tensor<f32,2>")
         PLACE LOOP("    %a = tload %A, [%m0, %k] : bf16[16,8]\n",
                    "    %b = tload %B, [%k, %n0] : bf16[8,24]\n") STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "bf16 in pairs, where the machine has them",
     .text = HEAD("%A: tensor<bf16,2>, %B: tensor<bf16,2>, %C: tensor<f32,2>")
         PLACE LOOP("    %a = tload %A, [%m0, %k] : bf16[16,8]\n",
                    "    %b = tload %B, [%k, %n0] : bf16[8,24]\n") STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2},
     .tolerance = 0x1p-14, /* of sums of 45 products below 50 */
     .plain = 1},
    {.name = "f16",
     .text = HEAD("%A: tensor<f16,2>, %B: tensor<f16,2>, %C: tensor<f32,2>")
         PLACE LOOP("    %a = tload %A, [%m0, %k] : f16[16,8]\n",
                    "    %b = tload %B, [%k, %n0] : f16[8,24]\n") STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "widened by casts, transposed",
     .text = HEAD("%A: tensor<bf16,2>, %B: tensor<bf16,2>, %C: tensor<f32,2>")
         PLACE LOOP("    %ah = tload %A, [%k, %m0] : bf16[8,16] ; %aw = cast %ah : f32[8,16]\n"
                    "    %a = permute<dims=[1,0]> %aw\n",
                    "    %bh = tload %B, [%n0, %k] : bf16[24,8] ; %bp = permute<dims=[1,0]> %bh\n"
                    "    %b = cast %bp : f32[8,24]\n") STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "a sum that goes on, looked at behind the edges",
     .text = HEAD(
         F32) "  %p = program_id<0> ; %q = program_id<1> ; %m0 = mul %p, 16 ; %n0 = mul %q, 24\n"
              "  %z = splat 0.5 : f32[16,24]\n" LOOP(
                  A_, B_) "  %s = reduce<max, axis=1> %r ; %e = expand<1> %s ; %t = add %r, %e\n"
                          "  tstore %C, [%m0, %n0], %t\n}\n",
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "into an operand",
     .text = HEAD(
         "%A: tensor<f32,2>, %B: tensor<f32,2>") "  %m0 = add 3, 0 ; %n0 = add 1, 0 ; %z = "
                                                 "splat 0.0 : f32[16,24]\n" LOOP(
                                                     A_, B_) "  tstore %A, [%m0, %n0], %r\n}\n",
     EXTENTS(45),
     .number = 6},
    {.name = "a store before, the same matrix twice",
     .text = HEAD("%A: tensor<f32,2>, %C: tensor<f32,2>") PLACE
     "  %o = splat 2.0 : f32[16,24] ; tstore %C, [%m0, %n0], %o\n" LOOP(
         A_, "    %b = tload %A, [%k, %n0] : f32[8,24]\n") STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "another step along k: no product",
     .text = HEAD(F32) PLACE "  %r = for %i = 0, %n, 1 (%c = %z) { %k = mul %i, 4\n" A_ B_
                             "    %d = dot %a, %b, %c ; yield %d }\n" STORE,
     EXTENTS(45),
     .number = 6,
     .grid = {3, 2}},
    {.name = "boxes of a single dot",
     .text = HEAD(F32) PLACE "  %k = mul %n, 8\n" A_ BT "  %r = dot %a, %b, %z\n" STORE,
     EXTENTS(45),
     .number = 5,
     .grid = {3, 2}},
    {.name = "rows reduced where they are computed",
     .text = HEAD("%A: tensor<f32,2>, %C: tensor<f32,2>") "  %p = program_id<0> ; %m0 = mul %p, 4 "
                                                          "; %x = tload %A, [%m0, 0] : f32[4,64]\n"
                                                          "  %y = mul %x, 0.5 ; %s = reduce<add, "
                                                          "axis=1, order=[5,4,3,2,1,0]> %y\n"
                                                          "  %m = reduce<max, axis=1> %x ; %e = "
                                                          "expand<1> %s ; %f = expand<1> %m\n"
                                                          "  %t = sub %x, %f ; %u = mul %t, %e ; "
                                                          "tstore %C, [%m0, 0], %u\n}\n",
     EXTENTS(50),
     .grid = {13}},
};

/* The same kernel twice, b another one in between; vectors of any width give the same bits. */
static void check_relaunch(tw_context *cx, const char *vector_bits) {
    static const char text[] = HEAD(F32) PLACE LOOP(A_, B_) STORE;
    tw_module *m = NULL;
    CHECK(tw_module_load_text(cx, "case.ir", text, strlen(text), NULL, &m) == TW_OK);
    int64_t shape[2] = {45, 45}, grid[3] = {3, 2, 1};
    tw_buffer *buffers[2][3];
    tw_difference d = {.struct_size = sizeof d};
    for (int t = 0; t < 2; t++) {
        tw_arg args[4] = {{0}};
        for (int i = 0; i < 3; i++) {
            CHECK(tw_buffer_create(cx, TW_F32, 2, shape, NULL, &buffers[t][i]) == TW_OK);
            tw_buffer_fill(buffers[t][i], "randn", 0, (uint64_t)i + 1);
            args[i] = (tw_arg){.kind = TW_ARG_BUFFER, .value.buffer = buffers[t][i]};
        }
        args[3] = (tw_arg){.kind = TW_ARG_INT, .value.i = 6};
        tw_compile_options options;
        tw_compile_options_init(&options);
        tw_pair width = {"vector_bits", vector_bits};
        options.target = t ? "interp" : "cpu";
        options.options = &width, options.option_count = 1;
        options.args = args, options.arg_count = 4;
        tw_kernel *k = NULL;
        CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
        for (int run = 0; run < 2; run++) {
            CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_OK);
            if (!run) tw_buffer_fill(buffers[t][1], "randn", 0, 77);
        }
        tw_kernel_destroy(k);
    }
    CHECK(tw_buffer_compare(buffers[0][2], buffers[1][2], 0, 0, &d) == TW_OK && d.different == 0);
    for (int i = 0; i < 6; i++) tw_buffer_destroy(buffers[i / 3][i % 3]);
    tw_module_destroy(m);
}

static size_t calls;
static void *counted(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    calls++;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static void check_no_allocation(void) {
    static const char text[] = HEAD(F32) PLACE LOOP(A_, B_) STORE;
    tw_allocator allocator = {counted, NULL};
    tw_context_options how;
    tw_context_options_init(&how);
    how.allocator = &allocator;
    tw_context *cx = NULL;
    tw_module *m = NULL;
    CHECK(tw_context_create(&how, &cx) == TW_OK);
    CHECK(tw_module_load_text(cx, "case.ir", text, strlen(text), NULL, &m) == TW_OK);
    int64_t shape[2] = {45, 45}, grid[3] = {3, 2, 1};
    tw_arg args[4] = {{0}};
    for (int i = 0; i < 3; i++) {
        args[i].kind = TW_ARG_BUFFER;
        CHECK(tw_buffer_create(cx, TW_F32, 2, shape, NULL, &args[i].value.buffer) == TW_OK);
    }
    args[3] = (tw_arg){.kind = TW_ARG_INT, .value.i = 6};
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.args = args, options.arg_count = 4;
    tw_kernel *k = NULL;
    CHECK(tw_kernel_compile(m, NULL, &options, &k) == TW_OK);
    CHECK(tw_kernel_launch(k, NULL, grid, args, 4) == TW_OK);
    size_t before = calls;
    int failed = 0;
    for (int i = 0; i < 1000; i++) failed += tw_kernel_launch(k, NULL, grid, args, 4) != TW_OK;
    CHECK(failed == 0);
    CHECK(calls == before);
    tw_kernel_destroy(k);
    for (int i = 0; i < 3; i++) tw_buffer_destroy(args[i].value.buffer);
    tw_module_destroy(m);
    tw_context_destroy(cx);
}

typedef struct Objects {
    int count;
    char path[CACHE_PATH];
    int64_t bytes;
} Objects;

static void see_object(void *user, const CacheEntry *entry) {
    Objects *o = user;
    if (!strstr(entry->name, ".o")) return;
    o->count++, o->bytes = entry->bytes;
    snprintf(o->path, sizeof o->path, "%s", entry->path);
}

static void check_products(void) {
    char dir[] = "/tmp/tilewright-products-XXXXXX", command[100];
    CHECK(mkdtemp(dir));
    tw_context_options how;
    tw_context_options_init(&how);
    Objects first = {0}, again = {0};
    static const int chosen[] = {0, 3, 6, 0}; /* kernels of different texts */
    for (int i = 0; i < 4; i++) {
        tw_context *cx = NULL;
        Objects now = {0};
        how.cache_dir = i < 3 ? dir : "";
        CHECK(tw_context_create(&how, &cx) == TW_OK);
        case_check(cx, &cases[chosen[i]]);
        tw_context_destroy(cx);
        cache_walk(dir, see_object, &now);
        CHECK(now.count == 1 && now.bytes > 10000);
        if (i == 0) first = now;
        if (i == 1) CHECK(truncate(now.path, now.bytes / 2) == 0);
        if (i == 2) again = now;
    }
    CHECK_TEXT(again.path, first.path);
    CHECK(again.bytes == first.bytes);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
}

int main(void) {
    tw_context *cx = NULL;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) case_check(cx, &cases[i]);
    static const char *const widths[] = {"0", "128", "256"};
    for (int i = 0; i < 3; i++) check_relaunch(cx, widths[i]);
    tw_context_destroy(cx);
    check_no_allocation();
    check_products();
    return check_done();
}
