/* tilec_stmt.c: statements, branches and calls of Tile C. Loops are in tilec_loop.c.
 *
 *     if (constant) ..                        one branch
 *     if (laneid() == 0) ..                   both branches, each for its threads
 *     if (run-time) ..                        `if`; scalars that differ become its results
 *
 * Functions are inlined. `return` may end a branch: what follows the `if` then belongs to the other
 * branch. */
#include "front/tilec/tilec.h"

#include <string.h>

enum { CALL_LIMIT = 32 };

static void lower_list(Tc *tc, CNode *const *list, uint32_t count, bool tail);

/* ---- questions about the tree ---- */

bool tc_contains(const CNode *node, CKind a, CKind b, bool into_loops) {
    if (!node) return false;
    if (node->kind == a || node->kind == b) return true;
    bool loop = node->kind == C_FOR || node->kind == C_WHILE || node->kind == C_DO;
    for (uint32_t i = 0; (into_loops || !loop) && i < node->count; i++)
        if (tc_contains(node->kids[i], a, b, into_loops)) return true;
    return false;
}

static bool may_return(const CNode *node) { return tc_contains(node, C_RETURN, C_RETURN, true); }

static bool always_returns(const CNode *node) {
    if (!node) return false;
    if (node->kind == C_RETURN) return true;
    if (node->kind == C_IF) return always_returns(node->kids[1]) && always_returns(node->kids[2]);
    for (uint32_t i = 0; node->kind == C_BLOCK && i < node->count; i++)
        if (always_returns(node->kids[i])) return true;
    return false;
}

/* ---- if ---- */

static bool same_scalar(Scalar a, Scalar b) { return a.ref == b.ref && a.lanes == b.lanes; }

/* Pointers are known here, so both ways must leave them alike. One that was not set before, or is
 * set on one way only, is not set behind. */
static void join_pointers(Tc *tc, Object *cell, const Saved *a, const Saved *b, Range range) {
    if (!a->target.place || !b->target.place)
        cell->target = (Lvalue){0};
    else if (tc_same_target(&a->target, &b->target))
        cell->target = a->target;
    else
        TC_ERROR(tc, TC_POINTER_CHANGES, range, cell->name, "`if`");
}

/* Behind two ways: a pointer, or what is the same on both. */
static bool joins_by_itself(Tc *tc, Object *cell, const Saved *a, const Saved *b, Range range) {
    bool pointer = cell->type->kind == TC_POINTER, same = !pointer && same_scalar(a->value, b->value);
    if (pointer) join_pointers(tc, cell, a, b, range);
    if (same) cell->value = a->value;
    return pointer || same;
}

static void lower_branch(Tc *tc, const CNode *branch, CNode *const *rest, uint32_t count, bool tail) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    if (branch) tc_statement(tc, branch, tail && !count);
    if (tc->jump == JUMP_NONE && count) lower_list(tc, rest, count, tail);
    tc_close_scope(tc, scope);
    tc->cells.count = cells;
}

/* Both branches for their own threads; no IR is made for the condition itself. */
static void if_threads(Tc *tc, const CNode *node, Scalar condition) {
    const bool *outer = tc->active;
    size_t count = tc->cells.count;
    int64_t base = 0;
    if (!ir_const_int(tc->kernel, condition.ref, &base) || may_return(node) ||
        tc_contains(node, C_BREAK, C_CONTINUE, false)) {
        TC_ERROR(tc, TC_THREAD_MIXED, node->kids[0]->range,
                 "an `if` over thread numbers may not return, break or continue, nor mix in "
                 "run-time values");
        return;
    }
    Saved *before = tc_save(tc), *after[2];
    bool *masks[2];
    for (int side = 0; side < 2; side++) {
        bool *mask = masks[side] = ARENA_ARRAY(tc->arena, bool, tc->threads), any = false;
        for (int t = 0; t < tc->threads; t++) {
            mask[t] = outer[t] && (base + condition.lanes[t] != 0) == (side == 0);
            any = any || mask[t];
        }
        tc->active = mask;
        tc_restore(tc, before, count);
        if (any) lower_branch(tc, node->kids[1 + side], NULL, 0, false);
        after[side] = tc_save(tc);
    }
    tc->active = outer;
    tc_restore(tc, before, count);
    for (size_t i = 0; i < count; i++) {
        if (joins_by_itself(tc, tc->cells.at[i], &after[0][i], &after[1][i], node->range)) continue;
        Scalar a = after[0][i].value, b = after[1][i].value;
        int64_t x = 0, y = 0;
        bool known = a.ref && b.ref && ir_const_int(tc->kernel, a.ref, &x) && ir_const_int(tc->kernel, b.ref, &y);
        if (!known) {
            TC_ERROR(tc, TC_THREAD_MIXED, node->range,
                     arena_printf(tc->arena, "`%s` gets a run-time value in some threads only", tc->cells.at[i]->name));
            return;
        }
        int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
        for (int t = 0; t < tc->threads; t++)
            lanes[t] = masks[0][t] ? x + (a.lanes ? a.lanes[t] : 0) : y + (b.lanes ? b.lanes[t] : 0);
        tc->cells.at[i]->value = tc_scalar(a.type, tc_ref_or_zero(tc, (Scalar){a.type, REF_NONE, NULL, false}), lanes);
    }
}

