/* SPDX-License-Identifier: Apache-2.0 */
/* interp_race.c: do the workers of an spmd region meet in a buffer?
 *
 * Each element that they share remembers who touched it last, and when: the clock of a worker is that of the last
 * barrier or shuffle it took part in, which all that took part have in common, or of the latest phase whose end it
 * waited for. Of two accesses by two workers, one of them a write, the first lies behind a barrier if the second
 * worker's clock is later; else there is none between them. (A barrier that the first worker has no part in hides such
 * a pair.) Atomics may meet each other, and writes of what is there already do no harm. */
#include "ir/interp/interp_core.h"

typedef struct Touch {
    int64_t lane, clock;
} Touch;
typedef struct Element {
    const Team *team; /* whose touches these are; another region begins anew */
    Touch write, read;
    bool atomic; /* the write */
} Element;

static bool meets(const Process *p, const Touch *touch) {
    return touch->lane >= 0 && touch->lane != p->lane && touch->clock >= p->clock;
}

static void report(Process *p, Step *s, const Touch *other, const char *does, const char *did, int64_t at) {
    const Type *type = ir_type(p->in->kernel, s->op->operands[0]);
    const char *name = ir_value(p->in->kernel, s->op->operands[0])->name;
    EV_REPORT(p, s, DIAG_THREAD_RACE, report_process(p), does, p->team->threads ? "thread" : "worker",
              (long long)other->lane, did, report_element(p->in, type, at), name ? name : "a buffer");
}

void race_access(Process *p, Step *s, Cell *buffer, int64_t at, RaceUse use, const void *value) {
    const Type *type = ir_type(p->in->kernel, s->op->operands[0]);
    if (!p->team || !p->in->launch->sanitize || type->scope == SCOPE_LOCAL) return;
    if (!buffer->touched) buffer->touched = ARENA_ARRAY(&p->in->arena, Element, ty_elements(type));
    Element *e = (Element *)buffer->touched + at;
    if (e->team != p->team) *e = (Element){.team = p->team, .write.lane = -1, .read.lane = -1};
    size_t bytes = (size_t)ty_elem_bytes(type);
    bool same = use == RACE_WRITE && memcmp((char *)buffer->data + (size_t)at * bytes, value, bytes) == 0;
    bool wrote = meets(p, &e->write) && !same && !(use == RACE_ATOMIC && e->atomic);
    bool read = use != RACE_READ && meets(p, &e->read) && !same;
    const char *does = use == RACE_READ ? "reads" : use == RACE_WRITE ? "writes" : "updates";
    Touch before = wrote ? e->write : e->read, now = {p->lane, p->clock};
    const char *did = wrote ? "wrote" : "read";
    if (use == RACE_READ) {
        e->read = now;
    } else if (!same || !meets(p, &e->write)) {
        e->write = now;
        e->atomic = use == RACE_ATOMIC;
    }
    if (wrote || read) report(p, s, &before, does, did, at);
}
