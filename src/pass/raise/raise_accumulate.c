/* SPDX-License-Identifier: Apache-2.0 */
/* raise_accumulate.c: a cell that several iterations of an element loop update.
 *
 *     parallel %i, %j, %k in 32, 32, 32 {                  %c = bload %C, [0, 0] : f32[32,32]
 *       %p = mul %a[i, k], %b[k, j]               ->       %d = dot %a, %b, %c
 *       %C[i, j] = add %C[i, j], %p }                      bstore %C, [0, 0], %d
 *
 * The store must be `cell = cell op e` for add, mul, min or max. It reduces e over the variables that the cell lacks,
 * and a sum of products becomes `dot`. That is the loop's own result only if nothing else of the body sees the cell
 * between two updates, so each read of it feeds one update and nothing more, e not among it, and all updates of it in
 * the body are by the same op.
 *
 * Types are kept as the source has them: an integer product wraps in the type in which it is written, so it becomes a
 * `dot` only if that is the sum's own type (factors cast from 8 bits go to the matrix units as they were). Sums of
 * floats may be more precise than written: factors of 16 bits are multiplied exactly, and a sum in 16 bits is carried
 * in f32 from then on and rounded where it is read (a note says so). */
#include "pass/raise/raise_loop.h"

#include <math.h>
#include <string.h>

typedef struct Accumulation { /* cell = cell op e */
    const Op *update;
    const Op *read; /* of the cell, by the update */
    Word combine;
    Ref e;
} Accumulation;

static bool is_small_float(Elem elem) { return elem_is_float(elem) && elem_info[elem].bits == 16; }

static Word combine_of(Opcode code) {
    switch (code) {
    case OP_ADD: return COMBINE_ADD;
    case OP_MUL: return COMBINE_MUL;
    case OP_MIN: return COMBINE_MIN;
    case OP_MAX: return COMBINE_MAX;
    default: return WORD_NONE;
    }
}

static Elem elem_of(const Loop *loop, Ref ref) { return ir_type(loop->k, ref)->elem; }

/* The element type of the buffer as the source declared it. */
static Elem declared(const Loop *loop, Ref buffer) {
    MapEntry *entry = map_find_number(loop->widened, buffer);
    return entry ? (Elem)((uintptr_t)entry->value - 1) : elem_of(loop, buffer);
}

/* What stands behind one conversion: x of `cast x`, else the value itself. */
static Ref behind_cast(const Loop *loop, Ref ref) {
    const Op *op = raise_body_op(loop, ref);
    return op && op->code == OP_CAST ? op->operands[0] : ref;
}

/* --- which updates --- */

/* May a cell of one type be updated in another, and all updates be made there before it is rounded or cut off once?
 * Sums and products of integers may, modulo the cell's range; of floats what is wider. */
static bool commutes(Word combine, Elem cell, Elem sum) {
    if (sum == cell) return cell != EL_I1;
    if (elem_is_float(cell) != elem_is_float(sum) || cell == EL_I1 || sum == EL_I1) return false;
    if (elem_is_float(cell)) return elem_info[sum].bits > elem_info[cell].bits;
    return elem_info[sum].bits >= elem_info[cell].bits && (combine == COMBINE_ADD || combine == COMBINE_MUL);
}

typedef struct Counting {
    Map *uses;
    Arena *arena;
} Counting;

static void count_operands(Op *op, void *user) {
    Counting *c = user;
    for (int i = 0; i < op->operand_count; i++) {
        MapEntry *known = map_find_number(c->uses, op->operands[i]);
        uintptr_t before = known ? (uintptr_t)known->value : 0;
        map_put_number(c->uses, c->arena, op->operands[i], (void *)(before + 1));
    }
}

/* How often an op of the body takes the value. */
static uintptr_t uses_in_body(Loop *loop, Ref ref) {
    Arena *scratch = loop->cx->scratch;
    if (!loop->uses.count) ir_walk(loop->op->regions[0], count_operands, &(Counting){&loop->uses, scratch});
    MapEntry *found = map_find_number(&loop->uses, ref);
    return found ? (uintptr_t)found->value : 0;
}

/* The read of the store's buffer that an operand of the update is, with all in between used for nothing else. */
static const Op *read_of(Loop *loop, const Op *store, Ref operand) {
    const Op *op = raise_body_op(loop, operand);
    int casts =
        declared(loop, store->operands[0]) != elem_of(loop, store->operands[0]) ? 2 : 1; /* that of widening too */
    for (; op && op->code == OP_CAST && casts > 0; casts--) {
        if (uses_in_body(loop, op->results[0]) != 1) return NULL;
        op = raise_body_op(loop, op->operands[0]);
    }
    bool reads = op && op->code == OP_BLOAD && op->operands[0] == store->operands[0];
    return reads && uses_in_body(loop, op->results[0]) == 1 ? op : NULL;
}

