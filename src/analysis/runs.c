/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c: see runs.h. One walk from a value to what it is made of, for one length and one demand. */
#include "analysis/runs.h"

enum { DEEPEST = 40, QUESTIONS = 600, LONGEST = 1 << 20 };

Runs runs_new(Analysis *a, bool may_wish, bool promises) {
    Runs q = {.a = a, .facts = facts_new(a->k, may_wish), .trust = RUN_PROVED, .promises = promises, .axis = -1};
    q.facts.whole_rows = a->wholes;
    return q;
}

static bool run_at(Runs *q, Ref x, int64_t n, int64_t multiple, int64_t *step, int depth);

static int64_t low_bit(int64_t x) { return x ? x & -x : LONGEST; }

static bool is_level(Runs *q, Ref x, int64_t n, int64_t multiple, int depth) {
    int64_t step;
    return run_at(q, x, n, multiple, &step, depth) && step == 0;
}

/* --- numbers --- */

static bool is_multiple(Runs *q, Ref x, int64_t multiple) {
    int64_t number;
    if (multiple <= 1) return true;
    if (ir_const_int(q->a->k, x, &number)) return low_bit(number) >= multiple;
    if (q->trust == RUN_LIKELY || fact_divisor(&q->facts, x) >= multiple) return true;
    return q->trust == RUN_ASKED ? fact_wish_multiple(&q->facts, x, multiple) : fact_may_wish(&q->facts, x, multiple);
}

bool runs_multiple(Runs *q, Poly p, int64_t multiple) {
    for (int i = 0; i < p.count; i++) {
        const Term *t = &p.at[i];
        int64_t left = multiple / low_bit(t->scale);
        for (int j = 0; left > 1 && j < t->count; j++) left /= fact_divisor(&q->facts, t->factor[j]);
        bool good = left <= 1;
        for (int j = 0; !good && j < t->count; j++)
            good = is_multiple(q, t->factor[j], left * fact_divisor(&q->facts, t->factor[j]));
        if (!good) return false;
    }
    return !p.bad;
}

/* Of a size, by which an index is divided or below which it stays: as with rows of whole vectors, a launch that has
 * another one may still have aligned strides, and runs a variant that asks for those alone. */
static bool is_whole_size(Runs *q, Ref x, int64_t n, int64_t multiple, int64_t *step, int depth) {
    bool may_wish = q->facts.may_wish;
    q->facts.may_wish = may_wish && q->facts.whole_rows;
    bool good = run_at(q, x, n, multiple, step, depth);
    q->facts.may_wish = may_wish;
    return good;
}

/* --- signs --- */

static bool is_natural_form(Analysis *a, Ref x) {
    const Affine *f = affine_of(a, x);
    bool natural = f->known && !f->base && affine_holds(a, f, ir_type(a->k, x)) && poly_is_natural(a, f->start);
    for (int d = 0; natural && d < f->rank; d++)
        natural = !f->axis[d].turn && !f->axis[d].part_count && poly_is_natural(a, f->axis[d].step);
    return natural;
}

static bool is_surely_natural(Runs *q, Ref number) {
    const Affine *f = affine_of(q->a, number);
    return fact_surely_natural(q->a->k, number) ||
           (f->known && !f->base && poly_is_surely_natural(q->a, f->start) && poly_fits_i32(q->a, f->start));
}

/* tile + number, where the number is natural and a multiple of more than the tile's numbers: the sum fits. */
static bool is_natural_sum(Runs *q, const Op *add) {
    for (int i = 0; i < 2; i++) {
        Ref tile = add->operands[i], number = add->operands[1 - i];
        const Op *splat = ref_is_value(number) ? ir_value(q->a->k, number)->op : NULL;
        if (splat && splat->code == OP_SPLAT) number = splat->operands[0];
        int64_t least, most, room = 1;
        if (!ty_is_scalar(ir_type(q->a->k, number)) || !affine_range(q->a, tile, &least, &most) || least < 0) continue;
        while (room <= most) room *= 2;
        if (fact_divisor(&q->facts, number) >= room && is_surely_natural(q, number)) return true;
    }
    return false;
}

