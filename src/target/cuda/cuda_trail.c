/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_trail.c: loops whose last products run under the next trip's arithmetic, and read the slots of its first ones.
 *
 * The pass `schedule` says which loops (`trails`) and which ops come a trip later (`behind`:
 * pass/schedule/schedule_trail.c); this writes them:
 *
 *     if (lo < hi) {
 *         { wait q, g ; issue s, t ; wait for both ; p = f(s), d = h(p, t) ; left = pack(p), pack(d) ; was = slots }
 *         for (j = lo + 1; j < hi; j++) {
 *             wait q, g ; issue s, t ; issue a += left g[was], b += left q[was]       all in flight
 *             tw_wgmma_wait(2) ; p = f(s), d = h(p, t)                               the last two still run
 *             tw_wgmma_wait(0) ; release was ; left = pack(p), pack(d) ; was = slots
 *         }
 *         a += left g[was], b += left q[was] ; release was
 *     }
 *
 * The head is written twice, in scopes of its own; what goes from trip to trip are the loop's carried values, the
 * words of the left operands and the numbers of the slots. Compilers keep a number that goes from trip to trip in a
 * register of each thread, and move it for every instruction of a product, unless they are told that all threads of a
 * warp have the same (tw_uniform). */
#include "target/cuda/cuda_emit.h"

typedef struct Trailing {
    Emit *e;
    const Op *loop;
    Region *body;
    TrailingLoop parts;
    int tails, releases;
    const char **sums, **lefts; /* by tail */
    const char **was;           /* by release: the slot of the trip before */
} Trailing;

/* What of this trip is called as that of the trip before, while the tail is written. */
typedef struct Shadowed {
    Ref value;
    Hold hold;
} Shadowed;
typedef VEC(Shadowed) Shadows;

static void shadow(Trailing *t, Shadows *shadows, Ref value) {
    *VEC_PUSH(shadows, t->e->arena) = (Shadowed){value, *emit_hold(t->e, value)};
}

/* The view of the slot that the operand is, anew. */
static void write_view(Trailing *t, Shadows *shadows, Ref operand) {
    const Op *op = ir_value(t->e->k, operand)->op;
    if (op->code == OP_PERMUTE) write_view(t, shadows, op->operands[0]);
    shadow(t, shadows, operand);
    emit_ops(t->e, op, op->next);
}

static Shadows go_back(Trailing *t) {
    Shadows shadows = {0};
    const Op *release = t->parts.releases;
    for (int i = 0; i < t->releases; i++, release = release->next) {
        shadow(t, &shadows, release->operands[1]);
        emit_set(t->e, release->operands[1], HOLD_SLOT, ex_name(t->e->arena, t->was[i]));
    }
    return shadows;
}

static void return_to(Trailing *t, const Shadows *shadows) {
    for (size_t i = shadows->count; i-- > 0;)
        emit_set(t->e, shadows->at[i].value, shadows->at[i].hold.kind, shadows->at[i].hold.by);
}

static void issue_tails(Trailing *t) {
    Shadows shadows = go_back(t);
    const Op *dot = t->parts.tail;
    for (int i = 0; i < t->tails; i++, dot = dot->next) {
        write_view(t, &shadows, dot->operands[1]);
        dot_issue_onto(t->e, dot, t->sums[i], t->lefts[i]);
    }
    return_to(t, &shadows);
}

static void end_tails(Trailing *t) {
    cs_line(&t->e->p, "tw_wgmma_wait(0);");
    for (int i = 0; i < t->tails; i++) cs_line(&t->e->p, "tw_wgmma_settle(%s);", t->sums[i]);
    Shadows shadows = go_back(t);
    emit_ops(t->e, t->parts.releases, t->body->last);
    return_to(t, &shadows);
}

/* Compilers move the wait for a product up, since they do not see that time passes there. What the next tails take is
 * made before; and a second look at the barrier of the trip's last item, which is a loop of its own, keeps ptxas from
 * moving the wait over it. */
