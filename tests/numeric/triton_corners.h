/* SPDX-License-Identifier: Apache-2.0 */
/* triton_corners.h: random Triton kernels (random_triton.c) made of pieces that the other families do not reach.
 *
 *     atomics    every type, kind and order, with NaN, infinities and -0, one place for each element (and then their old values)
 *                or a few places for all of them; through pointers and descriptors
 *     along      reductions, scans, sorts with NaN and ties, in tiles that several warps share
 *     steps      loops whose first, last and step are arguments or negative numbers, loops without a trip, whiles around loops
 *     boxes      descriptors whose rows lie at odd distances, what one stored another one loads
 *     far        indices of 64 bits that are far outside where a mask of data says so, on one axis or both
 *     product    extents of 0, 1 and more, operands that are one array, sums split among programs, tasks by turns, every type
 *     rows       each trip of a loop loads, reduces and stores a row: in place, into what the next trip loads, or elsewhere
 *
 * Each piece keeps its results in arrays of its own. Sums are of small whole numbers, so that all comparisons are of bits; numbers of
 * warps and stages are drawn from all that there are, and may change nothing. */
#ifndef TESTS_TRITON_CORNERS_H
#define TESTS_TRITON_CORNERS_H
#include "triton_order.h"
#include "triton_rows.h"

/* The indices of a tile by axes, s{id}_{d}, and in `linear` its elements in order. */
static void corner_axes(Gen *g, const Var *v, int id, char *linear, size_t size) {
    size_t n = 0;
    int64_t step = elements(v);
    for (int d = 0; d < v->rank; d++) {
        step /= v->ext[d];
        line(g, "s%d_%d = tl.arange(0, %lld)%s", id, d, (long long)v->ext[d], axis_text(v->rank, d));
        n += (size_t)snprintf(linear + n, size - n, "%ss%d_%d * %lld", d ? " + " : "", id, d, (long long)step);
    }
}

/* Keeps a value that lies as the tile does, of some element type; every program at a place of its own. */
static void corner_keep(Gen *g, const Var *v, int type, const char *linear, const char *value) {
    Array *a = new_array(g, 'y', type, programs(g) * elements(v) + 16, PLAIN);
    if (a) line(g, "tl.store(%s + pid * %lld + %s, %s)", a->name, (long long)elements(v), v->rank ? linear : "0", value);
}

static Var corner_tile(Gen *g, int type, int64_t most) {
    static const int extents[] = {32, 64, 16, 1, 128, 7, 256, 3, 512, 100, 1024, 33};
    static const int ranks[] = {1, 2, 2, 3};
    Var v = {.type = type, .rank = ranks[draw(g, 4)]};
    int64_t n = 1;
    for (int d = 0; d < v.rank; d++) {
        v.ext[d] = extents[draw(g, 12)];
        while (n * v.ext[d] > most) v.ext[d] = (v.ext[d] + 1) / 2;
        n *= v.ext[d];
    }
    return v;
}

/* --- atomics --- */

static const char *corner_order(Gen *g) {
    static const char *const orders[] = {"", ", sem=\"relaxed\"", ", sem=\"acq_rel\", scope=\"gpu\"", ", sem=\"acquire\", scope=\"cta\"",
                                         ", sem=\"release\", scope=\"sys\""};
    return orders[draw(g, 5)];
}

