/* SPDX-License-Identifier: Apache-2.0 */
/* target_cuda.c: the CUDA target: emitted .cu, NVRTC (else nvcc) to a cubin kept in the cache, the driver API: what
 * NVIDIA's GPUs have of their own. The rest is runtime/device/gpu.h's. */
#include "runtime/device/cuda_code.h"
#include "runtime/device/gpu.h"
#include "runtime/host/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Numbers of the driver's ABI. */
enum {
    CUDA_LAUNCH_COOPERATIVE = 2,
    CUDA_LAUNCH_CLUSTER = 4,
    CUDA_LAUNCH_EARLY = 6, /* programmatic stream serialization */
    CUDA_MAP_PROMOTE_256 = 3
};

/* --- compiling --- */
static bool find_nvcc(char *path, size_t capacity) {
    const char *home = getenv("CUDA_HOME");
    struct stat info;
    if (process_find("nvcc", path, capacity)) return true;
    if (home && snprintf(path, capacity, "%s/bin/nvcc", home) > 0 && stat(path, &info) == 0) return true;
    return snprintf(path, capacity, "/usr/local/cuda/bin/nvcc") > 0 && stat(path, &info) == 0;
}

static int nvrtc_options(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]) {
    int count = 0;
    snprintf(text, 64, "--gpu-architecture=%s", arch);
    options[count++] = text;
    options[count++] = "--std=c++17";
    options[count++] = "--fmad=false";
    if (k->pass.options.lines) options[count++] = "--generate-line-info";
    return count;
}

static int nvcc_options(const tw_kernel *k, const char *arch, char text[64], const char *options[GPU_OPTIONS]) {
    int count = 0;
    snprintf(text, 64, "-arch=%s", arch);
    options[count++] = text;
    options[count++] = "-std=c++17";
    options[count++] = "--fmad=false";
    options[count++] = "-cubin";
    if (k->pass.options.lines) options[count++] = "-lineinfo";
    return count;
}

/* --- loading --- */
/* Where blocks make tensor maps: a place for each that can run at once, whichever launches they are of. */
static GpuResult give_room(tw_kernel *k) {
    enum { SM_THREADS = 2048 }; /* at most, of a multiprocessor of any kind */
    CudaCode *code = k->code;
    const GpuDriver *d = code->device->driver;
    size_t bytes = cuda_code_place_bytes(code);
    if (!bytes) return 0;
    GpuAddress address = 0;
    code->places = code->device->units * (SM_THREADS / code->plan->threads);
    bytes *= (size_t)code->places;
    GpuResult result = d->alloc(&address, bytes);
    if (result == 0) result = d->set_bytes(address, 0, bytes);
    if (result == 0) result = d->stream_synchronize(NULL); /* whichever stream a launch comes by */
    code->room = (void *)(uintptr_t)address;
    return result;
}

static void free_room(tw_kernel *k) {
    const CudaCode *code = k->code;
    if (code->room) code->device->driver->free((GpuAddress)(uintptr_t)code->room);
}

/* --- launching --- */
static const char *encode(void *user, CudaMapBytes *map, const CudaMapValue *value) {
    const GpuDevice *device = user;
    static const uint32_t steps[CUDA_MAX_RANK] = {1, 1, 1, 1, 1};
    GpuResult result =
        device->driver->encode_map(map, cuda_map_type(value->elem), (uint32_t)value->rank,
                                   (void *)(uintptr_t)value->base, value->dims, value->strides, value->box, steps, 0,
                                   cuda_map_swizzle(value->swizzle), CUDA_MAP_PROMOTE_256, 0);
    return result == 0 ? NULL : "the driver refuses it (base, extents or strides)";
}

/* As many blocks as run at once, in whole clusters, walk over the programs. */
static void fit_grid(const CudaCode *code, int64_t programs, GpuLaunch *launch) {
    int blocks = cuda_code_cluster(code, code->device->units);
    int64_t most = code->blocks / blocks, useful = programs < most ? programs : most;
    launch->cluster = (unsigned)blocks;
    launch->grid[0] = (unsigned)useful * launch->cluster;
    launch->grid[1] = launch->grid[2] = 1;
}

static tw_status ready(tw_kernel *k, const LaunchCall *call, GpuLaunch *launch) {
    CudaCode *code = k->code;
    tw_status status = cuda_code_refresh(k, call, encode, code->device);
    if (code->plan->persist) fit_grid(code, call->grid[0] * call->grid[1] * call->grid[2], launch);
    launch->early = k->launch_pdl && code->plan->waits && code->device->level >= 90;
    return status;
}

