/* SPDX-License-Identifier: Apache-2.0 */
/* access_plan.h: between the analysis of pointer accesses and their rewriting; used by the two halves of `access`. */
#ifndef PASS_ACCESS_ACCESS_PLAN_H
#define PASS_ACCESS_ACCESS_PLAN_H
#include "analysis/affine.h"
#include "pass/pass.h"

enum { MAX_LIMITS = 3 };

enum { MAX_CONDITIONS = 12 };

/* One dimension of the tensor that is read or written. */
typedef struct PlanDim {
    int axis; /* of the tile; -1: a dimension that the tile has one place in */
    Poly stride, offset;
    int limit_count; /* index < each of them; 0: unbounded */
    Poly limit[MAX_LIMITS];
    bool starts_at_zero; /* a mask says index >= 0, so no proof is needed */
    bool wraps;          /* index modulo limit[0] */
    bool gave_way;       /* the source wraps (or clamps) here, but nobody sees it */
    bool clamps;
    /* An index vector: step * i + the sum of parts (in units of the stride) where all conditions hold,
     * else outside. */
    bool indexed;
    int64_t run; /* its numbers come in runs of so many, each beginning with a multiple of it; else 1 .. */
    bool near;   /* .. or most of them follow each other */
    Poly step;
    int part_count;
    Part part[AXIS_PARTS + 1]; /* and what turns */
    /* Of a vector; or, of a dimension that is a gate: it has one place, of stride 0, if all of them hold, else none. */
    bool gate;
    int condition_count;
    Ref condition[MAX_CONDITIONS];
} PlanDim;

typedef struct Plan {
    Op *op;
    int order; /* place in the walk, for affine_dominates */
    bool good;
    WhyId why; /* not good */
    const char *what;
    Range where;
    bool wide; /* sums of its polynomials are made in 64 bits */
    Ref pointer, mask;
    Ref base;
    Poly shift; /* added to the base */
    int dim_count;
    PlanDim dim[MAX_RANK];
    bool keeps_mask; /* part of the mask is no box */
    /* The box: the axes of the tile that are dimensions, in the order of the tensor (unit stride last). */
    const Type *box;
    int box_rank;
    bool permuted;
    int64_t to_tile[MAX_RANK], to_box[MAX_RANK]; /* permute dims: box -> axes of the tile that move, and back */
} Plan;

/* Says what the access is; never changes the kernel. */
void access_plan(Analysis *a, Plan *plan);

/* Carried tiles that a loop moves as a whole become a tile that stays and a number that is carried
 * (access_carry.c): before the analysis those without a closed form, behind it (closed) the others that
 * no box took. */
void access_carry(Kernel *k, bool closed);

/* Axes that numbers from memory move along together become one (access_join.c). */
void access_join(Kernel *k);

/* Comparisons of quotients become comparisons of what is divided (access_quotient.c). */
void access_quotients(PassContext *cx, Kernel *k);

/* The axis of a dimension that is an index vector: its parts, and the stride that they have in common
 * (access_vector.c). */
void access_plan_index(Analysis *a, PlanDim *dim, const Axis *axis);

/* Does the index vector of a dimension come in runs, of up to 16 bytes? With `asks` what that relies on is wished for
 * (access_runs.c). */
void access_plan_runs(Analysis *a, const Plan *plan, PlanDim *dim, bool asks);
void access_find_runs(Analysis *a, Plan *plan, bool asks);                   /* of all dimensions of a good plan */
bool access_is_near(Analysis *a, const Plan *plan, int d, const Axis *axis); /* would an axis do so, more or less? */

typedef struct Spot { /* where something was put in behind a definition: the last op of it */
    int order;
    Op *last;
} Spot;

typedef struct Known { /* a scalar of the kernel, by what it is worth */
    Poly poly;
    Ref value;
    struct Known *next, *last; /* later ones of the same hash; in the first, the last of them */
} Known;

typedef struct Exact { /* sum + each of the numbers from least to most */
    Poly sum;
    int64_t least, most;
} Exact;

/* The pass at work. */
typedef struct Access {
    PassContext *cx;
    Kernel *k;
    Analysis a;
    const int *uses; /* by Ref, of the kernel as it came */
    VEC(Plan *) plans;
    Map known; /* hash of a polynomial -> the first Known of it */
    RefMap renamed;        /* loads that were rewritten: old result -> new; other ops learn it in the end */
    VEC(Exact) exact;      /* what is made of arguments in 32 bits, and is taken to fit there */
    VEC(uint8_t) believed; /* by Ref: looked at for that */
    VEC(Ref) open;
    VEC(Spot) spots; /* of index vectors */
    int order;
} Access;

/* Index tiles that are one run become closed forms (access_close.c); false: there is none. What that wishes for is
 * left in the analysis. */
bool access_close(Access *x);

/* The extent of a gate: 1 or 0. */
Ref access_gate(Access *x, Builder *b, const PlanDim *dim);
/* The index vector of a dimension, made as early as its numbers are there: outside of loops that do not change it. */
Ref access_index(Access *x, const Plan *plan, const PlanDim *dim);

/* Notes what a good plan believes of sums and products of arguments; and asks the launch for that and
 * for all that the analysis wished for (access_wish.c). */
void access_believe(Access *x, const Plan *plan);
void access_require(Access *x);
/* Is it one of those that fit in 32 bits in every launch that gets so far? */
bool access_is_exact(const Access *x, Poly p);

/* A scalar of the kernel that is worth this polynomial, visible at the plan's access; or REF_NONE. */
Ref access_find_known(Access *x, Poly p, const Plan *plan);
/* The scalar that fills what a load's mask leaves out, or REF_NONE when `other` is no single value. */
Ref access_fill(const Kernel *k, Ref other);
/* One finding for each access, one for what the launch must hold, one for the whole (access_report.c). */
void access_report(Access *x, const Plan *plan);
void access_report_whole(Access *x);

typedef struct Condition { /* axis >= 0: i < limit (upper) or i >= limit; axis -1: limit > 0 */
    int axis;
    bool upper;
    Poly limit;
    bool other; /* no such bound, but of that one axis (of none) alone */
    Ref value;  /* the part of the mask that says it .. */
    int place;  /* .. and the axis that it can be a vector of: -1: a number, -2: none */
} Condition;
typedef struct Conditions {
    int count;
    Condition at[MAX_CONDITIONS];
    bool opaque; /* and something else */
} Conditions;
/* A mask over a tile of this rank as a conjunction. */
void access_conditions(Analysis *a, Ref mask, int rank, Conditions *out);

/* One finding for each box that the source states itself (access_boxes.c). */
void access_report_boxes(PassContext *cx, const Kernel *k);

/* Is everything that is made of `value` where first + i >= modulus along the axis dropped by stores? */
bool access_is_unseen(Analysis *a, Ref value, int axis, Poly first, Poly modulus);
#endif
