/* SPDX-License-Identifier: Apache-2.0 */
/* target_interp.c: the interpreter as a target. Nothing is emitted or built. It runs the IR as the
 * door made it, before any pass: so it is what the other targets are compared with, and reports of
 * `sanitize` point at what the user wrote. With `--set passes=on`, and for --passes and
 * --stop-after, it runs what those make for the machine "interp": a mistake of the passes then
 * shows without an emitter. */
#include "runtime/target/target.h"

#include "ir/interp/interp.h"

#include <string.h>

/* Element operations of a sanitized launch, unless the user says otherwise: minutes. */
#define DEFAULT_STEPS 10000000000
#define PROGRAM_STEPS (INT64_C(1) << 32) /* of one program: minutes of scalar code */

static const Machine *interp_machine(tw_context *cx, const char *arch) {
    if (arch) {
        context_fail(cx, TW_ERROR_NOT_FOUND, "target interp has no architectures" FIX "write `interp`");
        return NULL;
    }
    return machine_find("interp");
}

static bool interp_available(const Target *target, tw_context *cx, Arena *arena, const char **note) {
    (void)target;
    (void)cx, (void)arena;
    *note = "built in";
    return true;
}

static void set_argument(tw_kernel *k, int i, InterpArg *arg) {
    const RunParam *param = &k->params[i];
    const uint64_t *words = k->slots + param->slot;
    *arg = (InterpArg){.bits = words[0]};
    if (param->type->pointer || param->type->kind == TY_TENSOR) memcpy(&arg->pointer, words, sizeof arg->pointer);
    for (int d = 0; param->type->kind == TY_TENSOR && d < param->type->rank; d++) {
        arg->extent[d] = (int64_t)words[1 + d];
        arg->stride[d] = (int64_t)words[1 + param->type->rank + d];
    }
}

/* Buffers that share memory are one region. */
static int find_regions(tw_kernel *k, InterpRegion *regions) {
    int count = 0;
    for (int i = 0; i < k->param_count; i++) {
        const tw_buffer *buffer = k->buffers[i];
        if (!buffer || !buffer->size) continue;
        char *low = buffer_lowest(buffer), *high = low + buffer->size;
        const char *name = k->params[i].name;
        bool written = !buffer->unwritten;
        for (int at = 0; at < count;) {
            InterpRegion r = regions[at];
            char *base = r.base, *end = base + r.size;
            if (low >= end || base >= high) {
                at++;
                continue;
            }
            /* joined, under the first one's name, and all looked at again with what it now covers */
            low = base < low ? base : low;
            high = end > high ? end : high;
            name = r.name;
            written |= r.written;
            for (int j = at; j + 1 < count; j++) regions[j] = regions[j + 1];
            count--;
            at = 0;
        }
        regions[count++] = (InterpRegion){name, low, (size_t)(high - low), written};
    }
    return count;
}

static tw_status interp_launch(tw_kernel *k, const LaunchCall *call) {
    tw_context *cx = k->context;
    Arena *scratch = &cx->launch_scratch;
    Diag diag;
    diag_init(&diag, scratch, k->ir->module->sources);
    InterpArg *args = ARENA_ARRAY(scratch, InterpArg, k->param_count);
    InterpRegion *regions = ARENA_ARRAY(scratch, InterpRegion, k->param_count);
    for (int i = 0; i < k->param_count; i++) set_argument(k, i, &args[i]);
    InterpLaunch launch = {.kernel = k->ir,
                           .grid = {call->grid[0], call->grid[1], call->grid[2]},
                           .args = args,
                           .arg_count = k->param_count,
                           .regions = regions,
                           .region_count = find_regions(k, regions),
                           .seed = k->seed,
                           .workers = k->threads,
                           .budget = k->max_steps  ? k->max_steps
                                     : k->sanitize ? DEFAULT_STEPS
                                                   : 0,
                           .program_steps = k->max_steps ? 0 : PROGRAM_STEPS,
                           .sanitize = k->sanitize,
                           .arena = scratch,
                           .diag = &diag,
                           .print = cx->print,
                           .print_user = cx->print_user,
                           .cancel = context_cancel(cx)};
    bool ok = interp_run(&launch);
    for (int i = 0; i < k->param_count; i++)
        if (k->buffers[i]) k->buffers[i]->unwritten = false;
    tw_status status = context_diagnose(cx, &diag, TW_ERROR_LAUNCH);
    if (!ok && status == TW_OK) status = context_fail(cx, TW_ERROR_LAUNCH, "the interpreter stopped");
    arena_free(scratch);
    return status;
}

const Target target_interp = {
    .name = "interp",
    .about = "the IR interpreter, which defines what a kernel means; sanitized it is the safe way "
             "to run one",
    .machine = interp_machine,
    .launch = interp_launch,
    .available = interp_available,
    .source_form = true,
};
