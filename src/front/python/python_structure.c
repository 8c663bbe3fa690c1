/* SPDX-License-Identifier: Apache-2.0 */
/* python_structure.c: arguments of a kernel that are made of others: tuples, named tuples and
 * tensor descriptors of the host.
 *
 *     kernel[grid]((x, 3), desc)      parameters a, d   structures a "(.,.)", d "<2>"
 *                                     become a.0, a.1, d.base, d.shape.0, d.shape.1, d.strides.0,
 *                                     d.strides.1, d.block.0, d.block.1
 *
 * The caller says what each argument is made of (FrontUnit.structures). The kernel's parameters are
 * the leaves then, and its own parameter is put together from them. Both walks over the text are
 * one, with another thing done at the leaves. */
#include "front/python/python.h"

#include <string.h>

typedef struct Walk {
    const char *at;
    StructureLeaf leaf;
    StructureBox box;
    void *user;
    Lower *l; /* NULL: only the leaves matter */
    Arena *arena;
    Range range;
    int depth;
    bool broken;
} Walk;

static Val walk_value(Walk *w, const char *path);

static Val broken(Walk *w) {
    w->broken = true;
    return val_error;
}

static bool accept(Walk *w, char wanted) {
    if (*w->at != wanted) return false;
    w->at++;
    return true;
}

static Val walk_tuple(Walk *w, const char *path) {
    VEC(Val) items = {0};
    VEC(const char *) fields = {0};
    while (!w->broken && !accept(w, ')')) {
        const char *key = arena_printf(w->arena, "%d", (int)items.count);
        if (items.count && !accept(w, ',')) return broken(w);
        size_t name = strcspn(w->at, ":,()<>.");
        if (name && w->at[name] == ':') {
            key = arena_string(w->arena, w->at, name);
            *VEC_PUSH(&fields, w->arena) = key;
            w->at += name + 1;
        }
        Val item = walk_value(w, arena_printf(w->arena, "%s.%s", path, key));
        *VEC_PUSH(&items, w->arena) = item;
    }
    for (size_t i = 0; i < items.count; i++)
        if (val_failed(items.at[i])) return val_error;
    return (Val){.kind = VAL_TUPLE,
                 .fields = fields.count && fields.count == items.count ? fields.at : NULL,
                 .items = items.at,
                 .count = (int)items.count};
}

static Val walk_numbers(Walk *w, const char *path, const char *what, int rank, bool constant) {
    Val items[MAX_RANK];
    for (int d = 0; d < rank; d++)
        items[d] = w->leaf(w->user, arena_printf(w->arena, "%s.%s.%d", path, what, d), constant);
    for (int d = 0; d < rank; d++)
        if (val_failed(items[d])) return val_error;
    return w->l ? val_tuple(w->l, items, rank) : val_none;
}

static Val walk_descriptor(Walk *w, const char *path) {
    int rank = *w->at - '0';
    if (rank < 1 || rank > MAX_RANK) return broken(w);
    w->at++;
    bool nan = strncmp(w->at, " nan", 4) == 0;
    if (nan) w->at += 4;
    if (!accept(w, '>')) return broken(w);
    Val parts[] = {w->leaf(w->user, arena_printf(w->arena, "%s.base", path), false),
                   walk_numbers(w, path, "shape", rank, false), walk_numbers(w, path, "strides", rank, false),
                   walk_numbers(w, path, "block", rank, true)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (val_failed(parts[i])) return val_error;
    return w->l ? w->box(w->l, parts[0], parts[1], parts[2], parts[3], nan, w->range) : val_none;
}

static Val walk_value(Walk *w, const char *path) {
    if (w->depth >= PYTHON_MAX_DEPTH) return broken(w);
    w->depth++;
    Val v = accept(w, '.')   ? w->leaf(w->user, path, false)
            : accept(w, '(') ? walk_tuple(w, path)
            : accept(w, '<') ? walk_descriptor(w, path)
                             : broken(w);
    w->depth--;
    return v;
}

const char *structure_of(const FrontUnit *unit, const char *parameter) {
    for (size_t i = 0; i < unit->structure_count; i++)
        if (strcmp(unit->structures[i].name, parameter) == 0) return unit->structures[i].value;
    return NULL;
}

bool structure_leaves(const char *text, const char *name, Arena *arena, StructureLeaf leaf, void *user) {
    Walk w = {.at = text, .leaf = leaf, .user = user, .arena = arena};
    walk_value(&w, name);
    return !w.broken && !*w.at;
}

Val structure_value(Lower *l, const char *text, const char *name, Range range, StructureLeaf leaf, StructureBox box,
                    void *user) {
    Walk w = {.at = text, .leaf = leaf, .box = box, .user = user, .l = l, .arena = l->arena, .range = range};
    return walk_value(&w, name);
}
