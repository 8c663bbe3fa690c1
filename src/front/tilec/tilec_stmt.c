/* SPDX-License-Identifier: Apache-2.0 */
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

static void lower_rest(Tc *tc, CNode *const *list, uint32_t count, bool tail);

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

static void lower_branch(Tc *tc, const CNode *branch, CNode *const *rest, uint32_t count, bool tail) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    if (branch) tc_statement(tc, branch, tail && !count);
    if (count) lower_rest(tc, rest, count, tail);
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
        if (tc_joins_by_itself(tc, tc->cells.at[i], &after[0][i], &after[1][i], node->range)) continue;
        Scalar a = after[0][i].value, b = after[1][i].value;
        int64_t x = 0, y = 0;
        bool known = a.ref && b.ref && ir_const_int(tc->kernel, a.ref, &x) && ir_const_int(tc->kernel, b.ref, &y);
        if (!known && tc->by_workers && !tc->cells.at[i]->is_element) {
            /* Each thread has its own from here on: nobody may read it before it is written again. */
            tc->cells.at[i]->value = a.ref ? a : b;
            tc->cells.at[i]->value.open = true;
            continue;
        }
        if (!known) {
            TC_ERROR(tc, TC_THREAD_MIXED, node->range,
                     arena_printf(tc->arena, "`%s` gets a run-time value in some threads only", tc->cells.at[i]->name));
            return;
        }
        int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
        for (int t = 0; t < tc->threads; t++)
            lanes[t] = masks[0][t] ? x + (a.lanes ? a.lanes[t] : 0) : y + (b.lanes ? b.lanes[t] : 0);
        tc->cells.at[i]->value = tc_scalar(a.type, tc_ref_or_zero(tc, tc_scalar(a.type, REF_NONE, NULL)), lanes);
    }
}

typedef struct Branches {
    const CNode *node;
    CNode *const *rest;
    uint32_t rest_count;
    bool split; /* a branch returns: the rest belongs to the other one */
} Branches;

static void one_branch(Tc *tc, int side, void *user) {
    const Branches *b = user;
    const CNode *branch = b->node->kids[1 + side];
    lower_branch(tc, branch, b->rest, b->split && !always_returns(branch) ? b->rest_count : 0, b->split);
    if (!b->split) return;
    if (tc->jump != JUMP_RETURN) tc->falls_off = true;
    tc->jump = JUMP_NONE;
}

static void if_runtime(Tc *tc, const CNode *node, Scalar condition, CNode *const *rest, uint32_t rest_count,
                       bool tail) {
    const CNode *branches[2] = {node->kids[1], node->kids[2]};
    bool returns[2] = {may_return(branches[0]), may_return(branches[1])};
    bool half = (returns[0] && !always_returns(branches[0])) || (returns[1] && !always_returns(branches[1]));
    Branches b = {node, rest, rest_count, tail && !half && (returns[0] || returns[1])};
    tc_choose(tc, condition.ref, one_branch, &b, node->range);
    if (b.split) tc->jump = JUMP_RETURN; /* the rest stands in a branch already */
}

typedef struct WorkerSides {
    const CNode *node;
    bool *sides[2];
    const bool *active; /* threads of side 0 that get there; NULL: all */
} WorkerSides;

static void one_worker_side(Tc *tc, int side, void *user) {
    const WorkerSides *w = user;
    const bool *active = tc->active, *role = tc->role;
    int workers = tc->worker_count, count = tc_count_workers(tc, w->sides[side]);
    if (!count) return;
    tc->role = w->sides[side];
    tc->active = w->active && side == 0 ? w->active : tc->role;
    tc->worker_count = count;
    lower_branch(tc, w->node->kids[1 + side], NULL, 0, false);
    tc_end_expected(tc);
    tc->active = active;
    tc->role = role;
    tc->worker_count = workers;
}

/* Warpgroups part: each runs its side, with threads of its own. */
static bool if_workers(Tc *tc, const CNode *node, Scalar condition) {
    WorkerSides w = {.node = node};
    if (!tc_splits_workers(tc, condition, w.sides) || may_return(node)) return false;
    tc_choose(tc, tc_worker_is(tc, w.sides[0]), one_worker_side, &w, node->range);
    return true;
}

