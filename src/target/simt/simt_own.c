/* SPDX-License-Identifier: Apache-2.0 */
/* simt_own.c: loops of single threads that bring an array of the thread's own from global memory, or take it there,
 * element by element: in vectors.
 *
 *     for i in 128 { x = tload A, [row, t * 128 + i]        for (i32 i = 0; i < 128; i += 4)
 *                    bstore own, [i], x }            ->         tw_ldg_or(4, .., own + i, ..);
 *
 * Each thread has a run of its own, so one element a time is a line of memory for each lane, over and over. The
 * offsets, strides and bounds are multiples of a vector, known here; whether the tensor begins at one is asked. */
#include "ir/threads.h"
#include "target/simt/simt.h"
#include "target/simt/simt_box.h"

typedef struct Run {
    const Op *first, *second; /* a load of either kind, and the store of what it loads */
    const Op *own, *box;      /* the access to the array, and the one to the tensor */
    int vector;
} Run;

static bool is_made_in(Emit *e, const Op *loop, Ref ref) {
    if (!ref_is_value(ref)) return false;
    const Op *op = ir_value(e->k, ref)->op;
    return ref == loop->regions[0]->args[0] || (op && op->parent == loop->regions[0]);
}

/* The variable, or a multiple of a vector and the variable. */
static bool steps_along(Emit *e, const Op *loop, Ref at, int vector) {
    Ref variable = loop->regions[0]->args[0];
    const Op *sum = ref_is_value(at) ? ir_value(e->k, at)->op : NULL;
    if (at == variable) return true;
    if (!sum || sum->code != OP_ADD) return false;
    Ref base = sum->operands[sum->operands[0] == variable];
    bool with = sum->operands[0] == variable || sum->operands[1] == variable;
    return with && !is_made_in(e, loop, base) && fact_divisor(&e->facts, base) % vector == 0;
}

static bool is_box_run(Emit *e, const Op *loop, const Run *run) {
    const Op *op = run->box;
    Ref mask = op_operand(op, op->code == OP_TLOAD ? 1 : 2);
    TensorParts parts = fact_tensor(&e->facts, op->operands[0]);
    RefList at = op_list(op, 0);
    int last = parts.rank - 1;
    int64_t stride = 1;
    if (mask || op_attr(op, AT_HINT) || op_attr(op, AT_MOVER) || op_attr(op, AT_VECTOR) || at.count != parts.rank)
        return false;
    for (int d = 0; d < parts.rank; d++)
        if (box_wraps(op, d) || (d < last && (is_made_in(e, loop, at.at[d]) || !parts.stride[d] ||
                                              fact_divisor(&e->facts, parts.stride[d]) % run->vector)))
            return false;
    if (parts.stride[last] && (!ir_const_int(e->k, parts.stride[last], &stride) || stride != 1)) return false;
    if (parts.extent[last] && fact_divisor(&e->facts, parts.extent[last]) % run->vector) return false;
    return last >= 0 && steps_along(e, loop, at.at[last], run->vector);
}

static bool find_run(Emit *e, const Op *loop, Run *run) {
    int64_t from, to, step;
    if (loop->operand_count != 3 || !ir_const_int(e->k, loop->operands[0], &from) ||
        !ir_const_int(e->k, loop->operands[1], &to) || !ir_const_int(e->k, loop->operands[2], &step) || step != 1)
        return false;
    *run = (Run){0};
    for (const Op *op = loop->regions[0]->first; op && op->code != OP_YIELD; op = op->next) {
        bool box = op->code == OP_TLOAD || op->code == OP_TSTORE, own = op->code == OP_BLOAD || op->code == OP_BSTORE;
        if (run->second || (!box && !own && op->code != OP_ADD)) return false;
        if (box) run->box = op;
        if (own) run->own = op;
        if (box || own) *(run->first ? &run->second : &run->first) = op;
    }
    if (!run->box || !run->own || !run->second) return false;
    bool loads = run->box->code == OP_TLOAD;
    if (run->first->code != (loads ? OP_TLOAD : OP_BLOAD) || run->second->code != (loads ? OP_BSTORE : OP_TSTORE) ||
        op_operand(run->second, 1) != run->first->results[0])
        return false;
    const Type *array = ir_type(e->k, run->own->operands[0]), *type = ir_type(e->k, run->first->results[0]);
    RefList at = op_list(run->own, 0);
    bool own = threads_are_around(ir_value(e->k, run->own->operands[0])->op);
    if (!own || type->rank || type->elem == EL_I1 || type->pointer || array->elem != type->elem || array->rank != 1 ||
        at.at[0] != loop->regions[0]->args[0])
        return false;
    run->vector = e->cx->machine->vector_bytes / elem_info[type->elem].bytes;
    return run->vector > 1 && from >= 0 && to <= array->extent[0] && from % run->vector == 0 &&
           to % run->vector == 0 && is_box_run(e, loop, run);
}

/* The loop by vectors; of addresses that are no multiples of one, by elements. */
static void emit_trips(Emit *e, const Op *loop, const Run *run, bool aligned) {
    Ref variable = loop->regions[0]->args[0];
    const char *i = cs_name(&e->p, variable), *type = cs_value_type(&e->p, ir_type(e->k, variable));
    cs_raw(&e->p, aligned ? "#pragma unroll" : "#pragma unroll 1");
    cs_open(&e->p, "for (%s %s = %p; %s < %p; %s += %d)", type, i, emit_scalar(e, loop->operands[0]), i,
            emit_scalar(e, loop->operands[1]), i, run->vector);
    emit_set_name(e, variable, HOLD_SCALAR, i);
    emit_ops(e, loop->regions[0]->first, run->first);
    emit_ops(e, run->first->next, run->second);
    cs_place(&e->p, run->box->range);
    const Type *element = ir_type(e->k, run->first->results[0]);
    Box b = box_of(e, run->box, element, NULL);
    box_indices(e, &b, REF_NONE);
    const Expr *own = ex(e->arena, "%p + %s", emit_hold(e, run->own->operands[0])->by, i), *row = b.row;
    const Expr *on = b.condition ? b.condition : &expr_true;
    if (!aligned) {
        cs_loop(&e->p, "#pragma unroll", "r", 0, run->vector, 1);
        own = ex(e->arena, "%p + r", own), row = ex(e->arena, "%p + r", row);
    }
    int count = aligned ? run->vector : 1;
    if (run->box->code == OP_TLOAD)
        cs_line(&e->p, "tw_ldg_or(%d, %p, %p, %p, %p);", count, on, own, row, box_fill(e, run->box, element->elem));
    else
        cs_line(&e->p, "tw_stg_if(%d, %p, %p, %p);", count, on, row, own);
    if (!aligned) cs_close(&e->p);
    cs_close(&e->p);
}

bool own_loop(Emit *e, const Op *loop) {
    Run run;
    if (!e->threads || !find_run(e, loop, &run)) return false;
    const Expr *base = memory_tensor(e, run.box->operands[0]).base;
    cs_open(&e->p, "if ((u64)(%p) %% %d == 0)", base, e->cx->machine->vector_bytes);
    emit_trips(e, loop, &run, true);
    cs_close(&e->p);
    cs_open(&e->p, "else");
    emit_trips(e, loop, &run, false);
    cs_close(&e->p);
    return true;
}
