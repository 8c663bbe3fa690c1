/* SPDX-License-Identifier: Apache-2.0 */
/* target_cpu.c: the CPU target: emitted C, the system's C compiler, a shared object from the
 * cache, the thread pool.
 *
 * Everything that can change the result is in the key of the cache: the emitted text and preludes, the compiler's
 * files (path, size, time) and flags, the processor's features (-march=native), our version. A second key has all of
 * that but the compiler, and leads to the entry that was made last: who has no compiler takes that one. Where there is
 * a compiler it is not asked, so that a new compiler makes new entries. */
#include "runtime/compile/cache.h"
#include "runtime/launch/frame.h"
#include "runtime/launch/pool.h"
#include "runtime/target/cpu_beside.h"
#include "runtime/target/cpu_tools.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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
    void (*lost)(struct TwLaunch *launch);
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

static const Machine *cpu_machine(tw_context *cx, const char *arch) {
    if (arch) {
        context_fail(cx, TW_ERROR_NOT_FOUND, "target cpu compiles for this machine" FIX "write `cpu`");
        return NULL;
    }
    return machine_find("cpu");
}

static bool cpu_available(const Target *target, tw_context *cx, Arena *arena, const char **note) {
    (void)target;
    const char *path = toolchain_path(cx, arena, &cpu_compiler, cpu_state(cx)->first, note);
    if (path) *note = arena_printf(arena, "%s, %d threads", path, pool_threads(context_pool(cx)));
    return path != NULL;
}

/* --- build --- */

const CpuCode *cpu_code(const tw_kernel *k) { return &((const CpuKernel *)k->code)->code; }

static bool cpu_emit_kernel(tw_kernel *k) {
    CpuKernel *code = ARENA_NEW(&k->arena, CpuKernel);
    k->code = code;
    if (!cpu_emit(k->ir, &k->arena, &code->code)) return false;
    kernel_add_artifact(k, arena_printf(&k->arena, "%s.c", k->name), code->code.text);
    ToolFile files[CPU_FILES];
    int count = cpu_files("kernel.c", code->code.text, files);
    for (int i = 0; i < count - 1; i++) kernel_add_artifact(k, files[i].path, files[i].text);
    return true;
}

/* Under the key without a compiler: which entry was made last. */
static const char last_made[] = ".last";

/* No compiler is here: what one has made before. */
static tw_status load_made(tw_context *cx, const char *const *flags, const ToolFile *files, int count,
                           void **library) {
    char hex[DIGEST_HEX], entry[DIGEST_HEX] = "", path[CACHE_PATH];
    cpu_key(NULL, flags, files, count, hex);
    bool known = cache_find(cx->cache_dir, hex, last_made, path) &&
                 file_read(path, entry, DIGEST_HEX - 1) == DIGEST_HEX - 1 &&
                 cache_find(cx->cache_dir, entry, ".so", path);
    *library = known ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (*library) context_say(cx, "");
    return *library ? TW_OK : TW_ERROR_UNAVAILABLE;
}

/* By the compiler. A kernel that is to be linked with products, of which there are none, has its own. */
static tw_status make(tw_kernel *k, const Toolchain *cc, CpuForm form, const ToolFile *files, int count,
                      void **library) {
    const char *list[TOOL_FLAGS];
    char hex[DIGEST_HEX], loose[DIGEST_HEX], products[CACHE_PATH];
    if (form == CPU_APART && !cpu_products(k, cc, products)) form = CPU_WHOLE;
    cpu_flags(k, cpu_code(k), form, list);
    cpu_key(cc, list, files, count, hex);
    cpu_key(NULL, list, files, count, loose);
    int n = 0;
    while (list[n]) n++;
    if (form == CPU_APART) list[n++] = products;
    list[n] = NULL;
    tw_status status = toolchain_build(k->context, cc, list, files, count, hex, library);
    if (status != TW_OK && form == CPU_APART && file_size(products) < 0) /* the cache was made smaller meanwhile */
        return make(k, cc, CPU_WHOLE, files, count, library);
    if (status == TW_OK) cache_note(k->context->cache_dir, loose, last_made, hex, DIGEST_HEX - 1);
    return status;
}

