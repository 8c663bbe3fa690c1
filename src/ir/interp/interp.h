/* SPDX-License-Identifier: Apache-2.0 */
/* interp.h: the interpreter, the definition of what a kernel means.
 *
 * It runs any form of the IR: source, tile, access, ring and layout (layouts are not looked at).
 * Programs of the grid run one after the other; roles and the workers of an spmd region are
 * coroutines. The seed chooses all orders that the IR leaves open: of programs, of parallel
 * iterations, of coroutines; 0 is the plain order. Every access is checked against the memory
 * regions of the launch, so a wrong kernel gives a message and never a crash.
 *
 *     InterpArg args[] = {{.pointer = x}, {.pointer = y}, {.bits = 1000}};
 *     InterpRegion memory[] = {{"x", x, 4000, true}, {"y", y, 4000, false}};
 *     InterpLaunch launch = {.kernel = k, .grid = {8, 1, 1}, .args = args, .arg_count = 3,
 *                            .regions = memory, .region_count = 2, .arena = arena, .diag = diag};
 *     bool ok = interp_run(&launch);
 *
 * With `sanitize` it also reports reads of what nothing wrote, two programs writing one place,
 * offsets that wrapped, division by zero and shifts out of range, once a place, and goes on; the
 * bytes of a region that is not `written` count as unwritten. */
#ifndef IR_INTERP_INTERP_H
#define IR_INTERP_INTERP_H
#include "base/cancel.h"
#include "ir/ir.h"

/* The argument of one parameter of the kernel, by the parameter's type. */
typedef struct InterpArg {
    void *pointer;                              /* pointers; tensors: the address of element 0 */
    uint64_t bits;                              /* scalars: the element's bits, in the lowest bytes */
    int64_t extent[MAX_RANK], stride[MAX_RANK]; /* tensors; strides in elements */
} InterpArg;

/* A buffer that the kernel may touch. */
typedef struct InterpRegion {
    const char *name;
    void *base;
    size_t size;
    bool written; /* false: an output, nothing in it may be read before it was written */
} InterpRegion;

typedef struct InterpLaunch {
    const Kernel *kernel;
    int64_t grid[3]; /* of the source; any extent may be 0 */
    const InterpArg *args;
    int arg_count;
    const InterpRegion *regions;
    int region_count;
    uint64_t seed;
    int workers;           /* ring form: how many run the tasks, w, w + workers, ..; 0: two */
    int64_t budget;        /* element operations allowed; 0: no limit */
    int64_t program_steps; /* that one program may take: an op is a step, and each 32 of its elements; 0: no limit */
    bool sanitize;
    size_t memory_limit; /* sanitize: bytes of values and shadows; 0: 4 GiB beside 16 a byte of the
                            regions */
    Arena *arena;        /* its allocator gives the memory, its trap takes what cannot be mended */
    Diag *diag;
    void (*print)(void *user, const char *text, size_t length); /* may be NULL */
    void *print_user;
    Cancel *cancel; /* who may end it early; NULL: nobody */
} InterpLaunch;

/* False after errors in diag; memory is then what the kernel had written so far. */
bool interp_run(const InterpLaunch *launch);
/* Runs the kernel's grid region on the same arguments: its 1 to 3 extents, the rest 1. */
bool interp_grid(const InterpLaunch *launch, int64_t grid[3]);
#endif
