/* SPDX-License-Identifier: Apache-2.0 */
/* eval_axis.c: reductions, scans, sorts, histograms.
 *
 * A tile is lines along the axis, n elements apart by a stride. A reduction combines, bit after bit
 * of the index padded to a power of two, each pair that differs in that bit alone. A partner beyond
 * the line's end is left out. A stamp (`order`) says which bit comes when; without one it is from
 * high to low for sums and products (halves first), from low to high for a region, which may not
 * commute: a tree, since a chain of f16 sums would lose what no target loses. Each combination is
 * one op of the element type, so f16 sums round every time.
 *
 * A combination given as a region runs as code on scalars; argmin and argmax compare (key, index)
 * pairs, lower index first, NaN last or (nan=keep) first. */
#include "ir/interp/interp_core.h"

#include <math.h>

typedef struct Lines {
    int64_t n, stride; /* along the axis, in elements */
    int64_t count;     /* how many lines */
} Lines;

static Lines lines_of(const Type *type, int64_t axis) {
    Lines lines = {type->extent[axis], 1, 1};
    for (int d = 0; d < type->rank; d++) {
        if (d > axis) lines.stride *= type->extent[d];
        if (d != axis) lines.count *= type->extent[d];
    }
    return lines;
}

/* The first element of line i. */
static int64_t line_start(const Lines *lines, int64_t i) {
    return i / lines->stride * lines->stride * lines->n + i % lines->stride;
}

/* A line as raw elements, and back. */
static void take_line(const Lines *lines, const void *data, int64_t i, int bytes, void *to) {
    int64_t one = 1;
    box_copy(to, &one, (const char *)data + line_start(lines, i) * bytes, &lines->stride, 1, &lines->n, bytes);
}
static void give_line(const Lines *lines, void *data, int64_t i, int bytes, const void *from) {
    int64_t one = 1;
    box_copy((char *)data + line_start(lines, i) * bytes, &lines->stride, from, &one, 1, &lines->n, bytes);
}

/* --- what combines two elements of a line --- */

typedef struct Combiner {
    Process *p;
    Step *s;
    Word kind;
    bool keep_nan;
    int count; /* lines combined together: the region's tuple */
    Elem elem[16];
    void *line[16]; /* wide (int64_t, float, double), raw under a region */
    int64_t *index; /* argmin, argmax */
} Combiner;

static double key_at(const Combiner *c, int64_t i, bool *missing) {
    double key =
        elem_is_float(c->elem[0]) ? c->elem[0] == EL_F64 ? ((double *)c->line[0])[i] : ((float *)c->line[0])[i] : 0;
    *missing = isnan(key);
    return key;
}

/* Is element j to be taken rather than i? */
static bool prefers(const Combiner *c, int64_t i, int64_t j) {
    bool smallest = c->kind == COMBINE_ARGMIN, order; /* order: j before i */
    if (elem_is_float(c->elem[0])) {
        bool nan_i, nan_j;
        double x = key_at(c, i, &nan_i), y = key_at(c, j, &nan_j);
        if (nan_i != nan_j) return c->keep_nan ? nan_j : nan_i;
        if (nan_i || x == y) return c->index[j] < c->index[i];
        order = y < x;
    } else {
        int64_t x = ((int64_t *)c->line[0])[i], y = ((int64_t *)c->line[0])[j];
        if (x == y) return c->index[j] < c->index[i];
        order = elem_is_signed(c->elem[0]) ? y < x : (uint64_t)y < (uint64_t)x;
    }
    return smallest ? order : !order;
}

/* One run of the region: the tuples at i and j to the one at `to`. */
static void combine_region(const Combiner *c, int64_t to, int64_t i, int64_t j) {
    Block *block = &c->s->blocks[0];
    const Ref *args = block->region->args;
    Process *p = c->p;
    for (int k = 0; k < 2 * c->count; k++) {
        int tuple = k % c->count;
        size_t bytes = (size_t)elem_info[c->elem[tuple]].bytes;
        int64_t from = k < c->count ? i : j;
        memcpy(ev_define_ref(p, args[k])->data, (char *)c->line[tuple] + from * (int64_t)bytes, bytes);
    }
    ev_run(p, block);
    for (int k = 0; k < c->count; k++) {
        size_t bytes = (size_t)elem_info[c->elem[k]].bytes;
        Cell *cell = ev_use(p, block->end, block->end->op->operands[k]);
        memcpy((char *)c->line[k] + to * (int64_t)bytes, cell->data, bytes);
    }
}

