/* SPDX-License-Identifier: Apache-2.0 */
/* depth.c: how many ops stand one behind the other; see ir_find_deep in build.h. */
#include "ir/build.h"

typedef struct Depths {
    int *steps; /* by Ref */
    int most;
    const Op *found; /* the first op beyond */
} Depths;

static void raise_to(const Depths *d, const Op *op, int by, int *steps) {
    for (int i = 0; i < op->operand_count; i++) {
        int own = ref_is_value(op->operands[i]) ? d->steps[op->operands[i]] + by : 0;
        if (own > *steps) *steps = own;
    }
}

static void measure(Depths *d, const Region *region) {
    for (const Op *op = region->first; op && !d->found; op = op->next) {
        int steps = 1;
        raise_to(d, op, 1, &steps);
        for (int i = 0; i < op->region_count && !d->found; i++) {
            const Region *inner = op->regions[i];
            for (int a = 0; a < inner->arg_count; a++) d->steps[inner->args[a]] = steps;
            measure(d, inner);
            if (inner->last) raise_to(d, inner->last, 0, &steps); /* what it yields */
        }
        for (int i = 0; i < op->result_count; i++) d->steps[op->results[i]] = steps;
        if (steps > d->most && !d->found) d->found = op;
    }
}

const Op *ir_find_deep(const Kernel *k, Arena *scratch, int most) {
    Depths d = {ARENA_ARRAY(scratch, int, k->values.count), most, NULL};
    measure(&d, k->body);
    return d.found;
}
