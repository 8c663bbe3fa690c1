/* SPDX-License-Identifier: Apache-2.0 */
/* raise_control.c: `if` and `for` in the body of an element loop.
 *
 *     if c[i] { T[i] = e }                    T = select c, e, T: the mask of what stands inside
 *     for k = 0, n { T[i] = f(T[i], k) }      for k = 0, n { T = f(T, k) }: a loop of tiles
 *     for k = 0, len[i] { .. }                a loop to the largest end, with `k < len[i]` as a mask
 *     for k = 0, 16 { s[i] += A[i, k] }       trips that do not meet are one more axis: a reduction, or a product
 *
 * An `if` and a loop that are the same for all iterations stay what they are. */
#include "pass/raise/raise_loop.h"

/* Is the value made before the op, where it sees it? */
static bool is_seen(const Op *made, const Op *op) {
    for (const Region *region = op->parent; region; region = region->owner ? region->owner->parent : NULL)
        if (region == made->parent) {
            const Op *at = made->parent == op->parent ? made : op;
            while (at && at != op) at = at->next;
            return at == op;
        }
    return false;
}

/* Values that are used behind here, or inside of the op at hand, must not be made inside of it first. */
static bool force(Loop *loop, Ref ref, const Op *inside) {
    Raised unused;
    const Op *op = raise_body_op(loop, ref);
    if (raise_variable(loop, ref) >= 0) return raise_value(loop, ref, &unused);
    if (!op || op == inside || !is_seen(op, inside) || map_find_number(&loop->done, ref)) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (!force(loop, op->operands[i], inside)) return false;
    return raise_value(loop, ref, &unused);
}

static bool force_operands(Loop *loop, const Op *op, const Op *inside) {
    for (int i = 0; i < op->operand_count; i++)
        if (!force(loop, op->operands[i], inside)) return false;
    for (int n = 0; n < op->region_count; n++)
        for (const Op *inner = op->regions[n]->first; inner; inner = inner->next)
            if (!force_operands(loop, inner, inside)) return false;
    return true;
}

static bool force_used(Loop *loop, const Op *op) {
    for (const Op *later = op; later; later = later->next)
        if (!force_operands(loop, later, op)) return false;
    return true;
}

/* Tile ops go into the region, and behind it on with what was there before. */
static Builder open_region(Loop *loop, Region *region) {
    Builder before = loop->b;
    loop->b = ir_builder_inside(&loop->b, region);
    return before;
}

static void close_region(Loop *loop, Builder before) {
    loop->b = before;
    loop->first = (Map){0}; /* what was made inside is not seen here */
}

/* --- if --- */

bool raise_masked_region(Loop *loop, Region *region, Raised condition) {
    bool masked = loop->masked;
    Raised mask = loop->mask;
    loop->mask = masked ? raise_both(loop, mask, condition) : condition;
    loop->masked = true;
    Arena *scratch = loop->cx->scratch;
    map_put_number(&loop->masks, scratch, (uint64_t)(uintptr_t)region,
                   arena_copy(scratch, &loop->mask, sizeof loop->mask));
    bool good = raise_region(loop, region);
    loop->masked = masked;
    loop->mask = mask;
    return good;
}

static bool raise_uniform_if(Loop *loop, Op *op, Ref condition) {
    if (!force_used(loop, op)) return false;
    loop->b.range = op->range;
    Op *made = ir_if(&loop->b, condition, 0, NULL);
    for (int side = 0; side < 2; side++) {
        Builder before = open_region(loop, made->regions[side]);
        bool good = raise_region(loop, op->regions[side]);
        loop->b.range = op->range;
        ir_yield(&loop->b, NULL, 0);
        close_region(loop, before);
        if (!good) return false;
    }
    return true;
}

bool raise_if(Loop *loop, Op *op) {
    Raised condition;
    if (!raise_value(loop, op->operands[0], &condition)) return false;
    if (!condition.count && !op->result_count) return raise_uniform_if(loop, op, condition.ref);
    Raised results[2];
    for (int side = 0; side < 2; side++) {
        const Region *region = op->regions[side];
        if (region->first == region->last && !op->result_count) continue;
        loop->b.range = op->range;
        if (!raise_masked_region(loop, op->regions[side], side ? raise_not(loop, condition) : condition)) return false;
    }
    for (int i = 0; i < op->result_count; i++) {
        for (int side = 0; side < 2; side++)
            if (!raise_value(loop, op->regions[side]->last->operands[i], &results[side])) return false;
        loop->b.range = op->range;
        raise_set(loop, op->results[i], raise_select(loop, condition, results[0], results[1]));
    }
    return true;
}

/* --- for --- */

typedef struct Trips {
    Raised bound[3];         /* lo, hi, step */
    bool uniform;            /* is it the same for all iterations? */
    Raised count;            /* of trips, where it is not */
    Raised carried[MAX_RANK * 4];
} Trips;

