/* cuda_skew.c: load and compute on the same threads, the loads d items ahead: one loop, cp.async
 * into the ring's slots.
 *
 * A role that fills rings and runs `on` the role that empties them is not a branch of its own. Its
 * loops are matched with those of the other role; the innermost ones run ahead:
 *
 *     for (d items) load(item); commit                    d = slots - hold
 *     for (..) { wait for the item; barrier; load(item + d); commit; compute(item) }
 *
 * Loops and branches around them run in step; a branch inside of them is one of each turn, the copies' d turns ahead:
 * which items there are is known from the trip alone, and put and get count for themselves. The copies of one turn are one cp.async group; what cp.async
 * cannot do (a fill other than 0, elements that are not aligned) is loaded and stored at once,
 * which is right, if not ahead. */
#include "target/cuda/cuda_emit.h"

#include <string.h>

static bool region_takes(Emit *e, const Region *region, Opcode code) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == code && ring_find(e, op->operands[0])->skewed) return true;
        for (int i = 0; i < op->region_count; i++)
            if (region_takes(e, op->regions[i], code)) return true;
    }
    return false;
}

/* Does it stand around a loop that takes items, perhaps in a branch? */
static bool region_has_inner(Emit *e, const Region *region, Opcode code) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_FOR && region_takes(e, op->regions[0], code)) return true;
        for (int i = 0; op->code == OP_IF && i < op->region_count; i++)
            if (region_has_inner(e, op->regions[i], code)) return true;
    }
    return false;
}

static bool has_inner(Emit *e, const Op *loop, Opcode code) { return region_has_inner(e, loop->regions[0], code); }

enum { FAR = 1 << 20 }; /* no ring limits the distance */

/* The smallest distance that the slots of the rings filled in the loop, in its branches too, allow: an item more in each
 * trip is the most that there is. */
static int distance(Emit *e, const Region *region) {
    int least = FAR;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; op->code == OP_IF && i < op->region_count; i++) {
            int inner = distance(e, op->regions[i]);
            if (inner < least) least = inner;
        }
        if (op->code != OP_ACQUIRE) continue;
        const RingPlan *r = ring_find(e, op->operands[0]);
        if (r->skewed && r->slots - r->hold < least) least = r->slots - r->hold;
    }
    return least < 0 ? 0 : least;
}

/* Writes ops of the load role from the cursor to `until` (not included; NULL: all that is left in the region). */
static void run_to(Emit *e, const Op *until) {
    const Op *op = cuda_of(e)->ahead;
    while (op && op != until && op->code != OP_YIELD && op->code != OP_RETURN) {
        if (op->code == OP_COMMIT) ring_find(e, op->operands[0])->ahead++;
        if (elementwise_is(op))
            op = elementwise_run(e, op);
        else
            emit_op(e, op);
        op = op->next;
    }
    cuda_of(e)->ahead = op;
}

/* Does the load role hand over an item before the op? */
static bool fills_before(const Emit *e, const Op *until) {
    for (const Op *op = cuda_of(e)->ahead; op && op != until; op = op->next)
        if (op->code == OP_COMMIT) return true;
    return false;
}

static void land(Emit *e, int groups) {
    cs_line(&e->p, "tw_cp_async_wait(%d);", groups);
    e->async_pending |= e->cx->machine->has_wgmma;
    e->writes_pending = true;
    shared_before_read(e);
}

void skew_catch_up(Emit *e, const Op *wait) {
    if (cuda_of(e)->skew_loop) return; /* the loop has waited for the whole turn */
    RingPlan *r = ring_find(e, wait->operands[0]);
    const Op *commit = cuda_of(e)->ahead;
    if (r->ahead) { /* it was loaded on the way to what was needed before */
        r->ahead--;
        land(e, 0);
        return;
    }
    while (commit && !(commit->code == OP_COMMIT && commit->operands[0] == wait->operands[0])) commit = commit->next;
    if (!commit) {
        emit_refuse(e, wait, "a hand-over whose other side stands elsewhere");
        return;
    }
    shared_before_write(e);
    run_to(e, commit->next);
    r->ahead--;
    cs_line(&e->p, "tw_cp_async_commit();");
    land(e, 0);
}

/* What the load loop carries, such as an address found by the turn before, lies in variables of its own and is as far
 * ahead as its loads. */
static void carry(Emit *e, const Op *loop) {
    const Region *body = loop->regions[0];
    if (loop->operand_count > 3) emit_copies(e, body->args + 1, body->last->operands, loop->operand_count - 3);
}

/* One turn of the load loop, at the value `at` of its variable. It may be left out where the loop ends: its barriers
 * end nothing that was pending before. */
static void load_turn(Emit *e, const Op *loop, const char *at) {
    const Op *kept = cuda_of(e)->ahead;
    Pending before = emit_pending(e);
    emit_forget(e, loop->regions[0]); /* of the turns before the loop */
    emit_set(e, loop->regions[0]->args[0], HOLD_SCALAR, at);
    cuda_of(e)->ahead = loop->regions[0]->first;
    run_to(e, NULL);
    for (const Op *op = loop->regions[0]->first; op; op = op->next) /* the loop's own waits take them */
        if (op->code == OP_COMMIT) ring_find(e, op->operands[0])->ahead = 0;
    carry(e, loop);
    cuda_of(e)->ahead = kept;
    emit_pending_add(e, before);
}

