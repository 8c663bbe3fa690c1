/* SPDX-License-Identifier: Apache-2.0 */
/* facts_ends.c: how far a number goes, in numbers that the launch computes.
 *
 *     tasks %part in %np { for %k = 0, %n, 1 { %at = 64 * %part + 512 * %k } }
 *     64 * (%np - 1) + 512 * (%n - 1)      is the most that %at can be
 *
 * A coordinate of 64 bits is nearly always one of 32, which engines that copy boxes ask for; no type says so, but the
 * launch knows. Ends are those of exact arithmetic, as places are taken to be (docs/ir.md). A number that may be any of
 * its type has none: a wish that no launch keeps would cost the kernel its best variant. */
#include "analysis/facts.h"

enum { QUESTIONS = 64 };
typedef __int128 Wide;

/* Both ends as values of i64 (REF_NONE: not built yet), and what they can be at the very most. */
typedef struct Ends {
    Ref low, high;
    Wide least, most;
} Ends;

typedef struct EndsQuery {
    const Facts *f;
    Builder *b; /* NULL: only whether there are any */
    int left;   /* questions */
} EndsQuery;

static bool ends_of(EndsQuery *q, Ref x, Ends *out);

static Ref number(const EndsQuery *q, int64_t n) { return q->b ? ir_int(q->b, EL_I64, n) : REF_NONE; }
static Ref combine(const EndsQuery *q, Opcode code, Ref x, Ref y) {
    return q->b ? ir_binary(q->b, code, x, y) : REF_NONE;
}

/* A number of 32 bits that is the same for the whole launch. */
static bool is_given(const Kernel *k, Ref x) {
    const Value *v = ref_is_value(x) ? ir_value(k, x) : NULL;
    bool grid = v && v->op && v->op->code == OP_NUM_PROGRAMS && v->op->parent == k->body;
    return v && !v->type->rank && !v->type->pointer && fact_is_32_bits(k, x) && (grid || fact_at_launch(k, x));
}

static bool given_ends(const EndsQuery *q, Ref x, Ends *out) {
    Ref wide = q->b ? ir_cast(q->b, x, EL_I64) : REF_NONE;
    *out = (Ends){wide, wide, INT32_MIN, INT32_MAX};
    return true;
}

/* Places in the grid, and numbers that a loop counts. */
static bool argument_ends(EndsQuery *q, const Region *region, int index, Ends *out) {
    const Op *owner = region->owner;
    int64_t step;
    Ends first = {number(q, 0), REF_NONE, 0, 0}, end;
    if (!owner || (owner->code != OP_TASKS && owner->code != OP_FOR)) return false;
    bool counts = owner->code == OP_FOR;
    if (counts && (index || !ir_const_int(q->f->k, owner->operands[2], &step) || step < 1 ||
                   !ends_of(q, owner->operands[0], &first)))
        return false;
    int last = counts ? 1 : index;
    if (last >= owner->operand_count || !ends_of(q, owner->operands[last], &end)) return false;
    *out = (Ends){first.low, combine(q, OP_SUB, end.high, number(q, 1)), first.least, end.most - 1};
    return true;
}

static void swap_ends(Ends *e) { *e = (Ends){e->high, e->low, -e->most, -e->least}; }

static bool product_ends(EndsQuery *q, const Op *op, Ends *out) {
    const Kernel *k = q->f->k;
    Ends by;
    int64_t scale;
    for (int i = 0; i < 2; i++) {
        if (!ir_const_int(k, op->operands[i], &scale) || scale < INT32_MIN || scale > INT32_MAX) continue;
        if (!ends_of(q, op->operands[1 - i], out)) return false;
        Ref factor = number(q, scale);
        *out = (Ends){combine(q, OP_MUL, out->low, factor), combine(q, OP_MUL, out->high, factor), out->least * scale,
                      out->most * scale};
        if (scale < 0) *out = (Ends){out->high, out->low, out->most, out->least};
        return true;
    }
    for (int i = 0; i < 2; i++)
        if (!fact_natural(k, op->operands[i], NULL, NULL)) return false;
    if (!ends_of(q, op->operands[0], out) || !ends_of(q, op->operands[1], &by)) return false;
    *out = (Ends){number(q, 0), combine(q, OP_MUL, out->high, by.high), 0, out->most * by.most};
    return true;
}

/* Of numbers that are not negative: a quotient is no larger than what is divided, a remainder smaller than what
 * divides. */
static bool quotient_ends(EndsQuery *q, const Op *op, Ends *out) {
    const Kernel *k = q->f->k;
    bool rest = op->code == OP_REM || op->code == OP_MOD;
    for (int i = 0; i < 2; i++)
        if (!fact_natural(k, op->operands[i], NULL, NULL)) return false;
    if (!ends_of(q, op->operands[rest], out)) return false;
    *out = (Ends){number(q, 0), rest ? combine(q, OP_SUB, out->high, number(q, 1)) : out->high, 0, out->most};
    return true;
}

/* Larger than any sum of few products: what cannot be computed in 64 bits is not. */
static bool is_small(const Ends *e) { return e->least > -((Wide)1 << 62) && e->most < (Wide)1 << 62; }

