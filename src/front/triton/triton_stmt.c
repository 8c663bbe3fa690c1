/* triton_stmt.c: runs the statements of a Triton kernel: assignment, branches, jumps, calls in
 * place.
 *
 * A constant condition runs only the branch taken, and names in the other one are never looked up.
 * Jumps set flags (triton_flow.h). When one side of a run-time `if` is left for certain, the rest
 * of the block moves into the other one:
 *
 *     if n <= pid: return         if %c { } else { rest }
 *     rest
 *
 * and when it only may have been left, the rest is guarded by the flag. */
#include "front/triton/triton_flow.h"

#include <string.h>

void tri_assign(Lower *l, const PyNode *target, Val value) {
    if (target->kind == PY_Name) {
        if (l->frame) tri_set_local(l, target->Name.id, value);
        return;
    }
    if (target->kind == PY_Attribute && l->frame && tri_aggregate_set(l, target, value)) return;
    if (target->kind != PY_Tuple && target->kind != PY_List) {
        bool element = target->kind == PY_Subscript;
        tri_error(l, DIAG_TRI_INSTEAD, target->range,
                  element                        ? "assignment to an element"
                  : target->kind == PY_Attribute ? "assignment to an attribute"
                                                 : "this assignment target",
                  element ? "use tl.store for memory, tl.where for tiles"
                          : "assign to a name; fields of a triton.aggregate are set in its __init__ "
                            "and changed by triton.aggregate_replace");
        return;
    }
    const PyList *elts = target->Tuple.elts;
    bool fits = value.kind == VAL_TUPLE && value.count == (int)elts->count;
    for (uint32_t i = 0; i < elts->count; i++)
        if (elts->at[i]->kind == PY_Starred) {
            tri_error(l, DIAG_TRI_INSTEAD, elts->at[i]->range, "a starred target",
                      "take a slice of the tuple, as in t[1:]");
            return;
        }
    if (!fits && !tri_val_failed(value))
        tri_error(l, DIAG_TRI_UNPACK, target->range, (int)elts->count, tri_val_describe(l, value));
    for (uint32_t i = 0; i < elts->count; i++) tri_assign(l, elts->at[i], fits ? value.items[i] : val_error);
}

/* --- branches --- */

/* Goes on in the middle of a block, as far as the flow may have come. */
static End run_rest(Lower *l, const PyList *list, uint32_t at, bool tail) {
    End end = tri_end(l);
    if (end == END_GOES_ON) return tri_run_block(l, list, at, tail);
    if (end == END_STOPS || at >= list->count) return end;
    Branches br;
    int depth = l->frame->loops;
    tri_branch_begin(l, &br, tri_flag(l, FLAG_SKIP, depth).ref);
    tri_branch_enter(l, &br, 0);
    tri_set_flag(l, FLAG_SKIP, depth, tri_val_bool(true));
    tri_branch_leave(l, &br, 0);
    tri_branch_enter(l, &br, 1);
    tri_set_flag(l, FLAG_SKIP, depth, tri_val_bool(false));
    br.stops[0] = true;
    br.stops[1] = tri_run_block(l, list, at, tail) == END_STOPS;
    tri_branch_leave(l, &br, 1);
    tri_branch_merge(l, &br, tail, list->at[at]->range);
    return tri_end(l);
}

/* A run-time `if`; at: the statement behind it. *done: the rest of the block has been run, too. */
static End run_branches(Lower *l, const PyNode *node, Ref condition, const PyList *list, uint32_t at, bool tail,
                        bool *done) {
    Branches br;
    const PyList *bodies[2] = {node->If.body, node->If.orelse};
    bool last = at >= list->count;
    tri_branch_begin(l, &br, condition);
    for (int s = 0; s < 2; s++) {
        tri_branch_enter(l, &br, s);
        br.stops[s] = tri_run_block(l, bodies[s], 0, tail && last) == END_STOPS;
        tri_branch_leave(l, &br, s);
    }
    *done = last || br.stops[0] || br.stops[1];
    if (!last && br.stops[0] != br.stops[1]) {
        int stays = br.stops[0];
        tri_branch_resume(l, &br, stays);
        br.stops[stays] = run_rest(l, list, at, tail) == END_STOPS;
        tri_branch_leave(l, &br, stays);
    }
    tri_branch_merge(l, &br, tail && *done, node->range);
    return tri_end(l);
}

