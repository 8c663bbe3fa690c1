/* SPDX-License-Identifier: Apache-2.0 */
/* map.c: open addressing over an insertion-ordered array; see map.h. */
#include "base/map.h"

#include "base/vec.h"

#include <string.h>

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed) {
    const unsigned char *p = data;
    uint64_t h = seed ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static uint64_t mix(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    return x ^ (x >> 33);
}

/* Of a key, by words: types are looked up in the hundred thousands. */
static uint64_t hash_key(const char *key, size_t length) {
    uint64_t hash = length, word;
    for (; length > sizeof word; key += sizeof word, length -= sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    if (length) memcpy(&word, key, length);
    return mix(hash ^ word);
}

static bool same_key(const MapEntry *entry, const char *key, size_t length, uint64_t number) {
    if (entry->number != number || !entry->key != !key) return false;
    return !key || (entry->length == length && memcmp(entry->key, key, length) == 0);
}

static MapEntry *find(const Map *map, const char *key, size_t length, uint64_t number) {
    if (!map->slot_count) return NULL;
    size_t mask = map->slot_count - 1;
    for (size_t i = mix(number) & mask; map->slots[i]; i = (i + 1) & mask) {
        MapEntry *entry = &map->entries[map->slots[i] - 1];
        if (same_key(entry, key, length, number)) return entry;
    }
    return NULL;
}

static void insert_slot(Map *map, uint64_t number, uint32_t index) {
    size_t mask = map->slot_count - 1, i = mix(number) & mask;
    while (map->slots[i]) i = (i + 1) & mask;
    map->slots[i] = index;
}

static MapEntry *put(Map *map, Arena *arena, const char *key, size_t length, uint64_t number, void *value) {
    MapEntry *entry = find(map, key, length, number);
    if (entry) {
        entry->value = value;
        return entry;
    }
    if ((map->count + 1) * 2 > map->slot_count) {
        map->slot_count = map->slot_count ? map->slot_count * 2 : 16;
        map->slots = ARENA_ARRAY(arena, uint32_t, map->slot_count);
        for (size_t i = 0; i < map->count; i++) insert_slot(map, map->entries[i].number, (uint32_t)i + 1);
    }
    map->entries = vec_grow(arena, map->entries, map->count, &map->capacity, sizeof *map->entries);
    entry = &map->entries[map->count++];
    *entry = (MapEntry){key ? arena_string(arena, key, length) : NULL, length, number, value};
    insert_slot(map, number, (uint32_t)map->count);
    return entry;
}

MapEntry *map_find(const Map *map, const char *key, size_t length) {
    return find(map, key, length, hash_key(key, length));
}
MapEntry *map_put(Map *map, Arena *arena, const char *key, size_t length, void *value) {
    return put(map, arena, key, length, hash_key(key, length), value);
}
MapEntry *map_find_number(const Map *map, uint64_t key) { return find(map, NULL, 0, key); }
MapEntry *map_put_number(Map *map, Arena *arena, uint64_t key, void *value) {
    return put(map, arena, NULL, 0, key, value);
}
void *map_get(const Map *map, const char *key) {
    MapEntry *entry = map_find(map, key, strlen(key));
    return entry ? entry->value : NULL;
}
void map_set(Map *map, Arena *arena, const char *key, void *value) { map_put(map, arena, key, strlen(key), value); }

bool map_meets(Map *map, Arena *arena, uint64_t key) {
    size_t before = map->count;
    map_put_number(map, arena, key, NULL);
    return map->count > before;
}
