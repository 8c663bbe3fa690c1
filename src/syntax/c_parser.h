/* SPDX-License-Identifier: Apache-2.0 */
/* c_parser.h: what the files of the C parser share; nobody else includes it.
 *
 * A Parser walks a token vector. Functions named parse_x read their rule and return a node, never
 * NULL unless said; on an error they give one message, return a C_ERROR node and set `panic`, which
 * silences further messages until parser_recover has found the next `;` or `}`. */
#ifndef SYNTAX_C_PARSER_H
#define SYNTAX_C_PARSER_H
#include "base/map.h"
#include "syntax/c_parse.h"

enum { C_NESTING_LIMIT = 200 };

typedef enum NameKind { NAME_VALUE, NAME_TYPE, NAME_TILE_TYPE, NAME_SPECIFIER, NAME_TEMPLATE } NameKind;

/* What a name means in the innermost scope that declares it. */
typedef struct Binding Binding;
struct Binding {
    NameKind kind;
    int scope;
    Binding *hidden; /* the meaning outside */
    size_t index;    /* of the entry in Parser.names */
};

typedef VEC(CNode *) CNodes;

typedef struct Parser {
    Arena *arena;
    Diag *diag;
    const CToken *at, *last; /* last: the token read before `at` */
    Map names;
    Map interned;         /* names: each is kept once */
    VEC(Binding *) bound; /* in order of declaration, to be undone at the end of a scope */
    int scope, depth;
    CNodes open;         /* kids of the nodes that are being read, those of the innermost one last */
    bool panic, in_line; /* in_line: a #if expression, where the end is the line's */
} Parser;

/* tokens */
static inline bool at_token(const Parser *ps, CTok kind) { return ps->at->kind == kind; }
void parser_advance(Parser *ps);
bool parser_take(Parser *ps, CTok kind);
/* Reads the token or says that it was expected `where` ("behind the condition"). */
bool parser_expect(Parser *ps, CTok kind, const char *where);
CNode *parser_fail(Parser *ps, const char *expected, const char *where);
CNode *parser_refuse(Parser *ps, Range range, const char *what, const char *fix);
/* Skips to behind the next `;`, or to a `}`, outside of nested brackets. */
void parser_recover(Parser *ps);
/* Enters one more level of nesting; false, with a message, at the limit. parser_leave in any case. */
bool parser_enter(Parser *ps);
void parser_leave(Parser *ps);

/* nodes */
CNode *node_new(Parser *ps, CKind kind, const CToken *first);
CNode *node_one(Parser *ps, CKind kind, const CToken *first, CNode *kid);
CNode *node_two(Parser *ps, CKind kind, const CToken *first, CNode *a, CNode *b);
void node_add(Parser *ps, CNode *node, CNode *kid); /* for nodes with few kids */
void node_set(Parser *ps, CNode *node, const CNodes *kids);
/* A kid of the node that is being read; the node takes those behind the first `from` open ones. */
void node_open(Parser *ps, CNode *kid);
void node_take(Parser *ps, CNode *node, size_t from);
CNode *node_end(Parser *ps, CNode *node); /* sets range (to the last token read) and depth */
const char *parser_name(Parser *ps, const CToken *token);

/* names */
NameKind parser_lookup(const Parser *ps, const CToken *token);
void parser_bind(Parser *ps, const char *name, NameKind kind);
void parser_open_scope(Parser *ps);
void parser_close_scope(Parser *ps);
/* The word is one of the refused ones: says so, true. */
/* c_cxx.c: refuses a C++ spelling that stands here, showing ours */
bool parser_cxx(Parser *ps);
bool parser_cxx_using(Parser *ps); /* using name = type; */
bool parser_cxx_braces(Parser *ps);
bool parser_cxx_struct(Parser *ps); /* a struct's body that is a class's: skipped up to its `}` */
bool parser_cxx_statement(Parser *ps);
bool parser_cxx_vector(Parser *ps, const CToken *type); /* `::col_vec` behind a type */
CNode *parser_cxx_lambda(Parser *ps);  /* skipped, from `[` to behind its `}` */
bool parser_cxx_range_for(Parser *ps); /* behind `for (` */
bool parser_cxx_member(Parser *ps, const CToken *from, const char *name);
bool parser_refused_word(Parser *ps, bool also_cxx);

/* grammar */
CNode *parse_expression(Parser *ps);  /* with commas */
CNode *parse_assignment(Parser *ps);  /* without */
CNode *parse_conditional(Parser *ps); /* constant expressions */
CNode *parse_initializer(Parser *ps); /* expression or { .. } */
CNode *parse_designated(Parser *ps, CNode *(*value)(Parser *ps));
CNode *parse_argument(Parser *ps);                        /* expression or type */
void parse_arguments(Parser *ps, CNode *call);            /* `( .. )` appended to the kids */
bool starts_type(const Parser *ps);                       /* a type specifier or qualifier stands here */
void parser_unknown_type(Parser *ps, const CToken *word); /* says so, with the nearest one */
bool starts_declaration(const Parser *ps);                /* that, or a storage word or specifier */
CNode *parse_type_name(Parser *ps);                       /* type with abstract declarator: `st_bf(64, 64) *` */
CNode *parse_declaration(Parser *ps);                     /* inside a block: C_DECLARATION */
void parse_external(Parser *ps, CNodes *out);             /* at file level */
CNode *parse_statement(Parser *ps);
CNode *parse_block(Parser *ps);
#endif
