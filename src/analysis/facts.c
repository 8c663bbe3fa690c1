/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c: see facts.h. */
#include "analysis/facts.h"

enum { LARGEST = 1 << 20, DEEPEST = 24, QUESTIONS = 4000, WISHES = 64 };

Facts facts_new(Kernel *k, bool may_wish) { return (Facts){.k = k, .may_wish = may_wish}; }

/* Divisors are numbers >= 0: of 0, which everything divides, it is 0. */
static int64_t magnitude(int64_t x) { return x == INT64_MIN ? INT64_MAX / 2 + 1 : x < 0 ? -x : x; }

/* The largest power of two in a divisor. */
static int64_t low_bit(int64_t divisor) {
    if (divisor == 0) return LARGEST;
    int64_t bit = divisor & -divisor;
    return bit > LARGEST ? LARGEST : bit;
}

/* What divides both. */
static int64_t common(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* What divides the product; where that is too large, the powers of two in it. */
static int64_t times(int64_t a, int64_t b) {
    int64_t product;
    if (!__builtin_mul_overflow(a, b, &product)) return product;
    return low_bit(low_bit(a) * low_bit(b));
}

/* Both divide it. */
static int64_t joined(int64_t a, int64_t b) { return a && b ? times(a / common(a, b), b) : 0; }

static const Attr *stated_in(const Region *region, Ref x, AttrId id, const Attr *best) {
    for (const Op *op = region->first_fact; op; op = op->next_fact) {
        const Attr *attr = op_attr(op, id);
        for (int i = 0; attr && i < op->operand_count; i++)
            if (op->operands[i] == x && (!best || attr->number > best->number)) best = attr;
    }
    return best;
}

/* A fact stated about x at the top of the kernel, or where x is made: the strongest `multiple` (align for addresses),
 * or EQ. */
static const Attr *stated(const Kernel *k, Ref x, AttrId id) {
    const Value *v = ir_value(k, x);
    const Region *own = v->op ? v->op->parent : v->region;
    const Attr *best = stated_in(k->body, x, id, NULL);
    return own == k->body ? best : stated_in(own, x, id, best);
}

typedef struct DivisorQuery {
    const Kernel *k;
    int left; /* questions, as in NaturalQuery */
} DivisorQuery;

static int64_t divisor_at(DivisorQuery *q, Ref x, int depth);

/* Of a value that its type may have cut off: modulo a power of two only powers of two stay. */
static int64_t cut_to(const Type *type, int64_t divisor) {
    bool exact = type->pointer || (elem_info[type->elem].cls == CLASS_INT && elem_info[type->elem].bits >= 32);
    return exact || !divisor ? divisor : low_bit(divisor);
}

static int64_t divisor_of_op(DivisorQuery *q, const Value *v, int depth) {
    const Op *op = v->op;
    int64_t a, b, number;
    switch (op->code) {
    case OP_ADD:
    case OP_SUB:
    case OP_REM: /* x - y * quotient; of y = 0 it is x */
    case OP_MOD:
    case OP_MIN:
    case OP_MAX: return common(divisor_at(q, op->operands[0], depth), divisor_at(q, op->operands[1], depth));
    case OP_SELECT: return common(divisor_at(q, op->operands[1], depth), divisor_at(q, op->operands[2], depth));
    case OP_MUL: return times(divisor_at(q, op->operands[0], depth), divisor_at(q, op->operands[1], depth));
    case OP_AND:
    case OP_OR:
        a = low_bit(divisor_at(q, op->operands[0], depth));
        b = low_bit(divisor_at(q, op->operands[1], depth));
        return (op->code == OP_AND) == (a > b) ? a : b;
    case OP_SHL:
        if (!ir_const_int(q->k, op->operands[1], &number) || number < 0 || number > 20) return 1;
        return times(divisor_at(q, op->operands[0], depth), (int64_t)1 << number);
    case OP_DIV:
    case OP_FLOORDIV:
        if (!ir_const_int(q->k, op->operands[1], &number) || number <= 0) return 1;
        a = divisor_at(q, op->operands[0], depth);
        return a % number ? 1 : a / number;
    case OP_SPLAT: return divisor_at(q, op->operands[0], depth);
    case OP_NEG:
    case OP_CAST: {
        const Type *from = ir_type(q->k, op->operands[0]);
        if (!elem_is_int(v->type->elem) || !elem_is_int(from->elem)) return 1;
        a = divisor_at(q, op->operands[0], depth);
        return elem_info[v->type->elem].bits < elem_info[from->elem].bits && a ? low_bit(a) : a;
    }
    case OP_PTR_ADD:
        b = times(divisor_at(q, op->operands[1], depth), elem_info[v->type->elem].bytes);
        return common(divisor_at(q, op->operands[0], depth), b);
    default: return 1;
    }
}

static int64_t divisor_at(DivisorQuery *q, Ref x, int depth) {
    if (x == REF_NONE || depth > DEEPEST || --q->left < 0) return 1;
    const Kernel *k = q->k;
    int64_t number;
    if (ir_const_int(k, x, &number)) return magnitude(number);
    if (ref_is_literal(x)) return 1;
    const Value *v = ir_value(k, x);
    bool tile = v->type->rank > 0; /* what is stated of one is said of the first of each run of its elements */
    const Attr *fact = tile ? NULL : stated(k, x, v->type->pointer ? AT_ALIGN : AT_MULT);
    int64_t known = fact ? magnitude(fact->number) : 1;
    if (!tile && (fact = stated(k, x, AT_EQ))) known = joined(known, magnitude(fact->number));
    if (v->type->pointer) known = joined(known, elem_info[v->type->elem].bytes);
    int64_t found = 1;
    if (v->op) {
        found = cut_to(v->type, divisor_of_op(q, v, depth + 1));
    } else if (v->region->owner && v->region->owner->code == OP_FOR && v->index == 0) {
        const Op *loop = v->region->owner;
        found = common(divisor_at(q, loop->operands[0], depth + 1), divisor_at(q, loop->operands[2], depth + 1));
    }
    return joined(found, known);
}

int64_t fact_multiple(const Kernel *k, Ref x) { return divisor_at(&(DivisorQuery){k, QUESTIONS}, x, 0); }

int64_t fact_divisor(const Facts *f, Ref x) { return low_bit(fact_multiple(f->k, x)); }

/* What a promised condition says x is at least. */
static void promised_least(const Kernel *k, Ref condition, Ref x, int64_t *known, int depth) {
    const Op *op = ref_is_value(condition) ? ir_value(k, condition)->op : NULL;
    if (op && op->code == OP_AND && !ir_type(k, condition)->rank && depth < 8)
        for (int i = 0; i < 2; i++) promised_least(k, op->operands[i], x, known, depth + 1);
    if (!op || op->code != OP_CMP || ir_type(k, op->operands[0])->rank) return;
    int side = op->operands[1] == x;
    int64_t number;
    if (op->operands[side] != x || !ir_const_int(k, op->operands[1 - side], &number)) return;
    Word predicate = op_word(op, AT_PRED, CMP_NE);
    bool equal = predicate == CMP_EQ || predicate == (side ? CMP_LE : CMP_GE);
    bool more = predicate == (side ? CMP_LT : CMP_GT) && number < INT64_MAX;
    if ((equal || more) && number + more > *known) *known = number + more;
}

/* One assume or require: what it says x is at least. */
static void stated_least(const Kernel *k, const Op *op, Ref x, int64_t *known) {
    const Attr *least = op_attr(op, AT_LEAST), *eq = op_attr(op, AT_EQ);
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] != x) continue;
        if (least && least->number > *known) *known = least->number;
        if (eq && eq->number > *known) *known = eq->number;
    }
    if (op->code == OP_ASSUME && op->operand_count == 1 && !op->attr_count)
        promised_least(k, op->operands[0], x, known, 0);
}

