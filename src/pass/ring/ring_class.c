/* SPDX-License-Identifier: Apache-2.0 */
/* ring_class.c: which op belongs to which role.
 *
 * First the replicable values, as the largest fixed point: parameters, literals, program ids, pure
 * ops on replicable operands, scalars and index vectors loaded from memory that the kernel does not write, variables
 * of loops with replicable bounds, carried values with replicable first and next value. Every role
 * computes its own copy of those. Then the accesses:
 *
 *   load     operands and control replicable, no earlier write of the task concerns its memory, none
 *            between it and its first use either (the load may happen as late as that), and worth it:
 *            it feeds a dot, or repeats in a loop with at least 1 KB (all = every one)
 *   store    place and control replicable, no later read, atomic or fence of the task concerns its
 *            memory, and no later write that stays in compute: stores of the role keep their order,
 *            but all of them may happen behind what compute does
 *   compute  everything else
 *
 * Where compute reaches no memory (Tensix) it has no integers either: each role reads tiles of integers for itself, and a
 * store of what is made of such is the store role's alone.
 *
 * Rows of numbers come later. Those that operands are made with (scales of weights) come with the tiles of a trip that
 * is too short to fetch them ahead in; those that a product is weighed with (exponentials of differences) where a role
 * loads: the threads that compute have no registers to fetch them ahead with.
 *
 * Which memory an access concerns, and what stands before it, ring_order.c knows. Loads of one region
 * share a ring when no dot and no other hand-over lies between their first uses; loops that follow
 * each other and load equal tiles of the same tensors share one too. */
#include "analysis/facts.h"
#include "pass/ring/ring_cut.h"

/* Less is no tile; less does not fill registers. Orders of magnitude, no facts of a chip. */
enum { WORTH_BYTES = 1024, KEPT_BYTES = 8192 };

/* --- order --- */

static void number_region(Cut *c, const Region *region, uintptr_t *next) {
    for (int i = 0; i < region->arg_count; i++) *VEC_PUSH(&c->values, c->arena) = region->args[i];
    for (const Op *op = region->first; op; op = op->next) {
        map_put_number(&c->order, c->arena, (uintptr_t)op, (void *)++*next);
        for (int i = 0; i < op->region_count; i++) number_region(c, op->regions[i], next);
        for (int i = 0; i < op->result_count; i++) *VEC_PUSH(&c->values, c->arena) = op->results[i];
    }
}

int cut_order(const Cut *c, const Op *op) {
    MapEntry *entry = map_find_number(&c->order, (uintptr_t)op);
    return entry ? (int)(uintptr_t)entry->value : 0;
}

CutRing *cut_ring_of(const Cut *c, const Op *op) {
    MapEntry *entry = map_find_number(&c->ring_of, (uintptr_t)op);
    return entry ? c->rings.at[(uintptr_t)entry->value - 1] : NULL;
}

/* The op of the region that is, or contains, the op. */
static Op *child_of(const Region *region, Op *op) {
    while (op && op->parent != region) op = op->parent->owner;
    return op;
}

/* --- index vectors --- */

/* What an index vector is made of is one too: the numbers of a block table, and the rows that they become. */
static void mark_index(Cut *c, Ref r) {
    if (!ref_is_value(r) || c->index[r] || !ir_type(c->k, r)->rank) return;
    c->index[r] = true;
    const Value v = *ir_value(c->k, r);
    if (!v.op && v.region->owner && v.region->owner->code == OP_FOR && v.index) {
        mark_index(c, v.region->owner->operands[2 + v.index]);
        mark_index(c, v.region->last->operands[v.index - 1]);
    }
    bool pure = v.op && op_has(v.op->code, TRAIT_PURE) && !v.op->region_count;
    bool read = v.op && (v.op->code == OP_LOAD || v.op->code == OP_TLOAD);
    for (int i = 0; (pure || read) && i < v.op->operand_count; i++) mark_index(c, v.op->operands[i]);
}

static void note_index(Op *op, void *user) {
    if (op->code != OP_TLOAD && op->code != OP_TSTORE && op->code != OP_TATOMIC) return;
    RefList offsets = op_list(op, 0);
    for (int i = 0; i < offsets.count; i++) mark_index(user, offsets.at[i]);
}

