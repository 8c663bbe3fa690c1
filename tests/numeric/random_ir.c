/* SPDX-License-Identifier: Apache-2.0 */
/* random_ir.c: random kernels of Tile IR, run on the interpreter and on other targets (differential.h).
 *
 * What a Triton program rarely says comes here more often: boxes of tensors with fills, wraps, chosen dimensions,
 * negative strides and index vectors, slices and inserts at run-time places, loops that trade their values, whiles, reductions and scans
 * by a region, sums in either direction, casts of everything. Every result is defined bit by bit: float sums and products
 * are made of small whole numbers only, so that their order cannot be seen. Every fifth kernel is in ring form, right or spoiled
 * (ir_rings.h).
 *
 *     random_ir --count 100 --targets cpu
 */
#include "differential.h"

typedef struct Elem {
    const char *name;
    int dtype;
    char kind;    /* i, u, f, b */
    double exact; /* floats: whole numbers up to here are exact */
} Elem;
enum { I32, F32, I64, F16, BF16, I8, U8, I16, U32, U64, F64, I1, ELEMS };
static const Elem elems[ELEMS] = {
    {"i32", TW_I32, 'i', 0},     {"f32", TW_F32, 'f', 0x1p23}, {"i64", TW_I64, 'i', 0},      {"f16", TW_F16, 'f', 1024},
    {"bf16", TW_BF16, 'f', 128}, {"i8", TW_I8, 'i', 0},        {"u8", TW_U8, 'u', 0},        {"i16", TW_I16, 'i', 0},
    {"u32", TW_U32, 'u', 0},     {"u64", TW_U64, 'u', 0},      {"f64", TW_F64, 'f', 0x1p52}, {"i1", TW_I1, 'b', 0},
};
static bool is_float(int e) { return elems[e].kind == 'f'; }
static bool is_integer(int e) { return elems[e].kind == 'i' || elems[e].kind == 'u'; }

typedef struct Value {
    char name[16];
    int elem, rank;
    int64_t ext[3];
    double whole; /* floats: whole numbers of at most this magnitude; INFINITY: anything */
} Value;

enum { MOST = 300 };
typedef struct Gen {
    Choices *c;
    Program *p;
    char body[60000];
    size_t length;
    Value values[MOST];
    int count, next, depth, left;
} Gen;

#define COUNT(list) (uint32_t)(sizeof(list) / sizeof *(list))
static uint32_t draw(Gen *g, uint32_t n) { return pick(g->c, n); }

