/* SPDX-License-Identifier: Apache-2.0 */
/* cases.h: launches of built kernels, and the same for the library (reference.c). All arrays of a case lie in one block
 * of memory, so that what is beside them, and what lies over each other, is compared too. */
#ifndef BUILT_CASES_H
#define BUILT_CASES_H
#include <stddef.h>
#include <stdint.h>

enum { WORLD = 1 << 20 };

typedef struct Value {
    char kind; /* 'i' a number, 0 none, else an array of f f32, b bf16, h f16 */
    int64_t number;
    size_t at; /* of an array: its first byte */
    int rank;
    int64_t shape[2], strides[2]; /* strides of 0: dense */
} Value;

typedef struct Case {
    const char *name, *file, *kernel;
    const char *constants; /* "BLOCK=128 N=64" */
    int64_t grid[3];       /* 0: its own */
    Value values[16];
    int32_t (*built)(char *world, const void *options);
} Case;

/* Runs the case by the library on that block; 0, or a message is printed. */
int reference_run(const Case *c, char *world);
#endif
