/* SPDX-License-Identifier: Apache-2.0 */
/* python_branch.c: local variables, and how two ways of a run-time choice become one again.
 *
 *     if c:            %x_1 = if %c { yield %a } else { yield %x }
 *         x = a
 *
 * Both sides run on copies of the table of locals; what differs afterwards becomes a result of the
 * op. Both must give one type. When the flow leaves one side (return, break, continue), the other
 * one decides which variables there are, and the side that was left hands on dummies. */
#include "front/python/python_flow.h"

#include <string.h>

/* --- locals --- */

static Local *local_in(const Locals *locals, const char *name) {
    for (size_t i = 0; i < locals->count; i++)
        if (strcmp(locals->at[i].name, name) == 0) return &locals->at[i];
    return NULL;
}

Local *py_local(Frame *frame, const char *name) { return local_in(&frame->locals, name); }

/* Flags begin with a byte that no identifier has. */
static bool is_hidden(const char *name) { return name[0] == '\1'; }

void py_set_local(Lower *l, const char *name, Val value) {
    Local *local = py_local(l->frame, name);
    if (!local) {
        local = VEC_PUSH(&l->frame->locals, l->arena);
        local->name = name;
    }
    local->val = value;
    local->nest = l->nest;
    if (value.kind == VAL_TENSOR && ref_is_value(value.ref) && !is_hidden(name) &&
        !ir_value(l->kernel, value.ref)->name)
        ir_name(l->kernel, value.ref, name);
}

static Locals copy_locals(Lower *l, const Locals *from) {
    Locals copy = *from;
    copy.at = arena_copy(l->arena, copy.at, copy.count * sizeof *copy.at);
    copy.capacity = copy.count;
    return copy;
}

void py_leaves(Lower *l, Val v, Refs *refs) {
    if (v.kind == VAL_TENSOR) *VEC_PUSH(refs, l->arena) = v.ref;
    for (int i = 0; val_has_items(v) && i < v.count; i++) py_leaves(l, v.items[i], refs);
}

/* The same container with other items. */
static Val with_items(Val v, const Val *items) {
    v.items = items;
    return v;
}

Val py_with_leaves(Lower *l, Val v, const Ref **next) {
    if (v.kind == VAL_TENSOR) return val_tensor(*(*next)++);
    if (!val_has_items(v)) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, v.count);
    for (int i = 0; i < v.count; i++) items[i] = py_with_leaves(l, v.items[i], next);
    return with_items(v, items);
}

bool py_same_form(Lower *l, Val a, Val b) {
    if (a.kind == VAL_TENSOR && b.kind == VAL_TENSOR) return val_type(l, a) == val_type(l, b);
    if (val_has_items(a) && val_like(a, b) && a.count == b.count) {
        for (int i = 0; i < a.count; i++)
            if (!py_same_form(l, a.items[i], b.items[i])) return false;
        return true;
    }
    return val_same(a, b);
}

Val py_runtime(Lower *l, Val v, Range range) {
    if (val_is_number(v)) return l->domain->to_value(l, v, range);
    if (v.kind != VAL_TUPLE) return v;
    Val *items = ARENA_ARRAY(l->arena, Val, v.count);
    for (int i = 0; i < v.count; i++) items[i] = py_runtime(l, v.items[i], range);
    return with_items(v, items);
}

Val py_decay(Lower *l, Val v, Range range) { return l->kernel ? l->domain->assigned(l, v, range) : v; }

static Ref dummy_leaf(Lower *l, const Type *type) {
    const Type *scalar = type->pointer ? ty_scalar(l->module, EL_I64) : ty_scalar(l->module, type->elem);
    Ref zero = elem_is_float(scalar->elem) ? ir_float(&l->b, scalar->elem, 0) : ir_int(&l->b, scalar->elem, 0);
    if (type->pointer) {
        Op *op = ir_begin(&l->b, OP_BITCAST);
        ir_operand(&l->b, op, zero);
        zero = ir_end(&l->b, op, ty_pointer(l->module, type->elem));
    }
    return type->rank ? ir_splat(&l->b, zero, type) : zero;
}

Val py_stand_in(Lower *l, Val like) {
    Refs old = {0}, new = {0};
    py_leaves(l, like, &old);
    for (size_t i = 0; i < old.count; i++) *VEC_PUSH(&new, l->arena) = dummy_leaf(l, val_ref_type(l, old.at[i]));
    const Ref *next = new.at;
    return py_with_leaves(l, like, &next);
}

/* --- flags --- */

const char *py_flag_name(Lower *l, Flag flag, int depth) {
    static const char *const usual[][4] = {{"\1skip 0", "\1skip 1", "\1skip 2", "\1skip 3"},
                                           {"\1stop 0", "\1stop 1", "\1stop 2", "\1stop 3"}};
    if (flag == FLAG_RESULT) return "\1result";
    return depth < 4 ? usual[flag][depth]
                     : arena_printf(l->arena, flag == FLAG_SKIP ? "\1skip %d" : "\1stop %d", depth);
}

