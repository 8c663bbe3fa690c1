/* SPDX-License-Identifier: Apache-2.0 */
/* triton_elements.h: statements of random Triton kernels (random_triton.c) that work element by element: loads, stores, block
 * pointers, atomics, arithmetic, comparisons, casts. Each adds lines to the program and, for its result, a variable with what
 * is known of it. */
#ifndef TESTS_TRITON_ELEMENTS_H
#define TESTS_TRITON_ELEMENTS_H
#include "triton_values.h"

/* --- memory --- */

/* Writes the line(s) of an offset tile of v's shape, below `limit` for every program unless it may exceed it under a mask:
 * *largest is the largest offset. */
static void offsets(Gen *g, const Var *v, int id, int64_t *largest) {
    int64_t step = draw(g, 2) ? (int64_t)draw(g, 40) : 0, add = draw(g, 3) ? 0 : (int64_t)draw(g, 20);
    int64_t span = step * (programs(g) - 1) + add;
    switch (v->rank) {
    case 0: line(g, "o%d = pid * %lld + %lld", id, (long long)step, (long long)add); break;
    case 1: {
        int64_t n = v->ext[0], stride = n <= 512 && draw(g, 4) == 3 ? 2 + (int64_t)draw(g, 2) : 1;
        static const char *const forms[] = {"o%d = pid * %lld + tl.arange(0, %lld) * %lld + %lld",
                                            "o%d = pid * %lld + (%lld - 1 - tl.arange(0, %lld)) * %lld + %lld"};
        if (draw(g, 5) == 4)
            line(g, forms[1], id, (long long)step, (long long)n, (long long)n, (long long)stride, (long long)add);
        else if (stride == 1 && draw(g, 3) == 2)
            line(g, "o%d = pid * %lld + tl.arange(%lld, %lld)", id, (long long)step, (long long)add, (long long)(add + n));
        else
            line(g, forms[0], id, (long long)step, (long long)n, (long long)stride, (long long)add);
        span += (n - 1) * stride;
        break;
    }
    case 2: {
        int64_t m = v->ext[0], n = v->ext[1], rows = n, columns = 1;
        uint32_t form = draw(g, 4);
        if (form == 1) rows = n + 3;
        if (form == 2) rows = 1, columns = m;
        if (form == 3) rows = 0;
        if (rows * (m - 1) + columns * (n - 1) + span > INPUT - 64) rows = n, columns = 1;
        const char *runtime = draw(g, 3) == 2 ? scalar_argument(g, rows) : NULL;
        line(g, "rm%d = tl.arange(0, %lld)", id, (long long)m);
        line(g, "rn%d = tl.arange(0, %lld)", id, (long long)n);
        if (runtime)
            line(g, "o%d = pid * %lld + rm%d[:, None] * %s + rn%d[None, :] * %lld + %lld", id, (long long)step, id, runtime, id,
                 (long long)columns, (long long)add);
        else
            line(g, "o%d = pid * %lld + rm%d[:, None] * %lld + rn%d[None, :] * %lld + %lld", id, (long long)step, id, (long long)rows, id,
                 (long long)columns, (long long)add);
        span += rows * (m - 1) + columns * (n - 1);
        break;
    }
    default:
        line(g, "o%d = pid * %lld + tl.arange(0, %lld)[:, None, None] * %lld + tl.arange(0, %lld)[None, :, None] * %lld + "
                "tl.arange(0, %lld)[None, None, :]",
             id, (long long)step, (long long)v->ext[0], (long long)(v->ext[1] * v->ext[2]), (long long)v->ext[1], (long long)v->ext[2],
             (long long)v->ext[2]);
        span += elements(v) - 1;
    }
    *largest = span;
}

