/* SPDX-License-Identifier: Apache-2.0 */
/* fake_hip.c: HIP's runtime and hipRTC without a GPU. Its compiler is the host's, its device the emulator (src/target/hip/emu): a kernel
 * that is launched here really runs, with the arguments as they were packed, and what the emulator finds is an error of the device.
 *
 *     cc -shared -fPIC -Isrc -Iinclude -o libamdhip64.so fake_hip.c build/libtilewright.a -ldl -lm -lpthread; cp libamdhip64.so libhiprtc.so
 *     FAKE_HIP="hipInit=100 hipDeviceSynchronize=719@2"  what a function answers; @2: from its second call on
 *     FAKE_ARCH=gfx90a  FAKE_COUNT=2  FAKE_SHARED=65536   what the devices are
 *     FAKE_TALKS=1                                        launches are told on stderr: blocks, threads, bytes, stream */
#include "fake.h"

#include "base/embedded.h"
#include "target/hip/emu/hip_emu.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACES = 256, HEADERS = 64, ARCH_AT = 1160 };
static int current, late; /* the device; the error that the next wait tells */
static EmuAllocation places[PLACES];
static int home[PLACES];
static size_t place_count;
#define ANSWER fake_answer("FAKE_HIP", __func__, current)

static const char *arch_of_device(void) { return getenv("FAKE_ARCH") ? getenv("FAKE_ARCH") : "gfx942:sramecc+:xnack-"; }
static int wait_ends(const char *name) {
    int result = fake_answer("FAKE_HIP", name, current);
    return result ? result : late;
}

API(hipInit, (unsigned flags)) { return (void)flags, ANSWER; }
API(hipDriverGetVersion, (int *version)) { return *version = 60240134, ANSWER; }
API(hipGetDeviceCount, (int *devices)) { return *devices = number("FAKE_COUNT", 1), ANSWER; }
API(hipDeviceGet, (int *device, int ordinal)) { return *device = ordinal, ANSWER; }
API(hipDeviceGetName, (char *name, int length, int device)) { return (void)device, snprintf(name, (size_t)length, "no AMD GPU at all"), ANSWER; }
API(hipDeviceGetAttribute, (int *value, int attribute, int device)) {
    return (void)device, *value = attribute == 63 ? 304 : attribute == 74 ? number("FAKE_SHARED", 65536) : -1, ANSWER;
}
API(hipGetDevicePropertiesR0600, (char *properties, int device)) {
    return (void)device, memset(properties, 0, 1472), strcpy(properties + ARCH_AT, arch_of_device()), ANSWER;
}
API(hipDeviceTotalMem, (size_t *bytes, int device)) { return (void)device, *bytes = (size_t)1 << 33, ANSWER; }
API(hipGetDevice, (int *device)) { return *device = current, ANSWER; }
API(hipSetDevice, (int device)) { return current = device, ANSWER; }
API(hipDeviceSynchronize, (void)) { return wait_ends(__func__); }
API(hipStreamSynchronize, (void *stream)) { return (void)stream, wait_ends(__func__); }
API(hipStreamQuery, (void *stream)) { return (void)stream, wait_ends(__func__); }
API(hipDrvGetErrorName, (int result, const char **name)) {
    *name = result == 2     ? "hipErrorOutOfMemory"
            : result == 100 ? "hipErrorNoDevice"
            : result == 209 ? "hipErrorNoBinaryForGpu"
            : result == 719 ? "hipErrorLaunchFailure"
                            : "hipErrorFaked";
    return 0;
}
API(hipDrvGetErrorString, (int result, const char **text)) { return (void)result, *text = "as asked for", 0; }

