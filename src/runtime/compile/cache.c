/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c: see cache.h. */
#include "runtime/compile/cache.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- files --- */

bool file_write_all(int to, const void *data, size_t size) {
    const char *at = data;
    while (size) {
        ssize_t n = write(to, at, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n, size -= (size_t)n;
    }
    return true;
}

static bool write_new(const char *path, const void *data, size_t size, unsigned mode) {
    int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (to < 0) return false;
    bool ok = file_write_all(to, data, size);
    int why = errno;
    if (close(to) != 0 && ok) ok = false, why = errno;
    if (!ok) unlink(path), errno = why;
    return ok;
}

bool file_write(const char *path, const void *data, size_t size) { return write_new(path, data, size, 0600); }

/* A device or a pipe is written to; putting a file in its place would destroy it. */
static bool write_special(const char *path, const void *data, size_t size) {
    int to = open(path, O_WRONLY | O_CLOEXEC);
    if (to < 0) return false;
    bool ok = file_write_all(to, data, size);
    int why = errno;
    if (close(to) != 0 && ok) ok = false, why = errno;
    errno = why;
    return ok;
}

bool file_replace(const char *path, const void *data, size_t size, unsigned mode) {
    char beside[CACHE_PATH], target[PATH_MAX];
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return write_special(path, data, size);
    /* A link stays, and what it leads to is replaced. */
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && realpath(path, target)) path = target;
    for (unsigned i = 0; i < 100; i++) {
        int n = snprintf(beside, sizeof beside, "%s.%ld.%u.tmp", path, (long)getpid(), i);
        if (n < 0 || (size_t)n >= sizeof beside) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (write_new(beside, data, size, mode)) {
            if (rename(beside, path) == 0) return true;
            int why = errno;
            unlink(beside);
            errno = why;
            return false;
        }
        if (errno != EEXIST) return false;
    }
    return false;
}

int64_t file_size(const char *path) {
    struct stat info;
    if (stat(path, &info) != 0) return -1;
    if (!S_ISREG(info.st_mode)) {
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
        return -1;
    }
    return access(path, R_OK) == 0 ? (int64_t)info.st_size : -1;
}

