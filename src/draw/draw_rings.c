/* SPDX-License-Identifier: Apache-2.0 */
/* draw_rings.c: rings over time, played from the schedule: a copy is issued when a slot is free, lands after the
 * machine's copy_clocks, and is used when the item before it has been. Nothing is run: how long an item is used is what
 * the matrix instructions of its loop take; where neither is known the picture is in steps. */
#include "draw/draw.h"
#include "ir/ringform.h"
#include "pass/matrix.h"

enum { LEFT = 120, LANE = 26, ITEMS = 14, MOST_SLOTS = 8 };

static int64_t clocks_below(const Kernel *k, const Region *region) {
    int64_t sum = 0;
    for (const Op *op = region->first; op; op = op->next) {
        const Matrix *m = op->code == OP_DOT ? matrix_of(k, op) : NULL;
        if (m && m->clocks && m->m && m->n && m->k) {
            const Type *a = ir_type(k, op->operands[0]), *c = ir_type(k, op->results[0]);
            sum += c->extent[c->rank - 2] / m->m * (c->extent[c->rank - 1] / m->n) * (a->extent[a->rank - 1] / m->k) *
                   m->clocks;
        }
        for (int i = 0; i < op->region_count; i++) sum += clocks_below(k, op->regions[i]);
    }
    return sum;
}

/* "in {q, k}", and the bytes of a slot. */
static const char *ring_text(const Value *ring, int64_t *bytes, Arena *arena) {
    Text t = text_new(arena);
    text_add(&t, "%s {", ring->name ? ring->name : "ring");
    *bytes = 0;
    for (int f = 0; f < ring->type->field_count; f++) {
        const Field *field = &ring->type->fields[f];
        text_add(&t, "%s%s", f ? ", " : "", field->name);
        *bytes += ty_elements(field->type) * ty_elem_bytes(field->type);
    }
    text_add(&t, "}");
    return t.at;
}

/* One ring; gives the height that it took. */
static double draw_one(Text *t, const Kernel *k, const Machine *machine, const Op *ring, double y) {
    const Value *v = ir_value(k, ring->results[0]);
    int slots = (int)op_int(ring, AT_SLOTS, 1);
    int shown = slots < MOST_SLOTS ? slots : MOST_SLOTS;
    const Op *consumer = role_find(tasks_of(k), ring_consumer(ring));
    const Op *loop = consumer ? ring_taking_loop(consumer->regions[0], ring->results[0]) : NULL;
    int64_t use = loop ? clocks_below(k, loop->regions[loop->region_count - 1]) : 0, copy = machine->cost.copy_clocks;
    bool scaled = use && copy;
    if (!scaled) use = 2, copy = 3;
    int64_t bytes;
    const char *name = ring_text(v, &bytes, t->arena);
    svg_text(t, "", 8, y + 16, FROM_LEFT, WIDTH - 16, "%s: %d slot%s of %lld bytes, %s to %s%s", name, slots,
             slots == 1 ? "" : "s", (long long)bytes, word_info[ring_producer(ring)].text,
             word_info[ring_consumer(ring)].text,
             scaled ? arena_printf(t->arena, "; a copy %lld clocks, an item's products %lld", (long long)copy,
                                   (long long)use)
                    : "; in steps, not in clocks");
    int64_t issue[ITEMS], landed[ITEMS], begin[ITEMS], end[ITEMS] = {0};
    int items = loop ? ITEMS : 1;
    for (int i = 0; i < items; i++) {
        issue[i] = i < slots ? 0 : end[i - slots];
        landed[i] = issue[i] + copy;
        begin[i] = i && end[i - 1] > landed[i] ? end[i - 1] : landed[i];
        end[i] = begin[i] + use;
    }
    double scale = (WIDTH - LEFT - 8) / (double)end[items - 1];
    for (int s = 0; s < shown; s++) {
        double top = y + 28 + s * LANE;
        svg_text(t, "soft small", LEFT - 10, top + 16, FROM_RIGHT, LEFT, "slot %d", s);
        svg_box(t, "quiet", LEFT, top, WIDTH - LEFT - 8, LANE - 4, NULL);
        for (int i = s; i < items; i += slots) {
            double used = (double)(end[i] - begin[i]) * scale;
            svg_box(t, "one", LEFT + issue[i] * scale, top, (landed[i] - issue[i]) * scale, LANE - 4,
                    arena_printf(t->arena, "copy of item %d", i));
            svg_box(t, "three", LEFT + begin[i] * scale, top, used, LANE - 4,
                    arena_printf(t->arena, "use of item %d", i));
            if (used > 18)
                svg_text(t, "small on", LEFT + begin[i] * scale + used / 2, top + 15, CENTRED, used, "%d", i);
        }
    }
    return 28 + shown * LANE + 18;
}

void draw_rings(Text *t, const Kernel *k, const Machine *machine) {
    if (!tasks_of(k)) return;
    double height = 0;
    Text shapes = text_new(t->arena);
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == OP_RING) height += draw_one(&shapes, k, machine, op, height);
    if (!height) return;
    draw_section(t, "Rings over time",
                 "Time runs to the right, from the schedule. Blue: a copy is on its way into the "
                 "slot; green: the item, by "
                 "its number, is used; grey: the slot waits.");
    svg_begin(t, height, "slots of each ring over time");
    text_add_bytes(t, shapes.at, shapes.length);
    svg_end(t);
}
