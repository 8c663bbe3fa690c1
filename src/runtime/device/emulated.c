/* SPDX-License-Identifier: Apache-2.0 */
/* emulated.c: see emulated.h. */
#include "runtime/device/emulated.h"
#include "runtime/compile/cache.h"
#include "runtime/host/process.h"
#include "runtime/host/toolchain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILES = 32 };

static const char *const candidates[] = {"g++", "clang++", "c++", NULL};
static const ToolKind cxx_compiler = {"C++17", "CXX", candidates, "the emulator", ""};

bool emulated_available(const Target *target, tw_context *cx, Arena *arena, const char **note) {
    (void)target;
    const char *path = toolchain_path(cx, arena, &cxx_compiler, 0, note);
    if (path) *note = path;
    return path != NULL;
}

/* The words of EMU_CXXFLAGS and EMU_LIBRARIES; where they stand in `text`. */
static void list_flags(char *text, const char *flags[TOOL_FLAGS]) {
    int n = 0;
    for (char *rest = text, *word; n < TOOL_FLAGS - 1 && (word = strtok_r(rest, " ", &rest));) flags[n++] = word;
    flags[n] = NULL;
}

static bool is_listed(const ToolFile *files, int count, const char *name) {
    while (count && strcmp(files[count - 1].path, name) != 0) count--;
    return count > 0;
}

/* What the device has of its own (special.h on AMD's GPUs), others have for the host alone. */
static int list_files(const char *target, const char *name, const char *text, ToolFile files[MAX_FILES]) {
    static const char *const folders[] = {"prelude", "include"};
    const EmbeddedFile *file;
    int count = 0;
    for (int f = 0; f < 2; f++)
        for (int i = 0; count < MAX_FILES - 1 && (file = simt_code_header(target, folders[f], i)); i++)
            if (!is_listed(files, count, simt_code_header_name(file)))
                files[count++] = (ToolFile){simt_code_header_name(file), file->text, file->size, false};
    files[count++] = (ToolFile){name, text, strlen(text), true};
    return count;
}

tw_status emulated_build(tw_kernel *k, const Emulated *by) {
    tw_context *cx = k->context;
    SimtCode *code = k->code;
    Toolchain tool;
    if (!toolchain_find(cx, &k->arena, &cxx_compiler, 0, &tool)) return TW_ERROR_UNAVAILABLE;
    char words[] = EMU_CXXFLAGS " " EMU_LIBRARIES, hex[DIGEST_HEX], symbol[300];
    const char *flags[TOOL_FLAGS], *name = arena_printf(&k->arena, "kernel%s", by->ending);
    ToolFile files[MAX_FILES];
    list_flags(words, flags);
    int count = list_files(k->pass.machine->target, name, code->simt_plan->text, files);
    Digest d;
    digest_begin(&d);
    digest_add_text(&d, by->name);
    digest_add_text(&d, tw_version());
    for (int i = 0; i < count; i++) digest_add_text(&d, files[i].text);
    toolchain_digest(&tool, flags, &d);
    digest_end_hex(&d, hex);
    tw_status status = toolchain_build(cx, &tool, flags, files, count, hex, &code->library);
    if (status != TW_OK) return status;
    snprintf(symbol, sizeof symbol, "tw_emu_%s", code->simt_plan->name);
    code->entry = dlsym(code->library, symbol);
    return code->entry ? TW_OK
                       : context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
}

void emulated_destroy(tw_kernel *k) {
    SimtCode *code = k->code;
    if (code && code->library) dlclose(code->library);
}

/* Arrays of the launch; those that share memory are one. */
static size_t find_memory(tw_kernel *k, EmuAllocation *memory) {
    size_t count = 0;
    for (int i = 0; i < k->param_count; i++) {
        const tw_buffer *b = k->buffers[i];
        if (!b || !b->size) continue;
        char *low = buffer_lowest(b), *high = low + b->size;
        size_t at = 0;
        while (at < count) {
            char *base = memory[at].base, *end = base + memory[at].bytes;
            if (low < end && base < high) { /* joined, and looked at again with what it now covers */
                low = base < low ? base : low;
                high = end > high ? end : high;
                memory[at] = memory[--count];
                at = 0;
                continue;
            }
            at++;
        }
        memory[count++] = (EmuAllocation){k->params[i].name, low, (uint64_t)(high - low)};
    }
    return count;
}

tw_status emulated_launch(tw_kernel *k, const Emulated *by, const LaunchCall *call) {
    tw_context *cx = k->context;
    SimtCode *code = k->code;
    const SimtPlan *plan = code->simt_plan;
    Arena *scratch = &cx->launch_scratch;
    EmuAllocation *memory = ARENA_ARRAY(scratch, EmuAllocation, k->param_count + 1);
    EmuLaunch launch = {.kernel = k->name,
                        .file = arena_printf(scratch, "%s%s", k->name, by->ending),
                        .threads = (uint32_t)plan->threads,
                        .lanes = (uint32_t)k->pass.machine->lanes,
                        .shared_bytes = (uint32_t)plan->shared_bytes,
                        .shared_most = (uint32_t)k->pass.machine->ring_bytes,
                        .params = code->params,
                        .allocations = memory,
                        .allocation_count = find_memory(k, memory),
                        .seed = k->seed,
                        .steps = (uint64_t)k->max_steps,
                        .cancel = context_cancel(cx)};
    memcpy(&launch.entry, &code->entry, sizeof launch.entry);
    launch.registers = (uint32_t)(k->pass.machine->registers / (plan->threads * plan->blocks));
    simt_code_refresh(code, call);
    simt_code_blocks(code, call->grid, launch.grid);
    tw_status status = by->prepare ? by->prepare(k, call, &launch, memory) : TW_OK;
    if (status == TW_OK) {
        EmuReport report;
        bool good = by->run(&launch, scratch, &report);
        if (cx->print && *report.output) cx->print(cx->print_user, report.output, strlen(report.output));
        if (!good)
            status = context_fail(cx, TW_ERROR_LAUNCH, "kernel `%s` on the emulator: %s", k->name, report.text);
    }
    arena_free(scratch);
    return status;
}
