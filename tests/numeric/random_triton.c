/* SPDX-License-Identifier: Apache-2.0 */
/* random_triton.c: random Triton kernels, run on the interpreter and on other targets (differential.h).
 *
 * Every program is valid, so a message from the door is a failure too. For each variable the generator knows dtype and
 * shape, and of floats a bound of the magnitude and one of the error against exact evaluation in the written order:
 *     error 0      every operation behind it is defined bit by bit: the targets must agree in every bit
 *     error > 0    a sum or product whose order is the target's own, or an approximate function: they may differ by it
 * Sums and products of small whole numbers are exact in any order, so that reductions, scans and dots are mostly compared
 * in every bit as well. What could overflow in one order and not in another is not generated. */
#include "triton_arguments.h"
#include "triton_carried.h"
#include "triton_corners.h"
#include "triton_order.h"
#include "triton_rings.h"
#include "triton_rows.h"

/* --- control --- */

static void statements(Gen *g, int most);

static void body(Gen *g, int most, double trips) {
    double before = g->trips;
    g->trips *= trips;
    g->depth++, g->indent++;
    statements(g, most);
    g->indent--, g->depth--;
    g->trips = before;
}

typedef struct Carried {
    Var old, update;
    char name[16];
    bool sum;
} Carried;

/* What was computed in the loop so far is lost where it is left or goes on at once; carried values keep what they had. */
static void jump(Gen *g, int id) {
    char test[60];
    condition(g, test, sizeof test);
    if (!test[0] || draw(g, 3) == 2) snprintf(test, sizeof test, "i%d == %d", id, (int)draw(g, 4));
    line(g, "if %s:\n%*s%s", test, 4 * g->indent + 4, "", draw(g, 2) ? "break" : "continue");
}

/* No trip adds nothing, of whatever size. */
static double times(int trips, double size) {
    return trips ? trips * size : 0;
}

/* Loops: some carried values are sums, whose final size is known; others become anything exact of that type. */
static void loop(Gen *g) {
    if (g->depth >= 2) return;
    int trips = (int)draw(g, 5), count = 1 + (int)draw(g, 2), mark, id = g->next++;
    bool is_while = draw(g, 4) == 3, is_static = !is_while && draw(g, 5) == 4;
    Carried carried[2];
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        Filter f = any;
        Var *v = some(g, f);
        if (!v) return;
        c->old = copy_of(v);
        c->sum = draw(g, 2) == 0;
        if (!c->sum && v->error > 0) c->sum = true;
        snprintf(c->name, sizeof c->name, "w%d_%d", id, i);
        line(g, "%s = %s", c->name, c->old.name);
    }
    char high[24];
    const char *runtime = !is_static && draw(g, 2) && !g->calls ? scalar_argument(g, trips) : NULL;
    snprintf(high, sizeof high, "%d", trips);
    if (runtime) snprintf(high, sizeof high, "%s", runtime);
    mark = g->count;
    if (is_while) {
        line(g, "i%d = 0", id);
        line(g, "while i%d < %s:", id, high);
    } else if (is_static)
        line(g, "for i%d in tl.static_range(%s):", id, high);
    else if (draw(g, 3) == 2)
        line(g, "for i%d in tl.range(0, %s, num_stages=%d):", id, high, 1 + (int)draw(g, 3));
    else if (draw(g, 3) == 2)
        line(g, "for i%d in range(3, %s * 2 + 3, 2):", id, high);
    else
        line(g, "for i%d in range(%s):", id, high);
    if (!is_static) {
        Var *v = new_var(g, I32, 0, NULL, 0, 0, false);
        if (v) snprintf(v->name, sizeof v->name, "i%d", id);
    }
    for (int i = 0; i < count; i++) {
        if (carried[i].sum) continue;
        Var *v = like(g, &carried[i].old, INFINITY, 0, false);
        if (v) memcpy(v->name, carried[i].name, sizeof v->name);
    }
    bool jumps = !is_static && draw(g, 4) == 3;
    if (is_while && jumps) line(g, "    i%d += 1", id); /* before anything goes on with the next turn */
    body(g, 4, trips);
    g->indent++;
    if (jumps) jump(g, id);
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        Var *x = some(g, (Filter){.type = c->old.type, .shape = &c->old, .rank_most = 3, .exact = !c->sum});
        c->update = x ? copy_of(x) : c->old;
        if (c->sum && (c->update.error > 0 || c->old.error > 0)) {
            double bound = c->old.bound + times(trips, c->update.bound);
            if (isinf(bound) || bound > dtypes[c->old.type].largest / 2) c->update = c->old, c->sum = false; /* stays as it was */
        }
        if (c->sum) line(g, draw(g, 2) ? "%s = (%s + %s).to(tl.%s)" : "%s = (%s + %s).to(tl.%s)", c->name, c->name, c->update.name, dtypes[c->old.type].name);
        else if (strcmp(c->update.name, c->old.name) != 0 || !is_static) line(g, "%s = %s", c->name, c->update.name);
        else line(g, "pass");
    }
    if (is_while && !jumps) line(g, "i%d += 1", id);
    g->indent--;
    g->count = mark;
    for (int i = 0; i < count; i++) {
        Carried *c = &carried[i];
        double bound = c->old.bound + times(trips, c->update.bound), error = c->old.error + times(trips, c->update.error);
        if (error > 0) error += trips * bound * dtypes[c->old.type].unit;
        bool fixed = strcmp(c->update.name, c->old.name) == 0;
        Var *v = c->sum    ? like(g, &c->old, bound, error, c->old.whole && c->update.whole)
                 : fixed ? like(g, &c->old, c->old.bound, c->old.error, c->old.whole)
                         : like(g, &c->old, INFINITY, 0, false);
        if (v) memcpy(v->name, c->name, sizeof v->name);
    }
}

