/* scalars.h: small integer programs that a launch evaluates without allocating: the kernel's own
 * grid, the operands of its `require`s. */
#ifndef RUNTIME_COMPILE_SCALARS_H
#define RUNTIME_COMPILE_SCALARS_H
#include "runtime/runtime.h"

/* A program that computes the wanted references from the kernel's parameters and the grid; NULL,
 * and the op that is in the way, if one of them needs more than integer scalars. A tensor stands
 * for its address. */
ScalarProgram *scalars_compile(const Kernel *k, const Ref *wanted, int count, const RunParam *params, int param_count,
                               Arena *arena, const char **why);
/* Slots: the words of the launch (runtime.h). */
void scalars_run(const ScalarProgram *program, const uint64_t *slots, const int64_t grid[3], int64_t *results);
#endif