int64_t fact_stated_least(const Kernel *k, Ref x) {
    int64_t known = INT64_MIN;
    for (const Op *op = k->body->first_fact; op; op = op->next_fact) stated_least(k, op, x, &known);
    return known;
}

typedef struct NaturalQuery {
    const Kernel *k;
    FactHook *hook;
    void *user;
    bool wraps; /* sums and products may have wrapped around */
    int left;   /* questions, so that a value made of itself twice, many times, costs no exponential */
} NaturalQuery;

static bool natural_at(NaturalQuery *q, Ref x, int depth);

/* A carried value that only grows, from a start that is natural. */
static bool grows(NaturalQuery *q, Ref start, Ref arg, Ref next, int depth) {
    if (!natural_at(q, start, depth)) return false;
    if (next == arg) return true;
    const Op *op = ref_is_value(next) ? ir_value(q->k, next)->op : NULL;
    if (!op || op->code != OP_ADD || q->wraps) return natural_at(q, next, depth);
    for (int i = 0; i < 2; i++)
        if (op->operands[i] == arg) return natural_at(q, op->operands[1 - i], depth);
    return natural_at(q, next, depth);
}

static bool is_natural_variable(NaturalQuery *q, const Op *loop, int depth) {
    int64_t step, last;
    if (!ir_const_int(q->k, loop->operands[2], &step) || step > 0) /* run-time steps are > 0 */
        return natural_at(q, loop->operands[0], depth);
    if (ir_const_int(q->k, loop->operands[1], &last)) return last >= -1;
    return natural_at(q, loop->operands[1], depth);
}

