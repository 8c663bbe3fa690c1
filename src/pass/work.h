/* SPDX-License-Identifier: Apache-2.0 */
/* work.h: what one program of a kernel does, counted from its IR behind the passes: operations and bytes; and how long
 * launches of it take by a coarse model of the machine, good enough to say which of two variants of one kernel to try
 * first. A loop whose end is not known is taken as UNKNOWN_TRIPS trips. */
#ifndef PASS_WORK_H
#define PASS_WORK_H
#include "ir/ir.h"
#include "pass/machine.h"

enum { UNKNOWN_TRIPS = 32 };

typedef struct Work {
    double products, others; /* operations of products; of other arithmetic with floats */
    double bytes;            /* loaded and stored, whether others do so too */
    double scattered;        /* elements of gathers and scatters: each is an access of its own */
    bool matrix;             /* some products are by matrix instructions .. */
    int bits;                /* .. of factors this wide */
    bool guessed;            /* there are loops whose ends are not known */
} Work;

/* The value of an integer scalar that the arguments of a launch decide; false: they do not, or it is not known. */
typedef bool WorkNumber(void *user, Ref ref, int64_t *value);

/* Of a program in the middle of the grid; grid and number may be NULL: nothing is known of a launch. */
Work work_count(const Kernel *k, const int64_t grid[3], WorkNumber *number, void *user);

/* Of a launch of so many programs, on so many threads where the machine is the CPU. */
double work_seconds(const Work *w, double programs, const Machine *machine, int threads);
#endif
