/* SPDX-License-Identifier: Apache-2.0 */
/* simt_flow.c: loops and branches, and the values that they carry. */
#include "target/simt/simt.h"

#include <string.h>

/* Copies a value (scalar or tile) into a carried variable. */
static void copy_to(Emit *e, Ref target, Ref source, const Expr *to) {
    const Layout *layout = emit_layout(e, target);
    if (!layout) {
        cs_line(&e->p, "%p = %p;", to, emit_scalar(e, source));
        return;
    }
    const Hold *hold = emit_hold(e, source);
    if (ref_is_value(source) && hold->kind == HOLD_ARRAY && ex_is_name(hold->by, to->text)) return;
    const Type *type = ir_type(e->k, target);
    emit_unroll(e, "r", layout->registers, 1);
    const Expr *text = ref_is_value(source) && hold->kind == HOLD_ARRAY
                           ? ex(e->arena, "%p[%p]", hold->by, place_operand(e, source, layout, &place_r))
                           : elementwise_packed(e, type->elem, elementwise_operand(e, source, layout, &place_r));
    cs_line(&e->p, "%p[r] = %p;", to, text);
    cs_close(&e->p);
}

void emit_carried(Emit *e, Ref ref, Ref initial) {
    if (emit_layout(e, ref) && initial && ir_is_zero(e->k, initial)) {
        const char *name = cs_name(&e->p, ref);
        cs_line(&e->p, "%s %s[%d] = {};", emit_array_type(e, ir_type(e->k, ref)), name, emit_layout(e, ref)->registers);
        emit_set_name(e, ref, HOLD_ARRAY, name);
        return;
    }
    if (emit_layout(e, ref)) {
        emit_declare(e, ref);
        if (initial) copy_to(e, ref, initial, emit_hold(e, ref)->by);
        return;
    }
    const char *name = cs_name(&e->p, ref), *type = cs_value_type(&e->p, ir_type(e->k, ref));
    if (initial)
        cs_line(&e->p, "%s = %p;", cs_variable(&e->p, type, name), emit_scalar(e, initial));
    else
        cs_line(&e->p, "%s;", cs_variable(&e->p, type, name));
    emit_set_name(e, ref, HOLD_SCALAR, name);
}

/* All of targets = sources at once: through temporaries if one is still read by a later copy. */
void emit_copies(Emit *e, const Ref *targets, const Ref *sources, int count) {
    bool clash = false;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            clash |= i != j && ref_is_value(sources[i]) && emit_hold(e, sources[i])->by &&
                     ex_is_name(emit_hold(e, sources[i])->by, emit_hold(e, targets[j])->by->text);
    if (!clash) {
        for (int i = 0; i < count; i++) copy_to(e, targets[i], sources[i], emit_hold(e, targets[i])->by);
        return;
    }
    emit_block(e);
    const char **names = ARENA_ARRAY(e->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const Type *type = ir_type(e->k, targets[i]);
        names[i] = cs_fresh(&e->p, "next");
        const Layout *layout = emit_layout(e, targets[i]);
        if (layout)
            cs_line(&e->p, "%s %s[%d];", emit_array_type(e, type), names[i], layout->registers);
        else
            cs_line(&e->p, "%s;", cs_variable(&e->p, cs_value_type(&e->p, type), names[i]));
        copy_to(e, targets[i], sources[i], ex_name(e->arena, names[i]));
    }
    for (int i = 0; i < count; i++) {
        const Layout *layout = emit_layout(e, targets[i]);
        const Expr *to = emit_hold(e, targets[i])->by;
        if (layout) emit_unroll(e, "r", layout->registers, 1);
        cs_line(&e->p, layout ? "%p[r] = %s[r];" : "%p = %s;", to, names[i]);
        if (layout) cs_close(&e->p);
    }
    cs_close(&e->p);
}

const Expr *emit_goes_on(Emit *e, const Op *loop, const Expr *at) {
    const Expr *hi = emit_scalar(e, loop->operands[1]), *by = emit_scalar(e, loop->operands[2]);
    int64_t step = 0;
    if (ir_const_int(e->k, loop->operands[2], &step)) return ex(e->arena, step < 0 ? "%p > %p" : "%p < %p", at, hi);
    return ex(e->arena, "%p > 0 ? %p < %p : %p < 0 && %p > %p", by, at, hi, by, at, hi);
}

static bool is_wide(Emit *e, const Op *loop) {
    return elem_info[ir_type(e->k, loop->regions[0]->args[0])->elem].bits == 64;
}

const Expr *emit_trips_on(Emit *e, const Op *loop, const Expr *at, const Expr *trips) {
    const Expr *step = emit_scalar(e, loop->operands[2]);
    if (is_wide(e, loop)) return ex(e->arena, "tw_trips_on(%p, %p, %p)", at, step, trips);
    if (ex_is_int(at, 0)) return ex(e->arena, "(i64)%p * %p", trips, step);
    return ex(e->arena, "(i64)%p + (i64)%p * %p", at, trips, step);
}

