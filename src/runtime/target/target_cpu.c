/* target_cpu.c: the CPU target: emitted C, the system's C compiler, a shared object from the
 * cache, the thread pool.
 *
 * The compiler is $CC if set, else the first of gcc, clang, cc that is in PATH and passes a
 * self-test; a $CC that does not pass is an error. Everything that
 * can change the result is in the key of the cache: the emitted text and preludes, the compiler's
 * files (path, size, time) and flags, the processor's features (-march=native), our version. */
#include "runtime/target/target.h"

#include "base/embedded.h"
#include "runtime/compile/cache.h"
#include "runtime/launch/pool.h"
#include "runtime/target/cpu_beside.h"
#include "runtime/host/process.h"
#include "runtime/host/toolchain.h"
#include "target/cpu/cpu_target.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* As in prelude/cpu.h. */
typedef struct TwLaunch {
    const uint64_t *args;
    int32_t grid[3];
    int32_t failed;
    int64_t failed_program;
    void (*print)(struct TwLaunch *launch, int32_t number, int64_t program, const void *const *values);
    int32_t (*stopped)(struct TwLaunch *launch);
    uint32_t *locks;
    void (*rest)(void);
    int32_t (*beside)(TwTeam *team, WorkerBody *const *bodies, int32_t count);
    void (*turn)(TwTeam *team);
    atomic_int stuck; /* behind what the kernel sees: workers of a program wait for each other for ever */
} TwLaunch;
typedef void RunFunction(TwLaunch *launch, int64_t begin, int64_t end, unsigned char *scratch);

typedef struct CpuKernel {
    CpuCode code;
    void *library;
    RunFunction *run;
    int64_t program_ns; /* what one program takes, as far as launches have told */
    atomic_llong part;  /* programs between two looks at whether the launch is still wanted */
} CpuKernel;

#if defined(__aarch64__)
#define NATIVE "-mcpu=native"
#else
#define NATIVE "-march=native"
#endif
/* Without start files and libraries the link is twice as fast; what the compiler calls on its own
 * (memcpy) the process has. */
#define FLAGS                                                                                                 \
    "-std=gnu11", "-O3", NATIVE, "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w", "-fPIC", \
        "-shared", "-fno-strict-aliasing", "-fno-strict-overflow", "-pipe", "-nostdlib"
static const char *const plain_flags[] = {FLAGS, NULL};
static const char *const libm_flags[] = {FLAGS, "-Wl,--no-as-needed", "-lm", NULL};
static const char *const prelude_names[] = {"cpu.h",   "convert.h", "integer.h", "functions.h", "vmath.h",   "dot.h",
                                            "tiles.h", "gemm.h",    "sort.h",    "scan.h",      "indices.h", "turn.h",
                                            "special.h", "threads.h"};
enum { PRELUDES = sizeof prelude_names / sizeof *prelude_names };

/* What keeps the compiler from wider vectors; AVX-512 and AVX are optional on x86. */
static const char *narrow_flag(int vector_bits) {
#if defined(__x86_64__)
    if (vector_bits && vector_bits < 512) return vector_bits < 256 ? "-mno-avx" : "-mno-avx512f";
#endif
    (void)vector_bits;
    return NULL;
}

/* Behind that the compiler's time grows with the square: a text of 400 kB takes 17 s, without its dearest passes 4. */
enum { LONG_TEXT = 200000 };

/* The flags of a kernel, in a list of TOOL_FLAGS. Without AVX, fma is a function of libm. */
static const char *const *flags_of(const tw_kernel *k, const char **list) {
    const CpuKernel *code = k->code;
    const char *narrow = narrow_flag(k->vector_bits);
    const char *const *all = code->code.uses_libm || narrow ? libm_flags : plain_flags;
    int n = 0;
    for (; all[n]; n++) list[n] = all[n];
    if (k->bf16_wide) list[n++] = "-DTW_BF16_WIDE";
    if (strlen(code->code.text) > LONG_TEXT) {
        list[n++] = "-O1";
        list[n++] = "-ftree-vectorize";
    }
    list[n++] = narrow;
    list[n] = NULL;
    return list;
}

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

