/* target_cuda.c: the CUDA target: emitted .cu, NVRTC (else nvcc) to a cubin kept in the cache, the
 * driver API. Driver and compiler are opened at run time, when a kernel is first built; without
 * them emission still works and everything else says what is missing.
 *
 * A kernel and a buffer belong to one device, whose primary context is used (cuda_device.c). The
 * key of the cache holds text, preludes, architecture, and the compiler's identity and flags. */
#include "runtime/compile/cache.h"
#include "runtime/device/cuda_device.h"
#include "runtime/device/nvrtc.h"
#include "runtime/host/process.h"
#include "runtime/host/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OUTPUT_BYTES = 16384 };

typedef struct CudaState {
    CudaDevices devices;
    Nvrtc nvrtc;
    bool nvrtc_open;
    void *made;               /* code on its way into an arena, which may have no memory left */
    char prelude[DIGEST_HEX]; /* of the headers' texts; computed once: they are most of a key */
} CudaState;

static CudaState *get_state(tw_context *cx) {
    void **slot = &cx->target_state[target_index(&target_cuda)];
    if (!*slot) *slot = context_alloc(cx, sizeof(CudaState));
    return *slot;
}

static tw_status need_device(tw_context *cx, int ordinal, CudaDevice **out) {
    return cuda_device_need(cx, &get_state(cx)->devices, ordinal, out);
}

/* --- compiling --- */
static bool find_nvcc(char *path, size_t capacity) {
    const char *home = getenv("CUDA_HOME");
    struct stat info;
    if (process_find("nvcc", path, capacity)) return true;
    if (home && snprintf(path, capacity, "%s/bin/nvcc", home) > 0 && stat(path, &info) == 0) return true;
    return snprintf(path, capacity, "/usr/local/cuda/bin/nvcc") > 0 && stat(path, &info) == 0;
}

static int level_of(const CudaDevice *d) { return 10 * d->major + d->minor; }

/* The architecture of the table that fits a device best; NULL: none does. */
static const char *fitting_arch(const CudaDevice *d) {
    const Machine *machine = machine_of_level("cuda", level_of(d));
    return machine ? machine->arch : NULL;
}

static const char *cuda_native(tw_context *cx, int ordinal) {
    char why[CUDA_WHY];
    const CudaDevice *device = cuda_device_open(cx, &get_state(cx)->devices, ordinal, why);
    return device ? fitting_arch(device) : NULL;
}

/* Code of one level alone is compiled as its row says, the rest for the device as it is. */
static void choose_arch(const tw_kernel *k, const CudaDevice *d, char *arch, size_t capacity) {
    const Machine *machine = k->pass.machine;
    if (machine->level_only)
        snprintf(arch, capacity, "%s", machine->arch);
    else
        snprintf(arch, capacity, "sm_%d", level_of(d));
}

static tw_status check_device(tw_kernel *k, const CudaDevice *d) {
    if (machine_runs_on(k->pass.machine, level_of(d))) return TW_OK;
    const char *fits = fitting_arch(d);
    return context_fail(k->context, TW_ERROR_UNAVAILABLE, "kernel `%s` is compiled for %s, the GPU (%s) is sm_%d; %s%s",
                        k->name, k->pass.machine->name, d->name, level_of(d),
                        fits ? "use target cuda:" : "a GPU of sm_80 or later is needed", fits ? fits : "");
}

static const char *prelude_digest(CudaState *state) {
    if (*state->prelude) return state->prelude;
    Digest d;
    const EmbeddedFile *file;
    digest_begin(&d);
    for (int i = 0; (file = simt_code_header("cuda", "prelude", i)); i++) digest_add_text(&d, file->text);
    digest_end_hex(&d, state->prelude);
    return state->prelude;
}

