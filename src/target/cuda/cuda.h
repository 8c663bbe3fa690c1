/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h: from a kernel in layout form to one readable .cu and the plan of its launch.
 *
 *     CudaPlan *plan = cuda_emit(&cx, kernel);      NULL after errors (in the module's diag)
 *     plan->text       compiles by itself with nvcc (-arch=sm_90a, --fmad=false, -I prelude), by NVRTC, and on the host
 *                      against the emulator
 *     plan->params     what to pass, in order
 *     plan->maps       tensor maps to encode
 *
 * What must hold for the arguments stands in the kernel as `require`s. The plan lives in the
 * module's arena. */
#ifndef TARGET_CUDA_CUDA_H
#define TARGET_CUDA_CUDA_H
#include "pass/pass.h"
#include "target/simt/simt_param.h"

enum { CUDA_MAX_RANK = 5 };
/* A tensor map to encode: its numbers are values of the IR, as indices into `wanted`. */
typedef struct CudaMap {
    const char *name; /* of the parameter */
    Elem elem;
    int rank, swizzle; /* swizzle in bytes: 128, 64, 32 */
    /* Contiguous dimension first; strides in elements. An extent of -1: the source sets no bound, so
     * the map has none. */
    int base, extent[CUDA_MAX_RANK], stride[CUDA_MAX_RANK];
    int box[CUDA_MAX_RANK];
    bool made; /* base, extents and strides come in the kernel */
} CudaMap;

typedef struct CudaPlan {
    union {
        struct {
            SIMT_PLAN_FIELDS /* params: SIMT_OWN is a tensor map of 128 bytes, maps[dim] */
        };
        SimtPlan simt;
    };
    /* Blocks of a cluster, which the grid is whole numbers of; 0: none. With waves, a launch has
     * clusters where there are so many tasks for each multiprocessor, and an even number of them
     * (or `many`) along index `share`; else its blocks are alone. */
    int cluster, waves, many, share;
    int extents, extent[CUDA_MAX_RANK]; /* the numbers of tasks, as indices into `wanted` */
    bool waits;                         /* for the launches before it: it may begin before they end */
    VEC(CudaMap) maps;
    /* Maps that each block makes for itself. Their room is zeroed once; a place in it is a map's bytes to lock it by
     * and the maps, and there must be one for every block that can run at once, whichever launch it belongs to. */
    int made;
    VEC(Ref)
    wanted; /* integer scalars that follow from the parameters; the launcher computes them */
} CudaPlan;

CudaPlan *cuda_emit(PassContext *cx, Kernel *k);
/* plan.json (cuda_json.c). */
char *cuda_json(const PassContext *cx, const Kernel *k, const CudaPlan *plan);
/* launch.cuh, a host function that launches it; NULL: its numbers are more than that file can say (cuda_host.c). */
char *cuda_host(const PassContext *cx, const Kernel *k, const CudaPlan *plan);

/* --- at launch: no memory, no text (cuda_map.c) --- */
/* A tensor map as the driver's encoder takes it. */
typedef struct CudaMapValue {
    Elem elem;
    int rank, swizzle;
    uint64_t base, dims[CUDA_MAX_RANK], strides[CUDA_MAX_RANK]; /* strides[d]: bytes, of dimension d + 1 */
    uint32_t box[CUDA_MAX_RANK];
} CudaMapValue;
typedef struct CudaMapBytes {
    _Alignas(64) uint64_t opaque[16];
} CudaMapBytes;
/* numbers: the plan's `wanted`, computed. The requires of the kernel hold, so extents and strides are positive. */
CudaMapValue cuda_map_value(const CudaMap *map, const int64_t *numbers);
/* What the driver encodes, and the chip traps on; NULL: nothing. */
const char *cuda_map_wrong(const CudaMapValue *value);
/* The driver's numbers for elements, and for a swizzle of so many bytes. */
int cuda_map_type(Elem elem);
int cuda_map_swizzle(int bytes);
#endif
