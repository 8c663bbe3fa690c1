/* SPDX-License-Identifier: Apache-2.0 */
/* simt_scan.c: running combinations, and reductions whose combination is a region over a tuple.
 *
 * Both go over the bits of the axis index from low to high. In a scan, after bit b every element
 * holds the combination of its aligned block of 2^(b+1) up to itself: those whose bit is 1 take the
 * last one of the lower half (reversed: those whose bit is 0 the first one of the upper half). In a
 * reduction the two halves become one, the lower on the left; a half beyond the extent is left out.
 * Where the bit lives says how a half travels: registers, a shuffle, shared memory. So the order
 * depends on the index alone, not on the layout.
 *
 *     f32[1024], 4 warps: bits 0 1 in registers, 2 .. 6 in lanes, 7 8 in warps, 9 in registers again */
#include "target/simt/simt.h"

#include <string.h>

enum { TUPLE = 16 };

typedef struct Fold {
    Emit *e;
    const Op *op;
    int axis, count;
    const Type *type;     /* of the first operand */
    const Layout *layout; /* of all operands */
    Word kind;
    bool reverse;
    const char *part[TUPLE], *got[TUPLE]; /* arrays, in register form */
    /* bits done so far: of each input, and of the axis index */
    LayoutPlace low;
    uint32_t done;
    bool begun; /* its scratch is in use */
} Fold;

static Fold fold_of(Emit *e, const Op *op) {
    Fold f = {.e = e, .op = op, .axis = (int)op_int(op, AT_AXIS, 0), .count = op->operand_count};
    f.type = ir_type(e->k, op->operands[0]);
    f.layout = emit_layout(e, op->operands[0]);
    f.kind = op_word(op, AT_COMBINE, COMBINE_ADD);
    f.reverse = op_flag(op, AT_REVERSE);
    if (f.count > TUPLE) emit_refuse(e, op, "a combination of more than 16 tiles");
    return f;
}

static const Type *elem_type(const Fold *f, int i) { return ir_type(f->e->k, f->op->operands[i]); }

static const char *register_type(const Fold *f, int i) { return cs_value_type(&f->e->p, elem_type(f, i)); }

static int register_count(const Fold *f) { return 1 << f->layout->map.count[LL_REGISTER]; }

static const Expr *at(const Fold *f, const char *array, const Expr *index) {
    return ex(f->e->arena, "%s[%p]", array, index);
}

/* --- one combination --- */
/* to = x op y, tuples of expressions; `to` may be x or y. */
static void combine(Fold *f, const Expr *const *to, const Expr *const *x, const Expr *const *y) {
    Emit *e = f->e;
    if (f->kind != COMBINE_REGION) {
        bool keep = op_word(f->op, AT_NAN, NAN_DROP) == NAN_KEEP;
        cs_line(&e->p, "%p = %p;", to[0], cs_combine(&e->p, f->kind, elem_type(f, 0)->elem, keep, x[0], y[0]));
        return;
    }
    const Region *body = f->op->regions[0];
    const Expr *next[TUPLE];
    emit_block(e);
    for (int i = 0; i < f->count; i++) {
        emit_set(e, body->args[i], HOLD_SCALAR, x[i]);
        emit_set(e, body->args[f->count + i], HOLD_SCALAR, y[i]);
    }
    emit_region(e, body);
    for (int i = 0; i < f->count && f->count > 1; i++) {
        next[i] = ex_name(e->arena, cs_fresh(&e->p, "next"));
        cs_line(&e->p, "const %s %p = %p;", register_type(f, i), next[i], emit_scalar(e, body->last->operands[i]));
    }
    if (f->count == 1) next[0] = emit_scalar(e, body->last->operands[0]);
    for (int i = 0; i < f->count; i++) cs_line(&e->p, "%p = %p;", to[i], next[i]);
    cs_close(&e->p);
}