/* Of each iteration, in i64; none where it does not come here. */
static void count_trips(Loop *loop, Trips *t) {
    Raised wide[3], zero = raise_number(loop, EL_I64, 0);
    for (int i = 0; i < 3; i++) wide[i] = raise_cast(loop, t->bound[i], EL_I64);
    Raised length = raise_apply(loop, OP_SUB, (Raised[]){wide[1], wide[0]}, 2, WORD_NONE);
    t->count = raise_apply(loop, OP_CDIV, (Raised[]){length, wide[2]}, 2, WORD_NONE);
    t->count = raise_apply(loop, OP_MAX, (Raised[]){t->count, zero}, 2, WORD_NONE);
    if (loop->masked) t->count = raise_select(loop, loop->mask, t->count, zero);
}

static Ref most_trips(Loop *loop, Raised count) {
    for (; count.count; count.count--) count.ref = ir_reduce(&loop->b, COMBINE_MAX, count.ref, count.count - 1);
    return count.ref;
}

/* The tile over all axes that what is handed on may ever have. */
static bool spread_over(Loop *loop, const Op *op, Ref value, unsigned set, Raised *out) {
    if (!raise_value(loop, value, out)) return false;
    Raised all = {.count = raise_sorted(set, all.axes)};
    if (!raise_fits(loop, op, all.axes, all.count)) return false;
    loop->b.range = op->range;
    all.ref = raise_spread(loop, out, all.axes, all.count);
    *out = all;
    return true;
}

/* One trip: where it is not the same for all, the variable is lo + step * trip, and only some go on. */
static bool raise_trip(Loop *loop, Op *op, Trips *t, Op *made, Ref *next) {
    Region *body = op->regions[0], *region = made->regions[0];
    Raised index = raise_scalar(region->args[0]), active = {0};
    if (!t->uniform) {
        active = raise_apply(loop, OP_CMP, (Raised[]){index, t->count}, 2, CMP_LT);
        Elem elem = ir_type(loop->k, body->args[0])->elem;
        Raised moved = raise_apply(loop, OP_MUL, (Raised[]){raise_cast(loop, index, elem), t->bound[2]}, 2, WORD_NONE);
        index = raise_apply(loop, OP_ADD, (Raised[]){moved, t->bound[0]}, 2, WORD_NONE);
    }
    raise_set(loop, body->args[0], index);
    for (int i = 0; i < op->result_count; i++) {
        Raised carried = t->carried[i];
        carried.ref = region->args[1 + i];
        raise_set(loop, body->args[1 + i], carried);
    }
    if (t->uniform ? !raise_region(loop, body) : !raise_masked_region(loop, body, active)) return false;
    for (int i = 0; i < op->result_count; i++) {
        Raised value, before = t->carried[i];
        before.ref = region->args[1 + i];
        unsigned set = raise_axes(loop, op->results[i]);
        if (!spread_over(loop, op, body->last->operands[i], set, &value)) return false;
        if (!t->uniform) {
            value = raise_select(loop, active, value, before);
            next[i] = raise_spread(loop, &value, before.axes, before.count);
        } else {
            next[i] = value.ref;
        }
    }
    return true;
}

/* --- a loop as one more axis --- */

enum { MOST_AXIS_ELEMENTS = 1 << 15 };

bool raise_counts(const Kernel *k, const Op *op, int64_t *low, int64_t *trips) {
    int64_t hi, step;
    if (op->result_count || !ir_const_int(k, op->operands[0], low) || !ir_const_int(k, op->operands[1], &hi) ||
        !ir_const_int(k, op->operands[2], &step) || step != 1)
        return false;
    const int64_t far = (int64_t)1 << 30;
    *trips = hi > *low ? hi - *low : 0;
    return *low > -far && hi < far && *trips >= 1 && *trips <= MAX_TILE_ELEMENTS;
}

/* Is it a loop over elements of buffers? */
static bool counts_elements(Loop *loop, const Op *op, int64_t *low, int64_t *trips) {
    bool writes = false;
    if (loop->rank == MAX_RANK || !raise_counts(loop->k, op, low, trips)) return false;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *access = loop->accesses.at[i];
        if (!raise_is_inside(access, op) || raise_is_load(access)) continue;
        if (access->code != OP_BSTORE) return false;
        writes = true;
    }
    return writes;
}

/* A tile with one more axis should not be too large; but for products, which are not made one by one. */
static bool is_worth_it(Loop *loop, const Op *op) {
    int64_t elements = 1;
    for (int v = 0; v < loop->rank && elements <= MOST_AXIS_ELEMENTS; v++) elements *= loop->extent[v];
    if (elements <= MOST_AXIS_ELEMENTS) return true;
    for (size_t i = 0; i < loop->accesses.count; i++) {
        const Op *store = loop->accesses.at[i];
        if (store->parent != op->regions[0] && raise_is_inside(store, op)) return false;
        if (raise_is_inside(store, op) && raise_is_store(store) && !raise_is_product(loop, store)) return false;
    }
    return true;
}

