/* SPDX-License-Identifier: Apache-2.0 */
/* launcher.h: what the entry of a kernel that was built ahead of time launches it with. All of it is static code of that
 * entry; the threads alone are shared by everything that is linked together (BUILT_SHARED, a weak name that tells this
 * very text from others, since they share its structs).
 *
 * A launch takes the pool if nobody else has it, and runs on the calling thread otherwise: no launch waits for another. */
#define _GNU_SOURCE
#define POOL_API static __attribute__((unused))
#include "cpu.h"

#include "base/scalar_ops.h"
#include "base/speech_line.h"
#include "convert.h"
#include "runtime/launch/pool.c"

#include "arguments.h"
#ifdef BUILT_WORKERS
#define FIBER_LOCAL 1
#define FIBER_API   static __attribute__((unused))
#define BESIDE_API static __attribute__((unused))
#include "base/fiber.c"
#include "runtime/target/cpu_beside.c"
#endif

typedef void BuiltRun(TwLaunch *launch, i64 begin, i64 end, u8 *scratch);

typedef struct BuiltShared {
    pthread_mutex_t busy;
    Pool *pool; /* under busy; NULL: not made yet */
    u32 locks[TW_LOCKS];
} BuiltShared;
extern BuiltShared BUILT_SHARED;
__attribute__((weak, visibility("hidden"))) BuiltShared BUILT_SHARED = {.busy = PTHREAD_MUTEX_INITIALIZER};

/* ---- the processor ---- */

/* What it can: 1, or on x86-64 the level of the psABI (3: AVX2 and FMA; 4: AVX-512). */
static i32 built_ask_level(void) {
    i32 level = 1;
#if defined(__x86_64__)
    u32 a, b, c, d, most, state = 0, high;
#define BUILT_CPUID(leaf) __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "a"(leaf), "c"(0))
    /* sse3, ssse3, fma, cmpxchg16b, sse4.1, sse4.2, movbe, popcnt, osxsave, avx, f16c */
    const u32 one = 1u | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23 | 1u << 27 | 1u << 28 | 1u << 29;
    const u32 avx2 = 1u << 3 | 1u << 5 | 1u << 8;                                   /* bmi, avx2, bmi2 */
    const u32 avx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;        /* f, dq, cd, bw, vl */
    BUILT_CPUID(0);
    most = a;
    BUILT_CPUID(1);
    if (most < 7 || (c & one) != one) return level;
    __asm__ volatile("xgetbv" : "=a"(state), "=d"(high) : "c"(0)); /* what the system keeps of the registers */
    BUILT_CPUID(7);
    const u32 extended = b;
    BUILT_CPUID(0x80000001u);
    if ((state & 6) == 6 && (extended & avx2) == avx2 && (c & 1u << 5)) level = 3; /* and lzcnt */
    if (level == 3 && (state & 0xe6) == 0xe6 && (extended & avx512) == avx512) level = 4;
#undef BUILT_CPUID
#endif
    return level;
}

static __attribute__((unused)) i32 built_level(void) {
    static atomic_int known;
    i32 level = atomic_load_explicit(&known, memory_order_relaxed);
    if (!level) atomic_store_explicit(&known, level = built_ask_level(), memory_order_relaxed);
    return level;
}

/* ---- launch ---- */

typedef struct BuiltPrint {
    const char *message;
    i32 hex, count;
    const SpeechTile *tiles;
} BuiltPrint;

typedef struct BuiltCode { /* one of the ways in which a kernel was compiled */
    BuiltRun *const *runs;     /* by instruction set; see BuiltKernel */
    size_t scratch;            /* bytes that a thread works in */
    const unsigned short *asserts; /* what its assertions are called outside */
    const BuiltPrint *prints;  /* by number */
    int64_t program_ns;        /* what one program takes; under the pool's lock */
} BuiltCode;

typedef struct BuiltKernel {
    const i32 *levels; /* of its instruction sets, falling */
    i32 level_count;
    i32 threads; /* at most; 0: any number */
} BuiltKernel;