void emit_for(Emit *e, const Op *op) {
    const SimtTarget *target = e->target;
    bool own = target->loop_begin != NULL;
    if ((target->loop && target->loop(e, op)) || own_loop(e, op)) return;
    Region *body = op->regions[0];
    int count = op->operand_count - 3;
    for (int i = 0; i < count; i++) emit_carried(e, body->args[i + 1], op->operands[i + 3]);
    const char *k = cs_name(&e->p, body->args[0]);
    const char *type = cs_value_type(&e->p, ir_type(e->k, body->args[0]));
    const Expr *lo = emit_scalar(e, op->operands[0]), *hi = emit_scalar(e, op->operands[1]);
    int64_t step = 0;
    bool known = ir_const_int(e->k, op->operands[2], &step);
    void *state = own ? target->loop_begin(e, op) : NULL;
    if (op_int(op, AT_UNROLL, 0) == 1) cs_raw(&e->p, "#pragma unroll 1");
    if (known && step == 1) {
        cs_open(&e->p, "for (%s %s = %p; %s < %p; %s++)", type, k, lo, k, hi, k);
    } else {
        /* The count of trips first: k + step may lie beyond the type. */
        const char *n = cs_fresh(&e->p, "trip");
        const Expr *by = emit_scalar(e, op->operands[2]);
        const Expr *at = ex_name(e->arena, n), *goes_on = emit_goes_on(e, op, at);
        const Expr *next = is_wide(e, op) ? emit_trips_on(e, op, at, ex_int(e->arena, 1)) : NULL;
        if (next)
            cs_open(&e->p, "for (i64 %s = %p; %p; %s = %p)", n, lo, goes_on, n, next);
        else
            cs_open(&e->p, "for (i64 %s = %p; %p; %s += %p)", n, lo, goes_on, n, by);
        cs_line(&e->p, "const %s %s = (%s)%s;", type, k, type, n);
    }
    emit_set_name(e, body->args[0], HOLD_SCALAR, k);
    CLines before = place_trip_begin(e, op);
    if (own) target->trip_begin(e, op, state, k);
    emit_region(e, body);
    if (own) target->trip_end(e, op, state);
    place_trip_end(e, op, before);
    emit_copies(e, body->args + 1, body->last->operands, count);
    cs_close(&e->p);
    if (own) target->loop_end(e, op, state);
    for (int i = 0; i < count; i++) emit_same(e, op->results[i], body->args[i + 1]);
}

void emit_while(Emit *e, const Op *op) {
    Region *test = op->regions[0], *body = op->regions[1];
    int count = op->operand_count;
    for (int i = 0; i < count; i++) {
        emit_carried(e, test->args[i], op->operands[i]);
        emit_same(e, body->args[i], test->args[i]);
    }
    cs_open(&e->p, "for (;;)");
    emit_region(e, test);
    emit_copies(e, test->args, test->last->operands + 1, count);
    cs_line(&e->p, "if (!%p) break;", emit_scalar(e, test->last->operands[0]));
    CLines before = place_trip_begin(e, op);
    emit_region(e, body);
    place_trip_end(e, op, before);
    emit_copies(e, test->args, body->last->operands, count);
    cs_close(&e->p);
    for (int i = 0; i < count; i++) emit_same(e, op->results[i], test->args[i]);
}

static void look_for_reduce(Op *op, void *user) { *(bool *)user |= op->code == OP_REDUCE; }

/* Does it come out of memory, in this trip or in one before? Then a compiler does not know that all lanes have the
 * same. Of more than so many `steps` nobody asks. */
static bool is_read(const Emit *e, Ref r, int *steps) {
    if (!ref_is_value(r)) return false;
    if (--*steps < 0) return true;
    const Value *value = ir_value(e->k, r);
    if (!value->op) return value->region->owner && value->region->owner->code == OP_FOR && value->index > 0;
    if (op_has(value->op->code, TRAIT_READS)) return true;
    bool read = false;
    for (int i = 0; i < value->op->operand_count; i++) read |= is_read(e, value->op->operands[i], steps);
    return read;
}

/* Lanes that trade numbers under a condition have to be seen to go there together, or each trade is guarded. */
static const Expr *condition_of(Emit *e, const Op *op) {
    const Expr *condition = emit_scalar(e, op->operands[0]);
    bool trades = false;
    int steps = 64;
    for (int i = 0; i < op->region_count; i++) ir_walk(op->regions[i], look_for_reduce, &trades);
    return trades && is_read(e, op->operands[0], &steps) ? ex(e->arena, "tw_all(%p)", condition) : condition;
}

void emit_if(Emit *e, const Op *op) {
    for (int i = 0; i < op->result_count; i++) emit_carried(e, op->results[i], REF_NONE);
    const void *beside = e->target->branch_begin ? e->target->branch_begin(e, op) : NULL;
    cs_open(&e->p, "if (%p)", condition_of(e, op));
    for (int i = 0; i < op->region_count; i++) {
        bool empty = !op->regions[i]->first || (op->regions[i]->first == op->regions[i]->last && !op->result_count);
        if (i && empty && !beside) break;
        if (i) cs_reopen(&e->p, "else");
        if (beside) e->target->side_begin(e, beside, i);
        if (i && op->result_count && op->regions[0]->first == op->regions[0]->last && e->target->at_edge)
            cs_line(&e->p, "%s();", e->target->at_edge);
        emit_region(e, op->regions[i]);
        if (beside) e->target->side_end(e, beside, i);
        if (op->regions[i]->last) emit_copies(e, op->results, op->regions[i]->last->operands, op->result_count);
    }
    cs_close(&e->p);
}
