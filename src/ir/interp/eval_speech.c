/* eval_speech.c: assert, print, and ops that only say something to the compiler. */
#include "ir/interp/interp_core.h"
#include "ir/speech.h"

enum { PRINT_LIMIT = 64 << 20 }; /* bytes that a sanitized launch may print */

void eval_nothing(Process *p, Step *s) {
    (void)p;
    (void)s;
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
