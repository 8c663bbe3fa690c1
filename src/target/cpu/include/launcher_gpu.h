/* SPDX-License-Identifier: Apache-2.0 */
/* launcher_gpu.h: what the entry of a kernel that was built ahead of time for GPUs launches it with: NVIDIA's, or with
 * BUILT_HIP AMD's. The driver is opened when the first launch wants it. All of it is static code of that entry.
 *
 * A launch runs in the context that is the calling thread's current one (CUDA's runtime, torch and others make the
 * primary one that), of HIP on the thread's current device. A module is loaded when a context first needs it and stays
 * as long as that: what was found out is kept in lists which only grow, so that a launch that finds it takes no lock. */
#define _GNU_SOURCE
#include "cpu.h"

#include "base/scalar_ops.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"

enum { BUILT_MAP_RANK = 5 }; /* at most */
typedef struct BuiltMap { /* CUtensorMap */
    _Alignas(64) u64 opaque[16];
} BuiltMap;

typedef struct BuiltAttribute { /* CUlaunchAttribute */
    _Alignas(8) i32 id;
    i32 padding;
    u32 value[16];
} BuiltAttribute;

typedef struct BuiltConfig { /* CUlaunchConfig */
    u32 grid[3], block[3], shared;
    void *stream;
    BuiltAttribute *attributes;
    u32 count;
} BuiltConfig;

/* Numbers of the driver's ABI. */
enum {
    CUDA_LEVEL_MAJOR = 75,
    CUDA_LEVEL_MINOR = 76,
    CUDA_UNITS = 16,
    CUDA_BLOCK_BYTES = 97, /* of shared memory, opt-in */
    CUDA_FUNCTION_BYTES = 8,
    CUDA_COOPERATIVE = 2,
    CUDA_CLUSTER = 4,
    CUDA_PROMOTE_256 = 3,
    CUDA_NO_CONTEXT = 201,
    CUDA_NO_BINARY = 209,
    /* HIP's own */
    HIP_UNITS = 63,
    HIP_BLOCK_BYTES = 74,
    HIP_PROPERTIES_BYTES = 4096,
    HIP_PROPERTIES_ARCH = 1160, /* "gfx942:sramecc+:xnack-", in hipDeviceProp_t of HIP 6 and later */
    HIP_ARCH_BYTES = 32
};

/* X(name, symbol, parameters): functions of the driver; all return a CUresult, or a hipError_t. */
#ifdef BUILT_HIP
#define BUILT_LIBRARIES "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "/opt/rocm/lib/libamdhip64.so"
#define BUILT_DRIVER(X)                                                                                            \
    X(init, "hipInit", (u32))                                                                                      \
    X(device, "hipGetDevice", (i32 *))                                                                             \
    X(attribute, "hipDeviceGetAttribute", (i32 *, i32, i32))                                                       \
    X(properties, "hipGetDevicePropertiesR0600", (void *, i32))                                                    \
    X(load, "hipModuleLoadData", (void **, const void *))                                                          \
    X(unload, "hipModuleUnload", (void *))                                                                         \
    X(function, "hipModuleGetFunction", (void **, void *, const char *))                                           \
    X(occupancy, "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", (i32 *, void *, i32, size_t))               \
    X(take, "hipMallocAsync", (void **, size_t, void *))                                                           \
    X(give, "hipFreeAsync", (void *, void *))                                                                      \
    X(error_name, "hipDrvGetErrorName", (i32, const char **))                                                      \
    X(launch, "hipModuleLaunchKernel", (void *, u32, u32, u32, u32, u32, u32, u32, void *, void **, void **))
#else
#define BUILT_LIBRARIES "libcuda.so.1"
#define BUILT_DRIVER(X)                                                                                            \
    X(init, "cuInit", (u32))                                                                                       \
    X(context, "cuCtxGetCurrent", (void **))                                                                       \
    X(device, "cuCtxGetDevice", (i32 *))                                                                           \
    X(attribute, "cuDeviceGetAttribute", (i32 *, i32, i32))                                                        \
    X(load, "cuModuleLoadData", (void **, const void *))                                                           \
    X(unload, "cuModuleUnload", (void *))                                                                          \
    X(function, "cuModuleGetFunction", (void **, void *, const char *))                                            \
    X(set, "cuFuncSetAttribute", (void *, i32, i32))                                                               \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (i32 *, void *, i32, size_t))                      \
    X(alloc, "cuMemAlloc_v2", (u64 *, size_t))                                                                     \
    X(free, "cuMemFree_v2", (u64))                                                                                 \
    X(clear, "cuMemsetD8_v2", (u64, u8, size_t))                                                                   \
    X(wait, "cuStreamSynchronize", (void *))                                                                       \
    X(take, "cuMemAllocAsync", (void **, size_t, void *))                                                          \
    X(give, "cuMemFreeAsync", (void *, void *))                                                                    \
    X(encode, "cuTensorMapEncodeTiled",                                                                            \
      (BuiltMap *, i32, u32, void *, const u64 *, const u64 *, const u32 *, const u32 *, i32, i32, i32, i32))      \
    X(error_name, "cuGetErrorName", (i32, const char **))                                                          \
    X(launch, "cuLaunchKernel", (void *, u32, u32, u32, u32, u32, u32, u32, void *, void **, void **))             \
    X(launch_by, "cuLaunchKernelEx", (const BuiltConfig *, void *, void **, void **))
