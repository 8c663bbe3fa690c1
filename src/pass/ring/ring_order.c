/* SPDX-License-Identifier: Apache-2.0 */
/* ring_order.c: which accesses of memory may change their order, and which may not.
 *
 * The accesses of a task are numbered as they stand in the text. One may run before another if it
 * stands before it, or if a loop holds both; so what counts of an access in loops is the span of the
 * outermost one. Two accesses concern the same memory unless they start from different parameters
 * (ir/roots.h gives the set of each): those are taken to be apart, by the user's promise or with a
 * wish that the launch tests. A launch whose arrays overlap runs a variant without such wishes.
 * Where load waits for the writes (ring_meet.c) none of them is in its way.
 *
 *     order    1  2  3  4  5  6        a write at 4 in the loop [3, 5] may precede what stands
 *     loop           [     ]           at 3 and later, and follow what stands at 5 and earlier
 *
 * Accesses that start from the same parameters are one place; of a place only the outermost spans are
 * kept, so that a question costs as much as there are places, not accesses. */
#include "ir/roots.h"
#include "pass/ring/ring_cut.h"

bool cut_is_read(const Op *op) { return op->code == OP_LOAD || op->code == OP_TLOAD; }
bool cut_is_combine(const Op *op) {
    return op->code == OP_TATOMIC && op_word(op, AT_SEM, SEM_ACQ_REL) == SEM_RELAXED;
}
bool cut_is_write(const Op *op) { return op->code == OP_STORE || op->code == OP_TSTORE || cut_is_combine(op); }
static bool is_atomic(const Op *op) {
    return op->code == OP_ATOMIC || op->code == OP_ATOMIC_CAS || op->code == OP_TATOMIC;
}
bool cut_is_order(const Op *op) {
    return (is_atomic(op) && !cut_is_combine(op)) || op->code == OP_FENCE || op->code == OP_SYNC ||
           (op->code == OP_LOAD && op_flag(op, AT_VOLATILE));
}

/* --- places --- */

static bool same_roots(const Cut *c, const bool *a, const bool *b) {
    if (!a || !b) return a == b;
    for (int i = 0; i < c->k->body->arg_count; i++)
        if (a[i] != b[i]) return false;
    return true;
}

static int place_of(Cut *c, Ref pointer) {
    MapEntry *entry = map_find_number(&c->place_of, pointer);
    if (entry) return (int)(uintptr_t)entry->value;
    bool *roots = ARENA_ARRAY(c->arena, bool, (size_t)c->k->body->arg_count + 1);
    if (!roots_of(c->k, c->arena, pointer, roots)) roots = NULL;
    size_t i = 0;
    while (i < c->places.count && !same_roots(c, c->places.at[i].roots, roots)) i++;
    if (i == c->places.count) *VEC_PUSH(&c->places, c->arena) = (CutPlace){.roots = roots};
    map_put_number(&c->place_of, c->arena, pointer, (void *)(uintptr_t)i);
    return (int)i;
}

/* Keeps the access that begins first, or ends last. */
static void keep_first(CutSpan *kept, const Op *op, int order) {
    if (!kept->op || order < kept->order) *kept = (CutSpan){op, order};
}
static void keep_last(CutSpan *kept, const Op *op, int order) {
    if (!kept->op || order > kept->order) *kept = (CutSpan){op, order};
}

static const Op *outermost_loop(const Op *op) {
    const Op *loop = NULL;
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_FOR || owner->code == OP_WHILE) loop = owner;
    return loop;
}

/* The order of the last op inside. */
static int last_inside(const Cut *c, const Op *op) {
    int last = cut_order(c, op);
    for (int i = 0; i < op->region_count; i++)
        if (op->regions[i]->last) last = last_inside(c, op->regions[i]->last);
    return last;
}

void cut_note_access(Cut *c, const Op *op) {
    const Op *loop = outermost_loop(op);
    int order = cut_order(c, op);
    CutAccess a = {.op = op, .order = order, .first = order, .last = order, .place = -1};
    if (loop) a.first = cut_order(c, loop), a.last = last_inside(c, loop);
    if (op->operand_count) a.place = place_of(c, op->operands[0]);
    map_put_number(&c->access_of, c->arena, (uintptr_t)op, (void *)(uintptr_t)c->memory.count);
    *VEC_PUSH(&c->memory, c->arena) = a;
    if (cut_is_order(op)) {
        keep_first(&c->first_order, op, a.first);
        keep_last(&c->last_order, op, a.last);
    }
    if (a.place < 0) return;
    CutPlace *p = &c->places.at[a.place];
    if (cut_is_read(op)) keep_last(&p->last_read, op, a.last);
    if (cut_is_write(op) && !c->meets) keep_first(&p->first_write, op, a.first);
    p->written |= cut_is_write(op) || is_atomic(op);
}

