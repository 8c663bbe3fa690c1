/* SPDX-License-Identifier: Apache-2.0 */
/* eval_speech.c: assert, print, and ops that only say something to the compiler. */
#include "ir/interp/interp_core.h"
#include "ir/speech.h"

enum { PRINT_LIMIT = 64 << 20 }; /* bytes that a sanitized launch may print */

void eval_nothing(Process *p, Step *s) {
    (void)p;
    (void)s;
}

/* A sanitized launch looks whether promises about numbers hold; tiles promise something of their runs, which a compiler
 * believes only as far as its vectors go. */
void eval_assume(Process *p, Step *s) {
    const Op *op = s->op;
    const Type *type = op->operand_count ? ir_type(p->in->kernel, op->operands[0]) : NULL;
    bool number = type && type->kind == TY_TILE && !type->rank && !type->pointer && elem_is_int(type->elem);
    if (!p->in->launch->sanitize || !(number || (type && type->elem == EL_I1 && !type->rank && !op->attr_count)))
        return;
    Operand x = ev_operand(p, s, 0);
    if (x.cell && x.cell->shadow) sanitize_use(p, s, &x);
    int64_t value = ev_scalar(p, s, op->operands[0]), multiple = op_int(op, AT_MULT, 0),
            least = op_int(op, AT_LEAST, value);
    const char *wrong = NULL;
    if (!op->attr_count && op->operand_count == 1 && !value) wrong = "the condition is false";
    if (multiple > 0 && value % multiple)
        wrong = arena_printf(&p->in->arena, "%lld is no multiple of %lld", (long long)value, (long long)multiple);
    if (value < least)
        wrong = arena_printf(&p->in->arena, "%lld is less than %lld", (long long)value, (long long)least);
    if (op_attr(op, AT_EQ) && value != op_int(op, AT_EQ, 0))
        wrong = arena_printf(&p->in->arena, "%lld is not %lld", (long long)value, (long long)op_int(op, AT_EQ, 0));
    if (wrong) EV_REPORT(p, s, DIAG_INTERP_PROMISE, report_process(p), wrong);
}

void eval_assert(Process *p, Step *s) {
    Operand c = ev_operand(p, s, 0);
    if (c.cell->shadow) sanitize_use(p, s, &c);
    int64_t n = ty_elements(c.type);
    for (int64_t i = 0; i < n; i++) {
        if (((const uint8_t *)c.data)[i]) continue;
        const char *message = op_text(s->op, AT_MESSAGE);
        EV_REPORT(p, s, DIAG_INTERP_ASSERT, report_process(p), report_element(p->in, c.type, i), message ? ": " : "",
                  message ? message : "");
        process_stop(p->in);
    }
}

/* A sanitized launch fills no disk. */
static void print_bounded(void *user, const char *text, size_t length) {
    static const char enough[] = "(what else the kernel prints is dropped)\n";
    Interp *in = user;
    const InterpLaunch *launch = in->launch;
    if (launch->sanitize && in->printed >= PRINT_LIMIT) return;
    launch->print(launch->print_user, text, length);
    in->printed += length;
    if (launch->sanitize && in->printed >= PRINT_LIMIT) launch->print(launch->print_user, enough, sizeof enough - 1);
}

void eval_print(Process *p, Step *s) {
    const InterpLaunch *launch = p->in->launch;
    if (!launch->print) return;
    Arena *arena = &p->in->arena;
    ArenaMark mark = arena_mark(arena);
    int64_t pid[3] = {0};
    for (int d = 0; d < 3 && d < p->task_rank; d++) pid[d] = p->task[d];
    Speech speech = speech_of(p->in->kernel, s->op, arena);
    const void **data = ARENA_ARRAY(arena, const void *, speech.count + 1);
    for (int i = 0, n = 0; i < s->op->operand_count; i++) {
        Operand x = ev_operand(p, s, i);
        if (x.type->kind == TY_TILE) data[n++] = x.data;
    }
    speech_say(&speech, pid, data, print_bounded, p->in);
    arena_reset(arena, mark);
}
