/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_launch.c: what runs on a device, and its memory: launches, waits, copies, and whether there is one here. */
#include "runtime/device/gpu.h"

#include <stdlib.h>

GpuState *gpu_state(tw_context *cx, const GpuVendor *vendor) {
    void **slot = &cx->target_state[target_index(target_find(vendor->target, NULL))];
    GpuState *state = *slot;
    if (state) return state;
    state = *slot = context_alloc(cx, sizeof(GpuState));
    state->vendor = vendor;
    state->devices.names = &vendor->driver;
    return state;
}

static tw_status need_device(const Target *target, tw_context *cx, int ordinal, GpuDevice **out) {
    return gpu_device_need(cx, &gpu_state(cx, target->vendor)->devices, ordinal, out);
}

const char *gpu_native(const Target *target, tw_context *cx, int ordinal) {
    char why[GPU_WHY];
    const GpuDevice *device = gpu_device_open(cx, &gpu_state(cx, target->vendor)->devices, ordinal, why);
    const Machine *machine = device ? gpu_device_machine(device, target->vendor->target) : NULL;
    return machine ? machine->arch : NULL;
}

/* --- launching --- */
/* What the caller's stream can be wrong in. */
static const char *stream_fault(const LaunchCall *call, GpuResult result) {
    bool handle = result == GPU_ERROR_INVALID_HANDLE || result == GPU_ERROR_CONTEXT;
    return call->stream && call->stream->native && handle ? " (the stream must be one of that device's primary context)"
                                                          : "";
}

static tw_status launch_fail(tw_kernel *k, const LaunchCall *call, const unsigned grid[3], GpuResult result) {
    tw_context *cx = k->context;
    const SimtCode *code = k->code;
    const char *resources = result == GPU_ERROR_RESOURCES
                                ? arena_printf(context_texts(cx),
                                               " (%d threads of %d registers, %d bytes of shared memory; a block has "
                                               "%d registers and %d bytes; fewer warps or smaller tiles need less)",
                                               k->resources.threads, k->resources.registers, k->resources.shared_bytes,
                                               k->pass.machine->registers, code->device->shared_bytes)
                                : "";
    return gpu_device_fail(cx, code->device, TW_ERROR_LAUNCH, result,
                           arena_printf(context_texts(cx), "launch of kernel `%s` on %u x %u x %u blocks%s%s", k->name,
                                        grid[0], grid[1], grid[2], stream_fault(call, result), resources));
}

static tw_status check_grid(tw_kernel *k, const LaunchCall *call, const unsigned grid[3]) {
    const SimtPlan *plan = ((const SimtCode *)k->code)->simt_plan;
    const GpuVendor *vendor = k->target->vendor;
    const int64_t *given = call->grid;
    if (!plan->persist && (grid[1] > SIMT_LATER_BLOCKS || grid[2] > SIMT_LATER_BLOCKS))
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "the grid of kernel `%s` is %lld x %lld x %lld; %s allows %d in the second and "
                            "third extent" FIX "put the large one first",
                            k->name, (long long)given[0], (long long)given[1], (long long)given[2],
                            vendor->driver.title, SIMT_LATER_BLOCKS);
    if (vendor->most_threads && (int64_t)grid[0] * plan->threads > vendor->most_threads)
        return context_fail(k->context, TW_ERROR_ARGUMENT,
                            "the grid of kernel `%s` is %lld x %lld x %lld, of %d threads each; %s allows %lld threads "
                            "along an extent" FIX "use larger tiles, or two extents",
                            k->name, (long long)given[0], (long long)given[1], (long long)given[2], plan->threads,
                            vendor->driver.title, (long long)vendor->most_threads);
    return TW_OK;
}

static GpuResult run_plainly(const SimtCode *code, const GpuLaunch *l, void *stream) {
    const SimtPlan *plan = code->simt_plan;
    return code->device->driver->launch(code->function, l->grid[0], l->grid[1], l->grid[2], (unsigned)plan->threads, 1,
                                        1, (unsigned)plan->shared_bytes, stream, code->params, NULL);
}

