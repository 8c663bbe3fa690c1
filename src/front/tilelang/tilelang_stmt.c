/* tilelang_stmt.c: statements of a TileLang kernel.
 *
 * Plain names are bindings, not variables: an assignment of a traced value gives it a name. What changes at run time
 * lives in tiles and tensors, so loops and ifs need no carried values; one that binds a name of outside again is
 * refused. Host conditions are decided here. */
#include "front/tilelang/tilelang.h"

#include <string.h>

static void open_scope(Lang *l, bool repeats) {
    Scope *scope = ARENA_NEW(l->arena, Scope);
    scope->outer = l->scope;
    scope->repeats = repeats;
    l->scope = scope;
}

/* In Python a name that a loop binds again has its new value behind the loop. Here it would have the old one. */
static bool check_rebound(Lang *l, const char *name, Range range) {
    if (!l->scope->repeats || map_find(&l->scope->names, name, strlen(name))) return true;
    const Val *old = scope_find(l, name);
    if (!old || old->kind == VAL_DEF || old->kind == VAL_MODULE) return true;
    return lang_error(l, DIAG_TL_REBOUND, range, name, l->conditions ? "loop or `if`" : "loop");
}

/* Lowers the body into the region, with the names bound inside it gone afterwards, and closes the region. */
static bool lower_region(Lang *l, Region *region, const PyList *body, Range range) {
    Builder outside = l->b;
    Scope *before = l->scope;
    l->b = ir_builder_inside(&outside, region);
    open_scope(l, true);
    bool good = lower_body(l, body);
    l->b.range = range;
    if (good) ir_yield(&l->b, NULL, 0);
    l->scope = before;
    l->b = outside;
    return good;
}

/* --- loops --- */

static bool target_names(Lang *l, const PyNode *target, const char **names, int count) {
    const PyNode *single[1] = {target};
    uint32_t n = 1;
    const PyNode *const *parts = single;
    if (target->kind == PY_Tuple) {
        n = target->Tuple.elts->count;
        parts = (const PyNode *const *)target->Tuple.elts->at;
    }
    if ((int)n != count)
        return lang_error(
            l, DIAG_TL_ARGUMENTS, target->range,
            arena_printf(l->arena, "%u names for %d loop variables; write as many names as extents", n, count));
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i]->kind != PY_Name)
            return lang_error(l, DIAG_TL_UNSUPPORTED, parts[i]->range, "this loop target", "use plain names");
        names[i] = parts[i]->Name.id;
    }
    return true;
}

/* A loop's own scope, with its variables in it. */
static bool open_loop(Lang *l, const PyNode *target, const char *const *names, int count) {
    open_scope(l, true);
    for (int i = 0; i < count; i++)
        if (!check_rebound(l, names[i], target->range)) return false;
    return true;
}

/* Of an element loop or of the grid. */
static bool check_extent(Lang *l, const Val *extent, Range range) {
    if (extent->kind != VAL_INT || extent->i < 0) return lang_error(l, DIAG_TL_EXTENT, range, lang_text(l, extent));
    if (extent->i <= INT32_MAX) return true;
    return lang_error(
        l, DIAG_TL_ARGUMENTS, range,
        arena_printf(l->arena, "an extent of %lld does not fit 32 bits; give smaller sizes", (long long)extent->i));
}

static bool lower_parallel(Lang *l, const PyNode *node, const Val *extents, int count) {
    const char *names[MAX_EXTRA];
    if (count < 1)
        return lang_error(l, DIAG_TL_ARGUMENTS, node->For.iter->range, "T.Parallel needs at least one extent");
    if (!target_names(l, node->For.target, names, count)) return false;
    if (l->in_parallel)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "T.Parallel inside T.Parallel",
                          "give all extents to one T.Parallel");
    bool empty = false;
    for (int i = 0; i < count; i++) {
        if (!check_extent(l, &extents[i], node->For.iter->range)) return false;
        empty |= extents[i].i == 0;
    }
    if (empty) return true; /* as a loop without a trip */
    Op *op = ir_begin(&l->b, OP_PARALLEL);
    Region *region = ir_region(&l->b, op);
    Scope *before = l->scope;
    if (!open_loop(l, node->For.target, names, count)) return false;
    for (int i = 0; i < count; i++) {
        ir_operand(&l->b, op, ir_int(&l->b, EL_I32, extents[i].i));
        Val index = val_scalar(l, ir_argument(l->kernel, region, ty_scalar(l->module, EL_I32), names[i]));
        add_variable(l, index.ref, -1, &(int64_t){0}, &(int64_t){extents[i].i - 1});
        scope_set(l, names[i], index);
    }
    l->in_parallel = true;
    bool good = lower_region(l, region, node->For.body, node->range);
    l->in_parallel = false;
    l->scope = before;
    l->b.range = node->range;
    if (good) ir_end(&l->b, op, NULL);
    return good;
}

