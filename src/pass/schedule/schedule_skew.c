/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_skew.c: load and compute on the same threads, the loads some trips ahead.
 *
 * A role that fills rings and runs `on` the role that empties them is no branch of its own: its text is written into
 * that role's. Which loops are one is found here by walking both roles at once, as the text will: what is waited for
 * must have been loaded. They get the same `twin`; an innermost one also how far ahead its loads run (`ahead`, as far
 * as the slots allow: slots - hold), others and branches around them run in step.
 *
 *     role load<on=compute> { for<twin=1> { acquire ; put ; commit } }
 *     role compute          { for<twin=1, ahead=2> { wait ; .. ; release } }
 *  -> for (2 items) load ;  for (..) { wait for the item ; load (item + 2) ; compute (item) } */
#include "pass/schedule/schedule.h"

#include <string.h>

typedef struct Skew {
    Schedule *s;
    Op *load;    /* where the load role stands */
    bool proves; /* that the attributes say this, instead of setting them */
    int count;   /* of loops that are one with another */
    int *filled; /* by Ref of the ring: items loaded on the way to what was needed before */
} Skew;

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static bool is_skewed(const Schedule *s, Ref ring) {
    return op_word(ir_value(s->k, ring)->op, AT_MEANS, MEANS_TMA) == MEANS_ASYNC;
}

static bool takes(const Schedule *s, const Op *op, Opcode code) {
    if (op->code == code && is_skewed(s, op->operands[0])) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (takes(s, inner, code)) return true;
    return false;
}

/* A loop that takes items, perhaps in a branch. */
static bool has_inner(const Schedule *s, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_FOR && takes(s, op, OP_WAIT)) return true;
        for (int i = 0; op->code == OP_IF && i < op->region_count; i++)
            if (has_inner(s, op->regions[i])) return true;
    }
    return false;
}

/* Items of the ring that one run of the region fills at most; -1: that depends on a loop. */
static int64_t items(const Region *region, Ref ring) {
    int64_t count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        int64_t most = op->code == OP_ACQUIRE && op->operands[0] == ring;
        for (int i = 0; i < op->region_count; i++) {
            int64_t own = items(op->regions[i], ring);
            if (own < 0 || (own > 0 && op->code != OP_IF)) return -1;
            if (own > most) most = own;
        }
        count += most;
    }
    return count;
}

/* How far ahead the slots of the rings filled in the loop let its loads run: beside them lie the items of the trip, and
 * those that a consumer still holds. -1: not even the items of one trip have room. */
static int64_t distance(const Schedule *s, const Op *loop) {
    int64_t least = MAX_SLOTS;
    for (const Op *op = s->k->body->first; op; op = op->next) {
        int64_t count =
            op->code == OP_RING && is_skewed(s, op->results[0]) ? items(loop->regions[0], op->results[0]) : 0;
        int64_t slots = op_int(op, AT_SLOTS, 1), hold = op_int(op, AT_HOLD, 1);
        if (!count) continue;
        if (count < 0 || count > slots) return -1;
        int64_t own = slots < hold ? 0 : (slots - (hold > count ? hold : count)) / count;
        if (own < least) least = own;
    }
    return least == MAX_SLOTS ? 0 : least;
}

/* The load role goes on up to the op (NULL: to the end of the region). */
static void run_to(Skew *w, const Op *until) {
    for (; w->load && w->load != until; w->load = w->load->next)
        if (w->load->code == OP_COMMIT) w->filled[w->load->operands[0]]++;
}

static bool catch_up(Skew *w, const Op *wait) {
    Ref ring = wait->operands[0];
    const Op *commit = w->load;
    if (w->filled[ring]) {
        w->filled[ring]--;
        return true;
    }
    while (commit && !(commit->code == OP_COMMIT && commit->operands[0] == ring)) commit = commit->next;
    if (!commit) return schedule_fail(w->s, wait, "a hand-over whose other side stands elsewhere");
    run_to(w, commit->next);
    w->filled[ring]--;
    return true;
}

/* Copies of a warp that one turn of the loop makes at least, or -1: it waits in another way than by counting them. */
static int64_t copies_of(const Schedule *s, const Op *loop) {
    int64_t copies = 0;
    if (!s->cx->machine->counted_loads) return -1;
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op->code == OP_PUT && layout_put_mover(s->k, op) == MOVER_ASYNC) {
            const Op *load = ir_value(s->k, op_operand(op, 1))->op;
            copies += schedule_layout(s->k, load->results[0])->registers / access_of(load).vector;
        }
    return copies;
}

/* How many may be under way when a trip begins: those of the later turns, which are issued by then. Other loads of the
 * threads among them only make the wait longer. */
static int64_t may_fly(const Schedule *s, const Op *other, int64_t ahead) {
    int64_t copies = ahead > 1 ? copies_of(s, other) * (ahead - 1) : 0, most = s->cx->machine->counted_loads;
    return copies < most ? copies : most;
}