Val py_flag(Lower *l, Flag flag, int depth) {
    const Local *local = py_local(l->frame, py_flag_name(l, flag, depth));
    return local ? local->val : flag == FLAG_RESULT ? val_none : val_bool(false);
}

void py_set_flag(Lower *l, Flag flag, int depth, Val value) { py_set_local(l, py_flag_name(l, flag, depth), value); }

End py_end(Lower *l) {
    Val skip = py_flag(l, FLAG_SKIP, l->frame->loops);
    if (skip.kind == VAL_BOOL) return skip.i ? END_STOPS : END_GOES_ON;
    return val_failed(skip) ? END_STOPS : END_MAY_STOP;
}

/* --- branches --- */

void py_branch_begin(Lower *l, Branches *br, Ref condition) {
    *br = (Branches){.op = ir_begin(&l->b, OP_IF), .outer = l->b, .before = copy_locals(l, &l->frame->locals)};
    ir_operand(&l->b, br->op, condition);
    for (int s = 0; s < 2; s++) br->inside[s] = ir_builder_inside(&l->b, ir_region(&l->b, br->op));
}

void py_branch_enter(Lower *l, Branches *br, int side) {
    br->after[side] = copy_locals(l, &br->before);
    py_branch_resume(l, br, side);
}

void py_branch_resume(Lower *l, Branches *br, int side) {
    l->nest++;
    l->branches++;
    br->outer.range = l->b.range;
    l->frame->locals = br->after[side];
    l->b = br->inside[side];
}

void py_branch_leave(Lower *l, Branches *br, int side) {
    l->nest--;
    l->branches--;
    br->inside[side] = l->b;
    br->after[side] = l->frame->locals;
    l->b = br->outer;
}

/* Numbers of v that differ from those of the other side, as run-time values; parts of a thing of the domain's that are
 * the same constant stay constants. */
static Val decay_unlike(Lower *l, Val v, Val other, Range range) {
    if (v.kind != VAL_OWN || v.own->whole || !v.own->of || !val_like(v, other) || other.count != v.count)
        return py_same_form(l, v, other) ? v : py_runtime(l, v, range);
    Val *items = ARENA_ARRAY(l->arena, Val, v.count);
    for (int i = 0; i < v.count; i++) items[i] = decay_unlike(l, v.items[i], other.items[i], range);
    return with_items(v, items);
}

/* Makes both sides of a run-time choice alike: numbers that differ become run-time values. */
static bool unify(Lower *l, Branches *br, Val v[2], Range range) {
    if (py_same_form(l, v[0], v[1])) return true;
    Val sides[2] = {v[0], v[1]};
    for (int s = 0; s < 2; s++) {
        Builder now = l->b;
        l->b = br->inside[s];
        v[s] = l->domain->alike(l, decay_unlike(l, sides[s], sides[!s], range), sides[!s], false, range);
        br->inside[s] = l->b;
        l->b = now;
    }
    return !val_failed(v[0]) && !val_failed(v[1]) && py_same_form(l, v[0], v[1]);
}

static void merge(Lower *l, Branches *br, Val a, Val b) {
    *VEC_PUSH(&br->merged[0], l->arena) = a;
    *VEC_PUSH(&br->merged[1], l->arena) = b;
}

/* Closes the op; the merged pairs become its results, in order, in out. */
static void finish(Lower *l, Branches *br, Val *out) {
    size_t count = br->merged[0].count;
    Refs refs[2] = {{0}, {0}};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < count; i++) py_leaves(l, br->merged[s].at[i], &refs[s]);
    const Type **types = ARENA_ARRAY(l->arena, const Type *, refs[0].count);
    for (size_t i = 0; i < refs[0].count; i++) types[i] = val_ref_type(l, refs[0].at[i]);
    for (int s = 0; s < 2; s++) ir_yield(&br->inside[s], refs[s].at, (int)refs[s].count);
    ir_end_results(&l->b, br->op, (int)refs[0].count, types);
    const Ref *next = br->op->results;
    for (size_t i = 0; i < count; i++) out[i] = py_with_leaves(l, br->merged[0].at[i], &next);
}

static Val dummy_in(Lower *l, Branches *br, int side, Val like) {
    Builder now = l->b;
    l->b = br->inside[side];
    Val v = py_stand_in(l, like);
    br->inside[side] = l->b;
    l->b = now;
    return v;
}

static const char one_branch[] = "it is assigned in only one branch of an `if`" FIX "give it a value before";

static Val value_in(const Locals *locals, const char *name) {
    const Local *local = local_in(locals, name);
    if (local) return local->val;
    if (strncmp(name, "\1skip", 5) == 0 || strncmp(name, "\1stop", 5) == 0)
        return val_bool(false); /* a flag that this side never set */
    return (Val){.kind = VAL_UNBOUND, .text = one_branch};
}

