/* SPDX-License-Identifier: Apache-2.0 */
/* roles_same.c: are two numbers of different workers the same, trip by trip of the loops that they are computed in?
 *
 *     while (%a = 0, %n = f(0)) { test %n >= 0 } { .. ; %b = %a + 1 ; yield %b, f(%b) }
 *
 * Two of these, each with its own body, make as many trips with the same numbers: what they carry is the same if it
 * begins the same, and goes on so where it was the same so far. Pairs of carried values are believed, and what they
 * begin and go on with is asked for, until nothing new is. */
#include "ir/roles.h"

enum { MOST_PAIRS = 64, DEEPEST = 64 };

typedef struct Pair {
    const Op *a, *b; /* whiles */
    int index;
    bool ends; /* they make as many trips: what comes out of them is the same, too */
} Pair;
typedef struct Same {
    const Kernel *k;
    const bool *still; /* by Ref: it was read from memory that nobody writes */
    Pair pairs[MOST_PAIRS];
    int count;
} Same;

static bool same(Same *s, Ref a, Ref b, int depth);

static bool believe(Same *s, const Op *a, const Op *b, int index, bool ends) {
    for (int i = 0; i < s->count; i++) {
        const Pair *p = &s->pairs[i];
        if (p->a == a && p->b == b && p->index == index && (p->ends || !ends)) return true;
    }
    if (s->count == MOST_PAIRS) return false;
    s->pairs[s->count++] = (Pair){a, b, index, ends};
    return true;
}

static bool same_attrs(const Op *a, const Op *b) {
    if (a->attr_count != b->attr_count) return false;
    for (int i = 0; i < a->attr_count; i++) {
        const Attr *x = &a->attrs[i], *y = op_attr(b, x->id);
        AttrKind kind = attr_info[x->id].kind;
        bool plain = kind == ATTR_INT || kind == ATTR_FLAG || kind == ATTR_ENUM;
        if (!plain || !y || (kind == ATTR_ENUM ? x->word != y->word : x->number != y->number)) return false;
    }
    return true;
}

static bool same(Same *s, Ref a, Ref b, int depth) {
    int64_t x, y;
    if (a == b) return true;
    if (ir_const_int(s->k, a, &x) && ir_const_int(s->k, b, &y)) return x == y && ir_type(s->k, a) == ir_type(s->k, b);
    if (!ref_is_value(a) || !ref_is_value(b) || depth > DEEPEST) return false;
    const Value *v = ir_value(s->k, a), *w = ir_value(s->k, b);
    if (v->index != w->index || v->type != w->type || !v->op != !w->op) return false;
    if (!v->op) {
        const Op *p = v->region->owner, *q = w->region->owner;
        return p && q && p->code == OP_WHILE && q->code == OP_WHILE && believe(s, p, q, v->index, false);
    }
    const Op *p = v->op, *q = w->op;
    bool pure = (op_has(p->code, TRAIT_PURE) && !p->region_count) || (s->still[a] && s->still[b]);
    if (p->code != q->code || p->operand_count != q->operand_count || !same_attrs(p, q)) return false;
    if (p->code == OP_WHILE) return believe(s, p, q, v->index, true);
    if (!pure && p->code != OP_IF) return false;
    for (int i = 0; i < p->operand_count; i++)
        if (!same(s, p->operands[i], q->operands[i], depth + 1)) return false;
    for (int r = 0; r < p->region_count; r++)
        if (!same(s, p->regions[r]->last->operands[v->index], q->regions[r]->last->operands[v->index], depth + 1))
            return false;
    return true;
}

/* Does the loop hand what it carries there from its test to its body as it is? */
static bool passes_on(const Op *loop, int index) {
    const Region *test = loop->regions[0];
    return index < test->arg_count && test->last->operands[1 + index] == test->args[index];
}

/* All that was believed. */
static bool settle(Same *s) {
    for (int i = 0; i < s->count; i++) {
        Pair p = s->pairs[i];
        if (!passes_on(p.a, p.index) || !passes_on(p.b, p.index) ||
            !same(s, p.a->operands[p.index], p.b->operands[p.index], 0) ||
            !same(s, p.a->regions[1]->last->operands[p.index], p.b->regions[1]->last->operands[p.index], 0) ||
            (p.ends && !same(s, p.a->regions[0]->last->operands[0], p.b->regions[0]->last->operands[0], 0)))
            return false;
    }
    return true;
}

bool roles_same_number(const Kernel *k, const bool *still, Ref a, Ref b) {
    Same s = {.k = k, .still = still};
    return same(&s, a, b, 0) && settle(&s);
}

bool roles_same_trips(const Kernel *k, const bool *still, const Op *a, const Op *b) {
    Same s = {.k = k, .still = still};
    return a == b || (same(&s, a->regions[0]->last->operands[0], b->regions[0]->last->operands[0], 0) && settle(&s));
}
