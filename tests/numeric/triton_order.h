/* SPDX-License-Identifier: Apache-2.0 */
/* triton_order.h: random Triton kernels (random_triton.c) whose accesses depend on each other.
 *
 * A kernel has three arrays of one type, some of them views of others: equal, shifted, or apart. Tiles are stored, loaded and
 * multiplied at places that are equal, overlap, are turned round or computed from data, through pointers that may change places,
 * under masks of arguments and of data; in straight text, in loops of 0 and more trips, loops in a row, loops in loops, and ifs. What
 * a load brings may be used much later. An array of integers is combined by atomics besides.
 *
 *     for k5 in range(n1):
 *         t6 = tl.load(src + (r - 3 + ..)[:, None] * 64 + ..)
 *         acc = tl.dot(t6, tl.load(q1 + ..), acc)
 *         tl.store(dst + .., small(acc), mask=acc > 1)
 *         src, dst = dst, src
 *
 * The arrays are of any type. All numbers are small and whole, so that every order of a sum gives the same bits; every order of accesses
 * but the written one gives others. Each program has memory of its own. Plans (roles, stages, clusters ..) are drawn too: they may change nothing. */
#ifndef TESTS_TRITON_ORDER_H
#define TESTS_TRITON_ORDER_H
#include "triton_values.h"

enum { ORDER_ROOM = 24576, ORDER_DEPTH = 3, ORDER_VIEW = 2048 };

/* What a program does not do leaves the rest of it to the fast forms: TMA, roles, loads that run ahead. */
enum { SPICE_SWAPS = 1, SPICE_DATA = 2, SPICE_INTEGERS = 4, SPICE_MASKS = 8 };

/* One of the pointers, at the beginning of the program's own memory. */
static const char *order_pointer(Gen *g) {
    static const char *const names[] = {"q0", "q1", "q2", "src", "dst"};
    return names[draw(g, g->spice & SPICE_SWAPS ? 5 : 3)];
}

/* Of a product: often memory that nobody writes. */
static const char *order_factor(Gen *g) {
    uint32_t form = draw(g, 4);
    return form == 0 ? "p0" : form == 1 ? "p1" : order_pointer(g);
}

/* A row to begin with; `index` is the variable of a loop around, or NULL. */
static void order_row(Gen *g, const char *index, char *text, size_t size) {
    static const char *const rows[] = {"0", "0", "16", "8", "32", "5", "n0", "at"};
    uint32_t form = draw(g, index ? 11 : 8);
    if (form == 7 && !(g->spice & SPICE_DATA)) form = 0;
    if (form < 8) snprintf(text, size, "%s", rows[form]);
    else snprintf(text, size, form == 8 ? "%s * 8" : form == 9 ? "%s * 16" : "(3 - %s) * 4", index);
}

/* The offsets of a tile of 64 x 64 at some place. No two elements of it are one. */
static void order_place(Gen *g, const char *index, char *text, size_t size) {
    static const char *const forms[] = {
        "(r + %s + pid * %d)[:, None] * %d + c[None, :]",
        "(r + %s + pid * %d)[:, None] * %d + c[None, :] + 8",
        "(63 - r + %s + pid * %d)[:, None] * %d + c[None, :]",
        "(r + %s + pid * %d)[:, None] * %d + c[None, :] + 1",
        "(r + %s + pid * %d)[None, :] * %d + c[:, None]",
    };
    char row[40];
    order_row(g, index, row, sizeof row);
    int step = draw(g, 3) == 2 ? 128 : 64;
    snprintf(text, size, forms[draw(g, 5)], row, ORDER_ROOM / step, step);
}

/* ", mask=.." or nothing. */
static void order_mask(Gen *g, bool data, char *text, size_t size) {
    uint32_t form = draw(g, data && g->spice & SPICE_DATA ? 6 : 5);
    if (form < 3 || (form < 5 && !(g->spice & SPICE_MASKS))) text[0] = 0;
    else if (form == 3) snprintf(text, size, ", mask=(r < n1 * 20)[:, None]");
    else if (form == 4) snprintf(text, size, ", mask=(r[:, None] < 50) & (c[None, :] < n0 * 12)");
    else snprintf(text, size, ", mask=acc > %d", (int)draw(g, 3));
}

