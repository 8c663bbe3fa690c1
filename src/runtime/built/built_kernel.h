/* SPDX-License-Identifier: Apache-2.0 */
/* built_kernel.h: kernels as an object file or an archive, and a header (tw_build, tw_build_all).
 *
 *     built_kernel.c    the ways to compile a kernel, from the most demanding to the one that wants nothing
 *     built_header.c    the C function: its parameters, the header
 *     built_entry.c     what that function does: checks, grid, choice of the way, launch
 *     built_object.c    the object: its files, the C compiler
 *     built_cpu.c, built_gpu.c   what the entry says of the codes of a target;
 *     built_cuda.c, built_hip.c  of a vendor's
 *     built_folder.c    a target whose kernels are a folder of sources
 *     built_files.c     what is written, all of it or nothing; archives */
#ifndef RUNTIME_BUILT_BUILT_KERNEL_H
#define RUNTIME_BUILT_BUILT_KERNEL_H
#include "runtime/launch/requirements.h"
#include "runtime/target/target.h"

enum { BUILD_ARCHS = 8 }; /* for which a kernel is built, at most */

typedef struct BuildVariant { /* code, and when it may run */
    tw_kernel *kernel;
    int code;         /* which of Build.codes */
    const char *fits; /* the body of the C function that asks; "" if it always does */
} BuildVariant;

typedef struct BuildLaunch { /* of the kernel's; most have one */
    const tw_kernel *kernel; /* its first variant */
    VEC(BuildVariant) variants; /* by architecture; from the most demanding to the most general */
    size_t from; /* where those of the last architecture begin */
} BuildLaunch;

typedef struct BuildParam { /* of the C function; empty parts are not there */
    int source;             /* which parameter of the kernel */
    const char *type, *name; /* "const float *" of an array */
    bool array;
    int open;               /* extents that the caller gives, as bits */
    int rank;
    bool strides;           /* the caller may give them */
    int written;            /* 1: the kernel writes it */
} BuildParam;

typedef struct Build Build;

/* What a target's kernels have of their own. */
typedef struct BuildKind {
    const Target *target;
    const char *archs; /* those that it is built for if none is named; NULL: it has one machine */
    const char *last_type, *last; /* the C function's last parameter: "void *", "stream" */
    const char *about;            /* what the header says of a call */
    /* In the C text: before the launcher; as the function begins; before the variants; one of them, of its code's
     * number and its condition. `status` is the result if none runs. */
    const char *define, *begin, *choose;
    void (*way)(Text *t, int code, const char *fits);
    /* Two of the same run by the same code, launched in the same way. */
    const char *(*text)(const Build *b, tw_kernel *k);
    tw_status (*check)(tw_kernel *k); /* can it be built? It was compiled, and prepared to be launched */
    tw_status (*make)(Build *b, void **bytes, size_t *size); /* NULL: no object, but its artifacts as they are */
    /* GPUs: the code for the machine that a kernel was compiled for, or its assembler text, which later ones take too
     * where runs_later says so; what a launch has in front of it; tensor maps that a block makes. NULL: none. */
    tw_status (*image)(tw_kernel *k, bool assembly, const char **image, size_t *size);
    bool (*runs_later)(const tw_kernel *k);
    void (*numbers)(const tw_kernel *k, Text *t);
    int (*maps_made)(const tw_kernel *k);
} BuildKind;
extern const BuildKind build_cpu, build_cuda, build_hip, build_folder;

typedef struct BuiltFile { /* to be written */
    const char *path;
    const void *data;
    size_t size;
} BuiltFile;

struct Build {
    const BuildKind *kind;
    tw_context *context;
    Arena *arena;
    tw_kernel *kernel; /* the first; all others hang on its `next` */
    const char *name;  /* of the C function */
    const char *isa;   /* as in tw_build_options */
    /* what comes of it */
    const char *header; /* what declares it, without what all headers have */
    void *object;       /* to be unmapped */
    size_t size;
    VEC(BuildLaunch) launches;
    VEC(tw_kernel *) codes; /* whose texts differ .. */
    VEC(const char *) texts; /* .. which are these */
    VEC(BuildParam) params;
    VEC(const char *) asserts; /* what is said of one that failed */
};

/* Makes object and header of a kernel; options->compile is there. */
tw_status build_kernel(Build *b, tw_kernel *k, const char *name, const tw_build_options *options);
/* Writes them: PATH.o and PATH.h, or the folder PATH; tells `wrote` of each file. */
tw_status build_write(Build *b, const tw_build_options *options);
/* PATH.a and PATH.h of all. */
tw_status build_write_all(tw_context *cx, const Build *all, size_t count, const char *path);
/* All of them, or none. */
tw_status build_write_files(tw_context *cx, const BuiltFile *files, size_t count);

/* The name as C and C++ take it, and none that the header has itself. */
const char *build_c_name(Arena *arena, const char *name);
/* The C library has a function of that name, which the program would lose. */
bool build_is_taken(const char *name);
/* Parameters of the C function, in the order of the source's. */
void build_find_params(Build *b);
const char *build_declaration(const Build *b);
/* A whole header around declarations. */
const char *build_header(Arena *arena, const char *name, const Build *all, size_t count);
/* The C text of the function, behind that of the codes. */
const char *build_entry(Build *b, const char *codes);
/* `level_list`: "4, 3, 1", the instruction sets, falling; how many. Code c for instruction set i is the function
 * tw_NAME_<c>_<i>. */
const char *build_cpu_codes(Build *b, const char *level_list, int level_count);
/* An object of the entry alone, which has the codes as images in it; to be unmapped by the caller. */
tw_status build_entry_object(Build *b, const char *codes, void **bytes, size_t *size);
/* Kinds of GPUs: see BuildKind. */
tw_status build_gpu_object(Build *b, void **bytes, size_t *size);
const char *build_gpu_text(const Build *b, tw_kernel *k);
void build_gpu_way(Text *t, int code, const char *fits);
#define BUILD_GPU_CHOOSE                                                                                              \
    "    BuiltGpu *gpu;\n    if ((status = built_gpu(&gpu))) return status;\n    status = TW_BUILT_MACHINE;\n"
/* The architectures to build for, as targets' names ("cuda:sm_90a"), the most special one first, and how
 * many. `given`: the name that the caller gave. */
tw_status build_archs(Build *b, const char *given, const char *names[BUILD_ARCHS], int *count);
/* The body of a function that asks whether the requirements of a variant hold; "" if they always do. */
const char *build_fits(const tw_kernel *k, Arena *arena);
#endif