/* Is it read there as an index, or made into one? */
static bool is_index_use(const Cut *c, const Op *op, Ref r) {
    bool all = op->result_count > 0;
    for (int i = 0; i < op->result_count; i++) all &= c->index[op->results[i]];
    if (all || (op->code != OP_TLOAD && op->code != OP_TSTORE)) return all;
    int uses = 0, places = 0;
    RefList offsets = op_list(op, 0);
    for (int i = 0; i < op->operand_count; i++) uses += op->operands[i] == r;
    for (int i = 0; i < offsets.count; i++) places += offsets.at[i] == r;
    return places && uses == places;
}

/* Where compute does not reach memory, what is computed with as well is data like others. */
static void keep_mere_indices(Cut *c) {
    for (bool changed = true; changed;) {
        changed = false;
        for (Ref r = 0; r < c->value_count; r++) {
            bool mere = c->index[r];
            for (int i = c->users.start[r]; mere && i < c->users.start[r + 1]; i++)
                mere = is_index_use(c, c->users.list[i], r);
            changed |= mere != c->index[r];
            c->index[r] = mere;
        }
    }
}

/* Integers in the units of matrices: as they are, or once they are floats. What else is computed with them? */
static bool has_other_uses(const Cut *c, Ref r) {
    for (int i = c->users.start[r]; i < c->users.start[r + 1]; i++) {
        const Op *user = c->users.list[i];
        bool is_float = user->code == OP_CAST && elem_is_float(ir_type(c->k, user->results[0])->elem);
        if (user->code == OP_DOT || is_float) continue;
        if (user->result_count != 1 || user->region_count || !op_has(user->code, TRAIT_PURE)) return true;
        if (op_has(user->code, TRAIT_ELEMENTWISE) || has_other_uses(c, user->results[0])) return true;
    }
    return false;
}

/* A tile of integers, where only the roles that reach memory compute with such: each of them reads the elements that it
 * needs, one by one. What the kernel writes does not reach it (memory is as it was before the launch), so only the task's
 * own writes before it are in the way. */
static bool is_read_by_elements(Cut *c, const Op *load, Ref r) {
    const Type *type = ir_type(c->k, r);
    if (!c->cx->machine->roles_always || !type->rank || elem_is_float(type->elem) || type->pointer) return false;
    if (elem_info[type->elem].bits == 8 && !c->index[r] && !has_other_uses(c, r)) return false;
    return !cut_write_before(c, load);
}

/* May each role load it for itself? A thread needs the indices of its own rows, in whichever role it is. */
static bool is_read_by_each(Cut *c, const Op *load, Ref r) {
    if (is_read_by_elements(c, load, r)) return true;
    return (ir_type(c->k, r)->rank == 0 || c->index[r]) && cut_is_stable(c, load);
}

/* --- replicable values --- */

static bool is_replicable(const Cut *c, Ref r) { return !ref_is_value(r) || c->replicable[r]; }

/* Of an `if`, or a `while`. */
static Ref condition_of(const Op *op) {
    return op->code == OP_WHILE ? op->regions[0]->last->operands[0] : op->operands[0];
}

/* A `while` of which each role runs its own, where roles are programs that can. */
static bool may_test(const Cut *c, const Op *op) { return op->code == OP_WHILE && !c->cx->machine->roles_always; }

bool cut_control_is_replicable(const Cut *c, const Op *op) {
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner) {
        if (owner->code == OP_FOR) {
            for (int i = 0; i < 3; i++)
                if (ref_is_value(owner->operands[i]) && !c->replicable[owner->operands[i]]) return false;
        } else if (owner->code == OP_IF || may_test(c, owner)) {
            if (!is_replicable(c, condition_of(owner))) return false;
        } else
            return false;
    }
    return true;
}

static bool operands_are_replicable(const Cut *c, const Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        if (!is_replicable(c, op->operands[i])) return false;
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF && !is_replicable(c, op->attrs[i].ref)) return false;
    return true;
}

static bool carried_is_replicable(const Cut *c, const Op *loop, int i) {
    const Region *body = loop->regions[0];
    return is_replicable(c, loop->operands[3 + i]) && is_replicable(c, body->last->operands[i]) &&
           is_replicable(c, body->args[1 + i]) && is_replicable(c, loop->results[i]) && is_replicable(c, body->args[0]);
}

