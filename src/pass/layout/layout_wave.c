/* SPDX-License-Identifier: Apache-2.0 */
/* layout_wave.c: copies of a warp that go to shared memory side by side.
 *
 * On some machines an asynchronous copy of a warp says one place in shared memory: that of its first lane's word,
 * behind which those of the others lie. So who copies what follows from where it lies. The layout of such a load says
 * which place each thread copies: a word, lanes, warps and registers one behind the other through each panel of the
 * tile,
 *
 *     128x32 bf16, rows of 64 bytes, 4 warps: register (0,1), lane (0,2) .. (0,16) (1,0) (2,0), warp (4,0) (8,0),
 *                                             register (16,0) ..
 *
 * and the swizzle, which changes chunks of a row, says which element belongs there (simt_copy.c). Nobody else sees
 * the load's result, so its layout means no more than this. */
#include "ir/ringform.h"
#include "pass/layout/layout_state.h"

/* False: the tile does not consist of whole shares of all warps, or has room or zeros beside it. */
static bool wave_map(const Machine *machine, const SharedTile *tile, const Type *type, int warps, LinearLayout *map) {
    int word = machine->wave_copy_bytes;
    int64_t rows = type->extent[0], columns = type->extent[1];
    if (type->rank != 2 || !lay_powers(type) || tile->elem_bytes > word || tile->width <= word || warps & (warps - 1))
        return false;
    if (tile->rows != rows || tile->columns != columns || tile->rows_held != rows || tile->columns_held != columns ||
        tile->zero_rows != rows || tile->zero_columns != columns || tile->panel != rows * tile->width)
        return false;
    int64_t per = tile->width / tile->elem_bytes, threads = (int64_t)machine->lanes * warps;
    if (columns % per || rows * columns * tile->elem_bytes < threads * word) return false;
    *map = ll_empty(2, type->extent);
    int in_word = ll_log2(word / tile->elem_bytes), in_row = ll_log2(per), across = ll_log2(columns);
    int lanes = ll_log2(machine->lanes), taken = 0;
    for (int b = 0; b < across + ll_log2(rows); b++) {
        int down = b - in_row, beside = b - ll_log2(rows);
        uint32_t basis = b < in_row ? 1u << b : down < ll_log2(rows) ? 1u << (across + down) : 1u << beside;
        LayoutInput input = LL_REGISTER;
        if (b >= in_word && taken < ll_log2(threads)) input = taken < lanes ? LL_LANE : LL_WARP;
        taken += b >= in_word;
        ll_push(map, input, basis);
    }
    return true;
}

/* The put of a load that nobody else uses. */
static const Op *put_of(const Kernel *k, const int *uses, const Op *load) {
    const Op *put = load->next;
    if (uses[load->results[0]] != 1 || !lay_is_tile(k, load->results[0])) return NULL;
    while (put && !(put->code == OP_PUT && op_operand(put, 1) == load->results[0])) put = put->next;
    return put && !put->list_count[0] ? put : NULL;
}

bool wave_fits(LayoutState *st, const int *uses, const Op *load, Access a) {
    const Machine *machine = st->cx->machine;
    const Op *put = put_of(st->k, uses, load);
    const Type *type = ir_type(st->k, load->results[0]);
    LinearLayout map;
    for (int i = 1; i < load->operand_count; i++)
        if (lay_is_tile(st->k, load->operands[i])) return false; /* in a layout of its own */
    SharedTile tile;
    if (!put || !a.whole || a.tests || a.vector * elem_info[type->elem].bytes != machine->wave_copy_bytes) return false;
    tile = tma_field(st, put);
    return wave_map(machine, &tile, type, layout_group_of(st->cx, st->k, load).warps, &map) &&
           ll_equal(&map, &ir_value(st->k, load->results[0])->layout->map);
}

typedef struct Waves {
    LayoutState *st;
    const int *uses;
} Waves;

static void decide(Op *load, void *user) {
    Waves *waves = user;
    LayoutState *st = waves->st;
    const Op *put = load->code == OP_TLOAD ? put_of(st->k, waves->uses, load) : NULL;
    if (!put) return;
    const Type *type = ir_type(st->k, load->results[0]);
    const Layout *before = ir_value(st->k, load->results[0])->layout;
    const SharedTile *tile = layout_field(st->k, hand_ring(st->k, put), hand_field(put));
    LinearLayout map;
    if (before->home != HOME_REGISTERS ||
        !wave_map(st->cx->machine, tile, type, layout_group_of(st->cx, st->k, load).warps, &map))
        return;
    lay_set(st, load->results[0], lay_in_registers(st, map, type));
    if (!access_may_copy(st, waves->uses, load, access_best(st, load))) lay_set(st, load->results[0], before);
}

void wave_decide(LayoutState *st) {
    Waves waves = {st, ir_count_uses(st->k, st->cx->scratch)};
    if (st->cx->machine->wave_copy_bytes) ir_walk(st->k->body, decide, &waves);
}