tw_status gpu_launch(tw_kernel *k, const LaunchCall *call) {
    tw_context *cx = k->context;
    SimtCode *code = k->code;
    const GpuVendor *vendor = k->target->vendor;
    GpuDevice *device = code->device;
    GpuFaults *faults = &device->faults;
    if (*faults->lost)
        return gpu_fault_check(cx, faults, arena_printf(context_texts(cx), "launch of kernel `%s`", k->name));
    GpuLaunch launch = {.cluster = 1};
    simt_code_blocks(code, call->grid, launch.grid);
    tw_status status = check_grid(k, call, launch.grid);
    if (status != TW_OK) return status;
    int before = gpu_device_enter(device); /* CUDA's driver encodes tensor maps only under a context */
    simt_code_refresh(code, call);
    if (vendor->ready) status = vendor->ready(k, call, &launch);
    GpuResult result = 0;
    void *stream = call->stream ? call->stream->native : NULL;
    if (status == TW_OK) result = vendor->run ? vendor->run(k, &launch, stream) : run_plainly(code, &launch, stream);
    gpu_device_leave(device, before);
    /* A launch that fails for what was launched before it is no suspect itself. */
    bool alone = faults->blocking || faults->launches == faults->ended;
    if (status == TW_OK && (result == 0 || alone)) gpu_fault_note(faults, code->label, launch.grid);
    return result == 0 ? status : launch_fail(k, call, launch.grid, result);
}

static tw_status wait_for(tw_context *cx, GpuDevice *device, void *stream, bool all) {
    tw_status status = gpu_fault_check(cx, &device->faults, "nothing runs on the GPU any more");
    if (status != TW_OK) return status;
    int before = gpu_device_enter(device);
    GpuResult result = gpu_fault_wait(&device->faults, device->driver, stream, all);
    gpu_device_leave(device, before);
    return result == 0 ? TW_OK : gpu_device_fail(cx, device, TW_ERROR_LAUNCH, result, "waiting for the GPU");
}

/* A stream of the caller, of whichever device it is; else all devices that are in use. */
tw_status gpu_synchronize(const Target *target, tw_context *cx, tw_stream *stream) {
    GpuDevice *device = gpu_state(cx, target->vendor)->devices.first;
    tw_status status = device ? TW_OK : need_device(target, cx, 0, &device);
    bool wrapped = stream && stream->wrapped;
    if (status == TW_OK && wrapped && stream->native) return wait_for(cx, device, stream->native, false);
    for (; device && status == TW_OK; device = device->next) status = wait_for(cx, device, NULL, !wrapped);
    return status;
}

tw_status gpu_query(const Target *target, tw_context *cx, tw_stream *stream, int64_t *pending) {
    for (GpuDevice *device = gpu_state(cx, target->vendor)->devices.first; device; device = device->next) {
        tw_status status = gpu_fault_check(cx, &device->faults, "nothing runs on the GPU any more");
        if (status != TW_OK) return status;
        int before = gpu_device_enter(device);
        GpuResult result = device->driver->stream_query(stream->native);
        gpu_device_leave(device, before);
        if (result == GPU_ERROR_NOT_READY) *pending = 1;
        if (result != 0 && result != GPU_ERROR_NOT_READY)
            return gpu_device_fail(cx, device, TW_ERROR_LAUNCH, result, "asking for the GPU's launches");
        if (stream->wrapped && stream->native) break; /* whichever device it is of */
    }
    return TW_OK;
}

/* --- memory --- */
tw_status gpu_alloc(const Target *target, tw_context *cx, int ordinal, size_t size, void **out) {
    GpuDevice *device;
    tw_status status = need_device(target, cx, ordinal, &device);
    if (status != TW_OK) return status;
    const GpuDriver *d = device->driver;
    GpuAddress address = 0;
    int before = gpu_device_enter(device);
    GpuResult result = d->alloc(&address, size);
    if (result == 0) result = d->set_bytes(address, 0, size);
    if (result != 0 && address) d->free(address);
    size_t left = 0, all = 0;
    if (result == GPU_ERROR_OUT_OF_MEMORY) d->memory_info(&left, &all);
    gpu_device_leave(device, before);
    if (result == GPU_ERROR_OUT_OF_MEMORY)
        return context_fail(cx, TW_ERROR_MEMORY,
                            "%s has no room for %zu bytes: %zu of its %zu are free" FIX "destroy "
                            "buffers, or end other processes that use it",
                            device->faults.gpu, size, left, device->memory_bytes);
    if (result != 0) return gpu_device_fail(cx, device, TW_ERROR_UNAVAILABLE, result, "memory of the GPU");
    *out = (void *)(uintptr_t)address;
    return TW_OK;
}

