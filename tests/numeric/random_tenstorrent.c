/* SPDX-License-Identifier: Apache-2.0 */
/* random_tenstorrent.c: random Triton kernels in the shapes that the Tenstorrent target is for (differential.h).
 *
 * Boxes of matrices, masks of indices and of data, sums and maxima along an axis, products with every transpose, loops in
 * a row and in each other whose sums begin with zeros or with loaded tiles, bounds that are negative, 0 or not known,
 * stores that are overwritten or read back, arrays that are passed twice, numbers of memory as masks, factors, rows and places,
 * integers that are stored, places of maxima, atomic updates of cells that many tasks meet at. The target may refuse any of them, with a
 * message, and the end counts those; a fault or deadlock of the model, an internal error and a wrong number are failures.
 *
 * All values are whole numbers that every format on the way holds exactly (sizes are clipped where they would grow), so
 * the results are compared in every bit. Each program of the grid writes rows of its own. */
#include "differential.h"

/* bf16 holds whole numbers up to BF16_WHOLE; between larger ones the packer rounds ties away from zero, others to even. */
enum { MOST_VARS = 60, LIMIT = 1000, CLIP = 7, BF16_WHOLE = 256 };

typedef struct Var {
    char name[12];
    int rows, columns; /* 1: 'M', 2: 'N', 3: one; columns 0: a vector */
    double bound;
} Var;

typedef struct Gen {
    Choices *c;
    Program *p;
    char body[TEXT / 2];
    size_t length;
    int indent, depth, next, left;
    Var vars[MOST_VARS];
    int count;
    int size[4];            /* elements of the sides 1..3 */
    char at[4][2][40];      /* offsets that may be used here, by side: text; "" none */
    int loops;         /* around here */
    int mask_kind[4];  /* of the arrays that are written: one for most of their accesses */
    int update[2];     /* of h0, c0: add, max or min, always the same one */
} Gen;

static const char *const side_index[] = {"", "am", "an", "a1"};
static const char *const side_size[] = {"", "M", "N", "1"};
/* x0, x1: read anywhere; y0, y1: rows of the program only, and written; k0: integers that are read; z0: integers that are
 * written, in the program's own rows; h0, c0: updated by all, f32 and integers. */
static const char *const arrays[] = {"x0", "x1", "y0", "y1"};

static uint32_t draw(Gen *g, uint32_t n) { return pick(g->c, n); }

static void line(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Gen *g, const char *format, ...) {
    va_list args;
    char text[600];
    size_t length = 0;
    va_start(args, format);
    append(text, sizeof text, &length, format, args);
    va_end(args);
    int n = snprintf(g->body + g->length, sizeof g->body - g->length, "%*s%s\n", 4 * g->indent, "", text);
    g->length += (size_t)n < sizeof g->body - g->length ? (size_t)n : 0;
}

static Var *new_var(Gen *g, int rows, int columns, double bound) {
    if (g->count == MOST_VARS) g->count--;
    Var *v = &g->vars[g->count++];
    *v = (Var){.rows = rows, .columns = columns, .bound = bound};
    snprintf(v->name, sizeof v->name, "v%d", g->next++);
    return v;
}

/* A variable of the shape; -1: any, columns -2: any tile. NULL: there is none. */
static const Var *some(Gen *g, int rows, int columns) {
    int fits[MOST_VARS], count = 0;
    for (int i = g->count - 1; i >= 0; i--) {
        const Var *v = &g->vars[i];
        if ((rows < 0 || v->rows == rows) && (columns == -1 || v->columns == columns || (columns == -2 && v->columns))) fits[count++] = i;
    }
    return count ? &g->vars[fits[draw(g, (uint32_t)count)]] : NULL;
}

/* Keeps numbers small enough to be exact. */
static void clip(Gen *g, Var *v) {
    if (v->bound <= LIMIT) return;
    line(g, "%s = tl.minimum(tl.maximum(%s, -%d.0), %d.0)", v->name, v->name, CLIP, CLIP);
    v->bound = CLIP;
}

/* --- places --- */

