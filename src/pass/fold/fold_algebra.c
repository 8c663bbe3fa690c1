/* SPDX-License-Identifier: Apache-2.0 */
/* fold_algebra.c: one op at a time, into something simpler.
 *
 * Contract: only identities that are exact in every bit are used. So x * 1.0 is x, but x + 0.0
 * stays (it turns -0.0 into +0.0) and x * 0.0 stays (NaN, infinities). Float literals are combined
 * only by add, sub, mul, div and comparisons, rounded as the interpreter rounds; exp and its kin
 * belong to the target.
 *
 * Tiles whose elements are all equal are pulled apart: an elementwise op takes the scalar itself
 * instead of its splat,
 *
 *     %s = splat 2.0 : f32[64] ; %y = mul %x, %s        ->        %y = mul %x, 2.0
 *
 * and one that has only uniform operands is computed once, then splatted. Literals stand on the
 * right. */
#include "pass/fold/fold.h"

#include "base/scalar_ops.h"

#include <math.h>
#include <string.h>

static const Op *maker(const Kernel *k, Ref r) { return ref_is_value(r) ? ir_value(k, r)->op : NULL; }

static const Op *made_by(const Kernel *k, Ref r, Opcode code) {
    const Op *op = maker(k, r);
    return op && op->code == code ? op : NULL;
}

/* The scalar that every element equals, or REF_NONE. */
static Ref uniform(const Kernel *k, Ref r) {
    if (r == REF_NONE || ir_type(k, r)->kind != TY_TILE) return REF_NONE;
    if (ir_type(k, r)->rank == 0) return r;
    const Op *splat = made_by(k, r, OP_SPLAT);
    return splat ? splat->operands[0] : REF_NONE;
}

static const Literal *literal(const Kernel *k, Ref r) {
    Ref scalar = uniform(k, r);
    return ref_is_literal(scalar) ? ir_literal(k, scalar) : NULL;
}

static bool is_int(const Kernel *k, Ref r, int64_t value) {
    const Literal *l = literal(k, r);
    return l && !l->type->pointer && !elem_is_float(l->type->elem) && l->i == value;
}

static bool is_float(const Kernel *k, Ref r, double value) {
    const Literal *l = literal(k, r);
    return l && !l->type->pointer && elem_is_float(l->type->elem) && l->f == value && signbit(l->f) == signbit(value);
}

static Ref constant(Builder *b, const Type *type, Ref scalar) {
    return type->rank == 0 ? scalar : ir_splat(b, scalar, type);
}
static Ref constant_int(Builder *b, const Type *type, int64_t value) {
    return constant(b, type, ir_int(b, type->elem, value));
}

/* --- literals --- */

static int64_t wrap(Elem e, int64_t x) { return scalar_wrap(x, elem_info[e].bits, elem_is_signed(e)); }

bool fold_int(Opcode code, Elem e, int64_t x, int64_t y, int64_t *out) {
    switch (code) {
#define CASE(NAME, name) \
    case OP_##NAME: *out = scalar_##name(x, y, elem_info[e].bits, elem_is_signed(e)); return true;
        SCALAR_BINARY(CASE)
#undef CASE
    default: return false;
    }
}

static bool eval_float(Opcode code, Elem e, double x, double y, double *out) {
    switch (code) {
    case OP_ADD: *out = x + y; break;
    case OP_SUB: *out = x - y; break;
    case OP_MUL: *out = x * y; break;
    case OP_DIV: *out = x / y; break;
    default: return false;
    }
    if (isnan(*out)) return false;
    if (e != EL_F64) *out = (float)*out; /* exact: a double has more than twice a float's bits */
    return true;
}

static bool compare(Word predicate, double order) { /* order: negative, 0, positive */
    switch (predicate) {
    case CMP_LT: return order < 0;
    case CMP_LE: return order <= 0;
    case CMP_GT: return order > 0;
    case CMP_GE: return order >= 0;
    case CMP_EQ: return order == 0;
    default: return order != 0;
    }
}

static bool is_true(const Op *cmp, const Literal *x, const Literal *y) {
    Word predicate = op_word(cmp, AT_PRED, CMP_EQ);
    double order;
    if (elem_is_float(x->type->elem)) {
        if (isnan(x->f) || isnan(y->f))
            order = NAN;
        else
            order = x->f < y->f ? -1 : x->f > y->f;
    } else if (elem_is_signed(x->type->elem)) {
        order = x->i < y->i ? -1 : x->i > y->i;
    } else {
        order = (uint64_t)x->i < (uint64_t)y->i ? -1 : (uint64_t)x->i > (uint64_t)y->i;
    }
    return compare(predicate, order);
}

