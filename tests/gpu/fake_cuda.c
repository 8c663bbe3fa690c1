/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.c: a CUDA driver and an NVRTC without a GPU, for tests of the host side: every call is counted, and fails if it was told
 * to. Kernels do nothing; memory is the host's; what the last launch was given can be asked for.
 *
 *     cc -shared -fPIC -o libcuda.so.1 fake_cuda.c;  LD_LIBRARY_PATH=. program        (-DOLD_DRIVER: one without tensor maps)
 *     FAKE_CUDA="cuInit=100 cuCtxSynchronize=719@2"     what a function answers; @2: from its second call on
 *     FAKE_UNKNOWN=--pch                                an option that NVRTC does not know
 *     FAKE_ARCH=75  FAKE_SHARED=65536  FAKE_COUNT=0  FAKE_DRIVER=12020                what device and driver are
 *     FAKE_COUNT=2 FAKE_ARCH=90,80                      two devices; streams 1000 to 1999 are of the second, and so on
 *     FAKE_SHARED_1=1024                                shared memory of the second
 *     FAKE_LOST=1                                       what is asked for in FAKE_CUDA happens on this device alone
 *     fake_calls("cuMemAlloc_v2")   fake_last_stream()   fake_last_device()   fake_last_grid(0)   fake_last_cluster()   fake_last_early()   fake_last_together()
 *     FAKE_NO_CUBIN=1                                   cubins are of another GPU, PTX is taken
 *     fake_place(address, 1)   fake_last_ptx()   fake_on_launch(f): f(params) is what the kernel does
 *
 * A tensor map is base, type, rank, swizzle, extents (from word 4), strides (from 9), box (two a word, from 13). */
#include "fake.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static void *last_stream;
static bool last_ptx;
static void (*on_launch)(void **params);
static unsigned last_grid[3], last_cluster, last_early, last_together;
enum { DEVICES = 8, PLACES = 64 };
static int contexts[DEVICES], modules[DEVICES], functions[DEVICES]; /* addresses that tell the device */
static int current[64], depth;                                      /* devices of the contexts that were pushed */
static int last_device = -1;
static struct {
    uint64_t address;
    int device;
} places[PLACES];
static int place_count;

void fake_on_launch(void (*call)(void **params));
void fake_on_launch(void (*call)(void **params)) { on_launch = call; }
bool fake_last_ptx(void);
bool fake_last_ptx(void) { return last_ptx; }
void *fake_last_stream(void);
void *fake_last_stream(void) { return last_stream; }
int fake_last_device(void);
int fake_last_device(void) { return last_device; }
void fake_place(uint64_t address, int device);
void fake_place(uint64_t address, int device) {
    if (place_count < PLACES) places[place_count].address = address, places[place_count++].device = device;
}
unsigned fake_last_grid(int d);
unsigned fake_last_grid(int d) { return last_grid[d]; }

unsigned fake_last_cluster(void);
unsigned fake_last_cluster(void) { return last_cluster; }
unsigned fake_last_early(void);
unsigned fake_last_early(void) { return last_early; }
unsigned fake_last_together(void);
unsigned fake_last_together(void) { return last_together; }

static int arch_of(int device) {
    const char *text = getenv("FAKE_ARCH");
    for (; text && device > 0 && strchr(text, ','); device--) text = strchr(text, ',') + 1;
    return text ? atoi(text) : 90;
}
static int now(void) { return depth ? current[depth - 1] : -1; }
#define ANSWER fake_answer("FAKE_CUDA", __func__, now())

