/* SPDX-License-Identifier: Apache-2.0 */
/* manual_pages.c: what each door knows, as Markdown, made from the doors' own tables (docs/triton.md, docs/tilelang.md,
 * docs/tile-c.md). A name that is listed works; a name that is not listed is refused by name. */
#include "front/front.h"

#include <string.h>

typedef struct Line {
    const char *name, *form, *doc, *handler, *kinds;
} Line;

/* The pages look only at the text columns, so the rows need none of the doors' types. */
static const Line triton_lines[] = {
#define TL(name, kinds, signature, lowering, code, doc) {#name, signature, doc, #lowering, kinds},
#include "front/triton/triton_builtins.def"
#undef TL
#define PYTHON(name, kinds, signature, lowering, code, doc) {#name, signature, doc, #lowering, kinds},
#include "front/python/python_builtins.def"
};
static const Line tilelang_lines[] = {
#define BUILTIN(name, kinds, signature, lowering, code, doc) {#name, signature, doc, #lowering, kinds},
#include "front/tilelang/tilelang.def"
#undef BUILTIN
#include "front/python/python_builtins.def"
#undef PYTHON
};
static const Line tilec_lines[] = {
#define BUILTIN(name, scope, operands, lower, parameter, doc) {name, #scope ", " operands, doc, "", ""},
#include "front/tilec/tilec_builtins.def"
#undef BUILTIN
};

static const struct {
    const char *topic, *title, *about;
    const Line *lines;
    size_t count;
} pages[] = {
    {"triton", "Triton: what works",
     "Kernels marked `@triton.jit`, in Python's grammar. Signatures are Python's.\n\n"
     "Statements: assignments (plain, annotated, augmented, of nested tuples), `if`, `for` over `range`, `tl.range`, "
     "`tl.static_range` and tuples, `while`, `break`, `continue`, `return` at any place, `assert`, `pass`. "
     "Expressions: all but `lambda`, dicts, sets, `await` and `yield`; a comprehension runs over constants and tuples. "
     "`with` enters a context manager of the Python program. Refused by name: `try`, `match`, functions and classes "
     "inside a kernel, `else` of a loop, assignment to elements and attributes (but for the fields of a "
     "`triton.aggregate` in its `__init__`).\n\n"
     "Names come from the file, from files of its folder or package that it imports, and from `-D`, which also fills "
     "constant parameters; constants of a module are computed as of their line, and one that the module sets in a "
     "loop, or under a condition that only a running program can answer, is refused; inside a running Python program "
     "from its live objects. Calls of other jit functions run in place; recursion is refused. "
     "`@triton.constexpr_function` runs on constants. `@triton.autotune` and `@triton.heuristics` are read where they "
     "are arithmetic on constants and arguments (`tilewright list`, `--config N`).\n\n"
     "More than Triton: tiles of any extent, jumps out of loops, `.to` on a specialised 1, a constant argument as the "
     "start of a loop's variable, chained comparisons.",
     triton_lines, sizeof triton_lines / sizeof *triton_lines},
    {"tilelang", "TileLang",
#include "front/tilelang/tilelang_manual.def"
     ,
     tilelang_lines, sizeof tilelang_lines / sizeof *tilelang_lines},
    {"tile-c", "Tile C",
#include "front/tilec/tilec_manual.def"
     ,
     tilec_lines, sizeof tilec_lines / sizeof *tilec_lines},
};

/* Why a row is refused; NULL: it works. */
static const char *refusal(const Line *line) {
    static const char *const rows[][2] = {{"tri_lower_unsupported", "refused"},
                                          {"lang_lower_planned", "planned"},
                                          {"lang_lower_other_chip", "another chip"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(line->handler, rows[i][0]) == 0) return rows[i][1];
    return NULL;
}

/* Under what names kernels know it. */
static const char *full_names(const Line *line, bool tilelang, Arena *arena) {
    static const struct {
        char kind;
        const char *before;
    } places[] = {{'T', "tl."},
                  {'M', "tl.math."},
                  {'m', "x."},
                  {'H', "triton."},
                  {'P', ""},
                  {'Y', "math."},
                  {'I', "itertools."},
                  {'G', "tl.target_info."},
                  {'L', "libdevice."},
                  {'D', "descriptor."},
                  {'l', "list."},
                  {'d', "dict."},
                  {'s', "str."},
                  {'t', "tuple."},
                  {'i', "int."},
                  {'Z', "tilelang.layout."},
                  {'A', "tilelang.carver.arch.driver."},
                  {'C', "tl.extra.cuda."}};
    Text out = text_new(arena);
    for (size_t i = 0; line->kinds && i < sizeof places / sizeof *places; i++)
        if (strchr(line->kinds, places[i].kind)) {
            const char *before = places[i].before;
            if (tilelang) before = places[i].kind == 'T' ? "T." : places[i].kind == 'H' ? "tilelang." : before;
            text_add(&out, "%s`%s%s`", out.length ? ", " : "", before, line->name);
        }
    return out.length ? out.at : arena_printf(arena, "`%s`", line->name);
}

char *front_manual(const char *topic, Arena *arena) {
    for (size_t p = 0; p < sizeof pages / sizeof *pages; p++) {
        if (strcmp(pages[p].topic, topic) != 0) continue;
        Text out = text_new(arena);
        text_add(&out,
                 "# %s\n\nMade from the compiler's own tables by `make bless`; do not edit. %s\n\n| operation | form | "
                 "meaning |\n|---|---|---|\n",
                 pages[p].title, pages[p].about);
        Text refused = text_new(arena);
        for (size_t i = 0; i < pages[p].count; i++) {
            const Line *line = &pages[p].lines[i];
            const char *no = refusal(line), *names = full_names(line, strcmp(topic, "tilelang") == 0, arena);
            Text *table = no ? &refused : &out;
            text_add(table, "| %s | ", names);
            text_add_cell(table, no ? no : arena_printf(arena, "`%s`", *line->form ? line->form : " "));
            text_add(table, " | ");
            text_add_cell(table, line->doc);
            text_add(table, " |\n");
        }
        if (refused.length)
            text_add(&out, "\nRefused by name, with the line:\n\n| operation | | why |\n|---|---|---|\n%s", refused.at);
        return out.at;
    }
    return NULL;
}

bool front_builtin(size_t index, FrontBuiltin *out) {
    if (index >= sizeof triton_lines / sizeof *triton_lines) return false;
    const Line *line = &triton_lines[index];
    *out = (FrontBuiltin){line->name, line->kinds, line->form, line->doc, refusal(line) != NULL};
    return true;
}
