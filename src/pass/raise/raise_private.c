/* SPDX-License-Identifier: Apache-2.0 */
/* raise_private.c: cells that each iteration of an element loop uses as variables of its own.
 *
 *     parallel %i in 32 {                               parallel %i in 32 {
 *       v[0] = a[i] * 2                                   w[i] = a[i] * 2
 *       if c[i] { v[0] = v[0] + 1 }             ->        if c[i] { w[i] = w[i] + 1 }
 *       o[i] = v[0] }                                     o[i] = w[i] }
 *                                                       v[0] = w[31]
 *
 * If every iteration writes the cell before anything else that it does with it, no iteration sees what another wrote:
 * each gets a cell of its own, and behind the loop the cell has what the last one left, if the buffer is there. */
#include "pass/raise/raise_loop.h"

enum { MOST_CELLS = 16 };

typedef struct Cell {
    const Op *store; /* the first write, which every iteration does */
    Ref made;        /* the buffer with a cell for each iteration */
} Cell;

/* All indices are numbers. */
static bool is_fixed(const Loop *loop, const Op *op) {
    RefList at = op_list(op, 0);
    int64_t number;
    for (int d = 0; d < at.count; d++)
        if (!ir_const_int(loop->k, at.at[d], &number)) return false;
    return true;
}

static bool is_same_cell(const Loop *loop, const Op *a, const Op *b) {
    RefList x = op_list(a, 0), y = op_list(b, 0);
    for (int d = 0; d < x.count; d++) {
        int64_t m, n;
        if (!ir_const_int(loop->k, x.at[d], &m) || !ir_const_int(loop->k, y.at[d], &n) || m != n) return false;
    }
    return true;
}

/* The cells of the buffer in the body, each written first; -1: it is no such buffer. */
static int find_cells(Loop *loop, Ref buffer, Cell *cells) {
    int count = 0;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *op = loop->accesses.at[i];
        if (op->operands[0] != buffer) continue;
        if (!is_fixed(loop, op) || ir_type(loop->k, op->code == OP_BLOAD ? op->results[0] : op_operand(op, 1))->rank)
            return -1;
        bool known = false;
        for (int n = 0; n < count; n++) known |= is_same_cell(loop, op, cells[n].store);
        if (known) continue;
        if (op->code != OP_BSTORE || op->parent != loop->op->regions[0] || count == MOST_CELLS) return -1;
        cells[count++] = (Cell){.store = op};
    }
    return count;
}

bool raise_privatise(Loop *loop, Ref buffer) {
    const Type *type = ir_type(loop->k, buffer);
    Cell cells[MOST_CELLS];
    int64_t elements = 1;
    if (type->kind != TY_BUFFER) return false;
    for (int d = 0; d < loop->rank; d++)
        if ((elements *= loop->extent[d]) > MAX_TILE_ELEMENTS) return false;
    int count = find_cells(loop, buffer, cells);
    if (count < 1) return false;
    const Type *own = ty_buffer(loop->k->module, type->elem, loop->rank, loop->extent, type->scope);
    Builder b = ir_builder_before(loop->k, loop->op), behind = ir_builder_behind(loop->k, loop->op);
    bool lives_on = !raise_body_op(loop, buffer);
    for (int n = 0; n < count; n++) {
        cells[n].made = ir_buffer(&b, own, ir_value(loop->k, buffer)->name);
        Ref last[MAX_RANK];
        if (!lives_on) continue;
        for (int d = 0; d < loop->rank; d++) last[d] = ir_int(&behind, EL_I32, loop->extent[d] - 1);
        Ref left = ir_bload(&behind, cells[n].made, last, ty_scalar(loop->k->module, type->elem));
        ir_bstore(&behind, buffer, op_list(cells[n].store, 0).at, left);
    }
    for (size_t i = 0; i < loop->accesses.count; i++) {
        Op *op = loop->accesses.at[i];
        if (op->operands[0] != buffer) continue;
        int n = 0;
        while (!is_same_cell(loop, op, cells[n].store)) n++;
        Builder in = ir_builder_before(loop->k, op);
        if (op->code == OP_BSTORE) {
            Op *store = ir_bstore(&in, cells[n].made, loop->variable, op_operand(op, 1));
            loop->accesses.at[i] = store;
        } else {
            Ref value = ir_bload(&in, cells[n].made, loop->variable, ir_type(loop->k, op->results[0]));
            ir_replace_all(loop->k, op->results[0], value);
            loop->accesses.at[i] = ir_value(loop->k, value)->op;
        }
        ir_remove(op);
    }
    loop->before = loop->op->previous;
    loop->uses = (Map){0};
    loop->axes = (Map){0};
    raise_find_axes(loop);
    affine_forget(loop->affine);
    return true;
}
