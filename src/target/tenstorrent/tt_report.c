/* SPDX-License-Identifier: Apache-2.0 */
/* tt_report.c: what a plan and a run look like: who computes what on the grid of cores, and what the model counted. */
#include "target/tenstorrent/tt.h"

#include <string.h>

/* One cell of the picture: the tasks of a core. */
static const char *cell_text(const TtPlan *plan, const uint32_t *words, bool in_block, Arena *arena) {
    uint32_t first = words[0], count = words[1], columns = words[2], rows = words[3];
    if (in_block) {
        uint32_t row = first / words[4], column = first % words[4];
        const char *r = rows == 1 ? arena_printf(arena, "%u", row) : arena_printf(arena, "%u-%u", row, row + rows - 1);
        const char *c = columns == 1 ? arena_printf(arena, "%u", column)
                                     : arena_printf(arena, "%u-%u", column, column + columns - 1);
        return arena_printf(arena, "%s,%s", r, c);
    }
    if (count == 1) return arena_printf(arena, "%u", first);
    if (plan->options.policy == TW_STRIDED) return arena_printf(arena, "%u+%uk", first, words[4]);
    if (plan->options.policy == TW_BLOCK_LINEAR && count > columns)
        return arena_printf(arena, "%u-%u+%uk", first, first + columns - 1, words[4]);
    return arena_printf(arena, "%u-%u", first, first + count - 1);
}

/* Cores at their places, `cells` by their number in the mapping. */
static void add_picture(Text *t, const TwMapping *map, const char *const *cells) {
    uint32_t last_x = 0, last_y = 0, first_x = UINT32_MAX, first_y = UINT32_MAX;
    size_t width = 1;
    for (uint32_t i = 0; i < map->count; i++) {
        TwPoint at = map->cores[i];
        if (at.x > last_x) last_x = at.x;
        if (at.y > last_y) last_y = at.y;
        if (at.x < first_x) first_x = at.x;
        if (at.y < first_y) first_y = at.y;
        if (strlen(cells[i]) > width) width = strlen(cells[i]);
    }
    text_add(t, "      ");
    for (uint32_t x = first_x; x <= last_x; x++) text_add(t, " x%-*u", (int)width, x);
    text_add_char(t, '\n');
    for (uint32_t y = first_y; y <= last_y; y++) {
        text_add(t, "  y%-3u", y);
        for (uint32_t x = first_x; x <= last_x; x++) {
            const char *cell = "-";
            for (uint32_t i = 0; i < map->count; i++)
                if (map->cores[i].x == x && map->cores[i].y == y) cell = cells[i];
            text_add(t, " %-*s ", (int)width, cell);
        }
        text_add_char(t, '\n');
    }
}

static void add_mapping(Text *t, const TtPlan *plan, const TwMapping *map, Arena *arena) {
    static const char *const orders[] = {"", "row by row", "column by column", "in z-order",
                                         "where its shard lies"};
    const char **cells = ARENA_ARRAY(arena, const char *, map->count);
    bool in_block = map->rows > 0;
    for (uint32_t i = 0; i < map->count; i++) cells[i] = cell_text(plan, map->words[i], in_block, arena);
    text_add(t, "%s of each core, %s%s:\n", in_block ? "rows,columns of tasks" : "tasks", orders[plan->options.order],
             plan->shares && !map->shares ? " (no equal blocks: every core reads for itself)" : "");
    add_picture(t, map, cells);
    for (size_t i = 0; i < plan->cbs.count && map->shares; i++) {
        const TtCb *cb = &plan->cbs.at[i];
        if (cb->share != SHARE_NONE)
            text_add(t, "%s: read by one core of each %s, sent to the others\n", cb->name,
                     cb->share == SHARE_ROW ? "row" : "column");
    }
}

/* Task extents are drawn as they are where the kernel knows them. */
char *tt_explain(const TtPlan *plan, const int64_t *known, Arena *arena) {
    uint64_t extents[MAX_RANK];
    bool all_known = true;
    Text t = text_new(arena), shape = text_new(arena);
    for (int i = 0; i < plan->task_rank; i++) {
        extents[i] = known[i] > 0 ? (uint64_t)known[i] : 16;
        all_known &= known[i] > 0;
        text_add(&shape, "%s%llu", i ? " x " : "", (unsigned long long)extents[i]);
    }
    TwMapping map = tt_map(plan, extents, 0, arena);
    text_add(&t, "cores: drawn for %s tasks%s\n", shape.at, all_known ? "" : "; a launch may have others");
    add_mapping(&t, plan, &map, arena);
    return t.at;
}

static const char *number(Arena *arena, uint64_t value) { return arena_printf(arena, "%llu",
                                                                              (unsigned long long)value); }

char *tt_report(const TtPlan *plan, const TtResult *result, Arena *arena) {
    const TensixReport *r = &result->report;
    Text t = text_new(arena);
    uint64_t bound = r->compute_bound > r->dram_bound ? r->compute_bound : r->dram_bound;
    text_add(&t, "DRAM: %s bytes read, %s written; between cores %s, of them multicast %s bytes sent once\n",
             number(arena, r->dram_read_bytes), number(arena, r->dram_written_bytes),
             number(arena, r->core_to_core_bytes), number(arena, r->multicast_bytes));
    bool has_shards = false;
    for (size_t i = 0; i < plan->buffers.count; i++) has_shards |= plan->buffers.at[i].shards.cut != TW_WHOLE;
    if (has_shards)
        text_add(&t, "shards: %s bytes read by the cores that hold them, %s by others\n",
                 number(arena, r->own_shard_bytes), number(arena, r->far_shard_bytes));
    text_add(&t, "cycles, estimated: %s; the busiest math unit needs %s, DRAM %s: %.2f times the larger\n",
             number(arena, r->cycles), number(arena, r->compute_bound), number(arena, r->dram_bound),
             bound ? (double)r->cycles / (double)bound : 0);
    text_add(&t, "tiles: %s products, %s packed; DST: %u of %u slots\n", number(arena, r->tiles_multiplied),
             number(arena, r->tiles_packed), r->dst_slots, tensix_dst_slots(true, plan->full_sync));
    for (size_t i = 0; i < plan->cbs.count && result->cbs; i++) {
        const TtCb *cb = &plan->cbs.at[i];
        text_add(&t, "%-16s %u of %u pages; waits at most %s cycles for pages, %s for space\n", cb->name,
                 result->cbs[i].most_pages, cb->desc.pages, number(arena, result->cbs[i].page_stall),
                 number(arena, result->cbs[i].space_stall));
    }
    if (!result->map.count) return t.at;
    add_mapping(&t, plan, &result->map, arena);
    const char **cells = ARENA_ARRAY(arena, const char *, result->map.count);
    for (uint32_t i = 0; i < result->map.count; i++)
        cells[i] = arena_printf(arena, "%llu/%llu", (unsigned long long)result->cores_ran[i].cycles,
                                (unsigned long long)result->cores_ran[i].tiles);
    text_add(&t, "cycles/tiles of each core:\n");
    add_picture(&t, &result->map, cells);
    return t.at;
}
