/* triton_stmt.c: runs the statements of a Triton kernel: assignment, control flow, calls in place.
 *
 * Python's variables become SSA by running the text once with a table of locals. A run-time `if`
 * runs both branches on copies of the table and merges what differs as results of the op. A loop
 * carries every variable that its body stores and that exists before it; Triton's rule holds that
 * such a variable keeps its exact type. What is first assigned inside a loop or in one branch does
 * not exist after it.
 *
 * Early return: `if c: return` followed by more is `if c {} else { more }`. So a block is run
 * together with what follows it (Rest), and a branch that may return takes the rest along. */
#include "front/triton.h"

#include <string.h>

/* The statements behind the block being run. */
typedef struct Rest {
    const PyList *list;
    uint32_t at;
    const struct Rest *next;
} Rest;

/* How a block ended: fell off its end, or returned a value. */
typedef struct Flow {
    bool returned;
    Val value;
} Flow;

static Flow run_block(Lower *l, const PyList *list, uint32_t at, const Rest *rest);

/* --- locals --- */

static Local *find_local(Frame *frame, const char *name) {
    for (size_t i = 0; i < frame->locals.count; i++)
        if (strcmp(frame->locals.at[i].name, name) == 0) return &frame->locals.at[i];
    return NULL;
}

static void set_local(Lower *l, const char *name, Val value) {
    Local *local = find_local(l->frame, name);
    if (!local) {
        local = VEC_PUSH(&l->frame->locals, l->arena);
        local->name = name;
    }
    local->val = value;
    if (value.kind == VAL_TENSOR && ref_is_value(value.ref) &&
        !ir_value(l->kernel, value.ref)->name)
        ir_name(l->kernel, value.ref, name);
}

static Locals copy_locals(Lower *l) {
    Locals copy = l->frame->locals;
    copy.at = arena_copy(l->arena, copy.at, copy.count * sizeof *copy.at);
    copy.capacity = copy.count;
    return copy;
}

/* The leaves of a value that live at run time. */
static void add_leaves(Lower *l, Val v, Refs *refs) {
    if (v.kind == VAL_TENSOR) *VEC_PUSH(refs, l->arena) = v.ref;
    for (int i = 0; tri_val_has_items(v) && i < v.count; i++) add_leaves(l, v.items[i], refs);
}

/* The same value with other leaves, taken in order. */
static Val with_leaves(Lower *l, Val v, const Ref **next) {
    if (v.kind == VAL_TENSOR) return tri_val_tensor(*(*next)++);
    if (!tri_val_has_items(v) || tri_val_is_const(v)) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, v.count);
    for (int i = 0; i < v.count; i++) items[i] = with_leaves(l, v.items[i], next);
    return (Val){.kind = v.kind, .items = items, .count = v.count};
}

/* Same structure, same constants, and leaves of the same types? */
static bool same_form(Lower *l, Val a, Val b) {
    if (a.kind == VAL_TENSOR && b.kind == VAL_TENSOR)
        return tri_val_type(l, a) == tri_val_type(l, b);
    if (tri_val_has_items(a) && a.kind == b.kind && a.count == b.count) {
        for (int i = 0; i < a.count; i++)
            if (!same_form(l, a.items[i], b.items[i])) return false;
        return true;
    }
    return tri_val_same(a, b);
}

/* A number that lives on as a run-time value: what a plain assignment and a return make of it. */
static Val decay(Lower *l, Val v, Range range) {
    if (tri_val_is_number(v)) return tri_to_tensor(l, v, range);
    if (v.kind != VAL_TUPLE) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, v.count);
    for (int i = 0; i < v.count; i++) items[i] = decay(l, v.items[i], range);
    return (Val){.kind = VAL_TUPLE, .items = items, .count = v.count};
}

