/* SPDX-License-Identifier: Apache-2.0 */
/* simt_emit.c: the text of a kernel's ops, one by one (simt.h says how values are held); ops that a target has
 * of its own are its SimtTarget's. */
#include "target/simt/simt.h"

void emit_begin(Emit *e, const SimtTarget *target, PassContext *cx, Kernel *k) {
    Arena *arena = k->module->arena;
    *e = (Emit){.target = target, .cx = cx, .k = k, .arena = arena, .lanes = cx->machine->lanes};
    e->thread = ex(arena, "warp * %d + lane", e->lanes);
    e->facts = facts_new(k, false);
    e->uses = cs_count_uses(k, arena);
    e->uses_inside = ARENA_ARRAY(arena, int, k->values.count);
    e->group = layout_group(cx, k, NULL);
    e->lean = kernel_int(k, AT_LEAN, 0);
    cs_init(&e->p, arena, k, target->dialect);
    e->p.directives = cx->options.lines;
    purpose_begin(e);
    cs_reserve(&e->p, entry_words);
    if (target->words) cs_reserve(&e->p, target->words);
}

bool emit_kernel(Emit *e, CLines *top) {
    entry_hold(e);
    e->top = top;
    e->top_depth = 1;
    e->p.depth = 1;
    emit_region(e, e->k->body);
    return !e->k->module->diag->errors;
}

static void emit_program_id(Emit *e, const Op *op) {
    if (!e->uses[op->results[0]]) return;
    static const char axis[3] = {'x', 'y', 'z'};
    int dim = (int)op_int(op, AT_DIM, 0);
    int sweep = (int)kernel_int(e->k, AT_SWEEP, 0), other = dim == sweep ? 0 : dim ? dim : sweep;
    const char *name = cs_name(&e->p, op->results[0]), *of = op->code == OP_NUM_PROGRAMS ? "blocks" : "block";
    const Expr *text = ex(e->arena, "tw_%s_%c()", of, axis[dim]);
    if (op->code == OP_NUM_PROGRAMS && e->persist)
        text = ex(e->arena, "grid%d", dim);
    else if (other != dim)
        text = ex(e->arena, "swept ? tw_%s_%c() : %p", of, axis[other], text);
    cs_line(&e->p, "const i32 %s = %p;", name, text);
    emit_set_name(e, op->results[0], HOLD_SCALAR, name);
}

static void emit_tensor_part(Emit *e, const Op *op) {
    TensorText t = memory_tensor(e, op->operands[0]);
    int dim = (int)op_int(op, AT_DIM, 0);
    const Expr *text = op->code == OP_BASE ? t.base : op->code == OP_EXTENT ? t.extent[dim] : t.stride[dim];
    if (!text) text = ex(e->arena, op->code == OP_EXTENT ? "0x7fffffffffffffffll" : "1");
    if (op->code != OP_BASE) text = ex(e->arena, "((i64)%p)", text);
    emit_set(e, op->results[0], HOLD_SCALAR, text);
}

/* The same registers under another shape; the one element of a tile as a scalar. */
static void emit_shape(Emit *e, const Op *op) {
    Ref x = op->operands[0], result = op->results[0];
    if (!emit_is_tile(e, result) && emit_is_tile(e, x)) {
        const Expr *text = elementwise_operand(e, x, emit_layout(e, x), &expr_zero);
        emit_set(e, result, HOLD_SCALAR, text);
    } else if (ref_is_literal(x)) {
        emit_set(e, result, HOLD_SCALAR, emit_scalar(e, x));
    } else {
        emit_same(e, result, x);
    }
}

/* The region once an element, its values as variables of the loop. */
static void emit_map(Emit *e, const Op *op) {
    const Layout *layout = emit_layout(e, op->results[0]);
    const Region *body = op->regions[0];
    for (int i = 0; layout && i < op->result_count; i++) emit_declare(e, op->results[i]);
    for (int i = 0; !layout && i < op->result_count; i++) emit_carried(e, op->results[i], REF_NONE);
    if (layout)
        emit_unroll(e, "r", layout->registers, 1);
    else
        emit_block(e);
    for (int i = 0; i < op->operand_count; i++)
        emit_set(e, body->args[i], HOLD_SCALAR,
                 layout ? elementwise_operand(e, op->operands[i], layout, &place_r) : emit_scalar(e, op->operands[i]));
    emit_region(e, body);
    for (int i = 0; i < op->result_count; i++) {
        const Expr *text = emit_scalar(e, body->last->operands[i]), *to = emit_hold(e, op->results[i])->by;
        if (layout)
            cs_line(&e->p, "%p[r] = %p;", to, elementwise_packed(e, ir_type(e->k, op->results[i])->elem, text));
        else
            cs_line(&e->p, "%p = %p;", to, text);
    }
    cs_close(&e->p);
}