/* Does the read see what the cell is before the store: is it made in the same trip, with no store to that buffer in
 * between? */
static bool is_fresh(const Loop *loop, const Op *read, const Op *store) {
    const Region *region = store->parent;
    while (region != read->parent && region->owner->code == OP_IF) region = region->owner->parent;
    if (region != read->parent) return false;
    bool between = false;
    for (size_t i = 0; i < loop->accesses.count && loop->accesses.at[i] != store; i++) {
        const Op *op = loop->accesses.at[i];
        if (between && op->code == OP_BSTORE && op->operands[0] == store->operands[0]) return false;
        between |= op == read;
    }
    return true;
}

/* Is the store `cell = cell op e`, whatever its cell? */
static bool find_update(Loop *loop, const Op *store, Accumulation *out) {
    Ref value = store->operands[store->operand_count - 1], buffer = store->operands[0];
    Elem cell = declared(loop, buffer);
    if (cell != elem_of(loop, buffer)) value = behind_cast(loop, value); /* the cast that widening put there */
    *out = (Accumulation){.update = raise_body_op(loop, value)};
    if (out->update && out->update->code == OP_CAST) out->update = raise_body_op(loop, behind_cast(loop, value));
    out->combine = out->update ? combine_of(out->update->code) : WORD_NONE;
    if (!out->combine || op_attr(out->update, AT_NAN) ||
        !commutes(out->combine, cell, elem_of(loop, out->update->results[0])))
        return false;
    if (elem_of(loop, value) != cell) return false;
    for (int side = 0; side < 2; side++) {
        out->read = read_of(loop, store, out->update->operands[side]);
        out->e = out->update->operands[1 - side];
        if (out->read) return is_fresh(loop, out->read, store);
    }
    return false;
}

bool raise_find_step(Loop *loop, const Op *store, const Op **update, const Op **read, Word *combine, Ref *e) {
    Accumulation step;
    if (!find_update(loop, store, &step) || uses_in_body(loop, step.update->results[0]) != 1) return false;
    *update = step.update, *read = step.read, *combine = step.combine, *e = step.e;
    return true;
}

bool raise_is_update(Loop *loop, const Op *store) {
    Accumulation sum;
    Reach cell, read;
    raise_place(loop, store, &cell);
    if (cell.kind != PLACE_BOX || cell.moves == (1u << loop->rank) - 1 || !find_update(loop, store, &sum)) return false;
    raise_place(loop, sum.read, &read);
    return raise_same_place(&read, &cell);
}

/* Integers that a scatter combines (ops.def). */
static bool is_counted(Loop *loop, const Op *store, const Accumulation *sum) {
    Reach cell, read;
    Elem elem = elem_of(loop, store->operands[0]);
    if (!elem_is_int(elem) || elem_info[elem].bits > 32 || sum->combine == COMBINE_MUL) return false;
    if (sum->combine != COMBINE_ADD && elem_of(loop, sum->update->results[0]) != elem) return false;
    raise_place(loop, store, &cell);
    raise_place(loop, sum->read, &read);
    return raise_same_place(&read, &cell);
}

/* If all that the body does to the store's buffer is updates by one op, no value sees a cell between two of them. */
static bool check_updates(Loop *loop, const Op *store, bool counts) {
    Map fed = {0}; /* the read of an update -> how it combines */
    Accumulation sum, other;
    find_update(loop, store, &sum);
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *op = loop->accesses.at[i];
        if (!raise_is_inside(op, loop->scope)) continue;
        if (op->code == OP_BSTORE && op->operands[0] == store->operands[0] && find_update(loop, op, &other))
            map_put_number(&fed, loop->cx->scratch, other.read->results[0], (void *)(uintptr_t)other.combine);
    }
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *op = loop->accesses.at[i];
        if (!raise_is_inside(op, loop->scope)) continue;
        if (op == store || op == sum.read || op->operands[0] != store->operands[0]) continue;
        if (op->code == OP_BLOAD && uses_in_body(loop, op->results[0])) {
            const MapEntry *found = map_find_number(&fed, op->results[0]);
            if (!found || (Word)(uintptr_t)found->value != sum.combine)
                return raise_fail(loop, op,
                                  "this reads a cell between two updates of it, and the iterations have no order");
        }
        Reach place;
        raise_place(loop, op, &place);
        if (op->code != OP_BSTORE) continue;
        bool same = find_update(loop, op, &other) && other.combine == sum.combine;
        if (!same || (counts ? !is_counted(loop, op, &other) : place.kind != PLACE_BOX))
            return raise_fail(loop, op, "a cell is updated in two ways, and the iterations have no order");
    }
    return true;
}

