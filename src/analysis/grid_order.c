/* SPDX-License-Identifier: Apache-2.0 */
/* grid_order.c: the grid decodings that are worth knowing.
 *
 * A kernel with a grid of one dimension computes from its program id where its tile lies. When the
 * code is one of the orders below, the ring form can name the order instead, and the plan may
 * change it or share loads along it:
 *
 *     row        m = pid / columns, n = pid % columns
 *     grouped(G) width = G * columns, first = pid / width * G, size = min(rows - first, G)
 *                m = first + pid % width % size,  n = pid % width / size         (or pid % size for
 * m)
 *
 * Each is a bijection between 0 .. rows*columns-1 and the places, which is why the rewriting needs
 * the launch to have exactly that many programs. Divisions are those of any language: div and
 * floordiv, rem and mod alike. */
#include "analysis/grid_order.h"
#include "analysis/facts.h"

static const Op *op_of(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }

static const Op *is_op(const Kernel *k, Ref r, Opcode a, Opcode b) {
    const Op *op = op_of(k, r);
    return op && (op->code == a || op->code == b) ? op : NULL;
}
static const Op *is_div(const Kernel *k, Ref r) { return is_op(k, r, OP_DIV, OP_FLOORDIV); }
static const Op *is_rem(const Kernel *k, Ref r) { return is_op(k, r, OP_REM, OP_MOD); }

static bool is_id(const Kernel *k, Ref r) {
    const Op *op = op_of(k, r);
    return op && op->code == OP_PROGRAM_ID && op_int(op, AT_DIM, 0) == 0;
}

/* `x * number` (the literal stands on the right after fold), or anything times 1. */
static void unscale(const Kernel *k, Ref r, Ref *x, int64_t *number) {
    const Op *op = is_op(k, r, OP_MUL, OP_MUL);
    bool scaled = op && ir_const_int(k, op->operands[1], number);
    *x = scaled ? op->operands[0] : r;
    if (!scaled) *number = 1;
}

static bool match_grouped(const Kernel *k, const Op *m, const Op *n, GridOrder *out) {
    if (!m || m->code != OP_ADD || !n) return false;
    const Op *within = is_rem(k, n->operands[0]);
    if (!within || !is_id(k, within->operands[0])) return false;
    Ref width = within->operands[1], size = n->operands[1], columns, group_index;
    int64_t group, again;
    unscale(k, width, &columns, &group);
    if (group < attr_info[AT_GROUP].least || group > attr_info[AT_GROUP].most) return false;
    for (int i = 0; i < 2; i++) {
        Ref first = m->operands[i];
        const Op *rest = is_rem(k, m->operands[1 - i]);
        unscale(k, first, &group_index, &again);
        if (!rest || rest->operands[1] != size || again != group) continue;
        if (rest->operands[0] != n->operands[0] && !is_id(k, rest->operands[0])) continue;
        const Op *index = is_div(k, group_index);
        if (!index || !is_id(k, index->operands[0]) || index->operands[1] != width) continue;
        const Op *least = is_op(k, size, OP_MIN, OP_MIN);
        const Op *left = least ? is_op(k, least->operands[0], OP_SUB, OP_SUB) : NULL;
        int64_t limit;
        if (!left || left->operands[1] != first || !ir_const_int(k, least->operands[1], &limit) || limit != group)
            continue;
        *out = (GridOrder){
            group == 1 ? ORDER_ROW : ORDER_GROUPED, group, m->results[0], n->results[0], left->operands[0], columns};
        return true;
    }
    return false;
}

/* Place 0 is the quotient, the slow one, whatever the kernel calls it. */
static bool match_row(const Kernel *k, const Op *quotient, const Op *rest, GridOrder *out) {
    if (!rest || !is_id(k, quotient->operands[0]) || !is_id(k, rest->operands[0])) return false;
    if (quotient->operands[1] != rest->operands[1]) return false;
    *out = (GridOrder){ORDER_ROW, 0, quotient->results[0], rest->results[0], REF_NONE, quotient->operands[1]};
    return true;
}

