/* ring_check.c: proves or refutes that the roles of a kernel hand their items over.
 *
 * Each role becomes a small program of hand-overs: acquire, commit, wait and release of a ring, loops and ifs around
 * them. Loops and conditions are known by number (ring_number.c), so that "the same loop" in two roles is seen even
 * though each role computes its own bounds.
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
 * A turned loop (`rotate`, ring_rotate.c) hands over its head in the first trip, in the others its head and the tail of
 * the trip before, and the last tail behind the loop; the roles that it meets run plain trips beside it.
 *
 * A phase of a slot's barrier is one item, and ends when the bytes that its acquire announced have landed. So the
 * `bytes` that the schedule gives acquires and puts are counted item by item: more would never come, and the consumer
 * would wait for ever; with fewer it would read what has not landed.
 *
 * The same holds for arrivals: each thread of the role arrives once behind its stores and once when its copies have
 * landed, as the commit says, and one that runs the role alone arrives with the bytes. That must be as many as the
 * barrier was made for, and of the kinds that the item's puts are.
 *
 * A cluster of blocks is proved from the rings of one of them (ring_group.c).
 *
 * Where loops do not match, all trip counts up to twice the slots and two are tried instead: that refutes, or
 * bounds. */
#include "pass/ring/ring_check.h"
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/ring/ring_group.h"
#include "pass/ring/ring_number.h"
#include "pass/ring/ring_rotate.h"

#include <string.h>

enum { MAX_STATES = 4096, MAX_STEPS = 1 << 20 };

typedef enum NodeKind { NODE_ACQUIRE, NODE_COMMIT, NODE_WAIT, NODE_RELEASE, NODE_LOOP, NODE_IF } NodeKind;

typedef struct Node Node;
typedef struct Sequence {
    VEC(Node *) nodes;
} Sequence;
struct Node {
    NodeKind kind;
    int ring;       /* of a hand-over */
    int id;         /* of a loop's trip count or an if's condition: equal values, equal ids */
    int64_t count;  /* of a loop with constant bounds; else -1 */
    unsigned rings; /* of a loop or if: those that are handed over inside, as bits */
    const Op *op;
    Sequence body[2]; /* LOOP: [0]; IF: taken, not taken */
    bool rotated;     /* LOOP whose first trip is body[1], whose others are body[0], and which ends with `drain` */
    Sequence drain;
};

typedef struct RingInfo {
    Ref ref;
    const Op *op;
    const char *name;
    int64_t slots;
    int producer;             /* role, -1: none yet */
    int consumers[MAX_ROLES]; /* roles that wait on it */
    int consumer_count;
    int64_t late; /* releases that a target may still owe, by `hold` */
} RingInfo;

typedef struct View { /* a value that lies in a slot */
    Ref value, slot;
    bool released;
} View;

typedef struct RoleInfo {
    Word word;
    const char *name;
    const Op *op;
    Sequence program;
} RoleInfo;

/* Counts since the start of a task: what each role has done to each ring. Small differences matter, so states are
 * normalised (see settle) before they are compared. */
typedef struct State {
    int acquired[MAX_RINGS], committed[MAX_RINGS];
    int waited[MAX_RINGS][MAX_ROLES], released[MAX_RINGS][MAX_ROLES];
} State;

typedef struct Check {
    PassContext *cx;
    Kernel *k;
    Arena *arena;
    RingInfo rings[MAX_RINGS];
    int ring_count;
    RoleInfo roles[MAX_ROLES];
    int role_count;
    VEC(View) views; /* of the role being read */
    RingNumbers *numbers;
    bool refuted, unmatched;
    long steps;
    int parked; /* roles that stand outside of the loop being run, with work left: being stuck proves nothing then */
    const int *trips; /* simulation: trip count or condition by id; NULL while proving */
} Check;

typedef struct StateSet {
    VEC(State) at;
} StateSet;

static void refute(Check *c, DiagId id, Range range, ...) {
    va_list args;
    va_start(args, range);
    if (!c->refuted) diag_vemit(c->cx->module->diag, id, range, args);
    va_end(args);
    c->refuted = true;
}

/* --- from IR to programs, checking the protocol on the way --- */

static int find_ring(Check *c, Ref ref) {
    for (int i = 0; i < c->ring_count; i++)
        if (c->rings[i].ref == ref) return i;
    return -1;
}

