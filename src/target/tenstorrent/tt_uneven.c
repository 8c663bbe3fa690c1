/* SPDX-License-Identifier: Apache-2.0 */
/* tt_uneven.c: loops whose trips differ between cores that could share what they load.
 *
 * In causal attention tasks (block, head) read the keys of their head up to their own block. The cores of a column have
 * the same head, so one of them can read for all; but they need different numbers of items. So all of them take as
 * many as the one that needs most: the reader's loop makes the trips of the whole group, and compute, behind its own
 * loop, gives up the items that are left:
 *
 *     i64 all_trips = tw_trips(lo, hi, step);
 *     for (u32 member = 0; member < column_members; ++member) {         the end of each, from its own index
 *       const i32 block = (i32)(column_first + member * rows);
 *       const i32 hi = ..
 *       all_trips = tw_most(all_trips, tw_trips(lo, hi, step));
 *     }
 *
 * Members' indices are as far apart as a core's block is long: blocks of a shared rectangle are equal
 * (tilewright_launch.h). Only the end may depend on the index, and only by arithmetic: so every member's trips are the
 * first ones of the group's. */
#include "target/tenstorrent/tt_compute.h"

/* The scalars that lead from the index to a number, by Ref. */
typedef enum Lead { LEAD_NEW, LEAD_NOT, LEAD_ON } Lead;
typedef struct Chain {
    const Tt *tt;
    uint8_t *lead;
    bool by_ops; /* that a role computes in front of its loops */
} Chain;

static bool follow(Chain *c, Ref value) {
    if (!ref_is_value(value)) return false;
    if (c->lead[value] != LEAD_NEW) return c->lead[value] == LEAD_ON;
    const Op *op = ir_value(c->tt->k, value)->op;
    bool found = false;
    for (int i = 0; op && i < op->operand_count; i++) found |= follow(c, op->operands[i]);
    const Op *around = op ? op->parent->owner : NULL;
    bool is_front = around && (around == c->tt->tasks || around->code == OP_ROLE);
    c->by_ops &= !found || (is_front && role_is_scalar_op(c->tt->k, op));
    c->lead[value] = found ? LEAD_ON : LEAD_NOT;
    return found;
}

static Chain chain_to(const Tt *tt, Ref index, Ref end) {
    Chain c = {.tt = tt, .lead = ARENA_ARRAY(tt->arena, uint8_t, tt->k->values.count), .by_ops = true};
    c.lead[index] = LEAD_ON;
    follow(&c, end);
    return c;
}

static const Op *wait_of_ring(const Region *region, Ref ring) {
    for (const Op *op = region->first; op; op = op->next)
        if (op->code == OP_WAIT && op->operands[0] == ring) return op;
    return NULL;
}

/* The loop of compute that takes what this loop of the reader brings; both hand over in their bodies only. */
static const Op *taker(Tt *tt, const Op *loop) {
    const Op *compute = tt->role[TENSIX_COMPUTE], *found = NULL;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count) return NULL;
        if (op->code != OP_ACQUIRE) continue;
        const Op *wait = NULL;
        for (const Op *ours = compute->regions[0]->first; ours && !wait; ours = ours->next)
            if (ours->code == OP_FOR) wait = wait_of_ring(ours->regions[0], op->operands[0]);
        if (!wait || tt_acquire_of(tt, wait) != op || (found && found != wait->parent->owner)) return NULL;
        found = wait->parent->owner;
    }
    for (const Op *op = found ? found->regions[0]->first : NULL; op; op = op->next) {
        const Op *acquire = op->code == OP_WAIT ? tt_acquire_of(tt, op) : NULL;
        bool is_other = op->code == OP_WAIT && (!acquire || acquire->parent->owner != loop);
        if (is_other || (op->region_count && compute_has_wait(op))) return NULL;
    }
    return found;
}

bool tt_add_uneven(Tt *tt, const Op *loop, Ref index, TtShare share) {
    bool by_ops = chain_to(tt, index, loop->operands[1]).by_ops;
    const Op *compute = tt->role[TENSIX_COMPUTE] && by_ops ? taker(tt, loop) : NULL;
    if (!compute) return false;
    *VEC_PUSH(&tt->uneven, tt->arena) = (TtUneven){loop, compute, index, share};
    return true;
}

static const TtUneven *uneven_of(const Role *role, const Op *loop) {
    for (size_t i = 0; i < role->tt->uneven.count; i++) {
        const TtUneven *u = &role->tt->uneven.at[i];
        if (loop == (role->kernel == TENSIX_READER ? u->load : u->compute)) return u;
    }
    return NULL;
}

static void add_chain(Role *role, const Chain *chain, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (role_is_scalar_op(role->tt->k, op) && chain->lead[op->results[0]] == LEAD_ON) role_scalar(role, op);
}

const char *role_all_trips(Role *role, const Op *loop) {
    const TtUneven *u = uneven_of(role, loop);
    if (!u) return NULL;
    const Kernel *k = role->tt->k;
    const char *index = cs_name(&role->p, u->index), *type = cs_register_type(&role->p, ir_type(k, u->index)->elem);
    const char *line = u->share == SHARE_ROW ? "row" : "column", *block = u->share == SHARE_ROW ? "columns" : "rows";
    const char *all = cs_fresh(&role->p, "all_trips"), *trips = role_trips(role, loop);
    const Chain chain = chain_to(role->tt, u->index, loop->operands[1]);
    role_members(role, u->share);
    role_line(role, "i64 %s = %s;", all, trips);
    role_open(role, (TtStep){.kind = STEP_BLOCK});
    role_line(role, "const u32 %s_first = (u32)%s - %s_place * %s;", line, index, line, block);
    role_open_text(role, STEP_FOR, "u32 member = 0; member < %s_members; ++member", line);
    role_line(role, "const %s %s = (%s)(%s_first + member * %s);", type, index, type, line, block);
    add_chain(role, &chain, tasks_body(role->tt->tasks));
    add_chain(role, &chain, loop->parent);
    role_line(role, "%s = tw_most(%s, %s);", all, all, trips);
    role_close(role);
    role_close(role);
    return all;
}

void compute_give_up_rest(Compute *c, const Op *loop) {
    Role *role = &c->role;
    const Tt *tt = role->tt;
    const char *all = role_all_trips(role, loop);
    if (!all) return;
    role_open_text(role, STEP_FOR, "i64 trip = %s; trip < %s; ++trip", role_trips(role, loop), all);
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != OP_WAIT) continue;
        compute_each_cb(c, op->operands[0], CB_WAIT);
        compute_each_cb(c, op->operands[0], CB_POP);
        for (size_t i = 0; i < tt->index_tiles.count; i++) {
            if (tt->index_tiles.at[i].wait != op) continue;
            role_hand(role, CB_WAIT, tt->index_tiles.at[i].cb);
            role_hand(role, CB_POP, tt->index_tiles.at[i].cb);
        }
    }
    role_close(role);
}
