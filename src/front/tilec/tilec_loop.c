/* SPDX-License-Identifier: Apache-2.0 */
/* tilec_loop.c: loops of Tile C, and what is kept of variables around control flow.
 *
 *     for (int i = 0; i < 4; i++) ..          unrolled: at most UNROLL_LIMIT trips that are known here
 *     for (int i = lo; i < hi; i += step) ..  `for`; scalars that the body changes are carried
 *     while (x), do, any other `for`          as C runs it while its condition is known here, then `while`
 *
 * A variable is a Scalar that changes as statements are lowered, a pointer the place it points to: both
 * are kept before a branch or a loop and joined behind it. */
#include "front/tilec/tilec.h"

#include <string.h>

enum { UNROLL_LIMIT = 16, UNROLL_TOTAL = 4096, MAX_OTHER_STEPS = 4 };

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
    same = same && a->part_count == b->part_count;
    for (int i = 0; same && i < a->part_count; i++)
        same = a->part[i].ref == b->part[i].ref && a->part[i].lanes == b->part[i].lanes;
    return same;
}

/* What an unwritten variable is on the path that does not write it: nobody may read it, so any value will do. */
Ref tc_ref_or_zero(Tc *tc, Scalar s) {
    if (s.ref != REF_NONE) return s.ref;
    return elem_is_float(s.type->elem) ? ir_float(&tc->b, s.type->elem, 0) : ir_int(&tc->b, s.type->elem, 0);
}

/* ---- what a body assigns ---- */

static void add_name(Tc *tc, Map *out, const char *name) { map_set(out, tc->arena, name, tc); }

/* A tile or vector: no number is read of it by its name, and a field of that name is another thing (load(&q, g.q,
 * ..)). */
static bool is_tile(Tc *tc, const CNode *target) {
    const Symbol *symbol = target->kind == C_IDENT ? tc_find(tc, target->name) : NULL;
    return symbol && symbol->kind == SYMBOL_PLACE && symbol->type && symbol->type->kind == TC_TILE;
}

static void assigned_target(Tc *tc, const CNode *target, Map *out) {
    while (target->kind == C_INDEX) target = target->kids[0];
    if (is_tile(tc, target)) return;
    bool named = target->kind == C_IDENT || target->kind == C_MEMBER;
    add_name(tc, out, named ? target->name : "*");
}

/* May it be a whole struct? What is not known yet is declared inside. */
static bool is_struct(Tc *tc, const CNode *target) {
    if (target->kind != C_IDENT) return !tc_type_of(tc, target);
    const Symbol *symbol = tc_find(tc, target->name);
    return symbol && symbol->type && symbol->type->kind == TC_STRUCT;
}

/* sum(&x, v): an operation writes what it is given the address of. */
static void assigned_by_call(Tc *tc, const CNode *node, Map *out) {
    for (uint32_t i = 1; i < node->count; i++) {
        const CNode *argument = node->kids[i];
        const Symbol *symbol = argument->kind == C_IDENT ? tc_find(tc, argument->name) : NULL;
        const TcType *type = symbol && symbol->kind == SYMBOL_PLACE ? symbol->type : NULL;
        if (argument->kind == C_UNARY && argument->op == CT_AMP) assigned_target(tc, argument->kids[0], out);
        if (type && type->kind == TC_POINTER && type->of->kind == TC_SCALAR) add_name(tc, out, "*");
    }
}

