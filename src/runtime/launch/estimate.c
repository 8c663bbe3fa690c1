/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c: what a launch would do, before anything is built: pass/work.h with the numbers of a launch, or with those
 * that the kernel was compiled for. What is known by its type alone stays unknown. */
#include "analysis/facts.h"
#include "ir/element.h"
#include "pass/work.h"
#include "runtime/compile/scalars.h"
#include "runtime/launch/frame.h"
#include "runtime/target/target.h"

#include <string.h>

typedef struct Launch {
    const tw_kernel *k;
    const Frame *frame;
    const int64_t *grid; /* NULL: not known */
    uint64_t unknown;    /* parameters, as bits */
    Arena *arena;
} Launch;

static bool number_of(void *user, Ref ref, int64_t *value) {
    static const int64_t none[3] = {1, 1, 1};
    const Launch *l = user;
    const char *why;
    if (!fact_at_launch(l->k->ir, ref) || (fact_parameters(l->k->ir, ref) & l->unknown)) return false;
    ArenaMark mark = arena_mark(l->arena);
    const ScalarProgram *p = scalars_compile(l->k->ir, &ref, 1, l->k->params, l->k->param_count, l->arena, &why);
    for (int i = 0; p && i < p->count; i++)
        if (p->steps[i].kind == STEP_GRID && !l->grid) p = NULL;
    if (p) scalars_run(p, l->frame->slots, l->grid ? l->grid : none, value);
    arena_reset(l->arena, mark);
    return p != NULL;
}

static bool is_number(const RunParam *param) { return param->type->kind == TY_TILE && !param->type->pointer; }

/* Numbers, and extents of tensors; addresses are 0. */
static tw_status bind_numbers(Launch *l, const tw_arg *args, size_t count) {
    const tw_kernel *k = l->k;
    memset(l->frame->slots, 0, (size_t)k->slot_count * sizeof *l->frame->slots);
    for (int i = 0; i < k->param_count; i++) {
        const RunParam *param = &k->params[i];
        const tw_arg *arg = param->source >= 0 && (size_t)param->source < count ? &args[param->source] : NULL;
        tw_status status = TW_OK;
        bool known = false;
        if (arg && is_number(param) && arg->kind != TW_ARG_NUMBER_TYPE) {
            status = frame_bind_number(k, l->frame, param, arg);
            known = true;
        } else if (arg && param->type->kind == TY_TENSOR && arg->kind == TW_ARG_BUFFER)
            known = frame_bind_extents(param, arg->value.buffer, &l->frame->slots[param->slot]);
        if (status != TW_OK) return status;
        if (!known && i < 64) l->unknown |= (uint64_t)1 << i;
    }
    return TW_OK;
}

/* The same of what the kernel was compiled for. */
static void bind_compiled(Launch *l) {
    const tw_kernel *k = l->k;
    memset(l->frame->slots, 0, (size_t)k->slot_count * sizeof *l->frame->slots);
    for (int i = 0; i < k->param_count; i++) {
        const RunParam *param = &k->params[i];
        const FrontValue *v = param->source >= 0 ? &k->request->args[param->source] : NULL;
        bool known = v && is_number(param) && v->kind == FRONT_INT && !elem_is_float(param->type->elem);
        if (known) elem_put_i64(param->type->elem, &l->frame->slots[param->slot], v->i);
        if (!known && i < 64) l->unknown |= (uint64_t)1 << i;
    }
}

static tw_status prepare(tw_kernel *k, Frame *f, Launch *l) {
    tw_status status = k->slots ? TW_OK : kernel_prepare_launch(k, k->request->kernel);
    if (status != TW_OK) return status;
    *f = frame_in(k, k->slots);
    *l = (Launch){.k = k, .frame = f, .arena = &k->arena};
    return TW_OK;
}

Work kernel_program_work(tw_kernel *k) {
    Frame f;
    Launch l;
    if (prepare(k, &f, &l) != TW_OK) return work_count(k->ir, NULL, NULL, NULL);
    bind_compiled(&l);
    return work_count(k->ir, NULL, number_of, &l);
}

tw_status kernel_work(tw_kernel *k, const int64_t *said, const tw_arg *args, size_t count, tw_work_info *info) {
    *info = (tw_work_info){.struct_size = info->struct_size};
    for (; k; k = k->next) {
        Frame f;
        Launch l;
        tw_status status = prepare(k, &f, &l);
        if (status == TW_OK) status = bind_numbers(&l, args, count);
        if (status != TW_OK) return status;
        int64_t grid[3] = {1, 1, 1};
        if (k->grid)
            scalars_run_in(k->grid, f.registers, f.slots, (const int64_t[3]){1, 1, 1}, grid);
        else if (said)
            memcpy(grid, said, sizeof grid);
        else
            return context_fail(k->context, TW_ERROR_ARGUMENT, "kernel `%s` does not state its grid", k->name);
        l.grid = grid;
        Work w = work_count(k->ir, grid, number_of, &l);
        double programs = (double)grid[0] * (double)grid[1] * (double)grid[2];
        int threads = k->threads ? k->threads : k->context->threads;
        info->programs += programs;
        info->bytes += w.bytes * programs;
        info->products += w.products * programs;
        info->others += w.others * programs;
        if (k->pass.machine) info->seconds += work_seconds(&w, programs, k->pass.machine, threads);
    }
    return TW_OK;
}
