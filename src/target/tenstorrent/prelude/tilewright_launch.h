/* SPDX-License-Identifier: Apache-2.0 */
/* tilewright_launch.h: what a launch on Tenstorrent computes from its arguments: the pages of each tensor, and which
 * core runs
 * which tasks. Plain C that C++ takes too: the host program (host.cpp) and the launcher of the functional model rest
 * on this text.
 *
 * Pages: docs of plan.json say how a tensor lies in them (TwLayout). Tasks: cores walk positions
 *
 *     first + turn % columns + turn / columns % rows * row_tasks + turn / columns / rows * plane_tasks      (tw_task)
 *
 *     contiguous     columns = count, rows = 1: each core a stretch
 *     strided        columns = 1, row_tasks = cores: each core every so-manieth
 *     block_linear   columns = block, row_tasks = block * cores: blocks dealt out in turn
 *     rect           a rectangle of cores, each a block of the last two task indices, one plane of the other indices
 * after the other
 *
 * and the order says which task a position is: of the whole grid, in a rectangle of the core's own block. Where loads
 * are shared the
 * blocks of a rectangle are equal, and the first core of a row or column sends to the others. */
#ifndef TILEWRIGHT_LAUNCH_H
#define TILEWRIGHT_LAUNCH_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TW_RANKS = 12 };

/* ------------------------------------------------------------------------------------------------------ pages */

/* How the elements of a tile lie in its 32x32 pages. */
typedef enum TwPaging {
    PAGE_ANY,    /* not known yet */
    PAGE_TILE,   /* the last two axes are rows and columns; one page a place of the others */
    PAGE_VECTOR, /* rank 1: 1024 elements a page, row by row */
    PAGE_COLUMN, /* rank 1: 32 elements a page, in its first column; as a tile [n, 1] */
    PAGE_ROW,    /* rank 1: 32 elements a page, in its first row; as a tile [1, n] */
    PAGE_PLAIN   /* the argument's memory as it is, TW_PLAIN_BYTES a page: for accesses element by element */
} TwPaging;
enum { TW_PLAIN_BYTES = 1024 };

/* Pages of a tensor, row-major over its dimensions. Along a dimension, `grain` elements that are
 * always read or written together take cdiv(grain, unit) pages of their own; so a box that starts
 * at a multiple of the grain starts a page. */
typedef struct TwLayout {
    TwPaging paging;
    int rank; /* of the tensor */
    int64_t grain[TW_RANKS];
    int64_t unit[TW_RANKS]; /* 32 along a page's rows and columns, 1024 along a vector, else 1 */
    int row, column;        /* the dimensions along a page's rows and columns, -1 for none */
} TwLayout;

/* One tensor at one launch. The caller says what stands above the line; tw_place_image the rest. */
typedef struct TwImage {
    const char *name;
    TwLayout layout;
    bool output;
    uint32_t element_bytes, page_bytes;
    uint8_t *memory; /* of the argument, and how many bytes it has; -1: not known */
    int64_t memory_bytes;
    uint8_t *base; /* element 0 */
    int64_t extent[TW_RANKS], stride[TW_RANKS];
    bool open[TW_RANKS]; /* no extent is given: as far as the memory goes */
    /* --- */
    int64_t pages[TW_RANKS], total; /* along each dimension, and all together */
    int64_t low, high;              /* bytes from base that the tensor spans: [low, high) */
    uint8_t *data;                  /* the pages: one, where there is none */
    bool *written;                  /* outputs, by page */
} TwImage;

enum { TW_MOST_PAGES = 1 << 18 }; /* of a tensor */

/* An extent that the kernel does not bound: as far as the memory goes. */
static inline bool tw_close_extent(TwImage *im, int open, char text[320]) {
    __extension__ typedef __int128 wide; /* strides are any numbers */
    wide rest = 0;
    const int64_t before = (int64_t)((intptr_t)im->base - (intptr_t)im->memory);
    if (im->memory_bytes < 0 || im->stride[open] <= 0) {
        snprintf(text, 320,
                 "argument `%s`: the kernel does not say how far dimension %d goes, and neither does the argument; "
                 "mask the access",
                 im->name, open);
        return false;
    }
    for (int d = 0; d < im->layout.rank; d++)
        if (d != open && im->extent[d] > 0) rest += (wide)(im->extent[d] - 1) * im->stride[d];
    wide elements = (im->memory_bytes - before) / im->element_bytes - rest;
    elements = elements <= 0 ? 0 : (elements - 1) / im->stride[open] + 1;
    im->extent[open] = elements > INT64_MAX / 2 ? INT64_MAX / 2 : (int64_t)elements;
    return true;
}

