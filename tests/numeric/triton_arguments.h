/* SPDX-License-Identifier: Apache-2.0 */
/* triton_arguments.h: statements of random Triton kernels (random_triton.c) whose arguments are hostile: bounds, strides and shifts that are
 * negative, zero, one, huge or equal to each other, sums and products of them that wrap around, ranges of one element, remainders of
 * negative numbers, bounds of 64 bits.
 *
 * Programs stay valid. What differs between programs or trips does not overflow (docs/ir.md); masks may hold anything, since every
 * address is inside without them: the generator knows the value of each argument that makes an address. */
#ifndef TESTS_TRITON_ARGUMENTS_H
#define TESTS_TRITON_ARGUMENTS_H
#include "triton_boxes.h"

/* --- arguments --- */

typedef struct Number {
    char text[24];
} Number;

/* A parameter of its own, the one that has this value already, or (when there are too many) the number itself. */
static Number argument(Gen *g, int64_t value) {
    Program *p = g->p;
    Number n;
    const char *name = NULL;
    if (draw(g, 2) && p->scalar_count < MOST_SCALARS) {
        Scalar *s = &p->scalars[p->scalar_count];
        snprintf(s->name, sizeof s->name, "n%d", p->scalar_count++);
        s->i = value;
        name = s->name;
    } else
        name = scalar_argument(g, value);
    if (name) snprintf(n.text, sizeof n.text, "%s", name);
    else snprintf(n.text, sizeof n.text, "(%lld)", (long long)value);
    return n;
}

static int64_t hostile(Gen *g) {
    static const int64_t numbers[] = {1,         0,         -1,            16,           5,     32,     7,       INT32_MAX,     INT32_MIN,
                                      65536,     46341,     -65536,        1 << 30,      -17,   64,     48,      INT32_MAX - 7, INT32_MIN + 3,
                                      1 << 16,   -3,        2,             (1LL << 31),  1LL << 32, -(1LL << 33), INT64_MAX, INT64_MIN};
    return numbers[draw(g, draw(g, 8) == 7 ? 26 : 21)];
}

/* Any argument, often one that others use too. */
static Number hostile_argument(Gen *g) {
    Program *p = g->p;
    Number n;
    int at = p->scalar_count ? (int)draw(g, (uint32_t)p->scalar_count) : 0;
    if (p->scalar_count < 4 || (p->scalar_count < MOST_SCALARS && draw(g, 2))) return argument(g, hostile(g));
    if (p->scalars[at].is_float) return argument(g, hostile(g));
    snprintf(n.text, sizeof n.text, "%s", p->scalars[at].name);
    return n;
}

/* A number that a mask compares with: arguments, alone or as sums and products that may wrap around. */
static void bound_text(Gen *g, char *text, size_t size) {
    const Number x = hostile_argument(g), y = hostile_argument(g), z = draw(g, 2) ? x : hostile_argument(g);
    const char *a = x.text, *b = y.text, *c = z.text;
    switch (draw(g, 17)) {
    case 0: snprintf(text, size, "%s", a); break;
    case 1: snprintf(text, size, "%s * %s", a, b); break;
    case 2: snprintf(text, size, "(%s + %s)", a, b); break;
    case 3: snprintf(text, size, "(%s - %s)", a, b); break;
    case 4: snprintf(text, size, "%s * %d", a, 1 + (int)draw(g, 70)); break;
    case 5: snprintf(text, size, "tl.minimum(%s, %s)", a, b); break;
    case 6: snprintf(text, size, "tl.maximum(%s, %s)", a, b); break;
    case 7: snprintf(text, size, "%s // %d", a, 1 + (int)draw(g, 20)); break;
    case 8: snprintf(text, size, "%s %% %d", a, 1 + (int)draw(g, 20)); break;
    case 9: snprintf(text, size, "tl.cdiv(%s, %d)", a, 1 + (int)draw(g, 20)); break;
    case 10: snprintf(text, size, "(0 - %s)", a); break;
    case 11: snprintf(text, size, "%s.to(tl.int64) * %s", a, b); break;
    case 12: snprintf(text, size, "(%s * %s).to(tl.int64)", a, b); break;
    case 13: snprintf(text, size, "%s * %s * %s", a, b, c); break;
    case 14: snprintf(text, size, "(%s * %s + %s)", a, b, c); break;
    case 15: snprintf(text, size, "(%s & 31)", a); break;
    default: snprintf(text, size, "(%s - %s * %d)", a, b, 1 + (int)draw(g, 16)); break;
    }
}

/* --- tiles of indices --- */

static const char *axis_text(int rank, int d) {
    static const char *const axes[3][3] = {{""}, {"[:, None]", "[None, :]"}, {"[:, None, None]", "[None, :, None]", "[None, None, :]"}};
    return axes[rank - 1][d];
}

