/* tilec_loop.c: loops of Tile C, and what is kept of variables around control flow.
 *
 *     for (int i = 0; i < 4; i++) ..          unrolled: constant and at most UNROLL_LIMIT trips
 *     for (int i = 0; i < n; i++) n = 2;      unrolled as C runs it, while its condition is known here
 *     for (int i = lo; i < hi; i += step) ..  `for`; scalars that the body changes are carried
 *
 * A variable is a Scalar that changes as statements are lowered, a pointer the place it points to: both
 * are kept before a branch or a loop and joined behind it. */
#include "front/tilec/tilec.h"

#include <string.h>

enum { UNROLL_LIMIT = 16, UNROLL_TOTAL = 4096 };

/* ---- what is kept ---- */

Saved *tc_save(Tc *tc) {
    Saved *values = ARENA_ARRAY(tc->arena, Saved, tc->cells.count);
    for (size_t i = 0; i < tc->cells.count; i++) values[i] = (Saved){tc->cells.at[i]->value, tc->cells.at[i]->target};
    return values;
}

void tc_restore(Tc *tc, const Saved *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        tc->cells.at[i]->value = values[i].value;
        tc->cells.at[i]->target = values[i].target;
    }
}

bool tc_same_target(const Lvalue *a, const Lvalue *b) {
    bool same =
        a->place == b->place && a->type == b->type && a->is_view == b->is_view && a->index_count == b->index_count;
    for (int i = 0; same && i < a->index_count; i++)
        same = a->index[i].ref == b->index[i].ref && a->index[i].lanes == b->index[i].lanes;
    return same;
}

/* What an unwritten variable is on the path that does not write it: nobody may read it, so any value will do. */
Ref tc_ref_or_zero(Tc *tc, Scalar s) {
    if (s.ref != REF_NONE) return s.ref;
    return elem_is_float(s.type->elem) ? ir_float(&tc->b, s.type->elem, 0) : ir_int(&tc->b, s.type->elem, 0);
}

/* ---- what a body assigns ---- */

static void add_name(Tc *tc, Map *out, const char *name) { map_set(out, tc->arena, name, tc); }

static void assigned_target(Tc *tc, const CNode *target, Map *out) {
    while (target->kind == C_INDEX) target = target->kids[0];
    bool named = target->kind == C_IDENT || target->kind == C_MEMBER;
    add_name(tc, out, named ? target->name : "*");
}

static void assigned_names(Tc *tc, const CNode *node, Map *out, Map *visited) {
    if (!node) return;
    bool step = (node->kind == C_UNARY || node->kind == C_POSTFIX) && (node->op == CT_INC || node->op == CT_DEC);
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
    if ((node->kind == C_IDENT || node->kind == C_MEMBER) && map_get(names, node->name)) return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (uses_any(node->kids[i], names)) return true;
    return map_get(names, "*") != NULL && (node->kind == C_IDENT || node->kind == C_MEMBER);
}

/* ---- loops ---- */

static void replace_refs(Region *region, const Ref *map) {
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->operand_count; i++)
            if (ref_is_value(op->operands[i]) && map[op->operands[i]]) op->operands[i] = map[op->operands[i]];
        for (int i = 0; i < op->region_count; i++) replace_refs(op->regions[i], map);
    }
}

