/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c: an engine that ships kernels: they were built ahead of time, run on the engine's own threads, and are called by
 * eight requests at once. docs/embedding.md says how to build it. */
#include "add.h"
#include "softmax.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the engine's threads: a list of jobs, each with parts that whoever is free takes --- */

typedef struct Job {
    void (*part)(void *work, int32_t i);
    void *work;
    int32_t next, left, count; /* to begin; to end; all */
    struct Job *behind;
} Job;

typedef struct Engine {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    Job *jobs;
    int ends;
} Engine;

/* With the mutex held: one part of a job that has some left. */
static int take_part(Engine *engine, Job *job) {
    while (job && job->next == job->count) job = job->behind;
    if (!job) return 0;
    int32_t i = job->next++;
    pthread_mutex_unlock(&engine->mutex);
    job->part(job->work, i);
    pthread_mutex_lock(&engine->mutex);
    if (--job->left == 0) pthread_cond_broadcast(&engine->changed);
    return 1;
}

static void *worker(void *user) {
    Engine *engine = user;
    pthread_mutex_lock(&engine->mutex);
    while (!engine->ends)
        if (!take_part(engine, engine->jobs)) pthread_cond_wait(&engine->changed, &engine->mutex);
    pthread_mutex_unlock(&engine->mutex);
    return NULL;
}

/* What a kernel asks for (tw_built_options.parallel). */
static void run_parts(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work) {
    Engine *engine = user;
    Job job = {part, work, 0, count, count, NULL};
    pthread_mutex_lock(&engine->mutex);
    job.behind = engine->jobs;
    engine->jobs = &job;
    pthread_cond_broadcast(&engine->changed);
    while (job.left)
        if (job.next == job.count || !take_part(engine, &job)) pthread_cond_wait(&engine->changed, &engine->mutex);
    Job **at = &engine->jobs;
    while (*at != &job) at = &(*at)->behind;
    *at = job.behind;
    pthread_mutex_unlock(&engine->mutex);
}

/* --- requests --- */

enum { ROWS = 64, COLUMNS = 100, SIZE = ROWS * COLUMNS, REQUESTS = 8, WORKERS = 3 };

typedef struct Request {
    pthread_t thread;
    Engine *engine;
    int number;
    int32_t status;
    double sum; /* of all probabilities: one a row */
} Request;

static void *serve(void *user) {
    Request *r = user;
    tw_built_options options = {sizeof options, 0, run_parts, r->engine, NULL, NULL};
    float *x = calloc(3 * SIZE, sizeof *x), *y = x + SIZE, *z = y + SIZE;
    if (!x) exit(1);
    for (int i = 0; i < SIZE; i++) x[i] = (float)(i * 7 % 13), y[i] = (float)r->number;
    r->status = add_kernel(x, SIZE, y, SIZE, z, SIZE, SIZE, (SIZE + 1023) / 1024, 1, 1, &options);
    if (!r->status) r->status = softmax_kernel(x, SIZE, z, SIZE, COLUMNS, COLUMNS, COLUMNS, ROWS, 1, 1, &options);
    for (int i = 0; i < SIZE; i++) r->sum += x[i];
    free(x);
    return NULL;
}

int main(void) {
    Engine engine = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0};
    Request requests[REQUESTS];
    pthread_t workers[WORKERS];
    int wrong = 0;
    for (int i = 0; i < WORKERS; i++) pthread_create(&workers[i], NULL, worker, &engine);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = (Request){.engine = &engine, .number = i};
        pthread_create(&requests[i].thread, NULL, serve, &requests[i]);
    }
    for (int i = 0; i < REQUESTS; i++) {
        pthread_join(requests[i].thread, NULL);
        if (requests[i].status) printf("request %d: %s\n", i, softmax_kernel_error(requests[i].status));
        wrong += requests[i].status != 0 || requests[i].sum < ROWS - 1e-3 || requests[i].sum > ROWS + 1e-3;
    }
    pthread_mutex_lock(&engine.mutex);
    engine.ends = 1;
    pthread_cond_broadcast(&engine.changed);
    pthread_mutex_unlock(&engine.mutex);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], NULL);
    printf("%d of %d requests right\n", REQUESTS - wrong, REQUESTS);
    return wrong > 0;
}
