/* cuda_driver.c: see cuda_driver.h. */
#include "runtime/device/cuda_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *open_library(void) {
    static const char *const names[] = {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1",
                                        "/usr/local/nvidia/lib64/libcuda.so.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library) return library;
    }
    return NULL;
}

/* Data and function pointers have one size here (POSIX says so for dlsym). */
static bool load_functions(CudaDriver *d, char *why, size_t capacity) {
#define DRIVER(name, symbol, parameters)                                                                             \
    if (!(*(void **)&d->name = dlsym(d->library, symbol))) {                                                         \
        snprintf(why, capacity, "the CUDA driver has no %s; a newer driver is needed (CUDA 12.0 or later)", symbol); \
        return false;                                                                                                \
    }
#include "runtime/device/cuda_driver.def"
#undef DRIVER
    return true;
}

void cuda_driver_describe(const CudaDriver *driver, CudaResult result, char *text, size_t capacity) {
    const char *name = NULL, *meaning = NULL;
    if (driver->error_name) driver->error_name(result, &name);
    if (driver->error_text) driver->error_text(result, &meaning);
    snprintf(text, capacity, "%s: %s", name ? name : "unknown CUDA error", meaning ? meaning : "no description");
}

static bool start(CudaDriver *d, char *why, size_t capacity) {
    CudaResult result = d->init(0);
    if (result == 0) result = d->device_count(&d->devices);
    if (result != 0) {
        char text[200];
        cuda_driver_describe(d, result, text, sizeof text);
        snprintf(why, capacity, "the CUDA driver does not start: %s; use the emulator, or another target", text);
        return false;
    }
    if (d->devices == 0) {
        snprintf(why, capacity, "the CUDA driver finds no GPU; use the emulator, or another target");
        return false;
    }
    d->driver_version(&d->version);
    return true;
}

bool cuda_driver_open(CudaDriver *driver, char *why, size_t capacity) {
    memset(driver, 0, sizeof *driver);
    driver->library = open_library();
    if (!driver->library) {
        snprintf(why, capacity,
                 "there is no CUDA driver here (libcuda.so.1); install NVIDIA's driver, or use "
                 "the emulator");
        return false;
    }
    if (load_functions(driver, why, capacity) && start(driver, why, capacity)) {
        Dl_info where;
        if (dladdr(*(void **)&driver->init, &where) && where.dli_fname)
            snprintf(driver->path, sizeof driver->path, "%s", where.dli_fname);
        return true;
    }
    cuda_driver_close(driver);
    return false;
}

void cuda_driver_close(CudaDriver *driver) {
    if (driver->library) dlclose(driver->library);
    memset(driver, 0, sizeof *driver);
}