void tri_assign(Lower *l, const PyNode *target, Val value) {
    if (target->kind == PY_Name) {
        if (l->frame) set_local(l, target->Name.id, value);
        return;
    }
    if (target->kind != PY_Tuple && target->kind != PY_List) {
        const char *what = target->kind == PY_Subscript
                               ? "assignment to an element; use tl.store or tl.where"
                           : target->kind == PY_Attribute ? "assignment to an attribute"
                                                          : "this assignment target";
        tri_error(l, DIAG_TRI_UNSUPPORTED, target->range, what);
        return;
    }
    const PyList *elts = target->Tuple.elts;
    bool fits = value.kind == VAL_TUPLE && value.count == (int)elts->count;
    if (!fits && !tri_val_failed(value))
        tri_error(l, DIAG_TRI_UNPACK, target->range, (int)elts->count, tri_val_describe(l, value));
    for (uint32_t i = 0; i < elts->count; i++) {
        if (elts->at[i]->kind == PY_Starred) {
            tri_error(l, DIAG_TRI_UNSUPPORTED, elts->at[i]->range, "a starred target");
            return;
        }
        tri_assign(l, elts->at[i], fits ? value.items[i] : val_error);
    }
}

/* --- what a loop stores --- */

typedef struct Stored {
    Lower *l;
    Map names;
} Stored;

static void find_stored(void *user, PyNode *node) {
    Stored *stored = user;
    if (node->kind == PY_Name && node->Name.ctx == PY_STORE)
        map_set(&stored->names, stored->l->arena, node->Name.id, NULL);
    if (node->kind != PY_FunctionDef && node->kind != PY_Lambda)
        py_each_child(node, find_stored, user);
}

static void find_returns(void *user, PyNode *node) {
    bool *found = user;
    if (node->kind == PY_Return) *found = true;
    if (node->kind != PY_FunctionDef) py_each_child(node, find_returns, user);
}

static bool contains_return(const PyNode *node) {
    bool found = false;
    py_each_child(node, find_returns, &found);
    return found;
}

/* After a mistake in a header: what its blocks would have assigned is unknown, and no second
 * mistake. */
static void poison_stored(Lower *l, const PyNode *node) {
    Stored stored = {l, {0}};
    py_each_child(node, find_stored, &stored);
    for (size_t i = 0; i < stored.names.count; i++)
        set_local(l, stored.names.entries[i].key, val_error);
}

/* The variables that a loop carries: stored in it, bound before it, with something to carry. */
typedef struct Carried {
    VEC(const char *) names;
    VEC(Val) before;
    Refs refs; /* all leaves, in order */
} Carried;

static Carried find_carried(Lower *l, const PyNode *loop, const char *variable) {
    Stored stored = {l, {0}};
    py_each_child(loop, find_stored, &stored);
    Carried carried = {0};
    for (size_t i = 0; i < stored.names.count; i++) {
        const char *name = stored.names.entries[i].key;
        Local *local = find_local(l->frame, name);
        if (!local || local->val.kind == VAL_UNBOUND || (variable && strcmp(name, variable) == 0))
            continue;
        *VEC_PUSH(&carried.names, l->arena) = name;
        *VEC_PUSH(&carried.before, l->arena) = local->val;
        add_leaves(l, local->val, &carried.refs);
    }
    return carried;
}

static void bind_carried(Lower *l, const Carried *carried, const Ref *refs) {
    for (size_t i = 0; i < carried->names.count; i++)
        set_local(l, carried->names.at[i], with_leaves(l, carried->before.at[i], &refs));
}

/* What the body left in the carried variables; false after a change of type. */
static bool collect_carried(Lower *l, const Carried *carried, Range range, Refs *refs) {
    bool good = true;
    for (size_t i = 0; i < carried->names.count; i++) {
        Val before = carried->before.at[i], after = find_local(l->frame, carried->names.at[i])->val;
        if (tri_val_failed(before) || tri_val_failed(after)) {
            good = false;
        } else if (!same_form(l, before, after)) {
            tri_error(l, tri_val_is_const(before) ? DIAG_TRI_LOOP_CONSTANT : DIAG_TRI_LOOP_TYPE,
                      range, carried->names.at[i], tri_val_describe(l, before),
                      tri_val_describe(l, after));
            good = false;
        } else {
            add_leaves(l, after, refs);
        }
    }
    return good;
}

/* Behind a loop: what was first assigned in it is gone. */
static void unbind_new(Lower *l, size_t known, const char *variable, const char *why) {
    for (size_t i = 0; i < l->frame->locals.count; i++) {
        Local *local = &l->frame->locals.at[i];
        if (i >= known || (variable && strcmp(local->name, variable) == 0))
            local->val = (Val){.kind = VAL_UNBOUND, .text = why};
    }
}

