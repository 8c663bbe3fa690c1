/* SPDX-License-Identifier: Apache-2.0 */
/* ring_sink.c: tiles of a slot that a loop uses in every trip, converted there and not before.
 *
 *     %s = wait %in                              %s = wait %in
 *     %t = get %s.tw                             %t = get %s.tw
 *     %w = cast %t : f32[64,64]           ->     for { %w = cast %t : f32[64,64] ; mul %x, %w }
 *     for { mul %x, %w }                         release %in, %s
 *     release %in, %s
 *
 * `fold` takes what does not change out of loops. Here that would hold the tile in registers through all trips, and
 * wider than it lies in shared memory, where it stays anyway. So where such tiles are more than a thread has registers
 * to spare for, each trip reads them again.
 *
 * And a tile that products take from its slot, as their right operand, while other ops read it too, is two views: the
 * products' stays in shared memory, and only the other one is read to registers. */
#include "ir/ringform.h"
#include "pass/ring/ring_cut.h"

typedef struct Sink {
    Kernel *k;
    Op *loop;
    Ref value;
    bool outside, in_dot; /* uses that are not in the loop; that are products' */
    Op *first;            /* the op of the loop's body that uses it first, or holds such a use */
} Sink;

static void note_use(Op *op, void *user) {
    Sink *s = user;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] != s->value) continue;
        Op *at = op;
        while (at && at->parent != s->loop->regions[0]) at = at->parent->owner;
        if (!at) s->outside = true;
        if (op->code == OP_DOT || op_has(op->code, TRAIT_TERMINATOR)) s->in_dot = true;
        if (!s->first) s->first = at;
    }
}

/* A tile that stays in its slot. */
static bool is_in_slot(const Kernel *k, Ref r) {
    const Op *get = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    return get && get->code == OP_GET && !op_flag(get, AT_COPY);
}

/* Cheap to make again: a conversion or negation of such a tile, or of what is made of one so. */
static bool is_made_of_slot(const Kernel *k, const Op *op) {
    for (int steps = 0; steps < 3; steps++) {
        if ((op->code != OP_CAST && op->code != OP_NEG) || ir_type(k, op->results[0])->rank != 2) return false;
        if (is_in_slot(k, op->operands[0])) return true;
        op = ref_is_value(op->operands[0]) ? ir_value(k, op->operands[0])->op : NULL;
        if (!op) return false;
    }
    return false;
}

static Sink uses_of(Kernel *k, const Op *tasks, Op *loop, Ref value) {
    Sink s = {.k = k, .loop = loop, .value = value};
    ir_walk(tasks->regions[tasks->region_count - 1], note_use, &s);
    return s;
}

static bool is_used_inside(Cut *c, const Op *tasks, Op *loop, const Op *op, Op **first) {
    Sink s = uses_of(c->k, tasks, loop, op->results[0]);
    *first = s.first;
    return !s.outside && !s.in_dot && s.first;
}

/* The slot that it is made of is given back behind the loop, not before. */
static void hold_slot(Kernel *k, const Op *made, Op *loop) {
    while (made->code != OP_GET) made = ir_value(k, made->operands[0])->op;
    for (Op *op = loop->parent->first; op != loop; op = op->next)
        if (op->code == OP_RELEASE && op->operands[1] == made->operands[0]) {
            ir_move(op, loop->parent, loop->next);
            return;
        }
}

static void sink_into(Cut *c, const Op *tasks, Op *loop, int threads) {
    int64_t bytes = 0;
    Op *first;
    for (Op *op = loop->parent->first; op && op != loop; op = op->next) {
        const Type *type = op->result_count == 1 ? ir_type(c->k, op->results[0]) : NULL;
        if (type && is_made_of_slot(c->k, op) && is_used_inside(c, tasks, loop, op, &first))
            bytes += ty_elements(type) * ty_elem_bytes(type);
    }
    if (bytes / 4 / threads <= c->cx->machine->cost.other_registers) return;
    for (Op *op = loop->previous, *before; op; op = before) { /* what is used by one that went comes behind it */
        before = op->previous;
        bool sinks = op->result_count == 1 && is_made_of_slot(c->k, op);
        if (!sinks || !is_used_inside(c, tasks, loop, op, &first)) continue;
        ir_move(op, loop->regions[0], first);
        hold_slot(c->k, op, loop);
    }
}

/* --- two views of a slot --- */

typedef enum Use { USE_RIGHT, USE_LEFT, USE_OTHER } Use;

static Use use_of(const UserIndex *users, const Op *op, Ref value) {
    if (op->code == OP_DOT && op->operands[0] == value) return USE_LEFT;
    if (op->code == OP_DOT) return op->operands[1] == value ? USE_RIGHT : USE_OTHER;
    if (op->code != OP_PERMUTE) return USE_OTHER;
    Ref turned = op->results[0];
    for (int i = users->start[turned]; i < users->start[turned + 1]; i++)
        if (use_of(users, users->list[i], turned) != USE_RIGHT) return USE_OTHER;
    return USE_RIGHT;
}

static void split_views(Cut *c, const Op *compute) {
    FoundOps gets = ir_list(compute->regions[0], OP_GET, c->arena);
    UserIndex users = ir_index_users(c->k, c->arena);
    for (size_t g = 0; g < gets.count; g++) {
        Op *get = gets.at[g];
        Ref value = get->results[0];
        int uses[3] = {0};
        for (int i = users.start[value]; i < users.start[value + 1]; i++) uses[use_of(&users, users.list[i], value)]++;
        if (op_flag(get, AT_COPY) || !uses[USE_RIGHT] || uses[USE_LEFT] || !uses[USE_OTHER]) continue;
        Builder b = ir_builder_before(c->k, get);
        RefMap none = {.arena = c->arena};
        Ref other = ir_clone(&b, get, &none)->results[0];
        for (int i = users.start[value]; i < users.start[value + 1]; i++) {
            Op *user = users.list[i];
            if (use_of(&users, user, value) != USE_OTHER) continue;
            for (int o = 0; o < user->operand_count; o++)
                if (user->operands[o] == value) user->operands[o] = other;
        }
    }
}

void cut_sink(Cut *c, Op *tasks) {
    const Op *compute = role_find(tasks, ROLE_COMPUTE);
    const Machine *machine = c->cx->machine;
    if (!compute || !machine->has_threads || !machine->group_warps) return;
    int threads = (int)op_int(compute, AT_WORKERS, 1) * machine->group_warps * machine->lanes;
    split_views(c, compute);
    FoundOps loops = ir_list(compute->regions[0], OP_FOR, c->arena);
    for (size_t i = 0; i < loops.count; i++) sink_into(c, tasks, loops.at[i], threads);
}
