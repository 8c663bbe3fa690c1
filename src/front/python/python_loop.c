/* SPDX-License-Identifier: Apache-2.0 */
/* python_loop.c: loops.
 *
 * Loops over constants (tl.static_range, tuples) are unrolled. A run-time loop carries every variable that its body
 * stores and that exists before it; such a variable keeps its exact type. What is first assigned inside a loop does not
 * exist after it.
 *
 *     for k in range(n):     %acc_1 = for %k = 0, %n, 1 (%acc_2 = %acc) { .. yield %acc_3 }
 *         acc += ..
 *
 * `continue` leaves out the rest of the body, which the flag `skip` says. `break` and `return` set the flag `stop`,
 * which the loop carries: then a `for` becomes a `while` over its counter. The value that a `return` inside a loop
 * gives has no type before the loop has been seen, so the body is run once on the side. */
#include "front/python/python_flow.h"

#include <string.h>

/* --- what a loop stores, and how it is left --- */

typedef struct Stored {
    Lower *l;
    Map names;
} Stored;

static void find_stored(void *user, PyNode *node) {
    Stored *stored = user;
    if (node->kind == PY_Name && node->Name.ctx == PY_STORE)
        map_set(&stored->names, stored->l->arena, node->Name.id, NULL);
    if (node->kind != PY_FunctionDef && node->kind != PY_Lambda) py_each_child(node, find_stored, user);
}

void py_poison_stored(Lower *l, const PyNode *node) {
    Stored stored = {l, {0}};
    py_each_child(node, find_stored, &stored);
    for (size_t i = 0; i < stored.names.count; i++) py_set_local(l, stored.names.entries[i].key, val_error);
}

typedef struct Jumps {
    bool breaks;  /* out of this loop */
    bool returns; /* also from a loop inside */
    int inner;    /* loops around the node being looked at */
} Jumps;

static void find_jumps(void *user, PyNode *node) {
    Jumps *jumps = user;
    bool loop = node->kind == PY_For || node->kind == PY_While;
    if (node->kind == PY_Break && !jumps->inner) jumps->breaks = true;
    if (node->kind == PY_Return) jumps->returns = true;
    jumps->inner += loop;
    if (node->kind != PY_FunctionDef && node->kind != PY_Lambda) py_each_child(node, find_jumps, user);
    jumps->inner -= loop;
}

/* --- carried variables --- */

/* Stored in the loop, bound before it, with something to carry. */
typedef struct Carried {
    VEC(const char *) names;
    VEC(Val) before;
    Refs refs; /* all leaves, in order */
} Carried;

static void carry(Lower *l, Carried *carried, const char *name) {
    Val v = py_local(l->frame, name)->val;
    *VEC_PUSH(&carried->names, l->arena) = name;
    *VEC_PUSH(&carried->before, l->arena) = v;
    py_leaves(l, v, &carried->refs);
}

static Carried find_carried(Lower *l, const PyNode *loop, const char *variable) {
    Stored stored = {l, {0}};
    py_each_child(loop, find_stored, &stored);
    Carried carried = {0};
    for (size_t i = 0; l->domain->carries && i < stored.names.count; i++) {
        const char *name = stored.names.entries[i].key;
        Local *local = py_local(l->frame, name);
        if (!local || local->val.kind == VAL_UNBOUND || (variable && strcmp(name, variable) == 0)) continue;
        /* An argument that happens to be constant starts a run-time variable. */
        if (val_is_number(local->val) && !l->domain->stays_constant(l, name))
            py_set_local(l, local->name, l->domain->to_value(l, local->val, loop->range));
        carry(l, &carried, local->name);
    }
    return carried;
}

static void bind_carried(Lower *l, const Carried *carried, const Ref *refs) {
    for (size_t i = 0; i < carried->names.count; i++)
        py_set_local(l, carried->names.at[i], py_with_leaves(l, carried->before.at[i], &refs));
}

