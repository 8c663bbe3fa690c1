/* ring_check.h: the proof that ring form is sane (ring_check.c). */
#ifndef PASS_RING_RING_CHECK_H
#define PASS_RING_RING_CHECK_H
#include "pass/pass.h"

typedef enum RingVerdict {
    RING_PROVED,  /* for all trip counts and conditions */
    RING_BOUNDED, /* no fault found up to a bound; the roles' loops could not be matched */
    RING_REFUTED  /* a fault, in the diag */
} RingVerdict;

/* Checks every ring of a kernel in ring form: protocol, exactly-once, progress, no early overwrite, capacity. A kernel
 * without rings is proved. */
RingVerdict ring_check(PassContext *cx, Kernel *k);

/* What a target copies behind the back of its threads: how many bytes an item is full with, as the producer announces
 * it when it acquires the slot, and how many of them a put brings. */
typedef struct RingTraffic {
    void *user;
    int64_t (*announced)(void *user, const Op *acquire);
    int64_t (*copied)(void *user, const Op *put);
} RingTraffic;
/* Is every item full with exactly the bytes that its own puts bring? (More would never come: its consumer would wait for
 * ever; with fewer it would read what has not landed.) False: a fault, in the diag. */
bool ring_check_bytes(PassContext *cx, Kernel *k, const RingTraffic *traffic);
#endif
