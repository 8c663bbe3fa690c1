/* sums.c: see sums.h. */
#include "analysis/sums.h"

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