static void put(Gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(Gen *g, const char *format, ...) {
    va_list args;
    va_start(args, format);
    append(g->body, sizeof g->body, &g->length, format, args);
    va_end(args);
}

static const char *type_text(const Value *v) {
    static char room[4][80];
    static int turn;
    char *to = room[turn++ % 4];
    size_t n = (size_t)snprintf(to, 80, "%s", elems[v->elem].name);
    for (int d = 0; d < v->rank; d++)
        n += (size_t)snprintf(to + n, 80 - n, "%s%lld%s", d ? "," : "[", (long long)v->ext[d],
                              d == v->rank - 1 ? "]" : "");
    return to;
}

static int64_t elements(const Value *v) {
    int64_t n = 1;
    for (int d = 0; d < v->rank; d++) n *= v->ext[d];
    return n;
}
static bool same_shape(const Value *a, const Value *b) {
    return a->rank == b->rank && memcmp(a->ext, b->ext, (size_t)a->rank * sizeof *a->ext) == 0;
}

/* A new value, its name in it; the caller writes its op. Behind the last, one that nobody finds. */
static Value *define(Gen *g, Value like, double whole) {
    static Value spare;
    Value *v = g->count < MOST ? &g->values[g->count++] : &spare;
    *v = like;
    v->whole = is_float(v->elem) ? whole <= elems[v->elem].exact ? whole : INFINITY : INFINITY;
    snprintf(v->name, sizeof v->name, "v%d", g->next++);
    return v;
}

/* 0 is the latest that fits: elem -1 any, shape NULL any; whole: a float of known size, or no float. */
static bool find(Gen *g, int elem, const char *kinds, const Value *shape, int least, bool whole, Value *out) {
    for (int round = 0; round < 2; round++) {
        static uint32_t n, k;
        if (!round)
            n = 0;
        else if (!n)
            return false;
        else
            k = draw(g, n);
        for (int i = g->count - 1; i >= 0; i--) {
            const Value *v = &g->values[i];
            if ((elem >= 0 && v->elem != elem) || (kinds && !strchr(kinds, elems[v->elem].kind))) continue;
            if ((shape && !same_shape(v, shape)) || v->rank < least || (whole && is_float(v->elem) && isinf(v->whole)))
                continue;
            if (!round)
                n++;
            else if (k-- == 0)
                return *out = *v, true;
        }
    }
    return false;
}

static const char *number(Gen *g, int elem, double *size) {
    static const char *const reals[] = {"1.0", "2.0", "-3.0", "0.0"}, *const ints[] = {"1", "3",  "2", "0",
                                                                                       "7", "-1", "-5"};
    static const double sizes[] = {1, 2, 3, 0};
    uint32_t k = draw(g, is_float(elem) ? 4 : elems[elem].kind == 'i' ? 7 : 5);
    *size = is_float(elem) ? sizes[k] : 0;
    return is_float(elem) ? reals[k] : ints[k];
}

/* --- memory --- */

enum { ROWS = 24, COLUMNS = 40, DEPTH = 3 };
static Array *array(Gen *g, char letter, int elem, Flavour flavour, int64_t count) {
    Program *p = g->p;
    for (int a = 0; letter == 'x' && a < p->array_count; a++)
        if (p->arrays[a].name[0] == 'x' && p->arrays[a].dtype == elems[elem].dtype && p->arrays[a].flavour == flavour)
            return &p->arrays[a];
    if (p->array_count == MOST_ARRAYS) return NULL;
    Array *a = &p->arrays[p->array_count];
    snprintf(a->name, sizeof a->name, "%c%d", letter, p->array_count++);
    a->dtype = elems[elem].dtype, a->count = count, a->flavour = flavour, a->whole = 3;
    return a;
}

static void random_shape(Gen *g, Value *v) {
    static const int extents[] = {4, 8, 1, 7, 3, 16, 5, 17, 32, 2};
    v->rank = 1 + (int)(draw(g, 5) + 1) / 3;
    for (int d = 0; d < v->rank; d++) v->ext[d] = extents[draw(g, COUNT(extents))];
    while (elements(v) > 600) v->ext[0] = (v->ext[0] + 1) / 2;
}

/* A place along a dimension: mostly inside, sometimes across an edge, known or not. */
static const char *place(Gen *g, char *room, size_t size) {
    Value s;
    switch (draw(g, 5)) {
    case 0: return "0";
    case 1: snprintf(room, size, "%d", (int)draw(g, 50) - 6); break;
    case 2: snprintf(room, size, "%%n"); break;
    case 3: snprintf(room, size, "%%pid"); break;
    default:
        if (!find(g, I32, NULL, &(Value){.rank = 0}, 0, false, &s)) return "3";
        snprintf(room, size, "%%%s", s.name);
    }
    return room;
}

static bool value(Gen *g, int elem, const Value *shape, bool whole, Value *out);

/* Where the places of an axis lie, mostly inside: any integers, of any type. */
static const char *indices(Gen *g, int64_t extent, char *room, size_t size) {
    static const int types[] = {I32, I64, I8, U8, I16, U32, U64};
    static int deep; /* a vector may be loaded by another one */
    Value shape = {.rank = 1, .ext = {extent}}, v;
    int elem = types[draw(g, COUNT(types))];
    bool found = deep < 2;
    deep++;
    found = found && value(g, elem, &shape, false, &v);
    deep--;
    if (!found) return "0";
    int id = g->next++;
    put(g, "%%M%d = mod %%%s, %d ; %%N%d = sub %%M%d, %d\n", id, v.name, 23 + (int)draw(g, 5), id, id, (int)draw(g, 4));
    snprintf(room, size, "%%N%d", id);
    return room;
}

/* A box of a tensor of 24 x 40 (x 3) elements. */
static Value *load(Gen *g, int elem, const Value *shape) {
    Value v = *shape;
    v.elem = elem;
    Flavour flavour = elem == I1 ? PLAIN : (Flavour)(draw(g, 2) * 2);
    Array *a = array(g, 'x', elem, flavour, (int64_t)ROWS * COLUMNS * DEPTH);
    if (!a) return NULL;
    int id = g->next++;
    char at[3][40];
    bool wrap = draw(g, 6) == 5, reversed = draw(g, 8) == 7, chosen = v.rank == 2 && draw(g, 4) == 3;
    double size = 3, fill = 0;
    const char *places[3];
    for (int d = 0; d < 3; d++) places[d] = place(g, at[d], sizeof at[d]);
    for (int d = 0; d < v.rank && !wrap; d++)
        if (draw(g, 4) == 3) places[chosen ? 2 * d : d] = indices(g, v.ext[d], at[chosen ? 2 * d : d], sizeof at[d]);
    if (v.rank == 3 || chosen)
        put(g, "%%T%d = tensor %%%s, [%d, %d, %d], [%d, %d, 1]\n", id, a->name, DEPTH, ROWS, COLUMNS, ROWS * COLUMNS,
            COLUMNS);
    else if (v.rank == 2 && reversed)
        put(g, "%%B%d = ptr_add %%%s, %d ; %%T%d = tensor %%B%d, [%d, %d], [%d, -1]\n", id, a->name, COLUMNS - 1, id,
            id, ROWS, COLUMNS, COLUMNS);
    else if (v.rank == 2)
        put(g, "%%T%d = tensor %%%s, [%d, %d], [%s]\n", id, a->name, ROWS, draw(g, 2) ? COLUMNS : 21,
            draw(g, 3) == 2 ? "1, 24" : "40, 1");
    else
        put(g, "%%T%d = tensor %%%s, [%s], [%s]\n", id, a->name, draw(g, 2) ? "100" : "%n",
            draw(g, 3) == 2 ? "2" : "1");
    Value *r = define(g, v, 0);
    const char *filled = draw(g, 2) && !wrap ? number(g, elem, &fill) : NULL;
    r->whole = is_float(elem) && flavour == WHOLE ? fmax(size, fill) : INFINITY;
    put(g, "%%%s = tload", r->name);
    if (filled && elem != I1)
        put(g, "<fill=%s%s>", filled, chosen ? ", dims=[0,2]" : "");
    else if (wrap)
        put(g, chosen ? "<wrap=[0,2], dims=[0,2]>" : v.rank == 2 ? "<wrap=[1]>" : "<wrap=[0]>");
    else if (chosen)
        put(g, "<dims=[0,2]>");
    put(g, " %%T%d, [%s%s%s%s%s] : %s\n", id, places[0], v.rank > 1 ? ", " : "", v.rank > 1 ? places[1] : "",
        v.rank == 3 || chosen ? ", " : "", v.rank == 3 || chosen ? places[2] : "", type_text(&v));
    return r;
}

/* A value of that type: an old one, or a new one. */
static bool value(Gen *g, int elem, const Value *shape, bool whole, Value *out) {
    if (draw(g, 3) < 2 && find(g, elem, NULL, shape, 0, whole, out)) return true;
    if (shape->rank == 0 || whole || elem == I1) {
        double size;
        Value v = *shape;
        v.elem = elem;
        const char *text = elem == I1 ? (draw(g, 2) ? "true" : "false") : number(g, elem, &size);
        if (elem == I1) size = 0;
        Value *r = define(g, v, size);
        if (v.rank)
            put(g, "%%%s = splat %s : %s\n", r->name, text, type_text(r));
        else if (elem == I1)
            put(g, "%%%s = cmp<%s> %%n, 3\n", r->name, text[0] == 't' ? "lt" : "ge");
        else
            put(g, "%%%s_i = cast %%n : %s ; %%%s = mul %%%s_i, %s\n", r->name, elems[elem].name, r->name, r->name,
                text);
        if (!v.rank && is_float(elem)) r->whole = INFINITY;
        return *out = *r, !(whole && is_float(elem) && isinf(r->whole));
    }
    Value *r = load(g, elem, shape);
    return r ? *out = *r, true : false;
}

static void store(Gen *g, const Value *v) {
    int elem = v->elem;
    Array *a = array(g, 'y', elem, PLAIN, g->p->grid[0] * elements(v) + 16);
    if (!a) return;
    int id = g->next++;
    if (v->rank == 0) {
        put(g, "%%P%d = ptr_add %%%s, %%pid ; store %%P%d, %%%s\n", id, a->name, id, v->name);
        return;
    }
    if (v->rank == 2 && draw(g, 3) == 2) { /* rows in another order, some left out; or added, some to one place */
        int64_t rows = v->ext[0], columns = v->ext[1];
        bool adds = (elem == I32 || elem == U32 || elem == I64 || elem == U64) && draw(g, 2);
        put(g,
            "%%I%d = iota<0, %lld> ; %%O%d = mul %%pid, %lld ; %%F%d = flip<axis=0> %%I%d ; %%J%d = add %%F%d, %%O%d\n",
            id, (long long)rows, id, (long long)rows, id, id, id, id, id);
        put(g, "%%K%d = %s %%J%d, %d ; %%L%d = cmp<ne> %%I%d, %d ; %%V%d = select %%L%d, %%K%d, -1\n", id,
            adds ? "div" : "add", id, adds ? 2 : 0, id, id, (int)draw(g, 20), id, id, id);
        put(g, "%%S%d = tensor %%%s, [%lld, %lld], [%lld, 1] ; %s %%S%d, [%%V%d, 0], %%%s\n", id, a->name,
            (long long)(g->p->grid[0] * rows - (int64_t)draw(g, 2)),
            (long long)(columns - (columns > 1 && draw(g, 3) == 2)), (long long)columns,
            adds ? "tatomic<add>" : "tstore", id, id, v->name);
        return;
    }
    put(g, "%%O%d = mul %%pid, %lld ; %%R%d = reshape %%%s : %s[%lld]\n", id, (long long)elements(v), id, v->name,
        elems[elem].name, (long long)elements(v));
    if (draw(g, 2))
        put(g, "%%S%d = tensor %%%s, [%lld], [1] ; tstore %%S%d, [%%O%d], %%R%d\n", id, a->name,
            (long long)(g->p->grid[0] * elements(v) - (draw(g, 3) == 2)), id, id, id);
    else
        put(g, "%%I%d = iota<0, %lld> ; %%J%d = add %%I%d, %%O%d ; %%P%d = ptr_add %%%s, %%J%d ; store %%P%d, %%R%d\n",
            id, (long long)elements(v), id, id, id, id, a->name, id, id, id);
}

/* --- ops --- */

static void binary(Gen *g) {
    Value x, y;
    if (!find(g, -1, "iuf", NULL, 0, false, &x) || !value(g, x.elem, &x, false, &y)) return;
    static const char *const ints[] = {"add", "sub", "mul",      "min", "max", "and", "or",    "xor",
                                       "div", "rem", "floordiv", "mod", "shl", "shr", "mulhi", "cdiv"};
    static const char *const reals[] = {"add", "sub", "mul", "min", "max"};
    uint32_t op = draw(g, is_float(x.elem) ? COUNT(reals) : COUNT(ints));
    double size = op < 2 ? x.whole + y.whole : op == 2 ? x.whole * y.whole : fmax(x.whole, y.whole);
    Value *r = define(g, x, size);
    put(g, "%%%s = %s %%%s, %%%s\n", r->name, is_float(x.elem) ? reals[op] : ints[op], x.name, y.name);
}

static void unary(Gen *g) {
    Value x;
    if (!find(g, -1, NULL, NULL, 0, false, &x)) return;
    static const char *const ints[] = {"neg", "abs", "not", "popc", "clz"}, *const reals[] = {"neg",  "abs",   "floor",
                                                                                              "ceil", "trunc", "rint",
                                                                                              "round"};
    const char *op = elems[x.elem].kind == 'b' ? "not" : is_float(x.elem) ? reals[draw(g, COUNT(reals))] : ints[draw(g, COUNT(ints))];
    Value *r = define(g, x, x.whole);
    put(g, "%%%s = %s %%%s\n", r->name, op, x.name);
}

static bool compare(Gen *g, const Value *shape, Value *out) {
    static const char *const tests[] = {"lt", "gt", "eq", "ne", "le", "ge"};
    Value x, y;
    if (!find(g, -1, "iuf", shape, 0, false, &x) || !value(g, x.elem, &x, false, &y)) return false;
    Value like = x;
    like.elem = I1;
    Value *r = define(g, like, 0);
    put(g, "%%%s = cmp<%s> %%%s, %%%s\n", r->name, tests[draw(g, COUNT(tests))], x.name, y.name);
    return *out = *r, true;
}

static void choose(Gen *g) {
    Value x, y, c;
    if (!find(g, -1, NULL, NULL, 0, false, &x) || !value(g, x.elem, &x, false, &y) || !compare(g, &x, &c)) return;
    Value *r = define(g, x, fmax(x.whole, y.whole));
    put(g, "%%%s = select %%%s, %%%s, %%%s\n", r->name, c.name, x.name, y.name);
}

static void cast(Gen *g) {
    Value x;
    if (!find(g, -1, NULL, NULL, 0, false, &x)) return;
    Value like = x;
    like.elem = (int)draw(g, ELEMS);
    bool bits = is_integer(x.elem) && is_integer(like.elem) &&
                tw_dtype_size(elems[x.elem].dtype) == tw_dtype_size(elems[like.elem].dtype) && draw(g, 2);
    Value *r = define(g, like, is_float(x.elem) ? x.whole : x.elem == I1 ? 1 : INFINITY);
    put(g, "%%%s = %s %%%s : %s\n", r->name, bits ? "bitcast" : "cast", x.name, type_text(r));
}

static void move(Gen *g) {
    Value x, y;
    if (!find(g, -1, NULL, NULL, 1, false, &x)) return;
    Value like = x, *r;
    char at[3][40];
    switch (draw(g, 9)) {
    case 0:
        if (x.rank < 2) return;
        like.ext[x.rank - 1] = x.ext[x.rank - 2], like.ext[x.rank - 2] = x.ext[x.rank - 1];
        r = define(g, like, x.whole);
        put(g, "%%%s = permute<dims=[%s]> %%%s\n", r->name, x.rank == 2 ? "1,0" : "0,2,1", x.name);
        break;
    case 1:
        r = define(g, like, x.whole);
        put(g, "%%%s = flip<axis=%d> %%%s\n", r->name, (int)draw(g, (uint32_t)x.rank), x.name);
        break;
    case 2: {
        int64_t n = elements(&x), f = 1 + (int64_t)draw(g, 8);
        while (n % f) f--;
        like.rank = 2, like.ext[0] = f, like.ext[1] = n / f;
        r = define(g, like, x.whole);
        put(g, "%%%s = reshape %%%s : %s\n", r->name, x.name, type_text(r));
        break;
    }
    case 3:
        for (int d = 0; d < x.rank; d++) like.ext[d] = 1 + (int64_t)draw(g, (uint32_t)x.ext[d]);
        r = define(g, like, x.whole);
        for (int d = 0; d < x.rank; d++)
            snprintf(at[d], sizeof at[d], "%d", (int)draw(g, (uint32_t)(x.ext[d] - like.ext[d] + 1)));
        put(g, "%%%s = slice %%%s, [%s%s%s%s%s] : %s\n", r->name, x.name, at[0], x.rank > 1 ? ", " : "",
            x.rank > 1 ? at[1] : "", x.rank > 2 ? ", " : "", x.rank > 2 ? at[2] : "", type_text(r));
        break;
    case 4: {
        Value part = x;
        for (int d = 0; d < x.rank; d++) part.ext[d] = 1 + (int64_t)draw(g, (uint32_t)x.ext[d]);
        if (!value(g, x.elem, &part, false, &y)) return;
        for (int d = 0; d < x.rank; d++)
            snprintf(at[d], sizeof at[d], "%d", (int)draw(g, (uint32_t)(x.ext[d] - part.ext[d] + 1)));
        r = define(g, x, fmax(x.whole, y.whole));
        put(g, "%%%s = insert %%%s, [%s%s%s%s%s], %%%s\n", r->name, x.name, at[0], x.rank > 1 ? ", " : "",
            x.rank > 1 ? at[1] : "", x.rank > 2 ? ", " : "", x.rank > 2 ? at[2] : "", y.name);
        break;
    }
    case 5: {
        if (x.rank == 3 || !value(g, x.elem, &x, false, &y)) return;
        like.ext[like.rank++] = 2;
        r = define(g, like, fmax(x.whole, y.whole));
        put(g, "%%%s = join %%%s, %%%s\n", r->name, x.name, y.name);
        break;
    }
    case 6: {
        int axis = (int)draw(g, (uint32_t)x.rank);
        if (elements(&x) > 600 || !value(g, x.elem, &x, false, &y)) return;
        like.ext[axis] *= 2;
        r = define(g, like, fmax(x.whole, y.whole));
        put(g, "%%%s = cat<axis=%d> %%%s, %%%s\n", r->name, axis, x.name, y.name);
        break;
    }
    case 7: { /* places inside, outside, and several times */
        static const int types[] = {I32, I64, I8, U8, I16, U32, U64};
        Value part, index;
        random_shape(g, &part);
        if (!part.rank || !value(g, x.elem, &part, false, &y) || !value(g, types[draw(g, COUNT(types))], &y, false, &index)) return;
        bool folded = draw(g, 2);
        r = define(g, x, fmax(x.whole, y.whole));
        if (folded) put(g, "%%%s_i = mod %%%s, %lld ; ", r->name, index.name, (long long)(elements(&x) % 97 + 1));
        static const char *const kinds[] = {"", "<kind=add>", "<kind=min>", "<kind=max>"};
        bool whole = x.elem == I32 || x.elem == I8 || x.elem == U8 || x.elem == I16 || x.elem == U32;
        const char *kind = kinds[whole ? draw(g, 4) : 0];
        put(g, "%%%s = scatter%s %%%s, %%%s%s, %%%s\n", r->name, kind, x.name, folded ? r->name : index.name, folded ? "_i" : "",
            y.name);
        break;
    }
    default: {
        int axis = (int)draw(g, (uint32_t)x.rank);
        Value index = x;
        index.ext[axis] = 1 + (int64_t)draw(g, 6);
        if (!value(g, I32, &index, false, &y)) return;
        like.ext[axis] = index.ext[axis];
        r = define(g, like, x.whole);
        put(g, "%%%s_i = mod %%%s, %lld ; %%%s = gather<axis=%d> %%%s, %%%s_i\n", r->name, y.name,
            (long long)x.ext[axis], r->name, axis, x.name, r->name);
    }
    }
}

static void along(Gen *g) {
    static const char *const ints[] = {"add", "max", "min", "xor", "and", "or", "mul"}, *const reals[] = {"add", "max",
                                                                                                          "min"};
    Value x;
    bool sum = draw(g, 2);
    if (!find(g, -1, "iuf", NULL, 1, sum, &x)) return;
    int axis = (int)draw(g, (uint32_t)x.rank);
    double n = (double)x.ext[axis];
    const char *op = is_float(x.elem) ? sum ? "add" : reals[1 + draw(g, COUNT(reals) - 1)] : ints[draw(g, COUNT(ints))];
    double size = sum ? n * x.whole : x.whole;
    if (is_float(x.elem) && sum && size > elems[x.elem].exact) return;
    Value like = x, *r;
    uint32_t form = draw(g, 6);
    if (form == 5) {
        r = define(g, x, x.whole);
        put(g, "%%%s = sort<axis=%d%s> %%%s\n", r->name, axis, draw(g, 2) ? ", desc" : "", x.name);
        return;
    }
    if (form >= 3) {
        r = define(g, x, size);
        put(g, "%%%s = scan<%s, axis=%d%s> %%%s\n", r->name, op, axis, draw(g, 3) == 2 ? ", reverse" : "", x.name);
        return;
    }
    like.rank--;
    for (int d = axis; d < like.rank; d++) like.ext[d] = like.ext[d + 1];
    if (form == 2) {
        like.elem = I32;
        r = define(g, like, 0);
        put(g, "%%%s = reduce<%s, axis=%d> %%%s\n", r->name, draw(g, 2) ? "argmax" : "argmin", axis, x.name);
        return;
    }
    r = define(g, like, size);
    put(g, "%%%s = reduce<%s, axis=%d> %%%s\n", r->name, op, axis, x.name);
}

static void dot(Gen *g) {
    static const int types[] = {F32, F16, BF16, F64}, extents[] = {4, 8, 16, 1, 7, 17, 32};
    int elem = types[draw(g, COUNT(types))];
    int64_t m = extents[draw(g, COUNT(extents))], n = extents[draw(g, COUNT(extents))], k = extents[draw(g, COUNT(extents))];
    Value a = {.rank = 2, .ext = {m, k}}, b = {.rank = 2, .ext = {k, n}},
          z = {.rank = 2, .ext = {m, n}, .elem = elem == F64 ? F64 : F32}, x, y, c;
    if (!value(g, elem, &a, true, &x) || !value(g, elem, &b, true, &y) || !value(g, z.elem, &z, true, &c)) return;
    double size = (double)k * x.whole * y.whole + c.whole;
    if (size > elems[z.elem].exact) return;
    Value *r = define(g, z, size);
    put(g, "%%%s = dot %%%s, %%%s, %%%s\n", r->name, x.name, y.name, c.name);
}

static void statements(Gen *g, int most);

static void loop(Gen *g) {
    if (g->depth >= 2) return;
    int count = 1 + (int)draw(g, 3), id = g->next++, mark = g->count;
    bool is_while = draw(g, 3) == 2;
    Value start[3], end[3];
    for (int i = 0; i < count; i++)
        if (!find(g, -1, NULL, NULL, 0, false, &start[i])) return;
    for (int i = 0; i < count; i++) put(g, "%s%%L%d_%d", i ? ", " : "", id, i);
    if (is_while) {
        put(g, ", %%C%d = while (", id);
        for (int i = 0; i < count; i++) put(g, "%%a%d_%d = %%%s, ", id, i, start[i].name);
        put(g, "%%k%d = 0) {\n%%g%d = cmp<lt> %%k%d, %s ; test %%g%d, ", id, id, id, draw(g, 2) ? "%n" : "3", id);
        for (int i = 0; i < count; i++) put(g, "%%a%d_%d, ", id, i);
        put(g, "%%k%d } do (", id);
        for (int i = 0; i < count; i++) put(g, "%%b%d_%d, ", id, i);
        put(g, "%%q%d) {\n", id);
    } else {
        put(g, " = for %%k%d = %d, %s, %d (", id, (int)draw(g, 3), draw(g, 2) ? "%n" : "4", 1 + (int)draw(g, 2));
        for (int i = 0; i < count; i++) put(g, "%s%%b%d_%d = %%%s", i ? ", " : "", id, i, start[i].name);
        put(g, ") {\n");
    }
    Value counter = {.elem = I32};
    snprintf(define(g, counter, 0)->name, 16, "%c%d", is_while ? 'q' : 'k', id);
    for (int i = 0; i < count; i++) snprintf(define(g, start[i], INFINITY)->name, 16, "b%d_%d", id, i);
    g->depth++;
    statements(g, 5);
    g->depth--;
    for (int i = 0; i < count; i++)
        if (!find(g, start[i].elem, NULL, &start[i], 0, false, &end[i])) end[i] = start[i];
    if (is_while) put(g, "%%r%d = add %%q%d, 1\n", id, id);
    put(g, "yield ");
    for (int i = 0; i < count; i++) put(g, "%s%%%s", i ? ", " : "", end[i].name);
    if (is_while) put(g, ", %%r%d", id);
    put(g, "\n}\n");
    g->count = mark;
    for (int i = 0; i < count; i++) snprintf(define(g, start[i], INFINITY)->name, 16, "L%d_%d", id, i);
}

static void branch(Gen *g) {
    if (g->depth >= 2) return;
    Value x, c, a, b;
    if (!find(g, -1, NULL, NULL, 0, false, &x) || !compare(g, &(Value){.rank = 0}, &c)) return;
    int id = g->next++, mark = g->count;
    put(g, "%%W%d = if %%%s {\n", id, c.name);
    g->depth++;
    statements(g, 3);
    if (!find(g, x.elem, NULL, &x, 0, false, &a)) a = x;
    put(g, "yield %%%s } {\n", a.name);
    g->count = mark;
    statements(g, 2);
    if (!find(g, x.elem, NULL, &x, 0, false, &b)) b = x;
    put(g, "yield %%%s }\n", b.name);
    g->depth--;
    g->count = mark;
    snprintf(define(g, x, fmax(a.whole, b.whole))->name, 16, "W%d", id);
}

static void load_one(Gen *g) {
    Value shape = {0};
    random_shape(g, &shape);
    load(g, (int)draw(g, ELEMS - 1), &shape);
}
static void compare_one(Gen *g) {
    Value c;
    compare(g, NULL, &c);
}

static void statements(Gen *g, int most) {
    static const struct {
        void (*write)(Gen *g);
        int weight;
    } table[] = {{binary, 10}, {load_one, 5}, {unary, 3}, {choose, 3}, {cast, 5},  {compare_one, 1},
                 {move, 8},    {along, 6},    {dot, 2},   {loop, 3},   {branch, 2}};
    int total = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) total += table[i].weight;
    for (int done = 0; done < most && g->left > 0 && draw(g, 8) != 0; done++, g->left--) {
        int at = (int)draw(g, (uint32_t)total);
        size_t i = 0;
        while (at >= table[i].weight) at -= table[i++].weight;
        table[i].write(g);
    }
}

