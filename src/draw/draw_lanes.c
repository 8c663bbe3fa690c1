/* SPDX-License-Identifier: Apache-2.0 */
/* draw_lanes.c: which lane of a warp holds which element of a tile, and in which of its registers. The largest tile of
 * two dimensions that the kernel keeps in registers is drawn; its upper left corner, where all of it does not fit. */
#include "draw/draw.h"
#include "analysis/linear_layout.h"

enum { CORNER = 16, CELL = 56, HIGH = 24, LEFT = 52, TOP = 44 };

static const Value *largest(const Kernel *k) {
    const Value *best = NULL;
    for (size_t i = 1; i < k->values.count; i++) {
        const Value *v = &k->values.at[i];
        bool fits = v->layout && v->layout->home == HOME_REGISTERS && v->type->kind == TY_TILE && v->type->rank == 2;
        if (fits && v->name && (!best || ty_elements(v->type) > ty_elements(best->type))) best = v;
    }
    return best;
}

/* Of the corner; index of [r, c] in the map. */
static uint32_t index_of(const LinearLayout *map, int r, int c) {
    return (uint32_t)r << ll_shift(map, 0) | (uint32_t)c << ll_shift(map, 1);
}

static bool in_one_warp(const LinearLayout *map, int rows, int columns) {
    LayoutPlace place;
    for (int i = 0; i < rows * columns; i++)
        if (ll_find(map, index_of(map, i / columns, i % columns), &place) && place.at[LL_WARP]) return false;
    return true;
}

void draw_lanes(Text *t, const Kernel *k, const Machine *machine) {
    const Value *v = largest(k);
    if (!v) return;
    const LinearLayout *map = &v->layout->map;
    int rows = v->type->extent[0] < CORNER ? (int)v->type->extent[0] : CORNER;
    int columns = v->type->extent[1] < CORNER ? (int)v->type->extent[1] : CORNER;
    bool one = in_one_warp(map, rows, columns);
    draw_section(t, arena_printf(t->arena, "Registers: %s, %s", v->name, ty_text(v->type, t->arena)),
                 arena_printf(t->arena,
                              "Each cell is an element: %slane.register of the first warp that holds it. Equal "
                              "colours are one lane in %d. A thread holds %d registers of this tile.",
                              one ? "" : "warp, ", HUES, v->layout->registers));
    svg_begin(t, TOP + rows * HIGH + 12, "which lane holds which element");
    svg_text(t, "soft small", LEFT, 14, FROM_LEFT, WIDTH - LEFT, "%dx%d corner of %lldx%lld, %d lanes a warp", rows,
             columns, (long long)v->type->extent[0], (long long)v->type->extent[1], machine->lanes);
    for (int c = 0; c < columns; c++)
        svg_text(t, "soft small", LEFT + c * CELL + CELL / 2, TOP - 8, CENTRED, CELL, "%d", c);
    for (int r = 0; r < rows; r++) {
        svg_text(t, "soft small", LEFT - 8, TOP + r * HIGH + 16, FROM_RIGHT, LEFT, "%d", r);
        for (int c = 0; c < columns; c++) {
            LayoutPlace place;
            if (!ll_find(map, index_of(map, r, c), &place)) continue;
            const char *tip = arena_printf(t->arena, "[%d, %d]: warp %u, lane %u, register %u", r, c, place.at[LL_WARP],
                                           place.at[LL_LANE], place.at[LL_REGISTER]);
            svg_box(t, svg_hue((int)place.at[LL_LANE]), LEFT + c * CELL, TOP + r * HIGH, CELL, HIGH, tip);
            svg_text(t, "small on", LEFT + c * CELL + CELL / 2, TOP + r * HIGH + 16, CENTRED, CELL, "%s%u.%u",
                     one ? "" : arena_printf(t->arena, "w%u ", place.at[LL_WARP]), place.at[LL_LANE],
                     place.at[LL_REGISTER]);
        }
    }
    svg_end(t);
}