API(cuInit, (unsigned flags)) { return (void)flags, ANSWER; }
API(cuDriverGetVersion, (int *version)) { return *version = number("FAKE_DRIVER", 13000), ANSWER; }
API(cuDeviceGetCount, (int *devices)) { return *devices = number("FAKE_COUNT", 1), ANSWER; }
API(cuDeviceGet, (int *device, int ordinal)) { return *device = ordinal, ANSWER; }
API(cuDeviceGetName, (char *name, int length, int device)) { return (void)device, snprintf(name, (size_t)length, "no GPU at all"), ANSWER; }
API(cuDeviceGetAttribute, (int *value, int attribute, int device)) {
    int arch = arch_of(device);
    *value = attribute == 75   ? arch / 10
             : attribute == 76 ? arch % 10
             : attribute == 16 ? 132
             : attribute == 97 ? number(device == 1 ? "FAKE_SHARED_1" : "FAKE_SHARED", number("FAKE_SHARED", 232448))
                               : 1;
    return ANSWER;
}
API(cuDeviceTotalMem_v2, (size_t *bytes, int device)) { return (void)device, *bytes = (size_t)1 << 33, ANSWER; }
API(cuDevicePrimaryCtxRetain, (void **out, int device)) { return *out = &contexts[device], ANSWER; }
API(cuDevicePrimaryCtxRelease_v2, (int device)) { return (void)device, ANSWER; }
API(cuCtxGetDevice, (int *device)) { return *device = now(), depth ? ANSWER : 201; }
API(cuCtxGetCurrent, (void **out)) { return *out = depth ? &contexts[now()] : NULL, ANSWER; }
API(cuCtxPushCurrent_v2, (void *given)) { return current[depth++] = (int)((int *)given - contexts), ANSWER; }
API(cuCtxPopCurrent_v2, (void **out)) { return *out = &contexts[now()], depth--, ANSWER; }
API(cuCtxSynchronize, (void)) { return ANSWER; }
API(cuModuleLoadData, (void **out, const void *image)) {
    bool cubin = memcmp(image, "\177ELF", 4) == 0;
    last_ptx = !cubin;
    if (cubin ? getenv("FAKE_NO_CUBIN") != NULL : memcmp(image, ".version", 8) != 0) return cubin ? 209 : 200;
    return *out = &modules[now()], ANSWER;
}
API(cuModuleUnload, (void *given)) { return (void)given, ANSWER; }
API(cuModuleGetFunction, (void **out, void *given, const char *name)) {
    return (void)name, *out = &functions[(int *)given - modules], ANSWER;
}
API(cuModuleGetGlobal_v2, (void **at, size_t *size, void *given, const char *name)) {
    return (void)given, (void)name, *at = NULL, *size = 0, 500;
}
API(cuFuncSetAttribute, (void *given, int attribute, int value)) { return (void)given, (void)attribute, (void)value, ANSWER; }
API(cuFuncGetAttribute, (int *value, int attribute, void *given)) {
    (void)given;
    *value = attribute == 4 ? 42 : attribute == 3 ? 16 : attribute == 0 ? 1024 : 0;
    return ANSWER;
}
API(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *given, int threads, size_t bytes)) {
    return (void)given, (void)threads, (void)bytes, *blocks = 1, ANSWER;
}
API(cuLaunchKernel, (void *given, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                     void *stream, void **params, void **extra)) {
    (void)bx, (void)by, (void)bz, (void)shared, (void)extra;
    last_device = (int)((int *)given - functions);
    if (last_device != now() || (stream && (int)((uintptr_t)stream / 1000) != last_device)) return 400;
    last_stream = stream;
    last_grid[0] = x, last_grid[1] = y, last_grid[2] = z;
    last_cluster = 1, last_early = last_together = 0;
    if (on_launch) on_launch(params);
    return ANSWER;
}
/* CUlaunchConfig, and CUlaunchAttribute: the extents of a cluster (4), beginning before the launch before it ends (6). */
struct attribute {
    int id, padding;
    unsigned value[16];
};
struct config {
    unsigned grid[3], block[3], shared;
    void *stream;
    struct attribute *attributes;
    unsigned count;
};
API(cuLaunchKernelEx, (const struct config *c, void *given, void **params, void **extra)) {
    (void)params, (void)extra;
    last_device = (int)((int *)given - functions);
    last_stream = c->stream;
    memcpy(last_grid, c->grid, sizeof last_grid);
    last_cluster = 1, last_early = last_together = 0;
    for (unsigned i = 0; i < c->count; i++) {
        if (c->attributes[i].id == 4) last_cluster = c->attributes[i].value[0];
        if (c->attributes[i].id == 6) last_early = c->attributes[i].value[0];
        if (c->attributes[i].id == 2) last_together = c->attributes[i].value[0];
    }
    return ANSWER;
}
API(cuMemAlloc_v2, (uint64_t *address, size_t bytes)) {
    int result = ANSWER;
    if (!result) fake_place(*address = (uint64_t)(uintptr_t)malloc(bytes), now());
    return result;
}
API(cuMemAllocAsync, (void **address, size_t bytes, void *stream)) {
    int result = ANSWER;
    (void)stream, *address = result ? NULL : malloc(bytes);
    return result;
}
API(cuMemFreeAsync, (void *address, void *stream)) { return (void)stream, free(address), ANSWER; }
API(cuMemFree_v2, (uint64_t address)) { return free((void *)(uintptr_t)address), ANSWER; }
API(cuMemGetInfo_v2, (size_t *left, size_t *all)) { return *left = 1000, *all = (size_t)1 << 33, ANSWER; }
API(cuMemsetD8_v2, (uint64_t to, unsigned char value, size_t bytes)) { return memset((void *)(uintptr_t)to, value, bytes), ANSWER; }
API(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes)) { return memcpy((void *)(uintptr_t)to, from, bytes), ANSWER; }
API(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes)) { return memcpy(to, (void *)(uintptr_t)from, bytes), ANSWER; }
API(cuPointerGetAttribute, (int *value, int attribute, uint64_t address)) {
    for (int i = place_count; attribute == 9 && i-- > 0;)
        if (places[i].address == address) return *value = places[i].device, ANSWER;
    return 1;
}
API(cuStreamSynchronize, (void *stream)) { return (void)stream, ANSWER; }
API(cuStreamQuery, (void *stream)) { return (void)stream, ANSWER; }
API(cuGetErrorName, (int result, const char **name)) {
    *name = result == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : result == 100 ? "CUDA_ERROR_NO_DEVICE"
            : result == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : result == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
            : result == 719 ? "CUDA_ERROR_LAUNCH_FAILED"
                            : "CUDA_ERROR_FAKED";
    return 0;
}
API(cuGetErrorString, (int result, const char **text)) { return (void)result, *text = "as asked for", 0; }
/* NVRTC asks the driver for its cache; it finds none here. */
API(cuGetExportTable, (const void **table, const void *id)) { return (void)id, *table = NULL, 500; }
#ifndef OLD_DRIVER
API(cuTensorMapEncodeTiled, (void *map, int type, uint32_t rank, void *base, const uint64_t *dims, const uint64_t *strides,
                             const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill)) {
    uint64_t words[16] = {(uint64_t)(uintptr_t)base, (uint64_t)type, rank, (uint64_t)swizzle};
    (void)steps, (void)interleave, (void)promotion, (void)fill;
    for (uint32_t d = 0; d < rank; d++) words[4 + d] = dims[d], words[13 + d / 2] |= (uint64_t)box[d] << 32 * (d % 2);
    for (uint32_t d = 1; d < rank; d++) words[8 + d] = strides[d - 1];
    return memcpy(map, words, sizeof words), ANSWER;
}
#endif

