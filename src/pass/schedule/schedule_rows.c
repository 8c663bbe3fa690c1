/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_rows.c: rows that the threads of a load role copy in a loop: where they begin is found before it.
 *
 *     role load { %rows = .. ; for %k = .. { .. %a = tload<by=async, along=1, vector=8, rows> %A, [%rows, %kk] .. } }
 *  -> const f16 *a_row[8] = ..          A + rows[i] * stride, and which of them there are
 *     for (..) tw_cp_async(.., a_row[i] + kk, ..)
 *
 * Only the place along the row may follow from the loop. A thread holds an address for each of its copies; what is more
 * than all loads of the loop may hold is found anew in each trip.
 *
 * Where such rows may end within a vector (K is no multiple of it), that is so in one trip. So the trip asks once, for
 * all of its copies (`ends`):
 *
 *     if (kk >= 0 && kk + 64 <= K) for (..) tw_cp_async(..)   else for (..) tw_copy_row(..) */
#include "pass/schedule/schedule.h"

enum { MOST_ROWS = 32 }; /* of a thread, in one loop: a bit each of a word says whether it is there */

static bool is_made_before(const Schedule *s, Ref x, const Op *loop) {
    if (!ref_is_value(x)) return true;
    const Value *v = ir_value(s->k, x);
    for (const Region *region = v->op ? v->op->parent : v->region; region;
         region = region->owner ? region->owner->parent : NULL)
        if (region->owner == loop) return false;
    return true;
}

/* How many of its rows a thread copies, if where they begin can be found before the loop; else 0. */
static int rows_of(const Schedule *s, const Op *load) {
    const Op *loop = load->parent->owner, *role = role_around(load);
    if (load->code != OP_TLOAD || op_word(load, AT_MOVER, MOVER_LANES) != MOVER_ASYNC) return 0;
    if (!loop || loop->code != OP_FOR || !role || role_is_guest(role)) return 0;
    Access a = access_of(load);
    const Type *type = ir_type(s->k, load->results[0]);
    int inner = box_dim(load, ir_type(s->k, load->operands[0])->rank, type->rank, a.along);
    for (int i = 0; i < load->operand_count; i++)
        if (i != 1 + inner && !is_made_before(s, load->operands[i], loop)) return 0;
    return schedule_layout(s->k, load->results[0])->registers / a.vector;
}

/* Of the loads before it in its loop that keep theirs. */
static int rows_before(const Schedule *s, const Op *load) {
    int count = 0;
    for (const Op *op = load->parent->first; op != load; op = op->next)
        if (op_flag(op, AT_ROWS)) count += rows_of(s, op);
    return count;
}

static bool may_keep(const Schedule *s, const Op *load) {
    int count = rows_of(s, load);
    return count && count + rows_before(s, load) <= MOST_ROWS;
}

/* Can a trip tell for all rows of the load whether they end in it: from one number that says where it is in them? */
static bool may_ask_once(const Schedule *s, const Op *load) {
    Access a = access_of(load);
    if (!op_flag(load, AT_ROWS) || a.whole) return false;
    const Type *type = ir_type(s->k, load->results[0]);
    int inner = box_dim(load, ir_type(s->k, load->operands[0])->rank, type->rank, a.along);
    return !ir_type(s->k, op_list(load, 0).at[inner])->rank;
}

static void decide(Op *op, void *user) {
    Schedule *s = user;
    if (!may_keep(s, op)) return;
    op_set(s->k, op, (Attr){.id = AT_ROWS, .number = 1});
    if (may_ask_once(s, op)) op_set(s->k, op, (Attr){.id = AT_ENDS, .number = 1});
}

void schedule_rows(Schedule *s) { ir_walk(s->k->body, decide, s); }

typedef struct Kept {
    const Schedule *s;
    int most;
} Kept;

static void count_kept(Op *op, void *user) {
    Kept *kept = user;
    int count = op_flag(op, AT_ROWS) ? rows_of(kept->s, op) + rows_before(kept->s, op) : 0;
    if (count > kept->most) kept->most = count;
}

int schedule_rows_kept(const Schedule *s) {
    Kept kept = {.s = s};
    ir_walk(s->k->body, count_kept, &kept);
    return kept.most;
}

bool schedule_rows_hold(Schedule *s, const Op *load) {
    if (op_flag(load, AT_ROWS) && !may_keep(s, load))
        return schedule_fail(s, load,
                             "`rows` are of copies of a load role whose rows begin where the loop does not say, and of "
                             "at most 32 a thread in one loop");
    return !op_flag(load, AT_ENDS) || may_ask_once(s, load) ||
           schedule_fail(s, load,
                         "`ends` are of `rows` whose vectors are not `whole`, by a number that says where the trip is "
                         "in them");
}