static void make_key(const tw_kernel *k, CudaState *state, const char *arch, const char *nvcc, char hex[DIGEST_HEX]) {
    const CudaCode *code = k->code;
    Digest d;
    struct stat info;
    digest_begin(&d);
    digest_add_text(&d, "cuda");
    digest_add_text(&d, tw_version());
    digest_add_text(&d, code->plan->text);
    digest_add_text(&d, arch);
    digest_add_text(&d, prelude_digest(state));
    if (state->nvrtc_open) {
        digest_add_text(&d, "nvrtc");
        digest_add(&d, &state->nvrtc.major, sizeof state->nvrtc.major);
        digest_add(&d, &state->nvrtc.minor, sizeof state->nvrtc.minor);
        digest_add_text(&d, state->nvrtc.path);
    } else {
        digest_add_text(&d, nvcc);
        if (stat(nvcc, &info) == 0) {
            digest_add(&d, &info.st_size, sizeof info.st_size);
            digest_add(&d, &info.st_mtim, sizeof info.st_mtim);
        }
    }
    digest_end_hex(&d, hex);
}

static bool write_file(const Room *room, const char *name, const void *data, size_t size) {
    char path[CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", room->path, name);
    return n > 0 && (size_t)n < sizeof path && file_write(path, data, size);
}

static tw_status no_room(tw_context *cx) {
    return context_fail(cx, TW_ERROR_IO, "no room to compile in: neither the cache nor $TMPDIR can be written");
}

/* Text -> cubin or PTX. The log of a compiler that refuses goes into the message. */
static tw_status run_nvrtc(tw_kernel *k, CudaState *state, const char *arch, bool ptx, void **made, size_t *size) {
    const CudaCode *code = k->code;
    NvrtcHeader headers[16];
    char arch_option[64], name[300], said[4000];
    int count = 0;
    const EmbeddedFile *file;
    for (; count < 16 && (file = simt_code_header("cuda", "prelude", count)); count++)
        headers[count] = (NvrtcHeader){simt_code_header_name(file), file->text};
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=%s", arch);
    snprintf(name, sizeof name, "%s.cu", k->name);
    const char *options[] = {arch_option, "--std=c++17", "--fmad=false", "--generate-line-info"};
    NvrtcJob job = {.text = code->plan->text,
                    .name = name,
                    .headers = headers,
                    .header_count = count,
                    .options = options,
                    .option_count = k->pass.options.lines ? 4 : 3,
                    .ptx = ptx,
                    .alone = k->request->stage != TW_STAGE_BUILD};
    char *log = NULL;
    *made = nvrtc_compile(&state->nvrtc, &job, size, &log);
    snprintf(said, sizeof said, "%s", log ? log : "no log");
    free(log);
    if (*made) return TW_OK;
    return context_fail(k->context, TW_ERROR_TOOL, "NVRTC refused the emitted code:\n%s", said);
}

/* Text -> room/kernel.cubin. */
static tw_status compile_by_nvrtc(tw_kernel *k, CudaState *state, const char *arch, const Room *room) {
    void *cubin = NULL;
    size_t size = 0;
    tw_status status = run_nvrtc(k, state, arch, false, &cubin, &size);
    bool written = status == TW_OK && write_file(room, "kernel.cubin", cubin, size);
    free(cubin);
    return status == TW_OK && !written ? no_room(k->context) : status;
}

/* For the machine that the kernel was compiled for, which need not be here. */
tw_status cuda_assemble(tw_kernel *k, const char *artifact) {
    CudaState *state = get_state(k->context);
    char why[CUDA_WHY] = "";
    size_t size = 0;
    if (!state->nvrtc_open) state->nvrtc_open = nvrtc_open(&state->nvrtc, why, sizeof why);
    if (!state->nvrtc_open) return context_fail(k->context, TW_ERROR_UNAVAILABLE, "NVRTC makes PTX: %s", why);
    free(state->made);
    tw_status status = run_nvrtc(k, state, k->pass.machine->assembly_arch, true, &state->made, &size);
    if (status != TW_OK) return status;
    kernel_add_artifact(k, artifact, arena_string(&k->arena, state->made, size ? size - 1 : 0));
    free(state->made);
    state->made = NULL;
    return TW_OK;
}

/* nvcc hands its paths on through a shell. */
static bool is_plain(const char *path) {
    return path && !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=@,:")];
}

static tw_status compile_by_nvcc(tw_kernel *k, const char *nvcc, const char *arch, Room *room) {
    tw_context *cx = k->context;
    const CudaCode *code = k->code;
    char option[64], include[CACHE_PATH + 2], source[CACHE_PATH + 16], object[CACHE_PATH + 16];
    char output[OUTPUT_BYTES] = "";
    const EmbeddedFile *file;
    if (!is_plain(room->path))
        return context_fail(cx, TW_ERROR_UNAVAILABLE,
                            "nvcc cannot work in %s: its name has signs that a shell reads; set TMPDIR "
                            "to a folder of plain letters",
                            room->path);
    bool written = write_file(room, "kernel.cu", code->plan->text, strlen(code->plan->text));
    for (int i = 0; written && (file = simt_code_header("cuda", "prelude", i)); i++)
        written = write_file(room, simt_code_header_name(file), file->text, file->size);
    if (!written) return no_room(cx);
    snprintf(option, sizeof option, "-arch=%s", arch);
    snprintf(include, sizeof include, "-I%s", room->path);
    snprintf(source, sizeof source, "%s/kernel.cu", room->path);
    snprintf(object, sizeof object, "%s/kernel.cubin", room->path);
    const char *argv[] = {nvcc,    option, "-std=c++17", "--fmad=false", "-cubin",
                          include, "-o",   object,       source,         k->pass.options.lines ? "-lineinfo" : NULL,
                          NULL};
    ProcessResult r = room_run(room, argv, cx->tool_timeout, output, sizeof output);
    if (r.exit_code == 0) return TW_OK;
    if (!r.started) return context_fail(cx, TW_ERROR_UNAVAILABLE, "nvcc (%s) could not be started", nvcc);
    if (r.timed_out) return context_fail(cx, TW_ERROR_TOOL, "nvcc took longer than %d seconds", cx->tool_timeout);
    return context_fail(cx, TW_ERROR_TOOL, "nvcc refused the emitted code:\n%s", output);
}

/* --- loading --- */
/* Where blocks make tensor maps: a place for each that can run at once, whichever launches they are of. */
static CudaResult give_room(CudaCode *code, const CudaDevice *device) {
    enum { SM_THREADS = 2048 }; /* at most, of a multiprocessor of any kind */
    const CudaDriver *d = device->driver;
    size_t bytes = cuda_code_place_bytes(code);
    if (!bytes) return 0;
    CudaAddress address = 0;
    code->places = device->sm_count * (SM_THREADS / code->plan->threads);
    bytes *= (size_t)code->places;
    CudaResult result = d->alloc(&address, bytes);
    if (result == 0) result = d->set_bytes(address, 0, bytes);
    if (result == 0) result = d->stream_synchronize(NULL); /* whichever stream a launch comes by */
    code->room = (void *)(uintptr_t)address;
    return result;
}

static tw_status load_image(tw_kernel *k, CudaDevice *device, const void *image, size_t size) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    const CudaDriver *d = device->driver;
    kernel_add_bytes(k, arena_printf(&k->arena, "%s.cubin", k->name), image, size);
    code->device = device;
    bool entered = cuda_device_enter(device);
    CudaResult result = d->module_load(&code->module, image);
    if (result == 0) result = d->module_function(&code->function, code->module, code->plan->name);
    int bytes = (int)code->plan->shared_bytes;
    if (result == 0 && bytes > 48 << 10) result = d->function_set(code->function, CUDA_FUNCTION_SHARED_BYTES, bytes);
    if (result == 0 && code->plan->persist) {
        int each = 0;
        result = d->occupancy(&each, code->function, code->plan->threads, (size_t)bytes);
        code->blocks = (each < 1 ? 1 : each) * device->sm_count;
    }
    if (result == 0) result = give_room(code, device);
    tw_resource_info *r = &k->resources;
    r->threads = code->plan->threads;
    r->shared_bytes = bytes;
    if (result == 0) result = d->function_get(&r->registers, CUDA_FUNCTION_REGISTERS, code->function);
    if (result == 0) result = d->function_get(&r->local_bytes, CUDA_FUNCTION_LOCAL_BYTES, code->function);
    if (result == 0) result = d->function_get(&r->max_threads, CUDA_FUNCTION_MAX_THREADS, code->function);
    cuda_device_leave(device, entered);
    if (result == CUDA_ERROR_NO_BINARY_RESULT)
        return context_fail(cx, TW_ERROR_TOOL,
                            "the driver (%d.%d) cannot load what the compiler made for kernel `%s`: "
                            "it is older than the compiler; update it, or set TILEWRIGHT_NVRTC to "
                            "an NVRTC of its version",
                            d->version / 1000, d->version % 1000 / 10, k->name);
    if (result >= CUDA_ERROR_CAPTURE_RESULT && result <= CUDA_ERROR_CAPTURE_LAST)
        return context_fail(cx, TW_ERROR_LAUNCH,
                            "kernel `%s` is loaded by its first launch, which cannot be captured in a "
                            "CUDA graph: launch it once, with arguments of the same kind, before the "
                            "capture",
                            k->name);
    if (result != 0)
        return cuda_device_fail(cx, device, TW_ERROR_TOOL, result,
                                arena_printf(&cx->texts, "the GPU does not take kernel `%s`", k->name));
    return TW_OK;
}

