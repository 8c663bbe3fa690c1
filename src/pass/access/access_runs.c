/* SPDX-License-Identifier: Apache-2.0 */
/* access_runs.c: index vectors along the contiguous dimension that come in runs (runs.h).
 *
 *     (d / 8) * %s + d rem 8, require s % 8 = 0     runs of 8: each 8 elements are one vector of memory
 *
 * The parts of the dimension are summed: each begins its runs with a multiple of their length, and their steps add up
 * to 1. Conditions are the same for all of a run, and so is a mask that is no box and stays. */
#include "analysis/runs.h"
#include "pass/access/access_plan.h"

static bool part_runs(Runs *q, const Part *part, int64_t n, int64_t multiple, int64_t *step) {
    int64_t by;
    if (poly_const(part->scale, &by)) {
        int64_t left = by ? multiple / (by & -by) : 1;
        return runs_of(q, part->value, n, left > 1 ? left : 1, step) && !__builtin_mul_overflow(*step, by, step);
    }
    return runs_level(q, part->value, n) &&
           (runs_multiple(q, part->scale, multiple) || runs_of(q, part->value, n, multiple, step));
}

static bool comes_in_runs(Runs *q, const PlanDim *dim, int64_t n, int64_t multiple) {
    int64_t sum = 0, step;
    if (!poly_const(dim->step, &sum)) return false;
    for (int i = 0; i < dim->part_count; i++) {
        step = 0;
        if (!part_runs(q, &dim->part[i], n, multiple, &step) || __builtin_add_overflow(sum, step, &sum)) return false;
    }
    return sum == 1;
}

static bool is_whole(Runs *q, const Plan *plan, const PlanDim *dim, int64_t n) {
    if (plan->keeps_mask && !runs_level_along(q, plan->mask, dim->axis, n)) return false;
    for (int i = 0; i < dim->condition_count; i++)
        if (!runs_level(q, dim->condition[i], n)) return false;
    return comes_in_runs(q, dim, n, n);
}

void access_plan_runs(Analysis *a, const Plan *plan, PlanDim *dim, bool asks) {
    const Type *type = ir_type(a->k, plan->pointer);
    int64_t stride, n = a->run_bytes / elem_info[type->elem].bytes, extent = type->extent[dim->axis];
    dim->run = 1;
    if (!poly_const(dim->stride, &stride) || stride != 1) return;
    while (n > 1 && extent % n) n /= 2;
    Runs runs = runs_new(a, a->aligns, true);
    runs.trust = RUN_LIKELY;
    while (n > 1 && !comes_in_runs(&runs, dim, n, 1)) n /= 2;
    dim->near = n > 1 && !plan->keeps_mask;
    runs.trust = RUN_PROVED;
    while (n > 1 && !is_whole(&runs, plan, dim, n)) n /= 2;
    if (n == 1) return;
    dim->run = n;
    runs.trust = RUN_ASKED;
    if (asks) is_whole(&runs, plan, dim, n);
}

void access_find_runs(Analysis *a, Plan *plan, bool asks) {
    for (int d = 0; plan->good && d < plan->dim_count; d++)
        if (plan->dim[d].indexed) access_plan_runs(a, plan, &plan->dim[d], asks);
}

bool access_is_near(Analysis *a, const Plan *plan, int d, const Axis *axis) {
    PlanDim dim = {.axis = d};
    access_plan_index(a, &dim, axis);
    access_plan_runs(a, plan, &dim, false);
    return dim.near;
}
