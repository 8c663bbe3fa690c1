/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h: memory that dies together.
 *
 * An arena hands out zeroed, 16-byte-aligned blocks and frees them all at once. When memory runs out it throws
 * TRAP_OUT_OF_MEMORY through its trap, so callers never check for NULL. Marks allow scratch use: what was allocated
 * after arena_mark is gone after arena_reset. Under AddressSanitizer blocks have red zones and reset memory is
 * poisoned. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include "base/allocator.h"
#include "base/trap.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

extern const Allocator allocator_malloc;

typedef struct ArenaBlock ArenaBlock;
typedef struct Arena {
    Allocator allocator;
    Trap *trap;
    ArenaBlock *last;
    size_t total; /* bytes taken from the allocator */
} Arena;
typedef struct ArenaMark {
    ArenaBlock *block;
    size_t used;
} ArenaMark;

void arena_init(Arena *arena, Allocator allocator, Trap *trap);
void arena_free(Arena *arena);
ArenaMark arena_mark(const Arena *arena);
void arena_reset(Arena *arena, ArenaMark mark);

void *arena_alloc(Arena *arena, size_t size);
void *arena_alloc_array(Arena *arena, size_t count, size_t size); /* checks count * size */
/* The content of an allocation with room behind it: in place where nothing stands there, else a copy. */
void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size);
void *arena_copy(Arena *arena, const void *data, size_t size);
char *arena_string(Arena *arena, const char *text, size_t length); /* adds the NUL */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *arena, const char *format, va_list args);

#define ARENA_NEW(arena, Type)      ((Type *)arena_alloc((arena), sizeof(Type)))
#define ARENA_ARRAY(arena, Type, n) ((Type *)arena_alloc_array((arena), (size_t)(n), sizeof(Type)))
#endif
