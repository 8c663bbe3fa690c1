/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_trail.c: loops of several products in a row whose last ones run under the next trip's arithmetic.
 *
 * In gradients of attention a trip multiplies K by Q(j) and V by G(j), computes weights of both, and adds their
 * products with the same Q(j) and G(j) to two sums. The loop is turned (`trails`):
 *
 *     for { s = dot k, q ; t = dot v, g ; p = f(s) ; d = h(p, t) ; a += dot p, g ; b += dot d, q }
 *  -> s, t of the first trip ; p, d
 *     for the others { s, t in flight ; a += p g, b += d q of the trip before, in flight
 *                      s, t done ; p, d ; a, b done }
 *     a += p g ; b += d q
 *
 * Unlike in the loops that `rotate` (ring_rotate.c), the tail reads the slots of the head, so they are waited for in
 * the head and held for two trips: rings whose items may be held twice, which is what the rings' check proves. In the
 * text:
 *
 *     for<trails> {  .. wait q ; wait g ; s = dot k, q ; t = dot v, g          the heads, side by side
 *                    p = f(s) ; d = h(p, t)
 *                    a1 = dot<behind=1> p, g, a ; b1 = dot<behind=1> d, q, b
 *                    release<behind=1> q ; release<behind=1> g }
 *
 * No sum is added up in another order. It pays where there are several products of one kind or the other, and those
 * behind take at least half as long as those that a trip waits for (gradients of attention, D 64, on an H200: turned
 * where a product is dK or dV 0.94 of Triton, where it is dQ too 0.99). */
#include "pass/schedule/schedule_trail.h"
#include "pass/schedule/scratch.h"
#include "pass/schedule/text_order.h"

const Op *trail_maker(const Schedule *s, const Region *body, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(s->k, ref)->op : NULL;
    return op && op->parent == body ? op : NULL;
}

/* Marks what a head needs; false: it needs a product, or arithmetic of this trip. */
static bool gather(const Schedule *s, const Region *body, Ref ref, uint8_t *early) {
    const Op *op = trail_maker(s, body, ref);
    if (!op || early[ref]) return true;
    bool hands = op->code == OP_GET || op->code == OP_WAIT;
    if (op->code == OP_DOT || op->region_count || op->result_count != 1) return false;
    if (!hands && !op_has(op->code, TRAIT_PURE)) return false;
    bool tile = ir_type(s->k, ref)->kind == TY_TILE && ir_type(s->k, ref)->rank > 0;
    if (tile && !schedule_in_shared(s->k, ref) && !tile_is_number(s->k, ref)) return false;
    early[ref] = 1;
    for (int i = 0; i < op->operand_count; i++)
        if (!gather(s, body, op->operands[i], early)) return false;
    return true;
}

/* The release of the slot of this trip that the tail's right operand lies in, if its items may be held twice. */
static Op *release_of(const Schedule *s, const Op *dot) {
    const Op *get = trail_maker(s, dot->parent, dot->operands[1]);
    while (get && get->code == OP_PERMUTE) get = trail_maker(s, dot->parent, get->operands[0]);
    if (!get || get->code != OP_GET || !schedule_in_shared(s->k, get->results[0])) return NULL;
    if (!trail_maker(s, dot->parent, get->operands[0])) return NULL;
    if (!schedule_may_hold_twice(s, dot->parent->owner, get)) return NULL;
    for (Op *op = dot->parent->first; op; op = op->next)
        if (op->code == OP_RELEASE && op->operands[1] == get->operands[0]) return op;
    return NULL;
}

static bool is_tail(const Schedule *s, const Op *loop, const Op *dot) {
    return schedule_is_carried(s, loop, dot) && !schedule_in_shared(s->k, dot->operands[0]) && release_of(s, dot) &&
           schedule_comes_of_product(s, dot->parent, dot->operands[0]);
}

static int64_t work_of(const Schedule *s, const Op *dot) {
    const Type *a = ir_type(s->k, dot->operands[0]), *b = ir_type(s->k, dot->operands[1]);
    return a->extent[0] * a->extent[1] * b->extent[1];
}

bool trail_gives_back(const Trail *t, const Op *op) {
    for (size_t i = 0; i < t->releases.count; i++)
        if (t->releases.at[i] == op) return true;
    return false;
}

/* The tails, whose sums nobody reads in the loop, so that they can all stand last, and the other products. */
static bool find_products(const Schedule *s, const Op *loop, Trail *t) {
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        if (!schedule_is_async(s, op) || op_attr(op, AT_PROMOTE) || ir_type(s->k, op->results[0])->rank != 2)
            return false;
        if (is_tail(s, loop, op))
            *VEC_PUSH(&t->tails, s->arena) = op;
        else
            *VEC_PUSH(&t->heads, s->arena) = op;
    }
    return t->heads.count && t->tails.count;
}

/* Do they take at least half as long as those that a trip waits for? */
static bool pays(const Schedule *s, const Trail *t) {
    int64_t ahead = 0, behind = 0;
    for (size_t i = 0; i < t->heads.count; i++) ahead += work_of(s, t->heads.at[i]);
    for (size_t i = 0; i < t->tails.count; i++) behind += work_of(s, t->tails.at[i]);
    return 2 * behind >= ahead;
}

/* While a trip computes, a thread holds the sums, those of its heads or what is made of them, what the tails of the
 * trip before take, what stays for the heads, what it has loaded, and all else that is carried twice: its own, and the
 * next trip's. */
