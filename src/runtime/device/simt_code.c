/* SPDX-License-Identifier: Apache-2.0 */
/* simt_code.c: see simt_code.h. */
#include "runtime/device/simt_code.h"

#include <stdio.h>
#include <string.h>

const Machine *simt_code_machine(tw_context *cx, const char *target, const char *arch, const char *usual,
                                 const char *about) {
    const Machine *machine = machine_of_arch(target, arch ? arch : usual);
    if (machine) return machine;
    Text known = text_new(context_texts(cx));
    for (int i = 0; (machine = machine_at(i)); i++)
        if (machine->target && strcmp(machine->target, target) == 0)
            text_add(&known, "%s%s", known.length ? ", " : "", machine->name);
    context_fail(cx, TW_ERROR_NOT_FOUND, "target %s knows no architecture `%s`; it knows %s (%s)", target, arch,
                 known.at, about);
    return NULL;
}

const char *simt_code_header_name(const EmbeddedFile *file) { return strrchr(file->path, '/') + 1; }

const EmbeddedFile *simt_code_header(const char *target, const char *folder, int index) {
    size_t own = strlen(target), length = strlen(folder);
    for (const EmbeddedFile *file = embedded_files; file->path; file++) {
        const char *name = simt_code_header_name(file);
        size_t head = (size_t)(name - file->path);
        bool ours = (strncmp(file->path, target, own) == 0 && file->path[own] == '/') ||
                    strncmp(file->path, "simt/", 5) == 0;
        bool inside = ours && head > length + 1 && strncmp(name - length - 1, folder, length) == 0;
        if (inside && index-- == 0) return file;
    }
    return NULL;
}

void simt_code_show(tw_kernel *k, const char *ending, const char *json) {
    SimtCode *code = k->code;
    const EmbeddedFile *file;
    snprintf(code->label, sizeof code->label, "%s", k->name);
    kernel_add_artifact(k, arena_printf(&k->arena, "%s%s", k->name, ending), code->simt_plan->text);
    kernel_add_artifact(k, "plan.json", json);
    for (int i = 0; (file = simt_code_header(k->pass.machine->target, "prelude", i)); i++)
        kernel_add_artifact(k, simt_code_header_name(file), file->text);
}

void simt_code_params(tw_kernel *k, SimtCode *code, void *(*own)(SimtCode *code, const SimtParam *param)) {
    const SimtParams *params = &code->simt_plan->params;
    code->params = ARENA_ARRAY(&k->arena, void *, params->count + 1);
    for (size_t i = 0; i < params->count; i++) {
        const SimtParam *p = &params->at[i];
        if (p->kind == SIMT_OWN || p->kind == SIMT_ROOM) {
            code->params[i] = own(code, p);
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
}

void simt_code_refresh(SimtCode *code, const LaunchCall *call) {
    for (int d = 0; d < 3; d++) code->grid[d] = (int32_t)call->grid[d];
}

void simt_code_blocks(SimtCode *code, const int64_t grid[3], unsigned blocks[3]) {
    int axis = code->simt_plan->sweep;
    for (int d = 0; d < 3; d++) blocks[d] = (unsigned)grid[d];
    code->swept = axis && grid[0] <= SIMT_LATER_BLOCKS;
    if (!code->swept) return;
    blocks[0] = (unsigned)grid[axis];
    blocks[axis] = (unsigned)grid[0];
}