#endif

static struct BuiltDriver {
#define BUILT_FIELD(name, symbol, parameters) i32(*name) parameters;
    BUILT_DRIVER(BUILT_FIELD)
#undef BUILT_FIELD
} built_driver;

typedef struct BuiltGpu { /* of a context; of HIP, of a device, from 1 */
    void *context;
    i32 level, units, shared; /* ten times major plus minor; multiprocessors; bytes of a block */
    char arch[HIP_ARCH_BYTES]; /* of HIP, in place of the level */
    struct BuiltGpu *next;
} BuiltGpu;

typedef struct BuiltLoaded { /* a code in a context */
    const BuiltGpu *gpu;
    void *function;
    i64 blocks;     /* that run at once, of a code whose blocks walk over the programs */
    u64 room;       /* in which blocks make tensor maps, and for how many there is a place */
    i32 places;
    struct BuiltLoaded *next;
} BuiltLoaded;

typedef struct BuiltCode { /* one of the ways in which a kernel was compiled */
    const void *cubin, *ptx; /* for one architecture; for it and later ones, or NULL */
    const char *name;
    i32 level, level_only; /* of the GPUs that run it: from there on, or that one alone */
    i32 threads, shared, persist, cooperative;
    i32 made; /* tensor maps that a block makes */
    const char *arch;
    _Atomic(BuiltLoaded *) loaded;
} BuiltCode;

static pthread_mutex_t built_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(BuiltGpu *) built_gpus;

static i32 built_result(i32 result) { return result ? TW_BUILT_CUDA + result : TW_BUILT_OK; }

/* Under the lock. */
static i32 built_open(void) {
    static i32 open;
    static const char *const names[] = {BUILT_LIBRARIES};
    void *library = NULL;
    if (open) return TW_BUILT_OK;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return TW_BUILT_DRIVER;
    i32 all = 1;
    void *at;
#define BUILT_FIND(name, symbol, parameters)       \
    all &= (at = dlsym(library, symbol)) != NULL;  \
    memcpy(&built_driver.name, &at, sizeof at);
    BUILT_DRIVER(BUILT_FIND)
#undef BUILT_FIND
    if (!all) return dlclose(library), TW_BUILT_DRIVER;
    const i32 status = built_result(built_driver.init(0));
    open = !status;
    return status;
}

#ifdef BUILT_HIP
static i32 built_context(void **out) {
    i32 device = 0;
    const i32 result = built_driver.device(&device);
    *out = result ? NULL : (void *)(uintptr_t)(device + 1);
    return result;
}

static i32 built_ask_gpu(BuiltGpu *gpu) {
    const i32 device = (i32)(uintptr_t)gpu->context - 1;
    char properties[HIP_PROPERTIES_BYTES] = "";
    i32 result = built_driver.properties(properties, device);
    memcpy(gpu->arch, properties + HIP_PROPERTIES_ARCH, HIP_ARCH_BYTES - 1);
    gpu->arch[strcspn(gpu->arch, ":")] = 0;
    if (!result) result = built_driver.attribute(&gpu->units, HIP_UNITS, device);
    return result ? result : built_driver.attribute(&gpu->shared, HIP_BLOCK_BYTES, device);
}

static __attribute__((unused)) i32 built_runs(const BuiltGpu *gpu, const BuiltCode *code) {
    return strcmp(gpu->arch, code->arch) == 0 && code->shared <= gpu->shared;
}
#else
static i32 built_context(void **out) { return built_driver.context(out); }

static i32 built_ask_gpu(BuiltGpu *gpu) {
    i32 device = 0, major = 0, minor = 0, result = built_driver.device(&device);
    if (!result) result = built_driver.attribute(&major, CUDA_LEVEL_MAJOR, device);
    if (!result) result = built_driver.attribute(&minor, CUDA_LEVEL_MINOR, device);
    if (!result) result = built_driver.attribute(&gpu->units, CUDA_UNITS, device);
    gpu->level = 10 * major + minor;
    return result ? result : built_driver.attribute(&gpu->shared, CUDA_BLOCK_BYTES, device);
}

