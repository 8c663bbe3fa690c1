/* tilelang_hopper.c: roles, barriers and asynchronous operations that a kernel writes down for Hopper.
 *
 *     ready = T.alloc_barrier([128, 128])
 *     for k in range(n):
 *         with T.ws(1):                                       what warpgroup 1 does,
 *             T.barrier_wait(free[k % 2], (k // 2 + 1) % 2)
 *             T.tma_copy(A[..], A_shared[k % 2, :, :], barrier=ready[k % 2])
 *             T.barrier_arrive(ready[k % 2])
 *         with T.ws(0): ..                                    and 0 beside it
 *
 * Roles run in the order of the text, one after the other, and copies and products are done where they stand: if every
 * wait passes in that order, it is one of the orders in which the roles may run, and all of them give the same. The
 * barriers stay in the IR: the interpreter waits at them, and `merge` drops those that it proved. */
#include "front/python/python_flow.h"
#include "front/tilelang/tilelang.h"

#include <string.h>

enum { GROUP = 128, MOST_BARRIERS = 1024 };

typedef struct Barriers {
    Ref ref;
    int64_t count;
    Ref number; /* which one; REF_NONE: there is one, or none was chosen */
} Barriers;
const Own lang_barrier_own = {.of = "barriers", .whole = true};

/* Of which no thread knows that it is one: arrivals are counted in threads. */
static bool is_plain(Lower *l, Range range) {
    if (!lang_state(l)->threads) return true;
    py_error(l, DIAG_TL_PLANNED, range, "a barrier that only some threads reach, in a kernel that names its threads",
             "write roles with T.ws, or T.sync_threads");
    return false;
}

Val lang_lower_alloc_barrier(Lower *l, const Call *c) {
    Val given = lang_plain(c->args[0]), list = given;
    if (!lang_in_kernel(l, c) || !is_plain(l, c->range)) return val_error;
    if (given.kind != VAL_TUPLE && given.kind != VAL_LIST) list = val_tuple(l, &given, 1);
    Barriers bars = {.count = val_count(list)};
    int64_t arrivals = 0;
    for (int i = 0; i < val_count(list) && i < MOST_BARRIERS; i++) {
        Val one = lang_plain(val_items(list)[i]);
        if (one.kind != VAL_INT || one.i < 1 || one.i >= 1 << 20 || (i && one.i != arrivals)) {
            bool differ = one.kind == VAL_INT && i && one.i != arrivals;
            if (val_failed(one)) return val_error;
            return differ ? py_error(l, DIAG_TL_PLANNED, c->ranges[0], "barriers of different counts in one list",
                                     "write a T.alloc_barrier for each count")
                          : py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0],
                                     "how many threads arrive: known numbers from 1 on");
        }
        arrivals = (int64_t)one.i;
    }
    if (bars.count < 1 || bars.count > MOST_BARRIERS)
        return py_error(l, DIAG_TL_ARGUMENTS, c->ranges[0], "T.alloc_barrier makes 1 to 1024 barriers");
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_BAR);
    op_set(l->kernel, op, (Attr){.id = AT_ARRIVALS, .number = arrivals});
    op_set(l->kernel, op, (Attr){.id = AT_BARS, .number = bars.count});
    bars.ref = ir_end(&l->b, op, NULL);
    return lang_own(l, &lang_barrier_own, &bars, sizeof bars);
}

/* ready[k % 2] */
Val lang_barrier_at(Lower *l, Val v, const PyNode *node) {
    Barriers one = *(const Barriers *)v.thing;
    Val at = lang_plain(py_eval(l, node->Subscript.slice));
    if (val_failed(at)) return at;
    if (one.number) return py_error(l, DIAG_TL_INDEX, node->range, "a barrier has one index");
    if (at.kind == VAL_INT && at.i < 0) at.i += one.count;
    if (at.kind == VAL_INT && (at.i < 0 || at.i >= one.count))
        return py_error(l, DIAG_TL_INDEX, node->range,
                        arena_printf(l->arena, "there are %lld barriers, from 0 on", (long long)one.count));
    return lang_convert(l, at, EL_I32, node->range, &one.number) ? lang_own(l, &lang_barrier_own, &one, sizeof one)
                                                                 : val_error;
}