static void corner_atomic(Gen *g) {
    static const int types[] = {F32, I32, F64, U32, I64, U64, F16, BF16};
    static const char *const names[] = {"add", "max", "min", "xchg", "and", "or", "xor"};
    int type = types[draw(g, 8)], id = g->next++;
    bool real = is_real(type), half = type == F16 || type == BF16, alone = draw(g, 3) < 2;
    Var v = corner_tile(g, type, 1024);
    char linear[200], mask[80] = "";
    int64_t n = elements(&v);
    uint32_t op = half ? draw(g, 2) * 3 : draw(g, real ? 4 : 7);
    if (!alone && op == 3) op = 0; /* which is the last one is not said */
    bool wild = draw(g, 3) && (alone || op == 1 || op == 2 || !real);
    Array *memory = new_array(g, 'a', type, programs(g) * n * 2 + 16, wild ? WILD : WHOLE), *from = new_array(g, 'x', type, n * 2, wild ? WILD : WHOLE);
    if (!memory || !from) return;
    memory->whole = from->whole = 2;
    if (type == F32 && op == 0 && wild) memory->error = 3e-38; /* a GPU's memory takes subnormals as zero */
    corner_axes(g, &v, id, linear, sizeof linear);
    line(g, "v%d = tl.load(%s + %s)", id, from->name, linear);
    if (draw(g, 2)) {
        line(g, "m%d = (tl.load(e0 + ((%s) & 127)) + %s) %% 3 != 1", id, linear, draw(g, 2) ? "pid" : "n0");
        snprintf(mask, sizeof mask, ", mask=m%d", id);
    }
    uint32_t form = draw(g, 4);
    if (!alone) line(g, "o%d = (%s) %% %d", id, linear, 1 + (int)draw(g, 40));
    else if (form == 0) line(g, "o%d = pid * %lld + %s", id, (long long)n, linear);
    else if (form == 1) line(g, "o%d = pid * %lld + %lld - (%s)", id, (long long)n, (long long)n - 1, linear);
    else if (form == 2) line(g, "o%d = (pid * %lld + %s) * 2", id, (long long)n, linear);
    else line(g, "o%d = pid * %lld + ((%s) + 5) %% %lld", id, (long long)n, linear, (long long)n);
    if (alone && !real && draw(g, 4) == 3) { /* compare and swap: about half of them are equal */
        line(g, "c%d = tl.where(v%d > 1, tl.load(%s + o%d), v%d)", id, id, memory->name, id, id);
        line(g, "w%d = tl.atomic_cas(%s + o%d, c%d, v%d%s)", id, memory->name, id, id, id, corner_order(g));
        mask[0] = 0;
    } else
        line(g, "w%d = tl.atomic_%s(%s + o%d, v%d%s%s)", id, names[op], memory->name, id, id, mask, corner_order(g));
    if (!alone || draw(g, 2)) return;
    char value[60];
    if (*mask) snprintf(value, sizeof value, "tl.where(m%d, w%d, v%d)", id, id, id);
    else snprintf(value, sizeof value, "w%d", id);
    corner_keep(g, &v, type, linear, value);
}

/* --- along an axis --- */

static void corner_along(Gen *g) {
    static const int types[] = {F32, I32, F16, BF16, F64, I8, U8, I64, U16, U32, I16};
    static const char *const scans[] = {"cumsum", "cumprod"};
    int type = types[draw(g, 11)], id = g->next++;
    Var v = corner_tile(g, type, 4096);
    bool real = is_real(type), wild = draw(g, 2);
    Array *from = new_array(g, 'x', type, elements(&v) * 2, wild ? WILD : WHOLE);
    char linear[200], value[120], rest[200] = "0";
    if (!from) return;
    corner_axes(g, &v, id, linear, sizeof linear);
    line(g, "v%d = tl.load(%s + %s)", id, from->name, linear);
    if (wild && draw(g, 3) == 2) line(g, "v%d = tl.where((%s) %% 5 == 1, v%d, 1).to(tl.%s)", id, linear, id, dtypes[type].name); /* ties */
    int axis = (int)draw(g, (uint32_t)v.rank);
    const char *t = dtypes[type].name;
    uint32_t op = draw(g, 9);
    if (op == 8 && v.rank == 3) op = 7;
    if (real && wild && (op == 0 || op == 6)) op = 1;
    if (op >= 6) {
        if (op == 6) snprintf(value, sizeof value, "tl.%s(v%d, axis=%d%s)", real ? "cumsum" : scans[draw(g, 2)], id, axis, draw(g, 2) ? ", reverse=True" : "");
        else if (op == 7) snprintf(value, sizeof value, "tl.associative_scan(v%d, %d, combine_max%s)", id, axis, draw(g, 2) ? ", reverse=True" : ""), g->combines |= 1u << COMBINE_MAX;
        else snprintf(value, sizeof value, "tl.sort(v%d%s)", id, draw(g, 2) ? ", descending=True" : "");
        line(g, "w%d = %s.to(tl.%s)", id, value, t);
        snprintf(value, sizeof value, "w%d", id);
        corner_keep(g, &v, type, linear, value);
        return;
    }
    static const char *const names[] = {"sum", "max", "min", "argmax", "argmin"};
    Var s = without_axis(&v, axis, false);
    int at = g->next++;
    if (s.rank) corner_axes(g, &s, at, rest, sizeof rest);
    if (op == 5) {
        line(g, "w%d, j%d = tl.%s(v%d, %d, return_indices=True)", id, id, draw(g, 2) ? "max" : "min", id, axis);
        snprintf(value, sizeof value, "j%d", id);
        corner_keep(g, &s, I32, rest, value);
    } else
        line(g, "w%d = tl.%s(v%d, axis=%d)", id, names[op], id, axis);
    snprintf(value, sizeof value, "w%d.to(tl.%s)", id, t);
    corner_keep(g, &s, op == 3 || op == 4 ? I32 : type, rest, op == 3 || op == 4 ? strtok(value, ".") : value);
}

