/* SPDX-License-Identifier: Apache-2.0 */
/* tt_parts.c: parts of tiles that are whole pages.
 *
 * A slice or insert whose box begins at a page and ends with one moves no element within a page: it only says which pages. A slice
 * is read from the pages that it is (tt_graph.c), an insert packs its part where it belongs (tt_section.c). Other boxes are moved by
 * products (tt_moves.c).
 *
 *     slice of insert     the box inside the part: slice of the part; beside it: slice of what is under it; around it: the part
 *                         inserted into a slice. So tiles that are only put together and taken apart are never whole
 *     insert over all     what lies under parts that cover it is undefined, and so are tiles that a loop carries for them alone */
#include "ir/build.h"
#include "pass/fold/fold.h"
#include "target/tenstorrent/tt_emit.h"

enum { MOST_COVERED = 4096 };

static const Type *part_type(const Tt *tt, const Op *op) {
    return ir_type(tt->k, op->code == OP_SLICE ? op->results[0] : op_operand(op, 1));
}

static bool box_of(const Tt *tt, const Op *op, int64_t at[MAX_RANK]) {
    RefList offsets = op_list(op, 0);
    const Type *whole = ir_type(tt->k, op->operands[0]), *part = part_type(tt, op);
    if (whole->kind != TY_TILE || part->kind != TY_TILE || whole->rank != part->rank || offsets.count != whole->rank) return false;
    for (int d = 0; d < offsets.count; d++)
        if (!ir_const_int(tt->k, offsets.at[d], &at[d]) || at[d] < 0 || at[d] + part->extent[d] > whole->extent[d]) return false;
    return true;
}

bool tt_part_pages(const Tt *tt, Ref value, TtPart *out) {
    const Op *op = ref_is_value(value) ? ir_value(tt->k, value)->op : NULL;
    int64_t at[MAX_RANK];
    if (!op || (op->code != OP_SLICE && op->code != OP_INSERT) || !box_of(tt, op, at)) return false;
    const Type *whole = ir_type(tt->k, op->operands[0]), *part = part_type(tt, op);
    int rank = whole->rank;
    if (rank < 2) return false;
    for (int d = rank - 2; d < rank; d++)
        if (at[d] % PAGE_SIDE || (part->extent[d] % PAGE_SIDE && at[d] + part->extent[d] != whole->extent[d])) return false;
    int64_t stack = 0;
    for (int d = 0; d < rank - 2; d++) {
        if (part->extent[d] != 1) return false;
        stack = stack * whole->extent[d] + at[d];
    }
    *out = (TtPart){.op = op, .whole = op->operands[0], .part = op->code == OP_SLICE ? op->results[0] : op_operand(op, 1)};
    tt_page_grid(whole, PAGE_TILE, &out->rows, &out->columns);
    out->row = stack * ((whole->extent[rank - 2] + PAGE_SIDE - 1) / PAGE_SIDE) + at[rank - 2] / PAGE_SIDE;
    out->column = at[rank - 1] / PAGE_SIDE;
    return true;
}

typedef struct Parts {
    Tt *tt;
    bool changed;
} Parts;

/* Of boxes along each dimension: is a inside b; are they apart? */
static bool is_inside(const int64_t *a, const Type *size_a, const int64_t *b, const Type *size_b) {
    for (int d = 0; d < size_a->rank; d++)
        if (a[d] < b[d] || a[d] + size_a->extent[d] > b[d] + size_b->extent[d]) return false;
    return true;
}
static bool are_apart(const int64_t *a, const Type *size_a, const int64_t *b, const Type *size_b) {
    for (int d = 0; d < size_a->rank; d++)
        if (a[d] + size_a->extent[d] <= b[d] || b[d] + size_b->extent[d] <= a[d]) return true;
    return false;
}

static Ref at_place(Builder *b, Ref x, const int64_t *to, const int64_t *from, int rank, const Type *slice, Ref part) {
    Ref offsets[MAX_RANK];
    for (int d = 0; d < rank; d++) offsets[d] = ir_int(b, EL_I32, to[d] - (from ? from[d] : 0));
    return slice ? ir_slice(b, x, offsets, slice) : ir_insert(b, x, offsets, part);
}

