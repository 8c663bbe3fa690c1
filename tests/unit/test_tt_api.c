/* SPDX-License-Identifier: Apache-2.0 */
/* test_tt_api.c: Tenstorrent through the public API, from the kernels of all three doors.
 *
 * Stages of the pipeline and the number of cores change the plan and never a bit of the result; the
 * artifacts are complete and say what was decided. */
#include "check.h"
#include "tilewright.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Case {
    const char *file, *kernel;
    const char *defines[6][2]; /* closed by NULL */
    const char *scalars; /* behind the arrays: 0 1 2 an extent of the shape, `.` 1, B a block of 64,
                            G a group of 8 */
    int32_t dtype;
    int64_t grid; /* 0: the kernel's own */
    int stages_by_define;
} Case;

static const int64_t shape[3] = {100, 72, 150}; /* M, N, K */

static bool has_compiler(void) {
    return system("command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1") == 0;
}

static tw_arg buffer_arg(tw_buffer *b) {
    tw_arg arg = {TW_ARG_BUFFER, 0, {.buffer = b}};
    return arg;
}
static tw_arg int_arg(int64_t i) {
    tw_arg arg = {TW_ARG_INT, 0, {.i = i}};
    return arg;
}

/* Which of the three arrays a parameter is; -1: none. */
static int array_of(const char *name) {
    static const char *const names[3][3] = {
        {"a_ptr", "A", "g.A"}, {"b_ptr", "B", "g.B"}, {"c_ptr", "C", "g.C"}};
    for (int i = 0; i < 9; i++)
        if (strcmp(names[i / 3][i % 3], name) == 0) return i / 3;
    return -1;
}

static void check_artifacts(const tw_kernel *k) {
    static const char *const names[] = {"reader.cpp", "compute.cpp", "writer.cpp", "plan.json",
                                        "tilewright_dataflow.h"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const char *text = NULL;
        for (size_t i = 0; i < tw_kernel_artifact_count(k); i++)
            if (strcmp(tw_kernel_artifact_name(k, i), names[n]) == 0)
                text = tw_kernel_artifact_text(k, i, NULL);
        CHECK(text != NULL);
        if (text && n == 3)
            CHECK(strstr(text, "\"schema\": \"tilewright-tensix-plan-2\"") &&
                  strstr(text, "\"policy\": \""));
    }
}

/* The result's bytes; NULL after a failed check. */
static void *run(tw_context *cx, const Case *c, const char *stages, const char *cores,
                 size_t *size) {
    tw_module_options module_options;
    tw_module_options_init(&module_options);
    tw_pair defines[8];
    size_t count = 0;
    while (count < 6 && c->defines[count][0]) {
        defines[count] = (tw_pair){c->defines[count][0], c->defines[count][1]};
        count++;
    }
    if (c->stages_by_define) defines[count++] = (tw_pair){"num_stages", stages};
    module_options.defines = defines;
    module_options.define_count = count;
    tw_module *m = NULL;
    tw_kernel *k = NULL;
    tw_buffer *b[3] = {0};
    static const int dims[3][2] = {{0, 2}, {2, 1}, {0, 1}};
    tw_arg args[16];
    size_t arg_count = 0;
    void *bytes = NULL;
    CHECK(tw_module_load_file(cx, c->file, &module_options, &m) == TW_OK);
    for (int i = 0; i < 3; i++) {
        int64_t extents[2] = {shape[dims[i][0]], shape[dims[i][1]]};
        CHECK(tw_buffer_create(cx, c->dtype, 2, extents, NULL, &b[i]) == TW_OK);
        CHECK(tw_buffer_fill(b[i], "randn", 0, (uint64_t)i + 1) == TW_OK);
    }
    const char *next = c->scalars;
    for (size_t i = 0; i < tw_module_param_count(m, 0) && i < 16; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        CHECK(tw_module_param_at(m, 0, i, &info) == TW_OK);
        int array = array_of(info.name);
        args[i] = array >= 0 ? buffer_arg(b[array]) : (tw_arg){.kind = TW_ARG_ABSENT};
        if (array < 0 && *next) {
            args[i] = int_arg(*next == 'B'   ? 64
                              : *next == 'G' ? 8
                              : *next == '.' ? 1
                                             : shape[*next - '0']);
            next++;
        }
        arg_count = i + 1;
    }
    tw_compile_options options;
    tw_compile_options_init(&options);
    tw_pair sets[] = {{"cores", cores}, {"num_stages", stages}};
    options.target = "tenstorrent";
    options.args = args;
    options.arg_count = arg_count;
    options.options = sets;
    options.option_count = c->stages_by_define ? 1 : 2;
    CHECK(tw_kernel_compile(m, c->kernel, &options, &k) == TW_OK);
    CHECK_TEXT(tw_context_message(cx), "");
    if (k) {
        int64_t grid[3] = {c->grid, 1, 1};
        check_artifacts(k);
        CHECK(tw_kernel_launch(k, NULL, c->grid ? grid : NULL, args, arg_count) == TW_OK);
        CHECK_TEXT(tw_context_message(cx), "");
        CHECK(strstr(tw_context_warnings(cx), "functional model of a wormhole grid") != NULL);
        *size = (size_t)tw_buffer_elements(b[2]) * tw_dtype_size(c->dtype);
        bytes = malloc(*size);
        CHECK(tw_buffer_read(b[2], bytes, *size) == TW_OK);
    }
    tw_kernel_destroy(k);
    for (int i = 0; i < 3; i++) tw_buffer_destroy(b[i]);
    tw_module_destroy(m);
    return bytes;
}

static const Case cases[] = {
    {"kernels/triton/matmul.py", "matmul_kernel", {{0}}, "0122.1.1.BBBG", TW_BF16, 4, 0},
    {"kernels/tilelang/gemm.py",
     NULL,
     {{"M", "100"}, {"N", "72"}, {"K", "150"}, {"dtype", "float32"}},
     "",
     TW_F32,
     0,
     1},
    {"kernels/tilec/matmul.tile.c", NULL, {{0}}, "", TW_BF16, 0, 0},
};

int main(void) {
    if (!has_compiler()) return printf("skipped: no C++ compiler\n"), 0;
    char folder[] = "/tmp/tilewright-tt-XXXXXX", command[64];
    if (!mkdtemp(folder)) return 1;
    tw_context_options options;
    tw_context_options_init(&options);
    options.cache_dir = folder;
    tw_context *cx = NULL;
    CHECK(tw_context_create(&options, &cx) == TW_OK);
    static const char *const variants[][2] = {
        {"3", "0"}, {"0", "0"}, {"1", "1"}, {"2", "3"}, {"4", "0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size = 0, first_size = 0;
        void *first = NULL;
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            void *bytes = run(cx, &cases[i], variants[v][0], variants[v][1], &size);
            CHECK(bytes != NULL);
            if (v == 0)
                first = bytes, first_size = size;
            else if (bytes && first)
                CHECK(size == first_size && memcmp(first, bytes, size) == 0);
            if (v) free(bytes);
        }
        free(first);
    }
    tw_context_destroy(cx);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 1;
    return check_done();
}
