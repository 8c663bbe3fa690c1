/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c: operation x element type x shape on a target, against the interpreter.
 *
 *     ops [--all] [--only SUBSTRING] [--target T] [--list] [--shard I/N]
 *
 * A *family* writes one kernel of IR text for an element type and a tile shape: every op of the
 * family, each result stored to its own place. The kernel runs on interp and on the target with
 * the same made-up arguments (floats of all kinds, integers with zeroes, ones and limits), and all
 * memory is compared: bit for bit, or within the family's tolerance where functions are
 * approximate. Without --all one shape a family and type is taken, another one each time, so that
 * all shapes occur (600 elements where values are what matters: elementwise ops and conversions of every
 * type); with --all the whole product runs. Every failure prints its name, which --only
 * repeats. */
#include "cpu_cases.h"
#include "shard.h"

#include <stdarg.h>
#include <stdbool.h>

/* --- the kernel's text --- */

typedef struct Shape {
    int rank;
    int extent[5];
} Shape;

typedef struct Writer {
    char *text;
    size_t length, capacity;
    int64_t at; /* elements written to the outputs so far */
    const char *type;
    Shape shape;
    int count; /* elements of the shape */
    int names;
    bool any_order; /* the target has an order of its own, which sums and products of floats show: without these */
} Writer;

static void put(Writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Writer *w, const char *format, ...) {
    va_list args;
    if (w->capacity - w->length < 2000) {
        w->capacity += 65536;
        w->text = realloc(w->text, w->capacity);
    }
    va_start(args, format);
    w->length += (size_t)vsnprintf(w->text + w->length, w->capacity - w->length, format, args);
    va_end(args);
}

static int elements(const Shape *s) {
    int n = 1;
    for (int d = 0; d < s->rank; d++) n *= s->extent[d];
    return n;
}

/* "f32[3,17]", or "f32" at rank 0. The text lives until the next eight calls. */
static const char *typed(const char *elem, const Shape *s) {
    static char texts[8][80];
    static int next;
    char *text = texts[next++ % 8];
    int n = snprintf(text, 80, "%s", elem);
    for (int d = 0; d < s->rank; d++)
        n += snprintf(text + n, 80 - (size_t)n, "%c%d", d ? ',' : '[', s->extent[d]);
    if (s->rank) snprintf(text + n, 80 - (size_t)n, "]");
    return text;
}

static Shape without(const Shape *s, int axis) {
    Shape r = {.rank = s->rank - 1};
    for (int d = 0, o = 0; d < s->rank; d++)
        if (d != axis) r.extent[o++] = s->extent[d];
    return r;
}

static Shape with(const Shape *s, int axis, int extent) {
    Shape r = *s;
    r.extent[axis] = extent;
    return r;
}

/* A tile of i32 0 .. n-1 of that shape; returns its number, to be written %tN. */
static int index_tile(Writer *w, const Shape *s) {
    int n = w->names++;
    if (!s->rank) {
        put(w, "  %%t%d = add %%zero, 0\n", n);
        return n;
    }
    put(w, "  %%k%d = iota<0, %d> ; %%t%d = reshape %%k%d : %s\n", n, elements(s), n, n,
        typed("i32", s));
    return n;
}

/* %name = the tile at `from` elements behind the pointer. */
static void load(Writer *w, const char *name, const char *pointer, const Shape *s, int from) {
    int t = index_tile(w, s);
    put(w, "  %%o%d = add %%t%d, %d ; %%q%d = ptr_add %%%s, %%o%d ; %%%s = load %%q%d\n", t, t,
        from, t, pointer, t, name, t);
}

