/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c: see diag.h. */
#include "base/diag.h"

#include <string.h>

static const struct {
    Severity severity;
    const char *name, *format;
} rows[] = {
#define DIAG(id, severity, name, format) {SEVERITY_##severity, name, format},
#include "base/diag.def"
#undef DIAG
};

void diag_init(Diag *diag, Arena *arena, SourceMap *sources) { *diag = (Diag){.arena = arena, .sources = sources}; }

static bool seen_before(const Diag *diag, const DiagMessage *message) {
    for (size_t i = 0; i < diag->messages.count; i++) {
        const DiagMessage *other = &diag->messages.at[i];
        if (other->id == message->id && other->range.begin == message->range.begin &&
            other->range.end == message->range.end && strcmp(other->text, message->text) == 0)
            return true;
    }
    return false;
}

/* A message quotes the user's text, which may be of any length: its middle is left out, the rule and the fix stay. */
static char *formatted(Arena *arena, const char *format, const char **fix, va_list args) {
    enum { LONGEST_MESSAGE = 4000, HEAD = 2000, TAIL = 1900 };
    char *text = text_open_fix(arena, format, arena_vprintf(arena, format, args), fix);
    size_t length = strlen(text);
    if (length <= LONGEST_MESSAGE) return text;
    size_t head = HEAD, tail = length - TAIL;
    while (head && ((unsigned char)text[head] & 0xC0) == 0x80) head--;
    while (((unsigned char)text[tail] & 0xC0) == 0x80) tail++;
    return arena_printf(arena, "%.*s ... %s", (int)head, text, text + tail);
}

void diag_vemit(Diag *diag, DiagId id, Range range, va_list args) {
    bool note = rows[id].severity == SEVERITY_NOTE;
    if (note && diag->muted) return;
    if (rows[id].severity == SEVERITY_ERROR && diag->errors >= DIAG_LIMIT) {
        diag->errors++; /* only counted, so that broken text cannot fill the memory */
        diag->muted = true;
        return;
    }
    DiagMessage message = {.id = id, .severity = rows[id].severity, .range = range};
    message.text = formatted(diag->arena, rows[id].format, &message.fix, args);
    if (!note) {
        diag->muted = seen_before(diag, &message);
        if (diag->muted) return;
        if (message.severity == SEVERITY_ERROR) diag->errors++;
    }
    *VEC_PUSH(&diag->messages, diag->arena) = message;
}

void diag_emit(Diag *diag, DiagId id, Range range, ...) {
    va_list args;
    va_start(args, range);
    diag_vemit(diag, id, range, args);
    va_end(args);
}

void diag_pass_on(const Diag *from, Diag *to) {
    for (size_t i = 0; i < from->messages.count; i++) {
        const DiagMessage *message = &from->messages.at[i];
        bool error = message->severity == SEVERITY_ERROR, note = message->severity == SEVERITY_NOTE;
        if (note ? to->muted : seen_before(to, message)) continue;
        to->muted = error && to->errors >= DIAG_LIMIT;
        to->errors += error;
        if (!to->muted) *VEC_PUSH(&to->messages, to->arena) = *message;
    }
}

void diag_amounts(Diag *diag, int64_t needed, int64_t available) {
    if (!diag->messages.count || diag->muted) return;
    DiagMessage *last = &diag->messages.at[diag->messages.count - 1];
    last->needed = needed;
    last->available = available;
}

const char *diag_severity_name(Severity severity) {
    static const char *const names[] = {"error", "warning", "performance", "note"};
    return names[severity];
}

const char *diag_code(DiagId id) { return rows[id].name; }

/* How many columns a terminal gives the code point: 0 combining, 2 wide, else 1. Coarse on purpose. */
static int display_width(uint32_t c) {
    if ((c >= 0x300 && c < 0x370) || (c >= 0x200B && c < 0x2010) || (c >= 0xFE00 && c < 0xFE10)) return 0;
    bool wide = (c >= 0x1100 && c < 0x1160) || (c >= 0x2E80 && c < 0xA4D0) || (c >= 0xAC00 && c < 0xD7A4) ||
                (c >= 0xF900 && c < 0xFB00) || (c >= 0xFF00 && c < 0xFF61) || (c >= 0x1F300 && c < 0x1F650) ||
                (c >= 0x20000 && c < 0x40000);
    return wide ? 2 : 1;
}

/* A code point of the line and its length; a byte that begins none is a character of its own, shown as `?`. */
static uint32_t decode(const char *s, size_t left, size_t *used) {
    uint32_t code;
    *used = text_utf8(s, left, &code);
    if (!*used) *used = 1, code = '?';
    return code < 0x20 && code != '\t' ? '?' : code;
}

/* The line and a caret below it; of a long line the part around the caret, between dots. */
static void add_excerpt(Text *out, const SourceFile *file, Range range, int number) {
    enum { LONGEST_LINE = 240, BEFORE_CARET = 60 };
    size_t length, used;
    const char *line = source_line(file, range.begin, &length);
    size_t start = range.begin - file->base - (size_t)(line - file->text), first = 0;
    size_t end = start + (range.end > range.begin ? range.end - range.begin : 1);
    bool cut = length > LONGEST_LINE;
    if (cut) {
        first = start > BEFORE_CARET ? start - BEFORE_CARET : 0;
        while (first > 0 && ((unsigned char)line[first] & 0xC0) == 0x80 && start - first < BEFORE_CARET + 4) first--;
        if (length - first > LONGEST_LINE) length = first + LONGEST_LINE;
    }
    text_add(out, "%5d | %s", number, first ? "..." : "");
    for (size_t i = first; i < length; i += used) {
        uint32_t c = decode(line + i, length - i, &used);
        if (used == 1)
            text_add_char(out, (char)c);
        else
            text_add_bytes(out, line + i, used);
    }
    text_add(out, "%s\n      | %s", cut && line[length] && line[length] != '\n' ? "..." : "", first ? "   " : "");
    size_t i = first;
    for (; i < start && i < length; i += used) {
        int width = display_width(decode(line + i, length - i, &used));
        if (line[i] == '\t')
            text_add_char(out, '\t');
        else
            while (width-- > 0) text_add_char(out, ' ');
    }
    text_add_char(out, '^');
    bool head = true;
    for (; i < end && i < length; i += used, head = false) {
        int width = display_width(decode(line + i, length - i, &used)) - head;
        while (width-- > 0) text_add_char(out, '~');
    }
    text_add_char(out, '\n');
}

char *diag_render(const Diag *diag, Arena *arena) {
    Text out = text_new(arena);
    for (size_t i = 0; i < diag->messages.count; i++) {
        const DiagMessage *message = &diag->messages.at[i];
        Place place;
        bool placed = diag->sources && source_find(diag->sources, message->range.begin, &place);
        if (placed) text_add(&out, "%s:%d:%d: ", place.file->name, place.line, place.column);
        text_add(&out, "%s: %s", diag_severity_name(message->severity), message->text);
        if (message->severity != SEVERITY_NOTE) text_add(&out, " [%s]", rows[message->id].name);
        text_add_char(&out, '\n');
        if (placed) add_excerpt(&out, place.file, message->range, place.line);
    }
    if (diag->errors > DIAG_LIMIT)
        text_add(&out, "error: %d more not shown; mend these first\n", diag->errors - DIAG_LIMIT);
    return out.at;
}
