/* SPDX-License-Identifier: Apache-2.0 */
/* threads_roles.c: roles that a kernel writes side by side, one behind the other in an order that their barriers
 * allow.
 *
 *     if t < 128 { for k { wait full[k] ; use ; arrive empty[k] } }      for k { wait empty[k] ; load ; arrive full[k]
 *     else { for k { wait empty[k] ; load ; arrive full[k] } }      ->           wait full[k] ; use ; arrive empty[k] }
 *
 * The roles are run through side by side: each goes on until it waits for what has not come, then the next does. Loops
 * with the same ends, at which roles have come together, become one, whose body is found in the same way in its first
 * trip. Whether that order holds in all trips, others find out: whoever drops the barriers proves it, and the
 * interpreter waits at them. What only threads of a role do keeps its condition; the rest needs none. */
#include "ir/barriers.h"
#include "ir/threads.h"

enum { MOST_ROLES = 8 };

typedef struct Role {
    Ref condition; /* of its threads; made before the roles begin */
    int64_t threads;
    Op *at; /* the next op; its region's terminator: it is done */
} Role;

typedef struct Order {
    Threads *t;
    BarWalk walk;
    bool failed;
} Order;

static bool is_terminator(const Op *op) { return !op || op_has(op->code, TRAIT_TERMINATOR); }

/* --- what may be taken apart --- */

/* Ops whose value differs between threads, outside of what has its own condition, would run in threads of others. */
static bool fits_region(const Threads *t, const Region *region) {
    for (const Op *op = region->first; !is_terminator(op); op = op->next) {
        bool differs = false, tile = threads_is_tile_op(t->k, op);
        if (threads_is_even(t, op)) continue;
        for (int i = 0; i < op->operand_count; i++) differs |= threads_differ(t, op->operands[i]);
        for (int i = 0; i < op->result_count; i++) differs |= threads_differ(t, op->results[i]);
        if (bars_are_inside(op)) {
            if (differs || op->result_count || (op->code != OP_FOR && op->code != OP_IF)) return false;
            for (int r = 0; r < op->region_count; r++)
                if (!fits_region(t, op->regions[r])) return false;
        } else if (differs && !tile && op->result_count && !op_has(op->code, TRAIT_ELEMENTWISE)) {
            return false;
        }
    }
    return true;
}

static bool is_same(const Kernel *k, Ref a, Ref b, int depth) {
    enum { DEEPEST = 16 };
    if (a == b) return true;
    if (!ref_is_value(a) || !ref_is_value(b) || depth > DEEPEST) return false;
    const Op *x = ir_value(k, a)->op, *y = ir_value(k, b)->op;
    if (!x || !y || x->code != y->code || x->operand_count != y->operand_count || ir_type(k, a) != ir_type(k, b))
        return false;
    bool read = x->code == OP_BLOAD || x->code == OP_TLOAD; /* of what the roles do not write: they would race */
    if ((!op_has(x->code, TRAIT_ELEMENTWISE) && !read) || x->attr_count) return false;
    for (int i = 0; i < x->operand_count; i++)
        if (!is_same(k, x->operands[i], y->operands[i], depth + 1)) return false;
    return true;
}

bool threads_same_number(const Kernel *k, Ref a, Ref b) { return is_same(k, a, b, 0); }

static bool is_same_loop(const Kernel *k, const Op *a, const Op *b) {
    for (int i = 0; i < 3; i++)
        if (!threads_same_number(k, a->operands[i], b->operands[i])) return false;
    return true;
}

/* --- one role, as far as it goes --- */

static void set_arrivals(const Region *region, const Role *role, Kernel *k) {
    for (Op *op = region->first; op && role->threads; op = op->next) {
        if (op->code == OP_BAR_ARRIVE) op_set(k, op, (Attr){.id = AT_ARRIVALS, .number = role->threads});
        for (int r = 0; r < op->region_count; r++) set_arrivals(op->regions[r], role, k);
    }
}

/* An `if` or loop with barriers inside, as far as its numbers are known; *passes: false where it waits for what has not
 * come. */
static bool run_inside(Order *o, const Op *op, bool *passes);

static bool run_region(Order *o, const Region *region, bool *passes) {
    *passes = true;
    for (const Op *op = region->first; !is_terminator(op) && *passes; op = op->next) {
        if (op->code == OP_BAR_WAIT && !bars_wait(&o->walk, op, passes)) return false;
        if (op->code == OP_BAR_ARRIVE && !bars_arrive(&o->walk, op)) return false;
        if (bars_are_inside(op) && !run_inside(o, op, passes)) return false;
    }
    return true;
}

