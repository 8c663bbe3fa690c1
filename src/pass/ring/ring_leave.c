/* SPDX-License-Identifier: Apache-2.0 */
/* ring_leave.c: accesses that leave their ring one by one, so that the others keep theirs.
 *
 * A load that leaves is an ordinary load of compute, a store an ordinary store: both may stand where they stood. Who
 * leaves, and why, is a finding.
 *
 *     in a branch inside of a loop     skew: loads that are used there run ahead under its condition; a value that
 *                                      leaves it would be copied twice, a store is one of compute anyway
 *     in a `while`                     skew: which trip is loaded ahead is counted
 *     no dot in a loop                 streams are fast enough by themselves; loads that wait for their place are not
 *     too many rings                   those that feed no dot first, then the last ones
 *     read by the next product         stores: their tile lies in shared memory for it, a slot would be another copy
 *                                      (pass/layout/layout_take.c)
 *     a crowd of blocks                stores: the buffers of their tiles would be another block's memory
 *     one slot of each does not fit    output tiles, loads outside of loops, loads that feed no dot, at last any; of
 *                                      those the largest first
 *     the schedule finds no room       the same: the kernel is cut again without that ring */
#include "pass/ring/ring.h"
#include "pass/matrix.h"
#include "pass/ring/ring_cut.h"

static void leave(Cut *c, size_t which, const char *why) {
    CutRing *ring = c->rings.at[which];
    for (size_t i = 0; i < ring->ops.count; i++) {
        *VEC_PUSH(&c->refusals, c->arena) = (Stay){ring->ops.at[i], why};
        if (ring->output) cut_note_stay(c, ring->ops.at[i]);
    }
    for (size_t i = 0; i < c->rings.count; i++)
        if (c->rings.at[i]->shares == ring) c->rings.at[i]->shares = NULL;
    for (size_t i = which; i + 1 < c->rings.count; i++) c->rings.at[i] = c->rings.at[i + 1];
    c->rings.count--;
    if (ring->output)
        cut_settle_stores(c);
    else
        cut_index(c);
}

static bool is_in_while(const CutRing *ring) {
    for (const Op *owner = ring->region->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_WHILE) return true;
    return false;
}

void cut_leave_branches(Cut *c) {
    for (size_t i = 0; i < c->rings.count;) {
        const CutRing *ring = c->rings.at[i];
        if (is_in_while(ring)) {
            leave(c, i, "it stands in a `while`, whose trips threads that load for themselves do not count");
            i = 0;
        } else if (ring->in_loop && ring->region->owner != ring->loop && (ring->output || ring->copies)) {
            leave(c, i, "it stands in a branch of the loop that its value leaves");
            i = 0; /* stores may have left with it */
        } else
            i++;
    }
}

void cut_leave_streams(Cut *c) {
    for (size_t i = c->rings.count; i-- > 0;) {
        if (i >= c->rings.count || c->rings.at[i]->chases || c->rings.at[i]->asked) continue;
        leave(c, i,
              c->rings.at[i]->output
                  ? "nothing is multiplied before it"
                  : "it feeds no dot, and its place is known ahead (option slots=N, or num_stages of "
                    "its loop, lets it run ahead)");
    }
}

void cut_leave_outputs(Cut *c, const char *why) {
    for (size_t i = c->rings.count; i-- > 0;)
        if (i < c->rings.count && c->rings.at[i]->output) leave(c, i, why);
}

enum { NEXT_OPS = 256 }; /* what comes later does not come next: a kernel of many stores is not read anew for each */

/* Is the store's tile an operand of the product that comes next, which reads it in shared memory? */
static bool is_read_there(const Cut *c, const Op *store) {
    const Op *dot = store->next;
    for (int i = 0; dot && dot->code != OP_DOT; i++) dot = i < NEXT_OPS ? dot->next : NULL;
    return dot && matrix_overlaps(c->k, dot) && dot->operands[1] == op_operand(store, 1);
}

void cut_leave_read(Cut *c) {
    if (!c->cx->machine->has_threads) return;
    for (size_t i = c->rings.count; i-- > 0;)
        if (i < c->rings.count && c->rings.at[i]->output && is_read_there(c, c->rings.at[i]->ops.at[0]))
            leave(c, i, "a product reads its tile in shared memory, and it is stored from there");
}

void cut_leave_crowd(Cut *c) {
    for (;;) {
        int rings = 0;
        size_t last = 0; /* the last one that feeds no dot; if all do, the last */
        for (size_t i = 0; i < c->rings.count; i++) {
            rings += !c->rings.at[i]->shares;
            if (!c->rings.at[i]->feeds_dot || c->rings.at[last]->feeds_dot) last = i;
        }
        if (rings <= MAX_RINGS) return;
        leave(c, last, arena_printf(c->arena, "there would be more than %d rings", MAX_RINGS));
    }
}

/* --- who is worth what --- */
static int worth_of(const CutRing *ring) {
    return ring->output ? 0 : !ring->in_loop ? 1 : ring->feeds_dot ? 4 : ring->chases ? 3 : 2;
}

bool cut_leave_least(Cut *c) {
    size_t least = 0;
    int loads = 0;
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i], *other = c->rings.at[least];
        loads += !ring->output;
        bool less =
            worth_of(ring) < worth_of(other) || (worth_of(ring) == worth_of(other) && ring->bytes > other->bytes);
        if (less) least = i;
    }
    if (loads < 2) return false;
    leave(c, least,
          arena_printf(c->arena, "its slot of %lld bytes does not fit beside the others",
                       (long long)c->rings.at[least]->bytes));
    return true;
}

/* --- for the schedule --- */
const char *cut_must_stay(const Cut *c, const Op *access) {
    const Uncut *uncut = c->cx->uncut;
    for (size_t i = 0; uncut && i < uncut->stays.count; i++)
        if (uncut->stays.at[i].access == cut_order(c, access) && !uncut->stays.at[i].back)
            return uncut->stays.at[i].why;
    return NULL;
}

void cut_note_rings(const Cut *c) {
    Uncut *uncut = c->cx->uncut;
    Arena *arena = c->k->module->arena;
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        UncutRing *noted = NULL;
        for (size_t j = 0; j < uncut->rings.count; j++)
            if (uncut->rings.at[j].ring == ring->ring) noted = &uncut->rings.at[j];
        if (!noted) {
            noted = VEC_PUSH(&uncut->rings, arena);
            *noted = (UncutRing){.ring = ring->ring, .fields = (int)ring->ops.count};
        }
        if (worth_of(ring) > noted->worth) noted->worth = worth_of(ring);
        if (ring->bytes > noted->bytes) noted->bytes = ring->bytes;
        for (size_t j = 0; j < ring->ops.count; j++) *VEC_PUSH(&noted->accesses, arena) = cut_order(c, ring->ops.at[j]);
    }
}