/* --- loops --- */

static const char loop_only[] =
    "it is first assigned inside a loop; give it a value before the loop";

static void run_body(Lower *l, const PyList *body) {
    l->frame->loops++;
    Flow flow = run_block(l, body, 0, NULL);
    l->frame->loops--;
    (void)flow; /* a return inside a loop has been refused */
}

static void run_static_for(Lower *l, const PyNode *node, const Range3 *range) {
    PyInt start = range->start.i, stop = range->stop.i, step = range->step.i;
    for (PyInt i = start; step > 0 ? i < stop : i > stop; i += step) {
        if (!tri_step(l, node->range)) return;
        tri_assign(l, node->For.target, tri_val_int(i));
        run_body(l, node->For.body);
    }
}

/* The bounds in their common integer type. */
static bool loop_bounds(Lower *l, const Range3 *range, Range where, Ref bounds[3]) {
    Val v[3] = {range->start, range->stop, range->step};
    for (int i = 0; i < 3; i++) {
        v[i] = tri_to_tensor(l, v[i], where);
        if (tri_val_failed(v[i])) return false;
        const Type *type = tri_val_type(l, v[i]);
        if (type->rank || type->pointer || !elem_is_int(type->elem)) {
            tri_error(l, DIAG_TRI_LOOP_BOUND, where, tri_val_describe(l, v[i]));
            return false;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (i != k && !tri_promote(l, &v[i], &v[k], 0, where)) return false;
    for (int i = 0; i < 3; i++) bounds[i] = v[i].ref;
    return true;
}

static void run_for(Lower *l, const PyNode *node) {
    if (node->For.orelse->count)
        tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "`else` of a loop");
    const PyNode *iter = node->For.iter;
    Val over = tri_eval(l, iter);
    bool good = over.kind == VAL_RANGE && node->For.target->kind == PY_Name;
    if (over.kind != VAL_RANGE && !tri_val_failed(over))
        tri_error(l, DIAG_TRI_LOOP_OVER, iter->range, tri_val_describe(l, over));
    if (node->For.target->kind != PY_Name)
        tri_error(l, DIAG_TRI_UNSUPPORTED, node->For.target->range,
                  "a loop variable that is no plain name");
    if (!good) {
        poison_stored(l, node);
        return;
    }
    const Range3 *range = over.range;
    if (range->is_static) {
        run_static_for(l, node, range);
        return;
    }
    const char *variable = node->For.target->Name.id;
    bool backward = range->step.kind == VAL_INT && range->step.i < 0;
    Range3 forward = *range;
    if (backward)
        forward = (Range3){
            .start = range->stop, .stop = range->start, .step = tri_val_int(-range->step.i)};
    Ref bounds[3];
    if (!loop_bounds(l, &forward, iter->range, bounds)) {
        poison_stored(l, node);
        return;
    }
    Carried carried = find_carried(l, node, variable);
    size_t known = l->frame->locals.count;
    Op *op = ir_for(&l->b, bounds[0], bounds[1], bounds[2], carried.refs.at,
                    (int)carried.refs.count, variable);
    if (range->stages) op_set(l->kernel, op, (Attr){.id = AT_STAGES, .number = range->stages});
    if (range->unroll) op_set(l->kernel, op, (Attr){.id = AT_UNROLL, .number = range->unroll});
    Builder outer = l->b;
    l->b = ir_builder_inside(&outer, op->regions[0]);
    bind_carried(l, &carried, op->regions[0]->args + 1);
    Ref index = op->regions[0]->args[0];
    if (backward) /* counts up; the variable is (stop + start) - index */
        index = ir_binary(&l->b, OP_SUB, ir_binary(&l->b, OP_ADD, bounds[0], bounds[1]), index);
    set_local(l, variable, tri_val_tensor(index));
    run_body(l, node->For.body);
    Refs yields = {0};
    if (collect_carried(l, &carried, node->range, &yields))
        ir_yield(&l->b, yields.at, (int)yields.count);
    l->b = outer;
    bind_carried(l, &carried, op->results);
    unbind_new(l, known, variable, loop_only);
}

static void run_while(Lower *l, const PyNode *node) {
    if (node->While.orelse->count)
        tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "`else` of a loop");
    Carried carried = find_carried(l, node, NULL);
    size_t known = l->frame->locals.count;
    Op *op = ir_begin(&l->b, OP_WHILE);
    for (size_t i = 0; i < carried.refs.count; i++) ir_operand(&l->b, op, carried.refs.at[i]);
    Builder outer = l->b;
    Region *regions[2];
    for (int r = 0; r < 2; r++) {
        regions[r] = ir_region(&l->b, op);
        for (size_t i = 0; i < carried.refs.count; i++)
            ir_argument(l->kernel, regions[r], tri_ref_type(l, carried.refs.at[i]), NULL);
    }
    l->b = ir_builder_inside(&outer, regions[0]);
    bind_carried(l, &carried, regions[0]->args);
    const PyNode *test = node->While.test;
    Val condition = tri_truth(l, tri_eval(l, test), test->range);
    Refs tested = {0};
    Ref truth = condition.kind == VAL_TENSOR ? condition.ref
                : condition.kind == VAL_BOOL ? ir_int(&l->b, EL_I1, condition.i != 0)
                                             : REF_NONE;
    *VEC_PUSH(&tested, l->arena) = truth;
    bool good = collect_carried(l, &carried, test->range, &tested) && truth != REF_NONE;
    if (good) {
        Op *end = ir_begin(&l->b, OP_TEST);
        for (size_t i = 0; i < tested.count; i++) ir_operand(&l->b, end, tested.at[i]);
        ir_end(&l->b, end, NULL);
    }
    l->b = ir_builder_inside(&outer, regions[1]);
    bind_carried(l, &carried, regions[1]->args);
    run_body(l, node->While.body);
    Refs yields = {0};
    good = collect_carried(l, &carried, node->range, &yields) && good;
    if (good) ir_yield(&l->b, yields.at, (int)yields.count);
    l->b = outer;
    if (good) {
        ir_end(&l->b, op, NULL);
        bind_carried(l, &carried, op->results);
    }
    unbind_new(l, known, NULL, loop_only);
}

