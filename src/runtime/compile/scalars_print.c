/* SPDX-License-Identifier: Apache-2.0 */
/* scalars_print.c: the small programs of scalars.c as C, for kernels that are built ahead of time. */
#include "base/scalar_ops.h"
#include "ir/element.h"
#include "runtime/compile/scalars.h"

static const char *operation_name(Opcode code) {
    switch (code) {
#define CASE(NAME, name) \
    case OP_##NAME: return #name;
        SCALAR_BINARY(CASE)
        SCALAR_UNARY(CASE)
#undef CASE
    default: return NULL;
    }
}

static const char *compare_name(Word predicate) {
    switch (predicate) {
#define CASE(NAME, name) \
    case CMP_##NAME: return #name;
        SCALAR_COMPARE(CASE)
#undef CASE
    default: return "eq";
    }
}

static bool is_unary(Opcode code) {
    switch (code) {
#define CASE(NAME, name) case OP_##NAME:
        SCALAR_UNARY(CASE)
#undef CASE
        return true;
    default: return false;
    }
}

static void print_op(const ScalarStep *step, Text *t) {
    const int *at = step->at;
    int bits = elem_info[step->elem].bits, is_signed = elem_is_signed(step->elem);
    if (step->code == OP_CMP)
        text_add(t, "scalar_is_%s(r%d, r%d, %d)", compare_name(step->predicate), at[0], at[1],
                 elem_is_signed(step->from));
    else if (step->code == OP_SELECT)
        text_add(t, "r%d ? r%d : r%d", at[0], at[1], at[2]);
    else if (step->code == OP_PTR_ADD)
        text_add(t, "(int64_t)((uint64_t)r%d + (uint64_t)r%d * %lldu)", at[0], at[1], (long long)step->number);
    else if (is_unary(step->code))
        text_add(t, "scalar_%s(r%d, %d, %d)", operation_name(step->code), at[0], bits, is_signed);
    else
        text_add(t, "scalar_%s(r%d, r%d, %d, %d)", operation_name(step->code), at[0], at[1], bits, is_signed);
}

void scalars_print(const ScalarProgram *program, Text *t) {
    for (int i = 0; i < program->count; i++) {
        const ScalarStep *step = &program->steps[i];
        text_add(t, "    const int64_t r%d = ", i);
        switch (step->kind) {
        case STEP_LITERAL: text_add(t, "(int64_t)0x%llxu", (unsigned long long)step->number); break;
        case STEP_SLOT:
            text_add(t, "scalar_wrap((int64_t)w[%d], %d, %d)", step->at[0], elem_info[step->elem].bits,
                     elem_is_signed(step->elem));
            break;
        case STEP_GRID: text_add(t, "g[%d]", step->at[0]); break;
        case STEP_OP: print_op(step, t); break;
        }
        text_add(t, ";\n");
    }
}
