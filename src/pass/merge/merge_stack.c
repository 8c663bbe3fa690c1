/* SPDX-License-Identifier: Apache-2.0 */
/* merge_stack.c: ops of a worker on its tiles, as ops on the tiles of all workers, which stand above each other.
 *
 *     [64, 64] of each of two   ->   [128, 64]           row by row, the op is the same
 *     what all have alike       ->   twice, one above the other; a row for all rows stays one
 *     a number of each worker   ->   base + step (row div 64), a number a row */
#include "pass/merge/merge.h"

#include <string.h>

/* What every worker has alike, once for each of them. */
Ref merge_stack_same(Merge *m, Ref value) {
    const Type *type = ir_type(m->k, value);
    if (m->workers == 1) return value;
    int64_t extent[MAX_RANK] = {m->workers};
    memcpy(extent + 1, type->extent, (size_t)type->rank * sizeof *extent);
    Ref many = ir_expand(&m->b, value, 0);
    many = ir_broadcast(&m->b, many, ty_with_shape(m->k->module, type, type->rank + 1, extent));
    many = ir_reshape(&m->b, many, merge_stacked_type(m, type));
    merge_set_stacked(m, many);
    return many;
}

/* A number that grows from worker to worker, as one for each row of their tiles: [rows, 1, ..]. */
static bool stack_number(Merge *m, const Op *op, Ref old, const Type *tile, Ref *out) {
    int64_t step, height = tile->rank ? tile->extent[0] : 1;
    Ref base = refmap_get(&m->map, old);
    if (height == 1 || !merge_worker_step(m, old, &step))
        return merge_fail(m, op, "it depends on the worker's number" FIX "let that number only pick rows");
    Ref row = ir_iota(&m->b, 0, height * m->workers);
    Ref worker = ir_binary(&m->b, OP_DIV, row, ir_int(&m->b, EL_I32, height));
    Elem elem = ir_type(m->k, old)->elem;
    Ref part = ir_binary(&m->b, OP_MUL, ir_cast(&m->b, worker, elem), ir_int(&m->b, elem, step));
    *out = ir_binary(&m->b, OP_ADD, part, base);
    for (int d = 1; d < tile->rank; d++) *out = ir_expand(&m->b, *out, d);
    merge_set_stacked(m, *out);
    return true;
}

/* The number of each row, from 0 on, as [rows, 1]: an operand of masks. */
static bool is_row_numbers(const Merge *m, Ref old, int64_t *height) {
    const Op *expand = ref_is_value(old) ? ir_value(m->k, old)->op : NULL;
    if (!expand || expand->code != OP_EXPAND || op_int(expand, AT_AXIS, 0) != 1) return false;
    const Op *iota = ref_is_value(expand->operands[0]) ? ir_value(m->k, expand->operands[0])->op : NULL;
    if (!iota || iota->code != OP_IOTA || op_int(iota, AT_BEGIN, 0) != 0) return false;
    *height = op_int(iota, AT_END, 0);
    return true;
}

/* row + (base + worker * height) is the row of all workers' tile + base. */
static bool merge_row_numbers(Merge *m, const Op *op) {
    if (op->code != OP_ADD || m->workers == 1) return false;
    for (int i = 0; i < 2; i++) {
        int64_t height, step;
        Ref number = op->operands[1 - i];
        bool grows = ref_is_value(number) && m->by_worker[number] && ir_type(m->k, number)->rank == 0;
        bool fits = grows && is_row_numbers(m, op->operands[i], &height) && merge_worker_step(m, number, &step);
        if (!fits || step != height) continue;
        Ref rows = ir_expand(&m->b, ir_iota(&m->b, 0, height * m->workers), 1);
        merge_bind(m, op->results[0], ir_binary(&m->b, OP_ADD, rows, refmap_get(&m->map, number)), true);
        return true;
    }
    return false;
}

/* Does the op treat each row, the first extent, by itself? */
static bool is_row_wise(const Op *op) {
    bool along = op->code == OP_REDUCE || op->code == OP_EXPAND || op->code == OP_SCAN;
    if (along) return op_int(op, AT_AXIS, 0) != 0;
    return op_has(op->code, TRAIT_ELEMENTWISE) || op->code == OP_DOT || op->code == OP_BROADCAST;
}

/* The op on the tiles of all workers, if one of its operands is of all of them or differs between them. */
bool merge_plain(Merge *m, const Op *op) {
    if (merge_row_numbers(m, op)) return true;
    Ref *made = ARENA_ARRAY(m->arena, Ref, op->operand_count);
    bool any = false;
    for (int i = 0; i < op->operand_count; i++) {
        Ref old = op->operands[i];
        if (old && !merge_value_of(m, op, old, &made[i])) return false;
        bool number = old && ir_type(m->k, old)->rank == 0 && ref_is_value(old) && m->by_worker[old];
        any = any || number || merge_is_stacked(m, made[i]);
    }
    const Type *type = op->result_count ? ir_type(m->k, op->results[0]) : NULL;
    if (any && m->workers > 1) {
        if (!is_row_wise(op))
            return merge_fail(m, op, "it does not work row by row" FIX "let each row be computed from itself alone");
        for (int i = 0; i < op->operand_count; i++) {
            Ref old = op->operands[i];
            const Type *own = old ? ir_type(m->k, old) : NULL;
            bool right = op->code == OP_DOT && i == 1;
            if (right && merge_is_stacked(m, made[i]))
                return merge_fail(m, op, "B must be the same for all workers" FIX "let only A differ by worker");
            if (!own || right || merge_is_stacked(m, made[i])) continue;
            bool spreads = own->rank && own->extent[0] == 1 && type->extent[0] != 1; /* one row for all rows */
            if (own->rank && !spreads)
                made[i] = merge_stack_same(m, made[i]);
            else if (!own->rank && ref_is_value(old) && m->by_worker[old] && !stack_number(m, op, old, type, &made[i]))
                return false;
        }
    }
    Op *copy = ir_begin(&m->b, op->code);
    for (int i = 0; i < op->operand_count; i++) ir_operand(&m->b, copy, made[i]);
    copy->attrs = arena_copy(m->k->module->arena, op->attrs, (size_t)op->attr_count * sizeof(Attr));
    copy->attr_count = op->attr_count;
    bool given = op_info[op->code].result == RES_GIVEN;
    ir_end(&m->b, copy, given ? (any ? merge_stacked_type(m, type) : type) : NULL);
    for (int i = 0; i < op->result_count; i++) merge_bind(m, op->results[i], copy->results[i], any);
    return true;
}

bool merge_splat(Merge *m, const Op *op) {
    Ref number, old = op->operands[0];
    const Type *type = ir_type(m->k, op->results[0]);
    if (!merge_value_of(m, op, old, &number)) return false;
    if (ref_is_value(old) && m->by_worker[old] && m->workers > 1) {
        if (!stack_number(m, op, old, type, &number)) return false;
        merge_bind(m, op->results[0], ir_broadcast(&m->b, number, merge_stacked_type(m, type)), true);
        return true;
    }
    merge_bind(m, op->results[0], ir_splat(&m->b, number, merge_stacked_type(m, type)), true);
    return true;
}
