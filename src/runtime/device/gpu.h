/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h: targets whose kernels run on a vendor's GPU. What differs between vendors is a GpuVendor: names, compilers,
 * and what only its machines have; devices, compiling, the cache, modules, launches, streams, waits and memory are one
 * for all (gpu_build.c, gpu_launch.c), and a row of the table of targets is made of them:
 *
 *     const Target target_hip = {.name = "hip", .vendor = &vendor_hip, .build = gpu_build, .launch = gpu_launch, ..};
 *
 * Driver and compiler are opened at run time, when a kernel is first built; without them emission still works and
 * everything else says what is missing. A kernel and a buffer belong to one device. k->code is a SimtCode. */
#ifndef RUNTIME_DEVICE_GPU_H
#define RUNTIME_DEVICE_GPU_H
#include "runtime/compile/cache.h"
#include "runtime/device/gpu_device.h"
#include "runtime/device/rtc.h"
#include "runtime/device/simt_code.h"

enum { GPU_OPTIONS = 16 };

/* One launch on a device: what is common, and what a vendor adds. */
typedef struct GpuLaunch {
    unsigned grid[3];
    unsigned cluster; /* blocks of one; 1: none */
    bool early;       /* it may begin before the launch before it ends */
} GpuLaunch;

typedef struct GpuVendor {
    const char *target; /* the row of the table of targets */
    GpuDriverNames driver;
    RtcKind rtc;
    const char *source_ending, *code_ending; /* ".cu", ".cubin" */
    /* Flags of the run-time compiler, for an architecture; `text` is room for one that is made. */
    int (*options)(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]);
    /* A compiler in PATH that does where there is none at run time: what it is called, how it is found, whether it
     * hands paths on through a shell, and its words before `-o CODE SOURCE`. */
    const char *tool;
    bool (*find_tool)(char *path, size_t capacity);
    bool tool_has_shell;
    int (*tool_options)(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]);
    const char *needed;  /* "a GPU of sm_80 or later is needed" */
    const char *smaller; /* how to get by with less shared memory, beside smaller tiles; "" */
    int64_t most_threads; /* of a launch along an axis; 0: no more than its blocks allow */
    /* What its machines have of their own; NULL: nothing. */
    tw_status (*prepare)(tw_kernel *k); /* code->params; NULL: by simt_code_params alone */
    GpuResult (*loaded)(tw_kernel *k);  /* the module is there */
    void (*unload)(tw_kernel *k);
    tw_status (*ready)(tw_kernel *k, const LaunchCall *call, GpuLaunch *launch); /* under its context */
    GpuResult (*run)(tw_kernel *k, const GpuLaunch *launch, void *stream);
} GpuVendor;

typedef struct GpuState { /* of a context, by vendor */
    const GpuVendor *vendor;
    GpuDevices devices;
    Rtc rtc;
    bool rtc_open;
    void *made;               /* code on its way into an arena, which may have no memory left */
    char prelude[DIGEST_HEX]; /* of the headers' texts; computed once: they are most of a key */
} GpuState;

GpuState *gpu_state(tw_context *cx, const GpuVendor *vendor);
bool gpu_rtc_open(GpuState *state, char why[GPU_WHY]); /* where that has not been done */

/* --- what rows are made of: gpu_build.c --- */
tw_status gpu_build(tw_kernel *k);
void gpu_destroy(tw_kernel *k);
/* Text -> code, or PTX (`ptx`), malloc'ed. The log of a compiler that refuses goes into the message. */
tw_status gpu_compile(tw_kernel *k, GpuState *state, const char *arch, bool ptx, void **made, size_t *size);
/* Code for an architecture that need not be here, or PTX, in the kernel's arena and closed by a NUL. */
tw_status gpu_image(tw_kernel *k, const GpuVendor *vendor, const char *arch, bool ptx, const char **image,
                    size_t *size);
/* --- gpu_launch.c --- */
const char *gpu_native(const Target *target, tw_context *cx, int ordinal);
bool gpu_available(const Target *target, tw_context *cx, Arena *arena, const char **note);
void gpu_shutdown(const Target *target, tw_context *cx);
tw_status gpu_launch(tw_kernel *k, const LaunchCall *call);
tw_status gpu_synchronize(const Target *target, tw_context *cx, tw_stream *stream);
tw_status gpu_query(const Target *target, tw_context *cx, tw_stream *stream, int64_t *pending);
tw_status gpu_alloc(const Target *target, tw_context *cx, int device, size_t size, void **out);
void gpu_free(const Target *target, tw_context *cx, int device, void *data);
tw_status gpu_read(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size);
tw_status gpu_write(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size);
tw_status gpu_home(const Target *target, tw_context *cx, const void *address, int32_t *device);
#define GPU_MEMORY {gpu_alloc, gpu_free, gpu_read, gpu_write, gpu_home}
#endif
