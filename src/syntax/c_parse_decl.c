/* SPDX-License-Identifier: Apache-2.0 */
/* c_parse_decl.c: declarations and types of Tile C.
 *
 *     declaration = specifiers [declarator ["=" initializer] {"," ..}] ";"
 *     specifiers  = storage words, qualifiers, specifiers of the vocabulary (`__shared__`,
 * `tile_kernel(32, 1)`) and one type: C's words, a typedef's name, `struct`, `enum`, or a tile type
 * with arguments declarator  = {"*" {qualifier}} [name] {"[" [constant] "]"} ["(" parameters ")"]
 *
 * Tile C leaves out unions, bit-fields, function pointers and declarators in parentheses, each
 * refused by name. */
#include "syntax/c_parser.h"

#include <string.h>

typedef struct Specifiers {
    const CToken *first;
    CNode *type; /* NULL after an error */
    int flags;
    bool is_typedef;
    CNodes words;
} Specifiers;

typedef struct Declarator {
    const CToken *first;
    const char *name;
    CNode *type, *parameters; /* parameters: of a function */
} Declarator;

static CNode *parse_struct(Parser *ps);
static CNode *parse_enum(Parser *ps);

static bool is_type_word(CTok kind) {
    return (kind >= CK_VOID && kind <= CK_DOUBLE) || kind == CK_STRUCT || kind == CK_ENUM;
}
static int qualifier_flag(CTok kind) {
    return kind == CK_CONST      ? C_FLAG_CONST
           : kind == CK_RESTRICT ? C_FLAG_RESTRICT
           : kind == CK_VOLATILE ? C_FLAG_VOLATILE
                                 : 0;
}
static int storage_flag(CTok kind) {
    return kind == CK_STATIC   ? C_FLAG_STATIC
           : kind == CK_EXTERN ? C_FLAG_EXTERN
           : kind == CK_INLINE ? C_FLAG_INLINE
                               : 0;
}

bool starts_type(const Parser *ps) {
    NameKind name = parser_lookup(ps, ps->at);
    return is_type_word(ps->at->kind) || qualifier_flag(ps->at->kind) || name == NAME_TYPE || name == NAME_TILE_TYPE;
}

bool starts_declaration(const Parser *ps) {
    return starts_type(ps) || storage_flag(ps->at->kind) || at_token(ps, CK_TYPEDEF) ||
           at_token(ps, CK_STATIC_ASSERT) || parser_lookup(ps, ps->at) == NAME_SPECIFIER;
}

/* ---- specifiers ---- */

/* C's own type words in any order: `unsigned long int` -> "unsigned long". */
static CNode *parse_type_words(Parser *ps) {
    const CToken *first = ps->at;
    int seen[CT_COUNT] = {0}, total = 0;
    int qualifiers = 0;
    for (; (ps->at->kind >= CK_VOID && ps->at->kind <= CK_DOUBLE) || qualifier_flag(ps->at->kind); parser_advance(ps)) {
        qualifiers |= qualifier_flag(ps->at->kind);
        if (qualifier_flag(ps->at->kind)) continue;
        seen[ps->at->kind]++;
        total++;
    }
    bool is_unsigned = seen[CK_UNSIGNED] == 1 && !seen[CK_SIGNED];
    int sign = seen[CK_UNSIGNED] + seen[CK_SIGNED], with_int = seen[CK_INT] + sign;
    const char *name = NULL;
    if (total == 1 && seen[CK_VOID])
        name = "void";
    else if (total == 1 && seen[CK_BOOL])
        name = "bool";
    else if (total == 1 && seen[CK_FLOAT])
        name = "float";
    else if (total == 1 && seen[CK_DOUBLE])
        name = "double";
    else if (sign > 1 || seen[CK_INT] > 1)
        name = NULL;
    else if (seen[CK_CHAR] == 1 && total == 1 + sign)
        name = is_unsigned ? "unsigned char" : sign ? "signed char" : "char";
    else if (seen[CK_SHORT] == 1 && total == 1 + with_int)
        name = is_unsigned ? "unsigned short" : "short";
    else if (seen[CK_LONG] == 1 && total == 1 + with_int)
        name = is_unsigned ? "unsigned long" : "long";
    else if (seen[CK_LONG] == 2 && total == 2 + with_int)
        name = is_unsigned ? "unsigned long long" : "long long";
    else if (total == with_int)
        name = is_unsigned ? "unsigned int" : "int";
    CNode *node = node_new(ps, C_TYPE_NAME, first);
    node->name = name;
    node->flags = (uint16_t)qualifiers;
    node_end(ps, node);
    if (!name) {
        Text words = text_new(ps->arena);
        for (const CToken *t = first; t < ps->at; t++)
            text_add(&words, "%s%.*s", t == first ? "" : " ", (int)t->length, t->text);
        diag_emit(ps->diag, DIAG_C_TYPE_WORDS, node->range, words.at);
        node->name = "int";
    }
    return node;
}

