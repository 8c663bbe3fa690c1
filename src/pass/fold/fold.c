/* SPDX-License-Identifier: Apache-2.0 */
/* fold.c: constants, exact algebra, common subexpressions, loop-invariant code, dead code.
 *
 * Contract: any form in, the same form out, every bit of the result kept; memory and
 * synchronisation are never moved, merged or dropped (a read whose result nobody uses is). One
 * forward walk simplifies each op (fold_algebra.c) and finds it again among the ops that dominate
 * it; then invariants leave their loops, then dead code goes (fold_sweep.c); all of it until
 * nothing changes.
 *
 *     %a = add %x, 0 ; %b = mul %a, 4 ; %c = mul %x, 4 ; store %p, %b ; store %q, %c
 *  -> %b = mul %x, 4 ; store %p, %b ; store %q, %b
 *
 * Contraction to fma is a pass of its own (contract.c), since it has to come after `raise`. */
#include "pass/fold/fold.h"
#include "pass/pass.h"

#include <string.h>

/* --- equal ops --- */

bool fold_is_numbered(const Op *op) {
    if (!op_has(op->code, TRAIT_PURE) || op->region_count || !op->result_count) return false;
    switch (op->code) {
    case OP_UNDEF:
    case OP_BUF:
    case OP_BAR:
    case OP_RING: return false; /* each is a thing of its own */
    default: return true;
    }
}

static uint32_t number_of(const uint32_t *number, Ref r) { return number && ref_is_value(r) ? number[r] : r; }

static bool same_attr(const Attr *a, const Attr *b, const uint32_t *number) {
    switch (attr_info[a->id].kind) {
    case ATTR_FLAG: return true;
    case ATTR_INT: return a->number == b->number;
    case ATTR_ENUM: return a->word == b->word;
    case ATTR_TEXT: return strcmp(a->text, b->text) == 0;
    case ATTR_REF: return number_of(number, a->ref) == number_of(number, b->ref);
    case ATTR_INTS:
        return a->list.count == b->list.count &&
               memcmp(a->list.at, b->list.at, (size_t)a->list.count * sizeof *a->list.at) == 0;
    }
    return false;
}

bool fold_same(const Kernel *k, const Op *a, const Op *b, const uint32_t *number) {
    if (a->code != b->code || a->operand_count != b->operand_count || a->result_count != b->result_count ||
        a->attr_count != b->attr_count || a->list_count[0] != b->list_count[0])
        return false;
    for (int i = 0; i < a->operand_count; i++)
        if (number_of(number, a->operands[i]) != number_of(number, b->operands[i])) return false;
    for (int i = 0; i < a->result_count; i++)
        if (ir_type(k, a->results[i]) != ir_type(k, b->results[i])) return false;
    for (int i = 0; i < a->attr_count; i++) {
        const Attr *other = op_attr(b, a->attrs[i].id);
        if (!other || !same_attr(&a->attrs[i], other, number)) return false;
    }
    return true;
}

uint64_t fold_hash(const Kernel *k, const Op *op, const uint32_t *number) {
    uint64_t hash = hash_bytes(&op->code, sizeof op->code, 1);
    for (int i = 0; i < op->operand_count; i++) {
        uint32_t n = number_of(number, op->operands[i]);
        hash = hash_bytes(&n, sizeof n, hash);
    }
    const Type *type = op->result_count ? ir_type(k, op->results[0]) : NULL;
    return hash_bytes(&type, sizeof type, hash);
}

/* --- the forward walk --- */

typedef struct Seen {
    struct Seen *next;
    uint64_t hash;
    Op *op;
} Seen;

enum { SEEN_SLOTS = 1024 };

typedef struct Fold {
    Kernel *k;
    Arena *scratch;
    VEC(Ref) instead; /* by Ref; 0: itself */
    Seen *seen[SEEN_SLOTS];
    VEC(Seen *) entered; /* what the open regions put into seen, to be taken out at their end */
    bool changed;
} Fold;

static Ref current(Fold *f, Ref r) {
    while (ref_is_value(r) && r < f->instead.count && f->instead.at[r]) r = f->instead.at[r];
    return r;
}

static void replace(Fold *f, Ref from, Ref to) {
    while (f->instead.count < f->k->values.count) *VEC_PUSH(&f->instead, f->scratch) = REF_NONE;
    f->instead.at[from] = to;
    f->changed = true;
    const char *name = ir_value(f->k, from)->name;
    if (ref_is_value(to) && name && !ir_value(f->k, to)->name) ir_value(f->k, to)->name = name;
}

static void renew_operands(Fold *f, Op *op) {
    for (int i = 0; i < op->operand_count; i++) op->operands[i] = current(f, op->operands[i]);
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF) op->attrs[i].ref = current(f, op->attrs[i].ref);
}

