/* SPDX-License-Identifier: Apache-2.0 */
/* roles_check.h: between the parts of roles_check: workers (roles_check.c), numbers that only a launch knows
 * (roles_unknown.c), the tiles they share (roles_tiles.c), and what is said of it all (roles_report.c). */
#ifndef IR_ROLES_CHECK_H
#define IR_ROLES_CHECK_H
#include "base/fiber.h"
#include "ir/roles.h"

enum { MOST_WORKERS = 8, MOST_CONDITIONS = 4, MOST_UNKNOWNS = 4, MOST_VALUES = 256 };

typedef struct Clock {
    int64_t at[MOST_WORKERS];
} Clock;

typedef struct Bar {
    const Op *made;
    int64_t at, count, pending, phase;
    Clock gather;                 /* of those who arrived */
    VEC(Clock) ended;             /* of all who had, when each phase ended */
    int64_t passed[MOST_WORKERS]; /* phases that the worker knows to have ended */
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
    Map known; /* loop variables, what loops carry and branches give */
    const Op *at;
    Bar *bar; /* that it waits for; NULL: it runs */
    int64_t parity;
    Clock clock;
    int64_t round; /* of the loop of unknown trips that it is in */
    bool done;
    Trap trap; /* of its own stack */
} Worker;

struct Check {
    Kernel *k;
    bool accepts; /* what is not proved, too */
    Arena *arena;
    const Op *spmd;
    Worker workers[MOST_WORKERS];
    int count;
    VEC(Bar *) bars;
    VEC(Access) accesses;
    VEC(Event) trace;
    Trap trap;
    int64_t trips, most_trips, steps;
    const Op *loop;      /* one of unknown ends, */
    int64_t end;         /* which is this in this run */
    bool *still;         /* by Ref: it was read from memory that nobody writes */
    bool several;        /* another one has another end: */
    Ref unknowns[MOST_UNKNOWNS]; /* what they are all made of, which has each of these values in turn */
    int unknown_count, value_count, at[MOST_UNKNOWNS];
    int64_t values[MOST_VALUES];
    int64_t fewest;      /* trips of a loop of unknown end, in this run */
    const Op *rounds;    /* a `while` of unknown trips, */
    int64_t most_rounds; /* so many in this run */
    Ref conditions[MOST_CONDITIONS];
    int condition_count;
    unsigned holds;      /* which of them do */
    const Op *where;     /* what went wrong, or is not known */
    const char *why;
    const Op *other;
    const char *other_text;
    Ref raced;           /* the tile that `where` and `other` touch in no order, */
    int here, there;     /* of these workers */
    bool unproved;
};

int64_t check_threads(const Check *c); /* of a worker */

#define say(c, ...) arena_printf((c)->k->module->arena, __VA_ARGS__)

void check_fail(Check *c, const Op *op, bool unproved, const char *why); /* the first counts */
bool check_number(const Worker *w, Ref ref, int64_t *out);
bool check_has_bars(const Check *c, const Op *op); /* an arrival, a wait, or a place where workers meet, inside */

Check *check_all(Kernel *k, Arena *scratch, const Op *spmd, const RolesRun *run); /* nothing is said yet */

/* roles_unknown.c */
void check_find_still(Check *c);
bool check_find_unknowns(Check *c); /* false: ends of loops are not made of a few numbers of the launch */
bool check_unknown(const Check *c, Ref ref, int64_t *out);
bool check_next_values(Check *c); /* false: all have been */
const char *check_values_text(const Check *c); /* "`n` is 3" */

/* roles_tiles.c: one access of a tile in shared memory. */
void check_access(Worker *w, const Op *op);

/* roles_report.c */
void check_names(Check *c); /* numbers of the source's own barriers */
void check_report_stuck(Check *c);
void check_report(Check *c);
#endif
