/* SPDX-License-Identifier: Apache-2.0 */
/* ring_meet.c: writes at which load and compute meet, where load could not run ahead otherwise.
 *
 * Pointers that a kernel reads from a table may point anywhere: a tile that is stored through one may be what a later
 * trip loads, or the very table. No launch can tell. But within the loop of a product nothing is written: there loads
 * may run ahead, if load waits at the write behind it. So each such write is a meeting (ring_cut.c, clone_met): load
 * has read all that stands before the write, and reads nothing behind it until it has happened. With that,
 *
 *     for problems { sizes = load ; while tiles { a, b = load table ; for k { a[..], b[..] ; dot } ; store } }
 *
 * has the loads of its inner loop in a ring, and both roles read the tables for themselves and see the same.
 *
 * Asked for only where a kernel of products has no ring for them without it; the price is that a ring runs empty at
 * each meeting. */
#include "pass/ring/ring_cut.h"

static bool is_inside(const Op *op, const Op *loop) {
    for (const Op *owner = op->parent->owner; owner; owner = owner->parent->owner)
        if (owner == loop) return true;
    return false;
}

static void look_for_dot(Op *op, void *user) {
    bool *found = user;
    for (const Op *owner = op->parent->owner; op->code == OP_DOT && owner; owner = owner->parent->owner)
        *found |= owner->code == OP_FOR || owner->code == OP_WHILE;
}

static bool feeds_products(const Cut *c) {
    bool feeds = false;
    for (size_t i = 0; i < c->rings.count; i++) feeds |= c->rings.at[i]->in_loop && c->rings.at[i]->feeds_dot;
    return feeds;
}

bool cut_wants_meetings(const Cut *c) {
    const Machine *machine = c->cx->machine;
    bool dots = false, writes = false;
    if (!machine->has_threads || !machine->roles_allowed || machine->roles_always || c->cx->options.roles == 0 ||
        c->explicit_mode || c->flat || c->first_order.op || feeds_products(c))
        return false;
    for (size_t i = 0; i < c->memory.count; i++) {
        if (cut_is_combine(c->memory.at[i].op)) return false; /* nobody waits for those */
        writes |= cut_is_write(c->memory.at[i].op);
    }
    ir_walk(c->k->body, look_for_dot, &dots);
    return dots && writes;
}

bool cut_arrange_meetings(Cut *c) {
    for (size_t w = 0; w < c->met.count; w++) {
        if (!cut_control_is_replicable(c, c->met.at[w])) return false;
        for (size_t i = 0; i < c->rings.count; i++)
            if (c->rings.at[i]->in_loop && !c->rings.at[i]->output && is_inside(c->met.at[w], c->rings.at[i]->loop))
                return false;
    }
    return c->met.count && feeds_products(c);
}

bool cut_is_met(const Cut *c, const Op *write) {
    for (size_t i = 0; i < c->met.count; i++)
        if (c->met.at[i] == write) return true;
    return false;
}