/* for i in range(start, stop, step), T.serial, T.Pipelined, T.unroll */
static bool lower_counted(Lang *l, const PyNode *node, const Val *bounds, int stages) {
    const char *name;
    Val lo = bounds[1].kind == VAL_NONE ? lang_int(0) : bounds[0];
    Val hi = bounds[1].kind == VAL_NONE ? bounds[0] : bounds[1];
    Val step = bounds[2].kind == VAL_NONE ? lang_int(1) : bounds[2];
    if (!target_names(l, node->For.target, &name, 1)) return false;
    if (l->in_parallel)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "a loop inside T.Parallel",
                          "put T.Parallel inside the loop");
    if (step.kind != VAL_INT || step.i < 1)
        return lang_error(l, DIAG_TL_ARGUMENTS, node->For.iter->range,
                          "the step of a loop must be a known positive integer");
    Val *const all[3] = {&lo, &hi, &step};
    for (int i = 0; i < 3; i++)
        if (all[i]->kind == VAL_INT && (all[i]->i < INT32_MIN || all[i]->i > INT32_MAX))
            return lang_error(
                l, DIAG_TL_ARGUMENTS, node->For.iter->range,
                arena_printf(l->arena, "a loop counts in 32 bits, %lld does not fit", (long long)all[i]->i));
    Ref from, to;
    if (!convert(l, &lo, EL_I32, node->For.iter->range, &from) || !convert(l, &hi, EL_I32, node->For.iter->range, &to))
        return false;
    Op *op = ir_for(&l->b, from, to, ir_int(&l->b, EL_I32, step.i), NULL, 0, name);
    if (stages >= 0) op_set(l->kernel, op, (Attr){.id = AT_STAGES, .number = stages});
    Scope *before = l->scope;
    if (!open_loop(l, node->For.target, &name, 1)) return false;
    Val index = val_scalar(l, op->regions[0]->args[0]);
    bool known = lo.kind == VAL_INT && hi.kind == VAL_INT, idle = known && hi.i <= lo.i;
    int64_t last = known && !idle ? lo.i + (hi.i - 1 - lo.i) / step.i * step.i : lo.i;
    add_variable(l, index.ref, -1, lo.kind == VAL_INT ? &lo.i : NULL, known && !idle ? &last : NULL);
    scope_set(l, name, index);
    l->conditions += idle; /* what stands there never happens */
    bool good = lower_region(l, op->regions[0], node->For.body, node->range);
    l->conditions -= idle;
    l->scope = before;
    return good;
}

static bool lower_for(Lang *l, const PyNode *node) {
    const PyNode *iter = node->For.iter;
    Val func, extra[MAX_EXTRA];
    Param params[MAX_PARAMS];
    int extras = 0;
    if (node->For.orelse->count)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "`else` on a loop", "move it behind the loop");
    if (iter->kind != PY_Call)
        return lang_error(l, DIAG_TL_UNSUPPORTED, iter->range, "this iterable",
                          "loop over T.Parallel, T.Pipelined, T.serial or range");
    if (!eval(l, iter->Call.func, &func)) return false;
    const char *name = func.kind == VAL_MODULE ? func.text : "";
    static const char *const counted[] = {"py.range", "T.serial", "T.Serial", "T.Pipelined", "T.unroll"};
    bool known = strcmp(name, "T.Parallel") == 0;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) known |= strcmp(name, counted[i]) == 0;
    if (!known &&
        (strncmp(name, "T.", 2) != 0 || bind_call(l, iter, name, params, &extras, extra))) /* unknown: it says so */
        return lang_error(l, DIAG_TL_UNSUPPORTED, iter->range, "this iterable",
                          "loop over T.Parallel, T.Pipelined, T.serial or range");
    if (!known || !bind_call(l, iter, name, params, &extras, extra)) return false;
    l->b.range = iter->range;
    if (strcmp(name, "T.Parallel") == 0) return lower_parallel(l, node, extra, extras);
    int stages = -1;
    Val bounds[3] = {params[0].val, params[1].val, params[2].val};
    if (strcmp(name, "T.Pipelined") == 0) {
        stages = 0;
        if (params[2].given && params[2].val.kind != VAL_INT)
            return lang_error(l, DIAG_TL_ARGUMENTS, params[2].range, "num_stages must be a known integer");
        if (params[2].given) stages = (int)params[2].val.i;
        if (stages < 0 || stages > 64)
            return lang_error(l, DIAG_TL_ARGUMENTS, params[2].range, "num_stages must be in 0 .. 64");
        bounds[2] = (Val){.kind = VAL_NONE};
    }
    return lower_counted(l, node, bounds, stages);
}