static bool op_ends(EndsQuery *q, const Op *op, Ends *out) {
    Ends other;
    switch (op->code) {
    case OP_CAST: {
        const Type *from = ir_type(q->f->k, op->operands[0]), *to = ir_type(q->f->k, op->results[0]);
        const ElemInfo *narrow = &elem_info[from->elem], *wide = &elem_info[to->elem];
        return elem_is_int(from->elem) && elem_is_signed(to->elem) && narrow->bits < wide->bits &&
               ends_of(q, op->operands[0], out);
    }
    case OP_ADD:
    case OP_SUB:
        if (!ends_of(q, op->operands[0], out) || !ends_of(q, op->operands[1], &other)) return false;
        if (op->code == OP_SUB) swap_ends(&other);
        *out = (Ends){combine(q, op->code, out->low, other.low), combine(q, op->code, out->high, other.high),
                      out->least + other.least, out->most + other.most};
        return true;
    case OP_MUL: return product_ends(q, op, out);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_REM:
    case OP_MOD: return quotient_ends(q, op, out);
    default: return false;
    }
}

static bool ends_of(EndsQuery *q, Ref x, Ends *out) {
    const Kernel *k = q->f->k;
    int64_t n;
    if (--q->left < 0) return false;
    if (ir_const_int(k, x, &n)) {
        *out = (Ends){number(q, n), number(q, n), n, n};
        return is_small(out);
    }
    if (!ref_is_value(x)) return false;
    if (is_given(k, x)) return given_ends(q, x, out);
    const Value *v = ir_value(k, x);
    if (v->type->rank || v->type->pointer || !elem_is_int(v->type->elem)) return false;
    return (v->op ? op_ends(q, v->op, out) : argument_ends(q, v->region, v->index, out)) && is_small(out);
}

/* Two values that the same ops make of the same numbers. */
static bool is_same(const Kernel *k, Ref x, Ref y) {
    int64_t m, n;
    if (x == y) return true;
    if (ir_const_int(k, x, &m) && ir_const_int(k, y, &n)) return m == n;
    const Op *a = ref_is_value(x) ? ir_value(k, x)->op : NULL, *b = ref_is_value(y) ? ir_value(k, y)->op : NULL;
    if (!a || !b || a->code != b->code || a->operand_count != b->operand_count || !a->operand_count || a->attr_count ||
        b->attr_count || ir_type(k, x) != ir_type(k, y))
        return false;
    for (int i = 0; i < a->operand_count; i++)
        if (!is_same(k, a->operands[i], b->operands[i])) return false;
    return true;
}

static bool is_required(const Kernel *k, Ref x) {
    for (const Op *op = k->body->first_fact; op; op = op->next_fact)
        if (op->code == OP_REQUIRE && op_int(op, AT_LEAST, -1) == 0 && is_same(k, op->operands[0], x)) return true;
    return false;
}

static bool is_used(const Op *from, const Op *to, Ref x) {
    for (const Op *op = from; op != to; op = op->next)
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == x) return true;
    return false;
}

/* What was made between the two for a question goes, where nothing needs it. */
static void clear_away(const Op *mark, const Op *before) {
    for (Op *op = before->previous, *next; op && op != mark; op = next) {
        next = op->previous;
        if (op->code != OP_REQUIRE && !is_used(op->next, before, op->results[0])) ir_remove(op);
    }
}

/* INT32_MAX - the largest, or the smallest - INT32_MIN, is at least 0: required already (boxes of several arrays begin
 * at the same place), or with `wish` from now on. */
static bool end_fits(const Facts *f, Op *before, Ref x, bool high, bool wish) {
    Builder b = ir_builder_before(f->k, before);
    const Op *mark = before->previous;
    Ends ends;
    if (!ends_of(&(EndsQuery){.f = f, .b = &b, .left = QUESTIONS}, x, &ends)) return false;
    Ref left = high ? ir_binary(&b, OP_SUB, ir_int(&b, EL_I64, INT32_MAX), ends.high)
                    : ir_binary(&b, OP_SUB, ends.low, ir_int(&b, EL_I64, INT32_MIN));
    bool fits = is_required(f->k, left);
    if (!fits && wish) {
        Op *op = ir_begin(&b, OP_REQUIRE);
        ir_operand(&b, op, left);
        op_set(f->k, op, (Attr){.id = AT_LEAST, .number = 0});
        ir_end(&b, op, NULL);
        fits = true;
    }
    clear_away(mark, before);
    return fits;
}

bool fact_wish_32_bits(Facts *f, Ref x) {
    Kernel *k = f->k;
    Ends ends;
    if (fact_is_32_bits(k, x)) return true;
    Op *runs = k->body->first; /* all that a launch knows stands before it */
    while (runs && !runs->region_count) runs = runs->next;
    if (!runs || !ends_of(&(EndsQuery){.f = f, .left = QUESTIONS}, x, &ends)) return false;
    if (f->may_wish && f->only_asks) return true;
    return end_fits(f, runs, x, true, f->may_wish) &&
           (fact_natural(k, x, NULL, NULL) || end_fits(f, runs, x, false, f->may_wish));
}