static void branch(Gen *g) {
    char test[60];
    if (g->depth >= 2) return;
    Var *found = some(g, any);
    condition(g, test, sizeof test);
    if (!found || !test[0]) return;
    Var v = copy_of(found), a = v, b = v;
    int id = g->next++, mark = g->count;
    bool both = draw(g, 2);
    if (!both) line(g, "w%d = %s", id, v.name);
    Filter f = {.type = v.type, .shape = &v, .rank_most = 3};
    line(g, "if %s:", test);
    body(g, 3, 1);
    Var *x = some(g, f);
    if (x) a = copy_of(x);
    line(g, "    w%d = %s", id, a.name);
    g->count = mark;
    if (both) {
        line(g, "else:");
        body(g, 2, 1);
        x = some(g, f);
        if (x) b = copy_of(x);
        line(g, "    w%d = %s", id, b.name);
        g->count = mark;
    }
    Var *r = like(g, &v, fmax(a.bound, b.bound), fmax(a.error, b.error), a.whole && b.whole);
    if (r) snprintf(r->name, sizeof r->name, "w%d", id);
    else line(g, "w%d = 0", id);
}

/* A function of a few values that gives one or two. */
static void helper(Gen *g) {
    if (g->calls >= 2 || g->helpers >= MOST_HELPERS) return;
    Var given[3];
    int count = 1 + (int)draw(g, 3), results = 1 + (int)draw(g, 2), id = g->next++;
    for (int i = 0; i < count; i++) {
        Var *v = some(g, any);
        if (!v) return;
        given[i] = copy_of(v);
    }
    if (g->count + count >= MOST_VARS) return;
    Lines *out = g->out;
    int first = g->first, mark = g->count, indent = g->indent, depth = g->depth;
    g->out = &g->helper[g->calls++];
    g->out->length = 0;
    g->helpers++;
    g->indent = 1, g->depth = 1, g->first = g->count;
    char params[300] = "", args[300] = "";
    for (int i = 0; i < count; i++) {
        Var *v = &g->vars[g->count++];
        *v = given[i];
        snprintf(v->name, sizeof v->name, "p%d", i);
        snprintf(params + strlen(params), sizeof params - strlen(params), "%s%s", i ? ", " : "", v->name);
        snprintf(args + strlen(args), sizeof args - strlen(args), "%s%s", i ? ", " : "", given[i].name);
    }
    statements(g, 4);
    Var made[2];
    for (int i = 0; i < results; i++) made[i] = copy_of(some(g, any) ? &g->vars[g->count - 1] : &g->vars[g->first]);
    for (int i = 0; i < results; i++)
        if (dtypes[made[i].type].kind == '8' || dtypes[made[i].type].kind == 'b') made[i] = g->vars[g->first];
    if (results == 2) line(g, "return %s, %s", made[0].name, made[1].name);
    else line(g, "return %s", made[0].name);
    size_t room = sizeof g->head.text - g->head.length;
    if (room > g->out->length + 200)
        g->head.length += (size_t)snprintf(g->head.text + g->head.length, room, "@triton.jit\ndef f%d(%s):\n%s\n", id, params, g->out->text);
    g->calls--;
    g->out = out, g->first = first, g->count = mark, g->indent = indent, g->depth = depth;
    Var *r[2] = {NULL, NULL};
    for (int i = 0; i < results; i++) r[i] = like(g, &made[i], made[i].bound, made[i].error, made[i].whole);
    if (results == 2 && r[0] && r[1]) line(g, "%s, %s = f%d(%s)", r[0]->name, r[1]->name, id, args);
    else if (r[0]) line(g, "%s = f%d(%s)", r[0]->name, id, args);
}