typedef struct Held { /* slots that a role has at a place of its body */
    Ref slot;
    int ring;
    bool producing;
    uint32_t put;        /* fields written, as bits */
    int64_t missing;     /* bytes that were announced and not copied yet */
    bool stores, copies; /* puts that threads store, that they copy */
    const Op *op;
} Held;
typedef struct Hands {
    VEC(Held) at;
} Hands;

static int find_held(const Hands *h, Ref slot) {
    for (size_t i = 0; i < h->at.count; i++)
        if (h->at.at[i].slot == slot) return (int)i;
    return -1;
}

static void drop_held(Hands *h, int index) {
    for (size_t i = (size_t)index; i + 1 < h->at.count; i++) h->at.at[i] = h->at.at[i + 1];
    h->at.count--;
}

static int64_t constant_trips(const Kernel *k, const Op *loop) {
    int64_t lo, hi, step;
    if (loop->code != OP_FOR || !ir_const_int(k, loop->operands[0], &lo) || !ir_const_int(k, loop->operands[1], &hi) ||
        !ir_const_int(k, loop->operands[2], &step) || step < 1 || hi - lo > 64 * step)
        return -1;
    return hi > lo ? (hi - lo + step - 1) / step : 0;
}

static unsigned rings_inside(const Node *node) {
    unsigned rings = node->ring >= 0 ? 1u << node->ring : 0;
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < node->body[b].nodes.count; i++) rings |= rings_inside(node->body[b].nodes.at[i]);
    return rings;
}

static Node *add_node(Check *c, Sequence *into, NodeKind kind, int ring, const Op *op) {
    Node *node = ARENA_NEW(c->arena, Node);
    *node = (Node){.kind = kind, .ring = ring, .op = op};
    *VEC_PUSH(&into->nodes, c->arena) = node;
    return node;
}

static void begin_item(Check *c, int role, const Op *op, Sequence *into, Hands *hands) {
    int ring = find_ring(c, op->operands[0]);
    bool producing = op->code == OP_ACQUIRE;
    if (ring < 0) return;
    RingInfo *info = &c->rings[ring];
    if (producing) {
        if (info->producer >= 0 && info->producer != role)
            refute(c, DIAG_RING_TWO_PRODUCERS, op->range, info->name, c->roles[info->producer].name,
                   c->roles[role].name);
        info->producer = role;
    } else {
        bool known = false;
        for (int i = 0; i < info->consumer_count; i++) known |= info->consumers[i] == role;
        if (!known) info->consumers[info->consumer_count++] = role;
    }
    int64_t announced = producing ? op_int(op, AT_COPIED, 0) : 0;
    *VEC_PUSH(&hands->at, c->arena) =
        (Held){.slot = op->results[0], .ring = ring, .producing = producing, .missing = announced, .op = op};
    int64_t held = 0;
    for (size_t i = 0; i < hands->at.count; i++) held += hands->at.at[i].ring == ring && !hands->at.at[i].producing;
    int64_t owed = op_int(info->op, AT_HOLD, 1) - held;
    if (!producing && (info->late < 0 || owed < info->late)) info->late = owed < 0 ? 0 : owed;
    add_node(c, into, producing ? NODE_ACQUIRE : NODE_WAIT, ring, op);
}

/* The commit of an item of a ring with barriers (schedule form): who arrives, and does the item wait for all its puts?
 */
static void check_arrivals(Check *c, const Op *role, const Op *commit, const Held *h) {
    const Attr *counts = op_attr(c->rings[h->ring].op, AT_COUNTS);
    if (!counts || counts->list.count != 2) return;
    Word arrive = op_word(commit, AT_ARRIVE, WORD_NONE);
    int64_t threads = op_flag(role, AT_ELECT) ? 1 : op_int(role, AT_ROLE_WARPS, 0) * c->cx->machine->lanes;
    int64_t arrivals = arrive == ARRIVE_BOTH ? 2 * threads : threads;
    if (arrivals != counts->list.at[0])
        refute(c, DIAG_RING_ARRIVALS, commit->range, c->rings[h->ring].name, (long long)arrivals,
               (long long)counts->list.at[0]);
    if ((h->copies && !arrive) || (h->stores && arrive == ARRIVE_COPIES))
        refute(c, DIAG_RING_UNSEEN, commit->range, c->rings[h->ring].name, h->copies && !arrive ? "copies" : "stores");
}