/* The same of a `while`: what it begins with, what its test hands on, what a trip does. */
static bool tested_is_replicable(const Cut *c, const Op *loop, int i) {
    const Region *test = loop->regions[0], *body = loop->regions[1];
    return is_replicable(c, condition_of(loop)) && is_replicable(c, loop->operands[i]) &&
           is_replicable(c, test->args[i]) && is_replicable(c, test->last->operands[1 + i]) &&
           is_replicable(c, body->args[i]) && is_replicable(c, body->last->operands[i]) &&
           is_replicable(c, loop->results[i]);
}

static bool value_is_replicable(Cut *c, Ref r) {
    const Value value = *ir_value(c->k, r);
    const Op *op = value.op ? value.op : value.region->owner;
    if (!op) return true; /* a parameter */
    if (!value.op) {
        if (may_test(c, op)) return tested_is_replicable(c, op, value.index);
        if (op->code != OP_FOR) return false;
        if (value.index) return carried_is_replicable(c, op, value.index - 1);
        for (int i = 0; i < 3; i++)
            if (!is_replicable(c, op->operands[i])) return false;
        return true;
    }
    if (!cut_control_is_replicable(c, op)) return false;
    switch (op->code) {
    case OP_FOR: return carried_is_replicable(c, op, value.index);
    case OP_WHILE: return may_test(c, op) && tested_is_replicable(c, op, value.index);
    case OP_IF:
        return is_replicable(c, op->operands[0]) && is_replicable(c, op->regions[0]->last->operands[value.index]) &&
               is_replicable(c, op->regions[1]->last->operands[value.index]);
    case OP_LOAD:
    case OP_TLOAD:
        return !op_flag(op, AT_VOLATILE) && operands_are_replicable(c, op) && is_read_by_each(c, op, r);
    case OP_BUF:
    case OP_BAR:
    case OP_RING:
    case OP_UNDEF: return false;
    default: break;
    }
    return op_has(op->code, TRAIT_PURE) && !op->region_count && operands_are_replicable(c, op);
}

static void find_replicable(Cut *c) {
    c->value_count = c->k->values.count;
    c->replicable = ARENA_ARRAY(c->arena, bool, c->value_count);
    c->index = ARENA_ARRAY(c->arena, bool, c->value_count);
    ir_walk(c->k->body, note_index, c);
    if (c->cx->machine->roles_always) keep_mere_indices(c);
    for (size_t i = 0; i < c->values.count; i++) c->replicable[c->values.at[i]] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < c->values.count; i++) {
            Ref r = c->values.at[i];
            if (!c->replicable[r] || value_is_replicable(c, r)) continue;
            c->replicable[r] = false;
            changed = true;
        }
    }
}

/* --- uses --- */

static bool is_view(const Op *op) {
    switch (op->code) {
    case OP_PERMUTE:
    case OP_RESHAPE:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_SLICE: return true;
    default: return false;
    }
}

typedef struct Uses {
    Cut *c;
    CutRing *ring;
    Ref value;
} Uses;

static void note_uses(Cut *c, CutRing *ring, Ref value);

static void note_use(Op *op, const Uses *u) {
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] != u->value) continue;
        CutRing *ring = u->ring;
        Op *at = child_of(ring->region, op);
        bool leaves = op_has(op->code, TRAIT_TERMINATOR);
        if (leaves || (op->code == OP_FOR && i >= 3) || op->code == OP_WHILE) ring->copies = true;
        if (!ring->first_use || cut_order(u->c, at) < cut_order(u->c, ring->first_use)) ring->first_use = at;
        if (!(leaves && op->parent == ring->region) &&
            (!ring->last_use || cut_order(u->c, at) > cut_order(u->c, ring->last_use)))
            ring->last_use = at;
        if (op->code == OP_DOT) ring->feeds_dot = true;
        if (at != op && (at->code == OP_FOR || at->code == OP_WHILE)) ring->in_trips = true;
        if (is_view(op))
            note_uses(u->c, ring, op->results[0]);
        else if (op->code == OP_CAST || op->code == OP_NEG || op->code == OP_INSERT) { /* on its way */
            CutRing probe = {.region = ring->region};
            note_uses(u->c, &probe, op->results[0]);
            ring->feeds_dot |= op->code != OP_NEG && probe.feeds_dot; /* as it is, or a piece of an operand */
            ring->in_trips |= probe.in_trips;
        }
    }
}