/* --- memory: the host's --- */
API(hipMalloc, (void **address, size_t bytes)) {
    int result = ANSWER;
    if (result || place_count == PLACES) return result ? result : 2;
    *address = malloc(bytes);
    home[place_count] = current;
    places[place_count++] = (EmuAllocation){"memory of the device", *address, bytes};
    return 0;
}
API(hipFree, (void *address)) {
    for (size_t i = 0; i < place_count; i++)
        if (places[i].base == address) {
            places[i] = places[--place_count];
            home[i] = home[place_count];
            return free(address), ANSWER;
        }
    return 1;
}
API(hipMallocAsync, (void **address, size_t bytes, void *stream)) {
    int result = ANSWER;
    return (void)stream, result ? result : hipMalloc(address, bytes);
}
API(hipFreeAsync, (void *address, void *stream)) {
    int result = ANSWER;
    return (void)stream, result ? result : hipFree(address);
}
API(hipMemsetD8, (void *to, unsigned char value, size_t bytes)) { return memset(to, value, bytes), ANSWER; }
API(hipMemcpyHtoD, (void *to, const void *from, size_t bytes)) { return memcpy(to, from, bytes), wait_ends(__func__); }
API(hipMemcpyDtoH, (void *to, const void *from, size_t bytes)) { return memcpy(to, from, bytes), wait_ends(__func__); }
API(hipMemGetInfo, (size_t *left, size_t *all)) { return *left = 1000, *all = (size_t)1 << 33, ANSWER; }
API(hipPointerGetAttribute, (int *value, int attribute, const void *address)) {
    for (size_t i = 0; attribute == 9 && i < place_count; i++)
        if (places[i].base == address) return *value = home[i], ANSWER;
    return 1;
}

/* --- hipRTC: text -> a head of 64 bytes that names the architecture, and a shared object --- */
typedef struct Program {
    char folder[64], log[8000];
    char *code;
    size_t size;
} Program;
enum { HEAD = 64 };

static int put(const char *folder, const char *name, const char *text) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    if (!f) return 0;
    fputs(text, f);
    return fclose(f) == 0;
}
static char *get(const char *folder, const char *name, size_t *size) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    char *bytes = f ? malloc(1 << 24) : NULL;
    *size = bytes ? fread(bytes, 1, 1 << 24, f) : 0;
    if (f) fclose(f);
    return bytes;
}
/* Headers of the emulator, which stand in for the chip's instructions. */
static void put_emulator(const char *folder) {
    for (const EmbeddedFile *file = embedded_files; file->path; file++) {
        const char *name = strrchr(file->path, '/') + 1;
        int ours = strncmp(file->path, "hip/", 4) == 0 || strncmp(file->path, "simt/", 5) == 0;
        if (ours && strstr(file->path, "/include/")) put(folder, name, file->text);
    }
}

API(hiprtcVersion, (int *major, int *minor)) { return *major = 6, *minor = 2, ANSWER; }
API(hiprtcCreateProgram, (Program **out, const char *text, const char *name, int count, const char *const *headers, const char *const *names)) {
    Program *p = *out = calloc(1, sizeof *p);
    strcpy(p->folder, "/tmp/tw_fake_hip_XXXXXX");
    if (!mkdtemp(p->folder) || strcmp(name + strlen(name) - 4, ".hip") != 0) return 1;
    for (int i = 0; i < count; i++) put(p->folder, names[i], headers[i]);
    put_emulator(p->folder);
    put(p->folder, "kernel.hip", text);
    return ANSWER;
}
API(hiprtcCompileProgram, (Program *p, int count, const char *const *options)) {
    char command[600], arch[32] = "";
    int result = ANSWER;
    for (int i = 0; i < count; i++) sscanf(options[i], "--offload-arch=%31s", arch);
    snprintf(command, sizeof command, "cd %s && g++ %s -I. -o kernel.so kernel.hip >log 2>&1", p->folder, EMU_CXXFLAGS);
    if (!result && (!*arch || system(command) != 0)) result = 6;
    size_t size;
    char *log = get(p->folder, "log", &size), *object = result ? NULL : get(p->folder, "kernel.so", &size);
    snprintf(p->log, sizeof p->log, "%.*s", result ? (int)size : 0, log ? log : "");
    if (result && !*p->log) strcpy(p->log, "it refuses, as asked for");
    if (object) {
        p->size = HEAD + size;
        p->code = calloc(1, p->size);
        snprintf(p->code, HEAD, "fake %s %zu", arch, size);
        memcpy(p->code + HEAD, object, size);
    }
    free(log);
    free(object);
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    return system(command) != 0 ? 1 : result;
}
API(hiprtcGetCodeSize, (Program *p, size_t *size)) { return *size = p->size, ANSWER; }
API(hiprtcGetCode, (Program *p, char *code)) { return memcpy(code, p->code, p->size), ANSWER; }
API(hiprtcGetProgramLogSize, (Program *p, size_t *size)) { return *size = strlen(p->log) + 1, ANSWER; }
API(hiprtcGetProgramLog, (Program *p, char *log)) { return strcpy(log, p->log), ANSWER; }
API(hiprtcDestroyProgram, (Program **p)) { return free((*p)->code), free(*p), *p = NULL, ANSWER; }

