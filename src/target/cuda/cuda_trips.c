/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_trips.c: the frame of loops that are turned, whose body is written more than once: trips by themselves, before
 * or behind a loop over the others, each in a scope of its own.
 *
 *     if (lo < hi) {
 *         { const i32 j = lo; .. }
 *         for (i32 j = lo + 1; j < hi; j++) { .. }
 *         ..
 *     }
 *
 * Without the condition, which a loop without a trip makes false, the compiler would wait for every product itself. */
#include "target/cuda/cuda_emit.h"

Trips trips_open(Emit *e, const Op *loop) {
    const Region *body = loop->regions[0];
    Ref variable = body->args[0];
    for (int i = 3; i < loop->operand_count; i++) emit_carried(e, body->args[i - 2], loop->operands[i]);
    Trips t = {.e = e,
               .loop = loop,
               .variable = cs_name(&e->p, variable),
               .type = cs_value_type(&e->p, ir_type(e->k, variable)),
               .lo = emit_scalar(e, loop->operands[0]),
               .hi = gang_trips(e, loop)};
    emit_set_name(e, variable, HOLD_SCALAR, t.variable);
    cs_open(&e->p, "if (%p < %p)", t.lo, t.hi);
    return t;
}

void trips_one(const Trips *t, const Expr *at) {
    cs_note(&t->e->p, ex_same(at, t->lo) ? "the first trip, before the loop" : "the last trip, behind the loop");
    emit_block(t->e);
    cs_line(&t->e->p, "const %s %s = %p;", t->type, t->variable, at);
}

void trips_each(const Trips *t, const Expr *from, const Expr *until) {
    cs_raw(&t->e->p, "#pragma unroll 1");
    cs_open(&t->e->p, "for (%s %s = %p; %s < %p; %s++)", t->type, t->variable, from, t->variable, until, t->variable);
}

void trips_end(const Trips *t) {
    cs_close(&t->e->p);
    emit_forget(t->e, t->loop->regions[0]);
}

void trips_close(const Trips *t) {
    cs_close(&t->e->p);
    for (int i = 0; i < t->loop->result_count; i++)
        emit_same(t->e, t->loop->results[i], t->loop->regions[0]->args[i + 1]);
}

void trips_carry(Emit *e, const Op *loop) {
    const Region *body = loop->regions[0];
    int all = loop->operand_count - 3, count = 0;
    Ref *places = ARENA_ARRAY(e->arena, Ref, all), *sources = ARENA_ARRAY(e->arena, Ref, all);
    for (int i = 0; i < all; i++) {
        Ref from = body->last->operands[i];
        const Op *op = ref_is_value(from) ? ir_value(e->k, from)->op : NULL;
        if (op && op->parent == body && op->code == OP_DOT && (op_attr(op, AT_BEHIND) || op_flag(op, AT_FLIGHT)))
            continue;
        places[count] = body->args[1 + i];
        sources[count++] = from;
    }
    emit_copies(e, places, sources, count);
}