static void order_store(Gen *g, const char *index) {
    char place[120], mask[80];
    order_place(g, index, place, sizeof place);
    order_mask(g, true, mask, sizeof mask);
    uint32_t form = draw(g, 4);
    char zeros[60];
    snprintf(zeros, sizeof zeros, "tl.zeros((64, 64), tl.%s)", dtypes[g->small].name);
    const char *value = form == 0 ? "small(acc)" : form == 1 ? "small(acc + 1.0)" : form == 2 ? zeros : "small(acc * 3.0)";
    line(g, "tl.store(%s + %s, %s%s)", order_pointer(g), place, value, mask);
}

/* The name of the loaded tile; the caller uses it at once, or later. */
static int order_load(Gen *g, const char *index) {
    char place[120], mask[80];
    int id = g->next++;
    order_place(g, index, place, sizeof place);
    order_mask(g, true, mask, sizeof mask);
    line(g, "t%d = tl.load(%s + %s%s%s)", id, order_pointer(g), place, mask, *mask ? ", other=1" : "");
    return id;
}

/* acc + x y, in float32. */
static void order_dot(const Gen *g, const char *x, const char *y, char *text, size_t size) {
    const char *form = g->small == F32  ? "tl.dot(%s, %s, acc, input_precision=\"tf32\")"
                       : g->small == I8 ? "tl.dot(%s, %s, acc.to(tl.int32), out_dtype=tl.int32).to(tl.float32)"
                       : dtypes[g->small].kind != '8' && dtypes[g->small].bits != 16 ? "tl.dot(%s.to(tl.float16), %s.to(tl.float16), acc)"
                                                                                     : "tl.dot(%s, %s, acc)";
    snprintf(text, size, form, x, y);
}

static void order_use(Gen *g, int tile) {
    char name[16], product[120];
    snprintf(name, sizeof name, "t%d", tile);
    order_dot(g, name, name, product, sizeof product);
    if (draw(g, 2)) line(g, "acc = small(%s).to(tl.float32)", product);
    else line(g, "acc = small(acc + %s.to(tl.float32)).to(tl.float32)", name);
}

static void order_integers(Gen *g) {
    static const char *const places[] = {"r", "63 - r", "r + 4", "(r ^ 21)"};
    const char *place = places[draw(g, 4)];
    int id = g->next++;
    switch (draw(g, 4)) {
    case 0: line(g, "tl.store(e0 + %s, r + %d)", place, (int)draw(g, 9)); break;
    case 1: line(g, "tl.atomic_add(e0 + %s, r & 3)", place); break;
    case 2:
        line(g, "i%d = tl.load(e0 + %s)", id, place);
        line(g, "acc += (i%d & 1)[:, None].to(tl.float32)", id);
        break;
    default: line(g, "tl.store(e0 + %s, tl.sum(acc, 1).to(tl.int32) & 7)", place); break;
    }
}

static void order_block(Gen *g, int most, const char *index);

/* How often a loop runs: an argument of 0 to 3, or a number. */
static void order_trips(Gen *g, char *text, size_t size) {
    int trips = (int)draw(g, 4);
    const char *runtime = draw(g, 3) ? scalar_argument(g, trips) : NULL;
    if (runtime) snprintf(text, size, "%s", runtime);
    else snprintf(text, size, "%d", trips);
}

