/* SPDX-License-Identifier: Apache-2.0 */
/* ends.c: see ends.h. */
#include "ir/ends.h"
#include "ir/barriers.h"

enum { MOST_VARIABLES = 8, MOST_OPS = 64, MOST_STEPS = 1 << 18 };

typedef struct Places {
    const Kernel *k;
    EndsFind find;
    const void *user;
    int count, ops;
    EndsVariable variables[MOST_VARIABLES];
    int64_t at[MOST_VARIABLES]; /* of each its value */
} Places;

/* Puts the variables that the number is made of to the others. */
static bool gather(Places *p, Ref ref) {
    int64_t number;
    EndsVariable v;
    bool known = true;
    if (ir_const_int(p->k, ref, &number)) return true;
    if (!ref_is_value(ref) || ++p->ops > MOST_OPS) return false;
    if (p->find(p->user, ref, &v, &known)) {
        int i = 0;
        while (i < p->count && p->variables[i].ref != ref) i++;
        if (!known || i == MOST_VARIABLES) return false;
        if (i == p->count) p->variables[p->count] = v, p->at[p->count++] = v.lo;
        return true;
    }
    const Op *op = ir_value(p->k, ref)->op;
    if (!op || !op_has(op->code, TRAIT_ELEMENTWISE)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!gather(p, op->operands[i])) return false;
    return true;
}

static bool value_here(const void *user, Ref ref, int64_t *out) {
    const Places *p = user;
    for (int i = 0; i < p->count; i++)
        if (p->variables[i].ref == ref) return *out = p->at[i], true;
    return false;
}

static bool next_place(Places *p) {
    for (int i = 0; i < p->count; i++) {
        p->at[i] += p->variables[i].step;
        if (p->at[i] <= p->variables[i].hi) return true;
        p->at[i] = p->variables[i].lo;
    }
    return false;
}

bool ends_by_places(const Kernel *k, const Ref *parts, const int64_t *factors, int count, int64_t constant,
                    EndsFind find, const void *user, int64_t *lo, int64_t *hi) {
    Places p = {.k = k, .find = find, .user = user};
    int64_t places = 1;
    for (int i = 0; i < count; i++)
        if (!gather(&p, parts[i])) return false;
    for (int i = 0; i < p.count; i++) {
        const EndsVariable *v = &p.variables[i];
        if (__builtin_mul_overflow(places, (v->hi - v->lo) / v->step + 1, &places) || places > MOST_STEPS / (p.ops + 1))
            return false;
    }
    *lo = INT64_MAX, *hi = INT64_MIN;
    do {
        int64_t sum = constant, part;
        for (int i = 0; i < count; i++)
            if (!ir_number(k, parts[i], value_here, &p, &part) || __builtin_mul_overflow(part, factors[i], &part) ||
                __builtin_add_overflow(sum, part, &sum))
                return false;
        if (sum < *lo) *lo = sum;
        if (sum > *hi) *hi = sum;
    } while (next_place(&p));
    return true;
}
