/* target_emulated.c: the CUDA target without a GPU: the very .cu, compiled by the host's C++
 * compiler against the emulator's prelude, every thread a fiber (target/cuda/emu). It is what
 * `--emulate` means for target cuda. */
#include "runtime/cache.h"
#include "runtime/cuda_code.h"
#include "runtime/process.h"
#include "target/cuda/emu/emu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_WORDS = 40, OUTPUT_BYTES = 8192 };

/* $CXX, or the first of these that is in PATH. */
static const char *find_compiler(char *path, size_t capacity) {
    static const char *const candidates[] = {"g++", "clang++", "c++"};
    const char *wish = getenv("CXX");
    if (wish && *wish) return process_find(wish, path, capacity) ? wish : NULL;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (process_find(candidates[i], path, capacity)) return candidates[i];
    return NULL;
}

static tw_status no_compiler(tw_context *cx) {
    return context_fail(
        cx, TW_ERROR_UNAVAILABLE,
        "--emulate needs a C++17 compiler, and none of g++, clang++, c++ is in PATH; "
        "install g++ or clang++, or set CXX to one");
}

static bool emulated_available(tw_context *cx, Arena *arena, const char **note) {
    char path[CACHE_PATH];
    const char *compiler = find_compiler(path, sizeof path);
    (void)cx;
    *note = compiler ? arena_printf(arena, "%s", path) : "needs a C++17 compiler (g++ or clang++)";
    return compiler != NULL;
}

static void make_key(const char *text, const char *compiler, const char *path,
                     char hex[DIGEST_HEX]) {
    Digest d;
    struct stat info;
    digest_begin(&d);
    digest_add_text(&d, "cuda-emulated");
    digest_add_text(&d, tw_version());
    digest_add_text(&d, text);
    digest_add_text(&d, EMU_CXXFLAGS);
    static const char *const folders[] = {"prelude", "include"};
    const EmbeddedFile *file;
    for (int f = 0; f < 2; f++)
        for (int i = 0; (file = cuda_code_header(folders[f], i)); i++)
            digest_add_text(&d, file->text);
    digest_add_text(&d, compiler);
    digest_add_text(&d, path);
    if (stat(path, &info) == 0) {
        digest_add(&d, &info.st_size, sizeof info.st_size);
        digest_add(&d, &info.st_mtim, sizeof info.st_mtim);
    }
    digest_end_hex(&d, hex);
}

static bool write_file(const char *folder, const char *name, const char *text, size_t size) {
    char path[CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && file_write(path, text, size);
}

static bool write_sources(const char *folder, const char *text) {
    static const char *const folders[] = {"prelude", "include"};
    const EmbeddedFile *file;
    for (int f = 0; f < 2; f++)
        for (int i = 0; (file = cuda_code_header(folders[f], i)); i++)
            if (!write_file(folder, cuda_code_header_name(file), file->text, file->size))
                return false;
    return write_file(folder, "kernel.cu", text, strlen(text));
}

static bool load(tw_kernel *k, const char *path) {
    CudaCode *code = k->code;
    char symbol[300];
    code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    snprintf(symbol, sizeof symbol, "tw_emu_%s", code->plan->name);
    code->entry = code->library ? dlsym(code->library, symbol) : NULL;
    return code->entry != NULL;
}

static tw_status compile_and_load(tw_kernel *k, const char *compiler, const char *hex,
                                  CacheRoom *room) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    char object[CACHE_PATH], source[CACHE_PATH], include[CACHE_PATH], kept[CACHE_PATH];
    char output[OUTPUT_BYTES] = "", flags[] = EMU_CXXFLAGS;
    const char *argv[MAX_WORDS] = {compiler};
    int n = 1;
    for (char *rest = flags, *word; n < MAX_WORDS - 6 && (word = strtok_r(rest, " ", &rest));)
        argv[n++] = word;
    snprintf(object, sizeof object, "%.1000s/kernel.so", room->path);
    snprintf(source, sizeof source, "%.1000s/kernel.cu", room->path);
    snprintf(include, sizeof include, "-I%.1000s", room->path);
    argv[n++] = include, argv[n++] = source, argv[n++] = "-o", argv[n++] = object, argv[n] = NULL;
    bool written = write_sources(room->path, code->plan->text), loaded = false;
    ProcessResult r = {.exit_code = -1};
    if (written) r = process_run(argv, cx->tool_timeout, output, sizeof output);
    if (r.exit_code == 0)
        loaded = load(k, cache_keep(cx->cache_dir, hex, ".so", object, kept) ? kept : object);
    cache_room_close(room);
    if (loaded) return TW_OK;
    if (!written)
        return context_fail(cx, TW_ERROR_IO,
                            "no room to compile in: neither the cache nor $TMPDIR can be written");
    if (!r.started)
        return context_fail(cx, TW_ERROR_UNAVAILABLE, "the C++ compiler `%s` could not be started",
                            compiler);
    if (r.timed_out)
        return context_fail(cx, TW_ERROR_TOOL, "the C++ compiler `%s` took longer than %d seconds",
                            compiler, cx->tool_timeout);
    if (r.exit_code != 0)
        return context_fail(cx, TW_ERROR_TOOL,
                            "the C++ compiler `%s` refused the emitted code:\n%s", compiler,
                            output);
    return context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s",
                        dlerror());
}

