/* schedule.c: pass `schedule`, for machines with threads: who runs when, and where everything lies.
 *
 *   in   FORM_LAYOUT: every tile has its layout, every access its form; flat, or roles and rings with the plan of `ring`
 *   out  FORM_SCHEDULE: the same program with all that the emitter has to know of time and place in its attributes:
 *        of the kernel (`threads`, `shared`, `blocks`), of tasks, roles and rings (schedule_ring.c, schedule_roles.c), and
 *        `at` and `bytes` on every op that needs shared memory
 *
 * A kernel that arrives scheduled (as text) is left as it is. */
#include "pass/schedule/schedule.h"

#include <string.h>

const Layout *schedule_layout(const Kernel *k, Ref ref) {
    bool tile = ref_is_value(ref) && ir_type(k, ref)->kind == TY_TILE && ir_type(k, ref)->rank > 0;
    return tile ? ir_value(k, ref)->layout : NULL;
}

bool schedule_in_shared(const Kernel *k, Ref ref) {
    const Layout *layout = schedule_layout(k, ref);
    return layout && layout->home == HOME_SHARED;
}

const Op *schedule_role(const Op *op) {
    while (op && op->code != OP_ROLE) op = op->parent->owner;
    return op;
}

Ref schedule_ring_of(const Kernel *k, const Op *op) { return ir_value(k, op->operands[0])->op->operands[0]; }

int schedule_field(const Kernel *k, const Op *op) {
    const Type *type = ir_type(k, schedule_ring_of(k, op));
    int i = 0;
    while (strcmp(type->fields[i].name, op_text(op, AT_FIELD)) != 0) i++;
    return i;
}

bool schedule_refuse(const Schedule *s, const Op *op, const char *what) {
    diag_emit(s->k->module->diag, DIAG_SIMT_REFUSED, op->range, s->cx->machine->target, op_info[op->code].mnemonic,
              what);
    return false;
}

static Op *find_tasks(const Kernel *k) {
    Op *op = k->body->first;
    while (op && op->code != OP_TASKS) op = op->next;
    return op;
}

/* All of it; false: it does not fit, or errors. */
static bool plan(Schedule *s) {
    if (s->tasks && !schedule_follow(s->k, s->tasks))
        return schedule_refuse(s, s->tasks, "a store role whose hand-overs stand elsewhere than compute's");
    s->facts = facts_new(s->k, false);
    s->uses = ir_count_uses(s->k, s->arena);
    schedule_dot(s);
    schedule_turn(s);
    schedule_loose(s);
    schedule_place(s);
    schedule_gang(s);
    if (s->tasks) {
        if (!schedule_rings(s, s->bytes)) return false;
        schedule_place(s);
    }
    if (s->bytes > s->cx->machine->ring_bytes) return false;
    if (s->tasks) schedule_roles(s);
    schedule_flight(s);
    if (!schedule_skew(s)) return false;
    kernel_set(s->k, (Attr){.id = AT_THREADS, .number = 32 * layout_warps(s->cx, s->k)});
    kernel_set(s->k, (Attr){.id = AT_SHARED, .number = s->bytes});
    return true;
}

bool pass_schedule(PassContext *cx, Kernel *k) {
    if (!cx->machine->has_threads || k->form >= FORM_SCHEDULE) return false;
    if (!pass_takes_form(k, FORM_LAYOUT, "schedule")) return false;
    Schedule s = {.cx = cx, .k = k, .arena = cx->scratch, .tasks = find_tasks(k)};
    if (!plan(&s) && !k->module->diag->errors) {
        if (s.tasks && !cx->options.no_rings)
            cx->too_large = s.bytes; /* the flat kernel may fit */
        else
            schedule_refuse_size(&s);
    }
    k->form = FORM_SCHEDULE;
    return true;
}
