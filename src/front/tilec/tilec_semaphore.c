/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_semaphore.c: semaphores that a kernel declares for itself, and the warpgroups that meet at them.
 *
 *     semaphore full[2], empty[2];                   bar<count=.., bars=2>, outside of the workers
 *     if (threadIdx.x == 0) init_semaphore(..)       its number of arrivals
 *     if (warpgroup_groupid() == 0) {                an `if` over the worker's number: roles
 *         wait(&empty[s], phase ^ 1);                bar_wait
 *         tma_expect(&full[s], &k[s]);               one arrival, made when all of its bytes have come
 *         tma_load_async(&k[s], g.k, at(i, 0), &full[s]);
 *     } else { wait(&full[s], phase); .. ; arrive(&empty[s]); }
 *
 * Such a kernel is run by its warpgroups side by side (`spmd`). A copy has landed when it is written here; so the
 * arrival of an expect stands behind its last copy, and bytes that are announced and never come are an error. */
#include "front/tilec/tilec.h"

#include <string.h>

static bool calls(const CNode *node, const char *name) {
    if (!node) return false;
    bool here = node->kind == C_CALL && node->kids[0]->kind == C_IDENT && !strcmp(node->kids[0]->name, name);
    for (uint32_t i = 0; !here && i < node->count; i++) here = calls(node->kids[i], name);
    return here;
}

bool tc_has_semaphores(const CNode *body) { return calls(body, "init_semaphore"); }

bool tc_is_own_semaphore(const Expr *e) { return e->lvalue.place->semaphore < 0; }

/* ---- workers ---- */

static int worker_of(int thread) { return thread / 128; }

/* Which workers a condition holds for, as masks of threads; false: it differs inside of one, or is none of threads. */
bool tc_splits_workers(Tc *tc, Scalar condition, bool *sides[2]) {
    int64_t base = 0;
    if (!tc->by_workers || !condition.lanes || !ir_const_int(tc->kernel, condition.ref, &base)) return false;
    bool whole = true;
    for (int side = 0; side < 2; side++) sides[side] = ARENA_ARRAY(tc->arena, bool, tc->threads);
    for (int t = 0; t < tc->threads; t++) {
        int first = worker_of(t) * 128;
        bool holds = base + condition.lanes[t] != 0;
        whole = whole && tc->active[t] == tc->active[first] && holds == (base + condition.lanes[first] != 0);
        if (tc->active[t]) sides[holds ? 0 : 1][t] = true;
    }
    return whole;
}

int tc_count_workers(const Tc *tc, const bool *mask) {
    int count = 0;
    for (int w = 0; w < tc->threads / 128; w++) count += mask[w * 128];
    return count;
}

/* The worker's number is that of one of these. */
Ref tc_worker_is(Tc *tc, const bool *mask) {
    Ref any = REF_NONE;
    for (int w = 0; w < tc->threads / 128; w++) {
        if (!mask[w * 128]) continue;
        Ref one = ir_compare(&tc->b, CMP_EQ, tc->worker, ir_int(&tc->b, EL_I32, w));
        any = any ? ir_binary(&tc->b, OP_OR, any, one) : one;
    }
    return any ? any : ir_int(&tc->b, EL_I1, 0);
}

/* ---- semaphores ---- */

/* The barrier, and its number among those of an array; false after an error. */
static bool bar_of(Tc *tc, const Expr *e, Ref *bar, Ref *number) {
    const Lvalue *lv = &e->lvalue;
    *bar = lv->place->buffer;
    *number = REF_NONE;
    if (!*bar) {
        TC_ERROR(tc, TC_UNSUPPORTED, e->range, "a semaphore that no init_semaphore(&s, arrivals, 0) has set up",
                 "call it before, by one thread");
        return false;
    }
    if (lv->index_count == 0 && lv->place->type->kind == TC_ARRAY) *number = ir_int(&tc->b, EL_I32, 0);
    for (int t = 0; tc->initialiser && t < tc->threads; t++)
        if (tc->active[t] && !tc->initialiser[t]) {
            TC_ERROR(tc, TC_UNINITIALISED, e->range, lv->place->name);
            return false;
        }
    for (int d = 0; d < lv->index_count; d++) {
        Ref index = tc_uniform(tc, lv->index[d], e->range);
        if (!index) return false;
        *number = index;
    }
    return true;
}

