/* built_kernel.h: a kernel as an object file and a header (tw_build).
 *
 *     built_kernel.c    the ways to compile it, from the most demanding to the one that wants nothing; the files
 *     built_header.c    the C function: its parameters, the header
 *     built_entry.c     what that function does: checks, grid, choice of the way, launch
 *     built_object.c    the object: its files, the C compiler
 *     built_cpu.c, built_cuda.c   what the entry says of the codes of a target */
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
    const char *last_type, *last; /* the C function's last parameter: "void *", "stream" */
    const char *about;            /* what the header says of a call */
    /* In the C text: as the function begins; before the variants; one of them, of its code's number and its condition.
     * `status` is the result if none runs. */
    const char *begin, *choose;
    void (*way)(Text *t, int code, const char *fits);
    const char *(*text)(tw_kernel *k); /* two of the same run by the same code, launched in the same way */
    tw_status (*check)(tw_kernel *k);  /* can it be built? It was compiled, and prepared to be launched */
    tw_status (*object)(Build *b, void **bytes, size_t *size);
} BuildKind;
extern const BuildKind build_cpu, build_cuda;

struct Build {
    const BuildKind *kind;
    tw_context *context;
    Arena *arena;
    tw_kernel *kernel; /* the first; all others hang on its `next` */
    const char *name;  /* of the C function */
    const char *isa;   /* as in tw_build_options */
    const char *places[2], *parts[2]; /* object and header; beside these until both are whole */
    VEC(BuildLaunch) launches;
    VEC(tw_kernel *) codes; /* whose texts differ .. */
    VEC(const char *) texts; /* .. which are these */
    VEC(BuildParam) params;
    VEC(const char *) asserts; /* what is said of one that failed */
};

/* options->compile is there. */
tw_status build_kernel(tw_kernel *k, const char *name, const tw_build_options *options);

/* The name as C and C++ take it, and none that the header has itself. */
const char *build_c_name(Arena *arena, const char *name);
/* Parameters of the C function, in the order of the source's. */
void build_find_params(Build *b);
const char *build_header(const Build *b);
/* The C text of the function, behind that of the codes. */
const char *build_entry(Build *b, const char *codes);
/* `level_list`: "4, 3, 1", the instruction sets, falling; how many. Code c for instruction set i is the function
 * tw_NAME_<c>_<i>. */
const char *build_cpu_codes(Build *b, const char *level_list, int level_count);
/* For target cuda: images of the codes included, as NVRTC makes them. */
tw_status build_cuda_codes(Build *b, const char **codes);
/* The object's bytes, to be unmapped by the caller. */
tw_status build_cuda_object(Build *b, void **bytes, size_t *size);
/* The architectures to build for, as targets' names ("cuda:sm_90a"), the most special one first, and how
 * many. `given`: the name that the caller gave. */
tw_status build_cuda_archs(Build *b, const char *given, const char *names[BUILD_ARCHS], int *count);
/* The body of a function that asks whether the requirements of a variant hold; "" if they always do. */
const char *build_fits(const tw_kernel *k, Arena *arena);
#endif
