/* SPDX-License-Identifier: Apache-2.0 */
/* simt_hold.c: where values are held, and how arrays and loops over registers are written (simt.h). */
#include "target/simt/simt.h"

Hold *emit_hold(Emit *e, Ref ref) {
    while (e->holds.count <= ref) VEC_PUSH(&e->holds, e->arena);
    return &e->holds.at[ref];
}

void emit_set(Emit *e, Ref ref, HoldKind kind, const Expr *by) { *emit_hold(e, ref) = (Hold){kind, by}; }

void emit_set_name(Emit *e, Ref ref, HoldKind kind, const char *name) {
    emit_set(e, ref, kind, ex_name(e->arena, name));
}

void emit_same(Emit *e, Ref ref, Ref other) {
    Hold hold = *emit_hold(e, other); /* first: the table may grow */
    *emit_hold(e, ref) = hold;
}

bool emit_is_tile(Emit *e, Ref ref) {
    if (!ref_is_value(ref)) return false;
    const Type *t = ir_type(e->k, ref);
    return t->kind == TY_TILE && t->rank > 0;
}

const Layout *emit_layout(Emit *e, Ref ref) { return emit_is_tile(e, ref) ? ir_value(e->k, ref)->layout : NULL; }

const Expr *emit_scalar(Emit *e, Ref ref) {
    if (ref_is_literal(ref)) return cs_literal(&e->p, ir_literal(e->k, ref));
    const Hold *hold = emit_hold(e, ref);
    if (hold->kind == HOLD_NONE && e->k->module->diag->errors) return &expr_zero; /* nothing is kept anyway */
    if (hold->kind == HOLD_NONE) ice(e->k->module->trap, "simt: %%%s is not there yet", cs_name(&e->p, ref));
    return hold->by;
}

const char *emit_array_type(Emit *e, const Type *type) {
    if (type->pointer || type->elem == EL_I1) return cs_value_type(&e->p, type);
    return cs_memory_type(type->elem);
}

const char *emit_declare(Emit *e, Ref ref) {
    const char *name = cs_name(&e->p, ref);
    cs_line(&e->p, "%s %s[%d];", emit_array_type(e, ir_type(e->k, ref)), name, emit_layout(e, ref)->registers);
    emit_set_name(e, ref, HOLD_ARRAY, name);
    return name;
}

void emit_forget(Emit *e, const Region *region) {
    for (const Op *op = region->first; op; op = op->next) {
        for (int i = 0; i < op->result_count; i++) emit_set(e, op->results[i], HOLD_NONE, NULL);
        for (int i = 0; i < op->region_count; i++) emit_forget(e, op->regions[i]);
    }
}

void emit_unroll_from(Emit *e, const char *variable, int from, int to, int step) {
    e->vector_bits = ll_log2(step);
    cs_loop(&e->p, "#pragma unroll", variable, from, to, step);
}

void emit_unroll_real(Emit *e, const char *variable, int count, int step) {
    e->vector_bits = ll_log2(step);
    cs_real_loop(&e->p, "#pragma unroll", variable, 0, count, step);
}

void emit_unroll(Emit *e, const char *variable, int count, int step) { emit_unroll_from(e, variable, 0, count, step); }

void emit_block(Emit *e) { cs_block(&e->p); }

bool emit_may_reuse(Emit *e, Ref ref, const Op *op) {
    if (!ref_is_value(ref) || e->uses[ref] != 1 || emit_hold(e, ref)->kind != HOLD_ARRAY) return false;
    const Value *v = ir_value(e->k, ref);
    if (!v->op) return v->region == op->parent;
    if (v->op->code == OP_DOT && op_attr(v->op, AT_AHEAD)) return false; /* the next trip's is written there */
    /* An op that only renames its operand's array does not own it. */
    bool renames =
        v->op->code == OP_EXPAND || v->op->code == OP_RESHAPE || v->op->code == OP_PERMUTE || v->op->code == OP_CONVERT;
    return v->op->parent == op->parent && !renames;
}

void emit_find(Emit *e, const Op *op, FindingId id, ...) {
    if (map_find_number(&e->found, (uintptr_t)op)) return;
    map_put_number(&e->found, e->arena, (uintptr_t)op, NULL);
    va_list values;
    va_start(values, id);
    pass_find_list(e->cx, op->range, id, values);
    va_end(values);
}

void emit_refuse(Emit *e, const Op *op, const char *what) {
    diag_emit(e->k->module->diag, DIAG_SIMT_REFUSED, op->range, e->target->name, op_info[op->code].mnemonic, what);
}
