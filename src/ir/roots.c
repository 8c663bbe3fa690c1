/* roots.c: see roots.h. */
#include "ir/roots.h"

#include "ir/build.h"

Ref roots_origin(const Kernel *k, Ref ref) {
    const Value *v = ir_value(k, ref);
    const Op *op = v->op ? v->op : v->region->owner;
    if (!op) return REF_NONE;
    if (!v->op) {
        if (op->code == OP_FOR && v->index > 0) return op->operands[2 + v->index];
        return op->code == OP_WHILE ? op->operands[v->index] : REF_NONE;
    }
    switch (op->code) {
    case OP_PTR_ADD:
    case OP_SPLAT:
    case OP_BROADCAST:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_TENSOR:
    case OP_BASE: return op->operands[0];
    case OP_FOR: return op->operands[3 + v->index];
    case OP_WHILE: return op->operands[v->index];
    default: return REF_NONE;
    }
}

typedef struct Search {
    const Kernel *k;
    Arena *arena;
    Map seen; /* values */
    VEC(Ref) open;
    bool *written;
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

/* All that a value may have been. */
static void push_origins(Search *s, Ref ref) {
    const Value *v = ir_value(s->k, ref);
    const Op *op = v->op ? v->op : v->region->owner;
    if (v->region == s->k->body && !v->op) {
        s->written[v->index] = true;
        return;
    }
    push(s, roots_origin(s->k, ref));
    if (!op) return;
    switch (op->code) {
    case OP_SELECT:
    case OP_JOIN:
    case OP_CAT:
        for (int i = op->code == OP_SELECT; i < op->operand_count; i++) push(s, op->operands[i]);
        break;
    case OP_SPLIT:
    case OP_GATHER: push(s, op->operands[0]); break;
    case OP_IF:
    case OP_WHILE:
        for (int i = 0; i < op->region_count; i++) push_yield(s, op->regions[i], v->index);
        break;
    case OP_FOR: push_yield(s, op->regions[0], v->index - !v->op); break;
    case OP_PTR_ADD: break; /* its offset is no pointer */
    default: /* an address as an integer: arithmetic and bitcasts on the way */
        if (op_has(op->code, TRAIT_ELEMENTWISE))
            for (int i = 0; i < op->operand_count; i++) push(s, op->operands[i]);
    }
}

static void visit(Op *op, void *user) {
    Search *s = user;
    switch (op->code) {
    case OP_STORE:
    case OP_TSTORE:
    case OP_ATOMIC:
    case OP_TATOMIC:
    case OP_ATOMIC_CAS: push(s, op->operands[0]); break;
    default: break;
    }
}

void roots_written(const Kernel *k, Arena *scratch, bool *written) {
    Search s = {.k = k, .arena = scratch, .written = written};
    ir_walk(k->body, visit, &s);
    while (s.open.count) push_origins(&s, s.open.at[--s.open.count]);
}
