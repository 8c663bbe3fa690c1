/* SPDX-License-Identifier: Apache-2.0 */
/* triton_rows.h: random Triton kernels (random_triton.c) whose addresses are a sum of one term an axis: rows, columns or both by numbers
 * from memory, pages of a table, quotients, remainders, clamps, products.
 *
 * Some of them come in runs of consecutive numbers. Tiles of rank 1 to 3, loads, scattered stores and atomics. A term is an index (in 32 or 64 bits, some of them negative: bases stand in the
 * middle of their arrays) times a stride (a number, an argument, 1); terms are added as integers first, or to the pointer one by one,
 * in any order. Masks are conditions of one axis (bounds, data, the index itself), of none and of two, joined; where a mask is false an
 * index may be far outside. Pointers move in loops, or numbers are read anew in every trip.
 *
 *     i1 = tl.load(e0 + pid * 8 + tl.arange(0, 16)) & 31
 *     i2 = tl.arange(0, 32)
 *     p3 = x0 + i1[:, None] * n0 + i2[None, :]
 *     for k4 in range(0, 3):
 *         acc += tl.load(p3, mask=(i1 != 7)[:, None] & (i2 < n1)[None, :], other=1.0)
 *         p3 += 32
 *
 * All numbers are small and whole: every order of a sum gives the same bits. */
#ifndef TESTS_TRITON_ROWS_H
#define TESTS_TRITON_ROWS_H
#include "triton_arguments.h"

enum { ROWS_MIDDLE = 40000, ROWS_ROOM = 80000, ROWS_REACH = 64, ROWS_STRIDE = 96 };

typedef struct RowsTile {
    int rank;
    int64_t ext[3];
    int index[3]; /* i{index}: the vector of each axis, and w{index}: 0, 1, .. */
} RowsTile;

/* An index along axis d of |size| < ROWS_REACH, by its number; `trip`: a loop's variable, or NULL. */
static int rows_index(Gen *g, int64_t n, const char *trip) {
    int id = g->next++;
    uint32_t form = draw(g, 22);
    char read[80], places[60], whole[60];
    snprintf(places, sizeof places, "%s%s + w%d", draw(g, 2) ? "pid * 8" : "5", trip ? " + k" : "", id);
    snprintf(read, sizeof read, "tl.load(%s + %s)", draw(g, 3) == 2 ? "f0" : "e0", places);
    snprintf(whole, sizeof whole, "(pid * 16%s + w%d)", trip ? " + k * 8" : "", id);
    line(g, "w%d = tl.arange(0, %lld)", id, (long long)n);
    if (trip) line(g, "k = %s", trip);
    switch (form) {
    case 0:
    case 1: line(g, "i%d = w%d", id, id); break;
    case 2:
    case 3: line(g, "i%d = %s & 31", id, read); break;
    case 4: line(g, "i%d = (%s & 31) - 16", id, read); break;
    case 5: line(g, "i%d = (%s & 7) * 4 + (%s) %% 4", id, read, places); break;
    case 6: line(g, "i%d = (tl.load(e0 + (%s) // 4) & 7) * 4 + (%s) %% 4", id, places, places); break;
    case 7: line(g, "i%d = (%s) // %d %% 40", id, places, 1 + (int)draw(g, 5)); break;
    case 8: line(g, "i%d = (%s) %% %s", id, places, argument(g, 1 + (int64_t)draw(g, 40)).text); break;
    case 9: line(g, "i%d = tl.minimum(%s, %s)", id, places, argument(g, (int64_t)draw(g, 50)).text); break;
    case 10: line(g, "i%d = tl.where(w%d < %s, w%d, %d)", id, id, argument(g, (int64_t)draw(g, 20)).text, id, (int)draw(g, 9)); break;
    case 11: line(g, "i%d = (w%d * w%d) & 31", id, id, id); break;
    case 12: line(g, "i%d = (w%d ^ 5).to(tl.int64)", id, id); break;
    case 13: line(g, "i%d = tl.maximum(%s & 63, w%d) - 32", id, read, id); break;
    case 14: line(g, "i%d = 31 - (%s & 31).to(tl.int64)", id, read); break;
    /* runs, whole and broken ones */
    case 15: line(g, "i%d = w%d // 8 %% 4 * %s + w%d %% 8", id, id, argument(g, draw(g, 3) ? 16 : 13).text, id); break;
    case 16: line(g, "i%d = %s %% %s", id, whole, argument(g, draw(g, 3) ? 8 << draw(g, 3) : 1 + (int64_t)draw(g, 40)).text); break;
    case 17: line(g, "i%d = (tl.load(e0 + %s // 8) & 3) * 16 + %s %% 8", id, whole, whole); break;
    case 18: line(g, "i%d = (%s - 24) // 8 + w%d %% 4", id, whole, id); break;
    case 19: line(g, "i%d = (%s - %s) %% 16", id, whole, argument(g, 8 * (int64_t)draw(g, 5)).text); break;
    case 20:
        line(g, "i%d = tl.max_contiguous(tl.multiple_of((pid * 64 + w%d) %% %s, %lld), %lld)", id, id, argument(g, 64).text, (long long)n,
             (long long)n);
        break;
    default: line(g, "i%d = w%d + %s", id, id, argument(g, (int64_t)draw(g, 20)).text); break;
    }
    return id;
}