/* --- branches --- */

/* Makes both sides of a run-time choice alike: numbers that differ become run-time values. */
static bool unify(Lower *l, Builder *sides[2], Val v[2], Range range) {
    if (same_form(l, v[0], v[1])) return true;
    for (int s = 0; s < 2; s++) {
        Builder now = l->b;
        l->b = *sides[s];
        v[s] = decay(l, v[s], range);
        *sides[s] = l->b;
        l->b = now;
    }
    return !tri_val_failed(v[0]) && !tri_val_failed(v[1]) && same_form(l, v[0], v[1]);
}

typedef struct Branches {
    Op *op;
    Builder outer, inside[2];
    Locals before, after[2];
    VEC(Val) merged[2]; /* pairs of values to be handed on */
} Branches;

static void begin_branches(Lower *l, Branches *br, Ref condition) {
    *br = (Branches){.op = ir_begin(&l->b, OP_IF), .outer = l->b, .before = copy_locals(l)};
    ir_operand(&l->b, br->op, condition);
    for (int s = 0; s < 2; s++) br->inside[s] = ir_builder_inside(&l->b, ir_region(&l->b, br->op));
}

static void enter_branch(Lower *l, Branches *br, int side) {
    br->outer.range = l->b.range;
    l->frame->locals = br->before;
    l->frame->locals = copy_locals(l);
    l->b = br->inside[side];
}

static void leave_branch(Lower *l, Branches *br, int side) {
    br->inside[side] = l->b;
    br->after[side] = l->frame->locals;
    l->b = br->outer;
}

/* Closes the op; the merged pairs become its results, in order, in out. */
static bool end_branches(Lower *l, Branches *br, Val *out) {
    size_t count = br->merged[0].count;
    Refs refs[2] = {{0}, {0}};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < count; i++) add_leaves(l, br->merged[s].at[i], &refs[s]);
    const Type **types = ARENA_ARRAY(l->arena, const Type *, refs[0].count);
    for (size_t i = 0; i < refs[0].count; i++) types[i] = tri_ref_type(l, refs[0].at[i]);
    for (int s = 0; s < 2; s++) ir_yield(&br->inside[s], refs[s].at, (int)refs[s].count);
    ir_end_results(&l->b, br->op, (int)refs[0].count, types);
    const Ref *next = br->op->results;
    for (size_t i = 0; i < count; i++) out[i] = with_leaves(l, br->merged[0].at[i], &next);
    return true;
}

