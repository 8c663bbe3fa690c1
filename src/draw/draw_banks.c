/* SPDX-License-Identifier: Apache-2.0 */
/* draw_banks.c: the first rows of a tile as they lie over the banks of shared memory. A column of the picture is what
 * one chunk of 16 bytes covers of them; what a wavefront reads at once should take each column once. */
#include "draw/draw.h"
#include "analysis/linear_layout.h"

enum { CHUNK = 16, HIGH = 28, LEFT = 108, TOP = 44, SHOWN = 8 };

static const SharedTile *widest(const Kernel *k, const char **name, const Type **type) {
    const SharedTile *best = NULL;
    for (size_t i = 1; i < k->values.count; i++) {
        const Value *v = &k->values.at[i];
        if (!v->layout || v->layout->home == HOME_REGISTERS) continue;
        bool ring = v->layout->home == HOME_SLOTS && v->type->kind == TY_RING;
        for (int f = 0; f < (ring ? v->type->field_count : v->layout->home == HOME_SHARED); f++) {
            const SharedTile *tile = ring ? &v->layout->fields[f] : &v->layout->tile;
            if (tile->columns * tile->elem_bytes < CHUNK || (best && tile->bytes <= best->bytes)) continue;
            best = tile;
            *name = ring ? v->type->fields[f].name : v->name ? v->name : "a tile";
            *type = ring ? v->type->fields[f].type : v->type;
        }
    }
    return best;
}

void draw_banks(Text *t, const Kernel *k, const Machine *machine) {
    const char *name = NULL;
    const Type *type = NULL;
    const SharedTile *tile = widest(k, &name, &type);
    if (!tile || !machine->banks.count) return;
    int line = machine->banks.count * machine->banks.bytes, chunks = line / CHUNK;
    int per = CHUNK / tile->elem_bytes, pitch = tile->width == PLAIN_PANEL ? 0 : tile->width;
    LinearLayout map = ll_shared(tile->rows_held, tile->columns_held, tile->elem_bytes, pitch);
    draw_section(t, arena_printf(t->arena, "Shared memory: %s, %s", name, ty_text(type, t->arena)),
                 arena_printf(t->arena,
                              "Lines of %d bytes, over %d banks. A cell is a chunk of 16 bytes: row of the tile, first "
                              "column. Equal colours are the same columns: read down a colour to see that the "
                              "rows of a "
                              "matrix fragment meet in no bank.",
                              line, machine->banks.count));
    double wide = (double)(WIDTH - LEFT - 8) / chunks;
    svg_begin(t, TOP + SHOWN * HIGH + 12, "how the tile lies over the banks");
    for (int c = 0; c < chunks; c++)
        svg_text(t, "soft small", LEFT + wide * (c + 0.5), TOP - 8, CENTRED, wide, "banks %d-%d",
                 c * CHUNK / machine->banks.bytes, (c + 1) * CHUNK / machine->banks.bytes - 1);
    for (int r = 0; r < SHOWN && (int64_t)r * line < tile->bytes; r++) {
        svg_text(t, "soft small", LEFT - 8, TOP + r * HIGH + 18, FROM_RIGHT, LEFT, "byte %d", r * line);
        for (int c = 0; c < chunks; c++) {
            LayoutPlace place = {{0}};
            place.at[LL_OFFSET] = (uint32_t)((r * line + c * CHUNK) / tile->elem_bytes);
            uint32_t index = ll_apply(&map, place);
            int row = (int)ll_coord(&map, index, 0), column = (int)ll_coord(&map, index, 1);
            svg_box(t, svg_hue(column / per), LEFT + c * wide, TOP + r * HIGH, wide, HIGH, NULL);
            svg_text(t, "small on", LEFT + (c + 0.5) * wide, TOP + r * HIGH + 18, CENTRED, wide, "%d, %d", row, column);
        }
    }
    svg_end(t);
}