/* Element `to` becomes (element i) op (element j). */
static void combine(const Combiner *c, int64_t to, int64_t i, int64_t j) {
    if (c->kind == COMBINE_REGION) {
        combine_region(c, to, i, j);
    } else if (c->index) {
        int64_t from = prefers(c, i, j) ? j : i;
        c->index[to] = c->index[from];
        if (c->elem[0] == EL_F64 || !elem_is_float(c->elem[0]))
            ((int64_t *)c->line[0])[to] = ((int64_t *)c->line[0])[from];
        else
            ((float *)c->line[0])[to] = ((float *)c->line[0])[from];
    } else if (!elem_is_float(c->elem[0])) {
        int64_t *x = c->line[0];
        x[to] = combine_i64(c->elem[0], c->kind, x[i], x[j]);
    } else if (c->elem[0] == EL_F64) {
        double *x = c->line[0];
        x[to] = combine_f64(c->kind, c->keep_nan, x[i], x[j]);
    } else {
        float *x = c->line[0];
        x[to] = combine_f32(c->elem[0], c->kind, c->keep_nan, x[i], x[j]);
    }
}

static void widen_line(Elem elem, const void *raw, int64_t n, void *to) {
    if (!elem_is_float(elem))
        elem_read_i64(elem, raw, n, to);
    else if (elem == EL_F64)
        elem_read_f64(elem, raw, n, to);
    else
        elem_read_f32(elem, raw, n, to);
}
static void narrow_line(Elem elem, const void *wide, int64_t n, void *raw) {
    if (!elem_is_float(elem))
        elem_write_i64(elem, raw, n, wide);
    else if (elem == EL_F64)
        elem_write_f64(elem, raw, n, wide);
    else
        elem_write_f32(elem, raw, n, wide);
}

/* Everything to element 0. */
static void fold_line(const Combiner *c, int64_t n, const IntList *order) {
    uint64_t done = 0; /* bits that are combined: survivors have zeroes there */
    for (int b = 0; b < order->count; b++) {
        uint64_t bit = (uint64_t)1 << order->at[b];
        for (int64_t i = 0; i < n; i++) {
            int64_t j = i | (int64_t)bit;
            if (!((uint64_t)i & (done | bit)) && j < n) combine(c, i, i, j);
        }
        done |= bit;
    }
}

/* A stamp must name every bit of the padded index once; `room` takes the order without a stamp. */
static IntList order_of(Process *p, Step *s, int64_t n, bool region, int64_t *room) {
    const Attr *attr = op_attr(s->op, AT_BITS);
    if (!attr) {
        int bits = 0;
        while ((int64_t)1 << bits < n) bits++;
        for (int b = 0; b < bits; b++) room[b] = region ? b : bits - 1 - b;
        return (IntList){bits, room};
    }
    uint64_t seen = 0;
    bool good = true;
    for (int i = 0; i < attr->list.count && good; i++) {
        int64_t bit = attr->list.at[i];
        good = bit >= 0 && bit <= 20 && !(seen >> bit & 1);
        if (good) seen |= (uint64_t)1 << bit;
    }
    if (!good || ((uint64_t)(n - 1) & ~seen))
        ev_refuse(p, s, "a reduction whose order does not name each bit of the index once");
    return attr->list;
}

