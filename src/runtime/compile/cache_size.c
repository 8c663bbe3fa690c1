/* SPDX-License-Identifier: Apache-2.0 */
/* cache_size.c: how much the cache holds, and making it hold less; see cache.h.
 *
 * An entry's time is when it was last used: finding one that has not been for a day says so (cache_find). What goes
 * first is found without memory for a list: bytes are counted by the age of their entries, in classes that double; then
 * all older than what fits go, and of the class in which the limit lies as many as it takes. */
#include "runtime/compile/cache.h"
#include "tilewright.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_hex(const char *text, size_t count) { return strspn(text, "0123456789abcdef") >= count; }

/* "<64 hex>.so": a name that we give. What else lies there is not ours. */
static bool is_entry(const char *name) { return is_hex(name, DIGEST_HEX - 1) && name[DIGEST_HEX - 1] == '.'; }

static void walk_folder(const char *folder, CacheVisit *visit, void *user) {
    DIR *list = opendir(folder);
    for (struct dirent *item; list && (item = readdir(list));) {
        char path[CACHE_PATH];
        struct stat info;
        int n = snprintf(path, sizeof path, "%s/%s", folder, item->d_name);
        if (!is_entry(item->d_name) || n < 0 || n >= CACHE_PATH) continue;
        if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) continue;
        int64_t age = (int64_t)(time(NULL) - info.st_mtime);
        visit(user, &(CacheEntry){path, strrchr(path, '/') + 1, (int64_t)info.st_size, age > 0 ? age : 0});
    }
    if (list) closedir(list);
}

void cache_walk(const char *dir, CacheVisit *visit, void *user) {
    DIR *list = dir ? opendir(dir) : NULL;
    for (struct dirent *item; list && (item = readdir(list));) {
        char path[CACHE_PATH];
        int n = snprintf(path, sizeof path, "%s/%s", dir, item->d_name);
        if (strlen(item->d_name) == 2 && is_hex(item->d_name, 2) && n > 0 && n < CACHE_PATH)
            walk_folder(path, visit, user);
    }
    if (list) closedir(list);
}

/* --- shrinking --- */

enum { CLASSES = 64 };

static int age_class(int64_t age) {
    int class = 0;
    while (age > 60 && class < CLASSES - 1) age /= 2, class ++;
    return class;
}

typedef struct Shrink {
    int64_t bytes[CLASSES]; /* by age */
    int64_t total, most;
    int oldest; /* class that may stay, as far as there is room */
} Shrink;

static void count_entry(void *user, const CacheEntry *entry) {
    Shrink *s = user;
    s->bytes[age_class(entry->age)] += entry->bytes;
    s->total += entry->bytes;
}

static void drop_entry(void *user, const CacheEntry *entry) {
    Shrink *s = user;
    int class = age_class(entry->age);
    if (s->total > s->most && class >= s->oldest && unlink(entry->path) == 0) s->total -= entry->bytes;
}

void cache_shrink(const char *dir, int64_t most) {
    Shrink s = {.most = most};
    cache_walk(dir, count_entry, &s);
    int64_t younger = 0;
    while (s.oldest < CLASSES - 1 && younger + s.bytes[s.oldest] <= most) younger += s.bytes[s.oldest++];
    if (s.total <= most) return;
    /* The oldest first: classes above, then the one of the limit. */
    int border = s.oldest;
    s.oldest = border + 1;
    cache_walk(dir, drop_entry, &s);
    s.oldest = border;
    cache_walk(dir, drop_entry, &s);
}

int64_t cache_limit(void) {
    int64_t bytes = tw_size_parse(getenv("TILEWRIGHT_CACHE_LIMIT"));
    return bytes < 0 ? CACHE_LIMIT : bytes;
}

int64_t tw_size_parse(const char *text) {
    static const char units[] = "KMGT";
    char *end = NULL;
    if (!text || *text < '0' || *text > '9') return -1; /* no sign, no space, no infinity */
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end & ~32) : NULL;
    for (int i = 0; unit && i <= unit - units; i++) value *= 1024;
    if (unit) end++;
    return *end ? -1 : value < 9e18 ? (int64_t)value : INT64_MAX;
}
