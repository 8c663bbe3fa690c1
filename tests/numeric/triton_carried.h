/* SPDX-License-Identifier: Apache-2.0 */
/* triton_carried.h: random Triton kernels (random_triton.c) whose loops carry tiles, what was reduced from them, and comparisons of both.
 *
 * A program has a state: x[M, N] and its turned twin y[N, M], a number for each row (u) and column (v), truths b[M, N], places of columns
 * j[M] and one number s. Every step makes one of them from others (a reduction, a comparison with one, a select, a turn, a scan, a sort, a
 * product), so that whichever layout a step would like, another one has asked for it before, in the loop or around it. Steps stand in
 * loops of 0 to 3 trips inside of each other and in branches; some results are stored in mid-loop. All numbers are whole and below 8 at
 * the end of a step, so that every bit is compared. */
#ifndef TESTS_TRITON_CARRIED_H
#define TESTS_TRITON_CARRIED_H
#include "triton_corners.h"

typedef struct State {
    int rows, columns, type;
    int stores; /* left */
} State;

static const char *carried_tame(const State *t, const char *text, char *room, size_t size) {
    snprintf(room, size, "((%s).to(tl.int32) & 7).to(tl.%s)", text, dtypes[t->type].name);
    return room;
}

static const char *carried_reduce(Gen *g) {
    static const char *const names[] = {"max", "min", "sum", "xor_sum"};
    return names[draw(g, 4)];
}

/* x or y, changed where a comparison with what was reduced holds. */
static void carried_select(Gen *g, const State *t) {
    static const char *const compares[] = {"==", "<", ">=", "!="};
    static const char *const rows[] = {"u[:, None]", "tl.reshape(u, [%d, 1])", "tl.expand_dims(u, 1)", "tl.broadcast_to(u[:, None], [%d, %d])"};
    static const char *const columns[] = {"v[None, :]", "tl.reshape(v, [1, %d])", "tl.expand_dims(v, 0)", "tl.max(x, 0, keep_dims=True)"};
    char with[80], text[200], value[260];
    bool of_rows = draw(g, 2) == 0, turned = draw(g, 3) == 2;
    const char *tile = turned ? "y" : "x", *compare = compares[draw(g, 4)];
    if (turned) snprintf(with, sizeof with, of_rows ? "u[None, :]" : "v[:, None]");
    else if (of_rows) snprintf(with, sizeof with, rows[draw(g, 4)], t->rows, t->columns); /* NOLINT */
    else snprintf(with, sizeof with, columns[draw(g, 4)], t->columns); /* NOLINT */
    switch (draw(g, 4)) {
    case 0: snprintf(text, sizeof text, "tl.where(%s %s %s, %d, %s)", tile, compare, with, (int)draw(g, 4), tile); break;
    case 1: snprintf(text, sizeof text, "tl.where(%s %s %s, %s + 1, %s)", tile, compare, with, tile, tile); break;
    case 2: snprintf(text, sizeof text, "%s + (%s %s %s)", tile, tile, compare, with); break;
    default: snprintf(text, sizeof text, "%s + %s", tile, with); break;
    }
    line(g, "%s = %s", tile, carried_tame(t, text, value, sizeof value));
}

static void carried_vector(Gen *g, const State *t) {
    char text[120], value[200];
    const char *how = carried_reduce(g);
    bool whole = is_int(t->type) || strcmp(how, "xor_sum") != 0;
    if (!whole) how = "max";
    switch (draw(g, 6)) {
    case 0: snprintf(text, sizeof text, "tl.%s(x, axis=1)", how); break;
    case 1: snprintf(text, sizeof text, "tl.%s(y, axis=0)", how); break;
    case 2: snprintf(text, sizeof text, "tl.sum(tl.where(b, x, 1).to(tl.int32), axis=1)"); break;
    case 3: snprintf(text, sizeof text, "u + s"); break;
    case 4: snprintf(text, sizeof text, "tl.where(u > s, tl.%s(x, axis=1), u)", how); break;
    default: snprintf(text, sizeof text, "tl.max(tl.where(x == u[:, None], c[None, :], -1), axis=1)"); break;
    }
    bool rows = draw(g, 2) == 0;
    if (rows) line(g, "u = %s", carried_tame(t, text, value, sizeof value));
    else line(g, "v = %s", carried_tame(t, draw(g, 2) ? "tl.max(x, axis=0)" : "tl.sum(y.to(tl.int32), axis=1)", value, sizeof value));
}

