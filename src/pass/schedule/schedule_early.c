/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_early.c: turned loops whose first product is issued a trip early, under the arithmetic of the trip before.
 *
 * A turned loop (schedule_turn.c) issues both products of a trip side by side, and has nothing to do until the first of
 * them is done. Where a thread's registers hold its sum and what is made of it at the same time, the loop leads too:
 *
 *     S = Q K(0)
 *     for all but the last { m = max S ; x = S - m          the registers of S are free
 *                            acc += P V(j-1) done ; acc *= a
 *                            S = Q K(j+1) in flight
 *                            P = exp x ; acc += P V(j) in flight ; S done }
 *     the last trip, which issues no S ; acc done
 *
 * Items are waited for and given back in the order of the turned loop, which the rings' check has proved. In the text:
 *
 *     for<rotate, leads=3> {  wait k ; s = dot<ahead=1, flight> q, k ; release k
 *                             m = max s ; x = s - m ; a = mul acc, alpha       three ops; then the next s is issued
 *                             p = exp x
 *                             wait<behind=1> v ; acc = dot<behind=1, flight> p, v, a ; release<behind=1> v }
 *
 * It pays for products of 16 bits along fewer than 128 elements: attention forward with heads of 64 in tiles of 64 x 64
 * has 1.09 of the turned loop's speed at N 1024, 1.03 at 4096 (H200). Products of 8 bits take half as long, and gained
 * nothing (1.00; 0.92 with 128 rows a warpgroup); with heads of 128 two programs cover each other as they are (0.97).
 *
 * The accumulator is scaled before that product is issued: an assembler that sees it changed while another one runs
 * waits for each by itself. No sum is added up in another order. */
#include "pass/ring/ring_rotate.h"
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

typedef struct Early {
    Schedule *s;
    const Region *body;
    Rotation r;
    uint8_t *needed; /* by Ref: what the first product is made of, in the body */
    uint8_t *front;  /* by Ref: what comes before the next one is issued */
} Early;

static const Op *maker(const Early *y, Ref ref) {
    const Op *op = ref_is_value(ref) ? ir_value(y->s->k, ref)->op : NULL;
    return op && op->parent == y->body ? op : NULL;
}

static bool is_marked(const uint8_t *marks, const Op *op) { return op->result_count && marks[op->results[0]]; }

/* --- what the first product is made of: slots, and what is the same in each trip --- */
static bool is_of_slots(Early *y, Ref ref) {
    const Op *op = maker(y, ref);
    if (!op) return !ref_is_value(ref) || ir_value(y->s->k, ref)->op || ir_value(y->s->k, ref)->region != y->body;
    if (op->code != OP_WAIT && op->code != OP_GET && op->code != OP_PERMUTE && !tile_is_number(y->s->k, ref))
        return false;
    y->needed[ref] = 1;
    for (int i = 0; op->code != OP_WAIT && i < op->operand_count; i++)
        if (!is_of_slots(y, op->operands[i])) return false;
    return true;
}

/* --- what comes before the next one is issued --- */
static bool is_arithmetic(const Early *y, const Op *op) {
    return schedule_is_plain(op) && !op->region_count && op->result_count == 1 &&
           !scratch_bytes(y->s->k, op, y->s->cx->machine->group_warps, true);
}

static bool is_load(const Op *op) { return op->code == OP_TLOAD || op->code == OP_LOAD; }

/* False: it needs more than arithmetic: a load of its trip would be waited for. */
static bool bring(Early *y, const Op *op) {
    if (!op || is_marked(y->front, op) || is_marked(y->needed, op)) return true;
    if (is_load(op) || !is_arithmetic(y, op)) return false;
    y->front[op->results[0]] = 1;
    for (int i = 0; i < op->operand_count; i++)
        if (!bring(y, maker(y, op->operands[i]))) return false;
    return true;
}

static bool is_head(const Early *y, const Op *op) { return rotation_part(&y->r, op) == ROTATE_HEAD; }

/* All readers of the sum, what scales the accumulator, and what those need; all else may stand behind. */
static bool find_front(Early *y) {
    Ref sum = y->r.first->results[0];
    y->front[sum] = 1; /* it is there */
    for (const Op *op = y->body->first; op != y->body->last; op = op->next)
        if (op != y->r.first && (ir_op_uses(op, sum) || rotation_part(&y->r, op) == ROTATE_SCALE) && !bring(y, op))
            return false;
    y->front[sum] = 0;
    return !ir_op_uses(y->body->last, sum);
}

/* Does it see an item of the first product, which is the next trip's where it stands? */
static bool sees_item(const Early *y, const Op *op) {
    for (const Op *item = y->body->first; item; item = item->next)
        if (is_marked(y->needed, item) && ir_op_uses(op, item->results[0])) return true;
    return false;
}

/* Nothing of the head but the first product's own slots is handed over, and no other product stands there. */
static bool head_is_plain(const Early *y) {
    for (const Op *op = y->body->first; op != y->body->last; op = op->next) {
        if (!is_head(y, op) || op == y->r.first || is_marked(y->needed, op) || op->code == OP_ASSUME) continue;
        const Op *wait = op->code == OP_RELEASE ? maker(y, op->operands[1]) : NULL;
        if (wait ? !is_marked(y->needed, wait) : !schedule_is_plain(op)) return false;
        if (!wait && sees_item(y, op)) return false;
        if (!wait && !op->region_count && !is_load(op) && !is_arithmetic(y, op)) return false;
    }
    return true;
}

