/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_axis.c: how the threads of a reduction take what other lanes have, and what other warps have put into the
 * scratch.
 *
 *     reduce<add, axis=0, own=tree>                      a thread has few values, which are all combined first:
 *                                                        they are written out, in no array
 *     reduce<add, axis=0, among=tree>                    a thread has one number of f32: one function of the prelude
 *                                                        combines all lanes, in the order of the sum
 *     reduce<max, axis=0, among=whole>                   whole numbers of at most 32 bits, and the best index: by one
 *                                                        that has no order
 *
 *     reduce<add, axis=0, across=tree, at=0, bytes=64>   a thread has one number of f32, there are at most 8 warps: one
 *                                                        function of the prelude reads and combines them
 *     reduce<max, axis=0, across=lanes, ..>              16 warps and more: each lane takes one, lanes are combined;
 *                                                        16 more registers would cost a block its place
 *     reduce<add, axis=0, across=turn, ..>               as many warps as lanes, whose values differ: a warp combines
 *                                                        what one lane of each has, for this lane of all
 *     reduce<max, axis=1, vector=4, ..>                  else: all, in vectors where they lie side by side
 *
 * The order of the sum is that of `order`, whichever way. */
#include "pass/schedule/schedule.h"
#include "pass/schedule/scratch.h"

enum { TREE_BITS = 3 }; /* what the prelude's function takes */

/* What is possible in all rounds in which warps meet; most reductions have one. */
typedef struct Ways {
    int rounds;
    bool tree, lanes, turn;
    int vector;
} Ways;

/* Does the prelude have a function for it, where one number a thread is left? */
static bool is_plain(const Type *type, const Op *op) {
    Word kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    if (type->pointer || !elem_is_float(type->elem) || type->elem == EL_F64) return false;
    if (kind == COMBINE_ADD) return true;
    return (kind == COMBINE_MAX || kind == COMBINE_MIN) && op_word(op, AT_NAN, NAN_DROP) != NAN_KEEP;
}

enum { FEW_REGISTERS = 32 }; /* of a thread: a text of more is longer than what it saves */

/* May the values of a thread be combined in one expression? All of them first, none of them in the padding. */
static bool can_be_written_out(const Schedule *s, const Op *op) {
    const Type *type = ir_type(s->k, op->operands[0]);
    const Layout *layout = schedule_layout(s->k, op->operands[0]);
    const LinearLayout *map = &layout->map;
    int axis = (int)op_int(op, AT_AXIS, 0), order[LL_MAX_BITS], count = axis_order(op, map, axis, order);
    int bits = map->count[LL_REGISTER];
    if (op->region_count || reduce_is_index(op) || kernel_int(s->k, AT_LEAN, 0) || 1 << bits > FEW_REGISTERS ||
        layout->registers != 1 << bits || count < bits || type->extent[axis] != (int64_t)1 << map->log2[axis])
        return false;
    for (int i = 0; i < bits; i++) {
        LayoutInput input;
        int bit;
        if (!axis_find_bit(map, axis, order[i], &input, &bit) || input != LL_REGISTER) return false;
    }
    return true;
}

/* Whole numbers, and indices of the best, which travel as such. */
static bool is_whole(const Type *type, const Op *op) {
    if (elem_info[type->elem].bits > 32) return false;
    return reduce_is_index(op) || (!elem_is_float(type->elem) && op_word(op, AT_COMBINE, COMBINE_ADD) != COMBINE_MUL);
}

/* Are all lanes combined one after the other, by one function? */
static Word best_among(const Schedule *s, const Op *op) {
    const Type *type = ir_type(s->k, op->operands[0]);
    const LinearLayout *map = &schedule_layout(s->k, op->operands[0])->map;
    int axis = (int)op_int(op, AT_AXIS, 0), order[LL_MAX_BITS], count = axis_order(op, map, axis, order);
    int all = ll_log2(s->cx->machine->lanes), lanes = 0;
    uint32_t done = 0;
    bool up = true, down = true;
    for (int i = 0; i < count && lanes < all; i++) {
        LayoutInput input = LL_REGISTER;
        int bit = 0;
        bool found = axis_find_bit(map, axis, order[i], &input, &bit), lane = found && input == LL_LANE;
        if (lanes && !lane) return WORD_NONE;
        if (lane) up &= bit == lanes, down &= bit == all - 1 - lanes, lanes++;
        if (found && input == LL_REGISTER) done |= 1u << bit;
    }
    bool one = done == (1u << map->count[LL_REGISTER]) - 1;
    if (lanes < all) return WORD_NONE;
    if (one && (up || down) && is_plain(type, op)) return AMONG_TREE;
    return is_whole(type, op) ? AMONG_WHOLE : WORD_NONE;
}

/* Values of `bytes` that lie side by side, one a warp that differs in the bits `warps`. */
static int side_by_side(const Machine *machine, uint32_t warps, int count, int bytes) {
    int vector = 1;
    while (2 * vector * bytes <= machine->vector_bytes && 2 * vector <= count && (warps & (uint32_t)vector))
        vector *= 2;
    return vector;
}