static void merge(Lower *l, Branches *br, Val a, Val b) {
    *VEC_PUSH(&br->merged[0], l->arena) = a;
    *VEC_PUSH(&br->merged[1], l->arena) = b;
}

static Val local_in(const Locals *locals, const char *name) {
    for (size_t i = 0; i < locals->count; i++)
        if (strcmp(locals->at[i].name, name) == 0) return locals->at[i].val;
    return (Val){.kind = VAL_UNBOUND,
                 .text = "it is assigned in only one branch of an `if`; give it a value before"};
}

/* Behind a run-time `if`: variables that differ become results. */
static void merge_locals(Lower *l, Branches *br, Range range) {
    Locals all = br->after[0];
    for (size_t i = 0; i < br->after[1].count; i++) {
        const Local *local = &br->after[1].at[i];
        if (local_in(&all, local->name).kind == VAL_UNBOUND) {
            bool there = false;
            for (size_t k = 0; k < all.count; k++)
                there = there || strcmp(all.at[k].name, local->name) == 0;
            if (!there) *VEC_PUSH(&all, l->arena) = *local;
        }
    }
    VEC(size_t) slots = {0};
    for (size_t i = 0; i < all.count; i++) {
        const char *name = all.at[i].name;
        Val v[2] = {local_in(&br->after[0], name), local_in(&br->after[1], name)};
        Builder *sides[2] = {&br->inside[0], &br->inside[1]};
        if (v[0].kind == VAL_UNBOUND || v[1].kind == VAL_UNBOUND) {
            all.at[i].val = v[v[0].kind == VAL_UNBOUND ? 0 : 1];
        } else if (tri_val_same(v[0], v[1])) {
            all.at[i].val = v[0];
        } else if (tri_val_failed(v[0]) || tri_val_failed(v[1])) {
            all.at[i].val = val_error;
        } else if (!unify(l, sides, v, range)) {
            all.at[i].val = tri_error(l, DIAG_TRI_BRANCH_TYPE, range, name,
                                      tri_val_describe(l, v[0]), tri_val_describe(l, v[1]));
        } else {
            merge(l, br, v[0], v[1]);
            *VEC_PUSH(&slots, l->arena) = i;
        }
    }
    Val *results = ARENA_ARRAY(l->arena, Val, slots.count);
    end_branches(l, br, results);
    l->frame->locals = all;
    for (size_t i = 0; i < slots.count; i++) set_local(l, all.at[slots.at[i]].name, results[i]);
}

Val tri_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range) {
    Branches br;
    const PyNode *parts[2] = {yes, no};
    Val v[2];
    Locals before = l->frame->locals;
    begin_branches(l, &br, condition);
    for (int s = 0; s < 2; s++) {
        enter_branch(l, &br, s);
        v[s] = tri_eval(l, parts[s]);
        leave_branch(l, &br, s);
    }
    l->frame->locals = before;
    if (tri_val_failed(v[0]) || tri_val_failed(v[1])) return val_error;
    Builder *sides[2] = {&br.inside[0], &br.inside[1]};
    if (!unify(l, sides, v, range))
        return tri_error(l, DIAG_TRI_CHOICE_TYPE, range, tri_val_describe(l, v[0]),
                         tri_val_describe(l, v[1]));
    merge(l, &br, v[0], v[1]);
    Val out;
    end_branches(l, &br, &out);
    return out;
}

/* A run-time `if` with a return below it: each branch goes on with the rest to the function's end.
 */
static Flow run_returning_if(Lower *l, const PyNode *node, Ref condition, const Rest *rest) {
    if (l->frame->loops) {
        tri_error(l, DIAG_TRI_RETURN_IN_LOOP, node->range);
        return (Flow){true, val_error};
    }
    Branches br;
    const PyList *bodies[2] = {node->If.body, node->If.orelse};
    Val v[2];
    begin_branches(l, &br, condition);
    for (int s = 0; s < 2; s++) {
        enter_branch(l, &br, s);
        v[s] = run_block(l, bodies[s], 0, rest).value;
        leave_branch(l, &br, s);
    }
    if (tri_val_failed(v[0]) || tri_val_failed(v[1])) return (Flow){true, val_error};
    Builder *sides[2] = {&br.inside[0], &br.inside[1]};
    if (!unify(l, sides, v, node->range))
        return (Flow){true, tri_error(l, DIAG_TRI_RETURN_TYPE, node->range,
                                      tri_val_describe(l, v[0]), tri_val_describe(l, v[1]))};
    merge(l, &br, v[0], v[1]);
    Val out;
    end_branches(l, &br, &out);
    return (Flow){true, out};
}

