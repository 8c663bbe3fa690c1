/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_lead.c: loops whose first products are issued a trip early, under the arithmetic of the trip before.
 *
 * In gradients of attention a trip multiplies K by Q(j) and V by G(j), computes weights of both, and adds their
 * products with the same Q(j) and G(j) to two sums. What the first products take comes from rings alone, so they need
 * not wait for the arithmetic of the trip before. The loop leads:
 *
 *     for { s = dot k, q ; t = dot v, g ; x = s - l ; p = f(x) ; a += dot p, g ; y = t - e ; d = p * y ;
 *           b += dot d, q }
 *  -> s, t of the first trip
 *     for all but the last { x = s - l ; y = t - e          their registers are free
 *                            s, t of the next trip issued ; a, b of the trip before done, their slots given back
 *                            p = f(x) ; a += p g issued ; d = p * y ; b += d q issued
 *                            s, t done }
 *     the last trip, which issues no s and t ; a, b done
 *
 * So the matrix units always have a product to go on with. In the text:
 *
 *     for<leads=2> {  .. wait<ahead=1> q ; wait<ahead=1> g ; s = dot<ahead=1> k, q ; t = dot<ahead=1> v, g
 *                     x = s - l ; y = t - e                 two ops; then the next trip's products are issued
 *                     p = f(x) ; a1 = dot<flight> p, g, a ; d = p * y ; b1 = dot<flight> d, q, b
 *                     release<behind=1> q ; release<behind=1> g }
 *
 * Items of three trips are held at once. Each product goes ahead for which a thread has registers: its sum and what is
 * made of that are there at the same time. The others are issued when their trip begins. What reads a sum behind the
 * place where the next one is issued reads a copy; a single instruction that is its only reader comes before that
 * place instead, if it waits for no load of its trip, and loads for the next trip follow it, so that they may take the
 * registers of this one's. No sum is added up in another order. */
#include "pass/schedule/schedule_trail.h"
#include "pass/schedule/text_order.h"

/* Items held at once: the next trip's, this one's, and those that the tails of the trip before still read. */
enum { HELD_AHEAD = 2, HELD_BEHIND = 3 };

typedef struct Lead {
    const Trail *t;
    uint8_t *front; /* by Ref: what comes before the next trip's products are issued */
} Lead;

static bool is_arg(const Schedule *s, const Region *body, Ref ref) {
    const Value *value = ref_is_value(ref) ? ir_value(s->k, ref) : NULL;
    return value && !value->op && value->region == body;
}

/* Is it the same in each trip but for its slot? */
static bool is_ready(const Schedule *s, const Region *body, Ref ref) {
    const Op *op = trail_maker(s, body, ref);
    if (!op) return !is_arg(s, body, ref);
    for (int i = 0; i < op->operand_count; i++)
        if (!is_ready(s, body, op->operands[i])) return false;
    return true;
}

static bool can_go_ahead(const Schedule *s, const Op *head) {
    return op_flag(head, AT_FRESH) && is_ready(s, head->parent, head->operands[0]) &&
           is_ready(s, head->parent, head->operands[1]);
}

/* --- rings --- */
/* How many items of the ring the role holds at once, at most, where it gives none back between two waits. */
static int held_in(const Region *region, Ref ring) {
    int own = 0, inside = 0;
    for (const Op *op = region->first; op; op = op->next) {
        own += op->code == OP_WAIT && op->operands[0] == ring;
        for (int i = 0; i < op->region_count; i++) {
            int most = held_in(op->regions[i], ring);
            if (most > inside) inside = most;
        }
    }
    return own + inside;
}

static int held_of(const Trail *t, const Op *wait) {
    for (size_t i = 0; i < t->releases.count; i++)
        if (t->releases.at[i]->operands[1] == wait->results[0]) return HELD_BEHIND;
    return HELD_AHEAD;
}

/* Are there slots for what is held, and one or more to load into meanwhile? Nowhere else does the role hold two of the
 * ring, so what it holds here is seen by the rings' check (ring_program.c: `late`). */
static bool may_hold(const Schedule *s, const Op *loop, const Trail *t) {
    int spare = s->cx->machine->cost.enough_slots - HELD_AHEAD;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != OP_WAIT) continue;
        if (op_int(hand_ring_op(s->k, op), AT_SLOTS, 1) < held_of(t, op) + spare) return false;
        if (held_in(role_around(loop)->regions[0], op->operands[0]) != 1) return false;
    }
    return true;
}

/* --- what comes before the next products --- */
/* Marks what an op in front needs of the body; false: it needs a product, or a load, which it would wait for, or it is
 * no arithmetic. */