static tw_status load_module(tw_kernel *k, CudaDevice *device, const char *path) {
    int64_t size = file_size(path);
    void *image = arena_alloc(&k->arena, size > 0 ? (size_t)size : 1);
    if (size <= 0 || file_read(path, image, (size_t)size) != size)
        return context_fail(k->context, TW_ERROR_IO, "the compiled kernel %s cannot be read", path);
    return load_image(k, device, image, (size_t)size);
}

/* Without a cache: no key, no file. */
static tw_status build_in_memory(tw_kernel *k, CudaState *state, CudaDevice *device, const char *arch) {
    size_t size = 0;
    free(state->made);
    tw_status status = run_nvrtc(k, state, arch, false, &state->made, &size);
    if (status != TW_OK) return status;
    void *image = arena_alloc(&k->arena, size);
    memcpy(image, state->made, size);
    free(state->made);
    state->made = NULL;
    return load_image(k, device, image, size);
}

static tw_status cuda_build(tw_kernel *k) {
    tw_context *cx = k->context;
    CudaState *state = get_state(cx);
    CudaDevice *device = NULL;
    char nvcc[CACHE_PATH] = "", hex[DIGEST_HEX], path[CACHE_PATH], arch[32], why[CUDA_WHY] = "";
    tw_status status = cuda_code_prepare(k);
    if (status == TW_OK) status = need_device(cx, k->device, &device);
    if (status == TW_OK) status = check_device(k, device);
    if (status != TW_OK) return status;
    const CudaCode *code = k->code;
    if (code->plan->shared_bytes > device->shared_bytes)
        return context_refuse(
            cx, TW_ERROR_UNSUPPORTED, "shared-memory", code->plan->shared_bytes, device->shared_bytes,
            "kernel `%s` needs %lld bytes of shared memory, a block of %s has %d; use smaller tiles or "
            "fewer stages, or compile for a smaller machine (sm_89)",
            k->name, (long long)code->plan->shared_bytes, device->name, device->shared_bytes);
    if (!state->nvrtc_open) state->nvrtc_open = nvrtc_open(&state->nvrtc, why, sizeof why);
    if (!state->nvrtc_open && !find_nvcc(nvcc, sizeof nvcc))
        return context_fail(cx, TW_ERROR_UNAVAILABLE, "no CUDA compiler: %s; nvcc is not in PATH either", why);
    choose_arch(k, device, arch, sizeof arch);
    bool load = k->request->stage == TW_STAGE_RUN;
    if (!cx->cache_dir && !load) return TW_OK; /* nothing can be kept */
    if (!cx->cache_dir && state->nvrtc_open) return build_in_memory(k, state, device, arch);
    make_key(k, state, arch, nvcc, hex);
    if (cache_find(cx->cache_dir, hex, ".cubin", path)) return load ? load_module(k, device, path) : TW_OK;
    Room room;
    bool in_cache = state->nvrtc_open || is_plain(cx->cache_dir);
    if (!room_open(&room, in_cache ? cx->cache_dir : NULL, &cx->cancel)) return no_room(cx);
    status = state->nvrtc_open ? compile_by_nvrtc(k, state, arch, &room) : compile_by_nvcc(k, nvcc, arch, &room);
    if (status == TW_OK) {
        char made[CACHE_PATH + 16];
        snprintf(made, sizeof made, "%s/kernel.cubin", room.path);
        bool kept = cache_keep(cx->cache_dir, hex, ".cubin", made, path);
        if (load) status = load_module(k, device, kept ? path : made);
    }
    room_close(&room);
    return status;
}

