/* SPDX-License-Identifier: Apache-2.0 */
/* ring_check.c: proves or refutes that the roles of a kernel hand their items over.
 *
 * The roles are programs of hand-overs, loops and ifs, read from the kernel by ring_program.c, which checks the
 * protocol of each item; here they run beside each other.
 *
 * Per ring the state is three counts: acquired and not yet committed, committed and not yet waited for, waited for and
 * not yet released. An op raises its own role's counter and never makes another role's guard false. So what is enabled
 * stays enabled, and ONE complete schedule proves that every schedule completes, while a greedy run that sticks is a
 * real deadlock. The run below is greedy; roles that stand at the same loop, and share the rings inside of it, run its
 * body together, until the set of states repeats (it is finite: counts are at most the slots). Every state of that set
 * may be the one at the loop's end, so the proof holds for all trip counts, 0 included. An if runs both ways. The tasks
 * are one more loop around it all: each must end in the state in which it began, which also keeps phases right on
 * persistent workers.
 *
 * A cluster of blocks is proved from the rings of one of them (ring_group.c).
 *
 * Where loops do not match, all trip counts up to twice the slots and two are tried instead: that refutes, or
 * bounds. */
#include "pass/ring/ring_check.h"
#include "ir/ringform.h"
#include "pass/ring/ring_group.h"
#include "pass/ring/ring_program.h"

#include <string.h>

enum { MAX_STATES = 4096, MAX_STEPS = 1 << 20, MAX_NODES = 100000 };

/* Counts since the start of a task: what each role has done to each ring. Small differences matter, so states are
 * normalised (see settle) before they are compared. */
typedef struct State {
    int acquired[MAX_RINGS], committed[MAX_RINGS];
    int waited[MAX_RINGS][MAX_ROLES], released[MAX_RINGS][MAX_ROLES];
} State;

typedef struct Check {
    RingProgram *p;
    bool unmatched;
    long steps;
    int parked; /* roles that stand outside of the loop being run, with work left: being stuck proves nothing then */
    const int *trips; /* simulation: trip count or condition by id; NULL while proving */
} Check;

typedef struct StateSet {
    VEC(State) at;
} StateSet;
/* --- states --- */

static int least_released(const Check *c, const State *s, int ring) {
    const RingInfo *info = &c->p->rings[ring];
    int least = s->acquired[ring];
    for (int i = 0; i < info->consumer_count; i++) {
        int r = s->released[ring][info->consumers[i]];
        if (r < least) least = r;
    }
    return info->consumer_count ? least : 0;
}

static bool enabled(const Check *c, const State *s, int role, const Node *node) {
    switch (node->kind) {
    case NODE_ACQUIRE: {
        const RingInfo *info = &c->p->rings[node->ring];
        return s->acquired[node->ring] - least_released(c, s, node->ring) <
               info->slots - (info->late > 0 ? info->late : 0);
    }
    case NODE_WAIT: return s->waited[node->ring][role] < s->committed[node->ring];
    default: return true;
    }
}

static void apply(State *s, int role, const Node *node) {
    switch (node->kind) {
    case NODE_ACQUIRE: s->acquired[node->ring]++; break;
    case NODE_COMMIT: s->committed[node->ring]++; break;
    case NODE_WAIT: s->waited[node->ring][role]++; break;
    case NODE_RELEASE: s->released[node->ring][role]++; break;
    default: break;
    }
}

/* Only differences matter: everything counts from the last release. */
static State settle(const Check *c, State s) {
    for (int i = 0; i < c->p->ring_count; i++) {
        int base = least_released(c, &s, i);
        s.acquired[i] -= base, s.committed[i] -= base;
        for (int n = 0; n < c->p->rings[i].consumer_count; n++) {
            int role = c->p->rings[i].consumers[n];
            s.waited[i][role] -= base, s.released[i][role] -= base;
        }
    }
    return s;
}

static bool add_state(Check *c, StateSet *set, const State *s) {
    State settled = settle(c, *s);
    for (size_t i = 0; i < set->at.count; i++)
        if (memcmp(&set->at.at[i], &settled, sizeof settled) == 0) return false;
    *VEC_PUSH(&set->at, c->p->arena) = settled;
    return true;
}

/* --- the run --- */

typedef struct Cursor {
    const Sequence *sequence;
    size_t at;
} Cursor;

static const Node *next_node(const Cursor *cursor) {
    return cursor->at < cursor->sequence->nodes.count ? cursor->sequence->nodes.at[cursor->at] : NULL;
}