/* One type specifier: it stands at ps->at. */
static CNode *parse_one_type(Parser *ps) {
    const CToken *first = ps->at;
    if (at_token(ps, CK_STRUCT)) return parse_struct(ps);
    if (at_token(ps, CK_ENUM)) return parse_enum(ps);
    if (is_type_word(ps->at->kind)) return parse_type_words(ps);
    if (parser_cxx(ps)) return node_new(ps, C_ERROR, first);
    bool tile = parser_lookup(ps, first) == NAME_TILE_TYPE;
    CNode *node = node_new(ps, tile ? C_TYPE_TILE : C_TYPE_NAME, first);
    node->name = parser_name(ps, first);
    parser_advance(ps);
    if (tile && at_token(ps, CT_LT))
        return parser_refuse(ps, ps->at->range, "C++ template arguments `<..>`",
                             "write them in parentheses: st_bf(64, 64)");
    if (tile && !at_token(ps, CT_LPAREN))
        return parser_fail(ps, "`(`", arena_printf(ps->arena, "and the arguments of `%s`", node->name));
    if (tile) {
        bool entered = parser_enter(ps);
        if (entered) parse_arguments(ps, node);
        parser_leave(ps);
        if (!ps->panic && at_token(ps, CT_COLON) && parser_cxx_vector(ps, first)) return node_new(ps, C_ERROR, first);
    }
    return node_end(ps, node);
}

static const char *nearest_type(Parser *ps, const char *wrong) {
    VEC(const char *) names = {0};
    for (size_t i = 0; i < ps->names.count; i++) {
        const Binding *binding = ps->names.entries[i].value;
        if (binding && (binding->kind == NAME_TYPE || binding->kind == NAME_TILE_TYPE))
            *VEC_PUSH(&names, ps->arena) = ps->names.entries[i].key;
    }
    return text_nearest(wrong, names.at, names.count);
}

void parser_unknown_type(Parser *ps, const CToken *word) {
    const char *wrong = parser_name(ps, word), *nearest = nearest_type(ps, wrong);
    if (!ps->panic)
        diag_emit(ps->diag, DIAG_C_UNKNOWN_TYPE, word->range, wrong, nearest ? "; the nearest is `" : "",
                  nearest ? nearest : "", nearest ? "`" : "", wrong);
    ps->panic = true;
    parser_bind(ps, wrong, NAME_TYPE); /* one message is enough */
}

static CNode *parse_specifier_word(Parser *ps) {
    CNode *word = node_new(ps, C_SPECIFIER, ps->at);
    word->name = parser_name(ps, ps->at);
    parser_advance(ps);
    if (at_token(ps, CT_LPAREN)) parse_arguments(ps, word);
    return node_end(ps, word);
}