static Ref fold_compare(Builder *b, const Op *op, const Literal *x, const Literal *y) {
    return ir_int(b, EL_I1, is_true(op, x, y));
}

static Ref fold_cast(Builder *b, const Op *op, const Literal *x, Elem to) {
    const double exact = 9007199254740992.0; /* 2^53 */
    if (op_attr(op, AT_ROUND)) return REF_NONE;
    if (elem_is_float(x->type->elem)) {
        if (elem_is_float(to)) return ir_float(b, to, x->f);
        if (isnan(x->f) || fabs(x->f) >= exact) return REF_NONE;
        if (to == EL_I1) return ir_int(b, to, x->f != 0);
        int64_t whole = (int64_t)x->f;
        bool fits = wrap(to, whole) == whole && (whole >= 0 || elem_is_signed(to)); /* else it saturates */
        return fits ? ir_int(b, to, whole) : REF_NONE;
    }
    if (!elem_is_float(to)) return ir_int(b, to, to == EL_I1 ? x->i != 0 : x->i);
    bool small = x->i > -(1LL << 53) && x->i < (1LL << 53);
    return small ? ir_float(b, to, (double)x->i) : REF_NONE;
}

/* A scalar op on literals. */
static Ref fold_literals(Builder *b, const Op *op) {
    const Kernel *k = b->kernel;
    const Type *type = ir_type(k, op->results[0]);
    if (!op_has(op->code, TRAIT_ELEMENTWISE) || type->rank != 0 || type->pointer) return REF_NONE;
    for (int i = 0; i < op->operand_count; i++)
        if (!ref_is_literal(op->operands[i])) return REF_NONE;
    const Literal x = *ir_literal(k, op->operands[0]);
    if (x.type->pointer) return REF_NONE;
    if (op->code == OP_CAST) return fold_cast(b, op, &x, type->elem);
    bool floats = elem_is_float(x.type->elem);
    if (op->operand_count == 1) {
        if (op->code == OP_NEG)
            return floats ? ir_float(b, type->elem, -x.f) : ir_int(b, type->elem, (int64_t)(0 - (uint64_t)x.i));
        if (op->code == OP_NOT && !floats) return ir_int(b, type->elem, type->elem == EL_I1 ? !x.i : ~x.i);
        if (op->code == OP_ABS && floats) return ir_float(b, type->elem, fabs(x.f));
        if (op->code == OP_SQRT && x.f >= 0 && !op_flag(op, AT_APPROX)) /* a double's, rounded again, is exact */
            return ir_float(b, type->elem, sqrt(x.f));
        if (op->code == OP_ABS && (x.i >= 0 || !elem_is_signed(type->elem))) return op->operands[0];
        return REF_NONE;
    }
    if (op->operand_count != 2) return REF_NONE;
    const Literal y = *ir_literal(k, op->operands[1]);
    if (op->code == OP_CMP) return fold_compare(b, op, &x, &y);
    if (floats) {
        double out;
        bool known = !op_flag(op, AT_APPROX) && eval_float(op->code, type->elem, x.f, y.f, &out);
        return known ? ir_float(b, type->elem, out) : REF_NONE;
    }
    int64_t out;
    return fold_int(op->code, type->elem, x.i, y.i, &out) ? ir_int(b, type->elem, out) : REF_NONE;
}

/* --- identities --- */

static bool commutes(Opcode code) {
    return code == OP_ADD || code == OP_MUL || code == OP_MIN || code == OP_MAX || code == OP_AND || code == OP_OR ||
           code == OP_XOR || code == OP_MULHI;
}

static Word mirrored(Word predicate) {
    switch (predicate) {
    case CMP_LT: return CMP_GT;
    case CMP_LE: return CMP_GE;
    case CMP_GT: return CMP_LT;
    case CMP_GE: return CMP_LE;
    default: return predicate;
    }
}

