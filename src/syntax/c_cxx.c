/* SPDX-License-Identifier: Apache-2.0 */
/* c_cxx.c: spellings of ThunderKittens, which is C++, refused with ours beside them:
 *
 *     warpgroup::mma_AB(..)        warpgroup_mma_AB(..)            kittens::group<8>::sync(1)   group8_sync(1)
 *     rt_fl<16, 64>::col_vec       col_vec(rt_fl(16, 64))          everyone::sync(0)            block_sync(0)
 *     load(a, g.x, {0, i})         load(a, g.x, at(0, i))          mma_async_wait<1>()          mma_async_wait(1)
 *     using t = st_bf<64, 64>;     typedef st_bf(64, 64) t;        producer_load_args<l> a      lcf_load_args *a
 *     constexpr int N = 4;         enum { N = 4 };                 static_cast<int>(x)          (int)(x)
 *
 * One message for what one cause makes of the text: a struct with functions is skipped as a whole. */
#include "syntax/c_parser.h"

#include <string.h>

static bool is_scope(const CToken *at) { return at[0].kind == CT_COLON && at[1].kind == CT_COLON && !at[1].spaced; }

static bool is_word(const CToken *at, const char *word) {
    return at->kind == CT_IDENT && text_equal(at->text, at->length, word);
}

