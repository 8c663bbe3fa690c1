/* SPDX-License-Identifier: Apache-2.0 */
/* ring_program.c: from the roles of a kernel to programs of hand-overs, checking the protocol of each item on the way.
 *
 * Each role becomes a small program: acquire, commit, wait and release of a ring, loops and ifs around them. Loops and
 * conditions are known by number (ring_number.c), so that "the same loop" in two roles is seen even though each role
 * computes its own bounds.
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
 * barrier was made for, and of the kinds that the item's puts are. */
#include "pass/ring/ring_program.h"
#include "ir/ringform.h"
#include "pass/layout/layout.h"
#include "pass/ring/ring_rotate.h"

typedef struct View { /* a value that lies in a slot */
    Ref value, slot;
    bool released;
} View;
enum { MOST_TRIPS = 64 };

typedef struct Reader {
    RingProgram *p;
    VEC(View) views; /* of the role being read */
} Reader;

void ring_program_refute(RingProgram *p, DiagId id, Range range, ...) {
    va_list args;
    va_start(args, range);
    if (!p->refuted) diag_vemit(p->cx->module->diag, id, range, args);
    va_end(args);
    p->refuted = true;
}

static int find_ring(Reader *c, Ref ref) {
    for (int i = 0; i < c->p->ring_count; i++)
        if (c->p->rings[i].ref == ref) return i;
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

/* Where they are few. */
static int64_t constant_trips(const Kernel *k, const Op *loop) {
    int64_t lo, hi, step, span;
    if (loop->code != OP_FOR || !ir_const_int(k, loop->operands[0], &lo) || !ir_const_int(k, loop->operands[1], &hi) ||
        !ir_const_int(k, loop->operands[2], &step) || step < 1 || __builtin_sub_overflow(hi, lo, &span) ||
        span / step > MOST_TRIPS)
        return -1;
    return span > 0 ? (span - 1) / step + 1 : 0;
}

static unsigned rings_inside(const Node *node) {
    unsigned rings = node->ring >= 0 ? 1u << node->ring : 0;
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < node->body[b].nodes.count; i++) rings |= rings_inside(node->body[b].nodes.at[i]);
    return rings;
}

static Node *add_node(Reader *c, Sequence *into, NodeKind kind, int ring, const Op *op) {
    Node *node = ARENA_NEW(c->p->arena, Node);
    *node = (Node){.kind = kind, .ring = ring, .op = op};
    *VEC_PUSH(&into->nodes, c->p->arena) = node;
    return node;
}

static void begin_item(Reader *c, int role, const Op *op, Sequence *into, Hands *hands) {
    int ring = find_ring(c, op->operands[0]);
    bool producing = op->code == OP_ACQUIRE;
    if (ring < 0) return;
    RingInfo *info = &c->p->rings[ring];
    if (producing) {
        if (info->producer >= 0 && info->producer != role)
            ring_program_refute(c->p, DIAG_RING_TWO_PRODUCERS, op->range, info->name, c->p->roles[info->producer].name,
                                c->p->roles[role].name);
        info->producer = role;
    } else {
        bool known = false;
        for (int i = 0; i < info->consumer_count; i++) known |= info->consumers[i] == role;
        if (!known) info->consumers[info->consumer_count++] = role;
    }
    size_t kept = 0; /* a test of a while is read twice: this is another item than the one that was viewed */
    for (size_t i = 0; i < c->views.count; i++)
        if (c->views.at[i].slot != op->results[0]) c->views.at[kept++] = c->views.at[i];
    c->views.count = kept;
    int64_t announced = producing ? op_int(op, AT_COPIED, 0) : 0;
    *VEC_PUSH(&hands->at, c->p->arena) =
        (Held){.slot = op->results[0], .ring = ring, .producing = producing, .missing = announced, .op = op};
    int64_t held = 0;
    for (size_t i = 0; i < hands->at.count; i++) held += hands->at.at[i].ring == ring && !hands->at.at[i].producing;
    int64_t owed = op_int(info->op, AT_HOLD, 1) - held;
    if (!producing && (info->late < 0 || owed < info->late)) info->late = owed < 0 ? 0 : owed;
    add_node(c, into, producing ? NODE_ACQUIRE : NODE_WAIT, ring, op);
}

/* The commit of an item of a ring with barriers (schedule form): who arrives, and does the item wait for all its puts?
 */