static const char *node_text(Check *c, const Node *node) {
    static const char *const names[] = {"acquire", "commit", "wait", "release"};
    if (!node) return "has ended";
    if (node->kind == NODE_LOOP) return "stands at a loop";
    if (node->kind == NODE_IF) return "stands at an if";
    return arena_printf(c->p->arena, "waits in `%s %s`", names[node->kind], c->p->rings[node->ring].name);
}

static void report_stuck(Check *c, const State *s, const Cursor *cursors) {
    Diag *diag = c->p->cx->module->diag;
    int first = -1;
    for (int i = 0; i < c->p->role_count && first < 0; i++) {
        const Node *node = next_node(&cursors[i]);
        if (node && (node->kind == NODE_ACQUIRE || node->kind == NODE_WAIT)) first = i;
    }
    if (first < 0) first = 0;
    const Node *at = next_node(&cursors[first]);
    ring_program_refute(c->p, DIAG_RING_DEADLOCK, at ? at->op->range : c->p->roles[first].op->range,
                        c->p->roles[first].name, node_text(c, at));
    for (int i = 0; i < c->p->role_count; i++) {
        const Node *node = next_node(&cursors[i]);
        if (i != first)
            diag_emit(diag, DIAG_NOTE_HERE, node ? node->op->range : c->p->roles[i].op->range,
                      arena_printf(c->p->arena, "role `%s` %s", c->p->roles[i].name, node_text(c, node)));
    }
    for (int i = 0; i < c->p->ring_count; i++) {
        Text counts = text_new(c->p->arena);
        text_add(&counts, "ring `%s`: %lld slots, %d acquired, %d committed", c->p->rings[i].name,
                 (long long)c->p->rings[i].slots, s->acquired[i], s->committed[i]);
        for (int n = 0; n < c->p->rings[i].consumer_count; n++)
            text_add(&counts, ", %d waited for and %d released by `%s`", s->waited[i][c->p->rings[i].consumers[n]],
                     s->released[i][c->p->rings[i].consumers[n]], c->p->roles[c->p->rings[i].consumers[n]].name);
        diag_emit(diag, DIAG_NOTE_HERE, c->p->rings[i].op->range, counts.at);
    }
}

static void run(Check *c, const Cursor *start, const State *from, StateSet *ends);

/* The roles that have to go through a loop or if together with role `first`: all that hand over what is handed over
 * inside. False when one of them is not there, or stands at another loop. */
static bool find_members(const Check *c, const Cursor *cursors, int first, bool *member) {
    const Node *lead = next_node(&cursors[first]);
    unsigned rings = lead->rings, met = 0;
    for (int i = 0; i < c->p->role_count; i++) member[i] = i == first;
    while (met != rings) {
        met = rings;
        for (int i = 0; i < c->p->ring_count; i++) {
            if (!(met >> i & 1)) continue;
            for (int n = -1; n < c->p->rings[i].consumer_count; n++) {
                int role = n < 0 ? c->p->rings[i].producer : c->p->rings[i].consumers[n];
                const Node *own = next_node(&cursors[role]);
                if (!own || own->kind != lead->kind || own->id != lead->id || !(own->rings >> i & 1)) return false;
                member[role] = true;
                rings |= own->rings;
            }
        }
    }
    return true;
}

/* The members run the node's loop or if together; the others wait. Every state it can leave behind goes on from
 * there. */
static void run_together(Check *c, const Cursor *cursors, const Node *node, const bool *member, const State *from,
                         StateSet *ends) {
    static const Sequence nothing;
    StateSet seen = {0}, drained = {0};
    Cursor after[MAX_ROLES], inside[MAX_ROLES];
    int parked = 0;
    for (int i = 0; i < c->p->role_count; i++) {
        const Node *own = next_node(&cursors[i]);
        after[i] = cursors[i];
        after[i].at += member[i];
        parked += own && !member[i];
    }
    c->parked += parked;
    int ways = node->kind == NODE_IF ? 2 : 1;
    bool rotated = false;
    for (int i = 0; i < c->p->role_count; i++) rotated |= member[i] && next_node(&cursors[i])->rotated;
    if (node->kind == NODE_LOOP) add_state(c, rotated ? &drained : &seen, from); /* no trip at all */
    if (rotated) {                                                               /* the first trip */
        for (int i = 0; i < c->p->role_count; i++) {
            const Node *own = member[i] ? next_node(&cursors[i]) : NULL;
            inside[i] = (Cursor){own ? &own->body[own->rotated] : &nothing, 0};
        }
        run(c, inside, from, &seen);
    }
    for (int way = 0; way < ways; way++) {
        for (int i = 0; i < c->p->role_count; i++)
            inside[i] = (Cursor){member[i] ? &next_node(&cursors[i])->body[way] : &nothing, 0};
        if (node->kind == NODE_IF)
            run(c, inside, from, &seen);
        else
            for (size_t i = 0; i < seen.at.count && !c->p->refuted; i++) {
                State state = seen.at.at[i];
                run(c, inside, &state, &seen);
                if (seen.at.count > MAX_STATES) c->unmatched = true;
                if (c->unmatched) break;
            }
    }
    if (rotated) { /* what the last trip left to do */
        for (int i = 0; i < c->p->role_count; i++)
            inside[i] =
                (Cursor){member[i] && next_node(&cursors[i])->rotated ? &next_node(&cursors[i])->drain : &nothing, 0};
        for (size_t i = 0; i < seen.at.count && !c->p->refuted && !c->unmatched; i++) {
            State state = seen.at.at[i];
            run(c, inside, &state, &drained);
        }
        seen = drained;
    }
    c->parked -= parked;
    for (size_t i = 0; i < seen.at.count && !c->p->refuted && !c->unmatched; i++) {
        State state = seen.at.at[i];
        run(c, after, &state, ends);
    }
}

