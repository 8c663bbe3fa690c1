/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_turn.c: loops of products in a row that are turned, so that the last runs under the next trip's arithmetic.
 *
 * `ring` has found them and proved the turned order (pass/ring/ring_rotate.c: `rotate`); here, where tiles have their
 * places, is decided whether it stands, and each op gets its place in time:
 *
 *     for<rotate> {  head: wait k ; s = dot<flight> q, k ; release k ; p = f(s) ; left = cast p
 *                    scale: a = mul acc, alpha
 *                    tail: wait<behind=1> v ; acc = dot<behind=1, flight> left, v, a ; release<behind=1> v }
 *
 * The tail of a trip is done in the next one. Not with the left operand in shared memory: the next trip's would
 * overwrite it under the product. Two workers take turns (`turns`, the first of two named barriers) where the products
 * take longer than the arithmetic: one issues its products while the other computes. */
#include "pass/ring/ring_rotate.h"
#include "pass/schedule/schedule.h"

/* Two workers, and the last two named barriers: the turn of the first worker; the next one is that of the second. */
enum { TAKE_TURNS = 2 };
static int first_turn(const Schedule *s) { return s->cx->machine->named_barriers - TAKE_TURNS; }
static bool are_two(const Schedule *s, const Op *role) {
    return layout_group(s->cx, s->k, role).warps == TAKE_TURNS * s->cx->machine->group_warps;
}

static bool can_turn(const Schedule *s, const Op *loop, Rotation *r, const char **why) {
    *r = (Rotation){0};
    *why = "it is no loop of two products in a row of a role";
    if (!role_around(loop) || !rotation_find(s->k, loop, s->arena, r)) return false;
    *why = "a product of it is waited for at once";
    if (!schedule_is_async(s, r->first) || !schedule_is_async(s, r->second)) return false;
    *why = "the left operand goes through shared memory";
    return schedule_layout(s->k, r->second->operands[0])->home == HOME_REGISTERS;
}

static bool can_take_turns(const Schedule *s, const Op *loop, const Rotation *r) {
    return are_two(s, role_around(loop)) &&
           ir_type(s->k, r->first->operands[0])->extent[1] >= s->cx->machine->cost.long_product;
}

/* Head, scale, tail, each in its own order. */
static void sort_body(Region *body, const Rotation *r) {
    for (int part = ROTATE_SCALE; part <= ROTATE_TAIL; part++) {
        Op *first = NULL;
        for (Op *op = body->first, *next; op != body->last && op != first; op = next) {
            next = op->next;
            if (rotation_part(r, op) != (RotatePart)part) continue;
            ir_move(op, body, body->last);
            if (!first) first = op;
        }
    }
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Rotation r;
    const char *why;
    if (!op_flag(loop, AT_ROTATE)) return;
    if (!can_turn(s, loop, &r, &why)) {
        op_drop(loop, AT_ROTATE);
        pass_find(s->cx, r.second ? r.second->range : loop->range, FIND_LOOP_NOT_TURNED, why);
        return;
    }
    sort_body(loop->regions[0], &r);
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (rotation_part(&r, op) == ROTATE_TAIL) op_set(s->k, op, (Attr){.id = AT_BEHIND, .number = 1});
        if (op == r.first || op == r.second) op_set(s->k, op, (Attr){.id = AT_FLIGHT, .number = 1});
    }
    if (can_take_turns(s, loop, &r)) op_set(s->k, loop, (Attr){.id = AT_TURNS, .number = first_turn(s)});
}

/* Head, scale and tail in their order, the tail behind, the last two products in flight. */
static bool is_marked(const Region *body, const Rotation *r) {
    RotatePart last = ROTATE_HEAD;
    bool leads = op_attr(body->owner, AT_LEADS); /* its order is schedule_early.c's */
    for (const Op *op = body->first; op != body->last; op = op->next) {
        RotatePart part = rotation_part(r, op);
        if ((part < last && !leads) || (part == ROTATE_TAIL) != (op_attr(op, AT_BEHIND) != NULL)) return false;
        if (op_flag(op, AT_FLIGHT) != (op == r->first || op == r->second)) return false;
        last = part;
    }
    return true;
}

/* Two workers, and two barriers that no role has, the same for all loops of the role. */
static bool may_take_turns(const Schedule *s, const Op *loop) {
    const Op *role = role_around(loop);
    int64_t turns = op_int(loop, AT_TURNS, 0);
    for (const Op *op = role->parent->first; op; op = op->next)
        if (op->code == OP_ROLE && op_int(op, AT_ID, 0) >= turns) return false;
    return are_two(s, role) && turns == first_turn(s);
}

bool schedule_turn_holds(Schedule *s, const Op *loop) {
    Rotation r;
    const char *why;
    if (!can_turn(s, loop, &r, &why)) return schedule_fail(s, loop, why);
    if (!is_marked(loop->regions[0], &r))
        return schedule_fail(s, loop,
                             "the ops of a loop with `rotate` stand in the order head, scale, tail, its tail `behind`, "
                             "its last two products in `flight`");
    if (op_attr(loop, AT_LEADS) && !schedule_early_holds(s, loop)) return false;
    return !op_attr(loop, AT_TURNS) || may_take_turns(s, loop) ||
           schedule_fail(s, loop, "`turns` needs two workers of four warps, and two barriers that no role has");
}

static void find_turns(Op *op, void *user) {
    const Op **first = user;
    if (op_attr(op, AT_TURNS) && !*first) *first = op;
}

void schedule_turn(Schedule *s) {
    const Op *in_turns = NULL;
    ir_walk(s->k->body, plan_loop, s);
    ir_walk(s->k->body, find_turns, &in_turns);
    if (in_turns) pass_find(s->cx, role_around(in_turns)->range, FIND_WORKERS_TAKE_TURNS);
}
