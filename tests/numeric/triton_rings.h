/* SPDX-License-Identifier: Apache-2.0 */
/* triton_rings.h: random Triton kernels (random_triton.c) of loops whose loads may go through rings, and of what stands in the way.
 *
 * One to three loops in a row, of products, of two or three products in a row, of four as in gradients, or of sums without one, of 0 and more trips (some by the
 * program's number: the first one has none). What a loop loads has forms of every kind, mixed: boxes of rows that are aligned or not,
 * turned, masked at their end, behind a carried pointer, rows that an index chooses, pages that a loaded number chooses, loads under
 * a condition of an argument, of the trip, or of data. Some operands are made of what was loaded, some products have rows beside them,
 * and the arrays are of every type that products take. Loops share arrays, or not. Tiles and stages are drawn so that some rings do not
 * fit. Outputs are boxes or rows that an index chooses.
 *
 *     for k2 in tl.range(0, pid, num_stages=4):
 *         a3 = tl.load(x0 + rows[:, None] * 136 + (k2 * 64 + w1)[None, :])
 *         if k2 > 0: b4 = tl.load(..)  else: b4 = tl.zeros(..)
 *         acc = tl.dot(a3, b4, acc)
 *
 * All numbers are small and whole, so that every order of a sum gives the same bits. Plans (roles on and off, stages, slots, clusters)
 * are drawn too: they may change nothing, and a plan that waits for ever is found as such. */
#ifndef TESTS_TRITON_RINGS_H
#define TESTS_TRITON_RINGS_H
#include "triton_values.h"

enum { RINGS_ROOM = 180000, RINGS_ARRAYS = 3, RINGS_TRIPS = 3 };

typedef struct RingTile { /* of an operand: extents, and the loop variable that moves it */
    int rows, columns;
    const char *row, *column; /* vectors of indices by name */
    bool by_row;              /* the loop goes down the rows; else along the columns */
} RingTile;

/* The places of a tile in trip k: pointers, and a mask or "". */
static void rings_place(Gen *g, const RingTile *t, const char *k, char *pointer, char *mask, size_t size) {
    static const int pads[] = {0, 8, 8, 1}; /* rows begin on multiples of 16 bytes, or do not */
    int step = t->by_row ? t->rows : t->columns, array = (int)draw(g, RINGS_ARRAYS);
    int length = (t->by_row ? t->columns : RINGS_TRIPS * t->columns) + pads[draw(g, 4)];
    char at[40], row[80], column[80];
    uint32_t form = draw(g, 6);
    snprintf(at, sizeof at, form == 4 ? "tl.load(e0 + %s) %% %d * %d" : "%s * %d", k, form == 4 ? RINGS_TRIPS : step, step);
    if (t->by_row) {
        snprintf(row, sizeof row, "(%s + %s)", at, t->row);
        snprintf(column, sizeof column, "%s", t->column);
    } else {
        snprintf(row, sizeof row, form == 3 ? "picked_%s" : "(pid * 16 + %s)", t->row);
        snprintf(column, sizeof column, "(%s + %s)", at, t->column);
    }
    mask[0] = 0;
    if (form == 5) snprintf(mask, size, t->by_row ? "(%s + %s)[:, None] < n0 * 9" : "(%s + %s)[None, :] < n0 * 9", at, t->by_row ? t->row : t->column);
    if (form == 2) /* turned */
        snprintf(pointer, size, "x%d + %s[:, None] + %s[None, :] * %d", array, row, column, (t->by_row ? RINGS_TRIPS * t->rows : 160) + 8);
    else snprintf(pointer, size, "x%d + %s[:, None] * %d + %s[None, :]", array, row, length, column);
}

/* A tile of trip k, by its name; some under a condition. */
static int rings_load(Gen *g, const RingTile *t, const char *k) {
    static const char *const conditions[] = {"n0 > 1", "%s > 0", "flag > 3", "n1 > 4", "%s != 1"};
    char pointer[240], mask[240], test[40];
    int id = g->next++;
    rings_place(g, t, k, pointer, mask, sizeof mask);
    const char *comma = *mask ? ", mask=" : "", *other = *mask ? ", other=0.0" : "";
    if (draw(g, 4) != 3) {
        line(g, "t%d = tl.load(%s%s%s%s)", id, pointer, comma, mask, other);
        return id;
    }
    snprintf(test, sizeof test, conditions[draw(g, 5)], k);
    bool both = draw(g, 2);
    const char *type = dtypes[g->small].name;
    if (!both) line(g, "t%d = tl.zeros((%d, %d), tl.%s)", id, t->rows, t->columns, type);
    line(g, "if %s:", test);
    line(g, "    t%d = tl.load(%s%s%s%s)", id, pointer, comma, mask, other);
    if (both) line(g, "else:\n%*st%d = tl.full((%d, %d), 1.0, tl.%s)", 4 * g->indent + 4, "", id, t->rows, t->columns, type);
    return id;
}

