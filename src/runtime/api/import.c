/* SPDX-License-Identifier: Apache-2.0 */
/* import.c: the files that a text may name: by #include, by import.
 *
 * A text that one does not trust must not show files of the machine in messages, nor read devices. So only plain files
 * are read that lie, links followed, in the folder of the module's own file (of a Python package: its top folder), or
 * below it, or in a folder that the caller names; unless the caller lets all be read. What is not there and what may
 * not be read is the same to the text: not found. */
#include "runtime/runtime.h"

#include "runtime/compile/cache.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *folder_of(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_string(arena, path, (size_t)(slash - path));
}

static char *real_path(Arena *arena, const char *path) {
    char resolved[PATH_MAX];
    return realpath(path, resolved) ? arena_string(arena, resolved, strlen(resolved)) : NULL;
}

void import_init(tw_module *m, const char *name, const tw_module_options *options) {
    enum { MOST_LEVELS = 16 };
    Arena *arena = &m->arena;
    size_t given = options ? options->include_count : 0;
    char *home = real_path(arena, folder_of(arena, name));
    for (int level = 0; home && level < MOST_LEVELS; level++) {
        if (file_size(arena_printf(arena, "%s/__init__.py", home)) < 0) break;
        home = arena_string(arena, folder_of(arena, home), strlen(folder_of(arena, home)));
    }
    m->import_anywhere = options && options->include_anywhere;
    m->import_folders = ARENA_ARRAY(arena, const char *, given);
    m->import_roots = ARENA_ARRAY(arena, const char *, given + 1);
    m->import_roots[m->import_root_count++] = home;
    for (size_t i = 0; i < given; i++) {
        const char *folder = options->include_folders[i];
        m->import_folders[m->import_folder_count++] = arena_string(arena, folder, strlen(folder));
        m->import_roots[m->import_root_count++] = real_path(arena, folder);
    }
}

static bool lies_in(const char *path, const char *root) {
    size_t n = root ? strlen(root) : 0;
    return n && strncmp(path, root, n) == 0 && (path[n] == '/' || root[n - 1] == '/');
}

static const SourceFile *read_allowed(tw_module *m, const char *path) {
    for (size_t i = 0; i < m->sources.files.count; i++)
        if (strcmp(m->sources.files.at[i]->name, path) == 0) return m->sources.files.at[i];
    const char *real = real_path(&m->arena, path);
    bool allowed = real && m->import_anywhere;
    for (size_t i = 0; real && i < m->import_root_count; i++) allowed |= lies_in(real, m->import_roots[i]);
    int64_t size = allowed ? file_size(real) : -1;
    if (size < 0 || size > MOST_SOURCE_BYTES) return NULL;
    const SourceFile *known = map_get(&m->import_known, real); /* by another path: a/../a/b.py */
    if (known) return known;
    char *text = arena_alloc(&m->arena, (size_t)size + 1);
    size = file_read(real, text, (size_t)size);
    if (size < 0) return NULL;
    SourceFile *file = source_add(&m->sources, path, text, (size_t)size);
    map_put(&m->import_known, &m->arena, real, strlen(real), file);
    return file;
}

const SourceFile *import_file(void *user, const SourceFile *from, const char *path) {
    tw_module *m = user;
    Arena *arena = &m->arena;
    if (*path == '/') return read_allowed(m, path);
    const char *slash = strrchr(from->name, '/');
    const SourceFile *file =
        read_allowed(m, slash ? arena_printf(arena, "%.*s/%s", (int)(slash - from->name), from->name, path) : path);
    for (size_t i = 0; !file && i < m->import_folder_count; i++)
        file = read_allowed(m, arena_printf(arena, "%s/%s", m->import_folders[i], path));
    return file;
}