/* --- with T.Kernel(...) as (bx, by): --- */

static bool lower_launch(Lang *l, const PyNode *node) {
    const PyNode *item = node->With.items->at[0], *call = item->withitem.context_expr;
    Val func, extents[MAX_EXTRA];
    Param params[MAX_PARAMS];
    int count = 0;
    if (node->With.items->count != 1 || call->kind != PY_Call || !eval(l, call->Call.func, &func))
        return l->failed ? false
                         : lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "this `with`",
                                      "only `with T.Kernel(...) as ...:` is known");
    if (func.kind != VAL_MODULE || strcmp(func.text, "T.Kernel") != 0)
        return lang_error(l, DIAG_TL_UNSUPPORTED, call->range, "this `with`",
                          "only `with T.Kernel(...) as ...:` is known");
    if (l->kernel->grid)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "a second T.Kernel in one function",
                          "write two kernels");
    if (!bind_call(l, call, "T.Kernel", params, &count, extents)) return false;
    if (count < 1 || count > 3)
        return lang_error(l, DIAG_TL_ARGUMENTS, call->range, "T.Kernel takes one to three grid extents");
    Kernel *k = l->kernel;
    k->grid = ARENA_NEW(l->module->arena, Region);
    for (int i = 0; i < k->body->arg_count; i++) {
        const Value param = *ir_value(k, k->body->args[i]);
        ir_argument(k, k->grid, param.type, param.name);
    }
    Ref grid[3];
    const char *names[3];
    Builder b = ir_builder_inside(&l->b, k->grid);
    if (item->withitem.optional_vars && !target_names(l, item->withitem.optional_vars, names, count)) return false;
    for (int i = 0; i < count; i++) {
        if (!check_extent(l, &extents[i], call->range)) return false;
        grid[i] = ir_int(&b, EL_I32, extents[i].i);
        if (!item->withitem.optional_vars) continue;
        Op *id = ir_begin(&l->b, OP_PROGRAM_ID);
        op_set(k, id, (Attr){.id = AT_DIM, .number = i});
        Val block = val_scalar(l, ir_end(&l->b, id, NULL));
        ir_name(k, block.ref, names[i]);
        add_variable(l, block.ref, i, &(int64_t){0}, &(int64_t){extents[i].i - 1});
        scope_set(l, names[i], block);
    }
    ir_yield(&b, grid, count);
    if (params[1].given && params[1].val.kind == VAL_INT && (params[1].val.i < 1 || params[1].val.i > 1024))
        return lang_error(l, DIAG_TL_ARGUMENTS, call->range, "T.Kernel takes threads from 1 to 1024");
    if (params[1].given && params[1].val.kind == VAL_INT && params[1].val.i >= 32)
        kernel_set(k, (Attr){.id = AT_WARPS, .number = params[1].val.i / 32});
    l->in_kernel = true;
    bool good = lower_body(l, node->With.body);
    l->in_kernel = false;
    return good;
}

/* --- assignments --- */

static bool assign(Lang *l, const PyNode *target, const Val *value, Range range) {
    if (target->kind == PY_Name) {
        Val bound = *value;
        if (!check_rebound(l, target->Name.id, target->range)) return false;
        if (bound.kind == VAL_REGION && is_element(&bound) && !load_element(l, &bound, range, &bound)) return false;
        if (bound.kind == VAL_SCALAR || bound.kind == VAL_BUFFER) ir_name(l->kernel, bound.ref, target->Name.id);
        scope_set(l, target->Name.id, bound);
        return true;
    }
    if (target->kind == PY_Tuple && value->kind == VAL_TUPLE && (int)target->Tuple.elts->count == value->count) {
        for (int i = 0; i < value->count; i++)
            if (!assign(l, target->Tuple.elts->at[i], &value->items[i], range)) return false;
        return true;
    }
    if (target->kind != PY_Subscript)
        return lang_error(l, DIAG_TL_UNSUPPORTED, target->range, "this assignment",
                          "assign to a name or to an element");
    Val place;
    if (!eval(l, target, &place)) return false;
    if (place.kind != VAL_REGION || !is_element(&place))
        return lang_error(l, DIAG_TL_TYPES, target->range,
                          "only single elements are assigned; move boxes with T.copy and fill them with T.fill");
    return store_element(l, &place, value, range);
}