static bool is_natural_argument(NaturalQuery *q, Ref x, int depth) {
    const Value *v = ir_value(q->k, x);
    const Op *owner = v->region->owner;
    if (!owner) return false;
    int i = v->index;
    switch (owner->code) {
    case OP_TASKS: return true;
    case OP_FOR:
        if (i == 0) return is_natural_variable(q, owner, depth);
        return grows(q, owner->operands[2 + i], x, v->region->last->operands[i - 1], depth);
    case OP_WHILE: {
        const Region *test = owner->regions[0], *body = owner->regions[1];
        if (test->last->operands[1 + i] != test->args[i]) return false;
        return grows(q, owner->operands[i], body->args[i], body->last->operands[i], depth);
    }
    default: return false;
    }
}

/* Extents and what divides them are sizes of memory: they fit wherever the source puts them. */
static bool is_size(const Kernel *k, Ref x, int depth) {
    if (ref_is_literal(x)) return true;
    const Op *op = ref_is_value(x) ? ir_value(k, x)->op : NULL;
    if (!op || depth > 8) return false;
    switch (op->code) {
    case OP_EXTENT: return true;
    case OP_CAST: return is_size(k, op->operands[0], depth + 1);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_CDIV:
    case OP_MIN: return is_size(k, op->operands[0], depth + 1) && is_size(k, op->operands[1], depth + 1);
    default: return false;
    }
}

/* A conversion keeps a natural number unless it cuts bits or turns one into the sign. */
static bool is_natural_cast(NaturalQuery *q, const Op *op, Elem to, int depth) {
    const Type *type = ir_type(q->k, op->operands[0]);
    if (type->pointer || type->elem == EL_I1) return !type->pointer;
    const ElemInfo *from = &elem_info[type->elem];
    if (from->cls == CLASS_UINT) return from->bits < elem_info[to].bits;
    if (from->cls == CLASS_INT && from->bits > elem_info[to].bits && !is_size(q->k, op->operands[0], 0)) return false;
    return natural_at(q, op->operands[0], depth);
}

static const Op *made_by(const Kernel *k, Ref r, Opcode code) {
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    return op && op->code == code ? op : NULL;
}