/* --- steps of loops --- */

/* A loop, its variable k{id}; the caller writes the body. What the variable is at most, its trips at least counted. */
static void corner_range(Gen *g, int id, int *most) {
    int first = (int)draw(g, 5), step = 1 + (int)draw(g, 4), trips = (int)draw(g, 4), last = first + step * trips - (trips ? (int)draw(g, (uint32_t)step) : 0);
    *most = first + step * (trips ? trips - 1 : 0);
    switch (draw(g, 6)) {
    case 0: line(g, "for k%d in range(%s, %s, %s):", id, argument(g, first).text, argument(g, last).text, argument(g, step).text); break;
    case 1: line(g, "for k%d in range(%s, %s, -%d):", id, argument(g, last).text, argument(g, first).text, step), *most = last; break;
    case 2: line(g, "for k%d in tl.range(%s, %s, %s, num_stages=%d):", id, argument(g, first).text, argument(g, last).text, argument(g, step).text, 1 + (int)draw(g, 5)); break;
    case 3: line(g, "for k%d in range(%d, %d, -%d):", id, last, first, step), *most = last; break;
    case 4: line(g, "for k%d in range(%s, %s):", id, argument(g, last + 3).text, argument(g, first).text); break; /* none */
    default: line(g, "for k%d in range(pid, %s, tl.num_programs(0)):", id, argument(g, 6).text), *most = 5; break;
    }
}

static void corner_steps(Gen *g) {
    static const int types[] = {F16, F32, I32, I8, F64, BF16, U8, I64};
    int type = types[draw(g, 8)], id = g->next++, most;
    Var v = corner_tile(g, type, 2048);
    Array *from = new_array(g, 'x', type, 40 * 64 + elements(&v), WHOLE);
    char linear[200], value[40];
    if (!from) return;
    bool outer = draw(g, 3) == 2, pointer = draw(g, 2), early = draw(g, 3) == 2;
    corner_axes(g, &v, id, linear, sizeof linear);
    line(g, "w%d = tl.load(%s + %s)", id, from->name, linear);
    line(g, "b%d = w%d", id, id);
    if (pointer) line(g, "p%d = %s + %s", id, from->name, linear);
    if (outer) {
        line(g, "u%d = %s", id, argument(g, (int64_t)draw(g, 4)).text);
        line(g, "while u%d > 0:", id);
        g->indent++;
    }
    corner_range(g, id, &most);
    g->indent++;
    if (early) line(g, "if k%d %% 3 != %d:", id, (int)draw(g, 3)), g->indent++;
    if (pointer) {
        line(g, "w%d = (w%d + tl.load(p%d)).to(tl.%s)", id, id, id, dtypes[type].name);
        line(g, "p%d += %d", id, outer ? 1 : 1 + (int)draw(g, 32));
    } else
        line(g, "w%d = (w%d + tl.load(%s + %s + k%d * %d)).to(tl.%s)", id, id, from->name, linear, id, most > 20 ? 1 : (int)draw(g, 33), dtypes[type].name);
    if (draw(g, 2)) line(g, "b%d, w%d = w%d, b%d", id, id, id, id);
    if (early) g->indent--;
    if (draw(g, 3) == 2) line(g, "b%d = (b%d + k%d).to(tl.%s)", id, id, id, dtypes[type].name);
    g->indent--;
    if (outer) {
        line(g, "u%d -= 1", id);
        g->indent--;
    }
    snprintf(value, sizeof value, "w%d", id);
    corner_keep(g, &v, type, linear, value);
    snprintf(value, sizeof value, "b%d", id);
    corner_keep(g, &v, type, linear, value);
}