/* True when the flow has come to the end of the function. */
static bool run_if(Lower *l, const PyNode *node, const Rest *rest, Flow *flow) {
    const PyNode *test = node->If.test;
    Val condition = tri_truth(l, tri_eval(l, test), test->range);
    bool returns = contains_return(node);
    if (condition.kind == VAL_BOOL) { /* only the branch taken is looked at */
        const PyList *body = condition.i ? node->If.body : node->If.orelse;
        if (returns) {
            *flow = run_block(l, body, 0, rest);
            return true;
        }
        run_block(l, body, 0, NULL);
        return false;
    }
    if (tri_val_failed(condition)) {
        poison_stored(l, node);
        return false;
    }
    if (returns) {
        *flow = run_returning_if(l, node, condition.ref, rest);
        return true;
    }
    Branches br;
    begin_branches(l, &br, condition.ref);
    for (int s = 0; s < 2; s++) {
        enter_branch(l, &br, s);
        run_block(l, s ? node->If.orelse : node->If.body, 0, NULL);
        leave_branch(l, &br, s);
    }
    merge_locals(l, &br, node->range);
    return false;
}

/* --- simple statements --- */

static bool is_constexpr_annotation(Lower *l, const PyNode *annotation) {
    const char *path = tri_names_path(l->names, annotation, l->arena);
    return path && strcmp(path, "triton.language.constexpr") == 0;
}

static void run_annotated(Lower *l, const PyNode *node) {
    if (!node->AnnAssign.value) return;
    const PyNode *value = node->AnnAssign.value;
    Val v = tri_eval(l, value);
    if (!is_constexpr_annotation(l, node->AnnAssign.annotation)) {
        v = decay(l, v, value->range);
    } else if (v.kind == VAL_TENSOR) {
        int64_t number;
        if (ir_const_int(l->kernel, v.ref, &number))
            v = tri_val_int(number);
        else
            v = tri_error(l, DIAG_TRI_NEED_CONSTANT, value->range, "a tl.constexpr variable",
                          tri_val_describe(l, v));
    }
    tri_assign(l, node->AnnAssign.target, v);
}

static void run_augmented(Lower *l, const PyNode *node) {
    const PyNode *target = node->AugAssign.target;
    if (target->kind != PY_Name) {
        tri_assign(l, target, val_error);
        return;
    }
    Range outer = l->b.range;
    l->b.range = node->range;
    PyNode *load =
        arena_copy(l->arena, target, offsetof(PyNode, cells) + 8 * py_kinds[PY_Name].field_count);
    Val before = tri_eval(l, load);
    Val v =
        tri_binary(l, node->AugAssign.op, before, tri_eval(l, node->AugAssign.value), node->range);
    tri_assign(l, target, decay(l, v, node->range));
    l->b.range = outer;
}

static void run_assert(Lower *l, const PyNode *node) {
    Val test = tri_eval(l, node->Assert.test);
    Val message = node->Assert.msg ? tri_eval(l, node->Assert.msg) : tri_val_str("");
    if (tri_val_failed(test) || tri_val_failed(message)) return;
    const char *text = tri_val_text(l, message);
    if (test.kind != VAL_TENSOR) {
        if (!tri_val_truth(test))
            tri_error(l, DIAG_TRI_STATIC_ASSERT, node->range, text[0] ? ": " : "", text);
        return;
    }
    test = tri_cast(l, test, ty_scalar(l->module, EL_I1), node->range);
    if (tri_val_failed(test)) return;
    Op *op = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, op, test.ref);
    if (text[0]) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text});
    ir_end(&l->b, op, NULL);
}