/* --- compiler --- */

static const char *const candidates[] = {"gcc", "clang", "cc", NULL};
static const ToolKind c_compiler = {"C", "CC", candidates, "target cpu", ", or use target interp"};

/* What a context knows of compilers. */
typedef struct CpuState {
    int first;               /* candidates before this one failed the self-test */
    char passed[DIGEST_HEX]; /* the test that passed last */
} CpuState;

static CpuState *cpu_state(tw_context *cx) {
    void **slot = &cx->target_state[target_index(&target_cpu)];
    if (!*slot) *slot = ARENA_NEW(&cx->arena, CpuState);
    return *slot;
}

static bool cpu_available(tw_context *cx, Arena *arena, const char **note) {
    const char *path = toolchain_path(cx, arena, &c_compiler, cpu_state(cx)->first, note);
    if (path) *note = arena_printf(arena, "%s, %d threads", path, pool_threads(context_pool(cx)));
    return path != NULL;
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

/* The headers that a text includes, and those that they include; then the text itself. */
static int list_files(const char *name, const char *text, ToolFile files[PRELUDES + 1]) {
    bool wanted[PRELUDES] = {false};
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < PRELUDES; i++) {
            char line[40];
            snprintf(line, sizeof line, "#include \"%s\"", prelude_names[i]);
            bool asked = strstr(text, line) != NULL;
            for (int j = 0; j < PRELUDES && !asked; j++)
                asked = wanted[j] && strstr(prelude(prelude_names[j])->text, line);
            more = more || (asked && !wanted[i]);
            wanted[i] = wanted[i] || asked;
        }
    }
    int count = 0;
    for (int i = 0; i < PRELUDES; i++) {
        const EmbeddedFile *file = prelude(prelude_names[i]);
        if (wanted[i]) files[count++] = (ToolFile){prelude_names[i], file->text, file->size, false};
    }
    files[count++] = (ToolFile){name, text, strlen(text), true};
    return count;
}

static void make_key(const Toolchain *cc, const char *const *flags, const ToolFile *files, int count,
                     char hex[DIGEST_HEX]) {
    Digest d;
    digest_begin(&d);
    digest_add_text(&d, "cpu");
    digest_add_text(&d, tw_version());
    for (int i = 0; i < count; i++) digest_add_text(&d, files[i].text);
    toolchain_digest(cc, flags, &d);
    add_processor(&d);
    digest_end_hex(&d, hex);
}

/* The compiler makes prelude/selftest.h, which must find all well. Done before the first kernel is
 * compiled; the digest of the last one that passed stays with the context, and the compiled test
 * in the cache. */
static tw_status test_compiler(tw_context *cx, const Toolchain *cc) {
    ToolFile files[PRELUDES + 1];
    char hex[DIGEST_HEX], *passed = cpu_state(cx)->passed;
    int room[32] = {0}, count = list_files("selftest.c", prelude("selftest.h")->text, files);
    make_key(cc, plain_flags, files, count, hex);
    if (strcmp(passed, hex) == 0) return TW_OK;
    void *library = NULL;
    tw_status status = toolchain_build(cx, cc, plain_flags, files, count, hex, &library);
    if (status == TW_ERROR_IO || status == TW_ERROR_MEMORY) return status; /* not the compiler's fault */
    if (status != TW_OK)
        return context_fail(cx, status,
                            "%s\nthe C compiler `%s` fails the self-test of what kernels are "
                            "written in: set CC to gcc or clang, or use target interp",
                            cx->message, cc->words[0]);
    int (*test)(int *room) = NULL;
    void *symbol = dlsym(library, "tw_self_test");
    memcpy(&test, &symbol, sizeof test);
    int wrong = test ? test(room) : -1;
    dlclose(library);
    if (wrong)
        return context_fail(cx, TW_ERROR_UNAVAILABLE,
                            "the C compiler `%s` makes wrong code of vector types (check %d of the "
                            "self-test): set CC to gcc or clang, or use target interp",
                            cc->words[0], wrong);
    memcpy(passed, hex, DIGEST_HEX);
    return TW_OK;
}