/* Tile constants: made again where they are needed, rather than kept alive. */
static bool is_cheap(const Op *op) {
    switch (op->code) {
    case OP_SPLAT:
    case OP_IOTA:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_UNDEF: return true;
    default: return false;
    }
}

static bool find_equal(Fold *f, Op *op) {
    if (!fold_is_numbered(op)) return false;
    uint64_t hash = fold_hash(f->k, op, NULL);
    Seen **slot = &f->seen[hash % SEEN_SLOTS];
    for (Seen *s = *slot; s; s = s->next) {
        if (s->hash != hash || !fold_same(f->k, s->op, op, NULL)) continue;
        if (is_cheap(op) && s->op->parent != op->parent) continue;
        for (int i = 0; i < op->result_count; i++) replace(f, op->results[i], s->op->results[i]);
        return true;
    }
    Seen *entry = ARENA_NEW(f->scratch, Seen);
    *entry = (Seen){*slot, hash, op};
    *slot = entry;
    *VEC_PUSH(&f->entered, f->scratch) = entry;
    return false;
}

static void forget(Fold *f, size_t mark) {
    while (f->entered.count > mark) {
        Seen *last = f->entered.at[--f->entered.count];
        f->seen[last->hash % SEEN_SLOTS] = last->next;
    }
}

/* An `if` on a literal is the region taken. */
static bool inline_if(Fold *f, Op *op) {
    int64_t condition;
    if (op->code != OP_IF || !ir_const_int(f->k, op->operands[0], &condition)) return false;
    Region *taken = op->regions[condition ? 0 : 1];
    while (taken->first && !op_has(taken->first->code, TRAIT_TERMINATOR)) ir_move(taken->first, op->parent, op);
    for (int i = 0; i < op->result_count; i++) replace(f, op->results[i], current(f, taken->last->operands[i]));
    f->changed = true;
    return true;
}

/* How far is x above y, as the text says it? */
static bool distance(const Kernel *k, Ref x, Ref y, int64_t *far) {
    int64_t a, b;
    *far = 0;
    if (x == y) return true;
    if (ir_const_int(k, x, &a) && ir_const_int(k, y, &b)) return fold_int(OP_SUB, ir_type(k, x)->elem, a, b, far);
    const Op *op = ref_is_value(x) ? ir_value(k, x)->op : NULL;
    if (!op || (op->code != OP_ADD && op->code != OP_SUB) || op->operands[0] != y) return false;
    return ir_const_int(k, op->operands[1], &b) && fold_int(op->code, ir_type(k, x)->elem, 0, b, far);
}

/* A number that goes by the loop's own step is the loop's variable and a constant, round about the largest number as
 * well: the second counter of a kernel that has two is the first. What it is behind the loop nobody may ask. */
static void follow_variable(Fold *f, Op *op, int i) {
    Region *body = op->regions[0];
    Ref variable = body->args[0], arg = body->args[1 + i], next = current(f, body->last->operands[i]);
    const Op *add = ref_is_value(next) ? ir_value(f->k, next)->op : NULL;
    int64_t far;
    if (!add || add->code != OP_ADD || add->operands[0] != arg || current(f, add->operands[1]) != op->operands[2] ||
        ir_type(f->k, arg) != ir_type(f->k, variable) || !distance(f->k, op->operands[3 + i], op->operands[0], &far) ||
        current(f, arg) != arg || ir_count_uses(f->k, f->scratch)[op->results[i]])
        return;
    Builder b = ir_builder_before(f->k, body->first);
    replace(f, arg, ir_binary(&b, OP_ADD, variable, ir_int(&b, ir_type(f->k, variable)->elem, far)));
}

static bool has_no_trip(const Fold *f, const Op *op) {
    int64_t lo, hi, step;
    return ir_const_int(f->k, op->operands[0], &lo) && ir_const_int(f->k, op->operands[1], &hi) &&
           ir_const_int(f->k, op->operands[2], &step) && step && (lo == hi || (lo > hi) == (step > 0));
}

static bool is_in_role(const Op *op) {
    while (op && op->code != OP_ROLE) op = op->parent ? op->parent->owner : NULL;
    return op;
}

/* A carried value that every trip hands on unchanged is its first value; a loop of no trips gives its first values, and
 * is gone: what it reads need not be written before. (In a role it is half of a hand-over.) */
static bool simplify_for(Fold *f, Op *op) {
    Region *body = op->regions[0];
    bool never = has_no_trip(f, op);
    for (int i = 0; i < op->result_count; i++) {
        Ref first = op->operands[3 + i], arg = body->args[1 + i];
        Ref next = current(f, body->last->operands[i]);
        bool kept = next == arg || next == first;
        if (kept && current(f, arg) == arg) replace(f, arg, first);
        if ((kept || never) && current(f, op->results[i]) == op->results[i]) replace(f, op->results[i], first);
        if (!kept && !never) follow_variable(f, op, i);
    }
    if (!never || is_in_role(op)) return false;
    f->changed = true;
    return true;
}

