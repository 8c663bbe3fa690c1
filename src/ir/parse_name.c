/* SPDX-License-Identifier: Apache-2.0 */
/* parse_name.c: names of values, and the layouts that they are defined with.
 *
 * A region sees the names of those around it; at its end its own are gone. What the printer made of a hint is undone
 * here, so that a kernel that was read has the hints of the one that was printed, and an emitter calls its variables
 * the same. */
#include "ir/build.h"
#include "ir/reader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names --- */

/* The printer calls a value by its hint, or by hint_1, hint_2 .. where others have the names before that: so what is
 * written `x_2` where x and x_1 are taken has the hint x. Beyond some hundred of one name it is left as it is, which
 * prints the same. NULL: a number, which is no hint. */
static const char *hint_of(Parser *p, const char *name) {
    enum { MOST = 256, LONGEST = 200 };
    size_t length = strlen(name), base = length;
    if (strspn(name, "0123456789") == length) return NULL;
    while (isdigit((unsigned char)name[base - 1])) base--;
    int number = atoi(name + base);
    bool numbered = base < length && base >= 2 && base < LONGEST && name[base - 1] == '_' && name[base] != '0';
    if (!numbered || length - base > 4 || number > MOST) return name;
    char before[LONGEST + 16];
    for (int n = number - 1; n >= 0; n--) {
        int size = snprintf(before, sizeof before, "%.*s_%d", (int)base - 1, name, n);
        if (n == 0) size = (int)base - 1; /* the hint itself */
        const MapEntry *entry = map_find(&p->taken, before, (size_t)size);
        if (!entry || !entry->value) return name;
    }
    return arena_string(p->m->arena, name, base - 1);
}

/* From here to the end of its region, as in the printer: an op's results before its regions. */
void reader_take_name(Parser *p, const char *name) {
    map_set(&p->taken, p->m->arena, name, p);
    *VEC_PUSH(&p->takings, p->m->arena) = name;
}

void reader_give_back(Parser *p, size_t mark) {
    while (p->takings.count > mark) map_set(&p->taken, p->m->arena, p->takings.at[--p->takings.count], NULL);
}

void reader_define(Parser *p, const char *name, size_t length, Ref ref) {
    MapEntry *entry = map_find(&p->names, name, length);
    void *hidden = entry ? entry->value : NULL;
    entry = map_put(&p->names, p->m->arena, name, length, (void *)(uintptr_t)ref);
    *VEC_PUSH(&p->undo, p->m->arena) = (Hidden){(size_t)(entry - p->names.entries), hidden};
}

void reader_forget(Parser *p, size_t mark) {
    while (p->undo.count > mark) {
        Hidden last = p->undo.at[--p->undo.count];
        p->names.entries[last.entry].value = last.value;
    }
}

/* --- layouts --- */

/* ["#" NAME]: the layout of that name; NULL: none is written, or there is no such one */
const Layout *reader_layout_use(Parser *p) {
    if (!reader_accept(p, '#')) return NULL;
    const Layout *layout = p->token.kind == T_NAME ? map_get(&p->layouts, reader_token(p)) : NULL;
    if (!layout)
        return reader_error(p, p->token.range, "the kernel has no layout of this name" FIX "write `layout #name = ..`"),
               NULL;
    reader_advance(p);
    return layout;
}

bool reader_definition(Parser *p, Definition *d, const char *expected) {
    if (p->token.kind != T_VALUE) return reader_error(p, p->token.range, "%s is expected here", expected);
    d->name = p->token;
    char *name = reader_token(p);
    d->hint = hint_of(p, name);
    reader_take_name(p, name);
    reader_advance(p);
    d->layout = reader_layout_use(p);
    return !p->failed;
}

/* The value gets its name, and where it lives. */
bool reader_set_definition(Parser *p, const Definition *d, Ref ref) {
    const Type *type = ir_type(p->k, ref);
    bool buffer = d->layout && d->layout->home == HOME_SHARED && type->kind == TY_BUFFER;
    if (d->layout && !buffer && (type->kind != TY_TILE || type->rank == 0))
        return reader_error(p, d->name.range, "only tiles have a layout, and this is %s", ty_text(type, p->m->arena));
    if (d->layout) ir_value(p->k, ref)->layout = layout_for(d->layout, type, p->m->arena);
    reader_define(p, d->name.at, d->name.length, ref);
    if (d->hint) ir_name(p->k, ref, d->hint);
    return true;
}

/* "layout" "#" NAME "=" layout; the text of a layout is read by itself (tile_layout.c) */
bool reader_layout(Parser *p) {
    if (!reader_expect(p, '#')) return false;
    if (p->token.kind != T_NAME) return reader_error(p, p->token.range, "a layout's name, `#name`, is expected here");
    char *name = reader_token(p);
    if (map_get(&p->layouts, name)) return reader_error(p, p->token.range, "there is a layout `#%s` already", name);
    reader_advance(p);
    if (!reader_sees(p, '=')) return reader_expect(p, '=');
    Layout *layout = ARENA_NEW(p->m->arena, Layout);
    const char *why;
    bool good = layout_read(&p->at, layout, &why);
    reader_advance(p);
    if (!good) return reader_error(p, p->token.range, "%s", why);
    map_set(&p->layouts, p->m->arena, name, layout);
    return true;
}

/* The fields of a ring that were written with layouts: all of them, or none. */
bool reader_set_fields(Parser *p, const Op *op) {
    const Type *type = ir_type(p->k, op->results[0]);
    SharedTile *tiles = ARENA_ARRAY(p->m->arena, SharedTile, type->field_count);
    int count = 0;
    for (int i = 0; i < type->field_count; i++) {
        const Layout *layout = p->fields.at[i];
        if (layout && layout->home != HOME_SHARED)
            return reader_error(p, op->range, "field `%s` of a ring lives in shared memory", type->fields[i].name);
        if (!layout) continue;
        tiles[i] = layout_for(layout, type->fields[i].type, p->m->arena)->tile;
        count++;
    }
    if (count && count < type->field_count)
        return reader_error(p, op->range, "all fields of a ring have a layout, or none");
    Layout *slots = ARENA_NEW(p->m->arena, Layout);
    *slots = (Layout){.home = HOME_SLOTS, .fields = tiles};
    if (count) ir_value(p->k, op->results[0])->layout = slots;
    return true;
}
