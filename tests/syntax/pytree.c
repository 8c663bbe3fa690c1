/* SPDX-License-Identifier: Apache-2.0 */
/* pytree.c: prints the tree of a Python file as py_dump writes it, for comparison with CPython's
 * ast.
 *
 *     pytree FILE...        each tree on stdout behind a line "== FILE"; messages on stderr; exit 1
 * if there were any */
#include "base/arena.h"
#include "syntax/py_ast.h"

#include <stdio.h>
#include <stdlib.h>

static char *read_file(const char *path, size_t *size) {
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    size_t capacity = 1 << 16;
    char *text = malloc(capacity);
    *size = 0;
    for (size_t got; text && (got = fread(text + *size, 1, capacity - *size, in)) > 0;) {
        *size += got;
        if (*size == capacity) text = realloc(text, capacity *= 2);
    }
    fclose(in);
    return text;
}

static int dump_text(const char *path, const char *text, size_t size, Arena *arena) {
    SourceMap sources;
    Diag diag;
    source_init(&sources, arena);
    diag_init(&diag, arena, &sources);
    SourceFile *file = source_add(&sources, path, text, size);
    if (file) {
        PyNode *module = py_parse(file, arena, &diag);
        printf("== %s\n%s", path, py_dump(module, file, PY_DUMP_RANGES, arena));
    }
    fputs(diag_render(&diag, arena), stderr);
    return !file || diag.errors > 0;
}

static int dump_file(const char *path) {
    static Trap trap;
    static Arena arena;
    static char *text;
    static size_t size;
    volatile int result = 1;
    text = read_file(path, &size);
    arena_init(&arena, allocator_malloc, &trap);
    if (!text)
        fprintf(stderr, "%s: cannot be read\n", path);
    else if (TRAP_ARM(&trap))
        result = dump_text(path, text, size, &arena);
    arena_free(&arena);
    free(text);
    return result;
}

int main(int argc, char **argv) {
    int result = 0;
    for (int i = 1; i < argc; i++) result |= dump_file(argv[i]);
    return result;
}
