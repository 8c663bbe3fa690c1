/* SPDX-License-Identifier: Apache-2.0 */
/* interp_sanitize.c: what is wrong with an element, carried along with it.
 *
 * A shadow byte an element. UNWRITTEN elements come from undef and unwritten buffers and spread
 * through every elementwise op; they are reported where they decide something (an address, a mask,
 * a bound, a sum) or are stored. WRAPPED integers come from signed arithmetic that overflowed and
 * spread through sums, products, widening and comparisons of indices (what was read is data, and
 * compared as it is), but not through rem, and, min .., which make any number an index on purpose;
 * they are reported when an active lane uses one in an address or a mask. What a division by zero
 * gave carries the number of its place, and is reported there when an active lane stores or relies
 * on it: lanes that a mask drops may divide by what they like. Shifts out of range are reported
 * where they happen. */
#include "ir/interp/interp_core.h"

static bool keeps_wrap(Opcode code, bool truth) {
    switch (code) {
    case OP_AND: /* of masks; of numbers they make any number an index on purpose */
    case OP_OR:
    case OP_NOT: return truth;
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_NEG:
    case OP_SHL:
    case OP_CAST:
    case OP_SELECT:
    case OP_CMP:
    case OP_PTR_ADD: return true;
    default: return false;
    }
}

/* Did the exact result not fit? */
static bool overflows(Opcode code, Elem elem, int64_t x, int64_t y) {
    int64_t r = 0;
    bool over = false;
    switch (code) {
    case OP_ADD: over = __builtin_add_overflow(x, y, &r); break;
    case OP_SUB: over = __builtin_sub_overflow(x, y, &r); break;
    case OP_MUL: over = __builtin_mul_overflow(x, y, &r); break;
    case OP_NEG: over = __builtin_sub_overflow((int64_t)0, x, &r); break;
    case OP_SHL:
        if (y < 0 || y >= elem_info[elem].bits) return false;
        over = __builtin_mul_overflow(x, (int64_t)((uint64_t)1 << y), &r) || y == 63;
        break;
    default: return false;
    }
    return over || elem_wrap(elem, r) != r;
}

static void check_shift(Process *p, Step *s, Elem elem, const Type *type, int64_t i, int64_t y) {
    int bits = elem_info[elem].bits;
    if ((s->op->code == OP_SHL || s->op->code == OP_SHR) && (y < 0 || y >= bits))
        EV_REPORT(p, s, DIAG_SHIFT_RANGE, (long long)y, bits - 1, report_process(p), report_element(p->in, type, i));
}

static bool divides(Opcode code) {
    return code == OP_DIV || code == OP_REM || code == OP_FLOORDIV || code == OP_MOD || code == OP_CDIV;
}

/* The mark of what this division by zero gives; a number by itself is reported at once, as is
 * anything when there are too many places. */
static uint8_t divided(Process *p, Step *s, const Type *type, int64_t element) {
    Interp *in = p->in;
    int site = 1;
    while (site <= in->site_count && in->sites[site].step != s) site++;
    if (type->rank == 0 || site > SHADOW_SITES) {
        EV_REPORT(p, s, DIAG_DIVISION_BY_ZERO, report_process(p), report_element(in, type, element));
        return 0;
    }
    if (site > in->site_count) in->site_count = site;
    in->sites[site] = (DivisionSite){s, element};
    return (uint8_t)(site << SHADOW_SITE);
}

static void report_division(Process *p, uint8_t marks, const Type *used, int64_t element) {
    if (!(marks >> SHADOW_SITE)) return;
    const DivisionSite *site = &p->in->sites[marks >> SHADOW_SITE];
    const Type *type = ir_value(p->in->kernel, site->step->op->results[0])->type;
    bool same = ty_elements(type) == ty_elements(used);
    EV_REPORT(p, site->step, DIAG_DIVISION_BY_ZERO, report_process(p),
              report_element(p->in, type, same ? element : site->element));
}

static uint8_t join_marks(uint8_t a, uint8_t b) {
    uint8_t site = a >> SHADOW_SITE ? a >> SHADOW_SITE : b >> SHADOW_SITE;
    return (uint8_t)(((a | b) & SHADOW_KINDS) | site << SHADOW_SITE);
}

void sanitize_elementwise(Process *p, Step *s, const Walk *walk, const Operand *x, Cell *out) {
    Interp *in = p->in;
    const Type *type = ir_value(in->kernel, s->op->results[0])->type;
    Opcode code = s->op->code;
    int count = walk->count;
    bool integers = !elem_is_float(x[count - 1].elem) && count <= 2;
    bool shadowed = false, wraps = elem_is_signed(x[0].elem) && !type->pointer;
    for (int k = 0; k < count; k++) shadowed |= x[k].cell->shadow != NULL;
    if (!shadowed && (!integers || code == OP_CMP || code == OP_CAST)) return;
    int64_t n = ty_elements(type), length = walk->extent[walk->rank - 1], at[4];
    bool data = in->data[s->op->results[0]]; /* compared as they are */
    for (int64_t i = 0; i < n; i++) {
        if (i % length == 0) walk_row(walk, i / length, at);
        int64_t number[2] = {0};
        uint8_t marks = 0;
        for (int k = 0; k < count; k++) {
            bool taken = code != OP_SELECT || k == 0 || (k == 1) == (((uint8_t *)x[0].data)[at[0]] != 0);
            if (x[k].cell->shadow && taken) marks = join_marks(marks, x[k].cell->shadow[at[k]]);
            if (integers) number[k] = elem_get_i64(x[k].elem, (char *)x[k].data + at[k] * elem_info[x[k].elem].bytes);
        }
        for (int k = 0; k < count; k++) at[k] += walk->stride[k][walk->rank - 1];
        if (!keeps_wrap(code, type->elem == EL_I1) || (code == OP_CMP && data)) marks &= (uint8_t)~SHADOW_WRAPPED;
        if (integers && wraps && overflows(code, x[0].elem, number[0], number[1])) marks |= SHADOW_WRAPPED;
        if (integers && count == 2 && !(marks & SHADOW_UNWRITTEN)) {
            check_shift(p, s, x[0].elem, type, i, number[1]);
            if (number[1] == 0 && divides(code)) marks = join_marks(divided(p, s, type, i), marks);
        }
        if (marks) cell_shadow(in, out, n)[i] = marks;
    }
}

void sanitize_element(Process *p, Step *s, const Operand *x, int64_t at, ElementUse use) {
    static const char *const words[] = {"offset", "mask", ""};
    uint8_t marks = x->cell->shadow[at];
    if (marks & SHADOW_UNWRITTEN)
        EV_REPORT(p, s, DIAG_UNWRITTEN_VALUE, report_process(p), report_element(p->in, x->type, at));
    if ((marks & SHADOW_WRAPPED) && use != USE_VALUE)
        EV_REPORT(p, s, DIAG_OFFSET_OVERFLOW, words[use], report_process(p), report_element(p->in, x->type, at));
    report_division(p, marks, x->type, at);
}

void sanitize_use(Process *p, Step *s, const Operand *x) {
    int64_t n = ty_elements(x->type);
    for (int64_t i = 0; i < n; i++) {
        report_division(p, x->cell->shadow[i], x->type, i);
        if (!(x->cell->shadow[i] & SHADOW_UNWRITTEN)) continue;
        EV_REPORT(p, s, DIAG_UNWRITTEN_VALUE, report_process(p), report_element(p->in, x->type, i));
        return;
    }
}
