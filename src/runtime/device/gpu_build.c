/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_build.c: emitted text -> code of a device, by the run-time compiler, else by one in PATH, kept in the cache; and
 * the module that is loaded from it. The key of the cache holds text, preludes, architecture, and the compiler's
 * identity and flags. */
#include "runtime/device/gpu.h"
#include "runtime/host/process.h"
#include "runtime/host/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OUTPUT_BYTES = 16384 };

static const GpuVendor *vendor_of(const tw_kernel *k) { return k->target->vendor; }

bool gpu_rtc_open(GpuState *state, char why[GPU_WHY]) {
    if (!state->rtc_open) state->rtc_open = rtc_open(&state->rtc, &state->vendor->rtc, why, GPU_WHY);
    return state->rtc_open;
}

/* Code of one level alone is compiled as its row says, the rest for the device as it is. */
static const char *choose_arch(const tw_kernel *k, const GpuDevice *d) {
    return k->pass.machine->level_only ? k->pass.machine->arch : d->arch;
}

static tw_status check_device(tw_kernel *k, const GpuDevice *d) {
    const GpuVendor *vendor = vendor_of(k);
    if (gpu_device_runs(d, k->pass.machine)) return TW_OK;
    const Machine *fits = gpu_device_machine(d, vendor->target);
    return context_fail(k->context, TW_ERROR_UNAVAILABLE, "kernel `%s` is compiled for %s, the GPU (%s) is %s; %s%s",
                        k->name, k->pass.machine->name, d->name, d->arch, fits ? "use target " : vendor->needed,
                        fits ? fits->name : "");
}

static const char *prelude_digest(GpuState *state) {
    if (*state->prelude) return state->prelude;
    Digest d;
    const EmbeddedFile *file;
    digest_begin(&d);
    for (int i = 0; (file = simt_code_header(state->vendor->target, "prelude", i)); i++)
        digest_add_text(&d, file->text);
    digest_end_hex(&d, state->prelude);
    return state->prelude;
}

static void make_key(const tw_kernel *k, GpuState *state, const char *arch, const char *tool, char hex[DIGEST_HEX]) {
    const SimtCode *code = k->code;
    Digest d;
    struct stat info;
    digest_begin(&d);
    digest_add_text(&d, state->vendor->target);
    digest_add_text(&d, tw_version());
    digest_add_text(&d, code->simt_plan->text);
    digest_add_text(&d, arch);
    digest_add_text(&d, prelude_digest(state));
    if (state->rtc_open) {
        digest_add_text(&d, state->rtc.kind->title);
        digest_add(&d, &state->rtc.major, sizeof state->rtc.major);
        digest_add(&d, &state->rtc.minor, sizeof state->rtc.minor);
        digest_add_text(&d, state->rtc.path);
    } else {
        digest_add_text(&d, tool);
        if (stat(tool, &info) == 0) {
            digest_add(&d, &info.st_size, sizeof info.st_size);
            digest_add(&d, &info.st_mtim, sizeof info.st_mtim);
        }
    }
    digest_end_hex(&d, hex);
}

