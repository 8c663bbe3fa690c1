/* SPDX-License-Identifier: Apache-2.0 */
/* python_stmt.c: runs statements: assignment, branches, jumps, calls in place.
 *
 * A constant condition runs only the branch taken, and names in the other one are never looked up.
 * Jumps set flags (python_flow.h). When one side of a run-time `if` is left for certain, the rest
 * of the block moves into the other one:
 *
 *     if n <= pid: return         if %c { } else { rest }
 *     rest
 *
 * and when it only may have been left, the rest is guarded by the flag. */
#include "front/python/python_flow.h"

#include <string.h>

/* An element of a list or dict; false: it is none of these. */
static bool set_element(Lower *l, const PyNode *target, Val value) {
    Val of = py_eval(l, target->Subscript.value);
    if (of.kind == VAL_LIST || of.kind == VAL_DICT)
        py_set_item(l, of, py_eval(l, target->Subscript.slice), value, target->range);
    return of.kind == VAL_LIST || of.kind == VAL_DICT || val_failed(of);
}

/* a, *b, c = value: the starred one takes what the others leave. */
static void unpack_starred(Lower *l, const PyList *elts, uint32_t star, Val value, Range range) {
    int others = (int)elts->count - 1, rest = value.count - others;
    if (rest < 0) {
        py_error(l, DIAG_EVAL_UNPACK, range, others, val_describe(l, value));
        return;
    }
    for (uint32_t i = 0; i < elts->count; i++) {
        if (i == star)
            py_assign(l, elts->at[i]->Starred.value, val_list(l, value.items + i, rest));
        else
            py_assign(l, elts->at[i], value.items[i < star ? (int)i : (int)i - 1 + rest]);
    }
}

void py_assign(Lower *l, const PyNode *target, Val value) {
    if (target->kind == PY_Name) {
        if (l->kernel && l->domain->bind && l->domain->bind(l, target, value)) return;
        if (l->frame) py_set_local(l, target->Name.id, value);
        return;
    }
    if (target->kind != PY_Tuple && target->kind != PY_List) {
        bool element = target->kind == PY_Subscript, attribute = target->kind == PY_Attribute;
        if (element && py_on_host(l) && set_element(l, target, value)) return;
        if ((element || attribute) && l->frame && l->domain->assign(l, target, value)) return;
        py_error(l, DIAG_EVAL_INSTEAD, target->range,
                 element     ? "assignment to an element"
                 : attribute ? "assignment to an attribute"
                             : "this assignment target",
                 element ? l->domain->words.element : l->domain->words.attribute);
        return;
    }
    const PyList *elts = target->Tuple.elts;
    bool host = py_on_host(l) && (value.kind == VAL_LIST || value.kind == VAL_DICT || value.kind == VAL_RANGE);
    if (host) value = py_iterable(l, value, target->range);
    bool fits = value.kind == VAL_TUPLE && value.count == (int)elts->count;
    for (uint32_t i = 0; i < elts->count; i++)
        if (elts->at[i]->kind == PY_Starred) {
            if (py_on_host(l) && value.kind == VAL_TUPLE) {
                unpack_starred(l, elts, i, value, target->range);
                return;
            }
            py_error(l, DIAG_EVAL_INSTEAD, elts->at[i]->range, "a starred target",
                     "take a slice of the tuple, as in t[1:]");
            return;
        }
    if (!fits && !val_failed(value))
        py_error(l, DIAG_EVAL_UNPACK, target->range, (int)elts->count, val_describe(l, value));
    for (uint32_t i = 0; i < elts->count; i++) py_assign(l, elts->at[i], fits ? value.items[i] : val_error);
}

/* --- branches --- */

/* Goes on in the middle of a block, as far as the flow may have come. */
static End run_rest(Lower *l, const PyList *list, uint32_t at, bool tail) {
    End end = py_end(l);
    if (end == END_GOES_ON) return py_run_block(l, list, at, tail);
    if (end == END_STOPS || at >= list->count) return end;
    Branches br;
    int depth = l->frame->loops;
    py_branch_begin(l, &br, py_flag(l, FLAG_SKIP, depth).ref);
    py_branch_enter(l, &br, 0);
    py_set_flag(l, FLAG_SKIP, depth, val_bool(true));
    py_branch_leave(l, &br, 0);
    py_branch_enter(l, &br, 1);
    py_set_flag(l, FLAG_SKIP, depth, val_bool(false));
    br.stops[0] = true;
    br.stops[1] = py_run_block(l, list, at, tail) == END_STOPS;
    py_branch_leave(l, &br, 1);
    py_branch_merge(l, &br, tail, list->at[at]->range);
    return py_end(l);
}

