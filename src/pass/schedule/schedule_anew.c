/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_anew.c: loops of products behind which the places of elements are found anew.
 *
 *     for<anew> { .. dot .. } ; tstore %Z, [%m, %n], %z
 *
 * What a thread computes of its lane to load a tile before such a loop, compilers keep to store one behind it: through
 * the loop, whose sums and operands need those registers. Where the machine says so (`places_anew`), nobody can know
 * behind the loop that these are the same numbers. */
#include "pass/schedule/schedule.h"

static bool multiplies(const Op *op) {
    if (op->code == OP_DOT) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (multiplies(inner)) return true;
    return false;
}

/* In another loop they would be found anew in each of its trips. */
static bool can_be_anew(const Op *loop) {
    if (loop->code != OP_FOR || !multiplies(loop)) return false;
    for (const Op *owner = loop->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_FOR || owner->code == OP_WHILE) return false;
    return true;
}

static void plan_loop(Op *op, void *user) {
    Schedule *s = user;
    if (can_be_anew(op)) op_set(s->k, op, (Attr){.id = AT_ANEW, .number = 1});
}

void schedule_anew(Schedule *s) {
    if (s->cx->machine->cost.places_anew) ir_walk(s->k->body, plan_loop, s);
}

bool schedule_anew_holds(Schedule *s, const Op *op) {
    return !op_flag(op, AT_ANEW) || (s->cx->machine->cost.places_anew && can_be_anew(op)) ||
           schedule_fail(s, op, "`anew` is of loops with products that stand in no loop, where the machine wants it");
}