/* --- compiling --- */
static bool write_file(const Room *room, const char *name, const void *data, size_t size) {
    char path[CACHE_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", room->path, name);
    return n > 0 && (size_t)n < sizeof path && file_write(path, data, size);
}

static tw_status no_room(tw_context *cx) {
    return context_fail(cx, TW_ERROR_IO, "no room to compile in: neither the cache nor $TMPDIR can be written");
}

tw_status gpu_compile(tw_kernel *k, GpuState *state, const char *arch, bool ptx, void **made, size_t *size) {
    const SimtCode *code = k->code;
    const GpuVendor *vendor = state->vendor;
    RtcHeader headers[RTC_HEADERS];
    char option[64], name[300], said[4000];
    const char *options[GPU_OPTIONS];
    int count = 0;
    const EmbeddedFile *file;
    for (; count < RTC_HEADERS && (file = simt_code_header(vendor->target, "prelude", count)); count++)
        headers[count] = (RtcHeader){simt_code_header_name(file), file->text};
    snprintf(name, sizeof name, "%s%s", k->name, vendor->source_ending);
    RtcJob job = {.text = code->simt_plan->text,
                  .name = name,
                  .headers = headers,
                  .header_count = count,
                  .options = options,
                  .option_count = vendor->options(k, arch, option, options),
                  .ptx = ptx,
                  .alone = k->request->stage != TW_STAGE_BUILD};
    char *log = NULL;
    *made = rtc_compile(&state->rtc, &job, size, &log);
    snprintf(said, sizeof said, "%s", log ? log : "no log");
    free(log);
    if (*made) return TW_OK;
    return context_fail(k->context, TW_ERROR_TOOL, "%s refused the emitted code:\n%s", vendor->rtc.title, said);
}

/* Text -> a file of the room. */
static tw_status compile_by_rtc(tw_kernel *k, GpuState *state, const char *arch, const Room *room, const char *to) {
    void *code = NULL;
    size_t size = 0;
    tw_status status = gpu_compile(k, state, arch, false, &code, &size);
    bool written = status == TW_OK && write_file(room, to, code, size);
    free(code);
    return status == TW_OK && !written ? no_room(k->context) : status;
}

static bool is_plain(const char *path) {
    return path && !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=@,:")];
}

static bool may_work_in(const GpuVendor *vendor, const char *path) { return !vendor->tool_has_shell || is_plain(path); }

static tw_status compile_by_tool(tw_kernel *k, const char *tool, const char *arch, Room *room, const char *to) {
    tw_context *cx = k->context;
    const SimtCode *code = k->code;
    const GpuVendor *vendor = vendor_of(k);
    char option[64], include[CACHE_PATH + 2], source[CACHE_PATH + 32], object[CACHE_PATH + 32], name[32];
    char output[OUTPUT_BYTES] = "";
    const EmbeddedFile *file;
    if (!may_work_in(vendor, room->path))
        return context_fail(cx, TW_ERROR_UNAVAILABLE,
                            "%s cannot work in %s: its name has signs that a shell reads" FIX "set TMPDIR "
                            "to a folder of plain letters",
                            vendor->tool, room->path);
    snprintf(name, sizeof name, "kernel%s", vendor->source_ending);
    bool written = write_file(room, name, code->simt_plan->text, strlen(code->simt_plan->text));
    for (int i = 0; written && (file = simt_code_header(vendor->target, "prelude", i)); i++)
        written = write_file(room, simt_code_header_name(file), file->text, file->size);
    if (!written) return no_room(cx);
    snprintf(include, sizeof include, "-I%s", room->path);
    snprintf(source, sizeof source, "%s/%s", room->path, name);
    snprintf(object, sizeof object, "%s/%s", room->path, to);
    const char *argv[GPU_OPTIONS + 8] = {tool};
    int count = 1 + vendor->tool_options(k, arch, option, argv + 1);
    const char *rest[] = {include, "-o", object, source};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) argv[count++] = rest[i];
    argv[count] = NULL;
    ProcessResult r = room_run(room, argv, cx->tool_timeout, output, sizeof output);
    if (r.exit_code == 0) return TW_OK;
    if (!r.started) return context_fail(cx, TW_ERROR_UNAVAILABLE, "%s (%s) could not be started", vendor->tool, tool);
    if (r.timed_out)
        return context_fail(cx, TW_ERROR_TOOL, "%s took longer than %d seconds", vendor->tool, cx->tool_timeout);
    return context_fail(cx, TW_ERROR_TOOL, "%s refused the emitted code:\n%s", vendor->tool, output);
}

/* --- code that is taken along --- */
static tw_status image_by_rtc(tw_kernel *k, GpuState *state, const char *arch, bool ptx, const char **image,
                              size_t *size) {
    free(state->made);
    state->made = NULL;
    tw_status status = gpu_compile(k, state, arch, ptx, &state->made, size);
    if (status != TW_OK) return status;
    if (ptx && *size) --*size; /* its NUL */
    *image = arena_string(&k->arena, state->made, *size);
    free(state->made);
    state->made = NULL;
    return TW_OK;
}

/* Memory for code on its way into the arena, which may throw while a folder is open. */
static void state_keep(GpuState *state, int64_t bytes) {
    free(state->made);
    state->made = bytes > 0 ? malloc((size_t)bytes) : NULL;
}