static void begin(Process *p, Step *s, Combiner *c, Operand *x, Cell **room, int64_t n) {
    *c = (Combiner){.p = p, .s = s, .kind = op_word(s->op, AT_COMBINE, WORD_NONE), .count = s->op->operand_count};
    c->keep_nan = op_word(s->op, AT_NAN, NAN_DROP) == NAN_KEEP;
    bool region = c->kind == COMBINE_REGION;
    if (c->count > 16) ev_refuse(p, s, "a combination of more than 16 tiles");
    if (!region && c->count != 1) ev_refuse(p, s, "several tiles under one named combination");
    for (int k = 0; k < c->count; k++) {
        x[k] = ev_operand(p, s, k);
        if (x[k].cell->shadow) sanitize_use(p, s, &x[k]);
        c->elem[k] = x[k].elem;
        room[k] = cell_new(p->in, (size_t)n * 16);
        c->line[k] = room[k]->data;
    }
}

static void load_lines(Combiner *c, const Operand *x, const Lines *lines, int64_t i) {
    for (int k = 0; k < c->count; k++) {
        int bytes = elem_info[c->elem[k]].bytes;
        char *raw = (char *)c->line[k] + (c->kind == COMBINE_REGION ? 0 : 8 * lines->n);
        take_line(lines, x[k].data, i, bytes, raw);
        if (c->kind != COMBINE_REGION) widen_line(c->elem[k], raw, lines->n, c->line[k]);
    }
}

void eval_reduce(Process *p, Step *s) {
    Combiner c;
    Operand x[16];
    Cell *room[16], *indices = NULL, *out[16];
    Lines lines = lines_of(ir_type(p->in->kernel, s->op->operands[0]), op_int(s->op, AT_AXIS, 0));
    begin(p, s, &c, x, room, lines.n);
    int64_t bits[64];
    IntList order = order_of(p, s, lines.n, c.kind == COMBINE_REGION, bits);
    if (c.kind == COMBINE_ARGMIN || c.kind == COMBINE_ARGMAX) {
        indices = cell_new(p->in, (size_t)lines.n * sizeof *c.index);
        c.index = indices->data;
    }
    for (int k = 0; k < c.count; k++) out[k] = ev_define(p, s, k);
    for (int64_t i = 0; i < lines.count; i++) {
        load_lines(&c, x, &lines, i);
        for (int64_t j = 0; c.index && j < lines.n; j++) c.index[j] = j;
        fold_line(&c, lines.n, &order);
        for (int k = 0; k < c.count; k++) {
            int bytes = elem_info[c.elem[k]].bytes;
            if (c.index)
                ((int32_t *)out[k]->data)[i] = (int32_t)c.index[0];
            else if (c.kind == COMBINE_REGION)
                memcpy((char *)out[k]->data + i * bytes, c.line[k], (size_t)bytes);
            else if (lines.n == 1) /* nothing is combined: the element moves, bit by bit */
                memcpy((char *)out[k]->data + i * bytes, (char *)c.line[k] + 8, (size_t)bytes);
            else
                narrow_line(c.elem[k], c.line[k], 1, (char *)out[k]->data + i * bytes);
        }
    }
    for (int k = 0; k < c.count; k++) cell_release(p->in, room[k]);
    cell_release(p->in, indices);
}

void eval_scan(Process *p, Step *s) {
    Combiner c;
    Operand x[16];
    Cell *room[16], *out[16];
    Lines lines = lines_of(ir_type(p->in->kernel, s->op->operands[0]), op_int(s->op, AT_AXIS, 0));
    begin(p, s, &c, x, room, lines.n);
    if (c.kind == COMBINE_ARGMIN || c.kind == COMBINE_ARGMAX) ev_refuse(p, s, "a scan of argmin or argmax");
    bool reverse = op_flag(s->op, AT_REVERSE);
    for (int k = 0; k < c.count; k++) out[k] = ev_define(p, s, k);
    for (int64_t i = 0; i < lines.count; i++) {
        load_lines(&c, x, &lines, i);
        for (int64_t j = 1; j < lines.n; j++) {
            int64_t at = reverse ? lines.n - 1 - j : j;
            combine(&c, at, reverse ? at + 1 : at - 1, at);
        }
        for (int k = 0; k < c.count; k++) {
            char *raw = c.line[k];
            if (c.kind != COMBINE_REGION) {
                raw += 8 * lines.n;
                narrow_line(c.elem[k], c.line[k], lines.n, raw);
            }
            give_line(&lines, out[k]->data, i, elem_info[c.elem[k]].bytes, raw);
        }
    }
    for (int k = 0; k < c.count; k++) cell_release(p->in, room[k]);
}

