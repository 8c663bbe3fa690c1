/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: see pool.h.
 *
 * A launch gives every thread a run of consecutive numbers of its own, the same in every launch of
 * that size: so what a thread left in its cache, and what it packed for one program, is there for
 * the next. A thread takes from the front of its own run, a quarter of what is left at a time, and
 * when that is used up from the back of the others'. A run is one word (the launch's number, begin,
 * end) that is taken from by compare-and-swap, so a worker that wakes up late can never take work
 * of another launch than it thinks, and what it reads of a launch stays as it is until its part is
 * done. A launch is published by raising `generation`; it ends when all numbers are done: nobody
 * waits for a worker that took none. Workers spin for about 50 us before they sleep on a
 * futex-backed condition, so that launches back to back cost less than a microsecond and an idle
 * pool costs nothing. Work that is known to be shorter than a hand-over stays with the caller,
 * which looks at the clock in between: what was short once need not be short again. */
#include "runtime/launch/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 256, SPIN_NANOSECONDS = 50000, ALONE_NANOSECONDS = 5000, LINE = 128 };

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    int number;
    void *scratch, *block; /* block: as allocated */
    size_t block_size;
    _Alignas(LINE) atomic_ullong run; /* launch, begin, end */
} Worker;

struct Pool {
    Allocator allocator;
    int threads; /* with the caller */
    pid_t owner;
    size_t scratch_bytes;
    Worker workers[MAX_THREADS]; /* 0 is the caller */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int sleepers;    /* under the mutex */
    cpu_set_t cores; /* that the process may use */
    int callers_core;
    /* the launch: written while all runs are empty */
    PoolWork *work;
    void *user;
    int64_t first, total, unit; /* runs count in units of so many numbers */
    atomic_int limit;           /* of threads */
    _Alignas(LINE) atomic_uint generation;
    _Alignas(LINE) atomic_llong done; /* units */
    atomic_bool stop;
    _Alignas(LINE) uint32_t locks[POOL_LOCKS]; /* of the work's own */
};

/* A run as a word: what fits of the launch's number, begin, end. */
enum { PLACE_BITS = 22, LAUNCH_BITS = 64 - 2 * PLACE_BITS };
static const unsigned long long place_mask = (1ull << PLACE_BITS) - 1;