static const char *offset(Gen *g, int side) {
    static const char *const fixed[][3] = {{"0", "M", "2 * M"}, {"0", "N", "2 * N"}, {"0", "1", "5"}};
    uint32_t n = draw(g, 5);
    if (n >= 3 && g->at[side][n - 3][0]) return g->at[side][n - 3];
    return fixed[side - 1][n % 3];
}

/* Text of an address and its mask ("" for none) of a tile at random, or at the program's own rows. */
static void place(Gen *g, int array, int rows, int columns, bool own, char *address, char *mask, size_t size) {
    char row[80], column[80];
    snprintf(row, sizeof row, "(%s + %s)", own ? "p * M" : offset(g, rows), side_index[rows]);
    snprintf(column, sizeof column, "(%s + %s)", offset(g, columns), side_index[columns]);
    bool swapped = !own && draw(g, 6) == 5; /* the tensor's columns as rows */
    if (!own && !swapped && draw(g, 6) == 5) { /* rows that are chosen one by one */
        static const char *const picked[] = {"((%s + %s) * 5 %% R)", "tl.minimum((%s + %s) * 3, R - 2)", "tl.maximum(R - 1 - (%s + %s) // 2, 0)"};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(row, sizeof row, picked[draw(g, 3)], offset(g, rows), side_index[rows]);
#pragma GCC diagnostic pop
    }
    snprintf(address, size, "%s + %s[:, None]%s + %s[None, :]%s", arrays[array], row, swapped ? "" : " * C", column, swapped ? " * C" : "");
    static const char *const bounds[] = {"C", "n1", "C - 3"};
    int kind = own && draw(g, 8) != 7 ? g->mask_kind[array] : (int)draw(g, 12);
    const char *bound = bounds[kind >= 9 ? kind % 3 : 0];
    switch (kind % 4) {
    case 0: snprintf(mask, size, "(%s[:, None] < R) & (%s[None, :] < %s)", row, column, bound); break;
    case 1: snprintf(mask, size, "%s[None, :] < %s", column, bound); break;
    case 2: snprintf(mask, size, "(%s[:, None] < R) & (%s[None, :] >= 0) & (%s[None, :] < %s)", row, column, column, bound); break;
    default:
        if (own) snprintf(mask, size, "%s[None, :] < %s", column, bound); /* else into another program's row */
        else *mask = 0;
    }
}

static int some_side(Gen *g) { return draw(g, 12) == 11 ? 3 : 1 + (int)draw(g, 2); }

static void load(Gen *g) {
    char address[300], mask[300];
    int array = (int)draw(g, 4), rows = some_side(g), columns = some_side(g);
    if (array >= 2) rows = 1;
    place(g, array, rows, columns, array >= 2, address, mask, sizeof mask);
    Var *v = new_var(g, rows, columns, array >= 2 ? LIMIT : 3);
    if (*mask) line(g, "%s = tl.load(%s, mask=%s, other=%s).to(tl.float32)", v->name, address, mask, draw(g, 6) == 5 ? "2.0" : "0.0");
    else line(g, "%s = tl.load(%s).to(tl.float32)", v->name, address);
    clip(g, v);
    if (array >= 2) v->bound = CLIP, line(g, "%s = tl.minimum(tl.maximum(%s, -%d.0), %d.0)", v->name, v->name, CLIP, CLIP);
}

static void store(Gen *g) {
    char address[300], mask[300];
    const Var *v = some(g, 1, -2);
    int array = 2 + (int)draw(g, 2);
    if (!v) return;
    place(g, array, 1, v->columns, true, address, mask, sizeof mask);
    if (g->p->arrays[array].dtype == TW_BF16 && v->bound > BF16_WHOLE)
        line(g, "tl.store(%s, tl.minimum(tl.maximum(%s, -%d.0), %d.0), mask=%s)", address, v->name, BF16_WHOLE, BF16_WHOLE, mask);
    else line(g, "tl.store(%s, %s, mask=%s)", address, v->name, mask);
}

/* --- values --- */

