/* tt_mapping.c: tasks to cores; see tt_mapping.h. */
#include "target/tenstorrent/tt_mapping.h"

enum { SHARE_ALONE, SHARE_SENDS, SHARE_RECEIVES }; /* TwShare.role */

/* The rectangle of most cores, then of the fewest reads: near a square of blocks. */
static void choose_rectangle(const TtPlan *plan, uint64_t rows, uint64_t columns, uint32_t most, TtMapping *m) {
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    uint64_t best_reads = UINT64_MAX;
    for (uint32_t y = 1; y <= limits->grid_y && y <= rows; y++)
        for (uint32_t x = 1; x <= limits->grid_x && x <= columns; x++) {
            uint64_t reads = rows / y + columns / x;
            bool is_more = x * y > m->rows * m->columns;
            if (rows % y || columns % x || x * y > most || x * y < m->rows * m->columns) continue;
            if (!is_more && reads >= best_reads) continue;
            m->rows = y, m->columns = x;
            best_reads = reads;
        }
}

/* The group's words for a core at `at` of `from` .. `to` in a line: the first one sends to those behind it. */
static void set_share(const TtPlan *plan, uint32_t *words, TensixPoint at, TensixPoint from, TensixPoint to) {
    uint32_t receivers = to.x - from.x + to.y - from.y;
    bool along_x = to.x > from.x;
    TensixPoint next = {from.x + (along_x ? 1 : 0), from.y + (along_x ? 0 : 1)};
    TensixPoint sender = tensix_noc_point(plan->options.arch, from);
    TensixPoint first = tensix_noc_point(plan->options.arch, next), last = tensix_noc_point(plan->options.arch, to);
    bool sends = at.x == from.x && at.y == from.y;
    uint32_t values[TT_SHARE_WORDS] = {!receivers ? SHARE_ALONE : sends ? SHARE_SENDS : SHARE_RECEIVES,
                                       first.x,
                                       first.y,
                                       last.x,
                                       last.y,
                                       receivers,
                                       sender.x,
                                       sender.y};
    for (int i = 0; i < TT_SHARE_WORDS; i++) words[i] = receivers || i == 0 ? values[i] : 0;
}

/* Columns x and x + 1. */
static bool are_neighbours(const TtPlan *plan, uint32_t x) {
    TensixArch arch = plan->options.arch;
    return tensix_noc_point(arch, (TensixPoint){x + 1, 0}).x == tensix_noc_point(arch, (TensixPoint){x, 0}).x + 1;
}

static void map_rectangle(const TtPlan *plan, TtMapping *m, uint64_t rows, uint64_t columns, uint64_t planes) {
    uint32_t width = (uint32_t)(columns / m->columns), height = (uint32_t)(rows / m->rows);
    for (uint32_t i = 0; i < m->count; i++) {
        TensixPoint at = {i % m->columns, i / m->columns};
        uint32_t *words = m->words[i];
        m->cores[i] = at;
        words[0] = (uint32_t)(at.y * height * columns + at.x * width);
        words[1] = (uint32_t)(width * height * planes);
        words[2] = width;
        words[3] = height;
        words[4] = (uint32_t)columns;
        words[5] = (uint32_t)(rows * columns);
        uint32_t from = at.x, to = at.x; /* a multicast goes to neighbours on the NoC: Blackhole's columns have a gap */
        while (from > 0 && are_neighbours(plan, from - 1)) from--;
        while (to + 1 < m->columns && are_neighbours(plan, to)) to++;
        set_share(plan, words + TT_TASK_WORDS, at, (TensixPoint){from, at.y}, (TensixPoint){to, at.y});
        set_share(plan, words + TT_TASK_WORDS + TT_SHARE_WORDS, at, (TensixPoint){at.x, 0},
                  (TensixPoint){at.x, m->rows - 1});
    }
}

static void map_in_order(const TtPlan *plan, TtMapping *m, uint64_t tasks) {
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    uint64_t first = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        uint64_t share = tasks / m->count + (i < tasks % m->count);
        m->cores[i] = (TensixPoint){i % limits->grid_x, i / limits->grid_x};
        m->words[i][0] = (uint32_t)first;
        m->words[i][1] = m->words[i][2] = (uint32_t)share; /* a block of one row; nobody shares */
        m->words[i][3] = 1;
        first += share;
    }
}

TtMapping tt_map(const TtPlan *plan, const uint64_t *extents, uint32_t most, Arena *arena) {
    const TensixLimits *limits = tensix_limits(plan->options.arch);
    uint64_t tasks = 1;
    TtMapping m = {.word_count = plan->shares ? TT_CORE_WORDS : 2};
    for (int i = 0; i < plan->task_rank; i++) tasks *= extents[i];
    if (!most || most > limits->grid_x * limits->grid_y) most = limits->grid_x * limits->grid_y;
    m.count = most < tasks ? most : (uint32_t)tasks;
    int rank = plan->task_rank;
    if (plan->shares) choose_rectangle(plan, extents[rank - 2], extents[rank - 1], m.count, &m);
    if (2 * m.rows * m.columns < m.count) m.rows = m.columns = 0;
    if (m.rows) m.count = m.rows * m.columns;
    m.cores = ARENA_ARRAY(arena, TensixPoint, m.count);
    m.words = arena_alloc_array(arena, m.count, sizeof *m.words);
    if (m.rows)
        map_rectangle(plan, &m, extents[rank - 2], extents[rank - 1],
                      tasks / (extents[rank - 2] * extents[rank - 1]));
    else
        map_in_order(plan, &m, tasks);
    return m;
}
