/* SPDX-License-Identifier: Apache-2.0 */
/* roles_check.c: roles that run side by side, checked: does each make progress, is each hand-over seen once, does
 * nobody overwrite what another still reads?
 *
 * The control of each worker is run through, without its data, on a fiber of its own: arrivals and phases are numbers,
 * tiles in shared memory are boxes with the accesses to them. Who has seen what is kept as vector clocks: an arrival
 * gives what its worker has seen to the barrier, a wait that passes takes it from there. So an access that is not
 * behind another one by the barriers is found in whatever order the workers happen to run.
 *
 * Bounds, which the finding states: loops of unknown ends make 0, 1, 2 .. trips, so many that each barrier of an
 * array comes round twice and more (of several ends: roles_unknown.c); a loop over tasks has three of them, each a
 * trip longer than the one before; a condition that is not known holds in all trips or in none; workers run in turn,
 * and each of them first and last. What is not known there (which barrier, the parity, loops of several unknown
 * ranges) is not proved, and said. */
#include "base/text.h"
#include "ir/barriers.h"
#include "ir/threads.h"
#include "ir/roles_check.h"

#include <string.h>

enum { MOST_ROUNDS = 3, MOST_STEPS = 1 << 16, STACK = 128 * 1024 };

int64_t check_threads(const Check *c) {
    return op_word(c->spmd, AT_UNIT, UNIT_THREAD) == UNIT_WARP ? 32 : 128;
}

void check_fail(Check *c, const Op *op, bool unproved, const char *why) {
    if (c->why) return;
    c->why = why, c->where = op, c->unproved = unproved;
}

/* --- numbers --- */

static bool leaf(const void *user, Ref ref, int64_t *out) {
    const Worker *w = user;
    const MapEntry *known = map_find_number(&w->known, ref);
    const Check *c = w->c;
    if (known && known->value) {
        *out = *(const int64_t *)known->value;
        return true;
    }
    if (!known && check_unknown(c, ref, out)) return true;
    *out = c->end;
    return c->loop && !c->rounds && !known && roles_same_number(c->k, c->still, c->loop->operands[1], ref);
}

bool check_number(const Worker *w, Ref ref, int64_t *out) { return ir_number(w->c->k, ref, leaf, w, out); }

/* --- barriers --- */

static Bar *bar_at(Check *c, const Op *made, int64_t at, int64_t count) {
    for (size_t i = 0; i < c->bars.count; i++)
        if (c->bars.at[i]->made == made && c->bars.at[i]->at == at) return c->bars.at[i];
    Bar *bar = ARENA_NEW(c->arena, Bar);
    *bar = (Bar){.made = made, .at = at, .count = count, .pending = count};
    *VEC_PUSH(&c->bars, c->arena) = bar;
    return bar;
}

static Bar *find_bar(Worker *w, const Op *op, Ref which) {
    Check *c = w->c;
    const Op *made = ir_value(c->k, op->operands[0])->op;
    int64_t at = 0, bars = made ? op_int(made, AT_BARS, 1) : 1;
    if (which && !check_number(w, which, &at)) {
        check_fail(c, op, true, "which barrier it is, is not known before the kernel runs"
                   FIX "index barriers by constants and the trips of loops");
        return NULL;
    }
    if (at < 0 || at >= bars) {
        check_fail(c, op, false, "there is no barrier of this number" FIX "make as many as are used");
        return NULL;
    }
    return bar_at(c, made, at, made ? op_int(made, AT_ARRIVALS, 1) : 1);
}

static void note(Worker *w, const Op *op, const char *text) {
    *VEC_PUSH(&w->c->trace, w->c->arena) = (Event){op, w->number, text};
}

static void learn(Clock *to, const Clock *from) {
    for (int i = 0; i < MOST_WORKERS; i++)
        if (from->at[i] > to->at[i]) to->at[i] = from->at[i];
}

static void arrive(Worker *w, const Op *op, Bar *bar, int64_t count) {
    Check *c = w->c;
    bar->pending -= count;
    if (bar->pending < 0) {
        check_fail(c, op, false,
             say(c, "%lld threads arrive at a barrier that counts %lld"
                 FIX "let fewer arrive, or count them where the barrier is made",
                          (long long)(bar->count - bar->pending), (long long)bar->count));
        return;
    }
    w->clock.at[w->number]++;
    learn(&bar->gather, &w->clock);
    note(w, op, bar->pending ? "arrives" : say(c, "arrives, and phase %lld ends", (long long)bar->phase));
    if (bar->pending) return;
    bar->pending = bar->count;
    bar->phase++;
    *VEC_PUSH(&bar->ended, c->arena) = bar->gather;
}

