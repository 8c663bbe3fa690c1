/* cache.h: files kept between runs, found by the digest of everything they were made from.
 *
 * An entry is a file DIR/ab/abcdef...EXT, mode 0600, below directories of mode 0700 that belong
 * to the user and that nobody else can write; a directory that is not so is not used at all.
 * Entries end with a seal (length and digest of what is before it; loaders of ELF files and of
 * text alike do not mind), so a truncated or altered one is noticed, removed and made again. They
 * appear by rename, whole or not at all; two processes that make the same entry do no harm.
 *
 *     CacheRoom room;
 *     if (!cache_find(dir, hex, ".so", path) && cache_room_open(&room, dir)) {
 *         .. make room.path/kernel.so ..
 *         cache_keep(dir, hex, ".so", room.path + "/kernel.so", path);     path: where it lies now
 *         cache_room_close(&room);
 *     }
 * Nothing is allocated. Every failure (no directory, read-only, full disk) only means that
 * nothing is kept. */
#ifndef RUNTIME_CACHE_H
#define RUNTIME_CACHE_H
#include "runtime/digest.h"

#include <stdbool.h>

enum { CACHE_PATH = 1024 };

/* The directory that the environment asks for; false: none can be told. */
bool cache_default_dir(char *dir, size_t capacity);
/* Is there a sound entry? Its path to `path` (CACHE_PATH bytes). dir may be NULL. */
bool cache_find(const char *dir, const char *hex, const char *extension, char *path);
/* Seals the file and moves it into the cache; false if it stays where it is. */
bool cache_keep(const char *dir, const char *hex, const char *extension, const char *file,
                char *path);

/* A private empty folder to work in: inside the cache if possible, else in $TMPDIR or /tmp. */
typedef struct CacheRoom {
    char path[CACHE_PATH];
} CacheRoom;
bool cache_room_open(CacheRoom *room, const char *dir);
/* Does a megabyte not fit any more? (A compiler that failed is then tried again elsewhere.) */
bool cache_room_is_full(const CacheRoom *room);
/* Removes the folder and what is in it. */
void cache_room_close(CacheRoom *room);

/* Whole files, without allocation. Writing makes a new file (mode 0600) and fails if it is there.
 */
bool file_write(const char *path, const void *data, size_t size);
/* Writes a file so that it appears complete or not at all: beside it first, then renamed. errno
 * tells why not. */
bool file_replace(const char *path, const void *data, size_t size, unsigned mode);
/* The file's size, if it can be read and is a regular file; -1. */
int64_t file_size(const char *path);
/* At most `capacity` bytes; how many there were, -1 on errors. */
int64_t file_read(const char *path, void *to, size_t capacity);
#endif
