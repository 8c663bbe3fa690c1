/* schedule_once.c: a tile that leaves through a buffer of its own role, and is an operand of a product there, lies in
 * shared memory once.
 *
 *     put %o.v, %x ; commit ; %a#s = convert %x ; dot %w, %a .. ; %p = wait ; %y = get %p.v ; release ; tstore %y
 *
 * Where the field lies as the operand does, threads take what they store from the operand, and the ring is gone:
 *
 *     %a#s = convert %x ; dot %w, %a .. ; %y = convert %a ; tstore %y */
#include "pass/schedule/schedule.h"

/* The hand-overs of a ring: one of each kind, in one region. */
typedef struct Hands {
    const Kernel *k;
    Ref ring;
    Op *of[HAND_SKIP + 1];
    bool single;
} Hands;

static void look_at_hand(Op *op, void *user) {
    Hands *h = user;
    HandOver kind = hand_over(op);
    if (kind == HAND_NONE || hand_ring(h->k, op) != h->ring) return;
    h->single = h->single && !h->of[kind] && op->parent == (h->of[HAND_ACQUIRE] ? h->of[HAND_ACQUIRE] : op)->parent;
    h->of[kind] = op;
}

static bool find_hands(const Schedule *s, const Op *ring, Hands *h) {
    *h = (Hands){.k = s->k, .ring = ring->results[0], .single = true};
    ir_walk(tasks_body(s->tasks), look_at_hand, h);
    for (int kind = HAND_ACQUIRE; kind <= HAND_RELEASE; kind++) h->single = h->single && h->of[kind];
    return h->single && !h->of[HAND_SKIP];
}

/* The operand that is made of what the ring takes, before that is given: it lies as the field does; NULL: none. */
static Op *find_operand(const Kernel *k, const Hands *h) {
    const SharedTile *field = layout_field(k, h->ring, 0);
    Ref value = put_value(h->of[HAND_PUT]);
    for (Op *op = h->of[HAND_PUT]->parent->first; op && op != h->of[HAND_GET]; op = op->next)
        if (op->code == OP_CONVERT && op->operands[0] == value && schedule_in_shared(k, op->results[0]) &&
            layout_same_tile(field, &schedule_layout(k, op->results[0])->tile))
            return op;
    return NULL;
}

static void take_from(Kernel *k, Hands *h, Op *operand) {
    Op *get = h->of[HAND_GET];
    Builder b = ir_builder_before(k, get);
    b.range = get->range;
    Op *convert = ir_begin(&b, OP_CONVERT);
    ir_operand(&b, convert, operand->results[0]);
    Ref taken = ir_end(&b, convert, NULL);
    const Attr *vector = op_attr(get, AT_VECTOR);
    if (vector) op_set(k, convert, *vector);
    ir_value(k, taken)->layout = ir_value(k, get->results[0])->layout;
    ir_replace_all(k, get->results[0], taken);
    for (int kind = HAND_RELEASE; kind >= HAND_ACQUIRE; kind--) ir_remove(h->of[kind]);
}

void schedule_once(Schedule *s) {
    Kernel *k = s->k;
    Hands h;
    for (Op *ring = k->body->first, *next; ring; ring = next) {
        next = ring->next;
        if (ring->code != OP_RING || ring_producer(ring) != ring_consumer(ring) ||
            ir_type(k, ring->results[0])->field_count != 1 || !find_hands(s, ring, &h) ||
            schedule_in_shared(k, h.of[HAND_GET]->results[0]))
            continue;
        Op *operand = find_operand(k, &h);
        if (!operand) continue;
        take_from(k, &h, operand);
        ir_remove(ring);
    }
}