/* A run-time `if`; at: the statement behind it. *done: the rest of the block has been run, too. */
static End run_branches(Lower *l, const PyNode *node, Ref condition, const PyList *list, uint32_t at, bool tail,
                        bool *done) {
    Branches br;
    const PyList *bodies[2] = {node->If.body, node->If.orelse};
    bool last = at >= list->count;
    py_branch_begin(l, &br, condition);
    for (int s = 0; s < 2; s++) {
        py_branch_enter(l, &br, s);
        br.stops[s] = py_run_block(l, bodies[s], 0, tail && last) == END_STOPS;
        py_branch_leave(l, &br, s);
    }
    *done = last || br.stops[0] || br.stops[1];
    if (!last && br.stops[0] != br.stops[1]) {
        int stays = br.stops[0];
        py_branch_resume(l, &br, stays);
        br.stops[stays] = run_rest(l, list, at, tail) == END_STOPS;
        py_branch_leave(l, &br, stays);
    }
    py_branch_merge(l, &br, tail && *done, node->range);
    return py_end(l);
}

static End run_if(Lower *l, const PyNode *node, const PyList *list, uint32_t at, bool tail, bool *done) {
    const PyNode *test = node->If.test;
    Val condition = l->domain->truth(l, py_eval(l, test), test->range);
    *done = false;
    if (condition.kind == VAL_BOOL) /* only the branch taken is looked at */
        return py_run_block(l, condition.i ? node->If.body : node->If.orelse, 0, tail && at >= list->count);
    if (val_failed(condition)) {
        py_poison_stored(l, node);
        return END_GOES_ON;
    }
    return run_branches(l, node, condition.ref, list, at, tail, done);
}

/* --- jumps --- */

static End run_return(Lower *l, const PyNode *node) {
    Val v = node->Return.value ? py_decay(l, py_eval(l, node->Return.value), node->range) : val_none;
    if (l->kernel && !l->frame->caller && !val_failed(v)) v = l->domain->returned(l, v, node) ? val_none : val_error;
    py_leave_function(l);
    Val before = py_flag(l, FLAG_RESULT, 0);
    if (l->frame->loops && py_local(l->frame, py_flag_name(l, FLAG_RESULT, 0)) && !val_failed(v) &&
        !val_failed(before) && !py_same_form(l, before, v))
        v = py_error(l, DIAG_EVAL_RETURN_TYPE, node->range, val_describe(l, before), val_describe(l, v));
    py_set_flag(l, FLAG_RESULT, 0, v);
    return END_STOPS;
}

void py_leave_function(Lower *l) {
    for (int depth = 0; depth <= l->frame->loops; depth += l->frame->loops ? l->frame->loops : 1) {
        py_set_flag(l, FLAG_SKIP, depth, val_bool(true));
        if (depth) py_set_flag(l, FLAG_STOP, depth, val_bool(true));
    }
}

static End run_jump(Lower *l, const PyNode *node) {
    int depth = l->frame->loops;
    if (!depth) {
        py_unsupported(l, node->range,
                       l->frame->closed ? "a jump out of this kind of loop (put what follows under an `if`)"
                                        : "`break` or `continue` outside of a loop");
        return END_STOPS;
    }
    py_set_flag(l, FLAG_SKIP, depth, val_bool(true));
    if (node->kind == PY_Break) py_set_flag(l, FLAG_STOP, depth, val_bool(true));
    return END_STOPS;
}

/* --- simple statements --- */

static void run_augmented(Lower *l, const PyNode *node) {
    const PyNode *target = node->AugAssign.target;
    if (target->kind == PY_Subscript && py_on_host(l)) {
        Val of = py_eval(l, target->Subscript.value);
        if (val_failed(of)) return;
        if (of.kind == VAL_LIST || of.kind == VAL_DICT) {
            Val key = py_eval(l, target->Subscript.slice), before = py_item(l, of, key, target->range);
            Val by = py_eval(l, node->AugAssign.value);
            py_set_item(l, of, key, l->domain->binary(l, node->AugAssign.op, before, by, node->range), node->range);
            return;
        }
    }
    if (target->kind != PY_Name && l->domain->augmented && l->domain->augmented(l, node)) return;
    if (target->kind != PY_Name) {
        py_assign(l, target, val_error);
        return;
    }
    Range outer = l->b.range;
    l->b.range = node->range;
    PyNode *load = arena_copy(l->arena, target, offsetof(PyNode, cells) + 8 * py_kinds[PY_Name].field_count);
    Val before = py_eval(l, load);
    Val v = l->domain->binary(l, node->AugAssign.op, before, py_eval(l, node->AugAssign.value), node->range);
    py_assign(l, target, py_decay(l, v, node->range));
    l->b.range = outer;
}