static bool is_natural(Runs *q, Ref x, int depth) {
    const Kernel *k = q->a->k;
    int64_t number;
    if (q->trust == RUN_LIKELY) return true;
    if (depth > DEEPEST || --q->left < 0) return false;
    if (ir_const_int(k, x, &number)) return number >= 0;
    const Type *type = ir_type(k, x);
    if (type->kind != TY_TILE || type->pointer || !elem_is_int(type->elem)) return false;
    if (is_natural_form(q->a, x)) return true;
    const Op *op = ref_is_value(x) ? ir_value(k, x)->op : NULL;
    if (!op || !op->operand_count) return false;
    Ref a = op->operands[0], b = op->operand_count > 1 ? op->operands[1] : REF_NONE;
    switch (op->code) {
    case OP_ADD: return is_natural_sum(q, op);
    case OP_REM:
    case OP_SHR:
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE:
    case OP_RESHAPE: return is_natural(q, a, depth + 1);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_MIN: return is_natural(q, a, depth + 1) && is_natural(q, b, depth + 1);
    case OP_MAX:
    case OP_AND: return is_natural(q, a, depth + 1) || is_natural(q, b, depth + 1);
    case OP_SELECT: return is_natural(q, b, depth + 1) && is_natural(q, op->operands[2], depth + 1);
    case OP_CAST: {
        const ElemInfo *from = &elem_info[ir_type(k, a)->elem], *to = &elem_info[type->elem];
        if (ir_type(k, a)->pointer || from->cls == CLASS_FLOAT || from->bits > to->bits) return false;
        return from->cls != CLASS_INT && from->bits < to->bits ? true : is_natural(q, a, depth + 1);
    }
    default: return false;
    }
}

/* --- promises --- */

/* The most that the source says of a tile where it was made. (Of one that moves along several axes: nothing, it may
 * mean another one.) */
static int64_t promised(const Runs *q, Ref x, AttrId id) {
    const Value *v = ir_value(q->a->k, x);
    int64_t most = 1;
    if (q->axis >= 0 && ir_type(q->a->k, x)->rank > 1) return most;
    for (const Op *op = (v->op ? v->op->parent : v->region)->first_fact; op; op = op->next_fact)
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == x && op_int(op, id, 1) > most) most = op_int(op, id, 1);
    return most;
}

/* Vectors are believed as Triton believes them; a longer run may be a lie at the end of an array (`% N`). */
static bool is_promised(Runs *q, Ref x, int64_t n, int64_t multiple) {
    int64_t start = low_bit(promised(q, x, AT_MULT));
    return q->promises && promised(q, x, AT_CONTIGUOUS) >= n && multiple <= n && (multiple <= 1 || start >= multiple);
}

/* --- by op --- */

static bool run_sum(Runs *q, const Op *op, int64_t n, int64_t multiple, int64_t *step, int depth) {
    int64_t other;
    if (!run_at(q, op->operands[0], n, multiple, step, depth) ||
        !run_at(q, op->operands[1], n, multiple, &other, depth))
        return false;
    return op->code == OP_SUB ? !__builtin_sub_overflow(*step, other, step)
                              : !__builtin_add_overflow(*step, other, step);
}

/* By a number, or of two that are level. */
static bool run_product(Runs *q, Ref x, Ref y, int64_t n, int64_t multiple, int64_t *step, int depth) {
    int64_t by;
    if (ir_const_int(q->a->k, y, &by)) {
        int64_t left = multiple / low_bit(by);
        return run_at(q, x, n, left > 1 ? left : 1, step, depth) && !__builtin_mul_overflow(*step, by, step);
    }
    *step = 0;
    return is_level(q, x, n, 1, depth) && is_level(q, y, n, 1, depth) &&
           (is_level(q, x, n, multiple, depth) || is_level(q, y, n, multiple, depth));
}

/* x = divisor * quotient + rest. A run of x that begins with a multiple of its length lies between two multiples of a
 * divisor that is one too, whatever its sign; a divisor of 0 leaves x, and 0. */
static bool run_split(Runs *q, Ref value, Ref x, Ref divisor, bool rest, bool down, int64_t n, int64_t multiple,
                      int64_t *step, int depth) {
    int64_t by = 0;
    bool known = ir_const_int(q->a->k, divisor, &by);
    if (!is_level(q, divisor, n, 1, depth) || !run_at(q, x, n, 1, step, depth) || *step < 0) return false;
    if (*step == 0) {
        if (multiple <= 1) return true;
        if (rest) return is_level(q, x, n, multiple, depth) && is_level(q, divisor, n, multiple, depth);
        return known && by > 0 && by < LONGEST && low_bit(by) == by && is_level(q, x, n, by * multiple, depth);
    }
    int64_t pace = *step, span = n * pace;
    if (pace > LONGEST || (pace & (pace - 1)) || span > LONGEST) return false;
    if (!rest && known && by > 0 && pace % by == 0) { /* all are multiples of it */
        *step = pace / by;
        return by * multiple <= LONGEST && run_at(q, x, n, by * multiple, &pace, depth);
    }
    int64_t level;
    if (!run_at(q, x, n, span, &pace, depth) || !is_whole_size(q, divisor, n, span, &level, depth)) return false;
    bool turns = elem_is_signed(ir_type(q->a->k, value)->elem); /* toward 0 */
    bool believed = promised(q, value, AT_CONTIGUOUS) >= n;     /* the sign, not the end of an array */
    if (down ? !is_natural(q, divisor, depth) : turns && !believed && !is_natural(q, x, depth)) return false;
    *step = rest ? pace : 0;
    return multiple <= (rest ? span : 1);
}

