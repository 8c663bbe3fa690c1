/* SPDX-License-Identifier: Apache-2.0 */
/* scalars.h: small integer programs that a launch evaluates without allocating: the kernel's own
 * grid, the operands of its `require`s. */
#ifndef RUNTIME_COMPILE_SCALARS_H
#define RUNTIME_COMPILE_SCALARS_H
#include "runtime/runtime.h"

typedef enum StepKind { STEP_LITERAL, STEP_SLOT, STEP_GRID, STEP_OP } StepKind;
typedef struct ScalarStep {
    StepKind kind;
    Opcode code;
    Elem elem, from; /* of the result; of the operands */
    Word predicate;
    int at[3];      /* registers of the operands; SLOT, GRID: at[0] is the number */
    int64_t number; /* LITERAL; PTR_ADD: bytes of an element */
} ScalarStep;

struct ScalarProgram {
    int count;
    ScalarStep *steps; /* step i sets register i */
    int result_count;
    int *results;
    int64_t *registers;
};

/* A program that computes the wanted references from the kernel's parameters and the grid; NULL,
 * and the op that is in the way, if one of them needs more than integer scalars. A tensor stands
 * for its address. */
ScalarProgram *scalars_compile(const Kernel *k, const Ref *wanted, int count, const RunParam *params, int param_count,
                               Arena *arena, const char **why);
/* The program as C, a line a step: `const int64_t r0 = ..;` and so on, out of the words `w` and the grid `g` of a
 * launch. What the steps mean is base/scalar_ops.h's. (scalars_print.c) */
void scalars_print(const ScalarProgram *program, Text *t);
/* Slots: the words of the launch (runtime.h). By one thread at a time; scalars_run_in, in `count` registers of the
 * caller's, by many. */
void scalars_run(const ScalarProgram *program, const uint64_t *slots, const int64_t grid[3], int64_t *results);
void scalars_run_in(const ScalarProgram *program, int64_t *registers, const uint64_t *slots, const int64_t grid[3],
                    int64_t *results);
#endif