static const CutAccess *access_of(const Cut *c, const Op *op) {
    return &c->memory.at[(uintptr_t)map_find_number(&c->access_of, (uintptr_t)op)->value];
}

/* --- apart --- */

/* Are two parameters apart? Wishes where only the launch can tell. */
static bool parameters_apart(Cut *c, int a, int b) {
    if (a == b) return false;
    if (a > b) return parameters_apart(c, b, a);
    uint64_t pair = (uint64_t)a << 32 | (uint32_t)b;
    if (map_find_number(&c->asked_apart, pair)) return true;
    bool promised = roots_promised_apart(c->k, c->arena, a, b);
    if (!promised && (c->cx->options.generic == REQUIRE_NOTHING || c->cx->options.overlap)) return false;
    map_put_number(&c->asked_apart, c->arena, pair, NULL);
    const Ref *args = c->k->body->args;
    if (!promised) *VEC_PUSH(&c->apart, c->arena) = (Pair){args[a], args[b]};
    return true;
}

/* Do accesses of the two places concern different memory? */
static bool are_apart(Cut *c, int x, int y) {
    const bool *a = c->places.at[x].roots, *b = c->places.at[y].roots;
    int count = c->k->body->arg_count;
    if (!a || !b) return false;
    for (int i = 0; i < count; i++)
        if (a[i] && b[i]) return false;
    for (int i = 0; i < count; i++)
        for (int j = 0; a[i] && j < count; j++)
            if (b[j] && !parameters_apart(c, i, j)) return false;
    return true;
}

/* --- questions --- */

const Op *cut_write_before(Cut *c, const Op *load) {
    const CutAccess *a = access_of(c, load);
    const Op *order = c->first_order.op != load ? c->first_order.op : c->last_order.op;
    if (order && order != load && c->first_order.order <= a->order) return order;
    for (size_t i = 0; i < c->places.count; i++) {
        const CutSpan *write = &c->places.at[i].first_write;
        if (write->op && write->order <= a->order && !are_apart(c, a->place, (int)i)) return write->op;
    }
    return NULL;
}

/* Also where roles meet at writes: what load has begun before one is over when compute waits for it, no sooner. */
const Op *cut_write_between(Cut *c, const Op *load, const Op *use) {
    const CutAccess *from = access_of(c, load), *end = c->memory.at + c->memory.count;
    int last = cut_order(c, use);
    for (const CutAccess *a = from + 1; a < end && a->order < last; a++)
        if (cut_is_order(a->op) || (cut_is_write(a->op) && !are_apart(c, from->place, a->place))) return a->op;
    return NULL;
}

const Op *cut_access_after(Cut *c, const Op *store) {
    const CutAccess *a = access_of(c, store);
    if (c->last_order.op && c->last_order.order >= a->order) return c->last_order.op;
    for (size_t i = 0; i < c->places.count; i++) {
        const CutPlace *p = &c->places.at[i];
        const CutSpan *later = p->last_read.op && p->last_read.order >= a->order   ? &p->last_read
                               : p->last_stay.op && p->last_stay.order >= a->order ? &p->last_stay
                                                                                   : NULL;
        if (later && !are_apart(c, a->place, (int)i)) return later->op;
    }
    return NULL;
}

void cut_note_stay(Cut *c, const Op *store) {
    const CutAccess *a = access_of(c, store);
    keep_last(&c->places.at[a->place].last_stay, store, a->last);
}

bool cut_is_stable(Cut *c, const Op *load) {
    const CutAccess *a = access_of(c, load);
    if (c->first_order.op) return false;
    for (size_t i = 0; i < c->places.count; i++)
        if (c->places.at[i].first_write.op && !are_apart(c, a->place, (int)i)) return false;
    return true;
}

bool cut_concerns_reads(Cut *c, const Op *write) {
    const CutAccess *a = access_of(c, write);
    for (size_t i = 0; i < c->places.count; i++)
        if (c->places.at[i].last_read.op && !are_apart(c, a->place, (int)i)) return true;
    return false;
}

void cut_wish_apart(Cut *c) {
    for (size_t i = 0; i < c->places.count; i++)
        for (size_t j = 0; j < c->places.count; j++)
            if (i != j && c->places.at[j].written) are_apart(c, (int)i, (int)j);
}
