/* ring.h: what ring form is to those outside of the pass. */
#ifndef PASS_RING_RING_H
#define PASS_RING_RING_H
#include "pass/pass.h"

/* The yardstick for "the same ring form": two kernels whose texts are equal differ only in names,
 * in the plan, and in how the prologue finds what the roles are given. Empty for a flat kernel. */
char *ring_canonical(const Kernel *k, Arena *arena);

/* Ring form back to the flat program that it means (flatten.c). False, with the reason, when that
 * would need items to run ahead; the kernel is unchanged then. */
bool ring_flatten(Kernel *k, Arena *scratch, const char **why);

/* Takes the cut into roles and rings back: the kernel is flat, with `why` for `explain`; other findings since then are
 * gone. False: it arrived with rings that cannot be taken back, or errors. */
bool ring_take_back(PassContext *cx, Kernel *k, const char *why);
#endif