/* (x op c1) op c2 -> x op (c1 op c2), for wrapping integers; of sums and differences in any order. */
static Ref regroup(Builder *b, const Op *op) {
    const Kernel *k = b->kernel;
    const Literal *outer = literal(k, op->operands[1]);
    const Op *inner = maker(k, op->operands[0]);
    bool sums = inner && inner->code != op->code && (inner->code == OP_ADD || inner->code == OP_SUB) &&
                (op->code == OP_ADD || op->code == OP_SUB);
    const Literal *c = inner && outer && (sums || inner->code == op->code) ? literal(k, inner->operands[1]) : NULL;
    Opcode join = op->code == OP_MUL ? OP_MUL : sums ? OP_SUB : OP_ADD; /* what becomes of the two literals */
    int64_t both;
    if (!c || !fold_int(join, outer->type->elem, c->i, outer->i, &both)) return REF_NONE;
    Ref x = inner->operands[0], sum = ir_int(b, outer->type->elem, both);
    if (ir_type(k, x) != ir_type(k, op->results[0])) return REF_NONE;
    return ir_binary(b, inner->code, x, sum);
}

static bool same_number(const Kernel *k, Ref x, Ref y) {
    const Literal *a = literal(k, x), *c = literal(k, y);
    return uniform(k, x) ? uniform(k, x) == uniform(k, y) || (a && c && a->type == c->type && a->i == c->i) : x == y;
}

/* Is `whole` x div c * c, by floors where the remainder is? */
static bool is_whole_part(const Kernel *k, const Op *whole, Opcode rest, Ref x, Ref c) {
    const Op *quotient = whole ? made_by(k, whole->operands[0], rest == OP_REM ? OP_DIV : OP_FLOORDIV) : NULL;
    return quotient && quotient->operands[0] == x && same_number(k, quotient->operands[1], c) &&
           same_number(k, whole->operands[1], c);
}

/* x div c * c + x rem c -> x, also by floors: true of all numbers, 0 and the smallest included. */
static Ref recombine(const Kernel *k, const Op *op, const Type *type) {
    for (int i = 0; i < 2; i++) {
        const Op *rest = maker(k, op->operands[i]), *whole = made_by(k, op->operands[1 - i], OP_MUL);
        if (rest && (rest->code == OP_REM || rest->code == OP_MOD) && ir_type(k, rest->operands[0]) == type &&
            is_whole_part(k, whole, rest->code, rest->operands[0], rest->operands[1]))
            return rest->operands[0];
    }
    return REF_NONE;
}

/* Is it a multiple of this power of two, also where it wrapped around? */
static bool is_multiple(const Kernel *k, Ref x, int64_t power, int depth) {
    const Literal *number = literal(k, x);
    const Op *op = maker(k, x);
    if (number) return !number->type->pointer && !elem_is_float(number->type->elem) && number->i % power == 0;
    if (power == 1) return true;
    if (!op || depth == 0) return false;
    if (op->code == OP_MUL) return is_multiple(k, op->operands[1], power, 0); /* literals stand on the right */
    return (op->code == OP_ADD || op->code == OP_SUB) && is_multiple(k, op->operands[0], power, depth - 1) &&
           is_multiple(k, op->operands[1], power, depth - 1);
}

static bool is_multiple_of(const Kernel *k, Ref x, Ref of) {
    const Literal *c = literal(k, of);
    return c && c->i > 0 && !(c->i & (c->i - 1)) && is_multiple(k, x, c->i, 4);
}

/* x - x div c * c, where c leaves no rest of x. */
static bool is_whole(const Kernel *k, const Op *op) {
    Ref x = op->operands[0];
    const Op *whole = made_by(k, op->operands[1], OP_MUL);
    return whole && is_multiple_of(k, x, whole->operands[1]) &&
           (is_whole_part(k, whole, OP_REM, x, whole->operands[1]) ||
            is_whole_part(k, whole, OP_MOD, x, whole->operands[1]));
}

