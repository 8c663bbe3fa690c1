/* cuda_rotate.c: loops turned so that a product runs under the next trip's arithmetic.
 *
 * The plan says which loops (`rotate`, pass/ring/ring_rotate.c); this writes them:
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
 * Two workers take turns where the products take longer than the arithmetic: one issues its
 * products while the other computes, handing over by two named barriers.
 *
 * The head is written twice, in scopes of its own; what goes from trip to trip are the loop's
 * carried values and the words of `left`. */
#include "pass/ring/ring_rotate.h"
#include "target/cuda/cuda_emit.h"

/* Named barriers: the turn of the first worker and of the second. */
enum { FIRST_TURN = 14, SECOND_TURN = 15 };
/* Elements along K from which the products of a trip take longer than an exponential an element. */
enum { LONG_PRODUCT = 128 };

typedef struct Turned {
    Emit *e;
    bool in_turns;
    Rotation r;
    Region *body;
    Op *scale, *tail; /* where these parts begin in the body; the tail ends at the yield */
    const char *accumulator, *left;
} Turned;

/* Head, scale, tail, each in its own order. */
static void sort_body(Turned *t) {
    Op *yield = t->body->last;
    t->scale = t->tail = yield;
    for (int part = ROTATE_SCALE; part <= ROTATE_TAIL; part++) {
        Op *first = NULL;
        for (Op *op = t->body->first, *next; op != yield && op != first; op = next) {
            next = op->next;
            if (rotation_part(&t->r, op) != (RotatePart)part) continue;
            ir_move(op, t->body, yield);
            if (!first) first = op;
        }
        if (!first) first = part == ROTATE_SCALE ? NULL : yield;
        if (part == ROTATE_SCALE)
            t->scale = first;
        else
            t->tail = first;
    }
    if (!t->scale) t->scale = t->tail;
}

/* The tail without its releases (which wait for the product), or only those. */
static void write_tail(Turned *t, bool releases) {
    for (const Op *op = t->tail; op != t->body->last; op = op->next) {
        if ((op->code == OP_RELEASE) != releases) continue;
        if (op == t->r.second)
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
    const Op *yield = t->body->last, *cast = ir_value(e->k, t->r.second->operands[0])->op;
    for (int i = -1; i < yield->operand_count; i++) {
        Ref value = i < 0 ? (dot_rounds(e, cast) ? cast->operands[0] : t->r.second->operands[0]) : yield->operands[i];
        if (i == t->r.carried || !emit_is_tile(e, value) || ir_type(e->k, value)->elem != EL_F32) continue;
        if (emit_hold(e, value)->kind == HOLD_ARRAY) cs_line(&e->p, "tw_wgmma_settle(%s);", emit_hold(e, value)->text);
    }
    for (const Op *op = t->tail; op != yield; op = op->next)
        if (op->code == OP_WAIT) ring_wait_again(e, op);
}

/* One trip of the head; with the tail of the trip before in flight under it. */
static void write_trip(Turned *t, bool steady) {
    Emit *e = t->e;
    emit_ops(e, t->body->first, t->r.first);
    if (steady && t->in_turns) cs_line(&e->p, "tw_bar_sync(%d + (warp >> 2), 256);", FIRST_TURN);
    const char *scores = dot_issue(e, t->r.first);
    if (steady) write_tail(t, false);
    if (steady && t->in_turns) cs_line(&e->p, "tw_bar_arrive(%d - (warp >> 2), 256);", SECOND_TURN);
    write_wait(e, steady, scores);
    emit_ops(e, t->r.first->next, t->scale);
    if (steady) {
        settle(t);
        write_wait(e, 0, t->accumulator);
        write_tail(t, true);
    }
    emit_ops(e, t->scale, t->tail);
    dot_pack_left(e, t->r.second, t->left);
    /* The accumulator as the second product finds it, the other carried values as they are. */
    int count = t->r.loop->operand_count - 3;
    Ref *sources = ARENA_ARRAY(e->arena, Ref, count);
    for (int i = 0; i < count; i++)
        sources[i] = i == t->r.carried ? t->r.second->operands[2] : t->body->last->operands[i];
    emit_copies(e, t->body->args + 1, sources, count);
}

static bool find(Emit *e, const Op *loop, Turned *t) {
    *t = (Turned){.e = e};
    if (!e->role || !op_flag(loop, AT_ROTATE) || !rotation_find(e->k, loop, e->arena, &t->r) ||
        !dot_is_async(e, t->r.first) || !dot_is_async(e, t->r.second))
        return false;
    /* The product of the trip before is issued again from registers; a tile in shared memory would
     * be overwritten under it. */
    if (emit_layout(e, t->r.second->operands[0])->home != HOME_REGISTERS) {
        emit_find(e, t->r.second, "dot", "the loop is not turned: the left operand goes through shared memory");
        return false;
    }
    t->body = loop->regions[0];
    t->in_turns = e->group.warps == 8 && ir_type(e->k, t->r.first->operands[0])->extent[1] >= LONG_PRODUCT;
    return true;
}

static bool takes_turns(Emit *e, const Region *region) {
    Turned t;
    for (const Op *op = region->first; op; op = op->next) {
        if (find(e, op, &t) && t.in_turns) return true;
        for (int i = 0; i < op->region_count; i++)
            if (takes_turns(e, op->regions[i])) return true;
    }
    return false;
}

bool rotate_begin(Emit *e, const Op *role) {
    if (!takes_turns(e, role->regions[0])) return false;
    cs_line(&e->p, "if (warp >> 2) tw_bar_arrive(%d, 256); // the first worker begins", FIRST_TURN);
    pass_find(e->cx, role->range, "execution", "the two workers of compute take turns with the matrix units");
    return true;
}

void rotate_end(Emit *e) { cs_line(&e->p, "if (!(warp >> 2)) tw_bar_sync(%d, 256);", FIRST_TURN); }

bool rotate_emit(Emit *e, const Op *loop) {
    Turned t;
    if (!find(e, loop, &t)) return false;
    sort_body(&t);
    int count = loop->operand_count - 3;
    for (int i = 0; i < count; i++) emit_carried(e, t.body->args[i + 1], loop->operands[i + 3]);
    t.accumulator = emit_hold(e, t.body->args[1 + t.r.carried])->text;
    Ref variable = t.body->args[0];
    const char *k = cs_name(&e->p, variable);
    const char *type = cs_value_type(&e->p, ir_type(e->k, variable));
    const char *lo = emit_scalar(e, loop->operands[0]), *hi = emit_scalar(e, loop->operands[1]);
    emit_set(e, variable, HOLD_SCALAR, k);
    cs_open(&e->p, "if (%s < %s)", lo, hi);
    t.left = dot_declare_left(e, t.r.second);
    Pending before = emit_pending(e);
    emit_block(e);
    cs_line(&e->p, "const %s %s = %s;", type, k, lo);
    write_trip(&t, false);
    cs_close(&e->p);
    emit_forget(e, t.body);
    emit_enter_loop(e, loop);
    cs_raw(&e->p, "#pragma unroll 1");
    cs_open(&e->p, "for (%s %s = %s + 1; %s < %s; %s++)", type, k, lo, k, hi, k);
    write_trip(&t, true);
    cs_close(&e->p);
    emit_forget(e, t.body);
    write_tail(&t, false);
    write_wait(e, 0, t.accumulator);
    write_tail(&t, true);
    cs_close(&e->p);
    emit_pending_add(e, before); /* there may have been no trip */
    for (int i = 0; i < count; i++) emit_same(e, loop->results[i], t.body->args[i + 1]);
    return true;
}
