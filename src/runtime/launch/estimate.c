/* estimate.c: what a launch would do, before anything is built: pass/work.h with the numbers of a launch. */
#include "pass/work.h"
#include "runtime/compile/scalars.h"
#include "runtime/launch/frame.h"
#include "runtime/target/target.h"

#include <string.h>

typedef struct Launch {
    const tw_kernel *k;
    const Frame *frame;
    const int64_t *grid;
    Arena *arena;
} Launch;

static bool number_of(void *user, Ref ref, int64_t *value) {
    const Launch *l = user;
    const char *why;
    ArenaMark mark = arena_mark(l->arena);
    const ScalarProgram *p = scalars_compile(l->k->ir, &ref, 1, l->k->params, l->k->param_count, l->arena, &why);
    if (p) scalars_run(p, l->frame->slots, l->grid, value);
    arena_reset(l->arena, mark);
    return p != NULL;
}

/* Numbers, and extents of tensors; addresses are 0. */
static tw_status bind_numbers(const tw_kernel *k, const Frame *f, const tw_arg *args, size_t count) {
    memset(f->slots, 0, (size_t)k->slot_count * sizeof *f->slots);
    for (int i = 0; i < k->param_count; i++) {
        const RunParam *param = &k->params[i];
        if (param->source < 0 || (size_t)param->source >= count) continue;
        const tw_arg *arg = &args[param->source];
        bool number = param->type->kind == TY_TILE && !param->type->pointer;
        if (number) {
            tw_status status = frame_bind_number(k, f, param, arg);
            if (status != TW_OK) return status;
        } else if (param->type->kind == TY_TENSOR && arg->kind == TW_ARG_BUFFER)
            frame_bind_extents(param, arg->value.buffer, &f->slots[param->slot]);
    }
    return TW_OK;
}

tw_status kernel_work(tw_kernel *k, const int64_t *said, const tw_arg *args, size_t count, tw_work_info *info) {
    *info = (tw_work_info){.struct_size = info->struct_size};
    for (; k; k = k->next) {
        tw_status status = k->slots ? TW_OK : kernel_prepare_launch(k, k->request->kernel);
        if (status != TW_OK) return status;
        Frame f = frame_in(k, k->slots);
        status = bind_numbers(k, &f, args, count);
        if (status != TW_OK) return status;
        int64_t grid[3] = {1, 1, 1};
        if (k->grid)
            scalars_run_in(k->grid, f.registers, f.slots, (const int64_t[3]){1, 1, 1}, grid);
        else if (said)
            memcpy(grid, said, sizeof grid);
        else
            return context_fail(k->context, TW_ERROR_ARGUMENT, "kernel `%s` does not state its grid", k->name);
        Launch launch = {.k = k, .frame = &f, .grid = grid, .arena = &k->arena};
        Work w = work_count(k->ir, grid, number_of, &launch);
        double programs = (double)grid[0] * (double)grid[1] * (double)grid[2];
        info->programs += programs;
        info->bytes += w.bytes * programs;
        info->products += w.products * programs;
        info->others += w.others * programs;
        if (k->pass.machine)
            info->seconds += work_seconds(&w, programs, k->pass.machine, k->threads ? k->threads : k->context->threads);
    }
    return TW_OK;
}
