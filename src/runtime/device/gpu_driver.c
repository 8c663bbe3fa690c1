/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_driver.c: see gpu_driver.h. */
#include "runtime/device/gpu_driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *open_library(const GpuDriverNames *names) {
    void *library = dlopen(names->library, RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; !library && names->more[i]; i++) library = dlopen(names->more[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Data and function pointers have one size here (POSIX says so for dlsym). */
static bool load_functions(GpuDriver *d, char *why, size_t capacity) {
    const struct {
        void **to;
        const char *symbol;
    } functions[] = {
#define DRIVER(name, cuda, hip_name, parameters) {(void **)&d->name, d->names->hip ? hip_name : cuda},
#include "runtime/device/gpu_driver.def"
#undef DRIVER
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (*functions[i].symbol && !(*functions[i].to = dlsym(d->library, functions[i].symbol))) {
            snprintf(why, capacity, "the %s driver has no %s; a newer driver is needed (%s)", d->names->title,
                     functions[i].symbol, d->names->least);
            return false;
        }
    return true;
}

void gpu_driver_describe(const GpuDriver *driver, GpuResult result, char *text, size_t capacity) {
    const char *name = NULL, *meaning = NULL, *title = driver->names ? driver->names->title : "GPU";
    if (driver->error_name) driver->error_name(result, &name);
    if (driver->error_text) driver->error_text(result, &meaning);
    if (name)
        snprintf(text, capacity, "%s: %s", name, meaning ? meaning : "no description");
    else
        snprintf(text, capacity, "unknown %s error: %s", title, meaning ? meaning : "no description");
}

static bool start(GpuDriver *d, char *why, size_t capacity) {
    const GpuDriverNames *names = d->names;
    GpuResult result = d->init(0);
    if (result == 0) result = d->device_count(&d->devices);
    if (result != 0) {
        char text[200];
        gpu_driver_describe(d, result, text, sizeof text);
        snprintf(why, capacity, "the %s driver does not start: %s; use the emulator, or another target", names->title,
                 text);
        return false;
    }
    if (d->devices == 0) {
        snprintf(why, capacity, "the %s driver finds no GPU; use the emulator, or another target", names->title);
        return false;
    }
    int version = 0;
    d->driver_version(&version);
    d->major = version / names->major;
    d->minor = version % names->major / names->minor;
    return true;
}

bool gpu_driver_open(GpuDriver *driver, const GpuDriverNames *names, char *why, size_t capacity) {
    memset(driver, 0, sizeof *driver);
    driver->names = names;
    driver->library = open_library(names);
    if (!driver->library) {
        snprintf(why, capacity, "there is no %s driver here (%s); %s, or use the emulator", names->title,
                 names->library, names->absent);
        return false;
    }
    if (load_functions(driver, why, capacity) && start(driver, why, capacity)) {
        Dl_info where;
        if (dladdr(*(void **)&driver->init, &where) && where.dli_fname)
            snprintf(driver->path, sizeof driver->path, "%s", where.dli_fname);
        return true;
    }
    gpu_driver_close(driver);
    return false;
}

void gpu_driver_close(GpuDriver *driver) {
    if (driver->library) dlclose(driver->library);
    memset(driver, 0, sizeof *driver);
}
