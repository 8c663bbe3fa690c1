/* SPDX-License-Identifier: Apache-2.0 */
/* c_macro.c: macros of Tile C's preprocessor: frames of tokens, arguments, # and ##, and expansion.
 *
 * A macro met again while its own replacement is being read is a loop and is reported with its chain (C would leave the
 * name alone, which no kernel wants); `#define X X` is allowed. Tokens made by a macro carry the range of its use and,
 * apart, the place of its definition. */
#include "syntax/c_preprocessor.h"

#include <string.h>

enum { ARGUMENT_DEPTH_LIMIT = 100 };

bool pp_is_word(const CToken *token, const char *word) {
    return token->kind == CT_IDENT && text_equal(token->text, token->length, word);
}

char *pp_token_name(Preprocessor *pp, const CToken *token) {
    return arena_string(pp->arena, token->text, token->length);
}

Macro *pp_find_macro(Preprocessor *pp, const CToken *token) {
    MapEntry *entry = map_find(&pp->macros, token->text, token->length);
    Macro *macro = entry ? entry->value : NULL;
    return macro && macro->defined ? macro : NULL;
}

bool pp_spend(Preprocessor *pp, Range range) { return pp_spend_text(pp, range, 0); }

bool pp_spend_text(Preprocessor *pp, Range range, size_t bytes) {
    enum { BYTES_A_TOKEN = 32 }; /* the size of a token, which is what they take in memory beside it */
    pp->work += 1 + bytes / BYTES_A_TOKEN;
    if (pp->work <= C_TOKEN_LIMIT) return true;
    if (!pp->overflow) diag_emit(pp->diag, DIAG_C_TOO_MANY_TOKENS, range, C_TOKEN_LIMIT);
    pp->overflow = true;
    return false;
}

/* ---- frames ---- */

void pp_push_frame(Preprocessor *pp, const CToken *tokens, size_t count, Macro *macro, bool barrier) {
    *VEC_PUSH(&pp->frames, pp->arena) = (Frame){tokens, count ? tokens + count : tokens, macro, barrier};
}

void pp_pop_frame(Preprocessor *pp) {
    Frame *frame = &VEC_LAST(&pp->frames);
    if (frame->macro) frame->macro->active = false;
    pp->frames.count--;
}

bool pp_next_token(Preprocessor *pp, CToken *out) {
    for (;;) {
        Frame *frame = &VEC_LAST(&pp->frames);
        if (frame->at < frame->end) {
            *out = *frame->at++;
            return true;
        }
        if (frame->barrier) return false;
        pp_pop_frame(pp);
    }
}

static bool next_is_open_paren(const Preprocessor *pp) {
    for (size_t i = pp->frames.count; i-- > 0;) {
        const Frame *frame = &pp->frames.at[i];
        if (frame->at < frame->end) return frame->at->kind == CT_LPAREN;
        if (frame->barrier) break;
    }
    return false;
}

/* ---- macro expansion ---- */

void pp_expand_list(Preprocessor *pp, const CToken *tokens, size_t count, CTokens *out) {
    CToken token;
    pp_push_frame(pp, tokens, count, NULL, true);
    while (!pp->overflow && pp_next_token(pp, &token)) pp_expand_token(pp, token, out);
    while (!VEC_LAST(&pp->frames).barrier) pp_pop_frame(pp);
    pp_pop_frame(pp);
}

typedef struct Arguments {
    CTokens *raw, *expanded;
    size_t count;
    Range end; /* the closing parenthesis */
} Arguments;

