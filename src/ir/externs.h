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

/* What a function that works on memory takes, in order, as `takes` says it: arrays of numbers, which the op has as
 * words of 64 bits, the lowest element first, and what is no array. One op gives one word of those that it writes.
 *
 *     takes="r4:i8 w8:f16 x =8"      f(const i8 in[4], f16 out[8], number, 8): one word comes in, two are written */
enum {
    EXT_READ = 'r',
    EXT_WRITTEN = 'w',
    EXT_BOTH = 'b',
    EXT_NUMBER = 'x',
    EXT_CONSTANT = '=',
    EXT_UNUSED = '.',
    EXT_LONGEST = 1024
};
typedef struct ExtParam {
    char kind;
    Elem elem;      /* of an array */
    int64_t count;  /* of its elements */
    int64_t number; /* a constant */
} ExtParam;
bool ext_next(const char **at, ExtParam *p); /* false: there is none, or the text is wrong */
int ext_words(const ExtParam *p);            /* of an array */
static inline bool ext_reads(const ExtParam *p) { return p->kind == EXT_READ || p->kind == EXT_BOTH; }
static inline bool ext_writes(const ExtParam *p) { return p->kind == EXT_WRITTEN || p->kind == EXT_BOTH; }
/* Does the form fit the operands, and is there the word? */
bool ext_check(const Op *op, const char *form, int64_t part);
/* What a C compiler does not take of a text; NULL: nothing that is known. */
const char *ext_cuda_word(const char *text);

/* How many arguments the op has. */
static inline int ext_count(const Op *op) {
    int count = 0;
    while (count < op->operand_count && op->operands[count]) count++;
    return count;
}
#endif