/* What a number counted by a loop stays below, or REF_NONE: %i, or %k * step (+ lo) of a loop that counts its trips. */
static Ref bound_of(const Kernel *k, Ref id) {
    const Op *sum = made_by(k, id, OP_ADD), *product = NULL;
    Ref lo = REF_NONE;
    for (int i = 0; sum && i < 2 && !product; i++) {
        product = made_by(k, sum->operands[i], OP_MUL);
        lo = sum->operands[1 - i];
    }
    if (!sum) product = made_by(k, id, OP_MUL);
    Ref variable = product ? product->operands[0] : id;
    const Value *v = ref_is_value(variable) ? ir_value(k, variable) : NULL;
    const Op *loop = v && !v->op ? v->region->owner : NULL;
    if (!loop || loop->code != OP_FOR || v->index != 0) return REF_NONE;
    int64_t step, from;
    if (!ir_const_int(k, loop->operands[2], &step) || step < 1) return REF_NONE;
    if (!product) return sum ? REF_NONE : loop->operands[1];
    const Op *trips = made_by(k, loop->operands[1], OP_CDIV);
    if (!trips || trips->operands[1] != product->operands[1] || step != 1 ||
        !ir_const_int(k, loop->operands[0], &from) || from != 0)
        return REF_NONE;
    if (!sum) return trips->operands[0];
    const Op *length = made_by(k, trips->operands[0], OP_SUB);
    const Op *end = length ? made_by(k, length->operands[0], OP_MAX) : NULL;
    if (!end || length->operands[1] != lo) return REF_NONE;
    return end->operands[0] == lo ? end->operands[1] : end->operands[1] == lo ? end->operands[0] : REF_NONE;
}

/* The height of a group of rows, min(rows - first, G), first = id / (columns * G) * G, is at least
 * 1 when id < rows * columns. */
static bool is_group_size(NaturalQuery *q, const Op *min, int depth) {
    const Kernel *k = q->k;
    int64_t group, again, width;
    const Op *left = made_by(k, min->operands[0], OP_SUB);
    const Op *first = left ? made_by(k, left->operands[1], OP_MUL) : NULL;
    const Op *number = first ? made_by(k, first->operands[0], OP_DIV) : NULL;
    if (first && !number) number = made_by(k, first->operands[0], OP_FLOORDIV);
    const Op *wide = number ? made_by(k, number->operands[1], OP_MUL) : NULL;
    if (!wide || !ir_const_int(k, min->operands[1], &group) || group < 1 ||
        !ir_const_int(k, first->operands[1], &again) || again != group || !ir_const_int(k, wide->operands[1], &width) ||
        width != group)
        return false;
    Ref rows = left->operands[0], columns = wide->operands[0], bound = bound_of(k, number->operands[0]);
    const Op *places = bound ? made_by(k, bound, OP_MUL) : NULL;
    bool all = places && ((places->operands[0] == rows && places->operands[1] == columns) ||
                          (places->operands[1] == rows && places->operands[0] == columns));
    return all && natural_at(q, number->operands[0], depth) && natural_at(q, rows, depth) &&
           natural_at(q, columns, depth);
}

/* A place in the grid: of the launch, or of the tasks that the blocks share out among them. */
static bool is_program(const Kernel *k, Ref r) {
    if (made_by(k, r, OP_PROGRAM_ID)) return true;
    const Value *v = ref_is_value(r) ? ir_value(k, r) : NULL;
    return v && !v->op && v->region->owner && v->region->owner->code == OP_TASKS;
}

/* A place in the grid times an extent is taken to fit (affine_size.c). */
static bool is_place(const Kernel *k, const Op *product) {
    int64_t by;
    return product->code == OP_MUL && is_program(k, product->operands[0]) &&
           ir_const_int(k, product->operands[1], &by) && by >= 0 && by <= MAX_TILE_ELEMENTS;
}

/* The elements of a tile that begins at such a place: below 2^31, as the multiples of a power of two end before. */
static bool is_tile_place(const Kernel *k, const Op *sum) {
    int64_t by;
    for (int i = 0; sum->code == OP_ADD && i < 2; i++) {
        const Op *place = made_by(k, sum->operands[i], OP_MUL), *at = made_by(k, sum->operands[1 - i], OP_IOTA);
        if (!place || !at || !is_place(k, place) || !ir_const_int(k, place->operands[1], &by)) continue;
        int64_t begin = op_int(at, AT_BEGIN, 0), end = begin + ir_type(k, at->results[0])->extent[0];
        if (by > 0 && !(by & (by - 1)) && begin >= 0 && end <= by) return true;
    }
    return false;
}

