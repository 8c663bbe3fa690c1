/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.c: the passes, in order, in one straight line; and what surrounds each of them.
 *
 * pipeline_run takes a verified kernel from a door and leaves it in the form that the machine
 * wants. Around every pass: scratch memory is reset, errors stop the run, the form is checked
 * (verify_each), the trace is called with the time the pass took. `only` runs just the named
 * passes, in the order of the table; `stop_after` ends behind one. */
#include "pass/layout/layout.h"
#include "pass/pass.h"

#include <string.h>
#include <time.h>

const PassOptions pass_options_default = {.num_stages = -1, .roles = -1, .persist = -1, .rotate = -1, .fuse = true};

void pass_find_list(PassContext *cx, Range range, FindingId id, va_list values) {
    Arena *arena = cx->module->arena;
    *VEC_PUSH(&cx->findings, arena) = finding_make(arena, range, id, values);
}

void pass_find(PassContext *cx, Range range, FindingId id, ...) {
    va_list values;
    va_start(values, id);
    pass_find_list(cx, range, id, values);
    va_end(values);
}

bool pass_takes_form(Kernel *k, Form form, const char *who) {
    static const char *const names[] = {"source", "tile", "access", "ring", "layout", "schedule"};
    static const char *const makers[] = {"", "raise", "access", "ring", "layout", "schedule"};
    if (k->form >= form) return true;
    diag_emit(k->module->diag, DIAG_FORM_TOO_EARLY, k->range, who, names[form], k->name, names[k->form], makers[form]);
    return false;
}

typedef struct Runner {
    PassContext *cx;
    Kernel *k;
    const PipelineRequest *request;
    bool done; /* stopped, by request or by an error */
} Runner;

static bool is_wanted(const char *only, const char *name) {
    if (!only) return true;
    size_t length = strlen(name);
    for (const char *at = only; (at = strstr(at, name)); at += length)
        if ((at == only || at[-1] == ',') && (at[length] == 0 || at[length] == ',')) return true;
    return false;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Passes and emitters follow values to what they are made of, one call a step: a stack holds only so many. */
static bool is_too_deep(PassContext *cx, Kernel *k) {
    enum { MOST_STEPS = 10000 };
    ArenaMark mark = arena_mark(cx->scratch);
    const Op *op = ir_find_deep(k, cx->scratch, MOST_STEPS);
    arena_reset(cx->scratch, mark);
    if (op) diag_emit(cx->module->diag, DIAG_TOO_MANY_STEPS, op->range, MOST_STEPS);
    return op != NULL;
}

/* Layouts are checked as those of a text are, against what the pass that made them believed. */
static bool is_valid(const Runner *r, bool (*pass)(PassContext *, Kernel *)) {
    return ir_verify(r->k, r->k->form, r->cx->module->diag) &&
           (pass != pass_layout || r->k->form != FORM_LAYOUT || layout_check(r->cx, r->k));
}

static void step(Runner *r, const char *name, Form takes, Form leaves, bool (*pass)(PassContext *, Kernel *)) {
    const PipelineRequest *request = r->request;
    if (r->done) return;
    bool behind = r->k->form >= FORM_LAYOUT && leaves < FORM_RING; /* the kernel has come further than this pass */
    /* Layouts that are written, not made, this pass checks: what comes behind relies on it, asked for or not. */
    bool written = r->k->form >= FORM_LAYOUT && pass == pass_layout;
    bool wanted = (is_wanted(request->only, name) || written) && !behind;
    if (wanted && !pass_takes_form(r->k, takes, name))
        r->done = true;
    else if (wanted) {
        ArenaMark mark = arena_mark(r->cx->scratch);
        double start = seconds();
        bool changed = pass(r->cx, r->k);
        double spent = seconds() - start;
        arena_reset(r->cx->scratch, mark);
        if (r->k->form < leaves) r->k->form = leaves;
        if (request->trace) request->trace(request->trace_user, name, r->k, spent);
        r->done = r->cx->module->diag->errors > 0 || (changed && is_too_deep(r->cx, r->k)) ||
                  (request->verify_each && !is_valid(r, pass));
    }
    if (request->stop_after && strcmp(request->stop_after, name) == 0) r->done = true;
}

bool pipeline_run(PassContext *cx, Kernel *k, const PipelineRequest *request) {
    Runner r = {cx, k, request, is_too_deep(cx, k)};
#define PASS(name, takes, leaves, doc) step(&r, #name, FORM_##takes, FORM_##leaves, pass_##name);
#include "pass/passes.def"
#undef PASS
    return cx->module->diag->errors == 0;
}