/* One round: `warps` are the bits of the warp that are combined, `done` and `lanes` those of registers and lanes that
 * were before. */
static void add_round(Ways *w, const Schedule *s, const Op *op, uint32_t warps, uint32_t done, uint32_t lanes) {
    const Type *type = ir_type(s->k, op->operands[0]);
    const LinearLayout *map = &schedule_layout(s->k, op->operands[0])->map;
    int bits = __builtin_popcount(warps), count = 1 << bits, bytes = reduce_slot_bytes(s->k, op);
    bool one = done == (1u << map->count[LL_REGISTER]) - 1, agree = reduce_lanes_agree(map, lanes);
    int vector = agree ? side_by_side(s->cx->machine, warps, count, bytes) : 1;
    w->rounds++;
    w->tree &= one && bits <= TREE_BITS && is_plain(type, op);
    w->lanes &=
        !reduce_is_index(op) && count >= s->cx->machine->cost.lane_warps && agree && warps == (uint32_t)count - 1;
    w->turn &= !reduce_is_index(op) && one && !agree && map->count[LL_WARP] == bits && map->count[LL_LANE] == bits &&
               count >= s->cx->machine->cost.lane_warps;
    if (vector < w->vector) w->vector = vector;
}

static Ways ways_of(const Schedule *s, const Op *op) {
    Ways w = {.tree = true, .lanes = true, .turn = true, .vector = s->cx->machine->vector_bytes};
    const LinearLayout *map = &schedule_layout(s->k, op->operands[0])->map;
    int axis = (int)op_int(op, AT_AXIS, 0), order[LL_MAX_BITS], count = axis_order(op, map, axis, order);
    uint32_t at[LL_INPUTS] = {0}, warps = 0;
    for (int i = 0; i <= count; i++) {
        LayoutInput input = LL_REGISTER;
        int bit = 0;
        bool found = i < count && axis_find_bit(map, axis, order[i], &input, &bit);
        if (found && input == LL_WARP) {
            warps |= 1u << bit;
            continue;
        }
        if (warps) add_round(&w, s, op, warps, at[LL_REGISTER], at[LL_LANE]);
        warps = 0;
        if (found) at[input] |= 1u << bit;
    }
    return w;
}

static bool meets_warps(const Op *op) { return op->code == OP_REDUCE && !op->region_count && op_attr(op, AT_AT); }

static void plan_op(Op *op, void *user) {
    Schedule *s = user;
    bool reduces = op->code == OP_REDUCE && !op->region_count;
    Word among = reduces ? best_among(s, op) : WORD_NONE;
    if (reduces && can_be_written_out(s, op)) op_set(s->k, op, (Attr){.id = AT_OWN, .word = OWN_TREE});
    if (among) op_set(s->k, op, (Attr){.id = AT_AMONG, .word = among});
    if (!meets_warps(op)) return;
    Ways w = ways_of(s, op);
    Word across = w.tree ? ACROSS_TREE : w.lanes ? ACROSS_LANES : w.turn ? ACROSS_TURN : WORD_NONE;
    if (across) op_set(s->k, op, (Attr){.id = AT_ACROSS, .word = across});
    if (!across && w.vector > 1) op_set(s->k, op, (Attr){.id = AT_VECTOR, .number = w.vector});
}

void schedule_axis(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

bool schedule_axis_holds(Schedule *s, const Op *op) {
    if (op->code != OP_REDUCE) return true;
    Word across = op_word(op, AT_ACROSS, ACROSS_EACH), among = op_word(op, AT_AMONG, AMONG_EACH);
    if (op_word(op, AT_OWN, OWN_LOOP) == OWN_TREE && !can_be_written_out(s, op))
        return schedule_fail(s, op,
                             "`own=tree` is of at most 32 values of a thread that are combined before all others");
    if (among != AMONG_EACH && (op->region_count || among != best_among(s, op)))
        return schedule_fail(s, op,
                             "`among` is of reductions that combine all lanes one after the other: in their order one "
                             "number of f32 (tree), in any whole numbers of at most 32 bits (whole)");
    int64_t vector = op_int(op, AT_VECTOR, 1);
    if (!meets_warps(op))
        return (!op_attr(op, AT_ACROSS) && !op_attr(op, AT_VECTOR)) ||
               schedule_fail(s, op, "`across` and `vector` are of reductions in which warps meet");
    Ways w = ways_of(s, op);
    if ((across == ACROSS_TREE && !w.tree) || (across == ACROSS_LANES && !w.lanes) ||
        (across == ACROSS_TURN && !w.turn))
        return schedule_fail(s, op,
                             "`across`: a function takes one number of f32 from at most 8 warps, lanes take theirs "
                             "from 16 and more, warps take turns where they are as many as lanes");
    return (vector <= w.vector && !(vector & (vector - 1)) && (vector == 1 || across == ACROSS_EACH)) ||
           schedule_fail(s, op, "`vector` is of values that lie side by side in the scratch, where a thread takes all");
}
