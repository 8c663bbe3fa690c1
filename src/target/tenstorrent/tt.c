/* SPDX-License-Identifier: Apache-2.0 */
/* tt.c: the target's front: plan, kernels as typed calls, checks, texts. See tt.h. */
#include "target/tenstorrent/tt_emit.h"

#include <string.h>

const TtOptions tt_options_default = {.arch = TENSIX_WORMHOLE, .fidelity = 4};

const char *tt_file_name(int kernel) {
    static const char *const names[] = {
        [TENSIX_READER] = "reader.cpp", [TENSIX_WRITER] = "writer.cpp", [TENSIX_COMPUTE] = "compute.cpp"};
    return names[kernel];
}

const char *tt_entry_name(int kernel) {
    static const char *const names[] = {
        [TENSIX_READER] = "tw_reader", [TENSIX_WRITER] = "tw_writer", [TENSIX_COMPUTE] = "tw_compute"};
    return names[kernel];
}

const char *tt_prelude_name(int kernel) {
    return kernel == TENSIX_COMPUTE ? "tilewright_compute.h" : "tilewright_dataflow.h";
}

char *tt_wrapper(const TtPlan *plan, int kernel, Arena *arena) {
    return arena_printf(arena,
                        "#define KERNEL_COMPILE_TIME_ARGS %s\n#include \"tt_kernel.h\"\n#include \"%s\"\n"
                        "#include \"tt_lines.h\"\n#include \"%s\"\nTT_KERNEL_ENTRY(%s)\n",
                        plan->compile_args[kernel], tt_prelude_name(kernel), plan->file[kernel],
                        tt_entry_name(kernel));
}

TtPlan *tt_emit(PassContext *cx, Kernel *k, const TtOptions *options) {
    if (!pass_takes_form(k, FORM_RING, "target tenstorrent")) return NULL;
    Arena *arena = cx->module->arena;
    const Diag *diag = cx->module->diag;
    int errors = diag->errors;
    TtPlan *plan = ARENA_NEW(arena, TtPlan);
    plan->options = *options;
    plan->name = k->name;
    for (int i = 0; i < TT_KERNELS; i++) {
        const char *name = tt_file_name(i), *dot = strchr(name, '.');
        plan->file[i] = !options->launch ? name : arena_printf(arena, "%.*s_%d%s", (int)(dot - name), name,
                                                               options->launch + 1, dot);
    }
    plan->param_count = k->body->arg_count;
    plan->in_l1 = ARENA_ARRAY(arena, bool, k->body->arg_count);
    plan->shards = ARENA_ARRAY(arena, TwShards, k->body->arg_count);
    Tt tt = {.cx = cx, .k = k, .arena = arena, .plan = plan, .scaler_cb = -1};
    tt_take_annotations(&tt);
    tt_plan_roles(&tt);
    if (diag->errors > errors) return NULL;
    tt_lift_numbers(&tt);
    tt_simplify_parts(&tt);
    tt_change_integers(&tt);
    tt_round_casts(&tt);
    tt_make_moves(&tt);
    tt_refine_reductions(&tt);
    tt_plan_fields(&tt);
    if (diag->errors > errors) return NULL;
    tt_plan_buffers(&tt);
    tt_plan_shares(&tt);
    tt_plan_streams(&tt);
    tt_plan_constants(&tt);
    tt_settle_schedule(&tt);
    if (diag->errors > errors) return NULL;
    static Role *(*const build[])(Tt *tt) = {
        [TENSIX_READER] = tt_build_reader, [TENSIX_WRITER] = tt_build_writer, [TENSIX_COMPUTE] = tt_build_compute};
    Role *roles[TT_KERNELS];
    for (int i = 0; i < TT_KERNELS; i++) roles[i] = build[i](&tt);
    tt_settle_setup(&tt, &tt.code[TENSIX_COMPUTE]);
    if (options->change) options->change(tt.code, options->change_user);
    tt_lint(&tt);
    tt_check_limits(&tt);
    if (diag->errors > errors) return NULL;
    for (int i = 0; i < TT_KERNELS; i++) plan->source[i] = tt_kernel_text(roles[i]);
    plan->json = tt_json(&tt);
    tt_host_text(&tt);
    plan->cmake = tt_cmake_text(&tt);
    return plan;
}
