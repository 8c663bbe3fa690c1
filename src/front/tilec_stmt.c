/* tilec_stmt.c: statements, control flow and calls of Tile C.
 *
 *     for (int i = 0; i < 4; i++) ..          unrolled: constant and at most UNROLL_LIMIT trips
 *     for (int i = lo; i < hi; i += step) ..  `for`; scalars that the body changes are carried
 *     if (constant) ..                        one branch
 *     if (laneid() == 0) ..                   both branches, each for its threads
 *     if (run-time) ..                        `if`; scalars that differ become its results
 *
 * Functions are inlined. `return` may end a branch: what follows the `if` then belongs to the other
 * branch. */
#include "front/tilec.h"

#include <string.h>

enum { UNROLL_LIMIT = 16, UNROLL_TOTAL = 4096, CALL_LIMIT = 32 };

static void lower_list(Tc *tc, CNode *const *list, uint32_t count, bool tail);
static void lower_statement(Tc *tc, const CNode *node, bool tail);

/* ---- questions about the tree ---- */

static bool contains(const CNode *node, CKind a, CKind b, bool into_loops) {
    if (!node) return false;
    if (node->kind == a || node->kind == b) return true;
    bool loop = node->kind == C_FOR || node->kind == C_WHILE || node->kind == C_DO;
    for (uint32_t i = 0; (into_loops || !loop) && i < node->count; i++)
        if (contains(node->kids[i], a, b, into_loops)) return true;
    return false;
}

static bool may_return(const CNode *node) {
    return contains(node, C_RETURN, C_RETURN, true);
}

static bool always_returns(const CNode *node) {
    if (!node) return false;
    if (node->kind == C_RETURN) return true;
    if (node->kind == C_IF) return always_returns(node->kids[1]) && always_returns(node->kids[2]);
    for (uint32_t i = 0; node->kind == C_BLOCK && i < node->count; i++)
        if (always_returns(node->kids[i])) return true;
    return false;
}

static void add_name(Tc *tc, Map *out, const char *name) {
    map_set(out, tc->arena, name, tc);
}

static void assigned_target(Tc *tc, const CNode *target, Map *out) {
    while (target->kind == C_INDEX) target = target->kids[0];
    bool named = target->kind == C_IDENT || target->kind == C_MEMBER;
    add_name(tc, out, named ? target->name : "*");
}

static void assigned_names(Tc *tc, const CNode *node, Map *out, Map *visited) {
    if (!node) return;
    bool step = (node->kind == C_UNARY || node->kind == C_POSTFIX) &&
                (node->op == CT_INC || node->op == CT_DEC);
    if (step || node->kind == C_ASSIGN) assigned_target(tc, node->kids[0], out);
    /* A struct is assigned field by field. */
    if (node->kind == C_ASSIGN && node->kids[1]->kind == C_COMPOUND) add_name(tc, out, "*");
    if (node->kind == C_CALL && node->kids[0]->kind == C_IDENT) {
        const Symbol *callee = tc_find(tc, node->kids[0]->name);
        if (callee && callee->kind == SYMBOL_FUNCTION && !map_get(visited, callee->name)) {
            add_name(tc, visited, callee->name);
            assigned_names(tc, callee->node->kids[2], out, visited);
        }
    }
    for (uint32_t i = 0; i < node->count; i++) assigned_names(tc, node->kids[i], out, visited);
}

void tc_assigned_names(Tc *tc, const CNode *node, Map *out) {
    Map visited = {0};
    assigned_names(tc, node, out, &visited);
}

static bool uses_any(const CNode *node, const Map *names) {
    if (!node) return false;
    if ((node->kind == C_IDENT || node->kind == C_MEMBER) && map_get(names, node->name))
        return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (uses_any(node->kids[i], names)) return true;
    return map_get(names, "*") != NULL && (node->kind == C_IDENT || node->kind == C_MEMBER);
}

/* ---- scalars across control flow ---- */

static Scalar *snapshot(Tc *tc) {
    Scalar *values = ARENA_ARRAY(tc->arena, Scalar, tc->cells.count);
    for (size_t i = 0; i < tc->cells.count; i++) values[i] = tc->cells.at[i]->value;
    return values;
}

