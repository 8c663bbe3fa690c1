/* built_cuda.c: what the entry of a kernel built for target cuda says of its codes: their images, cubin and PTX, and a
 * function for each that encodes its tensor maps and launches it (launcher_cuda.h). The same that target_cuda.c does
 * for kernels of this process; the numbers are the same programs (scalars.h), as C. */
#include "runtime/built/built_kernel.h"

#include "runtime/device/cuda_code.h"

#include <string.h>

static const CudaCode *cuda_code(const tw_kernel *k) { return k->code; }

/* --- architectures --- */

static bool comes_before(const char *a, const char *b) {
    const Machine *first = machine_of_arch("cuda", a), *second = machine_of_arch("cuda", b);
    return first->level > second->level;
}

tw_status build_cuda_archs(Build *b, const char *given, const char *names[BUILD_ARCHS], int *count) {
    const char *arch = NULL;
    target_find(given, &arch);
    *count = 0;
    for (const char *at = b->isa ? b->isa : arch ? arch : "sm_90a,sm_80"; at;) {
        size_t length = strcspn(at, ",");
        const char *one = arena_string(b->arena, at, length);
        bool known = false;
        if (!cuda_code_machine(b->context, one)) return TW_ERROR_NOT_FOUND; /* with its message */
        for (int i = 0; i < *count; i++) known |= strcmp(names[i], one) == 0;
        if (!known && *count == BUILD_ARCHS)
            return context_fail(b->context, TW_ERROR_ARGUMENT, "a kernel is built for at most %d architectures",
                                BUILD_ARCHS);
        int place = known ? 0 : (*count)++;
        for (; !known && place > 0 && comes_before(one, names[place - 1]); place--) names[place] = names[place - 1];
        if (!known) names[place] = one;
        at = at[length] ? at + length + 1 : NULL;
    }
    for (int i = 0; i < *count; i++) names[i] = arena_printf(b->arena, "cuda:%s", names[i]);
    return TW_OK;
}

/* --- images --- */

/* As words, which are aligned as the driver wants them. */
static void add_image(Text *t, const char *kind, size_t code, const char *bytes, size_t size) {
    text_add(t, "static const u64 %s_%zu[] = {", kind, code);
    for (size_t i = 0; i <= size; i += 8) { /* at least a NUL closes it */
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        text_add(t, "0x%llx,%s", (unsigned long long)word, i % 64 ? "" : "\n");
    }
    text_add(t, "};\n");
}

static bool runs_later(const tw_kernel *k) { return !k->pass.machine->level_only; }

static tw_status add_images(tw_kernel *k, size_t c, Text *t) {
    const char *image = NULL;
    size_t size = 0;
    tw_status status = cuda_image(k, false, &image, &size);
    if (status == TW_OK) add_image(t, "cubin", c, image, size);
    /* GPUs for which there is no cubin here run it too. */
    if (status == TW_OK && runs_later(k)) status = cuda_image(k, true, &image, &size);
    if (status == TW_OK && runs_later(k)) add_image(t, "ptx", c, image, size);
    return status;
}

/* --- launches --- */

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
    text_add(t, "};\n    if ((status = built_map(&maps[%zu], %d, %d, ", m, cuda_map_type(map->elem), map->rank);
    if (map->made)
        text_add(t, "l->room");
    else
        text_add(t, "(u64)r%d", r[map->base]);
    text_add(t, ", dims_%zu, strides_%zu, box_%zu, %d))) return status;\n", m, m, m, cuda_map_swizzle(map->swizzle));
}