static void binary(Gen *g) {
    static const char *const forms[] = {"%s + %s", "%s - %s", "%s * %s", "tl.maximum(%s, %s)", "tl.minimum(%s, %s)"};
    const Var *a = some(g, -1, -1), *b = a ? some(g, a->rows, a->columns) : NULL;
    if (!a) return;
    char first[12], second[40], text[100];
    int op = (int)draw(g, 5);
    double x = a->bound, y = b->bound;
    snprintf(first, sizeof first, "%s", a->name);
    snprintf(second, sizeof second, "%s", b->name);
    if (draw(g, 5) == 4) snprintf(second, sizeof second, "%d.0", (int)draw(g, 4)), y = 3;
    if (draw(g, 12) == 11) snprintf(second, sizeof second, "n0.to(tl.float32)"), y = 4;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, sizeof text, forms[op], first, second);
#pragma GCC diagnostic pop
    Var *v = new_var(g, a->rows, a->columns, op < 2 ? x + y : op == 2 ? x * y : x > y ? x : y);
    line(g, "%s = %s", v->name, text);
    clip(g, v);
}

static void index_mask(Gen *g, int rows, int columns, char *text, size_t size) {
    static const char *const bounds[] = {"C", "n0", "n1", "5", "R"};
    const char *bound = bounds[draw(g, 5)], *row = side_index[rows], *column = side_index[columns];
    switch (draw(g, 4)) {
    case 0: snprintf(text, size, "(%s + %s)[None, :] < %s", offset(g, columns), column, bound); break;
    case 1: snprintf(text, size, "(%s + %s)[:, None] < %s", offset(g, rows), row, bound); break;
    case 2: snprintf(text, size, "%s[:, None] >= %s[None, :]", row, column); break;
    default: snprintf(text, size, "((%s + %s)[:, None] >= %s) & (%s[None, :] < %s)", offset(g, rows), row, column[1] == '1' ? "0" : "1", column, bound);
    }
}

static void where(Gen *g) {
    const Var *a = some(g, -1, -2);
    char test[300];
    if (!a) return;
    double x = a->bound;
    if (draw(g, 3) == 2) snprintf(test, sizeof test, "%s > %d.0", some(g, a->rows, a->columns)->name, (int)draw(g, 3));
    else index_mask(g, a->rows, a->columns, test, sizeof test);
    const char *other = draw(g, 2) ? "0.0" : some(g, a->rows, a->columns)->name;
    if (other[0] == 'v') x = x > LIMIT / 2 ? x : LIMIT / 2;
    char name[12];
    snprintf(name, sizeof name, "%s", a->name);
    Var *v = new_var(g, a->rows, a->columns, x);
    line(g, "%s = tl.where(%s, %s, %s)", v->name, test, name, other);
    v->bound = LIMIT + 1;
    clip(g, v);
}

static void ramp(Gen *g) {
    int rows = some_side(g), columns = some_side(g);
    Var *v = new_var(g, rows, columns, 400);
    if (draw(g, 2)) line(g, "%s = (%s[:, None] + %s[None, :]).to(tl.float32)", v->name, side_index[rows], side_index[columns]);
    else line(g, "%s = tl.zeros((%s, %s), tl.float32) + (%s + %s)[None, :].to(tl.float32)", v->name, side_size[rows], side_size[columns], offset(g, columns), side_index[columns]);
    v->bound = LIMIT + 1;
    clip(g, v);
}

/* --- integers and updates --- */

/* Numbers -3 .. 3 of k0 in the shape, as a variable of that name. */
static void load_integers(Gen *g, const char *name, int rows, int columns) {
    const char *row = offset(g, rows);
    if (!columns) line(g, "%s = tl.load(k0 + %s + %s)", name, row, side_index[rows]);
    else if (draw(g, 2)) line(g, "%s = tl.load(k0 + (%s + %s)[:, None] * 3 + %s[None, :])", name, row, side_index[rows], side_index[columns]);
    else line(g, "%s = tl.load(k0 + (%s + %s)[:, None] * C + %s[None, :], mask=%s[None, :] < C - 3, other=2)", name, row, side_index[rows], side_index[columns],
              side_index[columns]);
}

