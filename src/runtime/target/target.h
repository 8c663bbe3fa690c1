/* SPDX-License-Identifier: Apache-2.0 */
/* target.h: what a target is to the runtime. Targets are rows of one table (target.c); the rest
 * of the runtime knows no target by name.
 *
 * A compile calls, in this order: machine (which Machine the passes work for), emit (IR ->
 * artifacts; needs no tool and no device), build (artifacts -> something that runs, through the
 * cache). A launch calls launch. All of them run below the API's frame. */
#ifndef RUNTIME_TARGET_TARGET_H
#define RUNTIME_TARGET_TARGET_H
#include "runtime/runtime.h"

/* One launch: the words of all parameters (a scalar's bits, an address, or base, extents and
 * strides of a tensor) are in frame->slots; targets without launches_beside find them in kernel->slots. */
typedef struct LaunchCall {
    int64_t grid[3]; /* no extent is 0 */
    tw_stream *stream;
    const struct Frame *frame;
    Seat *seat;              /* of the thread that runs it */
    int64_t first, programs; /* which of the grid's run */
    int threads;             /* at most; 0: any number */
    int timeout_ms;          /* 0: none */
    void (*parallel)(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work); /* may be NULL */
    void *parallel_user;
} LaunchCall;

/* Memory that is not the host's, on one of the target's devices. */
typedef struct TargetMemory {
    tw_status (*alloc)(const Target *target, tw_context *cx, int device, size_t size, void **out);
    void (*free)(const Target *target, tw_context *cx, int device, void *data);
    tw_status (*read)(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size);
    tw_status (*write)(const Target *target, tw_context *cx, int device, void *to, const void *from, size_t size);
    /* The device that an address belongs to; -1: none. */
    tw_status (*home)(const Target *target, tw_context *cx, const void *address, int32_t *device);
} TargetMemory;

struct Target {
    const char *name, *about;
    const struct GpuVendor *vendor; /* whose devices it runs on (runtime/device/gpu.h); NULL: the host */
    /* The machine of an architecture (NULL: the default one); NULL with a message when there is none. */
    const Machine *(*machine)(tw_context *cx, const char *arch);
    /* The architecture of a device that is here; NULL: there is none, or the target has no such. */
    const char *(*native)(const Target *target, tw_context *cx, int device);
    bool source_form;                 /* runs what the door made; passes only when asked for */
    bool (*emit)(tw_kernel *k);       /* false after errors in k->diag; NULL: nothing to emit */
    void (*draw)(const tw_kernel *k, Text *page); /* pictures that only it has, of an emitted kernel; NULL */
    tw_status (*build)(tw_kernel *k); /* NULL: nothing to build */
    /* Its assembler text, as an artifact whose name ends in assembly_ending; NULL: none. */
    tw_status (*assemble)(tw_kernel *k, const char *name);
    const char *assembly_ending; /* ".ptx" */
    bool runs_assembly;          /* of kernels that are written with some */
    bool runs_externs;           /* of kernels that bring functions in its own language */
    bool externs_in_c;           /* which is C, and not CUDA */
    bool runs_together;          /* all programs of a launch, where that is asked for */
    tw_status (*launch)(tw_kernel *k, const LaunchCall *call);
    /* How many of the launch's tasks should be one, in a variant of the kernel (pass/join.h); false: none. Or NULL. */
    bool (*join)(tw_kernel *k, const int64_t grid[3], JoinSize *size);
    bool launches_beside; /* launch may run on many threads at once, without the context's lock */
    /* NULL: launches are done when they return */
    tw_status (*synchronize)(const Target *target, tw_context *cx, tw_stream *stream);
    /* How many launches of the stream have not ended; 1: some. NULL: there are none. */
    tw_status (*query)(const Target *target, tw_context *cx, tw_stream *stream, int64_t *pending);
    void (*destroy)(tw_kernel *k); /* frees k->code; NULL: nothing outside the arena */
    /* Can it run here? The note says by what, or what is missing and how to get it. */
    bool (*available)(const Target *target, tw_context *cx, Arena *arena, const char **note);
    const TargetMemory *memory; /* NULL: host memory */
    void (*sequence)(tw_kernel *k); /* all launches of a kernel of several have been emitted: what they are together */
    void (*shutdown)(const Target *target, tw_context *cx); /* the context goes; NULL */
    const char *emulated; /* name of the row that runs its text on the host; NULL: none */
};

const Target *target_at(int index); /* NULL past the last */
/* The row for "name" or "name:arch" (the part behind the colon to *arch); NULL. */
const Target *target_find(const char *name, const char **arch);
int target_index(const Target *target);
void target_names(Text *t); /* "cpu, interp, .." */

extern const Target target_cpu, target_cuda, target_emulated, target_hip, target_hip_emulated, target_interp,
    target_tenstorrent;

/* target_cuda.c: `assemble` of the emulator's kernels too, whose text is the same. */
tw_status cuda_assemble(tw_kernel *k, const char *artifact);
/* A cubin, or PTX, for the machine that the kernel was compiled for, which need not be here; in the kernel's arena, and
 * closed by a NUL. */
tw_status cuda_image(tw_kernel *k, bool ptx, const char **image, size_t *size);
/* target_hip.c: a code object for it, in the same way; there is no `assembly`. */
tw_status hip_image(tw_kernel *k, bool assembly, const char **image, size_t *size);
#endif
