/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c: the op table as a Markdown page (docs/ops.md). */
#include "ir/ir.h"

#include <string.h>

char *ir_manual(Arena *arena) {
    Text out = text_new(arena);
    text_add(&out,
             "# Operations of Tile IR\n\nMade from `src/ir/ops.def` by `make bless`; do not edit. Operands: `x` scalar "
             "or tile, "
             "`a` number, `w` integer or i1, `i` integer, `f` float, `c` i1, `p` pointer, `n` integer scalar, `t` "
             "tensor, `b` buffer, `r` ring, `s` slot, "
             "`k` barrier; equal letters share an element type; `?` may be absent, `*` any number, `[..]` a list. "
             "Traits: P pure, E elementwise, R reads, W writes, S synchronises or speaks, X ends a region, N has "
             "regions.\n\n"
             "| op | operands | traits | attributes | meaning |\n|---|---|---|---|---|\n");
    for (int code = 1; code < OP_COUNT; code++) {
        const OpInfo *info = &op_info[code];
        text_add(&out, "| `%s` | %s | %s | ", info->mnemonic, info->operands, info->traits);
        const char *before = "";
        for (int id = 1; id < AT_COUNT; id++) {
            if (!op_allows_attr((Opcode)code, (AttrId)id)) continue;
            text_add(&out, "%s`%s`", before, attr_info[id].text);
            before = " ";
        }
        text_add(&out, " | ");
        text_add_cell(&out, info->doc);
        text_add(&out, " |\n");
    }
    text_add(&out, "\n## Attributes\n\n| attribute | values | of | meaning |\n|---|---|---|---|\n");
    for (int id = 1; id < AT_COUNT; id++) {
        static const char *const kinds[] = {"(flag)", "integer",        "list of integers",
                                            "",       "name or string", "literal or value"};
        text_add(&out, "| `%s` | %s", attr_info[id].text, kinds[attr_info[id].kind]);
        bool bounded = attr_info[id].least > INT32_MIN || attr_info[id].most < INT32_MAX;
        if (bounded && (attr_info[id].kind == ATTR_INT || attr_info[id].kind == ATTR_INTS))
            text_add(&out, attr_info[id].most > INT32_MAX ? " from %lld" : " from %lld to %lld",
                     (long long)attr_info[id].least, (long long)attr_info[id].most);
        const char *before = "";
        for (int w = 1; w < WORD_COUNT && attr_info[id].kind == ATTR_ENUM; w++) {
            if (word_info[w].set != attr_info[id].set) continue;
            text_add(&out, "%s%s", before, word_info[w].text);
            before = ", ";
        }
        text_add(&out, " | ");
        before = "";
        for (int code = 0; code < OP_COUNT; code++) {
            if (!op_allows_attr((Opcode)code, (AttrId)id)) continue;
            text_add(&out, "%s%s", before, code ? op_info[code].mnemonic : "kernel");
            before = ", ";
        }
        static const char *const says[] = {"", "stamp: ", "", "plan: ", "schedule: "};
        text_add(&out, " | %s", says[attr_info[id].says]);
        text_add_cell(&out, attr_info[id].doc);
        text_add(&out, " |\n");
    }
    return out.at;
}
