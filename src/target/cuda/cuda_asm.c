/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_asm.c: assembly of the source (PTX), once an element.
 *
 *     u32 y[8];
 *     #pragma unroll
 *     for (int r = 0; r < 8; r++) {
 *         tw_asm("shf.l.wrap.b32 %0, %1, %2, 3;", tw_list("=r"(y[r])), tw_list("r"(x[r]), "r"(z[r])));
 *     }
 *
 * LLVM's `$1` is `%1` here. An input that shares the register of an output (`0`) stands as its first value. */
#include "target/cuda/cuda_emit.h"

#include "ir/assembly.h"

/* The code as a C string, with C's numbers for the registers. */
static const Expr *code_text(Emit *e, const char *code, const AsmRegisters *regs) {
    int number[MAX_ASM_REGISTERS], next = regs->outputs;
    for (int i = 0; i < regs->outputs; i++) number[i] = i;
    for (int i = 0; i < regs->inputs; i++) {
        const AsmRegister *in = &regs->at[regs->outputs + i];
        number[regs->outputs + i] = in->tied >= 0 ? in->tied : next++;
    }
    Text text = text_new(e->arena);
    AsmPiece piece;
    while (asm_piece(&code, regs->outputs + regs->inputs, &piece)) {
        for (size_t i = 0; i < piece.length; i++) text_add(&text, piece.text[i] == '%' ? "%%%%" : "%c", piece.text[i]);
        if (piece.number >= 0) text_add(&text, "%%%d", number[piece.number]);
    }
    return ex_atom(e->arena, cs_string(e->arena, text.at));
}

/* "=r"(x) */
static const Expr *held_in(Emit *e, const char *prefix, char letter, const Expr *x) {
    return ex_call(e->arena, arena_printf(e->arena, "\"%s%c\"", prefix, letter), &x, 1);
}

static const Expr *list_outputs(Emit *e, const AsmRegisters *regs, const Expr *const *to) {
    bool tied[MAX_ASM_REGISTERS] = {false};
    const Expr *list[MAX_ASM_REGISTERS];
    for (int i = 0; i < regs->inputs; i++)
        if (regs->at[regs->outputs + i].tied >= 0) tied[regs->at[regs->outputs + i].tied] = true;
    for (int i = 0; i < regs->outputs; i++) {
        const char *prefix = arena_printf(e->arena, "%s%s", tied[i] ? "+" : "=", regs->at[i].early ? "&" : "");
        list[i] = held_in(e, prefix, regs->at[i].letter, to[i]);
    }
    return ex_list(e->arena, list, regs->outputs);
}

static void write_once(Emit *e, const Op *op, const AsmRegisters *regs, const Expr *const *to, const Layout *layout) {
    const Expr *list[MAX_ASM_REGISTERS];
    int count = 0;
    for (int i = 0; i < regs->inputs; i++) {
        const AsmRegister *in = &regs->at[regs->outputs + i];
        const Expr *x =
            layout ? elementwise_operand(e, op->operands[i], layout, &place_r) : emit_scalar(e, op->operands[i]);
        x = ex(e->arena, "(%s)%p", elem_info[asm_elem(in->letter)].text, x);
        if (in->tied >= 0)
            cs_line(&e->p, "%p = %p;", to[in->tied], x);
        else
            list[count++] = held_in(e, "", in->letter, x);
    }
    const Expr *code = code_text(e, op_text(op, AT_CODE), regs), *outputs = list_outputs(e, regs, to);
    const Expr *inputs = ex_list(e->arena, list, count);
    if (op->code == OP_ASM_ACT || regs->memory)
        cs_line(&e->p, "tw_asm_act(%p, tw_list(%p), tw_list(%p));", code, outputs, inputs);
    else
        cs_line(&e->p, "tw_asm(%p, tw_list(%p), tw_list(%p));", code, outputs, inputs);
}

void asm_emit(Emit *e, const Op *op) {
    AsmRegisters regs;
    asm_registers(op_text(op, AT_CONSTRAINTS), &regs);
    const Layout *layout = emit_layout(e, op->results[0]);
    const Expr *to[MAX_MAP_RESULTS];
    if (op->code == OP_ASM_ACT) { /* it may read what other threads have written .. */
        sync_before(e, op);
        sync_step(e);
    }
    for (int i = 0; i < op->result_count; i++) {
        Ref result = op->results[i];
        if (layout) {
            emit_declare(e, result);
            to[i] = ex(e->arena, "%p[r]", emit_hold(e, result)->by);
        } else {
            emit_carried(e, result, REF_NONE);
            to[i] = emit_hold(e, result)->by;
        }
    }
    if (layout) emit_unroll(e, "r", layout->registers, 1);
    write_once(e, op, &regs, to, layout);
    if (layout) cs_close(&e->p);
    for (int i = 0; i < op->result_count; i++) /* wanted for what it does alone: no warning */
        if (!e->uses[op->results[i]]) cs_line(&e->p, "tw_unused(&%p);", emit_hold(e, op->results[i])->by);
    if (op->code == OP_ASM_ACT) sync_step(e); /* .. and write what they read */
}
