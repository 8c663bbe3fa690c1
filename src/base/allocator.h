/* SPDX-License-Identifier: Apache-2.0 */
/* allocator.h: where memory comes from. */
#ifndef BASE_ALLOCATOR_H
#define BASE_ALLOCATOR_H
#include <stddef.h>

/* resize(NULL, 0, n) allocates, resize(p, n, 0) frees and returns NULL; a failed allocation returns NULL. */
typedef struct Allocator {
    void *(*resize)(void *user, void *block, size_t old_size, size_t new_size);
    void *user;
} Allocator;
#endif
