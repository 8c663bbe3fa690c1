/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c: every kernel of kernels/ through the emitter of every target after every set of passes that a user can
 * ask for (`--passes`, `--stop-after`): code, or a refusal with a message; never an internal fault.
 *
 *     test_sweep             each pass alone, all but one, all before one, pairs; TILEWRIGHT_EVERY=N: every Nth
 *     test_sweep --all       all 512 sets
 *
 * Arguments go by the parameter's name: `numbers` below, unless the source says that it is an array; else it is one. */
#include "check.h"
#include "tilewright.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_PARAMS = 32 };

static const struct {
    const char *name;
    int64_t value;
} numbers[] = {{"n_elements", 1000}, {"n", 1000}, {"BLOCK_SIZE", 256}, {"BLOCK", 256}, {"n_cols", 200},
               {"in_stride", 200}, {"out_stride", 200}, {"stride", 200}, {"M", 128}, {"N", 128}, {"K", 96},
               {"BM", 64}, {"BN", 64}, {"BK", 32}, {"BM1", 64}, {"BN1", 64}, {"BM2", 64}, {"BN2", 64}, {"D", 64},
               {"stride_h", 8192}, {"stride_n", 64}, {"stride_am", 96}, {"stride_ak", 1}, {"stride_bk", 128},
               {"stride_bn", 1}, {"stride_cm", 128}, {"stride_cn", 1}, {"CAUSAL", 1}, {"groups", 2}};
static const char *const passes[] = {
#define PASS(name, ...) #name,
#include "pass/passes.def"
#undef PASS
};
enum { PASSES = sizeof passes / sizeof *passes };
static const char *const targets[] = {"interp", "cpu", "cuda:sm_90a", "cuda:sm_80", "tenstorrent"};

static char now[512]; /* what is being tried, for a crash */
static void on_fault(int signal_number) {
    ssize_t unused = write(2, now, strlen(now));
    (void)unused;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static tw_context *cx;

static void set_arguments(const tw_module *m, size_t kernel, tw_arg *args) {
    size_t count = tw_module_param_count(m, kernel);
    CHECK(count <= MOST_PARAMS);
    for (size_t i = 0; i < count && i < MOST_PARAMS; i++) {
        tw_param_info info = {.struct_size = sizeof info};
        tw_module_param_at(m, kernel, i, &info);
        if (info.optional) continue;
        bool array = info.kind == TW_PARAM_TENSOR || info.kind == TW_PARAM_POINTER;
        const char *dot = strrchr(info.name, '.'), *name = dot ? dot + 1 : info.name;
        if (strcmp(name, "scale") == 0 || strcmp(name, "eps") == 0)
            args[i] = (tw_arg){TW_ARG_FLOAT, 0, {.f = 0.125}};
        for (size_t n = 0; n < sizeof numbers / sizeof *numbers && !array; n++)
            if (strcmp(info.name, numbers[n].name) == 0) args[i] = (tw_arg){TW_ARG_INT, 0, {.i = numbers[n].value}};
        bool number = info.kind == TW_PARAM_CONSTANT || (info.kind == TW_PARAM_OPEN && !info.likely_array);
        if (!args[i].kind && number) args[i] = (tw_arg){TW_ARG_INT, 0, {.i = info.kind == TW_PARAM_CONSTANT ? 16 : 64}};
        if (args[i].kind) continue;
        int64_t shape[] = {1, 1, 64, 64};
        bool wide = strstr(info.name, "lse") || strstr(info.name, "delta");
        int32_t dtype = info.dtype ? info.dtype : strstr(info.name, "s_ptr") ? TW_I32 : wide ? TW_F32 : TW_BF16;
        int32_t rank = info.rank > 0 ? info.rank : 2;
        args[i].kind = TW_ARG_BUFFER;
        CHECK(tw_buffer_create(cx, dtype, rank, shape + 4 - rank, NULL, &args[i].value.buffer) == TW_OK);
    }
}

static void try_set(tw_module *m, size_t kernel, const char *file, const tw_arg *args, const char *target, const char *only,
                    const char *last) {
    if (!check_chosen()) return;
    snprintf(now, sizeof now, "%s, kernel %zu, --target %s --passes %s --stop-after %s\n", file, kernel, target,
             only ? only : "(all)", last ? last : "(none)");
    tw_compile_options options;
    tw_compile_options_init(&options);
    options.target = target;
    options.args = args;
    options.arg_count = tw_module_param_count(m, kernel);
    options.stage = TW_STAGE_EMIT;
    options.passes = only;
    options.stop_after = last;
    tw_kernel *k = NULL;
    tw_status status = tw_kernel_compile(m, tw_module_kernel_name(m, kernel), &options, &k);
    const char *message = tw_context_message(cx);
    /* Bad IR is a refusal of IR that somebody wrote; here it came from our own doors. */
    bool good = status == TW_OK || ((status == TW_ERROR_UNSUPPORTED || status == TW_ERROR_SOURCE) && *message &&
                                    !strstr(message, "[ir-invalid]"));
    if (!good) fprintf(stderr, "%s%s: %s\n", now, tw_status_text(status), message);
    CHECK(good);
    CHECK(status != TW_OK || only || last || *tw_kernel_explain(k));
    tw_kernel_destroy(k);
}

static void join(char *out, unsigned set) {
    *out = 0;
    for (int p = 0; p < PASSES; p++)
        if (set >> p & 1) strcat(strcat(out, *out ? "," : ""), passes[p]);
}

static void sweep(tw_module *m, size_t kernel, const char *file, bool all) {
    tw_arg args[MOST_PARAMS] = {{0}};
    unsigned whole = (1u << PASSES) - 1;
    char only[128];
    set_arguments(m, kernel, args);
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        try_set(m, kernel, file, args, targets[t], NULL, NULL);
        for (int p = 0; p < PASSES; p++) try_set(m, kernel, file, args, targets[t], NULL, passes[p]);
        for (unsigned set = 0; set <= whole; set++) {
            int chosen = __builtin_popcount(set);
            if (!all && chosen > 2 && chosen < PASSES - 1) continue;
            join(only, set);
            try_set(m, kernel, file, args, targets[t], only, NULL);
        }
    }
    for (int i = 0; i < MOST_PARAMS; i++)
        if (args[i].kind == TW_ARG_BUFFER) tw_buffer_destroy(args[i].value.buffer);
}

int main(int argc, char **argv) {
    static const char *const folders[] = {"kernels/triton", "kernels/tilelang", "kernels/tilec"};
    static const tw_pair defines[] = {{"M", "64"}, {"N", "64"}, {"K", "96"}};
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;
    int files = 0;
    signal(SIGSEGV, on_fault);
    signal(SIGABRT, on_fault);
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        DIR *dir = opendir(folders[f]);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            size_t length = strlen(entry->d_name);
            if (entry->d_name[0] == '.' || strcmp(entry->d_name + length - 2, ".h") == 0) continue; /* no kernels */
            char file[300];
            snprintf(file, sizeof file, "%s/%s", folders[f], entry->d_name);
            tw_module_options load;
            tw_module_options_init(&load);
            load.defines = defines;
            load.define_count = f == 1 ? 3 : 0;
            tw_module *m = NULL;
            CHECK(tw_module_load_file(cx, file, &load, &m) == TW_OK);
            for (size_t k = 0; k < tw_module_kernel_count(m); k++) sweep(m, k, file, all);
            tw_module_destroy(m);
            files++;
        }
        if (dir) closedir(dir);
    }
    CHECK(files >= 20);
    tw_context_destroy(cx);
    return check_done();
}