static void restore(Tc *tc, const Scalar *values, size_t count) {
    for (size_t i = 0; i < count; i++) tc->cells.at[i]->value = values[i];
}

static bool same_scalar(Scalar a, Scalar b) {
    return a.ref == b.ref && a.lanes == b.lanes;
}

/* What an unwritten variable is on the path that does not write it: nobody may read it, so any
 * value will do. */
static Ref ref_or_zero(Tc *tc, Scalar s) {
    if (s.ref != REF_NONE) return s.ref;
    return elem_is_float(s.type->elem) ? ir_float(&tc->b, s.type->elem, 0)
                                       : ir_int(&tc->b, s.type->elem, 0);
}

/* ---- if ---- */

static void lower_branch(Tc *tc, const CNode *branch, CNode *const *rest, uint32_t count,
                         bool tail) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    if (branch) lower_statement(tc, branch, tail && !count);
    if (tc->jump == JUMP_NONE && count) lower_list(tc, rest, count, tail);
    tc_close_scope(tc, scope);
    tc->cells.count = cells;
}

/* Both branches for their own threads; no IR is made for the condition itself. */
static void if_threads(Tc *tc, const CNode *node, Scalar condition) {
    const bool *outer = tc->active;
    size_t count = tc->cells.count;
    int64_t base = 0;
    if (!ir_const_int(tc->kernel, condition.ref, &base) ||
        contains(node, C_RETURN, C_BREAK, true)) {
        TC_ERROR(tc, TC_THREAD_MIXED, node->kids[0]->range,
                 "an `if` over thread numbers may not return or break, nor mix in run-time values");
        return;
    }
    Scalar *before = snapshot(tc), *after[2];
    bool *masks[2];
    for (int side = 0; side < 2; side++) {
        bool *mask = masks[side] = ARENA_ARRAY(tc->arena, bool, tc->threads), any = false;
        for (int t = 0; t < tc->threads; t++) {
            mask[t] = outer[t] && (base + condition.lanes[t] != 0) == (side == 0);
            any = any || mask[t];
        }
        tc->active = mask;
        restore(tc, before, count);
        if (any) lower_branch(tc, node->kids[1 + side], NULL, 0, false);
        after[side] = snapshot(tc);
    }
    tc->active = outer;
    restore(tc, before, count);
    for (size_t i = 0; i < count; i++) {
        Scalar a = after[0][i], b = after[1][i];
        if (same_scalar(a, b)) {
            tc->cells.at[i]->value = a;
            continue;
        }
        int64_t x = 0, y = 0;
        bool known = a.ref && b.ref && ir_const_int(tc->kernel, a.ref, &x) &&
                     ir_const_int(tc->kernel, b.ref, &y);
        if (!known) {
            TC_ERROR(tc, TC_THREAD_MIXED, node->range,
                     arena_printf(tc->arena, "`%s` gets a run-time value in some threads only",
                                  tc->cells.at[i]->name));
            return;
        }
        int64_t *lanes = ARENA_ARRAY(tc->arena, int64_t, tc->threads);
        for (int t = 0; t < tc->threads; t++)
            lanes[t] =
                masks[0][t] ? x + (a.lanes ? a.lanes[t] : 0) : y + (b.lanes ? b.lanes[t] : 0);
        tc->cells.at[i]->value =
            tc_scalar(a.type, ref_or_zero(tc, (Scalar){a.type, REF_NONE, NULL, false}), lanes);
    }
}

