/* SPDX-License-Identifier: Apache-2.0 */
/* toolchain.c: see toolchain.h. Nothing is allocated while the private folder exists. */
#include "runtime/host/toolchain.h"

#include "runtime/compile/cache.h"
#include "runtime/host/room.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OUTPUT_BYTES = 8192 };

bool toolchain_find(tw_context *cx, Arena *arena, const ToolKind *kind, int from, Toolchain *tool) {
    char path[CACHE_PATH];
    const char *wish = getenv(kind->variable);
    *tool = (Toolchain){.kind = kind, .candidate = TOOL_GIVEN};
    if (wish && *wish) {
        char *rest = arena_string(arena, wish, strlen(wish));
        for (char *word; tool->count < TOOL_WORDS && (word = strtok_r(rest, " \t\n", &rest));)
            tool->words[tool->count++] = word;
        if (tool->count == TOOL_WORDS && rest && rest[strspn(rest, " \t")]) {
            context_fail(cx, TW_ERROR_UNAVAILABLE, "%s is set to more than %d words" FIX "use a script", kind->variable,
                         TOOL_WORDS);
            return false;
        }
        if (tool->count && process_find(tool->words[0], path, sizeof path)) return true;
        context_fail(cx, TW_ERROR_UNAVAILABLE,
                     "%s is set to `%s`, which is not a program in PATH" FIX "set %s to a %s compiler "
                     "(%s or %s), or unset it",
                     kind->variable, wish, kind->variable, kind->language, kind->candidates[0], kind->candidates[1]);
        return false;
    }
    Text names = text_new(arena);
    for (int i = 0; kind->candidates[i]; i++) {
        text_add(&names, "%s%s", i ? ", " : "", kind->candidates[i]);
        if (i < from || !process_find(kind->candidates[i], path, sizeof path)) continue;
        tool->words[tool->count++] = kind->candidates[i];
        tool->candidate = i;
        return true;
    }
    context_fail(cx, TW_ERROR_UNAVAILABLE,
                 "%s needs a %s compiler, and none of %s is in PATH" FIX "install %s or %s,%s set %s to one%s",
                 kind->needed_by, kind->language, names.at, kind->candidates[0], kind->candidates[1],
                 *kind->otherwise ? "" : " or", kind->variable, kind->otherwise);
    return false;
}

bool toolchain_is_named(const ToolKind *kind) {
    const char *wish = getenv(kind->variable);
    return wish && *wish;
}

const char *toolchain_path(tw_context *cx, Arena *arena, const ToolKind *kind, int from, const char **note) {
    Toolchain tool;
    char path[CACHE_PATH];
    bool found = toolchain_find(cx, arena, kind, from, &tool);
    if (!found) *note = arena_string(arena, context_said(cx), strlen(context_said(cx)));
    return found && process_find(tool.words[0], path, sizeof path) ? arena_string(arena, path, strlen(path)) : NULL;
}

void toolchain_digest(const Toolchain *tool, const char *const *flags, Digest *d) {
    char path[CACHE_PATH];
    for (int i = 0; flags[i]; i++) digest_add_text(d, flags[i]);
    for (int i = 0; i < tool->count; i++) {
        struct stat info;
        digest_add_text(d, tool->words[i]);
        if (!process_find(tool->words[i], path, sizeof path) || stat(path, &info) != 0) continue;
        digest_add_text(d, path);
        digest_add(d, &info.st_size, sizeof info.st_size);
        digest_add(d, &info.st_mtim, sizeof info.st_mtim);
    }
}

/* ---------------------------------------------------------------------------------------------------------- build */

static bool join(char path[CACHE_PATH], const Room *room, const char *name) {
    int n = snprintf(path, CACHE_PATH, "%s/%s", room->path, name);
    return n > 0 && n < CACHE_PATH;
}

static bool write_file(const Room *room, const ToolFile *file) {
    char path[CACHE_PATH];
    if (!join(path, room, file->path)) return false;
    for (char *slash = path + strlen(room->path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700); /* where it fails, the file below fails too */
        *slash = '/';
    }
    return file_write(path, file->text, file->size);
}