static void note_uses(Cut *c, CutRing *ring, Ref value) {
    for (int i = c->users.start[value]; i < c->users.start[value + 1]; i++)
        note_use(c->users.list[i], &(Uses){c, ring, value});
}

/* --- loads --- */

static int64_t tile_bytes(const Type *type) { return ty_elements(type) * ty_elem_bytes(type); }

static const Op *loop_around(const Op *op) {
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner->code == OP_FOR || owner->code == OP_WHILE) return owner;
    return NULL;
}

static void refuse(Cut *c, const Op *op, const char *why) { *VEC_PUSH(&c->refusals, c->arena) = (Stay){op, why}; }

static void refuse_for(Cut *c, const Op *op, const Op *conflict, const char *where) {
    Place place = {0};
    source_find(c->k->module->sources, conflict->range.begin, &place);
    refuse(c, op,
           arena_printf(c->arena, "`%s` in line %d may concern its memory %s", op_info[conflict->code].mnemonic,
                        place.line, where));
}

static CutRing *new_ring(Cut *c, Op *op, bool output) {
    CutRing *ring = ARENA_NEW(c->arena, CutRing);
    ring->output = output;
    ring->region = op->parent;
    ring->loop = loop_around(op);
    ring->in_loop = ring->loop != NULL;
    *VEC_PUSH(&ring->ops, c->arena) = op;
    return ring;
}

/* Is the scalar made from memory that is read in the loop? seen: by Ref. */
static bool is_read_in(const Cut *c, Ref r, const Op *loop, bool *seen) {
    if (!ref_is_value(r) || seen[r]) return false;
    seen[r] = true;
    const Value *v = ir_value(c->k, r);
    if (!v->op && v->region->owner == loop) { /* what the loop carries: by way of the trip before */
        bool counted = loop->code == OP_FOR, body = v->region == loop->regions[1 - counted];
        const Region *from = counted || !body ? loop->regions[1 - counted] : loop->regions[0];
        int at = counted ? v->index - 1 : v->index + body; /* a test has its condition in front */
        return at >= 0 && is_read_in(c, from->last->operands[at], loop, seen);
    }
    if (!v->op) return false;
    const Op *at = v->op;
    while (at && at->parent->owner != loop) at = at->parent->owner;
    if (!at) return false; /* made before the loop */
    if (v->op->code == OP_TLOAD || v->op->code == OP_LOAD) return true;
    for (int i = 0; i < v->op->operand_count; i++)
        if (is_read_in(c, v->op->operands[i], loop, seen)) return true;
    return false;
}

static bool chases(const Cut *c, const Op *load, const Op *loop) {
    bool *seen = ARENA_ARRAY(c->arena, bool, c->value_count);
    for (int i = 0; loop && i < load->operand_count; i++)
        if (is_read_in(c, load->operands[i], loop, seen)) return true;
    return false;
}

/* A tile that trips of a loop behind it read lies better in shared memory than in registers through all of them. Only
 * where there are products, and so roles (ring_sink.c): without them it would be read into registers all the same. */
static bool is_kept(const Cut *c, const Op *load, const CutRing *ring) {
    const Machine *machine = c->cx->machine;
    return machine->has_threads && machine->roles_allowed && ring->in_trips && !ring->in_loop && !ring->copies &&
           ring->bytes >= KEPT_BYTES && ir_type(c->k, load->results[0])->rank == 2 &&
           ir_list(c->k->body, OP_DOT, c->arena).count > 0;
}

static bool is_worth(const Cut *c, const Op *load, const CutRing *ring) {
    if (load->code == OP_TLOAD && is_kept(c, load, ring)) return true;
    return c->all || (load->code == OP_TLOAD && (ring->feeds_dot || (ring->in_loop && ring->bytes >= WORTH_BYTES)));
}