/* From the cache, or by the compiler. */
static tw_status load_or_make(tw_kernel *k, void **library) {
    tw_context *cx = k->context;
    const CpuCode *code = cpu_code(k);
    CpuForm form = code->has_products && cx->cache_dir ? CPU_APART : CPU_WHOLE;
    Toolchain cc;
    char hex[DIGEST_HEX], path[CACHE_PATH];
    const char *list[TOOL_FLAGS], *const *flags = cpu_flags(k, code, form, list);
    ToolFile files[CPU_FILES];
    int count = cpu_files("kernel.c", code->text, files);
    if (!toolchain_find(cx, &k->arena, &cpu_compiler, cpu_state(cx)->first, &cc))
        return toolchain_is_named(&cpu_compiler) ? TW_ERROR_UNAVAILABLE : load_made(cx, flags, files, count, library);
    cpu_key(&cc, flags, files, count, hex);
    if (cache_find(cx->cache_dir, hex, ".so", path)) return toolchain_build(cx, &cc, flags, files, count, hex, library);
    tw_status status = cpu_choose_compiler(cx, &k->arena, &cc);
    return status == TW_OK ? make(k, &cc, form, files, count, library) : status;
}

static tw_status cpu_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CpuKernel *code = k->code;
    Pool *pool = context_pool(cx);
    pthread_mutex_lock(&cx->pool_busy);
    bool reserved = pool_reserve(pool, (size_t)code->code.scratch_bytes);
    pthread_mutex_unlock(&cx->pool_busy);
    if (!reserved) trap_throw(&cx->trap, TRAP_OUT_OF_MEMORY);
    tw_status status = load_or_make(k, &code->library);
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
    Cancel *cancel;
    pthread_t caller; /* the thread that may ask the host */
    int64_t first, programs;
    int32_t parts;
    atomic_int no_memory;
    atomic_int begun; /* parts, of those that the caller's threads run */
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
    return pthread_equal(pthread_self(), work->caller) ? cancel_look(work->cancel) : cancel_is_due(work->cancel);
}

/* In parts of about PART_NS, as far as the kernel's programs have told, and a look after each. */
static void run_programs(void *user, int64_t begin, int64_t end, void *scratch) {
    enum { PART_NS = 2000000 };
    Work *work = user;
    CpuKernel *code = work->k->code;
    int64_t part = atomic_load_explicit(&code->part, memory_order_relaxed);
    if (cancel_is_asked(work->cancel)) return;
    begin += work->first, end += work->first;
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
    diag_init(&diag, context_texts(cx), k->sources);
    const char *where = arena_printf(context_texts(cx), "program (%lld, %lld, %lld)", (long long)pid[0],
                                     (long long)pid[1], (long long)pid[2]);
    diag_emit(&diag, DIAG_KERNEL_ASSERT, a->range, where, *a->message ? ": " : "", a->message);
    return context_diagnose(cx, &diag, TW_ERROR_LAUNCH);
}

static void rest(void) { sched_yield(); }

static void note_lost(TwLaunch *launch) { atomic_store_explicit(&launch->stuck, 1, memory_order_relaxed); }

static int32_t run_beside(TwTeam *team, WorkerBody *const *bodies, int32_t count) {
    if (cpu_run_beside(team, bodies, count)) return 1;
    note_lost(*(TwLaunch **)team); /* its first member */
    return 0;
}

static size_t scratch_of(const Work *work) {
    size_t bytes = (size_t)cpu_code(work->k)->scratch_bytes;
    return bytes > POOL_NOTES ? bytes : POOL_NOTES;
}

/* All on this thread. */
static void run_alone(Work *work, Seat *seat) {
    if (!seat_reserve_scratch(work->k->context, seat, scratch_of(work))) {
        atomic_store(&work->no_memory, 1);
        return;
    }
    memset(seat->scratch, 0, POOL_NOTES);
    run_programs(work, 0, work->programs, seat->scratch);
}