static bool natural_at(NaturalQuery *q, Ref x, int depth) {
    const Kernel *k = q->k;
    if (x == REF_NONE || depth > DEEPEST || --q->left < 0) return false;
    int64_t number;
    if (ir_const_int(k, x, &number)) return number >= 0;
    if (ref_is_literal(x)) return false;
    const Value *v = ir_value(k, x);
    if (v->type->kind != TY_TILE || v->type->pointer) return false;
    const ElemInfo *info = &elem_info[v->type->elem];
    if (info->cls == CLASS_UINT && info->bits < 64) return true;
    if (fact_stated_least(q->k, x) >= 0 || (q->hook && q->hook(q->user, x))) return true;
    depth++;
    if (!v->op) return is_natural_argument(q, x, depth);
    const Op *op = v->op;
    Ref a = op->operand_count ? op->operands[0] : REF_NONE, b = op->operand_count > 1 ? op->operands[1] : REF_NONE;
    switch (op->code) {
    case OP_PROGRAM_ID:
    case OP_NUM_PROGRAMS:
    case OP_EXTENT: return true;
    case OP_IOTA: return op_int(op, AT_BEGIN, 0) >= 0;
    case OP_ADD: /* offsets are taken not to overflow (docs/ir.md) */
    case OP_MUL:
        if (q->wraps && !is_place(k, op) && !is_tile_place(k, op) && !bound_of(k, x)) return false;
        return natural_at(q, a, depth) && natural_at(q, b, depth);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_CDIV:
    case OP_OR: return natural_at(q, a, depth) && natural_at(q, b, depth);
    case OP_MIN: return (natural_at(q, a, depth) && natural_at(q, b, depth)) || is_group_size(q, op, depth);
    case OP_REM:
    case OP_SHR: return natural_at(q, a, depth);
    case OP_CAST: return is_natural_cast(q, op, v->type->elem, depth);
    case OP_MOD: /* by 0 it is the dividend */
        return natural_at(q, b, depth) && ((ir_const_int(k, b, &number) && number > 0) || natural_at(q, a, depth));
    case OP_MAX:
    case OP_AND: return natural_at(q, a, depth) || natural_at(q, b, depth);
    case OP_SELECT: return natural_at(q, b, depth) && natural_at(q, op->operands[2], depth);
    case OP_IF:
        return natural_at(q, op->regions[0]->last->operands[v->index], depth) &&
               natural_at(q, op->regions[1]->last->operands[v->index], depth);
    case OP_FOR: return is_natural_argument(q, op->regions[0]->args[1 + v->index], depth);
    default: return false;
    }
}

bool fact_is_32_bits(const Kernel *k, Ref x) {
    int64_t number;
    if (ir_const_int(k, x, &number)) return number >= INT32_MIN && number <= INT32_MAX;
    if (!ref_is_value(x)) return false;
    const Value *v = ir_value(k, x);
    const ElemInfo *info = &elem_info[v->type->elem];
    if (info->bytes < 4 || v->type->elem == EL_I32) return true;
    if (v->op && v->op->code == OP_CAST) return fact_is_32_bits(k, v->op->operands[0]);
    /* No larger than x, as in heads that share their keys, h // 4; but -2^31 div -1. */
    if (v->op && v->op->code == OP_REM) return fact_is_32_bits(k, v->op->operands[0]);
    if (v->op && v->op->code == OP_DIV) {
        Ref whole = v->op->operands[0];
        bool positive = ir_const_int(k, v->op->operands[1], &number) && number > 0;
        return fact_is_32_bits(k, whole) && (positive || fact_natural(k, whole, NULL, NULL));
    }
    return v->op && (v->op->code == OP_PROGRAM_ID || v->op->code == OP_NUM_PROGRAMS);
}

bool fact_natural(const Kernel *k, Ref x, FactHook *hook, void *user) {
    return natural_at(&(NaturalQuery){.k = k, .hook = hook, .user = user, .left = QUESTIONS}, x, 0);
}

