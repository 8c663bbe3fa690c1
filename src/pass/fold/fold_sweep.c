/* SPDX-License-Identifier: Apache-2.0 */
/* fold_sweep.c: dead code.
 *
 * Contract: what remains is what some effect needs. Roots are the ops that write, synchronise or
 * speak, and the loops and ifs around them. From there need spreads backwards through operands; a
 * carried value of a `for` is needed when its result or its argument is, so one that only feeds
 * itself goes, with its first value:
 *
 *     %x, %p9 = for %k = 0, %n, 1 (%a = %z, %p = %p0) { .. ; %p1 = ptr_add %p, 64 ; yield %b, %p1 }
 *  -> %x = for %k = 0, %n, 1 (%a = %z) { .. ; yield %b }                    when nobody reads %p or
 * %p9 */
#include "pass/fold/fold.h"

typedef struct Sweep {
    Kernel *k;
    Arena *scratch;
    bool *live; /* by Ref */
    VEC(Ref) work;
    bool changed;
} Sweep;

/* Does the op itself act on the world? */
static bool acts(const Op *op) {
    if (op_flag(op, AT_VOLATILE)) return true;
    if (op_has(op->code, TRAIT_WRITES) || op_has(op->code, TRAIT_SYNC)) return true;
    return op->code == OP_TASKS || op->code == OP_ROLE;
}

static bool has_effect(const Op *op) {
    if (acts(op)) return true;
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (has_effect(inner)) return true;
    return false;
}

static void need(Sweep *s, Ref r) {
    if (!ref_is_value(r) || s->live[r]) return;
    s->live[r] = true;
    *VEC_PUSH(&s->work, s->scratch) = r;
}

static void need_all(Sweep *s, const Op *op) {
    for (int i = 0; i < op->operand_count; i++) need(s, op->operands[i]);
}

/* What the op needs to run at all, apart from single carried values. */
static void need_op(Sweep *s, const Op *op) {
    for (int i = 0; i < op->attr_count; i++)
        if (attr_info[op->attrs[i].id].kind == ATTR_REF) need(s, op->attrs[i].ref);
    if (op->code == OP_FOR) {
        for (int i = 0; i < 3; i++) need(s, op->operands[i]);
        return;
    }
    need_all(s, op);
    if (op->code == OP_IF) return;
    for (int i = 0; i < op->region_count; i++)
        if (op->regions[i]->last && op_has(op->regions[i]->last->code, TRAIT_TERMINATOR))
            need_all(s, op->regions[i]->last);
}

static void need_carried(Sweep *s, const Op *loop, int i) {
    need(s, loop->results[i]);
    need(s, loop->regions[0]->args[1 + i]);
    need(s, loop->operands[3 + i]);
    need(s, loop->regions[0]->last->operands[i]);
}

static void spread(Sweep *s, Ref r) {
    const Value value = *ir_value(s->k, r);
    const Op *op = value.op ? value.op : value.region->owner;
    if (!op) return; /* a parameter */
    need_op(s, op);
    if (op->code == OP_FOR) {
        int carried = value.op ? value.index : value.index - 1;
        if (carried >= 0) need_carried(s, op, carried);
    } else if (op->code == OP_IF && value.op) {
        for (int i = 0; i < 2; i++) need(s, op->regions[i]->last->operands[value.index]);
    }
}

static void find_roots(Sweep *s, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        if (has_effect(op)) need_op(s, op);
        for (int i = 0; i < op->region_count; i++) find_roots(s, op->regions[i]);
    }
}

static bool is_live(const Sweep *s, const Op *op) {
    if (has_effect(op) || op_has(op->code, TRAIT_TERMINATOR)) return true;
    for (int i = 0; i < op->result_count; i++)
        if (s->live[op->results[i]]) return true;
    return false;
}

/* Closes the gap that entry i leaves in a list of references, whose values learn their new index. */
static void drop_ref(Sweep *s, Ref *list, int *count, int i, bool values) {
    (*count)--;
    for (; i < *count; i++) {
        list[i] = list[i + 1];
        if (values) ir_value(s->k, list[i])->index = i;
    }
    s->changed = true;
}

static void drop_dead_results(Sweep *s, Op *op) {
    bool loop = op->code == OP_FOR;
    if (!loop && op->code != OP_IF) return;
    for (int i = op->result_count - 1; i >= 0; i--) {
        if (s->live[op->results[i]]) continue;
        drop_ref(s, op->results, &op->result_count, i, true);
        for (int r = 0; r < op->region_count; r++) {
            Op *yield = op->regions[r]->last;
            drop_ref(s, yield->operands, &yield->operand_count, i, false);
        }
        if (!loop) continue;
        drop_ref(s, op->regions[0]->args, &op->regions[0]->arg_count, 1 + i, true);
        drop_ref(s, op->operands, &op->operand_count, 3 + i, false);
    }
}

static void sweep_region(Sweep *s, Region *region) {
    for (Op *op = region->first, *next; op; op = next) {
        next = op->next;
        if (!is_live(s, op)) {
            ir_remove(op);
            s->changed = true;
            continue;
        }
        drop_dead_results(s, op);
        for (int i = 0; i < op->region_count; i++) sweep_region(s, op->regions[i]);
    }
}

bool fold_sweep(Kernel *k, Arena *scratch) {
    Sweep s = {.k = k, .scratch = scratch, .live = ARENA_ARRAY(scratch, bool, k->values.count)};
    find_roots(&s, k->body);
    while (s.work.count) spread(&s, s.work.at[--s.work.count]);
    sweep_region(&s, k->body);
    return s.changed;
}
