/* SPDX-License-Identifier: Apache-2.0 */
/* roles_tiles.c: accesses to tiles that workers share: is each behind what others did there before it? */
#include "base/text.h"
#include "ir/threads.h"
#include "ir/roles_check.h"

#include <string.h>

static bool overlap(const Access *a, const Access *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (a->to[d] <= b->from[d] || b->to[d] <= a->from[d]) return false;
    return true;
}

/* The variable of an element loop has all its values there. */
static bool takes_all(const Check *c, Ref ref, int64_t *count) {
    const Value *v = ref_is_value(ref) ? ir_value(c->k, ref) : NULL;
    const Op *loop = v && !v->op && v->region ? v->region->owner : NULL;
    return loop && loop->code == OP_PARALLEL && v->index < loop->operand_count &&
           ir_const_int(c->k, loop->operands[v->index], count);
}

void check_access(Worker *w, const Op *op) {
    Check *c = w->c;
    const Type *whole = ir_type(c->k, op->operands[0]);
    if (!threads_share(c->k, op, op->operands[0])) return;
    const Type *box = ir_type(c->k, op->code == OP_BLOAD ? op->results[0] : op_operand(op, 1));
    RefList at = op_list(op, 0);
    Access a = {.op = op, .buffer = op->operands[0], .worker = w->number, .writes = op->code != OP_BLOAD, .exact = true,
                .clock = w->clock.at[w->number] + 1};
    for (int d = 0; d < whole->rank; d++) {
        int lead = whole->rank - box->rank;
        a.to[d] = whole->extent[d];
        if (takes_all(c, at.at[d], &a.to[d])) continue;
        if (!check_number(w, at.at[d], &a.from[d]))
            a.exact = false;
        else
            a.to[d] = a.from[d] + (d < lead ? 1 : box->extent[d - lead]);
    }
    Access *same = NULL;
    for (size_t i = 0; i < c->accesses.count; i++) {
        Access *b = &c->accesses.at[i];
        if (b->buffer != a.buffer) continue;
        if (b->worker == a.worker && b->op == op && !memcmp(a.from, b->from, sizeof a.from)) same = b;
        bool meets = b->worker != a.worker && (a.writes || b->writes) && overlap(&a, b, whole->rank);
        if (!meets || b->clock <= w->clock.at[b->worker]) continue;
        const char *name = ir_value(c->k, a.buffer)->name;
        if (!a.exact || !b->exact) {
            check_fail(c, op, true, "which elements of a shared tile it touches is not known before the kernel runs"
                       FIX "index it by constants and the trips of loops");
            return;
        }
        c->other = b->op, c->raced = a.buffer, c->here = a.worker, c->there = b->worker;
        c->other_text = say(c, "warpgroup %d %s it here", b->worker, b->writes ? "writes" : "reads");
        check_fail(c, op, false,
             say(c,
                          "warpgroup %d %s `%s`, and no barrier lies between that and warpgroup %d, which %s it" FIX
                          "arrive behind the one, and wait for that in front of the other",
                          a.worker, a.writes ? "writes" : "reads", name ? name : "a shared tile", b->worker,
                          b->writes ? "writes" : "reads"));
        return;
    }
    if (same)
        same->clock = a.clock;
    else
        *VEC_PUSH(&c->accesses, c->arena) = a;
}