static void if_runtime(Tc *tc, const CNode *node, Scalar condition, CNode *const *rest,
                       uint32_t rest_count, bool tail) {
    const CNode *branches[2] = {node->kids[1], node->kids[2]};
    bool returns[2] = {always_returns(branches[0]), always_returns(branches[1])};
    bool split = may_return(branches[0]) || may_return(branches[1]);
    bool half =
        (may_return(branches[0]) && !returns[0]) || (may_return(branches[1]) && !returns[1]);
    if (split && (half || !tail)) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range,
                 "a `return` in the middle of a branch under a run-time condition",
                 "let the branch end in it, and the `if` stand in the function's own block");
        return;
    }
    Op *op = ir_begin(&tc->b, OP_IF);
    ir_operand(&tc->b, op, condition.ref);
    Builder outer = tc->b, inner[2];
    size_t count = tc->cells.count;
    Scalar *before = snapshot(tc), *after[2];
    for (int side = 0; side < 2; side++) {
        tc->b = ir_builder_inside(&outer, ir_region(&outer, op));
        restore(tc, before, count);
        lower_branch(tc, branches[side], rest, split && !returns[side] ? rest_count : 0, split);
        if (tc->jump == JUMP_BREAK || tc->jump == JUMP_CONTINUE)
            TC_ERROR(tc, TC_UNSUPPORTED, node->range,
                     "`break` and `continue` under a run-time condition",
                     "turn the condition around and put the rest inside the `if`");
        tc->jump = JUMP_NONE;
        after[side] = snapshot(tc);
        inner[side] = tc->b;
    }
    tc->b = outer;
    restore(tc, before, count);
    int results = 0;
    bool *open = ARENA_ARRAY(tc->arena, bool, count);
    Ref *values[2] = {ARENA_ARRAY(tc->arena, Ref, count), ARENA_ARRAY(tc->arena, Ref, count)};
    const Type **types = ARENA_ARRAY(tc->arena, const Type *, count);
    Object **places = ARENA_ARRAY(tc->arena, Object *, count);
    for (size_t i = 0; i < count; i++) {
        Scalar a = after[0][i], b = after[1][i];
        if (same_scalar(a, b)) {
            tc->cells.at[i]->value = a;
            continue;
        }
        if (a.lanes != b.lanes)
            TC_ERROR(tc, TC_THREAD_MIXED, node->range,
                     "a run-time condition cannot choose between numbers of threads");
        places[results] = tc->cells.at[i];
        types[results] = ty_scalar(tc->module, a.type->elem);
        for (int side = 0; side < 2; side++)
            values[side][results] = ref_or_zero(tc, after[side][i]);
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

static void lower_if(Tc *tc, const CNode *node, CNode *const *rest, uint32_t rest_count,
                     bool tail) {
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

/* ---- loops ---- */

static void replace_refs(Region *region, const Ref *map) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++)
            if (ref_is_value(op->operands[i]) && map[op->operands[i]])
                op->operands[i] = map[op->operands[i]];
        for (int i = 0; i < op->region_count; i++) replace_refs(op->regions[i], map);
    }
}

