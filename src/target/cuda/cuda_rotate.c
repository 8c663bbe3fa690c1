/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_rotate.c: loops turned so that a product runs under the next trip's arithmetic.
 *
 * The pass `schedule` says which loops (`rotate`), which ops of them come a trip later (`behind`) and whether two
 * workers take turns (`turns`: pass/schedule/schedule_turn.c); this writes them:
 *
 *     if (lo < hi) {
 *         { head of the first trip, its product waited for; left = pack(p) }
 *         for (j = lo + 1; j < hi; j++) {
 *             wait k ; issue s ; wait v ; issue acc += left v       both in flight
 *             tw_wgmma_wait(1) ; release k ; p = f(s)            the second still runs
 *             tw_wgmma_wait(0) ; release v ; acc *= alpha ; left = pack(p)
 *         }
 *         wait v ; acc += left v ; release v
 *     }
 *
 * Workers that take turns hand over by two named barriers.
 *
 * The head is written twice, in scopes of its own; what goes from trip to trip are the loop's
 * carried values and the words of `left`. */
#include "target/cuda/cuda_emit.h"

typedef struct Turned {
    Emit *e;
    const Op *loop;
    int turns; /* named barrier of the first worker's turn, before that of the second; 0: they take none */
    Region *body;
    TurnedLoop parts;
    const char *accumulator, *left;
} Turned;

/* The tail without its releases (which wait for the product), or only those. */
static void write_tail(Turned *t, bool releases) {
    for (const Op *op = t->parts.tail; op != t->body->last; op = op->next) {
        if ((op->code == OP_RELEASE) != releases) continue;
        if (op == t->parts.second)
            dot_issue_onto(t->e, op, t->accumulator, t->left);
        else
            emit_ops(t->e, op, op->next);
    }
}

static void write_wait(Emit *e, int others, const char *accumulator) {
    cs_line(&e->p, "tw_wgmma_wait(%d);", others);
    cs_line(&e->p, "tw_wgmma_settle(%s);", accumulator);
}

/* Compilers move the wait for a product up, since they do not see that time passes there. What the
 * head makes is made before; and a second look at the barrier of the tail's slot, which is a loop
 * of its own, keeps ptxas from moving the wait over it. */
static void settle(Turned *t) {
    Emit *e = t->e;
    const Op *yield = t->body->last, *cast = ir_value(e->k, t->parts.second->operands[0])->op;
    for (int i = -1; i < yield->operand_count; i++) {
        Ref value =
            i < 0 ? (op_flag(cast, AT_PACKED) ? cast->operands[0] : t->parts.second->operands[0]) : yield->operands[i];
        if (i == t->parts.carried || !emit_is_tile(e, value) || ir_type(e->k, value)->elem != EL_F32) continue;
        if (emit_hold(e, value)->kind == HOLD_ARRAY) cs_line(&e->p, "tw_wgmma_settle(%p);", emit_hold(e, value)->by);
    }
    for (const Op *op = t->parts.tail; op != yield; op = op->next)
        if (op->code == OP_WAIT) ring_wait_again(e, op);
}

/* Which of the two workers of the role that take turns this warp is of, and all their threads. */
static const Expr *worker_of(Emit *e) { return ex(e->arena, "warp >> %d", ll_log2(e->group.warps / 2)); }
static int threads_of(const Emit *e) { return e->lanes * e->group.warps; }

/* One trip of the head; with the tail of the trip before in flight under it. */
static void write_trip(Turned *t, bool steady) {
    Emit *e = t->e;
    emit_ops(e, t->body->first, t->parts.first);
    sync_before(e, t->parts.first); /* all workers: before they take turns */
    if (steady && t->turns) cs_line(&e->p, "tw_bar_sync(%d + (%p), %d);", t->turns, worker_of(e), threads_of(e));
    const char *scores = dot_issue(e, t->parts.first);
    if (steady) write_tail(t, false);
    if (steady && t->turns) cs_line(&e->p, "tw_bar_arrive(%d - (%p), %d);", t->turns + 1, worker_of(e), threads_of(e));
    write_wait(e, steady, scores);
    emit_ops(e, t->parts.first->next, t->parts.scale);
    if (steady) {
        settle(t);
        write_wait(e, 0, t->accumulator);
        write_tail(t, true);
    }
    emit_ops(e, t->parts.scale, t->parts.tail);
    dot_pack_left(e, t->parts.second, t->left);
    /* The accumulator as the second product finds it, unless it writes it itself; the other carried values as they
     * are. */
    int all = t->loop->operand_count - 3, count = 0;
    Ref *places = ARENA_ARRAY(e->arena, Ref, all), *sources = ARENA_ARRAY(e->arena, Ref, all);
    for (int i = 0; i < all; i++) {
        bool sum = i == t->parts.carried;
        if (sum && op_flag(t->parts.second, AT_FRESH)) continue;
        places[count] = t->body->args[1 + i];
        sources[count++] = sum ? t->parts.second->operands[2] : t->body->last->operands[i];
    }
    emit_copies(e, places, sources, count);
}

static Turned turned_of(Emit *e, const Op *loop) {
    return (Turned){.e = e,
                    .loop = loop,
                    .turns = (int)op_int(loop, AT_TURNS, 0),
                    .body = loop->regions[0],
                    .parts = turned_parts(loop)};
}

static int turns_in(const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        int turns = op->code == OP_FOR ? (int)op_int(op, AT_TURNS, 0) : 0;
        for (int i = 0; i < op->region_count && !turns; i++) turns = turns_in(op->regions[i]);
        if (turns) return turns;
    }
    return 0;
}

void rotate_begin(Emit *e, const Op *role) {
    int turns = turns_in(role->regions[0]);
    if (!turns) return;
    cs_line(&e->p, "if (%p) tw_bar_arrive(%d, %d); // the first worker begins", worker_of(e), turns, threads_of(e));
}

void rotate_end(Emit *e, const Op *role) {
    int turns = turns_in(role->regions[0]);
    if (turns) cs_line(&e->p, "if (!(%p)) tw_bar_sync(%d, %d);", worker_of(e), turns, threads_of(e));
}

void rotate_emit(Emit *e, const Op *loop) {
    Turned t = turned_of(e, loop);
    Trips trips = trips_open(e, loop);
    t.accumulator = emit_hold(e, t.body->args[1 + t.parts.carried])->by->text;
    t.left = dot_declare_left(e, t.parts.second);
    trips_one(&trips, trips.lo);
    write_trip(&t, false);
    trips_end(&trips);
    trips_each(&trips, ex(e->arena, "%p + 1", trips.lo), trips.hi);
    write_trip(&t, true);
    trips_end(&trips);
    write_tail(&t, false);
    write_wait(e, 0, t.accumulator);
    write_tail(&t, true);
    trips_close(&trips);
}