/* The box of a value, without what is beside it; REF_NONE: nothing is gained. */
static Ref taken(Parts *p, Builder *b, Ref value, const int64_t *at, const Type *type, int depth) {
    const Kernel *k = p->tt->k;
    const Op *op = ref_is_value(value) ? ir_value(k, value)->op : NULL;
    int64_t place[MAX_RANK];
    if (!op || depth > 64) return REF_NONE;
    if (op->code == OP_UNDEF) {
        Op *made = ir_begin(b, OP_UNDEF);
        return ir_end(b, made, type);
    }
    if (op->code != OP_INSERT || !box_of(p->tt, op, place)) return REF_NONE;
    const Type *part = part_type(p->tt, op);
    Ref under;
    if (is_inside(at, type, place, part)) {
        int64_t inner[MAX_RANK];
        for (int d = 0; d < type->rank; d++) inner[d] = at[d] - place[d];
        if (part == type) return op_operand(op, 1);
        under = taken(p, b, op_operand(op, 1), inner, type, depth + 1);
        return under ? under : at_place(b, op_operand(op, 1), inner, NULL, type->rank, type, REF_NONE);
    }
    bool is_beside = are_apart(at, type, place, part);
    if (!is_beside && !is_inside(place, part, at, type)) return REF_NONE;
    under = taken(p, b, op->operands[0], at, type, depth + 1);
    if (!under) under = at_place(b, op->operands[0], at, NULL, type->rank, type, REF_NONE);
    return is_beside ? under : at_place(b, under, place, at, type->rank, NULL, op_operand(op, 1));
}

/* Do the parts that are inserted over the value leave nothing of it? */
static bool is_covered(const Tt *tt, const Op *last) {
    TtPart part;
    bool covered[MOST_COVERED] = {false};
    if (!tt_part_pages(tt, last->results[0], &part) || part.rows * part.columns > MOST_COVERED) return false;
    int64_t all = part.rows * part.columns, count = 0;
    for (Ref at = last->results[0]; tt_part_pages(tt, at, &part) && part.op->code == OP_INSERT; at = part.whole) {
        int64_t rows, columns;
        tt_page_grid(ir_type(tt->k, part.part), PAGE_TILE, &rows, &columns);
        for (int64_t i = 0; i < rows * columns; i++) {
            bool *page = &covered[(part.row + i / columns) * part.columns + part.column + i % columns];
            count += !*page;
            *page = true;
        }
    }
    return count == all;
}

static void change_region(Parts *p, Region *region) {
    Kernel *k = p->tt->k;
    for (Op *op = region->first, *next; op; op = next) {
        int64_t at[MAX_RANK];
        next = op->next;
        for (int i = 0; i < op->region_count; i++) change_region(p, op->regions[i]);
        if (op->code == OP_SLICE && box_of(p->tt, op, at)) {
            Builder b = ir_builder_before(k, op);
            Ref better = taken(p, &b, op->operands[0], at, ir_type(k, op->results[0]), 0);
            if (!better) continue;
            ir_replace_all(k, op->results[0], better);
            ir_remove(op);
            p->changed = true;
        }
    }
    for (Op *op = region->first; op; op = op->next) {
        if (op->code != OP_INSERT || !is_covered(p->tt, op)) continue;
        Op *first = op; /* of those that cover */
        TtPart part;
        while (tt_part_pages(p->tt, first->operands[0], &part) && part.op->code == OP_INSERT) first = (Op *)part.op;
        const Op *under = ref_is_value(first->operands[0]) ? ir_value(k, first->operands[0])->op : NULL;
        if ((under && under->code == OP_UNDEF) || (first != op && ir_count_uses(k, p->tt->arena)[first->results[0]] != 1)) continue;
        Builder b = ir_builder_before(k, first);
        Op *made = ir_begin(&b, OP_UNDEF);
        first->operands[0] = ir_end(&b, made, ir_type(k, op->results[0]));
        p->changed = true;
    }
}

void tt_simplify_parts(Tt *tt) {
    const Op *compute = tt->role[TENSIX_COMPUTE];
    Parts p = {.tt = tt};
    if (!compute) return;
    change_region(&p, compute->regions[0]);
    if (!p.changed) return;
    fold_sweep(tt->k, tt->cx->scratch);
    tt->is_index = tt->is_narrow = (Map){0};
}