static void consider_load(Cut *c, Op *op, bool in_any_case) {
    if (c->replicable[op->results[0]]) return; /* every role reads it for itself */
    CutRing *ring = new_ring(c, op, false);
    note_uses(c, ring, op->results[0]);
    if (!ring->first_use) return;
    ring->bytes = tile_bytes(ir_type(c->k, op->results[0]));
    if (!in_any_case && !is_worth(c, op, ring)) return;
    if (!operands_are_replicable(c, op) || !cut_control_is_replicable(c, op)) {
        refuse(c, op,
               "its place, or whether it happens, is computed from data, or read where the kernel "
               "writes");
        return;
    }
    ring->chases = ring->loop && chases(c, op, ring->loop);
    ring->asked = ring->loop && cut_may_be_copied(c, op) && cut_is_asked(c, ring->loop);
    const Op *before = cut_write_before(c, op);
    const Op *conflict = before ? before : cut_write_between(c, op, ring->first_use);
    if (conflict)
        refuse_for(c, op, conflict, before ? "before it" : "before it is used");
    else
        *VEC_PUSH(&c->rings, c->arena) = ring;
}

static bool has_handover(const Cut *c, const Op *op) {
    if (cut_ring_of(c, op)) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (has_handover(c, inner)) return true;
    return false;
}

/* A dot, or a store that may become a hand-over. */
static bool has_dot_or_write(const Op *op) {
    if (op->code == OP_DOT || (cut_is_write(op) && !cut_is_combine(op))) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (has_dot_or_write(inner)) return true;
    return false;
}

/* Nothing that would make one wait for the other's consumer; and what is too much for one ring is two, where it may
 * be. Values that outlive their slot are copied out of it: one that stays there for a loop (is_kept) does not join
 * them. */
static bool may_share(const Cut *c, const CutRing *a, const CutRing *b) {
    if (a->region != b->region) return false;
    bool split = !c->cx->machine->roles_always;
    bool stays = !a->in_loop && a->copies != b->copies && c->cx->machine->has_threads;
    if (split && (a->ops.count >= MAX_RING_FIELDS || stays)) return false;
    const Op *from = a->first_use, *to = b->first_use;
    if (cut_order(c, from) > cut_order(c, to)) {
        from = b->first_use;
        to = a->first_use;
    }
    for (const Op *op = from; op && op != to; op = op->next) {
        if (has_dot_or_write(op) || (has_handover(c, op) && !cut_ring_of(c, op))) return false;
    }
    return true;
}

static void merge(Cut *c, CutRing *into, const CutRing *from) {
    for (size_t i = 0; i < from->ops.count; i++) *VEC_PUSH(&into->ops, c->arena) = from->ops.at[i];
    if (cut_order(c, from->first_use) < cut_order(c, into->first_use)) into->first_use = from->first_use;
    if (!into->last_use || (from->last_use && cut_order(c, from->last_use) > cut_order(c, into->last_use)))
        into->last_use = from->last_use;
    into->copies |= from->copies;
    into->feeds_dot |= from->feeds_dot;
    into->chases |= from->chases;
    into->asked |= from->asked;
    into->bytes += from->bytes;
}

void cut_index(Cut *c) {
    c->ring_of = (Map){0};
    for (size_t i = 0; i < c->rings.count; i++)
        for (size_t j = 0; j < c->rings.at[i]->ops.count; j++)
            map_put_number(&c->ring_of, c->arena, (uintptr_t)c->rings.at[i]->ops.at[j], (void *)(uintptr_t)(i + 1));
}

static void group_loads(Cut *c) {
    cut_index(c);
    size_t kept = 0;
    for (size_t i = 0; i < c->rings.count; i++) {
        CutRing *ring = c->rings.at[i], *host = NULL;
        for (size_t j = 0; j < kept && !host; j++)
            if (!c->rings.at[j]->output && !ring->output && may_share(c, c->rings.at[j], ring)) host = c->rings.at[j];
        if (host)
            merge(c, host, ring);
        else
            c->rings.at[kept++] = ring;
    }
    c->rings.count = kept;
    cut_index(c);
}

/* Full blocks, then the diagonal: two loops over the same tensors, one behind the other, take turns with one ring. */
static bool may_take_turns(const Cut *c, const CutRing *a, const CutRing *b) {
    if (a->output || b->output || a->shares || a->ops.count != b->ops.count || !a->loop || !b->loop) return false;
    bool siblings = a->loop != b->loop && a->loop->parent == b->loop->parent && a->region->owner == a->loop &&
                    b->region->owner == b->loop;
    for (size_t i = 0; siblings && i < a->ops.count; i++) {
        const Op *x = a->ops.at[i], *y = b->ops.at[i];
        siblings = x->operands[0] == y->operands[0] && ir_type(c->k, x->results[0]) == ir_type(c->k, y->results[0]);
    }
    return siblings;
}