void emit_op(Emit *e, const Op *op) {
    if (e->threads && threads_emit(e, op)) return;
    switch (op->code) {
    case OP_SPMD:
        if (op_word(op, AT_UNIT, UNIT_THREAD) != UNIT_THREAD && op->region_count < 2)
            emit_refuse(e, op, "workers that share a region get one each in the pass `merge`, which did not run");
        else if (op->region_count > 1)
            workers_emit(e, op);
        else
            threads_region(e, op);
        return;
    case OP_PROGRAM_ID:
    case OP_NUM_PROGRAMS: emit_program_id(e, op); return;
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_BASE: emit_tensor_part(e, op); return;
    case OP_TENSOR:
        if (op_flag(op, AT_MADE)) e->target->op(e, op);
        return;
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_RETURN:
    case OP_TEST:
    case OP_YIELD: return;
    case OP_UNDEF: emit_set(e, op->results[0], HOLD_SCALAR, cs_zero(e->arena, ir_type(e->k, op->results[0]))); return;
    case OP_EXPAND:
    case OP_PERMUTE: emit_shape(e, op); return;
    case OP_RESHAPE:
        if (!moves_emit(e, op)) emit_shape(e, op);
        return;
    case OP_CONVERT: shared_convert(e, op); return;
    case OP_FOR: emit_for(e, op); return;
    case OP_WHILE: emit_while(e, op); return;
    case OP_IF: emit_if(e, op); return;
    case OP_TLOAD: memory_tload(e, op); return;
    case OP_TSTORE:
        memory_tstore(e, op);
        if (e->target->stored) e->target->stored(e, op);
        return;
    case OP_LOAD: memory_load(e, op); return;
    case OP_STORE: memory_store(e, op); return;
    case OP_TATOMIC: memory_tatomic(e, op); return;
    case OP_ATOMIC:
    case OP_ATOMIC_CAS: atomic_emit(e, op); return;
    case OP_SCAN: scan_emit(e, op); return;
    case OP_SORT: sort_emit(e, op); return;
    case OP_HISTOGRAM: histogram_emit(e, op); return;
    case OP_MAP: emit_map(e, op); return;
    case OP_REDUCE: reduce_emit(e, op); return;
    case OP_DOT: dot_emit(e, op); return;
    case OP_FENCE: atomic_fence(e, op); return;
    case OP_SYNC:
        sync_before(e, op);
        if (!workers_meet(e, op)) sync_step(e);
        return;
    case OP_ASSERT: speech_assert(e, op); return;
    case OP_PRINT: speech_print(e, op); return;
    default:
        if (e->target->op && e->target->op(e, op)) return;
        if (op->code == OP_PARALLEL)
            emit_refuse(e, op, "an element loop is taken apart by the pass `raise`, which did not run");
        else if (!moves_emit(e, op))
            emit_refuse(e, op,
                        "barriers, asynchronous copies and scopes of workers that the source "
                        "writes itself are not merged into tiles here (a template, or operations "
                        "on whole tiles, are)");
    }
}

static bool is_silent(const Op *op) {
    switch (op->code) {
    case OP_TENSOR: return !op_flag(op, AT_MADE);
    case OP_ASSUME:
    case OP_REQUIRE:
    case OP_RETURN:
    case OP_YIELD:
    case OP_TEST:
    case OP_TASKS:
    case OP_RING:
    case OP_EXPAND:
    case OP_RESHAPE:
    case OP_PERMUTE:
    case OP_EXTENT:
    case OP_STRIDE:
    case OP_BASE: return true;
    default: return false;
    }
}

void emit_region(Emit *e, const Region *region) { emit_ops(e, region->first, NULL); }

void emit_ops(Emit *e, const Op *first, const Op *end) {
    const Op *outer = e->end;
    for (const Op *op = first; op && op != end; op = op->next) {
        e->end = end;
        if (e->k->module->diag->errors) break;
        if (op_flag(op, AT_PACKED)) continue; /* its dot does it */
        if (elementwise_is(op)) {
            op = elementwise_run(e, op);
            continue;
        }
        if (!is_silent(op)) cs_place(&e->p, op->range);
        emit_op(e, op);
    }
    e->end = outer;
}
