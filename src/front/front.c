/* SPDX-License-Identifier: Apache-2.0 */
/* front.c: the table of doors, and which door a text takes.
 *
 * The end of the name decides where it can: `x.tile.c` is Tile C, `x.ir` is IR text. A Python
 * file is TileLang if it imports tilelang or uses `@T.prim_func`, Triton if it imports triton or
 * uses `@triton.jit`; when it does both, the decorators decide, TileLang first. Only whole words
 * at the start of a line count, so a comment cannot mislead. */
#include "front/front.h"

#include <string.h>

static const FrontDoor doors[] = {
#define DOOR(name, doc, resolve) {#name, doc, name##_open, name##_lower, resolve},
#include "front/front.def"
#undef DOOR
};

const FrontValue *front_define(FrontUnit *unit, const char *name) {
    for (int i = unit->define_count; i-- > 0;) /* the last one counts */
        if (strcmp(unit->defines[i].name, name) == 0) {
            if (unit->define_used) unit->define_used[i] = true;
            return &unit->defines[i].value;
        }
    return NULL;
}

const FrontDoor *front_at(int index) { return index < (int)(sizeof doors / sizeof *doors) ? &doors[index] : NULL; }

const FrontDoor *front_find(const char *name) {
    const FrontDoor *door = NULL;
    for (int i = 0; (door = front_at(i)) && strcmp(door->name, name) != 0; i++) {}
    return door;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Is there a line that starts with these words (blanks before them allowed)? */
static bool has_line(const char *text, const char *start) {
    size_t n = strlen(start);
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        while (*line == ' ' || *line == '\t') line++;
        if (strncmp(line, start, n) == 0) return true;
    }
    return false;
}

static bool has_any(const char *text, const char *const *starts) {
    for (; *starts; starts++)
        if (has_line(text, *starts)) return true;
    return false;
}

const FrontDoor *front_choose(const char *name, const char *text) {
    static const char *const tilelang_marks[] = {"@T.prim_func", "@tilelang.jit", NULL};
    static const char *const triton_marks[] = {"@triton.jit", NULL};
    static const char *const tilelang_imports[] = {"import tilelang", "from tilelang", NULL};
    static const char *const triton_imports[] = {"import triton", "from triton", NULL};
    if (ends_with(name, ".tile.c")) return front_find("tilec");
    if (ends_with(name, ".ir")) return front_find("irtext");
    if (has_any(text, tilelang_marks)) return front_find("tilelang");
    if (has_any(text, triton_marks)) return front_find("triton");
    if (has_any(text, tilelang_imports)) return front_find("tilelang");
    if (has_any(text, triton_imports) || ends_with(name, ".py")) return front_find("triton");
    if (has_line(text, "kernel @")) return front_find("irtext");
    return NULL;
}
