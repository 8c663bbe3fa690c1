/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_follow.c: a role that empties rings on the threads of the role that fills them becomes part
 * of that role.
 *
 * The plan runs the store role `on` compute. Its loops are compute's own, over again; run behind
 * them they would find the last tile only, so what stands in them goes to the end of each of
 * compute's turns:
 *
 *     role compute { for i { .. put o, tile ; commit } }     role compute { for i { .. commit ;
 *     role store<on=compute> { for i { wait ; tstore } }         wait ; tstore } }
 *
 * Values keep their names and layouts; the role that became part of another one is gone. Contract: ring form that
 * ring_check has proved, so the loops have the same trips; false when a hand-over stands where the other role has
 * none. */
#include "pass/schedule/schedule.h"

#include <string.h>

/* Does `lead` fill a ring that `tail` waits for? */
static bool feeds_from(const Op *lead, const Op *tail) {
    if (tail->code == OP_WAIT) return hands_over_by(lead, HAND_COMMIT, tail->operands[0]);
    for (int i = 0; i < tail->region_count; i++)
        for (const Op *inner = tail->regions[i]->first; inner; inner = inner->next)
            if (feeds_from(lead, inner)) return true;
    return false;
}

static Ref *joined(Kernel *k, const Ref *a, int a_count, const Ref *b, int b_count) {
    Ref *all = ARENA_ARRAY(k->module->arena, Ref, (size_t)(a_count + b_count));
    if (a_count) memcpy(all, a, (size_t)a_count * sizeof *all);
    if (b_count) memcpy(all + a_count, b, (size_t)b_count * sizeof *all);
    return all;
}

static void join_operands(Kernel *k, Op *lead, const Op *tail, int skip) {
    lead->operands = joined(k, lead->operands, lead->operand_count, tail->operands + skip, tail->operand_count - skip);
    lead->operand_count += tail->operand_count - skip;
}

/* What the tail's loop carries, the lead's carries too. */
static void join_carried(Kernel *k, Op *lead, const Op *tail) {
    bool counted = lead->code == OP_FOR, loop = counted || lead->code == OP_WHILE;
    if (loop) join_operands(k, lead, tail, 3 * counted);
    for (int r = 0; loop && r < lead->region_count; r++) {
        Region *to = lead->regions[r], *from = tail->regions[r];
        if (counted) ir_replace_all(k, from->args[0], to->args[0]);
        to->args = joined(k, to->args, to->arg_count, from->args + counted, from->arg_count - counted);
        for (int i = counted; i < from->arg_count; i++) {
            Value *v = ir_value(k, from->args[i]);
            v->region = to;
            v->index = to->arg_count++;
        }
    }
    lead->results = joined(k, lead->results, lead->result_count, tail->results, tail->result_count);
    for (int i = 0; i < tail->result_count; i++) {
        Value *v = ir_value(k, tail->results[i]);
        v->op = lead;
        v->index = lead->result_count++;
    }
}

static bool join_regions(Kernel *k, Region *lead, Region *tail) {
    Op *next, *first = tail->first;
    for (Op *op = first; op; op = next) {
        next = op->next;
        bool ends = op_has(op->code, TRAIT_TERMINATOR), meets = hands_over_by(op, HAND_WAIT, REF_NONE);
        if (!ends && !(op->region_count && meets)) continue;
        Op *place = lead->first;
        while (place != lead->last && (ends || !feeds_from(place, op))) place = place->next;
        bool joins = op->code == OP_FOR || op->code == OP_IF || op->code == OP_WHILE;
        if (!ends && (place->code != op->code || !joins)) return false;
        for (Op *moved = first, *after; moved != op; moved = after) {
            after = moved->next;
            ir_move(moved, lead, place);
        }
        first = next;
        if (ends) {
            join_operands(k, place, op, op->code == OP_TEST); /* the lead's condition is the tail's */
            return true;
        }
        join_carried(k, place, op);
        for (int i = 0; i < op->region_count; i++)
            if (!join_regions(k, place->regions[i], op->regions[i])) return false;
        ir_remove(op);
    }
    return true;
}

/* The rings that the role emptied are emptied by the one that it became part of. */
static void empty_into(Kernel *k, Word tail, Word lead) {
    for (Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_RING && ring_consumer(op) == tail) op_set(k, op, (Attr){.id = AT_CONSUMER, .word = lead});
}

bool schedule_follow(Kernel *k, Op *tasks) {
    for (Op *tail = role_first(tasks), *next; tail; tail = next) {
        next = role_next(tail);
        if (!role_is_guest(tail) || !hands_over_by(tail, HAND_WAIT, REF_NONE)) continue;
        Op *lead = role_find(tasks, role_host(tail));
        if (lead && !join_regions(k, lead->regions[0], tail->regions[0])) return false;
        empty_into(k, role_name(tail), role_host(tail));
        ir_remove(tail);
    }
    return true;
}
