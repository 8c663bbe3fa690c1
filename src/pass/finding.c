/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c: see finding.h. */
#include "pass/finding.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *id, *subject, *names, *text;
} rows[] = {
#define FINDING(id, subject, names, text) {#id, subject, names, text},
#include "pass/findings.def"
#undef FINDING
};

/* Behind the next conversion of the format; its letter in *kind. NULL: there is none. */
static const char *next_conversion(const char *at, char *kind, int *longs) {
    at = strchr(at, '%');
    if (!at) return NULL;
    for (*longs = 0, at++; *at == 'l' || *at == 'z'; at++) *longs += *at == 'z' ? 2 : 1;
    *kind = *at;
    return at + 1;
}

/* A value may be a message's reason: what it says to write instead reads on. */
static const char *readable(Arena *arena, const char *text) {
    const char *fix;
    return text_open_fix(arena, "", arena_string(arena, text, strlen(text)), &fix);
}

Finding finding_make(Arena *arena, Range range, FindingId id, va_list values) {
    Finding f = {.range = range, .id = id, .subject = rows[id].subject};
    if (!*f.subject) {
        const char *subject = va_arg(values, const char *);
        f.subject = arena_string(arena, subject, strlen(subject));
    }
    va_list again;
    va_copy(again, values);
    f.text = readable(arena, arena_vprintf(arena, rows[id].text, again));
    va_end(again);
    char kind;
    int longs, count = 0;
    for (const char *at = rows[id].text; (at = next_conversion(at, &kind, &longs)) && count < MAX_FINDING_VALUES;) {
        FindingValue *value = &f.values[count++];
        if (kind == 's') {
            value->text = readable(arena, va_arg(values, const char *));
        } else {
            value->number = longs == 2 ? va_arg(values, long long) : va_arg(values, int);
        }
    }
    return f;
}

static void add_id(Text *out, FindingId id) {
    text_add_char(out, '"');
    for (const char *at = rows[id].id; *at; at++) text_add_char(out, *at == '_' ? '-' : (char)tolower(*at));
    text_add_char(out, '"');
}

/* The values that have a name and are not empty; a text that only adds to another one begins with its separator, which
 * is no part of it. */
static void add_values(Text *out, const Finding *f) {
    const FindingValue *value = f->values;
    for (const char *name = rows[f->id].names; *name; value++) {
        size_t length = strcspn(name, " ");
        if (*name != '-' && !(value->text && !*value->text)) {
            text_add(out, ", \"%.*s\": ", (int)length, name);
            if (value->text)
                text_add_json(out, value->text + strspn(value->text, ", "));
            else
                text_add(out, "%lld", value->number);
        }
        name += length + (name[length] == ' ');
    }
}

void finding_name(const Kernel *k, Ref ref, Text *out) {
    const Value *value = ir_value(k, ref);
    const Op *op = value->op;
    const char *of =
        op && op->operand_count && ref_is_value(op->operands[0]) ? ir_value(k, op->operands[0])->name : NULL;
    int dim = op ? (int)op_int(op, AT_DIM, 0) : 0;
    if (value->name)
        text_add(out, "%s", value->name);
    else if (op && op->code == OP_PROGRAM_ID)
        text_add(out, "program_id(%d)", dim);
    else if (of && op->code == OP_BASE)
        text_add(out, "%s", of);
    else if (of && (op->code == OP_EXTENT || op->code == OP_STRIDE))
        text_add(out, "%s.%s(%d)", of, op->code == OP_EXTENT ? "extent" : "stride", dim);
    else
        text_add(out, "(a value)");
}

void findings_json(Text *out, const Finding *findings, size_t count, const SourceMap *sources) {
    text_add(out, "[");
    for (size_t i = 0; i < count; i++) {
        const Finding *f = &findings[i];
        Place place;
        text_add(out, "%s\n  {\"finding\": ", i ? "," : "");
        add_id(out, f->id);
        text_add(out, ", \"subject\": ");
        text_add_json(out, f->subject);
        if (source_find(sources, f->range.begin, &place)) {
            text_add(out, ", \"file\": ");
            text_add_json(out, place.file->name);
            text_add(out, ", \"line\": %d, \"column\": %d", place.line, place.column);
        }
        add_values(out, f);
        text_add(out, ", \"text\": ");
        text_add_json(out, f->text);
        text_add(out, "}");
    }
    text_add(out, "%s]\n", count ? "\n" : "");
}
