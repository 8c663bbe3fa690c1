/* SPDX-License-Identifier: Apache-2.0 */
/* diag.h: what we say to the user, from one table (diag.def).
 *
 *     diag_emit(diag, DIAG_UNKNOWN_NAME, range, "%s" arguments of the row...);
 *
 * prints as
 *
 *     kernel.py:7:9: error: `tl.lod` is not known; did you mean `tl.load`? [unknown-name]
 *        7 |     x = tl.lod(p)
 *          |         ^~~~~~
 *
 * A Diag collects; it never prints by itself. Identical messages are kept once; after DIAG_LIMIT errors the rest is
 * counted. Notes belong to the message before them. */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H
#include "base/source.h"
#include "base/text.h"

typedef enum DiagId {
#define DIAG(id, severity, name, format) DIAG_##id,
#include "base/diag.def"
#undef DIAG
    DIAG_COUNT
} DiagId;

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_PERF, SEVERITY_NOTE } Severity;

enum { DIAG_LIMIT = 20 };

typedef struct DiagMessage {
    DiagId id;
    Severity severity;
    Range range;
    const char *text, *fix; /* fix: the end of text that says what to do; "": it says none by itself */
    int64_t needed, available; /* of what does not suffice; else 0 */
} DiagMessage;

typedef struct Diag {
    Arena *arena;
    SourceMap *sources; /* may be NULL */
    VEC(DiagMessage) messages;
    int errors; /* all, also those beyond the limit */
    bool muted; /* the last message was dropped, so its notes are too */
} Diag;

void diag_init(Diag *diag, Arena *arena, SourceMap *sources);
void diag_emit(Diag *diag, DiagId id, Range range, ...);
void diag_vemit(Diag *diag, DiagId id, Range range, va_list args);
/* All that one has collected goes on to another. */
void diag_pass_on(const Diag *from, Diag *to);
/* The last message is about something that does not suffice, for those who read numbers and no text. */
void diag_amounts(Diag *diag, int64_t needed, int64_t available);
/* "error"; "unknown-name". */
const char *diag_severity_name(Severity severity);
const char *diag_code(DiagId id);
/* Everything collected, as the user reads it. */
char *diag_render(const Diag *diag, Arena *arena);
#endif