/* --- boxes --- */

static void corner_boxes(Gen *g) {
    static const int types[] = {F16, F32, BF16, I8, F8E5, F64, I32, U8, I16, I64};
    static const int extents[] = {16, 32, 64, 8, 128};
    int type = types[draw(g, 10)], id = g->next++, rank = 1 + (int)draw(g, 3);
    Var v = {.type = type, .rank = rank};
    int64_t n = 1, strides[3], shape[3], size = 1;
    for (int d = rank - 1; d >= 0; d--) {
        v.ext[d] = d == rank - 1 ? extents[draw(g, 5)] : extents[draw(g, 4)];
        while (n * v.ext[d] > 4096) v.ext[d] /= 2;
        n *= v.ext[d];
    }
    if (v.ext[rank - 1] * dtypes[type].bits < 128) v.ext[rank - 1] = 1024 / dtypes[type].bits;
    for (int d = rank - 1; d >= 0; d--) {
        shape[d] = draw(g, 3) ? v.ext[d] * 2 : v.ext[d] + (int64_t)draw(g, 9) - 3;
        if (shape[d] < 1) shape[d] = 1;
        strides[d] = size;
        size *= shape[d];
        if (d == rank - 1 && draw(g, 3)) size = (size + 15) / 16 * 16; /* else at odd distances */
    }
    size = (size + 15) / 16 * 16; /* a descriptor's base is a multiple of 16 bytes, as Triton asks */
    Array *memory = new_array(g, 'z', type, size * programs(g) + 64, WHOLE);
    if (!memory) return;
    char s[80], t[80], b[80], at[2][80], linear[200], value[40];
    list_text(shape, rank, s, sizeof s);
    list_text(strides, rank, t, sizeof t);
    list_text(v.ext, rank, b, sizeof b);
    for (int i = 0; i < 2; i++) {
        int64_t from[3];
        for (int d = 0; d < rank; d++) from[d] = (int64_t)draw(g, 3) * (draw(g, 2) ? 8 : 1) - (draw(g, 5) == 4 ? 2 : 0);
        list_text(from, rank, at[i], sizeof at[i]);
    }
    bool runtime = draw(g, 2);
    if (runtime) {
        s[0] = 0;
        size_t length = 0;
        for (int d = 0; d < rank; d++) length += (size_t)snprintf(s + length, sizeof s - length, "%s%s", d ? ", " : "", argument(g, shape[d]).text);
    }
    line(g, "d%d = tl.make_tensor_descriptor(%s + pid * %lld, shape=[%s], strides=[%s], block_shape=[%s])", id, memory->name, (long long)size, s, t, b);
    corner_axes(g, &v, id, linear, sizeof linear);
    int often = 1 + (int)draw(g, 2);
    line(g, "w%d = d%d.load([%s])", id, id, at[0]);
    for (int i = 0; i < often; i++) {
        bool loop = draw(g, 2);
        if (loop) line(g, "for k%d_%d in range(%s):", id, i, argument(g, (int64_t)draw(g, 3)).text), g->indent++;
        if (type != F8E5) line(g, "w%d = (w%d + 1).to(tl.%s)", id, id, dtypes[type].name);
        line(g, "d%d.store([%s], w%d)", id, at[1], id);
        line(g, "w%d = d%d.load([%s])", id, id, at[i & 1 ? 1 : 0]);
        if (loop) g->indent--;
    }
    snprintf(value, sizeof value, "w%d", id);
    corner_keep(g, &v, type, linear, value);
}

/* --- far indices --- */