static void parse_specifiers(Parser *ps, Specifiers *out) {
    *out = (Specifiers){.first = ps->at};
    int qualifiers = 0;
    while (!ps->panic) {
        CTok kind = ps->at->kind;
        NameKind name = parser_lookup(ps, ps->at);
        bool type = is_type_word(kind) || name == NAME_TYPE || name == NAME_TILE_TYPE;
        if (out->type && out->type->flags & C_FLAG_DEFINED && ps->at->line_start && !qualifier_flag(kind)) break;
        if (storage_flag(kind) || qualifier_flag(kind) || kind == CK_TYPEDEF) {
            out->flags |= storage_flag(kind);
            qualifiers |= qualifier_flag(kind);
            out->is_typedef = out->is_typedef || kind == CK_TYPEDEF;
            parser_advance(ps);
        } else if (name == NAME_SPECIFIER) {
            *VEC_PUSH(&out->words, ps->arena) = parse_specifier_word(ps);
        } else if (type && !out->type) {
            out->type = parse_one_type(ps);
        } else {
            break;
        }
    }
    if (out->type) {
        out->type->flags |= (uint16_t)qualifiers;
    } else if (!ps->panic && !parser_refused_word(ps, true)) {
        if (at_token(ps, CT_IDENT))
            parser_unknown_type(ps, ps->at);
        else
            parser_fail(ps, "a type", "here");
    }
}

/* ---- declarators ---- */

static CNode *parse_parameters(Parser *ps);

static void parse_declarator(Parser *ps, CNode *base, Declarator *out) {
    *out = (Declarator){.first = ps->at, .type = base};
    for (int depth = 0; at_token(ps, CT_STAR); depth++) {
        const CToken *star = ps->at;
        parser_advance(ps);
        if (depth >= C_NESTING_LIMIT) {
            parser_refuse(ps, star->range, "so many levels of pointers", "use one");
            return;
        }
        out->type = node_one(ps, C_TYPE_POINTER, star, out->type);
        for (; qualifier_flag(ps->at->kind); parser_advance(ps))
            out->type->flags |= (uint16_t)qualifier_flag(ps->at->kind);
    }
    if (at_token(ps, CT_AMP)) {
        parser_refuse(ps, ps->at->range, "C++ references", "write a pointer");
        return;
    }
    if (at_token(ps, CT_LPAREN)) {
        parser_refuse(ps, ps->at->range, "declarators in parentheses (function pointers)",
                      "name the function where it is used");
        return;
    }
    if (at_token(ps, CT_IDENT)) {
        if (parser_refused_word(ps, false)) return;
        out->name = parser_name(ps, ps->at);
        parser_advance(ps);
    }
    if (at_token(ps, CT_LPAREN)) {
        out->parameters = parse_parameters(ps);
        return;
    }
    CNodes sizes = {0};
    const CToken *bracket = ps->at;
    while (!ps->panic && parser_take(ps, CT_LBRACKET)) {
        *VEC_PUSH(&sizes, ps->arena) = at_token(ps, CT_RBRACKET) ? NULL : parse_conditional(ps);
        if (!ps->panic) parser_expect(ps, CT_RBRACKET, "behind the array's size");
    }
    while (sizes.count && !ps->panic)
        out->type = node_two(ps, C_TYPE_ARRAY, bracket, out->type, sizes.at[--sizes.count]);
}

CNode *parse_type_name(Parser *ps) {
    Specifiers specifiers;
    Declarator declarator;
    if (!parser_enter(ps)) {
        parser_leave(ps);
        return node_new(ps, C_ERROR, ps->at);
    }
    parse_specifiers(ps, &specifiers);
    CNode *type = specifiers.type ? specifiers.type : node_new(ps, C_ERROR, ps->at);
    if (!ps->panic) {
        parse_declarator(ps, type, &declarator);
        type = declarator.type;
        if (declarator.name && !ps->panic) parser_fail(ps, "a type", "without a name");
    }
    parser_leave(ps);
    return type;
}

