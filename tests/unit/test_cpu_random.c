/* SPDX-License-Identifier: Apache-2.0 */
/* test_cpu_random.c: random kernels on the CPU target against the interpreter, every bit.
 *
 * The programs are made to strain the plan (cpu_plan.c): tiles used in several places, carried
 * through nested loops, traded, updated in place, changed under an if, stored and loaded again. A
 * failing program is printed whole. `test_cpu_random SEED COUNT` runs others than the usual ones.
 */
#include "cpu_cases.h"

#include <stdarg.h>
#include <stdbool.h>

enum { MOST = 400, NAME = 32 };

typedef struct Gen {
    uint64_t state;
    char text[60000];
    size_t length;
    char tiles[MOST][NAME]; /* visible tiles, f32[7,7] */
    int count, next, depth, slot;
} Gen;

static unsigned pick(Gen *g, unsigned n) {
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(g->state >> 33) % n;
}

static void put(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g->length += (size_t)vsnprintf(g->text + g->length, sizeof g->text - g->length, format, args);
    va_end(args);
}

static const char *some(Gen *g) {
    /* Late ones more often, so that chains grow. */
    unsigned back =
        pick(g, 3) ? pick(g, (unsigned)(g->count < 4 ? g->count : 4)) : pick(g, (unsigned)g->count);
    return g->tiles[g->count - 1 - (int)back];
}

static void define(Gen *g, char *name) {
    snprintf(name, NAME, "t%d", g->next++);
    if (g->count < MOST) memcpy(g->tiles[g->count++], name, NAME);
}

static void statements(Gen *g, int n);

static void simple(Gen *g) {
    static const char *const binary[] = {"add", "sub", "max", "min"};
    char name[NAME], x[NAME], y[NAME], z[NAME];
    memcpy(x, some(g), NAME);
    memcpy(y, some(g), NAME);
    memcpy(z, some(g), NAME);
    int id = g->next;
    define(g, name);
    switch (pick(g, NAME)) {
    default: put(g, "%%%s = %s %%%s, %%%s\n", name, binary[pick(g, 4)], x, y); break;
    case 4: put(g, "%%%s = mul %%%s, 0.25\n", name, x); break;
    case 5: put(g, "%%%s = permute<dims=[1,0]> %%%s\n", name, x); break;
    case 6: put(g, "%%%s = flip<axis=%u> %%%s\n", name, pick(g, 2), x); break;
    case 7:
        put(g, "%%r%d = reduce<%s, axis=1> %%%s ; %%e%d = expand<%u> %%r%d\n", id,
            pick(g, 2) ? "add" : "max", x, id, pick(g, 2), id);
        put(g, "%%%s = sub %%%s, %%e%d\n", name, y, id);
        break;
    case 8:
        put(g, "%%a%d = mul %%%s, 0.125 ; %%%s = dot %%a%d, %%%s, %%%s\n", id, x, name, id, y, z);
        break;
    case 9:
        put(g, "%%s%d = slice %%%s, [%u, 1] : f32[4,5] ; %%%s = insert %%%s, [%u, %u], %%s%d\n", id,
            x, pick(g, 4), name, y, pick(g, 4), pick(g, 3), id);
        break;
    case 10: put(g, "%%%s = scan<add, axis=%u> %%%s\n", name, pick(g, 2), x); break;
    case 11: {
        int at = g->slot++ % 40 * 49;
        put(g,
            "%%m%d = add %%index, %d ; %%p%d = ptr_add %%x, %%m%d ; %%f%d = reshape %%%s : f32[49] "
            "; store %%p%d, %%f%d\n",
            id, at, id, id, id, x, id, id);
        put(g,
            "%%l%d = add %%index, %d ; %%q%d = ptr_add %%x, %%l%d ; %%g%d = load %%q%d ; %%%s = "
            "reshape %%g%d : f32[7,7]\n",
            id, (int)pick(g, 40) * 49, id, id, id, id, name, id);
        break;
    }
    }
}

