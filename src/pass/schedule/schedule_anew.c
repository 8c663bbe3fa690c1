/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_anew.c: loops of products behind which the places of elements are found anew.
 *
 *     for<anew> { .. dot .. } ; tstore %Z, [%m, %n], %z
 *
 * What a thread computes of its lane to load a tile before such a loop, compilers keep to store one behind it: through
 * the loop, whose sums and operands need those registers. Where the machine says so (`places_anew`), nobody can know
 * behind the loop that these are the same numbers.
 *
 *     for<trips_anew> { .. dot .. }
 *
 * So they keep each address in shared memory that a trip finds of its lane, dozens of them, as it is the same in all
 * trips. Where a thread has few registers (`trips_anew`), a trip begins with a lane of which nobody knows that. */
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

/* The innermost loop around a product. */
static bool can_trips_be_anew(const Op *loop) {
    bool loops = loop->code == OP_FOR || loop->code == OP_WHILE, own = false;
    for (const Op *op = loops ? loop->regions[loop->region_count - 1]->first : NULL; op; op = op->next) {
        if ((op->code == OP_FOR || op->code == OP_WHILE) && multiplies(op)) return false;
        own |= multiplies(op);
    }
    return own;
}

static void plan_loop(Op *op, void *user) {
    Schedule *s = user;
    if (can_be_anew(op)) op_set(s->k, op, (Attr){.id = AT_ANEW, .number = 1});
    if (s->cx->machine->cost.trips_anew && can_trips_be_anew(op))
        op_set(s->k, op, (Attr){.id = AT_TRIPS_ANEW, .number = 1});
}

void schedule_anew(Schedule *s) {
    if (s->cx->machine->cost.places_anew) ir_walk(s->k->body, plan_loop, s);
}

bool schedule_anew_holds(Schedule *s, const Op *op) {
    if (op_flag(op, AT_TRIPS_ANEW) && !(s->cx->machine->cost.trips_anew && can_trips_be_anew(op)))
        return schedule_fail(s, op, "`trips_anew` is of innermost loops with products, where the machine wants it");
    return !op_flag(op, AT_ANEW) || (s->cx->machine->cost.places_anew && can_be_anew(op)) ||
           schedule_fail(s, op, "`anew` is of loops with products that stand in no loop, where the machine wants it");
}
