/* simt_param.h: what the entry of an emitted kernel is given, in order; the launcher fills it in. */
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
#endif
