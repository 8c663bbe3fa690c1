/* SPDX-License-Identifier: Apache-2.0 */
/* python_import.c: names that a file takes from other files of its folder.
 *
 *     from helpers import gelu       helpers.py beside the file, or helpers/__init__.py
 *     from pack.ops import gelu      the same; else pack/ops.py in the folder of the file's package: the nearest one
 *                                    above it that has no __init__.py
 *     from .ops.act import gelu      ops/act.py
 *     import helpers as h            h.gelu
 *
 * Files are read by the unit's import function, parsed once a module, and only when live code asks
 * for one of their names. What no file answers for is host code. */
#include "front/python/python.h"

#include <string.h>

/* "..a.b" as a path from the file's own folder: "../a/b". */
static const char *folder_path(Lower *l, const char *dotted) {
    Text path = text_new(l->arena);
    const char *at = dotted;
    if (*at == '.') at++; /* one dot is the folder itself */
    while (*at == '.') {
        text_add(&path, "../");
        at++;
    }
    for (; *at; at++) text_add_char(&path, *at == '.' ? '/' : *at);
    return path.at;
}

static const SourceFile *import(Lower *l, const SourceFile *from, const char *above, const char *path,
                                const char *ending) {
    return l->unit->import(l->unit->import_user, from, arena_printf(l->arena, "%s%s%s", above, path, ending));
}

static const SourceFile *find_below(Lower *l, const SourceFile *from, const char *above, const char *path) {
    bool folder = !*path || path[strlen(path) - 1] == '/';
    const SourceFile *file = folder ? NULL : import(l, from, above, path, ".py");
    return file ? file : import(l, from, above, path, folder ? "__init__.py" : "/__init__.py");
}

static const SourceFile *find_file(Lower *l, const SourceFile *from, const char *dotted) {
    enum { MAX_LEVELS = 16 };
    if (!l->unit->import || !from) return NULL;
    const char *path = folder_path(l, dotted), *above = "";
    const SourceFile *file = find_below(l, from, above, path);
    if (file || *dotted == '.') return file;
    for (int level = 0; level < MAX_LEVELS && import(l, from, above, "__init__", ".py"); level++)
        above = arena_printf(l->arena, "../%s", above);
    return *above ? find_below(l, from, above, path) : NULL;
}

Names *names_import(Lower *l, const SourceFile *from, const char *dotted) {
    const SourceFile *file = find_file(l, from, dotted);
    if (!file) return NULL;
    MapEntry *entry = map_find_number(&l->files, (uintptr_t)file);
    if (entry) return entry->value;
    Map *parsed = &((Tree *)l->unit->tree)->files;
    MapEntry *known = map_find_number(parsed, (uintptr_t)file);
    const PyNode *module = known ? known->value : NULL;
    if (!module) {
        int errors = l->diag->errors;
        PyNode *fresh = py_parse(file, l->unit->arena, l->diag);
        if (l->diag->errors == errors) map_put_number(parsed, l->unit->arena, (uintptr_t)file, fresh);
        module = fresh;
    }
    Names *names = names_collect(l->unit, l->domain, file, module, l->arena);
    map_put_number(&l->files, l->arena, (uintptr_t)file, names);
    return names;
}