static bool bring(const Schedule *s, const Trail *t, const Region *body, Ref ref, uint8_t *front) {
    const Op *op = trail_maker(s, body, ref);
    if (!op || front[ref] || t->early[ref]) return true;
    if (op->region_count || op->result_count != 1) return false;
    if (!op_has(op->code, TRAIT_PURE) || !schedule_is_plain(op)) return false;
    front[ref] = 1;
    for (int i = 0; i < op->operand_count; i++)
        if (!bring(s, t, body, op->operands[i], front)) return false;
    return true;
}

static bool is_single(const Op *op) {
    return op->code == OP_ADD || op->code == OP_SUB || op->code == OP_MUL || op->code == OP_FMA;
}

/* The only reader of the sum, if a single instruction computes it of that and of what no product gives. */
static const Op *taker_of(const Schedule *s, const Op *head) {
    const Region *body = head->parent;
    Ref sum = head->results[0];
    if (s->uses[sum] != 1) return NULL;
    const Op *op = head->next;
    while (op && !ir_op_uses(op, sum)) op = op->next;
    bool single = op && is_single(op);
    for (int i = 0; single && i < op->operand_count; i++)
        single = op->operands[i] == sum || !schedule_comes_of_product(s, body, op->operands[i]);
    return single ? op : NULL;
}

static void take(const Schedule *s, Lead *l, const Op *head) {
    const Op *op = taker_of(s, head);
    if (!op) return;
    uint8_t *front = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count);
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] != head->results[0] && !bring(s, l->t, head->parent, op->operands[i], front)) return;
    for (size_t i = 0; i < s->k->values.count; i++) l->front[i] |= front[i];
    l->front[op->results[0]] = 1;
}

/* --- registers --- */
static bool is_read_in_front(const Region *body, const Lead *l, Ref value) {
    for (const Op *op = body->first; op; op = op->next)
        if (ir_op_uses(op, value) && !(op->result_count == 1 && l->front[op->results[0]])) return false;
    return true;
}

/* Of a thread, while a trip computes and all heads are issued when it begins: the sums, those of the heads, what these
 * and the tails of the trip before take, what it has loaded, and what else is carried, twice where the next trip's is
 * there before the last reader of this one's. */
static int64_t words_of(const Schedule *s, const Op *loop, const Lead *l) {
    const Region *body = loop->regions[0];
    const Trail *t = l->t;
    int64_t words = 0;
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_TLOAD || op->code == OP_LOAD) words += layout_words(s->k, op->results[0]);
    for (int i = 1; i < body->arg_count; i++)
        words += layout_words(s->k, body->args[i]) * (is_read_in_front(body, l, body->args[i]) ? 1 : 2);
    for (size_t i = 0; i < t->tails.count; i++)
        words += layout_words(s->k, t->tails.at[i]->operands[0]) - layout_words(s->k, t->tails.at[i]->results[0]);
    for (size_t i = 0; i < t->heads.count; i++)
        words += layout_words(s->k, t->heads.at[i]->operands[0]) + layout_words(s->k, t->heads.at[i]->results[0]);
    return words;
}

/* --- the order of the body --- */
static bool is_front(const Lead *l, const Op *op) { return op->result_count == 1 && l->front[op->results[0]]; }

/* What the op makes is for the next trip alone. */
static bool is_for_next(const Region *body, const Op *op, const bool *moved) {
    for (const Op *user = op->next; user != body->last; user = user->next)
        for (int i = 0; i < op->result_count; i++)
            if (ir_op_uses(user, op->results[i]) && !(user->result_count && moved[user->results[0]])) return false;
    return op->result_count && schedule_is_plain(op);
}

/* Behind the heads what takes their sums, then what stood before the heads and is for the next trip; how many ops that
 * is. */
static int sort_front(const Schedule *s, Region *body, const Lead *l) {
    Op *rest = l->t->heads.at[l->t->heads.count - 1]->next;
    int count = 0;
    for (Op *op = rest, *next; op != body->last; op = next) {
        next = op->next;
        if (!is_front(l, op)) continue;
        count++;
        if (op == rest)
            rest = next;
        else
            ir_move(op, body, rest);
    }
    bool *moved = ARENA_ARRAY(s->arena, bool, s->k->values.count);
    for (Op *op = l->t->heads.at[0]->previous, *before; op; op = before) {
        before = op->previous;
        if (!is_for_next(body, op, moved) || is_front(l, op) || l->t->early[op->results[0]]) continue;
        moved[op->results[0]] = true;
        ir_move(op, body, rest);
        rest = op;
        count++;
    }
    return count;
}

static void mark(const Schedule *s, Op *op, AttrId id, int64_t number) {
    op_set(s->k, op, (Attr){.id = id, .number = number});
}

