/* merge_check.c: roles that run side by side, checked: does each make progress, is each hand-over seen once, does
 * nobody overwrite what another still reads?
 *
 * The control of each worker is run through, without its data, on a fiber of its own: arrivals and phases are numbers,
 * tiles in shared memory are boxes with the accesses to them. Who has seen what is kept as vector clocks: an arrival
 * gives what its worker has seen to the barrier, a wait that passes takes it from there. So an access that is not
 * behind another one by the barriers is found in whatever order the workers happen to run.
 *
 * Bounds, which the finding states: loops of unknown ends make 0, 1, 2 .. trips, so many that each barrier of an array
 * comes round twice and more; a condition that is not known holds in all trips or in none; workers run in turn, and
 * each of them first and last. What is not known there (which barrier, the parity, loops of several unknown ranges) is
 * not proved, and said. */
#include "base/fiber.h"
#include "ir/barriers.h"
#include "ir/threads.h"
#include "pass/merge/merge.h"

#include <string.h>

enum { MOST_WORKERS = 8, MOST_CONDITIONS = 4, MOST_STEPS = 1 << 16, STACK = 128 * 1024, MOST_TRACE = 6 };

typedef struct Bar {
    const Op *made;
    int64_t at, count, pending, phase;
    int64_t gather[MOST_WORKERS], seen[MOST_WORKERS]; /* clocks of those who arrived; of phases that have ended */
    int64_t passed[MOST_WORKERS];                     /* phases that the worker has seen end */
} Bar;

typedef struct Access {
    const Op *op;
    Ref buffer;
    int worker;
    bool writes, exact;
    int64_t clock, from[MAX_RANK], to[MAX_RANK];
} Access;

typedef struct Event {
    const Op *op;
    int worker;
    const char *text;
} Event;

typedef struct Check Check;
typedef struct Worker {
    Check *c;
    int number;
    const Region *region;
    Fiber *fiber;
    Map known; /* loop variables */
    const Op *at;
    Bar *bar; /* that it waits for; NULL: it runs */
    int64_t parity, clock[MOST_WORKERS];
    bool done;
    Trap trap; /* of its own stack */
} Worker;

struct Check {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    const Op *spmd;
    Worker workers[MOST_WORKERS];
    int count;
    VEC(Bar *) bars;
    VEC(Access) accesses;
    VEC(Event) trace;
    Trap trap;
    int64_t trips, most_trips, steps;
    const Op *loop;      /* one of unknown ends */
    Ref conditions[MOST_CONDITIONS];
    int condition_count;
    unsigned holds;      /* which of them do */
    const Op *where;     /* what went wrong, or is not known */
    const char *why;
    const Op *other;
    const char *other_text;
    bool unproved;
};

#define say(c, ...) arena_printf((c)->cx->module->arena, __VA_ARGS__)

static void fail(Check *c, const Op *op, bool unproved, const char *why) {
    if (c->why) return;
    c->why = why, c->where = op, c->unproved = unproved;
}

/* --- numbers --- */

static bool leaf(const void *user, Ref ref, int64_t *out) {
    const Worker *w = user;
    const MapEntry *known = map_find_number(&w->known, ref);
    if (!known || !known->value) return false;
    *out = *(const int64_t *)known->value;
    return true;
}

static bool number(const Worker *w, Ref ref, int64_t *out) { return ir_number(w->c->k, ref, leaf, w, out); }

/* --- barriers --- */

static Bar *find_bar(Worker *w, const Op *op, Ref which) {
    Check *c = w->c;
    const Op *made = ir_value(c->k, op->operands[0])->op;
    int64_t at = 0, bars = made ? op_int(made, AT_BARS, 1) : 1;
    if (which && !number(w, which, &at)) {
        fail(c, op, true, "which barrier it is, is not known before the kernel runs");
        return NULL;
    }
    if (at < 0 || at >= bars) {
        fail(c, op, false, "there is no barrier of this number");
        return NULL;
    }
    for (size_t i = 0; i < c->bars.count; i++)
        if (c->bars.at[i]->made == made && c->bars.at[i]->at == at) return c->bars.at[i];
    int64_t count = made ? op_int(made, AT_ARRIVALS, 1) : 1;
    Bar *bar = ARENA_NEW(c->arena, Bar);
    *bar = (Bar){.made = made, .at = at, .count = count, .pending = count};
    *VEC_PUSH(&c->bars, c->arena) = bar;
    return bar;
}

