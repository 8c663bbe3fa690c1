/* ring.h: what ring form is to those outside of the pass. */
#ifndef PASS_RING_H
#define PASS_RING_H
#include "pass/pass.h"

/* The tasks op of a kernel in ring form; NULL for a flat one. */
Op *ring_tasks(const Kernel *k);
#endif