static Ref simplify_int(Builder *b, const Op *op, const Type *type) {
    const Kernel *k = b->kernel;
    Ref x = op->operands[0], y = op->operands[1];
    bool whole = ir_type(k, x) == type; /* x may stand for the result */
    bool equal = x == y;
    Ref one = is_int(k, y, 1) ? x : REF_NONE, none = is_int(k, y, 0) ? x : REF_NONE;
    int64_t ones = type->elem == EL_I1 ? 1 : wrap(type->elem, -1);
    if (!whole) one = none = REF_NONE;
    switch (op->code) {
    case OP_ADD: {
        Ref again = none ? none : recombine(k, op, type);
        return again ? again : regroup(b, op);
    }
    case OP_SUB: {
        if (equal || is_whole(k, op)) return constant_int(b, type, 0);
        return none ? none : regroup(b, op);
    }
    case OP_MUL: return one ? one : is_int(k, y, 0) ? constant_int(b, type, 0) : regroup(b, op);
    case OP_DIV:
    case OP_FLOORDIV:
    case OP_CDIV: return one;
    case OP_REM:
    case OP_MOD: return is_multiple_of(k, x, y) ? constant_int(b, type, 0) : REF_NONE;
    case OP_MIN:
    case OP_MAX: return equal ? x : REF_NONE;
    case OP_AND:
        if (equal || (whole && is_int(k, y, ones))) return x;
        return is_int(k, y, 0) ? constant_int(b, type, 0) : REF_NONE;
    case OP_OR:
        if (equal || none) return x;
        return is_int(k, y, ones) ? constant_int(b, type, ones) : REF_NONE;
    case OP_XOR: return none ? none : equal ? constant_int(b, type, 0) : REF_NONE;
    case OP_SHL:
    case OP_SHR: return none;
    default: return REF_NONE;
    }
}

static Ref simplify_float(const Kernel *k, const Op *op, const Type *type) {
    Ref x = op->operands[0], y = op->operands[1];
    if (ir_type(k, x) != type) return REF_NONE;
    switch (op->code) {
    case OP_ADD: return is_float(k, y, -0.0) ? x : REF_NONE;
    case OP_SUB: return is_float(k, y, 0.0) ? x : REF_NONE;
    case OP_MUL:
    case OP_DIV: return is_float(k, y, 1.0) ? x : REF_NONE;
    case OP_MIN:
    case OP_MAX: return x == y ? x : REF_NONE;
    default: return REF_NONE;
    }
}

/* How many bits of value a type keeps exactly, for chains of casts; 0: not comparable. */
static bool cast_widens(Elem from, Elem to) {
    const ElemInfo *f = &elem_info[from], *t = &elem_info[to];
    if (from == to) return true;
    if (f->cls == CLASS_FLOAT && t->cls == CLASS_FLOAT)
        return (from == EL_F32 && to == EL_F64) || (f->bits <= 16 && t->bits >= 32);
    if (f->cls == CLASS_FLOAT || t->cls == CLASS_FLOAT) return false;
    if (f->cls == CLASS_BOOL) return true;
    if (t->cls == CLASS_BOOL) return false;
    if (f->cls == t->cls) return t->bits >= f->bits;
    return f->cls == CLASS_UINT && t->bits > f->bits;
}

static Ref simplify_cast(Builder *b, const Op *op, const Type *type) {
    const Kernel *k = b->kernel;
    Ref x = op->operands[0];
    if (ir_type(k, x) == type) return x;
    const Op *inner = made_by(k, x, OP_CAST);
    if (!inner || op_attr(op, AT_ROUND) || op_attr(inner, AT_ROUND)) return REF_NONE;
    Ref source = inner->operands[0];
    if (!cast_widens(ir_type(k, source)->elem, ir_type(k, x)->elem)) return REF_NONE;
    return ir_cast(b, source, type->elem); /* the inner cast lost nothing */
}

static bool is_identity(IntList dims) {
    for (int d = 0; d < dims.count; d++)
        if (dims.at[d] != d) return false;
    return true;
}

static Ref simplify_shape(Builder *b, const Op *op, const Type *type) {
    const Kernel *k = b->kernel;
    Ref x = op->operands[0];
    const Op *splat = made_by(k, x, OP_SPLAT);
    if (splat) return constant(b, type, splat->operands[0]);
    if (op->code == OP_PERMUTE) {
        IntList dims = op_attr(op, AT_DIMS)->list;
        if (is_identity(dims)) return x;
        const Op *inner = made_by(k, x, OP_PERMUTE);
        if (!inner) return REF_NONE;
        int64_t both[MAX_RANK];
        for (int d = 0; d < dims.count; d++) both[d] = op_attr(inner, AT_DIMS)->list.at[dims.at[d]];
        return ir_permute(b, inner->operands[0], both, dims.count);
    }
    if (ir_type(k, x) == type) return x;
    const Op *inner = made_by(k, x, OP_RESHAPE);
    return op->code == OP_RESHAPE && inner ? ir_reshape(b, inner->operands[0], type) : REF_NONE;
}

static Ref simplify_select(const Kernel *k, const Op *op, const Type *type) {
    Ref c = op->operands[0], x = op->operands[1], y = op->operands[2];
    Ref taken = x == y || is_int(k, c, 1) ? x : is_int(k, c, 0) ? y : REF_NONE;
    return taken && ir_type(k, taken) == type ? taken : REF_NONE;
}

