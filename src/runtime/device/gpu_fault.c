/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_fault.c: see gpu_fault.h. */
#include "runtime/device/gpu_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Errors after which the context answers nothing else any more, and what their kernel did. */
static const struct {
    GpuResult result;
    const char *about;
} final[] = {
    {GPU_FAULT_RUNAWAY, "it may run for ever; the GPU stays busy until this process ends"},
    {700, "it touched memory that is no buffer's: the sanitizer (target interp) or the emulator finds the line"},
    {702, "it ran longer than this GPU's watchdog allows"},
    {709, "another part of the process destroyed the context"},
    {710, "an assertion in it failed"},
    {714, "its stack was damaged"},
    {715,
     "it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no "
     "multiples of 16 bytes, or damaged code"},
    {716,
     "it accessed an address that is no multiple of the access: is an argument's alignment what the compile was told?"},
    {717, "it used an address of another memory space"},
    {718, "it jumped outside its code"},
    {719,
     "it trapped: a device_assert (which prints its line), a tensor descriptor made in it whose base or strides are no "
     "multiples of 16 bytes, or a barrier used against its rules; the emulator "
     "finds the place"},
    {214, "memory of the GPU had an error that could not be mended"},
    {220, "NVLink had an error"},
};

static const char *final_about(GpuResult result) {
    for (size_t i = 0; i < sizeof final / sizeof *final; i++)
        if (final[i].result == result) return final[i].about;
    return NULL;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void gpu_fault_begin(GpuFaults *f, const GpuDriver *d, int device) {
    const char *limit = getenv("TILEWRIGHT_GPU_TIMEOUT");
    memset(f, 0, sizeof *f);
    snprintf(f->gpu, sizeof f->gpu, d->devices > 1 ? "GPU %d" : "the GPU", device);
    const char *blocking = getenv(d->names->blocking);
    f->blocking = blocking && strcmp(blocking, "1") == 0;
    if (limit) f->limit = strtod(limit, NULL);
}

void gpu_fault_note(GpuFaults *f, const char label[GPU_LABEL], const unsigned grid[3]) {
    size_t slot = f->launches++ % GPU_FAULT_NOTES;
    memcpy(f->note[slot].kernel, label, GPU_LABEL);
    memcpy(f->note[slot].grid, grid, sizeof f->note[slot].grid);
    if (f->blocking && f->launches) f->ended = f->launches - 1; /* this one at least can be at fault */
}

GpuResult gpu_fault_wait(GpuFaults *f, const GpuDriver *d, void *stream, bool all) {
    GpuResult result = GPU_ERROR_NOT_READY;
    if (f->limit > 0) {
        double until = now() + f->limit;
        struct timespec pause = {0, 20000};
        while ((result = d->stream_query(stream)) == GPU_ERROR_NOT_READY) {
            if (now() > until) return GPU_FAULT_RUNAWAY;
            nanosleep(&pause, NULL);
            if (pause.tv_nsec < 5000000) pause.tv_nsec *= 2;
        }
    }
    if (result == GPU_ERROR_NOT_READY || (result == 0 && all))
        result = all ? d->synchronize() : d->stream_synchronize(stream);
    if (result == 0 && all) f->ended = f->launches;
    return result;
}

/* "kernel `a` (launch 3, 4 x 1 x 1 blocks)", or those that can have been it. */
static void name_suspects(const GpuFaults *f, const GpuDriver *d, char *text, size_t capacity) {
    uint64_t first = f->launches > GPU_FAULT_NOTES ? f->launches - GPU_FAULT_NOTES : 0;
    size_t used = 0;
    if (first < f->ended) first = f->ended;
    if (first == f->launches) {
        snprintf(text, capacity, "something other than our kernels failed on %s", f->gpu);
        return;
    }
    bool one = f->launches - f->ended == 1;
    used += (size_t)snprintf(text, capacity, one ? "kernel " : "one of these kernels failed on %s: ", f->gpu);
    for (uint64_t i = first; i < f->launches && used < capacity; i++) {
        const unsigned *grid = f->note[i % GPU_FAULT_NOTES].grid;
        used += (size_t)snprintf(text + used, capacity - used, "%s`%s` (launch %llu, %u x %u x %u blocks)",
                                 i > first ? ", " : "", f->note[i % GPU_FAULT_NOTES].kernel, (unsigned long long)i + 1,
                                 grid[0], grid[1], grid[2]);
    }
    if (used < capacity && !one && first > f->ended)
        used += (size_t)snprintf(text + used, capacity - used, ", or one before them");
    if (used < capacity)
        snprintf(text + used, capacity - used, one ? " failed on %s" : " (%s=1 in the environment tells which)",
                 one ? f->gpu : d->names->blocking);
}

tw_status gpu_fault_check(tw_context *cx, const GpuFaults *f, const char *what) {
    if (!*f->lost) return TW_OK;
    return context_fail(
        cx, TW_ERROR_LAUNCH,
        "%s: the context of %s was lost, and its buffers with it; start the process anew. It was lost when %s", what,
        f->gpu, f->lost);
}

tw_status gpu_fault_report(tw_context *cx, GpuFaults *f, const GpuDriver *d, tw_status status, GpuResult result,
                            const char *what) {
    char error[200], who[400];
    const char *about = final_about(result);
    if (*f->lost) return gpu_fault_check(cx, f, what);
    if (result == GPU_FAULT_RUNAWAY)
        snprintf(error, sizeof error, "it has not ended after %g seconds (TILEWRIGHT_GPU_TIMEOUT)", f->limit);
    else
        gpu_driver_describe(d, result, error, sizeof error);
    if (!about) return context_fail(cx, status, "%s: %s", what, error);
    name_suspects(f, d, who, sizeof who);
    snprintf(f->lost, sizeof f->lost, "%s: %s", who, error);
    return context_fail(cx, TW_ERROR_LAUNCH,
                        "%s: %s: %s; the context of %s is lost with it: its buffers cannot be read, and the process "
                        "has to be started anew to use it",
                        who, error, about, f->gpu);
}