static void share_rings(Cut *c) {
    for (size_t i = 0; i < c->rings.count; i++)
        for (size_t j = 0; j < i && !c->rings.at[i]->shares; j++)
            if (may_take_turns(c, c->rings.at[j], c->rings.at[i])) c->rings.at[i]->shares = c->rings.at[j];
}

/* --- stores --- */

static void consider_store(Cut *c, Op *op) {
    Ref value = op_operand(op, 1);
    if (c->meets && cut_concerns_reads(c, op)) {
        refuse(c, op, "loads wait for it, which may read what it writes");
        *VEC_PUSH(&c->met, c->arena) = op;
        cut_note_stay(c, op);
        return;
    }
    bool place = cut_control_is_replicable(c, op);
    for (int i = 0; i < op->operand_count; i++)
        place = place && (op->operands[i] == value || is_replicable(c, op->operands[i]));
    if (!place) {
        refuse(c, op,
               "its place, or whether it happens, is computed from data, or read where the kernel "
               "writes");
        cut_note_stay(c, op);
        return;
    }
    CutRing *ring = new_ring(c, op, true);
    ring->bytes = tile_bytes(ir_type(c->k, value));
    ring->alone = c->cx->machine->roles_always && !elem_is_float(ir_type(c->k, value)->elem) && is_replicable(c, value);
    if (ring->alone) ring->bytes = 0;
    *VEC_PUSH(&c->rings, c->arena) = ring;
}

void cut_settle_stores(Cut *c) {
    for (bool changed = true; changed;) { /* one that stays may keep others */
        size_t kept = 0;
        for (size_t i = 0; i < c->rings.count; i++) {
            CutRing *ring = c->rings.at[i];
            const Op *store = ring->ops.at[0], *conflict = NULL;
            if (ring->output) conflict = cut_access_after(c, store);
            if (!conflict) {
                c->rings.at[kept++] = ring;
                continue;
            }
            refuse_for(c, store, conflict, "after it");
            cut_note_stay(c, store);
        }
        changed = kept < c->rings.count;
        c->rings.count = kept;
    }
    cut_index(c);
}

/* --- the whole --- */

typedef struct Visit {
    Cut *c;
    bool stores;
} Visit;

static void consider(Op *op, void *user) {
    const Visit *v = user;
    if (v->stores ? !cut_is_write(op) : !cut_is_read(op)) return;
    const char *why = cut_must_stay(v->c, op);
    if (cut_is_combine(op) && !v->c->cx->machine->roles_always) {
        cut_note_stay(v->c, op);
    } else if (why) {
        refuse(v->c, op, why);
        if (v->stores) cut_note_stay(v->c, op);
    } else if (v->stores) {
        consider_store(v->c, op);
    } else {
        consider_load(v->c, op, false);
    }
}

static void note_memory(Op *op, void *user) {
    if (cut_is_read(op) || cut_is_write(op) || cut_is_order(op)) cut_note_access(user, op);
}

static void look_for_limits(Op *op, void *user) {
    Cut *c = user;
    switch (op->code) {
    case OP_BUF:
    case OP_BAR:
    case OP_ASYNC_COPY:
    case OP_SPMD:
    case OP_PARALLEL:
    case OP_ASM_ACT:
    case OP_SYNC:
        if (!c->explicit_mode) c->explicit_mode = op_info[op->code].mnemonic;
        break;
    case OP_ATOMIC:
    case OP_ATOMIC_CAS:
    case OP_TATOMIC:
    case OP_PRINT:
    case OP_ASSERT: c->counts_programs = true; break;
    case OP_WHILE:
        for (const Op *inner = op->regions[0]->first; inner; inner = inner->next)
            if (cut_is_order(inner)) c->waits_for_programs = true;
        break;
    default: break;
    }
}

void cut_find_memory(Cut *c) {
    uintptr_t next = 0;
    number_region(c, c->k->body, &next);
    ir_walk(c->k->body, note_memory, c);
}

void cut_classify(Cut *c) {
    ir_walk(c->k->body, look_for_limits, c);
    if (c->explicit_mode) return;
    c->users = ir_index_users(c->k, c->arena);
    find_replicable(c);
    ir_walk(c->k->body, consider, &(Visit){c, false});
    group_loads(c);
    share_rings(c);
    ir_walk(c->k->body, consider, &(Visit){c, true});
    cut_settle_stores(c);
}