/* Products in a loop: with carried pointers and masks or computed ones; stores and loads may stand in it. */
static void order_products(Gen *g, const char *outer) {
    static const int widths[] = {64, 32, 64, 16};
    int id = g->next++, width = widths[draw(g, 4)], often = 1 + (int)(draw(g, 3) == 2);
    bool carried = draw(g, 3) == 2, masked = carried && draw(g, 2), early = !carried && draw(g, 4) == 3; /* early: a trip before */
    const char *left = order_factor(g), *right = order_factor(g);
    char trips[24], row[40], index[24];
    int rows = left[0] == 'p' ? 0 : ORDER_ROOM / 128, lines = right[0] == 'p' ? 0 : ORDER_ROOM / 64; /* a program's own */
    order_row(g, outer, row, sizeof row);
    snprintf(index, sizeof index, "k%d", id);
    line(g, "w%d = tl.arange(0, %d)", id, width);
    for (int turn = 0; turn < often; turn++) { /* loops in a row, of equal tiles */
        order_trips(g, trips, sizeof trips);
        if (carried) {
            line(g, "a%d = %s + (r + %s + pid * %d)[:, None] * 128 + w%d[None, :]", id, left, row, rows, id);
            line(g, "b%d = %s + (w%d + pid * %d)[:, None] * 64 + c[None, :]", id, right, id, lines);
        }
        if (masked) {
            line(g, "left%d = %d - n0 * 9", id, width * 2);
            line(g, "on%d = w%d < left%d", id, id, id);
        }
        if (early) line(g, "la%d = tl.load(%s + (r + %s + pid * %d)[:, None] * 128 + w%d[None, :])", id, left, row, rows, id);
        line(g, draw(g, 4) == 3 ? "for %s in tl.range(0, %s, num_stages=3):" : "for %s in range(0, %s):", index, trips);
        g->indent++;
        if (carried && masked) {
            line(g, "la%d = tl.load(a%d, mask=on%d[None, :], other=0)", id, id, id);
            line(g, "lb%d = tl.load(b%d, mask=on%d[:, None], other=0)", id, id, id);
        } else if (carried) {
            line(g, "la%d = tl.load(a%d)", id, id);
            line(g, "lb%d = tl.load(b%d)", id, id);
        } else {
            if (!early) line(g, "la%d = tl.load(%s + (r + %s + pid * %d)[:, None] * 128 + (%s * %d + w%d)[None, :])", id, left, row, rows, index, width, id);
            line(g, "lb%d = tl.load(%s + (%s * %d + w%d + pid * %d)[:, None] * 64 + c[None, :])", id, right, index, width, id, lines);
        }
        char x[16], y[16], product[120];
        snprintf(x, sizeof x, "la%d", id);
        snprintf(y, sizeof y, "lb%d", id);
        order_dot(g, x, y, product, sizeof product);
        line(g, "acc = %s", product);
        if (early) line(g, "la%d = tl.load(%s + (r + %s + pid * %d)[:, None] * 128 + (%s * %d + %d + w%d)[None, :])", id, left, row, rows, index, width, width, id);
        if (draw(g, 3) == 2) {
            line(g, "acc = small(acc).to(tl.float32)");
            order_block(g, 2, index);
        }
        if (carried) {
            line(g, "a%d += %d", id, width);
            line(g, "b%d += %d", id, width * 64);
        }
        if (masked) {
            line(g, "left%d -= %d", id, width);
            line(g, "on%d = w%d < left%d", id, id, id);
        }
        g->indent--;
        line(g, "acc = small(acc).to(tl.float32)");
    }
}

static void order_statement(Gen *g, const char *index) {
    char trips[24], inner[24];
    int id = g->next++;
    uint32_t form = draw(g, g->depth >= ORDER_DEPTH ? 5 : 10);
    switch (form) {
    case 0:
    case 1: order_store(g, index); break;
    case 2: order_use(g, order_load(g, index)); break;
    case 3:
        if (g->spice & SPICE_SWAPS) line(g, "src, dst = dst, src");
        else order_store(g, index);
        break;
    case 4:
        if (g->spice & SPICE_INTEGERS) order_integers(g);
        else order_use(g, order_load(g, index));
        break;
    case 5:
    case 6: order_products(g, index); break;
    case 7: {
        int tile = order_load(g, index); /* used behind whatever comes */
        order_block(g, 2, index);
        order_use(g, tile);
        break;
    }
    case 8:
        line(g, g->spice & SPICE_DATA && draw(g, 2) ? "if at > %d:" : "if n0 > %d:", (int)draw(g, 3));
        g->indent++;
        line(g, "acc = acc + 1.0");
        order_block(g, 3, index);
        g->indent--;
        break;
    default:
        order_trips(g, trips, sizeof trips);
        snprintf(inner, sizeof inner, "j%d", id);
        if (draw(g, 4) == 3) {
            line(g, "%s = 0", inner);
            line(g, "while %s < %s:", inner, trips);
            g->indent++;
            order_block(g, 2, inner);
            line(g, "%s += 1", inner);
        } else {
            line(g, "for %s in range(%s):", inner, trips);
            g->indent++;
            line(g, "acc = small(acc + 1.0).to(tl.float32)");
            order_block(g, 3, inner);
        }
        g->indent--;
        break;
    }
}

