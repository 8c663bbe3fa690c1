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

/* How often an op of the body takes the value. */
static uintptr_t uses_in_body(Loop *loop, Ref ref) {
    Arena *scratch = loop->cx->scratch;
    if (!loop->uses.count)
        for (const Op *op = loop->op->regions[0]->first; op; op = op->next)
            for (int i = 0; i < op->operand_count; i++) {
                MapEntry *known = map_find_number(&loop->uses, op->operands[i]);
                uintptr_t before = known ? (uintptr_t)known->value : 0;
                map_put_number(&loop->uses, scratch, op->operands[i], (void *)(before + 1));
            }
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
        if (out->read) return true;
    }
    return false;
}

/* Is all that the body does to the store's buffer updates by one op? Then no value sees a cell between two of them. */
static bool check_updates(Loop *loop, const Op *store, const Accumulation *sum) {
    Map fed = {0}; /* the read of an update -> how it combines */
    const Region *body = loop->op->regions[0];
    Accumulation other;
    for (const Op *op = body->first; op; op = op->next)
        if (op->code == OP_BSTORE && op->operands[0] == store->operands[0] && find_update(loop, op, &other))
            map_put_number(&fed, loop->cx->scratch, other.read->results[0], (void *)(uintptr_t)other.combine);
    for (const Op *op = body->first; op; op = op->next) {
        if (op == store || op == sum->read || !op->operand_count || op->operands[0] != store->operands[0]) continue;
        if (op->code == OP_BLOAD && uses_in_body(loop, op->results[0])) {
            const MapEntry *found = map_find_number(&fed, op->results[0]);
            if (!found || (Word)(uintptr_t)found->value != sum->combine)
                return raise_fail(loop, op,
                                  "this reads a cell between two updates of it, and the iterations have no order");
        }
        if (op->code == OP_BSTORE && (!find_update(loop, op, &other) || other.combine != sum->combine))
            return raise_fail(loop, op, "a cell is updated in two ways, and the iterations have no order");
    }
    return true;
}

static bool find_accumulation(Loop *loop, const Op *store, const Box *cell, Accumulation *out) {
    Box box;
    if (!find_update(loop, store, out))
        return raise_fail(
            loop, store,
            "a cell that a loop variable does not reach must be `cell = cell op e`, with an e that does not read it");
    if (!raise_box(loop, out->read, &box)) return false;
    if (!raise_same_box(&box, cell))
        return raise_fail(loop, store, "what is updated is another cell than the one that is read");
    /* The first one speaks for all of the buffer. */
    return !map_meets(&loop->updated, loop->cx->scratch, store->operands[0]) || check_updates(loop, store, out);
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
static bool raise_dot(Loop *loop, const Op *store, const Op *product, const Box *cell, Ref accumulator, Ref *out) {
    int kept[MAX_RANK];
    if (cell->rank != 2 || raise_box_axes(cell, kept) != 2) return false;
    int reduced = 3 - kept[0] - kept[1]; /* of the variables 0, 1, 2 */
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

/* --- the store --- */

/* e reduced over every variable that the cell lacks, in the cell's order of axes */
static bool reduce_over_missing(Loop *loop, const Op *store, const Accumulation *sum, Elem elem, const int *kept,
                                int count, Ref *out) {
    Raised part;
    if (!raise_value(loop, sum->e, &part)) return false;
    loop->b.range = store->range;
    part.ref = ir_cast(&loop->b, part.ref, elem);
    for (int axis = 0; axis < loop->rank; axis++) {
        bool stays = false;
        for (int i = 0; i < count; i++) stays |= kept[i] == axis;
        if (stays) continue;
        int d = raise_find_axis(&part, axis);
        if (d < 0)
            return raise_fail(loop, store,
                              "what is accumulated must depend on every loop variable that the cell lacks");
        part.ref = ir_reduce(&loop->b, sum->combine, part.ref, d);
        memmove(&part.axes[d], &part.axes[d + 1], (size_t)(part.count - d - 1) * sizeof(int));
        part.count--;
    }
    *out = raise_align(loop, &part, kept, count);
    return true;
}

bool raise_accumulation(Loop *loop, Op *store, const Box *cell) {
    Accumulation sum;
    const Type *boxed;
    if (!find_accumulation(loop, store, cell, &sum) || !raise_buffer_type(loop, store, cell, &boxed)) return false;
    Ref buffer = store->operands[0];
    if (is_small_float(elem_of(loop, buffer)) && sum.combine == COMBINE_ADD) widen_buffer(loop, store);
    Elem stored = elem_of(loop, buffer), elem = elem_of(loop, sum.update->results[0]);
    if (elem_info[elem].bits < elem_info[stored].bits) elem = stored; /* widened */
    int kept[MAX_RANK], count = raise_box_axes(cell, kept);
    boxed = ty_with_elem(loop->k->module, boxed, stored);
    loop->b.range = store->range;
    Ref old = ir_bload(&loop->b, buffer, cell->offset, boxed), value = REF_NONE, part = REF_NONE;
    old = ir_cast(&loop->b, ir_reshape(&loop->b, old, raise_tile(loop, stored, kept, count)), elem);
    const Op *product = sum.combine == COMBINE_ADD && loop->rank == 3 ? find_product(loop, sum.e, elem) : NULL;
    bool dotted = product && raise_dot(loop, store, product, cell, old, &value);
    if (loop->why) return false;
    if (!dotted) {
        if (!reduce_over_missing(loop, store, &sum, elem, kept, count, &part)) return false;
        value = ir_binary(&loop->b, sum.update->code, old, part);
    }
    loop->b.range = store->range;
    ir_bstore(&loop->b, buffer, cell->offset, ir_reshape(&loop->b, ir_cast(&loop->b, value, stored), boxed));
    return true;
}