static bool passes(const Worker *w) { return !w->bar || (w->bar->phase & 1) != w->parity; }

/* It has seen this phase end, or what came behind all of its arrivals. */
static bool knows_end(const Worker *w, const Bar *bar, int64_t phase) {
    for (int i = 0; i < w->c->count; i++)
        if (bar->ended.at[phase].at[i] > w->clock.at[i]) return false;
    return true;
}

static void wait_for(Worker *w, const Op *op, Bar *bar, int64_t parity) {
    Check *c = w->c;
    w->at = op, w->bar = bar, w->parity = parity & 1;
    while (!passes(w) && !c->why) fiber_yield(w->fiber);
    if (c->why) return;
    w->bar = NULL;
    int64_t wanted = bar->passed[w->number];
    while (wanted < bar->phase && knows_end(w, bar, wanted)) wanted++;
    if ((wanted & 1) == (parity & 1)) wanted++;
    if (bar->phase > wanted)
        check_fail(c, op, false,
             "the phase that this waits for may have ended, and the next one as well, before anybody looks: a "
             "hand-over is lost" FIX "let who arrives wait for who takes it");
    bar->passed[w->number] = bar->phase;
    if (bar->phase) learn(&w->clock, &bar->ended.at[bar->phase - 1]);
    note(w, op, "passes");
}

/* How many threads meet at a `sync`, if more than those of one worker do; else 0. */
static int64_t meeting_of(const Check *c, const Op *op) {
    const Op *around = op->code == OP_SYNC ? op->parent->owner : NULL;
    while (around && around->code != OP_SPMD) around = around->parent->owner;
    if (around != c->spmd) return 0;
    bool named = op_attr(op, AT_ID), block = op_word(op, AT_UNIT, UNIT_BLOCK) == UNIT_BLOCK;
    int64_t own = check_threads(c), all = named || block ? op_int(op, AT_ARRIVALS, own * c->count) : 0;
    return all > own ? all : 0;
}

/* Several workers meet: each arrives with all its threads, and waits for the phase to end. */
static void meet(Worker *w, const Op *op) {
    Check *c = w->c;
    int64_t all = meeting_of(c, op), id = op_int(op, AT_ID, -1);
    if (!all) return;
    Bar *bar = bar_at(c, c->spmd, id, all);
    if (bar->count != all) {
        check_fail(c, op, false,
             say(c, "%lld threads are to meet at barrier %lld here, and %lld elsewhere"
                 FIX "give the same number in both places, or take another barrier", (long long)all, (long long)id,
                 (long long)bar->count));
        return;
    }
    int64_t parity = bar->phase & 1;
    bar->passed[w->number] = bar->phase;
    arrive(w, op, bar, check_threads(c));
    if (!c->why) wait_for(w, op, bar, parity);
}

/* --- control --- */

static void run_region(Worker *w, const Region *region);

static bool matters(const Op *op) {
    return op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT || op->code == OP_BAR_EXPECT || op->code == OP_BLOAD ||
           op->code == OP_BSTORE || op->code == OP_BATOMIC || op->code == OP_SYNC;
}

typedef struct Inside {
    const Check *c;
    bool found;
} Inside;
static void look_for_meeting(Op *op, void *user) {
    Inside *inside = user;
    inside->found |= meeting_of(inside->c, op) != 0;
}

bool check_has_bars(const Check *c, const Op *op) {
    Inside inside = {c, bars_are_inside(op)};
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_for_meeting, &inside);
    return inside.found;
}

static void look_for_matter(Op *op, void *user) { *(bool *)user |= matters(op); }

static bool has_matter(const Op *op) {
    bool found = matters(op);
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_for_matter, &found);
    return found;
}

static void know(Worker *w, Ref ref, bool known, int64_t value) {
    int64_t *kept = known ? ARENA_NEW(w->c->arena, int64_t) : NULL;
    if (kept) *kept = value;
    map_put_number(&w->known, w->c->arena, ref, kept);
}

