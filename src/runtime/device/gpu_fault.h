/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_fault.h: what went wrong on a GPU, said with the kernel's name.
 *
 * The driver reports a kernel that trapped at some later call, and from then on at every call: the context is lost.
 * So launches are noted (a few words each), a wait that ends well clears them, and a report names those that can have
 * failed; what comes afterwards says that the context was lost, and when.
 *
 *     gpu_fault_note(&faults, code->label, grid);                 with every launch
 *     result = gpu_fault_wait(&faults, &driver, NULL);            ends, fails, or is given up after a while
 *     if (result) return gpu_fault_report(cx, &faults, &driver, result, "waiting for the GPU"); */
#ifndef RUNTIME_DEVICE_GPU_FAULT_H
#define RUNTIME_DEVICE_GPU_FAULT_H
#include "runtime/device/gpu_driver.h"
#include "runtime/device/simt_code.h"
#include "runtime/runtime.h"

enum { GPU_FAULT_NOTES = 4, GPU_FAULT_RUNAWAY = -1 };

typedef struct GpuFaults {
    struct {
        char kernel[GPU_LABEL];
        unsigned grid[3];
    } note[GPU_FAULT_NOTES]; /* of the last launches, by their number */
    uint64_t launches, ended; /* so many were made; so many are known to have ended well */
    bool blocking;            /* by GpuDriverNames.blocking: a launch is done when it returns */
    double limit;             /* seconds to wait for a kernel; 0: for ever */
    char gpu[16];             /* "the GPU", or "GPU 3" where there are several */
    char lost[640];           /* how the context was lost; empty: it is there */
} GpuFaults;

/* Reads TILEWRIGHT_GPU_TIMEOUT. */
void gpu_fault_begin(GpuFaults *f, const GpuDriver *d, int device);
void gpu_fault_note(GpuFaults *f, const char label[GPU_LABEL], const unsigned grid[3]);
/* Waits for a stream (NULL: the default one; `all`: for the context) until it is done: 0, the driver's error, or
 * GPU_FAULT_RUNAWAY. */
GpuResult gpu_fault_wait(GpuFaults *f, const GpuDriver *d, void *stream, bool all);
/* The status and message of a driver call that failed while `what`. */
tw_status gpu_fault_report(tw_context *cx, GpuFaults *f, const GpuDriver *d, tw_status status, GpuResult result,
                            const char *what);
/* TW_OK, or that the context was lost. */
tw_status gpu_fault_check(tw_context *cx, const GpuFaults *f, const char *what);
#endif
