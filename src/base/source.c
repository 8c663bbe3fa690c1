/* SPDX-License-Identifier: Apache-2.0 */
/* source.c: see source.h. */
#include "base/source.h"

#include <string.h>

void source_init(SourceMap *map, Arena *arena) { *map = (SourceMap){.arena = arena, .next = 1}; }

/* Goes on from `at` to `to`: what a place is there. */
static void walk_place(const SourceFile *file, uint32_t at, uint32_t to, int *line, int *column) {
    for (; at < to; at++) {
        unsigned char c = (unsigned char)file->text[at];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xC0) != 0x80) {
            ++*column;
        }
    }
}

static void set_marks(SourceMap *map, SourceFile *file) {
    SourceMark *marks = ARENA_ARRAY(map->arena, SourceMark, file->size / MARK_BYTES + 1);
    marks[0] = (SourceMark){0, 1};
    for (uint32_t i = 1; i <= file->size / MARK_BYTES; i++) {
        marks[i] = marks[i - 1];
        walk_place(file, (i - 1) * MARK_BYTES, i * MARK_BYTES, &marks[i].line, &marks[i].column);
    }
    file->marks = marks;
}

SourceFile *source_add(SourceMap *map, const char *name, const char *text, size_t size) {
    if (size > MOST_SOURCE_BYTES || size > MOST_BYTES_OF_ALL - map->next) return NULL;
    SourceFile *file = ARENA_NEW(map->arena, SourceFile);
    file->name = arena_string(map->arena, name, strlen(name));
    file->text = arena_string(map->arena, text, size);
    file->base = map->next;
    file->size = (uint32_t)size;
    file->first_line = 1;
    map->next += file->size + 1;
    set_marks(map, file);
    *VEC_PUSH(&map->files, map->arena) = file;
    return file;
}

const char *source_line(const SourceFile *file, uint32_t offset, size_t *length) {
    uint32_t at = offset - file->base, begin = at, end = at;
    while (begin > 0 && file->text[begin - 1] != '\n') begin--;
    while (end < file->size && file->text[end] != '\n' && file->text[end] != '\r') end++;
    *length = end - begin;
    return file->text + begin;
}

bool source_find(const SourceMap *map, uint32_t offset, Place *place) {
    for (size_t i = 0; offset && i < map->files.count; i++) {
        const SourceFile *file = map->files.at[i];
        if (offset < file->base || offset > file->base + file->size) continue;
        uint32_t at = offset - file->base, mark = at / MARK_BYTES;
        *place = (Place){file, file->first_line + file->marks[mark].line, file->marks[mark].column};
        walk_place(file, mark * MARK_BYTES, at, &place->line, &place->column);
        return true;
    }
    return false;
}
