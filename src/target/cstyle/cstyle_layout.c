/* SPDX-License-Identifier: Apache-2.0 */
/* cstyle_layout.c: kept lines as text; see cs_layout in cstyle.h.
 *
 * What a line says was decided when it was made (expr.h). Here it gets its place on the page: which lines are left
 * out because nobody reads what they declare, which share a line, where a long one goes on. */
#include "target/cstyle/cstyle.h"

#include <string.h>

bool cs_mentions(const CLines *lines, const char *name) {
    for (size_t i = 0; i < lines->count; i++)
        for (size_t n = 0; n < lines->at[i].name_count; n++)
            if (strcmp(lines->at[i].names[n], name) == 0) return true;
    return false;
}

static bool is_directive(const CLine *line) { return line->kind == LINE_RAW || line->kind == LINE_LINE; }

/* --- variables that nobody reads --- */

/* Lines from the end on: where the next kept line is that has a name, and where the blocks end. */
typedef struct Reads {
    Arena *arena;
    Map next;     /* name -> number of that line, plus 1 */
    size_t *ends; /* by depth: the next line that is less deep */
    int deepest;
} Reads;

/* Does no kept line behind this one, to the end of its block, have the name that it declares? */
static bool is_unread(const Reads *r, const CLine *line) {
    if (!line->c.constant) return false;
    size_t next = (size_t)(uintptr_t)map_get(&r->next, line->c.constant);
    return !next || (line->depth >= 0 && next > r->ends[line->depth]);
}

static void note_line(Reads *r, const CLine *line, size_t number, bool gone) {
    for (size_t n = 0; n < line->name_count && !gone; n++)
        map_set(&r->next, r->arena, line->names[n], (void *)(uintptr_t)(number + 1));
    for (int depth = line->depth < 0 ? 0 : line->depth + 1; depth <= r->deepest && !is_directive(line); depth++)
        r->ends[depth] = number;
}

/* A comment before the end of its block; a note (`cut`: the line behind it goes) before the next comment, or before
 * what is none of the constants that it speaks of. */
static bool leads_nowhere(const CLine *line, const CLine *next, bool cut) {
    if (!next || (line->kind != LINE_PLACE && line->kind != LINE_NOTE)) return false;
    if (next->kind == LINE_CLOSE) return true;
    return line->kind == LINE_NOTE &&
           (next->kind == LINE_PLACE || next->kind == LINE_NOTE || (cut && !next->c.constant));
}

/* From the end on, so that what only unread ones read goes with them; and comments that then lead to nothing. */
static CLines without_unread(const CLines *all, Arena *arena) {
    bool *gone = ARENA_ARRAY(arena, bool, all->count + 1);
    CLines kept = {0};
    Reads reads = {.arena = arena};
    const CLine *next = NULL;
    int deepest = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].depth > deepest) deepest = all->at[i].depth;
    reads.ends = ARENA_ARRAY(arena, size_t, deepest + 1);
    for (int depth = 0; depth <= deepest; depth++) reads.ends[depth] = all->count;
    reads.deepest = deepest;
    for (size_t i = all->count; i-- > 0;) {
        const CLine *line = &all->at[i];
        gone[i] = leads_nowhere(line, next, i + 1 < all->count && gone[i + 1]) || is_unread(&reads, line);
        note_line(&reads, line, i, gone[i]);
        if (!gone[i] && line->kind != LINE_LINE) next = line;
    }
    VEC_RESERVE(&kept, arena, all->count);
    for (size_t i = 0; i < all->count; i++)
        if (!gone[i]) *VEC_PUSH(&kept, arena) = all->at[i];
    return kept;
}

/* --- lines on the page --- */

static size_t length_of(const CLine *line) { return strlen(line->head) + strlen(line->c.text) + strlen(line->tail); }

/* A loop of one statement stands on one line. */
static void join_loops(CLines *l, Arena *arena, size_t width) {
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        CLine head = l->at[i];
        const CLine *only = i + 2 < l->count && head.kind == LINE_OPEN && head.c.loops ? &l->at[i + 1] : NULL;
        if (only && only->kind == LINE_PLAIN && only->c.is_code && l->at[i + 2].kind == LINE_CLOSE &&
            (size_t)head.depth * 4 + length_of(&head) + length_of(only) <= width) {
            head.tail = arena_printf(arena, " %s", only->c.text);
            head.kind = LINE_PLAIN;
            i += 2;
        }
        l->at[kept++] = head;
    }
    l->count = kept;
}

/* A line while it is put on the page, or what is left of it. */
typedef struct Rest {
    size_t begin; /* in the line */
    size_t next;  /* the first break behind that */
    int open;     /* parentheses that are open there */
} Rest;

/* The best place before `width` where what is left may go on below: the outermost one, of those the last. Without one
 * the first behind. NULL: there is none. */
static const ExprBreak *break_of(const CLine *line, Rest rest, size_t width) {
    enum { LEAST_PIECE = 12 };
    const ExprBreak *best = NULL;
    size_t head = strlen(line->head);
    for (size_t i = rest.next; i < line->c.break_count; i++) {
        const ExprBreak *here = &line->c.breaks[i];
        size_t column = head + here->at - rest.begin;
        if (best && column >= width) break;
        if (column <= LEAST_PIECE || (here->outermost && here->open != rest.open)) continue;
        if (!best || here->open <= best->open) best = here;
    }
    return best;
}

static void put_line(Arena *arena, Text *t, const CLine *line, size_t width) {
    const char *s = arena_printf(arena, "%s%s%s", line->head, line->c.text, line->tail);
    size_t length = length_of(line), indent = length && !is_directive(line) ? (size_t)line->depth * 4 : 0;
    size_t shift = indent;
    bool may_wrap = (line->c.is_code || line->kind == LINE_OPEN) && !line->c.loops && width;
    const ExprBreak *end;
    Rest rest = {0};
    while (may_wrap && length - rest.begin + shift > width && (end = break_of(line, rest, width - shift))) {
        size_t stop = strlen(line->head) + end->at + end->comma;
        text_add(t, "%*s%.*s\n", (int)shift, "", (int)(stop - rest.begin), s + rest.begin);
        rest = (Rest){.begin = stop + 1, .next = (size_t)(end - line->c.breaks) + 1, .open = end->open};
        shift = indent + 4 + 4 * (size_t)(end->open > 0 ? end->open : 0);
    }
    text_add(t, "%*s%s\n", (int)shift, "", s + rest.begin);
}

char *cs_layout(Arena *arena, const CLines *lines, int width, bool directives) {
    CLines kept = without_unread(lines, arena);
    join_loops(&kept, arena, (size_t)width);
    Text out = text_new(arena);
    const CLine *from = NULL;
    for (size_t i = 0; i < kept.count; i++) {
        const CLine *line = &kept.at[i];
        if (line->kind == LINE_LINE) {
            from = line;
            continue;
        }
        if (from && line->kind != LINE_PLACE && line->kind != LINE_NOTE) put_line(arena, &out, from, 0);
        put_line(arena, &out, line, directives ? 0 : (size_t)width);
    }
    return out.at;
}

char *cs_text(Arena *arena, const CLines *lines) {
    Text out = text_new(arena);
    for (size_t i = 0; i < lines->count; i++) put_line(arena, &out, &lines->at[i], 0);
    return out.at;
}