void tc_loop(Tc *tc, Ref lo, Ref hi, Ref step, const char *name, const Map *names, TcBody *body,
             void *user) {
    Kernel *k = tc->kernel;
    Op *op = ir_begin(&tc->b, OP_FOR);
    ir_operand(&tc->b, op, lo);
    ir_operand(&tc->b, op, hi);
    ir_operand(&tc->b, op, step);
    Region *region = ir_region(&tc->b, op);
    Ref index = ir_argument(k, region, ir_type(k, lo), name);
    size_t count = tc->cells.count;
    bool all = map_get(names, "*") != NULL;
    Scalar *before = snapshot(tc);
    Ref *args = ARENA_ARRAY(tc->arena, Ref, count);
    for (size_t i = 0; i < count; i++) {
        Object *cell = tc->cells.at[i];
        if (!all && !map_get(names, cell->name)) continue;
        args[i] = ir_argument(k, region, ty_scalar(tc->module, cell->type->elem), cell->name);
        if (cell->value.ref != REF_NONE) cell->value.ref = args[i];
    }
    Builder outer = tc->b;
    tc->b = ir_builder_inside(&outer, region);
    tc->loop_depth++;
    body(tc, tc_scalar(tc_scalar_type(ir_type(k, lo)->elem), index, NULL), user);
    tc->loop_depth--;
    tc->cells.count = count;

    Ref *map = ARENA_ARRAY(tc->arena, Ref, k->values.count),
        *kept = ARENA_ARRAY(tc->arena, Ref, count + 1);
    Ref *yields = ARENA_ARRAY(tc->arena, Ref, count);
    Object **places = ARENA_ARRAY(tc->arena, Object *, count);
    const Type **types = ARENA_ARRAY(tc->arena, const Type *, count);
    int results = 0;
    kept[0] = index;
    for (size_t i = 0; i < count; i++) {
        Object *cell = tc->cells.at[i];
        Scalar after = cell->value;
        cell->value = before[i];
        bool same = args[i] && before[i].ref ? after.ref == args[i] : after.ref == before[i].ref;
        if (after.lanes != before[i].lanes || (!same && !args[i])) {
            TC_ERROR(tc, TC_LOOP_CHANGES, tc->b.range, cell->name);
            continue;
        }
        if (same) {
            if (args[i]) map[args[i]] = before[i].ref;
            continue;
        }
        ir_operand(&outer, op, ref_or_zero(tc, before[i]));
        yields[results] = after.ref;
        places[results] = cell;
        types[results] = ir_type(k, args[i]);
        kept[++results] = args[i];
        ir_value(k, args[i])->index = results;
    }
    replace_refs(region, map);
    for (int i = 0; i < results; i++)
        if (ref_is_value(yields[i]) && map[yields[i]]) yields[i] = map[yields[i]];
    region->args = kept;
    region->arg_count = results + 1;
    ir_yield(&tc->b, yields, results);
    tc->b = outer;
    ir_end_results(&tc->b, op, results, types);
    for (int i = 0; i < results; i++) {
        places[i]->value.open = !places[i]->value.ref; /* the loop may not run */
        places[i]->value.ref = op->results[i];
        ir_name(k, op->results[i], places[i]->name);
    }
}

typedef struct Counted {
    const CNode *node;
    Object *variable;
    const CNode *limit; /* the right side of the condition */
    CTok test;
    int64_t step;
} Counted;

/* for (..; i < limit; i += step) with a body that leaves i alone; false if the loop has another
 * form. */
static bool counted_form(Tc *tc, const CNode *node, const Map *assigned, Counted *out) {
    const CNode *test = node->kids[1], *step = node->kids[2];
    if (!test || !step || test->kind != C_BINARY || test->kids[0]->kind != C_IDENT) return false;
    const Symbol *symbol = tc_find(tc, test->kids[0]->name);
    bool place = symbol && symbol->kind == SYMBOL_PLACE && symbol->type->kind == TC_SCALAR;
    if (!place || elem_is_float(symbol->type->elem) || map_get(assigned, symbol->name) ||
        map_get(assigned, "*"))
        return false;
    if (!step->count || step->kids[0]->kind != C_IDENT ||
        strcmp(step->kids[0]->name, symbol->name) != 0)
        return false;
    *out = (Counted){node, symbol->place, test->kids[1], test->op, 1};
    if (step->kind == C_ASSIGN) {
        bool adds = step->op == CT_ADD_ASSIGN || step->op == CT_SUB_ASSIGN;
        Scalar amount;
        if (!adds || !tc_number(tc, step->kids[1], &amount) ||
            !tc_is_constant(tc, amount, &out->step))
            return false;
    } else if (step->op != CT_INC && step->op != CT_DEC) {
        return false;
    }
    if (step->op == CT_SUB_ASSIGN || step->op == CT_DEC) out->step = -out->step;
    return out->step != 0 && (test->op == CT_LT || test->op == CT_LE || test->op == CT_GT ||
                              test->op == CT_GE || test->op == CT_NE);
}

/* Trips of a loop whose bounds are constants, counted up to UNROLL_LIMIT + 1. */
static int count_trips(int64_t lo, int64_t hi, const Counted *loop) {
    int trips = 0;
    for (int64_t i = lo; trips <= UNROLL_LIMIT; i += loop->step, trips++) {
        CConst holds;
        c_fold(loop->test, (CConst){i, false}, (CConst){hi, false}, &holds);
        if (!holds.value) break;
    }
    return trips;
}

