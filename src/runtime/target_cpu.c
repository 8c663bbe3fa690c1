/* target_cpu.c: the CPU target: emitted C, the system's C compiler, a shared object from the cache, the thread pool.
 *
 * The compiler is $CC if set, else the first of gcc, clang, cc that is in PATH. Everything that can change the result is in
 * the key of the cache: the emitted text and preludes, the compiler's files (path, size, time) and flags, the processor's
 * features (-march=native), our version. */
#include "runtime/target.h"

#include "base/embedded.h"
#include "runtime/cache.h"
#include "runtime/pool.h"
#include "runtime/process.h"
#include "target/cpu/cpu_target.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_WORDS = 16, OUTPUT_BYTES = 8192 };

/* As in prelude/cpu.h. */
typedef struct TwLaunch {
    const uint64_t *args;
    int32_t grid[3];
    int32_t failed;
    int64_t failed_program;
} TwLaunch;
typedef void RunFunction(TwLaunch *launch, int64_t begin, int64_t end, unsigned char *scratch);

typedef struct CpuKernel {
    CpuCode code;
    void *library;
    RunFunction *run;
    const char **messages; /* of its asserts, with their places */
} CpuKernel;

#if defined(__aarch64__)
#define NATIVE "-mcpu=native"
#else
#define NATIVE "-march=native"
#endif
static const char *const flags[] = {"-std=gnu11",           "-O3",  NATIVE,    "-ffp-contract=off", "-fno-math-errno",
                                    "-fno-trapping-math",   "-w",   "-fPIC",   "-shared",           "-fno-strict-aliasing",
                                    "-fno-strict-overflow", "-pipe"};
static const char *const prelude_names[] = {"cpu.h", "dot.h", "sort.h"};

static const EmbeddedFile *prelude(const char *name) {
    for (const EmbeddedFile *file = embedded_files; file->path; file++) {
        const char *base = "cpu/prelude/";
        if (strncmp(file->path, base, strlen(base)) == 0 && strcmp(file->path + strlen(base), name) == 0) return file;
    }
    return NULL;
}

static const Machine *cpu_machine(tw_context *cx, const char *arch) {
    if (arch) {
        context_fail(cx, TW_ERROR_NOT_FOUND, "target cpu compiles for this machine; write `cpu`");
        return NULL;
    }
    return machine_find("cpu");
}

/* ------------------------------------------------------------------------------------------------------- compiler */

typedef struct Compiler {
    const char *words[MAX_WORDS]; /* "ccache gcc": two */
    int count;
    char *text; /* that the words lie in */
} Compiler;

/* Splits $CC at blanks, or finds one; false with a message. */
static bool find_compiler(tw_context *cx, Arena *arena, Compiler *cc) {
    static const char *const candidates[] = {"gcc", "clang", "cc"};
    char path[CACHE_PATH];
    const char *wish = getenv("CC");
    *cc = (Compiler){.count = 0};
    if (wish && *wish) {
        cc->text = arena_string(arena, wish, strlen(wish));
        char *rest = cc->text;
        for (char *word; cc->count < MAX_WORDS && (word = strtok_r(rest, " \t", &rest));) cc->words[cc->count++] = word;
        if (cc->count && process_find(cc->words[0], path, sizeof path)) return true;
        context_fail(cx, TW_ERROR_UNAVAILABLE,
                     "CC is set to `%s`, which is not a program in PATH; set CC to a C compiler (gcc or clang), or unset it",
                     wish);
        return false;
    }
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (process_find(candidates[i], path, sizeof path)) {
            cc->words[cc->count++] = candidates[i];
            return true;
        }
    context_fail(cx, TW_ERROR_UNAVAILABLE,
                 "target cpu needs a C compiler, and none of gcc, clang, cc is in PATH; install gcc or clang, set CC to "
                 "one, or use --target interp");
    return false;
}

static bool cpu_available(tw_context *cx, Arena *arena, const char **note) {
    Compiler cc;
    char path[CACHE_PATH];
    if (!find_compiler(cx, arena, &cc)) {
        *note = arena_printf(arena, "%s", cx->message);
        return false;
    }
    process_find(cc.words[0], path, sizeof path);
    *note = arena_printf(arena, "%s, %d threads", path, pool_threads(context_pool(cx)));
    return true;
}

