/* SPDX-License-Identifier: Apache-2.0 */
/* merge_shared.c: buffers that workers share, when the workers are to run one after the other.
 *
 *     bstore %kf, [0, 0], %filter     every worker writes the same           kept, or a copy for each worker
 *     bstore %tmp, [%w, 0, 0], %a     each writes and reads a part of its own             kept
 *     bstore %x, [%w, 0], %a; bload %x, [0, 0]                               they exchange: refused
 *
 * What all write alike needs no copies if, in what a worker does before its items, in each item and behind them, it
 * writes before it reads: the next worker writes the same again before it reads it. */
#include "ir/ringform.h"
#include "pass/merge/merge.h"

typedef struct Look {
    Merge *m;
    bool *tainted; /* by Ref: a value that differs from worker to worker; a buffer that holds one */
    int branches;  /* conditions around that differ */
    bool changed;
    Ref buffer;    /* the one that is looked at */
    bool stores, loads;
    const Op *strange; /* an access of it that is not of the worker's own part */
} Look;

static bool is_tainted(const Look *l, Ref r) { return ref_is_value(r) && l->tainted[r]; }

static void taint(Look *l, Ref r) {
    if (!ref_is_value(r) || l->tainted[r]) return;
    l->tainted[r] = l->changed = true;
}

static void taint_region(Look *l, const Region *region, const Op *owner);

/* Do the workers differ in whether, or how often, they run what is inside? */
static bool runs_differ(const Look *l, const Op *op) {
    if (op->code == OP_WHILE) return is_tainted(l, op->regions[0]->last->operands[0]);
    int count = op->code == OP_FOR ? 3 : op->operand_count ? 1 : 0;
    for (int i = 0; i < count; i++)
        if (is_tainted(l, op->operands[i])) return true;
    return false;
}

static void taint_op(Look *l, const Op *op) {
    bool any = (l->branches > 0 && op->code == OP_BSTORE) || op->code == OP_BATOMIC; /* all combine into one place */
    int first = op->code == OP_BSTORE || op->code == OP_BATOMIC;
    for (int i = first; i < op->operand_count; i++) any = any || is_tainted(l, op->operands[i]);
    if (any && first) taint(l, op->operands[0]);
    bool loop = op->code == OP_FOR || op->code == OP_WHILE;
    for (int i = 0; any && !loop && i < op->result_count; i++) taint(l, op->results[i]);
    if (!op->region_count) return;
    bool differs = runs_differ(l, op);
    l->branches += differs;
    for (int r = 0; r < op->region_count; r++) taint_region(l, op->regions[r], op);
    l->branches -= differs;
    for (int i = 0; differs && i < op->result_count; i++) taint(l, op->results[i]);
}

/* What a loop carries, and what a branch gives, differs if any value that goes in does. */
static void taint_flow(Look *l, const Region *region, const Op *owner) {
    const Op *end = region->last;
    int carried = owner->code == OP_FOR ? 3 : 0, values = end && end->code == OP_TEST ? 1 : 0;
    for (int i = 0; i < owner->result_count; i++) {
        bool any = end && i + values < end->operand_count && is_tainted(l, end->operands[i + values]);
        bool loop = owner->code == OP_FOR || owner->code == OP_WHILE;
        int arg = owner->code == OP_FOR ? i + 1 : i;
        if (loop) any = any || is_tainted(l, owner->operands[carried + i]) || is_tainted(l, owner->results[i]);
        if (!any) continue;
        taint(l, owner->results[i]);
        if (loop && arg < region->arg_count) taint(l, region->args[arg]);
    }
}

static void taint_region(Look *l, const Region *region, const Op *owner) {
    for (const Op *op = region->first; op; op = op->next) taint_op(l, op);
    if (owner) taint_flow(l, region, owner);
}

/* ---- accesses of one buffer ---- */

static void note_access(Op *op, void *user) {
    Look *l = user;
    bool loads = op->code == OP_BLOAD, other = false;
    for (int i = 0; i < op->operand_count; i++) other = other || op->operands[i] == l->buffer;
    if (!other) return;
    l->loads = l->loads || op->code != OP_BSTORE;
    l->stores = l->stores || !loads;
    bool own = false;
    const Type *whole = ir_type(l->m->k, l->buffer);
    const Type *part = loads ? ir_type(l->m->k, op->results[0])
                       : op->code == OP_BSTORE ? ir_type(l->m->k, op_operand(op, 1)) : NULL;
    for (int d = 0; part && d < whole->rank; d++) {
        int inner = d - (whole->rank - part->rank);
        int64_t distance, extent = inner >= 0 ? part->extent[inner] : 1;
        own = own || (extent == 1 && merge_distance(l->m, l->m->worker, op_list(op, 0).at[d], &distance) && !distance);
    }
    if (!own) l->strange = op;
}

static void look_inside(Look *l, Op *op) {
    note_access(op, l);
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], note_access, l);
}

/* Does the worker write before it reads, in everything that it does as a whole? */
static bool writes_first(Look *l, const Region *work, const Op *items) {
    bool read = false;
    for (Op *op = work->first; op; op = op->next) {
        if (op == items) {
            if (!writes_first(l, op->regions[0], NULL)) return false;
            read = false;
            continue;
        }
        l->loads = l->stores = false;
        look_inside(l, op);
        if (l->stores && (read || l->loads)) return false;
        read = read || l->loads;
    }
    return true;
}

bool merge_shared(Merge *m, const Op *spmd, const Op *items, SharedBuffers *copies) {
    Look l = {.m = m, .tainted = ARENA_ARRAY(m->arena, bool, m->k->values.count)};
    const Region *work = spmd->regions[0];
    l.tainted[m->worker] = true;
    do {
        l.changed = false;
        taint_region(&l, work, NULL);
    } while (l.changed);
    for (Op *op = m->k->body->first; op; op = op->next) {
        if (op->code != OP_BUF) continue;
        l.buffer = op->results[0];
        l.stores = l.loads = false;
        l.strange = NULL;
        ir_walk((Region *)work, note_access, &l);
        if (!l.stores) continue;
        if (l.tainted[l.buffer]) {
            if (l.strange)
                return merge_fail(m, l.strange, "the workers exchange what is in this buffer"
                                  FIX "give each worker a buffer of its own");
        } else if (!writes_first(&l, work, items)) {
            *VEC_PUSH(copies, m->arena) = op;
        }
    }
    return true;
}