Expr bi_init_semaphore(Tc *tc, const Call *call) {
    Object *place = call->args[0].lvalue.place;
    int64_t arrivals = 0, more = 0;
    if (!tc->by_workers || !tc_is_own_semaphore(&call->args[0]))
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "init_semaphore here",
                       "templates have theirs; a kernel of its own needs two warpgroups or more");
    bool known = tc_is_constant(tc, call->args[1].scalar, &arrivals) &&
                 (call->count < 3 || tc_is_constant(tc, call->args[2].scalar, &more));
    bool few = arrivals >= 0 && arrivals <= 1024 && more >= 0 && more <= 1024 - arrivals && arrivals + more >= 1;
    if (!known)
        TC_ERROR(tc, TC_NOT_CONSTANT, call->range, "the number of arrivals, 1 to 1024,");
    else if (!few)
        TC_ERROR(tc, TC_ARRIVALS_RANGE, call->range, (long long)arrivals, (long long)more);
    if (!known || !few) arrivals = 1, more = 0; /* set up all the same: waits for it are no mistakes */
    if (place->buffer && place->field != (int)(arrivals + more))
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "semaphores of one array with different arrivals",
                       "make them two arrays");
    tc->initialiser = tc->active;
    if (place->buffer) return tc_nothing(call);
    Op *bar = ir_begin(tc->outside, OP_BAR);
    op_set(tc->kernel, bar, (Attr){.id = AT_ARRIVALS, .number = arrivals + more});
    if (place->type->kind == TC_ARRAY) op_set(tc->kernel, bar, (Attr){.id = AT_BARS, .number = place->type->count});
    place->buffer = ir_end(tc->outside, bar, NULL);
    place->field = (int)(arrivals + more);
    ir_name(tc->kernel, place->buffer, place->name);
    return tc_nothing(call);
}

static void emit_arrivals(Tc *tc, Ref bar, Ref number, int64_t count) {
    Op *op = ir_begin(&tc->b, OP_BAR_ARRIVE);
    ir_operand(&tc->b, op, bar);
    ir_operand(&tc->b, op, number);
    op_set(tc->kernel, op, (Attr){.id = AT_ARRIVALS, .number = count});
    ir_end(&tc->b, op, NULL);
}

/* Threads of each worker that get here; 0 after an error: they are not as many in each. */
static int64_t threads_a_worker(Tc *tc, const Call *call) {
    int64_t each = 0;
    for (int w = 0; w < tc->threads / 128; w++) {
        int64_t here = 0;
        for (int t = 0; t < 128; t++) here += tc->active[w * 128 + t];
        if (!tc->role[w * 128]) continue;
        if (each && here != each) {
            TC_ERROR(tc, TC_DIVERGED, call->range, call->name);
            return 0;
        }
        each = here;
    }
    return each;
}

Expr tc_arrive_own(Tc *tc, const Call *call) {
    int64_t each = 1, threads = threads_a_worker(tc, call);
    Ref bar, number;
    if (call->count > 1 && !tc_is_constant(tc, call->args[1].scalar, &each))
        return TC_FAIL(tc, TC_NOT_CONSTANT, call->range, "the number of arrivals");
    if (!threads || !bar_of(tc, &call->args[0], &bar, &number)) return tc_nothing(call);
    emit_arrivals(tc, bar, number, each * threads);
    tc_note_own(tc, true, call->args[0].lvalue.place, number, call->range);
    return tc_nothing(call);
}