typedef struct BuiltWork {
    TwLaunch launch; /* first */
    BuiltRun *run;
    size_t scratch;
    i64 programs;
    i32 parts;
    atomic_int no_memory;
    atomic_int stuck; /* workers that wait for each other for ever */
    atomic_int begun; /* parts, of those that the caller's threads run */
    const BuiltPrint *prints;
    const tw_built_options *options;
} BuiltWork;

/* X(name): floats in memory that are the bits of a smaller format; the order of their numbers. */
#define BUILT_FLOATS(X) X(f16) X(bf16) X(e4m3) X(e5m2) X(e4b8) X(e5b16) X(e4b15)
enum {
    BUILT_f32,
    BUILT_f64,
#define BUILT_ENUM(name) BUILT_##name,
    BUILT_FLOATS(BUILT_ENUM)
};

static __attribute__((unused)) double built_number(int elem, const void *at) {
    union {
        f32 f32;
        f64 f64;
        u16 bits;
    } value = {.f64 = 0};
    memcpy(&value, at, elem == BUILT_f64 ? 8 : elem == BUILT_f32 ? 4 : elem <= BUILT_bf16 ? 2 : 1);
    switch (elem) {
    case BUILT_f32: return value.f32;
#define BUILT_CASE(name) \
    case BUILT_##name: return tw_f32_##name((name)value.bits);
    BUILT_FLOATS(BUILT_CASE)
    default: return value.f64;
    }
}

static void built_print(TwLaunch *launch, i32 number, i64 program, const void *const *values) {
    const BuiltWork *work = (const BuiltWork *)launch;
    const BuiltPrint *print = &work->prints[number];
    const tw_built_options *to = work->options;
    if (!to || !to->print) return;
    const int64_t pid[3] = {program % launch->grid[0], program / launch->grid[0] % launch->grid[1],
                            program / launch->grid[0] / launch->grid[1]};
    if (!print->count) speech_say_message(print->message, pid, to->print, to->print_user);
    for (i32 i = 0; i < print->count; i++)
        speech_say_tile(print->message, print->hex, print->count > 1 ? i : -1, &print->tiles[i], pid, values[i], to->print,
                        to->print_user);
}

static void built_rest(void) { sched_yield(); }

static __attribute__((unused)) void built_lost(TwLaunch *launch) { atomic_store(&((BuiltWork *)launch)->stuck, 1); }

#ifdef BUILT_WORKERS
static i32 built_beside(TwTeam *team, WorkerBody *const *bodies, i32 count) {
    if (cpu_run_beside(team, bodies, count)) return 1;
    built_lost(*(TwLaunch **)team); /* its first member */
    return 0;
}
#define BUILT_BESIDE built_beside
#define BUILT_TURN cpu_turn
#else
#define BUILT_BESIDE 0
#define BUILT_TURN 0
#endif

static void *built_resize(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}

static void built_pool_part(void *user, int64_t begin, int64_t end, void *scratch) {
    BuiltWork *work = user;
    work->run(&work->launch, begin, end, scratch);
}

/* A share of the programs in memory of its own: on the stack where it is small. */
static void built_part(void *user, int32_t i) {
    enum { ON_STACK = 16384, ROUND = 64 };
    BuiltWork *work = user;
    const i64 each = work->programs / work->parts, more = work->programs % work->parts;
    const i64 begin = each * i + (i < more ? i : more), end = begin + each + (i < more);
    _Alignas(ROUND) u8 here[ON_STACK];
    u8 *block = work->scratch > ON_STACK ? malloc(work->scratch + ROUND) : NULL;
    u8 *scratch = block ? (u8 *)(((uintptr_t)block + ROUND - 1) / ROUND * ROUND) : here;
    if (!block && work->scratch > ON_STACK) {
        atomic_store(&work->no_memory, 1);
        return;
    }
    memset(scratch, 0, POOL_NOTES);
    work->run(&work->launch, begin, end, scratch);
    free(block);
}

