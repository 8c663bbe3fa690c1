/* cuda_driver.h: the CUDA driver, opened at run time from a table of functions (cuda_driver.def);
 * never linked, no cuda.h. Without a driver everything else works: cuda_driver_open says what is
 * missing and what to do.
 *
 *     CudaDriver d;
 *     char why[256];
 *     if (!cuda_driver_open(&d, why, sizeof why)) say(why);
 *     d.alloc(&address, bytes);              each function returns a CudaResult, 0 is good
 *     cuda_driver_close(&d); */
#ifndef RUNTIME_DEVICE_CUDA_DRIVER_H
#define RUNTIME_DEVICE_CUDA_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int CudaResult;
typedef struct CudaContextTag *CudaContext;
typedef struct CudaModuleTag *CudaModule;
typedef struct CudaFunctionTag *CudaFunction;
typedef unsigned long long CudaAddress;

/* Numbers of the driver's ABI that we use. */
enum {
    CUDA_ATTRIBUTE_SM_COUNT = 16,
    CUDA_ATTRIBUTE_MAJOR = 75,
    CUDA_ATTRIBUTE_MINOR = 76,
    CUDA_ATTRIBUTE_SHARED_BYTES = 97, /* of one block, opt-in */
    CUDA_POINTER_ORDINAL = 9,
    CUDA_FUNCTION_MAX_THREADS = 0,
    CUDA_FUNCTION_LOCAL_BYTES = 3,
    CUDA_FUNCTION_REGISTERS = 4,
    CUDA_FUNCTION_SHARED_BYTES = 8,
    CUDA_LAUNCH_COOPERATIVE = 2,
    CUDA_LAUNCH_CLUSTER = 4,
    CUDA_LAUNCH_EARLY = 6, /* programmatic stream serialization */
    CUDA_ERROR_OUT_OF_MEMORY_RESULT = 2,
    CUDA_ERROR_CONTEXT_RESULT = 201,
    CUDA_ERROR_NO_BINARY_RESULT = 209,
    CUDA_ERROR_INVALID_HANDLE_RESULT = 400,
    CUDA_ERROR_RESOURCES_RESULT = 701,
    CUDA_ERROR_CAPTURE_RESULT = 900, /* and those behind it: not while a graph is captured */
    CUDA_ERROR_CAPTURE_LAST = 908,
    CUDA_MAP_U8 = 0,
    CUDA_MAP_U16 = 1,
    CUDA_MAP_U32 = 2,
    CUDA_MAP_I32 = 3,
    CUDA_MAP_U64 = 4,
    CUDA_MAP_I64 = 5,
    CUDA_MAP_F16 = 6,
    CUDA_MAP_F32 = 7,
    CUDA_MAP_F64 = 8,
    CUDA_MAP_BF16 = 9,
    CUDA_MAP_PROMOTE_256 = 3
};

/* CUlaunchConfig. The value of an attribute: the extents of a cluster, or one number. */
typedef struct CudaLaunchAttribute {
    _Alignas(8) int id;
    int padding;
    unsigned value[16];
} CudaLaunchAttribute;
typedef struct CudaLaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    CudaLaunchAttribute *attributes;
    unsigned attribute_count;
} CudaLaunchConfig;

typedef struct CudaDriver {
    void *library;
#define DRIVER(name, symbol, parameters) CudaResult(*name) parameters;
#include "runtime/device/cuda_driver.def"
#undef DRIVER
    int devices, version; /* how many there are */
    char path[256];
} CudaDriver;

/* Opens the library and counts the devices. */
bool cuda_driver_open(CudaDriver *driver, char *why, size_t capacity);
void cuda_driver_close(CudaDriver *driver);
/* "CUDA_ERROR_INVALID_VALUE: invalid argument" */
void cuda_driver_describe(const CudaDriver *driver, CudaResult result, char *text, size_t capacity);
#endif