static __attribute__((unused)) i32 built_runs(const BuiltGpu *gpu, const BuiltCode *code) {
    return (code->level_only ? gpu->level == code->level : gpu->level >= code->level) && code->shared <= gpu->shared;
}
#endif

static BuiltGpu *built_find_gpu(void) {
    void *context = NULL;
    if (built_context(&context) || !context) return NULL;
    for (BuiltGpu *gpu = atomic_load_explicit(&built_gpus, memory_order_acquire); gpu; gpu = gpu->next)
        if (gpu->context == context) return gpu;
    return NULL;
}

/* Under the lock. */
static i32 built_add_gpu(BuiltGpu **out) {
    i32 status = built_open();
    if (status || (*out = built_find_gpu())) return status;
    BuiltGpu gpu = {.next = atomic_load(&built_gpus)};
    status = built_result(built_context(&gpu.context));
    if (!status && !gpu.context) status = built_result(CUDA_NO_CONTEXT);
    if (!status) status = built_result(built_ask_gpu(&gpu));
    if (status) return status;
    if (!(*out = malloc(sizeof gpu))) return TW_BUILT_MEMORY;
    **out = gpu;
    atomic_store_explicit(&built_gpus, *out, memory_order_release);
    return TW_BUILT_OK;
}

/* The GPU of the thread's current context. */
static __attribute__((unused)) i32 built_gpu(BuiltGpu **out) {
    i32 status = TW_BUILT_OK;
    *out = atomic_load_explicit(&built_gpus, memory_order_acquire) ? built_find_gpu() : NULL;
    if (*out) return status;
    pthread_mutex_lock(&built_lock);
    status = built_add_gpu(out);
    pthread_mutex_unlock(&built_lock);
    return status;
}

/* ---- memory between the launches of a kernel, in the order of its stream ---- */

static __attribute__((unused)) i32 built_take_space(char **at, size_t bytes, void *stream) {
    BuiltGpu *gpu;
    void *memory = NULL;
    i32 status = built_gpu(&gpu);
    if (!status) status = built_result(built_driver.take(&memory, bytes, stream));
    *at = memory;
    return status;
}

static __attribute__((unused)) i32 built_give_space(char *at, void *stream) {
    return at ? built_result(built_driver.give(at, stream)) : TW_BUILT_OK;
}

/* ---- loading ---- */

#ifdef BUILT_HIP
static i32 built_prepare(const BuiltCode *code, BuiltLoaded *l) { return (void)code, (void)l, 0; }
static void built_drop_room(const BuiltLoaded *l) { (void)l; }
#else

/* A place for each block that can run at once, whichever launches they are of. */
static i32 built_give_room(const BuiltCode *code, BuiltLoaded *l) {
    enum { SM_THREADS = 2048 }; /* at most, of a multiprocessor of any kind */
    if (!code->made) return 0;
    l->places = l->gpu->units * (SM_THREADS / code->threads);
    const size_t bytes = (size_t)l->places * (size_t)(code->made + 1) * sizeof(BuiltMap);
    i32 result = built_driver.alloc(&l->room, bytes);
    if (!result) result = built_driver.clear(l->room, 0, bytes);
    return result ? result : built_driver.wait(NULL); /* whichever stream a launch comes by */
}

static i32 built_prepare(const BuiltCode *code, BuiltLoaded *l) {
    const i32 result = code->shared > 48 << 10 ? built_driver.set(l->function, CUDA_FUNCTION_BYTES, code->shared) : 0;
    return result ? result : built_give_room(code, l);
}

static void built_drop_room(const BuiltLoaded *l) {
    if (l->room) built_driver.free(l->room);
}
#endif

/* Under the lock. */
static i32 built_load_module(const BuiltCode *code, BuiltLoaded *l) {
    void *module = NULL;
    i32 each = 0, result = built_driver.load(&module, code->cubin);
    if (result == CUDA_NO_BINARY && code->ptx) result = built_driver.load(&module, code->ptx);
    if (result) return built_result(result);
    result = built_driver.function(&l->function, module, code->name);
    if (!result) result = built_prepare(code, l);
    if (!result && code->persist)
        result = built_driver.occupancy(&each, l->function, code->threads, (size_t)code->shared);
    l->blocks = (i64)(each < 1 ? 1 : each) * l->gpu->units;
    if (result) built_drop_room(l), built_driver.unload(module);
    return built_result(result);
}

static BuiltLoaded *built_find_loaded(BuiltCode *code, const BuiltGpu *gpu) {
    BuiltLoaded *l = atomic_load_explicit(&code->loaded, memory_order_acquire);
    while (l && l->gpu != gpu) l = l->next;
    return l;
}

