/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_json.c: what plan.json has of CUDA's own: clusters and tensor maps (simt_json.c has the rest). */
#include "target/cuda/cuda.h"
#include "target/simt/simt_json.h"

static void add_numbers(Text *t, const Kernel *k, const CudaPlan *plan, const char *member, const int *at, int count) {
    text_add(t, ", \"%s\": [", member);
    for (int i = 0; i < count; i++) {
        text_add(t, i ? ", " : "");
        if (at[i] < 0)
            text_add(t, "null");
        else
            simt_json_number(t, k, plan->wanted.at[at[i]]);
    }
    text_add(t, "]");
}

static const CudaPlan *cuda_plan(const SimtPlan *plan) { return (const CudaPlan *)plan; }

static void add_maps(Text *t, const Kernel *k, const SimtPlan *simt) {
    const CudaPlan *plan = cuda_plan(simt);
    text_add(t, "  \"maps\": [");
    for (size_t i = 0; i < plan->maps.count; i++) {
        const CudaMap *map = &plan->maps.at[i];
        text_add(t, "%s\n    {\"name\": \"%s\", \"element\": \"%s\", \"swizzle\": %d, \"base\": ", i ? "," : "",
                 map->name, elem_info[map->elem].text, map->swizzle);
        if (map->made) {
            text_add(t, "null, \"made\": true");
        } else {
            simt_json_number(t, k, plan->wanted.at[map->base]);
            add_numbers(t, k, plan, "extents", map->extent, map->rank);
            add_numbers(t, k, plan, "strides", map->stride, map->rank);
        }
        text_add(t, ", \"box\": [");
        for (int d = 0; d < map->rank; d++) text_add(t, "%s%d", d ? ", " : "", map->box[d]);
        text_add(t, "]}");
    }
    text_add(t, "%s],\n", plan->maps.count ? "\n  " : "");
}

static void add_cluster(Text *t, const Kernel *k, const SimtPlan *simt) {
    const CudaPlan *plan = cuda_plan(simt);
    (void)k;
    if (plan->cluster)
        text_add(t, "  \"cluster\": {\"blocks\": %d, \"waves\": %d, \"along\": %d},\n", plan->cluster, plan->waves,
                 plan->share);
}

char *cuda_json(const PassContext *cx, const Kernel *k, const CudaPlan *plan) {
    static const SimtJsonOwn own = {add_cluster, add_maps};
    return simt_json(cx, k, &plan->simt, &own);
}
