/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h: a pool of threads over which a launch spreads its programs.
 *
 * Threads are created once; between launches they spin for a moment, then sleep. pool_run hands
 * out [0, total) in parts of consecutive numbers, the caller working along; it returns when all are
 * done. Each thread begins with a share of its own, in rising order, and helps the others when that
 * is done. One launch at a time. Which thread runs what is not defined, so the work must not care. A forked child has
 * no workers: there the caller does everything itself.
 *
 * Kernels that are built ahead of time carry this file and pool.c with them, as static code (POOL_API). */
#ifndef RUNTIME_LAUNCH_POOL_H
#define RUNTIME_LAUNCH_POOL_H
#include "base/allocator.h"

#include <stdbool.h>
#include <stdint.h>

#ifndef POOL_API
#define POOL_API
#endif

typedef struct Pool Pool;
/* Runs numbers begin .. end-1; scratch is this thread's own memory, whose first POOL_NOTES bytes
 * are zero when the thread begins a launch and stay as the work leaves them until its end. */
enum { POOL_NOTES = 256 };
POOL_API int64_t pool_clock(void); /* ns, of a clock that never goes back */
typedef void PoolWork(void *user, int64_t begin, int64_t end, void *scratch);

/* threads 0: $TILEWRIGHT_THREADS, else as many as the affinity mask allows (never more). NULL: no memory. */
POOL_API Pool *pool_create(Allocator allocator, int threads);
POOL_API void pool_destroy(Pool *pool); /* NULL is allowed */
POOL_API int pool_threads(const Pool *pool);
enum { POOL_LOCKS = 1024 };
POOL_API uint32_t *pool_locks(Pool *pool); /* so many, none of them taken between launches */
/* May a run of that size take more than one thread? */
POOL_API bool pool_is_shared(const Pool *pool, int64_t total, int limit);
/* Gives every thread at least that much scratch, 64-byte aligned; false: no memory. Not during a launch. */
POOL_API bool pool_reserve(Pool *pool, size_t scratch_bytes);
/* limit: at most so many threads; 0: all. *number_ns: what one number took in earlier runs (0: not
 * known), brought up to date; where all of them together take less than waking a thread, the
 * caller runs them alone. NULL: not used. */
POOL_API void pool_run(Pool *pool, PoolWork *work, void *user, int64_t total, int limit, int64_t *number_ns);
#endif
