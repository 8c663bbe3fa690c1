/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_turn.c: tiles that move between memory in which they lie side by side along one axis and memory in which
 * they lie so along another one: transposes, by squares in registers (prelude/turn.h) instead of loops that jump
 * from line to line.
 *
 *     x = tload X[i, j] ; y = permute x ; tstore Y[j, i], y       tw_turn_4(Y_p, sY, X_p, sX, 64, 64)
 *
 * What is turned: a box of a load or store whose elements lie side by side along another axis than the tile's last
 * one, and a permute that moves the last axis, where there is something in memory to move. A store of a load as it
 * is, or permuted, goes from box to box; else the plan puts into memory what is turned (cpu_plan.c), and the turn
 * fills it. */
#include "target/cpu/cpu_internal.h"

/* Where a tile lies. */
typedef struct Spread {
    const Expr *pointer, *stride[MAX_RANK];
    int unit; /* the axis along which elements lie side by side; -1: none */
} Spread;

/* --- places --- */

static Spread in_box(const Emit *e, const Op *op, const Box *box, const int *axes) {
    Spread spread = {.pointer = box->pointer, .unit = cpu_moved_unit(e->k, op, axes)};
    for (int d = 0; d < box->tile->rank; d++) spread.stride[d] = box->stride[axes[d]];
    return spread;
}

/* Row by row, axes[d] being the axis of the tile in memory that is axis d of the one that is moved. */
static Spread in_rows(Emit *e, const Type *tile, const Expr *pointer, const int *axes) {
    Spread spread = {.pointer = pointer, .unit = -1};
    for (int d = 0; d < tile->rank; d++) {
        int64_t stride = 1;
        for (int inner = axes[d] + 1; inner < tile->rank; inner++) stride *= tile->extent[inner];
        spread.stride[d] = cs_number(e->arena, EL_I64, stride);
        if (axes[d] == tile->rank - 1) spread.unit = d;
    }
    return spread;
}

/* `at`, i places further along axis d. */
static const Expr *steps(Emit *e, const Expr *at, const Expr *i, const Spread *spread, int d) {
    return ex_sum(e->arena, at, d == spread->unit ? i : ex(e->arena, "%p * %p", i, spread->stride[d]));
}

/* What of the tile lies inside of the box (NULL: all) moves; axes[d] is the box's axis of the tile's d. */
static void emit_turn(Emit *e, const Type *tile, const Spread *to, const Spread *from, const Box *box,
                      const int *axes) {
    static const char *const names[MAX_RANK] = {"i0", "i1", "i2", "i3", "i4",  "i5",
                                                "i6", "i7", "i8", "i9", "i10", "i11"};
    const Expr *to_at = to->pointer, *from_at = from->pointer, *lengths[MAX_RANK] = {0};
    int a = to->unit, b = from->unit, opened = 0;
    for (int d = 0; d < tile->rank; d++) {
        bool whole = d == a || d == b, cut = box && box->checked[axes[d]];
        const Expr *lo = cut ? box->lo[axes[d]] : &expr_zero, *i = whole ? lo : ex_name(e->arena, names[d]);
        const Expr *hi = cut ? box->hi[axes[d]] : cs_number(e->arena, EL_I32, tile->extent[d]);
        lengths[d] = cut ? ex(e->arena, "%p - %p", hi, lo) : hi;
        if (!whole) {
            cs_open(&e->p, "for (i64 %p = %p; %p < %p; %p++)", i, lo, i, hi, i);
            opened++;
        }
        if (whole && !cut) continue;
        to_at = steps(e, to_at, i, to, d);
        from_at = steps(e, from_at, i, from, d);
    }
    cs_line(&e->p, "tw_turn_%d(%p, %p, %p, %p, %p, %p);", ty_elem_bytes(tile), to_at, to->stride[b], from_at,
            from->stride[a], lengths[a], lengths[b]);
    while (opened--) cs_close(&e->p);
    cpu_needs(e, PART_TURN);
}

/* --- into memory --- */

/* From a box: what lies outside of it is filled before. */
static void fill_from_box(Emit *e, const Expr *pointer, const Type *tile, const Op *load, const int *axes) {
    const Box *box = cpu_find_box(e, load);
    Spread to = in_rows(e, tile, pointer, cpu_same_axes), from = in_box(e, load, box, axes);
    if (box->full) {
        const Expr *fill = cpu_pack(e, tile->elem, cpu_box_fill(e, load));
        cs_line(&e->p, "if (!%p) for (i64 r = 0; r < %lld; r++) %p[r] = %p;", box->full, (long long)ty_elements(tile),
                pointer, fill);
    }
    if (box->ok) cs_open(&e->p, "if (%p)", box->ok);
    emit_turn(e, tile, &to, &from, box, axes);
    if (box->ok) cs_close(&e->p);
}

void cpu_fill_turned(Emit *e, const Expr *pointer, const Type *tile, const FillPlan *plan) {
    if (plan->form == FILL_TURNED_BOX) {
        fill_from_box(e, pointer, tile, plan->load, plan->axes);
        return;
    }
    Spread to = in_rows(e, tile, pointer, cpu_same_axes),
           from = in_rows(e, ir_type(e->k, plan->rows), cs_ref(&e->p, plan->rows), plan->axes);
    emit_turn(e, tile, &to, &from, NULL, cpu_same_axes);
}

/* --- stores --- */

const Expr *cpu_box_covers(Emit *e, const Box *load, const int *axes, const Box *other) {
    Arena *a = e->arena;
    const Expr *all = load->ok;
    for (int d = 0; d < other->tile->rank; d++) {
        if (!load->checked[axes[d]]) continue;
        all = ex_and(a, all, ex(a, "%p <= %p", load->lo[axes[d]], cpu_box_low(other, d)));
        all = ex_and(a, all, ex(a, "%p >= %p", load->hi[axes[d]], cpu_box_high(e, other, d)));
    }
    return all;
}

const Expr *cpu_store_turns(Emit *e, const Op *store, const StorePlan *plan) {
    const Box *to = cpu_find_box(e, store), *from = cpu_find_box(e, plan->turned);
    int unit = cpu_unit_axis(e->k, plan->turned);
    const Expr *all = ex_and(e->arena, to->ok, cpu_box_covers(e, from, plan->axes, to));
    if (from->movable && unit != from->tile->rank - 1)
        all = ex_and(e->arena, all, ex(e->arena, "%p == 1", from->stride[unit]));
    return all ? all : ex_int(e->arena, 1);
}

void cpu_store_turned(Emit *e, const Op *store, const StorePlan *plan) {
    const Box *box = cpu_find_box(e, store);
    Spread to = in_box(e, store, box, cpu_same_axes);
    Spread from = in_box(e, plan->turned, cpu_find_box(e, plan->turned), plan->axes);
    emit_turn(e, box->tile, &to, &from, box, cpu_same_axes);
}

void cpu_store_from_rows(Emit *e, const Op *store) {
    const Box *box = cpu_find_box(e, store);
    const Expr *rows = cs_ref(&e->p, op_operand(store, 1));
    Spread to = in_box(e, store, box, cpu_same_axes), from = in_rows(e, box->tile, rows, cpu_same_axes);
    if (box->ok) cs_open(&e->p, "if (%p)", box->ok);
    emit_turn(e, box->tile, &to, &from, box, cpu_same_axes);
    if (box->ok) cs_close(&e->p);
}
