/* SPDX-License-Identifier: Apache-2.0 */
/* drawn_options.h: compile options at random, for any random program (`--options`, differential.h).
 *
 * No option of this table says what a kernel computes, so whatever is drawn, results are the interpreter's, within what the program
 * allows. What Tenstorrent cannot keep of them it refuses, and that is counted (may_refuse). Included by differential.h. */
#ifndef DRAWN_OPTIONS_H
#define DRAWN_OPTIONS_H

typedef struct DrawnOption {
    const char *name;
    const char *values[10]; /* up to NULL */
} DrawnOption;

static const DrawnOption drawn_options[] = {
    {"num_warps", {"4", "1", "2", "8", "16", "32"}},
    {"num_stages", {"2", "0", "1", "3", "4", "7", "16"}},
    {"slots", {"0", "1", "2", "3", "5", "16"}},
    {"roles", {"auto", "on", "off"}},
    {"persist", {"auto", "on", "off"}},
    {"workers", {"0", "1", "2", "3", "4", "8"}},
    {"cluster", {"0", "1", "2"}},
    {"rotate", {"auto", "on", "off"}},
    {"gang", {"0", "1", "2", "3", "4"}},
    {"variant", {"0", "1", "2", "3", "4", "5"}},
    {"overlap", {"off", "on"}},
    {"written", {"off", "on"}},
    {"lines", {"off", "on"}},
    {"launch_pdl", {"off", "on"}},
    {"maxnreg", {"0", "32", "64", "168", "255"}},
    {"threads", {"0", "1", "2", "3", "17"}},
    {"vector_bits", {"0", "128", "256", "512"}},
    {"seed", {"0", "1", "77", "123456789"}},
    {"cores", {"0", "1", "2", "3", "5", "7", "64"}},
    {"multicast", {"auto", "off", "on"}},
    {"policy", {"auto", "contiguous", "strided", "rect", "block_linear"}},
    {"order", {"auto", "row_major", "column_major", "z_order", "match_shard"}},
    {"block", {"1", "2", "3", "5", "1048576"}},
    {"core_grid", {"8x8", "1x1", "2x1", "1x3", "3x2", "5x7"}},
    {"chunk", {"1", "2", "3", "4", "8", "1024"}},
    {"nest", {"0", "1", "2", "3", "5", "16"}},
};
enum { DRAWN_OPTIONS = sizeof drawn_options / sizeof *drawn_options };

/* Where arrays lie on Tenstorrent. */
static void draw_sharding(Choices *c, Program *p) {
    static const char *const layouts[] = {"height", "l1", "width", "block"}, *const grids[] = {"", ";grid=3x2", ";grid=1x4", ";grid=8x1"};
    size_t at = 0;
    if (pick(c, 4) != 1 || p->set_count == MOST_SETS) return;
    for (int i = 0; i < p->array_count && at < sizeof p->sharding - 60; i++) {
        if (pick(c, 2)) continue;
        const char *layout = layouts[pick(c, 4)];
        bool is_cut = layout[0] != 'l';
        at += (size_t)snprintf(p->sharding + at, sizeof p->sharding - at, "%s%s=%s%s%s", at ? "," : "", p->arrays[i].name, layout,
                               is_cut ? grids[pick(c, 4)] : "", is_cut && pick(c, 2) ? ";order=column_major" : "");
    }
    if (at) p->sets[p->set_count++] = (tw_pair){"sharding", p->sharding};
}

/* Up to seven options, none that the program has set itself. Drawing zeros only gives none. */
static void draw_options(Choices *c, Program *p) {
    for (uint32_t left = pick(c, 8); left > 0 && p->set_count < MOST_SETS; left--) {
        const DrawnOption *o = &drawn_options[pick(c, DRAWN_OPTIONS)];
        uint32_t values = 0;
        while (values < 10 && o->values[values]) values++;
        const char *value = o->values[pick(c, values)];
        bool there = false;
        for (int s = 0; s < p->set_count; s++) there |= strcmp(p->sets[s].name, o->name) == 0;
        if (!there) p->sets[p->set_count++] = (tw_pair){o->name, value};
    }
    draw_sharding(c, p);
}
#endif
