/* SPDX-License-Identifier: Apache-2.0 */
/* vec.c: see vec.h. */
#include "base/vec.h"

#include <string.h>

void *vec_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t item_size) {
    if (count < *capacity) return items;
    size_t larger = *capacity ? *capacity * 2 : 8;
    if (larger > SIZE_MAX / 2 / item_size) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
    items = arena_grow(arena, items, count * item_size, larger * item_size);
    *capacity = larger;
    return items;
}
