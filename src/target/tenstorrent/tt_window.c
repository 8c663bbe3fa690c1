/* tt_window.c: proves of a compute kernel that its circular buffers are used in turn.
 *
 * Walks the steps with the state of each CB: an item is reserved, pushed, waited for, or none of these. The rules:
 *
 *     reserve -> pack .. -> push        pages are packed in between only
 *     wait    -> read .. -> pop         tiles are read in between only
 *     a CB of compute's own is waited for when something was pushed
 *     an arm of an `if` and the body of a loop leave every CB as they found it
 *
 * By the last rule the state at a place does not depend on the way to it: on trip counts, 0 among
 * them, or on conditions. So for the CBs of rings compute waits and pops as often as the IR waits
 * and releases, which ring_check.c has proved against the other roles; items of index tiles go with
 * those (tt_index.c); and nothing waits for a page that never comes. Steps that break a rule are a
 * mistake of the planner, found here, and refused instead of run. */
#include "target/tenstorrent/tt_emit.h"

/* One bit a CB: an item reserved, pushed by compute itself and not yet waited for, or waited for. */
typedef struct Windows {
    uint64_t reserved, pushed, waited;
} Windows;

typedef struct Proof {
    Tt *tt;
    Windows now;
} Proof;

static uint64_t bit_of(const Proof *p, int cb) { return 1ull << p->tt->plan->cbs.at[cb].desc.id; }

static bool is_inner(const TtCb *cb) { return cb->from == cb->to; }

static void broken(Proof *p, const TtStep *step, int cb, const char *rule) {
    /* After an error the steps are harmless, not right. */
    if (p->tt->cx->module->diag->errors) return;
    tt_refuse(p->tt, step->op,
              "the pages of circular buffer %s (%s) could not be proved to be there: %s; move the "
              "load next to its use, or use target cpu",
              p->tt->plan->cbs.at[cb].name, p->tt->plan->cbs.at[cb].what, rule);
}

static void hand(Proof *p, const TtStep *step) {
    int cb = step->cb;
    bool inner = is_inner(&p->tt->plan->cbs.at[cb]);
    uint32_t slots = p->tt->plan->cbs.at[cb].slots;
    uint64_t bit = bit_of(p, cb);
    Windows *w = &p->now;
    switch (step->hand) {
    case CB_RESERVE:
        if (w->reserved & bit) broken(p, step, cb, "it is reserved twice");
        if (inner && (w->pushed | (slots < 2 ? w->waited : 0)) & bit) broken(p, step, cb, "it is still full");
        w->reserved |= bit;
        return;
    case CB_PUSH:
        if (!(w->reserved & bit)) broken(p, step, cb, "it is pushed and was not reserved");
        w->reserved &= ~bit;
        if (inner) w->pushed |= bit;
        return;
    case CB_WAIT:
        if (w->waited & bit) broken(p, step, cb, "it is waited for twice");
        if (inner && !(w->pushed & bit)) broken(p, step, cb, "nothing was pushed");
        w->pushed &= ~bit;
        w->waited |= bit;
        return;
    case CB_POP:
        if (!(w->waited & bit)) broken(p, step, cb, "it is popped and was not waited for");
        w->waited &= ~bit;
        return;
    }
}

static void reads(Proof *p, const TtStep *step, int cb) {
    if (!(p->now.waited & bit_of(p, cb))) broken(p, step, cb, "it is read and was not waited for");
}

static void walk(Proof *p, const TtBlock *block);

static void walk_body(Proof *p, const TtStep *step) {
    Windows before = p->now;
    walk(p, &step->body);
    uint64_t differ = (before.reserved ^ p->now.reserved) | (before.pushed ^ p->now.pushed) |
                      (before.waited ^ p->now.waited);
    for (size_t i = 0; differ && i < p->tt->plan->cbs.count; i++)
        if (differ & bit_of(p, (int)i)) {
            broken(p, step, (int)i, "a loop or branch leaves it in another state than it began with");
            break;
        }
    p->now = before;
}

static void walk(Proof *p, const TtBlock *block) {
    for (size_t i = 0; i < block->count; i++) {
        const TtStep *step = &block->at[i];
        switch (step->kind) {
        case STEP_CB: hand(p, step); break;
        case STEP_MOVE: reads(p, step, step->cb); break;
        case STEP_MATMUL:
        case STEP_REDUCE:
            reads(p, step, step->cb);
            reads(p, step, step->cb2);
            break;
        case STEP_CALL:
            if (step->row->form != TAKES_FPU) break;
            reads(p, step, step->cb);
            reads(p, step, step->cb2);
            break;
        case STEP_PACK:
            if (!(p->now.reserved & bit_of(p, step->cb)))
                broken(p, step, step->cb, "it is packed and was not reserved");
            break;
        default: walk_body(p, step);
        }
    }
}

void tt_check_windows(Tt *tt, const TtCode *code) { walk(&(Proof){.tt = tt}, &code->body); }