static void axes(Gen *g, const Var *v, int id) {
    for (int d = 0; d < v->rank; d++)
        line(g, "r%d_%d = tl.arange(0, %lld)%s", id, d, (long long)v->ext[d], axis_text(v->rank, d));
}

/* What a mask compares: of some axis, and of nothing that an address is made of. `trip` is a loop's variable, or NULL. */
static void index_text(Gen *g, const Var *v, int id, const char *trip, char *text, size_t size) {
    char r[24];
    snprintf(r, sizeof r, "r%d_%d", id, (int)draw(g, (uint32_t)v->rank));
    int c = (int)draw(g, 20), form = (int)draw(g, 15);
    const Number number = form >= 8 && form <= 13 ? hostile_argument(g) : (Number){""};
    const char *n = number.text;
    switch (form) {
    case 0: snprintf(text, size, "%s", r); break;
    case 1: snprintf(text, size, "(%s + %d)", r, c); break;
    case 2: snprintf(text, size, "(%d - %s)", c, r); break;
    case 3: snprintf(text, size, "(pid * 8 + %s)", r); break;
    case 4: snprintf(text, size, "%s * 2", r); break;
    case 5: snprintf(text, size, "(%s - %d) %% 5", r, c); break;
    case 6: snprintf(text, size, "(%s - %d) // 3", r, c); break;
    case 7: snprintf(text, size, "%s.to(tl.int64)", r); break;
    case 8: snprintf(text, size, "(%s + %s)", r, n); break;
    case 9: snprintf(text, size, "%s * %s", r, n); break;
    case 10: snprintf(text, size, "(%s * %s - %s)", r, n, n); break;
    case 11: snprintf(text, size, "(%s + tl.arange(%d, %d)%s)", r, c, c + 1, v->rank == 1 ? "" : axis_text(v->rank, 0)); break;
    case 12: snprintf(text, size, "(%s * 8 + %s)", trip ? trip : "pid", r); break;
    case 13: snprintf(text, size, "tl.minimum(%s, %s)", r, n); break;
    default: snprintf(text, size, "(%s - %s * 8)", r, trip ? trip : "pid"); break;
    }
}

/* A mask over the tile, as an expression. */
static void mask_text(Gen *g, const Var *v, int id, const char *trip, char *text, size_t size) {
    static const char *const signs[] = {"<", "<", "<=", ">", ">=", "==", "!="};
    int count = 1 + (int)draw(g, 3);
    size_t n = 0;
    for (int i = 0; i < count; i++) {
        char index[100], bound[100], *first = index, *second = bound;
        index_text(g, v, id, trip, index, sizeof index);
        bound_text(g, bound, sizeof bound);
        if (draw(g, 3) == 2) first = bound, second = index;
        const char *cast = draw(g, 10) == 9 ? ".to(tl.uint32)" : "";
        n += (size_t)snprintf(text + n, size - n, "%s((%s)%s %s (%s)%s)", !i ? "" : draw(g, 6) == 5 ? " | " : " & ", first, cast,
                              signs[draw(g, 7)], second, cast);
    }
}

/* --- addresses --- */

static int32_t wrapped(int64_t x) { return (int32_t)(uint32_t)(uint64_t)x; }

/* The offset of the tile's first element, in one of the ways that come to the same number. */
static void base_text(Gen *g, int64_t base, char *text, size_t size) {
    int form = (int)draw(g, 6);
    int64_t p = wrapped(hostile(g)), q = wrapped(hostile(g));
    int32_t product = wrapped((int64_t)((uint64_t)p * (uint64_t)q)), sum = wrapped(p + q);
    if (form == 0 || g->p->scalar_count > MOST_SCALARS - 3) {
        snprintf(text, size, "%lld", (long long)base);
        return;
    }
    const Number rest = argument(g, form == 1   ? base
                                    : form == 2 ? wrapped(base - product)
                                    : form == 3 ? wrapped(base - sum)
                                    : form == 4 ? base - p * q /* in 64 bits */
                                                : wrapped(product - base));
    const Number a = argument(g, p), b = argument(g, q);
    switch (form) {
    case 1: snprintf(text, size, "%s", rest.text); break;
    case 2: snprintf(text, size, "(%s * %s + %s)", a.text, b.text, rest.text); break;
    case 3: snprintf(text, size, "(%s + %s + %s)", a.text, rest.text, b.text); break;
    case 4: snprintf(text, size, "(tl.cast(%s, tl.int64) * %s + %s)", a.text, b.text, rest.text); break;
    default: snprintf(text, size, "(%s * %s - %s)", b.text, a.text, rest.text); break;
    }
}