/* --- registers --- */
/* Of a thread while both products run: the sum of the first, what has been made of it and goes on, the accumulator and
 * what else is carried. */
static bool has_room(const Early *y, const Op *loop) {
    const Schedule *s = y->s;
    int64_t words = layout_words(s->k, y->r.first->results[0]);
    for (const Op *op = y->body->first; op != y->body->last; op = op->next) {
        if (!is_marked(y->front, op) || rotation_part(&y->r, op) == ROTATE_SCALE) continue;
        bool goes_on = false;
        for (const Op *user = op->next; user; user = user->next)
            goes_on |= !is_marked(y->front, user) && ir_op_uses(user, op->results[0]);
        if (goes_on) words += layout_words(s->k, op->results[0]);
    }
    for (int i = 1; i < y->body->arg_count; i++) words += layout_words(s->k, y->body->args[i]);
    const Machine *machine = s->cx->machine;
    int64_t room = schedule_thread_registers(s, role_around(loop));
    if (room > machine->role_registers) room /= 2; /* the assembler chooses: two blocks are to share a multiprocessor */
    return words + machine->cost.other_registers <= room;
}

static bool find_early(Schedule *s, const Op *loop, Early *y) {
    *y = (Early){.s = s, .body = loop->regions[0]};
    y->needed = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count);
    y->front = ARENA_ARRAY(s->arena, uint8_t, s->k->values.count);
    if (!op_flag(loop, AT_ROTATE) || op_attr(loop, AT_TURNS)) return false;
    if (!rotation_find(s->k, loop, s->arena, &y->r)) return false;
    const Op *first = y->r.first;
    if (!op_flag(first, AT_FRESH) || schedule_in_shared(s->k, y->r.second->operands[0])) return false;
    for (int i = 0; i < 3; i++)
        if (!is_of_slots(y, first->operands[i])) return false;
    return find_front(y) && head_is_plain(y);
}

/* Is the first product neither over before its sum is wanted nor as long as the arithmetic? */
static bool pays(const Early *y) {
    const Type *left = ir_type(y->s->k, y->r.first->operands[0]);
    return elem_info[left->elem].bits >= 16 && left->extent[1] < y->s->cx->machine->cost.long_product;
}

/* --- the order of the body --- */
/* To which part of the body an op goes. */
typedef enum Part { OF_SLOTS, OF_RELEASES, OF_FRONT, OF_SCALE, OF_REST, OF_TAIL, PARTS } Part;

static Part place_of(const Early *y, const Op *op) {
    RotatePart part = rotation_part(&y->r, op);
    if (part != ROTATE_HEAD) return part == ROTATE_TAIL ? OF_TAIL : OF_SCALE;
    if (op == y->r.first || is_marked(y->needed, op)) return OF_SLOTS;
    if (op->code == OP_RELEASE) return OF_RELEASES;
    return is_marked(y->front, op) ? OF_FRONT : OF_REST;
}

static bool comes_first(Part place) { return place == OF_FRONT || place == OF_SCALE; }

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Early y;
    if (loop->code != OP_FOR || !role_around(loop) || !find_early(s, loop, &y)) return;
    if (!pays(&y) || !has_room(&y, loop)) return;
    Region *body = loop->regions[0];
    int64_t front = 0;
    for (Part place = OF_SLOTS; place < PARTS; place++) {
        Op *begin = NULL;
        for (Op *op = body->first, *next; op != body->last && op != begin; op = next) {
            next = op->next;
            if (place_of(&y, op) != place) continue;
            ir_move(op, body, body->last);
            if (!begin) begin = op;
            front += comes_first(place);
        }
    }
    op_set(s->k, loop, (Attr){.id = AT_LEADS, .number = front});
    op_set(s->k, (Op *)y.r.first, (Attr){.id = AT_AHEAD, .number = 1});
    pass_find(s->cx, y.r.first->range, FIND_DOT_AHEAD);
}

void schedule_early(Schedule *s) {
    if (s->tasks && s->cx->options.rotate) ir_walk(s->k->body, plan_loop, s);
}

bool schedule_early_holds(Schedule *s, const Op *loop) {
    Early y;
    bool holds = find_early(s, loop, &y) && op_attr(y.r.first, AT_AHEAD);
    Part place = OF_SLOTS;
    int64_t front = 0;
    for (const Op *op = loop->regions[0]->first; holds && op != loop->regions[0]->last; op = op->next) {
        Part own = place_of(&y, op);
        holds = own >= place && (op == y.r.first || !op_attr(op, AT_AHEAD));
        front += comes_first(own);
        place = own;
    }
    return (holds && front == op_int(loop, AT_LEADS, 0)) ||
           schedule_fail(s, loop,
                         "a turned loop `leads` where its first product, which is `ahead`, takes slots alone and "
                         "stands first, with their releases behind it; behind them so many ops of arithmetic, all that "
                         "read its sum, then those that scale the accumulator; then the others, and last the tail");
}
