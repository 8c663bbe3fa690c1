/* SPDX-License-Identifier: Apache-2.0 */
/* simt_param.h: the plan of a launch that any machine with lanes has: the entry, its threads, its memory, and what it
 * is given, in order; the launcher fills that in. */
#ifndef TARGET_SIMT_SIMT_PARAM_H
#define TARGET_SIMT_SIMT_PARAM_H
#include "base/vec.h"
#include "ir/ir.h"

typedef enum SimtParamKind {
    SIMT_SCALAR,  /* the argument itself, of type elem */
    SIMT_POINTER, /* address of an array: a pointer argument, or the base of a tensor */
    SIMT_EXTENT,  /* i64: extent dim of a tensor argument */
    SIMT_STRIDE,  /* i64: its stride, in elements */
    SIMT_GRID,    /* i32: extent dim of the source's grid, for kernels that run many programs a block */
    SIMT_SWEPT,   /* i32: the launch has axes 0 and dim of the grid changed */
    SIMT_ROOM,    /* memory of the kernel's own: its address (dim 0), how many blocks it has a place for (dim 1, i32) */
    SIMT_OWN      /* number dim of what only the target knows: CUDA's tensor maps */
} SimtParamKind;
typedef struct SimtParam {
    SimtParamKind kind;
    int arg; /* among the kernel's parameters */
    int dim;
    Elem elem;
} SimtParam;
typedef VEC(SimtParam) SimtParams;

/* A target with more in its plan has these fields at its begin, under their own names too (CudaPlan). */
#define SIMT_PLAN_FIELDS                                                                                               \
    const char *name;      /* of the entry */                                                                          \
    const char *text;      /* the file */                                                                              \
    const char *execution; /* "flat", "roles", "skew 2" */                                                             \
    int threads;                                                                                                       \
    int blocks; /* that the compiler leaves registers for on a multiprocessor */                                       \
    int64_t shared_bytes;                                                                                              \
    int sweep;    /* the axis of the grid that should be the launch's first; 0: the grid's own */                      \
    bool persist; /* the grid is at most what fits at once, blocks loop over the programs */                           \
    SimtParams params;
typedef struct SimtPlan {
    SIMT_PLAN_FIELDS
} SimtPlan;
#endif