static void note(Worker *w, const Op *op, const char *text) {
    *VEC_PUSH(&w->c->trace, w->c->arena) = (Event){op, w->number, text};
}

static void arrive(Worker *w, const Op *op, Bar *bar, int64_t count) {
    Check *c = w->c;
    bar->pending -= count;
    if (bar->pending < 0) {
        fail(c, op, false,
             say(c, "%lld threads arrive at a barrier that counts %lld",
                          (long long)(bar->count - bar->pending), (long long)bar->count));
        return;
    }
    w->clock[w->number]++;
    for (int i = 0; i < c->count; i++)
        if (w->clock[i] > bar->gather[i]) bar->gather[i] = w->clock[i];
    note(w, op, bar->pending ? "arrives" : say(c, "arrives, and phase %lld ends", (long long)bar->phase));
    if (bar->pending) return;
    bar->pending = bar->count;
    bar->phase++;
    for (int i = 0; i < c->count; i++)
        if (bar->gather[i] > bar->seen[i]) bar->seen[i] = bar->gather[i];
}

static bool passes(const Worker *w) { return !w->bar || (w->bar->phase & 1) != w->parity; }

static void wait_for(Worker *w, const Op *op, Bar *bar, int64_t parity) {
    Check *c = w->c;
    w->at = op, w->bar = bar, w->parity = parity & 1;
    while (!passes(w) && !c->why) fiber_yield(w->fiber);
    if (c->why) return;
    w->bar = NULL;
    int64_t wanted = bar->passed[w->number];
    if ((wanted & 1) == (parity & 1)) wanted++;
    if (bar->phase > wanted)
        fail(c, op, false,
             "the phase that this waits for may have ended, and the next one as well, before anybody looks: a "
             "hand-over is lost; who arrives has to wait for who takes it");
    bar->passed[w->number] = bar->phase;
    for (int i = 0; i < c->count; i++)
        if (bar->seen[i] > w->clock[i]) w->clock[i] = bar->seen[i];
    note(w, op, "passes");
}

/* --- tiles in shared memory --- */

static bool overlap(const Access *a, const Access *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (a->to[d] <= b->from[d] || b->to[d] <= a->from[d]) return false;
    return true;
}

static void access(Worker *w, const Op *op) {
    Check *c = w->c;
    const Type *whole = ir_type(c->k, op->operands[0]);
    if (!threads_share(c->k, op, op->operands[0])) return;
    const Type *box = ir_type(c->k, op->code == OP_BLOAD ? op->results[0] : op_operand(op, 1));
    RefList at = op_list(op, 0);
    Access a = {.op = op, .buffer = op->operands[0], .worker = w->number, .writes = op->code != OP_BLOAD, .exact = true,
                .clock = w->clock[w->number] + 1};
    for (int d = 0; d < whole->rank; d++) {
        int lead = whole->rank - box->rank;
        a.to[d] = whole->extent[d];
        if (!number(w, at.at[d], &a.from[d]))
            a.exact = false;
        else
            a.to[d] = a.from[d] + (d < lead ? 1 : box->extent[d - lead]);
    }
    Access *same = NULL;
    for (size_t i = 0; i < c->accesses.count; i++) {
        Access *b = &c->accesses.at[i];
        if (b->buffer != a.buffer) continue;
        if (b->worker == a.worker && b->op == op && !memcmp(a.from, b->from, sizeof a.from)) same = b;
        bool meets = b->worker != a.worker && (a.writes || b->writes) && overlap(&a, b, whole->rank);
        if (!meets || b->clock <= w->clock[b->worker]) continue;
        const char *name = ir_value(c->k, a.buffer)->name;
        if (!a.exact || !b->exact) {
            fail(c, op, true, "which elements of a shared tile it touches is not known before the kernel runs");
            return;
        }
        c->other = b->op;
        c->other_text = say(c, "warpgroup %d %s it here", b->worker, b->writes ? "writes" : "reads");
        fail(c, op, false,
             say(c,
                          "warpgroup %d %s `%s`, and no barrier lies between that and warpgroup %d, which %s it; "
                          "arrive behind the one, and wait for that in front of the other",
                          a.worker, a.writes ? "writes" : "reads", name ? name : "a shared tile", b->worker,
                          b->writes ? "writes" : "reads"));
        return;
    }
    if (same)
        same->clock = a.clock;
    else
        *VEC_PUSH(&c->accesses, c->arena) = a;
}

/* --- control --- */

static void run_region(Worker *w, const Region *region);