static void end_item(Check *c, int role, const Op *op, Sequence *into, Hands *hands) {
    int held = find_held(hands, op->operands[1]), ring = find_ring(c, op->operands[0]);
    bool commits = op->code == OP_COMMIT;
    if (held < 0 || hands->at.at[held].producing != commits || hands->at.at[held].ring != ring) {
        refute(c, commits ? DIAG_RING_DOUBLE_COMMIT : DIAG_RING_DOUBLE_RELEASE, op->range,
               ring >= 0 ? c->rings[ring].name : "?");
        return;
    }
    const Held *h = &hands->at.at[held];
    int fields = c->rings[ring].op->result_count ? ir_type(c->k, c->rings[ring].ref)->field_count : 0;
    if (commits && h->put != (uint32_t)((UINT64_C(1) << fields) - 1)) {
        int missing = 0;
        while (h->put >> missing & 1) missing++;
        refute(c, DIAG_RING_FIELD_MISSING, op->range, c->rings[ring].name,
               ir_type(c->k, c->rings[ring].ref)->fields[missing].name);
    }
    if (commits && h->missing) refute(c, DIAG_RING_BYTES, op->range, c->rings[ring].name, (long long)h->missing);
    if (commits) check_arrivals(c, c->roles[role].op, op, h);
    /* Items go in order: the oldest one held of this ring first. */
    for (int i = 0; i < held; i++)
        if (hands->at.at[i].ring == ring && hands->at.at[i].producing == commits)
            refute(c, DIAG_RING_ORDER, op->range, c->rings[ring].name);
    for (size_t i = 0; i < c->views.count; i++) c->views.at[i].released |= c->views.at[i].slot == op->operands[1];
    drop_held(hands, held);
    add_node(c, into, commits ? NODE_COMMIT : NODE_RELEASE, ring, op);
}

static void use_item(Check *c, const Op *op, Hands *hands) {
    int held = find_held(hands, op->operands[0]);
    bool puts = op->code == OP_PUT;
    if (held < 0 || hands->at.at[held].producing != puts) {
        refute(c, puts ? DIAG_RING_LATE_PUT : DIAG_RING_LATE_GET, op->range);
        return;
    }
    if (!puts) return;
    Held *h = &hands->at.at[held];
    uint32_t bit = UINT32_C(1) << hand_field(op);
    if (op->list_count[0] == 0 && (h->put & bit)) refute(c, DIAG_RING_PUT_TWICE, op->range, hand_field_name(c->k, op));
    h->put |= bit;
    Word mover = layout_put_mover(c->k, op);
    h->stores |= mover == MOVER_LANES;
    h->copies |= mover == MOVER_ASYNC;
    h->missing -= op_int(op, AT_COPIED, 0);
}

/* Nothing looks into a slot that was given back; a view of a view is one too. */
static void check_views(Check *c, const Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        for (size_t v = 0; v < c->views.count; v++) {
            const View view = c->views.at[v];
            if (view.value != op->operands[i]) continue;
            if (view.released) refute(c, DIAG_RING_LATE_GET, op->range);
            bool same = op->code == OP_PERMUTE || op->code == OP_RESHAPE || op->code == OP_EXPAND ||
                        op->code == OP_BROADCAST || op->code == OP_SLICE;
            if (same) *VEC_PUSH(&c->views, c->arena) = (View){op->results[0], view.slot, false};
        }
    if (op->code == OP_GET && !op_flag(op, AT_COPY))
        *VEC_PUSH(&c->views, c->arena) = (View){op->results[0], op->operands[0], false};
}

static bool same_hands(const Hands *a, const Hands *b) {
    if (a->at.count != b->at.count) return false;
    for (size_t i = 0; i < a->at.count; i++)
        if (a->at.at[i].slot != b->at.at[i].slot || a->at.at[i].put != b->at.at[i].put ||
            a->at.at[i].missing != b->at.at[i].missing)
            return false;
    return true;
}

static Hands copy_hands(Check *c, const Hands *from) {
    Hands copy = {0};
    for (size_t i = 0; i < from->at.count; i++) *VEC_PUSH(&copy.at, c->arena) = from->at.at[i];
    return copy;
}

