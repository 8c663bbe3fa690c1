/* raise_control.c: `if` and `for` in the body of an element loop.
 *
 *     if c[i] { T[i] = e }                    T = select c, e, T: the mask of what stands inside
 *     for k = 0, n { T[i] = f(T[i], k) }      for k = 0, n { T = f(T, k) }: a loop of tiles
 *     for k = 0, len[i] { .. }                a loop to the largest end, with `k < len[i]` as a mask
 *
 * An `if` and a loop that are the same for all iterations stay what they are. */
#include "pass/raise/raise_loop.h"

typedef struct Inside { /* a region that tile ops go into, and what to go on with behind it */
    Builder before;
    bool masked;
    Raised mask;
} Inside;

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

static Inside open_region(Loop *loop, Region *region) {
    Inside inside = {loop->b, loop->masked, loop->mask};
    loop->b = ir_builder_inside(&loop->b, region);
    return inside;
}

static void close_region(Loop *loop, Inside inside) {
    loop->b = inside.before;
    loop->masked = inside.masked;
    loop->mask = inside.mask;
    loop->first = (Map){0}; /* what was made inside is not seen here */
}

/* --- if --- */

static void narrow_mask(Loop *loop, Raised condition) {
    loop->mask = loop->masked ? raise_both(loop, loop->mask, condition) : condition;
    loop->masked = true;
}

static bool raise_uniform_if(Loop *loop, Op *op, Ref condition) {
    if (!force_used(loop, op)) return false;
    loop->b.range = op->range;
    Op *made = ir_if(&loop->b, condition, 0, NULL);
    for (int side = 0; side < 2; side++) {
        Inside inside = open_region(loop, made->regions[side]);
        bool good = raise_region(loop, op->regions[side]);
        loop->b.range = op->range;
        ir_yield(&loop->b, NULL, 0);
        close_region(loop, inside);
        if (!good) return false;
    }
    return true;
}

bool raise_if(Loop *loop, Op *op) {
    Raised condition;
    if (!raise_value(loop, op->operands[0], &condition)) return false;
    if (!condition.count && !op->result_count) return raise_uniform_if(loop, op, condition.ref);
    bool masked = loop->masked;
    Raised mask = loop->mask, results[2];
    for (int side = 0; side < 2; side++) {
        const Region *region = op->regions[side];
        if (region->first == region->last && !op->result_count) continue;
        loop->b.range = op->range;
        narrow_mask(loop, side ? raise_not(loop, condition) : condition);
        bool good = raise_region(loop, op->regions[side]);
        loop->masked = masked;
        loop->mask = mask;
        if (!good) return false;
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
        narrow_mask(loop, active);
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
    if (!raise_region(loop, body)) return false;
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

bool raise_for(Loop *loop, Op *op) {
    Trips t = {.uniform = true};
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
    Inside inside = open_region(loop, made->regions[0]);
    Ref *next = ARENA_ARRAY(loop->cx->scratch, Ref, op->result_count + 1);
    bool good = raise_trip(loop, op, &t, made, next);
    loop->b.range = op->range;
    if (good) ir_yield(&loop->b, next, op->result_count);
    close_region(loop, inside);
    for (int i = 0; i < op->result_count && good; i++) {
        Raised result = t.carried[i];
        result.ref = made->results[i];
        raise_set(loop, op->results[i], result);
    }
    return good;
}
