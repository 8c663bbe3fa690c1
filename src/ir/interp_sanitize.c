/* interp_sanitize.c: what is wrong with an element, carried along with it.
 *
 * A shadow byte an element: UNWRITTEN elements come from undef and unwritten buffers and spread
 * through every elementwise op; they are reported where they decide something (an address, a mask,
 * a bound, a sum) or are stored. WRAPPED integers come from signed arithmetic that overflowed and
 * spread through sums, products and widening, but not through rem, and, min .., which make any
 * number an index on purpose; they are reported when an active lane uses one as an address.
 * Division by zero and shifts out of range are reported where they happen. */
#include "ir/interp_core.h"

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

static void check_integers(Process *p, Step *s, Elem elem, const Type *type, int64_t i, int64_t y) {
    Opcode code = s->op->code;
    bool divides = code == OP_DIV || code == OP_REM || code == OP_FLOORDIV || code == OP_MOD ||
                   code == OP_CDIV;
    if (divides && y == 0)
        EV_REPORT(p, s, DIAG_DIVISION_BY_ZERO, report_process(p), report_element(p->in, type, i));
    int bits = elem_info[elem].bits;
    if ((code == OP_SHL || code == OP_SHR) && (y < 0 || y >= bits))
        EV_REPORT(p, s, DIAG_SHIFT_RANGE, (long long)y, bits - 1, report_process(p),
                  report_element(p->in, type, i));
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
    for (int64_t i = 0; i < n; i++) {
        if (i % length == 0) walk_row(walk, i / length, at);
        int64_t number[2] = {0};
        uint8_t marks = 0;
        for (int k = 0; k < count; k++) {
            bool taken =
                code != OP_SELECT || k == 0 || (k == 1) == (((uint8_t *)x[0].data)[at[0]] != 0);
            if (x[k].cell->shadow && taken) marks |= x[k].cell->shadow[at[k]];
            if (integers)
                number[k] =
                    elem_get_i64(x[k].elem, (char *)x[k].data + at[k] * elem_info[x[k].elem].bytes);
        }
        for (int k = 0; k < count; k++) at[k] += walk->stride[k][walk->rank - 1];
        if (!keeps_wrap(code, type->elem == EL_I1)) marks &= (uint8_t)~SHADOW_WRAPPED;
        if (integers && wraps && overflows(code, x[0].elem, number[0], number[1]))
            marks |= SHADOW_WRAPPED;
        if (integers && count == 2 && !(marks & SHADOW_UNWRITTEN))
            check_integers(p, s, x[0].elem, type, i, number[1]);
        if (marks) cell_shadow(in, out, n)[i] = marks;
    }
}

void sanitize_address(Process *p, Step *s, const Operand *x, int64_t at, int64_t element) {
    uint8_t marks = x->cell->shadow[at];
    if (marks & SHADOW_UNWRITTEN)
        EV_REPORT(p, s, DIAG_UNWRITTEN_VALUE, report_process(p),
                  report_element(p->in, x->type, at));
    bool address = x->type->pointer || (x->type->kind == TY_TILE && elem_is_int(x->type->elem));
    if ((marks & SHADOW_WRAPPED) && address)
        EV_REPORT(p, s, DIAG_OFFSET_OVERFLOW, report_process(p),
                  report_element(p->in, x->type, element));
}

void sanitize_use(Process *p, Step *s, const Operand *x) {
    int64_t n = ty_elements(x->type);
    for (int64_t i = 0; i < n; i++)
        if (x->cell->shadow[i] & SHADOW_UNWRITTEN) {
            EV_REPORT(p, s, DIAG_UNWRITTEN_VALUE, report_process(p),
                      report_element(p->in, x->type, i));
            return;
        }
}