/* Stores a tile behind all that was stored before. */
static void keep(Writer *w, const char *pointer, const Shape *s, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void keep(Writer *w, const char *pointer, const Shape *s, const char *format, ...) {
    char name[40];
    va_list args;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    int t = index_tile(w, s);
    put(w, "  %%o%d = add %%t%d, %lld ; %%q%d = ptr_add %%%s, %%o%d ; store %%q%d, %%%s\n", t, t,
        (long long)w->at, t, pointer, t, t, name);
    w->at += elements(s);
}

static void begin(Writer *w, const char *params) {
    w->length = 0, w->at = 0, w->names = 0;
    put(w, "kernel @k(%s, %%zero: i32) {\n", params);
}

static bool is_float(const char *t) {
    return strchr(t, 'f') != NULL;
}
static bool is_bool(const char *t) {
    return strcmp(t, "i1") == 0;
}

/* --- families --- */

static const char *const all_types[] = {"i1",  "i8",     "i16",    "i32",    "i64",     "u8",
                                        "u16", "u32",    "u64",    "f16",    "bf16",    "f32",
                                        "f64", "f8e4m3", "f8e5m2", "f8e4b8", "f8e5b16", "f8e4b15"};
enum { TYPES = sizeof all_types / sizeof *all_types };

#define COUNT(list) (int)(sizeof(list) / sizeof *(list))

static void two_inputs(Writer *w) {
    char params[160];
    snprintf(params, sizeof params, "%%x, %%y, %%z: *%s, %%b: *i1, %%i: *i32, %%s: %s", w->type,
             w->type);
    begin(w, params);
    load(w, "u", "x", &w->shape, 0);
    load(w, "v", "y", &w->shape, 3);
}

static bool write_elementwise(Writer *w) {
    static const char *const ints[] = {"add", "sub",  "mul", "div",  "rem", "floordiv",
                                       "mod", "cdiv", "min", "max",  "and", "or",
                                       "xor", "shl",  "shr", "mulhi"};
    static const char *const floats[] = {"add", "sub",           "mul",          "div",
                                         "rem", "floordiv",      "mod",          "min",
                                         "max", "min<nan=keep>", "max<nan=keep>"};
    static const char *const bools[] = {"add", "sub", "mul", "div", "rem", "floordiv",
                                        "mod", "min", "max", "and", "or",  "xor"};
    static const char *const int_unary[] = {"neg", "abs", "not", "popc", "clz"};
    static const char *const float_unary[] = {"neg",  "abs",   "sqrt",  "floor",
                                              "ceil", "trunc", "round", "rint"};
    static const char *const bool_unary[] = {"neg", "abs", "not"};
    static const char *const preds[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    bool real = is_float(w->type), logic = is_bool(w->type);
    const char *const *binary = real ? floats : logic ? bools : ints;
    const char *const *unary = real ? float_unary : logic ? bool_unary : int_unary;
    int binaries = real ? COUNT(floats) : logic ? COUNT(bools) : COUNT(ints);
    int unaries = real ? COUNT(float_unary) : logic ? COUNT(bool_unary) : COUNT(int_unary);
    two_inputs(w);
    for (int i = 0; i < binaries; i++) {
        put(w, "  %%a%d = %s %%u, %%v ; %%b%d = %s %%u, %%s\n", i, binary[i], i, binary[i]);
        keep(w, "z", &w->shape, "a%d", i);
        keep(w, "z", &w->shape, "b%d", i);
    }
    for (int i = 0; i < unaries; i++) {
        put(w, "  %%c%d = %s %%u ; %%sc%d = %s %%s\n", i, unary[i], i, unary[i]);
        keep(w, "z", &w->shape, "c%d", i);
        keep(w, "z", &(Shape){0}, "sc%d", i);
    }
    for (int i = 0; i < COUNT(preds); i++) {
        put(w, "  %%p%d = cmp<%s> %%u, %%v ; %%e%d = select %%p%d, %%u, %%v\n", i, preds[i], i, i);
        keep(w, "b", &w->shape, "p%d", i);
        keep(w, "z", &w->shape, "e%d", i);
    }
    if (!real) return true;
    put(w, "  %%nn = isnan %%u ; %%ff = fma %%u, %%v, %%s\n");
    keep(w, "b", &w->shape, "nn");
    keep(w, "z", &w->shape, "ff");
    return true;
}

/* Operands whose extents of 1 are repeated. */
static bool write_broadcast(Writer *w) {
    if (w->shape.rank < 2) return false;
    const char *op = is_bool(w->type) ? "xor" : "sub";
    two_inputs(w);
    for (int axis = 0; axis < w->shape.rank; axis++) {
        Shape thin = with(&w->shape, axis, 1);
        char name[16];
        snprintf(name, sizeof name, "n%d", axis);
        load(w, name, "y", &thin, axis);
        put(w, "  %%l%d = %s %%u, %%n%d ; %%r%d = %s %%n%d, %%v ; %%w%d = broadcast %%n%d : %s\n",
            axis, op, axis, axis, op, axis, axis, axis, typed(w->type, &w->shape));
        put(w, "  %%m%d = cmp<eq> %%n%d, %%s ; %%d%d = select %%m%d, %%u, %%v\n", axis, axis, axis,
            axis);
        keep(w, "z", &w->shape, "l%d", axis);
        keep(w, "z", &w->shape, "r%d", axis);
        keep(w, "z", &w->shape, "w%d", axis);
        keep(w, "z", &w->shape, "d%d", axis);
    }
    return true;
}

static bool write_casts(Writer *w) {
    char params[600];
    int n = snprintf(params, sizeof params, "%%x: *%s", w->type);
    for (int i = 0; i < TYPES; i++)
        n += snprintf(params + n, sizeof params - (size_t)n, ", %%z%d: *%s", i, all_types[i]);
    begin(w, params);
    load(w, "u", "x", &w->shape, 0);
    for (int i = 0; i < TYPES; i++) {
        char to[10];
        if (strcmp(w->type, all_types[i]) == 0) continue;
        snprintf(to, sizeof to, "z%d", i);
        put(w, "  %%r%d = cast %%u : %s\n", i, typed(all_types[i], &w->shape));
        keep(w, to, &w->shape, "r%d", i);
        if (!is_float(all_types[i]) || !is_float(w->type)) continue;
        put(w, "  %%k_%d = cast<round=rz> %%u : %s\n", i, typed(all_types[i], &w->shape));
        keep(w, to, &w->shape, "k_%d", i);
    }
    return true;
}

static bool write_bitcasts(Writer *w) {
    static const char *const groups[][8] = {
        {"i8", "u8", "f8e4m3", "f8e5m2", "f8e4b8", "f8e5b16", "f8e4b15"},
        {"i16", "u16", "f16", "bf16"},
        {"i32", "u32", "f32"},
        {"i64", "u64", "f64"}};
    for (int g = 0; g < COUNT(groups); g++)
        for (int i = 0; groups[g][i]; i++) {
            if (strcmp(groups[g][i], w->type) != 0) continue;
            char params[200];
            int n = snprintf(params, sizeof params, "%%x: *%s", w->type);
            for (int j = 0; groups[g][j]; j++)
                n += snprintf(params + n, sizeof params - (size_t)n, ", %%z%d: *%s", j,
                              groups[g][j]);
            begin(w, params);
            load(w, "u", "x", &w->shape, 0);
            for (int j = 0; groups[g][j]; j++) {
                char to[10];
                if (j == i) continue;
                snprintf(to, sizeof to, "z%d", j);
                put(w, "  %%r%d = bitcast %%u : %s\n", j, typed(groups[g][j], &w->shape));
                keep(w, to, &w->shape, "r%d", j);
            }
            return true;
        }
    return false;
}

static bool write_shapes(Writer *w) {
    const Shape *s = &w->shape;
    Shape flat = {.rank = 1, .extent = {w->count}}, turned = {.rank = s->rank}, pair = *s;
    two_inputs(w);
    put(w, "  %%flat = reshape %%u : %s\n", typed(w->type, &flat));
    keep(w, "z", &flat, "flat");
    put(w, "  %%turn = permute<dims=[");
    for (int d = 0; d < s->rank; d++) {
        put(w, "%s%d", d ? ", " : "", s->rank - 1 - d);
        turned.extent[d] = s->extent[s->rank - 1 - d];
    }
    put(w, "]> %%v\n");
    keep(w, "z", &turned, "turn");
    put(w, "  %%back = reshape %%turn : %s ; %%sum = %s %%back, %%u\n", typed(w->type, s),
        is_bool(w->type) ? "and" : "add");
    keep(w, "z", s, "sum");
    pair.extent[pair.rank++] = 2;
    put(w, "  %%both = join %%u, %%v ; %%h0, %%h1 = split %%both\n");
    keep(w, "z", &pair, "both");
    keep(w, "z", s, "h0");
    keep(w, "z", s, "h1");
    for (int a = 0; a < s->rank; a++) {
        Shape wide = with(s, a, 3 * s->extent[a]), half = with(s, a, (s->extent[a] + 1) / 2);
        put(w, "  %%f%d = flip<axis=%d> %%u ; %%ca%d = cat<axis=%d> %%u, %%v, %%u\n", a, a, a, a);
        keep(w, "z", s, "f%d", a);
        keep(w, "z", &wide, "ca%d", a);
        Shape twice = with(s, a, 2 * s->extent[a]), often = with(s, a, 8 * s->extent[a]);
        put(w, "  %%rp%d = repeat<%d> %%u : %s ; %%rq%d = repeat<%d> %%rp%d : %s\n", a, a, typed(w->type, &twice), a, a, a,
            typed(w->type, &often));
        keep(w, "z", &twice, "rp%d", a);
        keep(w, "z", &often, "rq%d", a);
        put(w, "  %%sl%d = slice %%v, [", a);
        for (int d = 0; d < s->rank; d++)
            put(w, "%s%s", d ? ", " : "", d == a && s->extent[a] > 1 ? "1" : "0");
        put(w, "] : %s\n", typed(w->type, &half));
        keep(w, "z", &half, "sl%d", a);
        put(w, "  %%in%d = insert %%u, [", a);
        for (int d = 0; d < s->rank; d++) put(w, "%s%s", d ? ", " : "", d == a ? "%zero" : "0");
        put(w, "], %%sl%d\n", a);
        keep(w, "z", s, "in%d", a);
        Shape picks = with(s, a, s->extent[a] + 2);
        int t = index_tile(w, &picks);
        put(w,
            "  %%g%d = mul %%t%d, 7 ; %%h_%d = rem %%g%d, %d ; %%ga%d = gather<axis=%d> %%u, "
            "%%h_%d\n",
            a, t, a, a, s->extent[a], a, a, a);
        keep(w, "z", &picks, "ga%d", a);
        Shape more = {.rank = s->rank + 1};
        for (int d = 0, o = 0; d <= s->rank; d++) more.extent[d] = d == a ? 1 : s->extent[o++];
        put(w, "  %%ex%d = expand<%d> %%u\n", a, a);
        keep(w, "z", &more, "ex%d", a);
    }
    return true;
}

static bool write_reduces(Writer *w) {
    static const char *const ints[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    static const char *const floats[] = {"add", "mul", "min", "max"};
    static const char *const bools[] = {"and", "or", "xor", "min", "max"};
    bool real = is_float(w->type), logic = is_bool(w->type);
    const char *const *kinds = real ? floats : logic ? bools : ints;
    int count = real ? COUNT(floats) : logic ? COUNT(bools) : COUNT(ints);
    two_inputs(w);
    for (int a = 0; a < w->shape.rank; a++) {
        Shape less = without(&w->shape, a);
        for (int i = w->any_order ? 2 : 0; i < count; i++) { /* floats have sums and products first */
            put(w, "  %%r%d_%d = reduce<%s, axis=%d> %%u\n", a, i, kinds[i], a);
            keep(w, "z", &less, "r%d_%d", a, i);
            if (!real || i < 2) continue;
            put(w, "  %%n%d_%d = reduce<%s, axis=%d, nan=keep> %%v\n", a, i, kinds[i], a);
            keep(w, "z", &less, "n%d_%d", a, i);
        }
        if (logic) continue;
        for (int i = 0; i < (real ? 4 : 2); i++) {
            put(w, "  %%a%d_%d = reduce<%s, axis=%d%s> %%%c\n", a, i, i & 1 ? "argmax" : "argmin",
                a, i & 2 ? ", nan=keep" : "", i & 1 ? 'u' : 'v');
            keep(w, "i", &less, "a%d_%d", a, i);
        }
    }
    return true;
}

static bool write_scans(Writer *w) {
    static const char *const ints[] = {"add", "mul", "min", "max", "and", "or", "xor"};
    static const char *const floats[] = {"add", "mul", "min", "max"};
    static const char *const bools[] = {"and", "or", "xor"};
    bool real = is_float(w->type), logic = is_bool(w->type);
    const char *const *kinds = real ? floats : logic ? bools : ints;
    int count = real ? COUNT(floats) : logic ? COUNT(bools) : COUNT(ints);
    two_inputs(w);
    for (int a = 0; a < w->shape.rank; a++)
        for (int i = w->any_order ? 2 : 0; i < count; i++) {
            put(w, "  %%r%d_%d = scan<%s, axis=%d%s> %%u\n", a, i, kinds[i], a,
                i & 1 ? ", reverse" : "");
            keep(w, "z", &w->shape, "r%d_%d", a, i);
        }
    return true;
}

/* Combinations given as regions, over tuples of one to eight tiles. */
static bool write_regions(Writer *w) {
    if (is_bool(w->type)) return false;
    two_inputs(w);
    int t = index_tile(w, &w->shape);
    for (int a = 0; a < w->shape.rank; a++) {
        Shape less = without(&w->shape, a);
        for (int scan = 0; scan < 2; scan++) {
            const Shape *to = scan ? &w->shape : &less;
            const char *op = scan ? "scan" : "reduce";
            int id = 2 * a + scan;
            /* the largest value and where it is, the first of equals; and a sum beside it */
            put(w, "  %%m%d, %%w%d, %%s%d = %s<region, axis=%d> %%u, %%t%d, %%v ", id, id, id, op,
                a, t);
            put(w, "(%%a0: %s, %%a1: i32, %%a2: %s, %%b0: %s, %%b1: i32, %%b2: %s) {\n", w->type,
                w->type, w->type, w->type);
            put(w, "    %%gt = cmp<gt> %%a0, %%b0 ; %%eq = cmp<eq> %%a0, %%b0 ; %%lt = cmp<lt> "
                   "%%a1, %%b1 ; %%e1 = and %%eq, %%lt ; %%c = or %%gt, %%e1\n");
            put(w, "    %%r0 = select %%c, %%a0, %%b0 ; %%r1 = select %%c, %%a1, %%b1 ; %%r2 = max "
                   "%%a2, %%b2 ; yield %%r0, %%r1, %%r2 }\n");
            keep(w, "z", to, "m%d", id);
            keep(w, "i", to, "w%d", id);
            keep(w, "z", to, "s%d", id);
        }
    }
    put(w,
        "  %%e0, %%e1, %%e2, %%e3, %%e4, %%e5, %%e6, %%e7 = reduce<region, axis=0> %%u, %%v, "
        "%%u, %%v, %%t%d, %%u, %%v, %%t%d (",
        t, t);
    for (int i = 0; i < 16; i++)
        put(w, "%s%%x%d: %s", i ? ", " : "", i, i % 8 == 4 || i % 8 == 7 ? "i32" : w->type);
    put(w, ") {\n");
    for (int i = 0; i < 8; i++) {
        static const char *const kinds[] = {"min", "max", "add"};
        put(w, "    %%y%d = %s %%x%d, %%x%d\n", i, kinds[is_float(w->type) ? i % 2 : i % 3], i,
            i + 8);
    }
    put(w, "    yield %%y0, %%y1, %%y2, %%y3, %%y4, %%y5, %%y6, %%y7 }\n");
    Shape less = without(&w->shape, 0);
    for (int i = 0; i < 8; i++) keep(w, i == 4 || i == 7 ? "i" : "z", &less, "e%d", i);
    return true;
}

static bool write_sorts(Writer *w) {
    if (is_bool(w->type)) return false;
    two_inputs(w);
    for (int a = 0; a < w->shape.rank; a++) {
        put(w, "  %%up%d = sort<axis=%d> %%u ; %%down%d = sort<axis=%d, desc> %%v\n", a, a, a, a);
        keep(w, "z", &w->shape, "up%d", a);
        keep(w, "z", &w->shape, "down%d", a);
    }
    if (is_float(w->type) || w->shape.rank > 1) return true;
    put(w, "  %%hi = histogram<10> %%u\n");
    keep(w, "i", &(Shape){1, {10}}, "hi");
    return true;
}

static bool write_memory(Writer *w) {
    const Shape *s = &w->shape;
    two_inputs(w);
    int t = index_tile(w, s);
    put(w, "  %%half = rem %%t%d, 2 ; %%odd = cmp<eq> %%half, 1 ; %%p = ptr_add %%x, %%t%d\n", t,
        t);
    put(w,
        "  %%l0 = load %%p, %%odd ; %%l1 = load %%p, %%odd, %%v ; %%l2 = load %%p, %%odd, %%s\n");
    for (int i = 0; i < 3; i++) keep(w, "z", s, "l%d", i);
    put(w, "  %%away = add %%t%d, %lld ; %%out = ptr_add %%z, %%away ; store %%out, %%u, %%odd\n",
        t, (long long)w->at);
    w->at += w->count;
    put(w,
        "  %%rev = sub %d, %%t%d ; %%rv = add %%rev, %lld ; %%pr = ptr_add %%z, %%rv ; store "
        "%%pr, %%v\n",
        w->count - 1, t, (long long)w->at);
    w->at += w->count;
    put(w,
        "  %%sp = ptr_add %%y, 5 ; %%sv = load %%sp ; %%so = ptr_add %%z, %lld ; store %%so, "
        "%%sv\n",
        (long long)w->at++);
    /* boxes that hang over every edge of a tensor */
    put(w, "  %%T = tensor %%x, [");
    for (int d = 0; d < s->rank; d++) put(w, "%s%d", d ? ", " : "", s->extent[d] + (d & 1));
    put(w, "], [");
    int stride = 1, strides[5];
    for (int d = s->rank; d-- > 0;) strides[d] = stride, stride *= s->extent[d] + (d & 1);
    for (int d = 0; d < s->rank; d++) put(w, "%s%d", d ? ", " : "", strides[d]);
    put(w, "]\n");
    for (int i = 0; i < 3; i++) {
        const char *offset = i == 0 ? "%zero" : i == 1 ? "-1" : "2";
        put(w, "  %%b%d = tload<fill=1%s> %%T, [", i, is_float(w->type) ? ".0" : "");
        for (int d = 0; d < s->rank; d++) put(w, "%s%s", d ? ", " : "", offset);
        put(w, "] : %s\n", typed(w->type, s));
        keep(w, "z", s, "b%d", i);
    }
    put(w, "  tstore %%T, [");
    for (int d = 0; d < s->rank; d++) put(w, "%s%d", d ? ", " : "", d & 1 ? -1 : 1);
    put(w, "], %%v\n");
    return true;
}

static bool write_atomics(Writer *w) {
    static const char *const ints[] = {"add", "min", "max", "and", "or", "xor", "xchg"};
    static const char *const floats[] = {"add", "min", "max", "xchg"};
    if (is_bool(w->type) || strchr(w->type, '8')) return false;
    bool real = is_float(w->type);
    const char *const *kinds = real ? floats : ints;
    static const char *const sems[] = {"relaxed", "acquire", "release", "acq_rel"};
    two_inputs(w);
    int t = index_tile(w, &w->shape);
    put(w, "  %%half = rem %%t%d, 3 ; %%odd = cmp<eq> %%half, 1\n", t);
    for (int i = 0; i < (real ? COUNT(floats) : COUNT(ints)); i++) {
        put(w, "  %%f%d = add %%t%d, %lld ; %%p%d = ptr_add %%z, %%f%d\n", i, t, (long long)w->at,
            i, i);
        w->at += w->count;
        put(w, "  %%old%d = atomic<%s, sem=%s> %%p%d, %%v%s\n", i, kinds[i], sems[i % 4], i,
            i & 1 ? ", %odd" : "");
        if (i & 1) /* what a masked element gives is not defined */
            put(w, "  %%was%d = select %%odd, %%old%d, %%v\n", i, i);
        keep(w, "z", &w->shape, i & 1 ? "was%d" : "old%d", i);
    }
    put(w,
        "  %%sp = ptr_add %%z, %lld ; %%so = atomic<%s> %%sp, %%s ; %%sw = atomic_cas %%sp, %%s, "
        "%%so\n",
        (long long)w->at++, real ? "max" : "add");
    keep(w, "z", &(Shape){0}, "so");
    keep(w, "z", &(Shape){0}, "sw");
    put(w,
        "  %%fc = add %%t%d, %lld ; %%pc = ptr_add %%z, %%fc ; store %%pc, %%u ; %%c = "
        "atomic_cas %%pc, %%u, %%v\n",
        t, (long long)w->at);
    w->at += w->count;
    keep(w, "z", &w->shape, "c");
    return true;
}

static bool write_control(Writer *w) {
    const char *add = is_bool(w->type) ? "xor" : "add", *sub = is_bool(w->type) ? "and" : "sub";
    two_inputs(w);
    put(w,
        "  %%r0, %%r1, %%n = for %%j = 0, 7, 2 (%%a = %%u, %%b = %%v, %%c = 0) {\n"
        "    %%d = %s %%a, %%b ; %%e = add %%c, %%j ; yield %%b, %%d, %%e }\n",
        add);
    keep(w, "z", &w->shape, "r0");
    keep(w, "z", &w->shape, "r1");
    keep(w, "i", &(Shape){0}, "n");
    put(w,
        "  %%w0, %%w1 = while (%%a = %%u, %%c = 0) {\n    %%go = cmp<lt> %%c, 3 ; test %%go, "
        "%%a, %%c } do (%%x0, %%x1) {\n    %%d = %s %%x0, %%v ; %%e = add %%x1, 1 ; yield %%d, "
        "%%e }\n",
        sub);
    keep(w, "z", &w->shape, "w0");
    put(w,
        "  %%c0 = cmp<eq> %%w1, %%n ; %%q0 = if %%c0 { yield %%u } { %%m = %s %%v, %%u ; yield "
        "%%m }\n",
        add);
    keep(w, "z", &w->shape, "q0");
    put(w, "  %%none, %%last = for %%j = 5, 5, 1 (%%a = %%u, %%b = %%v) { yield %%b, %%a }\n");
    keep(w, "z", &w->shape, "none");
    return true;
}

/* What functions give: not bits, but numbers close to the interpreter's. */
static bool write_math(Writer *w) {
    static const char *const names[] = {
        "exp",         "exp2",         "log",          "log2",        "sqrt",        "rsqrt",
        "sin",         "cos",          "tanh",         "erf",         "math<tan>",   "math<asin>",
        "math<acos>",  "math<atan>",   "math<sinh>",   "math<cosh>",  "math<log1p>", "math<log10>",
        "math<expm1>", "math<cbrt>",   "math<erfc>",   "math<asinh>", "math<acosh>", "math<atanh>",
        "math<exp10>", "math<lgamma>", "math<tgamma>", "math<logb>", "math<cyl_bessel_i0>",
        "math<cyl_bessel_i1>", "math<erfinv>", "math<normcdf>", "math<rcbrt>"};
    static const char *const two[] = {"math<atan2>",     "math<pow>",       "math<fmod>",
                                      "math<hypot>",     "math<copysign>",  "math<fdim>",
                                      "math<remainder>", "math<nextafter>", "math<ldexp>",
                                      "math<rhypot>"};
    if (!is_float(w->type)) return false;
    two_inputs(w);
    for (int i = 0; i < COUNT(names); i++) {
        put(w, "  %%r%d = %s %%u ; %%s%d = %s %%s\n", i, names[i], i, names[i]);
        keep(w, "z", &w->shape, "r%d", i);
        keep(w, "z", &(Shape){0}, "s%d", i);
    }
    for (int i = 0; i < COUNT(two); i++) {
        put(w, "  %%t_%d = %s %%u, %%v\n", i, two[i]);
        keep(w, "z", &w->shape, "t_%d", i);
    }
    return true;
}

/* The last two extents are M and N; K is 5 and 37; batches in front. */
static bool write_dots(Writer *w) {
    if (w->shape.rank < 2 || w->shape.rank > 3 || is_bool(w->type)) return false;
    char params[200];
    bool real = is_float(w->type), wide = strstr(w->type, "64") != NULL;
    bool unsign = w->type[0] == 'u', small = strchr(w->type, '8') || strstr(w->type, "16");
    const char *sum = wide ? w->type : real ? "f32" : unsign ? "u32" : "i32";
    snprintf(params, sizeof params, "%%x, %%y: *%s, %%z: *%s, %%h: *%s", w->type, sum, w->type);
    begin(w, params);
    int r = w->shape.rank;
    load(w, "c", "z", &w->shape, 0);
    w->at = w->count;
    for (int i = 0; i < 2; i++) {
        int k = i ? 37 : 5;
        Shape a = with(&w->shape, r - 1, k), b = with(&w->shape, r - 2, k);
        char left[8], right[8];
        snprintf(left, sizeof left, "a%d", i), snprintf(right, sizeof right, "b%d", i);
        load(w, left, "x", &a, 0);
        load(w, right, "y", &b, 1);
        put(w, "  %%d%d = dot %%a%d, %%b%d, %%c\n", i, i, i);
        keep(w, "z", &w->shape, "d%d", i);
        if (!real || !small || strchr(w->type, '8')) continue;
        put(w, "  %%n%d = cast %%c : %s ; %%s%d = dot %%a%d, %%b%d, %%n%d\n", i,
            typed(w->type, &w->shape), i, i, i, i);
        keep(w, "h", &w->shape, "s%d", i);
    }
    return true;
}

/* --- the table --- */

typedef struct Family {
    const char *name;
    bool (*write)(Writer *w); /* false: nothing to test for this type and shape */
    double tolerance;         /* in units of the type's last place; 0: every bit */
    bool plain;               /* ordinary numbers only */
    bool wide;                /* values matter more than shapes: without --all the longest shape is taken */
} Family;

static const Family families[] = {
    {"elementwise", write_elementwise, 0, false, true},
    {"broadcast", write_broadcast, 0, false, false},
    {"casts", write_casts, 0, false, true},
    {"bitcasts", write_bitcasts, 0, false, false},
    {"shapes", write_shapes, 0, false, false},
    {"reduces", write_reduces, 0, false, false},
    {"scans", write_scans, 0, false, false},
    {"regions", write_regions, 0, true, false},
    {"sorts", write_sorts, 0, false, false},
    {"memory", write_memory, 0, false, false},
    {"atomics", write_atomics, 0, false, true},
    {"control", write_control, 0, false, false},
    {"math", write_math, 16, true, false},
    {"dots", write_dots, 64, true, false},
};

static const Shape shapes[] = {
    {1, {17}},      {2, {3, 17}}, {1, {64}},         {3, {5, 1, 7}}, {1, {1}},
    {2, {17, 3}},   {2, {1, 64}}, {1, {100}},        {1, {3}},       {2, {64, 1}},
    {3, {3, 4, 5}}, {2, {1, 1}},  {4, {2, 3, 2, 5}}, {2, {8, 64}},   {2, {10, 10}},
};
static const Shape wide = {1, {600}};

static double last_place(const char *type) {
    return strstr(type, "64")              ? 0x1p-52
           : strcmp(type, "f32") == 0      ? 0x1p-23
           : strcmp(type, "f16") == 0      ? 0x1p-10
           : strcmp(type, "bf16") == 0     ? 0x1p-7
           : strncmp(type, "f8e4", 4) == 0 ? 0x1p-3
                                           : 0x1p-2;
}

typedef struct Options {
    bool all, list;
    const char *only, *target;
    Shard shard;
} Options;

/* 1 if there is something to test, in this shard or in another one. */
static int run_one(tw_context *cx, Writer *w, const Family *f, const char *type, const Shape *shape,
                   Options *o) {
    char name[120];
    snprintf(name, sizeof name, "%s %s", f->name, typed(type, shape));
    if (o->only && !strstr(name, o->only)) return 0;
    w->any_order = is_float(type) && (strncmp(o->target, "hip", 3) == 0 || strncmp(o->target, "cuda", 4) == 0);
    w->type = type;
    w->shape = *shape;
    w->count = elements(shape);
    if (!f->write(w)) return 0;
    if (!shard_takes(&o->shard)) return 1;
    put(w, "  return }\n");
    if (o->list) {
        printf("%s\n%s", name, w->text);
        return 1;
    }
    Case c = {.name = name,
              .text = w->text,
              .target = o->target,
              .tolerance = f->tolerance && is_float(type) ? f->tolerance * last_place(type) : 0,
              .plain = f->plain,
              .number = 0,
              .elements = w->at + 8000};
    int before = check_failures;
    case_check(cx, &c);
    if (check_failures != before) fprintf(stderr, "FAILED %s\n", name);
    return 1;
}

int main(int argc, char **argv) {
    Options o = {.target = "cpu", .shard = SHARD_ALL};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            o.all = true;
        else if (strcmp(argv[i], "--list") == 0)
            o.list = true;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
            o.only = argv[++i];
        else if (strcmp(argv[i], "--target") == 0 && i + 1 < argc)
            o.target = argv[++i];
        else if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc &&
                 shard_read(&o.shard, argv[i + 1]))
            i++;
        else
            return fprintf(stderr, "ops [--all] [--only SUBSTRING] [--target T] [--list] "
                                   "[--shard I/N]\n"),
                   2;
    }
    tw_context *cx = NULL;
    Writer w = {0};
    CHECK(tw_context_create(NULL, &cx) == TW_OK);
    int turn = 0;
    bool every = o.all || o.only;
    for (int f = 0; f < COUNT(families); f++)
        for (int t = 0; t < TYPES; t++, turn++) {
            int here = 0;
            if (every || families[f].wide) here = run_one(cx, &w, &families[f], all_types[t], &wide, &o);
            for (int s = 0; s < COUNT(shapes) && (every || !here); s++)
                here += run_one(cx, &w, &families[f], all_types[t],
                                &shapes[every ? s : (s + turn) % COUNT(shapes)], &o);
        }
    free(w.text);
    tw_context_destroy(cx);
    return o.list ? 0 : check_done();
}