/* parameters = "(" ["void" | specifiers declarator {"," ..}] ")" */
static CNode *parse_parameters(Parser *ps) {
    CNode *node = node_new(ps, C_PARAMETERS, ps->at);
    size_t kids = ps->open.count;
    parser_advance(ps);
    bool none = at_token(ps, CK_VOID) && ps->at[1].kind == CT_RPAREN;
    if (none) parser_advance(ps);
    while (!none && !ps->panic && !at_token(ps, CT_RPAREN)) {
        if (at_token(ps, CT_ELLIPSIS)) {
            parser_refuse(ps, ps->at->range, "functions with `...`", "give every parameter a type");
            break;
        }
        Specifiers specifiers;
        Declarator declarator = {0};
        const CToken *first = ps->at;
        parse_specifiers(ps, &specifiers);
        if (ps->panic) break;
        parse_declarator(ps, specifiers.type, &declarator);
        if (declarator.parameters)
            parser_refuse(ps, first->range, "functions as parameters", "call the function by name");
        if (!ps->panic && at_token(ps, CT_ASSIGN))
            parser_refuse(ps, ps->at->range, "default arguments", "leave it out, and give all arguments in calls");
        CNode *parameter = node_one(ps, C_PARAMETER, first, declarator.type);
        parameter->name = declarator.name;
        node_open(ps, parameter);
        if (!parser_take(ps, CT_COMMA)) break;
    }
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the parameters");
    node_take(ps, node, kids);
    return node_end(ps, node);
}

/* ---- struct and enum ---- */

static void parse_fields(Parser *ps, CNodes *fields) {
    Specifiers specifiers;
    parse_specifiers(ps, &specifiers);
    while (!ps->panic) {
        Declarator declarator;
        parse_declarator(ps, specifiers.type, &declarator);
        if (ps->panic) break;
        if (declarator.parameters) {
            parser_refuse(ps, declarator.first->range, "functions inside a struct", "write it outside");
            break;
        }
        if (!declarator.name) {
            parser_fail(ps, "a name", "for the field");
            break;
        }
        if (at_token(ps, CT_COLON)) {
            parser_refuse(ps, ps->at->range, "bit-fields", "use a whole integer");
            break;
        }
        CNode *field = node_one(ps, C_FIELD, declarator.first, declarator.type);
        field->name = declarator.name;
        *VEC_PUSH(fields, ps->arena) = field;
        if (!parser_take(ps, CT_COMMA)) break;
    }
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind the field");
    if (ps->panic) parser_recover(ps);
}

/* struct = "struct" [tag] ["{" {field} "}"] */
static CNode *parse_struct(Parser *ps) {
    CNode *node = node_new(ps, C_TYPE_STRUCT, ps->at);
    CNodes fields = {0};
    parser_advance(ps);
    if (at_token(ps, CT_IDENT)) {
        node->name = parser_name(ps, ps->at);
        parser_advance(ps);
    }
    if (!at_token(ps, CT_LBRACE)) {
        if (!node->name) return parser_fail(ps, "a tag or `{`", "behind `struct`");
        return node_end(ps, node);
    }
    node->flags = C_FLAG_DEFINED;
    if (parser_cxx_struct(ps)) return node_end(ps, node);
    if (parser_enter(ps)) {
        parser_advance(ps);
        while (!ps->panic && !at_token(ps, CT_RBRACE) && !at_token(ps, CT_END)) parse_fields(ps, &fields);
        parser_expect(ps, CT_RBRACE, "at the end of the struct");
    }
    parser_leave(ps);
    node_set(ps, node, &fields);
    return node_end(ps, node);
}