/* if (threadIdx.x == 0) S: threads of some of the warpgroups run S, the other warpgroups pass it by. */
static bool if_some_workers(Tc *tc, const CNode *node, Scalar condition) {
    WorkerSides w = {.node = node};
    int64_t base = 0;
    bool form = tc->by_workers && ref_is_value(tc->worker) && !node->kids[2] && !may_return(node) &&
                !tc_contains(node, C_BREAK, C_CONTINUE, false) && ir_const_int(tc->kernel, condition.ref, &base);
    if (!form) return false;
    bool *active = ARENA_ARRAY(tc->arena, bool, tc->threads);
    for (int side = 0; side < 2; side++) w.sides[side] = ARENA_ARRAY(tc->arena, bool, tc->threads);
    for (int first = 0; first < tc->threads; first += 128) {
        bool some = false;
        for (int t = first; t < first + 128; t++) {
            active[t] = tc->active[t] && base + condition.lanes[t] != 0;
            some |= active[t];
        }
        for (int t = first; t < first + 128; t++) w.sides[some ? 0 : 1][t] = tc->role[t];
    }
    int inside = tc_count_workers(tc, w.sides[0]);
    if (!inside || inside == tc->worker_count) return false;
    w.active = active;
    tc_choose(tc, tc_worker_is(tc, w.sides[0]), one_worker_side, &w, node->range);
    return true;
}

static void lower_if(Tc *tc, const CNode *node, CNode *const *rest, uint32_t rest_count, bool tail);

/* Does it ask for the thread's number, by itself or through a variable? */
static bool asks_for_thread(Tc *tc, const CNode *node) {
    if (!node) return false;
    if (node->kind == C_IDENT) {
        const Symbol *symbol = tc_find(tc, node->name);
        bool number = symbol && symbol->kind == SYMBOL_PLACE && symbol->type->kind == TC_SCALAR;
        return number ? symbol->place->value.lanes != NULL : !strcmp(node->name, "threadIdx");
    }
    bool own = node->kind == C_CALL && node->kids[0]->kind == C_IDENT && tc_number_builtin(node->kids[0]->name, 0);
    for (uint32_t i = 0; !own && i < node->count; i++) own = asks_for_thread(tc, node->kids[i]);
    return own;
}

/* if (threadIdx.x == 0 && more) S: one condition of threads, one of the run; S stands under both. */
static bool if_both(Tc *tc, const CNode *node) {
    const CNode *both = node->kids[0];
    bool form = both->kind == C_BINARY && both->op == CT_AND_AND && !node->kids[2] && !may_return(node) &&
                !tc_contains(node, C_BREAK, C_CONTINUE, false);
    if (!form || asks_for_thread(tc, both->kids[0]) == asks_for_thread(tc, both->kids[1])) return false;
    CNode inner = *node, outer = *node, *inside[3] = {both->kids[1], node->kids[1], NULL},
          *around[3] = {both->kids[0], &inner, NULL};
    inner.kids = inside;
    outer.kids = around;
    lower_if(tc, &outer, NULL, 0, false);
    return true;
}

static void lower_if(Tc *tc, const CNode *node, CNode *const *rest, uint32_t rest_count, bool tail) {
    Scalar condition;
    int64_t constant;
    if (if_both(tc, node)) {
        lower_rest(tc, rest, rest_count, tail);
        return;
    }
    if (!tc_number(tc, node->kids[0], &condition)) return;
    condition = tc_truth(tc, condition, node->kids[0]->range);
    if (tc_is_constant(tc, condition, &constant)) {
        lower_branch(tc, node->kids[constant ? 1 : 2], NULL, 0, tail && !rest_count);
    } else if (condition.lanes) {
        if (!if_workers(tc, node, condition) && !if_some_workers(tc, node, condition)) if_threads(tc, node, condition);
    } else {
        if_runtime(tc, node, condition, rest, rest_count, tail);
    }
    lower_rest(tc, rest, rest_count, tail);
}

/* ---- statements ---- */

static bool is_const(const CNode *type) {
    while (type->kind == C_TYPE_ARRAY) type = type->kids[0];
    return type->flags & C_FLAG_CONST;
}

