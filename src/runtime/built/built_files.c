/* SPDX-License-Identifier: Apache-2.0 */
/* built_files.c: what a build writes: an object and a header, an archive of several and a header, or a folder. First
 * all of it under other names, then these become the files: when one cannot be written, none is. */
#include "runtime/built/built_kernel.h"

#include "runtime/compile/cache.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef VEC(BuiltFile) FileList;

static tw_status cannot_write(tw_context *cx, const char *path, int why) {
    return context_fail(cx, TW_ERROR_IO, "%s cannot be written: %s", path, strerror(why));
}

tw_status build_write_files(tw_context *cx, const BuiltFile *files, size_t count) {
    Arena *arena = context_texts(cx);
    const char **parts = ARENA_ARRAY(arena, const char *, count);
    tw_status status = TW_OK;
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        parts[i] = arena_printf(arena, "%s.part", files[i].path);
        if (stat(files[i].path, &info) == 0 && !S_ISREG(info.st_mode))
            return cannot_write(cx, files[i].path, S_ISDIR(info.st_mode) ? EISDIR : EINVAL);
    }
    for (; made < count && status == TW_OK; made++)
        if (!file_replace(parts[made], files[made].data, files[made].size, 0666))
            status = cannot_write(cx, files[made].path, errno);
    for (size_t i = 0; i < made; i++) {
        if (status == TW_OK && rename(parts[i], files[i].path) != 0) status = cannot_write(cx, files[i].path, errno);
        if (status != TW_OK) unlink(parts[i]);
    }
    return status;
}

static BuiltFile text_file(const char *path, const char *text) { return (BuiltFile){path, text, strlen(text)}; }

/* --- one kernel --- */

static tw_status write_folder(Build *b, const char *path, FileList *files) {
    struct stat info;
    for (size_t i = 0; i < b->kernel->artifacts.count; i++) {
        const Artifact *a = &b->kernel->artifacts.at[i];
        *VEC_PUSH(files, b->arena) = (BuiltFile){arena_printf(b->arena, "%s/%s", path, a->name), a->text, a->size};
    }
    *VEC_PUSH(files, b->arena) = text_file(arena_printf(b->arena, "%s/report.txt", path), b->kernel->explain);
    bool made = mkdir(path, 0777) == 0;
    int why = made ? 0 : errno;
    if (!made && (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) return cannot_write(b->context, path, why);
    tw_status status = build_write_files(b->context, files->at, files->count);
    if (status != TW_OK && made) rmdir(path);
    return status;
}

tw_status build_write(Build *b, const tw_build_options *options) {
    const char *path = options->path;
    FileList files = {0};
    tw_status status;
    if (b->kind->make) {
        *VEC_PUSH(&files, b->arena) = (BuiltFile){arena_printf(b->arena, "%s.o", path), b->object, b->size};
        *VEC_PUSH(&files, b->arena) =
            text_file(arena_printf(b->arena, "%s.h", path), build_header(b->arena, b->name, b, 1));
        status = build_write_files(b->context, files.at, files.count);
    } else
        status = write_folder(b, path, &files);
    for (size_t i = 0; i < files.count && status == TW_OK && options->wrote; i++)
        options->wrote(options->wrote_user, files.at[i].path);
    return status;
}

/* --- archives, as System V and GNU have them --- */

enum { AR_HEAD = 60, AR_NAME = 16 };

typedef struct Bytes {
    char *at;
    size_t length;
} Bytes;

static void add_bytes(Bytes *b, const void *data, size_t size) {
    if (b->at) memcpy(b->at + b->length, data, size);
    b->length += size;
}

static void add_number(Bytes *b, size_t number) { /* of 4 bytes, the highest first */
    unsigned char bytes[] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16), (unsigned char)(number >> 8),
                             (unsigned char)number};
    add_bytes(b, bytes, sizeof bytes);
}

/* Nobody's and of no time: the same kernels make the same archive. */
static void add_head(Bytes *b, const char *name, size_t size) {
    char head[AR_HEAD + 1];
    snprintf(head, sizeof head, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", size);
    add_bytes(b, head, AR_HEAD);
}

static void add_end(Bytes *b) { /* members begin at even places */
    if (b->length % 2) add_bytes(b, "\n", 1);
}

/* The archive, or with at == NULL its length alone. `places`: where members begin, as found the last time. */
static void add_archive(Bytes *b, const Build *all, size_t count, size_t *places) {
    static const char *const endings[] = {"", "_error"}; /* what an object shows */
    size_t names = 0, long_names = 0;
    add_bytes(b, "!<arch>\n", 8);
    for (size_t i = 0; i < count; i++) names += 2 * strlen(all[i].name) + sizeof "_error" + 1;
    for (size_t i = 0; i < count; i++) long_names += strlen(all[i].name) + sizeof ".o/\n" - 1;
    add_head(b, "/", 4 + 8 * count + names);
    add_number(b, 2 * count);
    for (size_t i = 0; i < 2 * count; i++) add_number(b, places[i / 2]);
    for (size_t i = 0; i < 2 * count; i++) {
        add_bytes(b, all[i / 2].name, strlen(all[i / 2].name));
        add_bytes(b, endings[i % 2], strlen(endings[i % 2]) + 1);
    }
    add_end(b);
    add_head(b, "//", long_names);
    for (size_t i = 0; i < count; i++) {
        add_bytes(b, all[i].name, strlen(all[i].name));
        add_bytes(b, ".o/\n", 4);
    }
    add_end(b);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        char name[AR_NAME + 1];
        snprintf(name, sizeof name, "/%zu", at);
        at += strlen(all[i].name) + sizeof ".o/\n" - 1;
        places[i] = b->length;
        add_head(b, name, all[i].size);
        add_bytes(b, all[i].object, all[i].size);
        add_end(b);
    }
}

tw_status build_write_all(tw_context *cx, const Build *all, size_t count, const char *path) {
    Arena *arena = context_texts(cx);
    size_t *places = ARENA_ARRAY(arena, size_t, count);
    Bytes length = {NULL, 0}, archive = {NULL, 0};
    add_archive(&length, all, count, places);
    if (length.length > UINT32_MAX)
        return context_fail(cx, TW_ERROR_IO, "%s.a would be larger than 4 GB, which an archive cannot be", path);
    archive.at = arena_alloc(arena, length.length);
    add_archive(&archive, all, count, places);
    const char *slash = strrchr(path, '/'), *name = build_c_name(arena, slash ? slash + 1 : path);
    BuiltFile files[] = {{arena_printf(arena, "%s.a", path), archive.at, archive.length},
                         text_file(arena_printf(arena, "%s.h", path), build_header(arena, name, all, count))};
    return build_write_files(cx, files, 2);
}
