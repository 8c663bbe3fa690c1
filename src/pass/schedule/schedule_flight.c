/* schedule_flight.c: products that stay in flight while the next item of their ring is waited for.
 *
 * A loop whose only product feeds its own accumulator, with the release of its operands behind it:
 *
 *     for { wait s ; a = get s ; acc = dot<flight> a, b, acc ; release<behind=1> s }
 *
 * The product of a trip is waited for in the next one, and its slot goes back then: a consumer holds two items. Where
 * A is in registers, the next trip computes its own first, then waits, and takes the registers over (`settles`). */
#include "pass/schedule/schedule.h"

static bool is_tile(const Kernel *k, Ref ref) { return ir_type(k, ref)->kind == TY_TILE && ir_type(k, ref)->rank > 0; }

/* Does the sum go from trip to trip, and nowhere else? */
static bool is_carried(const Schedule *s, const Op *loop, const Op *dot) {
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
           op_int(ir_value(s->k, (*release)->operands[0])->op, AT_HOLD, 1) >= 2 && is_carried(s, loop, *dot);
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Op *dot, *release;
    if (loop->code != OP_FOR || !can_come_late(s, loop, &dot, &release)) return;
    op_set(s->k, dot, (Attr){.id = AT_FLIGHT, .number = 1});
    op_set(s->k, release, (Attr){.id = AT_BEHIND, .number = 1});
}

void schedule_flight(Schedule *s) { ir_walk(s->k->body, plan_loop, s); }

bool schedule_flight_holds(Schedule *s, const Op *loop) {
    Op *dot, *release;
    bool late = can_come_late(s, loop, &dot, &release) && op_flag(dot, AT_FLIGHT) && op_attr(release, AT_BEHIND);
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if ((op_attr(op, AT_BEHIND) && !(late && op == release)) || (op_attr(op, AT_FLIGHT) && !(late && op == dot)))
            return schedule_fail(
                s, op,
                "a product stays in flight with the release of its only slot behind it, in a loop that "
                "sums nothing else, of a ring whose items may be held twice");
    return true;
}
