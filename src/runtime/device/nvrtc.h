/* nvrtc.h: NVIDIA's run-time compiler, opened at run time: CUDA text in, cubin out.
 *
 * Looked for in: TILEWRIGHT_NVRTC (a file or a folder), the loader's own path, CUDA_HOME and
 * CUDA_PATH, /usr/local/cuda*, and the nvidia-cuda-nvrtc package of PyPI, in VIRTUAL_ENV or beside
 * our own package. Its builtins library lies beside it and is opened by its path first, since the
 * loader would not find it there.
 *
 *     Nvrtc n;
 *     if (nvrtc_open(&n, why, sizeof why)) {
 *         cubin = nvrtc_compile(&n, &(NvrtcJob){text, "add.cu", headers, 4, options, 3}, &size,
 * &log); }                                                                     both are malloc'ed */
#ifndef RUNTIME_DEVICE_NVRTC_H
#define RUNTIME_DEVICE_NVRTC_H
#include <stdbool.h>
#include <stddef.h>

typedef struct Nvrtc {
    void *library, *builtins;
    int major, minor;
    int compiles; /* so far */
    char path[512];
    struct NvrtcTable *table;
} Nvrtc;

typedef struct NvrtcHeader {
    const char *name, *text;
} NvrtcHeader;

bool nvrtc_open(Nvrtc *nvrtc, char *why, size_t capacity);
void nvrtc_close(Nvrtc *nvrtc);
typedef struct NvrtcJob {
    const char *text, *name;
    const NvrtcHeader *headers;
    int header_count;
    const char *const *options;
    int option_count;
    bool ptx;   /* PTX, closed by a NUL, instead of a cubin */
    bool alone; /* no other compile of the process runs beside it */
} NvrtcJob;

/* The cubin, or NULL with the compiler's log; both are the caller's to free. From the second
 * compile on, NVRTC keeps the headers precompiled (a file of its own in $TMPDIR, until the process
 * ends): that is half of the time of a small kernel. Compiles that run side by side go without: the
 * file is the process's. */
void *nvrtc_compile(Nvrtc *nvrtc, const NvrtcJob *job, size_t *size, char **log);
#endif
