/* schedule.c: pass `schedule`, for machines with threads: who runs when, and where everything lies.
 *
 *   in   FORM_LAYOUT: every tile has its layout, every access its form; flat, or roles and rings with the plan of `ring`
 *   out  FORM_SCHEDULE: the same program with all that the emitter has to know of time and place in its attributes
 *
 * A kernel that arrives scheduled (as text) is left as it is. */
#include "pass/schedule/schedule.h"

#include <string.h>

static Op *find_tasks(const Kernel *k) {
    Op *op = k->body->first;
    while (op && op->code != OP_TASKS) op = op->next;
    return op;
}

static bool refuse(const Schedule *s, const Op *op, const char *what) {
    diag_emit(s->k->module->diag, DIAG_SIMT_REFUSED, op->range, s->cx->machine->target, op_info[op->code].mnemonic,
              what);
    return false;
}

const Layout *schedule_layout(const Kernel *k, Ref tile) { return ir_value(k, tile)->layout; }

const Op *schedule_role(const Op *op) {
    while (op && op->code != OP_ROLE) op = op->parent->owner;
    return op;
}

static void plan_op(Op *op, void *user) {
    if (op->code == OP_FOR) schedule_turn(user, op);
    schedule_loose(user, op);
}

bool pass_schedule(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || k->form >= FORM_SCHEDULE) return false;
    if (!pass_takes_form(k, FORM_LAYOUT, "schedule")) return false;
    Schedule s = {.cx = cx, .k = k, .arena = cx->scratch, .tasks = find_tasks(k), .facts = facts_new(k, false)};
    if (s.tasks && !schedule_follow(k, s.tasks))
        return refuse(&s, s.tasks, "a store role whose hand-overs stand elsewhere than compute's");
    ir_walk(k->body, plan_op, &s);
    k->form = FORM_SCHEDULE;
    return true;
}