static bool matters(const Op *op) {
    return op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT || op->code == OP_BAR_EXPECT || op->code == OP_BLOAD ||
           op->code == OP_BSTORE || op->code == OP_BATOMIC;
}
static void look_for_matter(Op *op, void *user) { *(bool *)user |= matters(op); }

static bool has_matter(const Op *op) {
    bool found = matters(op);
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_for_matter, &found);
    return found;
}

static void run_for(Worker *w, const Op *op) {
    Check *c = w->c;
    int64_t lo = 0, hi, step = 1, *at = ARENA_NEW(c->arena, int64_t);
    Ref variable = op->regions[0]->args[0];
    bool bars = bars_are_inside(op);
    if (!number(w, op->operands[0], &lo) || !number(w, op->operands[2], &step) || step < 1) {
        if (bars) fail(c, op, true, "the loop begins with a number that is not known before the kernel runs");
        run_region(w, op->regions[0]); /* its tiles, once */
        return;
    }
    if (!number(w, op->operands[1], &hi)) {
        if (bars && c->loop && !threads_same_number(c->k, c->loop->operands[1], op->operands[1]))
            fail(c, op, true, "loops around barriers have several ends that are not known before the kernel runs");
        if (bars) c->loop = op;
        hi = lo + c->trips * step;
    }
    if (!bars && hi > lo + 2 * step) hi = lo + 2 * step; /* a trip and the next one */
    map_put_number(&w->known, c->arena, variable, at);
    for (*at = lo; *at < hi && !c->why; *at += step) run_region(w, op->regions[0]);
    map_put_number(&w->known, c->arena, variable, NULL);
}

/* One that is not known: in some runs it holds, in others not, for all that ask for it. */
static bool decide(Check *c, const Op *op) {
    for (int i = 0; i < c->condition_count; i++)
        if (c->conditions[i] == op->operands[0]) return c->holds >> i & 1;
    if (c->condition_count == MOST_CONDITIONS) {
        fail(c, op, true, "barriers stand under too many conditions that are not known before the kernel runs");
        return false;
    }
    c->conditions[c->condition_count] = op->operands[0];
    return c->holds >> c->condition_count++ & 1;
}

static void run_op(Worker *w, const Op *op) {
    Check *c = w->c;
    int64_t value;
    Bar *bar;
    if (++c->steps > MOST_STEPS) fail(c, op, true, "there are too many trips to look at");
    switch (op->code) {
    case OP_BAR_ARRIVE:
        if ((bar = find_bar(w, op, op_operand(op, 1)))) arrive(w, op, bar, op_int(op, AT_ARRIVALS, 1));
        return;
    case OP_BAR_EXPECT:
        if ((bar = find_bar(w, op, op_operand(op, 2)))) arrive(w, op, bar, 1);
        return;
    case OP_BAR_WAIT:
        bar = find_bar(w, op, op_operand(op, 2));
        if (bar && !number(w, op_operand(op, 1), &value))
            fail(c, op, true, "the parity is not known before the kernel runs");
        if (bar && !c->why) wait_for(w, op, bar, value);
        return;
    case OP_BLOAD:
    case OP_BSTORE:
    case OP_BATOMIC: access(w, op); return;
    case OP_FOR: run_for(w, op); return;
    case OP_IF:
        if (number(w, op->operands[0], &value))
            run_region(w, op->regions[value ? 0 : 1]);
        else if (bars_are_inside(op))
            run_region(w, op->regions[decide(c, op) ? 0 : 1]);
        else
            for (int r = 0; r < 2; r++) run_region(w, op->regions[r]);
        return;
    case OP_WHILE:
        if (bars_are_inside(op)) fail(c, op, true, "a barrier stands in a loop whose trips nobody counts");
        break;
    default: break;
    }
    for (int r = 0; r < op->region_count; r++) run_region(w, op->regions[r]);
}

static void run_region(Worker *w, const Region *region) {
    for (const Op *op = region->first; op && !w->c->why; op = op->next)
        if (has_matter(op)) run_op(w, op);
}

static void worker_body(void *argument) {
    Worker *w = argument;
    if (TRAP_ARM(&w->trap)) run_region(w, w->region);
    w->done = true;
}

