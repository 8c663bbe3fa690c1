/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_emit.c: a kernel's plan and its .cu: what the schedule says, the statements (simt_emit.c), the file around them
 * (simt_entry.c), and the tensor maps among its parameters. */
#include "pass/schedule/schedule.h"
#include "target/cuda/cuda_emit.h"

static ExprList params_text(Emit *e) {
    CudaPlan *plan = cuda_of(e)->plan;
    ExprList text = {0};
    entry_params(e, &plan->params, &text);
    for (size_t i = 0; i < plan->maps.count; i++)
        entry_param(e, &plan->params, &text, (SimtParam){SIMT_OWN, 0, (int)i, EL_U8},
                    "const __grid_constant__ TensorMap", plan->maps.at[i].name);
    if (plan->made) {
        entry_param(e, &plan->params, &text, (SimtParam){SIMT_ROOM, 0, 0, EL_U8}, "TensorMap *", "made_maps");
        entry_param(e, &plan->params, &text, (SimtParam){SIMT_ROOM, 0, 1, EL_I32}, "i32", "map_places");
    }
    entry_grid(e, &plan->params, &text);
    return text;
}

CudaPlan *cuda_emit(PassContext *cx, Kernel *k) {
    if (!pass_takes_form(k, FORM_SCHEDULE, "target cuda") || !schedule_check(cx, k)) return NULL;
    Arena *arena = k->module->arena;
    CudaEmit cuda = {.plan = ARENA_NEW(arena, CudaPlan)};
    Emit *e = &cuda.emit;
    emit_begin(e, &cuda_target, cx, k);
    Op *tasks = tasks_of(k);
    e->persist = tasks && op_flag(tasks, AT_PERSIST);
    entry_plan(e, &cuda.plan->simt, tasks ? "roles" : "flat");
    cuda.plan->made = schedule_maps_made(k);
    gang_read(e, tasks);
    if (tasks) {
        cluster_read(e, tasks);
        ring_read(e);
    }
    CLines top = {0};
    cuda.plan->waits = kernel_int(k, AT_PDL_WAIT, 0);
    if (cuda.plan->waits) cs_line_of(&e->p, &top, 1, "tw_pdl_wait();");
    if (kernel_int(k, AT_PDL_LAUNCH, 0)) cs_line_of(&e->p, &top, 1, "tw_pdl_launch();");
    if (!emit_kernel(e, &top)) return NULL;
    ExprList params = params_text(e);
    EntryFile file = {.plan = &cuda.plan->simt,
                      .params = &params,
                      .registers = kernel_int(k, AT_MOST_REGS, 0),
                      .before = &cuda.forms_lines,
                      .top = &top,
                      .names_thread = !tasks};
    cuda.plan->text = entry_file(e, &file);
    entry_requirements(e);
    pass_find(cx, k->range, FIND_BLOCK, cuda.plan->execution, cuda.plan->threads, (long long)cuda.plan->shared_bytes);
    return cuda.plan;
}
