/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_code.c: see cuda_code.h. */
#include "runtime/device/cuda_code.h"

#include <string.h>

const Machine *cuda_code_machine(tw_context *cx, const char *arch) {
    return simt_code_machine(cx, "cuda", arch, "sm_90a",
                             "sm_90a is Hopper and the default; sm_80, sm_89 and sm_100 run on later GPUs too");
}

bool cuda_code_emit(tw_kernel *k) {
    CudaCode *code = ARENA_NEW(&k->arena, CudaCode);
    code->plan = cuda_emit(&k->pass, k->ir);
    if (!code->plan) return false;
    k->code = code;
    code->simt_plan = &code->plan->simt;
    simt_code_show(k, ".cu", cuda_json(&k->pass, k->ir, code->plan));
    const char *host = cuda_host(&k->pass, k->ir, code->plan);
    if (host) kernel_add_artifact(k, "launch.cuh", host);
    return true;
}

static void *own_param(SimtCode *simt, const SimtParam *p) {
    CudaCode *code = (CudaCode *)simt;
    if (p->kind == SIMT_OWN) return &code->maps[p->dim];
    return p->dim ? (void *)&code->places : (void *)&code->room;
}

tw_status cuda_code_prepare(tw_kernel *k) {
    CudaCode *code = k->code;
    const CudaPlan *plan = code->plan;
    const char *why = NULL;
    code->program =
        scalars_compile(k->ir, plan->wanted.at, (int)plan->wanted.count, k->params, k->param_count, &k->arena, &why);
    if (!code->program) ice(&k->context->trap, "the launcher of kernel %s cannot compute %s", k->name, why);
    code->numbers = ARENA_ARRAY(&k->arena, int64_t, plan->wanted.count + 1);
    code->values = ARENA_ARRAY(&k->arena, CudaMapValue, plan->maps.count + 1);
    char *maps = arena_alloc(&k->arena, (plan->maps.count + 1) * sizeof *code->maps);
    code->maps = (CudaMapBytes *)(((uintptr_t)maps + 63) / 64 * 64);
    simt_code_params(k, &code->simt, own_param);
    return TW_OK;
}

size_t cuda_code_place_bytes(const CudaCode *code) {
    return code->plan->made ? (size_t)(code->plan->made + 1) * sizeof(CudaMapBytes) : 0;
}

tw_status cuda_code_refresh(tw_kernel *k, const LaunchCall *call,
                            const char *(*encode)(void *user, CudaMapBytes *map, const CudaMapValue *value),
                            void *user) {
    CudaCode *code = k->code;
    simt_code_refresh(&code->simt, call);
    if (!code->plan->maps.count) return TW_OK;
    scalars_run(code->program, k->slots, call->grid, code->numbers);
    for (size_t i = 0; i < code->plan->maps.count; i++) {
        CudaMapValue value = cuda_map_value(&code->plan->maps.at[i], code->numbers);
        if (code->plan->maps.at[i].made) value.base = (uint64_t)(uintptr_t)code->room; /* until there is another one */
        if (code->encoded && memcmp(&value, &code->values[i], sizeof value) == 0) continue;
        const char *wrong = cuda_map_wrong(&value);
        if (!wrong) wrong = encode(user, &code->maps[i], &value);
        if (wrong) {
            code->encoded = false;
            return context_fail(k->context, TW_ERROR_LAUNCH, "a tensor map of kernel `%s`: %s", k->name, wrong);
        }
        code->values[i] = value;
    }
    code->encoded = true;
    return TW_OK;
}

int cuda_code_cluster(const CudaCode *code, int multiprocessors) {
    const CudaPlan *plan = code->plan;
    if (!plan->cluster || !plan->waves) return plan->cluster ? plan->cluster : 1;
    int64_t along = code->numbers[plan->extent[plan->share]];
    double tasks = 1;
    for (int i = 0; i < plan->extents; i++) tasks *= (double)code->numbers[plan->extent[i]];
    bool whole = along % plan->cluster == 0 || along >= plan->many;
    return whole && tasks >= (double)plan->waves * multiprocessors ? plan->cluster : 1;
}
