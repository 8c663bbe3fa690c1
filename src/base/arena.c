/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c: see arena.h. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#define POISON(p, n)   __asan_poison_memory_region((p), (n))
#define UNPOISON(p, n) __asan_unpoison_memory_region((p), (n))
#else
enum { RED_ZONE = 0 };
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

enum { ALIGN = 16, FIRST_BLOCK = 16 * 1024, LARGEST_GROWTH = 4 * 1024 * 1024 };

struct ArenaBlock {
    ArenaBlock *previous;
    size_t size, used; /* of the bytes behind this header */
};

static size_t round_up(size_t n) { return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1); }
static char *block_bytes(ArenaBlock *block) { return (char *)block + round_up(sizeof *block); }

static void *resize_malloc(void *user, void *block, size_t old_size, size_t new_size) {
    (void)user, (void)old_size;
    if (new_size) return realloc(block, new_size);
    free(block);
    return NULL;
}
const Allocator allocator_malloc = {resize_malloc, NULL};

void arena_init(Arena *arena, Allocator allocator, Trap *trap) {
    *arena = (Arena){.allocator = allocator, .trap = trap};
}

static void drop_last(Arena *arena) {
    ArenaBlock *block = arena->last;
    size_t bytes = round_up(sizeof *block) + block->size;
    arena->last = block->previous;
    arena->total -= bytes;
    UNPOISON(block_bytes(block), block->size);
    arena->allocator.resize(arena->allocator.user, block, bytes, 0);
}

void arena_free(Arena *arena) {
    while (arena->last) drop_last(arena);
}

ArenaMark arena_mark(const Arena *arena) { return (ArenaMark){arena->last, arena->last ? arena->last->used : 0}; }

void arena_reset(Arena *arena, ArenaMark mark) {
    while (arena->last != mark.block) drop_last(arena);
    if (!mark.block) return;
    POISON(block_bytes(mark.block) + mark.used, mark.block->used - mark.used);
    mark.block->used = mark.used;
}

static void grow(Arena *arena, size_t need) {
    size_t size = arena->last ? arena->last->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_GROWTH) size = LARGEST_GROWTH;
    if (size < need) size = need;
    size_t bytes = round_up(sizeof(ArenaBlock)) + size;
    ArenaBlock *block = arena->allocator.resize(arena->allocator.user, NULL, 0, bytes);
    if (!block) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
    *block = (ArenaBlock){arena->last, size, 0};
    POISON(block_bytes(block), size);
    arena->last = block;
    arena->total += bytes;
}

void *arena_alloc(Arena *arena, size_t size) {
    if (size > SIZE_MAX / 2) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
    size_t need = round_up(size ? size : 1) + RED_ZONE;
    if (!arena->last || arena->last->size - arena->last->used < need) grow(arena, need);
    ArenaBlock *block = arena->last;
    char *result = block_bytes(block) + block->used;
    block->used += need;
    UNPOISON(result, size ? size : 1);
    return memset(result, 0, size ? size : 1);
}

void *arena_alloc_array(Arena *arena, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
    return arena_alloc(arena, count * size);
}

void *arena_grow(Arena *arena, void *old, size_t old_size, size_t new_size) {
    if (new_size > SIZE_MAX / 2) trap_throw(arena->trap, TRAP_OUT_OF_MEMORY);
    ArenaBlock *block = arena->last;
    size_t had = round_up(old_size) + RED_ZONE, more = round_up(new_size) + RED_ZONE - had;
    bool is_last = old_size && (char *)old + had == block_bytes(block) + block->used;
    if (is_last && more <= block->size - block->used) {
        block->used += more;
        UNPOISON(old, new_size);
        memset((char *)old + old_size, 0, new_size - old_size);
        return old;
    }
    void *copy = arena_alloc(arena, new_size);
    return old_size ? memcpy(copy, old, old_size) : copy;
}

void *arena_copy(Arena *arena, const void *data, size_t size) {
    void *copy = arena_alloc(arena, size);
    return size ? memcpy(copy, data, size) : copy;
}

char *arena_string(Arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

char *arena_vprintf(Arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}