/* The trips of a loop from one on. */
static bool run_trips(Order *o, const Op *op, int64_t first, bool *passes) {
    enum { MOST_TRIPS = 64 };
    int64_t lo, hi, step;
    Ref variable = op->regions[0]->args[0];
    bool known = bars_number(&o->walk, op->operands[0], &lo) && bars_number(&o->walk, op->operands[1], &hi) &&
                 bars_number(&o->walk, op->operands[2], &step) && step > 0 && hi - lo <= MOST_TRIPS * step;
    *passes = true;
    if (!known) return true; /* others prove it */
    for (int64_t at = lo + first * step; at < hi && *passes; at += step) {
        map_put_number(&o->walk.known, o->t->arena, variable, &at);
        bool good = run_region(o, op->regions[0], passes);
        map_put_number(&o->walk.known, o->t->arena, variable, NULL);
        if (!good) return false;
    }
    return true;
}

static bool run_inside(Order *o, const Op *op, bool *passes) {
    int64_t holds;
    *passes = true;
    if (op->code == OP_FOR) return run_trips(o, op, 0, passes);
    if (op->code != OP_IF || !bars_number(&o->walk, op->operands[0], &holds)) return true;
    return run_region(o, op->regions[holds ? 0 : 1], passes);
}

static void look_for_wait(Op *op, void *user) { *(bool *)user |= op->code == OP_BAR_WAIT; }

/* A loop in which roles may have to take turns. */
static bool is_shared_loop(const Op *op) {
    bool waits = false;
    if (is_terminator(op) || op->code != OP_FOR || !bars_are_inside(op)) return false;
    ir_walk(op->regions[0], look_for_wait, &waits);
    return waits;
}

/* Moves the role's op to the place; under its condition, if it does something for single threads. */
static void emit(Order *o, Builder *b, const Role *role, Op *op) {
    Threads *t = o->t;
    bool plain = op_has(op->code, TRAIT_PURE) || threads_is_tile_op(t->k, op) || bars_are_inside(op) ||
                 op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT || op->result_count;
    if (op->code == OP_SYNC) { /* all threads come here now */
        op_drop(op, AT_ID);
        op_drop(op, AT_ARRIVALS);
        op_set(t->k, op, (Attr){.id = AT_UNIT, .word = UNIT_BLOCK});
        plain = true;
    }
    if (plain) {
        ir_move(op, b->region, b->before);
        return;
    }
    b->range = op->range;
    Op *test = ir_if(b, role->condition, 0, NULL);
    for (int side = 0; side < 2; side++) {
        Builder in = ir_builder_inside(b, test->regions[side]);
        ir_yield(&in, NULL, 0);
    }
    ir_move(op, test->regions[0], test->regions[0]->last);
}

/* As far as the role goes; true: at least one op. */
static bool advance(Order *o, Builder *b, Role *role) {
    bool moved = false;
    while (!is_terminator(role->at) && !o->failed) {
        Op *op = role->at;
        bool passes = true;
        if (is_shared_loop(op)) break;
        for (int r = 0; r < op->region_count; r++) set_arrivals(op->regions[r], role, o->t->k);
        if (op->code == OP_BAR_WAIT) {
            o->failed |= !bars_wait(&o->walk, op, &passes);
        } else if (op->code == OP_BAR_ARRIVE) {
            op_set(o->t->k, op, (Attr){.id = AT_ARRIVALS, .number = role->threads});
            o->failed |= !bars_arrive(&o->walk, op);
        } else if (bars_are_inside(op)) {
            o->failed |= !run_inside(o, op, &passes);
        }
        if (!passes || o->failed) break;
        role->at = op->next;
        emit(o, b, role, op);
        moved = true;
    }
    return moved;
}

static void order_roles(Order *o, Builder *b, Role *roles, int count);

/* Loops at which roles have come together. */
static bool fuse(Order *o, Builder *b, Role *roles, int count) {
    Role inside[MOST_ROLES];
    Role *mine[MOST_ROLES];
    int found = 0, most = 0;
    const Op *best = NULL; /* at which most have come */
    for (int i = 0; i < count; i++) {
        int same = 0;
        if (!is_shared_loop(roles[i].at)) continue;
        for (int n = 0; n < count; n++)
            same += is_shared_loop(roles[n].at) && is_same_loop(o->t->k, roles[i].at, roles[n].at);
        if (same > most) most = same, best = roles[i].at;
    }
    if (!best) return false;
    for (int i = 0; i < count; i++)
        if (is_shared_loop(roles[i].at) && is_same_loop(o->t->k, best, roles[i].at)) mine[found++] = &roles[i];
    Op *first = mine[0]->at;
    int64_t at = 0;
    b->range = first->range;
    Ref variable = first->regions[0]->args[0];
    Op *made = ir_for(b, first->operands[0], first->operands[1], first->operands[2], NULL, 0,
                      ir_value(o->t->k, variable)->name);
    for (int i = 0; i < first->attr_count; i++) op_set(o->t->k, made, first->attrs[i]);
    Ref shared = made->regions[0]->args[0];
    Builder in = ir_builder_inside(b, made->regions[0]);
    ir_yield(&in, NULL, 0);
    in.before = made->regions[0]->last;
    for (int i = 0; i < found; i++) {
        Op *loop = mine[i]->at;
        ir_replace_all(o->t->k, loop->regions[0]->args[0], shared);
        inside[i] = (Role){mine[i]->condition, mine[i]->threads, loop->regions[0]->first};
    }
    if (!bars_number(&o->walk, first->operands[0], &at)) at = 0;
    map_put_number(&o->walk.known, o->t->arena, shared, &at);
    order_roles(o, &in, inside, found);
    map_put_number(&o->walk.known, o->t->arena, shared, NULL);
    bool passes;
    o->failed |= !run_trips(o, made, 1, &passes); /* the others, for what comes behind */
    for (int i = 0; i < found; i++) {
        Op *loop = mine[i]->at;
        mine[i]->at = loop->next;
        ir_remove(loop);
    }
    return true;
}