static void unroll(Tc *tc, const Counted *loop, int64_t lo, int trips) {
    for (int i = 0; i < trips && !tc->failed; i++) {
        if (++tc->unrolled > UNROLL_TOTAL) {
            TC_ERROR(tc, TC_UNROLL, loop->node->range, UNROLL_TOTAL);
            return;
        }
        loop->variable->value = tc_convert(tc, tc_int(tc, lo + i * loop->step),
                                           loop->variable->type, loop->node->range);
        lower_statement(tc, loop->node->kids[3], false);
        if (tc->jump == JUMP_RETURN) return;
        bool stop = tc->jump == JUMP_BREAK;
        tc->jump = JUMP_NONE;
        if (stop) return;
    }
    loop->variable->value = tc_convert(tc, tc_int(tc, lo + trips * loop->step),
                                       loop->variable->type, loop->node->range);
}

static void counted_body(Tc *tc, Scalar index, void *user) {
    const Counted *loop = user;
    loop->variable->value = tc_convert(tc, index, loop->variable->type, loop->node->range);
    lower_statement(tc, loop->node->kids[3], false);
    loop->variable->value.ref = REF_NONE;
}

static void lower_counted(Tc *tc, Counted *loop, const Map *assigned) {
    const CNode *node = loop->node;
    Scalar lo = loop->variable->value, hi;
    int64_t first, last;
    if (!tc_number(tc, loop->limit, &hi)) return;
    if (lo.ref == REF_NONE) {
        TC_ERROR(tc, TC_UNWRITTEN, node->range, loop->variable->name);
        return;
    }
    if (tc_is_constant(tc, lo, &first) && tc_is_constant(tc, hi, &last)) {
        int trips = count_trips(first, last, loop);
        if (trips <= UNROLL_LIMIT) {
            unroll(tc, loop, first, trips);
            return;
        }
    }
    bool form = loop->step > 0 && (loop->test == CT_LT || loop->test == CT_LE) &&
                !uses_any(loop->limit, assigned);
    if (!form || may_return(node->kids[3]) || contains(node->kids[3], C_BREAK, C_CONTINUE, false)) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "this run-time loop",
                 "write for (int i = a; i < b; i += c) with a bound that the body leaves alone, "
                 "without break, continue and return");
        return;
    }
    if (loop->test == CT_LE) hi = tc_binary(tc, CT_PLUS, hi, tc_int(tc, 1), node->range);
    const TcType *common = tc_common_type(lo, hi);
    const TcType *type =
        elem_info[common->elem].bits > elem_info[lo.type->elem].bits ? common : lo.type;
    Ref bounds[3] = {tc_uniform(tc, tc_convert(tc, lo, type, node->range), node->range),
                     tc_uniform(tc, tc_convert(tc, hi, type, node->range), node->range),
                     ir_int(&tc->b, type->elem, loop->step)};
    if (!bounds[0] || !bounds[1]) return;
    /* The variable itself is no carried value: each trip sets it. */
    Object *variable = loop->variable;
    Scalar start = variable->value;
    variable->value.ref = REF_NONE;
    tc_loop(tc, bounds[0], bounds[1], bounds[2], variable->name, assigned, counted_body, loop);
    variable->value = start;
    variable->value.ref = REF_NONE;
}

static void lower_for(Tc *tc, const CNode *node) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    Map assigned = {0};
    Counted loop;
    if (node->kids[0]) lower_statement(tc, node->kids[0], false);
    tc_assigned_names(tc, node->kids[3], &assigned);
    if (counted_form(tc, node, &assigned, &loop))
        lower_counted(tc, &loop, &assigned);
    else if (!tc->failed)
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "this form of `for`",
                 "write for (int i = a; i < b; i += c) and leave i alone in the body");
    tc_close_scope(tc, scope);
    tc->cells.count = cells;
}

/* ---- statements ---- */