static void check_arrivals(Reader *c, const Op *role, const Op *commit, const Held *h) {
    const Attr *counts = op_attr(c->p->rings[h->ring].op, AT_COUNTS);
    if (!counts || counts->list.count != 2) return;
    Word arrive = op_word(commit, AT_ARRIVE, WORD_NONE);
    int64_t threads = op_flag(role, AT_ELECT) ? 1 : op_int(role, AT_ROLE_WARPS, 0) * c->p->cx->machine->lanes;
    int64_t arrivals = arrive == ARRIVE_BOTH ? 2 * threads : threads;
    if (arrivals != counts->list.at[0])
        ring_program_refute(c->p, DIAG_RING_ARRIVALS, commit->range, c->p->rings[h->ring].name, (long long)arrivals,
                            (long long)counts->list.at[0]);
    if ((h->copies && !arrive) || (h->stores && arrive == ARRIVE_COPIES))
        ring_program_refute(c->p, DIAG_RING_UNSEEN, commit->range, c->p->rings[h->ring].name,
                            h->copies && !arrive ? "copies" : "stores");
}

static void end_item(Reader *c, int role, const Op *op, Sequence *into, Hands *hands) {
    int held = find_held(hands, op->operands[1]), ring = find_ring(c, op->operands[0]);
    bool commits = op->code == OP_COMMIT;
    if (held < 0 || hands->at.at[held].producing != commits || hands->at.at[held].ring != ring) {
        ring_program_refute(c->p, commits ? DIAG_RING_DOUBLE_COMMIT : DIAG_RING_DOUBLE_RELEASE, op->range,
                            ring >= 0 ? c->p->rings[ring].name : "?");
        return;
    }
    const Held *h = &hands->at.at[held];
    int fields = c->p->rings[ring].op->result_count ? ir_type(c->p->k, c->p->rings[ring].ref)->field_count : 0;
    if (commits && h->put != (uint32_t)((UINT64_C(1) << fields) - 1)) {
        int missing = 0;
        while (h->put >> missing & 1) missing++;
        ring_program_refute(c->p, DIAG_RING_FIELD_MISSING, op->range, c->p->rings[ring].name,
                            ir_type(c->p->k, c->p->rings[ring].ref)->fields[missing].name);
    }
    if (commits && h->missing)
        ring_program_refute(c->p, DIAG_RING_BYTES, op->range, c->p->rings[ring].name, (long long)h->missing);
    if (commits) check_arrivals(c, c->p->roles[role].op, op, h);
    /* Items go in order: the oldest one held of this ring first. */
    for (int i = 0; i < held; i++)
        if (hands->at.at[i].ring == ring && hands->at.at[i].producing == commits)
            ring_program_refute(c->p, DIAG_RING_ORDER, op->range, c->p->rings[ring].name);
    for (size_t i = 0; i < c->views.count; i++) c->views.at[i].released |= c->views.at[i].slot == op->operands[1];
    drop_held(hands, held);
    add_node(c, into, commits ? NODE_COMMIT : NODE_RELEASE, ring, op);
}

static void use_item(Reader *c, const Op *op, Hands *hands) {
    int held = find_held(hands, op->operands[0]);
    bool puts = op->code == OP_PUT;
    if (held < 0 || hands->at.at[held].producing != puts) {
        ring_program_refute(c->p, puts ? DIAG_RING_LATE_PUT : DIAG_RING_LATE_GET, op->range);
        return;
    }
    if (!puts) return;
    Held *h = &hands->at.at[held];
    uint32_t bit = UINT32_C(1) << hand_field(op);
    if (op->list_count[0] == 0 && (h->put & bit))
        ring_program_refute(c->p, DIAG_RING_PUT_TWICE, op->range, hand_field_name(c->p->k, op));
    h->put |= bit;
    Word mover = layout_put_mover(c->p->k, op);
    h->stores |= mover == MOVER_LANES;
    h->copies |= mover == MOVER_ASYNC;
    h->missing -= op_int(op, AT_COPIED, 0);
}

/* Nothing looks into a slot that was given back; a view of a view is one too. */
static void check_views(Reader *c, const Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        for (size_t v = 0; v < c->views.count; v++) {
            const View view = c->views.at[v];
            if (view.value != op->operands[i]) continue;
            if (view.released) ring_program_refute(c->p, DIAG_RING_LATE_GET, op->range);
            bool same = op->code == OP_PERMUTE || op->code == OP_RESHAPE || op->code == OP_EXPAND ||
                        op->code == OP_BROADCAST || op->code == OP_REPEAT || op->code == OP_SLICE;
            if (same) *VEC_PUSH(&c->views, c->p->arena) = (View){op->results[0], view.slot, false};
        }
    if (op->code == OP_GET && !op_flag(op, AT_COPY))
        *VEC_PUSH(&c->views, c->p->arena) = (View){op->results[0], op->operands[0], false};
}

static bool same_hands(const Hands *a, const Hands *b) {
    if (a->at.count != b->at.count) return false;
    for (size_t i = 0; i < a->at.count; i++)
        if (a->at.at[i].slot != b->at.at[i].slot || a->at.at[i].put != b->at.at[i].put ||
            a->at.at[i].missing != b->at.at[i].missing)
            return false;
    return true;
}

static Hands copy_hands(Reader *c, const Hands *from) {
    Hands copy = {0};
    for (size_t i = 0; i < from->at.count; i++) *VEC_PUSH(&copy.at, c->p->arena) = from->at.at[i];
    return copy;
}

