/* SPDX-License-Identifier: Apache-2.0 */
/* simt_sync.c: where the threads of a group meet and wait, as the schedule has marked it on the ops
 * (pass/schedule/schedule_sync.c):
 *
 *     store tile a;  store tile b;  tw_fence_async();  tw_sync();  multiply        dot<sync=before, proxy=shared>
 *
 * An op that writes scratch, meets and reads it again has those barriers in any case. */
#include "target/simt/simt.h"

static bool has(const Op *op, AttrId id, Word word, Word both) {
    Word own = op_word(op, id, WORD_NONE);
    return own == word || own == both;
}

bool sync_shows(const Op *op) { return has(op, AT_PROXY, PROXY_SHARED, PROXY_BOTH); }

static bool meets(const Op *op, Word where) { return has(op, AT_SYNC, where, SYNC_BOTH); }

void sync_step(Emit *e) {
    if (e->shows) e->target->fence(e, false);
    e->shows = false;
    if (e->group.warps == 1)
        cs_line(&e->p, "tw_sync_warp();");
    else if (e->barrier)
        cs_line(&e->p, "tw_bar_sync(%p, %d);", e->barrier, e->lanes * e->group.warps);
    else if (e->cx->machine->barrier_waits && !e->wrote)
        cs_line(&e->p, "tw_sync_shared();");
    else
        cs_line(&e->p, "tw_sync();");
}

static void settle(Emit *e, const Op *op) {
    if (op_flag(op, AT_SETTLES)) e->target->wait_for_dot(e);
}

static void meet(Emit *e, const Op *op, Word where) {
    e->shows = sync_shows(op);
    if (meets(op, where))
        sync_step(e);
    else if (meets(op, where == SYNC_BEFORE ? SYNC_WITHIN : SYNC_BEFORE))
        e->shows = false; /* there */
}

void sync_before_access(Emit *e, const Op *op) {
    if (op_flag(op, AT_LANDS)) e->target->wait_for_stores(e);
    if (has(op, AT_PROXY, PROXY_GLOBAL, PROXY_BOTH)) e->target->fence(e, true);
    meet(e, op, SYNC_BEFORE);
}

void sync_before(Emit *e, const Op *op) {
    settle(e, op);
    sync_before_access(e, op);
}

void sync_within(Emit *e, const Op *op) {
    settle(e, op);
    meet(e, op, SYNC_WITHIN);
}

void sync_round(Emit *e, const Op *op, bool *begun) {
    if (*begun)
        sync_step(e);
    else
        sync_before(e, op);
    *begun = true;
}