/* "" or ", mask=..": a mask of the offsets or of the rows and columns, or a truth value of that shape. */
static bool random_mask(Gen *g, const Var *v, int id, int64_t largest, char *text, size_t size) {
    text[0] = 0;
    const char *n = NULL;
    Filter truth = {.kinds = "b", .type = I1, .shape = v, .rank_most = 3};
    Var *c = NULL;
    switch (draw(g, v->rank == 2 ? 6 : 5)) {
    case 0: case 1: return false;
    case 2:
        snprintf(text, size, ", mask=o%d < %lld", id, (long long)draw(g, (uint32_t)largest + 2));
        return true;
    case 3:
        n = scalar_argument(g, (int64_t)draw(g, (uint32_t)largest + 2));
        if (!n) return false;
        snprintf(text, size, ", mask=o%d < %s", id, n);
        return true;
    case 4:
        c = some(g, truth);
        if (!c) return false;
        snprintf(text, size, ", mask=%s", c->name);
        return true;
    default:
        n = scalar_argument(g, (int64_t)draw(g, (uint32_t)v->ext[1] + 1));
        if (!n) return false;
        snprintf(text, size, ", mask=(rm%d[:, None] < %lld) & (rn%d[None, :] < %s)", id, (long long)draw(g, (uint32_t)v->ext[0] + 1), id, n);
        return true;
    }
}

static Var *make_full(Gen *g, int type, int rank, const int64_t *ext) {
    char shape[80], number[16];
    Var *v = new_var(g, type, rank, ext, 3, 0, false);
    if (!v) return NULL;
    shape_text(v, shape, sizeof shape);
    literal(g, type, number, sizeof number);
    v->whole = is_real(type) && literal_whole(number);
    if (draw(g, 2) && is_int(type) && rank == 1)
        line(g, "%s = tl.arange(0, %lld).to(tl.%s)", v->name, (long long)ext[0], dtypes[type].name);
    else if (type == I1)
        line(g, "%s = tl.full(%s, %s, tl.int32) > 0", v->name, shape, draw(g, 2) ? "1" : "0");
    else
        line(g, "%s = tl.full(%s, %s, tl.%s)", v->name, shape, number, dtypes[type].name);
    return v;
}

static Var *make_block_load(Gen *g, Array *a, int type, int rank, const int64_t *ext);

static Var *make_load(Gen *g, int type, int rank, const int64_t *ext) {
    if (g->calls || type == I1) return make_full(g, type, rank, ext);
    Array *a = input(g, type);
    if (!a) return make_full(g, type, rank, ext);
    if (rank > 0 && draw(g, 8) == 7 && known[BLOCK_POINTERS]) return make_block_load(g, a, type, rank, ext);
    char mask[120], other[60] = "", number[16];
    int64_t largest;
    double bound = bound_of(a);
    bool whole = a->flavour == WHOLE;
    int id = g->next++;
    Var shape = {.rank = rank};
    for (int d = 0; d < rank; d++) shape.ext[d] = ext[d];
    Filter index = {.kinds = "iu", .type = -1, .shape = &shape, .rank_most = 3};
    Var *at = draw(g, 6) == 5 ? some(g, index) : NULL;
    if (at) {
        line(g, "o%d = %s.to(tl.int32) & 127", id, at->name);
        largest = 127;
        if (rank == 2) line(g, "rm%d = tl.arange(0, %lld)\n%*srn%d = tl.arange(0, %lld)", id, (long long)ext[0], 4 * g->indent, "", id, (long long)ext[1]);
    } else {
        offsets(g, &shape, id, &largest);
    }
    if (random_mask(g, &shape, id, largest, mask, sizeof mask) && draw(g, 3)) {
        if (dtypes[type].kind != '8') snprintf(other, sizeof other, ", other=%s", literal(g, type, number, sizeof number));
        if (*other && !literal_whole(number)) whole = false;
        bound = bound < 3 ? 3 : bound;
    }
    Var *v = new_var(g, type, rank, ext, bound, 0, whole);
    if (v) line(g, "%s = tl.load(%s + o%d%s%s)", v->name, a->name, id, mask, other);
    return v;
}

