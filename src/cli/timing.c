/* SPDX-License-Identifier: Apache-2.0 */
/* timing.c: compiles and launches a session's kernel, and takes its time. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static tw_status launch_within(Session *s, tw_stream *stream, const int64_t *grid, double limit) {
    tw_launch_options how;
    tw_launch_options_init(&how);
    how.stream = stream;
    how.grid = grid;
    how.timeout_ms = limit < 2e6 ? (int32_t)(limit * 1e3) : 0;
    tw_status status = tw_kernel_launch_with(s->kernel, &how, s->values, s->count);
    if (status != TW_ERROR_UNSUPPORTED || !how.timeout_ms) return status;
    return tw_kernel_launch(s->kernel, stream, grid, s->values, s->count); /* a queue of the target's own */
}

static tw_status launch_and_wait(Session *s, tw_stream *stream, const int64_t *grid, const Timing *timing, bool first) {
    guarded_watch(tw_kernel_name(s->kernel), s->native);
    tw_status status = launch_within(s, stream, grid, timing ? timing->limit : 0);
    if (first) print_warnings(s->context);
    if (status == TW_OK) status = tw_stream_synchronize(stream);
    guarded_watch(NULL, false);
    return status;
}

static int fail_launch(const Session *s, tw_status status, const Timing *timing) {
    if (status == TW_ERROR_TIMEOUT && timing)
        return fail("stopped: a launch took longer than %.1f s", timing->limit);
    return fail_status(s->context, status);
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of as many launches as fit into a quarter of a second, at most 200. */
static int time_launches(Session *s, tw_stream *stream, const int64_t *grid, double first, Timing *timing) {
    enum { MOST = 200 };
    double spent[MOST] = {first}, total = first;
    int count = 1;
    while (count < MOST && total < 0.25) {
        double start = seconds_now();
        tw_status status = launch_and_wait(s, stream, grid, timing, false);
        if (status != TW_OK) return fail_launch(s, status, timing);
        spent[count] = seconds_now() - start;
        total += spent[count++];
        if (count >= 3 && timing->give_up > 0 && spent[count - 1] > timing->give_up) break;
    }
    qsort(spent, (size_t)count, sizeof *spent, compare_numbers);
    timing->median = spent[count / 2], timing->least = spent[0], timing->launches = count;
    return 0;
}

void json_timing(Json *j, const Timing *timing) {
    if (!timing->launches) return;
    json_key(j, "median_us"), json_number(j, timing->median * 1e6);
    json_key(j, "least_us"), json_number(j, timing->least * 1e6);
    json_key(j, "launches"), json_integer(j, timing->launches);
}

int compile_for(Session *s, const Options *o, const char *target) {
    int status = session_compile(s, o, target, TW_STAGE_RUN);
    return !status && lacks_arguments(s) ? fail_missing(s, o) : status;
}

/* For what a launch's own limit does not end: a GPU, a compiler. */
static void alarm_in(double seconds) {
    struct itimerval t = {{0, 0}, {(time_t)seconds, (suseconds_t)((seconds - floor(seconds)) * 1e6)}};
    setitimer(ITIMER_REAL, &t, NULL);
}

int launch_on(Session *s, const Options *o, const char *target, Timing *timing) {
    /* An emulated kernel runs on the host, on the host's memory. */
    const char *device = o->emulate && target == o->target ? "cpu" : target;
    s->native = strcmp(target, "cpu") == 0 && !o->emulate && !o->sanitize;
    int status = session_upload(s, device);
    if (status) return status;
    int64_t grid[3];
    bool own = false;
    status = session_grid(s, o, grid, &own);
    tw_stream *stream = NULL;
    if (!status) {
        tw_status made = tw_stream_create(s->context, device, &stream);
        if (made != TW_OK) status = fail_status(s->context, made);
    }
    if (!status) {
        if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
            remark("warning", "no program runs: the grid is %lld x %lld x %lld", (long long)grid[0],
                     (long long)grid[1], (long long)grid[2]);
        if (timing && timing->limit > 0) alarm_in(timing->limit + 2);
        double start = seconds_now();
        const int64_t *said = own ? NULL : grid; /* its own it knows itself, of each launch */
        tw_status ran = launch_and_wait(s, stream, said, timing, true);
        double first = seconds_now() - start;
        if (timing) alarm_in(0);
        if (ran != TW_OK) status = fail_launch(s, ran, timing);
        if (!status) status = guarded_check(tw_kernel_name(s->kernel));
        if (!status) status = session_download(s);
        if (!status && timing) status = time_launches(s, stream, said, first, timing);
    }
    tw_stream_destroy(stream);
    return status;
}