static bool write_files(const Room *room, const ToolFile *files, int count) {
    for (int i = 0; i < count; i++)
        if (!write_file(room, &files[i])) return false;
    return true;
}

static tw_status no_room(tw_context *cx) {
    return context_fail(cx, TW_ERROR_IO,
                        "no room to compile in: neither the cache nor $TMPDIR can be written, or "
                        "both are full" FIX "set TMPDIR to a folder that can");
}

/* What the compiler was asked to do in a room, and what came of it. */
typedef struct Build {
    bool written, full; /* sources written; no space left */
    bool kept;
    char path[CACHE_PATH]; /* of what was made: in the cache if it is kept there, else in the room */
    ProcessResult run;
    char output[OUTPUT_BYTES];
} Build;

/* Libraries stand behind what is to be linked with them. */
static bool is_library(const char *flag) { return strncmp(flag, "-l", 2) == 0; }

static void build_in(tw_context *cx, Room *room, const Toolchain *tool, const char *const *flags, const ToolFile *files,
                     int count, const char *hex, const char *extension, Build *b) {
    char sources[TOOL_SOURCES][CACHE_PATH], object[CACHE_PATH], include[CACHE_PATH + 2], kept[CACHE_PATH];
    const char *argv[TOOL_WORDS + TOOL_FLAGS + TOOL_SOURCES + 6];
    int n = 0, source_count = 0;
    snprintf(kept, sizeof kept, "kernel%s", extension);
    b->written = join(object, room, kept) && write_files(room, files, count);
    for (int i = 0; i < tool->count; i++) argv[n++] = tool->words[i];
    for (int i = 0; flags[i] && i < TOOL_FLAGS; i++)
        if (!is_library(flags[i])) argv[n++] = flags[i];
    snprintf(include, sizeof include, "-I%s", room->path);
    argv[n++] = include, argv[n++] = "-o", argv[n++] = object;
    for (int i = 0; i < count && source_count < TOOL_SOURCES; i++) {
        if (!files[i].is_source) continue;
        b->written = b->written && join(sources[source_count], room, files[i].path);
        argv[n++] = sources[source_count++];
    }
    for (int i = 0; flags[i] && i < TOOL_FLAGS; i++)
        if (is_library(flags[i])) argv[n++] = flags[i];
    argv[n] = NULL;
    b->run = (ProcessResult){.exit_code = -1};
    if (b->written) b->run = room_run(room, argv, cx->tool_timeout, b->output, sizeof b->output);
    b->kept = b->run.exit_code == 0 && cache_keep(cx->cache_dir, hex, extension, object, kept);
    snprintf(b->path, sizeof b->path, "%s", b->kept ? kept : object);
}

/* What is said of a compiler that did not do its work. */
static tw_status explain_failure(tw_context *cx, const Toolchain *tool, const Build *b) {
    const char *language = tool->kind->language, *name = tool->words[0];
    bool ran = b->run.started && b->run.exit_code != 0;
    if (!b->written || (b->full && ran)) return no_room(cx); /* what it said then is not of the code */
    if (!b->run.started)
        return context_fail(cx, TW_ERROR_UNAVAILABLE, "the %s compiler `%s` could not be started", language, name);
    if (b->run.timed_out)
        return context_fail(cx, TW_ERROR_TOOL, "the %s compiler `%s` took longer than %d seconds", language, name,
                            cx->tool_timeout);
    if (b->run.exit_code != 0)
        return context_fail(cx, TW_ERROR_TOOL, "the %s compiler `%s` refused the emitted code:\n%s", language, name,
                            b->output);
    return TW_OK;
}

