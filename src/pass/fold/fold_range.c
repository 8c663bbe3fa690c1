/* SPDX-License-Identifier: Apache-2.0 */
/* fold_range.c: comparisons of integers whose ranges decide them: `arange(0, 512) < 512`, a byte that is below 0.
 *
 * A range holds for all elements of a tile. It is that of the type, or a smaller one that follows from how the number
 * is made; what may wrap around has its type's. */
#include "pass/fold/fold.h"

typedef struct Ends {
    int64_t lo, hi;
} Ends;

enum { DEPTH = 12 }; /* ops that are looked through */

/* Of 64 bits without a sign: anything, in the bits of a number with one. */
static Ends of_type(const Type *type) {
    int bits = elem_info[type->elem].bits;
    if (bits == 64) return (Ends){INT64_MIN, INT64_MAX};
    if (elem_is_signed(type->elem)) return (Ends){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
    return (Ends){0, ((int64_t)1 << bits) - 1};
}

static bool is_within(Ends inner, Ends outer) { return inner.lo >= outer.lo && inner.hi <= outer.hi; }

static Ends range_of(const Kernel *k, Ref r, int depth);

/* Of x op y, as if numbers had no end; false: it does not follow. */
static bool combine(Opcode code, Ends x, Ends y, Ends *out) {
    switch (code) {
    case OP_ADD: return !__builtin_add_overflow(x.lo, y.lo, &out->lo) && !__builtin_add_overflow(x.hi, y.hi, &out->hi);
    case OP_SUB: return !__builtin_sub_overflow(x.lo, y.hi, &out->lo) && !__builtin_sub_overflow(x.hi, y.lo, &out->hi);
    case OP_MUL:
        for (int i = 0; i < 4; i++) {
            int64_t at;
            if (__builtin_mul_overflow(i & 1 ? x.hi : x.lo, i & 2 ? y.hi : y.lo, &at)) return false;
            if (i == 0 || at < out->lo) out->lo = at;
            if (i == 0 || at > out->hi) out->hi = at;
        }
        return true;
    case OP_DIV:
        *out = (Ends){x.lo / (y.lo > 0 ? y.hi : 1), x.hi / (y.lo > 0 ? y.lo : 1)};
        return x.lo >= 0 && y.lo > 0;
    case OP_REM: *out = (Ends){0, y.hi - 1 < x.hi ? y.hi - 1 : x.hi}; return x.lo >= 0 && y.lo > 0;
    case OP_AND:
        *out = (Ends){0, x.lo < 0 || (y.lo >= 0 && y.hi < x.hi) ? y.hi : x.hi};
        return x.lo >= 0 || y.lo >= 0;
    case OP_MIN: *out = (Ends){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi}; return true;
    case OP_MAX: *out = (Ends){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi}; return true;
    default: return false;
    }
}

static Ends of_op(const Kernel *k, const Op *op, Ends all, int depth) {
    Ends made = all, x, y;
    switch (op->code) {
    case OP_IOTA: return (Ends){op_int(op, AT_BEGIN, 0), op_int(op, AT_END, 1) - 1};
    case OP_SPLAT:
    case OP_EXPAND:
    case OP_BROADCAST:
    case OP_RESHAPE:
    case OP_PERMUTE: return range_of(k, op->operands[0], depth);
    case OP_CAST:
        if (elem_is_float(ir_type(k, op->operands[0])->elem) || ir_type(k, op->operands[0])->pointer) return all;
        made = range_of(k, op->operands[0], depth);
        break;
    case OP_SELECT:
        x = range_of(k, op->operands[1], depth), y = range_of(k, op->operands[2], depth);
        made = (Ends){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi};
        break;
    default:
        if (op->operand_count != 2 || op->result_count != 1) return all;
        if (!combine(op->code, range_of(k, op->operands[0], depth), range_of(k, op->operands[1], depth), &made))
            return all;
    }
    return is_within(made, all) ? made : all;
}

static Ends range_of(const Kernel *k, Ref r, int depth) {
    const Type *type = ir_type(k, r);
    Ends all = of_type(type);
    if (type->pointer || !elem_is_int(type->elem) || type->elem == EL_U64) return all;
    if (ref_is_literal(r)) {
        Ends one = {ir_literal(k, r)->i, ir_literal(k, r)->i};
        return is_within(one, all) ? one : all;
    }
    const Op *op = ref_is_value(r) ? ir_value(k, r)->op : NULL;
    return op && depth ? of_op(k, op, all, depth - 1) : all;
}

/* Is every number of x less than (or `equal`: at most) every one of y? */
static bool is_below(Ends x, Ends y, bool equal) { return x.hi < y.lo || (equal && x.hi == y.lo); }

bool fold_decides(const Kernel *k, const Op *cmp, bool *truth) {
    const Type *type = ir_type(k, cmp->operands[0]);
    if (type->pointer || !elem_is_int(type->elem) || type->elem == EL_U64) return false;
    Ends x = range_of(k, cmp->operands[0], DEPTH), y = range_of(k, cmp->operands[1], DEPTH);
    Word predicate = op_word(cmp, AT_PRED, CMP_EQ);
    bool apart = is_below(x, y, false) || is_below(y, x, false), same = x.lo == x.hi && y.lo == y.hi && x.lo == y.lo;
    switch (predicate) {
    case CMP_LT: *truth = is_below(x, y, false); return *truth || is_below(y, x, true);
    case CMP_LE: *truth = is_below(x, y, true); return *truth || is_below(y, x, false);
    case CMP_GT: *truth = is_below(y, x, false); return *truth || is_below(x, y, true);
    case CMP_GE: *truth = is_below(y, x, true); return *truth || is_below(x, y, false);
    case CMP_EQ: *truth = same; return same || apart;
    default: *truth = apart; return same || apart;
    }
}