/* What comes out of a region, or goes into it, has these numbers, as far as they are known: all at once. */
static void know_all(Worker *w, const Ref *to, const Ref *from, int count) {
    int64_t *values = ARENA_ARRAY(w->c->arena, int64_t, count ? count : 1);
    bool *known = ARENA_ARRAY(w->c->arena, bool, count ? count : 1);
    for (int i = 0; i < count; i++) known[i] = check_number(w, from[i], &values[i]);
    for (int i = 0; i < count; i++) know(w, to[i], known[i], values[i]);
}

static void run_for(Worker *w, const Op *op) {
    Check *c = w->c;
    int64_t lo = 0, hi, step = 1;
    const Region *body = op->regions[0];
    int carried = op->result_count;
    bool bars = check_has_bars(c, op);
    know_all(w, body->args + 1, op->operands + 3, carried);
    if (!check_number(w, op->operands[0], &lo) || !check_number(w, op->operands[2], &step) || step < 1) {
        if (bars) {
            c->several = true;
            check_fail(c, op, true, "the loop begins with a number that is not known before the kernel runs"
                       FIX "begin it with a constant");
        }
        run_region(w, body); /* its tiles, once */
        return;
    }
    if (!check_number(w, op->operands[1], &hi)) {
        if (bars && c->loop && !roles_same_number(c->k, c->still, c->loop->operands[1], op->operands[1])) {
            c->several = true;
            check_fail(c, op, true,
                       "loops around barriers have several ends that are not known before the kernel runs"
                       FIX "let them end at the same number");
        }
        hi = lo + (c->trips + w->round) * step;
        if (bars && !c->loop) c->loop = op, c->end = hi;
    }
    int64_t known, trips = hi > lo ? (hi - lo + step - 1) / step : 0;
    if (bars && trips < c->fewest && !ir_const_int(c->k, op->operands[1], &known)) c->fewest = trips;
    if (!bars && hi > lo + 2 * step) hi = lo + 2 * step; /* a trip and the next one */
    for (int64_t at = lo; at < hi && !c->why; at += step) {
        know(w, body->args[0], true, at);
        run_region(w, body);
        know_all(w, body->args + 1, body->last->operands, carried);
    }
    know_all(w, op->results, body->args + 1, carried);
}

/* How often it goes round is known, or as often as the others of its kind. */
static void run_while(Worker *w, const Op *op) {
    Check *c = w->c;
    const Region *test = op->regions[0], *body = op->regions[1];
    const Ref *values = test->last->operands + 1;
    int64_t round = w->round, holds;
    know_all(w, test->args, op->operands, test->arg_count);
    for (w->round = 0; !c->why; w->round++) {
        run_region(w, test);
        if (!check_number(w, test->last->operands[0], &holds)) {
            if (c->rounds && !roles_same_trips(c->k, c->still, c->rounds, op))
                check_fail(c, op, true, "a barrier stands in a loop whose trips nobody counts"
                           FIX "write it as `for` over a range");
            c->rounds = op;
            holds = w->round < c->most_rounds;
        }
        if (!holds) break;
        know_all(w, body->args, values, body->arg_count);
        run_region(w, body);
        know_all(w, test->args, body->last->operands, test->arg_count);
    }
    know_all(w, op->results, values, op->result_count);
    w->round = round;
}

/* One that is not known: in some runs it holds, in others not, for all that ask for it. */
static bool decide(Check *c, const Op *op) {
    for (int i = 0; i < c->condition_count; i++)
        if (c->conditions[i] == op->operands[0]) return c->holds >> i & 1;
    if (c->condition_count == MOST_CONDITIONS) {
        check_fail(c, op, true, "barriers stand under too many conditions that are not known before the kernel runs"
                   FIX "move them out of the conditions");
        return false;
    }
    c->conditions[c->condition_count] = op->operands[0];
    return c->holds >> c->condition_count++ & 1;
}

static void run_branch(Worker *w, const Op *op, int side) {
    run_region(w, op->regions[side]);
    know_all(w, op->results, op->regions[side]->last->operands, op->result_count);
}

