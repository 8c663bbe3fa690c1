/* SPDX-License-Identifier: Apache-2.0 */
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

Val lang_lower_alloc_barrier(Lower *l, const Call *c) {
    Val given = lang_plain(c->args[0]), list = given;
    if (!lang_in_kernel(l, c)) return val_error;
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
    if (!lang_in_kernel(l, c) || val_failed(c->args[0])) return false;
    if (!given || (!given->number && given->count > 1)) {
        lang_types(l, c->ranges[0],
                   given ? "there are several barriers" FIX "say which one, as in ready[k % 2]"
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
    if (!lang_state(l)->threads) /* else it is counted when all is known */
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

/* In a kernel that names its threads: those for which the condition holds. */
static void run_role(Lower *l, const PyNode *node, Ref condition) {
    size_t names = l->frame->locals.count;
    Op *test = ir_if(&l->b, condition, 0, NULL);
    Builder outside = l->b, other = ir_builder_inside(&l->b, test->regions[1]);
    ir_yield(&other, NULL, 0);
    l->b = ir_builder_inside(&outside, test->regions[0]);
    l->nest++, l->branches++;
    py_run_block(l, node->With.body, 0, false);
    ir_yield(&l->b, NULL, 0);
    l->nest--, l->branches--;
    l->b = outside;
    lang_forget_names(l, names, NULL, 0);
}

/* with T.ws(0, 1): what these warpgroups do */
bool lang_with_ws(Lower *l, const PyNode *node, const PyNode *call) {
    LangState *s = lang_state(l);
    int64_t before = s->arriving;
    uint32_t groups = call->Call.args->count;
    Val mine = val_bool(false), group = s->threads ? lang_linear_thread(l, call->range) : val_none;
    if (!s->launched) {
        py_error(l, DIAG_TL_UNSUPPORTED, call->range, "T.ws outside of T.Kernel", "put it under `with T.Kernel(...)`");
        return true;
    }
    if (s->threads) group = lang_binary(l, PY_OP_FLOORDIV, group, val_int(GROUP), call->range);
    for (uint32_t i = 0; i < groups; i++) {
        Val one = lang_plain(py_eval(l, call->Call.args->at[i]));
        if (val_failed(one)) return true;
        if (one.kind == VAL_INT && one.i >= 0 && (one.i + 1) * GROUP <= s->block_threads) {
            Val here = s->threads ? lang_compare(l, PY_OP_EQ, group, one, call->range) : mine;
            if (mine.kind == VAL_TENSOR && here.kind == VAL_TENSOR)
                here = val_tensor(ir_binary(&l->b, OP_OR, mine.ref, here.ref));
            mine = here;
            continue;
        }
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
    if (mine.kind == VAL_TENSOR)
        run_role(l, node, mine.ref);
    else
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

/* --- copies of threads --- */

const Own lang_pointer_own = {.of = "a pointer to", .whole = true};

/* code 1: T.address_of(element) */
Val lang_lower_access_ptr(Lower *l, const Call *c) {
    static const char *const by_bits[] = {"rw", "r", "w", "rw"}; /* as TVM counts them */
    Pointer out = {.mode = "rw"};
    if (!lang_in_kernel(l, c) || !lang_as_box(l, c, 0, NULL, &out.box)) return val_error;
    bool more = !c->builtin->code;
    Val mode = more ? lang_plain(c->args[1]) : val_none, count = more ? lang_plain(c->args[2]) : val_none,
        offset = more ? lang_plain(c->args[3]) : val_none;
    if (mode.kind == VAL_INT && mode.i >= 0 && mode.i < 4)
        out.mode = by_bits[mode.i];
    else if (more && !lang_word(l, c, 1, "way to use an address", "r, w, rw"))
        return val_error;
    else if (mode.kind == VAL_STR)
        out.mode = mode.text;
    if (count.kind == VAL_INT && count.i > 0 && count.i < INT32_MAX) out.count = (int64_t)count.i;
    if (offset.kind != VAL_NONE && !(offset.kind == VAL_INT && offset.i == 0))
        return py_error(l, DIAG_TL_UNSUPPORTED, c->ranges[3], "an offset of T.access_ptr", "index the element");
    out.element = lang_is_element(&out.box);
    for (int d = 0; d < out.box.of->rank; d++) out.box.shape[d] = 1, out.box.at[d] = NULL;
    return lang_own(l, &lang_pointer_own, &out, sizeof out);
}

/* T.ptx_cp_async(to, from, n): n elements in a row; they are there at once. */
Val lang_lower_cp_async(Lower *l, const Call *c) {
    const Pointer *to = lang_thing(c->args[0], &lang_pointer_own), *from = lang_thing(c->args[1], &lang_pointer_own);
    Val count = lang_plain(c->args[2]);
    if (!lang_in_kernel(l, c) || val_failed(c->args[0]) || val_failed(c->args[1])) return val_error;
    if (!to || !from || count.kind != VAL_INT || count.i < 1 || count.i > 64)
        return py_error(l, DIAG_TL_ARGUMENTS, c->range,
                        "T.ptx_cp_async(T.access_ptr(to, ..), T.access_ptr(from, ..), n): n elements, known here");
    if (c->args[3].kind != VAL_NONE)
        return py_error(l, DIAG_TL_UNSUPPORTED, c->ranges[3], "a condition of T.ptx_cp_async", "put it under an `if`");
    Box boxes[2] = {from->box, to->box};
    for (int i = 0; i < 2; i++) boxes[i].shape[boxes[i].of->rank - 1] = (int64_t)count.i, boxes[i].slice = true;
    return lang_move_own(l, &boxes[0], &boxes[1], c->range) ? val_none : val_error;
}
