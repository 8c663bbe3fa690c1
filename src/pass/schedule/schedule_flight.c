/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_flight.c: products that stay in flight while the next item of their ring is waited for.
 *
 * A loop whose only product feeds its own accumulator, with the release of its operands behind it:
 *
 *     for { wait s ; a = get s ; acc = dot<flight> a, b, acc ; release<behind=1> s }
 *
 * The product of a trip is waited for in the next one, and its slot goes back then: a consumer holds two items. Where
 * A is in registers, the next trip computes its own first, then waits, and takes the registers over (`settles`).
 *
 * In a loop of several products the last one, if it feeds its own accumulator and A is made of an earlier one:
 *
 *     for { wait s ; a = get s ; b = dot q, a ; p = f(b) ; acc = dot<flight> p, a, acc ; release<behind=1> s }
 *
 * Products end in their order, so it is done when the first one of the next trip is waited for: its slot goes back
 * there, and the registers of A are free before that trip computes its own. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/text_order.h"

static bool is_tile(const Kernel *k, Ref ref) { return ir_type(k, ref)->kind == TY_TILE && ir_type(k, ref)->rank > 0; }

bool schedule_is_carried(const Schedule *s, const Op *loop, const Op *dot) {
    const Region *body = loop->regions[0];
    for (int i = 0; i < body->last->operand_count; i++)
        if (body->last->operands[i] == dot->results[0])
            return dot->operands[2] == body->args[i + 1] && s->uses[dot->results[0]] == 1 &&
                   s->uses[dot->operands[2]] == 1;
    return false;
}

/* Only loads and arithmetic, in all of its regions: what `fetch` takes a trip ahead. */
static bool is_plain(const Op *op) {
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next) {
            bool reads = inner->code == OP_TLOAD || inner->code == OP_LOAD || inner->code == OP_YIELD;
            if ((!reads && !op_has(inner->code, TRAIT_PURE)) || inner->code == OP_DOT || !is_plain(inner)) return false;
        }
    return true;
}

/* The product and the release of its slot, if they may come late. */
static bool can_come_late(const Schedule *s, const Op *loop, Op **dot, Op **release) {
    *dot = *release = NULL;
    if (!role_around(loop)) return false;
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count && (*dot || op->code != OP_IF || !is_plain(op))) return false;
        if (op->code == OP_DOT) {
            if (*dot) return false;
            *dot = op;
        } else if (op->code == OP_RELEASE) {
            if (*release || !*dot) return false;
            *release = op;
        } else if (*dot && op->result_count && is_tile(s->k, op->results[0])) {
            return false; /* something computes while the dot runs: it may read the accumulator */
        }
    }
    return *dot && *release && schedule_is_async(s, *dot) &&
           op_int(ir_value(s->k, (*release)->operands[0])->op, AT_HOLD, 1) >= 2 && schedule_is_carried(s, loop, *dot);
}

static bool comes_of(const Schedule *s, const Region *body, Ref ref, uint8_t *seen);

/* Is what the op makes, in regions too? */
static bool is_made_of(const Schedule *s, const Region *body, const Op *op, uint8_t *seen) {
    for (int i = 0; i < op->operand_count; i++)
        if (comes_of(s, body, op->operands[i], seen)) return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (is_made_of(s, body, inner, seen)) return true;
    return false;
}

static bool comes_of(const Schedule *s, const Region *body, Ref ref, uint8_t *seen) {
    const Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    if (!op || op->parent != body || seen[ref]) return false;
    seen[ref] = 1;
    return op->code == OP_DOT || is_made_of(s, body, op, seen);
}

bool schedule_comes_of_product(const Schedule *s, const Region *body, Ref ref) {
    return comes_of(s, body, ref, ARENA_ARRAY(s->arena, uint8_t, s->k->values.count));
}

static int waits_in(const Region *region, Ref ring) {
    int waits = 0;
    for (const Op *op = region->first; op; op = op->next) waits += op->code == OP_WAIT && op->operands[0] == ring;
    return waits;
}

bool schedule_may_hold_twice(const Schedule *s, const Op *loop, const Op *get) {
    const Op *ring = hand_ring_op(s->k, get);
    int around = 0;
    for (const Region *region = loop->parent; region; region = region->owner ? region->owner->parent : NULL)
        around += waits_in(region, ring->results[0]);
    return op_int(ring, AT_HOLD, 1) >= 2 && waits_in(loop->regions[0], ring->results[0]) == 1 && !around;
}

/* The release of the slot of this trip that the operand lies in, behind the product, if its items may be held twice. */
static Op *release_behind(const Schedule *s, const Op *dot, Ref operand) {
    const Op *get = ir_value(s->k, operand)->op;
    while (get && get->code == OP_PERMUTE) get = ir_value(s->k, get->operands[0])->op;
    if (!get || get->code != OP_GET || get->parent != dot->parent) return NULL;
    if (!schedule_may_hold_twice(s, dot->parent->owner, get)) return NULL;
    for (Op *op = dot->next; op; op = op->next)
        if (op->code == OP_RELEASE && op->operands[1] == get->operands[0]) return op;
    return NULL;
}

/* The last of several products, and the release of its slot, if they may come late. */
static bool can_cross(const Schedule *s, const Op *loop, Op **dot, Op **release) {
    const Op *first = NULL;
    *dot = *release = NULL;
    if (!role_around(loop)) return false;
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count && (op->code != OP_IF || !is_plain(op))) return false;
        if (op->code != OP_DOT) continue;
        if (!schedule_is_async(s, op)) return false;
        if (!first) first = op;
        *dot = op;
    }
    if (!*dot || *dot == first || !schedule_is_carried(s, loop, *dot)) return false;
    if (schedule_in_shared(s->k, (*dot)->operands[0])) return false;
    *release = release_behind(s, *dot, (*dot)->operands[1]);
    return *release && schedule_comes_of_product(s, (*dot)->parent, (*dot)->operands[0]);
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Op *dot, *release;
    if (loop->code != OP_FOR || loop_is_turned(loop)) return;
    if (!can_come_late(s, loop, &dot, &release)) {
        if (!can_cross(s, loop, &dot, &release)) return;
        pass_find(s->cx, dot->range, FIND_DOT_CROSSES);
    }
    op_set(s->k, dot, (Attr){.id = AT_FLIGHT, .number = 1});
    op_set(s->k, release, (Attr){.id = AT_BEHIND, .number = 1});
}

void schedule_flight(Schedule *s) { ir_walk(s->k->body, plan_loop, s); }

bool schedule_flight_holds(Schedule *s, const Op *loop) {
    Op *dot, *release;
    bool late = (can_come_late(s, loop, &dot, &release) || can_cross(s, loop, &dot, &release)) &&
                op_flag(dot, AT_FLIGHT) && op_attr(release, AT_BEHIND);
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if ((op_attr(op, AT_BEHIND) && !(late && op == release)) || (op_attr(op, AT_FLIGHT) && !(late && op == dot)))
            return schedule_fail(
                s, op,
                "a product stays in flight with the release of its only slot behind it, as the only one of its loop or "
                "the last one, made of an earlier one, of a ring whose items may be held twice");
    return true;
}
