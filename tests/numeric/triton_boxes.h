/* SPDX-License-Identifier: Apache-2.0 */
/* triton_boxes.h: statements of random Triton kernels (random_triton.c) that move boxes of arrays through tensor descriptors and
 * block pointers that advance, random numbers, and the ways out of a kernel or a loop. */
#ifndef TESTS_TRITON_BOXES_H
#define TESTS_TRITON_BOXES_H
#include "triton_shapes.h"

/* Whole numbers for each dimension, as Python writes a list. */
static void list_text(const int64_t *numbers, int rank, char *text, size_t size) {
    size_t n = 0;
    for (int d = 0; d < rank; d++) n += (size_t)snprintf(text + n, size - n, "%s%lld", d ? ", " : "", (long long)numbers[d]);
}

/* An array seen as a tensor whose extents may be smaller or larger than the box, rows with a gap between them. */
typedef struct View {
    int rank;
    int64_t shape[3], strides[3];
    char shape_text[80], stride_text[80], box_text[80];
} View;

static bool view_of(Gen *g, const Var *box, int64_t most, View *v) {
    int64_t size = 1;
    *v = (View){.rank = box->rank};
    for (int d = box->rank - 1; d >= 0; d--) {
        v->shape[d] = 1 + (int64_t)draw(g, (uint32_t)(2 * box->ext[d] + 2));
        v->strides[d] = size;
        size *= v->shape[d] + (d == box->rank - 1 && box->rank > 1 ? (int64_t)draw(g, 3) : 0);
    }
    list_text(v->shape, v->rank, v->shape_text, sizeof v->shape_text);
    list_text(v->strides, v->rank, v->stride_text, sizeof v->stride_text);
    list_text(box->ext, v->rank, v->box_text, sizeof v->box_text);
    return size <= most;
}

/* Where the box begins: often inside, sometimes over an edge. */
static void corner(Gen *g, const View *v, char *text, size_t size) {
    int64_t at[3];
    for (int d = 0; d < v->rank; d++) at[d] = (int64_t)draw(g, (uint32_t)v->shape[d] + 3) - (draw(g, 4) == 3 ? 3 : 0);
    list_text(at, v->rank, text, size);
}

/* A box through a descriptor, and perhaps one stored through another. */
static void descriptor(Gen *g) {
    int rank, id = g->next++;
    Var box = {.type = (int)draw(g, DTYPES - 3)};
    View view;
    char at[80];
    if (g->calls) return;
    random_shape(g, &rank, box.ext, 512);
    box.rank = rank;
    if (box.ext[rank - 1] * dtypes[box.type].bits < 128) return; /* 16 bytes are the least */
    if (!view_of(g, &box, INPUT, &view)) return;
    Array *a = input(g, box.type);
    if (!a) return;
    corner(g, &view, at, sizeof at);
    Var *v = new_var(g, box.type, rank, box.ext, bound_of(a), 0, a->flavour == WHOLE);
    if (!v) return;
    line(g, "d%d = tl.make_tensor_descriptor(%s, shape=[%s], strides=[%s], block_shape=[%s])", id, a->name, view.shape_text, view.stride_text,
         view.box_text);
    line(g, "%s = d%d.load([%s])", v->name, id, at);
    Var kept = *v;
    if (!draw(g, 2) || !view_of(g, &box, INPUT, &view)) return;
    Array *to = new_array(g, 'z', box.type, INPUT * programs(g), PLAIN);
    if (!to) return;
    corner(g, &view, at, sizeof at);
    line(g, "e%d = tl.make_tensor_descriptor(%s + pid * %d, shape=[%s], strides=[%s], block_shape=[%s])", id, to->name, (int)INPUT,
         view.shape_text, view.stride_text, view.box_text);
    line(g, "e%d.store([%s], %s)", id, at, kept.name);
}