static void order_block(Gen *g, int most, const char *index) {
    g->depth++;
    for (int i = 0; i < most && g->statements_left > 0; i++) {
        g->statements_left--;
        order_statement(g, index);
        if (draw(g, 4) == 3) break;
    }
    g->depth--;
}

static void order_arrays(Gen *g) {
    static const int64_t shifts[] = {0, 8, 64, 1, 2048};
    Program *p = g->p;
    int64_t whole = ORDER_ROOM * programs(g) + ORDER_VIEW;
    for (int i = 0; i < 3; i++) {
        Array *a = new_array(g, 'm', g->small, whole, WHOLE);
        int of = i ? (int)draw(g, (uint32_t)i + 2) - 1 : 0; /* mostly apart */
        line(g, "q%d = %s", i, a->name);
        if (of < 1) continue;
        a->of = p->arrays[of - 1].of ? p->arrays[of - 1].of : of;
        a->shift = shifts[draw(g, 5)];
        a->count = whole - a->shift;
    }
    for (int i = 0; i < 2; i++)
        line(g, "p%d = %s", i, new_array(g, 'x', g->small, ORDER_ROOM, WHOLE)->name);
    line(g, "e0 = %s + pid * 128", new_array(g, 'e', I32, 128 * programs(g), PLAIN)->name);
    line(g, "at = tl.load(%s + pid) & 15", new_array(g, 'x', I32, 16, PLAIN)->name);
}

/* Up to three of the plans, no option twice. */
static void draw_plans(Gen *g, const tw_pair *plans, uint32_t of) {
    Program *p = g->p;
    int count = (int)draw(g, 4);
    for (int i = 0; i < count; i++) {
        tw_pair plan = plans[draw(g, of)];
        bool there = false;
        for (int s = 0; s < p->set_count; s++) there |= strcmp(p->sets[s].name, plan.name) == 0;
        if (!there) p->sets[p->set_count++] = plan;
    }
}

static void order_plan(Gen *g) {
    static const tw_pair plans[] = {
        {"roles", "on"}, {"roles", "off"}, {"cluster", "2"}, {"persist", "on"}, {"persist", "off"}, {"num_warps", "8"}, {"num_stages", "1"},
        {"num_stages", "2"}, {"num_stages", "4"}, {"slots", "2"}, {"rotate", "off"}, {"variant", "1"}, {"variant", "4"}, {"workers", "2"}, {"num_warps", "1"},
        {"num_warps", "2"}, {"num_warps", "16"}, {"num_stages", "5"},
    };
    draw_plans(g, plans, sizeof plans / sizeof *plans);
}

/* The whole kernel; random_triton.c writes head and parameters. */
static void order_kernel(Gen *g) {
    static const int types[] = {F16, F16, F32, BF16, I8, F8E5, F64, U32, U8, I64};
    g->statements_left = 14;
    g->p->grid[0] = 1 + draw(g, 5), g->p->grid[1] = 1;
    g->spice = (int)draw(g, 16);
    if (draw(g, 2)) g->spice &= (int)draw(g, 16);
    order_plan(g);
    line(g, "pid = tl.program_id(0)"); /* places are known to be far apart */
    scalar_argument(g, (int64_t)draw(g, 4));     /* n0 */
    if (!scalar_argument(g, 5) || g->p->scalar_count < 2) return; /* n1: of masks */
    g->small = types[draw(g, 10)];
    order_arrays(g);
    line(g, "r = tl.arange(0, 64)");
    line(g, "c = tl.arange(0, 64)");
    if (g->spice & SPICE_SWAPS) line(g, "src = q0\n    dst = q1");
    if (draw(g, 3) == 2) line(g, "acc = tl.load(q0 + (r + pid * %d)[:, None] * 64 + c[None, :]).to(tl.float32)", ORDER_ROOM / 64);
    else line(g, "acc = tl.zeros((64, 64), tl.float32)");
    for (int i = 0; i < 6 && g->statements_left > 0; i++) {
        g->statements_left--;
        order_statement(g, NULL);
    }
    Array *out = new_array(g, 's', F32, 4096 * programs(g), PLAIN);
    line(g, "tl.store(%s + (r + pid * 64)[:, None] * 64 + c[None, :], acc)", out->name);
}
#endif