static void cuda_destroy(tw_kernel *k) {
    CudaCode *code = k->code;
    if (!code || !code->module || *code->device->faults.lost) return;
    bool entered = cuda_device_enter(code->device);
    code->device->driver->module_unload(code->module);
    if (code->room) code->device->driver->free((CudaAddress)(uintptr_t)code->room);
    cuda_device_leave(code->device, entered);
}

/* --- launching --- */
static const char *encode(void *user, CudaMapBytes *map, const CudaMapValue *value) {
    static const int types[EL_COUNT] = {
        [EL_I1] = CUDA_MAP_U8,   [EL_I8] = CUDA_MAP_U8,     [EL_U8] = CUDA_MAP_U8,     [EL_I16] = CUDA_MAP_U16,
        [EL_U16] = CUDA_MAP_U16, [EL_I32] = CUDA_MAP_I32,   [EL_U32] = CUDA_MAP_U32,   [EL_I64] = CUDA_MAP_I64,
        [EL_U64] = CUDA_MAP_U64, [EL_F16] = CUDA_MAP_F16,   [EL_BF16] = CUDA_MAP_BF16, [EL_F32] = CUDA_MAP_F32,
        [EL_F64] = CUDA_MAP_F64, [EL_F8E4M3] = CUDA_MAP_U8, [EL_F8E5M2] = CUDA_MAP_U8};
    const CudaDevice *device = user;
    static const uint32_t steps[CUDA_MAX_RANK] = {1, 1, 1, 1, 1};
    int swizzle = value->swizzle == 128 ? 3 : value->swizzle == 64 ? 2 : value->swizzle == 32 ? 1 : 0;
    CudaResult result =
        device->driver->encode_map(map, types[value->elem], (uint32_t)value->rank, (void *)(uintptr_t)value->base,
                                   value->dims, value->strides, value->box, steps, 0, swizzle, CUDA_MAP_PROMOTE_256, 0);
    return result == 0 ? NULL : "the driver refuses it (base, extents or strides)";
}

