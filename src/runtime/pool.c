/* pool.c: see pool.h.
 *
 * A launch is published by raising `generation`; each worker that sees it takes chunks from one
 * atomic counter until none is left, then counts itself out. Workers spin for about 50 us before
 * they sleep on a futex-backed condition, so that launches back to back cost less than a
 * microsecond and an idle pool costs nothing. */
#include "runtime/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 256, SPIN_NANOSECONDS = 50000, LINE = 128 };

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
    /* the launch */
    PoolWork *work;
    void *user;
    int64_t total, chunk;
    int limit;
    _Alignas(LINE) atomic_uint generation;
    _Alignas(LINE) atomic_llong next;
    _Alignas(LINE) atomic_int busy; /* workers that have not counted themselves out */
    atomic_bool stop;
};

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

static void take_chunks(Pool *pool, Worker *worker) {
    clear_notes(worker);
    for (;;) {
        int64_t begin = atomic_fetch_add(&pool->next, pool->chunk);
        if (begin >= pool->total) return;
        int64_t end = begin + pool->chunk < pool->total ? begin + pool->chunk : pool->total;
        pool->work(pool->user, begin, end, worker->scratch);
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
        if (worker->number < pool->limit) take_chunks(pool, worker);
        atomic_fetch_sub(&pool->busy, 1);
    }
}

static void publish(Pool *pool) {
    atomic_store(&pool->busy, pool->threads - 1);
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
        publish(pool);
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

void pool_run(Pool *pool, PoolWork *work, void *user, int64_t total, int limit) {
    int threads = limit > 0 && limit < pool->threads ? limit : pool->threads;
    if (threads == 1 || total <= 1 || pool->owner != getpid()) {
        clear_notes(&pool->workers[0]);
        if (total > 0) work(user, 0, total, pool->workers[0].scratch);
        return;
    }
    int64_t chunk = total / (8 * (int64_t)threads);
    pool->work = work;
    pool->user = user;
    pool->total = total;
    pool->chunk = chunk > 1 ? chunk : 1;
    pool->limit = threads;
    atomic_store(&pool->next, 0);
    publish(pool);
    take_chunks(pool, &pool->workers[0]);
    while (atomic_load(&pool->busy)) relax();
}