static tw_status image_by_tool(tw_kernel *k, const char *tool, const char *arch, const char **image, size_t *size) {
    tw_context *cx = k->context;
    char path[CACHE_PATH + 32];
    Room room;
    if (!room_open(&room, may_work_in(vendor_of(k), cx->cache_dir) ? cx->cache_dir : NULL, context_cancel(cx)))
        return no_room(cx);
    tw_status status = compile_by_tool(k, tool, arch, &room, "image");
    snprintf(path, sizeof path, "%s/image", room.path);
    int64_t bytes = status == TW_OK ? file_size(path) : 0;
    state_keep(gpu_state(cx, vendor_of(k)), bytes);
    void *made = gpu_state(cx, vendor_of(k))->made;
    if (status == TW_OK && (bytes <= 0 || !made || file_read(path, made, (size_t)bytes) != bytes))
        status = context_fail(cx, TW_ERROR_IO, "what %s made of kernel `%s` cannot be read", vendor_of(k)->tool,
                              k->name);
    room_close(&room);
    if (status != TW_OK) return status;
    *size = (size_t)bytes;
    *image = arena_string(&k->arena, made, *size);
    return TW_OK;
}

tw_status gpu_image(tw_kernel *k, const GpuVendor *vendor, const char *arch, bool ptx, const char **image,
                    size_t *size) {
    GpuState *state = gpu_state(k->context, vendor);
    char why[GPU_WHY] = "", tool[CACHE_PATH] = "";
    *size = 0;
    if (gpu_rtc_open(state, why)) return image_by_rtc(k, state, arch, ptx, image, size);
    if (ptx) return context_fail(k->context, TW_ERROR_UNAVAILABLE, "%s makes PTX: %s", vendor->rtc.title, why);
    if (vendor->find_tool(tool, sizeof tool)) return image_by_tool(k, tool, arch, image, size);
    return context_fail(k->context, TW_ERROR_UNAVAILABLE, "no %s compiler: %s; %s is not in PATH either",
                        vendor->driver.title, why, vendor->tool);
}

/* --- loading --- */
/* The module, its function, and what is known of it. */
static GpuResult load_code(tw_kernel *k, const GpuDevice *device, const void *image) {
    SimtCode *code = k->code;
    const SimtPlan *plan = code->simt_plan;
    const GpuDriver *d = device->driver;
    int bytes = (int)plan->shared_bytes;
    GpuResult result = d->module_load(&code->module, image);
    if (result == 0) result = d->module_function(&code->function, code->module, plan->name);
    if (result == 0 && bytes > 48 << 10 && d->function_set)
        result = d->function_set(code->function, GPU_FUNCTION_SHARED_BYTES, bytes);
    if (result == 0 && plan->persist) {
        int each = 0;
        result = d->occupancy(&each, code->function, plan->threads, (size_t)bytes);
        code->blocks = (each < 1 ? 1 : each) * device->units;
    }
    if (result == 0 && vendor_of(k)->loaded) result = vendor_of(k)->loaded(k);
    tw_resource_info *r = &k->resources;
    r->threads = plan->threads;
    r->shared_bytes = bytes;
    if (result == 0) result = d->function_get(&r->registers, GPU_FUNCTION_REGISTERS, code->function);
    if (result == 0) result = d->function_get(&r->local_bytes, GPU_FUNCTION_LOCAL_BYTES, code->function);
    if (result == 0) result = d->function_get(&r->max_threads, GPU_FUNCTION_MAX_THREADS, code->function);
    return result;
}

static tw_status load_image(tw_kernel *k, GpuDevice *device, const void *image, size_t size) {
    tw_context *cx = k->context;
    SimtCode *code = k->code;
    const GpuVendor *vendor = vendor_of(k);
    kernel_add_bytes(k, arena_printf(&k->arena, "%s%s", k->name, vendor->code_ending), image, size);
    code->device = device;
    int before = gpu_device_enter(device);
    GpuResult result = load_code(k, device, image);
    gpu_device_leave(device, before);
    if (result == GPU_ERROR_NO_BINARY)
        return context_fail(cx, TW_ERROR_TOOL,
                            "the driver (%d.%d) cannot load what the compiler made for kernel `%s`: "
                            "it is older than the compiler" FIX "update it, or set %s to the %s of its version",
                            device->driver->major, device->driver->minor, k->name, vendor->rtc.variable,
                            vendor->rtc.title);
    if (result >= GPU_ERROR_CAPTURE && result <= GPU_ERROR_CAPTURE_LAST)
        return context_fail(cx, TW_ERROR_LAUNCH,
                            "kernel `%s` is loaded by its first launch, which cannot be captured in a "
                            "graph" FIX "launch it once, with arguments of the same kind, before the "
                            "capture",
                            k->name);
    if (result != 0)
        return gpu_device_fail(cx, device, TW_ERROR_TOOL, result,
                               arena_printf(context_texts(cx), "the GPU does not take kernel `%s`", k->name));
    return TW_OK;
}