/* x & (2^k - 1) is a remainder that is never negative, x & -2^k the rest. */
static bool run_and(Runs *q, const Op *op, int64_t n, int64_t multiple, int64_t *step, int depth) {
    int64_t mask;
    Ref x = op->operands[0];
    if (!ir_const_int(q->a->k, op->operands[1], &mask) || !run_at(q, x, n, 1, step, depth)) return false;
    if (*step == 0) return multiple <= 1 || low_bit(mask) >= multiple || is_level(q, x, n, multiple, depth);
    int64_t pace = *step, span = n * pace;
    if (pace < 0 || pace > LONGEST || (pace & (pace - 1)) || span > LONGEST || !run_at(q, x, n, span, &pace, depth))
        return false;
    bool low = mask > 0 && !(mask & (mask + 1)) && mask + 1 >= span,
         high = mask < 0 && low_bit(mask) == -mask && -mask >= span;
    *step = low ? pace : 0;
    return low ? multiple <= span : high && multiple <= -mask;
}

/* Of a comparison: all or none of a run. */
static bool run_compare(Runs *q, const Op *op, int64_t n, int depth) {
    int64_t x, y;
    if (!elem_is_int(ir_type(q->a->k, op->operands[0])->elem) || !run_at(q, op->operands[0], n, 1, &x, depth) ||
        !run_at(q, op->operands[1], n, 1, &y, depth))
        return false;
    if (x == 0 && y == 0) return true;
    /* x < y, x >= y: where both are multiples of the run, it lies on one side. */
    Word predicate = op_word(op, AT_PRED, CMP_EQ);
    bool left = x == 1 && y == 0 && (predicate == CMP_LT || predicate == CMP_GE);
    bool right = x == 0 && y == 1 && (predicate == CMP_GT || predicate == CMP_LE);
    return (left || right) && is_whole_size(q, op->operands[0], n, n, &x, depth) &&
           is_whole_size(q, op->operands[1], n, n, &y, depth);
}

/* A value that a `for` carries and moves by level numbers. */
static bool run_carried(Runs *q, Ref x, int64_t n, int64_t multiple, int64_t *step, int depth) {
    const Value *v = ir_value(q->a->k, x);
    const Op *loop = v->region->owner;
    if (!loop || loop->code != OP_FOR || v->index == 0) return false;
    Ref next = v->region->last->operands[v->index - 1];
    const Op *add = ref_is_value(next) ? ir_value(q->a->k, next)->op : NULL;
    if (!run_at(q, loop->operands[2 + v->index], n, multiple, step, depth)) return false;
    if (next == x) return true;
    if (!add || (add->code != OP_ADD && add->code != OP_SUB)) return false;
    int by = add->operands[0] == x ? 1 : add->code == OP_ADD && add->operands[1] == x ? 0 : -1;
    return by >= 0 && is_level(q, add->operands[by], n, multiple, depth);
}

static bool run_cast(Runs *q, const Op *op, const Type *type, int64_t n, int64_t multiple, int64_t *step, int depth) {
    const Type *from = ir_type(q->a->k, op->operands[0]);
    bool ints = elem_is_int(type->elem) && !from->pointer && elem_is_int(from->elem);
    if (!ints) return multiple <= 1 && is_level(q, op->operands[0], n, 1, depth);
    if (!run_at(q, op->operands[0], n, multiple, step, depth)) return false;
    bool wider = elem_info[type->elem].bits >= elem_info[from->elem].bits &&
                 elem_is_signed(type->elem) == elem_is_signed(from->elem);
    if (*step == 0 || (wider && elem_info[from->elem].bits >= 32)) return true;
    return *step > 0 && *step <= LONGEST && low_bit(*step) == *step && n * *step <= LONGEST &&
           run_at(q, op->operands[0], n, n * *step, step, depth);
}

/* What is made of level things element by element is level. */
static bool run_other(Runs *q, const Op *op, int64_t n, int depth) {
    bool reads = op->code == OP_LOAD && !op_flag(op, AT_VOLATILE);
    if (!reads && !affine_is_slicewise(op)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !is_level(q, op->operands[i], n, 1, depth)) return false;
    return true;
}