static void carried_place(Gen *g, const State *t) {
    (void)t;
    switch (draw(g, 4)) {
    case 0: line(g, "j = tl.argmax(x, axis=1)"); break;
    case 1: line(g, "j = tl.argmin(tl.where(b, x, 3), axis=1)"); break;
    case 2: line(g, "j = tl.max(tl.where(x == u[:, None], c[None, :], -1), axis=1)"); break;
    default: line(g, "j = (j + u.to(tl.int32)) & 15"); break;
    }
}

static void carried_truth(Gen *g, const State *t) {
    (void)t;
    switch (draw(g, 4)) {
    case 0: line(g, "b = b & (x < u[:, None])"); break;
    case 1: line(g, "b = (x == u[:, None]) | (c[None, :] == j[:, None])"); break;
    case 2: line(g, "b = tl.trans(y >= v[:, None])"); break;
    default: line(g, "b = b ^ (x == s)"); break;
    }
}

/* All of x and y at once. */
static void carried_whole(Gen *g, const State *t) {
    int n = t->rows * t->columns;
    bool square = t->rows >= 16 && t->columns >= 16 && (t->type == F16 || t->type == BF16);
    char text[200], value[260];
    switch (draw(g, 9)) {
    case 0: line(g, "y = tl.trans(x)"); return;
    case 1: line(g, "x = tl.trans(y)"); return;
    case 2: line(g, "x, y = tl.trans(y), tl.trans(x)"); return;
    case 3: snprintf(text, sizeof text, "tl.where(b, x, %d)", (int)draw(g, 8)); break;
    case 4: snprintf(text, sizeof text, "tl.cumsum(x.to(tl.int32), axis=%d)", (int)draw(g, 2)); break;
    case 5: line(g, "x = tl.reshape(tl.reshape(x, [%d]) , [%d, %d])", n, t->rows, t->columns); return;
    case 6: snprintf(text, sizeof text, "tl.reshape(tl.trans(tl.reshape(x, [%d, %d])), [%d, %d])", t->columns, t->rows, t->rows, t->columns); break;
    case 7:
        if (square) snprintf(text, sizeof text, "tl.dot(tl.dot(x, y).to(tl.%s), x)", dtypes[t->type].name);
        else snprintf(text, sizeof text, "x + tl.sum(u.to(tl.int32))");
        break;
    default: snprintf(text, sizeof text, "tl.flip(x, dim=%d)", (int)draw(g, 2)); break;
    }
    line(g, "x = %s", carried_tame(t, text, value, sizeof value));
}

static void carried_steps(Gen *g, State *t, int most);

static void carried_nested(Gen *g, State *t) {
    int id = g->next++;
    if (g->depth >= 3) {
        line(g, "s = s ^ 2");
        return;
    }
    g->depth++;
    uint32_t form = draw(g, 5);
    const Number n = argument(g, (int64_t)draw(g, 4));
    if (form == 4) line(g, "if s > %d:", (int)draw(g, 6));
    else if (form == 3) line(g, "w%d = %s", id, n.text), line(g, "while w%d > 0:", id);
    else if (form == 2) line(g, "for k%d in tl.range(%s, num_stages=%d):", id, n.text, 1 + (int)draw(g, 4));
    else if (form == 1) line(g, "for k%d in tl.static_range(%d):", id, 1 + (int)draw(g, 2));
    else line(g, "for k%d in range(%s):", id, n.text);
    g->indent++;
    if (form == 3) line(g, "w%d -= 1", id);
    carried_steps(g, t, 6);
    if (form < 3 && draw(g, 3) == 2) line(g, "s = (s + k%d) & 7", id);
    g->indent--;
    if (form == 4 && draw(g, 2)) {
        line(g, "else:");
        g->indent++;
        carried_steps(g, t, 3);
        g->indent--;
    }
    g->depth--;
}

