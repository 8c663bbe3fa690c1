/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_beside.c: see cpu_beside.h. */
#include "runtime/target/cpu_beside.h"

#include "base/fiber.h"

#include <stdlib.h>

enum { STACK_BYTES = 256 * 1024 };

/* As in prelude/workers.h, as far as the host looks at it. */
struct TwTeam {
    struct TwLaunch *launch;
    struct TwTeam *outer;
    void *host;
    int32_t moved;
    int32_t workers, threads;
};

typedef struct Turning { /* a worker */
    TwTeam *team;
    WorkerBody *body;
    int32_t number;
    Fiber *fiber;
} Turning;

static void run_worker(void *argument) {
    Turning *w = argument;
    w->body(w->team, w->number);
}

BESIDE_API void cpu_turn(TwTeam *team) {
    Turning *running = team->host;
    fiber_yield(running->fiber);
}

/* In turn, until all are done, or a round has passed in which nobody did anything that others could wait for. */
static bool run_all(TwTeam *team, Turning *workers) {
    for (;;) {
        int left = 0, ended = 0;
        team->moved = 0;
        for (int i = 0; i < team->workers; i++) {
            Turning *w = &workers[i];
            if (fiber_done(w->fiber)) continue;
            team->host = w;
            fiber_resume(w->fiber);
            if (fiber_done(w->fiber))
                ended++;
            else
                left++;
        }
        if (!left) return true;
        if (ended || team->moved) continue;
        if (!team->outer) return false;
        cpu_turn(team->outer); /* others may do what is waited for */
        if (!team->outer->moved) return false;
    }
}

BESIDE_API bool cpu_run_beside(TwTeam *team, WorkerBody *const *bodies, int32_t count) {
    Turning *workers = calloc((size_t)team->workers, sizeof *workers);
    bool good = workers != NULL;
    for (int i = 0; good && i < team->workers; i++) {
        workers[i] = (Turning){team, bodies[count > 1 ? i : 0], i, NULL};
        workers[i].fiber = fiber_create(STACK_BYTES, run_worker, &workers[i]);
        good = workers[i].fiber != NULL;
    }
    good = good && run_all(team, workers);
    for (int i = 0; workers && i < team->workers; i++) fiber_destroy(workers[i].fiber);
    free(workers);
    return good;
}
