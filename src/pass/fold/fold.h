/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h: the parts of fold that other passes call, on their own output.
 *
 * fold_tidy is the whole cleanup (no contraction): constants, exact algebra, common subexpressions,
 * loop-invariant code, dead code, until nothing changes. It keeps the form of a kernel and never
 * touches memory effects. */
#ifndef PASS_FOLD_FOLD_H
#define PASS_FOLD_FOLD_H
#include "ir/build.h"

bool fold_tidy(Kernel *k, Arena *scratch);

/* Removes what no effect needs: pure ops and reads without a used result, carried values that only
 * feed themselves, loops and ifs without effect. */
bool fold_sweep(Kernel *k, Arena *scratch);

/* Moves invariant pure ops out of loops. Cheap tile constants (splat, iota, shapes of them) stay
 * where they are used, unless something that moves needs them. */
bool fold_hoist(Kernel *k, Arena *scratch);

/* One op: the reference that replaces its only result, or REF_NONE. May change operands in place
 * (*changed) and makes new ops through the builder, which stands before the op. Only identities
 * that are exact in every bit. */
Ref fold_simplify(Builder *b, Op *op, bool *changed);

/* The result of a binary integer op on two numbers of the type (read as elem_get_i64 does); false: no such op. */
bool fold_int(Opcode code, Elem e, int64_t x, int64_t y, int64_t *out);

/* Do the ranges of two integers decide how they compare? (fold_range.c) */
bool fold_decides(const Kernel *k, const Op *cmp, bool *truth);

/* True for ops whose results are equal when opcode, attributes, types and operands are. */
bool fold_is_numbered(const Op *op);
/* Equality and hash of such ops; operands (and references in attributes) are compared through
 * number[], or as they are when it is NULL. */
bool fold_same(const Kernel *k, const Op *a, const Op *b, const uint32_t *number);
uint64_t fold_hash(const Kernel *k, const Op *op, const uint32_t *number);
#endif