/* What the body left in the carried variables; false after a change of type. */
static bool collect_carried(Lower *l, const Carried *carried, Range range, Refs *refs) {
    bool good = true;
    for (size_t i = 0; i < carried->names.count; i++) {
        const char *name = carried->names.at[i];
        Val before = carried->before.at[i], after = py_local(l->frame, name)->val;
        if (before.kind == VAL_TENSOR && val_is_number(after))
            after = py_runtime(l, after, range); /* a flag, or the variable of a loop that was unrolled */
        after = l->domain->alike(l, after, before, true, range);
        if (val_failed(before) || val_failed(after)) {
            good = false;
        } else if (after.kind == VAL_UNBOUND) {
            py_error(l, DIAG_EVAL_UNBOUND, range, name, after.text);
            good = false;
        } else if (!py_same_form(l, before, after)) {
            const DomainWords *words = &l->domain->words;
            bool constant = val_is_const(before);
            py_error(l, constant ? DIAG_EVAL_LOOP_CONSTANT : DIAG_EVAL_LOOP_TYPE, range, name, val_describe(l, before),
                     val_describe(l, after), constant ? words->change : words->cast);
            good = false;
        } else {
            py_leaves(l, after, refs);
        }
    }
    return good;
}

/* --- around every loop --- */

static const char loop_only[] = "it is first assigned inside a loop" FIX "give it a value before the loop";

static void enter_loop(Lower *l) {
    int depth = ++l->frame->loops;
    py_set_flag(l, FLAG_STOP, depth, val_bool(false));
    py_set_flag(l, FLAG_SKIP, depth, val_bool(false));
}

/* A return inside the loop is one of the loop around it, too. */
static void leave_loop(Lower *l) {
    int depth = l->frame->loops--;
    py_set_flag(l, FLAG_STOP, depth, val_bool(false));
    py_set_flag(l, FLAG_SKIP, depth, val_bool(false));
    Val returned = py_flag(l, FLAG_SKIP, 0);
    if (depth == 1 || (returned.kind == VAL_BOOL && !returned.i)) return;
    py_set_flag(l, FLAG_SKIP, depth - 1, returned);
    py_set_flag(l, FLAG_STOP, depth - 1, returned);
}

static void run_body(Lower *l, const PyList *body) {
    py_set_flag(l, FLAG_SKIP, l->frame->loops, val_bool(false));
    py_run_block(l, body, 0, false);
}

/* Behind a run-time loop: what was first assigned in it is gone, again if an earlier loop had such a name, too. */
static void unbind_new(Lower *l, const Locals *before, const char *variable) {
    for (size_t i = 0; i < l->frame->locals.count; i++) {
        Local *local = &l->frame->locals.at[i];
        if (local->name[0] == '\1') continue;
        if (i >= before->count || before->at[i].val.kind == VAL_UNBOUND ||
            (variable && strcmp(local->name, variable) == 0))
            local->val = (Val){.kind = VAL_UNBOUND, .text = loop_only};
    }
}

/* --- unrolled loops --- */

/* One iteration; false when no further one can run. */
static bool run_unrolled(Lower *l, const PyNode *node, Val item) {
    Val stop = py_flag(l, FLAG_STOP, l->frame->loops);
    if (!py_step(l, node->range) || val_failed(stop)) return false;
    if (stop.kind != VAL_TENSOR) {
        if (stop.i) return false;
        py_assign(l, node->For.target, item);
        run_body(l, node->For.body);
        return true;
    }
    Branches br;
    py_branch_begin(l, &br, stop.ref);
    py_branch_enter(l, &br, 0);
    py_branch_leave(l, &br, 0);
    py_branch_enter(l, &br, 1);
    py_set_flag(l, FLAG_STOP, l->frame->loops, val_bool(false));
    py_assign(l, node->For.target, item);
    run_body(l, node->For.body);
    py_branch_leave(l, &br, 1);
    Local *before = py_local(&(Frame){.locals = br.after[0]}, py_flag_name(l, FLAG_STOP, l->frame->loops));
    before->val = val_bool(true);
    py_branch_merge(l, &br, false, node->range);
    return true;
}

static void run_static_for(Lower *l, const PyNode *node, const Range3 *range) {
    PyInt start = range->start.i, stop = range->stop.i, step = range->step.i;
    enter_loop(l);
    for (PyInt i = start; step > 0 ? i < stop : i > stop; i += step)
        if (!run_unrolled(l, node, val_int(i))) break;
    leave_loop(l);
}