Expr tc_expect_own(Tc *tc, const Call *call, int64_t bytes) {
    Object *place = call->args[0].lvalue.place;
    Ref bar, number;
    if (!bar_of(tc, &call->args[0], &bar, &number)) return tc_nothing(call);
    if (tc->expected.place)
        return TC_FAIL(tc, TC_BYTES, call->range, tc->expected.place->name, (long long)tc->expected.bytes, 0LL);
    if (bytes == 0) emit_arrivals(tc, bar, number, 1);
    else tc->expected = (TcExpected){place, number, bytes, call->range, tc->b.region};
    return tc_nothing(call);
}

/* Is it the same number, computed twice? */
static bool same_number(const Kernel *k, Ref a, Ref b) {
    if (a == b) return true;
    const Op *x = ref_is_value(a) ? ir_value(k, a)->op : NULL, *y = ref_is_value(b) ? ir_value(k, b)->op : NULL;
    if (!x || !y || x->code != y->code || x->operand_count != y->operand_count || x->attr_count != y->attr_count ||
        !op_has(x->code, TRAIT_ELEMENTWISE) || x->attr_count)
        return false;
    for (int i = 0; i < x->operand_count; i++)
        if (!same_number(k, x->operands[i], y->operands[i])) return false;
    return true;
}

void tc_loaded_own(Tc *tc, const Call *call, const Expr *semaphore, int64_t bytes) {
    TcExpected *e = &tc->expected;
    Ref bar, number;
    if (!bar_of(tc, semaphore, &bar, &number)) return;
    tc_note_own_load(tc, semaphore->lvalue.place, number, call->range);
    bool same = e->place == semaphore->lvalue.place && e->region == tc->b.region && e->bytes >= bytes &&
                same_number(tc->kernel, e->number, number);
    if (!same) {
        if (e->place == semaphore->lvalue.place && e->bytes >= bytes)
            TC_ERROR(tc, TC_OTHER_SEMAPHORE, call->range, e->place->name);
        else
            TC_ERROR(tc, TC_BYTES, call->range, semaphore->lvalue.place->name,
                     (long long)(e->place == semaphore->lvalue.place ? e->bytes : 0), (long long)bytes);
        return;
    }
    e->bytes -= bytes;
    if (e->bytes) return;
    emit_arrivals(tc, bar, e->number, 1);
    e->place = NULL;
}

void tc_end_expected(Tc *tc) {
    if (tc->expected.place && !tc->failed)
        TC_ERROR(tc, TC_BYTES, tc->expected.range, tc->expected.place->name, (long long)tc->expected.bytes, 0LL);
    tc->expected.place = NULL;
}

Expr bi_wait_semaphore(Tc *tc, const Call *call) {
    Ref bar, number;
    if (!tc_is_own_semaphore(&call->args[0]))
        return TC_FAIL(tc, TC_UNSUPPORTED, call->range, "waits for a template's semaphores",
                       "leave it out: a callback runs when its block is there");
    if (!threads_a_worker(tc, call)) return tc_nothing(call);
    const TcType *i32 = tc_scalar_type(EL_I32);
    Ref phase = tc_uniform(tc, tc_convert(tc, call->args[1].scalar, i32, call->range), call->range);
    if (!phase || !bar_of(tc, &call->args[0], &bar, &number)) return tc_nothing(call);
    phase = ir_binary(&tc->b, OP_AND, phase, ir_int(&tc->b, EL_I32, 1));
    Op *op = ir_begin(&tc->b, OP_BAR_WAIT);
    ir_operand(&tc->b, op, bar);
    ir_operand(&tc->b, op, phase);
    ir_operand(&tc->b, op, number);
    ir_end(&tc->b, op, NULL);
    tc_note_own(tc, false, call->args[0].lvalue.place, number, call->range);
    return tc_nothing(call);
}