/* Working copies in register form. */
static void copy_in(Fold *f) {
    Emit *e = f->e;
    for (int i = 0; i < f->count; i++) {
        f->part[i] = cs_fresh(&e->p, "part");
        cs_line(&e->p, "%s %s[%d];", register_type(f, i), f->part[i], register_count(f));
    }
    emit_unroll(e, "r", f->layout->registers, 1);
    for (int i = 0; i < f->count; i++)
        cs_line(&e->p, "%s[r] = %p;", f->part[i], elementwise_operand(e, f->op->operands[i], f->layout, &place_r));
    cs_close(&e->p);
    if (f->layout->registers == register_count(f)) return;
    /* The padding takes part, and is not looked at. */
    cs_loop(&e->p, "#pragma unroll", "r", f->layout->registers, register_count(f), 1);
    for (int i = 0; i < f->count; i++) cs_line(&e->p, "%s[r] = 0;", f->part[i]);
    cs_close(&e->p);
}

/* --- values of other threads through shared memory: a plane a tuple element and register --- */
static int slot_bytes(const Fold *f, int i) { return axis_slot_bytes(elem_type(f, i)); }

/* Registers whose bits in `gone` are all alike, packed into a row number. */
static const Expr *row_of(const Fold *f, uint32_t gone, int *rows) {
    uint32_t masks[LL_MAX_BITS];
    int out = 0;
    for (int i = 0; i < f->layout->map.count[LL_REGISTER]; i++) masks[i] = gone >> i & 1 ? 0 : 1u << out++;
    *rows = 1 << out;
    return place_bits(f->e->arena, &place_r, f->layout->map.count[LL_REGISTER], masks);
}

static int64_t plane_bytes(const Fold *f, int i) { return (int64_t)f->e->group.warps * f->e->lanes * slot_bytes(f, i); }

static const Expr *plane_at(const Fold *f, int i, int rows, const Expr *row, const Expr *thread) {
    int64_t base = shared_offset(f->e, f->op);
    /* Wide elements first would keep all aligned; whole planes are multiples of 32 bytes anyway. */
    for (int j = 0; j < i; j++) base += plane_bytes(f, j) * rows;
    return ex(f->e->arena, "%lld + %p * %lld + (%p) * %d", (long long)base, row, (long long)plane_bytes(f, i), thread,
              slot_bytes(f, i));
}

/* A loop over registers with zeros in `gone`. */
static void open_loop(Fold *f, uint32_t gone) {
    bool low = (gone & (gone + 1)) == 0;
    emit_unroll(f->e, "r", register_count(f), low ? (int)gone + 1 : 1);
    f->e->vector_bits = 0;
    if (!low) cs_line(&f->e->p, "if (r & %u) continue;", gone);
}

/* got[r] for all r with zeros in `gone`: register r + shift of the thread at (lane, warp). */
static void fetch(Fold *f, uint32_t gone, uint32_t shift, const Expr *lane, const Expr *warp) {
    Emit *e = f->e;
    const Expr *from = shift ? ex(e->arena, "r + %u", shift) : &place_r;
    for (int i = 0; i < f->count; i++) {
        f->got[i] = cs_fresh(&e->p, "got");
        cs_line(&e->p, "%s %s[%d];", register_type(f, i), f->got[i], register_count(f));
    }
    if (warp) {
        int rows;
        const Expr *row = row_of(f, gone, &rows);
        sync_round(e, f->op, &f->begun);
        open_loop(f, gone);
        for (int i = 0; i < f->count; i++)
            cs_line(&e->p, "tw_sts(1, %p, %p);", plane_at(f, i, rows, row, e->thread),
                    ex_sum(e->arena, ex_name(e->arena, f->part[i]), from));
        cs_close(&e->p);
        sync_step(e);
        open_loop(f, gone);
        const Expr *thread = ex(e->arena, "(%p) * %d + %p", warp, e->lanes, lane ? lane : &place_lane);
        for (int i = 0; i < f->count; i++)
            cs_line(&e->p, "tw_lds(1, %s + r, %p);", f->got[i], plane_at(f, i, rows, row, thread));
        cs_close(&e->p);
        return;
    }
    open_loop(f, gone);
    for (int i = 0; i < f->count; i++)
        cs_line(&e->p, lane ? "%s[r] = tw_move_idx(%p, %p);" : "%s[r] = %p;", f->got[i], at(f, f->part[i], from), lane);
    cs_close(&e->p);
}

static void mark_done(Fold *f, int bit, LayoutInput input, int where) {
    f->low.at[input] |= 1u << where;
    f->done |= 1u << bit;
}