/* Where memory that runs short leaves to. */
static void leave_by(Check *c, Trap *trap) {
    c->arena->trap = trap;
    c->cx->module->arena->trap = trap;
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

static void report_stuck(Check *c) {
    Worker *first = NULL;
    for (int i = 0; i < c->count; i++)
        if (!c->workers[i].done && !first) first = &c->workers[i];
    if (!first) return;
    Bar *bar = first->bar;
    fail(c, first->at, false,
         say(c,
             "warpgroup %d waits here for ever: %lld of %lld arrivals of phase %lld are missing, and nobody is left "
             "who could arrive",
             first->number, (long long)bar->pending, (long long)bar->count, (long long)bar->phase));
}

static void run(Check *c, int order) {
    c->bars.count = c->accesses.count = c->trace.count = 0;
    c->steps = 0, c->condition_count = 0, c->loop = NULL;
    for (int i = 0; i < c->count; i++) {
        Worker *w = &c->workers[i];
        *w = (Worker){.c = c, .number = i, .region = c->spmd->regions[i], .fiber = w->fiber};
        if (w->fiber && fiber_done(w->fiber))
            fiber_restart(w->fiber, worker_body, w);
        else
            w->fiber = fiber_create(STACK, worker_body, w);
        if (!w->fiber) {
            fail(c, c->spmd, true, "memory is short");
            return;
        }
    }
    int turn = 0;
    for (Worker *w; !c->why && (w = pick(c, order, turn++));) resume(w);
    if (!c->why) report_stuck(c);
    for (int i = 0; i < c->count; i++) {
        if (c->workers[i].done) continue;
        fiber_destroy(c->workers[i].fiber);
        c->workers[i].fiber = NULL;
    }
}

static void report(Check *c) {
    Diag *diag = c->cx->module->diag;
    if (c->unproved) {
        diag_emit(diag, DIAG_ROLES_UNPROVED, c->where->range, c->why);
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
static bool check_names(Check *c) {
    const Op *of[16] = {0};
    int worker[16];
    for (int r = 0; r < c->count; r++) {
        FoundOps syncs = ir_list(c->spmd->regions[r], OP_SYNC, c->arena);
        for (size_t i = 0; i < syncs.count; i++) {
            int64_t id = op_int(syncs.at[i], AT_ID, -1);
            if (id < 0 || id > 15) continue;
            if (id == 0)
                fail(c, syncs.at[i], false,
                     "barrier 0 is that of the whole block, and other roles do not come here; take 1 to 15");
            if (of[id] && worker[id] != r && op_int(syncs.at[i], AT_ARRIVALS, 0) <= 128) {
                c->other = of[id], c->other_text = "the other one";
                fail(c, syncs.at[i], false,
                     say(c, "two warpgroups meet at barrier %lld, each for itself; give each a number of its own",
                         (long long)id));
            }
            of[id] = syncs.at[i], worker[id] = r;
        }
    }
    return !c->why;
}

static int orders_of(const Check *c) { return 2 * c->count + 1; }

static void run_all(Check *c) {
    bool more = true;
    check_names(c);
    for (unsigned holds = 0; more && !c->why; holds++) {
        more = false;
        for (int64_t trips = 0; trips <= c->most_trips && !c->why; trips++) {
            for (int order = 0; order < orders_of(c) && !c->why; order++) {
                c->holds = holds, c->trips = trips;
                run(c, order);
                more |= holds + 1 < 1u << c->condition_count;
            }
            if (!c->loop) break;
        }
    }
}

bool merge_check(PassContext *cx, Kernel *k, const Op *spmd) {
    Check *c = ARENA_NEW(cx->scratch, Check);
    *c = (Check){.cx = cx, .k = k, .arena = cx->scratch, .spmd = spmd, .count = spmd->region_count};
    if (c->count > MOST_WORKERS) return true;
    FoundOps bars = ir_list(k->body, OP_BAR, cx->scratch);
    int64_t most = 0;
    for (size_t i = 0; i < bars.count; i++)
        if (op_int(bars.at[i], AT_BARS, 1) > most) most = op_int(bars.at[i], AT_BARS, 1);
    c->most_trips = 2 * (most < 16 ? most : 16) + 2;
    Trap *outer = cx->scratch->trap, *of_module = cx->module->arena->trap;
    if (TRAP_ARM(&c->trap)) {
        leave_by(c, &c->trap);
        run_all(c);
    }
    cx->scratch->trap = outer;
    cx->module->arena->trap = of_module;
    for (int i = 0; i < c->count; i++) fiber_destroy(c->workers[i].fiber);
    if (c->trap.code) trap_throw(outer, c->trap.code);
    if (c->why)
        report(c);
    else
        pass_find(cx, spmd->range, FIND_ROLES_PROVED, c->count, orders_of(c), (long long)c->most_trips);
    return !c->why || c->unproved;
}