/* A part on a thread of the caller. */
static void built_own_part(void *user, int32_t i) {
    BuiltWork *work = user;
    atomic_fetch_add(&work->begun, 1);
    if (i >= 0 && i < work->parts) built_part(work, i);
}

static i32 built_pooled(BuiltWork *work, BuiltCode *code, i32 limit) {
    BuiltShared *shared = &BUILT_SHARED;
    if (pthread_mutex_trylock(&shared->busy) != 0) return 0;
    if (!shared->pool) shared->pool = pool_create((Allocator){built_resize, NULL}, 0);
    i32 ready = shared->pool && pool_reserve(shared->pool, work->scratch);
    if (ready) pool_run(shared->pool, built_pool_part, work, work->programs, limit, &code->program_ns);
    pthread_mutex_unlock(&shared->busy);
    return ready;
}

/* When the program ends, or the library that the kernel is linked into is closed. */
static __attribute__((destructor)) void built_end(void) {
    BuiltShared *shared = &BUILT_SHARED;
    if (pthread_mutex_trylock(&shared->busy) != 0) return;
    pool_destroy(shared->pool);
    shared->pool = NULL;
    pthread_mutex_unlock(&shared->busy);
}

/* ---- memory between the launches of a kernel ---- */

static __attribute__((unused)) i32 built_take_space(char **at, size_t bytes, const tw_built_options *options) {
    (void)options;
    *at = aligned_alloc(64, (bytes + 63) / 64 * 64 + 64);
    return *at ? TW_BUILT_OK : TW_BUILT_MEMORY;
}

static __attribute__((unused)) i32 built_give_space(char *at, const tw_built_options *options) {
    (void)options;
    free(at);
    return TW_BUILT_OK;
}

static __attribute__((unused)) i32 built_options_ok(const tw_built_options *options) {
    return !options || options->struct_size >= sizeof *options;
}

static __attribute__((unused)) i32 built_launch(const BuiltKernel *kernel, BuiltCode *code, const u64 *words,
                                                const i64 *grid, const tw_built_options *options) {
    enum { PARTS = 64 };
    const i32 level = built_level();
    i32 isa = 0, limit = options ? options->threads : 0;
    while (isa < kernel->level_count && kernel->levels[isa] > level) isa++;
    if (isa == kernel->level_count) return TW_BUILT_MACHINE;
    if (kernel->threads && (limit <= 0 || limit > kernel->threads)) limit = kernel->threads;
    BuiltWork work = {.launch = {.args = words, .print = built_print, .rest = built_rest, .locks = BUILT_SHARED.locks,
                                 .beside = BUILT_BESIDE, .turn = BUILT_TURN, .lost = built_lost},
                      .prints = code->prints,
                      .options = options,
                      .run = code->runs[isa],
                      .scratch = code->scratch > POOL_NOTES ? code->scratch : POOL_NOTES,
                      .programs = grid[0] * grid[1] * grid[2],
                      .parts = 1};
    for (i32 d = 0; d < 3; d++) work.launch.grid[d] = (i32)grid[d];
    if (options && options->parallel && limit != 1 && work.programs > 1) {
        const i64 parts = limit > 0 ? limit : PARTS;
        work.parts = (i32)(parts < work.programs ? parts : work.programs);
        options->parallel(options->user, work.parts, built_own_part, &work);
        if (atomic_load(&work.begun) != work.parts) return TW_BUILT_PARALLEL;
    } else if (limit == 1 || work.programs == 1 || !built_pooled(&work, code, limit))
        built_part(&work, 0);
    if (atomic_load(&work.no_memory)) return TW_BUILT_MEMORY;
    if (atomic_load(&work.stuck)) return TW_BUILT_STUCK;
    return work.launch.failed ? TW_BUILT_ASSERT + code->asserts[work.launch.failed - 1] : TW_BUILT_OK;
}
