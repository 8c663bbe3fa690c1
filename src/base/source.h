/* SPDX-License-Identifier: Apache-2.0 */
/* source.h: the texts being compiled, and places in them.
 *
 * All files of a compile share one space of offsets: file i covers [base, base + size]. So a Range is two numbers,
 * says which file it means, and survives every pass. Offset 0 belongs to no file: Range {0, 0} is "no place". */
#ifndef BASE_SOURCE_H
#define BASE_SOURCE_H
#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>

typedef struct Range {
    uint32_t begin, end; /* end is one past the last byte */
} Range;

/* Where every MARK_BYTES-th byte of a file is, so that a place is found without reading all before it. */
enum { MARK_BYTES = 128 };
typedef struct SourceMark {
    int line, column; /* lines from 0 */
} SourceMark;

typedef struct SourceFile {
    const char *name; /* as the user wrote it */
    const char *text; /* NUL-terminated */
    uint32_t base, size;
    int first_line; /* 1, or more for a part of a larger file */
    const SourceMark *marks;
} SourceFile;

typedef struct SourceMap {
    Arena *arena;
    VEC(SourceFile *) files;
    uint32_t next; /* base of the next file */
} SourceMap;

typedef struct Place {
    const SourceFile *file;
    int line, column; /* from 1; the column counts code points */
} Place;

void source_init(SourceMap *map, Arena *arena);
/* Copies name and text. NULL when the text is larger than 64 MiB, or all texts together than 256 MiB; how many words
 * it may have, the parsers say. */
enum { MOST_SOURCE_BYTES = 64 << 20, MOST_BYTES_OF_ALL = 256 << 20 };
SourceFile *source_add(SourceMap *map, const char *name, const char *text, size_t size);
/* False for "no place". */
bool source_find(const SourceMap *map, uint32_t offset, Place *place);
/* The whole line (without its end) that holds the offset. */
const char *source_line(const SourceFile *file, uint32_t offset, size_t *length);

static inline Range range_join(Range a, Range b) {
    if (!a.begin) return b;
    if (!b.begin) return a;
    return (Range){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
#endif
