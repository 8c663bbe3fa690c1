/* SPDX-License-Identifier: Apache-2.0 */
/* merge_barriers.c: barriers of a program that one worker runs, proved and dropped.
 *
 * A door that has written roles lays them out in one order (see tilelang_hopper.c). If each wait finds its phase ended
 * (ir/barriers_order.c), that order is one that the roles may take, and the barriers say nothing more.
 *
 * A wait that does not pass is the user's mistake; one whose number or parity is not known here is refused. */
#include "ir/barriers.h"
#include "pass/merge/merge.h"

static void drop(Kernel *k, Opcode code, Arena *arena) {
    FoundOps ops = ir_list(k->body, code, arena);
    for (size_t i = 0; i < ops.count; i++) ir_remove(ops.at[i]);
}

/* Do several workers use them? */
static bool have_workers(const Kernel *k, Arena *arena) {
    static const Opcode codes[] = {OP_BAR_ARRIVE, OP_BAR_EXPECT, OP_BAR_WAIT, OP_BAR};
    bool found = false;
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        FoundOps ops = ir_list(k->body, codes[c], arena);
        for (size_t i = 0; i < ops.count; i++)
            for (const Op *at = ops.at[i]->parent->owner; at; at = at->parent->owner)
                found |= at->code == OP_SPMD || at->code == OP_ROLE;
    }
    return found;
}

bool merge_barriers(PassContext *cx, Kernel *k) {
    FoundOps bars = ir_list(k->body, OP_BAR, cx->scratch);
    const char *why;
    const Op *where;
    if (!bars.count || ir_list(k->body, OP_ASYNC_COPY, cx->scratch).count || have_workers(k, cx->scratch)) return false;
    if (!bars_prove(k, cx->scratch, &why, &where)) {
        diag_emit(cx->module->diag, DIAG_BARRIER_ORDER, where->range, why);
        return false;
    }
    static const Opcode codes[] = {OP_BAR_ARRIVE, OP_BAR_EXPECT, OP_BAR_WAIT, OP_BAR};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) drop(k, codes[i], cx->scratch);
    return true;
}