static void corner_far(Gen *g) {
    static const int types[] = {F16, F32, I32, I8, F64, BF16, U8, I64, F8E5};
    int type = types[draw(g, 9)], id = g->next++;
    Var v = corner_tile(g, type, 2048);
    if (v.rank > 2) v.rank = 2;
    Array *from = new_array(g, 'x', type, 64 * 64 + 16, WHOLE), *to = new_array(g, 'a', type, 64 * 64 * programs(g) + 16, WHOLE);
    char linear[200], place[120] = "", mask[200] = "", value[40];
    if (!from || !to) return;
    corner_axes(g, &v, id, linear, sizeof linear);
    size_t p = 0, m = 0;
    for (int d = 0; d < v.rank; d++) {
        char index[40];
        snprintf(index, sizeof index, "i%d_%d", id, d);
        line(g, "j%d_%d = tl.arange(0, %lld)", id, d, (long long)v.ext[d]);
        if (draw(g, 3)) {
            line(g, "%s = tl.load(%s + (j%d_%d %% 200) + pid)", index, draw(g, 2) ? "h0" : "f0", id, d);
            if (draw(g, 2)) line(g, "%s = tl.where(j%d_%d %% 4 == 1, %s, j%d_%d %% 64)", index, id, d, index, id, d);
        } else
            line(g, "%s = j%d_%d.to(tl.int64) * %d", index, id, d, 1 + (int)draw(g, 2));
        p += (size_t)snprintf(place + p, sizeof place - p, "%s%s%s%s", d ? " + " : "", index, axis_text(v.rank, d), d == v.rank - 1 ? "" : " * 64");
        m += (size_t)snprintf(mask + m, sizeof mask - m, "%s((%s >= 0) & (%s < %s))%s", d ? " & " : "", index, index, argument(g, draw(g, 4) ? 64 : (int64_t)draw(g, 64)).text, axis_text(v.rank, d));
    }
    bool other = type != F8E5 && draw(g, 2);
    line(g, "w%d = tl.load(%s + (%s), mask=%s%s)", id, from->name, place, mask, other ? ", other=1" : type == F8E5 ? "" : ", other=0");
    snprintf(value, sizeof value, type == F8E5 ? "w%d.to(tl.float32)" : "w%d", id);
    corner_keep(g, &v, type == F8E5 ? F32 : type, linear, value);
    /* which of several elements of one place stays is not said: all of them are equal */
    if (draw(g, 2)) line(g, "tl.store(%s + pid * 4096 + (%s), %d, mask=%s)", to->name, place, 1 + (int)draw(g, 3), mask);
}

/* --- products --- */

