/* SPDX-License-Identifier: Apache-2.0 */
/* command_cache.c: `cache` says what the cache holds, lists it, and makes it hold less. */
#include "cli/cli.h"

#include <stdlib.h>

typedef struct Listing {
    bool json, more;
} Listing;

static void print_entry(void *user, const tw_cache_entry *entry) {
    Listing *listing = user;
    if (listing->json) {
        printf("%s\n    {\"name\": ", listing->more ? "," : "");
        print_json_text(entry->name);
        printf(", \"bytes\": %lld, \"age\": %lld}", (long long)entry->bytes, (long long)entry->age);
    } else
        printf("%10lld bytes  %5lld h  %s\n", (long long)entry->bytes, (long long)(entry->age / 3600), entry->name);
    listing->more = true;
}

/* "12.5 MB" */
static void print_size(int64_t bytes) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double size = (double)bytes;
    int unit = 0;
    for (; size >= 1024 && unit < 4; unit++) size /= 1024;
    printf(unit ? "%.1f %s" : "%.0f %s", size, units[unit]);
}

static void print_info(const tw_cache_info *info) {
    if (!*info->dir) {
        printf("there is no cache: set TILEWRIGHT_CACHE_DIR, or HOME\n");
        return;
    }
    printf("%s\n%lld entries, ", info->dir, (long long)info->entries);
    print_size(info->bytes);
    printf("; at most ");
    print_size(info->limit);
    printf(" (TILEWRIGHT_CACHE_LIMIT)\n");
}

static void print_info_json(const tw_cache_info *info) {
    printf("{\"dir\": ");
    print_json_text(info->dir);
    printf(", \"entries\": %lld, \"bytes\": %lld, \"limit\": %lld", (long long)info->entries, (long long)info->bytes,
           (long long)info->limit);
}

int command_cache(const Options *o) {
    int64_t most = o->clear ? 0 : o->limit ? tw_size_parse(o->limit) : -1;
    if (o->limit && most < 0) return fail("--limit takes a size, as in 500M or 2G, not `%s`", o->limit);
    const char *limit = getenv("TILEWRIGHT_CACHE_LIMIT");
    if (limit && *limit && tw_size_parse(limit) < 0)
        remark("warning", "TILEWRIGHT_CACHE_LIMIT is `%s`, which is no size, and has no effect" FIX
               "write it as in 500M or 2G", limit);
    tw_context *cx = NULL;
    tw_status status = tw_context_create(NULL, &cx);
    if (status != TW_OK) return fail("%s", tw_status_text(status));
    tw_cache_info info = {.struct_size = sizeof info};
    Listing listing = {.json = o->json};
    if (most >= 0) status = tw_cache_shrink(cx, most);
    if (status == TW_OK) status = tw_cache_describe(cx, &info);
    if (status == TW_OK && o->json)
        print_info_json(&info);
    else if (status == TW_OK)
        print_info(&info);
    if (status == TW_OK && o->list) {
        if (o->json) printf(", \"list\": [");
        status = tw_cache_list(cx, print_entry, &listing);
        if (o->json) printf("]");
    }
    if (o->json) printf("}\n");
    int code = status == TW_OK ? 0 : fail_status(cx, status);
    tw_context_destroy(cx);
    return code;
}