bool raise_check_updates(Loop *loop, const Op *store) { return check_updates(loop, store, false); }

bool raise_are_counts(Loop *loop, const Op *store) {
    Accumulation sum;
    bool good = find_update(loop, store, &sum) && is_counted(loop, store, &sum) && check_updates(loop, store, true);
    loop->why = NULL;
    return good;
}

bool raise_is_count(Loop *loop, const Op *store) {
    return store->code == OP_BSTORE && map_find_number(&loop->counted, (uint64_t)(uintptr_t)store);
}

/* --- 16-bit sums --- */

typedef struct Widening {
    Kernel *k;
    Ref buffer;
} Widening;

/* A use of a buffer whose element became f32: reads are rounded back, writes are widened. */
static void widen_use(Op *op, void *user) {
    Widening *w = user;
    if (!op->operand_count || op->operands[0] != w->buffer) return;
    Module *m = w->k->module;
    if (op->code == OP_BSTORE) {
        Builder b = ir_builder_before(w->k, op);
        op->operands[op->operand_count - 1] = ir_cast(&b, op->operands[op->operand_count - 1], EL_F32);
    } else if (op->code == OP_BLOAD) {
        const Type *narrow = ir_type(w->k, op->results[0]);
        Builder b = ir_builder_behind(w->k, op);
        Ref wide = op->results[0];
        ir_value(w->k, wide)->type = ty_with_elem(m, narrow, EL_F32);
        Ref rounded = ir_cast(&b, wide, narrow->elem);
        Op *cast = ir_value(w->k, rounded)->op;
        ir_replace_all(w->k, wide, rounded);
        cast->operands[0] = wide;
    }
}

static void widen_buffer(Loop *loop, const Op *store) {
    Ref buffer = store->operands[0];
    const Type *narrow = ir_type(loop->k, buffer);
    ir_value(loop->k, buffer)->type = ty_buffer(loop->k->module, EL_F32, narrow->rank, narrow->extent, narrow->scope);
    Widening widening = {loop->k, buffer};
    ir_walk(loop->k->body, widen_use, &widening);
    loop->uses = (Map){0}; /* casts were put in */
    raise_find_axes(loop);
    map_put_number(loop->widened, loop->cx->scratch, buffer, (void *)((uintptr_t)narrow->elem + 1));
    loop->cx->widened = true;
    pass_find(loop->cx, store->range, FIND_SUM_WIDENED, elem_info[narrow->elem].text, elem_info[narrow->elem].text);
}

/* --- products --- */

/* The product that e is, if its factors may be multiplied exactly instead: a float that is at most widened behind it,
 * or an integer of the sum's own type. */
static const Op *find_product(const Loop *loop, Ref e, Elem sum) {
    const Op *op = raise_body_op(loop, e);
    if (op && op->code == OP_CAST) {
        Elem from = elem_of(loop, op->operands[0]), to = elem_of(loop, e);
        if (!elem_is_float(from) || !elem_is_float(to) || elem_info[from].bits > elem_info[to].bits) return NULL;
        op = raise_body_op(loop, op->operands[0]);
    }
    if (!op || op->code != OP_MUL) return NULL;
    Elem elem = elem_of(loop, op->results[0]);
    bool good = elem_is_float(elem) ? elem_info[elem].bits <= elem_info[sum].bits : elem == sum;
    return good ? op : NULL;
}

/* The factor before it was widened, where that keeps its value and a matrix unit takes it. */
static Ref narrow_factor(const Loop *loop, Ref factor) {
    const Op *cast = raise_body_op(loop, factor);
    if (!cast || cast->code != OP_CAST) return factor;
    Elem from = elem_of(loop, cast->operands[0]), to = elem_of(loop, factor);
    bool eight_bits = (from == EL_I8 || from == EL_U8) && to == EL_I32;
    return (is_small_float(from) && elem_is_float(to) && elem_info[to].bits >= 32) || eight_bits ? cast->operands[0]
                                                                                                 : factor;
}

