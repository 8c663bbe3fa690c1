/* SPDX-License-Identifier: Apache-2.0 */
/* raise_scan.c: running sums, products, minima and maxima of a loop that became an axis are scans.
 *
 *     for k { acc[i] += e ; o[i, k] = acc[i] }        s = acc + scan<add> e ; o = s ; acc = s[.., last]
 *     for k = 1 { T[i, k] = T[i, k - 1] + e }         T[.., 1:] = T[.., 0] + scan<add> e
 *
 * The first is an update (raise_accumulate.c) whose cell is read behind it; the second goes from place to place. Both
 * need that nothing else touches the buffer in the loop. The order of a float sum changes, as that of every reduction;
 * types that are rounded after each step are left alone. */
#include "pass/raise/raise_loop.h"

#include <string.h>

typedef struct Scan {
    const Op *store, *read, *update;
    Word combine;
    Ref e;
    int along;  /* the loop variable */
    bool moves; /* from place to place */
} Scan;

/* Is `read` one step behind the place of the store, along the variable alone? */
static bool is_behind(Loop *loop, const Reach *cell, const Reach *read, int along) {
    bool behind = false;
    for (int d = 0; d < cell->rank; d++) {
        int64_t distance;
        if (poly_equal(cell->start[d], read->start[d])) continue;
        Poly between = poly_sub(loop->cx->scratch, cell->start[d], read->start[d]);
        if (behind || cell->axis[d] != along || !poly_const(between, &distance) || distance != 1) return false;
        behind = true;
    }
    return behind;
}

/* All of the box that starts where the first trip reads, but for the axis of the loop, must be there. */
static bool is_surely_inside(const Loop *loop, const Op *op) {
    const Type *type = ir_type(loop->k, op->operands[0]);
    RefList at = op_list(op, 0);
    for (int d = 0; d < at.count; d++) {
        int64_t least, most;
        if (!raise_range(loop, at.at[d], &least, &most) || least < 0 || most >= type->extent[d]) return false;
    }
    return true;
}

static bool is_scan(Loop *loop, const Op *op, const Op *store, int along, Scan *s) {
    Reach cell, read;
    Elem elem = ir_type(loop->k, store->operands[0])->elem;
    unsigned all = (1u << loop->rank) - 1, bit = 1u << along;
    *s = (Scan){.store = store, .along = along};
    if (store->parent != op->regions[0] || loop->masked || (elem_is_float(elem) && elem_info[elem].bits < 32) ||
        !raise_find_step(loop, store, &s->update, &s->read, &s->combine, &s->e) ||
        ir_type(loop->k, s->update->results[0])->elem != elem)
        return false;
    raise_place(loop, store, &cell);
    raise_place(loop, s->read, &read);
    s->moves = cell.moves == all;
    if (cell.kind != PLACE_BOX || read.kind != PLACE_BOX || (!s->moves && cell.moves != (all & ~bit))) return false;
    if (s->moves ? !is_behind(loop, &cell, &read, along) : !raise_same_place(&cell, &read)) return false;
    if (!is_surely_inside(loop, store) || !is_surely_inside(loop, s->read)) return false;
    bool behind = false, seen = false;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *other = loop->accesses.at[i];
        behind |= other == store;
        if (other == store || other == s->read || other->operands[0] != store->operands[0]) continue;
        if (!raise_is_inside(other, op)) continue;
        Reach place;
        raise_place(loop, other, &place);
        /* Before the store a place has what no trip has written yet, as long as it is the trip's own. */
        if (!raise_is_load(other) || (!behind && !s->moves) || !raise_same_place(&place, &cell)) return false;
        seen = true;
    }
    return s->moves || seen; /* else it is a sum */
}

void raise_find_scans(Loop *loop, const Op *op, int along) {
    Scan scan;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *store = loop->accesses.at[i];
        if (store->code != OP_BSTORE || !is_scan(loop, op, store, along, &scan)) continue;
        Arena *scratch = loop->cx->scratch;
        map_put_number(&loop->scans, scratch, (uint64_t)(uintptr_t)store, arena_copy(scratch, &scan, sizeof scan));
        map_put_number(&loop->scanned, scratch, store->operands[0], loop);
    }
}