static void corner_product(Gen *g) {
    static const int types[] = {F16, BF16, F32, I8, F8E5, F16, F64};
    static const int64_t sizes[] = {64, 33, 1, 0, 16, 128, 5, 100};
    static const int blocks[] = {64, 32, 16, 128};
    int type = types[draw(g, 7)], id = g->next++, bm = blocks[draw(g, 4)], bn = blocks[draw(g, 4)], bk = blocks[draw(g, 3)];
    int64_t m = sizes[draw(g, 8)], n = sizes[draw(g, 8)], k = sizes[draw(g, 8)];
    int sum = type == I8 ? I32 : type == F64 ? F64 : F32;
    if (type == F64) bm = bn = bk = 16;
    bool one = draw(g, 5) == 4, split = sum != F64 && draw(g, 4) == 3, turned = draw(g, 3) == 2;
    Array *a = new_array(g, 'x', type, 128 * 128 + 16, WHOLE), *b = one ? a : new_array(g, 'x', type, 128 * 128 + 16, WHOLE);
    Array *c = new_array(g, split ? 'a' : 'y', sum, 128 * 128 + 16, WHOLE);
    if (!a || !b || !c) return;
    a->whole = b->whole = 2;
    const Number M = argument(g, m), N = argument(g, n), K = argument(g, k);
    const char *other = type == F8E5 || type == I8 ? "" : ", other=0.0", *how = type == F32 ? draw(g, 2) ? ", input_precision=\"ieee\"" : ", input_precision=\"tf32\"" : "";
    const char *kind = type == I8 ? ", out_dtype=tl.int32" : type == F64 ? ", out_dtype=tl.float64" : "";
    line(g, "for q%d in range(pid, tl.cdiv(%s, %d) * tl.cdiv(%s, %d)%s, tl.num_programs(0)):", id, M.text, bm, N.text, bn, split ? " * 2" : "");
    g->indent++;
    line(g, "q = q%d%s", id, split ? " // 2" : "");
    line(g, "rm%d = q // tl.cdiv(%s, %d) * %d + tl.arange(0, %d)", id, N.text, bn, bm, bm);
    line(g, "rn%d = q %% tl.cdiv(%s, %d) * %d + tl.arange(0, %d)", id, N.text, bn, bn, bn);
    line(g, "acc%d = tl.zeros((%d, %d), tl.%s)", id, bm, bn, dtypes[sum].name);
    char from[40] = "0";
    if (split) snprintf(from, sizeof from, "q%d %% 2 * %d", id, bk);
    uint32_t form = draw(g, 3);
    if (form == 1) {
        line(g, "k%d = %s", id, from);
        line(g, "while k%d < %s:", id, K.text);
    } else
        line(g, "for k%d in %srange(%s, %s, %d%s):", id, form ? "tl." : "", from, K.text, split ? 2 * bk : bk, form ? ", num_stages=4" : "");
    g->indent++;
    line(g, "rk%d = k%d + tl.arange(0, %d)", id, id, bk);
    line(g, "la%d = tl.load(%s + rm%d[:, None] * 128 + rk%d[None, :], mask=(rm%d[:, None] < %s) & (rk%d[None, :] < %s)%s)", id, a->name, id, id, id, M.text, id, K.text, other);
    line(g, turned ? "lb%d = tl.load(%s + rk%d[:, None] + rn%d[None, :] * 128, mask=(rk%d[:, None] < %s) & (rn%d[None, :] < %s)%s)"
                   : "lb%d = tl.load(%s + rk%d[:, None] * 128 + rn%d[None, :], mask=(rk%d[:, None] < %s) & (rn%d[None, :] < %s)%s)",
         id, b->name, id, id, id, K.text, id, N.text, other);
    if (draw(g, 4) == 3 && type != F8E5) line(g, "la%d = tl.where(rk%d[None, :] %% 3 == 1, la%d, 1).to(tl.%s)", id, id, id, dtypes[type].name);
    line(g, "acc%d = tl.dot(la%d, lb%d, acc%d%s%s)", id, id, id, id, how, kind);
    if (form == 1) line(g, "k%d += %d", id, split ? 2 * bk : bk);
    g->indent--;
    line(g, "tl.%s(%s + rm%d[:, None] * 128 + rn%d[None, :], acc%d, mask=(rm%d[:, None] < %s) & (rn%d[None, :] < %s))", split ? "atomic_add" : "store", c->name, id, id, id, id, M.text, id, N.text);
    g->indent--;
}

/* --- rows --- */

