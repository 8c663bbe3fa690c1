/* eval_speech.c: assert, print, and ops that only say something to the compiler. */
#include "ir/interp_core.h"

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
        EV_REPORT(p, s, DIAG_INTERP_ASSERT, report_process(p), report_element(p->in, c.type, i),
                  message ? ": " : "", message ? message : "");
        process_stop(p->in);
    }
}

static void add_value(Text *out, const Operand *x) {
    int64_t n = ty_elements(x->type);
    int bytes = elem_info[x->elem].bytes;
    if (x->type->rank) text_add_char(out, '[');
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)x->data + i * bytes;
        if (i) text_add(out, ", ");
        if (x->type->pointer)
            text_add(out, "0x%llx", (unsigned long long)*(const uint64_t *)at);
        else if (elem_is_float(x->elem))
            text_add(out, x->elem == EL_F64 ? "%.17g" : "%.9g", elem_get_f64(x->elem, at));
        else if (x->elem == EL_U64)
            text_add(out, "%llu", (unsigned long long)elem_get_i64(x->elem, at));
        else
            text_add(out, "%lld", (long long)elem_get_i64(x->elem, at));
    }
    if (x->type->rank) text_add_char(out, ']');
}

/* "program (0, 0, 0): message 1, [2, 3]" */
void eval_print(Process *p, Step *s) {
    const InterpLaunch *launch = p->in->launch;
    if (!launch->print) return;
    ArenaMark mark = arena_mark(&p->in->arena);
    Text out = text_new(&p->in->arena);
    const char *message = op_text(s->op, AT_MESSAGE);
    text_add(&out, "%s: %s", report_process(p), message ? message : "");
    for (int i = 0; i < s->op->operand_count; i++) {
        Operand x = ev_operand(p, s, i);
        text_add(&out, i ? ", " : message ? " " : "");
        if (x.type->kind == TY_TILE)
            add_value(&out, &x);
        else
            text_add(&out, "%s", ty_text(x.type, &p->in->arena));
    }
    text_add_char(&out, '\n');
    launch->print(launch->print_user, out.at, out.length);
    arena_reset(&p->in->arena, mark);
}