bool fact_surely_natural(const Kernel *k, Ref x) {
    return natural_at(&(NaturalQuery){.k = k, .wraps = true, .left = QUESTIONS}, x, 0);
}

bool fact_nonnegative(const Facts *f, Ref x) { return fact_natural(f->k, x, NULL, NULL); }

/* Parameters, parts of tensor parameters, and arithmetic of integers on them, all at the top. */
static bool at_launch(const Kernel *k, Ref x, int depth, int *left) {
    if (x == REF_NONE || depth > DEEPEST || --*left < 0) return false;
    const Type *type = ir_type(k, x);
    if (type->kind == TY_TILE && !type->pointer && elem_is_float(type->elem)) return false;
    if (ref_is_literal(x)) return true;
    const Value *v = ir_value(k, x);
    if (!v->op) return v->region == k->body;
    if (!op_has(v->op->code, TRAIT_LAUNCH) || v->op->parent != k->body) return false;
    for (int i = 0; i < v->op->operand_count; i++)
        if (!at_launch(k, v->op->operands[i], depth + 1, left)) return false;
    return true;
}

bool fact_at_launch(const Kernel *k, Ref x) { return at_launch(k, x, 0, &(int){QUESTIONS}); }

static uint64_t parameters_at(const Kernel *k, Ref x, int *left) {
    uint64_t found = 0;
    if (!ref_is_value(x) || --*left < 0) return 0;
    const Value *v = ir_value(k, x);
    for (int i = 0; !v->op && i < k->body->arg_count && i < 64; i++)
        if (k->body->args[i] == x) found |= (uint64_t)1 << i;
    for (int i = 0; v->op && i < v->op->operand_count; i++) found |= parameters_at(k, v->op->operands[i], left);
    return found;
}

uint64_t fact_parameters(const Kernel *k, Ref x) { return parameters_at(k, x, &(int){QUESTIONS}); }

static bool wish(Facts *f, Ref x, AttrId id, int64_t number) {
    Kernel *k = f->k;
    if (!f->may_wish || !ref_is_value(x) || !fact_at_launch(k, x)) return false;
    if (f->only_asks) return true;
    /* Right behind its definition, or first of all. */
    const Value *v = ir_value(k, x);
    Builder b = ir_builder(k, k->body);
    b.before = v->op ? v->op->next : k->body->first;
    Op *op = ir_begin(&b, OP_REQUIRE);
    ir_operand(&b, op, x);
    op_set(k, op, (Attr){.id = id, .number = number});
    ir_end(&b, op, NULL);
    return true;
}

static int64_t quotient_up(int64_t x, int64_t by) { return (x + by - 1) / by; }

/* What the launch does not know is a multiple where all that it is made of and the launch does know are: a sum of its
 * terms, a product of one factor. `asks`: they are wished for; else: could they be? So nothing is asked for in vain. */
static bool want_multiple(Facts *f, Ref x, int64_t multiple, bool asks, int *left) {
    if (multiple <= 1 || fact_divisor(f, x) >= multiple) return true;
    if (!f->may_wish || !ref_is_value(x) || --*left < 0) return false;
    const Type *type = ir_type(f->k, x);
    if (!type->rank && fact_at_launch(f->k, x) && (fact_parameters(f->k, x) & f->odd)) return false;
    if (!type->rank && fact_at_launch(f->k, x))
        return !asks || wish(f, x, type->pointer ? AT_ALIGN : AT_MULT, multiple);
    const Op *op = ir_value(f->k, x)->op;
    int64_t other;
    switch (op ? op->code : OP_NONE) {
    case OP_ADD:
    case OP_SUB:
        return want_multiple(f, op->operands[0], multiple, asks, left) &&
               want_multiple(f, op->operands[1], multiple, asks, left);
    case OP_PTR_ADD:
        other = quotient_up(multiple, elem_info[type->elem].bytes);
        return want_multiple(f, op->operands[0], multiple, asks, left) &&
               want_multiple(f, op->operands[1], other, asks, left);
    case OP_MUL:
        for (int i = 0; i < 2; i++) {
            other = quotient_up(multiple, fact_divisor(f, op->operands[1 - i]));
            if (want_multiple(f, op->operands[i], other, false, left))
                return !asks || want_multiple(f, op->operands[i], other, true, left);
        }
        return false;
    case OP_SELECT:
        return want_multiple(f, op->operands[1], multiple, asks, left) &&
               want_multiple(f, op->operands[2], multiple, asks, left);
    case OP_SPLAT: return want_multiple(f, op->operands[0], multiple, asks, left);
    case OP_CAST:
        return elem_is_int(type->elem) && elem_is_int(ir_type(f->k, op->operands[0])->elem) &&
               want_multiple(f, op->operands[0], multiple, asks, left);
    default: return false;
    }
}