/* An operand of a product: the tile as it was loaded, or what threads make of it. */
static int rings_operand(Gen *g, const RingTile *t, const char *k) {
    int id = rings_load(g, t, k);
    const char *type = dtypes[g->small].name;
    if (draw(g, 4) != 3) return id;
    switch (draw(g, 4)) {
    case 0: line(g, "t%d = (t%d.to(tl.float32) * -1).to(tl.%s)", id, id, type); break;
    case 1: line(g, "t%d = tl.where(t%d.to(tl.float32) > 0, 1, 2).to(tl.%s)", id, id, type); break;
    case 2: line(g, "t%d = (t%d.to(tl.float32) * (tl.load(e0 + %s + %s) & 1)[:, None]).to(tl.%s)", id, id, k, t->row, type); break;
    default: line(g, "t%d = (t%d.to(tl.float32) * (tl.load(e0 + %s + %s) & 1)[None, :]).to(tl.%s)", id, id, k, t->column, type);
    }
    return id;
}

/* How often: an argument, a number, or the program's number, which is 0 in the first. */
static void rings_trips(Gen *g, char *text, size_t size) {
    int trips = (int)draw(g, RINGS_TRIPS + 1);
    const char *runtime = NULL;
    uint32_t form = draw(g, 4);
    if (form == 3) {
        snprintf(text, size, draw(g, 2) ? "pid" : "tl.minimum(pid + n0, %d)", RINGS_TRIPS);
        return;
    }
    if (form && g->p->scalar_count < 8) runtime = scalar_argument(g, trips);
    if (runtime) snprintf(text, size, "%s", runtime);
    else snprintf(text, size, "%d", trips);
}

static void rings_loop(Gen *g, int m, int n) {
    static const int widths[] = {64, 32, 128, 16};
    int id = g->next++, width = widths[draw(g, 4)];
    uint32_t kind = draw(g, 4); /* a product (twice as often), two in a row, none */
    char trips[40], k[16], w[16];
    rings_trips(g, trips, sizeof trips);
    snprintf(k, sizeof k, "k%d", id);
    snprintf(w, sizeof w, "w%d", id);
    line(g, "%s = tl.arange(0, %d)", w, width);
    int stages = (int)draw(g, 6);
    RingTile query = {m, 64, "r", "h", false};
    int q = kind == 2 ? rings_operand(g, &query, "0") : 0;
    const char *how = g->small != F32 ? "" : draw(g, 2) ? ", input_precision=\"ieee\"" : ", input_precision=\"tf32\"";
    if (stages) line(g, "for %s in tl.range(0, %s, num_stages=%d):", k, trips, stages == 5 ? 8 : stages);
    else line(g, "for %s in range(0, %s):", k, trips);
    g->indent++;
    RingTile left = {m, width, "r", w, false}, right = {width, n, w, "c", true}, whole = {m, n, "r", "c", false};
    RingTile key = {64, width, "h", w, false};
    if (kind == 3) {
        line(g, "acc += t%d", rings_load(g, &whole, k));
    } else if (kind == 2) {
        int keys = rings_operand(g, &key, k), values = rings_operand(g, &right, k);
        line(g, "y%d = tl.dot(t%d, t%d%s)", id, q, keys, how);
        if (draw(g, 3) == 2) { /* scores of two parts, added up by the product or not */
            int more = rings_operand(g, &key, k);
            if (draw(g, 2)) line(g, "y%d = small(y%d).to(tl.float32)", id, id);
            line(g, "y%d += tl.dot(t%d, t%d%s)", id, q, more, how);
        }
        line(g, "p%d = small(y%d)", id, id);
        line(g, "acc = tl.dot(p%d, t%d, small(acc).to(tl.float32)%s)", id, values, how);
    } else {
        int a = rings_operand(g, &left, k), b = rings_operand(g, &right, k);
        line(g, "acc = tl.dot(t%d, t%d, acc%s)", a, b, how);
    }
    if (draw(g, 4) == 3) line(g, "acc = (acc + (tl.load(d0 + %s * 8 + c))[None, :]).to(tl.float32)", k);
    if (draw(g, 5) == 4) {
        line(g, "if %s:", draw(g, 2) ? "flag > 2" : "n1 > 4");
        line(g, "    acc += (tl.load(e0 + r) & 1)[:, None].to(tl.float32)");
    }
    g->indent--;
    line(g, "acc = small(acc).to(tl.float32)");
}

