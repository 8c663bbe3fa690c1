/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_move.c: how tiles lie in the scratch through which they go, and how much of them moves at once.
 *
 *     convert<via=shared, swizzle=[1,2,64,128,..], vectors=[4,2], at=0, bytes=16384>
 *
 * A conversion writes its tile in vectors of 4 and reads it in vectors of 2. Each number of `swizzle` stands for a
 * bit of the place in shared memory: it is the place's element, all indices of the tile in one (a number with two
 * bits set is the xor that keeps both sides off each other's banks: ll_choose_swizzle). Ops that stage a whole
 * tile write it in vectors of their own (`vector`).
 *
 *     get<.., apart>         in + (at ^ number): of the address in a slot the thread's part is found once */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

static bool goes_through(const Op *op) {
    return op->code == OP_CONVERT && op_word(op, AT_VIA, WORD_NONE) == VIA_SHARED;
}

/* --- conversions --- */
static LinearLayout best_swizzle(const Schedule *s, const Op *op) {
    const LinearLayout *from = &schedule_layout(s->k, op->operands[0])->map;
    const LinearLayout *to = &schedule_layout(s->k, op->results[0])->map;
    int bytes = convert_bytes(ir_type(s->k, op->results[0]));
    const Machine *machine = s->cx->machine;
    return op_int(op, AT_PIECES, 1) > 1 ? ll_choose_pieces(machine->banks, machine->vector_bytes, from, to, bytes)
                                        : ll_choose_swizzle(machine->banks, machine->vector_bytes, from, to, bytes);
}

/* Elements that a thread moves at once between its registers and the swizzled tile; 0: it lacks an element. */
static int best_vector(const Schedule *s, Ref value, const LinearLayout *via) {
    const Layout *layout = schedule_layout(s->k, value);
    int bits[LL_MAX_BITS];
    PlaceMap map;
    if (!ll_invert_and_compose(&layout->map, via, &map)) return 0;
    int vector = ll_vector(&map, convert_bytes(ir_type(s->k, value)), s->cx->machine->vector_bytes, bits);
    bool side_by_side = true; /* in the registers too */
    for (int i = 0; 1 << i < vector; i++) side_by_side &= bits[i] == i;
    if (!side_by_side) return layout->registers == 1 << layout->map.count[LL_REGISTER] ? vector : 1;
    while (vector > 1 && layout->registers % vector) vector /= 2;
    return vector;
}

static void plan_convert(Schedule *s, Op *op) {
    LinearLayout via = best_swizzle(s, op);
    int64_t *basis = ARENA_ARRAY(s->k->module->arena, int64_t, (size_t)via.count[LL_OFFSET] + 1);
    int64_t *vectors = ARENA_ARRAY(s->k->module->arena, int64_t, 2);
    for (int i = 0; i < via.count[LL_OFFSET]; i++) basis[i] = via.basis[LL_OFFSET][i];
    vectors[0] = best_vector(s, op->operands[0], &via), vectors[1] = best_vector(s, op->results[0], &via);
    op_set(s->k, op, (Attr){.id = AT_SWIZZLE, .list = {.at = basis, .count = via.count[LL_OFFSET]}});
    op_set(s->k, op, (Attr){.id = AT_VECTORS, .list = {.at = vectors, .count = 2}});
}

/* --- whole tiles --- */
/* The tile that the op stages in vectors; REF_NONE: there is none. */
static Ref staged(const Schedule *s, const Op *op) {
    if (!op_attr(op, AT_AT)) return REF_NONE;
    switch (op->code) {
    case OP_SLICE:
    case OP_FLIP:
    case OP_GATHER:
    case OP_RESHAPE: return op->operands[0];
    case OP_SCATTER: return scatter_tile(s->k, op) ? op->operands[0] : REF_NONE;
    case OP_INSERT: return schedule_layout(s->k, op_operand(op, 1)) ? op_operand(op, 1) : REF_NONE;
    default: return REF_NONE;
    }
}

static int best_staged(const Schedule *s, Ref value) {
    const Layout *layout = schedule_layout(s->k, value);
    const Type *type = ir_type(s->k, value);
    int64_t last = type->extent[type->rank - 1];
    int vector = ll_run(&layout->map, type->rank - 1, ty_elem_bytes(type), s->cx->machine->vector_bytes);
    while (vector > 1 && (last % vector || layout->registers % vector)) vector /= 2;
    return vector;
}

/* --- addresses in slots --- */
/* Does every bit of the places belong to one bit of lane, warp or register, and of their offsets to one of the
 * places? Slots begin where tiles do, so the swizzle does not see them, and what it makes of thread and register is
 * apart. */
static bool is_linear(const SharedTile *tile, const Type *type, const LinearLayout *map) {
    uint32_t seen = 0;
    if (type->rank != 2 || tile->columns_held & (tile->columns_held - 1) || tile->panel & (tile->panel - 1))
        return false;
    for (int in = 0; in < LL_INPUTS; in++)
        for (int i = 0; i < map->count[in]; i++) {
            uint32_t basis = map->basis[in][i];
            if (seen & basis || basis & (basis - 1)) return false;
            seen |= basis;
        }
    return true;
}