static void integers(Gen *g) {
    char k[12];
    int kind = (int)draw(g, 5), rows = kind == 4 ? 1 : some_side(g), columns = some_side(g);
    const Var *a = kind == 1 ? some(g, -1, -2) : NULL;
    if (a) rows = a->rows, columns = a->columns;
    snprintf(k, sizeof k, "k%d", g->next++);
    load_integers(g, k, rows, kind == 2 ? 0 : columns);
    Var *v = NULL;
    char name[12] = "";
    if (a) snprintf(name, sizeof name, "%s", a->name);
    switch (kind) {
    case 0:
        v = new_var(g, rows, columns, 40);
        line(g, "%s = (%s * 5 // 2 + (%s[None, :] & 7) - (%s << 1)).to(tl.float32)", v->name, k, side_index[columns], k);
        break;
    case 1: {
        if (!a) return;
        char other[12] = "0.0";
        if (draw(g, 2)) snprintf(other, sizeof other, "%s", some(g, rows, columns)->name);
        v = new_var(g, rows, columns, LIMIT + 1);
        line(g, "%s = tl.where(%s %% 3 == 1, %s, %s)", v->name, k, name, other);
        break;
    }
    case 2: /* rows that memory chooses */
        v = new_var(g, rows, columns, 3);
        line(g, "%s = tl.load(x%d + ((%s + 3) * 5 %% R)[:, None] * C + %s[None, :], mask=%s[None, :] < C, other=0.0).to(tl.float32)", v->name, (int)draw(g, 2), k,
             side_index[columns], side_index[columns]);
        break;
    case 3: /* single elements */
        v = new_var(g, rows, columns, 3);
        line(g, "%s = tl.load(x%d + (%s + 3) * 7 + %s[None, :]).to(tl.float32)", v->name, (int)draw(g, 2), k, side_index[columns]);
        break;
    default:
        line(g, "tl.store(z0 + (p * M + am)[:, None] * C + %s[None, :], %s * %s - 2, mask=%s[None, :] < C)", side_index[columns], k, draw(g, 2) ? "3" : k, side_index[columns]);
        return;
    }
    clip(g, v);
}

/* Where the largest of each row is, and how many are above 0. */
static void places(Gen *g) {
    const Var *a = some(g, 1, -2);
    if (!a || a->columns == 3) return;
    const char *side = side_size[a->columns], *index = side_index[a->columns];
    int id = g->next++;
    if (draw(g, 2)) line(g, "q%d = tl.sum((%s > 0.0).to(tl.int32), 1) * 2 - 1", id, a->name);
    else line(g, "q%d = tl.min(tl.where(%s == tl.max(%s, 1)[:, None], %s[None, :], %s), 1)", id, a->name, a->name, index, side);
    if (draw(g, 2)) {
        line(g, "tl.store(z0 + p * M + am, q%d)", id);
        return;
    }
    char name[12];
    int columns = a->columns;
    snprintf(name, sizeof name, "%s", a->name);
    Var *v = new_var(g, 1, columns, LIMIT + 1);
    line(g, "%s = tl.where(%s[None, :] == q%d[:, None], 1.0, %s)", v->name, index, id, name);
    clip(g, v);
}

static void update(Gen *g) {
    static const char *const names[] = {"add", "max", "min"};
    static const char *const order[] = {"", ", sem=\"relaxed\""};
    const char *sem = order[draw(g, 2)];
    if (draw(g, 4) == 3) { /* a count */
        char k[12];
        snprintf(k, sizeof k, "k%d", g->next++);
        load_integers(g, k, 1, 0);
        line(g, "tl.atomic_%s(c0 + %s + 3, %s%s)", names[g->update[1]], k, draw(g, 2) ? "1" : k, sem);
        return;
    }
    const Var *v = some(g, -1, -2);
    if (!v) return;
    char name[12], row[60];
    snprintf(name, sizeof name, "%s", v->name);
    int rows = v->rows, columns = v->columns;
    if (draw(g, 3) == 2) {
        char k[12];
        snprintf(k, sizeof k, "k%d", g->next++);
        load_integers(g, k, rows, 0);
        snprintf(row, sizeof row, "(%s + 3)", k);
    } else snprintf(row, sizeof row, "(%s + %s)", draw(g, 2) ? "0" : offset(g, rows), side_index[rows]);
    line(g, "tl.atomic_%s(h0 + %s[:, None] * C + %s[None, :], %s, mask=(%s[:, None] >= 0) & (%s[None, :] < %s)%s)", names[g->update[0]], row, side_index[columns], name, row,
         side_index[columns], draw(g, 2) ? "C" : "n1 + 5", sem);
}

