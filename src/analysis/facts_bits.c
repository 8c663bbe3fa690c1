/* facts_bits.c: which numbers of 64 bits are numbers of 32 (facts.h).
 *
 *     %head = rem %pid, %heads ; %h = cast %head : i64 ; %at = mul %h, 128
 *
 * is one where the launch has asked whether 128 * %heads is one, and where %heads is at least 1: x rem 0 is x. */
#include "analysis/facts.h"

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

static const Op *op_of(const Kernel *k, Ref x) { return ref_is_value(x) ? ir_value(k, x)->op : NULL; }

static Elem elem_of(const Kernel *k, Ref x) { return ref_is_value(x) ? ir_value(k, x)->type->elem : EL_COUNT; }

/* The number of 32 bits that it is by a cast; or itself. */
static Ref narrow(const Kernel *k, Ref x) {
    const Op *op = op_of(k, x);
    bool widens = op && op->code == OP_CAST && elem_of(k, x) == EL_I64 && elem_of(k, op->operands[0]) == EL_I32;
    return widens ? op->operands[0] : x;
}

/* x = factor * scale in 64 bits, with a number above 0. */
static bool is_scaled(const Kernel *k, Ref x, Ref *factor, int64_t *scale) {
    const Op *op = op_of(k, x);
    if (!op || op->code != OP_MUL || elem_of(k, x) != EL_I64) return false;
    for (int i = 0; i < 2; i++) {
        *factor = narrow(k, op->operands[i]);
        if (ir_const_int(k, op->operands[1 - i], scale) && *scale > 0 && ref_is_value(*factor)) return true;
    }
    return false;
}

/* Does the kernel begin with a `require<eq=0> %x - i64(i32(%x))` of x = factor * scale, or of more of it? */
static bool is_asked(const Kernel *k, Ref factor, int64_t scale) {
    for (const Op *fact = k->body->first_fact; fact; fact = fact->next_fact) {
        const Attr *equal = fact->code == OP_REQUIRE ? op_attr(fact, AT_EQ) : NULL;
        if (!equal || equal->number != 0) continue;
        for (int i = 0; i < fact->operand_count; i++) {
            const Op *rest = op_of(k, fact->operands[i]);
            if (!rest || rest->code != OP_SUB) continue;
            const Op *cut = op_of(k, narrow(k, rest->operands[1]));
            Ref asked;
            int64_t times;
            if (cut && cut->code == OP_CAST && elem_of(k, cut->results[0]) == EL_I32 &&
                cut->operands[0] == rest->operands[0] && is_scaled(k, rest->operands[0], &asked, &times) &&
                asked == factor && times >= scale)
                return true;
        }
    }
    return false;
}

bool fact_wish_32_bits(Facts *f, Ref x) {
    Ref factor;
    int64_t scale;
    if (fact_is_32_bits(f->k, x)) return true;
    if (!is_scaled(f->k, x, &factor, &scale)) return false;
    const Op *rem = op_of(f->k, factor);
    return rem && rem->code == OP_REM && elem_of(f->k, factor) == EL_I32 && is_asked(f->k, rem->operands[1], scale) &&
           fact_wish_least(f, rem->operands[1], 1);
}
