/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_check.c: does the schedule that the attributes say hold?
 *
 * For kernels that arrive scheduled, as text, and for those that `schedule` has just written: what gives wrong results
 * is refused with the rule, or goes down a degree. Fewer trips ahead, a product that is waited for at once or a loop
 * that is not turned are plans like others. */
#include "pass/ring/ring_check.h"
#include "pass/schedule/schedule.h"

static bool is_turned_once(Schedule *s, const Op *loop) {
    bool others = op_flag(loop, AT_ROTATE) || op_attr(loop, AT_LEADS);
    return !op_flag(loop, AT_TRAILS) || !others ||
           schedule_fail(s, loop, "a loop is turned in one way: `rotate`, alone or with `leads`, `trails` or `leads`");
}

static bool holds(Schedule *s, const Op *op) {
    if (op->code == OP_FOR && op_attr(op, AT_TURNS) && !op_flag(op, AT_ROTATE))
        return schedule_fail(s, op, "workers take turns in loops that are turned (`rotate`)");
    if (op->code == OP_FOR)
        return schedule_loose_holds(s, op) && is_turned_once(s, op) &&
               (op_flag(op, AT_ROTATE)   ? schedule_turn_holds(s, op)
                : op_flag(op, AT_TRAILS) ? schedule_trail_holds(s, op)
                : op_attr(op, AT_LEADS)  ? schedule_lead_holds(s, op)
                                         : schedule_flight_holds(s, op));
    bool of_loop = op_attr(op, AT_BEHIND) || op_flag(op, AT_FLIGHT);
    bool in_loop = op->parent->owner && op->parent->owner->code == OP_FOR;
    if (of_loop && !in_loop) return schedule_fail(s, op, "`behind` and `flight` stand in loops");
    if (op_attr(op, AT_AHEAD) && !(in_loop && op_attr(op->parent->owner, AT_LEADS)))
        return schedule_fail(s, op, "products and waits run `ahead` in loops that lead (`leads`)");
    if (op->code == OP_CONVERT && !schedule_pieces_hold(s, op)) return false;
    if (!schedule_natural_holds(s, op) || !schedule_atomic_holds(s, op) || !schedule_hint_holds(s, op) ||
        !schedule_anew_holds(s, op))
        return false;
    if (op->code == OP_TENSOR && !schedule_map_holds(s, op)) return false;
    if (!schedule_move_holds(s, op) || !schedule_axis_holds(s, op)) return false;
    if (op->code == OP_TLOAD) return schedule_loose_holds(s, op) && schedule_rows_hold(s, op);
    if (op->code == OP_DOT && !(schedule_width_holds(s, op) && schedule_fetch_holds(s, op))) return false;
    if (op_flag(op, AT_LATE) && !schedule_late_holds(s, op)) return false;
    if (op_flag(op, AT_COVERS) && !schedule_cover_holds(s, op)) return false;
    if (op_flag(op, AT_JOINS) && !schedule_join_holds(s, op)) return false;
    if (op_flag(op, AT_SPANS) && !schedule_span_holds(s, op)) return false;
    return !op_flag(op, AT_PACKED) || schedule_dot_holds(s, op);
}

static void check_op(Op *op, void *user) {
    Schedule *s = user;
    if (!s->failed) holds(s, op);
}

/* Who runs where, and who lies where: planned again from the ops, and compared. */
static bool places_hold(Schedule *s) {
    int threads = s->cx->machine->lanes * layout_warps(s->cx, s->k);
    if (kernel_int(s->k, AT_THREADS, 0) != threads || kernel_int(s->k, AT_SHARED, -1) < 0)
        return schedule_fail(s, s->tasks ? s->tasks : s->k->body->first,
                             "the kernel's `threads` are not those of its roles, or its `shared` bytes are not given");
    if (!schedule_gang_holds(s) || !schedule_rings_hold(s)) return false;
    if (s->tasks && (!schedule_cluster_holds(s) || !schedule_roles_hold(s))) return false;
    if (!schedule_place_holds(s) || !schedule_sweep_holds(s) || !schedule_names_hold(s)) return false;
    RingVerdict verdict = s->tasks ? ring_check(s->cx, s->k) : RING_PROVED;
    return verdict != RING_BOUNDED || schedule_fail(s, s->tasks, "its hand-overs cannot be proved");
}

/* All of it; where it does not, `failed` and `why` say so, or an error that the rings' own check has found. */
static Schedule check(PassContext *cx, Kernel *k) {
    Schedule s = {.cx = cx, .k = k, .arena = cx->scratch, .facts = facts_new(k, false), .tasks = tasks_of(k)};
    s.uses = ir_count_uses(k, s.arena);
    ir_walk(k->body, check_op, &s);
    if (!s.failed) schedule_skew_holds(&s);
    if (!s.failed && places_hold(&s)) schedule_sync_holds(&s);
    return s;
}

bool schedule_is_proved(Schedule *s) {
    Module *m = s->k->module;
    Diag *own = m->diag, found;
    diag_init(&found, s->arena, m->sources);
    m->diag = &found;
    Schedule checked = check(s->cx, s->k);
    m->diag = own;
    if (checked.failed) return schedule_fail(s, checked.failed, checked.why);
    return !found.errors || schedule_fail(s, s->tasks, "the hand-overs could not be proved with the slots that fit");
}

bool schedule_check(PassContext *cx, Kernel *k) {
    Schedule s = check(cx, k);
    if (s.failed) diag_emit(k->module->diag, DIAG_IR_INVALID, s.failed->range, op_info[s.failed->code].mnemonic, s.why);
    return !s.failed && !k->module->diag->errors;
}