/* --- rows beside a product --- */

/* A row of numbers that a loop weighs its product with. */
static void consider_row(Op *op, void *user) {
    Cut *c = user;
    const Op *loop = op->parent->owner;
    if (op->code != OP_TLOAD || ir_type(c->k, op->results[0])->rank != 1 || cut_ring_of(c, op) ||
        cut_must_stay(c, op) || !loop || loop->code != OP_FOR || !cut_weighs(c->k, op->parent))
        return;
    consider_load(c, op, true);
}

/* Are the products of the loop those of few rows? Then a trip is over before memory answers, and there are not the
 * blocks that others would wait under. */
static bool is_short(const Cut *c, const Op *loop) {
    int few = c->cx->machine->cost.short_rows;
    bool found = false;
    for (const Op *op = loop->code == OP_FOR ? loop->regions[0]->first : NULL; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        const Type *sum = ir_type(c->k, op->results[0]);
        if (sum->rank != 2 || (sum->extent[0] > few && sum->extent[1] > few)) return false;
        found = true;
    }
    return found;
}

/* A row that copies bring without a thread (a role's: whole panels), from where the machine wants them to begin. */
static bool is_row(const Cut *c, const Op *load, bool role) {
    const Type *type = load->code == OP_TLOAD ? ir_type(c->k, load->results[0]) : NULL;
    int align = c->cx->machine->box_align, least = role ? WIDEST_PANEL / 4 : align;
    if (!type || type->rank != 1 || op_operand(load, 1) || box_is_indexed(c->k, load) || op_attr(load, AT_WRAP) ||
        op_attr(load, AT_DIMS) || tile_bytes(type) % least || !ir_fills_zero(c->k, load))
        return false;
    RefList offsets = op_list(load, 0);
    Facts facts = facts_new(c->k, false);
    return fact_divisor(&facts, offsets.at[offsets.count - 1]) * ty_elem_bytes(type) % align == 0;
}

typedef struct Rows {
    Cut *c;
    bool role; /* of its own loads */
    bool joined;
} Rows;

/* Scales, zero points: loaded by the threads that compute they would be waited for in every trip, however early the
 * tiles come; so they come with those. */
static void join_row(Op *op, void *user) {
    Rows *rows = user;
    Cut *c = rows->c;
    const Op *loop = op->parent->owner;
    if (!cut_is_read(op) || !loop || !is_short(c, loop) || !is_row(c, op, rows->role) || cut_ring_of(c, op) ||
        cut_must_stay(c, op) || cut_weighs(c->k, op->parent))
        return;
    size_t before = c->rings.count;
    consider_load(c, op, true);
    CutRing *row = c->rings.count > before ? c->rings.at[before] : NULL;
    c->rings.count = before;
    for (size_t i = 0; row && i < before; i++) {
        CutRing *tiles = c->rings.at[i];
        if (!tiles->feeds_dot || tiles->chases || !may_share(c, tiles, row)) continue;
        merge(c, tiles, row);
        cut_index(c);
        rows->joined = true;
        return;
    }
}

static void take_weights(Cut *c) {
    size_t before = c->rings.count, inputs = 0;
    if (before >= MAX_RINGS) return;
    ir_walk(c->k->body, consider_row, c);
    CutRing *rows = c->rings.count > before ? c->rings.at[before] : NULL;
    for (size_t i = before + 1; i < c->rings.count; i++)
        if (may_share(c, rows, c->rings.at[i])) merge(c, rows, c->rings.at[i]);
    c->rings.count = before;
    if (!rows) return;
    while (inputs < before && !c->rings.at[inputs]->output) inputs++;
    VEC_PUSH(&c->rings, c->arena);
    for (size_t i = before; i > inputs; i--) c->rings.at[i] = c->rings.at[i - 1];
    c->rings.at[inputs] = rows;
    cut_index(c);
}

void cut_take_rows(Cut *c, bool role) {
    Rows rows = {.c = c, .role = role};
    if (role) take_weights(c);
    if (c->cx->machine->cost.short_rows) ir_walk(c->k->body, join_row, &rows);
    if (!rows.joined) return;
    for (size_t i = 0; i < c->rings.count; i++) c->rings.at[i]->shares = NULL;
    share_rings(c); /* anew: loops that took turns may have other fields now */
}