typedef struct Before {
    const Op *scope;
    bool in_order;
    int rank;
} Before;

/* The variables of an inner loop are axes as well, from here on. */
static Before add_axes(Loop *loop, const Op *op, int64_t low, const int64_t *extents, int count, bool in_order) {
    Before before = {loop->scope, loop->in_order, loop->rank};
    for (int i = 0; i < count; i++) {
        loop->variable[loop->rank] = op->regions[0]->args[i];
        loop->low[loop->rank] = low;
        loop->extent[loop->rank++] = extents[i];
    }
    loop->scope = op;
    loop->in_order = in_order;
    raise_find_axes(loop);
    return before;
}

static void drop_axes(Loop *loop, Before before) {
    loop->scope = before.scope;
    loop->in_order = before.in_order;
    loop->rank = before.rank;
    loop->axes = (Map){0};
    raise_find_axes(loop);
}

/* Trips that do not meet run side by side; sums of them become reductions, or products. *done: it is an axis. */
static bool raise_axis(Loop *loop, Op *op, bool *done) {
    int64_t low, trips;
    *done = false;
    if (!counts_elements(loop, op, &low, &trips)) return true;
    Before before = add_axes(loop, op, low, &trips, 1, true);
    Map scanned = loop->scanned;
    loop->scanned = (Map){0};
    raise_find_scans(loop, op, loop->rank - 1);
    *done = raise_check_order(loop) && is_worth_it(loop, op);
    loop->why = NULL;
    if (!*done) loop->scans = (Map){0};
    bool good = !*done || raise_region(loop, op->regions[0]);
    loop->scanned = scanned;
    drop_axes(loop, before);
    return good;
}

bool raise_inner(Loop *loop, Op *op) {
    int64_t extents[MAX_RANK];
    if (loop->rank + op->operand_count > MAX_RANK) return raise_fail(loop, op, "element loops of too many variables");
    for (int i = 0; i < op->operand_count; i++)
        if (!ir_const_int(loop->k, op->operands[i], &extents[i]) || extents[i] < 1 || extents[i] > MAX_TILE_ELEMENTS)
            return raise_fail(loop, op, "the extents of an inner element loop must be constants in 1 .. 2^20");
    Before before = add_axes(loop, op, 0, extents, op->operand_count, false);
    bool good = raise_check_order(loop) && raise_region(loop, op->regions[0]);
    drop_axes(loop, before);
    return good;
}

bool raise_for(Loop *loop, Op *op) {
    Trips t = {.uniform = true};
    bool done;
    if (!raise_axis(loop, op, &done)) return false;
    if (done) return true;
    if (op->result_count > (int)(sizeof t.carried / sizeof *t.carried))
        return raise_fail(loop, op, "this loop hands on more than %d values", MAX_RANK * 4);
    for (int i = 0; i < 3; i++) {
        if (!raise_value(loop, op->operands[i], &t.bound[i])) return false;
        t.uniform = t.uniform && !t.bound[i].count;
    }
    if (!force_used(loop, op)) return false;
    Ref *initial = ARENA_ARRAY(loop->cx->scratch, Ref, op->result_count + 1);
    for (int i = 0; i < op->result_count; i++) {
        unsigned set = raise_axes(loop, op->results[i]);
        if (!spread_over(loop, op, op->operands[3 + i], set, &t.carried[i])) return false;
        initial[i] = t.carried[i].ref;
    }
    loop->b.range = op->range;
    if (!t.uniform) count_trips(loop, &t);
    Ref lo = t.uniform ? t.bound[0].ref : ir_int(&loop->b, EL_I64, 0);
    Ref hi = t.uniform ? t.bound[1].ref : most_trips(loop, t.count);
    Ref step = t.uniform ? t.bound[2].ref : ir_int(&loop->b, EL_I64, 1);
    const char *name = ir_value(loop->k, op->regions[0]->args[0])->name;
    Op *made = ir_for(&loop->b, lo, hi, step, initial, op->result_count, name);
    for (int i = 0; i < op->attr_count; i++) op_set(loop->k, made, op->attrs[i]);
    Builder before = open_region(loop, made->regions[0]);
    Ref *next = ARENA_ARRAY(loop->cx->scratch, Ref, op->result_count + 1);
    bool good = raise_trip(loop, op, &t, made, next);
    loop->b.range = op->range;
    if (good) ir_yield(&loop->b, next, op->result_count);
    close_region(loop, before);
    for (int i = 0; i < op->result_count && good; i++) {
        Raised result = t.carried[i];
        result.ref = made->results[i];
        raise_set(loop, op->results[i], result);
    }
    return good;
}
