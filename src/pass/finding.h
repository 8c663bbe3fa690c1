/* SPDX-License-Identifier: Apache-2.0 */
/* finding.h: what the compiler proved and chose, as data (findings.def): a line of `explain`, an object of its JSON.
 *
 *     pass_find(cx, op->range, FIND_RING_PLACED, 5, "s", 16384LL, 0LL, "by TMA")
 *       ring: 5 slots of 16384 bytes at 0, by TMA
 *       {"finding": "ring-placed", "subject": "ring", .., "slots": 5, "bytes": 16384, "offset": 0, .. } */
#ifndef PASS_FINDING_H
#define PASS_FINDING_H
#include "base/source.h"
#include "base/text.h"
#include "ir/ir.h"

typedef enum FindingId {
#define FINDING(id, subject, names, text) FIND_##id,
#include "pass/findings.def"
#undef FINDING
    FIND_COUNT
} FindingId;

typedef struct FindingValue {
    const char *text; /* NULL: a number */
    long long number;
} FindingValue;
enum { MAX_FINDING_VALUES = 8 };
typedef struct Finding {
    Range range;
    FindingId id;
    const char *subject, *text;
    FindingValue values[MAX_FINDING_VALUES]; /* of all conversions of its text, in order */
} Finding;

/* One finding, its values as its row says. Everything is copied into the arena. */
Finding finding_make(Arena *arena, Range range, FindingId id, va_list values);
/* What a value is called: by its name in the source, else by what it is. */
void finding_name(const Kernel *k, Ref value, Text *out);
/* A JSON array of objects, one a line; places by the sources. */
void findings_json(Text *out, const Finding *findings, size_t count, const SourceMap *sources);
#endif