/* Behind `<..>` that begins at `at`, or NULL: then it is a comparison. */
static const CToken *skip_angles(const CToken *at) {
    int depth = 0;
    for (;; at++) {
        bool plain = at->kind == CT_IDENT || at->kind == CT_NUMBER || at->kind == CT_COMMA || at->kind == CT_STAR ||
                     at->kind == CT_PLUS || at->kind == CT_SLASH || at->kind == CT_MINUS || at->kind == CT_COLON ||
                     (at->kind >= CK_VOID && at->kind <= CK_DOUBLE);
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

static bool refuse_as(Parser *ps, const CToken *end, const char *what, const char *fix) {
    parser_refuse(ps, range_join(ps->at->range, end[-1].range), what, fix);
    return true;
}

static bool refuse(Parser *ps, const CToken *end, const char *what, const char *ours) {
    return refuse_as(ps, end, what, arena_printf(ps->arena, "write `%s`", ours));
}

/* Arguments that calls of ours take too; those that are types or names are left out. */
static bool is_numbers(const CToken *from, const CToken *end) {
    for (; from < end; from++)
        if (from->kind != CT_NUMBER && from->kind != CT_COMMA) return false;
    return true;
}

static bool is_size(const CToken *at) {
    return is_word(at, "rows") || is_word(at, "cols") || is_word(at, "length") || is_word(at, "height") ||
           is_word(at, "width");
}

/* a::b<..>::c from `at` on */
static bool refuse_path(Parser *ps) {
    const CToken *at = ps->at, *end = at;
    const char *ours = "", *before = "";
    bool of_type = parser_lookup(ps, at) == NAME_TYPE;
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
        else if (angles && (parser_lookup(ps, at) == NAME_TILE_TYPE || is_numbers(at + 2, angles - 1)))
            name = in_parentheses(ps, at, angles);
        bool vector = (is_word(at, "col_vec") || is_word(at, "row_vec")) && *before;
        if (vector)
            ours = arena_printf(ps->arena, "%s(%s)", name, before);
        else if (*name)
            ours = arena_printf(ps->arena, "%s%s%s", ours, *ours ? "_" : "", name);
        before = ours;
        if (last && of_type && is_size(at)) return refuse_as(ps, end, "C++ names `a::b`", "write the number");
        if (last && of_type && !vector) ours = name; /* a constant of an enum */
        if (last) break;
    }
    if (is_word(at, "cout")) ours = "printf(\"..\", ..)";
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

/* static_cast<float>(x) */
static bool refuse_cast(Parser *ps) {
    static const char *const casts[] = {"static_cast", "const_cast", "dynamic_cast", "reinterpret_cast"};
    bool is = false;
    for (size_t i = 0; i < sizeof casts / sizeof *casts; i++) is |= is_word(ps->at, casts[i]);
    if (!is || ps->at[1].kind != CT_LT) return false;
    const CToken *type = ps->at + 2, *end = type;
    while (end->kind != CT_GT && end->kind != CT_SEMI && end->kind != CT_LPAREN && end->kind != CT_END) end++;
    if (end->kind != CT_GT) return false;
    Text text = text_new(ps->arena);
    bool refers = end[-1].kind == CT_AMP;
    for (const CToken *t = type; t < end - refers; t++)
        text_add(&text, "%s%.*s", t > type && t->spaced ? " " : "", (int)t->length, t->text);
    return refuse(ps, end + 1, "C++ casts",
                  refers ? arena_printf(ps->arena, "tile_view(%s, ..)", text.at)
                         : arena_printf(ps->arena, "(%s)(..)", text.at));
}

/* constexpr int N = 4; */
static bool refuse_constant(Parser *ps) {
    const CToken *at = ps->at, *name = at, *end = at;
    if (!is_word(at, "constexpr")) return false;
    while (end->kind != CT_SEMI && end->kind != CT_END && end->kind != CT_LBRACE) {
        if (end->kind == CT_ASSIGN && name == at) name = end;
        end++;
    }
    if (name == at || end->kind != CT_SEMI || name[-1].kind != CT_IDENT)
        return refuse_as(ps, at + 1, "C++'s `constexpr`", "leave it out");
    Text value = text_new(ps->arena);
    for (const CToken *t = name + 1; t < end; t++)
        text_add(&value, "%s%.*s", t > name + 1 && t->spaced ? " " : "", (int)t->length, t->text);
    bool real = false;
    for (const CToken *t = at; t < name; t++) real |= t->kind == CK_FLOAT || t->kind == CK_DOUBLE;
    const char *word = parser_name(ps, name - 1);
    return refuse(ps, at + 1, "C++'s `constexpr`",
                  real ? arena_printf(ps->arena, "#define %s %s", word, value.at)
                       : arena_printf(ps->arena, "enum { %s = %s };", word, value.at));
}

bool parser_cxx(Parser *ps) {
    const CToken *at = ps->at;
    if (ps->panic || at->kind != CT_IDENT) return false;
    if (refuse_arguments(ps) || refuse_cast(ps) || refuse_constant(ps)) return true;
    if (is_word(at, "new") && (at[1].kind == CT_IDENT || (at[1].kind >= CK_VOID && at[1].kind <= CK_DOUBLE)))
        return refuse_as(ps, at + 1, "C++'s `new`", "declare an array");
    if (is_word(at, "auto") && at[1].kind == CT_IDENT && at[2].kind == CT_ASSIGN && at[3].kind == CT_LBRACKET)
        return refuse_as(ps, at + 4, "C++ lambdas", "write a function");
    const CToken *angles = at[1].kind == CT_LT ? skip_angles(at + 1) : NULL;
    if (is_scope(at + 1) || (angles && is_scope(angles))) return refuse_path(ps);
    bool type = parser_lookup(ps, at) == NAME_TILE_TYPE;
    bool call = angles && angles[0].kind == CT_LPAREN && angles[1].kind == CT_RPAREN; /* wait<0>() */
    bool refers = angles && angles[0].kind == CT_LPAREN && angles[1].kind == CT_AMP && angles[2].kind == CT_IDENT;
    if (type && refers) /* st_bf<64, 64> (&t) = al.allocate<..>(); */
        return refuse(ps, angles + 3, "C++ references",
                      arena_printf(ps->arena, "%s %.*s;", in_parentheses(ps, at, angles), (int)angles[2].length,
                                   angles[2].text));
    if (angles && (type || call))
        return refuse(ps, angles, "C++ template arguments `<..>`", in_parentheses(ps, at, angles));
    return false;
}

/* ---- structs that are classes ---- */

static bool is_class_word(const CToken *at) {
    static const char *const words[] = {"constexpr", "using",   "template", "operator",   "public",
                                        "private",   "friend",  "typename", "protected",  "virtual",
                                        "explicit",  "__device__", "__host__", "__global__"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(at, words[i])) return true;
    return at->kind == CK_STATIC || at->kind == CT_TILDE;
}

/* `name(..)` that goes on as a function does */
static bool is_function(const CToken *at) {
    int depth = 0;
    if (at[0].kind != CT_IDENT || at[1].kind != CT_LPAREN) return false;
    for (at++; at->kind != CT_END; at++) {
        depth += at->kind == CT_LPAREN;
        depth -= at->kind == CT_RPAREN;
        if (!depth) break;
    }
    return at->kind == CT_RPAREN && (at[1].kind == CT_LBRACE || at[1].kind == CT_COLON || at[1].kind == CK_CONST);
}

/* Behind the `}` of what begins here. */
static const CToken *skip_braces(const CToken *at) {
    int depth = 0;
    for (; at->kind != CT_END; at++) {
        depth += at->kind == CT_LBRACE;
        depth -= at->kind == CT_RBRACE;
        if (!depth) return at + 1;
    }
    return at;
}

/* The struct whose `{` stands here has functions, or constants and types of its own: skips all of it, with one
 * message. */
bool parser_cxx_struct(Parser *ps) {
    const CToken *end = skip_braces(ps->at), *first = NULL;
    bool callbacks = false;
    int depth = 0, parentheses = 0;
    if (ps->panic) return false;
    for (const CToken *t = ps->at; t < end; t++) {
        depth += t->kind == CT_LBRACE;
        depth -= t->kind == CT_RBRACE;
        if (depth == 1 && !parentheses && !first && (is_class_word(t) || is_function(t))) first = t;
        parentheses += t->kind == CT_LPAREN;
        parentheses -= t->kind == CT_RPAREN && parentheses;
        if (t->kind == CK_STRUCT && (is_word(t + 1, "producer") || is_word(t + 1, "consumer")) &&
            t[2].kind == CT_LBRACE)
            callbacks = true, first = first ? first : t;
    }
    if (!first) return false;
    ps->at = first;
    if (callbacks)
        refuse_as(ps, first + 1, "templates as structs",
                  "write the callbacks as functions, and name them in lcf_kernel(name, .globals = .., ..)");
    else
        refuse_as(ps, first + 1, "structs with functions, constants or types in them", "write those outside of it");
    while (ps->at < end - 1) parser_advance(ps);
    return true;
}

bool parser_cxx_vector(Parser *ps, const CToken *type) {
    const CToken *name = ps->at + 2;
    if (!is_scope(ps->at) || name->kind != CT_IDENT) return false;
    const char *text = in_parentheses(ps, type, ps->at);
    return refuse(ps, name + 1, "C++ names `a::b`",
                  arena_printf(ps->arena, "%.*s(%s)", (int)name->length, name->text, text));
}

/* ---- statements ---- */

bool parser_cxx_statement(Parser *ps) {
    if (ps->panic) return false;
    if (ps->at->kind == CK_EXTERN && (is_word(ps->at + 1, "__shared__") || is_word(ps->at + 1, "__align__")))
        return refuse_as(ps, ps->at + 2, "`extern __shared__`",
                         "leave it out: shared tiles are declared where they are used");
    return false;
}

CNode *parser_cxx_lambda(Parser *ps) {
    const CToken *end = ps->at;
    while (end->kind != CT_LBRACE && end->kind != CT_SEMI && end->kind != CT_END) end++;
    if (end->kind != CT_LBRACE) return parser_fail(ps, "an expression", "here");
    CNode *node = parser_refuse(ps, ps->at->range, "C++ lambdas", "write a function");
    end = skip_braces(end);
    while (ps->at < end) parser_advance(ps);
    return node;
}

/* for (int x : a) */
bool parser_cxx_range_for(Parser *ps) {
    int depth = 0;
    for (const CToken *t = ps->at; !ps->panic && t->kind != CT_END && t->kind != CT_SEMI && depth >= 0; t++) {
        depth += t->kind == CT_LPAREN;
        depth -= t->kind == CT_RPAREN;
        if (t->kind == CT_QUESTION || t->kind == CT_LBRACE) return false;
        if (is_scope(t)) t++;
        else if (t->kind == CT_COLON)
            return refuse_as(ps, t + 1, "`for` over the elements of something",
                             "write for (int i = 0; i < n; i++) and take element i");
    }
    return false;
}

/* x.name<..>(..), behind the name */
bool parser_cxx_member(Parser *ps, const CToken *from, const char *name) {
    const CToken *angles = ps->panic || ps->at->kind != CT_LT ? NULL : skip_angles(ps->at);
    if (!angles || angles->kind != CT_LPAREN) return false;
    const char *object = arena_printf(ps->arena, "%.*s", (int)from->length, from->text);
    const char *type = in_parentheses(ps, ps->at, angles);
    bool part = text_equal(name, strlen(name), "subtile");
    return refuse(ps, angles, "C++ template arguments `<..>`",
                  part ? arena_printf(ps->arena, "subtile(st_bf%s, &%s, row, column)", type, object)
                       : arena_printf(ps->arena, "%s(&%s, ..)", name, object));
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