/* From the plain body's hand-overs to those of the turned loop's trips. */
static void rotate_loop(Check *c, Node *node) {
    Rotation r;
    if (!op_flag(node->op, AT_ROTATE) || !rotation_find(c->k, node->op, c->arena, &r)) return;
    Sequence plain = node->body[0], whole = {0};
    for (int step = 0; step < 4; step++) { /* head up to the first product, tail, head, tail's releases */
        bool early = true;
        size_t at = 0;
        for (const Op *op = node->op->regions[0]->first; op; op = op->next) {
            if (op == r.first) early = false;
            if (at == plain.nodes.count || plain.nodes.at[at]->op != op) continue;
            Node *own = plain.nodes.at[at++];
            bool tail = rotation_part(&r, op) == ROTATE_TAIL, gives = own->kind == NODE_RELEASE;
            int place = tail ? (gives ? 3 : 1) : early ? 0 : 2;
            if (place != step) continue;
            *VEC_PUSH(&whole.nodes, c->arena) = own;
            *VEC_PUSH(tail ? &node->drain.nodes : &node->body[1].nodes, c->arena) = own;
        }
    }
    node->body[0] = whole;
    node->rotated = true;
}

static void read_region(Check *c, int role, const Region *region, Sequence *into, Hands *hands);

/* A body whose items are all given back inside it; what it holds from outside it may use. */
static void read_closed(Check *c, int role, const Region *region, Sequence *into, const Hands *outside) {
    Hands inside = copy_hands(c, outside);
    read_region(c, role, region, into, &inside);
    if (same_hands(&inside, outside) || c->refuted) return;
    if (inside.at.count < outside->at.count) { /* what is held outside is given away inside, in every trip */
        const Held *gone = &outside->at.at[outside->at.count - 1];
        refute(c, gone->producing ? DIAG_RING_DOUBLE_COMMIT : DIAG_RING_DOUBLE_RELEASE, region->owner->range,
               c->rings[gone->ring].name);
        return;
    }
    const Held *left = &inside.at.at[inside.at.count - 1];
    refute(c, left->producing ? DIAG_RING_NOT_COMMITTED : DIAG_RING_NOT_RELEASED, left->op->range,
           c->rings[left->ring].name);
}

static void read_region(Check *c, int role, const Region *region, Sequence *into, Hands *hands) {
    for (const Op *op = region->first; op && !c->refuted; op = op->next) {
        check_views(c, op);
        switch (op->code) {
        case OP_ACQUIRE:
        case OP_WAIT: begin_item(c, role, op, into, hands); break;
        case OP_COMMIT:
        case OP_RELEASE: end_item(c, role, op, into, hands); break;
        case OP_PUT:
        case OP_GET: use_item(c, op, hands); break;
        case OP_FOR:
        case OP_WHILE:
        case OP_IF: {
            bool is_if = op->code == OP_IF;
            Node *node = add_node(c, into, is_if ? NODE_IF : NODE_LOOP, -1, op);
            node->count = constant_trips(c->k, op);
            node->id = ring_number(c->numbers, role, op);
            for (int i = 0; i < op->region_count; i++)
                read_closed(c, role, op->regions[i], &node->body[is_if ? i : 0], hands);
            node->rings = rings_inside(node);
            if (op->code == OP_FOR) rotate_loop(c, node);
            if (!node->rings) into->nodes.count--; /* no hand-over inside */
            break;
        }
        default:
            for (int i = 0; i < op->region_count; i++) read_closed(c, role, op->regions[i], into, hands);
        }
    }
}

static void collect(Check *c, const Region *region, const Op **tasks) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_RING) {
            int fields = ir_type(c->k, op->results[0])->field_count;
            if (c->ring_count == MAX_RINGS || fields > MAX_RING_FIELDS)
                refute(c, DIAG_RING_MOST, op->range, c->ring_count + 1, fields, MAX_RINGS, MAX_RING_FIELDS);
            if (c->refuted) return;
            const char *name = ir_value(c->k, op->results[0])->name;
            c->rings[c->ring_count++] = (RingInfo){.ref = op->results[0],
                                                   .op = op,
                                                   .name = name ? name : "ring",
                                                   .slots = op_int(op, AT_SLOTS, 1),
                                                   .producer = -1,
                                                   .late = -1};
        }
        if (op->code == OP_TASKS) *tasks = op;
        if (op->code == OP_ROLE)
            c->roles[c->role_count++] = (RoleInfo){.word = role_name(op), .name = role_text(op), .op = op};
        for (int i = 0; i < op->region_count; i++) collect(c, op->regions[i], tasks);
    }
}

/* --- states --- */

