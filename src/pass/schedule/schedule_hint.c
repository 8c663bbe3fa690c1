/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_hint.c: what an access tells the caches, of what the source wishes (`cache`, `evict`).
 *
 *     tload<cache=cg, evict=first>     ->  hint=evict_first
 *     tstore<cache=cs>                 ->  hint=cs
 *     tload<cache=cg, by=async>        ->  none
 *
 * An instruction takes one hint: an eviction, or else an operator of its direction. Copies that go past the first cache
 * take no operators. None at all: loads whose words are shifted together (`batch`), stores that may go element by
 * element (`tests`), and what is read from memory each time (`volatile`). */
#include "pass/schedule/schedule.h"

static bool is_load(const Op *op) { return op->code == OP_LOAD || op->code == OP_TLOAD; }
static bool is_access(const Op *op) { return is_load(op) || op->code == OP_STORE || op->code == OP_TSTORE; }

static bool takes(const Op *op, Word hint) {
    if (op_attr(op, AT_BATCH) || op_flag(op, AT_TESTS) || op_flag(op, AT_VOLATILE)) return false;
    if (hint == HINT_EVICT_FIRST || hint == HINT_EVICT_LAST) return true;
    if (op_word(op, AT_MOVER, MOVER_LANES) != MOVER_LANES) return false;
    switch (hint) {
    case HINT_CG:
    case HINT_CS: return true;
    case HINT_CA:
    case HINT_CV: return is_load(op);
    case HINT_WB:
    case HINT_WT: return !is_load(op);
    default: return false;
    }
}

static Word wished(const Op *op) {
    switch (op_word(op, AT_EVICT, WORD_NONE)) {
    case EVICT_FIRST: return HINT_EVICT_FIRST;
    case EVICT_LAST: return HINT_EVICT_LAST;
    default: break;
    }
    switch (op_word(op, AT_CACHE, WORD_NONE)) {
    case CACHE_CA: return HINT_CA;
    case CACHE_CG: return HINT_CG;
    case CACHE_CV: return HINT_CV;
    case CACHE_CS: return HINT_CS;
    case CACHE_WB: return HINT_WB;
    case CACHE_WT: return HINT_WT;
    default: return WORD_NONE;
    }
}

static void plan_op(Op *op, void *user) {
    Schedule *s = user;
    Word hint = is_access(op) ? wished(op) : WORD_NONE;
    if (hint == WORD_NONE || !takes(op, hint)) return;
    op_set(s->k, op, (Attr){.id = AT_HINT, .word = hint});
    op_drop(op, AT_SINGLY); /* these have no form with a hint */
    if (op_word(op, AT_MOVER, MOVER_LANES) == MOVER_LANES) op_drop(op, AT_BOUNDED);
}

void schedule_hint(Schedule *s) { ir_walk(s->k->body, plan_op, s); }

bool schedule_hint_holds(Schedule *s, const Op *op) {
    Word hint = op_word(op, AT_HINT, WORD_NONE);
    return hint == WORD_NONE || (takes(op, hint) && !op_flag(op, AT_SINGLY)) ||
           schedule_fail(s, op,
                         "`hint` is an eviction, or of what goes through the threads' caches an operator for loads "
                         "(ca, cg, cv, cs) or stores (wb, cg, cs, wt); beside `batch`, `tests`, `volatile` and "
                         "`singly` there is none");
}