static End run_if(Lower *l, const PyNode *node, const PyList *list, uint32_t at, bool tail, bool *done) {
    const PyNode *test = node->If.test;
    Val condition = tri_truth(l, tri_eval(l, test), test->range);
    *done = false;
    if (condition.kind == VAL_BOOL) /* only the branch taken is looked at */
        return tri_run_block(l, condition.i ? node->If.body : node->If.orelse, 0, tail && at >= list->count);
    if (tri_val_failed(condition)) {
        tri_poison_stored(l, node);
        return END_GOES_ON;
    }
    return run_branches(l, node, condition.ref, list, at, tail, done);
}

/* --- jumps --- */

static End run_return(Lower *l, const PyNode *node) {
    Val v = node->Return.value ? tri_decay(l, tri_eval(l, node->Return.value), node->range) : val_none;
    if (l->kernel && !l->frame->caller && v.kind != VAL_NONE && !tri_val_failed(v))
        v = tri_error(l, DIAG_TRI_KERNEL_RETURN, node->range, l->frame->function->node->FunctionDef.name);
    for (int depth = 0; depth <= l->frame->loops; depth += l->frame->loops ? l->frame->loops : 1) {
        tri_set_flag(l, FLAG_SKIP, depth, tri_val_bool(true));
        if (depth) tri_set_flag(l, FLAG_STOP, depth, tri_val_bool(true));
    }
    Val before = tri_flag(l, FLAG_RESULT, 0);
    if (l->frame->loops && tri_local(l->frame, tri_flag_name(l, FLAG_RESULT, 0)) && !tri_val_failed(v) &&
        !tri_val_failed(before) && !tri_same_form(l, before, v))
        v = tri_error(l, DIAG_TRI_RETURN_TYPE, node->range, tri_val_describe(l, before), tri_val_describe(l, v));
    tri_set_flag(l, FLAG_RESULT, 0, v);
    return END_STOPS;
}

static End run_jump(Lower *l, const PyNode *node) {
    int depth = l->frame->loops;
    if (!depth) {
        tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "`break` or `continue` outside of a loop");
        return END_STOPS;
    }
    tri_set_flag(l, FLAG_SKIP, depth, tri_val_bool(true));
    if (node->kind == PY_Break) tri_set_flag(l, FLAG_STOP, depth, tri_val_bool(true));
    return END_STOPS;
}

/* --- simple statements --- */

bool tri_is_constexpr_annotation(Lower *l, const PyNode *annotation) {
    static const char start[] = "triton.language.";
    const char *path = tri_names_path(l->names, annotation, l->arena), *last = path ? strrchr(path, '.') : NULL;
    return last && strncmp(path, start, sizeof start - 1) == 0 &&
           strcmp(last, ".constexpr") == 0; /* core.constexpr too */
}