void gpu_free(const Target *target, tw_context *cx, int ordinal, void *data) {
    char why[GPU_WHY];
    GpuDevice *device = gpu_device_open(cx, &gpu_state(cx, target->vendor)->devices, ordinal, why);
    if (!device || *device->faults.lost) return; /* it would wait for what never ends */
    int before = gpu_device_enter(device);
    device->driver->free((GpuAddress)(uintptr_t)data);
    gpu_device_leave(device, before);
}

static tw_status copy(const Target *target, tw_context *cx, int ordinal, void *to, const void *from, size_t size,
                      bool out) {
    GpuDevice *device;
    tw_status status = need_device(target, cx, ordinal, &device);
    if (status != TW_OK || !size) return status;
    const GpuDriver *d = device->driver;
    int before = gpu_device_enter(device);
    GpuResult result = device->faults.limit > 0 ? gpu_fault_wait(&device->faults, d, NULL, false) : 0;
    if (result == 0)
        result = out ? d->copy_out(to, (GpuAddress)(uintptr_t)from, size)
                     : d->copy_in((GpuAddress)(uintptr_t)to, from, size);
    gpu_device_leave(device, before);
    return result == 0 ? TW_OK
                       : gpu_device_fail(cx, device, TW_ERROR_LAUNCH, result,
                                         out ? "reading a buffer of the GPU" : "writing a buffer of the GPU");
}
tw_status gpu_read(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size) {
    return copy(target, cx, device, to, from, size, true);
}
tw_status gpu_write(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size) {
    return copy(target, cx, device, to, from, size, false);
}

tw_status gpu_home(const Target *target, tw_context *cx, const void *address, int32_t *device) {
    GpuDevice *any;
    tw_status status = need_device(target, cx, 0, &any);
    if (status != TW_OK) return status;
    GpuResult result = any->driver->pointer_attribute(device, GPU_POINTER_ORDINAL, (GpuAddress)(uintptr_t)address);
    if (result != 0) *device = -1;
    return TW_OK;
}

/* --- is there one? --- */
static const char *name_compiler(GpuState *state, Arena *arena, bool *any) {
    const GpuVendor *vendor = state->vendor;
    char why[GPU_WHY], path[CACHE_PATH] = "";
    *any = true;
    if (gpu_rtc_open(state, why))
        return arena_printf(arena, "%s %d.%d (%s)", vendor->rtc.title, state->rtc.major, state->rtc.minor,
                            state->rtc.path);
    if (vendor->find_tool(path, sizeof path))
        return arena_printf(arena, "%s (%s), since %s is not here", vendor->tool, path, vendor->rtc.title);
    *any = false;
    return arena_printf(arena, "%s; %s is not in PATH either", why, vendor->tool);
}

bool gpu_available(const Target *target, tw_context *cx, Arena *arena, const char **note) {
    GpuState *state = gpu_state(cx, target->vendor);
    const GpuDriverNames *names = &target->vendor->driver;
    char no_driver[GPU_WHY];
    bool any = false;
    const GpuDevice *d = gpu_device_open(cx, &state->devices, 0, no_driver);
    const char *by = name_compiler(state, arena, &any);
    if (!d || !any) {
        *note = d ? by : arena_printf(arena, any ? "%s; a compiler is here: %s" : "%s; %s", no_driver, by);
        return false;
    }
    const GpuDriver *driver = d->driver;
    const char *others = driver->devices > 1 ? arena_printf(arena, ", the first of %d (%s chooses another)",
                                                            driver->devices, names->visible)
                                             : "";
    *note = arena_printf(arena, "%s (%s, %d %s, %zu MiB)%s, driver of %s %d.%d (%s), %s", d->name, d->arch, d->units,
                         names->units, d->memory_bytes >> 20, others, names->title, driver->major, driver->minor,
                         driver->path, by);
    return true;
}

void gpu_shutdown(const Target *target, tw_context *cx) {
    void **slot = &cx->target_state[target_index(target)];
    GpuState *state = *slot;
    if (!state) return;
    gpu_devices_close(cx, &state->devices);
    if (state->rtc_open) rtc_close(&state->rtc);
    free(state->made);
    context_free(cx, state, sizeof *state);
    *slot = NULL;
}
