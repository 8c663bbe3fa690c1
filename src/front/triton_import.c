/* triton_import.c: names that a file takes from other files of its folder.
 *
 *     from helpers import gelu       helpers.py beside the file, or helpers/__init__.py
 *     from .ops.act import gelu      ops/act.py
 *     import helpers as h            h.gelu
 *
 * Files are read by the unit's import function, parsed once a module, and only when live code asks
 * for one of their names. What no file answers for is host code. */
#include "front/triton.h"

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

static const SourceFile *find_file(Lower *l, const SourceFile *from, const char *dotted) {
    const FrontUnit *unit = l->unit;
    if (!unit->import || !from) return NULL;
    const char *path = folder_path(l, dotted);
    bool folder = !*path || path[strlen(path) - 1] == '/';
    const SourceFile *file = NULL;
    if (!folder)
        file = unit->import(unit->import_user, from, arena_printf(l->arena, "%s.py", path));
    return file ? file
                : unit->import(unit->import_user, from,
                               arena_printf(l->arena, "%s%s__init__.py", path, folder ? "" : "/"));
}

Names *tri_import(Lower *l, const SourceFile *from, const char *dotted) {
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
        if (l->diag->errors == errors)
            map_put_number(parsed, l->unit->arena, (uintptr_t)file, fresh);
        module = fresh;
    }
    Names *names = tri_names_collect(l->unit, file, module, l->arena);
    map_put_number(&l->files, l->arena, (uintptr_t)file, names);
    return names;
}
