/* SPDX-License-Identifier: Apache-2.0 */
/* raise.c: from element loops, buffers and worker scopes to tile values.
 *
 * In:  source form, as a door made it.
 * Out: tile form. `parallel` loops are tile ops, or loops of scalars where their iterations meet (a finding says so);
 *      buffers that one worker writes and reads in boxes are values, running sums over a tensor are blocks of `reduce`.
 *      A buffer that could not be raised stays as it is. */
#include "pass/raise/raise.h"

bool pass_raise(PassContext *cx, Kernel *k) {
    Map patches = {0};
    bool changed = raise_parallel(cx, k, &patches);
    changed |= raise_buffers(cx, k, &patches);
    if (changed) pass_fold(cx, k); /* what addressed elements is dead now; sums are recognised on clean loops */
    if (raise_sums(cx, k)) changed = pass_fold(cx, k) || true;
    return changed;
}
