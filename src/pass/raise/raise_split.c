/* SPDX-License-Identifier: Apache-2.0 */
/* raise_split.c: element loops that are too large for one tile, or whose extents nobody knows, go in blocks.
 *
 *     parallel %i in %n { body }        for %b = 0, cdiv(%n, 256) { parallel %j in 256 {
 *                                ->         %i = %b * 256 + %j
 *                                           if %i < %n { body } } }
 *
 * Blocks run one after the other; raise_order.c has told before that this makes no difference. */
#include "pass/raise/raise_loop.h"

enum { MOST_ELEMENTS = 4096, MOST_ROW = 128, MOST_ALONE = 1024 };

/* How many iterations of each variable a block takes: all, or a power of two. */
static void choose_blocks(const Loop *loop, int64_t *block) {
    int64_t room = MOST_ELEMENTS;
    for (int d = loop->rank - 1; d >= 0; d--) {
        int64_t extent = 0, most = 1;
        bool known = ir_const_int(loop->k, loop->op->operands[d], &extent) && extent >= 1;
        int64_t cap = loop->rank == 1 ? MOST_ALONE : MOST_ROW;
        while (2 * most <= room && (known ? most < extent : most < cap)) most *= 2;
        block[d] = known && extent <= most ? extent : most;
        room = room / block[d] > 0 ? room / block[d] : 1;
    }
}

Op *raise_split(Loop *loop) {
    Op *op = loop->op;
    Region *body = op->regions[0];
    int64_t block[MAX_RANK], extent;
    Builder b = ir_builder_before(loop->k, op);
    Ref trip[MAX_RANK] = {0}, inside = REF_NONE;
    choose_blocks(loop, block);
    for (int d = 0; d < loop->rank; d++) {
        if (ir_const_int(loop->k, op->operands[d], &extent) && extent == block[d]) continue;
        const Value *variable = ir_value(loop->k, body->args[d]);
        Elem elem = variable->type->elem;
        Ref end = ir_cast(&b, op->operands[d], elem);
        Ref blocks = ir_binary(&b, OP_CDIV, end, ir_int(&b, elem, block[d]));
        Op *outer = ir_for(&b, ir_int(&b, elem, 0), blocks, ir_int(&b, elem, 1), NULL, 0, variable->name);
        trip[d] = outer->regions[0]->args[0];
        Builder within = ir_builder_inside(&b, outer->regions[0]);
        ir_yield(&within, NULL, 0);
        within.before = outer->regions[0]->last;
        b = within;
    }
    Op *inner = ir_begin(&b, OP_PARALLEL);
    Region *region = ir_region(&b, inner);
    for (int d = 0; d < loop->rank; d++) {
        const Value variable = *ir_value(loop->k, body->args[d]);
        ir_operand(&b, inner, ir_int(&b, EL_I32, block[d]));
        ir_argument(loop->k, region, variable.type, variable.name);
    }
    Builder in = ir_builder_inside(&b, region);
    for (int d = 0; d < loop->rank; d++) {
        Ref at = trip[d] && block[d] == 1 ? trip[d] : region->args[d];
        Elem elem = ir_type(loop->k, at)->elem;
        if (trip[d] && block[d] > 1)
            at = ir_binary(&in, OP_ADD, ir_binary(&in, OP_MUL, trip[d], ir_int(&in, elem, block[d])), at);
        bool whole = ir_const_int(loop->k, op->operands[d], &extent) && extent % block[d] == 0;
        if (trip[d] && block[d] > 1 && !whole) {
            Ref below = ir_compare(&in, CMP_LT, at, ir_cast(&in, op->operands[d], elem));
            inside = inside ? ir_binary(&in, OP_AND, inside, below) : below;
        }
        ir_replace_all(loop->k, body->args[d], at);
    }
    if (inside) {
        Op *test = ir_if(&in, inside, 0, NULL);
        while (body->first) ir_move(body->first, test->regions[0], NULL); /* its terminator too */
        Builder other = ir_builder_inside(&in, test->regions[1]);
        ir_yield(&other, NULL, 0);
        ir_yield(&in, NULL, 0);
    } else {
        while (body->first) ir_move(body->first, region, NULL);
    }
    ir_end(&b, inner, NULL);
    ir_remove(op);
    return inner;
}
