/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_driver.h: a vendor's driver (CUDA's, or HIP's runtime), opened at run time from one table of functions with a
 * column a vendor (gpu_driver.def); never linked, no header of theirs. Without a driver everything else works:
 * gpu_driver_open says what is missing and what to do.
 *
 *     GpuDriver d;
 *     char why[256];
 *     if (!gpu_driver_open(&d, &names, why, sizeof why)) say(why);
 *     d.alloc(&address, bytes);              each function returns a GpuResult, 0 is good
 *     gpu_driver_close(&d); */
#ifndef RUNTIME_DEVICE_GPU_DRIVER_H
#define RUNTIME_DEVICE_GPU_DRIVER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int GpuResult;
typedef struct GpuContextTag *GpuContext;
typedef struct GpuModuleTag *GpuModule;
typedef struct GpuFunctionTag *GpuFunction;
typedef unsigned long long GpuAddress;

/* Numbers of both vendors' ABI that we use. */
enum {
    GPU_POINTER_ORDINAL = 9,
    GPU_FUNCTION_MAX_THREADS = 0,
    GPU_FUNCTION_LOCAL_BYTES = 3,
    GPU_FUNCTION_REGISTERS = 4,
    GPU_FUNCTION_SHARED_BYTES = 8,
    GPU_ERROR_OUT_OF_MEMORY = 2,
    GPU_ERROR_CONTEXT = 201,
    GPU_ERROR_NO_BINARY = 209,
    GPU_ERROR_INVALID_HANDLE = 400,
    GPU_ERROR_NOT_READY = 600,
    GPU_ERROR_RESOURCES = 701,
    GPU_ERROR_CAPTURE = 900, /* and those behind it: not while a graph is captured */
    GPU_ERROR_CAPTURE_LAST = 908
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

/* What a vendor's driver is called, and its own numbers. */
typedef struct GpuDriverNames {
    const char *title;              /* "CUDA" */
    bool hip;                       /* the column of the table */
    const char *library, *more[5];  /* as messages name it; where else it is */
    const char *absent, *least;     /* what to do without one; from which version on it will do */
    const char *blocking, *visible; /* variables: launches one by one; which devices there are */
    const char *units;              /* "SMs" */
    int major, minor;               /* one of its version's number is so much */
    struct {
        int major, minor, units, shared_bytes; /* numbers of attributes of a device; 0: it has none */
    } attribute;
} GpuDriverNames;

typedef struct GpuDriver {
    void *library;
    const GpuDriverNames *names;
#define DRIVER(name, cuda, hip, parameters) GpuResult(*name) parameters;
#include "runtime/device/gpu_driver.def"
#undef DRIVER
    int devices;      /* how many there are */
    int major, minor; /* of its version */
    char path[256];
} GpuDriver;

/* Opens the library and counts the devices. */
bool gpu_driver_open(GpuDriver *driver, const GpuDriverNames *names, char *why, size_t capacity);
void gpu_driver_close(GpuDriver *driver);
/* "CUDA_ERROR_INVALID_VALUE: invalid argument" */
void gpu_driver_describe(const GpuDriver *driver, GpuResult result, char *text, size_t capacity);
#endif
