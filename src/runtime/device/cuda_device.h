/* cuda_device.h: the CUDA devices that a context uses: each is opened when something is first
 * wanted of it, with its primary context (torch's too) and an account of what went wrong on it. A
 * kernel and a buffer belong to one device.
 *
 *     CudaDevice *device;
 *     tw_status status = cuda_device_need(cx, &devices, 0, &device);
 *     bool entered = cuda_device_enter(device);                 its context is the thread's
 *     result = device->driver->alloc(&address, size);
 *     cuda_device_leave(device, entered);
 *     if (result) return cuda_device_fail(cx, device, TW_ERROR_UNAVAILABLE, result, "memory of the
 * GPU"); */
#ifndef RUNTIME_DEVICE_CUDA_DEVICE_H
#define RUNTIME_DEVICE_CUDA_DEVICE_H
#include "runtime/device/cuda_fault.h"

enum { CUDA_WHY = 512 };

typedef struct CudaDevice {
    const CudaDriver *driver;
    int ordinal, handle; /* its number, what the driver calls it */
    char name[128];
    int major, minor, sm_count, shared_bytes;
    size_t memory_bytes;
    CudaContext context; /* its primary one, retained */
    CudaFaults faults;
    struct CudaDevice *next;
} CudaDevice;

typedef struct CudaDevices {
    CudaDriver driver;
    bool driver_open;
    CudaDevice *first; /* those that are open */
} CudaDevices;

/* Opens the driver, where that has not been done, and the device; NULL: `why` says what is missing. */
CudaDevice *cuda_device_open(tw_context *cx, CudaDevices *all, int ordinal, char why[CUDA_WHY]);
/* The same with a status and a message; a device whose context was lost is refused. */
tw_status cuda_device_need(tw_context *cx, CudaDevices *all, int ordinal, CudaDevice **out);
/* Gives back all of them. */
void cuda_devices_close(tw_context *cx, CudaDevices *all);

/* Makes its context the thread's current one, unless it is that already (torch's threads); true: leave must undo it. */
bool cuda_device_enter(const CudaDevice *device);
void cuda_device_leave(const CudaDevice *device, bool entered);

/* The status and message of a driver call that failed. */
tw_status cuda_device_fail(tw_context *cx, CudaDevice *device, tw_status status, CudaResult result, const char *what);
#endif
