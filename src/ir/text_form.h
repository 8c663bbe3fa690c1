/* SPDX-License-Identifier: Apache-2.0 */
/* text_form.h: what printer and parser of the IR text share. */
#ifndef IR_TEXT_FORM_H
#define IR_TEXT_FORM_H
#include "ir/ir.h"

typedef enum LiteralKind { LITERAL_INT, LITERAL_FLOAT, LITERAL_BOOL } LiteralKind;

/* The type that the literal operand `index` has when the text gives none (literal.c). */
const Type *ir_literal_context(const Kernel *k, const Op *op, int index, const Type *given, LiteralKind kind);
#endif
