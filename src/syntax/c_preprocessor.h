/* SPDX-License-Identifier: Apache-2.0 */
/* c_preprocessor.h: what the two files of the preprocessor share; nobody else includes it.
 *
 *   c_preprocess.c   files and directives
 *   c_macro.c        frames of tokens, and the expansion of macros
 *
 * Expansion works on a stack of frames: a file, the replacement of a macro, or an argument that is expanded by itself.
 * A frame marked `barrier` ends what the words above it may read. */
#ifndef SYNTAX_C_PREPROCESSOR_H
#define SYNTAX_C_PREPROCESSOR_H
#include "base/map.h"
#include "syntax/c_parse.h"

typedef struct Macro {
    const char *name;
    Range range;
    bool defined, active, is_function, is_variadic;
    size_t parameter_count; /* __VA_ARGS__ included */
    const char **parameters;
    CTokens body;
} Macro;

typedef struct Frame {
    const CToken *at, *end;
    Macro *macro; /* reading its replacement */
    bool barrier;
} Frame;

typedef struct Condition {
    Range range;
    const char *directive;
    bool live, taken, seen_else; /* this branch is read; a branch was read; #else was there */
} Condition;

typedef struct Preprocessor {
    const CRequest *request;
    Arena *arena;
    Diag *diag;
    Map macros, once;
    Map lexed; /* file -> its CTokens: one that is included again is not cut up again */
    VEC(Frame) frames;
    VEC(Condition) conditions;
    CTokens *out;
    /* The file that is compiled: what comes out of it is written over what was read of it, as long as macros and
     * includes leave it no longer than that. */
    CTokens whole;
    size_t whole_frame;
    size_t work;           /* tokens that went through expansion */
    size_t read;           /* tokens of files, each as often as it was included */
    size_t condition_base; /* conditions below it belong to the including file */
    int include_depth, argument_depth;
    bool overflow;
} Preprocessor;

/* --- c_macro.c --- */
bool pp_is_word(const CToken *token, const char *word);
char *pp_token_name(Preprocessor *pp, const CToken *token);
Macro *pp_find_macro(Preprocessor *pp, const CToken *token); /* NULL: it is none, or was undefined */
/* Counts a token of work; false, after one message, when there is too much of it. */
bool pp_spend(Preprocessor *pp, Range range);
/* The same for one that # or ## makes: text is copied for it, which multiplies as tokens do. */
bool pp_spend_text(Preprocessor *pp, Range range, size_t bytes);
void pp_push_frame(Preprocessor *pp, const CToken *tokens, size_t count, Macro *macro, bool barrier);
void pp_pop_frame(Preprocessor *pp);
bool pp_next_token(Preprocessor *pp, CToken *out); /* above the barrier; false at its end */
/* A token, and what it and the frames above the barrier expand to; a whole list. */
void pp_expand_token(Preprocessor *pp, CToken token, CTokens *out);
void pp_expand_list(Preprocessor *pp, const CToken *tokens, size_t count, CTokens *out);
#endif
