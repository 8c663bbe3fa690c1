/* SPDX-License-Identifier: Apache-2.0 */
/* target.c: the table of targets; see target.h. A new target is a row here and a file target_<name>.c. */
#include "runtime/target/target.h"

#include <string.h>

static const Target *const targets[] = {&target_cpu, &target_cuda, &target_emulated, &target_hip, &target_hip_emulated,
                                        &target_interp, &target_tenstorrent};

const Target *target_at(int index) { return index < (int)(sizeof targets / sizeof *targets) ? targets[index] : NULL; }

const Target *target_find(const char *name, const char **arch) {
    const char *colon = strchr(name, ':');
    size_t length = colon ? (size_t)(colon - name) : strlen(name);
    if (arch) *arch = colon ? colon + 1 : NULL;
    for (int i = 0; target_at(i); i++)
        if (text_equal(name, length, target_at(i)->name)) return target_at(i);
    return NULL;
}

int target_index(const Target *target) {
    int i = 0;
    while (target_at(i) && target_at(i) != target) i++;
    return i;
}

void target_names(Text *t) {
    for (int i = 0; target_at(i); i++) text_add(t, "%s%s", i ? ", " : "", target_at(i)->name);
}
