/* SPDX-License-Identifier: Apache-2.0 */
/* requirements.h: what compiled code wants of its arguments (the IR's `require`s), as a launch tests it (launch.c) and
 * as the entry of a built kernel does (built_entry.c). */
#ifndef RUNTIME_LAUNCH_REQUIREMENTS_H
#define RUNTIME_LAUNCH_REQUIREMENTS_H
#include "runtime/compile/scalars.h"

typedef struct Requirement {
    AttrId kind;
    int64_t number;
    int first, count;      /* results of the program */
    const int *parameters; /* DISJOINT: which parameters they are */
    uint64_t made_of;      /* ALIGN, MULT: parameters, as bits */
} Requirement;

typedef struct MemorySpan { /* of an array's elements; empty: it has none */
    const char *low, *high;
} MemorySpan;

typedef struct Requirements {
    int count;
    const Requirement *at;
    ScalarProgram *program; /* computes all operands */
    int operand_count;
    bool *spanned; /* by parameter: it stands in a DISJOINT */
} Requirements;
#endif