/* A mask over the tile: a conjunction; "" is none. `safe`: the condition that holds for a mask's axis 0 in any case, or "". */
static void rows_mask(Gen *g, const RowsTile *t, const char *safe, char *text, size_t size) {
    size_t n = 0;
    int count = (int)draw(g, 4);
    text[0] = 0;
    if (*safe) n += (size_t)snprintf(text, size, "(%s)", safe);
    for (int i = 0; i < count; i++) {
        int d = (int)draw(g, (uint32_t)t->rank), id = t->index[d];
        const char *axis = axis_text(t->rank, d), *join = n ? " & " : "";
        char one[160];
        switch (draw(g, 10)) {
        case 0:
        case 1: snprintf(one, sizeof one, "(w%d < %s)%s", id, argument(g, (int64_t)draw(g, 40)).text, axis); break;
        case 2: snprintf(one, sizeof one, "(w%d >= %d)%s", id, (int)draw(g, 5), axis); break;
        case 3: snprintf(one, sizeof one, "(i%d != %d)%s", id, (int)draw(g, 20), axis); break;
        case 4: snprintf(one, sizeof one, "(i%d < %s)%s", id, argument(g, (int64_t)draw(g, 40)).text, axis); break;
        case 5: snprintf(one, sizeof one, "(tl.load(e0 + w%d) %% 3 != 1)%s", id, axis); break;
        case 6: snprintf(one, sizeof one, "(flag > %d)", (int)draw(g, 8)); break;
        case 7: snprintf(one, sizeof one, "((i%d >= 0) | (w%d == 3))%s", id, id, axis); break;
        case 8: snprintf(one, sizeof one, "((pid * 8 + w%d) < %s)%s", id, argument(g, (int64_t)draw(g, 40)).text, axis); break;
        default:
            if (t->rank == 1) continue;
            snprintf(one, sizeof one, "(w%d%s <= w%d%s)", t->index[0], axis_text(t->rank, 0), t->index[1], axis_text(t->rank, 1));
            break;
        }
        n += (size_t)snprintf(text + n, size - n, "%s%s", join, one);
    }
}