/* One axis of an address: its text, and how far below and above the base it goes. */
static void step_text(Gen *g, const Var *v, int id, int d, char *text, size_t size, int64_t *least, int64_t *most) {
    static const int strides[] = {1, 0, -1, 2, 16, -16, 3};
    int64_t last = v->ext[d] - 1, stride = draw(g, 4) == 3 ? v->ext[d] : strides[draw(g, 7)], from = 0, to = last;
    int c = (int)draw(g, 9);
    char index[60];
    snprintf(index, sizeof index, "r%d_%d", id, d);
    int64_t modulus = 1 + (int64_t)draw(g, 12) - (draw(g, 6) == 5 ? 13 : 0); /* never 0 */
    int form = (int)draw(g, 9);
    const Number number = form >= 5 ? argument(g, modulus) : (Number){""};
    const char *m = number.text;
    int64_t reach = (modulus < 0 ? -modulus : modulus) - 1;
    switch (form) {
    case 5: snprintf(index, sizeof index, "((r%d_%d + %d) %% %s)", id, d, c, m), from = 0, to = reach; break;
    case 6: snprintf(index, sizeof index, "((r%d_%d - %d) %% %s)", id, d, c, m), from = -reach, to = reach; break;
    case 7: snprintf(index, sizeof index, "((r%d_%d - %d) // %d)", id, d, c, 1 + c % 4), from = -c, to = last; break;
    case 8:
        from = modulus < 0 ? modulus : 0;
        snprintf(index, sizeof index, "tl.minimum(r%d_%d, %s)", id, d, m);
        break;
    default: break;
    }
    if (draw(g, 2)) snprintf(text, size, "%s * %lld", index, (long long)stride);
    else snprintf(text, size, "%s * %s", index, argument(g, stride).text);
    int64_t x = from * stride, y = to * stride;
    *least += x < y ? x : y;
    *most += x < y ? y : x;
}

/* o<id>: offsets that are all inside an input. */
static bool hostile_offsets(Gen *g, const Var *v, int id, const char *trip, int trips) {
    char parts[3][120], base[120];
    int64_t least = 0, most = 0;
    for (int d = 0; d < v->rank; d++)
        step_text(g, v, id, d, parts[d], sizeof parts[d], &least, &most);
    int64_t step = (int64_t)draw(g, 40) - 8, per = (int64_t)draw(g, 20);
    int64_t gone = trip ? step * (trips > 0 ? trips - 1 : 0) : 0;
    if (gone < 0) least += gone;
    else most += gone;
    most += per * (programs(g) - 1);
    int64_t room = INPUT - 1 - (most - least);
    if (room < 0) return false;
    base_text(g, -least + (int64_t)draw(g, room > 50 ? 50 : (uint32_t)room + 1), base, sizeof base);
    line(g, "o%d = %s + pid * %d", id, base, (int)per);
    for (int d = 0; d < v->rank; d++) line(g, "o%d = %s + o%d", id, parts[d], id);
    if (trip) line(g, "o%d += %s * %s", id, trip, argument(g, step).text);
    return true;
}

/* --- statements --- */

/* A launch that fails what is required goes from variant to variant, and each is compiled: mostly it begins at the end. */
static void choose_variant(Gen *g) {
    static const char *const variants[] = {"5", "4", "3"};
    Program *p = g->p;
    for (int i = 0; i < p->set_count; i++)
        if (strcmp(p->sets[i].name, "variant") == 0) return;
    uint32_t n = draw(g, 6);
    p->sets[p->set_count++] = (tw_pair){"variant", n < 4 ? "5" : n == 4 ? variants[draw(g, 3)] : "0"};
}

static Var hostile_tile(Gen *g, int type, int64_t most) {
    choose_variant(g);
    Var v = {.type = type};
    random_shape(g, &v.rank, v.ext, most);
    if (draw(g, 4) == 3) v.ext[draw(g, (uint32_t)v.rank)] = 1;
    return v;
}

/* An own array, under a mask. */
static void store_hostile(Gen *g, const Var *v, int id) {
    Array *a = new_array(g, 'y', v->type, programs(g) * elements(v) + 16, PLAIN);
    char mask[700], text[720];
    if (!a) return;
    mask_text(g, v, id, NULL, mask, sizeof mask);
    snprintf(text, sizeof text, ", mask=%s", mask);
    store_linear(g, v, a->name, text);
}

