/* SPDX-License-Identifier: Apache-2.0 */
/* tt_share.c: which loads cores can share.
 *
 * Tasks of two indices and more lie on a rectangle of cores by their last two (tt_mapping.c): cores of a row differ in
 * the last index, those of a column in the one before. A load whose place does not depend on the last index reads the
 * same pages on all cores of a row, in the same order; so the first core of the row reads them and sends them to the
 * others (STEP_SHARE), and so for columns. For matmul with tasks (m, n) that is A along rows and B down columns.
 *
 * The cores of a group must go through the same items: no loop or branch of the load role may depend on either
 * index; but for the end of a loop that depends on one of them, where all that it loads is shared by the cores that
 * differ in it (tt_uneven.c). */
#include "target/tenstorrent/tt_emit.h"

typedef struct Uses { /* of task indices: bits */
    const Tt *tt;
    Map seen;
} Uses;
enum { ALL = ~0u };

static unsigned uses_of(Uses *u, Ref ref) {
    const Kernel *k = u->tt->k;
    if (!ref_is_value(ref) || !map_meets(&u->seen, u->tt->arena, ref)) return 0; /* seen: counted already */
    const Value *v = ir_value(k, ref);
    const Op *owner = v->op ? v->op : v->region->owner;
    unsigned all = 0;
    if (!owner) return 0; /* a parameter */
    if (!v->op && owner == u->tt->tasks) return 1u << v->index;
    if (owner->code == OP_FOR) {
        int carried = v->op ? v->index : v->index - 1;
        for (int i = 0; i < 3; i++) /* inside, at a trip, it does not matter how many follow */
            if (i != 1 || v->op) all |= uses_of(u, owner->operands[i]);
        if (carried < 0) return all;
        return all | uses_of(u, owner->operands[3 + carried]) |
               uses_of(u, owner->regions[0]->last->operands[carried]);
    }
    if (!v->op || owner->region_count || owner->code == OP_TLOAD) return ALL;
    for (int i = 0; i < owner->operand_count; i++) all |= uses_of(u, owner->operands[i]);
    return all;
}

static unsigned uses_of_place(const Tt *tt, const Op *load) {
    Uses u = {.tt = tt};
    unsigned all = 0;
    RefList offsets = op_list(load, 0);
    for (int d = 0; d < offsets.count; d++) all |= uses_of(&u, offsets.at[d]);
    return all;
}

static unsigned uses_of_number(const Tt *tt, Ref number) { return uses_of(&(Uses){.tt = tt}, number); }

static TtShare share_of(const Tt *tt, const TtField *field, unsigned row, unsigned column) {
    if (!field->load || field->cb < 0 || field->plain || tt_indexed_dim(tt, field->load) >= 0) return SHARE_NONE;
    unsigned uses = uses_of_place(tt, field->load);
    return !(uses & column) ? SHARE_ROW : !(uses & row) ? SHARE_COLUMN : SHARE_NONE;
}

/* Of its bounds or condition, and those inside. */
static unsigned uses_of_control(const Tt *tt, const Op *op) {
    unsigned all = 0;
    if (!op->region_count) return 0;
    if (op->code != OP_FOR && op->code != OP_IF) return ALL;
    for (int i = 0; i < (op->code == OP_FOR ? 3 : 1); i++) all |= uses_of_number(tt, op->operands[i]);
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next) all |= uses_of_control(tt, inner);
    return all;
}

/* A loop whose end alone differs along a row or column of cores, which share all that it loads. */
static bool is_uneven(Tt *tt, const Op *loop, unsigned row, unsigned column) {
    if (loop->code != OP_FOR) return false;
    unsigned end = uses_of_number(tt, loop->operands[1]) & (row | column);
    unsigned start = uses_of_number(tt, loop->operands[0]) | uses_of_number(tt, loop->operands[2]);
    if ((end != row && end != column) || (start & (row | column))) return false;
    TtShare share = end == row ? SHARE_COLUMN : SHARE_ROW;
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        if (field->load && field->load->parent == loop->regions[0] && share_of(tt, field, row, column) != share)
            return false;
    }
    int rank = tt->tasks->operand_count;
    return tt_add_uneven(tt, loop, tasks_body(tt->tasks)->args[rank - (end == row ? 2 : 1)], share);
}

void tt_plan_shares(Tt *tt) {
    const Op *load = tt->role[TENSIX_READER];
    int rank = tt->tasks->operand_count;
    const TtOptions *asked = &tt->plan->options;
    bool on_rectangle = asked->policy == TW_AUTO || asked->policy == TW_RECT;
    if (tt->updates) return; /* cores take turns in the order of tasks */
    if (!load || rank < 2 || asked->multicast == WISH_OFF || !on_rectangle) return;
    unsigned column = 1u << (rank - 1), row = 1u << (rank - 2);
    for (const Op *op = load->regions[0]->first; op; op = op->next) {
        if ((uses_of_control(tt, op) & (row | column)) && !is_uneven(tt, op, row, column)) {
            tt->uneven.count = 0;
            return;
        }
    }
    for (size_t i = 0; i < tt->fields.count; i++) {
        const TtField *field = &tt->fields.at[i];
        TtShare share = share_of(tt, field, row, column);
        if (share == SHARE_NONE) continue;
        tt->plan->cbs.at[field->cb].share = share;
        tt->plan->shares = true;
    }
}
