/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_early.c: turned loops whose first product is issued a trip early, under the arithmetic of the trip before.
 *
 * The pass `schedule` says which (`rotate` with `leads`: pass/schedule/schedule_early.c); this writes them:
 *
 *     if (lo < hi) {
 *         { wait k ; issue s ; wait for it ; release k }
 *         for (j = lo; j < hi - 1; j++) {
 *             x = s - max s                                       all that reads s
 *             wait k
 *             tw_wgmma_wait(0) ; release was ; acc *= alpha       the last trip's product is done
 *             issue s                                             that of the next trip
 *             p = exp x ; left = pack(p)
 *             wait v ; issue acc += left v ; was = its slot
 *             tw_wgmma_wait(1) ; release k                        s is done
 *         }
 *         { const j = hi - 1 ; the same without s of a next trip ; tw_wgmma_wait(0) ; release v }
 *     }
 *
 * Assemblers move a wait for a product up over arithmetic, but not over a loop, as `wait k` is. Where the ring of v
 * does not let two items be held, its release comes before that. */
#include "target/cuda/cuda_emit.h"

typedef struct EarlyTurned {
    Emit *e;
    const Op *loop;
    const Region *body;
    TurnedLoop parts;
    const Op *front, *rest; /* where they begin: behind the releases of the first product's slots; behind the front */
    const char *sum, *accumulator, *was;
} EarlyTurned;

static void wait_for(const EarlyTurned *t, int others, const char *sum) {
    cs_line(&t->e->p, "tw_wgmma_wait(%d);", others);
    cs_line(&t->e->p, "tw_wgmma_settle(%s);", sum);
}

static void issue_first(const EarlyTurned *t) {
    sync_before(t->e, t->parts.first);
    dot_issue_at(t->e, t->parts.first, t->sum);
}

static void end_first(const EarlyTurned *t, int others) {
    wait_for(t, others, t->sum);
    emit_ops(t->e, t->parts.first->next, t->front);
}

static bool is_read_behind(const EarlyTurned *t, Ref value) {
    for (const Op *op = t->rest; op; op = op->next)
        if (ir_op_uses(op, value)) return true;
    return false;
}

/* What is made of the sum and goes on is settled before that is written over: left to themselves compilers compute it
 * where it is used, and copy the sum. */
static void write_front(const EarlyTurned *t, bool last) {
    Emit *e = t->e;
    const Op *from = t->front;
    for (const Op *op = from; op != t->parts.scale && !last; op = op->next) {
        if (!emit_is_tile(e, op->results[0]) || !is_read_behind(t, op->results[0])) continue;
        emit_ops(e, from, op->next);
        from = op->next;
        if (emit_hold(e, op->results[0])->kind == HOLD_ARRAY && ir_type(e->k, op->results[0])->elem == EL_F32)
            cs_line(&e->p, "tw_wgmma_settle(%p);", emit_hold(e, op->results[0])->by);
    }
    emit_ops(e, from, t->parts.scale);
}

/* May the product of the trip before keep its slot while the next item of another ring is waited for? */
static bool holds_two(const EarlyTurned *t) {
    for (const Op *op = t->parts.tail; op != t->body->last; op = op->next)
        if (op->code == OP_RELEASE && op_int(hand_ring_op(t->e->k, op), AT_HOLD, 1) < 2) return false;
    return true;
}

/* That product is done, and gives back its slot. */
static void end_second(const EarlyTurned *t) {
    Emit *e = t->e;
    wait_for(t, 0, t->accumulator);
    for (const Op *op = t->parts.tail; op != t->body->last; op = op->next) {
        if (op->code != OP_RELEASE) continue;
        RingPlan *r = ring_find(e, op->operands[0]);
        ring_show_read(e, r, op);
        cluster_arrive(e, r, ex(e->arena, "%s >= 0", t->was), ex_name(e->arena, t->was));
    }
}