static bool want_barrier(Lower *l, const Call *c, Barriers *out) {
    const Barriers *given = lang_thing(c->args[0], &lang_barrier_own);
    if (!lang_in_kernel(l, c) || val_failed(c->args[0]) || !is_plain(l, c->range)) return false;
    if (!given || (!given->number && given->count > 1)) {
        lang_types(l, c->ranges[0],
                   given ? "there are several barriers; say which one, as in ready[k % 2]"
                         : "a barrier is expected here, of T.alloc_barrier");
        return false;
    }
    *out = *given;
    return true;
}

/* All threads that come here arrive. */
Val lang_lower_barrier_arrive(Lower *l, const Call *c) {
    Barriers bar;
    if (!want_barrier(l, c, &bar)) return val_error;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_BAR_ARRIVE);
    ir_operand(&l->b, op, bar.ref);
    ir_operand(&l->b, op, bar.number);
    op_set(l->kernel, op, (Attr){.id = AT_ARRIVALS, .number = lang_state(l)->arriving});
    ir_end(&l->b, op, NULL);
    return val_none;
}

Val lang_lower_barrier_wait(Lower *l, const Call *c) {
    Barriers bar;
    Ref parity;
    if (!want_barrier(l, c, &bar) || !lang_convert(l, c->args[1], EL_I32, c->ranges[1], &parity)) return val_error;
    l->b.range = c->range;
    Op *op = ir_begin(&l->b, OP_BAR_WAIT);
    ir_operand(&l->b, op, bar.ref);
    ir_operand(&l->b, op, parity);
    ir_operand(&l->b, op, bar.number);
    ir_end(&l->b, op, NULL);
    return val_none;
}

/* with T.ws(0, 1): what these warpgroups do */
bool lang_with_ws(Lower *l, const PyNode *node, const PyNode *call) {
    LangState *s = lang_state(l);
    int64_t before = s->arriving;
    uint32_t groups = call->Call.args->count;
    if (!s->launched || !is_plain(l, call->range)) return true;
    for (uint32_t i = 0; i < groups; i++) {
        Val one = lang_plain(py_eval(l, call->Call.args->at[i]));
        if (val_failed(one)) return true;
        if (one.kind == VAL_INT && one.i >= 0 && (one.i + 1) * GROUP <= s->block_threads) continue;
        py_error(l, DIAG_TL_ARGUMENTS, call->Call.args->at[i]->range,
                 arena_printf(l->arena, "T.ws takes numbers of warpgroups; %lld threads have %lld of them, from 0 on",
                              (long long)s->block_threads, (long long)s->block_threads / GROUP));
        return true;
    }
    if (!groups) {
        py_error(l, DIAG_TL_ARGUMENTS, call->range, "T.ws takes the numbers of the warpgroups that do this");
        return true;
    }
    s->arriving = (int64_t)groups * GROUP;
    py_run_block(l, node->With.body, 0, false);
    s->arriving = before;
    return true;
}

/* T.tma_copy(src, dst, barrier=..): the copy; it lands where it stands. */
Val lang_lower_tma_copy(Lower *l, const Call *c) {
    Val args[8] = {c->args[0], c->args[1], val_none, val_none, c->args[5], val_none, val_none, val_none};
    Range ranges[8] = {c->ranges[0], c->ranges[1], c->range, c->range, c->ranges[5], c->range, c->range, c->range};
    Val barrier = c->args[2];
    if (barrier.kind != VAL_NONE && !val_failed(barrier) && !lang_thing(barrier, &lang_barrier_own))
        return lang_types(l, c->ranges[2], "a barrier is expected here, of T.alloc_barrier");
    return lang_lower_copy(l, &(Call){.builtin = c->builtin, .range = c->range, .args = args, .ranges = ranges});
}