/* What the processor can do, as /proc/cpuinfo says it for the first one. */
static void add_processor(Digest *d) {
    char text[16384];
    int64_t n = file_read("/proc/cpuinfo", text, sizeof text - 1);
    if (n <= 0) return;
    text[n] = 0;
    static const char *const keys[] = {"model name", "flags", "Features", "CPU part", "CPU implementer"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char *line = strstr(text, keys[i]);
        if (line) digest_add(d, line, strcspn(line, "\n"));
    }
}

static void make_key(tw_kernel *k, const Compiler *cc, const char *text, char hex[DIGEST_HEX]) {
    Digest d;
    char path[CACHE_PATH];
    digest_begin(&d);
    digest_add_text(&d, "cpu");
    digest_add_text(&d, tw_version());
    digest_add_text(&d, text);
    for (size_t i = 0; i < sizeof prelude_names / sizeof *prelude_names; i++)
        digest_add_text(&d, prelude(prelude_names[i])->text);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) digest_add_text(&d, flags[i]);
    for (int i = 0; i < cc->count; i++) {
        struct stat info;
        digest_add_text(&d, cc->words[i]);
        if (!process_find(cc->words[i], path, sizeof path) || stat(path, &info) != 0) continue;
        digest_add_text(&d, path);
        digest_add(&d, &info.st_size, sizeof info.st_size);
        digest_add(&d, &info.st_mtim, sizeof info.st_mtim);
    }
    add_processor(&d);
    digest_end_hex(&d, hex);
    (void)k;
}

/* ---------------------------------------------------------------------------------------------------------- build */

static bool cpu_emit_kernel(tw_kernel *k) {
    CpuKernel *code = ARENA_NEW(&k->arena, CpuKernel);
    k->code = code;
    if (!cpu_emit(k->ir, &k->arena, &code->code)) return false;
    kernel_add_artifact(k, arena_printf(&k->arena, "%s.c", k->name), code->code.text);
    for (size_t i = 0; i < sizeof prelude_names / sizeof *prelude_names; i++) {
        const char *line = arena_printf(&k->arena, "#include \"%s\"", prelude_names[i]);
        if (strstr(code->code.text, line)) kernel_add_artifact(k, prelude_names[i], prelude(prelude_names[i])->text);
    }
    code->messages = ARENA_ARRAY(&k->arena, const char *, code->code.assert_count);
    for (int i = 0; i < code->code.assert_count; i++) {
        const CpuAssert *a = &code->code.asserts[i];
        Place place;
        bool known = source_find(k->sources, a->range.begin, &place);
        code->messages[i] = known ? arena_printf(&k->arena, "%s:%d:%d: assertion failed: %s", place.file->name, place.line,
                                                 place.column, a->message)
                                  : arena_printf(&k->arena, "assertion failed: %s", a->message);
    }
    return true;
}

/* Writes the sources into the room; false: the disk does not take them. */
static bool write_sources(const CacheRoom *room, const char *text, char *path, size_t capacity) {
    for (size_t i = 0; i < sizeof prelude_names / sizeof *prelude_names; i++) {
        const EmbeddedFile *file = prelude(prelude_names[i]);
        int n = snprintf(path, capacity, "%s/%s", room->path, prelude_names[i]);
        if (n < 0 || (size_t)n >= capacity || !file_write(path, file->text, file->size)) return false;
    }
    int n = snprintf(path, capacity, "%s/kernel.c", room->path);
    return n > 0 && (size_t)n < capacity && file_write(path, text, strlen(text));
}

/* Loads a shared object; the text of the entry is what a broken one fails on. */
static bool load(CpuKernel *code, const char *path) {
    code->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!code->library) return false;
    void *symbol = dlsym(code->library, "tw_run");
    memcpy(&code->run, &symbol, sizeof code->run);
    return symbol != NULL;
}