static GpuResult run(tw_kernel *k, const GpuLaunch *launch, void *stream) {
    const CudaCode *code = k->code;
    const GpuDriver *driver = code->device->driver;
    const unsigned *grid = launch->grid, threads = (unsigned)code->plan->threads;
    unsigned bytes = (unsigned)code->plan->shared_bytes;
    if (launch->cluster == 1 && !launch->early && !k->cooperative)
        return driver->launch(code->function, grid[0], grid[1], grid[2], threads, 1, 1, bytes, stream, code->params,
                              NULL);
    CudaLaunchAttribute attributes[3] = {0};
    unsigned count = 0;
    if (launch->cluster != 1)
        attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_CLUSTER, .value = {launch->cluster, 1, 1}};
    if (launch->early) attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_EARLY, .value = {1}};
    if (k->cooperative) attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_COOPERATIVE, .value = {1}};
    CudaLaunchConfig config = {.grid = {grid[0], grid[1], grid[2]},
                               .block = {threads, 1, 1},
                               .shared_bytes = bytes,
                               .stream = stream,
                               .attributes = attributes,
                               .attribute_count = count};
    return driver->launch_by(&config, code->function, code->params, NULL);
}

/* --- the rows --- */
static const GpuVendor vendor_cuda = {
    .target = "cuda",
    .driver = {.title = "CUDA",
               .library = "libcuda.so.1",
               .more = {"libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1"},
               .absent = "install NVIDIA's driver",
               .least = "CUDA 12.0 or later",
               .blocking = "CUDA_LAUNCH_BLOCKING",
               .visible = "CUDA_VISIBLE_DEVICES",
               .units = "SMs",
               .major = 1000,
               .minor = 10,
               .attribute = {.major = 75, .minor = 76, .units = 16, .shared_bytes = 97 /* of a block, opt-in */}},
    .rtc = {.title = "NVRTC",
            .variable = "TILEWRIGHT_NVRTC",
            .library = "libnvrtc.so",
            .names = {"libnvrtc.so.13", "libnvrtc.so.12"},
            .roots = {"CUDA_HOME", "CUDA_PATH"},
            .folders = {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/opt/cuda/lib64"},
            .packages = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
            .absent = "install CUDA's, or `pip install nvidia-cuda-nvrtc` and set TILEWRIGHT_NVRTC to its folder",
            .least = "NVRTC of CUDA 12 or later"},
    .source_ending = ".cu",
    .code_ending = ".cubin",
    .options = nvrtc_options,
    .tool = "nvcc",
    .find_tool = find_nvcc,
    .tool_has_shell = true,
    .tool_options = nvcc_options,
    .needed = "a GPU of sm_80 or later is needed",
    .smaller = ", or compile for a smaller machine (sm_89)",
    .prepare = cuda_code_prepare,
    .loaded = give_room,
    .unload = free_room,
    .ready = ready,
    .run = run,
};

tw_status cuda_image(tw_kernel *k, bool ptx, const char **image, size_t *size) {
    const Machine *machine = k->pass.machine;
    return gpu_image(k, &vendor_cuda, ptx ? machine->assembly_arch : machine->arch, ptx, image, size);
}

tw_status cuda_assemble(tw_kernel *k, const char *artifact) {
    const char *text;
    size_t size;
    tw_status status = cuda_image(k, true, &text, &size);
    if (status == TW_OK) kernel_add_artifact(k, artifact, text);
    return status;
}

static const TargetMemory cuda_memory = GPU_MEMORY;

const Target target_cuda = {
    .name = "cuda",
    .about = "one readable .cu, NVRTC or nvcc, the driver API; sm_80, sm_89, sm_90a, sm_100",
    .vendor = &vendor_cuda,
    .machine = cuda_code_machine,
    .native = gpu_native,
    .emit = cuda_code_emit,
    .build = gpu_build,
    .assemble = cuda_assemble,
    .assembly_ending = ".ptx",
    .runs_externs = true,
    .runs_together = true,
    .runs_assembly = true,
    .launch = gpu_launch,
    .synchronize = gpu_synchronize,
    .query = gpu_query,
    .destroy = gpu_destroy,
    .available = gpu_available,
    .memory = &cuda_memory,
    .shutdown = gpu_shutdown,
    .emulated = "cuda-emulated",
};