/* What the caller's stream can be wrong in. */
static const char *stream_fault(const LaunchCall *call, CudaResult result) {
    bool handle = result == CUDA_ERROR_INVALID_HANDLE_RESULT || result == CUDA_ERROR_CONTEXT_RESULT;
    return call->stream && call->stream->native && handle ? " (the stream must be one of that device's primary context)"
                                                          : "";
}

static tw_status launch_fail(tw_kernel *k, const LaunchCall *call, const unsigned grid[3], CudaResult result) {
    tw_context *cx = k->context;
    const CudaCode *code = k->code;
    const char *resources = result == CUDA_ERROR_RESOURCES_RESULT
                                ? arena_printf(&cx->texts,
                                               " (%d threads of %d registers, %d bytes of shared memory; a block has "
                                               "65536 registers and %d bytes: use fewer warps or smaller tiles)",
                                               k->resources.threads, k->resources.registers, k->resources.shared_bytes,
                                               code->device->shared_bytes)
                                : "";
    return cuda_device_fail(cx, code->device, TW_ERROR_LAUNCH, result,
                            arena_printf(&cx->texts, "launch of kernel `%s` on %u x %u x %u blocks%s%s", k->name,
                                         grid[0], grid[1], grid[2], stream_fault(call, result), resources));
}

