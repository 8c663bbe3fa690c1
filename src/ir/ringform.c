/* SPDX-License-Identifier: Apache-2.0 */
/* ringform.c: see ringform.h. */
#include "ir/ringform.h"

#include <string.h>

/* --- tasks and roles --- */

Op *tasks_of(const Kernel *k) {
    Op *op = k->has_tasks ? k->body->first : NULL;
    while (op && op->code != OP_TASKS) op = op->next;
    return op;
}

Region *tasks_body(const Op *tasks) { return tasks->regions[tasks->region_count - 1]; }

static Op *role_from(Op *op) {
    while (op && op->code != OP_ROLE) op = op->next;
    return op;
}
Op *role_first(const Op *tasks) { return role_from(tasks_body(tasks)->first); }
Op *role_next(const Op *role) { return role_from(role->next); }

Op *role_find(const Op *tasks, Word name) {
    Op *role = role_first(tasks);
    while (role && role_name(role) != name) role = role_next(role);
    return role;
}

Word role_name(const Op *role) { return op_word(role, AT_ROLE, WORD_NONE); }
const char *role_text(const Op *role) { return word_info[role_name(role)].text; }
Word role_host(const Op *role) { return op_word(role, AT_HOST, WORD_NONE); }
bool role_is_guest(const Op *role) { return role_host(role) != WORD_NONE; }

Op *role_around(const Op *op) {
    while (op && op->code != OP_ROLE) op = op->parent->owner;
    return (Op *)op;
}

bool role_loops_around(const Op *op) {
    for (op = op->parent->owner; op && op->code != OP_ROLE; op = op->parent->owner)
        if (op->code == OP_FOR || op->code == OP_WHILE) return true;
    return false;
}

/* --- rings --- */

Word ring_producer(const Op *ring) { return op_word(ring, AT_PRODUCER, WORD_NONE); }
Word ring_consumer(const Op *ring) { return op_word(ring, AT_CONSUMER, WORD_NONE); }

int ring_field_find(const Type *ring, const char *name) {
    for (int i = 0; i < ring->field_count; i++)
        if (strcmp(ring->fields[i].name, name) == 0) return i;
    return -1;
}

/* --- hand-overs --- */

HandOver hand_over(const Op *op) {
    switch (op->code) {
    case OP_ACQUIRE: return HAND_ACQUIRE;
    case OP_PUT: return HAND_PUT;
    case OP_COMMIT: return HAND_COMMIT;
    case OP_WAIT: return HAND_WAIT;
    case OP_GET: return HAND_GET;
    case OP_RELEASE: return HAND_RELEASE;
    case OP_SKIP: return HAND_SKIP;
    default: return HAND_NONE;
    }
}

bool hand_is_producers(HandOver hand) { return hand == HAND_ACQUIRE || hand == HAND_PUT || hand == HAND_COMMIT; }

static bool has_slot_only(const Op *op) { return op->code == OP_PUT || op->code == OP_GET; }

Op *hand_begin(const Kernel *k, const Op *op) {
    return has_slot_only(op) && ref_is_value(op->operands[0]) ? ir_value(k, op->operands[0])->op : NULL;
}

Ref hand_ring(const Kernel *k, const Op *op) {
    if (hand_over(op) == HAND_NONE) return REF_NONE;
    if (has_slot_only(op)) op = hand_begin(k, op);
    return op ? op->operands[0] : REF_NONE;
}

Op *hand_ring_op(const Kernel *k, const Op *op) {
    Ref ring = hand_ring(k, op);
    return ref_is_value(ring) ? ir_value(k, ring)->op : NULL;
}

int hand_field(const Op *op) { return (int)op_int(op, AT_FIELD_NUMBER, 0); }

const char *hand_field_name(const Kernel *k, const Op *op) {
    return ir_type(k, op->operands[0])->ring->fields[hand_field(op)].name;
}

Ref put_value(const Op *put) { return op_operand(put, 1); }

bool hands_over_by(const Op *op, HandOver kind, Ref ring) {
    if (hand_over(op) == kind && (ring == REF_NONE || op->operands[0] == ring)) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (hands_over_by(inner, kind, ring)) return true;
    return false;
}

bool hands_over(const Op *op) {
    if (hand_over(op) != HAND_NONE) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (hands_over(inner)) return true;
    return false;
}

bool hands_over_items(const Op *op) {
    return hands_over_by(op, HAND_ACQUIRE, REF_NONE) || hands_over_by(op, HAND_WAIT, REF_NONE) ||
           hands_over_by(op, HAND_SKIP, REF_NONE);
}

static const Op *taking_loop(const Region *region, Ref ring, const Op *inside) {
    const Op *found = NULL;
    for (const Op *op = region->first; op && !found; op = op->next) {
        if (op->code == OP_WAIT && op->operands[0] == ring) return inside;
        for (int i = 0; i < op->region_count && !found; i++)
            found = taking_loop(op->regions[i], ring, op->code == OP_IF ? inside : op);
    }
    return found;
}

const Op *ring_taking_loop(const Region *role, Ref ring) { return taking_loop(role, ring, NULL); }

int ring_acquires(const Region *region, Ref ring) {
    int count = 0;
    for (const Op *op = region->first; op; op = op->next) {
        count += op->code == OP_ACQUIRE && op->operands[0] == ring;
        for (int i = 0; i < op->region_count; i++) count += ring_acquires(op->regions[i], ring);
    }
    return count;
}

void ring_set_type(Kernel *k, Ref ring, const Type *type) {
    const Type *slot = ty_slot(k->module, type);
    ir_value(k, ring)->type = type;
    for (size_t v = 1; v < k->values.count; v++) {
        const Op *op = k->values.at[v].op;
        if (op && (op->code == OP_ACQUIRE || op->code == OP_WAIT) && op->operands[0] == ring)
            k->values.at[v].type = slot;
    }
}