static void run_tuple_for(Lower *l, const PyNode *node, Val tuple) {
    enter_loop(l);
    for (int i = 0; i < tuple.count; i++)
        if (!run_unrolled(l, node, tuple.items[i])) break;
    leave_loop(l);
}

/* --- run-time loops --- */

/* A counted loop; a while loop has only a test. */
typedef struct Counted {
    const char *variable;
    Elem elem;     /* of the variable */
    bool backward; /* the variable is (lo + hi) - counter */
    Ref lo, hi, step;
    bool staged;
    int stages, unroll;
} Counted;

/* The form of what a return in the body gives: the body is run on the side, in silence. */
static Val foresee_result(Lower *l, const PyNode *node, const Counted *counted) {
    Lower saved = *l;
    Frame frame = *l->frame;
    Diag silent;
    Branches scratch;
    diag_init(&silent, l->arena, l->unit->sources);
    l->diag = &silent;
    py_branch_begin(l, &scratch, ir_int(&l->b, EL_I1, 0)); /* an op that is never put in */
    py_branch_enter(l, &scratch, 0);
    if (counted) py_set_local(l, counted->variable, val_tensor(ir_cast(&l->b, counted->lo, counted->elem)));
    run_body(l, counted ? node->For.body : node->While.body);
    const Local *local = py_local(l->frame, py_flag_name(l, FLAG_RESULT, 0));
    Val result = local ? local->val : (Val){.kind = VAL_UNBOUND};
    Frame *at = l->frame;
    int64_t steps = l->steps;
    *l = saved;
    *at = frame;
    l->steps = steps;
    return result;
}

/* The flags that the loop carries, as run-time values. */
static bool prepare_flags(Lower *l, const PyNode *node, const Counted *counted, Carried *carried) {
    Jumps jumps = {0};
    const PyList *body = counted ? node->For.body : node->While.body;
    for (uint32_t i = 0; i < body->count; i++) find_jumps(&jumps, body->at[i]);
    if (jumps.returns && !py_local(l->frame, py_flag_name(l, FLAG_RESULT, 0))) {
        Val like = foresee_result(l, node, counted);
        jumps.returns = like.kind != VAL_UNBOUND; /* else none of them is live */
        if (jumps.returns && !val_failed(like)) py_set_flag(l, FLAG_RESULT, 0, py_stand_in(l, like));
    }
    if (!jumps.breaks && !jumps.returns) return false;
    Val no = val_tensor(ir_int(&l->b, EL_I1, 0));
    py_set_flag(l, FLAG_STOP, l->frame->loops, no);
    carry(l, carried, py_flag_name(l, FLAG_STOP, l->frame->loops));
    if (jumps.returns) {
        py_set_flag(l, FLAG_SKIP, 0, no);
        carry(l, carried, py_flag_name(l, FLAG_SKIP, 0));
        if (py_local(l->frame, py_flag_name(l, FLAG_RESULT, 0))) carry(l, carried, py_flag_name(l, FLAG_RESULT, 0));
    }
    return true;
}

static void set_variable(Lower *l, const Counted *c, Ref counter) {
    if (c->backward) /* counts up */
        counter = ir_binary(&l->b, OP_SUB, ir_binary(&l->b, OP_ADD, c->lo, c->hi), counter);
    py_set_local(l, c->variable, val_tensor(ir_cast(&l->b, counter, c->elem)));
}

/* The body, with what the domain says of its variable. */
static void run_counted(Lower *l, const PyNode *node, const Counted *c) {
    const Domain *domain = l->domain;
    Ref variable = py_local(l->frame, c->variable)->val.ref, bounds[3] = {c->lo, c->hi, c->step};
    int begun = domain->loop_begin && !c->backward ? domain->loop_begin(l, variable, bounds) : 0;
    run_body(l, node->For.body);
    if (domain->loop_end && !c->backward) domain->loop_end(l, begun);
}