static void run_op(Worker *w, const Op *op) {
    Check *c = w->c;
    int64_t value;
    Bar *bar;
    if (++c->steps > MOST_STEPS)
        check_fail(c, op, true, "there are too many trips to look at"
                   FIX "use fewer barriers, or shorter loops around them");
    switch (op->code) {
    case OP_BAR_ARRIVE:
        if ((bar = find_bar(w, op, op_operand(op, 1)))) arrive(w, op, bar, op_int(op, AT_ARRIVALS, 1));
        return;
    case OP_BAR_EXPECT:
        if ((bar = find_bar(w, op, op_operand(op, 2)))) arrive(w, op, bar, 1);
        return;
    case OP_BAR_WAIT:
        bar = find_bar(w, op, op_operand(op, 2));
        if (bar && !check_number(w, op_operand(op, 1), &value))
            check_fail(c, op, true, "the parity is not known before the kernel runs"
                       FIX "make it from the trips of a loop, or keep it in a register that changes with each wait");
        if (bar && !c->why) wait_for(w, op, bar, value);
        return;
    case OP_SYNC: meet(w, op); return;
    case OP_BLOAD:
    case OP_BSTORE:
    case OP_BATOMIC: check_access(w, op); return;
    case OP_FOR: run_for(w, op); return;
    case OP_IF:
        if (check_number(w, op->operands[0], &value))
            run_branch(w, op, value ? 0 : 1);
        else if (check_has_bars(c, op))
            run_branch(w, op, decide(c, op) ? 0 : 1);
        else
            for (int r = 0; r < 2; r++) run_region(w, op->regions[r]);
        return;
    case OP_WHILE:
        if (check_has_bars(c, op)) {
            run_while(w, op);
            return;
        }
        break;
    default: break;
    }
    for (int r = 0; r < op->region_count; r++) run_region(w, op->regions[r]);
}

/* A choice between numbers: `if (++slot == slots) { slot = 0; phase ^= 1; }`. */
static void choose_numbers(Worker *w, const Op *op) {
    int64_t holds;
    if (check_number(w, op->operands[0], &holds)) run_branch(w, op, holds ? 0 : 1);
    else
        for (int i = 0; i < op->result_count; i++) know(w, op->results[i], false, 0);
}

static void run_region(Worker *w, const Region *region) {
    for (const Op *op = region->first; op && !w->c->why; op = op->next) {
        if (has_matter(op)) run_op(w, op);
        else if (op->code == OP_IF && op->result_count) choose_numbers(w, op);
    }
}

static void worker_body(void *argument) {
    Worker *w = argument;
    if (TRAP_ARM(&w->trap)) run_region(w, w->region);
    w->done = true;
}

/* Where memory that runs short leaves to. */
static void leave_by(Check *c, Trap *trap) {
    c->arena->trap = trap;
    c->k->module->arena->trap = trap;
}

static void resume(Worker *w) {
    Check *c = w->c;
    leave_by(c, &w->trap);
    fiber_resume(w->fiber);
    leave_by(c, &c->trap);
    if (w->trap.code) trap_throw(&c->trap, w->trap.code);
}

/* --- one run --- */

/* Who goes on: `order` 0 in turn; else one of them first, or last, as long as it can. */
static Worker *pick(Check *c, int order, int turn) {
    int favoured = order ? (order - 1) / 2 : -1, late = order ? (order - 1) % 2 : 0;
    Worker *found = NULL;
    for (int i = 0; i < c->count; i++) {
        Worker *w = &c->workers[(turn + i) % c->count];
        if (w->done || !passes(w)) continue;
        if (w->number == favoured && !late) return w;
        if (!found || found->number == favoured) found = w;
    }
    return found;
}

static void run(Check *c, int order) {
    c->bars.count = c->accesses.count = c->trace.count = 0;
    c->steps = 0, c->condition_count = 0, c->loop = c->rounds = NULL, c->fewest = INT64_MAX;
    for (int i = 0; i < c->count; i++) {
        Worker *w = &c->workers[i];
        *w = (Worker){.c = c, .number = i, .region = c->spmd->regions[i], .fiber = w->fiber};
        if (w->fiber && fiber_done(w->fiber))
            fiber_restart(w->fiber, worker_body, w);
        else
            w->fiber = fiber_create(STACK, worker_body, w);
        if (!w->fiber) {
            check_fail(c, c->spmd, true, "memory is short");
            return;
        }
    }
    int turn = 0;
    for (Worker *w; !c->why && (w = pick(c, order, turn++));) resume(w);
    if (!c->why) check_report_stuck(c);
    for (int i = 0; i < c->count; i++) {
        if (c->workers[i].done) continue;
        fiber_destroy(c->workers[i].fiber);
        c->workers[i].fiber = NULL;
    }
}

