/* SPDX-License-Identifier: Apache-2.0 */
/* literal.c: the type of a literal that stands without one in the text.
 *
 * `add %x, 1` means 1 in %x's element type. The rule looks only at operands that are no literals, at the given type and
 * at the op, so that printer (may the type be left out?) and parser (what was left out?) always agree. */
#include "ir/text_form.h"

static const Type *scalar_of(Module *m, const Type *type) {
    return type->pointer ? ty_pointer(m, type->elem) : ty_scalar(m, type->elem);
}

/* The letter of operand `index`, and whether it stands in an open group (`x*`), where no operand binds another. */
static char letter_at(const Op *op, int index, bool *open) {
    int at = 0, list = 0;
    *open = false;
    for (const char *s = op_info[op->code].operands; *s; s++) {
        if (*s == ' ' || *s == '?' || *s == '*') continue;
        bool bracket = *s == '[';
        char letter = bracket ? s[1] : *s;
        if (bracket) s += 2;
        bool star = !bracket && s[1] == '*';
        int n = bracket ? op->list_count[list++] : star ? op->operand_count - at : 1;
        if (index < at + n) {
            *open = star && op->code != OP_CAT;
            return letter;
        }
        at += n;
    }
    return 0;
}

/* Ops whose value operand takes its element from what it is written to. */
static const Type *element_of_target(const Kernel *k, const Op *op) {
    switch (op->code) {
    case OP_LOAD:
    case OP_STORE:
    case OP_ATOMIC:
    case OP_ATOMIC_CAS:
    case OP_TSTORE:
    case OP_TATOMIC:
    case OP_BSTORE:
        if (!ref_is_value(op->operands[0])) return NULL;
        return ty_scalar(k->module, ir_type(k, op->operands[0])->elem);
    case OP_PUT: {
        const Type *ring = ref_is_value(op->operands[0]) ? ir_type(k, op->operands[0])->ring : NULL;
        int64_t field = op_int(op, AT_FIELD_NUMBER, -1);
        return ring && field >= 0 && field < ring->field_count ? scalar_of(k->module, ring->fields[field].type) : NULL;
    }
    default: return NULL;
    }
}

const Type *ir_literal_context(const Kernel *k, const Op *op, int index, const Type *given, LiteralKind kind) {
    Module *m = k->module;
    bool open;
    char letter = letter_at(op, index, &open);
    if (letter == 'x' && op->code == OP_SPLAT && given) return scalar_of(m, given);
    if (letter == 'x') {
        const Type *element = element_of_target(k, op);
        if (element) return element;
    }
    for (int i = 0; letter != 'n' && letter != 'v' && letter != 'y' && !open && i < op->operand_count; i++) {
        bool other_open;
        if (!ref_is_value(op->operands[i]) || letter_at(op, i, &other_open) != letter || other_open) continue;
        return scalar_of(m, ir_type(k, op->operands[i]));
    }
    return ty_scalar(m, kind == LITERAL_INT ? EL_I32 : kind == LITERAL_FLOAT ? EL_F32 : EL_I1);
}