/* As many blocks as run at once, in whole clusters, walk over the programs. */
static void fit_grid(const CudaCode *code, int64_t programs, unsigned grid[3], unsigned *cluster) {
    int blocks = cuda_code_cluster(code, code->device->sm_count);
    int64_t most = code->blocks / blocks, useful = programs < most ? programs : most;
    *cluster = (unsigned)blocks;
    grid[0] = (unsigned)useful * *cluster;
    grid[1] = grid[2] = 1;
}

static CudaResult run_kernel(CudaCode *code, const unsigned grid[3], unsigned cluster, bool early, bool together,
                             void *stream) {
    const CudaDriver *driver = code->device->driver;
    unsigned threads = (unsigned)code->plan->threads, bytes = (unsigned)code->plan->shared_bytes;
    if (cluster == 1 && !early && !together)
        return driver->launch(code->function, grid[0], grid[1], grid[2], threads, 1, 1, bytes, stream, code->params,
                              NULL);
    CudaLaunchAttribute attributes[3] = {0};
    unsigned count = 0;
    if (cluster != 1) attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_CLUSTER, .value = {cluster, 1, 1}};
    if (early) attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_EARLY, .value = {1}};
    if (together) attributes[count++] = (CudaLaunchAttribute){.id = CUDA_LAUNCH_COOPERATIVE, .value = {1}};
    CudaLaunchConfig config = {.grid = {grid[0], grid[1], grid[2]},
                               .block = {threads, 1, 1},
                               .shared_bytes = bytes,
                               .stream = stream,
                               .attributes = attributes,
                               .attribute_count = count};
    return driver->launch_by(&config, code->function, code->params, NULL);
}

static tw_status cuda_launch(tw_kernel *k, const LaunchCall *call) {
    tw_context *cx = k->context;
    CudaCode *code = k->code;
    CudaDevice *device = code->device;
    CudaFaults *faults = &device->faults;
    if (*faults->lost) return cuda_fault_check(cx, faults, arena_printf(&cx->texts, "launch of kernel `%s`", k->name));
    unsigned grid[3], cluster = 1;
    simt_code_blocks(&code->simt, call->grid, grid);
    if (!code->plan->persist && (grid[1] > SIMT_LATER_BLOCKS || grid[2] > SIMT_LATER_BLOCKS))
        return context_fail(cx, TW_ERROR_ARGUMENT,
                            "the grid of kernel `%s` is %lld x %lld x %lld; CUDA allows %d in the second and "
                            "third extent: put the large one first",
                            k->name, (long long)call->grid[0], (long long)call->grid[1], (long long)call->grid[2],
                            SIMT_LATER_BLOCKS);
    bool entered = cuda_device_enter(device); /* the driver encodes tensor maps only under a context */
    tw_status status = cuda_code_refresh(k, call, encode, device);
    CudaResult result = 0;
    if (code->plan->persist) fit_grid(code, call->grid[0] * call->grid[1] * call->grid[2], grid, &cluster);
    bool early = k->launch_pdl && code->plan->waits && level_of(device) >= 90;
    if (status == TW_OK)
        result = run_kernel(code, grid, cluster, early, k->cooperative, call->stream ? call->stream->native : NULL);
    cuda_device_leave(device, entered);
    /* A launch that fails for what was launched before it is no suspect itself. */
    bool alone = faults->blocking || faults->launches == faults->ended;
    if (status == TW_OK && (result == 0 || alone)) cuda_fault_note(faults, code->label, grid);
    return result == 0 ? status : launch_fail(k, call, grid, result);
}