int64_t file_read(const char *path, void *to, size_t capacity) {
    int from = open(path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return -1;
    size_t used = 0;
    bool ok = true;
    while (used < capacity) {
        ssize_t n = read(from, (char *)to + used, capacity - used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) ok = false;
        if (n <= 0) break;
        used += (size_t)n;
    }
    close(from);
    return ok ? (int64_t)used : -1;
}

/* --- directories --- */

bool path_absolute(const char *path, char absolute[CACHE_PATH]) {
    char here[CACHE_PATH];
    bool from_root = *path == '/';
    if (!from_root && !getcwd(here, sizeof here)) return false;
    int n =
        from_root ? snprintf(absolute, CACHE_PATH, "%s", path) : snprintf(absolute, CACHE_PATH, "%s/%s", here, path);
    return n > 0 && n < CACHE_PATH;
}

bool cache_default_dir(char *dir, size_t capacity) {
    const char *own = getenv("TILEWRIGHT_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (own && *own)
        n = snprintf(dir, capacity, "%s", own);
    else if (xdg && *xdg == '/')
        n = snprintf(dir, capacity, "%s/tilewright", xdg);
    else if (home && *home)
        n = snprintf(dir, capacity, "%s/.cache/tilewright", home);
    return n > 0 && (size_t)n < capacity;
}

/* Ours, and nobody else may write into it. */
static bool is_private(const char *dir) {
    struct stat info;
    return lstat(dir, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & 022);
}

const char *cache_refusal(const char *dir) {
    struct stat info;
    if (cache_make_dir(dir)) return access(dir, W_OK | X_OK) == 0 ? NULL : "cannot be written";
    int why = errno;
    if (lstat(dir, &info) != 0)
        return why == EACCES || why == EROFS || why == EPERM ? "cannot be made there: it is not ours to write"
               : why == ENOTDIR                              ? "lies below a file"
               : why == ENAMETOOLONG                         ? "has too long a name"
                                                             : "cannot be made";
    if (S_ISLNK(info.st_mode)) return "is a symbolic link" FIX "name the folder that it leads to";
    if (!S_ISDIR(info.st_mode)) return "is not a folder";
    if (info.st_uid != geteuid()) return "belongs to another user";
    return "can be written by others" FIX "take that away with chmod go-w";
}

/* Makes the directory and those above it; existing ones stay as they are. */
bool cache_make_dir(const char *dir) {
    char path[CACHE_PATH];
    size_t length = strlen(dir);
    int why = ENAMETOOLONG;
    bool fits = length && length < sizeof path;
    for (size_t i = 1; fits && i <= length; i++) {
        if (dir[i] != '/' && dir[i]) continue;
        memcpy(path, dir, i);
        path[i] = 0;
        why = mkdir(path, 0700) == 0 ? 0 : errno;
    }
    if (fits && is_private(dir)) return true;
    errno = why;
    return false;
}

static bool entry_path(const char *dir, const char *hex, const char *extension, bool folder, char *path) {
    int n = folder ? snprintf(path, CACHE_PATH, "%s/%.2s", dir, hex)
                   : snprintf(path, CACHE_PATH, "%s/%.2s/%s%s", dir, hex, hex, extension);
    return n > 0 && n < CACHE_PATH;
}

/* --- seals --- */

typedef struct Seal {
    char magic[8];
    uint64_t length;
    unsigned char digest[DIGEST_BYTES];
} Seal;
static const char seal_magic[8] = {'T', 'W', 's', 'e', 'a', 'l', '1', '\n'};

/* Digest of the first `length` bytes of an open file. */
static bool digest_file(int from, uint64_t length, unsigned char digest[DIGEST_BYTES]) {
    char part[16384];
    Digest d;
    digest_begin(&d);
    while (length) {
        ssize_t n = read(from, part, length < sizeof part ? (size_t)length : sizeof part);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        digest_add(&d, part, (size_t)n);
        length -= (uint64_t)n;
    }
    digest_end(&d, digest);
    return true;
}

static bool is_sealed(const char *path) {
    /* O_NONBLOCK: a pipe of that name must not make us wait. */
    int from = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (from < 0) return false;
    struct stat info;
    Seal seal;
    unsigned char digest[DIGEST_BYTES];
    bool ok = fstat(from, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() && !(info.st_mode & 022) &&
              info.st_size >= (off_t)sizeof seal &&
              pread(from, &seal, sizeof seal, info.st_size - (off_t)sizeof seal) == (ssize_t)sizeof seal &&
              memcmp(seal.magic, seal_magic, sizeof seal_magic) == 0 &&
              seal.length == (uint64_t)info.st_size - sizeof seal && digest_file(from, seal.length, digest) &&
              memcmp(digest, seal.digest, sizeof digest) == 0;
    close(from);
    return ok;
}

static bool put_seal(const char *path) {
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return false;
    struct stat info;
    Seal seal;
    memset(&seal, 0, sizeof seal);
    memcpy(seal.magic, seal_magic, sizeof seal_magic);
    bool ok = fstat(file, &info) == 0;
    seal.length = ok ? (uint64_t)info.st_size : 0;
    ok = ok && digest_file(file, seal.length, seal.digest) && file_write_all(file, &seal, sizeof seal) &&
         fchmod(file, 0600) == 0;
    if (close(file) != 0) ok = false;
    return ok;
}

/* --- entries --- */

bool cache_find(const char *dir, const char *hex, const char *extension, char *path) {
    char folder[CACHE_PATH];
    if (!dir || !entry_path(dir, hex, extension, true, folder) || !entry_path(dir, hex, extension, false, path))
        return false;
    if (!is_private(dir) || !is_private(folder)) return false;
    struct stat info;
    if (lstat(path, &info) != 0) return false;
    if (is_sealed(path)) {
        enum { DAY = 86400 };
        if (time(NULL) - info.st_mtime > DAY) utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* in use */
        return true;
    }
    unlink(path); /* broken: made again */
    return false;
}

bool cache_keep(const char *dir, const char *hex, const char *extension, const char *file, char *path) {
    char folder[CACHE_PATH];
    if (!dir || !entry_path(dir, hex, extension, true, folder) || !entry_path(dir, hex, extension, false, path))
        return false;
    if (!is_private(dir) || !cache_make_dir(folder) || !put_seal(file) || rename(file, path) != 0) return false;
    if (hex[2] == '0') cache_shrink(dir, cache_limit()); /* one in sixteen: walking costs about a millisecond */
    return true;
}

bool cache_note(const char *dir, const char *hex, const char *extension, const void *data, size_t size) {
    char path[CACHE_PATH], beside[CACHE_PATH];
    if (!dir || !entry_path(dir, hex, extension, true, path) || !is_private(dir) || !cache_make_dir(path)) return false;
    int n = snprintf(beside, sizeof beside, "%s/%.16s.%ld.tmp", path, hex, (long)getpid());
    if (n < 0 || n >= CACHE_PATH || !file_write(beside, data, size)) return false;
    if (cache_keep(dir, hex, extension, beside, path)) return true;
    unlink(beside);
    return false;
}
