/* SPDX-License-Identifier: Apache-2.0 */
/* text_order.c: see text_order.h. */
#include "pass/schedule/text_order.h"

#include "ir/build.h"
#include "ir/tile_layout.h"

/* --- headers --- */
static void note_uses(const Op *op, bool *used) {
    for (int i = 0; i < op->operand_count; i++)
        if (ref_is_value(op->operands[i])) used[op->operands[i]] = true;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && ref_is_value(op->attrs[i].ref))
            used[op->attrs[i].ref] = true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next) note_uses(inner, used);
}

bool header_has(const bool *uses, const Op *op) {
    if (op->code == OP_ROLE) return false;
    bool reads = op_has(op->code, TRAIT_READS) && !op_has(op->code, TRAIT_WRITES);
    bool needed = !op_has(op->code, TRAIT_PURE) && !reads; /* what is only read is read by those that use it */
    for (int i = 0; i < op->result_count; i++) needed |= uses[op->results[i]];
    return needed;
}

bool *header_uses(const Kernel *k, Arena *arena, const Op *tasks, const Op *role, Ref value) {
    bool *used = ARENA_ARRAY(arena, bool, k->values.count);
    if (value != REF_NONE) used[value] = true;
    for (const Op *op = role_first(tasks); op && value == REF_NONE; op = role_next(op))
        if (op == role || role_host(op) == role_name(role)) note_uses(op, used);
    for (const Op *op = tasks_body(tasks)->last; op; op = op->previous)
        if (header_has(used, op)) note_uses(op, used);
    return used;
}

/* --- rings --- */
bool ring_runs_ahead(const Op *ring) { return op_word(ring, AT_MEANS, MEANS_TMA) == MEANS_ASYNC; }

bool ring_is_fused(const Op *ring) {
    return ring_runs_ahead(ring) || op_word(ring, AT_MEANS, MEANS_TMA) == MEANS_BUFFER;
}

static bool feeds(const Kernel *k, const Op *role) {
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_RING && ring_runs_ahead(op) && ring_producer(op) == role_name(role)) return true;
    return false;
}

const Op *role_feeder(const Kernel *k, const Op *tasks, const Op *role) {
    const Op *found = NULL;
    for (const Op *op = role_first(tasks); op; op = role_next(op))
        if (role_host(op) == role_name(role) && feeds(k, op)) found = op;
    return found;
}

/* --- gangs --- */
Op *gang_loop(const Op *role) {
    Op *op = role->regions[0]->first;
    while (op && !op_flag(op, AT_TOGETHER)) op = op->next;
    return op;
}

bool gang_varies(const Kernel *k, const Op *loop) {
    const Op *op = ref_is_value(loop->operands[1]) ? ir_value(k, loop->operands[1])->op : NULL;
    while (op && op->code != OP_TASKS) op = op->parent->owner;
    return op != NULL;
}

/* --- loads that run ahead --- */
bool twin_is_outer(const Op *loop) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next)
        if (op_attr(op, AT_TWIN)) return true;
    return false;
}

const Op *twin_cover(const Op *loop) {
    const Op *op = loop->regions[0]->first;
    while (op && !(op->code == OP_DOT && op_flag(op, AT_COVERS))) op = op->next;
    return op;
}

bool twin_fills(const Op *from, const Op *until) {
    for (const Op *op = from; op && op != until; op = op->next)
        if (op->code == OP_COMMIT) return true;
    return false;
}

/* --- products in flight --- */
const Op *late_release(const Region *body) {
    const Op *op = body->first;
    while (op && !(op->code == OP_RELEASE && op_attr(op, AT_BEHIND))) op = op->next;
    return op;
}

const Op *late_dot(const Op *loop) {
    const Op *dot = loop->regions[0]->first;
    while (dot->code != OP_DOT || !op_flag(dot, AT_FLIGHT)) dot = dot->next;
    return dot;
}

bool late_crosses(const Op *loop) {
    const Op *dot = loop->regions[0]->first;
    while (dot->code != OP_DOT) dot = dot->next;
    return dot != late_dot(loop);
}

/* A tile that lies in shared memory for a product, stored by threads. */
static const Op *taken_store(const Kernel *k, const Op *convert) {
    const Op *store = convert->next;
    if (convert->code != OP_CONVERT || !store || store->code != OP_TSTORE || op_attr(store, AT_AT)) return NULL;
    bool taken = ir_value(k, convert->operands[0])->layout->home == HOME_SHARED;
    return taken && op_operand(store, 1) == convert->results[0] ? store : NULL;
}