static void reduce(Gen *g) {
    const Var *a = some(g, -1, -2);
    if (!a) return;
    int axis = (int)draw(g, 2), kept = axis ? a->rows : a->columns, gone = axis ? a->columns : a->rows;
    bool is_sum = draw(g, 3) != 2;
    char name[12];
    snprintf(name, sizeof name, "%s", a->name);
    double bound = is_sum ? a->bound * g->size[gone] : a->bound;
    Var *v = new_var(g, kept, 0, bound);
    line(g, "%s = tl.%s(%s, %d)", v->name, is_sum ? "sum" : "max", name, axis);
    clip(g, v);
}

static void spread(Gen *g) {
    const Var *a = some(g, -1, -2), *b;
    if (!a) return;
    bool down = draw(g, 2);
    b = some(g, down ? a->rows : a->columns, 0);
    if (!b) return;
    double bound = a->bound + b->bound;
    char text[80];
    snprintf(text, sizeof text, "%s %c %s%s", a->name, draw(g, 2) ? '-' : '+', b->name, down ? "[:, None]" : "[None, :]");
    Var *v = new_var(g, a->rows, a->columns, bound);
    line(g, "%s = %s", v->name, text);
    clip(g, v);
}

static void transpose(Gen *g) {
    const Var *a = some(g, -1, -2);
    if (!a) return;
    char name[12];
    snprintf(name, sizeof name, "%s", a->name);
    Var *v = new_var(g, a->columns, a->rows, a->bound);
    line(g, "%s = tl.trans(%s)", v->name, name);
}

/* Text of a product and its shape; false: nothing fits. */
static bool product(Gen *g, char *text, size_t size, int *rows, int *columns, double *bound, const char *sum) {
    bool turn_a = draw(g, 3) == 2, turn_b = draw(g, 3) == 2;
    const Var *a = some(g, *rows ? (turn_a ? -1 : *rows) : -1, *rows && turn_a ? *rows : -2);
    if (!a) return false;
    int r = turn_a ? a->columns : a->rows, k = turn_a ? a->rows : a->columns;
    const Var *b = some(g, turn_b ? (*columns ? *columns : -1) : k, turn_b ? k : *columns ? *columns : -2);
    if (!b || r == 3 || k == 3) return false;
    int n = turn_b ? b->rows : b->columns;
    if (n == 3 || a->bound > 30 || b->bound > 30) return false;
    snprintf(text, size, "tl.dot(%s%s%s.to(tl.bfloat16), %s%s%s.to(tl.bfloat16)%s%s)", turn_a ? "tl.trans(" : "", a->name, turn_a ? ")" : "",
             turn_b ? "tl.trans(" : "", b->name, turn_b ? ")" : "", *sum ? ", " : "", sum);
    *rows = r, *columns = n, *bound = a->bound * b->bound * g->size[k];
    return true;
}

static void dot(Gen *g) {
    char text[200];
    int rows = 0, columns = 0;
    double bound;
    if (!product(g, text, sizeof text, &rows, &columns, &bound, "")) return;
    Var *v = new_var(g, rows, columns, bound);
    line(g, "%s = %s", v->name, text);
    v->bound = LIMIT + 1;
    clip(g, v);
}

/* --- control --- */

static void statements(Gen *g, int most);

