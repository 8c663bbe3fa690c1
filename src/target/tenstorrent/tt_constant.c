/* SPDX-License-Identifier: Apache-2.0 */
/* tt_constant.c: what is the same for all tasks of a core, and so comes to it once.
 *
 * The weights of a layernorm, masks of what is inside of a row, the matrices that move elements: they follow from
 * arguments alone. The reader brings them in front of its loop over tasks, compute waits for them there, and gives them
 * up behind its own; their CBs have one slot:
 *
 *     reader     cb_reserve_back(cb_w, 16); .. cb_push_back(cb_w, 16); for (task..) { .. }
 *     compute    cb_wait_front(cb_w, 16); for (task..) { .. } cb_pop_front(cb_w, 16);
 *
 * Of a ring those fields whose load follows from nothing that a task computes, where reader and compute hand its items
 * over once a task; of tiles of indices those that are made of arguments. */
#include "target/tenstorrent/tt_emit.h"

/* A number that all roles know before the first task. */
static bool is_known(const Tt *tt, Ref ref) {
    if (!ref_is_value(ref)) return true;
    const Value *v = ir_value(tt->k, ref);
    if (!v->op) return v->region == tt->k->body;
    return v->op->parent == tt->k->body && v->op->code != OP_TLOAD && v->op->code != OP_LOAD;
}

static bool is_made_of_known(Tt *tt, Ref ref, Map *seen) {
    if (!ref_is_value(ref) || !map_meets(seen, tt->arena, ref)) return true;
    const Value *v = ir_value(tt->k, ref);
    if (v->type->kind != TY_TILE || !v->type->rank) return is_known(tt, ref);
    if (!v->op || v->op->region_count || v->op->code == OP_TLOAD || v->op->code == OP_LOAD) return false;
    for (int i = 0; i < v->op->operand_count; i++)
        if (!is_made_of_known(tt, v->op->operands[i], seen)) return false;
    return true;
}

bool tt_is_constant_tile(Tt *tt, Ref value) { return is_made_of_known(tt, value, &(Map){0}); }

static int count_hands(const Region *region, Opcode code, Ref ring) {
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        count += op->code == code && op->operands[0] == ring;
        for (int i = 0; i < op->region_count; i++) count += count_hands(op->regions[i], code, ring);
    }
    return count;
}

/* Does the role take or make one item of the ring a task, and no more? */
static bool is_once(const Region *role, Opcode code, Ref ring) {
    int here = 0;
    for (const Op *op = role->first; op; op = op->next) here += op->code == code && op->operands[0] == ring;
    return here == 1 && count_hands(role, code, ring) == 1;
}

static bool is_constant_load(const Tt *tt, const TtField *field) {
    const Op *load = field->load;
    if (!load || load->code != OP_TLOAD || field->plain || field->cb < 0 || op_operand(load, 1)) return false;
    if (tt_indexed_dim(tt, load) >= 0 || !is_known(tt, load->operands[0])) return false;
    RefList offsets = op_list(load, 0);
    for (int d = 0; d < offsets.count; d++)
        if (!is_known(tt, offsets.at[d])) return false;
    return load->parent == tt->role[TENSIX_READER]->regions[0];
}

static void keep_one(Tt *tt, int cb) {
    TtCb *desc = &tt->plan->cbs.at[cb];
    if (tt->plan->options.depths) return; /* as they are asked for */
    desc->slots = 1;
    desc->desc.pages = desc->item_pages;
}

void tt_plan_constants(Tt *tt) {
    const Op *load = tt->role[TENSIX_READER], *compute = tt->role[TENSIX_COMPUTE];
    for (size_t i = 0; load && compute && i < tt->fields.count; i++) {
        TtField *field = &tt->fields.at[i];
        field->stays = is_constant_load(tt, field) && is_once(load->regions[0], OP_ACQUIRE, field->ring) &&
                       is_once(compute->regions[0], OP_WAIT, field->ring);
        if (!field->stays) continue;
        keep_one(tt, field->cb);
        if (field->fpu_cb != field->cb) keep_one(tt, field->fpu_cb);
    }
}