static tw_status wait_for(tw_context *cx, CudaDevice *device, void *stream, bool all) {
    tw_status status = cuda_fault_check(cx, &device->faults, "nothing runs on the GPU any more");
    if (status != TW_OK) return status;
    bool entered = cuda_device_enter(device);
    CudaResult result = cuda_fault_wait(&device->faults, device->driver, stream, all);
    cuda_device_leave(device, entered);
    return result == 0 ? TW_OK : cuda_device_fail(cx, device, TW_ERROR_LAUNCH, result, "waiting for the GPU");
}

/* A stream of the caller, of whichever device it is; else all devices that are in use. */
static tw_status cuda_synchronize(tw_context *cx, tw_stream *stream) {
    CudaDevice *device = get_state(cx)->devices.first;
    tw_status status = device ? TW_OK : need_device(cx, 0, &device);
    bool wrapped = stream && stream->wrapped;
    if (status == TW_OK && wrapped && stream->native) return wait_for(cx, device, stream->native, false);
    for (; device && status == TW_OK; device = device->next) status = wait_for(cx, device, NULL, !wrapped);
    return status;
}

/* --- memory --- */
static tw_status cuda_alloc(tw_context *cx, int ordinal, size_t size, void **out) {
    CudaDevice *device;
    tw_status status = need_device(cx, ordinal, &device);
    if (status != TW_OK) return status;
    const CudaDriver *d = device->driver;
    CudaAddress address = 0;
    bool entered = cuda_device_enter(device);
    CudaResult result = d->alloc(&address, size);
    if (result == 0) result = d->set_bytes(address, 0, size);
    if (result != 0 && address) d->free(address);
    size_t left = 0, all = 0;
    if (result == CUDA_ERROR_OUT_OF_MEMORY_RESULT) d->memory_info(&left, &all);
    cuda_device_leave(device, entered);
    if (result == CUDA_ERROR_OUT_OF_MEMORY_RESULT)
        return context_fail(cx, TW_ERROR_MEMORY,
                            "%s has no room for %zu bytes: %zu of its %zu are free; destroy "
                            "buffers, or end other processes that use it",
                            device->faults.gpu, size, left, device->memory_bytes);
    if (result != 0) return cuda_device_fail(cx, device, TW_ERROR_UNAVAILABLE, result, "memory of the GPU");
    *out = (void *)(uintptr_t)address;
    return TW_OK;
}

static void cuda_free(tw_context *cx, int ordinal, void *data) {
    char why[CUDA_WHY];
    CudaDevice *device = cuda_device_open(cx, &get_state(cx)->devices, ordinal, why);
    if (!device || *device->faults.lost) return; /* it would wait for what never ends */
    bool entered = cuda_device_enter(device);
    device->driver->free((CudaAddress)(uintptr_t)data);
    cuda_device_leave(device, entered);
}

static tw_status copy(tw_context *cx, int ordinal, void *to, const void *from, size_t size, bool out) {
    CudaDevice *device;
    tw_status status = need_device(cx, ordinal, &device);
    if (status != TW_OK || !size) return status;
    const CudaDriver *d = device->driver;
    bool entered = cuda_device_enter(device);
    CudaResult result = device->faults.limit > 0 ? cuda_fault_wait(&device->faults, d, NULL, false) : 0;
    if (result == 0)
        result = out ? d->copy_out(to, (CudaAddress)(uintptr_t)from, size)
                     : d->copy_in((CudaAddress)(uintptr_t)to, from, size);
    cuda_device_leave(device, entered);
    return result == 0 ? TW_OK
                       : cuda_device_fail(cx, device, TW_ERROR_LAUNCH, result,
                                          out ? "reading a buffer of the GPU" : "writing a buffer of the GPU");
}
static tw_status cuda_read(tw_context *cx, int device, void *to, const void *from, size_t size) {
    return copy(cx, device, to, from, size, true);
}
static tw_status cuda_write(tw_context *cx, int device, void *to, const void *from, size_t size) {
    return copy(cx, device, to, from, size, false);
}