/* --- sorting: elements become keys that compare as unsigned numbers --- */

static uint64_t key_of(Elem elem, const void *raw, bool descending) {
    uint64_t key;
    if (elem_is_float(elem)) {
        double x = elem_get_f64(elem, raw);
        if (isnan(x)) return UINT64_MAX; /* last in both directions */
        uint64_t u = f64_bits(x);
        key = u >> 63 ? ~u : u | (uint64_t)1 << 63;
    } else {
        key = (uint64_t)elem_get_i64(elem, raw) ^ (elem_is_signed(elem) ? (uint64_t)1 << 63 : 0);
    }
    return descending ? ~key : key;
}

static void put_key(Elem elem, void *raw, uint64_t key, bool descending) {
    if (elem_is_float(elem) && key == UINT64_MAX) {
        elem_put_f64(elem, raw, NAN);
        return;
    }
    if (descending) key = ~key;
    if (elem_is_float(elem)) {
        double x = f64_from_bits(key >> 63 ? key & ~((uint64_t)1 << 63) : ~key);
        const FloatFormat *format = elem_format(elem);
        if (isinf(x) && format && format->saturates) { /* elements move: infinity is no overflow */
            FloatFormat same = *format;
            same.saturates = false;
            *(uint8_t *)raw = (uint8_t)float_narrow(&same, x, false);
        } else {
            elem_put_f64(elem, raw, x);
        }
    } else
        elem_put_i64(elem, raw, (int64_t)(key ^ (elem_is_signed(elem) ? (uint64_t)1 << 63 : 0)));
}

/* Bottom-up merge sort; `other` is room for as many. The sorted keys are in the array returned. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, int64_t n) {
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) {
            int64_t middle = start + width < n ? start + width : n;
            int64_t end = start + 2 * width < n ? start + 2 * width : n;
            int64_t i = start, j = middle;
            for (int64_t k = start; k < end; k++) {
                bool left = i < middle && (j >= end || keys[i] <= keys[j]);
                other[k] = left ? keys[i++] : keys[j++];
            }
        }
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

void eval_sort(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    if (x.cell->shadow) sanitize_use(p, s, &x);
    Lines lines = lines_of(x.type, op_int(s->op, AT_AXIS, 0));
    bool descending = op_flag(s->op, AT_DESC);
    int bytes = elem_info[x.elem].bytes;
    Cell *out = ev_define(p, s, 0), *room = cell_new(p->in, (size_t)lines.n * 16);
    uint64_t *keys = room->data;
    for (int64_t i = 0; i < lines.count; i++) {
        int64_t start = line_start(&lines, i);
        for (int64_t j = 0; j < lines.n; j++)
            keys[j] = key_of(x.elem, (char *)x.data + (start + j * lines.stride) * bytes, descending);
        uint64_t *sorted = sort_keys(keys, keys + lines.n, lines.n);
        for (int64_t j = 0; j < lines.n; j++)
            put_key(x.elem, (char *)out->data + (start + j * lines.stride) * bytes, sorted[j], descending);
    }
    cell_release(p->in, room);
}

void eval_histogram(Process *p, Step *s) {
    Operand x = ev_operand(p, s, 0);
    if (x.cell->shadow) sanitize_use(p, s, &x);
    int64_t bins = op_int(s->op, AT_BINS, 0), n = ty_elements(x.type);
    int bytes = elem_info[x.elem].bytes;
    int32_t *to = ev_define(p, s, 0)->data;
    memset(to, 0, (size_t)bins * sizeof *to);
    for (int64_t i = 0; i < n; i++) {
        int64_t bin = elem_get_i64(x.elem, (char *)x.data + i * bytes);
        if (bin >= 0 && bin < bins) to[bin]++;
    }
}