/* A box of a larger array through a block pointer, partly outside of it. */
static Var *make_block_load(Gen *g, Array *a, int type, int rank, const int64_t *ext) {
    char shape[80] = "", strides[80] = "", at[80] = "", block[80] = "", order[40] = "", check[40] = "";
    int64_t have[3], stride = 1, steps[3];
    for (int d = rank - 1; d >= 0; d--) {
        have[d] = 1 + (int64_t)draw(g, (uint32_t)(ext[d] + 3));
        steps[d] = stride;
        stride *= have[d];
    }
    if (stride > INPUT) return make_full(g, type, rank, ext);
    for (int d = 0; d < rank; d++) {
#define TO(text) text + strlen(text), sizeof text - strlen(text)
        snprintf(TO(shape), "%lld,", (long long)have[d]);
        snprintf(TO(strides), "%lld,", (long long)steps[d]);
        snprintf(TO(at), "%d,", (int)draw(g, 4) - 1);
        snprintf(TO(block), "%lld,", (long long)ext[d]);
        snprintf(TO(order), "%d,", rank - 1 - d);
        snprintf(TO(check), "%d,", d);
#undef TO
    }
    bool whole = a->flavour == WHOLE;
    Var *v = new_var(g, type, rank, ext, bound_of(a), 0, whole);
    if (v)
        line(g, "%s = tl.load(tl.make_block_ptr(%s, shape=(%s), strides=(%s), offsets=(%s), block_shape=(%s), order=(%s)), boundary_check=(%s)%s)",
             v->name, a->name, shape, strides, at, block, order, check, draw(g, 2) ? ", padding_option=\"zero\"" : "");
    return v;
}

/* A value of that type and shape: an old one, or a new one. */
static Var *value(Gen *g, int type, int rank, const int64_t *ext, bool bounded) {
    Var shape = {.rank = rank};
    for (int d = 0; d < rank; d++) shape.ext[d] = ext[d];
    Filter f = {.kinds = "iuf8b", .type = type, .shape = &shape, .rank_most = 3, .bounded = bounded};
    Var *v = draw(g, 3) < 2 ? some(g, f) : NULL;
    if (v) return v;
    v = make_load(g, type, rank, ext);
    if (v && bounded && is_real(type) && isinf(v->bound)) v = make_full(g, type, rank, ext);
    return v;
}

static void store_linear(Gen *g, const Var *v, const char *array, const char *mask) {
    long long n = (long long)elements(v), e0 = v->rank ? v->ext[0] : 1, e1 = v->rank > 1 ? v->ext[1] : 1, e2 = v->rank > 2 ? v->ext[2] : 1;
    switch (v->rank) {
    case 0: line(g, "tl.store(%s + pid, %s)", array, v->name); break;
    case 1: line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld), %s%s)", array, n, e0, v->name, mask); break;
    case 2:
        line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld)[:, None] * %lld + tl.arange(0, %lld)[None, :], %s%s)", array, n, e0, e1, e1,
             v->name, mask);
        break;
    default:
        line(g, "tl.store(%s + pid * %lld + tl.arange(0, %lld)[:, None, None] * %lld + tl.arange(0, %lld)[None, :, None] * %lld + "
                "tl.arange(0, %lld)[None, None, :], %s%s)",
             array, n, e0, e1 * e2, e1, e2, e2, v->name, mask);
    }
}

/* Own array, own place a program; 16 elements behind the end must stay. */
static void store(Gen *g, const Var *v) {
    if (g->calls) return;
    int type = v->type == I1 ? I32 : v->type;
    Array *a = new_array(g, 'y', type, programs(g) * elements(v) + 16, PLAIN);
    if (!a) return;
    a->error = 2 * v->error;
    char mask[60] = "";
    if (v->rank == 1 && draw(g, 4) == 3) {
        const char *n = scalar_argument(g, (int64_t)draw(g, (uint32_t)v->ext[0] + 1));
        if (n) snprintf(mask, sizeof mask, ", mask=tl.arange(0, %lld) < %s", (long long)v->ext[0], n);
    }
    store_linear(g, v, a->name, mask);
}

