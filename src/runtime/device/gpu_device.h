/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_device.h: the devices of a vendor that a context uses: each is opened when something is first wanted of it (CUDA:
 * with its primary context, torch's too), with an account of what went wrong on it. A kernel and a buffer belong to one
 * device.
 *
 *     GpuDevice *device;
 *     tw_status status = gpu_device_need(cx, &devices, 0, &device);
 *     int before = gpu_device_enter(device);                    it is the thread's current one
 *     result = device->driver->alloc(&address, size);
 *     gpu_device_leave(device, before);
 *     if (result) return gpu_device_fail(cx, device, TW_ERROR_UNAVAILABLE, result, "memory of the
 * GPU"); */
#ifndef RUNTIME_DEVICE_GPU_DEVICE_H
#define RUNTIME_DEVICE_GPU_DEVICE_H
#include "runtime/device/gpu_fault.h"

enum { GPU_WHY = 512, GPU_STAYED = -1 };

typedef struct GpuDevice {
    const GpuDriver *driver;
    int ordinal, handle; /* its number, what the driver calls it */
    char name[128];
    char arch[32]; /* "sm_90", "gfx942" */
    int level;     /* of architectures that are counted (Machine.level); 0: its name says all */
    int units;     /* multiprocessors */
    int shared_bytes;
    size_t memory_bytes;
    GpuContext context; /* CUDA: its primary one, retained */
    GpuFaults faults;
    struct GpuDevice *next;
} GpuDevice;

typedef struct GpuDevices {
    const GpuDriverNames *names; /* of whose devices these are */
    GpuDriver driver;
    bool driver_open;
    GpuDevice *first; /* those that are open */
} GpuDevices;

/* Opens the driver, where that has not been done, and the device; NULL: `why` says what is missing. */
GpuDevice *gpu_device_open(tw_context *cx, GpuDevices *all, int ordinal, char why[GPU_WHY]);
/* The same with a status and a message; a device whose context was lost is refused. */
tw_status gpu_device_need(tw_context *cx, GpuDevices *all, int ordinal, GpuDevice **out);
/* Gives back all of them. */
void gpu_devices_close(tw_context *cx, GpuDevices *all);

/* Makes it the thread's current one, unless it is that already (torch's threads): GPU_STAYED, or what leave undoes. */
int gpu_device_enter(const GpuDevice *device);
void gpu_device_leave(const GpuDevice *device, int before);

/* The machine of a target's table that fits it best; NULL: none does. Does code for the machine run on it? */
const Machine *gpu_device_machine(const GpuDevice *device, const char *target);
bool gpu_device_runs(const GpuDevice *device, const Machine *machine);

/* The status and message of a driver call that failed. */
tw_status gpu_device_fail(tw_context *cx, GpuDevice *device, tw_status status, GpuResult result, const char *what);
#endif