/* Several products that feed each other, as in the gradients of attention, in an order that is drawn: what one may wait for. */
static void rings_gradients(Gen *g, int m) {
    static const int widths[] = {64, 32, 128, 16};
    int id = g->next++, width = widths[draw(g, g->small == F32 ? 2 : 4)], stages = (int)draw(g, 4);
    char trips[40], k[16], w[16];
    const char *how = g->small == F32 ? ", input_precision=\"tf32\"" : "";
    rings_trips(g, trips, sizeof trips);
    snprintf(k, sizeof k, "k%d", id);
    snprintf(w, sizeof w, "w%d", id);
    RingTile own = {m, 64, "r", "h", false}, moving = {width, 64, w, "h", true};
    line(g, "%s = tl.arange(0, %d)", w, width);
    int keys = rings_load(g, &own, "0"), values = rings_load(g, &own, "0");
    line(g, "u%d = tl.zeros((%d, 64), tl.float32)", id, m);
    line(g, "v%d = tl.zeros((%d, 64), tl.float32)", id, m);
    if (stages) line(g, "for %s in tl.range(0, %s, num_stages=%d):", k, trips, stages);
    else line(g, "for %s in range(0, %s):", k, trips);
    g->indent++;
    int q = rings_operand(g, &moving, k);
    bool late = draw(g, 2), before = draw(g, 2), scaled = draw(g, 3) == 2;
    int d = late ? 0 : rings_operand(g, &moving, k);
    line(g, "s%d = tl.dot(t%d, tl.trans(t%d)%s)", id, keys, q, how);
    if (late) d = rings_operand(g, &moving, k);
    if (before) line(g, "g%d = tl.dot(t%d, tl.trans(t%d)%s)", id, values, d, how);
    if (scaled) line(g, "s%d = s%d * (tl.load(e0 + %s * 8 + %s) & 1)[None, :].to(tl.float32)", id, id, k, w);
    line(g, "p%d = small(s%d)", id, id);
    line(g, "u%d = tl.dot(p%d, t%d, u%d%s)", id, id, d, id, how);
    if (!before) line(g, "g%d = tl.dot(t%d, tl.trans(t%d)%s)", id, values, d, how);
    line(g, "gs%d = small(p%d.to(tl.float32) * g%d)", id, id, id);
    if (draw(g, 4) == 3) line(g, "u%d = small(u%d).to(tl.float32)", id, id);
    line(g, "v%d = tl.dot(gs%d, t%d, v%d%s)", id, id, q, id, how);
    g->indent--;
    for (int i = 0; i < 2; i++) {
        Array *out = new_array(g, 's', F32, 64 * m * programs(g), PLAIN);
        line(g, "tl.store(%s + (r + pid * %d)[:, None] * 64 + h[None, :], %c%d)", out->name, m, i ? 'v' : 'u', id);
    }
}

static void rings_plan(Gen *g) {
    static const tw_pair plans[] = {
        {"roles", "on"}, {"roles", "off"}, {"roles", "off"}, {"cluster", "2"}, {"persist", "on"}, {"persist", "off"}, {"num_warps", "8"},
        {"num_stages", "1"}, {"num_stages", "6"}, {"slots", "2"}, {"slots", "7"}, {"rotate", "off"}, {"workers", "2"}, {"gang", "2"}, {"num_warps", "2"},
    };
    draw_plans(g, plans, sizeof plans / sizeof *plans);
}

static void rings_kernel(Gen *g) {
    static const int types[] = {F16, F16, F16, BF16, F32, F8E5}, rows[] = {F32, F64, F16, I32};
    static const int heights[] = {64, 128, 64, 32}, columns[] = {64, 128, 256, 32};
    int m = heights[draw(g, 4)], n = columns[draw(g, 4)], loops = 1 + (int)draw(g, 3);
    g->p->grid[0] = 1 + draw(g, 3), g->p->grid[1] = 1;
    rings_plan(g);
    line(g, "pid = tl.program_id(0)");
    scalar_argument(g, (int64_t)draw(g, 4)); /* n0 */
    scalar_argument(g, 4 + (int64_t)draw(g, 2)); /* n1: another number, so another argument */
    g->small = types[draw(g, 6)];
    if (g->small == F32 && n > 128) n = 128; /* operands that a block of every machine has room for */
    for (int i = 0; i < RINGS_ARRAYS; i++) line(g, "x%d = %s", i, new_array(g, 'x', g->small, RINGS_ROOM, WHOLE)->name);
    line(g, "d0 = %s", new_array(g, 'd', rows[draw(g, 4)], 512, WHOLE)->name);
    line(g, "e0 = %s", new_array(g, 'e', I32, 512, PLAIN)->name);
    line(g, "flag = tl.load(e0 + 200 + pid) & 7");
    line(g, "r = tl.arange(0, %d)", m);
    line(g, "c = tl.arange(0, %d)", n);
    line(g, "h = tl.arange(0, 64)");
    line(g, "picked_r = tl.load(e0 + r) & 63");
    line(g, "picked_h = tl.load(e0 + h) & 31");
    line(g, "acc = tl.zeros((%d, %d), tl.float32)", m, n);
    if (draw(g, 5) == 4) rings_gradients(g, m);
    for (int i = 0; i < loops; i++) rings_loop(g, m, n);
    Array *out = new_array(g, 's', draw(g, 2) ? F16 : F32, m * n * programs(g), PLAIN);
    const char *row = draw(g, 4) == 3 ? "((r ^ 21) + pid * %d)" : "(r + pid * %d)"; /* ^: not a box, and no two are one */
    char place[60];
    snprintf(place, sizeof place, row, m);
    line(g, "tl.store(%s + %s[:, None] * %d + c[None, :], acc)", out->name, place, n);
}
#endif
