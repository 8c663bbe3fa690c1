/* SPDX-License-Identifier: Apache-2.0 */
/* roots.c: see roots.h. */
#include "ir/roots.h"

#include "ir/build.h"

typedef struct Search {
    const Kernel *k;
    Arena *arena;
    Map seen; /* values */
    VEC(Ref) open;
    bool *found; /* by parameter */
    bool beyond; /* a value was met that is made from no pointer */
} Search;

static void push(Search *s, Ref ref) {
    if (!ref_is_value(ref) || map_find_number(&s->seen, ref)) return;
    map_put_number(&s->seen, s->arena, ref, NULL);
    *VEC_PUSH(&s->open, s->arena) = ref;
}

/* What a region hands on at this place; the end of a while's test has its condition in front. */
static void push_yield(Search *s, const Region *region, int index) {
    const Op *last = region->last;
    if (last && last->code == OP_TEST) index++;
    if (last && index < last->operand_count) push(s, last->operands[index]);
}

/* A value that a loop carries: what it begins with, and what a trip hands on. */
static void push_carried(Search *s, const Op *loop, int index) {
    int first = loop->code == OP_FOR ? 3 : 0;
    if (first + index < loop->operand_count) push(s, loop->operands[first + index]);
    for (int i = 0; i < loop->region_count; i++) push_yield(s, loop->regions[i], index);
}

static void push_argument(Search *s, const Value *v) {
    const Op *owner = v->region->owner;
    if (!owner)
        s->found[v->index] = true;
    else if (owner->code == OP_FOR && v->index > 0)
        push_carried(s, owner, v->index - 1);
    else if (owner->code == OP_WHILE)
        push_carried(s, owner, v->index);
    else
        s->beyond = true;
}

/* All that a value may have been. */
static void push_origins(Search *s, Ref ref) {
    const Value *v = ir_value(s->k, ref);
    const Op *op = v->op;
    if (!op) {
        push_argument(s, v);
        return;
    }
    switch (op->code) {
    case OP_PTR_ADD: /* its offset is no pointer */
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_REPEAT:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_FLIP:
    case OP_SPLIT:
    case OP_SLICE:
    case OP_GATHER:
    case OP_CONVERT:
    case OP_TENSOR:
    case OP_BASE: push(s, op->operands[0]); return;
    case OP_SELECT:
    case OP_JOIN:
    case OP_CAT:
    case OP_SCATTER: /* its places are no pointers */
        for (int i = op->code == OP_SELECT; i < op->operand_count; i++) push(s, op->operands[i]);
        return;
    case OP_FOR:
    case OP_WHILE: push_carried(s, op, v->index); return;
    case OP_IF:
        for (int i = 0; i < op->region_count; i++) push_yield(s, op->regions[i], v->index);
        return;
    default: break;
    }
    /* An address as an integer, and whatever else is done to it on the way. */
    s->beyond = true;
    if (op_has(op->code, TRAIT_PURE))
        for (int i = 0; i < op->operand_count; i++) push(s, op->operands[i]);
}

static void run(Search *s) {
    while (s->open.count) push_origins(s, s->open.at[--s->open.count]);
}

int roots_write(const Op *op) {
    switch (op->code) {
    case OP_STORE:
    case OP_TSTORE:
    case OP_ATOMIC:
    case OP_TATOMIC:
    case OP_ATOMIC_CAS: return 1;
    case OP_ASM_ACT: return op->operand_count;
    default: return 0;
    }
}

static void visit(Op *op, void *user) {
    int addresses = roots_write(op);
    for (int i = 0; i < addresses; i++) push(user, op->operands[i]);
}

bool roots_written(const Kernel *k, Arena *scratch, bool *written) {
    Search s = {.k = k, .arena = scratch, .found = written};
    ir_walk(k->body, visit, &s);
    run(&s);
    return !s.beyond;
}

bool roots_of(const Kernel *k, Arena *scratch, Ref ref, bool *set) {
    Search s = {.k = k, .arena = scratch, .found = set};
    push(&s, ref);
    run(&s);
    return !s.beyond;
}

int roots_only(const Kernel *k, Arena *scratch, Ref ref) {
    bool *set = ARENA_ARRAY(scratch, bool, (size_t)k->body->arg_count + 1);
    int only = -1;
    if (!roots_of(k, scratch, ref, set)) return -1;
    for (int i = 0; i < k->body->arg_count; i++) {
        if (set[i] && only >= 0) return -1;
        if (set[i]) only = i;
    }
    return only;
}

static bool promises(const Op *op) {
    return (op->code == OP_ASSUME || op->code == OP_REQUIRE) && op_flag(op, AT_DISJOINT);
}

bool roots_promised_apart(const Kernel *k, Arena *scratch, int a, int b) {
    for (const Op *op = k->body->first; op; op = op->next) {
        bool has_a = false, has_b = false;
        for (int i = 0; promises(op) && i < op->operand_count; i++) {
            int root = roots_only(k, scratch, op->operands[i]);
            has_a = has_a || root == a;
            has_b = has_b || root == b;
        }
        if (has_a && has_b) return true;
    }
    return false;
}

const bool *roots_promises(const Kernel *k, Arena *arena) {
    int count = k->body->arg_count;
    bool *apart = ARENA_ARRAY(arena, bool, (size_t)count * count + 1);
    for (const Op *op = k->body->first; op; op = op->next)
        for (int i = 0; promises(op) && i < op->operand_count; i++)
            for (int j = 0; j < op->operand_count; j++) {
                int a = roots_only(k, arena, op->operands[i]), b = roots_only(k, arena, op->operands[j]);
                if (a >= 0 && b >= 0 && a != b) apart[a * count + b] = true;
            }
    return apart;
}