/* The compiler that $CC names, or the first candidate that passes the test; where the disk is what
 * failed, another one would fail too. */
static tw_status choose_compiler(tw_context *cx, Arena *arena, Toolchain *cc) {
    CpuState *state = cpu_state(cx);
    Text failures = text_new(arena);
    for (int from = state->first; toolchain_find(cx, arena, &c_compiler, from, cc); from = cc->candidate + 1) {
        tw_status status = test_compiler(cx, cc);
        if (status == TW_OK || status == TW_ERROR_IO || cc->candidate == TOOL_GIVEN) {
            if (status == TW_OK && cc->candidate != TOOL_GIVEN) state->first = cc->candidate;
            return status;
        }
        text_add(&failures, "%s%s", failures.length ? "\n" : "", cx->message);
    }
    if (!failures.length) return TW_ERROR_UNAVAILABLE;
    return context_fail(cx, TW_ERROR_UNAVAILABLE, "%s\nno other C compiler is in PATH; install gcc or clang",
                        failures.at);
}

/* --- build --- */

static bool cpu_emit_kernel(tw_kernel *k) {
    CpuKernel *code = ARENA_NEW(&k->arena, CpuKernel);
    k->code = code;
    if (!cpu_emit(k->ir, &k->arena, &code->code)) return false;
    kernel_add_artifact(k, arena_printf(&k->arena, "%s.c", k->name), code->code.text);
    ToolFile files[PRELUDES + 1];
    int count = list_files("kernel.c", code->code.text, files);
    for (int i = 0; i < count - 1; i++) kernel_add_artifact(k, files[i].path, files[i].text);
    return true;
}

static tw_status cpu_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CpuKernel *code = k->code;
    Toolchain cc;
    if (!toolchain_find(cx, &k->arena, &c_compiler, cpu_state(cx)->first, &cc)) return TW_ERROR_UNAVAILABLE;
    if (!pool_reserve(context_pool(cx), (size_t)code->code.scratch_bytes)) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    char hex[DIGEST_HEX], path[CACHE_PATH];
    const char *list[TOOL_FLAGS], *const *flags = flags_of(k, list);
    ToolFile files[PRELUDES + 1];
    int count = list_files("kernel.c", code->code.text, files);
    make_key(&cc, flags, files, count, hex);
    tw_status status = TW_OK;
    if (!cache_find(cx->cache_dir, hex, ".so", path)) {
        status = choose_compiler(cx, &k->arena, &cc);
        make_key(&cc, flags, files, count, hex);
    }
    if (status == TW_OK) status = toolchain_build(cx, &cc, flags, files, count, hex, &code->library);
    if (status != TW_OK) return status;
    void *symbol = dlsym(code->library, "tw_run");
    memcpy(&code->run, &symbol, sizeof code->run);
    return symbol ? TW_OK : context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
}

static void cpu_destroy(tw_kernel *k) {
    CpuKernel *code = k->code;
    if (code && code->library) dlclose(code->library);
}

/* --- launch --- */

typedef struct Work {
    TwLaunch launch; /* first: what the kernel hands to print_values */
    RunFunction *run;
    const tw_kernel *k;
    pthread_t caller; /* the thread that may ask the host */
} Work;

static void place_of(const TwLaunch *launch, int64_t program, int64_t pid[3]) {
    pid[0] = program % launch->grid[0];
    pid[1] = program / launch->grid[0] % launch->grid[1];
    pid[2] = program / launch->grid[0] / launch->grid[1];
}

