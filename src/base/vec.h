/* SPDX-License-Identifier: Apache-2.0 */
/* vec.h: typed growable arrays in an arena.
 *
 *     VEC(int) v = {0};
 *     *VEC_PUSH(&v, arena) = 7;         v.at[0] == 7, v.count == 1
 *
 * Growing may copy within the arena; pointers into `at` do not survive a push. */
#ifndef BASE_VEC_H
#define BASE_VEC_H
#include "base/arena.h"

#define VEC(Type)               \
    struct {                    \
        Type *at;               \
        size_t count, capacity; \
    }

/* Makes room for one more element and yields its address; the element is zeroed. */
#define VEC_PUSH(vec, arena)                                                                      \
    ((vec)->at = vec_grow((arena), (vec)->at, (vec)->count, &(vec)->capacity, sizeof *(vec)->at), \
     &(vec)->at[(vec)->count++])
/* Room for so many in an empty one, where growing would leave half of it behind in the arena. */
#define VEC_RESERVE(vec, arena, n) \
    ((vec)->at = arena_alloc_array((arena), (n), sizeof *(vec)->at), (vec)->capacity = (n))
#define VEC_LAST(vec) ((vec)->at[(vec)->count - 1])

void *vec_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t item_size);
#endif