static void store_and_load(Gen *g) {
    Var *v = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 2});
    if (!v || g->calls) return;
    Array *a = new_array(g, 's', v->type, programs(g) * elements(v) + 16, PLAIN);
    Var *w = a ? like(g, v, v->bound, v->error, v->whole) : NULL;
    if (!w) return;
    a->error = 2 * v->error;
    store_linear(g, v, a->name, "");
    if (draw(g, 2)) line(g, "tl.debug_barrier()");
    long long n = (long long)elements(v);
    if (v->rank == 1)
        line(g, "%s = tl.load(%s + pid * %lld + (%lld - tl.arange(0, %lld)))", w->name, a->name, n, n - 1, n);
    else
        line(g, "%s = tl.load(%s + pid * %lld + tl.arange(0, %lld)[:, None] + tl.arange(0, %lld)[None, :] * %lld)", w->name, a->name, n,
             (long long)v->ext[0], (long long)v->ext[1], (long long)v->ext[0]);
}

static void atomic(Gen *g) {
    static const int types[] = {I32, U32, I64, U64, F32};
    static const char *const names[] = {"add", "max", "min", "and", "or", "xor"};
    static const char *const sems[] = {"", ", sem=\"relaxed\"", ", sem=\"acq_rel\", scope=\"gpu\""};
    int type = types[draw(g, 5)];
    Var *v = some(g, (Filter){.type = type, .rank_most = 2, .exact = true, .bounded = true});
    if (!v || g->calls) return;
    if (type == F32 && (!v->whole || v->bound * (double)(elements(v) * programs(g)) * g->trips > 0x1p22)) return;
    Array *a = new_array(g, 'a', type, 64, WHOLE);
    if (!a) return;
    uint32_t op = draw(g, type == F32 ? 1 : 6);
    Filter index = {.kinds = "iu", .type = -1, .shape = v, .rank_most = 3};
    Var *at = some(g, index);
    char where[80] = "(pid & 31)";
    if (at) snprintf(where, sizeof where, "(%s.to(tl.int32) & 31)", at->name);
    else if (v->rank == 1) snprintf(where, sizeof where, "(tl.arange(0, %lld) & 31)", (long long)v->ext[0]);
    else if (v->rank == 2) return;
    line(g, "tl.atomic_%s(%s + %s, %s%s)", names[op], a->name, where, v->name, sems[draw(g, 3)]);
}

/* --- element by element --- */

/* How an operand of type `type` is written beside v: a variable of its shape or one that broadcasts, or a literal. */
typedef struct Operand {
    char text[60];
    double bound, error;
    bool whole;
    Var shape; /* of the result */
} Operand;

static bool operand(Gen *g, const Var *v, bool literals, Operand *o) {
    *o = (Operand){.shape = *v};
    uint32_t form = draw(g, 8);
    const Var *w = NULL;
    if (form == 7 && v->rank == 2) { /* a row or a column */
        bool row = draw(g, 2);
        Var want = {.rank = 1, .ext = {row ? v->ext[1] : v->ext[0]}};
        w = some(g, (Filter){.type = v->type, .shape = &want, .rank_most = 1});
        if (w) snprintf(o->text, sizeof o->text, row ? "%s[None, :]" : "%s[:, None]", w->name);
    } else if (form == 6) {
        w = some(g, (Filter){.type = v->type, .rank_most = 0});
        if (w) snprintf(o->text, sizeof o->text, "%s", w->name);
    }
    if (!w && form == 5 && literals) {
        literal(g, v->type, o->text, sizeof o->text);
        o->bound = 3;
        o->whole = literal_whole(o->text);
        return true;
    }
    if (!w) {
        w = value(g, v->type, v->rank, v->ext, false);
        if (!w) return false;
        snprintf(o->text, sizeof o->text, "%s", w->name);
    }
    o->bound = w->bound, o->error = w->error, o->whole = w->whole;
    return true;
}

static Var copy_of(const Var *v) { return *v; } /* vars may not move, but new ones are made while an old one is used */

