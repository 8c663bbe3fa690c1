/* SPDX-License-Identifier: Apache-2.0 */
/* target_list.h: the targets that a test was asked for, as `--targets a,b`.
 *
 *     if (!targets_known(value)) return 2;            a name that is mistyped would else be a test that runs nothing
 *     if (targets_have(value, "cpu")) ..
 *
 * `emulated` is CUDA's text on the host, `cuda` a device. */
#ifndef TESTS_TARGET_LIST_H
#define TESTS_TARGET_LIST_H
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static inline bool targets_have(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *s = list; (s = strstr(s, name)); s += n)
        if ((s == list || s[-1] == ',') && (s[n] == 0 || s[n] == ',')) return true;
    return false;
}

static inline bool targets_known(const char *list) {
    static const char all[] = "interp,cpu,emulated,cuda,hip,rdna,tenstorrent";
    char name[32];
    for (const char *s = list; s; s = strchr(s, ','), s = s ? s + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(s, ","), s);
        if (*name && targets_have(all, name)) continue;
        fprintf(stderr, "there is no target `%s`; the targets are %s\n", name, all);
        return false;
    }
    return true;
}
#endif
