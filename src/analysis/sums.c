/* SPDX-License-Identifier: Apache-2.0 */
/* sums.c: see sums.h. */
#include "analysis/sums.h"

#include "ir/build.h"
#include "ir/tile_layout.h"

/* The body of the loop, or of whatever else is no branch, in which the op stands. */
static const Region *body_around(const Op *op) {
    const Region *region = op->parent;
    while (region->owner && region->owner->code == OP_IF) region = region->owner->parent;
    return region;
}

bool sum_is_carried(const Kernel *k, const Op *dot, SumKind kind) {
    const Region *body = body_around(dot);
    Ref sum = dot->operands[2];
    const Type *type = ir_type(k, sum);
    while (ref_is_value(sum) && ir_type(k, sum) == type) {
        const Op *op = ir_value(k, sum)->op;
        if (!op) return ir_value(k, sum)->region == body;
        if (kind == SUM_AS_IT_IS || body_around(op) != body || !op_has(op->code, TRAIT_ELEMENTWISE)) return false;
        sum = op->operands[0];
    }
    return false;
}

int64_t sum_words(const Kernel *k, const Region *region, SumKind kind) {
    int64_t words = 0;
    for (int i = 0; i < region->arg_count; i++) words += layout_words(k, region->args[i]);
    for (const Op *op = region->first; op; op = op->next)
        if (op->code == OP_DOT && !sum_is_carried(k, op, kind)) words += layout_words(k, op->results[0]);
    return words;
}

typedef struct Row {
    const Kernel *k;
    int64_t (*size)(const Kernel *k, Ref sum);
    int64_t most;
} Row;

static void look_at_row(Op *op, void *user) {
    Row *row = user;
    int64_t own = 0;
    for (const Op *dot = op->code == OP_DOT ? op->parent->first : NULL; dot; dot = dot->next)
        if (dot->code == OP_DOT) own += row->size(row->k, dot->results[0]);
    if (own > row->most) row->most = own;
}

int64_t sum_most_in_row(const Kernel *k, int64_t (*size)(const Kernel *k, Ref sum)) {
    Row row = {.k = k, .size = size};
    ir_walk(k->body, look_at_row, &row);
    return row.most;
}