const Op *span_store(const Kernel *k, const Op *op) {
    if (op->code == OP_CONVERT) return taken_store(k, op);
    const Op *ring = op->code == OP_WAIT ? hand_ring_op(k, op) : NULL;
    bool stores = false;
    if (!ring || !ring_is_fused(ring) || ring_runs_ahead(ring)) return NULL;
    if (op_attr(ring, AT_PARTS) || op_attr(ring, AT_SOLO)) return NULL; /* they meet where it leaves */
    for (op = op->next; op && (op->code == OP_GET || op->code == OP_TSTORE); op = op->next)
        stores |= op->code == OP_TSTORE;
    return op && stores && op->code == OP_RELEASE && hand_ring_op(k, op) == ring ? op : NULL;
}

const Op *dot_span(const Kernel *k, const Op *dot) {
    const Op *last = NULL;
    for (const Op *op = dot->next, *end; op && (end = span_store(k, op)); op = end->next) last = end;
    return last;
}

/* Operands in a ring's slot have been waited for. */
static bool is_in_ring(const Kernel *k, Ref operand) {
    const Op *from = ir_value(k, operand)->op;
    while (from && from->code == OP_PERMUTE) from = ir_value(k, from->operands[0])->op;
    return from && from->code == OP_GET;
}

bool dot_is_continued(const Op *dot) {
    const Op *next = dot->next;
    while (next && next->code != OP_DOT) next = next->next;
    return op_flag(dot, AT_JOINS) && next && next->operands[2] == dot->results[0];
}

bool dot_reads_scratch(const Kernel *k, const Op *dot) {
    for (int i = 0; i < 2; i++)
        if (ir_value(k, dot->operands[i])->layout->home == HOME_SHARED && !is_in_ring(k, dot->operands[i])) return true;
    return false;
}

/* --- turned loops --- */
static bool touches(const Op *op, Ref value) {
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value) return true;
    return false;
}

TurnedLoop turned_parts(const Op *loop) {
    const Region *body = loop->regions[0];
    TurnedLoop t = {0};
    for (const Op *op = body->first; op; op = op->next) {
        bool behind = op_attr(op, AT_BEHIND);
        if (op->code == OP_DOT && behind) t.second = op;
        if (op->code == OP_DOT && !behind) t.first = op;
        if (behind && !t.tail) t.tail = op;
    }
    while (body->last->operands[t.carried] != t.second->results[0]) t.carried++;
    t.scale = body->first;
    while (t.scale != t.tail && !touches(t.scale, body->args[1 + t.carried])) t.scale = t.scale->next;
    return t;
}

bool loop_is_turned(const Op *loop) {
    return op_flag(loop, AT_ROTATE) || op_flag(loop, AT_TRAILS) || op_attr(loop, AT_LEADS);
}

TrailingLoop trailing_parts(const Op *loop) {
    TrailingLoop t = {.first = loop->regions[0]->first};
    while (t.first->code != OP_DOT) t.first = t.first->next;
    t.rest = t.first;
    while (t.rest->code == OP_DOT && !op_attr(t.rest, AT_BEHIND)) t.rest = t.rest->next;
    t.tail = t.rest;
    while (!op_attr(t.tail, AT_BEHIND)) t.tail = t.tail->next;
    t.releases = t.tail;
    while (t.releases->code == OP_DOT) t.releases = t.releases->next;
    return t;
}

/* Does it need that a head is done which is issued when its trip begins, or that the tails of the trip before are? */
static bool needs_earlier(const LeadingLoop *l, const Op *op) {
    if (op->code == OP_RELEASE || op->code == OP_DOT) return true;
    for (const Op *head = l->first; head != l->rest; head = head->next)
        if (!op_attr(head, AT_AHEAD) && ir_op_uses(op, head->results[0])) return true;
    return false;
}

LeadingLoop leading_parts(const Op *loop) {
    LeadingLoop l = {.first = loop->regions[0]->first};
    bool all = true;
    while (l.first->code != OP_DOT) l.first = l.first->next;
    l.rest = l.first;
    for (; l.rest->code == OP_DOT && !op_flag(l.rest, AT_FLIGHT); l.rest = l.rest->next)
        all &= op_attr(l.rest, AT_AHEAD) != NULL;
    l.issue = l.rest;
    for (int64_t i = op_int(loop, AT_LEADS, 0); i > 0; i--) l.issue = l.issue->next;
    l.settle = l.issue;
    while (!all && !needs_earlier(&l, l.settle)) l.settle = l.settle->next;
    l.releases = l.settle;
    while (!op_attr(l.releases, AT_BEHIND)) l.releases = l.releases->next;
    return l;
}
