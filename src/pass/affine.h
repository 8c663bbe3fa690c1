/* affine.h: what integer and pointer tiles are, as functions of their indices.
 *
 * v[i0, i1, ..] = base + start + sum over axes of step * i  (+ scale * ((first + i) rem modulus)
 * where an axis wraps)
 *
 * start, step, .. are polynomials over scalars. A carried value that a loop advances by an
 * invariant step has its closed form, first + trip * step. Everything here is an analysis: the
 * kernel is not changed. A form that is not known says why, and where. */
#ifndef PASS_AFFINE_H
#define PASS_AFFINE_H
#include "pass/grid_order.h"
#include "pass/poly.h"

typedef struct Axis {
    Poly step;
    bool wraps;
    bool floor; /* mod, not rem: right for negative numbers too */
    Poly scale; /* of the wrapped index */
    Poly first; /* the index before wrapping is first + i */
    Poly modulus;
} Axis;

typedef struct Affine {
    bool known;
    const char *why; /* when not known */
    Range where;
    Ref base; /* the pointer it starts from, or REF_NONE for integers */
    Poly start;
    int rank;
    Axis *axis;
} Affine;

/* Something that is to hold for an argument of the launch. */
typedef struct Wish {
    AttrId kind; /* AT_AT_LEAST, AT_EQ, AT_ALIGN, AT_MULT */
    int64_t number;
    Ref value;
} Wish;

typedef struct Analysis {
    Kernel *k;
    Arena *arena;
    bool generic;     /* no wishes */
    GridOrder grid;   /* how program ids become tile places, if known */
    bool grid_wished; /* the proof used that the grid has as many programs as there are places */
    VEC(const Affine *) memo;
    VEC(signed char) variant; /* by Ref: 0 unknown, 1 no, 2 yes */
    VEC(Ref) ones;            /* parameters taken to be 1 */
    VEC(Wish) wishes;
    int *order; /* by Ref: place of its definition in a walk over the kernel */
    size_t order_count;
} Analysis;

void affine_init(Analysis *a, Kernel *k, Arena *arena, bool generic);
void affine_forget(Analysis *a); /* after a new entry of ones */
const Affine *affine_of(Analysis *a, Ref value);

/* Does it differ between programs or between trips of a loop? */
bool affine_is_variant(Analysis *a, Ref value);
bool poly_is_variant(Analysis *a, Poly p);
/* Is it never negative? May wish that parameters are not. */
bool poly_is_natural(Analysis *a, Poly p);
void affine_wish(Analysis *a, AttrId kind, int64_t number, Ref value);

/* Is the value visible at the op? (order numbers are those of the kernel when affine_init ran) */
bool affine_dominates(const Analysis *a, Ref value, const Op *at, int at_order);
#endif