static void run_assert(Lower *l, const PyNode *node) {
    if (l->request && !l->request->asserts && !l->domain->host_in_kernels) return;
    Val test = py_eval(l, node->Assert.test);
    Val message = node->Assert.msg ? py_eval(l, node->Assert.msg) : val_str("");
    if (val_failed(test) || val_failed(message)) return;
    const char *text = val_text(l, message);
    if (val_is_const(test) && val_truth(test)) return;
    if (l->kernel || l->domain->host_in_kernels)
        l->domain->assertion(l, node, test, text);
    else /* plain Python */
        py_error(l, DIAG_EVAL_STATIC_ASSERT, node->range, text[0] ? ": " : "", text);
}

/* A context manager of the host, entered and left while compiling. */
static void run_with(Lower *l, const PyNode *node) {
    const PyList *items = node->With.items;
    Val *managers = ARENA_ARRAY(l->arena, Val, items->count);
    static const Val nothing[3] = {{.kind = VAL_NONE}, {.kind = VAL_NONE}, {.kind = VAL_NONE}};
    for (uint32_t i = 0; i < items->count; i++) {
        const PyNode *item = items->at[i];
        managers[i] = py_eval(l, item->withitem.context_expr);
        if (val_failed(managers[i])) return;
        if (managers[i].kind != VAL_HOST) {
            py_error(l, DIAG_EVAL_WITH, item->range, val_describe(l, managers[i]));
            return;
        }
        Val entered = py_live_method(l, managers[i].host, "__enter__", NULL, 0, item->range);
        if (val_failed(entered)) return;
        if (item->withitem.optional_vars) py_assign(l, item->withitem.optional_vars, entered);
    }
    if (py_run_block(l, node->With.body, 0, false) != END_GOES_ON) {
        py_unsupported(l, node->range, "a jump out of a `with` block");
        return;
    }
    for (uint32_t i = items->count; i-- > 0;) py_live_method(l, managers[i].host, "__exit__", nothing, 3, node->range);
}

/* What of Python has no place in a kernel, and what to write instead. */
static void refuse_statement(Lower *l, const PyNode *node) {
    static const struct {
        PyKind kind;
        const char *what, *instead;
    } rows[] = {{PY_Try, "`try`", "nothing in a kernel raises; test with `if`"},
                {PY_TryStar, "`try`", "nothing in a kernel raises; test with `if`"},
                {PY_Raise, "`raise`", "assert what must hold"},
                {PY_Match, "`match`", "use `if` and `elif`"},
                {PY_FunctionDef, "an inner function", "define it at module level"},
                {PY_AsyncFunctionDef, "an inner function", "define it at module level"},
                {PY_ClassDef, "a class", "define it at module level"},
                {PY_Global, "`global`", "a kernel changes no globals"},
                {PY_Nonlocal, "`nonlocal`", "a kernel changes no globals"},
                {PY_Delete, "`del`", "leave it out; a value that is not used costs nothing"},
                {PY_Import, "an import", "move it to the top of the file"},
                {PY_ImportFrom, "an import", "move it to the top of the file"}};
    const char *what = "this statement", *instead = "move it out of the kernel";
    const char *better = l->domain->instead((PyKind)node->kind);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == (PyKind)node->kind) what = rows[i].what, instead = rows[i].instead;
    py_error(l, DIAG_EVAL_INSTEAD, node->range, what, better ? better : instead);
}

Val py_closure(Lower *l, const PyNode *node) {
    Function *function = ARENA_NEW(l->arena, Function);
    *function = (Function){
        .node = node, .names = l->names, .around = l->frame, .host = !l->kernel && !l->domain->host_in_kernels};
    return (Val){.kind = VAL_FUNCTION, .function = function};
}

static void run_def(Lower *l, const PyNode *node) {
    Val function = py_closure(l, node);
    if (l->domain->define(l, node, &function)) py_set_local(l, node->FunctionDef.name, function);
}