static void assigned_names(Tc *tc, const CNode *node, Map *out, Map *visited) {
    if (!node) return;
    bool step = (node->kind == C_UNARY || node->kind == C_POSTFIX) && (node->op == CT_INC || node->op == CT_DEC);
    if (step || node->kind == C_ASSIGN) assigned_target(tc, node->kids[0], out);
    /* A struct is assigned field by field. */
    bool assigns = node->kind == C_ASSIGN && node->op == CT_ASSIGN;
    if (assigns && (node->kids[1]->kind == C_COMPOUND || is_struct(tc, node->kids[0])))
        add_name(tc, out, "*");
    if (node->kind == C_RETURN || node->kind == C_BREAK || node->kind == C_CONTINUE) {
        bool whole = tc->result && tc->result->type->kind != TC_SCALAR;
        if (node->kind == C_RETURN && tc->result) add_name(tc, out, whole ? "*" : tc->result->name);
        add_name(tc, out, "jump.flag");
    }
    if (node->kind == C_CALL && node->kids[0]->kind == C_IDENT) {
        const Symbol *callee = tc_find(tc, node->kids[0]->name);
        if (callee && callee->kind == SYMBOL_FUNCTION && !map_get(visited, callee->name)) {
            add_name(tc, visited, callee->name);
            assigned_names(tc, callee->node->kids[2], out, visited);
        }
        if (!callee) assigned_by_call(tc, node, out);
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

/* What a loop carries: an argument of its body for every number that may change; those that do not are taken out
 * behind the body. */
typedef struct Carry {
    Op *op;
    Builder outer;
    Region *region;
    size_t count;
    Saved *before;
    Ref *args;
    int first; /* arguments of the region before the carried ones */
    int results;
    Object **places;
    const Type **types;
} Carry;

static Carry begin_carry(Tc *tc, Op *op, Region *region, const Map *names) {
    Carry c = {.op = op, .outer = tc->b, .region = region, .count = tc->cells.count, .before = tc_save(tc)};
    bool all = map_get(names, "*") != NULL;
    c.first = region->arg_count;
    c.args = ARENA_ARRAY(tc->arena, Ref, c.count);
    for (size_t i = 0; i < c.count; i++) {
        Object *cell = tc->cells.at[i];
        if (cell->type->kind == TC_POINTER || (!all && !map_get(names, cell->name))) continue;
        c.args[i] = ir_argument(tc->kernel, region, ty_scalar(tc->module, cell->type->elem), cell->name);
        if (cell->value.ref != REF_NONE) cell->value.ref = c.args[i];
    }
    tc->b = ir_builder_inside(&c.outer, region);
    tc->loop_depth++;
    return c;
}

/* Ends the body with its yield; the builder stands outside again. */
static void end_carry(Tc *tc, Carry *c) {
    Kernel *k = tc->kernel;
    size_t count = c->count;
    tc->loop_depth--;
    tc->cells.count = count;
    Ref *map = ARENA_ARRAY(tc->arena, Ref, k->values.count), *kept = ARENA_ARRAY(tc->arena, Ref, count + 1);
    Ref *yields = ARENA_ARRAY(tc->arena, Ref, count);
    c->places = ARENA_ARRAY(tc->arena, Object *, count);
    c->types = ARENA_ARRAY(tc->arena, const Type *, count);
    for (int i = 0; i < c->first; i++) kept[i] = c->region->args[i];
    for (size_t i = 0; i < count; i++) {
        Object *cell = tc->cells.at[i];
        Scalar after = cell->value, before = c->before[i].value;
        if (cell->type->kind == TC_POINTER) {
            if (!tc_same_target(&cell->target, &c->before[i].target))
                TC_ERROR(tc, TC_POINTER_CHANGES, tc->b.range, cell->name, "run-time loop");
            continue;
        }
        if (after.open && before.ref && !before.open) {
            TC_ERROR(tc, TC_THREAD_MIXED, tc->b.range,
                     arena_printf(tc->arena, "`%s` gets a run-time value in some threads only", cell->name));
            continue;
        }
        cell->value = before;
        bool same = c->args[i] && before.ref ? after.ref == c->args[i] : after.ref == before.ref;
        if (after.lanes != before.lanes || (!same && !c->args[i])) {
            TC_ERROR(tc, TC_LOOP_CHANGES, tc->b.range, cell->name);
            continue;
        }
        /* A flag that is as it was: nothing to carry. */
        same = same || (after.ref == before.ref && ref_is_literal(after.ref));
        if (same) {
            if (c->args[i]) map[c->args[i]] = before.ref;
            continue;
        }
        ir_operand(&c->outer, c->op, tc_ref_or_zero(tc, before));
        yields[c->results] = after.ref;
        c->places[c->results] = cell;
        c->types[c->results] = ir_type(k, c->args[i]);
        kept[c->first + c->results] = c->args[i];
        ir_value(k, c->args[i])->index = c->first + c->results++;
    }
    replace_refs(c->region, map);
    tc_rename_events(tc, map);
    for (int i = 0; i < c->results; i++)
        if (ref_is_value(yields[i]) && map[yields[i]]) yields[i] = map[yields[i]];
    c->region->args = kept;
    c->region->arg_count = c->first + c->results;
    ir_yield(&tc->b, yields, c->results);
    tc->b = c->outer;
}

static void bind_results(Tc *tc, const Carry *c) {
    ir_end_results(&tc->b, c->op, c->results, c->types);
    for (int i = 0; i < c->results; i++) {
        c->places[i]->value.open = !c->places[i]->value.ref; /* the loop may not run */
        c->places[i]->value.ref = c->op->results[i];
        ir_name(tc->kernel, c->op->results[i], c->places[i]->name);
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
    Carry carry = begin_carry(tc, op, region, names);
    body(tc, tc_scalar(tc_scalar_type(ir_type(k, lo)->elem), index, NULL), user);
    end_carry(tc, &carry);
    bind_results(tc, &carry);
}

typedef struct Counted {
    const CNode *node;
    Object *variable;
    Scalar limit;
    CTok test;
    int64_t step;
    const CNode *others[MAX_OTHER_STEPS + 1]; /* for (..; ..; i++, slot ^= 1): what each trip ends with */
    int other_count;
} Counted;

/* The part of a step that is the variable's; what stands beside it goes to `others`. NULL: there is none, or they need
 * the variable. */
static const CNode *own_step(const CNode *step, const char *name, Counted *out) {
    const CNode *own = NULL, *parts[MAX_OTHER_STEPS + 1];
    int count = 0;
    for (; step->kind == C_COMMA && count < MAX_OTHER_STEPS; step = step->kids[0]) parts[count++] = step->kids[1];
    parts[count++] = step;
    while (count-- > 0) {
        const CNode *target = parts[count]->count ? parts[count]->kids[0] : NULL;
        if (!own && target && target->kind == C_IDENT && !strcmp(target->name, name)) own = parts[count];
        else out->others[out->other_count++] = parts[count];
    }
    return own;
}

/* for (..; i < limit; i += step) where neither the body nor the limit changes what the trips depend
 * on; false if the loop has another form. */
static bool counted_form(Tc *tc, const CNode *node, const Map *assigned, Counted *out) {
    const CNode *test = node->kids[1], *step = node->kids[2];
    if (!test || !step || test->kind != C_BINARY || test->kids[0]->kind != C_IDENT) return false;
    const Symbol *symbol = tc_find(tc, test->kids[0]->name);
    bool place = symbol && symbol->kind == SYMBOL_PLACE && symbol->type->kind == TC_SCALAR;
    if (!place || elem_is_float(symbol->type->elem) || map_get(assigned, symbol->name) || map_get(assigned, "*"))
        return false;
    *out = (Counted){.node = node, .variable = symbol->place, .test = test->op, .step = 1};
    step = own_step(step, symbol->name, out);
    if (!step || tc_has_effects(tc, test->kids[1])) return false;
    Map own = {0};
    add_name(tc, &own, symbol->name);
    for (int i = 0; i < out->other_count; i++)
        if (uses_any(out->others[i], &own)) return false;
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

/* ---- any loop ---- */

/* for (..; test; step) body; while (test) body; do body while (test) */
typedef struct Loop {
    const CNode *node, *test, *step, *body;
    const Map *names; /* that its parts assign */
    Object *go;       /* run time: one more trip */
} Loop;

static Scalar loop_test(Tc *tc, const Loop *loop) {
    Scalar test = tc_int(tc, 1);
    if (loop->test && !tc_number(tc, loop->test, &test)) return tc_int(tc, 0);
    return tc_truth(tc, test, loop->node->range);
}

static void set_go(Tc *tc, const Loop *loop, Scalar go) {
    go = tc_convert(tc, go, tc_scalar_type(EL_I1), loop->node->range);
    loop->go->value = tc_scalar(go.type, tc_uniform(tc, go, loop->node->range), NULL);
}

static void next_trip(Tc *tc, int side, void *user) {
    const Loop *loop = user;
    tc_settle_flags(tc, side == 0);
    if (side == 1 && loop->step) tc_expr(tc, loop->step);
    set_go(tc, loop, side == 0 ? tc_int(tc, 0) : loop_test(tc, loop));
}

/* Whoever gets to a trip did not jump yet. */
static void begin_trip(Tc *tc) {
    for (int j = JUMP_RETURN; j < JUMP_KINDS; j++) tc_reset_flag(tc, (enum TcJump)j);
}

/* The body; then, unless it was left for good, the step and the question for the next trip. */
static void general_trip(Tc *tc, const Loop *loop) {
    begin_trip(tc);
    tc_statement(tc, loop->body, false);
    if (tc->jump == JUMP_CONTINUE) tc->jump = JUMP_NONE;
    tc_reset_flag(tc, JUMP_CONTINUE);
    tc_close_ways(tc, false);
    Scalar dead;
    bool sure = tc->jump != JUMP_NONE, maybe = !sure && tc_may_have_jumped(tc, &dead);
    sure = tc->jump != JUMP_NONE;
    if (tc->jump == JUMP_RETURN) tc_note_jump(tc);
    tc->jump = JUMP_NONE;
    if (maybe && !sure)
        tc_choose(tc, dead.ref, next_trip, (void *)loop, loop->node->range);
    else
        next_trip(tc, sure ? 0 : 1, (void *)loop);
    tc_reset_flag(tc, JUMP_BREAK);
}

/* while: the first region only asks, what it asks was computed before, or at the end of the trip. */
static void general_loop(Tc *tc, Loop *loop, Scalar go) {
    loop->go = tc_new_flag(tc, false, loop->node->range);
    set_go(tc, loop, go);
    if (tc->failed) return;
    Op *op = ir_begin(&tc->b, OP_WHILE);
    Region *test = ir_region(&tc->b, op), *body = ir_region(&tc->b, op);
    Carry carry = begin_carry(tc, op, body, loop->names);
    general_trip(tc, loop);
    end_carry(tc, &carry);
    if (tc->failed) return;
    Builder outer = tc->b;
    tc->b = ir_builder_inside(&outer, test);
    Op *end = ir_begin(&tc->b, OP_TEST);
    Ref again = REF_NONE;
    for (int i = 0; i < carry.results; i++) {
        Ref arg = ir_argument(tc->kernel, test, carry.types[i], carry.places[i]->name);
        if (carry.places[i] == loop->go) again = arg;
    }
    int64_t flag;
    if (!again && ir_const_int(tc->kernel, loop->go->value.ref, &flag) && flag)
        TC_ERROR(tc, TC_ENDLESS, loop->node->range, c_kind_name(loop->node->kind));
    ir_operand(&tc->b, end, again ? again : loop->go->value.ref);
    for (int i = 0; i < carry.results; i++) ir_operand(&tc->b, end, test->args[i]);
    ir_end(&tc->b, end, NULL);
    tc->b = outer;
    bind_results(tc, &carry);
}

static void unroll(Tc *tc, Loop *loop, int trips, bool asked);

typedef struct Trips {
    Loop *loop;
    int left;
} Trips;

static void more_trips(Tc *tc, int side, void *user) {
    const Trips *trips = user;
    tc_settle_flags(tc, side == 0);
    if (side == 0) return;
    if (trips->loop->step) tc_expr(tc, trips->loop->step);
    unroll(tc, trips->loop, trips->left, true);
}

/* As C runs it: the condition, the body, the step, as long as the condition is known here and not for too long. */
static void unroll(Tc *tc, Loop *loop, int trips, bool asked) {
    while (!tc->failed) {
        Scalar test = asked ? loop_test(tc, loop) : tc_int(tc, 1), dead;
        int64_t holds;
        asked = true;
        if (tc->failed) return;
        bool known = tc_is_constant(tc, test, &holds);
        if (known && !holds) return;
        if (!known || trips-- == 0 || ++tc->unrolled > UNROLL_TOTAL) {
            general_loop(tc, loop, test);
            return;
        }
        tc_statement(tc, loop->body, false);
        if (tc->jump == JUMP_CONTINUE) tc->jump = JUMP_NONE;
        tc_reset_flag(tc, JUMP_CONTINUE);
        if (tc->jump != JUMP_NONE) return;
        bool maybe = tc_may_have_jumped(tc, &dead);
        if (tc->jump != JUMP_NONE) return;
        if (maybe) {
            Trips rest = {loop, trips};
            tc_choose(tc, dead.ref, more_trips, &rest, loop->node->range);
            return;
        }
        if (loop->step) tc_expr(tc, loop->step);
    }
}

/* ---- counted loops ---- */

static void counted_body(Tc *tc, Scalar index, void *user) {
    const Counted *loop = user;
    loop->variable->value = tc_convert(tc, index, loop->variable->type, loop->node->range);
    begin_trip(tc);
    tc_statement(tc, loop->node->kids[3], false);
    if (tc->jump == JUMP_CONTINUE) tc->jump = JUMP_NONE;
    tc_reset_flag(tc, JUMP_CONTINUE);
    tc_close_ways(tc, false);
    for (int i = 0; i < loop->other_count; i++) tc_expr(tc, loop->others[i]);
    loop->variable->value.ref = REF_NONE;
}

/* Does it leave the loop? A `break` of a loop or switch inside does not. */
static bool leaves(const CNode *node, bool inner) {
    if (!node) return false;
    if (node->kind == C_RETURN || (node->kind == C_BREAK && !inner)) return true;
    inner = inner || node->kind == C_FOR || node->kind == C_WHILE || node->kind == C_DO || node->kind == C_SWITCH;
    for (uint32_t i = 0; i < node->count; i++)
        if (leaves(node->kids[i], inner)) return true;
    return false;
}

static bool is_short(Tc *tc, const Counted *loop) {
    int64_t first, last;
    return tc_is_constant(tc, loop->variable->value, &first) && tc_is_constant(tc, loop->limit, &last) &&
           count_trips(tc, loop->variable->value, loop->limit, loop) <= UNROLL_LIMIT;
}

/* What the variable is behind the loop: the first number of its steps that is not below the bound. */
static Scalar last_value(Tc *tc, const Ref *bounds, const TcType *type, const TcType *to, Range range) {
    Ref left = ir_binary(&tc->b, OP_SUB, bounds[1], bounds[0]);
    Ref trips = ir_binary(&tc->b, OP_CDIV, left, bounds[2]);
    Ref last = ir_binary(&tc->b, OP_ADD, bounds[0], ir_binary(&tc->b, OP_MUL, trips, bounds[2]));
    Ref runs = ir_compare(&tc->b, CMP_LT, bounds[0], bounds[1]);
    return tc_convert(tc, tc_scalar(type, ir_ternary(&tc->b, OP_SELECT, runs, last, bounds[0]), NULL), to, range);
}

/* for (int i = lo; i < hi; i += step) as the IR has it; false: another form */
static bool lower_counted(Tc *tc, Counted *loop, const Map *assigned) {
    const CNode *node = loop->node;
    Scalar lo = loop->variable->value, hi = loop->limit;
    bool form = loop->step > 0 && (loop->test == CT_LT || loop->test == CT_LE) && !elem_is_float(hi.type->elem);
    if (!form || lo.ref == REF_NONE || lo.open || leaves(node->kids[3], false)) return false;
    /* The trips are those of the comparison's type, as in C. */
    if (loop->test == CT_LE) hi = tc_binary(tc, CT_PLUS, hi, tc_int(tc, 1), node->range);
    const TcType *type = tc_common_type(lo, hi);
    Ref bounds[3] = {tc_uniform(tc, tc_convert(tc, lo, type, node->range), node->range),
                     tc_uniform(tc, tc_convert(tc, hi, type, node->range), node->range),
                     ir_int(&tc->b, type->elem, loop->step)};
    if (!bounds[0] || !bounds[1]) return true;
    /* The variable itself is no carried value: each trip sets it. */
    Object *variable = loop->variable;
    Scalar start = variable->value;
    variable->value.ref = REF_NONE;
    tc_loop(tc, bounds[0], bounds[1], bounds[2], variable->name, assigned, counted_body, loop);
    variable->value = start;
    variable->value.ref = REF_NONE;
    bool outside = node->kids[0] && node->kids[0]->kind != C_DECLARATION;
    if (outside || !node->kids[0]) variable->value = last_value(tc, bounds, type, variable->type, node->range);
    return true;
}

static bool find_counted(Tc *tc, const CNode *node, const Map *assigned, Counted *loop) {
    tc->noting = true;
    bool counted = node->kind == C_FOR && counted_form(tc, node, assigned, loop);
    tc->noting = false;
    for (size_t i = 0; i < tc->read.count; i++) /* also through pointers */
        counted = counted && !map_get(assigned, tc->read.at[i]->name);
    tc->read.count = 0;
    return counted;
}

void tc_lower_loop(Tc *tc, const CNode *node) {
    size_t scope = tc_open_scope(tc), cells = tc->cells.count;
    bool is_for = node->kind == C_FOR, is_do = node->kind == C_DO;
    Loop loop = {.node = node,
                 .test = node->kids[is_for || is_do ? 1 : 0],
                 .step = is_for ? node->kids[2] : NULL,
                 .body = node->kids[is_for ? 3 : is_do ? 0 : 1]};
    Map body = {0}, names = {0};
    Counted counted = {0};
    if (is_for && node->kids[0] && node->kids[0]->kind == C_DECLARATION)
        tc_statement(tc, node->kids[0], false);
    else if (is_for && node->kids[0])
        tc_expr(tc, node->kids[0]);
    tc_assigned_names(tc, loop.body, &body);
    if (is_for && loop.step && loop.test && loop.test->kind == C_BINARY && loop.test->kids[0]->kind == C_IDENT) {
        own_step(loop.step, loop.test->kids[0]->name, &counted);
        for (int i = 0; i < counted.other_count; i++) tc_assigned_names(tc, counted.others[i], &body);
    }
    tc_assigned_names(tc, node, &names);
    add_name(tc, &names, "jump.flag");
    loop.names = &names;
    TcLoopFlags outer = tc_enter_loop(tc, false);
    if (!tc->failed && (!find_counted(tc, node, &body, &counted) || is_short(tc, &counted) ||
                        !lower_counted(tc, &counted, &body)))
        unroll(tc, &loop, UNROLL_LIMIT, !is_do);
    if (tc->jump != JUMP_RETURN) tc->jump = JUMP_NONE;
    tc_close_ways(tc, false);
    tc_leave_loop(tc, outer);
    tc_close_scope(tc, scope);
    tc->cells.count = cells;
}
