/* SPDX-License-Identifier: Apache-2.0 */
/* ring_crowd.c: kernels that a crowd of blocks runs better than one block with roles.
 *
 * A warp that only loads hides the way of copies. It hides nothing of what threads do between a tile and its product:
 * where they make an operand of what the trip loaded (the weights of a state-space model, scaled rows), a trip is one
 * chain: tile to registers, arithmetic, product, and most of it waits. What fills that is other warps. So where
 * registers and shared memory hold several such blocks, each loads for itself (skew), has its tiles in few slots, and
 * stores from registers; how many should share a multiprocessor is `blocks` of the kernel.
 *
 *     for k { w = load ; x = load ; acc = dot(exp(..) * w, x, acc) }
 *
 * The same where it is the product that threads make something of before they add it up:
 *
 *     for h { y = load ; x = load ; acc = acc + dot(y, x, 0) * exp(..) }
 *
 * And where they find the rows of a tile anew in each trip (ring_rows.c): a role that does that is a chain of its own,
 * and stands still while it divides for the rows of its next task. Then two blocks must have all the slots that were
 * asked for: what is read is near, but far more than once, and fewer copies in flight cost more than the chain. */
#include "pass/layout/layout.h"
#include "pass/matrix.h"
#include "pass/ring/ring_cut.h"

/* What an operand is made of, element by element. */
typedef struct Made {
    const Kernel *k;
    const Region *body; /* of the loop */
    int left;           /* ops that are looked at */
    bool loaded, multiplied, computed;
} Made;

static void look_at(Made *m, Ref ref, const Type *shape) {
    const Op *op = ref_is_value(ref) ? ir_value(m->k, ref)->op : NULL;
    const Type *type = op ? ir_type(m->k, ref) : NULL;
    if (!op || type->rank != shape->rank || ty_elements(type) != ty_elements(shape) || --m->left < 0) return;
    if (op->code == OP_DOT) m->multiplied = true;
    if (op->code == OP_TLOAD || op->code == OP_LOAD) m->loaded |= op->parent == m->body;
    if (op->code == OP_IF)
        for (int r = 0; r < op->region_count; r++)
            look_at(m, op->regions[r]->last->operands[ir_value(m->k, ref)->index], shape);
    if (op->code != OP_PERMUTE && !op_has(op->code, TRAIT_ELEMENTWISE)) return;
    /* A cast alone is short. */
    m->computed |= op->code != OP_PERMUTE && op->code != OP_CAST;
    for (int i = 0; i < op->operand_count; i++) look_at(m, op->operands[i], shape);
}

typedef struct Crowd {
    const Kernel *k;
    bool found;
    int64_t registers; /* of sums and made operands of a trip that threads hold at once, at most */
} Crowd;

/* Are the products of the loop multiplied with exponentials, one for each, before they are summed? */
static bool sums_made(const Kernel *k, const Region *body, const Op *dot) {
    int64_t each = ty_elements(ir_type(k, dot->results[0]));
    bool computed = false;
    for (const Op *op = body->first; op != body->last; op = op->next)
        computed |= (op->code == OP_EXP || op->code == OP_EXP2) && ty_elements(ir_type(k, op->results[0])) == each;
    for (int i = 0; i < body->last->operand_count; i++)
        if (body->last->operands[i] == dot->results[0]) return false;
    return computed;
}

/* An operand on the left is held as it is made, for the instruction; one on the right goes to shared memory piece by
 * piece, and is whole only as it was loaded. */
static int64_t registers_of(const Kernel *k, const Op *dot, int which) {
    enum { REGISTER_BYTES = 4 };
    const Type *type = ir_type(k, dot->operands[which]);
    return which == 0 ? ty_elements(type) : ty_elements(type) * ty_elem_bytes(type) / REGISTER_BYTES;
}

bool cut_weighs(const Kernel *k, const Region *body) {
    const Op *dot = NULL;
    for (const Op *op = body->first; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        if (dot || !matrix_of(k, op)->is_async) return false;
        dot = op;
    }
    return dot && sums_made(k, body, dot);
}

static void look_at_loop(Op *loop, void *user) {
    enum { MOST_STEPS = 64 };
    Crowd *crowd = user;
    int64_t registers = 0;
    bool found = false;
    const Op *last = NULL;
    for (const Op *op = loop->code == OP_FOR ? loop->regions[0]->first : NULL; op; op = op->next) {
        if (op->code != OP_DOT) continue;
        registers += ty_elements(ir_type(crowd->k, op->results[0]));
        last = op;
        for (int i = 0; i < 2 && matrix_of(crowd->k, op)->is_async; i++) {
            Made made = {.k = crowd->k, .body = loop->regions[0], .left = MOST_STEPS};
            look_at(&made, op->operands[i], ir_type(crowd->k, op->operands[i]));
            if (!made.loaded || !made.computed || made.multiplied) continue;
            registers += registers_of(crowd->k, op, i);
            found = true;
        }
    }
    if (last && cut_weighs(crowd->k, loop->regions[0])) {
        registers += ty_elements(ir_type(crowd->k, last->results[0])); /* the sum, and the product */
        found = true;
    }
    crowd->found |= found;
    if (registers > crowd->registers) crowd->registers = registers;
}

/* Shared memory that the block cannot do without: the largest ring of loads with the slots that let them run ahead, or
 * with all. */
static int64_t least_bytes(const Cut *c, bool all) {
    enum { LEAST_SLOTS = 2 };
    int64_t most = 0;
    for (size_t i = 0; i < c->rings.count; i++) {
        const CutRing *ring = c->rings.at[i];
        int slots = !ring->in_loop ? 1 : all ? cut_stages(c, ring) : LEAST_SLOTS;
        int64_t bytes = ring->output ? 0 : ring->bytes * slots;
        if (bytes > most) most = bytes;
    }
    return most;
}

int cut_crowd(const Cut *c, bool *searches) {
    const Machine *machine = c->cx->machine;
    Crowd crowd = {.k = c->k};
    ir_walk(c->k->body, look_at_loop, &crowd);
    *searches = !crowd.found && cut_finds_rows(c->k, c->k->body);
    if ((!crowd.found && !*searches) || !machine->cost.crowd_warps) return 0;
    int warps = layout_warps(c->cx, c->k);
    int threads = warps * machine->lanes, least = (machine->cost.crowd_warps + warps - 1) / warps;
    if (least < 2) return 0;
    /* The others are addresses, places, conditions, and what is fetched for the next trip. */
    bool held = crowd.registers / threads <= machine->registers / (least * threads) * machine->cost.crowd_percent / 100;
    return held && least_bytes(c, *searches) < machine_room(machine, least) ? machine->cost.crowd_most / warps : 0;
}