static void carried_number(Gen *g, const State *t) {
    (void)t;
    switch (draw(g, 3)) {
    case 0: line(g, "s = tl.sum(tl.sum(x.to(tl.int32), axis=%d), axis=0) & 7", (int)draw(g, 2)); break;
    case 1: line(g, "s = (s + tl.max(u, axis=0).to(tl.int32)) & 7"); break;
    default: line(g, "s = (tl.sum(b.to(tl.int32)) + s) & 7"); break;
    }
}

static void carried_store(Gen *g, State *t) {
    if (t->stores-- <= 0) {
        line(g, "s = s ^ 1");
        return;
    }
    bool rows = draw(g, 2);
    Var v = {.type = rows ? I32 : t->type, .rank = rows ? 1 : 2, .ext = {t->rows, t->columns}};
    corner_keep(g, &v, v.type, rows ? "r" : draw(g, 2) ? "r[:, None] * N_ + c[None, :]" : "tl.trans(c[:, None] + r[None, :] * N_)", rows ? "j" : "x");
}

static void carried_steps(Gen *g, State *t, int most) {
    static void (*const vectors[])(Gen *g, const State *t) = {carried_select, carried_vector, carried_select, carried_truth, carried_place, carried_whole, carried_number};
    for (int i = 1 + (int)draw(g, (uint32_t)most); i > 0; i--) {
        uint32_t at = draw(g, 10);
        if (at < 7) vectors[at](g, t);
        else if (at == 7) carried_store(g, t);
        else carried_nested(g, t);
    }
}

static void carried_kernel(Gen *g) {
    static const tw_pair plans[] = {{"num_warps", "1"}, {"num_warps", "2"}, {"num_warps", "8"}, {"num_warps", "16"}, {"num_stages", "1"}, {"num_stages", "3"}, {"roles", "on"}, {"roles", "off"}};
    static const int extents[] = {32, 16, 64, 8, 128, 1, 4, 2}, types[] = {F32, I32, F16, BF16, I8, I16, F64, U8};
    State t = {.rows = extents[draw(g, 8)], .columns = extents[draw(g, 8)], .type = types[draw(g, 8)], .stores = 3};
    g->p->grid[0] = 1 + draw(g, 2), g->p->grid[1] = 1;
    draw_plans(g, plans, sizeof plans / sizeof *plans);
    Array *from = new_array(g, 'x', t.type, t.rows * t.columns + 16, WHOLE);
    from->whole = 7;
    line(g, "pid = tl.program_id(0)");
    line(g, "N_ = %d", t.columns);
    line(g, "r = tl.arange(0, %d)", t.rows);
    line(g, "c = tl.arange(0, %d)", t.columns);
    line(g, "x = tl.load(%s + r[:, None] * N_ + c[None, :])", from->name);
    line(g, draw(g, 2) ? "y = tl.load(%s + r[None, :] * N_ + c[:, None])" : "y = tl.trans(x)", from->name);
    line(g, "u = tl.%s(x, axis=1).to(tl.%s)", draw(g, 2) ? "max" : "min", dtypes[t.type].name);
    line(g, "v = tl.load(%s + c)", from->name);
    line(g, "b = x == u[:, None]");
    line(g, draw(g, 2) ? "j = tl.argmax(x, axis=1)" : "j = r");
    line(g, "s = pid");
    carried_steps(g, &t, 8);
    carried_nested(g, &t);
    Var tile = {.type = t.type, .rank = 2, .ext = {t.rows, t.columns}}, turned = {.type = t.type, .rank = 2, .ext = {t.columns, t.rows}};
    Var row = {.rank = 1, .ext = {t.rows}}, column = {.rank = 1, .ext = {t.columns}}, number = {.rank = 0};
    corner_keep(g, &tile, t.type, "r[:, None] * N_ + c[None, :]", "x");
    corner_keep(g, &turned, t.type, "c[:, None] + r[None, :] * N_", "y");
    corner_keep(g, &row, t.type, "r", "u");
    corner_keep(g, &column, t.type, "c", "v");
    corner_keep(g, &row, I32, "r", "j");
    corner_keep(g, &tile, I8, "r[:, None] * N_ + c[None, :]", "b.to(tl.int8)");
    corner_keep(g, &number, I32, "0", "s");
}
#endif