/* e over all axes of the tile, scanned along the loop's, and combined with what was there before. */
static bool make_running(Loop *loop, const Scan *s, const Raised *before, const int *axes, int count, Raised *out) {
    Raised e;
    if (!raise_value(loop, s->e, &e) || !raise_fits(loop, s->store, axes, count)) return false;
    loop->b.range = s->store->range;
    Ref tile = raise_spread(loop, &e, axes, count);
    Op *scan = ir_begin(&loop->b, OP_SCAN);
    ir_operand(&loop->b, scan, tile);
    op_set(loop->k, scan, (Attr){.id = AT_COMBINE, .word = s->combine});
    Raised all = {.count = count};
    memcpy(all.axes, axes, (size_t)count * sizeof *axes);
    op_set(loop->k, scan, (Attr){.id = AT_AXIS, .number = raise_find_axis(&all, s->along)});
    Ref part = ir_end(&loop->b, scan, NULL);
    Ref start = raise_align(loop, before, axes, count);
    all.ref = ir_binary(&loop->b, s->update->code, start, part);
    *out = all;
    return true;
}

/* The reads behind the store have what it writes. */
static void set_reads(Loop *loop, const Scan *s, Raised running) {
    bool behind = false;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *op = loop->accesses.at[i];
        behind |= op == s->store;
        if (behind && op->code == OP_BLOAD && op->operands[0] == s->store->operands[0] &&
            raise_is_inside(op, loop->scope))
            raise_set(loop, op->results[0], running);
    }
}

bool raise_is_scanned(const Loop *loop, const Op *store, const Op *read) {
    const MapEntry *found = map_find_number(&loop->scans, (uint64_t)(uintptr_t)store);
    return found && ((const Scan *)found->value)->read == read;
}

bool raise_scan(Loop *loop, Op *store, const void *found) {
    const Scan *s = found;
    Ref buffer = store->operands[0];
    const Type *type = ir_type(loop->k, buffer), *boxed;
    Reach cell, first;
    Raised before = {0}, running;
    int axes[MAX_RANK];
    int64_t extent[MAX_RANK], last[MAX_RANK];
    raise_place(loop, store, &cell);
    raise_place(loop, s->read, &first);
    if (!raise_offsets(loop, store, &cell) || !raise_offsets(loop, s->read, &first)) return false;
    if (!raise_buffer_box(loop, store, &cell, &boxed))
        return raise_fail(loop, store, "a running sum that leaves its buffer");
    int count = raise_place_axes(&cell, axes);
    loop->b.range = store->range;
    for (int d = 0; d < cell.rank; d++) extent[d] = cell.axis[d] == s->along ? 1 : boxed->extent[d];
    before.ref = ir_bload(&loop->b, buffer, first.offset, ty_tile(loop->k->module, type->elem, cell.rank, extent));
    for (int n = 0; n < count; n++)
        if (axes[n] != s->along) before.axes[before.count++] = axes[n];
    before.ref = ir_reshape(&loop->b, before.ref, raise_tile(loop, type->elem, before.axes, before.count));
    if (!s->moves) axes[count++] = s->along;
    if (!make_running(loop, s, &before, axes, count, &running)) return false;
    set_reads(loop, s, running);
    loop->b.range = store->range;
    if (s->moves) {
        ir_bstore(&loop->b, buffer, cell.offset, ir_reshape(&loop->b, running.ref, boxed));
        return true;
    }
    Ref at[MAX_RANK];
    for (int n = 0; n < count; n++) {
        last[n] = axes[n] == s->along ? loop->extent[s->along] - 1 : 0;
        extent[n] = axes[n] == s->along ? 1 : loop->extent[axes[n]];
        at[n] = ir_int(&loop->b, EL_I32, last[n]);
    }
    Ref end = ir_slice(&loop->b, running.ref, at, ty_tile(loop->k->module, type->elem, count, extent));
    ir_bstore(&loop->b, buffer, cell.offset, ir_reshape(&loop->b, end, boxed));
    return true;
}
