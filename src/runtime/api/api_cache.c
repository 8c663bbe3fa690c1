/* SPDX-License-Identifier: Apache-2.0 */
/* api_cache.c: what the cache on disk holds, and making it hold less. */
#include "runtime/api/api.h"
#include "runtime/compile/cache.h"

typedef struct CacheCall {
    tw_cache_info *info;
    void (*each)(void *user, const tw_cache_entry *entry);
    void *user;
    int64_t bytes;
} CacheCall;

static void count_entry(void *user, const CacheEntry *entry) {
    tw_cache_info *info = user;
    info->entries++;
    info->bytes += entry->bytes;
}

static void hand_over(void *user, const CacheEntry *entry) {
    const CacheCall *call = user;
    call->each(call->user, &(tw_cache_entry){.struct_size = sizeof(tw_cache_entry),
                                             .name = entry->name,
                                             .bytes = entry->bytes,
                                             .age = entry->age});
}

static tw_status describe_body(tw_context *cx, void *user) {
    CacheCall *call = user;
    tw_cache_info ours = {.dir = cx->cache_dir ? cx->cache_dir : "", .limit = cache_limit()};
    cache_walk(cx->cache_dir, count_entry, &ours);
    return api_give_info(call->info, &ours, sizeof ours) ? TW_OK : api_misuse(cx, api_bad_struct);
}

static tw_status list_body(tw_context *cx, void *user) {
    cache_walk(cx->cache_dir, hand_over, user);
    return TW_OK;
}

static tw_status shrink_body(tw_context *cx, void *user) {
    const CacheCall *call = user;
    if (call->bytes < 0) return api_misuse(cx, "a cache of fewer than 0 bytes");
    if (cx->cache_dir) cache_shrink(cx->cache_dir, call->bytes);
    return TW_OK;
}

tw_status tw_cache_describe(tw_context *cx, tw_cache_info *info) {
    if (!cx || !info) return api_absent(cx);
    return api_guarded(cx, describe_body, &(CacheCall){.info = info});
}

tw_status tw_cache_list(tw_context *cx, void (*each)(void *user, const tw_cache_entry *entry), void *user) {
    if (!cx || !each) return api_absent(cx);
    return api_guarded(cx, list_body, &(CacheCall){.each = each, .user = user});
}

tw_status tw_cache_shrink(tw_context *cx, int64_t bytes) {
    if (!cx) return api_absent(cx);
    return api_guarded(cx, shrink_body, &(CacheCall){.bytes = bytes});
}
