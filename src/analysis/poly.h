/* SPDX-License-Identifier: Apache-2.0 */
/* poly.h: polynomials with integer coefficients over scalar values of a kernel.
 *
 * 64*k*sb + pm*128 is three numbers and some references. Addresses, bounds and trip counts are
 * compared and divided in this form; arithmetic is exact (i64), because address arithmetic is taken
 * not to overflow. A Poly is a value: the terms are never changed once made, are sorted, and have
 * non-zero coefficients, so equal polynomials have equal terms. A product that grows out of bounds
 * is `bad`, and everything made from it. */
#ifndef ANALYSIS_POLY_H
#define ANALYSIS_POLY_H
#include "ir/build.h"

enum { POLY_FACTORS = 5, POLY_TERMS = 24 };

typedef struct Term {
    int64_t scale;
    int count;
    Ref factor[POLY_FACTORS]; /* ascending */
} Term;

typedef struct Poly {
    bool bad;
    int count;
    const Term *at;
} Poly;

Poly poly_int(Arena *arena, int64_t value);
Poly poly_ref(Arena *arena, Ref value);
Poly poly_term(Arena *arena, Term term);
Poly poly_add(Arena *arena, Poly a, Poly b);
Poly poly_sub(Arena *arena, Poly a, Poly b);
Poly poly_mul(Arena *arena, Poly a, Poly b);
Poly poly_scale(Arena *arena, Poly a, int64_t by);

bool poly_equal(Poly a, Poly b); /* false when either is bad */
uint64_t poly_hash(Poly p);      /* of equal ones equal */
static inline bool poly_is_zero(Poly p) { return !p.bad && p.count == 0; }
bool poly_const(Poly p, int64_t *value); /* a plain number? */
int64_t poly_constant(Poly p);           /* the term without factors */
/* The single term of p divides t: *quotient is t / p. */
bool poly_divides(Poly p, const Term *t, Term *quotient);
/* All terms divided by a number, if it divides them all. */
bool poly_over(Arena *arena, Poly p, int64_t by, Poly *out);
#endif