/* `dot` when e is a product of two factors that each miss one of the cell's two axes. */
static bool raise_dot(Loop *loop, const Op *store, const Op *product, const Reach *cell, Ref accumulator, Ref *out) {
    int kept[MAX_RANK];
    if (cell->rank != 2 || raise_place_axes(cell, kept) != 2) return false;
    int reduced = __builtin_ctz(((1u << loop->rank) - 1) & ~(1u << kept[0]) & ~(1u << kept[1])); /* of three */
    Ref factor[2];
    for (int i = 0; i < 2; i++) factor[i] = narrow_factor(loop, product->operands[i]);
    if (elem_of(loop, factor[0]) != elem_of(loop, factor[1])) memcpy(factor, product->operands, sizeof factor);
    Raised side[2];
    for (int i = 0; i < 2; i++)
        if (!raise_value(loop, factor[i], &side[i])) return false;
    bool swapped = raise_find_axis(&side[0], kept[0]) < 0;
    const Raised *a = &side[swapped], *b = &side[!swapped];
    bool fits = a->count == 2 && b->count == 2 && raise_find_axis(a, kept[0]) >= 0 &&
                raise_find_axis(a, reduced) >= 0 && raise_find_axis(b, kept[1]) >= 0 &&
                raise_find_axis(b, reduced) >= 0;
    if (!fits) return false;
    loop->b.range = store->range;
    Ref left = raise_align(loop, a, (int[]){kept[0], reduced}, 2),
        right = raise_align(loop, b, (int[]){reduced, kept[1]}, 2);
    /* Short integers: modulo their range the sum is that of 32 bits, which the matrix units take. */
    Elem sum = elem_of(loop, accumulator);
    bool is_short = !elem_is_float(sum) && elem_info[sum].bits < 32;
    *out =
        ir_cast(&loop->b, ir_dot(&loop->b, left, right, ir_cast(&loop->b, accumulator, is_short ? EL_I32 : sum)), sum);
    return true;
}

/* As raise_dot will find it. */
bool raise_is_product(Loop *loop, const Op *store) {
    Accumulation sum;
    Reach cell;
    int kept[MAX_RANK];
    raise_place(loop, store, &cell);
    if (!find_update(loop, store, &sum) || sum.combine != COMBINE_ADD || loop->rank != 3 || loop->masked) return false;
    if (cell.rank != 2 || cell.kind != PLACE_BOX || raise_place_axes(&cell, kept) != 2) return false;
    Elem stored = elem_of(loop, store->operands[0]), elem = elem_of(loop, sum.update->results[0]);
    if (is_small_float(stored)) stored = EL_F32; /* widened */
    const Op *product = find_product(loop, sum.e, elem_info[elem].bits < elem_info[stored].bits ? stored : elem);
    if (!product) return false;
    unsigned x = raise_axes(loop, product->operands[0]), y = raise_axes(loop, product->operands[1]);
    unsigned all = 7, first = 1u << kept[0], second = 1u << kept[1];
    return (x == (all & ~second) && y == (all & ~first)) || (x == (all & ~first) && y == (all & ~second));
}

/* --- the store --- */

/* What changes nothing that it is combined with (but the sign of a zero, or a NaN). */
static Ref neutral(Loop *loop, Word combine, Elem elem) {
    bool is_max = combine == COMBINE_MAX;
    if (combine == COMBINE_MUL)
        return elem_is_float(elem) ? ir_float(&loop->b, elem, 1) : ir_int(&loop->b, elem, 1);
    if (elem_is_float(elem))
        return ir_float(&loop->b, elem, combine == COMBINE_ADD ? -0.0 : is_max ? -(double)INFINITY : (double)INFINITY);
    int bits = elem_info[elem].bits;
    bool is_signed = elem_is_signed(elem);
    uint64_t top = (is_signed ? (uint64_t)1 << (bits - 1) : bits == 64 ? 0 : (uint64_t)1 << bits) - 1;
    if (combine == COMBINE_ADD) return ir_int(&loop->b, elem, 0);
    return ir_int(&loop->b, elem, !is_max ? (int64_t)top : is_signed ? -(int64_t)top - 1 : 0);
}

/* e reduced over every variable that the cell lacks, in the cell's order of axes */
static bool reduce_over_missing(Loop *loop, const Op *store, const Accumulation *sum, Elem elem, const int *kept,
                                int count, Ref *out) {
    Raised part;
    int axes[MAX_RANK];
    unsigned stays = 0;
    if (!raise_value(loop, sum->e, &part)) return false;
    loop->b.range = store->range;
    part = raise_cast(loop, part, elem);
    for (int i = 0; i < count; i++) stays |= 1u << kept[i];
    if (loop->masked)
        part = raise_select(loop, loop->mask, part, raise_scalar(neutral(loop, sum->combine, elem)));
    unsigned missing = ((1u << loop->rank) - 1) & ~stays, has = raise_set_of(&part);
    if (missing & ~has) { /* each iteration adds the same */
        int wide = raise_sorted(missing | has, axes);
        if (!raise_fits(loop, store, axes, wide)) return false;
        Raised all = {.ref = raise_spread(loop, &part, axes, wide), .count = wide};
        memcpy(all.axes, axes, sizeof axes);
        part = all;
    }
    for (int axis = 0; axis < loop->rank; axis++) {
        if (stays >> axis & 1) continue;
        int d = raise_find_axis(&part, axis);
        part.ref = ir_reduce(&loop->b, sum->combine, part.ref, d);
        memmove(&part.axes[d], &part.axes[d + 1], (size_t)(part.count - d - 1) * sizeof(int));
        part.count--;
    }
    *out = raise_align(loop, &part, kept, count);
    return true;
}

