/* SPDX-License-Identifier: Apache-2.0 */
/* draw_tensix.c: the grid of Tensix cores: which have tasks, how many, and who reads for whom; below, the circular
 * buffers of a core as parts of its L1. */
#include "draw/draw.h"

enum { CELL = 66, HIGH = 44, LEFT = 48, TOP = 30, GUESS = 16, BAR = 26 };

static void draw_cores(Text *t, const TtPlan *plan, const TwMapping *map, TwPoint size) {
    for (uint32_t x = 0; x < size.x; x++)
        svg_text(t, "soft small", LEFT + x * CELL + CELL / 2, TOP - 10, CENTRED, CELL, "x%u", x);
    for (uint32_t y = 0; y < size.y; y++) {
        svg_text(t, "soft small", LEFT - 10, TOP + y * HIGH + 26, FROM_RIGHT, LEFT, "y%u", y);
        for (uint32_t x = 0; x < size.x; x++)
            svg_box(t, "quiet", LEFT + x * CELL, TOP + y * HIGH, CELL - 4, HIGH - 4, NULL);
    }
    for (uint32_t i = 0; i < map->count; i++) {
        TwPoint at = map->cores[i];
        svg_box(t, "three", LEFT + at.x * CELL, TOP + at.y * HIGH, CELL - 4, HIGH - 4,
                arena_printf(t->arena, "core (%u, %u): tasks from %u on", at.x, at.y, map->words[i][0]));
        svg_text(t, "small on", LEFT + at.x * CELL + CELL / 2 - 2, TOP + at.y * HIGH + 25, CENTRED, CELL, "%u",
                 map->words[i][1]);
    }
    bool by_row = false, by_column = false;
    for (size_t i = 0; i < plan->cbs.count && map->shares; i++) {
        by_row |= plan->cbs.at[i].share == SHARE_ROW;
        by_column |= plan->cbs.at[i].share == SHARE_COLUMN;
    }
    for (uint32_t i = 0; i < map->rows && by_row; i++)
        svg_line(t, "mark", LEFT + 6, TOP + i * HIGH + 8, LEFT + map->columns * CELL - 12, TOP + i * HIGH + 8);
    for (uint32_t i = 0; i < map->columns && by_column; i++)
        svg_line(t, "mark dash", LEFT + i * CELL + 8, TOP + 6, LEFT + i * CELL + 8, TOP + map->rows * HIGH - 12);
}

void draw_tensix(Text *t, const TtPlan *plan, const int64_t *known) {
    uint64_t extents[MAX_RANK], tasks = 1;
    bool guessed = false;
    for (int i = 0; i < plan->task_rank; i++) {
        extents[i] = known[i] > 0 ? (uint64_t)known[i] : GUESS;
        guessed |= known[i] <= 0;
        tasks *= extents[i];
    }
    TwMapping map = tt_map(plan, extents, 0, t->arena);
    TwPoint size = {1, 1};
    uint64_t most = 1;
    for (uint32_t i = 0; i < map.count; i++) {
        if (map.cores[i].x >= size.x) size.x = map.cores[i].x + 1;
        if (map.cores[i].y >= size.y) size.y = map.cores[i].y + 1;
    }
    for (size_t i = 0; i < plan->cbs.count; i++) {
        uint64_t bytes = (uint64_t)plan->cbs.at[i].desc.pages * plan->cbs.at[i].desc.page_bytes;
        if (bytes > most) most = bytes;
    }
    draw_section(t, "The grid of Tensix cores",
                 arena_printf(t->arena,
                              "How many tasks each core has, of %llu%s. A solid line: the first core of the "
                              "row reads from "
                              "DRAM and sends to the others; a dashed one: the first of the column.",
                              (unsigned long long)tasks,
                              guessed ? " (drawn for this many; a launch may have others)" : ""));
    svg_begin(t, TOP + size.y * HIGH + 8, "tasks of each core");
    draw_cores(t, plan, &map, size);
    svg_end(t);
    draw_section(t, "Circular buffers of a core", "What each holds at most, to scale, and who fills it for whom.");
    svg_begin(t, plan->cbs.count * BAR + 12, "circular buffers");
    for (size_t i = 0; i < plan->cbs.count; i++) {
        const TtCb *cb = &plan->cbs.at[i];
        uint64_t bytes = (uint64_t)cb->desc.pages * cb->desc.page_bytes;
        svg_text(t, "small", 8, i * BAR + 18, FROM_LEFT, 180, "%s", cb->name);
        svg_box(t, svg_hue((int)i), 200, i * BAR + 4, 260.0 * (double)bytes / (double)most, BAR - 6, NULL);
        svg_text(t, "small soft", 480, i * BAR + 18, FROM_LEFT, 470, "%u pages, %llu bytes: %s", cb->desc.pages,
                 (unsigned long long)bytes, cb->what);
    }
    svg_end(t);
}