/* enum = "enum" [tag] ["{" name ["=" constant] {"," ..} [","] "}"] */
static CNode *parse_enum(Parser *ps) {
    CNode *node = node_new(ps, C_TYPE_ENUM, ps->at);
    size_t kids = ps->open.count;
    parser_advance(ps);
    bool word = at_token(ps, CT_IDENT) && text_equal(ps->at->text, ps->at->length, "class");
    bool scoped = word || at_token(ps, CK_STRUCT);
    if (scoped && ps->at[1].kind == CT_IDENT) {
        parser_bind(ps, parser_name(ps, ps->at + 1), NAME_TYPE);
        return parser_refuse(ps, ps->at->range, "`enum class`", "write `enum`; its constants need no prefix");
    }
    if (at_token(ps, CT_IDENT)) {
        node->name = parser_name(ps, ps->at);
        parser_advance(ps);
    }
    if (!parser_take(ps, CT_LBRACE)) {
        if (!node->name) return parser_fail(ps, "a tag or `{`", "behind `enum`");
        return node_end(ps, node);
    }
    node->flags = C_FLAG_DEFINED;
    while (!ps->panic && !at_token(ps, CT_RBRACE)) {
        const CToken *first = ps->at;
        const char *name = parser_name(ps, first);
        if (!parser_expect(ps, CT_IDENT, "in the enum")) break;
        CNode *value = parser_take(ps, CT_ASSIGN) ? parse_conditional(ps) : NULL;
        CNode *one = node_one(ps, C_ENUMERATOR, first, value);
        one->name = name;
        parser_bind(ps, name, NAME_VALUE);
        node_open(ps, one);
        if (!parser_take(ps, CT_COMMA)) break;
    }
    if (!ps->panic) parser_expect(ps, CT_RBRACE, "at the end of the enum");
    node_take(ps, node, kids);
    return node_end(ps, node);
}

/* ---- declarations ---- */

static CNode *parse_static_assert(Parser *ps) {
    CNode *node = node_new(ps, C_STATIC_ASSERT, ps->at);
    parser_advance(ps);
    parser_expect(ps, CT_LPAREN, "behind `_Static_assert`");
    if (!ps->panic) node_add(ps, node, parse_conditional(ps));
    node->name = "";
    if (!ps->panic && parser_take(ps, CT_COMMA)) {
        size_t length;
        node->name = at_token(ps, CT_STRING) ? c_string(ps->arena, ps->diag, ps->at, &length) : "";
        parser_expect(ps, CT_STRING, "as the message");
    }
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "behind the condition");
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind `_Static_assert`");
    return node_end(ps, node);
}

static void add_words(Parser *ps, CNode *node, const Specifiers *specifiers) {
    for (size_t i = 0; i < specifiers->words.count; i++) node_add(ps, node, specifiers->words.at[i]);
}

/* A function: its body if there is one. Parameters and body share a scope, as C says. */
static CNode *finish_function(Parser *ps, const Specifiers *specifiers, const Declarator *d) {
    CNode *node = node_new(ps, C_FUNCTION, specifiers->first), *body = NULL;
    node->name = d->name;
    node->flags = (uint16_t)specifiers->flags;
    parser_bind(ps, d->name, NAME_VALUE);
    if (at_token(ps, CT_LBRACE)) {
        parser_open_scope(ps);
        for (uint32_t i = 0; i < d->parameters->count; i++)
            if (d->parameters->kids[i]->name) parser_bind(ps, d->parameters->kids[i]->name, NAME_VALUE);
        body = parse_block(ps);
        parser_close_scope(ps);
    } else {
        parser_expect(ps, CT_SEMI, "or a body behind the function");
    }
    node_add(ps, node, d->type);
    node_add(ps, node, d->parameters);
    node_add(ps, node, body);
    add_words(ps, node, specifiers);
    return node_end(ps, node);
}

static CNode *finish_variable(Parser *ps, const Specifiers *specifiers, const Declarator *d) {
    CNode *node = node_new(ps, specifiers->is_typedef ? C_TYPEDEF : C_VARIABLE, specifiers->first);
    node->name = d->name;
    node->flags = (uint16_t)specifiers->flags;
    parser_bind(ps, d->name, specifiers->is_typedef ? NAME_TYPE : NAME_VALUE);
    node_add(ps, node, d->type);
    if (specifiers->is_typedef) return node_end(ps, node);
    node_add(ps, node, parser_take(ps, CT_ASSIGN) ? parse_initializer(ps) : NULL);
    add_words(ps, node, specifiers);
    return node_end(ps, node);
}

static bool begins_declarator(const CToken *at) {
    CTok next = at->kind == CT_IDENT ? at[1].kind : CT_END;
    return at->kind != CT_IDENT || next == CT_SEMI || next == CT_COMMA || next == CT_ASSIGN || next == CT_LBRACKET;
}