bool raise_accumulation(Loop *loop, Op *store) {
    Accumulation sum;
    Reach cell;
    const Type *boxed;
    find_update(loop, store, &sum);
    raise_place(loop, store, &cell);
    if (!raise_offsets(loop, store, &cell)) return false;
    if (!raise_buffer_box(loop, store, &cell, &boxed))
        return raise_fail(loop, store, "the cells that are updated may lie outside of the buffer");
    Ref buffer = store->operands[0];
    if (is_small_float(elem_of(loop, buffer)) && sum.combine == COMBINE_ADD) widen_buffer(loop, store);
    Elem stored = elem_of(loop, buffer), elem = elem_of(loop, sum.update->results[0]);
    if (elem_info[elem].bits < elem_info[stored].bits) elem = stored; /* widened */
    int kept[MAX_RANK], count = raise_place_axes(&cell, kept);
    boxed = ty_with_elem(loop->k->module, boxed, stored);
    loop->b.range = store->range;
    Ref before = ir_bload(&loop->b, buffer, cell.offset, boxed), value = REF_NONE, part = REF_NONE;
    before = ir_reshape(&loop->b, before, raise_tile(loop, stored, kept, count));
    Ref old = ir_cast(&loop->b, before, elem);
    const Op *product =
        sum.combine == COMBINE_ADD && loop->rank == 3 && !loop->masked ? find_product(loop, sum.e, elem) : NULL;
    bool dotted = product && raise_dot(loop, store, product, &cell, old, &value);
    if (loop->why) return false;
    if (!dotted) {
        if (!reduce_over_missing(loop, store, &sum, elem, kept, count, &part)) return false;
        value = ir_binary(&loop->b, sum.update->code, old, part);
    }
    loop->b.range = store->range;
    value = ir_cast(&loop->b, value, stored);
    if (loop->masked) { /* where no iteration updates it, the cell stays */
        Raised some = raise_any(loop, loop->mask, cell.moves);
        value = ir_ternary(&loop->b, OP_SELECT, raise_align(loop, &some, kept, count), value, before);
    }
    if (!count) value = ir_splat(&loop->b, value, boxed);
    ir_bstore(&loop->b, buffer, cell.offset, ir_reshape(&loop->b, value, boxed));
    return true;
}

/* Every iteration adds its own, so that the tile has all axes. */
bool raise_count(Loop *loop, Op *store) {
    Accumulation sum;
    Raised at, e;
    Ref buffer = store->operands[0], zero[MAX_RANK];
    const Type *type = ir_type(loop->k, buffer);
    int axes[MAX_RANK], count = raise_sorted((1u << loop->rank) - 1, axes);
    find_update(loop, store, &sum);
    if (!raise_fits(loop, store, axes, count) || !raise_value(loop, sum.e, &e) || !raise_flat(loop, store, true, &at))
        return false;
    loop->b.range = store->range;
    if (loop->masked) at = raise_select(loop, loop->mask, at, raise_number(loop, EL_I32, -1));
    for (int d = 0; d < type->rank; d++) zero[d] = ir_int(&loop->b, EL_I32, 0);
    e = raise_cast(loop, e, type->elem);
    Ref whole = ir_bload(&loop->b, buffer, zero, ty_tile(loop->k->module, type->elem, type->rank, type->extent));
    Ref places = raise_spread(loop, &at, axes, count), parts = raise_spread(loop, &e, axes, count);
    Op *scatter = ir_begin(&loop->b, OP_SCATTER);
    ir_operand(&loop->b, scatter, whole);
    ir_operand(&loop->b, scatter, places);
    ir_operand(&loop->b, scatter, parts);
    op_set(loop->k, scatter, (Attr){.id = AT_COMBINE, .word = sum.combine});
    ir_bstore(&loop->b, buffer, zero, ir_end(&loop->b, scatter, NULL));
    return true;
}