static void if_runtime(Tc *tc, const CNode *node, Scalar condition, CNode *const *rest, uint32_t rest_count,
                       bool tail) {
    const CNode *branches[2] = {node->kids[1], node->kids[2]};
    bool returns[2] = {always_returns(branches[0]), always_returns(branches[1])};
    bool split = may_return(branches[0]) || may_return(branches[1]);
    bool half = (may_return(branches[0]) && !returns[0]) || (may_return(branches[1]) && !returns[1]);
    if (split && (half || !tail)) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "a `return` in the middle of a branch under a run-time condition",
                 "let the branch end in it, and the `if` stand in the function's own block");
        return;
    }
    Op *op = ir_begin(&tc->b, OP_IF);
    ir_operand(&tc->b, op, condition.ref);
    Builder outer = tc->b, inner[2];
    size_t count = tc->cells.count;
    Saved *before = tc_save(tc), *after[2];
    for (int side = 0; side < 2; side++) {
        tc->b = ir_builder_inside(&outer, ir_region(&outer, op));
        tc_restore(tc, before, count);
        lower_branch(tc, branches[side], rest, split && !returns[side] ? rest_count : 0, split);
        if (tc->jump == JUMP_BREAK || tc->jump == JUMP_CONTINUE)
            TC_ERROR(tc, TC_UNSUPPORTED, node->range, "`break` and `continue` under a run-time condition",
                     "turn the condition around and put the rest inside the `if`");
        tc->jump = JUMP_NONE;
        after[side] = tc_save(tc);
        inner[side] = tc->b;
    }
    tc->b = outer;
    tc_restore(tc, before, count);
    int results = 0;
    bool *open = ARENA_ARRAY(tc->arena, bool, count);
    Ref *values[2] = {ARENA_ARRAY(tc->arena, Ref, count), ARENA_ARRAY(tc->arena, Ref, count)};
    const Type **types = ARENA_ARRAY(tc->arena, const Type *, count);
    Object **places = ARENA_ARRAY(tc->arena, Object *, count);
    for (size_t i = 0; i < count; i++) {
        if (joins_by_itself(tc, tc->cells.at[i], &after[0][i], &after[1][i], node->range)) continue;
        Scalar a = after[0][i].value, b = after[1][i].value;
        if (a.lanes != b.lanes)
            TC_ERROR(tc, TC_THREAD_MIXED, node->range, "a run-time condition cannot choose between numbers of threads");
        places[results] = tc->cells.at[i];
        types[results] = ty_scalar(tc->module, a.type->elem);
        for (int side = 0; side < 2; side++) values[side][results] = tc_ref_or_zero(tc, after[side][i].value);
        tc->cells.at[i]->value.lanes = a.lanes;
        open[results++] = !a.ref || !b.ref || a.open || b.open;
    }
    for (int side = 0; side < 2; side++) ir_yield(&inner[side], values[side], results);
    ir_end_results(&tc->b, op, results, types);
    for (int i = 0; i < results; i++) {
        places[i]->value.ref = op->results[i];
        places[i]->value.open = open[i];
        ir_name(tc->kernel, op->results[i], places[i]->name);
    }
    if (split) tc->jump = JUMP_RETURN; /* the rest stands in a branch already */
}

static void lower_if(Tc *tc, const CNode *node, CNode *const *rest, uint32_t rest_count, bool tail) {
    Scalar condition;
    int64_t constant;
    if (!tc_number(tc, node->kids[0], &condition)) return;
    condition = tc_truth(tc, condition, node->kids[0]->range);
    if (tc_is_constant(tc, condition, &constant)) {
        lower_branch(tc, node->kids[constant ? 1 : 2], NULL, 0, tail && !rest_count);
        if (tc->jump == JUMP_NONE) lower_list(tc, rest, rest_count, tail);
    } else if (condition.lanes) {
        if_threads(tc, node, condition);
        lower_list(tc, rest, rest_count, tail);
    } else {
        if_runtime(tc, node, condition, rest, rest_count, tail);
        if (tc->jump == JUMP_NONE) lower_list(tc, rest, rest_count, tail);
    }
}

