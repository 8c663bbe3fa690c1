/* SPDX-License-Identifier: Apache-2.0 */
/* interp_report.c: what a running kernel did wrong, said at the kernel's own line.
 *
 * Every kind of report is made once a place. Without `sanitize` the first one ends the launch. */
#include "ir/interp/interp_core.h"
#include "ir/ringform.h"

static Report *find_report(const Step *s, DiagId id) {
    for (ReportLink *link = s->reports; link; link = link->next)
        if (link->report->id == id) return link->report;
    return NULL;
}

static Report *find_place(Interp *in, Range range, DiagId id) {
    for (size_t i = 0; i < in->reports.count; i++) {
        Report *r = in->reports.at[i];
        if (r->id == id && r->range.begin == range.begin && r->range.end == range.end) return r;
    }
    return NULL;
}

Report *report_begin(Interp *in, Step *s, DiagId id) {
    Report *report = find_report(s, id);
    if (!report) {
        report = find_place(in, s->op->range, id);
        if (!report) {
            report = ARENA_NEW(&in->arena, Report);
            *report = (Report){.id = id, .range = s->op->range};
            *VEC_PUSH(&in->reports, &in->arena) = report;
        }
        ReportLink *link = ARENA_NEW(&in->arena, ReportLink);
        *link = (ReportLink){report, s->reports};
        s->reports = link;
    }
    return report->count++ ? NULL : report;
}

void report_counts(Interp *in) {
    for (size_t i = 0; i < in->reports.count; i++) {
        const Report *report = in->reports.at[i];
        if (!report->message || report->count < 2) continue;
        DiagMessage *message = &in->diag->messages.at[report->message - 1];
        message->text =
            arena_printf(in->diag->arena, "%s (and %lld more here)", message->text, (long long)(report->count - 1));
    }
}

void report_after(Process *p) {
    p->in->failed = true;
    if (!p->in->launch->sanitize) process_stop(p->in);
}

_Noreturn void ev_refuse(Process *p, Step *s, const char *what) {
    diag_emit(p->in->diag, DIAG_INTERP_REFUSED, s->op->range, what);
    process_stop(p->in);
}

static void add_numbers(Text *out, const int64_t *numbers, int count) {
    for (int i = 0; i < count; i++) text_add(out, i ? ", %lld" : "%lld", (long long)numbers[i]);
}

const char *report_process(Process *p) {
    Text out = text_new(&p->in->arena);
    if (p->role) text_add(&out, "role `%s`, ", role_text(p->role->op));
    text_add(&out, p->in_task ? "task (" : "program (");
    add_numbers(&out, p->task, p->task_rank);
    text_add_char(&out, ')');
    if (p->team) text_add(&out, ", %s %lld", p->team->threads ? "thread" : "worker", (long long)p->lane);
    return out.at;
}

const char *report_program(Interp *in, uint32_t writer) {
    const int64_t *grid = in->launch->grid;
    uint64_t n = writer - 1;
    if (in->by_task) return arena_printf(&in->arena, "task %llu", (unsigned long long)n);
    int64_t at[3] = {(int64_t)(n % (uint64_t)grid[0]), (int64_t)(n / (uint64_t)grid[0] % (uint64_t)grid[1]),
                     (int64_t)(n / (uint64_t)grid[0] / (uint64_t)grid[1])};
    Text out = text_new(&in->arena);
    text_add(&out, "program (");
    add_numbers(&out, at, 3);
    text_add_char(&out, ')');
    return out.at;
}

const char *report_element(Interp *in, const Type *type, int64_t index) {
    int64_t at[MAX_RANK];
    for (int d = type->rank - 1; d >= 0; d--) {
        at[d] = index % type->extent[d];
        index /= type->extent[d];
    }
    Text out = text_new(&in->arena);
    text_add_char(&out, '[');
    add_numbers(&out, at, type->rank);
    text_add_char(&out, ']');
    return out.at;
}

static const char *wait_text(Interp *in, Process *p) {
    const Wait *wait = &p->wait;
    const char *who = report_process(p);
    switch (wait->kind) {
    case WAIT_EMPTY:
    case WAIT_FULL:
        return arena_printf(&in->arena, "%s waits here for item %lld of %%%s to be %s: %s", who,
                            (long long)ring_item(wait), wait->ring->name, wait->kind == WAIT_EMPTY ? "empty" : "full",
                            ring_counters(in, wait->ring));
    case WAIT_SYNC:
        return arena_printf(&in->arena, "%s waits here: %lld of %lld have arrived", who,
                            (long long)wait->barrier->arrived, (long long)wait->barrier->needed);
    case WAIT_BAR:
        return arena_printf(&in->arena, "%s waits here for phase %lld to end: %lld arrivals and %lld bytes are missing",
                            who, (long long)wait->bar->phase, (long long)wait->bar->pending,
                            (long long)wait->bar->bytes);
    default: return arena_printf(&in->arena, "%s waits here for its workers", who);
    }
}

_Noreturn void report_deadlock(Interp *in, Process *alone) {
    Process *one[1] = {alone};
    Process **list = alone ? one : in->processes.at;
    size_t count = alone ? 1 : in->processes.count;
    diag_emit(in->diag, DIAG_DEADLOCK, list[0]->wait.step->op->range, (int)count);
    for (size_t i = 0; i < count && i < DIAG_LIMIT; i++)
        diag_emit(in->diag, DIAG_NOTE_HERE, list[i]->wait.step->op->range, wait_text(in, list[i]));
    process_stop(in);
}