/* False with why in `text`. */
static inline bool tw_place_image(TwImage *im, char text[320]) {
    __extension__ typedef __int128 wide;
    const TwLayout *layout = &im->layout;
    int open = -1;
    im->total = 1;
    im->low = im->high = 0;
    for (int d = 0; d < layout->rank; d++) {
        if (im->open[d] && open >= 0) {
            snprintf(text, 320, "argument `%s`: the kernel bounds neither dimension %d nor %d; mask the access",
                     im->name, open, d);
            return false;
        }
        if (im->open[d]) open = d, im->extent[d] = 0;
        if (im->extent[d] < 0) im->extent[d] = 0;
    }
    if (open >= 0 && !tw_close_extent(im, open, text)) return false;
    bool is_empty = false, too_many = false;
    for (int d = 0; d < layout->rank; d++) is_empty |= im->extent[d] == 0;
    for (int d = 0; d < layout->rank && !too_many; d++) {
        const int64_t grains = im->extent[d] / layout->grain[d] + (im->extent[d] % layout->grain[d] != 0);
        im->pages[d] =
            grains > TW_MOST_PAGES ? 0 : grains * ((layout->grain[d] + layout->unit[d] - 1) / layout->unit[d]);
        if (im->pages[d] && layout->grain[d] % layout->unit[d] == 0) /* as many as it fills, as tensors have them anywhere */
            im->pages[d] = (im->extent[d] - 1) / layout->unit[d] + 1;
        im->total *= im->pages[d];
        too_many = grains > TW_MOST_PAGES || im->total > TW_MOST_PAGES;
    }
    if (is_empty && !too_many) return true;
    wide low = 0, high = im->element_bytes;
    for (int d = 0; d < layout->rank; d++) {
        const wide span = (wide)(im->extent[d] - 1) * im->stride[d] * im->element_bytes;
        if (span < 0)
            low += span;
        else
            high += span;
    }
    if (low < INT64_MIN / 2 || high > INT64_MAX / 2) {
        snprintf(text, 320, "argument `%s`: the kernel's tensor spans more bytes than there are addresses", im->name);
        return false;
    }
    im->low = (int64_t)low;
    im->high = (int64_t)high;
    const int64_t start = (int64_t)((intptr_t)im->base - (intptr_t)im->memory);
    if (im->memory_bytes >= 0 && (start + im->low < 0 || start + im->high > im->memory_bytes)) {
        snprintf(text, 320, "argument `%s`: the kernel's tensor spans bytes %lld to %lld of an array of %lld bytes",
                 im->name,
                 (long long)(start + im->low), (long long)(start + im->high), (long long)im->memory_bytes);
        return false;
    }
    if (too_many) snprintf(text, 320, "argument `%s`: the kernel's tensor has more than 2^18 pages", im->name);
    return !too_many;
}

/* Two outputs of one launch must be apart. */
static inline bool tw_overlap(const TwImage *a, const TwImage *b) {
    return a->base + a->low < b->base + b->high && b->base + b->low < a->base + a->high;
}