bool fact_may_wish(Facts *f, Ref x, int64_t multiple) { return want_multiple(f, x, multiple, false, &(int){WISHES}); }

bool fact_wish_multiple(Facts *f, Ref x, int64_t multiple) {
    return fact_may_wish(f, x, multiple) && want_multiple(f, x, multiple, true, &(int){WISHES});
}

static Ref without_casts(const Kernel *k, Ref x) {
    while (ref_is_value(x) && ir_value(k, x)->op && ir_value(k, x)->op->code == OP_CAST)
        x = ir_value(k, x)->op->operands[0];
    return x;
}

typedef struct Counted {
    const Kernel *k;
    Ref value;
    bool divides;
} Counted;

static void look_at_divisor(Op *op, void *user) {
    Counted *c = user;
    bool division = op->code == OP_DIV || op->code == OP_REM || op->code == OP_FLOORDIV || op->code == OP_MOD ||
                    op->code == OP_CDIV;
    if (division && without_casts(c->k, op->operands[1]) == c->value) c->divides = true;
}

/* Does the kernel divide by it? Then it counts something (heads, groups, columns), and is rarely 1. */
static bool is_count(const Kernel *k, Ref x) {
    Counted c = {.k = k, .value = without_casts(k, x)};
    if (ref_is_value(c.value)) ir_walk(k->body, look_at_divisor, &c);
    return c.divides;
}

bool fact_wish_equal(Facts *f, Ref x, int64_t value) {
    int64_t number;
    if (ir_const_int(f->k, x, &number)) return number == value;
    const Attr *fact = ref_is_value(x) ? stated(f->k, x, AT_EQ) : NULL;
    if (fact) return fact->number == value;
    if (value == 1 && (f->no_ones || is_count(f->k, x))) return false;
    return wish(f, x, AT_EQ, value);
}

bool fact_wish_least(Facts *f, Ref x, int64_t least) {
    int64_t number;
    if (ir_const_int(f->k, x, &number)) return number >= least;
    const Attr *fact = ref_is_value(x) ? stated(f->k, x, AT_LEAST) : NULL;
    if (fact && fact->number >= least) return true;
    return wish(f, x, AT_LEAST, least);
}

static bool is_number_given(void *user, Ref x) {
    const Facts *f = user;
    const Value *v = ref_is_value(x) ? ir_value(f->k, x) : NULL;
    return v && !v->op && v->region == f->k->body && v->type->kind == TY_TILE && !v->type->rank && !v->type->pointer;
}

static bool wish_given(void *user, Ref x) { return is_number_given(user, x) && fact_wish_least(user, x, 0); }

bool fact_wish_natural(Facts *f, Ref x) {
    if (fact_nonnegative(f, x)) return true;
    if (!f->may_wish || !fact_natural(f->k, x, is_number_given, f)) return false; /* nothing is asked for in vain */
    return f->only_asks || fact_natural(f->k, x, wish_given, f);
}