static void look_for_ids(Op *op, void *user) {
    if (op->code == OP_PROGRAM_ID && op_int(op, AT_DIM, 0) != 0) *(bool *)user = true;
}

/* The launch is asked for rows * columns programs: neither may be read from memory. */
static bool known_at_launch(const Kernel *k, const GridOrder *found) {
    return found->order == ORDER_CODE ||
           ((!found->rows || fact_at_launch(k, found->rows)) && fact_at_launch(k, found->columns));
}

GridOrder grid_order_find(const Kernel *k) {
    const GridOrder none = {.order = ORDER_CODE};
    GridOrder found = none, row = none;
    bool other_ids = false;
    ir_walk(k->body, look_for_ids, &other_ids);
    if (other_ids) return none;
    for (const Op *n = k->body->first; n; n = n->next) {
        if (n->code != OP_DIV && n->code != OP_FLOORDIV) continue;
        for (const Op *m = k->body->first; m; m = m->next) {
            if (m->result_count != 1) continue;
            if (match_grouped(k, m, n, &found)) return known_at_launch(k, &found) ? found : none;
            if (row.order == ORDER_CODE) match_row(k, n, is_rem(k, m->results[0]), &row);
        }
    }
    return known_at_launch(k, &row)
               ? row
               : none; /* pid / width and pid % width of an unknown grouping match too; they are places as
                   good as any */
}

void grid_order_build(Builder *b, Word order, int64_t group, Ref id, Ref rows, Ref columns, Ref *m, Ref *n) {
    if (order != ORDER_GROUPED) {
        *m = ir_binary(b, OP_DIV, id, columns);
        *n = ir_binary(b, OP_REM, id, columns);
        return;
    }
    Elem elem = ir_type(b->kernel, id)->elem;
    Ref height = ir_int(b, elem, group);
    Ref width = ir_binary(b, OP_MUL, columns, height);
    Ref first = ir_binary(b, OP_MUL, ir_binary(b, OP_DIV, id, width), height);
    Ref size = ir_binary(b, OP_MIN, ir_binary(b, OP_SUB, rows, first), height);
    Ref within = ir_binary(b, OP_REM, id, width);
    *m = ir_binary(b, OP_ADD, first, ir_binary(b, OP_REM, within, size));
    *n = ir_binary(b, OP_DIV, within, size);
}

static bool is_required(const Kernel *k, Ref rows, Ref columns) {
    for (const Op *op = k->body->first; op; op = op->next) {
        if (op->code != OP_REQUIRE || op_int(op, AT_EQ, -1) != 0) continue;
        const Op *extra = is_op(k, op->operands[0], OP_SUB, OP_SUB);
        const Op *places = extra ? is_op(k, extra->operands[1], OP_MUL, OP_MUL) : NULL;
        const Op *count = extra ? is_op(k, extra->operands[0], OP_NUM_PROGRAMS, OP_NUM_PROGRAMS) : NULL;
        if (!places || !count || places->operands[1] != columns) continue;
        if (!rows || places->operands[0] == rows) return true;
    }
    return false;
}

void grid_order_require(Builder *b, const GridOrder *grid) {
    Kernel *k = b->kernel;
    if (is_required(k, grid->rows, grid->columns)) return;
    Op *programs = ir_begin(b, OP_NUM_PROGRAMS);
    op_set(k, programs, (Attr){.id = AT_DIM, .number = 0});
    Ref count = ir_end(b, programs, NULL);
    Ref rows = grid->rows ? grid->rows : ir_binary(b, OP_DIV, count, grid->columns);
    Op *op = ir_begin(b, OP_REQUIRE);
    ir_operand(b, op, ir_binary(b, OP_SUB, count, ir_binary(b, OP_MUL, rows, grid->columns)));
    op_set(k, op, (Attr){.id = AT_EQ, .number = 0});
    ir_end(b, op, NULL);
}