/* The same elements in another shape; the axis is that of the operand on the way. */
static bool run_spread(Runs *q, const Op *op, int64_t n, int64_t multiple, int64_t *step, int depth) {
    int axis = q->axis;
    if (axis >= 0) q->axis = affine_axis_from(q->a->k, op, axis);
    bool still = axis >= 0 && q->axis < 0;
    bool good = still ? multiple <= 1 : run_at(q, op->operands[0], n, multiple, step, depth);
    q->axis = axis;
    return good;
}

static bool run_op(Runs *q, Ref x, const Op *op, int64_t n, int64_t multiple, int64_t *step, int depth) {
    const Type *type = ir_type(q->a->k, x);
    int64_t number, other;
    bool down = (op->code == OP_MOD || op->code == OP_FLOORDIV) && elem_is_signed(type->elem);
    switch (op->code) {
    case OP_IOTA:
        number = op_int(op, AT_BEGIN, 0);
        *step = 1;
        return low_bit(number) >= multiple && (n >= multiple || type->extent[0] <= n);
    case OP_SPLAT: return multiple <= 1 || is_multiple(q, op->operands[0], multiple);
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_PERMUTE:
    case OP_RESHAPE: return affine_is_spread(q->a->k, op) && run_spread(q, op, n, multiple, step, depth);
    case OP_ADD:
    case OP_SUB: return run_sum(q, op, n, multiple, step, depth);
    case OP_MUL: return run_product(q, op->operands[0], op->operands[1], n, multiple, step, depth);
    case OP_SHL:
        if (!ir_const_int(q->a->k, op->operands[1], &number) || number < 0 || number > 20) break;
        other = multiple >> number;
        return run_at(q, op->operands[0], n, other > 1 ? other : 1, step, depth) &&
               !__builtin_mul_overflow(*step, (int64_t)1 << number, step);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_REM:
    case OP_MOD: {
        bool rest = op->code == OP_REM || op->code == OP_MOD;
        return run_split(q, x, op->operands[0], op->operands[1], rest, down, n, multiple, step, depth);
    }
    case OP_SHR:
        if (!ir_const_int(q->a->k, op->operands[1], &number) || number < 0 || number > 20) break;
        return run_split(q, x, op->operands[0],
                         ir_literal_int(q->a->k, ty_scalar(q->a->k->module, EL_I64), (int64_t)1 << number), false, true,
                         n, multiple, step, depth);
    case OP_AND:
        if (type->elem == EL_I1) break;
        return run_and(q, op, n, multiple, step, depth);
    case OP_CAST: return run_cast(q, op, type, n, multiple, step, depth);
    case OP_SELECT:
        return is_level(q, op->operands[0], n, 1, depth) && run_at(q, op->operands[1], n, multiple, step, depth) &&
               run_at(q, op->operands[2], n, multiple, &other, depth) && *step == other;
    case OP_CMP:
        if (multiple <= 1 && run_compare(q, op, n, depth)) return true;
        break;
    default: break;
    }
    *step = 0;
    return multiple <= 1 && run_other(q, op, n, depth);
}

static bool run_at(Runs *q, Ref x, int64_t n, int64_t multiple, int64_t *step, int depth) {
    *step = 0;
    if (depth > DEEPEST || --q->left < 0 || multiple > LONGEST) return false;
    const Type *type = ir_type(q->a->k, x);
    if (type->kind != TY_TILE) return false;
    if (ref_is_literal(x) || type->rank == 0) return is_multiple(q, x, multiple);
    if (q->axis >= type->rank) return false;
    if (q->axis >= 0 && type->extent[q->axis] == 1) return multiple <= 1;
    if (is_promised(q, x, n, multiple)) {
        *step = 1;
        return true;
    }
    const Value *v = ir_value(q->a->k, x);
    return v->op ? run_op(q, x, v->op, n, multiple, step, depth + 1) : run_carried(q, x, n, multiple, step, depth + 1);
}

bool runs_of(Runs *q, Ref value, int64_t n, int64_t multiple, int64_t *step) {
    size_t wishes = q->a->wishes.count;
    bool grid = q->a->grid_wished;
    q->left = QUESTIONS;
    bool good = run_at(q, value, n, multiple, step, 0);
    if (q->trust != RUN_ASKED) { /* so far it is a question */
        q->a->wishes.count = wishes;
        q->a->grid_wished = grid;
    }
    return good;
}

bool runs_level(Runs *q, Ref value, int64_t n) {
    int64_t step;
    return runs_of(q, value, n, 1, &step) && step == 0;
}

bool runs_level_along(Runs *q, Ref value, int axis, int64_t n) {
    q->axis = axis;
    bool level = runs_level(q, value, n);
    q->axis = -1;
    return level;
}
