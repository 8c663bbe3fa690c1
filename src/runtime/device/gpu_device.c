/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_device.c: see gpu_device.h. */
#include "runtime/device/gpu_device.h"

#include <stdio.h>
#include <string.h>

/* hipDeviceProp_t of HIP 6 and later: "gfx942:sramecc+:xnack-" stands in it. */
enum { PROPERTIES_BYTES = 4096, PROPERTIES_ARCH = 1160, PROPERTIES_ARCH_BYTES = 256 };

/* Its architecture: counted, or by name, of which options are cut off. */
static GpuResult read_arch(GpuDevice *device) {
    const GpuDriver *d = device->driver;
    const GpuDriverNames *names = d->names;
    if (d->device_properties) {
        char bytes[PROPERTIES_BYTES] = "", *arch = bytes + PROPERTIES_ARCH;
        GpuResult result = d->device_properties(bytes, device->ordinal);
        arch[PROPERTIES_ARCH_BYTES - 1] = '\0';
        snprintf(device->arch, sizeof device->arch, "%.*s", (int)strcspn(arch, ":"), arch);
        return result;
    }
    int major = 0, minor = 0;
    GpuResult result = d->device_attribute(&major, names->attribute.major, device->handle);
    if (result == 0) result = d->device_attribute(&minor, names->attribute.minor, device->handle);
    device->level = 10 * major + minor;
    snprintf(device->arch, sizeof device->arch, "sm_%d", device->level);
    return result;
}

/* What is asked of a device once. */
static GpuResult read_device(GpuDevice *device) {
    const GpuDriver *d = device->driver;
    const GpuDriverNames *names = d->names;
    GpuResult result = d->device_get(&device->handle, device->ordinal);
    if (result == 0) result = d->device_name(device->name, sizeof device->name, device->handle);
    if (result == 0) result = read_arch(device);
    if (result == 0) result = d->device_attribute(&device->units, names->attribute.units, device->handle);
    if (result == 0) result = d->device_attribute(&device->shared_bytes, names->attribute.shared_bytes, device->handle);
    if (result == 0) result = d->device_memory(&device->memory_bytes, device->handle);
    return result == 0 && d->context_retain ? d->context_retain(&device->context, device->handle) : result;
}

GpuDevice *gpu_device_open(tw_context *cx, GpuDevices *all, int ordinal, char why[GPU_WHY]) {
    for (GpuDevice *device = all->first; device; device = device->next)
        if (device->ordinal == ordinal) return device;
    if (!all->driver_open) all->driver_open = gpu_driver_open(&all->driver, all->names, why, GPU_WHY);
    if (!all->driver_open) return NULL;
    if (ordinal < 0 || ordinal >= all->driver.devices) {
        snprintf(why, GPU_WHY, "there is no %s device %d: the driver finds %d, counted from 0", all->names->title,
                 ordinal, all->driver.devices);
        return NULL;
    }
    GpuDevice *device = context_alloc(cx, sizeof *device);
    *device = (GpuDevice){.driver = &all->driver, .ordinal = ordinal, .next = all->first};
    gpu_fault_begin(&device->faults, &all->driver, ordinal);
    GpuResult result = read_device(device);
    if (result == 0) return all->first = device;
    char text[200];
    gpu_driver_describe(&all->driver, result, text, sizeof text);
    snprintf(why, GPU_WHY, "%s cannot be used: %s", device->faults.gpu, text);
    context_free(cx, device, sizeof *device);
    return NULL;
}

tw_status gpu_device_need(tw_context *cx, GpuDevices *all, int ordinal, GpuDevice **out) {
    char why[GPU_WHY];
    GpuDevice *device = *out = gpu_device_open(cx, all, ordinal, why);
    if (!device) return context_fail(cx, TW_ERROR_UNAVAILABLE, "%s", why);
    return gpu_fault_check(cx, &device->faults, "nothing runs on the GPU any more");
}

void gpu_devices_close(tw_context *cx, GpuDevices *all) {
    bool lost = false;
    for (GpuDevice *device = all->first, *next; device; device = next) {
        next = device->next;
        /* A lost context is left to the end of the process: its release may wait for a kernel that never ends. */
        if (*device->faults.lost)
            lost = true;
        else if (device->context)
            device->driver->context_release(device->handle);
        context_free(cx, device, sizeof *device);
    }
    if (all->driver_open && !lost) gpu_driver_close(&all->driver);
    *all = (GpuDevices){.names = all->names};
}

int gpu_device_enter(const GpuDevice *device) {
    const GpuDriver *d = device->driver;
    GpuContext current = NULL;
    int now = GPU_STAYED;
    if (d->device_use) {
        bool there = d->device_now(&now) == 0 && now == device->ordinal;
        return there || d->device_use(device->ordinal) != 0 ? GPU_STAYED : now;
    }
    if (d->context_current(&current) == 0 && current == device->context) return GPU_STAYED;
    return d->context_push(device->context) == 0 ? 0 : GPU_STAYED;
}

void gpu_device_leave(const GpuDevice *device, int before) {
    GpuContext old;
    if (before == GPU_STAYED) return;
    if (device->driver->device_use)
        device->driver->device_use(before);
    else
        device->driver->context_pop(&old);
}

const Machine *gpu_device_machine(const GpuDevice *device, const char *target) {
    return device->level ? machine_of_level(target, device->level) : machine_of_arch(target, device->arch);
}

bool gpu_device_runs(const GpuDevice *device, const Machine *machine) {
    return device->level ? machine_runs_on(machine, device->level) : strcmp(machine->arch, device->arch) == 0;
}

tw_status gpu_device_fail(tw_context *cx, GpuDevice *device, tw_status status, GpuResult result, const char *what) {
    return gpu_fault_report(cx, &device->faults, device->driver, status, result, what);
}
