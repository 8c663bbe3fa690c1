/* merge_barriers.c: barriers of a program that one worker runs, proved and dropped.
 *
 * A door that has written roles lays them out in one order (see tilelang_hopper.c). Here the kernel's control is run
 * through, with arrivals and phases as numbers: if each wait finds its phase ended, that order is one that the roles
 * may take, and the barriers say nothing more. Loops of known ends are run as they are; for all others together the
 * trips 0, 1, 2 .. are tried, so many that each barrier of an array comes round twice and more.
 *
 * A wait that does not pass is the user's mistake; one whose number or parity is not known here is refused. */
#include "pass/fold/fold.h"
#include "pass/merge/merge.h"

#include <string.h>

enum { MOST_STEPS = 1 << 20, MOST_DEEP = 32 };

typedef struct Bar {
    int64_t count, pending, phase;
} Bar;

typedef struct Walk {
    Kernel *k;
    Arena *arena;
    Map bars;      /* Ref -> Bar[] */
    Map known;     /* Ref -> int64_t *: loop variables */
    int64_t trips; /* of loops whose ends are not known */
    int64_t steps;
    bool unknown;  /* there is such a loop */
    const char *why;
    const Op *where;
} Walk;

static bool fail(Walk *w, const Op *op, const char *why) {
    if (!w->why) w->why = why, w->where = op;
    return false;
}

static bool evaluate(Walk *w, Ref ref, int depth, int64_t *out) {
    if (ir_const_int(w->k, ref, out)) return true;
    if (!ref_is_value(ref) || depth > MOST_DEEP) return false;
    MapEntry *known = map_find_number(&w->known, ref);
    if (known && known->value) {
        *out = *(int64_t *)known->value;
        return true;
    }
    const Op *op = ir_value(w->k, ref)->op;
    int64_t x[2] = {0};
    if (!op || !op_has(op->code, TRAIT_ELEMENTWISE) || op->operand_count > 2) return false;
    Elem elem = ir_type(w->k, ref)->elem;
    for (int i = 0; i < op->operand_count; i++)
        if (!op->operands[i] || elem_is_float(ir_type(w->k, op->operands[i])->elem) ||
            !evaluate(w, op->operands[i], depth + 1, &x[i]))
            return false;
    if (op->code == OP_CAST) return elem_is_int(elem) && fold_int(OP_ADD, elem, x[0], 0, out);
    if (op->code == OP_CMP) {
        Word p = op_word(op, AT_PRED, CMP_LT);
        *out = p == CMP_LT   ? x[0] < x[1]
               : p == CMP_LE ? x[0] <= x[1]
               : p == CMP_GT ? x[0] > x[1]
               : p == CMP_GE ? x[0] >= x[1]
               : p == CMP_EQ ? x[0] == x[1]
                             : x[0] != x[1];
        return true;
    }
    return op->operand_count == 2 && fold_int(op->code, elem, x[0], x[1], out);
}

static void look_for_bar(Op *op, void *user) { *(bool *)user |= op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT; }

static bool has_bars(const Op *op) {
    bool found = false;
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_for_bar, &found);
    return found;
}

static bool run_region(Walk *w, const Region *region);

static bool run_for(Walk *w, const Op *op) {
    int64_t lo, hi, step, at;
    bool ends = evaluate(w, op->operands[0], 0, &lo) && evaluate(w, op->operands[2], 0, &step) && step > 0;
    if (!ends) return fail(w, op, "the loop begins with a number that is not known before the kernel runs");
    if (!evaluate(w, op->operands[1], 0, &hi)) {
        w->unknown = true;
        hi = lo + w->trips * step;
    }
    map_put_number(&w->known, w->arena, op->regions[0]->args[0], &at);
    for (at = lo; at < hi; at += step)
        if (!run_region(w, op->regions[0])) return false;
    map_put_number(&w->known, w->arena, op->regions[0]->args[0], NULL);
    return true;
}

static Bar *find_bar(Walk *w, const Op *op, Ref number) {
    MapEntry *known = map_find_number(&w->bars, op->operands[0]);
    const Op *made = ir_value(w->k, op->operands[0])->op;
    int64_t at = 0, bars = made ? op_int(made, AT_BARS, 1) : 1;
    if (!known) {
        Bar *all = ARENA_ARRAY(w->arena, Bar, bars);
        for (int64_t i = 0; i < bars; i++) all[i].count = all[i].pending = made ? op_int(made, AT_ARRIVALS, 1) : 1;
        known = map_put_number(&w->bars, w->arena, op->operands[0], all);
    }
    if (number && !evaluate(w, number, 0, &at)) {
        fail(w, op, "which barrier it is, is not known before the kernel runs");
        return NULL;
    }
    if (at >= 0 && at < bars) return (Bar *)known->value + at;
    fail(w, op, "there is no barrier of this number");
    return NULL;
}

static bool run_op(Walk *w, const Op *op) {
    int64_t condition;
    if (++w->steps > MOST_STEPS) return fail(w, op, "there are too many trips to look at");
    if (op->code == OP_BAR_ARRIVE) {
        Bar *bar = find_bar(w, op, op_operand(op, 1));
        if (!bar) return false;
        bar->pending -= op_int(op, AT_ARRIVALS, 1);
        if (bar->pending < 0) return fail(w, op, "more threads arrive at this barrier than it counts");
        if (!bar->pending) bar->pending = bar->count, bar->phase++;
    } else if (op->code == OP_BAR_WAIT) {
        Bar *bar = find_bar(w, op, op_operand(op, 2));
        int64_t parity;
        if (!bar) return false;
        if (!evaluate(w, op_operand(op, 1), 0, &parity))
            return fail(w, op, "the parity is not known before the kernel runs");
        if ((bar->phase & 1) == (parity & 1))
            return fail(w, op,
                        "this waits for an arrival that comes later; let roles take turns in one loop, with an arrival "
                        "in front of each wait for it");
    } else if (op->region_count && has_bars(op)) {
        if (op->code == OP_FOR) return run_for(w, op);
        if (op->code != OP_IF) return fail(w, op, "a barrier in a loop whose trips nobody counts");
        if (!evaluate(w, op->operands[0], 0, &condition))
            return fail(w, op, "a barrier under a condition that is not known before the kernel runs");
        return run_region(w, op->regions[condition ? 0 : 1]);
    }
    return true;
}

static bool run_region(Walk *w, const Region *region) {
    for (const Op *op = region->first; op; op = op->next)
        if (!run_op(w, op)) return false;
    return true;
}

static bool prove(PassContext *cx, Kernel *k, int64_t most) {
    for (int64_t trips = 0; trips <= most; trips++) {
        Walk w = {.k = k, .arena = cx->scratch, .trips = trips};
        if (!run_region(&w, k->body)) {
            diag_emit(cx->module->diag, DIAG_BARRIER_ORDER, w.where->range, w.why);
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
    FoundOps copies = ir_list(k->body, OP_ASYNC_COPY, cx->scratch), regions = ir_list(k->body, OP_SPMD, cx->scratch);
    if (!bars.count || copies.count || regions.count || !prove(cx, k, 2 * (most < 64 ? most : 64) + 2)) return false;
    static const Opcode codes[] = {OP_BAR_ARRIVE, OP_BAR_EXPECT, OP_BAR_WAIT, OP_BAR};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) drop(k, codes[i], cx->scratch);
    return true;
}
