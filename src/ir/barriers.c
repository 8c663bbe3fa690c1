/* SPDX-License-Identifier: Apache-2.0 */
/* barriers.c: see barriers.h. */
#include "base/text.h"
#include "ir/barriers.h"

typedef struct Bar {
    int64_t count, pending, phase;
} Bar;

static bool number(const Kernel *k, Ref ref, NumberLeaf leaf, const void *user, int depth, int64_t *out) {
    enum { LARGEST = 1 << 30, DEEPEST = 32 };
    if (ir_const_int(k, ref, out)) return *out > -LARGEST && *out < LARGEST;
    if (!ref_is_value(ref) || depth > DEEPEST) return false;
    if (leaf(user, ref, out)) return true;
    const Op *op = ir_value(k, ref)->op;
    int64_t x[3] = {0};
    if (!op || !op_has(op->code, TRAIT_ELEMENTWISE) || op->operand_count < 1 || op->operand_count > 3) return false;
    Elem elem = ir_type(k, ref)->elem;
    for (int i = 0; i < op->operand_count; i++)
        if (!op->operands[i] || elem_is_float(ir_type(k, op->operands[i])->elem) ||
            !number(k, op->operands[i], leaf, user, depth + 1, &x[i]))
            return false;
    bool natural = x[0] >= 0 && x[1] > 0;
    switch (op->code) {
    case OP_SELECT: *out = x[0] ? x[1] : x[2]; return true;
    case OP_CMP: *out = word_compares(op_word(op, AT_PRED, CMP_LT), x[0], x[1]); return true;
    case OP_CAST:
        *out = x[0];
        return elem_info[elem].bits >= 32 && elem_is_int(elem) && (x[0] >= 0 || elem_is_signed(elem));
    case OP_NOT: *out = !x[0]; return elem == EL_I1;
    case OP_AND: *out = x[0] & x[1]; return true;
    case OP_OR: *out = x[0] | x[1]; return true;
    case OP_XOR: *out = x[0] ^ x[1]; return true;
    case OP_MIN: *out = x[0] < x[1] ? x[0] : x[1]; return true;
    case OP_MAX: *out = x[0] > x[1] ? x[0] : x[1]; return true;
    case OP_ADD: *out = x[0] + x[1]; break;
    case OP_SUB: *out = x[0] - x[1]; break;
    case OP_MUL: *out = x[0] * x[1]; break;
    case OP_DIV:
    case OP_FLOORDIV: *out = natural ? x[0] / x[1] : 0; return natural;
    case OP_CDIV: *out = natural ? (x[0] + x[1] - 1) / x[1] : 0; return natural;
    case OP_REM:
    case OP_MOD: *out = natural ? x[0] % x[1] : 0; return natural;
    case OP_SHR: *out = x[0] >> (x[1] & 31); return x[0] >= 0 && x[1] >= 0 && x[1] < 32;
    case OP_SHL: *out = x[0] << (x[1] & 31); return x[0] >= 0 && x[0] < 1 << 15 && x[1] >= 0 && x[1] < 15;
    default: return false;
    }
    return *out > -LARGEST && *out < LARGEST && elem_is_int(elem) && (*out >= 0 || elem_is_signed(elem)) &&
           elem_info[elem].bits >= 32;
}

bool ir_number(const Kernel *k, Ref ref, NumberLeaf leaf, const void *user, int64_t *out) {
    return number(k, ref, leaf, user, 0, out);
}

static bool variable(const void *user, Ref ref, int64_t *out) {
    const BarWalk *w = user;
    const MapEntry *known = map_find_number(&w->known, ref);
    if (!known || !known->value) return false;
    *out = *(const int64_t *)known->value;
    return true;
}

bool bars_number(const BarWalk *w, Ref ref, int64_t *out) { return ir_number(w->k, ref, variable, w, out); }

bool bars_fail(BarWalk *w, const Op *op, const char *why) {
    if (!w->why) w->why = why, w->where = op;
    return false;
}

static Bar *find_bar(BarWalk *w, const Op *op, Ref which) {
    MapEntry *known = map_find_number(&w->bars, op->operands[0]);
    const Op *made = ir_value(w->k, op->operands[0])->op;
    int64_t at = 0, bars = made ? op_int(made, AT_BARS, 1) : 1;
    if (!known) {
        Bar *all = ARENA_ARRAY(w->arena, Bar, bars);
        for (int64_t i = 0; i < bars; i++) all[i].count = all[i].pending = made ? op_int(made, AT_ARRIVALS, 1) : 1;
        known = map_put_number(&w->bars, w->arena, op->operands[0], all);
    }
    if (which && !bars_number(w, which, &at)) {
        bars_fail(w, op, "which barrier it is, is not known before the kernel runs"
                  FIX "index barriers by constants and the trips of loops");
        return NULL;
    }
    if (at >= 0 && at < bars) return (Bar *)known->value + at;
    bars_fail(w, op, "there is no barrier of this number" FIX "make as many as are used");
    return NULL;
}

bool bars_arrive(BarWalk *w, const Op *op) {
    Bar *bar = find_bar(w, op, op_operand(op, 1));
    if (!bar) return false;
    bar->pending -= op_int(op, AT_ARRIVALS, 1);
    if (bar->pending < 0)
        return bars_fail(w, op, "more threads arrive at this barrier than it counts"
                         FIX "let fewer arrive, or count them where the barrier is made");
    if (!bar->pending) bar->pending = bar->count, bar->phase++;
    return true;
}

bool bars_wait(BarWalk *w, const Op *op, bool *passes) {
    Bar *bar = find_bar(w, op, op_operand(op, 2));
    int64_t parity;
    if (!bar) return false;
    if (!bars_number(w, op_operand(op, 1), &parity))
        return bars_fail(w, op, "the parity is not known before the kernel runs"
                         FIX "make it from the trips of a loop, or keep it in a register that changes with each wait");
    *passes = (bar->phase & 1) != (parity & 1);
    return true;
}

static void look_for_bar(Op *op, void *user) { *(bool *)user |= op->code == OP_BAR_ARRIVE || op->code == OP_BAR_WAIT; }

bool bars_are_inside(const Op *op) {
    bool found = false;
    for (int r = 0; r < op->region_count; r++) ir_walk(op->regions[r], look_for_bar, &found);
    return found;
}