/* A comparison of what a condition chose, select(c, 1, 0) != 0 or int(c) != 0, is the condition. */
static Ref simplify_compare(Builder *b, const Op *op, const Type *type) {
    Kernel *k = b->kernel;
    bool truth;
    if (fold_decides(k, op, &truth)) return constant_int(b, type, truth);
    const Op *select = made_by(k, op->operands[0], OP_SELECT), *cast = made_by(k, op->operands[0], OP_CAST);
    const Literal *right = literal(k, op->operands[1]);
    Ref c = select ? select->operands[0] : cast ? cast->operands[0] : REF_NONE;
    const Type *chosen = ir_type(k, op->operands[0]);
    if (!right || !c || ir_type(k, c) != type || (cast && (type->elem != EL_I1 || !elem_is_int(chosen->elem))))
        return REF_NONE;
    Literal on = {.type = right->type, .i = 1}, off = {.type = right->type, .i = 0};
    for (int i = 0; select && i < 2; i++) {
        const Literal *of = literal(k, select->operands[1 + i]);
        if (!of) return REF_NONE;
        *(i ? &off : &on) = *of;
    }
    bool then = is_true(op, &on, right), otherwise = is_true(op, &off, right);
    if (then == otherwise) return constant_int(b, type, then);
    return then ? c : ir_unary(b, OP_NOT, c);
}

/* --- uniform operands of elementwise ops --- */

static bool all_uniform(const Kernel *k, const Op *op) {
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] && !uniform(k, op->operands[i])) return false;
    return op->operand_count > 0;
}

/* All operands uniform: once on scalars. */
static Ref compute_once(Builder *b, const Op *op, const Type *type) {
    Kernel *k = b->kernel;
    Op *once = ir_begin(b, op->code);
    for (int i = 0; i < op->operand_count; i++) {
        Ref scalar = op->operands[i] ? uniform(k, op->operands[i]) : REF_NONE;
        if (op->operands[i] && !scalar) return REF_NONE;
        ir_operand(b, once, scalar);
    }
    for (int i = 0; i < op->attr_count; i++) op_set(k, once, op->attrs[i]);
    bool given = op_info[op->code].result == RES_GIVEN;
    return ir_splat(b, ir_end(b, once, given ? ty_with_shape(b->module, type, 0, NULL) : NULL), type);
}

/* Do the operands but one still give the result its shape? */
static bool shaped_without(const Kernel *k, const Op *op, int except, const Type *type) {
    const Type *shape = NULL;
    for (int i = 0; i < op->operand_count; i++) {
        if (i == except || !op->operands[i]) continue;
        const Type *t = ir_type(k, op->operands[i]);
        shape = shape ? ty_broadcast(k->module, shape, t) : t;
    }
    if (!shape || shape->rank != type->rank) return false;
    for (int d = 0; d < type->rank; d++)
        if (shape->extent[d] != type->extent[d]) return false;
    return true;
}

/* Operands that are only spread to the common shape: the scalar, or what was broadcast, does as well. */
static void unspread(const Kernel *k, Op *op, const Type *type, bool *changed) {
    for (int i = 0; i < op->operand_count; i++) {
        const Op *spread = made_by(k, op->operands[i], OP_SPLAT);
        if (!spread) spread = made_by(k, op->operands[i], OP_BROADCAST);
        if (!spread || !shaped_without(k, op, i, type)) continue;
        op->operands[i] = spread->operands[0];
        *changed = true;
    }
}

static void literals_right(Kernel *k, Op *op, bool *changed) {
    if (op->operand_count != 2 || !(commutes(op->code) || op->code == OP_CMP)) return;
    if (!literal(k, op->operands[0]) || literal(k, op->operands[1])) return;
    Ref x = op->operands[0];
    op->operands[0] = op->operands[1];
    op->operands[1] = x;
    if (op->code == OP_CMP) op_set(k, op, (Attr){.id = AT_PRED, .word = mirrored(op_word(op, AT_PRED, CMP_EQ))});
    *changed = true;
}

static void drop_true_mask(const Kernel *k, Op *op, int mask, bool *changed) {
    if (op->operand_count <= mask || !is_int(k, op->operands[mask], 1)) return;
    op->operands[mask] = REF_NONE;
    if (op->code == OP_LOAD && op->operand_count > 2) op->operands[2] = REF_NONE;
    *changed = true;
}

