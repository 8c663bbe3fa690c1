/* SPDX-License-Identifier: Apache-2.0 */
/* toolchain.h: the host's compilers, and shared objects made by them from emitted text, through the
 * cache.
 *
 *     Toolchain cc;
 *     if (!toolchain_find(cx, arena, &kind, 0, &cc)) return TW_ERROR_UNAVAILABLE;   the message is
 *     digest_begin(&d) .. toolchain_digest(&cc, flags, &d) ..                       set; what else
 *     status = toolchain_build(cx, &cc, flags, files, count, hex, &library);        it depends on */
#ifndef RUNTIME_HOST_TOOLCHAIN_H
#define RUNTIME_HOST_TOOLCHAIN_H
#include "runtime/compile/cache.h"
#include "runtime/runtime.h"

enum { TOOL_WORDS = 16, TOOL_FLAGS = 28, TOOL_SOURCES = 8, TOOL_GIVEN = -1 };

typedef struct ToolKind {
    const char *language;          /* "C" */
    const char *variable;          /* "CC": a command of one or more words */
    const char *const *candidates; /* else the first of these in PATH; closed by NULL */
    const char *needed_by;         /* "target cpu" */
    const char *otherwise;         /* ", or use target interp"; may be "" */
} ToolKind;

typedef struct Toolchain {
    const ToolKind *kind;
    const char *words[TOOL_WORDS];
    int count;
    int candidate; /* its place in the list, or TOOL_GIVEN: from the variable */
} Toolchain;

/* A file of the compile; its folders are made. */
typedef struct ToolFile {
    const char *path;
    const char *text;
    size_t size;
    bool is_source; /* given to the compiler; the others are there to be included */
} ToolFile;

/* The variable's, else the first candidate in PATH from number `from` on. */
bool toolchain_find(tw_context *cx, Arena *arena, const ToolKind *kind, int from, Toolchain *tool);
/* Does the variable name one, whether it is there or not? */
bool toolchain_is_named(const ToolKind *kind);
/* Where the one that would be found is, for a list of targets; NULL: there is none, and the note says what to do. */
const char *toolchain_path(tw_context *cx, Arena *arena, const ToolKind *kind, int from, const char **note);
/* Path, size and time of the programs, and the flags (closed by NULL). */
void toolchain_digest(const Toolchain *tool, const char *const *flags, Digest *d);
/* One call of the compiler in a private folder; names are those of files there. */
typedef struct ToolRun {
    const char *const *words;  /* flags; closed by NULL */
    const char *const *inputs; /* closed by NULL */
    const char *output;
} ToolRun;
enum { TOOL_INPUTS = 64 };
/* Calls the compiler several times in one private folder (which is searched for includes) and gives the bytes of what
 * the last call makes, as memory to be unmapped. Nothing goes through the cache. */
tw_status toolchain_make(tw_context *cx, const Toolchain *tool, const ToolFile *files, int count, const ToolRun *runs,
                         int run_count, void **bytes, size_t *size);
/* The shared object for the digest: from the cache, or compiled in a private folder (which is
 * searched for includes) and kept. *library is a dlopen handle; with it set, nothing but dlclose is
 * owed. */
tw_status toolchain_build(tw_context *cx, const Toolchain *tool, const char *const *flags, const ToolFile *files,
                          int count, const char *hex, void **library);
/* An object file likewise, for others to be linked with; where it lies in the cache. False: it could not be made, or
 * not be kept there. Nothing is said of that: who asks can do without. */
bool toolchain_object(tw_context *cx, const Toolchain *tool, const char *const *flags, const ToolFile *files, int count,
                      const char *hex, char path[CACHE_PATH]);
#endif