/* The condition that the upper half begins inside the extent; NULL: always. */
static const Expr *upper_exists(Fold *f, int bit) {
    int64_t n = f->type->extent[f->axis];
    if (!(n & (n - 1))) return NULL;
    return ex(f->e->arena, "(%p & ~%u | %u) < %lld", place_coord(f->e, f->layout, f->axis, &place_r), f->done,
              1u << bit, (long long)n);
}

/* --- scan --- */
/* Where the one lies that `x` (lane or warp) takes from; NULL: in the same. */
static const Expr *source(Fold *f, LayoutInput input, uint32_t own) {
    uint32_t low = f->low.at[input];
    const Expr *x = input == LL_LANE ? &place_lane : &place_warp;
    if (!low && !own) return NULL;
    if (f->reverse) return ex(f->e->arena, "(%p & ~%u | %u)", x, low, own);
    return ex(f->e->arena, "(%p & ~%u | %u)", x, own, low);
}

static void scan_bit(Fold *f, int bit) {
    Emit *e = f->e;
    LayoutInput input;
    int where;
    place_axis_bit(e, f->layout, f->axis, bit, &input, &where);
    uint32_t own = 1u << where, low = f->low.at[LL_REGISTER], in_register = input == LL_REGISTER ? own : 0;
    const Expr *lane = source(f, LL_LANE, input == LL_LANE ? own : 0);
    const Expr *warp = source(f, LL_WARP, input == LL_WARP ? own : 0);
    cs_note(&e->p, "blocks of %lld elements: the %s halves take in the last of the others", 2ll << bit,
            f->reverse ? "lower" : "upper");
    emit_block(e);
    fetch(f, low | in_register, f->reverse ? in_register : low, lane, warp);
    emit_unroll(e, "r", register_count(f), 1);
    if (in_register) cs_line(&e->p, f->reverse ? "if (r & %u) continue;" : "if (!(r & %u)) continue;", own);
    const Expr *condition = NULL;
    const char *form = f->reverse ? "!(%p & %u)" : "(%p & %u)";
    if (input != LL_REGISTER) condition = ex(e->arena, form, input == LL_LANE ? &place_lane : &place_warp, own);
    if (f->reverse) condition = ex_and(e->arena, condition, upper_exists(f, bit));
    if (condition) cs_open(&e->p, "if (%p)", condition);
    const Expr *mine[TUPLE], *other[TUPLE];
    const Expr *index = low | in_register ? ex(e->arena, "r & ~%u", low | in_register) : &place_r;
    for (int i = 0; i < f->count; i++) {
        mine[i] = at(f, f->part[i], &place_r);
        other[i] = at(f, f->got[i], index);
    }
    combine(f, mine, other, mine);
    if (condition) cs_close(&e->p);
    cs_close(&e->p);
    cs_close(&e->p);
    mark_done(f, bit, input, where);
}

void scan_emit(Emit *e, const Op *op) {
    Fold f = fold_of(e, op);
    if (f.kind == COMBINE_ARGMIN || f.kind == COMBINE_ARGMAX) emit_refuse(e, op, "a scan of indices");
    if (e->k->module->diag->errors) return;
    place_say_axis(e, op, f.layout, f.axis);
    for (int i = 0; i < f.count; i++) emit_declare(e, op->results[i]);
    emit_block(e);
    copy_in(&f);
    for (int bit = 0; bit < f.layout->map.log2[f.axis]; bit++) scan_bit(&f, bit);
    emit_unroll(e, "r", f.layout->registers, 1);
    for (int i = 0; i < f.count; i++)
        cs_line(&e->p, "%p[r] = %p;", emit_hold(e, op->results[i])->by,
                elementwise_packed(e, elem_type(&f, i)->elem, at(&f, f.part[i], &place_r)));
    cs_close(&e->p);
    cs_close(&e->p);
}

/* --- reduction of a tuple --- */
/* Does the combination look at its argument i? */
static bool takes(const Fold *f, int i) {
    return f->kind != COMBINE_REGION || f->e->uses[f->op->regions[0]->args[i]] > 0;
}

