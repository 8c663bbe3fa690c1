/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h: through which parameters a kernel reaches memory.
 *
 * A pointer is made from others by adding, reshaping, choosing, carrying it through a loop; at the
 * beginnings stand parameters, or something that is none (an address loaded from memory). Pointers
 * that change places in a loop have more than one beginning, so it is a set that is asked for:
 *
 *     bool *set = ARENA_ARRAY(scratch, bool, k->body->arg_count);
 *     if (roots_of(k, scratch, pointer, set)) ..      nothing but the parameters of the set
 *     roots_only(k, scratch, pointer)                 the parameter, where the set has one
 *     roots_written(k, scratch, written)              written[i]: a store or an atomic goes through it
 *
 * Each goes whichever way a select, an if or a loop goes. */
#ifndef IR_ROOTS_H
#define IR_ROOTS_H
#include "ir/ir.h"

/* Adds the parameters that the pointer, pointer tile or tensor may start from to the set, which has
 * a place for each. False: it may start from something else as well. */
bool roots_of(const Kernel *k, Arena *scratch, Ref ref, bool *set);
/* The only parameter that it starts from, by its number; -1: it may be another, or none. */
int roots_only(const Kernel *k, Arena *scratch, Ref ref);
/* Of every parameter: may the kernel write through it? False: it may write elsewhere as well. */
bool roots_written(const Kernel *k, Arena *scratch, bool *written);
/* Are two parameters apart, by what the kernel assumes or the launch has to test? */
bool roots_promised_apart(const Kernel *k, Arena *scratch, int a, int b);
/* The same of all pairs: [a * count + b], of `count` parameters. */
const bool *roots_promises(const Kernel *k, Arena *arena);
/* How many of its first operands the op may write through; of assembly any. */
int roots_write(const Op *op);
#endif
