/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels that were built ahead of time have in common (`tilewright build`). Their headers repeat it, so that each
 * can be used alone. Valid C99 and C++11. */
#ifndef TILEWRIGHT_BUILT
#define TILEWRIGHT_BUILT 1

/* How a launch runs. Zero in any field is the default; a kernel takes NULL for all of them. */
typedef struct tw_built_options {
    size_t struct_size; /* sizeof (tw_built_options) */
    int32_t threads;    /* at most so many; 1: the calling thread alone; 0: $TILEWRIGHT_THREADS, else one a processor.
                           Our threads are made with the first launch that needs them, and shared by all kernels that
                           are linked together; a launch that finds them busy runs on its own thread alone */
    /* The caller's own threads: runs part(work, i) for every i in 0 .. count-1, each once, in any order and on any
     * threads, and returns when all of them have. count is at most `threads`, or 64. NULL: our threads. */
    void (*parallel)(void *user, int32_t count, void (*part)(void *work, int32_t i), void *work);
    void *user; /* for parallel */
    /* What the kernel prints, a line at a time; NULL: it is dropped. A kernel that prints runs on the calling thread. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
} tw_built_options;

/* What a kernel returns. Other numbers than 0: it did not run; but TW_BUILT_ASSERT + i: it ran, and the assertion i of
 * its source failed first; TW_BUILT_MEMORY, _STUCK and _PARALLEL: parts of it may have run. NAME_error(number) is the text. */
enum {
    TW_BUILT_OK = 0,
    TW_BUILT_NULL = 1,      /* an array is NULL and has elements */
    TW_BUILT_SMALL = 2,     /* an array has fewer elements than its extents and strides need */
    TW_BUILT_EXTENT = 3,    /* an extent or a stride is negative, or they go beyond the address space */
    TW_BUILT_UNALIGNED = 4, /* an array does not begin at a multiple of its element's size */
    TW_BUILT_GRID = 5,      /* an extent of the grid does not lie in 0 .. 2^31-1, or there are 2^63 programs or more */
    TW_BUILT_REQUIRE = 6,   /* the arguments do not keep what the source itself requires of them */
    TW_BUILT_MEMORY = 7,    /* no memory for what a thread works in */
    TW_BUILT_MACHINE = 8,   /* the processor or the GPU runs nothing that the kernel was built for */
    TW_BUILT_OPTIONS = 9,   /* struct_size of the options is not set */
    TW_BUILT_DRIVER = 10,   /* the GPU's driver is not here (libcuda.so.1, libamdhip64.so), or lacks functions of CUDA 12
                               or ROCm 6 */
    TW_BUILT_STUCK = 11,    /* workers of a program wait for each other for ever */
    TW_BUILT_PARALLEL = 12, /* `parallel` came back, and had not begun each part once */
    TW_BUILT_ASSERT = 100,
    TW_BUILT_CUDA = 100000  /* + r: a call of the GPU's driver gave r, a CUresult or a hipError_t */
};
#endif