void tc_loop(Tc *tc, Ref lo, Ref hi, Ref step, const char *name, const Map *names, TcBody *body, void *user) {
    Kernel *k = tc->kernel;
    Op *op = ir_begin(&tc->b, OP_FOR);
    ir_operand(&tc->b, op, lo);
    ir_operand(&tc->b, op, hi);
    ir_operand(&tc->b, op, step);
    Region *region = ir_region(&tc->b, op);
    Ref index = ir_argument(k, region, ir_type(k, lo), name);
    size_t count = tc->cells.count;
    bool all = map_get(names, "*") != NULL;
    Saved *before = tc_save(tc);
    Ref *args = ARENA_ARRAY(tc->arena, Ref, count);
    for (size_t i = 0; i < count; i++) {
        Object *cell = tc->cells.at[i];
        if (cell->type->kind == TC_POINTER || (!all && !map_get(names, cell->name))) continue;
        args[i] = ir_argument(k, region, ty_scalar(tc->module, cell->type->elem), cell->name);
        if (cell->value.ref != REF_NONE) cell->value.ref = args[i];
    }
    Builder outer = tc->b;
    tc->b = ir_builder_inside(&outer, region);
    tc->loop_depth++;
    body(tc, tc_scalar(tc_scalar_type(ir_type(k, lo)->elem), index, NULL), user);
    tc->loop_depth--;
    tc->cells.count = count;

    Ref *map = ARENA_ARRAY(tc->arena, Ref, k->values.count), *kept = ARENA_ARRAY(tc->arena, Ref, count + 1);
    Ref *yields = ARENA_ARRAY(tc->arena, Ref, count);
    Object **places = ARENA_ARRAY(tc->arena, Object *, count);
    const Type **types = ARENA_ARRAY(tc->arena, const Type *, count);
    int results = 0;
    kept[0] = index;
    for (size_t i = 0; i < count; i++) {
        Object *cell = tc->cells.at[i];
        Scalar after = cell->value;
        if (cell->type->kind == TC_POINTER) {
            if (!tc_same_target(&cell->target, &before[i].target))
                TC_ERROR(tc, TC_POINTER_CHANGES, tc->b.range, cell->name, "run-time loop");
            continue;
        }
        cell->value = before[i].value;
        bool same = args[i] && before[i].value.ref ? after.ref == args[i] : after.ref == before[i].value.ref;
        if (after.lanes != before[i].value.lanes || (!same && !args[i])) {
            TC_ERROR(tc, TC_LOOP_CHANGES, tc->b.range, cell->name);
            continue;
        }
        if (same) {
            if (args[i]) map[args[i]] = before[i].value.ref;
            continue;
        }
        ir_operand(&outer, op, tc_ref_or_zero(tc, before[i].value));
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
    Scalar limit;
    CTok test;
    int64_t step;
    const Object **read; /* by limit and step */
    size_t read_count;
} Counted;

/* for (..; i < limit; i += step) where neither the body nor the limit changes what the trips depend
 * on; false if the loop has another form. */
static bool counted_form(Tc *tc, const CNode *node, const Map *assigned, Counted *out) {
    const CNode *test = node->kids[1], *step = node->kids[2];
    if (!test || !step || test->kind != C_BINARY || test->kids[0]->kind != C_IDENT) return false;
    const Symbol *symbol = tc_find(tc, test->kids[0]->name);
    bool place = symbol && symbol->kind == SYMBOL_PLACE && symbol->type->kind == TC_SCALAR;
    if (!place || elem_is_float(symbol->type->elem) || map_get(assigned, symbol->name) || map_get(assigned, "*"))
        return false;
    if (!step->count || step->kids[0]->kind != C_IDENT || strcmp(step->kids[0]->name, symbol->name) != 0 ||
        tc_has_effects(tc, test->kids[1]))
        return false;
    *out = (Counted){.node = node, .variable = symbol->place, .test = test->op, .step = 1};
    if (step->kind == C_ASSIGN) {
        bool adds = step->op == CT_ADD_ASSIGN || step->op == CT_SUB_ASSIGN;
        Scalar amount;
        if (!adds || tc_has_effects(tc, step->kids[1]) || uses_any(step->kids[1], assigned) ||
            !tc_number(tc, step->kids[1], &amount) || !tc_is_constant(tc, amount, &out->step))
            return false;
    } else if (step->op != CT_INC && step->op != CT_DEC) {
        return false;
    }
    if (step->op == CT_SUB_ASSIGN || step->op == CT_DEC) out->step = (int64_t)(0 - (uint64_t)out->step);
    return out->step != 0 && !uses_any(test->kids[1], assigned) && tc_number(tc, test->kids[1], &out->limit) &&
           (test->op == CT_LT || test->op == CT_LE || test->op == CT_GT || test->op == CT_GE || test->op == CT_NE);
}

/* Trips of a loop whose bounds are constants, counted up to UNROLL_LIMIT + 1. */
static int count_trips(Tc *tc, Scalar at, Scalar hi, const Counted *loop) {
    const TcType *type = at.type;
    Range range = loop->node->range;
    int trips = 0;
    for (int64_t holds; trips <= UNROLL_LIMIT; trips++) {
        if (!tc_is_constant(tc, tc_binary(tc, loop->test, at, hi, range), &holds) || !holds) break;
        Scalar next = tc_binary(tc, CT_PLUS, at, tc_int(tc, loop->step), range);
        at = tc_convert(tc, next, type, range);
    }
    return trips;
}

/* As C runs it: the condition, the body, the step, as long as the condition is known here. */
static void unroll(Tc *tc, const CNode *node, const char *refused, const char *advice) {
    while (!tc->failed) {
        Scalar test = tc_int(tc, 1);
        int64_t holds;
        if (node->kids[1] && !tc_number(tc, node->kids[1], &test)) return;
        if (!tc_is_constant(tc, tc_truth(tc, test, node->range), &holds)) {
            TC_ERROR(tc, TC_UNSUPPORTED, node->range, refused, advice);
            return;
        }
        if (!holds) return;
        if (++tc->unrolled > UNROLL_TOTAL) {
            TC_ERROR(tc, TC_UNROLL, node->range, UNROLL_TOTAL);
            return;
        }
        tc_statement(tc, node->kids[3], false);
        if (tc->jump == JUMP_RETURN) return;
        bool stop = tc->jump == JUMP_BREAK;
        tc->jump = JUMP_NONE;
        if (stop) return;
        if (node->kids[2]) tc_expr(tc, node->kids[2]);
    }
}

static void counted_body(Tc *tc, Scalar index, void *user) {
    const Counted *loop = user;
    loop->variable->value = tc_convert(tc, index, loop->variable->type, loop->node->range);
    tc_statement(tc, loop->node->kids[3], false);
    loop->variable->value.ref = REF_NONE;
}

static void lower_counted(Tc *tc, Counted *loop, const Map *assigned) {
    static const char advice[] = "write for (int i = a; i < b; i += c) with a bound that the body leaves alone, "
                                 "without break, continue and return";
    const CNode *node = loop->node;
    Scalar lo = loop->variable->value, hi = loop->limit;
    int64_t first, last;
    if (lo.ref == REF_NONE || lo.open) {
        if (lo.open)
            TC_ERROR(tc, TC_MAYBE_UNWRITTEN, node->range, loop->variable->name);
        else
            TC_ERROR(tc, TC_UNWRITTEN, node->range, loop->variable->name);
        return;
    }
    if (tc_is_constant(tc, lo, &first) && tc_is_constant(tc, hi, &last) &&
        count_trips(tc, lo, hi, loop) <= UNROLL_LIMIT) {
        unroll(tc, node, "this run-time loop", advice);
        return;
    }
    bool form = loop->step > 0 && (loop->test == CT_LT || loop->test == CT_LE);
    if (!form || tc_contains(node->kids[3], C_RETURN, C_RETURN, true) ||
        tc_contains(node->kids[3], C_BREAK, C_CONTINUE, false)) {
        TC_ERROR(tc, TC_UNSUPPORTED, node->range, "this run-time loop", advice);
        return;
    }
    /* The trips are those of the comparison's type, as in C. */
    if (loop->test == CT_LE) hi = tc_binary(tc, CT_PLUS, hi, tc_int(tc, 1), node->range);
    const TcType *type = tc_common_type(lo, hi);
    Ref bounds[3] = {tc_uniform(tc, tc_convert(tc, lo, type, node->range), node->range),
                     tc_uniform(tc, tc_convert(tc, hi, type, node->range), node->range),
                     ir_int(&tc->b, type->elem, loop->step)};
    if (!bounds[0] || !bounds[1]) return;
    /* The variable itself is no carried value: each trip sets it. */
    Object *variable = loop->variable;
    Scalar start = variable->value;
    variable->value.ref = REF_NONE;
    Ref *read = ARENA_ARRAY(tc->arena, Ref, loop->read_count);
    for (size_t i = 0; i < loop->read_count; i++) read[i] = loop->read[i]->value.ref;
    tc_loop(tc, bounds[0], bounds[1], bounds[2], variable->name, assigned, counted_body, loop);
    /* The names of what the body assigns do not tell what a pointer in the bound points to. */
    for (size_t i = 0; i < loop->read_count && !tc->failed; i++)
        if (loop->read[i]->value.ref != read[i])
            TC_ERROR(tc, TC_UNSUPPORTED, node->range, "this run-time loop", advice);
    variable->value = start;
    variable->value.ref = REF_NONE;
}

void tc_for(Tc *tc, const CNode *node) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    Map assigned = {0};
    Counted loop;
    if (node->kids[0]) tc_statement(tc, node->kids[0], false);
    tc_assigned_names(tc, node->kids[3], &assigned);
    tc->noting = true;
    bool counted = counted_form(tc, node, &assigned, &loop);
    tc->noting = false;
    loop.read = tc->read.at;
    loop.read_count = tc->read.count;
    memset(&tc->read, 0, sizeof tc->read); /* loops inside have lists of their own */
    if (counted)
        lower_counted(tc, &loop, &assigned);
    else
        unroll(tc, node, "this form of `for`",
               "write for (int i = a; i < b; i += c) and leave i and b alone in the body");
    tc_close_scope(tc, scope);
    tc->cells.count = cells;
}