static void run_annotated(Lower *l, const PyNode *node) {
    if (!node->AnnAssign.value) return;
    const PyNode *value = node->AnnAssign.value;
    Val v = tri_eval(l, value);
    if (!tri_is_constexpr_annotation(l, node->AnnAssign.annotation)) {
        v = tri_decay(l, v, value->range);
    } else if (v.kind == VAL_TENSOR) {
        int64_t number; /* known at run time only, it stays what it is: a use that needs a constant says so */
        if (ir_const_int(l->kernel, v.ref, &number)) v = tri_val_int(number);
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
    PyNode *load = arena_copy(l->arena, target, offsetof(PyNode, cells) + 8 * py_kinds[PY_Name].field_count);
    Val before = tri_eval(l, load);
    Val v = tri_binary_written(l, node->AugAssign.op, before, tri_eval(l, node->AugAssign.value), node->range);
    tri_assign(l, target, tri_decay(l, v, node->range));
    l->b.range = outer;
}

static void run_assert(Lower *l, const PyNode *node) {
    if (l->request && !l->request->asserts) return;
    Val test = tri_eval(l, node->Assert.test);
    Val message = node->Assert.msg ? tri_eval(l, node->Assert.msg) : tri_val_str("");
    if (tri_val_failed(test) || tri_val_failed(message)) return;
    const char *text = tri_val_text(l, message);
    if (test.kind != VAL_TENSOR) {
        if (tri_val_truth(test)) return;
        if (!l->kernel) { /* plain Python */
            tri_error(l, DIAG_TRI_STATIC_ASSERT, node->range, text[0] ? ": " : "", text);
            return;
        }
        test = tri_to_tensor(l, tri_val_bool(false), node->range);
    }
    if (l->regions) return; /* see triton_region.c */
    test = tri_cast(l, test, ty_scalar(l->module, EL_I1), node->range);
    if (tri_val_failed(test)) return;
    Op *op = ir_begin(&l->b, OP_ASSERT);
    ir_operand(&l->b, op, test.ref);
    if (text[0]) op_set(l->kernel, op, (Attr){.id = AT_MESSAGE, .text = text});
    ir_end(&l->b, op, NULL);
}

/* A context manager of the host, entered and left while compiling. */
static void run_with(Lower *l, const PyNode *node) {
    const PyList *items = node->With.items;
    Val *managers = ARENA_ARRAY(l->arena, Val, items->count);
    static const Val nothing[3] = {{.kind = VAL_NONE}, {.kind = VAL_NONE}, {.kind = VAL_NONE}};
    for (uint32_t i = 0; i < items->count; i++) {
        const PyNode *item = items->at[i];
        managers[i] = tri_eval(l, item->withitem.context_expr);
        if (tri_val_failed(managers[i])) return;
        if (managers[i].kind != VAL_HOST) {
            tri_error(l, DIAG_TRI_WITH, item->range, tri_val_describe(l, managers[i]));
            return;
        }
        Val entered = tri_live_method(l, managers[i].host, "__enter__", NULL, 0, item->range);
        if (tri_val_failed(entered)) return;
        if (item->withitem.optional_vars) tri_assign(l, item->withitem.optional_vars, entered);
    }
    if (tri_run_block(l, node->With.body, 0, false) != END_GOES_ON) {
        tri_error(l, DIAG_TRI_UNSUPPORTED, node->range, "a jump out of a `with` block");
        return;
    }
    for (uint32_t i = items->count; i-- > 0;) tri_live_method(l, managers[i].host, "__exit__", nothing, 3, node->range);
}

/* What of Python has no place in a kernel, and what to write instead. */
static void refuse_statement(Lower *l, const PyNode *node) {
    const char *what = "this statement", *instead = "move it out of the kernel";
    switch ((PyKind)node->kind) {
    case PY_Try:
    case PY_TryStar:
        what = "`try`";
        instead = "nothing in a kernel raises; test with `if`";
        break;
    case PY_Raise:
        what = "`raise`";
        instead = "use tl.static_assert or tl.device_assert";
        break;
    case PY_Match:
        what = "`match`";
        instead = "use `if` and `elif`";
        break;
    case PY_FunctionDef:
    case PY_AsyncFunctionDef:
        what = "an inner function";
        instead = "define it at module level with @triton.jit";
        break;
    case PY_ClassDef:
        what = "a class";
        instead = "define it at module level, with @triton.aggregate";
        break;
    case PY_Global:
    case PY_Nonlocal:
        what = node->kind == PY_Global ? "`global`" : "`nonlocal`";
        instead = "a kernel reads tl.constexpr globals and changes none";
        break;
    case PY_Delete:
        what = "`del`";
        instead = "leave it out; a value that is not used costs nothing";
        break;
    case PY_Import:
    case PY_ImportFrom:
        what = "an import";
        instead = "move it to the top of the file";
        break;
    default: break;
    }
    tri_error(l, DIAG_TRI_INSTEAD, node->range, what, instead);
}

static void run_simple(Lower *l, const PyNode *node) {
    switch ((PyKind)node->kind) {
    case PY_Assign: {
        const PyList *targets = node->Assign.targets;
        Val v = tri_eval(l, node->Assign.value);
        if (targets->at[0]->kind != PY_Attribute) /* a field keeps a constant */
            v = tri_decay(l, v, node->Assign.value->range);
        for (uint32_t i = 0; i < targets->count; i++) tri_assign(l, targets->at[i], v);
        break;
    }
    case PY_AnnAssign: run_annotated(l, node); break;
    case PY_AugAssign: run_augmented(l, node); break;
    case PY_Expr:
        if (node->Expr.value->kind != PY_Constant) tri_eval(l, node->Expr.value); /* else a docstring */
        break;
    case PY_For: tri_run_for(l, node); break;
    case PY_While: tri_run_while(l, node); break;
    case PY_With: run_with(l, node); break;
    case PY_Assert: run_assert(l, node); break;
    case PY_Pass: break;
    default: refuse_statement(l, node);
    }
}

End tri_run_block(Lower *l, const PyList *list, uint32_t at, bool tail) {
    for (; at < list->count; at++) {
        const PyNode *node = list->at[at];
        if (!tri_step(l, node->range) || l->diag->errors > DIAG_LIMIT) {
            tri_set_flag(l, FLAG_RESULT, 0, val_error);
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
        default: run_simple(l, node); end = tri_end(l);
        }
        if (done || end == END_STOPS) return end;
        if (end == END_MAY_STOP) return run_rest(l, list, at + 1, tail);
    }
    return tri_end(l);
}

/* --- functions --- */

static Val run_in_frame(Lower *l, const Function *function, const Val *args, Range call, bool constructs) {
    Names *names = l->names;
    int errors = l->diag->errors;
    Frame frame = {.caller = l->frame, .function = function, .call = call, .constructs = constructs};
    l->frame = &frame;
    l->names = function->names;
    const PyNode *a = function->node->FunctionDef.args;
    const PyList *lists[] = {a->arguments.posonlyargs, a->arguments.args, a->arguments.kwonlyargs};
    int index = 0;
    for (size_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < lists[k]->count; i++) tri_set_local(l, lists[k]->at[i]->arg.arg, args[index++]);
        if (k == 1 && a->arguments.vararg) tri_set_local(l, a->arguments.vararg->arg.arg, args[index++]);
    }
    End end = tri_run_block(l, function->node->FunctionDef.body, 0, true);
    Val result = tri_flag(l, FLAG_RESULT, 0);
    if (end != END_STOPS && result.kind != VAL_NONE && !tri_val_failed(result))
        result =
            tri_error(l, DIAG_TRI_RETURN_TYPE, function->node->range, "None at its end", tri_val_describe(l, result));
    if (constructs) result = frame.locals.at[0].val; /* self */
    if (l->diag->errors > errors) result = val_error;
    l->frame = frame.caller;
    l->names = names;
    return result;
}

