/* SPDX-License-Identifier: Apache-2.0 */
/* target_tenstorrent.c: the Tenstorrent target: emitted kernels, the host's C++ compiler, the
 * functional model of a grid.
 *
 * reader.cpp, compute.cpp and writer.cpp are compiled unchanged, each through a wrapper of four
 * lines, against the API-model headers, into one shared object; a launch tilizes the arguments,
 * runs the model and brings the results back. No card is needed and none is used, which every
 * launch says in a note. */
#include "runtime/target/target.h"

#include "base/embedded.h"
#include "draw/draw.h"
#include "runtime/compile/cache.h"
#include "runtime/host/process.h"
#include "runtime/compile/scalars.h"
#include "runtime/host/toolchain.h"
#include "target/tenstorrent/tt.h"

#include <dlfcn.h>
#include <string.h>

enum { MAX_FILES = 128 };

typedef struct TensixCode {
    TtPlan *plan;
    void *library;
    TensixEntry *entry[TT_KERNELS];
    ScalarProgram *numbers; /* the plan's */
    int64_t *values;
} TensixCode;

static const char *const candidates[] = {"g++", "clang++", "c++", NULL};
static const ToolKind cxx_compiler = {"C++", "CXX", candidates, "target tenstorrent", ", or use target interp"};
/* Start files and the library of C++ are not needed, and take the linker three times as long. */
static const char *const flags[] = {"-std=c++17", "-O1",   "-fPIC",     "-shared", "-fwrapv", "-ffp-contract=off",
                                    "-w",         "-pipe", "-nostdlib", "-lm",     "-lgcc",   NULL};

/* Where the headers of the emitted files lie in the library. */
static const char *const folders[] = {"tenstorrent/model/include/", "tenstorrent/prelude/"};
enum { MODEL_HEADERS, PRELUDE };

static const char *below(const EmbeddedFile *file, int folder) {
    size_t length = strlen(folders[folder]);
    return strncmp(file->path, folders[folder], length) == 0 ? file->path + length : NULL;
}

static bool find_arch(const char *arch, TensixArch *out) {
    for (int i = 0; i <= TENSIX_BLACKHOLE; i++) {
        *out = (TensixArch)i;
        if (!arch || strcmp(arch, tensix_limits(*out)->name) == 0) return true;
    }
    return false;
}

static const Machine *tensix_machine(tw_context *cx, const char *arch) {
    TensixArch known;
    const char *const rows[] = {[TENSIX_WORMHOLE] = "tenstorrent", [TENSIX_BLACKHOLE] = "tenstorrent:blackhole"};
    if (find_arch(arch, &known)) return machine_find(rows[known]);
    context_fail(cx, TW_ERROR_NOT_FOUND,
                 "target tenstorrent has no architecture `%s`" FIX "write tenstorrent:wormhole or "
                 "tenstorrent:blackhole",
                 arch);
    return NULL;
}

static bool tensix_available(const Target *target, tw_context *cx, Arena *arena, const char **note) {
    (void)target;
    const char *path = toolchain_path(cx, arena, &cxx_compiler, 0, note);
    if (path) *note = arena_printf(arena, "functional model of a Tensix grid, kernels compiled by %s", path);
    return path != NULL;
}

/* ---------------------------------------------------------------------------------------------------------- build */

/* Extents of the task indices; 0: only a launch knows. */
static void known_tasks(const tw_kernel *k, int64_t known[MAX_RANK]) {
    const TtPlan *plan = ((const TensixCode *)k->code)->plan;
    for (int i = 0; i < MAX_RANK; i++) known[i] = 0;
    for (int i = 0; i < plan->task_rank; i++) ir_const_int(k->ir, plan->numbers.at[plan->tasks[i]].value, &known[i]);
}

static void tensix_draw(const tw_kernel *k, Text *page) {
    int64_t known[MAX_RANK];
    known_tasks(k, known);
    draw_tensix(page, ((const TensixCode *)k->code)->plan, known);
}

