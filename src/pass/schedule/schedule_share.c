/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_share.c: how many blocks of a crowd (pass/ring/ring_crowd.c) the registers of a multiprocessor hold.
 *
 * What a thread holds is estimated from the tiles that are alive at once: in a trip of a loop what it carries, what it
 * has fetched for the next one, and the operand that it makes; elsewhere the tiles that are used later. Addresses,
 * places and conditions come on top. And of rows: what a thread holds while its program reduces one. */
#include "pass/schedule/schedule.h"

/* Registers of the operand that a thread makes: each element before they are packed, if it stays there; on its way to
 * shared memory it is made piece by piece, of what was loaded. */
static int64_t operand_registers(const Kernel *k, Ref operand) {
    const Op *op = ir_value(k, operand)->op;
    bool leaves = schedule_in_shared(k, operand);
    while (op && (op->code == OP_PERMUTE || op->code == OP_CONVERT)) {
        operand = op->operands[0];
        op = ir_value(k, operand)->op;
    }
    const Layout *layout = schedule_layout(k, operand);
    if (!layout || layout->home != HOME_REGISTERS) return 0;
    return leaves ? layout_words(k, operand) : layout->registers;
}

typedef struct Trip {
    const Kernel *k;
    int64_t most;
} Trip;

/* Registers of a thread in a trip of the loop: what it carries, what it has for the next trip, operands. */
static void look_at_trip(Op *loop, void *user) {
    Trip *trip = user;
    const Region *body = loop->code == OP_FOR ? loop->regions[0] : NULL;
    int64_t held = 0, operand = 0;
    for (int i = 1; body && i < body->arg_count; i++) {
        Ref next = body->last->operands[i - 1];
        const Op *from = ref_is_value(next) ? ir_value(trip->k, next)->op : NULL;
        held += layout_words(trip->k, body->args[i]) * (from && from->code == OP_DOT ? 1 : 2);
    }
    for (const Op *op = body ? body->first : NULL; op; op = op->next)
        for (int i = 0; i < 2 && op->code == OP_DOT; i++) {
            int64_t own = operand_registers(trip->k, op->operands[i]);
            if (own > operand) operand = own;
        }
    if (held + operand > trip->most) trip->most = held + operand;
}

/* Words of values that die with each op of the region, by op. */
static Map deaths_in(const Schedule *s, const Region *region) {
    UserIndex users = ir_index_users(s->k, s->arena);
    Map dies = {0};
    for (const Op *op = region->first; op; op = op->next)
        for (int i = 0; i < op->result_count; i++) {
            Ref value = op->results[i];
            bool used = users.start[value] < users.start[value + 1];
            const Op *last = used ? users.list[users.start[value + 1] - 1] : op;
            while (last->parent != region) last = last->parent->owner;
            MapEntry *entry = map_find_number(&dies, (uintptr_t)last);
            uintptr_t words = (entry ? (uintptr_t)entry->value : 0) + (uintptr_t)layout_words(s->k, value);
            map_put_number(&dies, s->arena, (uintptr_t)last, (void *)words);
        }
    return dies;
}

/* Of tiles that are alive at once in the region, at most. What an op makes takes the place of what it uses last. */
static int64_t alive_in(const Schedule *s, const Region *region) {
    Map dies = deaths_in(s, region);
    int64_t alive = 0, most = 0;
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->result_count; i++) alive += layout_words(s->k, op->results[i]);
        MapEntry *entry = map_find_number(&dies, (uintptr_t)op);
        if (entry) alive -= (int64_t)(uintptr_t)entry->value;
        if (alive > most) most = alive;
    }
    return most;
}

/* --- rows --- */
/* Is the value there before the op of the region, and needed behind it? */
static bool spans(const Schedule *s, const UserIndex *users, Ref value, const Op *at) {
    const Region *region = at->parent;
    const Value *v = ir_value(s->k, value);
    const Op *made = v->op;
    while (made && made->parent != region) made = made->parent->owner;
    for (const Op *op = made ? at : NULL; op; op = op->next)
        if (op == made) return false; /* made behind it, or by it */
    for (int i = users->start[value]; i < users->start[value + 1]; i++) {
        const Op *use = users->list[i];
        while (use && use->parent != region) use = use->parent->owner;
        if (!use) continue;
        if (!made && v->region != region) return true; /* from outside: in every trip again */
        for (const Op *op = at->next; op; op = op->next)
            if (op == use) return true;
    }
    return false;
}

typedef struct Rows {
    const Schedule *s;
    UserIndex users;
    int64_t most;
    bool dots;
} Rows;

static void look_at_row(Op *op, void *user) {
    Rows *rows = user;
    const Op *loop = op->parent->owner;
    rows->dots |= op->code == OP_DOT;
    if (op->code != OP_REDUCE || !loop || loop->code != OP_FOR) return;
    int64_t held = 0;
    for (Ref value = 1; value < (Ref)rows->s->k->values.count; value++) {
        bool used = rows->users.start[value] < rows->users.start[value + 1];
        if (used && spans(rows->s, &rows->users, value, op)) held += layout_words(rows->s->k, value);
    }
    if (held > rows->most) rows->most = held;
}

int schedule_row_registers(const Schedule *s) {
    Rows rows = {.s = s, .users = ir_index_users(s->k, s->arena)};
    ir_walk(s->k->body, look_at_row, &rows);
    return rows.dots ? 0 : (int)rows.most;
}

bool schedule_has_movers(const Schedule *s) {
    const Op *load = role_find(s->tasks, ROLE_LOAD);
    return load && !role_is_guest(load);
}

/* Of blocks with a role that loads, `ring` has looked (ring_gang.c). */
bool schedule_share_holds(const Schedule *s, int blocks) {
    if (s->tasks && schedule_has_movers(s)) return true;
    const Machine *machine = s->cx->machine;
    int warps = layout_warps(s->cx, s->k), step = machine->register_step ? machine->register_step : 1;
    int64_t each = machine->registers / (blocks * warps * machine->lanes) / step * step;
    int rows = schedule_row_registers(s);
    if (rows) return rows + machine->cost.beside_rows <= each;
    bool fewest = (blocks - 1) * warps < machine->cost.crowd_warps; /* fewer hide less than some spills cost */
    Trip trip = {s->k, alive_in(s, s->tasks ? role_find(s->tasks, ROLE_COMPUTE)->regions[0] : s->k->body)};
    ir_walk(s->k->body, look_at_trip, &trip);
    return trip.most + (fewest ? 0 : machine->cost.crowd_registers) <= each;
}

bool schedule_fills_registers(const Schedule *s) {
    const Machine *machine = s->cx->machine;
    int64_t own = machine->registers / (machine->lanes * layout_warps(s->cx, s->k));
    if (own > machine->thread_registers) own = machine->thread_registers;
    for (Ref value = 1; own && value < (Ref)s->k->values.count; value++) {
        const Layout *layout = s->uses[value] ? schedule_layout(s->k, value) : NULL;
        if (layout && layout->home == HOME_REGISTERS && layout_words(s->k, value) > own) return true;
    }
    return false;
}
