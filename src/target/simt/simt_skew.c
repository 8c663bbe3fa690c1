/* SPDX-License-Identifier: Apache-2.0 */
/* simt_skew.c: load and compute on the same threads, the loads d items ahead: one loop, copies
 * into the ring's slots.
 *
 * A role that fills rings and runs `on` the role that empties them is not a branch of its own. The pass
 * `schedule` has matched its loops with those of the other role (`twin`); innermost ones run ahead (`ahead`):
 *
 *     for (d items) load(item)
 *     for (..) { wait for the item; barrier; load(item + d); compute(item) }
 *
 * or, where compute begins with a product (`covers`), the load while that runs. A load that comes through registers
 * waits there until the trip ends (`late`):
 *
 *     for (..) { wait for the item; barrier; x = load(item + d); compute(item); store x into the slot }
 *
 * Loops and branches around them run in step; a branch inside of them is one of each turn, that of the loads d turns
 * ahead: which items there are is known from the trip alone, and puts and gets count for themselves. The copies of one
 * turn are waited for together, in the target's way (cp.async groups; a count of loads); what is neither copied nor waits in registers is
 * loaded and stored at once, which is right, if not ahead. */
#include "target/simt/simt_ring.h"

#include <string.h>

/* Writes ops of the load role from the cursor to `until` (not included; NULL: all that is left in the region). */
static void run_to(Emit *e, const Op *until) {
    const Op *op = e->ahead;
    while (op && op != until && op->code != OP_YIELD && op->code != OP_RETURN) {
        if (op->code == OP_COMMIT) ring_find(e, op->operands[0])->ahead++;
        if (elementwise_is(op))
            op = elementwise_run(e, op);
        else
            emit_op(e, op);
        op = op->next;
    }
    e->ahead = op;
}

static void land(Emit *e, const Op *op, int turns, const Expr *last_is_there) {
    e->target->copies_land(e, op, turns, last_is_there);
    e->shows |= sync_shows(op);
    for (size_t i = 0; i < e->rings.count; i++) e->shows |= e->rings.at[i].shows;
    sync_step(e);
}

void skew_catch_up(Emit *e, const Op *wait) {
    if (e->skew_loop) return; /* the loop has waited for the whole turn */
    RingPlan *r = ring_find(e, wait->operands[0]);
    const Op *commit = e->ahead;
    if (r->ahead) { /* it was loaded on the way to what was needed before */
        r->ahead--;
        land(e, wait, 0, NULL);
        return;
    }
    while (!(commit->code == OP_COMMIT && commit->operands[0] == wait->operands[0])) commit = commit->next;
    sync_before(e, wait);
    run_to(e, commit->next);
    r->ahead--;
    e->target->copies_issued(e);
    land(e, wait, 0, NULL);
}

/* What the load loop carries, such as an address found by the turn before, lies in variables of its own and is as far
 * ahead as its loads. */
static void carry(Emit *e, const Op *loop) {
    const Region *body = loop->regions[0];
    if (loop->operand_count > 3) emit_copies(e, body->args + 1, body->last->operands, loop->operand_count - 3);
}

/* One turn of the load loop, at the value `at` of its variable. */
static void load_turn(Emit *e, const Op *loop, const char *at) {
    const Op *kept = e->ahead;
    emit_forget(e, loop->regions[0]); /* of the turns before the loop */
    emit_set_name(e, loop->regions[0]->args[0], HOLD_SCALAR, at);
    e->ahead = loop->regions[0]->first;
    run_to(e, NULL);
    for (const Op *op = loop->regions[0]->first; op; op = op->next) /* the loop's own waits take them */
        if (op->code == OP_COMMIT) ring_find(e, op->operands[0])->ahead = 0;
    carry(e, loop);
    e->ahead = kept;
}

/* The same of the turn `at`, should the loop have it, as a group of copies: its number stands in `at`_wide. */
static void load_if_there(Emit *e, const Op *loop, const char *at) {
    const char *type = cs_value_type(&e->p, ir_type(e->k, loop->regions[0]->args[0]));
    cs_open(&e->p, "if (%p)", emit_goes_on(e, loop, ex(e->arena, "%s_wide", at)));
    cs_note(&e->p, "the trip whose tiles are loaded now");
    cs_line(&e->p, "const %s %s = (%s)%s_wide;", type, at, type, at);
    load_turn(e, loop, at);
    cs_close(&e->p);
    e->target->copies_issued(e);
}

/* The loop or branch of the load role that belongs to this one of compute; what stands before it is written. */
const Op *skew_twin(Emit *e, const Op *op) {
    int64_t twin = op_int(op, AT_TWIN, 0);
    if (!twin) return NULL;
    const Op *other = e->ahead;
    while (op_int(other, AT_TWIN, 0) != twin) other = other->next;
    bool fills = twin_fills(e->ahead, other);
    if (fills) sync_before(e, op);
    run_to(e, other);
    if (fills) e->target->copies_issued(e);
    return other;
}

/* --- branches around such loops: both roles take the same side --- */
const Op *skew_branch(Emit *e, const Op *branch) {
    const Op *other = skew_twin(e, branch);
    for (int i = 0; other && i < other->result_count; i++) emit_carried(e, other->results[i], REF_NONE);
    return other;
}

void skew_side_begin(Emit *e, const Op *other, int side) { e->ahead = other->regions[side]->first; }

