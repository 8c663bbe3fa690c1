/* SPDX-License-Identifier: Apache-2.0 */
/* layout_take.c: tiles that are stored from where a product reads them.
 *
 * A tile that threads hold as a product left it goes through shared memory to be stored in whole rows, with a barrier
 * on either side. Where the same tile is an operand of a product that comes next, it lies in shared memory for that
 * one: the store takes it from there, behind the product, and nothing goes through for it alone.
 *
 *     r = convert<via=shared> x ; tstore r ; .. ; s = convert x (to shared memory) ; d = dot w, s
 *  -> .. ; s = convert x ; d = dot w, s ; r = convert s (from there) ; tstore r
 *
 * The store passes what stands between: arithmetic, items that other roles hand over, and loads of arrays that are
 * promised, or tested by the launch, to be apart from what it writes. */
#include "ir/ringform.h"
#include "ir/roots.h"
#include "pass/layout/layout_state.h"

typedef struct Take {
    LayoutState *st;
    const int *uses;
} Take;

static const Layout *home_of(const Take *t, Ref value) {
    return lay_is_tile(t->st->k, value) ? ir_value(t->st->k, value)->layout : NULL;
}

static bool is_apart(const Take *t, const Op *load, const Op *store) {
    const Kernel *k = t->st->k;
    Arena *arena = t->st->cx->scratch;
    int count = k->body->arg_count;
    bool *read = ARENA_ARRAY(arena, bool, (size_t)count + 1), *written = ARENA_ARRAY(arena, bool, (size_t)count + 1);
    if (!roots_of(k, arena, load->operands[0], read) || !roots_of(k, arena, store->operands[0], written)) return false;
    for (int i = 0; i < count; i++)
        for (int j = 0; read[i] && j < count; j++)
            if (written[j] && (i == j || !roots_promised_apart(k, arena, i, j))) return false;
    return true;
}

/* May the store come behind the op? */
static bool can_be_passed(const Take *t, const Op *op, const Op *store) {
    if (op_flag(op, AT_VOLATILE)) return false;
    if (op->region_count && op->code != OP_IF && op->code != OP_REDUCE) return false;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            if (!can_be_passed(t, inner, store)) return false;
    switch (op->code) {
    case OP_IF:
    case OP_YIELD: return true;
    case OP_LOAD:
    case OP_TLOAD: return is_apart(t, op, store);
    case OP_WAIT:
    case OP_GET:
    case OP_RELEASE: return ir_type(t->st->k, hand_ring(t->st->k, op))->field_count != 0; /* else two roles meet */
    default: return op_has(op->code, TRAIT_PURE) && hand_over(op) == HAND_NONE;
    }
}

/* Is it a conversion that goes through shared memory for this store alone? */
static bool goes_through(const Take *t, const Op *convert, const Op *store) {
    return convert && convert->code == OP_CONVERT && convert->parent == store->parent &&
           t->uses[convert->results[0]] == 1 &&
           access_best_via(t->st->cx->machine, t->st->k, convert) == VIA_SHARED;
}

/* Does the op bring the value to shared memory, as it is? */
static bool brings(const Take *t, const Op *op, Ref value) {
    const Layout *to = op->code == OP_CONVERT && op->operands[0] == value ? home_of(t, op->results[0]) : NULL;
    return to && to->home == HOME_SHARED && !to->tile.turned;
}

static void look_at(Take *t, Op *store) {
    Ref value = op_operand(store, 1);
    Op *convert = ref_is_value(value) ? ir_value(t->st->k, value)->op : NULL;
    const Op *brought = NULL;
    if (!goes_through(t, convert, store)) return;
    for (Op *op = store->next; op; op = op->next) {
        if (op->code == OP_DOT && brought) {
            convert->operands[0] = brought->results[0];
            ir_move(store, op->parent, op->next);
            ir_move(convert, op->parent, store);
            return;
        }
        if (op->code == OP_DOT || !can_be_passed(t, op, store)) return;
        if (brings(t, op, convert->operands[0])) brought = op;
    }
}

static void look_in(Op *op, void *user) {
    for (int i = 0; i < op->region_count; i++)
        for (Op *store = op->regions[i]->first, *next; store; store = next) {
            next = store->next;
            if (store->code == OP_TSTORE) look_at(user, store);
        }
}

void lay_take_stored(LayoutState *st) {
    Take t = {st, ir_count_uses(st->k, st->cx->scratch)};
    ir_walk(st->k->body, look_in, &t);
}
