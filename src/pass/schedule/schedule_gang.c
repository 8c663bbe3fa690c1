/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_gang.c: programs side by side in a block (found worth it by pass/ring/ring_gang.c).
 *
 *     tasks<gang=3, side=1> { role load { .. for<together> .. } role compute { .. for<together> .. } }
 *
 * It needs all of the shared memory for its rings, and rings that TMA fills: threads would load for one program
 * only. */
#include "pass/schedule/schedule.h"

void schedule_part_gang(Schedule *s, const char *why) {
    s->gang = (Gang){.programs = 1};
    op_drop(s->tasks, AT_GANG);
    pass_find(s->cx, s->k->range, FIND_GANG_DROPPED, why);
}

void schedule_gang(Schedule *s) {
    s->gang = (Gang){.programs = 1};
    if (!s->tasks || op_int(s->tasks, AT_GANG, 1) == 1) return;
    const char *why = "";
    Gang gang;
    bool found = gang_find(s->cx, s->k, s->tasks, &gang, &why);
    if (found && s->bytes) why = "each would need shared memory of its own";
    if (found && !layout_fills_by_tma(s->cx, s->k, role_find(s->tasks, ROLE_LOAD)->regions[0]))
        why = "threads load, not TMA";
    else if (found && !s->bytes) {
        s->gang = gang;
        return;
    }
    schedule_part_gang(s, why);
}

/* Does an op in the tasks use shared memory that is no ring's? All programs would use the same. */
static bool uses_scratch(const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op_attr(op, AT_AT)) return true;
        for (int i = 0; i < op->region_count; i++)
            if (uses_scratch(op->regions[i])) return true;
    }
    return false;
}

bool schedule_gang_holds(Schedule *s) {
    const char *why = "";
    s->gang = (Gang){.programs = 1};
    if (!s->tasks || op_int(s->tasks, AT_GANG, 1) == 1) return true;
    bool found = gang_find(s->cx, s->k, s->tasks, &s->gang, &why);
    if (!found) return schedule_fail(s, s->tasks, why);
    if (!layout_fills_by_tma(s->cx, s->k, role_find(s->tasks, ROLE_LOAD)->regions[0]))
        return schedule_fail(s, s->tasks, "rings of programs side by side are filled by TMA");
    if (uses_scratch(tasks_body(s->tasks)))
        return schedule_fail(s, s->tasks,
                             "programs side by side have no scratch: each would need shared memory of its own");
    return (op_int(s->tasks, AT_SIDE, -1) == s->gang.dim && op_flag(s->gang.loop, AT_TOGETHER) &&
            op_flag(s->gang.load_loop, AT_TOGETHER)) ||
           schedule_fail(s, s->tasks, "`side` and `together` are not those of its programs");
}