static void binary(Gen *g) {
    Var *found = some(g, any);
    Operand o;
    if (!found) return;
    Var v = copy_of(found);
    if (!operand(g, &v, true, &o)) return;
    const char *t = dtypes[v.type].name;
    if (is_int(v.type)) {
        static const char *const forms[] = {"%s = (%s + %s)", "%s = (%s - %s)", "%s = (%s * %s)", "%s = tl.minimum(%s, %s)",
                                            "%s = tl.maximum(%s, %s)", "%s = (%s & %s)", "%s = (%s | %s)", "%s = (%s ^ %s)",
                                            "%s = (%s // %s)", "%s = (%s %% %s)", "%s = (%s << %s)", "%s = (%s >> %s)"};
        char text[160], shift[80];
        uint32_t op = draw(g, 12);
        if (op >= 10) { /* amounts within the width: beyond it Triton says nothing */
            if (isalpha((unsigned char)o.text[0])) snprintf(shift, sizeof shift, "(%s & %d)", o.text, dtypes[v.type].bits - 1);
            else snprintf(shift, sizeof shift, "%d", (int)draw(g, (uint32_t)dtypes[v.type].bits));
            memcpy(o.text, shift, sizeof o.text - 1);
        }
        if ((op == 8 || op == 9) && strcmp(o.text, "0") == 0) return;
        Var *r = like(g, &v, 0, 0, false);
        if (!r) return;
        snprintf(text, sizeof text, forms[op], r->name, v.name, o.text);
        line(g, "%s.to(tl.%s)", text, t);
        return;
    }
    double bound, error, unit = dtypes[v.type].unit;
    bool whole = v.whole && o.whole, loose = v.error > 0 || o.error > 0;
    Var *r;
    switch (draw(g, 6)) {
    case 0: case 1:
        bound = v.bound + o.bound, error = v.error + o.error + (loose ? bound * unit : 0);
        r = like(g, &v, bound, error, whole);
        if (r) line(g, "%s = (%s %c %s).to(tl.%s)", r->name, v.name, draw(g, 2) ? '-' : '+', o.text, t);
        break;
    case 2:
        bound = v.bound * o.bound;
        error = loose ? v.error * o.bound + o.error * v.bound + v.error * o.error + bound * unit : 0;
        r = like(g, &v, bound, error, whole);
        if (r) line(g, "%s = (%s * %s).to(tl.%s)", r->name, v.name, o.text, t);
        break;
    case 3:
        r = like(g, &v, fmax(v.bound, o.bound), fmax(v.error, o.error), whole);
        if (r) line(g, "%s = tl.%s(%s, %s).to(tl.%s)", r->name, draw(g, 2) ? "maximum" : "minimum", v.name, o.text, t);
        break;
    case 4: /* the divisor at least 1, so that errors do not grow */
        if (isinf(v.bound) || isinf(o.bound) || v.type == F16 || v.type == BF16) break;
        r = like(g, &v, v.bound, v.error + v.bound * o.error + 4 * v.bound * unit, false);
        if (r) line(g, "%s = (%s / (tl.abs(%s) + 1.0)).to(tl.%s)", r->name, v.name, isalpha((unsigned char)o.text[0]) ? o.text : v.name, t);
        break;
    default: {
        Var *z = value(g, v.type, v.rank, v.ext, false);
        if (!z || v.type == F16 || v.type == BF16 || loose || z->error > 0 || !isalpha((unsigned char)o.text[0])) break;
        Var zz = copy_of(z);
        r = like(g, &v, v.bound * o.bound + zz.bound, 0, whole && zz.whole);
        if (r) line(g, "%s = tl.fma(%s, %s, %s)", r->name, v.name, o.text, zz.name);
    }
    }
}

