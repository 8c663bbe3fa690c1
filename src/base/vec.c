/* vec.c: see vec.h. */
#include "base/vec.h"

#include <string.h>

void *vec_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t item_size) {
    if (count < *capacity) return items;
    size_t larger = *capacity ? *capacity * 2 : 8;
    void *copy = arena_alloc_array(arena, larger, item_size);
    if (count) memcpy(copy, items, count * item_size);
    *capacity = larger;
    return copy;
}