/* The pointers of the tile, by the number of p{..}; in `safe` what the mask has to say for them to be inside. */
static int rows_pointer(Gen *g, RowsTile *t, const char *base, const char *trip, char *safe, size_t size) {
    int id = g->next++;
    char terms[3][120], shift[80] = "";
    safe[0] = 0;
    int unit = draw(g, 4) ? t->rank - 1 : (int)draw(g, (uint32_t)t->rank);
    for (int d = 0; d < t->rank; d++) {
        static const int strides[] = {96, 64, 17, 40, 1, 2};
        int64_t stride = d == unit ? 1 : strides[draw(g, 6)];
        char by[40] = "";
        const char *wide = draw(g, 6) == 5 ? ".to(tl.int64)" : "";
        t->index[d] = rows_index(g, t->ext[d], trip);
        if (draw(g, 3) == 2) snprintf(by, sizeof by, " * %lld", (long long)stride);
        else if (stride != 1 || draw(g, 4) == 3) snprintf(by, sizeof by, " * %s", argument(g, stride).text);
        if (d == 0 && draw(g, 5) == 4) { /* far outside where the mask is false */
            line(g, "ok%d = tl.load(e0 + 7 + w%d) %% 4 != 2", id, t->index[d]);
            line(g, "i%d = tl.where(ok%d, i%d, %s)", t->index[d], id, t->index[d], draw(g, 2) ? "1000000" : "-7654321");
            snprintf(safe, size, "ok%d%s", id, axis_text(t->rank, 0));
        }
        if (draw(g, 2)) snprintf(terms[d], sizeof terms[d], "i%d%s%s%s", t->index[d], axis_text(t->rank, d), wide, by);
        else snprintf(terms[d], sizeof terms[d], "(i%d%s%s)%s", t->index[d], wide, by, axis_text(t->rank, d));
    }
    shift[0] = 0;
    if (draw(g, 2)) snprintf(shift, sizeof shift, draw(g, 2) ? "pid * %s" : "flag * %s", argument(g, 1 + (int64_t)draw(g, 20)).text);
    bool joined = draw(g, 2);
    line(g, "p%d = %s", id, base);
    if (*shift) line(g, "p%d += %s", id, shift);
    if (joined && t->rank == 3) line(g, "p%d += %s + %s + %s", id, terms[0], terms[1], terms[2]);
    else if (joined && t->rank == 2) line(g, "p%d += %s + %s", id, terms[1], terms[0]);
    else
        for (int d = 0; d < t->rank; d++) line(g, "p%d += %s", id, terms[d]);
    return id;
}

static void rows_shape(Gen *g, RowsTile *t) {
    static const int ranks[] = {2, 2, 2, 3, 1}, extents[] = {16, 32, 8, 64, 4, 2, 1};
    t->rank = ranks[draw(g, 5)];
    for (int d = 0; d < t->rank; d++) t->ext[d] = extents[draw(g, t->rank == 3 ? 3 : 7)];
    if (t->rank == 3) t->ext[0] = 4;
}

static void rows_load(Gen *g, const RowsTile *shape) {
    static const int moves[] = {1, 32, 96, 7};
    RowsTile t = *shape;
    char mask[700], safe[60], trips[24] = "";
    int trip = (int)draw(g, 3), id = g->next++;
    bool carried = draw(g, 2), fresh = trip == 2;
    if (trip) snprintf(trips, sizeof trips, "%s", argument(g, (int64_t)draw(g, 4)).text);
    int p = fresh ? 0 : rows_pointer(g, &t, "x0", NULL, safe, sizeof safe);
    if (trip) line(g, "for k%d in range(0, %s):", id, trips);
    if (trip) g->indent++;
    char variable[24];
    snprintf(variable, sizeof variable, "k%d", id);
    if (fresh) p = rows_pointer(g, &t, "x0", variable, safe, sizeof safe);
    rows_mask(g, &t, safe, mask, sizeof mask);
    const char *other = *mask ? draw(g, 3) ? ", other=1" : ", other=0" : "";
    char at[60];
    snprintf(at, sizeof at, trip == 1 && !carried ? "p%d + %s * %d" : "p%d", p, variable, moves[draw(g, 4)]);
    line(g, "acc += tl.load(%s%s%s%s).to(acc.dtype)", at, *mask ? ", mask=" : "", mask, other);
    if (trip == 1 && carried) line(g, "p%d += %s", p, draw(g, 2) ? argument(g, moves[draw(g, 4)]).text : "32");
    if (trip) g->indent--;
}