/* Carried values go on; the accumulator (`sum`) by itself, as soon as it is scaled. */
static void carry(const EarlyTurned *t, bool sum) {
    Emit *e = t->e;
    int all = t->loop->operand_count - 3, count = 0;
    Ref *places = ARENA_ARRAY(e->arena, Ref, all), *sources = ARENA_ARRAY(e->arena, Ref, all);
    for (int i = 0; i < all; i++) {
        if ((i == t->parts.carried) != sum || (sum && op_flag(t->parts.second, AT_FRESH))) continue;
        places[count] = t->body->args[1 + i];
        sources[count++] = sum ? t->parts.second->operands[2] : t->body->last->operands[i];
    }
    emit_copies(e, places, sources, count);
}

static void write_tail(const EarlyTurned *t, bool releases) {
    Emit *e = t->e;
    for (const Op *op = t->parts.tail; op != t->body->last; op = op->next) {
        if ((op->code == OP_RELEASE) != releases) continue;
        if (op == t->parts.second)
            dot_issue_at(e, op, t->accumulator);
        else
            emit_ops(e, op, op->next);
    }
}

static void pass_slot(const EarlyTurned *t) {
    for (const Op *op = t->parts.tail; op != t->body->last; op = op->next)
        if (op->code == OP_RELEASE) cs_line(&t->e->p, "%s = (i32)%p;", t->was, emit_hold(t->e, op->operands[1])->by);
}

static void write_trip(const EarlyTurned *t, bool last) {
    Emit *e = t->e;
    emit_set_name(e, t->parts.first->results[0], HOLD_ARRAY, t->sum);
    bool late = !last && holds_two(t);
    write_front(t, last);
    if (!late) end_second(t);
    if (!last) emit_ops(e, t->body->first, t->parts.first);
    if (late) end_second(t);
    emit_ops(e, t->parts.scale, t->rest);
    carry(t, true);
    cs_line(&e->p, "tw_wgmma_settle(%s);", t->accumulator);
    if (!last) issue_first(t);
    emit_ops(e, t->rest, t->parts.tail);
    write_tail(t, false);
    if (last) {
        wait_for(t, 0, t->accumulator);
        write_tail(t, true);
    } else {
        pass_slot(t);
        end_first(t, 1);
    }
    carry(t, false);
}

static EarlyTurned early_of(Emit *e, const Op *loop) {
    EarlyTurned t = {.e = e, .loop = loop, .body = loop->regions[0], .parts = turned_parts(loop)};
    t.front = t.parts.first->next;
    while (t.front->code == OP_RELEASE) t.front = t.front->next;
    t.rest = t.front;
    bool scales = false;
    for (int64_t i = op_int(loop, AT_LEADS, 0); i > 0; i--, t.rest = t.rest->next) scales |= t.rest == t.parts.scale;
    if (!scales) t.parts.scale = t.rest;
    return t;
}

void early_emit(Emit *e, const Op *loop) {
    EarlyTurned t = early_of(e, loop);
    Trips trips = trips_open(e, loop);
    const Expr *end = ex(e->arena, "%p - 1", trips.hi);
    t.accumulator = emit_hold(e, t.body->args[1 + t.parts.carried])->by->text;
    t.sum = emit_declare(e, t.parts.first->results[0]);
    t.was = cs_fresh(&e->p, "was");
    cs_line(&e->p, "i32 %s = -1;", t.was);
    emit_block(e);
    emit_ops(e, t.body->first, t.parts.first);
    issue_first(&t);
    end_first(&t, 0);
    cs_line(&e->p, "tw_wgmma_settle(%s);", t.accumulator);
    trips_end(&trips);
    trips_each(&trips, trips.lo, end);
    write_trip(&t, false);
    trips_end(&trips);
    trips_one(&trips, end);
    write_trip(&t, true);
    trips_end(&trips);
    trips_close(&trips);
}