static void loop(Gen *g) {
    static const char *const ranges[] = {"range(2)", "range(n0)", "range(0, tl.cdiv(C, N))", "range(1, n1, 2)", "range(0, C, N)", "range(3, n0)", "range(n0, 0)",
                                        "range(2, n0, -1)", "range(0, n1, 3)"};
    static const double most[] = {2, 3, 13, 4, 13, 1, 1, 3, 3};
    if (g->loops >= 2) return;
    int kind = (int)draw(g, 9), mark = g->count, id = g->next++, count = 1 + (int)draw(g, 2);
    struct { char name[12]; int rows, columns; double begin; } sums[2];
    for (int i = 0; i < count; i++) {
        const Var *from = draw(g, 2) ? some(g, -1, -1) : NULL;
        int rows = from ? from->rows : 1 + (int)draw(g, 2), columns = from ? from->columns : (int)draw(g, 3);
        snprintf(sums[i].name, sizeof sums[i].name, "s%d_%d", id, i);
        sums[i].rows = rows, sums[i].columns = columns, sums[i].begin = from ? from->bound : 0;
        if (from) line(g, "%s = %s", sums[i].name, from->name);
        else if (columns) line(g, "%s = tl.zeros((%s, %s), tl.float32)", sums[i].name, side_size[rows], side_size[columns]);
        else line(g, "%s = tl.zeros((%s,), tl.float32)", sums[i].name, side_size[rows]);
    }
    line(g, "for i%d in %s:", id, ranges[kind]);
    g->indent++, g->loops++, g->depth++;
    char saved[4][40];
    for (int side = 1; side <= 3; side++) {
        memcpy(saved[side], g->at[side][1], 40);
        if (kind == 4 && side == 2) snprintf(g->at[side][1], 40, "i%d", id);
        else if (kind == 4 || kind == 6) g->at[side][1][0] = 0; /* no index of tiles; may be negative */
        else if (side == 3) snprintf(g->at[side][1], 40, "i%d", id);
        else snprintf(g->at[side][1], 40, "i%d * %s", id, side_size[side]);
    }
    if (draw(g, 4)) load(g);
    if (draw(g, 2)) load(g);
    statements(g, 3);
    for (int i = 0; i < count; i++) {
        char text[200];
        int rows = sums[i].rows, columns = sums[i].columns;
        double bound;
        const Var *v = some(g, rows, columns);
        double room = (LIMIT * 2 - sums[i].begin) / most[kind];
        if (columns && rows != 3 && columns != 3 && draw(g, 2) && product(g, text, sizeof text, &rows, &columns, &bound, sums[i].name) && bound <= room)
            line(g, "%s = %s", sums[i].name, text);
        else if (v && v->bound <= room) line(g, draw(g, 8) == 7 ? "%s = tl.maximum(%s, %s)" : "%s = %s + %s", sums[i].name, sums[i].name, v->name);
        else line(g, "%s += 1.0", sums[i].name);
    }
    g->indent--, g->loops--, g->depth--;
    for (int side = 1; side <= 3; side++) memcpy(g->at[side][1], saved[side], 40);
    g->count = mark;
    for (int i = 0; i < count; i++) {
        Var *v = new_var(g, sums[i].rows, sums[i].columns, LIMIT + 1);
        line(g, "%s = %s", v->name, sums[i].name);
        clip(g, v);
    }
}

static void branch(Gen *g) {
    static const char *const tests[] = {"p == 0", "n0 > 1", "n1 < 0", "C > 100"};
    if (g->depth >= 2) return;
    int mark = g->count;
    line(g, "if %s:", tests[draw(g, 4)]);
    g->indent++, g->depth++;
    statements(g, 2);
    store(g);
    line(g, "pass");
    g->indent--, g->depth--;
    g->count = mark;
}

static const struct { void (*write)(Gen *g); int weight; } table[] = {
    {integers, 3}, {places, 1}, {update, 2}, {binary, 6}, {load, 6}, {where, 5}, {reduce, 4}, {spread, 3}, {dot, 4}, {loop, 6}, {store, 3}, {transpose, 1}, {ramp, 1}, {branch, 1},
};