/* See simt_code_params. */
static void add_params(const tw_kernel *k, const SimtParams *params, Text *t) {
    text_add(t, "    void *params[] = {");
    for (size_t i = 0; i < params->count; i++) {
        const SimtParam *p = &params->at[i];
        const RunParam *param = p->kind <= SIMT_STRIDE ? &k->params[p->arg] : NULL;
        switch (p->kind) {
        case SIMT_SCALAR:
        case SIMT_POINTER: text_add(t, "&w[%d], ", param->slot); break;
        case SIMT_EXTENT: text_add(t, "&w[%d], ", param->slot + 1 + p->dim); break;
        case SIMT_STRIDE: text_add(t, "&w[%d], ", param->slot + 1 + param->type->rank + p->dim); break;
        case SIMT_GRID: text_add(t, "&extents[%d], ", p->dim); break;
        case SIMT_SWEPT: text_add(t, "&swept, "); break;
        case SIMT_ROOM: text_add(t, p->dim ? "&l->places, " : "&l->room, "); break;
        case SIMT_OWN: text_add(t, "&maps[%d], ", p->dim); break;
        }
    }
    text_add(t, "0};\n");
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

static void add_code(const tw_kernel *k, size_t c, Text *t) {
    const CudaCode *code = cuda_code(k);
    const CudaPlan *plan = code->plan;
    const Machine *machine = k->pass.machine;
    text_add(t, "static BuiltCode code_%zu = {cubin_%zu, ", c, c);
    text_add(t, runs_later(k) ? "ptx_%zu" : "0", c);
    text_add(t, ", \"%s\", %d, %d, %d, %lld, %d, %d, %d};\n", plan->name, machine->level, machine->level_only,
             plan->threads, (long long)plan->shared_bytes, plan->persist, k->cooperative, plan->made);
    text_add(t,
             "static i32 run_%zu(const BuiltGpu *gpu, u64 *w, const i64 *g, void *stream) {\n    BuiltLoaded *l;\n"
             "    i32 status = built_load(gpu, &code_%zu, &l);\n    if (status) return status;\n",
             c, c);
    scalars_print(code->program, t);
    if (plan->maps.count) text_add(t, "    BuiltMap maps[%zu];\n", plan->maps.count);
    for (size_t m = 0; m < plan->maps.count; m++) add_map(code, m, t);
    text_add(t, "    i32 extents[] = {(i32)g[0], (i32)g[1], (i32)g[2]}, swept = %d && g[0] <= %d;\n", plan->sweep,
             SIMT_LATER_BLOCKS);
    add_params(k, &plan->params, t);
    add_cluster(code, t);
    text_add(t, "    return built_launch(&code_%zu, l, g, swept ? %d : 0, cluster, params, stream);\n}\n", c,
             plan->sweep);
}

tw_status build_cuda_codes(Build *b, const char **codes) {
    Text t = text_new(b->arena);
    tw_status status = TW_OK;
    text_add(&t, "#include \"launcher_cuda.h\"\n\n");
    for (size_t c = 0; c < b->codes.count && status == TW_OK; c++) {
        status = add_images(b->codes.at[c], c, &t);
        if (status == TW_OK) add_code(b->codes.at[c], c, &t);
    }
    text_add(&t, "static const char *own_error(i32 code) {\n"
                 "    return code > TW_BUILT_CUDA ? built_cuda_error(code - TW_BUILT_CUDA) : 0;\n}\n");
    *codes = t.at;
    return status;
}

/* --- the kind --- */

/* Maps can be of other numbers where the emitted text is the same. */
static const char *cuda_text(tw_kernel *k) {
    Text t = text_new(&k->arena);
    text_add(&t, "%s", cuda_code(k)->plan->text);
    add_code(k, 0, &t);
    return t.at;
}

static tw_status check_cuda(tw_kernel *k) {
    if (k->sequence.spaces.count)
        return context_fail(k->context, TW_ERROR_UNSUPPORTED,
                            "kernel `%s` has memory between its launches, which the launcher of kernels built for "
                            "target cuda does not give; launch it with the library",
                            k->name);
    return cuda_code_prepare(k);
}

static void add_way(Text *t, int code, const char *fits) {
    text_add(t,
             "    if (built_runs(gpu, &code_%d)) {\n        status = TW_BUILT_REQUIRE;\n"
             "        if (%s) return run_%d(gpu, w, g, stream);\n    }\n",
             code, fits, code);
}

const BuildKind build_cuda = {
    .target = &target_cuda,
    .last_type = "void *",
    .last = "stream",
    .about = "Launches the kernel on `stream`, a CUstream (cudaStream_t) of the calling thread's current context,\n"
             " * and does not wait for it. Arrays are addresses in that GPU's memory.",
    .begin = "",
    .choose = "    BuiltGpu *gpu;\n    if ((status = built_gpu(&gpu))) return status;\n"
              "    status = TW_BUILT_MACHINE;\n",
    .way = add_way,
    .text = cuda_text,
    .check = check_cuda,
    .object = build_cuda_object,
};