static __attribute__((unused)) i32 built_load(const BuiltGpu *gpu, BuiltCode *code, BuiltLoaded **out) {
    i32 status = TW_BUILT_OK;
    if ((*out = built_find_loaded(code, gpu))) return status;
    pthread_mutex_lock(&built_lock);
    if (!(*out = built_find_loaded(code, gpu))) {
        BuiltLoaded *l = calloc(1, sizeof *l);
        if (l) *l = (BuiltLoaded){.gpu = gpu, .next = atomic_load(&code->loaded)};
        status = l ? built_load_module(code, l) : TW_BUILT_MEMORY;
        if (status)
            free(l);
        else
            atomic_store_explicit(&code->loaded, *out = l, memory_order_release);
    }
    pthread_mutex_unlock(&built_lock);
    return status;
}

/* ---- launch ---- */

#ifndef BUILT_HIP
/* Encoding one takes the driver 0.07 us, and most launches of a thread have the arrays of the one before. */
typedef struct BuiltMade {
    BuiltMap map;
    const BuiltLoaded *by; /* NULL: there is none yet */
    u64 base, dims[BUILT_MAP_RANK], strides[BUILT_MAP_RANK];
} BuiltMade;

/* Contiguous dimension first; strides in bytes, from the second one on. Extents above 2^31 the driver encodes, and the
 * chip traps on. Type, box and swizzle are the same at each call for one map. */
static __attribute__((unused)) i32 built_map(BuiltMade *made, const BuiltLoaded *by, i32 type, i32 rank, u64 base,
                                             const u64 *dims, const u64 *strides, const u32 *box, i32 swizzle) {
    static const u32 steps[BUILT_MAP_RANK] = {1, 1, 1, 1, 1};
    const size_t bytes = (size_t)rank * sizeof *dims, less = bytes - sizeof *dims;
    if (made->by == by && made->base == base && !memcmp(made->dims, dims, bytes) && !memcmp(made->strides, strides, less))
        return TW_BUILT_OK;
    made->by = NULL;
    for (i32 d = 0; d < rank; d++)
        if (dims[d] > (u64)1 << 31) return TW_BUILT_EXTENT;
    const i32 result = built_driver.encode(&made->map, type, (u32)rank, (void *)(uintptr_t)base, dims, strides, box, steps, 0,
                                           swizzle, CUDA_PROMOTE_256, 0);
    if (result) return built_result(result);
    made->by = by, made->base = base;
    memcpy(made->dims, dims, bytes);
    memcpy(made->strides, strides, less);
    return TW_BUILT_OK;
}
#endif

/* `swept`: the axis that changes places with the first; 0: none. `cluster`: blocks of one; 1: none. */
static __attribute__((unused)) i32 built_launch(const BuiltCode *code, const BuiltLoaded *l, const i64 *grid, i32 swept,
                                                i32 cluster, void **params, void *stream) {
    enum { LATER_BLOCKS = 65535 };
    i64 blocks[3] = {grid[0], grid[1], grid[2]};
    if (swept) blocks[0] = grid[swept], blocks[swept] = grid[0];
    if (code->persist) { /* as many as run at once, in whole clusters, walk over the programs */
        const i64 programs = grid[0] * grid[1] * grid[2], most = l->blocks / cluster;
        blocks[0] = (programs < most ? programs : most) * cluster;
        blocks[1] = blocks[2] = 1;
    }
    if (blocks[1] > LATER_BLOCKS || blocks[2] > LATER_BLOCKS) return TW_BUILT_GRID;
    const u32 x = (u32)blocks[0], y = (u32)blocks[1], z = (u32)blocks[2], threads = (u32)code->threads;
#ifdef BUILT_HIP
    if (blocks[0] * code->threads > UINT32_MAX) return TW_BUILT_GRID; /* threads along an axis */
#else
    if (cluster != 1 || code->cooperative) {
        BuiltAttribute attributes[2] = {{0}};
        BuiltConfig config = {{x, y, z}, {threads, 1, 1}, (u32)code->shared, stream, attributes, 0};
        if (cluster != 1) attributes[config.count++] = (BuiltAttribute){CUDA_CLUSTER, 0, {(u32)cluster, 1, 1}};
        if (code->cooperative) attributes[config.count++] = (BuiltAttribute){CUDA_COOPERATIVE, 0, {1}};
        return built_result(built_driver.launch_by(&config, l->function, params, NULL));
    }
#endif
    return built_result(built_driver.launch(l->function, x, y, z, threads, 1, 1, (u32)code->shared, stream, params, NULL));
}

/* The driver's own name of it. */
static const char *built_gpu_error(i32 result) {
    const char *name = NULL;
    pthread_mutex_lock(&built_lock);
    const i32 open = built_open();
    pthread_mutex_unlock(&built_lock);
    return !open && !built_driver.error_name(result, &name) && name ? name : "a call of the GPU's driver failed";
}