static unsigned long long run_word(unsigned generation, int64_t begin, int64_t end) {
    return (unsigned long long)generation << (2 * PLACE_BITS) | (unsigned long long)begin << PLACE_BITS |
           (unsigned long long)end;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

int64_t pool_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clear_notes(const Worker *worker) {
    if (worker->scratch) memset(worker->scratch, 0, POOL_NOTES);
}

/* Takes a part of a run of that launch: from the front if it is the worker's own, else from the
 * back. False: nothing is left, it is another launch's, or the worker is one too many. */
static bool take_part(Pool *pool, const Worker *worker, Worker *owner, unsigned generation, int64_t *begin,
                      int64_t *end) {
    const bool own = worker == owner;
    unsigned long long word = atomic_load(&owner->run);
    for (;;) {
        int64_t from = (int64_t)(word >> PLACE_BITS & place_mask), to = (int64_t)(word & place_mask);
        int limit = atomic_load(&pool->limit);
        if (word >> (2 * PLACE_BITS) != (generation & ((1u << LAUNCH_BITS) - 1)) || from == to ||
            worker->number >= limit)
            return false;
        int64_t part = (to - from) / (own ? 4 : limit), size = part > 1 ? part : 1;
        unsigned long long rest = own ? run_word(generation, from + size, to) : run_word(generation, from, to - size);
        if (!atomic_compare_exchange_weak(&owner->run, &word, rest)) continue;
        *begin = own ? from : to - size;
        *end = *begin + size;
        return true;
    }
}

/* Works on the launch of that number until all runs are used up; worker 0 is the caller. */
static void take_part_in(Pool *pool, Worker *worker, unsigned generation) {
    bool first = true;
    for (int other = 0; other < pool->threads; other++) {
        Worker *owner = &pool->workers[(worker->number + other) % pool->threads];
        int64_t begin, end;
        while (take_part(pool, worker, owner, generation, &begin, &end)) {
            if (first && worker->number) clear_notes(worker);
            first = false;
            int64_t from = pool->first + begin * pool->unit, to = pool->first + end * pool->unit;
            pool->work(pool->user, from, to < pool->total ? to : pool->total, worker->scratch);
            atomic_fetch_add(&pool->done, end - begin);
        }
    }
}

/* Waits until the generation is another one; spins, then sleeps. */
static unsigned await_launch(Pool *pool, unsigned seen) {
    int64_t limit = pool_clock() + SPIN_NANOSECONDS;
    for (int i = 0;; i++) {
        unsigned generation = atomic_load(&pool->generation);
        if (generation != seen) return generation;
        relax();
        if (i % 64 == 63 && pool_clock() > limit) break;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->sleepers++;
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    pool->sleepers--;
    pthread_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->generation);
}

static void *worker_main(void *user) {
    Worker *worker = user;
    Pool *pool = worker->pool;
    for (unsigned seen = 0;;) {
        seen = await_launch(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        take_part_in(pool, worker, seen);
    }
}

/* Workers keep off the caller's core: some schedulers wake a thread on the core of its waker and
 * leave both there for milliseconds, while another core is idle. */
static void keep_apart(Pool *pool) {
    int core = sched_getcpu();
    cpu_set_t rest = pool->cores;
    if (core < 0 || core >= CPU_SETSIZE || core == pool->callers_core) return;
    pool->callers_core = core;
    CPU_CLR(core, &rest);
    for (int i = 1; i < pool->threads && CPU_COUNT(&rest); i++)
        pthread_setaffinity_np(pool->workers[i].thread, sizeof rest, &rest);
}

static void wake_all(Pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    if (pool->sleepers) keep_apart(pool);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static int allowed_threads(Pool *pool, int asked) {
    CPU_ZERO(&pool->cores);
    int most = sched_getaffinity(0, sizeof pool->cores, &pool->cores) == 0 ? CPU_COUNT(&pool->cores) : 1;
    if (most > MAX_THREADS) most = MAX_THREADS;
    const char *variable = getenv("TILEWRIGHT_THREADS");
    if (asked <= 0 && variable) asked = atoi(variable);
    return asked > 0 && asked < most ? asked : most;
}

Pool *pool_create(Allocator allocator, int threads) {
    /* One block more than needed, so that the counters can stand on lines of their own. */
    Pool *pool = allocator.resize(allocator.user, NULL, 0, sizeof *pool + LINE);
    if (!pool) return NULL;
    char *raw = (char *)pool;
    size_t shift = LINE - (size_t)((uintptr_t)raw % LINE);
    pool = (Pool *)(void *)(raw + shift);
    memset(pool, 0, sizeof *pool);
    ((unsigned char *)pool)[-1] = (unsigned char)shift;
    pool->allocator = allocator;
    pool->owner = getpid();
    pool->callers_core = -1;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    int wanted = allowed_threads(pool, threads);
    pool->threads = 1;
    pool->workers[0].pool = pool;
    while (pool->threads < wanted) {
        Worker *worker = &pool->workers[pool->threads];
        *worker = (Worker){.pool = pool, .number = pool->threads};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) break; /* fewer will do */
        pool->threads++;
    }
    return pool;
}

void pool_destroy(Pool *pool) {
    if (!pool) return;
    if (pool->owner == getpid()) {
        atomic_store(&pool->stop, true);
        wake_all(pool);
        for (int i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
        pthread_cond_destroy(&pool->wake);
        pthread_mutex_destroy(&pool->mutex);
    }
    Allocator allocator = pool->allocator;
    for (int i = 0; i < pool->threads; i++)
        if (pool->workers[i].block)
            allocator.resize(allocator.user, pool->workers[i].block, pool->workers[i].block_size, 0);
    size_t shift = ((unsigned char *)pool)[-1];
    allocator.resize(allocator.user, (char *)pool - shift, sizeof *pool + LINE, 0);
}

int pool_threads(const Pool *pool) { return pool->threads; }

uint32_t *pool_locks(Pool *pool) { return pool->locks; }

static int threads_of(const Pool *pool, int limit) {
    return limit > 0 && limit < pool->threads ? limit : pool->threads;
}

bool pool_is_shared(const Pool *pool, int64_t total, int limit) {
    return threads_of(pool, limit) > 1 && total > 1 && pool->owner == getpid();
}

bool pool_reserve(Pool *pool, size_t scratch_bytes) {
    if (scratch_bytes <= pool->scratch_bytes) return true;
    for (int i = 0; i < pool->threads; i++) {
        Worker *worker = &pool->workers[i];
        size_t size = (scratch_bytes > POOL_NOTES ? scratch_bytes : POOL_NOTES) + LINE;
        void *block = pool->allocator.resize(pool->allocator.user, NULL, 0, size);
        if (!block) return false; /* what was there stays; the rest is tried again next time */
        if (worker->block) pool->allocator.resize(pool->allocator.user, worker->block, worker->block_size, 0);
        worker->block = block;
        worker->block_size = size;
        worker->scratch = (void *)(((uintptr_t)block + LINE - 1) / LINE * LINE);
    }
    pool->scratch_bytes = scratch_bytes;
    return true;
}

/* Runs all by itself, unless that takes much longer than it did before; how many are done. */
static int64_t run_alone(Pool *pool, PoolWork *work, void *user, int64_t total, int64_t start) {
    enum { LOOKS = 4 };
    int64_t done = 0, step = (total + LOOKS - 1) / LOOKS;
    while (done < total) {
        int64_t end = done + step < total ? done + step : total;
        work(user, done, end, pool->workers[0].scratch);
        done = end;
        if (done < total && pool_clock() - start > 4 * ALONE_NANOSECONDS) break;
    }
    return done;
}

static void run_together(Pool *pool, PoolWork *work, void *user, int64_t first, int64_t total, int threads) {
    const int64_t most = (int64_t)place_mask;
    unsigned generation = atomic_load(&pool->generation) + 1;
    pool->work = work;
    pool->user = user;
    pool->first = first;
    pool->total = total;
    pool->unit = (total - first - 1) / most + 1;
    atomic_store(&pool->limit, threads);
    int64_t units = (total - first - 1) / pool->unit + 1;
    atomic_store(&pool->done, 0);
    for (int i = 0; i < threads; i++)
        atomic_store(&pool->workers[i].run, run_word(generation, units * i / threads, units * (i + 1) / threads));
    wake_all(pool);
    take_part_in(pool, &pool->workers[0], generation);
    /* A worker may have to share this core, where others keep the rest of the machine busy. */
    for (int i = 0; atomic_load(&pool->done) < units; i++)
        if (i < 1000)
            relax();
        else
            sched_yield();
}

void pool_run(Pool *pool, PoolWork *work, void *user, int64_t total, int limit, int64_t *number_ns) {
    int threads = threads_of(pool, limit);
    if (total <= 0) return;
    clear_notes(&pool->workers[0]);
    if (!pool_is_shared(pool, total, limit)) {
        work(user, 0, total, pool->workers[0].scratch);
        return;
    }
    int64_t start = number_ns ? pool_clock() : 0, done = 0;
    bool alone = number_ns && *number_ns && *number_ns < ALONE_NANOSECONDS / total;
    if (alone) done = run_alone(pool, work, user, total, start);
    if (done < total) run_together(pool, work, user, done, total, threads);
    if (!number_ns) return;
    int64_t each = (pool_clock() - start) * (done < total ? threads : 1) / total + 1;
    *number_ns = *number_ns ? (3 * *number_ns + each) / 4 : each;
}