static void run(Check *c, const Cursor *start, const State *from, StateSet *ends) {
    Cursor cursors[MAX_ROLES];
    State state = *from;
    memcpy(cursors, start, sizeof *cursors * (size_t)c->p->role_count);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < c->p->role_count; i++)
            for (const Node *node;
                 (node = next_node(&cursors[i])) && node->kind < NODE_LOOP && enabled(c, &state, i, node);
                 moved = true) {
                apply(&state, i, node);
                cursors[i].at++;
            }
    }
    if (++c->steps > MAX_STEPS) c->unmatched = true;
    if (c->unmatched || c->p->refuted) return;
    const Node *meeting = NULL;
    bool ended = true, at_loop = false, member[MAX_ROLES];
    for (int i = 0; i < c->p->role_count && !meeting; i++) {
        const Node *node = next_node(&cursors[i]);
        ended = ended && !node;
        if (!node || node->kind < NODE_LOOP) continue;
        at_loop = true;
        if (find_members(c, cursors, i, member)) meeting = node;
    }
    if (ended) {
        add_state(c, ends, &state);
        return;
    }
    if (meeting)
        run_together(c, cursors, meeting, member, &state, ends);
    else if (at_loop || c->parked)
        c->unmatched = true;
    else
        report_stuck(c, &state, cursors);
}

/* --- bounded simulation, when loops do not match --- */

static void expand(Check *c, const Sequence *from, Sequence *into) {
    for (size_t i = 0; i < from->nodes.count && into->nodes.count < MAX_NODES; i++) {
        Node *node = from->nodes.at[i];
        if (node->kind == NODE_LOOP) {
            int64_t trips = node->count >= 0 ? node->count : c->trips[node->id];
            for (int64_t n = 0; n < trips; n++) expand(c, &node->body[n == 0 && node->rotated], into);
            if (node->rotated && trips > 0) expand(c, &node->drain, into);
        } else if (node->kind == NODE_IF)
            expand(c, &node->body[c->trips[node->id] == 0], into);
        else
            *VEC_PUSH(&into->nodes, c->p->arena) = node;
    }
}

static void simulate(Check *c) {
    int64_t slots = 1;
    for (int i = 0; i < c->p->ring_count; i++)
        if (c->p->rings[i].slots > slots) slots = c->p->rings[i].slots;
    int ids = ring_number_count(c->p->numbers), most = (int)(slots > 8 ? 8 : slots) * 2 + 2;
    int *trips = ARENA_ARRAY(c->p->arena, int, ids + 1);
    c->trips = trips;
    for (long tried = 0; tried < 20000 && !c->p->refuted; tried++) {
        ArenaMark mark = arena_mark(c->p->arena);
        Cursor cursors[MAX_ROLES];
        Sequence flat[MAX_ROLES] = {0};
        StateSet ends = {0};
        State zero = {0};
        bool cut_off = false; /* too long a program: it tells nothing */
        for (int i = 0; i < c->p->role_count; i++) {
            for (int task = 0; task < 2; task++) expand(c, &c->p->roles[i].program, &flat[i]);
            cursors[i] = (Cursor){&flat[i], 0};
            cut_off |= flat[i].nodes.count >= MAX_NODES;
        }
        c->unmatched = false;
        c->steps = 0;
        if (!cut_off) run(c, cursors, &zero, &ends);
        State end = {0};
        if (!c->p->refuted && ends.at.count && memcmp(&ends.at.at[0], &end, sizeof end) != 0)
            ring_program_refute(c->p, DIAG_RING_LEFT_OVER, c->p->roles[0].op->range, "two tasks");
        arena_reset(c->p->arena, mark);
        int at = 0;
        while (at < ids && ++trips[at] > most) trips[at++] = 0;
        if (at == ids) break;
    }
}