static void unary(Gen *g) {
    Var *found = some(g, any);
    if (!found) return;
    Var v = copy_of(found);
    uint32_t op = draw(g, 12);
    if (is_int(v.type)) {
        static const char *const forms[] = {"%s = -%s", "%s = ~%s", "%s = tl.abs(%s)"};
        Var *r = like(g, &v, 0, 0, false);
        if (!r) return;
        char text[80];
        op %= 3;
        if (op == 2 && dtypes[v.type].kind == 'u') op = 1;
        snprintf(text, sizeof text, forms[op], r->name, v.name);
        line(g, "%s", text);
        return;
    }
    double unit = dtypes[v.type].unit, b = v.bound, e = v.error;
    bool wide = v.type == F32 || v.type == F64;
    static const char *const names[] = {"-%s", "tl.abs(%s)", "tl.floor(%s)", "tl.ceil(%s)", "tl.exp(%s)", "tl.exp2(%s)", "tl.sqrt(tl.abs(%s) + 1.0)",
                                        "tl.sin(%s)", "tl.cos(%s)", "tl.sigmoid(%s)", "tl.log(tl.abs(%s) + 1.0)", "tl.math.rsqrt(tl.abs(%s) + 1.0)"};
    double bounds[] = {b, b, b + 1, b + 1, exp(b), exp2(b), sqrt(b) + 1, 1, 1, 1, b, 1};
    if (op >= 2 && !wide) op = 0;
    if (op >= 2 && op <= 3 && e > 0) op = 1;
    if (op >= 4 && !(b < (op <= 5 ? 8 : 1000))) op = 0;
    double bound = bounds[op], error = op < 4 ? e : (op <= 5 ? bound * e : e) + bound * unit * 8 + b * unit * (op >= 7 ? 8 : 0) * (op <= 5 ? bound : 1);
    Var *r = like(g, &v, bound, error, v.whole && op < 2);
    if (!r) return;
    char text[100];
    snprintf(text, sizeof text, names[op], v.name);
    line(g, "%s = %s", r->name, text);
}

static Var *comparison(Gen *g, const Var *shape) {
    static const char *const tests[] = {"<", ">", "==", "!=", "<=", ">="};
    Operand o;
    Var *found = some(g, (Filter){.type = -1, .shape = shape, .rank_most = 3, .exact = true});
    if (!found) return NULL;
    Var v = copy_of(found);
    if (!operand(g, &v, false, &o) || o.error > 0) return NULL;
    Var *r = new_var(g, I1, v.rank, v.ext, 0, 0, false);
    if (!r) return NULL;
    uint32_t form = draw(g, 8);
    Var *c = form == 7 ? some(g, (Filter){.kinds = "b", .type = I1, .shape = r, .rank_most = 3}) : NULL;
    if (c && c != r) line(g, "%s = (%s %s %s) %c %s", r->name, v.name, tests[draw(g, 6)], o.text, "&|^"[draw(g, 3)], c->name);
    else line(g, "%s = %s %s %s", r->name, v.name, tests[draw(g, 6)], o.text);
    return r;
}

static void where(Gen *g) {
    Var *found = some(g, any);
    Operand o;
    if (!found) return;
    Var v = copy_of(found);
    Filter truth = {.kinds = "b", .type = I1, .shape = &v, .rank_most = 3};
    Var *c = some(g, truth);
    if (!c) c = comparison(g, &v);
    if (!c) return;
    char name[16];
    memcpy(name, c->name, sizeof name);
    if (!operand(g, &v, true, &o)) return;
    Var *r = like(g, &v, fmax(v.bound, o.bound), fmax(v.error, o.error), v.whole && o.whole);
    if (r) line(g, "%s = tl.where(%s, %s, %s)", r->name, name, v.name, o.text);
}

static void cast(Gen *g) {
    Var *found = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found);
    int to = (int)draw(g, DTYPES);
    if (v.error > 0 && dtypes[to].kind != 'f') to = F32;
    bool bits = is_int(v.type) && to != I1 && dtypes[to].bits == dtypes[v.type].bits && draw(g, 3) == 2;
    if (dtypes[v.type].kind == '8') to = dtypes[to].kind == '8' ? v.type : F32;
    double bound = is_real(v.type) && !bits ? v.bound : INFINITY, unit = dtypes[to].unit;
    if (dtypes[to].kind == '8' && bound > dtypes[to].largest / 2) bound = INFINITY;
    bool was_truth = v.type == I1;
    Var *r = new_var(g, to, v.rank, v.ext, was_truth ? 1 : bound, v.error > 0 ? v.error + v.bound * unit : 0, (v.whole || was_truth) && is_real(to));
    if (!r) return;
    if (bits) line(g, "%s = %s.to(tl.%s, bitcast=True)", r->name, v.name, dtypes[to].name);
    else if (draw(g, 3) == 2) line(g, "%s = tl.cast(%s, tl.%s)", r->name, v.name, dtypes[to].name);
    else line(g, "%s = %s.to(tl.%s)", r->name, v.name, dtypes[to].name);
}
#endif
