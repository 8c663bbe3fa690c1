/* SPDX-License-Identifier: Apache-2.0 */
/* c_cxx.c: spellings of ThunderKittens, which is C++, refused with ours beside them:
 *
 *     warpgroup::mma_AB(..)        warpgroup_mma_AB(..)            kittens::group<8>::sync(1)   group8_sync(1)
 *     rt_fl<16, 64>::col_vec       col_vec(rt_fl(16, 64))          everyone::sync(0)            block_sync(0)
 *     load(a, g.x, {0, i})         load(a, g.x, at(0, i))          mma_async_wait<1>()          mma_async_wait(1)
 *     using t = st_bf<64, 64>;     typedef st_bf(64, 64) t;        producer_load_args<l> a      lcf_load_args *a */
#include "syntax/c_parser.h"

static bool is_scope(const CToken *at) { return at[0].kind == CT_COLON && at[1].kind == CT_COLON && !at[1].spaced; }

static bool is_word(const CToken *at, const char *word) {
    return at->kind == CT_IDENT && text_equal(at->text, at->length, word);
}

/* Behind `<..>` that begins at `at`, or NULL: then it is a comparison. */
static const CToken *skip_angles(const CToken *at) {
    int depth = 0;
    for (;; at++) {
        bool plain = at->kind == CT_IDENT || at->kind == CT_NUMBER || at->kind == CT_COMMA || at->kind == CT_STAR ||
                     at->kind == CT_PLUS || at->kind == CT_SLASH || at->kind == CT_MINUS || at->kind == CT_COLON;
        if (at->kind == CT_LT)
            depth++;
        else if (at->kind == CT_GT || at->kind == CT_SHR) {
            depth -= at->kind == CT_GT ? 1 : 2;
            if (depth <= 0) return depth ? NULL : at + 1;
        } else if (!plain)
            return NULL;
    }
}

/* The tokens with parentheses for angles, one space behind a comma. */
static const char *in_parentheses(Parser *ps, const CToken *from, const CToken *end) {
    Text text = text_new(ps->arena);
    for (const CToken *t = from; t < end; t++) {
        if (t->kind == CT_LT || t->kind == CT_LBRACE)
            text_add(&text, "(");
        else if (t->kind == CT_GT || t->kind == CT_SHR || t->kind == CT_RBRACE)
            text_add(&text, t->kind == CT_SHR ? "))" : ")");
        else
            text_add(&text, "%.*s%s", (int)t->length, t->text, t->kind == CT_COMMA ? " " : "");
    }
    return text.at;
}

static bool refuse(Parser *ps, const CToken *end, const char *what, const char *ours) {
    Range range = range_join(ps->at->range, end[-1].range);
    parser_refuse(ps, range, what, arena_printf(ps->arena, "write `%s`", ours));
    return true;
}

/* a::b<..>::c from `at` on */
static bool refuse_path(Parser *ps) {
    const CToken *at = ps->at, *end = at;
    const char *ours = "", *before = "";
    for (;; at = end + 2) {
        if (at->kind != CT_IDENT) return false;
        const CToken *angles = at[1].kind == CT_LT ? skip_angles(at + 1) : NULL;
        end = angles ? angles : at + 1;
        bool last = !is_scope(end);
        const char *name = arena_printf(ps->arena, "%.*s", (int)at->length, at->text);
        if (is_word(at, "kittens") || is_word(at, "ducks") || is_word(at, "std")) name = "";
        if (is_word(at, "everyone")) name = "block";
        if (is_word(at, "group") && angles && at[2].kind == CT_NUMBER)
            name = arena_printf(ps->arena, "group%.*s", (int)at[2].length, at[2].text);
        else if (angles)
            name = in_parentheses(ps, at, angles);
        bool vector = (is_word(at, "col_vec") || is_word(at, "row_vec")) && *before;
        if (vector)
            ours = arena_printf(ps->arena, "%s(%s)", name, before);
        else if (*name)
            ours = arena_printf(ps->arena, "%s%s%s", ours, *ours ? "_" : "", name);
        before = ours;
        if (last) break;
    }
    return refuse(ps, end, "C++ names `a::b`", *ours ? ours : "the name alone");
}

/* using tile = st_bf<64, 64>; the name is a type from here on. */
static bool refuse_using(Parser *ps) {
    const CToken *at = ps->at;
    if (!is_word(at, "using")) return false;
    if (is_word(at + 1, "namespace"))
        return parser_refuse(ps, at->range, "C++'s `using namespace`", "leave it out: names need no prefix"), true;
    if (at[1].kind != CT_IDENT || at[2].kind != CT_ASSIGN) return false;
    const CToken *from = at + 3, *end = from;
    if (is_word(from, "typename")) from++;
    if (is_word(from, "kittens") && is_scope(from + 1)) from += 3;
    while (end->kind != CT_SEMI && end->kind != CT_END && end->kind != CT_LBRACE) end++;
    if (end <= from) return false;
    const char *name = parser_name(ps, at + 1);
    refuse(ps, end, "C++'s `using`", arena_printf(ps->arena, "typedef %s %s;", in_parentheses(ps, from, end), name));
    parser_bind(ps, name, NAME_TYPE);
    return true;
}

/* The arguments of a template's callbacks. */
static bool refuse_arguments(Parser *ps) {
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"common_setup_args", "lcf_setup_args *a"},
                 {"producer_setup_args", "lcf_producer_setup_args *a"},
                 {"producer_load_args", "lcf_load_args *a"},
                 {"producer_store_args", "lcsf_store_args *a"},
                 {"consumer_setup_args", "lcf_consumer_setup_args *a"},
                 {"consumer_compute_args", "lcf_compute_args *a"},
                 {"consumer_finish_args", "lcf_finish_args *a"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!is_word(ps->at, names[i].theirs) || ps->at[1].kind != CT_LT) continue;
        const CToken *end = skip_angles(ps->at + 1);
        return refuse(ps, end ? end : ps->at + 1, "ThunderKittens' template arguments", names[i].ours);
    }
    return false;
}

bool parser_cxx(Parser *ps) {
    const CToken *at = ps->at;
    if (ps->panic || at->kind != CT_IDENT) return false;
    if (refuse_arguments(ps)) return true;
    const CToken *angles = at[1].kind == CT_LT ? skip_angles(at + 1) : NULL;
    if (is_scope(at + 1) || (angles && is_scope(angles))) return refuse_path(ps);
    bool type = parser_lookup(ps, at) == NAME_TILE_TYPE;
    bool call = angles && angles[0].kind == CT_LPAREN && angles[1].kind == CT_RPAREN; /* wait<0>() */
    if (angles && (type || call))
        return refuse(ps, angles, "C++ template arguments `<..>`", in_parentheses(ps, at, angles));
    return false;
}

bool parser_cxx_using(Parser *ps) { return !ps->panic && ps->at->kind == CT_IDENT && refuse_using(ps); }

/* {r, c} where an argument stands */
bool parser_cxx_braces(Parser *ps) {
    const CToken *end = ps->at + 1;
    if (ps->panic || ps->at->kind != CT_LBRACE) return false;
    while (end->kind != CT_RBRACE && end->kind != CT_END && end->kind != CT_SEMI) end++;
    if (end->kind != CT_RBRACE) return false;
    refuse(ps, end + 1, "`{..}` as an argument", arena_printf(ps->arena, "at%s", in_parentheses(ps, ps->at, end + 1)));
    while (ps->at <= end) parser_advance(ps); /* it is read: the rest of the statement is skipped from behind it */
    return true;
}
