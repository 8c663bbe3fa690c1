/* SPDX-License-Identifier: Apache-2.0 */
/* roles_report.c: what is wrong with roles side by side, against the source: who waits or touches what, and what
 * came before it. */
#include "base/text.h"
#include "ir/roles_check.h"

enum { MOST_TRACE = 6 };

void check_report_stuck(Check *c) {
    Worker *first = NULL;
    for (int i = 0; i < c->count; i++)
        if (!c->workers[i].done && !first) first = &c->workers[i];
    if (!first) return;
    Bar *bar = first->bar;
    check_fail(c, first->at, false,
         say(c,
             "warpgroup %d waits here for ever: %lld of %lld arrivals of phase %lld are missing, and nobody is left "
             "who could arrive" FIX "arrive before this, or wait for another phase",
             first->number, (long long)bar->pending, (long long)bar->count, (long long)bar->phase));
}

void check_report(Check *c) {
    Diag *diag = c->k->module->diag;
    if (c->unproved) {
        diag_emit(diag, c->accepts ? DIAG_ROLES_ACCEPTED : DIAG_ROLES_UNPROVED, c->where->range, c->why);
        return;
    }
    diag_emit(diag, DIAG_ROLES, c->where->range, c->why);
    if (c->other) diag_emit(diag, DIAG_NOTE_HERE, c->other->range, c->other_text);
    for (int i = 0; i < c->count; i++)
        if (!c->workers[i].done && c->workers[i].bar && c->workers[i].at != c->where)
            diag_emit(diag, DIAG_NOTE_HERE, c->workers[i].at->range,
                      say(c, "warpgroup %d waits here", i));
    size_t from = c->trace.count > MOST_TRACE ? c->trace.count - MOST_TRACE : 0;
    for (size_t i = from; i < c->trace.count; i++) {
        const Event *event = &c->trace.at[i];
        diag_emit(diag, DIAG_NOTE_HERE, event->op->range,
                  say(c, "%s warpgroup %d %s here", i == from ? "before:" : "then",
                               event->worker, event->text));
    }
}

/* Barriers of threads: their number is one group's, and 0 is the block's. */
void check_names(Check *c) {
    const Op *of[16] = {0};
    int worker[16];
    for (int r = 0; r < c->count; r++) {
        FoundOps syncs = ir_list(c->spmd->regions[r], OP_SYNC, c->arena);
        for (size_t i = 0; i < syncs.count; i++) {
            int64_t id = op_int(syncs.at[i], AT_ID, -1);
            if (id < 0 || id > 15) continue;
            if (id == 0)
                check_fail(c, syncs.at[i], false,
                     "barrier 0 is that of the whole block, and other roles do not come here" FIX "take 1 to 15");
            if (of[id] && worker[id] != r && op_int(syncs.at[i], AT_ARRIVALS, 0) <= check_threads(c)) {
                c->other = of[id], c->other_text = "the other one";
                check_fail(c, syncs.at[i], false,
                     say(c, "two warpgroups meet at barrier %lld, each for itself" FIX "give each a number of its own",
                         (long long)id));
            }
            of[id] = syncs.at[i], worker[id] = r;
        }
    }
}