static bool takes(Emit *e, const Op *op, Opcode code) {
    for (int i = 0; i < op->region_count; i++)
        if (region_takes(e, op->regions[i], code)) return true;
    return false;
}

/* The loop or branch of the load role that belongs to this one of compute; what stands before it is written. */
const Op *skew_match(Emit *e, const Op *op) {
    if (!cuda_of(e)->ahead || cuda_of(e)->skew_loop || !takes(e, op, OP_WAIT)) return NULL;
    const Op *other = cuda_of(e)->ahead;
    while (other && !(other->code == op->code && takes(e, other, OP_ACQUIRE))) other = other->next;
    if (!other) {
        emit_refuse(e, op, "a loop or branch that its load role does not have in the same form");
        return NULL;
    }
    bool fills = fills_before(e, other);
    if (fills) shared_before_write(e);
    run_to(e, other);
    if (fills) cs_line(&e->p, "tw_cp_async_commit();");
    return other;
}

/* --- branches around such loops: both roles take the same side --- */
const Op *skew_branch(Emit *e, const Op *branch) {
    const Op *other = skew_match(e, branch);
    for (int i = 0; other && i < other->result_count; i++) emit_carried(e, other->results[i], REF_NONE);
    return other;
}

void skew_side_begin(Emit *e, const Op *other, int side) { cuda_of(e)->ahead = other->regions[side]->first; }

void skew_side_end(Emit *e, const Op *other, int side) {
    const Op *last = other->regions[side]->last;
    run_to(e, NULL);
    if (last) emit_copies(e, other->results, last->operands, other->result_count);
    cuda_of(e)->ahead = other->next;
}

/* --- loops --- */
void skew_begin(Emit *e, const Op *loop, const Op *other) {
    for (int i = 3; i < other->operand_count; i++) emit_carried(e, other->regions[0]->args[i - 2], other->operands[i]);
    if (has_inner(e, loop, OP_WAIT)) return;
    int d = distance(e, other->regions[0]);
    if (d == FAR) d = 0;
    cuda_of(e)->skew_distance = d;
    if (!d) return; /* each turn writes what the turn before read: the barrier stands in the loop */
    shared_before_write(e);
    emit_enter_loop(e, other);
    const char *type = cs_value_type(&e->p, ir_type(e->k, other->regions[0]->args[0]));
    const char *lo = emit_scalar(e, other->operands[0]), *step = emit_scalar(e, other->operands[2]),
               *turn = cs_fresh(&e->p, "turn");
    cs_loop(&e->p, NULL, turn, 0, d, 1);
    const char *at = cs_fresh(&e->p, "first");
    if (strcmp(lo, "0") == 0)
        cs_line(&e->p, "const i64 %s_wide = (i64)%s * %s;", at, turn, step);
    else
        cs_line(&e->p, "const i64 %s_wide = (i64)%s + (i64)%s * %s;", at, lo, turn, step);
    cs_open(&e->p, "if (%s)", emit_goes_on(e, other, arena_printf(e->arena, "%s_wide", at)));
    cs_line(&e->p, "const %s %s = (%s)%s_wide;", type, at, type, at);
    load_turn(e, other, at);
    cs_close(&e->p);
    cs_line(&e->p, "tw_cp_async_commit();");
    cs_close(&e->p);
    e->writes_pending = true;
}

void skew_step(Emit *e, const Op *loop, const Op *other, const char *at) {
    cuda_of(e)->ahead = other->next;
    if (has_inner(e, loop, OP_WAIT)) {
        emit_set(e, other->regions[0]->args[0], HOLD_SCALAR, at);
        cuda_of(e)->ahead = other->regions[0]->first;
        return;
    }
    cuda_of(e)->skew_loop = loop;
    if (!cuda_of(e)->skew_distance) {
        shared_before_write(e);
        load_turn(e, other, at);
        cs_line(&e->p, "tw_cp_async_commit();");
        land(e, 0);
        return;
    }
    land(e, cuda_of(e)->skew_distance - 1);
    const char *type = cs_value_type(&e->p, ir_type(e->k, other->regions[0]->args[0]));
    const char *next = cs_fresh(&e->p, "next"), *step = emit_scalar(e, other->operands[2]);
    cs_line(&e->p, "const i64 %s_wide = (i64)%s + (i64)%s * %d;", next, at, step, cuda_of(e)->skew_distance);
    cs_open(&e->p, "if (%s)", emit_goes_on(e, other, arena_printf(e->arena, "%s_wide", next)));
    cs_line(&e->p, "const %s %s = (%s)%s_wide;", type, next, type, next);
    load_turn(e, other, next);
    cs_close(&e->p);
    cs_line(&e->p, "tw_cp_async_commit();");
}

void skew_turn_end(Emit *e, const Op *loop, const Op *other) {
    if (!has_inner(e, loop, OP_WAIT)) return;
    run_to(e, NULL);
    carry(e, other);
}

void skew_end(Emit *e, const Op *other) {
    for (int i = 0; i < other->result_count; i++) emit_same(e, other->results[i], other->regions[0]->args[i + 1]);
    cuda_of(e)->skew_loop = NULL;
    cuda_of(e)->ahead = other->next;
    e->reads_pending = true, e->scratch_read = NULL;
}
