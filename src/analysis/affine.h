/* SPDX-License-Identifier: Apache-2.0 */
/* affine.h: what integer and pointer tiles are, as functions of their indices.
 *
 * v[i0, i1, ..] = base + start + sum over axes of step * i  (+ scale * ((first + i) rem modulus)
 * where an axis turns) (+ scale * vector[i] for each part that is no such sum)
 *
 * A part is a tile of which one axis moves and nobody says how: numbers from memory, quotients,
 * clamps. So an address comes apart into one term an axis as long as no value mixes two axes.
 * Parts are told to those who ask for them (Analysis.separates); for others such a form is unknown.
 *
 * An axis of one element has no step, so that it can be spread over a longer one.
 * start, step, .. are polynomials over scalars. A carried value that a loop advances by an
 * invariant step has its closed form, first + trip * step. Everything here is an analysis: the
 * kernel is not changed. A form that is not known says why, and where.
 *
 * What a form says is exact in the integers, under the one rule that signed sums and products that
 * make an address or a mask and differ between programs or trips do not overflow (docs/ir.md). Those
 * that are the same for a whole launch are taken apart only where the launch can be asked whether
 * they fit (access_wish.c). Remainders and quotients, unsigned
 * arithmetic and conversions are followed only where the exact number is within its type. */
#ifndef ANALYSIS_AFFINE_H
#define ANALYSIS_AFFINE_H
#include "analysis/facts.h"
#include "analysis/grid_order.h"
#include "analysis/poly.h"

typedef enum WhyId {
    WHY_NONE,
#define WHY(id, why, help) WHY_##id,
#include "analysis/access_why.def"
} WhyId;

/* How an index goes on when it reaches the modulus: it does not care; it starts again at 0 (rem and
 * mod differ on negative numbers); or it stays somewhere below it. */
typedef enum Turn { TURN_NONE, TURN_REM, TURN_MOD, TURN_CLAMP } Turn;

typedef struct Affine Affine;

/* scale * value[.., i, ..]: the value moves along one of its axes alone (affine_axes). */
typedef struct Part {
    Ref value;
    Poly scale;
    const Affine *opaque; /* says why it is no sum of steps */
} Part;

enum { AXIS_PARTS = 4 };

typedef struct Axis {
    Poly step;
    Turn turn;
    bool sound; /* the index before it turns cannot have overflowed, nor can the modulus */
    Poly scale; /* of the index that turns */
    Poly first; /* the index before it turns is first + i */
    Poly modulus;
    Part turned; /* the index that turns, as a part of scale 1; value 0 when nobody asked */
    int part_count;
    const Part *part;
} Axis;

struct Affine {
    bool known;
    WhyId why;        /* when not known */
    const char *what; /* the op that stands in the way, for `why` */
    Range where;
    Ref base;  /* the pointer it starts from, or REF_NONE for integers */
    bool wide; /* the source has 64 bits for it: a sum of its terms may not fit in 32 */
    Poly start;
    int rank;
    Axis *axis;
};

/* Something that is to hold for an argument of the launch. */
typedef struct Wish {
    AttrId kind; /* AT_LEAST, AT_EQ */
    int64_t number;
    Ref value;
} Wish;