static void rows_kernel(Gen *g) {
    static const int data[] = {F16, F32, I32, BF16, I8, F64, U8, I64, F8E5, U32}, sums[] = {F32, I32, F64, I64, U32}, outs[] = {F16, F32, BF16, F64, I32, I8};
    static const tw_pair plans[] = {{"num_warps", "8"}, {"num_warps", "1"},  {"num_warps", "2"}, {"num_warps", "16"}, {"roles", "off"},
                                    {"variant", "1"},   {"variant", "3"},   {"persist", "off"}, {"num_stages", "1"}, {"num_stages", "5"}};
    RowsTile t;
    g->p->grid[0] = 1 + draw(g, 3), g->p->grid[1] = 1;
    draw_plans(g, plans, sizeof plans / sizeof *plans);
    rows_shape(g, &t);
    int64_t size = 1;
    char text[60];
    Var shape = {.rank = t.rank};
    for (int d = 0; d < t.rank; d++) size *= t.ext[d], shape.ext[d] = t.ext[d];
    shape_text(&shape, text, sizeof text);
    line(g, "x0 = %s + %d", new_array(g, 'x', data[draw(g, 10)], ROWS_ROOM, WHOLE)->name, ROWS_MIDDLE);
    line(g, "e0 = %s", new_array(g, 'e', I32, 256, PLAIN)->name);
    line(g, "f0 = %s", new_array(g, 'e', I64, 256, PLAIN)->name);
    line(g, "flag = tl.load(e0 + 200 + pid) & 7");
    line(g, "acc = tl.zeros(%s, tl.float32)", text);
    for (int loads = 1 + (int)draw(g, 3); loads > 0; loads--) rows_load(g, &t);
    /* Rows in another order, none twice; or as they come, added up. */
    char mask[700], safe[60];
    if (draw(g, 2)) {
        Array *sum = new_array(g, 'a', sums[draw(g, 5)], ROWS_ROOM, WHOLE);
        line(g, "y0 = %s + %d", sum->name, ROWS_MIDDLE);
        int p = rows_pointer(g, &t, "y0", NULL, safe, sizeof safe);
        rows_mask(g, &t, safe, mask, sizeof mask);
        line(g, "tl.atomic_add(p%d, acc.to(y0.dtype.element_ty)%s%s)", p, *mask ? ", mask=" : "", mask);
    }
    Array *out = new_array(g, 's', outs[draw(g, 6)], 2 * size * programs(g), PLAIN);
    int64_t step = size;
    char at[300] = "";
    size_t n = 0;
    for (int d = 0; d < t.rank; d++) {
        step /= t.ext[d];
        t.index[d] = g->next++;
        line(g, "w%d = tl.arange(0, %lld)", t.index[d], (long long)t.ext[d]);
        uint32_t form = draw(g, 3);
        if (form == 1) line(g, "i%d = %lld - w%d", t.index[d], (long long)t.ext[d] - 1, t.index[d]);
        else if (form == 2) line(g, "i%d = w%d ^ %lld", t.index[d], t.index[d], (long long)(t.ext[d] - 1) / 2);
        else line(g, "i%d = w%d", t.index[d], t.index[d]);
        n += (size_t)snprintf(at + n, sizeof at - n, " + i%d%s * %lld", t.index[d], axis_text(t.rank, d), (long long)step);
    }
    rows_mask(g, &t, "", mask, sizeof mask);
    line(g, "tl.store(%s + pid * %lld%s, acc.to(%s.dtype.element_ty)%s%s)", out->name, (long long)size, at, out->name, *mask ? ", mask=" : "", mask);
}
#endif