/* Output pages start with a pattern that no page of numbers holds; those that keep it were not written. */
static inline const uint8_t *tw_untouched(void) {
    static const uint8_t pattern[16] = {0x93, 0x5e, 0xd4, 0x21, 0x0f, 0xb8, 0x6c, 0xe5, 0x7a, 0x19, 0xc3, 0x88, 0x52,
                                        0xf1, 0x34, 0xad};
    return pattern;
}
static inline size_t tw_image_bytes(const TwImage *im) { return (size_t)(im->total ? im->total : 1) * im->page_bytes; }
static inline void tw_mark_untouched(TwImage *im) {
    const size_t bytes = tw_image_bytes(im);
    for (size_t i = 0; i < bytes; i += 16) memcpy(im->data + i, tw_untouched(), 16);
}
static inline void tw_find_written(TwImage *im) { /* into im->written: one for each page */
    for (int64_t page = 0; page < im->total; page++) {
        im->written[page] = false;
        for (uint32_t i = 0; i < im->page_bytes && !im->written[page]; i += 16)
            im->written[page] = memcmp(im->data + page * im->page_bytes + i, tw_untouched(), 16) != 0;
    }
}
static inline void tw_fill_image(TwImage *im, uint32_t bits, uint32_t bytes) { /* all pages of one number,
                                                                              of 2 or 4 bytes */
    const size_t all = tw_image_bytes(im);
    for (size_t i = 0; i < all; i += bytes) memcpy(im->data + i, &bits, bytes);
}

/* Memory as it is into pages, and back: the kernels write single elements, what they leave is what was there. */
static inline void tw_plain_in(TwImage *im) {
    if (im->high > im->low) memcpy(im->data, im->base, (size_t)(im->high - im->low));
}
static inline void tw_plain_out(TwImage *im) {
    if (im->high > im->low) memcpy(im->base, im->data, (size_t)(im->high - im->low));
}

