/* SPDX-License-Identifier: Apache-2.0 */
/* built_cuda.c: what kernels built for NVIDIA's GPUs have of their own: tensor maps and clusters, whose numbers are the
 * programs (scalars.h) that target_cuda.c runs for kernels of this process, as C. */
#include "runtime/built/built_kernel.h"

#include "runtime/device/cuda_code.h"

/* See cuda_map_value. */
static void add_map(const CudaCode *code, size_t m, Text *t) {
    const CudaMap *map = &code->plan->maps.at[m];
    const int *r = code->program->results;
    int bytes = elem_info[map->elem].bytes;
    long long step = bytes;
    text_add(t, "    const u64 dims_%zu[] = {", m);
    for (int d = 0; d < map->rank; d++)
        if (map->made || map->extent[d] < 0)
            text_add(t, "%d, ", map->made ? map->box[d] : INT32_MAX);
        else
            text_add(t, "(u64)r%d, ", r[map->extent[d]]);
    text_add(t, "}, strides_%zu[] = {", m);
    for (int d = 1; d < map->rank; d++) {
        step *= map->box[d - 1];
        if (map->made)
            text_add(t, "%lld, ", step);
        else
            text_add(t, "(u64)r%d * %d, ", r[map->stride[d]], bytes);
    }
    text_add(t, "0};\n    const u32 box_%zu[] = {", m);
    for (int d = 0; d < map->rank; d++) text_add(t, "%d, ", map->box[d]);
    text_add(t, "};\n    if ((status = built_map(&maps[%zu], l, %d, %d, ", m, cuda_map_type(map->elem), map->rank);
    if (map->made)
        text_add(t, "l->room");
    else
        text_add(t, "(u64)r%d", r[map->base]);
    text_add(t, ", dims_%zu, strides_%zu, box_%zu, %d))) return status;\n", m, m, m, cuda_map_swizzle(map->swizzle));
}

/* Blocks of a cluster; see cuda_code_cluster. */
static void add_cluster(const CudaCode *code, Text *t) {
    const CudaPlan *plan = code->plan;
    const int *r = code->program->results;
    if (!plan->cluster || !plan->waves) {
        text_add(t, "    const i32 cluster = %d;\n", plan->cluster ? plan->cluster : 1);
        return;
    }
    text_add(t, "    const double tasks = 1.0");
    for (int i = 0; i < plan->extents; i++) text_add(t, " * (double)r%d", r[plan->extent[i]]);
    int along = r[plan->extent[plan->share]];
    text_add(t, ";\n    const i32 cluster = (r%d %% %d == 0 || r%d >= %d) && tasks >= %d.0 * gpu->units ? %d : 1;\n",
             along, plan->cluster, along, plan->many, plan->waves, plan->cluster);
}

/* What the function of a launch has in front of it. */
static void add_numbers(const tw_kernel *k, Text *t) {
    const CudaCode *code = k->code;
    const CudaPlan *plan = code->plan;
    scalars_print(code->program, t);
    if (plan->maps.count) text_add(t, "    static _Thread_local BuiltMade maps[%zu];\n", plan->maps.count);
    for (size_t m = 0; m < plan->maps.count; m++) add_map(code, m, t);
    add_cluster(code, t);
}

static int maps_made(const tw_kernel *k) { return ((const CudaCode *)k->code)->plan->made; }

static bool runs_later(const tw_kernel *k) { return !k->pass.machine->level_only; }

const BuildKind build_cuda = {
    .target = &target_cuda,
    .archs = "sm_90a,sm_80",
    .last_type = "void *",
    .last = "stream",
    .about = "Launches the kernel on `stream`, a CUstream (cudaStream_t) of the calling thread's current context,\n"
             " * and does not wait for it. Arrays are addresses in that GPU's memory.",
    .begin = "",
    .choose = BUILD_GPU_CHOOSE,
    .define = "",
    .way = build_gpu_way,
    .text = build_gpu_text,
    .check = cuda_code_prepare,
    .make = build_gpu_object,
    .image = cuda_image,
    .numbers = add_numbers,
    .maps_made = maps_made,
    .runs_later = runs_later,
};
