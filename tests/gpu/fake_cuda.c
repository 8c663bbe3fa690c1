/* fake_cuda.c: a libcuda.so.1 without a GPU, for tests of the host side: the functions of the driver that the runtime calls, with
 * host memory for the device's, and a count of every call. Kernels do nothing; what the last launch was given can be asked for.
 *
 *     cc -shared -fPIC -o libcuda.so.1 fake_cuda.c;  LD_LIBRARY_PATH=. program
 *     fake_calls("cuMemAlloc_v2")   fake_last_stream()   fake_last_grid(0)
 * FAKE_CUDA_LAUNCH=400 makes cuLaunchKernel fail with that number. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *called[4096];
static int call_count;
static void *last_stream;
static unsigned last_grid[3];
static int current = 0; /* is the primary context the thread's */
static int context, module, function;

static int count(const char *name) {
    if (call_count < 4096) called[call_count++] = name;
    return 0;
}
#define COUNTED count(__func__)

int fake_calls(const char *name);
int fake_calls(const char *name) { /* NULL: all */
    int n = 0;
    for (int i = 0; i < call_count; i++) n += !name || strcmp(called[i], name) == 0;
    return n;
}
void fake_forget(void);
void fake_forget(void) { call_count = 0; }
void *fake_last_stream(void);
void *fake_last_stream(void) { return last_stream; }
unsigned fake_last_grid(int d);
unsigned fake_last_grid(int d) { return last_grid[d]; }

#define API(name, parameters) \
    int name parameters;      \
    int name parameters
API(cuInit, (unsigned flags)) { return (void)flags, COUNTED; }
API(cuDriverGetVersion, (int *version)) { return *version = 13000, COUNTED; }
API(cuDeviceGetCount, (int *devices)) { return *devices = 1, COUNTED; }
API(cuDeviceGet, (int *device, int ordinal)) { return *device = ordinal, COUNTED; }
API(cuDeviceGetName, (char *name, int length, int device)) {
    (void)device;
    strncpy(name, "no GPU at all", (size_t)length);
    return COUNTED;
}
API(cuDeviceGetAttribute, (int *value, int attribute, int device)) {
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 132 : attribute == 97 ? 232448 : 1;
    return COUNTED;
}
API(cuDeviceTotalMem_v2, (size_t *bytes, int device)) { return (void)device, *bytes = (size_t)1 << 33, COUNTED; }
API(cuDevicePrimaryCtxRetain, (void **out, int device)) { return (void)device, *out = &context, COUNTED; }
API(cuDevicePrimaryCtxRelease_v2, (int device)) { return (void)device, COUNTED; }
API(cuCtxGetCurrent, (void **out)) { return *out = current > 0 ? &context : NULL, COUNTED; }
API(cuCtxPushCurrent_v2, (void *given)) { return (void)given, current++, COUNTED; }
API(cuCtxPopCurrent_v2, (void **out)) { return *out = &context, current--, COUNTED; }
API(cuCtxSynchronize, (void)) { return COUNTED; }
API(cuModuleLoadData, (void **out, const void *image)) {
    if (memcmp(image, "\177ELF", 4) != 0) return 200;
    return *out = &module, COUNTED;
}
API(cuModuleUnload, (void *given)) { return (void)given, COUNTED; }
API(cuModuleGetFunction, (void **out, void *given, const char *name)) { return (void)given, (void)name, *out = &function, COUNTED; }
API(cuModuleGetGlobal_v2, (void **at, size_t *size, void *given, const char *name)) {
    return (void)given, (void)name, *at = NULL, *size = 0, 500;
}
API(cuFuncSetAttribute, (void *given, int attribute, int value)) { return (void)given, (void)attribute, (void)value, COUNTED; }
API(cuFuncGetAttribute, (int *value, int attribute, void *given)) {
    (void)given;
    *value = attribute == 4 ? 42 : attribute == 3 ? 16 : attribute == 0 ? 1024 : 0;
    return COUNTED;
}
API(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, void *given, int threads, size_t bytes)) {
    return (void)given, (void)threads, (void)bytes, *blocks = 1, COUNTED;
}
API(cuLaunchKernel, (void *given, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                     void *stream, void **params, void **extra)) {
    (void)given, (void)bx, (void)by, (void)bz, (void)shared, (void)params, (void)extra;
    last_stream = stream;
    last_grid[0] = x, last_grid[1] = y, last_grid[2] = z;
    const char *fault = getenv("FAKE_CUDA_LAUNCH");
    COUNTED;
    return fault ? atoi(fault) : 0;
}
API(cuMemAlloc_v2, (uint64_t *address, size_t bytes)) { return *address = (uint64_t)(uintptr_t)malloc(bytes), COUNTED; }
API(cuMemFree_v2, (uint64_t address)) { return free((void *)(uintptr_t)address), COUNTED; }
API(cuMemsetD8_v2, (uint64_t to, unsigned char value, size_t bytes)) { return memset((void *)(uintptr_t)to, value, bytes), COUNTED; }
API(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes)) { return memcpy((void *)(uintptr_t)to, from, bytes), COUNTED; }
API(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes)) { return memcpy(to, (void *)(uintptr_t)from, bytes), COUNTED; }
API(cuStreamSynchronize, (void *stream)) { return (void)stream, COUNTED; }
API(cuGetErrorName, (int result, const char **name)) { return (void)result, *name = "CUDA_ERROR_FAKED", 0; }
API(cuGetErrorString, (int result, const char **text)) { return (void)result, *text = "as asked for", 0; }
/* NVRTC asks the driver for its cache; it finds none here. */
API(cuGetExportTable, (const void **table, const void *id)) { return (void)id, *table = NULL, 500; }
API(cuTensorMapEncodeTiled, (void *map, int type, uint32_t rank, void *base, const uint64_t *dims, const uint64_t *strides,
                             const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill)) {
    (void)type, (void)rank, (void)base, (void)dims, (void)strides, (void)box, (void)steps;
    (void)interleave, (void)swizzle, (void)promotion, (void)fill;
    return memset(map, 1, 128), COUNTED;
}