static void settle_lefts(Trailing *t) {
    Emit *e = t->e;
    const Op *dot = t->parts.tail;
    for (int i = 0; i < t->tails; i++, dot = dot->next) {
        const Op *cast = ir_value(e->k, dot->operands[0])->op;
        Ref value = op_flag(cast, AT_PACKED) ? cast->operands[0] : dot->operands[0];
        if (ir_type(e->k, value)->elem == EL_F32 && emit_hold(e, value)->kind == HOLD_ARRAY)
            cs_line(&e->p, "tw_wgmma_settle(%p);", emit_hold(e, value)->by);
    }
    const Op *wait = t->parts.first;
    while (wait->code != OP_WAIT) wait = wait->previous;
    ring_wait_again(e, wait);
}

/* What goes on to the next trip, but the sums of the tails, which are added to where they are. */
static void carry_on(Trailing *t) {
    Emit *e = t->e;
    const Op *dot = t->parts.tail, *release = t->parts.releases;
    for (int i = 0; i < t->tails; i++, dot = dot->next) dot_pack_left(e, dot, t->lefts[i]);
    for (int i = 0; i < t->releases; i++, release = release->next)
        cs_line(&e->p, "%s = %p;", t->was[i], emit_hold(e, release->operands[1])->by);
    trips_carry(e, t->loop);
}

/* One trip; with the tails of the trip before in flight under it. */
static void write_trip(Trailing *t, bool steady) {
    Emit *e = t->e;
    VEC(const char *) scores = {0};
    cuda_of(e)->trails = true;
    emit_ops(e, t->body->first, t->parts.first);
    cuda_of(e)->trails = false;
    for (const Op *head = t->parts.first; head != t->parts.rest; head = head->next) {
        sync_before(e, head);
        *VEC_PUSH(&scores, e->arena) = dot_issue(e, head);
    }
    if (steady) issue_tails(t);
    cs_line(&e->p, "tw_wgmma_wait(%d);", steady ? t->tails : 0);
    for (size_t i = 0; i < scores.count; i++) cs_line(&e->p, "tw_wgmma_settle(%s);", scores.at[i]);
    emit_ops(e, t->parts.rest, t->parts.tail);
    if (steady) {
        settle_lefts(t);
        end_tails(t);
    }
    carry_on(t);
}

static Trailing trailing_of(Emit *e, const Op *loop) {
    Trailing t = {.e = e, .loop = loop, .body = loop->regions[0], .parts = trailing_parts(loop)};
    for (const Op *op = t.parts.tail; op != t.body->last; op = op->next)
        *(op->code == OP_DOT ? &t.tails : &t.releases) += 1;
    t.sums = ARENA_ARRAY(e->arena, const char *, t.tails);
    t.lefts = ARENA_ARRAY(e->arena, const char *, t.tails);
    t.was = ARENA_ARRAY(e->arena, const char *, t.releases);
    return t;
}

void trail_emit(Emit *e, const Op *loop) {
    Trailing t = trailing_of(e, loop);
    Trips trips = trips_open(e, loop);
    const Op *dot = t.parts.tail;
    for (int i = 0; i < t.tails; i++, dot = dot->next) {
        t.sums[i] = emit_hold(e, dot->operands[2])->by->text;
        t.lefts[i] = dot_declare_left(e, dot);
    }
    for (int i = 0; i < t.releases; i++) {
        t.was[i] = cs_fresh(&e->p, "was");
        cs_line(&e->p, "u32 %s;", t.was[i]);
    }
    trips_one(&trips, trips.lo);
    write_trip(&t, false);
    trips_end(&trips);
    trips_each(&trips, ex(e->arena, "%p + 1", trips.lo), trips.hi);
    write_trip(&t, true);
    trips_end(&trips);
    issue_tails(&t);
    end_tails(&t);
    trips_close(&trips);
}