/* Everything up to the `;` (or the end of a function's body) appended to out. */
static void parse_declared(Parser *ps, CNodes *out, bool file_level) {
    Specifiers specifiers;
    Declarator declarator;
    if (parser_cxx_statement(ps)) return;
    parse_specifiers(ps, &specifiers);
    if (ps->panic) return;
    CKind kind = specifiers.type->kind;
    bool open = specifiers.type->flags & C_FLAG_DEFINED && ps->at->line_start && !specifiers.is_typedef;
    if (open && (starts_declaration(ps) || !begins_declarator(ps->at))) { /* the next line is about something else */
        parser_fail(ps, "`;`", "behind the struct");
        ps->panic = false;
        *VEC_PUSH(out, ps->arena) = node_one(ps, C_TYPE_ONLY, specifiers.first, specifiers.type);
        return;
    }
    if (at_token(ps, CT_SEMI)) {
        if (kind != C_TYPE_STRUCT && kind != C_TYPE_ENUM) {
            diag_emit(ps->diag, DIAG_C_NO_DECLARATOR, specifiers.type->range, ";");
        }
        *VEC_PUSH(out, ps->arena) = node_one(ps, C_TYPE_ONLY, specifiers.first, specifiers.type);
        parser_advance(ps);
        return;
    }
    do {
        parse_declarator(ps, specifiers.type, &declarator);
        if (ps->panic) return;
        if (!declarator.name) {
            parser_fail(ps, "a name", "to declare");
            return;
        }
        if (declarator.parameters && !specifiers.is_typedef) {
            if (!file_level && at_token(ps, CT_LBRACE)) {
                parser_refuse(ps, ps->at->range, "functions inside functions", "move it out");
                return;
            }
            *VEC_PUSH(out, ps->arena) = finish_function(ps, &specifiers, &declarator);
            return;
        }
        if (declarator.parameters) {
            parser_refuse(ps, declarator.first->range, "typedefs of functions", "name the function itself");
            return;
        }
        *VEC_PUSH(out, ps->arena) = finish_variable(ps, &specifiers, &declarator);
    } while (!ps->panic && parser_take(ps, CT_COMMA));
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind the declaration");
}

CNode *parse_declaration(Parser *ps) {
    if (at_token(ps, CK_STATIC_ASSERT)) return parse_static_assert(ps);
    CNode *node = node_new(ps, C_DECLARATION, ps->at);
    CNodes kids = {0};
    parse_declared(ps, &kids, false);
    node_set(ps, node, &kids);
    return node_end(ps, node);
}

static CNode *template_value(Parser *ps) { return starts_type(ps) ? parse_type_name(ps) : parse_initializer(ps); }

/* template = NAME "(" argument {"," argument | "." name "=" (type | initializer)} ")" ";" */
static CNode *parse_template(Parser *ps) {
    CNode *node = node_new(ps, C_TEMPLATE, ps->at);
    size_t kids = ps->open.count;
    node->name = parser_name(ps, ps->at);
    parser_advance(ps);
    parser_expect(ps, CT_LPAREN, "behind the template's name");
    while (!ps->panic && !at_token(ps, CT_RPAREN)) {
        node_open(ps, at_token(ps, CT_DOT) ? parse_designated(ps, template_value) : template_value(ps));
        if (!parser_take(ps, CT_COMMA)) break;
    }
    if (!ps->panic) parser_expect(ps, CT_RPAREN, "at the end of the descriptor");
    if (!ps->panic) parser_expect(ps, CT_SEMI, "behind the descriptor");
    node_take(ps, node, kids);
    return node_end(ps, node);
}

void parse_external(Parser *ps, CNodes *out) {
    if (at_token(ps, CK_STATIC_ASSERT))
        *VEC_PUSH(out, ps->arena) = parse_static_assert(ps);
    else if (parser_lookup(ps, ps->at) == NAME_TEMPLATE)
        *VEC_PUSH(out, ps->arena) = parse_template(ps);
    else
        parse_declared(ps, out, true);
}