/* Do the vectors of a thread lie whole patterns of the swizzle apart? */
static bool repeats(const SharedTile *tile, const LinearLayout *map, int vector) {
    bool whole = map->rank == 2;
    for (int i = ll_log2(vector); whole && i < map->count[LL_REGISTER]; i++) {
        uint32_t basis = map->basis[LL_REGISTER][i];
        whole = ll_coord(map, basis, 0) % PATTERN_ROWS == 0 &&
                ll_coord(map, basis, 1) % (uint32_t)(tile->width / tile->elem_bytes) == 0;
    }
    return whole;
}

/* Of a get into registers, and of a put whose load is copied. */
static bool can_be_apart(const Schedule *s, const Op *op) {
    if (op->code != OP_GET && op->code != OP_PUT) return false;
    Ref value = op->code == OP_GET ? op->results[0] : op_operand(op, 1);
    const Layout *layout = schedule_layout(s->k, value);
    const SharedTile *tile = layout_field(s->k, hand_ring(s->k, op), hand_field(op));
    if (!layout || layout->home != HOME_REGISTERS) return false;
    if (op->code == OP_GET) return is_linear(tile, ir_type(s->k, value), &layout->map);
    return layout_put_mover(s->k, op) == MOVER_ASYNC &&
           repeats(tile, &layout->map, access_of(ir_value(s->k, value)->op).vector);
}

static void plan_slot(const Schedule *s, Op *op) {
    if (!can_be_apart(s, op)) return;
    const Op *ring = ir_value(s->k, hand_ring(s->k, op))->op;
    if (op->code == OP_GET) {
        bool moves = op_int(ring, AT_SLOTS, 1) > 1 || op_flag(ring, AT_EACH); /* from slot to slot */
        int loads = schedule_layout(s->k, op->results[0])->registers / (int)op_int(op, AT_VECTOR, 1);
        if (!moves || loads < s->cx->machine->cost.apart_loads) return;
    }
    op_set(s->k, op, (Attr){.id = AT_APART, .number = 1});
}

static void plan_op(Op *op, void *user) {
    Schedule *s = user;
    plan_slot(s, op);
    Ref tile = staged(s, op);
    if (goes_through(op)) plan_convert(s, op);
    if (tile && best_staged(s, tile) > 1) op_set(s->k, op, (Attr){.id = AT_VECTOR, .number = best_staged(s, tile)});
}

void schedule_move(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

/* --- what is written --- */
static bool fits(int64_t vector, int best) { return vector >= 1 && vector <= best && !(vector & (vector - 1)); }

static bool convert_holds(Schedule *s, const Op *op) {
    const Attr *swizzle = op_attr(op, AT_SWIZZLE), *vectors = op_attr(op, AT_VECTORS);
    if (!goes_through(op))
        return (!swizzle && !vectors) ||
               schedule_fail(s, op, "`swizzle` and `vectors` are of conversions through shared memory");
    const LinearLayout *from = &schedule_layout(s->k, op->operands[0])->map;
    if (!swizzle || swizzle->list.count != ll_index_bits(from) || !vectors || vectors->list.count != 2)
        return schedule_fail(s, op,
                             "`swizzle` has a number for each bit of the places of its tile, `vectors` two: to shared "
                             "memory, and back");
    LinearLayout via = convert_through(s->k, op);
    int to = best_vector(s, op->operands[0], &via), back = best_vector(s, op->results[0], &via);
    if (!to || !back) return schedule_fail(s, op, "by this `swizzle` some elements have no place of their own");
    return (fits(vectors->list.at[0], to) && fits(vectors->list.at[1], back)) ||
           schedule_fail(s, op,
                         "`vectors` are powers of two, of elements of a thread that lie side by side in shared "
                         "memory");
}

bool schedule_move_holds(Schedule *s, const Op *op) {
    if (op_flag(op, AT_APART) && !can_be_apart(s, op))
        return schedule_fail(s, op,
                             "`apart`: what the swizzle makes of the thread's part of an address and of the register's "
                             "must not meet");
    if (op->code == OP_CONVERT) return convert_holds(s, op);
    bool moves = op->code == OP_SLICE || op->code == OP_FLIP || op->code == OP_GATHER || op->code == OP_RESHAPE ||
                 op->code == OP_INSERT || op->code == OP_CAT || op->code == OP_SCATTER;
    if (!moves) return true;
    if (op_attr(op, AT_AT) && !scratch_bytes(s->k, op, layout_warps(s->cx, s->k), true))
        return schedule_fail(s, op, "every element stays with its thread: it needs no shared memory (`at`)");
    Ref tile = staged(s, op);
    return !op_attr(op, AT_VECTOR) || (tile && fits(op_int(op, AT_VECTOR, 1), best_staged(s, tile))) ||
           schedule_fail(
               s, op,
               "`vector` is of a tile that goes through shared memory, of elements of a thread that lie side by "
               "side");
}