static int least_released(const Check *c, const State *s, int ring) {
    const RingInfo *info = &c->rings[ring];
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
        const RingInfo *info = &c->rings[node->ring];
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
    for (int i = 0; i < c->ring_count; i++) {
        int base = least_released(c, &s, i);
        s.acquired[i] -= base, s.committed[i] -= base;
        for (int n = 0; n < c->rings[i].consumer_count; n++) {
            int role = c->rings[i].consumers[n];
            s.waited[i][role] -= base, s.released[i][role] -= base;
        }
    }
    return s;
}

static bool add_state(Check *c, StateSet *set, const State *s) {
    State settled = settle(c, *s);
    for (size_t i = 0; i < set->at.count; i++)
        if (memcmp(&set->at.at[i], &settled, sizeof settled) == 0) return false;
    *VEC_PUSH(&set->at, c->arena) = settled;
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
    return arena_printf(c->arena, "waits in `%s %s`", names[node->kind], c->rings[node->ring].name);
}

static void report_stuck(Check *c, const State *s, const Cursor *cursors) {
    Diag *diag = c->cx->module->diag;
    int first = -1;
    for (int i = 0; i < c->role_count && first < 0; i++) {
        const Node *node = next_node(&cursors[i]);
        if (node && (node->kind == NODE_ACQUIRE || node->kind == NODE_WAIT)) first = i;
    }
    if (first < 0) first = 0;
    const Node *at = next_node(&cursors[first]);
    refute(c, DIAG_RING_DEADLOCK, at ? at->op->range : c->roles[first].op->range, c->roles[first].name,
           node_text(c, at));
    for (int i = 0; i < c->role_count; i++) {
        const Node *node = next_node(&cursors[i]);
        if (i != first)
            diag_emit(diag, DIAG_NOTE_HERE, node ? node->op->range : c->roles[i].op->range,
                      arena_printf(c->arena, "role `%s` %s", c->roles[i].name, node_text(c, node)));
    }
    for (int i = 0; i < c->ring_count; i++) {
        Text counts = text_new(c->arena);
        text_add(&counts, "ring `%s`: %lld slots, %d acquired, %d committed", c->rings[i].name,
                 (long long)c->rings[i].slots, s->acquired[i], s->committed[i]);
        for (int n = 0; n < c->rings[i].consumer_count; n++)
            text_add(&counts, ", %d waited for and %d released by `%s`", s->waited[i][c->rings[i].consumers[n]],
                     s->released[i][c->rings[i].consumers[n]], c->roles[c->rings[i].consumers[n]].name);
        diag_emit(diag, DIAG_NOTE_HERE, c->rings[i].op->range, counts.at);
    }
}

static void run(Check *c, const Cursor *start, const State *from, StateSet *ends);

/* The roles that have to go through a loop or if together with role `first`: all that hand over what is handed over
 * inside. False when one of them is not there, or stands at another loop. */