/* A load under a mask, and perhaps a store under another one. */
static void hostile_load(Gen *g) {
    static const int types[] = {F32, I32, F16, U8, I64};
    Var box = hostile_tile(g, types[draw(g, 5)], 1024);
    int id = g->next++;
    char mask[700], number[16];
    Array *a = g->calls ? NULL : input(g, box.type);
    if (!a) return;
    axes(g, &box, id);
    if (!hostile_offsets(g, &box, id, NULL, 0)) return;
    mask_text(g, &box, id, NULL, mask, sizeof mask);
    bool masked = draw(g, 5) != 4;
    const char *other = literal(g, box.type, number, sizeof number);
    Var *v = new_var(g, box.type, box.rank, box.ext, fmax(bound_of(a), 3), 0, a->flavour == WHOLE && literal_whole(other));
    if (!v) return;
    Var kept = *v;
    if (masked) line(g, "%s = tl.load(%s + o%d, mask=%s, other=%s)", v->name, a->name, id, mask, other);
    else line(g, "%s = tl.load(%s + o%d)", v->name, a->name, id);
    if (draw(g, 2)) store_hostile(g, &kept, id);
}

/* A box whose extents, strides and place are arguments: nothing of it may lie inside. */
static void hostile_box(Gen *g) {
    static const int64_t extents[] = {8, 1, 0, -1, 5, 16, 33, INT32_MIN}, places[] = {0, 1, -3, 2, 7, INT32_MAX, INT32_MIN, INT32_MAX - 5};
    Var box = hostile_tile(g, I32, 256);
    char shape[120] = "", strides[120] = "", at[120] = "", block[80] = "", check[40] = "", order[40] = "";
    int id = g->next++;
    bool descriptor = draw(g, 2) || !known[BLOCK_POINTERS], wide = box.ext[box.rank - 1] >= 4; /* 16 bytes */
    Array *a = g->calls || box.rank > 2 || (descriptor && !wide) ? NULL : input(g, I32);
    if (!a) return;
    for (int d = 0; d < box.rank; d++) {
        int64_t stride = d == box.rank - 1 ? 1 : (int64_t)draw(g, 5) * 4;
#define TO(text) text + strlen(text), sizeof text - strlen(text)
        snprintf(TO(shape), "%s,", argument(g, extents[draw(g, 8)]).text);
        if (d == box.rank - 1) snprintf(TO(strides), "1,");
        else snprintf(TO(strides), "%s,", argument(g, stride).text);
        snprintf(TO(at), "%s,", argument(g, places[draw(g, 8)]).text);
        snprintf(TO(block), "%lld,", (long long)box.ext[d]);
        snprintf(TO(check), "%d,", d);
        snprintf(TO(order), "%d,", box.rank - 1 - d);
#undef TO
    }
    Var *v = new_var(g, I32, box.rank, box.ext, 0, 0, false);
    if (!v) return;
    if (descriptor) {
        line(g, "d%d = tl.make_tensor_descriptor(%s, shape=[%s], strides=[%s], block_shape=[%s])", id, a->name, shape, strides, block);
        line(g, "%s = d%d.load([%s])", v->name, id, at);
    } else
        line(g, "%s = tl.load(tl.make_block_ptr(%s, shape=(%s), strides=(%s), offsets=(%s), block_shape=(%s), order=(%s)), boundary_check=(%s))",
             v->name, a->name, shape, strides, at, block, order, check);
}

/* A loop that loads under masks which move with it, and masks what it has. */
static void hostile_loop(Gen *g) {
    int id = g->next++, trips = (int)draw(g, 5);
    char mask[700], trip[16];
    bool large = draw(g, 3) == 2;
    if (g->calls || g->depth >= 2) return;
    Var box = hostile_tile(g, I32, 512);
    if (large) box = (Var){.type = I32, .rank = 2, .ext = {32, 64}};
    Array *a = input(g, I32);
    const Number n = argument(g, trips);
    Var *v = a ? new_var(g, I32, box.rank, box.ext, 0, 0, false) : NULL;
    if (!v) return;
    char shape[80], name[16];
    memcpy(name, v->name, sizeof name);
    snprintf(trip, sizeof trip, "k%d", id);
    shape_text(&box, shape, sizeof shape);
    axes(g, &box, id);
    line(g, "%s = tl.zeros(%s, tl.int32)", name, shape);
    line(g, "for %s in range(%s):", trip, n.text);
    g->indent++;
    if (hostile_offsets(g, &box, id, trip, trips)) {
        mask_text(g, &box, id, trip, mask, sizeof mask);
        line(g, "t%d = tl.load(%s + o%d, mask=%s, other=%d)", id, a->name, id, mask, (int)draw(g, 5));
        mask_text(g, &box, id, trip, mask, sizeof mask);
        line(g, "%s += tl.where(%s, t%d * 3, %d)", name, mask, id, (int)draw(g, 9));
    } else
        line(g, "pass");
    g->indent--;
}
#endif