/* --- modules --- */
typedef struct Function {
    EmuEntry entry;
    unsigned lanes;
    int device;
} Function;
typedef struct Module {
    void *object;
    Function function;
} Module;

API(hipModuleLoadData, (Module **out, const char *image)) {
    char arch[32], folder[] = "/tmp/tw_fake_hip_XXXXXX", path[64];
    size_t size;
    if (sscanf(image, "fake %31s %zu", arch, &size) != 2) return 200;
    if (strncmp(arch, arch_of_device(), strlen(arch)) != 0) return 209;
    Module *m = *out = calloc(1, sizeof *m);
    snprintf(path, sizeof path, "%s/k.so", mkdtemp(folder));
    FILE *f = fopen(path, "wb");
    fwrite(image + HEAD, 1, size, f);
    fclose(f);
    m->object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    m->function = (Function){NULL, strncmp(arch, "gfx9", 4) == 0 ? 64 : 32, current};
    unlink(path);
    rmdir(folder);
    return m->object ? ANSWER : 200;
}
API(hipModuleUnload, (Module *m)) { return dlclose(m->object), free(m), ANSWER; }
API(hipModuleGetFunction, (Function **out, Module *m, const char *name)) {
    char symbol[300];
    snprintf(symbol, sizeof symbol, "tw_emu_%s", name);
    *(void **)&m->function.entry = dlsym(m->object, symbol);
    *out = &m->function;
    return m->function.entry ? ANSWER : 500;
}
API(hipFuncGetAttribute, (int *value, int attribute, void *given)) {
    return (void)given, *value = attribute == 4 ? 42 : attribute == 0 ? 1024 : 0, ANSWER;
}
API(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *given, int threads, size_t bytes)) {
    return (void)given, (void)threads, (void)bytes, *blocks = 1, ANSWER;
}
API(hipModuleLaunchKernel, (Function *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                            void *stream, void **params, void **extra)) {
    int result = ANSWER;
    if (result) return result;
    if (f->device != current || by != 1 || bz != 1 || extra) return 1;
    if (getenv("FAKE_TALKS"))
        fprintf(stderr, "hip: %u x %u x %u blocks of %u, %u bytes, stream %zu\n", x, y, z, bx, shared, (size_t)stream);
    Trap trap = {0};
    Arena arena;
    EmuReport report;
    EmuLaunch launch = {.kernel = "launched", .file = "kernel.hip", .entry = f->entry, .grid = {x, y, z}, .threads = bx, .lanes = f->lanes,
                        .shared_bytes = shared, .shared_most = 65536, .params = params, .allocations = places, .allocation_count = place_count};
    arena_init(&arena, allocator_malloc, &trap);
    if (!hip_emu_launch(&launch, &arena, &report)) {
        fprintf(stderr, "hip: %s\n", report.text);
        late = 719;
    }
    arena_free(&arena);
    return 0;
}
