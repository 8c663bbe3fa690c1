/* pool.c: see pool.h.
 *
 * A launch is published by raising `generation`; whoever sees it takes chunks until none is left.
 * A ticket names the launch, how many threads may take part, and the next chunk; it is taken by
 * compare-and-swap, so a worker that wakes up late can never take a chunk of another launch than
 * it thinks, and what it reads of a launch stays as it is until its chunk is done. The launch ends
 * when all chunks are done: nobody waits for a worker that took none. Workers spin for about 50 us
 * before they sleep on a futex-backed condition, so that launches back to back cost less than a
 * microsecond and an idle pool costs nothing. Work that is known to be shorter than a hand-over
 * stays with the caller, which looks at the clock in between: what was short once need not be
 * short again. */
#include "runtime/pool.h"

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
} Worker;

struct Pool {
    Allocator allocator;
    int threads; /* with the caller */
    pid_t owner;
    size_t scratch_bytes;
    Worker workers[MAX_THREADS]; /* 0 is the caller */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    /* the launch: written while the ticket is closed */
    PoolWork *work;
    void *user;
    int64_t first, total, chunk;
    atomic_llong chunks;
    _Alignas(LINE) atomic_uint generation;
    _Alignas(LINE) atomic_ullong ticket; /* launch, limit, next chunk */
    _Alignas(LINE) atomic_llong done;    /* chunks */
    atomic_bool stop;
};

/* A ticket without its chunk: the launch's number (what fits of it) and its limit of threads. */
enum { CHUNK_BITS = 36, LIMIT_BITS = 9 };
static const unsigned long long closed = (1ull << CHUNK_BITS) - 1; /* no chunk has that number */

static unsigned long long launch_of(unsigned generation, int limit) {
    return ((unsigned long long)generation << LIMIT_BITS | (unsigned)limit) << CHUNK_BITS;
}

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void clear_notes(const Worker *worker) {
    if (worker->scratch) memset(worker->scratch, 0, POOL_NOTES);
}

/* Takes chunks of the launch of that number; worker 0 is the caller. */
static void take_chunks(Pool *pool, Worker *worker, unsigned generation) {
    unsigned long long ticket = atomic_load(&pool->ticket);
    const unsigned long long low = (1ull << (CHUNK_BITS + LIMIT_BITS)) - 1;
    for (bool first = true;;) {
        if ((ticket & ~low) != launch_of(generation, 0)) return;
        int limit = (int)(ticket >> CHUNK_BITS & ((1 << LIMIT_BITS) - 1));
        int64_t number = (int64_t)(ticket & closed);
        if (worker->number >= limit || number >= atomic_load(&pool->chunks)) return;
        if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) continue;
        if (first && worker->number) clear_notes(worker);
        first = false;
        int64_t begin = pool->first + number * pool->chunk, end = begin + pool->chunk;
        pool->work(pool->user, begin, end < pool->total ? end : pool->total, worker->scratch);
        atomic_fetch_add(&pool->done, 1);
        ticket = atomic_load(&pool->ticket);
    }
}

/* Waits until the generation is another one; spins, then sleeps. */
static unsigned await_launch(Pool *pool, unsigned seen) {
    int64_t limit = now() + SPIN_NANOSECONDS;
    for (int i = 0;; i++) {
        unsigned generation = atomic_load(&pool->generation);
        if (generation != seen) return generation;
        relax();
        if (i % 64 == 63 && now() > limit) break;
    }
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->generation) == seen) pthread_cond_wait(&pool->wake, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
    return atomic_load(&pool->generation);
}

static void *worker_main(void *user) {
    Worker *worker = user;
    Pool *pool = worker->pool;
    for (unsigned seen = 0;;) {
        seen = await_launch(pool, seen);
        if (atomic_load(&pool->stop)) return NULL;
        take_chunks(pool, worker, seen);
    }
}

static void wake_all(Pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->mutex);
}

static int allowed_threads(int asked) {
    cpu_set_t set;
    int most = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
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
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->wake, NULL);
    int wanted = allowed_threads(threads);
    pool->threads = 1;
    pool->workers[0].pool = pool;
    while (pool->threads < wanted) {
        Worker *worker = &pool->workers[pool->threads];
        *worker = (Worker){.pool = pool, .number = pool->threads};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0)
            break; /* fewer will do */
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
            allocator.resize(allocator.user, pool->workers[i].block, pool->workers[i].block_size,
                             0);
    size_t shift = ((unsigned char *)pool)[-1];
    allocator.resize(allocator.user, (char *)pool - shift, sizeof *pool + LINE, 0);
}

int pool_threads(const Pool *pool) {
    return pool->threads;
}

bool pool_reserve(Pool *pool, size_t scratch_bytes) {
    if (scratch_bytes <= pool->scratch_bytes) return true;
    for (int i = 0; i < pool->threads; i++) {
        Worker *worker = &pool->workers[i];
        size_t size = (scratch_bytes > POOL_NOTES ? scratch_bytes : POOL_NOTES) + LINE;
        void *block = pool->allocator.resize(pool->allocator.user, NULL, 0, size);
        if (!block) return false; /* what was there stays; the rest is tried again next time */
        if (worker->block)
            pool->allocator.resize(pool->allocator.user, worker->block, worker->block_size, 0);
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
        if (done < total && now() - start > 4 * ALONE_NANOSECONDS) break;
    }
    return done;
}

static void run_together(Pool *pool, PoolWork *work, void *user, int64_t first, int64_t total,
                         int threads) {
    unsigned generation = atomic_load(&pool->generation) + 1;
    atomic_store(&pool->ticket, launch_of(generation, threads) | closed);
    int64_t chunk = (total - first) / (8 * (int64_t)threads);
    pool->work = work;
    pool->user = user;
    pool->first = first;
    pool->total = total;
    pool->chunk = chunk > 1 ? chunk : 1;
    int64_t chunks = (total - first + pool->chunk - 1) / pool->chunk;
    atomic_store(&pool->chunks, chunks);
    atomic_store(&pool->done, 0);
    atomic_store(&pool->ticket, launch_of(generation, threads));
    wake_all(pool);
    take_chunks(pool, &pool->workers[0], generation);
    while (atomic_load(&pool->done) < chunks) relax();
}

void pool_run(Pool *pool, PoolWork *work, void *user, int64_t total, int limit,
              int64_t *number_ns) {
    int threads = limit > 0 && limit < pool->threads ? limit : pool->threads;
    if (total <= 0) return;
    clear_notes(&pool->workers[0]);
    if (threads == 1 || total == 1 || pool->owner != getpid()) {
        work(user, 0, total, pool->workers[0].scratch);
        return;
    }
    int64_t start = number_ns ? now() : 0, done = 0;
    bool alone = number_ns && *number_ns && *number_ns < ALONE_NANOSECONDS / total;
    if (alone) done = run_alone(pool, work, user, total, start);
    if (done < total) run_together(pool, work, user, done, total, threads);
    if (!number_ns) return;
    int64_t each = (now() - start) * (done < total ? threads : 1) / total + 1;
    *number_ns = *number_ns ? (3 * *number_ns + each) / 4 : each;
}