/* NVRTC, where libnvrtc.so is this file too: what it makes is an object by its first letters only. */
API(nvrtcVersion, (int *major, int *minor)) { return *major = 13, *minor = 0, ANSWER; }
API(nvrtcCreateProgram, (void **program, const char *text, const char *name, int count, const char *const *headers,
                         const char *const *names)) {
    (void)text, (void)name, (void)count, (void)headers, (void)names;
    return *program = modules, ANSWER;
}
API(nvrtcCompileProgram, (void *program, int count, const char *const *options)) {
    const char *unknown = getenv("FAKE_UNKNOWN");
    (void)program;
    for (int i = 0; i < count && unknown; i++)
        if (strcmp(options[i], unknown) == 0) return 5;
    return ANSWER;
}
API(nvrtcGetCUBINSize, (void *program, size_t *size)) { return (void)program, *size = 64, ANSWER; }
API(nvrtcGetCUBIN, (void *program, char *cubin)) { return (void)program, memcpy(memset(cubin, 0, 64), "\177ELF", 4), ANSWER; }
API(nvrtcGetPTXSize, (void *program, size_t *size)) { return (void)program, *size = sizeof ".version 9.0", ANSWER; }
API(nvrtcGetPTX, (void *program, char *ptx)) { return (void)program, strcpy(ptx, ".version 9.0"), ANSWER; }
API(nvrtcGetProgramLogSize, (void *program, size_t *size)) { return (void)program, *size = sizeof "it refuses, as asked for", ANSWER; }
API(nvrtcGetProgramLog, (void *program, char *log)) { return (void)program, strcpy(log, "it refuses, as asked for"), ANSWER; }
API(nvrtcDestroyProgram, (void **program)) { return *program = NULL, ANSWER; }