static tw_status compile_and_load(tw_kernel *k, const Compiler *cc, const char *hex, CacheRoom *room) {
    tw_context *cx = k->context;
    CpuKernel *code = k->code;
    char source[CACHE_PATH], object[CACHE_PATH], kept[CACHE_PATH], output[OUTPUT_BYTES];
    snprintf(object, sizeof object, "%.1000s/kernel.so", room->path);
    bool written = write_sources(room, code->code.text, source, sizeof source);
    ProcessResult r = {.exit_code = -1};
    const char *argv[MAX_WORDS + sizeof flags / sizeof *flags + 6];
    int n = 0;
    for (int i = 0; i < cc->count; i++) argv[n++] = cc->words[i];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) argv[n++] = flags[i];
    argv[n++] = "-o", argv[n++] = object, argv[n++] = source, argv[n++] = "-lm", argv[n] = NULL;
    if (written) r = process_run(argv, cx->tool_timeout, output, sizeof output);
    bool loaded = false;
    if (r.exit_code == 0) {
        const char *path = cache_keep(cx->cache_dir, hex, ".so", object, kept) ? kept : object;
        loaded = load(code, path);
    }
    cache_room_close(room);
    if (loaded) return TW_OK;
    if (!written)
        return context_fail(cx, TW_ERROR_IO, "no room to compile in: neither the cache nor $TMPDIR can be written");
    if (!r.started) return context_fail(cx, TW_ERROR_UNAVAILABLE, "the C compiler `%s` could not be started", cc->words[0]);
    if (r.timed_out)
        return context_fail(cx, TW_ERROR_TOOL, "the C compiler `%s` took longer than %d seconds", cc->words[0],
                            cx->tool_timeout);
    if (r.exit_code != 0)
        return context_fail(cx, TW_ERROR_TOOL, "the C compiler `%s` refused the emitted code:\n%s", cc->words[0], output);
    return context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
}

static tw_status cpu_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CpuKernel *code = k->code;
    Compiler cc;
    if (!find_compiler(cx, &k->arena, &cc)) return TW_ERROR_UNAVAILABLE;
    if (!pool_reserve(context_pool(cx), (size_t)code->code.scratch_bytes)) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    char hex[DIGEST_HEX], path[CACHE_PATH];
    make_key(k, &cc, code->code.text, hex);
    if (cache_find(cx->cache_dir, hex, ".so", path) && load(code, path)) return TW_OK;
    CacheRoom room;
    if (!cache_room_open(&room, cx->cache_dir))
        return context_fail(cx, TW_ERROR_IO, "no room to compile in: neither the cache nor $TMPDIR can be written");
    return compile_and_load(k, &cc, hex, &room);
}

static void cpu_destroy(tw_kernel *k) {
    CpuKernel *code = k->code;
    if (code && code->library) dlclose(code->library);
}

/* --------------------------------------------------------------------------------------------------------- launch */

typedef struct Work {
    RunFunction *run;
    TwLaunch launch;
} Work;

static void run_programs(void *user, int64_t begin, int64_t end, void *scratch) {
    Work *work = user;
    work->run(&work->launch, begin, end, scratch);
}

static tw_status cpu_launch(tw_kernel *k, const LaunchCall *call) {
    const CpuKernel *code = k->code;
    Work work = {.run = code->run, .launch = {.args = k->slots}};
    for (int d = 0; d < 3; d++) work.launch.grid[d] = (int32_t)call->grid[d];
    pool_run(k->context->pool, run_programs, &work, call->grid[0] * call->grid[1] * call->grid[2], k->threads);
    if (!work.launch.failed) return TW_OK;
    int64_t p = work.launch.failed_program, x = p % call->grid[0], y = p / call->grid[0] % call->grid[1];
    return context_fail(k->context, TW_ERROR_LAUNCH, "%s (program %lld, %lld, %lld)",
                        code->messages[work.launch.failed - 1], (long long)x, (long long)y,
                        (long long)(p / call->grid[0] / call->grid[1]));
}

const Target target_cpu = {
    .name = "cpu",
    .about = "C through the system's compiler, threads over the grid",
    .machine = cpu_machine,
    .emit = cpu_emit_kernel,
    .build = cpu_build,
    .launch = cpu_launch,
    .destroy = cpu_destroy,
    .available = cpu_available,
};