static bool tensix_emit(tw_kernel *k) {
    TensixCode *code = ARENA_NEW(&k->arena, TensixCode);
    TtOptions options = tt_options_default;
    find_arch(k->arch, &options.arch);
    if (k->fidelity) options.fidelity = (uint32_t)k->fidelity;
    options.policy = (TwPolicy)k->tt_policy;
    options.order = (TwOrder)k->tt_order;
    options.block = (uint32_t)k->tt_block;
    options.size = (TwPoint){(uint32_t)k->tt_grid >> 16, (uint32_t)k->tt_grid & 0xffff};
    options.cores = (uint32_t)k->cores;
    options.chunk = (uint32_t)k->tt_chunk;
    options.multicast = (TtWish)k->tt_multicast;
    options.depths = k->tt_depths;
    options.sharding = k->tt_sharding;
    options.launch = k->request->launch;
    options.launches = k->sequence.launches;
    TtSpace *spaces = ARENA_ARRAY(&k->arena, TtSpace, k->sequence.spaces.count);
    for (size_t i = 0; i < k->sequence.spaces.count; i++) {
        const FrontSpace *space = &k->sequence.spaces.at[i];
        spaces[i] = (TtSpace){space->name, space->elem, space->rank, space->extent};
    }
    options.spaces = spaces;
    options.space_count = (int)k->sequence.spaces.count;
    k->code = code;
    code->plan = tt_emit(&k->pass, k->ir, &options);
    if (!code->plan) return false;
    int64_t known[MAX_RANK];
    known_tasks(k, known);
    pass_find(&k->pass, k->ir->range, FIND_CORES, tt_explain(code->plan, known, &k->arena));
    static const int order[] = {TENSIX_READER, TENSIX_COMPUTE, TENSIX_WRITER};
    const TtPlan *plan = code->plan;
    for (int i = 0; i < TT_KERNELS; i++) kernel_add_artifact(k, plan->file[order[i]], plan->source[order[i]]);
    if (!options.launch) {
        kernel_add_artifact(k, "host.cpp", arena_printf(&k->arena, "%s%s%s", plan->host[0], plan->host[1], plan->host[2]));
        kernel_add_artifact(k, "CMakeLists.txt", plan->cmake);
    }
    kernel_add_artifact(k, options.launch ? arena_printf(&k->arena, "plan_%d.json", options.launch + 1) : "plan.json",
                        plan->json);
    for (const EmbeddedFile *file = embedded_files; file->path; file++)
        if (below(file, PRELUDE)) kernel_add_artifact(k, below(file, PRELUDE), file->text);
    return true;
}

/* One host program runs all of them. */
static void tensix_sequence(tw_kernel *k) {
    Text host = text_new(&k->arena);
    text_add(&host, "%s", ((const TensixCode *)k->code)->plan->host[0]);
    for (const tw_kernel *at = k; at; at = at->next)
        text_add(&host, "%s", ((const TensixCode *)at->code)->plan->host[1]);
    text_add(&host, "%s", ((const TensixCode *)k->code)->plan->host[2]);
    for (size_t i = 0; i < k->artifacts.count; i++) {
        Artifact *a = &k->artifacts.at[i];
        if (strcmp(a->name, "host.cpp") == 0) a->text = host.at, a->size = host.length;
    }
}

static tw_status prepare_numbers(tw_kernel *k, TensixCode *code) {
    int count = (int)code->plan->numbers.count;
    const char *why = NULL;
    Ref *wanted = ARENA_ARRAY(&k->arena, Ref, count);
    for (int i = 0; i < count; i++) {
        const TtNumber *number = &code->plan->numbers.at[i];
        wanted[i] = number->kind == NUMBER_VALUE ? number->value : k->ir->body->args[number->arg];
    }
    code->values = ARENA_ARRAY(&k->arena, int64_t, count);
    code->numbers = scalars_compile(k->ir, wanted, count, k->params, k->param_count, &k->arena, &why);
    if (code->numbers) return TW_OK;
    return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                        "kernel `%s`: tasks, extents and strides must be computed from arguments "
                        "on Tenstorrent, but need %s",
                        k->name, why);
}

static tw_status tensix_build(tw_kernel *k) {
    tw_context *cx = k->context;
    TensixCode *code = k->code;
    Toolchain tool;
    tw_status status = prepare_numbers(k, code);
    if (status != TW_OK) return status;
    if (!toolchain_find(cx, &k->arena, &cxx_compiler, 0, &tool)) return TW_ERROR_UNAVAILABLE;
    ToolFile *files = ARENA_ARRAY(&k->arena, ToolFile, MAX_FILES);
    int count = 0;
    for (const EmbeddedFile *file = embedded_files; file->path && count < MAX_FILES - 2 * TT_KERNELS; file++) {
        const char *path = below(file, MODEL_HEADERS) ? below(file, MODEL_HEADERS) : below(file, PRELUDE);
        if (path) files[count++] = (ToolFile){path, file->text, file->size, false};
    }
    for (int i = 0; i < TT_KERNELS; i++) {
        const char *wrapper = tt_wrapper(code->plan, i, &k->arena), *text = code->plan->source[i];
        files[count++] = (ToolFile){code->plan->file[i], text, strlen(text), false};
        files[count++] =
            (ToolFile){arena_printf(&k->arena, "entry_%s", tt_file_name(i)), wrapper, strlen(wrapper), true};
    }
    Digest d;
    char hex[DIGEST_HEX];
    digest_begin(&d);
    digest_add_text(&d, "tenstorrent");
    digest_add_text(&d, tw_version());
    for (int i = 0; i < count; i++) {
        digest_add_text(&d, files[i].path);
        digest_add_text(&d, files[i].text);
    }
    toolchain_digest(&tool, flags, &d);
    digest_end_hex(&d, hex);
    status = toolchain_build(cx, &tool, flags, files, count, hex, &code->library);
    for (int i = 0; i < TT_KERNELS && status == TW_OK; i++) {
        void *symbol = dlsym(code->library, tt_entry_name(i));
        if (!symbol) status = context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
        memcpy(&code->entry[i], &symbol, sizeof symbol);
    }
    return status;
}

