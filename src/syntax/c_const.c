/* SPDX-License-Identifier: Apache-2.0 */
/* c_const.c: integer constant expressions (c_eval of c_ast.h): #if lines, enum values, array sizes,
 * tile arguments.
 *
 * Arithmetic is that of the preprocessor: 64 bits, wrapping, unsigned as soon as one operand is.
 * Division by zero is "not constant". && || ?: do not look at the side that is not taken. */
#include "syntax/c_ast.h"

typedef struct Eval {
    CLookup *lookup;
    void *user;
    const CNode *wrong;
} Eval;

static bool eval(Eval *ev, const CNode *node, CConst *out);

static bool fail(Eval *ev, const CNode *node) {
    ev->wrong = node;
    return false;
}

static CConst signed_value(bool value) { return (CConst){value, false}; }

static int64_t divide(CConst a, CConst b, bool is_unsigned, bool remainder) {
    if (is_unsigned) {
        uint64_t x = (uint64_t)a.value, y = (uint64_t)b.value;
        return (int64_t)(remainder ? x % y : x / y);
    }
    if (b.value == -1) return remainder ? 0 : (int64_t)(0 - (uint64_t)a.value);
    return remainder ? a.value % b.value : a.value / b.value;
}

static CConst shift(CTok op, CConst a, int64_t amount) {
    uint64_t x = (uint64_t)a.value;
    bool fill = !a.is_unsigned && a.value < 0 && amount;
    if (op == CT_SHL)
        x <<= amount;
    else
        x = x >> amount | (fill ? ~(UINT64_MAX >> amount) : 0);
    return (CConst){(int64_t)x, a.is_unsigned};
}

bool c_fold(CTok op, CConst a, CConst b, CConst *out) {
    bool is_unsigned = a.is_unsigned || b.is_unsigned;
    uint64_t x = (uint64_t)a.value, y = (uint64_t)b.value;
    bool less = is_unsigned ? x < y : a.value < b.value;
    int64_t value;
    switch (op) {
    case CT_PLUS: value = (int64_t)(x + y); break;
    case CT_MINUS: value = (int64_t)(x - y); break;
    case CT_STAR: value = (int64_t)(x * y); break;
    case CT_SLASH:
    case CT_PERCENT:
        if (!b.value) return false;
        value = divide(a, b, is_unsigned, op == CT_PERCENT);
        break;
    case CT_SHL:
    case CT_SHR:
        if (b.value < 0 || b.value > 63) return false;
        *out = shift(op, a, b.value);
        return true;
    case CT_AMP: value = (int64_t)(x & y); break;
    case CT_PIPE: value = (int64_t)(x | y); break;
    case CT_CARET: value = (int64_t)(x ^ y); break;
    case CT_EQ: *out = signed_value(x == y); return true;
    case CT_NE: *out = signed_value(x != y); return true;
    case CT_LT: *out = signed_value(less); return true;
    case CT_GE: *out = signed_value(!less); return true;
    case CT_GT: *out = signed_value(!less && x != y); return true;
    case CT_LE: *out = signed_value(less || x == y); return true;
    default: return false;
    }
    *out = (CConst){value, is_unsigned};
    return true;
}

static bool eval_binary(Eval *ev, const CNode *node, CConst *out) {
    CConst a, b;
    if (!eval(ev, node->kids[0], &a)) return false;
    if (node->op == CT_AND_AND || node->op == CT_OR_OR) {
        bool decided = (a.value != 0) == (node->op == CT_OR_OR);
        if (decided)
            *out = signed_value(node->op == CT_OR_OR);
        else if (eval(ev, node->kids[1], &b))
            *out = signed_value(b.value != 0);
        else
            return false;
        return true;
    }
    if (!eval(ev, node->kids[1], &b)) return false;
    return c_fold(node->op, a, b, out) || fail(ev, node);
}

static bool eval_unary(Eval *ev, const CNode *node, CConst *out) {
    CConst a;
    if (!eval(ev, node->kids[0], &a)) return false;
    switch (node->op) {
    case CT_PLUS: break;
    case CT_MINUS: a.value = (int64_t)(0 - (uint64_t)a.value); break;
    case CT_TILDE: a.value = ~a.value; break;
    case CT_NOT: a = signed_value(!a.value); break;
    default: return fail(ev, node);
    }
    *out = a;
    return true;
}

static bool eval(Eval *ev, const CNode *node, CConst *out) {
    CConst condition;
    switch (node->kind) {
    case C_INT:
        *out = (CConst){(int64_t)node->number, (node->flags & C_FLAG_UNSIGNED) || node->number > INT64_MAX};
        return true;
    case C_BINARY: return eval_binary(ev, node, out);
    case C_UNARY: return eval_unary(ev, node, out);
    case C_CONDITIONAL:
        return eval(ev, node->kids[0], &condition) && eval(ev, node->kids[condition.value ? 1 : 2], out);
    case C_ERROR: return fail(ev, node);
    default: return ev->lookup && ev->lookup(ev->user, node, out) ? true : fail(ev, node);
    }
}

bool c_eval(const CNode *node, CLookup *lookup, void *user, CConst *out, const CNode **wrong) {
    Eval ev = {lookup, user, NULL};
    bool ok = eval(&ev, node, out);
    if (!ok && wrong) *wrong = ev.wrong;
    return ok;
}