void skew_side_end(Emit *e, const Op *other, int side) {
    const Op *last = other->regions[side]->last;
    run_to(e, NULL);
    if (last) emit_copies(e, other->results, last->operands, other->result_count);
    e->ahead = other->next;
}

/* --- tiles that wait in registers (put<late>) --- */
/* Where they wait: around the branch that loads them. */
static void declare_late(Emit *e, const Op *other) {
    e->late.count = 0;
    for (const Op *op = other->regions[0]->first; op; op = op->next) {
        if (!op_flag(op, AT_LATE)) continue;
        Ref value = op_operand(op, 1);
        LatePut late = {op, cs_fresh(&e->p, arena_printf(e->arena, "%s_kept", cs_name(&e->p, value))),
                        cs_fresh(&e->p, "place")};
        cs_line(&e->p, "%s %s[%d];", emit_array_type(e, ir_type(e->k, value)), late.tile,
                emit_layout(e, value)->registers);
        cs_line(&e->p, "u32 %s;", late.place);
        *VEC_PUSH(&e->late, e->arena) = late;
    }
}

bool skew_keep(Emit *e, const Op *put, const Expr *at) {
    for (size_t i = 0; e->keeps && i < e->late.count; i++) {
        const LatePut *late = &e->late.at[i];
        if (late->put != put) continue;
        cs_line(&e->p, "%s = %p;", late->place, at);
        emit_unroll(e, "r", emit_layout(e, op_operand(put, 1))->registers, 1);
        cs_line(&e->p, "%s[r] = %p[r];", late->tile, emit_hold(e, op_operand(put, 1))->by);
        cs_close(&e->p);
        return true;
    }
    return false;
}

/* Into their slots, should the turn that loads them be there. */
static void store_late(Emit *e, const Op *other) {
    if (!e->late.count) return;
    cs_open(&e->p, "if (%p)", emit_goes_on(e, other, ex(e->arena, "%s_wide", e->late_turn)));
    for (size_t i = 0; i < e->late.count; i++) {
        const LatePut *late = &e->late.at[i];
        Ref value = op_operand(late->put, 1);
        const RingPlan *r = ring_of_slot(e, late->put->operands[0]);
        emit_set_name(e, value, HOLD_ARRAY, late->tile);
        sync_before(e, late->put);
        shared_store_tile(e, late->put, value, &r->field[hand_field(late->put)], ex_name(e->arena, late->place));
    }
    cs_close(&e->p);
    e->late.count = 0;
}

/* --- loops --- */
void skew_begin(Emit *e, const Op *loop, const Op *other) {
    for (int i = 3; i < other->operand_count; i++) emit_carried(e, other->regions[0]->args[i - 2], other->operands[i]);
    if (twin_is_outer(loop)) return;
    int d = (int)op_int(loop, AT_AHEAD, 0);
    if (!d) return; /* each turn writes what the turn before read: the barrier stands in the loop */
    sync_within(e, loop);
    const Expr *lo = emit_scalar(e, other->operands[0]);
    const char *turn = cs_fresh(&e->p, "turn");
    cs_note(&e->p, "tiles of the first %d trip%s, before the loop", d, d == 1 ? "" : "s");
    cs_loop(&e->p, NULL, turn, 0, d, 1);
    const char *at = cs_fresh(&e->p, "first");
    cs_line(&e->p, "const i64 %s_wide = %p;", at, emit_trips_on(e, other, lo, ex_name(e->arena, turn)));
    load_if_there(e, other, at);
    cs_close(&e->p);
}

void skew_step(Emit *e, const Op *loop, const Op *other, const char *at) {
    e->ahead = other->next;
    if (twin_is_outer(loop)) {
        emit_set_name(e, other->regions[0]->args[0], HOLD_SCALAR, at);
        e->ahead = other->regions[0]->first;
        return;
    }
    e->skew_loop = loop;
    int d = (int)op_int(loop, AT_AHEAD, 0);
    if (!d) {
        sync_within(e, loop);
        load_turn(e, other, at);
        e->target->copies_issued(e);
        land(e, loop, 0, NULL);
        return;
    }
    const Expr *last = d > 1 ? emit_trips_on(e, other, ex_name(e->arena, at), ex_int(e->arena, d - 1)) : NULL;
    land(e, loop, d - 1, last ? emit_goes_on(e, other, last) : NULL);
    e->covered = other;
    e->covered_at = at;
    if (!twin_cover(loop)) skew_cover(e);
}

void skew_cover(Emit *e) {
    const Op *other = e->covered;
    const char *at = e->covered_at;
    int d = (int)op_int(e->skew_loop, AT_AHEAD, 0);
    const char *next = cs_fresh(&e->p, "next");
    const Expr *later = emit_trips_on(e, other, ex_name(e->arena, at), ex_int(e->arena, d));
    cs_note(&e->p, "tiles of the trip %d later, if there is one", d);
    cs_line(&e->p, "const i64 %s_wide = %p;", next, later);
    declare_late(e, other);
    e->late_turn = next;
    e->keeps = true;
    load_if_there(e, other, next);
    e->keeps = false;
}

void skew_turn_end(Emit *e, const Op *loop, const Op *other) {
    if (!twin_is_outer(loop)) {
        store_late(e, other);
        return;
    }
    run_to(e, NULL);
    carry(e, other);
}

void skew_end(Emit *e, const Op *other) {
    for (int i = 0; i < other->result_count; i++) emit_same(e, other->results[i], other->regions[0]->args[i + 1]);
    e->skew_loop = NULL;
    e->ahead = other->next;
}