#include "ir_rings.h"

static const char *const families[] = {"rings", NULL};

static void generate(Choices *c, Program *p) {
    static Gen room;
    Gen *g = &room;
    memset(g, 0, sizeof *g);
    g->c = c, g->p = p, g->left = 30;
    p->file = "random.ir";
    p->grid[0] = 1 + draw(g, 3), p->grid[1] = p->grid[2] = 1;
    p->scalars[p->scalar_count++] = (Scalar){.name = "n", .i = draw(g, 6)};
    bool rings = wanted_family || draw(g, 5) == 4;
    if (rings)
        rings_kernel(g);
    else {
        put(g, "%%pid = program_id<0>\n");
        load_one(g);
        load_one(g);
        statements(g, 16);
    }
    for (int i = g->count - 1, stored = 0; i >= 0 && stored < 5; i--)
        if (draw(g, 8)) store(g, &g->values[i]), stored++;
    /* A product that overflows is no infinity any more inside of a fused multiply-add. */
    for (int a = 0; a < p->array_count && !p->set_count; a++)
        if (p->arrays[a].flavour == WILD) p->sets[p->set_count++] = (tw_pair){"fuse", "off"};
    add_text(p, "kernel @k(");
    for (int a = 0; a < p->array_count; a++)
        for (int e = 0; e < ELEMS; e++)
            if (elems[e].dtype == p->arrays[a].dtype) add_text(p, "%%%s: *%s, ", p->arrays[a].name, elems[e].name);
    add_text(p, "%%n: i32) {\n%sreturn }\n", g->body);
}

int main(int argc, char **argv) {
    family_names = families;
    return differential_main(argc, argv, "random_ir", generate);
}