/* The two loops are one, the loads at most so many trips ahead. */
static bool join(Skew *w, Op *loop, Op *other, int64_t ahead) {
    Kernel *k = w->s->k;
    Attr twin = {.id = AT_TWIN, .number = ++w->count};
    if (w->proves) {
        bool same = op_int(loop, AT_TWIN, 0) == w->count && op_int(other, AT_TWIN, 0) == w->count;
        int64_t own = op_int(loop, AT_AHEAD, 0);
        if (same && own <= ahead && op_int(loop, AT_FLYING, 0) > larger(may_fly(w->s, other, own), 0))
            return schedule_fail(w->s, loop, "`flying` is more than the copies of the turns behind the one waited for");
        if (same && own <= ahead && !op_attr(other, AT_AHEAD)) return true;
        return schedule_fail(w->s, loop,
                             same ? "`ahead` is more than the slots of its rings allow"
                                  : "`twin` counts the loops and branches that are one, in their order");
    }
    op_set(k, loop, twin);
    op_set(k, other, twin);
    if (ahead) op_set(k, loop, (Attr){.id = AT_AHEAD, .number = ahead});
    int64_t flying = may_fly(w->s, other, ahead);
    if (flying > 0) op_set(k, loop, (Attr){.id = AT_FLYING, .number = flying});
    if (ahead && w->s->cx->machine->counted_loads)
        pass_find(w->s->cx, loop->range, FIND_LOADS_COUNTED, (long long)ahead, ahead == 1 ? "" : "s",
                  (long long)copies_of(w->s, other), (long long)larger(flying, 0));
    return true;
}

static bool match_region(Skew *w, Region *region);

/* The next loop or branch of the load role that fills rings. */
static Op *find_other(Skew *w, const Op *op) {
    Op *other = w->load;
    while (other && !(other->code == op->code && takes(w->s, other, OP_ACQUIRE))) other = other->next;
    if (!other) schedule_fail(w->s, op, "a loop or branch that its load role does not have in the same form");
    run_to(w, other);
    return other;
}

/* A branch outside of the loops that run ahead: both roles take the same side, and end it with nothing loaded that is
 * still to be waited for. */
static bool match_branch(Skew *w, Op *branch) {
    Op *other = find_other(w, branch);
    if (!other || !join(w, branch, other, 0)) return false;
    size_t bytes = w->s->k->values.count * sizeof *w->filled;
    const int *before = arena_copy(w->s->arena, w->filled, bytes);
    for (int i = 0; i < branch->region_count; i++) {
        w->load = other->regions[i]->first;
        if (!match_region(w, branch->regions[i])) return false;
        run_to(w, NULL);
        if (memcmp(before, w->filled, bytes) != 0)
            return schedule_fail(w->s, branch, "a branch that does not wait for all that it loads");
    }
    w->load = other->next;
    return true;
}

static bool match_loop(Skew *w, Op *loop) {
    Op *other = find_other(w, loop);
    if (!other) return false;
    bool inner = has_inner(w->s, loop->regions[0]);
    int64_t ahead = inner ? 0 : distance(w->s, other);
    if (ahead < 0) return schedule_fail(w->s, other, "a loop that loads more items a trip than its ring has slots");
    if (!join(w, loop, other, ahead)) return false;
    if (inner) {
        w->load = other->regions[0]->first;
        if (!match_region(w, loop->regions[0])) return false;
        run_to(w, NULL);
    }
    w->load = other->next;
    return true;
}

static bool match_region(Skew *w, Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        if (!takes(w->s, op, OP_WAIT)) continue;
        if (op->code == OP_WAIT) {
            if (!catch_up(w, op)) return false;
        } else if (op->code != OP_FOR && op->code != OP_IF) {
            return schedule_fail(w->s, op, "hand-overs to threads that load for themselves");
        } else if (op->code == OP_IF ? !match_branch(w, op) : !match_loop(w, op)) {
            return false;
        }
    }
    return true;
}

/* The role that runs on this one and fills rings ahead of it. */
static const Op *feeder(const Schedule *s, const Op *role) {
    const Op *found = NULL;
    for (const Op *op = role_first(s->tasks); op; op = role_next(op))
        if (role_host(op) == role_name(role) && takes(s, op, OP_ACQUIRE)) found = op;
    return found;
}

static bool match_roles(Schedule *s, bool proves, int *count) {
    for (Op *role = s->tasks->regions[s->tasks->region_count - 1]->first; role; role = role->next) {
        if (role->code != OP_ROLE || role_is_guest(role)) continue;
        const Op *load = feeder(s, role);
        Skew w = {.s = s, .proves = proves, .count = *count};
        w.load = load ? load->regions[0]->first : NULL;
        w.filled = ARENA_ARRAY(s->arena, int, s->k->values.count);
        if (takes(s, role, OP_ACQUIRE) || (!load && takes(s, role, OP_WAIT)))
            return schedule_fail(s, role,
                                 "a ring filled by cp.async is of a role that runs on the one that empties it");
        if (load && !match_region(&w, role->regions[0])) return false;
        *count = w.count;
    }
    return true;
}

bool schedule_skew(Schedule *s) {
    int count = 0;
    return match_roles(s, false, &count);
}

typedef struct Twins {
    int count;
    const Op *last;
} Twins;

static void count_twin(Op *op, void *user) {
    Twins *twins = user;
    if (op_attr(op, AT_TWIN)) *twins = (Twins){twins->count + 1, op};
}

bool schedule_skew_holds(Schedule *s) {
    int count = 0;
    Twins twins = {0};
    if (s->tasks && !match_roles(s, true, &count)) return false;
    ir_walk(s->k->body, count_twin, &twins);
    return twins.count == 2 * count ||
           schedule_fail(s, twins.last, "`twin` stands on a loop or branch that is no other's");
}