/* A share, on a thread of the caller's: what it works in lies on the stack where it is small. */
static void run_part(void *user, int32_t i) {
    enum { ON_STACK = 16384, LINE = 64 };
    Work *work = user;
    Allocator allocator = work->k->context->allocator;
    atomic_fetch_add(&work->begun, 1);
    if (i < 0 || i >= work->parts) return;
    int64_t each = work->programs / work->parts, more = work->programs % work->parts;
    int64_t begin = each * i + (i < more ? i : more), end = begin + each + (i < more);
    _Alignas(LINE) unsigned char here[ON_STACK];
    size_t size = scratch_of(work);
    void *block = size > ON_STACK ? allocator.resize(allocator.user, NULL, 0, size + LINE) : NULL;
    if (!block && size > ON_STACK) {
        atomic_store(&work->no_memory, 1);
        return;
    }
    void *scratch = block ? (void *)(((uintptr_t)block + LINE - 1) / LINE * LINE) : here;
    memset(scratch, 0, POOL_NOTES);
    run_programs(work, begin, end, scratch);
    if (block) allocator.resize(allocator.user, block, size + LINE, 0);
}

/* By the pool, which one launch has at a time: another one runs on its own thread, and waits for nobody. */
static bool run_pooled(Work *work, int limit) {
    tw_context *cx = work->k->context;
    CpuKernel *code = work->k->code;
    if (pthread_mutex_trylock(&cx->pool_busy) != 0) return false;
    pool_run(cx->pool, run_programs, work, work->programs, limit, &code->program_ns);
    pthread_mutex_unlock(&cx->pool_busy);
    return true;
}

static int most_threads(const tw_kernel *k, const LaunchCall *call) {
    if (cpu_code(k)->print_count) return 1;
    return call->threads > 0 && (!k->threads || call->threads < k->threads) ? call->threads : k->threads;
}

static tw_status cpu_launch(tw_kernel *k, const LaunchCall *call) {
    enum { PARTS = 64 };
    CpuKernel *code = k->code;
    tw_context *cx = k->context;
    int limit = most_threads(k, call);
    Work work = {.launch = {.args = call->frame->slots, .print = print_values, .stopped = is_stopped, .rest = rest,
                            .beside = run_beside, .turn = cpu_turn, .lost = note_lost},
                 .run = code->run,
                 .k = k,
                 .cancel = &call->seat->cancel,
                 .caller = pthread_self(),
                 .first = call->first,
                 .programs = call->programs};
    for (int d = 0; d < 3; d++) work.launch.grid[d] = (int32_t)call->grid[d];
    bool parallel = call->parallel && limit != 1 && call->programs > 1;
    /* Launches of other threads may change the same elements. */
    if (parallel || atomic_load(&cx->shared) || pool_is_shared(cx->pool, call->programs, limit))
        work.launch.locks = pool_locks(cx->pool);
    if (parallel) {
        int64_t parts = limit > 0 ? limit : PARTS;
        work.parts = (int32_t)(parts < call->programs ? parts : call->programs);
        call->parallel(call->parallel_user, work.parts, run_part, &work);
        int begun = atomic_load(&work.begun);
        if (begun != work.parts)
            return context_fail(cx, TW_ERROR_ARGUMENT,
                                "`parallel` was to run %d parts of kernel `%s`, each once, and has come back after %d",
                                work.parts, k->name, begun);
    } else if (limit == 1 || call->programs == 1 || !run_pooled(&work, limit))
        run_alone(&work, call->seat);
    if (atomic_load_explicit(&work.no_memory, memory_order_relaxed))
        return context_fail(cx, TW_ERROR_MEMORY, "no memory for what a thread of kernel `%s` works in", k->name);
    if (atomic_load_explicit(&work.launch.stuck, memory_order_relaxed))
        return context_fail(cx, TW_ERROR_LAUNCH,
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
    .runs_externs = true,
    .externs_in_c = true,
    .launches_beside = true,
    .destroy = cpu_destroy,
    .available = cpu_available,
};
