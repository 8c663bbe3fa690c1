/* SPDX-License-Identifier: Apache-2.0 */
/* barriers_order.c: barriers of a program that one worker runs, proved by running through its control.
 *
 * Arrivals and phases are numbers there: if each wait finds its phase ended, that order is one that the roles may take.
 * Loops of known ends are run as they are; for all others, which have one range, the trips 0, 1, 2 .. are tried, so
 * many that each barrier of an array comes round twice and more. */
#include "base/text.h"
#include "ir/barriers.h"

enum { MOST_STEPS = 1 << 20 };

typedef struct Walk {
    BarWalk bars;
    int64_t trips; /* of loops whose ends are not known */
    int64_t steps;
    const Op *loop; /* one of these; all begin, step and end as it does */
} Walk;

static bool run_region(Walk *w, const Region *region);

static bool run_for(Walk *w, const Op *op) {
    int64_t lo, hi, step, at;
    bool begins = bars_number(&w->bars, op->operands[0], &lo);
    if (!begins || !bars_number(&w->bars, op->operands[2], &step) || step < 1)
        return bars_fail(&w->bars, op, "the loop begins with a number that is not known before the kernel runs"
                         FIX "begin it with a constant");
    if (!bars_number(&w->bars, op->operands[1], &hi)) {
        for (int i = 0; w->loop && i < 3; i++)
            if (w->loop->operands[i] != op->operands[i])
                return bars_fail(&w->bars, op,
                                 "how often loops around barriers run is not known before the kernel does, and their "
                                 "ranges differ" FIX "give them one range");
        w->loop = op;
        hi = lo + w->trips * step;
    }
    map_put_number(&w->bars.known, w->bars.arena, op->regions[0]->args[0], &at);
    for (at = lo; at < hi; at += step)
        if (!run_region(w, op->regions[0])) return false;
    map_put_number(&w->bars.known, w->bars.arena, op->regions[0]->args[0], NULL);
    return true;
}

static bool run_op(Walk *w, const Op *op) {
    int64_t condition;
    if (++w->steps > MOST_STEPS)
        return bars_fail(&w->bars, op, "there are too many trips to look at"
                         FIX "use fewer barriers, or shorter loops around them");
    if (op->code == OP_BAR_ARRIVE) return bars_arrive(&w->bars, op);
    if (op->code == OP_BAR_WAIT) {
        bool passes;
        if (!bars_wait(&w->bars, op, &passes)) return false;
        return passes || bars_fail(&w->bars, op,
                                   "this waits for an arrival that comes later"
                                   FIX "let roles take turns in one loop, with "
                                   "an arrival in front of each wait for it");
    }
    if (!op->region_count || !bars_are_inside(op)) return true;
    if (op->code == OP_FOR) return run_for(w, op);
    if (op->code != OP_IF)
        return bars_fail(&w->bars, op, "a barrier in a loop whose trips nobody counts"
                         FIX "write it as `for` over a range");
    if (!bars_number(&w->bars, op->operands[0], &condition))
        return bars_fail(&w->bars, op, "a barrier under a condition that is not known before the kernel runs"
                         FIX "move it out of the condition");
    return run_region(w, op->regions[condition ? 0 : 1]);
}

static bool run_region(Walk *w, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (!run_op(w, op)) return false;
    return true;
}

bool bars_prove(const Kernel *k, Arena *arena, const char **why, const Op **where) {
    FoundOps bars = ir_list(k->body, OP_BAR, arena);
    int64_t most = 0;
    for (size_t i = 0; i < bars.count; i++)
        if (op_int(bars.at[i], AT_BARS, 1) > most) most = op_int(bars.at[i], AT_BARS, 1);
    most = 2 * (most < 64 ? most : 64) + 2;
    for (int64_t trips = 0; trips <= most; trips++) {
        Walk w = {.bars = {.k = k, .arena = arena}, .trips = trips};
        if (!run_region(&w, k->body)) {
            *why = w.bars.why, *where = w.bars.where;
            return false;
        }
        if (!w.loop) break;
    }
    return true;
}