static void declare(Tc *tc, const CNode *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        const CNode *one = node->kids[i];
        if (one->kind == C_FUNCTION) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "function declarations inside functions", "declare it outside");
            continue;
        }
        const TcType *type = one->kind == C_VARIABLE ? tc_declared_type(tc, one) : tc_type(tc, one->kids[0]);
        if (!type || one->kind == C_TYPE_ONLY) continue;
        if (one->kind == C_TYPEDEF) {
            tc_bind(tc, one->name, SYMBOL_TYPE)->type = type;
            continue;
        }
        bool table = one->kids[1] && (one->flags & C_FLAG_STATIC) && is_const(one->kids[0]);
        if (one->flags & (C_FLAG_STATIC | C_FLAG_EXTERN) && !table) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "static and extern variables",
                     "shared tiles are plain variables of an st_* type");
            continue;
        }
        Object *place = tc_place(tc, type, one->name, one->range);
        if (one->kids[1]) tc_initialize(tc, place, one->kids[1]);
        if (is_const(one->kids[0])) tc_lock(place, "it is const");
        Symbol *symbol = tc_bind(tc, one->name, SYMBOL_PLACE);
        symbol->place = place;
        symbol->type = type;
    }
}

static void lower_return(Tc *tc, const CNode *node) {
    if (node->kids[0] && !tc->result)
        TC_ERROR(tc, TC_RETURN, node->range, "this function gives nothing back" FIX "remove the value");
    else if (!node->kids[0] && tc->result)
        TC_ERROR(tc, TC_RETURN, node->range, "this function gives a value back" FIX "add it");
    else if (node->kids[0])
        tc_initialize(tc, tc->result, node->kids[0]);
    tc->jump = JUMP_RETURN;
}

static void lower_jump(Tc *tc, const CNode *node) {
    enum TcJump jump = node->kind == C_BREAK ? JUMP_BREAK : JUMP_CONTINUE;
    if (!tc->flags[jump])
        TC_ERROR(tc, TC_JUMP, node->range, c_kind_name(node->kind), jump == JUMP_BREAK ? "loop or `switch`" : "loop");
    else
        tc->jump = jump;
}

