/* SPDX-License-Identifier: Apache-2.0 */
/* ring_check.h: the proof that ring form is sane (ring_check.c). */
#ifndef PASS_RING_RING_CHECK_H
#define PASS_RING_RING_CHECK_H
#include "pass/pass.h"

typedef enum RingVerdict {
    RING_PROVED,  /* for all trip counts and conditions */
    RING_BOUNDED, /* no fault found up to a bound; the roles' loops could not be matched */
    RING_REFUTED  /* a fault, in the diag */
} RingVerdict;

/* Checks every ring of a kernel in ring form: protocol, exactly-once, progress, no early overwrite, capacity; in
 * schedule form also that every item is full with the bytes that its puts bring. A kernel without rings is proved. */
RingVerdict ring_check(PassContext *cx, Kernel *k);
#endif
