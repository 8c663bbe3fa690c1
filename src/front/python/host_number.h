/* SPDX-License-Identifier: Apache-2.0 */
/* host_number.h: Python's arithmetic on numbers, for doors that run Python on what is known at
 * compile time.
 *
 *     HostNumber seven = {.kind = HOST_INT, .i = 7}, two = {.kind = HOST_INT, .i = -2}, out;
 *     host_binary(PY_OP_FLOORDIV, seven, two, &out);      HOST_OK, and out is -4
 *
 * `//` and `%` floor, `/` gives a float, a bool counts as 0 or 1. Integers have 128 bits; what does
 * not fit is an error of the caller's to report. */
#ifndef FRONT_PYTHON_HOST_NUMBER_H
#define FRONT_PYTHON_HOST_NUMBER_H
#include "syntax/py_ast.h"

#include <stdbool.h>

/* Python's integers, as far as a kernel needs them. */
__extension__ typedef __int128 PyInt;

typedef enum HostKind { HOST_BOOL, HOST_INT, HOST_FLOAT } HostKind;
typedef struct HostNumber {
    HostKind kind;
    PyInt i; /* BOOL, INT */
    double f;
} HostNumber;

typedef enum HostResult {
    HOST_OK,
    HOST_TOO_LARGE,
    HOST_DIVIDE_BY_ZERO,
    HOST_NO_OPERATOR /* Python has none for such numbers */
} HostResult;

HostResult host_binary(PyOp op, HostNumber a, HostNumber b, HostNumber *out);
double host_as_double(HostNumber number);
/* -1, 0 or 1 as a is below, equal to or above b; 2 with a NaN. */
int host_order(HostNumber a, HostNumber b);
#endif
