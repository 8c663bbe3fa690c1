/* SPDX-License-Identifier: Apache-2.0 */
/* built_gpu.c: what the entry of a kernel built for GPUs says of its codes: their images (cubin and PTX, or AMD's code
 * objects), and a function for each that launches it (launcher_gpu.h). The same that gpu_launch.c does for kernels of
 * this process. */
#include "runtime/built/built_kernel.h"

#include "runtime/device/simt_code.h"

#include <string.h>

/* --- architectures --- */

static bool comes_before(const Machine *a, const Machine *b) {
    return a->level > b->level;
}

tw_status build_archs(Build *b, const char *given, const char *names[BUILD_ARCHS], int *count) {
    const Machine *machines[BUILD_ARCHS];
    const Target *target = b->kind->target;
    const char *arch = NULL;
    target_find(given, &arch);
    *count = 0;
    for (const char *at = b->isa ? b->isa : arch ? arch : b->kind->archs; at;) {
        size_t length = strcspn(at, ",");
        const Machine *one = target->machine(b->context, arena_string(b->arena, at, length));
        bool known = false;
        if (!one) return TW_ERROR_NOT_FOUND; /* with its message */
        for (int i = 0; i < *count; i++) known |= machines[i] == one;
        if (!known && *count == BUILD_ARCHS)
            return context_fail(b->context, TW_ERROR_ARGUMENT, "a kernel is built for at most %d architectures",
                                BUILD_ARCHS);
        int place = known ? 0 : (*count)++;
        for (; !known && place > 0 && comes_before(one, machines[place - 1]); place--)
            machines[place] = machines[place - 1];
        if (!known) machines[place] = one;
        at = at[length] ? at + length + 1 : NULL;
    }
    for (int i = 0; i < *count; i++)
        names[i] = arena_printf(b->arena, "%s:%s", target->name, machines[i]->arch);
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

static bool runs_later(const Build *b, const tw_kernel *k) { return b->kind->runs_later && b->kind->runs_later(k); }

static tw_status add_images(const Build *b, tw_kernel *k, size_t c, Text *t) {
    const char *image = NULL;
    size_t size = 0;
    tw_status status = b->kind->image(k, false, &image, &size);
    if (status == TW_OK) add_image(t, "code", c, image, size);
    /* GPUs for which there is no code here run it too. */
    if (status == TW_OK && runs_later(b, k)) status = b->kind->image(k, true, &image, &size);
    if (status == TW_OK && runs_later(b, k)) add_image(t, "ptx", c, image, size);
    return status;
}

/* --- launches --- */

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
        case SIMT_OWN: text_add(t, "&maps[%d].map, ", p->dim); break;
        }
    }
    text_add(t, "0};\n");
}

static const SimtPlan *plan_of(const tw_kernel *k) { return ((const SimtCode *)k->code)->simt_plan; }

/* How a code is launched, but for what only its own target has. */
static void add_run(const Build *b, const tw_kernel *k, size_t c, Text *t) {
    const SimtPlan *plan = plan_of(k);
    text_add(t,
             "static i32 run_%zu(const BuiltGpu *gpu, u64 *w, const i64 *g, void *stream) {\n    BuiltLoaded *l;\n"
             "    i32 status = built_load(gpu, &way_%zu, &l);\n    if (status) return status;\n",
             c, c);
    b->kind->numbers(k, t);
    text_add(t, "    i32 extents[] = {(i32)g[0], (i32)g[1], (i32)g[2]}, swept = %d && g[0] <= %d;\n", plan->sweep,
             SIMT_LATER_BLOCKS);
    add_params(k, &plan->params, t);
    text_add(t, "    return built_launch(&way_%zu, l, g, swept ? %d : 0, cluster, params, stream);\n}\n", c,
             plan->sweep);
}

static void add_code(const Build *b, const tw_kernel *k, size_t c, Text *t) {
    const SimtPlan *plan = plan_of(k);
    const Machine *machine = k->pass.machine;
    text_add(t, "static BuiltCode way_%zu = {code_%zu, ", c, c);
    text_add(t, runs_later(b, k) ? "ptx_%zu" : "0", c);
    text_add(t, ", \"%s\", %d, %d, %d, %lld, %d, %d, %d, \"%s\"};\n", plan->name, machine->level, machine->level_only,
             plan->threads, (long long)plan->shared_bytes, plan->persist, k->cooperative,
             b->kind->maps_made ? b->kind->maps_made(k) : 0, machine->arch);
    add_run(b, k, c, t);
}

/* The C text of the codes. */
static tw_status print_codes(Build *b, const char **codes) {
    Text t = text_new(b->arena);
    tw_status status = TW_OK;
    text_add(&t, "%s#include \"launcher_gpu.h\"\n\n", b->kind->define);
    for (size_t c = 0; c < b->codes.count && status == TW_OK; c++) {
        status = add_images(b, b->codes.at[c], c, &t);
        if (status == TW_OK) add_code(b, b->codes.at[c], c, &t);
    }
    text_add(&t, "static const char *own_error(i32 code) {\n"
                 "    return code > TW_BUILT_CUDA ? built_gpu_error(code - TW_BUILT_CUDA) : 0;\n}\n");
    *codes = t.at;
    return status;
}

tw_status build_gpu_object(Build *b, void **bytes, size_t *size) {
    const char *codes = NULL;
    tw_status status = print_codes(b, &codes);
    return status == TW_OK ? build_entry_object(b, codes, bytes, size) : status;
}

/* Numbers can be others where the emitted text is the same; and each architecture has its own. */
const char *build_gpu_text(const Build *b, tw_kernel *k) {
    Text t = text_new(&k->arena);
    text_add(&t, "%s %s", k->pass.machine->arch, plan_of(k)->text);
    add_run(b, k, 0, &t);
    return t.at;
}

void build_gpu_way(Text *t, int code, const char *fits) {
    text_add(t,
             "    if (built_runs(gpu, &way_%d)) {\n        status = TW_BUILT_REQUIRE;\n"
             "        if (%s) return run_%d(gpu, w, g, stream);\n    }\n",
             code, fits, code);
}