static void branch(Gen *g) {
    int id = g->next++, before = g->count;
    put(g, "%%c%d = cmp<gt> %%n, %u\n%%w%d = if %%c%d {\n", id, pick(g, 5), id, id);
    g->depth++;
    statements(g, 1 + (int)pick(g, 3));
    put(g, "yield %%%s\n} {\n", some(g));
    g->count = before;
    statements(g, (int)pick(g, 3));
    put(g, "yield %%%s\n}\n", some(g));
    g->depth--;
    g->count = before;
    snprintf(g->tiles[g->count++], NAME, "w%d", id);
}

static void loop(Gen *g) {
    int id = g->next++, before = g->count, carried = 1 + (int)pick(g, 3);
    for (int i = 0; i < carried; i++) put(g, "%s%%y%d_%d", i ? ", " : "", id, i);
    put(g, " = for %%k%d = 0, %s, %u (", id, pick(g, 3) ? "%n" : "2", 1 + pick(g, 2));
    for (int i = 0; i < carried; i++) put(g, "%s%%z%d_%d = %%%s", i ? ", " : "", id, i, some(g));
    put(g, ") {\n");
    for (int i = 0; i < carried && g->count < MOST; i++)
        snprintf(g->tiles[g->count++], NAME, "z%d_%d", id, i);
    g->depth++;
    statements(g, 2 + (int)pick(g, 5));
    put(g, "yield ");
    for (int i = 0; i < carried; i++) {
        /* A carried value of another place now and then: they trade. */
        if (pick(g, 4) == 0)
            put(g, "%s%%z%d_%u", i ? ", " : "", id, pick(g, (unsigned)carried));
        else
            put(g, "%s%%%s", i ? ", " : "", some(g));
    }
    put(g, "\n}\n");
    g->depth--;
    g->count = before;
    for (int i = 0; i < carried && g->count < MOST; i++)
        snprintf(g->tiles[g->count++], NAME, "y%d_%d", id, i);
}

static void statements(Gen *g, int n) {
    for (int i = 0; i < n; i++) {
        unsigned kind = pick(g, 10);
        if (kind < 2 && g->depth < 3)
            loop(g);
        else if (kind == 2 && g->depth < 3)
            branch(g);
        else
            simple(g);
    }
}

static void generate(Gen *g, uint64_t seed) {
    *g = (Gen){.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    put(g, "kernel @k(%%x: *f32, %%n: i32) {\n%%index = iota<0, 49>\n");
    for (int i = 0; i < 3; i++) {
        put(g, "%%o%d = add %%index, %d ; %%h%d = ptr_add %%x, %%o%d ; %%v%d = load %%h%d ; ", i,
            i * 49, i, i, i, i);
        put(g, "%%b%d = reshape %%v%d : f32[7,7]\n", i, i);
        snprintf(g->tiles[g->count++], NAME, "b%d", i);
    }
    statements(g, 12);
    for (int i = 0; i < 6 && i < g->count; i++) {
        put(g, "%%u%d = add %%index, %d ; %%j%d = ptr_add %%x, %%u%d ; ", i, 2000 + 49 * i, i, i);
        put(g, "%%d%d = reshape %%%s : f32[49] ; store %%j%d, %%d%d\n", i,
            g->tiles[g->count - 1 - i], i, i);
    }
    put(g, "return }\n");
}

int main(int argc, char **argv) {
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    int count = argc > 2 ? atoi(argv[2]) : 16;
    tw_context *cx = NULL;
    static Gen g;
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    for (int i = 0; i < count; i++) {
        char name[40];
        generate(&g, seed + (uint64_t)i);
        snprintf(name, sizeof name, "seed %llu", (unsigned long long)(seed + (uint64_t)i));
        Case c = {.name = name, .text = g.text, .number = 3, .plain = 1};
        int failures = check_failures;
        case_check(cx, &c);
        if (check_failures != failures) fprintf(stderr, "%s\n", g.text);
        if (check_failures - failures > 0 && argc < 2) break;
    }
    tw_context_destroy(cx);
    return check_done();
}
