/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h: files kept between runs, found by the digest of everything they were made from.
 *
 * An entry is a file DIR/ab/abcdef...EXT, mode 0600, below directories of mode 0700 that belong
 * to the user and that nobody else can write; a directory that is not so is not used at all.
 * Entries end with a seal (length and digest of what is before it; loaders of ELF files and of
 * text alike do not mind), so a truncated or altered one is noticed, removed and made again. They
 * appear by rename, whole or not at all; two processes that make the same entry do no harm.
 *
 *     if (!cache_find(dir, hex, ".so", path)) {
 *         .. make room.path/kernel.so (room.h) ..
 *         cache_keep(dir, hex, ".so", room.path + "/kernel.so", path);     path: where it lies now
 *     }
 * Nothing is allocated. Every failure (no directory, read-only, full disk) only means that
 * nothing is kept. */
#ifndef RUNTIME_COMPILE_CACHE_H
#define RUNTIME_COMPILE_CACHE_H
#include "runtime/compile/digest.h"

#include <stdbool.h>

enum { CACHE_PATH = 1024 };

/* The path from the root on, so that it never begins with a dash; false: too long. */
bool path_absolute(const char *path, char absolute[CACHE_PATH]);
/* The directory that the environment asks for; false: none can be told. */
bool cache_default_dir(char *dir, size_t capacity);
/* Is there a sound entry? Its path to `path` (CACHE_PATH bytes). dir may be NULL. */
bool cache_find(const char *dir, const char *hex, const char *extension, char *path);
/* Seals the file and moves it into the cache; false if it stays where it is. */
bool cache_keep(const char *dir, const char *hex, const char *extension, const char *file, char *path);
/* Makes an entry of these bytes, in place of the one that may be there; false if it is not kept. */
bool cache_note(const char *dir, const char *hex, const char *extension, const void *data, size_t size);

/* --- cache_size.c --- */
typedef struct CacheEntry {
    const char *path, *name;
    int64_t bytes, age; /* seconds since it was last used, to a day */
} CacheEntry;
typedef void CacheVisit(void *user, const CacheEntry *entry);
void cache_walk(const char *dir, CacheVisit *visit, void *user); /* dir may be NULL */
/* Removes what was used longest ago, until at most so many bytes remain. A kernel that is loaded stays loaded. */
void cache_shrink(const char *dir, int64_t most);
/* How much it may hold: $TILEWRIGHT_CACHE_LIMIT, else CACHE_LIMIT. Kept by cache_keep, now and then. */
#define CACHE_LIMIT (INT64_C(4) << 30)
int64_t cache_limit(void);

/* Makes the directory and those above it; false if it is not private then. */
bool cache_make_dir(const char *dir);
/* Why nothing is kept there, as the end of a sentence; NULL: it can be used (and is made). */
const char *cache_refusal(const char *dir);

/* Whole files, without allocation. Writing makes a new file (mode 0600) and fails if it is there. */
bool file_write(const char *path, const void *data, size_t size);
/* Writes a file so that it appears complete or not at all: beside it first, then renamed. errno tells why not. */
bool file_replace(const char *path, const void *data, size_t size, unsigned mode);
/* The file's size, if it can be read and is a regular file; -1. */
int64_t file_size(const char *path);
bool file_write_all(int to, const void *data, size_t size); /* to an open file */
/* At most `capacity` bytes; how many there were, -1 on errors. */
int64_t file_read(const char *path, void *to, size_t capacity);
#endif