/* --- ends --- */

/* The ring says who fills it and who empties it, as the roles do; what the text leaves out is added. */
static void settle_ends(Check *c, RingInfo *ring) {
    Word from = ring_producer(ring->op), to = ring_consumer(ring->op);
    Word filler = c->p->roles[ring->producer].word, emptier = c->p->roles[ring->consumers[0]].word;
    if (!from) op_set(c->p->k, (Op *)ring->op, (Attr){.id = AT_PRODUCER, .word = from = filler});
    if (!to) op_set(c->p->k, (Op *)ring->op, (Attr){.id = AT_CONSUMER, .word = to = emptier});
    bool empties = false;
    for (int i = 0; i < ring->consumer_count; i++) empties |= to == c->p->roles[ring->consumers[i]].word;
    if (!empties || from != filler)
        ring_program_refute(c->p, DIAG_RING_ENDS, ring->op->range, ring->name, word_info[from].text, word_info[to].text,
                            word_info[filler].text, word_info[emptier].text);
}

/* --- capacity --- */

static void check_capacity(Check *c) {
    int64_t total = 0;
    Text table = text_new(c->p->arena);
    for (int i = 0; i < c->p->ring_count; i++) {
        const Type *type = ir_type(c->p->k, c->p->rings[i].ref);
        int64_t bytes = 0;
        for (int f = 0; f < type->field_count; f++)
            bytes += ty_elements(type->fields[f].type) * ty_elem_bytes(type->fields[f].type);
        text_add(&table, "%s`%s` %lld x %lld bytes", i ? ", " : "", c->p->rings[i].name,
                 (long long)c->p->rings[i].slots, (long long)bytes);
        int64_t parts = op_int(c->p->rings[i].op, AT_PARTS, 2); /* two have room */
        if (!op_attr(c->p->rings[i].op, AT_OVERLAY))
            total += bytes * c->p->rings[i].slots * 2 / (parts > 2 ? parts : 2);
    }
    if (total > c->p->cx->machine->ring_bytes)
        ring_program_refute(c->p, DIAG_RING_CAPACITY, c->p->rings[0].op->range, (long long)total,
                            (long long)c->p->cx->machine->ring_bytes, table.at);
}
RingVerdict ring_check(PassContext *cx, Kernel *k) {
    Check *c = &(Check){.p = ring_program_read(cx, k)};
    const Op *tasks = c->p->tasks;
    if (c->p->refuted) return RING_REFUTED;
    if (!tasks || !c->p->ring_count) return RING_PROVED;
    for (int i = 0; i < c->p->ring_count && !c->p->refuted; i++) {
        int64_t hold = op_int(c->p->rings[i].op, AT_HOLD, 1);
        if (c->p->rings[i].slots < hold)
            ring_program_refute(c->p, DIAG_RING_TOO_FEW_SLOTS, c->p->rings[i].op->range, c->p->rings[i].name,
                                (long long)c->p->rings[i].slots, (long long)hold);
        if (c->p->rings[i].producer < 0 || !c->p->rings[i].consumer_count)
            ring_program_refute(c->p, DIAG_RING_ONE_SIDED, c->p->rings[i].op->range, c->p->rings[i].name);
        if (!c->p->refuted) settle_ends(c, &c->p->rings[i]);
    }
    if (!c->p->refuted) check_capacity(c);
    if (!c->p->refuted && op_attr(tasks, AT_CLUSTER)) c->p->refuted = !ring_group_check(cx, k, tasks);
    if (c->p->refuted) return RING_REFUTED;
    StateSet seen = {0};
    State zero = {0};
    Cursor cursors[MAX_ROLES];
    for (int i = 0; i < c->p->role_count; i++) cursors[i] = (Cursor){&c->p->roles[i].program, 0};
    run(c, cursors, &zero, &seen);
    for (size_t i = 0; i < seen.at.count && !c->p->refuted && !c->unmatched; i++)
        if (memcmp(&seen.at.at[i], &zero, sizeof zero) != 0)
            ring_program_refute(c->p, DIAG_RING_LEFT_OVER, tasks->range, "a task");
    if (!c->unmatched || c->p->refuted) return c->p->refuted ? RING_REFUTED : RING_PROVED;
    simulate(c);
    return c->p->refuted ? RING_REFUTED : RING_BOUNDED;
}
