/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_late.c: loads that run ahead through registers.
 *
 * Where threads load for themselves some trips ahead (schedule_skew.c) and a load is no copy, because the machine has
 * none or its tile is of odd extents, of rows that are not aligned, filled with another number than 0, a trip does not
 * wait for it: it is issued with the others of its turn, waits in registers while the trip computes, and is stored into
 * its slot when the trip ends:
 *
 *     role load { for<twin=1> { s = acquire ; x = tload .. ; put<late> s, x ; commit } }
 *  -> for (..) { meet ; x = load (item + d) ; compute (item) ; store x into its slot }
 *
 * The slot is the producer's from the trip's begin on, and nobody waits for the item before the next trip has begun, so
 * what was proved of the put holds of the store: it stands in the same trip, before the same barrier. What does not fit
 * beside the sums of the loop is stored at once, and waited for (a load that can so leaves its ring: schedule.c). */
#include "analysis/sums.h"
#include "pass/schedule/schedule.h"
#include "pass/schedule/text_order.h"

typedef struct Host {
    int64_t twin;
    const Op *loop; /* of compute, one with the load role's */
} Host;

static void find_host(Op *op, void *user) {
    Host *host = user;
    if (op->code == OP_FOR && op_int(op, AT_TWIN, 0) == host->twin && op_attr(op, AT_AHEAD)) host->loop = op;
}

const Op *schedule_late_host(const Schedule *s, const Op *put) {
    const Op *loop = put->parent->owner;
    Host host = {loop && loop->code == OP_FOR ? op_int(loop, AT_TWIN, 0) : 0, NULL};
    if (host.twin) ir_walk(s->k->body, find_host, &host);
    return host.loop;
}

/* A put, by threads, of what one load of the same turn brings into registers. */
static bool is_of_load(const Schedule *s, const Op *put) {
    if (put->code != OP_PUT || put->list_count[0] || !ring_runs_ahead(hand_ring_op(s->k, put))) return false;
    if (layout_put_mover(s->k, put) != MOVER_LANES) return false;
    const Layout *layout = schedule_layout(s->k, op_operand(put, 1));
    const Op *load = layout ? ir_value(s->k, op_operand(put, 1))->op : NULL;
    return load && load->code == OP_TLOAD && load->parent == put->parent && layout->home == HOME_REGISTERS &&
           !op_attr(load, AT_HELD) && !op_flag(load, AT_STRAIGHT);
}

static int64_t words_of(const Schedule *s, const Op *put) { return layout_words(s->k, op_operand(put, 1)); }

/* Words of the turn's loads before the put that wait in registers. */
static int64_t words_before(const Schedule *s, const Op *put) {
    int64_t words = 0;
    for (const Op *op = put->parent->first; op != put; op = op->next)
        if (op_flag(op, AT_LATE)) words += words_of(s, op);
    return words;
}

static bool can_be_late(const Schedule *s, const Op *put) {
    const MachineCost *cost = &s->cx->machine->cost;
    const Op *host = cost->puts_late && is_of_load(s, put) ? schedule_late_host(s, put) : NULL;
    if (!host) return false;
    int64_t room = cost->held_registers - sum_words(s->k, host->regions[0], SUM_OR_SCALED) - words_before(s, put);
    return words_of(s, put) <= cost->fetch_registers && words_of(s, put) <= room;
}

static void plan_put(Op *op, void *user) {
    Schedule *s = user;
    if (op->code != OP_PUT || !can_be_late(s, op)) return;
    op_set(s->k, op, (Attr){.id = AT_LATE, .number = 1});
    pass_find(s->cx, ir_value(s->k, op_operand(op, 1))->op->range, FIND_LOAD_LATE);
}

void schedule_late(Schedule *s) { ir_walk(s->k->body, plan_put, s); }

bool schedule_late_holds(Schedule *s, const Op *put) {
    return can_be_late(s, put) ||
           schedule_fail(s, put,
                         "`late`: what a load of a loop that runs ahead brings into registers, on a machine where that "
                         "has room beside the sums of the loop");
}
