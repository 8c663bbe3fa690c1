/* SPDX-License-Identifier: Apache-2.0 */
/* triton_shapes.h: statements of random Triton kernels (random_triton.c) that change shapes or combine elements: reshapes, joins,
 * reductions, scans, sorts, gathers, dots. */
#ifndef TESTS_TRITON_SHAPES_H
#define TESTS_TRITON_SHAPES_H
#include "triton_elements.h"

/* --- shapes --- */

static void reshape(Gen *g) {
    Var *found = some(g, (Filter){.kinds = "iuf8b", .type = -1, .rank_least = 1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found), s = v;
    char shape[80], text[160];
    uint32_t op = draw(g, 9);
    switch (op) {
    case 0:
        if (v.rank < 2) return;
        s.ext[v.rank - 2] = v.ext[v.rank - 1], s.ext[v.rank - 1] = v.ext[v.rank - 2];
        snprintf(text, sizeof text, v.rank == 2 ? "tl.trans(%s)" : "tl.permute(%s, (0, 2, 1))", v.name);
        break;
    case 1:
        s.rank = 1, s.ext[0] = elements(&v);
        snprintf(text, sizeof text, draw(g, 2) ? "tl.ravel(%s)" : "tl.reshape(%s, (%lld,))", v.name, (long long)s.ext[0]);
        break;
    case 2: { /* another factorisation */
        int64_t n = elements(&v), f = 1 + (int64_t)draw(g, 8);
        while (n % f) f--;
        s.rank = 2, s.ext[0] = draw(g, 2) ? f : n / f, s.ext[1] = n / s.ext[0];
        shape_text(&s, shape, sizeof shape);
        snprintf(text, sizeof text, draw(g, 2) ? "tl.reshape(%s, %s)" : "%s.reshape(%s)", v.name, shape);
        break;
    }
    case 3: {
        if (v.rank == 3) return;
        int axis = (int)draw(g, (uint32_t)v.rank + 1);
        for (int d = v.rank; d > axis; d--) s.ext[d] = s.ext[d - 1];
        s.ext[axis] = 1, s.rank++;
        snprintf(text, sizeof text, "tl.expand_dims(%s, %d)", v.name, axis);
        break;
    }
    case 4:
        for (int d = 0; d < s.rank; d++)
            if (s.ext[d] == 1) s.ext[d] = 1 + (int64_t)draw(g, 5);
        if (elements(&s) > 2048) return;
        shape_text(&s, shape, sizeof shape);
        snprintf(text, sizeof text, "tl.broadcast_to(%s, %s)", v.name, shape);
        break;
    case 5: { /* flip wants a power of two in Triton; any extent here */
        int axis = (int)draw(g, (uint32_t)v.rank);
        if (v.type == I1 || dtypes[v.type].kind == '8') return;
        snprintf(text, sizeof text, "tl.flip(%s, %d)", v.name, axis);
        break;
    }
    case 6: {
        if (v.rank == 3 || elements(&v) > 1024) return;
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        s.ext[s.rank++] = 2;
        s.bound = fmax(v.bound, w->bound), s.error = fmax(v.error, w->error), s.whole = v.whole && w->whole;
        snprintf(text, sizeof text, "tl.join(%s, %s)", v.name, w->name);
        break;
    }
    case 7: {
        if (v.rank < 2 || v.ext[v.rank - 1] != 2) return;
        s.rank--;
        Var *a = new_var(g, s.type, s.rank, s.ext, v.bound, v.error, v.whole), *b = new_var(g, s.type, s.rank, s.ext, v.bound, v.error, v.whole);
        if (a && b) line(g, "%s, %s = tl.split(%s)", a->name, b->name, v.name);
        return;
    }
    default: {
        if (v.rank != 1 || elements(&v) > 1024 || v.type == I1) return;
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        s.ext[0] *= 2;
        s.bound = fmax(v.bound, w->bound), s.error = fmax(v.error, w->error), s.whole = v.whole && w->whole;
        snprintf(text, sizeof text, "tl.cat(%s, %s, can_reorder=False)", v.name, w->name);
    }
    }
    Var *r = new_var(g, s.type, s.rank, s.ext, s.bound, s.error, s.whole);
    if (r) line(g, "%s = %s", r->name, text);
}

/* --- along an axis --- */

static Var without_axis(const Var *v, int axis, bool keep) {
    Var s = *v;
    if (keep) {
        s.ext[axis] = 1;
        return s;
    }
    s.rank--;
    for (int d = axis; d < s.rank; d++) s.ext[d] = s.ext[d + 1];
    return s;
}

enum { COMBINE_SUM, COMBINE_MAX, COMBINE_PAIR, COMBINE_LINEAR };
static const char *const combine_text[] = {
    "@triton.jit\ndef combine_sum(a, b):\n    return a + b\n\n",
    "@triton.jit\ndef combine_max(a, b):\n    return tl.maximum(a, b).to(a.dtype)\n\n",
    "@triton.jit\ndef combine_pair(a, i, b, j):\n    less = (a < b) | ((a == b) & (i < j))\n    return tl.where(less, a, b), tl.where(less, i, j)\n\n",
    "@triton.jit\ndef combine_linear(a, x, b, y):\n    return a * b, x * b + y\n\n",
};

static void reduce(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 3});
    if (!found) return;
    Var v = copy_of(found);
    int axis = (int)draw(g, (uint32_t)v.rank);
    bool keep = draw(g, 4) == 3;
    Var s = without_axis(&v, axis, keep);
    double n = (double)v.ext[axis], unit = dtypes[v.type].unit;
    const char *t = dtypes[v.type].name, *kept = keep ? ", keep_dims=True" : "";
    Var *r;
    uint32_t op = draw(g, 9);
    if (op == 7 && !is_int(v.type)) op = 0;
    if (!known[REDUCE] && (op == 6 || op == 8)) op = 0;
    if ((op == 3 || op == 4 || op == 8) && v.error > 0) op = 1;
    switch (op) {
    case 0: case 5: case 6: {
        bool exact = !is_real(v.type) || (v.whole && n * v.bound * unit <= 0.25);
        double error = exact ? 0 : n * v.error + n * n * v.bound * unit * 2;
        if (is_real(v.type) && isinf(v.bound)) return;
        r = new_var(g, v.type, s.rank, s.ext, n * v.bound, error, exact);
        if (!r) return;
        if (op == 6) {
            g->combines |= 1u << COMBINE_SUM;
            line(g, "%s = tl.reduce(%s, %d, combine_sum%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        } else
            line(g, "%s = tl.sum(%s, axis=%d%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        break;
    }
    case 1: case 2:
        r = new_var(g, v.type, s.rank, s.ext, v.bound, v.error, v.whole);
        if (!r) return;
        if (known[REDUCE] && op == 2 && draw(g, 3) == 2 && !(is_real(v.type) && isinf(v.bound))) {
            g->combines |= 1u << COMBINE_MAX;
            line(g, "%s = tl.reduce(%s, %d, combine_max%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        } else
            line(g, "%s = tl.%s(%s, axis=%d%s).to(tl.%s)", r->name, op == 1 ? "max" : "min", v.name, axis, kept, t);
        break;
    case 3: case 4:
        r = new_var(g, I32, s.rank, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.%s(%s, axis=%d%s)", r->name, op == 3 ? "argmax" : "argmin", v.name, axis, kept);
        break;
    case 7:
        r = new_var(g, v.type, s.rank, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.xor_sum(%s, axis=%d%s).to(tl.%s)", r->name, v.name, axis, kept, t);
        break;
    default: {
        if (is_real(v.type) && isinf(v.bound)) return;
        Var *i = value(g, I32, v.rank, v.ext, false);
        if (!i || keep) return;
        char index[16];
        memcpy(index, i->name, sizeof index);
        r = new_var(g, v.type, s.rank, s.ext, v.bound, 0, v.whole);
        Var *j = new_var(g, I32, s.rank, s.ext, 0, 0, false);
        g->combines |= 1u << COMBINE_PAIR;
        if (r && j) line(g, "%s, %s = tl.reduce((%s, %s), %d, combine_pair)", r->name, j->name, v.name, index, axis);
    }
    }
}

static void scan(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 3, .bounded = true});
    if (!found) return;
    Var v = copy_of(found);
    int axis = (int)draw(g, (uint32_t)v.rank);
    double n = (double)v.ext[axis], unit = dtypes[v.type].unit;
    const char *t = dtypes[v.type].name, *back = draw(g, 3) == 2 ? ", reverse=True" : "";
    uint32_t op = draw(g, 5);
    if (is_real(v.type) && op > 0) op = op == 4 ? 4 : 0;
    if (!known[SCAN] && op >= 3) op = 0;
    bool exact = !is_real(v.type) || (v.whole && n * v.bound * unit <= 0.25);
    if (op == 4) { /* running maximum */
        Var *r = like(g, &v, v.bound, v.error, v.whole);
        g->combines |= 1u << COMBINE_MAX;
        if (r) line(g, "%s = tl.associative_scan(%s, %d, combine_max%s).to(tl.%s)", r->name, v.name, axis, back, t);
    } else if (op == 3) {
        Var *w = value(g, v.type, v.rank, v.ext, false);
        if (!w) return;
        char name[16];
        memcpy(name, w->name, sizeof name);
        Var *r = like(g, &v, 0, 0, false), *s = like(g, &v, 0, 0, false);
        g->combines |= 1u << COMBINE_LINEAR;
        if (r && s) line(g, "%s, %s = tl.associative_scan((%s, %s), %d, combine_linear%s)", r->name, s->name, v.name, name, axis, back);
    } else {
        Var *r = like(g, &v, n * v.bound, exact ? 0 : n * v.error + n * n * v.bound * unit * 2, exact);
        if (r) line(g, "%s = tl.%s(%s, axis=%d%s).to(tl.%s)", r->name, op == 1 ? "cumprod" : "cumsum", v.name, axis, back, t);
    }
}

/* sort, top k, histogram, gather */
static void arrange(Gen *g) {
    Var *found = some(g, (Filter){.type = -1, .rank_least = 1, .rank_most = 2, .exact = true});
    if (!found) return;
    Var v = copy_of(found);
    int last = v.rank - 1;
    Var s = v, *r;
    uint32_t op = draw(g, 4);
    static const int needed[] = {SORT, TOPK, HISTOGRAM, GATHER};
    if (!known[needed[op]]) return;
    switch (op) {
    case 0:
        r = like(g, &v, v.bound, 0, v.whole);
        if (r) line(g, "%s = tl.sort(%s%s)", r->name, v.name, draw(g, 2) ? ", descending=True" : "");
        break;
    case 1:
        s.ext[last] = 1;
        while (s.ext[last] * 2 <= v.ext[last] && draw(g, 2)) s.ext[last] *= 2;
        r = new_var(g, s.type, s.rank, s.ext, v.bound, 0, v.whole);
        /* the maximum that ends it widens narrow types */
        if (r) line(g, "%s = tl.topk(%s, %lld).to(tl.%s)", r->name, v.name, (long long)s.ext[last], dtypes[s.type].name);
        break;
    case 2:
        if (v.type != I32 || v.rank != 1) return;
        s.ext[0] = 1 + (int64_t)draw(g, 40);
        r = new_var(g, I32, 1, s.ext, 0, 0, false);
        if (r) line(g, "%s = tl.histogram(%s & 31, %lld)", r->name, v.name, (long long)s.ext[0]);
        break;
    default: {
        int axis = (int)draw(g, (uint32_t)v.rank);
        s.ext[axis] = 1 + (int64_t)draw(g, 9);
        Var *i = value(g, I32, s.rank, s.ext, false);
        if (!i) return;
        char name[16];
        memcpy(name, i->name, sizeof name);
        r = new_var(g, v.type, s.rank, s.ext, v.bound, 0, v.whole);
        if (r) line(g, "%s = tl.gather(%s, ((%s %% %lld) + %lld) %% %lld, %d)", r->name, v.name, name, (long long)v.ext[axis],
                    (long long)v.ext[axis], (long long)v.ext[axis], axis);
    }
    }
}

/* --- dot --- */

static void dot(Gen *g) {
    static const int types[] = {F16, F32, BF16, I8, F32, F16};
    static const int extents[] = {16, 32, 8, 4, 1, 17, 33, 20, 64, 5};
    int type = types[draw(g, 6)];
    int64_t batch = draw(g, 8) == 7 ? 1 + (int64_t)draw(g, 3) : 0, m = extents[draw(g, 10)], n = extents[draw(g, 10)], k = extents[draw(g, 10)];
    if (m * n > 1500) m = 16;
    int rank = batch ? 3 : 2, at = batch ? 1 : 0;
    int64_t a_ext[3] = {batch}, b_ext[3] = {batch}, c_ext[3] = {batch};
    a_ext[at] = m, a_ext[at + 1] = k, b_ext[at] = k, b_ext[at + 1] = n, c_ext[at] = m, c_ext[at + 1] = n;
    Var *found = value(g, type, rank, a_ext, true);
    if (!found) return;
    Var a = copy_of(found);
    found = value(g, type, rank, b_ext, true);
    if (!found) return;
    Var b = copy_of(found), z = {.whole = true};
    int out = type == I8 ? I32 : F32;
    if (draw(g, 2)) {
        found = value(g, out, rank, c_ext, true);
        if (found) z = copy_of(found);
    }
    double terms = (double)k, bound = terms * a.bound * b.bound + z.bound, unit = 0x1p-24;
    bool whole = a.whole && b.whole && z.whole, exact = type == I8 || (whole && bound * unit <= 0.25);
    double error = exact ? 0 : terms * (a.error * b.bound + b.error * a.bound + a.error * b.error) + z.error + (terms + 2) * bound * unit * 2;
    Var *r = new_var(g, out, rank, c_ext, bound, error, exact && type != I8);
    if (!r) return;
    const char *how = type != F32 ? "" : a.bound * 0x1p-10 < 1 && b.bound * 0x1p-10 < 1 && exact && draw(g, 2) ? "" : ", input_precision=\"ieee\"";
    const char *kind = type == I8 ? ", out_dtype=tl.int32" : "";
    if (z.name[0]) line(g, "%s = tl.dot(%s, %s, %s%s%s)", r->name, a.name, b.name, z.name, how, kind);
    else line(g, "%s = tl.dot(%s, %s%s%s)", r->name, a.name, b.name, how, kind);
}

/* A product as people write it: pointers advanced in a loop over K, with masks. */
static void matmul(Gen *g) {
    if (g->calls || g->depth > 1) return;
    static const int extents[] = {16, 32, 8, 17, 64, 5};
    int type = draw(g, 2) ? F16 : F32, id = g->next++;
    int64_t m = extents[draw(g, 6)], n = extents[draw(g, 6)], bk = extents[draw(g, 4)], k = (int64_t)draw(g, 70);
    if (m * n > 1500) m = 8;
    if (m * k > INPUT || n * k > INPUT) return;
    Array *a = new_array(g, 'm', type, m * k + 1, WHOLE), *b = a ? new_array(g, 'm', type, k * n + 1, WHOLE) : NULL;
    const char *runtime = scalar_argument(g, k);
    if (!b || !runtime) return;
    int64_t ext[2] = {m, n};
    line(g, "rm%d = tl.arange(0, %lld)\n%*srn%d = tl.arange(0, %lld)\n%*srk%d = tl.arange(0, %lld)", id, (long long)m, 4 * g->indent, "", id,
         (long long)n, 4 * g->indent, "", id, (long long)bk);
    line(g, "pa%d = %s + rm%d[:, None] * %s + rk%d[None, :]", id, a->name, id, runtime, id);
    line(g, "pb%d = %s + rk%d[:, None] * %lld + rn%d[None, :]", id, b->name, id, (long long)n, id);
    line(g, "acc%d = tl.zeros((%lld, %lld), tl.float32)", id, (long long)m, (long long)n);
    line(g, "for k%d in range(0, %s(%s, %lld)):", id, draw(g, 2) ? "tl.cdiv" : "triton.cdiv", runtime, (long long)bk);
    g->indent++;
    line(g, "la%d = tl.load(pa%d, mask=rk%d[None, :] < %s - k%d * %lld, other=0.0)", id, id, id, runtime, id, (long long)bk);
    line(g, "lb%d = tl.load(pb%d, mask=rk%d[:, None] < %s - k%d * %lld, other=0.0)", id, id, id, runtime, id, (long long)bk);
    line(g, draw(g, 2) ? "acc%d += tl.dot(la%d, lb%d)" : "acc%d = tl.dot(la%d, lb%d, acc%d)", id, id, id, id);
    line(g, "pa%d += %lld\n%*spb%d += %lld", id, (long long)bk, 4 * g->indent, "", id, (long long)(bk * n));
    g->indent--;
    Var *r = new_var(g, F32, 2, ext, (double)(k * a->whole * b->whole), 0, true);
    if (r) line(g, "%s = acc%d", r->name, id);
}
#endif