/* ---- statements ---- */

static void declare(Tc *tc, const CNode *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        const CNode *one = node->kids[i];
        if (one->kind == C_FUNCTION) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "function declarations inside functions", "declare it outside");
            continue;
        }
        const TcType *type = tc_type(tc, one->kids[0]);
        if (!type || one->kind == C_TYPE_ONLY) continue;
        if (one->kind == C_TYPEDEF) {
            tc_bind(tc, one->name, SYMBOL_TYPE)->type = type;
            continue;
        }
        if (one->flags & (C_FLAG_STATIC | C_FLAG_EXTERN)) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "static and extern variables",
                     "shared tiles are plain variables of an st_* type");
            continue;
        }
        Object *place = tc_place(tc, type, one->name, one->range);
        if (one->kids[1]) tc_initialize(tc, place, one->kids[1]);
        if (one->kids[0]->flags & C_FLAG_CONST) place->locked = "it is const";
        Symbol *symbol = tc_bind(tc, one->name, SYMBOL_PLACE);
        symbol->place = place;
        symbol->type = type;
    }
}

static void lower_return(Tc *tc, const CNode *node) {
    Scalar value;
    if (node->kids[0] && !tc->result) {
        TC_ERROR(tc, TC_RETURN, node->range, "this function gives nothing back; remove the value");
    } else if (!node->kids[0] && tc->result) {
        TC_ERROR(tc, TC_RETURN, node->range, "this function gives a value back; add it");
    } else if (node->kids[0] && tc_number(tc, node->kids[0], &value)) {
        tc_assign(tc, &(Lvalue){.place = tc->result, .type = tc->result->type}, value, node->range);
    }
    tc->jump = JUMP_RETURN;
}

void tc_statement(Tc *tc, const CNode *node, bool tail) {
    Range outer = tc->b.range;
    size_t scope, cells;
    tc->b.range = node->range;
    switch (node->kind) {
    case C_BLOCK:
        scope = tc_open_scope(tc);
        cells = tc->cells.count;
        lower_list(tc, node->kids, node->count, tail);
        tc_close_scope(tc, scope);
        tc->cells.count = cells;
        break;
    case C_DECLARATION: declare(tc, node); break;
    case C_EXPRESSION: tc_expr(tc, node->kids[0]); break;
    case C_EMPTY: break;
    case C_IF: lower_if(tc, node, NULL, 0, tail); break;
    case C_FOR: tc_for(tc, node); break;
    case C_RETURN: lower_return(tc, node); break;
    case C_BREAK: tc->jump = JUMP_BREAK; break;
    case C_CONTINUE: tc->jump = JUMP_CONTINUE; break;
    case C_STATIC_ASSERT: {
        int64_t holds = 0;
        if (tc_constant(tc, node->kids[0], &holds, "the condition of _Static_assert") && !holds)
            TC_ERROR(tc, TC_STATIC_ASSERT, node->range, node->name);
        break;
    }
    default:
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, arena_printf(tc->arena, "`%s` statements", c_kind_name(node->kind)),
                 "write for (int i = a; i < b; i += c) or `if`");
    }
    tc->b.range = outer;
}

static void lower_list(Tc *tc, CNode *const *list, uint32_t count, bool tail) {
    for (uint32_t i = 0; i < count && tc->jump == JUMP_NONE; i++) {
        if (list[i]->kind == C_IF && may_return(list[i])) {
            Range outer = tc->b.range;
            tc->b.range = list[i]->range;
            lower_if(tc, list[i], list + i + 1, count - i - 1, tail);
            tc->b.range = outer;
            return;
        }
        tc_statement(tc, list[i], tail && i + 1 == count);
    }
}

void tc_body(Tc *tc, const CNode *block) {
    tc_statement(tc, block, true);
    tc->jump = JUMP_NONE;
}

/* ---- calls ---- */

/* Enters the function: a new frame, its parameters bound by `bind`. */
static bool begin_call(Tc *tc, const CNode *function, Range range) {
    for (size_t i = 0; i < tc->calls.count; i++)
        if (tc->calls.at[i] == function) {
            TC_ERROR(tc, TC_RECURSION, range, function->name);
            return false;
        }
    if (tc->calls.count >= CALL_LIMIT) {
        TC_ERROR(tc, TC_UNSUPPORTED, range, "calls this deep", "join some of the functions");
        return false;
    }
    *VEC_PUSH(&tc->calls, tc->arena) = function;
    tc->frame = ++tc->frames;
    return true;
}

