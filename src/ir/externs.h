/* SPDX-License-Identifier: Apache-2.0 */
/* externs.h: which functions an `extern` op may call: what they are called, and of which numbers they are. */
#ifndef IR_EXTERNS_H
#define IR_EXTERNS_H
#include "ir/ir.h"

enum { MAX_EXTERN_ARGS = 3 };

/* Numbers that C and CUDA have under one type: floats of 16 bits and less are not the same type everywhere. */
static inline bool ext_takes(Elem elem) {
    return elem_is_float(elem) ? elem_info[elem].bits >= 32 : elem_is_int(elem) && elem != EL_I1;
}

/* An identifier: anything else could be read as more than a name. */
static inline bool ext_is_name(const char *text) {
    for (const char *c = text; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
        if (!letter && (c == text || *c < '0' || *c > '9')) return false;
    }
    return *text != 0;
}

/* How many arguments the op has. */
static inline int ext_count(const Op *op) {
    int count = 0;
    while (count < op->operand_count && op->operands[count]) count++;
    return count;
}
#endif
