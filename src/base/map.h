/* SPDX-License-Identifier: Apache-2.0 */
/* map.h: a hash map from strings (or 64-bit numbers) to pointers, in an arena.
 *
 * Keys are copied; a value of NULL is allowed. Iteration runs in order of insertion, so no output ever depends on hash
 * order. Nothing is removed: an entry can be overwritten. */
#ifndef BASE_MAP_H
#define BASE_MAP_H
#include "base/arena.h"

#include <stdbool.h>

typedef struct MapEntry {
    const char *key; /* NULL for number keys */
    size_t length;
    uint64_t number; /* the key, or the hash of the string */
    void *value;
} MapEntry;

typedef struct Map {
    MapEntry *entries; /* in order of insertion */
    size_t count, capacity;
    uint32_t *slots; /* index + 1 into entries, 0 = free */
    size_t slot_count;
} Map;

MapEntry *map_find(const Map *map, const char *key, size_t length); /* NULL if absent */
MapEntry *map_put(Map *map, Arena *arena, const char *key, size_t length, void *value);
MapEntry *map_find_number(const Map *map, uint64_t key);
MapEntry *map_put_number(Map *map, Arena *arena, uint64_t key, void *value);
/* The map as a set: is the number new to it? From now on it is not. */
bool map_meets(Map *map, Arena *arena, uint64_t key);

/* For NUL-terminated keys: the value, or NULL. */
void *map_get(const Map *map, const char *key);
void map_set(Map *map, Arena *arena, const char *key, void *value);

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
#endif