static int orders_of(const Check *c) { return 2 * c->count + 1; }

static void forget(Check *c) {
    c->why = c->other_text = NULL;
    c->where = c->other = NULL;
    c->raced = REF_NONE;
    c->unproved = false;
}

/* All that may happen with these values of what a launch decides. */
static void run_orders(Check *c) {
    bool more = true;
    int64_t fewest = INT64_MAX;
    for (unsigned holds = 0; more && !c->why; holds++) {
        more = false;
        for (int order = 0; order < orders_of(c) && !c->why; order++) {
            c->holds = holds, c->most_rounds = MOST_ROUNDS;
            run(c, order);
            more |= holds + 1 < 1u << c->condition_count;
            if (c->fewest < fewest) fewest = c->fewest;
        }
    }
    c->fewest = fewest;
}

/* Ends that are all one: 0, 1, 2 .. trips. */
static void run_trips(Check *c) {
    for (c->trips = 0; c->trips <= c->most_trips && !c->why; c->trips++) {
        run_orders(c);
        if (!c->loop) break;
    }
}

/* Ends that differ, of numbers that a launch knows: with each of their values in turn. What goes wrong wherever there
 * are the most trips is wrong; else the launch decides. */
static void run_values(Check *c) {
    int wrong_at[MOST_UNKNOWNS] = {0};
    bool wrong = false;
    int64_t well = -1, badly = -1; /* most trips with which it went so */
    const char *reason = c->why;
    const Op *where = c->where;
    forget(c);
    if (!check_find_unknowns(c)) {
        check_fail(c, where, true, reason);
        return;
    }
    do {
        run_orders(c);
        if (c->why && c->unproved) return;
        int64_t trips = c->fewest < c->most_trips / 2 ? c->fewest : c->most_trips / 2;
        if (c->why && !wrong) memcpy(wrong_at, c->at, sizeof wrong_at), wrong = true;
        if (c->why && trips > badly) badly = trips;
        if (!c->why && trips > well) well = trips;
        forget(c);
    } while (check_next_values(c) && !(wrong && well == c->most_trips / 2));
    if (!wrong) return;
    memcpy(c->at, wrong_at, sizeof wrong_at);
    run_orders(c);
    if (c->why && well >= badly) c->unproved = true, c->why = say(c, "where %s, %s", check_values_text(c), c->why);
}

Check *check_all(Kernel *k, Arena *scratch, const Op *spmd, const RolesRun *run) {
    Check *c = ARENA_NEW(scratch, Check);
    *c = (Check){.k = k, .arena = scratch, .spmd = spmd, .count = spmd->region_count, .accepts = run && run->accepts};
    if (c->count > MOST_WORKERS) {
        check_fail(c, spmd, true, "these are more workers than are looked at" FIX "use fewer");
        c->count = 0;
    }
    FoundOps bars = ir_list(k->body, OP_BAR, scratch);
    int64_t most = 0;
    for (size_t i = 0; i < bars.count; i++)
        if (op_int(bars.at[i], AT_BARS, 1) > most) most = op_int(bars.at[i], AT_BARS, 1);
    c->most_trips = 2 * (most < 16 ? most : 16) + 2;
    Trap *outer = scratch->trap, *of_module = k->module->arena->trap;
    if (TRAP_ARM(&c->trap)) {
        leave_by(c, &c->trap);
        check_find_still(c);
        check_names(c);
        run_trips(c);
        if (c->several && c->unproved) run_values(c);
    }
    scratch->trap = outer;
    k->module->arena->trap = of_module;
    for (int i = 0; i < c->count; i++) fiber_destroy(c->workers[i].fiber);
    if (c->trap.code) trap_throw(outer, c->trap.code);
    return c;
}

bool roles_check(Kernel *k, Arena *scratch, const Op *spmd, const RolesRun *run, RolesBounds *bounds) {
    Check *c = check_all(k, scratch, spmd, run);
    if (c->why && (run || !c->unproved)) check_report(c);
    *bounds = (RolesBounds){!c->why, c->count, orders_of(c), c->most_trips};
    return !c->why || (c->unproved && (!run || run->accepts));
}