void tc_statement(Tc *tc, const CNode *node, bool tail) {
    Range outer = tc->b.range;
    size_t scope, cells;
    tc->b.range = node->range;
    switch (node->kind) {
    case C_BLOCK:
        scope = tc_open_scope(tc);
        cells = tc->cells.count;
        tc_list(tc, node->kids, node->count, tail);
        tc_close_scope(tc, scope);
        tc->cells.count = cells;
        break;
    case C_DECLARATION: declare(tc, node); break;
    case C_EXPRESSION: tc_expr(tc, node->kids[0]); break;
    case C_EMPTY: break;
    case C_IF: lower_if(tc, node, NULL, 0, tail); break;
    case C_FOR:
    case C_WHILE:
    case C_DO: tc_lower_loop(tc, node); break;
    case C_SWITCH: tc_switch(tc, node); break;
    case C_RETURN: lower_return(tc, node); break;
    case C_BREAK:
    case C_CONTINUE: lower_jump(tc, node); break;
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

void tc_list(Tc *tc, CNode *const *list, uint32_t count, bool tail) {
    for (uint32_t i = 0; i < count && tc->jump == JUMP_NONE && !tc->again; i++) {
        if (list[i]->kind == C_IF && may_return(list[i])) {
            Range outer = tc->b.range;
            tc->b.range = list[i]->range;
            lower_if(tc, list[i], list + i + 1, count - i - 1, tail);
            tc->b.range = outer;
            return;
        }
        tc_statement(tc, list[i], tail && i + 1 == count);
        Scalar dead;
        if (tc->jump == JUMP_NONE && i + 1 < count && tc_may_have_jumped(tc, &dead)) {
            lower_rest(tc, list + i + 1, count - i - 1, tail);
            return;
        }
    }
}

typedef struct Rest {
    CNode *const *list;
    uint32_t count;
    bool tail;
} Rest;

static void rest_side(Tc *tc, int side, void *user) {
    const Rest *rest = user;
    tc_settle_flags(tc, side == 0);
    if (side == 0) tc_close_ways(tc, true);
    if (side == 1) tc_list(tc, rest->list, rest->count, rest->tail);
}

/* What follows a statement: all of it, none, or as far as no jump was taken. */
static void lower_rest(Tc *tc, CNode *const *list, uint32_t count, bool tail) {
    Scalar dead;
    if (tc->jump != JUMP_NONE || !count || tc->again) return;
    bool maybe = tc_may_have_jumped(tc, &dead);
    if (tc->jump != JUMP_NONE) return;
    Rest rest = {list, count, tail};
    if (maybe)
        tc_choose(tc, dead.ref, rest_side, &rest, tc->b.range);
    else
        tc_list(tc, list, count, tail);
}

void tc_body(Tc *tc, const CNode *block) {
    tc->flags[JUMP_RETURN] = tc_new_flag(tc, false, block->range);
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
    } else if (type->kind == TC_POINTER && tc_aim(place, argument)) {
        return;
    } else if (tc_set_coord(tc, place, argument)) {
        return;
    } else if (argument->kind != X_PLACE || !tc_copy(place, argument->lvalue.place)) {
        TC_ERROR(tc, TC_ARGUMENT, argument->range, parameter->name, type->name);
    }
}

/* What is kept of the caller while a function is inlined. */
typedef struct Caller {
    int frame;
    size_t scope, cells;
    Object *result, *flags[JUMP_KINDS];
    bool falls_off;
} Caller;

static Caller leave_caller(Tc *tc) {
    Caller caller = {tc->frame, tc_open_scope(tc), tc->cells.count, tc->result, {0}, tc->falls_off};
    memcpy(caller.flags, tc->flags, sizeof caller.flags);
    return caller;
}

/* The body; is a value given back on every path? */
static bool run_function(Tc *tc, const CNode *function) {
    memset(tc->flags, 0, sizeof tc->flags);
    tc->flags[JUMP_RETURN] = tc_new_flag(tc, false, function->range);
    tc->falls_off = false;
    if (!tc->failed) tc_statement(tc, function->kids[2], true);
    int64_t flag = 0;
    bool returned = ir_const_int(tc->kernel, tc->flags[JUMP_RETURN]->value.ref, &flag) && flag;
    return (tc->jump == JUMP_RETURN && !tc->falls_off) || returned;
}

static void return_to(Tc *tc, const Caller *caller, size_t cells) {
    tc->jump = JUMP_NONE;
    tc->calls.count--;
    tc_close_ways(tc, false);
    tc->cells.count = cells;
    tc_close_scope(tc, caller->scope);
    tc->frame = caller->frame;
    tc->result = caller->result;
    tc->falls_off = caller->falls_off;
    memcpy(tc->flags, caller->flags, sizeof tc->flags);
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
    Caller caller = leave_caller(tc);
    if (!begin_call(tc, function, call->range)) return (Expr){.kind = X_ERROR, .range = call->range};
    const TcType *type = tc_type(tc, function->kids[0]);
    bool gives = type && (type->kind == TC_SCALAR || type->kind == TC_STRUCT);
    if (type && !gives && type->kind != TC_VOID)
        TC_ERROR(tc, TC_UNSUPPORTED, function->range,
                 arena_printf(tc->arena, "functions that give back a %s", type->name),
                 "give back a number or a struct of numbers, or take a pointer");
    Object *result = tc->result = gives ? tc_place(tc, type, function->name, call->range) : NULL;
    if (result) tc_set_zero(tc, result);
    size_t cells = tc->cells.count;
    for (uint32_t i = 0; i < parameters->count; i++) bind_parameter(tc, parameters->kids[i], &args[i + 1]);
    bool returned = run_function(tc, function);
    return_to(tc, &caller, cells);
    if (!type || tc->failed) return (Expr){.kind = X_ERROR, .range = call->range};
    if (!result) return (Expr){.kind = X_VOID, .range = call->range};
    if (!returned)
        return TC_FAIL(tc, TC_RETURN, call->range,
                       arena_printf(tc->arena, "`%s` gives no value back on this path", function->name));
    if (type->kind == TC_STRUCT)
        return (Expr){.kind = X_PLACE, .range = call->range, .lvalue = {.place = result, .type = type}};
    return (Expr){.kind = X_SCALAR, .range = call->range, .scalar = result->value};
}

void tc_call_with(Tc *tc, const CNode *function, Object *argument, Range range) {
    Caller caller = leave_caller(tc);
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
    run_function(tc, function);
    return_to(tc, &caller, caller.cells);
}
