/* SPDX-License-Identifier: Apache-2.0 */
/* element.h: elements of the IR's types in memory, read and written as host numbers.
 *
 * Rows of n elements lie side by side; the wide side is int64_t for integers (unsigned ones as
 * their bits, i1 as 0 or 1), float or double for floats. Writing an integer wraps it to the type;
 * writing a float rounds it once, to nearest even. One element at a time: the _get_ and _put_
 * forms.
 *
 *     float row[64];
 *     elem_read_f32(EL_F16, data, 64, row);
 *     elem_put_f64(EL_BF16, place, 1.5); */
#ifndef IR_ELEMENT_H
#define IR_ELEMENT_H
#include "base/numeric.h"
#include "ir/ir.h"

void elem_read_i64(Elem elem, const void *from, int64_t n, int64_t *to);
void elem_write_i64(Elem elem, void *to, int64_t n, const int64_t *from);
void elem_read_f32(Elem elem, const void *from, int64_t n, float *to); /* not from f64 */
void elem_write_f32(Elem elem, void *to, int64_t n, const float *from);
void elem_read_f64(Elem elem, const void *from, int64_t n, double *to);
void elem_write_f64(Elem elem, void *to, int64_t n, const double *from);

static inline int64_t elem_get_i64(Elem elem, const void *from) {
    int64_t x = 0;
    if (elem == EL_I32) return *(const int32_t *)from;
    elem_read_i64(elem, from, 1, &x);
    return x;
}
static inline void elem_put_i64(Elem elem, void *to, int64_t x) { elem_write_i64(elem, to, 1, &x); }
/* Any element type as a double; 64-bit integers round. */
double elem_get_f64(Elem elem, const void *from);
void elem_put_f64(Elem elem, void *to, double x); /* floats */

/* The format of a float narrower than f64; NULL for other types. */
const FloatFormat *elem_format(Elem elem);
/* An integer wrapped to the type, as it reads back. */
int64_t elem_wrap(Elem elem, int64_t x);
/* x rounded to a float type of at most 32 bits. */
float elem_round_f32(Elem elem, float x);
/* Bytes of an element of the tile, and the type under which they are stored: pointers are u64. */
static inline Elem elem_stored(const Type *t) { return t->pointer ? EL_U64 : t->elem; }
#endif