static bool lower_augmented(Lang *l, const PyNode *node) {
    Val place, old, value, result;
    if (node->AugAssign.target->kind == PY_Name)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "an update of a plain name",
                          "names are bindings; keep what changes in a tile of one element");
    if (!eval(l, node->AugAssign.target, &place) || !eval(l, node->AugAssign.value, &value)) return false;
    if (place.kind != VAL_REGION || !is_element(&place))
        return lang_error(l, DIAG_TL_TYPES, node->range,
                          "only single elements are updated; use T.Parallel over the tile");
    return load_element(l, &place, node->range, &old) &&
           binary(l, node->AugAssign.op, &old, &value, node->range, &result) &&
           store_element(l, &place, &result, node->range);
}

static bool lower_if(Lang *l, const PyNode *node) {
    Val test;
    Ref condition;
    bool taken;
    if (!eval(l, node->If.test, &test)) return false;
    if (truth(&test, &taken)) return lower_body(l, taken ? node->If.body : node->If.orelse);
    if (l->in_parallel)
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "`if` inside T.Parallel",
                          "write T.if_then_else(cond, a, b)");
    if (!convert(l, &test, EL_I1, node->If.test->range, &condition)) return false;
    Op *op = ir_if(&l->b, condition, 0, NULL);
    l->conditions++;
    bool good = lower_region(l, op->regions[0], node->If.body, node->range) &&
                lower_region(l, op->regions[1], node->If.orelse, node->range);
    l->conditions--;
    return good;
}

/* Sizes are known here, so an assert is decided here. */
static bool lower_assert(Lang *l, const PyNode *node) {
    Val test, message = {.kind = VAL_NONE};
    bool holds;
    if (!eval(l, node->Assert.test, &test)) return false;
    if (!truth(&test, &holds))
        return lang_error(l, DIAG_TL_UNSUPPORTED, node->range, "an assert on run-time values",
                          "assert what is known when the kernel is compiled");
    if (holds) return true;
    const PyNode *said = node->Assert.msg;
    if (said && said->kind == PY_Constant && !eval(l, said, &message)) return false;
    return lang_error(l, DIAG_TL_ASSERT, node->range, message.kind == VAL_TEXT ? ": " : "",
                      message.kind == VAL_TEXT ? message.text : "");
}

static bool lower_statement(Lang *l, const PyNode *node) {
    Val val;
    l->b.range = node->range;
    switch (node->kind) {
    case PY_Pass: return true;
    case PY_Expr:
        if (node->Expr.value->kind == PY_Constant) return true; /* a docstring */
        return eval(l, node->Expr.value, &val);
    case PY_Assign:
        if (!eval(l, node->Assign.value, &val)) return false;
        for (uint32_t i = 0; i < node->Assign.targets->count; i++)
            if (!assign(l, node->Assign.targets->at[i], &val, node->range)) return false;
        return true;
    case PY_AnnAssign:
        if (!node->AnnAssign.value) return true;
        return eval(l, node->AnnAssign.value, &val) && assign(l, node->AnnAssign.target, &val, node->range);
    case PY_AugAssign: return lower_augmented(l, node);
    case PY_For: return lower_for(l, node);
    case PY_If: return lower_if(l, node);
    case PY_With: return lower_launch(l, node);
    case PY_Assert: return lower_assert(l, node);
    case PY_Return:
        if (!node->Return.value) return true;
        break;
    default: break;
    }
    return lang_error(l, DIAG_TL_UNSUPPORTED, node->range,
                      arena_printf(l->arena, "the statement `%s`", py_kinds[node->kind].name),
                      "see docs/tilelang.md for what is");
}

/* The names that a statement would have bound have no value; so that its error is the only one about them. */
static void bind_wrong(Lang *l, const PyNode *target) {
    if (target->kind == PY_Name) scope_set(l, target->Name.id, (Val){.kind = VAL_WRONG});
    if (target->kind != PY_Tuple) return;
    for (uint32_t i = 0; i < target->Tuple.elts->count; i++) bind_wrong(l, target->Tuple.elts->at[i]);
}

/* Goes on behind a statement with an error, with everything as it was before it, to find the next ones. */
bool lower_body(Lang *l, const PyList *body) {
    bool good = true;
    if (++l->depth > 100) return lang_error(l, DIAG_TL_TOO_DEEP, body->at[0]->range);
    for (uint32_t i = 0; i < body->count; i++) {
        const PyNode *node = body->at[i];
        Lang before = *l;
        if (lower_statement(l, node)) continue;
        good = false;
        *l = before;
        for (uint32_t t = 0; node->kind == PY_Assign && t < node->Assign.targets->count; t++)
            bind_wrong(l, node->Assign.targets->at[t]);
    }
    l->depth--;
    l->failed |= !good;
    return good;
}