/* --- tensors --- */
/* Is the number by which y, or a smaller constant, is more than x stated to be at least 0? */
static bool is_stated_less(const Kernel *k, Ref x, Ref y) {
    int64_t stated, most;
    for (const Op *op = k->body->first_fact; op; op = op->next_fact) {
        const Attr *least = op_attr(op, AT_LEAST);
        for (int i = 0; least && least->number >= 0 && i < op->operand_count; i++) {
            const Op *sub = made_by(k, op->operands[i], OP_SUB);
            if (!sub || without_casts(k, sub->operands[1]) != x) continue;
            bool fewer = ir_const_int(k, sub->operands[0], &stated) && ir_const_int(k, y, &most) && stated <= most;
            if (fewer || without_casts(k, sub->operands[0]) == y) return true;
        }
    }
    return false;
}

/* x at most y, both at the top of the kernel, as a wish. */
static bool wish_less(Facts *f, Ref x, Ref y) {
    Kernel *k = f->k;
    if (!f->may_wish || f->only_asks) return f->may_wish;
    Builder b = ir_builder(k, k->body);
    b.before = k->body->first;
    for (Op *op = k->body->first; op; op = op->next)
        if (op->result_count && (op->results[0] == x || op->results[0] == y)) b.before = op->next;
    Ref more = ir_binary_as(&b, OP_SUB, without_casts(k, y), without_casts(k, x), EL_I64);
    return wish(f, more, AT_LEAST, 0);
}

bool fact_wish_lines_apart(Facts *f, const TensorParts *parts, int down, int along) {
    Kernel *k = f->k;
    int64_t columns, stride;
    if (parts->extent[along] == REF_NONE || !fact_at_launch(k, parts->extent[along]) ||
        !fact_at_launch(k, parts->stride[down]))
        return false;
    Ref extent = without_casts(k, parts->extent[along]), step = without_casts(k, parts->stride[down]);
    if (extent == step || is_stated_less(k, extent, step)) return true;
    if (ir_const_int(k, extent, &columns) && ir_const_int(k, step, &stride)) return columns <= stride;
    return wish_less(f, parts->extent[along], parts->stride[down]);
}

bool fact_wish_rows_apart(Facts *f, const TensorParts *parts) {
    return parts->rank == 2 && fact_wish_lines_apart(f, parts, 0, 1);
}

bool fact_wish_most(Facts *f, Ref x, int64_t most) {
    Kernel *k = f->k;
    int64_t number;
    if (ir_const_int(k, x, &number)) return number <= most;
    Builder b = ir_builder(k, k->body);
    Ref bound = ir_int(&b, EL_I64, most);
    if ((most >= INT32_MAX && fact_is_32_bits(k, x)) || is_stated_less(k, without_casts(k, x), bound)) return true;
    return wish_less(f, x, bound);
}

static Ref part(Facts *f, Ref tensor, Opcode code, int dim) {
    Kernel *k = f->k;
    for (const Op *op = k->body->first; op; op = op->next)
        if (op->code == code && op->operands[0] == tensor && op_int(op, AT_DIM, 0) == dim) return op->results[0];
    Builder b = ir_builder(k, k->body);
    b.before = k->body->first;
    Op *op = ir_begin(&b, code);
    ir_operand(&b, op, tensor);
    if (code != OP_BASE) op_set(k, op, (Attr){.id = AT_DIM, .number = dim});
    return ir_end(&b, op, NULL);
}

TensorParts fact_tensor(Facts *f, Ref tensor) {
    TensorParts parts = {.tensor = tensor, .rank = ir_type(f->k, tensor)->rank};
    const Op *op = ir_value(f->k, tensor)->op;
    if (op && op->code == OP_TENSOR) {
        RefList extents = op_list(op, 0), strides = op_list(op, 1);
        parts.base = op_operand(op, 0);
        for (int d = 0; d < parts.rank; d++) {
            parts.extent[d] = extents.at[d];
            parts.stride[d] = strides.at[d];
        }
        return parts;
    }
    parts.base = part(f, tensor, OP_BASE, 0);
    for (int d = 0; d < parts.rank; d++) {
        parts.extent[d] = part(f, tensor, OP_EXTENT, d);
        parts.stride[d] = part(f, tensor, OP_STRIDE, d);
    }
    return parts;
}