static void print_values(TwLaunch *launch, int32_t number, int64_t program, const void *const *values) {
    const tw_kernel *k = ((Work *)launch)->k;
    const CpuKernel *code = k->code;
    int64_t pid[3];
    if (!k->context->print) return;
    place_of(launch, program, pid);
    speech_say(&code->code.prints[number], pid, values, k->context->print, k->context->print_user);
}

static int32_t is_stopped(TwLaunch *launch) {
    const Work *work = (const Work *)launch;
    Cancel *cancel = &work->k->context->cancel;
    return pthread_equal(pthread_self(), work->caller) ? cancel_look(cancel) : cancel_is_asked(cancel);
}

/* In parts of about PART_NS, as far as the kernel's programs have told, and a look after each. */
static void run_programs(void *user, int64_t begin, int64_t end, void *scratch) {
    enum { PART_NS = 2000000 };
    Work *work = user;
    CpuKernel *code = work->k->code;
    int64_t part = atomic_load_explicit(&code->part, memory_order_relaxed);
    if (cancel_is_asked(&work->k->context->cancel)) return;
    if (part < 1) part = 1;
    while (end - begin > part) {
        int64_t start = pool_clock();
        work->run(&work->launch, begin, begin + part, scratch);
        if (is_stopped(&work->launch)) return;
        begin += part;
        int64_t spent = pool_clock() - start;
        if (spent < PART_NS)
            part *= 2;
        else if (spent > 8 * PART_NS && part > 1)
            part /= 2;
        atomic_store_explicit(&code->part, part, memory_order_relaxed);
    }
    work->run(&work->launch, begin, end, scratch);
}

static tw_status report_assert(tw_kernel *k, const TwLaunch *launch) {
    tw_context *cx = k->context;
    const CpuKernel *code = k->code;
    const CpuAssert *a = &code->code.asserts[launch->failed - 1];
    int64_t pid[3];
    place_of(launch, launch->failed_program, pid);
    Diag diag;
    diag_init(&diag, &cx->texts, k->sources);
    const char *where =
        arena_printf(&cx->texts, "program (%lld, %lld, %lld)", (long long)pid[0], (long long)pid[1], (long long)pid[2]);
    diag_emit(&diag, DIAG_KERNEL_ASSERT, a->range, where, *a->message ? ": " : "", a->message);
    return context_diagnose(cx, &diag, TW_ERROR_LAUNCH);
}

static void rest(void) { sched_yield(); }

static int32_t run_beside(TwTeam *team, WorkerBody *const *bodies, int32_t count) {
    if (cpu_run_beside(team, bodies, count)) return 1;
    TwLaunch *launch = *(TwLaunch **)team; /* its first member */
    atomic_store_explicit(&launch->stuck, 1, memory_order_relaxed);
    return 0;
}

static tw_status cpu_launch(tw_kernel *k, const LaunchCall *call) {
    CpuKernel *code = k->code;
    Pool *pool = k->context->pool;
    int64_t programs = call->grid[0] * call->grid[1] * call->grid[2];
    int limit = code->code.print_count ? 1 : k->threads;
    Work work = {.launch = {.args = k->slots, .print = print_values, .stopped = is_stopped, .rest = rest,
                            .beside = run_beside, .turn = cpu_turn},
                 .run = code->run,
                 .k = k,
                 .caller = pthread_self()};
    for (int d = 0; d < 3; d++) work.launch.grid[d] = (int32_t)call->grid[d];
    if (pool_is_shared(pool, programs, limit)) work.launch.locks = pool_locks(pool);
    pool_run(pool, run_programs, &work, programs, limit, &code->program_ns);
    if (atomic_load_explicit(&work.launch.stuck, memory_order_relaxed))
        return context_fail(k->context, TW_ERROR_LAUNCH,
                            "kernel `%s`: workers of a program wait for each other for ever; target interp says where",
                            k->name);
    return work.launch.failed ? report_assert(k, &work.launch) : TW_OK;
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