static void run_for_op(Lower *l, const PyNode *node, const Counted *c, const Carried *carried) {
    Op *op = ir_for(&l->b, c->lo, c->hi, c->step, carried->refs.at, (int)carried->refs.count, c->variable);
    if (c->stages || c->staged) op_set(l->kernel, op, (Attr){.id = AT_STAGES, .number = c->stages});
    if (c->unroll) op_set(l->kernel, op, (Attr){.id = AT_UNROLL, .number = c->unroll});
    Builder outer = l->b;
    l->b = ir_builder_inside(&outer, op->regions[0]);
    bind_carried(l, carried, op->regions[0]->args + 1);
    set_variable(l, c, op->regions[0]->args[0]);
    run_counted(l, node, c);
    Refs yields = {0};
    if (collect_carried(l, carried, node->range, &yields)) ir_yield(&l->b, yields.at, (int)yields.count);
    l->b = outer;
    bind_carried(l, carried, op->results);
}

/* Does another iteration run? With a flag, only if it is not set, and then the test counts. */
static Val test_again(Lower *l, const PyNode *test, const Counted *c, const char *counter, bool flagged) {
    Val stop = py_flag(l, FLAG_STOP, l->frame->loops);
    Val not_stopped = flagged ? l->domain->unary(l, PY_OP_NOT, stop, l->b.range) : val_bool(true);
    if (c) {
        Ref now = py_local(l->frame, counter)->val.ref;
        Val more = val_tensor(ir_compare(&l->b, CMP_LT, now, c->hi));
        return flagged ? l->domain->both(l, more, not_stopped, l->b.range) : more;
    }
    bool always = test->kind == PY_Constant && test->Constant.what == PY_TRUE;
    if (!flagged || always) return always ? not_stopped : l->domain->truth(l, py_eval(l, test), test->range);
    const char *answer = "\1test";
    Branches br;
    py_branch_begin(l, &br, stop.ref);
    py_branch_enter(l, &br, 0);
    py_set_local(l, answer, val_bool(false));
    py_branch_leave(l, &br, 0);
    py_branch_enter(l, &br, 1);
    py_set_local(l, answer, l->domain->truth(l, py_eval(l, test), test->range));
    py_branch_leave(l, &br, 1);
    py_branch_merge(l, &br, false, test->range);
    Val v = py_local(l->frame, answer)->val;
    py_set_local(l, answer, (Val){.kind = VAL_UNBOUND});
    return v;
}

static void run_while_op(Lower *l, const PyNode *node, const Counted *c, Carried *carried, bool flagged) {
    const PyNode *test = c ? NULL : node->While.test;
    const char *counter = arena_printf(l->arena, "\1counter %d", l->frame->loops);
    if (c) {
        py_set_local(l, counter, val_tensor(c->lo));
        carry(l, carried, counter);
    }
    Op *op = ir_begin(&l->b, OP_WHILE);
    for (size_t i = 0; i < carried->refs.count; i++) ir_operand(&l->b, op, carried->refs.at[i]);
    Builder outer = l->b;
    Region *regions[2];
    for (int r = 0; r < 2; r++) {
        regions[r] = ir_region(&l->b, op);
        for (size_t i = 0; i < carried->refs.count; i++)
            ir_argument(l->kernel, regions[r], val_ref_type(l, carried->refs.at[i]), NULL);
    }
    l->b = ir_builder_inside(&outer, regions[0]);
    bind_carried(l, carried, regions[0]->args);
    Val again = test_again(l, test, c, counter, flagged);
    if (again.kind == VAL_BOOL && again.i) again = py_error(l, DIAG_EVAL_ENDLESS, test ? test->range : node->range);
    Val condition = py_runtime(l, again, node->range);
    Refs tested = {0};
    *VEC_PUSH(&tested, l->arena) = condition.kind == VAL_TENSOR ? condition.ref : REF_NONE;
    bool good = collect_carried(l, carried, node->range, &tested) && condition.kind == VAL_TENSOR;
    if (good) {
        Op *end = ir_begin(&l->b, OP_TEST);
        for (size_t i = 0; i < tested.count; i++) ir_operand(&l->b, end, tested.at[i]);
        ir_end(&l->b, end, NULL);
    }
    l->b = ir_builder_inside(&outer, regions[1]);
    bind_carried(l, carried, regions[1]->args);
    Ref now = c ? py_local(l->frame, counter)->val.ref : REF_NONE;
    if (c) set_variable(l, c, now);
    if (c)
        run_counted(l, node, c);
    else
        run_body(l, node->While.body);
    if (c) py_set_local(l, counter, val_tensor(ir_binary(&l->b, OP_ADD, now, c->step)));
    Refs yields = {0};
    good = collect_carried(l, carried, node->range, &yields) && good;
    if (good) ir_yield(&l->b, yields.at, (int)yields.count);
    l->b = outer;
    if (good) {
        ir_end(&l->b, op, NULL);
        bind_carried(l, carried, op->results);
    }
    if (c) py_set_local(l, counter, (Val){.kind = VAL_UNBOUND});
}