static void order_roles(Order *o, Builder *b, Role *roles, int count) {
    for (;;) {
        bool moved = false, left = false;
        for (int i = 0; i < count; i++) moved |= advance(o, b, &roles[i]);
        for (int i = 0; i < count; i++) left |= !is_terminator(roles[i].at);
        if (!left) return;
        if (moved && !o->failed) continue;
        if (!o->failed && fuse(o, b, roles, count)) continue;
        for (int i = 0; i < count; i++) /* in their own order then: others say what is wrong */
            while (!is_terminator(roles[i].at)) {
                Op *op = roles[i].at;
                roles[i].at = op->next;
                if (op->code == OP_BAR_ARRIVE)
                    op_set(o->t->k, op, (Attr){.id = AT_ARRIVALS, .number = roles[i].threads});
                for (int r = 0; r < op->region_count; r++) set_arrivals(op->regions[r], &roles[i], o->t->k);
                emit(o, b, &roles[i], op);
            }
        return;
    }
}

/* --- the roles of an `if` --- */

/* Arithmetic in front of the `if` that is all else. */
static Op *only_if(Region *region, Op *before) {
    while (region->first && op_has(region->first->code, TRAIT_ELEMENTWISE))
        ir_move(region->first, before->parent, before);
    Op *op = region->first;
    return op && op->code == OP_IF && op->next == region->last && !op->result_count ? op : NULL;
}

static void order_if(Order *o, Op *op) {
    Threads *t = o->t;
    Role roles[MOST_ROLES];
    int count = 0;
    bool fits = true;
    Ref others = REF_NONE; /* of those that no role has taken */
    Builder b = ir_builder_before(t->k, op);
    for (Op *at = op;;) {
        bool some[2];
        fits = fits && count <= MOST_ROLES - 2 && !at->result_count && threads_is_role(t, at->operands[0], some) &&
               some[0] && fits_region(t, at->regions[0]);
        if (count > MOST_ROLES - 2) return;
        Ref mine = at->operands[0];
        if (others) mine = ir_binary(&b, OP_AND, others, mine);
        Ref rest = ir_unary(&b, OP_NOT, at->operands[0]);
        others = others ? ir_binary(&b, OP_AND, others, rest) : rest;
        roles[count++] = (Role){mine, threads_count(t, mine), at->regions[0]->first};
        Op *next = only_if(at->regions[1], op);
        set_arrivals(at->regions[0], &roles[count - 1], t->k);
        if (!next || !bars_are_inside(next)) {
            fits = fits && fits_region(t, at->regions[1]);
            roles[count++] = (Role){others, threads_count(t, others), at->regions[1]->first};
            set_arrivals(at->regions[1], &roles[count - 1], t->k);
            break;
        }
        at = next;
    }
    if (!fits) return; /* one behind the other then */
    b = ir_builder_before(t->k, op);
    o->failed = false;
    order_roles(o, &b, roles, count);
    ir_remove(op);
}

/* What all threads do, and the roles between. */
static void set_outside(Order *o, Region *region, int64_t all) {
    Threads *t = o->t;
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        bool differs = op->code == OP_IF && threads_differ(t, op->operands[0]);
        if (op->code == OP_BAR_ARRIVE && !op_attr(op, AT_ARRIVALS))
            op_set(t->k, op, (Attr){.id = AT_ARRIVALS, .number = all});
        if (op->code == OP_BAR_ARRIVE) bars_arrive(&o->walk, op);
        if (!bars_are_inside(op)) continue;
        if (differs)
            order_if(o, op);
        else
            for (int r = 0; r < op->region_count; r++) set_outside(o, op->regions[r], all);
    }
}

void threads_order_roles(Threads *t) {
    int64_t all = 1, extent;
    for (int d = 0; d < t->spmd->operand_count; d++)
        all *= ir_const_int(t->k, t->spmd->operands[d], &extent) ? extent : 0;
    Order o = {.t = t, .walk = {.k = t->k, .arena = t->arena}};
    if (ir_list(t->spmd->regions[0], OP_BAR, t->arena).count) set_outside(&o, t->spmd->regions[0], all);
}
