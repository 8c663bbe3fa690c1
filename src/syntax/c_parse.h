/* SPDX-License-Identifier: Apache-2.0 */
/* c_parse.h: from the text of a `*.tile.c` file to its tree.
 *
 * The parser knows C; the words of Tile C (tile types, specifiers, templates, headers that are
 * built in) come from the door as a vocabulary, since the door's tables define them:
 *
 *     typedef st_bf(64, 64) tile;                  st_bf is in vocabulary.tile_types
 *     tile_kernel(WARP_THREADS, 1) void f(..);     tile_kernel is in vocabulary.specifiers
 *     lcf_kernel(matmul, .input = struct in, ..);  lcf_kernel is in vocabulary.templates
 *
 * Several errors are found in one run: the parser goes on behind the next `;` or `}`. After errors
 * the tree holds C_ERROR nodes; the caller looks at diag->errors and does not lower it. */
#ifndef SYNTAX_C_PARSE_H
#define SYNTAX_C_PARSE_H
#include "syntax/c_ast.h"

/* Each a NULL-terminated list of names; the list itself may be NULL. */
typedef struct CVocabulary {
    const char *const *types;      /* plain type names: bf16, half, lcf_load_args.. */
    const char *const *tile_types; /* type names that take arguments: st_bf(64, 64) */
    const char *const *specifiers; /* words before a declaration, with or without arguments */
    const char *const *templates;  /* NAME(arguments); at file level */
    const char *const *headers;    /* #include of these gives nothing: they are built in */
} CVocabulary;

/* The file that `#include "name"` (or <name>: angled) written in `from` means; NULL if there is none. The same file is
 * always the same SourceFile. */
typedef const SourceFile *CFindHeader(void *user, const SourceFile *from, const char *name, bool angled);

typedef struct CDefine {
    const char *name, *value; /* as in -D NAME=VALUE */
} CDefine;

typedef struct CRequest {
    Arena *arena;
    SourceMap *sources;
    Diag *diag;
    CVocabulary vocabulary;
    CFindHeader *find_header; /* NULL: there are no headers but the built-in ones */
    void *user;
    const CDefine *defines;
    size_t define_count;
} CRequest;

/* The C_UNIT node of the file; never NULL. */
CNode *c_parse(const CRequest *request, const SourceFile *file);

/* Tokens of the file after preprocessing, keywords resolved, CT_END last. */
void c_preprocess(const CRequest *request, const SourceFile *file, CTokens *out);
/* One expression that spans all the tokens (a #if line): names are not checked. NULL, with a message, if it is none. */
CNode *c_parse_line(const CRequest *request, const CToken *tokens, size_t count);
#endif
