/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h: what is known of a scalar without running the kernel: what it is a multiple of, and
 * whether it is >= 0.
 *
 * Known are literals, what arithmetic keeps, `assume`s, and `require`s: wishes of the compiler that
 * the launcher tests before it takes this variant. fact_wish turns a fact that is missing into such
 * a wish, where the launcher can test it (parameters and what follows from them) and the compile
 * may wish at all.
 *
 *     mul %pid, 128      is a multiple of 128 and not negative
 *     %lda : i32         after fact_wish(f, %lda, 8) a multiple of 8: the kernel begins with `require<mult=8> %lda` */
#ifndef ANALYSIS_FACTS_H
#define ANALYSIS_FACTS_H
#include "ir/build.h"

typedef struct Facts {
    Kernel *k;
    bool may_wish;
    bool only_asks;  /* a wish is answered, and not written down */
    bool whole_rows; /* wish for rows of whole vectors, too */
    bool no_ones;    /* but never that something is 1: what is 1 is a constant already */
    uint64_t odd;    /* parameters of which no multiple is wished for, nor of what is made of them */
} Facts;

Facts facts_new(Kernel *k, bool may_wish);
/* A number >= 0 of which it is a multiple, all elements of a tile (bytes for pointers), the largest that is known;
 * 0: it is 0. Signed sums and products are taken to be exact. */
int64_t fact_multiple(const Kernel *k, Ref x);
/* The power of two in that, at most 1 << 20: it holds where numbers wrap around, too. */
int64_t fact_divisor(const Facts *f, Ref x);
bool fact_nonnegative(const Facts *f, Ref x);
/* Is its value one of int32, whatever its type? */
bool fact_is_32_bits(const Kernel *k, Ref x);
/* The same for who has a kernel only; the hook is asked about values of which nothing is stated,
 * and may say yes (and remember what it relies on). */
typedef bool FactHook(void *user, Ref x);
bool fact_natural(const Kernel *k, Ref x, FactHook *hook, void *user);
/* The same of what cannot have wrapped around: sums and products are not taken to be exact. */
bool fact_surely_natural(const Kernel *k, Ref x);
/* The most that an `assume` or `require` at the top of the kernel says x is at least; INT64_MIN: nothing. */
int64_t fact_stated_least(const Kernel *k, Ref x);
/* Is x a multiple (an address: aligned), known or wished for? */
bool fact_wish_multiple(Facts *f, Ref x, int64_t multiple);
bool fact_may_wish(Facts *f, Ref x, int64_t multiple); /* would that say yes? */
/* Is it this number, known or wished for? */
bool fact_wish_equal(Facts *f, Ref x, int64_t value);

bool fact_wish_least(Facts *f, Ref x, int64_t least);
bool fact_wish_most(Facts *f, Ref x, int64_t most);
/* Is its value one of int32, by its type or by a wish about how far what it is made of goes (facts_ends.c)? */
bool fact_wish_32_bits(Facts *f, Ref x);
/* Is it not negative, known or by wishes about the parameters that it is made of? */
bool fact_wish_natural(Facts *f, Ref x);
/* Can the launcher compute it from the arguments? */
bool fact_at_launch(const Kernel *k, Ref x);
/* Which parameters it is made of, as bits: those that a launch can name, the first 64. */
uint64_t fact_parameters(const Kernel *k, Ref x);

/* The parts of a tensor, whether made by `tensor` or a parameter. An extent may be REF_NONE: unbounded. */
typedef struct TensorParts {
    Ref tensor, base;
    int rank;
    Ref extent[MAX_RANK], stride[MAX_RANK];
} TensorParts;
/* Parts of a parameter are made as ops at the start of the kernel, once each. */
TensorParts fact_tensor(Facts *f, Ref tensor);
/* Is no element of a row of this matrix one of another row (the stride at least the extent), known or wished for? */
bool fact_wish_rows_apart(Facts *f, const TensorParts *parts);
/* The same of a tensor's rows, which lie along one dimension and follow each other along another one. */
bool fact_wish_lines_apart(Facts *f, const TensorParts *parts, int down, int along);
#endif
