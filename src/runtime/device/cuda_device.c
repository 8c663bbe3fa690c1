/* cuda_device.c: see cuda_device.h. */
#include "runtime/device/cuda_device.h"

#include <stdio.h>

/* What is asked of a device once. */
static CudaResult read_device(CudaDevice *device) {
    const CudaDriver *d = device->driver;
    const struct {
        int *to, attribute;
    } asked[] = {{&device->major, CUDA_ATTRIBUTE_MAJOR},
                 {&device->minor, CUDA_ATTRIBUTE_MINOR},
                 {&device->sm_count, CUDA_ATTRIBUTE_SM_COUNT},
                 {&device->shared_bytes, CUDA_ATTRIBUTE_SHARED_BYTES}};
    CudaResult result = d->device_get(&device->handle, device->ordinal);
    if (result == 0) result = d->device_name(device->name, sizeof device->name, device->handle);
    for (size_t i = 0; result == 0 && i < sizeof asked / sizeof *asked; i++)
        result = d->device_attribute(asked[i].to, asked[i].attribute, device->handle);
    if (result == 0) result = d->device_memory(&device->memory_bytes, device->handle);
    return result == 0 ? d->context_retain(&device->context, device->handle) : result;
}

CudaDevice *cuda_device_open(tw_context *cx, CudaDevices *all, int ordinal, char why[CUDA_WHY]) {
    for (CudaDevice *device = all->first; device; device = device->next)
        if (device->ordinal == ordinal) return device;
    if (!all->driver_open) all->driver_open = cuda_driver_open(&all->driver, why, CUDA_WHY);
    if (!all->driver_open) return NULL;
    if (ordinal < 0 || ordinal >= all->driver.devices) {
        snprintf(why, CUDA_WHY, "there is no CUDA device %d: the driver finds %d, counted from 0", ordinal,
                 all->driver.devices);
        return NULL;
    }
    CudaDevice *device = context_alloc(cx, sizeof *device);
    *device = (CudaDevice){.driver = &all->driver, .ordinal = ordinal, .next = all->first};
    cuda_fault_begin(&device->faults, ordinal, all->driver.devices);
    CudaResult result = read_device(device);
    if (result == 0) return all->first = device;
    char text[200];
    cuda_driver_describe(&all->driver, result, text, sizeof text);
    snprintf(why, CUDA_WHY, "%s cannot be used: %s", device->faults.gpu, text);
    context_free(cx, device, sizeof *device);
    return NULL;
}

tw_status cuda_device_need(tw_context *cx, CudaDevices *all, int ordinal, CudaDevice **out) {
    char why[CUDA_WHY];
    CudaDevice *device = *out = cuda_device_open(cx, all, ordinal, why);
    if (!device) return context_fail(cx, TW_ERROR_UNAVAILABLE, "%s", why);
    return cuda_fault_check(cx, &device->faults, "nothing runs on the GPU any more");
}

void cuda_devices_close(tw_context *cx, CudaDevices *all) {
    bool lost = false;
    for (CudaDevice *device = all->first, *next; device; device = next) {
        next = device->next;
        /* A lost context is left to the end of the process: its release may wait for a kernel that never ends. */
        if (*device->faults.lost)
            lost = true;
        else
            device->driver->context_release(device->handle);
        context_free(cx, device, sizeof *device);
    }
    if (all->driver_open && !lost) cuda_driver_close(&all->driver);
    *all = (CudaDevices){0};
}

bool cuda_device_enter(const CudaDevice *device) {
    CudaContext current = NULL;
    const CudaDriver *d = device->driver;
    if (d->context_current(&current) == 0 && current == device->context) return false;
    return d->context_push(device->context) == 0;
}

void cuda_device_leave(const CudaDevice *device, bool entered) {
    CudaContext old;
    if (entered) device->driver->context_pop(&old);
}

tw_status cuda_device_fail(tw_context *cx, CudaDevice *device, tw_status status, CudaResult result, const char *what) {
    return cuda_fault_report(cx, &device->faults, device->driver, status, result, what);
}