static tw_status compile(tw_context *cx, const Toolchain *tool, const char *const *flags, const ToolFile *files,
                         int count, const char *hex, void **library) {
    Room room;
    Build b = {.full = true};
    /* In the cache; where that is full, in $TMPDIR or /tmp. */
    const char *places[] = {cx->cache_dir, NULL};
    for (int i = cx->cache_dir ? 0 : 1; i < 2 && b.full; i++) {
        if (!room_open(&room, places[i], context_cancel(cx))) return no_room(cx);
        build_in(cx, &room, tool, flags, files, count, hex, ".so", &b);
        if (b.run.exit_code == 0) *library = dlopen(b.path, RTLD_NOW | RTLD_LOCAL);
        b.full = !b.written || (!*library && room_is_full(&room));
        room_close(&room);
    }
    if (*library) return TW_OK;
    tw_status status = explain_failure(cx, tool, &b);
    if (status != TW_OK) return status;
    return context_fail(cx, TW_ERROR_TOOL, "the compiled kernel could not be loaded: %s", dlerror());
}

tw_status toolchain_build(tw_context *cx, const Toolchain *tool, const char *const *flags, const ToolFile *files,
                          int count, const char *hex, void **library) {
    char path[CACHE_PATH];
    *library = NULL;
    if (cache_find(cx->cache_dir, hex, ".so", path)) *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library ? TW_OK : compile(cx, tool, flags, files, count, hex, library);
}

bool toolchain_object(tw_context *cx, const Toolchain *tool, const char *const *flags, const ToolFile *files, int count,
                      const char *hex, char path[CACHE_PATH]) {
    Room room;
    Build b = {0};
    if (cache_find(cx->cache_dir, hex, ".o", path)) return true;
    if (!cx->cache_dir || !room_open(&room, cx->cache_dir, context_cancel(cx))) return false;
    build_in(cx, &room, tool, flags, files, count, hex, ".o", &b);
    room_close(&room);
    if (b.kept) snprintf(path, CACHE_PATH, "%s", b.path);
    return b.kept;
}

/* ------------------------------------------------------------------------------------------------------------ make */

static bool run_tool(tw_context *cx, Room *room, const Toolchain *tool, const ToolRun *run, Build *b) {
    char inputs[TOOL_INPUTS][CACHE_PATH], output[CACHE_PATH], include[CACHE_PATH + 2];
    const char *argv[TOOL_WORDS + TOOL_FLAGS + TOOL_INPUTS + 4];
    int n = 0;
    for (int i = 0; i < tool->count; i++) argv[n++] = tool->words[i];
    for (int i = 0; run->words[i] && i < TOOL_FLAGS; i++) argv[n++] = run->words[i];
    snprintf(include, sizeof include, "-I%s", room->path);
    b->written = join(output, room, run->output);
    argv[n++] = include, argv[n++] = "-o", argv[n++] = output;
    for (int i = 0; run->inputs[i] && b->written; i++) {
        b->written = i < TOOL_INPUTS && join(inputs[i], room, run->inputs[i]);
        if (b->written) argv[n++] = inputs[i];
    }
    argv[n] = NULL;
    if (b->written) b->run = room_run(room, argv, cx->tool_timeout, b->output, sizeof b->output);
    return b->run.exit_code == 0;
}

static void *map_file(const char *path, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat info;
    void *bytes = MAP_FAILED;
    if (file >= 0 && fstat(file, &info) == 0 && info.st_size > 0)
        bytes = mmap(NULL, *size = (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (file >= 0) close(file);
    return bytes == MAP_FAILED ? NULL : bytes;
}

tw_status toolchain_make(tw_context *cx, const Toolchain *tool, const ToolFile *files, int count, const ToolRun *runs,
                         int run_count, void **bytes, size_t *size) {
    Room room;
    Build b = {.run = {.exit_code = -1}};
    char path[CACHE_PATH];
    *bytes = NULL;
    if (!room_open(&room, cx->cache_dir, context_cancel(cx))) return no_room(cx);
    b.written = write_files(&room, files, count);
    bool ok = b.written;
    for (int i = 0; i < run_count && ok; i++) ok = run_tool(cx, &room, tool, &runs[i], &b);
    if (ok && join(path, &room, runs[run_count - 1].output)) *bytes = map_file(path, size);
    b.full = !*bytes && room_is_full(&room);
    room_close(&room);
    if (*bytes) return TW_OK;
    tw_status status = explain_failure(cx, tool, &b);
    return status == TW_OK ? no_room(cx) : status;
}