/* Does it lie in a slot, from where it is gone with the slot's release? What was computed from it is not. */
static bool is_view(const Kernel *k, Ref r) {
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    return op && op->code == OP_GET && !op_flag(op, AT_COPY);
}

static void fold_region(Fold *f, Region *region) {
    size_t mark = f->entered.count;
    for (Op *op = region->first, *next; op; op = next) {
        renew_operands(f, op);
        Op *before = op->previous;
        if (op->code == OP_FOR ? simplify_for(f, op) : inline_if(f, op)) {
            ir_remove(op);
            next = before ? before->next : region->first;
            continue;
        }
        for (int i = 0; i < op->region_count; i++) fold_region(f, op->regions[i]);
        next = op->next;
        Builder b = ir_builder_before(f->k, op);
        bool changed = false;
        Ref to = fold_simplify(&b, op, &changed);
        f->changed = f->changed || changed;
        if (to && !is_view(f->k, current(f, to))) {
            replace(f, op->results[0], current(f, to));
            ir_remove(op);
            next = before ? before->next : region->first; /* what was made on the way is folded too */
        } else if (find_equal(f, op)) {
            ir_remove(op);
        }
    }
    forget(f, mark);
}

static bool fold_walk(Kernel *k, Arena *scratch) {
    Fold *f = ARENA_NEW(scratch, Fold);
    f->k = k;
    f->scratch = scratch;
    fold_region(f, k->body);
    return f->changed;
}

/* --- loop-invariant code --- */

typedef struct Hoist {
    Kernel *k;
    VEC(Op *) waiting; /* cheap invariants that stay, unless a mover needs them */
    Arena *scratch;
    bool changed;
} Hoist;

static bool inside(const Region *region, const Region *outer) {
    for (; region; region = region->owner ? region->owner->parent : NULL)
        if (region == outer) return true;
    return false;
}

static bool waits(const Hoist *h, const Op *op) {
    for (size_t i = 0; op && i < h->waiting.count; i++)
        if (h->waiting.at[i] == op) return true;
    return false;
}

static const Op *defining(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }

static bool is_outside(const Hoist *h, Ref r, const Region *body) {
    if (!ref_is_value(r)) return true;
    const Value *value = ir_value(h->k, r);
    if (value->region) return !inside(value->region, body);
    return !inside(value->op->parent, body);
}

static bool is_invariant(const Hoist *h, const Op *op, const Region *body) {
    if (!op_has(op->code, TRAIT_PURE) || op->region_count || op->code == OP_BUF || op->code == OP_RING ||
        op->code == OP_BAR)
        return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_outside(h, op->operands[i], body) && !waits(h, defining(h->k, op->operands[i]))) return false;
    return true;
}

static void move_out(Hoist *h, Op *op, Op *loop) {
    for (int i = 0; i < op->operand_count; i++) {
        const Op *needed = defining(h->k, op->operands[i]);
        if (!waits(h, needed) || !inside(needed->parent, loop->regions[0])) continue;
        move_out(h, (Op *)needed, loop);
    }
    ir_move(op, loop->parent, loop);
    h->changed = true;
}

static void hoist_region(Hoist *h, Region *region) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->region_count; i++) hoist_region(h, op->regions[i]);
        if (op->code != OP_FOR) continue;
        h->waiting.count = 0;
        for (Op *at = op->regions[0]->first, *next; at; at = next) {
            next = at->next;
            if (!is_invariant(h, at, op->regions[0])) continue;
            if (is_cheap(at))
                *VEC_PUSH(&h->waiting, h->scratch) = at;
            else
                move_out(h, at, op);
        }
    }
}

bool fold_hoist(Kernel *k, Arena *scratch) {
    Hoist h = {.k = k, .scratch = scratch};
    hoist_region(&h, k->body);
    return h.changed;
}

/* --- the whole --- */

enum { MAX_ROUNDS = 12 }; /* each round only shrinks or moves outward; the bound is a seat belt */

bool fold_tidy(Kernel *k, Arena *scratch) {
    bool any = false, changed = true;
    for (int round = 0; changed && round < MAX_ROUNDS; round++) {
        changed = fold_walk(k, scratch);
        changed = fold_hoist(k, scratch) || changed;
        changed = fold_sweep(k, scratch) || changed;
        any = any || changed;
    }
    return any;
}

bool pass_fold(PassContext *cx, Kernel *k) { return fold_tidy(k, cx->scratch); }