static bool has_room(const Schedule *s, const Op *loop, const Trail *t) {
    const Region *body = loop->regions[0];
    const Machine *machine = s->cx->machine;
    int64_t words = 0;
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_TLOAD || op->code == OP_LOAD) words += layout_words(s->k, op->results[0]);
    for (int i = 1; i < body->arg_count; i++) words += 2 * layout_words(s->k, body->args[i]);
    for (size_t i = 0; i < t->tails.count; i++)
        words += layout_words(s->k, t->tails.at[i]->operands[0]) - layout_words(s->k, t->tails.at[i]->results[0]);
    for (size_t i = 0; i < t->heads.count; i++)
        words += layout_words(s->k, t->heads.at[i]->operands[0]) + layout_words(s->k, t->heads.at[i]->results[0]);
    int64_t all = schedule_thread_registers(s, role_around(loop));
    return words * machine->thread_registers <= machine->cost.joined_registers * all;
}

bool trail_find(const Schedule *s, const Op *loop, Trail *t) {
    const Region *body = loop->regions[0];
    int64_t step;
    bool given_back = false;
    *t = (Trail){.early = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count)};
    if (!role_around(loop) || op_flag(loop, AT_ROTATE) || op_flag(loop, AT_TOGETHER) || op_attr(loop, AT_TWIN) ||
        op_attr(loop, AT_AHEAD) || op_attr(loop, AT_BYTES))
        return false;
    if (!ir_const_int(s->k, loop->operands[2], &step) || step != 1) return false;
    if (!find_products(s, loop, t)) return false;
    for (size_t i = 0; i < t->heads.count; i++) {
        if (!tile_is_number(s->k, t->heads.at[i]->operands[2])) return false;
        for (int n = 0; n < 3; n++)
            if (!gather(s, body, t->heads.at[i]->operands[n], t->early)) return false;
    }
    for (Op *op = body->first; op; op = op->next)
        for (size_t i = 0; op->code == OP_RELEASE && i < t->tails.count; i++)
            if (release_of(s, t->tails.at[i]) == op) {
                *VEC_PUSH(&t->releases, s->arena) = op;
                break;
            }
    /* Items are waited for in the head alone, before one is given back; the rest is arithmetic and loads. */
    for (const Op *op = body->first; op != body->last; op = op->next) {
        bool hands = op->code == OP_WAIT || op->code == OP_GET || op->code == OP_RELEASE;
        if (hands && ring_is_fused(hand_ring_op(s->k, op))) return false;
        if (!hands && op->code != OP_DOT && !schedule_is_plain(op)) return false;
        if (op->code == OP_WAIT && (!t->early[op->results[0]] || given_back)) return false;
        given_back |= op->code == OP_RELEASE && !trail_gives_back(t, op);
    }
    return true;
}

void trail_sort(Region *body, const Trail *t) {
    Op *first = t->heads.at[0], *after = first;
    for (Op *op = first->next, *next; op; op = next) {
        next = op->next;
        if (op->code != OP_DOT && op->result_count == 1 && t->early[op->results[0]]) ir_move(op, body, first);
    }
    for (size_t i = 1; i < t->heads.count; i++) {
        if (after->next != t->heads.at[i]) ir_move(t->heads.at[i], body, after->next);
        after = t->heads.at[i];
    }
    for (size_t i = 0; i < t->releases.count; i++) ir_move(t->releases.at[i], body, body->last);
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Trail t;
    if (loop->code != OP_FOR || s->gang.programs > 1 || !trail_find(s, loop, &t)) return;
    if (t.heads.count + t.tails.count <= 2 || schedule_lead(s, loop, &t) || !pays(s, &t)) return;
    if (!has_room(s, loop, &t)) {
        pass_find(s->cx, t.tails.at[0]->range, FIND_LOOP_NOT_TURNED, "a thread's registers do not hold what goes on");
        return;
    }
    Region *body = loop->regions[0];
    for (size_t i = 0; i < t.tails.count; i++) ir_move(t.tails.at[i], body, body->last);
    trail_sort(body, &t);
    op_set(s->k, loop, (Attr){.id = AT_TRAILS, .number = 1});
    for (size_t i = 0; i < t.tails.count; i++) {
        op_set(s->k, t.tails.at[i], (Attr){.id = AT_BEHIND, .number = 1});
        pass_find(s->cx, t.tails.at[i]->range, FIND_DOT_IN_FLIGHT);
    }
    for (size_t i = 0; i < t.releases.count; i++) op_set(s->k, t.releases.at[i], (Attr){.id = AT_BEHIND, .number = 1});
}

void schedule_trail(Schedule *s) {
    if (s->cx->options.rotate) ir_walk(s->k->body, plan_loop, s);
}

bool schedule_trail_holds(Schedule *s, const Op *loop) {
    Trail t;
    bool holds = trail_find(s, loop, &t);
    const Op *at = holds ? t.heads.at[0] : NULL, *op = loop->regions[0]->first;
    for (; holds && op != at; op = op->next) holds = !op_attr(op, AT_BEHIND);
    for (size_t i = 0; holds && i < t.heads.count; i++, op = op->next)
        holds = op == t.heads.at[i] && !op_attr(op, AT_BEHIND);
    while (holds && !op_attr(op, AT_BEHIND) && op != loop->regions[0]->last) op = op->next;
    for (size_t i = 0; holds && i < t.tails.count; i++, op = op->next)
        holds = op == t.tails.at[i] && op_attr(op, AT_BEHIND);
    for (size_t i = 0; holds && i < t.releases.count; i++, op = op->next)
        holds = op == t.releases.at[i] && op_attr(op, AT_BEHIND);
    for (const Op *dot = loop->regions[0]->first; holds && dot; dot = dot->next) holds = !op_flag(dot, AT_FLIGHT);
    return (holds && op == loop->regions[0]->last) ||
           schedule_fail(s, loop,
                         "a loop `trails` where products that need nothing of each other stand side by side, and last, "
                         "`behind`, those that add what is made of them to sums of their own, with the releases of "
                         "their slots, of rings whose items may be held twice");
}
