/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c: every number of a launch is run once, whatever the total, the limit, the estimate
 * and the speed of launches after each other; scratch is private, and its notes begin as zeros. */
#include "check.h"
#include "base/arena.h"
#include "runtime/launch/pool.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST = 5000 };
typedef struct Run {
    atomic_uchar seen[MOST];
    atomic_int wrong;
    int launch;
} Run;

static void work(void *user, int64_t begin, int64_t end, void *scratch) {
    Run *run = user;
    int *notes = scratch;
    if (notes[0] != 0 && notes[0] != run->launch) atomic_fetch_add(&run->wrong, 1);
    notes[0] = run->launch;
    for (int64_t i = begin; i < end; i++) atomic_fetch_add(&run->seen[i], 1);
}

/* More numbers than a thread's share can count: they go in groups. */
typedef struct Sum {
    atomic_llong count, places;
} Sum;

static void add_up(void *user, int64_t begin, int64_t end, void *scratch) {
    Sum *sum = user;
    (void)scratch;
    atomic_fetch_add(&sum->count, end - begin);
    atomic_fetch_add(&sum->places, (begin + end - 1) * (end - begin) / 2);
}

static void check_many(Pool *pool, int64_t total) {
    Sum sum = {0};
    pool_run(pool, add_up, &sum, total, 0, NULL);
    CHECK(atomic_load(&sum.count) == total);
    CHECK(atomic_load(&sum.places) == (total - 1) * total / 2);
}

int main(void) {
    static Run run;
    Pool *pool = pool_create(allocator_malloc, 0);
    CHECK(pool && pool_threads(pool) >= 1 && pool_reserve(pool, 1 << 16));
    int64_t estimate = 0;
    int bad = 0;
    for (int launch = 1; launch <= 3000; launch++) {
        int64_t total = launch % 7 == 0 ? MOST : launch % 40;
        for (int64_t i = 0; i < total; i++) atomic_store(&run.seen[i], 0);
        run.launch = launch;
        if (launch % 50 == 0) estimate = 0;
        pool_run(pool, work, &run, total, launch % 3, launch % 5 ? &estimate : NULL);
        for (int64_t i = 0; i < total; i++) bad += atomic_load(&run.seen[i]) != 1;
    }
    CHECK(bad == 0);
    CHECK(atomic_load(&run.wrong) == 0);
    check_many(pool, INT64_C(1) << 22);
    check_many(pool, (INT64_C(3) << 22) + 5);
    check_many(pool, (INT64_C(1) << 31) - 1);
    pool_destroy(pool);
    return check_done();
}