static const char *statement_name(const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Break: return "`break`; use a condition carried by a `while` loop";
    case PY_Continue: return "`continue`; put the rest of the body under an `if`";
    case PY_With: return "`with`";
    case PY_Try:
    case PY_TryStar: return "`try`";
    case PY_Raise: return "`raise`";
    case PY_Match: return "`match`";
    case PY_FunctionDef:
        return "a function inside a kernel; define it at module level with @triton.jit";
    case PY_ClassDef: return "a class inside a kernel";
    case PY_Global:
    case PY_Nonlocal: return "`global` and `nonlocal`";
    case PY_Delete: return "`del`";
    case PY_Import:
    case PY_ImportFrom: return "an import inside a kernel; move it to the top of the file";
    default: return "this statement";
    }
}

static void run_simple(Lower *l, const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Assign: {
        Val v = decay(l, tri_eval(l, node->Assign.value), node->Assign.value->range);
        for (uint32_t i = 0; i < node->Assign.targets->count; i++)
            tri_assign(l, node->Assign.targets->at[i], v);
        break;
    }
    case PY_AnnAssign: run_annotated(l, node); break;
    case PY_AugAssign: run_augmented(l, node); break;
    case PY_Expr:
        if (node->Expr.value->kind != PY_Constant)
            tri_eval(l, node->Expr.value); /* else a docstring */
        break;
    case PY_For: run_for(l, node); break;
    case PY_While: run_while(l, node); break;
    case PY_Assert: run_assert(l, node); break;
    case PY_Pass: break;
    default: tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, statement_name(node));
    }
}

static Flow run_block(Lower *l, const PyList *list, uint32_t at, const Rest *rest) {
    for (; at < list->count; at++) {
        const PyNode *node = list->at[at];
        if (!tri_step(l, node->range) || l->diag->errors > DIAG_LIMIT)
            return (Flow){true, val_error};
        l->b.range = node->range;
        if (node->kind == PY_Return) {
            if (l->frame->loops) tri_error(l, DIAG_TRI_RETURN_IN_LOOP, node->range);
            Val v = node->Return.value ? decay(l, tri_eval(l, node->Return.value), node->range)
                                       : val_none;
            return (Flow){true, v};
        }
        if (node->kind == PY_If) {
            Rest after = {list, at + 1, rest};
            Flow flow;
            if (run_if(l, node, &after, &flow)) return flow;
        } else {
            run_simple(l, node);
        }
    }
    if (rest) return run_block(l, rest->list, rest->at, rest->next);
    return (Flow){false, val_none};
}

/* --- functions --- */

static Val run_in_frame(Lower *l, const Function *function, const Val *args, Range call) {
    Names *names = l->names;
    Frame frame = {.caller = l->frame, .function = function, .call = call};
    l->frame = &frame;
    l->names = function->names;
    const PyNode *a = function->node->FunctionDef.args;
    const PyList *lists[] = {a->arguments.posonlyargs, a->arguments.args, a->arguments.kwonlyargs};
    int index = 0;
    for (size_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < lists[k]->count; i++)
            set_local(l, lists[k]->at[i]->arg.arg, args[index++]);
        if (k == 1 && a->arguments.vararg)
            set_local(l, a->arguments.vararg->arg.arg, args[index++]);
    }
    Flow flow = run_block(l, function->node->FunctionDef.body, 0, NULL);
    l->frame = frame.caller;
    l->names = names;
    return flow.value;
}

Val tri_run_function(Lower *l, const Function *function, const Val *args, Range call) {
    int depth = 0;
    for (const Frame *f = l->frame; f; f = f->caller, depth++)
        if (f->function->node == function->node)
            return tri_error(l, DIAG_TRI_RECURSION, call, function->node->FunctionDef.name);
    if (depth > 50) return tri_error(l, DIAG_TRI_DEPTH, call, 50);
    Range outer = l->b.range;
    Val v = run_in_frame(l, function, args, call);
    l->b.range = outer;
    return v;
}

void tri_run_kernel(Lower *l, const Function *function, const Val *args) {
    Range range = function->node->range;
    Val v = run_in_frame(l, function, args, range);
    if (v.kind != VAL_NONE && !tri_val_failed(v))
        tri_error(l, DIAG_TRI_KERNEL_RETURN, range, function->node->FunctionDef.name);
    l->b.range = range;
    ir_return(&l->b);
}