/* Reads `( a , b )` behind the macro's name. */
static bool collect_arguments(Preprocessor *pp, const Macro *macro, Range use, Arguments *args) {
    size_t room = macro->parameter_count ? macro->parameter_count : 1;
    CToken token;
    args->raw = ARENA_ARRAY(pp->arena, CTokens, room);
    args->expanded = ARENA_ARRAY(pp->arena, CTokens, room);
    size_t given = 0, any = 0;
    int depth = 0;
    pp_next_token(pp, &token);
    for (;;) {
        if (!pp_next_token(pp, &token)) {
            diag_emit(pp->diag, DIAG_C_MACRO_UNCLOSED, use, macro->name);
            return false;
        }
        if (!pp_spend(pp, use)) return false;
        if (token.kind == CT_RPAREN && depth == 0) break;
        if (token.kind == CT_LPAREN) depth++;
        if (token.kind == CT_RPAREN) depth--;
        any++;
        bool rest = macro->is_variadic && given + 1 >= macro->parameter_count;
        if (token.kind == CT_COMMA && depth == 0 && !rest)
            given++;
        else if (given < room)
            *VEC_PUSH(&args->raw[given], pp->arena) = token;
    }
    args->end = token.range;
    args->count = any || macro->parameter_count == 1 ? given + 1 : 0;
    size_t least = macro->parameter_count - macro->is_variadic;
    if (args->count < least || args->count > macro->parameter_count) {
        diag_emit(pp->diag, DIAG_C_MACRO_ARGUMENTS, range_join(use, args->end), macro->name,
                  macro->is_variadic ? "at least " : "", (int)least, least == 1 ? "" : "s", (int)args->count);
        diag_emit(pp->diag, DIAG_NOTE_HERE, macro->range, "the macro is defined here");
        return false;
    }
    for (size_t i = 0; i < args->count; i++)
        pp_expand_list(pp, args->raw[i].at, args->raw[i].count, &args->expanded[i]);
    return true;
}

static int parameter_index(const Macro *macro, const CToken *token) {
    for (size_t i = 0; token->kind == CT_IDENT && i < macro->parameter_count; i++)
        if (text_equal(token->text, token->length, macro->parameters[i])) return (int)i;
    return -1;
}

static size_t text_size(const CTokens *tokens) {
    size_t size = 0;
    for (size_t i = 0; i < tokens->count; i++) size += tokens->at[i].length + 1;
    return size;
}

static CToken stringize(Preprocessor *pp, const CTokens *tokens, CToken model) {
    Text text = text_new(pp->arena);
    text_add_char(&text, '"');
    for (size_t i = 0; i < tokens->count; i++) {
        const CToken *token = &tokens->at[i];
        if (i && token->spaced) text_add_char(&text, ' ');
        for (uint32_t j = 0; j < token->length; j++) {
            bool quoted = token->kind == CT_STRING || token->kind == CT_CHAR;
            if (quoted && (token->text[j] == '"' || token->text[j] == '\\')) text_add_char(&text, '\\');
            text_add_char(&text, token->text[j]);
        }
    }
    text_add_char(&text, '"');
    model.kind = CT_STRING;
    model.text = text.at;
    model.length = (uint32_t)text.length;
    return model;
}

/* Joins `right` onto the last token of out, as ## asks. */
static void paste(Preprocessor *pp, CTokens *out, const CToken *right) {
    CToken *left = &VEC_LAST(out);
    if (!pp_spend_text(pp, left->range, (size_t)left->length + right->length)) return;
    char *joined = arena_printf(pp->arena, "%.*s%.*s", (int)left->length, left->text, (int)right->length, right->text);
    SourceFile piece = {.name = "##", .text = joined, .size = (uint32_t)strlen(joined)};
    CTokens tokens = {0};
    Diag silent;
    diag_init(&silent, pp->arena, NULL);
    c_lex(pp->arena, &silent, &piece, &tokens);
    if (tokens.count != 2 || silent.errors) {
        diag_emit(pp->diag, DIAG_C_MACRO_PASTE, left->range, joined);
        return;
    }
    left->kind = tokens.at[0].kind;
    left->text = tokens.at[0].text;
    left->length = tokens.at[0].length;
    left->painted = false;
}