static bool find_members(const Check *c, const Cursor *cursors, int first, bool *member) {
    const Node *lead = next_node(&cursors[first]);
    unsigned rings = lead->rings, met = 0;
    for (int i = 0; i < c->role_count; i++) member[i] = i == first;
    while (met != rings) {
        met = rings;
        for (int i = 0; i < c->ring_count; i++) {
            if (!(met >> i & 1)) continue;
            for (int n = -1; n < c->rings[i].consumer_count; n++) {
                int role = n < 0 ? c->rings[i].producer : c->rings[i].consumers[n];
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
    for (int i = 0; i < c->role_count; i++) {
        const Node *own = next_node(&cursors[i]);
        after[i] = cursors[i];
        after[i].at += member[i];
        parked += own && !member[i];
    }
    c->parked += parked;
    int ways = node->kind == NODE_IF ? 2 : 1;
    bool rotated = false;
    for (int i = 0; i < c->role_count; i++) rotated |= member[i] && next_node(&cursors[i])->rotated;
    if (node->kind == NODE_LOOP) add_state(c, rotated ? &drained : &seen, from); /* no trip at all */
    if (rotated) {                                                               /* the first trip */
        for (int i = 0; i < c->role_count; i++) {
            const Node *own = member[i] ? next_node(&cursors[i]) : NULL;
            inside[i] = (Cursor){own ? &own->body[own->rotated] : &nothing, 0};
        }
        run(c, inside, from, &seen);
    }
    for (int way = 0; way < ways; way++) {
        for (int i = 0; i < c->role_count; i++)
            inside[i] = (Cursor){member[i] ? &next_node(&cursors[i])->body[way] : &nothing, 0};
        if (node->kind == NODE_IF)
            run(c, inside, from, &seen);
        else
            for (size_t i = 0; i < seen.at.count && !c->refuted; i++) {
                State state = seen.at.at[i];
                run(c, inside, &state, &seen);
                if (seen.at.count > MAX_STATES) c->unmatched = true;
                if (c->unmatched) break;
            }
    }
    if (rotated) { /* what the last trip left to do */
        for (int i = 0; i < c->role_count; i++)
            inside[i] =
                (Cursor){member[i] && next_node(&cursors[i])->rotated ? &next_node(&cursors[i])->drain : &nothing, 0};
        for (size_t i = 0; i < seen.at.count && !c->refuted && !c->unmatched; i++) {
            State state = seen.at.at[i];
            run(c, inside, &state, &drained);
        }
        seen = drained;
    }
    c->parked -= parked;
    for (size_t i = 0; i < seen.at.count && !c->refuted && !c->unmatched; i++) {
        State state = seen.at.at[i];
        run(c, after, &state, ends);
    }
}

static void run(Check *c, const Cursor *start, const State *from, StateSet *ends) {
    Cursor cursors[MAX_ROLES];
    State state = *from;
    memcpy(cursors, start, sizeof *cursors * (size_t)c->role_count);
    for (bool moved = true; moved;) {
        moved = false;
        for (int i = 0; i < c->role_count; i++)
            for (const Node *node;
                 (node = next_node(&cursors[i])) && node->kind < NODE_LOOP && enabled(c, &state, i, node);
                 moved = true) {
                apply(&state, i, node);
                cursors[i].at++;
            }
    }
    if (++c->steps > MAX_STEPS) c->unmatched = true;
    if (c->unmatched || c->refuted) return;
    const Node *meeting = NULL;
    bool ended = true, at_loop = false, member[MAX_ROLES];
    for (int i = 0; i < c->role_count && !meeting; i++) {
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
    for (size_t i = 0; i < from->nodes.count && into->nodes.count < 100000; i++) {
        Node *node = from->nodes.at[i];
        if (node->kind == NODE_LOOP) {
            int64_t trips = node->count >= 0 ? node->count : c->trips[node->id];
            for (int64_t n = 0; n < trips; n++) expand(c, &node->body[n == 0 && node->rotated], into);
            if (node->rotated && trips > 0) expand(c, &node->drain, into);
        } else if (node->kind == NODE_IF)
            expand(c, &node->body[c->trips[node->id] == 0], into);
        else
            *VEC_PUSH(&into->nodes, c->arena) = node;
    }
}

static void simulate(Check *c) {
    int64_t slots = 1;
    for (int i = 0; i < c->ring_count; i++)
        if (c->rings[i].slots > slots) slots = c->rings[i].slots;
    int ids = ring_number_count(c->numbers), most = (int)(slots > 8 ? 8 : slots) * 2 + 2;
    int *trips = ARENA_ARRAY(c->arena, int, ids + 1);
    c->trips = trips;
    for (long tried = 0; tried < 20000 && !c->refuted; tried++) {
        ArenaMark mark = arena_mark(c->arena);
        Cursor cursors[MAX_ROLES];
        Sequence flat[MAX_ROLES] = {0};
        StateSet ends = {0};
        State zero = {0};
        for (int i = 0; i < c->role_count; i++) {
            for (int task = 0; task < 2; task++) expand(c, &c->roles[i].program, &flat[i]);
            cursors[i] = (Cursor){&flat[i], 0};
        }
        c->unmatched = false;
        c->steps = 0;
        run(c, cursors, &zero, &ends);
        State end = {0};
        if (!c->refuted && ends.at.count && memcmp(&ends.at.at[0], &end, sizeof end) != 0)
            refute(c, DIAG_RING_LEFT_OVER, c->roles[0].op->range, "two tasks");
        arena_reset(c->arena, mark);
        int at = 0;
        while (at < ids && ++trips[at] > most) trips[at++] = 0;
        if (at == ids) break;
    }
}

/* --- ends --- */

/* The ring says who fills it and who empties it, as the roles do; what the text leaves out is added. */
static void settle_ends(Check *c, RingInfo *ring) {
    Word from = ring_producer(ring->op), to = ring_consumer(ring->op);
    Word filler = c->roles[ring->producer].word, emptier = c->roles[ring->consumers[0]].word;
    if (!from) op_set(c->k, (Op *)ring->op, (Attr){.id = AT_PRODUCER, .word = from = filler});
    if (!to) op_set(c->k, (Op *)ring->op, (Attr){.id = AT_CONSUMER, .word = to = emptier});
    bool empties = false;
    for (int i = 0; i < ring->consumer_count; i++) empties |= to == c->roles[ring->consumers[i]].word;
    if (!empties || from != filler)
        refute(c, DIAG_RING_ENDS, ring->op->range, ring->name, word_info[from].text, word_info[to].text,
               word_info[filler].text, word_info[emptier].text);
}

/* --- capacity --- */

static void check_capacity(Check *c) {
    int64_t total = 0;
    Text table = text_new(c->arena);
    for (int i = 0; i < c->ring_count; i++) {
        const Type *type = ir_type(c->k, c->rings[i].ref);
        int64_t bytes = 0;
        for (int f = 0; f < type->field_count; f++)
            bytes += ty_elements(type->fields[f].type) * ty_elem_bytes(type->fields[f].type);
        text_add(&table, "%s`%s` %lld x %lld bytes", i ? ", " : "", c->rings[i].name, (long long)c->rings[i].slots,
                 (long long)bytes);
        int64_t parts = op_int(c->rings[i].op, AT_PARTS, 2); /* two have room */
        if (!op_attr(c->rings[i].op, AT_OVERLAY)) total += bytes * c->rings[i].slots * 2 / (parts > 2 ? parts : 2);
    }
    if (total > c->cx->machine->ring_bytes)
        refute(c, DIAG_RING_CAPACITY, c->rings[0].op->range, (long long)total, (long long)c->cx->machine->ring_bytes,
               table.at);
}

/* The kernel's roles as programs, each item of which keeps the protocol. */
static Check *read_roles(PassContext *cx, Kernel *k, const Op **tasks) {
    Check *c = ARENA_NEW(cx->scratch, Check);
    *c = (Check){.cx = cx, .k = k, .arena = cx->scratch, .numbers = ring_numbers_new(k, cx->scratch)};
    collect(c, k->body, tasks);
    for (int i = 0; i < c->role_count && !c->refuted; i++) {
        Hands hands = {0};
        read_closed(c, i, c->roles[i].op->regions[0], &c->roles[i].program, &hands);
    }
    return c;
}

RingVerdict ring_check(PassContext *cx, Kernel *k) {
    const Op *tasks = NULL;
    Check *c = read_roles(cx, k, &tasks);
    if (c->refuted) return RING_REFUTED;
    if (!tasks || !c->ring_count) return RING_PROVED;
    for (int i = 0; i < c->ring_count && !c->refuted; i++) {
        int64_t hold = op_int(c->rings[i].op, AT_HOLD, 1);
        if (c->rings[i].slots < hold)
            refute(c, DIAG_RING_TOO_FEW_SLOTS, c->rings[i].op->range, c->rings[i].name, (long long)c->rings[i].slots,
                   (long long)hold);
        if (c->rings[i].producer < 0 || !c->rings[i].consumer_count)
            refute(c, DIAG_RING_ONE_SIDED, c->rings[i].op->range, c->rings[i].name);
        if (!c->refuted) settle_ends(c, &c->rings[i]);
    }
    if (!c->refuted) check_capacity(c);
    if (!c->refuted && op_attr(tasks, AT_CLUSTER)) c->refuted = !ring_group_check(cx, k, tasks);
    if (c->refuted) return RING_REFUTED;
    StateSet seen = {0};
    State zero = {0};
    Cursor cursors[MAX_ROLES];
    for (int i = 0; i < c->role_count; i++) cursors[i] = (Cursor){&c->roles[i].program, 0};
    run(c, cursors, &zero, &seen);
    for (size_t i = 0; i < seen.at.count && !c->refuted && !c->unmatched; i++)
        if (memcmp(&seen.at.at[i], &zero, sizeof zero) != 0) refute(c, DIAG_RING_LEFT_OVER, tasks->range, "a task");
    if (!c->unmatched || c->refuted) return c->refuted ? RING_REFUTED : RING_PROVED;
    simulate(c);
    return c->refuted ? RING_REFUTED : RING_BOUNDED;
}