static void tensix_destroy(tw_kernel *k) {
    TensixCode *code = k->code;
    if (code && code->library) dlclose(code->library);
}

/* --------------------------------------------------------------------------------------------------------- launch */

static void set_argument(const tw_kernel *k, int i, TtValue *value) {
    const RunParam *param = &k->params[i];
    const uint64_t *words = k->slots + param->slot;
    const tw_buffer *buffer = k->buffers[i];
    *value = (TtValue){.word = words[0], .bytes = -1};
    if (buffer && buffer_lowest(buffer) == (char *)buffer->data) value->bytes = (int64_t)buffer->size;
    if (param->type->kind != TY_TENSOR) return;
    value->extent = (const int64_t *)words + 1;
    value->stride = (const int64_t *)words + 1 + param->type->rank;
}

static bool tensix_join(tw_kernel *k, const int64_t grid[3], JoinSize *size) {
    const TensixCode *code = k->code;
    const TtPlan *plan = code->plan;
    int64_t tasks[2] = {0, 0};
    if (plan->task_rank < 2 || (!k->pass.join.along[0] && !k->pass.join.along[1])) return false;
    scalars_run(code->numbers, k->slots, grid, code->values);
    for (int i = 0; i < 2; i++) tasks[i] = code->values[plan->tasks[plan->task_rank - 2 + i]];
    *size = join_choose(k->pass.machine, &k->pass.join, tasks);
    return size->rows * size->columns > 1;
}

/* Elements that are moved one by one lie where the kernel says, pages where we do. */
static bool is_kernels_mistake(const TtPlan *plan, const TensixReport *report) {
    return report->strayed && plan->buffers.at[report->strayed - 1].layout.paging == PAGE_PLAIN;
}

static tw_status run(tw_kernel *k, const LaunchCall *call, Arena *scratch) {
    tw_context *cx = k->context;
    const TensixCode *code = k->code;
    TtResult *result = ARENA_NEW(scratch, TtResult);
    TtValue *args = ARENA_ARRAY(scratch, TtValue, k->param_count);
    for (int i = 0; i < k->param_count; i++) set_argument(k, i, &args[i]);
    scalars_run(code->numbers, k->slots, call->grid, code->values);
    TtLaunch launch = {.plan = code->plan,
                       .args = args,
                       .values = code->values,
                       .arena = scratch,
                       .steps = (uint64_t)k->max_steps,
                       .seed = k->seed,
                       .counts = k->counts,
                       .cancel = context_cancel(cx)};
    memcpy(launch.entry, code->entry, sizeof launch.entry);
    memcpy(launch.grid, call->grid, sizeof launch.grid);
    bool ok = tt_launch(&launch, result);
    const TensixLimits *limits = tensix_limits(code->plan->options.arch);
    if (ok) {
        seat_find(cx)->warnings =
            arena_printf(context_texts(cx), "note: ran on the functional model of a %s grid, %u of %u cores%s; no "
                                            "card is used\n%s",
                                    limits->name, result->cores, limits->grid_x * limits->grid_y,
                                    k->counts ? ", and computed nothing" : "",
                                    k->report || k->counts ? tt_report(code->plan, result, scratch) : "");
        return TW_OK;
    }
    if (result->report.out_of_memory) return context_fail(cx, TW_ERROR_MEMORY, "out of memory");
    if (result->argument) return context_fail(cx, TW_ERROR_ARGUMENT, "kernel `%s`: %s", k->name, result->problem);
    if (result->report.endless)
        return context_fail(cx, TW_ERROR_LAUNCH, "kernel `%s` on the functional model: %s", k->name, result->problem);
    if (is_kernels_mistake(code->plan, &result->report))
        return context_fail(cx, TW_ERROR_LAUNCH,
                            "kernel `%s` touched memory that is no buffer's (the sanitizer finds the line): %s",
                            k->name, result->problem);
    return context_fail(cx, TW_ERROR_INTERNAL, /* the kernels are of our making */
                        "the kernels made of `%s` break the rules of a Tensix core: %s", k->name, result->problem);
}

static tw_status tensix_launch(tw_kernel *k, const LaunchCall *call) {
    Arena *scratch = &k->context->launch_scratch;
    tw_status status = run(k, call, scratch);
    arena_free(scratch);
    return status;
}

const Target target_tenstorrent = {
    .name = "tenstorrent",
    .about = "reader, compute and writer kernels for TT-Metalium, run on a functional model of the "
             "Tensix grid",
    .machine = tensix_machine,
    .emit = tensix_emit,
    .sequence = tensix_sequence,
    .draw = tensix_draw,
    .build = tensix_build,
    .launch = tensix_launch,
    .join = tensix_join,
    .destroy = tensix_destroy,
    .available = tensix_available,
};
