/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_cover.c: copies that are issued under a product.
 *
 * A loop whose loads run ahead on its own threads (schedule_skew.c) issues them as soon as its item has landed. Where
 * the first thing done with that is a product, which runs beside the threads, the product comes first, and copies with
 * all that finds their addresses fill the time while it runs:
 *
 *     for<ahead=2> { wait ; a = get ; b = get ; acc = dot<covers> a, b, acc ; release }
 *  -> for (..) { wait for the item ; issue the product ; load (item + 2) ; wait for the product }
 *
 * Of several products that wait for themselves, it is the last one before which loads are issued that come through
 * registers: those hold a tile less while the trip computes what its last product is made of.
 *
 * What is copied goes to slots that no product of the trip reads, and those of the trip before were waited for before
 * the threads met: nothing else changes. The turn of the loads takes no scratch and is without branches, which would
 * make the compiler wait for a product by itself. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"
#include "pass/schedule/text_order.h"

/* Does the op before the product do no more than hand the item to it, or compute numbers? */
static bool is_short(const Schedule *s, const Op *op) {
    if (op->code == OP_WAIT || op->code == OP_GET) return true;
    if (op->region_count || op->result_count != 1 || !op_has(op->code, TRAIT_PURE)) return false;
    return schedule_in_shared(s->k, op->results[0]) || tile_is_number(s->k, op->results[0]);
}

/* The product that the loop begins with; NULL: it begins with something else. */
static Op *first_product(const Schedule *s, const Op *loop) {
    Op *op = loop->regions[0]->first;
    while (op && op->code != OP_DOT && is_short(s, op)) op = op->next;
    bool runs = op && op->code == OP_DOT && schedule_is_async(s, op) && !op_flag(op, AT_FLIGHT);
    return runs ? op : NULL;
}

/* The last of several products of the loop, if none of them runs beside the threads; else NULL. */
static Op *last_product(const Schedule *s, const Op *loop) {
    Op *last = NULL;
    int products = 0;
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        if (schedule_is_async(s, op)) return NULL;
        last = op;
        products++;
    }
    return products > 1 ? last : NULL;
}

/* Are all loads of the turn of the kind, copies past the registers or tiles that threads carry, or short ones of
 * addresses? */
static bool is_moved(const Schedule *s, const Op *loop, Word mover) {
    bool copies = false;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count || op_attr(op, AT_AT) || op_flag(op, AT_VOLATILE)) return false;
        if (op->code == OP_PUT && layout_put_mover(s->k, op) != mover) return false;
        copies |= op->code == OP_PUT;
    }
    return copies;
}

typedef struct Twin {
    int64_t number;
    const Op *loop; /* of the load role */
} Twin;

static void find_twin(Op *op, void *user) {
    Twin *twin = user;
    if (op->code == OP_FOR && op_int(op, AT_TWIN, 0) == twin->number && !op_attr(op, AT_AHEAD)) twin->loop = op;
}

/* The product of the loop that covers its loads; NULL: none does. */
static Op *cover_of(const Schedule *s, const Op *loop) {
    bool ahead = loop->code == OP_FOR && op_attr(loop, AT_TWIN) && op_attr(loop, AT_AHEAD) &&
                 !loop_is_turned(loop);
    Op *dot = ahead ? first_product(s, loop) : NULL;
    Word mover = dot ? MOVER_ASYNC : MOVER_LANES;
    if (ahead && !dot && s->cx->machine->cost.puts_late) dot = last_product(s, loop);
    Twin twin = {ahead ? op_int(loop, AT_TWIN, 0) : 0, NULL};
    if (!dot) return NULL;
    ir_walk(s->k->body, find_twin, &twin);
    return twin.loop && is_moved(s, twin.loop, mover) ? dot : NULL;
}

static void plan_loop(Op *loop, void *user) {
    Schedule *s = user;
    Op *dot = cover_of(s, loop);
    if (dot) op_set(s->k, dot, (Attr){.id = AT_COVERS, .number = 1});
}

void schedule_cover(Schedule *s) { ir_walk(s->k->body, plan_loop, s); }

bool schedule_cover_holds(Schedule *s, const Op *dot) {
    const Op *loop = dot->parent->owner;
    return (loop && cover_of(s, loop) == dot) ||
           schedule_fail(s, dot,
                         "a product `covers` the loads of its loop where it comes first, runs beside the threads, and "
                         "they are copies that run ahead, or where it is the last one and they come through registers");
}
