/* SPDX-License-Identifier: Apache-2.0 */
/* join_rows.c: what is made of the index of tasks that became one: loops that have more trips for later ones, and
 * numbers of rows (join.c). */
#include "pass/join_state.h"

/* --- loops that have more trips for later tasks --- */

typedef struct Ends { /* of a group of tasks, made of what one task's is made of */
    Join *x;
    Builder b;
    Ref first;   /* the index of the group's first task */
    RefMap made;
} Ends;

static Ref end_like(Ends *e, Ref ref) {
    if (!ref_is_value(ref) || !(ref == e->first || join_follows(e->x, ref))) return ref;
    Ref known = refmap_get(&e->made, ref);
    if (known != ref) return known;
    const Op *op = ir_value(e->x->k, ref)->op;
    Ref operands[3];
    for (int i = 0; i < op->operand_count && i < 3; i++) operands[i] = end_like(e, op->operands[i]);
    const Type *from = op->code == OP_CAST ? join_type(e->x, operands[0]) : NULL;
    Ref made = from ? ir_cast(&e->b, operands[0], join_type(e->x, ref)->elem) : ir_like(&e->b, op, operands, NULL);
    refmap_set(&e->made, ref, made);
    return made;
}

/* Of each of so many rows: has its task more trips? `end`: of the one task, as it stands. */
static Ref rows_on(Join *x, Op *loop, Ref end, Ref first, int64_t rows) {
    Ends e = {.x = x, .first = first, .made = {.arena = x->cx->scratch}};
    e.b = ir_builder_before(x->k, loop->regions[0]->last);
    Elem elem = join_type(x, first)->elem;
    Ref row = ir_cast(&e.b, ir_iota(&e.b, 0, rows), elem);
    Ref task = ir_binary(&e.b, OP_DIV, row, ir_int(&e.b, elem, rows / x->at->factor));
    refmap_set(&e.made, first, ir_binary(&e.b, OP_ADD, first, task));
    return ir_compare(&e.b, CMP_LT, loop->regions[0]->args[0], end_like(&e, end));
}

/* Rows whose own task has no more trips keep what they carry. */
static void keep_rows(Join *x, Op *loop, Ref end, Ref first) {
    const Region *body = loop->regions[0];
    Op *yield = body->last;
    Ref on = REF_NONE;
    int64_t rows = 0;
    for (int i = 0; i < loop->result_count; i++) {
        Ref old = body->args[i + 1];
        const Type *type = join_type(x, old);
        int axis = x->at->axis[loop->results[i]] - 1;
        if (type->extent[axis] != rows) on = rows_on(x, loop, end, first, rows = type->extent[axis]);
        Builder b = ir_builder_before(x->k, yield);
        Ref mask = type->rank == 2 ? ir_expand(&b, on, 1 - axis) : on;
        yield->operands[i] = ir_ternary(&b, OP_SELECT, mask, yield->operands[i], old);
    }
}

void join_even_loops(Join *x, Ref first, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) join_even_loops(x, first, op->regions[i]);
        bool by_itself = op->code == OP_FOR && op->operands[1] == first; /* as many trips as the task's number */
        if (!by_itself && !join_is_uneven(x, op)) continue;
        Ref end = op->operands[1];
        Ends last = {.x = x, .b = ir_builder_before(x->k, op), .first = first, .made = {.arena = x->cx->scratch}};
        Elem elem = join_type(x, first)->elem;
        if (op->result_count) keep_rows(x, op, end, first);
        refmap_set(&last.made, first, ir_binary(&last.b, OP_ADD, first, ir_int(&last.b, elem, x->at->factor - 1)));
        op->operands[1] = end_like(&last, end);
    }
}

/* What is counted along an axis is counted further. */
void join_count_further(Join *x, const Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) join_count_further(x, op->regions[i]);
        int counted = join_counted(x, op);
        if (counted < 0) continue;
        const Op *iota = ir_value(x->k, op->operands[counted])->op;
        int64_t begin = op_int(iota, AT_BEGIN, 0), end = op_int(iota, AT_END, 0);
        Builder b = ir_builder_before(x->k, op);
        op->operands[counted] = ir_iota(&b, begin, begin + (end - begin) * x->at->factor);
    }
}
