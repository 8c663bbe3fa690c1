/* tt_window.c: proves, while compute.cpp is printed, that its circular buffers are used in turn.
 *
 * Every call that touches a CB is printed through here, or told, so the state of each CB is known at
 * each place of the text: an item is reserved, pushed, waited for, or none of these. The rules:
 *
 *     reserve -> pack .. -> push        pages are packed in between only
 *     wait    -> read .. -> pop         tiles are read in between only
 *     a CB of compute's own is waited for when something was pushed
 *     a region, an arm of an `if` and the body of a loop leave every CB as they found it
 *
 * By the last rule the state at a place does not depend on the way to it: on trip counts, 0 among
 * them, or on conditions. So for the CBs of rings compute waits and pops as often as the IR waits
 * and releases, which ring_check.c has proved against the other roles; items of index tiles go with
 * those (tt_index.c); and nothing waits for a page that never comes. Text that breaks a rule is a
 * mistake of the emitter, found here, and refused instead of run. */
#include "target/tenstorrent/tt_compute.h"

static uint64_t bit_of(const Compute *c, int cb) { return 1ull << c->role.tt->plan->cbs.at[cb].desc.id; }

static bool is_inner(const TtCb *cb) { return cb->from == cb->to; }

static void broken(Compute *c, int cb, const char *rule) {
    /* After an error the text is harmless, not right. */
    if (c->probing || c->role.tt->cx->module->diag->errors) return;
    tt_refuse(c->role.tt, c->op,
              "the pages of circular buffer %s (%s) could not be proved to be there: %s; move the "
              "load next to its use, or use target cpu",
              c->role.tt->plan->cbs.at[cb].name, c->role.tt->plan->cbs.at[cb].what, rule);
}

void window_call(Compute *c, WindowCall call, int cb) {
    static const char *const names[] = {"cb_reserve_back", "cb_push_back", "cb_wait_front", "cb_pop_front"};
    const TtCb *desc = &c->role.tt->plan->cbs.at[cb];
    uint64_t bit = bit_of(c, cb);
    Windows *w = &c->windows;
    cs_line(&c->role.p, "%s(%s, %u);", names[call], role_cb(&c->role, cb), desc->item_pages);
    switch (call) {
    case CB_RESERVE:
        if (w->reserved & bit) broken(c, cb, "it is reserved twice");
        if (is_inner(desc) && (w->pushed | w->waited) & bit) broken(c, cb, "it is still full");
        w->reserved |= bit;
        return;
    case CB_PUSH:
        if (!(w->reserved & bit)) broken(c, cb, "it is pushed and was not reserved");
        w->reserved &= ~bit;
        if (is_inner(desc)) w->pushed |= bit;
        return;
    case CB_WAIT:
        if (w->waited & bit) broken(c, cb, "it is waited for twice");
        if (is_inner(desc) && !(w->pushed & bit)) broken(c, cb, "nothing was pushed");
        w->pushed &= ~bit;
        w->waited |= bit;
        return;
    case CB_POP:
        if (!(w->waited & bit)) broken(c, cb, "it is popped and was not waited for");
        w->waited &= ~bit;
        return;
    }
}

void window_read(Compute *c, int cb) {
    if (!(c->windows.waited & bit_of(c, cb))) broken(c, cb, "it is read and was not waited for");
}

void window_write(Compute *c, int cb) {
    if (!(c->windows.reserved & bit_of(c, cb))) broken(c, cb, "it is packed and was not reserved");
}

void window_enter(Compute *c) { *VEC_PUSH(&c->entered, c->role.tt->arena) = c->windows; }

void window_leave(Compute *c) {
    const Windows *before = &c->entered.at[--c->entered.count], *now = &c->windows;
    uint64_t differ =
        (before->reserved ^ now->reserved) | (before->pushed ^ now->pushed) | (before->waited ^ now->waited);
    const TtPlan *plan = c->role.tt->plan;
    for (size_t i = 0; differ && i < plan->cbs.count; i++)
        if (differ & bit_of(c, (int)i)) {
            broken(c, (int)i, "a loop or branch leaves it in another state than it began with");
            break;
        }
    c->windows = *before;
}
