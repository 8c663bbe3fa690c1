/* SPDX-License-Identifier: Apache-2.0 */
/* irtext.c: the door for Tile IR written as text.
 *
 * Types stand in the text, so opening is parsing and every parameter is known; lowering finds the
 * kernel in a fresh parse, because a compile changes its IR and owns it. */
#include "front/front.h"

static FrontParam describe(const Kernel *k, Ref arg) {
    const Value *value = ir_value(k, arg);
    const Type *type = value->type;
    FrontParam param = {.name = value->name, .elem = (int)type->elem, .rank = type->rank, .range = k->range};
    param.kind = type->kind == TY_TENSOR ? FRONT_TENSOR : type->pointer ? FRONT_POINTER : FRONT_SCALAR;
    return param;
}

bool irtext_open(FrontUnit *unit) {
    Module *module = ir_module_new(unit->arena, unit->diag, unit->sources);
    if (!ir_parse(module, unit->file)) return false;
    for (size_t i = 0; i < module->kernels.count; i++) {
        const Kernel *k = module->kernels.at[i];
        FrontParam *params = ARENA_ARRAY(unit->arena, FrontParam, k->body->arg_count);
        for (int a = 0; a < k->body->arg_count; a++) params[a] = describe(k, k->body->args[a]);
        *VEC_PUSH(&unit->kernels, unit->arena) = (FrontKernel){.name = k->name,
                                                               .range = k->range,
                                                               .param_count = k->body->arg_count,
                                                               .params = params,
                                                               .has_grid = k->grid != NULL};
    }
    return true;
}

Kernel *irtext_lower(FrontUnit *unit, const FrontRequest *request) {
    if (!ir_parse(request->module, unit->file)) return NULL;
    Kernel *k = ir_kernel_find(request->module, request->kernel->name);
    return k && ir_verify(k, k->form, request->module->diag) ? k : NULL;
}