/* A block pointer that walks along an array, summing up or keeping what it met last; it may leave the array. */
static void walk(Gen *g) {
    int rank, id = g->next++, trips = (int)draw(g, 5);
    Var box = {.type = (int)draw(g, DTYPES - 3)};
    View view;
    char at[80], step[80], check[40] = "", order[40] = "";
    int64_t steps[3];
    if (g->calls || g->depth >= 2 || !known[BLOCK_POINTERS]) return;
    random_shape(g, &rank, box.ext, 512);
    box.rank = rank;
    if (!view_of(g, &box, INPUT, &view)) return;
    Array *a = input(g, box.type);
    const char *runtime = draw(g, 2) ? scalar_argument(g, trips) : NULL;
    if (!a) return;
    bool whole = a->flavour == WHOLE, sum = !is_real(box.type) || whole;
    double bound = bound_of(a) * (sum ? trips + 1 : 1);
    Var *v = new_var(g, box.type, rank, box.ext, bound, 0, whole);
    if (!v) return;
    if (sum && is_real(box.type) && bound * dtypes[box.type].unit > 0.25) sum = false;
    corner(g, &view, at, sizeof at);
    for (int d = 0; d < rank; d++) {
        steps[d] = (int64_t)draw(g, (uint32_t)box.ext[d] + 1);
        snprintf(check + strlen(check), sizeof check - strlen(check), "%d,", d);
        snprintf(order + strlen(order), sizeof order - strlen(order), "%d,", rank - 1 - d);
    }
    list_text(steps, rank, step, sizeof step);
    line(g, "b%d = tl.make_block_ptr(%s, shape=(%s,), strides=(%s,), offsets=(%s,), block_shape=(%s,), order=(%s))", id, a->name, view.shape_text,
         view.stride_text, at, view.box_text, order);
    line(g, "%s = tl.zeros((%s,), tl.%s)", v->name, view.box_text, dtypes[box.type].name);
    if (runtime) line(g, "for i%d in range(%s):", id, runtime);
    else line(g, "for i%d in range(%d):", id, trips);
    g->indent++;
    line(g, "t%d = tl.load(b%d, boundary_check=(%s), padding_option=\"zero\")", id, id, check);
    if (sum) line(g, "%s = (%s + t%d).to(tl.%s)", v->name, v->name, id, dtypes[box.type].name);
    else line(g, "%s = t%d", v->name, id);
    line(g, draw(g, 2) ? "b%d = tl.advance(b%d, (%s,))" : "b%d = b%d.advance((%s,))", id, id, step);
    g->indent--;
}

/* It ends in a product that is no whole number: an addition behind it rounds once, when it is fused, or twice. */
static void unfused(Program *p) {
    for (int i = 0; i < p->set_count; i++)
        if (strcmp(p->sets[i].name, "fuse") == 0) return;
    p->sets[p->set_count++] = (tw_pair){"fuse", "off"};
}

/* Philox: the bits and the uniform numbers are defined exactly, the normal ones are not. */
static void random_numbers(Gen *g) {
    int rank;
    int64_t ext[3];
    random_shape(g, &rank, ext, 256);
    Var *at = value(g, I32, rank, ext, false);
    if (!at) return;
    char name[16], seed[32] = "7";
    memcpy(name, at->name, sizeof name);
    if (!g->calls && draw(g, 2)) snprintf(seed, sizeof seed, "pid + %d", (int)draw(g, 100));
    if (draw(g, 2)) {
        Var *v = new_var(g, F32, rank, ext, 1, 0, false);
        if (v) line(g, "%s = tl.rand(%s, %s)", v->name, seed, name), unfused(g->p);
    } else {
        Var *v = new_var(g, I32, rank, ext, 0, 0, false);
        if (v) line(g, "%s = tl.randint(%s, %s%s).to(tl.int32)", v->name, seed, name, draw(g, 3) == 2 ? ", n_rounds=7" : "");
    }
}

/* A scalar that this program or all of them have; "" where there is none. */
static void condition(Gen *g, char *text, size_t size) {
    Var *s = some(g, (Filter){.kinds = "iu", .type = -1, .rank_most = 0});
    uint32_t form = draw(g, 4);
    const char *n = scalar_argument(g, (int64_t)draw(g, 4));
    if (s && form > 1) snprintf(text, size, "%s %s %d", s->name, form == 2 ? ">" : "==", (int)draw(g, 5));
    else if (form == 1 && n && !g->calls) snprintf(text, size, "%s < %d", n, (int)draw(g, 4));
    else if (!g->calls) snprintf(text, size, "pid > %d", (int)draw(g, 2));
    else text[0] = 0;
}

/* Some programs end here. */
static void leave(Gen *g) {
    char test[60];
    if (g->calls || g->depth) return;
    condition(g, test, sizeof test);
    if (test[0]) line(g, "if %s:\n%*sreturn", test, 4 * g->indent + 4, "");
}
#endif