static void reduce_bit(Fold *f, int bit) {
    Emit *e = f->e;
    LayoutInput input;
    int where;
    place_axis_bit(e, f->layout, f->axis, bit, &input, &where);
    uint32_t own = 1u << where, gone = f->low.at[LL_REGISTER];
    const Expr *mine[TUPLE], *other[TUPLE], *low[TUPLE], *high[TUPLE];
    for (int i = 0; i < f->count; i++) mine[i] = at(f, f->part[i], &place_r);
    cs_note(&e->p, "elements %lld apart, %s", 1ll << bit,
            place_between(input));
    emit_block(e);
    if (input == LL_REGISTER) {
        open_loop(f, gone | own);
        const Expr *upper = upper_exists(f, bit);
        for (int i = 0; i < f->count; i++) other[i] = at(f, f->part[i], ex(e->arena, "r + %u", own));
        if (upper) cs_open(&e->p, "if (%p)", upper);
        combine(f, mine, mine, other);
        if (upper) cs_close(&e->p);
    } else {
        fetch(f, gone, 0, input == LL_LANE ? ex(e->arena, "lane ^ %u", own) : NULL,
              input == LL_WARP ? ex(e->arena, "warp ^ %u", own) : NULL);
        open_loop(f, gone);
        const Expr *upper = upper_exists(f, bit);
        const Expr *is_high = ex(e->arena, "%s & %u", input == LL_LANE ? "lane" : "warp", own);
        for (int i = 0; i < f->count; i++) {
            low[i] = ex_name(e->arena, cs_fresh(&e->p, "lower")), high[i] = ex_name(e->arena, cs_fresh(&e->p, "upper"));
            other[i] = at(f, f->got[i], &place_r);
            if (takes(f, i) || upper)
                cs_line(&e->p, "const %s %p = %p ? %p : %p;", register_type(f, i), low[i], is_high, other[i], mine[i]);
            if (takes(f, f->count + i))
                cs_line(&e->p, "const %s %p = %p ? %p : %p;", register_type(f, i), high[i], is_high, mine[i], other[i]);
        }
        if (upper) {
            for (int i = 0; i < f->count; i++) cs_line(&e->p, "%p = %p;", mine[i], low[i]);
            cs_open(&e->p, "if (%p)", upper);
        }
        combine(f, mine, low, high);
        if (upper) cs_close(&e->p);
    }
    cs_close(&e->p);
    cs_close(&e->p);
    mark_done(f, bit, input, where);
}

/* The stamped order, or from low to high. */
static int bit_at(const Fold *f, int i) {
    const Attr *stamp = op_attr(f->op, AT_BITS);
    int bits = f->layout->map.log2[f->axis];
    return stamp && stamp->list.count == bits ? (int)stamp->list.at[i] : i;
}

void fold_emit(Emit *e, const Op *op) {
    Fold f = fold_of(e, op);
    if (e->k->module->diag->errors) return;
    for (int i = 0; i < f.count; i++) {
        if (emit_layout(e, op->results[i])) {
            emit_declare(e, op->results[i]);
            continue;
        }
        const char *name = cs_name(&e->p, op->results[i]);
        cs_line(&e->p, "%s;", cs_variable(&e->p, register_type(&f, i), name));
        emit_set_name(e, op->results[i], HOLD_SCALAR, name);
    }
    emit_block(e);
    copy_in(&f);
    for (int i = 0; i < f.layout->map.log2[f.axis]; i++) reduce_bit(&f, bit_at(&f, i));
    uint32_t masks[LL_MAX_BITS];
    int out = 0;
    for (int i = 0; i < f.layout->map.count[LL_REGISTER]; i++)
        if (!(f.low.at[LL_REGISTER] >> i & 1)) masks[out++] = 1u << i;
    const Layout *layout = emit_layout(e, op->results[0]);
    if (layout) emit_unroll(e, "r", layout->registers, 1);
    for (int i = 0; i < f.count; i++) {
        const Expr *from = at(&f, f.part[i], layout ? place_bits(e->arena, &place_r, out, masks) : &expr_zero);
        const Expr *to = emit_hold(e, op->results[i])->by;
        if (layout)
            cs_line(&e->p, "%p[r] = %p;", to, elementwise_packed(e, elem_type(&f, i)->elem, from));
        else
            cs_line(&e->p, "%p = %p;", to, from);
    }
    if (layout) cs_close(&e->p);
    cs_close(&e->p);
}
