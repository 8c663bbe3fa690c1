/* SPDX-License-Identifier: Apache-2.0 */
/* test_host_number.c: Python's arithmetic on numbers: signs of `//` and `%`, bools, floats, and
 * what does not fit. */
#include "check.h"

#include "front/python/host_number.h"

#include <math.h>

static HostNumber number(double f) {
    return (HostNumber){.kind = HOST_FLOAT, .f = f};
}
static HostNumber integer(int64_t i) {
    return (HostNumber){.kind = HOST_INT, .i = i};
}
static HostNumber truth(bool b) {
    return (HostNumber){.kind = HOST_BOOL, .i = b};
}

int main(void) {
    static const struct {
        PyOp op;
        int64_t a, b, want;
    } ints[] = {{PY_OP_FLOORDIV, -7, 2, -4}, {PY_OP_MOD, -7, 2, 1},   {PY_OP_FLOORDIV, 7, -2, -4},
                {PY_OP_MOD, 7, -2, -1},      {PY_OP_MOD, 5, -1, 0},   {PY_OP_SHL, 3, 4, 48},
                {PY_OP_SHR, -5, 200, -1},    {PY_OP_POW, -2, 5, -32}, {PY_OP_POW, -1, 1 << 30, 1},
                {PY_OP_BITXOR, 6, 3, 5}};
    HostNumber out;
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        CHECK(host_binary(ints[i].op, integer(ints[i].a), integer(ints[i].b), &out) == HOST_OK);
        CHECK(out.kind == HOST_INT && out.i == ints[i].want);
    }
    CHECK(host_binary(PY_OP_DIV, integer(1), integer(4), &out) == HOST_OK && out.f == 0.25);
    CHECK(host_binary(PY_OP_POW, integer(2), integer(-1), &out) == HOST_OK && out.f == 0.5);
    CHECK(host_binary(PY_OP_MOD, number(-1), number(3), &out) == HOST_OK && out.f == 2);
    CHECK(host_binary(PY_OP_FLOORDIV, number(-1), integer(3), &out) == HOST_OK && out.f == -1);
    CHECK(host_binary(PY_OP_BITAND, truth(true), truth(false), &out) == HOST_OK &&
          out.kind == HOST_BOOL && !out.i);
    CHECK(host_binary(PY_OP_ADD, truth(true), truth(true), &out) == HOST_OK &&
          out.kind == HOST_INT && out.i == 2);
    CHECK(host_binary(PY_OP_FLOORDIV, integer(1), integer(0), &out) == HOST_DIVIDE_BY_ZERO);
    CHECK(host_binary(PY_OP_DIV, number(1), truth(false), &out) == HOST_DIVIDE_BY_ZERO);
    CHECK(host_binary(PY_OP_POW, integer(0), integer(-1), &out) == HOST_DIVIDE_BY_ZERO);
    CHECK(host_binary(PY_OP_POW, integer(10), integer(400), &out) == HOST_TOO_LARGE);
    CHECK(host_binary(PY_OP_SHL, integer(1), integer(127), &out) == HOST_TOO_LARGE);
    CHECK(host_binary(PY_OP_SHR, integer(1), integer(-1), &out) == HOST_TOO_LARGE);
    CHECK(host_binary(PY_OP_MATMUL, integer(1), integer(1), &out) == HOST_NO_OPERATOR);
    CHECK(host_binary(PY_OP_BITAND, number(1), integer(1), &out) == HOST_NO_OPERATOR);
    CHECK(host_order(integer(INT64_MAX), integer(INT64_MAX - 1)) == 1);
    CHECK(host_order(number(NAN), integer(0)) == 2 && host_order(truth(true), number(1)) == 0);
    return check_done();
}