static tw_status load_module(tw_kernel *k, GpuDevice *device, const char *path) {
    int64_t size = file_size(path);
    void *image = arena_alloc(&k->arena, size > 0 ? (size_t)size : 1);
    if (size <= 0 || file_read(path, image, (size_t)size) != size)
        return context_fail(k->context, TW_ERROR_IO, "the compiled kernel %s cannot be read", path);
    return load_image(k, device, image, (size_t)size);
}

/* Without a cache: no key, no file. */
static tw_status build_in_memory(tw_kernel *k, GpuState *state, GpuDevice *device, const char *arch) {
    size_t size = 0;
    free(state->made);
    tw_status status = gpu_compile(k, state, arch, false, &state->made, &size);
    if (status != TW_OK) return status;
    void *image = arena_alloc(&k->arena, size);
    memcpy(image, state->made, size);
    free(state->made);
    state->made = NULL;
    return load_image(k, device, image, size);
}

/* --- the way of a kernel --- */
static tw_status prepare(tw_kernel *k) {
    if (vendor_of(k)->prepare) return vendor_of(k)->prepare(k);
    simt_code_params(k, k->code, NULL);
    return TW_OK;
}

static tw_status check_memory(tw_kernel *k, const GpuDevice *device) {
    int64_t bytes = ((const SimtCode *)k->code)->simt_plan->shared_bytes;
    if (bytes <= device->shared_bytes) return TW_OK;
    return context_refuse(k->context, TW_ERROR_UNSUPPORTED, "shared-memory", bytes, device->shared_bytes,
                          "kernel `%s` needs %lld bytes of shared memory, a block of %s has %d"
                          FIX "use smaller tiles or "
                          "fewer stages%s",
                          k->name, (long long)bytes, device->name, device->shared_bytes, vendor_of(k)->smaller);
}

tw_status gpu_build(tw_kernel *k) {
    tw_context *cx = k->context;
    const GpuVendor *vendor = vendor_of(k);
    GpuState *state = gpu_state(cx, vendor);
    GpuDevice *device = NULL;
    char tool[CACHE_PATH] = "", hex[DIGEST_HEX], path[CACHE_PATH], why[GPU_WHY] = "", to[32];
    tw_status status = prepare(k);
    if (status == TW_OK) status = gpu_device_need(cx, &state->devices, k->device, &device);
    if (status == TW_OK) status = check_device(k, device);
    if (status == TW_OK) status = check_memory(k, device);
    if (status != TW_OK) return status;
    if (!gpu_rtc_open(state, why) && !vendor->find_tool(tool, sizeof tool))
        return context_fail(cx, TW_ERROR_UNAVAILABLE, "no %s compiler: %s; %s is not in PATH either",
                            vendor->driver.title, why, vendor->tool);
    const char *arch = choose_arch(k, device);
    bool load = k->request->stage == TW_STAGE_RUN;
    if (!cx->cache_dir && !load) return TW_OK; /* nothing can be kept */
    if (!cx->cache_dir && state->rtc_open) return build_in_memory(k, state, device, arch);
    make_key(k, state, arch, tool, hex);
    if (cache_find(cx->cache_dir, hex, vendor->code_ending, path)) return load ? load_module(k, device, path) : TW_OK;
    Room room;
    bool in_cache = state->rtc_open || may_work_in(vendor, cx->cache_dir);
    if (!room_open(&room, in_cache ? cx->cache_dir : NULL, context_cancel(cx))) return no_room(cx);
    snprintf(to, sizeof to, "kernel%s", vendor->code_ending);
    status = state->rtc_open ? compile_by_rtc(k, state, arch, &room, to) : compile_by_tool(k, tool, arch, &room, to);
    if (status == TW_OK) {
        char made[CACHE_PATH + 32];
        snprintf(made, sizeof made, "%s/%s", room.path, to);
        bool kept = cache_keep(cx->cache_dir, hex, vendor->code_ending, made, path);
        if (load) status = load_module(k, device, kept ? path : made);
    }
    room_close(&room);
    return status;
}

void gpu_destroy(tw_kernel *k) {
    SimtCode *code = k->code;
    if (!code || !code->module || *code->device->faults.lost) return;
    int before = gpu_device_enter(code->device);
    code->device->driver->module_unload(code->module);
    if (vendor_of(k)->unload) vendor_of(k)->unload(k);
    gpu_device_leave(code->device, before);
}
