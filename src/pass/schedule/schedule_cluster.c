/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_cluster.c: pairs of blocks that load for each other (found worth it by pass/ring/ring_group.c).
 *
 * Each block of a pair issues its half of a shared field's box, by whole panels or by rows, to the same place in both:
 * `half` on the put, `paired` on its ring. The plan is dropped from `tasks` where a field cannot be loaded in
 * halves. */
#include "pass/schedule/schedule.h"

enum {
    LAUNCH_COUNTS = 5 /* numbers of tasks that the plan of a launch has room for */
};

/* Can both blocks load half of it? By whole panels, or rows of whole swizzle patterns. */
static Word half_of(const Kernel *k, const Op *put, const SharedTile *tile) {
    if (layout_put_mover(k, put) != MOVER_TMA || layout_made(k, ir_value(k, op_operand(put, 1))->op)) return WORD_NONE;
    const Type *box = ir_type(k, op_operand(put, 1));
    int64_t per = tile->width / tile->elem_bytes, panels = (tile->columns + per - 1) / per;
    if (panels % 2 == 0) return HALF_PANELS;
    return box->extent[0] == tile->rows && box->extent[0] % (2 * PATTERN_ROWS) == 0 ? HALF_ROWS : WORD_NONE;
}

/* Marks puts and rings of shared fields; false: one of these cannot be loaded in halves. */
static bool mark(Schedule *s, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT && op_attr(op, AT_SHARE)) {
            RingSchedule *r = schedule_ring(s, hand_ring(s->k, op));
            Word half = half_of(s->k, op, &r->field[hand_field(op)]);
            if (r->fused || r->full_count != 1 || half == WORD_NONE) return false;
            r->paired = true;
            op_set(s->k, op, (Attr){.id = AT_HALF, .word = half});
        }
        for (int i = 0; i < op->region_count; i++)
            if (!mark(s, op->regions[i])) return false;
    }
    return true;
}

static void unmark(const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        op_drop(op, AT_HALF);
        for (int i = 0; i < op->region_count; i++) unmark(op->regions[i]);
    }
}

/* Does a launch know the numbers of tasks, to decide by? */
static bool knows_tasks(const Schedule *s) {
    for (int i = 0; i < s->tasks->operand_count; i++) {
        Ref count = s->tasks->operands[i];
        const Op *op = ref_is_value(count) ? ir_value(s->k, count)->op : NULL;
        bool grid = op && op->code == OP_NUM_PROGRAMS;
        if (!grid && !fact_at_launch(s->k, count)) return false;
    }
    return s->tasks->operand_count <= LAUNCH_COUNTS;
}

void schedule_cluster(Schedule *s) {
    if (!op_attr(s->tasks, AT_CLUSTER)) return;
    const char *why =
        !op_flag(s->tasks, AT_PERSIST) || s->gang.programs > 1 ? "programs run side by side, or one a block"
        : !mark(s, tasks_body(s->tasks)) ? "what blocks could share is not loaded by TMA, or not in two halves"
        : op_attr(s->tasks, AT_WAVES) && !knows_tasks(s) ? "a launch does not know its number of tasks"
                                                         : NULL;
    if (!why) return;
    unmark(tasks_body(s->tasks));
    for (size_t i = 0; i < s->rings.count; i++) s->rings.at[i].paired = false;
    op_drop(s->tasks, AT_CLUSTER);
    pass_find(s->cx, s->k->range, FIND_CLUSTER_DROPPED, why);
}

static bool halves_hold(Schedule *s, const Region *region, bool cluster) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_PUT) {
            const RingSchedule *r = schedule_ring(s, hand_ring(s->k, op));
            bool shared = cluster && op_attr(op, AT_SHARE);
            Word half = shared ? half_of(s->k, op, &r->field[hand_field(op)]) : WORD_NONE;
            if (op_word(op, AT_HALF, WORD_NONE) != half ||
                (shared && (half == WORD_NONE || !op_flag(r->op, AT_PAIRED))))
                return schedule_fail(s, op, "`half` is not how the blocks of a cluster can divide the load");
        }
        for (int i = 0; i < op->region_count; i++)
            if (!halves_hold(s, op->regions[i], cluster)) return false;
    }
    return true;
}

bool schedule_cluster_holds(Schedule *s) {
    bool cluster = op_attr(s->tasks, AT_CLUSTER);
    if (cluster && (!op_flag(s->tasks, AT_PERSIST) || s->gang.programs > 1 || op_int(s->tasks, AT_CLUSTER, 2) != 2))
        return schedule_fail(s, s->tasks, "pairs of blocks run tasks in a loop (`persist`), one program at a time");
    if (cluster && op_attr(s->tasks, AT_WAVES) && !knows_tasks(s))
        return schedule_fail(s, s->tasks, "a launch does not know its number of tasks");
    return halves_hold(s, tasks_body(s->tasks), cluster);
}