bool schedule_lead(Schedule *s, Op *loop, const Trail *t) {
    Region *body = loop->regions[0];
    Lead l = {t, ARENA_ARRAY(s->arena, uint8_t, s->k->values.count)};
    bool *ahead = ARENA_ARRAY(s->arena, bool, t->heads.count), any = false;
    int64_t room = schedule_thread_registers(s, role_around(loop)) - s->cx->machine->cost.lead_registers;
    if (!may_hold(s, loop, t)) return false;
    int64_t more = 0;
    for (size_t i = 0; i < t->heads.count; i++) {
        int64_t own = layout_words(s->k, t->heads.at[i]->results[0]);
        Lead tried = {t, ARENA_ARRAY(s->arena, uint8_t, s->k->values.count)};
        for (size_t n = 0; n < s->k->values.count; n++) tried.front[n] = l.front[n];
        take(s, &tried, t->heads.at[i]);
        if (!can_go_ahead(s, t->heads.at[i]) || words_of(s, loop, &tried) + more + own > room) continue;
        l = tried;
        more += own;
        ahead[i] = any = true;
    }
    if (!any) return false;
    trail_sort(body, t);
    mark(s, loop, AT_LEADS, sort_front(s, body, &l));
    for (size_t i = 0; i < t->heads.count; i++) {
        if (!ahead[i]) continue;
        mark(s, t->heads.at[i], AT_AHEAD, 1);
        pass_find(s->cx, t->heads.at[i]->range, FIND_DOT_AHEAD);
    }
    for (size_t i = 0; i < t->tails.count; i++) {
        mark(s, t->tails.at[i], AT_FLIGHT, 1);
        pass_find(s->cx, t->tails.at[i]->range, FIND_DOT_CROSSES);
    }
    for (size_t i = 0; i < t->releases.count; i++) mark(s, t->releases.at[i], AT_BEHIND, 1);
    for (Op *op = body->first; op; op = op->next) {
        if (op->code != OP_WAIT) continue;
        Op *ring = (Op *)hand_ring_op(s->k, op);
        mark(s, op, AT_AHEAD, 1);
        if (op_int(ring, AT_HOLD, 1) < held_of(t, op)) mark(s, ring, AT_HOLD, held_of(t, op));
    }
    return true;
}

/* --- a schedule that came as text --- */
static bool holds_items(const Schedule *s, const Op *loop, const Trail *t) {
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != OP_WAIT) continue;
        if (!op_attr(op, AT_AHEAD) || op_int(hand_ring_op(s->k, op), AT_HOLD, 1) < held_of(t, op)) return false;
        if (held_in(role_around(loop)->regions[0], op->operands[0]) != 1) return false;
    }
    return true;
}

static bool has_order(const Schedule *s, const Op *loop, const Trail *t) {
    const Op *op = t->heads.at[0], *yield = loop->regions[0]->last;
    int ahead = 0;
    for (size_t i = 0; i < t->heads.count; i++, op = op->next) {
        if (op != t->heads.at[i] || op_flag(op, AT_FLIGHT)) return false;
        if (op_attr(op, AT_AHEAD) && !can_go_ahead(s, op)) return false;
        ahead += op_attr(op, AT_AHEAD) != NULL;
    }
    for (int64_t i = op_int(loop, AT_LEADS, 0); i > 0; i--, op = op->next) {
        if (op == yield || !schedule_is_plain(op)) return false;
        for (size_t n = 0; n < t->heads.count; n++) /* what only looks at a sum would see the next one */
            if (ir_op_uses(op, t->heads.at[n]->results[0]) && !(op_attr(t->heads.at[n], AT_AHEAD) && is_single(op)))
                return false;
    }
    size_t tails = 0;
    for (; op != yield && !op_attr(op, AT_BEHIND); op = op->next)
        if (op->code == OP_DOT && (op_attr(op, AT_AHEAD) || !op_flag(op, AT_FLIGHT) || t->tails.at[tails++] != op))
            return false;
    for (size_t i = 0; i < t->releases.count; i++, op = op->next)
        if (op != t->releases.at[i] || !op_attr(op, AT_BEHIND)) return false;
    return op == yield && ahead && tails == t->tails.count;
}

bool schedule_lead_holds(Schedule *s, const Op *loop) {
    Trail t;
    bool holds = trail_find(s, loop, &t) && holds_items(s, loop, &t) && has_order(s, loop, &t);
    for (const Op *op = loop->regions[0]->first; holds && op != t.heads.at[0]; op = op->next)
        holds = !op_attr(op, AT_BEHIND);
    return holds ||
           schedule_fail(s, loop,
                         "a loop `leads` where products that need nothing of each other stand side by side, some of "
                         "them `ahead` as all waits are, with empty sums and operands that no trip changes; behind "
                         "them so many ops of arithmetic, then others and products in `flight` that add what is made "
                         "of them to sums of their own, and last, `behind`, the releases of their slots, of rings "
                         "whose items may be held three times");
}