static tw_status cuda_home(tw_context *cx, const void *address, int32_t *device) {
    CudaDevice *any;
    tw_status status = need_device(cx, 0, &any);
    if (status != TW_OK) return status;
    CudaResult result = any->driver->pointer_attribute(device, CUDA_POINTER_ORDINAL, (CudaAddress)(uintptr_t)address);
    if (result != 0) *device = -1;
    return TW_OK;
}

/* --- the row --- */
static bool cuda_available(tw_context *cx, Arena *arena, const char **note) {
    CudaState *state = get_state(cx);
    char why[CUDA_WHY], no_driver[CUDA_WHY], compiler[CACHE_PATH] = "";
    const CudaDevice *d = cuda_device_open(cx, &state->devices, 0, no_driver);
    if (!state->nvrtc_open) state->nvrtc_open = nvrtc_open(&state->nvrtc, why, sizeof why);
    bool nvcc = !state->nvrtc_open && find_nvcc(compiler, sizeof compiler);
    const char *by = state->nvrtc_open ? arena_printf(arena, "NVRTC %d.%d (%s)", state->nvrtc.major, state->nvrtc.minor,
                                                      state->nvrtc.path)
                     : nvcc            ? arena_printf(arena, "nvcc (%s), since NVRTC is not here", compiler)
                                       : arena_printf(arena, "%s; nvcc is not in PATH either", why);
    if (!d || (!state->nvrtc_open && !nvcc)) {
        bool any = state->nvrtc_open || nvcc;
        *note = d ? by : arena_printf(arena, any ? "%s; a compiler is here: %s" : "%s; %s", no_driver, by);
        return false;
    }
    const CudaDriver *driver = d->driver;
    const char *others =
        driver->devices > 1
            ? arena_printf(arena, ", the first of %d (CUDA_VISIBLE_DEVICES chooses another)", driver->devices)
            : "";
    *note = arena_printf(arena, "%s (sm_%d%d, %d SMs, %zu MiB)%s, driver of CUDA %d.%d (%s), %s", d->name, d->major,
                         d->minor, d->sm_count, d->memory_bytes >> 20, others, driver->version / 1000,
                         driver->version % 1000 / 10, driver->path, by);
    return true;
}

static void cuda_shutdown(tw_context *cx) {
    void **slot = &cx->target_state[target_index(&target_cuda)];
    CudaState *state = *slot;
    if (!state) return;
    cuda_devices_close(cx, &state->devices);
    if (state->nvrtc_open) nvrtc_close(&state->nvrtc);
    free(state->made);
    context_free(cx, state, sizeof *state);
    *slot = NULL;
}

static const TargetMemory cuda_memory = {cuda_alloc, cuda_free, cuda_read, cuda_write, cuda_home};

const Target target_cuda = {
    .name = "cuda",
    .about = "one readable .cu, NVRTC or nvcc, the driver API; sm_80, sm_89, sm_90a, sm_100",
    .machine = cuda_code_machine,
    .native = cuda_native,
    .emit = cuda_code_emit,
    .build = cuda_build,
    .assemble = cuda_assemble,
    .assembly_ending = ".ptx",
    .runs_together = true,
    .runs_assembly = true,
    .launch = cuda_launch,
    .synchronize = cuda_synchronize,
    .destroy = cuda_destroy,
    .available = cuda_available,
    .memory = &cuda_memory,
    .shutdown = cuda_shutdown,
    .emulated = "cuda-emulated",
};