static void statements(Gen *g, int most) {
    int total = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) total += table[i].weight;
    for (int done = 0; done < most && g->left > 0 && draw(g, 12) != 0; done++) {
        int at = (int)draw(g, (uint32_t)total);
        size_t i = 0;
        while (at >= table[i].weight) at -= table[i++].weight;
        g->left--;
        table[i].write(g);
    }
}

static void generate(Choices *c, Program *p) {
    static const int sides[] = {32, 16, 64};
    static const int widths[] = {128, 200, 96, 77};
    static const int64_t bounds[] = {2, 0, -1, 3, 1};
    static Gen room;
    Gen *g = &room;
    memset(g, 0, sizeof *g);
    g->c = c, g->p = p, g->indent = 1, g->left = 14;
    g->size[1] = sides[draw(g, 3)], g->size[2] = sides[draw(g, 3)], g->size[3] = 1;
    int width = widths[draw(g, 4)], rows = 100 + (int)draw(g, 2) * 92;
    p->file = "random.py";
    p->grid[0] = 1 + draw(g, 3), p->grid[1] = p->grid[2] = 1;
    for (int side = 1; side <= 3; side++) snprintf(g->at[side][0], 40, side == 3 ? "p" : "p * %s", side_size[side]);
    for (int i = 0; i < 4; i++) {
        g->mask_kind[i] = (int)draw(g, 12);
        Array *a = &p->arrays[p->array_count++];
        *a = (Array){.dtype = draw(g, 2) ? TW_BF16 : TW_F32, .count = 900 * 200, .flavour = WHOLE, .whole = 3};
        snprintf(a->name, sizeof a->name, "%s", arrays[i]);
    }
    if (draw(g, 6) == 5 && p->arrays[2].dtype == p->arrays[3].dtype) p->arrays[3].of = 3;
    else if (draw(g, 4) == 3 && p->grid[0] == 1 && p->arrays[1].dtype == p->arrays[2].dtype) p->arrays[2].of = 2;
    static const struct { const char *name; int dtype[2]; int64_t count; } more[] = {{"k0", {TW_I32, TW_I16}, 900 * 200}, {"z0", {TW_I32, TW_I64}, 900 * 200},
                                                                                   {"h0", {TW_F32, TW_F32}, 900 * 200}, {"c0", {TW_I32, TW_I64}, 64}};
    for (int i = 0; i < 4; i++) {
        Array *a = &p->arrays[p->array_count++];
        *a = (Array){.dtype = more[i].dtype[draw(g, 2)], .count = more[i].count, .flavour = WHOLE, .whole = 3};
        snprintf(a->name, sizeof a->name, "%s", more[i].name);
    }
    for (int i = 0; i < 2; i++) g->update[i] = (int)draw(g, 3);
    const struct { const char *name; int64_t value; } scalars[] = {{"C", width}, {"R", rows}, {"n0", bounds[draw(g, 5)]}, {"n1", bounds[draw(g, 5)] + 4 * draw(g, 2)}};
    for (int i = 0; i < 4; i++) {
        Scalar *s = &p->scalars[p->scalar_count++];
        *s = (Scalar){.i = scalars[i].value};
        snprintf(s->name, sizeof s->name, "%s", scalars[i].name);
    }
    new_var(g, 1, 2, 3);
    line(g, "v0 = tl.load(x0 + (p * M + am)[:, None] * C + an[None, :], mask=an[None, :] < C, other=0.0).to(tl.float32)");
    statements(g, 8);
    store(g);
    if (draw(g, 2)) store(g);
    add_text(p, "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef kernel(x0, x1, y0, y1, k0, z0, h0, c0, C, R, n0, n1):\n");
    add_text(p, "    M: tl.constexpr = %d\n    N: tl.constexpr = %d\n    p = tl.program_id(0)\n", g->size[1], g->size[2]);
    add_text(p, "    am = tl.arange(0, M)\n    an = tl.arange(0, N)\n    a1 = tl.arange(0, 1)\n%s", g->body);
}

int main(int argc, char **argv) { return differential_main(argc, argv, "random_tenstorrent", generate); }