/* A loop of which each trip loads, reduces and stores a row or a few: in place, into what the next trip loads, or elsewhere. */
static void corner_rows(Gen *g) {
    static const int types[] = {F16, BF16, F32, I8, F64, I32}, columns[] = {128, 256, 64, 1024, 100, 512};
    static const int64_t shifts[] = {0, 64, 8, 1, 256};
    int type = types[draw(g, 6)], id = g->next++, width = columns[draw(g, 6)], high = draw(g, 3) ? 1 : 1 << draw(g, 4), often = 1 + (int)draw(g, 2);
    if (width * high > 2048) high = 1;
    int64_t apart = draw(g, 3) == 2 ? width / 2 : width + (int64_t)draw(g, 2) * 8, trips = (int64_t)draw(g, 6), room = 8192 * (high > 1 ? 4 : 1);
    if (apart * high * 6 + width > room) apart = width;
    Array *from = new_array(g, 'm', type, room * programs(g) + 256, WHOLE), *to = from ? new_array(g, 'm', type, room * programs(g) + 256, WHOLE) : NULL;
    if (!to) return;
    if (draw(g, 2)) { /* one memory */
        to->of = (int)(from - g->p->arrays) + 1;
        to->shift = shifts[draw(g, 5)];
        to->count -= to->shift;
    }
    const Number n = argument(g, trips), stride = argument(g, apart), bound = argument(g, draw(g, 2) ? width : (int64_t)draw(g, (uint32_t)width));
    const char *t = dtypes[type].name;
    bool masked = draw(g, 2), sums = draw(g, 2), carried = draw(g, 3) == 2, weight = draw(g, 2);
    Var v = {.type = type, .rank = 1, .ext = {width}};
    line(g, "c%d = tl.arange(0, %d)", id, width);
    line(g, "r%d = tl.arange(0, %d)", id, high);
    line(g, "a%d = tl.zeros((%d,), tl.float32)", id, width);
    if (weight) line(g, "wt%d = tl.load(e0 + c%d %% 64) & 1", id, id);
    for (int turn = 0; turn < often; turn++) {
        int k = g->next++, stages = (int)draw(g, 6);
        char place[120], mask[80] = "", other[20] = "";
        if (carried) line(g, "p%d = %s + pid * %lld + r%d[:, None] * %s + c%d[None, :]", id, from->name, (long long)room, id, stride.text, id);
        if (stages) line(g, "for k%d in tl.range(0, %s, num_stages=%d):", k, n.text, stages);
        else line(g, "for k%d in range(%s):", k, n.text);
        g->indent++;
        snprintf(place, sizeof place, "pid * %lld + (k%d * %d + r%d)[:, None] * %s + c%d[None, :]", (long long)room, k, high, id, stride.text, id);
        if (masked) snprintf(mask, sizeof mask, ", mask=(c%d < %s)[None, :]", id, bound.text), snprintf(other, sizeof other, ", other=%d", (int)draw(g, 2));
        if (carried) line(g, "x%d_ = tl.load(p%d%s%s).to(tl.float32)", id, id, mask, other);
        else line(g, "x%d_ = tl.load(%s + %s%s%s).to(tl.float32)", id, from->name, place, mask, other);
        line(g, "s%d = tl.%s(x%d_, axis=1)", id, draw(g, 2) ? "sum" : "max", id);
        line(g, "y%d_ = ((x%d_ + s%d[:, None]%s%d%s).to(tl.int32) & 3).to(tl.%s)", id, id, id, weight ? " + wt" : " + ", weight ? id : 1, weight ? "[None, :]" : "", t);
        if (high == 1 || apart >= width) line(g, "tl.store(%s + %s, y%d_%s)", to->name, place, id, mask);
        else line(g, "tl.store(%s + %s, y%d_, mask=(r%d[:, None] == 0) & (c%d < %s)[None, :])", to->name, place, id, id, id, bound.text);
        if (sums) line(g, "a%d += tl.sum(y%d_.to(tl.float32), axis=0)", id, id);
        if (carried) line(g, "p%d += %d * %s", id, high, stride.text);
        g->indent--;
    }
    char linear[40], value[40];
    snprintf(linear, sizeof linear, "c%d", id);
    snprintf(value, sizeof value, "a%d", id);
    corner_keep(g, &v, F32, linear, value);
}

static void corners_kernel(Gen *g) {
    static void (*const pieces[])(Gen *g) = {corner_atomic, corner_along, corner_steps, corner_boxes, corner_far, corner_product, corner_rows, corner_rows};
    static const tw_pair plans[] = {
        {"num_warps", "1"}, {"num_warps", "2"}, {"num_warps", "8"}, {"num_warps", "16"}, {"num_stages", "1"}, {"num_stages", "2"}, {"num_stages", "4"},
        {"num_stages", "5"}, {"roles", "off"}, {"roles", "on"}, {"variant", "1"}, {"variant", "3"}, {"persist", "on"}, {"gang", "2"}, {"workers", "2"},
    };
    g->p->grid[0] = 1 + draw(g, 4), g->p->grid[1] = 1;
    draw_plans(g, plans, sizeof plans / sizeof *plans);
    line(g, "pid = tl.program_id(0)");
    scalar_argument(g, (int64_t)draw(g, 4)); /* n0 */
    line(g, "e0 = %s", new_array(g, 'e', I32, 256, PLAIN)->name);
    line(g, "f0 = %s", new_array(g, 'e', I64, 256, PLAIN)->name);
    line(g, "h0 = %s", new_array(g, 'e', I64, 256, WILD)->name);
    for (int i = 1 + (int)draw(g, 3); i > 0; i--) pieces[draw(g, 8)](g);
}
#endif