/* Of all elements of the tensor, in order: `move` gets the page, the place in it, and the element in memory. */
typedef void TwMove(void *context, uint8_t *page, uint32_t place, uint8_t *element);
/* A page is four faces of 16 x 16. */
static inline uint32_t tw_face_place(uint32_t row, uint32_t column) {
    return (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}
static inline void tw_move_below(TwImage *im, int dim, uint8_t *at, int64_t page, int64_t row, int64_t column,
                                 TwMove *move,
                                 void *context) {
    const TwLayout *layout = &im->layout;
    if (dim == layout->rank) {
        move(context, im->data + page * im->page_bytes, tw_face_place((uint32_t)row, (uint32_t)column), at);
        return;
    }
    const int64_t grain = layout->grain[dim], unit = layout->unit[dim], pages = (grain + unit - 1) / unit;
    const int64_t step = im->stride[dim] * (int64_t)im->element_bytes;
    for (int64_t i = 0; i < im->extent[dim]; i++, at += step) {
        const int64_t inner = i % grain, next = page * im->pages[dim] + i / grain * pages + inner / unit;
        int64_t r = dim == layout->row ? inner % unit : row, c = dim == layout->column ? inner % unit : column;
        if (layout->paging == PAGE_VECTOR && dim == layout->column) r = c / 32, c = c % 32;
        if (im->output && dim == layout->rank - 1 && !im->written[next]) continue;
        tw_move_below(im, dim + 1, at, next, r, c, move, context);
    }
}
static inline void tw_move_elements(TwImage *im, TwMove *move, void *context) {
    tw_move_below(im, 0, im->base, 0, 0, 0, move, context);
}

/* ------------------------------------------------------------------------------------------------------ cores */

/* In which order positions are numbered: of the whole grid, in a rectangle of the core's own block. */
typedef enum TwOrder { TW_ORDER_AUTO, TW_ROW_MAJOR, TW_COLUMN_MAJOR, TW_Z_ORDER, TW_MATCH_SHARD } TwOrder;
/* AUTO: rect where loads are shared and equal blocks give work to half of the cores, else contiguous. */
typedef enum TwPolicy { TW_AUTO, TW_CONTIGUOUS, TW_STRIDED, TW_RECT, TW_BLOCK_LINEAR } TwPolicy;
enum {
    TW_TASK_WORDS = 6,
    TW_SHARE_WORDS = 9,
    TW_SHARE_RECEIVERS = 5, /* among them */
    TW_SHARE_PLACE = 8,
    TW_CORE_WORDS = TW_TASK_WORDS + 2 * TW_SHARE_WORDS,
    TW_TURN_WORDS = 7, /* instead of those of shares */
    TW_SEMAPHORES = 4,
    TW_SHARE_ALONE = 0,
    TW_SHARE_SENDS = 1,
    TW_SHARE_RECEIVES = 2
};
typedef struct TwPoint {
    uint32_t x, y;
} TwPoint;

/* What the plan says of it, and the device. */
typedef struct TwGrid {
    TwPolicy policy;
    uint32_t block;         /* of block_linear */
    bool turns;             /* cores take turns, in order, for each of their tasks (tilewright_dataflow.h) */
    bool shares;            /* some loads are shared: rect, or each core reads for itself */
    TwPoint first, size;    /* of the cores to be used; their number is at most `most`, 0: all of them */
    uint32_t most;
    TwPoint (*noc)(const void *device, TwPoint core); /* the coordinates by which kernels name it */
    const void *device;
} TwGrid;

typedef struct TwMapping {
    uint32_t count;         /* cores that have tasks */
    uint32_t columns, rows; /* of the rectangle; 0: none */
    bool shares;
    TwPoint *cores;         /* logical; room for all of the grid */
    uint32_t (*words)[TW_CORE_WORDS];
} TwMapping;

/* The rectangle of most cores, then of the fewest reads: near a square of blocks. With shared loads blocks must be
 * equal. */
static inline void tw_choose_rectangle(const TwGrid *g, uint64_t rows, uint64_t columns, uint32_t most, bool equal,
                                       TwMapping *m) {
    uint64_t best_reads = UINT64_MAX, best_turns = UINT64_MAX;
    for (uint32_t y = 1; y <= g->size.y && y <= rows; y++)
        for (uint32_t x = 1; x <= g->size.x && x <= columns; x++) {
            const uint64_t height = (rows + y - 1) / y, width = (columns + x - 1) / x, reads = height + width,
                turns = height * width;
            if (x * y > most || (equal && (rows % y || columns % x))) continue;
            if (turns > best_turns || (turns == best_turns && (x * y > m->rows * m->columns
                                                               || reads >= best_reads))) continue;
            m->rows = y, m->columns = x;
            best_reads = reads, best_turns = turns;
        }
}

/* The group's words for a core at `at` of `from` .. `to` in a line: the first one sends to those behind it. */
static inline void tw_set_share(const TwGrid *g, uint32_t *words, TwPoint at, TwPoint from, TwPoint to) {
    const uint32_t receivers = to.x - from.x + to.y - from.y;
    const bool along_x = to.x > from.x, sends = at.x == from.x && at.y == from.y;
    const TwPoint next = {from.x + (along_x ? 1 : 0), from.y + (along_x ? 0 : 1)};
    memset(words, 0, TW_SHARE_WORDS * sizeof *words);
    if (!receivers) return;
    const TwPoint sender = g->noc(g->device, from), first = g->noc(g->device, next), last = g->noc(g->device, to);
    words[0] = sends ? TW_SHARE_SENDS : TW_SHARE_RECEIVES;
    words[1] = first.x, words[2] = first.y, words[3] = last.x, words[4] = last.y;
    words[TW_SHARE_RECEIVERS] = receivers;
    words[6] = sender.x, words[7] = sender.y;
    words[TW_SHARE_PLACE] = at.x - from.x + at.y - from.y;
}

/* A multicast goes to neighbours on the NoC: columns x and x + 1. Blackhole's have a gap. */
static inline bool tw_are_neighbours(const TwGrid *g, uint32_t x) {
    const TwPoint here = {x, g->first.y}, next = {x + 1, g->first.y};
    return g->noc(g->device, next).x == g->noc(g->device, here).x + 1;
}

/* Part `i` of `count` of `all`: the first ones have one more. */
static inline uint32_t tw_part(uint64_t all, uint32_t count, uint32_t i, uint32_t *first) {
    const uint64_t share = all / count, more = all % count;
    *first = (uint32_t)(i * share + (i < more ? i : more));
    return (uint32_t)(share + (i < more));
}

static inline void tw_map_rectangle(const TwGrid *g, TwMapping *m, uint64_t rows, uint64_t columns, uint64_t planes) {
    const uint32_t last_x = g->first.x + m->columns - 1, last_y = g->first.y + m->rows - 1;
    for (uint32_t i = 0; i < m->count; i++) {
        const TwPoint at = {g->first.x + i % m->columns, g->first.y + i / m->columns};
        uint32_t *words = m->words[i], row, column;
        m->cores[i] = at;
        words[3] = tw_part(rows, m->rows, i / m->columns, &row);
        words[2] = tw_part(columns, m->columns, i % m->columns, &column);
        words[0] = (uint32_t)(row * columns + column);
        words[1] = (uint32_t)(words[2] * words[3] * planes);
        words[4] = (uint32_t)columns;
        words[5] = (uint32_t)(rows * columns);
        if (!m->shares) continue;
        uint32_t from = at.x, to = at.x;
        while (from > g->first.x && tw_are_neighbours(g, from - 1)) from--;
        while (to < last_x && tw_are_neighbours(g, to)) to++;
        const TwPoint left = {from, at.y}, right = {to, at.y}, top = {at.x, g->first.y}, bottom = {at.x, last_y};
        tw_set_share(g, words + TW_TASK_WORDS, at, left, right);
        tw_set_share(g, words + TW_TASK_WORDS + TW_SHARE_WORDS, at, top, bottom);
    }
}

static inline void tw_map_in_order(const TwGrid *g, TwMapping *m, uint64_t tasks) {
    const uint32_t run = g->policy == TW_STRIDED ? 1 : g->block;
    const bool dealt = g->policy == TW_STRIDED || g->policy == TW_BLOCK_LINEAR;
    for (uint32_t i = 0; i < m->count; i++) {
        uint32_t *words = m->words[i];
        const TwPoint at = {g->first.x + i % g->size.x, g->first.y + i / g->size.x};
        m->cores[i] = at;
        if (!dealt) {
            words[1] = words[2] = tw_part(tasks, m->count, i, &words[0]);
            words[3] = 1;
            continue;
        }
        const uint64_t turn = (uint64_t)run * m->count, whole = tasks / turn, rest = tasks % turn,
            mine = (uint64_t)i * run;
        words[0] = i * run;
        words[1] = (uint32_t)(whole * run + (rest <= mine ? 0 : rest - mine < run ? rest - mine : run));
        words[2] = run;
        words[3] = UINT32_MAX;
        words[4] = (uint32_t)turn;
    }
}

/* Who comes behind a core, who is first, and how many turns both have: cores in order, the first ones as many as others or
 * more. */
static inline void tw_set_turns(const TwGrid *g, TwMapping *m) {
    for (uint32_t i = 0; i < m->count; i++) {
        const uint32_t next = i + 1 < m->count ? i + 1 : i;
        const TwPoint behind = g->noc(g->device, m->cores[next]), first = g->noc(g->device, m->cores[0]);
        uint32_t *words = m->words[i] + TW_TASK_WORDS;
        words[0] = i;
        words[1] = behind.x, words[2] = behind.y, words[3] = next == i ? 0 : m->words[next][1];
        words[4] = first.x, words[5] = first.y, words[6] = m->words[0][1];
    }
}

/* extents: of the task indices, none 0. m->cores and m->words have room for size.x * size.y, and the words are 0. */
static inline void tw_map(const TwGrid *g, const uint64_t *extents, int rank, TwMapping *m) {
    const uint32_t all = g->size.x * g->size.y, most = g->most && g->most < all ? g->most : all;
    uint64_t tasks = 1;
    for (int i = 0; i < rank; i++) tasks *= extents[i];
    m->rows = m->columns = 0;
    m->shares = false;
    const uint32_t run = g->policy == TW_BLOCK_LINEAR ? g->block : 1;
    const uint64_t parts = (tasks + run - 1) / run;
    m->count = most < parts ? most : (uint32_t)parts;
    if (rank >= 2 && (g->policy == TW_RECT || (g->policy == TW_AUTO && g->shares))) {
        const uint64_t rows = extents[rank - 2], columns = extents[rank - 1];
        if (g->shares) tw_choose_rectangle(g, rows, columns, m->count, true, m);
        m->shares = g->shares && 2 * m->rows * m->columns >= m->count; /* else most cores would idle */
        if (!m->shares) m->rows = m->columns = 0;
        if (!m->shares && g->policy == TW_RECT) tw_choose_rectangle(g, rows, columns, m->count, false, m);
        if (m->rows) m->count = m->rows * m->columns;
        if (m->rows) tw_map_rectangle(g, m, rows, columns, tasks / (rows * columns));
    }
    if (!m->rows) tw_map_in_order(g, m, tasks);
    if (g->turns) tw_set_turns(g, m);
}
#endif