/* The replacement of the macro for one use, with the use's range on every token of the body. */
static CTokens substitute(Preprocessor *pp, const Macro *macro, const Arguments *args, Range use, Range definition) {
    CTokens out = {0};
    bool join = false;
    for (size_t i = 0; i < macro->body.count && pp_spend(pp, use); i++) {
        CToken token = macro->body.at[i];
        const CToken *next = i + 1 < macro->body.count ? &macro->body.at[i + 1] : NULL;
        token.range = use;
        token.macro = definition;
        if (token.kind == CT_HASH_HASH && i && next) {
            join = true;
            continue;
        }
        int stringized = macro->is_function && token.kind == CT_HASH && next ? parameter_index(macro, next) : -1;
        int parameter = stringized < 0 ? parameter_index(macro, &token) : -1;
        bool pasted = join || (next && next->kind == CT_HASH_HASH);
        CTokens one = {&token, 1, 1}, *piece = &one;
        if (stringized >= 0) {
            if (!pp_spend_text(pp, use, text_size(&args->raw[stringized]))) break;
            token = stringize(pp, &args->raw[stringized], token);
            i++;
        } else if (parameter >= 0) {
            piece = pasted ? &args->raw[parameter] : &args->expanded[parameter];
        }
        for (size_t j = 0; j < piece->count && pp_spend(pp, use); j++) {
            if (j == 0 && join && out.count)
                paste(pp, &out, &piece->at[0]);
            else
                *VEC_PUSH(&out, pp->arena) = piece->at[j];
            if (j == 0 && parameter >= 0 && out.count) VEC_LAST(&out).spaced = macro->body.at[i].spaced;
        }
        join = false;
    }
    return out;
}

static void report_loop(Preprocessor *pp, const Macro *macro, Range use) {
    Text chain = text_new(pp->arena);
    bool inside = false;
    for (size_t i = 0; i < pp->frames.count; i++) {
        const Macro *link = pp->frames.at[i].macro;
        inside = inside || link == macro;
        if (link && inside) text_add(&chain, "%s -> ", link->name);
    }
    text_add(&chain, "%s", macro->name);
    diag_emit(pp->diag, DIAG_C_MACRO_LOOP, use, macro->name, chain.at);
    diag_emit(pp->diag, DIAG_NOTE_HERE, macro->range, "the macro is defined here");
}

/* For one more token of the output. */
static void make_room(Preprocessor *pp) {
    CTokens *out = pp->out;
    if (!out->at || out->at != pp->whole.at) return;
    const CToken *next = pp->frames.at[pp->whole_frame].at;
    if (out->at + out->count < next) return;
    CTokens apart = {0};
    VEC_RESERVE(&apart, pp->arena, pp->whole.count + out->count);
    memcpy(apart.at, out->at, out->count * sizeof *out->at);
    apart.count = out->count;
    *out = apart;
}

/* Appends the token, or pushes what its macro stands for. */
void pp_expand_token(Preprocessor *pp, CToken token, CTokens *out) {
    if (!pp_spend(pp, token.range)) return;
    Macro *macro = token.kind == CT_IDENT && !token.painted ? pp_find_macro(pp, &token) : NULL;
    if (macro && macro->is_function && !next_is_open_paren(pp)) macro = NULL;
    if (macro && macro->active) {
        bool itself = macro->body.count == 1 && pp_is_word(&macro->body.at[0], macro->name);
        if (!itself) report_loop(pp, macro, token.range);
        token.painted = true;
        macro = NULL;
    }
    if (!macro) {
        if (out == pp->out) make_room(pp);
        *VEC_PUSH(out, pp->arena) = token;
        return;
    }
    Arguments args = {0};
    Range use = token.range;
    if (macro->is_function) {
        if (++pp->argument_depth > ARGUMENT_DEPTH_LIMIT) {
            diag_emit(pp->diag, DIAG_C_TOO_DEEP, use, ARGUMENT_DEPTH_LIMIT);
            pp->overflow = true;
        }
        bool ok = !pp->overflow && collect_arguments(pp, macro, use, &args);
        pp->argument_depth--;
        if (!ok) return;
        use = range_join(use, args.end);
    }
    Range definition = token.macro.begin ? token.macro : macro->range;
    CTokens body = substitute(pp, macro, &args, use, definition);
    if (body.count) body.at[0].spaced = token.spaced;
    pp_push_frame(pp, body.at, body.count, macro, false);
    macro->active = true;
}