/* From the plain body's hand-overs to those of the turned loop's trips. */
static void rotate_loop(Reader *c, Node *node) {
    Rotation r;
    if (!op_flag(node->op, AT_ROTATE) || !rotation_find(c->p->k, node->op, c->p->arena, &r)) return;
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
            *VEC_PUSH(&whole.nodes, c->p->arena) = own;
            *VEC_PUSH(tail ? &node->drain.nodes : &node->body[1].nodes, c->p->arena) = own;
        }
    }
    node->body[0] = whole;
    node->rotated = true;
}

static void read_region(Reader *c, int role, const Region *region, Sequence *into, Hands *hands);

/* A body whose items are all given back inside it; what it holds from outside it may use. */
static void read_closed(Reader *c, int role, const Region *region, Sequence *into, const Hands *outside) {
    Hands inside = copy_hands(c, outside);
    read_region(c, role, region, into, &inside);
    if (same_hands(&inside, outside) || c->p->refuted) return;
    if (inside.at.count < outside->at.count) { /* what is held outside is given away inside, in every trip */
        const Held *gone = &outside->at.at[outside->at.count - 1];
        ring_program_refute(c->p, gone->producing ? DIAG_RING_DOUBLE_COMMIT : DIAG_RING_DOUBLE_RELEASE,
                            region->owner->range, c->p->rings[gone->ring].name);
        return;
    }
    const Held *left = &inside.at.at[inside.at.count - 1];
    ring_program_refute(c->p, left->producing ? DIAG_RING_NOT_COMMITTED : DIAG_RING_NOT_RELEASED, left->op->range,
                        c->p->rings[left->ring].name);
}

static void read_control(Reader *c, int role, const Op *op, Sequence *into, Hands *hands) {
    bool is_if = op->code == OP_IF, is_while = op->code == OP_WHILE;
    if (is_while) read_closed(c, role, op->regions[0], into, hands); /* its test: before it, and behind every trip */
    Node *node = add_node(c, into, is_if ? NODE_IF : NODE_LOOP, -1, op);
    node->count = constant_trips(c->p->k, op);
    node->id = ring_number(c->p->numbers, role, op);
    for (int i = is_while; i < op->region_count; i++)
        read_closed(c, role, op->regions[i], &node->body[is_if ? i : 0], hands);
    if (is_while) read_closed(c, role, op->regions[0], &node->body[0], hands);
    node->rings = rings_inside(node);
    if (op->code == OP_FOR) rotate_loop(c, node);
    if (!node->rings) into->nodes.count--; /* no hand-over inside */
}

static void read_region(Reader *c, int role, const Region *region, Sequence *into, Hands *hands) {
    for (const Op *op = region->first; op && !c->p->refuted; op = op->next) {
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
        case OP_IF: read_control(c, role, op, into, hands); break;
        default:
            for (int i = 0; i < op->region_count; i++) read_closed(c, role, op->regions[i], into, hands);
        }
    }
}

static void collect(RingProgram *p, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (op->code == OP_RING) {
            int fields = ir_type(p->k, op->results[0])->field_count;
            if (p->ring_count == MAX_RINGS || fields > MAX_RING_FIELDS)
                ring_program_refute(p, DIAG_RING_MOST, op->range, p->ring_count + 1, fields, MAX_RINGS,
                                    MAX_RING_FIELDS);
            const char *name = ir_value(p->k, op->results[0])->name;
            if (op_word(op, AT_LIFE, LIFE_TASK) == LIFE_KERNEL)
                ring_program_refute(p, DIAG_RING_LIFE, op->range, name ? name : "ring");
            if (p->refuted) return;
            p->rings[p->ring_count++] = (RingInfo){.ref = op->results[0],
                                                   .op = op,
                                                   .name = name ? name : "ring",
                                                   .slots = op_int(op, AT_SLOTS, 1),
                                                   .producer = -1,
                                                   .late = -1};
        }
        if (op->code == OP_TASKS) p->tasks = op;
        if (op->code == OP_ROLE)
            p->roles[p->role_count++] = (RoleInfo){.word = role_name(op), .name = role_text(op), .op = op};
        for (int i = 0; i < op->region_count; i++) collect(p, op->regions[i]);
    }
}

RingProgram *ring_program_read(PassContext *cx, Kernel *k) {
    RingProgram *p = ARENA_NEW(cx->scratch, RingProgram);
    *p = (RingProgram){.cx = cx, .k = k, .arena = cx->scratch, .numbers = ring_numbers_new(k, cx->scratch)};
    collect(p, k->body);
    Reader reader = {.p = p};
    for (int i = 0; i < p->role_count && !p->refuted; i++) {
        Hands hands = {0};
        read_closed(&reader, i, p->roles[i].op->regions[0], &p->roles[i].program, &hands);
    }
    return p;
}