typedef struct Analysis {
    Kernel *k;
    Arena *arena;
    bool generic;     /* no wishes */
    bool any_grid;    /* none of how many programs there are */
    bool asks;        /* what is the same for a whole launch is taken apart only if that can be asked */
    bool separates;   /* axes may have parts */
    bool aligns;      /* strides may be wished to be multiples, for runs (runs.h) .. */
    bool wholes;      /* .. and sizes, too */
    int run_bytes;    /* of the longest run that is looked for: what the machine moves at once */
    GridOrder grid;   /* how program ids become tile places, if known */
    bool grid_wished; /* the proof used that the grid has as many programs as there are places */
    VEC(const Affine *) memo;
    VEC(signed char) variant; /* by Ref: 0 unknown, 1 no, 2 yes */
    VEC(unsigned short) axes; /* by Ref: affine_axes, once known */
    VEC(Ref) ones;            /* parameters taken to be 1 */
    VEC(Ref) numbers;         /* scalars that stand for themselves, one of each kind of equal ones */
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
/* The same, of what cannot wrap around to a negative number, and without a wish. */
bool poly_is_surely_natural(const Analysis *a, Poly p);
/* Is it at least 1? May wish it. */
bool poly_is_positive(Analysis *a, Poly p);
/* Does its value fit in 32 bits, whatever the launch? */
bool poly_fits_i32(const Analysis *a, Poly p);
/* In 32 bits, if places in the grid times extents do? */
bool poly_is_place(const Analysis *a, Poly p);
bool poly_fits_i62(const Analysis *a, Poly p); /* with room for a difference */
bool poly_fits_i64(const Analysis *a, Poly p);
/* Is every element of the form, as a tile of this type, within the range of its numbers? Places in
 * the grid times extents are. (affine_size.c) */
bool affine_holds(const Analysis *a, const Affine *f, const Type *type);
/* The values of which, if they fit in 32 bits, all elements do: none where the launch does not know
 * them; -1: it does, and they cannot be told (affine_size.c). */
enum { AFFINE_CORNERS = 8 };
int affine_corners(Analysis *a, const Affine *f, const Type *type, Poly corners[AFFINE_CORNERS]);
void affine_wish(Analysis *a, AttrId kind, int64_t number, Ref value);

/* Is the value visible at the op? (order numbers are those of the kernel when affine_init ran) */
bool affine_dominates(const Analysis *a, Ref value, const Op *at, int at_order);

/* The axes that a tile may move along (bit d: axis d). What does not move is a row that is repeated:
 * a tile with one such axis can be computed as a vector from what it is made of (affine_vector.c). */
unsigned affine_axes(Analysis *a, Ref value);
/* Does the op only spread its operand, or add and remove axes of one element? */
bool affine_is_spread(const Kernel *k, const Op *op);
/* The axis of its operand that an axis of the result comes from; -1: from none. */
int affine_axis_from(const Kernel *k, const Op *op, int axis);
/* Is it computed element by element from its operands, so that a slice of it is made of their slices? */
bool affine_is_slicewise(const Op *op);

/* --- for the files of the analysis --- */
/* The value as a part of its only axis that moves; unknown as `why` where several do, or none asks. */
const Affine *affine_vector(Analysis *a, Ref value, const Affine *why);
/* The sum of two axes' parts, turns among them, in out; false: too many. (affine_vector.c) */
bool affine_add_parts(Analysis *a, Axis *out, const Axis *x, const Axis *y, int64_t sign);
void affine_scale_parts(Analysis *a, Axis *axis, Poly by);
/* A known form of the value as one part, where its parts are better not told apart. */
const Affine *affine_join(Analysis *a, Ref value, const Op *op, const Affine *f);
/* Where the elements of a tile of integers lie; false: nothing is known but their type. (affine_size.c) */
bool affine_range(const Analysis *a, Ref value, int64_t *least, int64_t *most);
Affine *affine_new(Analysis *a, int rank);
const Affine *affine_unknown(Analysis *a, const Op *op, WhyId why);
const Affine *affine_atom(Analysis *a, Ref value, const Op *op, WhyId why);
const Affine *affine_add(Analysis *a, const Op *op, const Affine *x, const Affine *y, int64_t sign);
const Affine *affine_scale(Analysis *a, const Op *op, const Affine *x, Poly by);
bool affine_is_uniform(const Affine *f);
/* Remainders, quotients and clamps of indices (affine_turn.c). */
const Affine *affine_turn(Analysis *a, Ref value, const Op *op);
/* A value that a `for` carries (affine_loop.c). */
const Affine *affine_carried(Analysis *a, Ref arg, const Op *loop, int index);
/* A number that a `for` has carried, behind the loop. */
const Affine *affine_result(Analysis *a, Ref value, const Op *loop);
/* By how much an integer scalar grows from one trip of the `for` to the next, where that is a number. */
bool affine_growth(Analysis *a, const Op *loop, Ref value, int64_t *growth);
/* Is it the same in every trip of the loop that has this body? */
bool poly_is_invariant(const Analysis *a, Poly p, const Region *body);
/* Is the place of the region inside the other? */
bool affine_in_region(const Region *region, const Region *outer);
#endif
