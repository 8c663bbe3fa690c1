/* SPDX-License-Identifier: Apache-2.0 */
/* runs.h: tiles of numbers that come in runs.
 *
 * Along the only axis that it moves along, a tile comes in runs of n (a power of two) when the n places from each
 * multiple of n on hold v, v + step, v + 2 * step, ..; a step of 0 is a level run.
 *
 *     16 * %page + iota<0, 64>       runs of 64, step 1; each begins with a multiple of 16
 *     (that) / 8                     level runs of 8
 *     (that) rem %n                  runs of 16, step 1, if n is a multiple of 16: known, or asked of the launch
 *     load (%table + (that) / 16)    level runs of 16: one number a page
 *
 * Numbers are those of the machine: a run that begins with a multiple of its own length times the step lies on no edge
 * where numbers wrap around (others are taken not to, as sums of an address are), and powers of two are divisors there
 * too. A quotient toward zero turns around at 0: what is divided is
 * proved, or wished, to be natural, unless it is rounded down.
 *
 * A mask may move along several axes; along one of them it is level if all that moves along that one is:
 *
 *     (%top + %tap)[i, j] < %H,  %tap = (64 * %step + iota) / 96     the same for 8 neighbours j, whatever i is */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H
#include "analysis/affine.h"

typedef enum RunTrust {
    RUN_LIKELY, /* all that the launch could be asked and all signs are as one would like them: a hint, no proof */
    RUN_PROVED, /* or could be, if the facts may wish: nothing is asked for yet */
    RUN_ASKED   /* the same, and asked for: after RUN_PROVED said yes */
} RunTrust;

typedef struct Runs {
    Analysis *a;
    Facts facts; /* what may be wished for */
    RunTrust trust;
    bool promises; /* `contiguous` of the source counts as proof of runs that are as long as a vector */
    int left;      /* questions */
    int axis; /* of the value that is asked about: the one along which it runs; -1: the only one that it moves along */
} Runs;

Runs runs_new(Analysis *a, bool may_wish, bool promises);
/* Does it come in runs of n, each beginning with a multiple of `multiple` (a power of two)? */
bool runs_of(Runs *q, Ref value, int64_t n, int64_t multiple, int64_t *step);
/* The same of a number that is a multiple. */
bool runs_multiple(Runs *q, Poly p, int64_t multiple);
/* Is it the same for all of a run? Numbers, masks, pointers. */
bool runs_level(Runs *q, Ref value, int64_t n);
/* The same along one axis of a tile that may move along others too. */
bool runs_level_along(Runs *q, Ref value, int axis, int64_t n);
#endif