static tw_status emulated_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    tw_status status = cuda_code_prepare(k);
    if (status != TW_OK) return status;
    char path[CACHE_PATH], hex[DIGEST_HEX], entry[CACHE_PATH];
    const char *compiler = find_compiler(path, sizeof path);
    if (!compiler) return no_compiler(cx);
    make_key(code->plan->text, compiler, path, hex);
    if (cache_find(cx->cache_dir, hex, ".so", entry) && load(k, entry)) return TW_OK;
    CacheRoom room;
    if (!cache_room_open(&room, cx->cache_dir))
        return context_fail(cx, TW_ERROR_IO,
                            "no room to compile in: neither the cache nor $TMPDIR can be written");
    return compile_and_load(k, compiler, hex, &room);
}

static void emulated_destroy(tw_kernel *k) {
    CudaCode *code = k->code;
    if (code && code->library) dlclose(code->library);
}

static const char *encode(void *user, CudaMapBytes *map, const CudaMapValue *value) {
    static const EmuType types[EL_COUNT] = {
        [EL_I1] = EMU_U8,         [EL_I8] = EMU_I8,         [EL_U8] = EMU_U8,
        [EL_I16] = EMU_I16,       [EL_U16] = EMU_U16,       [EL_I32] = EMU_I32,
        [EL_U32] = EMU_U32,       [EL_I64] = EMU_I64,       [EL_U64] = EMU_U64,
        [EL_F16] = EMU_F16,       [EL_BF16] = EMU_BF16,     [EL_F32] = EMU_F32,
        [EL_F64] = EMU_F64,       [EL_F8E4M3] = EMU_E4M3,   [EL_F8E5M2] = EMU_E5M2,
        [EL_F8E4B8] = EMU_U8,     [EL_F8E5B16] = EMU_U8,    [EL_F8E4B15] = EMU_U8};
    (void)user;
    EmuTensor t = {.type = types[value->elem],
                   .rank = value->rank,
                   .base = (void *)(uintptr_t)value->base,
                   .swizzle = value->swizzle};
    for (int d = 0; d < value->rank; d++) {
        t.dims[d] = value->dims[d];
        t.box[d] = value->box[d];
        if (d) t.strides[d - 1] = value->strides[d - 1];
    }
    return emu_tensormap_encode(map, &t);
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
            if (low < end &&
                base < high) { /* joined, and looked at again with what it now covers */
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

static tw_status emulated_launch(tw_kernel *k, const LaunchCall *call) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    tw_status status = cuda_code_refresh(k, call, encode, NULL);
    if (status != TW_OK) return status;
    Arena scratch;
    arena_init(&scratch, cx->allocator, &cx->trap);
    cx->launch_scratch = &scratch; /* api.c frees it if memory runs out */
    EmuAllocation *memory = ARENA_ARRAY(&scratch, EmuAllocation, k->param_count + 1);
    EmuLaunch launch = {.kernel = k->name,
                        .file = arena_printf(&scratch, "%s.cu", k->name),
                        .threads = (uint32_t)code->plan->threads,
                        .shared_bytes = (uint32_t)code->plan->shared_bytes,
                        .params = code->params,
                        .allocations = memory,
                        .allocation_count = find_memory(k, memory),
                        .seed = k->seed,
                        .steps = (uint64_t)k->max_steps,
                        .cancel = &cx->cancel};
    memcpy(&launch.entry, &code->entry, sizeof launch.entry);
    for (int d = 0; d < 3; d++) launch.grid[d] = (uint32_t)call->grid[d];
    if (code->plan->persist) { /* two blocks share the programs, so that counters go on from task to
                                  task */
        int64_t programs = call->grid[0] * call->grid[1] * call->grid[2];
        launch.cluster = (uint32_t)cuda_code_cluster(code, 1); /* or two clusters of blocks */
        launch.grid[0] = (programs < 2 ? (uint32_t)programs : 2) * launch.cluster;
        launch.grid[1] = launch.grid[2] = 1;
    }
    EmuReport report;
    bool good = emu_launch(&launch, &scratch, &report);
    if (cx->print && *report.output) cx->print(cx->print_user, report.output, strlen(report.output));
    status = cancel_is_asked(&cx->cancel) ? context_cancelled(cx)
             : good ? TW_OK
                  : context_fail(cx, TW_ERROR_LAUNCH, "kernel `%s` on the emulator: %s", k->name,
                                 report.text);
    cx->launch_scratch = NULL;
    arena_free(&scratch);
    return status;
}

const Target target_emulated = {
    .name = "cuda-emulated",
    .about =
        "the CUDA target's text on the host, thread by thread, with races and deadlocks reported",
    .machine = cuda_code_machine,
    .emit = cuda_code_emit,
    .build = emulated_build,
    .launch = emulated_launch,
    .destroy = emulated_destroy,
    .available = emulated_available,
};