static void bind_parameter(Tc *tc, const CNode *parameter, const Expr *argument) {
    const TcType *type = tc_type(tc, parameter->kids[0]);
    if (!type || !parameter->name || argument->kind == X_ERROR) return;
    Symbol *symbol = tc_bind(tc, parameter->name, SYMBOL_PLACE);
    symbol->type = type;
    /* Globals, and arrays, whose name in C is the address of their elements. */
    bool by_reference = (type->kind == TC_GLOBAL || type->kind == TC_ARRAY) && argument->kind == X_PLACE &&
                        !argument->lvalue.index_count && tc_same_type(argument->lvalue.type, type);
    if (by_reference) {
        symbol->place = argument->lvalue.place;
        return;
    }
    if (type->kind == TC_TILE) {
        TC_ERROR(tc, TC_UNSUPPORTED, parameter->range, "tiles passed by value", "pass a pointer to the tile");
        type = tc_scalar_type(EL_I32);
    }
    symbol->place = tc_place(tc, type, parameter->name, parameter->range);
    Object *place = symbol->place;
    if (type->kind == TC_SCALAR && argument->kind == X_SCALAR) {
        place->value = tc_convert(tc, argument->scalar, type, argument->range);
    } else if (type->kind == TC_POINTER && argument->kind == X_POINTER &&
               tc_same_type(type->of, argument->lvalue.type)) {
        place->target = argument->lvalue;
    } else if (argument->kind != X_PLACE || !tc_copy(place, argument->lvalue.place)) {
        TC_ERROR(tc, TC_ARGUMENT, argument->range, parameter->name, type->name);
    }
}

Expr tc_call_function(Tc *tc, const CNode *function, const CNode *call) {
    const CNode *parameters = function->kids[1];
    Expr *args = ARENA_ARRAY(tc->arena, Expr, call->count);
    if (call->count - 1 != parameters->count)
        return TC_FAIL(tc, TC_ARGUMENT_COUNT, call->range, function->name, parameters->count, call->count - 1);
    for (uint32_t i = 1; i < call->count; i++) {
        args[i] = tc_read(tc, tc_expr(tc, call->kids[i]));
        if (args[i].kind == X_ERROR) return args[i];
    }
    int frame = tc->frame;
    Object *outer_result = tc->result;
    size_t scope = tc_open_scope(tc);
    if (!begin_call(tc, function, call->range)) return (Expr){.kind = X_ERROR, .range = call->range};
    const TcType *type = tc_type(tc, function->kids[0]);
    tc->result = type && type->kind == TC_SCALAR ? tc_place(tc, type, function->name, call->range) : NULL;
    size_t cells = tc->cells.count;
    for (uint32_t i = 0; i < parameters->count; i++) bind_parameter(tc, parameters->kids[i], &args[i + 1]);
    Object *result = tc->result;
    if (!tc->failed) tc_statement(tc, function->kids[2], true);
    tc->jump = JUMP_NONE;
    tc->calls.count--;
    tc->cells.count = cells;
    tc_close_scope(tc, scope);
    tc->frame = frame;
    tc->result = outer_result;
    if (!type || tc->failed) return (Expr){.kind = X_ERROR, .range = call->range};
    if (!result) return (Expr){.kind = X_VOID, .range = call->range};
    if (result->value.ref == REF_NONE)
        return TC_FAIL(tc, TC_RETURN, call->range,
                       arena_printf(tc->arena, "`%s` gives no value back on this path", function->name));
    return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = result->value};
}

void tc_call_with(Tc *tc, const CNode *function, Object *argument, Range range) {
    int frame = tc->frame;
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    Object *outer_result = tc->result;
    const CNode *parameters = function->kids[1];
    if (!begin_call(tc, function, range)) return;
    tc->result = NULL;
    if (parameters->count == 1) {
        const TcType *type = tc_type(tc, parameters->kids[0]->kids[0]);
        bool fits = type && type->kind == TC_POINTER && type->of == argument->type;
        if (!fits) TC_ERROR(tc, TC_CALLBACK, function->range, function->name, argument->type->name);
        Expr pointer = {.kind = X_POINTER, .range = range, .lvalue = {.place = argument, .type = argument->type}};
        bind_parameter(tc, parameters->kids[0], &pointer);
    } else {
        TC_ERROR(tc, TC_CALLBACK, function->range, function->name, argument->type->name);
    }
    if (!tc->failed) tc_statement(tc, function->kids[2], true);
    tc->jump = JUMP_NONE;
    tc->calls.count--;
    tc->cells.count = cells;
    tc_close_scope(tc, scope);
    tc->frame = frame;
    tc->result = outer_result;
}