/* What a variable is behind the choice; *pair: as the next result, made of v. */
static Val merge_variable(Lower *l, Branches *br, const char *name, Val v[2], Range range, bool *pair) {
    bool bound[2] = {v[0].kind != VAL_UNBOUND, v[1].kind != VAL_UNBOUND};
    bool result = is_hidden(name) && bound[0] != bound[1]; /* returned on one side only */
    bool left = br->stops[0] != br->stops[1];
    int stays = left ? br->stops[0] : bound[1];
    *pair = false;
    if (!bound[0] && !bound[1]) return v[0];
    if (bound[0] != bound[1]) {
        if (!result && !(left && bound[stays])) return v[bound[0]];
        int has = bound[1], lacks = !has;
        if (val_failed(v[has])) return v[has];
        v[lacks] = dummy_in(l, br, lacks, v[has]);
        *pair = true;
        return v[has];
    }
    if (val_same(v[0], v[1])) return v[0];
    if (val_failed(v[0]) || val_failed(v[1])) return val_error;
    *pair = true;
    if (unify(l, br, v, range)) return v[0];
    if (left && !is_hidden(name)) { /* only the side that goes on needs it, unless a loop does */
        *pair = false;
        return (Val){.kind = VAL_UNBOUND,
                     .text = arena_printf(l->arena, "it is %s on one way and %s on another", val_describe(l, v[0]),
                                          val_describe(l, v[1]))};
    }
    *pair = false;
    if (is_hidden(name))
        return py_error(l, DIAG_EVAL_RETURN_TYPE, range, val_describe(l, v[0]), val_describe(l, v[1]));
    return py_error(l, DIAG_EVAL_BRANCH_TYPE, range, name, val_describe(l, v[0]), val_describe(l, v[1]),
                    l->domain->words.cast);
}

/* At the end of a function, falling off a side is returning None. */
static void return_none(Lower *l, Locals *side) {
    Locals now = l->frame->locals;
    l->frame->locals = *side;
    Val skip = py_flag(l, FLAG_SKIP, 0), result = py_flag(l, FLAG_RESULT, 0);
    if (result.kind == VAL_NONE || (skip.kind == VAL_BOOL && !skip.i)) {
        py_set_flag(l, FLAG_SKIP, 0, val_bool(true));
        py_set_flag(l, FLAG_RESULT, 0, result);
    }
    *side = l->frame->locals;
    l->frame->locals = now;
}

void py_branch_merge(Lower *l, Branches *br, bool tail, Range range) {
    for (int s = 0; s < 2 && tail; s++) return_none(l, &br->after[s]);
    Locals all = copy_locals(l, &br->after[0]);
    for (size_t i = 0; i < br->after[1].count; i++)
        if (!local_in(&all, br->after[1].at[i].name)) *VEC_PUSH(&all, l->arena) = br->after[1].at[i];
    VEC(size_t) slots = {0};
    for (size_t i = 0; i < all.count; i++) {
        const char *name = all.at[i].name;
        const Local *before = l->domain->carries || is_hidden(name) ? NULL : local_in(&br->before, name);
        if (before) { /* a binding, which no branch can change */
            all.at[i].val = before->val;
            continue;
        }
        if ((tail || !l->domain->carries) && !is_hidden(name)) {
            all.at[i].val = (Val){.kind = VAL_UNBOUND, .text = one_branch};
            continue;
        }
        Val v[2] = {value_in(&br->after[0], name), value_in(&br->after[1], name)};
        bool pair;
        all.at[i].val = merge_variable(l, br, name, v, range, &pair);
        if (!pair) continue;
        merge(l, br, v[0], v[1]);
        *VEC_PUSH(&slots, l->arena) = i;
    }
    Val *results = ARENA_ARRAY(l->arena, Val, slots.count);
    finish(l, br, results);
    l->frame->locals = all;
    for (size_t i = 0; i < slots.count; i++) py_set_local(l, all.at[slots.at[i]].name, results[i]);
}

Val py_choose(Lower *l, Ref condition, const PyNode *yes, const PyNode *no, Range range) {
    Branches br;
    const PyNode *parts[2] = {yes, no};
    Val v[2];
    Locals before = l->frame->locals;
    py_branch_begin(l, &br, condition);
    for (int s = 0; s < 2; s++) {
        py_branch_enter(l, &br, s);
        v[s] = py_eval(l, parts[s]);
        py_branch_leave(l, &br, s);
    }
    l->frame->locals = before;
    if (val_failed(v[0]) || val_failed(v[1])) return val_error;
    if (!unify(l, &br, v, range))
        return py_error(l, DIAG_EVAL_CHOICE_TYPE, range, val_describe(l, v[0]), val_describe(l, v[1]),
                        l->domain->words.cast);
    merge(l, &br, v[0], v[1]);
    Val out;
    finish(l, &br, &out);
    return out;
}
