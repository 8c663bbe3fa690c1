/* merge_barriers.c: barriers of a program that one worker runs, proved and dropped.
 *
 * A door that has written roles lays them out in one order (see tilelang_hopper.c). Here the kernel's control is run
 * through, with arrivals and phases as numbers: if each wait finds its phase ended, that order is one that the roles
 * may take, and the barriers say nothing more. Loops of known ends are run as they are; for all others together the
 * trips 0, 1, 2 .. are tried, so many that each barrier of an array comes round twice and more.
 *
 * A wait that does not pass is the user's mistake; one whose number or parity is not known here is refused. */
#include "ir/barriers.h"
#include "pass/merge/merge.h"

enum { MOST_STEPS = 1 << 20 };

typedef struct Walk {
    BarWalk bars;
    int64_t trips; /* of loops whose ends are not known */
    int64_t steps;
    bool unknown; /* there is such a loop */
} Walk;

static bool run_region(Walk *w, const Region *region);

static bool run_for(Walk *w, const Op *op) {
    int64_t lo, hi, step, at;
    bool ends = bars_number(&w->bars, op->operands[0], &lo) && bars_number(&w->bars, op->operands[2], &step) && step > 0;
    if (!ends) return bars_fail(&w->bars, op, "the loop begins with a number that is not known before the kernel runs");
    if (!bars_number(&w->bars, op->operands[1], &hi)) {
        w->unknown = true;
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
    if (++w->steps > MOST_STEPS) return bars_fail(&w->bars, op, "there are too many trips to look at");
    if (op->code == OP_BAR_ARRIVE) return bars_arrive(&w->bars, op);
    if (op->code == OP_BAR_WAIT) {
        bool passes;
        if (!bars_wait(&w->bars, op, &passes)) return false;
        return passes || bars_fail(&w->bars, op,
                                   "this waits for an arrival that comes later; let roles take turns in one loop, with "
                                   "an arrival in front of each wait for it");
    }
    if (!op->region_count || !bars_are_inside(op)) return true;
    if (op->code == OP_FOR) return run_for(w, op);
    if (op->code != OP_IF) return bars_fail(&w->bars, op, "a barrier in a loop whose trips nobody counts");
    if (!bars_number(&w->bars, op->operands[0], &condition))
        return bars_fail(&w->bars, op, "a barrier under a condition that is not known before the kernel runs");
    return run_region(w, op->regions[condition ? 0 : 1]);
}

static bool run_region(Walk *w, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (!run_op(w, op)) return false;
    return true;
}

static bool prove(PassContext *cx, Kernel *k, int64_t most) {
    for (int64_t trips = 0; trips <= most; trips++) {
        Walk w = {.bars = {.k = k, .arena = cx->scratch}, .trips = trips};
        if (!run_region(&w, k->body)) {
            diag_emit(cx->module->diag, DIAG_BARRIER_ORDER, w.bars.where->range, w.bars.why);
            return false;
        }
        if (!w.unknown) break;
    }
    return true;
}

static void drop(Kernel *k, Opcode code, Arena *arena) {
    FoundOps ops = ir_list(k->body, code, arena);
    for (size_t i = 0; i < ops.count; i++) ir_remove(ops.at[i]);
}

bool merge_barriers(PassContext *cx, Kernel *k) {
    FoundOps bars = ir_list(k->body, OP_BAR, cx->scratch);
    int64_t most = 0;
    for (size_t i = 0; i < bars.count; i++) {
        for (const Op *at = bars.at[i]->parent->owner; at; at = at->parent->owner)
            if (at->code == OP_SPMD || at->code == OP_ROLE) return false; /* several workers use it */
        if (op_int(bars.at[i], AT_BARS, 1) > most) most = op_int(bars.at[i], AT_BARS, 1);
    }
    FoundOps copies = ir_list(k->body, OP_ASYNC_COPY, cx->scratch);
    if (!bars.count || copies.count || !prove(cx, k, 2 * (most < 64 ? most : 64) + 2)) return false;
    static const Opcode codes[] = {OP_BAR_ARRIVE, OP_BAR_EXPECT, OP_BAR_WAIT, OP_BAR};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) drop(k, codes[i], cx->scratch);
    return true;
}