static Val run_function(Lower *l, const Function *function, const Val *args, Range call, bool constructs) {
    int depth = 0;
    for (const Frame *f = l->frame; f; f = f->caller, depth++)
        if (f->function && f->function->node == function->node) /* a lambda has none */
            return tri_error(l, DIAG_TRI_RECURSION, call, function->node->FunctionDef.name);
    if (depth > 50) return tri_error(l, DIAG_TRI_DEPTH, call, 50);
    Range outer = l->b.range;
    Kernel *kernel = l->kernel;
    if (function->host) l->kernel = NULL; /* plain Python: constants only */
    Val v = run_in_frame(l, function, args, call, constructs);
    l->kernel = kernel;
    l->b.range = outer;
    return v;
}

Val tri_run_function(Lower *l, const Function *function, const Val *args, Range call) {
    return run_function(l, function, args, call, false);
}

Val tri_run_constructor(Lower *l, const Function *function, const Val *args, Range call) {
    return run_function(l, function, args, call, true);
}

void tri_run_kernel(Lower *l, const Function *function, const Val *args) {
    Range range = function->node->range;
    Val v = run_in_frame(l, function, args, range, false);
    if (v.kind != VAL_NONE && !tri_val_failed(v))
        tri_error(l, DIAG_TRI_KERNEL_RETURN, range, function->node->FunctionDef.name);
    l->b.range = range;
    ir_return(&l->b);
}
