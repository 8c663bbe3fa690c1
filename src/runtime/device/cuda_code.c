/* cuda_code.c: see cuda_code.h. */
#include "runtime/device/cuda_code.h"

#include <stdio.h>
#include <string.h>

const Machine *cuda_code_machine(tw_context *cx, const char *arch) {
    const Machine *machine = machine_of_arch("cuda", arch ? arch : "sm_90a");
    if (machine) return machine;
    Text known = text_new(&cx->texts);
    for (int i = 0; (machine = machine_at(i)); i++)
        if (machine->target && strcmp(machine->target, "cuda") == 0)
            text_add(&known, "%s%s", known.length ? ", " : "", machine->name);
    context_fail(cx, TW_ERROR_NOT_FOUND,
                 "target cuda knows no architecture `%s`; it knows %s (sm_90a is Hopper and the "
                 "default; sm_80, sm_89 and sm_100 run on later GPUs too)",
                 arch, known.at);
    return NULL;
}

const char *cuda_code_header_name(const EmbeddedFile *file) { return strrchr(file->path, '/') + 1; }

const EmbeddedFile *cuda_code_header(const char *folder, int index) {
    for (const EmbeddedFile *file = embedded_files; file->path; file++) {
        const char *name = cuda_code_header_name(file);
        size_t length = strlen(folder), head = (size_t)(name - file->path);
        bool ours = strncmp(file->path, "cuda/", 5) == 0 || strncmp(file->path, "simt/", 5) == 0;
        bool inside = ours && head > length + 1 && strncmp(name - length - 1, folder, length) == 0;
        if (inside && index-- == 0) return file;
    }
    return NULL;
}

bool cuda_code_emit(tw_kernel *k) {
    CudaCode *code = ARENA_NEW(&k->arena, CudaCode);
    code->plan = cuda_emit(&k->pass, k->ir);
    if (!code->plan) return false;
    k->code = code;
    snprintf(code->label, sizeof code->label, "%s", k->name);
    kernel_add_artifact(k, arena_printf(&k->arena, "%s.cu", k->name), code->plan->text);
    kernel_add_artifact(k, "plan.json", cuda_json(&k->pass, k->ir, code->plan));
    const EmbeddedFile *file;
    for (int i = 0; (file = cuda_code_header("prelude", i)); i++)
        kernel_add_artifact(k, cuda_code_header_name(file), file->text);
    return true;
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
    code->params = ARENA_ARRAY(&k->arena, void *, plan->params.count + 1);
    for (size_t i = 0; i < plan->params.count; i++) {
        const SimtParam *p = &plan->params.at[i];
        if (p->kind == SIMT_OWN) {
            code->params[i] = &code->maps[p->dim];
        } else if (p->kind == SIMT_ROOM) {
            code->params[i] = p->dim ? (void *)&code->places : (void *)&code->room;
        } else if (p->kind == SIMT_SWEPT) {
            code->params[i] = &code->swept;
        } else if (p->kind == SIMT_GRID) {
            code->params[i] = &code->grid[p->dim];
        } else {
            const RunParam *param = &k->params[p->arg];
            int at = param->slot;
            if (p->kind == SIMT_EXTENT) at += 1 + p->dim;
            if (p->kind == SIMT_STRIDE) at += 1 + param->type->rank + p->dim;
            code->params[i] = &k->slots[at];
        }
    }
    return TW_OK;
}

size_t cuda_code_place_bytes(const CudaCode *code) {
    return code->plan->made ? (size_t)(code->plan->made + 1) * sizeof(CudaMapBytes) : 0;
}

tw_status cuda_code_refresh(tw_kernel *k, const LaunchCall *call,
                            const char *(*encode)(void *user, CudaMapBytes *map, const CudaMapValue *value),
                            void *user) {
    CudaCode *code = k->code;
    for (int d = 0; d < 3; d++) code->grid[d] = (int32_t)call->grid[d];
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

void cuda_code_blocks(CudaCode *code, const int64_t grid[3], unsigned blocks[3]) {
    int axis = code->plan->sweep;
    for (int d = 0; d < 3; d++) blocks[d] = (unsigned)grid[d];
    code->swept = axis && grid[0] <= CUDA_LATER_BLOCKS;
    if (!code->swept) return;
    blocks[0] = (unsigned)grid[axis];
    blocks[axis] = (unsigned)grid[0];
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