static Ref simplify_elementwise(Builder *b, Op *op, const Type *type, bool *changed) {
    const Kernel *k = b->kernel;
    literals_right(b->kernel, op, changed);
    if (type->rank > 0) {
        if (all_uniform(k, op)) return compute_once(b, op, type);
        unspread(k, op, type, changed);
    }
    Ref known = fold_literals(b, op);
    if (known) return known;
    const Op *inner = op->operand_count == 1 ? made_by(k, op->operands[0], op->code) : NULL;
    if (inner && (op->code == OP_NEG || op->code == OP_NOT)) return inner->operands[0];
    switch (op->code) {
    case OP_CAST: return simplify_cast(b, op, type);
    case OP_BITCAST: return ir_type(k, op->operands[0]) == type ? op->operands[0] : REF_NONE;
    case OP_SELECT: return simplify_select(k, op, type);
    case OP_CMP: return simplify_compare(b, op, type);
    case OP_PTR_ADD:
        return is_int(k, op->operands[1], 0) && ir_type(k, op->operands[0]) == type ? op->operands[0] : REF_NONE;
    default: break;
    }
    if (op->operand_count != 2 || type->pointer) return REF_NONE;
    return elem_is_float(type->elem) ? simplify_float(k, op, type) : simplify_int(b, op, type);
}

/* --- tiles of one number --- */

/* One number, read as a scalar: its address, and what is computed from it, is known to be the same for all threads. */
static Ref simplify_load(Builder *b, Op *op) {
    const Type *type = ir_type(b->kernel, op->results[0]);
    Kernel *k = b->kernel;
    if (type->rank == 0 || ty_elements(type) != 1 || !all_uniform(k, op)) return REF_NONE;
    Ref splat = compute_once(b, op, type);
    ir_value(k, ir_value(k, splat)->op->operands[0])->name = ir_value(k, op->results[0])->name;
    return splat;
}

/* A part that was put in at that place is what was put in; parts put in beside it do not matter. */
static Ref simplify_slice(const Kernel *k, Op *op, const Type *type, bool *changed) {
    RefList at = op_list(op, 0);
    for (const Op *in; (in = made_by(k, op->operands[0], OP_INSERT));) {
        RefList put = op_list(in, 0);
        const Type *part = ir_type(k, op_operand(in, 1));
        bool same = part == type, apart = false;
        for (int d = 0; d < at.count; d++) {
            int64_t x, y;
            same = same && at.at[d] == put.at[d];
            bool known = ir_const_int(k, at.at[d], &x) && ir_const_int(k, put.at[d], &y);
            apart |= known && (x + type->extent[d] <= y || y + part->extent[d] <= x);
        }
        if (same) return op_operand(in, 1);
        if (!apart) break;
        op->operands[0] = in->operands[0];
        *changed = true;
    }
    return REF_NONE;
}

/* Where a tensor that the kernel makes begins is what it was made with. */
static Ref simplify_base(const Kernel *k, const Op *op, const Type *type) {
    const Op *tensor = made_by(k, op->operands[0], OP_TENSOR);
    return tensor && ir_type(k, tensor->operands[0]) == type ? tensor->operands[0] : REF_NONE;
}

Ref fold_simplify(Builder *b, Op *op, bool *changed) {
    if (op->code == OP_LOAD) drop_true_mask(b->kernel, op, 1, changed);
    if (op->code == OP_STORE) drop_true_mask(b->kernel, op, 2, changed);
    if (op->code == OP_LOAD) return simplify_load(b, op);
    if (op->result_count != 1 || op->region_count || !op_has(op->code, TRAIT_PURE)) return REF_NONE;
    const Type *type = ir_type(b->kernel, op->results[0]);
    switch (op->code) {
    case OP_SPLAT: return type->rank == 0 ? op->operands[0] : REF_NONE;
    case OP_IOTA: return ty_elements(type) == 1 ? constant_int(b, type, op_int(op, AT_BEGIN, 0)) : REF_NONE;
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_PERMUTE: return simplify_shape(b, op, type);
    case OP_SLICE: return simplify_slice(b->kernel, op, type, changed);
    case OP_BASE: return simplify_base(b->kernel, op, type);
    default: break;
    }
    return op_has(op->code, TRAIT_ELEMENTWISE) ? simplify_elementwise(b, op, type, changed) : REF_NONE;
}
