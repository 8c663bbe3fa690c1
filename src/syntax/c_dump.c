/* SPDX-License-Identifier: Apache-2.0 */
/* c_dump.c: the tree as text for golden tests and for people; see c_dump in c_ast.h.
 *
 *     variable acc
 *       tile rt_fl
 *         int 16
 *         int 256
 *
 * A kid that is absent is printed as `-`, so that the place of the others stays readable. */
#include "syntax/c_ast.h"

static const char *const kind_names[] = {
#define C_NODE(id, name, doc) name,
    C_NODES(C_NODE)
#undef C_NODE
};

const char *c_kind_name(CKind kind) { return kind_names[kind]; }

static const struct {
    int flag;
    const char *text;
} flag_names[] = {
    {C_FLAG_CONST, "const"},       {C_FLAG_VOLATILE, "volatile"}, {C_FLAG_RESTRICT, "restrict"},
    {C_FLAG_STATIC, "static"},     {C_FLAG_EXTERN, "extern"},     {C_FLAG_INLINE, "inline"},
    {C_FLAG_UNSIGNED, "unsigned"}, {C_FLAG_LONG, "long"},         {C_FLAG_SINGLE, "single"},
};

static void add_quoted(Text *out, const char *bytes, size_t length) {
    text_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '"' || c == '\\')
            text_add(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7F)
            text_add(out, "\\x%02x", c);
        else
            text_add_char(out, (char)c);
    }
    text_add_char(out, '"');
}

static void add_node(Text *out, const CNode *node, int level, const SourceMap *sources) {
    text_add(out, "%*s", level * 2, "");
    if (!node) {
        text_add(out, "-\n");
        return;
    }
    text_add(out, "%s", kind_names[node->kind]);
    if (node->op) text_add(out, " %s", c_token_text(node->op));
    if (node->kind == C_INT)
        text_add(out, " %llu", (unsigned long long)node->number);
    else if (node->kind == C_FLOAT)
        text_add(out, " %.17g", node->real);
    else if (node->kind == C_STRING) {
        text_add_char(out, ' ');
        add_quoted(out, node->name, (size_t)node->number);
    } else if (node->name)
        text_add(out, " %s", node->name);
    for (size_t i = 0; i < sizeof flag_names / sizeof *flag_names; i++)
        if (node->flags & flag_names[i].flag) text_add(out, " %s", flag_names[i].text);
    Place place;
    if (sources && source_find(sources, node->range.begin, &place)) text_add(out, " @%d:%d", place.line, place.column);
    text_add_char(out, '\n');
    for (uint32_t i = 0; i < node->count; i++) add_node(out, node->kids[i], level + 1, sources);
}

char *c_dump(Arena *arena, const CNode *node, const SourceMap *sources) {
    Text out = text_new(arena);
    add_node(&out, node, 0, sources);
    return out.at;
}