static void declare(Tc *tc, const CNode *node) {
    for (uint32_t i = 0; i < node->count; i++) {
        const CNode *one = node->kids[i];
        if (one->kind == C_FUNCTION) {
            TC_ERROR(tc, TC_UNSUPPORTED, one->range, "function declarations inside functions",
                     "declare it outside");
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

static void lower_statement(Tc *tc, const CNode *node, bool tail) {
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
    case C_FOR: lower_for(tc, node); break;
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
        TC_ERROR(tc, TC_UNSUPPORTED, node->range,
                 arena_printf(tc->arena, "`%s` statements", c_kind_name(node->kind)),
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
        lower_statement(tc, list[i], tail && i + 1 == count);
    }
}

void tc_body(Tc *tc, const CNode *block) {
    lower_statement(tc, block, true);
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
    bool by_reference = type->kind == TC_GLOBAL && argument->kind == X_PLACE &&
                        argument->lvalue.type->kind == TC_GLOBAL;
    if (by_reference) {
        symbol->place = argument->lvalue.place;
        return;
    }
    if (type->kind == TC_TILE) {
        TC_ERROR(tc, TC_UNSUPPORTED, parameter->range, "tiles passed by value",
                 "pass a pointer to the tile");
        type = tc_scalar_type(EL_I32);
    }
    symbol->place = tc_place(tc, type, parameter->name, parameter->range);
    Object *place = symbol->place;
    if (type->kind == TC_SCALAR && argument->kind == X_SCALAR) {
        place->value = tc_convert(tc, argument->scalar, type, argument->range);
    } else if (type->kind == TC_POINTER && argument->kind == X_POINTER) {
        place->target = argument->lvalue;
    } else if (argument->kind != X_PLACE || !tc_copy(place, argument->lvalue.place)) {
        TC_ERROR(tc, TC_ARGUMENT, argument->range, parameter->name, type->name);
    }
}

Expr tc_call_function(Tc *tc, const CNode *function, const CNode *call) {
    const CNode *parameters = function->kids[1];
    Expr *args = ARENA_ARRAY(tc->arena, Expr, call->count);
    if (call->count - 1 != parameters->count)
        return TC_FAIL(tc, TC_ARGUMENT_COUNT, call->range, function->name, parameters->count,
                       call->count - 1);
    for (uint32_t i = 1; i < call->count; i++) {
        args[i] = tc_read(tc, tc_expr(tc, call->kids[i]));
        if (args[i].kind == X_ERROR) return args[i];
    }
    int frame = tc->frame;
    Object *outer_result = tc->result;
    size_t scope = tc_open_scope(tc);
    if (!begin_call(tc, function, call->range))
        return (Expr){.kind = X_ERROR, .range = call->range};
    const TcType *type = tc_type(tc, function->kids[0]);
    tc->result =
        type && type->kind == TC_SCALAR ? tc_place(tc, type, function->name, call->range) : NULL;
    size_t cells = tc->cells.count;
    for (uint32_t i = 0; i < parameters->count; i++)
        bind_parameter(tc, parameters->kids[i], &args[i + 1]);
    Object *result = tc->result;
    if (!tc->failed) lower_statement(tc, function->kids[2], true);
    tc->jump = JUMP_NONE;
    tc->calls.count--;
    tc->cells.count = cells;
    tc_close_scope(tc, scope);
    tc->frame = frame;
    tc->result = outer_result;
    if (!type || tc->failed) return (Expr){.kind = X_ERROR, .range = call->range};
    if (!result) return (Expr){.kind = X_VOID, .range = call->range};
    if (result->value.ref == REF_NONE)
        return TC_FAIL(
            tc, TC_RETURN, call->range,
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
        Expr pointer = {.kind = X_POINTER,
                        .range = range,
                        .lvalue = {.place = argument, .type = argument->type}};
        bind_parameter(tc, parameters->kids[0], &pointer);
    } else {
        TC_ERROR(tc, TC_CALLBACK, function->range, function->name, argument->type->name);
    }
    if (!tc->failed) lower_statement(tc, function->kids[2], true);
    tc->jump = JUMP_NONE;
    tc->calls.count--;
    tc->cells.count = cells;
    tc_close_scope(tc, scope);
    tc->frame = frame;
    tc->result = outer_result;
}