/* import a.b [as c], from a import b: modules, which the table of names knows. */
static void run_import(Lower *l, const PyNode *node) {
    bool from = node->kind == PY_ImportFrom;
    const PyList *names = from ? node->ImportFrom.names : node->Import.names;
    const char *module = from && node->ImportFrom.module ? node->ImportFrom.module : "";
    for (uint32_t i = 0; i < names->count; i++) {
        const char *name = names->at[i]->alias.name, *as = names->at[i]->alias.asname;
        const char *first = arena_string(l->arena, name, strcspn(name, "."));
        if (from)
            py_set_local(l, as ? as : name, names_attribute(l, l->domain->module_path(module), name, node->range));
        else
            py_set_local(l, as ? as : first,
                         (Val){.kind = VAL_MODULE, .text = l->domain->module_path(as ? name : first)});
    }
}

static void run_raise(Lower *l, const PyNode *node) {
    const PyNode *what = node->Raise.exc;
    const char *text = what && what->kind == PY_Call && what->Call.args->count == 1
                           ? val_text(l, py_eval(l, what->Call.args->at[0]))
                           : "";
    py_error(l, DIAG_EVAL_RAISE, node->range, text[0] ? ": " : "", text);
}

static void run_simple(Lower *l, const PyNode *node) {
    if (py_on_host(l)) { /* plain Python has these, too */
        switch ((PyKind)node->kind) {
        case PY_FunctionDef: run_def(l, node); return;
        case PY_Import:
        case PY_ImportFrom: run_import(l, node); return;
        case PY_Raise: run_raise(l, node); return;
        default: break;
        }
    }
    switch ((PyKind)node->kind) {
    case PY_Assign: {
        const PyList *targets = node->Assign.targets;
        Val v = py_eval(l, node->Assign.value);
        if (targets->at[0]->kind != PY_Attribute) /* a field keeps a constant */
            v = py_decay(l, v, node->Assign.value->range);
        for (uint32_t i = 0; i < targets->count; i++) py_assign(l, targets->at[i], v);
        break;
    }
    case PY_AnnAssign: l->domain->annotated(l, node); break;
    case PY_AugAssign: run_augmented(l, node); break;
    case PY_Expr:
        if (node->Expr.value->kind != PY_Constant) py_eval(l, node->Expr.value); /* else a docstring */
        break;
    case PY_For: py_run_for(l, node); break;
    case PY_While: py_run_while(l, node); break;
    case PY_With:
        if (!l->domain->with || !l->domain->with(l, node)) run_with(l, node);
        break;
    case PY_Assert: run_assert(l, node); break;
    case PY_Pass: break;
    default: refuse_statement(l, node);
    }
}

/* Whose list or dict a statement changes, by a method or at an element: a.b.append(x), a[i] = x. */
static const PyNode *changed_by(const PyNode *node) {
    const PyNode *of = node->kind == PY_Expr        ? node->Expr.value
                       : node->kind == PY_Assign    ? node->Assign.targets->at[0]
                       : node->kind == PY_AugAssign ? node->AugAssign.target
                                                    : NULL;
    if (of && of->kind == PY_Call) of = of->Call.func->kind == PY_Attribute ? of->Call.func->Attribute.value : NULL;
    while (of && (of->kind == PY_Subscript || of->kind == PY_Attribute))
        of = of->kind == PY_Subscript ? of->Subscript.value : of->Attribute.value;
    return of && of->kind == PY_Name ? of : NULL;
}

/* A mistake that is none of ours: the program says itself that it cannot go on. */
static bool is_said(const Lower *l, const Diag *diag) {
    for (size_t i = 0; i < diag->messages.count; i++) {
        DiagId id = diag->messages.at[i].id;
        if (id == l->domain->asserted || id == DIAG_EVAL_RAISE || id == DIAG_EVAL_STEPS) return true;
    }
    return false;
}

/* A simple statement of plain Python that may fail in silence: what it would have bound or changed says so where it is
 * used. */
static void run_forgiving(Lower *l, const PyNode *node) {
    Diag *loud = l->diag, quiet;
    Lists changed = {0}, *around = l->changed;
    const PyNode *name = changed_by(node);
    Local *local = name ? py_local(l->frame, name->Name.id) : NULL;
    if (local && (local->val.kind == VAL_LIST || local->val.kind == VAL_DICT))
        *VEC_PUSH(&changed, l->arena) = local->val.list;
    diag_init(&quiet, l->arena, l->unit->sources);
    l->diag = &quiet;
    l->changed = &changed;
    run_simple(l, node);
    l->diag = loud;
    l->changed = around;
    for (size_t i = 0; around && i < changed.count; i++) *VEC_PUSH(around, l->arena) = changed.at[i];
    if (!quiet.errors) return;
    if (is_said(l, &quiet)) diag_pass_on(&quiet, loud);
    const char *text = quiet.messages.at[0].text;
    py_poison_stored(l, node);
    for (size_t i = 0; i < changed.count; i++) changed.at[i]->broken = text;
    for (size_t i = 0; i < l->frame->locals.count; i++)
        if (val_failed(l->frame->locals.at[i].val))
            l->frame->locals.at[i].val = (Val){.kind = VAL_UNBOUND, .text = text};
}

