/* launcher.h: what the entry of a kernel that was built ahead of time launches it with. All of it is static code of that
 * entry; the threads alone are shared by everything that is linked together (BUILT_SHARED, a weak name that tells this
 * very text from others, since they share its structs).
 *
 * A launch takes the pool if nobody else has it, and runs on the calling thread otherwise: no launch waits for another. */
#define _GNU_SOURCE
#define POOL_API static __attribute__((unused))
#include "cpu.h"

#include "base/scalar_ops.h"
#include "runtime/launch/pool.c"

#include <stddef.h>

#include "built.h"

typedef void BuiltRun(TwLaunch *launch, i64 begin, i64 end, u8 *scratch);

typedef struct BuiltSpan { /* of an array's elements; empty: it has none */
    const char *low, *high;
} BuiltSpan;

typedef struct BuiltShared {
    pthread_mutex_t busy;
    Pool *pool; /* under busy; NULL: not made yet */
    u32 locks[TW_LOCKS];
} BuiltShared;
extern BuiltShared BUILT_SHARED;
__attribute__((weak, visibility("hidden"))) BuiltShared BUILT_SHARED = {.busy = PTHREAD_MUTEX_INITIALIZER};

/* ---- arguments ---- */

static __attribute__((unused)) i32 built_array(const void *data, size_t count, size_t bytes, BuiltSpan *span, u64 *word) {
    if (!data && count) return TW_BUILT_NULL;
    if ((uintptr_t)data % bytes) return TW_BUILT_UNALIGNED;
    if (count > PTRDIFF_MAX / bytes) return TW_BUILT_EXTENT;
    *span = (BuiltSpan){data, data ? (const char *)data + count * bytes : 0};
    *word = (u64)(uintptr_t)data;
    return TW_BUILT_OK;
}

/* Does an array of so many elements hold these extents? Strides in elements; NULL: row-major without gaps. Those that
 * hold are written down; `strides_to` may be NULL. */
static __attribute__((unused)) i32 built_shape(size_t count, i32 rank, const i64 *extents, const int64_t *strides,
                                               i64 *strides_to) {
    i64 dense = 1, last = 0;
    i32 empty = 0;
    for (i32 d = 0; d < rank; d++) {
        if (extents[d] < 0 || (strides && strides[d] < 0)) return TW_BUILT_EXTENT;
        empty |= extents[d] == 0;
    }
    for (i32 d = rank - 1; d >= 0; d--) {
        const i64 stride = strides ? strides[d] : dense;
        i64 reach;
        if (strides_to) strides_to[d] = stride;
        if (__builtin_mul_overflow(dense, extents[d] ? extents[d] : 1, &dense)) return TW_BUILT_EXTENT;
        if (empty) continue;
        if (__builtin_mul_overflow(extents[d] - 1, stride, &reach) || __builtin_add_overflow(last, reach, &last))
            return TW_BUILT_EXTENT;
    }
    return !empty && (u64)last >= count ? TW_BUILT_SMALL : TW_BUILT_OK;
}

static __attribute__((unused)) i32 built_apart(BuiltSpan a, BuiltSpan b) {
    return !(a.low < b.high && b.low < a.high);
}

static __attribute__((unused)) i32 built_grid(const i64 *grid) {
    double programs = 1;
    for (i32 d = 0; d < 3; d++) {
        if (grid[d] < 0 || grid[d] > INT32_MAX) return TW_BUILT_GRID;
        programs *= (double)grid[d];
    }
    return programs > 9e18 ? TW_BUILT_GRID : TW_BUILT_OK;
}

static __attribute__((unused)) const char *built_error(i32 code) {
    static const char *const texts[] = {
        "success",
        "an array is NULL and has elements",
        "an array has fewer elements than its extents and strides need",
        "an extent or a stride is negative, or they go beyond the address space",
        "an array does not begin at a multiple of its element's size",
        "an extent of the grid does not lie in 0 .. 2^31-1, or there are 2^63 programs or more",
        "the arguments do not keep what the kernel's source requires of them",
        "no memory for what a thread works in",
        "the processor lacks every instruction set that the kernel was built for",
        "struct_size of the options is not set",
    };
    return code >= 0 && code < (i32)(sizeof texts / sizeof *texts) ? texts[code] : "unknown";
}

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

typedef struct BuiltCode { /* one of the ways in which a kernel was compiled */
    BuiltRun *const *runs;     /* by instruction set; see BuiltKernel */
    size_t scratch;            /* bytes that a thread works in */
    const unsigned short *asserts; /* what its assertions are called outside */
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
} BuiltWork;

static void built_rest(void) { sched_yield(); }

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
    BuiltWork work = {.launch = {.args = words, .rest = built_rest, .locks = BUILT_SHARED.locks},
                      .run = code->runs[isa],
                      .scratch = code->scratch > POOL_NOTES ? code->scratch : POOL_NOTES,
                      .programs = grid[0] * grid[1] * grid[2],
                      .parts = 1};
    for (i32 d = 0; d < 3; d++) work.launch.grid[d] = (i32)grid[d];
    if (options && options->parallel && limit != 1 && work.programs > 1) {
        const i64 parts = limit > 0 ? limit : PARTS;
        work.parts = (i32)(parts < work.programs ? parts : work.programs);
        options->parallel(options->user, work.parts, built_part, &work);
    } else if (limit == 1 || work.programs == 1 || !built_pooled(&work, code, limit))
        built_part(&work, 0);
    if (atomic_load(&work.no_memory)) return TW_BUILT_MEMORY;
    return work.launch.failed ? TW_BUILT_ASSERT + code->asserts[work.launch.failed - 1] : TW_BUILT_OK;
}