static void run_loop(Lower *l, const PyNode *node, Counted *c) {
    enter_loop(l);
    Carried carried = find_carried(l, node, c ? c->variable : NULL);
    bool flagged = prepare_flags(l, node, c, &carried);
    Locals before = {0};
    l->nest++;
    for (size_t i = 0; i < l->frame->locals.count; i++) *VEC_PUSH(&before, l->arena) = l->frame->locals.at[i];
    if (c && !flagged) {
        run_for_op(l, node, c, &carried);
    } else {
        if (c && elem_info[c->elem].bits < 64) { /* a counter that cannot wrap */
            c->lo = ir_cast(&l->b, c->lo, EL_I64);
            c->hi = ir_cast(&l->b, c->hi, EL_I64);
            c->step = ir_cast(&l->b, c->step, EL_I64);
        }
        run_while_op(l, node, c, &carried, flagged);
    }
    l->nest--;
    unbind_new(l, &before, c ? c->variable : NULL);
    leave_loop(l);
}

void py_run_for(Lower *l, const PyNode *node) {
    if (node->For.orelse->count) py_unsupported(l, node->range, "`else` of a loop");
    const PyNode *iter = node->For.iter;
    Val over = py_eval(l, iter);
    bool host = py_on_host(l) && (over.kind == VAL_LIST || over.kind == VAL_DICT || over.kind == VAL_STR);
    if (host || (!l->kernel && over.kind == VAL_RANGE)) over = py_iterable(l, over, iter->range);
    if (over.kind == VAL_TUPLE) {
        run_tuple_for(l, node, over);
        return;
    }
    if (l->kernel && l->domain->loop && l->domain->loop(l, node, over)) return;
    bool good = over.kind == VAL_RANGE && node->For.target->kind == PY_Name;
    if (over.kind != VAL_RANGE && !val_failed(over))
        py_error(l, DIAG_EVAL_LOOP_OVER, iter->range, l->domain->words.loops, val_describe(l, over));
    if (node->For.target->kind != PY_Name && !val_failed(over))
        py_unsupported(l, node->For.target->range, "a loop variable that is no plain name");
    if (good && over.range->is_static) {
        run_static_for(l, node, over.range);
        return;
    }
    Ref bounds[3];
    Range3 forward = good ? *over.range : (Range3){0};
    bool backward = forward.step.kind == VAL_INT && forward.step.i < 0;
    if (backward) {
        forward.start = over.range->stop;
        forward.stop = over.range->start;
        forward.step = val_int(-over.range->step.i);
    }
    if (!good || !l->domain->loop_bounds(l, &forward, iter->range, bounds)) {
        py_poison_stored(l, node);
        return;
    }
    run_loop(l, node,
             &(Counted){.variable = node->For.target->Name.id,
                        .elem = val_ref_type(l, bounds[0])->elem,
                        .backward = backward,
                        .lo = bounds[0],
                        .hi = bounds[1],
                        .step = bounds[2],
                        .staged = over.range->staged,
                        .stages = over.range->stages,
                        .unroll = over.range->unroll});
}

/* Plain Python: the test is a constant, time after time. */
static void run_host_while(Lower *l, const PyNode *node) {
    const PyNode *test = node->While.test;
    enter_loop(l);
    while (py_step(l, node->range)) {
        Val truth = l->domain->truth(l, py_eval(l, test), test->range);
        if (truth.kind != VAL_BOOL || !truth.i) break;
        run_body(l, node->While.body);
        Val stop = py_flag(l, FLAG_STOP, l->frame->loops);
        if (stop.kind != VAL_BOOL || stop.i) break;
    }
    leave_loop(l);
}

void py_run_while(Lower *l, const PyNode *node) {
    if (node->While.orelse->count) py_unsupported(l, node->range, "`else` of a loop");
    if (l->kernel)
        run_loop(l, node, NULL);
    else
        run_host_while(l, node);
}