End py_run_block(Lower *l, const PyList *list, uint32_t at, bool tail) {
    for (; at < list->count; at++) {
        const PyNode *node = list->at[at];
        if (!py_step(l, node->range) || l->diag->errors > DIAG_LIMIT) {
            py_set_flag(l, FLAG_RESULT, 0, val_error);
            return END_STOPS;
        }
        l->b.range = node->range;
        bool done = false;
        End end;
        switch ((PyKind)node->kind) {
        case PY_Return: return run_return(l, node);
        case PY_Break:
        case PY_Continue: return run_jump(l, node);
        case PY_If: end = run_if(l, node, list, at + 1, tail, &done); break;
        case PY_Assign:
        case PY_AugAssign:
        case PY_AnnAssign:
        case PY_Expr:
            (l->domain->forgives && !l->kernel ? run_forgiving : run_simple)(l, node);
            end = py_end(l);
            break;
        default: run_simple(l, node); end = py_end(l);
        }
        if (done || end == END_STOPS) return end;
        if (end == END_MAY_STOP) return run_rest(l, list, at + 1, tail);
    }
    return py_end(l);
}

/* --- functions --- */

static Val run_in_frame(Lower *l, const Function *function, const Val *args, Range call, bool constructs) {
    Names *names = l->names;
    int errors = l->diag->errors, index = 0;
    Frame *frame = ARENA_NEW(l->arena, Frame); /* functions made in it may outlive the call */
    *frame = (Frame){.caller = l->frame, .function = function, .call = call, .constructs = constructs};
    l->frame = frame;
    l->names = function->names;
    const PyNode *a = py_arguments(function->node);
    const PyList *lists[] = {a->arguments.posonlyargs, a->arguments.args, a->arguments.kwonlyargs};
    for (size_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < lists[k]->count; i++) py_set_local(l, lists[k]->at[i]->arg.arg, args[index++]);
        if (k == 1 && a->arguments.vararg) py_set_local(l, a->arguments.vararg->arg.arg, args[index++]);
    }
    if (a->arguments.kwarg) py_set_local(l, a->arguments.kwarg->arg.arg, args[index++]);
    Val result;
    if (function->node->kind == PY_Lambda) {
        result = py_eval(l, function->node->Lambda.body);
    } else {
        End end = py_run_block(l, function->node->FunctionDef.body, 0, true);
        result = py_flag(l, FLAG_RESULT, 0);
        if (end != END_STOPS && result.kind != VAL_NONE && !val_failed(result))
            result = py_error(l, DIAG_EVAL_RETURN_TYPE, function->node->range, "None at its end",
                              val_describe(l, result));
    }
    if (constructs) result = frame->locals.at[0].val; /* self */
    if (l->diag->errors > errors) result = val_error;
    l->frame = frame->caller;
    l->names = names;
    return result;
}

static Val run_function(Lower *l, const Function *function, const Val *args, Range call, bool constructs) {
    int depth = 0;
    for (const Frame *f = l->frame; f; f = f->caller, depth++)
        if (f->function && f->function->node == function->node && l->kernel)
            return py_error(l, DIAG_EVAL_RECURSION, call, py_function_name(function->node));
    if (depth > 50) return py_error(l, DIAG_EVAL_DEPTH, call, 50);
    Range outer = l->b.range;
    Kernel *kernel = l->kernel;
    if (function->host) l->kernel = NULL; /* plain Python: constants only */
    Val v = run_in_frame(l, function, args, call, constructs);
    l->kernel = kernel;
    l->b.range = outer;
    return py_on_host(l) ? v : val_frozen(l, v);
}

Val py_run_function(Lower *l, const Function *function, const Val *args, Range call) {
    return run_function(l, function, args, call, false);
}

Val py_run_constructor(Lower *l, const Function *function, const Val *args, Range call) {
    return run_function(l, function, args, call, true);
}

void py_run_kernel(Lower *l, const Function *function, const Val *args) {
    Range range = function->node->range;
    run_in_frame(l, function, args, range, false);
    l->b.range = range;
    ir_return(&l->b);
}