static void swap(Gen *g) {
    Var *found = some(g, any);
    if (!found) return;
    Var v = copy_of(found);
    Var *w = value(g, v.type, v.rank, v.ext, false);
    if (!w) return;
    Var o = copy_of(w);
    Var *a = like(g, &v, o.bound, o.error, o.whole), *b = like(g, &v, v.bound, v.error, v.whole);
    if (!a || !b) return;
    if (draw(g, 2)) line(g, "%s, %s = %s, %s", a->name, b->name, o.name, v.name);
    else {
        line(g, "%s, %s = (%s, %s)", a->name, b->name, v.name, o.name);
        line(g, "%s, %s = %s, %s", a->name, b->name, b->name, a->name);
    }
}

static void load_statement(Gen *g) {
    int rank;
    int64_t ext[3];
    int type = (int)draw(g, DTYPES - 1);
    random_shape(g, &rank, ext, 1024);
    if (draw(g, 10) == 9) rank = 0;
    make_load(g, type, rank, ext);
}

static void compare_statement(Gen *g) { comparison(g, NULL); }

static void store_statement(Gen *g) {
    Var *v = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_most = 3});
    if (v) store(g, v);
}

typedef struct Statement {
    void (*write)(Gen *g);
    int weight;
} Statement;
static const Statement table[] = {
    {binary, 10}, {load_statement, 5}, {unary, 4}, {where, 4}, {cast, 6}, {compare_statement, 2}, {reshape, 5}, {reduce, 5}, {scan, 3}, {dot, 3},
    {loop, 4}, {branch, 3}, {helper, 3}, {atomic, 1}, {store_statement, 1}, {store_and_load, 1}, {swap, 1}, {matmul, 1}, {arrange, 2},
    {descriptor, 2}, {walk, 2}, {random_numbers, 1}, {leave, 1}, {hostile_load, 4}, {hostile_loop, 2}, {hostile_box, 1},
};

static void statements(Gen *g, int most) {
    int total = 0, done = 0;
    size_t before = g->out->length;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) total += table[i].weight;
    for (; done < most && g->statements_left > 0 && draw(g, 8) != 0; done++) {
        int at = (int)draw(g, (uint32_t)total);
        size_t i = 0;
        while (at >= table[i].weight) at -= table[i++].weight;
        g->statements_left--;
        table[i].write(g);
    }
    if (before == g->out->length && g->depth) line(g, "pass");
}

/* Whole kernels of another kind than the mixture below. */
static const Family families[] = {{"order", order_kernel, 8}, {"rings", rings_kernel, 8}, {"rows", rows_kernel, 8}, {"corners", corners_kernel, 8}, {"carried", carried_kernel, 8}};

static const Family *family(Gen *g) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (wanted_family ? strcmp(wanted_family, families[i].name) == 0 : draw(g, families[i].each) == families[i].each - 1) return &families[i];
    return NULL;
}

static void mixture(Gen *g) {
    Program *p = g->p;
    p->grid[0] = 1 + draw(g, 3), p->grid[1] = 1 + (draw(g, 4) == 3);
    if (draw(g, 3) == 2) p->sets[p->set_count++] = (tw_pair){"fuse", "off"};
    if (draw(g, 8) == 7) line(g, "if pid > 1:\n        return");
    load_statement(g);
    load_statement(g);
    statements(g, 16);
    int stored = 0;
    for (int i = g->count - 1; i >= 0 && stored < 5; i--)
        if (!g->vars[i].hidden && draw(g, 8)) store(g, &g->vars[i]), stored++; /* 0: one less */
}

static void generate(Choices *c, Program *p) {
    static Gen room;
    Gen *g = &room;
    memset(g, 0, sizeof *g);
    g->c = c, g->p = p, g->out = &g->body, g->indent = 1, g->statements_left = 40, g->trips = 1;
    p->file = "random.py";
    p->grid[2] = 1;
    line(g, "pid = tl.program_id(0) + tl.num_programs(0) * tl.program_id(1)");
    const Family *f = family(g);
    (f ? f->write : mixture)(g);
    add_text(p, "import triton\nimport triton.language as tl\n\n");
    for (uint32_t i = 0; i < sizeof combine_text / sizeof *combine_text; i++)
        if (g->combines >> i & 1) add_text(p, "%s", combine_text[i]);
    if (g->small && strstr(g->body.text, "small(")) /* a function that nobody calls would be a kernel */
        add_text(p, "@triton.jit\ndef small(x):\n    return (x.to(tl.int32) & 3).to(tl.%s)\n\n", dtypes[g->small].name);
    add_text(p, "%s@triton.jit\ndef kernel(", g->head.text);
    for (int a = 0; a < p->array_count; a++) add_text(p, "%s%s", a ? ", " : "", p->arrays[a].name);
    for (int s = 0; s < p->scalar_count; s++) add_text(p, ", %s", p->scalars[s].name);
    add_text(p, "):\n%s", g->body.text);
}

int main(int argc, char **argv) {
    static const char *names[sizeof families / sizeof *families + 1];
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) names[i] = families[i].name;
    family_names = names;
    find_features();
    return differential_main(argc, argv, "random_triton", generate);
}
