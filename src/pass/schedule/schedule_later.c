/* schedule_later.c: the first loads of a loop do not wait for what is loaded before it.
 *
 *     w = load ; v = cast w ; for<ahead=2> { .. }   the threads wait for w; only then come the first rows
 *  -> for<ahead=2, later=2> { .. }                  the first rows are on their way, then w is loaded and waited for
 *
 * Loads of numbers that a loop uses in all of its trips, and what is computed from them element by element, in
 * registers, are written behind the first turns of a loop that loads ahead (`later`: so many ops directly before it),
 * unless the loop's header needs them. They stay on their side of all that writes, and of the barrier that a trip
 * begins with. In a kernel of products what comes first is short beside the rest. */
#include "pass/schedule/schedule.h"

enum { FAR = 64, DEEP = 8 };

static bool reads_load(const Kernel *k, Ref value, int depth) {
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    if (!op || !depth) return false;
    if (op->code == OP_TLOAD || op->code == OP_LOAD) return true;
    bool found = false;
    for (int i = 0; i < op->operand_count && op_has(op->code, TRAIT_PURE) && !op->region_count; i++)
        found |= reads_load(k, op->operands[i], depth - 1);
    return found;
}

static bool uses(const Op *op, Ref value) {
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value) return true;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && op->attrs[i].ref == value) return true;
    return false;
}

static bool is_plain_load(const Op *op) {
    bool lanes = op->code == OP_TLOAD && op_word(op, AT_MOVER, MOVER_LANES) == MOVER_LANES;
    return lanes && !op_attr(op, AT_WORDS) && !op_attr(op, AT_BATCH);
}

/* May the op be written behind the turns that come first? */
static bool can_wait(const Schedule *s, const Op *op, const Op *loop) {
    if (!op_has(op->code, TRAIT_ELEMENTWISE) && !is_plain_load(op)) return false;
    if (op_attr(op, AT_AT) || op_flag(op, AT_PACKED) || uses(loop, op->results[0])) return false;
    const Layout *layout = schedule_layout(s->k, op->results[0]);
    return layout && layout->home == HOME_REGISTERS;
}

static void find_dot(Op *op, void *user) { *(bool *)user |= op->code == OP_DOT; }

static bool loads_ahead(const Schedule *s, const Op *loop) {
    bool multiplies = false;
    if (loop->code != OP_FOR || !op_attr(loop, AT_AHEAD)) return false;
    ir_walk(s->k->body, find_dot, &multiplies);
    return !multiplies;
}

/* Those that can are moved down to the loop, if nothing that stays needs them. */
static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    if (!loads_ahead(s, loop)) return;
    int64_t count = 0;
    Op *first = loop; /* of those that wait */
    int left = FAR;
    bool acts = false; /* something between the op and the loop is more than a load */
    for (Op *op = loop->previous, *before; op && left && !op->region_count; op = before, left--) {
        before = op->previous;
        bool load = is_plain_load(op), waits = can_wait(s, op, loop) && reads_load(s->k, op->results[0], DEEP);
        for (const Op *other = op->next; waits && other != first; other = other->next)
            waits = !uses(other, op->results[0]);
        if (waits && !(load && acts)) {
            if (op->next != first) ir_move(op, loop->parent, first);
            first = op;
            count++;
        }
        acts |= !load && !op_has(op->code, TRAIT_PURE);
    }
    if (count) op_set(s->k, loop, (Attr){.id = AT_LATER, .number = count});
}

void schedule_later(Schedule *s) { ir_walk(s->k->body, plan_loop, s); }

bool schedule_later_holds(Schedule *s, const Op *loop) {
    const Op *op = loop->previous;
    int64_t count = op_int(loop, AT_LATER, 0);
    bool holds = !count || loads_ahead(s, loop);
    for (; holds && count; count--, op = op->previous) holds = op && can_wait(s, op, loop);
    return holds || schedule_fail(s, loop,
                                  "`later` counts the loads and elementwise ops directly before a loop that loads "
                                  "ahead, in a kernel without products, none of which its header needs");
}
