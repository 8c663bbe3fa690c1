/* SPDX-License-Identifier: Apache-2.0 */
/* sums.h: what the products of a loop take of a thread's registers. */
#ifndef ANALYSIS_SUMS_H
#define ANALYSIS_SUMS_H
#include "ir/ir.h"

/* What counts as a sum that a loop carries: the carried value as it is; or what is made of it element by element as
 * well (attention scales its sum in each trip), which mostly has the same registers, but lies beside it for a while. */
typedef enum SumKind { SUM_AS_IT_IS, SUM_OR_SCALED } SumKind;

/* Does the product add to what the loop around it carries? Then its sum has the registers of that. */
bool sum_is_carried(const Kernel *k, const Op *dot, SumKind kind);
/* Of a thread, from layout form on: what the region carries, and the sums of its products beside that. */
int64_t sum_words(const Kernel *k, const Region *region, SumKind kind);
/* The most that sums of products in a row, those of one region, have together; `size`: of one of them. */
int64_t sum_most_in_row(const Kernel *k, int64_t (*size)(const Kernel *k, Ref sum));
#endif
